/* contour.h - lines of equal value through a grid of values. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_CONTOUR_H
#define FULCRUM_PLOTS_CHART_CONTOUR_H

#include <stddef.h>

#include "model/status.h"
#include "plots/chart/axis.h"
#include "plots/chart/canvas.h"

/* Values at the crossings of columns and rows. Borrowed. */
struct fulcrum_contour_grid {
    const double *x; /* of the columns, strictly rising or falling */
    const double *y; /* of the rows, likewise */
    size_t x_count;
    size_t y_count;
    const double
        *value; /* y_count x x_count, row-major; what is not finite is a hole */
};

/* Where closed, the last spot is the first one again. */
struct fulcrum_contour_line {
    const struct fulcrum_spot *spots;
    size_t count; /* at least 2 */
};

/* Owned by whoever traced it. {0} is a legal start. */
struct fulcrum_contour {
    struct fulcrum_contour_line *lines;
    size_t line_count;
    struct fulcrum_spot *spots; /* of all lines */
};

/*
 * The lines along which the values equal `level`, by marching squares: between two
 * neighbours the value is taken to be linear, inside four of them bilinear, which says
 * how lines pass a saddle. A square with a hole at a corner is crossed by no line, so
 * that lines are closed or end at the border of the grid or of a hole.
 *   out      set on success only; the caller frees it with fulcrum_contour_clear
 *   fails    FULCRUM_ERR_RANGE (level is not finite), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_contour_trace(
    const struct fulcrum_contour_grid *grid, double level, struct fulcrum_contour *out,
    struct fulcrum_error *err);

void fulcrum_contour_clear(struct fulcrum_contour *contour);

/* Along the spots of a line. */
double fulcrum_contour_length(const struct fulcrum_contour_line *line);

/* All lines of a page, those of one label together. Borrowed. */
struct fulcrum_line_crowd {
    const struct fulcrum_contour *contours;
    size_t count;
};

/*
 * The place on the longest line of contour `own` that is farthest from the borders of
 * the room and from what is taken there, and that no line of another contour crosses.
 * Returns 0 where there is none or the line is too short for a label, and leaves `out`
 * alone.
 */
int fulcrum_line_label_find(const struct fulcrum_line_crowd *crowd, size_t own,
    const struct fulcrum_label_room *room, struct fulcrum_extent extent,
    struct fulcrum_rect *out);

/* 1 where the straight line between two spots has a part inside the rectangle. */
int fulcrum_rect_crossed(
    struct fulcrum_rect rect, struct fulcrum_spot from, struct fulcrum_spot to);

#endif
