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
    struct fulcrum_panel panels[FULCRUM_LINES_PANELS_MAX];
    struct fulcrum_panel_series series[FULCRUM_LINES_PANELS_MAX][FULCRUM_LINES_MAX];
    struct fulcrum_stack stack;
};

/* How each look is drawn, and explained. */
static const struct {
    enum fulcrum_series_look look;
    enum fulcrum_swatch swatch;
} looks[] = {
    [FULCRUM_LINE_SMOOTH] = {FULCRUM_LOOK_CURVE, FULCRUM_SWATCH_LINE},
    [FULCRUM_LINE_MARKED] = {FULCRUM_LOOK_LINE, FULCRUM_SWATCH_LINE_AND_MARKER},
    [FULCRUM_LINE_POINTS] = {FULCRUM_LOOK_POINTS, FULCRUM_SWATCH_MARKER},
};

/* A panel without a value is left out. */
static void add_panel(struct picture *picture, const struct fulcrum_lines_data *data,
    const struct fulcrum_lines_panel *from)
{
    struct fulcrum_panel_series *series = picture->series[picture->stack.count];
    for (size_t i = 0; i < from->line_count; i++) {
        const struct fulcrum_lines_line *line = &from->lines[i];
        const struct fulcrum_estimate values = {line->y, line->lo, line->hi};
        series[i] = fulcrum_series_estimated(
            line->x, &values, line->count, line->style, looks[line->look].look);
        series[i].hollow = line->hollow;
    }
    const struct fulcrum_panel panel = {.title = from->title,
        .finding = from->finding,
        .series = series,
        .series_count = from->line_count,
        .guides = from->guides,
        .guide_count = from->guide_count,
        .x_options = {data->x_kind, .pad_frac = 0.03},
        .y_options = {from->y_kind, .pad_frac = 0.05},
        .weight = 1.0};
    fulcrum_stack_add(&picture->stack, &panel);
}

/* Names of the first panel that has them: the others repeat its lines. */
static void fill_legend(
    struct fulcrum_page *page, const struct fulcrum_lines_data *data)
{
    const struct fulcrum_lines_panel *first = &data->panels[0];
    for (size_t i = 1; i < data->panel_count; i++) {
        first =
            data->panels[i].line_count > first->line_count ? &data->panels[i] : first;
    }
    for (size_t i = 0; i < first->line_count; i++) {
        const struct fulcrum_lines_line *line = &first->lines[i];
        fulcrum_page_explain(page, looks[line->look].swatch, line->style, line->name);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_HOLLOW, 0, data->hollow_name);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_BAND, INTERVAL_STYLE, data->interval_name);
    fulcrum_page_explain(page, FULCRUM_SWATCH_GUIDE, 0, data->guide_name);
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

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    struct picture *picture = room;
    const struct fulcrum_lines_data *data = given;
    picture->stack.panels = picture->panels;
    for (size_t i = 0; i < data->panel_count; i++) {
        add_panel(picture, data, &data->panels[i]);
    }
    if (picture->stack.count > 0) {
        fill_legend(page, data);
    }
    fulcrum_stack_draw_on(canvas, &picture->stack, data->x_label, page);
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
