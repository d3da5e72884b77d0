/* heat_frame.c - what surrounds a heat map: axes, and the scale of its colours. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/heat_frame.h"

#include <math.h>

#include "plots/heat_axis.h"
#include "plots/heat_lines.h"
#include "plots/palette.h"
#include "plots/ticks.h"

static const double tick_gap_pt = 5.5;
static const double bar_pt = 11.0;
static const double bar_gap_pt = 10.0;
static const double pt_per_tick = 42.0;
static const double pt_per_y_tick = 22.0;
/* Colours of the scale reach this far below the next ones. */
static const double overlap_pt = 0.25;

unsigned fulcrum_heat_colour(int index)
{
    return fulcrum_palette_heat(((double)index + 0.5) / FULCRUM_HEAT_COLOURS);
}

static double ticks_width(
    const struct fulcrum_canvas *canvas, const struct fulcrum_axis *axis)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_TICK);
    double width_pt = 0.0;
    for (size_t i = 0; i < axis->tick_count; i++) {
        width_pt = fmax(width_pt,
            fulcrum_canvas_measure(canvas, &style, axis->ticks[i].label).width_pt);
    }
    return width_pt;
}

/* What falls like 1/x would have one colour but for its largest values. */
static enum fulcrum_axis_kind colour_kind(const struct fulcrum_heat_frame *frame)
{
    const double much = 20.0;
    int falls = !frame->data->unjudged && frame->data->goal == FULCRUM_GOAL_LEAST;
    int is_wide = frame->span.lo > 0.0 && frame->span.hi >= much * frame->span.lo;
    return falls && is_wide ? FULCRUM_AXIS_LOG : FULCRUM_AXIS_AUTO;
}

/* Upright axes first: how wide their labels are says what is left for the other. */
void fulcrum_heat_frame_lay_out(const struct fulcrum_canvas *canvas,
    struct fulcrum_heat_frame *frame, struct fulcrum_rect body)
{
    double label_pt = fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_AXIS) + 2.0;
    struct fulcrum_rect panel = body;
    panel.y0 += fulcrum_header_height_pt(canvas, &frame->header, body.x1 - body.x0);
    panel.y1 -=
        tick_gap_pt + fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_TICK) + label_pt;
    double upright_ticks = (panel.y1 - panel.y0) / pt_per_y_tick;
    fulcrum_heat_axis_fit(&frame->y, &frame->data->y, upright_ticks);
    const struct fulcrum_axis_options options = {.kind = colour_kind(frame),
        .ticks_wanted = upright_ticks,
        .unit = frame->data->unit};
    fulcrum_axis_fit(&frame->colours, &frame->span, &options);
    panel.x0 += label_pt + ticks_width(canvas, &frame->y) + tick_gap_pt;
    panel.x1 -= bar_gap_pt + bar_pt + tick_gap_pt +
                ticks_width(canvas, &frame->colours) + label_pt;
    fulcrum_heat_axis_fit(
        &frame->x, &frame->data->x, (panel.x1 - panel.x0) / pt_per_tick);
    frame->colours.from = 0.0;
    frame->colours.to = 1.0;
    frame->x.from = panel.x0;
    frame->x.to = panel.x1;
    frame->y.from = panel.y1;
    frame->y.to = panel.y0;
    frame->panel = panel;
    frame->body = body;
}

static void draw_border(struct fulcrum_canvas *canvas, struct fulcrum_rect rect)
{
    const struct fulcrum_pen line = {
        .rgb = FULCRUM_TONE_SOFT, .width_pt = 0.8, .kind = FULCRUM_BOX_NONE};
    const struct fulcrum_spot spots[] = {{rect.x0, rect.y0}, {rect.x1, rect.y0},
        {rect.x1, rect.y1}, {rect.x0, rect.y1}, {rect.x0, rect.y0}};
    fulcrum_canvas_stroke(canvas, &line, spots, 5);
}

/* Ticks of an upright axis, on the left (to < 0) or the right of x. */
static void draw_upright_ticks(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_frame *frame, const struct fulcrum_axis *axis, double x,
    double to)
{
    const struct fulcrum_pen line = {
        .rgb = FULCRUM_TONE_SOFT, .width_pt = 0.8, .kind = FULCRUM_BOX_NONE};
    for (size_t i = 0; i < axis->tick_count; i++) {
        double y = fulcrum_axis_at(axis, axis->ticks[i].value);
        double length_pt = axis->ticks[i].label[0] != '\0' ? 3.5 : 2.0;
        fulcrum_canvas_line(canvas, &line, (struct fulcrum_spot){x, y},
            (struct fulcrum_spot){x + to * length_pt, y});
    }
    struct fulcrum_tick_row row = {.axis = axis,
        .style = fulcrum_palette_text(FULCRUM_TEXT_TICK),
        .from = frame->panel.y0 - 3.5,
        .to = frame->panel.y1 + 5.0,
        .across = x + to * (tick_gap_pt - 1.0),
        .vertical = 1};
    row.style.anchor_x = to < 0.0 ? 1.0 : 0.0;
    row.style.anchor_y = 0.5;
    fulcrum_tick_row_draw(canvas, &row);
}

/* Reads from below to above, as upright axes do. */
static void draw_upright_label(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_frame *frame, double x, const char *text)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_AXIS);
    style.anchor_x = 0.5;
    style.anchor_y = 0.5;
    style.rotation_deg = 90.0;
    style.width_max_pt = frame->panel.y1 - frame->panel.y0;
    fulcrum_canvas_text(canvas, &style,
        (struct fulcrum_spot){x, (frame->panel.y0 + frame->panel.y1) / 2.0}, text);
}

static void draw_x_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_heat_frame *frame)
{
    const struct fulcrum_pen line = {
        .rgb = FULCRUM_TONE_SOFT, .width_pt = 0.8, .kind = FULCRUM_BOX_NONE};
    double y = frame->panel.y1;
    for (size_t i = 0; i < frame->x.tick_count; i++) {
        double x = fulcrum_axis_at(&frame->x, frame->x.ticks[i].value);
        double length_pt = frame->x.ticks[i].label[0] != '\0' ? 3.5 : 2.0;
        fulcrum_canvas_line(canvas, &line, (struct fulcrum_spot){x, y},
            (struct fulcrum_spot){x, y + length_pt});
    }
    struct fulcrum_tick_row row = {.axis = &frame->x,
        .style = fulcrum_palette_text(FULCRUM_TEXT_TICK),
        .from = frame->body.x0,
        .to = frame->panel.x1 + 10.0,
        .across = y + tick_gap_pt};
    row.style.anchor_x = 0.5;
    fulcrum_tick_row_draw(canvas, &row);
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_AXIS);
    style.anchor_x = 0.5;
    style.width_max_pt = frame->panel.x1 - frame->panel.x0;
    fulcrum_canvas_text(canvas, &style,
        (struct fulcrum_spot){(frame->panel.x0 + frame->panel.x1) / 2.0,
            y + tick_gap_pt + fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_TICK) +
                1.0},
        frame->data->x.label);
}

/* The scale of colours, with the contours on it: those without a label too. */
static void draw_bar(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_frame *frame, const struct fulcrum_heat_lines *lines)
{
    struct fulcrum_rect bar = {frame->panel.x1 + bar_gap_pt, frame->panel.y0,
        frame->panel.x1 + bar_gap_pt + bar_pt, frame->panel.y1};
    double step_pt = (bar.y1 - bar.y0) / FULCRUM_HEAT_COLOURS;
    for (int k = 0; k < FULCRUM_HEAT_COLOURS; k++) {
        const struct fulcrum_pen pen = {
            .rgb = fulcrum_heat_colour(k), .kind = FULCRUM_BOX_NONE};
        double low = bar.y1 - step_pt * (double)k;
        double high = fmax(bar.y0, low - step_pt - overlap_pt);
        fulcrum_canvas_fill_rect(
            canvas, &pen, (struct fulcrum_rect){bar.x0, high, bar.x1, low});
    }
    struct fulcrum_axis axis = frame->colours;
    axis.from = bar.y1;
    axis.to = bar.y0;
    for (size_t i = 0; i < lines->count; i++) {
        const struct fulcrum_heat_level *level = &lines->levels[i];
        if (!level->is_ratio) {
            double share = fulcrum_axis_at(&frame->colours, level->value);
            const struct fulcrum_pen pen = {.rgb = fulcrum_palette_heat_ink(share),
                .width_pt = 1.0,
                .kind = FULCRUM_BOX_NONE};
            double y = fulcrum_axis_at(&axis, level->value);
            fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){bar.x0, y},
                (struct fulcrum_spot){bar.x1, y});
        }
    }
    draw_border(canvas, bar);
    draw_upright_ticks(canvas, frame, &axis, bar.x1, 1.0);
    double half_pt = fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_AXIS) / 2.0;
    draw_upright_label(
        canvas, frame, frame->body.x1 - half_pt, frame->data->value_name);
}

void fulcrum_heat_frame_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_frame *frame, const struct fulcrum_heat_lines *lines)
{
    double half_pt = fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_AXIS) / 2.0;
    fulcrum_header_draw(canvas, &frame->header, frame->body);
    fulcrum_canvas_record(canvas, FULCRUM_BOX_PANEL, frame->panel);
    draw_border(canvas, frame->panel);
    draw_upright_ticks(canvas, frame, &frame->y, frame->panel.x0, -1.0);
    draw_upright_label(canvas, frame, frame->body.x0 + half_pt, frame->data->y.label);
    draw_x_axis(canvas, frame);
    draw_bar(canvas, frame, lines);
}
