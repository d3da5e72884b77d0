/* turn_queue.c - actors that take turns on threads, a slice of a step at a time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work time passes alike for all who have a thread, as in simulate.c, so that the end
 * of a slice does not move once it has begun. The line is a ring, since it never holds
 * more than all actors.
 */
#include "model/turn_queue.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

int fulcrum_turn_queue_init(
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

static double leave_line(struct fulcrum_turn_queue *queue)
{
    assert(queue->waiting_count > 0);
    double work_s = queue->waiting_work_s[queue->first++];
    queue->first = queue->first < queue->room ? queue->first : 0;
    queue->waiting_count--;
    return work_s;
}

void fulcrum_turn_queue_start(
    struct fulcrum_turn_queue *queue, double now_work_s, double slice_work_s)
{
    double work_s = leave_line(queue);
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
    int is_second =
        child + 1 < count && heap[child + 1].end_work_s < heap[child].end_work_s;
    return child + (size_t)is_second;
}

static struct fulcrum_turn take_next(struct fulcrum_turn_queue *queue)
{
    assert(queue->running_count > 0);
    struct fulcrum_turn *heap = queue->running;
    struct fulcrum_turn next = heap[0];
    struct fulcrum_turn last = heap[--queue->running_count];
    size_t hole = 0;
    size_t child = least_child(heap, hole, queue->running_count);
    while (child < queue->running_count && heap[child].end_work_s < last.end_work_s) {
        heap[hole] = heap[child];
        hole = child;
        child = least_child(heap, hole, queue->running_count);
    }
    heap[hole] = last;
    return next;
}

int fulcrum_turn_queue_end(struct fulcrum_turn_queue *queue)
{
    struct fulcrum_turn turn = take_next(queue);
    if (turn.left_work_s <= 0.0) {
        return 1;
    }
    fulcrum_turn_queue_join(queue, turn.left_work_s);
    return 0;
}
