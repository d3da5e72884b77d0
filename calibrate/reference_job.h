/* reference_job.h - a fit to references under way. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_JOB_H
#define FULCRUM_CALIBRATE_REFERENCE_JOB_H

#include "calibrate/reference_fit.h"

/* In their order. */
enum fulcrum_reference_stage {
    FULCRUM_STAGE_PRIOR,
    FULCRUM_STAGE_SELECT,
    FULCRUM_STAGE_MODE,
    FULCRUM_STAGE_JUDGE,
    FULCRUM_STAGE_DRAWS,
    FULCRUM_STAGE_LEFT_OUT,
    FULCRUM_STAGE_COUNT
};

/* What one fit works with. `problem` points into the rest: it stays where it is. */
struct fulcrum_reference_job {
    const struct fulcrum_reference_fit_plan *plan;
    struct fulcrum_reference_fit *fit;
    struct fulcrum_throughput *model;
    struct fulcrum_belief *beliefs;
    const char **paths;
    struct fulcrum_datum *data;
    struct fulcrum_posterior_problem problem;
    struct fulcrum_posterior_mode mode;
    double work[FULCRUM_STAGE_COUNT]; /* of each stage, in solutions of the model */
    enum fulcrum_reference_stage stage;
    double part_begin; /* of the stage, what is under way */
    double part_end;
};

/*
 * Lists parameters and figures, and makes the model of them.
 *   out      the caller clears it, after a failure too
 *   plan     borrowed, like `fit`, which gets the figures
 *   fails    as fulcrum_reference_fit_run
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_job_begin(
    struct fulcrum_reference_job *out, const struct fulcrum_reference_fit_plan *plan,
    struct fulcrum_reference_fit *fit, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_reference_job_clear(struct fulcrum_reference_job *job);

/*
 * Keeps those parameters alone whose `keeps` is not 0: the others stay at the centres
 * of their priors. Corrections of the model start anew.
 *   fails    as fulcrum_throughput_new
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_job_keep(
    struct fulcrum_reference_job *job, const int *keeps, struct fulcrum_error *err);

/*
 * Corrects the fast method by simulations at these parameters.
 *   fails    as fulcrum_throughput_correct
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_job_correct(
    struct fulcrum_reference_job *job, const double *value, uint64_t seed,
    struct fulcrum_error *err);

/* The same at the centres of the priors. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_job_correct_centre(
    struct fulcrum_reference_job *job, struct fulcrum_error *err);

/* What comes next is part `index` of `count` of a stage: tells the plan's watcher. */
void fulcrum_reference_job_enter(struct fulcrum_reference_job *job,
    enum fulcrum_reference_stage stage, size_t index, size_t count);

/* "draws of the posterior". Static. */
const char *fulcrum_reference_stage_name(enum fulcrum_reference_stage stage);

#endif
