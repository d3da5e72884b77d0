/* sweep_optima.h - where each metric is best along each axis, and how sure that is. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_SWEEP_OPTIMA_H
#define FULCRUM_CLI_SWEEP_OPTIMA_H

#include <stddef.h>

#include "model/sweep_best.h"
#include "presets/json.h"

/* Keeps the best at each value of each axis; the best of each draw is the plan's. */
struct fulcrum_sweep_optima;

/* NULL where memory ran out; the calls below accept NULL. */
struct fulcrum_sweep_optima *fulcrum_sweep_optima_new(
    const struct fulcrum_sweep_plan *plan);
void fulcrum_sweep_optima_free(struct fulcrum_sweep_optima *optima);

/* The next points. */
void fulcrum_sweep_optima_add(struct fulcrum_sweep_optima *optima,
    const struct fulcrum_sweep_point *points, size_t count);

/*
 * One sentence on a metric along an axis: where it is best, the 90 % interval of that,
 * and where it is within 5 % of its best; whether that is an optimum or a plateau.
 * Returns 0 where there is nothing to say: an axis of one value, no such metric.
 *   metric   below FULCRUM_SWEEP_METRICS
 *   axis     of the plan
 */
int fulcrum_sweep_optima_text(const struct fulcrum_sweep_optima *optima, size_t metric,
    size_t axis, char *out, size_t size);

/* Adds the same in numbers as a member "optima": an array with one object a metric. */
void fulcrum_sweep_optima_json(
    const struct fulcrum_sweep_optima *optima, struct fulcrum_json *parent);

#endif
