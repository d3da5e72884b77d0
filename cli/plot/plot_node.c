/* plot_node.c - chart data from what `fulcrum node` and `fulcrum partition` wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line is a machine with one number of learners, over GPUs. Where every row has the
 * same number of GPUs the question was how many of them should learn: then lines go
 * over learners. Rows that cannot run are gaps.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/try.h"

enum { LINES = FULCRUM_NODE_LINES_MAX, POINTS_MOST = 1024, NAME_SIZE = 96 };

static const char *const panel_columns[FULCRUM_NODE_PANELS] = {
    "steps_per_s", "steps_per_j_gpu", "steps_per_j_system"};

/* One row's numbers. */
struct row {
    char machine[64];
    char bottleneck[16];
    double gpus;
    double learners;
    double value[FULCRUM_NODE_PANELS];
    double lo[FULCRUM_NODE_PANELS];
    double hi[FULCRUM_NODE_PANELS];
};

struct line {
    char machine[64];
    double key; /* learners; GPUs where lines go over learners */
    char name[NAME_SIZE];
    size_t count;
    double x[POINTS_MOST];
    double value[FULCRUM_NODE_PANELS][POINTS_MOST];
    double lo[FULCRUM_NODE_PANELS][POINTS_MOST];
    double hi[FULCRUM_NODE_PANELS][POINTS_MOST];
    unsigned char hollow[POINTS_MOST];
};

struct plot_node {
    size_t line_count;
    struct line lines[LINES];
    struct fulcrum_node_line drawn[LINES];
    struct fulcrum_node_data data;
    bool is_over_learners;
    bool has_learners;
    bool has_hollow;
    char title[120];
    char subtitle[420];
    char finding[160];
    char x_label[80];
};

static enum fulcrum_status read_ends(const struct fulcrum_plot_rows *rows, size_t i,
    size_t panel, struct row *out, struct fulcrum_error *err)
{
    struct fulcrum_interval interval = {(double)NAN, (double)NAN};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_rows_number(
        rows, i, panel_columns[panel], &out->value[panel], err));
    status = fulcrum_plot_rows_interval(rows, i, panel_columns[panel], &interval, err);
end:
    out->lo[panel] = interval.lo;
    out->hi[panel] = interval.hi;
    return status;
}

static enum fulcrum_status read_row(const struct fulcrum_plot_rows *rows, size_t i,
    struct row *out, struct fulcrum_error *err)
{
    fulcrum_plot_rows_text(rows, i, "machine", out->machine, sizeof out->machine);
    fulcrum_plot_rows_text(
        rows, i, "bottleneck", out->bottleneck, sizeof out->bottleneck);
    const struct fulcrum_plot_cell cells[] = {{"gpu_count", &out->gpus},
        {"learner_gpu_count", &out->learners}, {.column = NULL}};
    enum fulcrum_status status = fulcrum_plot_rows_cells(rows, i, cells, err);
    out->learners = isnan(out->learners) ? 0.0 : out->learners;
    for (size_t k = 0; k < FULCRUM_NODE_PANELS && status == FULCRUM_OK; k++) {
        status = read_ends(rows, i, k, out, err);
    }
    if (status == FULCRUM_OK && !(out->gpus >= 1.0)) {
        status = fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "row %zu: gpu_count is not given, or below 1", i + 1);
    }
    return status;
}

/* Whether GPUs stay and learners vary. */
static enum fulcrum_status look_ahead(struct plot_node *plot,
    const struct fulcrum_plot_rows *rows, struct fulcrum_error *err)
{
    double gpus = (double)NAN;
    double learners = (double)NAN;
    int same_gpus = 1;
    int same_learners = 1;
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows); i++) {
        struct row row;
        TRY(read_row(rows, i, &row, err));
        same_gpus = same_gpus && (i == 0 || row.gpus == gpus);
        same_learners = same_learners && (i == 0 || row.learners == learners);
        gpus = row.gpus;
        learners = row.learners;
        plot->has_learners |= row.learners > 0.0;
    }
    plot->is_over_learners = same_gpus && !same_learners;
    return FULCRUM_OK;
}

static struct line *line_of(struct plot_node *plot, const struct row *row)
{
    double key = plot->is_over_learners ? row->gpus : row->learners;
    for (size_t i = 0; i < plot->line_count; i++) {
        struct line *line = &plot->lines[i];
        if (strcmp(line->machine, row->machine) == 0 && line->key == key) {
            return line;
        }
    }
    if (plot->line_count == LINES) {
        return NULL;
    }
    struct line *line = &plot->lines[plot->line_count++];
    memcpy(line->machine, row->machine, sizeof line->machine);
    line->key = key;
    return line;
}

static enum fulcrum_status add_row(
    struct plot_node *plot, const struct row *row, struct fulcrum_error *err)
{
    double x = plot->is_over_learners ? row->learners : row->gpus;
    struct line *line = line_of(plot, row);
    FAIL_IF(line == NULL || line->count == POINTS_MOST, err, FULCRUM_ERR_RANGE,
        "more lines than %d, or more points of one than %d: fewer machines, "
        "learners or GPUs",
        (int)LINES, (int)POINTS_MOST);
    size_t i = line->count++;
    FAIL_IF(i > 0 && !(x > line->x[i - 1]), err, FULCRUM_ERR_FORMAT,
        "%s: %.6g after %.6g: expected rising numbers, each once", row->machine, x,
        line->x[i - 1]);
    line->x[i] = x;
    line->hollow[i] = strcmp(row->bottleneck, "cpu") == 0;
    plot->has_hollow |= line->hollow[i];
    for (size_t k = 0; k < FULCRUM_NODE_PANELS; k++) {
        line->value[k][i] = row->value[k];
        line->lo[k][i] = row->lo[k];
        line->hi[k][i] = row->hi[k];
    }
    return FULCRUM_OK;
}

static void name_line(const struct plot_node *plot, struct line *line)
{
    if (plot->is_over_learners || !plot->has_learners) {
        (void)snprintf(line->name, sizeof line->name, "%s", line->machine);
    } else if (line->key > 0.0) {
        (void)snprintf(line->name, sizeof line->name, "%s, %.6g learner%s",
            line->machine, line->key, line->key > 1.0 ? "s" : "");
    } else {
        (void)snprintf(
            line->name, sizeof line->name, "%s, each does both", line->machine);
    }
}

static bool has_interval(const struct line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        if (isfinite(line->lo[0][i])) {
            return 1;
        }
    }
    return 0;
}

/* Of one machine alone: of several there are too many for one sentence. */
static void find_best(struct plot_node *plot)
{
    const struct line *line = &plot->lines[0];
    size_t best = line->count;
    for (size_t i = 0; i < line->count; i++) {
        if (isfinite(line->value[0][i]) &&
            (best == line->count || line->value[0][i] > line->value[0][best])) {
            best = i;
        }
    }
    if (plot->line_count == 1 && line->count > 1 && best < line->count) {
        const char *unit = line->x[best] > 1.0 ? "GPUs" : "GPU";
        (void)snprintf(plot->finding, sizeof plot->finding, "most with %.6g %s",
            line->x[best], plot->is_over_learners ? "learning" : unit);
        plot->data.findings[0] = plot->finding;
    }
}

static void write_words(struct plot_node *plot, const struct fulcrum_plot_rows *rows)
{
    char workload[64];
    char calibration[128];
    char rule[160];
    fulcrum_plot_rows_text(rows, 0, "workload", workload, sizeof workload);
    fulcrum_plot_rows_text(rows, 0, "calibration", calibration, sizeof calibration);
    fulcrum_plot_rows_text(rows, 0, "actors_rule", rule, sizeof rule);
    (void)snprintf(plot->title, sizeof plot->title,
        plot->is_over_learners ? "GPUs that train beside GPUs that infer"
                               : "More GPUs beside the same processor");
    if (workload[0] != '\0') {
        (void)snprintf(plot->subtitle, sizeof plot->subtitle,
            "workload %s; calibration %s; actors: %s", workload, calibration, rule);
    }
    if (plot->is_over_learners) {
        (void)snprintf(plot->x_label, sizeof plot->x_label,
            "GPUs that train and do nothing else, of %.6g", plot->lines[0].key);
    } else {
        (void)snprintf(plot->x_label, sizeof plot->x_label, "GPUs used");
    }
}

static void finish(struct plot_node *plot, const struct fulcrum_plot_rows *rows)
{
    write_words(plot, rows);
    for (size_t i = 0; i < plot->line_count; i++) {
        struct line *line = &plot->lines[i];
        struct fulcrum_node_line *drawn = &plot->drawn[i];
        name_line(plot, line);
        *drawn = (struct fulcrum_node_line){.name = line->name,
            .x = line->x,
            .count = line->count,
            .hollow = line->hollow};
        for (size_t k = 0; k < FULCRUM_NODE_PANELS; k++) {
            drawn->panels[k] =
                (struct fulcrum_estimate){line->value[k], line->lo[k], line->hi[k]};
        }
    }
    bool is_one = plot->line_count == 1 && has_interval(&plot->lines[0]);
    plot->data = (struct fulcrum_node_data){.x_label = plot->x_label,
        .hollow_name = plot->has_hollow ? "hollow: CPU threads are short" : NULL,
        .interval_name = is_one ? "90 % interval" : NULL,
        .x_kind = plot->is_over_learners ? FULCRUM_AXIS_LINEAR : FULCRUM_AXIS_LOG2,
        .lines = plot->drawn,
        .line_count = plot->line_count};
    find_best(plot);
}

enum fulcrum_status fulcrum_plot_node_data(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_room *room, struct fulcrum_node_data *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_plot_rows_need(rows, err));
    struct plot_node *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    TRY(look_ahead(plot, rows, err));
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows); i++) {
        struct row row;
        TRY(read_row(rows, i, &row, err));
        TRY(add_row(plot, &row, err));
    }
    finish(plot, rows);
    *out = plot->data;
    out->text = fulcrum_plot_text(&room->words, plot->title, plot->subtitle,
        "Watts of the system count GPUs that are not used as idle. Times scaled from "
        "another machine, and watts of presets, are priors.");
    return FULCRUM_OK;
}

/* Placements of stages on a GPU, from `fulcrum partition`. */

/* Far more than a GPU holds, and countable. */
#define INSTANCES_MOST 1e6

enum { BARS_MOST = 24, PLOT_PARTITION_NAME_SIZE = 160 };

struct plot_partition {
    size_t count;
    struct fulcrum_partition_bar bars[BARS_MOST];
    char names[BARS_MOST][PLOT_PARTITION_NAME_SIZE];
    size_t kind_count;
    char kinds[FULCRUM_PARTITION_KINDS_MAX][PLOT_PARTITION_NAME_SIZE];
    char title[200];
    char subtitle[300];
};

/* The placement of a row, new where its name is another than the last one's. */
static struct fulcrum_partition_bar *bar_of(
    struct plot_partition *plot, const char *name)
{
    if (plot->count > 0 && strcmp(plot->names[plot->count - 1], name) == 0) {
        return &plot->bars[plot->count - 1];
    }
    if (plot->count == BARS_MOST) {
        return NULL;
    }
    struct fulcrum_partition_bar *bar = &plot->bars[plot->count];
    (void)snprintf(plot->names[plot->count], PLOT_PARTITION_NAME_SIZE, "%s", name);
    *bar = (struct fulcrum_partition_bar){.name = plot->names[plot->count],
        .takes_turns = strncmp(name, "time-sliced", 11) == 0};
    plot->count++;
    return bar;
}

/* KINDS_MAX where there are too many kinds of processes. */
static size_t kind_of(struct plot_partition *plot, const char *stages)
{
    size_t i = 0;
    while (i < plot->kind_count && strcmp(plot->kinds[i], stages) != 0) {
        i++;
    }
    if (i == plot->kind_count && i < FULCRUM_PARTITION_KINDS_MAX) {
        (void)snprintf(plot->kinds[i], PLOT_PARTITION_NAME_SIZE, "%s", stages);
        plot->kind_count++;
    }
    return i;
}

static enum fulcrum_status add_part(const struct fulcrum_plot_rows *rows, size_t row,
    struct plot_partition *plot, struct fulcrum_partition_bar *bar,
    struct fulcrum_error *err)
{
    struct fulcrum_partition_part part = {.instances = (double)NAN};
    char stages[PLOT_PARTITION_NAME_SIZE];
    const struct fulcrum_plot_cell cells[] = {{"part_instances", &part.instances},
        {"sm_frac", &part.sm_frac}, {"busy_frac", &part.busy_frac}, {.column = NULL}};
    enum fulcrum_status status = fulcrum_plot_rows_cells(rows, row, cells, err);
    fulcrum_plot_rows_text(rows, row, "stages", stages, sizeof stages);
    if (status != FULCRUM_OK || isnan(part.instances)) {
        return status;
    }
    FAIL_IF(!(part.instances >= 1.0 && part.instances <= INSTANCES_MOST &&
                part.instances == floor(part.instances)),
        err, FULCRUM_ERR_RANGE,
        "%s: part_instances = %.6g: expected a whole number from 1 to %.0f", bar->name,
        part.instances, INSTANCES_MOST);
    part.kind = kind_of(plot, stages);
    FAIL_IF(bar->part_count == FULCRUM_PARTITION_PARTS_MAX ||
                part.kind == FULCRUM_PARTITION_KINDS_MAX,
        err, FULCRUM_ERR_RANGE,
        "%s: more parts, or kinds of processes, than the chart has room for",
        bar->name);
    bar->parts[bar->part_count++] = part;
    return FULCRUM_OK;
}

static enum fulcrum_status take_row(const struct fulcrum_plot_rows *rows, size_t row,
    struct plot_partition *plot, struct fulcrum_error *err)
{
    char name[PLOT_PARTITION_NAME_SIZE];
    /* "slices, best: 4g.20gb + 3g.20gb" */
    char *out = name;
    size_t size = sizeof name;
    char placement[64];
    char layout[90];
    fulcrum_plot_rows_text(rows, row, "placement", placement, sizeof placement);
    fulcrum_plot_rows_text(rows, row, "layout", layout, sizeof layout);
    (void)snprintf(
        out, size, "%s%s%s", placement, layout[0] != '\0' ? ": " : "", layout);
    struct fulcrum_partition_bar *bar = bar_of(plot, name);
    FAIL_IF(bar == NULL, err, FULCRUM_ERR_RANGE, "more than %d placements: too many",
        (int)BARS_MOST);
    const struct fulcrum_plot_cell cells[] = {{"steps_per_s", &bar->steps_per_s},
        {"speedup", &bar->speedup}, {"speedup_lo", &bar->speedup_lo},
        {"speedup_hi", &bar->speedup_hi}, {.column = NULL}};
    TRY(fulcrum_plot_rows_cells(rows, row, cells, err));
    return add_part(rows, row, plot, bar, err);
}

static void plot_partition_write_words(
    const struct fulcrum_plot_rows *rows, struct plot_partition *plot)
{
    char gpu[96];
    char workload[64];
    char calibration[128];
    fulcrum_plot_rows_text(rows, 0, "gpu", gpu, sizeof gpu);
    fulcrum_plot_rows_text(rows, 0, "workload", workload, sizeof workload);
    fulcrum_plot_rows_text(rows, 0, "calibration", calibration, sizeof calibration);
    (void)snprintf(plot->title, sizeof plot->title, "%s on parts of %s%s",
        workload[0] != '\0' ? workload : "Training", gpu[0] != '\0' ? "one " : "a GPU",
        gpu);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle, "%s%s",
        calibration[0] != '\0' ? "calibration " : "", calibration);
}

enum fulcrum_status fulcrum_plot_partition_data(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_room *room, struct fulcrum_partition_data *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_plot_rows_need(rows, err));
    struct plot_partition *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows); i++) {
        TRY(take_row(rows, i, plot, err));
    }
    if (plot->count > 0) {
        plot_partition_write_words(rows, plot);
    }
    *out = (struct fulcrum_partition_data){
        .text = fulcrum_plot_text(&room->words, plot->title, plot->subtitle, NULL),
        .bars = plot->bars,
        .count = plot->count,
    };
    for (size_t k = 0; k < plot->kind_count; k++) {
        out->kinds[k] = plot->kinds[k];
    }
    return FULCRUM_OK;
}
