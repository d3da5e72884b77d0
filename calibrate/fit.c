/* fit.c - robust nonlinear least squares: GSL's trust region inside reweighting. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levenberg-Marquardt (GSL's trust region) minimises weighted squares of relative
 * residuals; after each solution the weights are set anew from the residuals, by the
 * rule that the caller chose (fit_loss.c) with the median absolute deviation as scale,
 * until the parameters rest. So a few disturbed samples pull little or not at all.
 *
 * Parameters live on their scale (logarithm, logit), where they need no bounds; a bound
 * that is left is handled by holding the parameter there and solving for the others.
 * Priors are rows like points, each with the weight of one standard deviation. Several
 * starts guard against local minima, at the cost of as many solutions: these problems
 * have some ten points and five parameters.
 */
#include "calibrate/fit.h"

#include <assert.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit_loss.h"
#include "calibrate/fit_state.h"
#include "model/try.h"

enum { STEP_LIMIT = 200, PASS_LIMIT = 200 };

/* How far a pass may still move a parameter (on its scale) in a finished fit. */
static const double pass_tolerance = 1e-9;

/* How far from a point the model may be that scales its error: see reweigh(). */
static const double scale_limit = 20.0;

/* Distance from the prior in its standard deviations; 0 without one. */
static double prior_residual(const struct fulcrum_fit_parameter *p, double value)
{
    double q = fulcrum_fit_to_scale(p->scale, value);
    return (q - fulcrum_fit_to_scale(p->scale, p->start)) / p->prior_sd;
}

static void set_free(
    const struct fulcrum_fit_state *fit, const gsl_vector *q, double *natural)
{
    for (size_t j = 0; j < fit->free_count; j++) {
        size_t i = fit->index[j];
        enum fulcrum_scale scale = fit->problem->parameter[i].scale;
        natural[i] = fulcrum_fit_to_natural(scale, gsl_vector_get(q, j));
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
    for (size_t i = 0; i < problem->count; i++) {
        double gap =
            problem->model(natural, problem->x[i], problem->context) - problem->y[i];
        double row = sqrt(fit->weight[i]) * gap / (fit->scale[i] * fit->noise);
        if (!isfinite(row)) {
            return GSL_EBADFUNC;
        }
        gsl_vector_set(rows, i, row);
    }
    size_t next = problem->count;
    for (size_t j = 0; j < fit->free_count; j++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[fit->index[j]];
        if (p->prior_sd > 0) {
            gsl_vector_set(rows, next++, prior_residual(p, natural[fit->index[j]]));
        }
    }
    return GSL_SUCCESS;
}

static size_t row_count(const struct fulcrum_fit_state *fit)
{
    size_t rows = fit->problem->count;
    for (size_t j = 0; j < fit->free_count; j++) {
        rows += fit->problem->parameter[fit->index[j]].prior_sd > 0;
    }
    return rows;
}

static enum fulcrum_status no_fit(
    const struct fulcrum_fit_state *fit, struct fulcrum_error *err, const char *why)
{
    return fulcrum_fail(err, FULCRUM_ERR_NO_FIT, "%s: %s", fit->problem->what, why);
}

/* Makes a solver for the present set of free parameters. */
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
    if (fit->solver == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", fit->problem->what);
    }
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

static void evaluate(struct fulcrum_fit_state *fit)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    for (size_t i = 0; i < problem->count; i++) {
        fit->fitted[i] = problem->model(fit->natural, problem->x[i], problem->context);
    }
}

/*
 * Errors are taken relative to the model, because dividing by noisy data favours
 * points that came out low; near a zero of the model, the datum sets the limit.
 */
static void reweigh(struct fulcrum_fit_state *fit)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    evaluate(fit);
    for (size_t i = 0; i < problem->count; i++) {
        double least = problem->y[i] / scale_limit;
        double most = problem->y[i] * scale_limit;
        fit->scale[i] = fmin(fmax(fit->fitted[i], least), most);
        fit->work[i] = fabs(fit->fitted[i] - problem->y[i]) / fit->scale[i];
    }
    /* A parameter with a prior is not free to meet points: it takes no freedom. */
    fit->loose_count = fit->free_count + problem->count - row_count(fit);
    double deviation =
        fulcrum_fit_deviation(fit->work, problem->count, fit->loose_count);
    fit->deviation = fmax(deviation, problem->noise_rel);
    if (fulcrum_fit_prior_count(problem) > 0) {
        fit->noise = fit->deviation;
    }
    for (size_t i = 0; i < problem->count; i++) {
        double residual = (fit->fitted[i] - problem->y[i]) / fit->scale[i];
        fit->weight[i] =
            fulcrum_fit_loss_weight(problem->loss, residual / fit->deviation);
    }
}

static void get_free(const struct fulcrum_fit_state *fit, gsl_vector *q)
{
    for (size_t j = 0; j < fit->free_count; j++) {
        size_t i = fit->index[j];
        enum fulcrum_scale scale = fit->problem->parameter[i].scale;
        gsl_vector_set(q, j, fulcrum_fit_to_scale(scale, fit->natural[i]));
    }
}

/* Alternates solving and reweighting until the parameters stay where they are. */
static enum fulcrum_status iterate(
    struct fulcrum_fit_state *fit, gsl_vector *q, struct fulcrum_error *err)
{
    double last[FULCRUM_FIT_MAX_PARAMETERS];
    double cost = 0;
    double move = (double)INFINITY;
    for (size_t pass = 0; pass < PASS_LIMIT && move > pass_tolerance; pass++) {
        reweigh(fit);
        get_free(fit, q);
        TRY(solve_pass(fit, q, &cost, err));
        memcpy(last, fit->natural, sizeof last);
        set_free(fit, q, fit->natural);
        move = 0;
        for (size_t j = 0; j < fit->free_count; j++) {
            size_t i = fit->index[j];
            double size = fmax(fabs(last[i]), fabs(fit->natural[i]));
            double change = fabs(fit->natural[i] - last[i]);
            move = fmax(move, size > 0 ? change / size : 0);
        }
    }
    reweigh(fit);
    /* A robust fit of tied medians may creep for ever; a millionth is enough. */
    return move < 1e-6 ? FULCRUM_OK : no_fit(fit, err, "reweighting does not settle");
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

/* Leaves the best least-squares solution over all starts in `natural`. */
static enum fulcrum_status solve_starts(
    struct fulcrum_fit_state *fit, gsl_vector *q, struct fulcrum_error *err)
{
    size_t starts = fit->problem->start_count > 0 ? fit->problem->start_count : 1;
    size_t solved = 0;
    double best = 0;
    enum fulcrum_status failure = FULCRUM_OK;
    for (size_t start = 0; start < starts; start++) {
        double cost = 0;
        place_start(fit, start, q);
        enum fulcrum_status status = solve_pass(fit, q, &cost, err);
        if (status != FULCRUM_OK) {
            failure = status;
        } else if (solved++ == 0 || cost < best) {
            best = cost;
            set_free(fit, q, fit->natural);
        }
    }
    return solved > 0 ? FULCRUM_OK : failure;
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

static enum fulcrum_status solve_once(
    struct fulcrum_fit_state *fit, struct fulcrum_error *err)
{
    enum fulcrum_status status = renew_solver(fit, err);
    if (status != FULCRUM_OK || fit->free_count == 0) {
        reweigh(fit);
        return status;
    }
    double store[FULCRUM_FIT_MAX_PARAMETERS] = {0};
    gsl_vector_view q = gsl_vector_view_array(store, fit->free_count);
    status = solve_starts(fit, &q.vector, err);
    return status == FULCRUM_OK ? iterate(fit, &q.vector, err) : status;
}

static enum fulcrum_status solve(
    struct fulcrum_fit_state *fit, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    do {
        status = solve_once(fit, err);
    } while (status == FULCRUM_OK && hold_at_bound(fit));
    return status;
}

static enum fulcrum_status check_points(
    const struct fulcrum_fit_problem *problem, struct fulcrum_error *err)
{
    for (size_t i = 0; i < problem->count; i++) {
        if (!isfinite(problem->x[i]) || problem->x[i] < 0) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%s: x = %.6g of point %zu is not a finite number >= 0", problem->what,
                problem->x[i], i + 1);
        }
        if (!isfinite(problem->y[i]) || problem->y[i] <= 0) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%s: y = %.6g of point %zu is not a finite number > 0", problem->what,
                problem->y[i], i + 1);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check(
    const struct fulcrum_fit_problem *problem, struct fulcrum_error *err)
{
    assert(problem->parameter_count <= FULCRUM_FIT_MAX_PARAMETERS);
    assert(fulcrum_fit_prior_count(problem) == 0 || problem->noise_rel > 0);
    TRY(check_points(problem, err));
    /* Priors may stand in for data, but one count alone shows no curve at all. */
    size_t needed = 2;
    size_t without_prior = 0;
    for (size_t i = 0; i < problem->parameter_count; i++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[i];
        without_prior += p->low < p->high && !(p->prior_sd > 0);
    }
    needed = without_prior > needed ? without_prior : needed;
    size_t have = fulcrum_fit_distinct(problem->x, problem->count, needed);
    if (have < needed) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
            "%s: %zu points with %zu different x, at least %zu are needed",
            problem->what, problem->count, have, needed);
    }
    return FULCRUM_OK;
}

static void begin(struct fulcrum_fit_state *fit, double *store)
{
    const struct fulcrum_fit_problem *problem = fit->problem;
    fit->fitted = store;
    fit->scale = store + problem->count;
    fit->weight = store + 2 * problem->count;
    fit->work = store + 3 * problem->count;
    fit->noise = fulcrum_fit_prior_count(problem) > 0 ? problem->noise_rel : 1;
    for (size_t i = 0; i < problem->count; i++) {
        fit->scale[i] = problem->y[i];
        fit->weight[i] = 1;
    }
    for (size_t i = 0; i < problem->parameter_count; i++) {
        const struct fulcrum_fit_parameter *p = &problem->parameter[i];
        fit->natural[i] = p->start;
        if (p->low < p->high) {
            fit->index[fit->free_count++] = i;
        } else {
            fit->marks[i] = FULCRUM_FIT_FIXED;
        }
    }
}

enum fulcrum_status fulcrum_fit(struct fulcrum_fit_result *out,
    const struct fulcrum_fit_problem *problem, struct fulcrum_error *err)
{
    TRY(check(problem, err));
    double *store = calloc(4 * problem->count, sizeof *store);
    if (store == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", problem->what);
    }
    struct fulcrum_fit_state fit = {.problem = problem};
    begin(&fit, store);
    struct fulcrum_fit_result result = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(solve(&fit, err));
    TRY_OR_END(fulcrum_fit_result_of(&result, &fit, err));
    *out = result;
end:
    gsl_multifit_nlinear_free(fit.solver);
    free(store);
    return status;
}
