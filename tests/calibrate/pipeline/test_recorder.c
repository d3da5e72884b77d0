/* test_recorder.c - stages of threads are recorded whole, cut to the window, counted.
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
    const struct fulcrum_recorder_options options = {
        .track_count = tracks, .event_capacity = capacity};
    struct fulcrum_recorder *recorder = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    if (fulcrum_recorder_new(&recorder, &options, &err) != FULCRUM_OK) {
        CU_FAIL_FATAL("no recorder");
    }
    return recorder;
}

static double exclusive_s(
    const struct fulcrum_recorder_track *track, enum fulcrum_stage_kind kind)
{
    return track->totals[FULCRUM_STAGE_CPU][kind].exclusive_s;
}

static void test_every_kind_of_stage_has_a_name_and_a_meaning(void)
{
    for (size_t i = 0; i < FULCRUM_STAGE_KIND_COUNT; i++) {
        enum fulcrum_stage_kind kind = (enum fulcrum_stage_kind)i;
        CU_ASSERT(strlen(fulcrum_stage_kind_name(kind)) > 0);
        CU_ASSERT(strlen(fulcrum_stage_kind_meaning(kind)) > 0);
    }
    CU_ASSERT_STRING_EQUAL(fulcrum_stage_kind_name(FULCRUM_STAGE_WAIT), "wait");
}

static void test_options_outside_their_range_are_refused(void)
{
    struct fulcrum_recorder *recorder = NULL;
    struct fulcrum_error err;
    struct fulcrum_recorder_options options = {.track_count = 0};
    CU_ASSERT_EQUAL(fulcrum_recorder_new(&recorder, &options, &err), FULCRUM_ERR_RANGE);
    options.track_count = 1;
    options.injected_s[FULCRUM_STAGE_INFERENCE] = -1e-6;
    CU_ASSERT_EQUAL(fulcrum_recorder_new(&recorder, &options, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "inference"));
    options.injected_s[FULCRUM_STAGE_INFERENCE] = (double)NAN;
    CU_ASSERT_EQUAL(fulcrum_recorder_new(&recorder, &options, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NULL(recorder);
}

static void test_more_tracks_than_memory_are_refused(void)
{
    struct fulcrum_recorder *recorder = NULL;
    struct fulcrum_error err;
    const struct fulcrum_recorder_options tracks = {
        .track_count = (size_t)-1 / 64, .event_capacity = 1};
    const struct fulcrum_recorder_options events = {
        .track_count = 2, .event_capacity = (size_t)-1 / 64};
    CU_ASSERT_EQUAL(
        fulcrum_recorder_new(&recorder, &tracks, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(
        fulcrum_recorder_new(&recorder, &events, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_PTR_NULL(recorder);
}

static void test_no_recorder_records_nothing(void)
{
    const struct fulcrum_recorder_role role = {.name = "nobody"};
    fulcrum_recorder_start(NULL);
    fulcrum_recorder_attach(NULL, 7, &role);
    fulcrum_recorder_cycle(NULL, 7);
    fulcrum_recorder_begin(NULL, 7, FULCRUM_STAGE_SIMULATION);
    fulcrum_recorder_next(NULL, 7, FULCRUM_STAGE_WAIT);
    fulcrum_recorder_end(NULL, 7);
    fulcrum_recorder_add(NULL, 7,
        &(struct fulcrum_recorder_span){
            FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_GPU, 0.0, 1.0});
    fulcrum_recorder_detach(NULL, 7);
    fulcrum_recorder_stop(NULL);
    fulcrum_recorder_free(NULL);
    CU_ASSERT_EQUAL(fulcrum_recorder_track_count(NULL), 0);
    suite_assert_close("window", fulcrum_recorder_window_s(NULL), 0.0, 0.0);
}

/* Inner stages stop the outer one's clock: exclusive times add up to the whole. */
static void test_exclusive_times_add_up_to_the_outermost_stage(void)
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
    suite_assert_close("sum",
        exclusive_s(&track, FULCRUM_STAGE_INFERENCE) +
            exclusive_s(&track, FULCRUM_STAGE_HANDOFF) +
            exclusive_s(&track, FULCRUM_STAGE_WAIT),
        outer->end_s - outer->begin_s, 1e-9);
    suite_assert_close("children",
        track.totals[FULCRUM_STAGE_CPU][FULCRUM_STAGE_INFERENCE].child_count, 1.0, 0.0);
    fulcrum_recorder_free(recorder);
}

static void test_next_leaves_no_gap_between_stages(void)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_SIMULATION);
    fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
    fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_WAIT);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT_EQUAL_FATAL(track.event_count, 3);
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(track.events[i].depth, 0);
    }
    suite_assert_close("first", track.events[1].begin_s, track.events[0].end_s, 0.0);
    suite_assert_close("second", track.events[2].begin_s, track.events[1].end_s, 0.0);
    const struct fulcrum_recorder_total *first =
        &track.totals[FULCRUM_STAGE_CPU][FULCRUM_STAGE_SIMULATION];
    const struct fulcrum_recorder_total *second =
        &track.totals[FULCRUM_STAGE_CPU][FULCRUM_STAGE_HANDOFF];
    suite_assert_close("begun alone", first->paired_end_count, 1.0, 0.0);
    suite_assert_close("ended by next", first->chained_end_count, 1.0, 0.0);
    suite_assert_close("both by next", second->chained_end_count, 2.0, 0.0);
    fulcrum_recorder_free(recorder);
}

static void test_stages_deeper_than_the_stack_count_as_the_one_around(void)
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
    suite_assert_close("too deep", exclusive_s(&track, FULCRUM_STAGE_WAIT), 0.0, 0.0);
    fulcrum_recorder_free(recorder);
}

/* A stage that the window's begin or end divides counts with the part inside. */
static void test_stages_are_cut_to_the_window(void)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_WAIT);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_HANDOFF);
    fulcrum_spin_s(2e-4);
    suite_assert_close("not open", fulcrum_recorder_window_s(recorder), 0.0, 0.0);
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
    suite_assert_close("from the first moment", track.events[1].begin_s, 0.0, 0.0);
    suite_assert_close("to the last one", track.events[1].end_s, window_s, 1e-6);
    CU_ASSERT(window_s >= 1e-4);
    suite_assert_close("whole window",
        exclusive_s(&track, FULCRUM_STAGE_WAIT) +
            exclusive_s(&track, FULCRUM_STAGE_HANDOFF),
        window_s, 1e-6);
    fulcrum_recorder_free(recorder);
}

static void test_events_without_room_are_counted_and_kept_in_totals(void)
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
    suite_assert_close("count",
        track.totals[FULCRUM_STAGE_CPU][FULCRUM_STAGE_SIMULATION].event_count, 10.0,
        0.0);
    double kept_s = 0.0;
    for (size_t i = 0; i < 3; i++) {
        kept_s += track.events[i].end_s - track.events[i].begin_s;
    }
    suite_assert_close("total", exclusive_s(&track, FULCRUM_STAGE_SIMULATION),
        kept_s + track.dropped_s, 1e-9);
    fulcrum_recorder_free(recorder);
}

static void test_spans_of_a_device_do_not_stop_the_thread(void)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_INFERENCE);
    double begin_s = fulcrum_wall_s();
    fulcrum_spin_s(1e-4);
    double end_s = fulcrum_wall_s();
    struct fulcrum_recorder_span span = {
        FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_GPU, begin_s, end_s};
    fulcrum_recorder_add(recorder, 0, &span);
    span.begin_s = 0.0; /* long before the window */
    span.end_s = 1e-9;
    fulcrum_recorder_add(recorder, 0, &span);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT_EQUAL_FATAL(track.event_count, 2);
    CU_ASSERT_EQUAL(track.events[0].resource, FULCRUM_STAGE_GPU);
    suite_assert_close("device",
        track.totals[FULCRUM_STAGE_GPU][FULCRUM_STAGE_INFERENCE].exclusive_s,
        end_s - begin_s, 1e-6);
    CU_ASSERT(exclusive_s(&track, FULCRUM_STAGE_INFERENCE) >= end_s - begin_s);
    fulcrum_recorder_free(recorder);
}

static void test_sampled_cycles_are_one_in_so_many(void)
{
    enum { CYCLES = 20000, EVERY = 10 };
    struct fulcrum_recorder *recorder = new_recorder(2, CYCLES);
    const struct fulcrum_recorder_role role = {
        .name = "sampled", .sample_every = EVERY};
    fulcrum_recorder_attach(recorder, 0, &role);
    fulcrum_recorder_cycle(recorder, 0); /* before the window: does not count */
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < CYCLES; i++) {
        fulcrum_recorder_cycle(recorder, 0);
        fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_SIMULATION);
        fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
    }
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    suite_assert_close("cycles", track.cycle_count, CYCLES, 0.0);
    /* Gaps of 1 to 19: the mean over 2000 of them is within 0.13 (sd 5.5). */
    suite_assert_close(
        "recorded", track.recorded_cycle_count, (double)CYCLES / EVERY, 0.05);
    suite_assert_close(
        "events", (double)track.event_count, 2.0 * track.recorded_cycle_count, 0.0);
    fulcrum_recorder_free(recorder);
}

static void test_tracks_that_are_not_sampled_record_all_cycles(void)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < 5; i++) {
        fulcrum_recorder_cycle(recorder, 0);
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
        fulcrum_recorder_end(recorder, 0);
    }
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    suite_assert_close("recorded", track.recorded_cycle_count, 5.0, 0.0);
    CU_ASSERT_EQUAL(track.event_count, 5);
    fulcrum_recorder_free(recorder);
}

static void test_injected_overhead_lengthens_its_own_stage(void)
{
    struct fulcrum_recorder_options options = {.track_count = 1};
    struct fulcrum_recorder *recorder = NULL;
    options.injected_s[FULCRUM_STAGE_INFERENCE] = 2e-4;
    CU_ASSERT_EQUAL_FATAL(fulcrum_recorder_new(&recorder, &options, NULL), FULCRUM_OK);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_INFERENCE);
    fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
    fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_INFERENCE);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT(exclusive_s(&track, FULCRUM_STAGE_INFERENCE) >= 4e-4);
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
    const struct fulcrum_recorder_role role = {
        .name = "a name that is far too long for a track"};
    fulcrum_recorder_attach(worker->recorder, worker->number, &role);
    while (!atomic_load(worker->stops)) {
        fulcrum_recorder_cycle(worker->recorder, worker->number);
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
    suite_assert_close("window is covered",
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

static void test_threads_record_side_by_side(void)
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
static void test_thread_that_ends_early_keeps_its_cpu_time(void)
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

static void test_cpu_time_of_a_track_nobody_attached_is_unknown(void)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 16);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT(isnan(track.cpu_s));
    CU_ASSERT_STRING_EQUAL(track.name, "thread 0");
    fulcrum_recorder_free(recorder);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_every_kind_of_stage_has_a_name_and_a_meaning),
        SUITE_CASE(test_options_outside_their_range_are_refused),
        SUITE_CASE(test_more_tracks_than_memory_are_refused),
        SUITE_CASE(test_no_recorder_records_nothing),
        SUITE_CASE(test_exclusive_times_add_up_to_the_outermost_stage),
        SUITE_CASE(test_next_leaves_no_gap_between_stages),
        SUITE_CASE(test_stages_deeper_than_the_stack_count_as_the_one_around),
        SUITE_CASE(test_stages_are_cut_to_the_window),
        SUITE_CASE(test_events_without_room_are_counted_and_kept_in_totals),
        SUITE_CASE(test_spans_of_a_device_do_not_stop_the_thread),
        SUITE_CASE(test_sampled_cycles_are_one_in_so_many),
        SUITE_CASE(test_tracks_that_are_not_sampled_record_all_cycles),
        SUITE_CASE(test_injected_overhead_lengthens_its_own_stage),
        SUITE_CASE(test_threads_record_side_by_side),
        SUITE_CASE(test_thread_that_ends_early_keeps_its_cpu_time),
        SUITE_CASE(test_cpu_time_of_a_track_nobody_attached_is_unknown),
    };
    return suite_run("recorder", cases, sizeof cases / sizeof cases[0], argc, argv);
}
