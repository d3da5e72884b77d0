/* chart_lines.c - panels of lines over one axis: memory systems, many GPUs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two charts of one form. Axes of speed-ups go by powers of two where there are decades
 * to cover: in proportion is then a straight line, and what is lost is the distance
 * from it. Shares of the ideal, which tell small losses apart, have a linear axis.
 */
#include "model/try.h"
#include "plots/spec/charts.h"

#include "plots/chart/page.h"
#include "plots/chart/panel.h"

/* Of intervals in the legend: grey, as bands of any colour are meant. */
enum { INTERVAL_STYLE = 7 };

struct picture {
    const struct fulcrum_lines_data *data;
    struct fulcrum_page page;
    struct fulcrum_panel panels[FULCRUM_LINES_PANELS_MAX];
    struct fulcrum_panel_series series[FULCRUM_LINES_PANELS_MAX][FULCRUM_LINES_MAX];
    struct fulcrum_stack stack;
};

static enum fulcrum_series_look look_of(enum fulcrum_line_look look)
{
    switch (look) {
    case FULCRUM_LINE_SMOOTH:
        return FULCRUM_LOOK_CURVE;
    case FULCRUM_LINE_POINTS:
        return FULCRUM_LOOK_POINTS;
    case FULCRUM_LINE_MARKED:
    default:
        return FULCRUM_LOOK_LINE;
    }
}

static enum fulcrum_swatch swatch_of(enum fulcrum_line_look look)
{
    switch (look) {
    case FULCRUM_LINE_SMOOTH:
        return FULCRUM_SWATCH_LINE;
    case FULCRUM_LINE_POINTS:
        return FULCRUM_SWATCH_MARKER;
    case FULCRUM_LINE_MARKED:
    default:
        return FULCRUM_SWATCH_LINE_AND_MARKER;
    }
}

/* A panel without a value is left out. */
static void add_panel(struct picture *picture, const struct fulcrum_lines_panel *from)
{
    const struct fulcrum_lines_data *data = picture->data;
    size_t which = picture->stack.count;
    for (size_t i = 0; i < from->line_count; i++) {
        const struct fulcrum_lines_line *line = &from->lines[i];
        picture->series[which][i] = (struct fulcrum_panel_series){.x = line->x,
            .y = line->y,
            .lo = line->lo,
            .hi = line->hi,
            .hollow = line->hollow,
            .count = line->count,
            .style = line->style,
            .look = look_of(line->look)};
    }
    const struct fulcrum_panel panel = {.title = from->title,
        .finding = from->finding,
        .series = picture->series[which],
        .series_count = from->line_count,
        .guides = from->guides,
        .guide_count = from->guide_count,
        .x_options = {.kind = data->x_kind,
            .pad_frac = 0.03,
            .from_zero = data->from_zero},
        .y_options = {.kind = from->y_kind,
            .pad_frac = 0.05,
            .from_zero = data->from_zero},
        .weight = 1.0};
    fulcrum_stack_add(&picture->stack, &panel);
}

/* Names of the first panel that has them: the others repeat its lines. */
static void fill_legend(struct picture *picture)
{
    const struct fulcrum_lines_data *data = picture->data;
    const struct fulcrum_lines_panel *first = &data->panels[0];
    for (size_t i = 1; i < data->panel_count; i++) {
        first =
            data->panels[i].line_count > first->line_count ? &data->panels[i] : first;
    }
    for (size_t i = 0; i < first->line_count; i++) {
        const struct fulcrum_lines_line *line = &first->lines[i];
        if (line->name != NULL) {
            fulcrum_page_explain(
                &picture->page, swatch_of(line->look), line->style, line->name);
        }
    }
    if (data->hollow_name != NULL) {
        fulcrum_page_explain(
            &picture->page, FULCRUM_SWATCH_HOLLOW, 0, data->hollow_name);
    }
    if (data->interval_name != NULL) {
        fulcrum_page_explain(
            &picture->page, FULCRUM_SWATCH_BAND, INTERVAL_STYLE, data->interval_name);
    }
    if (data->guide_name != NULL) {
        fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_GUIDE, 0, data->guide_name);
    }
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_lines_data *data = given;
    FAIL_IF(data->panel_count > FULCRUM_LINES_PANELS_MAX, err, FULCRUM_ERR_RANGE,
        "%zu panels: a chart of lines holds at most %d", data->panel_count,
        (int)FULCRUM_LINES_PANELS_MAX);
    for (size_t i = 0; i < data->panel_count; i++) {
        FAIL_IF(data->panels[i].line_count > FULCRUM_LINES_MAX, err, FULCRUM_ERR_RANGE,
            "%zu lines: a chart of lines holds at most %d", data->panels[i].line_count,
            (int)FULCRUM_LINES_MAX);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    picture->stack.panels = picture->panels;
    for (size_t i = 0; i < picture->data->panel_count; i++) {
        add_panel(picture, &picture->data->panels[i]);
    }
    if (picture->stack.count > 0) {
        fill_legend(picture);
    }
    fulcrum_stack_draw_on(
        canvas, &picture->stack, picture->data->x_label, &picture->page);
    return fulcrum_canvas_status(canvas, err);
}

const struct fulcrum_chart fulcrum_chart_memory = {.name = "memory",
    .summary =
        "caches and bandwidths against GPU time and throughput, or what meets a gain",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};

const struct fulcrum_chart fulcrum_chart_scaling = {.name = "scaling",
    .summary = "training on many GPUs: weak and strong scaling, where hybrid wins",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
