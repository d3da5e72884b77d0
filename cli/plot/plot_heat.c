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

/* Columns of fields that vary, but for `taken`; the first is chosen. NULL: none. */
static const char *free_field(const struct fulcrum_table *points, const char *taken)
{
    for (size_t j = 0; j < fulcrum_table_columns(points); j++) {
        const char *key = fulcrum_table_column(points, j).key;
        if (fulcrum_plot_varies(points, j) &&
            (taken == NULL || strcmp(taken, key) != 0)) {
            return key;
        }
    }
    return NULL;
}

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

/* Points that differ in something else too would lie over each other. */
static enum fulcrum_status check_others(const struct fulcrum_table *points,
    const char *x, const char *y, struct fulcrum_error *err)
{
    static const char *const texts[] = {"machine", "workload", "calibration"};
    for (size_t j = 0; j < fulcrum_table_columns(points); j++) {
        const char *key = fulcrum_table_column(points, j).key;
        FAIL_IF(fulcrum_plot_varies(points, j) && strcmp(key, x) != 0 &&
                    strcmp(key, y) != 0,
            err, FULCRUM_ERR_FORMAT,
            "%s varies too, with %zu values, beside %s and %s: a heat map takes a "
            "sweep over two fields",
            key, count_values(points, j), x, y);
    }
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

/* Two that vary make the axes, in their order, unless the user names them. */
static enum fulcrum_status add_axes(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_table *points = fulcrum_chart_table(result, "points");
    char label[160];
    if (job->x != NULL) {
        TRY(fulcrum_plot_check_column(points, "--x", job->x, err));
    }
    if (job->y != NULL) {
        TRY(fulcrum_plot_check_column(points, "--y", job->y, err));
    }
    const char *x = job->x != NULL ? job->x : free_field(points, job->y);
    const char *y = job->y != NULL ? job->y : free_field(points, x);
    FAIL_IF(x == NULL || y == NULL, err, FULCRUM_ERR_FORMAT,
        "%s: a heat map takes a sweep over two (--vary twice), or columns named by "
        "--x and --y",
        x == NULL ? "no field varies" : "only one field varies");
    FAIL_IF(strcmp(x, y) == 0, err, FULCRUM_ERR_FORMAT,
        "%s on both axes: expected two different columns", x);
    TRY(check_others(points, x, y, err));
    fulcrum_result_text(result, "heat_x", NULL, x);
    fulcrum_result_text(result, "heat_y", NULL, y);
    fulcrum_plot_field_label(label, sizeof label, x);
    fulcrum_result_text(result, "heat_x_label", NULL, label);
    fulcrum_plot_field_label(label, sizeof label, y);
    fulcrum_result_text(result, "heat_y_label", NULL, label);
    return FULCRUM_OK;
}

/* Each flag of points that could run; the first reason stands for those that could not.
 */
static void add_heat_words(
    struct fulcrum_result *result, const struct fulcrum_table *points)
{
    const char *rule = fulcrum_plot_text_of(result, points, "actors_rule");
    double actors = fulcrum_table_constant(points, "actor_count");
    struct fulcrum_string subtitle = {0};
    struct fulcrum_string footnote = {0};
    const char *reason = NULL;
    size_t count = fulcrum_table_rows(points);
    size_t failed = 0;
    fulcrum_plot_say(&subtitle, "calibration ",
        fulcrum_plot_text_of(result, points, "calibration"), "");
    /* How many actors there are, or where their numbers come from. */
    const char *between = subtitle.length > 0 ? "; " : "";
    if (isfinite(actors)) {
        fulcrum_string_add(&subtitle, "%s%.0f actors", between, actors);
    } else if (rule[0] != '\0') {
        fulcrum_string_add(&subtitle, "%sactors %s", between, rule);
    }
    for (size_t row = 0; row < count; row++) {
        if (fulcrum_plot_ran(points, row)) {
            fulcrum_string_add_parts(
                &footnote, fulcrum_plot_text(points, row, "flags"));
        } else if (failed++ == 0) {
            reason = fulcrum_plot_text(points, row, "status");
        }
    }
    if (failed > 0) {
        fulcrum_string_add(&footnote, "%s%zu of %zu points cannot run, one as %s",
            footnote.length > 0 ? "; " : "", failed, count, reason);
    }
    fulcrum_plot_title_add(result, "heat_title",
        fulcrum_plot_text_of(result, points, "workload"),
        fulcrum_plot_text_of(result, points, "machine"));
    fulcrum_result_text(result, "heat_subtitle", NULL, fulcrum_string_get(&subtitle));
    fulcrum_result_text(result, "heat_footnote", NULL, fulcrum_string_get(&footnote));
    fulcrum_string_clear(&subtitle);
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

enum fulcrum_status fulcrum_plot_ratio_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    return add_landmarks(result, job->machines, "", NULL, err);
}

static const char *metric_of(const struct fulcrum_plot_job *job)
{
    return job->metric != NULL ? job->metric : "steps_per_s";
}

enum fulcrum_status fulcrum_plot_heat_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_table *points = fulcrum_chart_table(result, "points");
    const char *metric = metric_of(job);
    size_t output = fulcrum_output_find(metric);
    TRY(fulcrum_plot_check_column(points, "--metric", metric, err));
    TRY(add_axes(job, result, err));
    /* "steps_per_j_system, performance per system watt, 1/J". */
    if (output < FULCRUM_OUTPUT_COUNT) {
        const char *unit = fulcrum_output_unit(output);
        fulcrum_result_print(result, "heat_value", NULL, "%s, %s%s%s", metric,
            fulcrum_output_meaning(output), unit[0] != '\0' ? ", " : "", unit);
    } else {
        fulcrum_result_text(result, "heat_value", NULL, metric);
    }
    add_heat_words(result, points);
    return add_landmarks(result, job->machines,
        fulcrum_result_text_of(result, "heat_x"),
        fulcrum_result_text_of(result, "heat_y"), err);
}

struct fulcrum_heat_chart_data fulcrum_plot_heat_data(
    const struct fulcrum_plot_job *job, const struct fulcrum_result *result)
{
    const char *metric = metric_of(job);
    size_t output = fulcrum_output_find(metric);
    const char *unit = output < FULCRUM_OUTPUT_COUNT ? fulcrum_output_unit(output) : "";
    const char *title = fulcrum_result_text_of(result, "heat_title");
    const char *subtitle = fulcrum_result_text_of(result, "heat_subtitle");
    return (struct fulcrum_heat_chart_data){
        .text = {job->title != NULL ? job->title : title,
            job->subtitle != NULL ? job->subtitle : subtitle,
            fulcrum_result_text_of(result, "heat_footnote")},
        .result = result,
        .metric = metric,
        .contours = (enum fulcrum_heat_contours)job->contours,
        .x = fulcrum_result_text_of(result, "heat_x"),
        .y = fulcrum_result_text_of(result, "heat_y"),
        .x_label = fulcrum_result_text_of(result, "heat_x_label"),
        .y_label = fulcrum_result_text_of(result, "heat_y_label"),
        .value_name = fulcrum_result_text_of(result, "heat_value"),
        /* A unit that divides reads well on an axis only. */
        .unit = unit[0] == '\0' || unit[0] == '1' ? NULL : unit};
}
