/* plot_memory.c - chart data from what `fulcrum memory` wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/plot/plot_data.h"
#include "model/try.h"

enum { CURVES = 8, PANELS = 2, POINTS_MOST = 1025, NAME_SIZE = 96 };

/* One curve's values: x, then y with its interval for each panel. */
struct curve {
    double key; /* a factor of bandwidth */
    char name[NAME_SIZE];
    size_t count;
    double x[POINTS_MOST];
    double y[PANELS][POINTS_MOST];
    double lo[PANELS][POINTS_MOST];
    double hi[PANELS][POINTS_MOST];
};

struct plot_memory {
    size_t curve_count;
    struct curve curves[CURVES];
    struct fulcrum_lines_line drawn[PANELS][CURVES];
    struct fulcrum_lines_panel panels[PANELS];
    struct fulcrum_lines_data data;
    char title[200];
    char subtitle[300];
    char footnote[400];
};

/* The curve of a key, new where it is the first; NULL: too many. */
static struct curve *curve_of(struct plot_memory *plot, double key)
{
    for (size_t i = 0; i < plot->curve_count; i++) {
        if (fabs(plot->curves[i].key - key) <= 1e-12 * fabs(key)) {
            return &plot->curves[i];
        }
    }
    if (plot->curve_count == CURVES) {
        return NULL;
    }
    struct curve *curve = &plot->curves[plot->curve_count++];
    curve->key = key;
    return curve;
}

static enum fulcrum_status fail_many(struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_RANGE,
        "more curves than %d, or more points of one than %d: fewer factors",
        (int)CURVES, (int)POINTS_MOST);
}

enum factor_cell {
    FACTOR_CACHE,
    FACTOR_BANDWIDTH,
    TIME,
    TIME_LO,
    TIME_HI,
    SPEEDUP,
    SPEEDUP_LO,
    SPEEDUP_HI,
    FACTOR_CELLS
};

static const char *const factor_columns[FACTOR_CELLS + 1] = {"cache_rel",
    "bandwidth_rel", "gpu_time_rel", "gpu_time_rel_lo", "gpu_time_rel_hi", "speedup",
    "speedup_lo", "speedup_hi", NULL};

static enum fulcrum_status take_factor_row(struct plot_memory *plot,
    const struct fulcrum_plot_rows *rows, size_t row, struct fulcrum_error *err)
{
    double cells[FACTOR_CELLS];
    TRY(fulcrum_plot_rows_numbers(rows, row, factor_columns, cells, err));
    struct curve *curve = curve_of(plot, cells[FACTOR_BANDWIDTH]);
    if (curve == NULL || curve->count == POINTS_MOST) {
        return fail_many(err);
    }
    size_t i = curve->count++;
    curve->x[i] = cells[FACTOR_CACHE];
    curve->y[0][i] = cells[SPEEDUP];
    curve->lo[0][i] = cells[SPEEDUP_LO];
    curve->hi[0][i] = cells[SPEEDUP_HI];
    curve->y[1][i] = cells[TIME];
    curve->lo[1][i] = cells[TIME_LO];
    curve->hi[1][i] = cells[TIME_HI];
    return FULCRUM_OK;
}

/* The machine's own comes first in the file: into its place along the curve. */
static void sort_first(struct curve *curve)
{
    for (size_t i = 1; i < curve->count && curve->x[i] < curve->x[i - 1]; i++) {
        double *columns[] = {curve->x, curve->y[0], curve->lo[0], curve->hi[0],
            curve->y[1], curve->lo[1], curve->hi[1]};
        for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
            double kept = columns[k][i];
            columns[k][i] = columns[k][i - 1];
            columns[k][i - 1] = kept;
        }
    }
}

static void name_bandwidths(
    struct plot_memory *plot, const struct fulcrum_plot_rows *rows)
{
    char machine[64];
    char workload[64];
    char calibration[128];
    fulcrum_plot_rows_text(rows, 0, "machine", machine, sizeof machine);
    fulcrum_plot_rows_text(rows, 0, "workload", workload, sizeof workload);
    fulcrum_plot_rows_text(rows, 0, "calibration", calibration, sizeof calibration);
    if (machine[0] != '\0') {
        (void)snprintf(plot->subtitle, sizeof plot->subtitle,
            "%s; workload %s; calibration %s", machine, workload, calibration);
    }
    for (size_t i = 0; i < plot->curve_count; i++) {
        struct curve *curve = &plot->curves[i];
        (void)snprintf(
            curve->name, sizeof curve->name, "%.4g times the bandwidth", curve->key);
        sort_first(curve);
    }
}

static bool has_interval(const struct curve *curve)
{
    int found = 0;
    for (size_t k = 0; k < curve->count; k++) {
        found |= isfinite(curve->lo[0][k]) != 0;
    }
    return found;
}

static bool has_intervals(const struct plot_memory *plot)
{
    int found = 0;
    for (size_t i = 0; i < plot->curve_count; i++) {
        found |= has_interval(&plot->curves[i]);
    }
    return found;
}

static void fill_panel(
    struct plot_memory *plot, size_t which, const char *title, int with_intervals)
{
    for (size_t i = 0; i < plot->curve_count; i++) {
        const struct curve *curve = &plot->curves[i];
        plot->drawn[which][i] = (struct fulcrum_lines_line){.name = curve->name,
            .x = curve->x,
            .y = curve->y[which],
            .lo = with_intervals ? curve->lo[which] : NULL,
            .hi = with_intervals ? curve->hi[which] : NULL,
            .count = curve->count,
            .style = i,
            .look = FULCRUM_LINE_MARKED};
    }
    plot->panels[which] = (struct fulcrum_lines_panel){.title = title,
        .lines = plot->drawn[which],
        .line_count = plot->curve_count,
        .y_kind = FULCRUM_AXIS_LINEAR};
}

static void finish_factors(
    struct plot_memory *plot, const struct fulcrum_plot_rows *rows)
{
    int with_intervals = has_intervals(plot);
    name_bandwidths(plot, rows);
    fill_panel(plot, 0, "Throughput, times as it is", with_intervals);
    fill_panel(plot, 1, "GPU time, times as it is", with_intervals);
    (void)snprintf(
        plot->title, sizeof plot->title, "Larger caches, faster memory: GPU and run");
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "All else equal: SMs, clocks, latencies, launches, CPU.%s",
        with_intervals
            ? " Intervals are of the ratios themselves, draw by draw; the exponent of "
              "the cache is drawn too unless it was set."
            : "");
    plot->data =
        (struct fulcrum_lines_data){.x_label = "last-level cache, times as it is",
            .interval_name = with_intervals ? "90 % interval" : NULL,
            .x_kind = FULCRUM_AXIS_LOG2,
            .panel_count = 2};
}

enum fulcrum_status fulcrum_plot_memory_data(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_room *room, struct fulcrum_lines_data *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_plot_rows_need(rows, err));
    struct plot_memory *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows); i++) {
        TRY(take_factor_row(plot, rows, i, err));
    }
    finish_factors(plot, rows);
    plot->data.panels = plot->panels;
    *out = plot->data;
    out->text =
        fulcrum_plot_text(&room->words, plot->title, plot->subtitle, plot->footnote);
    return FULCRUM_OK;
}
