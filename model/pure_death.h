/* pure_death.h - how many of n stepping actors are left after a while. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PURE_DEATH_H
#define FULCRUM_MODEL_PURE_DEATH_H

#include <stddef.h>

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
 * Returns 0 where there is no memory; fulcrum_pure_death_clear is called all the same.
 */
int fulcrum_pure_death_init(
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

#endif
