/* panel.h - series of values between a pair of axes, and stacks of such panels. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_PANEL_H
#define FULCRUM_PLOTS_CHART_PANEL_H

#include <stdbool.h>

#include "plots/chart/axis.h"
#include "plots/chart/canvas.h"
#include "plots/chart/chart.h"
#include "plots/chart/page.h"

enum fulcrum_series_look {
    FULCRUM_LOOK_LINE,  /* markers too where points are few */
    FULCRUM_LOOK_CURVE, /* never markers */
    FULCRUM_LOOK_MARKERS,
    FULCRUM_LOOK_POINTS /* markers, each with the bars of its own intervals */
};

/* Not finite: in x or y a gap, in an end of an interval none. */
struct fulcrum_panel_point {
    double x;
    double y;
    double lo; /* interval of y */
    double hi;
    double x_lo; /* interval of x, drawn around points */
    double x_hi;
    bool is_hollow;
    bool is_disturbed; /* drawn hollow and grey */
};

struct fulcrum_panel_series {
    const struct fulcrum_panel_point *points; /* borrowed */
    size_t count;
    size_t style; /* of canvas.h */
    enum fulcrum_series_look look;
};

/* The best point of a curve, and a sentence about it. */

enum fulcrum_best_shape {
    FULCRUM_BEST_NONE,     /* no usable point */
    FULCRUM_BEST_ALONE,    /* one usable point */
    FULCRUM_BEST_FLAT,     /* all within 1 % of the best */
    FULCRUM_BEST_PLATEAU,  /* a smaller x is within 1 % of the best */
    FULCRUM_BEST_AT_START, /* the smallest x: less might be better */
    FULCRUM_BEST_AT_END,   /* the largest x: more might be better */
    FULCRUM_BEST_PEAK
};

struct fulcrum_best {
    enum fulcrum_best_shape shape;
    double x; /* of the point to mark: on a plateau the smallest x within 1 % */
    double y;
    double best_y;
};

/* Looks at `count` points with increasing x; values that are not finite are skipped. */
struct fulcrum_best fulcrum_best_find(
    const struct fulcrum_panel_point *points, size_t count, enum fulcrum_goal goal);

/* "best 17.2k at 0.31"; `x_name` is what x counts, "" for nothing. */
void fulcrum_best_sentence(
    char *out, size_t size, const struct fulcrum_best *best, const char *x_name);

/* A few words beside a mark, left out where there is no room. */
struct fulcrum_panel_note {
    struct fulcrum_spot spot; /* in values */
    char text[48];
};

enum { FULCRUM_TOP_TICKS_MAX = 16 };

/* A second scale along the top; ticks' values are those of the panel's x. */
struct fulcrum_panel_top {
    const char *label;
    size_t tick_count;
    struct fulcrum_tick ticks[FULCRUM_TOP_TICKS_MAX];
};

struct fulcrum_panel {
    const char *title;   /* what is shown, and its unit */
    const char *finding; /* one sentence beside or below the title; may be NULL */
    const char *x_label; /* NULL: ticks and labels are left to the panel below */
    const char *empty_text;
    const struct fulcrum_panel_series *series;
    size_t series_count;
    struct fulcrum_axis_options x_options; /* ticks_wanted is set by the layout */
    struct fulcrum_axis_options y_options;
    struct fulcrum_panel_note best; /* beside its star; "": none is marked */
    const double *guides;           /* x of thin vertical lines */
    size_t guide_count;
    const struct fulcrum_panel_note *notes;
    size_t note_count;
    const struct fulcrum_panel_top *top; /* NULL: none */
    /* Shown beside the panel's own values, so that panels of a page can be compared. */
    const struct fulcrum_limits *x_reach; /* NULL: its own alone, likewise */
    const struct fulcrum_limits *y_reach;
    double strip_pt;       /* room kept free between header and frame */
    double weight;         /* share of the height in a stack */
    struct fulcrum_axis x; /* set by fulcrum_stack_fit, as is */
    struct fulcrum_axis y;
    struct fulcrum_rect frame;  /* inside of the axes; set by fulcrum_stack_place, */
    struct fulcrum_rect header; /* as is the room of title and finding */
};

/* Panels on top of each other that share their x axis. */
struct fulcrum_stack {
    struct fulcrum_panel *panels;
    size_t count;
    double left_pt; /* room for the ticks' labels, set by fulcrum_stack_fit */
};

/* 1 where no series has a point to show. */
bool fulcrum_panel_is_empty(const struct fulcrum_panel *panel);

/* Chooses axes and ticks for panels that will be drawn in about this rectangle. */
void fulcrum_stack_fit(const struct fulcrum_canvas *canvas, struct fulcrum_stack *stack,
    struct fulcrum_rect rect);

/* Gives each panel its place; ticks stay as they were fitted. */
void fulcrum_stack_place(const struct fulcrum_canvas *canvas,
    struct fulcrum_stack *stack, struct fulcrum_rect rect);

/* Draws every panel at its place; fit and place come first. */
void fulcrum_stack_draw(
    struct fulcrum_canvas *canvas, const struct fulcrum_stack *stack);

#endif
