/* posterior_state.h - one evaluation of a posterior, shared by search and draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_POSTERIOR_STATE_H
#define FULCRUM_CALIBRATE_POSTERIOR_STATE_H

#include "calibrate/posterior.h"

/*
 * What the model says at z, distances from the centres in standard deviations.
 *   thread   whose context is used
 *   value    belief_count numbers, set: natural units
 *   out      datum_count numbers, set
 *   returns  0 where it cannot run
 */
int fulcrum_posterior_run(const struct fulcrum_posterior_problem *problem,
    size_t thread, const double *z, double *value, double *out);

/* Whether whoever watches wants an end. */
int fulcrum_posterior_is_stopped(const struct fulcrum_posterior_problem *problem);

/* Tells whoever watches. */
void fulcrum_posterior_tell(
    const struct fulcrum_posterior_problem *problem, double done_frac);

/* A parameter at z, natural units. */
double fulcrum_posterior_natural(const struct fulcrum_belief *belief, double z);

/* Half the sum of squares of (predicted - datum) / sd. */
double fulcrum_posterior_misfit(
    const struct fulcrum_posterior_problem *problem, const double *predicted);

/* Half the sum of squares of z. */
double fulcrum_posterior_penalty(
    const struct fulcrum_posterior_problem *problem, const double *z);

#endif
