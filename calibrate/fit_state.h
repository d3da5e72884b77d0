/* fit_state.h - one fit under way, shared by its solver and its result. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_STATE_H
#define FULCRUM_CALIBRATE_FIT_STATE_H

#include <gsl/gsl_multifit_nlinear.h>
#include <stddef.h>

#include "calibrate/fit.h"

/* One fit under way. q: the parameters on their scales, fitted ones only. */
struct fulcrum_fit_state {
    const struct fulcrum_fit_problem *problem;
    double natural[FULCRUM_FIT_MAX_PARAMETERS]; /* every parameter */
    size_t index[FULCRUM_FIT_MAX_PARAMETERS];   /* of the fitted ones */
    size_t free_count;
    size_t loose_count; /* fitted ones without a prior */
    unsigned marks[FULCRUM_FIT_MAX_PARAMETERS];
    double *fitted; /* model at each point; these share one allocation */
    double *scale;  /* what its residual is divided by */
    double *weight; /* of robust reweighting */
    double *work;
    double noise;     /* relative; 1 without priors, where it has no effect */
    double deviation; /* robust standard deviation of the residuals */
    gsl_multifit_nlinear_workspace *solver;
};

/* From natural units to the scale, called q. */
double fulcrum_fit_to_scale(enum fulcrum_scale scale, double value);

/* And back. */
double fulcrum_fit_to_natural(enum fulcrum_scale scale, double q);

/* d natural / d q at a natural value, for the delta method. */
double fulcrum_fit_natural_slope(enum fulcrum_scale scale, double value);

/* Fitted parameters that have a prior. */
size_t fulcrum_fit_prior_count(const struct fulcrum_fit_problem *problem);

/*
 * Estimates, covariance, residuals and warnings of a solved fit, whose `fitted`,
 * `scale` and `weight` belong to its parameters.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_result_of(
    struct fulcrum_fit_result *out, const struct fulcrum_fit_state *fit,
    struct fulcrum_error *err);

#endif
