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
#include "model/design/sampler.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "model/design/design.h"
#include "model/number.h"
#include "model/try.h"

struct fulcrum_sampler {
    const struct fulcrum_calibration *calibration;
    size_t count;
    double *centre;     /* on each parameter's scale, as is; owns the roots too */
    double *root;       /* count x count, row-major: root root' = covariance there */
    size_t *block;      /* of fulcrum_sampler_blocks */
    double *block_root; /* the same as root of each block by itself, 0 elsewhere */
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

/* Some of a sampler's parameters, in their order. */
struct members {
    const size_t *index;
    size_t count;
};

static double scaled_covariance(
    const struct fulcrum_sampler *sampler, const double *slope, size_t i, size_t j)
{
    return sampler->calibration->covariance[i * sampler->count + j] * slope[i] *
           slope[j];
}

/* The square root through eigenvectors: also right where the matrix is singular. */
static void fill_root(const struct fulcrum_sampler *sampler, const double *slope,
    const struct members *members, double *root)
{
    size_t n = members->count;
    gsl_matrix *covariance = gsl_matrix_alloc(n, n);
    gsl_matrix *vectors = gsl_matrix_alloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_symmv_workspace *space = gsl_eigen_symmv_alloc(n);
    for (size_t i = 0; i < n * n; i++) {
        gsl_matrix_set(covariance, i / n, i % n,
            scaled_covariance(
                sampler, slope, members->index[i / n], members->index[i % n]));
    }
    (void)gsl_eigen_symmv(covariance, values, vectors, space);
    for (size_t i = 0; i < n * n; i++) {
        size_t row = members->index[i / n];
        double value = gsl_vector_get(values, i % n);
        double entry =
            gsl_matrix_get(vectors, i / n, i % n) * sqrt(value > 0.0 ? value : 0.0);
        double variance = sampler->calibration->covariance[row * (sampler->count + 1)];
        /*
         * An entry of the root, rounded to 2^-24 of the parameter's standard deviation.
         * The BLAS behind GSL sums in an order that depends on its threads and on the
         * processor, which moves the last digits: draws would pass them on to every
         * byte of an output.
         */
        double deviation = sqrt(variance) * fabs(slope[row]);
        double unit = ldexp(deviation, -24);
        double without_last_digits =
            unit > 0.0 ? unit * nearbyint(entry / unit) : entry;
        root[row * sampler->count + members->index[i % n]] = without_last_digits;
    }
    gsl_eigen_symmv_free(space);
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    gsl_matrix_free(covariance);
}

bool fulcrum_sampler_keeps(const struct fulcrum_calibration *calibration, size_t i)
{
    return calibration->draw_count > 0 && !isnan(calibration->draws[i]);
}

/* Gives parameters a and b, and all that are in their blocks, the lower number. */
static void join(size_t *block, size_t count, size_t a, size_t b)
{
    size_t lower = block[a] < block[b] ? block[a] : block[b];
    size_t higher = block[a] < block[b] ? block[b] : block[a];
    for (size_t k = 0; k < count; k++) {
        block[k] = block[k] == higher ? lower : block[k];
    }
}

void fulcrum_sampler_blocks(const struct fulcrum_calibration *calibration, size_t *out)
{
    size_t n = calibration->parameter_count;
    for (size_t i = 0; i < n; i++) {
        out[i] = fulcrum_sampler_keeps(calibration, i) ? n : i;
    }
    for (size_t i = 0; i < n * n; i++) {
        size_t a = i / n;
        size_t b = i % n;
        bool is_tied =
            calibration->covariance[i] < 0.0 || calibration->covariance[i] > 0.0;
        if (a < b && is_tied && out[a] < n && out[b] < n) {
            join(out, n, a, b);
        }
    }
}

/* The roots of all parameters together and of each block by itself. */
static void fill_roots(
    struct fulcrum_sampler *sampler, const double *slope, size_t *index)
{
    size_t n = sampler->count;
    struct members members = {index, n};
    for (size_t i = 0; i < n; i++) {
        index[i] = i;
    }
    fill_root(sampler, slope, &members, sampler->root);
    fulcrum_sampler_blocks(sampler->calibration, sampler->block);
    for (size_t b = 0; b < n; b++) {
        members.count = 0;
        for (size_t i = 0; i < n; i++) {
            if (sampler->block[i] == b) {
                index[members.count++] = i;
            }
        }
        if (members.count > 0) {
            fill_root(sampler, slope, &members, sampler->block_root);
        }
    }
}

enum fulcrum_status fulcrum_sampler_new(const struct fulcrum_calibration *calibration,
    struct fulcrum_sampler **out, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    struct fulcrum_sampler *sampler = calloc(1, sizeof *sampler);
    TRY_MEMORY(sampler, err, "a sampler of %zu parameters", n);
    size_t *index = calloc(n + 1, sizeof *index);
    double *numbers = calloc(2 * n * (n + 1) + 1, sizeof *numbers);
    sampler->calibration = calibration;
    sampler->count = n;
    sampler->centre = numbers;
    sampler->block = calloc(n + 1, sizeof *sampler->block);
    if (index == NULL || numbers == NULL || sampler->block == NULL) {
        free(index);
        fulcrum_sampler_free(sampler);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "a sampler of %zu parameters", n);
    }
    double *slope = numbers + n;
    sampler->root = slope + n;
    sampler->block_root = sampler->root + n * n;
    const struct fulcrum_parameter *parameters = calibration->parameters;
    for (size_t i = 0; i < n; i++) {
        bool is_exact = !(parameters[i].standard_error > 0.0);
        sampler->centre[i] = is_exact ? parameters[i].value : to_scale(&parameters[i]);
        slope[i] = is_exact ? 1.0 : scale_slope(&parameters[i]);
    }
    if (n > 0) {
        fill_roots(sampler, slope, index);
    }
    free(index);
    *out = sampler;
    return FULCRUM_OK;
}

void fulcrum_sampler_free(struct fulcrum_sampler *sampler)
{
    if (sampler == NULL) {
        return;
    }
    free(sampler->centre);
    free(sampler->block);
    free(sampler);
}

/* One of the calibration's own draws, for those parameters that it has. */
static void take_kept(
    const struct fulcrum_calibration *calibration, size_t row, double *values)
{
    size_t n = calibration->parameter_count;
    for (size_t i = 0; i < n; i++) {
        double value = calibration->draws[row * n + i];
        values[i] = isnan(value) ? values[i] : value;
    }
}

/* A number on the scale of parameter `i` as its value, held inside its range. */
static double value_at(const struct fulcrum_sampler *sampler, size_t i, double on_scale)
{
    const struct fulcrum_parameter *parameter = &sampler->calibration->parameters[i];
    double value = parameter->standard_error > 0.0
                       ? from_scale(parameter->scale, on_scale)
                       : on_scale;
    return fmin(fmax(value, parameter->field->least), parameter->field->most);
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
        values[i] = value_at(sampler, i, values[i]);
    }
    const struct fulcrum_calibration *calibration = sampler->calibration;
    if (calibration->draw_count > 0) {
        take_kept(
            calibration, gsl_rng_uniform_int(rng, calibration->draw_count), values);
    }
}

/* Where the values of z of its block put parameter `i`, on its scale; NAN: none is
 * given. */
static double placed(const struct fulcrum_sampler *sampler, const double *z, size_t i)
{
    size_t n = sampler->count;
    double sum = sampler->centre[i];
    bool is_given = false;
    for (size_t j = 0; j < n; j++) {
        if (sampler->block[j] == sampler->block[i] && !isnan(z[j])) {
            sum += sampler->block_root[i * n + j] * z[j];
            is_given = 1;
        }
    }
    return is_given ? sum : FULCRUM_UNKNOWN;
}

void fulcrum_sampler_place(
    const struct fulcrum_sampler *sampler, const double *z, double *values)
{
    const struct fulcrum_calibration *calibration = sampler->calibration;
    size_t n = sampler->count;
    for (size_t i = 0; i < n; i++) {
        double on_scale =
            sampler->block[i] < n ? placed(sampler, z, i) : FULCRUM_UNKNOWN;
        values[i] = isnan(on_scale) ? calibration->parameters[i].value
                                    : value_at(sampler, i, on_scale);
    }
    if (calibration->draw_count > 0 && !isnan(z[n])) {
        double row = gsl_cdf_ugaussian_P(z[n]) * (double)calibration->draw_count;
        double last = (double)(calibration->draw_count - 1);
        take_kept(calibration, (size_t)fmin(row, last), values);
    }
}

double fulcrum_sampler_marginal(const struct fulcrum_parameter *parameter, double z)
{
    if (!(parameter->standard_error > 0.0)) {
        return parameter->value;
    }
    double deviation = parameter->standard_error * scale_slope(parameter);
    return from_scale(parameter->scale, to_scale(parameter) + z * deviation);
}
