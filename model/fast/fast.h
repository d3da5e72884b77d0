/* fast.h - the fast method: equations instead of events, for any network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_FAST_H
#define FULCRUM_MODEL_FAST_FAST_H

#include "model/fast/steps.h"
#include "model/network/network.h"

/*
 * What no arrangement of a network's parts can exceed, in requests per second,
 * docs/model.md "Asymptotic bounds": the least of what the CPU can step, host and GPU
 * can serve in batches of the best size beside the training that goes with it, and N
 * actors can ask for that never wait. INFINITY where nothing is in the way.
 *   network  checked
 *   drain    of its CPU
 */
double fulcrum_ceiling_per_s(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain);

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
