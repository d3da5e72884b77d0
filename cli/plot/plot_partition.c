/* plot_partition.c - chart data from what `fulcrum partition` wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/try.h"

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
