/* number.c - the 90 % interval of a quantity, from its draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/number.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>

#define LOW_QUANTILE  0.05
#define HIGH_QUANTILE 0.95

static const struct fulcrum_interval unknown = {
    FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};

/* False where there are too few, or one is not known. */
static bool sort(double *draws, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(draws[i])) {
            return false;
        }
    }
    if (count > 1) {
        gsl_sort(draws, 1, count);
    }
    return count > 1;
}

struct fulcrum_interval fulcrum_interval_of(double *draws, size_t count)
{
    if (!sort(draws, count)) {
        return unknown;
    }
    double lo = gsl_stats_quantile_from_sorted_data(draws, 1, count, LOW_QUANTILE);
    double hi = gsl_stats_quantile_from_sorted_data(draws, 1, count, HIGH_QUANTILE);
    /* Equal values may come out a rounding error apart. */
    return (struct fulcrum_interval){
        lo, fmax(lo, hi), gsl_stats_median_from_sorted_data(draws, 1, count)};
}

struct fulcrum_interval fulcrum_interval_among(double *draws, size_t count)
{
    if (!sort(draws, count)) {
        return unknown;
    }
    double last = (double)(count - 1);
    return (struct fulcrum_interval){draws[(size_t)floor(LOW_QUANTILE * last)],
        draws[(size_t)ceil(HIGH_QUANTILE * last)], draws[(count - 1) / 2]};
}
