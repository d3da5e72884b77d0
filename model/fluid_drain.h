/* fluid_drain.h - how fast a CPU works off actors that do not come back. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FLUID_DRAIN_H
#define FULCRUM_MODEL_FLUID_DRAIN_H

#include <stddef.h>

#include "model/network.h"

enum { FULCRUM_DRAIN_PIECES = 512 };

/*
 * dn/dt = -c(n) / t_e, solved once for a station: c is a line on each of `count`
 * pieces and constant beyond them, so that time and n have closed forms. Exact where
 * c is linear between whole actors and there are at most FULCRUM_DRAIN_PIECES of them.
 */
struct fulcrum_fluid_drain {
    double step_mean_s;
    double piece; /* actors per piece */
    size_t count;
    double rate[FULCRUM_DRAIN_PIECES + 1];  /* c at the ends of the pieces */
    double clock[FULCRUM_DRAIN_PIECES + 1]; /* seconds from there down to one piece */
};

/* For up to `actors` >= 1 at a checked station, mean_s > 0. */
void fulcrum_fluid_drain_init(struct fulcrum_fluid_drain *drain,
    const struct fulcrum_cpu_station *cpu, double actors, double step_mean_s);

/* How many of n >= 0 actors are left after time_s >= 0. */
double fulcrum_fluid_drain_left(
    const struct fulcrum_fluid_drain *drain, double n, double time_s);

#endif
