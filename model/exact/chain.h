/* chain.h - exact solution of small networks with exponential steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_EXACT_CHAIN_H
#define FULCRUM_MODEL_EXACT_CHAIN_H

#include "model/network/network.h"

/*
 * Solves a network that fulcrum_network_check accepts by the Markov chain of the number
 * of waiting observations when a batch starts; docs/model.md "Exact chain". Threads
 * left to actors may be fractional. The bottleneck is not set.
 *   out      set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED (the reason, or chances
 *            beyond the range of double), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_chain_solve(
    const struct fulcrum_network *network, struct fulcrum_solution *out,
    struct fulcrum_error *err);

#endif
