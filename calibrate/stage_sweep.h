/* stage_sweep.h - which stages run at the same time on threads and devices. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_STAGE_SWEEP_H
#define FULCRUM_CALIBRATE_STAGE_SWEEP_H

#include <stddef.h>

#include "calibrate/stage_lane.h"
#include "model/stage_kind.h"
#include "model/status.h"

/*
 * Wall time by stage and by what was in it. A moment at which several stages are
 * active, on whatever threads and devices, counts for each of them in active_s, and is
 * divided equally among them in wall_s, so that wall_s and idle_s add up to the time
 * swept. Waiting is no stage here: a moment at which all wait is idle.
 */
struct fulcrum_stage_overlap {
    double wall_s[FULCRUM_STAGE_WORK_COUNT][FULCRUM_STAGE_WHERE_COUNT];
    double active_s[FULCRUM_STAGE_WORK_COUNT][FULCRUM_STAGE_WHERE_COUNT];
    double idle_s;
    double gpu_busy_s; /* some GPU lane is in some stage */
};

/* A lane, and what it belongs to. */
struct fulcrum_stage_swept {
    struct fulcrum_stage_lane lane;
    enum fulcrum_stage_resource resource;
};

/*
 * Sweeps over the edges of all lanes from 0 to `end_s`.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stage_sweep(
    struct fulcrum_stage_overlap *out, const struct fulcrum_stage_swept *lanes,
    size_t count, double end_s, struct fulcrum_error *err);

#endif
