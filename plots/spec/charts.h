/* charts.h - every chart there is, and the data that each draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_CHARTS_H
#define FULCRUM_PLOTS_SPEC_CHARTS_H

#include <stdbool.h>

#include "model/result.h"
#include "plots/chart/axis.h"
#include "plots/chart/chart.h"
#include "plots/chart/page.h"
#include "plots/chart/rows.h"

/* Rows of bars, as tables of a result's columns. */

enum {
    FULCRUM_BAR_PARTS_MAX = 8,
    FULCRUM_BAR_PANELS_MAX = 2,
    FULCRUM_BAR_NAMES_MAX = 2,
    FULCRUM_BAR_SPANS_MAX = 5,
    FULCRUM_BAR_GROUPS_MAX = 6
};

/* One of several things that add up. {NULL}: none. */
struct fulcrum_bar_part {
    /* A column, or what the chart's part_column says; "": what is left of the whole. */
    const char *key;
    const char *name; /* in the legend, where some bar has it */
    size_t style;     /* of canvas.h */
};

/* A bar between the ends of an estimate. {NULL}: none. */
struct fulcrum_bar_span {
    const char *key;
    const char *name; /* in the legend, where some row has it; NULL: not there */
    enum fulcrum_swatch swatch;
    size_t style; /* of canvas.h */
    double opacity;
    double top_frac; /* where in the row's height, 0 to 1 */
    double bottom_frac;
};

/* Rows over an axis of their own. {NULL}: none. */
struct fulcrum_bar_panel {
    const char *title; /* with `group`, of what stands beside */
    const char *x_label;
    const char *names[FULCRUM_BAR_NAMES_MAX]; /* columns: "first: second" */
    const char *size;     /* column of a part's size; NULL where parts are columns */
    bool is_whole;        /* the size is all of a bar, which has no parts */
    bool is_number;       /* right of the bar: the whole with its interval */
    const char *text;     /* column of words right of the bar */
    const char *rate;     /* column of a rate, likewise */
    const char *unit;     /* of the whole, likewise; NULL: the whole is not told */
    const char *interval; /* column whose relative interval is that of the whole */
    bool is_inverse;      /* the whole is small where that column is large */
    double centre;        /* a line through all rows; 0: none */
    /*
     * Rows that are bars from end to end instead, a panel for each text of the column
     * `group`, which is its title. They rise in `rank`; where that is not known they
     * are but counted.
     */
    struct fulcrum_bar_span spans[FULCRUM_BAR_SPANS_MAX];
    const char *table;     /* where the chart's own is another one */
    const char *group;     /* NULL: one panel */
    const char *rank;      /* NULL: as they come */
    const char *mark;      /* column of the diamond's place */
    const char *mark_name; /* in the legend */
    /* Columns of texts: below the name, at the ends of bars, in place of `unit`, beside
     * the title. */
    const char *detail;
    const char *lo_text;
    const char *hi_text;
    const char *unit_column;
    const char *finding;
    const char *centre_column;
    double reach;         /* what an axis from 0 shows at least; 0: its bars */
    double lines_per_row; /* how high rows are beside those of other panels; 0: 1 */
    double row_most_pt;   /* 0: as high as the page has room */
    const struct fulcrum_bar_panel *beside; /* the same rows; NULL: none */
};

/* One chart. */
struct fulcrum_bar_chart {
    const char *name;  /* of a breakdown, as `--parts` calls it; else NULL */
    const char *table; /* key of the rows; a CSV file has but one table */
    /* Where the result has no "title" and "subtitle"; its "footnote" goes below. */
    const char *title;
    const char *subtitle;
    const char *footnote;
    /*
     * Rows next to each other that are alike in the columns `bar` make one bar, of the
     * parts that `part_column` names: in the order of `parts`, or in that of the file
     * where there are no parts here. {NULL}: a row is a bar, and parts are columns.
     */
    const char *bar[FULCRUM_BAR_NAMES_MAX];
    const char *part_column;
    struct fulcrum_bar_part parts[FULCRUM_BAR_PARTS_MAX];
    const char *whole; /* column that parts leave something of; NULL: 1 */
    enum fulcrum_row_scale scale;
    const char *need;  /* why a part may be unknown, for which there is no bar then */
    const char *upper; /* columns: what of a part is on the CPU only, drawn high, */
    const char *lower; /* and on the GPU only, drawn low */
    const char *count; /* column: how many equal pieces a part is */
    const char *busy;  /* column: how much of the time; pieces that wait are pale */
    /* A bar for which this column says nothing is none, but `failed`. NULL: left out.
     */
    const char *value;
    const char *failed;
    const char *interval_name;
    bool is_sweep; /* of many bars some at equal distances are shown */
    struct fulcrum_bar_panel panels[FULCRUM_BAR_PANELS_MAX];
};

/*
 * The data of any chart of this kind; the texts replace those of the chart. A row whose
 * names are "" sets groups apart.
 */
struct fulcrum_bar_chart_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_bar_chart *chart;
    const struct fulcrum_result *result;
    bool as_shares; /* bars all of one length */
};

/*
 *   fails    FULCRUM_ERR_FORMAT (no such column, a text among its numbers),
 *            FULCRUM_ERR_RANGE (a part below 0, shares of more than all, more parts
 * than a bar holds), FULCRUM_ERR_UNSUPPORTED (a part that the chart needs is not known)
 */
enum fulcrum_status fulcrum_bar_chart_check(
    const void *data, struct fulcrum_error *err);
void fulcrum_bar_chart_draw(
    struct fulcrum_canvas *canvas, struct fulcrum_page *page, const void *given);

/* One metric over two fields, with contours and machines at their place. */

enum { FULCRUM_HEAT_MACHINES_MAX = 12 };

enum fulcrum_heat_contours {
    FULCRUM_HEAT_SHARES, /* of the best value; round ones where there is no best, or
                            values are not all above 0 */
    FULCRUM_HEAT_ROUND,
    FULCRUM_HEAT_PLAIN /* none */
};

/*
 * The result's table "points" has a row for each cell: columns x, y, metric with its
 * interval, status (other than "ok": cannot run) and cpu_gpu_ratio_used, for lines of
 * constant ratio. Machines that people know are rows of name, x and y in its table
 * "landmarks".
 */
struct fulcrum_heat_chart_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_result *result;
    const char *x; /* columns; scales follow from the spacing of the values */
    const char *y;
    const char *metric;
    const char *x_label;
    const char *y_label;
    const char *value_name;
    const char *unit; /* of the value in sentences; NULL for none */
    enum fulcrum_heat_contours contours;
};

/*
 * Static.
 *   fails    also FULCRUM_ERR_FORMAT (a cell is no number, two points in one cell,
 *            points that are no grid), FULCRUM_ERR_RANGE (too many machines)
 */
extern const struct fulcrum_chart fulcrum_chart_heat;

/* Lines over x. */

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

/* The charts. */

/* NULL-terminated, in the order of `fulcrum list charts`. Static. */
const struct fulcrum_chart *const *fulcrum_charts(void);

/* line_charts: data are struct fulcrum_line_chart_data. Static. */
extern const struct fulcrum_chart fulcrum_chart_ratio, fulcrum_chart_actors,
    fulcrum_chart_node, fulcrum_chart_busy, fulcrum_chart_agents, fulcrum_chart_runtime,
    fulcrum_chart_power, fulcrum_chart_sm, fulcrum_chart_memory, fulcrum_chart_scaling,
    fulcrum_chart_sm_time, fulcrum_chart_pareto, fulcrum_chart_parity,
    fulcrum_chart_coverage, fulcrum_chart_measured, fulcrum_chart_calibration;
/* The scaling of a reference, so not in the table of charts. */
extern const struct fulcrum_chart fulcrum_chart_efficiency;
/* Of benchmarks, so not in that table either. */
extern const struct fulcrum_chart fulcrum_chart_cost;

/* bar_charts: data are struct fulcrum_bar_chart_data. Static. */
extern const struct fulcrum_chart fulcrum_chart_breakdown, fulcrum_chart_gpu_time,
    fulcrum_chart_stages, fulcrum_chart_partition, fulcrum_chart_posterior,
    fulcrum_chart_upgrade, fulcrum_chart_tornado;

/* Breakdowns: an actor's cycle, the power behind the plug, a GPU's time. */
extern const struct fulcrum_bar_chart fulcrum_bars_cycle, fulcrum_bars_watts,
    fulcrum_bars_gpu;
extern const struct fulcrum_bar_chart *const fulcrum_breakdowns[]; /* ends with NULL */
/* GPU time: of machines and their runs; as published, and what others make of it. */
extern const struct fulcrum_bar_chart fulcrum_bars_components, fulcrum_bars_published,
    fulcrum_bars_stages, fulcrum_bars_partition, fulcrum_bars_upgrade;
/* Columns that a chart makes of a fit's, and of a sensitivity's, to be added first. */
extern const struct fulcrum_bar_chart fulcrum_bars_posterior, fulcrum_bars_tornado;

#endif
