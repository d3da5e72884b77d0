/* plot_memory.c - memory systems, and parameters that meet a gain, as chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_data.h"
#include "model/try.h"

enum { CURVES = 8, PANELS = 2, POINTS_MOST = 1025, NAME_SIZE = 96 };

/* One curve's values: x, then y with its interval for each panel. */
struct curve {
    double key; /* a gain, or a factor of bandwidth */
    char name[NAME_SIZE];
    size_t count;
    double x[POINTS_MOST];
    double y[PANELS][POINTS_MOST];
    double lo[PANELS][POINTS_MOST];
    double hi[PANELS][POINTS_MOST];
    int is_point;
};

struct fulcrum_plot_memory {
    size_t curve_count;
    struct curve curves[CURVES];
    size_t guide_count;
    double guides[CURVES];
    struct fulcrum_lines_line drawn[PANELS][CURVES];
    struct fulcrum_lines_panel panels[PANELS];
    enum fulcrum_line_look look; /* of curves */
    struct fulcrum_lines_data data;
    char title[200];
    char subtitle[300];
    char footnote[400];
};

/* The curve of a key, new where it is the first; NULL: too many. */
static struct curve *curve_of(struct fulcrum_plot_memory *plot, double key)
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
        "more curves than %d, or more points of one than %d: fewer gains or factors",
        (int)CURVES, (int)POINTS_MOST);
}

/* --- Families ----------------------------------------------------------------------
 */

enum family_cell { GAIN, CACHE, BANDWIDTH, SHARE, EXPONENT, FAMILY_CELLS };

static const char *const family_columns[FAMILY_CELLS + 1] = {
    "gain_frac", "cache_rel", "bandwidth_rel", "dram_frac", "cache_exponent", NULL};

static enum fulcrum_status add_point(struct fulcrum_plot_memory *plot, double key,
    double x, double y, struct fulcrum_error *err)
{
    struct curve *curve = curve_of(plot, key);
    if (curve == NULL || curve->count == POINTS_MOST) {
        return fail_many(err);
    }
    curve->x[curve->count] = x;
    curve->y[0][curve->count++] = y;
    return FULCRUM_OK;
}

/* The workload's point has a curve of its own, whatever its gain. */
static enum fulcrum_status add_workload(struct fulcrum_plot_memory *plot,
    const struct fulcrum_plot_rows *rows, const double *cells,
    struct fulcrum_error *err)
{
    char workload[64];
    if (plot->curve_count == CURVES) {
        return fail_many(err);
    }
    fulcrum_plot_rows_text(rows, 0, "workload", workload, sizeof workload);
    struct curve *curve = &plot->curves[plot->curve_count++];
    curve->key = -1.0;
    curve->is_point = 1;
    (void)snprintf(curve->name, sizeof curve->name, "%s: gains %.1f %%",
        workload[0] != '\0' ? workload : "the workload", 100.0 * cells[GAIN]);
    curve->x[0] = cells[SHARE];
    curve->y[0][0] = cells[EXPONENT];
    curve->count = 1;
    return FULCRUM_OK;
}

static enum fulcrum_status take_family_row(struct fulcrum_plot_memory *plot,
    const struct fulcrum_plot_rows *rows, size_t row, struct fulcrum_error *err)
{
    char kind[32];
    double cells[FAMILY_CELLS];
    fulcrum_plot_rows_text(rows, row, "kind", kind, sizeof kind);
    TRY(fulcrum_plot_rows_numbers(rows, row, family_columns, cells, err));
    if (row == 0) {
        (void)snprintf(plot->subtitle, sizeof plot->subtitle,
            "%.4g times the cache and %.4g times the bandwidth: every point of a curve "
            "meets its gain exactly",
            cells[CACHE], cells[BANDWIDTH]);
    }
    if (strcmp(kind, "family") == 0) {
        return add_point(plot, cells[GAIN], cells[SHARE], cells[EXPONENT], err);
    }
    if (strcmp(kind, "bound") == 0 && plot->guide_count < CURVES) {
        plot->guides[plot->guide_count++] = cells[SHARE];
    }
    return strcmp(kind, "workload") == 0 ? add_workload(plot, rows, cells, err)
                                         : FULCRUM_OK;
}

static void name_gains(struct fulcrum_plot_memory *plot)
{
    for (size_t i = 0; i < plot->curve_count; i++) {
        struct curve *curve = &plot->curves[i];
        if (!curve->is_point) {
            (void)snprintf(curve->name, sizeof curve->name, "a gain of %.3g %%",
                100.0 * curve->key);
        }
    }
}

/* --- Memory systems ----------------------------------------------------------------
 */

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

static enum fulcrum_status take_factor_row(struct fulcrum_plot_memory *plot,
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
    struct fulcrum_plot_memory *plot, const struct fulcrum_plot_rows *rows)
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

/* -----------------------------------------------------------------------------------
 */

static int has_interval(const struct curve *curve)
{
    int found = 0;
    for (size_t k = 0; k < curve->count; k++) {
        found |= isfinite(curve->lo[0][k]) != 0;
    }
    return found;
}

static int has_intervals(const struct fulcrum_plot_memory *plot)
{
    int found = 0;
    for (size_t i = 0; i < plot->curve_count; i++) {
        found |= has_interval(&plot->curves[i]);
    }
    return found;
}

static void fill_panel(struct fulcrum_plot_memory *plot, size_t which,
    const char *title, const char *finding, int with_intervals)
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
            .look = curve->is_point ? FULCRUM_LINE_POINTS : plot->look};
    }
    plot->panels[which] = (struct fulcrum_lines_panel){.title = title,
        .finding = finding,
        .lines = plot->drawn[which],
        .line_count = plot->curve_count,
        .guides = plot->guides,
        .guide_count = plot->guide_count,
        .y_kind = FULCRUM_AXIS_LINEAR};
}

static void finish_families(struct fulcrum_plot_memory *plot)
{
    name_gains(plot);
    plot->look = FULCRUM_LINE_SMOOTH;
    fill_panel(plot, 0, "Exponent of the cache",
        "One gain, two unknowns: a curve, not a point", 0);
    (void)snprintf(plot->title, sizeof plot->title,
        "Which DRAM-bound share and cache exponent meet a gain");
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "The gain is put in: that a curve meets it is no prediction. Left of its bound "
        "no exponent meets a gain. Where a curve ends below, the cache saves nothing.");
    plot->data = (struct fulcrum_lines_data){
        .x_label = "share of GPU time bound by DRAM bandwidth",
        .guide_name = plot->guide_count > 0 ? "least share" : NULL,
        .x_kind = FULCRUM_AXIS_LINEAR,
        .from_zero = 1,
        .panel_count = 1};
}

static void finish_factors(
    struct fulcrum_plot_memory *plot, const struct fulcrum_plot_rows *rows)
{
    int with_intervals = has_intervals(plot);
    name_bandwidths(plot, rows);
    plot->look = FULCRUM_LINE_MARKED;
    fill_panel(plot, 0, "Throughput, times as it is", NULL, with_intervals);
    fill_panel(plot, 1, "GPU time, times as it is", NULL, with_intervals);
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

enum fulcrum_status fulcrum_plot_memory_new(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_memory **out, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_plot_rows_need(rows, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct fulcrum_plot_memory *plot = calloc(1, sizeof *plot);
    int is_family = fulcrum_plot_rows_have(rows, "cache_exponent");
    if (plot == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the chart of memory systems");
    }
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows) && status == FULCRUM_OK; i++) {
        status = is_family ? take_family_row(plot, rows, i, err)
                           : take_factor_row(plot, rows, i, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_memory_free(plot);
        return status;
    }
    if (is_family) {
        finish_families(plot);
    } else {
        finish_factors(plot, rows);
    }
    plot->data.panels = plot->panels;
    *out = plot;
    return FULCRUM_OK;
}

void fulcrum_plot_memory_free(struct fulcrum_plot_memory *plot)
{
    free(plot);
}

struct fulcrum_lines_data fulcrum_plot_memory_data(
    const struct fulcrum_plot_memory *plot, const struct fulcrum_plot_words *words)
{
    struct fulcrum_lines_data data = plot->data;
    data.text = (struct fulcrum_chart_text){
        .title = words->title != NULL ? words->title : plot->title,
        .subtitle = words->subtitle != NULL ? words->subtitle : plot->subtitle,
        .footnote = plot->footnote};
    return data;
}
