/* fast.h - the fast method: equations instead of events, for any network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_FAST_H
#define FULCRUM_MODEL_FAST_FAST_H

#include "model/fast/steady.h"
#include "model/fast/steps.h"
#include "model/network/network.h"

/* The throughput that no arrangement of a network's parts can exceed. */

/*
 * Requests per second, docs/model.md "Asymptotic bounds": the least of what the CPU can
 * step, host and GPU can serve in batches of the best size beside the training that
 * goes with it, and N actors can ask for that never wait. INFINITY where nothing is in
 * the way.
 *   network  checked
 *   drain    of its CPU
 */
double fulcrum_ceiling_per_s(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain);

/* Training on the same GPU, by turns with and without a train step. */

/* Means over time, summed over what the network does by turns. */
struct fulcrum_flow {
    double steps_per_s;
    double batches_per_s;
    double host_busy_frac;
    double gpu_work_frac; /* of inference, as if alone */
    double at_gpu;
    double at_cpu;
    double stepping;
    double on_cores;
};

/* Adds a cycle of `steady` that lasts for a share of the time. */
void fulcrum_flow_add(struct fulcrum_flow *flow, const struct fulcrum_steady *steady,
    const struct fulcrum_cycle *cycle, double share);

/*
 * docs/model.md "Training on the same GPU", (11), for a network that trains.
 *   alone    the cycle without a train step
 *   out      starts at 0
 *   flags    those of enum fulcrum_flag that this solution deserves are added
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_training_turns(
    struct fulcrum_steady *steady, const struct fulcrum_cycle *alone,
    struct fulcrum_flow *out, unsigned *flags, struct fulcrum_error *err);

/*
 * Solves a network that fulcrum_network_check accepts, docs/model.md "Fast solver". The
 * bottleneck is not set. Where an equation is known to be rough the solution is flagged
 * and `error_rel` says so.
 *   table    a room to work in, all zero at first; kept between networks with the same
 *            law and cv it saves most of the time of a cohort equation
 *   out      set on success only
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fast_solve(
    const struct fulcrum_network *network, struct fulcrum_step_table *table,
    struct fulcrum_solution *out, struct fulcrum_error *err);

#endif
