/* plot_sweep.c - chart data from the CSV of a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Charts are drawn from files and not from the memory of `explore`, so that a sweep can
 * be computed once and drawn many times, or come from elsewhere. Columns are found by
 * name; what a file lacks is left out of the chart, but two rows at one x are a fault:
 * something else varies, and a line through them would be wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_data.h"

/* The quantities that charts show, each with an optional interval. */
enum quantity { RUNTIME, RATE, SYSTEM_W, GPU_W, PER_GPU_W, PER_SYSTEM_W, QUANTITIES };

static const char *const quantity_columns[QUANTITIES] = {"runtime_s", "steps_per_s",
    "system_w", "gpu_w", "steps_per_j_gpu", "steps_per_j_system"};

enum end { VALUE, LOW, HIGH, ENDS };

static const char *const end_suffixes[ENDS] = {"", "_lo", "_hi"};

struct fulcrum_plot_sweep {
    const struct fulcrum_table *table; /* while it is being read */
    size_t count;
    size_t *rows; /* of the table, sorted by x */
    double *x;
    double
        *columns[QUANTITIES][ENDS]; /* NULL: not in the table, or nothing but blanks */
    char title[300];
    char subtitle[400];
    char footnote[600];
    char x_label[80];
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

static int row_is_ok(const struct fulcrum_table *table, size_t row)
{
    size_t column = fulcrum_table_find(table, "status");
    return column == fulcrum_table_column_count(table) ||
           strcmp(fulcrum_table_text(table, row, column), "ok") == 0;
}

/* Rows with an x, sorted; two at one x mean that something else varies too. */
static enum fulcrum_status sort_rows(struct fulcrum_plot_sweep *sweep,
    const char *x_name, struct row_x *order, struct fulcrum_error *err)
{
    size_t column = fulcrum_table_find(sweep->table, x_name);
    if (column == fulcrum_table_column_count(sweep->table)) {
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "no column '%s': expected a sweep written by 'fulcrum explore --format "
            "csv'",
            x_name);
    }
    for (size_t row = 0; row < fulcrum_table_row_count(sweep->table); row++) {
        double x = 0.0;
        enum fulcrum_status status =
            fulcrum_table_number(sweep->table, row, column, &x, err);
        if (status != FULCRUM_OK) {
            return status;
        }
        if (row_is_ok(sweep->table, row) && !isnan(x)) {
            order[sweep->count++] = (struct row_x){row, x};
        }
    }
    qsort(order, sweep->count, sizeof *order, compare_rows);
    for (size_t i = 0; i < sweep->count; i++) {
        if (i > 0 && !(order[i].x > order[i - 1].x)) {
            return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
                "two points at %s = %.6g: a chart takes a sweep over one field", x_name,
                order[i].x);
        }
        sweep->rows[i] = order[i].row;
        sweep->x[i] = order[i].x;
    }
    return FULCRUM_OK;
}

/* A column of numbers in the order of x; none where the table lacks it or is blank. */
static enum fulcrum_status read_column(struct fulcrum_plot_sweep *sweep,
    const char *name, double **out, struct fulcrum_error *err)
{
    size_t column = fulcrum_table_find(sweep->table, name);
    if (column == fulcrum_table_column_count(sweep->table)) {
        return FULCRUM_OK;
    }
    double *values = calloc(sweep->count + 1, sizeof *values);
    if (values == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "column %s", name);
    }
    int known = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        enum fulcrum_status status =
            fulcrum_table_number(sweep->table, sweep->rows[i], column, &values[i], err);
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

static enum fulcrum_status read_columns(
    struct fulcrum_plot_sweep *sweep, struct fulcrum_error *err)
{
    for (size_t i = 0; i < (size_t)QUANTITIES * ENDS; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "%s%s", quantity_columns[i / ENDS],
            end_suffixes[i % ENDS]);
        enum fulcrum_status status =
            read_column(sweep, name, &sweep->columns[i / ENDS][i % ENDS], err);
        if (status != FULCRUM_OK) {
            return status;
        }
    }
    return FULCRUM_OK;
}

/* The text of the first row in a column; "" where there is none. */
static const char *first_text(const struct fulcrum_plot_sweep *sweep, const char *name)
{
    size_t column = fulcrum_table_find(sweep->table, name);
    if (sweep->count == 0 || column == fulcrum_table_column_count(sweep->table)) {
        return "";
    }
    return fulcrum_table_text(sweep->table, sweep->rows[0], column);
}

static void append(char *text, size_t size, const char *before, const char *what)
{
    size_t used = strlen(text);
    if (what[0] != '\0' && strstr(text, what) == NULL) {
        (void)snprintf(
            text + used, size - used, "%s%s%s", used > 0 ? "; " : "", before, what);
    }
}

/* Each different flag of any point once. */
static void collect_flags(struct fulcrum_plot_sweep *sweep)
{
    size_t column = fulcrum_table_find(sweep->table, "flags");
    if (column == fulcrum_table_column_count(sweep->table)) {
        return;
    }
    for (size_t i = 0; i < sweep->count; i++) {
        const char *at = fulcrum_table_text(sweep->table, sweep->rows[i], column);
        while (*at != '\0') {
            char flag[160];
            size_t length = strcspn(at, ";");
            (void)snprintf(flag, sizeof flag, "%.*s", (int)length, at);
            append(sweep->footnote, sizeof sweep->footnote, "", flag);
            at += length;
            at += strspn(at, "; ");
        }
    }
}

static void fill_words(struct fulcrum_plot_sweep *sweep)
{
    const char *machine = first_text(sweep, "machine");
    const char *workload = first_text(sweep, "workload");
    (void)snprintf(sweep->title, sizeof sweep->title, "%s%s%s", workload,
        workload[0] != '\0' && machine[0] != '\0' ? " on " : "", machine);
    append(sweep->subtitle, sizeof sweep->subtitle, "calibration ",
        first_text(sweep, "calibration"));
    append(sweep->subtitle, sizeof sweep->subtitle, "actors ",
        first_text(sweep, "actors_rule"));
    collect_flags(sweep);
}

/* Room for `rows` rows; NULL without memory. */
static struct fulcrum_plot_sweep *new_sweep(size_t rows)
{
    struct fulcrum_plot_sweep *sweep = calloc(1, sizeof *sweep);
    if (sweep == NULL) {
        return NULL;
    }
    sweep->rows = calloc(rows + 1, sizeof *sweep->rows);
    sweep->x = calloc(rows + 1, sizeof *sweep->x);
    if (sweep->rows == NULL || sweep->x == NULL) {
        fulcrum_plot_sweep_free(sweep);
        return NULL;
    }
    return sweep;
}

enum fulcrum_status fulcrum_plot_sweep_new(const struct fulcrum_table *table,
    const char *x, struct fulcrum_plot_sweep **out, struct fulcrum_error *err)
{
    size_t rows = fulcrum_table_row_count(table);
    struct fulcrum_plot_sweep *sweep = new_sweep(rows);
    struct row_x *order = calloc(rows + 1, sizeof *order);
    if (sweep == NULL || order == NULL) {
        free(order);
        fulcrum_plot_sweep_free(sweep);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a sweep of %zu points", rows);
    }
    sweep->table = table;
    enum fulcrum_status status = sort_rows(sweep, x, order, err);
    if (status == FULCRUM_OK) {
        status = read_columns(sweep, err);
    }
    free(order);
    if (status != FULCRUM_OK) {
        fulcrum_plot_sweep_free(sweep);
        return status;
    }
    fill_words(sweep);
    if (strcmp(x, "actor_threads_per_learner_core") == 0) {
        (void)snprintf(
            sweep->x_label, sizeof sweep->x_label, "actor threads / learner cores");
    }
    sweep->table = NULL;
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
    free(sweep->rows);
    free(sweep->x);
    free(sweep);
}

static struct fulcrum_estimate estimate(
    const struct fulcrum_plot_sweep *sweep, enum quantity quantity)
{
    double *const *ends = sweep->columns[quantity];
    int has_interval = ends[LOW] != NULL && ends[HIGH] != NULL;
    return (struct fulcrum_estimate){.value = ends[VALUE],
        .lo = has_interval ? ends[LOW] : NULL,
        .hi = has_interval ? ends[HIGH] : NULL};
}

static struct fulcrum_chart_text chart_text(
    const struct fulcrum_plot_sweep *sweep, const struct fulcrum_plot_words *words)
{
    return (struct fulcrum_chart_text){
        .title = words->title != NULL ? words->title : sweep->title,
        .subtitle = words->subtitle != NULL ? words->subtitle : sweep->subtitle,
        .footnote = sweep->footnote,
    };
}

struct fulcrum_ratio_data fulcrum_plot_ratio_data(struct fulcrum_plot_sweep *sweep,
    const struct fulcrum_plot_words *words,
    const struct fulcrum_ratio_machine *machines, size_t machine_count)
{
    return (struct fulcrum_ratio_data){
        .text = chart_text(sweep, words),
        .x_label = sweep->x_label[0] != '\0' ? sweep->x_label : NULL,
        .cpu_gpu_ratio = sweep->x,
        .count = sweep->count,
        .steps_per_s = estimate(sweep, RATE),
        .steps_per_j_gpu = estimate(sweep, PER_GPU_W),
        .steps_per_j_system = estimate(sweep, PER_SYSTEM_W),
        .interval_name = "90 % interval",
        .machines = machines,
        .machine_count = machine_count,
    };
}

struct fulcrum_actors_data fulcrum_plot_actors_data(
    struct fulcrum_plot_sweep *sweep, const struct fulcrum_plot_words *words)
{
    return (struct fulcrum_actors_data){
        .text = chart_text(sweep, words),
        .actor_count = sweep->x,
        .count = sweep->count,
        .runtime_s = estimate(sweep, RUNTIME),
        .steps_per_s = estimate(sweep, RATE),
        .system_w = estimate(sweep, SYSTEM_W),
        .gpu_w = estimate(sweep, GPU_W),
        .steps_per_j_system = estimate(sweep, PER_SYSTEM_W),
        .steps_per_j_gpu = estimate(sweep, PER_GPU_W),
        .interval_name = "90 % interval",
    };
}
