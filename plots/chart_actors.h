/* chart_actors.h - runtime, watts and performance per watt against the actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_ACTORS_H
#define FULCRUM_PLOTS_CHART_ACTORS_H

#include "plots/chart.h"

struct fulcrum_actors_data {
    struct fulcrum_chart_text text;
    const char *x_label;       /* NULL: "actors" */
    const double *actor_count; /* increasing */
    size_t count;
    struct fulcrum_estimate runtime_s;   /* drawn where known, else */
    struct fulcrum_estimate steps_per_s; /* this */
    struct fulcrum_estimate system_w;
    struct fulcrum_estimate gpu_w;
    struct fulcrum_estimate steps_per_j_system;
    struct fulcrum_estimate steps_per_j_gpu;
    const char *interval_name; /* legend of the bands; NULL: "90 % interval" */
};

/* Static. */
extern const struct fulcrum_chart fulcrum_chart_actors;

#endif
