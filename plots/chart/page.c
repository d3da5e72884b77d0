/* page.c - what surrounds the panels: title, subtitle, legend, footnote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/page.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/result.h"
#include "model/try.h"
#include "plots/chart/canvas.h"
#include "plots/chart/chart.h"

/* The line above a picture: what is shown, and what there is to see. */

static const double header_gap_pt = 4.0;

/* Title and finding share a line where they fit side by side. */
static int finding_is_below(const struct fulcrum_canvas *canvas,
    const struct fulcrum_header *header, double width_pt)
{
    struct fulcrum_text title = fulcrum_palette_text(FULCRUM_TEXT_PANEL_TITLE);
    struct fulcrum_text finding = fulcrum_palette_text(FULCRUM_TEXT_FINDING);
    double first_pt = fulcrum_canvas_measure(canvas, &title, header->title).width_pt;
    double second_pt =
        fulcrum_canvas_measure(canvas, &finding, header->finding).width_pt;
    return second_pt > 0.0 && first_pt + second_pt + 14.0 > width_pt;
}

/* Of a text that may be missing. */
static double line_height(
    const struct fulcrum_canvas *canvas, enum fulcrum_text_role role, const char *text)
{
    return text != NULL ? fulcrum_palette_height_pt(canvas, role) : 0.0;
}

double fulcrum_header_height_pt(const struct fulcrum_canvas *canvas,
    const struct fulcrum_header *header, double width_pt)
{
    double title_pt = line_height(canvas, FULCRUM_TEXT_PANEL_TITLE, header->title);
    double finding_pt = line_height(canvas, FULCRUM_TEXT_FINDING, header->finding);
    double texts_pt = finding_is_below(canvas, header, width_pt)
                          ? title_pt + finding_pt + 1.0
                          : fmax(title_pt, finding_pt);
    return texts_pt + header_gap_pt;
}

void fulcrum_header_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_header *header, struct fulcrum_rect rect)
{
    struct fulcrum_text title = fulcrum_palette_text(FULCRUM_TEXT_PANEL_TITLE);
    struct fulcrum_text finding = fulcrum_palette_text(FULCRUM_TEXT_FINDING);
    struct fulcrum_spot spot = {rect.x1, rect.y0};
    title.width_max_pt = rect.x1 - rect.x0;
    finding.width_max_pt = rect.x1 - rect.x0;
    finding.anchor_x = 1.0;
    if (finding_is_below(canvas, header, rect.x1 - rect.x0)) {
        finding.anchor_x = 0.0;
        spot.x = rect.x0;
        spot.y += line_height(canvas, FULCRUM_TEXT_PANEL_TITLE, header->title) + 1.0;
    }
    fulcrum_canvas_text(
        canvas, &title, (struct fulcrum_spot){rect.x0, rect.y0}, header->title);
    fulcrum_canvas_text(canvas, &finding, spot, header->finding);
}

static const double page_margin_pt = 12.0;
static const double bare_margin_pt = 2.0; /* half a line's width and a little more */
static const double part_gap_pt = 5.0;
static const double swatch_pt = 20.0;
static const double swatch_gap_pt = 5.0;
static const double entry_gap_pt = 16.0;

static const double least_body_frac = 0.6;
enum { MOST_LINES = 4 };

/* The parts around the body, from top to bottom. */
struct layout {
    struct fulcrum_text title;
    struct fulcrum_text subtitle;
    struct fulcrum_text footnote;
    struct fulcrum_rect legend;
    struct fulcrum_rect body;
    double subtitle_y;
    double footnote_y;
};

void fulcrum_page_explain(struct fulcrum_page *page, enum fulcrum_swatch swatch,
    size_t style, const char *label)
{
    if (label != NULL) {
        assert(page->legend_count < FULCRUM_LEGEND_MAX);
        page->legend[page->legend_count++] =
            (struct fulcrum_legend_entry){label, swatch, style};
    }
}

/* Who sets the texts elsewhere has margins of his own. */
static double margin_of(const struct fulcrum_canvas *canvas)
{
    return fulcrum_canvas_keeps_captions(canvas) ? bare_margin_pt : page_margin_pt;
}

/* What is drawn of a text: nothing, where the canvas keeps it. */
static const char *shown(const struct fulcrum_canvas *canvas, const char *text)
{
    return fulcrum_canvas_keeps_captions(canvas) ? NULL : text;
}

/* Text that may use the whole width and so many lines per paragraph. */
static struct fulcrum_text wrapped(
    enum fulcrum_text_role role, double width_pt, int lines_max)
{
    struct fulcrum_text style = fulcrum_palette_text(role);
    style.width_max_pt = width_pt;
    style.lines_max = lines_max;
    return style;
}

/*
 * An area, a line and a marker around the middle of a swatch, each where it has a size;
 * below 0: that of the style, as are shape and colour where none is given.
 */
struct look {
    struct {
        double half_x_pt;
        double half_y_pt;
        double opacity;
    } area;
    struct {
        double width_pt;
        unsigned rgb;
        enum fulcrum_dash dash;
    } line;
    struct {
        double size_pt;
        double border_pt;
        enum fulcrum_marker_fill fill;
        unsigned rgb;
        enum fulcrum_marker_shape shape;
    } marker;
};

static const struct look looks[] = {
    [FULCRUM_SWATCH_LINE] = {.line = {-1.0}},
    [FULCRUM_SWATCH_LINE_AND_MARKER] = {.line = {-1.0}, .marker = {-1.0, 0.5}},
    [FULCRUM_SWATCH_BAND] = {.area = {10.0, 3.5, 0.2}},
    [FULCRUM_SWATCH_BAR] = {.area = {10.0, 2.0, 0.85}},
    [FULCRUM_SWATCH_STACK] = {.area = {10.0, 2.0, 1.0}},
    [FULCRUM_SWATCH_INTERVAL] = {.area = {0.4, 4.5, 0.85}},
    [FULCRUM_SWATCH_MARKER] = {.marker = {-1.0, 0.5}},
    [FULCRUM_SWATCH_HOLLOW] = {.marker = {-1.0, 0.8, FULCRUM_MARKER_HOLLOW}},
    [FULCRUM_SWATCH_DIAMOND] = {.marker = {4.5, 0.8, FULCRUM_MARKER_HOLLOW, 0,
                                    FULCRUM_MARKER_DIAMOND}},
    [FULCRUM_SWATCH_DISTURBED] = {.marker = {-1.0, 0.8, FULCRUM_MARKER_HOLLOW,
                                      FULCRUM_TONE_MUTED}},
    [FULCRUM_SWATCH_STAR] = {.marker = {9.0, 0.5, FULCRUM_MARKER_FULL, FULCRUM_TONE_INK,
                                 FULCRUM_MARKER_STAR}},
    [FULCRUM_SWATCH_GUIDE] = {.line = {0.8, FULCRUM_TONE_MUTED, FULCRUM_DASH_DOT}},
    [FULCRUM_SWATCH_RULE] = {.line = {1.0, FULCRUM_TONE_INK}},
    [FULCRUM_SWATCH_PLACE] = {.marker = {6.0, 1.4, FULCRUM_MARKER_HOLLOW,
                                  FULCRUM_TONE_INK}},
    [FULCRUM_SWATCH_BLANK] = {.area = {0.0}},
};

/* Swatches are decoration: none counts as data. */
static void draw_swatch(struct fulcrum_canvas *canvas,
    const struct fulcrum_legend_entry *entry, struct fulcrum_spot middle)
{
    const struct look *look = &looks[entry->swatch];
    struct fulcrum_pen pen = fulcrum_palette_pen(entry->style);
    struct fulcrum_marker marker = fulcrum_palette_marker(entry->style);
    /* Long enough to show a whole period of each dash. */
    const struct fulcrum_extent cell_extent = {swatch_pt, 7.0};
    const struct fulcrum_spot left = {middle.x - swatch_pt / 2.0, middle.y};
    const struct fulcrum_spot right = {middle.x + swatch_pt / 2.0, middle.y};
    pen.kind = FULCRUM_BOX_NONE;
    if (entry->swatch == FULCRUM_SWATCH_HATCH ||
        entry->swatch == FULCRUM_SWATCH_BLANK) {
        /* As the cells of a heat map that have no colour. */
        const struct fulcrum_pen cell = fulcrum_palette_rule(FULCRUM_TONE_MUTED, 0.6);
        struct fulcrum_rect band = fulcrum_rect_around(middle, cell_extent);
        fulcrum_canvas_border(canvas, &cell, band);
        if (entry->swatch == FULCRUM_SWATCH_HATCH) {
            fulcrum_canvas_hatch(canvas, &cell, band);
        }
        return;
    }
    if (look->area.half_x_pt > 0.0) {
        struct fulcrum_extent extent = {
            2.0 * look->area.half_x_pt, 2.0 * look->area.half_y_pt};
        pen.opacity = look->area.opacity;
        fulcrum_canvas_fill_rect(canvas, &pen, fulcrum_rect_around(middle, extent));
    }
    if (look->line.width_pt > 0.0) {
        pen = fulcrum_palette_rule(look->line.rgb, look->line.width_pt);
        pen.dash = look->line.dash;
    }
    if (fabs(look->line.width_pt) > 0.0) {
        fulcrum_canvas_line(canvas, &pen, left, right);
    }
    if (look->marker.size_pt > 0.0) {
        marker.shape = look->marker.shape;
        marker.size_pt = look->marker.size_pt;
    }
    if (look->marker.border_pt > 0.0) {
        unsigned rgb = look->marker.rgb;
        pen = fulcrum_palette_rule(rgb > 0 ? rgb : pen.rgb, look->marker.border_pt);
        marker.fill = look->marker.fill;
        fulcrum_canvas_marker(canvas, &pen, &marker, middle);
    }
}

/*
 * Entries flow into as many rows as they need, from the top of the area.
 *   out      draws them; NULL: they are only measured
 * Returns where the last row ends.
 */
static double flow_legend(const struct fulcrum_canvas *canvas,
    const struct fulcrum_page *page, struct fulcrum_rect area,
    struct fulcrum_canvas *out)
{
    /* A label wider than the page is cut rather than wrapped. */
    const struct fulcrum_text style =
        wrapped(FULCRUM_TEXT_LEGEND, area.x1 - area.x0 - swatch_pt - swatch_gap_pt, 1);
    struct fulcrum_spot pen = {area.x0, area.y0};
    double end = area.y0;
    for (size_t i = 0; i < page->legend_count; i++) {
        const struct fulcrum_legend_entry *entry = &page->legend[i];
        struct fulcrum_extent label =
            fulcrum_canvas_measure(canvas, &style, entry->label);
        double width_pt = swatch_pt + swatch_gap_pt + label.width_pt;
        if (pen.x > area.x0 && pen.x + width_pt > area.x1 + 0.01) {
            pen = (struct fulcrum_spot){area.x0, pen.y + label.height_pt + 1.5};
        }
        if (out != NULL) {
            draw_swatch(out, entry,
                (struct fulcrum_spot){
                    pen.x + swatch_pt / 2.0, pen.y + label.height_pt / 2.0});
            fulcrum_canvas_text(out, &style,
                (struct fulcrum_spot){pen.x + swatch_pt + swatch_gap_pt, pen.y},
                entry->label);
        }
        end = pen.y + label.height_pt;
        pen.x += width_pt + entry_gap_pt;
    }
    return end;
}

/* Header from the top, footer from the bottom, the body between them. */
static struct layout lay_out_within(
    const struct fulcrum_canvas *canvas, const struct fulcrum_page *page, int lines_max)
{
    struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
    double margin_pt = margin_of(canvas);
    double width_pt = extent.width_pt - 2.0 * margin_pt;
    struct layout layout = {.title = wrapped(FULCRUM_TEXT_TITLE, width_pt, 2),
        .subtitle = wrapped(FULCRUM_TEXT_SUBTITLE, width_pt, lines_max),
        .footnote = wrapped(FULCRUM_TEXT_FOOTNOTE, width_pt, lines_max)};
    double title_pt =
        fulcrum_canvas_measure(canvas, &layout.title, shown(canvas, page->title))
            .height_pt;
    double subtitle_pt =
        fulcrum_canvas_measure(canvas, &layout.subtitle, shown(canvas, page->subtitle))
            .height_pt;
    double footnote_pt =
        fulcrum_canvas_measure(canvas, &layout.footnote, shown(canvas, page->footnote))
            .height_pt;
    double legend_pt =
        flow_legend(canvas, page, (struct fulcrum_rect){0.0, 0.0, width_pt, 0.0}, NULL);
    layout.subtitle_y = margin_pt + title_pt + (title_pt > 0.0 ? 2.0 : 0.0);
    layout.footnote_y =
        extent.height_pt - margin_pt - footnote_pt + fmin(margin_pt, 4.0);
    layout.legend.x0 = margin_pt;
    layout.legend.x1 = margin_pt + width_pt;
    layout.legend.y1 = layout.footnote_y - (footnote_pt > 0.0 ? part_gap_pt : 0.0);
    layout.legend.y0 = layout.legend.y1 - legend_pt;
    layout.body.x0 = margin_pt;
    layout.body.x1 = margin_pt + width_pt;
    layout.body.y0 = layout.subtitle_y + subtitle_pt + part_gap_pt + 3.0;
    layout.body.y1 = layout.legend.y0 - (legend_pt > 0.0 ? part_gap_pt : 0.0);
    return layout;
}

/* Texts around the panels are cut to fewer lines until the panels have their share. */
static struct layout lay_out(
    const struct fulcrum_canvas *canvas, const struct fulcrum_page *page)
{
    double least_pt = least_body_frac * fulcrum_canvas_extent(canvas).height_pt;
    int lines_max = MOST_LINES;
    struct layout layout = lay_out_within(canvas, page, lines_max);
    while (lines_max > 1 && layout.body.y1 - layout.body.y0 < least_pt) {
        lines_max--;
        layout = lay_out_within(canvas, page, lines_max);
    }
    return layout;
}

struct fulcrum_rect fulcrum_page_body(
    const struct fulcrum_canvas *canvas, const struct fulcrum_page *page)
{
    return lay_out(canvas, page).body;
}

void fulcrum_page_draw(struct fulcrum_canvas *canvas, const struct fulcrum_page *page)
{
    struct layout layout = lay_out(canvas, page);
    double margin_pt = margin_of(canvas);
    fulcrum_canvas_set_caption(canvas, FULCRUM_CAPTION_TITLE, page->title);
    fulcrum_canvas_set_caption(canvas, FULCRUM_CAPTION_SUBTITLE, page->subtitle);
    fulcrum_canvas_set_caption(canvas, FULCRUM_CAPTION_FOOTNOTE, page->footnote);
    fulcrum_canvas_text(canvas, &layout.title,
        (struct fulcrum_spot){margin_pt, margin_pt}, shown(canvas, page->title));
    fulcrum_canvas_text(canvas, &layout.subtitle,
        (struct fulcrum_spot){margin_pt, layout.subtitle_y},
        shown(canvas, page->subtitle));
    (void)flow_legend(canvas, page, layout.legend, canvas);
    if (page->legend_count > 0) {
        fulcrum_canvas_record(canvas, FULCRUM_BOX_LEGEND, layout.legend);
    }
    fulcrum_canvas_text(canvas, &layout.footnote,
        (struct fulcrum_spot){margin_pt, layout.footnote_y},
        shown(canvas, page->footnote));
}

void fulcrum_page_draw_empty(
    struct fulcrum_canvas *canvas, const struct fulcrum_page *page)
{
    struct fulcrum_page bare = *page;
    bare.legend_count = 0;
    fulcrum_page_draw(canvas, &bare);
    struct fulcrum_rect body = fulcrum_page_body(canvas, &bare);
    struct fulcrum_text style = fulcrum_palette_anchored(FULCRUM_TEXT_EMPTY, 0.5, 0.5);
    fulcrum_canvas_text(canvas, &style, fulcrum_rect_centre(body), "no data");
}

/* What drawing any chart begins and ends with. */

struct fulcrum_table *fulcrum_chart_table(
    const struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_item *item = fulcrum_result_find(result, key);
    item = item != NULL ? item : fulcrum_result_find(result, "rows");
    return item != NULL ? item->table : NULL;
}

enum fulcrum_status fulcrum_chart_draw(const struct fulcrum_chart *chart,
    struct fulcrum_canvas *canvas, const void *data, struct fulcrum_error *err)
{
    const double least_width_pt = FULCRUM_CHART_LEAST_WIDTH_PT;
    const double least_height_pt = FULCRUM_CHART_LEAST_HEIGHT_PT;
    struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
    FAIL_IF(extent.width_pt < least_width_pt || extent.height_pt < least_height_pt, err,
        FULCRUM_ERR_RANGE, "page of %.4g x %.4g points: a chart needs at least %g x %g",
        extent.width_pt, extent.height_pt, least_width_pt, least_height_pt);
    struct fulcrum_page page = {.title = NULL};
    if (data == NULL) {
        fulcrum_page_draw_empty(canvas, &page);
        return fulcrum_canvas_status(canvas, err);
    }
    const struct fulcrum_chart_text *text = data;
    page.title = text->title;
    page.subtitle = text->subtitle;
    page.footnote = text->footnote;
    chart->draw(canvas, &page, data);
    return fulcrum_canvas_status(canvas, err);
}
