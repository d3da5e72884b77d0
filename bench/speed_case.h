/* speed_case.h - the solutions, simulations, sweeps and yardsticks that are timed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_SPEED_CASE_H
#define FULCRUM_BENCH_SPEED_CASE_H

#include "bench/speed_sweep.h"
#include "bench/timing.h"
#include "model/solution.h"

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

/* "solve", "simulation", "sweep", "yardstick". */
const char *fulcrum_speed_part_name(enum fulcrum_speed_part part);

/* Name of a series as a chart explains it; NULL where it is in the table alone. */
const char *fulcrum_speed_series_label(size_t series);

#endif
