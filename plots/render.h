/* render.h - what a canvas asks of a graphics library: text sizes, and files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_RENDER_H
#define FULCRUM_PLOTS_RENDER_H

#include <stdio.h>

#include "plots/canvas.h"

enum fulcrum_mark_kind {
    FULCRUM_MARK_STROKE,
    FULCRUM_MARK_FILL,
    FULCRUM_MARK_RECTS, /* two opposite corners each */
    FULCRUM_MARK_TEXT
};

/* One thing drawn. */
struct fulcrum_mark {
    enum fulcrum_mark_kind kind;
    struct fulcrum_pen pen;
    size_t first; /* of its spots; a text has one, its anchor */
    size_t count;
    struct fulcrum_text style;
    char *text; /* owned by the canvas; NULL but for texts */
};

struct fulcrum_drawing {
    struct fulcrum_extent extent;
    const struct fulcrum_mark *marks;
    size_t mark_count;
    const struct fulcrum_spot *spots;
};

enum fulcrum_file_type { FULCRUM_FILE_SVG, FULCRUM_FILE_PDF, FULCRUM_FILE_PNG };

struct fulcrum_typesetter; /* opaque: fonts */

/* NULL where memory is short. */
struct fulcrum_typesetter *fulcrum_typesetter_new(void);

/* Accepts NULL. */
void fulcrum_typesetter_free(struct fulcrum_typesetter *typesetter);

/* Size of a text before rotation. */
struct fulcrum_extent fulcrum_typesetter_extent(
    const struct fulcrum_typesetter *typesetter, const struct fulcrum_text *style,
    const char *text);

/* One line of a text that was broken into lines. */
struct fulcrum_text_line {
    const char *text;   /* valid UTF-8, with the ellipsis where the text was cut */
    double baseline_pt; /* below the top of the whole text */
    size_t index;       /* from 0 */
    size_t count;       /* of all lines */
};

/* Who gets the lines; the text is borrowed for the call. */
struct fulcrum_line_taker {
    void (*take)(void *user, const struct fulcrum_text_line *line);
    void *user;
};

/*
 * Breaks a text as fulcrum_render would.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_typesetter_break(
    const struct fulcrum_typesetter *typesetter, const struct fulcrum_text *style,
    const char *text, const struct fulcrum_line_taker *taker);

/*
 * Writes the drawing to an open file.
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_FILE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_render(
    const struct fulcrum_drawing *drawing, enum fulcrum_file_type type, double scale,
    FILE *file, struct fulcrum_error *err);

/* That of a canvas. Borrowed, as long as the canvas. */
const struct fulcrum_typesetter *fulcrum_canvas_typesetter(
    const struct fulcrum_canvas *canvas);

/* The drawing of a canvas. Borrowed: valid until the canvas changes. */
struct fulcrum_drawing fulcrum_canvas_drawing(const struct fulcrum_canvas *canvas);

#endif
