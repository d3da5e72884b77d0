/* schedule.h - how a calibration's time is shared out. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_SCHEDULE_H
#define FULCRUM_CALIBRATE_PROBE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#define FULCRUM_SCHEDULE_MAX_PROBES 16

/*
 * Rounds that visit every probe for a short time each: a machine that slowly warms up
 * or gets busy then hits all of them alike.
 */
struct fulcrum_schedule {
    double budget_s;
    double reserve_s; /* kept back at the end for fits and files */
    size_t round_count;
    size_t probe_count;
    double share[FULCRUM_SCHEDULE_MAX_PROBES]; /* weight of one visit, >= 0 */
};

/*
 * A plan for `count` probes: 3 to 12 rounds, more where the budget is larger.
 *   budget_s   > 0
 *   share      >= 0, at least one of them above
 */
struct fulcrum_schedule fulcrum_schedule_plan(
    double budget_s, const double *share, size_t count);

/*
 * When the visit of `probe` in `round` ends, in seconds from the start, if it begins at
 * `elapsed_s`. What is left is shared among the visits to come, so that a probe that
 * took too long (or not all of its time) moves the others, not the end.
 */
double fulcrum_schedule_visit_end(const struct fulcrum_schedule *schedule,
    double elapsed_s, size_t round, size_t probe);

/* How far the run is, 0..1. */
double fulcrum_schedule_done_frac(
    const struct fulcrum_schedule *schedule, double elapsed_s);

/* On how many SMs a GPU is measured. */

#define FULCRUM_SM_COUNTS_MAX 12

/* Shares that a GPU grants: least, least + step, ..., and all. */
struct fulcrum_sm_steps {
    double all;
    double least;
    double step;
};

/*
 * All SMs, the fewest, then numbers that close the gaps between those before them, so
 * that a sweep that ends early is still spread out. No number comes twice.
 * Returns how many there are, at most FULCRUM_SM_COUNTS_MAX; 1 where there are no
 * parts.
 */
size_t fulcrum_sm_counts(
    double out[FULCRUM_SM_COUNTS_MAX], const struct fulcrum_sm_steps *steps);

/* At how many threads throughput is measured. */

#define FULCRUM_THREAD_COUNTS_MAX 12

/*
 * Increasing counts from 1: P/2, P, 5P/4, 3P/2, T, 2T and, on small machines, 4T, for P
 * cores and T threads; none above `most`. docs/model.md "CPU curve" says why these.
 *   out      FULCRUM_THREAD_COUNTS_MAX places
 * Returns how many.
 */
size_t fulcrum_thread_counts(
    size_t *out, size_t core_count, size_t thread_count, size_t most);

/* Training steps small enough to measure, and the step they stand for. */

#define FULCRUM_TRAIN_PLAN_MAX 3

/* Sequences (or samples) of a step, their trained length and what precedes it. */
struct fulcrum_train_size {
    double batch;
    double unroll;
    double burn_in;
};

/*
 * Operations of a step: batch x (constant + per_unroll unroll + per_burn_in burn_in).
 * Exact for networks that run once over each step of a sequence.
 */
struct fulcrum_train_work {
    double constant_flop;
    double per_unroll_flop;
    double per_burn_in_flop;
};

/* Operations of one training step of this size. */
double fulcrum_train_work_flop(
    const struct fulcrum_train_work *work, const struct fulcrum_train_size *size);

struct fulcrum_train_plan {
    struct fulcrum_train_size size[FULCRUM_TRAIN_PLAN_MAX]; /* increasing work */
    size_t count;
    bool is_nominal; /* the last size is the nominal one: nothing to extrapolate */
};

/*
 * Sizes whose largest step lasts at most `limit_s` where `flop_per_s` is right: the
 * nominal size, half and a quarter of its sequences if it is short enough; otherwise
 * all its sequences, shortened, so that every matrix keeps its width; fewer sequences
 * only where that is still too long.
 */
struct fulcrum_train_plan fulcrum_train_plan_of(const struct fulcrum_train_work *work,
    const struct fulcrum_train_size *nominal, double flop_per_s, double limit_s);

#endif
