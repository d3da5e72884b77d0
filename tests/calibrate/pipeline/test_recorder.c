/* test_recorder.c - stages of threads are recorded whole, cut to the window, counted,
 * and what that costs is taken off where it arises.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/pipeline/recorder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "calibrate/actor/request_queue.h"
#include "calibrate/stopwatch.h"
#include "tests/support/suite.h"

static struct fulcrum_recorder *new_recorder(size_t tracks, size_t capacity)
{
    struct fulcrum_recorder *recorder = NULL;
    ASSERT_OK(fulcrum_recorder_new(&recorder, tracks, capacity, NULL));
    return recorder;
}

static double exclusive_s(
    const struct fulcrum_recorder_track *track, enum fulcrum_stage_kind kind)
{
    return track->totals[kind].exclusive_s;
}

TEST(test_every_kind_of_stage_has_a_name)
{
    for (size_t i = 0; i < FULCRUM_STAGE_KIND_COUNT; i++) {
        enum fulcrum_stage_kind kind = (enum fulcrum_stage_kind)i;
        CU_ASSERT(strlen(fulcrum_stage_kind_name(kind)) > 0);
    }
    CU_ASSERT_STRING_EQUAL(fulcrum_stage_kind_name(FULCRUM_STAGE_WAIT), "wait");
}

TEST(test_what_has_no_room_is_refused)
{
    static const struct {
        size_t tracks;
        size_t capacity;
        enum fulcrum_status status;
    } cases[] = {{0, 1, FULCRUM_ERR_RANGE}, {(size_t)-1 / 64, 1, FULCRUM_ERR_NO_MEMORY},
        {2, (size_t)-1 / 64, FULCRUM_ERR_NO_MEMORY}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_recorder *recorder = NULL;
        CU_ASSERT_EQUAL(
            fulcrum_recorder_new(&recorder, cases[i].tracks, cases[i].capacity, NULL),
            cases[i].status);
        CU_ASSERT_PTR_NULL(recorder);
    }
}

TEST(test_no_recorder_records_nothing)
{
    fulcrum_recorder_start(NULL);
    fulcrum_recorder_attach(NULL, 7, "nobody", 0);
    fulcrum_recorder_begin(NULL, 7, FULCRUM_STAGE_SIMULATION);
    fulcrum_recorder_next(NULL, 7, FULCRUM_STAGE_WAIT);
    fulcrum_recorder_end(NULL, 7);
    fulcrum_recorder_detach(NULL, 7);
    fulcrum_recorder_stop(NULL);
    fulcrum_recorder_free(NULL);
    CU_ASSERT_EQUAL(fulcrum_recorder_track_count(NULL), 0);
    assert_close("window", fulcrum_recorder_window_s(NULL), 0.0, 0.0);
}

/* Inner stages stop the outer one's clock: exclusive times add up to the whole. */
TEST(test_exclusive_times_add_up_to_the_outermost_stage)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_INFERENCE);
    fulcrum_spin_s(1e-4);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_HANDOFF);
    fulcrum_spin_s(1e-4);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_WAIT);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT_EQUAL_FATAL(track.event_count, 3);
    const struct fulcrum_recorder_event *outer = &track.events[2];
    CU_ASSERT_EQUAL(outer->depth, 0);
    CU_ASSERT_EQUAL(outer->kind, FULCRUM_STAGE_INFERENCE);
    CU_ASSERT_EQUAL(track.events[0].depth, 2);
    CU_ASSERT(exclusive_s(&track, FULCRUM_STAGE_INFERENCE) >= 1e-4);
    CU_ASSERT(exclusive_s(&track, FULCRUM_STAGE_HANDOFF) >= 1e-4);
    assert_close("sum",
        exclusive_s(&track, FULCRUM_STAGE_INFERENCE) +
            exclusive_s(&track, FULCRUM_STAGE_HANDOFF) +
            exclusive_s(&track, FULCRUM_STAGE_WAIT),
        outer->end_s - outer->begin_s, 1e-9);
    assert_close(
        "children", track.totals[FULCRUM_STAGE_INFERENCE].child_count, 1.0, 0.0);
    fulcrum_recorder_free(recorder);
}

/* Nobody attached: the track has a name all the same, and no CPU time. */
TEST(test_next_leaves_no_gap_between_stages)
{
    static const double paired[] = {1.0, 0.0, 1.0}; /* ends that read their own clock */
    static const enum fulcrum_stage_kind kinds[] = {
        FULCRUM_STAGE_SIMULATION, FULCRUM_STAGE_HANDOFF, FULCRUM_STAGE_WAIT};
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < 3; i++) {
        fulcrum_recorder_next(recorder, 0, kinds[i]);
    }
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT_EQUAL_FATAL(track.event_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct fulcrum_recorder_total *total = &track.totals[kinds[i]];
        CU_ASSERT_EQUAL(track.events[i].depth, 0);
        CU_ASSERT(i == 0 || track.events[i].begin_s == track.events[i - 1].end_s);
        assert_close("paired", total->paired_end_count, paired[i], 0.0);
        assert_close("chained", total->chained_end_count, 2.0 - paired[i], 0.0);
    }
    CU_ASSERT(isnan(track.cpu_s));
    CU_ASSERT_STRING_EQUAL(track.name, "thread 0");
    fulcrum_recorder_free(recorder);
}

TEST(test_stages_deeper_than_the_stack_count_as_the_one_around)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < FULCRUM_RECORDER_DEPTH_MAX; i++) {
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
    }
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_WAIT);
    fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
    for (size_t i = 0; i <= FULCRUM_RECORDER_DEPTH_MAX; i++) {
        fulcrum_recorder_end(recorder, 0);
    }
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT_EQUAL(track.event_count, FULCRUM_RECORDER_DEPTH_MAX);
    assert_close("too deep", exclusive_s(&track, FULCRUM_STAGE_WAIT), 0.0, 0.0);
    fulcrum_recorder_free(recorder);
}

/* A stage that the window's begin or end divides counts with the part inside. */
TEST(test_stages_are_cut_to_the_window)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_WAIT);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_HANDOFF);
    fulcrum_spin_s(2e-4);
    assert_close("not open", fulcrum_recorder_window_s(recorder), 0.0, 0.0);
    fulcrum_recorder_start(recorder);
    fulcrum_spin_s(1e-4);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    fulcrum_spin_s(2e-4);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_INFERENCE);
    fulcrum_recorder_end(recorder, 0);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    double window_s = fulcrum_recorder_window_s(recorder);
    CU_ASSERT_EQUAL_FATAL(track.event_count, 2);
    CU_ASSERT_EQUAL(track.events[1].kind, FULCRUM_STAGE_WAIT);
    assert_close("from the first moment", track.events[1].begin_s, 0.0, 0.0);
    assert_close("to the last one", track.events[1].end_s, window_s, 1e-6);
    CU_ASSERT(window_s >= 1e-4);
    assert_close("whole window",
        exclusive_s(&track, FULCRUM_STAGE_WAIT) +
            exclusive_s(&track, FULCRUM_STAGE_HANDOFF),
        window_s, 1e-6);
    fulcrum_recorder_free(recorder);
}

TEST(test_events_without_room_are_counted_and_kept_in_totals)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 3);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < 10; i++) {
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
        fulcrum_spin_s(1e-5);
        fulcrum_recorder_end(recorder, 0);
    }
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT_EQUAL_FATAL(track.event_count, 3);
    CU_ASSERT_EQUAL(track.dropped_count, 7);
    assert_close(
        "count", track.totals[FULCRUM_STAGE_SIMULATION].event_count, 10.0, 0.0);
    double kept_s = 0.0;
    for (size_t i = 0; i < 3; i++) {
        kept_s += track.events[i].end_s - track.events[i].begin_s;
    }
    assert_close("total", exclusive_s(&track, FULCRUM_STAGE_SIMULATION),
        kept_s + track.dropped_s, 1e-9);
    fulcrum_recorder_free(recorder);
}

/* Threads that record while the controller opens and closes the window. */
struct worker {
    struct fulcrum_recorder *recorder;
    atomic_int *stops;
    size_t number;
    pthread_t thread;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    fulcrum_recorder_attach(worker->recorder, worker->number,
        "a name that is far too long for a track", worker->number);
    while (!atomic_load(worker->stops)) {
        fulcrum_recorder_next(
            worker->recorder, worker->number, FULCRUM_STAGE_SIMULATION);
        fulcrum_spin_s(2e-6);
        fulcrum_recorder_next(worker->recorder, worker->number, FULCRUM_STAGE_HANDOFF);
    }
    fulcrum_recorder_end(worker->recorder, worker->number);
    fulcrum_recorder_detach(worker->recorder, worker->number);
    return NULL;
}

static void check_track(const struct fulcrum_recorder_track *track, double window_s)
{
    CU_ASSERT_EQUAL(strlen(track->name), FULCRUM_RECORDER_NAME_SIZE - 1);
    assert_close("window is covered",
        exclusive_s(track, FULCRUM_STAGE_SIMULATION) +
            exclusive_s(track, FULCRUM_STAGE_HANDOFF),
        window_s, 1e-6);
    CU_ASSERT(track->cpu_s > 0.0 && track->cpu_s < 1.1 * window_s);
    for (size_t i = 0; i < track->event_count; i++) {
        CU_ASSERT(track->events[i].begin_s >= 0.0);
        CU_ASSERT(track->events[i].begin_s < track->events[i].end_s);
        /* A processor may read the clock a moment after it looks at the window. */
        CU_ASSERT(track->events[i].end_s <= window_s + 1e-7);
        CU_ASSERT(i == 0 || track->events[i].begin_s >= track->events[i - 1].end_s);
    }
}

TEST(test_threads_record_side_by_side)
{
    enum { COUNT = 3 };
    struct fulcrum_recorder *recorder = new_recorder(COUNT, 0);
    atomic_int stops = 0;
    struct worker workers[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        workers[i] = (struct worker){recorder, &stops, i, 0};
        CU_ASSERT_EQUAL_FATAL(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    fulcrum_sleep_s(0.02);
    fulcrum_recorder_start(recorder);
    fulcrum_sleep_s(0.03);
    fulcrum_recorder_stop(recorder);
    atomic_store(&stops, 1);
    for (size_t i = 0; i < COUNT; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    double window_s = fulcrum_recorder_window_s(recorder);
    CU_ASSERT(window_s >= 0.03);
    for (size_t i = 0; i < fulcrum_recorder_track_count(recorder); i++) {
        struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, i);
        check_track(&track, window_s);
    }
    fulcrum_recorder_free(recorder);
}

/* A thread that ends within the window leaves its CPU time. */
TEST(test_thread_that_ends_early_keeps_its_cpu_time)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    atomic_int stops = 1;
    struct worker worker = {recorder, &stops, 0, 0};
    fulcrum_recorder_start(recorder);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&worker.thread, NULL, work, &worker), 0);
    (void)pthread_join(worker.thread, NULL);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT(isfinite(track.cpu_s) && track.cpu_s >= 0.0);
    fulcrum_recorder_free(recorder);
}

/* Two outer stages of begin and end; the first has three stages in a chain inside it,
 * of which the first is begun by itself and the last ended by itself. */
TEST(test_cost_is_taken_off_where_it_arises)
{
    const struct fulcrum_recorder_cost cost = {
        .pair_inside_s = 1.0, .pair_outside_s = 10.0, .chained_s = 100.0};
    struct fulcrum_recorder_track track = {.event_count = 5};
    struct fulcrum_recorder_total *cpu = track.totals;
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
    assert_close(
        "outer", correction.recording_s[FULCRUM_STAGE_INFERENCE], 2.0 + 10.0, 1e-12);
    assert_close(
        "chain", correction.recording_s[FULCRUM_STAGE_HANDOFF], 1.0 + 200.0, 1e-12);
    assert_close("around no stage", correction.outside_s, 20.0, 1e-12);
    assert_close("all", correction.total_s, 12.0 + 201.0 + 20.0, 1e-12);
    assert_close("left of inference", correction.exclusive_s[FULCRUM_STAGE_INFERENCE],
        988.0, 1e-12);
    assert_close("untouched", correction.exclusive_s[FULCRUM_STAGE_TRAINING], 0.0, 0.0);
}

TEST(test_no_stage_falls_below_zero)
{
    const struct fulcrum_recorder_cost cost = {1.0, 1.0, 1.0};
    struct fulcrum_recorder_track track = {.event_count = 1};
    track.totals[FULCRUM_STAGE_WAIT] = (struct fulcrum_recorder_total){
        .exclusive_s = 0.25, .event_count = 1.0, .paired_end_count = 2.0};
    struct fulcrum_recorder_correction correction =
        fulcrum_recorder_correct(&track, &cost);
    assert_close("left", correction.exclusive_s[FULCRUM_STAGE_WAIT], 0.0, 0.0);
    assert_close("taken off", correction.recording_s[FULCRUM_STAGE_WAIT], 0.25, 1e-12);
}

/* Costs of 1, 2, 3, 4 %: mean 2.5 %, sd 1.29 %; the 95 % point of Student's t with 3
 * degrees of freedom is 2.3534 (any table). */
TEST(test_upper_limit_of_pairs_is_students)
{
    const double with[] = {1.0 / 1.01, 1.0 / 1.02, 1.0 / 1.03, 1.0 / 1.04};
    const double without[] = {1.0, 1.0, 1.0, 1.0};
    struct fulcrum_recorder_pairs pairs;
    ASSERT_OK(fulcrum_recorder_cost_of_pairs(&pairs, with, without, 4, NULL));
    CU_ASSERT_EQUAL(pairs.pair_count, 4);
    assert_close("mean", pairs.mean_frac, 0.025, 1e-12);
    assert_close("sd", pairs.sd_frac, 0.012909944, 1e-6);
    assert_close("upper", pairs.upper_frac, 0.025 + 2.353363 * 0.012909944 / 2.0, 1e-6);
}

TEST(test_pairs_that_say_nothing_are_refused)
{
    const double rates[] = {1.0, 2.0};
    const double wrong[] = {1.0, (double)NAN};
    struct fulcrum_recorder_pairs pairs;
    struct fulcrum_error err;
    CU_ASSERT_EQUAL(fulcrum_recorder_cost_of_pairs(&pairs, rates, rates, 1, &err),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(fulcrum_recorder_cost_of_pairs(&pairs, rates, wrong, 2, &err),
        FULCRUM_ERR_RANGE);
    assert_part(err.detail, "pair 2");
}

TEST(test_measured_cost_is_that_of_a_few_clock_reads)
{
    struct fulcrum_recorder_cost cost;
    struct fulcrum_stopwatch stopwatch = fulcrum_stopwatch_calibrated();
    ASSERT_OK(fulcrum_recorder_cost_measure(&cost, NULL));
    double pair_s = cost.pair_inside_s + cost.pair_outside_s;
    CU_ASSERT(cost.pair_inside_s > 0.0 && cost.chained_s > 0.0);
    CU_ASSERT(cost.chained_s < pair_s);
    /* Sanitizers slow everything but the clock; hence the wide margin. */
    CU_ASSERT(pair_s < 100.0 * stopwatch.wall_cost_s + 1e-6);
}

/* Other work on the machine makes a clock read dearer for seconds. What is wrong in the
 * correction is wrong every time: so a few tries, apart from each other. */
#define TRIES_APART 12
#define APART_S     0.4

/*
 * A few hundred nanoseconds that read no clock, in registers: a sum in memory runs from
 * one call into the next on processors that rename memory, and not past a clock read.
 */
static void compute_a_little(void)
{
    static volatile unsigned seed = 1;
    unsigned value = seed;
    for (unsigned i = 0; i < 400; i++) {
        value = value * 1664525U + 1013904223U;
    }
    seed = value;
}

/* Cycles of a stage that is hardly longer than its record; seconds. */
static double run_cycles(size_t cycles, struct fulcrum_recorder *recorder)
{
    double begin_s = fulcrum_wall_s();
    for (size_t i = 0; i < cycles; i++) {
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
        compute_a_little();
        fulcrum_recorder_end(recorder, 0);
    }
    return fulcrum_wall_s() - begin_s;
}

/* Short runs, and the shortest of many: what else the machine does is not asked. */
static double corrected_error(void)
{
    enum { ROUNDS = 200, CYCLES = 100 };
    double on_s = (double)INFINITY;
    double off_s = (double)INFINITY;
    struct fulcrum_recorder_cost cost;
    struct fulcrum_recorder *recorder = new_recorder(1, (size_t)ROUNDS * CYCLES);
    ASSERT_OK(fulcrum_recorder_cost_measure(&cost, NULL));
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < ROUNDS; i++) {
        off_s = fmin(off_s, run_cycles(CYCLES, NULL));
        on_s = fmin(on_s, run_cycles(CYCLES, recorder));
    }
    fulcrum_recorder_free(recorder);
    double corrected_s = on_s - CYCLES * (cost.pair_inside_s + cost.pair_outside_s);
    return fabs(corrected_s - off_s) / off_s;
}

/* What recording costs, taken off a recorded run, leaves the time of one without. */
TEST(test_corrected_total_is_that_of_an_unrecorded_run)
{
    double least = corrected_error();
    for (int i = 1; i < TRIES_APART && !(least <= 0.05); i++) {
        fulcrum_sleep_s(APART_S);
        least = fmin(least, corrected_error());
    }
    CU_ASSERT(least <= 0.05);
}
