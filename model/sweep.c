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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "model/sweep_best.h"
#include "model/sweep_front.h"
#include "model/sweep_probe.h"
#include "model/try.h"

/* Most points that a thread takes at once, and into how many runs a block is to be
 * parted for each thread, so that threads end at about the same time. */
enum { RUN_MOST = 16, RUNS_PER_THREAD = 8 };

/* Points of a block that a wish to see some soon does not cut off. The first block has
 * one per thread, so that progress shows early. */
enum { FEW_POINTS = 16, FEW_POINTS_PER_THREAD = 4 };

/* What a thread has for itself. */
struct worker {
    struct fulcrum_sweep_probe *probe;
    double *column;                  /* one number per draw */
    struct fulcrum_sweep_best *best; /* of its points; NULL: not wanted */
};

struct sweep {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_sweep_plan *plan;
    const struct fulcrum_sweep_visitor *visitor;
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

/* One thread of a sweep. */
struct task {
    const struct sweep *sweep;
    const struct worker *worker;
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

/* What is made of a point's draws while they are at hand. */
static void use_draws(const struct task *task, struct fulcrum_sweep_point *point)
{
    const struct worker *worker = task->worker;
    const struct fulcrum_sweep_plan *plan = task->sweep->plan;
    const struct fulcrum_predictor *predictor =
        fulcrum_sweep_probe_predictor(worker->probe);
    size_t count = 0;
    const double *draws = fulcrum_predictor_draws(predictor, &count);
    if (plan->yardstick != NULL) {
        fulcrum_yardstick_compare(plan->yardstick, predictor, &point->prediction,
            worker->column, point->relative);
    }
    if (worker->best != NULL) {
        fulcrum_sweep_best_add(worker->best, point->index, draws, count);
    }
    if (plan->front != NULL) {
        fulcrum_sweep_front_add_draws(plan->front, point, draws, count);
    }
}

static void predict_point(struct task *task, size_t index, size_t slot)
{
    struct fulcrum_sweep_point *out = &task->sweep->block[slot];
    struct fulcrum_error err;
    err.status = FULCRUM_OK;
    err.detail[0] = '\0'; /* the rest of it is large, and seldom needed */
    out->reason = "";
    if (fulcrum_sweep_probe_point(task->worker->probe, index, out, &err) ==
        FULCRUM_OK) {
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
        const size_t *only = sweep->plan->only;
        predict_point(task, only != NULL ? only[i] : i, slot);
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
    fulcrum_sweep_probe_free(worker->probe);
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
    TRY(fulcrum_sweep_probe_new(sweep->scenario, plan, &worker->probe, err));
    if (plan->best != NULL) {
        TRY(fulcrum_sweep_best_new(plan, &worker->best, err));
    }
    return FULCRUM_OK;
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

enum fulcrum_status fulcrum_sweep_yardstick(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, size_t index, struct fulcrum_yardstick **out,
    struct fulcrum_error *err)
{
    assert(index < fulcrum_sweep_count(plan));
    struct fulcrum_sweep_point *point = calloc(1, sizeof *point);
    if (point == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a point of a sweep");
    }
    struct fulcrum_sweep_probe *probe = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_sweep_probe_new(scenario, plan, &probe, err));
    TRY_OR_END(fulcrum_sweep_probe_point(probe, index, point, err));
    /* The draws stay in the predictor until they are kept. */
    status = fulcrum_yardstick_new(
        fulcrum_sweep_probe_predictor(probe), &point->prediction, out, err);
end:
    fulcrum_sweep_probe_free(probe);
    free(point);
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
    if (plan->only != NULL) {
        count = plan->only_count;
    }
    struct sweep sweep = {
        .scenario = scenario, .plan = plan, .visitor = visitor, .count = count};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fill_sweep(&sweep, err));
    int stopped = visit_all(&sweep);
    join_bests(&sweep);
    status = stopped
                 ? fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "the sweep was stopped")
                 : FULCRUM_OK;
end:
    free_sweep(&sweep);
    return status;
}
