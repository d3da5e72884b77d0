/* charts.h - every chart there is, and the data that each draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_CHARTS_H
#define FULCRUM_PLOTS_SPEC_CHARTS_H

#include "plots/chart/axis.h"
#include "plots/chart/chart.h"
#include "plots/chart/rows.h"
#include "plots/spec/bar_chart.h"
#include "plots/spec/heat_chart.h"
#include "plots/spec/line_chart.h"

/* NULL-terminated, in the order of `fulcrum list charts`. Static. */
const struct fulcrum_chart *const *fulcrum_charts(void);

/* line_charts: data are struct fulcrum_line_chart_data. Static. */
extern const struct fulcrum_chart fulcrum_chart_ratio, fulcrum_chart_actors,
    fulcrum_chart_node, fulcrum_chart_busy, fulcrum_chart_runtime, fulcrum_chart_power,
    fulcrum_chart_sm, fulcrum_chart_memory, fulcrum_chart_scaling,
    fulcrum_chart_sm_time, fulcrum_chart_pareto, fulcrum_chart_parity,
    fulcrum_chart_measured, fulcrum_chart_calibration;
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
