/* fit_batch_time.c - the line t(b) = t0 + t1 b, and whether it may replace a table. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit_batch_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/fit_points.h"

/* BLAS libraries switch kernels with the size, which no line follows. */
static const double most_off_rel = 0.05;

static double line(const double *parameter, double x, const void *context)
{
    (void)context;
    return parameter[0] + parameter[1] * x;
}

static void advise(struct fulcrum_line_fit *out, const struct fulcrum_point_set *set)
{
    double worst = 0;
    double at = 0;
    for (size_t i = 0; i < set->count; i++) {
        double fitted = out->per_batch_s + out->per_item_s * set->x[i];
        double off = fabs(fitted - set->y[i]) / set->y[i];
        at = off > worst ? set->x[i] : at;
        worst = fmax(worst, off);
    }
    out->advice = worst > most_off_rel ? FULCRUM_ADVISE_TABLE : FULCRUM_ADVISE_FORM;
    (void)snprintf(out->reason, sizeof out->reason,
        "the line is at most %.3g %% off a median, at size %.6g (limit %.3g %%)",
        100 * worst, at, 100 * most_off_rel);
}

/* Through the points of least and greatest size: near enough, and never singular. */
static double first_slope(const struct fulcrum_point_set *set)
{
    size_t last = set->count - 1;
    double run = set->x[last] - set->x[0];
    return run > 0 ? (set->y[last] - set->y[0]) / run : 0;
}

enum fulcrum_status fulcrum_fit_batch_time(struct fulcrum_line_fit *out,
    const double *size, const double *time_s, size_t count, struct fulcrum_error *err)
{
    struct fulcrum_point_set set = {0};
    enum fulcrum_status status = fulcrum_point_set_new(
        &set, &(struct fulcrum_samples){"batch time", size, time_s, count}, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    double slope = first_slope(&set);
    struct fulcrum_fit_parameter parameter[] = {
        {.name = "per_batch_s",
            .high = (double)INFINITY,
            .start = set.y[0] - slope * set.x[0]},
        {.name = "per_item_s", .high = (double)INFINITY, .start = slope},
    };
    struct fulcrum_fit_problem problem = {.what = "batch time",
        .model = line,
        .parameter = parameter,
        .parameter_count = 2,
        .x = size,
        .y = time_s,
        .count = count};
    struct fulcrum_line_fit result = {0};
    status = fulcrum_fit(&result.fit, &problem, err);
    if (status == FULCRUM_OK) {
        result.per_batch_s = result.fit.parameter[0].value;
        result.per_item_s = result.fit.parameter[1].value;
        advise(&result, &set);
        *out = result;
    }
    fulcrum_point_set_free(&set);
    return status;
}
