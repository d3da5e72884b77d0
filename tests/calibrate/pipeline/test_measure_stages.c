/* test_measure_stages.c - the real pipeline recorded, and what recording costs it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Without arguments, moments of a small pipeline, and nothing is asked of times.
 * FULCRUM_STAGES_PAIRS=20 measures so many pairs of windows of MuJoCo humanoids, prints
 * what it finds and holds it to the limits of docs/where-the-time-goes.md.
 */
#include "calibrate/pipeline/stage_times.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/probing.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const struct fulcrum_measure_config few_actors = {
    .actor_count = 2, .envs_per_actor = 1, .policy = FULCRUM_BATCH_GREEDY};

static struct fulcrum_measure_options small_options(void)
{
    return (struct fulcrum_measure_options){.actor = "cartpole",
        .network = FULCRUM_NETWORK_MLP,
        .seed = 1,
        .configs = &few_actors,
        .config_count = 1,
        .window_s = 0.05};
}

/* Every moment of a thread is in one stage: they follow each other without a gap. */
static void check_track(const struct fulcrum_stage_track *track, double window_s)
{
    double sum_s = track->outside_s + track->recording_s;
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        sum_s += track->stage_s[k];
    }
    if (sum_s > 0.0) {
        /* The first begin and the last end cost something outside the window. */
        assert_close("track", sum_s, window_s, 1e-4);
        CU_ASSERT(track->outside_s < 0.02 * window_s);
    }
}

TEST(test_recorded_windows_show_every_stage_of_the_pipeline)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "trace.json");
    struct fulcrum_measure_options measure = small_options();
    const struct fulcrum_measure_stages_options options = {
        .measure = &measure, .pair_count = 2, .trace_path = path, .span_max = 500};
    struct fulcrum_stages_measurement *found = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_measure_stages(&found, &options, &err));
    CU_ASSERT_EQUAL_FATAL(found->count, 1);
    const struct fulcrum_measured_stages *item = &found->items[0];
    CU_ASSERT_STRING_EQUAL(item->failure, "");
    CU_ASSERT(item->recorded_steps_per_s > 0.0);
    CU_ASSERT(item->unrecorded_steps_per_s > 0.0);
    CU_ASSERT(item->corrected_steps_per_s >= item->recorded_steps_per_s);
    CU_ASSERT_EQUAL(item->pairs.pair_count, 2);
    CU_ASSERT(item->times.facts.step_count > 0.0);
    CU_ASSERT_EQUAL(item->times.used_track_count, 3); /* nothing trains */
    static const enum fulcrum_stage_kind met[] = {FULCRUM_STAGE_SIMULATION,
        FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_HANDOFF, FULCRUM_STAGE_WAIT};
    for (size_t i = 0; i < LENGTH(met); i++) {
        CU_ASSERT(item->times.kinds[met[i]].thread_s > 0.0);
    }
    CU_ASSERT(item->times.kinds[FULCRUM_STAGE_TRAINING].event_count < 1.0);
    for (size_t i = 0; i < item->times.track_count; i++) {
        check_track(&item->times.tracks[i], item->times.window_s);
    }
    char *text = scratch_read(path);
    assert_part(text, "actor 1");
    assert_part(text, "server");
    free(text);
    fulcrum_stages_measurement_free(found);
    free(path);
    scratch_free(&scratch);
}

TEST(test_options_that_measure_nothing_are_refused)
{
    struct fulcrum_measure_options measure = small_options();
    struct fulcrum_measure_stages_options options = {.measure = &measure};
    struct fulcrum_stages_measurement *found = NULL;
    struct fulcrum_error err;
    CU_ASSERT_EQUAL(fulcrum_measure_stages(&found, &options, &err), FULCRUM_ERR_RANGE);
    options.pair_count = 1;
    measure.window_s = 0.0;
    CU_ASSERT_EQUAL(fulcrum_measure_stages(&found, &options, &err), FULCRUM_ERR_RANGE);
    const struct fulcrum_measure_config nobody = {.actor_count = 0};
    measure = small_options();
    measure.configs = &nobody;
    CU_ASSERT_EQUAL(fulcrum_measure_stages(&found, &options, &err), FULCRUM_ERR_RANGE);
    assert_part(err.detail, "0 environments");
    measure = small_options();
    /* cppcheck-suppress unreadVariable; options point to it */
    measure.actor = "nobody";
    CU_ASSERT_EQUAL(
        fulcrum_measure_stages(&found, &options, &err), FULCRUM_ERR_UNKNOWN_NAME);
    CU_ASSERT_PTR_NULL(found);
    fulcrum_stages_measurement_free(NULL);
}

static bool stop_at_once(void *user)
{
    (void)user;
    return 1;
}

TEST(test_a_run_can_be_stopped)
{
    struct fulcrum_measure_options measure = small_options();
    const struct fulcrum_measure_stages_options options = {
        .measure = &measure, .pair_count = 50};
    struct fulcrum_stages_measurement *found = NULL;
    measure.stop = stop_at_once;
    CU_ASSERT_EQUAL(
        fulcrum_measure_stages(&found, &options, NULL), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_PTR_NULL(found);
}

/* A batch that never fills is that configuration's own failure. */
TEST(test_configurations_that_cannot_run_keep_their_reason)
{
    const struct fulcrum_measure_config configs[] = {{.actor_count = 1,
                                                         .envs_per_actor = 1,
                                                         .policy = FULCRUM_BATCH_FIXED,
                                                         .batch_size = 8.0},
        few_actors};
    struct fulcrum_measure_options measure = small_options();
    const struct fulcrum_measure_stages_options options = {
        .measure = &measure, .pair_count = 1};
    struct fulcrum_stages_measurement *found = NULL;
    measure.configs = configs;
    measure.config_count = 2;
    ASSERT_OK(fulcrum_measure_stages(&found, &options, NULL));
    CU_ASSERT(strlen(found->items[0].failure) > 10);
    CU_ASSERT_PTR_NULL(found->items[0].times.tracks);
    CU_ASSERT_STRING_EQUAL(found->items[1].failure, "");
    CU_ASSERT_EQUAL(found->items[1].pairs.pair_count, 0);
    fulcrum_stages_measurement_free(found);
}

/* --- Pairs of windows --------------------------------------------------------------
 */

static void print_item(const struct fulcrum_measured_stages *item)
{
    (void)printf("\n  %2zu actors: %.0f steps/s recorded, %.0f without, corrected "
                 "%.0f; cost mean %+.2f %%, sd %.2f %%, upper 95 %% "
                 "limit %+.2f %%; %zu of %zu windows disturbed\n",
        item->config.actor_count, item->recorded_steps_per_s,
        item->unrecorded_steps_per_s, item->corrected_steps_per_s,
        100.0 * item->pairs.mean_frac, 100.0 * item->pairs.sd_frac,
        100.0 * item->pairs.upper_frac, item->disturbed_count,
        2 * item->pairs.pair_count);
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        const struct fulcrum_stage_time *kind = &item->times.kinds[k];
        if (kind->event_count > 0.0) {
            (void)printf("    %-10s share %5.1f %%, active %.4f s, threads %.4f s, CPU "
                         "%.4f s, %.0f events, recording %.2g s\n",
                fulcrum_stage_kind_name((enum fulcrum_stage_kind)k),
                100.0 *
                    fulcrum_stage_times_share(&item->times, (enum fulcrum_stage_kind)k),
                kind->active_s, kind->thread_s, kind->cpu_s, kind->event_count,
                kind->recording_s);
        }
    }
    (void)printf("    idle       share %5.1f %%\n",
        100.0 * fulcrum_stage_times_idle_frac(&item->times));
}

TEST(test_recording_costs_less_than_one_in_twenty)
{
    const char *text = getenv("FULCRUM_STAGES_PAIRS");
    const struct fulcrum_measure_config configs[] = {
        {.actor_count = 1, .envs_per_actor = 1, .policy = FULCRUM_BATCH_GREEDY},
        {.actor_count = 8, .envs_per_actor = 1, .policy = FULCRUM_BATCH_GREEDY},
        {.actor_count = 64, .envs_per_actor = 1, .policy = FULCRUM_BATCH_GREEDY}};
    const struct fulcrum_measure_options measure = {.actor = "mujoco-humanoid",
        .network = FULCRUM_NETWORK_MLP,
        .seed = 1,
        .configs = configs,
        .config_count = 3,
        .window_s = 0.5};
    const struct fulcrum_measure_stages_options options = {
        .measure = &measure, .pair_count = text != NULL ? strtoul(text, NULL, 10) : 0};
    if (options.pair_count < 2) {
        return;
    }
    struct fulcrum_stages_measurement *found = NULL;
    ASSERT_OK(fulcrum_measure_stages(&found, &options, NULL));
    (void)printf("\n  tight loops: %.1f ns inside and %.1f ns outside a pair, %.1f ns "
                 "in a chain",
        1e9 * found->cost.pair_inside_s, 1e9 * found->cost.pair_outside_s,
        1e9 * found->cost.chained_s);
    for (size_t i = 0; i < found->count; i++) {
        const struct fulcrum_measured_stages *item = &found->items[i];
        print_item(item);
        CU_ASSERT(item->pairs.upper_frac < 0.05);
        assert_close("corrected", item->corrected_steps_per_s,
            item->unrecorded_steps_per_s, 0.05);
    }
    fulcrum_stages_measurement_free(found);
}

SUITE_SETUP
{
    return probing_has_learner() ? 0 : 77; /* skipped */
}
