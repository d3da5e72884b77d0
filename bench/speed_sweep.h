/* speed_sweep.h - a grid of predictions that is timed, without writing it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_SPEED_SWEEP_H
#define FULCRUM_BENCH_SPEED_SWEEP_H

#include <stddef.h>

#include "cli/command.h"
#include "model/status.h"

/* How the workload makes its batches. */
enum fulcrum_speed_batches {
    FULCRUM_SPEED_GREEDY,
    FULCRUM_SPEED_SHIPPED /* half of the actors in each */
};

/* r2d2-atari on one GPU of a dgx-1 over threads and actors; presets are read once. */
struct fulcrum_speed_sweep;

/*
 *   out      the caller frees it with fulcrum_speed_sweep_free
 *   fails    as the loaders of presets/preset.h; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_speed_sweep_new(
    struct fulcrum_speed_sweep **out, enum fulcrum_speed_batches batches,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_speed_sweep_free(struct fulcrum_speed_sweep *sweep);

/*
 * Predicts every point of the grid by the fast method.
 *   threads  that work on it; 0: all there are
 *   points   set to how many there are
 *   fails    as fulcrum_sweep_run; FULCRUM_ERR_INFEASIBLE (a point has no prediction)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_speed_sweep_run(
    const struct fulcrum_speed_sweep *sweep, size_t threads, double *points,
    struct fulcrum_error *err);

#endif
