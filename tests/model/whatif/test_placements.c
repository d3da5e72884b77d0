/* test_placements.c - which placements are asked about, and what they come to. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/placements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/load/partition_file.h"
#include "tests/support/place.h"
#include "tests/support/suite.h"

/* A scenario, and the terms that nothing was asked of. */
struct asked {
    struct place place;
    struct fulcrum_partition *partition;
    struct fulcrum_sharing_terms terms;
    struct fulcrum_placements plan;
};

/* A new one, in place of that of the case before.
 *   set      "PATH=VALUE"; NULL: none
 */
static struct asked *ask(const char *machine, const char *workload, const char *set)
{
    static struct asked kept;
    struct asked *asked = &kept;
    const char *sets[] = {set, NULL};
    place_close(&asked->place);
    free(asked->partition);
    place_open(&asked->place, machine, workload, NULL, sets);
    ASSERT_OK(fulcrum_partition_load("a100-40gb", &asked->partition, NULL));
    asked->terms = (struct fulcrum_sharing_terms){.share_byte_per_s = (double)NAN,
        .slice_byte_per_s = 25e9,
        .overhead_frac = 0.045,
        .switch_frac = 0.045,
        .instances = 4,
        .mig = &asked->partition->mig};
    return asked;
}

/* Whether to stop. */
static int watch(void *watcher, double done_frac)
{
    CU_ASSERT(done_frac >= 0.0 && done_frac <= 1.0);
    return *(const int *)watcher;
}

static enum fulcrum_status make(
    struct asked *asked, double draws, int stop, struct fulcrum_error *err)
{
    const struct fulcrum_placement_plan question = {.scenario = asked->place.scenario,
        .terms = &asked->terms,
        .predict = {.solver = {.seed = 1, .half_width_rel = 0.05}, .draws = draws},
        .watch = watch,
        .watcher = &stop};
    return fulcrum_placements_find(&question, &asked->plan, err);
}

static const struct fulcrum_placements *made(struct asked *asked, double draws)
{
    ASSERT_OK(make(asked, draws, 0, NULL));
    return &asked->plan;
}

static const struct fulcrum_placement *find(
    const struct fulcrum_placements *plan, const char *name)
{
    size_t i = 0;
    while (i + 1 < plan->count && strcmp(plan->rows[i].name, name) != 0) {
        i++;
    }
    CU_ASSERT_STRING_EQUAL_FATAL(plan->rows[i].name, name);
    return &plan->rows[i];
}

static void assert_answered(
    const struct fulcrum_placements *plan, const struct fulcrum_placement *row)
{
    CU_ASSERT(row->steps_per_s > 0.0);
    CU_ASSERT(row->speedup.lo <= row->speedup.hi);
    CU_ASSERT(row->placed.sm_held_frac <= 1.0 + 1e-9);
    CU_ASSERT(row->gpu_w > plan->design.machine.gpu.idle_w);
}

/* A row that cannot run says why. */
static void assert_refused(
    const struct fulcrum_placements *plan, const char *name, const char *part)
{
    CU_ASSERT(isnan(find(plan, name)->steps_per_s));
    assert_part(find(plan, name)->reason, part);
}

/* The whole loop alone is what `fulcrum predict` says, watts too. */
static void assert_predicted(
    const struct place *place, const struct fulcrum_placement *alone)
{
    const struct fulcrum_point point = {NULL, 0, 0, 1};
    const struct fulcrum_predict_options options = {.solver = {.seed = 1}};
    struct fulcrum_prediction prediction;
    ASSERT_OK(fulcrum_predict(place->scenario, &point, &options, &prediction, NULL));
    assert_close("rate", alone->steps_per_s,
        prediction.value[FULCRUM_OUTPUT_steps_per_s], 1e-12);
    assert_close("watts", alone->gpu_w, prediction.value[FULCRUM_OUTPUT_gpu_w], 1e-12);
}

/* Slices belong to a whole GPU; its watts are those that predict has of the part. */
TEST(test_a_part_of_the_sms_has_no_slices)
{
    struct asked *asked = ask("dgx-a100", "isaac-ant", "run.sm_count=54");
    const struct fulcrum_placements *plan = made(asked, 0.0);
    assert_predicted(&asked->place, &plan->rows[0]);
    assert_refused(plan, "slices, best", "run.sm_count = 54");
}

TEST(test_every_placement_of_a_resident_workload_is_asked)
{
    static const char *const names[] = {"exclusive", "time-sliced x 2",
        "time-sliced x 4", "shares, equal x 2", "shares, equal x 4",
        "shares, a process a stage", "shares, best", "slices, best", "slices, as asked",
        "shares, as asked"};
    struct asked *asked = ask("dgx-a100", "isaac-ant", NULL);
    struct fulcrum_mig_layout layout;
    ASSERT_OK(fulcrum_mig_layout_parse(
        &asked->partition->mig, "4g.20gb,3g.20gb", &layout, NULL));
    asked->terms.given_layout = &layout;
    asked->terms.given_count = 3;
    asked->terms.given_shares[0] = 0.6;
    asked->terms.given_shares[1] = 0.1;
    asked->terms.given_shares[2] = 0.3;
    const struct fulcrum_placements *plan = made(asked, 10.0);
    CU_ASSERT_EQUAL(plan->count, LENGTH(names));
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_answered(plan, find(plan, names[i]));
    }
    CU_ASSERT_STRING_EQUAL(find(plan, "slices, as asked")->layout, "4g.20gb + 3g.20gb");
    CU_ASSERT(find(plan, "slices, as asked")->steps_per_s <=
              find(plan, "slices, best")->steps_per_s);
    CU_ASSERT(find(plan, "shares, as asked")->steps_per_s <=
              find(plan, "shares, best")->steps_per_s);
    CU_ASSERT_EQUAL(plan->rows[0].speedup.value, 1.0);
}

TEST(test_exclusive_is_what_is_predicted)
{
    struct asked *asked = ask("dgx-a100", "isaac-ant", NULL);
    asked->terms.instances = 1;
    asked->terms.mig = NULL;
    const struct fulcrum_placements *plan = made(asked, 0.0);
    CU_ASSERT_EQUAL(plan->count, 2);
    assert_predicted(&asked->place, &plan->rows[0]);
    CU_ASSERT(isnan(plan->rows[0].speedup.lo));
}

/* Environments too many for two processes: those rows say so, the first one runs. */
TEST(test_what_does_not_fit_has_a_reason)
{
    struct asked *asked = ask("dgx-a100", "isaac-ant", NULL);
    asked->place.inputs.base.workload.simulation.env_count = 100000;
    place_renew(&asked->place);
    asked->terms.envs_each = 1;
    const struct fulcrum_placements *plan = made(asked, 3.0);
    CU_ASSERT(plan->rows[0].steps_per_s > 0.0);
    assert_refused(plan, "shares, equal x 2", "GB of memory in all");
}

TEST(test_environments_are_dealt_out_whole)
{
    struct asked *asked =
        ask("dgx-a100", "isaac-ant", "workload.simulation.env_count=3");
    const struct fulcrum_placements *plan = made(asked, 0.0);
    CU_ASSERT(find(plan, "time-sliced x 2")->steps_per_s > 0.0);
    assert_refused(plan, "time-sliced x 4", "3 environments cannot be dealt");
    CU_ASSERT(find(plan, "shares, best")->placed.instances <= 3.0);
}

/* Actors on the CPU: whole loops on equal parts, by the network. */
TEST(test_actors_are_placed_as_whole_loops)
{
    struct asked *asked = ask("dgx-a100", "r2d2-atari", "run.actor_count=256");
    const struct fulcrum_placements *plan = made(asked, 0.0);
    CU_ASSERT_EQUAL(plan->count, 3);
    CU_ASSERT_EQUAL(plan->loop.count, 0);
    CU_ASSERT_STRING_EQUAL(plan->rows[2].name, "shares, equal x 4");
    CU_ASSERT(plan->rows[2].steps_per_s > 0.0);
    asked->terms.instances = 3;
    plan = made(asked, 0.0);
    assert_refused(
        plan, "shares, equal x 3", "cannot be shared equally by 3 instances of GPUs");
}

TEST(test_a_signal_ends_it)
{
    struct asked *asked = ask("dgx-a100", "isaac-ant", NULL);
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(make(asked, 10.0, 1, &err), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_STRING_EQUAL(err.detail, "interrupted");
}
