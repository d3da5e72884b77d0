/* test_stage_times.c - moments go to the stages that were active, once each. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/stage_times.h"

#include <math.h>
#include <stdbool.h>

#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "tests/support/suite.h"

/* --- Lanes ------------------------------------------------------------------------ */

static struct fulcrum_recorder_event event(
    double begin_s, double end_s, enum fulcrum_stage_kind kind)
{
    return (struct fulcrum_recorder_event){
        .begin_s = begin_s, .end_s = end_s, .kind = (uint8_t)kind};
}

static struct fulcrum_stage_lane lane_of(
    const struct fulcrum_recorder_event *events, size_t count)
{
    const struct fulcrum_recorder_track track = {
        .events = events, .event_count = count};
    struct fulcrum_stage_lane lane = {NULL, 0};
    ASSERT_OK(fulcrum_stage_lane_new(&lane, &track, NULL));
    return lane;
}

/* Inner stages, common ends that leave nothing empty, and one that overhangs. */
TEST(test_innermost_stage_has_the_time)
{
    static const struct {
        struct fulcrum_stage_segment events[4];
        struct fulcrum_stage_segment segments[6];
        size_t event_count;
        size_t segment_count;
    } cases[] = {
        {{{3, 4, FULCRUM_STAGE_WAIT}, {2, 5, FULCRUM_STAGE_HANDOFF},
             {1, 6, FULCRUM_STAGE_INFERENCE}, {6, 7, FULCRUM_STAGE_TRAINING}},
            {{1, 2, FULCRUM_STAGE_INFERENCE}, {2, 3, FULCRUM_STAGE_HANDOFF},
                {3, 4, FULCRUM_STAGE_WAIT}, {4, 5, FULCRUM_STAGE_HANDOFF},
                {5, 6, FULCRUM_STAGE_INFERENCE}, {6, 7, FULCRUM_STAGE_TRAINING}},
            4, 6},
        {{{1, 2, FULCRUM_STAGE_HANDOFF}, {1, 3, FULCRUM_STAGE_INFERENCE},
             {4, 6, FULCRUM_STAGE_REPLAY}, {3, 6, FULCRUM_STAGE_TRAINING}},
            {{1, 2, FULCRUM_STAGE_HANDOFF}, {2, 3, FULCRUM_STAGE_INFERENCE},
                {3, 4, FULCRUM_STAGE_TRAINING}, {4, 6, FULCRUM_STAGE_REPLAY}},
            4, 4},
        {{{1, 3, FULCRUM_STAGE_TRAINING}, {2, 4, FULCRUM_STAGE_REPLAY}},
            {{1, 2, FULCRUM_STAGE_TRAINING}, {2, 3, FULCRUM_STAGE_REPLAY}}, 2, 2},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_recorder_event events[4];
        for (size_t k = 0; k < cases[i].event_count; k++) {
            const struct fulcrum_stage_segment *from = &cases[i].events[k];
            events[k] = event(from->begin_s, from->end_s, from->kind);
        }
        struct fulcrum_stage_lane lane = lane_of(events, cases[i].event_count);
        CU_ASSERT_EQUAL_FATAL(lane.count, cases[i].segment_count);
        for (size_t k = 0; k < lane.count; k++) {
            const struct fulcrum_stage_segment *wanted = &cases[i].segments[k];
            assert_close("begin", lane.segments[k].begin_s, wanted->begin_s, 0.0);
            assert_close("end", lane.segments[k].end_s, wanted->end_s, 0.0);
            CU_ASSERT_EQUAL(lane.segments[k].kind, wanted->kind);
        }
        fulcrum_stage_lane_free(&lane);
    }
}

TEST(test_more_stages_within_each_other_than_there_is_room)
{
    enum { COUNT = 20 };
    struct fulcrum_recorder_event events[COUNT];
    double sum_s = 0.0;
    for (size_t i = 0; i < COUNT; i++) {
        events[i] = event((double)i, 100.0 - (double)i, FULCRUM_STAGE_SIMULATION);
    }
    struct fulcrum_stage_lane lane = lane_of(events, COUNT);
    for (size_t i = 0; i < lane.count; i++) {
        sum_s += lane.segments[i].end_s - lane.segments[i].begin_s;
    }
    assert_close("whole", sum_s, 100.0, 1e-12);
    fulcrum_stage_lane_free(&lane);
}

/* --- Sweeps ------------------------------------------------------------------------
 */

/* Two actors simulate from 0 to 4 and from 2 to 6; a server infers from 3 to 8 and
 * again from 9 to 10; then nothing until 12. */
TEST(test_moments_are_divided_among_active_stages)
{
    struct fulcrum_stage_segment first[] = {
        {0.0, 4.0, FULCRUM_STAGE_SIMULATION}, {4.0, 12.0, FULCRUM_STAGE_WAIT}};
    struct fulcrum_stage_segment second[] = {{2.0, 6.0, FULCRUM_STAGE_SIMULATION}};
    struct fulcrum_stage_segment server[] = {
        {3.0, 8.0, FULCRUM_STAGE_INFERENCE}, {9.0, 10.0, FULCRUM_STAGE_INFERENCE}};
    const struct fulcrum_stage_lane lanes[] = {
        {first, 2}, {second, 1}, {server, 2}, {NULL, 0}};
    struct fulcrum_stage_overlap overlap;
    ASSERT_OK(fulcrum_stage_sweep(&overlap, lanes, 4, 12.0, NULL));
    assert_close("simulation", overlap.active_s[FULCRUM_STAGE_SIMULATION], 6.0, 1e-12);
    assert_close("inference", overlap.active_s[FULCRUM_STAGE_INFERENCE], 6.0, 1e-12);
    /* Shared from 3 to 6. */
    assert_close("simulation", overlap.wall_s[FULCRUM_STAGE_SIMULATION], 4.5, 1e-12);
    assert_close("inference", overlap.wall_s[FULCRUM_STAGE_INFERENCE], 4.5, 1e-12);
    assert_close("idle", overlap.idle_s, 3.0, 1e-12);
}

TEST(test_sweep_ends_where_it_is_told)
{
    struct fulcrum_stage_segment training[] = {{1.0, 4.0, FULCRUM_STAGE_TRAINING}};
    const struct fulcrum_stage_lane lane = {training, 1};
    struct fulcrum_stage_overlap overlap;
    ASSERT_OK(fulcrum_stage_sweep(&overlap, &lane, 1, 2.0, NULL));
    assert_close("cut", overlap.wall_s[FULCRUM_STAGE_TRAINING], 1.0, 1e-12);
    assert_close("idle", overlap.idle_s, 1.0, 1e-12);
    ASSERT_OK(fulcrum_stage_sweep(&overlap, NULL, 0, 2.0, NULL));
    assert_close("nobody", overlap.idle_s, 2.0, 1e-12);
}

/* Many lanes of random segments against an oracle that asks each moment of a grid. */
enum { LANES = 13, SEGMENTS = 40, GRID = 4000 };

struct random_lanes {
    struct fulcrum_stage_segment segments[LANES][SEGMENTS];
    struct fulcrum_stage_lane lanes[LANES];
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
        out->lanes[i] = (struct fulcrum_stage_lane){out->segments[i], SEGMENTS};
    }
}

static bool is_at(const struct random_lanes *lanes, size_t kind, double at_s)
{
    for (size_t i = 0; i < (size_t)LANES * SEGMENTS; i++) {
        const struct fulcrum_stage_segment *segment =
            &lanes->segments[i / SEGMENTS][i % SEGMENTS];
        if ((size_t)segment->kind == kind && segment->begin_s < at_s &&
            at_s < segment->end_s) {
            return true;
        }
    }
    return false;
}

static void add_moment(struct fulcrum_stage_overlap *expected,
    const struct random_lanes *lanes, double at_s)
{
    bool is_active[FULCRUM_STAGE_WORK_COUNT];
    double active = 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        is_active[k] = is_at(lanes, k, at_s);
        active += is_active[k];
    }
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        expected->wall_s[k] += is_active[k] ? 1.0 / active : 0.0;
        expected->active_s[k] += is_active[k];
    }
    expected->idle_s += active > 0.0 ? 0.0 : 1.0;
}

TEST(test_sweep_agrees_with_a_look_at_every_moment)
{
    static struct random_lanes lanes;
    struct fulcrum_stage_overlap found;
    struct fulcrum_stage_overlap expected = {.idle_s = 0.0};
    draw_lanes(&lanes);
    ASSERT_OK(fulcrum_stage_sweep(&found, lanes.lanes, LANES, GRID, NULL));
    for (size_t i = 0; i < GRID; i++) {
        add_moment(&expected, &lanes, (double)i + 0.5);
    }
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        CU_ASSERT(expected.active_s[k] > 0.0);
        assert_close("active", found.active_s[k], expected.active_s[k], 1e-9);
        assert_close("wall", found.wall_s[k], expected.wall_s[k], 1e-9);
    }
    assert_close("idle", found.idle_s, expected.idle_s, 1e-9);
}

/* --- Whole recordings ---------------------------------------------------------------
 */

static struct fulcrum_recorder *new_recorder(size_t tracks, size_t capacity)
{
    struct fulcrum_recorder *recorder = NULL;
    ASSERT_OK(fulcrum_recorder_new(&recorder, tracks, capacity, NULL));
    return recorder;
}

static const struct fulcrum_stage_facts nothing_known = {.step_count = (double)NAN};

static struct fulcrum_stage_times times_of(
    const struct fulcrum_recorder *recorder, const struct fulcrum_stage_facts *facts)
{
    struct fulcrum_stage_times times = {.tracks = NULL};
    ASSERT_OK(fulcrum_stage_times_new(&times, recorder, facts, NULL));
    return times;
}

static double spent_s(const struct fulcrum_recorder_event *event)
{
    return event->end_s - event->begin_s;
}

/* An actor that steps, then waits, and a server that infers meanwhile. */
static struct fulcrum_recorder *record_known(void)
{
    struct fulcrum_recorder *recorder = new_recorder(2, 16);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
    fulcrum_sleep_s(1e-3);
    fulcrum_recorder_begin(recorder, 1, FULCRUM_STAGE_INFERENCE);
    fulcrum_sleep_s(1e-3);
    fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_WAIT);
    fulcrum_sleep_s(1e-3);
    fulcrum_recorder_end(recorder, 0);
    fulcrum_sleep_s(1e-3);
    fulcrum_recorder_end(recorder, 1);
    fulcrum_sleep_s(1e-3);
    fulcrum_recorder_stop(recorder);
    return recorder;
}

TEST(test_times_of_a_known_recording)
{
    struct fulcrum_recorder *recorder = record_known();
    struct fulcrum_stage_times times = times_of(recorder, &nothing_known);
    const struct fulcrum_recorder_event *actor =
        fulcrum_recorder_read(recorder, 0).events;
    const struct fulcrum_recorder_event *server =
        fulcrum_recorder_read(recorder, 1).events;
    const struct fulcrum_stage_time *simulation =
        &times.kinds[FULCRUM_STAGE_SIMULATION];
    const struct fulcrum_stage_time *inference = &times.kinds[FULCRUM_STAGE_INFERENCE];
    double shared_s = actor[0].end_s - server[0].begin_s;
    const double tolerance = 1e-9;
    CU_ASSERT_EQUAL(times.event_count, 3);
    assert_close("swept", times.swept_s, times.window_s, 1e-12);
    assert_close("simulation", simulation->wall_s, spent_s(&actor[0]) - 0.5 * shared_s,
        tolerance);
    assert_close("inference", inference->wall_s, spent_s(&server[0]) - 0.5 * shared_s,
        tolerance);
    assert_close("thread", inference->thread_s, spent_s(&server[0]), tolerance);
    assert_close("waiting", times.kinds[FULCRUM_STAGE_WAIT].thread_s,
        spent_s(&actor[1]), tolerance);
    assert_close("idle", times.idle_s,
        times.window_s - (server[0].end_s - actor[0].begin_s), tolerance);
    assert_close("outside", times.outside_s,
        2.0 * times.window_s - spent_s(&actor[0]) - spent_s(&actor[1]) -
            spent_s(&server[0]),
        tolerance);
    CU_ASSERT(isnan(inference->cpu_s)); /* nobody attached */
    fulcrum_recorder_free(recorder);
    fulcrum_stage_times_free(&times);
    CU_ASSERT_PTR_NULL(times.tracks);
}

TEST(test_shares_and_idle_time_add_up_to_one)
{
    struct fulcrum_recorder *recorder = record_known();
    struct fulcrum_stage_facts facts = nothing_known;
    facts.cost = (struct fulcrum_recorder_cost){1e-5, 1e-5, 1e-5};
    struct fulcrum_stage_times times = times_of(recorder, &facts);
    double sum = fulcrum_stage_times_idle_frac(&times);
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        sum += fulcrum_stage_times_share(&times, (enum fulcrum_stage_kind)k);
    }
    assert_close("sum", sum, 1.0, 1e-12);
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

/* Two tracks on one processor, one alone: recording costs add up on the former. */
TEST(test_cost_of_the_busiest_processor_is_taken_off_the_window)
{
    enum { EVENTS = 100 };
    struct fulcrum_recorder *recorder = new_recorder(3, (size_t)2 * EVENTS);
    fulcrum_recorder_attach(recorder, 0, "a", 9);
    fulcrum_recorder_attach(recorder, 1, "a", 9);
    fulcrum_recorder_attach(recorder, 2, "b", 7);
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
    assert_close("one track", times.tracks[2].recording_s, EVENTS * 10e-9, 1e-6);
    assert_close("all", times.recording_s, 3.0 * EVENTS * 10e-9, 1e-6);
    assert_close("window", times.corrected_window_s,
        times.window_s - 2.0 * EVENTS * 10e-9, 1e-9);
    assert_close("inside", times.kinds[FULCRUM_STAGE_SIMULATION].recording_s,
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

TEST(test_overlap_is_known_until_the_first_track_is_full)
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
    assert_close("swept", times.swept_s, full.events[1].end_s, 1e-12);
    CU_ASSERT(times.swept_s < times.window_s);
    /* Totals of threads are whole all the same. */
    CU_ASSERT(times.kinds[FULCRUM_STAGE_TRAINING].thread_s >= 5e-4);
    assert_close(
        "all events", times.kinds[FULCRUM_STAGE_TRAINING].event_count, 5.0, 0.0);
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

/* A track for a trainer that the run does without adds no thread time. */
TEST(test_tracks_without_a_thread_count_for_nothing)
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
    assert_close("no thread", times.tracks[0].outside_s, 0.0, 0.0);
    fulcrum_stage_times_free(&times);
    fulcrum_recorder_free(recorder);
}

TEST(test_recordings_and_facts_that_make_no_sense_are_refused)
{
    struct fulcrum_recorder *recorder = new_recorder(1, 4);
    struct fulcrum_stage_times times;
    struct fulcrum_stage_facts facts = nothing_known;
    CU_ASSERT_EQUAL(
        fulcrum_stage_times_new(&times, recorder, &facts, NULL), FULCRUM_ERR_RANGE);
    fulcrum_recorder_start(recorder);
    fulcrum_recorder_stop(recorder);
    facts.step_count = -1.0;
    CU_ASSERT_EQUAL(
        fulcrum_stage_times_new(&times, recorder, &facts, NULL), FULCRUM_ERR_RANGE);
    fulcrum_recorder_free(recorder);
}
