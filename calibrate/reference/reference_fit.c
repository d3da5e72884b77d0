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

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "calibrate/reference/comparison.h"
#include "model/string.h"
#include "model/try.h"

/* In their order. */
enum stage { PRIOR, SELECT, MODE, JUDGE, DRAWS, LEFT_OUT, STAGES };

static const char *const stage_names[STAGES] = {"prior predictive",
    "parameters to free", "best parameters", "simulations of the best parameters",
    "draws of the posterior", "figures left out in turn"};

/* Simulations behind the corrections. */
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7

/* Rough numbers of solutions of the model, to tell how far a fit is. */
#define SEARCH_COUNT     4000.0 /* of one search for the best parameters */
#define PARAMETER_COUNT  100.0  /* the same, for each of them */
#define SIMULATION_COUNT 2000.0 /* that take as long as the simulations */
#define DRAW_COUNT       6.5    /* for one draw */

/* Corrections at the best parameters, seeds of simulations that judge them, and draws
 * that a calibration carries. */
enum { CORRECTIONS = 2, JUDGE_SEEDS = 3, KEPT_MOST = 256 };

static const struct fulcrum_posterior_summary unknown = {NAN, NAN, NAN, NAN, NAN};

/* One fit under way. `problem` points into the rest: it stays where it is. */
struct job {
    const struct fulcrum_reference_fit_plan *plan;
    struct fulcrum_reference_fit *fit;
    struct fulcrum_throughput *model;
    struct fulcrum_belief *beliefs;
    const char **paths;
    struct fulcrum_datum *data;
    struct fulcrum_posterior_problem problem;
    double work[STAGES]; /* of each stage, in solutions of the model */
    enum stage stage;
    double part_begin; /* of the stage, what is under way */
    double part_end;
};

/* The prior of a path: that of the last calibration that has it. */
static const struct fulcrum_parameter *prior_of(
    const struct fulcrum_reference_fit_plan *plan, const char *path)
{
    const struct fulcrum_parameter *found = NULL;
    for (size_t i = 0; i < plan->model.calibration_count; i++) {
        const struct fulcrum_parameter *parameter =
            fulcrum_calibration_parameter(plan->model.calibrations[i], path);
        found = parameter != NULL ? parameter : found;
    }
    return found;
}

/* Once each. */
static void add_belief(struct job *job, const struct fulcrum_parameter *parameter)
{
    size_t i = 0;
    while (i < job->problem.belief_count &&
           strcmp(job->beliefs[i].path, parameter->path) != 0) {
        i++;
    }
    if (i < job->problem.belief_count) {
        return;
    }
    job->beliefs[i] = (struct fulcrum_belief){.scale = parameter->scale,
        .value = parameter->value,
        .sd = parameter->standard_error /
              fulcrum_fit_natural_slope(parameter->scale, parameter->value)};
    memcpy(job->beliefs[i].path, parameter->path, sizeof job->beliefs[i].path);
    job->paths[i] = job->beliefs[i].path;
    job->problem.belief_count++;
}

/* Parameters that have an error and are not held fast. */
static void list_all(struct job *job)
{
    const struct fulcrum_throughput_plan *plan = &job->plan->model;
    for (size_t i = 0; i < plan->calibration_count; i++) {
        const struct fulcrum_calibration *calibration = plan->calibrations[i];
        for (size_t k = 0; k < calibration->parameter_count; k++) {
            const char *path = calibration->parameters[k].path;
            const struct fulcrum_parameter *parameter = prior_of(job->plan, path);
            bool is_free = parameter->standard_error > 0.0;
            for (size_t s = 0; s < plan->setting_count; s++) {
                is_free = is_free && strcmp(plan->settings[s].field->path, path) != 0;
            }
            if (is_free) {
                add_belief(job, parameter);
            }
        }
    }
}

static enum fulcrum_status list_beliefs(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_throughput_plan *plan = &job->plan->model;
    size_t most = plan->path_count + 1;
    for (size_t i = 0; i < plan->calibration_count; i++) {
        most += plan->calibrations[i]->parameter_count;
    }
    job->beliefs = calloc(most, sizeof *job->beliefs);
    job->paths = calloc(most, sizeof *job->paths);
    FAIL_IF(job->beliefs == NULL || job->paths == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "no memory for a fit");
    for (size_t i = 0; i < plan->path_count; i++) {
        const struct fulcrum_parameter *parameter = prior_of(job->plan, plan->paths[i]);
        if (parameter == NULL || !(parameter->standard_error > 0.0)) {
            /* What could be fitted instead is listed in the place of what was named. */
            char known[1200];
            job->problem.belief_count = 0;
            list_all(job);
            const struct fulcrum_names names = {
                job->paths, job->problem.belief_count, sizeof job->paths[0]};
            (void)fulcrum_names_join(&names, known, sizeof known);
            return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
                "%s: no calibration gives it a value with an error to start from: "
                "expected %s",
                plan->paths[i], known);
        }
        add_belief(job, parameter);
    }
    if (plan->path_count == 0) {
        list_all(job);
    }
    FAIL_IF(job->problem.belief_count == 0, err, FULCRUM_ERR_MISSING,
        "no parameter to fit: no calibration gives one with an error");
    return FULCRUM_OK;
}

static enum fulcrum_status make_model(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_throughput_plan model = job->plan->model;
    model.paths = job->paths;
    model.path_count = job->problem.belief_count;
    TRY(fulcrum_throughput_new(&model, &job->model, err));
    job->problem.contexts = fulcrum_throughput_contexts(job->model);
    return FULCRUM_OK;
}

static enum fulcrum_status list_data(struct job *job, struct fulcrum_error *err)
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
        /* Rounding is even between its ends: its sd is theirs over 3^(1/2). */
        double half_width = figures[i].half_width;
        double rounding = isnan(half_width) ? 0.0 : half_width;
        double sd = plan->sd_count > 0 ? plan->sd[i]
                                       : hypot(rounding / sqrt(3.0),
                                             plan->noise_rel * figures[i].value);
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

static void tell(void *watcher, double done_frac)
{
    const struct job *job = watcher;
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    double before = 0.0;
    double all = 0.0;
    if (plan->progress == NULL) {
        return;
    }
    for (size_t i = 0; i < STAGES; i++) {
        before += i < (size_t)job->stage ? job->work[i] : 0.0;
        all += job->work[i];
    }
    double part = job->part_begin + done_frac * (job->part_end - job->part_begin);
    plan->progress(plan->model.watcher,
        fmin(1.0, (before + part * job->work[job->stage]) / all),
        stage_names[job->stage]);
}

static bool is_stopped(void *watcher)
{
    const struct job *job = watcher;
    return job->plan->model.stop != NULL &&
           job->plan->model.stop(job->plan->model.watcher);
}

static enum fulcrum_status begin_job(struct job *job, struct fulcrum_error *err)
{
    TRY(list_beliefs(job, err));
    TRY(make_model(job, err));
    TRY(list_data(job, err));
    job->problem.beliefs = job->beliefs;
    job->problem.data = job->data;
    job->problem.datum_count = job->fit->figure_count;
    job->problem.forward = fulcrum_throughput_forward;
    job->problem.thread_count = job->plan->model.thread_count;
    job->problem.stop = is_stopped;
    job->problem.progress = tell;
    job->problem.watcher = job;
    /* How the work is shared out, for estimates of the time that is left. */
    const struct fulcrum_reference_fit_plan *plan = job->plan;
    double threads = (double)plan->model.thread_count;
    double search = SEARCH_COUNT + PARAMETER_COUNT * (double)job->problem.belief_count;
    double draw = DRAW_COUNT / threads;
    double *work = job->work;
    work[PRIOR] = SIMULATION_COUNT + (double)plan->prior_draw_count / threads;
    work[SELECT] = plan->selects ? search + SIMULATION_COUNT : 0.0;
    work[MODE] = (CORRECTIONS + 1.0) * search + CORRECTIONS * SIMULATION_COUNT;
    work[JUDGE] = (JUDGE_SEEDS + 1.0) * SIMULATION_COUNT;
    work[DRAWS] = draw * (double)plan->draw_count;
    work[LEFT_OUT] =
        draw * (double)plan->held_out_draw_count * (double)job->fit->figure_count;
    return FULCRUM_OK;
}

/* What comes next is part `index` of `count` of a stage: tells the plan's watcher. */
static void enter(struct job *job, enum stage stage, size_t index, size_t count)
{
    job->stage = stage;
    job->part_begin = (double)index / (double)count;
    job->part_end = (double)(index + 1) / (double)count;
    tell(job, 0.0);
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

static enum fulcrum_status correct_centre(struct job *job, struct fulcrum_error *err)
{
    double *centre = calloc(job->problem.belief_count, sizeof *centre);
    TRY_MEMORY(centre, err, "no memory for a fit");
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        centre[i] = job->beliefs[i].value;
    }
    enum fulcrum_status status = correct(job, centre, job->plan->seed, err);
    free(centre);
    return status;
}

static enum fulcrum_status search_mode(struct job *job, struct fulcrum_error *err)
{
    fulcrum_posterior_mode_clear(&job->fit->mode);
    return fulcrum_posterior_mode_find(
        &job->problem, job->plan->seed, &job->fit->mode, err);
}

static enum fulcrum_status predict_from_priors(
    struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_posterior_draws draws;
    enum fulcrum_status status = FULCRUM_OK;
    enter(job, PRIOR, 0, 1);
    TRY(correct_centre(job, err));
    if (job->plan->prior_draw_count == 0) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_posterior_draw_prior(
        &job->problem, job->plan->prior_draw_count, job->plan->seed, &draws, err));
    for (size_t i = 0; i < job->fit->figure_count && status == FULCRUM_OK; i++) {
        status = fulcrum_posterior_summarise(
            &draws, draws.belief_count + i, &job->fit->figures[i].prior, err);
    }
    fulcrum_posterior_draws_clear(&draws);
    return status;
}

/* What slopes at the mode leave of a prior's standard deviation. */
static double linear_sd_frac(const struct job *job, size_t i)
{
    return sqrt(job->fit->mode.covariance[i * job->problem.belief_count + i]);
}

/*
 * Where the plan selects: the best values of all parameters tell which to keep. The
 * others stay at the centres of their priors; corrections of the model start anew.
 */
static enum fulcrum_status select_parameters(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    size_t n = job->problem.belief_count;
    size_t kept = 0;
    if (!job->plan->selects) {
        return FULCRUM_OK;
    }
    enter(job, SELECT, 0, 1);
    fit->held = calloc(n, sizeof *fit->held);
    TRY_MEMORY(fit->held, err, "no memory for a fit");
    TRY(search_mode(job, err));
    for (size_t i = 0; i < n; i++) {
        double left = linear_sd_frac(job, i);
        if (left < FULCRUM_FIT_IDENTIFIED_FRAC) {
            job->beliefs[kept] = job->beliefs[i];
            job->paths[kept] = job->beliefs[kept].path;
            kept++;
        } else {
            struct fulcrum_held_parameter *held = &fit->held[fit->held_count++];
            (void)snprintf(held->path, sizeof held->path, "%s", job->beliefs[i].path);
            held->sd_frac = left;
        }
    }
    FAIL_IF(kept == 0, err, FULCRUM_ERR_NO_FIT,
        "none of %zu parameters can be told from these figures: each keeps more "
        "than %g of its prior's standard deviation",
        n, FULCRUM_FIT_IDENTIFIED_FRAC);
    job->problem.belief_count = kept;
    fulcrum_throughput_free(job->model);
    job->model = NULL;
    TRY(make_model(job, err));
    return correct_centre(job, err);
}

static enum fulcrum_status find_mode(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    size_t n = job->problem.belief_count;
    for (int i = 0; i <= CORRECTIONS; i++) {
        enter(job, MODE, (size_t)i, CORRECTIONS + 1);
        TRY(search_mode(job, err));
        if (i < CORRECTIONS) {
            TRY(correct(job, job->fit->mode.value, job->plan->seed, err));
        }
    }
    fit->parameters = calloc(n, sizeof *fit->parameters);
    TRY_MEMORY(fit->parameters, err, "no memory for a fit");
    fit->parameter_count = n;
    for (size_t i = 0; i < n; i++) {
        fit->parameters[i] = (struct fulcrum_fitted_parameter){.prior = job->beliefs[i],
            .mode = job->fit->mode.value[i],
            .z = job->fit->mode.z[i],
            .posterior = unknown,
            .sd_frac = linear_sd_frac(job, i),
            .sd = linear_sd_frac(job, i) * job->beliefs[i].sd};
    }
    for (size_t j = 0; j < n * n; j++) {
        fit->mode.covariance[j] =
            fit->mode.covariance[j] * job->beliefs[j / n].sd * job->beliefs[j % n].sd;
    }
    for (size_t i = 0; i < fit->figure_count; i++) {
        fit->figures[i].mode = job->fit->mode.predicted[i];
        fit->figures[i].posterior = unknown;
        fit->figures[i].held_out = unknown;
    }
    return FULCRUM_OK;
}

/* The mean of simulations of some seeds. The corrections are put back: draws follow. */
static enum fulcrum_status judge_mode(struct job *job, struct fulcrum_error *err)
{
    size_t count = job->fit->figure_count;
    double *sums = calloc(2 * count + 1, sizeof *sums);
    TRY_MEMORY(sums, err, "no memory for a fit");
    double *seen = sums + count;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < count; i++) {
        job->fit->figures[i].simulated = (double)NAN; /* unless all seeds are done */
    }
    for (uint64_t seed = 1; seed <= JUDGE_SEEDS; seed++) {
        enter(job, JUDGE, (size_t)seed - 1, JUDGE_SEEDS + 1);
        TRY_OR_END(correct(job, job->fit->mode.value, job->plan->seed + seed, err));
        if (!fulcrum_throughput_forward(
                job->problem.contexts[0], job->fit->mode.value, seen)) {
            TRY_OR_END(fulcrum_fail(
                err, FULCRUM_ERR_NO_FIT, "the best parameters cannot be simulated"));
        }
        for (size_t i = 0; i < count; i++) {
            sums[i] += seen[i] / JUDGE_SEEDS;
        }
    }
    for (size_t i = 0; i < count; i++) {
        job->fit->figures[i].simulated = sums[i];
    }
    status = correct(job, job->fit->mode.value, job->plan->seed, err);
end:
    free(sums);
    return status;
}

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
        fit->mode.covariance[j] = 0.0;
        for (size_t k = 0; k < draws->count; k++) {
            fit->mode.covariance[j] +=
                draws->value[k * n + j / n] * draws->value[k * n + j % n] / count;
        }
    }
    for (size_t i = 0; i < n; i++) {
        fit->parameters[i].sd = sqrt(fit->mode.covariance[i * n + i]);
        fit->parameters[i].sd_frac = fit->parameters[i].sd / job->beliefs[i].sd;
    }
}

static enum fulcrum_status keep_draws(struct job *job,
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
            char text[32];
            (void)snprintf(text, sizeof text, "%.6g", from[i]);
            fit->kept[k * n + i] = strtod(text, NULL);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status fail_among_draws(struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped among the draws");
}

static enum fulcrum_status draw_posterior(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    struct fulcrum_posterior_draws draws;
    size_t n = fit->parameter_count;
    enum fulcrum_status status = FULCRUM_OK;
    if (job->plan->draw_count == 0) {
        return FULCRUM_OK;
    }
    enter(job, DRAWS, 0, 1);
    TRY(fulcrum_posterior_draw(
        &job->problem, job->plan->draw_count, job->plan->seed, &draws, err));
    for (size_t i = 0; i < n + fit->figure_count && status == FULCRUM_OK; i++) {
        status = fulcrum_posterior_summarise(&draws, i,
            i < n ? &fit->parameters[i].posterior : &fit->figures[i - n].posterior,
            err);
    }
    fit->draw_count = draws.count;
    fit->effective_count = draws.effective_count;
    status = status == FULCRUM_OK ? keep_draws(job, &draws, err) : status;
    fill_covariance(job, &draws);
    bool is_partial = draws.is_partial;
    fulcrum_posterior_draws_clear(&draws);
    return status == FULCRUM_OK && is_partial ? fail_among_draws(err) : status;
}

static enum fulcrum_status hold_out(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference_fit *fit = job->fit;
    size_t count = job->plan->held_out_draw_count > 0 ? fit->figure_count : 0;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_fitted_figure *figure = &fit->figures[i];
        struct fulcrum_posterior_draws draws;
        enter(job, LEFT_OUT, i, count);
        if (!isfinite(figure->sd)) {
            figure->held_out = figure->posterior;
            continue;
        }
        job->data[i].sd = (double)INFINITY;
        enum fulcrum_status status = fulcrum_posterior_draw(&job->problem,
            job->plan->held_out_draw_count, job->plan->seed, &draws, err);
        job->data[i].sd = figure->sd;
        if (status == FULCRUM_OK) {
            status = draws.is_partial
                         ? fail_among_draws(err)
                         : fulcrum_posterior_summarise(&draws, fit->parameter_count + i,
                               &figure->held_out, err);
            fulcrum_posterior_draws_clear(&draws);
        }
        TRY(status);
    }
    return FULCRUM_OK;
}

void fulcrum_reference_fit_clear(struct fulcrum_reference_fit *fit)
{
    free(fit->parameters);
    free(fit->held);
    free(fit->figures);
    fulcrum_posterior_mode_clear(&fit->mode);
    free(fit->kept);
    *fit = (struct fulcrum_reference_fit){.parameter_count = 0};
}

/* Runs stage after stage; those after the best parameters may be cut short. */
static enum fulcrum_status run_stages(struct job *job, struct fulcrum_error *err)
{
    typedef enum fulcrum_status stage_run(struct job *, struct fulcrum_error *);
    static stage_run *const runs[] = {predict_from_priors, select_parameters, find_mode,
        judge_mode, draw_posterior, hold_out};
    enum { LATER = 3 };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        enum fulcrum_status status = runs[i](job, err);
        FAIL_IF(status == FULCRUM_ERR_INTERRUPTED && i < LATER, err, status,
            "stopped before the best parameters were found: there is nothing to keep");
        if (status == FULCRUM_ERR_INTERRUPTED) {
            (void)snprintf(job->fit->stopped_in, sizeof job->fit->stopped_in, "%s",
                stage_names[job->stage]);
            return FULCRUM_OK;
        }
        TRY(status);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reference_fit_run(
    const struct fulcrum_reference_fit_plan *plan, struct fulcrum_reference_fit *out,
    struct fulcrum_error *err)
{
    struct fulcrum_reference_fit fit = {.parameter_count = 0};
    struct job job = {.plan = plan, .fit = &fit};
    enum fulcrum_status status = begin_job(&job, err);
    status = status == FULCRUM_OK ? run_stages(&job, err) : status;
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

/* What a fit has seen, for whoever judges its predictions. */

/*
 * Priors may come from a fit themselves. What they saw this fit has seen, so that lists
 * of both are put together: a point counts as held out only where nobody saw it.
 */
struct seen {
    const struct fulcrum_throughput_plan *priors;
    struct fulcrum_string fitted_to;
    struct fulcrum_string own_held_out; /* by this fit alone */
    struct fulcrum_string held_out;     /* by this one and those of its priors */
};

/* Whether this fit or that of a prior saw the point. */
static bool was_seen(const struct seen *seen, const char *point)
{
    bool found = fulcrum_fitted_points_saw(fulcrum_string_get(&seen->fitted_to),
        fulcrum_string_get(&seen->own_held_out), point);
    for (size_t i = 0; i < seen->priors->calibration_count; i++) {
        const struct fulcrum_calibration *prior = seen->priors->calibrations[i];
        found =
            found || fulcrum_fitted_points_saw(
                         fulcrum_calibration_note(prior, FULCRUM_NOTE_FITTED_TO),
                         fulcrum_calibration_note(prior, FULCRUM_NOTE_HELD_OUT), point);
    }
    return found;
}

static void add_item(struct fulcrum_string *list, const char *item)
{
    if (!fulcrum_fitted_points_list_has(fulcrum_string_get(list), item)) {
        fulcrum_string_add(list, "%s%s", list->length > 0 ? ", " : "", item);
    }
}

/* Adds the items of a list; to those held out the points alone that no fit saw. */
static void add_items(
    const struct seen *seen, const char *list, struct fulcrum_string *out)
{
    while (list != NULL && *list != '\0') {
        struct fulcrum_string item = {.chars = NULL};
        const char *end = strstr(list, ", ");
        fulcrum_string_add(
            &item, "%.*s", end != NULL ? (int)(end - list) : INT_MAX, list);
        if (out != &seen->held_out || !was_seen(seen, fulcrum_string_get(&item))) {
            add_item(out, fulcrum_string_get(&item));
        }
        fulcrum_string_clear(&item);
        list = end != NULL ? end + 2 : NULL;
    }
}

/* Whether the fit was given any figure of the point that this figure belongs to. */
static bool is_seen(
    const struct fulcrum_reference_fit *fit, const struct fulcrum_figure *figure)
{
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *other = &fit->figures[i].figure;
        if (other->reference == figure->reference && other->point == figure->point &&
            isfinite(fit->figures[i].sd)) {
            return true;
        }
    }
    return false;
}

/* In place of every note of that key; "" takes it away. */
static enum fulcrum_status set_note(struct fulcrum_calibration *calibration,
    const char *key, const struct fulcrum_string *text, struct fulcrum_error *err)
{
    const size_t most = sizeof calibration->notes[0].text - 1;
    size_t kept = 0;
    FAIL_IF(text->is_lost, err, FULCRUM_ERR_NO_MEMORY, "a note");
    FAIL_IF(text->length > most, err, FULCRUM_ERR_RANGE,
        "the references of this fit and their points are too many for a note of "
        "%zu bytes",
        most);
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, key) != 0) {
            calibration->notes[kept++] = calibration->notes[i];
        }
    }
    calibration->note_count = kept;
    return text->length > 0 ? fulcrum_calibration_add_note(
                                  calibration, key, fulcrum_string_get(text), err)
                            : FULCRUM_OK;
}

static enum fulcrum_status set_seen(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_reference_fit_plan *plan,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct seen seen = {.priors = &plan->model};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < plan->model.reference_count; i++) {
        add_item(&seen.fitted_to, plan->names[i]);
    }
    /* NAME:INDEX of the points that this fit did not see, whatever its priors did. */
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *figure = &fit->figures[i].figure;
        const struct fulcrum_reference *from =
            seen.priors->references[figure->reference];
        if (!is_seen(fit, figure)) {
            struct fulcrum_string point = {.chars = NULL};
            fulcrum_string_add(
                &point, "%s:%zu", from->name, from->points[figure->point].index);
            add_item(&seen.own_held_out, fulcrum_string_get(&point));
            fulcrum_string_clear(&point);
        }
    }
    add_items(&seen, fulcrum_string_get(&seen.own_held_out), &seen.held_out);
    for (size_t i = 0; i < plan->model.calibration_count; i++) {
        add_items(&seen,
            fulcrum_calibration_note(
                plan->model.calibrations[i], FULCRUM_NOTE_HELD_OUT),
            &seen.held_out);
    }
    for (size_t i = 0; i < plan->model.calibration_count; i++) {
        add_items(&seen,
            fulcrum_calibration_note(
                plan->model.calibrations[i], FULCRUM_NOTE_FITTED_TO),
            &seen.fitted_to);
    }
    TRY_OR_END(set_note(calibration, FULCRUM_NOTE_FITTED_TO, &seen.fitted_to, err));
    TRY_OR_END(set_note(calibration, FULCRUM_NOTE_HELD_OUT, &seen.held_out, err));
end:
    fulcrum_string_clear(&seen.fitted_to);
    fulcrum_string_clear(&seen.own_held_out);
    fulcrum_string_clear(&seen.held_out);
    return status;
}

/* Environments per hardware thread at a point. */
static enum fulcrum_status envs_per_thread(const struct fulcrum_reference *from,
    size_t point, double *out, struct fulcrum_error *err)
{
    struct fulcrum_design design = from->design;
    struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST];
    size_t count = 0;
    TRY(fulcrum_point_settings(from, point, settings, &count, err));
    for (size_t k = 0; k < count; k++) {
        TRY(settings[k].text != NULL ? FULCRUM_OK
                                     : fulcrum_field_set_number(settings[k].field,
                                           &design, settings[k].number, err));
    }
    *out = design.run.actor_count * design.run.envs_per_actor /
           design.machine.cpu.thread_count;
    return FULCRUM_OK;
}

/* The most of them among the points that the fit saw. */
static enum fulcrum_status seen_envs_per_thread(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_reference_fit_plan *plan, double *out,
    struct fulcrum_error *err)
{
    *out = 0.0;
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *figure = &fit->figures[i].figure;
        double here = 0.0;
        TRY(envs_per_thread(
            plan->model.references[figure->reference], figure->point, &here, err));
        *out = is_seen(fit, figure) ? fmax(*out, here) : *out;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reference_fit_apply(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_reference_fit_plan *plan,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    const char *first = plan->model.references[0]->name;
    bool is_whole = fit->stopped_in[0] == '\0' || fit->draw_count >= plan->draw_count;
    static const struct fulcrum_string none = {.chars = NULL};
    struct fulcrum_string text = {.chars = NULL};
    char source[240];
    enum fulcrum_status status = FULCRUM_OK;
    (void)snprintf(source, sizeof source, "fitted to %zu references, %s first",
        plan->model.reference_count, first);
    size_t n = fit->parameter_count;
    for (size_t i = 0; i < n; i++) {
        const struct fulcrum_fitted_parameter *from = &fit->parameters[i];
        struct fulcrum_parameter parameter = {.value = from->mode,
            .standard_error = from->sd * natural_slope(from),
            .scale = from->prior.scale,
            .origin = FULCRUM_ORIGIN_FITTED};
        memcpy(parameter.path, from->prior.path, sizeof parameter.path);
        (void)snprintf(parameter.source, sizeof parameter.source, "%s", source);
        TRY(fulcrum_calibration_add_parameter(calibration, &parameter, err));
    }
    for (size_t i = 0; i < n * n; i++) {
        const struct fulcrum_fitted_parameter *a = &fit->parameters[i / n];
        const struct fulcrum_fitted_parameter *b = &fit->parameters[i % n];
        if (i / n < i % n) {
            TRY(fulcrum_calibration_set_covariance(calibration, a->prior.path,
                b->prior.path,
                fit->mode.covariance[i] * natural_slope(a) * natural_slope(b), err));
        }
    }
    struct fulcrum_parameter most = {.path = "run.seen_envs_per_thread",
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_MEASURED,
        .source = "the most among the points that the fit saw"};
    TRY(seen_envs_per_thread(fit, plan, &most.value, err));
    if (most.value > 0.0) {
        TRY(fulcrum_calibration_add_parameter(calibration, &most, err));
    }
    TRY(apply_draws(fit, calibration, err));
    /* What the priors say of themselves is no longer so. */
    TRY(set_note(calibration, "origin", &none, err));
    TRY(set_seen(fit, plan, calibration, err));
    fulcrum_string_add(&text, "%s", plan->fit_arguments);
    TRY_OR_END(set_note(calibration, "fit_arguments", &text, err));
    fulcrum_string_clear(&text);
    fulcrum_string_add(&text, "objective %.4g, misfit %.4g; ",
        fit->mode.misfit + fit->mode.penalty, fit->mode.misfit);
    if (fit->draw_count > 0) {
        fulcrum_string_add(&text,
            "%zu draws worth %.0f; the best parameters, with the spread of the "
            "posterior",
            fit->draw_count, fit->effective_count);
    } else {
        fulcrum_string_add(
            &text, "no draws; the best parameters, with a spread by slopes there");
    }
    fulcrum_string_add(
        &text, "%s", is_whole ? "" : "; stopped before there were all draws");
    TRY_OR_END(set_note(calibration, "fit", &text, err));
    calibration->complete = calibration->complete && is_whole;
    (void)snprintf(calibration->title, sizeof calibration->title,
        "%.60s, fitted to %s%s", calibration->name, first,
        plan->model.reference_count > 1 ? " and others" : "");
end:
    fulcrum_string_clear(&text);
    return status;
}
