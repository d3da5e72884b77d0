/* panel_draw.c - draws panels that have their place: grid, series, titles, labels. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "plots/header.h"
#include "plots/label.h"
#include "plots/palette.h"
#include "plots/panel.h"
#include "plots/ticks.h"

static const double tick_gap_pt = 5.5;
/* Up to here a line shows its points; beyond, markers would hide it. */
static const size_t few_points = 24;

/* Light lines across replace an axis line: values are read off them. */
static void draw_y_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen grid = {
        .rgb = FULCRUM_TONE_GRID, .width_pt = 0.6, .kind = FULCRUM_BOX_NONE};
    for (size_t i = 0; i < panel->y.tick_count; i++) {
        const struct fulcrum_tick *tick = &panel->y.ticks[i];
        if (tick->label[0] != '\0') {
            double y = fulcrum_axis_at(&panel->y, tick->value);
            fulcrum_canvas_line(canvas, &grid,
                (struct fulcrum_spot){panel->frame.x0, y},
                (struct fulcrum_spot){panel->frame.x1, y});
        }
    }
    struct fulcrum_tick_row row = {.axis = &panel->y,
        .style = fulcrum_palette_text(FULCRUM_TEXT_TICK),
        .from = panel->frame.y0 - 5.0,
        .to = panel->frame.y1 + 5.0,
        .across = panel->frame.x0 - tick_gap_pt + 1.0,
        .vertical = 1};
    row.style.anchor_x = 1.0;
    row.style.anchor_y = 0.5;
    fulcrum_tick_row_draw(canvas, &row);
}

/* Ticks on every panel of a stack, labels only on the one that has x_label. */
static void draw_x_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen line = {
        .rgb = FULCRUM_TONE_SOFT, .width_pt = 0.8, .kind = FULCRUM_BOX_NONE};
    double y = panel->frame.y1;
    fulcrum_canvas_line(canvas, &line, (struct fulcrum_spot){panel->frame.x0, y},
        (struct fulcrum_spot){panel->frame.x1, y});
    for (size_t i = 0; i < panel->x.tick_count; i++) {
        const struct fulcrum_tick *tick = &panel->x.ticks[i];
        double x = fulcrum_axis_at(&panel->x, tick->value);
        double length_pt = tick->label[0] != '\0' ? 3.5 : 2.0;
        fulcrum_canvas_line(canvas, &line, (struct fulcrum_spot){x, y},
            (struct fulcrum_spot){x, y + length_pt});
    }
    if (panel->x_label == NULL) {
        return;
    }
    struct fulcrum_tick_row row = {.axis = &panel->x,
        .style = fulcrum_palette_text(FULCRUM_TEXT_TICK),
        .from = panel->header.x0,
        .to = panel->header.x1 + 6.0,
        .across = y + tick_gap_pt};
    row.style.anchor_x = 0.5;
    fulcrum_tick_row_draw(canvas, &row);
    double ticks_pt = fulcrum_canvas_measure(canvas, &row.style, "0").height_pt;
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_AXIS);
    style.anchor_x = 0.5;
    style.width_max_pt = panel->frame.x1 - panel->frame.x0;
    fulcrum_canvas_text(canvas, &style,
        (struct fulcrum_spot){(panel->frame.x0 + panel->frame.x1) / 2.0,
            y + tick_gap_pt + ticks_pt + 1.0},
        panel->x_label);
}

/* Ticks stand on the frame and point away from it, as those below do. */
static void draw_top_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen line = {
        .rgb = FULCRUM_TONE_SOFT, .width_pt = 0.8, .kind = FULCRUM_BOX_NONE};
    double y = panel->frame.y0;
    fulcrum_canvas_line(canvas, &line, (struct fulcrum_spot){panel->frame.x0, y},
        (struct fulcrum_spot){panel->frame.x1, y});
    struct fulcrum_axis axis = panel->x;
    axis.tick_count = panel->top->tick_count;
    for (size_t i = 0; i < axis.tick_count; i++) {
        axis.ticks[i] = panel->top->ticks[i];
        double x = fulcrum_axis_at(&axis, axis.ticks[i].value);
        fulcrum_canvas_line(canvas, &line, (struct fulcrum_spot){x, y},
            (struct fulcrum_spot){x, y - 3.5});
    }
    struct fulcrum_tick_row row = {.axis = &axis,
        .style = fulcrum_palette_text(FULCRUM_TEXT_TICK),
        .from = panel->header.x0,
        .to = panel->header.x1 + 6.0,
        .across = y - tick_gap_pt};
    row.style.anchor_x = 0.5;
    row.style.anchor_y = 1.0;
    fulcrum_tick_row_draw(canvas, &row);
    double ticks_pt = fulcrum_canvas_measure(canvas, &row.style, "0").height_pt;
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_AXIS);
    style.anchor_x = 0.5;
    style.anchor_y = 1.0;
    style.width_max_pt = panel->frame.x1 - panel->frame.x0;
    fulcrum_canvas_text(canvas, &style,
        (struct fulcrum_spot){
            (panel->frame.x0 + panel->frame.x1) / 2.0, y - tick_gap_pt - ticks_pt},
        panel->top->label);
}

/* Points that an axis cannot show are gaps. */
static int shows(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, size_t i)
{
    return fulcrum_axis_shows(&panel->x, series->x[i]) &&
           fulcrum_axis_shows(&panel->y, series->y[i]);
}

/* A value without an interval is drawn, but outside the band. */
static int shows_interval(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, size_t i)
{
    return shows(panel, series, i) && fulcrum_axis_shows(&panel->y, series->lo[i]) &&
           fulcrum_axis_shows(&panel->y, series->hi[i]);
}

/* From values to the page. */
static struct fulcrum_spot spot_of(
    const struct fulcrum_panel *panel, double x, double y)
{
    return (struct fulcrum_spot){
        fulcrum_axis_at(&panel->x, x), fulcrum_axis_at(&panel->y, y)};
}

static int is_disturbed(const struct fulcrum_panel_series *series, size_t i)
{
    return series->disturbed != NULL && series->disturbed[i];
}

/* Thin, so that many of them leave their markers readable; grey as the marker. */
static struct fulcrum_pen bar_pen(const struct fulcrum_panel_series *series, size_t i)
{
    struct fulcrum_pen pen = fulcrum_palette_pen(series->style);
    pen.width_pt = series->count <= few_points ? 1.0 : 0.6;
    pen.opacity = series->count <= few_points ? 1.0 : 0.6;
    pen.dash = FULCRUM_DASH_SOLID;
    pen.rgb = is_disturbed(series, i) ? (unsigned)FULCRUM_TONE_MUTED : pen.rgb;
    return pen;
}

/* The interval of one point alone, where there is no band to draw. */
static void draw_error_bar(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, const struct fulcrum_panel_series *series,
    size_t i)
{
    struct fulcrum_pen pen = bar_pen(series, i);
    fulcrum_canvas_line(canvas, &pen, spot_of(panel, series->x[i], series->lo[i]),
        spot_of(panel, series->x[i], series->hi[i]));
}

/* An interval of no length, such as a value that others refer to, is no bar. */
static int shows_bar(const struct fulcrum_axis *axis, double lo, double hi)
{
    return fulcrum_axis_shows(axis, lo) && fulcrum_axis_shows(axis, hi) && lo < hi;
}

/* The intervals of points that no line connects. */
static void draw_bars(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        if (!shows(panel, series, i)) {
            continue;
        }
        if (series->lo != NULL && series->hi != NULL &&
            shows_bar(&panel->y, series->lo[i], series->hi[i])) {
            draw_error_bar(canvas, panel, series, i);
        }
        if (series->x_lo != NULL && series->x_hi != NULL &&
            shows_bar(&panel->x, series->x_lo[i], series->x_hi[i])) {
            struct fulcrum_pen pen = bar_pen(series, i);
            fulcrum_canvas_line(canvas, &pen,
                spot_of(panel, series->x_lo[i], series->y[i]),
                spot_of(panel, series->x_hi[i], series->y[i]));
        }
    }
}

/* One area per run of points between gaps. */
static void draw_band(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, struct fulcrum_spot *room)
{
    struct fulcrum_pen pen = fulcrum_palette_pen(series->style);
    pen.opacity = 0.2;
    size_t start = 0;
    while (start < series->count) {
        size_t end = start;
        while (end < series->count && shows_interval(panel, series, end)) {
            end++;
        }
        size_t run = end - start;
        for (size_t i = 0; i < run; i++) {
            double x = series->x[start + i];
            room[i] = spot_of(panel, x, series->lo[start + i]);
            room[2 * run - 1 - i] = spot_of(panel, x, series->hi[start + i]);
        }
        if (run == 1) {
            draw_error_bar(canvas, panel, series, start);
        } else {
            fulcrum_canvas_fill(canvas, &pen, room, 2 * run);
        }
        start = end + 1;
    }
}

/* One line per run of points between gaps. */
static void draw_curve(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, struct fulcrum_spot *room)
{
    struct fulcrum_pen pen = fulcrum_palette_pen(series->style);
    size_t run = 0;
    for (size_t i = 0; i < series->count; i++) {
        if (shows(panel, series, i)) {
            room[run++] = spot_of(panel, series->x[i], series->y[i]);
            continue;
        }
        fulcrum_canvas_stroke(canvas, &pen, room, run);
        run = 0;
    }
    fulcrum_canvas_stroke(canvas, &pen, room, run);
}

/* Many markers are small, or they would merge into a bar. */
static double marker_size(const struct fulcrum_panel_series *series)
{
    if (series->count <= few_points) {
        return 4.5;
    }
    return series->count <= 200 ? 3.4 : 2.2;
}

/* 1 where both neighbours are gaps, so that a line would not show the point. */
static int stands_alone(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, size_t i)
{
    int before = i > 0 && shows(panel, series, i - 1);
    int after = i + 1 < series->count && shows(panel, series, i + 1);
    return !before && !after;
}

/* A line through few points shows where they are. */
static int has_marker(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, size_t i)
{
    if (!shows(panel, series, i)) {
        return 0;
    }
    return series->look == FULCRUM_LOOK_MARKERS ||
           series->look == FULCRUM_LOOK_POINTS || stands_alone(panel, series, i) ||
           (series->look == FULCRUM_LOOK_LINE && series->count <= few_points);
}

/* Disturbed samples are hollow and grey: seen, but not counted. */
static void draw_markers(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, const struct fulcrum_panel_series *series)
{
    struct fulcrum_marker marker = fulcrum_palette_marker(series->style);
    marker.size_pt = marker_size(series);
    for (size_t i = 0; i < series->count; i++) {
        if (!has_marker(panel, series, i)) {
            continue;
        }
        int disturbed = is_disturbed(series, i);
        struct fulcrum_pen pen = fulcrum_palette_pen(series->style);
        pen.dash = FULCRUM_DASH_SOLID;
        int hollow = disturbed || (series->hollow != NULL && series->hollow[i]);
        pen.width_pt = hollow ? 0.8 : 0.4;
        pen.rgb = disturbed ? (unsigned)FULCRUM_TONE_MUTED : pen.rgb;
        marker.fill = hollow ? FULCRUM_MARKER_HOLLOW : FULCRUM_MARKER_FULL;
        fulcrum_canvas_marker(
            canvas, &pen, &marker, spot_of(panel, series->x[i], series->y[i]));
    }
}

static void draw_series(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, const struct fulcrum_panel_series *series)
{
    if (series->count == 0) {
        return;
    }
    struct fulcrum_spot *room = calloc(2 * series->count, sizeof *room);
    if (room == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
        return;
    }
    if (series->look == FULCRUM_LOOK_POINTS) {
        draw_bars(canvas, panel, series);
    } else if (series->lo != NULL && series->hi != NULL) {
        draw_band(canvas, panel, series, room);
    }
    if (series->look != FULCRUM_LOOK_MARKERS && series->look != FULCRUM_LOOK_POINTS) {
        draw_curve(canvas, panel, series, room);
    }
    draw_markers(canvas, panel, series);
    free(room);
}

/* Behind the data, so they come first. */
static void draw_guides(
    struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen pen = {.rgb = FULCRUM_TONE_MUTED,
        .width_pt = 0.6,
        .dash = FULCRUM_DASH_DOT,
        .kind = FULCRUM_BOX_GUIDE};
    for (size_t i = 0; i < panel->guide_count; i++) {
        double x = fulcrum_axis_at(&panel->x, panel->guides[i]);
        fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){x, panel->frame.y1},
            (struct fulcrum_spot){x, panel->frame.y0});
    }
}

static void draw_best(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_marker star = {FULCRUM_MARKER_STAR, FULCRUM_MARKER_FULL, 9.0};
    const struct fulcrum_pen pen = {
        .rgb = FULCRUM_TONE_INK, .width_pt = 0.5, .kind = FULCRUM_BOX_DATA};
    if (panel->best == NULL) {
        return;
    }
    struct fulcrum_spot spot = spot_of(panel, panel->best->x, panel->best->y);
    fulcrum_canvas_marker(canvas, &pen, &star, spot);
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FINDING);
    style.weight = FULCRUM_TEXT_BOLD;
    /* The sentence beside the title says it too, so a crowded panel may go without. */
    (void)fulcrum_label_near(canvas, &style, spot, panel->frame, panel->best_text);
}

/* Last, when it is known what lies where. */
static void draw_notes(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FINDING);
    style.weight = FULCRUM_TEXT_BOLD;
    for (size_t i = 0; i < panel->note_count; i++) {
        const struct fulcrum_panel_note *note = &panel->notes[i];
        if (fulcrum_axis_shows(&panel->x, note->spot.x) &&
            fulcrum_axis_shows(&panel->y, note->spot.y)) {
            (void)fulcrum_label_near(canvas, &style,
                spot_of(panel, note->spot.x, note->spot.y), panel->frame, note->text);
        }
    }
}

/* A grey field says that something was left out on purpose. */
static void draw_empty(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen pen = {
        .rgb = FULCRUM_GROUND_EMPTY, .kind = FULCRUM_BOX_NONE};
    fulcrum_canvas_fill_rect(canvas, &pen, panel->frame);
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_EMPTY);
    style.anchor_x = 0.5;
    style.anchor_y = 0.5;
    style.width_max_pt = panel->frame.x1 - panel->frame.x0;
    struct fulcrum_spot middle = {(panel->frame.x0 + panel->frame.x1) / 2.0,
        (panel->frame.y0 + panel->frame.y1) / 2.0};
    fulcrum_canvas_text(canvas, &style, middle, panel->empty_text);
}

/* From back to front. */
static void draw_panel(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    fulcrum_canvas_record(canvas, FULCRUM_BOX_PANEL, panel->frame);
    const struct fulcrum_header header = {panel->title, panel->finding};
    fulcrum_header_draw(canvas, &header, panel->header);
    if (fulcrum_panel_is_empty(panel)) {
        draw_empty(canvas, panel);
        return;
    }
    draw_y_axis(canvas, panel);
    if (panel->top != NULL) {
        draw_top_axis(canvas, panel);
    }
    draw_guides(canvas, panel);
    for (size_t i = 0; i < panel->series_count; i++) {
        draw_series(canvas, panel, &panel->series[i]);
    }
    draw_best(canvas, panel);
    draw_notes(canvas, panel);
}

/* Without any data the shared axis would show numbers that mean nothing. */
static int stack_is_empty(const struct fulcrum_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (!fulcrum_panel_is_empty(&stack->panels[i])) {
            return 0;
        }
    }
    return 1;
}

void fulcrum_stack_draw(
    struct fulcrum_canvas *canvas, const struct fulcrum_stack *stack)
{
    int empty = stack_is_empty(stack);
    for (size_t i = 0; i < stack->count; i++) {
        draw_panel(canvas, &stack->panels[i]);
        if (!empty) {
            draw_x_axis(canvas, &stack->panels[i]);
        }
    }
}

void fulcrum_stack_draw_on(struct fulcrum_canvas *canvas, struct fulcrum_stack *stack,
    const char *x_label, const struct fulcrum_page *page)
{
    if (stack->count == 0) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    stack->panels[stack->count - 1].x_label = x_label;
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    fulcrum_stack_fit(canvas, stack, body);
    fulcrum_stack_place(canvas, stack, body);
    fulcrum_page_draw(canvas, page);
    fulcrum_stack_draw(canvas, stack);
}
