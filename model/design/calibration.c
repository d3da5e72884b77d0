/* calibration.c - fitted parameters with their uncertainty, and the samples behind
 * them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows are appended by copies of plain structs, so that a calibration owns all it holds
 * and may outlive the probes that made it. The covariance grows with the parameters;
 * rows of parameters that nothing ties together are diagonal. fulcrum_calibration_check
 * looks at files that people may have edited: beside ranges it verifies that
 * correlations can exist at all, by the least eigenvalue of the correlation matrix.
 */
#include "model/design/calibration.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/design.h"
#include "model/try.h"

enum fulcrum_status fulcrum_calibration_new(
    struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = calloc(1, sizeof *calibration);
    TRY_MEMORY(calibration, err, "a calibration");
    struct fulcrum_design blank;
    fulcrum_design_init(&blank);
    calibration->machine = blank.machine;
    calibration->complete = 1;
    *out = calibration;
    return FULCRUM_OK;
}

static void series_free(struct fulcrum_series *series)
{
    free(series->x);
    free(series->value);
    free(series->canary_rel);
    free(series->disturbed);
}

void fulcrum_calibration_free(struct fulcrum_calibration *calibration)
{
    if (calibration == NULL) {
        return;
    }
    for (size_t i = 0; i < calibration->series_count; i++) {
        series_free(&calibration->series[i]);
    }
    free(calibration->parameters);
    free(calibration->covariance);
    free(calibration->draws);
    free(calibration->capacity);
    free(calibration->batch_time.size);
    free(calibration->batch_time.time_s);
    free(calibration->handoff_time.size);
    free(calibration->handoff_time.time_s);
    free(calibration->series);
    free(calibration->quantities);
    free(calibration->fits);
    free(calibration->notes);
    free(calibration);
}

/* Adds a copy of `row` to a member array. */
#define ADD_ROW(calibration, member, count_member, row, err)                           \
    do {                                                                               \
        void *rows = realloc((calibration)->member,                                    \
            ((calibration)->count_member + 1) * sizeof *(calibration)->member);        \
        TRY_MEMORY(rows, err, "a row of a calibration");                               \
        (calibration)->member = rows;                                                  \
        (calibration)->member[(calibration)->count_member++] = row;                    \
    } while (0)

static size_t parameter_index(
    const struct fulcrum_calibration *calibration, const char *path)
{
    size_t i = 0;
    while (i < calibration->parameter_count &&
           strcmp(calibration->parameters[i].path, path) != 0) {
        i++;
    }
    return i;
}

enum fulcrum_status fulcrum_calibration_add_parameter(
    struct fulcrum_calibration *calibration, const struct fulcrum_parameter *parameter,
    struct fulcrum_error *err)
{
    size_t i = parameter_index(calibration, parameter->path);
    size_t n = calibration->parameter_count;
    if (i == n) {
        ADD_ROW(calibration, parameters, parameter_count, *parameter, err);
        double *wider = calloc((n + 1) * (n + 1), sizeof *wider);
        calibration->parameter_count -= wider == NULL ? 1 : 0;
        TRY_MEMORY(wider, err, "a covariance matrix");
        for (size_t j = 0; j < n; j++) {
            memcpy(wider + j * (n + 1), calibration->covariance + j * n,
                n * sizeof *wider);
        }
        free(calibration->covariance);
        calibration->covariance = wider;
        n++;
    }
    calibration->parameters[i] = *parameter;
    calibration->parameters[i].field = fulcrum_field_find(parameter->path);
    calibration->draw_count = 0;
    /* Gives parameter `i` its own variance and no covariance with the others. */
    double error = parameter->standard_error;
    for (size_t j = 0; j < n; j++) {
        calibration->covariance[i * n + j] = i == j ? error * error : 0.0;
        calibration->covariance[j * n + i] = calibration->covariance[i * n + j];
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibration_add_quantity(
    struct fulcrum_calibration *calibration, const struct fulcrum_quantity *quantity,
    struct fulcrum_error *err)
{
    ADD_ROW(calibration, quantities, quantity_count, *quantity, err);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibration_add_fit(struct fulcrum_calibration *calibration,
    const struct fulcrum_fit_report *fit, struct fulcrum_error *err)
{
    ADD_ROW(calibration, fits, fit_count, *fit, err);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibration_add_note(
    struct fulcrum_calibration *calibration, const char *key, const char *text,
    struct fulcrum_error *err)
{
    struct fulcrum_note row = {.key = ""};
    (void)snprintf(row.key, sizeof row.key, "%s", key != NULL ? key : "");
    (void)snprintf(row.text, sizeof row.text, "%s", text != NULL ? text : "");
    ADD_ROW(calibration, notes, note_count, row, err);
    return FULCRUM_OK;
}

/* A copy of `count` values, or `count` times `fallback` where there are none. */
static double *copy_values(const double *values, size_t count, double fallback)
{
    double *copy = calloc(count > 0 ? count : 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = values != NULL ? values[i] : fallback;
    }
    return copy;
}

enum fulcrum_status fulcrum_calibration_add_series(
    struct fulcrum_calibration *calibration, const struct fulcrum_series *series,
    struct fulcrum_error *err)
{
    struct fulcrum_series copy = *series;
    copy.x = copy_values(series->x, series->count, 0.0);
    copy.value = copy_values(series->value, series->count, 0.0);
    copy.canary_rel = copy_values(series->canary_rel, series->count, 1.0);
    copy.disturbed = copy_values(series->disturbed, series->count, 0.0);
    struct fulcrum_series *rows =
        realloc(calibration->series, (calibration->series_count + 1) * sizeof *rows);
    if (rows != NULL) {
        calibration->series = rows;
    }
    if (rows == NULL || copy.x == NULL || copy.value == NULL ||
        copy.canary_rel == NULL || copy.disturbed == NULL) {
        series_free(&copy);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "series %s", series->name);
    }
    calibration->series[calibration->series_count++] = copy;
    return FULCRUM_OK;
}

/* Puts a copy of `values` in the place of what is there. */
static enum fulcrum_status replace(
    double **at, const double *values, size_t count, struct fulcrum_error *err)
{
    double *copy = copy_values(values, count, 0.0);
    TRY_MEMORY(copy, err, "%zu numbers of a calibration", count);
    free(*at);
    *at = copy;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibration_set_capacity(
    struct fulcrum_calibration *calibration, const double *capacity, size_t count,
    struct fulcrum_error *err)
{
    TRY(replace(&calibration->capacity, capacity, count, err));
    calibration->capacity_count = count;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_time_table_set(struct fulcrum_time_table *table,
    const double *size, const double *time_s, size_t count, struct fulcrum_error *err)
{
    table->count = 0;
    TRY(replace(&table->size, size, count, err));
    TRY(replace(&table->time_s, time_s, count, err));
    table->count = count;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibration_set_draws(
    struct fulcrum_calibration *calibration, const double *draws, size_t count,
    struct fulcrum_error *err)
{
    size_t size = count * calibration->parameter_count;
    TRY(replace(&calibration->draws, draws, size, err));
    calibration->draw_count = count;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibration_set_covariance(
    struct fulcrum_calibration *calibration, const char *path_a, const char *path_b,
    double covariance, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    size_t a = parameter_index(calibration, path_a);
    size_t b = parameter_index(calibration, path_b);
    FAIL_IF(a == n || b == n, err, FULCRUM_ERR_UNKNOWN_NAME, "%s is no parameter here",
        a == n ? path_a : path_b);
    calibration->covariance[a * n + b] = covariance;
    calibration->covariance[b * n + a] = covariance;
    return FULCRUM_OK;
}

const struct fulcrum_parameter *fulcrum_calibration_parameter(
    const struct fulcrum_calibration *calibration, const char *path)
{
    size_t i = parameter_index(calibration, path);
    return i < calibration->parameter_count ? &calibration->parameters[i] : NULL;
}

const struct fulcrum_quantity *fulcrum_calibration_quantity(
    const struct fulcrum_calibration *calibration, const char *name)
{
    for (size_t i = 0; i < calibration->quantity_count; i++) {
        if (strcmp(calibration->quantities[i].name, name) == 0) {
            return &calibration->quantities[i];
        }
    }
    return NULL;
}

const char *fulcrum_calibration_note(
    const struct fulcrum_calibration *calibration, const char *key)
{
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, key) == 0) {
            return calibration->notes[i].text;
        }
    }
    return NULL;
}

static void check_parameter(
    const struct fulcrum_parameter *parameter, struct fulcrum_error *err)
{
    const struct fulcrum_field *field = parameter->field;
    double value = parameter->value;
    if (field == NULL ||
        (field->kind != FULCRUM_FIELD_NUMBER && field->kind != FULCRUM_FIELD_COUNT)) {
        const char *nearest = fulcrum_field_nearest(parameter->path);
        (void)fulcrum_fail_more(err, FULCRUM_ERR_UNKNOWN_NAME,
            "parameters: %s names no number of a design%s%s", parameter->path,
            nearest != NULL ? ", nearest is " : "", nearest != NULL ? nearest : "");
        return;
    }
    FAULT_IF(!(value >= field->least && value <= field->most), err, FULCRUM_ERR_RANGE,
        "%s = %.6g: expected a number from %.6g to %.6g", parameter->path, value,
        field->least, field->most);
    FAULT_IF(!(parameter->standard_error >= 0.0 && isfinite(parameter->standard_error)),
        err, FULCRUM_ERR_RANGE,
        "%s: standard_error = %.6g: expected a number of at least 0", parameter->path,
        parameter->standard_error);
    /* Has the scale a place for the value? A logarithm has none for 0, a logit none
     * for 1.
     */
    enum fulcrum_scale scale = parameter->scale;
    bool on_scale = scale == FULCRUM_SCALE_LINEAR ||
                    (value > 0.0 && (scale == FULCRUM_SCALE_LOG || value < 1.0));
    FAULT_IF(!on_scale && parameter->standard_error > 0.0, err, FULCRUM_ERR_RANGE,
        "%s = %.6g: not inside the range of its scale %s", parameter->path, value,
        fulcrum_scale_name(parameter->scale));
    FAULT_IF(scale == FULCRUM_SCALE_LOG && value > 0.0 &&
                 parameter->standard_error > 100.0 * value,
        err, FULCRUM_ERR_RANGE,
        "%s: standard_error = %.6g: expected at most 100 times the value %.6g: it has "
        "the "
        "value's unit and is no factor, on the scale log too",
        parameter->path, parameter->standard_error, value);
}

/* Correlations within [-1, 1], finite, symmetric, diagonal the squares of the errors.
 */
static void check_covariance(
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    for (size_t i = 0; i < n * n; i++) {
        size_t row = i / n;
        size_t column = i % n;
        double limit = calibration->parameters[row].standard_error *
                       calibration->parameters[column].standard_error;
        double value = calibration->covariance[i];
        double mirrored = calibration->covariance[column * n + row];
        double slack = 1e-9 * limit;
        bool diagonal_holds = row != column || fabs(value - limit) <= 1e-6 * limit;
        if (!(fabs(value) <= limit + slack && fabs(value - mirrored) <= slack &&
                diagonal_holds)) {
            (void)fulcrum_fail_more(err, FULCRUM_ERR_RANGE,
                "covariance[%zu][%zu] = %.6g: expected %s", row, column, value,
                row == column ? "the square of the standard error"
                              : "a symmetric matrix with correlations from -1 to 1");
            return;
        }
    }
}

/* The first value out of range is named; the paths are known to be fields. */
static void check_draws(
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    for (size_t i = 0; i < calibration->draw_count * n; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i % n];
        const struct fulcrum_field *field = parameter->field;
        double value = calibration->draws[i];
        if (field != NULL && !isnan(value) &&
            !(value >= field->least && value <= field->most)) {
            (void)fulcrum_fail_more(err, FULCRUM_ERR_RANGE,
                "draws[%zu][%zu] = %.6g: outside [%.6g, %.6g], the range of %s", i / n,
                i % n, value, field->least, field->most, parameter->path);
            return;
        }
    }
}

static void check_table(const char *name, const struct fulcrum_time_table *table,
    struct fulcrum_error *found)
{
    double previous = 0.0;
    for (size_t i = 0; i < table->count; i++) {
        double size = table->size[i];
        double time_s = table->time_s[i];
        FAULT_IF(!(size >= 1.0 && size > previous && size <= 1e9), found,
            FULCRUM_ERR_RANGE,
            "%s.size[%zu] = %.6g: expected increasing numbers from 1 to 1e+09", name, i,
            size);
        FAULT_IF(!(time_s > 0.0 && time_s <= 1e4), found, FULCRUM_ERR_RANGE,
            "%s.time_s[%zu] = %.6g: expected a number above 0 and at most 1e+04", name,
            i, time_s);
        previous = size;
    }
}

enum fulcrum_status fulcrum_calibration_check(
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_error found = {FULCRUM_OK, ""};
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        check_parameter(&calibration->parameters[i], &found);
    }
    for (size_t i = 0; i < calibration->capacity_count; i++) {
        double value = calibration->capacity[i];
        FAULT_IF(!(value > 0.0 && value <= 1e7), &found, FULCRUM_ERR_RANGE,
            "capacity[%zu] = %.6g: expected a number above 0 and at most 1e+07", i,
            value);
    }
    check_table("batch_time", &calibration->batch_time, &found);
    check_table("handoff_time", &calibration->handoff_time, &found);
    check_draws(calibration, &found);
    if (found.status == FULCRUM_OK && calibration->parameter_count > 0) {
        check_covariance(calibration, &found);
    }
    if (found.status == FULCRUM_OK && calibration->parameter_count > 0) {
        /* The least eigenvalue of the correlation matrix, with some slack for rounding.
         */
        size_t n = calibration->parameter_count;
        gsl_matrix *correlation = gsl_matrix_alloc(n, n);
        gsl_vector *values = gsl_vector_alloc(n);
        gsl_eigen_symm_workspace *space = gsl_eigen_symm_alloc(n);
        for (size_t k = 0; k < n * n; k++) {
            double scale = calibration->parameters[k / n].standard_error *
                           calibration->parameters[k % n].standard_error;
            double value = scale > 0.0 ? calibration->covariance[k] / scale : 0.0;
            gsl_matrix_set(correlation, k / n, k % n, value);
        }
        (void)gsl_eigen_symm(correlation, values, space);
        FAULT_IF(gsl_vector_min(values) < -1e-6, &found, FULCRUM_ERR_RANGE,
            "covariance: expected a positive semidefinite matrix");
        gsl_eigen_symm_free(space);
        gsl_vector_free(values);
        gsl_matrix_free(correlation);
    }
    if (found.status != FULCRUM_OK && err != NULL) {
        *err = found;
    }
    return found.status;
}

const char *fulcrum_origin_name(int origin)
{
    static const char *const names[] = {"measured", "fitted", "prior"};
    return FULCRUM_NAMED(names, origin);
}

const char *fulcrum_scale_name(int scale)
{
    static const char *const names[] = {"linear", "log", "logit"};
    return FULCRUM_NAMED(names, scale);
}
