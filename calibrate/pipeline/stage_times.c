/* stage_times.c - where the time of a recorded run went, as RL-Scope breaks it down. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/stage_times.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/pipeline/recorder.h"
#include "model/quantity.h"
#include "model/stage_kind.h"
#include "model/status.h"
#include "model/try.h"

/* One thread's or device's time, cut so that it is in one stage at once. */

/* Stages that are open at one moment; deeper ones stay with the stage around. */
enum { OPEN_MAX = 2 * FULCRUM_RECORDER_DEPTH_MAX };

struct cutter {
    struct fulcrum_stage_lane lane;
    double at_s; /* what lies before is cut */
    size_t open_count;
    struct fulcrum_stage_segment open[OPEN_MAX]; /* from the outermost */
};

/* By begin; of two that begin together the longer one is the outer one. */
static int compare(const void *left, const void *right)
{
    const struct fulcrum_stage_segment *a = left;
    const struct fulcrum_stage_segment *b = right;
    if (a->begin_s < b->begin_s || a->begin_s > b->begin_s) {
        return a->begin_s < b->begin_s ? -1 : 1;
    }
    return (a->end_s < b->end_s) - (a->end_s > b->end_s);
}

/* Gives the time up to `to_s` to the innermost open stage. */
static void cut(struct cutter *cutter, double to_s)
{
    if (cutter->open_count > 0 && to_s > cutter->at_s) {
        cutter->lane.segments[cutter->lane.count++] =
            (struct fulcrum_stage_segment){.begin_s = cutter->at_s,
                .end_s = to_s,
                .kind = cutter->open[cutter->open_count - 1].kind};
    }
    cutter->at_s = fmax(cutter->at_s, to_s);
}

static void close_until(struct cutter *cutter, double to_s)
{
    while (
        cutter->open_count > 0 && cutter->open[cutter->open_count - 1].end_s <= to_s) {
        cut(cutter, cutter->open[cutter->open_count - 1].end_s);
        cutter->open_count--;
    }
}

static void queue(struct cutter *cutter, struct fulcrum_stage_segment stage)
{
    stage.begin_s = fmax(stage.begin_s, cutter->at_s);
    if (stage.end_s > stage.begin_s) {
        cutter->lane.segments[cutter->lane.count++] = stage;
        cutter->at_s = stage.end_s;
    }
}

/* Returns how many events there are of this resource. */
static size_t collect(struct fulcrum_stage_segment *out,
    const struct fulcrum_recorder_track *track, enum fulcrum_stage_resource resource)
{
    size_t count = 0;
    for (size_t i = 0; i < track->event_count; i++) {
        const struct fulcrum_recorder_event *event = &track->events[i];
        if (event->resource == (uint8_t)resource) {
            out[count++] = (struct fulcrum_stage_segment){
                event->begin_s, event->end_s, (enum fulcrum_stage_kind)event->kind};
        }
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

enum fulcrum_status fulcrum_stage_lane_new(struct fulcrum_stage_lane *out,
    const struct fulcrum_recorder_track *track, enum fulcrum_stage_resource resource,
    struct fulcrum_error *err)
{
    /* Each event begins one segment, and one more of the stage around it. */
    size_t room = track->event_count + 1;
    struct cutter cutter = {.at_s = 0.0, .open_count = 0};
    struct fulcrum_stage_segment *stages = calloc(room, sizeof *stages);
    cutter.lane.segments = calloc(room, 2 * sizeof *stages);
    if (stages == NULL || cutter.lane.segments == NULL) {
        free(stages);
        free(cutter.lane.segments);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "%zu events of a track", track->event_count);
    }
    size_t count = collect(stages, track, resource);
    for (size_t i = 0; i < count; i++) {
        if (resource == FULCRUM_STAGE_CPU) {
            struct fulcrum_stage_segment stage = stages[i];
            close_until(&cutter, stage.begin_s);
            cut(&cutter, stage.begin_s);
            if (cutter.open_count > 0) {
                double outer_end_s = cutter.open[cutter.open_count - 1].end_s;
                stage.end_s = fmin(stage.end_s, outer_end_s);
            }
            if (cutter.open_count < OPEN_MAX) {
                cutter.open[cutter.open_count++] = stage;
            }
        } else {
            queue(&cutter, stages[i]);
        }
    }
    close_until(&cutter, (double)INFINITY);
    free(stages);
    *out = cutter.lane;
    return FULCRUM_OK;
}

void fulcrum_stage_lane_free(struct fulcrum_stage_lane *lane)
{
    free(lane->segments);
    *lane = (struct fulcrum_stage_lane){.segments = NULL};
}

/* Which stages run at the same time on threads and devices. */

/*
 * One line sweeps over time and stops where a lane enters or leaves a stage. The lanes
 * are kept in a heap by their next such edge, so that memory does not grow with events.
 */

/* One lane on the way. */
struct cursor {
    const struct fulcrum_stage_swept *swept;
    size_t segment;
    bool is_inside; /* of that segment: its end comes next */
};

struct stage_sweep_sweep {
    struct cursor *heap; /* owned; the earliest edge first */
    size_t count;
    /* How many lanes are in each stage now. */
    size_t busy[FULCRUM_STAGE_KIND_COUNT][FULCRUM_STAGE_RESOURCE_COUNT];
    double at_s;
    struct fulcrum_stage_overlap overlap;
};

static const struct fulcrum_stage_segment *segment_of(const struct cursor *cursor)
{
    return &cursor->swept->lane.segments[cursor->segment];
}

static double edge_s(const struct cursor *cursor)
{
    const struct fulcrum_stage_segment *segment = segment_of(cursor);
    return cursor->is_inside ? segment->end_s : segment->begin_s;
}

/* The one with the earliest edge of a place in the heap and the two below it. */
static size_t earliest(const struct stage_sweep_sweep *sweep, size_t i)
{
    size_t least = i;
    for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < sweep->count;
         child++) {
        if (edge_s(&sweep->heap[child]) < edge_s(&sweep->heap[least])) {
            least = child;
        }
    }
    return least;
}

static void sift_down(struct stage_sweep_sweep *sweep, size_t i)
{
    size_t least = earliest(sweep, i);
    while (least != i) {
        struct cursor moved = sweep->heap[i];
        sweep->heap[i] = sweep->heap[least];
        sweep->heap[least] = moved;
        i = least;
        least = earliest(sweep, i);
    }
}

/* Where stage `k` is now; -1: nowhere. */
static int where(const struct stage_sweep_sweep *sweep, size_t k)
{
    int on_cpu = sweep->busy[k][FULCRUM_STAGE_CPU] > 0;
    int on_gpu = sweep->busy[k][FULCRUM_STAGE_GPU] > 0;
    if (on_cpu && on_gpu) {
        return FULCRUM_STAGE_CPU_AND_GPU;
    }
    if (on_gpu) {
        return FULCRUM_STAGE_GPU_ONLY;
    }
    return on_cpu ? FULCRUM_STAGE_CPU_ONLY : -1;
}

/* Time goes on to `to_s` with every lane where it is. */
static void advance(struct stage_sweep_sweep *sweep, double to_s)
{
    double span_s = to_s - sweep->at_s;
    size_t active = 0;
    int on_gpu = 0;
    if (!(span_s > 0.0)) {
        return;
    }
    sweep->at_s = to_s;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        active += where(sweep, k) >= 0;
        on_gpu = on_gpu || sweep->busy[k][FULCRUM_STAGE_GPU] > 0;
    }
    sweep->overlap.idle_s += active == 0 ? span_s : 0.0;
    sweep->overlap.gpu_busy_s += on_gpu ? span_s : 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT && active > 0; k++) {
        int place = where(sweep, k);
        if (place >= 0) {
            sweep->overlap.active_s[k][place] += span_s;
            sweep->overlap.wall_s[k][place] += span_s / (double)active;
        }
    }
}

/* The earliest lane passes its edge. */
static void pass(struct stage_sweep_sweep *sweep)
{
    struct cursor *cursor = &sweep->heap[0];
    size_t *busy = &sweep->busy[segment_of(cursor)->kind][cursor->swept->resource];
    if (!cursor->is_inside) {
        cursor->is_inside = 1;
        (*busy)++;
    } else {
        cursor->is_inside = 0;
        cursor->segment++;
        (*busy)--;
    }
    if (cursor->segment == cursor->swept->lane.count) {
        sweep->heap[0] = sweep->heap[--sweep->count];
    }
    sift_down(sweep, 0);
}

enum fulcrum_status fulcrum_stage_sweep(struct fulcrum_stage_overlap *out,
    const struct fulcrum_stage_swept *lanes, size_t count, double end_s,
    struct fulcrum_error *err)
{
    struct stage_sweep_sweep sweep = {.heap = calloc(count + 1, sizeof *sweep.heap)};
    TRY_MEMORY(sweep.heap, err, "%zu lanes", count);
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].lane.count > 0) {
            sweep.heap[sweep.count++] = (struct cursor){.swept = &lanes[i]};
        }
    }
    for (size_t i = sweep.count; i > 0; i--) {
        sift_down(&sweep, i - 1);
    }
    while (sweep.count > 0 && edge_s(&sweep.heap[0]) < end_s) {
        advance(&sweep, edge_s(&sweep.heap[0]));
        pass(&sweep);
    }
    advance(&sweep, end_s);
    free(sweep.heap);
    *out = sweep.overlap;
    return FULCRUM_OK;
}

static bool is_sampled(const struct fulcrum_recorder_track *track)
{
    return track->recorded_cycle_count < track->cycle_count;
}

/* Time that costs CPU: waiting does not. */
static double working_s(const struct fulcrum_stage_track *track)
{
    double sum_s = track->outside_s;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        sum_s += track->stage_s[k];
    }
    return sum_s;
}

static void fill_track(struct fulcrum_stage_track *out,
    const struct fulcrum_stage_times *times, const struct fulcrum_recorder_track *track)
{
    struct fulcrum_recorder_correction correction =
        fulcrum_recorder_correct(track, &times->facts.cost);
    /* How many cycles a recorded one stands for. */
    double scale = track->recorded_cycle_count > 0.0
                       ? track->cycle_count / track->recorded_cycle_count
                       : 1.0;
    (void)snprintf(out->name, sizeof out->name, "%s", track->name);
    if (!track->is_used) {
        return;
    }
    out->recorded_frac = 1.0 / scale;
    out->recording_s = correction.total_s;
    out->outside_s = times->window_s - correction.total_s;
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        out->stage_s[k] = scale * correction.exclusive_s[k];
        out->outside_s -= out->stage_s[k];
        out->gpu_s += track->totals[FULCRUM_STAGE_GPU][k].exclusive_s;
    }
    out->outside_s = fmax(0.0, out->outside_s);
    out->cpu_s = fmax(track->cpu_s - correction.total_s, 0.0);
    if (isnan(track->cpu_s)) {
        out->cpu_s = FULCRUM_UNKNOWN;
    }
    out->dropped_count = track->dropped_count;
}

static void add_track(struct fulcrum_stage_times *times,
    const struct fulcrum_stage_track *thread,
    const struct fulcrum_recorder_track *track)
{
    struct fulcrum_recorder_correction correction =
        fulcrum_recorder_correct(track, &times->facts.cost);
    double working = working_s(thread);
    double worked_s =
        isnan(thread->cpu_s) ? thread->cpu_s : fmin(thread->cpu_s, working);
    double cpu_per_s = working > 0.0 ? worked_s / working : 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        struct fulcrum_stage_time *kind = &times->kinds[k];
        kind->thread_s += thread->stage_s[k];
        kind->recording_s += correction.recording_s[k];
        /* A kind that a thread is never in needs nothing of its clock. */
        if (thread->stage_s[k] > 0.0) {
            kind->cpu_s += k < FULCRUM_STAGE_WORK_COUNT ? cpu_per_s * thread->stage_s[k]
                                                        : thread->cpu_s - worked_s;
        }
        for (size_t r = 0; r < FULCRUM_STAGE_RESOURCE_COUNT; r++) {
            kind->event_count += track->totals[r][k].event_count;
        }
        kind->gpu_s += track->totals[FULCRUM_STAGE_GPU][k].exclusive_s;
    }
    times->outside_s += thread->outside_s;
    times->recording_s += thread->recording_s;
    times->event_count += track->event_count;
    times->dropped_count += track->dropped_count;
    times->used_track_count += track->is_used ? 1 : 0;
    times->sampled_track_count += is_sampled(track) ? 1 : 0;
    if (track->dropped_count > 0) {
        double last_s =
            track->event_count > 0 ? track->events[track->event_count - 1].end_s : 0.0;
        times->swept_s = fmin(times->swept_s, last_s);
    }
}

/* What recording cost the processor that it cost most. */
static double busiest_recording_s(
    const struct fulcrum_stage_times *times, const struct fulcrum_recorder *recorder)
{
    double most_s = 0.0;
    for (size_t i = 0; i < times->track_count; i++) {
        size_t group = fulcrum_recorder_read(recorder, i).processor_group;
        double sum_s = 0.0;
        for (size_t j = 0; j < times->track_count; j++) {
            int same = fulcrum_recorder_read(recorder, j).processor_group == group;
            sum_s += same ? times->tracks[j].recording_s : 0.0;
        }
        most_s = fmax(most_s, sum_s);
    }
    return most_s;
}

/* Recording took the same share of a stage's wall time as of its threads' time. */
static void put_overlap(struct fulcrum_stage_times *times,
    const struct fulcrum_stage_overlap *overlap, const unsigned char *unknown)
{
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        struct fulcrum_stage_time *kind = &times->kinds[k];
        double raw_s = kind->thread_s + kind->recording_s;
        double kept = raw_s > 0.0 ? kind->thread_s / raw_s : 1.0;
        for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT; w++) {
            double factor = w == FULCRUM_STAGE_CPU_ONLY ? kept : 1.0;
            kind->wall_s[w] = times->sampled_track_count > 0
                                  ? FULCRUM_UNKNOWN
                                  : factor * overlap->wall_s[k][w];
            kind->active_s[w] =
                unknown[k] ? FULCRUM_UNKNOWN : factor * overlap->active_s[k][w];
        }
    }
    times->idle_s = times->sampled_track_count > 0 ? FULCRUM_UNKNOWN : overlap->idle_s;
}

static void find_unknown(
    unsigned char *unknown, const struct fulcrum_recorder *recorder)
{
    for (size_t i = 0; i < fulcrum_recorder_track_count(recorder); i++) {
        struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, i);
        for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT && is_sampled(&track); k++) {
            unknown[k] =
                unknown[k] || track.totals[FULCRUM_STAGE_CPU][k].event_count > 0.0;
        }
    }
}

static void free_lanes(struct fulcrum_stage_swept *lanes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_stage_lane_free(&lanes[i].lane);
    }
    free(lanes);
}

static enum fulcrum_status sweep_lanes(struct fulcrum_stage_times *times,
    const struct fulcrum_recorder *recorder, struct fulcrum_error *err)
{
    size_t count = times->track_count * FULCRUM_STAGE_RESOURCE_COUNT;
    struct fulcrum_stage_swept *lanes = calloc(count + 1, sizeof *lanes);
    TRY_MEMORY(lanes, err, "%zu lanes", count);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        struct fulcrum_recorder_track track =
            fulcrum_recorder_read(recorder, i / FULCRUM_STAGE_RESOURCE_COUNT);
        lanes[i].resource =
            (enum fulcrum_stage_resource)(i % FULCRUM_STAGE_RESOURCE_COUNT);
        status = fulcrum_stage_lane_new(&lanes[i].lane, &track, lanes[i].resource, err);
    }
    struct fulcrum_stage_overlap overlap = {.gpu_busy_s = 0.0};
    if (status == FULCRUM_OK) {
        status = fulcrum_stage_sweep(&overlap, lanes, count, times->swept_s, err);
    }
    free_lanes(lanes, count);
    if (status == FULCRUM_OK) {
        unsigned char unknown[FULCRUM_STAGE_KIND_COUNT] = {0};
        find_unknown(unknown, recorder);
        put_overlap(times, &overlap, unknown);
        times->gpu_busy_frac =
            times->swept_s > 0.0 ? overlap.gpu_busy_s / times->swept_s : 0.0;
    }
    return status;
}

static bool has_gpu(const struct fulcrum_stage_times *times)
{
    double gpu_s = 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        gpu_s += times->kinds[k].gpu_s;
    }
    return gpu_s > 0.0;
}

enum fulcrum_status fulcrum_stage_times_new(struct fulcrum_stage_times *out,
    const struct fulcrum_recorder *recorder, const struct fulcrum_stage_facts *facts,
    struct fulcrum_error *err)
{
    FAIL_IF(!(fulcrum_recorder_window_s(recorder) > 0.0), err, FULCRUM_ERR_RANGE,
        "the recording has no window: expected one that was started and stopped");
    FAIL_IF(facts->step_count < 0.0 || isinf(facts->step_count), err, FULCRUM_ERR_RANGE,
        "step_count = %g: expected 0 or more", facts->step_count);
    FAIL_IF(facts->sm_active_frac < 0.0 || facts->sm_active_frac > 1.0, err,
        FULCRUM_ERR_RANGE, "sm_active_frac = %g is outside [0, 1]",
        facts->sm_active_frac);
    struct fulcrum_stage_times times = {.facts = *facts};
    times.window_s = times.swept_s = fulcrum_recorder_window_s(recorder);
    times.track_count = fulcrum_recorder_track_count(recorder);
    times.tracks = calloc(times.track_count, sizeof *times.tracks);
    TRY_MEMORY(times.tracks, err, "%zu tracks", times.track_count);
    for (size_t i = 0; i < times.track_count; i++) {
        struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, i);
        fill_track(&times.tracks[i], &times, &track);
        add_track(&times, &times.tracks[i], &track);
    }
    times.corrected_window_s = times.window_s - busiest_recording_s(&times, recorder);
    enum fulcrum_status status = sweep_lanes(&times, recorder, err);
    if (status != FULCRUM_OK) {
        fulcrum_stage_times_free(&times);
        return status;
    }
    times.gpu_busy_frac = has_gpu(&times) ? times.gpu_busy_frac : FULCRUM_UNKNOWN;
    *out = times;
    return FULCRUM_OK;
}

void fulcrum_stage_times_free(struct fulcrum_stage_times *times)
{
    free(times->tracks);
    *times = (struct fulcrum_stage_times){.tracks = NULL};
}

static double wall_sum_s(const struct fulcrum_stage_times *times)
{
    double sum_s = times->idle_s;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT; w++) {
            sum_s += times->kinds[k].wall_s[w];
        }
    }
    return sum_s;
}

double fulcrum_stage_times_share(const struct fulcrum_stage_times *times,
    enum fulcrum_stage_kind kind, enum fulcrum_stage_where where)
{
    assert((size_t)kind < FULCRUM_STAGE_WORK_COUNT);
    return times->kinds[kind].wall_s[where] / wall_sum_s(times);
}

double fulcrum_stage_times_share_sum(
    const struct fulcrum_stage_times *times, enum fulcrum_stage_kind kind)
{
    double sum = 0.0;
    for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT; w++) {
        sum += fulcrum_stage_times_share(times, kind, (enum fulcrum_stage_where)w);
    }
    return sum;
}

double fulcrum_stage_times_idle_frac(const struct fulcrum_stage_times *times)
{
    return times->idle_s / wall_sum_s(times);
}

void fulcrum_stage_times_busy_sentence(
    const struct fulcrum_stage_times *times, char out[FULCRUM_STAGE_SENTENCE_SIZE])
{
    double busy = times->gpu_busy_frac;
    double active = times->facts.sm_active_frac;
    if (isnan(busy)) {
        (void)snprintf(out, FULCRUM_STAGE_SENTENCE_SIZE,
            "GPU busy time was not measured: no stage ran on a device with a clock.");
    } else if (isnan(active)) {
        (void)snprintf(out, FULCRUM_STAGE_SENTENCE_SIZE,
            "The GPU was busy %.3g %% of the time; how many of its SMs were active was "
            "not measured, and busy time flatters: one active SM keeps a GPU busy.",
            100.0 * busy);
    } else if (active > 0.0 && active < busy) {
        (void)snprintf(out, FULCRUM_STAGE_SENTENCE_SIZE,
            "The GPU was busy %.3g %% of the time, but its SMs were active %.3g %%: "
            "busy "
            "time flatters the GPU's use %.3g-fold.",
            100.0 * busy, 100.0 * active, busy / active);
    } else {
        (void)snprintf(out, FULCRUM_STAGE_SENTENCE_SIZE,
            "The GPU was busy %.3g %% of the time, and its SMs were active %.3g %%.",
            100.0 * busy, 100.0 * active);
    }
}
