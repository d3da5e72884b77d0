/* bar_charts.c - every chart of rows of bars, a table each. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#define INTERVAL_OF_WHOLE "90 % interval of the whole"

#define BAR_CHART(of, called, words)                                                   \
    const struct fulcrum_chart fulcrum_chart_##of = {                                  \
        .name = (called), .summary = (words), .draw = fulcrum_bar_chart_draw}

const struct fulcrum_bar_chart fulcrum_bars_cycle = {
    .name = "cycle",
    .table = "points",
    .parts = {{"cpu_residence_s", "CPU: waits for a thread, steps", 0},
        {"host_residence_s", "host: waits for a batch, hand-off", 2},
        {"gpu_residence_s", "GPU: waits for it, inference", 1},
        {"delay_s", "delivery of the action", 7}},
    .interval_name = INTERVAL_OF_WHOLE,
    .is_sweep = true,
    /* Little's law: what the actors there are divided by their rate. */
    .panels = {{.title = "An actor's cycle, from one request to the next",
        .x_label = "time of a cycle",
        .names = {"name"},
        .unit = "s",
        .rate = "steps_per_s",
        .interval = "steps_per_s",
        .is_inverse = true}},
};

/* Processors, GPUs and the rest keep the colours that they have there. */
const struct fulcrum_bar_chart fulcrum_bars_watts = {
    .name = "watts",
    .table = "points",
    .parts = {{"cpu_w", "processors", 0}, {"gpu_w", "GPUs used", 1},
        {"", "the rest: other GPUs, memory, fans, losses", 7}},
    .whole = "system_w",
    .interval_name = INTERVAL_OF_WHOLE,
    .is_sweep = true,
    .panels = {{.title = "Power behind the plug",
        .x_label = "watts",
        .names = {"name"},
        .unit = "W",
        .rate = "steps_per_s",
        .interval = "system_w"}},
};

const struct fulcrum_bar_chart fulcrum_bars_gpu = {
    .name = "gpu",
    .table = "points",
    .parts = {{"gpu_inference_busy_frac", "inference", 1},
        {"gpu_train_busy_frac", "training", 2}, {"", "idle", 7}},
    .is_sweep = true,
    .panels = {{.title = "What a GPU is busy with",
        .x_label = "share of its time",
        .names = {"name"},
        .rate = "steps_per_s"}},
};

const struct fulcrum_bar_chart *const fulcrum_breakdowns[] = {
    &fulcrum_bars_cycle, &fulcrum_bars_watts, &fulcrum_bars_gpu, NULL};

BAR_CHART(breakdown, "breakdown",
    "where a cycle's time, the watts or a GPU's time of each design go");

#define GPU_TIME "GPU time for the same work"

const struct fulcrum_bar_chart fulcrum_bars_components = {
    .table = "components",
    .title = "Where the time goes: GPU and run",
    .bar = {"machine"},
    .part_column = "component",
    .parts = {{"math", "arithmetic", 0}, {"sm", "SMs not filled", 1},
        {"dram", "DRAM bandwidth", 2}, {"latency", "latencies", 7},
        {"launch", "kernel launches", 3},
        {"host", "host: batches, requests, delivery", 4},
        {"rest", "environments on the CPU", 6}},
    .panels = {{.title = GPU_TIME,
                   .x_label = "time of the same GPU work, relative to the first; "
                              "labels: shares of each bar",
                   .names = {"gpu"},
                   .size = "gpu_time_rel",
                   .is_number = true},
        {.title = "Time of a run, with the CPU and the host",
            .x_label = "time of the same number of steps, relative to the first",
            .names = {"machine"},
            .size = "run_time_rel",
            .is_number = true}},
};

/* Figure 2 of Inci et al. 2020, and what becomes of it elsewhere. */
const struct fulcrum_bar_chart fulcrum_bars_published = {
    .table = "components",
    .bar = {"gpu"},
    .part_column = "component",
    .parts = {{"math", "math", 0}, {"sm", "SM utilisation", 1},
        {"dram", "DRAM bandwidth", 2},
        {"rest", "the rest: latency, taken as constant", 7}},
    .interval_name = INTERVAL_OF_WHOLE,
    .panels = {{.title = GPU_TIME,
        .x_label = "time relative to the published GPU; labels: shares of each bar",
        .names = {"gpu"},
        .size = "gpu_time_rel",
        .is_number = true,
        .interval = "whole_rel"}},
};

BAR_CHART(gpu_time, "gpu-time",
    "where a GPU's time goes, and a run's, as published and as predicted");

/* Figures 4, 5 and 7 of RL-Scope (Gleeson et al. 2021), of any run. */
const struct fulcrum_bar_chart fulcrum_bars_stages = {
    .table = "stages",
    .title = "Where the time of training goes",
    .subtitle = "measured; each moment is divided among the stages that were active in "
                "it, on any thread or device; what recording cost is taken off",
    .bar = {"run"},
    .part_column = "stage",
    .parts = {{"simulation", "simulation", 0}, {"inference", "inference", 1},
        {"training", "training", 2}, {"handoff", "handoff", 3}, {"replay", "replay", 4},
        {"idle", "no stage: all wait", 7}},
    .scale = FULCRUM_ROW_OF_ONE,
    .need = "shares of wall time need runs whose threads recorded all their cycles",
    .upper = "cpu_only_frac",
    .lower = "gpu_only_frac",
    .panels = {{.title = "Shares of wall time by stage",
        .x_label = "share of wall time",
        .names = {"run"},
        .size = "share_frac",
        .text = "text"}},
};

BAR_CHART(
    stages, "stages", "which stages the wall time of runs goes to, on CPU and GPU");

const struct fulcrum_bar_chart fulcrum_bars_partition = {
    .table = "parts",
    .bar = {"placement", "layout"},
    .part_column = "stages",
    .scale = FULCRUM_ROW_OF_ONE,
    .count = "part_instances",
    .busy = "busy_frac",
    .value = "steps_per_s",
    .failed = "cannot run",
    .interval_name = "90 % interval of the gain",
    .panels = {{.title = "What runs on which share of the SMs",
                   .x_label = "share of the GPU's SMs, or of its time where processes "
                              "take turns; pale: waiting for others",
                   .names = {"placement", "layout"},
                   .size = "sm_frac",
                   .rate = "steps_per_s"},
        {.title = "Steps per second over one process",
            .x_label = "gain",
            .names = {"placement", "layout"},
            .size = "speedup",
            .is_whole = true,
            .is_number = true,
            .interval = "speedup",
            .centre = 1.0}},
};

BAR_CHART(partition, "partition",
    "stages of training on shares of one GPU, and the gain of each placement");

#define GAIN(words, column)                                                            \
    .title = (words), .x_label = "factor", .names = {"upgrade"}, .size = (column),     \
    .is_whole = true, .is_number = true, .interval = (column), .centre = 1.0

const struct fulcrum_bar_chart fulcrum_bars_upgrade = {
    .table = "upgrades",
    .title = "What doubling one part of the machine brings",
    .interval_name = "90 % interval",
    .panels = {{GAIN("Steps per second, over the machine as it is", "speedup")},
        {GAIN("Steps per system joule, likewise", "steps_per_j_system_rel")}},
};

BAR_CHART(upgrade, "upgrade", "what doubling each part of a machine brings");

/* Of the posterior chart; what the prior leaves open is told apart. */
#define PRIOR       "prior, 90 %", FULCRUM_SWATCH_BAND, 7, 0.22
#define POSTERIOR   "posterior, 90 %", FULCRUM_SWATCH_BAR, 0, 0.85
#define UNDECIDED   "posterior of a parameter not told apart from its prior"
#define FROM_OTHERS "from the other figures alone, 90 %"
#define PUBLISHED   "published, one standard deviation"

/* The prior is the same band in every row: that is what standard deviations are for. */
const struct fulcrum_bar_chart fulcrum_bars_posterior = {
    .table = "parameters",
    .panels = {{.title = "Parameters: what the figures say of them",
                   .x_label = "prior standard deviations from the centre of the prior",
                   .names = {"shown_name"},
                   .text = "shown_text",
                   .finding = "headline",
                   .rank = "rank",
                   .spans = {{"prior_z", PRIOR, 0.1, 0.9},
                       {"posterior_z", POSTERIOR, 0.3, 0.7},
                       {"open_z", UNDECIDED, FULCRUM_SWATCH_BAR, 4, 0.85, 0.3, 0.7}},
                   .mark = "fitted_z",
                   .mark_name = "best fit"},
        {.table = "figures",
            .title = "Figures: before the fit, after it, and from each other",
            .x_label = "relative to what was published",
            .names = {"shown_name"},
            .text = "shown_text",
            .spans = {{"prior_rel", PRIOR, 0.06, 0.94},
                {"others_rel", FROM_OTHERS, FULCRUM_SWATCH_BAR, 2, 0.85, 0.68, 0.86},
                {"posterior_rel", POSTERIOR, 0.3, 0.62},
                {"observed_rel", PUBLISHED, FULCRUM_SWATCH_BAR, 5, 1.0, 0.1, 0.24}},
            .mark = "fitted_rel",
            .mark_name = "best fit",
            .centre = 1.0,
            .lines_per_row = 2.0}},
};

BAR_CHART(posterior, "posterior",
    "prior and posterior of each parameter of a fit, and its figures");

/* Total shares behind first-order ones: what sticks out is due to interactions. */
static const struct fulcrum_bar_panel shares = {.title = "first  total",
    .x_label = "share of variance",
    .text = "shares",
    .spans = {{"total_share", "total: with its interactions", FULCRUM_SWATCH_BAR, 7,
                  1.0, 0.19, 0.81},
        {"first_share", "first order: the field alone", FULCRUM_SWATCH_BAR, 2, 1.0,
            0.33, 0.67},
        {"total_bar", NULL, FULCRUM_SWATCH_BAR, 5, 1.0, 0.467, 0.533}},
    .reach = 1.0};

/*
 * From the metric as it is to what it becomes with one field at either end; where both
 * lie on one side, each has half of the height.
 */
#define LOW  "field at its 5 % point", FULCRUM_SWATCH_BAR, 0, 1.0
#define HIGH "at its 95 % point", FULCRUM_SWATCH_BAR, 1, 1.0

const struct fulcrum_bar_chart fulcrum_bars_tornado = {
    .table = "rows",
    .title = "Which number matters",
    .footnote =
        "Bars move one field, the others at their values; shares of variance move all. "
        "Black lines: standard errors. Of numbers that depend on each other bars are "
        "the 5 % and 95 % quantiles of the metric.",
    .panels = {{.group = "panel",
        .x_label = "one field at its 5 % or 95 % point",
        .names = {"field"},
        .detail = "reach",
        .finding = "headline",
        .rank = "rank",
        .spans = {{"low", LOW, 0.19, 0.81}, {"high", HIGH, 0.19, 0.81},
            {"low_half", LOW, 0.19, 0.5}, {"high_half", HIGH, 0.5, 0.81}},
        .lo_text = "least",
        .hi_text = "most",
        .unit_column = "axis_unit",
        .centre_column = "metric_value",
        .row_most_pt = 44.0,
        .beside = &shares}},
};

BAR_CHART(tornado, "tornado",
    "what each number does to a prediction, alone and with the others");
