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

enum { FINDING_SIZE = 120 };

/* Of bars that are all of one length the interval would be a share of itself. */
static bool shows_intervals(const struct fulcrum_breakdown_data *data)
{
    return data->interval_name != NULL && data->scale == FULCRUM_ROW_AMOUNT;
}

/* Parts that no row has are not explained. */
static void fill_legend(
    struct fulcrum_page *page, const struct fulcrum_breakdown_data *data)
{
    bool has_part[FULCRUM_BREAKDOWN_PARTS_MAX] = {0};
    bool has_interval = 0;
    for (size_t i = 0; i < data->count; i++) {
        const struct fulcrum_breakdown_row *row = &data->rows[i];
        has_interval |= row->hi > row->lo && shows_intervals(data);
        for (size_t k = 0; k < data->part_count; k++) {
            has_part[k] |= row->parts[k] > 0.0;
        }
    }
    for (size_t k = 0; k < data->part_count; k++) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_STACK, data->part_styles[k],
            has_part[k] ? data->part_names[k] : NULL);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE, FULCRUM_ROW_INTERVAL_STYLE,
        has_interval ? data->interval_name : NULL);
}

/* First and last always, the others at equal distances. */
static void choose_rows(
    struct fulcrum_row *rows, size_t shown, const struct fulcrum_breakdown_data *data)
{
    for (size_t i = 0; i < shown; i++) {
        size_t gaps = shown > 1 ? shown - 1 : 1;
        size_t from =
            data->count <= shown ? i : (i * (data->count - 1) + gaps / 2) / gaps;
        const struct fulcrum_breakdown_row *source = &data->rows[from];
        struct fulcrum_row_part parts[FULCRUM_BREAKDOWN_PARTS_MAX];
        rows[i].name = source->name;
        rows[i].text = source->text;
        for (size_t k = 0; k < data->part_count; k++) {
            parts[k] = (struct fulcrum_row_part){
                source->parts[k], fulcrum_palette_pen(data->part_styles[k]).rgb};
        }
        (void)fulcrum_row_stack(&rows[i], parts, data->part_count, data->scale);
        /* The bar's end says how much it is where bars are long as their wholes. */
        if (shows_intervals(data)) {
            fulcrum_row_interval(&rows[i], source->lo, source->hi);
        }
    }
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

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    char *finding = room;
    const struct fulcrum_breakdown_data *data = given;
    struct fulcrum_row *rows = fulcrum_rows_begin(canvas, page, data->count);
    if (rows == NULL) {
        return;
    }
    fill_legend(page, data);
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    /* Whether the sentence has a line of its own is settled with its longest form. */
    const struct fulcrum_header widest = {
        data->title, "1000 of 1000 points, a larger page has room for more"};
    size_t places = fulcrum_rows_room(canvas, &widest, body);
    size_t shown = data->count <= places ? data->count : places;
    choose_rows(rows, shown, data);
    if (shown < data->count) {
        (void)snprintf(finding, FINDING_SIZE,
            "%zu of %zu points, a larger page has room for more", shown, data->count);
    }
    const struct fulcrum_rows picture = {.title = data->title,
        .finding = finding[0] != '\0' ? finding : NULL,
        .x_label = data->x_label,
        .rows = rows,
        .count = shown,
        .options = {.kind = FULCRUM_AXIS_LINEAR,
            .pad_frac = 0.01,
            .from_zero = 1,
            .unit = data->scale == FULCRUM_ROW_SHARE ? NULL : data->unit},
        .centre = (double)NAN};
    fulcrum_page_draw(canvas, page);
    fulcrum_rows_draw(canvas, &picture, body);
}

const struct fulcrum_chart fulcrum_chart_breakdown = {.name = "breakdown",
    .summary = "where a cycle's time, the watts or a GPU's time of each design go",
    .room_byte = FINDING_SIZE,
    .check = check,
    .draw = draw};
