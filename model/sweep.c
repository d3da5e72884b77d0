/* sweep.c - predictions over a grid of design points, in order and in bounded memory.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points are predicted in blocks, in parallel within a block, and visited in order
 * after it. So a sweep of millions needs the memory of one block, visits need not be
 * thread-safe, and the bytes of the output do not depend on the number of threads:
 * every point has a random stream of its own (stream.c).
 *
 * A point takes microseconds by equations and up to seconds by simulation, and nobody
 * knows which before it is tried. So threads take runs of points from a queue, short
 * ones where points have been slow, and a block ends early when the visitor, who has a
 * clock, wishes to see points. What has been taken from the queue is always the
 * beginning of the block, so that points are visited in order however a block ends.
 */
#include "model/sweep.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "model/quantity.h"
#include "model/sweep_best.h"

/* Most points that a thread takes at once, and into how many runs a block is to be
 * parted for each thread, so that threads end at about the same time. */
enum { RUN_MOST = 16, RUNS_PER_THREAD = 8 };

/* Points of a block that a wish to see some soon does not cut off. The first block has
 * one per thread, so that progress shows early. */
enum { FEW_POINTS = 16, FEW_POINTS_PER_THREAD = 4 };

/* What a thread has for itself. */
struct worker {
    struct fulcrum_predictor *predictor;
    double *column;                  /* one number per draw */
    struct fulcrum_sweep_best *best; /* of its points; NULL: not wanted */
};

struct sweep {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_sweep_plan *plan;
    const struct fulcrum_sweep_visitor *visitor;
    const struct fulcrum_field *actors;
    size_t count;
    struct fulcrum_sweep_point *block;
    char (*reasons)[FULCRUM_REASON_BYTE]; /* beside the block: seldom touched */
    size_t thread_count;
    struct worker *workers; /* one per thread */
};

/* A block: points from `start`, of which those before `next` are taken. */
struct queue {
    size_t start;
    size_t next;
    size_t end;
    size_t few; /* points before a wish for a visit soon is granted */
    size_t run; /* points taken at once */
};

/* One thread at one point. */
struct task {
    const struct sweep *sweep;
    const struct worker *worker;
    struct fulcrum_setting settings[FULCRUM_SWEEP_AXES_MOST + 1];
    size_t setting_count;
};

size_t fulcrum_sweep_count(const struct fulcrum_sweep_plan *plan)
{
    const double most = 9007199254740992.0; /* 2^53: indices stay exact as doubles */
    double count = 1.0;
    for (size_t i = 0; i < plan->axis_count; i++) {
        count *= (double)plan->axes[i].count;
    }
    return count <= most ? (size_t)count : 0;
}

static void fill_varied(const struct fulcrum_sweep_plan *plan, size_t index,
    struct fulcrum_sweep_point *point)
{
    point->index = index;
    for (size_t i = plan->axis_count; i-- > 0;) {
        const struct fulcrum_sweep_axis *axis = &plan->axes[i];
        point->varied[i] = axis->values[index % axis->count];
        index /= axis->count;
    }
}

/* The actors behind the axes. */
static void set_actors(struct task *task, double actors)
{
    size_t axis_count = task->sweep->plan->axis_count;
    task->settings[axis_count] =
        (struct fulcrum_setting){task->sweep->actors, actors, NULL};
    task->setting_count = axis_count + 1;
}

static enum fulcrum_status predict_with_draws(struct task *task, double draws,
    struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    struct fulcrum_point point = {task->settings, task->setting_count, 0, 0};
    struct fulcrum_predict_options options = task->sweep->plan->predict;
    options.point_index = out->index;
    options.draws = draws;
    return fulcrum_predictor_run(
        task->worker->predictor, &point, &options, &out->prediction, err);
}

/*
 * Threads of the point times actors_per_thread, rounded to a multiple of the GPUs or
 * learner cores that share the actors, at least one each.
 */
static enum fulcrum_status follow_threads(struct task *task, struct fulcrum_error *err)
{
    set_actors(task, 1.0);
    struct fulcrum_point point = {task->settings, task->setting_count, 0, 0};
    const struct fulcrum_design *design = NULL;
    enum fulcrum_status status =
        fulcrum_predictor_design(task->worker->predictor, &point, &design, err);
    if (status == FULCRUM_OK) {
        double shards = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU
                            ? design->run.gpu_count
                            : design->machine.learner_core_count;
        double actors =
            design->machine.cpu.thread_count * task->sweep->plan->actors_per_thread;
        set_actors(task, shards * fmax(1.0, round(actors / shards)));
    }
    return status;
}

/* Tries every actor count without intervals; the best one is then predicted in full. */
static enum fulcrum_status choose_actors(
    struct task *task, struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_plan *plan = task->sweep->plan;
    double best_actors = FULCRUM_UNKNOWN;
    double best_steps_per_s = 0.0;
    enum fulcrum_status status = FULCRUM_ERR_INFEASIBLE;
    for (size_t i = 0; i < plan->actor_choice_count; i++) {
        set_actors(task, plan->actor_choices[i]);
        enum fulcrum_status tried = predict_with_draws(task, 0.0, out, err);
        double steps_per_s = out->prediction.value[FULCRUM_OUTPUT_steps_per_s];
        if (tried == FULCRUM_OK && steps_per_s > best_steps_per_s) {
            best_steps_per_s = steps_per_s;
            best_actors = plan->actor_choices[i];
        }
        status = tried == FULCRUM_OK || status == FULCRUM_OK ? FULCRUM_OK : tried;
    }
    set_actors(task, best_actors);
    return status;
}

/* Several faults in one line, for a table's cell; what does not fit is left out. */
static void join_lines(char *out, size_t size, const char *detail)
{
    size_t used = 0;
    while (*detail != '\0') {
        size_t length = strcspn(detail, "\n");
        const char *between = used > 0 ? "; " : "";
        if (used + strlen(between) + length >= size) {
            return;
        }
        used += (size_t)snprintf(
            out + used, size - used, "%s%.*s", between, (int)length, detail);
        detail += length + (detail[length] == '\n' ? 1 : 0);
    }
}

/* Settles the actors and predicts; `out` gets its index and varied values anyway. */
static enum fulcrum_status try_point(struct task *task, size_t index,
    struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_plan *plan = task->sweep->plan;
    enum fulcrum_status status = FULCRUM_OK;
    fill_varied(plan, index, out);
    for (size_t i = 0; i < plan->axis_count; i++) {
        task->settings[i] =
            (struct fulcrum_setting){plan->axes[i].field, out->varied[i], NULL};
    }
    task->setting_count = plan->axis_count;
    if (plan->actor_choice_count > 0) {
        status = choose_actors(task, out, err);
    } else if (plan->actors_per_thread > 0.0) {
        status = follow_threads(task, err);
    }
    return status == FULCRUM_OK
               ? predict_with_draws(task, plan->predict.draws, out, err)
               : status;
}

/* What is made of a point's draws while they are at hand. */
static void use_draws(const struct task *task, struct fulcrum_sweep_point *point)
{
    const struct worker *worker = task->worker;
    const struct fulcrum_yardstick *yardstick = task->sweep->plan->yardstick;
    if (yardstick != NULL) {
        fulcrum_yardstick_compare(yardstick, worker->predictor, &point->prediction,
            worker->column, point->relative);
    }
    if (worker->best != NULL) {
        size_t count = 0;
        const double *draws = fulcrum_predictor_draws(worker->predictor, &count);
        fulcrum_sweep_best_add(worker->best, point->index, draws, count);
    }
}

static void predict_point(struct task *task, size_t index, size_t slot)
{
    struct fulcrum_sweep_point *out = &task->sweep->block[slot];
    struct fulcrum_error err;
    err.status = FULCRUM_OK;
    err.detail[0] = '\0'; /* the rest of it is large, and seldom needed */
    out->reason = "";
    out->status = try_point(task, index, out, &err);
    if (out->status == FULCRUM_OK) {
        use_draws(task, out);
    } else {
        out->prediction = (struct fulcrum_prediction){0};
        join_lines(task->sweep->reasons[slot], FULCRUM_REASON_BYTE, err.detail);
        out->reason = task->sweep->reasons[slot];
    }
}

/* Without a point there would be nothing to visit. */
static int is_over(const struct queue *queue, enum fulcrum_sweep_wish wish)
{
    size_t taken = queue->next - queue->start;
    return queue->next == queue->end ||
           (wish == FULCRUM_SWEEP_VISIT_NOW && taken > 0) ||
           (wish == FULCRUM_SWEEP_VISIT_SOON && taken >= queue->few);
}

/* The next points for a thread; 0: the block is over, for every thread. */
static size_t take_run(
    const struct fulcrum_sweep_visitor *visitor, struct queue *queue, size_t *first)
{
    enum fulcrum_sweep_wish wish =
        visitor->wish != NULL ? visitor->wish(visitor->context) : FULCRUM_SWEEP_GO_ON;
    size_t taken = 0;
#ifdef _OPENMP
#pragma omp critical(fulcrum_sweep_queue)
#endif
    if (is_over(queue, wish)) {
        queue->end = queue->next;
    } else {
        size_t left = queue->end - queue->next;
        taken = left < queue->run ? left : queue->run;
        *first = queue->next;
        queue->next += taken;
    }
    return taken;
}

static void predict_run(
    struct task *task, const struct queue *queue, size_t first, size_t count)
{
    const struct sweep *sweep = task->sweep;
    for (size_t i = first; i < first + count; i++) {
        size_t slot = i - queue->start;
        predict_point(task, i, slot);
        if (sweep->visitor->prepare != NULL) {
            sweep->visitor->prepare(sweep->visitor->context, slot, &sweep->block[slot]);
        }
    }
}

/* Predicts points of the block until the queue has none. */
static void work_off(const struct sweep *sweep, size_t thread, struct queue *queue)
{
    struct task task = {.sweep = sweep, .worker = &sweep->workers[thread]};
    size_t first = 0;
    for (size_t count = take_run(sweep->visitor, queue, &first); count > 0;
         count = take_run(sweep->visitor, queue, &first)) {
        predict_run(&task, queue, first, count);
    }
}

static void predict_block(const struct sweep *sweep, struct queue *queue)
{
#ifdef _OPENMP
#pragma omp parallel num_threads((int)sweep->thread_count)
    work_off(sweep, (size_t)omp_get_thread_num(), queue);
#else
    work_off(sweep, 0, queue);
#endif
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns what the last visit said. */
static int visit_all(const struct sweep *sweep)
{
    const struct fulcrum_sweep_visitor *visitor = sweep->visitor;
    size_t few_most = larger(FEW_POINTS, FEW_POINTS_PER_THREAD * sweep->thread_count);
    size_t few = sweep->thread_count;
    size_t run = 1;
    int stop = 0;
    for (size_t start = 0; start < sweep->count && !stop;) {
        size_t most = smaller(FULCRUM_SWEEP_BLOCK, sweep->count - start);
        struct queue queue = {start, start, start + most, few, run};
        predict_block(sweep, &queue);
        size_t count = queue.next - start;
        stop = visitor->visit(visitor->context, sweep->block, count);
        start = queue.next;
        few = smaller(2 * few, few_most);
        run = larger(
            1, smaller(RUN_MOST, count / (RUNS_PER_THREAD * sweep->thread_count)));
    }
    return stop;
}

static void free_worker(struct worker *worker)
{
    fulcrum_predictor_free(worker->predictor);
    fulcrum_sweep_best_free(worker->best);
    free(worker->column);
}

static enum fulcrum_status fill_worker(
    const struct sweep *sweep, struct worker *worker, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_plan *plan = sweep->plan;
    worker->column = calloc((size_t)plan->predict.draws + 1, sizeof *worker->column);
    if (worker->column == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of a point");
    }
    enum fulcrum_status status =
        fulcrum_predictor_new(sweep->scenario, &worker->predictor, err);
    if (status == FULCRUM_OK && plan->best != NULL) {
        status = fulcrum_sweep_best_new(plan, &worker->best, err);
    }
    return status;
}

static void free_sweep(struct sweep *sweep)
{
    for (size_t i = 0; sweep->workers != NULL && i < sweep->thread_count; i++) {
        free_worker(&sweep->workers[i]);
    }
    free(sweep->workers);
    free(sweep->reasons);
    free(sweep->block);
}

static enum fulcrum_status fill_sweep(struct sweep *sweep, struct fulcrum_error *err)
{
#ifdef _OPENMP
    sweep->thread_count = sweep->plan->thread_count > 0 ? sweep->plan->thread_count
                                                        : (size_t)omp_get_max_threads();
#else
    sweep->thread_count = 1;
#endif
    sweep->actors = fulcrum_field_find("run.actor_count");
    size_t slots = smaller(FULCRUM_SWEEP_BLOCK, sweep->count);
    sweep->block = calloc(slots, sizeof *sweep->block);
    sweep->reasons = calloc(slots, sizeof *sweep->reasons);
    sweep->workers = calloc(sweep->thread_count, sizeof *sweep->workers);
    if (sweep->block == NULL || sweep->reasons == NULL || sweep->workers == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a block of a sweep");
    }
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < sweep->thread_count && status == FULCRUM_OK; i++) {
        status = fill_worker(sweep, &sweep->workers[i], err);
    }
    return status;
}

static void join_bests(const struct sweep *sweep)
{
    for (size_t i = 0; sweep->plan->best != NULL && i < sweep->thread_count; i++) {
        fulcrum_sweep_best_merge(sweep->plan->best, sweep->workers[i].best);
    }
}

/* The draws stay in the predictor until they are kept. */
static enum fulcrum_status predict_yardstick(struct task *task, size_t index,
    struct fulcrum_yardstick **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_point *point = calloc(1, sizeof *point);
    if (point == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a point of a sweep");
    }
    enum fulcrum_status status = try_point(task, index, point, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_yardstick_new(
            task->worker->predictor, &point->prediction, out, err);
    }
    free(point);
    return status;
}

enum fulcrum_status fulcrum_sweep_yardstick(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, size_t index, struct fulcrum_yardstick **out,
    struct fulcrum_error *err)
{
    assert(index < fulcrum_sweep_count(plan));
    struct worker worker = {.best = NULL};
    struct sweep sweep = {.scenario = scenario, .plan = plan};
    struct task task = {.sweep = &sweep, .worker = &worker};
    sweep.actors = fulcrum_field_find("run.actor_count");
    enum fulcrum_status status =
        fulcrum_predictor_new(scenario, &worker.predictor, err);
    if (status == FULCRUM_OK) {
        status = predict_yardstick(&task, index, out, err);
    }
    free_worker(&worker);
    return status;
}

enum fulcrum_status fulcrum_sweep_run(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, const struct fulcrum_sweep_visitor *visitor,
    struct fulcrum_error *err)
{
    size_t count =
        plan->axis_count <= FULCRUM_SWEEP_AXES_MOST ? fulcrum_sweep_count(plan) : 0;
    if (count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "a sweep takes up to %d fields and 2^53 points",
            (int)FULCRUM_SWEEP_AXES_MOST);
    }
    struct sweep sweep = {
        .scenario = scenario, .plan = plan, .visitor = visitor, .count = count};
    enum fulcrum_status status = fill_sweep(&sweep, err);
    if (status == FULCRUM_OK) {
        int stopped = visit_all(&sweep);
        join_bests(&sweep);
        status = stopped ? fulcrum_fail(
                               err, FULCRUM_ERR_INTERRUPTED, "the sweep was stopped")
                         : FULCRUM_OK;
    }
    free_sweep(&sweep);
    return status;
}
