/* old_steps.h - steps under way when a cycle begins, by their age. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_OLD_STEPS_H
#define FULCRUM_MODEL_OLD_STEPS_H

#include "model/renewal_cycle.h"

/* How many slices are worked out at a time. */
enum { FULCRUM_OLD_STEPS_BLOCK = 8 };

/* Arrays by place in the table of tails, of which `first` to `last` are set. */
struct fulcrum_old_steps {
    size_t first;
    size_t last;
    double stepping; /* how many are under way, */
    double spread;   /* and the variance of that, were it not known */
    double started[FULCRUM_RENEWAL_AGES];
    double each[FULCRUM_RENEWAL_AGES];   /* chance to be under way / tail at that age */
    double weight[FULCRUM_RENEWAL_AGES]; /* started * each: factors of later tails */
};

/*
 * Steps of all earlier cycles, each like the one whose starts `state` has, when of
 * `at_cpu` actors at the CPU its queue waits for one of `servers` threads. An actor
 * that got ready just when the cycle began has left a thread to the queue.
 */
void fulcrum_old_steps_set(struct fulcrum_old_steps *old,
    const struct fulcrum_renewal_grid *grid, const struct fulcrum_renewal_state *state,
    double servers, double at_cpu);

/*
 * How many are still under way after j, j + 1, ... slices, on average: `out` has
 * FULCRUM_OLD_STEPS_BLOCK of them.
 */
void fulcrum_old_steps_left(const struct fulcrum_old_steps *old,
    const struct fulcrum_renewal_grid *grid, size_t j, double *out);

/*
 * Variance of that number after j slices, their number at the start being known;
 * `still` is its mean.
 */
double fulcrum_old_steps_variance(const struct fulcrum_old_steps *old,
    const struct fulcrum_renewal_grid *grid, size_t j, double still);

#endif
