/* predict_curve.c - references of kind cpu_curve: every other worker count predicted.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is held out follows from the order of the worker counts alone, the form and its
 * priors from the name of the series. So there is nothing to choose per curve.
 */
#include "calibrate/reference/predictors.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/formula.h"
#include "model/try.h"

/*
 * Standard deviation of one published rate. EnvPool's For-loop rows repeat one thread's
 * work at every worker count, and scatter by 1.08, 1.22, 1.46, 1.56, 1.28 and 1.64 % in
 * the six tables: 1.4 % in the quadratic mean. What pipes add to it, nothing repeats.
 */
static const double noise_rel = 0.014;

static const double interval_tail = 0.05;

struct series_kind {
    const char *word;
    bool is_left_out;
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

/* One series, and what its name says of it. */
struct curve {
    struct fulcrum_half_curve half;
    const char *series;
    const struct series_kind *kind;
};

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
        curve->half.reference->name, curve->series);
}

static enum fulcrum_status find_workers(const struct fulcrum_reference *reference,
    struct fulcrum_reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_reference_setting *workers =
        fulcrum_reference_find_setting(&reference->points[reading->point], "workers");
    FAIL_IF(workers == NULL, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].set.workers is missing, a count expected",
        reference->name, reading->point);
    reading->x = workers->number;
    return isfinite(reading->x) && reading->x >= 1
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                     "reference %s: points[%zu].set.workers = %.6g, at least 1 "
                     "expected",
                     reference->name, reading->point, reading->x);
}

/* A fulcrum_reading_read. */
static enum fulcrum_status read_rate(const struct fulcrum_reference *reference,
    struct fulcrum_reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *point = &reference->points[reading->point];
    TRY(find_workers(reference, reading, err));
    for (size_t i = 0; i < point->observation_count; i++) {
        const char *quantity = point->observations[i].quantity;
        if (strcmp(quantity, "steps_per_s") == 0 ||
            strcmp(quantity, "frames_per_s") == 0) {
            return fulcrum_reading_take(reference, reading, i, err);
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed.steps_per_s is missing, a rate expected",
        reference->name, reading->point);
}

/* Fills the curve with the points of the series that point `first` belongs to. */
static enum fulcrum_status collect(
    struct curve *curve, size_t first, struct fulcrum_error *err)
{
    curve->series = curve->half.reference->points[first].series;
    enum fulcrum_status status = find_kind(curve, err);
    if (status != FULCRUM_OK || curve->kind->is_left_out) {
        return status;
    }
    return fulcrum_half_curve_fill(
        &curve->half, first, read_rate, "worker counts", err);
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
        FAIL_IF(isnan(needed[i].value), err, FULCRUM_ERR_MISSING,
            "reference %s: %s is missing, a count expected", reference->name,
            needed[i].path);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status fit_curve(struct fulcrum_cpu_curve_fit *out,
    const struct curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_cpu *cpu = &curve->half.reference->design.machine.cpu;
    bool is_noise_known = curve->kind->coupling != FULCRUM_ACTORS_PIPE;
    const struct fulcrum_cpu_curve_host host = {.core_count = cpu->core_count,
        .thread_count = cpu->thread_count,
        .socket_count = isnan(cpu->socket_count) ? 1 : cpu->socket_count,
        .coupling = curve->kind->coupling,
        .binding = curve->kind->binding,
        .noise_rel = is_noise_known ? noise_rel : 0,
        .is_noise_known = is_noise_known};
    const struct fulcrum_samples samples = {
        curve->series, curve->half.x, curve->half.y, curve->half.fitted_count};
    return fulcrum_fit_cpu_curve(out, &samples, &host, err);
}

static void compare(struct fulcrum_comparison *comparison, const struct curve *curve,
    const struct fulcrum_cpu_curve_fit *fit)
{
    for (size_t i = 0; i < curve->half.count; i++) {
        const struct fulcrum_reading *reading = &curve->half.readings[i];
        double predicted =
            fulcrum_cpu_capacity(&fit->station, reading->x) / fit->step_s;
        struct fulcrum_compared *item = fulcrum_comparison_add(
            comparison, reading->point, reading->observation, predicted);
        item->is_fitted = reading->is_fitted;
        /*
         * The covariance and the noise, both as much larger as the points lie further
         * from the form than the noise takes them; Student's quantile, as points are
         * few.
         */
        double n = reading->x;
        const struct fulcrum_fit_residuals *residuals = &fit->fit.residuals;
        double freedom = fmax(1, residuals->degrees_of_freedom);
        double spread = residuals->rms_rel * sqrt((double)residuals->count / freedom);
        double excess = fmax(1, spread / fit->fit.noise_rel);
        double sd =
            excess * hypot(fulcrum_cpu_curve_fit_error_rel(fit, n), fit->fit.noise_rel);
        double reach = gsl_cdf_tdist_Qinv(interval_tail, freedom) * sd;
        item->lo = item->predicted * exp(-reach);
        item->hi = item->predicted * exp(reach);
        /*
         * Every thread is a server of its own: in proportion to the workers from the
         * first point on, until the threads are used up. Without think time, the
         * textbook's station of many servers does just that; so the two small formulas
         * are one.
         */
        double workers = reading->x;
        double threads = curve->half.reference->design.machine.cpu.thread_count;
        double per_worker = curve->half.y[0] / fmin(curve->half.x[0], threads);
        item->baseline[FULCRUM_BASELINE_BOUNDS] = per_worker * fmin(workers, threads);
        item->baseline[FULCRUM_BASELINE_TEXTBOOK] =
            item->baseline[FULCRUM_BASELINE_BOUNDS];
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

static enum fulcrum_status predict_series(struct curve *curve, size_t first,
    struct fulcrum_comparison *comparison, struct fulcrum_curve_verdicts *verdicts,
    struct fulcrum_error *err)
{
    struct fulcrum_cpu_curve_fit fit = {0};
    TRY(collect(curve, first, err));
    if (!curve->kind->is_left_out) {
        TRY(fit_curve(&fit, curve, err));
        compare(comparison, curve, &fit);
    }
    judge(&verdicts->items[verdicts->count++], curve, &fit, comparison);
    return FULCRUM_OK;
}

static enum fulcrum_status predict_all(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *comparison, struct fulcrum_curve_verdicts *verdicts,
    struct fulcrum_error *err)
{
    FAIL_IF(reference->point_count == 0, err, FULCRUM_ERR_NO_FIT,
        "reference %s: points is empty, curves expected", reference->name);
    TRY(check_machine(reference, err));
    struct curve curve = {0};
    enum fulcrum_status status = fulcrum_half_curve_init(&curve.half, reference, err);
    for (size_t i = 0; status == FULCRUM_OK && i < reference->point_count; i++) {
        if (fulcrum_reference_begins_series(reference, i)) {
            status = predict_series(&curve, i, comparison, verdicts, err);
        }
    }
    fulcrum_half_curve_clear(&curve.half);
    return status;
}

/* Both, empty on failure. */
static enum fulcrum_status predict_and_judge(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *comparison, struct fulcrum_curve_verdicts *verdicts,
    struct fulcrum_error *err)
{
    TRY(fulcrum_comparison_init(comparison, reference, err));
    size_t most = reference->point_count > 0 ? reference->point_count : 1;
    *verdicts =
        (struct fulcrum_curve_verdicts){.items = calloc(most, sizeof *verdicts->items)};
    enum fulcrum_status status =
        verdicts->items != NULL
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
    TRY(predict_and_judge(reference, &comparison, &verdicts, err));
    fulcrum_curve_verdicts_clear(&verdicts);
    *out = comparison;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_curve_verdicts_of(const struct fulcrum_reference *reference,
    struct fulcrum_curve_verdicts *out, struct fulcrum_error *err)
{
    struct fulcrum_comparison comparison = {0};
    struct fulcrum_curve_verdicts verdicts = {0};
    TRY(predict_and_judge(reference, &comparison, &verdicts, err));
    fulcrum_comparison_clear(&comparison);
    *out = verdicts;
    return FULCRUM_OK;
}

void fulcrum_curve_verdicts_clear(struct fulcrum_curve_verdicts *verdicts)
{
    free(verdicts->items);
    *verdicts = (struct fulcrum_curve_verdicts){.count = 0};
}
