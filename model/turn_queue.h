/* turn_queue.h - actors that take turns on threads, a slice of a step at a time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_TURN_QUEUE_H
#define FULCRUM_MODEL_TURN_QUEUE_H

#include <stddef.h>

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
int fulcrum_turn_queue_init(
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
 * Whose slice ends next gives its thread back. Returns 1 if its step has ended with it;
 * else what is left of it joins the end of the line, which is also its head where
 * nobody else waits, and 0 is returned.
 */
int fulcrum_turn_queue_end(struct fulcrum_turn_queue *queue);

#endif
