/* speed_case.h - what is timed, how, and the chart. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_SPEED_CASE_H
#define FULCRUM_BENCH_SPEED_CASE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"
#include "model/network/network.h"
#include "model/status.h"

/* How long a piece of work takes, repeated until its median settles. */

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
 *   stop     set from outside to take no more samples; NULL: never
 *   fails    as the work; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_timing_measure(
    const struct fulcrum_timing_work *work, struct fulcrum_timing *out, double budget_s,
    const volatile sig_atomic_t *stop, struct fulcrum_error *err);

/*
 * A yardstick for the cost of a solution: cycles per second of a closed network of
 * single servers that each customer visits once, by the exact recursion over the
 * customers (Reiser and Lavenberg 1980).
 *   service_s  `station_count` <= FULCRUM_MVA_STATIONS_MOST means, > 0
 */
double fulcrum_mva_cycles_per_s(
    const double *service_s, size_t station_count, size_t customers);

/* How the workload makes its batches. */
enum fulcrum_speed_batches {
    FULCRUM_SPEED_GREEDY,
    FULCRUM_SPEED_SHIPPED /* half of the actors in each */
};

/* A grid of predictions that is timed, without writing it: r2d2-atari on one GPU of a
 * dgx-1 over threads and actors; presets are read once. */
struct fulcrum_speed_sweep;

/* Fails as the loaders of presets/load/preset.h. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_speed_sweep_new(
    struct fulcrum_speed_sweep **out, enum fulcrum_speed_batches batches,
    struct fulcrum_context *context, struct fulcrum_error *err);

void fulcrum_speed_sweep_free(struct fulcrum_speed_sweep *sweep);

enum fulcrum_speed_part {
    FULCRUM_SPEED_SOLVE,      /* one network by one method */
    FULCRUM_SPEED_SIMULATION, /* so many steps; units are steps */
    FULCRUM_SPEED_SWEEP,      /* a grid of design points; units are points */
    FULCRUM_SPEED_YARDSTICK   /* what others would call a solution */
};

/* Series of FULCRUM_SPEED_SOLVE over the actors, in the order of the table. */
enum { FULCRUM_SPEED_SERIES_COUNT = 9 };

struct fulcrum_speed_case {
    enum fulcrum_speed_part part;
    size_t series;    /* of FULCRUM_SPEED_SOLVE */
    const char *name; /* static */
    const char *law;  /* of steps; "" where there are none */
    double actors;    /* NAN where it varies */
    double threads;   /* that they step on, likewise */
    struct fulcrum_network network;
    struct fulcrum_solver_options options;
    struct fulcrum_speed_sweep *sweep; /* borrowed */
    size_t sweep_threads;
    struct fulcrum_timing timing; /* no samples: not timed yet */
};

/*
 * Every case with at most `actors_most` actors, none timed yet.
 *   returns  never NULL; the caller frees it with free()
 *   sweeps   one for each enum fulcrum_speed_batches, borrowed as long as the cases are
 *            used
 */
struct fulcrum_speed_case *fulcrum_speed_cases_new(
    size_t *count, double actors_most, struct fulcrum_speed_sweep *const *sweeps);

/*
 * Times one case into its `timing`.
 *   fails    as fulcrum_timing_measure and what is timed; FULCRUM_ERR_NUMERIC (the two
 *            yardsticks are exact, but differ)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_speed_case_time(
    struct fulcrum_speed_case *speed_case, double budget_s,
    const volatile sig_atomic_t *stop, struct fulcrum_error *err);

struct fulcrum_speed {
    const struct fulcrum_speed_case *cases; /* those without samples are left out */
    size_t case_count;
    bool is_interrupted;
};

/* Where a chart goes, and how large. */
struct fulcrum_speed_chart {
    const char *path; /* ends in .svg, .pdf or .png */
    double width_pt;
    double height_pt;
};

/*
 * Draws the time of one solution against the number of actors.
 *   fails    as fulcrum_chart_draw and fulcrum_plot_write
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_speed_draw(
    const struct fulcrum_speed *speed, const struct fulcrum_speed_chart *chart,
    struct fulcrum_error *err);

#endif
