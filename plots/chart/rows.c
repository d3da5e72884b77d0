/* rows.c - named rows along one horizontal axis: intervals, marks, stacked bars. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "model/status.h"

static const double gap_pt = 6.0;
static const double row_gap_pt = 1.5;
static const double line_frac = 0.07;
static const double thickest_line_pt = 2.5;
/* Shares of the width, at most, that texts beside the axis take. */
static const double name_frac = 0.36;
static const double text_frac = 0.30;
/* Narrower pages do without the texts on the right. */
static const double text_from_pt = 424.0;
static const double pt_per_tick = 42.0;

/* Rows of this height have room for a second line below the name. */
static const double high_row_pt = 25.0;
/* Of the width: what stands beside, and the gap to it. */
static const double beside_frac = 0.27;
static const double beside_gap_pt = 18.0;
static const double panel_gap_pt = 10.0;

struct layout {
    struct fulcrum_rect frame;
    struct fulcrum_axis axis;
    double name_pt;
    double text_pt;
    double row_pt;
    size_t shown;
};

static double least_row_pt(const struct fulcrum_canvas *canvas)
{
    return fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_TICK) + row_gap_pt;
}

static double text_width(const struct fulcrum_canvas *canvas, const char *text)
{
    const struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_TICK);
    return fulcrum_canvas_measure(canvas, &style, text).width_pt;
}

/* Between pieces that are apart, of the axis. */
static const double apart_frac = 0.004;

/* Shares read off figures one by one need not add up to exactly 1. */
static const double turns_from = 1.1;

/*
 * Smaller shares would be labelled 0 %; of narrow pieces in the lower half, or of many
 * equal ones, labels would stand over others.
 */
static double label_from(const struct fulcrum_row_part *part)
{
    return part->is_apart ? 0.1 : part->half == FULCRUM_ROW_LOWER ? 0.12 : 0.005;
}

/* A part from `lo` on; `share` is its label, where that is not too small. */
static void add_part(struct fulcrum_row *row, const struct fulcrum_row_part *part,
    const double span[2], double bottom, double share)
{
    const double top = 0.2;
    const double middle = 0.5 * (top + bottom);
    double width = span[1] - span[0];
    struct fulcrum_row_bar *bar = &row->bars[row->bar_count++];
    *bar = (struct fulcrum_row_bar){.lo = span[0],
        .hi =
            part->is_apart ? span[0] + fmax(width - apart_frac, 0.3 * width) : span[1],
        .top_frac = part->half == FULCRUM_ROW_LOWER ? middle : top,
        .bottom_frac = part->half == FULCRUM_ROW_UPPER ? middle : bottom,
        .rgb = part->rgb,
        .opacity = part->opacity};
    if (share >= label_from(part)) {
        (void)snprintf(bar->text, sizeof bar->text, "%.0f %%", 100.0 * share);
    }
}

double fulcrum_row_stack(struct fulcrum_row *row, const struct fulcrum_row_part *parts,
    size_t count, enum fulcrum_row_scale scale)
{
    const double bottom = scale == FULCRUM_ROW_OF_ONE ? 0.86 : 0.78;
    double whole = 0.0;
    for (size_t k = 0; k < count; k++) {
        whole += parts[k].size;
    }
    bool takes_turns = scale == FULCRUM_ROW_OF_ONE && whole > turns_from;
    bool is_scaled = takes_turns || (scale == FULCRUM_ROW_SHARE && whole > 0.0);
    double unit = is_scaled ? whole : 1.0;
    double labelled = scale == FULCRUM_ROW_OF_ONE ? 1.0 : fmax(whole, DBL_MIN);
    double at = 0.0;
    for (size_t k = 0; k < count && row->bar_count < FULCRUM_ROW_BARS_MAX; k++) {
        const double span[] = {at / unit, (at + parts[k].size) / unit};
        add_part(row, &parts[k], span, bottom,
            takes_turns ? (double)NAN : parts[k].size / labelled);
        at += parts[k].size;
    }
    return whole;
}

void fulcrum_row_interval(struct fulcrum_row *row, double lo, double hi)
{
    if (hi > lo && row->bar_count < FULCRUM_ROW_BARS_MAX) {
        row->bars[row->bar_count++] = (struct fulcrum_row_bar){.lo = lo,
            .hi = hi,
            .top_frac = 0.83,
            .bottom_frac = 0.87,
            .rgb = fulcrum_palette_pen(FULCRUM_ROW_INTERVAL_STYLE).rgb};
    }
}

size_t fulcrum_rows_room(const struct fulcrum_canvas *canvas,
    const struct fulcrum_header *header, struct fulcrum_rect rect)
{
    double height_pt = rect.y1 - rect.y0 - fulcrum_axis_height_pt(canvas, true) -
                       fulcrum_header_height_pt(canvas, header, rect.x1 - rect.x0);
    return (size_t)fmax(1.0, floor(height_pt / least_row_pt(canvas)));
}

static void measure_texts(const struct fulcrum_canvas *canvas,
    const struct fulcrum_rows *rows, double width_pt, struct layout *out)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_row *row = &rows->rows[i];
        out->name_pt = fmax(out->name_pt, text_width(canvas, row->name));
        out->name_pt = fmax(out->name_pt, text_width(canvas, row->detail));
        out->text_pt = fmax(out->text_pt, text_width(canvas, row->text));
    }
    out->name_pt = fmin(out->name_pt, name_frac * width_pt);
    out->text_pt = fulcrum_canvas_extent(canvas).width_pt < text_from_pt
                       ? 0.0
                       : fmin(out->text_pt, text_frac * width_pt);
}

/* Below the header; names take `name_pt`. */
static struct layout lay_out(const struct fulcrum_canvas *canvas,
    const struct fulcrum_rows *rows, struct fulcrum_rect rect, double name_pt)
{
    struct layout layout = {.shown = rows->count};
    measure_texts(canvas, rows, rect.x1 - rect.x0, &layout);
    layout.name_pt = name_pt;
    layout.frame = (struct fulcrum_rect){rect.x0 + name_pt + gap_pt, rect.y0,
        rect.x1 - (layout.text_pt > 0.0 ? layout.text_pt + gap_pt : 0.0),
        rect.y1 - fulcrum_axis_height_pt(canvas, true)};
    double height_pt = layout.frame.y1 - layout.frame.y0;
    size_t room = (size_t)fmax(1.0, floor(height_pt / least_row_pt(canvas)));
    size_t lines = rows->count + (rows->left_out > 0 ? 1 : 0);
    if (room < lines) {
        layout.shown = room - 1;
        lines = room;
    }
    layout.row_pt = height_pt / fmax(1.0, (double)lines);
    /* All that has a place, with room at both ends for texts beyond bars. */
    struct fulcrum_limits span = fulcrum_limits_none();
    struct fulcrum_axis_options options = rows->options;
    double width_pt = layout.frame.x1 - layout.frame.x0;
    double widest_pt = 0.0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_row *row = &rows->rows[i];
        for (size_t k = 0; k < row->bar_count; k++) {
            fulcrum_limits_add(&span, row->bars[k].lo);
            fulcrum_limits_add(&span, row->bars[k].hi);
        }
        fulcrum_limits_add(&span, row->has_mark ? row->mark : (double)NAN);
        widest_pt = fmax(widest_pt, text_width(canvas, row->lo_text));
        widest_pt = fmax(widest_pt, text_width(canvas, row->hi_text));
    }
    fulcrum_limits_add(&span, rows->centre);
    fulcrum_limits_add(&span, rows->reach);
    if (widest_pt > 0.0) {
        options.pad_frac = fmin(0.3, (widest_pt + 8.0) / width_pt);
    }
    options.ticks_wanted = width_pt / pt_per_tick;
    fulcrum_axis_fit(&layout.axis, &span, &options);
    layout.axis.from = layout.frame.x0;
    layout.axis.to = layout.frame.x1;
    return layout;
}

/* Labels above narrow bars may stand so far from their middle. */
static const double nudge_pt = 5.0;

/*
 * In the bar, or above it where there is room, or not at all. Takes how far texts above
 * bars of this row reach already, and returns how far they do now.
 */
static double draw_bar_text(struct fulcrum_canvas *canvas,
    const struct fulcrum_row_bar *bar, const struct fulcrum_rect *rect, double row_top,
    double taken)
{
    struct fulcrum_text style = fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 0.5, 0.5);
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, &style, bar->text);
    struct fulcrum_spot spot = fulcrum_rect_centre(*rect);
    if (extent.width_pt + 3.0 <= rect->x1 - rect->x0 &&
        extent.height_pt <= rect->y1 - rect->y0) {
        style.rgb = fulcrum_palette_ink_on(bar->rgb);
        fulcrum_canvas_text(canvas, &style, spot, bar->text);
        return taken;
    }
    double left = spot.x - extent.width_pt / 2.0;
    if (extent.height_pt > rect->y0 - row_top || left < taken - nudge_pt) {
        return taken;
    }
    spot.x += fmax(0.0, taken - left);
    left = fmax(left, taken);
    spot.y = rect->y0;
    style.anchor_y = 1.0;
    fulcrum_canvas_text(canvas, &style, spot, bar->text);
    return left + extent.width_pt + 3.0;
}

/* Takes and returns what draw_bar_text does. */
static double draw_bar(struct fulcrum_canvas *canvas, const struct layout *layout,
    const struct fulcrum_row_bar *bar, double top, double taken)
{
    const struct fulcrum_pen pen = {
        .rgb = bar->rgb, .opacity = bar->opacity, .kind = FULCRUM_BOX_NONE};
    if (!fulcrum_axis_shows(layout->axis.kind, bar->lo) ||
        !fulcrum_axis_shows(layout->axis.kind, bar->hi)) {
        return taken;
    }
    struct fulcrum_rect rect = {fulcrum_axis_at(&layout->axis, bar->lo),
        top + bar->top_frac * layout->row_pt, fulcrum_axis_at(&layout->axis, bar->hi),
        top + bar->bottom_frac * layout->row_pt};
    if (bar->bottom_frac - bar->top_frac < line_frac) {
        rect.y1 = fmin(rect.y1, rect.y0 + thickest_line_pt);
    }
    fulcrum_canvas_fill_rect(canvas, &pen, rect);
    return bar->text[0] != '\0' ? draw_bar_text(canvas, bar, &rect, top, taken) : taken;
}

/* One line of text that ends in an ellipsis rather than run over the page. */
static void draw_beside(struct fulcrum_canvas *canvas, struct fulcrum_text style,
    struct fulcrum_spot spot, double width_pt, const char *text)
{
    if (width_pt > 0.0) {
        style.width_max_pt = width_pt;
        fulcrum_canvas_text(canvas, &style, spot, text);
    }
}

static void draw_row(struct fulcrum_canvas *canvas, const struct layout *layout,
    const struct fulcrum_row *row, double top)
{
    double middle = top + layout->row_pt / 2.0;
    if (row->has_mark && fulcrum_axis_shows(layout->axis.kind, row->mark)) {
        static const struct fulcrum_marker diamond = {
            FULCRUM_MARKER_DIAMOND, FULCRUM_MARKER_HOLLOW, 5.0};
        const struct fulcrum_pen pen = {
            .rgb = FULCRUM_TONE_INK, .width_pt = 0.8, .kind = FULCRUM_BOX_DATA};
        fulcrum_canvas_marker(canvas, &pen, &diamond,
            (struct fulcrum_spot){fulcrum_axis_at(&layout->axis, row->mark), middle});
    }
    /* Beyond the ends of all bars of the row. */
    const double gap = 3.0;
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t i = 0; i < row->bar_count; i++) {
        least = fmin(least, row->bars[i].lo);
        most = fmax(most, row->bars[i].hi);
    }
    if (least <= most) {
        struct fulcrum_text style =
            fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 1.0, 0.5);
        fulcrum_canvas_text(canvas, &style,
            (struct fulcrum_spot){fulcrum_axis_at(&layout->axis, least) - gap, middle},
            row->lo_text);
        style.anchor_x = 0.0;
        fulcrum_canvas_text(canvas, &style,
            (struct fulcrum_spot){fulcrum_axis_at(&layout->axis, most) + gap, middle},
            row->hi_text);
    }
    struct fulcrum_text style = fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 0.0, 0.5);
    draw_beside(canvas, style, (struct fulcrum_spot){layout->frame.x1 + gap_pt, middle},
        layout->text_pt, row->text);
    const struct fulcrum_spot left = {layout->frame.x0 - gap_pt, middle};
    style.anchor_x = 1.0;
    if (row->detail != NULL && row->detail[0] != '\0' &&
        layout->row_pt >= high_row_pt) {
        style.anchor_y = 0.0;
        draw_beside(canvas, style, left, layout->name_pt, row->detail);
        style.anchor_y = 1.0;
    }
    style.rgb = FULCRUM_TONE_INK;
    draw_beside(canvas, style, left, layout->name_pt, row->name);
}

/* All but the header. */
static void draw_frame(struct fulcrum_canvas *canvas, const struct fulcrum_rows *rows,
    struct fulcrum_rect rect, double name_pt)
{
    const struct layout layout = lay_out(canvas, rows, rect, name_pt);
    struct fulcrum_rect frame = layout.frame;
    fulcrum_canvas_record(canvas, FULCRUM_BOX_PANEL, frame);
    const struct fulcrum_side_axis below = {&layout.axis, FULCRUM_SIDE_BELOW, frame,
        rect.x0, rect.x1, rows->x_label,
        FULCRUM_AXIS_GRID | FULCRUM_AXIS_LINE | FULCRUM_AXIS_TICKS |
            FULCRUM_AXIS_NUMBERS};
    fulcrum_side_axis_draw(canvas, &below);
    for (size_t i = 0; i < layout.shown; i++) {
        const struct fulcrum_row *row = &rows->rows[i];
        double taken = frame.x0;
        for (size_t k = 0; k < row->bar_count; k++) {
            taken = draw_bar(canvas, &layout, &row->bars[k],
                frame.y0 + (double)i * layout.row_pt, taken);
        }
    }
    /* Over bars, under marks. */
    const struct fulcrum_pen pen = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.9);
    if (fulcrum_axis_shows(layout.axis.kind, rows->centre)) {
        double x = fulcrum_axis_at(&layout.axis, rows->centre);
        fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){x, frame.y0},
            (struct fulcrum_spot){x, frame.y1});
    }
    for (size_t i = 0; i < layout.shown; i++) {
        draw_row(canvas, &layout, &rows->rows[i], frame.y0 + (double)i * layout.row_pt);
    }
    size_t rest = rows->count - layout.shown + rows->left_out;
    if (rest > 0 && layout.name_pt > 0.0) {
        draw_beside(canvas, fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 1.0, 0.5),
            (struct fulcrum_spot){frame.x0 - gap_pt,
                frame.y0 + ((double)layout.shown + 0.5) * layout.row_pt},
            layout.name_pt, fulcrum_canvas_print(canvas, "and %zu more", rest));
    }
}

bool fulcrum_rows_have_beside(const struct fulcrum_canvas *canvas)
{
    return fulcrum_canvas_extent(canvas).width_pt >= text_from_pt;
}

/* A title beside takes its width from the header. */
static struct fulcrum_rect header_of(const struct fulcrum_canvas *canvas,
    const struct fulcrum_rows *rows, struct fulcrum_rect rect)
{
    const struct fulcrum_header header = {rows->title, rows->finding};
    if (rows->beside != NULL) {
        rect.x1 -= text_width(canvas, rows->beside->title) + gap_pt;
    }
    rect.y1 = rect.y0 + fulcrum_header_height_pt(canvas, &header, rect.x1 - rect.x0);
    return rect;
}

/* With header and axis, but without rows. */
static double fixed_height_pt(const struct fulcrum_canvas *canvas,
    const struct fulcrum_rows *rows, struct fulcrum_rect rect)
{
    rect = header_of(canvas, rows, rect);
    return rect.y1 - rect.y0 + fulcrum_axis_height_pt(canvas, true);
}

static void draw_panel(struct fulcrum_canvas *canvas, const struct fulcrum_rows *rows,
    struct fulcrum_rect rect, double name_pt)
{
    const struct fulcrum_header header = {rows->title, rows->finding};
    struct fulcrum_rect top = header_of(canvas, rows, rect);
    fulcrum_header_draw(canvas, &header, top);
    rect.y0 = top.y1;
    struct fulcrum_rect right = rect;
    if (rows->beside != NULL) {
        const struct fulcrum_text style =
            fulcrum_palette_anchored(FULCRUM_TEXT_TICK, 1.0, 1.0);
        right.x0 = rect.x1 - beside_frac * (rect.x1 - rect.x0);
        rect.x1 = right.x0 - beside_gap_pt;
        fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){right.x1, right.y0},
            rows->beside->title);
        draw_frame(canvas, rows->beside, right, 0.0);
    }
    draw_frame(canvas, rows, rect, name_pt);
}

/* Lines that a panel wants, high rows counted as several. */
static double lines_of(const struct fulcrum_rows *rows)
{
    double high = rows->lines_per_row > 0.0 ? rows->lines_per_row : 1.0;
    return high * (double)rows->count + (rows->left_out > 0 ? 1.0 : 0.0);
}

/* Panels share a height by their lines, but have room for one at least. */
void fulcrum_rows_draw(struct fulcrum_canvas *canvas, const struct fulcrum_rows *panels,
    size_t count, struct fulcrum_rect rect)
{
    struct layout names = {.name_pt = 0.0};
    double width_pt = rect.x1 - rect.x0;
    double least_pt = least_row_pt(canvas);
    double fixed_pt = panel_gap_pt * ((double)count - 1.0);
    double lines = 0.0;
    for (size_t i = 0; i < count; i++) {
        fixed_pt += fixed_height_pt(canvas, &panels[i], rect);
        lines += lines_of(&panels[i]);
        measure_texts(canvas, &panels[i], width_pt, &names);
    }
    double spare_pt = rect.y1 - rect.y0 - fixed_pt;
    bool is_tight = spare_pt < lines * least_pt;
    double kept_pt = is_tight ? least_pt : 0.0; /* by each, whatever its lines */
    if (count > 1 && spare_pt < (double)count * least_pt) {
        struct fulcrum_extent page = fulcrum_canvas_extent(canvas);
        (void)fulcrum_fail(fulcrum_canvas_failure(canvas), FULCRUM_ERR_RANGE,
            "%zu panels on a page of %g x %g points: a larger page has room", count,
            page.width_pt, page.height_pt);
        return;
    }
    double per_line_pt = (spare_pt - (double)count * kept_pt) / fmax(lines, 1.0);
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_rows *rows = &panels[i];
        double most_pt = rows->row_most_pt > 0.0 ? rows->row_most_pt : (double)INFINITY;
        rect.y1 = rect.y0 + fixed_height_pt(canvas, rows, rect) + kept_pt +
                  lines_of(rows) * fmin(per_line_pt, most_pt);
        draw_panel(canvas, rows, rect, names.name_pt);
        rect.y0 = rect.y1 + panel_gap_pt;
    }
}
