/* timing.h - how long a piece of work takes, repeated until its median settles. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_TIMING_H
#define FULCRUM_BENCH_TIMING_H

#include <signal.h>
#include <stddef.h>

#include "model/status.h"

enum fulcrum_timing_clock {
    FULCRUM_TIMING_THREAD_CPU, /* of the calling thread: other programs do not count */
    FULCRUM_TIMING_WALL        /* for work on several threads */
};

/* What is timed. */
struct fulcrum_timing_work {
    /* Does the work once. *units: how many pieces it did (steps, points), else 1. */
    enum fulcrum_status (*run)(void *context, double *units, struct fulcrum_error *err);
    void *context;
    enum fulcrum_timing_clock clock;
};

/* Seconds of one run of the work. */
struct fulcrum_timing {
    size_t sample_count; /* 0: stopped before there was one */
    size_t inner_count;  /* runs in each sample */
    double median_s;
    double low_quartile_s;
    double high_quartile_s;
    double min_s;
    double units; /* pieces in a run */
};

/*
 * Runs the work until a sample lasts a millisecond at least, which warms it up, then
 * takes samples until the interval of their median is within 2 %, or `budget_s` seconds
 * are over, but one at least.
 *   out      set on success only
 *   stop     set from outside to take no more samples; NULL: never
 *   fails    as the work; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_timing_measure(
    const struct fulcrum_timing_work *work, struct fulcrum_timing *out, double budget_s,
    const volatile sig_atomic_t *stop, struct fulcrum_error *err);

#endif
