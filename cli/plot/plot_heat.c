/* plot_heat.c - which columns of a sweep over two fields make a heat map. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_data.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/plot/plot_source.h"
#include "model/design/design.h"
#include "model/predict/predict.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/load/preset.h"

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

/* "16 actors", or where their numbers come from. */
static void write_actors(
    struct fulcrum_string *out, const struct fulcrum_table *points, const char *rule)
{
    double actors = fulcrum_table_constant(points, "actor_count");
    if (isfinite(actors)) {
        fulcrum_string_add(out, "%s%.0f actors", out->length > 0 ? "; " : "", actors);
    } else if (rule[0] != '\0') {
        fulcrum_string_add(out, "%sactors %s", out->length > 0 ? "; " : "", rule);
    }
}

/* Each flag of points that could run; the first reason stands for those that could not.
 */
static void write_words(struct fulcrum_result *result,
    const struct fulcrum_table *points, struct fulcrum_heat_chart_data *out)
{
    const char *workload = fulcrum_plot_text_of(result, points, "workload");
    const char *machine = fulcrum_plot_text_of(result, points, "machine");
    const char *calibration = fulcrum_plot_text_of(result, points, "calibration");
    struct fulcrum_string title = {0};
    struct fulcrum_string subtitle = {0};
    struct fulcrum_string footnote = {0};
    const char *reason = NULL;
    size_t count = fulcrum_table_rows(points);
    size_t failed = 0;
    bool has_both = workload[0] != '\0' && machine[0] != '\0';
    fulcrum_string_add(&title, "%s%s%s", workload, has_both ? " on " : "", machine);
    fulcrum_string_add(
        &subtitle, "%s%s", calibration[0] != '\0' ? "calibration " : "", calibration);
    write_actors(
        &subtitle, points, fulcrum_plot_text_of(result, points, "actors_rule"));
    for (size_t row = 0; row < count; row++) {
        const char *status = fulcrum_table_at(points, row, "status").text;
        if (status == NULL || strcmp(status, "ok") == 0) {
            fulcrum_string_add_parts(
                &footnote, fulcrum_table_at(points, row, "flags").text);
        } else {
            reason = reason != NULL ? reason : status;
            failed++;
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

/* Machines named unless others are asked for. */
#define STANDARD_MACHINES                                                              \
    "dgx-1-inci2020,dgx-1,dgx-2,dgx-a100,dgx-h100,dgx-b200,gb200-nvl72"

enum fulcrum_status fulcrum_plot_landmarks_load(
    const char *list, struct fulcrum_plot_landmarks *out, struct fulcrum_error *err)
{
    const char *rest = list != NULL ? list : STANDARD_MACHINES;
    rest = strcmp(rest, "none") == 0 ? NULL : rest;
    out->count = 0;
    while (rest != NULL) {
        FAIL_IF(out->count == FULCRUM_PLOT_LANDMARKS_MAX, err, FULCRUM_ERR_RANGE,
            "--machines: more than %d", (int)FULCRUM_PLOT_LANDMARKS_MAX);
        char *name = fulcrum_list_part(&rest);
        (void)snprintf(out->names[out->count], sizeof out->names[0], "%s", name);
        struct fulcrum_design design;
        fulcrum_design_init(&design);
        enum fulcrum_status status = fulcrum_machine_load(name, &design, NULL, err);
        free(name);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, "--machines");
        }
        out->machines[out->count++] = design.machine;
    }
    return FULCRUM_OK;
}

/* Of a field that says how much of a machine is used: all of it. */
static double machine_value(const struct fulcrum_machine *machine, const char *path)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = *machine;
    if (strcmp(path, "run.sm_count") == 0) {
        return machine->gpu.sm_count;
    }
    if (strcmp(path, "run.gpu_count") == 0) {
        return machine->gpu.count;
    }
    const struct fulcrum_field *field = fulcrum_field_find(path);
    return field != NULL && strncmp(path, "machine.", 8) == 0
               ? fulcrum_field_number(field, &design)
               : (double)NAN;
}

static enum fulcrum_status add_machines(struct fulcrum_result *result,
    const char *names, const struct fulcrum_heat_chart_data *data,
    struct fulcrum_error *err)
{
    struct fulcrum_plot_landmarks known;
    if (fulcrum_result_table_of(result, "landmarks") != NULL) {
        return FULCRUM_OK; /* a result that is drawn twice */
    }
    TRY(fulcrum_plot_landmarks_load(names, &known, err));
    struct fulcrum_table *table = fulcrum_result_table(result, "landmarks", NULL);
    for (size_t i = 0; i < known.count; i++) {
        double x = machine_value(&known.machines[i], data->x);
        double y = machine_value(&known.machines[i], data->y);
        if (isfinite(x) && isfinite(y)) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "name", NULL, known.names[i]);
            fulcrum_table_number(table, "x", NULL, x);
            fulcrum_table_number(table, "y", NULL, y);
        }
    }
    bool is_asked = names != NULL && strcmp(names, "none") != 0;
    FAIL_IF(is_asked && fulcrum_table_rows(table) == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "--machines: none has a value of its own of both %s and %s", data->x, data->y);
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
    return add_machines(result, options->machines, out, err);
}
