/* fit_result.c - standard errors, covariance and warnings of a solved fit. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The covariance is Huber's for robust regression: the variance of a point times the
 * inverse of slopes' slopes, carried to natural units by the slope of each scale. More
 * than its last digits it matters to say when an error means nothing: too few points, a
 * parameter at its bound, a value that only repeats its prior. Those become warnings
 * that every report shows.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "calibrate/fit_loss.h"
#include "calibrate/fit_state.h"
#include "model/try.h"

/* What is left of an exact fit is rounding, and no smaller than this. */
static const double rounding_rel = 1e-9;

/* Posterior over prior deviation from which a parameter counts as "all prior". */
static const double prior_share_limit = 0.75;

size_t fulcrum_fit_prior_count(const struct fulcrum_fit_problem *problem)
{
    size_t count = 0;
    for (size_t i = 0; i < problem->parameter_count; i++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[i];
        count += p->low < p->high && p->prior_sd > 0;
    }
    return count;
}

/* Column `column` of d(model / scale) / dq by central differences. */
static void slope_column(const struct fulcrum_fit_state *fit, size_t parameter,
    gsl_matrix *slopes, size_t column)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    enum fulcrum_scale scale = problem->parameter[parameter].scale;
    double natural[FULCRUM_FIT_MAX_PARAMETERS];
    memcpy(natural, fit->natural, sizeof natural);
    double q = fulcrum_fit_to_scale(scale, natural[parameter]);
    double step = 6e-6 * fmax(fabs(q), 1e-3);
    for (size_t i = 0; i < problem->count; i++) {
        natural[parameter] = fulcrum_fit_to_natural(scale, q + step);
        double up = problem->model(natural, problem->x[i], problem->context);
        natural[parameter] = fulcrum_fit_to_natural(scale, q - step);
        double down = problem->model(natural, problem->x[i], problem->context);
        gsl_matrix_set(slopes, i, column, (up - down) / (2 * step * fit->scale[i]));
    }
}

/* Variance of one point behind the standard errors; NaN if nothing tells it. */
static double point_variance(const struct fulcrum_fit_state *fit)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    for (size_t i = 0; i < problem->count; i++) {
        fit->work[i] = (fit->fitted[i] - problem->y[i]) / fit->scale[i];
    }
    double variance = fulcrum_fit_variance(problem->loss, fit->work, problem->count,
        (struct fulcrum_fit_spread){fit->deviation, (double)fit->loose_count});
    double least = fmax(problem->noise_rel, rounding_rel);
    if (isnan(variance)) {
        double spread = fmax(least, fit->deviation);
        return problem->noise_rel > 0 ? spread * spread : variance;
    }
    return fmax(variance, least * least);
}

/* Fills the slopes of every parameter that is not fixed, held ones included. */
static size_t fill_slopes(const struct fulcrum_fit_state *fit, gsl_matrix *slopes,
    double deviation, size_t *index)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    size_t columns = 0;
    size_t row = problem->count;
    gsl_matrix_set_zero(slopes);
    for (size_t i = 0; i < problem->parameter_count; i++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[i];
        if ((fit->marks[i] & FULCRUM_FIT_FIXED) != 0) {
            continue;
        }
        slope_column(fit, i, slopes, columns);
        if (p->prior_sd > 0) {
            gsl_matrix_set(slopes, row++, columns, deviation / p->prior_sd);
        }
        index[columns++] = i;
    }
    return columns;
}

/* Inverse of slopes' slopes in units of the point variance; q scale. */
static enum fulcrum_status covariance_on_scale(const struct fulcrum_fit_state *fit,
    double deviation, gsl_matrix *covariance, size_t *index, struct fulcrum_error *err)
{
    size_t columns = covariance->size1;
    gsl_matrix *slopes = gsl_matrix_calloc(
        fit->problem->count + fulcrum_fit_prior_count(fit->problem), columns);
    if (slopes == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", fit->problem->what);
    }
    (void)fill_slopes(fit, slopes, deviation, index);
    (void)gsl_multifit_nlinear_covar(slopes, 1e-8, covariance);
    gsl_matrix_free(slopes);
    gsl_matrix_scale(covariance, deviation * deviation);
    return FULCRUM_OK;
}

/* A spread of a factor e, or as wide as the prior: the data did not speak. */
static int is_identified(const struct fulcrum_fit_parameter *p, double sd_on_scale)
{
    if (p->prior_sd > 0) {
        return sd_on_scale < prior_share_limit * p->prior_sd;
    }
    int determined = sd_on_scale > 0;
    return determined && (p->scale == FULCRUM_SCALE_LINEAR || sd_on_scale < 1);
}

static void fill_estimate(const struct fulcrum_fit_state *fit,
    struct fulcrum_fit_estimate *out, size_t i, double variance)
{
    const struct fulcrum_fit_parameter *p = &fit->problem->parameter[i];
    double sd = sqrt(variance);
    if (p->prior_sd > 0) {
        out->marks |= FULCRUM_FIT_HAS_PRIOR;
        out->prior_share = sd / p->prior_sd;
    }
    if (!isnan(sd) && !is_identified(p, sd)) {
        out->marks |= FULCRUM_FIT_NOT_IDENTIFIED;
    }
    double slope = fulcrum_fit_natural_slope(p->scale, fit->natural[i]);
    out->standard_error = sd > 0 ? sd * slope : (double)NAN;
}

/* Standard errors and covariance in natural units. */
static enum fulcrum_status fill_covariance(const struct fulcrum_fit_state *fit,
    struct fulcrum_fit_result *out, struct fulcrum_error *err)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    size_t columns = 0;
    for (size_t i = 0; i < problem->parameter_count; i++) {
        columns += (fit->marks[i] & FULCRUM_FIT_FIXED) == 0;
    }
    out->noise_rel = sqrt(point_variance(fit));
    int known = out->noise_rel > 0;
    if (columns == 0) {
        return FULCRUM_OK;
    }
    double store[FULCRUM_FIT_MAX_PARAMETERS * FULCRUM_FIT_MAX_PARAMETERS] = {0};
    size_t index[FULCRUM_FIT_MAX_PARAMETERS] = {0};
    gsl_matrix_view on_scale = gsl_matrix_view_array(store, columns, columns);
    TRY(covariance_on_scale(
        fit, known ? out->noise_rel : 1, &on_scale.matrix, index, err));
    for (size_t a = 0; a < columns; a++) {
        size_t i = index[a];
        double slope =
            fulcrum_fit_natural_slope(problem->parameter[i].scale, fit->natural[i]);
        double variance = known ? store[a * columns + a] : (double)NAN;
        fill_estimate(fit, &out->parameter[i], i, variance);
        for (size_t b = 0; known && b < columns; b++) {
            size_t j = index[b];
            out->covariance[i * problem->parameter_count + j] =
                store[a * columns + b] * slope *
                fulcrum_fit_natural_slope(problem->parameter[j].scale, fit->natural[j]);
        }
    }
    return FULCRUM_OK;
}

static unsigned warnings_of(const struct fulcrum_fit_result *result, size_t free_count)
{
    const struct fulcrum_fit_residuals *residuals = &result->residuals;
    unsigned flags = 0;
    flags |= residuals->count < free_count + 2 ? FULCRUM_FIT_TOO_FEW_POINTS : 0U;
    flags |= residuals->rms_rel > 0.05 ? FULCRUM_FIT_MISFIT : 0U;
    /* One chance in 200 under random signs. */
    flags |= residuals->sign_runs_z < -2.58 ? FULCRUM_FIT_SIGN_RUNS : 0U;
    flags |= residuals->outlier_count > 0 ? FULCRUM_FIT_OUTLIERS : 0U;
    flags |= result->noise_rel > 0 ? 0U : FULCRUM_FIT_UNKNOWN_ERROR;
    unsigned marks = 0;
    for (size_t i = 0; i < result->parameter_count; i++) {
        marks |= result->parameter[i].marks;
    }
    flags |= (marks & FULCRUM_FIT_AT_BOUND) != 0 ? FULCRUM_FIT_BOUND_REACHED : 0U;
    flags |= (marks & FULCRUM_FIT_NOT_IDENTIFIED) != 0 ? FULCRUM_FIT_UNIDENTIFIED : 0U;
    return flags;
}

enum fulcrum_status fulcrum_fit_result_of(struct fulcrum_fit_result *out,
    const struct fulcrum_fit_state *fit, struct fulcrum_error *err)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    size_t unknown_count = 0;
    *out = (struct fulcrum_fit_result){.parameter_count = problem->parameter_count,
        .prior_count = fulcrum_fit_prior_count(problem),
        .x_low = problem->x[0],
        .x_high = problem->x[0]};
    for (size_t i = 0; i < problem->parameter_count; i++) {
        struct fulcrum_fit_estimate *estimate = &out->parameter[i];
        size_t length = strlen(problem->parameter[i].name);
        assert(length < sizeof estimate->name);
        memcpy(estimate->name, problem->parameter[i].name, length + 1);
        estimate->scale = problem->parameter[i].scale;
        estimate->value = fit->natural[i];
        estimate->marks = fit->marks[i];
        unknown_count += (fit->marks[i] & FULCRUM_FIT_FIXED) == 0;
    }
    for (size_t i = 1; i < problem->count; i++) {
        out->x_low = fmin(out->x_low, problem->x[i]);
        out->x_high = fmax(out->x_high, problem->x[i]);
    }
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fill_covariance(fit, out, err));
    status = fulcrum_fit_residuals_of(
        &out->residuals, problem, fit->fitted, fit->weight, err);
end:
    out->residuals.degrees_of_freedom =
        (double)(problem->count + out->prior_count) - (double)unknown_count;
    out->warnings = warnings_of(out, unknown_count);
    return status;
}
