/* predict_memory.c - references of caches, bandwidth and SMs, predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "calibrate/reference/comparison.h"
#include "calibrate/reference/formula.h"
#include "model/design/memory_system.h"
#include "model/design/reference.h"
#include "model/design/scale.h"
#include "model/status.h"
#include "model/try.h"

/* References of kind sm_scaling: every other number of SMs predicted. */

/*
 * What is tested is the law that the product scales GPU times by. So the share of
 * arithmetic is set in a workload, model/design/scale.h carries the workload over, and
 * the time is read from it: the equation stands there and nowhere else.
 */

/*
 * Standard deviation of one rate. Rates cannot grow faster than SMs by any law; those
 * of matrix products and fine-tuning on slices of an A100 grow by up to 3 % more.
 */
static const double noise_rel = 0.03;

/*
 * Of the arithmetic's share of the time: that of any share between 0 and 1. The share
 * that it starts from is one R2D2 training's; other work has any.
 */
static const double share_sd = 0.29;

/* Above 0, so that a relative step from it is one. */
static const double least_share = 1e-4;

static const double interval_tail = 0.05;

enum { TIME, SHARE, PARAMETERS };

static enum fulcrum_status find_sm_count(const struct fulcrum_reference *reference,
    struct fulcrum_reading *reading, struct fulcrum_error *err)
{
    double all = reference->design.machine.gpu.sm_count;
    const struct fulcrum_reference_setting *count = fulcrum_reference_find_setting(
        &reference->points[reading->point], "run.sm_count");
    FAIL_IF(count == NULL, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].set.run.sm_count is missing, a count expected",
        reference->name, reading->point);
    reading->x = count->number;
    return reading->x >= 1 && reading->x <= all
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                     "reference %s: points[%zu].set.run.sm_count = %.6g, 1 to the "
                     "GPU's %.6g expected",
                     reference->name, reading->point, reading->x, all);
}

/* A fulcrum_reading_read. */
static enum fulcrum_status read_rate(const struct fulcrum_reference *reference,
    struct fulcrum_reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *point = &reference->points[reading->point];
    TRY(find_sm_count(reference, reading, err));
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strstr(point->observations[i].quantity, "_per_") != NULL) {
            return fulcrum_reading_take(reference, reading, i, err);
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed has no rate, a quantity with \"_per_\" in "
        "its name expected",
        reference->name, reading->point);
}

/* Work per second: a training step takes parameter[TIME] on all SMs. */
static double rate_at(const double *parameter, double sm_count, const void *context)
{
    const struct fulcrum_design *design = context;
    struct fulcrum_workload workload = design->workload;
    workload.training.train_step_s = parameter[TIME];
    fulcrum_set_math_frac(&workload.network, parameter[SHARE]);
    const struct fulcrum_gpu_scale scale =
        fulcrum_sm_scale(&workload.network, design->machine.gpu.sm_count, sm_count);
    fulcrum_scale_gpu_times(&workload, &scale, 1);
    return 1 / workload.training.train_step_s;
}

static enum fulcrum_status fit_curve(struct fulcrum_fit_result *out,
    const struct fulcrum_half_curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &curve->reference->design;
    double share = design->workload.network.math_frac;
    const struct fulcrum_fit_parameter parameter[PARAMETERS] = {
        [TIME] = {.name = "time_all_sm",
            .scale = FULCRUM_SCALE_LOG,
            .high = (double)INFINITY,
            .start = 1 / curve->y[curve->fitted_count - 1]},
        [SHARE] = {.name = "math_frac",
            .scale = FULCRUM_SCALE_LINEAR,
            .low = least_share,
            .high = 1,
            .start = fmax(least_share, share),
            .prior_sd = share_sd},
    };
    const struct fulcrum_fit_problem problem = {.what = curve->series,
        .model = rate_at,
        .context = design,
        .parameter = parameter,
        .parameter_count = PARAMETERS,
        .x = curve->x,
        .y = curve->y,
        .count = curve->fitted_count,
        .noise_rel = noise_rel,
        .start_count = 1,
        .loss = FULCRUM_FIT_SQUARES};
    return fulcrum_fit(out, &problem, err);
}

/* Relative standard error of a rate that the parameters' covariance leaves. */
static double rate_error_rel(const struct fulcrum_fit_result *fit,
    const struct fulcrum_design *design, double sm_count)
{
    static const double step_rel = 1e-5;
    double slope[PARAMETERS];
    double variance = 0;
    for (size_t i = 0; i < PARAMETERS; i++) {
        double low[PARAMETERS];
        double high[PARAMETERS];
        for (size_t j = 0; j < PARAMETERS; j++) {
            double step = i == j ? step_rel * fit->parameter[j].value : 0;
            low[j] = fit->parameter[j].value - step;
            high[j] = fit->parameter[j].value + step;
        }
        slope[i] =
            log(rate_at(high, sm_count, design) / rate_at(low, sm_count, design)) /
            (high[i] - low[i]);
    }
    for (size_t i = 0; i < PARAMETERS; i++) {
        for (size_t j = 0; j < PARAMETERS; j++) {
            variance += slope[i] * slope[j] * fit->covariance[i * PARAMETERS + j];
        }
    }
    return sqrt(fmax(0, variance));
}

/* Student's quantile where there are points enough to tell the noise. */
static double quantile(const struct fulcrum_fit_result *fit)
{
    double freedom = (double)fit->residuals.count - PARAMETERS;
    return freedom >= 1 ? gsl_cdf_tdist_Qinv(interval_tail, freedom)
                        : gsl_cdf_ugaussian_Qinv(interval_tail);
}

static void compare(struct fulcrum_comparison *comparison,
    const struct fulcrum_half_curve *curve, const struct fulcrum_fit_result *fit)
{
    const struct fulcrum_design *design = &curve->reference->design;
    const double parameter[PARAMETERS] = {
        [TIME] = fit->parameter[TIME].value, [SHARE] = fit->parameter[SHARE].value};
    for (size_t i = 0; i < curve->count; i++) {
        const struct fulcrum_reading *reading = &curve->readings[i];
        struct fulcrum_compared *item =
            fulcrum_comparison_add(comparison, reading->point, reading->observation,
                rate_at(parameter, reading->x, design));
        double error = rate_error_rel(fit, design, reading->x);
        double reach = quantile(fit) * hypot(error, fit->noise_rel);
        item->is_fitted = reading->is_fitted;
        item->lo = item->predicted * exp(-reach);
        item->hi = item->predicted * exp(reach);
        item->baseline[FULCRUM_BASELINE_BOUNDS] =
            curve->y[0] * reading->x / curve->x[0];
    }
}

static enum fulcrum_status predict_series(struct fulcrum_half_curve *curve,
    size_t first, struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    struct fulcrum_fit_result fit;
    TRY(fulcrum_half_curve_fill(curve, first, read_rate, "numbers of SMs", err));
    TRY(fit_curve(&fit, curve, err));
    compare(comparison, curve, &fit);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_sm(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    FAIL_IF(reference->point_count > 0 && isnan(reference->design.machine.gpu.sm_count),
        err, FULCRUM_ERR_MISSING,
        "reference %s: machine.gpu.sm_count is missing, a count expected",
        reference->name);
    return fulcrum_half_curves_predict(reference, predict_series, out, err);
}

/* References of kind memory_gain: caches and bandwidth. */

/* The usual exponent, and the ends of those that Hartstein et al. 2006 find. */
static const double usual_exponent = 0.5;
static const double end_exponents[] = {0.3, 0.7};

/* A point's change, as far as it sets one. */
static int read_change(
    const struct fulcrum_reference_point *point, struct fulcrum_memory_change *out)
{
    const struct fulcrum_reference_setting *cache =
        fulcrum_reference_find_setting(point, "cache_rel");
    const struct fulcrum_reference_setting *bandwidth =
        fulcrum_reference_find_setting(point, "bandwidth_rel");
    if (cache == NULL || bandwidth == NULL) {
        return 0;
    }
    *out = (struct fulcrum_memory_change){
        .cache_rel = cache->number, .bandwidth_rel = bandwidth->number};
    return 1;
}

static bool is_gain(const char *quantity)
{
    static const char end[] = "_gain_frac";
    size_t length = strlen(quantity);
    return length >= sizeof end - 1 &&
           strcmp(quantity + length - (sizeof end - 1), end) == 0;
}

static bool is_fewer(const char *quantity)
{
    return strcmp(quantity, "fewer_gpus_frac") == 0;
}

/* The first gain of a series, with the change that has it. */
struct family {
    struct fulcrum_memory_change change;
    size_t point;
    size_t observation;
};

/* The first gain that a point observes; its number of observations: none. */
static size_t find_gain(const struct fulcrum_reference_point *point)
{
    size_t k = 0;
    while (k < point->observation_count && !is_gain(point->observations[k].quantity)) {
        k++;
    }
    return k;
}

static int find_family(
    const struct fulcrum_reference *reference, const char *series, struct family *out)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        size_t k = find_gain(point);
        if (strcmp(point->series, series) == 0 && k < point->observation_count &&
            read_change(point, &out->change)) {
            out->change.gain_frac = point->observations[k].value;
            out->point = i;
            out->observation = k;
            return 1;
        }
    }
    return 0;
}

/* The gain at another change of the member with this exponent; NAN: there is none. */
static double gain_of(const struct family *family,
    const struct fulcrum_memory_change *change, double exponent)
{
    return fulcrum_memory_gain_frac(
        change, fulcrum_memory_dram_frac(&family->change, exponent), exponent);
}

/* Of an observed quantity: rates add up, so that so many fewer GPUs do the same. */
static double quantity_of(double gain_frac, const char *quantity)
{
    return is_fewer(quantity) ? gain_frac / (1.0 + gain_frac) : gain_frac;
}

static enum fulcrum_status check_value(const struct fulcrum_reference *reference,
    size_t point, size_t observation, struct fulcrum_error *err)
{
    const struct fulcrum_observation *seen =
        &reference->points[point].observations[observation];
    return seen->value > 0.0
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                     "reference %s: points[%zu].observed.%s = %.6g: expected a number "
                     "above 0",
                     reference->name, point, seen->quantity, seen->value);
}

/* One quantity of a point that sets `change`. */
static void add_item(struct fulcrum_comparison *comparison,
    const struct fulcrum_compared *place, const struct family *family,
    const struct fulcrum_memory_change *change)
{
    const struct fulcrum_reference_point *point =
        &comparison->reference->points[place->point];
    const char *quantity = point->observations[place->observation].quantity;
    bool is_same = fabs(family->change.cache_rel - change->cache_rel) <=
                       1e-9 * family->change.cache_rel &&
                   fabs(family->change.bandwidth_rel - change->bandwidth_rel) <=
                       1e-9 * family->change.bandwidth_rel;
    double gain =
        is_same ? family->change.gain_frac : gain_of(family, change, usual_exponent);
    struct fulcrum_compared *item = fulcrum_comparison_add(
        comparison, place->point, place->observation, quantity_of(gain, quantity));
    if (!is_same) {
        double a = quantity_of(gain_of(family, change, end_exponents[0]), quantity);
        double b = quantity_of(gain_of(family, change, end_exponents[1]), quantity);
        item->lo = fmin(a, b);
        item->hi = fmax(a, b);
    }
}

static enum fulcrum_status check_family(const struct fulcrum_reference *reference,
    const struct family *family, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_memory_change_check(&family->change, err);
    if (status == FULCRUM_OK &&
        isnan(fulcrum_memory_dram_frac(&family->change, usual_exponent))) {
        status = fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "no share meets a gain of %.6g at an exponent of %.2g",
            family->change.gain_frac, usual_exponent);
    }
    return status == FULCRUM_OK ? FULCRUM_OK
                                : fulcrum_fail_in(err, status, reference->name);
}

/* What the point observes at its change. */
static enum fulcrum_status predict_quantity(const struct fulcrum_compared *place,
    const struct family *family, const struct fulcrum_memory_change *change,
    struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = comparison->reference;
    const char *quantity =
        reference->points[place->point].observations[place->observation].quantity;
    if (!is_gain(quantity) && !is_fewer(quantity)) {
        return FULCRUM_OK;
    }
    TRY(check_value(reference, place->point, place->observation, err));
    add_item(comparison, place, family, change);
    return FULCRUM_OK;
}

static enum fulcrum_status predict_point(
    size_t index, struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = comparison->reference;
    const struct fulcrum_reference_point *point = &reference->points[index];
    struct fulcrum_memory_change change;
    struct family family;
    if (!read_change(point, &change) ||
        !find_family(reference, point->series, &family)) {
        return FULCRUM_OK;
    }
    TRY(check_family(reference, &family, err));
    for (size_t k = 0; k < point->observation_count; k++) {
        const struct fulcrum_compared place = {.point = index, .observation = k};
        /* That the family's own gain is met is an identity. */
        if (index != family.point || k != family.observation) {
            TRY(predict_quantity(&place, &family, &change, comparison, err));
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_memory(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct fulcrum_comparison comparison = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_comparison_init(&comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        TRY_OR_END(predict_point(i, &comparison, err));
    }
    if (comparison.count == 0) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "reference %s: no point sets cache_rel and bandwidth_rel and observes a "
            "gain, such as training_gain_frac, beside the first of its series",
            reference->name));
    }
end:
    return fulcrum_comparison_end(&comparison, status, out);
}
