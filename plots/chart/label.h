/* label.h - finds places for labels that overlap nothing, or says that there is none.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_LABEL_H
#define FULCRUM_PLOTS_CHART_LABEL_H

#include <stdbool.h>

#include "plots/chart/canvas.h"

/*
 * A text beside a pole that stands on a panel at x, like a flag. Flags of poles close
 * to each other go to different rows; row 0 is the lowest.
 */
struct fulcrum_flag_post {
    double x;
    double width_pt; /* of the text */
    size_t row;      /* set by fulcrum_flag_posts_place, as are */
    int to_left;     /* the text lies left of the pole */
    int shown;       /* 0: there was no place */
};

struct fulcrum_flag_room {
    double x0; /* texts stay between x0 and x1 */
    double x1;
    size_t row_count;
};

/* Gap between a pole and its text. */
double fulcrum_flag_gap_pt(void);

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
