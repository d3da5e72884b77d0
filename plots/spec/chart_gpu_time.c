/* chart_gpu_time.c - where a GPU's time goes, on this GPU and on others. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/canvas.h"
#include "plots/chart/page.h"
#include "plots/chart/rows.h"

/* Colours of the parts. */
static const size_t part_styles[FULCRUM_GPU_TIME_PARTS] = {0, 1, 2, 7, 3, 4, 6};
enum { TEXT_SIZE = 64 };

/* Between two panels. */
static const double panel_gap_pt = 10.0;

/* Labels are shares of the bar they stand in; its length is time. */
static void fill_row(struct fulcrum_row *row, char text[TEXT_SIZE],
    const struct fulcrum_gpu_time_row *from)
{
    struct fulcrum_row_part parts[FULCRUM_GPU_TIME_PARTS];
    row->name = from->name;
    row->text = text;
    for (size_t k = 0; k < FULCRUM_GPU_TIME_PARTS; k++) {
        parts[k] = (struct fulcrum_row_part){
            from->parts[k], fulcrum_palette_pen(part_styles[k]).rgb};
    }
    double whole =
        fulcrum_row_stack(row, parts, FULCRUM_GPU_TIME_PARTS, FULCRUM_ROW_AMOUNT);
    fulcrum_row_interval(row, from->lo, from->hi);
    /* "0.58 (0.38 to 0.89)". */
    int length = snprintf(text, TEXT_SIZE, "%.2f", whole);
    if (isfinite(from->lo) && isfinite(from->hi)) {
        (void)snprintf(text + length, TEXT_SIZE - (size_t)length, " (%.2f to %.2f)",
            from->lo, from->hi);
    }
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    (void)room;
    const struct fulcrum_gpu_time_data *data = given;
    size_t count = data->count + data->run_count;
    struct fulcrum_row *rows =
        fulcrum_rows_begin(canvas, page, data->count > 0 ? count : 0);
    char(*texts)[TEXT_SIZE] = fulcrum_canvas_room(canvas, count, sizeof *texts);
    if (rows == NULL || texts == NULL) {
        return;
    }
    bool has_interval = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_gpu_time_row *from =
            i < data->count ? &data->rows[i] : &data->runs[i - data->count];
        fill_row(&rows[i], texts[i], from);
        has_interval |= isfinite(from->lo);
    }
    for (size_t k = 0; k < FULCRUM_GPU_TIME_PARTS; k++) {
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_STACK, part_styles[k], data->part_names[k]);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE, FULCRUM_ROW_INTERVAL_STYLE,
        has_interval ? data->interval_name : NULL);
    fulcrum_page_draw(canvas, page);
    struct fulcrum_rows picture = {
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.03, .from_zero = 1},
        .centre = (double)NAN};
    struct fulcrum_rect upper = fulcrum_page_body(canvas, page);
    if (data->run_count > 0) {
        /* Room in proportion to what both panels want at least. */
        struct fulcrum_rect lower = upper;
        double upper_pt = fulcrum_rows_height_pt(canvas, data->count);
        double lower_pt = fulcrum_rows_height_pt(canvas, data->run_count);
        double room_pt = upper.y1 - upper.y0 - panel_gap_pt;
        upper.y1 = upper.y0 + room_pt * upper_pt / (upper_pt + lower_pt);
        lower.y0 = upper.y1 + panel_gap_pt;
        picture.title = data->run_title;
        picture.x_label = data->run_x_label;
        picture.rows = rows + data->count;
        picture.count = data->run_count;
        fulcrum_rows_draw(canvas, &picture, lower);
    }
    picture.title = "GPU time for the same work";
    picture.x_label = data->x_label;
    picture.rows = rows;
    picture.count = data->count;
    fulcrum_rows_draw(canvas, &picture, upper);
}

static enum fulcrum_status check_rows(
    const struct fulcrum_gpu_time_row *rows, size_t count, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count * FULCRUM_GPU_TIME_PARTS; i++) {
        const struct fulcrum_gpu_time_row *row = &rows[i / FULCRUM_GPU_TIME_PARTS];
        double part = row->parts[i % FULCRUM_GPU_TIME_PARTS];
        FAIL_IF(!isfinite(part) || part < 0.0, err, FULCRUM_ERR_RANGE,
            "a part of %s takes %g: expected 0 or more", row->name, part);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_gpu_time_data *data = given;
    TRY(check_rows(data->rows, data->count, err));
    return check_rows(data->runs, data->run_count, err);
}

const struct fulcrum_chart fulcrum_chart_gpu_time = {.name = "gpu-time",
    .summary = "where a GPU's time goes, and a run's, as published and as predicted",
    .check = check,
    .draw = draw};
