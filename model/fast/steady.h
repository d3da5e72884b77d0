/* steady.h - the mean cycle of a network in which nothing trains, by the fast methods.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_STEADY_H
#define FULCRUM_MODEL_FAST_STEADY_H

#include "model/fast/greedy_batch.h"
#include "model/fast/steps.h"
#include "model/network/network.h"

/* One network, prepared once for any number of solutions. */
struct fulcrum_steady {
    struct fulcrum_network network; /* no service time is 0, no limit beyond N */
    struct fulcrum_cpu_drain drain;
    struct fulcrum_step_table *table; /* borrowed; filled when it is first needed */
    double fixed_factor; /* of the first solution: what the renewal equation makes of
                            the cohorts' throughput; 0 while not known */
};

/*
 * `network` is checked; its training is not looked at, its arrays are borrowed.
 *   table    all zero, or of an earlier network: kept if it fits this one as well
 */
void fulcrum_steady_init(struct fulcrum_steady *steady,
    const struct fulcrum_network *network, struct fulcrum_step_table *table);

/*
 * Solves docs/model.md "Fast solver" with GPU times multiplied by `gpu_stretch` >= 1.
 *   flags    those of enum fulcrum_flag that this solution deserves are added
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_steady_solve(
    struct fulcrum_steady *steady, double gpu_stretch, struct fulcrum_cycle *out,
    unsigned *flags, struct fulcrum_error *err);

#endif
