/* fit_forms.c - fits of a few points: batch times, pauses, watts, throughput over
 * actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit/fit_forms.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/agent/agent.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/* x increasing, y the median of the samples at that x. */
struct points {
    double *x;
    double *y;
    size_t count;
};

static void free_points(struct points *set)
{
    free(set->x);
    free(set->y);
    *set = (struct points){0};
}

/* The caller gives the points back with free_points. */
static enum fulcrum_status new_points(struct points *out,
    const struct fulcrum_samples *samples, struct fulcrum_error *err)
{
    size_t count = samples->count;
    FAIL_IF(count == 0, err, FULCRUM_ERR_NO_FIT, "%s: no points", samples->what);
    TRY(fulcrum_fit_check_points(samples, err));
    struct points set = {
        .x = calloc(count, sizeof *set.x), .y = calloc(count, sizeof *set.y)};
    if (set.x == NULL || set.y == NULL) {
        free_points(&set);
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

/* Of a median, where few samples lie behind it. */
#define NOISE_REL 0.02

/* BLAS libraries switch kernels with the size, which no line follows. */
static const double most_off_rel = 0.05;

static double line_s(const double *parameter, double x, const void *context)
{
    (void)context;
    return parameter[0] + parameter[1] * x;
}

enum fulcrum_status fulcrum_fit_batch_time(struct fulcrum_line_fit *out,
    const double *size, const double *time_s, size_t count, struct fulcrum_error *err)
{
    struct points set = {0};
    const struct fulcrum_samples samples = {"batch time", size, time_s, count};
    TRY(new_points(&set, &samples, err));
    /* Through the points of least and greatest size: near enough, never singular. */
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
    struct fulcrum_fit_problem problem = {.points = samples,
        .model = line_s,
        .parameter = parameter,
        .parameter_count = 2};
    struct fulcrum_line_fit result = {0};
    enum fulcrum_status status = fulcrum_fit(&result.fit, &problem, err);
    if (status == FULCRUM_OK) {
        result.per_batch_s = result.fit.parameter[0].value;
        result.per_item_s = result.fit.parameter[1].value;
        double worst = 0;
        double at = 0;
        for (size_t i = 0; i < set.count; i++) {
            double fitted = result.per_batch_s + result.per_item_s * set.x[i];
            double off = fabs(fitted - set.y[i]) / set.y[i];
            at = off > worst ? set.x[i] : at;
            worst = fmax(worst, off);
        }
        result.advice =
            worst > most_off_rel ? FULCRUM_ADVISE_TABLE : FULCRUM_ADVISE_FORM;
        (void)snprintf(result.reason, sizeof result.reason,
            "the line is at most %.3g %% off a median, at size %.6g (limit %.3g %%)",
            100 * worst, at, 100 * most_off_rel);
        *out = result;
    }
    free_points(&set);
    return status;
}

/* Of mixture-of-experts models as of dense ones; chosen on half of the groups of
 * ML.ENERGY's table. */
static const double exponent_start = 0.85;
static const double exponent_sd = 0.15;

double fulcrum_decode_rate(
    const double *parameter, double in_flight, const void *context)
{
    const struct fulcrum_agent_rates rates = {
        .fixed_s = parameter[0], .item_s = parameter[1], .item_exponent = parameter[2]};
    (void)context;
    return in_flight / fulcrum_agent_decode_s(&rates, in_flight);
}

void fulcrum_decode_parameters(
    struct fulcrum_fit_parameter out[FULCRUM_DECODE_PARAMETERS], double token_s,
    double item_s)
{
    static const double least_rel = 1e-4; /* bounds, over where they start */
    static const double most_rel = 100.0;
    out[0] = (struct fulcrum_fit_parameter){.name = "per_batch_s",
        .low = least_rel * token_s,
        .high = most_rel * token_s,
        .start = 0.7 * token_s,
        .start_step = 0.3 * token_s};
    out[1] = (struct fulcrum_fit_parameter){.name = "per_item_s",
        .low = least_rel * item_s,
        .high = most_rel * item_s,
        .start = item_s,
        .start_step = 0.5 * item_s};
    out[2] = (struct fulcrum_fit_parameter){.name = "item_exponent",
        .low = 0.05,
        .high = 1.0,
        .start = exponent_start,
        .prior_sd = exponent_sd};
}

enum fulcrum_status fulcrum_fit_token_time(struct fulcrum_fit_result *out,
    const double *in_flight, const double *token_s, size_t count,
    struct fulcrum_error *err)
{
    struct fulcrum_fit_parameter parameter[FULCRUM_DECODE_PARAMETERS];
    fulcrum_decode_parameters(
        parameter, token_s[0], token_s[count - 1] / in_flight[count - 1]);
    double *rate = calloc(count, sizeof *rate);
    TRY_MEMORY(rate, err, "%zu token times", count);
    for (size_t i = 0; i < count; i++) {
        rate[i] = in_flight[i] / token_s[i];
    }
    const struct fulcrum_fit_problem problem = {
        .points = {"token time", in_flight, rate, count},
        .model = fulcrum_decode_rate,
        .parameter = parameter,
        .parameter_count = FULCRUM_DECODE_PARAMETERS,
        .noise_rel = NOISE_REL,
        .start_count = 3};
    enum fulcrum_status status = fulcrum_fit(out, &problem, err);
    free(rate);
    return status;
}

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
    const struct fulcrum_fit_problem problem = {
        .points = {"inference after a pause", pause_s, time_rel, count},
        .model = time_after_pause,
        .parameter = parameters,
        .parameter_count = sizeof parameters / sizeof parameters[0],
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
    const struct points *levels, const struct fulcrum_power_options *options,
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
    const struct fulcrum_samples *samples, const struct points *levels,
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
    const struct fulcrum_fit_problem problem = {.points = *samples,
        .model = watts,
        .parameter = parameter,
        .parameter_count = 3,
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

enum fulcrum_status fulcrum_fit_power(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_power_options *options,
    struct fulcrum_error *err)
{
    struct points levels = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(new_points(&levels, samples, err));
    TRY_OR_END(check_options(samples, &levels, options, err));
    status = fit_levels(out, samples, &levels, options, err);
end:
    free_points(&levels);
    return status;
}

/* Throughput over actors: docs/model.md "CPU curve", (20)-(21). */

/*
 * Throughput over the number of actors has five unknowns and often eight points, so the
 * shape is helped by priors from published curves: how soft the knee is, how much of a
 * step is serial. They are wide enough for data to overrule. A drop that no form
 * explains (another program, a thermal limit) is looked for and flagged.
 */

/* Priors and limits of this file: docs/model.md "CPU curve", 26 published curves. */
static const double cap_per_core = 1.25;
static const double smt_yield_prior = 0.30;
static const double smt_yield_logit_sd = 0.5;
static const double cross_socket_prior = 0.85;
static const double cross_socket_logit_sd = 0.55; /* +-.07 at .85 */
static const double default_noise_rel = 0.03;
/* Wider than what any form leaves, narrow enough for priors: see widen(). */
static const double wide_noise_rel = 0.5;
static const double slope_step_rel = 1e-5;
static const double most_rms_rel = 0.05;
static const double most_drop_rel = 0.10;

/* Median and factor of one standard deviation. */
struct prior {
    double serial_frac;
    double serial_factor;
    double knee;
    double knee_factor;
};

static const struct prior priors[] = {
    [FULCRUM_ACTORS_ASYNC] = {0.003, 1.5, 2.1, 1.3},
    [FULCRUM_ACTORS_SYNC] = {0.010, 1.8, 1.3, 1.4},
    [FULCRUM_ACTORS_PIPE] = {0.065, 1.6, 1.0, 1.4},
};

enum { STEP_S, SMT_YIELD, SERIAL, KNEE, CROSS_SOCKET, PARAMETER_COUNT };

static struct fulcrum_cpu_station station_of(
    const struct fulcrum_cpu_curve_host *host, const double *parameter)
{
    return (struct fulcrum_cpu_station){.curve = host->coupling == FULCRUM_ACTORS_ASYNC
                                                     ? FULCRUM_CURVE_SATURATING
                                                     : FULCRUM_CURVE_SATURATING_SYNC,
        .core_count = host->core_count,
        .thread_count = host->thread_count,
        .smt_yield_frac = parameter[SMT_YIELD],
        /* Trial steps may leave the bounds so far that powers would overflow. */
        .serial_frac = fmin(parameter[SERIAL], 10),
        .knee = fmin(fmax(parameter[KNEE], 0.1), 100),
        .cap_per_core = cap_per_core,
        .cross_socket_frac = parameter[CROSS_SOCKET]};
}

static double throughput(const double *parameter, double x, const void *context)
{
    const struct fulcrum_cpu_curve_host *host = context;
    struct fulcrum_cpu_station station = station_of(host, parameter);
    return fulcrum_cpu_capacity(&station, x) / parameter[STEP_S];
}

static bool leaves_socket(
    const struct fulcrum_cpu_curve_host *host, const struct points *set)
{
    return host->binding == FULCRUM_ACTORS_UNPINNED && host->socket_count > 1 &&
           set->x[set->count - 1] > host->core_count / host->socket_count;
}

static void fill_parameters(struct fulcrum_fit_parameter *parameter,
    const struct fulcrum_cpu_curve_host *host, const struct points *set)
{
    bool has_smt = host->thread_count > host->core_count;
    bool crosses = leaves_socket(host, set);
    const struct prior *prior = &priors[host->coupling];
    const struct fulcrum_fit_parameter all[PARAMETER_COUNT] = {
        [STEP_S] = {.name = "step_s",
            .scale = FULCRUM_SCALE_LOG,
            .high = (double)INFINITY,
            .start = set->x[0] / set->y[0]},
        [SMT_YIELD] = {.name = "smt_yield_frac",
            .scale = FULCRUM_SCALE_LOGIT,
            .high = has_smt ? 1 : 0,
            .start = has_smt ? smt_yield_prior : 0,
            .prior_sd = smt_yield_logit_sd,
            .start_step = smt_yield_logit_sd},
        [SERIAL] = {.name = "serial_frac",
            .scale = FULCRUM_SCALE_LOG,
            .high = 1,
            .start = prior->serial_frac,
            .prior_sd = log(prior->serial_factor)},
        [KNEE] = {.name = "knee",
            .scale = FULCRUM_SCALE_LOG,
            .low = 0.5,
            .high = 50,
            .start = prior->knee,
            .prior_sd = log(prior->knee_factor),
            .start_step = log(prior->knee_factor)},
        [CROSS_SOCKET] = {.name = "cross_socket_frac",
            .scale = FULCRUM_SCALE_LOGIT,
            .low = crosses ? 0 : 1,
            .high = 1,
            .start = crosses ? cross_socket_prior : 1,
            .prior_sd = cross_socket_logit_sd},
    };
    memcpy(parameter, all, sizeof all);
}

static void advise_curve(struct fulcrum_cpu_curve_fit *out,
    const struct fulcrum_cpu_curve_host *host, const struct points *set)
{
    size_t drop = set->count; /* the first point of an unexpected drop; or none */
    for (size_t i = set->count - 1; i-- > 0;) {
        /* Actors in lockstep dip once, where the first of them share a core. */
        bool is_expected = host->coupling != FULCRUM_ACTORS_ASYNC &&
                           set->x[i] <= host->core_count &&
                           set->x[i + 1] > host->core_count;
        bool drops = set->y[i + 1] < (1 - most_drop_rel) * set->y[i];
        drop = drops && !is_expected ? i : drop;
    }
    double most = set->x[set->count - 1];
    double sum = 0;
    for (size_t i = 0; i < set->count; i++) {
        double x = fulcrum_cpu_capacity(&out->station, set->x[i]) / out->step_s;
        double off = (x - set->y[i]) / set->y[i];
        sum += off * off;
    }
    out->median_rms_rel = sqrt(sum / (double)set->count);
    out->advice = FULCRUM_ADVISE_TABLE;
    if (out->median_rms_rel > most_rms_rel) {
        (void)snprintf(out->reason, sizeof out->reason,
            "the form is off by %.3g %% rms (limit %.3g %%)", 100 * out->median_rms_rel,
            100 * most_rms_rel);
    } else if (drop < set->count) {
        (void)snprintf(out->reason, sizeof out->reason,
            "throughput drops by %.3g %% from %.6g to %.6g actors, which no form has",
            100 * (1 - set->y[drop + 1] / set->y[drop]), set->x[drop],
            set->x[drop + 1]);
    } else if (leaves_socket(host, set)) {
        (void)snprintf(out->reason, sizeof out->reason,
            "unpinned threads across %.6g sockets: no form predicts them",
            host->socket_count);
    } else if (host->coupling == FULCRUM_ACTORS_PIPE && most > host->core_count / 4) {
        (void)snprintf(out->reason, sizeof out->reason,
            "pipes to %.6g processes on %.6g cores (limit a quarter of the cores)",
            most, host->core_count);
    } else {
        out->advice = FULCRUM_ADVISE_FORM;
        (void)snprintf(out->reason, sizeof out->reason,
            "the form is within %.3g %% rms of the medians", 100 * out->median_rms_rel);
    }
}

enum fulcrum_status fulcrum_fit_cpu_curve(struct fulcrum_cpu_curve_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_cpu_curve_host *host,
    struct fulcrum_error *err)
{
    struct fulcrum_fit_parameter parameter[PARAMETER_COUNT];
    struct fulcrum_cpu_curve_fit result = {0};
    struct points set = {0};
    enum fulcrum_status status = FULCRUM_OK;
    FAIL_IF(!(host->core_count >= 1) || !(host->thread_count >= host->core_count) ||
                !(host->socket_count >= 1) || !isfinite(host->thread_count),
        err, FULCRUM_ERR_RANGE,
        "cpu curve: %.6g cores, %.6g threads, %.6g sockets is no machine",
        host->core_count, host->thread_count, host->socket_count);
    FAIL_IF(!(host->noise_rel >= 0) || host->noise_rel > 1, err, FULCRUM_ERR_RANGE,
        "cpu curve: noise_rel = %.6g is outside [0, 1]", host->noise_rel);
    FAIL_IF(host->is_noise_known && !(host->noise_rel > 0), err, FULCRUM_ERR_RANGE,
        "cpu curve: noise_rel = %.6g is known, above 0 expected", host->noise_rel);
    TRY_OR_END(new_points(&set, samples, err));
    assert(set.x != NULL);
    if (set.x[0] < 1) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "cpu curve: %.6g actors, at least 1 expected", set.x[0]));
    }
    fill_parameters(parameter, host, &set);
    /*
     * fulcrum_fit takes the noise from the residuals where they are larger than it is
     * told, and with it loosens the hold of the points beside that of the priors. With
     * few points that feeds itself: a form held at its priors leaves large residuals.
     * Where the noise is known, noise and priors are stated wider by one factor, past
     * anything the residuals say; the solution does not depend on that factor.
     */
    double factor = host->is_noise_known ? wide_noise_rel / host->noise_rel : 1;
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        parameter[i].prior_sd *= factor;
    }
    double noise_rel = host->noise_rel > 0 ? host->noise_rel : default_noise_rel;
    struct fulcrum_fit_problem problem = {.points = *samples,
        .model = throughput,
        .context = host,
        .parameter = parameter,
        .parameter_count = PARAMETER_COUNT,
        .noise_rel = noise_rel * factor,
        .loss = host->is_noise_known ? FULCRUM_FIT_SQUARES : FULCRUM_FIT_HUBER,
        .start_count = 5};
    TRY_OR_END(fulcrum_fit(&result.fit, &problem, err));
    double value[PARAMETER_COUNT];
    /* Errors back in their own width. */
    result.fit.noise_rel /= factor;
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        value[i] = result.fit.parameter[i].value;
        result.fit.parameter[i].standard_error /= factor;
        for (size_t j = 0; j < PARAMETER_COUNT; j++) {
            result.fit.covariance[i * PARAMETER_COUNT + j] /= factor * factor;
        }
    }
    result.station = station_of(host, value);
    result.step_s = value[STEP_S];
    advise_curve(&result, host, &set);
    *out = result;
end:
    free_points(&set);
    return status;
}

double fulcrum_cpu_curve_fit_error_rel(
    const struct fulcrum_cpu_curve_fit *fit, double n)
{
    /* d ln X(n) / d parameter by central differences; natural units. */
    double slope[PARAMETER_COUNT];
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        struct fulcrum_cpu_curve_fit side[2] = {*fit, *fit};
        double value = fit->fit.parameter[i].value;
        double step = slope_step_rel * value;
        for (size_t k = 0; k < 2; k++) {
            double *const members[PARAMETER_COUNT] = {[STEP_S] = &side[k].step_s,
                [SMT_YIELD] = &side[k].station.smt_yield_frac,
                [SERIAL] = &side[k].station.serial_frac,
                [KNEE] = &side[k].station.knee,
                [CROSS_SOCKET] = &side[k].station.cross_socket_frac};
            *members[i] = k == 0 ? value - step : value + step;
        }
        double ratio = fulcrum_cpu_capacity(&side[1].station, n) /
                       fulcrum_cpu_capacity(&side[0].station, n) * side[0].step_s /
                       side[1].step_s;
        slope[i] = step > 0 ? log(ratio) / (2 * step) : 0;
    }
    return fulcrum_fit_error(&fit->fit, slope);
}

/* Linear between points, constant before the first and beyond the last. */
static double value_at(const struct points *set, double x)
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

enum fulcrum_status fulcrum_cpu_curve_tabulate(double *capacity, size_t capacity_count,
    const struct fulcrum_samples *samples, double step_s, struct fulcrum_error *err)
{
    struct points set = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(new_points(&set, samples, err));
    assert(set.x != NULL && set.y != NULL);
    if (!(step_s > 0) || !(set.x[0] > 0)) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: step_s = %.6g and the least count %.6g must be above 0", samples->what,
            step_s, set.x[0]));
    }
    for (size_t i = 0; i < capacity_count; i++) {
        double n = (double)(i + 1);
        double below_first = fmin(1, n / set.x[0]);
        capacity[i] = value_at(&set, n) * below_first * step_s;
    }
end:
    free_points(&set);
    return status;
}
