/* charts.c - the table of charts. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

const struct fulcrum_chart *const *fulcrum_charts(void)
{
    static const struct fulcrum_chart *const charts[] = {
        &fulcrum_chart_ratio,
        &fulcrum_chart_actors,
        &fulcrum_chart_busy,
        &fulcrum_chart_runtime,
        &fulcrum_chart_power,
        &fulcrum_chart_sm,
        &fulcrum_chart_heat,
        &fulcrum_chart_pareto,
        &fulcrum_chart_breakdown,
        &fulcrum_chart_gpu_time,
        &fulcrum_chart_memory,
        &fulcrum_chart_node,
        &fulcrum_chart_scaling,
        &fulcrum_chart_stages,
        &fulcrum_chart_partition,
        &fulcrum_chart_measured,
        &fulcrum_chart_parity,
        &fulcrum_chart_posterior,
        &fulcrum_chart_tornado,
        &fulcrum_chart_calibration,
        &fulcrum_chart_sm_time,
        NULL,
    };
    return charts;
}
