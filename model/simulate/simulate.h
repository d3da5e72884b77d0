/* simulate.h - discrete-event simulation of the pipeline. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_SIMULATE_SIMULATE_H
#define FULCRUM_MODEL_SIMULATE_SIMULATE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/network/network.h"

/* Actors that take turns on threads, a slice of a step at a time. */

/* A turn on a thread, in work time. */
struct fulcrum_turn {
    double end_work_s;  /* of its slice or, where nothing is left, of its step */
    double left_work_s; /* of its step, after that */
};

/*
 * Round robin (docs/model.md "Slices"): who waits does so in one line, of steps that
 * have not begun and of such as had to give way; who has a thread is in a heap, by the
 * end of its slice. Counts of both are for readers. An owner; it does not know how many
 * threads there are, nor when a slice ends: whoever uses it does.
 */
struct fulcrum_turn_queue {
    size_t running_count;
    size_t waiting_count;
    struct fulcrum_turn *running; /* binary heap, least end first */
    double *waiting_work_s;       /* a ring of what is left */
    size_t first;
    size_t room; /* of the ring */
};

/*
 * Nobody is there. For `actors` at most, of whom `threads` run at a time, both >= 1.
 * Returns 0, and leaves what may be cleared, where memory runs out.
 */
bool fulcrum_turn_queue_init(
    struct fulcrum_turn_queue *queue, size_t actors, size_t threads);

/* Accepts a struct of zeros. */
void fulcrum_turn_queue_clear(struct fulcrum_turn_queue *queue);

/* A step, or the rest of one, that takes `work_s` >= 0 joins the end of the line. */
void fulcrum_turn_queue_join(struct fulcrum_turn_queue *queue, double work_s);

/*
 * The head of the line, which must not be empty, gets a thread at `now_work_s` and
 * keeps it for `slice_work_s` > 0, or less if its step ends.
 */
void fulcrum_turn_queue_start(
    struct fulcrum_turn_queue *queue, double now_work_s, double slice_work_s);

/* When the next slice or step ends; INFINITY where nobody has a thread. */
double fulcrum_turn_queue_next(const struct fulcrum_turn_queue *queue);

/*
 * Whose slice ends next gives its thread back. Returns whether its step has ended with
 * it; else what is left of it joins the end of the line, which is also its head where
 * nobody else waits, and 0 is returned.
 */
bool fulcrum_turn_queue_end(struct fulcrum_turn_queue *queue);

/* A batch that waits for the GPU, or for the end of the delay. */
struct fulcrum_batch {
    size_t size;
    double since_s; /* end of the host, or of the GPU */
};

/* First in, first out; `room` is never exceeded. */
struct fulcrum_batch_queue {
    struct fulcrum_batch *entry;
    size_t room;
    size_t first;
    size_t count;
};

/* Sums since the last reset, of which means are made. */
struct fulcrum_pipeline_sums {
    double host_busy_s;
    double inference_busy_s; /* work done, not time shared with training */
    double train_busy_s;
    double gpu_item_s; /* items times seconds */
    double delay_item_s;
    double batch_count;
    double item_count;
};

/*
 * All of it is in the state at `now_s`; the owner moves time only up to the next event.
 * It reads the three members after that one before every event, so they are kept up to
 * date rather than worked out by calls.
 */
struct fulcrum_pipeline {
    const struct fulcrum_network *network;
    double now_s;
    double next_s; /* what happens next without help from the actors */
    double
        train_at_steps; /* whole count of env steps at which an idle learner starts */
    double block_at_steps; /* whole count of env steps from which no batch starts */
    bool has_host;
    size_t depth;
    size_t inside; /* batches on the host, waiting for the GPU or on it */
    size_t on_host;
    double host_end_s;
    double
        wake_end_s; /* the host takes a batch then; INFINITY: it is awake, or waits */
    struct fulcrum_batch_queue gpu_queue;
    size_t gpu_items; /* on the GPU or waiting for it */
    size_t on_gpu;
    double inference_left_s; /* work, alone on the GPU */
    int training;
    double train_left_s;
    double trained_steps;  /* env steps handed to the learner, K per train step */
    double shared_stretch; /* of either while both are active */
    struct fulcrum_batch_queue delayed;
    double delay_end_s; /* of the first batch in it */
    size_t delayed_items;
    struct fulcrum_pipeline_sums sums;
};

/*
 * An empty pipeline at time 0.
 *   fails    FULCRUM_ERR_NO_MEMORY; the owner calls fulcrum_pipeline_clear all the same
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_pipeline_init(
    struct fulcrum_pipeline *pipeline, const struct fulcrum_network *network,
    struct fulcrum_error *err);

/* Frees its queues; accepts a pipeline whose init failed. */
void fulcrum_pipeline_clear(struct fulcrum_pipeline *pipeline);

/* Lets time pass, at most to the next event. */
void fulcrum_pipeline_advance(struct fulcrum_pipeline *pipeline, double now_s);

/* Carries out one event that is due now; returns how many actors it sends to step. */
size_t fulcrum_pipeline_event(struct fulcrum_pipeline *pipeline);

/* Nonzero if the host would take a batch, given the env steps completed so far. */
static inline int fulcrum_pipeline_takes(
    const struct fulcrum_pipeline *pipeline, double steps)
{
    return pipeline->on_host == 0 && pipeline->inside < pipeline->depth &&
           steps < pipeline->block_at_steps && isinf(pipeline->wake_end_s);
}

/*
 * The host has waited and is woken: for waker_s and server_wake_s it takes no batch, or
 * for poll_wake_s where it still `polls`.
 */
void fulcrum_pipeline_wake(struct fulcrum_pipeline *pipeline, bool polls);

/* Hands a batch to the host. */
void fulcrum_pipeline_start(struct fulcrum_pipeline *pipeline, size_t size);

/* Starts a train step; the env steps completed have reached `train_at_steps`. */
void fulcrum_pipeline_train(struct fulcrum_pipeline *pipeline);

/*
 * Env steps completed but not worked off by the learner: unlike what blocks batches, a
 * train step under way counts by what is left of it. 0 where nothing trains.
 */
double fulcrum_pipeline_backlog(const struct fulcrum_pipeline *pipeline, double steps);

/*
 * Simulates until the 95 % interval of steps_per_s is as narrow as asked for, or
 * max_steps are reached (FULCRUM_FLAG_NOT_SETTLED). The same network, options and seed
 * give the same bytes. The host takes a batch when it is free and fewer than `depth`
 * batches are between the actors and the end of the GPU.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_simulate(
    const struct fulcrum_network *network, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err);

#endif
