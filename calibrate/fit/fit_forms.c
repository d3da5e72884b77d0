/* fit_forms.c - fits of a few points: batch times, pauses, watts over utilisation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit/fit_forms.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "model/predict/pauses.h"
#include "model/status.h"
#include "model/try.h"

/* Samples sorted and reduced to one median per x. */

enum fulcrum_status fulcrum_point_set_new(struct fulcrum_point_set *out,
    const struct fulcrum_samples *samples, struct fulcrum_error *err)
{
    size_t count = samples->count;
    FAIL_IF(count == 0, err, FULCRUM_ERR_NO_FIT, "%s: no points", samples->what);
    TRY(fulcrum_fit_check_points(samples->what, samples->x, samples->y, count, err));
    struct fulcrum_point_set set = {
        .x = calloc(count, sizeof *set.x), .y = calloc(count, sizeof *set.y)};
    if (set.x == NULL || set.y == NULL) {
        fulcrum_point_set_free(&set);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", samples->what);
    }
    memcpy(set.x, samples->x, count * sizeof *set.x);
    memcpy(set.y, samples->y, count * sizeof *set.y);
    gsl_sort2(set.x, 1, set.y, 1, count);
    /* Overwrites x and y, sorted by x, with one point per x. */
    for (size_t first = 0, end = 0; first < count; first = end) {
        for (end = first + 1; end < count && !(set.x[end] > set.x[first]); end++) {
        }
        gsl_sort(set.y + first, 1, end - first);
        set.x[set.count] = set.x[first];
        set.y[set.count++] =
            gsl_stats_median_from_sorted_data(set.y + first, 1, end - first);
    }
    *out = set;
    return FULCRUM_OK;
}

void fulcrum_point_set_free(struct fulcrum_point_set *set)
{
    free(set->x);
    free(set->y);
    *set = (struct fulcrum_point_set){0};
}

double fulcrum_point_set_at(const struct fulcrum_point_set *set, double x)
{
    assert(set->count > 0);
    size_t i = 0;
    while (i < set->count && set->x[i] < x) {
        i++;
    }
    if (i == 0) {
        return set->y[0];
    }
    if (i == set->count) {
        return set->y[set->count - 1];
    }
    double share = (x - set->x[i - 1]) / (set->x[i] - set->x[i - 1]);
    return set->y[i - 1] + share * (set->y[i] - set->y[i - 1]);
}

/* The line t(b) = t0 + t1 b, and whether it may replace a table. */

/* BLAS libraries switch kernels with the size, which no line follows. */
static const double most_off_rel = 0.05;

static double line_s(const double *parameter, double x, const void *context)
{
    (void)context;
    return parameter[0] + parameter[1] * x;
}

static void advise_line(
    struct fulcrum_line_fit *out, const struct fulcrum_point_set *set)
{
    double worst = 0;
    double at = 0;
    for (size_t i = 0; i < set->count; i++) {
        double fitted = out->per_batch_s + out->per_item_s * set->x[i];
        double off = fabs(fitted - set->y[i]) / set->y[i];
        at = off > worst ? set->x[i] : at;
        worst = fmax(worst, off);
    }
    out->advice = worst > most_off_rel ? FULCRUM_ADVISE_TABLE : FULCRUM_ADVISE_FORM;
    (void)snprintf(out->reason, sizeof out->reason,
        "the line is at most %.3g %% off a median, at size %.6g (limit %.3g %%)",
        100 * worst, at, 100 * most_off_rel);
}

enum fulcrum_status fulcrum_fit_batch_time(struct fulcrum_line_fit *out,
    const double *size, const double *time_s, size_t count, struct fulcrum_error *err)
{
    struct fulcrum_point_set set = {0};
    TRY(fulcrum_point_set_new(
        &set, &(struct fulcrum_samples){"batch time", size, time_s, count}, err));
    /* Through the points of least and greatest size: near enough, and never singular.
     */
    assert(set.x != NULL && set.count > 0);
    size_t last = set.count - 1;
    double run = set.x[last] - set.x[0];
    double slope = run > 0 ? (set.y[last] - set.y[0]) / run : 0;
    struct fulcrum_fit_parameter parameter[] = {
        {.name = "per_batch_s",
            .high = (double)INFINITY,
            .start = set.y[0] - slope * set.x[0]},
        {.name = "per_item_s", .high = (double)INFINITY, .start = slope},
    };
    struct fulcrum_fit_problem problem = {.what = "batch time",
        .model = line_s,
        .parameter = parameter,
        .parameter_count = 2,
        .x = size,
        .y = time_s,
        .count = count};
    struct fulcrum_line_fit result = {0};
    enum fulcrum_status status = fulcrum_fit(&result.fit, &problem, err);
    if (status == FULCRUM_OK) {
        result.per_batch_s = result.fit.parameter[0].value;
        result.per_item_s = result.fit.parameter[1].value;
        advise_line(&result, &set);
        *out = result;
    }
    fulcrum_point_set_free(&set);
    return status;
}

/* How much longer a batch takes after the learner paused. */

/* Of a median, where few samples lie behind it. */
#define NOISE_REL 0.02

/* Of the order of a scheduler's slice, as nothing better is known. */
#define COOLING_S 5e-3

static double time_after_pause(
    const double *parameter, double pause_s, const void *context)
{
    (void)context;
    return 1.0 + fulcrum_cold_s(parameter[0], parameter[1], pause_s);
}

enum fulcrum_status fulcrum_fit_pause(struct fulcrum_fit_result *out,
    const double *pause_s, const double *time_rel, size_t count,
    struct fulcrum_error *err)
{
    static const struct fulcrum_fit_parameter parameters[] = {
        {.name = "cold",
            .scale = FULCRUM_SCALE_LINEAR,
            .low = 0.0,
            .high = 1e3,
            .start = 0.5,
            .start_step = 0.4},
        {.name = "cooling_s",
            .scale = FULCRUM_SCALE_LOG,
            .low = 1e-5,
            .high = 1.0,
            .start = COOLING_S,
            .prior_sd = 1.0,
            .start_step = 1.0},
    };
    const struct fulcrum_fit_problem problem = {.what = "inference after a pause",
        .model = time_after_pause,
        .parameter = parameters,
        .parameter_count = sizeof parameters / sizeof parameters[0],
        .x = pause_s,
        .y = time_rel,
        .count = count,
        .noise_rel = NOISE_REL,
        .start_count = 4,
        .loss = FULCRUM_FIT_HUBER};
    return fulcrum_fit(out, &problem, err);
}

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
    return fulcrum_fit_error(&fit->fit, slope);
}

static enum fulcrum_status check_options(const struct fulcrum_samples *samples,
    const struct fulcrum_point_set *levels, const struct fulcrum_power_options *options,
    struct fulcrum_error *err)
{
    assert(levels->x != NULL && levels->count > 0);
    double most = levels->x[levels->count - 1];
    FAIL_IF(most > 1, err, FULCRUM_ERR_RANGE, "%s: utilisation %.6g is above 1",
        samples->what, most);
    FAIL_IF(!(options->least_idle_w >= 0) || !isfinite(options->least_idle_w), err,
        FULCRUM_ERR_RANGE, "%s: least_idle_w = %.6g, at least 0 expected",
        samples->what, options->least_idle_w);
    bool has_prior = options->alpha < 0 || options->alpha > 0 || isnan(options->alpha);
    FAIL_IF(
        has_prior && (!(options->alpha >= alpha_low && options->alpha <= alpha_high) ||
                         !(options->alpha_factor > 1) || !(options->noise_rel > 0)),
        err, FULCRUM_ERR_RANGE,
        "%s: alpha = %.6g x or / %.6g beside noise_rel = %.6g is no prior, "
        "expected "
        "alpha in [%.6g, %.6g], a factor above 1 and noise above 0",
        samples->what, options->alpha, options->alpha_factor, options->noise_rel,
        alpha_low, alpha_high);
    return FULCRUM_OK;
}

static enum fulcrum_status fit_levels(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_point_set *levels,
    const struct fulcrum_power_options *options, struct fulcrum_error *err)
{
    bool is_alpha_free = options->form == FULCRUM_POWER_LAW ||
                         (options->form == FULCRUM_POWER_AUTO &&
                             (options->alpha > 0 || levels->count >= LEVELS_FOR_ALPHA));
    bool has_prior = is_alpha_free && options->alpha > 0;
    size_t last = levels->count - 1;
    double rise = fmax(levels->y[last] - levels->y[0], 0.01 * levels->y[last]);
    const struct fulcrum_fit_parameter parameter[] = {
        {.name = "idle_w",
            .low = options->least_idle_w,
            .high = (double)INFINITY,
            .start = fmax(levels->y[0], options->least_idle_w)},
        {.name = "dynamic_w", .high = (double)INFINITY, .start = rise},
        {.name = "alpha",
            .scale = FULCRUM_SCALE_LOG,
            .low = is_alpha_free ? alpha_low : 1,
            .high = is_alpha_free ? alpha_high : 1,
            .start = has_prior ? options->alpha : 1,
            .start_step = is_alpha_free ? 0.7 : 0,
            .prior_sd = has_prior ? log(options->alpha_factor) : 0},
    };
    /* Several starts: idle and alpha trade against each other where U is never low. */
    const struct fulcrum_fit_problem problem = {.what = samples->what,
        .model = watts,
        .parameter = parameter,
        .parameter_count = 3,
        .x = samples->x,
        .y = samples->y,
        .count = samples->count,
        .noise_rel = options->noise_rel,
        .start_count = is_alpha_free ? 3 : 1};
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
    TRY_OR_END(check_options(samples, &levels, options, err));
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
