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
    FULCRUM_LINE_JOINED, /* the same; what is not known leaves no gap */
    FULCRUM_LINE_SMOOTH, /* never markers: a formula */
    FULCRUM_LINE_BROKEN, /* the same; what is not known is a gap */
    FULCRUM_LINE_STEPS_BEFORE, /* what a point reaches holds from the one before on */
    FULCRUM_LINE_STEPS_AFTER,  /* or up to the next one */
    FULCRUM_LINE_POINTS, /* of their line's colour: what was measured or published */
    FULCRUM_LINE_BARS    /* the same, each with its own intervals along x and y */
};

/* A column over x, with its interval where it has one. {NULL}: none. */
struct fulcrum_line_series {
    const char *y;
    const char *label; /* in the legend; NULL: the line's own name */
    enum fulcrum_line_look look;
    size_t colour; /* 1 + its style, the same for all lines; 0: that of its line */
};

enum {
    FULCRUM_LINE_SERIES_MAX = 4,
    FULCRUM_LINE_PANELS_MAX = 6,
    FULCRUM_LINE_KEYS_MAX = 3,
    FULCRUM_LINE_MARKS_MAX = 2,
    FULCRUM_LINE_CELLS_MAX = 12
};

/* {NULL}: none. A panel without a known value is left out. */
struct fulcrum_line_panel {
    const char *title;   /* of seconds: without the unit, which follows the values */
    const char *finding; /* of all such panels; NULL: what is found in the values */
    struct fulcrum_line_series series[FULCRUM_LINE_SERIES_MAX];
    enum fulcrum_goal goal;
    bool is_unjudged;      /* no value is better than another; nor without best_name */
    bool is_stand_in;      /* drawn where the panel before it has no value */
    bool is_relative;      /* the title goes on with the result's "relative_x" */
    bool is_difference;    /* beside a line at 0, which is what others differ from */
    const char *note_unit; /* after published values beside their marks; NULL: none */
    const char *group;     /* of the chart's `group_column`: only these rows */
    const char *x_label;   /* NULL: that of what the lines go over */
    /* NULL: what fits the values. Units of y are at each tick. */
    const struct fulcrum_axis_options *x_axis;
    const struct fulcrum_axis_options *y_axis;
    const char *empty_text; /* drawn without a value too, with these words */
    double weight;          /* share of the height; 0: as others */
};

/* A column that tells lines apart, or that lines go over. {NULL}: none. */
struct fulcrum_line_key {
    const char *column;
    const char *words; /* after its number in names, or the label of the axis */
    const char
        *title;   /* of the chart over it; NULL: the result's machine and workload */
    double least; /* of numbers that lines go over; 0: any */
};

/* Points whose column says so are drawn hollow. {NULL}: none. */
struct fulcrum_line_mark {
    const char *column;
    const char *text;
    const char *name;  /* in the legend */
    bool is_disturbed; /* and grey, as they do not count */
};

/* One chart. */
struct fulcrum_line_chart {
    const char *table;             /* key of the rows; a CSV file has but one table */
    const char *footnote;          /* before what the rows' flags say; may be NULL */
    const char *interval_footnote; /* behind it, where an interval is drawn; or NULL */
    /* The first of them that varies, else the first. */
    struct fulcrum_line_key x[FULCRUM_LINE_KEYS_MAX];
    const char *x_name; /* what x counts, in sentences; NULL: as the axis is labelled */
    struct fulcrum_line_key lines[FULCRUM_LINE_KEYS_MAX];
    struct fulcrum_line_panel panels[FULCRUM_LINE_PANELS_MAX];
    const char *group_column; /* a text that tells panels apart; NULL: none */
    /*
     * A cell for each group, side by side, with its panels in it: those of that group,
     * or all where panels have none. The latter have their group's name in their title,
     * and scales that can be compared.
     */
    bool has_cells;
    const char *cell_name;  /* what groups are, in messages */
    double cell_least_pt;   /* its width; narrower ones stand below each other */
    double cell_aspect;     /* width over height that reads best */
    double strip_from_pt;   /* lower cells have their first panel alone */
    bool has_bands;         /* every line's interval is drawn, not only a single's */
    bool is_close_up;       /* linear axes begin where the values do, not at 0 */
    bool is_log;            /* both axes; seconds have their unit at each tick */
    const char *ideal_name; /* a line of y = x, both axes alike; NULL: none */
    double
        ideal_frac; /* how far beside it still counts as on it; 0: there is no band */
    struct fulcrum_line_mark marks[FULCRUM_LINE_MARKS_MAX];
    size_t mark_style;       /* of marks and intervals in the legend */
    const char *full_name;   /* of points without a mark, in the legend, or NULL */
    const char *bars_name;   /* of the intervals of points; NULL: "90 % interval" */
    const char *note_column; /* a text beside the point; NULL: none */
    const char *guide_name;  /* of thin vertical lines, in the legend */
    const char *best_name;   /* of the star, in the legend; NULL: nothing is judged */
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
 * are rows of panel, x and text in its table "guides", of a group where there are
 * cells; the texts follow each other beside the panel's title, also where x is not
 * known. Texts under "footnotes" go to the footnote, "chart_title" and
 * "chart_subtitle" replace those that are made here, "label/y" the title of the first
 * panel, "label/x" the label of its axis, "label/bars", "label/MARK" and
 * "label/COLUMN" what the legend says of bars, marks and series.
 */

/* The data of any chart of this kind; the texts replace those made from the result. */
struct fulcrum_line_chart_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_chart *chart;
    const struct fulcrum_result *result;
};

/*
 *   fails    FULCRUM_ERR_FORMAT (no such column, a text among its numbers, two points at
 *            one x, an x below the least), FULCRUM_ERR_RANGE (more lines or cells than
 *            a chart holds or the page has room for)
 */
void fulcrum_line_chart_draw(
    struct fulcrum_canvas *canvas, struct fulcrum_page *page, const void *given);

#endif
