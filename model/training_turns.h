/* training_turns.h - training on the same GPU, by turns with and without a train step.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_TRAINING_TURNS_H
#define FULCRUM_MODEL_TRAINING_TURNS_H

#include "model/steady.h"

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

#endif
