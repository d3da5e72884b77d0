/* node_rows.c - a machine with more and more of its GPUs, and the threads these need.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine is a sweep over GPUs and learners among them. While a thread has a point,
 * it looks for the threads that the point needs as well, with a predictor of its own:
 * by equations, whose curve is smooth, in the point's own samples. Combinations that
 * leave no GPU to infer belong to the grid and are passed over in silence.
 */
#include "model/whatif/node_rows.h"

#include <math.h>
#include <stdlib.h>

#include "model/number.h"
#include "model/study/study.h"
#include "model/try.h"
#include "model/whatif/recommend.h"

/* Most threads that are looked at for each GPU: a ratio of 50 on the largest of them.
 */
#define MOST_THREADS_PER_GPU 8192.0

/* More actors than fields take are not tried. */
#define MOST_ACTORS 1e7

enum { GPUS = FULCRUM_NODE_GPUS, LEARNERS = FULCRUM_NODE_LEARNERS };

struct need {
    struct fulcrum_ratio threads;
    bool is_open;
};

/* One machine under way. */
struct job {
    const struct fulcrum_node_plan *plan;
    const struct fulcrum_scenario_inputs *inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_sweep_plan sweep;
    struct fulcrum_sweep_axis axes[FULCRUM_NODE_AXES];
    struct fulcrum_study *yardstick; /* owned, as the next one */
    struct need *needs;              /* by slot */
    struct fulcrum_table *table;
    size_t expected; /* rows */
    size_t count;    /* that are there */
};

/* The GPU counts of the plan that the machine has. */
static size_t count_gpus(
    const struct fulcrum_node_plan *plan, const struct fulcrum_machine *machine)
{
    const struct fulcrum_sweep_axis *gpus = &plan->sweep.axes[GPUS];
    size_t count = 0;
    while (count < gpus->count && gpus->values[count] <= machine->gpu.count) {
        count++;
    }
    return count;
}

size_t fulcrum_node_row_count(
    const struct fulcrum_node_plan *plan, const struct fulcrum_machine *machine)
{
    const struct fulcrum_sweep_axis *axes = plan->sweep.axes;
    size_t count = 0;
    size_t gpus = count_gpus(plan, machine);
    for (size_t i = 0; i < gpus; i++) {
        for (size_t k = 0; k < axes[LEARNERS].count; k++) {
            count += axes[LEARNERS].values[k] < axes[GPUS].values[i] ? 1 : 0;
        }
    }
    return count;
}

/* The estimate, and draw by draw; those in which nothing runs are left out. */
static void search_need(const struct job *job,
    const struct fulcrum_thread_need_plan *asked, struct fulcrum_predictor *predictor,
    struct need *out)
{
    const struct fulcrum_node_plan *plan = job->plan;
    struct fulcrum_thread_need found;
    size_t draws = (size_t)plan->sweep.predict.draws;
    size_t ran = 0;
    if (fulcrum_thread_need_find(asked, predictor, 0, &found, NULL) != FULCRUM_OK) {
        return;
    }
    out->threads.value = found.thread_count;
    out->is_open = found.is_rising;
    struct fulcrum_thread_need_plan near = *asked;
    near.near_thread_count = found.thread_count;
    double *column = calloc(draws + 1, sizeof *column);
    for (size_t k = 1;
         column != NULL && k <= draws && plan->is_stopped(plan->watcher) == 0; k++) {
        if (fulcrum_thread_need_find(&near, predictor, k, &found, NULL) == FULCRUM_OK) {
            column[ran++] = found.thread_count;
        }
    }
    struct fulcrum_interval interval = fulcrum_interval_among(column, ran);
    if (!isnan(interval.median)) {
        out->threads =
            (struct fulcrum_ratio){interval.median, interval.lo, interval.hi};
    }
    free(column);
}

/* On any thread. */
static void prepare(void *context, size_t slot, const struct fulcrum_sweep_point *point)
{
    struct job *job = context;
    job->needs[slot] =
        (struct need){{FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN}, false};
    if (!isnan(job->plan->plateau_frac) &&
        point->varied[LEARNERS] < point->varied[GPUS] &&
        job->plan->is_stopped(job->plan->watcher) == 0) {
        /* Cores follow the threads, whatever they were; actors follow by the plan's
         * rule. */
        const struct fulcrum_sweep_plan *sweep = &job->sweep;
        struct fulcrum_predictor *predictor = NULL;
        struct fulcrum_setting settings[FULCRUM_NODE_AXES];
        for (size_t i = 0; i < FULCRUM_NODE_AXES; i++) {
            settings[i] =
                (struct fulcrum_setting){job->axes[i].field, point->varied[i], NULL};
        }
        double most = MOST_THREADS_PER_GPU * point->varied[GPUS];
        if (sweep->actors_per_thread > 0.0) {
            most = fmin(most, MOST_ACTORS / sweep->actors_per_thread);
        }
        struct fulcrum_thread_need_plan asked = {.settings = settings,
            .setting_count = FULCRUM_NODE_AXES,
            .plateau_frac = job->plan->plateau_frac,
            .actors_per_thread = sweep->actors_per_thread,
            .actor_choices = sweep->actor_choices,
            .actor_choice_count = sweep->actor_choice_count,
            .most_threads = most,
            .solver = sweep->predict.solver};
        asked.solver.method = FULCRUM_METHOD_FAST;
        if (fulcrum_predictor_new(job->scenario, &predictor, NULL) == FULCRUM_OK) {
            search_need(job, &asked, predictor, &job->needs[slot]);
            fulcrum_predictor_free(predictor);
        }
    }
}

static enum fulcrum_sweep_wish wish(void *context)
{
    const struct job *job = context;
    return job->plan->is_stopped(job->plan->watcher) != 0 ? FULCRUM_SWEEP_VISIT_NOW
                                                          : FULCRUM_SWEEP_VISIT_SOON;
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
    struct fulcrum_design design;
    enum fulcrum_status status =
        fulcrum_scenario_design(job->scenario, &at, &design, NULL);
    return status == FULCRUM_OK ? design.machine.cpu.thread_count : FULCRUM_UNKNOWN;
}

static void add_outputs(struct fulcrum_table *table,
    const struct fulcrum_prediction *prediction, const enum fulcrum_predicted *outputs,
    const char *const *titles)
{
    for (size_t i = 0; outputs[i] != FULCRUM_OUTPUT_COUNT; i++) {
        fulcrum_table_output(table, fulcrum_output_name(outputs[i]),
            titles != NULL ? titles[i] : NULL, prediction, outputs[i]);
    }
}

static void tell_point(
    struct job *job, const struct fulcrum_sweep_point *point, const struct need *need)
{
    static const enum fulcrum_predicted rates[] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_steps_per_j_system,
        FULCRUM_OUTPUT_COUNT};
    static const char *const titles[] = {"steps", "per GPU joule", "per system joule"};
    static const enum fulcrum_predicted others[] = {FULCRUM_OUTPUT_gpu_w,
        FULCRUM_OUTPUT_system_w, FULCRUM_OUTPUT_cpu_thread_busy_frac,
        FULCRUM_OUTPUT_gpu_busy_frac, FULCRUM_OUTPUT_gpu_inference_busy_frac,
        FULCRUM_OUTPUT_gpu_train_busy_frac, FULCRUM_OUTPUT_host_busy_frac,
        FULCRUM_OUTPUT_COUNT};
    static const struct fulcrum_ratio unknown = {
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    struct fulcrum_table *table = job->table;
    bool runs = point->status == FULCRUM_OK;
    bool has_relative = runs && job->yardstick != NULL;
    const struct fulcrum_prediction prediction =
        runs ? point->prediction : fulcrum_prediction_unknown();
    double gpu_count = point->varied[GPUS];
    double thread_count = thread_count_of(job, point);
    job->count++;
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", job->inputs->base->machine.name);
    fulcrum_table_text(table, "workload", NULL, job->inputs->base->workload.name);
    fulcrum_table_text(table, "calibration", NULL, job->plan->calibration);
    fulcrum_table_text(table, "actors_rule", NULL, job->plan->actors_rule);
    fulcrum_table_number(table, "gpu_count", "GPUs", gpu_count);
    fulcrum_table_number(
        table, "learner_gpu_count", "learners", point->varied[LEARNERS]);
    fulcrum_table_number(table, "thread_count", NULL, thread_count);
    fulcrum_table_number(
        table, "threads_per_gpu", "threads/GPU", thread_count / gpu_count);
    fulcrum_table_number(table, "cpu_gpu_ratio_machine", NULL,
        prediction.value[FULCRUM_OUTPUT_cpu_gpu_ratio_machine]);
    fulcrum_table_number(table, "cpu_gpu_ratio_used", "CPU/GPU ratio",
        prediction.value[FULCRUM_OUTPUT_cpu_gpu_ratio_used]);
    fulcrum_table_number(table, "actor_count", NULL, prediction.actor_count);
    add_outputs(table, &prediction, rates, titles);
    fulcrum_table_number(table, "steps_per_s_per_gpu", NULL,
        prediction.value[FULCRUM_OUTPUT_steps_per_s] / gpu_count);
    fulcrum_table_text(table, "bottleneck", "bottleneck",
        runs ? fulcrum_bottleneck_name(prediction.bottleneck) : "");
    fulcrum_table_ratio(table, "threads_needed", "threads needed", need->threads);
    add_outputs(table, &prediction, others, NULL);
    fulcrum_table_ratio(table, "relative", NULL,
        has_relative ? point->relative[FULCRUM_RELATIVE_SPEEDUP] : unknown);
    fulcrum_table_number(
        table, "bottleneck_agree_frac", NULL, prediction.bottleneck_agree_frac);
    fulcrum_table_number(table, "plateau_frac", NULL, job->plan->plateau_frac);
    fulcrum_table_number(table, "threads_needed_is_open", NULL,
        isnan(need->threads.value) ? FULCRUM_UNKNOWN : need->is_open);
    fulcrum_table_text(
        table, "method", NULL, runs ? fulcrum_method_name(prediction.method) : "");
    fulcrum_table_number(table, "solver_error_rel", NULL, prediction.solver_error_rel);
    fulcrum_table_text(table, "status", "status", runs ? "ok" : point->reason);
}

/* After Ctrl-C points are whole, but what they need may not have been looked for. */
static int visit(
    void *context, size_t slot, const struct fulcrum_sweep_point *points, size_t count)
{
    struct job *job = context;
    const struct fulcrum_node_plan *plan = job->plan;
    bool is_cut = plan->is_stopped(plan->watcher) != 0;
    for (size_t i = 0; i < count && !is_cut; i++) {
        if (points[i].varied[LEARNERS] < points[i].varied[GPUS]) {
            tell_point(job, &points[i], &job->needs[slot + i]);
        }
    }
    (void)plan->watch(
        plan->watcher, (double)job->count / fmax(1.0, (double)job->expected));
    return is_cut;
}

/* The sweep, with room for what its points need. */
static enum fulcrum_status set_up(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_node_plan *plan = job->plan;
    job->axes[GPUS] = plan->sweep.axes[GPUS];
    job->axes[GPUS].count = count_gpus(plan, &job->inputs->base->machine);
    job->axes[LEARNERS] = plan->sweep.axes[LEARNERS];
    job->sweep = plan->sweep;
    job->sweep.axes = job->axes;
    job->sweep.axis_count = FULCRUM_NODE_AXES;
    job->expected = fulcrum_node_row_count(plan, &job->inputs->base->machine);
    size_t points = fulcrum_sweep_count(&job->sweep);
    size_t slots = points < FULCRUM_SWEEP_BLOCK ? points : FULCRUM_SWEEP_BLOCK;
    job->needs = calloc(slots + 1, sizeof *job->needs);
    TRY_MEMORY(job->needs, err, "rows of machines");
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_node_rows_find(const struct fulcrum_node_plan *plan,
    const struct fulcrum_scenario_inputs *inputs, struct fulcrum_table *table,
    struct fulcrum_error *err)
{
    struct job job = {.plan = plan, .inputs = inputs, .table = table};
    const struct fulcrum_sweep_visitor visitor = {&job, wish, prepare, visit};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_scenario_new(inputs, &job.scenario, err));
    TRY_OR_END(set_up(&job, err));
    if (fulcrum_sweep_count(&job.sweep) > 0) {
        /* The first combination that leaves a GPU to infer; others are compared with
         * it. */
        const struct fulcrum_sweep_axis *axes = job.axes;
        size_t i = 0;
        while (i < axes[GPUS].count &&
               !(axes[LEARNERS].values[0] < axes[GPUS].values[i])) {
            i++;
        }
        /* Where it cannot run there is nothing to compare with. */
        if (i < axes[GPUS].count &&
            fulcrum_sweep_yardstick(job.scenario, &job.sweep, i * axes[LEARNERS].count,
                &job.yardstick, NULL) == FULCRUM_OK) {
            job.sweep.yardstick = job.yardstick;
        }
        TRY_OR_END(fulcrum_sweep_run(job.scenario, &job.sweep, &visitor, err));
    }
end:
    fulcrum_study_free(job.yardstick);
    fulcrum_scenario_free(job.scenario);
    free(job.needs);
    return status;
}
