/* charts.h - every chart there is, and the data that each draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_CHARTS_H
#define FULCRUM_PLOTS_SPEC_CHARTS_H

#include <stdbool.h>

#include "model/stage_kind.h"
#include "plots/chart/axis.h"
#include "plots/chart/chart.h"
#include "plots/chart/rows.h"
#include "plots/spec/line_chart.h"

/* NULL-terminated, in the order of `fulcrum list charts`. Static. */
const struct fulcrum_chart *const *fulcrum_charts(void);

/* NULL if there is none of that name. */
const struct fulcrum_chart *fulcrum_chart_find(const char *name);

/* chart_breakdown: what adds up to a whole, side by side for many designs. */

enum { FULCRUM_BREAKDOWN_PARTS_MAX = 6 };

/* One bar. Borrowed. */
struct fulcrum_breakdown_row {
    const char *name; /* "": an empty row, which sets groups apart */
    const char *text; /* right of the bar, such as its rate; may be NULL */
    double parts[FULCRUM_BREAKDOWN_PARTS_MAX]; /* >= 0 */
    /* Interval of their sum, drawn where bars are as long as that; NAN: none. */
    double lo;
    double hi;
};

struct fulcrum_breakdown_data {
    struct fulcrum_chart_text text;
    const char *title; /* of the panel */
    const char *x_label;
    const char *unit; /* of the parts; NULL for none */
    enum fulcrum_row_scale scale;
    const char *interval_name; /* in the legend; NULL: no interval is drawn */
    const char *part_names[FULCRUM_BREAKDOWN_PARTS_MAX];
    size_t part_styles[FULCRUM_BREAKDOWN_PARTS_MAX]; /* of canvas.h */
    size_t part_count; /* at most FULCRUM_BREAKDOWN_PARTS_MAX */
    const struct fulcrum_breakdown_row *rows;
    size_t count; /* where they are more than find a place, some at equal distances */
};

/*
 * Static.
 *   fails    also FULCRUM_ERR_RANGE (a part that is negative or not finite, too many
 *            parts)
 */
extern const struct fulcrum_chart fulcrum_chart_breakdown;

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

/* chart_gpu_time: where a GPU's time goes, on this GPU and on others. */

enum { FULCRUM_GPU_TIME_PARTS = 7 };

/* One bar: parts of the time for the same work, 1 being all of the first bar. */
struct fulcrum_gpu_time_row {
    const char *name;
    double parts[FULCRUM_GPU_TIME_PARTS]; /* >= 0; those without a name are 0 */
    double lo;                            /* interval of the whole; NAN: none */
    double hi;
};

struct fulcrum_gpu_time_data {
    struct fulcrum_chart_text text;
    const char *part_names[FULCRUM_GPU_TIME_PARTS]; /* NULL: not in the legend */
    const char *x_label;
    const char *interval_name;
    const struct fulcrum_gpu_time_row *rows;
    size_t count;
    /* A second panel below: the same parts of whole runs; run_count 0: none. */
    const char *run_title;
    const char *run_x_label;
    const struct fulcrum_gpu_time_row *runs;
    size_t run_count;
};

/*
 * Figure 2 of Inci et al. 2020, and what becomes of it elsewhere. Static.
 *   fails    also FULCRUM_ERR_RANGE (a part that is negative or not finite)
 */
extern const struct fulcrum_chart fulcrum_chart_gpu_time;

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

/* chart_partition: what runs on which share of a GPU, and what that gains. */

enum { FULCRUM_PARTITION_PARTS_MAX = 16, FULCRUM_PARTITION_KINDS_MAX = 8 };

/* Equal instances side by side. */
struct fulcrum_partition_part {
    size_t kind;      /* which stages, an index of the data's kinds */
    double instances; /* whole, 1 or more */
    double sm_frac;   /* of each; together 1 at most, but for processes by turns */
    double busy_frac; /* 0 to 1: drawn paler where they wait */
};

/* One placement. */
struct fulcrum_partition_bar {
    const char *name;
    size_t part_count;
    struct fulcrum_partition_part parts[FULCRUM_PARTITION_PARTS_MAX];
    bool takes_turns;   /* every instance has the whole GPU, one at a time */
    double steps_per_s; /* NAN: cannot run, and no bar */
    double speedup;
    double speedup_lo; /* NAN: no interval */
    double speedup_hi;
};

struct fulcrum_partition_data {
    struct fulcrum_chart_text text;
    const char
        *kinds[FULCRUM_PARTITION_KINDS_MAX]; /* "simulation + agent"; NULL: none */
    const struct fulcrum_partition_bar *bars;
    size_t count;
};

/*
 * Shares of one GPU by placement, above the gain of each. Static.
 *   fails    also FULCRUM_ERR_RANGE (a share outside [0, 1], a kind or a number of
 *            instances that there is not)
 */
extern const struct fulcrum_chart fulcrum_chart_partition;

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

/* chart_stages: which stages the wall time of runs goes to, and on what. */

/* One bar: shares of the wall time of one run. */
struct fulcrum_stages_row {
    const char *name;
    const char *text; /* right of the bar, such as its rate; may be NULL */
    /* >= 0; of shares whose CPU and GPU are not told apart all is CPU_ONLY. */
    double share_frac[FULCRUM_STAGE_WORK_COUNT][FULCRUM_STAGE_WHERE_COUNT];
    double idle_frac;
    bool is_split; /* by CPU and GPU */
};

struct fulcrum_stages_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_stages_row *rows;
    size_t count;
};

/*
 * Figures 4, 5 and 7 of RL-Scope (Gleeson et al. 2021), of any run. Static.
 *   fails    also FULCRUM_ERR_RANGE (a share that is negative or not finite, shares
 *            that make more than 1.1)
 */
extern const struct fulcrum_chart fulcrum_chart_stages;

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
