/* fit_loss.c - robust losses: weights, spread of residuals, variance of a fit. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit_loss.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

/* Tuning for 95 % efficiency under normal noise (Holland and Welsch 1977). */
static const double huber_k = 1.345;
static const double cauchy_c = 2.385;

/* Standard deviations per median absolute deviation of a normal law. */
static const double sd_per_mad = 1.482602218505602;

static const double rounding_floor = 1e-9;

double fulcrum_fit_loss_weight(enum fulcrum_fit_loss loss, double u)
{
    switch (loss) {
    case FULCRUM_FIT_HUBER:
        return fabs(u) <= huber_k ? 1 : huber_k / fabs(u);
    case FULCRUM_FIT_CAUCHY:
        return 1 / (1 + (u / cauchy_c) * (u / cauchy_c));
    case FULCRUM_FIT_SQUARES:
    default:
        return 1;
    }
}

/* Derivative of weight(u) * u. */
static double influence_slope(enum fulcrum_fit_loss loss, double u)
{
    double v = (u / cauchy_c) * (u / cauchy_c);
    switch (loss) {
    case FULCRUM_FIT_HUBER:
        return fabs(u) <= huber_k ? 1 : 0;
    case FULCRUM_FIT_CAUCHY:
        return (1 - v) / ((1 + v) * (1 + v));
    case FULCRUM_FIT_SQUARES:
    default:
        return 1;
    }
}

double fulcrum_fit_deviation(double *magnitude, size_t count, size_t parameter_count)
{
    assert(count > 0);
    size_t met = parameter_count > 0 ? parameter_count - 1 : 0;
    met = met < count ? met : count - 1;
    gsl_sort(magnitude, 1, count);
    double median = gsl_stats_median_from_sorted_data(magnitude + met, 1, count - met);
    return fmax(median * sd_per_mad, rounding_floor);
}

double fulcrum_fit_variance(enum fulcrum_fit_loss loss, const double *residual,
    size_t count, struct fulcrum_fit_spread spread)
{
    double n = (double)count;
    if (n - spread.parameter_count < 1) {
        return (double)NAN;
    }
    double influence2 = 0;
    double slope = 0;
    double slope2 = 0;
    for (size_t i = 0; i < count; i++) {
        double u = residual[i] / spread.deviation;
        double influence = fulcrum_fit_loss_weight(loss, u) * u;
        double d = influence_slope(loss, u);
        influence2 += influence * influence;
        slope += d;
        slope2 += d * d;
    }
    /* With most points beyond the knee the formula has no meaning: a tenth at least. */
    double mean = fmax(slope / n, 0.1);
    double spread_of_slope = fmax(slope2 / n - mean * mean, 0);
    double k = 1 + spread.parameter_count / n * spread_of_slope / (mean * mean);
    return k * k * spread.deviation * spread.deviation * influence2 /
           (n - spread.parameter_count) / (mean * mean);
}
