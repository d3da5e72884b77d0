/* stage_lane.c - one thread's or device's time, cut so that it is in one stage at once.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/stage_lane.h"

#include <math.h>
#include <stdlib.h>

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

static void nest(struct cutter *cutter, struct fulcrum_stage_segment stage)
{
    close_until(cutter, stage.begin_s);
    cut(cutter, stage.begin_s);
    if (cutter->open_count > 0) {
        double outer_end_s = cutter->open[cutter->open_count - 1].end_s;
        stage.end_s = fmin(stage.end_s, outer_end_s);
    }
    if (cutter->open_count < OPEN_MAX) {
        cutter->open[cutter->open_count++] = stage;
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
            nest(&cutter, stages[i]);
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
