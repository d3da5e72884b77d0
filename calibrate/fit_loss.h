/* fit_loss.h - robust losses: weights, spread of residuals, variance of a fit. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_LOSS_H
#define FULCRUM_CALIBRATE_FIT_LOSS_H

#include <stddef.h>

#include "calibrate/fit.h"

struct fulcrum_fit_spread {
    double deviation;       /* robust standard deviation of the residuals, > 0 */
    double parameter_count; /* that were fitted */
};

/* Weight in (0, 1] of a residual of `u` standard deviations. */
double fulcrum_fit_loss_weight(enum fulcrum_fit_loss loss, double u);

/*
 * Standard deviation of normal noise from the median of |residual|. The smallest
 * parameter_count - 1 are left out, since so many points a fit can always meet.
 * Never below 1e-9: rounding of an exact fit is no noise.
 *   magnitude   |residual|, `count` > 0 of them; sorted in place
 */
double fulcrum_fit_deviation(double *magnitude, size_t count, size_t parameter_count);

/*
 * Huber's variance of one point for the covariance of a robust estimate (Huber 1981,
 * section 7.6, first form); NaN without a degree of freedom.
 */
double fulcrum_fit_variance(enum fulcrum_fit_loss loss, const double *residual,
    size_t count, struct fulcrum_fit_spread spread);

#endif
