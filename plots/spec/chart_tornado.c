/* chart_tornado.c - what each number does to a prediction, alone and with the others.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A panel per metric: fields by the length of their bars, the longest on top. Left are
 * the bars, from the metric as it is to what it becomes with one field at its 5 % and
 * at its 95 % point; where both ends lie on one side, each has half of the height.
 * Right are shares of variance, the total one behind the first-order one: what sticks
 * out is due to interactions. Rows that find no place are counted in the last line.
 */
#include "model/try.h"
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/chart/canvas.h"
#include "plots/chart/page.h"
#include "plots/chart/rows.h"

enum { LOW_STYLE = 0, HIGH_STYLE = 1, SHARE_STYLE = 2, TOTAL_STYLE = 7 };

/* Significant digits of the numbers at the ends of bars. */
enum { DIGITS_LEAST = 3, DIGITS_MOST = 6 };

static const double gap_pt = 6.0;
static const double panel_gap_pt = 12.0;
static const double between_pt = 18.0; /* bars and shares */
static const double header_gap_pt = 4.0;
static const double tick_gap_pt = 5.5;
static const double least_row_pt = 11.5;
/* Rows of this height have room for a second line with the field's reach. */
static const double tall_row_pt = 25.0;
static const double most_row_pt = 44.0;
static const double name_frac = 0.36;  /* of the width, at most */
static const double share_frac = 0.27; /* of the width */
static const double narrow_pt = 420.0; /* pages below this have no shares */
static const double pt_per_tick = 52.0;
static const double bar_height_frac = 0.62;
static const char share_heads[] = "first  total";

/* A row that has its place in the order of bars. */
struct ranked {
    const struct fulcrum_tornado_row *row;
    double effect;
    size_t place;
};

/* One panel as it is laid out. */
struct layout {
    const struct fulcrum_tornado_panel *panel;
    struct ranked *rows;
    size_t count; /* of those worth a line of their own */
    struct fulcrum_rect rect;
    struct fulcrum_rect bars;
    struct fulcrum_rect shares; /* empty on narrow pages */
    double row_pt;
    size_t shown;
    int digits; /* as many as it takes to tell ends of bars apart */
    struct fulcrum_axis axis;
    struct fulcrum_axis share_axis;
};

struct picture {
    const struct fulcrum_tornado_data *data;
    struct layout layouts[FULCRUM_TORNADO_PANELS_MAX];
};

static double text_width(const struct fulcrum_canvas *canvas, const char *text)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_TICK);
    return fulcrum_canvas_measure(canvas, &style, text).width_pt;
}

static double effect_of(const struct fulcrum_tornado_row *row, double value)
{
    double lo = isfinite(row->lo) ? row->lo : value;
    double hi = isfinite(row->hi) ? row->hi : value;
    return fmax(fmax(lo, hi), value) - fmin(fmin(lo, hi), value);
}

/* Longest bars first; where they are equal, the larger share, then as given. */
static int compare(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->effect < y->effect || x->effect > y->effect) {
        return x->effect < y->effect ? 1 : -1;
    }
    if (x->row->total < y->row->total || x->row->total > y->row->total) {
        return x->row->total < y->row->total ? 1 : -1;
    }
    return x->place < y->place ? -1 : 1;
}

/* Neither a bar nor a share that could be seen. */
static bool is_small(const struct ranked *ranked, double longest)
{
    return ranked->effect < 2e-3 * longest && ranked->row->total < 1.5e-3;
}

/* Returns 0 where memory is short. */
static bool rank_rows(struct fulcrum_canvas *canvas, struct layout *layout)
{
    const struct fulcrum_tornado_panel *panel = layout->panel;
    struct ranked *rows = fulcrum_canvas_room(canvas, panel->count, sizeof *rows);
    layout->rows = rows;
    for (size_t i = 0; rows != NULL && i < panel->count; i++) {
        const struct fulcrum_tornado_row *row = &panel->rows[i];
        rows[i] = (struct ranked){row, effect_of(row, panel->value), i};
    }
    if (rows != NULL && panel->count > 0) {
        qsort(rows, panel->count, sizeof *rows, compare);
    }
    double longest = rows != NULL ? rows[0].effect : 0.0;
    for (size_t i = 0; rows != NULL && i < panel->count; i++) {
        if (!is_small(&rows[i], longest)) {
            rows[layout->count++] = rows[i];
        }
    }
    return rows != NULL;
}

static double header_height(
    const struct fulcrum_canvas *canvas, const struct fulcrum_tornado_panel *panel)
{
    double finding_pt =
        panel->finding != NULL
            ? fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_FINDING) + 1.0
            : 0.0;
    return fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_PANEL_TITLE) + finding_pt +
           header_gap_pt;
}

/* Its rows, and a line that counts those left out. */
static size_t line_count(const struct layout *layout)
{
    size_t lines = layout->count + (layout->count < layout->panel->count ? 1 : 0);
    return lines > 0 ? lines : 1;
}

/* Panels share the body by their rows, none getting taller ones than it needs. */
static void share_body(const struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_rect body)
{
    size_t count = picture->data->count;
    double fixed_pt = panel_gap_pt * (double)(count - 1);
    double rows = 0.0;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_tornado_panel *panel = &picture->data->panels[i];
        fixed_pt += header_height(canvas, panel) + fulcrum_rows_axis_height_pt(canvas);
        rows += (double)line_count(&picture->layouts[i]);
    }
    double row_pt = fmin(most_row_pt, (body.y1 - body.y0 - fixed_pt) / rows);
    double y = body.y0;
    for (size_t i = 0; i < count; i++) {
        struct layout *layout = &picture->layouts[i];
        double height_pt = header_height(canvas, layout->panel) +
                           fulcrum_rows_axis_height_pt(canvas) +
                           row_pt * (double)line_count(layout);
        layout->rect = (struct fulcrum_rect){body.x0, y, body.x1, y + height_pt};
        y += height_pt + panel_gap_pt;
    }
}

static double widest_name(
    const struct fulcrum_canvas *canvas, const struct layout *layout)
{
    double widest = text_width(canvas, "and 99 more");
    for (size_t i = 0; i < layout->count; i++) {
        const struct fulcrum_tornado_row *row = layout->rows[i].row;
        widest = fmax(widest, text_width(canvas, row->name));
        widest = fmax(widest, text_width(canvas, row->reach));
    }
    return widest;
}

/* Names of all panels take the same width, so that frames stand below each other. */
static void place_frames(const struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_rect body)
{
    double width_pt = body.x1 - body.x0;
    double name_pt = 0.0;
    for (size_t i = 0; i < picture->data->count; i++) {
        name_pt = fmax(name_pt, widest_name(canvas, &picture->layouts[i]));
    }
    name_pt = fmin(name_pt, name_frac * width_pt);
    double share_pt = width_pt < narrow_pt ? 0.0 : share_frac * width_pt;
    for (size_t i = 0; i < picture->data->count; i++) {
        struct layout *layout = &picture->layouts[i];
        double y0 = layout->rect.y0 + header_height(canvas, layout->panel);
        double y1 = layout->rect.y1 - fulcrum_rows_axis_height_pt(canvas);
        double x1 = body.x1 - (share_pt > 0.0 ? share_pt + between_pt : 0.0);
        layout->bars = (struct fulcrum_rect){body.x0 + name_pt + gap_pt, y0, x1, y1};
        layout->shares = (struct fulcrum_rect){body.x1 - share_pt, y0, body.x1, y1};
        /* Rows that would be too low make room for fewer of them, and the line that
         * counts. */
        double height_pt = layout->bars.y1 - layout->bars.y0;
        size_t room = (size_t)fmax(1.0, floor(height_pt / least_row_pt));
        size_t lines = line_count(layout);
        layout->shown = layout->count;
        if (lines > room) {
            lines = room;
            layout->shown = room - 1;
        }
        layout->row_pt = height_pt / (double)lines;
    }
}

/* Three for bars as long as the value, one more for each power of ten below that. */
static int digits_for(double value, double longest)
{
    if (!(fabs(value) > 0.0) || !(longest > 0.0)) {
        return DIGITS_LEAST;
    }
    double extra = log10(fabs(value) / longest);
    double digits = (double)DIGITS_LEAST + ceil(fmax(0.0, extra));
    return (int)fmin(digits, (double)DIGITS_MOST);
}

/* Bars leave room at both ends for the widest of the texts there. */
static void fit_bars(const struct fulcrum_canvas *canvas, struct layout *layout)
{
    struct fulcrum_limits limits = fulcrum_limits_none();
    double widest_pt = 0.0;
    layout->digits = digits_for(
        layout->panel->value, layout->count > 0 ? layout->rows[0].effect : 0.0);
    for (size_t i = 0; i < layout->count; i++) {
        const double ends[] = {layout->rows[i].row->lo, layout->rows[i].row->hi};
        for (size_t k = 0; k < 2; k++) {
            char text[32];
            fulcrum_limits_add(&limits, ends[k]);
            fulcrum_si_text(
                text, sizeof text, ends[k], layout->digits, layout->panel->unit);
            widest_pt = fmax(widest_pt, text_width(canvas, text));
        }
    }
    fulcrum_limits_add(&limits, layout->panel->value);
    double width_pt = layout->bars.x1 - layout->bars.x0;
    const struct fulcrum_axis_options options = {
        .kind = FULCRUM_AXIS_LINEAR,
        .ticks_wanted = fmax(2.0, width_pt / pt_per_tick),
        .pad_frac = fmin(0.3, (widest_pt + 8.0) / width_pt),
        .unit = layout->panel->unit,
    };
    fulcrum_axis_fit(&layout->axis, &limits, &options);
    layout->axis.from = layout->bars.x0;
    layout->axis.to = layout->bars.x1;
}

static bool has_shares(const struct layout *layout)
{
    return layout->shares.x1 > layout->shares.x0;
}

static void draw_axis(struct fulcrum_canvas *canvas, const struct fulcrum_axis *axis,
    struct fulcrum_rect frame, const char *label)
{
    fulcrum_rows_axis_draw(canvas, axis, frame, 0.0);
    struct fulcrum_text axis_style =
        fulcrum_palette_anchored(FULCRUM_TEXT_AXIS, 0.5, 0.0);
    fulcrum_canvas_text(canvas, &axis_style,
        (struct fulcrum_spot){(frame.x0 + frame.x1) / 2.0,
            frame.y1 + tick_gap_pt +
                fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_TICK) + 1.0},
        label);
}

static void draw_header(struct fulcrum_canvas *canvas, const struct layout *layout)
{
    struct fulcrum_text title = fulcrum_palette_text(FULCRUM_TEXT_PANEL_TITLE);
    struct fulcrum_text finding = fulcrum_palette_text(FULCRUM_TEXT_FINDING);
    struct fulcrum_spot spot = {layout->rect.x0, layout->rect.y0};
    double beside_pt =
        has_shares(layout) ? text_width(canvas, share_heads) + gap_pt : 0.0;
    title.width_max_pt = layout->rect.x1 - layout->rect.x0 - beside_pt;
    finding.width_max_pt = title.width_max_pt;
    fulcrum_canvas_text(canvas, &title, spot, layout->panel->title);
    spot.y += fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_PANEL_TITLE) + 1.0;
    if (layout->panel->finding != NULL) {
        fulcrum_canvas_text(canvas, &finding, spot, layout->panel->finding);
    }
}

/* Small text with that part of it on the spot, halfway down. */
static void draw_number(struct fulcrum_canvas *canvas, double anchor_x, double x,
    double middle, const char *text)
{
    const struct fulcrum_text style =
        fulcrum_palette_anchored(FULCRUM_TEXT_TICK, anchor_x, 0.5);
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){x, middle}, text);
}

/* A bar from the metric's value to one end. */
static void draw_bar(struct fulcrum_canvas *canvas, const struct layout *layout,
    double end, size_t style, struct fulcrum_rect rect)
{
    const struct fulcrum_pen pen =
        fulcrum_palette_rule(fulcrum_palette_pen(style).rgb, 0.0);
    double base = fulcrum_axis_at(&layout->axis, layout->panel->value);
    double at = fulcrum_axis_at(&layout->axis, end);
    rect.x0 = fmin(base, at);
    rect.x1 = fmax(base, at);
    if (rect.x1 > rect.x0) {
        fulcrum_canvas_fill_rect(canvas, &pen, rect);
    }
}

/* The metric's value beyond an end of the bars; `side`: -1 left, 1 right. */
static void draw_end(struct fulcrum_canvas *canvas, const struct layout *layout,
    double end, double side, double middle)
{
    char text[32];
    fulcrum_si_text(text, sizeof text, end, layout->digits, layout->panel->unit);
    draw_number(canvas, side < 0.0 ? 1.0 : 0.0,
        fulcrum_axis_at(&layout->axis, end) + 3.0 * side, middle, text);
}

static void draw_bars(struct fulcrum_canvas *canvas, const struct layout *layout,
    const struct fulcrum_tornado_row *row, double middle)
{
    double value = layout->panel->value;
    double lo = isfinite(row->lo) ? row->lo : value;
    double hi = isfinite(row->hi) ? row->hi : value;
    double half_pt = 0.5 * bar_height_frac * layout->row_pt;
    int one_sided = (lo - value) * (hi - value) > 0.0;
    struct fulcrum_rect upper = {0.0, middle - half_pt, 0.0, middle + half_pt};
    struct fulcrum_rect lower = upper;
    if (one_sided) {
        upper.y1 = middle;
        lower.y0 = middle;
    }
    draw_bar(canvas, layout, lo, LOW_STYLE, upper);
    draw_bar(canvas, layout, hi, HIGH_STYLE, lower);
    double least = fmin(fmin(lo, hi), value);
    double most = fmax(fmax(lo, hi), value);
    double tiny = 1e-3 * (layout->axis.hi - layout->axis.lo);
    if (value - least > tiny) {
        draw_end(canvas, layout, least, -1.0, middle);
    }
    if (most - value > tiny) {
        draw_end(canvas, layout, most, 1.0, middle);
    }
}

/* From the left end of the axis, between the rectangle's top and bottom. */
static void draw_share(struct fulcrum_canvas *canvas, const struct layout *layout,
    double share, size_t style, struct fulcrum_rect rect)
{
    const struct fulcrum_pen pen =
        fulcrum_palette_rule(fulcrum_palette_pen(style).rgb, 0.0);
    if (share > 0.0) {
        rect.x0 = layout->share_axis.from;
        rect.x1 = fulcrum_axis_at(&layout->share_axis, share);
        fulcrum_canvas_fill_rect(canvas, &pen, rect);
    }
}

static void draw_shares(struct fulcrum_canvas *canvas, const struct layout *layout,
    const struct fulcrum_tornado_row *row, double middle)
{
    char text[48] = "not told";
    double half_pt = 0.5 * bar_height_frac * layout->row_pt;
    if (isfinite(row->first) && isfinite(row->total)) {
        const struct fulcrum_rect wide = {0.0, middle - half_pt, 0.0, middle + half_pt};
        const struct fulcrum_rect narrow = {
            0.0, middle - 0.55 * half_pt, 0.0, middle + 0.55 * half_pt};
        draw_share(canvas, layout, row->total, TOTAL_STYLE, wide);
        draw_share(canvas, layout, row->first, SHARE_STYLE, narrow);
        /* The standard error, around the end of the total share's bar. */
        const struct fulcrum_pen pen = fulcrum_palette_rule(FULCRUM_TONE_INK, 0.9);
        double lo = fmax(0.0, row->total - row->total_error);
        double hi = fmin(1.0, row->total + row->total_error);
        if (row->total_error > 0.0) {
            fulcrum_canvas_line(canvas, &pen,
                (struct fulcrum_spot){fulcrum_axis_at(&layout->share_axis, lo), middle},
                (struct fulcrum_spot){
                    fulcrum_axis_at(&layout->share_axis, hi), middle});
        }
        (void)snprintf(text, sizeof text, "%.2f   %.2f", fmax(0.0, row->first),
            fmax(0.0, row->total));
    }
    draw_number(canvas, 1.0, layout->rect.x1, middle, text);
}

static void draw_panel(struct fulcrum_canvas *canvas, const struct layout *layout)
{
    fulcrum_canvas_record(canvas, FULCRUM_BOX_PANEL, layout->bars);
    draw_header(canvas, layout);
    draw_axis(
        canvas, &layout->axis, layout->bars, "one field at its 5 % or 95 % point");
    if (has_shares(layout)) {
        fulcrum_canvas_record(canvas, FULCRUM_BOX_PANEL, layout->shares);
        draw_axis(canvas, &layout->share_axis, layout->shares, "share of variance");
        /* What the two numbers at the right are. */
        struct fulcrum_text style =
            fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 1.0, 1.0);
        fulcrum_canvas_text(canvas, &style,
            (struct fulcrum_spot){layout->rect.x1, layout->bars.y0}, share_heads);
    }
    for (size_t i = 0; i < layout->shown; i++) {
        const struct fulcrum_tornado_row *row = layout->rows[i].row;
        double middle = layout->bars.y0 + ((double)i + 0.5) * layout->row_pt;
        /* The name and, in tall rows, what the field varies over below it. */
        struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_TICK);
        struct fulcrum_spot spot = {layout->bars.x0 - gap_pt, middle};
        bool is_tall = layout->row_pt >= tall_row_pt && row->reach != NULL;
        style.anchor_x = 1.0;
        style.width_max_pt = spot.x - layout->rect.x0;
        if (is_tall) {
            style.anchor_y = 0.0;
            fulcrum_canvas_text(canvas, &style, spot, row->reach);
        }
        style.anchor_y = is_tall ? 1.0 : 0.5;
        style.rgb = FULCRUM_TONE_INK;
        fulcrum_canvas_text(canvas, &style, spot, row->name);
        draw_bars(canvas, layout, row, middle);
        if (has_shares(layout)) {
            draw_shares(canvas, layout, row, middle);
        }
    }
    /* The line that all bars start from. */
    const struct fulcrum_pen pen = fulcrum_palette_rule(FULCRUM_TONE_INK, 1.0);
    double x = fulcrum_axis_at(&layout->axis, layout->panel->value);
    fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){x, layout->bars.y0},
        (struct fulcrum_spot){x, layout->bars.y1});
    if (layout->shown < layout->panel->count) {
        char text[32];
        double middle =
            layout->bars.y0 + ((double)layout->shown + 0.5) * layout->row_pt;
        (void)snprintf(
            text, sizeof text, "and %zu more", layout->panel->count - layout->shown);
        draw_number(canvas, 1.0, layout->bars.x0 - gap_pt, middle, text);
    }
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_tornado_data *data = given;
    FAIL_IF(data->count > FULCRUM_TORNADO_PANELS_MAX, err, FULCRUM_ERR_RANGE,
        "%zu metrics: a tornado chart holds at most %d", data->count,
        (int)FULCRUM_TORNADO_PANELS_MAX);
    for (size_t i = 0; i < data->count; i++) {
        FAIL_IF(!isfinite(data->panels[i].value), err, FULCRUM_ERR_RANGE,
            "%s: its value is not known: bars have nowhere to start",
            data->panels[i].title);
    }
    return FULCRUM_OK;
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *data)
{
    struct picture *picture = room;
    picture->data = data;
    size_t count = picture->data->count;
    for (size_t i = 0; i < count; i++) {
        picture->layouts[i].panel = &picture->data->panels[i];
        if (!rank_rows(canvas, &picture->layouts[i])) {
            return;
        }
    }
    if (count == 0) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    /* The body is as wide with any legend. */
    struct fulcrum_rect bare = fulcrum_page_body(canvas, page);
    bool with_shares = bare.x1 - bare.x0 >= narrow_pt;
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, LOW_STYLE, "field at its 5 % point");
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, HIGH_STYLE, "at its 95 % point");
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, SHARE_STYLE,
        with_shares ? "first order: the field alone" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, TOTAL_STYLE,
        with_shares ? "total: with its interactions" : NULL);
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    share_body(canvas, picture, body);
    place_frames(canvas, picture, body);
    for (size_t i = 0; i < count; i++) {
        struct layout *layout = &picture->layouts[i];
        fit_bars(canvas, layout);
        if (has_shares(layout)) {
            /* From 0 to 1, and on the right of that the texts. */
            struct fulcrum_limits limits = fulcrum_limits_none();
            fulcrum_limits_add(&limits, 0.0);
            fulcrum_limits_add(&limits, 1.0);
            const struct fulcrum_axis_options options = {
                .kind = FULCRUM_AXIS_LINEAR, .ticks_wanted = 3.0, .from_zero = 1};
            fulcrum_axis_fit(&layout->share_axis, &limits, &options);
            layout->shares.x1 -= text_width(canvas, "0.00   0.00") + gap_pt;
            layout->share_axis.from = layout->shares.x0;
            layout->share_axis.to = layout->shares.x1;
        }
        draw_panel(canvas, layout);
    }
    fulcrum_page_draw(canvas, page);
}

const struct fulcrum_chart fulcrum_chart_tornado = {.name = "tornado",
    .summary = "what each number does to a prediction, alone and with the others",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
