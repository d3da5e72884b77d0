/* simulate.h - discrete-event simulation of a whole network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_SIMULATE_H
#define FULCRUM_MODEL_SIMULATE_H

#include "model/solution.h"

/*
 * Simulates until the 95 % interval of steps_per_s is as narrow as asked for, or
 * max_steps are reached (FULCRUM_FLAG_NOT_SETTLED). The same network, options and seed
 * give the same bytes. The host takes a batch when it is free and fewer than `depth`
 * batches are between the actors and the end of the GPU.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_simulate(
    const struct fulcrum_network *network, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err);

#endif
