/* chart_breakdown.c - what adds up to a whole, side by side for many designs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/try.h"
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/chart/canvas.h"
#include "plots/chart/page.h"

struct picture {
    const struct fulcrum_breakdown_data *data;
    struct fulcrum_page page;
    struct fulcrum_row *rows; /* owned */
    size_t count;             /* of those shown */
    char finding[120];
};

/* Parts that no row has are not explained. */
static bool has_part(const struct fulcrum_breakdown_data *data, size_t k)
{
    for (size_t i = 0; i < data->count; i++) {
        if (data->rows[i].parts[k] > 0.0) {
            return 1;
        }
    }
    return 0;
}

/* Of bars that are all of one length the interval would be a share of itself. */
static int shows_intervals(const struct fulcrum_breakdown_data *data)
{
    return data->interval_name != NULL && data->scale == FULCRUM_ROW_AMOUNT;
}

static int any_interval(const struct fulcrum_breakdown_data *data)
{
    for (size_t i = 0; i < data->count; i++) {
        if (data->rows[i].hi > data->rows[i].lo) {
            return shows_intervals(data);
        }
    }
    return 0;
}

static void fill_legend(struct picture *picture)
{
    for (size_t k = 0; k < picture->data->part_count; k++) {
        if (has_part(picture->data, k)) {
            fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_STACK,
                picture->data->part_styles[k], picture->data->part_names[k]);
        }
    }
    if (any_interval(picture->data)) {
        fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_LINE,
            FULCRUM_ROW_INTERVAL_STYLE, picture->data->interval_name);
    }
}

/* First and last always, the others at equal distances. */
static void choose_rows(struct picture *picture, size_t room)
{
    size_t count = picture->data->count;
    picture->count = count <= room ? count : room;
    for (size_t i = 0; i < picture->count; i++) {
        size_t gaps = picture->count > 1 ? picture->count - 1 : 1;
        size_t from = count <= room ? i : (i * (count - 1) + gaps / 2) / gaps;
        /* The bar's end says how much it is where bars are long as their wholes. */
        const struct fulcrum_breakdown_data *data = picture->data;
        const struct fulcrum_breakdown_row *source = &data->rows[from];
        struct fulcrum_row_part parts[FULCRUM_BREAKDOWN_PARTS_MAX];
        struct fulcrum_row *row = &picture->rows[i];
        *row = (struct fulcrum_row){.name = source->name, .text = source->text};
        for (size_t k = 0; k < data->part_count; k++) {
            parts[k] = (struct fulcrum_row_part){
                source->parts[k], fulcrum_palette_pen(data->part_styles[k]).rgb};
        }
        (void)fulcrum_row_stack(row, parts, data->part_count, data->scale);
        if (shows_intervals(data)) {
            fulcrum_row_interval(row, source->lo, source->hi);
        }
    }
    if (picture->count < count) {
        (void)snprintf(picture->finding, sizeof picture->finding,
            "%zu of %zu points, a larger page has room for more", picture->count,
            count);
    }
}

static void draw_picture(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_breakdown_data *data = picture->data;
    bool is_share = data->scale == FULCRUM_ROW_SHARE;
    fill_legend(picture);
    struct fulcrum_rect body = fulcrum_page_body(canvas, &picture->page);
    /* Whether the sentence has a line of its own is settled with its longest form. */
    const struct fulcrum_header widest = {
        data->title, "1000 of 1000 points, a larger page has room for more"};
    choose_rows(picture, fulcrum_rows_room(canvas, &widest, body));
    const struct fulcrum_rows rows = {.title = data->title,
        .finding = picture->finding[0] != '\0' ? picture->finding : NULL,
        .x_label = data->x_label,
        .rows = picture->rows,
        .count = picture->count,
        .options = {.kind = FULCRUM_AXIS_LINEAR,
            .pad_frac = 0.01,
            .from_zero = 1,
            .unit = is_share ? NULL : data->unit},
        .centre = (double)NAN};
    fulcrum_page_draw(canvas, &picture->page);
    fulcrum_rows_draw(canvas, &rows, body);
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_breakdown_data *data = given;
    FAIL_IF(data->part_count > FULCRUM_BREAKDOWN_PARTS_MAX, err, FULCRUM_ERR_RANGE,
        "%zu parts: a bar has at most %d", data->part_count,
        (int)FULCRUM_BREAKDOWN_PARTS_MAX);
    for (size_t i = 0; i < data->count * data->part_count; i++) {
        const struct fulcrum_breakdown_row *row = &data->rows[i / data->part_count];
        double part = row->parts[i % data->part_count];
        FAIL_IF(!isfinite(part) || part < 0.0, err, FULCRUM_ERR_RANGE,
            "%s of %s is %g: expected 0 or more",
            data->part_names[i % data->part_count], row->name, part);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    picture->rows = fulcrum_rows_begin(canvas, &picture->page, picture->data->count);
    if (picture->rows != NULL) {
        draw_picture(canvas, picture);
    }
    free(picture->rows);
    return fulcrum_canvas_status(canvas, err);
}

const struct fulcrum_chart fulcrum_chart_breakdown = {.name = "breakdown",
    .summary = "where a cycle's time, the watts or a GPU's time of each design go",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
