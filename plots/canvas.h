/* canvas.h - one page that charts draw on: lines, areas, markers and text. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CANVAS_H
#define FULCRUM_PLOTS_CANVAS_H

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
    double rotation_deg; /* counter-clockwise */
    double width_max_pt; /* wraps there; 0 means no limit */
    int lines_max;       /* per paragraph, if width_max_pt is set: more end in an
                            ellipsis; 0 means 1 */
};

struct fulcrum_extent {
    double width_pt;
    double height_pt;
};

/*
 *   out      set on success only; the caller frees it with fulcrum_canvas_free
 *   fails    FULCRUM_ERR_RANGE (a side outside [240, 4000] points),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_new(struct fulcrum_canvas **out,
    double width_pt, double height_pt, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_canvas_free(struct fulcrum_canvas *canvas);

/* The page's size. */
struct fulcrum_extent fulcrum_canvas_extent(const struct fulcrum_canvas *canvas);

/* Lines through `count` spots. */
void fulcrum_canvas_stroke(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count);

/* One straight line. */
void fulcrum_canvas_line(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_spot from, struct fulcrum_spot to);

/* The area inside `count` spots, without a border. */
void fulcrum_canvas_fill(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count);

/* A filled rectangle. */
void fulcrum_canvas_fill_rect(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, struct fulcrum_rect rect);

/* `count` rectangles in one go, which takes less room in a file; never recorded. */
void fulcrum_canvas_fill_rects(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, const struct fulcrum_rect *rects, size_t count);

/*
 * Slanted lines inside the rectangle, at the same places of the page whatever rectangle
 * they are part of, so that those of neighbours meet.
 */
void fulcrum_canvas_hatch(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_rect rect);

/* One marker with its centre on the spot. */
void fulcrum_canvas_marker(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_marker *marker, struct fulcrum_spot spot);

/* Empty texts are not drawn. Bytes that are not UTF-8 show as replacement signs. */
void fulcrum_canvas_text(struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text);

/* The size that fulcrum_canvas_text would take, before rotation; 0 x 0 if empty. */
struct fulcrum_extent fulcrum_canvas_measure(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, const char *text);

/* The rectangle that fulcrum_canvas_text would cover on the page. */
struct fulcrum_rect fulcrum_canvas_text_rect(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text);

/* Records a rectangle that nothing draws, such as a legend's. */
void fulcrum_canvas_record(struct fulcrum_canvas *canvas, enum fulcrum_box_kind kind,
    struct fulcrum_rect rect);

/* Borrowed: valid until the canvas changes or is freed. */
const struct fulcrum_box *fulcrum_canvas_boxes(
    const struct fulcrum_canvas *canvas, size_t *count);

/* Texts that surround a chart's panels. */
enum fulcrum_caption {
    FULCRUM_CAPTION_TITLE,
    FULCRUM_CAPTION_SUBTITLE,
    FULCRUM_CAPTION_FOOTNOTE,
    FULCRUM_CAPTION_COUNT
};

/*
 * From now on charts keep these texts beside the page instead of drawing them, and use
 * its whole width: for pages that stand in a text of their own.
 */
void fulcrum_canvas_keep_captions(struct fulcrum_canvas *canvas);

/* 1 after fulcrum_canvas_keep_captions. */
int fulcrum_canvas_keeps_captions(const struct fulcrum_canvas *canvas);

/* Keeps a copy of `text`; NULL and "" are none. */
void fulcrum_canvas_set_caption(
    struct fulcrum_canvas *canvas, enum fulcrum_caption caption, const char *text);

/* NULL where there is none. Borrowed: valid until it is set again. */
const char *fulcrum_canvas_caption(
    const struct fulcrum_canvas *canvas, enum fulcrum_caption caption);

/* Keeps a shortage of memory that a caller met while it drew. */
void fulcrum_canvas_out_of_memory(struct fulcrum_canvas *canvas);

/* The first failure of a drawing call, FULCRUM_OK if there was none. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_status(
    const struct fulcrum_canvas *canvas, struct fulcrum_error *err);

/* 1 where the insides of two rectangles meet. */
int fulcrum_rect_overlap(struct fulcrum_rect a, struct fulcrum_rect b);

struct fulcrum_save_options {
    double png_scale;    /* pixels per point; 0 means 2 */
    double png_width_px; /* overrides png_scale unless 0 */
};

/*
 * Writes the page to `file` in the type that the ending of `path` names: .svg, .pdf or
 * .png. The same page gives the same bytes: a PDF has a fixed date, the others none.
 *   path     is not opened
 *   options  may be NULL
 *   fails    FULCRUM_ERR_RANGE (another ending, a picture outside [16, 16384] pixels),
 *            FULCRUM_ERR_FILE, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_write(
    const struct fulcrum_canvas *canvas, const char *path,
    const struct fulcrum_save_options *options, FILE *file, struct fulcrum_error *err);

#endif
