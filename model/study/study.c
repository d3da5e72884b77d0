/* study.c - designs side by side in the same draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/study.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

#include "model/number.h"
#include "model/parallel.h"
#include "model/try.h"

enum fulcrum_status fulcrum_study_new(size_t design_count, size_t value_count,
    size_t draw_count, struct fulcrum_study **out, struct fulcrum_error *err)
{
    struct fulcrum_study *study = calloc(1, sizeof *study);
    TRY_MEMORY(study, err, "designs side by side");
    size_t cells = design_count * (1 + draw_count) * value_count;
    *study = (struct fulcrum_study){design_count, value_count, draw_count,
        calloc(cells + 1, sizeof *study->values),
        calloc(design_count + 1, sizeof *study->predictions),
        calloc(draw_count + 1, sizeof *study->column), 0};
    if (study->values == NULL || study->predictions == NULL || study->column == NULL) {
        fulcrum_study_free(study);
        study = NULL;
    }
    TRY_MEMORY(study, err, "%zu draws of %zu designs", draw_count, design_count);
    for (size_t i = 0; i < cells; i++) {
        study->values[i] = FULCRUM_UNKNOWN;
    }
    *out = study;
    return FULCRUM_OK;
}

void fulcrum_study_free(struct fulcrum_study *study)
{
    if (study != NULL) {
        free(study->values);
        free(study->predictions);
        free(study->column);
        free(study);
    }
}

double *fulcrum_study_at(const struct fulcrum_study *study, size_t design, size_t draw)
{
    return study->values +
           (design * (1 + study->draw_count) + draw) * study->value_count;
}

void fulcrum_study_keep(struct fulcrum_study *study, size_t design,
    const struct fulcrum_prediction *prediction,
    const struct fulcrum_predictor *predictor, const enum fulcrum_predicted *outputs)
{
    size_t count = 0;
    const double *drawn = fulcrum_predictor_draws(predictor, &count);
    study->predictions[design] = *prediction;
    for (size_t i = 0; outputs[i] != FULCRUM_OUTPUT_COUNT; i++) {
        fulcrum_study_at(study, design, 0)[i] = prediction->value[outputs[i]];
        for (size_t k = 0; k < count && k < study->draw_count; k++) {
            fulcrum_study_at(study, design, k + 1)[i] =
                drawn[k * FULCRUM_OUTPUT_COUNT + outputs[i]];
        }
    }
}

struct fulcrum_prediction fulcrum_prediction_unknown(void)
{
    struct fulcrum_prediction prediction = {.bottleneck_agree_frac = FULCRUM_UNKNOWN,
        .solver_error_rel = FULCRUM_UNKNOWN,
        .actor_count = FULCRUM_UNKNOWN};
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        prediction.value[i] = FULCRUM_UNKNOWN;
    }
    return prediction;
}

void fulcrum_table_output(struct fulcrum_table *table, const char *key,
    const char *title, const struct fulcrum_prediction *prediction, size_t output)
{
    bool has = prediction->has_interval;
    fulcrum_table_estimate(table, key, title, prediction->value[output],
        has ? prediction->lo[output] : FULCRUM_UNKNOWN,
        has ? prediction->hi[output] : FULCRUM_UNKNOWN);
}

/* Designs from `first` on, predicted at the same time. */
struct shift {
    const struct fulcrum_study_plan *plan;
    struct fulcrum_study *study;
    size_t first;
    size_t count;
    struct worker {
        struct fulcrum_predictor *predictor;
        enum fulcrum_status status; /* of its design */
        struct fulcrum_error err;
    } * workers; /* one a design */
};

static void predict_design(void *context, size_t slot)
{
    struct shift *shift = context;
    const struct fulcrum_study_plan *plan = shift->plan;
    struct worker *worker = &shift->workers[slot];
    size_t index = shift->first + slot;
    const struct fulcrum_point point = {
        plan->designs[index].varied, plan->designs[index].varied_count, 0, 0};
    struct fulcrum_prediction prediction;
    worker->status = fulcrum_predictor_run(
        worker->predictor, &point, &plan->predict, &prediction, &worker->err);
    if (worker->status == FULCRUM_OK) {
        fulcrum_study_keep(
            shift->study, index, &prediction, worker->predictor, plan->outputs);
    }
}

/* The predictor loses its draws with the first design that is asked of it. */
static enum fulcrum_status add_values(const struct fulcrum_study_plan *plan,
    struct fulcrum_predictor *predictor, struct fulcrum_study *study, size_t index,
    struct fulcrum_error *err)
{
    struct fulcrum_point point = plan->designs[index];
    point.seed = plan->predict.solver.seed;
    for (size_t k = 0; plan->add != NULL && k <= study->draw_count; k++) {
        const struct fulcrum_design *design = NULL;
        point.draw = k;
        enum fulcrum_status status =
            fulcrum_predictor_design(predictor, &point, &design, k == 0 ? err : NULL);
        if (status == FULCRUM_OK) {
            plan->add(plan->context, study, index, k, design);
        } else if (k == 0) {
            return status;
        }
    }
    return FULCRUM_OK;
}

/* The shift's designs: predictions at the same time, then what follows from them. */
static enum fulcrum_status work_shift(struct shift *shift, struct fulcrum_error *err)
{
    if (shift->plan->outputs != NULL) {
        fulcrum_parallel_each(shift->count, predict_design, shift);
    }
    for (size_t i = 0; i < shift->count; i++) {
        struct worker *worker = &shift->workers[i];
        if (worker->status != FULCRUM_OK && err != NULL) {
            *err = worker->err;
        }
        TRY(worker->status);
        TRY(add_values(
            shift->plan, worker->predictor, shift->study, shift->first + i, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_study_run(const struct fulcrum_study_plan *plan,
    struct fulcrum_study **out, struct fulcrum_error *err)
{
    struct shift shift = {.plan = plan};
    size_t most = GSL_MIN(fulcrum_parallel_threads(), plan->design_count);
    enum fulcrum_status status = FULCRUM_OK;
    TRY(fulcrum_study_new(plan->design_count, plan->value_count,
        (size_t)plan->predict.draws, &shift.study, err));
    shift.workers = calloc(most + 1, sizeof *shift.workers);
    TRY_OR_END(shift.workers != NULL
                   ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "designs side by side"));
    for (size_t i = 0; i < most; i++) {
        TRY_OR_END(
            fulcrum_predictor_new(plan->scenario, &shift.workers[i].predictor, err));
    }
    for (; shift.first < plan->design_count; shift.first += shift.count) {
        shift.count = GSL_MIN(most, plan->design_count - shift.first);
        TRY_OR_END(work_shift(&shift, err));
        double done_frac =
            (double)(shift.first + shift.count) / (double)plan->design_count;
        if (plan->watch != NULL && plan->watch(plan->watcher, done_frac) != 0) {
            TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted"));
        }
    }
    *out = shift.study;
    shift.study = NULL;
end:
    for (size_t i = 0; shift.workers != NULL && i < most; i++) {
        fulcrum_predictor_free(shift.workers[i].predictor);
    }
    free(shift.workers);
    fulcrum_study_free(shift.study);
    return status;
}

struct fulcrum_ratio fulcrum_study_interval(
    struct fulcrum_study *study, fulcrum_study_number *number, const void *context)
{
    study->column_count = 0;
    for (size_t k = 1; k <= study->draw_count; k++) {
        double value = number(context, k);
        if (isfinite(value)) {
            study->column[study->column_count++] = value;
        }
    }
    struct fulcrum_interval interval =
        fulcrum_interval_of(study->column, study->column_count);
    double value = isnan(interval.median) ? number(context, 0) : interval.median;
    return (struct fulcrum_ratio){value, interval.lo, interval.hi};
}

double fulcrum_study_share(const struct fulcrum_study *study,
    fulcrum_study_number *number, const void *context)
{
    double sum = 0.0;
    double count = 0.0;
    for (size_t k = 1; k <= study->draw_count; k++) {
        double value = number(context, k);
        if (!isnan(value)) {
            sum += value;
            count += 1.0;
        }
    }
    return count > 0.0 ? sum / count : FULCRUM_UNKNOWN;
}

/* A value of a design, or its ratio to that of a base. */
struct column {
    const struct fulcrum_study *study;
    size_t design;
    size_t base;
    size_t value;
};

static double plain_value(const void *context, size_t draw)
{
    const struct column *column = context;
    return fulcrum_study_at(column->study, column->design, draw)[column->value];
}

static double value_over_base(const void *context, size_t draw)
{
    const struct column *column = context;
    double base = fulcrum_study_at(column->study, column->base, draw)[column->value];
    return base == 0.0 ? FULCRUM_UNKNOWN : plain_value(column, draw) / base;
}

struct fulcrum_ratio fulcrum_study_value(
    struct fulcrum_study *study, size_t design, size_t value)
{
    const struct column column = {study, design, design, value};
    return fulcrum_study_interval(study, plain_value, &column);
}

struct fulcrum_ratio fulcrum_study_ratio(
    struct fulcrum_study *study, size_t design, size_t base, size_t value)
{
    const struct column column = {study, design, base, value};
    return fulcrum_study_interval(study, value_over_base, &column);
}

/* Whether a design is better than its base: 1, 0, or in between. */
struct duel {
    struct column column;
    bool more_is_better;
};

static double is_better(const void *context, size_t draw)
{
    const struct duel *duel = context;
    const struct column *column = &duel->column;
    double gain = plain_value(column, draw) -
                  fulcrum_study_at(column->study, column->base, draw)[column->value];
    gain = duel->more_is_better ? gain : -gain;
    return isnan(gain) ? FULCRUM_UNKNOWN : gain > 0.0 ? 1.0 : gain < 0.0 ? 0.0 : 0.5;
}

double fulcrum_study_beats(const struct fulcrum_study *study, size_t a, size_t b,
    size_t value, bool more_is_better)
{
    const struct duel duel = {{study, a, b, value}, more_is_better};
    return fulcrum_study_share(study, is_better, &duel);
}
