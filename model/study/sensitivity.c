/* sensitivity.c - which numbers of a scenario a prediction's spread comes from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each input gets coordinates of the unit cube: one for a field that varies over a
 * range, one for each number that is uncertain. Uncertain numbers enter as values of z
 * of a sample (scenario.h), before they are scaled to the machine, so that their law is
 * that of the draws behind intervals; ranges enter as settings, which have the last
 * word.
 *
 * Bars of one input at a time stand beside the shares of variance: they show which way
 * an output goes, and how far, which no share of variance does.
 */

#include "model/study/sensitivity.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/parallel.h"
#include "model/try.h"

/* Fields over a range in one analysis. */
enum { FULCRUM_SENSITIVITY_SPANS_MOST = 256 };

/* The evaluation with the lowest number that could not run, of one worker. */
struct failure {
    size_t number;
    bool is_there;
    char reason[FULCRUM_SENSITIVITY_REASON_BYTE];
};

/* For one thread at a time. */
struct worker {
    const struct fulcrum_sensitivity_plan *plan;
    const double *span_values; /* of each input, nothing varied; NAN: its own value */
    struct fulcrum_predictor *predictor;
    const struct fulcrum_field *actors;
    double *z;                        /* of the sample */
    struct fulcrum_setting *settings; /* spans, axis, actors, the point of comparison */
    size_t span_count; /* settings that hold at every point of the sample */
    double *along;     /* output after output, along the axis */
    struct failure failure;
};

static void set_unknown(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = FULCRUM_UNKNOWN;
    }
}

double fulcrum_field_range_value(const struct fulcrum_field_range *span, double unit)
{
    bool is_count = span->field->kind == FULCRUM_FIELD_COUNT;
    double end = is_count ? span->hi + 1.0 : span->hi;
    double value = span->law == FULCRUM_RANGE_LOG_UNIFORM
                       ? span->lo * pow(end / span->lo, unit)
                       : span->lo + unit * (end - span->lo);
    return fmin(fmax(is_count ? floor(value) : value, span->lo), span->hi);
}

/* A span's setting, unless the field is to keep the value it has. */
static void place_span(struct worker *worker, size_t input, double unit)
{
    const struct fulcrum_field_range *span = worker->plan->inputs[input].span;
    double value = isnan(unit) ? worker->span_values[input]
                               : fulcrum_field_range_value(span, unit);
    if (!isnan(value)) {
        worker->settings[worker->span_count++] =
            (struct fulcrum_setting){span->field, value, NULL};
    }
}

/* Coordinates become the values of z and settings of a sample. */
static void place(struct worker *worker, const double *unit)
{
    const struct fulcrum_sensitivity_plan *plan = worker->plan;
    size_t slot_count = fulcrum_uncertain_input_slots(plan->scenario);
    set_unknown(worker->z, slot_count);
    worker->span_count = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        const struct fulcrum_sensitivity_input *input = &plan->inputs[i];
        for (size_t k = 0; k < input->uncertain_count; k++, unit++) {
            worker->z[input->uncertain[k].slot] =
                isnan(*unit) ? FULCRUM_UNKNOWN : gsl_cdf_ugaussian_Pinv(*unit);
        }
        if (input->span != NULL) {
            place_span(worker, i, *unit++);
        }
    }
    fulcrum_predictor_place(worker->predictor, worker->z);
}

/* At the settings that are there, and `own_count` more. */
static enum fulcrum_status predict(struct worker *worker,
    const struct fulcrum_setting *own, size_t own_count, struct fulcrum_prediction *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = worker->plan;
    struct fulcrum_point point = {worker->settings, worker->span_count, 0, 0};
    const struct fulcrum_predict_options options = {.solver = plan->solver};
    for (size_t i = 0; i < own_count; i++) {
        worker->settings[point.varied_count++] = own[i];
    }
    if (plan->actors_per_thread > 0.0) {
        /* As many actors as the point's threads call for, shared evenly. */
        const struct fulcrum_design *design = NULL;
        worker->settings[point.varied_count++] =
            (struct fulcrum_setting){worker->actors, 1.0, NULL};
        TRY(fulcrum_predictor_design(worker->predictor, &point, &design, err));
        worker->settings[point.varied_count - 1].number =
            fulcrum_actors_for_threads(design, worker->plan->actors_per_thread);
    }
    /* A point of comparison that gives the actors itself has the last word. */
    for (size_t i = 0; i < own_count && plan->actors_per_thread > 0.0; i++) {
        if (own[i].field == worker->actors) {
            worker->settings[point.varied_count - 1] = own[i];
        }
    }
    return fulcrum_predictor_run(worker->predictor, &point, &options, out, err);
}

static bool any_subject(const struct fulcrum_sensitivity_plan *plan,
    enum fulcrum_sensitivity_subject subject)
{
    for (size_t i = 0; i < plan->output_count; i++) {
        if (plan->outputs[i].subject == subject) {
            return true;
        }
    }
    return false;
}

/* The top of the parabola through three points, x increasing, the middle one highest.
 */
static double parabola_top(const double *x, const double *y)
{
    double left = (y[1] - y[0]) / (x[1] - x[0]);
    double right = (y[2] - y[1]) / (x[2] - x[1]);
    double bend = left - right;
    double middle = 0.5 * (x[0] + x[1]);
    double next_middle = 0.5 * (x[1] + x[2]);
    /* The slope goes from left to right between the middles. */
    return bend > 0.0 ? middle + (next_middle - middle) * left / bend : x[1];
}

double fulcrum_place_of_largest(const double *place, const double *value, size_t count)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(value[i]) && (best == count || value[i] > value[best])) {
            best = i;
        }
    }
    if (best == count) {
        return FULCRUM_UNKNOWN;
    }
    bool is_inside = best > 0 && best + 1 < count && isfinite(value[best - 1]) &&
                     isfinite(value[best + 1]);
    if (!is_inside) {
        return place[best];
    }
    if (!(place[best - 1] > 0.0)) {
        return parabola_top(place + best - 1, value + best - 1);
    }
    const double logs[] = {
        log(place[best - 1]), log(place[best]), log(place[best + 1])};
    return exp(parabola_top(logs, value + best - 1));
}

/* A point of the axis that cannot run is not the best one. */
static enum fulcrum_status find_best(
    struct worker *worker, double *output, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = worker->plan;
    const struct fulcrum_sweep_axis *axis = plan->axis;
    enum fulcrum_status status = FULCRUM_ERR_INFEASIBLE;
    for (size_t k = 0; k < axis->count; k++) {
        const struct fulcrum_setting here = {axis->field, axis->values[k], NULL};
        struct fulcrum_prediction prediction;
        enum fulcrum_status tried = predict(worker, &here, 1, &prediction, err);
        for (size_t i = 0; i < plan->output_count; i++) {
            worker->along[i * axis->count + k] =
                tried == FULCRUM_OK ? prediction.value[plan->outputs[i].predicted]
                                    : FULCRUM_UNKNOWN;
        }
        status = tried == FULCRUM_OK || status == FULCRUM_OK ? FULCRUM_OK : tried;
    }
    for (size_t i = 0; i < plan->output_count; i++) {
        if (plan->outputs[i].subject == FULCRUM_SUBJECT_BEST) {
            output[i] = fulcrum_place_of_largest(
                axis->values, worker->along + i * axis->count, axis->count);
        }
    }
    return status;
}

/*
 * Fills the plan's outputs.
 *   unit     coordinates in (0, 1), input after input: one for a span, one for each
 *            chance; NAN: at its value
 *   output   NAN where it cannot run, or does not apply
 *   fails    as fulcrum_predict, of what could not run
 */
static enum fulcrum_status evaluate_sample(struct worker *worker, const double *unit,
    double *output, struct fulcrum_error *err)
{
    assert(worker != NULL);
    const struct fulcrum_sensitivity_plan *plan = worker->plan;
    set_unknown(output, plan->output_count);
    place(worker, unit);
    if (any_subject(plan, FULCRUM_SUBJECT_RELATIVE) ||
        any_subject(plan, FULCRUM_SUBJECT_VALUE)) {
        /* Values, and those over the point of comparison. */
        bool has_base = any_subject(plan, FULCRUM_SUBJECT_RELATIVE);
        struct fulcrum_prediction own;
        struct fulcrum_prediction base;
        TRY(predict(worker, NULL, 0, &own, err));
        enum fulcrum_status status =
            has_base ? predict(worker, plan->base, plan->base_count, &base, err)
                     : FULCRUM_OK;
        for (size_t i = 0; i < plan->output_count; i++) {
            size_t at = plan->outputs[i].predicted;
            if (plan->outputs[i].subject == FULCRUM_SUBJECT_VALUE) {
                output[i] = own.value[at];
            } else if (plan->outputs[i].subject == FULCRUM_SUBJECT_RELATIVE &&
                       status == FULCRUM_OK && base.value[at] > 0.0) {
                output[i] = own.value[at] / base.value[at];
            }
        }
        TRY(status);
    }
    if (any_subject(plan, FULCRUM_SUBJECT_BEST)) {
        TRY(find_best(worker, output, err));
    }
    return FULCRUM_OK;
}

/* Where an input stands for its bar. */
static const double low_point = 0.05;
static const double high_point = 0.95;

/* Worlds behind the bar of numbers that depend on each other. */
enum { GROUP_ROWS = 512 };

struct job {
    const struct fulcrum_sensitivity_plan *plan;
    struct fulcrum_scenario *scenario;
    double *span_values; /* owned, with room for `unit` and `output` behind */
    size_t coordinate_count;
    size_t *input_of; /* of each coordinate */
    double *unit;     /* one site, for this thread */
    double *output;
    struct worker *workers;
    struct fulcrum_sensitivity *result;
};

static size_t coordinates_of(const struct fulcrum_sensitivity_input *input)
{
    return input->span != NULL ? 1 : input->uncertain_count;
}

struct fulcrum_effect fulcrum_sensitivity_effect(
    const struct fulcrum_sensitivity *sensitivity, size_t output, size_t input)
{
    return sensitivity->effects[output * sensitivity->input_count + input];
}

void fulcrum_sensitivity_free(struct fulcrum_sensitivity *sensitivity)
{
    if (sensitivity != NULL) {
        fulcrum_sobol_free(sensitivity->sobol);
        free(sensitivity->values);
        free(sensitivity->reaches);
        free(sensitivity->effects);
        free(sensitivity);
    }
}

static enum fulcrum_status make_room_for(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = job->plan;
    const size_t inputs = plan->input_count;
    const size_t outputs = plan->output_count;
    struct fulcrum_sensitivity *result = calloc(1, sizeof *result);
    TRY_MEMORY(result, err, "a sensitivity analysis");
    job->result = result;
    *result = (struct fulcrum_sensitivity){.input_count = inputs,
        .output_count = outputs,
        .values = calloc(outputs, sizeof *result->values),
        .reaches = calloc(inputs, sizeof *result->reaches),
        .effects = calloc(outputs * inputs, sizeof *result->effects)};
    for (size_t i = 0; i < plan->input_count; i++) {
        job->coordinate_count += coordinates_of(&plan->inputs[i]);
    }
    job->workers = calloc(plan->sobol.worker_count, sizeof *job->workers);
    job->input_of = calloc(job->coordinate_count + 1, sizeof *job->input_of);
    job->span_values =
        calloc(inputs + outputs + job->coordinate_count, sizeof *job->span_values);
    FAIL_IF(result->values == NULL || result->reaches == NULL ||
                result->effects == NULL || job->workers == NULL ||
                job->span_values == NULL || job->input_of == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "a sensitivity analysis");
    job->output = job->span_values + inputs;
    job->unit = job->output + outputs;
    size_t next = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        for (size_t k = 0; k < coordinates_of(&plan->inputs[i]); k++) {
            job->input_of[next++] = i;
        }
    }
    return FULCRUM_OK;
}

/* Every range but one at its middle, and actors where they follow; returns how many. */
static size_t settle_others(const struct fulcrum_sensitivity_plan *plan, size_t input,
    struct fulcrum_setting *settings)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        const struct fulcrum_field_range *span = plan->inputs[i].span;
        if (span != NULL && i != input) {
            settings[count++] = (struct fulcrum_setting){
                span->field, fulcrum_field_range_value(span, 0.5), NULL};
        }
    }
    if (plan->actors_per_thread > 0.0) {
        settings[count++] =
            (struct fulcrum_setting){fulcrum_field_find("run.actor_count"), 1.0, NULL};
    }
    return count;
}

/* Fields that nothing else gives stand at the middle of their range. */
static void settle_spans(struct job *job)
{
    for (size_t i = 0; i < job->plan->input_count; i++) {
        const struct fulcrum_field_range *span = job->plan->inputs[i].span;
        struct fulcrum_reach *reach = &job->result->reaches[i];
        job->span_values[i] = FULCRUM_UNKNOWN;
        if (span != NULL) {
            /*
             * Would the design have a value of its own for this field, were the others
             * that vary at their middles? The number it has, else NAN.
             */
            struct fulcrum_setting settings[FULCRUM_SENSITIVITY_SPANS_MOST + 1];
            const struct fulcrum_point point = {
                settings, settle_others(job->plan, i, settings), 0, 0};
            struct fulcrum_design design;
            enum fulcrum_status status =
                fulcrum_scenario_design(job->scenario, &point, &design, NULL);
            double own =
                status == FULCRUM_OK
                    ? fulcrum_field_number(job->plan->inputs[i].span->field, &design)
                    : FULCRUM_UNKNOWN;
            job->span_values[i] =
                isnan(own) ? fulcrum_field_range_value(span, 0.5) : FULCRUM_UNKNOWN;
            reach->value = isnan(own) ? job->span_values[i] : own;
            reach->lo = fulcrum_field_range_value(span, low_point);
            reach->hi = fulcrum_field_range_value(span, high_point);
        }
    }
}

static void settle_uncertain(struct job *job)
{
    static const double deviations = 1.6448536269514722; /* of the 95 % point */
    const struct fulcrum_sensitivity_plan *plan = job->plan;
    for (size_t i = 0; i < plan->input_count; i++) {
        const struct fulcrum_sensitivity_input *input = &plan->inputs[i];
        struct fulcrum_reach *reach = &job->result->reaches[i];
        if (input->span != NULL) {
            continue;
        }
        *reach =
            (struct fulcrum_reach){FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
        if (input->uncertain_count == 1) {
            const struct fulcrum_uncertain_input *one = input->uncertain;
            reach->lo = fulcrum_uncertain_input_value(plan->scenario, one, -deviations);
            reach->value = fulcrum_uncertain_input_value(plan->scenario, one, 0.0);
            reach->hi = fulcrum_uncertain_input_value(plan->scenario, one, deviations);
        }
    }
}

static enum fulcrum_status prepare(struct job *job, struct fulcrum_error *err)
{
    TRY(fulcrum_scenario_new(job->plan->scenario, &job->scenario, err));
    TRY(make_room_for(job, err));
    settle_spans(job);
    settle_uncertain(job);
    for (size_t i = 0; i < job->plan->sobol.worker_count; i++) {
        job->workers[i] =
            (struct worker){.plan = job->plan, .span_values = job->span_values};
        /* What is left of a failure is freed with the others. */
        const struct fulcrum_sensitivity_plan *plan = job->workers[i].plan;
        size_t axis_count = plan->axis != NULL ? plan->axis->count : 0;
        job->workers[i].actors = fulcrum_field_find("run.actor_count");
        size_t slot_count = fulcrum_uncertain_input_slots(plan->scenario);
        job->workers[i].z = calloc(
            slot_count + axis_count * plan->output_count, sizeof *job->workers[i].z);
        job->workers[i].settings = calloc(
            plan->input_count + plan->base_count + 2, sizeof *job->workers[i].settings);
        FAIL_IF(job->workers[i].z == NULL || job->workers[i].settings == NULL, err,
            FULCRUM_ERR_NO_MEMORY, "a sensitivity analysis");
        job->workers[i].along = job->workers[i].z + slot_count;
        TRY(fulcrum_predictor_new(job->scenario, &job->workers[i].predictor, err));
    }
    return FULCRUM_OK;
}

static struct fulcrum_effect *effect_of(struct job *job, size_t output, size_t input)
{
    return &job->result->effects[output * job->plan->input_count + input];
}

/* At job->unit, into job->output; what cannot run leaves NAN there. */
static void evaluate_here(struct job *job)
{
    enum fulcrum_status status =
        evaluate_sample(&job->workers[0], job->unit, job->output, NULL);
    if (status != FULCRUM_OK) {
        set_unknown(job->output, job->plan->output_count);
    }
}

/* `units` and `values`: GROUP_ROWS rows of coordinates, and columns of outputs. */
static void effect_rows(struct job *job, size_t input, size_t coordinate,
    const double *units, double *values)
{
    size_t width = coordinates_of(&job->plan->inputs[input]);
    for (size_t row = 0; row < GROUP_ROWS; row++) {
        memcpy(job->unit + coordinate, units + row * width, width * sizeof *units);
        evaluate_here(job);
        for (size_t o = 0; o < job->plan->output_count; o++) {
            values[o * GROUP_ROWS + row] = job->output[o];
        }
    }
    set_unknown(job->unit + coordinate, width);
    for (size_t o = 0; o < job->plan->output_count; o++) {
        struct fulcrum_interval interval =
            fulcrum_interval_of(values + o * GROUP_ROWS, GROUP_ROWS);
        *effect_of(job, o, input) = (struct fulcrum_effect){interval.lo, interval.hi};
    }
}

/* Numbers that depend on each other, or draws, have no points of their own. */
static enum fulcrum_status effect_of_group(
    struct job *job, size_t input, size_t coordinate, struct fulcrum_error *err)
{
    size_t width = coordinates_of(&job->plan->inputs[input]);
    double *units = calloc(GROUP_ROWS * width + 1, sizeof *units);
    double *values = calloc(GROUP_ROWS * job->plan->output_count + 1, sizeof *values);
    if (units == NULL || values == NULL) {
        free(units);
        free(values);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a sensitivity analysis");
    }
    enum fulcrum_status status = fulcrum_quasi_fill(units, GROUP_ROWS, width,
        fulcrum_stream_seed(job->plan->sobol.seed, input, 1), err);
    if (status == FULCRUM_OK) {
        effect_rows(job, input, coordinate, units, values);
    }
    free(units);
    free(values);
    return status;
}

/* The only coordinate of an input at both of its points. */
static void effect_of_number(struct job *job, size_t input, size_t coordinate)
{
    for (size_t end = 0; end < 2; end++) {
        job->unit[coordinate] = end == 0 ? low_point : high_point;
        evaluate_here(job);
        for (size_t o = 0; o < job->plan->output_count; o++) {
            struct fulcrum_effect *effect = effect_of(job, o, input);
            *(end == 0 ? &effect->lo : &effect->hi) = job->output[o];
        }
    }
    job->unit[coordinate] = FULCRUM_UNKNOWN;
}

static enum fulcrum_status fill_effects(struct job *job, struct fulcrum_error *err)
{
    size_t coordinate = 0;
    for (size_t i = 0; i < job->plan->input_count; i++) {
        const struct fulcrum_sensitivity_input *input = &job->plan->inputs[i];
        if (input->span == NULL &&
            (input->uncertain_count > 1 ||
                input->uncertain->kind == FULCRUM_UNCERTAIN_DRAWS)) {
            TRY(effect_of_group(job, i, coordinate, err));
        } else {
            effect_of_number(job, i, coordinate);
        }
        coordinate += coordinates_of(input);
    }
    return FULCRUM_OK;
}

static bool is_stopped(const struct fulcrum_sensitivity_plan *plan)
{
    return plan->is_stopped != NULL && plan->is_stopped(plan->watcher) != 0;
}

/* The evaluation of sobol.h; of one that is stopped nothing is used. */
static void evaluate(
    void *context, const struct fulcrum_sobol_site *site, double *output)
{
    struct job *job = context;
    struct fulcrum_error err;
    err.detail[0] = '\0';
    if (is_stopped(job->plan)) {
        set_unknown(output, job->plan->output_count);
        return;
    }
    struct worker *worker = &job->workers[site->worker];
    if (evaluate_sample(worker, site->unit, output, &err) != FULCRUM_OK) {
        if (!worker->failure.is_there || site->number < worker->failure.number) {
            worker->failure.is_there = 1;
            worker->failure.number = site->number;
            size_t length = strcspn(err.detail, "\n");
            (void)snprintf(worker->failure.reason, sizeof worker->failure.reason,
                "%.*s", (int)length, err.detail);
        }
    }
}

static int go_on(void *context, size_t done_count, size_t all_count)
{
    const struct fulcrum_sensitivity_plan *plan = ((const struct job *)context)->plan;
    double done_frac = (double)done_count / (double)all_count;
    bool goes_on = plan->watch == NULL || plan->watch(plan->watcher, done_frac) == 0;
    return goes_on && !is_stopped(plan);
}

static enum fulcrum_status run_sobol(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_sobol_problem problem = {
        .input_count = job->plan->input_count,
        .coordinate_count = job->coordinate_count,
        .input_of = job->input_of,
        .output_count = job->plan->output_count,
        .evaluate = evaluate,
        .go_on = go_on,
        .context = job,
    };
    enum fulcrum_status status =
        fulcrum_sobol_run(&problem, &job->plan->sobol, &job->result->sobol, err);
    /* The first by number, whichever worker met it. */
    const struct failure *first = NULL;
    for (size_t i = 0; i < job->plan->sobol.worker_count; i++) {
        const struct failure *failure = &job->workers[i].failure;
        if (failure->is_there && (first == NULL || failure->number < first->number)) {
            first = failure;
        }
    }
    if (first != NULL) {
        memcpy(job->result->reason, first->reason, sizeof first->reason);
    }
    return status;
}

enum fulcrum_status fulcrum_sensitivity_run(const struct fulcrum_sensitivity_plan *plan,
    struct fulcrum_sensitivity **out, struct fulcrum_error *err)
{
    struct job job = {.plan = plan};
    *out = NULL;
    size_t span_count = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        span_count += plan->inputs[i].span != NULL;
    }
    FAIL_IF(plan->input_count == 0 || plan->output_count == 0 ||
                plan->sobol.worker_count == 0 ||
                span_count > FULCRUM_SENSITIVITY_SPANS_MOST,
        err, FULCRUM_ERR_RANGE,
        "%zu inputs, %zu of them fields over a range, and %zu outputs: expected 1 "
        "or more of inputs and outputs, and up to %d fields",
        plan->input_count, span_count, plan->output_count,
        (int)FULCRUM_SENSITIVITY_SPANS_MOST);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(prepare(&job, err));
    /* Nothing varied: what cannot run now has no effect either. */
    set_unknown(job.unit, job.coordinate_count);
    TRY_OR_END(evaluate_sample(&job.workers[0], job.unit, job.result->values, err));
    TRY_OR_END(fill_effects(&job, err));
    TRY_OR_END(run_sobol(&job, err));
end:
    if (job.result != NULL && job.result->sobol != NULL) {
        *out = job.result;
    } else {
        fulcrum_sensitivity_free(job.result);
    }
    for (size_t i = 0; job.workers != NULL && i < job.plan->sobol.worker_count; i++) {
        fulcrum_predictor_free(job.workers[i].predictor);
        free(job.workers[i].z);
        free(job.workers[i].settings);
    }
    free(job.workers);
    free(job.span_values);
    free(job.input_of);
    fulcrum_scenario_free(job.scenario);
    return status;
}
