/* plot_sweep.c - chart data from the rows of a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Charts are drawn from files and not from the memory of `explore`, so that a sweep can
 * be computed once and drawn many times, or come from elsewhere. Columns are found by
 * name; what a file lacks is left out of the chart, but two rows at one x are a fault:
 * something else varies, and a line through them would be wrong.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/try.h"

/* The quantities that charts show, each with an optional interval. */
enum quantity {
    RUNTIME,
    RATE,
    GPU_W,
    PER_GPU_W,
    SPEEDUP,
    RUNTIME_REL,
    RATIO,
    QUANTITIES
};

static const char *const quantity_columns[QUANTITIES] = {"runtime_s", "steps_per_s",
    "gpu_w", "steps_per_j_gpu", "speedup", "runtime_rel", "cpu_gpu_ratio_used"};

enum end { VALUE, LOW, HIGH, ENDS };

static const char *const end_suffixes[ENDS] = {"", "_lo", "_hi"};

struct fulcrum_plot_sweep {
    const struct fulcrum_plot_rows *rows; /* borrowed */
    size_t count;
    size_t *order; /* of the rows, by x */
    double *x;
    double
        *columns[QUANTITIES][ENDS]; /* NULL: not in the file, or nothing but blanks */
    bool is_over_sms;
    double relative_x; /* that speed-ups refer to; NAN: not known */
    struct fulcrum_plot_headline headline;
};

struct row_x {
    size_t row;
    double x;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row_x *left = a;
    const struct row_x *right = b;
    return (left->x > right->x) - (left->x < right->x);
}

/* Rows with an x, sorted; two at one x mean that something else varies too. */
static enum fulcrum_status sort_rows(struct fulcrum_plot_sweep *sweep,
    const char *x_name, struct row_x *order, struct fulcrum_error *err)
{
    FAIL_IF(!fulcrum_plot_rows_have(sweep->rows, x_name), err, FULCRUM_ERR_FORMAT,
        "no column '%s': expected a sweep written by 'fulcrum explore --format "
        "csv'",
        x_name);
    for (size_t row = 0; row < fulcrum_plot_rows_count(sweep->rows); row++) {
        double x = 0.0;
        TRY(fulcrum_plot_rows_number(sweep->rows, row, x_name, &x, err));
        if (fulcrum_plot_row_is_ok(sweep->rows, row) && !isnan(x)) {
            order[sweep->count++] = (struct row_x){row, x};
        }
    }
    qsort(order, sweep->count, sizeof *order, compare_rows);
    for (size_t i = 0; i < sweep->count; i++) {
        FAIL_IF(i > 0 && !(order[i].x > order[i - 1].x), err, FULCRUM_ERR_FORMAT,
            "two points at %s = %.6g: a chart takes a sweep over one field", x_name,
            order[i].x);
        sweep->order[i] = order[i].row;
        sweep->x[i] = order[i].x;
    }
    return FULCRUM_OK;
}

/* A column of numbers in the order of x; none where the file lacks it or is blank. */
static enum fulcrum_status read_column(struct fulcrum_plot_sweep *sweep,
    const char *name, double **out, struct fulcrum_error *err)
{
    if (!fulcrum_plot_rows_have(sweep->rows, name)) {
        return FULCRUM_OK;
    }
    double *values = calloc(sweep->count + 1, sizeof *values);
    TRY_MEMORY(values, err, "column %s", name);
    int known = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        enum fulcrum_status status = fulcrum_plot_rows_number(
            sweep->rows, sweep->order[i], name, &values[i], err);
        if (status != FULCRUM_OK) {
            free(values);
            return status;
        }
        known = known || !isnan(values[i]);
    }
    if (known) {
        *out = values;
    } else {
        free(values);
    }
    return FULCRUM_OK;
}

void fulcrum_plot_sweep_add_note(struct fulcrum_plot_sweep *sweep, const char *text)
{
    fulcrum_plot_headline_add_note(&sweep->headline, text);
}

/* Room for so many points; NULL without memory. */
static struct fulcrum_plot_sweep *new_sweep(size_t count)
{
    struct fulcrum_plot_sweep *sweep = calloc(1, sizeof *sweep);
    if (sweep == NULL) {
        return NULL;
    }
    sweep->order = calloc(count + 1, sizeof *sweep->order);
    sweep->x = calloc(count + 1, sizeof *sweep->x);
    if (sweep->order == NULL || sweep->x == NULL) {
        fulcrum_plot_sweep_free(sweep);
        return NULL;
    }
    return sweep;
}

/* 1 / value, with its interval the other way round. */
static enum fulcrum_status invert(struct fulcrum_plot_sweep *sweep, enum quantity from,
    enum quantity to, struct fulcrum_error *err)
{
    static const enum end ends[ENDS] = {VALUE, HIGH, LOW};
    for (size_t k = 0; k < ENDS; k++) {
        const double *source = sweep->columns[from][ends[k]];
        if (source == NULL) {
            continue;
        }
        double *values = calloc(sweep->count + 1, sizeof *values);
        TRY_MEMORY(values, err, "a column of ratios");
        for (size_t i = 0; i < sweep->count; i++) {
            values[i] = source[i] > 0.0 ? 1.0 / source[i] : (double)NAN;
        }
        free(sweep->columns[to][k]);
        sweep->columns[to][k] = values;
    }
    return FULCRUM_OK;
}

/* Without ratios in the file: of every prediction to one of them. */
static enum fulcrum_status divide(
    struct fulcrum_plot_sweep *sweep, size_t base, struct fulcrum_error *err)
{
    const double *rate = sweep->columns[RATE][VALUE];
    const double *runtime = sweep->columns[RUNTIME][VALUE];
    double *values = calloc(sweep->count + 1, sizeof *values);
    TRY_MEMORY(values, err, "a column of ratios");
    for (size_t i = 0; i < sweep->count; i++) {
        values[i] = rate != NULL ? rate[i] / rate[base] : runtime[base] / runtime[i];
    }
    sweep->columns[SPEEDUP][VALUE] = values;
    fulcrum_plot_sweep_add_note(sweep,
        "ratios of the predictions themselves, without an interval: 'fulcrum explore "
        "--relative-to' gives one");
    return FULCRUM_OK;
}

/* The point whose ratio to itself is 1 exactly. */
static void find_relative_x(struct fulcrum_plot_sweep *sweep)
{
    const double *speedup = sweep->columns[SPEEDUP][VALUE];
    const double *lo = sweep->columns[SPEEDUP][LOW];
    const double *hi = sweep->columns[SPEEDUP][HIGH];
    for (size_t i = 0; speedup != NULL && i < sweep->count; i++) {
        bool is_wide = lo != NULL && hi != NULL && hi[i] > lo[i];
        if (fabs(speedup[i] - 1.0) < 1e-12 && !is_wide) {
            sweep->relative_x = sweep->x[i];
            return;
        }
    }
}

enum fulcrum_status fulcrum_plot_sweep_add_ratios(
    struct fulcrum_plot_sweep *sweep, struct fulcrum_error *err)
{
    bool has_speedup = sweep->columns[SPEEDUP][VALUE] != NULL;
    bool has_runtime_rel = sweep->columns[RUNTIME_REL][VALUE] != NULL;
    bool can_divide =
        sweep->columns[RATE][VALUE] != NULL || sweep->columns[RUNTIME][VALUE] != NULL;
    enum fulcrum_status status = FULCRUM_OK;
    if (!has_speedup && has_runtime_rel) {
        status = invert(sweep, RUNTIME_REL, SPEEDUP, err);
    } else if (!has_speedup && can_divide && sweep->count > 0) {
        status = divide(sweep, sweep->is_over_sms ? sweep->count - 1 : 0, err);
    }
    if (status == FULCRUM_OK && !has_runtime_rel) {
        status = invert(sweep, SPEEDUP, RUNTIME_REL, err);
    }
    find_relative_x(sweep);
    return status;
}

static enum fulcrum_status fill(struct fulcrum_plot_sweep *sweep, const char *x,
    struct row_x *order, struct fulcrum_error *err)
{
    TRY(sort_rows(sweep, x, order, err));
    for (size_t i = 0; i < (size_t)QUANTITIES * ENDS; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "%s%s", quantity_columns[i / ENDS],
            end_suffixes[i % ENDS]);
        TRY(read_column(sweep, name, &sweep->columns[i / ENDS][i % ENDS], err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_sweep_new(const struct fulcrum_plot_rows *rows,
    const char *x, struct fulcrum_plot_sweep **out, struct fulcrum_error *err)
{
    size_t count = fulcrum_plot_rows_count(rows);
    struct fulcrum_plot_sweep *sweep = new_sweep(count);
    struct row_x *order = calloc(count + 1, sizeof *order);
    if (sweep == NULL || order == NULL) {
        free(order);
        fulcrum_plot_sweep_free(sweep);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a sweep of %zu points", count);
    }
    sweep->rows = rows;
    sweep->is_over_sms = strcmp(x, "run.sm_count") == 0;
    sweep->relative_x = (double)NAN;
    enum fulcrum_status status = fill(sweep, x, order, err);
    free(order);
    if (status != FULCRUM_OK) {
        fulcrum_plot_sweep_free(sweep);
        return status;
    }
    fulcrum_plot_headline_fill(&sweep->headline,
        &(struct fulcrum_plot_points){rows, sweep->order, sweep->count});
    *out = sweep;
    return FULCRUM_OK;
}

void fulcrum_plot_sweep_free(struct fulcrum_plot_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    for (size_t i = 0; i < (size_t)QUANTITIES * ENDS; i++) {
        free(sweep->columns[i / ENDS][i % ENDS]);
    }
    free(sweep->order);
    free(sweep->x);
    free(sweep);
}

const char *fulcrum_plot_sweep_calibration(const struct fulcrum_plot_sweep *sweep)
{
    return sweep->headline.calibration;
}

double fulcrum_plot_sweep_relative_x(const struct fulcrum_plot_sweep *sweep)
{
    return sweep->relative_x;
}

double fulcrum_plot_sweep_speedup(const struct fulcrum_plot_sweep *sweep, double x)
{
    const double *speedup = sweep->columns[SPEEDUP][VALUE];
    for (size_t i = 0; speedup != NULL && i < sweep->count; i++) {
        if (fabs(sweep->x[i] - x) <= 1e-9 * fabs(x)) {
            return speedup[i];
        }
        if (i > 0 && sweep->x[i - 1] < x && x < sweep->x[i]) {
            double share = (x - sweep->x[i - 1]) / (sweep->x[i] - sweep->x[i - 1]);
            return speedup[i - 1] + share * (speedup[i] - speedup[i - 1]);
        }
    }
    return (double)NAN;
}

double fulcrum_plot_sweep_constant(
    const struct fulcrum_plot_sweep *sweep, const char *path)
{
    const struct fulcrum_plot_points points = {sweep->rows, sweep->order, sweep->count};
    return fulcrum_plot_points_constant(&points, path);
}

static struct fulcrum_estimate estimate(
    const struct fulcrum_plot_sweep *sweep, enum quantity quantity)
{
    double *const *ends = sweep->columns[quantity];
    bool has_interval = ends[LOW] != NULL && ends[HIGH] != NULL;
    return (struct fulcrum_estimate){.value = ends[VALUE],
        .lo = has_interval ? ends[LOW] : NULL,
        .hi = has_interval ? ends[HIGH] : NULL};
}

/* What the panels of a chart show. */
static struct fulcrum_curves_data curves_of(struct fulcrum_plot_sweep *sweep,
    const struct fulcrum_plot_words *words, enum quantity first, enum quantity second)
{
    return (struct fulcrum_curves_data){
        .text = fulcrum_plot_headline_text(&sweep->headline, words),
        .x = sweep->x,
        .count = sweep->count,
        .estimates = {estimate(sweep, first), estimate(sweep, second)},
        .relative_to_x = sweep->relative_x,
        .interval_name = "90 % interval",
    };
}

struct fulcrum_curves_data fulcrum_plot_curves_data(struct fulcrum_plot_sweep *sweep,
    const struct fulcrum_plot_words *words, enum fulcrum_plot_curves kind)
{
    struct fulcrum_curves_data data;
    switch (kind) {
    case FULCRUM_PLOT_POWER:
        return curves_of(sweep, words, GPU_W, PER_GPU_W);
    case FULCRUM_PLOT_SM:
        data = curves_of(sweep, words, RUNTIME_REL, SPEEDUP);
        data.cpu_gpu_ratio = sweep->columns[RATIO][VALUE];
        return data;
    case FULCRUM_PLOT_RUNTIME:
    default:
        return curves_of(sweep, words, RUNTIME_REL, SPEEDUP);
    }
}
