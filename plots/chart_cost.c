/* chart_cost.c - time of one solution against the number of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Costs span seven decades, so both axes are logarithmic and a power law is a straight
 * line. Marks are named on the spot: a legend of as many entries as there are marks
 * would be read more often than looked at.
 */
#include "plots/chart_cost.h"

#include <assert.h>
#include <stdlib.h>

#include "plots/label.h"
#include "plots/page.h"
#include "plots/palette.h"
#include "plots/panel.h"

/* The star; lines have the styles before and after it. */
enum { STYLE_MARK = 5 };

struct picture {
    const struct fulcrum_cost_data *data;
    struct fulcrum_page page;
    struct fulcrum_panel panel;
    struct fulcrum_panel_series series[FULCRUM_COST_LINES_MAX + FULCRUM_COST_MARKS_MAX];
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
        picture->series[picture->panel.series_count++] =
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
        picture->series[picture->panel.series_count++] =
            (struct fulcrum_panel_series){.x = &data->marks[i].actor_count,
                .y = &data->marks[i].cost_s,
                .count = 1,
                .style = STYLE_MARK,
                .look = FULCRUM_LOOK_MARKERS};
    }
}

static void fill_panel(struct picture *picture)
{
    struct fulcrum_panel *panel = &picture->panel;
    panel->title = "Time of one solution";
    panel->x_label = "actors";
    panel->series = picture->series;
    panel->weight = 1.0;
    panel->x_options =
        (struct fulcrum_axis_options){.kind = FULCRUM_AXIS_LOG2, .pad_frac = 0.04};
    panel->y_options = (struct fulcrum_axis_options){
        .kind = FULCRUM_AXIS_LOG, .pad_frac = 0.04, .unit = "s"};
    picture->stack = (struct fulcrum_stack){.panels = panel, .count = 1};
    fill_lines(picture);
    fill_marks(picture);
}

/* A name without a place near its star is left out; the footnote may tell it. */
static void name_marks(struct fulcrum_canvas *canvas, const struct picture *picture)
{
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
            (void)fulcrum_label_near(canvas, &style, spot, panel->frame, mark->label);
        }
    }
}

static void draw_picture(struct fulcrum_canvas *canvas, struct picture *picture)
{
    if (fulcrum_panel_is_empty(&picture->panel)) {
        picture->page.legend_count = 0;
        fulcrum_page_draw_empty(canvas, &picture->page);
        return;
    }
    fulcrum_stack_draw_on(canvas, &picture->stack, &picture->page);
    name_marks(canvas, picture);
}

enum fulcrum_status fulcrum_chart_cost_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_cost_data *data, struct fulcrum_error *err)
{
    static const struct fulcrum_cost_data none = {.line_count = 0};
    enum fulcrum_status status = fulcrum_page_check(canvas, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct picture *picture = calloc(1, sizeof *picture);
    if (picture == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a chart");
    }
    picture->data = data != NULL ? data : &none;
    fulcrum_page_write(&picture->page, &picture->data->text);
    fill_panel(picture);
    draw_picture(canvas, picture);
    free(picture);
    return fulcrum_canvas_status(canvas, err);
}
