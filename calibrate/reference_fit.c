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
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit_state.h"

/* Simulations behind the corrections, and those that judge the result. */
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7
#define JUDGE_SEEDS    3

enum { CORRECTIONS = 2 };

/* Shares of the work, roughly. */
#define DONE_PRIOR 0.05
#define DONE_MODE  0.25

struct job {
    const struct fulcrum_reference_fit_plan *plan;
    struct fulcrum_reference_fit *fit;
    struct fulcrum_throughput *model;
    struct fulcrum_belief *beliefs;
    const char **paths;
    struct fulcrum_datum *data;
    struct fulcrum_posterior_problem problem;
    struct fulcrum_posterior_mode mode;
};

static void tell(const struct job *job, double done_frac, const char *stage)
{
    if (job->plan->progress != NULL) {
        job->plan->progress(job->plan->progress_context, done_frac, stage);
    }
}

static int is_set(const struct fulcrum_reference_fit_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->setting_count; i++) {
        if (strcmp(plan->settings[i].field->path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The prior of a path: that of the last calibration that has it. */
static const struct fulcrum_parameter *prior_of(
    const struct fulcrum_reference_fit_plan *plan, const char *path)
{
    const struct fulcrum_parameter *found = NULL;
    for (size_t i = 0; i < plan->calibration_count; i++) {
        const struct fulcrum_parameter *parameter =
            fulcrum_calibration_parameter(plan->calibrations[i], path);
        found = parameter != NULL ? parameter : found;
    }
    return found;
}

static void add_belief(struct job *job, const struct fulcrum_parameter *parameter)
{
    size_t i = job->problem.belief_count++;
    struct fulcrum_belief *belief = &job->beliefs[i];
    *belief = (struct fulcrum_belief){.scale = parameter->scale,
        .value = parameter->value,
        .sd = parameter->standard_error /
              fulcrum_fit_natural_slope(parameter->scale, parameter->value)};
    memcpy(belief->path, parameter->path, sizeof belief->path);
    job->paths[i] = belief->path;
}

static int has_belief(const struct job *job, const char *path)
{
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        if (strcmp(job->beliefs[i].path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Those that the user named. */
static enum fulcrum_status list_named(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    for (size_t i = 0; i < plan->free_count; i++) {
        const struct fulcrum_parameter *parameter = prior_of(plan, plan->free_paths[i]);
        if (parameter == NULL || !(parameter->standard_error > 0.0)) {
            return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
                "%s: no calibration gives it a value with an error to start from",
                plan->free_paths[i]);
        }
        if (!has_belief(job, parameter->path)) {
            add_belief(job, parameter);
        }
    }
    return FULCRUM_OK;
}

/* Those of a calibration that have an error and are not held fast. */
static void list_calibration(
    struct job *job, const struct fulcrum_calibration *calibration)
{
    for (size_t k = 0; k < calibration->parameter_count; k++) {
        const char *path = calibration->parameters[k].path;
        const struct fulcrum_parameter *parameter = prior_of(job->plan, path);
        if (parameter->standard_error > 0.0 && !is_set(job->plan, path) &&
            !has_belief(job, path)) {
            add_belief(job, parameter);
        }
    }
}

static size_t most_beliefs(const struct fulcrum_reference_fit_plan *plan)
{
    size_t count = plan->free_count + 1;
    for (size_t i = 0; i < plan->calibration_count; i++) {
        count += plan->calibrations[i]->parameter_count;
    }
    return count;
}

static enum fulcrum_status list_beliefs(struct job *job, struct fulcrum_error *err)
{
    size_t most = most_beliefs(job->plan);
    job->beliefs = calloc(most, sizeof *job->beliefs);
    job->paths = calloc(most, sizeof *job->paths);
    if (job->beliefs == NULL || job->paths == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    enum fulcrum_status status = FULCRUM_OK;
    if (job->plan->free_count > 0) {
        status = list_named(job, err);
    }
    for (size_t i = 0; job->plan->free_count == 0 && i < job->plan->calibration_count;
         i++) {
        list_calibration(job, job->plan->calibrations[i]);
    }
    if (status == FULCRUM_OK && job->problem.belief_count == 0) {
        status = fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "no parameter to fit: no calibration gives one with an error");
    }
    return status;
}

/* Rounding is even between its ends: its standard deviation is theirs over 3^(1/2). */
static double figure_sd(
    const struct fulcrum_reference_fit_plan *plan, const struct fulcrum_figure *figure)
{
    double rounding = isnan(figure->half_width) ? 0.0 : figure->half_width;
    return hypot(rounding / sqrt(3.0), plan->noise_rel * figure->value);
}

static enum fulcrum_status make_model(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    const struct fulcrum_throughput_plan model = {.references = plan->references,
        .reference_count = plan->reference_count,
        .calibrations = plan->calibrations,
        .calibration_count = plan->calibration_count,
        .settings = plan->settings,
        .setting_count = plan->setting_count,
        .paths = job->paths,
        .path_count = job->problem.belief_count,
        .thread_count = plan->thread_count};
    return fulcrum_throughput_new(&model, &job->model, err);
}

static enum fulcrum_status list_data(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    size_t count = 0;
    const struct fulcrum_figure *figures =
        fulcrum_throughput_figures(job->model, &count);
    if (count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING, "nothing observed to fit to");
    }
    if (plan->sd_count > 0 && plan->sd_count != count) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%zu standard deviations for %zu figures: expected one each",
            plan->sd_count, count);
    }
    job->data = calloc(count, sizeof *job->data);
    job->fit->figures = calloc(count, sizeof *job->fit->figures);
    if (job->data == NULL || job->fit->figures == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    job->fit->figure_count = count;
    for (size_t i = 0; i < count; i++) {
        double sd = plan->sd_count > 0 ? plan->sd[i] : figure_sd(plan, &figures[i]);
        job->data[i] = (struct fulcrum_datum){figures[i].value, sd};
        job->fit->figures[i].figure = figures[i];
        job->fit->figures[i].sd = sd;
    }
    for (size_t i = 0; i < plan->held_out_count; i++) {
        double number = plan->held_out[i];
        if (!(number >= 1.0 && number <= (double)count)) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "figure %g to be held out: expected 1 to %zu", number, count);
        }
        job->data[(size_t)number - 1].sd = (double)INFINITY;
        job->fit->figures[(size_t)number - 1].sd = (double)INFINITY;
    }
    job->problem.beliefs = job->beliefs;
    job->problem.data = job->data;
    job->problem.datum_count = count;
    job->problem.forward = fulcrum_throughput_forward;
    job->problem.contexts = fulcrum_throughput_contexts(job->model);
    job->problem.thread_count = plan->thread_count;
    return FULCRUM_OK;
}

static enum fulcrum_status correct(
    struct job *job, const double *value, uint64_t seed, struct fulcrum_error *err)
{
    const struct fulcrum_solver_options solver = {.method = FULCRUM_METHOD_SIMULATE,
        .seed = seed,
        .half_width_rel = HALF_WIDTH_REL,
        .max_steps = MOST_STEPS};
    return fulcrum_throughput_correct(job->model, value, &solver, err);
}

static struct fulcrum_posterior_summary unknown(void)
{
    return (struct fulcrum_posterior_summary){NAN, NAN, NAN, NAN, NAN};
}

static enum fulcrum_status predict_from_priors(
    struct job *job, struct fulcrum_error *err)
{
    double *centre = calloc(job->problem.belief_count, sizeof *centre);
    if (centre == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        centre[i] = job->beliefs[i].value;
    }
    enum fulcrum_status status = correct(job, centre, job->plan->seed, err);
    free(centre);
    if (status != FULCRUM_OK || job->plan->prior_draw_count == 0) {
        return status;
    }
    tell(job, 0.0, "prior predictive");
    struct fulcrum_posterior_draws draws;
    status = fulcrum_posterior_draw_prior(
        &job->problem, job->plan->prior_draw_count, job->plan->seed, &draws, err);
    for (size_t i = 0; i < job->fit->figure_count && status == FULCRUM_OK; i++) {
        status = fulcrum_posterior_datum(&draws, i, &job->fit->figures[i].prior, err);
    }
    if (status == FULCRUM_OK) {
        fulcrum_posterior_draws_clear(&draws);
    }
    return status;
}

static enum fulcrum_status find_mode(struct job *job, struct fulcrum_error *err)
{
    for (int i = 0; i <= CORRECTIONS; i++) {
        tell(job, DONE_PRIOR + (DONE_MODE - DONE_PRIOR) * i / (CORRECTIONS + 1),
            "best parameters");
        fulcrum_posterior_mode_clear(&job->mode);
        enum fulcrum_status status = fulcrum_posterior_mode_find(
            &job->problem, job->plan->seed, &job->mode, err);
        if (status == FULCRUM_OK && i < CORRECTIONS) {
            status = correct(job, job->mode.value, job->plan->seed, err);
        }
        if (status != FULCRUM_OK) {
            return status;
        }
    }
    return FULCRUM_OK;
}

/* Adds what simulations of one seed make of the best parameters. */
static enum fulcrum_status judge_seed(
    struct job *job, uint64_t seed, double *seen, struct fulcrum_error *err)
{
    enum fulcrum_status status = correct(job, job->mode.value, seed, err);
    if (status != FULCRUM_OK) {
        return status;
    }
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
static enum fulcrum_status judge_mode(struct job *job, struct fulcrum_error *err)
{
    double *seen = calloc(job->fit->figure_count + 1, sizeof *seen);
    if (seen == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    enum fulcrum_status status = FULCRUM_OK;
    for (uint64_t i = 1; i <= JUDGE_SEEDS && status == FULCRUM_OK; i++) {
        status = judge_seed(job, job->plan->seed + i, seen, err);
    }
    free(seen);
    return status == FULCRUM_OK ? correct(job, job->mode.value, job->plan->seed, err)
                                : status;
}

static enum fulcrum_status describe_mode(struct job *job, struct fulcrum_error *err)
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
            .sd = NAN,
            .sd_frac = NAN,
            .covariance = fit->covariance + i * n};
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
    struct job *job, const struct fulcrum_posterior_draws *draws)
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

static enum fulcrum_status draw_posterior(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    if (job->plan->draw_count == 0) {
        return FULCRUM_OK;
    }
    tell(job, DONE_MODE, "draws of the posterior");
    struct fulcrum_posterior_draws draws;
    enum fulcrum_status status = fulcrum_posterior_draw(
        &job->problem, job->plan->draw_count, job->plan->seed, &draws, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    for (size_t i = 0; i < fit->parameter_count && status == FULCRUM_OK; i++) {
        status =
            fulcrum_posterior_parameter(&draws, i, &fit->parameters[i].posterior, err);
    }
    for (size_t i = 0; i < fit->figure_count && status == FULCRUM_OK; i++) {
        status = fulcrum_posterior_datum(&draws, i, &fit->figures[i].posterior, err);
    }
    fit->draw_count = draws.count;
    fit->effective_count = draws.effective_count;
    fill_covariance(job, &draws);
    fulcrum_posterior_draws_clear(&draws);
    return status;
}

/* Each figure in turn is predicted from all others. */
static enum fulcrum_status hold_out(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    enum fulcrum_status status = FULCRUM_OK;
    size_t count = job->plan->held_out_draw_count > 0 ? fit->figure_count : 0;
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        double begin = job->plan->draw_count > 0 ? 0.6 : DONE_MODE;
        tell(job, begin + (1.0 - begin) * (double)i / (double)count,
            "figures left out in turn");
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
            status = fulcrum_posterior_datum(&draws, i, &fit->figures[i].held_out, err);
            fulcrum_posterior_draws_clear(&draws);
        }
    }
    return status;
}

void fulcrum_reference_fit_clear(struct fulcrum_reference_fit *fit)
{
    free(fit->parameters);
    free(fit->figures);
    free(fit->singular_value);
    free(fit->covariance);
    *fit = (struct fulcrum_reference_fit){.misfit = 0.0};
}

enum fulcrum_status fulcrum_reference_fit_run(
    const struct fulcrum_reference_fit_plan *plan, struct fulcrum_reference_fit *out,
    struct fulcrum_error *err)
{
    static enum fulcrum_status (*const stages[])(
        struct job * job, struct fulcrum_error * err) = {list_beliefs, make_model,
        list_data, predict_from_priors, find_mode, describe_mode, judge_mode,
        draw_posterior, hold_out};
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    struct job job = {.plan = plan, .fit = &fit};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && status == FULCRUM_OK;
         i++) {
        status = stages[i](&job, err);
    }
    fulcrum_posterior_mode_clear(&job.mode);
    fulcrum_throughput_free(job.model);
    free(job.beliefs);
    free((void *)job.paths);
    free(job.data);
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

enum fulcrum_status fulcrum_reference_fit_apply(const struct fulcrum_reference_fit *fit,
    const char *source, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    size_t n = fit->parameter_count;
    for (size_t i = 0; i < n && status == FULCRUM_OK; i++) {
        const struct fulcrum_fitted_parameter *from = &fit->parameters[i];
        double sd = isnan(from->sd) ? from->prior.sd : from->sd;
        struct fulcrum_parameter parameter = {.value = from->mode,
            .standard_error = sd * natural_slope(from),
            .scale = from->prior.scale,
            .origin = FULCRUM_ORIGIN_FITTED};
        memcpy(parameter.path, from->prior.path, sizeof parameter.path);
        (void)strncpy(parameter.source, source, sizeof parameter.source - 1);
        status = fulcrum_calibration_add_parameter(calibration, &parameter, err);
    }
    for (size_t i = 0; fit->draw_count > 0 && i < n * n && status == FULCRUM_OK; i++) {
        const struct fulcrum_fitted_parameter *a = &fit->parameters[i / n];
        const struct fulcrum_fitted_parameter *b = &fit->parameters[i % n];
        if (i / n < i % n) {
            status = fulcrum_calibration_set_covariance(calibration, a->prior.path,
                b->prior.path, fit->covariance[i] * natural_slope(a) * natural_slope(b),
                err);
        }
    }
    return status;
}
