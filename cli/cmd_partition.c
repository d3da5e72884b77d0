/* cmd_partition.c - `fulcrum partition`: stages of training on parts of one GPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/design_options.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/partition_plan.h"
#include "cli/partition_report.h"
#include "cli/solve_options.h"
#include "model/try.h"

/* Every row is answered again for each. */
#define PARTITION_DRAWS 100.0

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    const char *partition;
    const char *profile;
    const char *shares;
    double instances;
    int envs; /* enum of envs_name */
    double link_byte_per_s;
    double slice_link_byte_per_s;
    double overhead_frac;
    double switch_frac;
};

static const char *envs_name(int index)
{
    static const char *const names[] = {"dealt", "each"};
    return index >= 0 && index < 2 ? names[index] : NULL;
}

/* Inputs, read and prepared. Owns all. */
struct job {
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_partition *partition; /* NULL: none for this GPU */
    struct fulcrum_mig_layout layout;
    struct fulcrum_plan_terms terms;
    struct fulcrum_plan plan;
    char calibrations[200];
    char no_slices[300]; /* why there is no partition; "" */
};

static void job_free(struct job *job)
{
    fulcrum_scenario_free(job->scenario);
    fulcrum_design_inputs_free(&job->inputs);
    free(job->partition);
    free(job);
}

/* "0.5,0.3,0.2": one of each stage. */
static enum fulcrum_status read_shares(const char *text,
    struct fulcrum_context *context, struct fulcrum_plan_terms *terms,
    struct fulcrum_error *err)
{
    const char *rest = text;
    while (rest != NULL) {
        char item[40];
        double value = (double)NAN;
        size_t length = strcspn(rest, ",");
        (void)snprintf(
            item, sizeof item, "%.*s", (int)(length < 39 ? length : 39), rest);
        enum fulcrum_status status =
            fulcrum_number_parse("--shares", item, &value, NULL);
        if (status != FULCRUM_OK || !(value > 0.0 && value <= 1.0)) {
            status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "--shares: '%s': expected a share above 0 and at most 1", item);
        }
        if (status == FULCRUM_OK && terms->given_count == FULCRUM_STAGES_MOST) {
            status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "--shares: more than %d numbers", (int)FULCRUM_STAGES_MOST);
        }
        if (status != FULCRUM_OK) {
            context->exit_code = 2;
            return status;
        }
        terms->given_shares[terms->given_count++] = value;
        rest = rest[length] == ',' ? rest + length + 1 : NULL;
    }
    return FULCRUM_OK;
}

/* Shares belong to stages, which the workload decides. */
static enum fulcrum_status check_shares(const struct job *job,
    const struct fulcrum_design *design, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    size_t given = job->terms.given_count;
    size_t stages = design->workload.training.env_steps_per_train_step > 0.0 ? 3U : 2U;
    if (given > 0 && !fulcrum_design_is_resident(design)) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
            "--shares: workload %s simulates on the CPU: its stages are not placed "
            "apart",
            design->workload.name);
    }
    if (given > 0 && given != stages) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--shares: %zu numbers: expected %zu, of simulation, agent%s", given,
            stages, stages == 3 ? " and training" : "");
    }
    const double rounding = 1e-6;
    double sum = 0.0;
    for (size_t i = 0; i < given; i++) {
        sum += job->terms.given_shares[i];
    }
    if (sum > 1.0 + rounding) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--shares: they sum to %.6g: expected at most 1, as they are of one GPU",
            sum);
    }
    return FULCRUM_OK;
}

/* A GPU without a partition of its own has shares, not slices. */
static enum fulcrum_status find_partition(const struct settings *settings,
    const char *gpu, struct job *job, struct fulcrum_error *err)
{
    if (settings->partition != NULL) {
        enum fulcrum_status loaded =
            fulcrum_partition_load(settings->partition, &job->partition, err);
        if (loaded == FULCRUM_OK && strcmp(job->partition->mig.gpu, gpu) != 0) {
            fulcrum_message_warn("--partition %s is for the GPU \"%s\": its slices are "
                                 "taken for shares of \"%s\"",
                settings->partition, job->partition->mig.gpu, gpu);
        }
        return loaded;
    }
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_partition_of_gpu(gpu, &job->partition, &why);
    if (status == FULCRUM_ERR_UNSUPPORTED && settings->profile == NULL) {
        (void)snprintf(job->no_slices, sizeof job->no_slices, "%.290s", why.detail);
        return FULCRUM_OK;
    }
    return status == FULCRUM_OK ? status : fulcrum_fail(err, status, "%s", why.detail);
}

static enum fulcrum_status read_slices(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    if (settings->profile == NULL) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_mig_layout_parse(
        &job->partition->mig, settings->profile, &job->layout, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, "--profile");
    }
    job->terms.given_layout = &job->layout;
    return FULCRUM_OK;
}

static enum fulcrum_status read_terms(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    job->terms =
        (struct fulcrum_plan_terms){.share_byte_per_s = settings->link_byte_per_s,
            .slice_byte_per_s = settings->slice_link_byte_per_s,
            .overhead_frac = settings->overhead_frac,
            .switch_frac = settings->switch_frac,
            .envs_each = settings->envs,
            .instances = settings->instances};
    return settings->shares != NULL
               ? read_shares(settings->shares, context, &job->terms, err)
               : FULCRUM_OK;
}

static enum fulcrum_status prepare(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    struct fulcrum_design design;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_terms(settings, context, job, err));
    TRY_OR_END(
        fulcrum_design_inputs_load(&settings->design, context, &job->inputs, err));
    fulcrum_calibration_names(
        &job->inputs, job->calibrations, sizeof job->calibrations);
    TRY_OR_END(fulcrum_scenario_new(&job->inputs.scenario, &job->scenario, err));
    TRY_OR_END(fulcrum_scenario_design(job->scenario, &point, &design, err));
    TRY_OR_END(check_shares(job, &design, context, err));
    TRY_OR_END(find_partition(settings, design.machine.gpu.name, job, err));
    status = read_slices(settings, context, job, err);
end:
    job->terms.partition = job->partition;
    return status;
}

static enum fulcrum_status answer(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_predict_options options;
    enum fulcrum_status status = fulcrum_solve_settings_read(
        &settings->solve, PARTITION_DRAWS, context, &options, err);
    if (status == FULCRUM_OK) {
        status = prepare(settings, context, job, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    struct fulcrum_progress progress;
    const struct fulcrum_plan_ask ask = {
        job->scenario, &job->terms, &options, &progress, fulcrum_interrupt_watch()};
    fulcrum_progress_start(&progress, context);
    status = fulcrum_plan_make(&ask, &job->plan, err);
    fulcrum_progress_end(&progress);
    if (status != FULCRUM_OK) {
        return status;
    }
    if (job->no_slices[0] != '\0') {
        fulcrum_message_note(context, "no slices: %s", job->no_slices);
    }
    const struct fulcrum_plan_shown shown = {
        &job->plan, &job->terms, job->calibrations};
    return fulcrum_partition_report(&shown, context, err);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "placements");
    }
    enum fulcrum_status status = answer(data, context, job, err);
    job_free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    {.name = "instances",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = offsetof(struct settings, instances),
        .value = "N",
        .fallback = "7",
        .least = 1,
        .most = FULCRUM_GPU_PARTS_MOST,
        .help = "most processes on one GPU"},
    {.name = "envs",
        .kind = FULCRUM_OPTION_CHOICE,
        .offset = offsetof(struct settings, envs),
        .value = "RULE",
        .fallback = "dealt",
        .choice = envs_name,
        .help = "environments of several instances: dealt out, or as many in each"},
    {.name = "partition",
        .kind = FULCRUM_OPTION_FILE,
        .offset = offsetof(struct settings, partition),
        .value = "NAME",
        .help = "slices to choose from: a preset or a JSON file; found by the GPU's "
                "name unless given"},
    {.name = "profile",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, profile),
        .value = "LIST",
        .help = "also these slices, as 4g.20gb,3g.20gb"},
    {.name = "shares",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, shares),
        .value = "LIST",
        .help = "also these shares of the SMs, of simulation, agent and training, as "
                "0.6,0.1,0.3"},
    {.name = "link",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, link_byte_per_s),
        .value = "RATE",
        .unit = "byte/s",
        .least = 1.0,
        .most = 1e15,
        .help = "between processes that share the GPU's memory; half of its bandwidth "
                "unless given, a copy being read and written"},
    {.name = "slice-link",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, slice_link_byte_per_s),
        .value = "RATE",
        .unit = "byte/s",
        .fallback = "25e9",
        .least = 1.0,
        .most = 1e15,
        .help = "between slices, which have no memory in common: through the host, "
                "PCIe 4.0 x16 as usually reached"},
    {.name = "overhead",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, overhead_frac),
        .value = "SHARE",
        .fallback = "0.045",
        .least = 0.0,
        .most = 10.0,
        .help = "more time of whatever runs on a part; 4.5 % as GMI-DRL reports"},
    {.name = "switch",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, switch_frac),
        .value = "SHARE",
        .fallback = "0.045",
        .least = 0.0,
        .most = 10.0,
        .help = "more GPU time where processes take turns; nothing published: as "
                "--overhead"},
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
        "with one layout of slices that is asked for"},
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
        "Predicts what one GPU does when its stages (simulation, agent, training) run "
        "in one process, in processes that take turns, in processes that have shares "
        "of its SMs (MPS), or in slices of its SMs, bandwidth, cache and memory (MIG). "
        "Shares are those that make the slowest stage fastest; slices are chosen "
        "among every layout that the GPU allows. Each placement has its rate, its "
        "gain over one process with its interval (5 % to 95 %), utilisation, memory "
        "and performance per GPU watt; below it stands what runs where.\n\n"
        "Workloads whose actors step on the CPU are placed as whole processes on "
        "equal parts only, as --set run.instances_per_gpu=N of 'fulcrum predict' has "
        "them.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
