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
    const struct fulcrum_cost_data *data;
    struct fulcrum_page page;
    struct fulcrum_panel panel;
    struct fulcrum_panel_series series[FULCRUM_COST_LINES_MAX + FULCRUM_COST_MARKS_MAX];
    size_t series_count;
    struct fulcrum_stack stack;
};

static size_t line_style(size_t line)
{
    return line < STYLE_MARK ? line : line + 1;
}

static void fill_lines(struct picture *picture)
{
    const struct fulcrum_cost_data *data = picture->data;
    assert(data->line_count <= FULCRUM_COST_LINES_MAX);
    for (size_t i = 0; i < data->line_count; i++) {
        const struct fulcrum_cost_line *line = &data->lines[i];
        picture->series[picture->series_count++] =
            (struct fulcrum_panel_series){.x = line->actor_count,
                .y = line->cost_s,
                .count = line->count,
                .style = line_style(i)};
        fulcrum_page_explain(
            &picture->page, FULCRUM_SWATCH_LINE_AND_MARKER, line_style(i), line->label);
    }
}

static void fill_marks(struct picture *picture)
{
    const struct fulcrum_cost_data *data = picture->data;
    assert(data->mark_count <= FULCRUM_COST_MARKS_MAX);
    for (size_t i = 0; i < data->mark_count; i++) {
        picture->series[picture->series_count++] =
            (struct fulcrum_panel_series){.x = &data->marks[i].actor_count,
                .y = &data->marks[i].cost_s,
                .count = 1,
                .style = STYLE_MARK,
                .look = FULCRUM_LOOK_MARKERS};
    }
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    fill_lines(picture);
    fill_marks(picture);
    picture->stack.panels = &picture->panel;
    fulcrum_stack_add(&picture->stack,
        &(struct fulcrum_panel){.title = "Time of one solution",
            .series = picture->series,
            .series_count = picture->series_count,
            .x_options = {.kind = FULCRUM_AXIS_LOG2, .pad_frac = 0.04},
            .y_options = {.kind = FULCRUM_AXIS_LOG, .pad_frac = 0.04, .unit = "s"},
            .weight = 1.0});
    fulcrum_stack_draw_on(canvas, &picture->stack, "actors", &picture->page);
    if (picture->stack.count > 0) {
        /* A name without a place near its star is left out; the footnote may tell it.
         */
        struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
        const struct fulcrum_panel *panel = &picture->panel;
        style.rgb = FULCRUM_TONE_INK;
        for (size_t i = 0; i < picture->data->mark_count; i++) {
            const struct fulcrum_cost_mark *mark = &picture->data->marks[i];
            if (fulcrum_axis_shows(&panel->x, mark->actor_count) &&
                fulcrum_axis_shows(&panel->y, mark->cost_s)) {
                const struct fulcrum_spot spot = {
                    fulcrum_axis_at(&panel->x, mark->actor_count),
                    fulcrum_axis_at(&panel->y, mark->cost_s)};
                (void)fulcrum_label_near(
                    canvas, &style, spot, panel->frame, mark->label);
            }
        }
    }
    return fulcrum_canvas_status(canvas, err);
}

const struct fulcrum_chart fulcrum_chart_cost = {.name = "cost",
    .summary = "time of one solution against the number of actors",
    .room_byte = sizeof(struct picture),
    .draw = draw};
