/* fit_points.h - samples sorted and reduced to one median per x. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_POINTS_H
#define FULCRUM_CALIBRATE_FIT_POINTS_H

#include <stddef.h>

#include "model/status.h"

struct fulcrum_samples {
    const char *what; /* for error details */
    const double *x;
    const double *y;
    size_t count;
};

/* x increasing, y the median of the samples at that x. */
struct fulcrum_point_set {
    double *x;
    double *y;
    size_t count;
};

/*
 *   out      the caller gives its arrays back with fulcrum_point_set_free
 *   fails    FULCRUM_ERR_RANGE (x not finite and >= 0, y not finite and > 0),
 *            FULCRUM_ERR_NO_FIT (no samples), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_point_set_new(
    struct fulcrum_point_set *out, const struct fulcrum_samples *samples,
    struct fulcrum_error *err);

/* Leaves an empty set. */
void fulcrum_point_set_free(struct fulcrum_point_set *set);

/* Linear between points, constant before the first and beyond the last. */
double fulcrum_point_set_at(const struct fulcrum_point_set *set, double x);

#endif
