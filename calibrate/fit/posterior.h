/* posterior.h - what data say of uncertain parameters: best values, draws, ranks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_POSTERIOR_H
#define FULCRUM_CALIBRATE_FIT_POSTERIOR_H

#include <stdint.h>

#include "model/design/calibration.h"

/* One parameter and what is believed of it before any data: normal on its scale. */
struct fulcrum_belief {
    char path[64]; /* a field of a design */
    enum fulcrum_scale scale;
    double value; /* the centre, natural units */
    double sd;    /* on the scale; > 0 */
};

/* One observed figure with normal error; sd = INFINITY leaves it out. */
struct fulcrum_datum {
    double value;
    double sd; /* > 0 */
};

/*
 * What the model says of every datum.
 *   context    of this thread: the problem's `contexts[thread]`
 *   parameter  natural units, in the order of the beliefs
 *   out        one figure per datum
 *   returns    0 where such parameters cannot run
 */
typedef int fulcrum_forward(void *context, const double *parameter, double *out);

struct fulcrum_posterior_problem {
    const struct fulcrum_belief *beliefs;
    size_t belief_count;
    const struct fulcrum_datum *data;
    size_t datum_count;
    fulcrum_forward *forward;
    void *const *contexts; /* one per thread */
    size_t thread_count;   /* >= 1 */
    /* Non-zero: end soon; asked by every thread, often. NULL: never. */
    bool (*stop)(void *watcher);
    /* Told now and then, by the calling thread alone. NULL: nobody is. */
    void (*progress)(void *watcher, double done_frac);
    void *watcher;
};

/*
 * The maximum a posteriori. Objective: half the sum of squares of (model - datum) / sd
 * and of (parameter - centre) / sd on its scale.
 */
struct fulcrum_posterior_mode {
    double *value;     /* natural units; all arrays share its allocation */
    double *z;         /* distances from the centres in prior standard deviations */
    double *predicted; /* of every datum */
    double misfit;     /* half the sum over the data */
    double penalty;    /* half the sum over the parameters */
    /* Of d(predicted / sd) / dz at the mode, decreasing: directions whose value is far
       below 1 are left to the prior. As many as there are parameters or data. */
    double *singular_value;
    size_t singular_count;
    /* Of z, belief_count squared, by the same slopes: (1 + slopes' slopes)^-1, which is
       exact where the model is linear. */
    double *covariance;
};

/* Draws of the prior or the posterior, all of equal weight. */
struct fulcrum_posterior_draws {
    size_t count;
    size_t belief_count;
    size_t datum_count;
    double *value;          /* count x belief_count, natural units */
    double *predicted;      /* count x datum_count; also of data that are left out */
    double effective_count; /* independent draws that would say as much of the parameter
                               that is known worst */
    bool is_partial;        /* stopped before there were as many as were wanted */
};

/*
 * Finds the mode by trust regions (GSL) from the centres and from a few places around
 * them, and polishes the best by Nelder and Mead's simplex, which kinks do not mislead.
 *   fails    FULCRUM_ERR_RANGE (no belief, an sd that is not above 0, a centre that its
 *            scale does not hold), FULCRUM_ERR_NO_FIT (the centres cannot run),
 *            FULCRUM_ERR_INTERRUPTED, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_posterior_mode_find(
    const struct fulcrum_posterior_problem *problem, uint64_t seed,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err);

void fulcrum_posterior_mode_clear(struct fulcrum_posterior_mode *mode);

/*
 * Draws the prior, less what cannot run.
 *   fails    FULCRUM_ERR_NO_FIT (hardly any draw can run), FULCRUM_ERR_INTERRUPTED,
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_posterior_draw_prior(
    const struct fulcrum_posterior_problem *problem, size_t count, uint64_t seed,
    struct fulcrum_posterior_draws *out, struct fulcrum_error *err);

/*
 * Draws the posterior by sequential Monte Carlo: ten draws of each of count / 10
 * particles. The same draws for the same seed, whatever the number of threads. Where it
 * is told to stop there are fewer draws of each particle, or none and a failure.
 *   fails    as fulcrum_posterior_draw_prior
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_posterior_draw(
    const struct fulcrum_posterior_problem *problem, size_t count, uint64_t seed,
    struct fulcrum_posterior_draws *out, struct fulcrum_error *err);

void fulcrum_posterior_draws_clear(struct fulcrum_posterior_draws *draws);

/* Mean, standard deviation and quantiles of one column of draws. */
struct fulcrum_posterior_summary {
    double mean;
    double sd;
    double low; /* 5 % */
    double median;
    double high; /* 95 % */
};

/*
 *   column   a parameter, natural units, or behind the parameters a datum's predictions
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_posterior_summarise(
    const struct fulcrum_posterior_draws *draws, size_t column,
    struct fulcrum_posterior_summary *out, struct fulcrum_error *err);

#endif
