/* sampler.c - draws of a calibration's parameters from their joint distribution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Normal on each parameter's own scale (linear, logarithm or logit), so that no draw of
 * a time is negative and no share lies beyond 1. The covariance is carried to those
 * scales by the slopes of the scales at the estimates (the delta method), then a draw
 * is centre + root z with z standard normal. The root is taken from eigenvectors and
 * not by Cholesky: parameters that are known exactly, or that depend on each other
 * wholly, leave the covariance singular, and a fit's rounding may leave it slightly
 * indefinite.
 *
 * A fit to a few figures leaves a law that no bell describes: a thin, bent sheet. Its
 * draws are kept with the calibration, and one of them is then taken as it is.
 *
 * Draws beyond a field's range are moved to its end rather than drawn again: that would
 * shift the others.
 */
#include "model/sampler.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "model/design.h"

struct fulcrum_sampler {
    const struct fulcrum_calibration *calibration;
    size_t count;
    const struct fulcrum_field **fields;
    double *centre; /* on each parameter's scale, as is */
    double *root;   /* count x count, row-major: root root' = covariance there */
};

/* d(scale)/d(value): carries a standard error over to the scale (delta method). */
static double scale_slope(const struct fulcrum_parameter *parameter)
{
    double value = parameter->value;
    switch (parameter->scale) {
    case FULCRUM_SCALE_LOG:
        return 1.0 / value;
    case FULCRUM_SCALE_LOGIT:
        return 1.0 / (value * (1.0 - value));
    case FULCRUM_SCALE_LINEAR:
    default:
        return 1.0;
    }
}

static double to_scale(const struct fulcrum_parameter *parameter)
{
    double value = parameter->value;
    switch (parameter->scale) {
    case FULCRUM_SCALE_LOG:
        return log(value);
    case FULCRUM_SCALE_LOGIT:
        return log(value / (1.0 - value));
    case FULCRUM_SCALE_LINEAR:
    default:
        return value;
    }
}

static double from_scale(enum fulcrum_scale scale, double value)
{
    switch (scale) {
    case FULCRUM_SCALE_LOG:
        return exp(value);
    case FULCRUM_SCALE_LOGIT:
        return 1.0 / (1.0 + exp(-value));
    case FULCRUM_SCALE_LINEAR:
    default:
        return value;
    }
}

/*
 * An entry of the root, rounded to 2^-24 of the parameter's standard deviation. The
 * BLAS behind GSL sums in an order that depends on its threads and on the processor,
 * which moves the last digits: draws would pass them on to every byte of an output.
 */
static double without_last_digits(double entry, double deviation)
{
    double unit = ldexp(deviation, -24);
    return unit > 0.0 ? unit * nearbyint(entry / unit) : entry;
}

/* The square root through eigenvectors: also right where the matrix is singular. */
static void fill_root(struct fulcrum_sampler *sampler, const double *slope)
{
    size_t n = sampler->count;
    gsl_matrix *covariance = gsl_matrix_alloc(n, n);
    gsl_matrix *vectors = gsl_matrix_alloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_symmv_workspace *space = gsl_eigen_symmv_alloc(n);
    for (size_t i = 0; i < n * n; i++) {
        gsl_matrix_set(covariance, i / n, i % n,
            sampler->calibration->covariance[i] * slope[i / n] * slope[i % n]);
    }
    (void)gsl_eigen_symmv(covariance, values, vectors, space);
    for (size_t i = 0; i < n * n; i++) {
        double value = gsl_vector_get(values, i % n);
        double entry =
            gsl_matrix_get(vectors, i / n, i % n) * sqrt(value > 0.0 ? value : 0.0);
        double variance = sampler->calibration->covariance[i / n * (n + 1)];
        sampler->root[i] =
            without_last_digits(entry, sqrt(variance) * fabs(slope[i / n]));
    }
    gsl_eigen_symmv_free(space);
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    gsl_matrix_free(covariance);
}

static void fill_sampler(struct fulcrum_sampler *sampler, double *slope)
{
    const struct fulcrum_parameter *parameters = sampler->calibration->parameters;
    for (size_t i = 0; i < sampler->count; i++) {
        sampler->fields[i] = fulcrum_field_find(parameters[i].path);
        int is_exact = !(parameters[i].standard_error > 0.0);
        sampler->centre[i] = is_exact ? parameters[i].value : to_scale(&parameters[i]);
        slope[i] = is_exact ? 1.0 : scale_slope(&parameters[i]);
    }
    if (sampler->count > 0) {
        fill_root(sampler, slope);
    }
}

enum fulcrum_status fulcrum_sampler_new(const struct fulcrum_calibration *calibration,
    struct fulcrum_sampler **out, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    struct fulcrum_sampler *sampler = calloc(1, sizeof *sampler);
    double *slope = calloc(n + 1, sizeof *slope);
    if (sampler != NULL) {
        sampler->calibration = calibration;
        sampler->count = n;
        sampler->fields = calloc(n + 1, sizeof(const struct fulcrum_field *));
        sampler->centre = calloc(n + 1, sizeof *sampler->centre);
        sampler->root = calloc(n * n + 1, sizeof *sampler->root);
    }
    if (sampler == NULL || slope == NULL || sampler->fields == NULL ||
        sampler->centre == NULL || sampler->root == NULL) {
        free(slope);
        fulcrum_sampler_free(sampler);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "a sampler of %zu parameters", n);
    }
    fill_sampler(sampler, slope);
    free(slope);
    *out = sampler;
    return FULCRUM_OK;
}

void fulcrum_sampler_free(struct fulcrum_sampler *sampler)
{
    if (sampler == NULL) {
        return;
    }
    free((void *)sampler->fields);
    free(sampler->centre);
    free(sampler->root);
    free(sampler);
}

/* One of the calibration's own draws, for those parameters that it has. */
static void take_kept(
    const struct fulcrum_calibration *calibration, gsl_rng *rng, double *values)
{
    size_t n = calibration->parameter_count;
    size_t row = gsl_rng_uniform_int(rng, calibration->draw_count);
    for (size_t i = 0; i < n; i++) {
        double value = calibration->draws[row * n + i];
        values[i] = isnan(value) ? values[i] : value;
    }
}

void fulcrum_sampler_draw(
    const struct fulcrum_sampler *sampler, gsl_rng *rng, double *values)
{
    size_t n = sampler->count;
    for (size_t i = 0; i < n; i++) {
        values[i] = sampler->centre[i];
    }
    for (size_t j = 0; j < n; j++) {
        double normal = gsl_ran_ugaussian(rng);
        for (size_t i = 0; i < n; i++) {
            values[i] += sampler->root[i * n + j] * normal;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct fulcrum_parameter *parameter =
            &sampler->calibration->parameters[i];
        if (parameter->standard_error > 0.0) {
            values[i] = from_scale(parameter->scale, values[i]);
        }
        values[i] =
            fmin(fmax(values[i], sampler->fields[i]->least), sampler->fields[i]->most);
    }
    if (sampler->calibration->draw_count > 0) {
        take_kept(sampler->calibration, rng, values);
    }
}
