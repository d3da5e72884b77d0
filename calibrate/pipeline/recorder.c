/* recorder.c - when which stage ran, what recording it costs, and its traces. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A track keeps the stages it is in on a small stack. The stage that ends goes to an
 * array made beforehand and to totals that need no room; its time is taken off the
 * stage around it. Both ends are cut to the window, of which threads learn through two
 * atomic times: a stage is counted when it ends, so that one which the window's begin
 * or end divides counts with the part inside.
 */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/pipeline/recorder.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/number.h"
#include "model/try.h"

enum { CAPACITY_DEFAULT = 65536, LINE_BYTE = 128 };

/* Times before and after all others. */
#define NEVER ((double)INFINITY)

/*
 * The window opens or closes at this moment: the controller has announced it and is
 * about to read its clock. Whoever ends a stage now waits for that time, so that no
 * stage that ended later is taken for one within the window, however long the
 * controller is kept from its core in between.
 */
#define ABOUT_TO ((double)NAN)

/* What the controller may read of a thread's CPU clock. */
enum attachment { UNATTACHED, ATTACHED, DETACHED };

struct frame {
    double begin_s;
    double inside_s; /* of stages within */
    uint8_t kind;
    uint8_t is_chained; /* entered by next */
};

struct track {
    /* Apart from its neighbours', or each event would move a cache line. */
    alignas(LINE_BYTE) struct frame frames[FULCRUM_RECORDER_DEPTH_MAX];
    size_t depth;                          /* may exceed the frames there are */
    struct fulcrum_recorder_event *events; /* owned */
    struct fulcrum_recorder_track result;
    char name[FULCRUM_RECORDER_NAME_SIZE];
    clockid_t cpu_clock;
    atomic_int attachment;
    _Atomic double cpu_begin_s;
    _Atomic double cpu_end_s;
};

struct fulcrum_recorder {
    _Atomic double begin_s; /* of the window; NEVER until it opens */
    _Atomic double end_s;   /* NEVER until it closes */
    size_t capacity;
    size_t track_count;
    struct track *tracks; /* owned */
};

enum fulcrum_status fulcrum_recorder_new(struct fulcrum_recorder **out,
    size_t track_count, size_t event_capacity, struct fulcrum_error *err)
{
    FAIL_IF(track_count == 0, err, FULCRUM_ERR_RANGE,
        "track_count = 0: expected 1 or more");
    struct fulcrum_recorder *recorder = calloc(1, sizeof *recorder);
    TRY_MEMORY(recorder, err, "a recording");
    atomic_init(&recorder->begin_s, NEVER);
    atomic_init(&recorder->end_s, NEVER);
    recorder->capacity = event_capacity > 0 ? event_capacity : CAPACITY_DEFAULT;
    /* Zeros at addresses that cache lines begin at; calloc does not promise these. */
    bool has_room = track_count <= SIZE_MAX / sizeof(struct track);
    size_t byte = has_room ? track_count * sizeof(struct track) : 0;
    recorder->tracks = has_room ? aligned_alloc(LINE_BYTE, byte) : NULL;
    has_room = recorder->tracks != NULL;
    recorder->track_count = has_room ? track_count : 0;
    if (has_room) {
        memset(recorder->tracks, 0, byte);
    }
    for (size_t i = 0; i < recorder->track_count && has_room; i++) {
        struct track *track = &recorder->tracks[i];
        track->events = calloc(recorder->capacity, sizeof *track->events);
        has_room = track->events != NULL;
        /* Writes every page; the values are never read. */
        for (size_t k = 0; k < recorder->capacity && has_room; k++) {
            track->events[k].begin_s = FULCRUM_UNKNOWN;
        }
        track->result.events = track->events;
        track->result.name = track->name;
        track->result.processor_group = i;
        (void)snprintf(track->name, sizeof track->name, "thread %zu", i);
        atomic_init(&track->attachment, UNATTACHED);
        atomic_init(&track->cpu_begin_s, FULCRUM_UNKNOWN);
        atomic_init(&track->cpu_end_s, FULCRUM_UNKNOWN);
    }
    if (!has_room) {
        fulcrum_recorder_free(recorder);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "events on each of %zu tracks of a recording", track_count);
    }
    *out = recorder;
    return FULCRUM_OK;
}

void fulcrum_recorder_free(struct fulcrum_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    for (size_t i = 0; i < recorder->track_count; i++) {
        free(recorder->tracks[i].events);
    }
    free(recorder->tracks);
    free(recorder);
}

/* A thread that has ended keeps the time that it left when it detached. */
static void read_cpu_clock(struct track *track, _Atomic double *out_s)
{
    if (atomic_load(&track->attachment) == ATTACHED) {
        double now_s = fulcrum_clock_s(track->cpu_clock);
        if (!isnan(now_s)) {
            atomic_store(out_s, now_s);
        }
    }
}

void fulcrum_recorder_start(struct fulcrum_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    for (size_t i = 0; i < recorder->track_count; i++) {
        read_cpu_clock(&recorder->tracks[i], &recorder->tracks[i].cpu_begin_s);
    }
    atomic_store(&recorder->begin_s, ABOUT_TO);
    atomic_store(&recorder->begin_s, fulcrum_wall_s());
}

void fulcrum_recorder_stop(struct fulcrum_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    atomic_store(&recorder->end_s, ABOUT_TO);
    atomic_store(&recorder->end_s, fulcrum_wall_s());
    for (size_t i = 0; i < recorder->track_count; i++) {
        read_cpu_clock(&recorder->tracks[i], &recorder->tracks[i].cpu_end_s);
    }
}

/* NULL where nothing is recorded. */
static struct track *track_of(struct fulcrum_recorder *recorder, size_t number)
{
    assert(recorder == NULL || number < recorder->track_count);
    return recorder != NULL ? &recorder->tracks[number] : NULL;
}

void fulcrum_recorder_attach(struct fulcrum_recorder *recorder, size_t number,
    const char *name, size_t processor_group)
{
    struct track *track = track_of(recorder, number);
    if (track == NULL) {
        return;
    }
    (void)snprintf(track->name, sizeof track->name, "%s", name);
    track->result.processor_group = processor_group;
    if (pthread_getcpuclockid(pthread_self(), &track->cpu_clock) == 0) {
        /* Of use to a thread that attaches when the window is open already. */
        atomic_store(&track->cpu_begin_s, fulcrum_clock_s(track->cpu_clock));
        atomic_store(&track->attachment, ATTACHED);
    }
}

void fulcrum_recorder_detach(struct fulcrum_recorder *recorder, size_t number)
{
    struct track *track = track_of(recorder, number);
    if (track == NULL) {
        return;
    }
    if (isinf(atomic_load(&recorder->end_s))) {
        read_cpu_clock(track, &track->cpu_end_s);
    }
    atomic_store(&track->attachment, DETACHED);
}

/* An edge of the window, after the clock was read. */
static double edge_s(const _Atomic double *time_s)
{
    double edge = atomic_load_explicit(time_s, memory_order_acquire);
    while (isnan(edge)) {
        (void)sched_yield();
        edge = atomic_load_explicit(time_s, memory_order_acquire);
    }
    return edge;
}

static void enter(
    struct track *track, enum fulcrum_stage_kind kind, double now_s, bool is_chained)
{
    track->frames[track->depth - 1] = (struct frame){
        .begin_s = now_s, .kind = (uint8_t)kind, .is_chained = (uint8_t)is_chained};
}

static void leave(const struct fulcrum_recorder *recorder, struct track *track,
    double now_s, bool is_chained)
{
    size_t depth = track->depth - 1;
    const struct frame *frame = &track->frames[depth];
    /* Cut to the window. */
    double from_s = edge_s(&recorder->begin_s);
    double to_s = edge_s(&recorder->end_s);
    double begin_s = frame->begin_s > from_s ? frame->begin_s : from_s;
    double end_s = now_s < to_s ? now_s : to_s;
    if (end_s <= begin_s) {
        return;
    }
    const struct fulcrum_recorder_event event = {.begin_s = begin_s - from_s,
        .end_s = end_s - from_s,
        .kind = frame->kind,
        .depth = (uint8_t)depth};
    double span_s = event.end_s - event.begin_s;
    struct fulcrum_recorder_total *totals = track->result.totals;
    struct fulcrum_recorder_total *total = &totals[frame->kind];
    double chained = (double)(frame->is_chained + is_chained);
    total->exclusive_s += span_s - frame->inside_s;
    total->event_count += 1.0;
    total->chained_end_count += chained;
    total->paired_end_count += 2.0 - chained;
    if (depth > 0) {
        track->frames[depth - 1].inside_s += span_s;
        totals[track->frames[depth - 1].kind].child_count += 1.0;
    }
    struct fulcrum_recorder_track *result = &track->result;
    if (result->event_count < recorder->capacity) {
        track->events[result->event_count++] = event;
    } else {
        result->dropped_count++;
        result->dropped_s += depth == 0 ? span_s : 0.0;
    }
}

void fulcrum_recorder_begin_on(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind)
{
    struct track *track = track_of(recorder, number);
    if (++track->depth <= FULCRUM_RECORDER_DEPTH_MAX) {
        enter(track, kind, fulcrum_wall_s(), 0);
    }
}

void fulcrum_recorder_end_on(struct fulcrum_recorder *recorder, size_t number)
{
    struct track *track = track_of(recorder, number);
    if (track->depth == 0) {
        return;
    }
    if (track->depth <= FULCRUM_RECORDER_DEPTH_MAX) {
        leave(recorder, track, fulcrum_wall_s(), 0);
    }
    track->depth--;
}

void fulcrum_recorder_next_on(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind)
{
    struct track *track = track_of(recorder, number);
    if (track->depth == 0) {
        fulcrum_recorder_begin_on(recorder, number, kind);
    } else if (track->depth <= FULCRUM_RECORDER_DEPTH_MAX) {
        double now_s = fulcrum_wall_s();
        leave(recorder, track, now_s, 1);
        enter(track, kind, now_s, 1);
    }
}

size_t fulcrum_recorder_track_count(const struct fulcrum_recorder *recorder)
{
    return recorder != NULL ? recorder->track_count : 0;
}

double fulcrum_recorder_window_s(const struct fulcrum_recorder *recorder)
{
    if (recorder == NULL || isinf(atomic_load(&recorder->end_s)) ||
        isinf(atomic_load(&recorder->begin_s))) {
        return 0.0;
    }
    return atomic_load(&recorder->end_s) - atomic_load(&recorder->begin_s);
}

struct fulcrum_recorder_track fulcrum_recorder_read(
    const struct fulcrum_recorder *recorder, size_t number)
{
    assert(recorder != NULL && number < recorder->track_count);
    const struct track *track = &recorder->tracks[number];
    struct fulcrum_recorder_track result = track->result;
    result.cpu_s = atomic_load(&track->cpu_end_s) - atomic_load(&track->cpu_begin_s);
    result.is_used = atomic_load(&track->attachment) != UNATTACHED ||
                     result.event_count > 0 || result.dropped_count > 0;
    return result;
}

/* What recording costs, and totals without it. */

/* Blocks short enough that most of them run undisturbed. */
enum { BLOCKS = 61, BLOCK_EVENTS = 500 };

struct blocks {
    double pair_s[BLOCKS];
    double pair_inside_s[BLOCKS];
    double chained_s[BLOCKS];
};

static double exclusive_s(
    const struct fulcrum_recorder *recorder, enum fulcrum_stage_kind kind)
{
    return fulcrum_recorder_read(recorder, 0).totals[kind].exclusive_s;
}

enum fulcrum_status fulcrum_recorder_cost_measure(
    struct fulcrum_recorder_cost *out, struct fulcrum_error *err)
{
    /* Every event finds room: the way of those that find none is shorter. */
    struct fulcrum_recorder *recorder = NULL;
    TRY(fulcrum_recorder_new(
        &recorder, 1, (size_t)BLOCKS * (2 * BLOCK_EVENTS + 1), err));
    struct blocks blocks;
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < BLOCKS; i++) {
        double before_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION);
        double begin_s = fulcrum_wall_s();
        for (size_t k = 0; k < BLOCK_EVENTS; k++) {
            fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
            fulcrum_recorder_end(recorder, 0);
        }
        blocks.pair_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
        double inside_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION) - before_s;
        blocks.pair_inside_s[i] = inside_s / BLOCK_EVENTS;
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_HANDOFF);
        begin_s = fulcrum_wall_s();
        for (size_t k = 0; k < BLOCK_EVENTS; k++) {
            fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
        }
        blocks.chained_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
        fulcrum_recorder_end(recorder, 0);
    }
    fulcrum_recorder_free(recorder);
    out->pair_inside_s = fulcrum_statistics_median(blocks.pair_inside_s, BLOCKS);
    out->pair_outside_s = fmax(
        0.0, fulcrum_statistics_median(blocks.pair_s, BLOCKS) - out->pair_inside_s);
    out->chained_s = fulcrum_statistics_median(blocks.chained_s, BLOCKS);
    return FULCRUM_OK;
}

struct fulcrum_recorder_correction fulcrum_recorder_correct(
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_cost *cost)
{
    struct fulcrum_recorder_correction correction = {.total_s = 0.0};
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        const struct fulcrum_recorder_total *total = &track->totals[k];
        double inside_s = 0.5 * (total->paired_end_count * cost->pair_inside_s +
                                    total->chained_end_count * cost->chained_s);
        double recording_s = inside_s + total->child_count * cost->pair_outside_s;
        correction.recording_s[k] = fmin(recording_s, total->exclusive_s);
        correction.exclusive_s[k] = total->exclusive_s - correction.recording_s[k];
        correction.outside_s += 0.5 * total->paired_end_count * cost->pair_outside_s;
        correction.outside_s -= total->child_count * cost->pair_outside_s;
        correction.total_s += correction.recording_s[k];
    }
    correction.outside_s = fmax(0.0, correction.outside_s);
    correction.total_s += correction.outside_s;
    return correction;
}

enum fulcrum_status fulcrum_recorder_cost_of_pairs(struct fulcrum_recorder_pairs *out,
    const double *with_per_s, const double *without_per_s, size_t count,
    struct fulcrum_error *err)
{
    FAIL_IF(count < 2, err, FULCRUM_ERR_RANGE, "%zu pairs of runs: expected 2 or more",
        count);
    double *cost_frac = calloc(count, sizeof *cost_frac);
    TRY_MEMORY(cost_frac, err, "%zu pairs of runs", count);
    for (size_t i = 0; i < count; i++) {
        if (!(with_per_s[i] > 0.0 && without_per_s[i] > 0.0)) {
            free(cost_frac);
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "pair %zu has rates %g and %g: expected more than 0", i + 1,
                with_per_s[i], without_per_s[i]);
        }
        cost_frac[i] = without_per_s[i] / with_per_s[i] - 1.0;
    }
    double root = sqrt((double)count);
    out->pair_count = count;
    out->mean_frac = gsl_stats_mean(cost_frac, 1, count);
    out->sd_frac = gsl_stats_sd_m(cost_frac, 1, count, out->mean_frac);
    out->upper_frac = out->mean_frac + gsl_cdf_tdist_Pinv(0.95, (double)(count - 1)) *
                                           out->sd_frac / root;
    free(cost_frac);
    return FULCRUM_OK;
}

/* Both begin with begin_s and end_s. */
int fulcrum_recorder_by_begin(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;
    if (a[0] < b[0] || a[0] > b[0]) {
        return a[0] < b[0] ? -1 : 1;
    }
    return (a[1] < b[1]) - (a[1] > b[1]);
}

enum fulcrum_status fulcrum_recorder_save_trace(const struct fulcrum_recorder *recorder,
    const char *path, size_t span_max, struct fulcrum_trace_saved *saved,
    struct fulcrum_error *err)
{
    static const char *const processes[] = {"CPU threads"};
    size_t event_count = 0;
    for (size_t i = 0; i < recorder->track_count; i++) {
        event_count += recorder->tracks[i].result.event_count;
    }
    struct fulcrum_trace_span *spans = calloc(event_count + 1, sizeof *spans);
    struct fulcrum_trace_lane *lanes = calloc(recorder->track_count + 1, sizeof *lanes);
    struct fulcrum_trace trace = {.processes = processes,
        .process_count = 1,
        .lanes = lanes,
        .span_max = span_max};
    enum fulcrum_status status = FULCRUM_OK;
    if (spans == NULL || lanes == NULL) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "a trace of %zu tracks", recorder->track_count);
        goto end;
    }
    struct fulcrum_trace_span *next = spans;
    for (size_t i = 0; i < recorder->track_count; i++) {
        struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, i);
        if (track.is_used) {
            /* Stages as they were recorded, within each other. */
            for (size_t k = 0; k < track.event_count; k++) {
                const struct fulcrum_recorder_event *event = &track.events[k];
                next[k] = (struct fulcrum_trace_span){event->begin_s, event->end_s,
                    fulcrum_stage_kind_name((enum fulcrum_stage_kind)event->kind)};
            }
            qsort(next, track.event_count, sizeof *next, fulcrum_recorder_by_begin);
            lanes[trace.lane_count++] = (struct fulcrum_trace_lane){
                .name = track.name, .spans = next, .count = track.event_count};
            next += track.event_count;
        }
    }
    status = fulcrum_trace_save(path, &trace, saved, err);
end:
    free(spans);
    free(lanes);
    return status;
}
