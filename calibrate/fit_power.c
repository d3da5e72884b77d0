/* fit_power.c - watts over utilisation: idle + dynamic U^alpha. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit_power.h"

#include <assert.h>
#include <math.h>

#include "model/try.h"

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

double fulcrum_power_fit_error_w(const struct fulcrum_power_fit *fit, double busy_frac)
{
    assert(busy_frac >= 0 && busy_frac <= 1);
    if ((fit->fit.warnings & FULCRUM_FIT_UNKNOWN_ERROR) != 0) {
        return (double)NAN;
    }
    double share = busy_frac > 0 ? pow(busy_frac, fit->alpha) : 0;
    double bend = busy_frac > 0 ? fit->dynamic_w * share * log(busy_frac) : 0;
    const double slope[] = {1, share, bend};
    double variance = 0;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            variance += slope[i] * slope[j] * fit->fit.covariance[i * 3 + j];
        }
    }
    return sqrt(fmax(0, variance));
}

static int is_alpha_free(
    const struct fulcrum_point_set *levels, const struct fulcrum_power_options *options)
{
    return options->form == FULCRUM_POWER_LAW ||
           (options->form == FULCRUM_POWER_AUTO &&
               (options->alpha > 0 || levels->count >= LEVELS_FOR_ALPHA));
}

static enum fulcrum_status check(const struct fulcrum_samples *samples,
    const struct fulcrum_point_set *levels, const struct fulcrum_power_options *options,
    struct fulcrum_error *err)
{
    double most = levels->x[levels->count - 1];
    if (most > 1) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "%s: utilisation %.6g is above 1",
            samples->what, most);
    }
    if (!(options->least_idle_w >= 0) || !isfinite(options->least_idle_w)) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: least_idle_w = %.6g, at least 0 expected", samples->what,
            options->least_idle_w);
    }
    int has_prior = options->alpha < 0 || options->alpha > 0 || isnan(options->alpha);
    if (has_prior && (!(options->alpha >= alpha_low && options->alpha <= alpha_high) ||
                         !(options->alpha_factor > 1) || !(options->noise_rel > 0))) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: alpha = %.6g x or / %.6g beside noise_rel = %.6g is no prior, "
            "expected "
            "alpha in [%.6g, %.6g], a factor above 1 and noise above 0",
            samples->what, options->alpha, options->alpha_factor, options->noise_rel,
            alpha_low, alpha_high);
    }
    return FULCRUM_OK;
}

static struct fulcrum_fit_parameter alpha_parameter(
    const struct fulcrum_power_options *options, int is_free)
{
    struct fulcrum_fit_parameter alpha = {
        .name = "alpha", .scale = FULCRUM_SCALE_LOG, .low = 1, .high = 1, .start = 1};
    if (is_free) {
        alpha.low = alpha_low;
        alpha.high = alpha_high;
        alpha.start_step = 0.7;
    }
    if (is_free && options->alpha > 0) {
        alpha.start = options->alpha;
        alpha.prior_sd = log(options->alpha_factor);
    }
    return alpha;
}

static enum fulcrum_status fit_levels(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_point_set *levels,
    const struct fulcrum_power_options *options, struct fulcrum_error *err)
{
    size_t last = levels->count - 1;
    int free_alpha = is_alpha_free(levels, options);
    double rise = fmax(levels->y[last] - levels->y[0], 0.01 * levels->y[last]);
    /* Several starts: idle and alpha trade against each other where U is never low. */
    struct fulcrum_fit_parameter parameter[] = {
        {.name = "idle_w",
            .low = options->least_idle_w,
            .high = (double)INFINITY,
            .start = fmax(levels->y[0], options->least_idle_w)},
        {.name = "dynamic_w", .high = (double)INFINITY, .start = rise},
        alpha_parameter(options, free_alpha),
    };
    struct fulcrum_fit_problem problem = {.what = samples->what,
        .model = watts,
        .parameter = parameter,
        .parameter_count = 3,
        .x = samples->x,
        .y = samples->y,
        .count = samples->count,
        .noise_rel = options->noise_rel,
        .start_count = free_alpha ? 3 : 1};
    struct fulcrum_power_fit result = {0};
    TRY(fulcrum_fit(&result.fit, &problem, err));
    result.idle_w = result.fit.parameter[0].value;
    result.dynamic_w = result.fit.parameter[1].value;
    result.alpha = result.fit.parameter[2].value;
    *out = result;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_power_with(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_power_options *options,
    struct fulcrum_error *err)
{
    struct fulcrum_point_set levels = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_point_set_new(&levels, samples, err));
    TRY_OR_END(check(samples, &levels, options, err));
    status = fit_levels(out, samples, &levels, options, err);
end:
    fulcrum_point_set_free(&levels);
    return status;
}

enum fulcrum_status fulcrum_fit_power(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, enum fulcrum_power_form form,
    struct fulcrum_error *err)
{
    const struct fulcrum_power_options options = {.form = form};
    return fulcrum_fit_power_with(out, samples, &options, err);
}
