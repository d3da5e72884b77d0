/* test_recorder_cost.c - what recording costs is found, and taken off where it arises.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/recorder.h"

#include <math.h>
#include <string.h>

#include "calibrate/actor/request_queue.h"
#include "calibrate/stopwatch.h"
#include "tests/support/suite.h"

/* --- What needs no clock --------------------------------------------------------- */

/*
 * Two outer stages of begin and end; the first has three stages in a chain inside it,
 * of which the first is begun by itself and the last ended by itself.
 */
static void test_cost_is_taken_off_where_it_arises(void)
{
    const struct fulcrum_recorder_cost cost = {
        .pair_inside_s = 1.0, .pair_outside_s = 10.0, .chained_s = 100.0};
    struct fulcrum_recorder_track track = {.event_count = 5};
    struct fulcrum_recorder_total *cpu = track.totals[FULCRUM_STAGE_CPU];
    cpu[FULCRUM_STAGE_INFERENCE] =
        (struct fulcrum_recorder_total){.exclusive_s = 1000.0,
            .event_count = 2.0,
            .child_count = 1.0,
            .paired_end_count = 4.0};
    cpu[FULCRUM_STAGE_HANDOFF] = (struct fulcrum_recorder_total){.exclusive_s = 2000.0,
        .event_count = 3.0,
        .paired_end_count = 2.0,
        .chained_end_count = 4.0};
    struct fulcrum_recorder_correction correction =
        fulcrum_recorder_correct(&track, &cost);
    suite_assert_close(
        "outer", correction.recording_s[FULCRUM_STAGE_INFERENCE], 2.0 + 10.0, 1e-12);
    suite_assert_close(
        "chain", correction.recording_s[FULCRUM_STAGE_HANDOFF], 1.0 + 200.0, 1e-12);
    suite_assert_close("around no stage", correction.outside_s, 20.0, 1e-12);
    suite_assert_close("all", correction.total_s, 12.0 + 201.0 + 20.0, 1e-12);
    suite_assert_close("left of inference",
        correction.exclusive_s[FULCRUM_STAGE_INFERENCE], 988.0, 1e-12);
    suite_assert_close(
        "untouched", correction.exclusive_s[FULCRUM_STAGE_TRAINING], 0.0, 0.0);
}

static void test_no_stage_falls_below_zero(void)
{
    const struct fulcrum_recorder_cost cost = {1.0, 1.0, 1.0};
    struct fulcrum_recorder_track track = {.event_count = 1};
    track.totals[FULCRUM_STAGE_CPU][FULCRUM_STAGE_WAIT] =
        (struct fulcrum_recorder_total){
            .exclusive_s = 0.25, .event_count = 1.0, .paired_end_count = 2.0};
    struct fulcrum_recorder_correction correction =
        fulcrum_recorder_correct(&track, &cost);
    suite_assert_close("left", correction.exclusive_s[FULCRUM_STAGE_WAIT], 0.0, 0.0);
    suite_assert_close(
        "taken off", correction.recording_s[FULCRUM_STAGE_WAIT], 0.25, 1e-12);
}

/*
 * Costs of 1, 2, 3, 4 %: mean 2.5 %, sd 1.29 %; the 95 % point of Student's t with 3
 * degrees of freedom is 2.3534 (any table).
 */
static void test_upper_limit_of_pairs_is_students(void)
{
    const double with[] = {1.0 / 1.01, 1.0 / 1.02, 1.0 / 1.03, 1.0 / 1.04};
    const double without[] = {1.0, 1.0, 1.0, 1.0};
    struct fulcrum_recorder_pairs pairs;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_recorder_cost_of_pairs(&pairs, with, without, 4, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(pairs.pair_count, 4);
    suite_assert_close("mean", pairs.mean_frac, 0.025, 1e-12);
    suite_assert_close("median", pairs.median_frac, 0.025, 1e-12);
    suite_assert_close("sd", pairs.sd_frac, 0.012909944, 1e-6);
    suite_assert_close(
        "upper", pairs.upper_frac, 0.025 + 2.353363 * 0.012909944 / 2.0, 1e-6);
}

static void test_pairs_that_say_nothing_are_refused(void)
{
    const double rates[] = {1.0, 2.0};
    const double wrong[] = {1.0, (double)NAN};
    struct fulcrum_recorder_pairs pairs;
    struct fulcrum_error err;
    CU_ASSERT_EQUAL(fulcrum_recorder_cost_of_pairs(&pairs, rates, rates, 1, &err),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(fulcrum_recorder_cost_of_pairs(&pairs, rates, wrong, 2, &err),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "pair 2"));
}

/* --- What does ---------------------------------------------------------------------
 */

static void test_measured_cost_is_that_of_a_few_clock_reads(void)
{
    struct fulcrum_recorder_cost cost;
    struct fulcrum_stopwatch stopwatch = fulcrum_stopwatch_calibrated();
    CU_ASSERT_EQUAL_FATAL(fulcrum_recorder_cost_measure(&cost, NULL), FULCRUM_OK);
    double pair_s = cost.pair_inside_s + cost.pair_outside_s;
    CU_ASSERT(cost.pair_inside_s > 0.0 && cost.chained_s > 0.0);
    CU_ASSERT(cost.chained_s < pair_s);
    /* Sanitizers slow everything but the clock; hence the wide margin. */
    CU_ASSERT(pair_s < 100.0 * stopwatch.wall_cost_s + 1e-6);
}

/* What is injected per event of each kind, in runs of the self-test. */
static const double injected_s[FULCRUM_STAGE_KIND_COUNT] = {
    [FULCRUM_STAGE_SIMULATION] = 20e-6,
    [FULCRUM_STAGE_INFERENCE] = 40e-6,
};

struct run {
    double time_s;
    double event_count[FULCRUM_STAGE_KIND_COUNT];
};

/*
 * Cycles of two stages of work. `kinds` has a bit for each kind of stage that is
 * recorded; no recorder where there is none.
 */
static struct run run_cycles(size_t cycles, double work_s, unsigned kinds)
{
    struct fulcrum_recorder_options options = {.track_count = 1};
    struct fulcrum_recorder *recorder = NULL;
    memcpy(options.injected_s, injected_s, sizeof injected_s);
    if (kinds != 0 && fulcrum_recorder_new(&recorder, &options, NULL) != FULCRUM_OK) {
        CU_FAIL_FATAL("no recorder");
    }
    struct run run = {0};
    fulcrum_recorder_start(recorder);
    double begin_s = fulcrum_wall_s();
    for (size_t i = 0; i < cycles; i++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct fulcrum_recorder *now = (kinds >> kind & 1U) != 0 ? recorder : NULL;
            fulcrum_recorder_begin(now, 0, (enum fulcrum_stage_kind)kind);
            fulcrum_spin_s(work_s);
            fulcrum_recorder_end(now, 0);
        }
    }
    run.time_s = fulcrum_wall_s() - begin_s;
    fulcrum_recorder_stop(recorder);
    for (size_t kind = 0; kind < 2 && recorder != NULL; kind++) {
        run.event_count[kind] = fulcrum_recorder_read(recorder, 0)
                                    .totals[FULCRUM_STAGE_CPU][kind]
                                    .event_count;
    }
    fulcrum_recorder_free(recorder);
    return run;
}

/*
 * Other work on the machine makes a clock read dearer for seconds. What is wrong in the
 * correction is wrong every time: so a few tries, apart from each other.
 */
#define TRIES_APART 12
#define APART_S     0.4

/* The least error of some tries; the first that is small enough ends them. */
static double least_error(double (*error)(void), double enough)
{
    double least = (double)INFINITY;
    for (int i = 0; i < TRIES_APART && !(least <= enough); i++) {
        if (i > 0) {
            fulcrum_sleep_s(APART_S);
        }
        least = fmin(least, error());
    }
    return least;
}

/* Short runs, and the shortest of many: what else the machine does is not asked. */
static double corrected_error(void)
{
    enum { ROUNDS = 200, CYCLES = 8 };
    double corrected_s = (double)INFINITY;
    double off_s = (double)INFINITY;
    struct fulcrum_recorder_cost cost;
    CU_ASSERT_EQUAL_FATAL(fulcrum_recorder_cost_measure(&cost, NULL), FULCRUM_OK);
    for (size_t i = 0; i < ROUNDS; i++) {
        off_s = fmin(off_s, run_cycles(CYCLES, 3e-5, 0).time_s);
        struct run on = run_cycles(CYCLES, 3e-5, 3);
        for (size_t kind = 0; kind < 2; kind++) {
            on.time_s -= on.event_count[kind] *
                         (cost.pair_inside_s + cost.pair_outside_s + injected_s[kind]);
        }
        corrected_s = fmin(corrected_s, on.time_s);
    }
    return fabs(corrected_s - off_s) / off_s;
}

/*
 * A known overhead, as much as the work, taken off a recorded run leaves the time of
 * one without.
 */
static void test_corrected_total_is_that_of_an_unrecorded_run(void)
{
    CU_ASSERT(least_error(corrected_error, 0.05) <= 0.05);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_cost_is_taken_off_where_it_arises),
        SUITE_CASE(test_no_stage_falls_below_zero),
        SUITE_CASE(test_upper_limit_of_pairs_is_students),
        SUITE_CASE(test_pairs_that_say_nothing_are_refused),
        SUITE_CASE(test_measured_cost_is_that_of_a_few_clock_reads),
        SUITE_CASE(test_corrected_total_is_that_of_an_unrecorded_run),
    };
    return suite_run(
        "recorder_cost", cases, sizeof cases / sizeof cases[0], argc, argv);
}
