/* page.h - what surrounds the panels: title, subtitle, legend, footnote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_PAGE_H
#define FULCRUM_PLOTS_CHART_PAGE_H

#include "plots/chart/canvas.h"
#include "plots/chart/chart.h"

/* The line above a picture: what is shown, and what there is to see. Borrowed. */
struct fulcrum_header {
    const char *title;   /* may be NULL */
    const char *finding; /* at the right, or below where both do not fit; may be NULL */
};

/* With the gap to what follows. */
double fulcrum_header_height_pt(const struct fulcrum_canvas *canvas,
    const struct fulcrum_header *header, double width_pt);

/* Draws it at the top of `rect`. */
void fulcrum_header_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_header *header, struct fulcrum_rect rect);

enum fulcrum_swatch {
    FULCRUM_SWATCH_LINE,
    FULCRUM_SWATCH_LINE_AND_MARKER,
    FULCRUM_SWATCH_BAND,
    FULCRUM_SWATCH_BAR,
    FULCRUM_SWATCH_STACK,    /* a part of a stacked bar */
    FULCRUM_SWATCH_INTERVAL, /* a thin upright bar, as through markers */
    FULCRUM_SWATCH_MARKER,
    FULCRUM_SWATCH_HOLLOW,
    FULCRUM_SWATCH_DIAMOND, /* hollow, whatever the style's shape */
    FULCRUM_SWATCH_DISTURBED,
    FULCRUM_SWATCH_STAR,
    FULCRUM_SWATCH_GUIDE,
    FULCRUM_SWATCH_RULE,  /* a thin line, as contours are */
    FULCRUM_SWATCH_PLACE, /* a ring */
    FULCRUM_SWATCH_HATCH, /* what cannot run */
    FULCRUM_SWATCH_BLANK  /* what is not known */
};

struct fulcrum_legend_entry {
    size_t rank;
    enum fulcrum_swatch swatch;
    size_t style; /* of canvas.h */
    const char *label;
};

enum { FULCRUM_LEGEND_MAX = 48 };

/* Long texts wrap, and end in an ellipsis where they would crowd out the panels. */
struct fulcrum_page {
    const char *title; /* each text may be NULL */
    const char *subtitle;
    const char *footnote;
    struct fulcrum_legend_entry legend[FULCRUM_LEGEND_MAX];
    size_t legend_count;
};

/*
 * Adds an entry behind those of lower or the same rank; none without a label. One that
 * is there already is not repeated, and shows line and marker where either was asked.
 */
void fulcrum_page_explain(struct fulcrum_page *page, size_t rank,
    enum fulcrum_swatch swatch, size_t style, const char *label);

/*
 * Adds "; TEXT" to the footnote unless it says that already. With an intro, texts of
 * that intro make a paragraph of their own. NULL and "" add nothing.
 */
void fulcrum_page_note(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    const char *intro, const char *text);

/* Where the panels go. */
struct fulcrum_rect fulcrum_page_body(
    struct fulcrum_canvas *canvas, const struct fulcrum_page *page);

/* Draws title, subtitle, legend and footnote around the body. */
void fulcrum_page_draw(struct fulcrum_canvas *canvas, const struct fulcrum_page *page);

/* A page whose body says that there is nothing to draw. */
void fulcrum_page_draw_empty(
    struct fulcrum_canvas *canvas, const struct fulcrum_page *page);

#endif
