/* stationary.h - the stationary distribution of a Markov chain. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STATIONARY_H
#define FULCRUM_MODEL_STATIONARY_H

#include <stddef.h>

/*
 * Share of visits to each of `count` states: out[0..count-1], summing to 1. `chance`
 * (count x count, row-major: from, to) is used up; its diagonal is not looked at, so
 * rows need not sum to 1. Each share is right to about count x 1e-16 of itself; one
 * below 1e-250 may be 0. Where chances of 0 leave several closed sets of states, the
 * result belongs to those that state 0 leads to.
 */
void fulcrum_stationary(double *out, double *chance, size_t count);

#endif
