/* few.h - the mean cycle of a greedy batch server with a handful of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FEW_H
#define FULCRUM_MODEL_FEW_H

#include "model/cycle_mean.h"
#include "model/network.h"

/*
 * Whether fulcrum_few_solve can take a checked network: greedy, host and GPU one after
 * the other, at most 64 actors, steps that vary next to their mean and the delay, and
 * no delay where there are more actors than threads.
 */
int fulcrum_few_accepts(const struct fulcrum_network *network);

/*
 * Whether a network that it can take is one to take it for: so few actors, or a limit
 * of batches that acts for a part of the time with so few, that equations for means are
 * off by more than a few per cent; a solution then costs a millisecond or so at most.
 */
int fulcrum_few_suits(const struct fulcrum_network *network);

/*
 * Solves docs/model.md "A handful of actors" for a network that fulcrum_few_accepts,
 * nothing training. GPU times are multiplied by `gpu_stretch` > 0.
 *   out      set on success only
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_NO_FIT (did not settle)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_few_solve(
    const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out, struct fulcrum_error *err);

#endif
