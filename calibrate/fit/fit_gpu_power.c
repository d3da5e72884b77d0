/* fit_gpu_power.c - watts of a GPU over what it does: (12). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which parameters the levels can tell is decided by which levels there are, before any
 * number is looked at: the idle draw needs a GPU that nobody holds, the exponent five
 * shares of the time, inference a level of its own. What they cannot tell is fixed at a
 * value that leaves it out (floor 0, exponent 1), and the caller is told so.
 */
#include "calibrate/fit/fit_forms.h"

#include <math.h>
#include <stdbool.h>

#include "model/try.h"

/* Below it the curvature of a power law cannot be told from noise. */
enum { SHARES_FOR_EXPONENT = 5 };

enum { IDLE, FLOOR, DYNAMIC, EXPONENT, INFERENCE, PARAMETER_COUNT };

static double watts_of(const double *parameter, const struct fulcrum_gpu_load *load)
{
    double activity =
        fmin(1.0, load->train_frac + parameter[INFERENCE] * load->inference_frac);
    double dynamic_w =
        activity > 0 ? parameter[DYNAMIC] * pow(activity, parameter[EXPONENT]) : 0;
    return parameter[IDLE] + (load->is_active ? parameter[FLOOR] : 0) +
           dynamic_w * load->sm_frac;
}

/* x is the number of the level. */
static double watts(const double *parameter, double x, const void *context)
{
    const struct fulcrum_gpu_load *loads = context;
    return watts_of(parameter, &loads[(size_t)x]);
}

double fulcrum_gpu_power_fit_w(
    const struct fulcrum_gpu_power_fit *fit, const struct fulcrum_gpu_load *load)
{
    const double parameter[PARAMETER_COUNT] = {
        fit->idle_w, fit->floor_w, fit->dynamic_w, fit->exponent, fit->inference_rel};
    return watts_of(parameter, load);
}

static bool is_share(double value)
{
    return value >= 0 && value <= 1;
}

static enum fulcrum_status check(
    const struct fulcrum_gpu_load *loads, size_t count, struct fulcrum_error *err)
{
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
    return FULCRUM_OK;
}

/* What the set of levels holds. */
struct variety {
    bool has_nobody; /* a level of a GPU that nobody holds */
    bool has_held;
    bool has_busy;
    bool has_inference;
    bool has_training;
    double least_sm_frac; /* of busy levels */
    double most_sm_frac;
    size_t share_count; /* different shares of the time on all SMs, rest included */
};

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

static struct variety look(const struct fulcrum_gpu_load *loads, size_t count)
{
    struct variety variety = {.least_sm_frac = 1};
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_gpu_load *load = &loads[i];
        bool is_busy = load->train_frac + load->inference_frac > 0;
        variety.has_nobody |= !load->is_active;
        variety.has_held |= load->is_active;
        variety.has_busy |= is_busy;
        variety.has_inference |= load->inference_frac > 0;
        variety.has_training |= load->train_frac > 0;
        if (is_busy) {
            variety.least_sm_frac = fmin(variety.least_sm_frac, load->sm_frac);
            variety.most_sm_frac = fmax(variety.most_sm_frac, load->sm_frac);
        }
    }
    variety.share_count = count_shares(loads, count);
    return variety;
}

static unsigned tell(const struct variety *variety)
{
    unsigned told = 0;
    told |= variety->has_nobody ? FULCRUM_GPU_POWER_IDLE : 0;
    told |= variety->has_busy && variety->has_training ? FULCRUM_GPU_POWER_DYNAMIC : 0;
    told |=
        variety->share_count >= SHARES_FOR_EXPONENT ? FULCRUM_GPU_POWER_EXPONENT : 0;
    told |= variety->has_inference && variety->has_training
                ? FULCRUM_GPU_POWER_INFERENCE
                : 0;
    told |=
        variety->most_sm_frac > variety->least_sm_frac ? FULCRUM_GPU_POWER_SHARE : 0;
    return told;
}

static void fix(struct fulcrum_fit_parameter *parameter, double value)
{
    parameter->low = value;
    parameter->high = value;
    parameter->start = value;
}

static double extreme_w(const struct fulcrum_gpu_load *loads, size_t count, int most)
{
    double found_w = loads[0].watts;
    for (size_t i = 1; i < count; i++) {
        found_w = most ? fmax(found_w, loads[i].watts) : fmin(found_w, loads[i].watts);
    }
    return found_w;
}

/* What the levels do not tell is left out of the form. */
static void choose_parameters(struct fulcrum_fit_parameter parameter[PARAMETER_COUNT],
    const struct fulcrum_gpu_load *loads, size_t count, unsigned told)
{
    double least_w = extreme_w(loads, count, 0);
    double rise_w = fmax(extreme_w(loads, count, 1) - least_w, 0.01 * least_w);
    const double any = (double)INFINITY;
    parameter[IDLE] =
        (struct fulcrum_fit_parameter){.name = "idle_w", .high = any, .start = least_w};
    parameter[FLOOR] = (struct fulcrum_fit_parameter){
        .name = "floor_w", .high = any, .start = 0.1 * rise_w};
    parameter[DYNAMIC] = (struct fulcrum_fit_parameter){
        .name = "dynamic_w", .high = any, .start = rise_w};
    parameter[EXPONENT] = (struct fulcrum_fit_parameter){.name = "exponent",
        .scale = FULCRUM_SCALE_LOG,
        .low = 0.3,
        .high = 3,
        .start = 1,
        .start_step = 0.7};
    parameter[INFERENCE] = (struct fulcrum_fit_parameter){
        .name = "inference_rel", .high = 5, .start = 0.5};
    if (!(told & FULCRUM_GPU_POWER_IDLE)) {
        fix(&parameter[FLOOR], 0);
    }
    if (!(told & FULCRUM_GPU_POWER_DYNAMIC)) {
        fix(&parameter[DYNAMIC], 0);
    }
    if (!(told & FULCRUM_GPU_POWER_EXPONENT)) {
        fix(&parameter[EXPONENT], 1);
    }
    if (!(told & FULCRUM_GPU_POWER_INFERENCE)) {
        fix(&parameter[INFERENCE], 1);
    }
}

static enum fulcrum_status fit_levels(struct fulcrum_gpu_power_fit *out,
    const struct fulcrum_gpu_load *loads, size_t count, struct fulcrum_error *err)
{
    struct fulcrum_fit_parameter parameter[PARAMETER_COUNT];
    double x[FULCRUM_GPU_LOAD_MAX];
    double y[FULCRUM_GPU_LOAD_MAX];
    choose_parameters(parameter, loads, count, out->told);
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i;
        y[i] = loads[i].watts;
    }
    const struct fulcrum_fit_problem problem = {.what = "GPU power",
        .model = watts,
        .context = loads,
        .parameter = parameter,
        .parameter_count = PARAMETER_COUNT,
        .x = x,
        .y = y,
        .count = count,
        .start_count = (out->told & FULCRUM_GPU_POWER_EXPONENT) != 0 ? 3 : 1};
    return fulcrum_fit(&out->fit, &problem, err);
}

enum fulcrum_status fulcrum_fit_gpu_power(struct fulcrum_gpu_power_fit *out,
    const struct fulcrum_gpu_load *loads, size_t count, struct fulcrum_error *err)
{
    TRY(check(loads, count, err));
    struct variety variety = look(loads, count);
    struct fulcrum_gpu_power_fit result = {.told = tell(&variety)};
    /* A level without training has no scale to be told on. */
    FAIL_IF(!variety.has_held || (!variety.has_nobody && !variety.has_busy), err,
        FULCRUM_ERR_NO_FIT, "GPU power: %zu levels that do not differ in load", count);
    FAIL_IF(variety.has_inference && !variety.has_training, err, FULCRUM_ERR_NO_FIT,
        "GPU power: inference without a level of training");
    TRY(fit_levels(&result, loads, count, err));
    const struct fulcrum_fit_estimate *estimate = result.fit.parameter;
    result.idle_w = estimate[IDLE].value;
    result.floor_w = estimate[FLOOR].value;
    result.dynamic_w = estimate[DYNAMIC].value;
    result.exponent = estimate[EXPONENT].value;
    result.inference_rel = estimate[INFERENCE].value;
    *out = result;
    return FULCRUM_OK;
}
