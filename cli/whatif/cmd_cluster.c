/* cmd_cluster.c - `fulcrum cluster`: training on many GPUs, split in several ways. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What more GPUs and machines do to one training, and from how many GPUs it pays to
 * split the network, too.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/whatif/whatif.h"
#include "model/number.h"
#include "model/predict/solver.h"
#include "model/result.h"
#include "model/try.h"
#include "model/whatif/cluster_study.h"

/* Tables of more points have no intervals unless asked for. */
enum { POINTS_MOST = 100000, DRAWN_POINTS_MOST = 1024 };

/* --scaling: one way, or all of them. */
enum { SCALINGS = 2, BOTH = SCALINGS };

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    const char *devices;
    const char *model_parallel;
    int scaling;
    struct fulcrum_cluster_plan plan; /* as far as options give it */
};

static const char *scaling_name(int index)
{
    return index == BOTH ? "both" : fulcrum_batch_scaling_name(index);
}

static const struct fulcrum_field devices_field = {
    .path = "GPUS", .kind = FULCRUM_FIELD_COUNT, .least = 1, .most = 1e6};
static const struct fulcrum_field parts_field = {
    .path = "GPUS", .kind = FULCRUM_FIELD_COUNT, .least = 1, .most = 1e4};

/* The question, and the design with one GPU that each point changes a few fields of. */
struct job {
    struct fulcrum_subject subject;
    struct fulcrum_numbers devices;
    struct fulcrum_numbers parts;
    struct fulcrum_cluster_plan plan;
    struct fulcrum_progress watch;
    struct fulcrum_cluster_rows rows;
};

static enum fulcrum_status read_job(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    job->plan = settings->plan;
    FULCRUM_USAGE_IF(
        !isnan(settings->plan.speedup_2) && strcmp(settings->model_parallel, "1") == 0,
        context, err, FULCRUM_ERR_RANGE,
        "--speedup-2 goes with --model-parallel above 1");
    job->devices = (struct fulcrum_numbers){"--devices", &devices_field, NULL, 0};
    job->parts = (struct fulcrum_numbers){"--model-parallel", &parts_field, NULL, 0};
    TRY(fulcrum_numbers_read(&job->devices, settings->devices, context, err));
    TRY(fulcrum_numbers_read(&job->parts, settings->model_parallel, context, err));
    FULCRUM_USAGE_IF(job->devices.count * job->parts.count > POINTS_MOST, context, err,
        FULCRUM_ERR_RANGE,
        "--devices and --model-parallel: %zu points: expected at most %d",
        job->devices.count * job->parts.count, (int)POINTS_MOST);
    TRY(fulcrum_subject_read(&settings->design, context, &job->subject, err));
    /* How many actors a GPU has; the GPU's own process where it simulates. */
    bool has_each = !isnan(settings->plan.actors_per_gpu);
    bool has_all = !isnan(settings->design.actor_count);
    bool is_resident = fulcrum_design_is_resident(&job->subject.inputs.base);
    /* Of steps alone actors are not looked at, but a design has some. */
    bool is_one = settings->plan.steps_alone || (!has_each && !has_all && is_resident);
    job->plan.actors_per_gpu = is_one ? 1.0 : settings->plan.actors_per_gpu;
    FULCRUM_USAGE_IF(!is_one && !has_each && !has_all, context, err,
        FULCRUM_ERR_MISSING,
        "--actors-per-gpu N (or --actors N of each machine) is needed, or "
        "--steps-alone");
    FULCRUM_USAGE_IF(!is_one && has_each && has_all, context, err,
        FULCRUM_ERR_UNSUPPORTED, "--actors-per-gpu and --actors: expected one of them");
    double actors = isnan(job->plan.actors_per_gpu) ? settings->design.actor_count
                                                    : job->plan.actors_per_gpu;
    const struct fulcrum_setting varied[] = {
        {fulcrum_field_find("run.actor_count"), actors, NULL},
        {fulcrum_field_find("run.gpu_count"), 1.0, NULL},
        {fulcrum_field_find("run.node_count"), 1.0, NULL},
        {fulcrum_field_find("run.model_parallel_gpu_count"), 1.0, NULL}};
    TRY(fulcrum_subject_prepare(
        &job->subject, varied, sizeof varied / sizeof varied[0], err));
    const struct fulcrum_design *design = &job->subject.design;
    const struct fulcrum_workload_training *training = &design->workload.training;
    FAIL_IF(design->machine.accelerator != FULCRUM_ACCELERATOR_GPU, err,
        FULCRUM_ERR_UNSUPPORTED, "machine %s has no GPU", design->machine.name);
    FAIL_IF(!(training->env_steps_per_train_step > 0.0), err, FULCRUM_ERR_UNSUPPORTED,
        "workload %s does not train: workload.training.env_steps_per_train_step = "
        "0",
        design->workload.name);
    FAIL_IF(job->parts.values[job->parts.count - 1] > 1.0 &&
                isnan(settings->plan.speedup_2) && isnan(training->model_parallel_frac),
        err, FULCRUM_ERR_MISSING,
        "--model-parallel %s: how much faster several GPUs do a step of workload %s is "
        "not given: --speedup-2 or --set workload.training.model_parallel_frac",
        settings->model_parallel, design->workload.name);
    return FULCRUM_OK;
}

/* By equations, unless the user asks for more. */
static enum fulcrum_status read_solution(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_cluster_plan *plan,
    struct fulcrum_error *err)
{
    size_t points = plan->devices.count * plan->parts.count * plan->scaling_count;
    enum fulcrum_status status = fulcrum_solve_settings_read(&settings->solve,
        points > DRAWN_POINTS_MOST ? 0.0 : FULCRUM_DRAWS, context, &plan->predict, err);
    if (plan->predict.solver.method == FULCRUM_METHOD_AUTO) {
        plan->predict.solver.method = FULCRUM_METHOD_FAST;
    }
    return status;
}

static void add_facts(struct fulcrum_result *result, const struct job *job)
{
    const struct fulcrum_cluster_plan *plan = &job->plan;
    const struct fulcrum_design *design = plan->design;
    const struct fulcrum_workload_training *training = &design->workload.training;
    const struct fulcrum_link *link = &design->machine.link;
    bool is_resident = fulcrum_design_is_resident(design);
    double draws = (double)job->rows.study->draw_count;
    fulcrum_result_text(result, "machine", "machine", design->machine.name);
    fulcrum_result_text(result, "machine_title", NULL, design->machine.title);
    fulcrum_result_text(result, "workload", "workload", design->workload.name);
    fulcrum_result_text(
        result, "calibration", "calibration", job->subject.calibrations);
    fulcrum_result_text(result, "scope", "predicted",
        plan->steps_alone ? "training steps alone"
        : is_resident     ? "simulation on the GPU, inference and training"
                          : "actors, inference and training");
    fulcrum_result_number(result, "actors_per_gpu",
        is_resident ? NULL : "actors of each GPU",
        plan->steps_alone ? FULCRUM_UNKNOWN : plan->actors_per_gpu);
    fulcrum_result_number(
        result, "critical_batch_size", "critical batch", training->critical_batch_size);
    fulcrum_result_text(
        result, "allreduce", NULL, fulcrum_allreduce_name(training->allreduce));
    fulcrum_result_number(result, "link/peer_byte_per_s", "link of a GPU to its peers",
        link->peer_byte_per_s);
    fulcrum_result_number(result, "link/peer_latency_s", NULL, link->peer_latency_s);
    fulcrum_result_number(result, "link/network_byte_per_s", "link of a machine",
        link->network_byte_per_s);
    fulcrum_result_number(
        result, "link/network_latency_s", NULL, link->network_latency_s);
    fulcrum_result_flag(result, "is_by_quality", NULL, job->rows.is_by_quality);
    fulcrum_result_text(result, "method", "method",
        plan->steps_alone ? "" : fulcrum_method_name(plan->predict.solver.method));
    fulcrum_result_number(
        result, "interval_draws", draws > 0.0 ? "draws" : NULL, draws);
}

/* What people see of the values, with intervals of what the table is about: times to a
 * quality, or where any is unknown those to the same steps. */
static const struct {
    const char *key;
    const char *titles[2]; /* by steps, by quality; NULL: derived, or only for files */
    enum fulcrum_cluster_value value;
    bool has_ends[2];
} columns[] = {
    {"compute_s", {NULL, NULL}, FULCRUM_CLUSTER_COMPUTE, {false, false}},
    {"allreduce_s", {"allreduce", NULL}, FULCRUM_CLUSTER_ALLREDUCE, {false, false}},
    {"train_step_s", {"step", "step"}, FULCRUM_CLUSTER_TRAIN_STEP, {false, false}},
    {"efficiency_frac", {NULL, NULL}, FULCRUM_CLUSTER_EFFICIENCY, {false, false}},
    {"epochs_rel", {NULL, NULL}, FULCRUM_CLUSTER_EPOCHS, {false, false}},
    {"steps_per_s", {"steps", "steps"}, FULCRUM_CLUSTER_STEPS_PER_S, {true, false}},
    {"speedup", {"speed-up", NULL}, FULCRUM_CLUSTER_SPEEDUP, {true, false}},
    {"runtime_s", {"runtime", NULL}, FULCRUM_CLUSTER_RUNTIME, {false, false}},
    {"quality_runtime_s", {NULL, "to quality"}, FULCRUM_CLUSTER_QUALITY_RUNTIME,
        {false, true}},
    {"quality_speedup", {NULL, "speed-up"}, FULCRUM_CLUSTER_QUALITY_SPEEDUP,
        {false, true}},
};

/* People read its ends only where the table is about it. */
static void add_value(struct fulcrum_table *table, size_t i,
    const struct fulcrum_cluster_rows *rows, size_t row)
{
    const char *key = columns[i].key;
    const char *title = columns[i].titles[rows->is_by_quality];
    struct fulcrum_ratio value = fulcrum_cluster_value(rows, row, columns[i].value);
    if (title == NULL || columns[i].has_ends[rows->is_by_quality]) {
        fulcrum_table_ratio(table, key, title, value);
        return;
    }
    char name[40];
    fulcrum_table_number(table, key, title, value.value);
    (void)snprintf(name, sizeof name, "%s_lo", key);
    fulcrum_table_number(table, name, NULL, value.lo);
    (void)snprintf(name, sizeof name, "%s_hi", key);
    fulcrum_table_number(table, name, NULL, value.hi);
}

static void add_crossovers(
    struct fulcrum_result *result, const struct fulcrum_cluster_rows *rows)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "crossovers",
        rows->is_by_quality
            ? "where split networks reach the same quality sooner than data-parallel "
              "ones"
            : "where split networks do as many steps sooner than data-parallel ones");
    for (size_t i = 0; i < rows->crossover_count; i++) {
        const struct fulcrum_cluster_crossover *found = &rows->crossovers[i];
        fulcrum_table_row(table);
        fulcrum_table_text(
            table, "scaling", "scaling", fulcrum_batch_scaling_name(found->scaling));
        fulcrum_table_number(
            table, "model_parallel_gpu_count", "worker GPUs", found->part_count);
        fulcrum_table_flag(
            table, "is_sooner", "ever sooner", !isnan(found->device_count.value));
        fulcrum_table_ratio(table, "gpu_count", "fewest GPUs", found->device_count);
        fulcrum_table_number(table, "found_frac", "share of draws", found->found_frac);
    }
}

static void add_notes(
    struct fulcrum_result *result, const struct fulcrum_cluster_rows *rows)
{
    unsigned flags = 0;
    double error_rel = 0.0;
    if (!rows->is_by_quality) {
        fulcrum_result_note(result, "notes",
            "time to a quality needs workload.training.critical_batch_size and "
            "batch_size");
    }
    if (rows->left_out_count > 0) {
        fulcrum_result_note_print(result, "notes",
            "%zu point(s) left out: GPUs that cannot be spread evenly, or more workers "
            "than the batch has samples",
            rows->left_out_count);
    }
    for (size_t i = 0; i < rows->count; i++) {
        flags |= rows->rows[i].flags;
        error_rel = fmax(error_rel, rows->rows[i].solver_error_rel);
    }
    if (error_rel > 0.0) {
        fulcrum_result_note_print(result, "notes",
            "the solver's own error in rates is at most %.2g %% (95 %% confidence)",
            100.0 * error_rel);
    }
    /* No watts are shown here: where they come from does not matter. */
    fulcrum_flags_add(flags & ~(unsigned)FULCRUM_FLAG_WATTS_ASSUMED, result);
}

static enum fulcrum_status answer(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    TRY(read_job(settings, context, job, err));
    struct fulcrum_cluster_plan *plan = &job->plan;
    bool is_both = settings->scaling == BOTH;
    plan->scenario = job->subject.scenario;
    plan->design = &job->subject.design;
    plan->devices =
        (struct fulcrum_cluster_counts){job->devices.values, job->devices.count};
    plan->parts = (struct fulcrum_cluster_counts){job->parts.values, job->parts.count};
    plan->scalings[0] = is_both ? FULCRUM_BATCH_WEAK : settings->scaling;
    plan->scalings[1] = FULCRUM_BATCH_STRONG;
    plan->scaling_count = is_both ? SCALINGS : 1;
    plan->watch = fulcrum_watch_show;
    plan->watcher = &job->watch;
    TRY(read_solution(settings, context, plan, err));
    fulcrum_watch_start(&job->watch, context, "numbers of GPUs");
    enum fulcrum_status status = fulcrum_cluster_rows_find(plan, &job->rows, err);
    fulcrum_progress_end(&job->watch);
    TRY(status);
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-cluster");
    add_facts(result, job);
    const struct fulcrum_cluster_rows *rows = &job->rows;
    struct fulcrum_table *table = fulcrum_result_table(result, "rows",
        "weak scaling: the batch grows with the workers; strong: it stays");
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_cluster_row *row = &rows->rows[i];
        const double *values = fulcrum_study_at(rows->study, i + 1, 0);
        fulcrum_table_row(table);
        fulcrum_table_text(
            table, "scaling", "scaling", fulcrum_batch_scaling_name(row->scaling));
        fulcrum_table_number(table, "gpu_count", "GPUs", row->device_count);
        fulcrum_table_number(table, "node_count", NULL, row->layout.node_count);
        fulcrum_table_number(table, "model_parallel_gpu_count", "worker GPUs",
            row->layout.model_parallel_count);
        fulcrum_table_number(
            table, "worker_count", NULL, values[FULCRUM_CLUSTER_WORKERS]);
        fulcrum_table_number(
            table, "train_batch", "batch", values[FULCRUM_CLUSTER_BATCH]);
        for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++) {
            add_value(table, j, rows, i);
        }
        fulcrum_table_text(table, "best", "best", row->is_best ? "best" : "");
        fulcrum_table_number(table, "best_frac", "share of draws", row->best_frac);
        fulcrum_table_ratio(table, "hybrid_gain", NULL, row->gain);
        fulcrum_table_number(table, "hybrid_sooner_frac", NULL, row->sooner_frac);
        fulcrum_table_number(table, "solver_error_rel", NULL, row->solver_error_rel);
    }
    if (fulcrum_table_constant(table, "model_parallel_gpu_count") <= 1.0) {
        /* Each number of GPUs is used in one way. */
        fulcrum_table_hide(table, "model_parallel_gpu_count");
        fulcrum_table_hide(table, "best");
        fulcrum_table_hide(table, "best_frac");
    }
    add_crossovers(result, &job->rows);
    add_notes(result, &job->rows);
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status run_cluster(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job *job = fulcrum_allocate(1, sizeof *job);
    enum fulcrum_status status = answer(data, context, job, err);
    fulcrum_cluster_rows_clear(&job->rows);
    fulcrum_subject_clear(&job->subject);
    free(job->devices.values);
    free(job->parts.values);
    free(job);
    return status;
}

static const struct fulcrum_option option_rows[] = {
    FULCRUM_OPTION(TEXT, "devices", offsetof(struct settings, devices), "GPUS",
        .fallback = "1:1024:x2",
        .help = "total numbers of GPUs, on as many machines as they need"),
    FULCRUM_OPTION(TEXT, "model-parallel", offsetof(struct settings, model_parallel),
        "GPUS", .fallback = "1",
        .help = "GPUs that one copy of the network is split over: 1,2,4"),
    FULCRUM_OPTION(NUMBER, "speedup-2", offsetof(struct settings, plan.speedup_2),
        "FACTOR", .least = 1.0, .most = 2.0,
        .help = "speed-up of a training step on the two GPUs of a worker; sets "
                "workload.training.model_parallel_frac"),
    FULCRUM_OPTION(COUNT, "actors-per-gpu",
        offsetof(struct settings, plan.actors_per_gpu), "N", .least = 1.0, .most = 1e7,
        .help = "actors per GPU in use"),
    FULCRUM_OPTION(CHOICE, "scaling", offsetof(struct settings, scaling), "HOW",
        .fallback = "both", .choice = scaling_name,
        .help = "weak: each worker keeps its batch; strong: they divide one"),
    FULCRUM_OPTION(FLAG, "steps-alone", offsetof(struct settings, plan.steps_alone),
        NULL,
        .help = "training steps only, assuming that actors and inference keep up"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Cluster", option_rows, 0},
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum cluster -m dgx-a100 -w r2d2-atari --actors-per-gpu 64",
        "R2D2 on 1 to 1024 A100, weak and strong scaling"},
    {"fulcrum cluster -m dgx-1 -w r2d2-atari --steps-alone --model-parallel 1,2 "
     "--speedup-2 1.6 -s workload.training.critical_batch_size=4096",
        "training steps only, and the GPUs at which splitting the network pays off"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_cluster = {
    .name = "cluster",
    .summary = "predict training on many GPUs and machines",
    .description =
        "Predicts one training run on growing numbers of GPUs over identical machines: "
        "data-parallel, or hybrid where --model-parallel splits the network within a "
        "worker. Each row has the length of a training step, the part of the "
        "all-reduce that computing does not hide, the global batch, the samples needed "
        "for the same quality (epochs, relative to the workload's own batch) and the "
        "speed-up over one GPU. Below are the best split for each number of GPUs and "
        "the fewest GPUs at which hybrid training finishes sooner.\n\nLinks are fields "
        "of the machine (machine.link.*). Times to a quality need "
        "workload.training.critical_batch_size, which no preset has. Points are solved "
        "by equations unless --method says otherwise; solver_error_rel bounds their "
        "error.\n\nIntervals are 90 %, from 200 draws, or 24 in tables of more than 96 "
        "points and where draws are simulated; tables of more than 1024 points have "
        "none unless --intervals asks for them. Rows are compared within each draw, so "
        "uncertainty they share cancels: speed-ups, the best split (best_frac: share "
        "of draws), the factor by which hybrid training beats data-parallel training "
        "on as many GPUs (hybrid_gain) and how likely that is (hybrid_sooner_frac). "
        "found_frac is the share of draws with a crossover within the given numbers of "
        "GPUs; null as an end of its interval means beyond them.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_cluster,
};
