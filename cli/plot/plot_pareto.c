/* plot_pareto.c - a chart of the front from the points of a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The front is found again among the rows of the file, so that a whole sweep can be
 * drawn as well as one of which `explore --pareto` wrote the front alone.
 */
#include "cli/plot/plot_data.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/sweep_columns.h"
#include "cli/plot/plot_source.h"
#include "model/study/sweep.h"
#include "model/try.h"

enum { NAME_SIZE = 96, LABEL_SIZE = 48, ENDS = 3 };

struct metric {
    char name[NAME_SIZE];
    enum fulcrum_sense sense;
    double *values[ENDS]; /* value, lo, hi; NULL where the file has no interval */
    char label[200];
};

struct plot_pareto {
    const struct fulcrum_plot_rows *rows;
    struct fulcrum_plot_room *room;
    struct metric metrics[FULCRUM_PARETO_METRICS_MOST];
    size_t metric_count;
    size_t *order; /* of the rows that ran */
    size_t count;
    unsigned char *on_front;
    char (*texts)[LABEL_SIZE];
    const char **labels;
    struct fulcrum_plot_headline headline;
};

static enum fulcrum_status add_metric(struct plot_pareto *plot, const char *name,
    enum fulcrum_sense sense, struct fulcrum_error *err)
{
    FAIL_IF(plot->metric_count == FULCRUM_PARETO_METRICS_MOST, err, FULCRUM_ERR_FORMAT,
        "a chart of a front takes two or three metrics");
    if (!fulcrum_plot_rows_have(plot->rows, name)) {
        return fulcrum_plot_rows_fail_column(plot->rows, "--pareto", name, err);
    }
    struct metric *metric = &plot->metrics[plot->metric_count++];
    (void)snprintf(metric->name, sizeof metric->name, "%s", name);
    metric->sense = sense;
    size_t output = fulcrum_output_find(name);
    if (sense == FULCRUM_SENSE_NONE && output < FULCRUM_OUTPUT_COUNT) {
        metric->sense = fulcrum_output_sense(output);
    }
    if (metric->sense == FULCRUM_SENSE_NONE) {
        metric->sense = FULCRUM_SENSE_LESS;
    }
    return FULCRUM_OK;
}

/* As the user says. */
static enum fulcrum_status parse_metrics(
    struct plot_pareto *plot, const char *text, struct fulcrum_error *err)
{
    struct fulcrum_front_list list = {.count = 0};
    TRY(fulcrum_front_list_parse(text, &list, err));
    for (size_t i = 0; i < list.count; i++) {
        TRY(add_metric(plot, list.items[i].name, list.items[i].sense, err));
    }
    return FULCRUM_OK;
}

/* As the file says: rows of metric and better. */
static enum fulcrum_status take_metrics(struct plot_pareto *plot,
    const struct fulcrum_plot_rows *said, struct fulcrum_error *err)
{
    for (size_t i = 0; i < fulcrum_plot_rows_count(said); i++) {
        char name[NAME_SIZE];
        char better[8];
        fulcrum_plot_rows_text(said, i, "metric", name, sizeof name);
        fulcrum_plot_rows_text(said, i, "better", better, sizeof better);
        TRY(add_metric(plot, name,
            strcmp(better, "more") == 0 ? FULCRUM_SENSE_MORE : FULCRUM_SENSE_LESS,
            err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_column(const struct plot_pareto *plot, const char *name,
    double **out, struct fulcrum_error *err)
{
    double *values =
        fulcrum_plot_room_take(plot->room, plot->count + 1, sizeof *values);
    for (size_t i = 0; i < plot->count; i++) {
        TRY(fulcrum_plot_rows_number(
            plot->rows, plot->order[i], name, &values[i], err));
    }
    *out = values;
    return FULCRUM_OK;
}

/* A field by its meaning, an output by its own name: "system_w, less is better". */
static void write_label(struct metric *metric)
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
    (void)snprintf(metric->label, sizeof metric->label, "%s: %s is better", label,
        metric->sense == FULCRUM_SENSE_MORE ? "more" : "less");
}

static enum fulcrum_status read_metric(
    const struct plot_pareto *plot, struct metric *metric, struct fulcrum_error *err)
{
    static const char *const ends[ENDS] = {"", "_lo", "_hi"};
    for (size_t i = 0; i < ENDS; i++) {
        char name[NAME_SIZE + 4];
        (void)snprintf(name, sizeof name, "%s%s", metric->name, ends[i]);
        if (fulcrum_plot_rows_have(plot->rows, name)) {
            TRY(read_column(plot, name, &metric->values[i], err));
        }
    }
    write_label(metric);
    return FULCRUM_OK;
}

static enum fulcrum_status find_front(
    struct plot_pareto *plot, struct fulcrum_error *err)
{
    enum fulcrum_sense senses[FULCRUM_PARETO_METRICS_MOST];
    struct fulcrum_pareto *pareto = NULL;
    for (size_t i = 0; i < plot->metric_count; i++) {
        senses[i] = plot->metrics[i].sense;
    }
    enum fulcrum_status status =
        fulcrum_pareto_new(senses, plot->metric_count, &pareto, err);
    for (size_t i = 0; i < plot->count && status == FULCRUM_OK; i++) {
        double values[FULCRUM_PARETO_METRICS_MOST];
        for (size_t j = 0; j < plot->metric_count; j++) {
            values[j] = plot->metrics[j].values[0][i];
        }
        status = fulcrum_pareto_add(pareto, i, values, err);
    }
    const struct fulcrum_pareto_point *front = NULL;
    size_t count = 0;
    if (status == FULCRUM_OK) {
        status = fulcrum_pareto_front(pareto, &front, &count, err);
    }
    for (size_t i = 0; i < count; i++) {
        plot->on_front[front[i].index] = 1;
    }
    fulcrum_pareto_free(pareto);
    return status;
}

/* "16 threads" of machine.cpu.thread_count, "40 sm_count"... behind what is there. */
static void append_value(char *out, const char *path, double value)
{
    char name[LABEL_SIZE];
    const char *last = strrchr(path, '.');
    (void)snprintf(name, sizeof name, "%s", last != NULL ? last + 1 : path);
    char *count = strstr(name, "_count");
    if (count != NULL) {
        *count = '\0';
    }
    size_t used = strlen(out);
    (void)snprintf(out + used, LABEL_SIZE - used, "%s%.4g %s%s", used > 0 ? ", " : "",
        value, strcmp(name, "gpu") == 0 ? "GPU" : name,
        count != NULL && value > 1.0 ? "s" : "");
}

/* What varies and is on no axis. */
static void write_point(
    const struct plot_pareto *plot, const struct fulcrum_plot_fields *fields, size_t i)
{
    for (size_t j = 0; j < fields->count; j++) {
        double value = (double)NAN;
        const char *path = fields->paths[j];
        bool is_shown = strcmp(path, plot->metrics[0].name) != 0 &&
                        strcmp(path, plot->metrics[1].name) != 0;
        if (is_shown && fulcrum_plot_rows_number(plot->rows, plot->order[i], path,
                            &value, NULL) == FULCRUM_OK) {
            append_value(plot->texts[i], path, value);
        }
    }
}

static struct fulcrum_pareto_axis axis_of(const struct metric *metric)
{
    bool has_interval = metric->values[1] != NULL && metric->values[2] != NULL;
    return (struct fulcrum_pareto_axis){.label = metric->label,
        .estimate = {metric->values[0], has_interval ? metric->values[1] : NULL,
            has_interval ? metric->values[2] : NULL},
        .more_is_better = metric->sense == FULCRUM_SENSE_MORE};
}

enum fulcrum_status fulcrum_plot_pareto_data(const struct fulcrum_plot_rows *rows,
    const struct fulcrum_plot_pareto_options *options, struct fulcrum_plot_room *room,
    struct fulcrum_pareto_data *out, struct fulcrum_error *err)
{
    size_t row_count = fulcrum_plot_rows_count(rows);
    struct plot_pareto *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->rows = rows;
    plot->room = room;
    plot->order = fulcrum_plot_room_take(room, row_count + 1, sizeof *plot->order);
    plot->on_front = fulcrum_plot_room_take(room, row_count + 1, 1);
    plot->texts = fulcrum_plot_room_take(room, row_count + 1, sizeof *plot->texts);
    plot->labels = fulcrum_plot_room_take(room, row_count + 1, sizeof *plot->labels);
    for (size_t i = 0; i < row_count; i++) {
        if (fulcrum_plot_row_is_ok(rows, i)) {
            plot->order[plot->count++] = i;
        }
    }
    TRY(options->metrics == NULL && options->said != NULL
            ? take_metrics(plot, options->said, err)
            : parse_metrics(plot,
                  options->metrics != NULL ? options->metrics : "steps_per_s,system_w",
                  err));
    FAIL_IF(plot->metric_count < 2, err, FULCRUM_ERR_FORMAT,
        "a chart of a front takes two or three metrics");
    for (size_t i = 0; i < plot->metric_count; i++) {
        TRY(read_metric(plot, &plot->metrics[i], err));
    }
    TRY(find_front(plot, err));
    struct fulcrum_plot_fields fields;
    TRY(fulcrum_plot_fields_find(rows, &fields, err));
    for (size_t i = 0; i < plot->count; i++) {
        write_point(plot, &fields, i);
        plot->labels[i] = plot->texts[i];
    }
    const struct fulcrum_plot_points points = {rows, plot->order, plot->count};
    fulcrum_plot_headline_fill(&plot->headline, &points);
    bool has_third = plot->metric_count > 2;
    *out = (struct fulcrum_pareto_data){
        .text = fulcrum_plot_headline_text(&plot->headline, &room->words),
        .x = axis_of(&plot->metrics[1]),
        .y = axis_of(&plot->metrics[0]),
        .third = has_third ? plot->metrics[2].values[0] : NULL,
        .third_label = has_third ? plot->metrics[2].name : NULL,
        .on_front = plot->on_front,
        .labels = plot->labels,
        .count = plot->count,
    };
    return FULCRUM_OK;
}
