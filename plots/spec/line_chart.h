/* line_chart.h - charts of lines over one axis, as tables of a result's columns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_LINE_CHART_H
#define FULCRUM_PLOTS_SPEC_LINE_CHART_H

#include <stdbool.h>

#include "model/result.h"
#include "plots/chart/axis.h"
#include "plots/chart/chart.h"

enum fulcrum_line_look {
    FULCRUM_LINE_MARKED, /* one value at each x, with markers where they are few */
    FULCRUM_LINE_SMOOTH, /* never markers: a formula */
    FULCRUM_LINE_POINTS  /* of their line's colour: what was measured or published */
};

/* A column over x, with its interval where it has one. {NULL}: none. */
struct fulcrum_line_series {
    const char *y;
    const char *label; /* in the legend; NULL: the line's own name */
    enum fulcrum_line_look look;
};

enum {
    FULCRUM_LINE_SERIES_MAX = 2,
    FULCRUM_LINE_PANELS_MAX = 4,
    FULCRUM_LINE_KEYS_MAX = 3
};

/* {NULL}: none. A panel without a known value is left out. */
struct fulcrum_line_panel {
    const char *title; /* of seconds: without the unit, which follows the values */
    struct fulcrum_line_series series[FULCRUM_LINE_SERIES_MAX];
    enum fulcrum_goal goal;
    bool is_unjudged;      /* no value is better than another */
    bool is_stand_in;      /* drawn where the panel before it has no value */
    bool is_relative;      /* the title goes on with the result's "relative_x" */
    const char *note_unit; /* after published values beside their marks; NULL: none */
    const char *group;     /* of the chart's `group_column`: only these rows */
};

/* A column that tells lines apart, or that lines go over. {NULL}: none. */
struct fulcrum_line_key {
    const char *column;
    const char *words; /* after its number in names, or the label of the axis */
    const char
        *title; /* of the chart over it; NULL: the result's machine and workload */
};

/* One chart. */
struct fulcrum_line_chart {
    const char *table;             /* key of the rows; a CSV file has but one table */
    const char *footnote;          /* before what the rows' flags say; may be NULL */
    const char *interval_footnote; /* behind it, where an interval is drawn; or NULL */
    /* The first of them that varies, else the first. */
    struct fulcrum_line_key x[FULCRUM_LINE_KEYS_MAX];
    const char *x_name; /* what x counts, in sentences */
    struct fulcrum_line_key lines[FULCRUM_LINE_KEYS_MAX];
    struct fulcrum_line_panel panels[FULCRUM_LINE_PANELS_MAX];
    const char *group_column; /* a text that tells panels apart; NULL: none */
    bool has_bands;           /* every line's interval is drawn, not only a single's */
    bool is_close_up;         /* linear axes begin where the values do, not at 0 */
    bool is_log;              /* both axes; seconds have their unit at each tick */
    const char *ideal_name;   /* a line of y = x, both axes alike; NULL: none */
    /* Points whose `hollow_column` says `hollow_text` are drawn hollow. */
    const char *hollow_column;
    const char *hollow_text;
    const char *hollow_name;
    bool is_disturbed;      /* and grey, as they do not count */
    const char *guide_name; /* of thin vertical lines, in the legend */
    const char *best_name;  /* of the star, in the legend */
    /*
     * Machines that people know, flagged at their x: the name of that legend entry.
     * They are rows of name and x in the result's table "landmarks".
     */
    const char *landmark_name;
    bool names_marks;       /* published points are stars, their names beside them */
    const char *top_column; /* a second scale along the top; NULL: none */
    const char *top_label;
};

/*
 * Points of references go over the lines: rows of name, panel (an index), x, value with
 * its interval, and is_fitted in the result's table "published". Thin vertical lines
 * are rows of panel, x and text in its table "guides"; the texts follow each other
 * beside the panel's title. Texts under "footnotes" go to the footnote, "chart_title"
 * and "chart_subtitle" replace those that are made here.
 */

/* The data of any chart of this kind; the texts replace those made from the result. */
struct fulcrum_line_chart_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_chart *chart;
    const struct fulcrum_result *result;
};

/*
 *   fails    FULCRUM_ERR_FORMAT (no such column, a text among its numbers, two points at
 *            one x), FULCRUM_ERR_RANGE (more lines than a chart holds)
 */
enum fulcrum_status fulcrum_line_chart_check(
    const void *given, struct fulcrum_error *err);
void fulcrum_line_chart_draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    void *room, const void *given);

/* What the record of every such chart has. */
#define FULCRUM_LINE_CHART(spec)                                                       \
    .lines = (spec), .room_byte = 1, .check = fulcrum_line_chart_check,                \
    .draw = fulcrum_line_chart_draw

#endif
