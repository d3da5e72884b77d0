/* chart_calibration.c - what was measured on one machine, and what was fitted to it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plots/chart/page.h"
#include "plots/chart/panel.h"

enum {
    CELL_COUNT = 4,
    PANELS_PER_CELL = 2,
    SERIES_MAX = 3,
    LINE_POINTS = 65,
    ECDF_POINTS = 257
};

enum style { STYLE_SAMPLE, STYLE_FIT, STYLE_TABLE, STYLE_STEP, STYLE_RESET };

/* Between the columns and rows of cells. */
static const double cell_gap_pt = 16.0;
static const double log_from_factor = 12.0;

/* Main panel, and the strip of deviations from the fit below it. */
struct cell {
    struct fulcrum_panel panels[PANELS_PER_CELL];
    struct fulcrum_panel_series series[PANELS_PER_CELL][SERIES_MAX];
    struct fulcrum_stack stack;
    double zero_x[2];
};

struct picture {
    const struct fulcrum_calibration_data *data;
    struct cell cells[CELL_COUNT];
    double line_x[LINE_POINTS];
    double line_y[LINE_POINTS];
    double step_x[ECDF_POINTS];
    double reset_x[ECDF_POINTS];
    double share[ECDF_POINTS];
};

static const double zeros[2] = {0.0, 0.0};

/* Sizes that double need a logarithm only from a few doublings on. */
static enum fulcrum_axis_kind wide_kind(
    struct fulcrum_limits span, enum fulcrum_axis_kind wide)
{
    bool is_wide = span.lo > 0.0 && span.hi / span.lo >= log_from_factor;
    return is_wide ? wide : FULCRUM_AXIS_LINEAR;
}

/* A series without points is not added, so that a panel knows that it is empty. */
static void add_series(
    struct cell *cell, size_t panel, const struct fulcrum_panel_series series)
{
    if (series.count > 0) {
        cell->series[panel][cell->panels[panel].series_count++] = series;
    }
}

/* Samples come after curves, so that they lie on top. */
static void add_samples(struct cell *cell, size_t panel,
    const struct fulcrum_chart_samples *samples, const double *y)
{
    struct fulcrum_panel_series series = fulcrum_series_of(
        samples->x, y, samples->count, STYLE_SAMPLE, FULCRUM_LOOK_MARKERS);
    series.disturbed = samples->disturbed;
    add_series(cell, panel, series);
}

/* The curve of a fit, or a table that is used in its place. */
static void add_curve(struct cell *cell, const struct fulcrum_curve *curve,
    enum style style, enum fulcrum_series_look look)
{
    add_series(cell, 0,
        fulcrum_series_of(curve->x, curve->y, curve->count, (size_t)style, look));
}

/* Linear between the points, NaN beyond them. */
static double curve_at(const struct fulcrum_curve *curve, double x)
{
    for (size_t i = 0; i < curve->count; i++) {
        if (x > curve->x[i]) {
            continue;
        }
        if (x == curve->x[i]) {
            return curve->y[i];
        }
        if (i == 0) {
            break;
        }
        double share = (x - curve->x[i - 1]) / (curve->x[i] - curve->x[i - 1]);
        return curve->y[i - 1] + share * (curve->y[i] - curve->y[i - 1]);
    }
    return (double)NAN;
}

/* Percent by which values lie above a curve; NULL where memory is short. */
static double *deviations(struct fulcrum_canvas *canvas, const double *x,
    const double *y, size_t count, const struct fulcrum_curve *curve)
{
    double *deviation = fulcrum_canvas_room(canvas, count, sizeof *deviation);
    for (size_t i = 0; deviation != NULL && i < count; i++) {
        double expected = curve_at(curve, x[i]);
        deviation[i] = expected > 0.0 ? (y[i] / expected - 1.0) * 100.0 : (double)NAN;
    }
    return deviation;
}

/* The strip below a cell's main panel: samples as percent above the fit. */
static void add_strip(struct fulcrum_canvas *canvas, struct cell *cell,
    const struct fulcrum_chart_samples *samples, const struct fulcrum_curve *fit)
{
    if (samples->count == 0 || fit->count == 0) {
        return;
    }
    const double *deviation =
        deviations(canvas, samples->x, samples->y, samples->count, fit);
    if (deviation == NULL) {
        return;
    }
    struct fulcrum_panel *panels = cell->panels;
    panels[1] = (struct fulcrum_panel){.finding = "deviation from the fit, %",
        .x_label = panels[0].x_label,
        .empty_text = "the fit covers no sample",
        .series = cell->series[1],
        .x_options = panels[0].x_options,
        .y_options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.15},
        .weight = 0.38};
    panels[0].x_label = NULL;
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add_all(&span, samples->x, samples->count);
    cell->zero_x[0] = span.lo;
    cell->zero_x[1] = span.hi;
    add_series(cell, 1,
        fulcrum_series_of(cell->zero_x, zeros, 2, STYLE_FIT, FULCRUM_LOOK_CURVE));
    add_samples(cell, 1, samples, deviation);
    cell->stack.count = 2;
}

/* One panel with a title; a strip is added only if there is a fit. */
static void start_cell(struct cell *cell, const char *title, const char *x_label)
{
    cell->panels[0] = (struct fulcrum_panel){.title = title,
        .x_label = x_label,
        .empty_text = "not measured",
        .series = cell->series[0],
        .x_options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.04},
        .y_options = {.kind = FULCRUM_AXIS_AUTO, .pad_frac = 0.08, .from_zero = 1},
        .weight = 1.0};
    cell->stack.panels = cell->panels;
    cell->stack.count = 1;
}

/* How the CPU scales: the curve c(n) of docs/model.md "CPU curve" and its samples. */
static void fill_throughput(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_calibration_data *data = picture->data;
    struct cell *cell = &picture->cells[0];
    start_cell(cell, "Actors: throughput, steps/s", "threads");
    add_curve(cell, &data->throughput_fit, STYLE_FIT, FULCRUM_LOOK_CURVE);
    add_samples(cell, 0, &data->throughput, data->throughput.y);
    add_strip(canvas, cell, &data->throughput, &data->throughput_fit);
}

/* The line t(b) at sizes that follow each other by a constant factor. */
static struct fulcrum_curve batch_line(struct picture *picture)
{
    const struct fulcrum_calibration_data *data = picture->data;
    /* Over samples and table, no further. */
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add_all(&span, data->batch.x, data->batch.count);
    fulcrum_limits_add_all(&span, data->batch_table.x, data->batch_table.count);
    if (!(data->per_batch_s + data->per_item_s > 0.0) || !(span.lo > 0.0) ||
        !(span.lo <= span.hi)) {
        return (struct fulcrum_curve){.count = 0};
    }
    for (size_t i = 0; i < LINE_POINTS; i++) {
        double share = (double)i / (LINE_POINTS - 1);
        /* The ends exactly, so that samples there lie on the line's range. */
        double size =
            i == LINE_POINTS - 1 ? span.hi : span.lo * pow(span.hi / span.lo, share);
        picture->line_x[i] = size;
        picture->line_y[i] = data->per_batch_s + data->per_item_s * size;
    }
    return (struct fulcrum_curve){picture->line_x, picture->line_y, LINE_POINTS};
}

/* Batch times double over many sizes: both axes logarithmic, and a line bends. */
static void fill_batch(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_calibration_data *data = picture->data;
    struct cell *cell = &picture->cells[1];
    start_cell(cell, "Inference: time of a batch", "batch size");
    cell->panels[0].x_options.kind = FULCRUM_AXIS_LOG2;
    cell->panels[0].y_options.kind = FULCRUM_AXIS_LOG;
    cell->panels[0].y_options.unit = "s";
    struct fulcrum_curve line = batch_line(picture);
    add_curve(cell, &line, STYLE_FIT, FULCRUM_LOOK_CURVE);
    add_curve(cell, &data->batch_table, STYLE_TABLE, FULCRUM_LOOK_LINE);
    add_samples(cell, 0, &data->batch, data->batch.y);
    add_strip(canvas, cell, &data->batch, &line);
    if (cell->stack.count < 2 || data->batch_table.count == 0) {
        return;
    }
    const double *deviation = deviations(canvas, data->batch_table.x,
        data->batch_table.y, data->batch_table.count, &line);
    if (deviation != NULL) {
        add_series(cell, 1,
            fulcrum_series_of(data->batch_table.x, deviation, data->batch_table.count,
                STYLE_TABLE, FULCRUM_LOOK_CURVE));
    }
}

/* For qsort; NaN has been taken out before. */
static int compare_double(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

/*
 * The values below which `share` of the finite samples lie; as many as share has.
 * Returns 0 where there is no finite sample.
 */
static size_t quantiles(
    struct fulcrum_canvas *canvas, double *out, const double *samples, size_t count)
{
    double *sorted = fulcrum_canvas_room(canvas, count, sizeof *sorted);
    size_t kept = 0;
    for (size_t i = 0; sorted != NULL && i < count; i++) {
        if (isfinite(samples[i])) {
            sorted[kept++] = samples[i];
        }
    }
    if (kept > 0) {
        qsort(sorted, kept, sizeof *sorted, compare_double);
    }
    for (size_t i = 0; kept > 0 && i < ECDF_POINTS; i++) {
        double share = (double)i / (ECDF_POINTS - 1);
        out[i] = sorted[(size_t)lround(share * (double)(kept - 1))];
    }
    return kept > 0 ? ECDF_POINTS : 0;
}

/* A cumulative share needs no bins, which would hide or invent detail. */
static void fill_steps(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_calibration_data *data = picture->data;
    struct cell *cell = &picture->cells[2];
    start_cell(cell, "Steps: cumulative share", "time of one step");
    size_t steps = quantiles(canvas, picture->step_x, data->step_s, data->step_count);
    size_t resets =
        quantiles(canvas, picture->reset_x, data->reset_s, data->reset_count);
    for (size_t i = 0; i < ECDF_POINTS; i++) {
        picture->share[i] = (double)i / (ECDF_POINTS - 1);
    }
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add_all(&span, picture->step_x, steps);
    fulcrum_limits_add_all(&span, picture->reset_x, resets);
    cell->panels[0].x_options.kind = wide_kind(span, FULCRUM_AXIS_LOG);
    cell->panels[0].x_options.unit = "s";
    cell->panels[0].y_options.kind = FULCRUM_AXIS_LINEAR;
    cell->panels[0].y_options.pad_frac = 0.03;
    const struct fulcrum_curve step_curve = {picture->step_x, picture->share, steps};
    const struct fulcrum_curve reset_curve = {picture->reset_x, picture->share, resets};
    add_curve(cell, &step_curve, STYLE_STEP, FULCRUM_LOOK_CURVE);
    add_curve(cell, &reset_curve, STYLE_RESET, FULCRUM_LOOK_CURVE);
}

/* Time of a training step against what it trains on. */
static void fill_training(struct picture *picture)
{
    const struct fulcrum_calibration_data *data = picture->data;
    struct cell *cell = &picture->cells[3];
    start_cell(cell, "Training: time of a step",
        data->training_x_label != NULL ? data->training_x_label : "training batch");
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add_all(&span, data->training.x, data->training.count);
    cell->panels[0].x_options.kind = wide_kind(span, FULCRUM_AXIS_LOG2);
    cell->panels[0].y_options.unit = "s";
    add_curve(cell, &data->training_fit, STYLE_FIT, FULCRUM_LOOK_CURVE);
    add_samples(cell, 0, &data->training, data->training.y);
}

/* One legend for all cells, as they share their styles. */
static void fill_legend(
    struct fulcrum_page *page, const struct fulcrum_calibration_data *data)
{
    const struct fulcrum_chart_samples *const samples[] = {
        &data->throughput, &data->batch, &data->training};
    bool has_sample = 0;
    bool has_disturbed = 0;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        has_sample |= samples[i]->count > 0;
        has_disturbed |= fulcrum_any_flag(samples[i]->disturbed, samples[i]->count);
    }
    bool has_fit = data->throughput_fit.count + data->training_fit.count > 0 ||
                   data->per_batch_s + data->per_item_s > 0.0;
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_MARKER, STYLE_SAMPLE, has_sample ? "sample" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_DISTURBED, STYLE_SAMPLE,
        has_disturbed ? "disturbed sample, not fitted" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE, STYLE_FIT, has_fit ? "fit" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE_AND_MARKER, STYLE_TABLE,
        data->batch_table.count > 0 ? "table used instead" : NULL);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_LINE, STYLE_STEP, data->step_count > 0 ? "steps" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE, STYLE_RESET,
        data->reset_count > 0 ? "resets" : NULL);
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *data)
{
    struct picture *picture = room;
    picture->data = data;
    fill_throughput(canvas, picture);
    fill_batch(canvas, picture);
    fill_steps(canvas, picture);
    fill_training(picture);
    bool is_empty = 1;
    for (size_t i = 0; i < CELL_COUNT; i++) {
        is_empty = is_empty && fulcrum_panel_is_empty(&picture->cells[i].panels[0]);
    }
    if (is_empty) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    fill_legend(page, data);
    fulcrum_page_draw(canvas, page);
    /* Two columns unless the page is a narrow column itself. */
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    size_t columns = body.y1 - body.y0 > 1.6 * (body.x1 - body.x0) ? 1 : 2;
    const struct fulcrum_grid grid = {columns, CELL_COUNT / columns, cell_gap_pt};
    for (size_t i = 0; i < CELL_COUNT; i++) {
        fulcrum_stack_draw_in(
            canvas, &picture->cells[i].stack, fulcrum_grid_cell(&grid, body, i));
    }
}

const struct fulcrum_chart fulcrum_chart_calibration = {.name = "calibration",
    .summary = "samples, fitted curves and deviations of one calibration",
    .room_byte = sizeof(struct picture),
    .draw = draw};
