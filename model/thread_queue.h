/* thread_queue.h - actors that wait for threads while nobody comes to the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_THREAD_QUEUE_H
#define FULCRUM_MODEL_THREAD_QUEUE_H

#include "model/residual.h"
#include "model/status.h"

/* A piece of time in which few threads end more than one step. */
struct fulcrum_slice {
    struct fulcrum_residual_shift shift;
    double early[FULCRUM_RESIDUAL_NODES]; /* of a step that began at any moment of it */
    double again; /* the chance that such a step also ended there */
};

void fulcrum_slice_init(struct fulcrum_slice *slice,
    const struct fulcrum_residual_grid *grid, double time_s);

/* By the number n at the CPU, 0..actors. */
struct fulcrum_thread_row {
    double *chance;
    double *left;   /* NODES each: the row of a stepping actor, times the chance */
    double *early;  /* weights of rows that are added at the end of a slice: who */
    double *newest; /* began within it, who began at its end */
};

struct fulcrum_thread_queue {
    const struct fulcrum_residual_grid *grid; /* borrowed */
    size_t actors;
    size_t threads;
    struct fulcrum_thread_row now;
    struct fulcrum_thread_row next;
    double *binomial;
    double *aged; /* weights, for each n at the end of a slice, of a row at its start */
    double *memory; /* owned: all of the above */
};

/*
 *   out      set on success only; the caller clears it
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_thread_queue_init(
    struct fulcrum_thread_queue *out, const struct fulcrum_residual_grid *grid,
    size_t actors, size_t threads, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_thread_queue_clear(struct fulcrum_thread_queue *queue);

/* Nobody is there with any chance. */
void fulcrum_thread_queue_empty(struct fulcrum_thread_queue *queue);

/* With this chance n actors are there; `row` over its first entry is theirs. */
void fulcrum_thread_queue_set(
    struct fulcrum_thread_queue *queue, size_t n, double chance, const double *row);

/* Who has a thread steps for the time of the slice; who ends hands it on and leaves. */
void fulcrum_thread_queue_pass(
    struct fulcrum_thread_queue *queue, const struct fulcrum_slice *slice);

#endif
