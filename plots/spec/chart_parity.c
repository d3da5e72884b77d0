/* chart_parity.c - predicted against measured, over all references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One cell for each kind of quantity: predicted against measured on logarithms, with
 * the line where both are equal, and below it the error of each point, which a plot
 * over several decades hides.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/page.h"
#include "plots/chart/panel.h"

enum {
    SERIES_MAX = FULCRUM_PARITY_FAMILIES_MAX + 1,
    EQUAL_STYLE = 7 /* grey */
};

static const double band_frac = 0.1;
static const double cell_gap_pt = 18.0;
/* Cells are not narrower than this where they can stand below each other. */
static const double least_cell_pt = 180.0;
/* Lower cells do without the errors. */
static const double strip_from_pt = 190.0;

/* The columns of values that series borrow, `count` each. */
enum column {
    MEASURED,
    MEASURED_LO,
    MEASURED_HI,
    PREDICTED,
    PREDICTED_LO,
    PREDICTED_HI,
    ERROR,
    ERROR_LO,
    ERROR_HI,
    COLUMNS
};

struct cell {
    struct fulcrum_panel panels[2];
    struct fulcrum_panel_series series[2][SERIES_MAX];
    struct fulcrum_stack stack;
    double equal[2]; /* ends of the line */
    double equal_lo[2];
    double equal_hi[2];
    char finding[96];
};

struct picture {
    const struct fulcrum_parity_data *data;
    double *columns[COLUMNS];
    unsigned char *hollow;
    struct cell cells[FULCRUM_PARITY_KINDS];
};

static const double zeros[2] = {0.0, 0.0};
static const double percent_lo[2] = {-100.0 * 0.1, -100.0 * 0.1};
static const double percent_hi[2] = {100.0 * 0.1, 100.0 * 0.1};

static bool is_usable(const struct fulcrum_parity_point *point)
{
    return isfinite(point->measured) && isfinite(point->predicted) &&
           point->measured > 0.0 && point->predicted > 0.0;
}

/* Points whose rounding reaches down to 0 keep the place of the point itself. */
static void put_point(
    struct picture *picture, size_t i, const struct fulcrum_parity_point *point)
{
    double half = isfinite(point->half_width) ? point->half_width : 0.0;
    double *const *to = picture->columns;
    to[MEASURED][i] = point->measured;
    to[MEASURED_LO][i] =
        half < point->measured ? point->measured - half : point->measured;
    to[MEASURED_HI][i] = point->measured + half;
    to[PREDICTED][i] = point->predicted;
    /* Intervals of fitted points would only hide those that count. */
    bool has_bar = !point->is_fitted && point->lo > 0.0 && point->hi > 0.0;
    to[PREDICTED_LO][i] = has_bar ? point->lo : (double)NAN;
    to[PREDICTED_HI][i] = has_bar ? point->hi : (double)NAN;
    for (int k = 0; k < 3; k++) {
        to[ERROR + k][i] = (to[PREDICTED + k][i] / point->measured - 1.0) * 100.0;
    }
    picture->hollow[i] = point->is_fitted ? 1 : 0;
}

/* Two views of the same points: a series in each panel. */
static void add_series(struct picture *picture, struct cell *cell, size_t style,
    size_t first, size_t count)
{
    double *const *from = picture->columns;
    size_t at = cell->panels[0].series_count++;
    cell->panels[1].series_count = cell->panels[0].series_count;
    cell->series[0][at] = (struct fulcrum_panel_series){.x = from[MEASURED] + first,
        .y = from[PREDICTED] + first,
        .lo = from[PREDICTED_LO] + first,
        .hi = from[PREDICTED_HI] + first,
        .x_lo = from[MEASURED_LO] + first,
        .x_hi = from[MEASURED_HI] + first,
        .hollow = picture->hollow + first,
        .count = count,
        .style = style,
        .look = FULCRUM_LOOK_POINTS};
    cell->series[1][at] = cell->series[0][at];
    cell->series[1][at].y = from[ERROR] + first;
    cell->series[1][at].lo = from[ERROR_LO] + first;
    cell->series[1][at].hi = from[ERROR_HI] + first;
}

/* Points that the fit has seen are no test and do not count. */
static void write_finding(struct picture *picture, enum fulcrum_parity_kind kind)
{
    const struct fulcrum_parity_data *data = picture->data;
    struct cell *cell = &picture->cells[kind];
    size_t predicted = 0;
    size_t fitted = 0;
    double error = 0.0;
    for (size_t i = 0; i < data->count; i++) {
        const struct fulcrum_parity_point *point = &data->points[i];
        if (point->kind != kind || !is_usable(point)) {
            continue;
        }
        predicted += point->is_fitted ? 0U : 1U;
        fitted += point->is_fitted ? 1U : 0U;
        error +=
            point->is_fitted ? 0.0 : fabs(point->predicted / point->measured - 1.0);
    }
    if (predicted > 0) {
        (void)snprintf(cell->finding, sizeof cell->finding,
            "mean error %.2g %% over %zu predicted", 100.0 * error / (double)predicted,
            predicted);
    } else {
        (void)snprintf(
            cell->finding, sizeof cell->finding, "%zu fitted, none predicted", fitted);
    }
}

static void start_cell(struct cell *cell, enum fulcrum_parity_kind kind)
{
    static const struct {
        const char *title;
        const char *x_label;
    } words[FULCRUM_PARITY_KINDS] = {
        [FULCRUM_PARITY_RATE] = {"Predicted steps/s", "measured steps/s"},
        [FULCRUM_PARITY_WATTS] = {"Predicted watts", "measured watts"},
        [FULCRUM_PARITY_RATIO] = {"Predicted ratios", "measured ratios"}};
    cell->panels[0] = (struct fulcrum_panel){.title = words[kind].title,
        .finding = cell->finding,
        .x_label = words[kind].x_label,
        .series = cell->series[0],
        .series_count = 1,
        .x_options = {.kind = FULCRUM_AXIS_LOG, .pad_frac = 0.05},
        .y_options = {.kind = FULCRUM_AXIS_LOG, .pad_frac = 0.05},
        .weight = 1.0};
    cell->panels[1] = (struct fulcrum_panel){.title = "Error, %",
        .x_label = words[kind].x_label,
        .series = cell->series[1],
        .series_count = 1,
        .x_options = cell->panels[0].x_options,
        .y_options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.08},
        .weight = 0.6};
    cell->stack.panels = cell->panels;
}

/* The points of a kind, family by family; returns how many there were. */
static size_t fill_cell(
    struct picture *picture, enum fulcrum_parity_kind kind, size_t first)
{
    const struct fulcrum_parity_data *data = picture->data;
    struct cell *cell = &picture->cells[kind];
    struct fulcrum_limits span = fulcrum_limits_none();
    size_t used = 0;
    start_cell(cell, kind);
    for (size_t family = 0; family < data->family_count; family++) {
        size_t begin = first + used;
        for (size_t i = 0; i < data->count; i++) {
            const struct fulcrum_parity_point *point = &data->points[i];
            if (point->kind == kind && point->family == family && is_usable(point)) {
                put_point(picture, first + used++, point);
                fulcrum_limits_add(&span, point->measured);
                fulcrum_limits_add(&span, point->predicted);
            }
        }
        if (first + used > begin) {
            add_series(picture, cell, family, begin, first + used - begin);
        }
    }
    /* The line of equal values, as long as the cloud, with 10 % to both sides. */
    const double ends[2] = {span.lo, span.hi};
    for (size_t i = 0; i < 2; i++) {
        cell->equal[i] = ends[i];
        cell->equal_lo[i] = ends[i] * (1.0 - band_frac);
        cell->equal_hi[i] = ends[i] * (1.0 + band_frac);
    }
    cell->series[0][0] = (struct fulcrum_panel_series){.x = cell->equal,
        .y = cell->equal,
        .lo = cell->equal_lo,
        .hi = cell->equal_hi,
        .count = 2,
        .style = EQUAL_STYLE,
        .look = FULCRUM_LOOK_CURVE};
    cell->series[1][0] = cell->series[0][0];
    cell->series[1][0].y = zeros;
    cell->series[1][0].lo = percent_lo;
    cell->series[1][0].hi = percent_hi;
    write_finding(picture, kind);
    cell->stack.count = used > 0 ? 2 : 0;
    return used;
}

/* What the points on the page have of each: only that is explained. */
static void fill_legend(
    struct fulcrum_page *page, const struct fulcrum_parity_data *data)
{
    bool has_family[FULCRUM_PARITY_FAMILIES_MAX] = {0};
    bool has_fitted = 0;
    bool has_predicted = 0;
    bool has_interval = 0;
    for (size_t i = 0; i < data->count; i++) {
        const struct fulcrum_parity_point *point = &data->points[i];
        if (is_usable(point)) {
            has_family[point->family] = 1;
            has_fitted |= point->is_fitted;
            has_predicted |= !point->is_fitted;
            has_interval |= !point->is_fitted && isfinite(point->lo);
        }
    }
    for (size_t i = 0; i < data->family_count; i++) {
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_MARKER, i, has_family[i] ? data->families[i] : NULL);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_MARKER, EQUAL_STYLE,
        has_predicted ? "filled: predicted" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_HOLLOW, EQUAL_STYLE,
        has_fitted ? "hollow: the fit has seen it" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_INTERVAL, EQUAL_STYLE,
        has_interval ? data->interval_name : NULL);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_BAND, EQUAL_STYLE, "equal, to within 10 %");
}

/* As many columns as are wide enough, and rows for the rest. */
static void draw_cells(
    struct fulcrum_canvas *canvas, struct fulcrum_rect body, struct picture *picture)
{
    size_t count = 0;
    for (size_t k = 0; k < FULCRUM_PARITY_KINDS; k++) {
        count += picture->cells[k].stack.count > 0 ? 1U : 0U;
    }
    double fitting = floor((body.x1 - body.x0 + cell_gap_pt) / least_cell_pt);
    size_t columns = (size_t)fmax(1.0, fmin((double)count, fitting));
    const struct fulcrum_grid grid = {
        columns, (count + columns - 1) / columns, cell_gap_pt};
    size_t i = 0;
    for (size_t k = 0; k < FULCRUM_PARITY_KINDS; k++) {
        struct cell *cell = &picture->cells[k];
        if (cell->stack.count == 0) {
            continue;
        }
        struct fulcrum_rect rect = fulcrum_grid_cell(&grid, body, i++);
        cell->stack.count = rect.y1 - rect.y0 < strip_from_pt ? 1 : 2;
        if (cell->stack.count == 2) {
            cell->panels[0].x_label = NULL;
        }
        fulcrum_stack_draw_in(canvas, &cell->stack, rect);
    }
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_parity_data *data = given;
    FAIL_IF(data->family_count > FULCRUM_PARITY_FAMILIES_MAX, err, FULCRUM_ERR_RANGE,
        "%zu families of references: a chart tells at most %d apart",
        data->family_count, (int)FULCRUM_PARITY_FAMILIES_MAX);
    return FULCRUM_OK;
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *data)
{
    struct picture *picture = room;
    picture->data = data;
    size_t count = picture->data->count;
    for (size_t k = 0; k < COLUMNS; k++) {
        picture->columns[k] =
            fulcrum_canvas_room(canvas, count, sizeof *picture->columns[k]);
    }
    picture->hollow = fulcrum_canvas_room(canvas, count, sizeof *picture->hollow);
    if (fulcrum_canvas_failure(canvas)->status != FULCRUM_OK) {
        return;
    }
    size_t used = 0;
    for (int kind = 0; kind < FULCRUM_PARITY_KINDS; kind++) {
        used += fill_cell(picture, (enum fulcrum_parity_kind)kind, used);
    }
    if (used == 0) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    fill_legend(page, data);
    fulcrum_page_draw(canvas, page);
    draw_cells(canvas, fulcrum_page_body(canvas, page), picture);
}

const struct fulcrum_chart fulcrum_chart_parity = {.name = "parity",
    .summary = "predicted against measured over all references, with errors",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
