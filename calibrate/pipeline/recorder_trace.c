/* recorder_trace.c - a recording as a trace file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/recorder.h"

#include <stdbool.h>
#include <stdlib.h>

#include "calibrate/pipeline/stage_times.h"
#include "model/stage_kind.h"
#include "model/try.h"

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
