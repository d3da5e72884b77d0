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
#include "cli/output/report.h"
#include "cli/progress.h"
#include "cli/range.h"
#include "cli/whatif/cluster_job.h"
#include "model/predict/solver.h"
#include "model/try.h"
#include "presets/io/json.h"

/* Borrowed. */
struct fulcrum_cluster_answer {
    const struct fulcrum_cluster_plan *plan;
    const struct fulcrum_cluster_rows *rows;
    const char *calibrations;
};

/* What `fulcrum cluster` answers, as tables, CSV and JSON. */

/* In the order of add_row. */
static const struct fulcrum_report_head columns[] = {
    {"scaling", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu_count", FULCRUM_COLUMN_NUMBER, "GPUs"},
    {"node_count", FULCRUM_COLUMN_NUMBER, "nodes"},
    {"model_parallel_gpu_count", FULCRUM_COLUMN_NUMBER, "split"},
    {"worker_count", FULCRUM_COLUMN_NUMBER, "workers"},
    {"train_batch", FULCRUM_COLUMN_NUMBER, "batch"},
    FULCRUM_COLUMN_ENDS("compute_s", NULL),
    FULCRUM_COLUMN_ENDS("allreduce_s", "allreduce"),
    FULCRUM_COLUMN_ENDS("train_step_s", "step"),
    FULCRUM_COLUMN_ENDS("efficiency_frac", "efficiency"),
    FULCRUM_COLUMN_ENDS("epochs_rel", "epochs"),
    FULCRUM_COLUMN_ENDS("steps_per_s", "steps/s"),
    FULCRUM_COLUMN_ENDS("speedup", NULL),
    FULCRUM_COLUMN_ENDS("runtime_s", "runtime"),
    FULCRUM_COLUMN_ENDS("quality_runtime_s", "to quality"),
    FULCRUM_COLUMN_ENDS("quality_speedup", "speedup"),
    {"best", FULCRUM_COLUMN_TEXT, NULL},
    {"best_frac", FULCRUM_COLUMN_NUMBER, "share"},
    FULCRUM_COLUMN_ENDS("hybrid_gain", NULL),
    {"hybrid_sooner_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"solver_error_rel", FULCRUM_COLUMN_NUMBER, NULL},
};

static void add_ends(
    struct fulcrum_report *report, double value, struct fulcrum_interval interval)
{
    FULCRUM_REPORT_NUMBERS(report, value, interval.lo, interval.hi);
}

static void add_row(
    struct fulcrum_report *report, const struct fulcrum_cluster_row *row)
{
    fulcrum_report_add_text(report, fulcrum_batch_scaling_name(row->scaling));
    FULCRUM_REPORT_NUMBERS(report, row->device_count, row->layout.node_count,
        row->layout.model_parallel_count, row->step.worker_count,
        row->step.global_batch_size);
#define X(name, member)                                                                \
    add_ends(report, row->member, row->interval[FULCRUM_CLUSTER_##name]);
    FULCRUM_CLUSTER_VALUE_LIST(X)
#undef X
    const struct fulcrum_interval gain = {row->gain.lo, row->gain.hi};
    fulcrum_report_add_text(report, row->is_best ? "best" : "");
    fulcrum_report_add_number(report, row->best_frac);
    add_ends(report, row->gain.value, gain);
    FULCRUM_REPORT_NUMBERS(report, row->sooner_frac, row->solver_error_rel);
}

static struct fulcrum_report *report_of(const struct fulcrum_cluster_rows *rows)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("rows", columns);
    for (size_t i = 0; i < rows->count; i++) {
        add_row(report, &rows->rows[i]);
    }
    return report;
}

static const char *scope_name(const struct fulcrum_cluster_plan *plan)
{
    return plan->scope == FULCRUM_CLUSTER_STEPS ? "training steps alone"
           : fulcrum_design_is_resident(plan->design)
               ? "simulation on the GPU, inference and training"
               : "actors, inference and training";
}

/* No watts are told here: where they come from does not matter. */
static unsigned all_flags(const struct fulcrum_cluster_rows *rows)
{
    unsigned flags = 0;
    for (size_t i = 0; i < rows->count; i++) {
        flags |= rows->rows[i].flags;
    }
    return flags & ~(unsigned)FULCRUM_FLAG_WATTS_ASSUMED;
}

static void add_crossovers(
    struct fulcrum_json *document, const struct fulcrum_cluster_rows *rows)
{
    struct fulcrum_json *crossovers = fulcrum_json_add_array(document, "crossovers");
    for (size_t i = 0; i < rows->crossover_count; i++) {
        const struct fulcrum_cluster_crossover *found = &rows->crossovers[i];
        struct fulcrum_json *object = fulcrum_json_append_object(crossovers);
        fulcrum_json_add_text(
            object, "scaling", fulcrum_batch_scaling_name(found->scaling));
        fulcrum_json_add_number(
            object, "model_parallel_gpu_count", found->model_parallel_count);
        fulcrum_json_add_number(object, "gpu_count", found->device_count);
        fulcrum_json_add_number(object, "gpu_count_lo", found->interval.lo);
        fulcrum_json_add_number(object, "gpu_count_hi", found->interval.hi);
        fulcrum_json_add_number(object, "found_frac", found->found_frac);
    }
}

static enum fulcrum_status print_json(const struct fulcrum_cluster_answer *answer,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = answer->plan->design;
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-cluster");
    fulcrum_json_add_text(document, "machine", design->machine.name);
    fulcrum_json_add_text(document, "machine_title", design->machine.title);
    fulcrum_json_add_text(document, "workload", design->workload.name);
    fulcrum_json_add_text(document, "calibration", answer->calibrations);
    fulcrum_json_add_text(document, "scope", scope_name(answer->plan));
    fulcrum_json_add_number(document, "actors_per_gpu", answer->plan->actors_per_gpu);
    fulcrum_json_add_number(
        document, "critical_batch_size", design->workload.training.critical_batch_size);
    fulcrum_json_add_text(document, "allreduce",
        fulcrum_allreduce_name(design->workload.training.allreduce));
    const struct fulcrum_link *link = &design->machine.link;
    struct fulcrum_json *object = fulcrum_json_add_object(document, "link");
    fulcrum_json_add_number(object, "peer_byte_per_s", link->peer_byte_per_s);
    fulcrum_json_add_number(object, "peer_latency_s", link->peer_latency_s);
    fulcrum_json_add_number(object, "network_byte_per_s", link->network_byte_per_s);
    fulcrum_json_add_number(object, "network_latency_s", link->network_latency_s);
    fulcrum_json_add_flag(document, "is_by_quality", answer->rows->is_by_quality);
    fulcrum_json_add_text(document, "method",
        answer->plan->scope == FULCRUM_CLUSTER_STEPS
            ? ""
            : fulcrum_method_name(answer->plan->predict.solver.method));
    fulcrum_json_add_number(
        document, "interval_draws", (double)answer->rows->draw_count);
    struct fulcrum_report *report = report_of(answer->rows);
    fulcrum_report_to_json(report, document);
    fulcrum_report_free(report);
    add_crossovers(document, answer->rows);
    fulcrum_flags_to_json(all_flags(answer->rows), document);
    return fulcrum_report_print_document(document, context, err);
}

static void print_head(const struct fulcrum_cluster_answer *answer, FILE *stream)
{
    const struct fulcrum_design *design = answer->plan->design;
    char peers[32];
    char network[32];
    (void)snprintf(
        peers, sizeof peers, "%.4g", design->machine.link.peer_byte_per_s / 1e9);
    (void)snprintf(
        network, sizeof network, "%.4g", design->machine.link.network_byte_per_s / 1e9);
    (void)fprintf(stream,
        "machine      %s\nworkload     %s\ncalibration  %s\npredicted    %s\n"
        "links        %s GB/s out of a GPU to its peers, %s GB/s out of a machine of "
        "%.6g GPUs\n",
        design->machine.name, design->workload.name, answer->calibrations,
        scope_name(answer->plan),
        isnan(design->machine.link.peer_byte_per_s) ? "unknown" : peers,
        isnan(design->machine.link.network_byte_per_s) ? "unknown" : network,
        design->machine.gpu.count);
    if (fulcrum_design_is_resident(design)) {
        (void)fprintf(stream, "actors       %s\n", fulcrum_actors_rule_none);
    } else if (!isnan(answer->plan->actors_per_gpu)) {
        (void)fprintf(
            stream, "actors       %.6g for each GPU\n", answer->plan->actors_per_gpu);
    }
}

static void hide(
    struct fulcrum_report *report, const char *const *keys, size_t key_count)
{
    for (size_t i = 0; i < key_count; i++) {
        fulcrum_report_hide(report, keys[i]);
    }
}

/*
 * What people can do without on a narrow screen: a step less its all-reduce is the
 * computing, GPUs over those of a worker are the workers. Times to a quality, where any
 * is unknown, are those to the same steps or nothing.
 */
static void hide_columns(
    struct fulcrum_report *report, const struct fulcrum_cluster_rows *rows)
{
    static const char *const derived[] = {
        "worker_count", "compute_s", "efficiency_frac"};
    static const char *const by_quality[] = {
        "epochs_rel", "quality_runtime_s", "quality_speedup"};
    static const char *const by_steps[] = {"runtime_s", "speedup"};
    static const char *const of_split[] = {
        "model_parallel_gpu_count", "best", "best_frac"};
    bool is_unsplit =
        fulcrum_report_constant(report, "model_parallel_gpu_count") <= 1.0;
    hide(report, derived, sizeof derived / sizeof derived[0]);
    /* All ends but those of what the table is about. */
    static const char *const aside[] = {"compute_s_lo", "compute_s_hi",
        "allreduce_s_lo", "allreduce_s_hi", "train_step_s_lo", "train_step_s_hi",
        "efficiency_frac_lo", "efficiency_frac_hi", "epochs_rel_lo", "epochs_rel_hi",
        "runtime_s_lo", "runtime_s_hi", "hybrid_gain", "hybrid_gain_lo",
        "hybrid_gain_hi", "hybrid_sooner_frac", "solver_error_rel"};
    static const char *const of_steps[] = {
        "steps_per_s_lo", "steps_per_s_hi", "speedup_lo", "speedup_hi"};
    static const char *const of_quality[] = {"quality_runtime_s_lo",
        "quality_runtime_s_hi", "quality_speedup_lo", "quality_speedup_hi"};
    bool has_ends = rows->draw_count > 0;
    hide(report, aside, sizeof aside / sizeof aside[0]);
    if (rows->is_by_quality || !has_ends) {
        hide(report, of_steps, sizeof of_steps / sizeof of_steps[0]);
    }
    if (!rows->is_by_quality || !has_ends) {
        hide(report, of_quality, sizeof of_quality / sizeof of_quality[0]);
    }
    if (!has_ends) {
        fulcrum_report_hide(report, "best_frac");
    }
    if (rows->is_by_quality) {
        hide(report, by_steps, sizeof by_steps / sizeof by_steps[0]);
    } else {
        hide(report, by_quality, sizeof by_quality / sizeof by_quality[0]);
    }
    if (is_unsplit) { /* one way to use so many GPUs is the best one */
        hide(report, of_split, sizeof of_split / sizeof of_split[0]);
    }
}

/* In how many draws workers of so many GPUs are sooner done, where that is no matter of
 * course. */
static void print_sooner(const struct fulcrum_cluster_rows *rows,
    const struct fulcrum_cluster_crossover *of, FILE *stream)
{
    const char *between = "  sooner in draws:";
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_cluster_row *row = &rows->rows[i];
        bool is_its =
            row->scaling == of->scaling &&
            fabs(row->layout.model_parallel_count - of->model_parallel_count) < 0.5;
        if (is_its && row->sooner_frac > 0.0 && row->sooner_frac < 1.0) {
            (void)fprintf(stream, "%s %.3g %% with %.6g GPUs", between,
                100.0 * row->sooner_frac, row->device_count);
            between = ",";
        }
    }
    (void)fputs(between[0] == ',' ? "\n" : "", stream);
}

static void print_crossovers(const struct fulcrum_cluster_rows *rows, FILE *stream)
{
    const char *what = rows->is_by_quality ? "the same quality" : "as many steps";
    for (size_t i = 0; i < rows->crossover_count; i++) {
        const struct fulcrum_cluster_crossover *found = &rows->crossovers[i];
        const char *scaling = fulcrum_batch_scaling_name(found->scaling);
        if (isnan(found->device_count)) {
            (void)fprintf(stream,
                "%s scaling: workers of %.6g GPUs are never sooner done with %s than "
                "data-parallel training",
                scaling, found->model_parallel_count, what);
        } else {
            (void)fprintf(stream,
                "%s scaling: workers of %.6g GPUs are sooner done with %s from %.6g "
                "GPUs on",
                scaling, found->model_parallel_count, what, found->device_count);
        }
        /* "; 90 % of the draws: from 32 to 128 GPUs on, or never": where draws begin to
         * win. */
        const struct fulcrum_interval *at = &found->interval;
        if (isnan(at->lo) || isinf(at->lo)) {
            if (found->found_frac > 0.0) {
                (void)fprintf(stream, "; in %.2g %% of the draws they are",
                    100.0 * found->found_frac);
            }
        } else if (isinf(at->hi)) {
            (void)fprintf(stream,
                "; 90 %% of the draws: from %.6g on, or with none of these numbers "
                "(%.3g "
                "%%)",
                at->lo, 100.0 * (1.0 - found->found_frac));
        } else if (at->hi > at->lo) {
            (void)fprintf(
                stream, "; 90 %% of the draws: from %.6g to %.6g on", at->lo, at->hi);
        } else {
            (void)fputs("; the same in 90 % of the draws", stream);
        }
        (void)fputc('\n', stream);
        print_sooner(rows, found, stream);
    }
}

/* The largest of all rows. */
static double solver_error_rel(const struct fulcrum_cluster_rows *rows)
{
    double most = 0.0;
    for (size_t i = 0; i < rows->count; i++) {
        most = fmax(most, rows->rows[i].solver_error_rel);
    }
    return most;
}

static void print_notes(const struct fulcrum_cluster_answer *answer, FILE *stream)
{
    const struct fulcrum_cluster_rows *rows = answer->rows;
    if (solver_error_rel(rows) > 0.0) {
        (void)fprintf(stream, "note: solved by method %s, to within %.2g %% at 95 %%\n",
            fulcrum_method_name(answer->plan->predict.solver.method),
            100.0 * solver_error_rel(rows));
    }
    if (!rows->is_by_quality) {
        (void)fputs(
            "note: times to a quality need workload.training.critical_batch_size and "
            "batch_size\n",
            stream);
    }
    if (rows->left_out_count > 0) {
        (void)fprintf(stream,
            "note: %zu point(s) left out: GPUs that cannot be spread evenly, or more "
            "workers than the batch has samples\n",
            rows->left_out_count);
    }
    unsigned flags = all_flags(rows);
    for (int i = 0; i < (int)FULCRUM_FLAG_COUNT; i++) {
        if ((flags & (1U << (unsigned)i)) != 0U) {
            (void)fprintf(
                stream, "note: %s\n", fulcrum_flag_text((enum fulcrum_flag_index)i));
        }
    }
}

/* fails    FULCRUM_ERR_NO_MEMORY */
static enum fulcrum_status cluster_report(const struct fulcrum_cluster_answer *answer,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_JSON) {
        return print_json(answer, context, err);
    }
    struct fulcrum_report *report = report_of(answer->rows);
    enum fulcrum_status status = FULCRUM_OK;
    if (context->format == FULCRUM_FORMAT_CSV) {
        status = fulcrum_report_print(report, "fulcrum-cluster", context, err);
    } else {
        print_head(answer, context->out);
        /* The words of the table's heading. */
        const struct fulcrum_cluster_rows *rows = answer->rows;
        FILE *stream = context->out;
        bool is_unsplit =
            fulcrum_report_constant(report, "model_parallel_gpu_count") <= 1.0;
        (void)fputs(is_unsplit
                        ? "workers      one GPU each: data-parallel training\n"
                        : "split        GPUs that share the network of one worker; "
                          "1: data-parallel training\n",
            stream);
        (void)fputs(
            "scaling      weak: the batch grows with the workers; strong: it stays\n"
            "times        in s; step: of training, with as much of its allreduce as "
            "computing does not hide\n",
            stream);
        if (rows->is_by_quality) {
            (void)fputs("epochs       samples to the same quality, over those with the "
                        "workload's own batch\n",
                stream);
        }
        if (rows->draw_count > 0) {
            (void)fprintf(stream, "5 %%, 95 %%    of %zu draws%s\n", rows->draw_count,
                is_unsplit ? "" : "; share: of those in which it is the best");
        }
        (void)fputc('\n', stream);
        hide_columns(report, answer->rows);
        fulcrum_report_print_table(report, context->out, 0);
        (void)fputc('\n', context->out);
        print_crossovers(answer->rows, context->out);
        print_notes(answer, context->out);
    }
    fulcrum_report_free(report);
    return status;
}

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
        plan.actors_per_gpu =
            settings->steps_alone ? (double)NAN : settings->actors_per_gpu;
        const struct fulcrum_cluster_answer found = {
            &plan, &points, subject->calibrations};
        status = cluster_report(&found, context, err);
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
