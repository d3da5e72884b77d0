/* inline_svg.c - a page as an SVG element that stands in an HTML document. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cairo's own SVG has each glyph as a shape with an id that begins anew in every file,
 * and so many bytes. A document has fonts: what it takes is where lines break, which
 * the typesetter knows, and that other fonts are seldom wider than the one measured.
 */
#include "plots/chart/inline_svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/string.h"
#include "model/try.h"
#include "plots/chart/canvas.h"

/* Below this, opacities and coordinates are not told apart. */
static const double opaque = 0.999;

static void put_escaped(FILE *file, const char *text)
{
    static const struct fulcrum_escape escapes[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\0', NULL}};
    while (*text != '\0') {
        const char *piece = NULL;
        size_t length = 0;
        text += fulcrum_escape_next(text, escapes, "?", &piece, &length);
        (void)fwrite(piece, 1, length, file);
    }
}

/* A tenth of a point, without the zeros that say nothing, nor a minus before 0. */
static void put_length(FILE *file, double pt)
{
    long tenths = lround(pt * 10.0);
    long size = labs(tenths);
    (void)fprintf(file, "%s%ld", tenths < 0 ? "-" : "", size / 10);
    if (size % 10 != 0) {
        (void)fprintf(file, ".%ld", size % 10);
    }
}

static void put_attribute(FILE *file, const char *name, double pt)
{
    (void)fprintf(file, " %s=\"", name);
    put_length(file, pt);
    (void)fputc('"', file);
}

/* ' fill="#0072b2" fill-opacity="0.2"' */
static void put_paint(FILE *file, const char *what, const struct fulcrum_pen *pen)
{
    (void)fprintf(file, " %s=\"#%06x\"", what, pen->rgb);
    if (pen->opacity > 0.0 && pen->opacity < opaque) {
        (void)fprintf(file, " %s-opacity=\"%.3g\"", what, pen->opacity);
    }
}

static void put_path(
    FILE *file, const struct fulcrum_mark *mark, const struct fulcrum_spot *spots)
{
    bool is_fill = mark->kind == FULCRUM_MARK_FILL;
    (void)fputs(is_fill ? "<polygon" : "<polyline fill=\"none\"", file);
    put_paint(file, is_fill ? "fill" : "stroke", &mark->pen);
    if (!is_fill) {
        put_attribute(file, "stroke-width", mark->pen.width_pt);
        /* The same lengths as in files drawn by Cairo. */
        enum fulcrum_dash dash = mark->pen.dash;
        static const char *const lengths[] = {
            [FULCRUM_DASH_SOLID] = NULL,
            [FULCRUM_DASH_LONG] = "7 3",
            [FULCRUM_DASH_SHORT] = "3.5 2.5",
            [FULCRUM_DASH_DOT] = "1.2 2.2",
            [FULCRUM_DASH_MIXED] = "7 2.5 1.5 2.5",
        };
        if (lengths[dash] != NULL) {
            (void)fprintf(file, " stroke-dasharray=\"%s\"", lengths[dash]);
        }
    }
    (void)fputs(" points=\"", file);
    for (size_t i = 0; i < mark->count; i++) {
        (void)fputs(i > 0 ? " " : "", file);
        put_length(file, spots[i].x);
        (void)fputc(',', file);
        put_length(file, spots[i].y);
    }
    (void)fputs("\"/>\n", file);
}

/* All in one path: from a corner along, down and back. */
static void put_rects(
    FILE *file, const struct fulcrum_mark *mark, const struct fulcrum_spot *spots)
{
    (void)fputs("<path", file);
    put_paint(file, "fill", &mark->pen);
    (void)fputs(" d=\"", file);
    for (size_t i = 0; i + 1 < mark->count; i += 2) {
        const char steps[] = {'M', ' ', 'h', 'v', 'h'};
        double width = spots[i + 1].x - spots[i].x;
        const double lengths[] = {
            spots[i].x, spots[i].y, width, spots[i + 1].y - spots[i].y, -width};
        for (size_t k = 0; k < sizeof steps; k++) {
            (void)fputc(steps[k], file);
            put_length(file, lengths[k]);
        }
        (void)fputc('z', file);
    }
    (void)fputs("\"/>\n", file);
}

/* One text under way: lines are set below each other from its anchor. */
struct setting {
    FILE *file;
    const struct fulcrum_text *style;
    struct fulcrum_spot spot;
    struct fulcrum_extent extent;
};

/* Which end of a line stays where it is, whatever width the reader's font has. */
static const char *text_anchor(double anchor_x)
{
    if (anchor_x > 0.75) {
        return "end";
    }
    return anchor_x > 0.25 ? "middle" : NULL;
}

/* Lines of one text are flush left in its box, as Pango sets them. */
static double line_x(const struct setting *setting, size_t line_count)
{
    if (line_count == 1) {
        double snapped = text_anchor(setting->style->anchor_x) == NULL ? 0.0
                         : setting->style->anchor_x > 0.75             ? 1.0
                                                                       : 0.5;
        return (snapped - setting->style->anchor_x) * setting->extent.width_pt;
    }
    return -setting->style->anchor_x * setting->extent.width_pt;
}

static void put_line(void *user, const struct fulcrum_text_line *line)
{
    const struct setting *setting = user;
    const struct fulcrum_text *style = setting->style;
    FILE *file = setting->file;
    double x = line_x(setting, line->count);
    double y = line->baseline_pt - style->anchor_y * setting->extent.height_pt;
    (void)fputs("<text", file);
    if (fabs(style->rotation_deg) > 0.0) {
        (void)fputs(" transform=\"translate(", file);
        put_length(file, setting->spot.x);
        (void)fputc(' ', file);
        put_length(file, setting->spot.y);
        (void)fprintf(file, ") rotate(%g)\"", -style->rotation_deg);
        put_attribute(file, "x", x);
        put_attribute(file, "y", y);
    } else {
        put_attribute(file, "x", setting->spot.x + x);
        put_attribute(file, "y", setting->spot.y + y);
    }
    const char *anchor = text_anchor(style->anchor_x);
    if (anchor != NULL && line->count == 1) {
        (void)fprintf(file, " text-anchor=\"%s\"", anchor);
    }
    put_attribute(file, "font-size", style->size_pt);
    if (style->weight == FULCRUM_TEXT_BOLD) {
        (void)fputs(" font-weight=\"bold\"", file);
    }
    (void)fprintf(file, " fill=\"#%06x\">", style->rgb);
    put_escaped(file, line->text);
    (void)fputs("</text>\n", file);
}

static enum fulcrum_status put_text(const struct fulcrum_typesetter *typesetter,
    const struct fulcrum_mark *mark, struct fulcrum_spot spot, FILE *file)
{
    struct setting setting = {.file = file,
        .style = &mark->style,
        .spot = spot,
        .extent = fulcrum_typesetter_extent(typesetter, &mark->style, mark->text)};
    const struct fulcrum_line_taker taker = {put_line, &setting};
    return fulcrum_typesetter_break(typesetter, &mark->style, mark->text, &taker);
}

static enum fulcrum_status put_marks(
    const struct fulcrum_canvas *canvas, FILE *file, struct fulcrum_error *err)
{
    const struct fulcrum_typesetter *typesetter = fulcrum_canvas_typesetter(canvas);
    struct fulcrum_drawing drawing = fulcrum_canvas_drawing(canvas);
    for (size_t i = 0; i < drawing.mark_count; i++) {
        const struct fulcrum_mark *mark = &drawing.marks[i];
        const struct fulcrum_spot *spots = drawing.spots + mark->first;
        if (mark->kind == FULCRUM_MARK_RECTS) {
            put_rects(file, mark, spots);
        } else if (mark->kind != FULCRUM_MARK_TEXT) {
            put_path(file, mark, spots);
        } else if (put_text(typesetter, mark, spots[0], file) != FULCRUM_OK) {
            return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "lines of a text");
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_canvas_write_svg(const struct fulcrum_canvas *canvas,
    const char *label, FILE *file, struct fulcrum_error *err)
{
    TRY(fulcrum_canvas_status(canvas, err));
    struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
    (void)fputs("<svg class=\"chart\" viewBox=\"0 0 ", file);
    put_length(file, extent.width_pt);
    (void)fputc(' ', file);
    put_length(file, extent.height_pt);
    (void)fputs("\" role=\"img\" aria-label=\"", file);
    put_escaped(file, label);
    (void)fputs("\">\n", file);
    enum fulcrum_status status = put_marks(canvas, file, err);
    (void)fputs("</svg>\n", file);
    return status;
}
