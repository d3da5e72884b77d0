/* chart_ratio.h - throughput and performance per watt against the CPU/GPU ratio. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_RATIO_H
#define FULCRUM_PLOTS_CHART_RATIO_H

#include "plots/chart.h"

enum { FULCRUM_RATIO_MACHINES_MAX = 12 };

/* A machine that people know, at its ratio. */
struct fulcrum_ratio_machine {
    const char *name;
    double cpu_gpu_ratio; /* > 0 */
};

struct fulcrum_ratio_data {
    struct fulcrum_chart_text text;
    const char *x_label;         /* NULL: "CPU/GPU ratio (hardware threads / SMs)" */
    const double *cpu_gpu_ratio; /* increasing; drawn logarithmically */
    size_t count;
    struct fulcrum_estimate steps_per_s;
    struct fulcrum_estimate steps_per_j_gpu;
    struct fulcrum_estimate steps_per_j_system;
    const char *interval_name; /* legend of the bands; NULL: "90 % interval" */
    const struct fulcrum_ratio_machine *machines;
    size_t machine_count; /* at most FULCRUM_RATIO_MACHINES_MAX */
};

/* Static. */
extern const struct fulcrum_chart fulcrum_chart_ratio;

#endif
