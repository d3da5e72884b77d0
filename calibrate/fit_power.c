/* fit_power.c - watts over utilisation: idle + dynamic U^alpha. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit_power.h"

#include <assert.h>
#include <math.h>

/* Below it the curvature of a power law cannot be told from noise. */
enum { LEVELS_FOR_ALPHA = 5 };

static const double alpha_low = 0.3;
static const double alpha_high = 3.0;

static double watts(const double *parameter, double x, const void *context)
{
    (void)context;
    return parameter[0] + (x > 0 ? parameter[1] * pow(x, parameter[2]) : 0);
}

double fulcrum_power_fit_w(const struct fulcrum_power_fit *fit, double busy_frac)
{
    assert(busy_frac >= 0 && busy_frac <= 1);
    const double parameter[] = {fit->idle_w, fit->dynamic_w, fit->alpha};
    return watts(parameter, busy_frac, NULL);
}

static int is_alpha_free(
    const struct fulcrum_point_set *levels, enum fulcrum_power_form form)
{
    return form == FULCRUM_POWER_LAW ||
           (form == FULCRUM_POWER_AUTO && levels->count >= LEVELS_FOR_ALPHA);
}

static enum fulcrum_status fit_levels(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_point_set *levels,
    enum fulcrum_power_form form, struct fulcrum_error *err)
{
    size_t last = levels->count - 1;
    if (levels->x[last] > 1) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "%s: utilisation %.6g is above 1",
            samples->what, levels->x[last]);
    }
    int free_alpha = is_alpha_free(levels, form);
    double rise = fmax(levels->y[last] - levels->y[0], 0.01 * levels->y[last]);
    /* Several starts: idle and alpha trade against each other where U is never low. */
    struct fulcrum_fit_parameter parameter[] = {
        {.name = "idle_w", .high = (double)INFINITY, .start = levels->y[0]},
        {.name = "dynamic_w", .high = (double)INFINITY, .start = rise},
        {.name = "alpha",
            .scale = FULCRUM_SCALE_LOG,
            .low = free_alpha ? alpha_low : 1,
            .high = free_alpha ? alpha_high : 1,
            .start = 1,
            .start_step = 0.7},
    };
    struct fulcrum_fit_problem problem = {.what = samples->what,
        .model = watts,
        .parameter = parameter,
        .parameter_count = 3,
        .x = samples->x,
        .y = samples->y,
        .count = samples->count,
        .start_count = free_alpha ? 3 : 1};
    struct fulcrum_power_fit result = {0};
    enum fulcrum_status status = fulcrum_fit(&result.fit, &problem, err);
    if (status == FULCRUM_OK) {
        result.idle_w = result.fit.parameter[0].value;
        result.dynamic_w = result.fit.parameter[1].value;
        result.alpha = result.fit.parameter[2].value;
        *out = result;
    }
    return status;
}

enum fulcrum_status fulcrum_fit_power(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, enum fulcrum_power_form form,
    struct fulcrum_error *err)
{
    struct fulcrum_point_set levels = {0};
    enum fulcrum_status status = fulcrum_point_set_new(&levels, samples, err);
    if (status == FULCRUM_OK) {
        status = fit_levels(out, samples, &levels, form, err);
    }
    fulcrum_point_set_free(&levels);
    return status;
}
