/* plot_partition.c - placements of stages on a GPU, from `fulcrum partition`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_data.h"
#include "model/try.h"

/* Far more than a GPU holds, and countable. */
#define INSTANCES_MOST 1e6

enum { BARS_MOST = 24, NAME_SIZE = 160 };

struct fulcrum_plot_partition {
    size_t count;
    struct fulcrum_partition_bar bars[BARS_MOST];
    char names[BARS_MOST][NAME_SIZE];
    size_t kind_count;
    char kinds[FULCRUM_PARTITION_KINDS_MAX][NAME_SIZE];
    char title[200];
    char subtitle[300];
};

/* The placement of a row, new where its name is another than the last one's. */
static struct fulcrum_partition_bar *bar_of(
    struct fulcrum_plot_partition *plot, const char *name)
{
    if (plot->count > 0 && strcmp(plot->names[plot->count - 1], name) == 0) {
        return &plot->bars[plot->count - 1];
    }
    if (plot->count == BARS_MOST) {
        return NULL;
    }
    struct fulcrum_partition_bar *bar = &plot->bars[plot->count];
    (void)snprintf(plot->names[plot->count], NAME_SIZE, "%s", name);
    *bar = (struct fulcrum_partition_bar){.name = plot->names[plot->count],
        .takes_turns = strncmp(name, "time-sliced", 11) == 0};
    plot->count++;
    return bar;
}

/* KINDS_MAX where there are too many kinds of processes. */
static size_t kind_of(struct fulcrum_plot_partition *plot, const char *stages)
{
    size_t i = 0;
    while (i < plot->kind_count && strcmp(plot->kinds[i], stages) != 0) {
        i++;
    }
    if (i == plot->kind_count && i < FULCRUM_PARTITION_KINDS_MAX) {
        (void)snprintf(plot->kinds[i], NAME_SIZE, "%s", stages);
        plot->kind_count++;
    }
    return i;
}

static enum fulcrum_status add_part(const struct fulcrum_plot_rows *rows, size_t row,
    struct fulcrum_plot_partition *plot, struct fulcrum_partition_bar *bar,
    struct fulcrum_error *err)
{
    struct fulcrum_partition_part part = {.instances = (double)NAN};
    char stages[NAME_SIZE];
    const struct fulcrum_plot_cell cells[] = {{"part_instances", &part.instances},
        {"sm_frac", &part.sm_frac}, {"busy_frac", &part.busy_frac}, {.column = NULL}};
    enum fulcrum_status status = fulcrum_plot_rows_cells(rows, row, cells, err);
    fulcrum_plot_rows_text(rows, row, "stages", stages, sizeof stages);
    if (status != FULCRUM_OK || isnan(part.instances)) {
        return status;
    }
    if (!(part.instances >= 1.0 && part.instances <= INSTANCES_MOST &&
            part.instances == floor(part.instances))) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: part_instances = %.6g: expected a whole number from 1 to %.0f",
            bar->name, part.instances, INSTANCES_MOST);
    }
    part.kind = kind_of(plot, stages);
    if (bar->part_count == FULCRUM_PARTITION_PARTS_MAX ||
        part.kind == FULCRUM_PARTITION_KINDS_MAX) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: more parts, or kinds of processes, than the chart has room for",
            bar->name);
    }
    bar->parts[bar->part_count++] = part;
    return FULCRUM_OK;
}

/* "slices, best: 4g.20gb + 3g.20gb" */
static void name_of(
    const struct fulcrum_plot_rows *rows, size_t row, char *out, size_t size)
{
    char placement[64];
    char layout[90];
    fulcrum_plot_rows_text(rows, row, "placement", placement, sizeof placement);
    fulcrum_plot_rows_text(rows, row, "layout", layout, sizeof layout);
    (void)snprintf(
        out, size, "%s%s%s", placement, layout[0] != '\0' ? ": " : "", layout);
}

static enum fulcrum_status take_row(const struct fulcrum_plot_rows *rows, size_t row,
    struct fulcrum_plot_partition *plot, struct fulcrum_error *err)
{
    char name[NAME_SIZE];
    name_of(rows, row, name, sizeof name);
    struct fulcrum_partition_bar *bar = bar_of(plot, name);
    if (bar == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "more than %d placements: too many",
            (int)BARS_MOST);
    }
    const struct fulcrum_plot_cell cells[] = {{"steps_per_s", &bar->steps_per_s},
        {"speedup", &bar->speedup}, {"speedup_lo", &bar->speedup_lo},
        {"speedup_hi", &bar->speedup_hi}, {.column = NULL}};
    TRY(fulcrum_plot_rows_cells(rows, row, cells, err));
    return add_part(rows, row, plot, bar, err);
}

static void write_words(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_partition *plot)
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

enum fulcrum_status fulcrum_plot_partition_new(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_partition **out, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_plot_rows_need(rows, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct fulcrum_plot_partition *plot = calloc(1, sizeof *plot);
    if (plot == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the chart of placements");
    }
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows) && status == FULCRUM_OK; i++) {
        status = take_row(rows, i, plot, err);
    }
    if (status == FULCRUM_OK && plot->count > 0) {
        write_words(rows, plot);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_partition_free(plot);
        return status;
    }
    *out = plot;
    return FULCRUM_OK;
}

void fulcrum_plot_partition_free(struct fulcrum_plot_partition *plot)
{
    free(plot);
}

struct fulcrum_partition_data fulcrum_plot_partition_data(
    const struct fulcrum_plot_partition *plot, const struct fulcrum_plot_words *words)
{
    struct fulcrum_partition_data data = {
        .text = {.title = words->title != NULL ? words->title : plot->title,
            .subtitle = words->subtitle != NULL ? words->subtitle : plot->subtitle},
        .bars = plot->bars,
        .count = plot->count,
    };
    for (size_t k = 0; k < plot->kind_count; k++) {
        data.kinds[k] = plot->kinds[k];
    }
    return data;
}
