/* bar_chart.h - charts of rows of bars, stacked or from end to end, as tables of a
 * result's columns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_BAR_CHART_H
#define FULCRUM_PLOTS_SPEC_BAR_CHART_H

#include <stdbool.h>

#include "model/result.h"
#include "plots/chart/chart.h"
#include "plots/chart/page.h"
#include "plots/chart/rows.h"

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

#endif
