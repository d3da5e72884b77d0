/* calibration.h - fitted parameters with their uncertainty, and the samples behind
 * them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_CALIBRATION_H
#define FULCRUM_MODEL_DESIGN_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "model/design/machine.h"
#include "model/status.h"

enum fulcrum_origin {
    FULCRUM_ORIGIN_MEASURED,
    FULCRUM_ORIGIN_FITTED,
    FULCRUM_ORIGIN_PRIOR
};

/* The scale on which a parameter's error is taken to be normal. */
enum fulcrum_scale {
    FULCRUM_SCALE_LINEAR,
    FULCRUM_SCALE_LOG,  /* positive values; sd of ln(value) = standard_error / value */
    FULCRUM_SCALE_LOGIT /* shares; sd of logit = standard_error / (value (1 - value)) */
};

struct fulcrum_field;

struct fulcrum_parameter {
    char path[64];                     /* a field of a design: "workload.step.mean_s" */
    const struct fulcrum_field *field; /* that one; found when the parameter is added */
    double value;
    double standard_error; /* same unit as value, >= 0 */
    enum fulcrum_scale scale;
    enum fulcrum_origin origin;
    char source[240]; /* how it was got or where it was read */
};

/* One measured series: every sample, also the disturbed ones. */
struct fulcrum_series {
    char name[48];      /* "actor_step", "throughput", "inference", "train_step", ... */
    char unit[16];      /* of value */
    char x_name[32];    /* "threads", "batch", ...; "" where x means nothing */
    char condition[48]; /* "alone", "other side busy" */
    size_t count;
    double *x;
    double *value;
    double *canary_rel; /* time of the canary loop beside it over its least */
    double *disturbed;  /* 1 where the canary says so, else 0 */
};

/* One derived figure: "actor_step_p99_s", "reset_mean_s", "env_memory_byte", ... */
struct fulcrum_quantity {
    char name[64];
    double value;
    double lo; /* 95 % interval; equal to value where none is known */
    double hi;
    char unit[16];
};

/* How well one fitted form holds. Errors relative, as fractions. */
struct fulcrum_fit_report {
    char name[48]; /* "cpu_curve", "inference_time", ... */
    char form[96];
    size_t point_count;
    double mape_frac;
    double smape_frac;
    double max_frac;
    double bias_frac;
    char warning[240]; /* "" where there is none */
};

/* The note with what a fit has seen: "A, B, C", each NAME or NAME:SERIES of a
 * reference. */
#define FULCRUM_NOTE_FITTED_TO "fitted_to"

/* Provenance: "cpu_model", "kernel", "blas_core", "OPENBLAS_CORETYPE", ... */
struct fulcrum_note {
    char key[48];
    char text[2000];
};

/* Means of what was measured at each size. */
struct fulcrum_time_table {
    size_t count; /* 0: no table */
    double *size; /* increasing */
    double *time_s;
};

struct fulcrum_calibration {
    char name[64];
    char title[160];
    bool complete;                  /* 0: interrupted, what is here was measured */
    struct fulcrum_machine machine; /* where the times hold */
    size_t parameter_count;
    struct fulcrum_parameter *parameters;
    double *covariance; /* parameter_count squared, row-major, units of the values */
    /* Equally likely values of the parameters where their law is far from normal; a
     * parameter that is NAN has its normal law. */
    size_t draw_count;     /* 0: the normal law */
    double *draws;         /* draw_count rows of parameter_count values */
    size_t capacity_count; /* 0: no table */
    double *capacity;      /* c(1), c(2), ... in single-thread units */
    struct fulcrum_time_table batch_time;   /* inference, over observations */
    struct fulcrum_time_table handoff_time; /* host, over requests of one observation */
    size_t series_count;
    struct fulcrum_series *series;
    size_t quantity_count;
    struct fulcrum_quantity *quantities;
    size_t fit_count;
    struct fulcrum_fit_report *fits;
    size_t note_count;
    struct fulcrum_note *notes;
};

/* An empty calibration; the caller gives it back with fulcrum_calibration_free. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_new(
    struct fulcrum_calibration **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_calibration_free(struct fulcrum_calibration *calibration);

/*
 * Each adds a copy at the end; NULL text is taken as "". A parameter whose path is
 * there already replaces it. Covariances start at the squares of the standard errors;
 * draws are dropped.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_add_parameter(
    struct fulcrum_calibration *calibration, const struct fulcrum_parameter *parameter,
    struct fulcrum_error *err);
/* A derived figure, which prediction does not read. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_add_quantity(
    struct fulcrum_calibration *calibration, const struct fulcrum_quantity *quantity,
    struct fulcrum_error *err);
/* The errors of one fitted form. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_add_fit(
    struct fulcrum_calibration *calibration, const struct fulcrum_fit_report *fit,
    struct fulcrum_error *err);
/* Something about the host or the run that is no number. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_add_note(
    struct fulcrum_calibration *calibration, const char *key, const char *text,
    struct fulcrum_error *err);
/* Copies the arrays of `series` too; canary_rel and disturbed may be NULL (1 and 0). */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_add_series(
    struct fulcrum_calibration *calibration, const struct fulcrum_series *series,
    struct fulcrum_error *err);
/* Replaces the measured capacity table: entry i is of i + 1 actors. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_set_capacity(
    struct fulcrum_calibration *calibration, const double *capacity, size_t count,
    struct fulcrum_error *err);
/* Replaces a calibration's table by a copy: time_s[i] is of a batch of size[i]. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_time_table_set(
    struct fulcrum_time_table *table, const double *size, const double *time_s,
    size_t count, struct fulcrum_error *err);

/* Sets the covariance of two parameters that are there, both ways. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_set_covariance(
    struct fulcrum_calibration *calibration, const char *path_a, const char *path_b,
    double covariance, struct fulcrum_error *err);

/*
 * Replaces the draws by a copy of `count` rows of parameter_count values; NAN leaves a
 * parameter to its normal law.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_set_draws(
    struct fulcrum_calibration *calibration, const double *draws, size_t count,
    struct fulcrum_error *err);

/* NULL if there is none. Borrowed: valid until the calibration changes. */
const struct fulcrum_parameter *fulcrum_calibration_parameter(
    const struct fulcrum_calibration *calibration, const char *path);
/* The same for derived figures; the first of that name. */
const struct fulcrum_quantity *fulcrum_calibration_quantity(
    const struct fulcrum_calibration *calibration, const char *name);

/* The text of a note; NULL if there is none. Borrowed in the same way. */
const char *fulcrum_calibration_note(
    const struct fulcrum_calibration *calibration, const char *key);

/*
 * Values and draws in range, paths that name number fields, covariance symmetric,
 * positive semidefinite and its diagonal the squares of the standard errors. fails
 * FULCRUM_ERR_RANGE, FULCRUM_ERR_UNKNOWN_NAME; all faults in one go
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_check(
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err);

/* "measured", "fitted", "prior"; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_origin_name(int origin);
/* "linear", "log", "logit"; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_scale_name(int scale);

#endif
