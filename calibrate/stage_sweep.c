/* stage_sweep.c - which stages run at the same time on threads and devices. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line sweeps over time and stops where a lane enters or leaves a stage. The lanes
 * are kept in a heap by their next such edge, so that memory does not grow with events.
 */
#include "calibrate/stage_sweep.h"

#include <math.h>
#include <stdlib.h>

/* One lane on the way. */
struct cursor {
    const struct fulcrum_stage_swept *swept;
    size_t segment;
    int is_inside; /* of that segment: its end comes next */
};

struct sweep {
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
static size_t earliest(const struct sweep *sweep, size_t i)
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

static void sift_down(struct sweep *sweep, size_t i)
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
static int where(const struct sweep *sweep, size_t k)
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
static void advance(struct sweep *sweep, double to_s)
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
static void pass(struct sweep *sweep)
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
    struct sweep sweep = {.heap = calloc(count + 1, sizeof *sweep.heap)};
    if (sweep.heap == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu lanes", count);
    }
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
