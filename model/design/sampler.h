/* sampler.h - draws of a calibration's parameters from their joint distribution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_SAMPLER_H
#define FULCRUM_MODEL_DESIGN_SAMPLER_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>

#include "model/design/calibration.h"

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

/*
 * The same from given values of z instead of chance: standard normal ones give draws of
 * the same law. Parameters that no covariance ties together have values of z of their
 * own. z    parameter_count numbers, and one more that chooses among the draws that the
 * calibration keeps. NAN: at the calibration's value; where others of its block are not
 * NAN, as 0.
 */
void fulcrum_sampler_place(
    const struct fulcrum_sampler *sampler, const double *z, double *values);

/*
 * Which parameters depend on each other: those of one number. Numbers are those of the
 * first parameter of each block; parameters that the calibration keeps draws of are not
 * looked at, and have the number parameter_count.
 *   out      parameter_count numbers
 */
void fulcrum_sampler_blocks(const struct fulcrum_calibration *calibration, size_t *out);

/* 1 where the calibration keeps draws of parameter `i`. */
bool fulcrum_sampler_keeps(const struct fulcrum_calibration *calibration, size_t i);

/* A parameter's value at so many standard deviations, by its own law alone. */
double fulcrum_sampler_marginal(const struct fulcrum_parameter *parameter, double z);

#endif
