/* cmd_partition.c - `fulcrum partition`: stages of training on parts of one GPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include "model/result.h"
#include "model/string.h"
#include "model/try.h"
#include "model/whatif/placements.h"
#include "presets/load/partition_file.h"

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    const char *partition;
    const char *profile;
    const char *shares;
    int envs;                           /* enum of envs_name */
    struct fulcrum_sharing_terms terms; /* as far as options give them */
};

static const char *envs_name(int index)
{
    static const char *const names[] = {"dealt", "each"};
    return index >= 0 && index < 2 ? names[index] : NULL;
}

/* Inputs, read and prepared. Owns all. */
struct job {
    struct fulcrum_subject subject;
    struct fulcrum_partition *partition; /* NULL: none for this GPU */
    struct fulcrum_mig_layout layout;
    struct fulcrum_sharing_terms terms;
    struct fulcrum_placements plan;
    struct fulcrum_error no_slices; /* why there is no partition */
};

/* A GPU without a partition of its own has shares, not slices. */
static enum fulcrum_status find_partition(const struct settings *settings,
    const char *gpu, struct job *job, struct fulcrum_error *err)
{
    if (settings->partition != NULL) {
        enum fulcrum_status loaded =
            fulcrum_partition_load(settings->partition, &job->partition, err);
        if (loaded == FULCRUM_OK && strcmp(job->partition->mig.gpu, gpu) != 0) {
            fulcrum_message_warn("--partition %s is for the GPU \"%s\": applying "
                                 "its slices as shares of \"%s\"",
                settings->partition, job->partition->mig.gpu, gpu);
        }
        return loaded;
    }
    enum fulcrum_status status =
        fulcrum_partition_of_gpu(gpu, &job->partition, &job->no_slices);
    if (status == FULCRUM_ERR_UNSUPPORTED && settings->profile == NULL) {
        return FULCRUM_OK;
    }
    return status == FULCRUM_OK
               ? status
               : fulcrum_fail(err, status, "%s", job->no_slices.detail);
}

/* Of a placement that cannot run nothing is known. */
static void add_placement(
    struct fulcrum_table *table, const struct fulcrum_placement *row)
{
    static const struct fulcrum_placed unknown = {.instances = (double)NAN,
        .sm_held_frac = (double)NAN,
        .sm_work_frac = (double)NAN,
        .memory_byte = (double)NAN};
    const struct fulcrum_placed *placed =
        isnan(row->steps_per_s) ? &unknown : &row->placed;
    fulcrum_table_row(table);
    fulcrum_table_text(table, "placement", "placement", row->name);
    fulcrum_table_text(table, "layout", "slices", row->layout);
    fulcrum_table_number(table, "instances", "processes", placed->instances);
    fulcrum_table_number(table, "steps_per_s", "steps", row->steps_per_s);
    fulcrum_table_ratio(table, "speedup", "speed-up", row->speedup);
    fulcrum_table_number(table, "gpu_busy_frac", "GPU busy", row->gpu_busy_frac);
    fulcrum_table_number(table, "sm_held_frac", "SMs held", placed->sm_held_frac);
    fulcrum_table_number(table, "sm_work_frac", "SMs at work", placed->sm_work_frac);
    fulcrum_table_number(table, "memory_byte", NULL, placed->memory_byte);
    fulcrum_table_number(table, "gpu_w", NULL, row->gpu_w);
    fulcrum_table_number(
        table, "steps_per_j_gpu", "per GPU joule", row->steps_per_j_gpu);
    fulcrum_table_text(table, "reason", "cannot run", row->reason);
}

/* The cells of part k; of a placement without parts they are empty. */
static void add_part(struct fulcrum_table *table, const struct job *job,
    const struct fulcrum_placed *placed, size_t k)
{
    static const struct fulcrum_gpu_part none = {.sm_frac = (double)NAN,
        .instances = (double)NAN,
        .dram_frac = (double)NAN,
        .round_s = (double)NAN,
        .busy_frac = (double)NAN,
        .profile = FULCRUM_MIG_PROFILES_MOST};
    const struct fulcrum_mig *slices = job->terms.mig;
    bool is_known = k < placed->part_count;
    const struct fulcrum_gpu_part *part = is_known ? &placed->parts[k] : &none;
    bool is_slice = slices != NULL && part->profile < slices->profile_count;
    bool is_slowest = is_known && placed->part_count > 1 && k == placed->slowest;
    /* "simulation + agent" */
    unsigned stages = part->stages;
    struct fulcrum_string text = {0};
    for (size_t i = 0; i < job->plan.loop.count; i++) {
        if ((stages & (1U << i)) != 0U) {
            fulcrum_string_add(&text, "%s%s",
                fulcrum_string_get(&text)[0] != '\0' ? " + " : "",
                job->plan.loop.stages[i].name);
        }
    }
    fulcrum_table_text(table, "stages", "stages", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
    fulcrum_table_number(table, "part_instances", "processes", part->instances);
    fulcrum_table_number(table, "sm_frac", "SMs", part->sm_frac);
    fulcrum_table_number(table, "dram_frac", "bandwidth", part->dram_frac);
    fulcrum_table_text(table, "profile", "slice",
        is_slice ? slices->profiles[part->profile].name : "");
    fulcrum_table_number(table, "round_s", "round", part->round_s);
    fulcrum_table_number(table, "busy_frac", "busy", part->busy_frac);
    fulcrum_table_text(table, "is_slowest", "slowest", is_slowest ? "yes" : "");
}

/* Files hold a row for each part of each placement; people first see the placements,
 * whose cells parts repeat for files. */
static enum fulcrum_status report(const struct job *job,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_placements *plan = &job->plan;
    bool has_parts = plan->loop.count > 0;
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-placements");
    const struct fulcrum_design *design = &job->plan.design;
    const struct fulcrum_sharing_terms *terms = &job->terms;
    double steps = job->plan.loop.count > 0 ? job->plan.loop.steps : FULCRUM_UNKNOWN;
    fulcrum_result_text(result, "machine", "machine", design->machine.name);
    fulcrum_result_text(result, "gpu", "GPU", design->machine.gpu.name);
    fulcrum_result_text(result, "workload", "workload", design->workload.name);
    fulcrum_result_text(
        result, "calibration", "calibration", job->subject.calibrations);
    fulcrum_result_text(
        result, "partition", "partition", terms->mig != NULL ? terms->mig->name : "");
    if (job->plan.loop.count > 0) {
        fulcrum_result_print(result, "round", "round",
            "%.6g agent steps of %.6g environments, %s", steps,
            design->workload.simulation.env_count,
            terms->envs_each ? "as many in each instance" : "dealt out to instances");
    }
    fulcrum_result_number(result, "round_steps", NULL, steps);
    fulcrum_result_number(result, "overhead_frac", NULL, terms->overhead_frac);
    fulcrum_result_number(result, "switch_frac", NULL, terms->switch_frac);
    fulcrum_result_text(result, "envs", NULL, envs_name(terms->envs_each));
    fulcrum_result_number(
        result, "draws", job->plan.draws > 0.0 ? "draws" : NULL, job->plan.draws);
    struct fulcrum_table *placements = fulcrum_result_table(result, "placements", "");
    struct fulcrum_table *table = fulcrum_result_table(result, "parts",
        has_parts ? "what runs where; in each placement all wait for the slowest"
                  : NULL);
    fulcrum_table_make_main(table);
    for (size_t i = 0; i < plan->count; i++) {
        const struct fulcrum_placed *placed = &plan->rows[i].placed;
        add_placement(placements, &plan->rows[i]);
        for (size_t k = 0; k == 0 || k < placed->part_count; k++) {
            add_placement(table, &plan->rows[i]);
            add_part(table, job, placed, k);
        }
    }
    for (size_t j = 1; j < fulcrum_table_columns(placements); j++) {
        fulcrum_table_hide(table, fulcrum_table_column(placements, j).key);
    }
    table = fulcrum_result_table(result, "stages",
        "time of a stage with the GPU to itself, by what shortens it");
    for (size_t i = 0; i < plan->loop.count; i++) {
        const struct fulcrum_gpu_stage *stage = &plan->loop.stages[i];
        const struct fulcrum_gpu_time *a = &stage->per_step;
        const struct fulcrum_gpu_time *b = &stage->per_round;
        fulcrum_table_row(table);
        fulcrum_table_text(table, "stage", "stage", stage->name);
        fulcrum_table_number(
            table, "round_s", "round", fulcrum_gpu_stage_s(stage, 1.0, 1.0));
        fulcrum_table_number(table, "host_s", "launches, host", a->host_s + b->host_s);
        fulcrum_table_number(
            table, "latency_s", "whatever the share", a->latency_s + b->latency_s);
        fulcrum_table_number(table, "sm_s", "by SMs", a->sm_s + b->sm_s);
        fulcrum_table_number(table, "dram_s", "by bandwidth", a->dram_s + b->dram_s);
        fulcrum_table_number(table, "memory_byte", "memory",
            stage->memory_byte + stage->env_memory_byte);
    }
    if (job->no_slices.detail[0] != '\0') {
        fulcrum_result_note_print(
            result, "notes", "no slices: %s", job->no_slices.detail);
    }
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status answer(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_progress watch;
    struct fulcrum_placement_plan plan = {
        .terms = &job->terms, .watch = fulcrum_watch_show, .watcher = &watch};
    TRY(fulcrum_solve_settings_read(
        &settings->solve, FULCRUM_DRAWS, context, &plan.predict, err));
    job->terms = settings->terms;
    job->terms.envs_each = settings->envs != 0;
    TRY(fulcrum_subject_read(&settings->design, context, &job->subject, err));
    TRY(fulcrum_subject_prepare(&job->subject, NULL, 0, err));
    /* "0.5,0.3,0.2": one for each stage, which the workload decides; NULL: none. */
    const char *text = settings->shares;
    const struct fulcrum_workload *workload = &job->subject.design.workload;
    struct fulcrum_sharing_terms *terms = &job->terms;
    size_t stages = workload->training.env_steps_per_train_step > 0.0 ? 3U : 2U;
    const double rounding = 1e-6;
    double sum = 0.0;
    size_t given = 0;
    for (const char *rest = text; rest != NULL; given++) {
        double value = (double)NAN;
        char *item = fulcrum_list_part(&rest);
        enum fulcrum_status status =
            fulcrum_number_parse("--shares", item, &value, NULL) == FULCRUM_OK &&
                    value > 0.0 && value <= 1.0
                ? FULCRUM_OK
                : fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
                      "--shares: '%s': expected a share above 0 and at most 1", item);
        free(item);
        TRY(status);
        sum += value;
        if (given < FULCRUM_STAGES_MOST) {
            terms->given_shares[given] = value;
        }
    }
    terms->given_count = given;
    FULCRUM_USAGE_IF(given > 0 && !fulcrum_design_is_resident(&job->subject.design),
        context, err, FULCRUM_ERR_UNSUPPORTED,
        "--shares: workload %s simulates on the CPU, so its stages cannot be placed "
        "separately",
        workload->name);
    FULCRUM_USAGE_IF(given > 0 && given != stages, context, err, FULCRUM_ERR_RANGE,
        "--shares: %zu numbers: expected %zu, of simulation, agent%s", given, stages,
        stages == 3 ? " and training" : "");
    FULCRUM_USAGE_IF(sum > 1.0 + rounding, context, err, FULCRUM_ERR_RANGE,
        "--shares: they sum to %.6g: expected at most 1, as they are of one GPU", sum);
    TRY(find_partition(settings, job->subject.design.machine.gpu.name, job, err));
    job->terms.mig = job->partition != NULL ? &job->partition->mig : NULL;
    if (settings->profile != NULL) {
        job->terms.given_layout = &job->layout;
        enum fulcrum_status status = fulcrum_mig_layout_parse(
            &job->partition->mig, settings->profile, &job->layout, err);
        if (status != FULCRUM_OK) {
            context->exit_code = FULCRUM_EXIT_USAGE;
            return fulcrum_fail_in(err, status, "--profile");
        }
    }
    plan.scenario = job->subject.scenario;
    fulcrum_watch_start(&watch, context, "placements");
    enum fulcrum_status status = fulcrum_placements_find(&plan, &job->plan, err);
    fulcrum_progress_end(&watch);
    TRY(status);
    return report(job, context, err);
}

static enum fulcrum_status run_partition(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job *job = fulcrum_allocate(1, sizeof *job);
    enum fulcrum_status status = answer(data, context, job, err);
    fulcrum_subject_clear(&job->subject);
    free(job->partition);
    free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(COUNT, "instances", offsetof(struct settings, terms.instances), "N",
        .fallback = "7", .least = 1, .most = FULCRUM_GPU_PARTS_MOST,
        .help = "most processes on one GPU"),
    FULCRUM_OPTION(CHOICE, "envs", offsetof(struct settings, envs), "RULE",
        .fallback = "dealt", .choice = envs_name,
        .help = "how several instances share the environments: dealt out, or as many "
                "in each"),
    FULCRUM_OPTION(FILE, "partition", offsetof(struct settings, partition), "NAME",
        .help = "slices to choose from: a preset or JSON file; by default the one for "
                "this GPU"),
    FULCRUM_OPTION(TEXT, "profile", offsetof(struct settings, profile), "LIST",
        .help = "adds these slices, such as 4g.20gb,3g.20gb"),
    FULCRUM_OPTION(TEXT, "shares", offsetof(struct settings, shares), "LIST",
        .help = "adds these SM shares for simulation, agent and training, such as "
                "0.6,0.1,0.3"),
    FULCRUM_OPTION(NUMBER, "link", offsetof(struct settings, terms.share_byte_per_s),
        "RATE", .unit = "byte/s", .least = 1.0, .most = 1e15,
        .help = "copies between processes that share GPU memory; by default half the "
                "memory bandwidth, since a copy is read and written"),
    FULCRUM_OPTION(NUMBER, "slice-link",
        offsetof(struct settings, terms.slice_byte_per_s), "RATE", .unit = "byte/s",
        .fallback = "25e9", .least = 1.0, .most = 1e15,
        .help = "copies between slices, which share no memory and go through the host; "
                "the default is typical of PCIe 4.0 x16"),
    FULCRUM_OPTION(NUMBER, "overhead", offsetof(struct settings, terms.overhead_frac),
        "SHARE", .fallback = "0.045", .least = 0.0, .most = 10.0,
        .help = "extra time on a part of the GPU; GMI-DRL reports 4.5 %"),
    FULCRUM_OPTION(NUMBER, "switch", offsetof(struct settings, terms.switch_frac),
        "SHARE", .fallback = "0.045", .least = 0.0, .most = 10.0,
        .help = "extra GPU time where processes take turns; unpublished, assumed equal "
                "to --overhead"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Placements", rows, 0},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum partition -m dgx-a100 -w isaac-ant",
        "Isaac Gym's stages on one A100: alone, by turns, on shares, on slices"},
    {"fulcrum partition -m dgx-a100 -w isaac-ant --profile 4g.20gb,3g.20gb",
        "with one given layout of slices"},
    {"fulcrum partition -m dgx-a100 -w r2d2-atari --actors 256 --instances 4",
        "actors on the CPU, and 2 or 4 learners on equal parts of a GPU"},
    {"fulcrum partition -m dgx-h100 -w isaac-humanoid --format json -o p.json",
        "for 'fulcrum plot p.json -o p.svg'"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_partition = {
    .name = "partition",
    .summary = "place the stages of training on parts of one GPU: by turns, shares, "
               "slices",
    .description =
        "Predicts one GPU that runs simulation, agent and training in one process, in "
        "time-sliced processes, in processes with shares of the SMs (MPS), or in MIG "
        "slices. Shares are chosen to speed up the slowest stage, slices among all "
        "layouts that the GPU allows. Each placement has its rate, its speed-up over "
        "one process with a 90 % interval, utilisation, memory and performance per GPU "
        "watt; below it is what runs where.\n\nWorkloads whose actors step on the CPU "
        "are only placed as whole processes on equal parts, as with --set "
        "run.instances_per_gpu=N in 'fulcrum predict'.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_partition,
};
