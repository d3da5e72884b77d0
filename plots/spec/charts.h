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

extern const struct fulcrum_chart fulcrum_chart_ratio;
extern const struct fulcrum_chart fulcrum_chart_actors;
extern const struct fulcrum_chart fulcrum_chart_node;
extern const struct fulcrum_chart fulcrum_chart_busy;
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
extern const struct fulcrum_chart fulcrum_chart_posterior;
extern const struct fulcrum_chart fulcrum_chart_upgrade;
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
extern const struct fulcrum_bar_chart fulcrum_bars_upgrade;
/* Columns that a chart makes of a fit's, and of a sensitivity's, to be added first. */
extern const struct fulcrum_bar_chart fulcrum_bars_posterior;
extern const struct fulcrum_bar_chart fulcrum_bars_tornado;

#endif
