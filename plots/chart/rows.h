/* rows.h - named rows along one horizontal axis: intervals, marks, stacked bars. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_ROWS_H
#define FULCRUM_PLOTS_CHART_ROWS_H

#include <stdbool.h>

#include "plots/chart/axis.h"
#include "plots/chart/canvas.h"
#include "plots/chart/page.h"

/*
 * From lo to hi along the axis; NAN in one of them: not drawn. Less than 7 % of a row's
 * height is a line, and stays thin in a high row.
 */
struct fulcrum_row_bar {
    double lo;
    double hi;
    double top_frac; /* where in the row's height, 0 to 1 */
    double bottom_frac;
    unsigned rgb;
    double opacity; /* 0 means 1 */
    char text[16];  /* in the middle or, where it does not fit, above; "": none */
};

enum { FULCRUM_ROW_BARS_MAX = 16 };

struct fulcrum_row {
    const char *name;    /* left of the axis; borrowed */
    const char *detail;  /* below the name of a high row; texts may be NULL */
    const char *text;    /* right of the axis, where the page is wide enough */
    const char *lo_text; /* beyond the ends of its bars */
    const char *hi_text;
    size_t bar_count;
    struct fulcrum_row_bar bars[FULCRUM_ROW_BARS_MAX]; /* from back to front */
    bool has_mark; /* a hollow diamond in the middle */
    double mark;   /* NAN: not drawn */
};

/* Where in a bar's height. */
enum fulcrum_row_half { FULCRUM_ROW_FULL, FULCRUM_ROW_UPPER, FULCRUM_ROW_LOWER };

/* One of several things that add up. */
struct fulcrum_row_part {
    double size; /* >= 0 */
    unsigned rgb;
    double opacity; /* 0 means 1 */
    enum fulcrum_row_half half;
    bool is_apart; /* a gap to the next one: equal neighbours must be told apart */
};

/* How long a bar of stacked parts is. */
enum fulcrum_row_scale {
    FULCRUM_ROW_AMOUNT, /* as long as its parts together */
    FULCRUM_ROW_SHARE,  /* 1, whatever that is; nothing where they are 0 */
    /* Parts are shares of 1; where they are far more than that they take turns. */
    FULCRUM_ROW_OF_ONE
};

/*
 * Adds a bar of parts side by side from 0, each labelled with its share of the whole.
 * Returns the whole.
 */
double fulcrum_row_stack(struct fulcrum_row *row, const struct fulcrum_row_part *parts,
    size_t count, enum fulcrum_row_scale scale);

/* Of canvas.h: that of the interval of a whole, in rows and in the legend. */
enum { FULCRUM_ROW_INTERVAL_STYLE = 5 };

/* Adds the interval of the whole below its parts, where hi is above lo. */
void fulcrum_row_interval(struct fulcrum_row *row, double lo, double hi);

/* Borrows all but the axis. */
struct fulcrum_rows {
    const char *title;
    const char *finding; /* a sentence beside or below the title; may be NULL */
    const char *x_label;
    const struct fulcrum_row *rows;
    size_t count;
    struct fulcrum_axis_options options; /* ticks_wanted is set by the layout */
    double centre;                       /* a line through all rows; NAN: none */
    double reach;         /* what the axis shows at least; NAN: its bars */
    size_t left_out;      /* counted in the last line, with those without a place */
    double lines_per_row; /* how high rows are beside those of other panels; 0: 1 */
    double row_most_pt;   /* 0: as high as the page has room */
    /* As many rows on an axis of their own, without names; NULL: none. */
    const struct fulcrum_rows *beside;
};

/* Whether the page is wide enough for what stands beside rows. */
bool fulcrum_rows_have_beside(const struct fulcrum_canvas *canvas);

/* How many rows find a place in a rectangle with title and axis. */
size_t fulcrum_rows_room(const struct fulcrum_canvas *canvas,
    const struct fulcrum_header *header, struct fulcrum_rect rect);

/*
 * Draws panels of rows below each other, at least one, their frames aligned. Rows that
 * find no place are counted in the last line; panels that find none fail the canvas.
 */
void fulcrum_rows_draw(struct fulcrum_canvas *canvas, const struct fulcrum_rows *panels,
    size_t count, struct fulcrum_rect rect);

#endif
