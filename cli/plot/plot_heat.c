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

/* The first field that varies and is not taken; NULL: none. */
static const char *free_field(
    const struct fulcrum_plot_fields *fields, const char *taken)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (taken == NULL || strcmp(taken, fields->paths[i]) != 0) {
            return fields->paths[i];
        }
    }
    return NULL;
}

/* Columns that the user named. */
static enum fulcrum_status check_asked(const struct fulcrum_plot_rows *rows,
    const struct fulcrum_plot_heat_options *options, struct fulcrum_error *err)
{
    if (options->x != NULL && !fulcrum_plot_rows_have(rows, options->x)) {
        return fulcrum_plot_rows_fail_column(rows, "--x", options->x, err);
    }
    if (options->y != NULL && !fulcrum_plot_rows_have(rows, options->y)) {
        return fulcrum_plot_rows_fail_column(rows, "--y", options->y, err);
    }
    return FULCRUM_OK;
}

/* Two that vary make the axes, in their order, unless the user names them. */
static enum fulcrum_status choose_axes(const struct fulcrum_plot_rows *rows,
    const struct fulcrum_plot_heat_options *options,
    struct fulcrum_heat_chart_data *out, struct fulcrum_error *err)
{
    struct fulcrum_plot_fields fields;
    TRY(fulcrum_plot_fields_find(rows, &fields, err));
    TRY(check_asked(rows, options, err));
    out->x = options->x != NULL ? options->x : free_field(&fields, options->y);
    out->y = options->y != NULL ? options->y : free_field(&fields, out->x);
    FAIL_IF(out->x == NULL || out->y == NULL, err, FULCRUM_ERR_FORMAT,
        "%s: a heat map takes a sweep over two (--vary twice), or columns named by "
        "--x and --y",
        out->x == NULL ? "no field varies" : "only one field varies");
    FAIL_IF(strcmp(out->x, out->y) == 0, err, FULCRUM_ERR_FORMAT,
        "%s on both axes: expected two different columns", out->x);
    /* Points that differ in something else too would lie over each other. */
    for (size_t i = 0; i < fields.count; i++) {
        FAIL_IF(strcmp(fields.paths[i], out->x) != 0 &&
                    strcmp(fields.paths[i], out->y) != 0,
            err, FULCRUM_ERR_FORMAT,
            "%s varies too, with %zu values, beside %s and %s: a heat map takes a "
            "sweep over two fields",
            fields.paths[i], fields.value_counts[i], out->x, out->y);
    }
    static const char *const texts[] = {"machine", "workload", "calibration"};
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows) * 3; i++) {
        char first[120];
        char here[120];
        fulcrum_plot_rows_text(rows, 0, texts[i % 3], first, sizeof first);
        fulcrum_plot_rows_text(rows, i / 3, texts[i % 3], here, sizeof here);
        FAIL_IF(strcmp(first, here) != 0, err, FULCRUM_ERR_FORMAT,
            "the %s varies too, '%s' and '%s': a heat map takes a sweep over two "
            "fields",
            texts[i % 3], first, here);
    }
    return FULCRUM_OK;
}

/* Of the points that could run; the first reason stands for those that could not. */
static void write_words(struct fulcrum_result *result,
    const struct fulcrum_plot_rows *rows, struct fulcrum_heat_chart_data *out)
{
    size_t count = fulcrum_plot_rows_count(rows);
    size_t *order = fulcrum_allocate(count + 1, sizeof *order);
    struct fulcrum_plot_points points = {rows, order, 0};
    struct fulcrum_plot_headline headline = {.title = ""};
    char reason[200] = "";
    for (size_t row = 0; row < count; row++) {
        if (fulcrum_plot_row_is_ok(rows, row)) {
            order[points.count++] = row;
        } else if (points.count == row) {
            fulcrum_plot_rows_text(rows, row, "status", reason, sizeof reason);
        }
    }
    fulcrum_plot_headline_fill(&headline, &points);
    free(order);
    if (points.count < count) {
        char note[260];
        (void)snprintf(note, sizeof note, "%zu of %zu points cannot run, one as %s",
            count - points.count, count, reason);
        fulcrum_plot_headline_add_note(&headline, note);
    }
    out->text.title = keep_text(result, "heat_title", headline.title);
    out->text.subtitle = keep_text(result, "heat_subtitle", headline.subtitle);
    out->text.footnote = keep_text(result, "heat_footnote", headline.footnote);
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
    const struct fulcrum_plot_rows *rows,
    const struct fulcrum_plot_heat_options *options,
    struct fulcrum_heat_chart_data *out, struct fulcrum_error *err)
{
    const char *metric = options->metric != NULL ? options->metric : "steps_per_s";
    size_t output = fulcrum_output_find(metric);
    const char *unit = output < FULCRUM_OUTPUT_COUNT ? fulcrum_output_unit(output) : "";
    *out = (struct fulcrum_heat_chart_data){.result = result,
        .metric = metric,
        .contours = options->contours,
        /* A unit that divides reads well on an axis only. */
        .unit = unit[0] == '\0' || unit[0] == '1' ? NULL : unit};
    if (!fulcrum_plot_rows_have(rows, metric)) {
        return fulcrum_plot_rows_fail_column(rows, "--metric", metric, err);
    }
    TRY(choose_axes(rows, options, out, err));
    out->x_label = label_of(result, "heat_x", out->x);
    out->y_label = label_of(result, "heat_y", out->y);
    /* "steps_per_j_system, performance per system watt, 1/J". */
    bool is_output = output < FULCRUM_OUTPUT_COUNT;
    char name[160];
    (void)snprintf(name, sizeof name, "%s%s%s%s%s", metric, is_output ? ", " : "",
        is_output ? fulcrum_output_meaning(output) : "", unit[0] != '\0' ? ", " : "",
        unit);
    out->value_name = keep_text(result, "heat_value", name);
    write_words(result, rows, out);
    return add_machines(result, options->machines, out, err);
}
