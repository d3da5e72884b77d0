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

#include "calibrate/reference/reference_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/posterior.h"
#include "calibrate/reference/throughput.h"
#include "model/nearest.h"
#include "model/try.h"

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

static enum fulcrum_status reference_job_correct_centre(
    struct fulcrum_reference_job *job, struct fulcrum_error *err);

/* A fit to references under way: what is fitted to what. */

/* Simulations behind the corrections. */
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7

/* Rough numbers of solutions of the model, to tell how far a fit is. */
#define SEARCH_COUNT     4000.0 /* of one search for the best parameters */
#define PARAMETER_COUNT  100.0  /* the same, for each of them */
#define SIMULATION_COUNT 2000.0 /* that take as long as the simulations */
#define DRAW_COUNT       6.5    /* for one draw */
enum { SEARCHES = 3, JUDGEMENTS = 4 };

static const char *const stage_names[FULCRUM_STAGE_COUNT] = {"prior predictive",
    "parameters to free", "best parameters", "simulations of the best parameters",
    "draws of the posterior", "figures left out in turn"};

static bool is_set(const struct fulcrum_reference_fit_plan *plan, const char *path)
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

static void add_belief(
    struct fulcrum_reference_job *job, const struct fulcrum_parameter *parameter)
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

static bool has_belief(const struct fulcrum_reference_job *job, const char *path)
{
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        if (strcmp(job->beliefs[i].path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

static void list_all(struct fulcrum_reference_job *job)
{
    for (size_t i = 0; i < job->plan->calibration_count; i++) {
        /* Those of a calibration that have an error and are not held fast. */
        const struct fulcrum_calibration *calibration = job->plan->calibrations[i];
        for (size_t k = 0; k < calibration->parameter_count; k++) {
            const char *path = calibration->parameters[k].path;
            const struct fulcrum_parameter *parameter = prior_of(job->plan, path);
            if (parameter->standard_error > 0.0 && !is_set(job->plan, path) &&
                !has_belief(job, path)) {
                add_belief(job, parameter);
            }
        }
    }
}

/* What could be fitted instead is listed in the place of what was named. */
static enum fulcrum_status fail_named(
    struct fulcrum_reference_job *job, const char *path, struct fulcrum_error *err)
{
    char known[1200];
    job->problem.belief_count = 0;
    list_all(job);
    const struct fulcrum_names names = {
        job->paths, job->problem.belief_count, sizeof job->paths[0]};
    (void)fulcrum_names_join(&names, known, sizeof known);
    return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
        "%s: no calibration gives it a value with an error to start from: expected %s",
        path, known);
}

/* Those that the user named. */
static enum fulcrum_status list_named(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    for (size_t i = 0; i < plan->free_count; i++) {
        const struct fulcrum_parameter *parameter = prior_of(plan, plan->free_paths[i]);
        if (parameter == NULL || !(parameter->standard_error > 0.0)) {
            return fail_named(job, plan->free_paths[i], err);
        }
        if (!has_belief(job, parameter->path)) {
            add_belief(job, parameter);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status list_beliefs(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    size_t count = plan->free_count + 1;
    for (size_t i = 0; i < plan->calibration_count; i++) {
        count += plan->calibrations[i]->parameter_count;
    }
    size_t most = count;
    job->beliefs = calloc(most, sizeof *job->beliefs);
    job->paths = calloc(most, sizeof *job->paths);
    FAIL_IF(job->beliefs == NULL || job->paths == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "no memory for a fit");
    enum fulcrum_status status = FULCRUM_OK;
    if (job->plan->free_count > 0) {
        status = list_named(job, err);
    } else {
        list_all(job);
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

static enum fulcrum_status make_model(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
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
        .thread_count = plan->thread_count,
        .stop = plan->stop,
        .watcher = plan->progress_context};
    return fulcrum_throughput_new(&model, &job->model, err);
}

static enum fulcrum_status list_data(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    size_t count = 0;
    const struct fulcrum_figure *figures =
        fulcrum_throughput_figures(job->model, &count);
    FAIL_IF(count == 0, err, FULCRUM_ERR_MISSING, "nothing observed to fit to");
    FAIL_IF(plan->sd_count > 0 && plan->sd_count != count, err, FULCRUM_ERR_RANGE,
        "%zu standard deviations for %zu figures: expected one each", plan->sd_count,
        count);
    job->data = calloc(count, sizeof *job->data);
    job->fit->figures = calloc(count, sizeof *job->fit->figures);
    FAIL_IF(job->data == NULL || job->fit->figures == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "no memory for a fit");
    job->fit->figure_count = count;
    for (size_t i = 0; i < count; i++) {
        double sd = plan->sd_count > 0 ? plan->sd[i] : figure_sd(plan, &figures[i]);
        job->data[i] = (struct fulcrum_datum){figures[i].value, sd};
        job->fit->figures[i].figure = figures[i];
        job->fit->figures[i].sd = sd;
    }
    for (size_t i = 0; i < plan->held_out_count; i++) {
        double number = plan->held_out[i];
        FAIL_IF(!(number >= 1.0 && number <= (double)count), err, FULCRUM_ERR_RANGE,
            "figure %g to be held out: expected 1 to %zu", number, count);
        job->data[(size_t)number - 1].sd = (double)INFINITY;
        job->fit->figures[(size_t)number - 1].sd = (double)INFINITY;
    }
    return FULCRUM_OK;
}

/* How the work is shared out, for estimates of the time that is left. */
static void estimate_work(struct fulcrum_reference_job *job)
{
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    double threads = (double)plan->thread_count;
    double search = SEARCH_COUNT + PARAMETER_COUNT * (double)job->problem.belief_count;
    double draw = DRAW_COUNT / threads;
    double *work = job->work;
    work[FULCRUM_STAGE_PRIOR] =
        SIMULATION_COUNT + (double)plan->prior_draw_count / threads;
    work[FULCRUM_STAGE_SELECT] = plan->selects ? search + SIMULATION_COUNT : 0.0;
    work[FULCRUM_STAGE_MODE] = SEARCHES * search + (SEARCHES - 1.0) * SIMULATION_COUNT;
    work[FULCRUM_STAGE_JUDGE] = JUDGEMENTS * SIMULATION_COUNT;
    work[FULCRUM_STAGE_DRAWS] = draw * (double)plan->draw_count;
    work[FULCRUM_STAGE_LEFT_OUT] =
        draw * (double)plan->held_out_draw_count * (double)job->fit->figure_count;
}

static void tell(void *watcher, double done_frac)
{
    const struct fulcrum_reference_job *job = watcher;
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    double before = 0.0;
    double all = 0.0;
    if (plan->progress == NULL) {
        return;
    }
    for (size_t i = 0; i < FULCRUM_STAGE_COUNT; i++) {
        before += i < (size_t)job->stage ? job->work[i] : 0.0;
        all += job->work[i];
    }
    double part = job->part_begin + done_frac * (job->part_end - job->part_begin);
    plan->progress(plan->progress_context,
        fmin(1.0, (before + part * job->work[job->stage]) / all),
        stage_names[job->stage]);
}

static bool is_stopped(void *watcher)
{
    const struct fulcrum_reference_job *job = watcher;
    return job->plan->stop != NULL && job->plan->stop(job->plan->progress_context);
}

/* What comes next is part `index` of `count` of a stage: tells the plan's watcher. */
static void reference_job_enter(struct fulcrum_reference_job *job,
    enum fulcrum_reference_stage stage, size_t index, size_t count)
{
    job->stage = stage;
    job->part_begin = (double)index / (double)count;
    job->part_end = (double)(index + 1) / (double)count;
    tell(job, 0.0);
}

static void set_problem(struct fulcrum_reference_job *job)
{
    job->problem.beliefs = job->beliefs;
    job->problem.data = job->data;
    job->problem.datum_count = job->fit->figure_count;
    job->problem.forward = fulcrum_throughput_forward;
    job->problem.contexts = fulcrum_throughput_contexts(job->model);
    job->problem.thread_count = job->plan->thread_count;
    job->problem.stop = is_stopped;
    job->problem.progress = tell;
    job->problem.watcher = job;
}

/*
 * Lists parameters and figures, and makes the model of them.
 *   out      the caller clears it, after a failure too
 *   plan     borrowed, like `fit`, which gets the figures
 *   fails    as fulcrum_reference_fit_run
 */
static enum fulcrum_status reference_job_begin(struct fulcrum_reference_job *out,
    const struct fulcrum_reference_fit_plan *plan, struct fulcrum_reference_fit *fit,
    struct fulcrum_error *err)
{
    *out = (struct fulcrum_reference_job){.plan = plan, .fit = fit};
    TRY(list_beliefs(out, err));
    TRY(make_model(out, err));
    TRY(list_data(out, err));
    set_problem(out);
    estimate_work(out);
    return FULCRUM_OK;
}

/* Accepts a struct of zeros. */
static void reference_job_clear(struct fulcrum_reference_job *job)
{
    fulcrum_posterior_mode_clear(&job->mode);
    fulcrum_throughput_free(job->model);
    free(job->beliefs);
    free((void *)job->paths);
    free(job->data);
}

/*
 * Keeps those parameters alone whose `keeps` is not 0: the others stay at the centres
 * of their priors. Corrections of the model start anew.
 *   fails    as fulcrum_throughput_new
 */
static enum fulcrum_status reference_job_keep(
    struct fulcrum_reference_job *job, const int *keeps, struct fulcrum_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        if (keeps[i]) {
            job->beliefs[kept] = job->beliefs[i];
            job->paths[kept] = job->beliefs[kept].path;
            kept++;
        }
    }
    job->problem.belief_count = kept;
    fulcrum_throughput_free(job->model);
    job->model = NULL;
    TRY(make_model(job, err));
    set_problem(job);
    return reference_job_correct_centre(job, err);
}

/*
 * Corrects the fast method by simulations at these parameters.
 *   fails    as fulcrum_throughput_correct
 */
static enum fulcrum_status reference_job_correct(struct fulcrum_reference_job *job,
    const double *value, uint64_t seed, struct fulcrum_error *err)
{
    const struct fulcrum_solver_options solver = {.method = FULCRUM_METHOD_SIMULATE,
        .seed = seed,
        .half_width_rel = HALF_WIDTH_REL,
        .max_steps = MOST_STEPS};
    return fulcrum_throughput_correct(job->model, value, &solver, err);
}

/* The same at the centres of the priors. */
static enum fulcrum_status reference_job_correct_centre(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    double *centre = calloc(job->problem.belief_count, sizeof *centre);
    TRY_MEMORY(centre, err, "no memory for a fit");
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        centre[i] = job->beliefs[i].value;
    }
    enum fulcrum_status status =
        reference_job_correct(job, centre, job->plan->seed, err);
    free(centre);
    return status;
}

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
    reference_job_enter(job, FULCRUM_STAGE_PRIOR, 0, 1);
    TRY(reference_job_correct_centre(job, err));
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
    reference_job_enter(job, FULCRUM_STAGE_SELECT, 0, 1);
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
    status = reference_job_keep(job, keeps, err);
end:
    free(keeps);
    return status;
}

static enum fulcrum_status find_mode(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    for (int i = 0; i <= CORRECTIONS; i++) {
        reference_job_enter(job, FULCRUM_STAGE_MODE, (size_t)i, CORRECTIONS + 1);
        fulcrum_posterior_mode_clear(&job->mode);
        TRY(fulcrum_posterior_mode_find(
            &job->problem, job->plan->seed, &job->mode, err));
        if (i < CORRECTIONS) {
            TRY(reference_job_correct(job, job->mode.value, job->plan->seed, err));
        }
    }
    return FULCRUM_OK;
}

/* Adds what simulations of one seed make of the best parameters. */
static enum fulcrum_status judge_seed(struct fulcrum_reference_job *job, uint64_t seed,
    double *seen, struct fulcrum_error *err)
{
    TRY(reference_job_correct(job, job->mode.value, seed, err));
    FAIL_IF(
        !fulcrum_throughput_forward(job->problem.contexts[0], job->mode.value, seen),
        err, FULCRUM_ERR_NO_FIT, "the best parameters cannot be simulated");
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
    TRY_MEMORY(seen, err, "no memory for a fit");
    enum fulcrum_status status = FULCRUM_OK;
    for (uint64_t i = 1; i <= JUDGE_SEEDS && status == FULCRUM_OK; i++) {
        reference_job_enter(job, FULCRUM_STAGE_JUDGE, (size_t)i - 1, JUDGE_SEEDS + 1);
        status = judge_seed(job, job->plan->seed + i, seen, err);
    }
    free(seen);
    for (size_t i = 0; status != FULCRUM_OK && i < job->fit->figure_count; i++) {
        job->fit->figures[i].simulated = (double)NAN;
    }
    return status == FULCRUM_OK
               ? reference_job_correct(job, job->mode.value, job->plan->seed, err)
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
    FAIL_IF(fit->parameters == NULL || fit->covariance == NULL ||
                fit->singular_value == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
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

/* Keeps some of the draws, one of each so many. */
static enum fulcrum_status keep_draws(struct fulcrum_reference_job *job,
    const struct fulcrum_posterior_draws *draws, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    size_t n = fit->parameter_count;
    fit->kept = calloc(KEPT_MOST * n + 1, sizeof *fit->kept);
    TRY_MEMORY(fit->kept, err, "no memory for a fit");
    fit->kept_count = draws->count < KEPT_MOST ? draws->count : KEPT_MOST;
    for (size_t k = 0; k < fit->kept_count; k++) {
        const double *from = draws->value + k * draws->count / fit->kept_count * n;
        for (size_t i = 0; i < n; i++) {
            /* Six digits are as many as a draw is good for, and keep files short. */
            double value = from[i];
            char text[32];
            (void)snprintf(text, sizeof text, "%.6g", value);
            double shortened = strtod(text, NULL);
            fit->kept[k * n + i] = shortened;
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
    reference_job_enter(job, FULCRUM_STAGE_DRAWS, 0, 1);
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
    bool is_partial = draws.is_partial;
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
        reference_job_enter(job, FULCRUM_STAGE_LEFT_OUT, i, count);
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
    FAIL_IF(status == FULCRUM_ERR_INTERRUPTED, err, status,
        "stopped before the best parameters were found: there is nothing to keep");
    for (size_t i = 0; i < sizeof later / sizeof later[0] && status == FULCRUM_OK;
         i++) {
        status = later[i](job, err);
    }
    if (status == FULCRUM_ERR_INTERRUPTED) {
        /* "draws of the posterior". Static. */
        enum fulcrum_reference_stage stage = job->stage;
        const char *reference_stage_name = stage_names[stage];
        (void)snprintf(job->fit->stopped_in, sizeof job->fit->stopped_in, "%s",
            reference_stage_name);
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
    TRY_OR_END(reference_job_begin(&job, plan, &fit, err));
    status = run_stages(&job, err);
end:
    reference_job_clear(&job);
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
    TRY_MEMORY(draws, err, "no memory for draws");
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
