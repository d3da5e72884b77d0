/* plot_heat.c - a heat map from a sweep over two fields. */
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
#include "model/try.h"

/* A grid of which less than this is there is none: rather points strewn over two axes.
 */
static const double least_filled_frac = 0.25;

enum { LABEL_SIZE = 160 };

struct axis {
    const char *path; /* a column */
    double *values;   /* increasing */
    size_t count;
    char label[LABEL_SIZE];
};

struct plot_heat {
    const struct fulcrum_plot_rows *rows;
    struct fulcrum_plot_room *room;
    const char *metric;
    struct axis x;
    struct axis y;
    double *value; /* as these: y.count rows of x.count */
    double *ratio;
    double *lo; /* of the intervals of the values */
    double *hi;
    unsigned char *cannot_run;
    unsigned char *filled;
    size_t *order; /* of the rows that could run */
    size_t ok_count;
    size_t failed_count;
    struct fulcrum_plot_headline headline;
    char value_name[LABEL_SIZE];
    enum fulcrum_heat_contours contours;
    struct fulcrum_heat_machine machines[FULCRUM_HEAT_MACHINES_MAX];
    struct fulcrum_plot_landmarks landmarks;
    size_t machine_count;
};

/* What is good to have much or little of; the rest is neither. */
static const struct judgement {
    const char *metric;
    enum fulcrum_goal goal;
} judgements[] = {{"steps_per_s", FULCRUM_GOAL_MOST},
    {"frames_per_s", FULCRUM_GOAL_MOST}, {"steps_per_j_gpu", FULCRUM_GOAL_MOST},
    {"steps_per_j_system", FULCRUM_GOAL_MOST}, {"speedup", FULCRUM_GOAL_MOST},
    {"runtime_s", FULCRUM_GOAL_LEAST}, {"runtime_rel", FULCRUM_GOAL_LEAST},
    {"gpu_j", FULCRUM_GOAL_LEAST}, {"system_j", FULCRUM_GOAL_LEAST}};

static const struct judgement *judgement_of(const char *metric)
{
    for (size_t i = 0; i < sizeof judgements / sizeof judgements[0]; i++) {
        if (strcmp(judgements[i].metric, metric) == 0) {
            return &judgements[i];
        }
    }
    return NULL;
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

static enum fulcrum_status read_axis(
    struct plot_heat *plot, struct axis *axis, struct fulcrum_error *err)
{
    double *values = NULL;
    fulcrum_plot_field_label(axis->label, sizeof axis->label, axis->path);
    TRY(fulcrum_plot_rows_values(plot->rows, axis->path, &values, &axis->count, err));
    axis->values = fulcrum_plot_room_take(plot->room, axis->count + 1, sizeof *values);
    memcpy(axis->values, values, axis->count * sizeof *values);
    free(values);
    return FULCRUM_OK;
}

static enum fulcrum_status make_room(struct plot_heat *plot, struct fulcrum_error *err)
{
    size_t rows = fulcrum_plot_rows_count(plot->rows);
    double cells = (double)plot->x.count * (double)plot->y.count;
    FAIL_IF(rows >= 4 && (double)rows < least_filled_frac * cells, err,
        FULCRUM_ERR_FORMAT,
        "%zu points at %zu values of %s and %zu of %s are no grid: a heat map "
        "takes "
        "a sweep over every pair of values",
        rows, plot->x.count, plot->x.path, plot->y.count, plot->y.path);
    size_t count = plot->x.count * plot->y.count + 1;
    struct fulcrum_plot_room *room = plot->room;
    plot->value = fulcrum_plot_room_take(room, count, sizeof *plot->value);
    plot->ratio = fulcrum_plot_room_take(room, count, sizeof *plot->ratio);
    plot->lo = fulcrum_plot_room_take(room, count, sizeof *plot->lo);
    plot->hi = fulcrum_plot_room_take(room, count, sizeof *plot->hi);
    plot->cannot_run = fulcrum_plot_room_take(room, count, 1);
    plot->filled = fulcrum_plot_room_take(room, count, 1);
    plot->order = fulcrum_plot_room_take(room, rows + 1, sizeof *plot->order);
    for (size_t i = 0; i < count; i++) {
        plot->value[i] = (double)NAN;
        plot->ratio[i] = (double)NAN;
        plot->lo[i] = (double)NAN;
        plot->hi[i] = (double)NAN;
    }
    return FULCRUM_OK;
}

static int compare_values(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Where a value of the axis is; every finite one is there. */
static size_t index_of(const struct axis *axis, double value)
{
    const double *found = bsearch(
        &value, axis->values, axis->count, sizeof *axis->values, compare_values);
    return found != NULL ? (size_t)(found - axis->values) : axis->count;
}

static enum fulcrum_status find_cell(
    const struct plot_heat *plot, size_t row, size_t *out, struct fulcrum_error *err)
{
    double x = (double)NAN;
    double y = (double)NAN;
    TRY(fulcrum_plot_rows_number(plot->rows, row, plot->x.path, &x, err));
    TRY(fulcrum_plot_rows_number(plot->rows, row, plot->y.path, &y, err));
    FAIL_IF(!isfinite(x) || !isfinite(y), err, FULCRUM_ERR_FORMAT,
        "point %zu has no value of %s: every point of a heat map has its place",
        row + 1, isfinite(x) ? plot->y.path : plot->x.path);
    size_t cell = index_of(&plot->y, y) * plot->x.count + index_of(&plot->x, x);
    FAIL_IF(plot->filled[cell], err, FULCRUM_ERR_FORMAT,
        "two points at %s = %.6g, %s = %.6g: a heat map takes one for each pair of "
        "values",
        plot->x.path, x, plot->y.path, y);
    *out = cell;
    return FULCRUM_OK;
}

static enum fulcrum_status read_cell(
    const struct plot_heat *plot, size_t row, size_t cell, struct fulcrum_error *err)
{
    struct fulcrum_interval interval = {(double)NAN, (double)NAN};
    enum fulcrum_status status = fulcrum_plot_rows_number(
        plot->rows, row, plot->metric, &plot->value[cell], err);
    if (status == FULCRUM_OK) {
        status =
            fulcrum_plot_rows_interval(plot->rows, row, plot->metric, &interval, err);
    }
    plot->lo[cell] = interval.lo;
    plot->hi[cell] = interval.hi;
    if (status == FULCRUM_OK) {
        status = fulcrum_plot_rows_number(
            plot->rows, row, "cpu_gpu_ratio_used", &plot->ratio[cell], err);
    }
    return status;
}

static enum fulcrum_status add_row(
    struct plot_heat *plot, size_t row, struct fulcrum_error *err)
{
    size_t cell = 0;
    TRY(find_cell(plot, row, &cell, err));
    plot->filled[cell] = 1;
    if (!fulcrum_plot_row_is_ok(plot->rows, row)) {
        plot->cannot_run[cell] = 1;
        plot->failed_count++;
    } else {
        plot->order[plot->ok_count++] = row;
    }
    return read_cell(plot, row, cell, err);
}

/* The first reason stands for all. */
static void add_reason(struct plot_heat *plot)
{
    size_t count = fulcrum_plot_rows_count(plot->rows);
    for (size_t row = 0; row < count; row++) {
        if (!fulcrum_plot_row_is_ok(plot->rows, row)) {
            char reason[200];
            char note[260];
            fulcrum_plot_rows_text(plot->rows, row, "status", reason, sizeof reason);
            (void)snprintf(note, sizeof note, "%zu of %zu points cannot run, one as %s",
                plot->failed_count, count, reason);
            fulcrum_plot_headline_add_note(&plot->headline, note);
            return;
        }
    }
}

static enum fulcrum_status read_cells(struct plot_heat *plot, struct fulcrum_error *err)
{
    enum fulcrum_status status = make_room(plot, err);
    size_t count = fulcrum_plot_rows_count(plot->rows);
    for (size_t row = 0; row < count && status == FULCRUM_OK; row++) {
        status = add_row(plot, row, err);
    }
    if (status == FULCRUM_OK) {
        const struct fulcrum_plot_points points = {
            plot->rows, plot->order, plot->ok_count};
        fulcrum_plot_headline_fill(&plot->headline, &points);
        add_reason(plot);
    }
    return status;
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

static enum fulcrum_status place_machines(
    struct plot_heat *plot, const char *names, struct fulcrum_error *err)
{
    struct fulcrum_plot_landmarks *landmarks = &plot->landmarks;
    enum fulcrum_status status = fulcrum_plot_landmarks_load(names, landmarks, err);
    for (size_t i = 0; status == FULCRUM_OK && i < landmarks->count; i++) {
        double x = machine_value(&landmarks->machines[i], plot->x.path);
        double y = machine_value(&landmarks->machines[i], plot->y.path);
        if (isfinite(x) && isfinite(y)) {
            plot->machines[plot->machine_count++] =
                (struct fulcrum_heat_machine){landmarks->names[i], x, y};
        }
    }
    bool is_asked = names != NULL && strcmp(names, "none") != 0;
    FAIL_IF(status == FULCRUM_OK && is_asked && plot->machine_count == 0, err,
        FULCRUM_ERR_UNSUPPORTED,
        "--machines: none has a value of its own of both %s and %s", plot->x.path,
        plot->y.path);
    return status;
}

/* "performance per system watt, 1/J (steps_per_j_system)". */
static void name_value(struct plot_heat *plot)
{
    size_t output = fulcrum_output_find(plot->metric);
    if (output == FULCRUM_OUTPUT_COUNT) {
        (void)snprintf(plot->value_name, sizeof plot->value_name, "%s", plot->metric);
        return;
    }
    const char *unit = fulcrum_output_unit(output);
    (void)snprintf(plot->value_name, sizeof plot->value_name, "%s, %s%s%s",
        plot->metric, fulcrum_output_meaning(output), unit[0] != '\0' ? ", " : "",
        unit);
}

static enum fulcrum_status fill(struct plot_heat *plot,
    const struct fulcrum_plot_heat_options *options, struct fulcrum_error *err)
{
    struct fulcrum_plot_fields fields;
    plot->metric = options->metric != NULL ? options->metric : "steps_per_s";
    if (!fulcrum_plot_rows_have(plot->rows, plot->metric)) {
        return fulcrum_plot_rows_fail_column(plot->rows, "--metric", plot->metric, err);
    }
    plot->contours = options->contours;
    TRY(fulcrum_plot_fields_find(plot->rows, &fields, err));
    /* Two that vary make the axes, in their order, unless the user names them. */
    TRY(check_asked(plot->rows, options, err));
    plot->x.path = options->x != NULL ? options->x : free_field(&fields, options->y);
    plot->y.path = options->y != NULL ? options->y : free_field(&fields, plot->x.path);
    FAIL_IF(plot->x.path == NULL || plot->y.path == NULL, err, FULCRUM_ERR_FORMAT,
        "%s: a heat map takes a sweep over two (--vary twice), or columns named by "
        "--x and --y",
        plot->x.path == NULL ? "no field varies" : "only one field varies");
    FAIL_IF(strcmp(plot->x.path, plot->y.path) == 0, err, FULCRUM_ERR_FORMAT,
        "%s on both axes: expected two different columns", plot->x.path);
    /* Points that differ in something else too would lie over each other. */
    for (size_t i = 0; i < fields.count; i++) {
        FAIL_IF(strcmp(fields.paths[i], plot->x.path) != 0 &&
                    strcmp(fields.paths[i], plot->y.path) != 0,
            err, FULCRUM_ERR_FORMAT,
            "%s varies too, with %zu values, beside %s and %s: a heat map takes a "
            "sweep over two fields",
            fields.paths[i], fields.value_counts[i], plot->x.path, plot->y.path);
    }
    static const char *const texts[] = {"machine", "workload", "calibration"};
    size_t count = fulcrum_plot_rows_count(plot->rows);
    for (size_t i = 0; i < count * 3; i++) {
        char first[120];
        char here[120];
        fulcrum_plot_rows_text(plot->rows, 0, texts[i % 3], first, sizeof first);
        fulcrum_plot_rows_text(plot->rows, i / 3, texts[i % 3], here, sizeof here);
        FAIL_IF(strcmp(first, here) != 0, err, FULCRUM_ERR_FORMAT,
            "the %s varies too, '%s' and '%s': a heat map takes a sweep over two "
            "fields",
            texts[i % 3], first, here);
    }
    TRY(read_axis(plot, &plot->x, err));
    TRY(read_axis(plot, &plot->y, err));
    TRY(read_cells(plot, err));
    name_value(plot);
    return place_machines(plot, options->machines, err);
}

/* A unit that divides reads well on an axis only. */
static const char *unit_of(const char *metric)
{
    size_t output = fulcrum_output_find(metric);
    const char *unit = output < FULCRUM_OUTPUT_COUNT ? fulcrum_output_unit(output) : "";
    return unit[0] == '\0' || unit[0] == '1' ? NULL : unit;
}

/* What ratio is shown is drawn as colour; lines of it would only repeat that. */
static int shows_ratio(const struct plot_heat *plot)
{
    return strncmp(plot->metric, "cpu_gpu_ratio", strlen("cpu_gpu_ratio")) == 0;
}

enum fulcrum_status fulcrum_plot_heat_data(const struct fulcrum_plot_rows *rows,
    const struct fulcrum_plot_heat_options *options, struct fulcrum_plot_room *room,
    struct fulcrum_heat_data *out, struct fulcrum_error *err)
{
    struct plot_heat *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->rows = rows;
    plot->room = room;
    TRY(fill(plot, options, err));
    const struct judgement *judgement = judgement_of(plot->metric);
    *out = (struct fulcrum_heat_data){
        .text = fulcrum_plot_headline_text(&plot->headline, &room->words),
        .x = {plot->x.label, plot->x.values, plot->x.count},
        .y = {plot->y.label, plot->y.values, plot->y.count},
        .value = plot->value,
        .lo = plot->lo,
        .hi = plot->hi,
        .interval_name = "90 % interval",
        .cannot_run = plot->cannot_run,
        .cpu_gpu_ratio = shows_ratio(plot) ? NULL : plot->ratio,
        .value_name = plot->value_name,
        .unit = unit_of(plot->metric),
        .goal = judgement != NULL ? judgement->goal : FULCRUM_GOAL_MOST,
        .unjudged = judgement == NULL,
        .contours = plot->contours,
        .machines = plot->machines,
        .machine_count = plot->machine_count,
    };
    return FULCRUM_OK;
}
