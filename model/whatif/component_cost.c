/* component_cost.c - what each component costs a design, in GPU time and in a run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every set of components is a version of the design (variants.h) of its own, and each
 * draw of parameters splits its own run. GPU times come from the same designs: what is
 * gone from them is what the component took.
 */
#include "model/whatif/component_cost.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/interval.h"
#include "model/try.h"

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
