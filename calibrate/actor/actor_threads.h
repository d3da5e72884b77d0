/* actor_threads.h - actor threads, each stepping an environment of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_ACTOR_THREADS_H
#define FULCRUM_CALIBRATE_ACTOR_ACTOR_THREADS_H

#include <stddef.h>

#include "calibrate/actor/stepper.h"
#include "model/status.h"

struct fulcrum_crew; /* opaque */

/*
 * Starts `count` threads that wait. They are not pinned: placing them is the
 * scheduler's work in a real run too.
 *   step_s   rough time of a step, to look at the clock-like flags only now and then
 *   out      given back with fulcrum_crew_free
 *   fails    as fulcrum_stepper_open; FULCRUM_ERR_UNSUPPORTED (a thread cannot start)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_crew_new(struct fulcrum_crew **out,
    const struct fulcrum_stage *stage, size_t count, double step_s,
    struct fulcrum_error *err);

/* Stops and joins the threads. Accepts NULL. */
void fulcrum_crew_free(struct fulcrum_crew *crew);

/* Threads of the crew, started or not. */
size_t fulcrum_crew_count(const struct fulcrum_crew *crew);

/* Lets the first `count` threads step; they were all waiting. */
void fulcrum_crew_start(struct fulcrum_crew *crew, size_t count);

/*
 * Returns when all of them wait again.
 *   fails    FULCRUM_ERR_ENVIRONMENT: one of the environments failed; its thread has
 *            waited since, and the crew is only good for freeing
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_crew_stop(
    struct fulcrum_crew *crew, struct fulcrum_error *err);

/* Totals over the threads that were started. */
struct fulcrum_crew_reading {
    double wall_s;
    double step_count;
    double cpu_s; /* of the threads, and of what steps for them elsewhere */
};

/* While they step, or after. */
struct fulcrum_crew_reading fulcrum_crew_read(struct fulcrum_crew *crew);

/*
 * Runs the first `count` threads for `window_s` after a short start-up.
 *   out      what happened within the window
 *   fails    as fulcrum_crew_stop
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_crew_window(struct fulcrum_crew *crew,
    size_t count, double window_s, struct fulcrum_crew_reading *out,
    struct fulcrum_error *err);

#endif
