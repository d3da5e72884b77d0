/* reference_fit.c - parameters of the network model, fitted to references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In this order, because each says something that the next would hide: what the priors
 * predict before any fit; the best parameters; what the data leave of the priors; and
 * each figure predicted from the others alone. A few figures can be met by many
 * parameters, so that meeting them proves little, and the last is the honest one.
 *
 * The fast method is off by up to a few per cent, more than such figures are. So it is
 * multiplied by what simulations make of it, first at the centres of the priors, then
 * twice at the best parameters.
 */
#include "calibrate/reference_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit_state.h"
#include "calibrate/reference_job.h"
#include "model/try.h"

/* Simulations that judge the result. */
#define JUDGE_SEEDS 3

enum { CORRECTIONS = 2, KEPT_MOST = 256 };

static struct fulcrum_posterior_summary unknown(void)
{
    return (struct fulcrum_posterior_summary){NAN, NAN, NAN, NAN, NAN};
}

static enum fulcrum_status predict_from_priors(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    fulcrum_reference_job_enter(job, FULCRUM_STAGE_PRIOR, 0, 1);
    TRY(fulcrum_reference_job_correct_centre(job, err));
    if (job->plan->prior_draw_count == 0) {
        return FULCRUM_OK;
    }
    struct fulcrum_posterior_draws draws;
    TRY(fulcrum_posterior_draw_prior(
        &job->problem, job->plan->prior_draw_count, job->plan->seed, &draws, err));
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < job->fit->figure_count && status == FULCRUM_OK; i++) {
        status = fulcrum_posterior_datum(&draws, i, &job->fit->figures[i].prior, err);
    }
    fulcrum_posterior_draws_clear(&draws);
    return status;
}

/* What slopes at the mode leave of a prior's standard deviation. */
static double linear_sd_frac(const struct fulcrum_reference_job *job, size_t i)
{
    return sqrt(job->mode.covariance[i * job->problem.belief_count + i]);
}

/* Lists in the fit what is not kept; how many are. */
static size_t choose(const struct fulcrum_reference_job *job, int *keeps)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        double left = linear_sd_frac(job, i);
        keeps[i] = left < FULCRUM_FIT_IDENTIFIED_FRAC;
        kept += keeps[i] ? 1 : 0;
        if (!keeps[i]) {
            struct fulcrum_held_parameter *held = &job->fit->held[job->fit->held_count];
            (void)snprintf(held->path, sizeof held->path, "%s", job->beliefs[i].path);
            held->sd_frac = left;
            job->fit->held_count++;
        }
    }
    return kept;
}

/* Where the plan selects: the best values of all parameters tell which to keep. */
static enum fulcrum_status select_parameters(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    size_t n = job->problem.belief_count;
    if (!job->plan->selects) {
        return FULCRUM_OK;
    }
    fulcrum_reference_job_enter(job, FULCRUM_STAGE_SELECT, 0, 1);
    int *keeps = calloc(n, sizeof *keeps);
    job->fit->held = calloc(n, sizeof *job->fit->held);
    if (keeps == NULL || job->fit->held == NULL) {
        free(keeps);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(
        fulcrum_posterior_mode_find(&job->problem, job->plan->seed, &job->mode, err));
    if (choose(job, keeps) == 0) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
            "none of %zu parameters can be told from these figures: each keeps more "
            "than %g of its prior's standard deviation",
            n, FULCRUM_FIT_IDENTIFIED_FRAC));
    }
    status = fulcrum_reference_job_keep(job, keeps, err);
end:
    free(keeps);
    return status;
}

static enum fulcrum_status find_mode(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    for (int i = 0; i <= CORRECTIONS; i++) {
        fulcrum_reference_job_enter(
            job, FULCRUM_STAGE_MODE, (size_t)i, CORRECTIONS + 1);
        fulcrum_posterior_mode_clear(&job->mode);
        TRY(fulcrum_posterior_mode_find(
            &job->problem, job->plan->seed, &job->mode, err));
        if (i < CORRECTIONS) {
            TRY(fulcrum_reference_job_correct(
                job, job->mode.value, job->plan->seed, err));
        }
    }
    return FULCRUM_OK;
}

/* Adds what simulations of one seed make of the best parameters. */
static enum fulcrum_status judge_seed(struct fulcrum_reference_job *job, uint64_t seed,
    double *seen, struct fulcrum_error *err)
{
    TRY(fulcrum_reference_job_correct(job, job->mode.value, seed, err));
    if (!fulcrum_throughput_forward(job->problem.contexts[0], job->mode.value, seen)) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_FIT, "the best parameters cannot be simulated");
    }
    for (size_t i = 0; i < job->fit->figure_count; i++) {
        job->fit->figures[i].simulated += seen[i] / JUDGE_SEEDS;
    }
    return FULCRUM_OK;
}

/* The corrections are put back: draws follow. */
static enum fulcrum_status judge_mode(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    double *seen = calloc(job->fit->figure_count + 1, sizeof *seen);
    if (seen == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    enum fulcrum_status status = FULCRUM_OK;
    for (uint64_t i = 1; i <= JUDGE_SEEDS && status == FULCRUM_OK; i++) {
        fulcrum_reference_job_enter(
            job, FULCRUM_STAGE_JUDGE, (size_t)i - 1, JUDGE_SEEDS + 1);
        status = judge_seed(job, job->plan->seed + i, seen, err);
    }
    free(seen);
    for (size_t i = 0; status != FULCRUM_OK && i < job->fit->figure_count; i++) {
        job->fit->figures[i].simulated = (double)NAN;
    }
    return status == FULCRUM_OK ? fulcrum_reference_job_correct(
                                      job, job->mode.value, job->plan->seed, err)
                                : status;
}

static enum fulcrum_status describe_mode(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    size_t n = job->problem.belief_count;
    fit->parameters = calloc(n, sizeof *fit->parameters);
    fit->covariance = calloc(n * n, sizeof *fit->covariance);
    fit->singular_value = calloc(n, sizeof *fit->singular_value);
    if (fit->parameters == NULL || fit->covariance == NULL ||
        fit->singular_value == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    fit->parameter_count = n;
    for (size_t i = 0; i < n; i++) {
        fit->parameters[i] = (struct fulcrum_fitted_parameter){.prior = job->beliefs[i],
            .mode = job->mode.value[i],
            .z = job->mode.z[i],
            .posterior = unknown(),
            .sd_frac = linear_sd_frac(job, i),
            .sd = linear_sd_frac(job, i) * job->beliefs[i].sd,
            .covariance = fit->covariance + i * n};
    }
    for (size_t j = 0; j < n * n; j++) {
        fit->covariance[j] =
            job->mode.covariance[j] * job->beliefs[j / n].sd * job->beliefs[j % n].sd;
    }
    for (size_t i = 0; i < fit->figure_count; i++) {
        fit->figures[i].mode = job->mode.predicted[i];
        fit->figures[i].posterior = unknown();
        fit->figures[i].held_out = unknown();
    }
    fit->misfit = job->mode.misfit;
    fit->penalty = job->mode.penalty;
    fit->singular_count = job->mode.singular_count;
    memcpy(fit->singular_value, job->mode.singular_value,
        fit->singular_count * sizeof *fit->singular_value);
    return FULCRUM_OK;
}

/* Covariances of the draws on the parameters' scales. */
static void fill_covariance(
    struct fulcrum_reference_job *job, const struct fulcrum_posterior_draws *draws)
{
    struct fulcrum_reference_fit *fit = job->fit;
    size_t n = fit->parameter_count;
    double count = fmax(1.0, (double)draws->count);
    for (size_t i = 0; i < n; i++) {
        double mean = 0.0;
        for (size_t k = 0; k < draws->count; k++) {
            double *value = &draws->value[k * n + i];
            *value = fulcrum_fit_to_scale(job->beliefs[i].scale, *value);
            mean += *value / count;
        }
        for (size_t k = 0; k < draws->count; k++) {
            draws->value[k * n + i] -= mean;
        }
    }
    for (size_t j = 0; j < n * n; j++) {
        fit->covariance[j] = 0.0;
        for (size_t k = 0; k < draws->count; k++) {
            fit->covariance[j] +=
                draws->value[k * n + j / n] * draws->value[k * n + j % n] / count;
        }
    }
    for (size_t i = 0; i < n; i++) {
        fit->parameters[i].sd = sqrt(fit->covariance[i * n + i]);
        fit->parameters[i].sd_frac = fit->parameters[i].sd / job->beliefs[i].sd;
    }
}

/* Six digits are as many as a draw is good for, and keep files short. */
static double shortened(double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

/* Keeps some of the draws, one of each so many. */
static enum fulcrum_status keep_draws(struct fulcrum_reference_job *job,
    const struct fulcrum_posterior_draws *draws, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    size_t n = fit->parameter_count;
    fit->kept = calloc(KEPT_MOST * n + 1, sizeof *fit->kept);
    if (fit->kept == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    fit->kept_count = draws->count < KEPT_MOST ? draws->count : KEPT_MOST;
    for (size_t k = 0; k < fit->kept_count; k++) {
        const double *from = draws->value + k * draws->count / fit->kept_count * n;
        for (size_t i = 0; i < n; i++) {
            fit->kept[k * n + i] = shortened(from[i]);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status draw_posterior(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    if (job->plan->draw_count == 0) {
        return FULCRUM_OK;
    }
    fulcrum_reference_job_enter(job, FULCRUM_STAGE_DRAWS, 0, 1);
    struct fulcrum_posterior_draws draws;
    TRY(fulcrum_posterior_draw(
        &job->problem, job->plan->draw_count, job->plan->seed, &draws, err));
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < fit->parameter_count && status == FULCRUM_OK; i++) {
        status =
            fulcrum_posterior_parameter(&draws, i, &fit->parameters[i].posterior, err);
    }
    for (size_t i = 0; i < fit->figure_count && status == FULCRUM_OK; i++) {
        status = fulcrum_posterior_datum(&draws, i, &fit->figures[i].posterior, err);
    }
    fit->draw_count = draws.count;
    fit->effective_count = draws.effective_count;
    if (status == FULCRUM_OK) {
        status = keep_draws(job, &draws, err);
    }
    fill_covariance(job, &draws);
    int is_partial = draws.is_partial;
    fulcrum_posterior_draws_clear(&draws);
    return status == FULCRUM_OK && is_partial
               ? fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped among the draws")
               : status;
}

/* Each figure in turn is predicted from all others. */
static enum fulcrum_status hold_out(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    enum fulcrum_status status = FULCRUM_OK;
    size_t count = job->plan->held_out_draw_count > 0 ? fit->figure_count : 0;
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        fulcrum_reference_job_enter(job, FULCRUM_STAGE_LEFT_OUT, i, count);
        struct fulcrum_posterior_draws draws;
        if (!isfinite(fit->figures[i].sd)) {
            fit->figures[i].held_out = fit->figures[i].posterior;
            continue;
        }
        job->data[i].sd = (double)INFINITY;
        status = fulcrum_posterior_draw(&job->problem, job->plan->held_out_draw_count,
            job->plan->seed, &draws, err);
        job->data[i].sd = fit->figures[i].sd;
        if (status == FULCRUM_OK) {
            status = draws.is_partial ? fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED,
                                            "stopped among the draws")
                                      : fulcrum_posterior_datum(
                                            &draws, i, &fit->figures[i].held_out, err);
            fulcrum_posterior_draws_clear(&draws);
        }
    }
    return status;
}

void fulcrum_reference_fit_clear(struct fulcrum_reference_fit *fit)
{
    free(fit->parameters);
    free(fit->held);
    free(fit->figures);
    free(fit->singular_value);
    free(fit->covariance);
    free(fit->kept);
    *fit = (struct fulcrum_reference_fit){.misfit = 0.0};
}

typedef enum fulcrum_status stage_run(
    struct fulcrum_reference_job *job, struct fulcrum_error *err);

/* Runs stage after stage; those after the best parameters may be cut short. */
static enum fulcrum_status run_stages(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    static stage_run *const first[] = {
        predict_from_priors, select_parameters, find_mode, describe_mode};
    static stage_run *const later[] = {judge_mode, draw_posterior, hold_out};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < sizeof first / sizeof first[0] && status == FULCRUM_OK;
         i++) {
        status = first[i](job, err);
    }
    if (status == FULCRUM_ERR_INTERRUPTED) {
        return fulcrum_fail(err, status,
            "stopped before the best parameters were found: there is nothing to keep");
    }
    for (size_t i = 0; i < sizeof later / sizeof later[0] && status == FULCRUM_OK;
         i++) {
        status = later[i](job, err);
    }
    if (status == FULCRUM_ERR_INTERRUPTED) {
        (void)snprintf(job->fit->stopped_in, sizeof job->fit->stopped_in, "%s",
            fulcrum_reference_stage_name(job->stage));
        status = FULCRUM_OK;
    }
    return status;
}

enum fulcrum_status fulcrum_reference_fit_run(
    const struct fulcrum_reference_fit_plan *plan, struct fulcrum_reference_fit *out,
    struct fulcrum_error *err)
{
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    struct fulcrum_reference_job job;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_job_begin(&job, plan, &fit, err));
    status = run_stages(&job, err);
end:
    fulcrum_reference_job_clear(&job);
    if (status == FULCRUM_OK) {
        *out = fit;
    } else {
        fulcrum_reference_fit_clear(&fit);
    }
    return status;
}

static double natural_slope(const struct fulcrum_fitted_parameter *parameter)
{
    return fulcrum_fit_natural_slope(parameter->prior.scale, parameter->mode);
}

/* Draws of the calibration's parameters; those that were not fitted have none. */
static enum fulcrum_status apply_draws(const struct fulcrum_reference_fit *fit,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    double *draws = calloc(fit->kept_count * n + 1, sizeof *draws);
    if (draws == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for draws");
    }
    for (size_t i = 0; i < fit->kept_count * n; i++) {
        draws[i] = (double)NAN;
    }
    for (size_t i = 0; i < fit->parameter_count; i++) {
        const struct fulcrum_parameter *at =
            fulcrum_calibration_parameter(calibration, fit->parameters[i].prior.path);
        const struct fulcrum_field *field =
            fulcrum_field_find(fit->parameters[i].prior.path);
        size_t column =
            at != NULL && field != NULL ? (size_t)(at - calibration->parameters) : n;
        for (size_t k = 0; column < n && k < fit->kept_count; k++) {
            /* Beyond its range the model has taken it to be at the end. */
            double value = fit->kept[k * fit->parameter_count + i];
            draws[k * n + column] = fmin(fmax(value, field->least), field->most);
        }
    }
    enum fulcrum_status status =
        fulcrum_calibration_set_draws(calibration, draws, fit->kept_count, err);
    free(draws);
    return status;
}

enum fulcrum_status fulcrum_reference_fit_apply(const struct fulcrum_reference_fit *fit,
    const char *source, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    size_t n = fit->parameter_count;
    for (size_t i = 0; i < n; i++) {
        const struct fulcrum_fitted_parameter *from = &fit->parameters[i];
        struct fulcrum_parameter parameter = {.value = from->mode,
            .standard_error = from->sd * natural_slope(from),
            .scale = from->prior.scale,
            .origin = FULCRUM_ORIGIN_FITTED};
        memcpy(parameter.path, from->prior.path, sizeof parameter.path);
        (void)strncpy(parameter.source, source, sizeof parameter.source - 1);
        TRY(fulcrum_calibration_add_parameter(calibration, &parameter, err));
    }
    for (size_t i = 0; i < n * n; i++) {
        const struct fulcrum_fitted_parameter *a = &fit->parameters[i / n];
        const struct fulcrum_fitted_parameter *b = &fit->parameters[i % n];
        if (i / n < i % n) {
            TRY(fulcrum_calibration_set_covariance(calibration, a->prior.path,
                b->prior.path, fit->covariance[i] * natural_slope(a) * natural_slope(b),
                err));
        }
    }
    return apply_draws(fit, calibration, err);
}
