/* node.h - several GPUs beside one processor: who infers, who trains, what they share.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_NODE_H
#define FULCRUM_MODEL_NODE_H

#include "model/design.h"
#include "model/lower.h"
#include "model/network.h"
#include "model/solution.h"

/*
 * Threads that one shard's GPUs want to keep busy: of its own GPU, and of its part of
 * those that only train. Before the cap of lower.h.
 */
double fulcrum_node_reserved_threads(const struct fulcrum_design *design);

/*
 * Seconds that a transfer of `byte` over the link of `target` takes longer (or, below
 * 0, shorter) than over that of `reference`; 0 where a link or the size is not known.
 */
double fulcrum_node_transfer_s(double byte, const struct fulcrum_link *reference,
    const struct fulcrum_link *target);

/* Seconds to hand new weights to a GPU that infers, after a training step elsewhere. */
double fulcrum_node_weights_s(const struct fulcrum_design *design);

/*
 * Makes the training of a shard, as it stands with a learner on its own GPU, that of
 * its part of the GPUs that only train. Changes nothing where there are none.
 *   shards   its network's training and train_active_frac are restated
 */
void fulcrum_node_part_training(
    const struct fulcrum_design *design, struct fulcrum_shards *shards);

/*
 * Restates what is said of "the GPU" in the solution of a shard whose training runs on
 * other GPUs: busy time is the mean over all GPUs used, and the bottleneck may be the
 * learner. Changes nothing where each GPU does both.
 */
void fulcrum_node_part_busy(
    const struct fulcrum_shards *shards, struct fulcrum_solution *solution);

#endif
