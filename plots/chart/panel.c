/* panel.c - lays out stacks of panels: which axes, which ticks, how much room. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Relative to the best itself, so that the unit does not matter. */
static const double plateau_frac = 0.01;

static bool is_usable(const struct fulcrum_panel_point *point)
{
    return isfinite(point->x) && isfinite(point->y);
}

/* The order matters: a flat curve is also a plateau, which may reach an end. */
static enum fulcrum_best_shape shape_of(const struct fulcrum_panel_point *start,
    const struct fulcrum_panel_point *end, const struct fulcrum_panel_point *top,
    const struct fulcrum_panel_point *first, bool is_flat)
{
    if (start == end) {
        return FULCRUM_BEST_ALONE;
    }
    if (is_flat) {
        return FULCRUM_BEST_FLAT;
    }
    if (first->x < top->x) {
        return FULCRUM_BEST_PLATEAU;
    }
    if (top->x <= start->x) {
        return FULCRUM_BEST_AT_START;
    }
    return top->x < end->x ? FULCRUM_BEST_PEAK : FULCRUM_BEST_AT_END;
}

struct fulcrum_best fulcrum_best_find(
    const struct fulcrum_panel_point *points, size_t count, enum fulcrum_goal goal)
{
    double sign = goal == FULCRUM_GOAL_MOST ? 1.0 : -1.0;
    double best = -INFINITY;
    const struct fulcrum_panel_point *start = NULL;
    const struct fulcrum_panel_point *end = NULL;
    const struct fulcrum_panel_point *top = NULL; /* of equal ones the first */
    size_t usable = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_usable(&points[i])) {
            usable++;
            end = &points[i];
            start = start == NULL ? end : start;
            top = sign * end->y > best ? end : top;
            best = fmax(best, sign * end->y);
        }
    }
    if (top == NULL) {
        return (struct fulcrum_best){.shape = FULCRUM_BEST_NONE};
    }
    const struct fulcrum_panel_point *first = top; /* within 1 % of the best */
    size_t near = 0;
    for (size_t i = count; i-- > 0;) {
        bool is_near = is_usable(&points[i]) &&
                       fabs(points[i].y - top->y) <= plateau_frac * fabs(top->y);
        first = is_near ? &points[i] : first;
        near += (size_t)is_near;
    }
    return (struct fulcrum_best){
        shape_of(start, end, top, first, near == usable), first->x, first->y, top->y};
}

void fulcrum_best_sentence(
    char *out, size_t size, const struct fulcrum_best *best, const char *x_name)
{
    static const struct {
        const char *before;
        const char *between;
        const char *after;
    } words[] = {
        [FULCRUM_BEST_ALONE] = {"", " at ", ", the only point"},
        [FULCRUM_BEST_FLAT] = {"within 1 % of ", " everywhere", ""},
        [FULCRUM_BEST_PLATEAU] = {"within 1 % of the best (", ") at ", " already"},
        [FULCRUM_BEST_AT_START] = {"best where the chart begins: ", " at ", ""},
        [FULCRUM_BEST_AT_END] = {"still improving where the chart ends: ", " at ", ""},
        [FULCRUM_BEST_PEAK] = {"best ", " at ", ""},
    };
    bool is_flat = best->shape == FULCRUM_BEST_FLAT;
    bool is_level = is_flat || best->shape == FULCRUM_BEST_PLATEAU;
    if (best->shape == FULCRUM_BEST_NONE) {
        (void)snprintf(out, size, "%s", "");
        return;
    }
    (void)snprintf(out, size, "%s%s%s%s%s%s%s", words[best->shape].before,
        fulcrum_si_text(is_level ? best->best_y : best->y, 3, NULL).chars,
        words[best->shape].between, is_flat ? "" : fulcrum_plain_text(best->x).chars,
        !is_flat && x_name[0] != '\0' ? " " : "", is_flat ? "" : x_name,
        words[best->shape].after);
}

static const double header_gap_pt = 1.0; /* beyond that of the header itself */
static const double panel_gap_pt = 6.0;
/* Taller pages breathe more. */
static const double panel_gap_frac = 0.012;
static const double least_frame_pt = 12.0;
static const double pt_per_y_tick = 20.0;
static const double least_y_ticks = 3.0;
static const double pt_per_x_tick = 42.0;

/* Intervals count too, so that bands stay inside the panel. */
static void add_series(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, struct fulcrum_limits *x_span,
    struct fulcrum_limits *y_span)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct fulcrum_panel_point *point = &series->points[i];
        if (fulcrum_axis_shows(panel->x_options.kind, point->x) &&
            fulcrum_axis_shows(panel->y_options.kind, point->y)) {
            const double x[] = {point->x, point->x_lo, point->x_hi};
            const double y[] = {point->y, point->lo, point->hi};
            fulcrum_limits_add_all(x_span, x, 3);
            fulcrum_limits_add_all(y_span, y, 3);
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

/* Only the lowest panel of a stack labels the shared axis. */
static double footer_height(
    const struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel)
{
    return panel->x_label != NULL
               ? fulcrum_axis_height_pt(canvas, panel->x_label[0] != '\0')
               : 0.0;
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
        panel->header.y1 = rect.y0;
        const struct fulcrum_header header = {panel->title, panel->finding};
        panel->header.y1 +=
            fulcrum_header_height_pt(canvas, &header, rect.x1 - rect.x0) +
            header_gap_pt;
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
            stack->left_pt = fmax(stack->left_pt,
                fulcrum_axis_width_pt(canvas, &stack->panels[i].y, false));
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

/* Up to here a line shows its points; beyond, markers would hide it. */
static const size_t few_points = 24;

/* Below, ticks on every panel of a stack, numbers only on the one that has x_label. */
static void draw_x_axis(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, const struct fulcrum_axis *axis,
    enum fulcrum_side side, const char *label)
{
    const struct fulcrum_side_axis at = {axis, side, panel->frame, panel->header.x0,
        panel->header.x1, label,
        FULCRUM_AXIS_LINE | FULCRUM_AXIS_TICKS |
            (label != NULL ? FULCRUM_AXIS_NUMBERS : 0U)};
    fulcrum_side_axis_draw(canvas, &at);
}

/* Points that an axis cannot show are gaps. */
static bool shows(
    const struct fulcrum_panel *panel, const struct fulcrum_panel_point *point)
{
    return fulcrum_axis_shows(panel->x.kind, point->x) &&
           fulcrum_axis_shows(panel->y.kind, point->y);
}

/* A value without an interval is drawn, but outside the band. */
static bool shows_interval(
    const struct fulcrum_panel *panel, const struct fulcrum_panel_point *point)
{
    return shows(panel, point) && fulcrum_axis_shows(panel->y.kind, point->lo) &&
           fulcrum_axis_shows(panel->y.kind, point->hi);
}

/* From values to the page. */
static struct fulcrum_spot spot_of(
    const struct fulcrum_panel *panel, double x, double y)
{
    return (struct fulcrum_spot){
        fulcrum_axis_at(&panel->x, x), fulcrum_axis_at(&panel->y, y)};
}

/* Of one point alone. Thin, so that many leave their markers readable, and as grey. */
static void draw_error_bar(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel_series *series, const struct fulcrum_panel_point *point,
    struct fulcrum_spot from, struct fulcrum_spot to)
{
    struct fulcrum_pen pen = fulcrum_palette_pen(series->style);
    pen.width_pt = series->count <= few_points ? 1.0 : 0.6;
    pen.opacity = series->count <= few_points ? 1.0 : 0.6;
    pen.dash = FULCRUM_DASH_SOLID;
    pen.rgb = point->is_disturbed ? (unsigned)FULCRUM_TONE_MUTED : pen.rgb;
    fulcrum_canvas_line(canvas, &pen, from, to);
}

/*
 * The intervals of points that no line connects. One of no length, such as that of a
 * value that others refer to, is no bar.
 */
static void draw_bars(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct fulcrum_panel_point *point = &series->points[i];
        if (shows_interval(panel, point) && point->lo < point->hi) {
            draw_error_bar(canvas, series, point, spot_of(panel, point->x, point->lo),
                spot_of(panel, point->x, point->hi));
        }
        if (shows(panel, point) && fulcrum_axis_shows(panel->x.kind, point->x_lo) &&
            fulcrum_axis_shows(panel->x.kind, point->x_hi) &&
            point->x_lo < point->x_hi) {
            draw_error_bar(canvas, series, point, spot_of(panel, point->x_lo, point->y),
                spot_of(panel, point->x_hi, point->y));
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
        const struct fulcrum_panel_point *points = &series->points[start];
        size_t run = 0;
        while (start + run < series->count && shows_interval(panel, &points[run])) {
            run++;
        }
        for (size_t i = 0; i < run; i++) {
            room[i] = spot_of(panel, points[i].x, points[i].lo);
            room[2 * run - 1 - i] = spot_of(panel, points[i].x, points[i].hi);
        }
        if (run == 1) {
            draw_error_bar(canvas, series, points, room[0], room[1]);
        } else {
            fulcrum_canvas_fill(canvas, &pen, room, 2 * run);
        }
        start += run + 1;
    }
}

/*
 * A line through few points shows where they are; of many, those that are hollow, and
 * those between gaps, which it would not show.
 */
static bool has_marker(const struct fulcrum_panel *panel,
    const struct fulcrum_panel_series *series, size_t i)
{
    const struct fulcrum_panel_point *point = &series->points[i];
    bool is_alone = !(i > 0 && shows(panel, point - 1)) &&
                    !(i + 1 < series->count && shows(panel, point + 1));
    return shows(panel, point) &&
           (is_alone || series->look == FULCRUM_LOOK_MARKERS ||
               series->look == FULCRUM_LOOK_POINTS ||
               (series->look == FULCRUM_LOOK_LINE &&
                   (series->count <= few_points || point->is_hollow)));
}

/* Disturbed samples are hollow and grey: seen, but not counted. */
static void draw_markers(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, const struct fulcrum_panel_series *series)
{
    struct fulcrum_marker marker = fulcrum_palette_marker(series->style);
    /* Many markers are small, or they would merge into a bar. */
    marker.size_pt = series->count <= few_points ? 4.5
                     : series->count <= 200      ? 3.4
                                                 : 2.2;
    for (size_t i = 0; i < series->count; i++) {
        const struct fulcrum_panel_point *point = &series->points[i];
        if (!has_marker(panel, series, i)) {
            continue;
        }
        struct fulcrum_pen pen = fulcrum_palette_pen(series->style);
        pen.dash = FULCRUM_DASH_SOLID;
        bool is_hollow = point->is_disturbed || point->is_hollow;
        pen.width_pt = is_hollow ? 0.8 : 0.4;
        pen.rgb = point->is_disturbed ? (unsigned)FULCRUM_TONE_MUTED : pen.rgb;
        marker.fill = is_hollow ? FULCRUM_MARKER_HOLLOW : FULCRUM_MARKER_FULL;
        fulcrum_canvas_marker(
            canvas, &pen, &marker, spot_of(panel, point->x, point->y));
    }
}

static void draw_series(struct fulcrum_canvas *canvas,
    const struct fulcrum_panel *panel, const struct fulcrum_panel_series *series)
{
    struct fulcrum_spot *room =
        fulcrum_canvas_room(canvas, 2 * series->count, sizeof *room);
    if (series->look == FULCRUM_LOOK_POINTS) {
        draw_bars(canvas, panel, series);
    } else {
        draw_band(canvas, panel, series, room);
    }
    if (series->look != FULCRUM_LOOK_MARKERS && series->look != FULCRUM_LOOK_POINTS) {
        /* One line per run of points between gaps. */
        struct fulcrum_pen pen = fulcrum_palette_pen(series->style);
        size_t run = 0;
        for (size_t i = 0; i < series->count; i++) {
            const struct fulcrum_panel_point *point = &series->points[i];
            if (shows(panel, point)) {
                room[run++] = spot_of(panel, point->x, point->y);
                continue;
            }
            fulcrum_canvas_stroke(canvas, &pen, room, run);
            run = 0;
        }
        fulcrum_canvas_stroke(canvas, &pen, room, run);
    }
    draw_markers(canvas, panel, series);
}

/* A text beside a spot in values; a crowded panel may go without. */
static void draw_note(struct fulcrum_canvas *canvas, const struct fulcrum_panel *panel,
    const struct fulcrum_panel_note *note)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FINDING);
    style.weight = FULCRUM_TEXT_BOLD;
    if (fulcrum_axis_shows(panel->x.kind, note->spot.x) &&
        fulcrum_axis_shows(panel->y.kind, note->spot.y)) {
        (void)fulcrum_label_near(canvas, &style,
            spot_of(panel, note->spot.x, note->spot.y), panel->frame, note->text);
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
    /* Light lines across replace an axis line: values are read off them. */
    const struct fulcrum_side_axis left = {.axis = &panel->y,
        .side = FULCRUM_SIDE_LEFT,
        .frame = panel->frame,
        .parts = FULCRUM_AXIS_GRID | FULCRUM_AXIS_NUMBERS};
    fulcrum_side_axis_draw(canvas, &left);
    if (panel->top != NULL) {
        struct fulcrum_axis axis = panel->x;
        axis.tick_count = panel->top->tick_count;
        memcpy(axis.ticks, panel->top->ticks, axis.tick_count * sizeof axis.ticks[0]);
        draw_x_axis(canvas, panel, &axis, FULCRUM_SIDE_ABOVE, panel->top->label);
    }
    /* Behind the data, so they come first. */
    const struct fulcrum_pen pen = {.rgb = FULCRUM_TONE_MUTED,
        .width_pt = 0.6,
        .dash = FULCRUM_DASH_DOT,
        .kind = FULCRUM_BOX_GUIDE};
    for (size_t i = 0; i < panel->guide_count; i++) {
        double x = fulcrum_axis_at(&panel->x, panel->guides[i]);
        fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){x, panel->frame.y1},
            (struct fulcrum_spot){x, panel->frame.y0});
    }
    for (size_t i = 0; i < panel->series_count; i++) {
        draw_series(canvas, panel, &panel->series[i]);
    }
    if (panel->best.text[0] != '\0') {
        fulcrum_canvas_star(
            canvas, spot_of(panel, panel->best.spot.x, panel->best.spot.y));
        draw_note(canvas, panel, &panel->best);
    }
    /* Last, when it is known what lies where. */
    for (size_t i = 0; i < panel->note_count; i++) {
        draw_note(canvas, panel, &panel->notes[i]);
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
            const struct fulcrum_panel *panel = &stack->panels[i];
            draw_x_axis(canvas, panel, &panel->x, FULCRUM_SIDE_BELOW, panel->x_label);
        }
    }
}
