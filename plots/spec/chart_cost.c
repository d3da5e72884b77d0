/* chart_cost.c - time of one solution against the number of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Costs span seven decades, so both axes are logarithmic and a power law is a straight
 * line. Marks are named on the spot: a legend of as many entries as there are marks
 * would be read more often than looked at.
 */
#include "plots/spec/charts.h"

#include <assert.h>

#include "plots/chart/canvas.h"
#include "plots/chart/label.h"
#include "plots/chart/page.h"
#include "plots/chart/panel.h"

/* The star; lines have the styles before and after it. */
enum { STYLE_MARK = 5 };

struct picture {
    struct fulcrum_panel panel;
    struct fulcrum_panel_series series[FULCRUM_COST_LINES_MAX + FULCRUM_COST_MARKS_MAX];
    struct fulcrum_stack stack;
};

/* A name without a place near its star is left out; the footnote may tell it. */
static void name_marks(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel,
    const struct fulcrum_cost_data *data)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    style.rgb = FULCRUM_TONE_INK;
    for (size_t i = 0; i < data->mark_count; i++) {
        const struct fulcrum_cost_mark *mark = &data->marks[i];
        if (fulcrum_axis_shows(&panel->x, mark->actor_count) &&
            fulcrum_axis_shows(&panel->y, mark->cost_s)) {
            const struct fulcrum_spot spot = {
                fulcrum_axis_at(&panel->x, mark->actor_count),
                fulcrum_axis_at(&panel->y, mark->cost_s)};
            (void)fulcrum_label_near(canvas, &style, spot, panel->frame, mark->label);
        }
    }
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    struct picture *picture = room;
    const struct fulcrum_cost_data *data = given;
    size_t count = 0;
    assert(data->line_count <= FULCRUM_COST_LINES_MAX);
    assert(data->mark_count <= FULCRUM_COST_MARKS_MAX);
    for (size_t i = 0; i < data->line_count; i++) {
        const struct fulcrum_cost_line *line = &data->lines[i];
        size_t style = i < STYLE_MARK ? i : i + 1;
        picture->series[count++] = fulcrum_series_of(
            line->actor_count, line->cost_s, line->count, style, FULCRUM_LOOK_LINE);
        fulcrum_page_explain(page, FULCRUM_SWATCH_LINE_AND_MARKER, style, line->label);
    }
    for (size_t i = 0; i < data->mark_count; i++) {
        const struct fulcrum_cost_mark *mark = &data->marks[i];
        picture->series[count++] = fulcrum_series_of(
            &mark->actor_count, &mark->cost_s, 1, STYLE_MARK, FULCRUM_LOOK_MARKERS);
    }
    picture->stack.panels = &picture->panel;
    fulcrum_stack_add(&picture->stack,
        &(struct fulcrum_panel){.title = "Time of one solution",
            .series = picture->series,
            .series_count = count,
            .x_options = {.kind = FULCRUM_AXIS_LOG2, .pad_frac = 0.04},
            .y_options = {.kind = FULCRUM_AXIS_LOG, .pad_frac = 0.04, .unit = "s"},
            .weight = 1.0});
    fulcrum_stack_draw_on(canvas, &picture->stack, "actors", page);
    if (picture->stack.count > 0) {
        name_marks(canvas, &picture->panel, data);
    }
}

const struct fulcrum_chart fulcrum_chart_cost = {.name = "cost",
    .summary = "time of one solution against the number of actors",
    .room_byte = sizeof(struct picture),
    .draw = draw};
