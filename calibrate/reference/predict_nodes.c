/* predict_nodes.c - references of kind node_scaling: every other number of machines
 * predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Published speed-ups tell neither bytes nor bandwidth nor the step that they are held
 * against, only their ratios. The ring is fitted because it is what large messages take
 * between few machines; the equation stands in model/design/cluster.c and nowhere else.
 * Steps are linear in both parameters, so the fit is one of linear least squares,
 * relative to the observed, over parameters that are not below 0. Two parameters for
 * two fitted points: what they say is judged by the point left out.
 */
#include "calibrate/reference/predictors.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_vector.h>
#include <math.h>
#include <string.h>

#include "calibrate/reference/formula.h"
#include "model/design/cluster.h"
#include "model/try.h"

/* On one machine the speed-up is 1 by definition. */
static const double one_node = 1;

enum { BYTES, LATENCY, PARAMETERS };

/* Speed-up of `node_count` machines over one by the ring of (15), weak scaling. */
static double node_speedup(
    const struct fulcrum_node_scaling *scaling, double node_count)
{
    /* Bytes are never 0, which would be no message at all, and no latency. */
    double byte_per_s =
        scaling->byte_rel > 0 ? 1 / scaling->byte_rel : (double)INFINITY;
    const struct fulcrum_cluster cluster = {.step_s = 1,
        .batch_size = 1,
        .gradient_byte = 1,
        .update_count = 1,
        .critical_batch_size = (double)INFINITY,
        .link = {.peer_byte_per_s = (double)INFINITY,
            .network_byte_per_s = byte_per_s,
            .network_latency_s = scaling->latency_rel},
        .allreduce = FULCRUM_ALLREDUCE_RING};
    const struct fulcrum_layout layout = {node_count, 1, 1, 1};
    return fulcrum_cluster_step_of(&cluster, &layout).speedup;
}

const struct fulcrum_scaling_words *fulcrum_scaling_words_of(
    const struct fulcrum_reference_point *point)
{
    static const struct fulcrum_scaling_words machines = {
        "node_count", "speedup_over_one_node", "machines"};
    static const struct fulcrum_scaling_words gpus = {
        "gpu_count", "speedup_over_one_gpu", "GPUs"};
    return fulcrum_reference_find_setting(point, gpus.setting) != NULL ? &gpus
                                                                       : &machines;
}

/* A fulcrum_reading_read. */
static enum fulcrum_status read_speedup(const struct fulcrum_reference *reference,
    struct fulcrum_reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *point = &reference->points[reading->point];
    const struct fulcrum_scaling_words *words = fulcrum_scaling_words_of(point);
    const struct fulcrum_reference_setting *count =
        fulcrum_reference_find_setting(point, words->setting);
    FAIL_IF(count == NULL, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].set.%s is missing, a count expected",
        reference->name, reading->point, words->setting);
    reading->x = count->number;
    FAIL_IF(!(reading->x >= one_node && floor(reading->x) >= reading->x), err,
        FULCRUM_ERR_RANGE, "reference %s: points[%zu].set.%s = %.6g, a count expected",
        reference->name, reading->point, words->setting, reading->x);
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, words->quantity) == 0) {
            return fulcrum_reading_take(reference, reading, i, err);
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed has no %s, a number expected",
        reference->name, reading->point, words->quantity);
}

/*
 * One machine teaches nothing: of the others the first, third, ... are fitted. The
 * curve comes with its first, third, ... place of all marked.
 */
static enum fulcrum_status hold_out_beyond_one(
    struct fulcrum_half_curve *curve, struct fulcrum_error *err)
{
    size_t different = 0;
    double last = one_node;
    curve->fitted_count = 0;
    for (size_t i = 0; i < curve->count; i++) {
        struct fulcrum_reading *reading = &curve->readings[i];
        different += reading->x > last;
        last = reading->x;
        reading->is_fitted = reading->x <= one_node || different % 2 == 1;
        if (reading->is_fitted && reading->x > one_node) {
            curve->x[curve->fitted_count] = reading->x;
            curve->y[curve->fitted_count++] = reading->per_s;
        }
    }
    return different >= PARAMETERS + 1
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
                     "reference %s: series '%s' has %zu numbers of %s above one, "
                     "%d expected to fit two and predict one",
                     curve->reference->name, curve->series, different,
                     fulcrum_scaling_words_of(
                         &curve->reference->points[curve->readings[0].point])
                         ->plural,
                     PARAMETERS + 1);
}

/* Seconds of a ring of `node_count` machines on `byte` bytes, links as given. */
static double ring_s(double node_count, double byte_per_s, double latency_s)
{
    const struct fulcrum_link_level network = {node_count, byte_per_s, latency_s};
    return fulcrum_allreduce_s(FULCRUM_ALLREDUCE_RING, &network, 1, 1);
}

/* The fitted points as a linear problem: N / speed-up is 1 and so much of each term. */
struct terms {
    gsl_matrix *column; /* points x PARAMETERS, relative to what was observed */
    gsl_vector *rest;   /* what they are to make up for, likewise */
};

static double sum_of_squares(const struct terms *terms, const double *parameter)
{
    double sum = 0;
    for (size_t i = 0; i < terms->rest->size; i++) {
        double left = gsl_vector_get(terms->rest, i);
        for (size_t j = 0; j < PARAMETERS; j++) {
            left -= parameter[j] * gsl_matrix_get(terms->column, i, j);
        }
        sum += left * left;
    }
    return sum;
}

/* The least squares with one parameter alone, the other at 0. */
static void solve_one(const struct terms *terms, size_t j, double *parameter)
{
    gsl_vector_const_view column = gsl_matrix_const_column(terms->column, j);
    double product = 0;
    double norm = 0;
    (void)gsl_blas_ddot(&column.vector, terms->rest, &product);
    (void)gsl_blas_ddot(&column.vector, &column.vector, &norm);
    parameter[j] = fmax(0, product / norm);
}

/* Non-negative least squares of two parameters: the best of both, either and none. */
static enum fulcrum_status solve(const struct terms *terms,
    struct fulcrum_node_scaling *out, struct fulcrum_error *err)
{
    double tried[PARAMETERS + 1][PARAMETERS] = {{0}};
    size_t best = 0;
    solve_one(terms, BYTES, tried[BYTES]);
    solve_one(terms, LATENCY, tried[LATENCY]);
    /* With both; not taken where one comes out below 0. */
    double *parameter = tried[PARAMETERS];
    size_t points = terms->rest->size;
    gsl_multifit_linear_workspace *space =
        gsl_multifit_linear_alloc(points, PARAMETERS);
    gsl_vector *found = gsl_vector_alloc(PARAMETERS);
    gsl_matrix *covariance = gsl_matrix_alloc(PARAMETERS, PARAMETERS);
    int failed = space == NULL || found == NULL || covariance == NULL;
    double squares = 0;
    if (!failed &&
        gsl_multifit_linear(
            terms->column, terms->rest, found, covariance, &squares, space) == 0 &&
        gsl_vector_isnonneg(found)) {
        parameter[BYTES] = gsl_vector_get(found, BYTES);
        parameter[LATENCY] = gsl_vector_get(found, LATENCY);
    }
    gsl_multifit_linear_free(space);
    gsl_vector_free(found);
    gsl_matrix_free(covariance);
    enum fulcrum_status status =
        failed ? fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a fit of two parameters")
               : FULCRUM_OK;
    for (size_t k = 1; k < PARAMETERS + 1; k++) {
        best = sum_of_squares(terms, tried[k]) < sum_of_squares(terms, tried[best])
                   ? k
                   : best;
    }
    *out = (struct fulcrum_node_scaling){tried[best][BYTES], tried[best][LATENCY]};
    return status;
}

static enum fulcrum_status fit_scaling(const struct fulcrum_half_curve *curve,
    struct fulcrum_node_scaling *out, struct fulcrum_error *err)
{
    struct terms terms = {gsl_matrix_alloc(curve->fitted_count, PARAMETERS),
        gsl_vector_alloc(curve->fitted_count)};
    enum fulcrum_status status = FULCRUM_ERR_NO_MEMORY;
    if (terms.column != NULL && terms.rest != NULL) {
        for (size_t i = 0; i < curve->fitted_count; i++) {
            double observed =
                curve->x[i] / curve->y[i]; /* step over that of one machine */
            gsl_matrix_set(
                terms.column, i, BYTES, ring_s(curve->x[i], 1, 0) / observed);
            gsl_matrix_set(terms.column, i, LATENCY,
                ring_s(curve->x[i], (double)INFINITY, 1) / observed);
            gsl_vector_set(terms.rest, i, 1 - 1 / observed);
        }
        status = solve(&terms, out, err);
    } else {
        (void)fulcrum_fail(err, status, "a fit of two parameters");
    }
    gsl_matrix_free(terms.column);
    gsl_vector_free(terms.rest);
    return status;
}

static enum fulcrum_status predict_series(struct fulcrum_half_curve *curve,
    size_t first, struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    struct fulcrum_node_scaling scaling = {0, 0};
    TRY(fulcrum_half_curve_fill(
        curve, first, read_speedup, "numbers of machines", err));
    TRY(hold_out_beyond_one(curve, err));
    TRY(fit_scaling(curve, &scaling, err));
    for (size_t i = 0; i < curve->count; i++) {
        const struct fulcrum_reading *reading = &curve->readings[i];
        struct fulcrum_compared *item = fulcrum_comparison_add(comparison,
            reading->point, reading->observation, node_speedup(&scaling, reading->x));
        item->is_fitted = reading->is_fitted;
        item->baseline[FULCRUM_BASELINE_BOUNDS] = reading->x;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_nodes(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    return fulcrum_half_curves_predict(reference, predict_series, out, err);
}
