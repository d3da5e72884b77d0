/* stage_lane.h - one thread's or device's time, cut so that it is in one stage at once.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_STAGE_LANE_H
#define FULCRUM_CALIBRATE_STAGE_LANE_H

#include <stddef.h>

#include "calibrate/recorder.h"
#include "model/stage_kind.h"
#include "model/status.h"

struct fulcrum_stage_segment {
    double begin_s;
    double end_s; /* > begin_s */
    enum fulcrum_stage_kind kind;
};

/* In the order of time, without overlap. */
struct fulcrum_stage_lane {
    struct fulcrum_stage_segment *segments; /* owned */
    size_t count;
};

/*
 * The events of a track on one resource. On a CPU the innermost stage has the time; on
 * a GPU spans run one after the other, and one that begins before the last has ended
 * counts from there.
 *   out      given back with fulcrum_stage_lane_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stage_lane_new(
    struct fulcrum_stage_lane *out, const struct fulcrum_recorder_track *track,
    enum fulcrum_stage_resource resource, struct fulcrum_error *err);

/* Leaves {0}, which it accepts. */
void fulcrum_stage_lane_free(struct fulcrum_stage_lane *lane);

#endif
