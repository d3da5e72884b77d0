/* node_job.c - a node with more and more GPUs: job and report. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/whatif/node_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/output/report.h"
#include "model/predict/solver.h"
#include "model/quantity.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/io/json.h"

/*
 * A machine is a sweep over GPUs and learners among them. While a thread has a point,
 * it looks for the threads that the point needs as well, with a predictor of its own:
 * by equations, whose curve is smooth, in the point's own samples. Combinations that
 * leave no GPU to infer belong to the grid and are passed over in silence.
 */

/* Most threads that are looked at for each GPU: a ratio of 50 on the largest of them.
 */
#define MOST_THREADS_PER_GPU 8192.0

/* More actors than fields take are not tried. */
#define MOST_ACTORS 1e7

enum { GPUS, LEARNERS, AXES };

/* One machine under way. */
struct job {
    const struct fulcrum_node_plan *plan;
    const struct fulcrum_design_inputs *inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_sweep_plan sweep;
    struct fulcrum_sweep_axis axes[AXES];
    double *gpu_counts; /* owned */
    struct fulcrum_yardstick *yardstick;
    struct need *needs; /* by slot */
    struct fulcrum_node_rows *out;
};

struct need {
    struct fulcrum_node_estimate threads;
    bool is_open;
};

static const struct fulcrum_node_estimate unknown = {NAN, NAN, NAN};

static int stopped(const struct fulcrum_node_plan *plan)
{
    return plan->stop != NULL && *plan->stop != 0;
}

/* The GPU counts of the plan that the machine has. */
static size_t count_gpus(
    const struct fulcrum_node_plan *plan, const struct fulcrum_machine *machine)
{
    if (plan->gpu_counts == NULL) {
        return (size_t)machine->gpu.count;
    }
    size_t count = 0;
    while (count < plan->gpu_count_count &&
           plan->gpu_counts[count] <= machine->gpu.count) {
        count++;
    }
    return count;
}

static double gpu_count_at(const struct fulcrum_node_plan *plan, size_t i)
{
    return plan->gpu_counts == NULL ? (double)i + 1.0 : plan->gpu_counts[i];
}

size_t fulcrum_node_row_count(
    const struct fulcrum_node_plan *plan, const struct fulcrum_machine *machine)
{
    size_t count = 0;
    size_t gpus = count_gpus(plan, machine);
    for (size_t i = 0; i < gpus; i++) {
        for (size_t k = 0; k < plan->learner_count_count; k++) {
            count += plan->learner_counts[k] < gpu_count_at(plan, i) ? 1 : 0;
        }
    }
    return count;
}

/* Cores follow the threads, whatever they were; actors follow by the plan's rule. */
static struct fulcrum_thread_need_plan need_plan(const struct job *job,
    const struct fulcrum_sweep_point *point, struct fulcrum_setting *settings)
{
    const struct fulcrum_node_plan *plan = job->plan;
    for (size_t i = 0; i < AXES; i++) {
        settings[i] =
            (struct fulcrum_setting){job->axes[i].field, point->varied[i], NULL};
    }
    double most = MOST_THREADS_PER_GPU * point->varied[GPUS];
    if (plan->actors_per_thread > 0.0) {
        most = fmin(most, MOST_ACTORS / plan->actors_per_thread);
    }
    struct fulcrum_thread_need_plan out = {.settings = settings,
        .setting_count = AXES,
        .plateau_frac = plan->plateau_frac,
        .actors_per_thread = plan->actors_per_thread,
        .actor_choices = plan->actor_choices,
        .actor_choice_count = plan->actor_choice_count,
        .most_threads = most,
        .solver = plan->predict.solver};
    out.solver.method = FULCRUM_METHOD_FAST;
    return out;
}

/* Draw by draw; those in which nothing runs are left out. */
static void spread_need(const struct job *job,
    const struct fulcrum_thread_need_plan *asked, struct fulcrum_predictor *predictor,
    struct need *out)
{
    size_t draws = (size_t)job->plan->predict.draws;
    double *column = calloc(draws + 1, sizeof *column);
    size_t ran = 0;
    for (size_t k = 1; column != NULL && k <= draws && !stopped(job->plan); k++) {
        struct fulcrum_thread_need found;
        if (fulcrum_thread_need_find(asked, predictor, k, &found, NULL) == FULCRUM_OK) {
            column[ran++] = found.thread_count;
        }
    }
    if (column != NULL) {
        struct fulcrum_interval interval = fulcrum_interval_among(column, ran);
        out->threads.lo = interval.lo;
        out->threads.hi = interval.hi;
    }
    free(column);
}

static void find_need(
    const struct job *job, const struct fulcrum_sweep_point *point, struct need *out)
{
    struct fulcrum_predictor *predictor = NULL;
    struct fulcrum_setting settings[AXES];
    struct fulcrum_thread_need found;
    const struct fulcrum_thread_need_plan asked = need_plan(job, point, settings);
    if (fulcrum_predictor_new(job->scenario, &predictor, NULL) != FULCRUM_OK) {
        return;
    }
    if (fulcrum_thread_need_find(&asked, predictor, 0, &found, NULL) == FULCRUM_OK) {
        out->threads.value = found.thread_count;
        out->is_open = found.is_rising;
        spread_need(job, &asked, predictor, out);
    }
    fulcrum_predictor_free(predictor);
}

/* On any thread. */
static void prepare(void *context, size_t slot, const struct fulcrum_sweep_point *point)
{
    struct job *job = context;
    job->needs[slot] = (struct need){unknown, 0};
    if (!isnan(job->plan->plateau_frac) &&
        point->varied[LEARNERS] < point->varied[GPUS] && !stopped(job->plan)) {
        find_need(job, point, &job->needs[slot]);
    }
}

static enum fulcrum_sweep_wish wish(void *context)
{
    const struct job *job = context;
    return stopped(job->plan) ? FULCRUM_SWEEP_VISIT_NOW : FULCRUM_SWEEP_VISIT_SOON;
}

/* As set, varied or measured: not always what the preset says. */
static double thread_count_of(
    const struct job *job, const struct fulcrum_sweep_point *point)
{
    double replicas = point->varied[GPUS] - point->varied[LEARNERS];
    const struct fulcrum_setting varied[] = {
        {job->axes[GPUS].field, point->varied[GPUS], NULL},
        {job->axes[LEARNERS].field, point->varied[LEARNERS], NULL},
        {fulcrum_field_find("run.actor_count"), replicas, NULL}};
    const struct fulcrum_point at = {varied, sizeof varied / sizeof varied[0], 0, 0};
    struct fulcrum_design design = job->inputs->base;
    enum fulcrum_status status =
        fulcrum_scenario_design(job->scenario, &at, &design, NULL);
    return status == FULCRUM_OK ? design.machine.cpu.thread_count : FULCRUM_UNKNOWN;
}

static void add_row(
    struct job *job, const struct fulcrum_sweep_point *point, const struct need *need)
{
    struct fulcrum_node_row *row = &job->out->rows[job->out->count++];
    const struct fulcrum_machine *machine = &job->inputs->base.machine;
    memset(row, 0, sizeof *row);
    (void)snprintf(row->machine, sizeof row->machine, "%s", machine->name);
    row->gpu_count = point->varied[GPUS];
    row->learner_gpu_count = point->varied[LEARNERS];
    row->point = *point;
    (void)snprintf(row->reason, sizeof row->reason, "%s", point->reason);
    row->point.reason = "";
    row->thread_count = thread_count_of(job, point);
    row->relative = unknown;
    row->need = need->threads;
    row->need_is_open = need->is_open;
    if (point->status == FULCRUM_OK && job->yardstick != NULL) {
        const struct fulcrum_ratio *ratio = &point->relative[FULCRUM_RELATIVE_speedup];
        row->relative =
            (struct fulcrum_node_estimate){ratio->value, ratio->lo, ratio->hi};
    }
}

/* After Ctrl-C points are whole, but what they need may not have been looked for. */
static int visit(void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct job *job = context;
    bool is_cut = stopped(job->plan);
    for (size_t i = 0; i < count && !is_cut; i++) {
        if (points[i].varied[LEARNERS] < points[i].varied[GPUS]) {
            add_row(job, &points[i], &job->needs[i]);
        }
    }
    if (job->plan->progress != NULL && job->out->expected > 0) {
        char stage[96];
        (void)snprintf(stage, sizeof stage, "%zu of %zu rows", job->out->count,
            job->out->expected);
        fulcrum_progress_update(job->plan->progress,
            (double)job->out->count / (double)job->out->expected, stage);
    }
    return is_cut;
}

/* The first combination that leaves a GPU to infer; others are compared with it. */
static void find_yardstick(struct job *job)
{
    const struct fulcrum_sweep_axis *axes = job->axes;
    for (size_t i = 0; i < axes[GPUS].count; i++) {
        if (axes[LEARNERS].values[0] < axes[GPUS].values[i]) {
            /* Where it cannot run the column stays empty. */
            bool can_run =
                fulcrum_sweep_yardstick(job->scenario, &job->sweep,
                    i * axes[LEARNERS].count, &job->yardstick, NULL) == FULCRUM_OK;
            job->sweep.yardstick = can_run ? job->yardstick : NULL;
            return;
        }
    }
}

static enum fulcrum_status set_axes(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_node_plan *plan = job->plan;
    size_t gpus = count_gpus(plan, &job->inputs->base.machine);
    job->gpu_counts = calloc(gpus + 1, sizeof *job->gpu_counts);
    TRY_MEMORY(job->gpu_counts, err, "numbers of GPUs");
    for (size_t i = 0; i < gpus; i++) {
        job->gpu_counts[i] = gpu_count_at(plan, i);
    }
    job->axes[GPUS] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.gpu_count"), job->gpu_counts, gpus};
    job->axes[LEARNERS] =
        (struct fulcrum_sweep_axis){fulcrum_field_find("run.learner_gpu_count"),
            plan->learner_counts, plan->learner_count_count};
    job->sweep = (struct fulcrum_sweep_plan){.axes = job->axes,
        .axis_count = AXES,
        .predict = plan->predict,
        .actors_per_thread = plan->actors_per_thread,
        .actor_choices = plan->actor_choices,
        .actor_choice_count = plan->actor_choice_count};
    return FULCRUM_OK;
}

/* Room for this machine's rows behind the others, and for what its points need. */
static enum fulcrum_status make_room(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_node_rows *out = job->out;
    size_t more = fulcrum_node_row_count(job->plan, &job->inputs->base.machine);
    size_t points = fulcrum_sweep_count(&job->sweep);
    size_t slots = points < FULCRUM_SWEEP_BLOCK ? points : FULCRUM_SWEEP_BLOCK;
    struct fulcrum_node_row *rows =
        realloc(out->rows, (out->count + more + 1) * sizeof *rows);
    TRY_MEMORY(rows, err, "rows of machines");
    out->rows = rows;
    job->needs = calloc(slots + 1, sizeof *job->needs);
    TRY_MEMORY(job->needs, err, "rows of machines");
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_node_rows_add(const struct fulcrum_node_plan *plan,
    const struct fulcrum_design_inputs *inputs, struct fulcrum_node_rows *out,
    struct fulcrum_error *err)
{
    struct job job = {.plan = plan, .inputs = inputs, .out = out};
    const struct fulcrum_sweep_visitor visitor = {&job, wish, prepare, visit};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_scenario_new(&inputs->scenario, &job.scenario, err));
    TRY_OR_END(set_axes(&job, err));
    TRY_OR_END(make_room(&job, err));
    if (fulcrum_sweep_count(&job.sweep) > 0) {
        find_yardstick(&job);
        TRY_OR_END(fulcrum_sweep_run(job.scenario, &job.sweep, &visitor, err));
    }
end:
    fulcrum_yardstick_free(job.yardstick);
    fulcrum_scenario_free(job.scenario);
    free(job.gpu_counts);
    free(job.needs);
    return status;
}

void fulcrum_node_rows_clear(struct fulcrum_node_rows *rows)
{
    free(rows->rows);
    *rows = (struct fulcrum_node_rows){.count = 0};
}

/*
 * People get a table with what they compare, programs every number with its interval.
 * Both are made of the same rows; columns and cells stand side by side, so that none is
 * forgotten.
 */

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
static const char *status_text(const struct fulcrum_node_row *row)
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
    fulcrum_report_add_text(report, status_text(row));
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
    fulcrum_report_add_text(report, status_text(row));
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

/*
 * What people can do without on a narrow screen: the rule of actors and the machine's
 * threads are told, a rate over another can be seen, and what is the same or unknown
 * everywhere says nothing.
 */
static void hide_columns(
    const struct fulcrum_node_rows *rows, struct fulcrum_report *report)
{
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
            hide_columns(answer->rows, report);
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
