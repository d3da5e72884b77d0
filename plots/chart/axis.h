/* axis.h - maps values to the page, with round ticks and labels that do not meet. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_AXIS_H
#define FULCRUM_PLOTS_CHART_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "plots/chart/canvas.h"

/* A number as people read it. */
struct fulcrum_number_text {
    char chars[48];
};

/* "0.0625", "1024": x values as people write them. */
struct fulcrum_number_text fulcrum_plain_text(double value);

/* Which values are better. */
enum fulcrum_goal { FULCRUM_GOAL_MOST, FULCRUM_GOAL_LEAST };

enum fulcrum_axis_kind {
    FULCRUM_AXIS_LINEAR,
    FULCRUM_AXIS_LOG,  /* ticks at powers of ten, and at 2 and 5 times them */
    FULCRUM_AXIS_LOG2, /* ticks at powers of two: threads, batches */
    FULCRUM_AXIS_AUTO  /* linear, or LOG where values span more than three decades */
};

enum { FULCRUM_TICKS_MAX = 96, FULCRUM_TICK_LABEL_SIZE = 32 };

struct fulcrum_tick {
    double value;
    int rank; /* 0 most important; labels of lower rank give way */
    char label[FULCRUM_TICK_LABEL_SIZE]; /* "" on minor ticks */
};

/* The values an axis has to show. Start with fulcrum_limits_none. */
struct fulcrum_limits {
    double lo; /* above hi while there is none */
    double hi;
    double lo_positive; /* infinite while there is none */
};

struct fulcrum_axis {
    enum fulcrum_axis_kind kind; /* never AUTO once fitted */
    double lo;                   /* values at the ends */
    double hi;
    double from; /* positions at the ends, in points; set by the caller */
    double to;
    size_t tick_count;
    struct fulcrum_tick ticks[FULCRUM_TICKS_MAX];
};

struct fulcrum_axis_options {
    enum fulcrum_axis_kind kind;
    double ticks_wanted; /* labelled ones, at least 2 */
    double pad_frac;     /* room beyond the outermost values, as a share of the axis */
    int from_zero;       /* a linear axis of values >= 0 begins at 0 */
    const char *unit; /* follows each tick's label: "s" gives 50 µs; NULL for none */
};

struct fulcrum_limits fulcrum_limits_none(void);

/* Widens the span, to 1e300 at most; values that are not finite are left out. */
void fulcrum_limits_add(struct fulcrum_limits *span, double value);
void fulcrum_limits_add_all(
    struct fulcrum_limits *span, const double *values, size_t count);

/*
 * Chooses limits around the span and ticks between them. A span without usable values
 * gives an axis from 0 to 1 (logarithmic: 1 to 10). from and to are left alone.
 */
void fulcrum_axis_fit(struct fulcrum_axis *axis, const struct fulcrum_limits *span,
    const struct fulcrum_axis_options *options);

/* 1 where the value has a place on such an axis: finite, and positive if logarithmic.
 */
bool fulcrum_axis_shows(enum fulcrum_axis_kind kind, double value);

/* Position of a value that the axis shows; values beyond an end lie on that end. */
double fulcrum_axis_at(const struct fulcrum_axis *axis, double value);

/*
 * "2.5M", "17.2k", "0.0625", with a unit "50 µs": `digits` significant digits at most,
 * "unknown" for NaN.
 */
struct fulcrum_number_text fulcrum_si_text(double value, int digits, const char *unit);

/* What stands along the sides of a frame. */

enum fulcrum_side {
    FULCRUM_SIDE_LEFT,
    FULCRUM_SIDE_RIGHT,
    FULCRUM_SIDE_ABOVE,
    FULCRUM_SIDE_BELOW
};

/* What of an axis is drawn. */
enum fulcrum_axis_part {
    FULCRUM_AXIS_GRID = 1,  /* lines across the frame, at ticks with a label */
    FULCRUM_AXIS_LINE = 2,  /* along the side */
    FULCRUM_AXIS_TICKS = 4, /* pointing away from the frame */
    FULCRUM_AXIS_NUMBERS = 8
};

struct fulcrum_side_axis {
    const struct fulcrum_axis *axis; /* with its ends placed on the page */
    enum fulcrum_side side;
    struct fulcrum_rect frame;
    double from; /* above and below, texts stay between the two */
    double to;
    const char *label; /* beyond the numbers; NULL: none */
    unsigned parts;
};

/* Grid, line and ticks; numbers that do not meet: those of low rank come last and only
 * where they have room; the label. */
void fulcrum_side_axis_draw(
    struct fulcrum_canvas *canvas, const struct fulcrum_side_axis *at);

/* What the widest number of ticks takes left or right of a frame. */
double fulcrum_axis_width_pt(const struct fulcrum_canvas *canvas,
    const struct fulcrum_axis *axis, bool has_label);

/* What ticks, their numbers and the label take above or below a frame. */
double fulcrum_axis_height_pt(const struct fulcrum_canvas *canvas, bool has_label);

/* Places for labels that overlap nothing. */

/*
 * A text beside a pole that stands on a panel at x, like a flag. Flags of poles close
 * to each other go to different rows; row 0 is the lowest.
 */
struct fulcrum_flag_post {
    double x;
    double width_pt; /* of the text */
    size_t row;      /* set by fulcrum_flag_posts_place, as are */
    double x0;       /* the ends of the text */
    double x1;
    bool is_shown; /* false: there was no place */
};

struct fulcrum_flag_room {
    double x0; /* texts stay between x0 and x1 */
    double x1;
    size_t row_count;
};

/*
 * Gives each post a row and a side so that no text overlaps another or a pole, leaving
 * out what does not fit.
 *   posts    sorted by x
 * Returns the number of rows in use.
 */
size_t fulcrum_flag_posts_place(struct fulcrum_flag_post *posts, size_t count,
    const struct fulcrum_flag_room *room);

/* Rectangles that a label keeps clear of. Borrowed. */
struct fulcrum_label_room {
    struct fulcrum_rect bounds; /* it stays inside them */
    const struct fulcrum_rect *taken;
    size_t taken_count;
    const struct fulcrum_canvas *canvas; /* its texts and data marks too; NULL: none */
};

/* Where a label is put. */
struct fulcrum_label_place {
    struct fulcrum_rect rect;
    bool is_far; /* a leader line should say what it belongs to */
};

/*
 * The first free place of that size near a mark, right beside it before farther away.
 * Returns 0 where there is none, and leaves `out` alone.
 */
int fulcrum_label_find(const struct fulcrum_label_room *room, struct fulcrum_spot mark,
    struct fulcrum_extent extent, struct fulcrum_label_place *out);

/* A thin line from beside a mark to the nearest point of its label. */
void fulcrum_label_lead(
    struct fulcrum_canvas *canvas, struct fulcrum_spot mark, struct fulcrum_rect rect);

/*
 * Draws a text near a mark, with a leader line where it is not right beside it, at the
 * first place inside `bounds` that covers no text and no data mark.
 * Returns 0 where there is no such place; nothing is drawn then.
 */
int fulcrum_label_near(struct fulcrum_canvas *canvas, const struct fulcrum_text *style,
    struct fulcrum_spot mark, struct fulcrum_rect bounds, const char *text);

#endif
