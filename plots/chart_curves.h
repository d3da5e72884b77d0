/* chart_curves.h - predicted curves with published points: runtime, power, SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_CURVES_H
#define FULCRUM_PLOTS_CHART_CURVES_H

#include "plots/chart.h"

enum { FULCRUM_CURVES_PANELS = 2, FULCRUM_PUBLISHED_MAX = 8 };

/* Points of one reference in one panel. Borrowed. */
struct fulcrum_published {
    const char *name; /* in the legend; points of one name share their style */
    size_t panel;     /* which of the estimates they go with */
    const double *x;
    const double *value;
    const double *lo; /* as far as rounding lets the value be; may be NULL, as hi */
    const double *hi;
    const unsigned char *is_fitted; /* 1: drawn hollow, as the fit behind the curve has
                                       seen the point; may be NULL */
    size_t count;
};

/*
 * Estimates, by chart:
 *   runtime   runtime relative to a point of the sweep; speed-up over it
 *   power     watts of the GPUs used; steps per joule of them
 *   sm        runtime relative to a point of the sweep
 */
struct fulcrum_curves_data {
    struct fulcrum_chart_text text;
    const double *x; /* actors, or SMs; increasing */
    size_t count;
    struct fulcrum_estimate estimates[FULCRUM_CURVES_PANELS];
    double relative_to_x;        /* x of the point that ratios refer to */
    const double *cpu_gpu_ratio; /* at each x: a second scale of `sm`; NULL: none */
    const char *interval_name;   /* legend of the bands */
    const struct fulcrum_published *published;
    size_t published_count; /* at most FULCRUM_PUBLISHED_MAX */
};

/* Figure 3 left of Inci et al. 2020, Figure 3 right, and Figure 4. Static. */
extern const struct fulcrum_chart fulcrum_chart_runtime;
extern const struct fulcrum_chart fulcrum_chart_power;
extern const struct fulcrum_chart fulcrum_chart_sm;

#endif
