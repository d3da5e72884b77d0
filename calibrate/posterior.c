/* posterior.c - the best values of uncertain parameters, and the directions data fix.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything happens in z, each parameter's distance from its centre in prior standard
 * deviations: there the prior is the unit ball, no parameter is stiffer than another by
 * its unit, and a singular value of 1 is where data and prior say equally much.
 *
 * Solvers of networks have kinks, and a step on a kink is no slope. So slopes are taken
 * over a good part of a standard deviation, and where the search by slopes ends a
 * simplex goes on.
 */
#include "calibrate/posterior.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_vector.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit_state.h"
#include "calibrate/posterior_state.h"
#include "model/stream.h"
#include "model/try.h"

/* In prior standard deviations. */
#define SLOPE_STEP   0.2
#define START_SPREAD 0.7
#define SIMPLEX_STEP 0.2
#define SIMPLEX_SIZE 1e-4

enum { STARTS = 4, TRUST_STEPS = 60, SIMPLEX_STEPS = 3000 };

/* Of the work: searches by slopes before the simplex. */
#define DESCENTS_FRAC 0.4

#define STEP_TOLERANCE 1e-6

/* What one search needs beside the problem. */
struct search {
    const struct fulcrum_posterior_problem *problem;
    size_t row_count; /* data that count, then parameters */
    double *value;
    double *predicted;
    double *beside;
    double *moved;
};

double fulcrum_posterior_natural(const struct fulcrum_belief *belief, double z)
{
    double q = fulcrum_fit_to_scale(belief->scale, belief->value);
    return fulcrum_fit_to_natural(belief->scale, q + belief->sd * z);
}

int fulcrum_posterior_is_stopped(const struct fulcrum_posterior_problem *problem)
{
    return problem->stop != NULL && problem->stop(problem->watcher);
}

void fulcrum_posterior_tell(
    const struct fulcrum_posterior_problem *problem, double done_frac)
{
    if (problem->progress != NULL) {
        problem->progress(problem->watcher, fmax(0.0, fmin(1.0, done_frac)));
    }
}

/* Once told to stop nothing can run, which ends every search. */
int fulcrum_posterior_run(const struct fulcrum_posterior_problem *problem,
    size_t thread, const double *z, double *value, double *out)
{
    if (fulcrum_posterior_is_stopped(problem)) {
        return 0;
    }
    for (size_t i = 0; i < problem->belief_count; i++) {
        value[i] = fulcrum_posterior_natural(&problem->beliefs[i], z[i]);
    }
    if (!problem->forward(problem->contexts[thread], value, out)) {
        return 0;
    }
    for (size_t i = 0; i < problem->datum_count; i++) {
        if (!isfinite(out[i])) {
            return 0;
        }
    }
    return 1;
}

double fulcrum_posterior_misfit(
    const struct fulcrum_posterior_problem *problem, const double *predicted)
{
    double sum = 0.0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        double gap = (predicted[i] - problem->data[i].value) / problem->data[i].sd;
        sum += gap * gap;
    }
    return 0.5 * sum;
}

double fulcrum_posterior_penalty(
    const struct fulcrum_posterior_problem *problem, const double *z)
{
    double sum = 0.0;
    for (size_t i = 0; i < problem->belief_count; i++) {
        sum += z[i] * z[i];
    }
    return 0.5 * sum;
}

static size_t data_that_count(const struct fulcrum_posterior_problem *problem)
{
    size_t count = 0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        count += isfinite(problem->data[i].sd) ? 1 : 0;
    }
    return count;
}

static enum fulcrum_status check(
    const struct fulcrum_posterior_problem *problem, struct fulcrum_error *err)
{
    if (problem->belief_count == 0 || problem->thread_count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "no parameter to fit");
    }
    for (size_t i = 0; i < problem->belief_count; i++) {
        const struct fulcrum_belief *belief = &problem->beliefs[i];
        double q = fulcrum_fit_to_scale(belief->scale, belief->value);
        if (!isfinite(q) || !(belief->sd > 0.0 && isfinite(belief->sd))) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%s: a prior of %g with a standard deviation of %g is none on a %s "
                "scale",
                belief->path, belief->value, belief->sd,
                fulcrum_scale_name(belief->scale));
        }
    }
    for (size_t i = 0; i < problem->datum_count; i++) {
        if (!(problem->data[i].sd > 0.0) || !isfinite(problem->data[i].value)) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "observation %zu: %g with an error of %g: expected a finite number and "
                "an error above 0",
                i, problem->data[i].value, problem->data[i].sd);
        }
    }
    return FULCRUM_OK;
}

/* GSL's callback: one row per datum that counts, then one per parameter. */
static int residual_rows(const gsl_vector *z, void *context, gsl_vector *rows)
{
    const struct search *search = context;
    const struct fulcrum_posterior_problem *problem = search->problem;
    if (!fulcrum_posterior_run(problem, 0, z->data, search->value, search->predicted)) {
        return GSL_EBADFUNC;
    }
    size_t row = 0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        const struct fulcrum_datum *datum = &problem->data[i];
        if (isfinite(datum->sd)) {
            double gap = (search->predicted[i] - datum->value) / datum->sd;
            gsl_vector_set(rows, row++, gap);
        }
    }
    for (size_t i = 0; i < problem->belief_count; i++) {
        gsl_vector_set(rows, row++, gsl_vector_get(z, i));
    }
    return GSL_SUCCESS;
}

/* What the model says as parameter j moves up and down; 0 where it cannot run there. */
static int run_beside(const struct search *search, const double *z, size_t j)
{
    const struct fulcrum_posterior_problem *problem = search->problem;
    memcpy(search->moved, z, problem->belief_count * sizeof *search->moved);
    search->moved[j] = z[j] + SLOPE_STEP;
    if (!fulcrum_posterior_run(
            problem, 0, search->moved, search->value, search->predicted)) {
        return 0;
    }
    search->moved[j] = z[j] - SLOPE_STEP;
    return fulcrum_posterior_run(
        problem, 0, search->moved, search->value, search->beside);
}

/* The slopes by parameter j of the data that count. */
static void set_column(const struct search *search, size_t j, gsl_matrix *out)
{
    size_t row = 0;
    for (size_t i = 0; i < search->problem->datum_count; i++) {
        double sd = search->problem->data[i].sd;
        if (isfinite(sd)) {
            double rise = search->predicted[i] - search->beside[i];
            gsl_matrix_set(out, row++, j, rise / (2.0 * SLOPE_STEP * sd));
        }
    }
}

/* Slopes of the data's rows by z; 0 where the model cannot run beside z. */
static int fill_slopes(const struct search *search, const double *z, gsl_matrix *out)
{
    for (size_t j = 0; j < search->problem->belief_count; j++) {
        if (!run_beside(search, z, j)) {
            return 0;
        }
        set_column(search, j, out);
    }
    return 1;
}

static int slope_rows(const gsl_vector *z, void *context, gsl_matrix *slopes)
{
    const struct search *search = context;
    size_t n = search->problem->belief_count;
    gsl_matrix_set_zero(slopes);
    if (!fill_slopes(search, z->data, slopes)) {
        return GSL_EBADFUNC;
    }
    for (size_t j = 0; j < n; j++) {
        gsl_matrix_set(slopes, search->row_count - n + j, j, 1.0);
    }
    return GSL_SUCCESS;
}

/* GSL's callback of the simplex: the objective; what cannot run is far away. */
static double objective(const gsl_vector *z, void *context)
{
    const struct search *search = context;
    if (!fulcrum_posterior_run(
            search->problem, 0, z->data, search->value, search->predicted)) {
        return HUGE_VAL;
    }
    return fulcrum_posterior_misfit(search->problem, search->predicted) +
           fulcrum_posterior_penalty(search->problem, z->data);
}

/* Trust regions from `z`, which becomes where they end. */
static enum fulcrum_status descend(
    struct search *search, gsl_vector *z, struct fulcrum_error *err)
{
    gsl_multifit_nlinear_parameters parameters =
        gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {.f = residual_rows,
        .df = slope_rows,
        .n = search->row_count,
        .p = search->problem->belief_count,
        .params = search};
    gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &parameters, system.n, system.p);
    if (work == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    int info = 0;
    if (gsl_multifit_nlinear_init(z, &system, work) == GSL_SUCCESS) {
        (void)gsl_multifit_nlinear_driver(
            TRUST_STEPS, STEP_TOLERANCE, 0.0, 0.0, NULL, NULL, &info, work);
        (void)gsl_vector_memcpy(z, gsl_multifit_nlinear_position(work));
    }
    gsl_multifit_nlinear_free(work);
    return FULCRUM_OK;
}

/* How far the simplex has shrunk, by orders of magnitude: steady, unlike its size. */
static double shrunk_frac(const gsl_multimin_fminimizer *work)
{
    double size = gsl_multimin_fminimizer_size(work);
    return log(SIMPLEX_STEP / size) / log(SIMPLEX_STEP / SIMPLEX_SIZE);
}

static void shrink(const struct search *search, gsl_multimin_fminimizer *work)
{
    int status = GSL_SUCCESS;
    for (int i = 0; i < SIMPLEX_STEPS && status == GSL_SUCCESS &&
                    gsl_multimin_fminimizer_size(work) >= SIMPLEX_SIZE &&
                    !fulcrum_posterior_is_stopped(search->problem);
         i++) {
        status = gsl_multimin_fminimizer_iterate(work);
        fulcrum_posterior_tell(
            search->problem, DESCENTS_FRAC + (1.0 - DESCENTS_FRAC) * shrunk_frac(work));
    }
}

/* The simplex from `z`, which becomes the best place found. */
static enum fulcrum_status polish(
    struct search *search, gsl_vector *z, struct fulcrum_error *err)
{
    size_t n = search->problem->belief_count;
    gsl_multimin_function function = {.f = objective, .n = n, .params = search};
    gsl_multimin_fminimizer *work =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
    gsl_vector *step = gsl_vector_alloc(n);
    if (work == NULL || step == NULL) {
        gsl_multimin_fminimizer_free(work);
        gsl_vector_free(step);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    gsl_vector_set_all(step, SIMPLEX_STEP);
    if (gsl_multimin_fminimizer_set(work, &function, z, step) == GSL_SUCCESS) {
        shrink(search, work);
        (void)gsl_vector_memcpy(z, gsl_multimin_fminimizer_x(work));
    }
    gsl_multimin_fminimizer_free(work);
    gsl_vector_free(step);
    return FULCRUM_OK;
}

/* The centres first, then places around them. */
static void set_start(gsl_vector *z, uint64_t seed, size_t start)
{
    gsl_vector_set_zero(z);
    if (start == 0) {
        return;
    }
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, fulcrum_stream_gsl_seed(fulcrum_stream_seed(seed, start, 1)));
    for (size_t i = 0; i < z->size; i++) {
        gsl_vector_set(z, i, START_SPREAD * gsl_ran_ugaussian(rng));
    }
    gsl_rng_free(rng);
}

static enum fulcrum_status find_best(
    struct search *search, uint64_t seed, gsl_vector *best, struct fulcrum_error *err)
{
    gsl_vector *z = gsl_vector_alloc(best->size);
    double least = HUGE_VAL;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t start = 0; start < STARTS && status == FULCRUM_OK; start++) {
        fulcrum_posterior_tell(search->problem, DESCENTS_FRAC * (double)start / STARTS);
        set_start(z, seed, start);
        status = descend(search, z, err);
        double found = objective(z, search);
        if (found < least) {
            least = found;
            (void)gsl_vector_memcpy(best, z);
        }
    }
    gsl_vector_free(z);
    if (status == FULCRUM_OK && !(least < HUGE_VAL)) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_NO_FIT, "the model cannot run near its priors");
    }
    return status == FULCRUM_OK ? polish(search, best, err) : status;
}

/* Slopes' slopes, n x n, into a matrix of zeros. */
static void square_slopes(const gsl_matrix *slopes, gsl_matrix *square)
{
    size_t n = square->size1;
    for (size_t i = 0; i < slopes->size1; i++) {
        for (size_t j = 0; j < n * n; j++) {
            square->data[j] +=
                gsl_matrix_get(slopes, i, j / n) * gsl_matrix_get(slopes, i, j % n);
        }
    }
}

/* With 1 added to its diagonal the square has a Cholesky factor whatever it is. */
static void set_covariance(
    const gsl_matrix *slopes, size_t n, struct fulcrum_posterior_mode *out)
{
    gsl_matrix *square = gsl_matrix_calloc(n, n);
    square_slopes(slopes, square);
    for (size_t i = 0; i < n; i++) {
        square->data[i * n + i] += 1.0;
    }
    (void)gsl_linalg_cholesky_decomp1(square);
    (void)gsl_linalg_cholesky_invert(square);
    memcpy(out->covariance, square->data, n * n * sizeof *out->covariance);
    gsl_matrix_free(square);
}

/* Roots of the eigenvalues of slopes' slopes: the slopes may be fewer than n rows. */
static void set_singular_values(
    const gsl_matrix *slopes, size_t n, struct fulcrum_posterior_mode *out)
{
    gsl_matrix *square = gsl_matrix_calloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_symm_workspace *work = gsl_eigen_symm_alloc(n);
    square_slopes(slopes, square);
    (void)gsl_eigen_symm(square, values, work);
    gsl_sort_vector(values);
    for (size_t k = 0; k < out->singular_count; k++) {
        out->singular_value[k] = sqrt(fmax(0.0, gsl_vector_get(values, n - 1 - k)));
    }
    gsl_eigen_symm_free(work);
    gsl_vector_free(values);
    gsl_matrix_free(square);
}

static enum fulcrum_status describe(struct search *search, const gsl_vector *best,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
{
    const struct fulcrum_posterior_problem *problem = search->problem;
    size_t n = problem->belief_count;
    memcpy(out->z, best->data, n * sizeof *out->z);
    if (!fulcrum_posterior_run(problem, 0, out->z, out->value, out->predicted)) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_FIT, "the best parameters cannot run");
    }
    out->misfit = fulcrum_posterior_misfit(problem, out->predicted);
    out->penalty = fulcrum_posterior_penalty(problem, out->z);
    size_t rows = data_that_count(problem);
    gsl_matrix *slopes = gsl_matrix_calloc(rows > 0 ? rows : 1, n);
    (void)fill_slopes(search, out->z, slopes);
    set_singular_values(slopes, n, out);
    set_covariance(slopes, n, out);
    gsl_matrix_free(slopes);
    return FULCRUM_OK;
}

static int allocate(struct search *search, struct fulcrum_posterior_mode *out)
{
    size_t n = search->problem->belief_count;
    size_t m = search->problem->datum_count;
    search->value = calloc(n + 1, sizeof(double));
    search->predicted = calloc(m + 1, sizeof(double));
    search->beside = calloc(m + 1, sizeof(double));
    search->moved = calloc(n + 1, sizeof(double));
    out->value = calloc(n + 1, sizeof(double));
    out->z = calloc(n + 1, sizeof(double));
    out->predicted = calloc(m + 1, sizeof(double));
    out->singular_value = calloc(n + 1, sizeof(double));
    out->covariance = calloc(n * n + 1, sizeof(double));
    return search->value != NULL && search->predicted != NULL &&
           search->beside != NULL && search->moved != NULL && out->value != NULL &&
           out->z != NULL && out->predicted != NULL && out->singular_value != NULL &&
           out->covariance != NULL;
}

static void search_clear(struct search *search)
{
    free(search->value);
    free(search->predicted);
    free(search->beside);
    free(search->moved);
}

void fulcrum_posterior_mode_clear(struct fulcrum_posterior_mode *mode)
{
    free(mode->value);
    free(mode->z);
    free(mode->predicted);
    free(mode->singular_value);
    free(mode->covariance);
    *mode = (struct fulcrum_posterior_mode){.misfit = 0.0};
}

static enum fulcrum_status find(struct search *search, uint64_t seed,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
{
    gsl_vector *best = gsl_vector_calloc(search->problem->belief_count);
    if (best == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(find_best(search, seed, best, err));
    status = describe(search, best, out, err);
end:
    gsl_vector_free(best);
    return status;
}

enum fulcrum_status fulcrum_posterior_mode_find(
    const struct fulcrum_posterior_problem *problem, uint64_t seed,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
{
    TRY(check(problem, err));
    size_t rows = data_that_count(problem);
    size_t n = problem->belief_count;
    struct search search = {.problem = problem, .row_count = rows + n};
    struct fulcrum_posterior_mode found = {.singular_count = rows < n ? rows : n};
    enum fulcrum_status status =
        allocate(&search, &found)
            ? find(&search, seed, &found, err)
            : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    search_clear(&search);
    if (fulcrum_posterior_is_stopped(problem)) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_INTERRUPTED, "stopped before the best parameters");
    }
    if (status != FULCRUM_OK) {
        fulcrum_posterior_mode_clear(&found);
        return status;
    }
    *out = found;
    return FULCRUM_OK;
}
