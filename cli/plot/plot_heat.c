/* plot_heat.c - which columns of a sweep over two fields make a heat map. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/design.h"
#include "model/predict/predict.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/try.h"

/* How many different numbers a column has. */
static size_t count_values(const struct fulcrum_table *points, size_t column)
{
    size_t count = 0;
    for (size_t i = 0; i < fulcrum_table_rows(points); i++) {
        double value = fulcrum_table_cell(points, i, column).number;
        size_t k = 0;
        while (k < i && fulcrum_table_cell(points, k, column).number != value) {
            k++;
        }
        count += k == i && !isnan(value) ? 1U : 0U;
    }
    return count;
}

/* Points that differ in a text would lie over each other. */
static enum fulcrum_status check_texts(
    const struct fulcrum_table *points, struct fulcrum_error *err)
{
    static const char *const texts[] = {"machine", "workload", "calibration"};
    for (size_t i = 0; i < fulcrum_table_rows(points) * 3; i++) {
        const char *first = fulcrum_table_at(points, 0, texts[i % 3]).text;
        const char *here = fulcrum_table_at(points, i / 3, texts[i % 3]).text;
        FAIL_IF(first != NULL && here != NULL && strcmp(first, here) != 0, err,
            FULCRUM_ERR_FORMAT,
            "the %s varies too, '%s' and '%s': a heat map takes a sweep over two "
            "fields",
            texts[i % 3], first, here);
    }
    return FULCRUM_OK;
}

/* Columns. */
struct axes {
    const char *x;
    const char *y;
};

/* Two that vary make the axes, in their order, unless the user names them. */
static enum fulcrum_status find_axes(const struct fulcrum_plot_job *job,
    const struct fulcrum_table *points, struct axes *out, struct fulcrum_error *err)
{
    const struct fulcrum_plot_fields fields = fulcrum_plot_fields_of(points);
    const char *x = job->x;
    const char *y = job->y;
    size_t third = fields.count;
    TRY(x != NULL ? fulcrum_plot_check_column(points, "--x", x, err) : FULCRUM_OK);
    TRY(y != NULL ? fulcrum_plot_check_column(points, "--y", y, err) : FULCRUM_OK);
    for (size_t i = 0; i < fields.count; i++) {
        const char *key = fulcrum_table_column(points, fields.columns[i]).key;
        bool is_axis =
            (x != NULL && strcmp(x, key) == 0) || (y != NULL && strcmp(y, key) == 0);
        if (!is_axis && (x == NULL || y == NULL)) {
            *(x == NULL ? &x : &y) = key;
        } else if (!is_axis && third == fields.count) {
            third = i;
        }
    }
    FAIL_IF(x == NULL || y == NULL, err, FULCRUM_ERR_FORMAT,
        "%s: a heat map takes a sweep over two (--vary twice), or columns named by "
        "--x and --y",
        x == NULL ? "no field varies" : "only one field varies");
    FAIL_IF(strcmp(x, y) == 0, err, FULCRUM_ERR_FORMAT,
        "%s on both axes: expected two different columns", x);
    FAIL_IF(third < fields.count, err, FULCRUM_ERR_FORMAT,
        "%s varies too, with %zu values, beside %s and %s: a heat map takes a sweep "
        "over two fields",
        fulcrum_table_column(points, fields.columns[third]).key,
        count_values(points, fields.columns[third]), x, y);
    *out = (struct axes){x, y};
    return check_texts(points, err);
}

/* Each flag of points that could run; the first reason stands for those that could not.
 */
static void add_footnote(
    struct fulcrum_result *result, const struct fulcrum_table *points)
{
    struct fulcrum_string footnote = {0};
    size_t failed = fulcrum_plot_flags_add(&footnote, points);
    size_t row = 0;
    while (failed > 0 && fulcrum_plot_ran(points, row)) {
        row++;
    }
    if (failed > 0) {
        fulcrum_string_add(&footnote, "%s%zu of %zu points cannot run, one as %s",
            footnote.length > 0 ? "; " : "", failed, fulcrum_table_rows(points),
            fulcrum_plot_text(points, row, "status"));
    }
    fulcrum_result_text(result, "heat_footnote", NULL, fulcrum_string_get(&footnote));
    fulcrum_string_clear(&footnote);
}

/* Machines that people know, to be marked on charts. */

enum { LANDMARKS_MAX = 12 };

/* Machines named unless others are asked for. */
#define STANDARD_MACHINES                                                              \
    "dgx-1-inci2020,dgx-1,dgx-2,dgx-a100,dgx-h100,dgx-b200,gb200-nvl72"

/* Of a field that says how much of a machine is used: all of it. */
static double machine_value(const struct fulcrum_design *design, const char *path)
{
    path = strcmp(path, "run.sm_count") == 0 ? "machine.gpu.sm_count" : path;
    path = strcmp(path, "run.gpu_count") == 0 ? "machine.gpu.count" : path;
    const struct fulcrum_field *field = fulcrum_field_find(path);
    return field != NULL && strncmp(path, "machine.", 8) == 0
               ? fulcrum_field_number(field, design)
               : FULCRUM_UNKNOWN;
}

/* Machines without a GPU have another ratio on their axis, and no landmarks. */
static double machine_ratio(const struct fulcrum_machine *machine)
{
    double sms = machine->gpu.count * machine->gpu.sm_count;
    bool has_gpu = machine->accelerator == FULCRUM_ACCELERATOR_GPU && sms > 0.0;
    return has_gpu ? machine->cpu.thread_count / sms : FULCRUM_UNKNOWN;
}

/* Rows of "landmarks"; `y` NULL: `x` is any, and stands for the CPU/GPU ratio. */
static enum fulcrum_status add_landmarks(struct fulcrum_result *result,
    const char *list, const char *x, const char *y, struct fulcrum_error *err)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "landmarks", NULL);
    const char *rest = list != NULL ? list : STANDARD_MACHINES;
    bool is_none = strcmp(rest, "none") == 0;
    rest = is_none ? NULL : rest;
    for (size_t i = 0; rest != NULL; i++) {
        char name[64];
        struct fulcrum_design design;
        FAIL_IF(i == LANDMARKS_MAX, err, FULCRUM_ERR_RANGE, "--machines: more than %d",
            (int)LANDMARKS_MAX);
        TRY(fulcrum_plot_next_machine(&rest, name, &design, err));
        double along =
            y != NULL ? machine_value(&design, x) : machine_ratio(&design.machine);
        double up = y != NULL ? machine_value(&design, y) : 0.0;
        if (isfinite(along) && isfinite(up)) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "name", NULL, name);
            fulcrum_table_number(table, "x", NULL, along);
            fulcrum_table_number(table, "y", NULL, up);
        }
    }
    FAIL_IF(y != NULL && list != NULL && !is_none && fulcrum_table_rows(table) == 0,
        err, FULCRUM_ERR_UNSUPPORTED,
        "--machines: none has a value of its own of both %s and %s", x, y);
    return FULCRUM_OK;
}

/* Machines that people know, at their ratios. */
enum fulcrum_status fulcrum_plot_ratio_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    return add_landmarks(result, job->machines, "", NULL, err);
}

static const char *metric_of(const struct fulcrum_plot_job *job)
{
    return job->metric != NULL ? job->metric : "steps_per_s";
}

/* Machines at their place over the axes, and why points cannot run. */
enum fulcrum_status fulcrum_plot_heat_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_table *points = fulcrum_chart_table(result, "points");
    struct axes axes = {NULL, NULL};
    TRY(fulcrum_plot_check_column(points, "--metric", metric_of(job), err));
    TRY(find_axes(job, points, &axes, err));
    add_footnote(result, points);
    return add_landmarks(result, job->machines, axes.x, axes.y, err);
}

enum fulcrum_status fulcrum_plot_heat_draw(const struct fulcrum_plot_job *job,
    const struct fulcrum_result *result, const struct fulcrum_chart_text *text,
    struct fulcrum_canvas *canvas, struct fulcrum_error *err)
{
    const char *metric = metric_of(job);
    size_t output = fulcrum_output_find(metric);
    bool is_output = output < FULCRUM_OUTPUT_COUNT;
    const char *unit = is_output ? fulcrum_output_unit(output) : "";
    struct axes axes = {NULL, NULL};
    char x_label[160];
    char y_label[160];
    char value_name[200];
    TRY(find_axes(job, fulcrum_chart_table(result, "points"), &axes, err));
    fulcrum_plot_field_label(x_label, sizeof x_label, axes.x);
    fulcrum_plot_field_label(y_label, sizeof y_label, axes.y);
    /* "steps_per_j_system, performance per system watt, 1/J". */
    (void)snprintf(value_name, sizeof value_name, "%s%s%s%s%s", metric,
        is_output ? ", " : "", is_output ? fulcrum_output_meaning(output) : "",
        unit[0] != '\0' ? ", " : "", unit);
    const struct fulcrum_heat_chart_data data = {
        .text = {text->title, text->subtitle,
            fulcrum_result_text_of(result, "heat_footnote")},
        .result = result,
        .metric = metric,
        .contours = (enum fulcrum_heat_contours)job->contours,
        .x = axes.x,
        .y = axes.y,
        .x_label = x_label,
        .y_label = y_label,
        .value_name = value_name,
        /* A unit that divides reads well on an axis only. */
        .unit = unit[0] == '\0' || unit[0] == '1' ? NULL : unit};
    return fulcrum_chart_draw(&fulcrum_chart_heat, canvas, &data, err);
}
