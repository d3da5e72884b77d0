/* thread_queue.c - actors that wait for threads while nobody comes to the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Followed are the chance of each number at the CPU and, given that number, one row of
 * what is left of a step for all who have a thread. In a slice of time each of them
 * ends with the same chance; a thread that is free is taken over at some moment of the
 * slice, and may be free again before its end. How often is set so that threads met at
 * random end as many steps in the slice as they must: its length over the mean step.
 */
#include "model/thread_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/binomial.h"

/* Chances below this are dropped. */
#define LEAST_CHANCE 1e-8

/* Gauss's two points of an interval. */
#define GAUSS_LOW  0.2113248654051871
#define GAUSS_HIGH 0.7886751345948129

enum { NODES = FULCRUM_RESIDUAL_NODES };

void fulcrum_slice_init(struct fulcrum_slice *slice,
    const struct fulcrum_residual_grid *grid, double time_s)
{
    double later[NODES];
    double sooner[NODES];
    fulcrum_residual_shift_init(&slice->shift, grid, GAUSS_LOW * time_s);
    fulcrum_residual_move_on(&slice->shift, grid->fresh, later);
    fulcrum_residual_shift_init(&slice->shift, grid, GAUSS_HIGH * time_s);
    fulcrum_residual_move_on(&slice->shift, grid->fresh, sooner);
    fulcrum_residual_set(slice->early, 0.5, later);
    fulcrum_residual_add(slice->early, 0.5, sooner);
    fulcrum_residual_shift_init(&slice->shift, grid, time_s);
    double ended = 1.0 - fulcrum_residual_left(&slice->shift, grid->rested);
    slice->again = fmax(0.0, 1.0 - ended * grid->mean_s / time_s);
}

/* Hands out `count` numbers of a block. */
static double *take(double **block, size_t count)
{
    double *out = *block;
    *block += count;
    return out;
}

static struct fulcrum_thread_row take_row(double **block, size_t states)
{
    return (struct fulcrum_thread_row){.chance = take(block, states),
        .left = take(block, states * NODES),
        .early = take(block, states),
        .newest = take(block, states)};
}

enum fulcrum_status fulcrum_thread_queue_init(struct fulcrum_thread_queue *out,
    const struct fulcrum_residual_grid *grid, size_t actors, size_t threads,
    struct fulcrum_error *err)
{
    size_t states = actors + 1;
    double *block = calloc(states * (2 * (size_t)NODES + 8), sizeof *block);
    if (block == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory for a queue of %zu actors", actors);
    }
    *out = (struct fulcrum_thread_queue){
        .grid = grid, .actors = actors, .threads = threads, .memory = block};
    out->now = take_row(&block, states);
    out->next = take_row(&block, states);
    out->binomial = take(&block, states);
    out->aged = take(&block, states);
    return FULCRUM_OK;
}

void fulcrum_thread_queue_clear(struct fulcrum_thread_queue *queue)
{
    free(queue->memory);
    *queue = (struct fulcrum_thread_queue){.actors = 0};
}

static void empty(const struct fulcrum_thread_row *row, size_t states)
{
    memset(row->chance, 0, states * sizeof *row->chance);
    memset(row->left, 0, states * NODES * sizeof *row->left);
    memset(row->early, 0, states * sizeof *row->early);
    memset(row->newest, 0, states * sizeof *row->newest);
}

void fulcrum_thread_queue_empty(struct fulcrum_thread_queue *queue)
{
    empty(&queue->now, queue->actors + 1);
}

void fulcrum_thread_queue_set(
    struct fulcrum_thread_queue *queue, size_t n, double chance, const double *row)
{
    queue->now.chance[n] = chance;
    if (n > 0) {
        fulcrum_residual_set(queue->now.left + n * NODES, chance / row[0], row);
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How a slice ends, for those who had `n` at its start. */
struct slice_end {
    size_t n;
    size_t aged;   /* who stepped all the time */
    size_t taken;  /* threads taken over; later, who began within the slice */
    size_t newest; /* and who began at its end */
};

static void put(
    struct fulcrum_thread_queue *queue, const struct slice_end *end, double chance)
{
    const struct fulcrum_thread_row *next = &queue->next;
    size_t steps = least(end->n, queue->threads);
    next->chance[end->n] += chance;
    if (steps > 0) {
        double weight = chance / (double)steps;
        next->early[end->n] += weight * (double)end->taken;
        next->newest[end->n] += weight * (double)end->newest;
        queue->aged[end->n] += weight * (double)end->aged;
    }
}

/*
 * Threads taken over may be through again, a geometric number of times each; in the end
 * everybody is.
 */
static void put_all(struct fulcrum_thread_queue *queue,
    const struct fulcrum_slice *slice, const struct slice_end *end, double chance)
{
    size_t taken = end->taken;
    size_t most = taken > 0 ? end->n - end->aged : 0;
    double way = chance * fulcrum_power(1.0 - slice->again, taken);
    double rest = chance;
    for (size_t i = 0; i <= most && rest > LEAST_CHANCE; i++) {
        struct slice_end repeat = *end;
        repeat.n -= i;
        size_t others = least(repeat.n, queue->threads) - end->aged;
        repeat.taken = least(others, taken > i ? taken - i : 0);
        repeat.newest = others - repeat.taken;
        put(queue, &repeat, i < most ? way : rest);
        rest -= way;
        way *= slice->again * (double)(taken + i) / (double)(i + 1);
    }
}

static void pass_from(
    struct fulcrum_thread_queue *queue, const struct fulcrum_slice *slice, size_t n)
{
    double chance = queue->now.chance[n];
    size_t steps = least(n, queue->threads);
    double left[NODES] = {1.0};
    double done = 1.0;
    if (steps > 0) {
        done =
            fulcrum_residual_move_on(&slice->shift, queue->now.left + n * NODES, left);
    }
    fulcrum_binomial(queue->binomial, steps, done);
    for (size_t i = 0; i <= steps; i++) {
        double way = chance * queue->binomial[i];
        struct slice_end end = {
            .n = n - i, .aged = steps - i, .taken = least(i, n - steps)};
        if (way > LEAST_CHANCE) {
            put_all(queue, slice, &end, way);
        }
    }
    for (size_t i = 1; i <= n; i++) {
        if (queue->aged[i] > 0.0) {
            fulcrum_residual_add(queue->next.left + i * NODES, queue->aged[i], left);
            queue->aged[i] = 0.0;
        }
    }
}

void fulcrum_thread_queue_pass(
    struct fulcrum_thread_queue *queue, const struct fulcrum_slice *slice)
{
    empty(&queue->next, queue->actors + 1);
    for (size_t n = 0; n <= queue->actors; n++) {
        if (queue->now.chance[n] > LEAST_CHANCE) {
            pass_from(queue, slice, n);
        }
    }
    for (size_t n = 1; n <= queue->actors; n++) {
        double *left = queue->next.left + n * NODES;
        if (queue->next.chance[n] > 0.0) {
            fulcrum_residual_add(left, queue->next.early[n], slice->early);
            fulcrum_residual_add(left, queue->next.newest[n], queue->grid->fresh);
        }
    }
    struct fulcrum_thread_row done = queue->now;
    queue->now = queue->next;
    queue->next = done;
}
