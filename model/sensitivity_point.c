/* sensitivity_point.c - outputs of a scenario in one world. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/sensitivity_point.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "model/quantity.h"
#include "model/sweep_probe.h"
#include "model/try.h"

struct fulcrum_sensitivity_worker {
    const struct fulcrum_sensitivity_ground *ground;
    struct fulcrum_predictor *predictor;
    const struct fulcrum_field *actors;
    double *score;                    /* of the world */
    struct fulcrum_setting *settings; /* spans, axis, actors, the point of comparison */
    size_t span_count; /* settings that hold at every point of the world */
    double *along;     /* output after output, along the axis */
};

void fulcrum_sensitivity_worker_free(struct fulcrum_sensitivity_worker *worker)
{
    if (worker != NULL) {
        fulcrum_predictor_free(worker->predictor);
        free(worker->score);
        free(worker->settings);
        free(worker->along);
        free(worker);
    }
}

enum fulcrum_status fulcrum_sensitivity_worker_new(
    const struct fulcrum_sensitivity_ground *ground,
    struct fulcrum_sensitivity_worker **out, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = ground->plan;
    size_t axis_count = plan->axis != NULL ? plan->axis->count : 0;
    struct fulcrum_sensitivity_worker *worker = calloc(1, sizeof *worker);
    if (worker != NULL) {
        worker->ground = ground;
        worker->actors = fulcrum_field_find("run.actor_count");
        worker->score =
            calloc(fulcrum_chance_slots(plan->scenario), sizeof *worker->score);
        worker->settings =
            calloc(plan->input_count + plan->base_count + 2, sizeof *worker->settings);
        worker->along =
            calloc(axis_count * plan->output_count + 1, sizeof *worker->along);
    }
    if (worker == NULL || worker->score == NULL || worker->settings == NULL ||
        worker->along == NULL) {
        fulcrum_sensitivity_worker_free(worker);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a sensitivity analysis");
    }
    enum fulcrum_status status =
        fulcrum_predictor_new(ground->scenario, &worker->predictor, err);
    if (status != FULCRUM_OK) {
        fulcrum_sensitivity_worker_free(worker);
        return status;
    }
    *out = worker;
    return FULCRUM_OK;
}

double fulcrum_field_range_value(const struct fulcrum_field_range *span, double unit)
{
    int is_count = span->field->kind == FULCRUM_FIELD_COUNT;
    double end = is_count ? span->hi + 1.0 : span->hi;
    double value = span->law == FULCRUM_RANGE_LOG_UNIFORM
                       ? span->lo * pow(end / span->lo, unit)
                       : span->lo + unit * (end - span->lo);
    return fmin(fmax(is_count ? floor(value) : value, span->lo), span->hi);
}

/* A span's setting, unless the field is to keep the value it has. */
static void place_span(
    struct fulcrum_sensitivity_worker *worker, size_t input, double unit)
{
    const struct fulcrum_field_range *span = worker->ground->plan->inputs[input].span;
    double value = isnan(unit) ? worker->ground->span_values[input]
                               : fulcrum_field_range_value(span, unit);
    if (!isnan(value)) {
        worker->settings[worker->span_count++] =
            (struct fulcrum_setting){span->field, value, NULL};
    }
}

/* Coordinates become the scores and settings of a world. */
static void place(struct fulcrum_sensitivity_worker *worker, const double *unit)
{
    const struct fulcrum_sensitivity_plan *plan = worker->ground->plan;
    size_t slot_count = fulcrum_chance_slots(plan->scenario);
    for (size_t i = 0; i < slot_count; i++) {
        worker->score[i] = FULCRUM_UNKNOWN;
    }
    worker->span_count = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        const struct fulcrum_sensitivity_input *input = &plan->inputs[i];
        for (size_t k = 0; k < input->chance_count; k++, unit++) {
            worker->score[input->chances[k].slot] =
                isnan(*unit) ? FULCRUM_UNKNOWN : gsl_cdf_ugaussian_Pinv(*unit);
        }
        if (input->span != NULL) {
            place_span(worker, i, *unit++);
        }
    }
    fulcrum_predictor_place(worker->predictor, worker->score);
}

/* As many actors as the point's threads call for, shared evenly. */
static enum fulcrum_status follow_threads(struct fulcrum_sensitivity_worker *worker,
    struct fulcrum_point *point, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = NULL;
    worker->settings[point->varied_count++] =
        (struct fulcrum_setting){worker->actors, 1.0, NULL};
    TRY(fulcrum_predictor_design(worker->predictor, point, &design, err));
    worker->settings[point->varied_count - 1].number =
        fulcrum_actors_for_threads(design, worker->ground->plan->actors_per_thread);
    return FULCRUM_OK;
}

/* At the settings that are there, and `own_count` more. */
static enum fulcrum_status predict(struct fulcrum_sensitivity_worker *worker,
    const struct fulcrum_setting *own, size_t own_count, struct fulcrum_prediction *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = worker->ground->plan;
    struct fulcrum_point point = {worker->settings, worker->span_count, 0, 0};
    const struct fulcrum_predict_options options = {.solver = plan->solver};
    for (size_t i = 0; i < own_count; i++) {
        worker->settings[point.varied_count++] = own[i];
    }
    enum fulcrum_status status = plan->actors_per_thread > 0.0
                                     ? follow_threads(worker, &point, err)
                                     : FULCRUM_OK;
    /* A point of comparison that gives the actors itself has the last word. */
    for (size_t i = 0; i < own_count && plan->actors_per_thread > 0.0; i++) {
        if (own[i].field == worker->actors) {
            worker->settings[point.varied_count - 1] = own[i];
        }
    }
    return status == FULCRUM_OK
               ? fulcrum_predictor_run(worker->predictor, &point, &options, out, err)
               : status;
}

static int any_subject(
    const struct fulcrum_sensitivity_plan *plan, enum fulcrum_subject subject)
{
    for (size_t i = 0; i < plan->output_count; i++) {
        if (plan->outputs[i].subject == subject) {
            return 1;
        }
    }
    return 0;
}

static enum fulcrum_status fill_values(struct fulcrum_sensitivity_worker *worker,
    double *output, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = worker->ground->plan;
    struct fulcrum_prediction prediction;
    TRY(predict(worker, NULL, 0, &prediction, err));
    for (size_t i = 0; i < plan->output_count; i++) {
        if (plan->outputs[i].subject != FULCRUM_SUBJECT_BEST) {
            output[i] = prediction.value[plan->outputs[i].predicted];
        }
    }
    return FULCRUM_OK;
}

/* What is relative stands in `output` already. */
static enum fulcrum_status divide_by_base(struct fulcrum_sensitivity_worker *worker,
    double *output, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = worker->ground->plan;
    struct fulcrum_prediction prediction;
    enum fulcrum_status status =
        predict(worker, plan->base, plan->base_count, &prediction, err);
    for (size_t i = 0; i < plan->output_count; i++) {
        if (plan->outputs[i].subject == FULCRUM_SUBJECT_RELATIVE) {
            double base = status == FULCRUM_OK
                              ? prediction.value[plan->outputs[i].predicted]
                              : FULCRUM_UNKNOWN;
            output[i] = base > 0.0 ? output[i] / base : FULCRUM_UNKNOWN;
        }
    }
    return status;
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
    int is_inside = best > 0 && best + 1 < count && isfinite(value[best - 1]) &&
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
static enum fulcrum_status find_best(struct fulcrum_sensitivity_worker *worker,
    double *output, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = worker->ground->plan;
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

enum fulcrum_status fulcrum_sensitivity_worker_evaluate(
    struct fulcrum_sensitivity_worker *worker, const double *unit, double *output,
    struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_plan *plan = worker->ground->plan;
    int relative = any_subject(plan, FULCRUM_SUBJECT_RELATIVE);
    for (size_t i = 0; i < plan->output_count; i++) {
        output[i] = FULCRUM_UNKNOWN;
    }
    place(worker, unit);
    if (relative || any_subject(plan, FULCRUM_SUBJECT_VALUE)) {
        TRY(fill_values(worker, output, err));
    }
    if (relative) {
        TRY(divide_by_base(worker, output, err));
    }
    if (any_subject(plan, FULCRUM_SUBJECT_BEST)) {
        TRY(find_best(worker, output, err));
    }
    return FULCRUM_OK;
}
