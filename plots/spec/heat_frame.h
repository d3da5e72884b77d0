/* heat_frame.h - what surrounds a heat map: axes, and the scale of its colours. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_HEAT_FRAME_H
#define FULCRUM_PLOTS_SPEC_HEAT_FRAME_H

#include <stdbool.h>

#include "plots/chart/axis.h"
#include "plots/chart/contour.h"
#include "plots/chart/label.h"
#include "plots/chart/page.h"
#include "plots/spec/charts.h"

/* The scale of a heat map's axis, and where its cells end. */

/*
 * Logarithmic where the values grow rather by a factor than by a step, of twos where
 * most of them are powers of two.
 */
enum fulcrum_axis_kind fulcrum_heat_axis_kind(const struct fulcrum_heat_axis *axis);

/*
 * The border below cell i, half-way to its neighbour along an axis of that kind; that
 * of i = count is the upper one of the last cell. axis     at least one value
 */
double fulcrum_heat_axis_edge(
    const struct fulcrum_heat_axis *axis, enum fulcrum_axis_kind kind, size_t i);

/* From border to border; ticks are the values themselves where those are few. */
void fulcrum_heat_axis_fit(struct fulcrum_axis *out,
    const struct fulcrum_heat_axis *axis, double ticks_wanted);

enum { FULCRUM_HEAT_COLOURS = 64 };

/* Where everything is. The first members are the caller's. */
struct fulcrum_heat_frame {
    const struct fulcrum_heat_data *data; /* with a value known; borrowed */
    struct fulcrum_header header;
    struct fulcrum_limits span;  /* of the values known */
    struct fulcrum_axis x;       /* set by fulcrum_heat_frame_lay_out, as are */
    struct fulcrum_axis y;       /* all below */
    struct fulcrum_axis colours; /* from 0 to 1 */
    struct fulcrum_rect body;    /* header, panel and scale */
    struct fulcrum_rect panel;   /* the cells */
};

struct fulcrum_heat_lines;

/* The colour of `index` of FULCRUM_HEAT_COLOURS, as 0xRRGGBB. */
unsigned fulcrum_heat_colour(int index);

/* Chooses axes, and places them in a rectangle of the page. */
void fulcrum_heat_frame_lay_out(const struct fulcrum_canvas *canvas,
    struct fulcrum_heat_frame *frame, struct fulcrum_rect body);

/* Draws all but the inside of the panel; contours are marked on the scale. */
void fulcrum_heat_frame_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_frame *frame, const struct fulcrum_heat_lines *lines);

/* Contours and lines of constant ratio over a heat map. */

enum { FULCRUM_HEAT_LEVELS_MAX = 24, FULCRUM_HEAT_LABEL_SIZE = 40 };

struct fulcrum_heat_level {
    double value;
    bool is_ratio;
    char label[FULCRUM_HEAT_LABEL_SIZE];
};

/* Owns the contours. {0} is a legal start. */
struct fulcrum_heat_lines {
    struct fulcrum_heat_level levels[FULCRUM_HEAT_LEVELS_MAX];
    struct fulcrum_contour contours[FULCRUM_HEAT_LEVELS_MAX]; /* on the page */
    size_t count;
    int are_shares; /* of the best value */
};

/* Chooses levels; those of the metric first, then those of the ratio. */
void fulcrum_heat_lines_choose(
    struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame);

/*
 * Traces them on the page.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_heat_lines_trace(
    struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame,
    struct fulcrum_error *err);

void fulcrum_heat_lines_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame);

/* Those that find a place clear of `room` and of each other. */
void fulcrum_heat_lines_label(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_lines *lines, const struct fulcrum_heat_frame *frame,
    const struct fulcrum_label_room *room);

void fulcrum_heat_lines_clear(struct fulcrum_heat_lines *lines);

#endif
