/* pareto.h - of a stream of points those that no other beats in every metric. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STUDY_PARETO_H
#define FULCRUM_MODEL_STUDY_PARETO_H

#include <stddef.h>

#include "model/status.h"

/* What is better of a metric. */
enum fulcrum_sense { FULCRUM_SENSE_NONE, FULCRUM_SENSE_MORE, FULCRUM_SENSE_LESS };

enum {
    FULCRUM_PARETO_METRICS_MOST = 3,
    FULCRUM_PARETO_POINTS_MOST = 1048576 /* on the front; about 200 MB */
};

struct fulcrum_pareto_point {
    double value[FULCRUM_PARETO_METRICS_MOST]; /* as given; 0 beyond the metrics */
    size_t index;
};

/*
 * The front of the points seen so far. A point is beaten by another that is as good in
 * every metric and better in one; points that are equal in all of them stay together.
 * Memory grows with the front and not with the points. Opaque.
 */
struct fulcrum_pareto;

/*
 *   senses   one per metric, none of them FULCRUM_SENSE_NONE
 *   out      the caller frees it with fulcrum_pareto_free
 *   fails    FULCRUM_ERR_RANGE (metric_count is not 2 or 3), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_pareto_new(
    const enum fulcrum_sense *senses, size_t metric_count, struct fulcrum_pareto **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_pareto_free(struct fulcrum_pareto *pareto);

/*
 * The next point. One of which a metric is not finite is left out, and counted.
 *   values   one per metric
 *   fails    FULCRUM_ERR_RANGE (more than FULCRUM_PARETO_POINTS_MOST are on the front:
 *            the front is refused and never thinned), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_pareto_add(struct fulcrum_pareto *pareto,
    size_t index, const double *values, struct fulcrum_error *err);

/*
 * The front, by index. The same whatever the order in which its points came.
 *   out      borrowed: valid until the next call
 *   fails    as fulcrum_pareto_add
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_pareto_front(
    struct fulcrum_pareto *pareto, const struct fulcrum_pareto_point **out,
    size_t *count, struct fulcrum_error *err);

/* Points that were left out because a metric was not finite. */
size_t fulcrum_pareto_left_out(const struct fulcrum_pareto *pareto);

#endif
