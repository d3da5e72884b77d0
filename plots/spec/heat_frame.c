/* heat_frame.c - what surrounds a heat map: axes, and the scale of its colours. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/heat_frame.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/axis.h"
#include "plots/chart/canvas.h"
#include "plots/chart/contour.h"
#include "plots/chart/label.h"
#include "plots/chart/page.h"
#include "plots/spec/charts.h"

/* The scale of a heat map's axis, and where its cells end. */

/* How unequal steps are: variance over the square of their mean. */
static double unevenness(const double *values, size_t count, int of_logs)
{
    double sum = 0.0;
    double squares = 0.0;
    double steps = (double)(count - 1);
    for (size_t i = 1; i < count; i++) {
        double step =
            of_logs ? log(values[i] / values[i - 1]) : values[i] - values[i - 1];
        sum += step;
        squares += step * step;
    }
    return squares * steps / (sum * sum);
}

enum fulcrum_axis_kind fulcrum_heat_axis_kind(const struct fulcrum_heat_axis *axis)
{
    const double *values = axis->values;
    size_t count = axis->count;
    if (count < 2 || !(values[0] > 0.0) || values[count - 1] < 2.0 * values[0]) {
        return FULCRUM_AXIS_LINEAR;
    }
    int grows = count == 2
                    ? values[1] >= 4.0 * values[0]
                    : unevenness(values, count, 1) < unevenness(values, count, 0);
    size_t twos = 0;
    for (size_t i = 0; i < count; i++) {
        double power = log2(values[i]);
        twos += fabs(power - round(power)) < 1e-9 ? 1U : 0U;
    }
    if (!grows) {
        return FULCRUM_AXIS_LINEAR;
    }
    return 2 * twos > count ? FULCRUM_AXIS_LOG2 : FULCRUM_AXIS_LOG;
}

static double half_way(enum fulcrum_axis_kind kind, double a, double b)
{
    return kind == FULCRUM_AXIS_LINEAR ? a / 2.0 + b / 2.0 : sqrt(a) * sqrt(b);
}

/* No axis reaches farther. */
static const double largest = 1e300;

/* As far beyond the first or last value as its neighbour's cell is away. */
static double outer_edge(enum fulcrum_axis_kind kind, double end, double neighbour)
{
    double edge = half_way(kind, end, neighbour);
    if (kind == FULCRUM_AXIS_LINEAR) {
        return fmin(fmax(end - (edge - end), -largest), largest);
    }
    return fmin(fmax(end * (end / edge), 1.0 / largest), largest);
}

double fulcrum_heat_axis_edge(
    const struct fulcrum_heat_axis *axis, enum fulcrum_axis_kind kind, size_t i)
{
    const double *values = axis->values;
    size_t last = axis->count - 1;
    if (last == 0) {
        double half = values[0] == 0.0 ? 0.5 : fabs(values[0]) * 0.1;
        return i == 0 ? values[0] - half : values[0] + half;
    }
    if (i == 0) {
        return outer_edge(kind, values[0], values[1]);
    }
    return i > last ? outer_edge(kind, values[last], values[last - 1])
                    : half_way(kind, values[i - 1], values[i]);
}

void fulcrum_heat_axis_fit(
    struct fulcrum_axis *out, const struct fulcrum_heat_axis *axis, double ticks_wanted)
{
    const struct fulcrum_axis_options options = {
        .kind = fulcrum_heat_axis_kind(axis), .ticks_wanted = ticks_wanted};
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add(&span, fulcrum_heat_axis_edge(axis, options.kind, 0));
    fulcrum_limits_add(&span, fulcrum_heat_axis_edge(axis, options.kind, axis->count));
    fulcrum_axis_fit(out, &span, &options);
    if ((double)axis->count <= fmin(ticks_wanted, FULCRUM_TICKS_MAX)) {
        /* Between few values round numbers would only distract. */
        out->tick_count = axis->count;
        for (size_t i = 0; i < axis->count; i++) {
            out->ticks[i] = (struct fulcrum_tick){.value = axis->values[i]};
            fulcrum_plain_text(
                out->ticks[i].label, sizeof out->ticks[i].label, axis->values[i]);
        }
    }
}

/* Contours and lines of constant ratio over a heat map. */

/* Ratios are powers of four, or of sixteen where that would be too many lines. */
enum { RATIO_LINES_MOST = 6, TAKEN_MOST = 96 };

static const double label_margin_pt = 1.5;

/* At the ends of the span a contour is a spot or the border. */
static void add_level(struct fulcrum_heat_lines *lines,
    const struct fulcrum_heat_frame *frame, double value, const char *label)
{
    if (lines->count == FULCRUM_HEAT_LEVELS_MAX || !(value > frame->span.lo) ||
        !(value < frame->span.hi)) {
        return;
    }
    struct fulcrum_heat_level *level = &lines->levels[lines->count++];
    *level = (struct fulcrum_heat_level){.value = value};
    (void)snprintf(level->label, sizeof level->label, "%s", label);
}

static void choose_shares(
    struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame)
{
    static const double of_most[] = {0.5, 0.8, 0.9, 0.95, 0.99};
    static const double of_least[] = {2.0, 1.25, 1.1, 1.05, 1.01};
    int most = frame->data->goal == FULCRUM_GOAL_MOST;
    lines->are_shares = 1;
    for (size_t i = 0; i < sizeof of_most / sizeof of_most[0]; i++) {
        char label[FULCRUM_HEAT_LABEL_SIZE];
        double share = most ? of_most[i] : of_least[i];
        (void)snprintf(label, sizeof label, "%.0f %%", 100.0 * share);
        add_level(
            lines, frame, share * (most ? frame->span.hi : frame->span.lo), label);
    }
}

static void choose_ratios(
    struct fulcrum_heat_lines *lines, const struct fulcrum_heat_data *data)
{
    double lo = INFINITY;
    double hi = -INFINITY;
    for (size_t i = 0; i < data->x.count * data->y.count; i++) {
        double ratio = data->cpu_gpu_ratio[i];
        if (isfinite(ratio) && ratio > 0.0) {
            lo = fmin(lo, log2(ratio));
            hi = fmax(hi, log2(ratio));
        }
    }
    double twos = hi > lo ? ceil(hi / 2.0) - floor(lo / 2.0) - 1.0 : 0.0;
    double step = twos > RATIO_LINES_MOST ? 4.0 : 2.0;
    double first = floor(lo / step) + 1.0;
    size_t count = hi > lo ? (size_t)fmax(0.0, ceil(hi / step) - first) : 0;
    for (size_t i = 0; i < count && lines->count < FULCRUM_HEAT_LEVELS_MAX; i++) {
        double exponent = (first + (double)i) * step;
        struct fulcrum_heat_level *level = &lines->levels[lines->count++];
        *level = (struct fulcrum_heat_level){.value = exponent, .is_ratio = 1};
        (void)snprintf(level->label, sizeof level->label, "ratio %s%.0f",
            exponent < 0.0 ? "1/" : "", exp2(fabs(exponent)));
    }
}

void fulcrum_heat_lines_choose(
    struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame)
{
    const struct fulcrum_heat_data *data = frame->data;
    if (data->x.count < 2 || data->y.count < 2) {
        return;
    }
    bool has_shares = !data->unjudged && frame->span.lo > 0.0;
    if (data->contours == FULCRUM_HEAT_SHARES && has_shares) {
        choose_shares(lines, frame);
    } else if (data->contours != FULCRUM_HEAT_PLAIN) {
        struct fulcrum_axis axis = {.kind = frame->colours.kind};
        const struct fulcrum_axis_options options = {.kind = frame->colours.kind,
            .ticks_wanted = 7.0,
            .unit = frame->data->unit};
        fulcrum_axis_fit(&axis, &frame->span, &options);
        for (size_t i = 0; i < axis.tick_count; i++) {
            if (axis.ticks[i].label[0] != '\0') {
                add_level(lines, frame, axis.ticks[i].value, axis.ticks[i].label);
            }
        }
    }
    if (data->cpu_gpu_ratio != NULL) {
        choose_ratios(lines, data);
    }
}

enum fulcrum_status fulcrum_heat_lines_trace(struct fulcrum_heat_lines *lines,
    const struct fulcrum_heat_frame *frame, struct fulcrum_error *err)
{
    const struct fulcrum_heat_data *data = frame->data;
    size_t x_count = data->x.count;
    size_t y_count = data->y.count;
    size_t cells = x_count * y_count;
    if (lines->count == 0) {
        return FULCRUM_OK;
    }
    /* Places on the page, and the values to trace. */
    double *x = calloc(x_count + y_count + 2 * cells, sizeof *x);
    TRY_MEMORY(x, err, "no memory for contours");
    double *y = x + x_count;
    double *value = y + y_count;
    double *ratio_log2 = value + cells;
    for (size_t i = 0; i < x_count; i++) {
        x[i] = fulcrum_axis_at(&frame->x, data->x.values[i]);
    }
    for (size_t j = 0; j < y_count; j++) {
        y[j] = fulcrum_axis_at(&frame->y, data->y.values[j]);
    }
    for (size_t i = 0; i < cells; i++) {
        bool is_hole = data->cannot_run != NULL && data->cannot_run[i];
        value[i] = is_hole ? (double)NAN : data->value[i];
        double ratio =
            data->cpu_gpu_ratio != NULL ? data->cpu_gpu_ratio[i] : (double)NAN;
        ratio_log2[i] = ratio > 0.0 ? log2(ratio) : (double)NAN;
    }
    /* Along either axis a ratio of the two is linear as a logarithm. */
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < lines->count && status == FULCRUM_OK; i++) {
        const struct fulcrum_heat_level *level = &lines->levels[i];
        const struct fulcrum_contour_grid grid = {
            x, y, x_count, y_count, level->is_ratio ? ratio_log2 : value};
        status = fulcrum_contour_trace(&grid, level->value, &lines->contours[i], err);
    }
    free(x);
    return status;
}

static void stroke_contour(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_contour *contour)
{
    for (size_t k = 0; k < contour->line_count; k++) {
        fulcrum_canvas_stroke(
            canvas, pen, contour->lines[k].spots, contour->lines[k].count);
    }
}

void fulcrum_heat_lines_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame)
{
    struct fulcrum_pen paper = fulcrum_palette_rule(FULCRUM_GROUND_PAPER, 2.6);
    struct fulcrum_pen ink = fulcrum_palette_rule(FULCRUM_TONE_INK, 1.1);
    paper.opacity = 0.75;
    ink.dash = FULCRUM_DASH_DOT;
    for (size_t i = 0; i < lines->count; i++) {
        if (lines->levels[i].is_ratio) {
            stroke_contour(canvas, &paper, &lines->contours[i]);
            stroke_contour(canvas, &ink, &lines->contours[i]);
            continue;
        }
        /* Along a contour the colour below is the same: one ink does for all of it. */
        double share = fulcrum_axis_at(&frame->colours, lines->levels[i].value);
        const struct fulcrum_pen pen =
            fulcrum_palette_rule(fulcrum_palette_heat_ink(share), 1.0);
        stroke_contour(canvas, &pen, &lines->contours[i]);
    }
}

/* A plate of the colour below breaks the line, as if it left its label free. */
static void draw_label(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_level *level, const struct fulcrum_heat_frame *frame,
    struct fulcrum_rect rect)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    struct fulcrum_pen plate = {.rgb = FULCRUM_GROUND_PAPER, .kind = FULCRUM_BOX_NONE};
    style.rgb = FULCRUM_TONE_INK;
    style.anchor_x = 0.5;
    style.anchor_y = 0.5;
    if (!level->is_ratio) {
        double share = fulcrum_axis_at(&frame->colours, level->value);
        plate.rgb = fulcrum_palette_heat(share);
        style.rgb = fulcrum_palette_heat_ink(share);
    }
    fulcrum_canvas_fill_rect(canvas, &plate, rect);
    fulcrum_canvas_text(canvas, &style,
        (struct fulcrum_spot){(rect.x0 + rect.x1) / 2.0, (rect.y0 + rect.y1) / 2.0},
        level->label);
}

void fulcrum_heat_lines_label(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame,
    const struct fulcrum_label_room *room)
{
    const struct fulcrum_line_crowd crowd = {lines->contours, lines->count};
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    struct fulcrum_rect taken[TAKEN_MOST];
    struct fulcrum_label_room rest = *room;
    rest.taken = taken;
    rest.taken_count = 0;
    for (size_t i = 0; i < room->taken_count && i < TAKEN_MOST / 2; i++) {
        taken[rest.taken_count++] = room->taken[i];
    }
    for (size_t i = 0; i < lines->count && rest.taken_count < TAKEN_MOST; i++) {
        struct fulcrum_extent extent =
            fulcrum_canvas_measure(canvas, &style, lines->levels[i].label);
        extent.width_pt += 2.0 * label_margin_pt;
        struct fulcrum_rect rect;
        if (fulcrum_line_label_find(&crowd, i, &rest, extent, &rect)) {
            draw_label(canvas, &lines->levels[i], frame, rect);
            taken[rest.taken_count++] = rect;
        }
    }
}

void fulcrum_heat_lines_clear(struct fulcrum_heat_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        fulcrum_contour_clear(&lines->contours[i]);
    }
    lines->count = 0;
}

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

/* What falls like 1/x would have one colour but for its largest values. */
static enum fulcrum_axis_kind colour_kind(const struct fulcrum_heat_frame *frame)
{
    const double much = 20.0;
    int falls = !frame->data->unjudged && frame->data->goal == FULCRUM_GOAL_LEAST;
    bool is_wide = frame->span.lo > 0.0 && frame->span.hi >= much * frame->span.lo;
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
    panel.x0 += label_pt + fulcrum_tick_labels_pt(canvas, &frame->y) + tick_gap_pt;
    panel.x1 -= bar_gap_pt + bar_pt + tick_gap_pt +
                fulcrum_tick_labels_pt(canvas, &frame->colours) + label_pt;
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
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.8);
    const struct fulcrum_spot spots[] = {{rect.x0, rect.y0}, {rect.x1, rect.y0},
        {rect.x1, rect.y1}, {rect.x0, rect.y1}, {rect.x0, rect.y0}};
    fulcrum_canvas_stroke(canvas, &line, spots, 5);
}

/* Ticks of an upright axis, on the left (to < 0) or the right of x. */
static void draw_upright_ticks(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_frame *frame, const struct fulcrum_axis *axis, double x,
    double to)
{
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.8);
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
    struct fulcrum_text style = fulcrum_palette_anchored(FULCRUM_TEXT_AXIS, 0.5, 0.5);
    style.rotation_deg = 90.0;
    style.width_max_pt = frame->panel.y1 - frame->panel.y0;
    fulcrum_canvas_text(canvas, &style,
        (struct fulcrum_spot){x, (frame->panel.y0 + frame->panel.y1) / 2.0}, text);
}

static void draw_x_axis(
    struct fulcrum_canvas *canvas, const struct fulcrum_heat_frame *frame)
{
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.8);
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
    struct fulcrum_text style = fulcrum_palette_anchored(FULCRUM_TEXT_AXIS, 0.5, 0.0);
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
        const struct fulcrum_pen pen =
            fulcrum_palette_rule(fulcrum_heat_colour(k), 0.0);
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
            const struct fulcrum_pen pen =
                fulcrum_palette_rule(fulcrum_palette_heat_ink(share), 1.0);
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
