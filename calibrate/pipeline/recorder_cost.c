/* recorder_cost.c - what recording costs, and its traces. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "calibrate/pipeline/recorder.h"
#include "calibrate/pipeline/stage_times.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/quantity.h"
#include "model/stage_kind.h"
#include "model/status.h"
#include "model/try.h"

/* What recording costs, and totals without it. */

/* Blocks short enough that most of them run undisturbed. */
enum { BLOCKS = 61, BLOCK_EVENTS = 500 };

/* Of each block, per event. */
struct blocks {
    double pair_s[BLOCKS];
    double pair_inside_s[BLOCKS];
    double chained_s[BLOCKS];
};

static double exclusive_s(
    const struct fulcrum_recorder *recorder, enum fulcrum_stage_kind kind)
{
    return fulcrum_recorder_read(recorder, 0)
        .totals[FULCRUM_STAGE_CPU][kind]
        .exclusive_s;
}

static void run_block(
    struct fulcrum_recorder *recorder, struct blocks *blocks, size_t i)
{
    double before_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION);
    double begin_s = fulcrum_wall_s();
    for (size_t k = 0; k < BLOCK_EVENTS; k++) {
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
        fulcrum_recorder_end(recorder, 0);
    }
    blocks->pair_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
    double inside_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION) - before_s;
    blocks->pair_inside_s[i] = inside_s / BLOCK_EVENTS;
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_HANDOFF);
    begin_s = fulcrum_wall_s();
    for (size_t k = 0; k < BLOCK_EVENTS; k++) {
        fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
    }
    blocks->chained_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
    fulcrum_recorder_end(recorder, 0);
}

static double median(double *values, size_t count)
{
    gsl_sort(values, 1, count);
    return fulcrum_statistics_quantile(values, count, 0.5);
}

enum fulcrum_status fulcrum_recorder_cost_measure(
    struct fulcrum_recorder_cost *out, struct fulcrum_error *err)
{
    /* Every event finds room: the way of those that find none is shorter. */
    const struct fulcrum_recorder_options options = {
        .track_count = 1, .event_capacity = (size_t)BLOCKS * (2 * BLOCK_EVENTS + 1)};
    struct fulcrum_recorder *recorder = NULL;
    TRY(fulcrum_recorder_new(&recorder, &options, err));
    struct blocks blocks;
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < BLOCKS; i++) {
        run_block(recorder, &blocks, i);
    }
    fulcrum_recorder_free(recorder);
    out->pair_inside_s = median(blocks.pair_inside_s, BLOCKS);
    out->pair_outside_s = fmax(0.0, median(blocks.pair_s, BLOCKS) - out->pair_inside_s);
    out->chained_s = median(blocks.chained_s, BLOCKS);
    return FULCRUM_OK;
}

struct fulcrum_recorder_correction fulcrum_recorder_correct(
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_cost *cost)
{
    struct fulcrum_recorder_correction correction = {.total_s = 0.0};
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        const struct fulcrum_recorder_total *total =
            &track->totals[FULCRUM_STAGE_CPU][k];
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
    out->median_frac = median(cost_frac, count);
    free(cost_frac);
    return FULCRUM_OK;
}

/* A recording as a trace file. */

struct spans {
    struct fulcrum_trace_span *items; /* owned */
};

/* Two for each track: its thread's, then its device's. */
struct lanes {
    size_t track_count;
    struct fulcrum_recorder_track *tracks; /* owned, as is all below */
    struct spans *spans;
    struct fulcrum_trace_lane *lanes; /* those with a place in the trace */
    size_t count;
};

static void lanes_free(struct lanes *lanes)
{
    for (size_t i = 0; lanes->spans != NULL && i < 2 * lanes->track_count; i++) {
        free(lanes->spans[i].items);
    }
    free(lanes->spans);
    free(lanes->tracks);
    free(lanes->lanes);
}

static enum fulcrum_status lanes_new(struct lanes *out,
    const struct fulcrum_recorder *recorder, struct fulcrum_error *err)
{
    size_t count = fulcrum_recorder_track_count(recorder);
    struct lanes lanes = {.track_count = count,
        .tracks = calloc(count + 1, sizeof *lanes.tracks),
        .spans = calloc(2 * count + 1, sizeof *lanes.spans),
        .lanes = calloc(2 * count + 1, sizeof *lanes.lanes)};
    if (lanes.tracks == NULL || lanes.spans == NULL || lanes.lanes == NULL) {
        lanes_free(&lanes);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a trace of %zu tracks", count);
    }
    for (size_t i = 0; i < count; i++) {
        lanes.tracks[i] = fulcrum_recorder_read(recorder, i);
    }
    *out = lanes;
    return FULCRUM_OK;
}

/* By begin; of two that begin together the longer one is the outer one. */
static int compare(const void *left, const void *right)
{
    const struct fulcrum_trace_span *a = left;
    const struct fulcrum_trace_span *b = right;
    if (a->begin_s < b->begin_s || a->begin_s > b->begin_s) {
        return a->begin_s < b->begin_s ? -1 : 1;
    }
    return (a->end_s < b->end_s) - (a->end_s > b->end_s);
}

/* Stages as they were recorded, within each other. */
static size_t thread_spans(
    struct fulcrum_trace_span *out, const struct fulcrum_recorder_track *track)
{
    size_t count = 0;
    for (size_t i = 0; i < track->event_count; i++) {
        const struct fulcrum_recorder_event *event = &track->events[i];
        if (event->resource == FULCRUM_STAGE_CPU) {
            out[count++] = (struct fulcrum_trace_span){event->begin_s, event->end_s,
                fulcrum_stage_kind_name((enum fulcrum_stage_kind)event->kind)};
        }
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

/* One after the other: viewers show no spans that overlap without nesting. */
static enum fulcrum_status device_spans(struct fulcrum_trace_span *out, size_t *count,
    const struct fulcrum_recorder_track *track, struct fulcrum_error *err)
{
    struct fulcrum_stage_lane lane = {.count = 0};
    enum fulcrum_status status =
        fulcrum_stage_lane_new(&lane, track, FULCRUM_STAGE_GPU, err);
    for (size_t i = 0; i < lane.count; i++) {
        const struct fulcrum_stage_segment *segment = &lane.segments[i];
        out[i] = (struct fulcrum_trace_span){
            segment->begin_s, segment->end_s, fulcrum_stage_kind_name(segment->kind)};
    }
    *count = lane.count;
    fulcrum_stage_lane_free(&lane);
    return status;
}

/* The `i`-th of all; one of a device without spans has no place. */
static enum fulcrum_status fill(
    struct lanes *lanes, size_t i, struct fulcrum_error *err)
{
    const struct fulcrum_recorder_track *track = &lanes->tracks[i % lanes->track_count];
    struct fulcrum_trace_span *spans = calloc(track->event_count + 1, sizeof *spans);
    lanes->spans[i].items = spans;
    TRY_MEMORY(spans, err, "a trace of %zu events", track->event_count);
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    bool is_device = i >= lanes->track_count;
    if (is_device) {
        status = device_spans(spans, &count, track, err);
    } else {
        count = thread_spans(spans, track);
    }
    if (is_device ? count > 0 : track->is_used) {
        lanes->lanes[lanes->count++] = (struct fulcrum_trace_lane){.name = track->name,
            .process = is_device ? FULCRUM_STAGE_GPU : FULCRUM_STAGE_CPU,
            .spans = spans,
            .count = count};
    }
    return status;
}

enum fulcrum_status fulcrum_recorder_save_trace(const struct fulcrum_recorder *recorder,
    const char *path, size_t span_max, struct fulcrum_trace_saved *saved,
    struct fulcrum_error *err)
{
    static const char *const processes[] = {"CPU threads", "GPU"};
    struct lanes lanes = {.count = 0};
    enum fulcrum_status status = lanes_new(&lanes, recorder, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    for (size_t i = 0; i < 2 * lanes.track_count && status == FULCRUM_OK; i++) {
        status = fill(&lanes, i, err);
    }
    if (status == FULCRUM_OK) {
        const struct fulcrum_trace trace = {.processes = processes,
            .process_count = lanes.count > lanes.track_count ? 2 : 1,
            .lanes = lanes.lanes,
            .lane_count = lanes.count,
            .span_max = span_max};
        status = fulcrum_trace_save(path, &trace, saved, err);
    }
    lanes_free(&lanes);
    return status;
}
