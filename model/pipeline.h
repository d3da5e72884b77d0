/* pipeline.h - host, GPU and delay of a simulated network, between two steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PIPELINE_H
#define FULCRUM_MODEL_PIPELINE_H

#include "model/network.h"

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
    int has_host;
    size_t depth;
    size_t inside; /* batches on the host, waiting for the GPU or on it */
    size_t on_host;
    double host_end_s;
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
           steps < pipeline->block_at_steps;
}

/* Hands a batch to the host. */
void fulcrum_pipeline_start(struct fulcrum_pipeline *pipeline, size_t size);

/* Starts a train step; the env steps completed have reached `train_at_steps`. */
void fulcrum_pipeline_train(struct fulcrum_pipeline *pipeline);

/*
 * Env steps completed but not worked off by the learner: unlike what blocks batches, a
 * train step under way counts by what is left of it. 0 where nothing trains.
 */
double fulcrum_pipeline_backlog(const struct fulcrum_pipeline *pipeline, double steps);

#endif
