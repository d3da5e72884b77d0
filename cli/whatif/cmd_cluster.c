/* cmd_cluster.c - `fulcrum cluster`: training on many GPUs, split in several ways. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What more GPUs and machines do to one training, and from how many on it pays to split
 * the network as well.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "cli/range.h"
#include "cli/whatif/cluster_job.h"
#include "model/predict/solver.h"
#include "model/quantity.h"
#include "model/result.h"
#include "model/try.h"

/* Draws behind the intervals; fewer where there are many points or they are simulated,
 * none where there are very many. */
#define CLUSTER_DRAWS       200.0
#define CLUSTER_FEWER_DRAWS 24.0

enum {
    POINTS_MOST = 100000,
    ALL_DRAWS_POINTS = 96,
    DRAWN_POINTS_MOST = 1024,
    SCALINGS = 2
};

/* --scaling. */
enum { BOTH = SCALINGS };

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    const char *devices;
    const char *model_parallel;
    double speedup_2;
    double actors_per_gpu;
    int scaling;
    bool steps_alone;
};

static const char *scaling_name(int index)
{
    return index == BOTH ? "both" : fulcrum_batch_scaling_name(index);
}

/* An option whose value is a list, which is read as a field's is. */
struct list_option {
    const char *name;
    struct fulcrum_field field;
};

static const struct list_option devices_option = {"--devices",
    {.path = "GPUS", .kind = FULCRUM_FIELD_COUNT, .least = 1, .most = 1e6}};
static const struct list_option parts_option = {"--model-parallel",
    {.path = "GPUS", .kind = FULCRUM_FIELD_COUNT, .least = 1, .most = 1e4}};

struct list {
    double *values; /* owned */
    size_t count;
};

static enum fulcrum_status read_list(const struct list_option *option, const char *text,
    struct fulcrum_context *context, struct list *out, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_range_parse(&option->field, text, &out->values, &out->count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, option->name);
    }
    return FULCRUM_OK;
}

/* Inputs, read and prepared. Large: kept on the heap. */
struct subject {
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_design design; /* with one GPU */
    struct list devices;
    struct list parts;
    char calibrations[200];
};

/* Who is told how far the work is. */
struct watch {
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
};

static int show(void *user, double done_frac)
{
    struct watch *watch = user;
    fulcrum_progress_update(&watch->progress, done_frac, "numbers of GPUs");
    return *watch->stop != 0;
}

/* The design of one GPU, which every point changes a few fields of. */
static enum fulcrum_status find_design(
    const struct settings *settings, struct subject *subject, struct fulcrum_error *err)
{
    const struct fulcrum_setting varied[] = {
        {fulcrum_field_find("run.actor_count"),
            isnan(settings->actors_per_gpu) ? settings->design.actor_count
                                            : settings->actors_per_gpu,
            NULL},
        {fulcrum_field_find("run.gpu_count"), 1.0, NULL},
        {fulcrum_field_find("run.node_count"), 1.0, NULL},
        {fulcrum_field_find("run.model_parallel_gpu_count"), 1.0, NULL}};
    const struct fulcrum_point point = {varied, sizeof varied / sizeof varied[0], 0, 0};
    TRY(fulcrum_scenario_new(&subject->inputs.scenario, &subject->scenario, err));
    return fulcrum_scenario_design(subject->scenario, &point, &subject->design, err);
}

static enum fulcrum_status check_design(const struct settings *settings,
    const struct subject *subject, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &subject->design;
    const struct fulcrum_workload_training *training = &design->workload.training;
    FAIL_IF(design->machine.accelerator != FULCRUM_ACCELERATOR_GPU, err,
        FULCRUM_ERR_UNSUPPORTED, "machine %s has no GPU to have more of",
        design->machine.name);
    FAIL_IF(!(training->env_steps_per_train_step > 0.0), err, FULCRUM_ERR_UNSUPPORTED,
        "workload %s does not train: workload.training.env_steps_per_train_step = "
        "0",
        design->workload.name);
    double most = subject->parts.values[subject->parts.count - 1];
    FAIL_IF(most > 1.0 && isnan(settings->speedup_2) &&
                isnan(training->model_parallel_frac),
        err, FULCRUM_ERR_MISSING,
        "--model-parallel %s: how much faster several GPUs do a step of workload "
        "%s "
        "is not given: --speedup-2 or --set workload.training.model_parallel_frac",
        settings->model_parallel, design->workload.name);
    return FULCRUM_OK;
}

/* How many actors a GPU has; the GPU's own process where it simulates. */
static enum fulcrum_status settle_actors(struct settings *settings,
    const struct fulcrum_design *base, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    bool is_given =
        !isnan(settings->actors_per_gpu) || !isnan(settings->design.actor_count);
    if (settings->steps_alone || (!is_given && fulcrum_design_is_resident(base))) {
        /* For steps alone not looked at, but a design has some. */
        settings->actors_per_gpu = 1.0;
        return FULCRUM_OK;
    }
    FULCRUM_USAGE_IF(!is_given, context, err, FULCRUM_ERR_MISSING,
        "--actors-per-gpu N (or --actors N of each machine) is needed, or "
        "--steps-alone");
    FULCRUM_USAGE_IF(
        !isnan(settings->actors_per_gpu) && !isnan(settings->design.actor_count),
        context, err, FULCRUM_ERR_UNSUPPORTED,
        "--actors-per-gpu and --actors: expected one of them");
    return FULCRUM_OK;
}

static enum fulcrum_status prepare(struct settings *settings,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    TRY(read_list(&devices_option, settings->devices, context, &subject->devices, err));
    TRY(read_list(
        &parts_option, settings->model_parallel, context, &subject->parts, err));
    if (subject->devices.count * subject->parts.count > POINTS_MOST) {
        TRY(fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--devices and --model-parallel: %zu points: expected at most %d",
            subject->devices.count * subject->parts.count, (int)POINTS_MOST));
    }
    TRY(fulcrum_design_inputs_load(&settings->design, context, &subject->inputs, err));
    TRY(settle_actors(settings, &subject->inputs.base, context, err));
    TRY(find_design(settings, subject, err));
    return check_design(settings, subject, err);
}

/* By equations, unless the user asks for more. */
static enum fulcrum_status read_solution(const struct settings *settings,
    const struct fulcrum_cluster_plan *plan, struct fulcrum_context *context,
    struct fulcrum_predict_options *out, struct fulcrum_error *err)
{
    size_t points = plan->device_count_count * plan->model_parallel_count_count *
                    plan->scaling_count;
    bool is_fast = settings->solve.solver.method == FULCRUM_METHOD_AUTO ||
                   settings->solve.solver.method == FULCRUM_METHOD_FAST ||
                   settings->steps_alone;
    double draws = points > DRAWN_POINTS_MOST              ? 0.0
                   : is_fast && points <= ALL_DRAWS_POINTS ? CLUSTER_DRAWS
                                                           : CLUSTER_FEWER_DRAWS;
    enum fulcrum_status status =
        fulcrum_solve_settings_read(&settings->solve, draws, context, out, err);
    if (out->solver.method == FULCRUM_METHOD_AUTO) {
        out->solver.method = FULCRUM_METHOD_FAST;
    }
    return status;
}

static const char *scope_name(const struct fulcrum_cluster_plan *plan)
{
    return plan->scope == FULCRUM_CLUSTER_STEPS ? "training steps alone"
           : fulcrum_design_is_resident(plan->design)
               ? "simulation on the GPU, inference and training"
               : "actors, inference and training";
}

static void add_facts(struct fulcrum_result *result,
    const struct fulcrum_cluster_plan *plan, const struct fulcrum_cluster_rows *rows,
    const char *calibrations)
{
    const struct fulcrum_design *design = plan->design;
    const struct fulcrum_workload_training *training = &design->workload.training;
    const struct fulcrum_link *link = &design->machine.link;
    bool is_whole = plan->scope == FULCRUM_CLUSTER_WHOLE;
    fulcrum_result_text(result, "machine", "machine", design->machine.name);
    fulcrum_result_text(result, "machine_title", NULL, design->machine.title);
    fulcrum_result_text(result, "workload", "workload", design->workload.name);
    fulcrum_result_text(result, "calibration", "calibration", calibrations);
    fulcrum_result_text(result, "scope", "predicted", scope_name(plan));
    fulcrum_result_number(result, "actors_per_gpu",
        fulcrum_design_is_resident(design) ? NULL : "actors of each GPU",
        is_whole ? plan->actors_per_gpu : FULCRUM_UNKNOWN);
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
    fulcrum_result_flag(result, "is_by_quality", NULL, rows->is_by_quality);
    fulcrum_result_text(result, "method", "method",
        is_whole ? fulcrum_method_name(plan->predict.solver.method) : "");
    fulcrum_result_number(result, "interval_draws",
        rows->draw_count > 0 ? "draws" : NULL, (double)rows->draw_count);
}

/* What people see of the values, with intervals of what the table is about: times to a
 * quality, or where any is unknown those to the same steps. */
static const struct {
    const char *key;
    const char *titles[2]; /* by steps, by quality; NULL: derived, or only for files */
    bool has_ends[2];
} values[FULCRUM_CLUSTER_VALUES] = {
    {"compute_s", {NULL, NULL}, {false, false}},
    {"allreduce_s", {"allreduce", NULL}, {false, false}},
    {"train_step_s", {"step", "step"}, {false, false}},
    {"efficiency_frac", {NULL, NULL}, {false, false}},
    {"epochs_rel", {NULL, NULL}, {false, false}},
    {"steps_per_s", {"steps", "steps"}, {true, false}},
    {"speedup", {"speed-up", NULL}, {true, false}},
    {"runtime_s", {"runtime", NULL}, {false, false}},
    {"quality_runtime_s", {NULL, "to quality"}, {false, true}},
    {"quality_speedup", {NULL, "speed-up"}, {false, true}},
};

static void add_value(struct fulcrum_table *table, size_t i, bool is_by_quality,
    double value, struct fulcrum_interval ends)
{
    const char *key = values[i].key;
    const char *title = values[i].titles[is_by_quality];
    if (title == NULL || values[i].has_ends[is_by_quality]) {
        fulcrum_table_estimate(table, key, title, value, ends.lo, ends.hi);
        return;
    }
    char name[40];
    fulcrum_table_number(table, key, title, value);
    (void)snprintf(name, sizeof name, "%s_lo", key);
    fulcrum_table_number(table, name, NULL, ends.lo);
    (void)snprintf(name, sizeof name, "%s_hi", key);
    fulcrum_table_number(table, name, NULL, ends.hi);
}

static void add_row(struct fulcrum_table *table, const struct fulcrum_cluster_row *row,
    bool is_by_quality)
{
    const struct fulcrum_layout *layout = &row->layout;
    const double value[FULCRUM_CLUSTER_VALUES] = {
#define X(name, member) [FULCRUM_CLUSTER_##name] = row->member,
        FULCRUM_CLUSTER_VALUE_LIST(X)
#undef X
    };
    fulcrum_table_row(table);
    fulcrum_table_text(
        table, "scaling", "scaling", fulcrum_batch_scaling_name(row->scaling));
    fulcrum_table_number(table, "gpu_count", "GPUs", row->device_count);
    fulcrum_table_number(table, "node_count", NULL, layout->node_count);
    fulcrum_table_number(
        table, "model_parallel_gpu_count", "worker GPUs", layout->model_parallel_count);
    fulcrum_table_number(table, "worker_count", NULL, row->step.worker_count);
    fulcrum_table_number(table, "train_batch", "batch", row->step.global_batch_size);
    for (size_t i = 0; i < FULCRUM_CLUSTER_VALUES; i++) {
        add_value(table, i, is_by_quality, value[i], row->interval[i]);
    }
    fulcrum_table_text(table, "best", "best", row->is_best ? "best" : "");
    fulcrum_table_number(table, "best_frac", "in so many draws", row->best_frac);
    fulcrum_table_estimate(
        table, "hybrid_gain", NULL, row->gain.value, row->gain.lo, row->gain.hi);
    fulcrum_table_number(table, "hybrid_sooner_frac", NULL, row->sooner_frac);
    fulcrum_table_number(table, "solver_error_rel", NULL, row->solver_error_rel);
}

static void add_rows(
    struct fulcrum_result *result, const struct fulcrum_cluster_rows *rows)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "rows",
        "weak scaling: the batch grows with the workers; strong: it stays");
    for (size_t i = 0; i < rows->count; i++) {
        add_row(table, &rows->rows[i], rows->is_by_quality);
    }
    if (fulcrum_table_constant(table, "model_parallel_gpu_count") <= 1.0) {
        /* One way to use so many GPUs is the best one. */
        fulcrum_table_hide(table, "model_parallel_gpu_count");
        fulcrum_table_hide(table, "best");
        fulcrum_table_hide(table, "best_frac");
    }
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
        fulcrum_table_number(table, "model_parallel_gpu_count", "worker GPUs",
            found->model_parallel_count);
        fulcrum_table_flag(
            table, "is_sooner", "ever sooner", !isnan(found->device_count));
        fulcrum_table_estimate(table, "gpu_count", "from so many GPUs on",
            found->device_count, found->interval.lo, found->interval.hi);
        fulcrum_table_number(
            table, "found_frac", "ever, in so many draws", found->found_frac);
    }
}

static void add_notes(
    struct fulcrum_result *result, const struct fulcrum_cluster_rows *rows)
{
    unsigned flags = 0;
    if (!rows->is_by_quality) {
        fulcrum_result_note(result, "notes",
            "times to a quality need workload.training.critical_batch_size and "
            "batch_size");
    }
    if (rows->left_out_count > 0) {
        char text[160];
        (void)snprintf(text, sizeof text,
            "%zu point(s) left out: GPUs that cannot be spread evenly, or more workers "
            "than the batch has samples",
            rows->left_out_count);
        fulcrum_result_note(result, "notes", text);
    }
    for (size_t i = 0; i < rows->count; i++) {
        flags |= rows->rows[i].flags;
    }
    /* No watts are told here: where they come from does not matter. */
    fulcrum_flags_add(flags & ~(unsigned)FULCRUM_FLAG_WATTS_ASSUMED, result);
}

static enum fulcrum_status report(const struct fulcrum_cluster_plan *plan,
    const struct fulcrum_cluster_rows *rows, const char *calibrations,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-cluster");
    add_facts(result, plan, rows, calibrations);
    add_rows(result, rows);
    add_crossovers(result, rows);
    add_notes(result, rows);
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status answer(const struct settings *settings,
    struct subject *subject, struct fulcrum_context *context, struct fulcrum_error *err)
{
    static const int scalings[] = {FULCRUM_BATCH_WEAK, FULCRUM_BATCH_STRONG};
    struct watch watch = {.stop = fulcrum_interrupt_watch()};
    struct fulcrum_cluster_rows points = {.count = 0};
    struct fulcrum_cluster_plan plan = {.scenario = subject->scenario,
        .design = &subject->design,
        .scope = settings->steps_alone ? FULCRUM_CLUSTER_STEPS : FULCRUM_CLUSTER_WHOLE,
        .actors_per_gpu = settings->actors_per_gpu,
        .speedup_2 = settings->speedup_2,
        .device_count = subject->devices.values,
        .device_count_count = subject->devices.count,
        .model_parallel_count = subject->parts.values,
        .model_parallel_count_count = subject->parts.count,
        .scaling = settings->scaling == BOTH ? scalings : &settings->scaling,
        .scaling_count = settings->scaling == BOTH ? SCALINGS : 1,
        .watch = show,
        .user = &watch};
    TRY(read_solution(settings, &plan, context, &plan.predict, err));
    fulcrum_calibration_names(
        &subject->inputs, subject->calibrations, sizeof subject->calibrations);
    fulcrum_progress_start(&watch.progress, context);
    enum fulcrum_status status = fulcrum_cluster_rows_find(&plan, &points, err);
    fulcrum_progress_end(&watch.progress);
    if (status == FULCRUM_OK) {
        status = report(&plan, &points, subject->calibrations, context, err);
    }
    fulcrum_cluster_rows_clear(&points);
    return status;
}

static const struct fulcrum_option option_rows[] = {
    FULCRUM_OPTION(TEXT, "devices", offsetof(struct settings, devices), "GPUS",
        .fallback = "1:1024:x2",
        .help = "numbers of GPUs over all machines; as many machines as they need"),
    FULCRUM_OPTION(TEXT, "model-parallel", offsetof(struct settings, model_parallel),
        "GPUS", .fallback = "1",
        .help = "GPUs that one copy of the network is split over: 1,2,4"),
    FULCRUM_OPTION(NUMBER, "speedup-2", offsetof(struct settings, speedup_2), "FACTOR",
        .least = 1.0, .most = 2.0,
        .help = "how much faster two GPUs of one worker do a training step; sets "
                "workload.training.model_parallel_frac"),
    FULCRUM_OPTION(COUNT, "actors-per-gpu", offsetof(struct settings, actors_per_gpu),
        "N", .least = 1.0, .most = 1e7, .help = "actors of each GPU used"),
    FULCRUM_OPTION(CHOICE, "scaling", offsetof(struct settings, scaling), "HOW",
        .fallback = "both", .choice = scaling_name,
        .help = "weak: each worker keeps its batch; strong: they divide one"),
    FULCRUM_OPTION(FLAG, "steps-alone", offsetof(struct settings, steps_alone), NULL,
        .help = "training steps without actors and inference, as if these always kept "
                "up"),
    {.name = NULL},
};

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct settings settings = *(const struct settings *)data;
    FULCRUM_USAGE_IF(
        !isnan(settings.speedup_2) && strcmp(settings.model_parallel, "1") == 0,
        context, err, FULCRUM_ERR_RANGE,
        "--speedup-2 goes with --model-parallel above 1");
    struct subject *subject = fulcrum_allocate(1, sizeof *subject);
    enum fulcrum_status status = prepare(&settings, context, subject, err);
    if (status == FULCRUM_OK) {
        status = answer(&settings, subject, context, err);
    }
    /* Accepts NULL. */
    if (subject != NULL) {
        fulcrum_scenario_free(subject->scenario);
        fulcrum_design_inputs_free(&subject->inputs);
        free(subject->devices.values);
        free(subject->parts.values);
        free(subject);
    }
    return status;
}

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
        "training steps alone, and from how many GPUs on it pays to split the network"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_cluster = {
    .name = "cluster",
    .summary = "predict training on many GPUs and machines",
    .description =
        "Predicts one training over numbers of GPUs, on as many equal machines as they "
        "need: data-parallel, and hybrid where --model-parallel splits the network "
        "over "
        "the GPUs of a worker. Tells the length of a training step, the all-reduce "
        "that "
        "computing does not hide, the batch of all GPUs, samples to the same quality "
        "(epochs, relative to the workload's own batch), speed-ups over one GPU, the "
        "best split for each number of GPUs, and the fewest GPUs from which hybrid "
        "training is sooner done.\n\n"
        "Links are fields of the machine (machine.link.*). Times to a quality are "
        "known "
        "where workload.training.critical_batch_size is; no preset has one. Points are "
        "predicted by equations unless --method asks for another; solver_error_rel "
        "says how far off these may be.\n\n"
        "Rows have 90 % intervals from 200 draws, 24 in tables of more than 96 points "
        "or where draws are simulated; tables of more than 1024 points have none "
        "unless "
        "asked for. Rows are compared within a draw, in which all of them have the "
        "same "
        "parameters: speed-ups, which way is best (best_frac: share of draws), by "
        "which "
        "factor hybrid training is sooner done than data-parallel training on as many "
        "GPUs (hybrid_gain), how likely it is (hybrid_sooner_frac), and from how many "
        "GPUs on. found_frac of a crossover is the share of draws that have one among "
        "the numbers of GPUs; an end of its interval that is null lies beyond them.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
