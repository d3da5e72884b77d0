/* sweep_best.h - where a sweep is best: along each axis, and in each draw. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_SWEEP_BEST_H
#define FULCRUM_MODEL_SWEEP_BEST_H

#include "model/interval.h"
#include "model/sweep.h"

/* A metric within this share of its best counts as its plateau. */
#define FULCRUM_PLATEAU_FRAC 0.95

/* The outputs of which more is better. */
enum { FULCRUM_SWEEP_METRICS = 3 };
enum fulcrum_predicted fulcrum_sweep_metric(size_t metric);

/*
 * The best point of each draw, in memory that grows with the draws and not with the
 * points. A sweep whose plan has one fills it. Opaque.
 */
struct fulcrum_sweep_best;

/*
 *   plan     borrowed, as long as the result is used; its draws are not 0
 *   out      the caller frees it with fulcrum_sweep_best_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_best_new(
    const struct fulcrum_sweep_plan *plan, struct fulcrum_sweep_best **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_sweep_best_free(struct fulcrum_sweep_best *best);

/* The draws of one point, as fulcrum_predictor_draws gives them, in any order. */
void fulcrum_sweep_best_add(struct fulcrum_sweep_best *best, size_t index,
    const double *draws, size_t draw_count);

/* Adds what `other`, of the same plan, has seen. */
void fulcrum_sweep_best_merge(
    struct fulcrum_sweep_best *best, const struct fulcrum_sweep_best *other);

/* One metric over the draws. */
struct fulcrum_best_spread {
    size_t draw_count;             /* that ran at some point; below 2 all is NAN */
    struct fulcrum_interval value; /* of the metric at the best point */
    struct fulcrum_interval ratio; /* of cpu_gpu_ratio_used there */
};

/*
 * The 90 % interval of the best point. Ends are values that the sweep has, outward: at
 * least 90 % of the draws lie within.
 */
struct fulcrum_best_spread fulcrum_sweep_best_spread(
    const struct fulcrum_sweep_best *best, size_t metric);

/*
 * The same of one field that varies. All but the first is NAN where draws times values
 * are more than 32 MB hold, so that memory is bounded.
 */
struct fulcrum_best_along {
    struct fulcrum_interval at;            /* of its value at the best point */
    struct fulcrum_interval plateau_first; /* of the first value on the plateau */
    struct fulcrum_interval plateau_last;  /* of the last one */
    double first_near_frac; /* draws whose plateau has the first value that can run */
    double last_near_frac;
};
struct fulcrum_best_along fulcrum_sweep_best_along(
    const struct fulcrum_sweep_best *best, size_t metric, size_t axis);

/*
 * The best estimate at each value of each axis, over all others. Axes of more than
 * FULCRUM_PROFILE_MOST values are left out, so that memory is bounded. Opaque.
 */
struct fulcrum_sweep_profile;
enum { FULCRUM_PROFILE_MOST = 65536 };

/* As fulcrum_sweep_best_new. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_profile_new(
    const struct fulcrum_sweep_plan *plan, struct fulcrum_sweep_profile **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_sweep_profile_free(struct fulcrum_sweep_profile *profile);

/* A point that can run. */
void fulcrum_sweep_profile_add(
    struct fulcrum_sweep_profile *profile, const struct fulcrum_sweep_point *point);

/* Where a metric is within FULCRUM_PLATEAU_FRAC of its best along an axis. */
struct fulcrum_plateau {
    size_t best; /* places among the axis' values */
    size_t first;
    size_t last;
    size_t first_run; /* the first and the last value at which anything can run */
    size_t last_run;
    size_t count; /* of values on it; fewer than last - first + 1 where it has gaps */
    double best_ratio; /* cpu_gpu_ratio_used of the best */
    double least_ratio;
    double most_ratio;
};

/* Returns 0, and leaves `out` alone, where no point has the metric or the axis is long.
 */
int fulcrum_sweep_profile_plateau(const struct fulcrum_sweep_profile *profile,
    size_t metric, size_t axis, struct fulcrum_plateau *out);

/* cpu_gpu_ratio_used of the best point at a value of an axis that has a plateau. */
double fulcrum_sweep_profile_ratio(const struct fulcrum_sweep_profile *profile,
    size_t metric, size_t axis, size_t place);

#endif
