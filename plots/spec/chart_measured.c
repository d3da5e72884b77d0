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
#include "plots/chart/panel.h"

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
    double *error;  /* errors, ends of their intervals */
    double *failed; /* actors */
    char title[TEXT_SIZE];
    char finding[TEXT_SIZE];
};

struct picture {
    const struct fulcrum_measured_data *data;
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

/* A prediction over what was measured, less 1; NAN where one of them is missing. */
static double error_of(
    const struct fulcrum_measured_panel *panel, const double *predicted, size_t i)
{
    return predicted != NULL && panel->steps_per_s[i] > 0.0
               ? predicted[i] / panel->steps_per_s[i] - 1.0
               : (double)NAN;
}

void fulcrum_measured_errors_add(struct fulcrum_measured_errors *errors, size_t *at,
    const struct fulcrum_measured_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++) {
        double error = error_of(panel, panel->predicted.value, i);
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

/*
 * Disturbed points would widen the scale of the errors: they are shown among themselves
 * only. Returns 0 where memory is short.
 */
static bool make_arrays(struct fulcrum_canvas *canvas, struct cell *cell, bool is_calm)
{
    const struct fulcrum_measured_panel *data = cell->data;
    size_t n = data->count;
    cell->error = fulcrum_canvas_room(canvas, 3 * n, sizeof *cell->error);
    cell->failed = fulcrum_canvas_room(canvas, n, sizeof *cell->failed);
    if (cell->error == NULL || cell->failed == NULL) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        bool is_left_out = is_calm && data->disturbed[i];
        cell->error[i] = is_left_out ? (double)NAN
                                     : 100.0 * error_of(data, data->predicted.value, i);
        cell->error[n + i] = 100.0 * error_of(data, data->predicted.lo, i);
        cell->error[2 * n + i] = 100.0 * error_of(data, data->predicted.hi, i);
        if (data->failed[i]) {
            cell->failed[cell->panels[0].guide_count++] = data->actor_count[i];
        }
    }
    return 1;
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
        bool is_known = isfinite(error_of(cell->data, cell->data->predicted.value, i));
        known += is_known ? 1U : 0U;
        disturbed += is_known && cell->data->disturbed[i] ? 1U : 0U;
    }
    const char *why = disturbed == known ? "all disturbed" : "all seen by the fit";
    (void)snprintf(cell->finding, sizeof cell->finding, "%s", known > 0 ? why : "");
}

static struct fulcrum_panel_series measured_series(
    const struct cell *cell, const struct fulcrum_estimate *values, size_t style)
{
    struct fulcrum_panel_series series = fulcrum_series_estimated(
        cell->data->actor_count, values, cell->data->count, style, FULCRUM_LOOK_POINTS);
    series.disturbed = cell->data->disturbed;
    series.hollow = cell->data->seen;
    return series;
}

static void fill_throughput(struct picture *picture, struct cell *cell, bool is_shared)
{
    const struct fulcrum_measured_panel *data = cell->data;
    struct fulcrum_panel *panel = &cell->panels[0];
    const struct fulcrum_estimate measured = {data->steps_per_s, data->lo, data->hi};
    (void)snprintf(cell->title, sizeof cell->title, "%s, steps/s", data->name);
    *panel = (struct fulcrum_panel){.title = cell->title,
        .finding = cell->finding,
        .empty_text = "nothing measured",
        .series = cell->series[0],
        .x_options = {.kind = FULCRUM_AXIS_LOG2, .pad_frac = 0.05},
        .y_options = {.kind = FULCRUM_AXIS_AUTO, .pad_frac = 0.08, .from_zero = 1},
        .guides = cell->failed,
        .guide_count = panel->guide_count,
        .x_reach = &picture->actors,
        .y_reach = is_shared ? &picture->rates : NULL,
        .weight = 1.0};
    if (data->predicted.value != NULL) {
        cell->series[0][panel->series_count++] =
            fulcrum_series_estimated(data->actor_count, &data->predicted, data->count,
                STYLE_PREDICTED, FULCRUM_LOOK_CURVE);
    }
    cell->series[0][panel->series_count++] =
        measured_series(cell, &measured, STYLE_MEASURED);
}

/* Points of the prediction around zero, which is what was measured. */
static void fill_errors(struct picture *picture, struct cell *cell)
{
    size_t n = cell->data->count;
    const struct fulcrum_estimate errors = {
        cell->error, cell->error + n, cell->error + 2 * n};
    struct fulcrum_panel *strip = &cell->panels[1];
    *strip = (struct fulcrum_panel){.finding = "error of the prediction, %",
        .empty_text = "nothing to compare",
        .series = &cell->series[1][1],
        .series_count = 1,
        .x_options = cell->panels[0].x_options,
        .y_options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.12},
        .x_reach = &picture->actors,
        .y_reach = &picture->errors,
        .weight = 0.45};
    cell->series[1][0] =
        fulcrum_series_of(picture->zero_x, zeros, 2, STYLE_ZERO, FULCRUM_LOOK_CURVE);
    cell->series[1][1] = measured_series(cell, &errors, STYLE_PREDICTED);
    if (!fulcrum_panel_is_empty(strip)) {
        strip->series = cell->series[1];
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

/* Rates compare at a glance on one scale, unless the smaller ones would drown in it. */
static bool shares_scale(const struct fulcrum_measured_data *data)
{
    struct fulcrum_limits largest = fulcrum_limits_none();
    for (size_t i = 0; i < data->panel_count; i++) {
        const struct fulcrum_measured_panel *panel = &data->panels[i];
        struct fulcrum_limits span = fulcrum_limits_none();
        add_values(&span, panel->steps_per_s, NULL, panel->count);
        add_values(&span, panel->predicted.value, NULL, panel->count);
        fulcrum_limits_add(&largest, span.lo <= span.hi ? span.hi : (double)NAN);
    }
    return largest.lo > 0.0 && largest.hi <= shared_scale_factor * largest.lo;
}

/* Returns 0 where memory is short. */
static bool fill_cells(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_measured_data *data = picture->data;
    picture->actors = fulcrum_limits_none();
    picture->rates = fulcrum_limits_none();
    picture->errors = fulcrum_limits_none();
    bool is_calm = has_calm_error(data);
    for (size_t i = 0; i < data->panel_count; i++) {
        struct cell *cell = &picture->cells[i];
        cell->data = &data->panels[i];
        if (!make_arrays(canvas, cell, is_calm)) {
            return 0;
        }
        add_reach(picture, cell);
        add_marks(picture, cell);
    }
    picture->zero_x[0] = picture->actors.lo;
    picture->zero_x[1] = picture->actors.hi;
    bool is_shared = shares_scale(data);
    for (size_t i = 0; i < data->panel_count; i++) {
        struct cell *cell = &picture->cells[i];
        write_finding(cell);
        fill_throughput(picture, cell, is_shared);
        fill_errors(picture, cell);
        cell->stack.panels = cell->panels;
        cell->stack.count = picture->has_errors ? PANELS_PER_CELL : 1;
    }
    return 1;
}

static bool has_room(struct fulcrum_extent cell)
{
    return cell.width_pt >= least_cell_width_pt &&
           cell.height_pt >= least_cell_height_pt;
}

/* The number of columns that leaves cells largest, of those with room for them. */
static struct fulcrum_grid choose_grid(
    struct fulcrum_rect body, size_t count, struct fulcrum_extent *out)
{
    struct fulcrum_grid best = {.columns = 0};
    double best_pt = -INFINITY;
    *out = (struct fulcrum_extent){0.0, 0.0};
    for (size_t columns = 1; columns <= count; columns++) {
        struct fulcrum_grid grid = {
            columns, (count + columns - 1) / columns, cell_gap_pt};
        struct fulcrum_rect first = fulcrum_grid_cell(&grid, body, 0);
        struct fulcrum_extent cell = {first.x1 - first.x0, first.y1 - first.y0};
        double size_pt = fmin(cell.width_pt / cell_aspect, cell.height_pt);
        if (has_room(cell) == has_room(*out) ? size_pt > best_pt : has_room(cell)) {
            best = grid;
            best_pt = size_pt;
            *out = cell;
        }
    }
    return best;
}

static void fill_legend(struct fulcrum_page *page, const struct picture *picture)
{
    const struct fulcrum_measured_data *data = picture->data;
    const char *measured = data->measured_name != NULL
                               ? data->measured_name
                               : "measured: median of the windows";
    const char *disturbed =
        picture->has_measured ? "disturbed, not among the errors" : "disturbed";
    const char *range =
        data->range_name != NULL ? data->range_name : "least to largest window";
    const char *interval =
        data->interval_name != NULL ? data->interval_name : "interval";
    fulcrum_page_explain(page, FULCRUM_SWATCH_MARKER, STYLE_MEASURED,
        picture->has_measured ? measured : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_DISTURBED, STYLE_MEASURED,
        picture->has_disturbed ? disturbed : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_HOLLOW, STYLE_MEASURED,
        picture->has_seen ? "hollow: the fit has seen it" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_INTERVAL,
        picture->has_measured ? STYLE_MEASURED : STYLE_ZERO,
        picture->has_range ? range : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE_AND_MARKER, STYLE_PREDICTED,
        picture->has_prediction ? "predicted" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAND, STYLE_PREDICTED,
        picture->has_interval ? interval : NULL);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_GUIDE, STYLE_ZERO, picture->has_failed ? "failed" : NULL);
}

/* Frames of all cells begin at one distance, so that columns are in line. */
static void place_cells(const struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_rect body, const struct fulcrum_grid *grid)
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
        fulcrum_stack_fit(canvas, stack, fulcrum_grid_cell(grid, body, i));
        left_pt = fmax(left_pt, stack->left_pt);
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_stack *stack = &picture->cells[i].stack;
        stack->left_pt = left_pt;
        fulcrum_stack_place(canvas, stack, fulcrum_grid_cell(grid, body, i));
    }
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

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *data)
{
    struct picture *picture = room;
    picture->data = data;
    if (!fill_cells(canvas, picture)) {
        return;
    }
    if (!picture->has_measured && !picture->has_disturbed && !picture->has_failed) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    size_t count = picture->data->panel_count;
    fill_legend(page, picture);
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    struct fulcrum_extent cell;
    struct fulcrum_grid grid = choose_grid(body, count, &cell);
    if (!has_room(cell)) {
        struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
        (void)fulcrum_fail(fulcrum_canvas_failure(canvas), FULCRUM_ERR_RANGE,
            "%zu panels on a page of %.4g x %.4g points: each would have %.0f x %.0f, "
            "expected at least %g x %g: a larger page has room",
            count, extent.width_pt, extent.height_pt, cell.width_pt, cell.height_pt,
            least_cell_width_pt, least_cell_height_pt);
        return;
    }
    place_cells(canvas, picture, body, &grid);
    fulcrum_page_draw(canvas, page);
    for (size_t i = 0; i < count; i++) {
        fulcrum_stack_draw(canvas, &picture->cells[i].stack);
    }
}

const struct fulcrum_chart fulcrum_chart_measured = {.name = "measured",
    .summary = "the real pipeline's throughput over the actors, beside its prediction",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
