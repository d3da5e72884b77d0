/* gpu_memory.h - what has to lie in a GPU's memory at once, and whether it fits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_GPU_MEMORY_H
#define FULCRUM_MODEL_DESIGN_GPU_MEMORY_H

#include <stdbool.h>

#include "model/design/design.h"

/* Of one GPU. What the workload does not say counts as 0: sums are lower bounds. */
struct fulcrum_gpu_memory {
    double state_byte;     /* parameters, with what training keeps for each */
    double training_byte;  /* a training batch: observations and activations */
    double inference_byte; /* observations of the batches under way */
    double replay_byte;
    double simulation_byte; /* environments on the GPU */
    bool is_whole;          /* nothing was unknown */
};

/*
 * (docs/model.md "Memory system".)
 *   batch_size   observations in an inference batch
 */
struct fulcrum_gpu_memory fulcrum_gpu_memory_of(
    const struct fulcrum_design *design, double batch_size);

double fulcrum_gpu_memory_sum(const struct fulcrum_gpu_memory *memory);

/*
 * A memory of unknown size holds anything, and a CPU learner has none of its own.
 *   fails    FULCRUM_ERR_INFEASIBLE: the detail names every part
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_gpu_memory_check(
    const struct fulcrum_design *design, double batch_size, struct fulcrum_error *err);

#endif
