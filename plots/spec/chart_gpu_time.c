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

/* Rows of the GPU's time, and below them those of runs. */
struct picture {
    const struct fulcrum_gpu_time_data *data;
    struct fulcrum_page page;
    struct fulcrum_row *rows; /* owned */
    char (*texts)[TEXT_SIZE]; /* owned */
};

/* Between two panels. */
static const double panel_gap_pt = 10.0;

static double sum(const struct fulcrum_gpu_time_row *row)
{
    double whole = 0.0;
    for (size_t i = 0; i < FULCRUM_GPU_TIME_PARTS; i++) {
        whole += row->parts[i];
    }
    return whole;
}

/* "0.58 (0.38 to 0.89)". */
static void write_total(const struct fulcrum_gpu_time_row *row, char text[TEXT_SIZE])
{
    if (isfinite(row->lo) && isfinite(row->hi)) {
        (void)snprintf(
            text, TEXT_SIZE, "%.2f (%.2f to %.2f)", sum(row), row->lo, row->hi);
    } else {
        (void)snprintf(text, TEXT_SIZE, "%.2f", sum(row));
    }
}

/* Labels are shares of the bar they stand in; its length is time. */
static void fill_row(
    struct picture *picture, const struct fulcrum_gpu_time_row *from, size_t i)
{
    struct fulcrum_row *row = &picture->rows[i];
    struct fulcrum_row_part parts[FULCRUM_GPU_TIME_PARTS];
    *row = (struct fulcrum_row){.name = from->name, .text = picture->texts[i]};
    write_total(from, picture->texts[i]);
    for (size_t k = 0; k < FULCRUM_GPU_TIME_PARTS; k++) {
        parts[k] = (struct fulcrum_row_part){
            from->parts[k], fulcrum_palette_pen(part_styles[k]).rgb};
    }
    (void)fulcrum_row_stack(row, parts, FULCRUM_GPU_TIME_PARTS, FULCRUM_ROW_AMOUNT);
    fulcrum_row_interval(row, from->lo, from->hi);
}

static void fill_legend(struct picture *picture)
{
    const struct fulcrum_gpu_time_data *data = picture->data;
    int any_interval = 0;
    for (size_t k = 0; k < FULCRUM_GPU_TIME_PARTS; k++) {
        if (data->part_names[k] != NULL) {
            fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_STACK, part_styles[k],
                data->part_names[k]);
        }
    }
    for (size_t i = 0; i < data->count; i++) {
        any_interval = any_interval || isfinite(data->rows[i].lo);
    }
    for (size_t i = 0; i < data->run_count; i++) {
        any_interval = any_interval || isfinite(data->runs[i].lo);
    }
    if (any_interval && data->interval_name != NULL) {
        fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_LINE,
            FULCRUM_ROW_INTERVAL_STYLE, data->interval_name);
    }
}

/* Rows of one panel. */
struct part {
    const struct fulcrum_row *rows;
    size_t count;
};

static void draw_rows(struct fulcrum_canvas *canvas, const char *title,
    const char *x_label, struct fulcrum_rect rect, const struct part *part)
{
    const struct fulcrum_rows rows = {.title = title,
        .x_label = x_label,
        .rows = part->rows,
        .count = part->count,
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.03, .from_zero = 1},
        .centre = (double)NAN};
    fulcrum_rows_draw(canvas, &rows, rect);
}

static void draw_picture(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_gpu_time_data *data = picture->data;
    for (size_t i = 0; i < data->count; i++) {
        fill_row(picture, &data->rows[i], i);
    }
    for (size_t i = 0; i < data->run_count; i++) {
        fill_row(picture, &data->runs[i], data->count + i);
    }
    fill_legend(picture);
    fulcrum_page_draw(canvas, &picture->page);
    struct fulcrum_rect upper = fulcrum_page_body(canvas, &picture->page);
    struct fulcrum_rect lower = upper;
    if (data->run_count > 0) {
        /* Room in proportion to what both panels want at least. */
        double upper_pt = fulcrum_rows_height_pt(canvas, data->count);
        double lower_pt = fulcrum_rows_height_pt(canvas, data->run_count);
        double room_pt = upper.y1 - upper.y0 - panel_gap_pt;
        upper.y1 = upper.y0 + room_pt * upper_pt / (upper_pt + lower_pt);
        lower.y0 = upper.y1 + panel_gap_pt;
        draw_rows(canvas, data->run_title, data->run_x_label, lower,
            &(struct part){picture->rows + data->count, data->run_count});
    }
    draw_rows(canvas, "GPU time for the same work", data->x_label, upper,
        &(struct part){picture->rows, data->count});
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

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    size_t row_count = picture->data->count + picture->data->run_count;
    picture->rows = calloc(row_count + 1, sizeof *picture->rows);
    picture->texts = calloc(row_count + 1, sizeof *picture->texts);
    if (picture->rows == NULL || picture->texts == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
    } else if (picture->data->count == 0) {
        fulcrum_page_draw_empty(canvas, &picture->page);
    } else {
        draw_picture(canvas, picture);
    }
    return fulcrum_canvas_status(canvas, err);
}

static void clear(void *room)
{
    struct picture *picture = room;
    free(picture->rows);
    free(picture->texts);
}

const struct fulcrum_chart fulcrum_chart_gpu_time = {.name = "gpu-time",
    .summary = "where a GPU's time goes, and a run's, as published and as predicted",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw,
    .clear = clear};
