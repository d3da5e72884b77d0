/* reference_job.c - a fit to references under way: what is fitted to what. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit_state.h"
#include "model/nearest.h"
#include "model/try.h"

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

const char *fulcrum_reference_stage_name(enum fulcrum_reference_stage stage)
{
    return stage_names[stage];
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

static int has_belief(const struct fulcrum_reference_job *job, const char *path)
{
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        if (strcmp(job->beliefs[i].path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Those of a calibration that have an error and are not held fast. */
static void list_calibration(
    struct fulcrum_reference_job *job, const struct fulcrum_calibration *calibration)
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

static void list_all(struct fulcrum_reference_job *job)
{
    for (size_t i = 0; i < job->plan->calibration_count; i++) {
        list_calibration(job, job->plan->calibrations[i]);
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

static size_t most_beliefs(const struct fulcrum_reference_fit_plan *plan)
{
    size_t count = plan->free_count + 1;
    for (size_t i = 0; i < plan->calibration_count; i++) {
        count += plan->calibrations[i]->parameter_count;
    }
    return count;
}

static enum fulcrum_status list_beliefs(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
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

static int is_stopped(void *watcher)
{
    const struct fulcrum_reference_job *job = watcher;
    return job->plan->stop != NULL && job->plan->stop(job->plan->progress_context);
}

void fulcrum_reference_job_enter(struct fulcrum_reference_job *job,
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

enum fulcrum_status fulcrum_reference_job_begin(struct fulcrum_reference_job *out,
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

void fulcrum_reference_job_clear(struct fulcrum_reference_job *job)
{
    fulcrum_posterior_mode_clear(&job->mode);
    fulcrum_throughput_free(job->model);
    free(job->beliefs);
    free((void *)job->paths);
    free(job->data);
}

enum fulcrum_status fulcrum_reference_job_keep(
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
    return fulcrum_reference_job_correct_centre(job, err);
}

enum fulcrum_status fulcrum_reference_job_correct(struct fulcrum_reference_job *job,
    const double *value, uint64_t seed, struct fulcrum_error *err)
{
    const struct fulcrum_solver_options solver = {.method = FULCRUM_METHOD_SIMULATE,
        .seed = seed,
        .half_width_rel = HALF_WIDTH_REL,
        .max_steps = MOST_STEPS};
    return fulcrum_throughput_correct(job->model, value, &solver, err);
}

enum fulcrum_status fulcrum_reference_job_correct_centre(
    struct fulcrum_reference_job *job, struct fulcrum_error *err)
{
    double *centre = calloc(job->problem.belief_count, sizeof *centre);
    if (centre == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    for (size_t i = 0; i < job->problem.belief_count; i++) {
        centre[i] = job->beliefs[i].value;
    }
    enum fulcrum_status status =
        fulcrum_reference_job_correct(job, centre, job->plan->seed, err);
    free(centre);
    return status;
}
