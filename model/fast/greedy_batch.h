/* greedy_batch.h - greedy batches by the embedded mean-field equation (9). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_GREEDY_BATCH_H
#define FULCRUM_MODEL_FAST_GREEDY_BATCH_H

#include "model/fast/steps.h"
#include "model/network/network.h"

/* How fast a CPU works off actors that do not come back. */

enum { FULCRUM_DRAIN_PIECES = 40 };

/* On a piece c(n) = n (rate - bend n) if it is the lowest, else a line. */
struct fulcrum_drain_piece {
    double low;    /* n at its lower end; the last piece has no upper end */
    double rate;   /* c at its lower end; at n -> 0 the slope of c */
    double slope;  /* of c; in the lowest piece minus its bend */
    double span_s; /* to drain from the upper end to the lower one */
};

/*
 * dn/dt = -c(n) / t_e in closed form: exact for the curve of equation (2), for others
 * with lines between up to FULCRUM_DRAIN_PIECES values of n.
 */
struct fulcrum_cpu_drain {
    double step_mean_s;
    size_t count;
    struct fulcrum_drain_piece piece[FULCRUM_DRAIN_PIECES];
};

/* For up to `actors` >= 1 at a checked station, step_mean_s > 0. */
void fulcrum_cpu_drain_init(struct fulcrum_cpu_drain *drain,
    const struct fulcrum_cpu_station *cpu, double actors, double step_mean_s);

/* c(n) as the pieces have it. */
double fulcrum_cpu_drain_rate(const struct fulcrum_cpu_drain *drain, double n);

/* How many of n >= 0 actors are left after time_s >= 0. */
double fulcrum_cpu_drain_left(
    const struct fulcrum_cpu_drain *drain, double n, double time_s);

struct fulcrum_greedy_batch {
    struct fulcrum_cycle cycle; /* smoothed, idling counted */
    double idle_frac;   /* batches at whose end nobody waits, so that the GPU idles */
    double plain_batch; /* of the fluid alone: not smoothed, never idle */
    double plain_steps_per_s;
    double plain_least; /* of its actors at the CPU, at the end of a batch */
};

/*
 * docs/model.md "Mean-field equation": any number of actors, steps taken as
 * exponential, a batch limit not looked at.
 *   network      checked; t_e > 0 and t(1) > 0
 *   drain        of its CPU
 *   gpu_stretch  as fulcrum_batch_service_of
 */
struct fulcrum_greedy_batch fulcrum_greedy_batch_solve(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain,
    double gpu_stretch);

#endif
