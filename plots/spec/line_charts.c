/* line_charts.c - every chart of lines over one axis, a table each; all charts. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#define AXIS(scale, ...)                                                               \
    &(const struct fulcrum_axis_options)                                               \
    {                                                                                  \
        .kind = FULCRUM_AXIS_##scale, .pad_frac = __VA_ARGS__                          \
    }

/* A chart and, behind it, what its lines show. */
#define LINE_CHART(of, called, words)                                                  \
    static const struct fulcrum_line_chart of;                                         \
    const struct fulcrum_chart fulcrum_chart_##of = {.name = (called),                 \
        .summary = (words),                                                            \
        .lines = &(of),                                                                \
        .draw = fulcrum_line_chart_draw};                                              \
    static const struct fulcrum_line_chart of

LINE_CHART(node, "node",
    "machines with 1 to all of their GPUs: throughput, performance per watt") = {
    .table = "rows",
    .footnote = "System watts count unused GPUs as idle; times scaled from another "
                "machine, and watts of presets, are priors",
    .x = {{"gpu_count", "GPUs used", "More GPUs beside the same processor", 1.0},
        {"learner_gpu_count", "GPUs that train and do nothing else",
            "GPUs that train beside GPUs that infer"}},
    .x_name = "GPUs",
    .lines = {{"machine"}, {"learner_gpu_count", "learners"}},
    .panels = {{.title = "Steps per second", .series = {{"steps_per_s"}}},
        {.title = "Steps per GPU joule", .series = {{"steps_per_j_gpu"}}},
        {.title = "Steps per system joule", .series = {{"steps_per_j_system"}}}},
    .marks = {{"bottleneck", "cpu", "hollow: too few CPU threads", false}},
    .best_name = "best, or fewest GPUs within 1 % of it",
};

LINE_CHART(
    actors, "actors", "runtime, watts and performance per watt against the actors") = {
    .table = "points",
    .x = {{"actor_count", "actors"}},
    .panels = {{.title = "Runtime",
                   .series = {{"runtime_s", NULL, FULCRUM_LINE_MARKED, 1}},
                   .goal = FULCRUM_GOAL_LEAST},
        {.title = "Throughput, steps/s",
            .series = {{"steps_per_s", NULL, FULCRUM_LINE_MARKED, 1}},
            .is_stand_in = true},
        {.title = "Power, W",
            .series = {{"system_w", NULL, FULCRUM_LINE_MARKED, 1},
                {"gpu_w", NULL, FULCRUM_LINE_MARKED, 2}},
            .is_unjudged = true},
        {.title = "Performance per watt, steps/J",
            .series = {{"steps_per_j_system", "system", FULCRUM_LINE_MARKED, 1},
                {"steps_per_j_gpu", "GPU", FULCRUM_LINE_MARKED, 2}}}},
    .best_name = "best, or fewest actors within 1 % of it",
};

LINE_CHART(
    ratio, "ratio", "throughput and performance per watt against the CPU/GPU ratio") = {
    .table = "points",
    .x = {{"cpu_gpu_ratio_used", "CPU/GPU ratio (hardware threads / SMs)"},
        {"actor_threads_per_learner_core", "actor threads / learner cores"}},
    .x_name = "",
    .panels = {{.title = "Throughput, steps/s", .series = {{"steps_per_s"}}},
        {.title = "Per GPU watt, steps/J", .series = {{"steps_per_j_gpu"}}},
        {.title = "Per system watt, steps/J", .series = {{"steps_per_j_system"}}}},
    .best_name = "best, or smallest ratio within 1 % of it",
    .landmark_name = "existing machine at its ratio",
};

/* Which resource saturates first, and which ones wait for it. */
LINE_CHART(
    busy, "busy", "how busy CPU threads, host and GPU are, beside the throughput") = {
    .table = "points",
    .x = {{"cpu_gpu_ratio_used", "CPU/GPU ratio (hardware threads / SMs)", NULL},
        {"actor_threads_per_learner_core", "actor threads / learner cores", NULL},
        {"actor_count", "actors", NULL}},
    .x_name = "",
    .panels = {{.title = "Share of time busy",
                   .series = {{"cpu_thread_busy_frac", "CPU threads", 0, 1},
                       {"host_busy_frac", "host, between CPU and GPU", 0, 3},
                       {"gpu_busy_frac", "GPU", 0, 2}},
                   .is_unjudged = true},
        {.title = "Throughput, steps/s", .series = {{"steps_per_s", "steps", 0, 4}}}},
    .best_name = "best, or the first value within 1 % of it",
};

/* Rollouts against what a machine has beside them. */
LINE_CHART(agents, "agents",
    "trajectories and their energy over trainers, cores per GPU or those live") = {
    .table = "points",
    .x = {{"run.learner_gpu_count", "GPUs of a machine that train, the others decode"},
        {"run.actor_count", "live trajectories"},
        {"cores_per_gpu", "CPU cores per GPU that decodes"}},
    .x_name = "",
    .panels = {{.title = "Trajectories per second", .series = {{"trajectories_per_s"}}},
        {.title = "Energy of a trajectory behind the plug, J",
            .series = {{"trajectory_system_j"}},
            .goal = FULCRUM_GOAL_LEAST}},
    .best_name = "best, or the first value within 1 % of it",
};

/* Figure 3 of Inci et al. 2020, left. */
LINE_CHART(runtime, "runtime",
    "runtime and speed-up against the actors, with published points") = {
    .table = "points",
    .x = {{"actor_count", "actors"}},
    .panels = {{.title = "Runtime relative to",
                   .series = {{"runtime_rel"}},
                   .goal = FULCRUM_GOAL_LEAST,
                   .is_relative = true},
        {.title = "Speed-up over",
            .series = {{"speedup"}},
            .is_relative = true,
            .note_unit = "x"}},
};

/* The same figure, right. */
LINE_CHART(power, "power",
    "GPU watts and performance per GPU watt against the actors, with "
    "published points") = {
    .table = "points",
    .x = {{"actor_count", "actors"}},
    .panels = {{.title = "GPU power, W", .series = {{"gpu_w"}}, .note_unit = " W"},
        {.title = "Performance per GPU watt, steps/J",
            .series = {{"steps_per_j_gpu"}},
            .note_unit = ""}},
};

/* Its Figure 4. */
LINE_CHART(sm, "sm", "slowdown against the SMs in use, with published points") = {
    .table = "points",
    .x = {{"run.sm_count", "SMs of the GPU in use"}},
    .x_name = "SMs",
    .panels = {{.title = "Runtime relative to",
        .series = {{"runtime_rel"}},
        .goal = FULCRUM_GOAL_LEAST,
        .is_relative = true,
        .note_unit = ""}},
    .top_column = "cpu_gpu_ratio_used",
    .top_label = "CPU/GPU ratio: hardware threads / SMs in use",
};

/* The design space of Fu et al. 2021 (COPA), and what it does to a run. */
LINE_CHART(memory, "memory",
    "caches and bandwidths against GPU time and throughput, or what meets a gain") = {
    .table = "factors",
    .footnote = "All else equal: SMs, clocks, latencies, launches, CPU",
    .interval_footnote =
        "intervals are of the ratios themselves, draw by draw; the exponent of the "
        "cache is drawn too unless it was set",
    .x = {{"cache_rel", "last-level cache, times as it is",
              "Larger caches, faster memory: GPU and run"},
        {"bandwidth_rel", "memory bandwidth, times as it is",
            "Faster memory: GPU and run"}},
    .x_name = "",
    .lines = {{"bandwidth_rel", "times the bandwidth"}},
    .panels = {{.title = "Throughput, times as it is", .series = {{"speedup"}}},
        {.title = "GPU time, times as it is", .series = {{"gpu_time_rel"}}}},
    .has_bands = true,
    .is_close_up = true,
};

LINE_CHART(scaling, "scaling",
    "training on many GPUs: weak and strong scaling, where hybrid wins") = {
    .table = "rows",
    .x = {{"gpu_count", "GPUs", NULL, 1.0}},
    .lines = {{"parallelism"}},
    .group_column = "scaling",
    .panels = {{.title = "Weak scaling: time to the same quality, one GPU over this",
                   .series = {{"quality_speedup"}},
                   .group = "weak"},
        {.title = "Weak scaling: steps per second over one GPU",
            .series = {{"speedup"}},
            .group = "weak"},
        {.title = "Strong scaling: steps per second over one GPU",
            .series = {{"speedup"}},
            .group = "strong"}},
    .has_bands = true,
    .is_close_up = true,
    .ideal_name = "as many times one GPU",
    .guide_name = "hybrid begins to win",
};

/* What is lost is easier seen than in speed-ups. */
LINE_CHART(efficiency, "scaling", "published speed-ups beside their predictions") = {
    .table = "rows",
    .x = {{"gpu_count", "GPUs"}, {"node_count", "machines"}},
    .x_name = "",
    .lines = {{"series"}},
    .panels = {{.title = "Parallel efficiency: speed-up divided by the number of "
                         "machines or GPUs",
        .series = {{"predicted_frac", NULL, FULCRUM_LINE_SMOOTH},
            {"observed_frac", "published, held out", FULCRUM_LINE_POINTS}}}},
    .is_close_up = true,
    .marks = {{"held_out", "no", "published, seen by the fit", false}},
};

/*
 * Time in proportion to 1 / SMs is a straight line of the same slope anywhere, and what
 * does not need the SMs is a flat one.
 */
LINE_CHART(
    sm_time, "sm-time", "times of inference and training on a part of a GPU's SMs") = {
    .table = "samples",
    .x = {{"x", "SMs"}},
    .lines = {{"line"}},
    .panels = {{.title = "Inference: time of a batch",
                   .series = {{"fit_s", NULL, FULCRUM_LINE_SMOOTH},
                       {"sample_s", NULL, FULCRUM_LINE_POINTS}},
                   .group = "inference_sm"},
        {.title = "Training: time of a step",
            .series = {{"fit_s", NULL, FULCRUM_LINE_SMOOTH},
                {"sample_s", NULL, FULCRUM_LINE_POINTS}},
            .group = "train_sm"}},
    .group_column = "part",
    .is_log = true,
    .marks = {{"state", "disturbed", "disturbed sample", true}},
};

LINE_CHART(cost, "cost", "time of one solution against the number of actors") = {
    .table = "costs",
    .x = {{"actor_count", "actors"}},
    .lines = {{"method"}},
    .panels = {{.title = "Time of one solution", .series = {{"cost_s"}}}},
    .is_log = true,
    .is_close_up = true,
    .names_marks = true,
};

/* Of two metrics the front is a staircase; a third one has a colour. */
LINE_CHART(pareto, "pareto", "designs that no other beats in two or three metrics") = {
    .table = "points",
    .x = {{"along", ""}},
    .lines = {{"colour"}},
    .panels = {{.title = "",
        .series = {{"beaten", NULL, FULCRUM_LINE_POINTS, 1},
            {"holds_after", NULL, FULCRUM_LINE_STEPS_AFTER, 1},
            {"holds_before", NULL, FULCRUM_LINE_STEPS_BEFORE, 1},
            {"front", NULL, FULCRUM_LINE_BARS}},
        .x_axis = AXIS(AUTO, 0.06),
        .y_axis = AXIS(AUTO, 0.08)}},
    .marks = {{"state", "beaten", "beaten by one of them", true}},
    .note_column = "note",
};

/* Errors below, which a plot over several decades hides. */
#define PARITY_OF(what, where)                                                         \
    {.title = "Predicted " what,                                                       \
        .group = (where),                                                              \
        .x_label = "measured " what,                                                   \
        .series = {{"prediction", NULL, FULCRUM_LINE_BARS}},                           \
        .y_axis = AXIS(LOG, 0.05),                                                     \
        .weight = 1.0,                                                                 \
        .x_axis = AXIS(LOG, 0.05)},                                                    \
    {                                                                                  \
        .title = "Error, %", .group = (where), .x_label = "measured " what,            \
        .series = {{"error", NULL, FULCRUM_LINE_BARS}}, .is_difference = true,         \
        .y_axis = AXIS(LINEAR, 0.08), .weight = 0.6, .x_axis = AXIS(LOG, 0.05)         \
    }

LINE_CHART(
    parity, "parity", "predicted against measured over all references, with errors") = {
    .table = "points",
    .x = {{"measured"}},
    .lines = {{"family"}},
    .group_column = "units",
    .has_cells = true,
    .cell_least_pt = 180.0,
    .cell_aspect = 0.45,
    .strip_from_pt = 190.0,
    .panels = {PARITY_OF("steps/s", "rates"), PARITY_OF("watts", "watts"),
        PARITY_OF("ratios", "ratios")},
    .ideal_name = "equal, to within 10 %",
    .ideal_frac = 0.1,
    .marks = {{"state", "fitted", "hollow: the fit has seen it", false}},
    .mark_style = 7,
    .full_name = "filled: predicted",
};

LINE_CHART(coverage, "coverage",
    "share of points within intervals of each probability, by kind of prediction") = {
    .table = "coverage",
    .x = {{"nominal_frac", "probability of the interval"}},
    .lines = {{"line"}},
    .panels = {{.title = "Share of points that it holds",
        .series = {{"observed_frac"}},
        .is_unjudged = true}},
    .ideal_name = "as stated",
};

/* A cell for each batching rule and number of environments per actor. */
LINE_CHART(measured, "measured",
    "the real pipeline's throughput over the actors, beside its prediction") = {
    .table = "points",
    .x = {{"actors", "actors", NULL, 1.0}},
    .group_column = "series",
    .has_cells = true,
    .cell_name = "pairs of batching rule and environments per actor",
    .cell_least_pt = 125.0,
    .cell_aspect = 1.3,
    .panels = {{.title = "steps/s",
                   .series = {{"predicted", "predicted", FULCRUM_LINE_BROKEN, 1},
                       {"measured", "measured: median of the windows",
                           FULCRUM_LINE_BARS, 2}},
                   .x_axis = AXIS(LOG2, 0.05),
                   .y_axis = AXIS(AUTO, 0.08, .from_zero = 1),
                   .empty_text = "nothing measured",
                   .weight = 1.0},
        {.title = "",
            .finding = "error of the prediction, %",
            .series = {{"error", "predicted", FULCRUM_LINE_BARS, 1}},
            .is_difference = true,
            .empty_text = "nothing to compare",
            .y_axis = AXIS(LINEAR, 0.12),
            .weight = 0.45}},
    .has_bands = true,
    .marks = {{"state", "disturbed", "disturbed, not among the errors", true},
        {"fit", "seen", "hollow: the fit has seen it", false}},
    .mark_style = 1,
    .bars_name = "least to largest window",
    .guide_name = "failed",
};

#define DEVIATION(where, x)                                                            \
    {                                                                                  \
        .title = "", .finding = "deviation from the fit, %", .group = (where),         \
        .x_label = (x),                                                                \
        .series = {{"table_deviation", NULL, FULCRUM_LINE_SMOOTH, 3},                  \
            {"deviation", NULL, FULCRUM_LINE_POINTS, 1}},                              \
        .is_difference = true, .y_axis = AXIS(LINEAR, 0.15), .weight = 0.38            \
    }
#define CALIBRATED(what, where, x)                                                     \
    .title = (what), .group = (where), .x_label = (x), .empty_text = "not measured",   \
    .weight = 1.0

/* What was measured of each part, and what was fitted to it. */
LINE_CHART(calibration, "calibration",
    "samples, fitted curves and deviations of one calibration") = {
    .table = "samples",
    .x = {{"x"}},
    .group_column = "part",
    .has_cells = true,
    .cell_least_pt = 125.0,
    .cell_aspect = 1.3,
    .panels = {{CALIBRATED("Actors: throughput, steps/s", "actors", "threads"),
                   .series = {{"fit", "fit", FULCRUM_LINE_SMOOTH, 2},
                       {"sample", "sample", FULCRUM_LINE_POINTS, 1}},
                   .x_axis = AXIS(LINEAR, 0.04)},
        DEVIATION("actors", "threads"),
        {CALIBRATED("Inference: time of a batch", "inference", "batch size"),
            .series = {{"fit", "fit", FULCRUM_LINE_SMOOTH, 2},
                {"table", "table used instead", FULCRUM_LINE_JOINED, 3},
                {"sample", "sample", FULCRUM_LINE_POINTS, 1}},
            .y_axis = AXIS(LOG, 0.08, .unit = "s")},
        DEVIATION("inference", "batch size"),
        {CALIBRATED("Steps: cumulative share", "steps", "time of one step"),
            .series = {{"steps", "steps", FULCRUM_LINE_SMOOTH, 4},
                {"resets", "resets", FULCRUM_LINE_SMOOTH, 5}},
            .x_axis = AXIS(LOG, 0.04, .unit = "s"),
            .y_axis = AXIS(LINEAR, 0.03, .from_zero = 1)},
        {CALIBRATED(
             "Training: time of a step", "training", "operations in a training step"),
            .series = {{"fit", "fit", FULCRUM_LINE_SMOOTH, 2},
                {"sample", "sample", FULCRUM_LINE_POINTS, 1}},
            .y_axis = AXIS(AUTO, 0.08, .from_zero = 1, .unit = "s")}},
    .marks = {{"state", "disturbed", "disturbed sample, not fitted", true}},
};

const struct fulcrum_chart *const *fulcrum_charts(void)
{
    static const struct fulcrum_chart *const charts[] = {
        &fulcrum_chart_ratio,
        &fulcrum_chart_actors,
        &fulcrum_chart_busy,
        &fulcrum_chart_agents,
        &fulcrum_chart_runtime,
        &fulcrum_chart_power,
        &fulcrum_chart_sm,
        &fulcrum_chart_heat,
        &fulcrum_chart_pareto,
        &fulcrum_chart_breakdown,
        &fulcrum_chart_gpu_time,
        &fulcrum_chart_memory,
        &fulcrum_chart_node,
        &fulcrum_chart_upgrade,
        &fulcrum_chart_scaling,
        &fulcrum_chart_stages,
        &fulcrum_chart_partition,
        &fulcrum_chart_measured,
        &fulcrum_chart_parity,
        &fulcrum_chart_coverage,
        &fulcrum_chart_posterior,
        &fulcrum_chart_tornado,
        &fulcrum_chart_calibration,
        &fulcrum_chart_sm_time,
        NULL,
    };
    return charts;
}
