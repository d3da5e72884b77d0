/* sampler.h - draws of a calibration's parameters from their joint distribution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_SAMPLER_H
#define FULCRUM_MODEL_SAMPLER_H

#include <gsl/gsl_rng.h>

#include "model/calibration.h"

/* Prepared once per calibration; may be used by several threads at once. Opaque. */
struct fulcrum_sampler;

/*
 *   calibration  one that fulcrum_calibration_check accepts; borrowed
 *   out          the caller frees it with fulcrum_sampler_free
 *   fails        FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sampler_new(
    const struct fulcrum_calibration *calibration, struct fulcrum_sampler **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_sampler_free(struct fulcrum_sampler *sampler);

/*
 * One draw: of those that the calibration keeps, else jointly normal on each
 * parameter's own scale and held inside its field's range. values   parameter_count
 * numbers, in the calibration's order
 */
void fulcrum_sampler_draw(
    const struct fulcrum_sampler *sampler, gsl_rng *rng, double *values);

#endif
