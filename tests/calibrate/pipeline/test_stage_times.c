/* test_stage_times.c - moments go to the stages that were active, once each. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/stage_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/random.h"
#include "calibrate/stopwatch.h"
#include "tests/support/suite.h"

/* --- Lanes ------------------------------------------------------------------------ */

static struct fulcrum_recorder_event event(double begin_s, double end_s,
    enum fulcrum_stage_kind kind, enum fulcrum_stage_resource resource)
{
    return (struct fulcrum_recorder_event){.begin_s = begin_s,
        .end_s = end_s,
        .kind = (uint8_t)kind,
        .resource = (uint8_t)resource};
}

static struct fulcrum_stage_lane lane_of(const struct fulcrum_recorder_event *events,
    size_t count, enum fulcrum_stage_resource resource)
{
    const struct fulcrum_recorder_track track = {
        .events = events, .event_count = count};
    struct fulcrum_stage_lane lane = {NULL, 0};
    if (fulcrum_stage_lane_new(&lane, &track, resource, NULL) != FULCRUM_OK) {
        CU_FAIL_FATAL("no lane");
    }
    return lane;
}

static void expect_segment(const struct fulcrum_stage_lane *lane, size_t i,
    double begin_s, double end_s, enum fulcrum_stage_kind kind)
{
    if (i >= lane->count) {
        CU_FAIL("no such segment");
        return;
    }
    suite_assert_close("begin", lane->segments[i].begin_s, begin_s, 1e-12);
    suite_assert_close("end", lane->segments[i].end_s, end_s, 1e-12);
    CU_ASSERT_EQUAL(lane->segments[i].kind, kind);
}

/* Inference from 1 to 6, in it hand-off from 2 to 5, in that a wait from 3 to 4. */
static void test_innermost_stage_has_the_time(void)
{
    const struct fulcrum_recorder_event events[] = {
        event(3.0, 4.0, FULCRUM_STAGE_WAIT, FULCRUM_STAGE_CPU),
        event(2.0, 5.0, FULCRUM_STAGE_HANDOFF, FULCRUM_STAGE_CPU),
        event(1.0, 6.0, FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_CPU),
        event(6.0, 7.0, FULCRUM_STAGE_TRAINING, FULCRUM_STAGE_CPU),
    };
    struct fulcrum_stage_lane lane = lane_of(events, 4, FULCRUM_STAGE_CPU);
    CU_ASSERT_EQUAL(lane.count, 6);
    expect_segment(&lane, 0, 1.0, 2.0, FULCRUM_STAGE_INFERENCE);
    expect_segment(&lane, 1, 2.0, 3.0, FULCRUM_STAGE_HANDOFF);
    expect_segment(&lane, 2, 3.0, 4.0, FULCRUM_STAGE_WAIT);
    expect_segment(&lane, 3, 4.0, 5.0, FULCRUM_STAGE_HANDOFF);
    expect_segment(&lane, 4, 5.0, 6.0, FULCRUM_STAGE_INFERENCE);
    expect_segment(&lane, 5, 6.0, 7.0, FULCRUM_STAGE_TRAINING);
    fulcrum_stage_lane_free(&lane);
}

/* Stages that share a begin or an end leave no empty segments. */
static void test_stages_with_common_ends_leave_nothing_empty(void)
{
    const struct fulcrum_recorder_event events[] = {
        event(1.0, 2.0, FULCRUM_STAGE_HANDOFF, FULCRUM_STAGE_CPU),
        event(1.0, 3.0, FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_CPU),
        event(4.0, 6.0, FULCRUM_STAGE_REPLAY, FULCRUM_STAGE_CPU),
        event(3.0, 6.0, FULCRUM_STAGE_TRAINING, FULCRUM_STAGE_CPU),
    };
    struct fulcrum_stage_lane lane = lane_of(events, 4, FULCRUM_STAGE_CPU);
    CU_ASSERT_EQUAL(lane.count, 4);
    expect_segment(&lane, 0, 1.0, 2.0, FULCRUM_STAGE_HANDOFF);
    expect_segment(&lane, 1, 2.0, 3.0, FULCRUM_STAGE_INFERENCE);
    expect_segment(&lane, 2, 3.0, 4.0, FULCRUM_STAGE_TRAINING);
    expect_segment(&lane, 3, 4.0, 6.0, FULCRUM_STAGE_REPLAY);
    fulcrum_stage_lane_free(&lane);
}

/* Spans that another clock measured may overhang the stage that they begin in. */
static void test_overhanging_stages_are_cut(void)
{
    const struct fulcrum_recorder_event events[] = {
        event(1.0, 3.0, FULCRUM_STAGE_TRAINING, FULCRUM_STAGE_CPU),
        event(2.0, 4.0, FULCRUM_STAGE_REPLAY, FULCRUM_STAGE_CPU),
    };
    struct fulcrum_stage_lane lane = lane_of(events, 2, FULCRUM_STAGE_CPU);
    CU_ASSERT_EQUAL(lane.count, 2);
    expect_segment(&lane, 1, 2.0, 3.0, FULCRUM_STAGE_REPLAY);
    fulcrum_stage_lane_free(&lane);
}

static void test_spans_of_a_device_queue(void)
{
    const struct fulcrum_recorder_event events[] = {
        event(2.0, 5.0, FULCRUM_STAGE_TRAINING, FULCRUM_STAGE_GPU),
        event(1.0, 3.0, FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_GPU),
        event(1.5, 2.5, FULCRUM_STAGE_REPLAY, FULCRUM_STAGE_GPU),
        event(0.0, 9.0, FULCRUM_STAGE_WAIT, FULCRUM_STAGE_CPU),
    };
    struct fulcrum_stage_lane lane = lane_of(events, 4, FULCRUM_STAGE_GPU);
    CU_ASSERT_EQUAL(lane.count, 2);
    expect_segment(&lane, 0, 1.0, 3.0, FULCRUM_STAGE_INFERENCE);
    expect_segment(&lane, 1, 3.0, 5.0, FULCRUM_STAGE_TRAINING);
    fulcrum_stage_lane_free(&lane);
}

static void test_more_stages_within_each_other_than_there_is_room(void)
{
    enum { COUNT = 20 };
    struct fulcrum_recorder_event events[COUNT];
    double sum_s = 0.0;
    for (size_t i = 0; i < COUNT; i++) {
        events[i] = event(
            (double)i, 100.0 - (double)i, FULCRUM_STAGE_SIMULATION, FULCRUM_STAGE_CPU);
    }
    struct fulcrum_stage_lane lane = lane_of(events, COUNT, FULCRUM_STAGE_CPU);
    for (size_t i = 0; i < lane.count; i++) {
        sum_s += lane.segments[i].end_s - lane.segments[i].begin_s;
    }
    suite_assert_close("whole", sum_s, 100.0, 1e-12);
    fulcrum_stage_lane_free(&lane);
}

/* --- Sweeps ------------------------------------------------------------------------
 */

enum { CPU_ONLY, GPU_ONLY, BOTH };

/*
 * Two actors simulate from 0 to 4 and from 2 to 6; a server infers on its CPU from 3 to
 * 8 with its GPU from 4 to 7, and again on the GPU alone from 9 to 10; then nothing
 * until 12.
 */
static void test_moments_are_divided_among_active_stages(void)
{
    struct fulcrum_stage_segment first[] = {
        {0.0, 4.0, FULCRUM_STAGE_SIMULATION}, {4.0, 12.0, FULCRUM_STAGE_WAIT}};
    struct fulcrum_stage_segment second[] = {{2.0, 6.0, FULCRUM_STAGE_SIMULATION}};
    struct fulcrum_stage_segment server[] = {{3.0, 8.0, FULCRUM_STAGE_INFERENCE}};
    struct fulcrum_stage_segment device[] = {
        {4.0, 7.0, FULCRUM_STAGE_INFERENCE}, {9.0, 10.0, FULCRUM_STAGE_INFERENCE}};
    const struct fulcrum_stage_swept lanes[] = {
        {{first, 2}, FULCRUM_STAGE_CPU},
        {{second, 1}, FULCRUM_STAGE_CPU},
        {{server, 1}, FULCRUM_STAGE_CPU},
        {{device, 2}, FULCRUM_STAGE_GPU},
        {{NULL, 0}, FULCRUM_STAGE_GPU},
    };
    struct fulcrum_stage_overlap overlap;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_stage_sweep(&overlap, lanes, 5, 12.0, NULL), FULCRUM_OK);
    const double *simulation = overlap.active_s[FULCRUM_STAGE_SIMULATION];
    const double *inference = overlap.active_s[FULCRUM_STAGE_INFERENCE];
    suite_assert_close("simulation", simulation[CPU_ONLY], 6.0, 1e-12);
    suite_assert_close("before and after", inference[CPU_ONLY], 2.0, 1e-12);
    suite_assert_close("together", inference[BOTH], 3.0, 1e-12);
    suite_assert_close("device alone", inference[GPU_ONLY], 1.0, 1e-12);
    /* Shared with inference: 3 to 4, before the device begins, and 4 to 6. */
    simulation = overlap.wall_s[FULCRUM_STAGE_SIMULATION];
    inference = overlap.wall_s[FULCRUM_STAGE_INFERENCE];
    suite_assert_close("simulation", simulation[CPU_ONLY], 4.5, 1e-12);
    suite_assert_close("cpu", inference[CPU_ONLY], 0.5 + 1.0, 1e-12);
    suite_assert_close("both", inference[BOTH], 1.0 + 1.0, 1e-12);
    suite_assert_close("gpu", inference[GPU_ONLY], 1.0, 1e-12);
    suite_assert_close("idle", overlap.idle_s, 3.0, 1e-12);
    suite_assert_close("gpu busy", overlap.gpu_busy_s, 4.0, 1e-12);
}

static void test_sweep_ends_where_it_is_told(void)
{
    struct fulcrum_stage_segment lane[] = {{1.0, 4.0, FULCRUM_STAGE_TRAINING}};
    const struct fulcrum_stage_swept lanes[] = {{{lane, 1}, FULCRUM_STAGE_CPU}};
    struct fulcrum_stage_overlap overlap;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_stage_sweep(&overlap, lanes, 1, 2.0, NULL), FULCRUM_OK);
    suite_assert_close("cut", overlap.wall_s[FULCRUM_STAGE_TRAINING][0], 1.0, 1e-12);
    suite_assert_close("idle", overlap.idle_s, 1.0, 1e-12);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_stage_sweep(&overlap, NULL, 0, 2.0, NULL), FULCRUM_OK);
    suite_assert_close("nobody", overlap.idle_s, 2.0, 1e-12);
}

/* Many lanes of random segments against an oracle that asks each moment of a grid. */
enum { LANES = 13, SEGMENTS = 40, GRID = 4000 };

struct random_lanes {
    struct fulcrum_stage_segment segments[LANES][SEGMENTS];
    struct fulcrum_stage_swept lanes[LANES];
};

static void draw_lanes(struct random_lanes *out)
{
    struct fulcrum_random random = fulcrum_random_seeded(5);
    for (size_t i = 0; i < LANES; i++) {
        double at_s = 0.0;
        for (size_t j = 0; j < SEGMENTS; j++) {
            /* On the grid's lines, so that the oracle is exact. */
            double gap = floor(40.0 * fulcrum_random_between(&random, 0.0, 1.0));
            double span = 1.0 + floor(60.0 * fulcrum_random_between(&random, 0.0, 1.0));
            size_t kind = (size_t)(FULCRUM_STAGE_KIND_COUNT *
                                   fulcrum_random_between(&random, 0.0, 1.0));
            out->segments[i][j] = (struct fulcrum_stage_segment){
                at_s + gap, at_s + gap + span, (enum fulcrum_stage_kind)kind};
            at_s += gap + span;
        }
        out->lanes[i] = (struct fulcrum_stage_swept){{out->segments[i], SEGMENTS},
            i % 3 == 0 ? FULCRUM_STAGE_GPU : FULCRUM_STAGE_CPU};
    }
}

/* Bit 1: on a CPU, bit 2: on a GPU. */
static unsigned places_at(const struct random_lanes *lanes, size_t kind, double at_s)
{
    unsigned places = 0;
    for (size_t i = 0; i < (size_t)LANES * SEGMENTS; i++) {
        const struct fulcrum_stage_segment *segment =
            &lanes->segments[i / SEGMENTS][i % SEGMENTS];
        if ((size_t)segment->kind == kind && segment->begin_s < at_s &&
            at_s < segment->end_s) {
            places |= 1U << lanes->lanes[i / SEGMENTS].resource;
        }
    }
    return places;
}

static void add_moment(struct fulcrum_stage_overlap *expected,
    const struct random_lanes *lanes, double at_s)
{
    unsigned places[FULCRUM_STAGE_WORK_COUNT];
    double active = 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        places[k] = places_at(lanes, k, at_s);
        active += places[k] != 0 ? 1.0 : 0.0;
    }
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        if (places[k] != 0) {
            expected->wall_s[k][places[k] - 1] += 1.0 / active;
            expected->active_s[k][places[k] - 1] += 1.0;
        }
    }
    expected->idle_s += active > 0.0 ? 0.0 : 1.0;
}

static void test_sweep_agrees_with_a_look_at_every_moment(void)
{
    static struct random_lanes lanes;
    struct fulcrum_stage_overlap found;
    struct fulcrum_stage_overlap expected = {.idle_s = 0.0};
    draw_lanes(&lanes);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_stage_sweep(&found, lanes.lanes, LANES, GRID, NULL), FULCRUM_OK);
    for (size_t i = 0; i < GRID; i++) {
        add_moment(&expected, &lanes, (double)i + 0.5);
    }
    const size_t places = (size_t)FULCRUM_STAGE_WORK_COUNT * FULCRUM_STAGE_WHERE_COUNT;
    for (size_t i = 0; i < places; i++) {
        size_t k = i / FULCRUM_STAGE_WHERE_COUNT;
        size_t w = i % FULCRUM_STAGE_WHERE_COUNT;
        CU_ASSERT(expected.active_s[k][w] > 0.0);
        suite_assert_close(
            "active", found.active_s[k][w], expected.active_s[k][w], 1e-9);
        suite_assert_close("wall", found.wall_s[k][w], expected.wall_s[k][w], 1e-9);
    }
    suite_assert_close("idle", found.idle_s, expected.idle_s, 1e-9);
}

/* --- Whole recordings ---------------------------------------------------------------
 */

static struct fulcrum_recorder *new_recorder(size_t tracks, size_t capacity)
{
    const struct fulcrum_recorder_options options = {
        .track_count = tracks, .event_capacity = capacity};
    struct fulcrum_recorder *recorder = NULL;
    if (fulcrum_recorder_new(&recorder, &options, NULL) != FULCRUM_OK) {
        CU_FAIL_FATAL("no recorder");
    }
    return recorder;
}

static const struct fulcrum_stage_facts nothing_known = {
    .step_count = (double)NAN, .sm_active_frac = (double)NAN};

static struct fulcrum_stage_times times_of(
    const struct fulcrum_recorder *recorder, const struct fulcrum_stage_facts *facts)
{
    struct fulcrum_stage_times times = {.tracks = NULL};
    if (fulcrum_stage_times_new(&times, recorder, facts, NULL) != FULCRUM_OK) {
        CU_FAIL_FATAL("no times");
    }
    return times;
}

/* Spans at known times: an actor, and a server with a GPU; 10 ms and a little. */
static struct fulcrum_recorder *record_known(void)
{
    struct fulcrum_recorder *recorder = new_recorder(2, 16);
    double from_s = fulcrum_wall_s() + 1e-3;
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_add(recorder, 0,
        &(struct fulcrum_recorder_span){
            FULCRUM_STAGE_SIMULATION, FULCRUM_STAGE_CPU, from_s, from_s + 4e-3});
    fulcrum_recorder_add(recorder, 0,
        &(struct fulcrum_recorder_span){
            FULCRUM_STAGE_WAIT, FULCRUM_STAGE_CPU, from_s + 4e-3, from_s + 9e-3});
    fulcrum_recorder_add(recorder, 1,
        &(struct fulcrum_recorder_span){
            FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_CPU, from_s + 4e-3, from_s + 6e-3});
    fulcrum_recorder_add(recorder, 1,
        &(struct fulcrum_recorder_span){
            FULCRUM_STAGE_INFERENCE, FULCRUM_STAGE_GPU, from_s + 5e-3, from_s + 8e-3});
    while (fulcrum_wall_s() < from_s + 9e-3) {
        fulcrum_sleep_s(1e-3);
    }
    fulcrum_recorder_stop(recorder);
    return recorder;
}

static void test_times_of_a_known_recording(void)
{
    struct fulcrum_recorder *recorder = record_known();
    struct fulcrum_stage_times times = times_of(recorder, &nothing_known);
    fulcrum_recorder_free(recorder);
    const struct fulcrum_stage_time *inference = &times.kinds[FULCRUM_STAGE_INFERENCE];
    const double tolerance = 1e-6;
    CU_ASSERT_EQUAL(times.event_count, 4);
    suite_assert_close("swept", times.swept_s, times.window_s, 1e-12);
    suite_assert_close("simulation",
        times.kinds[FULCRUM_STAGE_SIMULATION].wall_s[CPU_ONLY], 4e-3, tolerance);
    suite_assert_close("cpu only", inference->wall_s[CPU_ONLY], 1e-3, tolerance);
    suite_assert_close("both", inference->wall_s[BOTH], 1e-3, tolerance);
    suite_assert_close("gpu only", inference->wall_s[GPU_ONLY], 2e-3, tolerance);
    suite_assert_close("thread", inference->thread_s, 2e-3, tolerance);
    suite_assert_close("device", inference->gpu_s, 3e-3, tolerance);
    suite_assert_close(
        "waiting", times.kinds[FULCRUM_STAGE_WAIT].thread_s, 5e-3, tolerance);
    suite_assert_close("idle", times.idle_s, times.window_s - 8e-3, tolerance);
    suite_assert_close(
        "outside", times.outside_s, 2.0 * times.window_s - 11e-3, tolerance);
    suite_assert_close(
        "gpu busy", times.gpu_busy_frac, 3e-3 / times.window_s, tolerance);
    CU_ASSERT(isnan(inference->cpu_s)); /* nobody attached */
    fulcrum_stage_times_free(&times);
    CU_ASSERT_PTR_NULL(times.tracks);
}

static void test_shares_and_idle_time_add_up_to_one(void)
{
    struct fulcrum_recorder *recorder = record_known();
    struct fulcrum_stage_facts facts = nothing_known;
    facts.cost = (struct fulcrum_recorder_cost){1e-5, 1e-5, 1e-5};
    struct fulcrum_stage_times times = times_of(recorder, &facts);
    double sum = fulcrum_stage_times_idle_frac(&times);
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        sum += fulcrum_stage_times_share_sum(&times, (enum fulcrum_stage_kind)k);
    }
    suite_assert_close("sum", sum, 1.0, 1e-12);
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

/* Two tracks on one processor, one alone: recording costs add up on the former. */
static void test_cost_of_the_busiest_processor_is_taken_off_the_window(void)
{
    enum { EVENTS = 100 };
    struct fulcrum_recorder *recorder = new_recorder(3, (size_t)2 * EVENTS);
    const struct fulcrum_recorder_role shared = {.name = "a", .processor_group = 9};
    const struct fulcrum_recorder_role alone = {.name = "b", .processor_group = 7};
    fulcrum_recorder_attach(recorder, 0, &shared);
    fulcrum_recorder_attach(recorder, 1, &shared);
    fulcrum_recorder_attach(recorder, 2, &alone);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < EVENTS; i++) {
        for (size_t track = 0; track < 3; track++) {
            fulcrum_recorder_begin(recorder, track, FULCRUM_STAGE_SIMULATION);
            fulcrum_recorder_end(recorder, track);
        }
    }
    fulcrum_sleep_s(1e-3);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_stage_facts facts = nothing_known;
    facts.cost = (struct fulcrum_recorder_cost){1e-9, 9e-9, 1.0};
    struct fulcrum_stage_times times = times_of(recorder, &facts);
    suite_assert_close("one track", times.tracks[2].recording_s, EVENTS * 10e-9, 1e-6);
    suite_assert_close("all", times.recording_s, 3.0 * EVENTS * 10e-9, 1e-6);
    suite_assert_close("window", times.corrected_window_s,
        times.window_s - 2.0 * EVENTS * 10e-9, 1e-9);
    suite_assert_close("inside", times.kinds[FULCRUM_STAGE_SIMULATION].recording_s,
        3.0 * EVENTS * 1e-9, 1e-6);
    double working_s = times.kinds[FULCRUM_STAGE_SIMULATION].thread_s;
    double cpu_s = times.kinds[FULCRUM_STAGE_SIMULATION].cpu_s;
    CU_ASSERT(cpu_s > 0.0 && cpu_s <= working_s);
    /* Three tracks of one thread: each is given the CPU time of the whole thread. */
    CU_ASSERT(cpu_s <= 3.0 * times.tracks[0].cpu_s + 1e-9);
    CU_ASSERT_STRING_EQUAL(times.tracks[2].name, "b");
    CU_ASSERT_EQUAL(times.used_track_count, 3);
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

static void test_overlap_is_known_until_the_first_track_is_full(void)
{
    struct fulcrum_recorder *recorder = new_recorder(2, 2);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < 5; i++) {
        fulcrum_recorder_begin(recorder, 1, FULCRUM_STAGE_TRAINING);
        fulcrum_sleep_s(1e-4);
        fulcrum_recorder_end(recorder, 1);
    }
    fulcrum_recorder_stop(recorder);
    struct fulcrum_stage_times times = times_of(recorder, &nothing_known);
    struct fulcrum_recorder_track full = fulcrum_recorder_read(recorder, 1);
    CU_ASSERT_EQUAL(times.dropped_count, 3);
    suite_assert_close("swept", times.swept_s, full.events[1].end_s, 1e-12);
    CU_ASSERT(times.swept_s < times.window_s);
    /* Totals of threads are whole all the same. */
    CU_ASSERT(times.kinds[FULCRUM_STAGE_TRAINING].thread_s >= 5e-4);
    suite_assert_close(
        "all events", times.kinds[FULCRUM_STAGE_TRAINING].event_count, 5.0, 0.0);
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

/* Cycles of one length, one in four recorded: totals are those of all cycles. */
static void test_sampled_threads_count_with_all_their_cycles(void)
{
    enum { CYCLES = 400 };
    const double step_s = 2e-5;
    struct fulcrum_recorder *recorder = new_recorder(1, CYCLES);
    const struct fulcrum_recorder_role role = {.name = "actor", .sample_every = 4};
    fulcrum_recorder_attach(recorder, 0, &role);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < CYCLES; i++) {
        fulcrum_recorder_cycle(recorder, 0);
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
        double begin_s = fulcrum_wall_s();
        while (fulcrum_wall_s() < begin_s + step_s) {
        }
        fulcrum_recorder_end(recorder, 0);
    }
    fulcrum_recorder_detach(recorder, 0);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_stage_times times = times_of(recorder, &nothing_known);
    CU_ASSERT_EQUAL(times.sampled_track_count, 1);
    CU_ASSERT(
        times.tracks[0].recorded_frac > 0.15 && times.tracks[0].recorded_frac < 0.4);
    CU_ASSERT(times.kinds[FULCRUM_STAGE_SIMULATION].thread_s >= CYCLES * step_s);
    CU_ASSERT(isnan(times.kinds[FULCRUM_STAGE_SIMULATION].wall_s[CPU_ONLY]));
    CU_ASSERT(isnan(times.kinds[FULCRUM_STAGE_SIMULATION].active_s[CPU_ONLY]));
    suite_assert_close("a stage that the sampled thread is never in",
        times.kinds[FULCRUM_STAGE_INFERENCE].active_s[CPU_ONLY], 0.0, 0.0);
    CU_ASSERT(isnan(fulcrum_stage_times_idle_frac(&times)));
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

/* A track for a trainer that the run does without adds no thread time. */
static void test_tracks_without_a_thread_count_for_nothing(void)
{
    struct fulcrum_recorder *recorder = new_recorder(3, 4);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_begin(recorder, 1, FULCRUM_STAGE_SIMULATION);
    fulcrum_sleep_s(1e-3);
    fulcrum_recorder_end(recorder, 1);
    fulcrum_recorder_stop(recorder);
    struct fulcrum_stage_times times = times_of(recorder, &nothing_known);
    CU_ASSERT_EQUAL(times.used_track_count, 1);
    CU_ASSERT(times.outside_s < 0.5 * times.window_s);
    suite_assert_close("no thread", times.tracks[0].outside_s, 0.0, 0.0);
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

static void test_recordings_and_facts_that_make_no_sense_are_refused(void)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 4);
    struct fulcrum_stage_times times;
    struct fulcrum_stage_facts facts = nothing_known;
    struct fulcrum_error err;
    CU_ASSERT_EQUAL(
        fulcrum_stage_times_new(&times, recorder, &facts, &err), FULCRUM_ERR_RANGE);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_stop(recorder);
    facts.sm_active_frac = 1.5;
    CU_ASSERT_EQUAL(
        fulcrum_stage_times_new(&times, recorder, &facts, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "sm_active_frac = 1.5"));
    facts = nothing_known;
    facts.step_count = -1.0;
    CU_ASSERT_EQUAL(
        fulcrum_stage_times_new(&times, recorder, &facts, &err), FULCRUM_ERR_RANGE);
    fulcrum_recorder_free(recorder);
}

static void test_sentence_tells_what_was_measured(void)
{
    const struct {
        double busy_frac;
        double active_frac;
        const char *words;
    } cases[] = {
        {(double)NAN, 0.1, "not measured: no stage ran"},
        {0.46, (double)NAN, "busy 46 % of the time; how many"},
        {0.46, 0.05, "flatters the GPU's use 9.2-fold"},
        {0.2, 0.2, "were active 20 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sentence[FULCRUM_STAGE_SENTENCE_SIZE];
        const struct fulcrum_stage_times times = {.gpu_busy_frac = cases[i].busy_frac,
            .facts.sm_active_frac = cases[i].active_frac};
        fulcrum_stage_times_busy_sentence(&times, sentence);
        CU_ASSERT_PTR_NOT_NULL(strstr(sentence, cases[i].words));
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_innermost_stage_has_the_time),
        SUITE_CASE(test_stages_with_common_ends_leave_nothing_empty),
        SUITE_CASE(test_overhanging_stages_are_cut),
        SUITE_CASE(test_spans_of_a_device_queue),
        SUITE_CASE(test_more_stages_within_each_other_than_there_is_room),
        SUITE_CASE(test_moments_are_divided_among_active_stages),
        SUITE_CASE(test_sweep_ends_where_it_is_told),
        SUITE_CASE(test_sweep_agrees_with_a_look_at_every_moment),
        SUITE_CASE(test_times_of_a_known_recording),
        SUITE_CASE(test_shares_and_idle_time_add_up_to_one),
        SUITE_CASE(test_cost_of_the_busiest_processor_is_taken_off_the_window),
        SUITE_CASE(test_overlap_is_known_until_the_first_track_is_full),
        SUITE_CASE(test_sampled_threads_count_with_all_their_cycles),
        SUITE_CASE(test_tracks_without_a_thread_count_for_nothing),
        SUITE_CASE(test_recordings_and_facts_that_make_no_sense_are_refused),
        SUITE_CASE(test_sentence_tells_what_was_measured),
    };
    return suite_run("stage_times", cases, sizeof cases / sizeof cases[0], argc, argv);
}
