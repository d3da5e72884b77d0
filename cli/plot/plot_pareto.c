/* plot_pareto.c - what a chart of the front needs beside the points of a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The front is found again among the rows of the file, so that a whole sweep can be
 * drawn as well as one of which `explore --pareto` wrote the front alone. Where points
 * are too many for bars to be told apart, those that are named have them.
 */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/output/sweep_columns.h"
#include "model/interval.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/study/sweep.h"
#include "model/try.h"
#include "plots/chart/axis.h"

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
    size_t beaten_count;
    struct placed *placed; /* by x; owned */
    size_t count;
    size_t colour_count;
    struct fulcrum_interval colours[COLOURS_MAX]; /* of the third metric */
};

/* As the user says, else as the file does: rows of metric and better. */
static enum fulcrum_status find_metrics(struct front *front,
    const struct fulcrum_result *result, const char *text, struct fulcrum_error *err)
{
    const struct fulcrum_table *given = fulcrum_result_table_of(result, "pareto");
    struct fulcrum_front_list *list = &front->metrics;
    bool is_in_file = text == NULL && given != NULL;
    if (!is_in_file) {
        TRY(fulcrum_front_list_parse(
            text != NULL ? text : "steps_per_s,system_w", list, err));
    }
    size_t count = is_in_file ? fulcrum_table_rows(given) : list->count;
    FAIL_IF(count < 2 || count > FULCRUM_PARETO_METRICS_MOST, err, FULCRUM_ERR_FORMAT,
        "a chart of a front takes two or three metrics");
    list->count = count;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_front_item *item = &list->items[i];
        if (is_in_file) {
            bool is_more = fulcrum_plot_says(given, i, "better", "more");
            (void)snprintf(item->name, sizeof item->name, "%s",
                fulcrum_plot_text(given, i, "metric"));
            item->sense = is_more ? FULCRUM_SENSE_MORE : FULCRUM_SENSE_LESS;
        }
        TRY(fulcrum_plot_check_column(front->points, "--pareto", item->name, err));
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

static bool is_known(const struct front *front, size_t row)
{
    bool all = fulcrum_plot_ran(front->points, row);
    for (size_t k = 0; k < front->metrics.count; k++) {
        all = all && isfinite(value_at(front, row, k));
    }
    return all;
}

/* For qsort. */
static int compare_placed(const void *a, const void *b)
{
    const struct placed *left = a;
    const struct placed *right = b;
    int order = fulcrum_plot_compare(&left->x, &right->x);
    order = order != 0 ? order : fulcrum_plot_compare(&left->y, &right->y);
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
    qsort(sorted, front->count, sizeof *sorted, fulcrum_plot_compare);
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
static void add_colour(const struct front *front, const struct fulcrum_interval *colour)
{
    char lo[32];
    char hi[32];
    fulcrum_si_text(lo, sizeof lo, colour->lo, 3, NULL);
    fulcrum_si_text(hi, sizeof hi, colour->hi, 3, NULL);
    bool is_span = colour->hi > colour->lo;
    if (front->metrics.count < 3) {
        fulcrum_table_text(front->points, "colour", NULL, "on the front");
    } else {
        fulcrum_plot_print(front->points, "colour", "%s: %s%s%s",
            front->metrics.items[2].name, lo, is_span ? " to " : "", is_span ? hi : "");
    }
}

/* Some points of the front are named, evenly along it, its ends among them. */
static bool is_noted(const struct front *front, size_t place)
{
    bool is_one = front->count <= NOTES_MAX;
    for (size_t i = 0; i < NOTES_MAX && !is_one; i++) {
        is_one = place == i * (front->count - 1) / (NOTES_MAX - 1);
    }
    return is_one && place < front->count;
}

/* What varies and is no axis names points. */
static void find_fields(struct front *front)
{
    const struct fulcrum_plot_fields all = fulcrum_plot_fields_of(front->points);
    for (size_t i = 0; i < all.count; i++) {
        const char *path = fulcrum_table_column(front->points, all.columns[i]).key;
        if (strcmp(path, front->metrics.items[0].name) != 0 &&
            strcmp(path, front->metrics.items[1].name) != 0) {
            front->fields.columns[front->fields.count++] = all.columns[i];
        }
    }
}

/* The columns of the chart; what does not apply to a point is not known of it. */
static void add_place(struct front *front, size_t row, size_t place)
{
    bool is_front = place < front->count;
    bool has_bars = is_front && (front->count <= BARS_MAX || is_noted(front, place));
    size_t stride = fulcrum_table_rows(front->points) / BEATEN_MAX + 1;
    bool is_beaten = !is_front && is_known(front, row);
    bool is_more = front->metrics.items[1].sense == FULCRUM_SENSE_MORE;
    struct fulcrum_table *table = front->points;
    struct fulcrum_cell x = fulcrum_table_at(table, row, front->metrics.items[1].name);
    struct fulcrum_cell y = fulcrum_table_at(table, row, front->metrics.items[0].name);
    if (!has_bars) {
        x.lo = x.hi = FULCRUM_UNKNOWN;
        y.lo = y.hi = FULCRUM_UNKNOWN;
    }
    fulcrum_table_return(table, row);
    fulcrum_plot_cell_add(table, "along", x);
    if (is_front) {
        fulcrum_plot_cell_add(table, "front", y);
    }
    /* What a point reaches, it reaches for more of a cost too. */
    if (is_front && front->metrics.count < 3) {
        fulcrum_table_number(
            table, is_more ? "holds_before" : "holds_after", NULL, y.number);
    }
    /* Of very many, some stand for all, evenly over the sweep. */
    if (is_beaten && row % stride == 0) {
        fulcrum_table_number(table, "beaten", NULL, y.number);
    }
    if (is_beaten) {
        front->beaten_count++;
        fulcrum_table_text(table, "state", NULL, "beaten");
    }
    add_colour(
        front, &front->colours[is_front ? colour_of(front, third_of(front, row)) : 0]);
    if (is_noted(front, place)) {
        struct fulcrum_string note = {0};
        fulcrum_plot_fields_name(&note, table, &front->fields, row);
        fulcrum_table_text(table, "note", NULL, fulcrum_string_get(&note));
        fulcrum_string_clear(&note);
    }
}

/* A field by its meaning, an output by its own name: "system_w, less is better". */
static void label_axis(struct fulcrum_result *result, const char *key,
    const struct fulcrum_front_item *metric)
{
    char label[160];
    fulcrum_plot_field_label(label, sizeof label, metric->name);
    size_t output = fulcrum_output_find(metric->name);
    if (output < FULCRUM_OUTPUT_COUNT) {
        const char *unit = fulcrum_output_unit(output);
        (void)snprintf(label, sizeof label, "%s (%s%s%s)",
            fulcrum_output_meaning(output), metric->name, unit[0] != '\0' ? ", " : "",
            unit);
    }
    fulcrum_result_print(result, key, NULL, "%s: %s is better", label,
        metric->sense == FULCRUM_SENSE_MORE ? "more" : "less");
}

static void add_front_words(const struct front *front, struct fulcrum_result *result)
{
    label_axis(result, "label/x", &front->metrics.items[1]);
    label_axis(result, "label/y", &front->metrics.items[0]);
    if (front->count > BARS_MAX) {
        fulcrum_result_text(result, "label/bars", NULL, "90 % interval of some");
    }
    if (front->beaten_count > 0) {
        char text[96];
        (void)snprintf(text, sizeof text, "%zu of %zu points are on the front",
            front->count, front->known_count);
        fulcrum_plot_guide_add(result, 0, NULL, FULCRUM_UNKNOWN, text);
    }
}

/* Which points of a sweep no other beats. */
enum fulcrum_status fulcrum_plot_pareto_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct front front = {.points = fulcrum_chart_table(result, "points")};
    size_t rows = fulcrum_table_rows(front.points);
    size_t *places = fulcrum_allocate(rows + 1, sizeof *places);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(find_metrics(&front, result, job->pareto, err));
    TRY_OR_END(find_front(&front, err));
    find_colours(&front);
    find_fields(&front);
    for (size_t i = 0; i < rows; i++) {
        places[i] = front.count;
    }
    for (size_t i = 0; i < front.count; i++) {
        places[front.placed[i].row] = i;
    }
    for (size_t i = 0; i < rows; i++) {
        add_place(&front, i, places[i]);
    }
    add_front_words(&front, result);
end:
    free(front.placed);
    free(places);
    return status;
}
