/* variants.c - several versions of one design point, held beside each other by draws.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A version differs from the first one by some per cent, its interval by a factor of
 * two. So draws, seeds and even the index of the point are the same for all, and ratios
 * are taken draw by draw. GPU times are read from the network of each design, which has
 * them as they are in force: scaled, drawn, on fewer SMs.
 */
#include "model/whatif/component_cost.h"

#include <math.h>
#include <stdlib.h>

#include "model/interval.h"
#include "model/predict/to_network.h"
#include "model/quantity.h"
#include "model/try.h"

struct fulcrum_variants {
    struct fulcrum_predictor *predictor;
    struct fulcrum_replicas *replicas; /* room for one network */
    struct fulcrum_prediction first;
    size_t draw_count;
    double *values; /* version x (1 + draws) x quantity */
    double *column; /* 1 + draws */
};

static double *cells(
    const struct fulcrum_variants *variants, size_t variant, size_t draw)
{
    return variants->values +
           (variant * (variants->draw_count + 1) + draw) * FULCRUM_VARIANT_COUNT;
}

double fulcrum_variants_value(const struct fulcrum_variants *variants, size_t variant,
    size_t draw, enum fulcrum_variant_quantity quantity)
{
    return cells(variants, variant, draw)[quantity];
}

size_t fulcrum_variants_draw_count(const struct fulcrum_variants *variants)
{
    return variants->draw_count;
}

const struct fulcrum_prediction *fulcrum_variants_prediction(
    const struct fulcrum_variants *variants)
{
    return &variants->first;
}

void fulcrum_variants_free(struct fulcrum_variants *variants)
{
    if (variants != NULL) {
        fulcrum_predictor_free(variants->predictor);
        free(variants->replicas);
        free(variants->values);
        free(variants->column);
        free(variants);
    }
}

/* NULL where memory ran out. */
static struct fulcrum_variants *make_room(const struct fulcrum_variant_plan *plan)
{
    struct fulcrum_variants *variants = calloc(1, sizeof *variants);
    if (variants == NULL) {
        return NULL;
    }
    variants->draw_count = (size_t)plan->predict.draws;
    size_t rows = plan->count * (variants->draw_count + 1);
    variants->replicas = calloc(1, sizeof *variants->replicas);
    variants->values = calloc(rows * FULCRUM_VARIANT_COUNT, sizeof *variants->values);
    variants->column = calloc(variants->draw_count + 1, sizeof *variants->column);
    if (variants->replicas == NULL || variants->values == NULL ||
        variants->column == NULL) {
        fulcrum_variants_free(variants);
        return NULL;
    }
    return variants;
}

/* A draw that cannot run has no times either. */
static void find_gpu_work(
    struct fulcrum_variants *variants, const struct fulcrum_point *point, double *cell)
{
    const struct fulcrum_design *design = NULL;
    double batch_size = variants->first.value[FULCRUM_OUTPUT_mean_batch];
    if (fulcrum_predictor_design(variants->predictor, point, &design, NULL) ==
            FULCRUM_OK &&
        fulcrum_design_to_network(design, variants->replicas, NULL) == FULCRUM_OK) {
        /* Both kinds of GPU work for one agent step, as the network of a design has
         * them. */
        const struct fulcrum_replicas *replicas = variants->replicas;
        const struct fulcrum_network *network = &replicas->network;
        double requests = fmax(1.0, batch_size / replicas->steps_per_request);
        double observations = requests * replicas->steps_per_request;
        double steps =
            network->training.env_steps_per_train_step * replicas->steps_per_request;
        cell[FULCRUM_VARIANT_inference_s] = fulcrum_batch_time(&network->gpu, requests);
        cell[FULCRUM_VARIANT_train_step_s] = network->training.train_step_s;
        cell[FULCRUM_VARIANT_gpu_s] =
            cell[FULCRUM_VARIANT_inference_s] / observations +
            (steps > 0.0 ? network->training.train_step_s / steps : 0.0);
        return;
    }
    cell[FULCRUM_VARIANT_inference_s] = FULCRUM_UNKNOWN;
    cell[FULCRUM_VARIANT_train_step_s] = FULCRUM_UNKNOWN;
    cell[FULCRUM_VARIANT_gpu_s] = FULCRUM_UNKNOWN;
}

static void take_outputs(const double *outputs, double *cell)
{
    cell[FULCRUM_VARIANT_steps_per_s] = outputs[FULCRUM_OUTPUT_steps_per_s];
    cell[FULCRUM_VARIANT_steps_per_j_gpu] = outputs[FULCRUM_OUTPUT_steps_per_j_gpu];
    cell[FULCRUM_VARIANT_steps_per_j_system] =
        outputs[FULCRUM_OUTPUT_steps_per_j_system];
}

/* The estimate, solved as it is to be, and after it the draws. */
static enum fulcrum_status run(const struct fulcrum_variant_plan *plan,
    const struct fulcrum_point *point, struct fulcrum_variants *variants,
    struct fulcrum_prediction *out, struct fulcrum_error *err)
{
    struct fulcrum_prediction again;
    struct fulcrum_predict_options alone = plan->predict;
    if (plan->estimate == NULL) {
        return fulcrum_predictor_run(
            variants->predictor, point, &plan->predict, out, err);
    }
    alone.draws = 0.0;
    alone.solver = *plan->estimate;
    TRY(fulcrum_predictor_run(variants->predictor, point, &alone, out, err));
    return plan->predict.draws >= 1.0 ? fulcrum_predictor_run(variants->predictor,
                                            point, &plan->predict, &again, err)
                                      : FULCRUM_OK;
}

static enum fulcrum_status predict(const struct fulcrum_variant_plan *plan,
    size_t variant, struct fulcrum_variants *variants, struct fulcrum_error *err)
{
    const struct fulcrum_variant *version = &plan->variants[variant];
    struct fulcrum_prediction prediction;
    struct fulcrum_point point = {version->settings, version->setting_count, 0, 0};
    TRY(run(plan, &point, variants, &prediction, err));
    if (variant == 0) {
        variants->first = prediction;
    }
    size_t count = 0;
    const double *draws = fulcrum_predictor_draws(variants->predictor, &count);
    take_outputs(prediction.value, cells(variants, variant, 0));
    for (size_t k = 0; k < count; k++) {
        take_outputs(draws + k * FULCRUM_OUTPUT_COUNT, cells(variants, variant, k + 1));
    }
    /* The draws are gone with the first design that is asked for. */
    for (size_t k = 0; k <= variants->draw_count; k++) {
        point.draw = k;
        point.seed = plan->predict.solver.seed;
        find_gpu_work(variants, &point, cells(variants, variant, k));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_variants_new(const struct fulcrum_variant_plan *plan,
    struct fulcrum_variants **out, struct fulcrum_error *err)
{
    struct fulcrum_variants *variants = make_room(plan);
    TRY_MEMORY(variants, err, "%zu versions of a design", plan->count);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_predictor_new(plan->scenario, &variants->predictor, err));
    for (size_t i = 0; i < plan->count; i++) {
        TRY_OR_END(predict(plan, i, variants, err));
        double done_frac = (double)(i + 1) / (double)plan->count;
        if (plan->watch != NULL && plan->watch(plan->user, done_frac)) {
            TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted"));
        }
    }
    *out = variants;
    return FULCRUM_OK;
end:
    fulcrum_variants_free(variants);
    return status;
}

/* Of the draws that both versions ran; `base` NULL: of one version's values. */
static struct fulcrum_ratio interval_of(struct fulcrum_variants *variants,
    const double *version, const double *base, enum fulcrum_variant_quantity quantity)
{
    size_t count = 0;
    for (size_t k = 1; k <= variants->draw_count; k++) {
        size_t at = k * FULCRUM_VARIANT_COUNT + (size_t)quantity;
        double value = base != NULL ? version[at] / base[at] : version[at];
        if (isfinite(value)) {
            variants->column[count++] = value;
        }
    }
    struct fulcrum_interval interval = fulcrum_interval_of(variants->column, count);
    return (struct fulcrum_ratio){.lo = interval.lo, .hi = interval.hi};
}

struct fulcrum_ratio fulcrum_variants_estimate(struct fulcrum_variants *variants,
    size_t variant, enum fulcrum_variant_quantity quantity)
{
    const double *version = cells(variants, variant, 0);
    struct fulcrum_ratio out = interval_of(variants, version, NULL, quantity);
    out.value = version[quantity];
    return out;
}

struct fulcrum_ratio fulcrum_variants_ratio(struct fulcrum_variants *variants,
    size_t variant, enum fulcrum_variant_quantity quantity)
{
    const double *version = cells(variants, variant, 0);
    const double *base = cells(variants, 0, 0);
    if (!(base[quantity] > 0.0)) {
        return (struct fulcrum_ratio){
            FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    }
    struct fulcrum_ratio out = interval_of(variants, version, base, quantity);
    out.value = version[quantity] / base[quantity];
    return out;
}
