/* pipeline.c - host, GPU and delay of a simulated network, between two steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A state machine without an agenda: there are at most five things that can happen next
 * (the host wakes up or finishes, inference or training on the GPU finishes, a delayed
 * batch arrives), so the next event is the least of their times. Inference and training
 * share the GPU equally while both are there, which is why what is left of each is kept
 * as work, not as the time of its end. Stages that a network does not have are no
 * events: its batches pass them as part of the event before.
 *
 * Busy times and integrals over the numbers of items are summed while time passes;
 * Little's law then gives residence times without following single actors. Rings of
 * batches are as long as there can be batches, so that nothing is allocated after the
 * start.
 */

#include "model/simulate/simulate.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/network/network.h"
#include "model/try.h"

/*
 * Actors that take turns on threads, a slice of a step at a time. Work time passes
 * alike for all who have a thread, as in simulate.c, so that the end of a slice does
 * not move once it has begun. The line is a ring, since it never holds more than all
 * actors.
 */

bool fulcrum_turn_queue_init(
    struct fulcrum_turn_queue *queue, size_t actors, size_t threads)
{
    size_t most = threads < actors ? threads : actors;
    *queue = (struct fulcrum_turn_queue){.room = actors};
    queue->running = calloc(most, sizeof *queue->running);
    queue->waiting_work_s = calloc(actors, sizeof *queue->waiting_work_s);
    return queue->running != NULL && queue->waiting_work_s != NULL;
}

void fulcrum_turn_queue_clear(struct fulcrum_turn_queue *queue)
{
    free(queue->running);
    free(queue->waiting_work_s);
    *queue = (struct fulcrum_turn_queue){.room = 0};
}

void fulcrum_turn_queue_join(struct fulcrum_turn_queue *queue, double work_s)
{
    assert(queue->waiting_count < queue->room);
    size_t last = queue->first + queue->waiting_count++;
    queue->waiting_work_s[last < queue->room ? last : last - queue->room] = work_s;
}

void fulcrum_turn_queue_start(
    struct fulcrum_turn_queue *queue, double now_work_s, double slice_work_s)
{
    assert(queue->waiting_count > 0);
    double work_s = queue->waiting_work_s[queue->first++];
    queue->first = queue->first < queue->room ? queue->first : 0;
    queue->waiting_count--;
    double spent_s = work_s < slice_work_s ? work_s : slice_work_s;
    struct fulcrum_turn turn = {now_work_s + spent_s, work_s - spent_s};
    struct fulcrum_turn *heap = queue->running;
    size_t hole = queue->running_count++;
    while (hole > 0 && heap[(hole - 1) / 2].end_work_s > turn.end_work_s) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = turn;
}

double fulcrum_turn_queue_next(const struct fulcrum_turn_queue *queue)
{
    return queue->running_count > 0 ? queue->running[0].end_work_s : (double)INFINITY;
}

/* The least of two children of `hole`; no less than `count` where there is none. */
static size_t least_child(const struct fulcrum_turn *heap, size_t hole, size_t count)
{
    size_t child = 2 * hole + 1;
    bool is_second =
        child + 1 < count && heap[child + 1].end_work_s < heap[child].end_work_s;
    return child + (size_t)is_second;
}

bool fulcrum_turn_queue_end(struct fulcrum_turn_queue *queue)
{
    assert(queue->running_count > 0);
    struct fulcrum_turn *heap = queue->running;
    struct fulcrum_turn turn = heap[0];
    struct fulcrum_turn last = heap[--queue->running_count];
    size_t hole = 0;
    size_t child = least_child(heap, hole, queue->running_count);
    while (child < queue->running_count && heap[child].end_work_s < last.end_work_s) {
        heap[hole] = heap[child];
        hole = child;
        child = least_child(heap, hole, queue->running_count);
    }
    heap[hole] = last;
    if (turn.left_work_s <= 0.0) {
        return true;
    }
    fulcrum_turn_queue_join(queue, turn.left_work_s);
    return false;
}

static bool queue_init(struct fulcrum_batch_queue *queue, size_t room)
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

static double lesser(double first, double second)
{
    return first < second ? first : second; /* fmin is a call: it must heed NaN */
}

/* Nobody trains where K is 0: no count of steps starts a train step or blocks batches.
 */
static void await_steps(struct fulcrum_pipeline *pipeline)
{
    double period = pipeline->network->training.env_steps_per_train_step;
    bool trains = period > 0.0;
    pipeline->train_at_steps = trains && !pipeline->training
                                   ? ceil(pipeline->trained_steps + period)
                                   : (double)INFINITY;
    bool is_alternating = pipeline->network->loop == FULCRUM_LOOP_ALTERNATING;
    double queue = is_alternating ? 1.0 : pipeline->network->training.queue_train_steps;
    pipeline->block_at_steps = !trains ? (double)INFINITY
                               : is_alternating && pipeline->training
                                   ? 0.0
                                   : ceil(pipeline->trained_steps + queue * period);
}

enum fulcrum_status fulcrum_pipeline_init(struct fulcrum_pipeline *pipeline,
    const struct fulcrum_network *network, struct fulcrum_error *err)
{
    *pipeline = (struct fulcrum_pipeline){.network = network,
        .has_host = fulcrum_batch_takes_time(&network->host),
        .shared_stretch = fulcrum_sharing_stretch(&network->training),
        .host_end_s = (double)INFINITY,
        .wake_end_s = (double)INFINITY,
        .delay_end_s = (double)INFINITY,
        .next_s = (double)INFINITY};
    await_steps(pipeline);
    /* Every batch has an actor, which bounds how many there can be. */
    double depth = pipeline->has_host ? lesser(network->depth, network->actors) : 1.0;
    pipeline->depth = (size_t)depth;
    FAIL_IF(!queue_init(&pipeline->gpu_queue, pipeline->depth) ||
                !queue_init(&pipeline->delayed, (size_t)network->actors),
        err, FULCRUM_ERR_NO_MEMORY, "no memory for the batches of %g actors",
        network->actors);
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
        return pipeline->shared_stretch *
               lesser(pipeline->inference_left_s, pipeline->train_left_s);
    }
    if (pipeline->on_gpu > 0) {
        return pipeline->inference_left_s;
    }
    return pipeline->training ? pipeline->train_left_s : (double)INFINITY;
}

static void find_next(struct fulcrum_pipeline *pipeline)
{
    double gpu_end_s = pipeline->now_s + gpu_left_s(pipeline);
    double host_end_s = lesser(pipeline->host_end_s, pipeline->wake_end_s);
    pipeline->next_s = lesser(lesser(host_end_s, gpu_end_s), pipeline->delay_end_s);
}

void fulcrum_pipeline_wake(struct fulcrum_pipeline *pipeline, bool polls)
{
    const struct fulcrum_network *network = pipeline->network;
    pipeline->wake_end_s =
        pipeline->now_s +
        (polls ? network->poll_wake_s : network->waker_s + network->server_wake_s);
    find_next(pipeline);
}

void fulcrum_pipeline_advance(struct fulcrum_pipeline *pipeline, double now_s)
{
    double passed_s = now_s - pipeline->now_s;
    struct fulcrum_pipeline_sums *sums = &pipeline->sums;
    double worked_s = pipeline->on_gpu > 0 && pipeline->training
                          ? passed_s / pipeline->shared_stretch
                          : passed_s;
    if (pipeline->on_gpu > 0) {
        pipeline->inference_left_s -= worked_s;
        sums->inference_busy_s += worked_s;
    }
    if (pipeline->training) {
        pipeline->train_left_s -= worked_s;
        sums->train_busy_s += worked_s;
    }
    if (pipeline->on_host > 0) {
        sums->host_busy_s += passed_s;
    }
    sums->gpu_item_s += passed_s * (double)pipeline->gpu_items;
    sums->delay_item_s += passed_s * (double)pipeline->delayed_items;
    pipeline->now_s = now_s;
}

static void serve(struct fulcrum_pipeline *pipeline, size_t size)
{
    pipeline->on_gpu = size;
    pipeline->inference_left_s =
        fulcrum_batch_time(&pipeline->network->gpu, (double)size);
}

static void enter_gpu(struct fulcrum_pipeline *pipeline, size_t size)
{
    pipeline->gpu_items += size;
    if (pipeline->on_gpu == 0) {
        serve(pipeline, size);
    } else {
        queue_push(&pipeline->gpu_queue, (struct fulcrum_batch){size, pipeline->now_s});
    }
}

static void await_delay(struct fulcrum_pipeline *pipeline)
{
    const struct fulcrum_batch_queue *delayed = &pipeline->delayed;
    pipeline->delay_end_s =
        delayed->count > 0
            ? delayed->entry[delayed->first].since_s + pipeline->network->delay_s
            : (double)INFINITY;
}

/* Without a delay the actors of the batch step at once. */
static size_t finish_inference(struct fulcrum_pipeline *pipeline)
{
    size_t size = pipeline->on_gpu;
    pipeline->on_gpu = 0;
    pipeline->gpu_items -= size;
    pipeline->inside--;
    if (pipeline->gpu_queue.count > 0) {
        serve(pipeline, queue_pop(&pipeline->gpu_queue).size);
    }
    if (pipeline->network->delay_s <= 0.0) {
        return size;
    }
    pipeline->delayed_items += size;
    queue_push(&pipeline->delayed, (struct fulcrum_batch){size, pipeline->now_s});
    await_delay(pipeline);
    return 0;
}

/* Comparing work, not times, is immune to rounding. */
static size_t finish_on_gpu(struct fulcrum_pipeline *pipeline)
{
    if (!pipeline->training) {
        return finish_inference(pipeline);
    }
    if (pipeline->on_gpu == 0 || pipeline->train_left_s < pipeline->inference_left_s) {
        pipeline->training = 0;
        await_steps(pipeline);
        return 0;
    }
    pipeline->train_left_s = fmax(0.0, pipeline->train_left_s);
    return finish_inference(pipeline);
}

size_t fulcrum_pipeline_event(struct fulcrum_pipeline *pipeline)
{
    size_t released = 0;
    if (pipeline->delay_end_s <= pipeline->now_s) {
        size_t size = queue_pop(&pipeline->delayed).size;
        pipeline->delayed_items -= size;
        await_delay(pipeline);
        released = size;
    } else if (pipeline->wake_end_s <= pipeline->now_s) {
        pipeline->wake_end_s = (double)INFINITY;
    } else if (pipeline->host_end_s <= pipeline->now_s) {
        size_t size = pipeline->on_host;
        pipeline->on_host = 0;
        pipeline->host_end_s = (double)INFINITY;
        enter_gpu(pipeline, size);
    } else {
        released = finish_on_gpu(pipeline);
    }
    find_next(pipeline);
    return released;
}

void fulcrum_pipeline_start(struct fulcrum_pipeline *pipeline, size_t size)
{
    pipeline->inside++;
    pipeline->sums.batch_count += 1.0;
    pipeline->sums.item_count += (double)size;
    if (pipeline->has_host) {
        double host_s = fulcrum_batch_time(&pipeline->network->host, (double)size);
        pipeline->on_host = size;
        pipeline->host_end_s = pipeline->now_s + host_s;
    } else {
        enter_gpu(pipeline, size);
    }
    find_next(pipeline);
}

void fulcrum_pipeline_train(struct fulcrum_pipeline *pipeline)
{
    pipeline->training = 1;
    pipeline->train_left_s = pipeline->network->training.train_step_s;
    pipeline->trained_steps += pipeline->network->training.env_steps_per_train_step;
    await_steps(pipeline);
    find_next(pipeline);
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
