/* fixed_batch.h - the mean cycle of a network with fixed batches, by equation (10). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_FIXED_BATCH_H
#define FULCRUM_MODEL_FAST_FIXED_BATCH_H

#include "model/fast/steps.h"
#include "model/network/network.h"

/* A time that is 0 is taken as this share of the others: far less than a solution is
 * off by. */
#define FULCRUM_NO_TIME_FRAC 1e-6

/* Actors per thread from which on threads are short nearly all the time; between one
 * and this, fixed batches are rough (docs/model.md "Fixed batches"). */
#define FULCRUM_CROWDED_TURNS 8.0

/*
 * Solves docs/model.md "Fixed batches" for a checked network of that policy; its
 * training is not looked at.
 *   gpu_stretch  times of the GPU are multiplied by it; 1 where it is not shared
 *   out          set on success only
 *   fails        FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fixed_batch_solve(
    const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out, struct fulcrum_error *err);

/*
 * The relative error of steps_per_s that one in twenty networks like this one exceeds,
 * from simulations of random networks: 0.02 to 0.11. Largest where few threads are
 * short, or steps of little variation keep step with each other.
 */
double fulcrum_fixed_batch_error_frac(const struct fulcrum_network *network);

#endif
