/* stage_times.c - where the time of a recorded run went, as RL-Scope breaks it down. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/stage_times.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/try.h"

/* One thread's time, cut so that it is in one stage at once. */

/* Stages that are open at one moment; deeper ones stay with the stage around. */
enum { OPEN_MAX = 2 * FULCRUM_RECORDER_DEPTH_MAX };

struct cutter {
    struct fulcrum_stage_lane lane;
    double at_s; /* what lies before is cut */
    size_t open_count;
    struct fulcrum_recorder_event open[OPEN_MAX]; /* from the outermost */
};

/* Gives the time up to `to_s` to the innermost open stage. */
static void cut(struct cutter *cutter, double to_s)
{
    if (cutter->open_count > 0 && to_s > cutter->at_s) {
        cutter->lane.segments[cutter->lane.count++] = (struct fulcrum_stage_segment){
            .begin_s = cutter->at_s,
            .end_s = to_s,
            .kind = (enum fulcrum_stage_kind)cutter->open[cutter->open_count - 1].kind};
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

enum fulcrum_status fulcrum_stage_lane_new(struct fulcrum_stage_lane *out,
    const struct fulcrum_recorder_track *track, struct fulcrum_error *err)
{
    /* Each event begins one segment, and one more of the stage around it. */
    size_t count = track->event_count;
    struct cutter cutter = {.at_s = 0.0, .open_count = 0};
    struct fulcrum_recorder_event *stages = calloc(count + 1, sizeof *stages);
    cutter.lane.segments = calloc(count + 1, 2 * sizeof *cutter.lane.segments);
    if (stages == NULL || cutter.lane.segments == NULL) {
        free(stages);
        free(cutter.lane.segments);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "%zu events of a track", track->event_count);
    }
    if (count > 0) {
        memcpy(stages, track->events, count * sizeof *stages);
    }
    qsort(stages, count, sizeof *stages, fulcrum_recorder_by_begin);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_recorder_event stage = stages[i];
        close_until(&cutter, stage.begin_s);
        cut(&cutter, stage.begin_s);
        if (cutter.open_count > 0) {
            stage.end_s = fmin(stage.end_s, cutter.open[cutter.open_count - 1].end_s);
        }
        if (cutter.open_count < OPEN_MAX) {
            cutter.open[cutter.open_count++] = stage;
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

/* Which stages run at the same time: a line sweeps over the edges of all lanes. */

struct edge {
    double at_s;
    enum fulcrum_stage_kind kind;
    bool begins; /* a segment of that kind; false: ends one */
};

struct sweep {
    size_t busy[FULCRUM_STAGE_KIND_COUNT]; /* lanes in each stage now */
    double at_s;
    struct fulcrum_stage_overlap overlap;
};

static int by_time(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;
    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

static void advance(struct sweep *sweep, double to_s)
{
    double span_s = to_s - sweep->at_s;
    size_t active = 0;
    if (!(span_s > 0.0)) {
        return;
    }
    sweep->at_s = to_s;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        active += sweep->busy[k] > 0;
    }
    sweep->overlap.idle_s += active == 0 ? span_s : 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        if (sweep->busy[k] > 0) {
            sweep->overlap.active_s[k] += span_s;
            sweep->overlap.wall_s[k] += span_s / (double)active;
        }
    }
}

enum fulcrum_status fulcrum_stage_sweep(struct fulcrum_stage_overlap *out,
    const struct fulcrum_stage_lane *lanes, size_t count, double end_s,
    struct fulcrum_error *err)
{
    struct sweep sweep = {.at_s = 0.0};
    size_t edge_count = 0;
    for (size_t i = 0; i < count; i++) {
        edge_count += 2 * lanes[i].count;
    }
    struct edge *edges = calloc(edge_count + 1, sizeof *edges);
    TRY_MEMORY(edges, err, "%zu edges of stages", edge_count);
    struct edge *next = edges;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < lanes[i].count; k++) {
            const struct fulcrum_stage_segment *segment = &lanes[i].segments[k];
            *next++ = (struct edge){segment->begin_s, segment->kind, true};
            *next++ = (struct edge){segment->end_s, segment->kind, false};
        }
    }
    qsort(edges, edge_count, sizeof *edges, by_time);
    for (size_t i = 0; i < edge_count && edges[i].at_s < end_s; i++) {
        advance(&sweep, edges[i].at_s);
        size_t *busy = &sweep.busy[edges[i].kind];
        *busy = edges[i].begins ? *busy + 1 : *busy - 1;
    }
    advance(&sweep, end_s);
    free(edges);
    *out = sweep.overlap;
    return FULCRUM_OK;
}

static void fill_track(struct fulcrum_stage_track *out, double window_s,
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_correction *correction)
{
    (void)snprintf(out->name, sizeof out->name, "%s", track->name);
    if (!track->is_used) {
        return;
    }
    out->recording_s = correction->total_s;
    out->outside_s = window_s - correction->total_s;
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        out->stage_s[k] = correction->exclusive_s[k];
        out->outside_s -= out->stage_s[k];
    }
    out->outside_s = fmax(0.0, out->outside_s);
    out->cpu_s = isnan(track->cpu_s) ? FULCRUM_UNKNOWN
                                     : fmax(track->cpu_s - correction->total_s, 0.0);
}

static void add_track(struct fulcrum_stage_times *times,
    const struct fulcrum_stage_track *thread,
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_correction *correction)
{
    double working = thread->outside_s; /* what costs CPU: waiting does not */
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        working += thread->stage_s[k];
    }
    double worked_s =
        isnan(thread->cpu_s) ? thread->cpu_s : fmin(thread->cpu_s, working);
    double cpu_per_s = working > 0.0 ? worked_s / working : 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        struct fulcrum_stage_time *kind = &times->kinds[k];
        kind->thread_s += thread->stage_s[k];
        kind->recording_s += correction->recording_s[k];
        /* A kind that a thread is never in needs nothing of its clock. */
        if (thread->stage_s[k] > 0.0) {
            kind->cpu_s += k < FULCRUM_STAGE_WORK_COUNT ? cpu_per_s * thread->stage_s[k]
                                                        : thread->cpu_s - worked_s;
        }
        kind->event_count += track->totals[k].event_count;
    }
    times->outside_s += thread->outside_s;
    times->recording_s += thread->recording_s;
    times->event_count += track->event_count;
    times->dropped_count += track->dropped_count;
    times->used_track_count += track->is_used ? 1 : 0;
    if (track->dropped_count > 0) {
        double last_s =
            track->event_count > 0 ? track->events[track->event_count - 1].end_s : 0.0;
        times->swept_s = fmin(times->swept_s, last_s);
    }
}

static enum fulcrum_status sweep_tracks(struct fulcrum_stage_times *times,
    const struct fulcrum_recorder *recorder, struct fulcrum_error *err)
{
    struct fulcrum_stage_overlap overlap;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_stage_lane *lanes = calloc(times->track_count + 1, sizeof *lanes);
    TRY_MEMORY(lanes, err, "%zu lanes", times->track_count);
    for (size_t i = 0; i < times->track_count; i++) {
        struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, i);
        TRY_OR_END(fulcrum_stage_lane_new(&lanes[i], &track, err));
    }
    TRY_OR_END(
        fulcrum_stage_sweep(&overlap, lanes, times->track_count, times->swept_s, err));
    /* Recording took the same share of a stage's wall time as of its threads' time. */
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        struct fulcrum_stage_time *kind = &times->kinds[k];
        double raw_s = kind->thread_s + kind->recording_s;
        double kept = raw_s > 0.0 ? kind->thread_s / raw_s : 1.0;
        kind->wall_s = kept * overlap.wall_s[k];
        kind->active_s = kept * overlap.active_s[k];
    }
    times->idle_s = overlap.idle_s;
end:
    for (size_t i = 0; i < times->track_count; i++) {
        fulcrum_stage_lane_free(&lanes[i]);
    }
    free(lanes);
    return status;
}

enum fulcrum_status fulcrum_stage_times_new(struct fulcrum_stage_times *out,
    const struct fulcrum_recorder *recorder, const struct fulcrum_stage_facts *facts,
    struct fulcrum_error *err)
{
    FAIL_IF(!(fulcrum_recorder_window_s(recorder) > 0.0), err, FULCRUM_ERR_RANGE,
        "the recording has no window: expected one that was started and stopped");
    FAIL_IF(facts->step_count < 0.0 || isinf(facts->step_count), err, FULCRUM_ERR_RANGE,
        "step_count = %g: expected 0 or more", facts->step_count);
    struct fulcrum_stage_times times = {.facts = *facts};
    times.window_s = times.swept_s = fulcrum_recorder_window_s(recorder);
    times.track_count = fulcrum_recorder_track_count(recorder);
    times.tracks = calloc(times.track_count, sizeof *times.tracks);
    TRY_MEMORY(times.tracks, err, "%zu tracks", times.track_count);
    for (size_t i = 0; i < times.track_count; i++) {
        struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, i);
        struct fulcrum_recorder_correction correction =
            fulcrum_recorder_correct(&track, &facts->cost);
        fill_track(&times.tracks[i], times.window_s, &track, &correction);
        add_track(&times, &times.tracks[i], &track, &correction);
    }
    double most_s = 0.0; /* that recording cost a processor */
    for (size_t i = 0; i < times.track_count; i++) {
        size_t group = fulcrum_recorder_read(recorder, i).processor_group;
        double sum_s = 0.0;
        for (size_t j = 0; j < times.track_count; j++) {
            bool is_same = fulcrum_recorder_read(recorder, j).processor_group == group;
            sum_s += is_same ? times.tracks[j].recording_s : 0.0;
        }
        most_s = fmax(most_s, sum_s);
    }
    times.corrected_window_s = times.window_s - most_s;
    enum fulcrum_status status = sweep_tracks(&times, recorder, err);
    if (status != FULCRUM_OK) {
        fulcrum_stage_times_free(&times);
        return status;
    }
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
        sum_s += times->kinds[k].wall_s;
    }
    return sum_s;
}

double fulcrum_stage_times_share(
    const struct fulcrum_stage_times *times, enum fulcrum_stage_kind kind)
{
    assert((size_t)kind < FULCRUM_STAGE_WORK_COUNT);
    return times->kinds[kind].wall_s / wall_sum_s(times);
}

double fulcrum_stage_times_idle_frac(const struct fulcrum_stage_times *times)
{
    return times->idle_s / wall_sum_s(times);
}
