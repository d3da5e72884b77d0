/* gpu_memory.c - what has to lie in a GPU's memory at once, and whether it fits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts that grow with the design: parameters, training batch, inference batches, a
 * replay on the GPU. What libraries take for themselves is left out, so that a design
 * that just fits here may not fit in truth, and one that does not fit here never does.
 */
#include "model/design/memory_system.h"

#include <math.h>
#include <stdbool.h>

#include "model/design/cluster.h"
#include "model/try.h"

/* Inference alone needs the parameters themselves, in single precision. */
#define WEIGHT_BYTE 4.0

#define GIGA 1e9

/* A product with something unknown in it is 0, and said to be so. */
static double known(double value_byte, struct fulcrum_gpu_memory *memory)
{
    memory->is_whole = memory->is_whole && !isnan(value_byte);
    return isnan(value_byte) ? 0.0 : value_byte;
}

static bool trains(const struct fulcrum_workload *workload)
{
    return workload->training.env_steps_per_train_step > 0.0;
}

/* GPUs that a network is split over have a part of its state each; one infers, with all
 * of the weights. */
static double state_byte(const struct fulcrum_design *design)
{
    const struct fulcrum_workload *workload = &design->workload;
    double each = trains(workload)
                      ? fmax(WEIGHT_BYTE, workload->training.state_byte_per_parameter /
                                              design->run.model_parallel_gpu_count)
                      : WEIGHT_BYTE;
    return workload->network.parameter_count * each;
}

struct fulcrum_gpu_memory fulcrum_gpu_memory_of(
    const struct fulcrum_design *design, double batch_size)
{
    const struct fulcrum_workload *workload = &design->workload;
    struct fulcrum_gpu_memory out = {.is_whole = 1};
    out.state_byte = known(state_byte(design), &out);
    out.inference_byte = known(
        batch_size * workload->batching.depth * workload->network.observation_byte,
        &out);
    if (fulcrum_design_is_resident(design)) {
        out.simulation_byte =
            workload->simulation.memory_byte +
            workload->simulation.env_byte *
                (workload->simulation.env_count / design->run.instances_per_gpu);
    }
    if (trains(workload)) {
        /* Burn-in is computed too, but keeps nothing for a backward pass. */
        const struct fulcrum_workload_training *training = &design->workload.training;
        const struct fulcrum_workload_network *network = &design->workload.network;
        /* Samples of a training step on one GPU: of a batch that workers divide, its
         * part. */
        const struct fulcrum_layout layout = fulcrum_layout_of(design);
        bool is_split = design->run.batch_scaling == FULCRUM_BATCH_STRONG;
        double parts = layout.model_parallel_count;
        double workers = layout.node_count * layout.node_device_count / parts *
                         layout.instance_count;
        double batch =
            design->workload.training.batch_size / parts / (is_split ? workers : 1.0);
        double trained = batch * training->unroll_length;
        double warmed = batch * training->burn_in_length;
        double read = isnan(warmed) ? trained : trained + warmed;
        out.training_byte = known(read * network->observation_byte, &out) +
                            known(trained * network->activation_byte, &out);
        out.replay_byte = workload->training.replay_byte;
    }
    return out;
}

double fulcrum_gpu_memory_sum(const struct fulcrum_gpu_memory *memory)
{
    return memory->state_byte + memory->training_byte + memory->inference_byte +
           memory->replay_byte + memory->simulation_byte;
}

enum fulcrum_status fulcrum_gpu_memory_check(
    const struct fulcrum_design *design, double batch_size, struct fulcrum_error *err)
{
    if (design->machine.accelerator != FULCRUM_ACCELERATOR_GPU) {
        return FULCRUM_OK;
    }
    struct fulcrum_gpu_memory memory = fulcrum_gpu_memory_of(design, batch_size);
    double there_byte = design->machine.gpu.memory_byte / design->run.instances_per_gpu;
    /* False for a memory of unknown size. */
    FAIL_IF(fulcrum_gpu_memory_sum(&memory) > there_byte, err, FULCRUM_ERR_INFEASIBLE,
        "machine.gpu.memory_byte%s = %.6g: expected at least %.6g, in GB %.3g for "
        "parameters and their state, %.3g for a training batch, %.3g for inference "
        "batches, %.3g for replay, %.3g for simulation",
        design->run.instances_per_gpu > 1.0 ? " / run.instances_per_gpu" : "",
        there_byte, fulcrum_gpu_memory_sum(&memory), memory.state_byte / GIGA,
        memory.training_byte / GIGA, memory.inference_byte / GIGA,
        memory.replay_byte / GIGA, memory.simulation_byte / GIGA);
    return FULCRUM_OK;
}
