/* metric.h - panels of one estimate each, with band, optimum and a sentence. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_METRIC_H
#define FULCRUM_PLOTS_CHART_METRIC_H

#include <stdbool.h>

#include "plots/chart/axis.h"
#include "plots/chart/chart.h"
#include "plots/chart/page.h"
#include "plots/chart/panel.h"

enum { FULCRUM_METRIC_SERIES_MAX = 2 };

/* What one panel shows. */
struct fulcrum_metric {
    const char *title;
    struct fulcrum_estimate estimates[FULCRUM_METRIC_SERIES_MAX];
    const char *subjects[FULCRUM_METRIC_SERIES_MAX]; /* whose, in the sentence */
    enum fulcrum_goal goal; /* of the first estimate that has a value */
    int unjudged;           /* 1: no optimum is looked for */
    const char *unit;       /* of the ticks; NULL for none */
};

/* A panel and all that it borrows; must not move once filled. */
struct fulcrum_metric_panel {
    struct fulcrum_panel_series series[FULCRUM_METRIC_SERIES_MAX];
    struct fulcrum_spot best;
    char finding[160];
    char best_text[48];
    size_t style_count; /* how many of `series` are in use */
};

struct fulcrum_metric_axis {
    const double *x;
    size_t count;
    enum fulcrum_axis_kind kind;
    const char *x_name; /* what x counts, in sentences */
};

/*
 * Adds a panel for each metric that has a point to show; panels borrow from `rooms`.
 *   stack    without panels, but with room for `count`
 *   rooms    `count`, as of metrics
 */
void fulcrum_metrics_fill(struct fulcrum_stack *stack,
    struct fulcrum_metric_panel *rooms, const struct fulcrum_metric *metrics,
    size_t count, const struct fulcrum_metric_axis *axis);

/* Adds the star of the optimum to the legend if some panel has one. */
void fulcrum_metrics_explain(
    struct fulcrum_page *page, const struct fulcrum_stack *stack, const char *what);

/*
 * Adds bands to the legend if one of the estimates, which end with NULL, has an
 * interval: none must be explained that are not there.
 */
void fulcrum_intervals_explain(struct fulcrum_page *page,
    const struct fulcrum_estimate *const *estimates, size_t count, const char *label);

/* 1 where an estimate has an interval around a value. */
bool fulcrum_estimate_has_interval(
    const struct fulcrum_estimate *estimate, size_t count);

/* 1 where an estimate has a value. */
bool fulcrum_estimate_is_known(const struct fulcrum_estimate *estimate, size_t count);

#endif
