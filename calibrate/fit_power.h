/* fit_power.h - watts over utilisation: idle + dynamic U^alpha. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_POWER_H
#define FULCRUM_CALIBRATE_FIT_POWER_H

#include <stddef.h>

#include "calibrate/fit.h"
#include "calibrate/fit_points.h"
#include "model/status.h"

enum fulcrum_power_form {
    FULCRUM_POWER_AUTO,   /* free alpha from five levels of utilisation on */
    FULCRUM_POWER_AFFINE, /* alpha = 1 */
    FULCRUM_POWER_LAW     /* alpha in [0.3, 3]; needs three levels */
};

struct fulcrum_power_fit {
    double idle_w;    /* >= 0 */
    double dynamic_w; /* >= 0: added at full utilisation */
    double alpha;
    struct fulcrum_fit_result fit; /* parameters in this order */
};

/*
 *   samples    x: utilisation in [0, 1], y: watts
 *   out        set on success only
 *   fails      as fulcrum_fit; FULCRUM_ERR_RANGE also for a utilisation above 1
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_power(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, enum fulcrum_power_form form,
    struct fulcrum_error *err);

/* What is known beside the samples; zero: nothing. */
struct fulcrum_power_options {
    enum fulcrum_power_form form;
    double least_idle_w; /* >= 0: idle_w is held there at least, as where a known idle
                            draw has a floor of unknown watts on top */
    double alpha;        /* median of a prior, in [0.3, 3]; then alpha is free and
                            FULCRUM_POWER_AUTO needs two levels */
    double alpha_factor; /* > 1: x or / this is one standard deviation */
    double noise_rel;    /* least standard deviation of a sample; > 0 with a prior */
};

/* As fulcrum_fit_power; FULCRUM_ERR_RANGE also for options outside their range. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_power_with(
    struct fulcrum_power_fit *out, const struct fulcrum_samples *samples,
    const struct fulcrum_power_options *options, struct fulcrum_error *err);

/* Watts at a utilisation in [0, 1]. */
double fulcrum_power_fit_w(const struct fulcrum_power_fit *fit, double busy_frac);

/*
 * Standard error of those watts that follows from the covariance of the parameters;
 * NaN where the fit has none.
 */
double fulcrum_power_fit_error_w(const struct fulcrum_power_fit *fit, double busy_frac);

#endif
