/* heat_lines.c - contours and lines of constant ratio over a heat map. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/heat_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/line_label.h"
#include "plots/palette.h"

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

static void choose_round(
    struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame)
{
    struct fulcrum_axis axis = {.kind = frame->colours.kind};
    const struct fulcrum_axis_options options = {
        .kind = frame->colours.kind, .ticks_wanted = 7.0, .unit = frame->data->unit};
    fulcrum_axis_fit(&axis, &frame->span, &options);
    for (size_t i = 0; i < axis.tick_count; i++) {
        if (axis.ticks[i].label[0] != '\0') {
            add_level(lines, frame, axis.ticks[i].value, axis.ticks[i].label);
        }
    }
}

static void add_ratio(struct fulcrum_heat_lines *lines, double exponent)
{
    if (lines->count == FULCRUM_HEAT_LEVELS_MAX) {
        return;
    }
    struct fulcrum_heat_level *level = &lines->levels[lines->count++];
    *level = (struct fulcrum_heat_level){.value = exponent, .is_ratio = 1};
    (void)snprintf(level->label, sizeof level->label, "ratio %s%.0f",
        exponent < 0.0 ? "1/" : "", exp2(fabs(exponent)));
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
    for (size_t i = 0; i < count; i++) {
        add_ratio(lines, (first + (double)i) * step);
    }
}

void fulcrum_heat_lines_choose(
    struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame)
{
    const struct fulcrum_heat_data *data = frame->data;
    if (data->x.count < 2 || data->y.count < 2) {
        return;
    }
    int has_shares = !data->unjudged && frame->span.lo > 0.0;
    if (data->contours == FULCRUM_HEAT_SHARES && has_shares) {
        choose_shares(lines, frame);
    } else if (data->contours != FULCRUM_HEAT_PLAIN) {
        choose_round(lines, frame);
    }
    if (data->cpu_gpu_ratio != NULL) {
        choose_ratios(lines, data);
    }
}

/* Arrays that a tracing needs: places on the page, and the values to trace. */
struct grids {
    double *x;
    double *y;
    double *value;
    double *ratio_log2;
};

static void grids_fill(struct grids *grids, const struct fulcrum_heat_frame *frame)
{
    const struct fulcrum_heat_data *data = frame->data;
    for (size_t i = 0; i < data->x.count; i++) {
        grids->x[i] = fulcrum_axis_at(&frame->x, data->x.values[i]);
    }
    for (size_t j = 0; j < data->y.count; j++) {
        grids->y[j] = fulcrum_axis_at(&frame->y, data->y.values[j]);
    }
    for (size_t i = 0; i < data->x.count * data->y.count; i++) {
        int is_hole = data->cannot_run != NULL && data->cannot_run[i];
        grids->value[i] = is_hole ? (double)NAN : data->value[i];
        double ratio =
            data->cpu_gpu_ratio != NULL ? data->cpu_gpu_ratio[i] : (double)NAN;
        grids->ratio_log2[i] = ratio > 0.0 ? log2(ratio) : (double)NAN;
    }
}

/* Along the x axis and along the y axis a ratio of the two is linear as a logarithm. */
static enum fulcrum_status trace_all(struct fulcrum_heat_lines *lines,
    const struct fulcrum_heat_data *data, const struct grids *grids,
    struct fulcrum_error *err)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct fulcrum_contour_grid grid = {.x = grids->x,
            .y = grids->y,
            .x_count = data->x.count,
            .y_count = data->y.count,
            .value = lines->levels[i].is_ratio ? grids->ratio_log2 : grids->value};
        TRY(fulcrum_contour_trace(
            &grid, lines->levels[i].value, &lines->contours[i], err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_heat_lines_trace(struct fulcrum_heat_lines *lines,
    const struct fulcrum_heat_frame *frame, struct fulcrum_error *err)
{
    const struct fulcrum_heat_data *data = frame->data;
    size_t cells = data->x.count * data->y.count;
    if (lines->count == 0) {
        return FULCRUM_OK;
    }
    struct grids grids = {calloc(data->x.count, sizeof *grids.x),
        calloc(data->y.count, sizeof *grids.y), calloc(cells, sizeof *grids.value),
        calloc(cells, sizeof *grids.ratio_log2)};
    int has_room = grids.x != NULL && grids.y != NULL && grids.value != NULL &&
                   grids.ratio_log2 != NULL;
    enum fulcrum_status status = FULCRUM_OK;
    if (has_room) {
        grids_fill(&grids, frame);
        status = trace_all(lines, data, &grids, err);
    } else {
        status = fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for contours");
    }
    free(grids.x);
    free(grids.y);
    free(grids.value);
    free(grids.ratio_log2);
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

/* Along a contour the colour below is the same, so that one ink does for all of it. */
static void draw_level(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_lines *lines, size_t i,
    const struct fulcrum_heat_frame *frame)
{
    const struct fulcrum_heat_level *level = &lines->levels[i];
    if (level->is_ratio) {
        const struct fulcrum_pen paper = {.rgb = FULCRUM_GROUND_PAPER,
            .opacity = 0.75,
            .width_pt = 2.6,
            .kind = FULCRUM_BOX_NONE};
        const struct fulcrum_pen ink = {.rgb = FULCRUM_TONE_INK,
            .width_pt = 1.1,
            .dash = FULCRUM_DASH_DOT,
            .kind = FULCRUM_BOX_NONE};
        stroke_contour(canvas, &paper, &lines->contours[i]);
        stroke_contour(canvas, &ink, &lines->contours[i]);
        return;
    }
    double share = fulcrum_axis_at(&frame->colours, level->value);
    const struct fulcrum_pen pen = {.rgb = fulcrum_palette_heat_ink(share),
        .width_pt = 1.0,
        .kind = FULCRUM_BOX_NONE};
    stroke_contour(canvas, &pen, &lines->contours[i]);
}

void fulcrum_heat_lines_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame)
{
    for (size_t i = 0; i < lines->count; i++) {
        draw_level(canvas, lines, i, frame);
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
