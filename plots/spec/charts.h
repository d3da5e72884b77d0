/* charts.h - every chart there is, and the data that each draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_CHARTS_H
#define FULCRUM_PLOTS_SPEC_CHARTS_H

#include <stdbool.h>

#include "plots/chart/axis.h"
#include "plots/chart/chart.h"
#include "plots/chart/rows.h"
#include "plots/spec/bar_chart.h"
#include "plots/spec/line_chart.h"

/* NULL-terminated, in the order of `fulcrum list charts`. Static. */
const struct fulcrum_chart *const *fulcrum_charts(void);

/* NULL if there is none of that name. */
const struct fulcrum_chart *fulcrum_chart_find(const char *name);

/* chart_heat: one metric over two fields, with contours and machines at their place. */

enum { FULCRUM_HEAT_MACHINES_MAX = 12 };

struct fulcrum_heat_axis {
    const char *label;
    const double *values; /* finite, increasing */
    size_t count;
};

/* A machine that people know, at its own values of the two fields. */
struct fulcrum_heat_machine {
    const char *name;
    double x;
    double y;
};

enum fulcrum_heat_contours {
    FULCRUM_HEAT_SHARES, /* of the best value; round ones where there is no best, or
                            values are not all above 0 */
    FULCRUM_HEAT_ROUND,
    FULCRUM_HEAT_PLAIN /* none */
};

/* Cells are y.count rows of x.count. Borrowed. */
struct fulcrum_heat_data {
    struct fulcrum_chart_text text;
    struct fulcrum_heat_axis x; /* scales follow from the spacing of the values */
    struct fulcrum_heat_axis y;
    const double *value; /* NAN: not known */
    const double *lo;    /* interval of each value, put into words; NULL: not known */
    const double *hi;
    const char *interval_name;       /* in the words, such as "90 % interval" */
    const unsigned char *cannot_run; /* 1: hatched, whatever the value; may be NULL */
    const double *cpu_gpu_ratio; /* for lines of constant ratio; NULL: none, NAN: hole
                                  */
    const char *value_name;
    const char *unit; /* of the value in sentences; NULL for none */
    enum fulcrum_goal goal;
    int unjudged; /* 1: no value is better than another */
    enum fulcrum_heat_contours contours;
    const struct fulcrum_heat_machine *machines;
    size_t machine_count; /* at most FULCRUM_HEAT_MACHINES_MAX */
};

/*
 * Static.
 *   fails    also FULCRUM_ERR_RANGE (values of an axis that do not increase, too many
 *            machines)
 */
extern const struct fulcrum_chart fulcrum_chart_heat;

/* line_charts: data are struct fulcrum_line_chart_data. Static. */

extern const struct fulcrum_chart fulcrum_chart_ratio;
extern const struct fulcrum_chart fulcrum_chart_actors;
extern const struct fulcrum_chart fulcrum_chart_node;
extern const struct fulcrum_chart fulcrum_chart_runtime;
extern const struct fulcrum_chart fulcrum_chart_power;
extern const struct fulcrum_chart fulcrum_chart_sm;
extern const struct fulcrum_chart fulcrum_chart_memory;
extern const struct fulcrum_chart fulcrum_chart_scaling;
/* The same of a reference, so not in the table of charts. */
extern const struct fulcrum_chart fulcrum_chart_efficiency;
extern const struct fulcrum_chart fulcrum_chart_sm_time;
extern const struct fulcrum_chart fulcrum_chart_pareto;
extern const struct fulcrum_chart fulcrum_chart_parity;
extern const struct fulcrum_chart fulcrum_chart_measured;
extern const struct fulcrum_chart fulcrum_chart_calibration;
/* Of benchmarks, so not in that table either. */
extern const struct fulcrum_chart fulcrum_chart_cost;

/* bar_charts: data are struct fulcrum_bar_chart_data. Static. */

extern const struct fulcrum_chart fulcrum_chart_breakdown;
extern const struct fulcrum_chart fulcrum_chart_gpu_time;
extern const struct fulcrum_chart fulcrum_chart_stages;
extern const struct fulcrum_chart fulcrum_chart_partition;

/* Breakdowns: an actor's cycle, the power behind the plug, a GPU's time. */
extern const struct fulcrum_bar_chart fulcrum_bars_cycle;
extern const struct fulcrum_bar_chart fulcrum_bars_watts;
extern const struct fulcrum_bar_chart fulcrum_bars_gpu;
extern const struct fulcrum_bar_chart *const fulcrum_breakdowns[]; /* ends with NULL */
/* GPU time: of machines and their runs; as published, and what others make of it. */
extern const struct fulcrum_bar_chart fulcrum_bars_components;
extern const struct fulcrum_bar_chart fulcrum_bars_published;
extern const struct fulcrum_bar_chart fulcrum_bars_stages;
extern const struct fulcrum_bar_chart fulcrum_bars_partition;

/* chart_posterior: what a fit left of each prior, and the figures it was fitted to. */

/* In prior standard deviations from the prior's centre, on its scale; NAN: not known.
 */
struct fulcrum_posterior_row {
    const char *name;
    const char *text; /* natural units */
    double fitted;
    double lo; /* 90 % of the posterior */
    double hi;
    bool is_identified;
};

/* Relative to what was published; NAN: not known. */
struct fulcrum_posterior_figure {
    const char *name;
    const char *text;
    double sd;       /* of what was published */
    double prior_lo; /* 90 % of the predictions before the fit */
    double prior_hi;
    double posterior_lo; /* and after it */
    double posterior_hi;
    double others_lo; /* from the other figures alone */
    double others_hi;
    double fitted;
};

struct fulcrum_posterior_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_posterior_row *rows; /* what the data say most of first */
    size_t row_count;
    const struct fulcrum_posterior_figure *figures;
    size_t figure_count;
};

/* Static. */
extern const struct fulcrum_chart fulcrum_chart_posterior;

/* chart_tornado: what each number does to a prediction, alone and with the others. */

/* One field. NAN: not known. */
struct fulcrum_tornado_row {
    const char *name;
    const char *reach; /* what the field varies over, such as "0.6 ms to 4 ms"; NULL */
    double lo;    /* the metric with the field at its 5 % point, others as they are */
    double hi;    /* and at its 95 % point */
    double first; /* shares of the metric's variance, with standard errors */
    double first_error;
    double total;
    double total_error;
};

/* One metric. */
struct fulcrum_tornado_panel {
    const char *title;   /* with the unit */
    const char *unit;    /* of numbers at bars and ticks; NULL: none is shown */
    const char *finding; /* a sentence; may be NULL */
    double value;        /* with every field at its value */
    const struct fulcrum_tornado_row *rows; /* in any order */
    size_t count;
};

enum { FULCRUM_TORNADO_PANELS_MAX = 6 };

struct fulcrum_tornado_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_tornado_panel *panels;
    size_t count;
};

/*
 * Bars by effect, shares of variance beside them. Static.
 *   fails    also FULCRUM_ERR_RANGE (too many metrics, a metric without a value)
 */
extern const struct fulcrum_chart fulcrum_chart_tornado;

#endif
