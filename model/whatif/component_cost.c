/* component_cost.c - versions of one design side by side, and what its components cost.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/component_cost.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/interval.h"
#include "model/predict/to_network.h"
#include "model/quantity.h"
#include "model/try.h"

/*
 * A version differs from the first one by some per cent, its interval by a factor of
 * two. So draws, seeds and even the index of the point are the same for all, and ratios
 * are taken draw by draw. GPU times are read from the network of each design, which has
 * them as they are in force: scaled, drawn, on fewer SMs.
 */

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
    size_t row_count = plan->count * (variants->draw_count + 1);
    variants->replicas = calloc(1, sizeof *variants->replicas);
    variants->values =
        calloc(row_count * FULCRUM_VARIANT_COUNT, sizeof *variants->values);
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

/*
 * Removing one component after another splits a time into shares that depend on the
 * order, unless the time is a sum over components. GPU time is one here, a run is not:
 * what a component costs there depends on whether something else is in the way. A share
 * at a place in an order depends on the set of those before it alone, so that all
 * orders of n components need no more than 2^n times, and Shapley's value, the mean
 * over all orders, is a sum over sets.
 */

struct row {
    const char *name;
    const char *meaning;
    bool is_gpu;
};

static const struct row rows[] = {
#define X(kind, name, meaning, gpu) {name, meaning, gpu},
    FULCRUM_IDEAL_LIST(X)
#undef X
};

/* One field of one component. */
struct ideal_setting {
    enum fulcrum_ideal component;
    const char *path;
    double value;
};

/* Ends of the fields' ranges: a V100 keeps 9e-4 of its DRAM time. */
static const struct ideal_setting settings[] = {
    {FULCRUM_IDEAL_DRAM, "machine.gpu.dram_byte_per_s", 1e15},
    {FULCRUM_IDEAL_LATENCY, "machine.gpu.latency_rel", 1e-6},
    {FULCRUM_IDEAL_SM, "machine.gpu.sm_loss_rel", 1e-6},
    {FULCRUM_IDEAL_MATH, "machine.gpu.flop_per_sm_cycle", 1e6},
    {FULCRUM_IDEAL_LAUNCH, "machine.gpu.launch_rel", 1e-6},
    {FULCRUM_IDEAL_HOST, "workload.host.per_batch_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.per_item_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.per_request_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.wake_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.delay_s", 0.0},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

_Static_assert((int)SETTING_COUNT <= (int)FULCRUM_IDEAL_SETTINGS_MOST,
    "room for the settings of all components");

const char *fulcrum_ideal_name(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT ? rows[component].name : NULL;
}

const char *fulcrum_ideal_meaning(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT ? rows[component].meaning : NULL;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* Whether a text begins with a word, whatever its case, that ends there. */
static bool begins_with(const char *text, const char *word)
{
    size_t k = 0;
    while (word[k] != '\0' && lower(text[k]) == word[k]) {
        k++;
    }
    return word[k] == '\0' && !is_of_word(text[k]);
}

/* Whether one of the words of a text is `word`. */
static bool has_word(const char *text, const char *word)
{
    bool starts = true;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (starts && begins_with(text + i, word)) {
            return true;
        }
        starts = !is_of_word(text[i]);
    }
    return false;
}

size_t fulcrum_ideal_find(const char *text)
{
    size_t i = 0;
    while (i < FULCRUM_IDEAL_COUNT && !has_word(text, rows[i].name)) {
        i++;
    }
    return i;
}

bool fulcrum_ideal_is_gpu(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT && rows[component].is_gpu;
}

static bool has(unsigned set, size_t component)
{
    return (set >> component & 1U) != 0U;
}

size_t fulcrum_ideal_settings(unsigned set, struct fulcrum_setting *out)
{
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!has(set, (size_t)settings[i].component)) {
            continue;
        }
        out[count].field = fulcrum_field_find(settings[i].path);
        out[count].number = settings[i].value;
        out[count].text = NULL;
        assert(out[count].field != NULL);
        count++;
    }
    return count;
}

static size_t size_of(unsigned set)
{
    size_t count = 0;
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        count += has(set, i) ? 1 : 0;
    }
    return count;
}

static struct fulcrum_ideal_share share_of(const double *time, size_t component)
{
    const unsigned all = FULCRUM_IDEAL_SETS - 1;
    const unsigned own = 1U << component;
    struct fulcrum_ideal_share share = {.least_frac = INFINITY, .most_frac = -INFINITY};
    for (unsigned set = 0; set <= all; set++) {
        if (has(set, component)) {
            continue;
        }
        double saved = (time[set] - time[set | own]) / time[0];
        share.least_frac = fmin(share.least_frac, saved);
        share.most_frac = fmax(share.most_frac, saved);
        /*
         * The share of all orders in which exactly `before` of the others come before
         * one component, and these in particular: 1 / (n C(n - 1, before)).
         */
        size_t before = size_of(set);
        double orders = FULCRUM_IDEAL_COUNT;
        for (size_t i = 0; i < before; i++) {
            orders *= (double)(FULCRUM_IDEAL_COUNT - 1 - i) / (double)(i + 1);
        }
        double weight = 1.0 / orders;
        share.mean_frac += saved * weight;
    }
    share.first_frac = (time[0] - time[own]) / time[0];
    share.last_frac = (time[all & ~own] - time[all]) / time[0];
    share.in_order_frac = (time[own - 1U] - time[own - 1U + own]) / time[0];
    return share;
}

void fulcrum_ideal_shares(const double *time, struct fulcrum_ideal_share *out)
{
    assert(time[0] > 0.0);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        out[i] = share_of(time, i);
    }
}

/*
 * Every set of components is a version of the design (variants.h) of its own, and each
 * draw of parameters splits its own run. GPU times come from the same designs: what is
 * gone from them is what the component took.
 */

enum { SETS = FULCRUM_IDEAL_SETS, ALL = FULCRUM_IDEAL_SETS - 1 };

/* Less than this of a time is gone: the component cannot be made ideal. */
#define STUCK_FRAC 1e-9

/* Everything but numbers of one design. */
struct room {
    struct fulcrum_variant versions[SETS];
    struct fulcrum_variants *variants;
    double times[SETS];
    double *columns; /* of the shares: component x (in order, mean) x draw */
    double *rest;    /* draw */
};

static void room_free(struct room *room)
{
    if (room != NULL) {
        fulcrum_variants_free(room->variants);
        free(room->columns);
        free(room->rest);
        free(room);
    }
}

static struct room *room_new(size_t draw_count)
{
    struct room *room = calloc(1, sizeof *room);
    if (room == NULL) {
        return NULL;
    }
    room->columns = calloc(
        (size_t)2 * FULCRUM_IDEAL_COUNT * (draw_count + 1), sizeof *room->columns);
    room->rest = calloc(draw_count + 1, sizeof *room->rest);
    if (room->columns == NULL || room->rest == NULL) {
        room_free(room);
        return NULL;
    }
    for (unsigned set = 0; set < SETS; set++) {
        room->versions[set].setting_count =
            fulcrum_ideal_settings(set, room->versions[set].settings);
    }
    return room;
}

/* Seconds per agent step under every set; false where the draw cannot run one. */
static bool fill_times(struct room *room, size_t draw)
{
    for (size_t set = 0; set < SETS; set++) {
        double rate = fulcrum_variants_value(
            room->variants, set, draw, FULCRUM_VARIANT_steps_per_s);
        if (!(rate > 0.0)) {
            return false;
        }
        room->times[set] = 1.0 / rate;
    }
    return true;
}

/* Where shares of one kind stand, one number a draw. */
static double *column(const struct room *room, size_t component, size_t kind)
{
    size_t draws = fulcrum_variants_draw_count(room->variants) + 1;
    return room->columns + (2 * component + kind) * draws;
}

static struct fulcrum_ratio with_interval(double value, double *draws, size_t count)
{
    struct fulcrum_interval interval = fulcrum_interval_of(draws, count);
    return (struct fulcrum_ratio){value, interval.lo, interval.hi};
}

static void fill_run(struct room *room, struct fulcrum_component_costs *out)
{
    struct fulcrum_ideal_share shares[FULCRUM_IDEAL_COUNT];
    size_t count = 0;
    for (size_t k = 1; k <= out->draw_count; k++) {
        if (!fill_times(room, k)) {
            continue;
        }
        fulcrum_ideal_shares(room->times, shares);
        for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
            column(room, i, 0)[count] = shares[i].in_order_frac;
            column(room, i, 1)[count] = shares[i].mean_frac;
        }
        room->rest[count++] = room->times[ALL] / room->times[0];
    }
    (void)fill_times(room, 0);
    fulcrum_ideal_shares(room->times, shares);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        struct fulcrum_component_cost *cost = &out->costs[i];
        cost->run = shares[i];
        cost->in_order =
            with_interval(shares[i].in_order_frac, column(room, i, 0), count);
        cost->mean = with_interval(shares[i].mean_frac, column(room, i, 1), count);
    }
    out->rest = with_interval(room->times[ALL] / room->times[0], room->rest, count);
}

static void fill_gpu(struct room *room, struct fulcrum_component_costs *out)
{
    unsigned gpu = 0;
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        struct fulcrum_component_cost *cost = &out->costs[i];
        size_t set = (size_t)1 << i;
        double saved = out->gpu_s - fulcrum_variants_value(
                                        room->variants, set, 0, FULCRUM_VARIANT_gpu_s);
        gpu |= fulcrum_ideal_is_gpu(i) ? 1U << i : 0U;
        cost->gpu_s = fulcrum_ideal_is_gpu(i) ? saved : 0.0;
        cost->is_stuck =
            fulcrum_ideal_is_gpu(i) && !(fabs(saved) > STUCK_FRAC * out->gpu_s);
        cost->speedup =
            fulcrum_variants_ratio(room->variants, set, FULCRUM_VARIANT_steps_per_s);
    }
    out->gpu_speedup =
        fulcrum_variants_ratio(room->variants, gpu, FULCRUM_VARIANT_steps_per_s);
}

static enum fulcrum_status check_gpu(
    const struct fulcrum_scenario *scenario, struct fulcrum_error *err)
{
    struct fulcrum_design *design = calloc(1, sizeof *design);
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    TRY_MEMORY(design, err, "a design");
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_scenario_design(scenario, &point, design, err));
    if (design->machine.accelerator != FULCRUM_ACCELERATOR_GPU) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "machine %s has no GPU whose memory system could be another",
            design->machine.name));
    }
end:
    free(design);
    return status;
}

enum fulcrum_status fulcrum_component_costs_find(
    const struct fulcrum_component_plan *plan, struct fulcrum_component_costs *out,
    struct fulcrum_error *err)
{
    TRY(check_gpu(plan->scenario, err));
    struct room *room = room_new((size_t)plan->predict.draws);
    TRY_MEMORY(room, err, "designs with ideal parts");
    const struct fulcrum_variant_plan versions = {.scenario = plan->scenario,
        .variants = room->versions,
        .count = SETS,
        .predict = plan->predict,
        .estimate = plan->estimate,
        .watch = plan->watch,
        .user = plan->user};
    enum fulcrum_status status = fulcrum_variants_new(&versions, &room->variants, err);
    if (status == FULCRUM_OK) {
        struct fulcrum_variants *variants = room->variants;
        out->prediction = *fulcrum_variants_prediction(variants);
        out->batch_size = out->prediction.value[FULCRUM_OUTPUT_mean_batch];
        out->draw_count = fulcrum_variants_draw_count(variants);
        out->steps_per_s =
            fulcrum_variants_estimate(variants, 0, FULCRUM_VARIANT_steps_per_s);
        out->inference_s =
            fulcrum_variants_value(variants, 0, 0, FULCRUM_VARIANT_inference_s);
        out->train_step_s =
            fulcrum_variants_value(variants, 0, 0, FULCRUM_VARIANT_train_step_s);
        out->gpu_s = fulcrum_variants_value(variants, 0, 0, FULCRUM_VARIANT_gpu_s);
        fill_gpu(room, out);
        fill_run(room, out);
    }
    room_free(room);
    return status;
}
