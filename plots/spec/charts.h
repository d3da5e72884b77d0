/* charts.h - every chart there is, and the data that each draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_CHARTS_H
#define FULCRUM_PLOTS_SPEC_CHARTS_H

#include <stdbool.h>

#include "plots/chart/axis.h"
#include "plots/chart/chart.h"
#include "plots/chart/rows.h"
#include "plots/spec/bar_chart.h"
#include "plots/spec/heat_chart.h"
#include "plots/spec/line_chart.h"

/* NULL-terminated, in the order of `fulcrum list charts`. Static. */
const struct fulcrum_chart *const *fulcrum_charts(void);

/* NULL if there is none of that name. */
const struct fulcrum_chart *fulcrum_chart_find(const char *name);

/* chart_calibration: what was measured on one machine, and what was fitted to it. */

/* Single measurements. Borrowed; count 0: not measured. */
struct fulcrum_chart_samples {
    const double *x;
    const double *y;
    const unsigned char *disturbed; /* 1: left out of the fit; NULL: none was */
    size_t count;
};

/* Points of a fitted curve or a table, x increasing. Borrowed; count 0: there is none.
 */
struct fulcrum_curve {
    const double *x;
    const double *y;
    size_t count;
};

struct fulcrum_calibration_data {
    struct fulcrum_chart_text text;
    struct fulcrum_chart_samples throughput; /* steps/s against threads */
    struct fulcrum_curve throughput_fit;
    struct fulcrum_chart_samples batch; /* seconds against batch size */
    struct fulcrum_curve batch_table;
    double per_batch_s; /* line of batch times; both 0: none was fitted */
    double per_item_s;
    const double *step_s; /* times of single steps, or quantiles at equal distances */
    size_t step_count;
    const double *reset_s; /* of steps that ended an episode, reset included */
    size_t reset_count;
    struct fulcrum_chart_samples
        training; /* seconds per training step against its size */
    struct fulcrum_curve training_fit;
    const char *training_x_label; /* NULL: "training batch" */
};

/* Static. */
extern const struct fulcrum_chart fulcrum_chart_calibration;

/* chart_measured: the real pipeline's throughput beside what was predicted of it. */

enum { FULCRUM_MEASURED_PANELS_MAX = 12 };

/* One batching rule with one number of environments per actor. Borrowed. */
struct fulcrum_measured_panel {
    const char *name;
    const double *actor_count; /* > 0, increasing */
    const double *steps_per_s; /* median of the windows; NAN: nothing was measured */
    const double *lo;          /* least and largest window */
    const double *hi;
    const unsigned char *disturbed; /* 1: drawn hollow and left out of errors */
    const unsigned char *failed;    /* 1: a dotted line at its number of actors */
    const unsigned char
        *seen; /* 1: hollow, the fit that predicts has seen it; or NULL */
    struct fulcrum_estimate predicted;
    size_t count;
};

struct fulcrum_measured_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_measured_panel *panels;
    size_t panel_count;        /* at most FULCRUM_MEASURED_PANELS_MAX */
    const char *x_label;       /* NULL: "actors" */
    const char *measured_name; /* in the legend; NULL: the median of windows */
    const char *range_name;    /* of lo to hi; NULL: the least and the largest window */
    const char *interval_name; /* of the bands; NULL: "interval" */
};

/* How far points are off that are undisturbed, and that no fit has seen. Start with
 * zeros. */
struct fulcrum_measured_errors {
    size_t count;
    double sum_frac;     /* of their sizes: the mean is sum_frac / count */
    double largest_frac; /* with its sign, as are all: above 0, predicted too high */
};

/* Adds the points of a panel; `at`: index of the largest error if it is among them. */
void fulcrum_measured_errors_add(struct fulcrum_measured_errors *errors, size_t *at,
    const struct fulcrum_measured_panel *panel);

/*
 * Static.
 *   fails    also FULCRUM_ERR_RANGE (more panels than a chart holds, or than the page
 *            has room for)
 */
extern const struct fulcrum_chart fulcrum_chart_measured;

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
/* Of benchmarks, so not in that table either. */
extern const struct fulcrum_chart fulcrum_chart_cost;

/* bar_charts: data are struct fulcrum_bar_chart_data. Static. */

extern const struct fulcrum_chart fulcrum_chart_breakdown;
extern const struct fulcrum_chart fulcrum_chart_gpu_time;
extern const struct fulcrum_chart fulcrum_chart_stages;
extern const struct fulcrum_chart fulcrum_chart_partition;
extern const struct fulcrum_chart fulcrum_chart_posterior;
extern const struct fulcrum_chart fulcrum_chart_tornado;

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
/* Columns that a chart makes of a fit's, and of a sensitivity's, to be added first. */
extern const struct fulcrum_bar_chart fulcrum_bars_posterior;
extern const struct fulcrum_bar_chart fulcrum_bars_tornado;

/* chart_pareto: points that no other beats, and those that are beaten. */

/* A metric along an axis. */
struct fulcrum_pareto_axis {
    const char *label;                /* with what is better of it */
    struct fulcrum_estimate estimate; /* of each point */
    int more_is_better;
};

/* Borrowed; arrays have `count` values. */
struct fulcrum_pareto_data {
    struct fulcrum_chart_text text;
    struct fulcrum_pareto_axis x;
    struct fulcrum_pareto_axis y;
    const double *third; /* shown by colour; NULL: there are two metrics */
    const char *third_label;
    const unsigned char *on_front; /* 1: no other point beats it */
    const char *const *labels;     /* what varies, such as "16 threads"; may be NULL */
    size_t count;
};

/* Static. */
extern const struct fulcrum_chart fulcrum_chart_pareto;

/* chart_parity: predicted against measured, over all references. */

/* What has a panel of its own, as units must not be mixed on one axis. */
enum fulcrum_parity_kind {
    FULCRUM_PARITY_RATE,  /* steps per second */
    FULCRUM_PARITY_WATTS, /* of GPUs, processors, servers */
    FULCRUM_PARITY_RATIO, /* speed-ups, relative runtimes, shares */
    FULCRUM_PARITY_KINDS
};

enum { FULCRUM_PARITY_FAMILIES_MAX = 8 };

struct fulcrum_parity_point {
    enum fulcrum_parity_kind kind;
    bool is_fitted;    /* drawn hollow: the fit behind the prediction has seen it */
    size_t family;     /* which of the names in the legend */
    double measured;   /* points that are not above 0 have no place on the page */
    double half_width; /* of `measured`; NAN: not known */
    double predicted;
    double lo; /* interval of `predicted`; NAN: none */
    double hi;
};

struct fulcrum_parity_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_parity_point *points;
    size_t count;
    const char *const *families;
    size_t family_count; /* at most FULCRUM_PARITY_FAMILIES_MAX */
    const char *interval_name;
};

/*
 * Static.
 *   fails    also FULCRUM_ERR_RANGE (more families than a legend holds)
 */
extern const struct fulcrum_chart fulcrum_chart_parity;

#endif
