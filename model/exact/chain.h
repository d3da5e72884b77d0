/* chain.h - exact solution of small networks with exponential steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_EXACT_CHAIN_H
#define FULCRUM_MODEL_EXACT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/network/network.h"

/* How many of n stepping actors are left after a while. */

/* A count that falls one by one, at rate[n] while it is n; with room to compute in. */
struct fulcrum_pure_death {
    const double *rate_per_s; /* borrowed: [0] is 0, [1] to [most] are above 0 */
    size_t most;
    double *fastest_per_s; /* [n]: the largest of rate[0] to rate[n] */
    double scale_per_s;    /* jumps per second that `leave` and `stay` are made for */
    double *leave;         /* [n]: chance that a jump lowers the count */
    double *stay;          /* [n]: chance that it does not */
    double *count;         /* distribution of the count after some jumps */

    /* The last result: */
    size_t start;
    double time_s;
    size_t low; /* outside low to high all chances are 0 */
    size_t high;
    double *left;
};

/*
 * False where there is no memory; fulcrum_pure_death_clear is called all the same.
 */
bool fulcrum_pure_death_init(
    struct fulcrum_pure_death *death, const double *rate_per_s, size_t most);

void fulcrum_pure_death_clear(struct fulcrum_pure_death *death);

/*
 * Distribution of the count `time_s` after it was `start`: `start` + 1 chances that sum
 * to 1. Those above 1e-60 are right to about 1e-13 of themselves; those below 1e-100
 * are 0. Calls that begin one lower each, with times that grow by little, cost a
 * fraction of others. docs/model.md "Exact chain".
 * Borrowed: valid until the next call.
 */
const double *fulcrum_pure_death_run(
    struct fulcrum_pure_death *death, size_t start, double time_s);

/* The stationary distribution of a Markov chain. */

/*
 * Share of visits to each of `count` states: out[0..count-1], summing to 1. `chance`
 * (count x count, row-major: from, to) is used up; its diagonal is not looked at, so
 * rows need not sum to 1. Each share is right to about count x 1e-16 of itself; one
 * below 1e-250 may be 0. Where chances of 0 leave several closed sets of states, the
 * result belongs to those that state 0 leads to.
 */
void fulcrum_stationary(double *out, double *chance, size_t count);

/*
 * Solves a network that fulcrum_network_check accepts by the Markov chain of the number
 * of waiting observations when a batch starts; docs/model.md "Exact chain". Threads
 * left to actors may be fractional. The bottleneck is not set.
 *   out      set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED (the reason of fulcrum_chain_refusal, or chances
 *            beyond the range of double), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_chain_solve(
    const struct fulcrum_network *network, struct fulcrum_solution *out,
    struct fulcrum_error *err);

#endif
