/* page.c - what surrounds the panels: title, subtitle, legend, footnote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/page.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/result.h"
#include "model/try.h"

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
    double margin_pt;
    double subtitle_y;
    double footnote_y;
};

void fulcrum_page_explain(struct fulcrum_page *page, size_t rank,
    enum fulcrum_swatch swatch, size_t style, const char *label)
{
    struct fulcrum_legend_entry *legend = page->legend;
    size_t at = page->legend_count;
    if (label == NULL) {
        return;
    }
    for (size_t i = 0; i < page->legend_count; i++) {
        if (legend[i].rank == rank && strcmp(legend[i].label, label) == 0) {
            bool is_same = legend[i].swatch == swatch;
            legend[i].swatch = is_same ? swatch : FULCRUM_SWATCH_LINE_AND_MARKER;
            return;
        }
    }
    assert(page->legend_count < FULCRUM_LEGEND_MAX);
    for (; at > 0 && legend[at - 1].rank > rank; at--) {
        legend[at] = legend[at - 1];
    }
    legend[at] = (struct fulcrum_legend_entry){rank, swatch, style, label};
    page->legend_count++;
}

void fulcrum_page_note(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    const char *intro, const char *text)
{
    const char *before = page->footnote != NULL ? page->footnote : "";
    bool is_new = text != NULL && text[0] != '\0' && strstr(before, text) == NULL;
    bool begins = strstr(before, intro) == NULL;
    const char *between = before[0] == '\0' ? "" : begins ? "\n" : "; ";
    if (is_new) {
        page->footnote = fulcrum_canvas_print(
            canvas, "%s%s%s%s", before, between, begins ? intro : "", text);
    }
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
    struct fulcrum_extent area;
    double opacity; /* of the area */
    double line_pt;
    double marker_pt;
    double border_pt; /* of the marker */
    unsigned rgb;     /* of line and marker */
    enum fulcrum_dash dash;
    enum fulcrum_marker_fill fill;
    enum fulcrum_marker_shape shape;
};

static const struct look looks[FULCRUM_SWATCH_BLANK + 1] = {
    [FULCRUM_SWATCH_LINE] = {.line_pt = -1.0},
    [FULCRUM_SWATCH_LINE_AND_MARKER] = {.line_pt = -1.0,
        .marker_pt = -1.0,
        .border_pt = 0.5},
    [FULCRUM_SWATCH_BAND] = {.area = {20.0, 7.0}, .opacity = 0.2},
    [FULCRUM_SWATCH_BAR] = {.area = {20.0, 4.0}, .opacity = 0.85},
    [FULCRUM_SWATCH_STACK] = {.area = {20.0, 4.0}, .opacity = 1.0},
    [FULCRUM_SWATCH_INTERVAL] = {.area = {0.8, 9.0}, .opacity = 0.85},
    [FULCRUM_SWATCH_MARKER] = {.marker_pt = -1.0, .border_pt = 0.5},
    [FULCRUM_SWATCH_HOLLOW] = {.marker_pt = -1.0,
        .border_pt = 0.8,
        .fill = FULCRUM_MARKER_HOLLOW},
    [FULCRUM_SWATCH_DIAMOND] = {.marker_pt = 4.5,
        .border_pt = 0.8,
        .fill = FULCRUM_MARKER_HOLLOW,
        .shape = FULCRUM_MARKER_DIAMOND},
    [FULCRUM_SWATCH_DISTURBED] = {.marker_pt = -1.0,
        .border_pt = 0.8,
        .fill = FULCRUM_MARKER_HOLLOW,
        .rgb = FULCRUM_TONE_MUTED},
    [FULCRUM_SWATCH_STAR] = {.marker_pt = 9.0,
        .border_pt = 0.5,
        .rgb = FULCRUM_TONE_INK,
        .shape = FULCRUM_MARKER_STAR},
    [FULCRUM_SWATCH_GUIDE] = {.line_pt = 0.8,
        .rgb = FULCRUM_TONE_MUTED,
        .dash = FULCRUM_DASH_DOT},
    [FULCRUM_SWATCH_RULE] = {.line_pt = 1.0, .rgb = FULCRUM_TONE_INK},
    [FULCRUM_SWATCH_PLACE] = {.marker_pt = 6.0,
        .border_pt = 1.4,
        .fill = FULCRUM_MARKER_HOLLOW,
        .rgb = FULCRUM_TONE_INK},
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
    struct fulcrum_rect cell = fulcrum_rect_around(middle, cell_extent);
    const struct fulcrum_pen thin = fulcrum_palette_rule(FULCRUM_TONE_MUTED, 0.6);
    pen.kind = FULCRUM_BOX_NONE;
    /* As the cells of a heat map that have no colour. */
    if (entry->swatch == FULCRUM_SWATCH_HATCH ||
        entry->swatch == FULCRUM_SWATCH_BLANK) {
        fulcrum_canvas_border(canvas, &thin, cell);
    }
    if (entry->swatch == FULCRUM_SWATCH_HATCH) {
        fulcrum_canvas_hatch(canvas, &thin, cell);
    }
    if (look->area.width_pt > 0.0) {
        pen.opacity = look->opacity;
        fulcrum_canvas_fill_rect(canvas, &pen, fulcrum_rect_around(middle, look->area));
    }
    if (look->line_pt > 0.0) {
        pen = fulcrum_palette_rule(look->rgb, look->line_pt);
        pen.dash = look->dash;
    }
    if (fabs(look->line_pt) > 0.0) {
        fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){cell.x0, middle.y},
            (struct fulcrum_spot){cell.x1, middle.y});
    }
    if (look->marker_pt > 0.0) {
        marker.shape = look->shape;
        marker.size_pt = look->marker_pt;
    }
    if (look->border_pt > 0.0) {
        pen =
            fulcrum_palette_rule(look->rgb > 0 ? look->rgb : pen.rgb, look->border_pt);
        marker.fill = look->fill;
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

/* Nothing of what the canvas keeps. */
static double text_height(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, const char *text, bool is_kept)
{
    return is_kept ? 0.0 : fulcrum_canvas_measure(canvas, style, text).height_pt;
}

/* Header from the top, footer from the bottom, the body between them. */
static struct layout lay_out_within(
    struct fulcrum_canvas *canvas, const struct fulcrum_page *page, int lines_max)
{
    struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
    bool is_bare = fulcrum_canvas_captions(canvas)->are_kept;
    double margin_pt = is_bare ? bare_margin_pt : page_margin_pt;
    double width_pt = extent.width_pt - 2.0 * margin_pt;
    struct layout layout = {.margin_pt = margin_pt,
        .title = wrapped(FULCRUM_TEXT_TITLE, width_pt, 2),
        .subtitle = wrapped(FULCRUM_TEXT_SUBTITLE, width_pt, lines_max),
        .footnote = wrapped(FULCRUM_TEXT_FOOTNOTE, width_pt, lines_max)};
    double title_pt = text_height(canvas, &layout.title, page->title, is_bare);
    double subtitle_pt = text_height(canvas, &layout.subtitle, page->subtitle, is_bare);
    double footnote_pt = text_height(canvas, &layout.footnote, page->footnote, is_bare);
    double legend_pt =
        flow_legend(canvas, page, (struct fulcrum_rect){0.0, 0.0, width_pt, 0.0}, NULL);
    layout.subtitle_y = margin_pt + title_pt + (title_pt > 0.0 ? 2.0 : 0.0);
    layout.footnote_y =
        extent.height_pt - margin_pt - footnote_pt + fmin(margin_pt, 4.0);
    layout.legend.x0 = margin_pt;
    layout.legend.x1 = margin_pt + width_pt;
    layout.legend.y1 = layout.footnote_y - (footnote_pt > 0.0 ? part_gap_pt : 0.0);
    layout.legend.y0 = layout.legend.y1 - legend_pt;
    layout.body = layout.legend;
    layout.body.y0 = layout.subtitle_y + subtitle_pt + part_gap_pt + 3.0;
    layout.body.y1 = layout.legend.y0 - (legend_pt > 0.0 ? part_gap_pt : 0.0);
    return layout;
}

/* Texts around the panels are cut to fewer lines until the panels have their share. */
static struct layout lay_out(
    struct fulcrum_canvas *canvas, const struct fulcrum_page *page)
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
    struct fulcrum_canvas *canvas, const struct fulcrum_page *page)
{
    return lay_out(canvas, page).body;
}

/* A copy that the canvas owns. */
static const char *kept(struct fulcrum_canvas *canvas, const char *text)
{
    bool is_any = text != NULL && text[0] != '\0';
    return is_any ? fulcrum_canvas_print(canvas, "%s", text) : NULL;
}

void fulcrum_page_draw(struct fulcrum_canvas *canvas, const struct fulcrum_page *page)
{
    struct layout layout = lay_out(canvas, page);
    struct fulcrum_captions *captions = fulcrum_canvas_captions(canvas);
    double x = layout.margin_pt;
    if (captions->are_kept) {
        captions->title = kept(canvas, page->title);
        captions->subtitle = kept(canvas, page->subtitle);
        captions->footnote = kept(canvas, page->footnote);
    } else {
        fulcrum_canvas_text(
            canvas, &layout.title, (struct fulcrum_spot){x, x}, page->title);
        fulcrum_canvas_text(canvas, &layout.subtitle,
            (struct fulcrum_spot){x, layout.subtitle_y}, page->subtitle);
    }
    (void)flow_legend(canvas, page, layout.legend, canvas);
    if (page->legend_count > 0) {
        fulcrum_canvas_record(canvas, FULCRUM_BOX_LEGEND, layout.legend);
    }
    if (!captions->are_kept) {
        fulcrum_canvas_text(canvas, &layout.footnote,
            (struct fulcrum_spot){x, layout.footnote_y}, page->footnote);
    }
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

struct fulcrum_table *fulcrum_chart_table(
    const struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_item *item = fulcrum_result_find(result, key);
    item = item != NULL ? item : fulcrum_result_find(result, "rows");
    return item != NULL ? item->table : NULL;
}

const char *fulcrum_chart_words(
    const struct fulcrum_table *table, size_t row, const char *key)
{
    const char *text = key != NULL ? fulcrum_table_at(table, row, key).text : NULL;
    return text != NULL ? text : "";
}

size_t fulcrum_chart_index(
    const char **names, size_t *count, size_t most, const char *name)
{
    size_t i = 0;
    while (i < *count && strcmp(names[i], name) != 0) {
        i++;
    }
    if (i == *count && i < most) {
        names[(*count)++] = name;
    }
    return i;
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
