/* plot_sweep.c - what heat maps, fronts and charts over a ratio need beside a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/output/sweep_columns.h"
#include "model/design/design.h"
#include "model/number.h"
#include "model/predict/predict.h"
#include "model/study/sweep.h"
#include "model/try.h"

/* "hardware threads (machine.cpu.thread_count)", "throughput, 1/s (steps_per_s)"; the
 * name where it is neither a field nor an output. */
static void write_label(char *out, size_t size, const char *name)
{
    const struct fulcrum_field *field = fulcrum_field_find(name);
    size_t output = fulcrum_output_find(name);
    if (field == NULL && output >= FULCRUM_OUTPUT_COUNT) {
        (void)snprintf(out, size, "%s", name);
        return;
    }
    const char *meaning =
        field != NULL ? field->meaning : fulcrum_output_meaning(output);
    const char *unit = field != NULL ? field->unit : fulcrum_output_unit(output);
    /* What follows the first sentence is for lists of fields. */
    size_t length = field != NULL ? strcspn(meaning, ";:") : strlen(meaning);
    (void)snprintf(out, size, "%.*s%s%s (%s)", (int)length, meaning,
        unit[0] != '\0' ? ", " : "", unit, name);
}

/* The detail of a failure has columns that are near in name, or all there are. */
static enum fulcrum_status check_column(const struct fulcrum_table *table,
    const char *option, const char *column, struct fulcrum_error *err)
{
    enum { MOST = 256, HINT_BYTE = 1600 };
    const char *columns[MOST];
    char hint[HINT_BYTE];
    size_t count = fulcrum_table_columns(table);
    if (fulcrum_table_find(table, column) < count) {
        return FULCRUM_OK;
    }
    struct fulcrum_names names = {columns, 0, sizeof columns[0]};
    for (size_t j = 0; j < count && names.count < MOST; j++) {
        columns[names.count++] = fulcrum_table_column(table, j).key;
    }
    fulcrum_names_hint(&names, column, hint, sizeof hint);
    return fulcrum_fail(
        err, FULCRUM_ERR_FORMAT, "%s: no column '%s'%s", option, column, hint);
}

/* --- Heat maps --- */

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
    TRY(x != NULL ? check_column(points, "--x", x, err) : FULCRUM_OK);
    TRY(y != NULL ? check_column(points, "--y", y, err) : FULCRUM_OK);
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
        "%s varies too, beside %s and %s: a heat map takes a sweep over two fields",
        fulcrum_table_column(points, fields.columns[third]).key, x, y);
    *out = (struct axes){x, y};
    /* Points that differ in a text would lie over each other. */
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
    TRY(check_column(points, "--metric", metric_of(job), err));
    TRY(find_axes(job, points, &axes, err));
    /* Each flag of points that could run; the first reason stands for those that
     * could not. */
    struct fulcrum_string footnote = {0};
    size_t failed = fulcrum_plot_flags_add(&footnote, points);
    size_t row = 0;
    while (failed > 0 && fulcrum_plot_ran(points, row)) {
        row++;
    }
    if (failed > 0) {
        fulcrum_string_add(&footnote, "%s%zu of %zu points cannot run, one as %s",
            footnote.length > 0 ? "; " : "", failed, fulcrum_table_rows(points),
            fulcrum_chart_words(points, row, "status"));
    }
    fulcrum_result_text(result, "heat_footnote", NULL, fulcrum_string_get(&footnote));
    fulcrum_string_clear(&footnote);
    return add_landmarks(result, job->machines, axes.x, axes.y, err);
}

enum fulcrum_status fulcrum_plot_heat_draw(const struct fulcrum_plot_job *job,
    const struct fulcrum_result *result, const struct fulcrum_chart_text *text,
    struct fulcrum_canvas *canvas, struct fulcrum_error *err)
{
    const char *metric = metric_of(job);
    size_t output = fulcrum_output_find(metric);
    const char *unit = output < FULCRUM_OUTPUT_COUNT ? fulcrum_output_unit(output) : "";
    struct axes axes = {NULL, NULL};
    char x_label[200];
    char y_label[200];
    char value_name[200];
    TRY(find_axes(job, fulcrum_chart_table(result, "points"), &axes, err));
    write_label(x_label, sizeof x_label, axes.x);
    write_label(y_label, sizeof y_label, axes.y);
    write_label(value_name, sizeof value_name, metric);
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

/* --- Fronts --- */

/*
 * The front is found again among the rows of the file, so that a whole sweep can be
 * drawn as well as one of which `explore --pareto` wrote the front alone. Where points
 * are too many for bars to be told apart, those that are named have them.
 */

enum {
    COLOURS_MAX = 4,  /* groups of points by the third metric */
    NOTES_MAX = 10,   /* points that are named, and have bars where not all do */
    BARS_MAX = 12,    /* points of the front that have bars all of them */
    BEATEN_MAX = 4000 /* points behind the front that are drawn */
};

/* A point of the front, to be sorted. */
struct placed {
    double x;
    double y;
    size_t row;
};

/* Metrics go up, along, and by colour. */
struct front {
    struct fulcrum_table *points; /* of the sweep; borrowed */
    struct fulcrum_front_list metrics;
    struct fulcrum_plot_fields fields; /* those that are no axis */
    size_t known_count;                /* points that ran */
    struct placed *placed;             /* by x; owned */
    size_t count;
    size_t colour_count;
    struct fulcrum_interval colours[COLOURS_MAX]; /* of the third metric */
};

/* As the user says, else as the file does: rows of metric and better. */
static enum fulcrum_status find_metrics(struct front *front,
    const struct fulcrum_result *result, const char *text, struct fulcrum_error *err)
{
    const struct fulcrum_table *given = fulcrum_result_table_of(result, "pareto");
    struct fulcrum_string known = {0};
    for (size_t i = 0; i < fulcrum_table_rows(given); i++) {
        fulcrum_string_add(&known, "%s%s:%s", i > 0 ? "," : "",
            fulcrum_chart_words(given, i, "metric"),
            fulcrum_plot_says(given, i, "better", "more") ? "max" : "min");
    }
    const char *otherwise =
        known.length > 0 ? fulcrum_string_get(&known) : "steps_per_s,system_w";
    enum fulcrum_status status =
        fulcrum_front_list_parse(text != NULL ? text : otherwise, &front->metrics, err);
    fulcrum_string_clear(&known);
    TRY(status);
    for (size_t i = 0; i < front->metrics.count; i++) {
        struct fulcrum_front_item *item = &front->metrics.items[i];
        TRY(check_column(front->points, "--pareto", item->name, err));
        TRY(fulcrum_table_check_numbers(front->points, item->name, err));
        size_t output = fulcrum_output_find(item->name);
        if (item->sense == FULCRUM_SENSE_NONE && output < FULCRUM_OUTPUT_COUNT) {
            item->sense = fulcrum_output_sense(output);
        }
        item->sense =
            item->sense == FULCRUM_SENSE_NONE ? FULCRUM_SENSE_LESS : item->sense;
    }
    return FULCRUM_OK;
}

static double value_at(const struct front *front, size_t row, size_t metric)
{
    return fulcrum_plot_number(front->points, row, front->metrics.items[metric].name);
}

/* For qsort. */
static int compare_placed(const void *a, const void *b)
{
    const struct placed *left = a;
    const struct placed *right = b;
    int order = fulcrum_compare_numbers(&left->x, &right->x);
    order = order != 0 ? order : fulcrum_compare_numbers(&left->y, &right->y);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

static enum fulcrum_status find_front(struct front *front, struct fulcrum_error *err)
{
    enum fulcrum_sense senses[FULCRUM_PARETO_METRICS_MOST];
    struct fulcrum_pareto *pareto = NULL;
    const size_t *found = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t k = 0; k < front->metrics.count; k++) {
        senses[k] = front->metrics.items[k].sense;
    }
    TRY(fulcrum_pareto_new(senses, front->metrics.count, &pareto, err));
    for (size_t i = 0; i < fulcrum_table_rows(front->points); i++) {
        double values[FULCRUM_PARETO_METRICS_MOST];
        for (size_t k = 0; k < front->metrics.count; k++) {
            values[k] = value_at(front, i, k);
        }
        if (fulcrum_plot_ran(front->points, i)) {
            front->known_count++;
            TRY_OR_END(fulcrum_pareto_add(pareto, i, values, err));
        }
    }
    TRY_OR_END(fulcrum_pareto_front(pareto, &found, &front->count, err));
    front->placed = fulcrum_allocate(front->count + 1, sizeof *front->placed);
    for (size_t i = 0; i < front->count; i++) {
        front->placed[i] = (struct placed){
            value_at(front, found[i], 1), value_at(front, found[i], 0), found[i]};
    }
    qsort(front->placed, front->count, sizeof *front->placed, compare_placed);
end:
    fulcrum_pareto_free(pareto);
    return status;
}

static double third_of(const struct front *front, size_t row)
{
    return front->metrics.count > 2 ? value_at(front, row, 2) : 0.0;
}

static size_t colour_of(const struct front *front, double third)
{
    size_t colour = 0;
    while (colour + 1 < front->colour_count && third >= front->colours[colour + 1].lo) {
        colour++;
    }
    return colour;
}

/* Up to COLOURS_MAX groups of about as many points, by the third metric. */
static void find_colours(struct front *front)
{
    double *sorted = fulcrum_allocate(front->count + 1, sizeof *sorted);
    for (size_t i = 0; i < front->count; i++) {
        sorted[i] = third_of(front, front->placed[i].row);
    }
    qsort(sorted, front->count, sizeof *sorted, fulcrum_compare_numbers);
    for (size_t i = 0; i < COLOURS_MAX && front->count > 0; i++) {
        double from = sorted[i * front->count / COLOURS_MAX];
        if (i == 0 || from > front->colours[front->colour_count - 1].lo) {
            front->colours[front->colour_count++].lo = from;
        }
    }
    for (size_t i = 0; i < front->count; i++) {
        front->colours[colour_of(front, sorted[i])].hi = sorted[i];
    }
    free(sorted);
}

/* "run.gpu_count: 2 to 4", by the values that the points of a colour have. */
static void add_colour(const struct front *front, size_t index)
{
    const struct fulcrum_interval *colour = &front->colours[index];
    bool is_span = colour->hi > colour->lo;
    if (front->metrics.count < 3) {
        fulcrum_table_text(front->points, "colour", NULL, "on the front");
    } else {
        fulcrum_plot_print(front->points, "colour", "%s: %s%s%s",
            front->metrics.items[2].name, fulcrum_si_text(colour->lo, 3, NULL).chars,
            is_span ? " to " : "",
            is_span ? fulcrum_si_text(colour->hi, 3, NULL).chars : "");
    }
}

/* A point of the front. Some are named, evenly along it, its ends among them. */
static void add_front_point(const struct front *front, size_t place)
{
    struct fulcrum_table *table = front->points;
    size_t row = front->placed[place].row;
    struct fulcrum_cell x = fulcrum_table_at(table, row, front->metrics.items[1].name);
    struct fulcrum_cell y = fulcrum_table_at(table, row, front->metrics.items[0].name);
    bool is_more = front->metrics.items[1].sense == FULCRUM_SENSE_MORE;
    bool is_named = front->count <= NOTES_MAX;
    for (size_t i = 0; i < NOTES_MAX && !is_named; i++) {
        is_named = place == i * (front->count - 1) / (NOTES_MAX - 1);
    }
    if (!is_named && front->count > BARS_MAX) {
        x.lo = x.hi = y.lo = y.hi = FULCRUM_UNKNOWN;
    }
    fulcrum_table_return(table, row);
    fulcrum_plot_cell_add(table, "along", x);
    fulcrum_plot_cell_add(table, "front", y);
    /* What a point reaches, it reaches for more of a cost too. */
    if (front->metrics.count < 3) {
        fulcrum_table_number(
            table, is_more ? "holds_before" : "holds_after", NULL, y.number);
    }
    add_colour(front, colour_of(front, third_of(front, row)));
    if (is_named) {
        struct fulcrum_string note = {0};
        fulcrum_plot_fields_name(&note, table, &front->fields, row);
        fulcrum_table_text(table, "note", NULL, fulcrum_string_get(&note));
        fulcrum_string_clear(&note);
    }
}

/* Any other; returns whether it is behind the front. */
static bool add_other_point(const struct front *front, size_t row)
{
    struct fulcrum_table *table = front->points;
    size_t stride = fulcrum_table_rows(table) / BEATEN_MAX + 1;
    bool is_beaten = fulcrum_plot_ran(table, row);
    for (size_t k = 0; k < front->metrics.count; k++) {
        is_beaten = is_beaten && isfinite(value_at(front, row, k));
    }
    fulcrum_table_return(table, row);
    fulcrum_table_number(table, "along", NULL, value_at(front, row, 1));
    add_colour(front, 0);
    /* Of very many, some stand for all, evenly over the sweep. */
    if (is_beaten && row % stride == 0) {
        fulcrum_table_number(table, "beaten", NULL, value_at(front, row, 0));
    }
    if (is_beaten) {
        fulcrum_table_text(table, "state", NULL, "beaten");
    }
    return is_beaten;
}

static void label_axis(struct fulcrum_result *result, const char *key,
    const struct fulcrum_front_item *metric)
{
    char label[200];
    write_label(label, sizeof label, metric->name);
    fulcrum_result_print(result, key, NULL, "%s: %s is better", label,
        metric->sense == FULCRUM_SENSE_MORE ? "more" : "less");
}

/* Which points of a sweep no other beats. */
enum fulcrum_status fulcrum_plot_pareto_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct front front = {.points = fulcrum_chart_table(result, "points")};
    size_t beaten = 0;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(find_metrics(&front, result, job->pareto, err));
    TRY_OR_END(find_front(&front, err));
    find_colours(&front);
    /* What varies and is no axis names points. */
    const struct fulcrum_plot_fields all = fulcrum_plot_fields_of(front.points);
    for (size_t i = 0; i < all.count; i++) {
        const char *path = fulcrum_table_column(front.points, all.columns[i]).key;
        if (strcmp(path, front.metrics.items[0].name) != 0 &&
            strcmp(path, front.metrics.items[1].name) != 0) {
            front.fields.columns[front.fields.count++] = all.columns[i];
        }
    }
    for (size_t i = 0; i < front.count; i++) {
        add_front_point(&front, i);
    }
    for (size_t i = 0; i < fulcrum_table_rows(front.points); i++) {
        if (isnan(fulcrum_plot_number(front.points, i, "front"))) {
            beaten += add_other_point(&front, i) ? 1 : 0;
        }
    }
    label_axis(result, "label/x", &front.metrics.items[1]);
    label_axis(result, "label/y", &front.metrics.items[0]);
    if (front.count > BARS_MAX) {
        fulcrum_result_text(result, "label/bars", NULL, "90 % interval of some");
    }
    if (beaten > 0) {
        char text[96];
        (void)snprintf(text, sizeof text, "%zu of %zu points are on the front",
            front.count, front.known_count);
        fulcrum_plot_guide_add(result, 0, NULL, FULCRUM_UNKNOWN, text);
    }
end:
    free(front.placed);
    return status;
}
