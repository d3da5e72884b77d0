/* fit.c - robust nonlinear least squares: GSL's trust region inside reweighting. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levenberg-Marquardt (GSL's trust region) minimises weighted squares of relative
 * residuals; after each solution the weights are set anew from the residuals, by the
 * rule that the caller chose with the median absolute deviation as scale,
 * until the parameters rest. So a few disturbed samples pull little or not at all.
 *
 * Parameters live on their scale (logarithm, logit), where they need no bounds; a bound
 * that is left is handled by holding the parameter there and solving for the others.
 * Priors are rows like points, each with the weight of one standard deviation. Several
 * starts guard against local minima, at the cost of as many solutions: these problems
 * have some ten points and five parameters.
 */

#include "calibrate/fit/fit.h"

#include <assert.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

/* One fit under way. q: the parameters on their scales, fitted ones only. */
struct fulcrum_fit_state {
    const struct fulcrum_fit_problem *problem;
    double natural[FULCRUM_FIT_MAX_PARAMETERS]; /* every parameter */
    size_t index[FULCRUM_FIT_MAX_PARAMETERS];   /* of the fitted ones */
    size_t free_count;
    size_t loose_count; /* fitted ones without a prior */
    unsigned marks[FULCRUM_FIT_MAX_PARAMETERS];
    double *fitted; /* model at each point; these share one allocation */
    double *scale;  /* what its residual is divided by */
    double *weight; /* of robust reweighting */
    double *work;
    double noise;     /* relative; 1 without priors, where it has no effect */
    double deviation; /* robust standard deviation of the residuals */
    gsl_multifit_nlinear_workspace *solver;
};

/* Robust weights, spread of residuals, variance of a fit. */

/* Tuning for 95 % efficiency under normal noise (Holland and Welsch 1977). */
static const double huber_k = 1.345;

/* Standard deviations per median absolute deviation of a normal law. */
static const double sd_per_mad = 1.482602218505602;

/* What is left of an exact fit is rounding, and no smaller than this. */
static const double rounding_rel = 1e-9;

/* Whether a residual of `u` standard deviations counts in full. */
static bool is_near(const struct fulcrum_fit_problem *problem, double u)
{
    return problem->loss == FULCRUM_FIT_SQUARES || fabs(u) <= huber_k;
}

static double weight_of(const struct fulcrum_fit_problem *problem, double u)
{
    return is_near(problem, u) ? 1 : huber_k / fabs(u);
}

/*
 * Huber's variance of one point for the covariance of a robust estimate (Huber 1981,
 * section 7.6, first form); NaN without a degree of freedom.
 */
static double robust_variance(const struct fulcrum_fit_state *fit)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    double n = (double)problem->points.count;
    double fitted_count = (double)fit->loose_count;
    if (n - fitted_count < 1) {
        return (double)NAN;
    }
    double influence2 = 0;
    double slope = 0;
    for (size_t i = 0; i < problem->points.count; i++) {
        double residual = (fit->fitted[i] - problem->points.y[i]) / fit->scale[i];
        double u = residual / fit->deviation;
        double influence = weight_of(problem, u) * u;
        influence2 += influence * influence;
        slope += is_near(problem, u) ? 1 : 0;
    }
    /* With most points beyond the knee the formula has no meaning: a tenth at least. */
    double mean = fmax(slope / n, 0.1);
    double spread_of_slope = fmax(slope / n - mean * mean, 0);
    double k = 1 + fitted_count / n * spread_of_slope / (mean * mean);
    return k * k * fit->deviation * fit->deviation * influence2 / (n - fitted_count) /
           (mean * mean);
}

double fulcrum_fit_to_scale(enum fulcrum_scale scale, double value)
{
    return scale == FULCRUM_SCALE_LOG     ? log(value)
           : scale == FULCRUM_SCALE_LOGIT ? log(value / (1 - value))
                                          : value;
}

double fulcrum_fit_to_natural(enum fulcrum_scale scale, double q)
{
    return scale == FULCRUM_SCALE_LOG     ? exp(q)
           : scale == FULCRUM_SCALE_LOGIT ? 1 / (1 + exp(-q))
                                          : q;
}

double fulcrum_fit_natural_slope(enum fulcrum_scale scale, double value)
{
    return scale == FULCRUM_SCALE_LOG     ? value
           : scale == FULCRUM_SCALE_LOGIT ? value * (1 - value)
                                          : 1;
}

/*
 * The covariance is Huber's for robust regression: the variance of a point times the
 * inverse of slopes' slopes, carried to natural units by the slope of each scale. More
 * than its last digits it matters to say when an error means nothing: too few points, a
 * parameter at its bound, a value that only repeats its prior. Those become warnings
 * that every report shows.
 */

/* Posterior over prior deviation from which a parameter counts as "all prior". */
static const double prior_share_limit = 0.75;

static size_t fit_prior_count(const struct fulcrum_fit_problem *problem)
{
    size_t count = 0;
    for (size_t i = 0; i < problem->parameter_count; i++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[i];
        count += p->low < p->high && p->prior_sd > 0;
    }
    return count;
}

/* Inverse of slopes' slopes of the parameters of `index`, one for each column, in units
 * of the point variance; q scale. */
static enum fulcrum_status covariance_on_scale(const struct fulcrum_fit_state *fit,
    double deviation, const size_t *index, gsl_matrix *covariance,
    struct fulcrum_error *err)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    size_t row = problem->points.count;
    gsl_matrix *slopes =
        gsl_matrix_calloc(row + fit_prior_count(problem), covariance->size1);
    TRY_MEMORY(slopes, err, "%s", problem->points.what);
    for (size_t column = 0; column < covariance->size1; column++) {
        double prior_sd = problem->parameter[index[column]].prior_sd;
        /* Of d(model / scale) / dq by central differences. */
        enum fulcrum_scale scale = problem->parameter[index[column]].scale;
        double natural[FULCRUM_FIT_MAX_PARAMETERS];
        memcpy(natural, fit->natural, sizeof natural);
        double *moved = &natural[index[column]];
        double q = fulcrum_fit_to_scale(scale, *moved);
        double step = 6e-6 * fmax(fabs(q), 1e-3);
        for (size_t i = 0; i < problem->points.count; i++) {
            double x = problem->points.x[i];
            *moved = fulcrum_fit_to_natural(scale, q + step);
            double up = problem->model(natural, x, problem->context);
            *moved = fulcrum_fit_to_natural(scale, q - step);
            double down = problem->model(natural, x, problem->context);
            gsl_matrix_set(slopes, i, column, (up - down) / (2 * step * fit->scale[i]));
        }
        if (prior_sd > 0) {
            gsl_matrix_set(slopes, row++, column, deviation / prior_sd);
        }
    }
    (void)gsl_multifit_nlinear_covar(slopes, 1e-8, covariance);
    gsl_matrix_free(slopes);
    gsl_matrix_scale(covariance, deviation * deviation);
    return FULCRUM_OK;
}

static void set_errors(const struct fulcrum_fit_parameter *p,
    struct fulcrum_fit_estimate *out, double sd, double slope)
{
    if (p->prior_sd > 0) {
        out->marks |= FULCRUM_FIT_HAS_PRIOR;
        out->prior_share = sd / p->prior_sd;
    }
    /* Whether the spread is below a factor e, or well below the prior's: data spoke. */
    bool is_identified = p->prior_sd > 0
                             ? sd < prior_share_limit * p->prior_sd
                             : sd > 0 && (p->scale == FULCRUM_SCALE_LINEAR || sd < 1);
    if (!isnan(sd) && !is_identified) {
        out->marks |= FULCRUM_FIT_NOT_IDENTIFIED;
    }
    out->standard_error = sd > 0 ? sd * slope : (double)NAN;
}

/* Standard errors and covariance in natural units, of every parameter that is not
 * fixed, held ones included. */
static enum fulcrum_status fill_covariance(const struct fulcrum_fit_state *fit,
    struct fulcrum_fit_result *out, struct fulcrum_error *err)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    double store[FULCRUM_FIT_MAX_PARAMETERS * FULCRUM_FIT_MAX_PARAMETERS] = {0};
    double slope[FULCRUM_FIT_MAX_PARAMETERS];
    size_t index[FULCRUM_FIT_MAX_PARAMETERS] = {0};
    size_t columns = 0;
    for (size_t i = 0; i < problem->parameter_count; i++) {
        if ((fit->marks[i] & FULCRUM_FIT_FIXED) == 0) {
            slope[columns] =
                fulcrum_fit_natural_slope(problem->parameter[i].scale, fit->natural[i]);
            index[columns++] = i;
        }
    }
    /* Variance of one point behind the standard errors; NaN if nothing tells it. */
    double variance = robust_variance(fit);
    double least = fmax(problem->noise_rel, rounding_rel);
    double spread = fmax(least, fit->deviation);
    out->noise_rel = !isnan(variance)         ? sqrt(fmax(variance, least * least))
                     : problem->noise_rel > 0 ? sqrt(spread * spread)
                                              : variance;
    bool is_known = out->noise_rel > 0;
    if (columns == 0) {
        return FULCRUM_OK;
    }
    gsl_matrix_view on_scale = gsl_matrix_view_array(store, columns, columns);
    TRY(covariance_on_scale(
        fit, is_known ? out->noise_rel : 1, index, &on_scale.matrix, err));
    for (size_t a = 0; a < columns; a++) {
        size_t i = index[a];
        double sd = is_known ? sqrt(store[a * columns + a]) : (double)NAN;
        set_errors(&problem->parameter[i], &out->parameter[i], sd, slope[a]);
        for (size_t b = 0; is_known && b < columns; b++) {
            out->covariance[i * problem->parameter_count + index[b]] =
                store[a * columns + b] * slope[a] * slope[b];
        }
    }
    return FULCRUM_OK;
}

/* The normal law of the number of runs needs this many points. */
enum { RUNS_LEAST_COUNT = 10 };

/* Fewer runs of equal sign over x than chance would give: Wald and Wolfowitz's z. */
static enum fulcrum_status sign_runs(
    double *out, const struct fulcrum_fit_state *fit, struct fulcrum_error *err)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    size_t *order = calloc(problem->points.count, sizeof *order);
    TRY_MEMORY(order, err, "%s", problem->points.what);
    gsl_sort_index(order, problem->points.x, 1, problem->points.count);
    double above = 0;
    double runs = 0;
    int last = -1;
    for (size_t i = 0; i < problem->points.count; i++) {
        int sign = fit->fitted[order[i]] - problem->points.y[order[i]] > 0;
        above += sign;
        runs += sign != last;
        last = sign;
    }
    free(order);
    double n = (double)problem->points.count;
    double pairs = 2 * above * (n - above);
    double mean = pairs / n + 1;
    double variance = pairs * (pairs - n) / (n * n * (n - 1));
    /* All of one sign: impossible for a fit, short of rounding and priors. */
    *out = variance > 0 ? (runs - mean) / sqrt(variance) : 0;
    return FULCRUM_OK;
}

/*
 * Estimates, covariance, residuals and warnings of a solved fit, whose `fitted`,
 * `scale` and `weight` belong to its parameters.
 */
static enum fulcrum_status fit_result_of(struct fulcrum_fit_result *out,
    const struct fulcrum_fit_state *fit, struct fulcrum_error *err)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    size_t unknown_count = 0;
    *out = (struct fulcrum_fit_result){
        .parameter_count = problem->parameter_count, .x_high = problem->points.x[0]};
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
    for (size_t i = 1; i < problem->points.count; i++) {
        out->x_high = fmax(out->x_high, problem->points.x[i]);
    }
    TRY(fill_covariance(fit, out, err));
    double n = (double)problem->points.count;
    out->residuals.count = problem->points.count;
    for (size_t i = 0; i < problem->points.count; i++) {
        double y = problem->points.y[i];
        double residual = (fit->fitted[i] - y) / y;
        out->residuals.mape += fabs(residual) / n;
        out->residuals.smape +=
            2 * fabs(fit->fitted[i] - y) / (fabs(fit->fitted[i]) + y) / n;
        out->residuals.max_abs_rel = fmax(out->residuals.max_abs_rel, fabs(residual));
        out->residuals.bias_rel += residual / n;
        out->residuals.rms_rel += residual * residual / n;
        out->residuals.outlier_count += fit->weight[i] < 0.5;
    }
    out->residuals.rms_rel = sqrt(out->residuals.rms_rel);
    /* Residuals that are rounding have signs without meaning. */
    TRY(problem->points.count < RUNS_LEAST_COUNT || out->residuals.rms_rel < 1e-9
            ? FULCRUM_OK
            : sign_runs(&out->residuals.sign_runs_z, fit, err));
    out->residuals.degrees_of_freedom =
        (double)(problem->points.count + fit_prior_count(problem)) -
        (double)unknown_count;
    const struct fulcrum_fit_residuals *residuals = &out->residuals;
    unsigned flags = 0;
    flags |= residuals->count < unknown_count + 2 ? FULCRUM_FIT_TOO_FEW_POINTS : 0U;
    flags |= residuals->rms_rel > 0.05 ? FULCRUM_FIT_MISFIT : 0U;
    /* One chance in 200 under random signs. */
    flags |= residuals->sign_runs_z < -2.58 ? FULCRUM_FIT_SIGN_RUNS : 0U;
    flags |= residuals->outlier_count > 0 ? FULCRUM_FIT_OUTLIERS : 0U;
    flags |= out->noise_rel > 0 ? 0U : FULCRUM_FIT_UNKNOWN_ERROR;
    unsigned marks = 0;
    for (size_t i = 0; i < out->parameter_count; i++) {
        marks |= out->parameter[i].marks;
    }
    flags |= (marks & FULCRUM_FIT_AT_BOUND) != 0 ? FULCRUM_FIT_BOUND_REACHED : 0U;
    flags |= (marks & FULCRUM_FIT_NOT_IDENTIFIED) != 0 ? FULCRUM_FIT_UNIDENTIFIED : 0U;
    out->warnings = flags;
    return FULCRUM_OK;
}

const struct fulcrum_fit_estimate *fulcrum_fit_find(
    const struct fulcrum_fit_result *result, const char *name)
{
    for (size_t i = 0; i < result->parameter_count; i++) {
        if (strcmp(result->parameter[i].name, name) == 0) {
            return &result->parameter[i];
        }
    }
    return NULL;
}

double fulcrum_fit_error(const struct fulcrum_fit_result *result, const double *slope)
{
    size_t n = result->parameter_count;
    double variance = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            variance += slope[i] * slope[j] * result->covariance[i * n + j];
        }
    }
    return sqrt(fmax(0, variance));
}

const char *fulcrum_fit_warning_text(unsigned warning)
{
    static const struct {
        unsigned warning;
        const char *text;
    } texts[] = {
        {FULCRUM_FIT_TOO_FEW_POINTS,
            "fewer points than parameters + 2: the fit meets them whatever the truth"},
        {FULCRUM_FIT_MISFIT, "residuals exceed 5 % rms: the form does not fit, or "
                             "points were disturbed"},
        {FULCRUM_FIT_SIGN_RUNS,
            "residuals keep their sign over long runs: the form does not fit"},
        {FULCRUM_FIT_OUTLIERS, "some points lie far off and were given less weight"},
        {FULCRUM_FIT_BOUND_REACHED,
            "the data pull a parameter beyond its bound, where it is held"},
        {FULCRUM_FIT_UNIDENTIFIED, "the data say next to nothing about a parameter"},
        {FULCRUM_FIT_UNKNOWN_ERROR,
            "as many parameters as points: standard errors are unknown"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].warning == warning) {
            return texts[i].text;
        }
    }
    return NULL;
}

size_t fulcrum_fit_distinct(const double *x, size_t count, size_t enough)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count && distinct < enough; i++) {
        size_t j = 0;
        /* Counts and sizes are compared as given, not as results of arithmetic. */
        while (j < i && (x[j] < x[i] || x[j] > x[i])) {
            j++;
        }
        distinct += j == i;
    }
    return distinct;
}

enum { STEP_LIMIT = 200, PASS_LIMIT = 200, FREE_PASSES = 100 };

/* How far a pass may still move a parameter (on its scale) in a finished fit. */
static const double pass_tolerance = 1e-9;

/* How far from a point the model may be that scales its error: see reweigh(). */
static const double scale_limit = 20.0;

static void set_free(
    const struct fulcrum_fit_state *fit, const gsl_vector *q, double *natural)
{
    for (size_t j = 0; j < fit->free_count; j++) {
        size_t i = fit->index[j];
        natural[i] = fulcrum_fit_to_natural(
            fit->problem->parameter[i].scale, gsl_vector_get(q, j));
    }
}

/* GSL's callback: one row per point, then one per prior of a fitted parameter. */
static int residual_rows(const gsl_vector *q, void *data, gsl_vector *rows)
{
    const struct fulcrum_fit_state *fit = data;
    const struct fulcrum_fit_problem *problem = fit->problem;
    double natural[FULCRUM_FIT_MAX_PARAMETERS];
    memcpy(natural, fit->natural, sizeof natural);
    set_free(fit, q, natural);
    for (size_t i = 0; i < problem->points.count; i++) {
        double gap = problem->model(natural, problem->points.x[i], problem->context) -
                     problem->points.y[i];
        double row = sqrt(fit->weight[i]) * gap / (fit->scale[i] * fit->noise);
        if (!isfinite(row)) {
            return GSL_EBADFUNC;
        }
        gsl_vector_set(rows, i, row);
    }
    size_t next = problem->points.count;
    for (size_t j = 0; j < fit->free_count; j++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[fit->index[j]];
        if (p->prior_sd > 0) {
            double off = fulcrum_fit_to_scale(p->scale, natural[fit->index[j]]) -
                         fulcrum_fit_to_scale(p->scale, p->start);
            gsl_vector_set(rows, next++, off / p->prior_sd);
        }
    }
    return GSL_SUCCESS;
}

static size_t row_count(const struct fulcrum_fit_state *fit)
{
    size_t rows = fit->problem->points.count;
    for (size_t j = 0; j < fit->free_count; j++) {
        rows += fit->problem->parameter[fit->index[j]].prior_sd > 0;
    }
    return rows;
}

static enum fulcrum_status no_fit(
    const struct fulcrum_fit_state *fit, struct fulcrum_error *err, const char *why)
{
    return fulcrum_fail(
        err, FULCRUM_ERR_NO_FIT, "%s: %s", fit->problem->points.what, why);
}

static enum fulcrum_status renew_solver(
    struct fulcrum_fit_state *fit, struct fulcrum_error *err)
{
    gsl_multifit_nlinear_free(fit->solver);
    fit->solver = NULL;
    size_t rows = row_count(fit);
    if (rows < fit->free_count) {
        return no_fit(fit, err, "fewer points than parameters");
    }
    if (fit->free_count == 0) {
        return FULCRUM_OK;
    }
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    options.fdtype = GSL_MULTIFIT_NLINEAR_CTRDIFF;
    options.h_df = 6e-6; /* cube root of the rounding unit: best for central steps */
    fit->solver = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &options, rows, fit->free_count);
    TRY_MEMORY(fit->solver, err, "%s", fit->problem->points.what);
    return FULCRUM_OK;
}

/*
 * Least squares with the present weights. A step that no longer improves anything and
 * the limit of steps are ends like others: the next pass starts where this one
 * stopped, and iterate() judges whether the parameters came to rest.
 */
static enum fulcrum_status solve_pass(struct fulcrum_fit_state *fit, gsl_vector *q,
    double *cost, struct fulcrum_error *err)
{
    gsl_multifit_nlinear_fdf rows = {
        .f = residual_rows, .n = row_count(fit), .p = fit->free_count, .params = fit};
    if (gsl_multifit_nlinear_init(q, &rows, fit->solver) != GSL_SUCCESS) {
        return no_fit(fit, err, "the form has no value at the start");
    }
    int info = 0;
    int status = gsl_multifit_nlinear_driver(
        STEP_LIMIT, 1e-11, 1e-11, 0, NULL, NULL, &info, fit->solver);
    if (status != GSL_SUCCESS && status != GSL_ENOPROG && status != GSL_EMAXITER) {
        return no_fit(fit, err, "the form has no value near the solution");
    }
    gsl_vector_memcpy(q, gsl_multifit_nlinear_position(fit->solver));
    (void)gsl_blas_ddot(gsl_multifit_nlinear_residual(fit->solver),
        gsl_multifit_nlinear_residual(fit->solver), cost);
    return FULCRUM_OK;
}

/*
 * Errors are taken relative to the model, because dividing by noisy data favours
 * points that came out low; near a zero of the model, the datum sets the limit.
 */
static void reweigh(struct fulcrum_fit_state *fit)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    for (size_t i = 0; i < problem->points.count; i++) {
        fit->fitted[i] =
            problem->model(fit->natural, problem->points.x[i], problem->context);
        double least = problem->points.y[i] / scale_limit;
        double most = problem->points.y[i] * scale_limit;
        fit->scale[i] = fmin(fmax(fit->fitted[i], least), most);
        fit->work[i] = fabs(fit->fitted[i] - problem->points.y[i]) / fit->scale[i];
    }
    /* A parameter with a prior is not free to meet points: it takes no freedom. */
    fit->loose_count = fit->free_count + problem->points.count - row_count(fit);
    /*
     * Standard deviation of normal noise from the median of |residual|. The smallest
     * loose_count - 1 are left out, since so many points a fit can always meet.
     */
    size_t count = problem->points.count;
    size_t met = fit->loose_count > 0 ? fit->loose_count - 1 : 0;
    met = met < count ? met : count - 1;
    gsl_sort(fit->work, 1, count);
    double median = gsl_stats_median_from_sorted_data(fit->work + met, 1, count - met);
    fit->deviation = fmax(fmax(median * sd_per_mad, rounding_rel), problem->noise_rel);
    if (fit_prior_count(problem) > 0) {
        fit->noise = fit->deviation;
    }
    for (size_t i = 0; i < problem->points.count; i++) {
        double residual = (fit->fitted[i] - problem->points.y[i]) / fit->scale[i];
        fit->weight[i] = weight_of(problem, residual / fit->deviation);
    }
}

static enum fulcrum_status iterate(
    struct fulcrum_fit_state *fit, gsl_vector *q, struct fulcrum_error *err)
{
    double last[FULCRUM_FIT_MAX_PARAMETERS];
    double cost = 0;
    double move = (double)INFINITY;
    for (size_t pass = 0; pass < PASS_LIMIT && move > pass_tolerance; pass++) {
        reweigh(fit);
        for (size_t j = 0; j < fit->free_count; j++) {
            size_t i = fit->index[j];
            gsl_vector_set(q, j,
                fulcrum_fit_to_scale(
                    fit->problem->parameter[i].scale, fit->natural[i]));
        }
        TRY(solve_pass(fit, q, &cost, err));
        memcpy(last, fit->natural, sizeof last);
        set_free(fit, q, fit->natural);
        move = 0;
        /* Weightings may lead to each other for ever: smaller and smaller steps. */
        double share = pow(0.8, fmax((double)pass - FREE_PASSES, 0.0));
        for (size_t j = 0; j < fit->free_count; j++) {
            size_t i = fit->index[j];
            double size = fmax(fabs(last[i]), fabs(fit->natural[i]));
            fit->natural[i] -= (1.0 - share) * (fit->natural[i] - last[i]);
            move = fmax(move, size > 0 ? fabs(fit->natural[i] - last[i]) / size : 0);
        }
    }
    reweigh(fit);
    return FULCRUM_OK;
}

/*
 * Start 0 is the given one; the bits of the others choose a side for each parameter
 * that has a step.
 */
static void place_start(
    const struct fulcrum_fit_state *fit, size_t start, gsl_vector *q)
{
    size_t bits = start;
    for (size_t j = 0; j < fit->free_count; j++) {
        const struct fulcrum_fit_parameter *p = &fit->problem->parameter[fit->index[j]];
        double step = start == 0 ? 0 : p->start_step;
        step = (bits & 1) != 0 ? step : -step;
        bits = p->start_step > 0 ? bits >> 1 : bits;
        gsl_vector_set(q, j, fulcrum_fit_to_scale(p->scale, p->start) + step);
    }
}

/*
 * Holds the last free parameter that lies beyond a bound there. One at a time: the
 * others may come back inside once it is held.
 */
static int hold_at_bound(struct fulcrum_fit_state *fit)
{
    for (size_t j = fit->free_count; j-- > 0;) {
        size_t i = fit->index[j];
        const struct fulcrum_fit_parameter *p = &fit->problem->parameter[i];
        double inside = fmin(fmax(fit->natural[i], p->low), p->high);
        if (inside < fit->natural[i] || inside > fit->natural[i]) {
            fit->natural[i] = inside;
            fit->marks[i] |= FULCRUM_FIT_AT_BOUND;
            fit->free_count--;
            memmove(&fit->index[j], &fit->index[j + 1],
                (fit->free_count - j) * sizeof fit->index[0]);
            return 1;
        }
    }
    return 0;
}

static enum fulcrum_status solve(
    struct fulcrum_fit_state *fit, struct fulcrum_error *err)
{
    double store[FULCRUM_FIT_MAX_PARAMETERS] = {0};
    do {
        TRY(renew_solver(fit, err));
        if (fit->free_count == 0) {
            reweigh(fit);
            return FULCRUM_OK;
        }
        gsl_vector_view q = gsl_vector_view_array(store, fit->free_count);
        /* Leaves the best least-squares solution over all starts in `natural`. */
        size_t starts = fit->problem->start_count > 0 ? fit->problem->start_count : 1;
        size_t solved = 0;
        double best = 0;
        enum fulcrum_status failure = FULCRUM_OK;
        for (size_t start = 0; start < starts; start++) {
            double cost = 0;
            place_start(fit, start, &q.vector);
            enum fulcrum_status status = solve_pass(fit, &q.vector, &cost, err);
            if (status != FULCRUM_OK) {
                failure = status;
            } else if (solved++ == 0 || cost < best) {
                best = cost;
                set_free(fit, &q.vector, fit->natural);
            }
        }
        TRY(solved > 0 ? FULCRUM_OK : failure);
        TRY(iterate(fit, &q.vector, err));
    } while (hold_at_bound(fit));
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_check_points(
    const struct fulcrum_samples *points, struct fulcrum_error *err)
{
    for (size_t i = 0; i < points->count; i++) {
        double x = points->x[i];
        double y = points->y[i];
        FAIL_IF(!isfinite(x) || x < 0, err, FULCRUM_ERR_RANGE,
            "%s: x = %.6g of point %zu is not a finite number >= 0", points->what, x,
            i + 1);
        FAIL_IF(!isfinite(y) || y <= 0, err, FULCRUM_ERR_RANGE,
            "%s: y = %.6g of point %zu is not a finite number > 0", points->what, y,
            i + 1);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_problem(
    const struct fulcrum_fit_problem *problem, struct fulcrum_error *err)
{
    assert(problem->parameter_count <= FULCRUM_FIT_MAX_PARAMETERS);
    assert(fit_prior_count(problem) == 0 || problem->noise_rel > 0);
    TRY(fulcrum_fit_check_points(&problem->points, err));
    /* Priors may stand in for data, but one count alone shows no curve at all. */
    size_t without_prior = 0;
    for (size_t i = 0; i < problem->parameter_count; i++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[i];
        without_prior += p->low < p->high && !(p->prior_sd > 0);
    }
    size_t needed = without_prior > 2 ? without_prior : 2;
    size_t have =
        fulcrum_fit_distinct(problem->points.x, problem->points.count, needed);
    FAIL_IF(have < needed, err, FULCRUM_ERR_NO_FIT,
        "%s: %zu points with %zu different x, at least %zu are needed",
        problem->points.what, problem->points.count, have, needed);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit(struct fulcrum_fit_result *out,
    const struct fulcrum_fit_problem *problem, struct fulcrum_error *err)
{
    TRY(check_problem(problem, err));
    double *store = calloc(4 * problem->points.count, sizeof *store);
    TRY_MEMORY(store, err, "%s", problem->points.what);
    struct fulcrum_fit_state fit = {.problem = problem,
        .fitted = store,
        .scale = store + problem->points.count,
        .weight = store + 2 * problem->points.count,
        .work = store + 3 * problem->points.count,
        .noise = fit_prior_count(problem) > 0 ? problem->noise_rel : 1};
    for (size_t i = 0; i < problem->points.count; i++) {
        fit.scale[i] = problem->points.y[i];
        fit.weight[i] = 1;
    }
    for (size_t i = 0; i < problem->parameter_count; i++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[i];
        fit.natural[i] = p->start;
        if (p->low < p->high) {
            fit.index[fit.free_count++] = i;
        } else {
            fit.marks[i] = FULCRUM_FIT_FIXED;
        }
    }
    struct fulcrum_fit_result result = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(solve(&fit, err));
    TRY_OR_END(fit_result_of(&result, &fit, err));
    *out = result;
end:
    gsl_multifit_nlinear_free(fit.solver);
    free(store);
    return status;
}
