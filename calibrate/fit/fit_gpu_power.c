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

static enum fulcrum_status check_levels(
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

/* What the levels tell, by what there is among them. */
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
        enum fulcrum_gpu_power_told needed;
        double value; /* without it */
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
        double value = fixed[i].value;
        parameter[i] = free[i];
        if ((told & fixed[i].needed) != fixed[i].needed) {
            parameter[i].low = value;
            parameter[i].high = value;
            parameter[i].start = value;
        }
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
    struct fulcrum_gpu_power_fit result = {.told = 0};
    TRY(check_levels(loads, count, err));
    TRY(find_told(loads, count, &result.told, err));
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
