/* schedule.c - how a calibration's time is shared out. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One long visit per probe would give each of them another machine: the first a cool
 * and quiet one, the last a hot and busy one. Short visits in turn spread slow changes
 * over all. A visit that overruns takes its time from those to come in equal parts, so
 * that the end does not move.
 */
#include "calibrate/schedule.h"

#include <assert.h>
#include <math.h>

/* Rounds of about this length are long against a sample and short against a drift. */
#define ROUND_S 7.0

#define ROUND_COUNT_MIN 3.0
#define ROUND_COUNT_MAX 12.0

/* Fits and files take well below a second; short runs keep back less. */
#define RESERVE_S    0.3
#define RESERVE_FRAC 0.02

struct fulcrum_schedule fulcrum_schedule_plan(
    double budget_s, const double *share, size_t count)
{
    assert(budget_s > 0.0 && count <= FULCRUM_SCHEDULE_MAX_PROBES);
    double rounds = floor(budget_s / ROUND_S);
    struct fulcrum_schedule schedule = {
        .budget_s = budget_s,
        .reserve_s = fmin(RESERVE_S, RESERVE_FRAC * budget_s),
        .round_count = (size_t)fmin(fmax(rounds, ROUND_COUNT_MIN), ROUND_COUNT_MAX),
        .probe_count = count,
    };
    for (size_t i = 0; i < count; i++) {
        schedule.share[i] = share[i];
    }
    return schedule;
}

double fulcrum_schedule_visit_end(const struct fulcrum_schedule *schedule,
    double elapsed_s, size_t round, size_t probe)
{
    assert(round < schedule->round_count && probe < schedule->probe_count);
    double a_round = 0.0;
    double to_come = 0.0;
    for (size_t i = 0; i < schedule->probe_count; i++) {
        a_round += schedule->share[i];
        to_come += i >= probe ? schedule->share[i] : 0.0;
    }
    to_come += a_round * (double)(schedule->round_count - 1 - round);
    double left_s = schedule->budget_s - schedule->reserve_s - elapsed_s;
    if (to_come <= 0.0 || left_s <= 0.0) {
        return elapsed_s;
    }
    return elapsed_s + left_s * schedule->share[probe] / to_come;
}

double fulcrum_schedule_done_frac(
    const struct fulcrum_schedule *schedule, double elapsed_s)
{
    return fmin(fmax(elapsed_s / schedule->budget_s, 0.0), 1.0);
}
