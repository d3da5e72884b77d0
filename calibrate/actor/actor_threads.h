/* actor_threads.h - actor threads, each stepping an environment of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_ACTOR_THREADS_H
#define FULCRUM_CALIBRATE_ACTOR_ACTOR_THREADS_H

#include <stddef.h>

#include "calibrate/actor/stepper.h"
#include "model/status.h"

struct fulcrum_actor_threads; /* opaque */

/*
 * Starts `count` threads that wait. They are not pinned: placing them is the
 * scheduler's work in a real run too.
 *   step_s   rough time of a step, to look at the clock-like flags only now and then
 *   fails    as fulcrum_stepper_open; FULCRUM_ERR_UNSUPPORTED (a thread cannot start)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actor_threads_new(
    struct fulcrum_actor_threads **out, const struct fulcrum_stage *stage, size_t count,
    double step_s, struct fulcrum_error *err);

void fulcrum_actor_threads_free(struct fulcrum_actor_threads *threads);

/* Started or not. */
size_t fulcrum_actor_threads_count(const struct fulcrum_actor_threads *threads);

/* Lets the first `count` threads step; they were all waiting. */
void fulcrum_actor_threads_start(struct fulcrum_actor_threads *threads, size_t count);

/*
 * Returns when all of them wait again.
 *   fails    FULCRUM_ERR_ENVIRONMENT: one of the environments failed; its thread has
 *            waited since, and the actor threads is only good for freeing
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actor_threads_stop(
    struct fulcrum_actor_threads *threads, struct fulcrum_error *err);

/* Totals over the threads that were started. */
struct fulcrum_actor_threads_reading {
    double wall_s;
    double step_count;
    double cpu_s; /* of the threads, and of what steps for them elsewhere */
};

/* While they step, or after. */
struct fulcrum_actor_threads_reading fulcrum_actor_threads_read(
    struct fulcrum_actor_threads *threads);

/*
 * Runs the first `count` threads for `window_s` after a short start-up.
 *   out      what happened within the window
 *   fails    as fulcrum_actor_threads_stop
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actor_threads_window(
    struct fulcrum_actor_threads *threads, size_t count, double window_s,
    struct fulcrum_actor_threads_reading *out, struct fulcrum_error *err);

#endif
