/* predict_parts.c - references of kind gpu_parts: gains of processes on parts of a GPU.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The law is model/predict/partition.h's: a stage that keeps a share u of the SMs busy
 * for a time T has u T of work that goes with its share of the SMs, and (1 - u) T that
 * no share shortens. Ratios of T and u are published, one absolute u is not. It is read
 * from one pair of published numbers: work per second and utilisation rise together,
 * so that their ratio is the utilisation alone, whatever the number of instances.
 */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "model/try.h"

/* Instances that a GPU can be cut into: 7 compute slices. */
static const double most_instances = 7.0;

/* Time and busy share of one stage, those of simulation being 1 and busy_frac. */
static void put_stage(
    struct fulcrum_gpu_loop *loop, const char *name, double time_s, double busy_frac)
{
    struct fulcrum_gpu_stage *stage = &loop->stages[loop->count++];
    *stage = (struct fulcrum_gpu_stage){
        .per_round = {
            .latency_s = time_s * (1.0 - busy_frac), .sm_s = time_s * busy_frac}};
    (void)snprintf(stage->name, sizeof stage->name, "%s", name);
}

void fulcrum_parts_loop(const struct fulcrum_parts_inputs *inputs, double busy_frac,
    int trains, struct fulcrum_gpu_loop *out)
{
    *out = (struct fulcrum_gpu_loop){.steps = 1.0, .memory_byte = (double)INFINITY};
    put_stage(out, "simulation", 1.0, busy_frac);
    put_stage(
        out, "agent", 1.0 / inputs->t_s_over_t_a, busy_frac / inputs->r_s_over_r_a);
    if (trains) {
        put_stage(out, "training", 1.0 / inputs->t_s_over_t_t,
            busy_frac / inputs->r_s_over_r_t);
    }
}

double fulcrum_parts_utilisation(
    const struct fulcrum_parts_inputs *inputs, double busy_frac, int trains)
{
    struct fulcrum_gpu_loop loop;
    struct fulcrum_placed alone;
    fulcrum_parts_loop(inputs, busy_frac, trains, &loop);
    fulcrum_place_exclusive(&loop, &alone);
    return alone.sm_work_frac;
}

double fulcrum_parts_gain(const struct fulcrum_parts_inputs *inputs, double busy_frac,
    int trains, double instances)
{
    struct fulcrum_gpu_loop loop;
    struct fulcrum_placed alone;
    struct fulcrum_placed placed;
    double talk = trains ? inputs->communication_overhead_frac : 0.0;
    const struct fulcrum_gpu_sharing sharing = {.byte_per_s = (double)INFINITY,
        .overhead_frac = (1.0 + inputs->launch_overhead_frac) * (1.0 + talk) - 1.0,
        .envs_each = 1};
    fulcrum_parts_loop(inputs, busy_frac, trains, &loop);
    const struct fulcrum_grouping whole = {
        1, {{(1U << loop.count) - 1U, instances, 0.0}}};
    fulcrum_place_exclusive(&loop, &alone);
    /* Memory is all that placements fail by, and of that there is no end. */
    return fulcrum_place_shares(&loop, &sharing, &whole, &placed, NULL) == FULCRUM_OK
               ? placed.rounds_per_s / alone.rounds_per_s
               : FULCRUM_UNKNOWN;
}

/* Observation of that name; the count where there is none. */
static size_t find(const struct fulcrum_reference_point *point, const char *quantity)
{
    size_t i = 0;
    while (i < point->observation_count &&
           strcmp(point->observations[i].quantity, quantity) != 0) {
        i++;
    }
    return i;
}

static enum fulcrum_status read_value(const struct fulcrum_reference *reference,
    const char *quantity, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *point = &reference->points[0];
    size_t i = find(point, quantity);
    FAIL_IF(i == point->observation_count || !(point->observations[i].value > 0.0), err,
        FULCRUM_ERR_MISSING,
        "reference %s: points[0].observed.%s is missing, a number above 0 expected",
        reference->name, quantity);
    *out = point->observations[i].value;
    return FULCRUM_OK;
}

static enum fulcrum_status read_inputs(const struct fulcrum_reference *reference,
    struct fulcrum_parts_inputs *out, struct fulcrum_error *err)
{
    const struct {
        const char *quantity;
        double *value;
    } wanted[] = {
        {"t_s_over_t_a", &out->t_s_over_t_a},
        {"t_s_over_t_t", &out->t_s_over_t_t},
        {"r_s_over_r_a", &out->r_s_over_r_a},
        {"r_s_over_r_t", &out->r_s_over_r_t},
        {"kernel_launch_overhead_frac", &out->launch_overhead_frac},
        {"communication_overhead_frac", &out->communication_overhead_frac},
    };
    FAIL_IF(!(reference->point_count > 0), err, FULCRUM_ERR_MISSING,
        "reference %s: points is empty, one point expected", reference->name);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        TRY(read_value(reference, wanted[i].quantity, wanted[i].value, err));
    }
    return FULCRUM_OK;
}

/* gain - 1 times the utilisation alone is what utilisation gains. */
static enum fulcrum_status find_busy(const struct fulcrum_reference *reference,
    const struct fulcrum_parts_inputs *inputs, double *out, struct fulcrum_error *err)
{
    double gain = 0.0;
    double more = 0.0;
    TRY(read_value(reference, "serving_speedup_mean", &gain, err));
    TRY(read_value(reference, "serving_gpu_util_gain_mean_frac", &more, err));
    double busy = more / (gain - 1.0) / fulcrum_parts_utilisation(inputs, 1.0, 0);
    FAIL_IF(!(busy > 0.0 && busy <= 1.0), err, FULCRUM_ERR_RANGE,
        "reference %s: a gain of %.4g beside %.4g more utilisation would keep %.4g "
        "of the SMs busy: expected at most 1",
        reference->name, gain, more, busy);
    *out = busy;
    return FULCRUM_OK;
}

/* What is predicted: a gain, or what utilisation gains with it. */
static const struct row {
    const char *quantity;
    int trains;
    bool is_utilisation;
} rows[] = {
    {"serving_speedup_most", 0, 0},
    {"training_over_nccl_most", 1, 0},
    {"training_over_horovod_most", 1, 0},
    {"serving_gpu_util_gain_most_frac", 0, 1},
    {"training_gpu_util_gain_most_frac", 1, 1},
};

static void predict_row(struct fulcrum_comparison *comparison,
    const struct fulcrum_parts_inputs *inputs, double busy, const struct row *row)
{
    const struct fulcrum_reference *reference = comparison->reference;
    size_t observation = find(&reference->points[0], row->quantity);
    if (observation == reference->points[0].observation_count) {
        return;
    }
    double alone = fulcrum_parts_utilisation(inputs, busy, row->trains);
    double gain = fulcrum_parts_gain(inputs, busy, row->trains, most_instances);
    struct fulcrum_compared *item = fulcrum_comparison_add(
        comparison, 0, observation, row->is_utilisation ? (gain - 1.0) * alone : gain);
    item->baseline[FULCRUM_BASELINE_BOUNDS] =
        row->is_utilisation ? 1.0 - alone : 1.0 / alone;
}

enum fulcrum_status fulcrum_predict_parts(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct fulcrum_parts_inputs inputs = {0};
    struct fulcrum_comparison comparison = {0};
    double busy = 0.0;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_inputs(reference, &inputs, err));
    TRY_OR_END(find_busy(reference, &inputs, &busy, err));
    TRY_OR_END(fulcrum_comparison_init(&comparison, reference, err));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        predict_row(&comparison, &inputs, busy, &rows[i]);
    }
end:
    return fulcrum_comparison_end(&comparison, status, out);
}
