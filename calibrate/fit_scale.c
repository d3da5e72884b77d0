/* fit_scale.c - parameters on the scale where they move freely, and back. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "calibrate/fit_state.h"

double fulcrum_fit_to_scale(enum fulcrum_scale scale, double value)
{
    switch (scale) {
    case FULCRUM_SCALE_LOG:
        return log(value);
    case FULCRUM_SCALE_LOGIT:
        return log(value / (1 - value));
    case FULCRUM_SCALE_LINEAR:
    default:
        return value;
    }
}

double fulcrum_fit_to_natural(enum fulcrum_scale scale, double q)
{
    switch (scale) {
    case FULCRUM_SCALE_LOG:
        return exp(q);
    case FULCRUM_SCALE_LOGIT:
        return 1 / (1 + exp(-q));
    case FULCRUM_SCALE_LINEAR:
    default:
        return q;
    }
}

double fulcrum_fit_natural_slope(enum fulcrum_scale scale, double value)
{
    switch (scale) {
    case FULCRUM_SCALE_LOG:
        return value;
    case FULCRUM_SCALE_LOGIT:
        return value * (1 - value);
    case FULCRUM_SCALE_LINEAR:
    default:
        return 1;
    }
}
