/* node_job.c - a node with more and more GPUs: job and report. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/whatif/node_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "model/predict/solver.h"
#include "model/quantity.h"
#include "model/result.h"
#include "model/try.h"
#include "model/whatif/recommend.h"

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

static bool runs(const struct fulcrum_node_row *row)
{
    return row->point.status == FULCRUM_OK;
}

static double output(const struct fulcrum_node_row *row, enum fulcrum_predicted which)
{
    return runs(row) ? row->point.prediction.value[which] : FULCRUM_UNKNOWN;
}

static void add_output(struct fulcrum_table *table, const struct fulcrum_node_row *row,
    enum fulcrum_predicted which, const char *title)
{
    bool has = runs(row) && row->point.prediction.has_interval;
    fulcrum_table_estimate(table, fulcrum_output_name(which), title, output(row, which),
        has ? row->point.prediction.lo[which] : FULCRUM_UNKNOWN,
        has ? row->point.prediction.hi[which] : FULCRUM_UNKNOWN);
}

static void add_estimate(struct fulcrum_table *table, const char *key,
    const char *title, const struct fulcrum_node_estimate *value)
{
    fulcrum_table_estimate(table, key, title, value->value, value->lo, value->hi);
}

static void add_found_row(struct fulcrum_table *table,
    const struct fulcrum_node_answer *answer, const struct fulcrum_node_row *row)
{
    const struct fulcrum_prediction *prediction = &row->point.prediction;
    bool has = runs(row);
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", row->machine);
    fulcrum_table_text(table, "workload", NULL, answer->workload);
    fulcrum_table_text(table, "calibration", NULL, answer->calibration);
    fulcrum_table_text(table, "actors_rule", NULL, answer->actors_rule);
    fulcrum_table_number(table, "gpu_count", "GPUs", row->gpu_count);
    fulcrum_table_number(
        table, "learner_gpu_count", "learners", row->learner_gpu_count);
    fulcrum_table_number(table, "thread_count", NULL, row->thread_count);
    fulcrum_table_number(
        table, "threads_per_gpu", "threads/GPU", row->thread_count / row->gpu_count);
    fulcrum_table_number(table, "cpu_gpu_ratio_machine", NULL,
        output(row, FULCRUM_OUTPUT_cpu_gpu_ratio_machine));
    fulcrum_table_number(table, "cpu_gpu_ratio_used", "CPU/GPU ratio",
        output(row, FULCRUM_OUTPUT_cpu_gpu_ratio_used));
    fulcrum_table_number(
        table, "actor_count", NULL, has ? prediction->actor_count : FULCRUM_UNKNOWN);
    add_output(table, row, FULCRUM_OUTPUT_steps_per_s, "steps");
    add_output(table, row, FULCRUM_OUTPUT_steps_per_j_gpu, "per GPU joule");
    add_output(table, row, FULCRUM_OUTPUT_steps_per_j_system, "per system joule");
    fulcrum_table_text(table, "bottleneck", "bottleneck",
        has ? fulcrum_bottleneck_name(prediction->bottleneck) : "");
    add_estimate(table, "threads_needed", "threads needed", &row->need);
    add_output(table, row, FULCRUM_OUTPUT_gpu_w, NULL);
    add_output(table, row, FULCRUM_OUTPUT_system_w, NULL);
    add_output(table, row, FULCRUM_OUTPUT_cpu_thread_busy_frac, NULL);
    add_output(table, row, FULCRUM_OUTPUT_gpu_busy_frac, NULL);
    add_output(table, row, FULCRUM_OUTPUT_gpu_inference_busy_frac, NULL);
    add_output(table, row, FULCRUM_OUTPUT_gpu_train_busy_frac, NULL);
    add_output(table, row, FULCRUM_OUTPUT_host_busy_frac, NULL);
    add_estimate(table, "relative", NULL, &row->relative);
    fulcrum_table_number(table, "bottleneck_agree_frac", NULL,
        has ? prediction->bottleneck_agree_frac : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "plateau_frac", NULL, answer->plateau_frac);
    fulcrum_table_number(table, "threads_needed_is_open", NULL,
        isnan(row->need.value) ? FULCRUM_UNKNOWN : row->need_is_open);
    fulcrum_table_text(
        table, "method", NULL, has ? fulcrum_method_name(prediction->method) : "");
    fulcrum_table_number(table, "solver_error_rel", NULL,
        has ? prediction->solver_error_rel : FULCRUM_UNKNOWN);
    fulcrum_table_text(table, "status", "status", has ? "ok" : row->reason);
}

enum fulcrum_status fulcrum_node_report(const struct fulcrum_node_answer *answer,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-node");
    fulcrum_result_flag(result, "complete", NULL, answer->is_complete);
    fulcrum_result_text(result, "workload", "workload", answer->workload);
    fulcrum_result_text(result, "calibration", "calibration", answer->calibration);
    fulcrum_result_text(result, "actors_rule", "actors", answer->actors_rule);
    fulcrum_result_number(result, "plateau_frac", "plateau", answer->plateau_frac);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", "");
    bool all_run = true;
    for (size_t i = 0; i < answer->rows->count; i++) {
        add_found_row(table, answer, &answer->rows->rows[i]);
        all_run = all_run && runs(&answer->rows->rows[i]);
    }
    if (fulcrum_table_constant(table, "learner_gpu_count") <= 0.0) {
        fulcrum_table_hide(table, "learner_gpu_count");
    }
    if (all_run) {
        fulcrum_table_hide(table, "status");
    }
    return fulcrum_context_show(context, result, err);
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
