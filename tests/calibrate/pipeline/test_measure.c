/* test_measure.c - small measurements of the real pipeline: windows, failures, stops.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nothing is asked of rates: a busy machine has any. FULCRUM_STAGES_PAIRS=20 measures
 * so many pairs of recorded and unrecorded windows of MuJoCo humanoids, prints what it
 * finds and holds it to the limits of docs/where-the-time-goes.md. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "calibrate/pipeline/measure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/pipeline/stage_times.h"
#include "calibrate/stopwatch.h"
#include "tests/support/fake_powercap.h"
#include "tests/support/probing.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define MISBEHAVE PLUGIN_FOLDER "/libmisbehave.so"

static const struct fulcrum_measure_config greedy_two = {
    .actor_count = 2, .envs_per_actor = 1, .policy = FULCRUM_BATCH_GREEDY};
static const struct fulcrum_measure_config half_of_three = {.actor_count = 3,
    .envs_per_actor = 2,
    .policy = FULCRUM_BATCH_FIXED,
    .population_frac = 0.5};
static const struct fulcrum_measure_config too_large = {.actor_count = 1,
    .envs_per_actor = 1,
    .policy = FULCRUM_BATCH_FIXED,
    .batch_size = 8.0};

static struct fulcrum_measure_options small_options(
    const struct fulcrum_measure_config *configs, size_t count)
{
    return (struct fulcrum_measure_options){.actor = "cartpole",
        .network = FULCRUM_NETWORK_MLP,
        .seed = 2,
        .configs = configs,
        .config_count = count,
        .window_s = 0.1,
        .window_count = 1,
        .most_windows = 2,
        .meter_root = "/nonexistent"};
}

static struct fulcrum_measurement *measure(
    const struct fulcrum_measure_options *options, enum fulcrum_status expected)
{
    struct fulcrum_measurement *found = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(fulcrum_measure(&found, options, &err), expected);
    if (expected == FULCRUM_OK) {
        CU_ASSERT_STRING_EQUAL(err.detail, "");
    }
    if (found == NULL) {
        (void)fprintf(stderr, "%s\n", err.detail);
        abort();
    }
    return found;
}

static void assert_window(
    const struct fulcrum_measure_window *window, const struct fulcrum_measured *item)
{
    double envs = (double)item->config.envs_per_actor;
    CU_ASSERT(window->steps_per_s > 0.0);
    CU_ASSERT(window->mean_batch >= envs);
    CU_ASSERT(window->mean_batch <= envs * (double)item->config.actor_count);
    CU_ASSERT(window->actor_busy_frac > 0.0 && window->actor_busy_frac < 1.5);
    CU_ASSERT(window->server_busy_frac > 0.0 && window->server_busy_frac < 1.5);
    CU_ASSERT(window->actor_cpu_s > 0.0 && window->server_cpu_s > 0.0);
    CU_ASSERT(window->canary_rel > 0.0);
    CU_ASSERT(isnan(window->cpu_w) && isnan(window->gpu_w));
    bool is_disturbed = window->canary_rel > FULCRUM_CANARY_LIMIT_REL ||
                        window->others_frac > FULCRUM_MEASURE_OTHERS_MOST_FRAC;
    CU_ASSERT_EQUAL(window->is_disturbed, is_disturbed);
}

static size_t calm_count(const struct fulcrum_measured *item)
{
    size_t calm = 0;
    for (size_t i = 0; i < item->window_count; i++) {
        calm += !item->windows[i].is_disturbed;
    }
    return calm;
}

/* As many undisturbed windows as were wanted, or as many windows as there may be. */
static void assert_item(
    const struct fulcrum_measured *item, const struct fulcrum_measure_options *options)
{
    CU_ASSERT_STRING_EQUAL(item->failure, "");
    size_t calm = calm_count(item);
    CU_ASSERT(
        calm == options->window_count || item->window_count == options->most_windows);
    CU_ASSERT(calm <= options->window_count);
    CU_ASSERT_EQUAL(item->is_disturbed, calm == 0 || 2 * calm < item->window_count);
    for (size_t i = 0; i < item->window_count; i++) {
        assert_window(&item->windows[i], item);
    }
    CU_ASSERT(item->lo <= item->median.steps_per_s);
    CU_ASSERT(item->hi >= item->median.steps_per_s);
    CU_ASSERT(isnan(item->median.cpu_w));
}

/* A calibration of the same actor, network and training, from the rounds between. */
TEST(test_pieces_are_timed_between_the_windows)
{
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    options.times_pieces = true;
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    const struct fulcrum_calibration *pieces = found->pieces;
    if (pieces == NULL) {
        abort();
    }
    CU_ASSERT(pieces->complete);
    ASSERT_OK(fulcrum_calibration_check(pieces, NULL));
    static const char *const paths[] = {"workload.step.mean_s",
        "workload.network.per_item_s", "workload.host.per_request_s",
        "workload.host.server_wake_s"};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        CU_ASSERT_PTR_NOT_NULL(fulcrum_calibration_parameter(pieces, paths[i]));
    }
    CU_ASSERT(pieces->handoff_time.count >= 2);
    CU_ASSERT(pieces->machine.cpu.canary_s > 0.0);
    fulcrum_measurement_free(found);
}

/* Each window is metered; the counter's thread may be late by some milliseconds. */
TEST(test_a_meter_that_opens_gives_watts_of_every_window)
{
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    struct fake_powercap *fake = fake_powercap_new();
    options.meter_root = fake_powercap_root(fake);
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    const struct fulcrum_measured *item = &found->items[0];
    CU_ASSERT_FATAL(item->window_count > 0);
    for (size_t i = 0; i < item->window_count; i++) {
        const struct fulcrum_measure_window *window = &item->windows[i];
        assert_close("cpu_w", window->cpu_w, FAKE_POWERCAP_W, 0.3);
        assert_close(
            "joules", window->j_per_step, window->cpu_w / window->steps_per_s, 0.3);
        CU_ASSERT(isnan(window->gpu_w));
    }
    assert_close("median", item->median.cpu_w, FAKE_POWERCAP_W, 0.3);
    fulcrum_measurement_free(found);
    fake_powercap_free(fake);
}

TEST(test_every_configuration_gets_its_windows)
{
    const struct fulcrum_measure_config configs[] = {greedy_two, half_of_three};
    struct fulcrum_measure_options options = small_options(configs, 2);
    options.window_count = 2;
    options.most_windows = 3;
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(found->count, 2);
    CU_ASSERT(found->is_complete);
    assert_item(&found->items[0], &options);
    assert_item(&found->items[1], &options);
    /* One request of two observations, every time. */
    assert_close("half", found->items[1].median.mean_batch, 2.0, 0.0);
    assert_close("trained", found->items[0].median.train_step_count, 0.0, 0.0);
    fulcrum_measurement_free(found);
}

TEST(test_what_ran_is_described)
{
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    options.most_windows = 1;
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    CU_ASSERT_STRING_EQUAL(found->actor, "cartpole");
    CU_ASSERT_STRING_EQUAL(found->learner, "cpu");
    CU_ASSERT(strlen(found->learner_info.device.detail) > 3 &&
              strlen(found->actor_info.detail) > 3);
    assert_close(
        "byte", (double)fulcrum_observation_byte(&found->actor_info), 16.0, 0.0);
    assert_close("frames", found->actor_info.frame_skip, 1.0, 0.0);
    CU_ASSERT(found->learner_info.cost.forward_flop > 1e5 &&
              found->learner_info.cost.parameter_count > 100000);
    CU_ASSERT(isnan(found->train_step_flop));
    CU_ASSERT(found->items[0].median.canary_s > 0.0);
    CU_ASSERT(found->items[0].median.canary_s < 0.1);
    CU_ASSERT(strlen(found->energy_reason) > 5);
    CU_ASSERT(found->placement.actors.count >= 1);
    CU_ASSERT_EQUAL(found->machine.accelerator, FULCRUM_ACCELERATOR_CPU);
    if (found->placement.is_apart) {
        assert_close("cores", found->machine.cpu.core_count,
            (double)found->placement.actor_core_count + 1.0, 0.0);
    }
    fulcrum_measurement_free(found);
    fulcrum_measurement_free(NULL);
}

/* The other one goes on. */
TEST(test_a_configuration_that_cannot_run_keeps_its_reason)
{
    const struct fulcrum_measure_config configs[] = {too_large, greedy_two};
    struct fulcrum_measure_options options = small_options(configs, 2);
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    CU_ASSERT(found->is_complete);
    assert_part(
        found->items[0].failure, "a batch of 8 requests never fills with 1 act");
    CU_ASSERT_EQUAL(found->items[0].window_count, 0);
    CU_ASSERT(isnan(found->items[0].median.steps_per_s));
    CU_ASSERT(isnan(found->items[0].lo) && isnan(found->items[0].hi));
    assert_item(&found->items[1], &options);
    fulcrum_measurement_free(found);
}

/* It is not taken for no limit at all. */
TEST(test_a_batch_smaller_than_a_request_keeps_its_reason)
{
    const struct fulcrum_measure_config configs[] = {
        {2, 4, FULCRUM_BATCH_GREEDY, 3.0, 0.0}, {2, 4, FULCRUM_BATCH_FIXED, 2.0, 0.0}};
    struct fulcrum_measure_options options = small_options(configs, 2);
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_part(found->items[i].failure, "observations has no room for a request");
        CU_ASSERT_EQUAL(found->items[i].window_count, 0);
    }
    fulcrum_measurement_free(found);
}

/* The second environment crashes after some steps; the first alone does not. */
TEST(test_an_environment_that_crashes_is_named_and_the_rest_goes_on)
{
    const struct fulcrum_measure_config alone = {
        .actor_count = 1, .envs_per_actor = 1, .policy = FULCRUM_BATCH_GREEDY};
    const struct fulcrum_measure_config configs[] = {greedy_two, alone};
    struct fulcrum_measure_options options = small_options(configs, 2);
    options.seed = 1; /* the seeds of environments then start at an even one */
    options.actor = "plugin";
    options.actor_options.plugin = MISBEHAVE;
    (void)setenv("FULCRUM_TEST_FAULT", "crash@50", 1);
    (void)setenv("FULCRUM_TEST_ODD", "1", 1);
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    (void)unsetenv("FULCRUM_TEST_FAULT");
    (void)unsetenv("FULCRUM_TEST_ODD");
    assert_part(found->items[0].failure, "died of signal 11");
    assert_part(found->items[0].failure, "in step 50");
    CU_ASSERT(found->items[1].window_count >= 1);
    assert_item(&found->items[1], &options);
    fulcrum_measurement_free(found);
}

TEST(test_training_runs_beside_inference)
{
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    options.training = (struct fulcrum_measure_training){
        .env_steps_per_train_step = 200.0, .queue_train_steps = 2.0, .batch = 16};
    options.train_steps_least = 3.0;
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    const struct fulcrum_measured *item = &found->items[0];
    assert_item(item, &options);
    for (size_t i = 0; i < item->window_count; i++) {
        const struct fulcrum_measure_window *window = &item->windows[i];
        CU_ASSERT(window->train_step_count >= 3.0);
        CU_ASSERT(window->train_busy_frac > 0.0);
    }
    CU_ASSERT(found->train_step_flop > 1e6);
    fulcrum_measurement_free(found);
}

/* Says stop the second time that it is told of some progress. */
struct visitor {
    int calls;
    int patience; /* 0: never stops */
    double last_frac;
};

static void note_progress(void *user, double done_frac, const char *what)
{
    struct visitor *visitor = user;
    visitor->calls++;
    CU_ASSERT(done_frac >= 0.0 && done_frac <= 1.0);
    CU_ASSERT(done_frac >= visitor->last_frac);
    CU_ASSERT_STRING_EQUAL(what, "end to end");
    visitor->last_frac = done_frac;
}

static bool has_seen_enough(void *user)
{
    const struct visitor *visitor = user;
    return visitor->patience > 0 && visitor->calls >= visitor->patience;
}

TEST(test_progress_ends_at_the_end)
{
    struct visitor visitor = {.calls = 0};
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    options.listener =
        (struct fulcrum_listener){has_seen_enough, note_progress, &visitor};
    struct fulcrum_measurement *found = measure(&options, FULCRUM_OK);
    CU_ASSERT(visitor.calls > 3);
    assert_close("done", visitor.last_frac, 1.0, 1e-12);
    fulcrum_measurement_free(found);
}

TEST(test_a_stop_keeps_what_there_is)
{
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    options.window_count = 1000;
    options.most_windows = 1000;
    static const int patience[] = {1, 60};
    for (size_t i = 0; i < 2; i++) {
        struct visitor visitor = {.patience = patience[i]};
        options.listener =
            (struct fulcrum_listener){has_seen_enough, note_progress, &visitor};
        double begin_s = fulcrum_wall_s();
        struct fulcrum_measurement *found = measure(&options, FULCRUM_ERR_INTERRUPTED);
        CU_ASSERT(fulcrum_wall_s() - begin_s < 60.0);
        CU_ASSERT_FALSE(found->is_complete);
        CU_ASSERT_EQUAL(found->items[0].window_count > 0, i > 0);
        CU_ASSERT_EQUAL(isnan(found->items[0].median.steps_per_s), i == 0);
        CU_ASSERT_STRING_EQUAL(found->actor, "cartpole");
        fulcrum_measurement_free(found);
    }
}

/* So many readings of 1 us that the canaries' usual time is one, come what may. */
static void make_impatient(struct fulcrum_window_room *room)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (int k = 0; k < 20000 && status == FULCRUM_OK; k++) {
        status = fulcrum_canary_add(&room->usual[k % 2], 1e-6, NULL);
    }
    ASSERT_OK(status);
}

static bool counts_to_three(void *user)
{
    int *count = user;
    *count += 1;
    return *count >= 3;
}

TEST(test_a_window_waits_for_a_calm_machine_but_not_for_ever)
{
    static const double waits_s[] = {0.0, 0.7};
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    options.window_s = 0.02;
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_window_room room;
        struct fulcrum_measure_window window;
        options.calm_wait_s = waits_s[i];
        ASSERT_OK(fulcrum_window_room_open(&room, &options, NULL));
        make_impatient(&room);
        double begin_s = fulcrum_wall_s();
        ASSERT_OK(fulcrum_window_take(&room, &greedy_two, &window, NULL));
        CU_ASSERT(fulcrum_wall_s() - begin_s > waits_s[i]);
        CU_ASSERT(window.is_disturbed && window.canary_rel > 10.0);
        fulcrum_window_room_close(&room);
    }
}

TEST(test_a_stop_ends_the_wait)
{
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    struct fulcrum_window_room room;
    struct fulcrum_measure_window window;
    int count = 0;
    options.calm_wait_s = 3600.0;
    ASSERT_OK(fulcrum_window_room_open(&room, &options, NULL));
    make_impatient(&room);
    room.listener.stop = counts_to_three;
    room.listener.user = &count;
    CU_ASSERT_EQUAL(fulcrum_window_take(&room, &greedy_two, &window, NULL),
        FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_EQUAL(count, 3);
    fulcrum_window_room_close(&room);
}

TEST(test_what_cannot_be_measured_is_refused)
{
    const struct fulcrum_measure_config nobody = {.actor_count = 0};
    const struct fulcrum_measure_config crowd = {
        .actor_count = 65537, .envs_per_actor = 1};
    const struct fulcrum_measure_options small = small_options(&greedy_two, 1);
    struct {
        struct fulcrum_measure_options options;
        enum fulcrum_status expected;
        const char *says;
    } rows[] = {
        {{.window_s = 1.0}, FULCRUM_ERR_RANGE, "nothing to measure"},
        {small, FULCRUM_ERR_RANGE, "windows of 0 s, 1 to 2 of them"},
        {small, FULCRUM_ERR_RANGE, "3 to 2 of them"},
        {small, FULCRUM_ERR_RANGE, "a wait of nan s"},
        {small_options(&nobody, 1), FULCRUM_ERR_RANGE,
            "0 actors with 0 environments: expected 1 to"},
        {small_options(&crowd, 1), FULCRUM_ERR_RANGE,
            "65537 actors with 1 environments"},
        {small, FULCRUM_ERR_UNKNOWN_NAME, "tamer"},
        {small, FULCRUM_ERR_UNKNOWN_NAME, "slide-rule"},
    };
    rows[1].options.window_s = 0.0;
    rows[2].options.window_count = 3;
    rows[3].options.calm_wait_s = (double)NAN;
    rows[6].options.actor = "tamer";
    rows[7].options.learner = "slide-rule";
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_measurement *found = NULL;
        ASSERT_FAILS(fulcrum_measure(&found, &rows[i].options, &err), rows[i].expected,
            rows[i].says);
        CU_ASSERT_PTR_NULL(found);
    }
}

TEST(test_requests_of_a_batch_are_whole)
{
    static const struct {
        struct fulcrum_measure_config config;
        size_t requests;
    } cases[] = {
        {{4, 1, FULCRUM_BATCH_GREEDY, 0.0, 0.0}, 0},
        {{4, 1, FULCRUM_BATCH_GREEDY, 3.0, 0.0}, 3},
        {{4, 4, FULCRUM_BATCH_GREEDY, 9.0, 0.0}, 2},
        {{4, 4, FULCRUM_BATCH_FIXED, 8.0, 0.0}, 2},
        {{7, 1, FULCRUM_BATCH_FIXED, 0.0, 0.5}, 3},
        {{1, 8, FULCRUM_BATCH_FIXED, 0.0, 0.5}, 1},
        {{64, 2, FULCRUM_BATCH_FIXED, 0.0, 0.5}, 32},
        {{64, 2, FULCRUM_BATCH_FIXED, 0.0, 1.0}, 64},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CU_ASSERT_EQUAL(
            fulcrum_measure_batch_requests(&cases[i].config), cases[i].requests);
    }
}

/* The pipeline recorded. */
static struct fulcrum_measure_options stage_options(void)
{
    struct fulcrum_measure_options options = small_options(&greedy_two, 1);
    options.window_s = 0.05;
    return options;
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
    struct fulcrum_measure_options base = stage_options();
    const struct fulcrum_measure_stages_options options = {
        .measure = &base, .pair_count = 2, .trace_path = path, .span_max = 500};
    struct fulcrum_stages_measurement *found = NULL;
    ASSERT_OK(fulcrum_measure_stages(&found, &options, NULL));
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
    struct fulcrum_measure_options base = stage_options();
    struct fulcrum_measure_stages_options options = {.measure = &base};
    struct fulcrum_stages_measurement *found = NULL;
    CU_ASSERT_EQUAL(fulcrum_measure_stages(&found, &options, NULL), FULCRUM_ERR_RANGE);
    options.pair_count = 1;
    base.window_s = 0.0;
    CU_ASSERT_EQUAL(fulcrum_measure_stages(&found, &options, NULL), FULCRUM_ERR_RANGE);
    const struct fulcrum_measure_config nobody = {.actor_count = 0};
    base = stage_options();
    base.configs = &nobody;
    ASSERT_FAILS(fulcrum_measure_stages(&found, &options, &err), FULCRUM_ERR_RANGE,
        "0 environments");
    base = stage_options();
    /* cppcheck-suppress unreadVariable; options point to it */
    base.actor = "nobody";
    CU_ASSERT_EQUAL(
        fulcrum_measure_stages(&found, &options, NULL), FULCRUM_ERR_UNKNOWN_NAME);
    CU_ASSERT_PTR_NULL(found);
    fulcrum_stages_measurement_free(NULL);
}

TEST(test_a_run_can_be_stopped)
{
    struct fulcrum_measure_options base = stage_options();
    const struct fulcrum_measure_stages_options options = {
        .measure = &base, .pair_count = 50};
    struct fulcrum_stages_measurement *found = NULL;
    base.listener.stop = probing_stop;
    CU_ASSERT_EQUAL(
        fulcrum_measure_stages(&found, &options, NULL), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_PTR_NULL(found);
}

/* A batch that never fills is that configuration's own failure. */
TEST(test_configurations_that_cannot_run_keep_their_reason)
{
    const struct fulcrum_measure_config configs[] = {too_large, greedy_two};
    struct fulcrum_measure_options base = stage_options();
    const struct fulcrum_measure_stages_options options = {
        .measure = &base, .pair_count = 1};
    struct fulcrum_stages_measurement *found = NULL;
    base.configs = configs;
    base.config_count = 2;
    ASSERT_OK(fulcrum_measure_stages(&found, &options, NULL));
    CU_ASSERT(strlen(found->items[0].failure) > 10);
    CU_ASSERT_PTR_NULL(found->items[0].times.tracks);
    CU_ASSERT_STRING_EQUAL(found->items[1].failure, "");
    CU_ASSERT_EQUAL(found->items[1].pairs.pair_count, 0);
    fulcrum_stages_measurement_free(found);
}

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
    const struct fulcrum_measure_options base = {.actor = "mujoco-humanoid",
        .network = FULCRUM_NETWORK_MLP,
        .seed = 1,
        .configs = configs,
        .config_count = 3,
        .window_s = 0.5};
    const struct fulcrum_measure_stages_options options = {
        .measure = &base, .pair_count = text != NULL ? strtoul(text, NULL, 10) : 0};
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
