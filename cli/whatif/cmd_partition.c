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
#include "cli/output/report.h"
#include "cli/whatif/partition_plan.h"
#include "model/quantity.h"
#include "model/try.h"
#include "presets/io/json.h"

#define FULCRUM_PLACEMENTS_SCHEMA "fulcrum-placements"

struct fulcrum_plan_shown {
    const struct fulcrum_plan *plan;
    const struct fulcrum_plan_terms *terms;
    const char *calibrations;
};

/* Placements as a table, CSV or JSON. */

static const struct fulcrum_report_head placement_columns[] = {
    {"placement", FULCRUM_COLUMN_TEXT, NULL},
    {"instances", FULCRUM_COLUMN_NUMBER, "procs"},
    {"steps_per_s", FULCRUM_COLUMN_NUMBER, "steps/s"},
    FULCRUM_COLUMN_ENDS("speedup", "gain"),
    {"gpu_busy_frac", FULCRUM_COLUMN_NUMBER, "busy"},
    {"sm_held_frac", FULCRUM_COLUMN_NUMBER, "held"},
    {"sm_work_frac", FULCRUM_COLUMN_NUMBER, "SMs"},
    {"memory_byte", FULCRUM_COLUMN_NUMBER, NULL},
    {"gpu_w", FULCRUM_COLUMN_NUMBER, "GPU W"},
    {"steps_per_j_gpu", FULCRUM_COLUMN_NUMBER, "/J GPU"},
    {"layout", FULCRUM_COLUMN_TEXT, "slices"},
    {"reason", FULCRUM_COLUMN_TEXT, "cannot run"},
};

static const struct fulcrum_report_head part_columns[] = {
    {"placement", FULCRUM_COLUMN_TEXT, NULL},
    {"stages", FULCRUM_COLUMN_TEXT, NULL},
    {"part_instances", FULCRUM_COLUMN_NUMBER, "procs"},
    {"sm_frac", FULCRUM_COLUMN_NUMBER, "of SMs"},
    {"dram_frac", FULCRUM_COLUMN_NUMBER, "bandwidth"},
    {"profile", FULCRUM_COLUMN_TEXT, "slice"},
    {"round_s", FULCRUM_COLUMN_NUMBER, "round"},
    {"busy_frac", FULCRUM_COLUMN_NUMBER, "busy"},
    {"is_slowest", FULCRUM_COLUMN_TEXT, "slowest"},
};

/* Parts with the columns of their placement, for files. */
static const struct fulcrum_report_head flat_columns[] = {
    {"placement", FULCRUM_COLUMN_TEXT, NULL},
    {"layout", FULCRUM_COLUMN_TEXT, NULL},
    {"instances", FULCRUM_COLUMN_NUMBER, NULL},
    {"steps_per_s", FULCRUM_COLUMN_NUMBER, NULL},
    FULCRUM_COLUMN_ENDS("speedup", NULL),
    {"gpu_busy_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"sm_held_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"sm_work_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"memory_byte", FULCRUM_COLUMN_NUMBER, NULL},
    {"gpu_w", FULCRUM_COLUMN_NUMBER, NULL},
    {"steps_per_j_gpu", FULCRUM_COLUMN_NUMBER, NULL},
    {"reason", FULCRUM_COLUMN_TEXT, NULL},
    {"stages", FULCRUM_COLUMN_TEXT, NULL},
    {"part_instances", FULCRUM_COLUMN_NUMBER, NULL},
    {"sm_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"dram_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"profile", FULCRUM_COLUMN_TEXT, NULL},
    {"round_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"busy_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"is_slowest", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_report_head stage_columns[] = {
    {"stage", FULCRUM_COLUMN_TEXT, NULL},
    {"round_s", FULCRUM_COLUMN_NUMBER, "round"},
    {"host_s", FULCRUM_COLUMN_NUMBER, "launches, host"},
    {"latency_s", FULCRUM_COLUMN_NUMBER, "no share helps"},
    {"sm_s", FULCRUM_COLUMN_NUMBER, "by SMs"},
    {"dram_s", FULCRUM_COLUMN_NUMBER, "by bandwidth"},
    {"memory_byte", FULCRUM_COLUMN_NUMBER, NULL},
};

/* Of a placement that cannot run nothing is known. */
static double if_runs(const struct fulcrum_plan_row *row, double value)
{
    bool runs = !isnan(row->steps_per_s);
    return runs ? value : FULCRUM_UNKNOWN;
}

static void add_figures(
    struct fulcrum_report *report, const struct fulcrum_plan_row *row)
{
    const struct fulcrum_placed *placed = &row->placed;
    FULCRUM_REPORT_NUMBERS(report, if_runs(row, placed->instances), row->steps_per_s,
        row->speedup, row->speedup_lo, row->speedup_hi, row->gpu_busy_frac,
        if_runs(row, placed->sm_held_frac), if_runs(row, placed->sm_work_frac),
        if_runs(row, placed->memory_byte), row->gpu_w, row->steps_per_j_gpu);
}

static struct fulcrum_report *placements_of(const struct fulcrum_plan *plan)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("placements", placement_columns);
    for (size_t i = 0; i < plan->count; i++) {
        const struct fulcrum_plan_row *row = &plan->rows[i];
        fulcrum_report_add_text(report, row->name);
        add_figures(report, row);
        FULCRUM_REPORT_TEXTS(report, row->layout, row->reason);
    }
    return report;
}

/* The cells of part k; of a placement without parts they are empty. */
static void add_part(struct fulcrum_report *report,
    const struct fulcrum_plan_shown *shown, const struct fulcrum_plan_row *row,
    size_t k)
{
    static const struct fulcrum_gpu_part none = {.sm_frac = (double)NAN,
        .instances = (double)NAN,
        .dram_frac = (double)NAN,
        .round_s = (double)NAN,
        .busy_frac = (double)NAN,
        .profile = FULCRUM_MIG_PROFILES_MOST};
    const struct fulcrum_placed *placed = &row->placed;
    bool is_known = k < placed->part_count;
    const struct fulcrum_gpu_part *part = is_known ? &placed->parts[k] : &none;
    char stages[120];
    fulcrum_plan_stages_text(&shown->plan->loop, part->stages, stages, sizeof stages);
    fulcrum_report_add_text(report, stages);
    FULCRUM_REPORT_NUMBERS(report, part->instances, part->sm_frac, part->dram_frac);
    const struct fulcrum_plan_terms *terms = shown->terms;
    bool is_slice =
        terms->partition != NULL && part->profile < terms->partition->mig.profile_count;
    const char *profile_name =
        is_slice ? terms->partition->mig.profiles[part->profile].name : "";
    fulcrum_report_add_text(report, profile_name);
    FULCRUM_REPORT_NUMBERS(report, part->round_s, part->busy_frac);
    fulcrum_report_add_text(report,
        is_known && placed->part_count > 1 && k == placed->slowest ? "yes" : "");
}

static struct fulcrum_report *stages_of(const struct fulcrum_gpu_loop *loop)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("stages", stage_columns);
    for (size_t i = 0; i < loop->count; i++) {
        const struct fulcrum_gpu_stage *stage = &loop->stages[i];
        const struct fulcrum_gpu_time *a = &stage->per_step;
        const struct fulcrum_gpu_time *b = &stage->per_round;
        fulcrum_report_add_text(report, stage->name);
        FULCRUM_REPORT_NUMBERS(report, fulcrum_gpu_stage_s(stage, 1.0, 1.0),
            a->host_s + b->host_s, a->latency_s + b->latency_s, a->sm_s + b->sm_s,
            a->dram_s + b->dram_s, stage->memory_byte + stage->env_memory_byte);
    }
    return report;
}

static void print_head(const struct fulcrum_plan_shown *shown, FILE *stream)
{
    const struct fulcrum_design *design = &shown->plan->design;
    const struct fulcrum_partition *partition = shown->terms->partition;
    (void)fprintf(stream,
        "machine      %s, one %s\nworkload     %s\ncalibration  %s\npartition    %s\n",
        design->machine.name, design->machine.gpu.name, design->workload.name,
        shown->calibrations, partition != NULL ? partition->mig.name : "none");
    if (shown->plan->loop.count > 0) {
        (void)fprintf(stream, "round        %.6g agent steps of %.6g environments%s\n",
            shown->plan->loop.steps, design->workload.simulation.env_count,
            shown->terms->envs_each ? ", as many in each instance"
                                    : ", dealt out to instances");
    }
    if (shown->plan->draws > 0.0) {
        (void)fprintf(stream, "intervals    of %.6g draws\n", shown->plan->draws);
    }
    (void)fputs(shown->plan->loop.count > 0
                    ? "procs        processes; held: share of the SMs that they hold; "
                      "SMs: share that computes\n"
                      "busy         share of a process's time, its host's part too; "
                      "slowest: others wait for it\n"
                    : "procs        processes; busy: GPU at work, launches too\n",
        stream);
    (void)fputs(
        "times        in s; steps/s of all processes, /J GPU: steps per joule of "
        "the GPU\n\n",
        stream);
}

static void print_tables(const struct fulcrum_plan_shown *shown, FILE *stream)
{
    struct fulcrum_report *placements = placements_of(shown->plan);
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("parts", part_columns);
    for (size_t i = 0; i < shown->plan->count; i++) {
        const struct fulcrum_plan_row *row = &shown->plan->rows[i];
        for (size_t k = 0; k < row->placed.part_count; k++) {
            fulcrum_report_add_text(report, row->name);
            add_part(report, shown, row, k);
        }
    }
    struct fulcrum_report *parts = report;
    struct fulcrum_report *stages = stages_of(&shown->plan->loop);
    print_head(shown, stream);
    /* Watts are steps per second over steps per joule; that it fits is the verdict. */
    fulcrum_report_hide(placements, "gpu_w");
    fulcrum_report_hide(placements, "memory_byte");
    fulcrum_report_hide_empty(placements);
    fulcrum_report_hide_empty(parts);
    fulcrum_report_print_table(placements, stream, 0);
    if (!fulcrum_report_is_empty(parts)) {
        (void)fputc('\n', stream);
        fulcrum_report_print_table(parts, stream, 0);
        (void)fputc('\n', stream);
        fulcrum_report_print_table(stages, stream, 0);
    }
    fulcrum_report_free(placements);
    fulcrum_report_free(parts);
    fulcrum_report_free(stages);
}

static enum fulcrum_status print_json(const struct fulcrum_plan_shown *shown,
    const struct fulcrum_report *flat, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &shown->plan->design;
    const struct fulcrum_plan_terms *terms = shown->terms;
    struct fulcrum_json *document = fulcrum_report_document(FULCRUM_PLACEMENTS_SCHEMA);
    struct fulcrum_report *placements = placements_of(shown->plan);
    struct fulcrum_report *stages = stages_of(&shown->plan->loop);
    fulcrum_json_add_text(document, "machine", design->machine.name);
    fulcrum_json_add_text(document, "gpu", design->machine.gpu.name);
    fulcrum_json_add_text(document, "workload", design->workload.name);
    fulcrum_json_add_text(document, "calibration", shown->calibrations);
    fulcrum_json_add_text(document, "partition",
        terms->partition != NULL ? terms->partition->mig.name : "");
    fulcrum_json_add_number(document, "round_steps",
        shown->plan->loop.count > 0 ? shown->plan->loop.steps : FULCRUM_UNKNOWN);
    fulcrum_json_add_number(document, "overhead_frac", terms->overhead_frac);
    fulcrum_json_add_number(document, "switch_frac", terms->switch_frac);
    fulcrum_json_add_text(document, "envs", terms->envs_each ? "each" : "dealt");
    fulcrum_json_add_number(document, "draws", shown->plan->draws);
    fulcrum_report_to_json(placements, document);
    fulcrum_report_to_json(flat, document);
    fulcrum_report_to_json(stages, document);
    fulcrum_report_free(placements);
    fulcrum_report_free(stages);
    return fulcrum_report_print_document(document, context, err);
}

/*
 * Prints the placements and what runs where; CSV has one row for each part of each
 * placement, with the placement's own columns repeated.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status partition_report(const struct fulcrum_plan_shown *shown,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_TABLE) {
        print_tables(shown, context->out);
        return FULCRUM_OK;
    }
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("parts", flat_columns);
    for (size_t i = 0; i < shown->plan->count; i++) {
        const struct fulcrum_plan_row *row = &shown->plan->rows[i];
        size_t parts = row->placed.part_count > 0 ? row->placed.part_count : 1;
        for (size_t k = 0; k < parts; k++) {
            FULCRUM_REPORT_TEXTS(report, row->name, row->layout);
            add_figures(report, row);
            fulcrum_report_add_text(report, row->reason);
            add_part(report, shown, row, k);
        }
    }
    struct fulcrum_report *flat = report;
    enum fulcrum_status status =
        context->format == FULCRUM_FORMAT_JSON
            ? print_json(shown, flat, context, err)
            : fulcrum_report_print(flat, FULCRUM_PLACEMENTS_SCHEMA, context, err);
    fulcrum_report_free(flat);
    return status;
}

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

/* "0.5,0.3,0.2": one of each stage. */
static enum fulcrum_status read_shares(const char *text,
    struct fulcrum_context *context, struct fulcrum_plan_terms *terms,
    struct fulcrum_error *err)
{
    const char *rest = text;
    enum fulcrum_status status = FULCRUM_OK;
    while (rest != NULL && status == FULCRUM_OK) {
        double value = (double)NAN;
        char *item = fulcrum_list_part(&rest);
        status = fulcrum_number_parse("--shares", item, &value, NULL);
        if (status != FULCRUM_OK || !(value > 0.0 && value <= 1.0)) {
            status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "--shares: '%s': expected a share above 0 and at most 1", item);
        }
        if (status == FULCRUM_OK && terms->given_count == FULCRUM_STAGES_MOST) {
            status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "--shares: more than %d numbers", (int)FULCRUM_STAGES_MOST);
        }
        if (status == FULCRUM_OK) {
            terms->given_shares[terms->given_count++] = value;
        } else {
            context->exit_code = 2;
        }
        free(item);
    }
    return status;
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
    TRY(read_terms(settings, context, job, err));
    TRY(fulcrum_design_inputs_load(&settings->design, context, &job->inputs, err));
    fulcrum_calibration_names(
        &job->inputs, job->calibrations, sizeof job->calibrations);
    TRY(fulcrum_scenario_new(&job->inputs.scenario, &job->scenario, err));
    TRY(fulcrum_scenario_design(job->scenario, &point, &design, err));
    /* Shares belong to stages, which the workload decides. */
    size_t given = job->terms.given_count;
    size_t stages = design.workload.training.env_steps_per_train_step > 0.0 ? 3U : 2U;
    FULCRUM_USAGE_IF(given > 0 && !fulcrum_design_is_resident(&design), context, err,
        FULCRUM_ERR_UNSUPPORTED,
        "--shares: workload %s simulates on the CPU: its stages are not placed "
        "apart",
        design.workload.name);
    FULCRUM_USAGE_IF(given > 0 && given != stages, context, err, FULCRUM_ERR_RANGE,
        "--shares: %zu numbers: expected %zu, of simulation, agent%s", given, stages,
        stages == 3 ? " and training" : "");
    const double rounding = 1e-6;
    double sum = 0.0;
    for (size_t i = 0; i < given; i++) {
        sum += job->terms.given_shares[i];
    }
    FULCRUM_USAGE_IF(sum > 1.0 + rounding, context, err, FULCRUM_ERR_RANGE,
        "--shares: they sum to %.6g: expected at most 1, as they are of one GPU", sum);
    TRY(find_partition(settings, design.machine.gpu.name, job, err));
    job->terms.partition = job->partition;
    return read_slices(settings, context, job, err);
}

static enum fulcrum_status answer(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_predict_options options;
    TRY(fulcrum_solve_settings_read(
        &settings->solve, PARTITION_DRAWS, context, &options, err));
    TRY(prepare(settings, context, job, err));
    struct fulcrum_progress progress;
    const struct fulcrum_plan_ask ask = {
        job->scenario, &job->terms, &options, &progress, fulcrum_interrupt_watch()};
    fulcrum_progress_start(&progress, context);
    enum fulcrum_status status = fulcrum_plan_make(&ask, &job->plan, err);
    fulcrum_progress_end(&progress);
    TRY(status);
    if (job->no_slices[0] != '\0') {
        fulcrum_message_note(context, "no slices: %s", job->no_slices);
    }
    const struct fulcrum_plan_shown shown = {
        &job->plan, &job->terms, job->calibrations};
    return partition_report(&shown, context, err);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job *job = fulcrum_allocate(1, sizeof *job);
    enum fulcrum_status status = answer(data, context, job, err);
    fulcrum_scenario_free(job->scenario);
    fulcrum_design_inputs_free(&job->inputs);
    free(job->partition);
    free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(COUNT, "instances", offsetof(struct settings, instances), "N",
        .fallback = "7", .least = 1, .most = FULCRUM_GPU_PARTS_MOST,
        .help = "most processes on one GPU"),
    FULCRUM_OPTION(CHOICE, "envs", offsetof(struct settings, envs), "RULE",
        .fallback = "dealt", .choice = envs_name,
        .help = "environments of several instances: dealt out, or as many in each"),
    FULCRUM_OPTION(FILE, "partition", offsetof(struct settings, partition), "NAME",
        .help = "slices to choose from: a preset or a JSON file; found by the GPU's "
                "name unless given"),
    FULCRUM_OPTION(TEXT, "profile", offsetof(struct settings, profile), "LIST",
        .help = "also these slices, as 4g.20gb,3g.20gb"),
    FULCRUM_OPTION(TEXT, "shares", offsetof(struct settings, shares), "LIST",
        .help = "also these shares of the SMs, of simulation, agent and training, as "
                "0.6,0.1,0.3"),
    FULCRUM_OPTION(NUMBER, "link", offsetof(struct settings, link_byte_per_s), "RATE",
        .unit = "byte/s", .least = 1.0, .most = 1e15,
        .help = "between processes that share the GPU's memory; half of its bandwidth "
                "unless given, a copy being read and written"),
    FULCRUM_OPTION(NUMBER, "slice-link",
        offsetof(struct settings, slice_link_byte_per_s), "RATE", .unit = "byte/s",
        .fallback = "25e9", .least = 1.0, .most = 1e15,
        .help = "between slices, which have no memory in common: through the host, "
                "PCIe 4.0 x16 as usually reached"),
    FULCRUM_OPTION(NUMBER, "overhead", offsetof(struct settings, overhead_frac),
        "SHARE", .fallback = "0.045", .least = 0.0, .most = 10.0,
        .help = "more time of whatever runs on a part; 4.5 % as GMI-DRL reports"),
    FULCRUM_OPTION(NUMBER, "switch", offsetof(struct settings, switch_frac), "SHARE",
        .fallback = "0.045", .least = 0.0, .most = 10.0,
        .help = "more GPU time where processes take turns; nothing published: as "
                "--overhead"),
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
