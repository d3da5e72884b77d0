/* fit_points.c - samples sorted and reduced to one median per x. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit_points.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

static enum fulcrum_status check(
    const struct fulcrum_samples *samples, struct fulcrum_error *err)
{
    if (samples->count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_FIT, "%s: no points", samples->what);
    }
    for (size_t i = 0; i < samples->count; i++) {
        double x = samples->x[i];
        double y = samples->y[i];
        if (!isfinite(x) || x < 0) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%s: x = %.6g of point %zu is not a finite number >= 0", samples->what,
                x, i + 1);
        }
        if (!isfinite(y) || y <= 0) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%s: y = %.6g of point %zu is not a finite number > 0", samples->what,
                y, i + 1);
        }
    }
    return FULCRUM_OK;
}

/* Overwrites x and y, sorted by x, with one point per x. */
static void reduce(struct fulcrum_point_set *set, size_t sample_count)
{
    size_t first = 0;
    while (first < sample_count) {
        size_t end = first + 1;
        while (end < sample_count && !(set->x[end] > set->x[first])) {
            end++;
        }
        gsl_sort(set->y + first, 1, end - first);
        double median =
            gsl_stats_median_from_sorted_data(set->y + first, 1, end - first);
        set->x[set->count] = set->x[first];
        set->y[set->count] = median;
        set->count++;
        first = end;
    }
}

enum fulcrum_status fulcrum_point_set_new(struct fulcrum_point_set *out,
    const struct fulcrum_samples *samples, struct fulcrum_error *err)
{
    TRY(check(samples, err));
    struct fulcrum_point_set set = {.x = calloc(samples->count, sizeof *set.x),
        .y = calloc(samples->count, sizeof *set.y)};
    if (set.x == NULL || set.y == NULL) {
        fulcrum_point_set_free(&set);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", samples->what);
    }
    memcpy(set.x, samples->x, samples->count * sizeof *set.x);
    memcpy(set.y, samples->y, samples->count * sizeof *set.y);
    gsl_sort2(set.x, 1, set.y, 1, samples->count);
    reduce(&set, samples->count);
    *out = set;
    return FULCRUM_OK;
}

void fulcrum_point_set_free(struct fulcrum_point_set *set)
{
    free(set->x);
    free(set->y);
    *set = (struct fulcrum_point_set){0};
}

double fulcrum_point_set_at(const struct fulcrum_point_set *set, double x)
{
    assert(set->count > 0);
    size_t i = 0;
    while (i < set->count && set->x[i] < x) {
        i++;
    }
    if (i == 0) {
        return set->y[0];
    }
    if (i == set->count) {
        return set->y[set->count - 1];
    }
    double share = (x - set->x[i - 1]) / (set->x[i] - set->x[i - 1]);
    return set->y[i - 1] + share * (set->y[i] - set->y[i - 1]);
}
