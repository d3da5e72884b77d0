/* node_report.c - what `fulcrum node` prints. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * People get a table with what they compare, programs every number with its interval.
 * Both are made of the same rows; columns and cells stand side by side, so that none is
 * forgotten.
 */
#include "cli/whatif/node_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "cli/result/report.h"
#include "model/predict/solver.h"
#include "presets/io/json.h"

static int runs(const struct fulcrum_node_row *row)
{
    return row->point.status == FULCRUM_OK;
}

static double output(const struct fulcrum_node_row *row, enum fulcrum_predicted which)
{
    return runs(row) ? row->point.prediction.value[which] : (double)NAN;
}

static struct fulcrum_node_estimate estimate(
    const struct fulcrum_node_row *row, enum fulcrum_predicted which)
{
    int has = runs(row) && row->point.prediction.has_interval;
    return (struct fulcrum_node_estimate){output(row, which),
        has ? row->point.prediction.lo[which] : (double)NAN,
        has ? row->point.prediction.hi[which] : (double)NAN};
}

static double actors(const struct fulcrum_node_row *row)
{
    return runs(row) ? row->point.prediction.actor_count : (double)NAN;
}

static const char *bottleneck(const struct fulcrum_node_row *row)
{
    return runs(row) ? fulcrum_bottleneck_name(row->point.prediction.bottleneck) : "";
}

/* "ok", or why there is nothing. */
static const char *status(const struct fulcrum_node_row *row)
{
    return runs(row) ? "ok" : row->reason;
}

static const struct fulcrum_column table_columns[] = {
    {"machine", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu_count", FULCRUM_COLUMN_NUMBER, "GPUs"},
    {"learner_gpu_count", FULCRUM_COLUMN_NUMBER, "learn"},
    {"threads_per_gpu", FULCRUM_COLUMN_NUMBER, "thr/GPU"},
    {"cpu_gpu_ratio_used", FULCRUM_COLUMN_NUMBER, "ratio"},
    {"actor_count", FULCRUM_COLUMN_NUMBER, "actors"},
    FULCRUM_COLUMN_ENDS("steps_per_s", "steps/s"),
    {"relative", FULCRUM_COLUMN_NUMBER, "relative"},
    {"steps_per_j_gpu", FULCRUM_COLUMN_NUMBER, "/J GPU"},
    {"steps_per_j_system", FULCRUM_COLUMN_NUMBER, "/J all"},
    {"bottleneck", FULCRUM_COLUMN_TEXT, NULL},
    FULCRUM_COLUMN_ENDS("threads_needed", "needs"),
    {"status", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_ends(
    struct fulcrum_report *report, const struct fulcrum_node_estimate *value)
{
    FULCRUM_REPORT_NUMBERS(report, value->value, value->lo, value->hi);
}

static void add_table_row(
    struct fulcrum_report *report, const struct fulcrum_node_row *row)
{
    struct fulcrum_node_estimate rate = estimate(row, FULCRUM_OUTPUT_steps_per_s);
    fulcrum_report_add_text(report, row->machine);
    FULCRUM_REPORT_NUMBERS(report, row->gpu_count, row->learner_gpu_count,
        row->thread_count / row->gpu_count,
        output(row, FULCRUM_OUTPUT_cpu_gpu_ratio_used), actors(row));
    add_ends(report, &rate);
    FULCRUM_REPORT_NUMBERS(report, row->relative.value,
        output(row, FULCRUM_OUTPUT_steps_per_j_gpu),
        output(row, FULCRUM_OUTPUT_steps_per_j_system));
    fulcrum_report_add_text(report, bottleneck(row));
    add_ends(report, &row->need);
    fulcrum_report_add_text(report, status(row));
}

/* With its interval, one after the other. */
static const enum fulcrum_predicted estimated[] = {FULCRUM_OUTPUT_steps_per_s,
    FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_steps_per_j_system,
    FULCRUM_OUTPUT_gpu_w, FULCRUM_OUTPUT_system_w, FULCRUM_OUTPUT_cpu_thread_busy_frac,
    FULCRUM_OUTPUT_gpu_busy_frac, FULCRUM_OUTPUT_gpu_inference_busy_frac,
    FULCRUM_OUTPUT_gpu_train_busy_frac, FULCRUM_OUTPUT_host_busy_frac};

enum { ESTIMATED = sizeof estimated / sizeof estimated[0] };

/* In the order of add_data_row. */
static const struct fulcrum_column data_columns[] = {
    {"machine", FULCRUM_COLUMN_TEXT, NULL},
    {"workload", FULCRUM_COLUMN_TEXT, NULL},
    {"calibration", FULCRUM_COLUMN_TEXT, NULL},
    {"actors_rule", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu_count", FULCRUM_COLUMN_NUMBER, NULL},
    {"learner_gpu_count", FULCRUM_COLUMN_NUMBER, NULL},
    {"thread_count", FULCRUM_COLUMN_NUMBER, NULL},
    {"threads_per_gpu", FULCRUM_COLUMN_NUMBER, NULL},
    {"cpu_gpu_ratio_machine", FULCRUM_COLUMN_NUMBER, NULL},
    {"cpu_gpu_ratio_used", FULCRUM_COLUMN_NUMBER, NULL},
    {"actor_count", FULCRUM_COLUMN_NUMBER, NULL},
    FULCRUM_COLUMN_ENDS("steps_per_s", NULL),
    FULCRUM_COLUMN_ENDS("steps_per_j_gpu", NULL),
    FULCRUM_COLUMN_ENDS("steps_per_j_system", NULL),
    FULCRUM_COLUMN_ENDS("gpu_w", NULL),
    FULCRUM_COLUMN_ENDS("system_w", NULL),
    FULCRUM_COLUMN_ENDS("cpu_thread_busy_frac", NULL),
    FULCRUM_COLUMN_ENDS("gpu_busy_frac", NULL),
    FULCRUM_COLUMN_ENDS("gpu_inference_busy_frac", NULL),
    FULCRUM_COLUMN_ENDS("gpu_train_busy_frac", NULL),
    FULCRUM_COLUMN_ENDS("host_busy_frac", NULL),
    FULCRUM_COLUMN_ENDS("relative", NULL),
    {"bottleneck", FULCRUM_COLUMN_TEXT, NULL},
    {"bottleneck_agree_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"plateau_frac", FULCRUM_COLUMN_NUMBER, NULL},
    FULCRUM_COLUMN_ENDS("threads_needed", NULL),
    {"threads_needed_is_open", FULCRUM_COLUMN_NUMBER, NULL},
    {"method", FULCRUM_COLUMN_TEXT, NULL},
    {"solver_error_rel", FULCRUM_COLUMN_NUMBER, NULL},
    {"status", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_data_row(struct fulcrum_report *report,
    const struct fulcrum_node_answer *answer, const struct fulcrum_node_row *row)
{
    const struct fulcrum_prediction *prediction = &row->point.prediction;
    FULCRUM_REPORT_TEXTS(report, row->machine, answer->workload, answer->calibration,
        answer->actors_rule);
    FULCRUM_REPORT_NUMBERS(report, row->gpu_count, row->learner_gpu_count,
        row->thread_count, row->thread_count / row->gpu_count,
        output(row, FULCRUM_OUTPUT_cpu_gpu_ratio_machine),
        output(row, FULCRUM_OUTPUT_cpu_gpu_ratio_used), actors(row));
    for (size_t i = 0; i < ESTIMATED; i++) {
        struct fulcrum_node_estimate value = estimate(row, estimated[i]);
        add_ends(report, &value);
    }
    add_ends(report, &row->relative);
    fulcrum_report_add_text(report, bottleneck(row));
    FULCRUM_REPORT_NUMBERS(report,
        runs(row) ? prediction->bottleneck_agree_frac : (double)NAN,
        answer->plateau_frac);
    add_ends(report, &row->need);
    fulcrum_report_add_number(
        report, isnan(row->need.value) ? (double)NAN : row->need_is_open);
    fulcrum_report_add_text(
        report, runs(row) ? fulcrum_method_name(prediction->method) : "");
    fulcrum_report_add_number(
        report, runs(row) ? prediction->solver_error_rel : (double)NAN);
    fulcrum_report_add_text(report, status(row));
}

static struct fulcrum_report *make_report(
    const struct fulcrum_node_answer *answer, enum fulcrum_format format)
{
    bool is_table = format == FULCRUM_FORMAT_TABLE;
    struct fulcrum_report *report = is_table ? FULCRUM_REPORT_NEW("rows", table_columns)
                                             : FULCRUM_REPORT_NEW("rows", data_columns);
    for (size_t i = 0; i < answer->rows->count; i++) {
        if (is_table) {
            add_table_row(report, &answer->rows->rows[i]);
        } else {
            add_data_row(report, answer, &answer->rows->rows[i]);
        }
    }
    return report;
}

enum fulcrum_status fulcrum_node_report(const struct fulcrum_node_answer *answer,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *report = make_report(answer, context->format);
    enum fulcrum_status done = FULCRUM_OK;
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-node");
        fulcrum_json_add_flag(document, "complete", answer->is_complete);
        fulcrum_json_add_text(document, "workload", answer->workload);
        fulcrum_json_add_text(document, "calibration", answer->calibration);
        fulcrum_json_add_text(document, "actors_rule", answer->actors_rule);
        fulcrum_json_add_number(document, "plateau_frac", answer->plateau_frac);
        fulcrum_report_to_json(report, document);
        done = fulcrum_report_print_document(document, context, err);
    } else {
        if (context->format == FULCRUM_FORMAT_TABLE) {
            FILE *stream = context->out;
            (void)fprintf(stream, "workload     %s\ncalibration  %s\nactors       %s\n",
                answer->workload, answer->calibration, answer->actors_rule);
            if (!isnan(answer->plateau_frac)) {
                (void)fprintf(stream,
                    "needs        fewest threads with %.6g %% of the plateau over "
                    "threads\n",
                    100.0 * answer->plateau_frac);
            }
            (void)fputs(
                "thr/GPU      hardware threads for each GPU; ratio: for each SM; "
                "learn: GPUs that "
                "train alone\n"
                "/J           steps per joule: of the GPUs, of all behind the plug\n\n",
                stream);
            /* What people can do without on a narrow screen: the rule of actors and the
             * machine's threads are told, a rate over another can be seen, and what is
             * the same or unknown everywhere says nothing. */
            const struct fulcrum_node_rows *rows = answer->rows;
            size_t failed = 0;
            for (size_t i = 0; i < rows->count; i++) {
                failed += runs(&rows->rows[i]) ? 0 : 1;
            }
            fulcrum_report_hide(report, "actor_count");
            fulcrum_report_hide(report, "relative");
            if (fulcrum_report_constant(report, "learner_gpu_count") <= 0.0) {
                fulcrum_report_hide(report, "learner_gpu_count");
            }
            if (failed == 0) {
                fulcrum_report_hide(report, "status");
            }
            fulcrum_report_hide_empty(report);
        }
        done = fulcrum_report_print(report, "fulcrum-node", context, err);
    }
    fulcrum_report_free(report);
    return done;
}

/* The row of rows[from, to) with the most of an output; `to` where none runs. */
static size_t best_of(const struct fulcrum_node_rows *rows, size_t from, size_t to,
    enum fulcrum_predicted which)
{
    size_t best = to;
    for (size_t i = from; i < to; i++) {
        double value = output(&rows->rows[i], which);
        if (!isnan(value) && (best == to || value > output(&rows->rows[best], which))) {
            best = i;
        }
    }
    return best;
}

/* "3 GPUs", "8 GPUs, 2 of them learners" */
static void describe(const struct fulcrum_node_row *row, char *out, size_t size)
{
    char learners[48] = "";
    if (row->learner_gpu_count > 0.0) {
        (void)snprintf(
            learners, sizeof learners, " (%.0f learning)", row->learner_gpu_count);
    }
    (void)snprintf(out, size, "%.0f GPU%s%s", row->gpu_count,
        row->gpu_count > 1.0 ? "s" : "", learners);
}

static void note_machine(const struct fulcrum_node_rows *rows, size_t from, size_t to,
    const struct fulcrum_context *context)
{
    size_t fastest = best_of(rows, from, to, FULCRUM_OUTPUT_steps_per_s);
    size_t leanest = best_of(rows, from, to, FULCRUM_OUTPUT_steps_per_j_system);
    if (fastest == to) {
        return;
    }
    const struct fulcrum_node_row *last = &rows->rows[to - 1];
    char fast[80];
    char lean[80] = "unknown watts";
    char all[80];
    char relative[160] = ""; /* where the last row cannot run */
    describe(&rows->rows[fastest], fast, sizeof fast);
    describe(last, all, sizeof all);
    if (leanest < to) {
        describe(&rows->rows[leanest], lean, sizeof lean);
    }
    if (!isnan(last->relative.value)) {
        (void)snprintf(relative, sizeof relative,
            "; rate with %s over that of the first row: %.3g", all,
            last->relative.value);
    }
    fulcrum_message_note(context,
        "found: %s: fastest with %s (%.4g steps/s), most per system joule with %s%s",
        last->machine, fast, output(&rows->rows[fastest], FULCRUM_OUTPUT_steps_per_s),
        lean, relative);
}

void fulcrum_node_note_findings(
    const struct fulcrum_node_rows *rows, const struct fulcrum_context *context)
{
    size_t from = 0;
    for (size_t i = 1; i <= rows->count; i++) {
        if (i == rows->count ||
            strcmp(rows->rows[i].machine, rows->rows[from].machine) != 0) {
            note_machine(rows, from, i, context);
            from = i;
        }
    }
}
