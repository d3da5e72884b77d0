/* schedule.c - how a calibration's time is shared out. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One long visit per probe would give each of them another machine: the first a cool
 * and quiet one, the last a hot and busy one. Short visits in turn spread slow changes
 * over all. A visit that overruns takes its time from those to come in equal parts, so
 * that the end does not move.
 */

#include "calibrate/probe/probe.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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

/*
 * Times go with 1 / SMs, so that shares get closer towards the fewest; those of Inci et
 * al.'s Figure 4 (all, 3/4, 1/2, 1/4, 1/8) are among them.
 */
static const double shares[] = {
    1.0, 0.0, 0.5, 0.25, 0.75, 0.125, 0.375, 0.0625, 0.1875, 0.3125, 0.625, 0.875};

size_t fulcrum_sm_counts(
    double out[FULCRUM_SM_COUNTS_MAX], const struct fulcrum_sm_steps *steps)
{
    bool has_parts = steps->least < steps->all && steps->step > 0.0;
    size_t count = 0;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double value = steps->all;
        if (has_parts && shares[i] < 1.0) {
            /* The nearest number that is granted; at least the fewest. */
            double above = round((shares[i] * value - steps->least) / steps->step);
            value = fmin(value, steps->least + fmax(above, 0.0) * steps->step);
        }
        size_t k = 0;
        while (k < count && !(fabs(out[k] - value) < 0.5)) {
            k++;
        }
        if (k == count) {
            out[count++] = value;
        }
    }
    return count;
}

#define SMALL_THREAD_COUNT 8

size_t fulcrum_thread_counts(size_t out[FULCRUM_THREAD_COUNTS_MAX], size_t core_count,
    size_t thread_count, size_t most)
{
    const size_t wanted[] = {
        1,
        core_count / 2,
        core_count,
        (5 * core_count + 3) / 4,
        (3 * core_count + 1) / 2,
        thread_count,
        2 * thread_count,
        thread_count <= SMALL_THREAD_COUNT ? 4 * thread_count : 0,
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t at = count; /* insertion sort, without doubles */
        while (at > 0 && out[at - 1] > wanted[i]) {
            at--;
        }
        bool is_there = at > 0 && out[at - 1] == wanted[i];
        if (wanted[i] >= 1 && wanted[i] <= most && !is_there) {
            memmove(out + at + 1, out + at, (count - at) * sizeof *out);
            out[at] = wanted[i];
            count++;
        }
    }
    return count;
}

/*
 * Shorter sequences before fewer sequences: matrices keep their width, hence their
 * speed, and what changes is how often they are multiplied. Three sizes are enough for
 * a line and a look at whether it is one.
 */

/* Shortest sequence worth a ladder: below it the fixed part of a step rules. */
#define UNROLL_MIN 4.0

double fulcrum_train_work_flop(
    const struct fulcrum_train_work *work, const struct fulcrum_train_size *size)
{
    return size->batch * (work->constant_flop + work->per_unroll_flop * size->unroll +
                             work->per_burn_in_flop * size->burn_in);
}

/* The nominal size with fewer sequences and shorter ones, burn-in in proportion. */
static struct fulcrum_train_size shrink(
    const struct fulcrum_train_size *nominal, double batch, double unroll)
{
    return (struct fulcrum_train_size){
        .batch = batch,
        .unroll = unroll,
        .burn_in = round(nominal->burn_in * unroll / nominal->unroll),
    };
}

/* The nominal size, and half and a quarter of its sequences, as far as whole. */
static struct fulcrum_train_plan around_nominal(
    const struct fulcrum_train_size *nominal)
{
    struct fulcrum_train_plan plan = {.is_nominal = 1};
    for (int part = 4; part >= 1; part /= 2) {
        double batch = floor(nominal->batch / part);
        if (batch >= 1.0 &&
            (plan.count == 0 || batch > plan.size[plan.count - 1].batch)) {
            plan.size[plan.count] = *nominal;
            plan.size[plan.count++].batch = batch;
        }
    }
    return plan;
}

struct fulcrum_train_plan fulcrum_train_plan_of(const struct fulcrum_train_work *work,
    const struct fulcrum_train_size *nominal, double flop_per_s, double limit_s)
{
    double most_flop = limit_s * flop_per_s;
    if (fulcrum_train_work_flop(work, nominal) <= most_flop) {
        return around_nominal(nominal);
    }
    struct fulcrum_train_plan plan = {.is_nominal = 0};
    struct fulcrum_train_size top =
        shrink(nominal, nominal->batch, fmin(UNROLL_MIN, nominal->unroll));
    while (fulcrum_train_work_flop(work, &top) > most_flop && top.batch > 1.0) {
        top.batch = floor(0.5 * top.batch);
    }
    struct fulcrum_train_size longer = shrink(nominal, top.batch, 2.0 * top.unroll);
    while (longer.unroll <= nominal->unroll &&
           fulcrum_train_work_flop(work, &longer) <= most_flop) {
        top = longer;
        longer = shrink(nominal, top.batch, 2.0 * top.unroll);
    }
    /* Without memory a step has no length: then the number of samples is the ladder. */
    int by_length = top.unroll >= UNROLL_MIN;
    for (int part = 4; part >= 1; part /= 2) {
        double batch = by_length ? top.batch : fmax(floor(top.batch / part), 1.0);
        double unroll = by_length ? floor(top.unroll / part) : top.unroll;
        plan.size[plan.count] = shrink(nominal, batch, unroll);
        plan.count++;
    }
    return plan;
}
