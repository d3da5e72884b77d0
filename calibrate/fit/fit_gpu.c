/* fit_gpu.c - watts of a GPU over what it does, and how times grow on fewer SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit/fit_forms.h"
#include "model/design/scale.h"
#include "model/try.h"

/*
 * Which parameters the levels can tell is decided by which levels there are, before any
 * number is looked at: the idle draw needs a GPU that nobody holds, the exponent five
 * shares of the time, inference a level of its own. What they cannot tell is fixed at a
 * value that leaves it out (floor 0, exponent 1), and the caller is told so.
 */
/* Below it the curvature of a power law cannot be told from noise. */
enum { SHARES_FOR_EXPONENT = 5 };

enum { IDLE, FLOOR, DYNAMIC, EXPONENT, INFERENCE, PARAMETER_COUNT };

/* x is the number of the level. */
static double watts(const double *parameter, double x, const void *context)
{
    const struct fulcrum_gpu_load *load =
        &((const struct fulcrum_gpu_load *)context)[(size_t)x];
    double activity =
        fmin(1.0, load->train_frac + parameter[INFERENCE] * load->inference_frac);
    double dynamic_w =
        activity > 0 ? parameter[DYNAMIC] * pow(activity, parameter[EXPONENT]) : 0;
    return parameter[IDLE] + (load->is_active ? parameter[FLOOR] : 0) +
           dynamic_w * load->sm_frac;
}

static bool is_share(double value)
{
    return value >= 0 && value <= 1;
}

/* Different shares of the time that training takes on all SMs, rest included. */
static size_t count_shares(const struct fulcrum_gpu_load *loads, size_t count)
{
    double shares[FULCRUM_GPU_LOAD_MAX] = {0};
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        /* Inference bends the curve alike, but by a scale of its own. */
        if (loads[i].is_active && !(loads[i].inference_frac > 0) &&
            (loads[i].sm_frac >= 1 || !(loads[i].train_frac > 0))) {
            shares[held++] = loads[i].train_frac;
        }
    }
    return fulcrum_fit_distinct(shares, held, SHARES_FOR_EXPONENT);
}

static enum fulcrum_status find_told(const struct fulcrum_gpu_load *loads, size_t count,
    unsigned *told, struct fulcrum_error *err)
{
    size_t held = 0;
    size_t busy = 0;
    size_t training = 0;
    size_t inference = 0;
    double least_sm_frac = 1; /* of busy levels */
    double most_sm_frac = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_gpu_load *load = &loads[i];
        bool is_busy = load->train_frac + load->inference_frac > 0;
        held += load->is_active;
        busy += is_busy;
        training += load->train_frac > 0;
        inference += load->inference_frac > 0;
        if (is_busy) {
            least_sm_frac = fmin(least_sm_frac, load->sm_frac);
            most_sm_frac = fmax(most_sm_frac, load->sm_frac);
        }
    }
    /* A level without training has no scale to be told on. */
    FAIL_IF(held == 0 || (held == count && busy == 0), err, FULCRUM_ERR_NO_FIT,
        "GPU power: %zu levels that do not differ in load", count);
    FAIL_IF(inference > 0 && training == 0, err, FULCRUM_ERR_NO_FIT,
        "GPU power: inference without a level of training");
    /* In the order of fulcrum_gpu_power_told. */
    const bool is_told[] = {held<count, training> 0,
        count_shares(loads, count) >= SHARES_FOR_EXPONENT, inference > 0,
        most_sm_frac > least_sm_frac};
    for (size_t i = 0; i < sizeof is_told / sizeof is_told[0]; i++) {
        *told |= is_told[i] ? 1U << i : 0U;
    }
    return FULCRUM_OK;
}

/* What the levels do not tell is left out of the form. */
static void choose_parameters(struct fulcrum_fit_parameter parameter[PARAMETER_COUNT],
    const struct fulcrum_gpu_load *loads, size_t count, unsigned told)
{
    static const struct {
        unsigned needed; /* fulcrum_gpu_power_told; 0: always told */
        double value;    /* without it */
    } fixed[PARAMETER_COUNT] = {[FLOOR] = {FULCRUM_GPU_POWER_IDLE, 0},
        [DYNAMIC] = {FULCRUM_GPU_POWER_DYNAMIC, 0},
        [EXPONENT] = {FULCRUM_GPU_POWER_EXPONENT, 1},
        [INFERENCE] = {FULCRUM_GPU_POWER_INFERENCE, 1}};
    double least_w = HUGE_VAL;
    double most_w = 0;
    for (size_t i = 0; i < count; i++) {
        least_w = fmin(least_w, loads[i].watts);
        most_w = fmax(most_w, loads[i].watts);
    }
    double rise_w = fmax(most_w - least_w, 0.01 * least_w);
    const double any = (double)INFINITY;
    const struct fulcrum_fit_parameter free[PARAMETER_COUNT] = {
        [IDLE] = {.name = "idle_w", .high = any, .start = least_w},
        [FLOOR] = {.name = "floor_w", .high = any, .start = 0.1 * rise_w},
        [DYNAMIC] = {.name = "dynamic_w", .high = any, .start = rise_w},
        [EXPONENT] = {.name = "exponent",
            .scale = FULCRUM_SCALE_LOG,
            .low = 0.3,
            .high = 3,
            .start = 1,
            .start_step = 0.7},
        [INFERENCE] = {.name = "inference_rel", .high = 5, .start = 0.5},
    };
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        parameter[i] = free[i];
        if ((told & fixed[i].needed) != fixed[i].needed) {
            parameter[i].low = fixed[i].value;
            parameter[i].high = fixed[i].value;
            parameter[i].start = fixed[i].value;
        }
    }
}

enum fulcrum_status fulcrum_fit_gpu_power(struct fulcrum_gpu_power_fit *out,
    const struct fulcrum_gpu_load *loads, size_t count, struct fulcrum_error *err)
{
    struct fulcrum_gpu_power_fit result = {.told = 0};
    struct fulcrum_fit_parameter parameter[PARAMETER_COUNT];
    double x[FULCRUM_GPU_LOAD_MAX];
    double y[FULCRUM_GPU_LOAD_MAX];
    FAIL_IF(count > FULCRUM_GPU_LOAD_MAX, err, FULCRUM_ERR_RANGE,
        "GPU power: %zu levels, at most %d expected", count, FULCRUM_GPU_LOAD_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_gpu_load *load = &loads[i];
        double busy = load->train_frac + load->inference_frac;
        FAIL_IF(!is_share(load->train_frac) || !is_share(load->inference_frac) ||
                    !is_share(load->sm_frac) || !(busy <= 1) || !(load->watts > 0) ||
                    !isfinite(load->watts) || (busy > 0 && !load->is_active),
            err, FULCRUM_ERR_RANGE,
            "GPU power, level %zu: %.6g W at %.6g training, %.6g inference, %.6g "
            "of the SMs%s; watts above 0 and shares of one program expected",
            i, load->watts, load->train_frac, load->inference_frac, load->sm_frac,
            load->is_active ? "" : ", held by nobody");
    }

    TRY(find_told(loads, count, &result.told, err));
    choose_parameters(parameter, loads, count, result.told);
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i;
        y[i] = loads[i].watts;
    }
    const struct fulcrum_fit_problem problem = {.points = {"GPU power", x, y, count},
        .model = watts,
        .context = loads,
        .parameter = parameter,
        .parameter_count = PARAMETER_COUNT,
        .start_count = (result.told & FULCRUM_GPU_POWER_EXPONENT) != 0 ? 3 : 1};
    TRY(fulcrum_fit(&result.fit, &problem, err));
    const struct fulcrum_fit_estimate *estimate = result.fit.parameter;
    result.idle_w = estimate[IDLE].value;
    result.floor_w = estimate[FLOOR].value;
    result.dynamic_w = estimate[DYNAMIC].value;
    result.exponent = estimate[EXPONENT].value;
    result.inference_rel = estimate[INFERENCE].value;
    *out = result;
    return FULCRUM_OK;
}

/*
 * Inference on s of S SMs takes A + B S/s + (C + D S/s) b: four numbers, as many as t0,
 * t1, the share of math and the share of launches, so that a sweep over b and s tells
 * them all. A training step on s SMs adds two more, with the same share of math. The
 * law itself stands in model/design/scale.c and nowhere else.
 */
/* Standard deviation of a median, where the points themselves do not tell more. */
static const double sm_noise_rel = 0.03;

/* That of any share between 0 and 1. */
static const double share_sd = 0.29;

/* Above 0, so that a relative step from it is one. */
static const double least_share = 1e-4;

enum { PER_BATCH, PER_ITEM, LAUNCH, MATH, TRAIN, TRAIN_LAUNCH, SM_PARAMETERS };

/* Fewer numbers of SMs do not tell math from launches. */
enum { LEAST_SM_COUNTS = 3, LEAST_BATCHES = 2 };

struct context {
    const struct fulcrum_sm_point *points;
    struct fulcrum_workload_network shares; /* fallbacks */
    double sm_count;
};

/* The time of one point, read from a workload that was scaled to its SMs. */
static double time_of(const double *parameter, const struct context *context,
    const struct fulcrum_sm_point *point)
{
    struct fulcrum_workload workload = {.network = context->shares};
    workload.network.per_batch_s = parameter[PER_BATCH];
    workload.network.per_item_s = parameter[PER_ITEM];
    workload.network.launch_bound_frac = parameter[LAUNCH];
    workload.training.train_step_s = parameter[TRAIN];
    workload.training.launch_bound_frac = parameter[TRAIN_LAUNCH];
    fulcrum_set_math_frac(&workload.network, parameter[MATH]);
    const struct fulcrum_gpu_scale scale =
        fulcrum_sm_scale(&workload.network, context->sm_count, point->sm_count);
    fulcrum_scale_gpu_times(&workload, &scale, 1);
    return point->batch > 0 ? workload.network.per_batch_s +
                                  workload.network.per_item_s * point->batch
                            : workload.training.train_step_s;
}

/* x is the index of the point. */
static double point_s(const double *parameter, double x, const void *context)
{
    const struct context *sweep = context;
    return time_of(parameter, sweep, &sweep->points[(size_t)x]);
}

static struct context context_of(const struct fulcrum_sm_point *points, double sm_count)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    return (struct context){points, design.workload.network, sm_count};
}

/* The time of the point nearest to `batch` on the most SMs there are; 0: none. */
static double start_s(const struct fulcrum_sm_point *points, size_t count, double batch)
{
    const struct fulcrum_sm_point *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_sm_point *point = &points[i];
        if ((point->batch > 0) != (batch > 0)) {
            continue;
        }
        double off = fabs(point->batch - batch);
        double best_off = best != NULL ? fabs(best->batch - batch) : 0;
        if (best == NULL || off < best_off ||
            (!(off > best_off) && point->sm_count > best->sm_count)) {
            best = point;
        }
    }
    return best != NULL ? best->time_s : 0;
}

static struct fulcrum_fit_parameter share(const char *name, double start)
{
    return (struct fulcrum_fit_parameter){.name = name,
        .scale = FULCRUM_SCALE_LINEAR,
        .low = least_share,
        .high = 1,
        .start = fmin(fmax(start, least_share), 1 - least_share),
        .prior_sd = share_sd,
        .start_step = share_sd};
}

static struct fulcrum_fit_parameter seconds(const char *name, double start)
{
    return (struct fulcrum_fit_parameter){.name = name,
        .scale = FULCRUM_SCALE_LINEAR,
        .high = (double)INFINITY,
        .start = start,
        .start_step = start};
}

static void fill_parameters(struct fulcrum_fit_parameter parameter[SM_PARAMETERS],
    const struct context *context, size_t count)
{
    const struct fulcrum_sm_point *points = context->points;
    double most = 1;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, points[i].batch);
    }
    double train_s = start_s(points, count, 0);
    double least_s = start_s(points, count, 1);
    double rise_s = start_s(points, count, most) - least_s;
    double per_item_s = fmax(rise_s, 1e-3 * least_s) / most;
    parameter[PER_BATCH] = seconds("per_batch_s", least_s);
    parameter[PER_ITEM] = seconds("per_item_s", per_item_s);
    parameter[LAUNCH] = share("launch_bound_frac", context->shares.launch_bound_frac);
    parameter[MATH] = share("math_frac", context->shares.math_frac);
    parameter[TRAIN] = seconds("train_step_s", train_s);
    parameter[TRAIN_LAUNCH] = share("train_launch_bound_frac", share_sd);
    /* Given as 0, not fitted, where no point depends on them. */
    for (size_t i = TRAIN; i < SM_PARAMETERS && !(train_s > 0); i++) {
        parameter[i] = (struct fulcrum_fit_parameter){.name = parameter[i].name};
    }
}

/* The least is there of what inference varies. */
static enum fulcrum_status check_points(const struct context *context, size_t count,
    double *room, struct fulcrum_error *err)
{
    double *x = room;
    double *y = room + count;
    size_t inferring = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_sm_point *point = &context->points[i];
        bool is_good = point->sm_count >= 1 && point->sm_count <= context->sm_count &&
                       point->batch >= 0 && isfinite(point->batch);
        FAIL_IF(!is_good, err, FULCRUM_ERR_RANGE,
            "SM sweep: a batch of %.6g on %.6g SMs, expected at least 0 and 1 to "
            "%.6g",
            point->batch, point->sm_count, context->sm_count);
        if (point->batch > 0) {
            x[inferring] = point->sm_count;
            y[inferring++] = point->batch;
        }
    }
    size_t sms = fulcrum_fit_distinct(x, inferring, LEAST_SM_COUNTS);
    size_t sizes = fulcrum_fit_distinct(y, inferring, LEAST_BATCHES);
    FAIL_IF(sms < LEAST_SM_COUNTS || sizes < LEAST_BATCHES, err, FULCRUM_ERR_NO_FIT,
        "SM sweep: inference of %zu batch sizes on %zu numbers of SMs, at least %d "
        "and %d expected",
        sizes, sms, LEAST_BATCHES, LEAST_SM_COUNTS);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_sm(struct fulcrum_sm_fit *out,
    const struct fulcrum_sm_point *points, size_t count, double sm_count,
    struct fulcrum_error *err)
{
    const struct context context = context_of(points, sm_count);
    struct fulcrum_fit_parameter parameter[SM_PARAMETERS];
    struct fulcrum_fit_result fit;
    enum fulcrum_status status = FULCRUM_OK;
    double *x = calloc(2 * count + 1, sizeof *x);
    TRY_MEMORY(x, err, "SM sweep");
    double *y = x + count;
    TRY_OR_END(check_points(&context, count, x, err));
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i;
        y[i] = points[i].time_s;
    }
    fill_parameters(parameter, &context, count);
    const struct fulcrum_fit_problem problem = {.points = {"SM sweep", x, y, count},
        .model = point_s,
        .context = &context,
        .parameter = parameter,
        .parameter_count = SM_PARAMETERS,
        .noise_rel = sm_noise_rel,
        .start_count = 4};
    TRY_OR_END(fulcrum_fit(&fit, &problem, err));
    bool has_train = fit.parameter[TRAIN].value > 0;
    *out = (struct fulcrum_sm_fit){.sm_count = sm_count,
        .per_batch_s = fit.parameter[PER_BATCH].value,
        .per_item_s = fit.parameter[PER_ITEM].value,
        .train_step_s = has_train ? fit.parameter[TRAIN].value : (double)NAN,
        .launch_bound_frac = fit.parameter[LAUNCH].value,
        .math_frac = fit.parameter[MATH].value,
        .train_launch_bound_frac =
            has_train ? fit.parameter[TRAIN_LAUNCH].value : (double)NAN,
        .fit = fit};
end:
    free(x);
    return status;
}

double fulcrum_sm_fit_s(
    const struct fulcrum_sm_fit *fit, const struct fulcrum_sm_point *point)
{
    const struct context context = context_of(point, fit->sm_count);
    const double parameter[SM_PARAMETERS] = {[PER_BATCH] = fit->per_batch_s,
        [PER_ITEM] = fit->per_item_s,
        [LAUNCH] = fit->launch_bound_frac,
        [MATH] = fit->math_frac,
        [TRAIN] = fit->train_step_s,
        [TRAIN_LAUNCH] = fit->train_launch_bound_frac};
    return time_of(parameter, &context, point);
}
