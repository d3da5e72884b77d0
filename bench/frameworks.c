/* frameworks.c - whole frameworks over environments: how far predictions of what no fit
 * has seen are off. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/frameworks.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/posterior.h"
#include "calibrate/reference/formula.h"
#include "calibrate/reference/throughput.h"
#include "calibrate/reference/validation.h"
#include "cli/message.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/status.h"
#include "model/try.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

enum { FULCRUM_LEFT_OUT_MOST = 4 };

/* One environment of a framework, predicted from the others. */

/* Priors beside those of the calibrations; docs/frameworks.md. */
#define CLIENT_S  0.5e-3
#define CLIENT_SD 0.5
#define FACTOR_SD 0.15

/* Of published points, whose repetitions are not. */
#define NOISE_REL 0.03

/* Of the simulations that correct the fast method. */
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7

enum { SEED = 1, LEFT_OUT_POINTS_MOST = 64 };

static const char *const paths[] = {"workload.step.mean_s",
    "workload.network.per_batch_s", "workload.network.per_item_s",
    "workload.host.delay_s"};
enum { PATHS = sizeof paths / sizeof paths[0] };

/* Parameters of the fit: those of all environments, then a factor of each. */
enum { PER_BATCH, PER_ITEM, DELAY, CLIENT, FIRST_FACTOR };

struct environment {
    struct fulcrum_throughput *model;
    size_t count;   /* of its points */
    double alone_s; /* a step without the client, by the prior */
};

/* The context of the forward model. */
struct fit {
    struct environment fitted[FULCRUM_LEFT_OUT_MOST];
    size_t count;
    struct environment left_out;
};

/* A fit's parameters as one environment has them, in the order of the paths. */
static void fill_parameters(const struct environment *environment,
    const double *parameter, double factor, double out[PATHS])
{
    out[0] = factor * environment->alone_s + parameter[CLIENT];
    out[1] = parameter[PER_BATCH];
    out[2] = parameter[PER_ITEM];
    out[3] = parameter[DELAY];
}

/* A fulcrum_forward, of logarithms. */
static int forward(void *context, const double *parameter, double *out)
{
    const struct fit *fit = context;
    for (size_t k = 0; k < fit->count; k++) {
        const struct environment *one = &fit->fitted[k];
        double own[PATHS];
        fill_parameters(one, parameter, parameter[FIRST_FACTOR + k], own);
        if (!fulcrum_throughput_forward(
                fulcrum_throughput_contexts(one->model)[0], own, out)) {
            return 0;
        }
        for (size_t i = 0; i < one->count; i++) {
            out[i] = log(out[i]);
        }
        out += one->count;
    }
    return 1;
}

static enum fulcrum_status correct(const struct environment *environment,
    const double *parameter, double factor, struct fulcrum_error *err)
{
    const struct fulcrum_solver_options solver = {.method = FULCRUM_METHOD_SIMULATE,
        .seed = SEED,
        .half_width_rel = HALF_WIDTH_REL,
        .max_steps = MOST_STEPS};
    double own[PATHS];
    fill_parameters(environment, parameter, factor, own);
    return fulcrum_throughput_correct(environment->model, own, &solver, err);
}

static enum fulcrum_status read_step(
    const struct fulcrum_calibration *prior, double *alone_s, struct fulcrum_error *err)
{
    const struct fulcrum_parameter *step =
        fulcrum_calibration_parameter(prior, paths[0]);
    FAIL_IF(step == NULL || !(step->value > CLIENT_S), err, FULCRUM_ERR_MISSING,
        "%s: expected %s above the client's %g s", prior->name, paths[0], CLIENT_S);
    *alone_s = step->value - CLIENT_S;
    return FULCRUM_OK;
}

static enum fulcrum_status make_environment(
    const struct fulcrum_left_out_environment *from, struct environment *out,
    struct fulcrum_error *err)
{
    TRY(read_step(from->prior, &out->alone_s, err));
    const struct fulcrum_throughput_plan plan = {.references = &from->reference,
        .reference_count = 1,
        .calibrations = &from->prior,
        .calibration_count = 1,
        .paths = paths,
        .path_count = PATHS,
        .thread_count = 1};
    TRY(fulcrum_throughput_new(&plan, &out->model, err));
    (void)fulcrum_throughput_figures(out->model, &out->count);
    return FULCRUM_OK;
}

static enum fulcrum_status make_fit(const struct fulcrum_left_out_plan *plan,
    struct fit *out, struct fulcrum_error *err)
{
    *out = (struct fit){.count = 0};
    for (size_t k = 0; k < plan->count; k++) {
        struct environment *one =
            k == plan->left_out ? &out->left_out : &out->fitted[out->count++];
        TRY(make_environment(&plan->environments[k], one, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status add_belief(const struct fulcrum_calibration *prior,
    const char *path, struct fulcrum_belief *out, struct fulcrum_error *err)
{
    const struct fulcrum_parameter *from = fulcrum_calibration_parameter(prior, path);
    FAIL_IF(from == NULL || from->scale != FULCRUM_SCALE_LOG, err, FULCRUM_ERR_MISSING,
        "%s: expected %s on a logarithmic scale", prior->name, path);
    *out = (struct fulcrum_belief){.scale = FULCRUM_SCALE_LOG,
        .value = from->value,
        .sd = from->standard_error / from->value};
    memcpy(out->path, from->path, sizeof out->path);
    return FULCRUM_OK;
}

static enum fulcrum_status list_beliefs(const struct fit *fit,
    const struct fulcrum_calibration *prior, struct fulcrum_belief *out,
    struct fulcrum_error *err)
{
    static const size_t shared[] = {PER_BATCH, PER_ITEM, DELAY};
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        TRY(add_belief(prior, paths[1 + i], &out[shared[i]], err));
    }
    out[CLIENT] = (struct fulcrum_belief){.path = "client",
        .scale = FULCRUM_SCALE_LOG,
        .value = CLIENT_S,
        .sd = CLIENT_SD};
    for (size_t k = 0; k < fit->count; k++) {
        out[FIRST_FACTOR + k] = (struct fulcrum_belief){
            .path = "factor", .scale = FULCRUM_SCALE_LOG, .value = 1, .sd = FACTOR_SD};
    }
    return FULCRUM_OK;
}

/* Every point of the environments that are fitted. */
static enum fulcrum_status list_data(const struct fit *fit,
    struct fulcrum_datum out[LEFT_OUT_POINTS_MOST], size_t *count,
    struct fulcrum_error *err)
{
    *count = 0;
    for (size_t k = 0; k < fit->count; k++) {
        size_t own = 0;
        const struct fulcrum_figure *figures =
            fulcrum_throughput_figures(fit->fitted[k].model, &own);
        FAIL_IF(own > LEFT_OUT_POINTS_MOST - *count, err, FULCRUM_ERR_RANGE,
            "more than %d points of environments to fit together",
            (int)LEFT_OUT_POINTS_MOST);
        for (size_t i = 0; i < own; i++) {
            out[(*count)++] = (struct fulcrum_datum){log(figures[i].value), NOISE_REL};
        }
    }
    return FULCRUM_OK;
}

/* Once by the fast method, once more where that was corrected at its best. */
static enum fulcrum_status find_mode(struct fit *fit,
    const struct fulcrum_posterior_problem *problem,
    struct fulcrum_posterior_mode *mode, struct fulcrum_error *err)
{
    TRY(fulcrum_posterior_mode_find(problem, SEED, mode, err));
    for (size_t k = 0; k < fit->count; k++) {
        TRY(correct(&fit->fitted[k], mode->value, mode->value[FIRST_FACTOR + k], err));
    }
    fulcrum_posterior_mode_clear(mode);
    return fulcrum_posterior_mode_find(problem, SEED, mode, err);
}

/* The environment's own factor is at its median: 1. */
static enum fulcrum_status predict(const struct environment *environment,
    const double *parameter, double *predicted, struct fulcrum_error *err)
{
    double own[PATHS];
    TRY(correct(environment, parameter, 1.0, err));
    fill_parameters(environment, parameter, 1.0, own);
    return fulcrum_throughput_forward(
               fulcrum_throughput_contexts(environment->model)[0], own, predicted)
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
                     "the environment left out cannot run");
}

enum fulcrum_status fulcrum_left_out_network(const struct fulcrum_left_out_plan *plan,
    double *predicted, struct fulcrum_error *err)
{
    assert(plan->count >= 2 && plan->count <= FULCRUM_LEFT_OUT_MOST);
    assert(plan->left_out < plan->count);
    struct fit fit;
    struct fulcrum_belief beliefs[FIRST_FACTOR + FULCRUM_LEFT_OUT_MOST];
    struct fulcrum_datum data[LEFT_OUT_POINTS_MOST];
    struct fulcrum_posterior_mode mode = {.misfit = 0.0};
    size_t datum_count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(make_fit(plan, &fit, err));
    TRY_OR_END(
        list_beliefs(&fit, plan->environments[plan->left_out].prior, beliefs, err));
    TRY_OR_END(list_data(&fit, data, &datum_count, err));
    void *context = &fit;
    const struct fulcrum_posterior_problem problem = {.beliefs = beliefs,
        .belief_count = FIRST_FACTOR + fit.count,
        .data = data,
        .datum_count = datum_count,
        .forward = forward,
        .contexts = &context,
        .thread_count = 1};
    TRY_OR_END(find_mode(&fit, &problem, &mode, err));
    status = predict(&fit.left_out, mode.value, predicted, err);
end:
    fulcrum_posterior_mode_clear(&mode);
    for (size_t k = 0; k < fit.count; k++) {
        fulcrum_throughput_free(fit.fitted[k].model);
    }
    fulcrum_throughput_free(fit.left_out.model);
    return status;
}

/* One curve of points over run.env_count. */
struct curve {
    double env_count[LEFT_OUT_POINTS_MOST];
    double steps_per_s[LEFT_OUT_POINTS_MOST];
};

static enum fulcrum_status read_curve(
    const struct fulcrum_left_out_environment *environment, struct curve *points,
    struct fulcrum_formula_curve *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = environment->reference;
    const struct fulcrum_quantity *ceiling =
        fulcrum_calibration_quantity(environment->prior, "simulation_ceiling_per_s");
    FAIL_IF(ceiling == NULL || reference->point_count > LEFT_OUT_POINTS_MOST, err,
        FULCRUM_ERR_MISSING,
        "%s: expected the quantity simulation_ceiling_per_s, and at most %d points "
        "of %s",
        environment->prior->name, (int)LEFT_OUT_POINTS_MOST, reference->name);
    for (size_t i = 0; i < reference->point_count; i++) {
        FAIL_IF(reference->points[i].setting_count != 1 ||
                    strcmp(reference->points[i].settings[0].path, "run.env_count") != 0,
            err, FULCRUM_ERR_MISSING,
            "reference %s: points[%zu].set: expected run.env_count alone",
            reference->name, i);
        points->env_count[i] = reference->points[i].settings[0].number;
        points->steps_per_s[i] = reference->points[i].observations[0].value;
    }
    *out = (struct fulcrum_formula_curve){.env_count = points->env_count,
        .steps_per_s = points->steps_per_s,
        .count = reference->point_count,
        .ceiling_per_s = ceiling->value};
    return FULCRUM_OK;
}

/* Takes from a curve what the formula is not to know. */
static enum fulcrum_status shape_curve(
    const struct fulcrum_left_out_environment *environment,
    enum fulcrum_left_out_form form, struct fulcrum_formula_curve *curve,
    struct fulcrum_error *err)
{
    if (form == FULCRUM_LEFT_OUT_HYPERBOLA) {
        curve->ceiling_per_s = (double)NAN;
    }
    return form == FULCRUM_LEFT_OUT_STEPS
               ? read_step(environment->prior, &curve->step_s, err)
               : FULCRUM_OK;
}

/* As the others have it, but for its own step and ceiling. */
static void predict_curve(const struct fulcrum_formula *formula,
    const struct fulcrum_formula_curve *fitted,
    const struct fulcrum_formula_curve *curve, double *predicted)
{
    struct fulcrum_formula own = *formula;
    own.latency_s += curve->step_s - fitted->step_s;
    own.cap_per_s = isnan(curve->ceiling_per_s)
                        ? HUGE_VAL
                        : FULCRUM_FORMULA_CAP_OF_CEILING * curve->ceiling_per_s;
    for (size_t i = 0; i < curve->count; i++) {
        predicted[i] = fulcrum_formula_rate(&own, curve->env_count[i]);
    }
}

/* The curves of the others, one after another, and that of the one left out. */
static enum fulcrum_status list_curves(const struct fulcrum_left_out_plan *plan,
    enum fulcrum_left_out_form form, struct curve *points,
    struct fulcrum_formula_curve *curves, struct fulcrum_error *err)
{
    size_t fitted = 0;
    for (size_t k = 0; k < plan->count; k++) {
        struct fulcrum_formula_curve *curve =
            &curves[k == plan->left_out ? plan->count - 1 : fitted++];
        TRY(read_curve(&plan->environments[k], &points[k], curve, err));
        TRY(shape_curve(&plan->environments[k], form, curve, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_left_out_formula(const struct fulcrum_left_out_plan *plan,
    enum fulcrum_left_out_form form, double *predicted, struct fulcrum_error *err)
{
    assert(plan->count >= 2 && plan->count <= FULCRUM_LEFT_OUT_MOST);
    assert(plan->left_out < plan->count);
    struct curve points[FULCRUM_LEFT_OUT_MOST];
    struct fulcrum_formula_curve curves[FULCRUM_LEFT_OUT_MOST] = {{.count = 0}};
    struct fulcrum_formula formulas[FULCRUM_LEFT_OUT_MOST];
    const struct fulcrum_formula_plan fit = {.curves = curves,
        .curve_count = plan->count - 1,
        .noise_rel = NOISE_REL,
        .frame_skip = plan->environments[plan->left_out].reference->frame_skip};
    TRY(list_curves(plan, form, points, curves, err));
    TRY(fulcrum_formula_fit(&fit, formulas, err));
    predict_curve(&formulas[0], &curves[0], &curves[plan->count - 1], predicted);
    return FULCRUM_OK;
}

/* One environment on the machine of ten cores, and what its fits started from. */
static const struct {
    const char *reference;
    const char *prior;
} environments[] = {
    {"sf-fig3-10-core-atari", "sf-10-core-atari-prior"},
    {"sf-fig3-10-core-vizdoom", "sf-10-core-vizdoom-prior"},
    {"sf-fig3-10-core-dmlab", "sf-10-core-dmlab-prior"},
};
enum { ENVIRONMENTS = sizeof environments / sizeof environments[0] };
/* A row for each environment and one for all, of seven frameworks, and of one with
 * environments left out. */
enum {
    ROWS = ENVIRONMENTS + 1,
    COUNTS_ROWS_MOST = 7 * ROWS,
    ROWS_MOST = COUNTS_ROWS_MOST + ROWS
};

#define SEED_RL "SEED RL V-trace"

/* Most points of a curve. */
enum { POINTS_MOST = 64 };

struct job {
    struct fulcrum_framework_rows rows;
    struct fulcrum_reference *references[ENVIRONMENTS];
    struct fulcrum_validation sets[ENVIRONMENTS];
    struct fulcrum_reference *curves[ENVIRONMENTS]; /* SEED RL alone */
    struct fulcrum_calibration *priors[ENVIRONMENTS];
};

/* Adds those of one environment to those of all. */
static void add_errors(
    struct fulcrum_framework_errors *sum, const struct fulcrum_framework_errors *one)
{
    double total = (sum->count > 0 ? sum->mape_frac * (double)sum->count : 0.0) +
                   (one->count > 0 ? one->mape_frac * (double)one->count : 0.0);
    sum->count += one->count;
    sum->mape_frac = sum->count > 0 ? total / (double)sum->count : (double)NAN;
    sum->max_frac = fmax(sum->max_frac, one->max_frac);
}

static struct fulcrum_framework_row *add_row(
    struct job *job, const char *left_out, const char *series, const char *reference)
{
    struct fulcrum_framework_row *row = &job->rows.items[job->rows.count++];
    row->left_out = left_out;
    (void)snprintf(row->series, sizeof row->series, "%s", series);
    (void)snprintf(row->reference, sizeof row->reference, "%s", reference);
    for (size_t rule = 0; rule < FULCRUM_FRAMEWORK_RULES; rule++) {
        row->errors[rule] =
            (struct fulcrum_framework_errors){0, (double)NAN, (double)NAN};
    }
    return row;
}

/* The last rows of one framework together. */
static void add_total(struct job *job, size_t first)
{
    const struct fulcrum_framework_row *items = job->rows.items;
    size_t last = job->rows.count;
    char series[sizeof items->series];
    memcpy(series, items[first].series, sizeof series);
    struct fulcrum_framework_row *total =
        add_row(job, items[first].left_out, series, "all");
    for (size_t i = first; i < last; i++) {
        for (size_t rule = 0; rule < FULCRUM_FRAMEWORK_RULES; rule++) {
            add_errors(&total->errors[rule], &items[i].errors[rule]);
        }
    }
}

static enum fulcrum_status load(struct job *job, size_t i, struct fulcrum_error *err)
{
    TRY(fulcrum_reference_load(environments[i].reference, &job->references[i], err));
    TRY(fulcrum_validate(job->references[i], NULL, &job->sets[i], err));
    TRY(fulcrum_reference_load(environments[i].reference, &job->curves[i], err));
    TRY(fulcrum_reference_keep_series(job->curves[i], SEED_RL, err));
    return fulcrum_calibration_load(environments[i].prior, &job->priors[i], err);
}

/* Numbers of environments that the calibrations were not fitted to. */
static void compare_counts(struct job *job, const char *series)
{
    static const struct {
        enum fulcrum_framework_rule rule;
        int baseline;
    } rules[] = {{FULCRUM_FRAMEWORK_NETWORK, -1},
        {FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA, FULCRUM_BASELINE_CAPPED_HYPERBOLA},
        {FULCRUM_FRAMEWORK_HYPERBOLA, FULCRUM_BASELINE_HYPERBOLA}};
    size_t first = job->rows.count;
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        struct fulcrum_framework_row *row =
            add_row(job, "counts", series, environments[i].reference);
        for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
            struct fulcrum_comparison_errors found =
                fulcrum_comparison_errors(&job->sets[i].comparison, series,
                    FULCRUM_COMPARE_PREDICTED, rules[k].baseline);
            row->errors[rules[k].rule] = (struct fulcrum_framework_errors){
                found.count, found.mape_frac, found.max_frac};
        }
    }
    add_total(job, first);
}

/* Every framework once, in the order of the first reference. */
static void compare_all_counts(struct job *job)
{
    const struct fulcrum_reference *reference = job->references[0];
    for (size_t i = 0; i < reference->point_count; i++) {
        size_t k = 0;
        while (strcmp(reference->points[k].series, reference->points[i].series) != 0) {
            k++;
        }
        if (k == i && job->rows.count < COUNTS_ROWS_MOST) {
            compare_counts(job, reference->points[i].series);
        }
    }
}

static struct fulcrum_framework_errors errors_of(
    const struct fulcrum_reference *reference, const double *predicted)
{
    struct fulcrum_framework_errors sum = {reference->point_count, 0.0, 0.0};
    for (size_t i = 0; i < sum.count; i++) {
        double observed = reference->points[i].observations[0].value;
        double error = fabs(predicted[i] / observed - 1.0);
        sum.mape_frac += error / (double)sum.count;
        sum.max_frac = fmax(sum.max_frac, error);
    }
    return sum;
}

static enum fulcrum_status predict_left_out(const struct fulcrum_left_out_plan *plan,
    enum fulcrum_framework_rule rule, double *predicted, struct fulcrum_error *err)
{
    static const enum fulcrum_left_out_form forms[FULCRUM_FRAMEWORK_RULES] = {
        [FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA] = FULCRUM_LEFT_OUT_CAPPED,
        [FULCRUM_FRAMEWORK_HYPERBOLA] = FULCRUM_LEFT_OUT_HYPERBOLA,
        [FULCRUM_FRAMEWORK_CAPPED_STEPS] = FULCRUM_LEFT_OUT_STEPS};
    return rule == FULCRUM_FRAMEWORK_NETWORK
               ? fulcrum_left_out_network(plan, predicted, err)
               : fulcrum_left_out_formula(plan, forms[rule], predicted, err);
}

static enum fulcrum_status compare_left_out(
    struct job *job, size_t left_out, struct fulcrum_error *err)
{
    struct fulcrum_left_out_environment all[ENVIRONMENTS];
    double predicted[POINTS_MOST];
    struct fulcrum_framework_row *row =
        add_row(job, "environment", SEED_RL, environments[left_out].reference);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        all[i] = (struct fulcrum_left_out_environment){job->curves[i], job->priors[i]};
    }
    const struct fulcrum_left_out_plan plan = {all, ENVIRONMENTS, left_out};
    for (int rule = 0; rule < FULCRUM_FRAMEWORK_RULES; rule++) {
        TRY(predict_left_out(&plan, (enum fulcrum_framework_rule)rule, predicted, err));
        row->errors[rule] = errors_of(job->curves[left_out], predicted);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status run(struct job *job, struct fulcrum_error *err)
{
    job->rows.items = fulcrum_allocate(ROWS_MOST, sizeof *job->rows.items);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        TRY(load(job, i, err));
        if (job->curves[i]->point_count > POINTS_MOST) {
            TRY(fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%s: expected at most %d points of %s", environments[i].reference,
                (int)POINTS_MOST, SEED_RL));
        }
    }
    compare_all_counts(job);
    size_t first = job->rows.count;
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        TRY(compare_left_out(job, i, err));
    }
    add_total(job, first);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_frameworks_run(
    struct fulcrum_framework_rows *out, struct fulcrum_error *err)
{
    struct job job = {.rows = {.count = 0}};
    enum fulcrum_status status = run(&job, err);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        fulcrum_validation_clear(&job.sets[i]);
        fulcrum_reference_free(job.references[i]);
        fulcrum_reference_free(job.curves[i]);
        fulcrum_calibration_free(job.priors[i]);
    }
    if (status != FULCRUM_OK) {
        fulcrum_framework_rows_clear(&job.rows);
        return status;
    }
    *out = job.rows;
    return FULCRUM_OK;
}

void fulcrum_framework_rows_clear(struct fulcrum_framework_rows *rows)
{
    free(rows->items);
    *rows = (struct fulcrum_framework_rows){.count = 0};
}
