/* reference_fit.h - parameters of the network model, fitted to references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_REFERENCE_FIT_H
#define FULCRUM_CALIBRATE_REFERENCE_REFERENCE_FIT_H

#include "calibrate/fit/posterior.h"
#include "calibrate/reference/throughput.h"

/* Told at each stage: the share of the work that is done, and what is done next. */
typedef void fulcrum_fit_progress(void *context, double done_frac, const char *stage);

/* What is fitted to what. All borrowed. */
struct fulcrum_reference_fit_plan {
    /* References, and the calibrations whose values and errors are the priors; settings
     * are held fast, whatever the priors say. Paths: what is fitted; count 0: every
     * parameter with an error. */
    struct fulcrum_throughput_plan model;
    bool selects;     /* of them those alone that the figures tell something of */
    const double *sd; /* of each figure, in order; count 0: by the rule below */
    size_t sd_count;
    const double *held_out; /* figures, from 1, that are predicted and not fitted */
    size_t held_out_count;
    double noise_rel;  /* sd^2 = half_width^2 / 3 + (noise_rel value)^2 */
    size_t draw_count; /* of the posterior; 0: the mode alone */
    size_t prior_draw_count;
    size_t held_out_draw_count; /* for each figure left out in turn; 0: none is */
    uint64_t seed;
    fulcrum_fit_progress *progress; /* gets the model's watcher; NULL: nobody is told */
    /* For the notes of a calibration: */
    const char *const *names;  /* NAME or NAME:SERIES of each reference */
    const char *fit_arguments; /* how the fit can be made again */
};

/* A parameter with more of its prior's standard deviation left was not identified. */
#define FULCRUM_FIT_IDENTIFIED_FRAC 0.75

struct fulcrum_fitted_parameter {
    struct fulcrum_belief prior;
    double mode;
    double z; /* of the mode, in prior standard deviations */
    struct fulcrum_posterior_summary posterior; /* NAN without draws */
    double sd; /* of the posterior, on the scale: of the draws, or where there are none
                  by slopes at the mode */
    double sd_frac; /* over that of the prior: 1 where the data say nothing */
};

/* Means over draws are NAN where none were wanted. */
struct fulcrum_fitted_figure {
    struct fulcrum_figure figure;
    double sd;                              /* that it was given */
    struct fulcrum_posterior_summary prior; /* predicted before any fit */
    double mode;      /* predicted by the best parameters, fast method, corrected */
    double simulated; /* by simulations there, the mean of three seeds */
    struct fulcrum_posterior_summary posterior;
    struct fulcrum_posterior_summary held_out; /* predicted from all other figures */
};

/* A parameter that was to be selected and was not. */
struct fulcrum_held_parameter {
    char path[64];
    double sd_frac; /* by slopes at the mode of all of them */
};

struct fulcrum_reference_fit {
    size_t parameter_count;
    struct fulcrum_fitted_parameter *parameters;
    size_t held_count; /* 0 unless the plan selects */
    struct fulcrum_held_parameter *held;
    size_t figure_count;
    struct fulcrum_fitted_figure *figures;
    /* The best parameters; the covariance is on their scales, and of the draws where
     * there are any. */
    struct fulcrum_posterior_mode mode;
    size_t draw_count;
    double effective_count;
    size_t kept_count; /* of the draws, evenly taken: what a calibration carries */
    double *kept;      /* kept_count rows of parameter_count values */
    /* Told to stop in this stage, after the best parameters: draws or figures left out
       in turn are missing, and summaries are NAN where there is none. "": not told. */
    char stopped_in[48];
};

/*
 * Prior predictive, maximum a posteriori, posterior and figures left out in turn. The
 * fast method is corrected by simulations at the best parameters before the last search
 * and all draws.
 *   fails    as fulcrum_throughput_new and fulcrum_posterior_mode_find;
 *            FULCRUM_ERR_MISSING (nothing observed, nothing to fit),
 *            FULCRUM_ERR_UNKNOWN_NAME (a free path without a prior),
 *            FULCRUM_ERR_RANGE (not one sd per figure, a held-out figure that is not
 *            there), FULCRUM_ERR_NO_FIT (nothing to select),
 *            FULCRUM_ERR_INTERRUPTED (before the best parameters were found)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_fit_run(
    const struct fulcrum_reference_fit_plan *plan, struct fulcrum_reference_fit *out,
    struct fulcrum_error *err);

void fulcrum_reference_fit_clear(struct fulcrum_reference_fit *fit);

/*
 * Makes the calibration, the last of the plan's, one of the fit: fitted values, their
 * errors and covariances in place of its priors, and notes on how good the fit is, what
 * it and the fits of its priors have seen and how to make it again. What was not fitted
 * stays. It is marked incomplete where the fit was stopped before there were all draws.
 *   fails    FULCRUM_ERR_RANGE (the notes do not fit), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_fit_apply(
    const struct fulcrum_reference_fit *fit,
    const struct fulcrum_reference_fit_plan *plan,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err);

#endif
