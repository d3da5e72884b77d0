/* sweep_front.c - the points of a sweep that no other beats in every metric. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points are added in their order, on one thread, so that what is refused does not
 * depend on how many threads there are. Draws come as points are solved, on any thread:
 * their metrics are kept in a place of each point, and the front of each draw is found
 * at the end. That is the chance that a point is on the front, not that of the whole
 * front: of two points that beat each other by turns one is there in every draw.
 */
#include "model/sweep_front.h"

#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "model/try.h"

#define MORE(name) [FULCRUM_OUTPUT_##name] = FULCRUM_SENSE_MORE
#define LESS(name) [FULCRUM_OUTPUT_##name] = FULCRUM_SENSE_LESS

static const enum fulcrum_sense senses[FULCRUM_OUTPUT_COUNT] = {
    MORE(steps_per_s),
    MORE(frames_per_s),
    LESS(runtime_s),
    LESS(quality_runtime_s),
    MORE(sample_efficiency_frac),
    LESS(allreduce_s), /* train_batch: it depends */
    MORE(mean_batch),
    MORE(cpu_thread_busy_frac),
    MORE(cpu_core_busy_frac),
    MORE(host_busy_frac),
    MORE(gpu_busy_frac),
    MORE(gpu_inference_busy_frac),
    MORE(gpu_train_busy_frac),
    MORE(sm_active_frac),
    LESS(cpu_residence_s),
    LESS(host_residence_s),
    LESS(gpu_residence_s),
    LESS(delay_s),
    LESS(cpu_w),
    LESS(gpu_w),
    LESS(system_w),
    LESS(gpu_j),
    LESS(system_j),
    MORE(steps_per_j_gpu),
    MORE(steps_per_j_system),
    LESS(cpu_gpu_ratio_machine),
    LESS(cpu_gpu_ratio_used),
    LESS(actor_threads_per_learner_core),
};

enum fulcrum_sense fulcrum_output_sense(size_t output)
{
    return output < FULCRUM_OUTPUT_COUNT ? senses[output] : FULCRUM_SENSE_NONE;
}

struct fulcrum_sweep_front {
    const struct fulcrum_sweep_plan *plan;
    struct fulcrum_front_metric metrics[FULCRUM_PARETO_METRICS_MOST];
    enum fulcrum_sense senses[FULCRUM_PARETO_METRICS_MOST];
    size_t metric_count;
    struct fulcrum_pareto *pareto;
    size_t point_count; /* of the grid */
    size_t draw_count;  /* 0: none are kept */
    double *drawn;      /* point_count x draw_count x metric_count, NAN: cannot run */
    size_t *times;      /* draws in which each point is on the front */
    size_t *indices;    /* of the front */
};

static double metric_of(const struct fulcrum_front_metric *metric, const double *varied,
    const double *outputs)
{
    return metric->is_axis ? varied[metric->at] : outputs[metric->at];
}

/* All of the draws, or none of them. */
static size_t draws_that_fit(
    const struct fulcrum_sweep_plan *plan, size_t points, size_t metrics)
{
    double numbers = plan->predict.draws * (double)points * (double)metrics;
    return numbers <= (double)FULCRUM_FRONT_NUMBERS_MOST ? (size_t)plan->predict.draws
                                                         : 0;
}

static enum fulcrum_status make_room(
    struct fulcrum_sweep_front *front, struct fulcrum_error *err)
{
    size_t count = front->point_count * front->draw_count * front->metric_count;
    front->drawn = calloc(count + 1, sizeof *front->drawn);
    front->times =
        calloc(front->draw_count > 0 ? front->point_count : 1, sizeof *front->times);
    if (front->drawn == NULL || front->times == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of a front");
    }
    for (size_t i = 0; i < count; i++) {
        front->drawn[i] = FULCRUM_UNKNOWN;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sweep_front_new(const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_front_metric *metrics, size_t metric_count,
    struct fulcrum_sweep_front **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_front *front = calloc(1, sizeof *front);
    if (front == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a front");
    }
    front->plan = plan;
    front->metric_count = metric_count;
    for (size_t i = 0; i < metric_count && i < FULCRUM_PARETO_METRICS_MOST; i++) {
        front->metrics[i] = metrics[i];
        front->senses[i] = metrics[i].sense;
    }
    enum fulcrum_status status =
        fulcrum_pareto_new(front->senses, metric_count, &front->pareto, err);
    if (status == FULCRUM_OK) {
        front->point_count = fulcrum_sweep_count(plan);
        front->draw_count = draws_that_fit(plan, front->point_count, metric_count);
        status = make_room(front, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_sweep_front_free(front);
        return status;
    }
    *out = front;
    return FULCRUM_OK;
}

void fulcrum_sweep_front_free(struct fulcrum_sweep_front *front)
{
    if (front != NULL) {
        fulcrum_pareto_free(front->pareto);
        free(front->drawn);
        free(front->times);
        free(front->indices);
        free(front);
    }
}

int fulcrum_sweep_front_has_draws(const struct fulcrum_sweep_front *front)
{
    return front->draw_count > 0;
}

size_t fulcrum_sweep_front_left_out(const struct fulcrum_sweep_front *front)
{
    return fulcrum_pareto_left_out(front->pareto);
}

/* The metrics of a point in draw k. */
static double *drawn_at(const struct fulcrum_sweep_front *front, size_t index, size_t k)
{
    return front->drawn + (index * front->draw_count + k) * front->metric_count;
}

void fulcrum_sweep_front_add_draws(struct fulcrum_sweep_front *front,
    const struct fulcrum_sweep_point *point, const double *draws, size_t draw_count)
{
    for (size_t k = 0; k < draw_count && k < front->draw_count; k++) {
        const double *outputs = draws + k * FULCRUM_OUTPUT_COUNT;
        double *drawn = drawn_at(front, point->index, k);
        /* A draw that cannot run has no outputs, and is on no front. */
        int ran = outputs[FULCRUM_OUTPUT_steps_per_s] > 0.0;
        for (size_t i = 0; ran && i < front->metric_count; i++) {
            drawn[i] = metric_of(&front->metrics[i], point->varied, outputs);
        }
    }
}

enum fulcrum_status fulcrum_sweep_front_add(struct fulcrum_sweep_front *front,
    const struct fulcrum_sweep_point *points, size_t count, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count; i++) {
        double values[FULCRUM_PARETO_METRICS_MOST];
        for (size_t j = 0; j < front->metric_count; j++) {
            values[j] = metric_of(
                &front->metrics[j], points[i].varied, points[i].prediction.value);
        }
        if (points[i].status == FULCRUM_OK) {
            TRY(fulcrum_pareto_add(front->pareto, points[i].index, values, err));
        }
    }
    return FULCRUM_OK;
}

/* Counts the points on the front of draw k. */
static enum fulcrum_status count_draw(const struct fulcrum_sweep_front *front,
    struct fulcrum_pareto *pareto, size_t k, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < front->point_count && status == FULCRUM_OK; i++) {
        status = fulcrum_pareto_add(pareto, i, drawn_at(front, i, k), err);
    }
    const struct fulcrum_pareto_point *points = NULL;
    size_t count = 0;
    if (status == FULCRUM_OK) {
        status = fulcrum_pareto_front(pareto, &points, &count, err);
    }
    for (size_t i = 0; i < count; i++) {
        front->times[points[i].index]++;
    }
    return status;
}

static enum fulcrum_status count_draws(
    struct fulcrum_sweep_front *front, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    if (front->draw_count > 0) {
        memset(front->times, 0, front->point_count * sizeof *front->times);
    }
    for (size_t k = 0; k < front->draw_count && status == FULCRUM_OK; k++) {
        struct fulcrum_pareto *pareto = NULL;
        status = fulcrum_pareto_new(front->senses, front->metric_count, &pareto, err);
        if (status == FULCRUM_OK) {
            status = count_draw(front, pareto, k, err);
        }
        fulcrum_pareto_free(pareto);
    }
    return status;
}

enum fulcrum_status fulcrum_sweep_front_end(struct fulcrum_sweep_front *front,
    const size_t **out, size_t *count, struct fulcrum_error *err)
{
    const struct fulcrum_pareto_point *points = NULL;
    size_t found = 0;
    TRY(fulcrum_pareto_front(front->pareto, &points, &found, err));
    TRY(count_draws(front, err));
    free(front->indices);
    front->indices = calloc(found + 1, sizeof *front->indices);
    if (front->indices == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a front");
    }
    for (size_t i = 0; i < found; i++) {
        front->indices[i] = points[i].index;
    }
    *out = front->indices;
    *count = found;
    return FULCRUM_OK;
}

double fulcrum_sweep_front_frac(const struct fulcrum_sweep_front *front, size_t index)
{
    return front->draw_count > 0
               ? (double)front->times[index] / (double)front->draw_count
               : FULCRUM_UNKNOWN;
}
