/* plot_heat.c - which columns of a sweep over two fields make a heat map. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_data.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_source.h"
#include "model/design/design.h"
#include "model/predict/predict.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/try.h"

/* The words of one chart; keeps a second drawing of the same result from others. */
static const char *keep_text(
    struct fulcrum_result *result, const char *key, const char *text)
{
    if (fulcrum_result_find(result, key) == NULL) {
        fulcrum_result_text(result, key, NULL, text);
    }
    return fulcrum_result_text_of(result, key);
}

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
    const struct fulcrum_heat_chart_data *data, struct fulcrum_error *err)
{
    static const char *const texts[] = {"machine", "workload", "calibration"};
    for (size_t j = 0; j < fulcrum_table_columns(points); j++) {
        const char *key = fulcrum_table_column(points, j).key;
        FAIL_IF(fulcrum_plot_varies(points, j) && strcmp(key, data->x) != 0 &&
                    strcmp(key, data->y) != 0,
            err, FULCRUM_ERR_FORMAT,
            "%s varies too, with %zu values, beside %s and %s: a heat map takes a "
            "sweep over two fields",
            key, count_values(points, j), data->x, data->y);
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
static enum fulcrum_status choose_axes(const struct fulcrum_table *points,
    const struct fulcrum_plot_heat_options *options,
    struct fulcrum_heat_chart_data *out, struct fulcrum_error *err)
{
    const char *const asked[] = {options->x, options->y};
    for (size_t k = 0; k < 2; k++) {
        if (asked[k] != NULL) {
            TRY(fulcrum_plot_check_column(
                points, k == 0 ? "--x" : "--y", asked[k], err));
        }
    }
    out->x = options->x != NULL ? options->x : free_field(points, options->y);
    out->y = options->y != NULL ? options->y : free_field(points, out->x);
    FAIL_IF(out->x == NULL || out->y == NULL, err, FULCRUM_ERR_FORMAT,
        "%s: a heat map takes a sweep over two (--vary twice), or columns named by "
        "--x and --y",
        out->x == NULL ? "no field varies" : "only one field varies");
    FAIL_IF(strcmp(out->x, out->y) == 0, err, FULCRUM_ERR_FORMAT,
        "%s on both axes: expected two different columns", out->x);
    return check_others(points, out, err);
}

/* Each flag of points that could run; the first reason stands for those that could not.
 */
static void write_words(struct fulcrum_result *result,
    const struct fulcrum_table *points, struct fulcrum_heat_chart_data *out)
{
    const char *workload = fulcrum_plot_text_of(result, points, "workload");
    const char *machine = fulcrum_plot_text_of(result, points, "machine");
    const char *calibration = fulcrum_plot_text_of(result, points, "calibration");
    const char *rule = fulcrum_plot_text_of(result, points, "actors_rule");
    double actors = fulcrum_table_constant(points, "actor_count");
    struct fulcrum_string title = {0};
    struct fulcrum_string subtitle = {0};
    struct fulcrum_string footnote = {0};
    const char *reason = NULL;
    size_t count = fulcrum_table_rows(points);
    size_t failed = 0;
    bool has_both = workload[0] != '\0' && machine[0] != '\0';
    fulcrum_string_add(&title, "%s%s%s", workload, has_both ? " on " : "", machine);
    fulcrum_plot_say(&subtitle, "calibration ", calibration, "");
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
    out->text.title = keep_text(result, "heat_title", fulcrum_string_get(&title));
    out->text.subtitle =
        keep_text(result, "heat_subtitle", fulcrum_string_get(&subtitle));
    out->text.footnote =
        keep_text(result, "heat_footnote", fulcrum_string_get(&footnote));
    fulcrum_string_clear(&title);
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
    const struct fulcrum_machine *machine = &design->machine;
    if (strcmp(path, "run.sm_count") == 0) {
        return machine->gpu.sm_count;
    }
    if (strcmp(path, "run.gpu_count") == 0) {
        return machine->gpu.count;
    }
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

enum fulcrum_status fulcrum_plot_landmarks_add(struct fulcrum_result *result,
    const char *list, const char *x, const char *y, struct fulcrum_error *err)
{
    const char *rest = list != NULL ? list : STANDARD_MACHINES;
    bool is_none = strcmp(rest, "none") == 0;
    if (fulcrum_plot_table(result, "landmarks") != NULL) {
        return FULCRUM_OK; /* a result that is drawn twice */
    }
    struct fulcrum_table *table = fulcrum_result_table(result, "landmarks", NULL);
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
    return fulcrum_result_check(result, err);
}

static const char *label_of(
    struct fulcrum_result *result, const char *key, const char *path)
{
    char label[160];
    fulcrum_plot_field_label(label, sizeof label, path);
    return keep_text(result, key, label);
}

enum fulcrum_status fulcrum_plot_heat_data(struct fulcrum_result *result,
    const struct fulcrum_plot_heat_options *options,
    struct fulcrum_heat_chart_data *out, struct fulcrum_error *err)
{
    const struct fulcrum_table *points = fulcrum_plot_points(result);
    const char *metric = options->metric != NULL ? options->metric : "steps_per_s";
    size_t output = fulcrum_output_find(metric);
    const char *unit = output < FULCRUM_OUTPUT_COUNT ? fulcrum_output_unit(output) : "";
    *out = (struct fulcrum_heat_chart_data){.result = result,
        .metric = metric,
        .contours = options->contours,
        /* A unit that divides reads well on an axis only. */
        .unit = unit[0] == '\0' || unit[0] == '1' ? NULL : unit};
    TRY(fulcrum_plot_check_column(points, "--metric", metric, err));
    TRY(choose_axes(points, options, out, err));
    out->x_label = label_of(result, "heat_x", out->x);
    out->y_label = label_of(result, "heat_y", out->y);
    /* "steps_per_j_system, performance per system watt, 1/J". */
    bool is_output = output < FULCRUM_OUTPUT_COUNT;
    char name[160];
    (void)snprintf(name, sizeof name, "%s%s%s%s%s", metric, is_output ? ", " : "",
        is_output ? fulcrum_output_meaning(output) : "", unit[0] != '\0' ? ", " : "",
        unit);
    out->value_name = keep_text(result, "heat_value", name);
    write_words(result, points, out);
    return fulcrum_plot_landmarks_add(result, options->machines, out->x, out->y, err);
}
