/* panel.c - lays out stacks of panels: which axes, which ticks, how much room. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/panel.h"

#include <math.h>
#include <stdbool.h>

#include "plots/chart/axis.h"
#include "plots/chart/canvas.h"
#include "plots/chart/page.h"

static const double tick_gap_pt = 5.5;
static const double header_gap_pt = 1.0; /* beyond that of the header itself */
static const double panel_gap_pt = 6.0;
/* Taller pages breathe more. */
static const double panel_gap_frac = 0.012;
static const double least_frame_pt = 12.0;
static const double pt_per_y_tick = 20.0;
static const double least_y_ticks = 3.0;
static const double pt_per_x_tick = 42.0;

struct fulcrum_rect fulcrum_grid_cell(
    const struct fulcrum_grid *grid, struct fulcrum_rect rect, size_t i)
{
    double gap_pt = grid->gap_pt;
    double columns = (double)grid->columns;
    double rows = (double)grid->rows;
    double width_pt = (rect.x1 - rect.x0 - gap_pt * (columns - 1.0)) / columns;
    double height_pt = (rect.y1 - rect.y0 - 0.5 * gap_pt * (rows - 1.0)) / rows;
    size_t row = i / grid->columns;
    double x0 = rect.x0 + (double)(i % grid->columns) * (width_pt + gap_pt);
    double y0 = rect.y0 + (double)row * (height_pt + 0.5 * gap_pt);
    return (struct fulcrum_rect){x0, y0, x0 + width_pt, y0 + height_pt};
}

/* An axis that was asked to be logarithmic has no place for values up to 0. */
static int point_counts(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, size_t i)
{
    double x = series->x[i];
    double y = series->y[i];
    int positive_x = panel->x_options.kind == FULCRUM_AXIS_LINEAR ||
                     panel->x_options.kind == FULCRUM_AXIS_AUTO || x > 0.0;
    int positive_y = panel->y_options.kind == FULCRUM_AXIS_LINEAR ||
                     panel->y_options.kind == FULCRUM_AXIS_AUTO || y > 0.0;
    return isfinite(x) && isfinite(y) && positive_x && positive_y;
}

/* Intervals count too, so that bands stay inside the panel. */
static void add_series(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, struct fulcrum_limits *x_span,
    struct fulcrum_limits *y_span)
{
    for (size_t i = 0; i < series->count; i++) {
        if (!point_counts(panel, series, i)) {
            continue;
        }
        fulcrum_limits_add(x_span, series->x[i]);
        fulcrum_limits_add(y_span, series->y[i]);
        if (series->lo != NULL && series->hi != NULL) {
            fulcrum_limits_add(y_span, series->lo[i]);
            fulcrum_limits_add(y_span, series->hi[i]);
        }
        if (series->x_lo != NULL && series->x_hi != NULL) {
            fulcrum_limits_add(x_span, series->x_lo[i]);
            fulcrum_limits_add(x_span, series->x_hi[i]);
        }
    }
}

/* All series of a panel share its axes. */
static void add_panel(const struct fulcrum_panel *panel, struct fulcrum_limits *x_span,
    struct fulcrum_limits *y_span)
{
    for (size_t i = 0; i < panel->series_count; i++) {
        add_series(panel, &panel->series[i], x_span, y_span);
    }
}

static void add_reach(struct fulcrum_limits *span, const struct fulcrum_limits *reach)
{
    if (reach != NULL && reach->lo <= reach->hi) {
        fulcrum_limits_add(span, reach->lo);
        fulcrum_limits_add(span, reach->hi);
    }
}

bool fulcrum_panel_is_empty(const struct fulcrum_panel *panel)
{
    struct fulcrum_limits x_span = fulcrum_limits_none();
    struct fulcrum_limits y_span = fulcrum_limits_none();
    add_panel(panel, &x_span, &y_span);
    return x_span.lo > x_span.hi;
}

double fulcrum_panel_top_pt(const struct fulcrum_canvas *canvas)
{
    return tick_gap_pt + fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_TICK) +
           fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_AXIS) + 1.0;
}

static double header_height(const struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, double width_pt)
{
    const struct fulcrum_header header = {panel->title, panel->finding};
    return fulcrum_header_height_pt(canvas, &header, width_pt) + header_gap_pt;
}

/* Only the lowest panel of a stack labels the shared axis. */
static double footer_height(
    const struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    if (panel->x_label == NULL) {
        return 0.0;
    }
    double label_pt = panel->x_label[0] != '\0'
                          ? fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_AXIS) + 1.0
                          : 0.0;
    return tick_gap_pt + fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_TICK) +
           label_pt;
}

/* What texts leave over is shared among the panels by weight. */
static void place_frames(const struct fulcrum_canvas *canvas,
    const struct fulcrum_stack *stack, struct fulcrum_rect rect)
{
    double gap_pt = panel_gap_pt + panel_gap_frac * (rect.y1 - rect.y0);
    double fixed_pt = gap_pt * (double)(stack->count - 1);
    double weights = 0.0;
    for (size_t i = 0; i < stack->count; i++) {
        struct fulcrum_panel *panel = &stack->panels[i];
        panel->header = rect;
        panel->header.y1 = rect.y0 + header_height(canvas, panel, rect.x1 - rect.x0);
        fixed_pt +=
            panel->header.y1 - rect.y0 + footer_height(canvas, panel) + panel->strip_pt;
        weights += panel->weight;
    }
    double spare_pt = rect.y1 - rect.y0 - fixed_pt;
    double y = rect.y0;
    for (size_t i = 0; i < stack->count; i++) {
        struct fulcrum_panel *panel = &stack->panels[i];
        double frame_pt = fmax(least_frame_pt, spare_pt * panel->weight / weights);
        panel->header.y1 += y - panel->header.y0;
        panel->header.y0 = y;
        double top = panel->header.y1 + panel->strip_pt;
        panel->frame = (struct fulcrum_rect){
            rect.x0 + stack->left_pt, top, rect.x1, top + frame_pt};
        y = panel->frame.y1 + footer_height(canvas, panel) + gap_pt;
    }
}

void fulcrum_stack_place(const struct fulcrum_canvas *canvas,
    struct fulcrum_stack *stack, struct fulcrum_rect rect)
{
    place_frames(canvas, stack, rect);
    for (size_t i = 0; i < stack->count; i++) {
        struct fulcrum_panel *panel = &stack->panels[i];
        panel->x.from = panel->frame.x0;
        panel->x.to = panel->frame.x1;
        panel->y.from = panel->frame.y1;
        panel->y.to = panel->frame.y0;
    }
}

/* Each panel has its own y axis, with as many ticks as its height bears. */
static void fit_y(struct fulcrum_panel *panel)
{
    struct fulcrum_limits x_span = fulcrum_limits_none();
    struct fulcrum_limits y_span = fulcrum_limits_none();
    add_panel(panel, &x_span, &y_span);
    add_reach(&y_span, panel->y_reach);
    struct fulcrum_axis_options options = panel->y_options;
    options.ticks_wanted =
        fmax(least_y_ticks, (panel->frame.y1 - panel->frame.y0) / pt_per_y_tick);
    fulcrum_axis_fit(&panel->y, &y_span, &options);
}

void fulcrum_stack_fit(const struct fulcrum_canvas *canvas, struct fulcrum_stack *stack,
    struct fulcrum_rect rect)
{
    struct fulcrum_limits x_span = fulcrum_limits_none();
    struct fulcrum_limits y_span = fulcrum_limits_none();
    stack->left_pt = 0.0;
    place_frames(canvas, stack, rect);
    for (size_t i = 0; i < stack->count; i++) {
        fit_y(&stack->panels[i]);
        if (!fulcrum_panel_is_empty(&stack->panels[i])) {
            double label_pt = fulcrum_tick_labels_pt(canvas, &stack->panels[i].y);
            stack->left_pt = fmax(stack->left_pt, label_pt + tick_gap_pt);
        }
        add_panel(&stack->panels[i], &x_span, &y_span);
        add_reach(&x_span, stack->panels[i].x_reach);
    }
    struct fulcrum_axis_options options = stack->panels[0].x_options;
    options.ticks_wanted = (rect.x1 - rect.x0 - stack->left_pt) / pt_per_x_tick;
    for (size_t i = 0; i < stack->count; i++) {
        fulcrum_axis_fit(&stack->panels[i].x, &x_span, &options);
    }
}

/* Draws panels that have their place: grid, series, titles, labels. */

/* Up to here a line shows its points; beyond, markers would hide it. */
static const size_t few_points = 24;

/* Light lines across replace an axis line: values are read off them. */
static void draw_y_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen grid = fulcrum_palette_rule(FULCRUM_TONE_GRID, 0.6);
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
        .style = fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 1.0, 0.5),
        .from = panel->frame.y0 - 5.0,
        .to = panel->frame.y1 + 5.0,
        .across = panel->frame.x0 - tick_gap_pt + 1.0,
        .vertical = 1};
    fulcrum_tick_row_draw(canvas, &row);
}

/* Of ticks from `across` on away from the frame, and beyond them the axis' own. */
static void draw_x_labels(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, const struct fulcrum_axis *axis, double across,
    const char *label)
{
    bool is_above = across < panel->frame.y0;
    struct fulcrum_tick_row row = {.axis = axis,
        .style = fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 0.5, is_above ? 1.0 : 0.0),
        .from = panel->header.x0,
        .to = panel->header.x1 + 6.0,
        .across = across};
    fulcrum_tick_row_draw(canvas, &row);
    double ticks_pt = fulcrum_canvas_measure(canvas, &row.style, "0").height_pt;
    struct fulcrum_text style =
        fulcrum_palette_anchored(FULCRUM_TEXT_AXIS, 0.5, is_above ? 1.0 : 0.0);
    style.width_max_pt = panel->frame.x1 - panel->frame.x0;
    fulcrum_canvas_text(canvas, &style,
        (struct fulcrum_spot){(panel->frame.x0 + panel->frame.x1) / 2.0,
            is_above ? across - ticks_pt : across + ticks_pt + 1.0},
        label);
}

/* Ticks on every panel of a stack, labels only on the one that has x_label. */
static void draw_x_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.8);
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
    draw_x_labels(canvas, panel, &panel->x, y + tick_gap_pt, panel->x_label);
}

/* Ticks stand on the frame and point away from it, as those below do. */
static void draw_top_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.8);
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
    draw_x_labels(canvas, panel, &axis, y - tick_gap_pt, panel->top->label);
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

static bool is_disturbed(const struct fulcrum_panel_series *series, size_t i)
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

/* A line through few points shows where they are; of many, those that are hollow. */
static bool has_marker(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, size_t i)
{
    if (!shows(panel, series, i)) {
        return 0;
    }
    return series->look == FULCRUM_LOOK_MARKERS ||
           series->look == FULCRUM_LOOK_POINTS || stands_alone(panel, series, i) ||
           (series->look == FULCRUM_LOOK_LINE &&
               (series->count <= few_points ||
                   (series->hollow != NULL && series->hollow[i])));
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
    struct fulcrum_spot *room =
        fulcrum_canvas_room(canvas, 2 * series->count, sizeof *room);
    if (room == NULL) {
        return;
    }
    if (series->look == FULCRUM_LOOK_POINTS) {
        draw_bars(canvas, panel, series);
    } else if (series->lo != NULL && series->hi != NULL) {
        draw_band(canvas, panel, series, room);
    }
    if (series->look != FULCRUM_LOOK_MARKERS && series->look != FULCRUM_LOOK_POINTS) {
        /* One line per run of points between gaps. */
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
    draw_markers(canvas, panel, series);
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

/* A text beside a spot in values; a crowded panel may go without. */
static void draw_note(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel,
    struct fulcrum_spot spot, const char *text)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FINDING);
    style.weight = FULCRUM_TEXT_BOLD;
    if (fulcrum_axis_shows(&panel->x, spot.x) &&
        fulcrum_axis_shows(&panel->y, spot.y)) {
        (void)fulcrum_label_near(
            canvas, &style, spot_of(panel, spot.x, spot.y), panel->frame, text);
    }
}

/* From back to front. */
static void draw_panel(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    fulcrum_canvas_record(canvas, FULCRUM_BOX_PANEL, panel->frame);
    const struct fulcrum_header header = {panel->title, panel->finding};
    fulcrum_header_draw(canvas, &header, panel->header);
    if (fulcrum_panel_is_empty(panel)) {
        /* A grey field says that something was left out on purpose. */
        const struct fulcrum_pen pen = fulcrum_palette_rule(FULCRUM_GROUND_EMPTY, 0.0);
        fulcrum_canvas_fill_rect(canvas, &pen, panel->frame);
        struct fulcrum_text style =
            fulcrum_palette_anchored(FULCRUM_TEXT_EMPTY, 0.5, 0.5);
        style.width_max_pt = panel->frame.x1 - panel->frame.x0;
        fulcrum_canvas_text(
            canvas, &style, fulcrum_rect_centre(panel->frame), panel->empty_text);
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
    if (panel->best != NULL) {
        const struct fulcrum_marker star = {
            FULCRUM_MARKER_STAR, FULCRUM_MARKER_FULL, 9.0};
        struct fulcrum_pen pen = fulcrum_palette_rule(FULCRUM_TONE_INK, 0.5);
        pen.kind = FULCRUM_BOX_DATA;
        fulcrum_canvas_marker(
            canvas, &pen, &star, spot_of(panel, panel->best->x, panel->best->y));
        draw_note(canvas, panel, *panel->best, panel->best_text);
    }
    /* Last, when it is known what lies where. */
    for (size_t i = 0; i < panel->note_count; i++) {
        draw_note(canvas, panel, panel->notes[i].spot, panel->notes[i].text);
    }
}

void fulcrum_stack_draw(
    struct fulcrum_canvas *canvas, const struct fulcrum_stack *stack)
{
    /* Without any data the shared axis would show numbers that mean nothing. */
    bool empty = 1;
    for (size_t i = 0; i < stack->count; i++) {
        empty = empty && fulcrum_panel_is_empty(&stack->panels[i]);
    }
    for (size_t i = 0; i < stack->count; i++) {
        draw_panel(canvas, &stack->panels[i]);
        if (!empty) {
            draw_x_axis(canvas, &stack->panels[i]);
        }
    }
}
