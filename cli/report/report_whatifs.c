/* report_whatifs.c - sections of an HTML report on designs that do not exist yet. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>

#include "cli/output/report.h"
#include "cli/report/report_section.h"

static int ask_sensitivity(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (i > 0 || fulcrum_report_is_resident(machine)) {
        return 0;
    }
    fulcrum_argv_text_add(words, "sensitivity");
    fulcrum_argv_text_add(words, "--metric");
    fulcrum_argv_text_add(words, "steps_per_s,steps_per_j_system");
    fulcrum_argv_text_add(words, "--samples");
    fulcrum_argv_text_add(words, "512");
    return 1;
}

#define SENSITIVITY_COLUMNS                                                            \
    {                                                                                  \
        {"field", "field", NULL, 0}, {"swing_lo", "#at its 5 %", "", 0},               \
            {"swing_hi", "#at its 95 %", "", 0}, {"first_frac", "#alone", "%", 0},     \
            {"total_frac", "#with others", "%", 0},                                    \
    }

static const struct fulcrum_report_table sensitivity_tables[] = {
    {.caption = "Steps per second with one field at either end, and its share",
        .rows = "rows",
        .columns = SENSITIVITY_COLUMNS,
        .column_count = 5,
        .where = "metric",
        .is = "steps_per_s",
        .rows_most = 8},
    {.caption = "Steps per joule of the whole system, in the same way",
        .rows = "rows",
        .columns = SENSITIVITY_COLUMNS,
        .column_count = 5,
        .where = "metric",
        .is = "steps_per_j_system",
        .rows_most = 8},
};

static enum fulcrum_status write_sensitivity(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "What the prediction is with one uncertain number at either end",
        .content = FULCRUM_PLOT_SENSITIVITY,
        .draw = fulcrum_plot_tornado,
        .height_pt = 480.0,
        .narrow_height_pt = 480.0,
    };
    struct fulcrum_reply *reply =
        &fulcrum_report_replies_of(machine, "sensitivity")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs(
        "<p>Which uncertain number the spread of the prediction comes from: what "
        "it is with one field at the ends of its 90 % interval and all others at "
        "their values, and the share of its variance that is due to that field "
        "alone and together with others (Sobol indices). What stands first is "
        "worth measuring first.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, reply, out, err);
    for (size_t i = 0; i < sizeof sensitivity_tables / sizeof sensitivity_tables[0];
         i++) {
        (void)fulcrum_report_rows_write(&sensitivity_tables[i], reply, out);
    }
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_sensitivity = {
    .id = "sensitivity",
    .title = "Which number matters",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_sensitivity,
    .write = write_sensitivity,
};

/* Components made ideal, then other caches and bandwidths. */
static int ask_memory(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (i > 1 || !fulcrum_report_has_gpu(machine) ||
        fulcrum_report_is_resident(machine)) {
        return 0;
    }
    fulcrum_argv_text_add(words, "memory");
    if (i == 1) {
        fulcrum_argv_text_add(words, "--cache");
        fulcrum_argv_text_add(words, "1,4,16");
        fulcrum_argv_text_add(words, "--bandwidth");
        fulcrum_argv_text_add(words, "1,1.6");
    }
    return 1;
}

static const struct fulcrum_report_table components_table = {
    .caption = "What each part of GPU and host takes, and the gain were it ideal",
    .rows = "components",
    .columns = {{"meaning", "part", NULL, 0}, {"gpu_frac", "#of GPU time", "%", 0},
        {"mean_frac", "#of a run", "%", 1}, {"speedup", "#ideal alone, times", "x", 1}},
    .column_count = 4,
};

static const struct fulcrum_report_table factors_table = {
    .caption = "The same work with other caches and memory bandwidths",
    .rows = "factors",
    .columns = {{"cache_rel", "cache, times", "", 0},
        {"bandwidth_rel", "#bandwidth, times", "", 0},
        {"gpu_time_rel", "#GPU time, times", "x", 1},
        {"speedup", "#throughput, times", "x", 1},
        {"steps_per_j_system_rel", "#per system watt, times", "x", 0}},
    .column_count = 5,
};

static enum fulcrum_status write_memory(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Where the time of the GPU goes, and that of a run",
        .content = FULCRUM_PLOT_COMPONENTS,
        .draw = fulcrum_plot_components,
        .height_pt = 360.0,
        .narrow_height_pt = 400.0,
    };
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "memory");
    struct fulcrum_reply *components = &replies->items[0];
    struct fulcrum_reply *factors = &replies->items[1];
    (void)job;
    if (!fulcrum_report_has_answer(components, out)) {
        return FULCRUM_OK;
    }
    (void)fputs(
        "<p>Each part of the GPU's work is made ideal in turn: what is gone then "
        "is its part. What the GPU saves, a run saves only where the GPU is what "
        "it waits for.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, components, out, err);
    (void)fulcrum_report_rows_write(&components_table, components, out);
    fulcrum_report_made_with(components, out);
    if (status == FULCRUM_OK && fulcrum_report_has_answer(factors, out)) {
        (void)fulcrum_report_rows_write(&factors_table, factors, out);
        fulcrum_report_made_with(factors, out);
    }
    return status;
}

const struct fulcrum_report_section fulcrum_report_memory = {
    .id = "memory",
    .title = "GPU, memory and host: what each part takes",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_memory,
    .write = write_memory,
};

static int ask_partition(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (i > 0 || !fulcrum_report_has_gpu(machine)) {
        return 0;
    }
    fulcrum_argv_text_add(words, "partition");
    return 1;
}

static const struct fulcrum_report_table placements_table = {
    .caption = "Placements on one GPU",
    .rows = "placements",
    .columns = {{"placement", "placement", NULL, 0}, {"steps_per_s", "#steps/s", "", 0},
        {"speedup", "#times one process", "x", 1},
        {"gpu_busy_frac", "#GPU busy", "%", 0},
        {"steps_per_j_gpu", "#steps/J, GPU", "", 0}, {"layout", "slices", NULL, 0},
        {"reason", "cannot run", NULL, 0}},
    .column_count = 7,
};

/* Of stages on the GPU: what holds its SMs is told, launches apart. */
static const struct fulcrum_report_table staged_table = {
    .caption = "Placements on one GPU",
    .rows = "placements",
    .columns = {{"placement", "placement", NULL, 0}, {"steps_per_s", "#steps/s", "", 0},
        {"speedup", "#times one process", "x", 1},
        {"sm_held_frac", "#SMs held", "%", 0},
        {"steps_per_j_gpu", "#steps/J, GPU", "", 0}, {"layout", "slices", NULL, 0},
        {"reason", "cannot run", NULL, 0}},
    .column_count = 7,
};

static enum fulcrum_status write_partition(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "The stages of training on parts of one GPU, and the gain of each "
                 "placement",
        .content = FULCRUM_PLOT_PLACEMENTS,
        .draw = fulcrum_plot_partition,
        .height_pt = 480.0,
        .narrow_height_pt = 520.0,
    };
    struct fulcrum_reply *reply =
        &fulcrum_report_replies_of(machine, "partition")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs(
        "<p>What several processes would do on one GPU: taking turns, on shares of "
        "its SMs (MPS), or in slices of everything (MIG).</p>\n",
        out);
    enum fulcrum_status status = FULCRUM_OK;
    bool is_resident = fulcrum_report_is_resident(machine);
    if (is_resident) {
        status = fulcrum_report_draw(&figure, reply, out, err);
    }
    (void)fulcrum_report_rows_write(
        is_resident ? &staged_table : &placements_table, reply, out);
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_partition = {
    .id = "partition",
    .title = "Parts of a GPU",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_partition,
    .write = write_partition,
};

/*
 * How many GPUs the machine's links reach: those of the machine itself, or of many. 1
 * where nothing is known of links, or nothing is trained.
 */
static double gpus_in_reach(struct fulcrum_report_case *machine)
{
    const double many = 256.0;
    double gpus = fulcrum_report_field(machine, "machine.gpu.count");
    int trains = fulcrum_report_field(machine, "workload.training.train_step_s") > 0.0;
    bool has_peers =
        fulcrum_report_field(machine, "machine.link.peer_byte_per_s") > 0.0;
    bool has_network =
        fulcrum_report_field(machine, "machine.link.network_byte_per_s") > 0.0;
    if (!fulcrum_report_has_gpu(machine) || !trains || !has_peers) {
        return 1.0;
    }
    return has_network ? many : gpus;
}

static int ask_cluster(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    double most = gpus_in_reach(machine);
    if (i > 0 || !(most > 1.0)) {
        return 0;
    }
    fulcrum_argv_text_add(words, "cluster");
    fulcrum_argv_text_add(words, "--devices");
    fulcrum_argv_text_add(words, "1:%.0f:x2", most);
    if (fulcrum_report_is_resident(machine)) {
        fulcrum_argv_text_add(words, "--steps-alone");
    } else {
        double actors = fulcrum_report_field(machine, "run.actor_count");
        double gpus = fulcrum_report_field(machine, "run.gpu_count");
        fulcrum_argv_text_add(words, "--actors-per-gpu");
        fulcrum_argv_text_add(
            words, "%.0f", fmax(1.0, round(actors / fmax(gpus, 1.0))));
    }
    return 1;
}

#define CLUSTER_COLUMNS                                                                \
    {                                                                                  \
        {"gpu_count", "GPUs", "", 0}, {"train_step_s", "#training step", "s", 0},      \
            {"efficiency_frac", "#of ideal", "%", 0},                                  \
            {"steps_per_s", "#steps/s", "", 1}, {"speedup", "#times one GPU", "x", 1}, \
            {"runtime_s", "#whole training", "s", 0},                                  \
    }

static const struct fulcrum_report_table cluster_tables[] = {
    {.caption = "Each GPU keeps its batch (weak scaling)",
        .rows = "rows",
        .columns = CLUSTER_COLUMNS,
        .column_count = 6,
        .where = "scaling",
        .is = "weak"},
    {.caption = "The GPUs divide one batch (strong scaling)",
        .rows = "rows",
        .columns = CLUSTER_COLUMNS,
        .column_count = 6,
        .where = "scaling",
        .is = "strong"},
};

static enum fulcrum_status write_cluster(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Steps per second over those of one GPU, against the number of GPUs",
        .content = FULCRUM_PLOT_SCALING,
        .draw = fulcrum_plot_lines,
        .chart = &fulcrum_chart_scaling,
        .height_pt = 420.0,
        .narrow_height_pt = 420.0,
    };
    struct fulcrum_reply *reply =
        &fulcrum_report_replies_of(machine, "cluster")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs(
        "<p>One training over more GPUs, in as many equal machines as they need: "
        "gradients are summed over the machine's links after each training step. "
        "Each GPU brings its actors along, but a machine's CPU threads stay as "
        "many as they are.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, reply, out, err);
    for (size_t i = 0; i < sizeof cluster_tables / sizeof cluster_tables[0]; i++) {
        (void)fulcrum_report_rows_write(&cluster_tables[i], reply, out);
    }
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_cluster = {
    .id = "cluster",
    .title = "Training on more GPUs",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_cluster,
    .write = write_cluster,
};

/* All GPUs of a small machine, doublings of a large one. */
static int ask_node(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    const double few = 8.0;
    double gpus = fulcrum_report_field(machine, "machine.gpu.count");
    if (i > 0 || !fulcrum_report_has_gpu(machine) || !(gpus > 1.0) ||
        fulcrum_report_is_resident(machine)) {
        return 0;
    }
    fulcrum_argv_text_add(words, "node");
    fulcrum_argv_text_add(words, "--gpus");
    fulcrum_argv_text_add(words, "1:%.0f:%s", gpus, gpus > few ? "x2" : "1");
    fulcrum_argv_text_add(words, "--actors-per-thread");
    fulcrum_argv_text_add(words, "6.4");
    return 1;
}

static const struct fulcrum_report_table node_table = {
    .caption = "One to all GPUs beside the same threads",
    .rows = "rows",
    .columns = {{"gpu_count", "GPUs", "", 0},
        {"cpu_gpu_ratio_used", "#CPU/GPU ratio", "", 0},
        {"steps_per_s", "#steps/s", "", 1},
        {"steps_per_j_gpu", "#steps/J, GPUs", "", 1},
        {"steps_per_j_system", "#steps/J, system", "", 1},
        {"threads_needed", "#threads for 95 %", "", 1},
        {"bottleneck", "held back by", NULL, 0}},
    .column_count = 7,
    .where = "status",
    .is = "ok",
};

static enum fulcrum_status write_node(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Throughput and performance per watt against the GPUs in use",
        .content = FULCRUM_PLOT_NODE,
        .draw = fulcrum_plot_lines,
        .chart = &fulcrum_chart_node,
        .height_pt = 480.0,
        .narrow_height_pt = 480.0,
    };
    struct fulcrum_reply *reply = &fulcrum_report_replies_of(machine, "node")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs(
        "<p>More GPUs share the threads that there are, with 6.4 actors a thread. "
        "The threads for 95 % are the fewest with so much of what any number of "
        "threads would give.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, reply, out, err);
    (void)fulcrum_report_rows_write(&node_table, reply, out);
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_node = {
    .id = "node",
    .title = "More GPUs in this machine",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_node,
    .write = write_node,
};
