/* interval.c - the 90 % interval of a quantity, from its draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/interval.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "model/quantity.h"

#define LOW_QUANTILE  0.05
#define HIGH_QUANTILE 0.95

struct fulcrum_interval fulcrum_interval_of(double *draws, size_t count)
{
    int known = count > 1;
    for (size_t i = 0; known && i < count; i++) {
        known = !isnan(draws[i]);
    }
    if (!known) {
        return (struct fulcrum_interval){FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    }
    gsl_sort(draws, 1, count);
    double lo = gsl_stats_quantile_from_sorted_data(draws, 1, count, LOW_QUANTILE);
    double hi = gsl_stats_quantile_from_sorted_data(draws, 1, count, HIGH_QUANTILE);
    /* Equal values may come out a rounding error apart. */
    return (struct fulcrum_interval){lo, fmax(lo, hi)};
}
