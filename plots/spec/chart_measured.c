/* chart_measured.c - the real pipeline's throughput beside what was predicted of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small multiples: a cell for each batching rule and number of environments per actor,
 * all over the same actors. Below each, how far the prediction is off, on one scale for
 * all cells, so that the worst of them stands out.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/metric.h"

enum { PANELS_PER_CELL = 2, SERIES_MAX = 2, TEXT_SIZE = 128 };

enum style { STYLE_PREDICTED = 0, STYLE_MEASURED = 1, STYLE_ZERO = 7 };

static const double cell_gap_pt = 16.0;
/* Below this, ticks and titles leave nothing for the points. */
static const double least_cell_width_pt = 125.0;
static const double least_cell_height_pt = 105.0;
/* Wider than high, as lines over actors read best. */
static const double cell_aspect = 1.3;
/* Cells whose largest rates differ by more have a scale each. */
static const double shared_scale_factor = 4.0;

static const double zeros[2] = {0.0, 0.0};

/* Throughput, and below it the errors in percent; one after the other, lo and hi. */
struct cell {
    const struct fulcrum_measured_panel *data;
    struct fulcrum_panel panels[PANELS_PER_CELL];
    struct fulcrum_panel_series series[PANELS_PER_CELL][SERIES_MAX];
    struct fulcrum_stack stack;
    double *error;  /* owned: errors, ends of their intervals */
    double *failed; /* owned: actors */
    char title[TEXT_SIZE];
    char finding[TEXT_SIZE];
};

struct grid {
    size_t columns;
    size_t rows;
    double width_pt; /* of a cell */
    double height_pt;
};

struct picture {
    const struct fulcrum_measured_data *data;
    struct fulcrum_page page;
    struct fulcrum_limits actors;
    struct fulcrum_limits rates;
    struct fulcrum_limits errors;
    double zero_x[2];
    bool has_errors; /* somewhere, as the next: what the legend explains */
    bool has_prediction;
    bool has_interval;
    bool has_measured;
    bool has_disturbed;
    bool has_range;
    bool has_seen;
    bool has_failed;
    struct cell cells[FULCRUM_MEASURED_PANELS_MAX];
};

double fulcrum_measured_error(const struct fulcrum_measured_panel *panel, size_t i)
{
    const double *predicted = panel->predicted.value;
    return predicted != NULL && panel->steps_per_s[i] > 0.0
               ? predicted[i] / panel->steps_per_s[i] - 1.0
               : (double)NAN;
}

void fulcrum_measured_errors_add(struct fulcrum_measured_errors *errors, size_t *at,
    const struct fulcrum_measured_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++) {
        double error = fulcrum_measured_error(panel, i);
        bool is_seen = panel->seen != NULL && panel->seen[i];
        if (!isfinite(error) || panel->disturbed[i] || is_seen) {
            continue;
        }
        if (errors->count == 0 || fabs(error) > fabs(errors->largest_frac)) {
            errors->largest_frac = error;
            *at = i;
        }
        errors->count++;
        errors->sum_frac += fabs(error);
    }
}

static bool has_calm_error(const struct fulcrum_measured_data *data)
{
    struct fulcrum_measured_errors errors = {.count = 0};
    size_t at = 0;
    for (size_t i = 0; i < data->panel_count; i++) {
        fulcrum_measured_errors_add(&errors, &at, &data->panels[i]);
    }
    return errors.count > 0;
}

/* An end of the prediction's interval, in percent beside what was measured. */
static double end_error(
    const struct fulcrum_measured_panel *panel, const double *end, size_t i)
{
    return end != NULL && panel->steps_per_s[i] > 0.0
               ? 100.0 * (end[i] / panel->steps_per_s[i] - 1.0)
               : (double)NAN;
}

/* Disturbed points would widen the scale of the errors: they are shown among themselves
 * only. */
static enum fulcrum_status make_arrays(
    struct cell *cell, bool is_calm, struct fulcrum_error *err)
{
    const struct fulcrum_measured_panel *data = cell->data;
    size_t n = data->count;
    cell->error = calloc(3 * n + 1, sizeof *cell->error);
    cell->failed = calloc(n + 1, sizeof *cell->failed);
    FAIL_IF(cell->error == NULL || cell->failed == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "no memory for a chart");
    for (size_t i = 0; i < n; i++) {
        bool is_left_out = is_calm && data->disturbed[i];
        cell->error[i] =
            is_left_out ? (double)NAN : 100.0 * fulcrum_measured_error(data, i);
        cell->error[n + i] = end_error(data, data->predicted.lo, i);
        cell->error[2 * n + i] = end_error(data, data->predicted.hi, i);
        if (data->failed[i]) {
            cell->failed[cell->panels[0].guide_count++] = data->actor_count[i];
        }
    }
    return FULCRUM_OK;
}

/* "mean |error| 3.1 %, largest -7.2 %" */
static void write_finding(struct cell *cell)
{
    struct fulcrum_measured_errors errors = {.count = 0};
    size_t at = 0;
    fulcrum_measured_errors_add(&errors, &at, cell->data);
    if (errors.count > 0) {
        (void)snprintf(cell->finding, sizeof cell->finding,
            "mean |error| %.3g %%, largest %+.3g %%",
            100.0 * errors.sum_frac / (double)errors.count,
            100.0 * errors.largest_frac);
        return;
    }
    size_t known = 0;
    size_t disturbed = 0;
    for (size_t i = 0; i < cell->data->count; i++) {
        bool is_known = isfinite(fulcrum_measured_error(cell->data, i));
        known += is_known ? 1U : 0U;
        disturbed += is_known && cell->data->disturbed[i] ? 1U : 0U;
    }
    const char *why = disturbed == known ? "all disturbed" : "all seen by the fit";
    (void)snprintf(cell->finding, sizeof cell->finding, "%s", known > 0 ? why : "");
}

static void fill_throughput(struct picture *picture, struct cell *cell)
{
    const struct fulcrum_measured_panel *data = cell->data;
    struct fulcrum_panel *panel = &cell->panels[0];
    (void)snprintf(cell->title, sizeof cell->title, "%s, steps/s", data->name);
    panel->title = cell->title;
    panel->finding = cell->finding;
    panel->empty_text = "nothing measured";
    panel->series = cell->series[0];
    panel->x_options =
        (struct fulcrum_axis_options){.kind = FULCRUM_AXIS_LOG2, .pad_frac = 0.05};
    panel->y_options = (struct fulcrum_axis_options){
        .kind = FULCRUM_AXIS_AUTO, .pad_frac = 0.08, .from_zero = 1};
    panel->guides = cell->failed;
    panel->x_reach = &picture->actors;
    panel->weight = 1.0;
    if (data->predicted.value != NULL) {
        cell->series[0][panel->series_count++] =
            (struct fulcrum_panel_series){.x = data->actor_count,
                .y = data->predicted.value,
                .lo = data->predicted.lo,
                .hi = data->predicted.hi,
                .count = data->count,
                .style = STYLE_PREDICTED,
                .look = FULCRUM_LOOK_CURVE};
    }
    cell->series[0][panel->series_count++] =
        (struct fulcrum_panel_series){.x = data->actor_count,
            .y = data->steps_per_s,
            .lo = data->lo,
            .hi = data->hi,
            .disturbed = data->disturbed,
            .hollow = data->seen,
            .count = data->count,
            .style = STYLE_MEASURED,
            .look = FULCRUM_LOOK_POINTS};
}

/* Points of the prediction around zero, which is what was measured. */
static void fill_errors(struct picture *picture, struct cell *cell)
{
    const struct fulcrum_measured_panel *data = cell->data;
    struct fulcrum_panel *strip = &cell->panels[1];
    *strip = (struct fulcrum_panel){.finding = "error of the prediction, %",
        .empty_text = "nothing to compare",
        .series = cell->series[1],
        .x_options = cell->panels[0].x_options,
        .y_options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.12},
        .x_reach = &picture->actors,
        .y_reach = &picture->errors,
        .weight = 0.45};
    const struct fulcrum_panel_series errors = {.x = data->actor_count,
        .y = cell->error,
        .lo = cell->error + data->count,
        .hi = cell->error + 2 * data->count,
        .disturbed = data->disturbed,
        .hollow = data->seen,
        .count = data->count,
        .style = STYLE_PREDICTED,
        .look = FULCRUM_LOOK_POINTS};
    cell->series[1][0] = errors;
    strip->series_count = 1;
    if (!fulcrum_panel_is_empty(strip)) {
        cell->series[1][0] = (struct fulcrum_panel_series){.x = picture->zero_x,
            .y = zeros,
            .count = 2,
            .style = STYLE_ZERO,
            .look = FULCRUM_LOOK_CURVE};
        cell->series[1][1] = errors;
        strip->series_count = 2;
    }
}

static void add_values(
    struct fulcrum_limits *span, const double *values, const double *only, size_t count)
{
    for (size_t i = 0; values != NULL && i < count; i++) {
        if (only == NULL || isfinite(only[i])) {
            fulcrum_limits_add(span, values[i]);
        }
    }
}

/* What all cells have to show together. */
static void add_reach(struct picture *picture, const struct cell *cell)
{
    const struct fulcrum_measured_panel *data = cell->data;
    size_t n = data->count;
    add_values(&picture->actors, data->actor_count, NULL, n);
    add_values(&picture->rates, data->steps_per_s, NULL, n);
    add_values(&picture->rates, data->hi, data->steps_per_s, n);
    add_values(&picture->rates, data->predicted.value, NULL, n);
    add_values(&picture->rates, data->predicted.hi, data->predicted.value, n);
    add_values(&picture->errors, cell->error, NULL, n);
    add_values(&picture->errors, cell->error + n, cell->error, n);
    add_values(&picture->errors, cell->error + 2 * n, cell->error, n);
}

static void add_marks(struct picture *picture, const struct cell *cell)
{
    const struct fulcrum_measured_panel *data = cell->data;
    const struct fulcrum_estimate *predicted = &data->predicted;
    for (size_t i = 0; i < data->count; i++) {
        bool is_measured = isfinite(data->steps_per_s[i]);
        picture->has_errors |= isfinite(cell->error[i]);
        picture->has_measured |= is_measured && !data->disturbed[i];
        picture->has_disturbed |= is_measured && data->disturbed[i];
        picture->has_failed |= data->failed[i];
        picture->has_range |= is_measured && data->hi[i] > data->lo[i];
        picture->has_seen |= is_measured && data->seen != NULL && data->seen[i];
    }
    picture->has_prediction |= fulcrum_estimate_is_known(predicted, data->count);
    picture->has_interval |= fulcrum_estimate_has_interval(predicted, data->count);
}

static double largest_rate(const struct fulcrum_measured_panel *data)
{
    struct fulcrum_limits span = fulcrum_limits_none();
    add_values(&span, data->steps_per_s, NULL, data->count);
    add_values(&span, data->predicted.value, NULL, data->count);
    return span.lo <= span.hi ? span.hi : (double)NAN;
}

/* Rates compare at a glance on one scale, unless the smaller ones would drown in it. */
static int shares_scale(const struct fulcrum_measured_data *data)
{
    struct fulcrum_limits span = fulcrum_limits_none();
    for (size_t i = 0; i < data->panel_count; i++) {
        fulcrum_limits_add(&span, largest_rate(&data->panels[i]));
    }
    return span.lo > 0.0 && span.hi <= shared_scale_factor * span.lo;
}

static enum fulcrum_status fill_cells(
    struct picture *picture, struct fulcrum_error *err)
{
    const struct fulcrum_measured_data *data = picture->data;
    picture->actors = fulcrum_limits_none();
    picture->rates = fulcrum_limits_none();
    picture->errors = fulcrum_limits_none();
    bool is_calm = has_calm_error(data);
    for (size_t i = 0; i < data->panel_count; i++) {
        struct cell *cell = &picture->cells[i];
        cell->data = &data->panels[i];
        TRY(make_arrays(cell, is_calm, err));
        add_reach(picture, cell);
        add_marks(picture, cell);
    }
    picture->zero_x[0] = picture->actors.lo;
    picture->zero_x[1] = picture->actors.hi;
    bool is_shared = shares_scale(data);
    for (size_t i = 0; i < data->panel_count; i++) {
        struct cell *cell = &picture->cells[i];
        write_finding(cell);
        fill_throughput(picture, cell);
        cell->panels[0].y_reach = is_shared ? &picture->rates : NULL;
        fill_errors(picture, cell);
        cell->stack.panels = cell->panels;
        cell->stack.count = picture->has_errors ? PANELS_PER_CELL : 1;
    }
    return FULCRUM_OK;
}

static bool has_room(const struct grid *grid)
{
    return grid->width_pt >= least_cell_width_pt &&
           grid->height_pt >= least_cell_height_pt;
}

/* The number of columns that leaves cells largest, of those with room for them. */
static struct grid choose_grid(struct fulcrum_rect body, size_t count)
{
    struct grid best = {.columns = 0};
    double best_pt = -INFINITY;
    for (size_t columns = 1; columns <= count; columns++) {
        struct grid grid = {columns, (count + columns - 1) / columns, 0.0, 0.0};
        grid.width_pt =
            (body.x1 - body.x0 - cell_gap_pt * (double)(columns - 1)) / (double)columns;
        grid.height_pt =
            (body.y1 - body.y0 - 0.5 * cell_gap_pt * (double)(grid.rows - 1)) /
            (double)grid.rows;
        double size_pt = fmin(grid.width_pt / cell_aspect, grid.height_pt);
        bool is_better =
            has_room(&grid) == has_room(&best) ? size_pt > best_pt : has_room(&grid);
        if (is_better) {
            best = grid;
            best_pt = size_pt;
        }
    }
    return best;
}

static struct fulcrum_rect cell_rect(
    struct fulcrum_rect body, const struct grid *grid, size_t i)
{
    size_t column = i % grid->columns;
    size_t row = i / grid->columns;
    double x0 = body.x0 + (double)column * (grid->width_pt + cell_gap_pt);
    double y0 = body.y0 + (double)row * (grid->height_pt + 0.5 * cell_gap_pt);
    return (struct fulcrum_rect){x0, y0, x0 + grid->width_pt, y0 + grid->height_pt};
}

static void explain_measured(struct picture *picture)
{
    struct fulcrum_page *page = &picture->page;
    const struct fulcrum_measured_data *data = picture->data;
    if (picture->has_measured) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_MARKER, STYLE_MEASURED,
            data->measured_name != NULL ? data->measured_name
                                        : "measured: median of the windows");
    }
    if (picture->has_disturbed) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_DISTURBED, STYLE_MEASURED,
            picture->has_measured ? "disturbed, not among the errors" : "disturbed");
    }
    if (picture->has_seen) {
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_HOLLOW, STYLE_MEASURED, "hollow: the fit has seen it");
    }
    if (picture->has_range) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_INTERVAL,
            picture->has_measured ? STYLE_MEASURED : STYLE_ZERO,
            data->range_name != NULL ? data->range_name : "least to largest window");
    }
}

static void fill_legend(struct picture *picture)
{
    struct fulcrum_page *page = &picture->page;
    const char *interval = picture->data->interval_name;
    explain_measured(picture);
    if (picture->has_prediction) {
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_LINE_AND_MARKER, STYLE_PREDICTED, "predicted");
    }
    if (picture->has_interval) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_BAND, STYLE_PREDICTED,
            interval != NULL ? interval : "interval");
    }
    if (picture->has_failed) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_GUIDE, STYLE_ZERO, "failed");
    }
}

/* Frames of all cells begin at one distance, so that columns are in line. */
static void place_cells(const struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_rect body, const struct grid *grid)
{
    size_t count = picture->data->panel_count;
    const char *x_label =
        picture->data->x_label != NULL ? picture->data->x_label : "actors";
    /* A row above an empty place names its axis in all cells: frames stay in line. */
    size_t first_named = grid->rows - (count % grid->columns != 0 ? 2 : 1);
    double left_pt = 0.0;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_stack *stack = &picture->cells[i].stack;
        struct fulcrum_panel *lowest = &stack->panels[stack->count - 1];
        lowest->x_label = i / grid->columns >= first_named ? x_label : "";
        fulcrum_stack_fit(canvas, stack, cell_rect(body, grid, i));
        left_pt = fmax(left_pt, stack->left_pt);
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_stack *stack = &picture->cells[i].stack;
        stack->left_pt = left_pt;
        fulcrum_stack_place(canvas, stack, cell_rect(body, grid, i));
    }
}

static enum fulcrum_status draw_cells(
    struct fulcrum_canvas *canvas, struct picture *picture, struct fulcrum_error *err)
{
    size_t count = picture->data->panel_count;
    fill_legend(picture);
    struct fulcrum_rect body = fulcrum_page_body(canvas, &picture->page);
    struct grid grid = choose_grid(body, count);
    if (!has_room(&grid)) {
        struct fulcrum_extent page = fulcrum_canvas_extent(canvas);
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%zu panels on a page of %.4g x %.4g points: each would have %.0f x %.0f, "
            "expected at least %g x %g: a larger page has room",
            count, page.width_pt, page.height_pt, grid.width_pt, grid.height_pt,
            least_cell_width_pt, least_cell_height_pt);
    }
    place_cells(canvas, picture, body, &grid);
    fulcrum_page_draw(canvas, &picture->page);
    for (size_t i = 0; i < count; i++) {
        fulcrum_stack_draw(canvas, &picture->cells[i].stack);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_measured_data *data = given;
    FAIL_IF(data->panel_count > FULCRUM_MEASURED_PANELS_MAX, err, FULCRUM_ERR_RANGE,
        "%zu pairs of batching rule and environments per actor: a chart holds at "
        "most %d",
        data->panel_count, (int)FULCRUM_MEASURED_PANELS_MAX);
    return FULCRUM_OK;
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    enum fulcrum_status status = fill_cells(picture, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    bool is_shown =
        picture->has_measured || picture->has_disturbed || picture->has_failed;
    if (!is_shown) {
        fulcrum_page_draw_empty(canvas, &picture->page);
    } else {
        status = draw_cells(canvas, picture, err);
    }
    return status == FULCRUM_OK ? fulcrum_canvas_status(canvas, err) : status;
}

static void clear(void *room)
{
    struct picture *picture = room;
    for (size_t i = 0; i < FULCRUM_MEASURED_PANELS_MAX; i++) {
        free(picture->cells[i].error);
        free(picture->cells[i].failed);
    }
}

const struct fulcrum_chart fulcrum_chart_measured = {.name = "measured",
    .summary = "the real pipeline's throughput over the actors, beside its prediction",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw,
    .clear = clear};
