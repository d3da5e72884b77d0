/* finish_heap.h - the stepping actors, next to finish first. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FINISH_HEAP_H
#define FULCRUM_MODEL_FINISH_HEAP_H

#include <assert.h>
#include <math.h>
#include <stddef.h>

/*
 * A binary min-heap of finish times. The functions are inline because they are half of
 * the work of a simulated step. `value` has room for capacity + 1 times: the place
 * behind the last one holds a sentinel, so that a lone child has a sibling to lose to.
 * An empty heap has INFINITY there, so that nobody has to ask whether it is empty.
 */
struct fulcrum_finish_heap {
    double *value;
    size_t count;
};

/* Empties the heap; `value` is borrowed. */
static inline void fulcrum_finish_heap_init(
    struct fulcrum_finish_heap *heap, double *value)
{
    *heap = (struct fulcrum_finish_heap){.value = value};
    value[0] = (double)INFINITY;
}

/* The least finish time, INFINITY in an empty heap. */
static inline double fulcrum_finish_heap_top(const struct fulcrum_finish_heap *heap)
{
    return heap->value[0];
}

static inline void fulcrum_finish_heap_push(
    struct fulcrum_finish_heap *heap, double finish)
{
    double *value = heap->value;
    size_t hole = heap->count++;
    while (hole > 0 && value[(hole - 1) / 2] > finish) {
        value[hole] = value[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    value[hole] = finish;
}

/* Replaces the top, whose actor makes room for one that finishes at `finish`. */
static inline void fulcrum_finish_heap_replace(
    struct fulcrum_finish_heap *heap, double finish)
{
    double *value = heap->value;
    size_t count = heap->count;
    size_t hole = 0;
    size_t child = 1;
    value[count] = finish;
    while (child < count) {
        child += (size_t)(value[child + 1] < value[child]);
        if (value[child] >= finish) {
            break;
        }
        value[hole] = value[child];
        hole = child;
        child = 2 * hole + 1;
    }
    value[hole] = finish;
}

static inline void fulcrum_finish_heap_pop(struct fulcrum_finish_heap *heap)
{
    assert(heap->count > 0);
    double last = heap->value[--heap->count];
    if (heap->count > 0) {
        fulcrum_finish_heap_replace(heap, last);
    } else {
        heap->value[0] = (double)INFINITY;
    }
}

#endif
