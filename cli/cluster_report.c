/* cluster_report.c - what `fulcrum cluster` answers, as tables, CSV and JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cluster_report.h"

#include <math.h>
#include <stdio.h>

#include "cli/actors_rule.h"
#include "cli/flags.h"
#include "cli/report.h"
#include "model/solver.h"
#include "presets/json.h"

/* Speed-ups of two devices that a curve of parameters goes through. */
enum { FAMILY_POINTS = 21 };

#define WITH_ENDS(key, title)                                                          \
    {key, FULCRUM_COLUMN_NUMBER, title}, {key "_lo", FULCRUM_COLUMN_NUMBER, "5 %"},    \
    {                                                                                  \
        key "_hi", FULCRUM_COLUMN_NUMBER, "95 %"                                       \
    }

/* In the order of add_row. */
static const struct fulcrum_column columns[] = {
    {"scaling", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu_count", FULCRUM_COLUMN_NUMBER, "GPUs"},
    {"node_count", FULCRUM_COLUMN_NUMBER, "nodes"},
    {"model_parallel_gpu_count", FULCRUM_COLUMN_NUMBER, "split"},
    {"worker_count", FULCRUM_COLUMN_NUMBER, "workers"},
    {"train_batch", FULCRUM_COLUMN_NUMBER, "batch"},
    WITH_ENDS("compute_s", NULL),
    WITH_ENDS("allreduce_s", "allreduce"),
    WITH_ENDS("train_step_s", "step"),
    WITH_ENDS("efficiency_frac", "efficiency"),
    WITH_ENDS("epochs_rel", "epochs"),
    WITH_ENDS("steps_per_s", "steps/s"),
    WITH_ENDS("speedup", NULL),
    WITH_ENDS("runtime_s", "runtime"),
    WITH_ENDS("quality_runtime_s", "to quality"),
    WITH_ENDS("quality_speedup", "speedup"),
    {"best", FULCRUM_COLUMN_TEXT, NULL},
    {"best_frac", FULCRUM_COLUMN_NUMBER, "share"},
    WITH_ENDS("hybrid_gain", NULL),
    {"hybrid_sooner_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"solver_error_rel", FULCRUM_COLUMN_NUMBER, NULL},
};

static void add_ends(
    struct fulcrum_report *report, double value, struct fulcrum_interval interval)
{
    fulcrum_report_add_number(report, value);
    fulcrum_report_add_number(report, interval.lo);
    fulcrum_report_add_number(report, interval.hi);
}

static void add_row(
    struct fulcrum_report *report, const struct fulcrum_cluster_row *row)
{
    const double numbers[] = {row->device_count, row->layout.node_count,
        row->layout.model_parallel_count, row->step.worker_count,
        row->step.global_batch_size};
    fulcrum_report_add_text(report, fulcrum_batch_scaling_name(row->scaling));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fulcrum_report_add_number(report, numbers[i]);
    }
#define X(name, member)                                                                \
    add_ends(report, row->member, row->interval[FULCRUM_CLUSTER_##name]);
    FULCRUM_CLUSTER_VALUE_LIST(X)
#undef X
    const struct fulcrum_interval gain = {row->gain.lo, row->gain.hi};
    fulcrum_report_add_text(report, row->is_best ? "best" : "");
    fulcrum_report_add_number(report, row->best_frac);
    add_ends(report, row->gain.value, gain);
    fulcrum_report_add_number(report, row->sooner_frac);
    fulcrum_report_add_number(report, row->solver_error_rel);
}

static struct fulcrum_report *report_of(const struct fulcrum_cluster_rows *rows)
{
    struct fulcrum_report *report =
        fulcrum_report_new("rows", columns, sizeof columns / sizeof columns[0]);
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

static void add_links(struct fulcrum_json *document, const struct fulcrum_link *link)
{
    struct fulcrum_json *object = fulcrum_json_add_object(document, "link");
    fulcrum_json_add_number(object, "peer_byte_per_s", link->peer_byte_per_s);
    fulcrum_json_add_number(object, "peer_latency_s", link->peer_latency_s);
    fulcrum_json_add_number(object, "network_byte_per_s", link->network_byte_per_s);
    fulcrum_json_add_number(object, "network_latency_s", link->network_latency_s);
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
    add_links(document, &design->machine.link);
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

/* All ends but those of what the table is about. */
static void hide_ends(
    struct fulcrum_report *report, const struct fulcrum_cluster_rows *rows)
{
    static const char *const aside[] = {"compute_s_lo", "compute_s_hi",
        "allreduce_s_lo", "allreduce_s_hi", "train_step_s_lo", "train_step_s_hi",
        "efficiency_frac_lo", "efficiency_frac_hi", "epochs_rel_lo", "epochs_rel_hi",
        "runtime_s_lo", "runtime_s_hi", "hybrid_gain", "hybrid_gain_lo",
        "hybrid_gain_hi", "hybrid_sooner_frac", "solver_error_rel"};
    static const char *const of_steps[] = {
        "steps_per_s_lo", "steps_per_s_hi", "speedup_lo", "speedup_hi"};
    static const char *const of_quality[] = {"quality_runtime_s_lo",
        "quality_runtime_s_hi", "quality_speedup_lo", "quality_speedup_hi"};
    int has_ends = rows->draw_count > 0;
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
    int is_unsplit = fulcrum_report_constant(report, "model_parallel_gpu_count") <= 1.0;
    hide(report, derived, sizeof derived / sizeof derived[0]);
    hide_ends(report, rows);
    if (rows->is_by_quality) {
        hide(report, by_steps, sizeof by_steps / sizeof by_steps[0]);
    } else {
        hide(report, by_quality, sizeof by_quality / sizeof by_quality[0]);
    }
    if (is_unsplit) { /* one way to use so many GPUs is the best one */
        hide(report, of_split, sizeof of_split / sizeof of_split[0]);
    }
}

/* The words of the table's heading. */
static void print_legend(const struct fulcrum_report *report,
    const struct fulcrum_cluster_rows *rows, FILE *stream)
{
    int is_unsplit = fulcrum_report_constant(report, "model_parallel_gpu_count") <= 1.0;
    (void)fputs(is_unsplit ? "workers      one GPU each: data-parallel training\n"
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
}

/* "; 90 % of the draws: from 32 to 128 GPUs on, or never": where draws begin to win. */
static void print_spread(const struct fulcrum_cluster_crossover *found, FILE *stream)
{
    const struct fulcrum_interval *at = &found->interval;
    if (isnan(at->lo) || isinf(at->lo)) {
        if (found->found_frac > 0.0) {
            (void)fprintf(stream, "; in %.2g %% of the draws they are",
                100.0 * found->found_frac);
        }
    } else if (isinf(at->hi)) {
        (void)fprintf(stream,
            "; 90 %% of the draws: from %.6g on, or with none of these numbers (%.3g "
            "%%)",
            at->lo, 100.0 * (1.0 - found->found_frac));
    } else if (at->hi > at->lo) {
        (void)fprintf(
            stream, "; 90 %% of the draws: from %.6g to %.6g on", at->lo, at->hi);
    } else {
        (void)fputs("; the same in 90 % of the draws", stream);
    }
    (void)fputc('\n', stream);
}

/* In how many draws workers of so many GPUs are sooner done, where that is no matter of
 * course. */
static void print_sooner(const struct fulcrum_cluster_rows *rows,
    const struct fulcrum_cluster_crossover *of, FILE *stream)
{
    const char *between = "  sooner in draws:";
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_cluster_row *row = &rows->rows[i];
        int is_its =
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
        print_spread(found, stream);
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

enum fulcrum_status fulcrum_cluster_report(const struct fulcrum_cluster_answer *answer,
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
        print_legend(report, answer->rows, context->out);
        hide_columns(report, answer->rows);
        fulcrum_report_print_table(report, context->out, 0);
        (void)fputc('\n', context->out);
        print_crossovers(answer->rows, context->out);
        print_notes(answer, context->out);
    }
    fulcrum_report_free(report);
    return status;
}

static const struct fulcrum_column family_columns[] = {
    {"gain_frac", FULCRUM_COLUMN_NUMBER, "gain"},
    {"efficiency_ratio", FULCRUM_COLUMN_NUMBER, "SE ratio"},
    {"speedup", FULCRUM_COLUMN_NUMBER, NULL},
    {"model_parallel_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"epochs_ratio", FULCRUM_COLUMN_NUMBER, "epochs ratio"},
    {"batch_over_critical", FULCRUM_COLUMN_NUMBER, "batch / B_c"},
};

/* From just above the least speed-up that meets the gain, to the number of devices. */
static void add_curve(struct fulcrum_report *report,
    const struct fulcrum_cluster_family *family, double gain_frac, double ratio)
{
    double parts = family->model_parallel_count;
    double least = (1.0 + gain_frac) / ratio;
    for (int i = 1; i < FAMILY_POINTS && least < parts; i++) {
        double speedup = least + (parts - least) * i / (FAMILY_POINTS - 1.0);
        fulcrum_report_add_number(report, gain_frac);
        fulcrum_report_add_number(report, ratio);
        fulcrum_report_add_number(report, speedup);
        fulcrum_report_add_number(report, fulcrum_model_parallel_frac(speedup, parts));
        fulcrum_report_add_number(
            report, fmax(1.0, (1.0 + gain_frac) * parts / (speedup * ratio)));
        fulcrum_report_add_number(
            report, fulcrum_hybrid_batch_rel(1.0 + gain_frac, speedup, parts, ratio));
    }
}

enum fulcrum_status fulcrum_cluster_report_family(
    const struct fulcrum_cluster_family *family, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "family", family_columns, sizeof family_columns / sizeof family_columns[0]);
    for (size_t i = 0; i < family->gain_count; i++) {
        for (size_t j = 0; j < family->efficiency_ratio_count; j++) {
            add_curve(
                report, family, family->gain_frac[i], family->efficiency_ratio[j]);
        }
    }
    if (context->format == FULCRUM_FORMAT_TABLE) {
        (void)fprintf(context->out,
            "Workers of %.6g devices; every row meets its gain, (16d) of "
            "docs/model.md: "
            "the batch of data-parallel training over the critical batch\n\n",
            family->model_parallel_count);
    }
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-cluster", context, err);
    fulcrum_report_free(report);
    return status;
}
