/* old_steps.h - steps under way when a cycle begins, by their age. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_OLD_STEPS_H
#define FULCRUM_MODEL_OLD_STEPS_H

#include "model/renewal_cycle.h"

/* Arrays by place in the table of tails, of which `first` to `last` are set. */
struct fulcrum_old_steps {
    size_t first;
    size_t last;
    double stepping; /* how many are under way, */
    double spread;   /* and the variance of that, were it not known */
    double started[FULCRUM_RENEWAL_AGES];
    double chance[FULCRUM_RENEWAL_AGES]; /* still under way */
    /* Factors of the tail, or of its square, in sums over the ages. */
    double weight[FULCRUM_RENEWAL_AGES];   /* started * chance / tail at that age */
    double square[FULCRUM_RENEWAL_AGES];   /* weight * chance / tail */
    double doubtful[FULCRUM_RENEWAL_AGES]; /* weight * (1 - chance) */
};

/*
 * Steps of all earlier cycles, each like the one whose starts `state` has, when of
 * `at_cpu` actors at the CPU its queue waits for one of `servers` threads. An actor
 * that got ready just when the cycle began has left a thread to the queue.
 */
void fulcrum_old_steps_set(struct fulcrum_old_steps *old,
    const struct fulcrum_renewal_grid *grid, const struct fulcrum_renewal_state *state,
    double servers, double at_cpu);

/* How many are still under way after j slices, on average. */
double fulcrum_old_steps_left(const struct fulcrum_old_steps *old,
    const struct fulcrum_renewal_grid *grid, size_t j);

/* Variance of that number, their number at the start being known. */
double fulcrum_old_steps_variance(const struct fulcrum_old_steps *old,
    const struct fulcrum_renewal_grid *grid, size_t j);

#endif
