/* chain.h - exact solution of small networks with exponential steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_CHAIN_H
#define FULCRUM_MODEL_CHAIN_H

#include "model/solution.h"

/* Its matrix has the square of this many entries. */
#define FULCRUM_CHAIN_MOST_ACTORS 4096.0

/*
 * Why there is no exact chain for this network, or NULL where there is one: exponential
 * steps, no overlap of host and GPU, no delay, no training. Borrowed, static.
 */
const char *fulcrum_chain_refusal(const struct fulcrum_network *network);

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
