/* canary.h - a fixed piece of work whose time tells whether the machine was disturbed.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_CANARY_H
#define FULCRUM_CALIBRATE_CANARY_H

#include <stddef.h>

#include "calibrate/stopwatch.h"
#include "model/status.h"

/* A sample beside a canary that took this much longer than usual is disturbed. */
#define FULCRUM_CANARY_LIMIT_REL 1.08

/*
 * Some tenths of a ms of work that feels what environments and networks feel: many
 * additions and multiplications at once, which a thread on the same core slows down,
 * and a walk through memory of the second-level cache's size. Its times hold under one
 * condition: where other cores are loaded on purpose the usual time is another one. {0}
 * is a legal start.
 */
struct fulcrum_canary_tables; /* what the loop reads; opaque */

struct fulcrum_canary {
    struct fulcrum_canary_tables *tables; /* NULL before the first run */
    double *reading_s;                    /* CPU seconds of every run so far */
    size_t count;
    size_t capacity;
    double baseline_s; /* of the readings so far; 0 before the first */
    double usual_frac; /* quantile of the readings that is the usual time; 0: 0.05 */
    struct fulcrum_span last; /* the latest run, and when it ended */
    double last_end_s;
};

/* Gives readings and tables back and leaves an empty canary. */
void fulcrum_canary_free(struct fulcrum_canary *canary);

/*
 * Before a sample: runs the loop, unless a run has only just ended.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_open(
    struct fulcrum_canary *canary, const struct fulcrum_stopwatch *stopwatch,
    struct fulcrum_error *err);

/*
 * After it: runs the loop again.
 *   out      the longer of the two runs
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_close(
    struct fulcrum_canary *canary, double *out, enum fulcrum_clock clock,
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_error *err);

/* A reading with a time from elsewhere. fails: FULCRUM_ERR_NO_MEMORY */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_add(
    struct fulcrum_canary *canary, double reading_s, struct fulcrum_error *err);

/*
 * A time of the loop over its usual one: the 5th percentile of the readings unless told
 * otherwise, since the very least may be luck. 1 before the first reading.
 */
double fulcrum_canary_rel(const struct fulcrum_canary *canary, double reading_s);

/*
 * Median of the readings within FULCRUM_CANARY_LIMIT_REL of the usual time: how fast
 * the core was while samples were undisturbed. NAN before the first reading. fails
 * FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_calm_s(
    const struct fulcrum_canary *canary, double *out, struct fulcrum_error *err);

#endif
