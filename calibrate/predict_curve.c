/* predict_curve.c - references of kind cpu_curve: every other worker count predicted.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is held out follows from the order of the worker counts alone, the form and its
 * priors from the name of the series. So there is nothing to choose per curve.
 */
#include "calibrate/predict_curve.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Standard deviation of one published rate. EnvPool's For-loop rows repeat one thread's
 * work at every worker count, and scatter by 1.08, 1.22, 1.46, 1.56, 1.28 and 1.64 % in
 * the six tables: 1.4 % in the quadratic mean. What pipes add to it, nothing repeats.
 */
static const double noise_rel = 0.014;

static const double interval_tail = 0.05;

/* Two for the fit, one between them to be predicted. */
enum { LEAST_WORKER_COUNTS = 3 };

struct series_kind {
    const char *word;
    int is_left_out;
    enum fulcrum_actor_coupling coupling;
    enum fulcrum_actor_binding binding;
};

/* "async" ends in "sync": the order matters. */
static const struct series_kind kinds[] = {
    {"numa", 0, FULCRUM_ACTORS_ASYNC, FULCRUM_ACTORS_PINNED},
    {"async", 0, FULCRUM_ACTORS_ASYNC, FULCRUM_ACTORS_UNPINNED},
    {"Sample-Factory", 0, FULCRUM_ACTORS_ASYNC, FULCRUM_ACTORS_UNPINNED},
    {"sync", 0, FULCRUM_ACTORS_SYNC, FULCRUM_ACTORS_UNPINNED},
    {"Subprocess", 0, FULCRUM_ACTORS_PIPE, FULCRUM_ACTORS_UNPINNED},
    {"pipe", 0, FULCRUM_ACTORS_PIPE, FULCRUM_ACTORS_UNPINNED},
    {"For-loop", 1, FULCRUM_ACTORS_SYNC, FULCRUM_ACTORS_PINNED},
};

struct rate {
    double workers;
    double per_s;
    size_t point;
    size_t observation;
    int is_fitted;
};

/* The points of one series by rising worker count; x and y: those that are fitted. */
struct curve {
    const struct fulcrum_reference *reference;
    const char *series;
    const struct series_kind *kind;
    size_t count;
    struct rate *rates;
    size_t fitted_count;
    double *x;
    double *y;
};

static void curve_free(struct curve *curve)
{
    free(curve->rates);
    free(curve->x);
    free(curve->y);
}

static enum fulcrum_status curve_new(
    struct curve *out, const struct fulcrum_reference *reference)
{
    size_t most = reference->point_count;
    struct curve curve = {.reference = reference,
        .rates = calloc(most, sizeof *curve.rates),
        .x = calloc(most, sizeof *curve.x),
        .y = calloc(most, sizeof *curve.y)};
    if (curve.rates == NULL || curve.x == NULL || curve.y == NULL) {
        curve_free(&curve);
        return FULCRUM_ERR_NO_MEMORY;
    }
    *out = curve;
    return FULCRUM_OK;
}

static enum fulcrum_status find_kind(struct curve *curve, struct fulcrum_error *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(curve->series, kinds[i].word) != NULL) {
            curve->kind = &kinds[i];
            return FULCRUM_OK;
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
        "reference %s: series \"%s\" names no coupling, expected async, sync, pipe, "
        "numa, Sample-Factory, Subprocess or For-loop in it",
        curve->reference->name, curve->series);
}

static enum fulcrum_status find_workers(
    const struct curve *curve, struct rate *rate, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *point =
        &curve->reference->points[rate->point];
    for (size_t i = 0; i < point->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        if (strcmp(setting->path, "workers") != 0) {
            continue;
        }
        rate->workers = setting->number;
        if (isfinite(rate->workers) && rate->workers >= 1) {
            return FULCRUM_OK;
        }
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "reference %s: points[%zu].set.workers = %.6g, at least 1 expected",
            curve->reference->name, rate->point, rate->workers);
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].set.workers is missing, a count expected",
        curve->reference->name, rate->point);
}

static enum fulcrum_status find_rate(
    const struct curve *curve, struct rate *rate, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *point =
        &curve->reference->points[rate->point];
    for (size_t i = 0; i < point->observation_count; i++) {
        const struct fulcrum_observation *seen = &point->observations[i];
        if (strcmp(seen->quantity, "steps_per_s") != 0 &&
            strcmp(seen->quantity, "frames_per_s") != 0) {
            continue;
        }
        rate->observation = i;
        rate->per_s = seen->value;
        if (isfinite(rate->per_s) && rate->per_s > 0) {
            return FULCRUM_OK;
        }
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "reference %s: points[%zu].observed.%s = %.6g, above 0 expected",
            curve->reference->name, rate->point, seen->quantity, rate->per_s);
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed.steps_per_s is missing, a rate expected",
        curve->reference->name, rate->point);
}

static int by_workers(const void *left, const void *right)
{
    const struct rate *a = left;
    const struct rate *b = right;
    if (a->workers < b->workers || a->workers > b->workers) {
        return a->workers < b->workers ? -1 : 1;
    }
    return a->point < b->point ? -1 : 1;
}

/* Marks the first, third, ... worker count; repeats of a count stay together. */
static enum fulcrum_status hold_out(struct curve *curve, struct fulcrum_error *err)
{
    size_t different = 0;
    qsort(curve->rates, curve->count, sizeof *curve->rates, by_workers);
    for (size_t i = 0; i < curve->count; i++) {
        struct rate *rate = &curve->rates[i];
        different += i == 0 || rate->workers > curve->rates[i - 1].workers;
        rate->is_fitted = different % 2 == 1;
        if (rate->is_fitted) {
            curve->x[curve->fitted_count] = rate->workers;
            curve->y[curve->fitted_count++] = rate->per_s;
        }
    }
    if (different < LEAST_WORKER_COUNTS) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
            "reference %s: series \"%s\" has %zu different worker counts, at least %d "
            "expected",
            curve->reference->name, curve->series, different, LEAST_WORKER_COUNTS);
    }
    return FULCRUM_OK;
}

/* Fills the curve with the points of the series that point `first` belongs to. */
static enum fulcrum_status collect(
    struct curve *curve, size_t first, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = curve->reference;
    curve->series = reference->points[first].series;
    curve->count = 0;
    curve->fitted_count = 0;
    enum fulcrum_status status = find_kind(curve, err);
    if (status != FULCRUM_OK || curve->kind->is_left_out) {
        return status;
    }
    for (size_t i = first; i < reference->point_count; i++) {
        if (strcmp(reference->points[i].series, curve->series) != 0) {
            continue;
        }
        struct rate *rate = &curve->rates[curve->count++];
        *rate = (struct rate){.point = i};
        status = find_workers(curve, rate, err);
        if (status == FULCRUM_OK) {
            status = find_rate(curve, rate, err);
        }
        if (status != FULCRUM_OK) {
            return status;
        }
    }
    return hold_out(curve, err);
}

/* Absent counts of the machine are NaN. */
static enum fulcrum_status check_machine(
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    const struct fulcrum_cpu *cpu = &reference->design.machine.cpu;
    const struct {
        const char *path;
        double value;
    } needed[] = {{"machine.cpu.core_count", cpu->core_count},
        {"machine.cpu.thread_count", cpu->thread_count}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (isnan(needed[i].value)) {
            return fulcrum_fail(err, FULCRUM_ERR_MISSING,
                "reference %s: %s is missing, a count expected", reference->name,
                needed[i].path);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status fit_curve(struct fulcrum_cpu_curve_fit *out,
    const struct curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_cpu *cpu = &curve->reference->design.machine.cpu;
    int is_noise_known = curve->kind->coupling != FULCRUM_ACTORS_PIPE;
    const struct fulcrum_cpu_curve_host host = {.core_count = cpu->core_count,
        .thread_count = cpu->thread_count,
        .socket_count = isnan(cpu->socket_count) ? 1 : cpu->socket_count,
        .coupling = curve->kind->coupling,
        .binding = curve->kind->binding,
        .noise_rel = is_noise_known ? noise_rel : 0,
        .is_noise_known = is_noise_known};
    const struct fulcrum_samples samples = {
        curve->series, curve->x, curve->y, curve->fitted_count};
    return fulcrum_fit_cpu_curve(out, &samples, &host, err);
}

/*
 * The covariance and the noise, both as much larger as the points lie further from the
 * form than the noise takes them; Student's quantile, as points are few.
 */
static void add_interval(
    struct fulcrum_compared *item, const struct fulcrum_cpu_curve_fit *fit, double n)
{
    const struct fulcrum_fit_residuals *residuals = &fit->fit.residuals;
    double freedom = fmax(1, residuals->degrees_of_freedom);
    double spread = residuals->rms_rel * sqrt((double)residuals->count / freedom);
    double excess = fmax(1, spread / fit->fit.noise_rel);
    double sd =
        excess * hypot(fulcrum_cpu_curve_fit_error_rel(fit, n), fit->fit.noise_rel);
    double reach = gsl_cdf_tdist_Qinv(interval_tail, freedom) * sd;
    item->lo = item->predicted * exp(-reach);
    item->hi = item->predicted * exp(reach);
}

/*
 * Every thread is a server of its own: in proportion to the workers from the first
 * point on, until the threads are used up. Without think time, the textbook's station
 * of many servers does just that; so the two small formulas are one.
 */
static void add_baselines(
    struct fulcrum_compared *item, const struct curve *curve, double workers)
{
    double threads = curve->reference->design.machine.cpu.thread_count;
    double per_worker = curve->y[0] / fmin(curve->x[0], threads);
    item->baseline[FULCRUM_BASELINE_BOUNDS] = per_worker * fmin(workers, threads);
    item->baseline[FULCRUM_BASELINE_TEXTBOOK] = item->baseline[FULCRUM_BASELINE_BOUNDS];
}

static void compare(struct fulcrum_comparison *comparison, const struct curve *curve,
    const struct fulcrum_cpu_curve_fit *fit)
{
    for (size_t i = 0; i < curve->count; i++) {
        const struct rate *rate = &curve->rates[i];
        double predicted =
            fulcrum_cpu_capacity(&fit->station, rate->workers) / fit->step_s;
        struct fulcrum_compared *item = fulcrum_comparison_add(
            comparison, rate->point, rate->observation, predicted);
        item->is_fitted = rate->is_fitted;
        add_interval(item, fit, rate->workers);
        add_baselines(item, curve, rate->workers);
    }
}

static void judge(struct fulcrum_curve_verdict *out, const struct curve *curve,
    const struct fulcrum_cpu_curve_fit *fit,
    const struct fulcrum_comparison *comparison)
{
    *out = (struct fulcrum_curve_verdict){
        .is_left_out = curve->kind->is_left_out, .coupling = curve->kind->coupling};
    (void)snprintf(out->series, sizeof out->series, "%s", curve->series);
    if (curve->kind->is_left_out) {
        (void)snprintf(out->reason, sizeof out->reason,
            "one thread steps every environment: there are no workers to count");
        return;
    }
    out->advice = fit->advice;
    (void)snprintf(out->reason, sizeof out->reason, "%s", fit->reason);
    out->held_out = fulcrum_comparison_errors(
        comparison, curve->series, FULCRUM_COMPARE_PREDICTED, -1);
}

static int is_first_of_series(const struct fulcrum_reference *reference, size_t point)
{
    for (size_t i = 0; i < point; i++) {
        if (strcmp(reference->points[i].series, reference->points[point].series) == 0) {
            return 0;
        }
    }
    return 1;
}

static enum fulcrum_status predict_series(struct curve *curve, size_t first,
    struct fulcrum_comparison *comparison, struct fulcrum_curve_verdicts *verdicts,
    struct fulcrum_error *err)
{
    struct fulcrum_cpu_curve_fit fit = {0};
    enum fulcrum_status status = collect(curve, first, err);
    if (status == FULCRUM_OK && !curve->kind->is_left_out) {
        status = fit_curve(&fit, curve, err);
        if (status == FULCRUM_OK) {
            compare(comparison, curve, &fit);
        }
    }
    if (status == FULCRUM_OK) {
        judge(&verdicts->items[verdicts->count++], curve, &fit, comparison);
    }
    return status;
}

static enum fulcrum_status predict_all(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *comparison, struct fulcrum_curve_verdicts *verdicts,
    struct fulcrum_error *err)
{
    if (reference->point_count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
            "reference %s: points is empty, curves expected", reference->name);
    }
    enum fulcrum_status status = check_machine(reference, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct curve curve = {0};
    if (curve_new(&curve, reference) != FULCRUM_OK) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for %zu points of reference %s", reference->point_count,
            reference->name);
    }
    for (size_t i = 0; status == FULCRUM_OK && i < reference->point_count; i++) {
        if (is_first_of_series(reference, i)) {
            status = predict_series(&curve, i, comparison, verdicts, err);
        }
    }
    curve_free(&curve);
    return status;
}

/* Both, empty on failure. */
static enum fulcrum_status predict_and_judge(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *comparison, struct fulcrum_curve_verdicts *verdicts,
    struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_comparison_init(comparison, reference, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    size_t most = reference->point_count > 0 ? reference->point_count : 1;
    *verdicts =
        (struct fulcrum_curve_verdicts){.items = calloc(most, sizeof *verdicts->items)};
    status = verdicts->items != NULL
                 ? predict_all(reference, comparison, verdicts, err)
                 : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
                       "no memory for the series of reference %s", reference->name);
    if (status != FULCRUM_OK) {
        fulcrum_comparison_clear(comparison);
        fulcrum_curve_verdicts_clear(verdicts);
    }
    return status;
}

enum fulcrum_status fulcrum_predict_curve(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct fulcrum_comparison comparison = {0};
    struct fulcrum_curve_verdicts verdicts = {0};
    enum fulcrum_status status =
        predict_and_judge(reference, &comparison, &verdicts, err);
    if (status == FULCRUM_OK) {
        fulcrum_curve_verdicts_clear(&verdicts);
        *out = comparison;
    }
    return status;
}

enum fulcrum_status fulcrum_curve_verdicts_of(const struct fulcrum_reference *reference,
    struct fulcrum_curve_verdicts *out, struct fulcrum_error *err)
{
    struct fulcrum_comparison comparison = {0};
    struct fulcrum_curve_verdicts verdicts = {0};
    enum fulcrum_status status =
        predict_and_judge(reference, &comparison, &verdicts, err);
    if (status == FULCRUM_OK) {
        fulcrum_comparison_clear(&comparison);
        *out = verdicts;
    }
    return status;
}

void fulcrum_curve_verdicts_clear(struct fulcrum_curve_verdicts *verdicts)
{
    free(verdicts->items);
    *verdicts = (struct fulcrum_curve_verdicts){.count = 0};
}
