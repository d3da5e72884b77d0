/* canvas.h - one page that charts draw on: lines, areas, markers and text. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_CANVAS_H
#define FULCRUM_PLOTS_CHART_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/status.h"

/*
 * Lengths are points (1/72 inch), y grows downwards. A canvas keeps what was drawn
 * until it is saved, together with the box of each text and data mark, so that layout
 * and tests can ask what lies where. Drawing calls cannot fail at once: the first
 * failure is kept, later calls do nothing, and fulcrum_canvas_status tells.
 */
struct fulcrum_canvas; /* opaque */

struct fulcrum_spot {
    double x;
    double y;
};

struct fulcrum_rect {
    double x0;
    double y0;
    double x1;
    double y1;
};

enum fulcrum_box_kind {
    FULCRUM_BOX_TEXT,
    FULCRUM_BOX_DATA,  /* markers and short pieces of data lines */
    FULCRUM_BOX_GUIDE, /* lines that help to read but are no data */
    FULCRUM_BOX_LEGEND,
    FULCRUM_BOX_PANEL, /* the inside of a pair of axes */
    FULCRUM_BOX_NONE   /* not recorded */
};

struct fulcrum_box {
    enum fulcrum_box_kind kind;
    struct fulcrum_rect rect;
    const char *text; /* borrowed from the canvas; NULL but for texts */
};

enum fulcrum_dash {
    FULCRUM_DASH_SOLID,
    FULCRUM_DASH_LONG,
    FULCRUM_DASH_SHORT,
    FULCRUM_DASH_DOT,
    FULCRUM_DASH_MIXED
};

struct fulcrum_pen {
    unsigned rgb;    /* 0xRRGGBB */
    double opacity;  /* 0 means 1 */
    double width_pt; /* of strokes; 0 means 1 */
    enum fulcrum_dash dash;
    enum fulcrum_box_kind kind; /* what the mark is recorded as */
};

enum fulcrum_marker_shape {
    FULCRUM_MARKER_CIRCLE,
    FULCRUM_MARKER_SQUARE,
    FULCRUM_MARKER_TRIANGLE,
    FULCRUM_MARKER_DIAMOND,
    FULCRUM_MARKER_WEDGE, /* triangle on its tip */
    FULCRUM_MARKER_STAR
};

enum fulcrum_marker_fill { FULCRUM_MARKER_FULL, FULCRUM_MARKER_HOLLOW };

struct fulcrum_marker {
    enum fulcrum_marker_shape shape;
    enum fulcrum_marker_fill fill;
    double size_pt; /* width, roughly */
};

enum fulcrum_text_weight { FULCRUM_TEXT_NORMAL, FULCRUM_TEXT_BOLD };

struct fulcrum_text {
    double size_pt;
    unsigned rgb;
    enum fulcrum_text_weight weight;
    double anchor_x;     /* which part of the text lies on the spot: 0 left, 1 right */
    double anchor_y;     /* 0 top, 1 bottom */
    double width_max_pt; /* wraps there; 0 means no limit */
    int lines_max;       /* per paragraph, if width_max_pt is set: more end in an
                            ellipsis; 0 means 1 */
    bool is_upright;     /* reads from below to above */
};

struct fulcrum_extent {
    double width_pt;
    double height_pt;
};

/*
 *   fails    FULCRUM_ERR_RANGE (a side outside [240, 4000] points),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_new(struct fulcrum_canvas **out,
    double width_pt, double height_pt, struct fulcrum_error *err);
void fulcrum_canvas_free(struct fulcrum_canvas *canvas);
struct fulcrum_extent fulcrum_canvas_extent(const struct fulcrum_canvas *canvas);

void fulcrum_canvas_stroke(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count);
void fulcrum_canvas_line(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_spot from, struct fulcrum_spot to);

/* The area inside `count` spots, without a border. */
void fulcrum_canvas_fill(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count);
void fulcrum_canvas_fill_rect(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, struct fulcrum_rect rect);

void fulcrum_canvas_border(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_rect rect);

/* `count` rectangles in one go, which takes less room in a file; never recorded. */
void fulcrum_canvas_fill_rects(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, const struct fulcrum_rect *rects, size_t count);

/*
 * Slanted lines inside the rectangle, at the same places of the page whatever rectangle
 * they are part of, so that those of neighbours meet.
 */
void fulcrum_canvas_hatch(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_rect rect);

void fulcrum_canvas_marker(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_marker *marker, struct fulcrum_spot spot);

/* What is best. */
void fulcrum_canvas_star(struct fulcrum_canvas *canvas, struct fulcrum_spot spot);

/* Empty texts are not drawn. Bytes that are not UTF-8 show as replacement signs. */
void fulcrum_canvas_text(struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text);

/* The size that fulcrum_canvas_text would take, before rotation; 0 x 0 if empty. */
struct fulcrum_extent fulcrum_canvas_measure(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, const char *text);

/* Records a rectangle that nothing draws, such as a legend's. */
void fulcrum_canvas_record(struct fulcrum_canvas *canvas, enum fulcrum_box_kind kind,
    struct fulcrum_rect rect);

/* Borrowed: valid until the canvas changes or is freed. */
const struct fulcrum_box *fulcrum_canvas_boxes(
    const struct fulcrum_canvas *canvas, size_t *count);

/*
 * Texts that surround a chart's panels; NULL: none. Where the page stands in a text of
 * its own they are kept here instead of drawn, and the chart has no margin.
 */
struct fulcrum_captions {
    bool are_kept; /* set by the caller before a chart is drawn */
    const char *title;
    const char *subtitle;
    const char *footnote;
};

/* Borrowed, as the texts are. */
struct fulcrum_captions *fulcrum_canvas_captions(struct fulcrum_canvas *canvas);

/* What is filled in here, fulcrum_canvas_status tells. */
struct fulcrum_error *fulcrum_canvas_failure(struct fulcrum_canvas *canvas);

/*
 * Memory of zeros for a picture, which stays until the canvas is freed. Where there is
 * none GLib ends the program, as it does for the marks of a page.
 *   count    may be 0
 */
void *fulcrum_canvas_room(struct fulcrum_canvas *canvas, size_t count, size_t size);

/* A text made as by printf that stays as long. */
const char *fulcrum_canvas_print(struct fulcrum_canvas *canvas, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* "TEXT, MORE" with `between` them where neither is empty; NULL is "". Lives as long.
 */
const char *fulcrum_canvas_join(struct fulcrum_canvas *canvas, const char *text,
    const char *between, const char *more);

/* The first failure of a drawing call, FULCRUM_OK if there was none. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_status(
    const struct fulcrum_canvas *canvas, struct fulcrum_error *err);

/* 1 where the insides of two rectangles meet. */
int fulcrum_rect_overlap(struct fulcrum_rect a, struct fulcrum_rect b);

struct fulcrum_spot fulcrum_rect_centre(struct fulcrum_rect rect);

struct fulcrum_rect fulcrum_rect_around(
    struct fulcrum_spot centre, struct fulcrum_extent extent);

/*
 * Writes the page to `file` in the type that the ending of `path` names: .svg, .pdf or
 * .png. The same page gives the same bytes: a PDF has a fixed date, the others none.
 *   path     is not opened
 *   png_width_px  0: two pixels a point
 *   fails    FULCRUM_ERR_RANGE (another ending, a picture outside [16, 16384] pixels),
 *            FULCRUM_ERR_FILE, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_write(
    const struct fulcrum_canvas *canvas, const char *path, double png_width_px,
    FILE *file, struct fulcrum_error *err);

/* Colours, dashes, markers and text sizes that all charts share. */

enum fulcrum_tone {
    FULCRUM_TONE_INK = 0x1A1A1A,
    FULCRUM_TONE_SOFT = 0x555555,  /* subtitles, ticks */
    FULCRUM_TONE_MUTED = 0x8A8A8A, /* disturbed samples, poles */
    FULCRUM_TONE_GRID = 0xE3E3E3
};

/* What charts are drawn on, and the field of a panel without data. */
enum fulcrum_ground {
    FULCRUM_GROUND_PAPER = 0xFFFFFF,
    FULCRUM_GROUND_EMPTY = 0xF5F5F5
};

enum fulcrum_text_role {
    FULCRUM_TEXT_TITLE,
    FULCRUM_TEXT_SUBTITLE,
    FULCRUM_TEXT_PANEL_TITLE,
    FULCRUM_TEXT_FINDING,
    FULCRUM_TEXT_AXIS,
    FULCRUM_TEXT_TICK,
    FULCRUM_TEXT_LEGEND,
    FULCRUM_TEXT_FLAG,
    FULCRUM_TEXT_FOOTNOTE,
    FULCRUM_TEXT_EMPTY
};

/*
 * The i-th style of lines: a colour of Okabe and Ito's set for colour-blind readers
 * ("Color Universal Design", 2008; its yellow is too pale on white) with a dash of its
 * own, so that lines differ in grey print too; a test looks at all of them, light and
 * dark, as readers without red or green cones do. Styles repeat after the last one.
 */
struct fulcrum_pen fulcrum_palette_pen(size_t i);

/* For what is no data; the width is that of strokes. */
struct fulcrum_pen fulcrum_palette_rule(unsigned rgb, double width_pt);

/* The marker that goes with the i-th style. */
struct fulcrum_marker fulcrum_palette_marker(size_t i);

/* A colour on white paper, and what takes its place on a dark screen. */
struct fulcrum_shade {
    unsigned rgb; /* 0xRRGGBB */
    unsigned dark_rgb;
};

/*
 * Every colour of tones, styles, paper and empty panels. Dark ones keep the hue, and
 * the order of lightness between ink, ticks and grid turned round; a test holds their
 * contrast against dark paper. Static.
 */
const struct fulcrum_shade *fulcrum_palette_shades(size_t *count);

/*
 * Colour of a share of the way from the least to the most, of equal steps for the eye,
 * for colour-blind readers and in grey print: viridis, by Smith, van der Walt and
 * Firing (github.com/BIDS/colormap, CC0), 16 of its 256 colours and between them
 * straight lines. Shares beyond [0, 1] have the colour of the end.
 */
unsigned fulcrum_palette_heat(double share_frac);

/* What lines and texts on that colour are drawn in. */
unsigned fulcrum_palette_heat_ink(double share_frac);

/*
 * What a text on an area of that colour is written in: paper where that can be read,
 * with 3 to 1 as WCAG 2.1 asks of graphics, else a dark that stays dark on a dark
 * screen, whose shades of light colours are light too.
 */
unsigned fulcrum_palette_ink_on(unsigned rgb);

/* A text style anchored at its top left. */
struct fulcrum_text fulcrum_palette_text(enum fulcrum_text_role role);

/* The same with another part of the text on the spot. */
struct fulcrum_text fulcrum_palette_anchored(
    enum fulcrum_text_role role, double anchor_x, double anchor_y);

/* Height of one line of it, with ascenders and descenders. */
double fulcrum_palette_height_pt(
    const struct fulcrum_canvas *canvas, enum fulcrum_text_role role);

/*
 * Writes the page as <svg class="chart">: no prolog, no ids that could meet those of
 * another chart, no paper, as wide as what it stands in allows. Texts stay texts in the
 * document's own font, broken into lines as they were measured. Colours are
 * presentation attributes, which a style sheet can replace for a dark screen:
 * [fill="#1a1a1a"] { fill: ... } with the shades above. Coordinates have a tenth of a
 * point.
 *   label    what the chart is, for who cannot see it; escaped here
 *   fails    FULCRUM_ERR_NO_MEMORY, also of what was drawn; failures of `file` are left
 *            to its owner
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_write_svg(
    const struct fulcrum_canvas *canvas, const char *label, FILE *file,
    struct fulcrum_error *err);

#endif
