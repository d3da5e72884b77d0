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

/* Watts at a utilisation in [0, 1]. */
double fulcrum_power_fit_w(const struct fulcrum_power_fit *fit, double busy_frac);

#endif
