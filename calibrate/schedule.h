/* schedule.h - how a calibration's time is shared out. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_SCHEDULE_H
#define FULCRUM_CALIBRATE_SCHEDULE_H

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

#endif
