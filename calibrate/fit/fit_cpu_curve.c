/* fit_cpu_curve.c - throughput over actors: docs/model.md "CPU curve", (20)-(21). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Throughput over the number of actors has five unknowns and often eight points, so the
 * shape is helped by priors from published curves: how soft the knee is, how much of a
 * step is serial. They are wide enough for data to overrule. A drop that no form
 * explains (another program, a thermal limit) is looked for and flagged.
 */
#include "calibrate/fit/fit_forms.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/try.h"

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
    const struct fulcrum_cpu_curve_host *host, const struct fulcrum_point_set *set)
{
    return host->binding == FULCRUM_ACTORS_UNPINNED && host->socket_count > 1 &&
           set->x[set->count - 1] > host->core_count / host->socket_count;
}

static void fill_parameters(struct fulcrum_fit_parameter *parameter,
    const struct fulcrum_cpu_curve_host *host, const struct fulcrum_point_set *set)
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

/* Index of the first point of an unexpected drop; set->count if there is none. */
static size_t find_drop(
    const struct fulcrum_cpu_curve_host *host, const struct fulcrum_point_set *set)
{
    for (size_t i = 0; i + 1 < set->count; i++) {
        /* Actors in lockstep dip once, where the first of them share a core. */
        bool is_expected = host->coupling != FULCRUM_ACTORS_ASYNC &&
                           set->x[i] <= host->core_count &&
                           set->x[i + 1] > host->core_count;
        if (set->y[i + 1] < (1 - most_drop_rel) * set->y[i] && !is_expected) {
            return i;
        }
    }
    return set->count;
}

static void advise_curve(struct fulcrum_cpu_curve_fit *out,
    const struct fulcrum_cpu_curve_host *host, const struct fulcrum_point_set *set)
{
    size_t drop = find_drop(host, set);
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

static enum fulcrum_status fit_set(struct fulcrum_cpu_curve_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_cpu_curve_host *host,
    const struct fulcrum_point_set *set, struct fulcrum_error *err)
{
    FAIL_IF(!(host->core_count >= 1) || !(host->thread_count >= host->core_count) ||
                !(host->socket_count >= 1) || !isfinite(host->thread_count),
        err, FULCRUM_ERR_RANGE,
        "cpu curve: %.6g cores, %.6g threads, %.6g sockets is no machine",
        host->core_count, host->thread_count, host->socket_count);
    FAIL_IF(!(host->noise_rel >= 0) || host->noise_rel > 1, err, FULCRUM_ERR_RANGE,
        "cpu curve: noise_rel = %.6g is outside [0, 1]", host->noise_rel);
    FAIL_IF(host->is_noise_known && !(host->noise_rel > 0), err, FULCRUM_ERR_RANGE,
        "cpu curve: noise_rel = %.6g is known, above 0 expected", host->noise_rel);
    FAIL_IF(set->x[0] < 1, err, FULCRUM_ERR_RANGE,
        "cpu curve: %.6g actors, at least 1 expected", set->x[0]);
    struct fulcrum_fit_parameter parameter[PARAMETER_COUNT];
    fill_parameters(parameter, host, set);
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
    struct fulcrum_fit_problem problem = {.what = samples->what,
        .model = throughput,
        .context = host,
        .parameter = parameter,
        .parameter_count = PARAMETER_COUNT,
        .x = samples->x,
        .y = samples->y,
        .count = samples->count,
        .noise_rel = noise_rel * factor,
        .loss = host->is_noise_known ? FULCRUM_FIT_SQUARES : FULCRUM_FIT_HUBER,
        .start_count = 5};
    struct fulcrum_cpu_curve_fit result = {0};
    TRY(fulcrum_fit(&result.fit, &problem, err));
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
    advise_curve(&result, host, set);
    *out = result;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_cpu_curve(struct fulcrum_cpu_curve_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_cpu_curve_host *host,
    struct fulcrum_error *err)
{
    struct fulcrum_point_set set = {0};
    enum fulcrum_status status = fulcrum_point_set_new(&set, samples, err);
    if (status == FULCRUM_OK) {
        status = fit_set(out, samples, host, &set, err);
    }
    fulcrum_point_set_free(&set);
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

enum fulcrum_status fulcrum_cpu_curve_tabulate(double *capacity, size_t capacity_count,
    const struct fulcrum_samples *samples, double step_s, struct fulcrum_error *err)
{
    struct fulcrum_point_set set = {0};
    enum fulcrum_status status = fulcrum_point_set_new(&set, samples, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    if (!(step_s > 0) || !(set.x[0] > 0)) {
        status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: step_s = %.6g and the least count %.6g must be above 0", samples->what,
            step_s, set.x[0]);
    }
    for (size_t i = 0; status == FULCRUM_OK && i < capacity_count; i++) {
        double n = (double)(i + 1);
        double below_first = fmin(1, n / set.x[0]);
        capacity[i] = fulcrum_point_set_at(&set, n) * below_first * step_s;
    }
    fulcrum_point_set_free(&set);
    return status;
}
