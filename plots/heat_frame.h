/* heat_frame.h - what surrounds a heat map: axes, and the scale of its colours. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_HEAT_FRAME_H
#define FULCRUM_PLOTS_HEAT_FRAME_H

#include "plots/axis.h"
#include "plots/charts.h"
#include "plots/header.h"

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

#endif
