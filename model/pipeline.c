/* pipeline.c - host, GPU and delay of a simulated network, between two steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A state machine without an agenda: there are at most four things that can happen next
 * (the host finishes, inference or training on the GPU finishes, a delayed batch
 * arrives), so the next event is the least of four times. Inference and training share
 * the GPU equally while both are there, which is why what is left of each is kept as
 * work, not as the time of its end.
 *
 * Busy times and integrals over the numbers of items are summed while time passes;
 * Little's law then gives residence times without following single actors. Rings of
 * batches are as long as there can be batches, so that nothing is allocated after the
 * start.
 */
#include "model/pipeline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int queue_init(struct fulcrum_batch_queue *queue, size_t room)
{
    queue->room = room;
    queue->entry = calloc(room, sizeof *queue->entry);
    return queue->entry != NULL;
}

static void queue_push(struct fulcrum_batch_queue *queue, struct fulcrum_batch batch)
{
    assert(queue->count < queue->room);
    size_t last = queue->first + queue->count;
    queue->entry[last < queue->room ? last : last - queue->room] = batch;
    queue->count++;
}

static struct fulcrum_batch queue_pop(struct fulcrum_batch_queue *queue)
{
    assert(queue->count > 0);
    struct fulcrum_batch batch = queue->entry[queue->first];
    queue->first = queue->first + 1 < queue->room ? queue->first + 1 : 0;
    queue->count--;
    return batch;
}

static int has_host(const struct fulcrum_network *network)
{
    const struct fulcrum_batch_time *host = &network->host;
    return host->per_batch_s > 0.0 || host->per_item_s > 0.0 || host->count > 0;
}

enum fulcrum_status fulcrum_pipeline_init(struct fulcrum_pipeline *pipeline,
    const struct fulcrum_network *network, struct fulcrum_error *err)
{
    *pipeline = (struct fulcrum_pipeline){.network = network};
    pipeline->host_end_s = (double)INFINITY;
    /* Every batch has an actor, which bounds how many there can be. */
    double depth = has_host(network) ? fmin(network->depth, network->actors) : 1.0;
    pipeline->depth = (size_t)depth;
    if (!queue_init(&pipeline->gpu_queue, pipeline->depth) ||
        !queue_init(&pipeline->delayed, (size_t)network->actors)) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for the batches of %g actors", network->actors);
    }
    return FULCRUM_OK;
}

void fulcrum_pipeline_clear(struct fulcrum_pipeline *pipeline)
{
    free(pipeline->gpu_queue.entry);
    free(pipeline->delayed.entry);
}

/* Seconds until the first of inference and training on the GPU is done. */
static double gpu_left_s(const struct fulcrum_pipeline *pipeline)
{
    if (pipeline->on_gpu > 0 && pipeline->training) {
        return 2.0 * fmin(pipeline->inference_left_s, pipeline->train_left_s);
    }
    if (pipeline->on_gpu > 0) {
        return pipeline->inference_left_s;
    }
    return pipeline->training ? pipeline->train_left_s : (double)INFINITY;
}

static double delay_end_s(const struct fulcrum_pipeline *pipeline)
{
    const struct fulcrum_batch_queue *delayed = &pipeline->delayed;
    return delayed->count > 0
               ? delayed->entry[delayed->first].since_s + pipeline->network->delay_s
               : (double)INFINITY;
}

double fulcrum_pipeline_next_s(const struct fulcrum_pipeline *pipeline)
{
    double gpu_end_s = pipeline->now_s + gpu_left_s(pipeline);
    return fmin(fmin(pipeline->host_end_s, gpu_end_s), delay_end_s(pipeline));
}

void fulcrum_pipeline_advance(struct fulcrum_pipeline *pipeline, double now_s)
{
    double passed_s = now_s - pipeline->now_s;
    struct fulcrum_pipeline_sums *sums = &pipeline->sums;
    double share = pipeline->on_gpu > 0 && pipeline->training ? 0.5 : 1.0;
    if (pipeline->on_gpu > 0) {
        pipeline->inference_left_s -= share * passed_s;
        sums->inference_busy_s += share * passed_s;
    }
    if (pipeline->training) {
        pipeline->train_left_s -= share * passed_s;
        sums->train_busy_s += share * passed_s;
    }
    if (pipeline->on_host > 0) {
        sums->host_busy_s += passed_s;
    }
    sums->host_item_s += passed_s * (double)pipeline->on_host;
    sums->gpu_item_s += passed_s * (double)pipeline->gpu_items;
    sums->delay_item_s += passed_s * (double)pipeline->delayed_items;
    pipeline->now_s = now_s;
}

static void serve_next(struct fulcrum_pipeline *pipeline)
{
    if (pipeline->on_gpu == 0 && pipeline->gpu_queue.count > 0) {
        pipeline->on_gpu = queue_pop(&pipeline->gpu_queue).size;
        pipeline->inference_left_s =
            fulcrum_batch_time(&pipeline->network->gpu, (double)pipeline->on_gpu);
    }
}

static void finish_host(struct fulcrum_pipeline *pipeline)
{
    struct fulcrum_batch batch = {pipeline->on_host, pipeline->now_s};
    pipeline->gpu_items += batch.size;
    pipeline->on_host = 0;
    pipeline->host_end_s = (double)INFINITY;
    queue_push(&pipeline->gpu_queue, batch);
    serve_next(pipeline);
}

static void finish_inference(struct fulcrum_pipeline *pipeline)
{
    struct fulcrum_batch batch = {pipeline->on_gpu, pipeline->now_s};
    pipeline->on_gpu = 0;
    pipeline->gpu_items -= batch.size;
    pipeline->inside--;
    pipeline->delayed_items += batch.size;
    queue_push(&pipeline->delayed, batch);
    serve_next(pipeline);
}

static size_t finish_delay(struct fulcrum_pipeline *pipeline)
{
    size_t size = queue_pop(&pipeline->delayed).size;
    pipeline->delayed_items -= size;
    return size;
}

size_t fulcrum_pipeline_event(struct fulcrum_pipeline *pipeline)
{
    double now_s = pipeline->now_s;
    if (delay_end_s(pipeline) <= now_s) {
        return finish_delay(pipeline);
    }
    if (pipeline->host_end_s <= now_s) {
        finish_host(pipeline);
        return 0;
    }
    /* Only the GPU is left. Comparing work, not times, is immune to rounding. */
    int train_first =
        pipeline->training &&
        (pipeline->on_gpu == 0 || pipeline->train_left_s < pipeline->inference_left_s);
    if (train_first) {
        pipeline->training = 0;
    } else {
        finish_inference(pipeline);
        if (pipeline->training) {
            pipeline->train_left_s = fmax(0.0, pipeline->train_left_s);
        }
    }
    return 0;
}

int fulcrum_pipeline_takes(const struct fulcrum_pipeline *pipeline, double steps)
{
    const struct fulcrum_training *training = &pipeline->network->training;
    double per_train_step = training->env_steps_per_train_step;
    if (pipeline->on_host > 0 || pipeline->inside >= pipeline->depth) {
        return 0;
    }
    double backlog = steps - pipeline->trained_steps;
    return per_train_step <= 0.0 ||
           backlog < training->queue_train_steps * per_train_step;
}

void fulcrum_pipeline_start(struct fulcrum_pipeline *pipeline, size_t size)
{
    double host_s = 0.0;
    if (has_host(pipeline->network)) {
        host_s = fulcrum_batch_time(&pipeline->network->host, (double)size);
    }
    pipeline->inside++;
    pipeline->on_host = size;
    pipeline->host_end_s = pipeline->now_s + host_s;
    pipeline->sums.batch_count += 1.0;
    pipeline->sums.item_count += (double)size;
}

double fulcrum_pipeline_train_at(const struct fulcrum_pipeline *pipeline)
{
    double per_train_step = pipeline->network->training.env_steps_per_train_step;
    if (per_train_step <= 0.0 || pipeline->training) {
        return (double)INFINITY;
    }
    return pipeline->trained_steps + per_train_step;
}

void fulcrum_pipeline_train(struct fulcrum_pipeline *pipeline, double steps)
{
    if (steps < fulcrum_pipeline_train_at(pipeline)) {
        return;
    }
    pipeline->training = 1;
    pipeline->train_left_s = pipeline->network->training.train_step_s;
    pipeline->trained_steps += pipeline->network->training.env_steps_per_train_step;
}

double fulcrum_pipeline_backlog(const struct fulcrum_pipeline *pipeline, double steps)
{
    const struct fulcrum_training *training = &pipeline->network->training;
    if (training->env_steps_per_train_step <= 0.0) {
        return 0.0;
    }
    double left_frac =
        pipeline->training ? pipeline->train_left_s / training->train_step_s : 0.0;
    return steps - pipeline->trained_steps +
           left_frac * training->env_steps_per_train_step;
}
