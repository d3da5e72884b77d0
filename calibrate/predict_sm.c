/* predict_sm.c - references of kind sm_scaling: every other number of SMs predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is tested is the law that the product scales GPU times by. So the share of
 * arithmetic is set in a workload, model/scale.h carries the workload over, and the
 * time is read from it: the equation stands there and nowhere else.
 */
#include "calibrate/predict_sm.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "calibrate/fit.h"
#include "calibrate/half_curve.h"
#include "model/scale.h"
#include "model/try.h"

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
    if (count == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "reference %s: points[%zu].set.run.sm_count is missing, a count expected",
            reference->name, reading->point);
    }
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
    if (reference->point_count > 0 && isnan(reference->design.machine.gpu.sm_count)) {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "reference %s: machine.gpu.sm_count is missing, a count expected",
            reference->name);
    }
    return fulcrum_half_curves_predict(reference, predict_series, out, err);
}
