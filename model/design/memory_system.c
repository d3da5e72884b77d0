/* memory_system.c - what a last-level cache and memory bandwidth do to GPU time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Misses fall as a power of the cache's size, with exponents from 0.3 to 0.7 (Hartstein
 * et al. 2006, "Cache miss behavior: is it sqrt(2)?"), down to what has to be fetched
 * once whatever the cache. A cache that holds all that is used again is the end of the
 * law: what was still a power there vanishes at once, as it does where work goes
 * through its data in a circle.
 */
#include "model/design/memory_system.h"

#include <math.h>
#include <stdbool.h>

#include "model/design/cluster.h"
#include "model/try.h"

struct fulcrum_cache_law fulcrum_cache_law_of(
    const struct fulcrum_workload_network *network)
{
    return (struct fulcrum_cache_law){.exponent = network->cache_exponent,
        .compulsory_frac = network->compulsory_frac,
        .working_set_byte = network->working_set_byte};
}

/* Comparisons with NAN are false: no cache holds a working set that is not known. */
static bool holds(const struct fulcrum_cache_law *law, double cache_byte)
{
    return cache_byte >= law->working_set_byte;
}

/* Traffic along the power law; `cache_rel` is the new cache over the old. */
static double power_traffic(double compulsory_frac, double exponent, double cache_rel)
{
    return compulsory_frac + (1.0 - compulsory_frac) * pow(cache_rel, -exponent);
}

double fulcrum_dram_traffic_rel(
    const struct fulcrum_cache_law *law, double reference_byte, double target_byte)
{
    if (isnan(reference_byte) || isnan(target_byte)) {
        return 1.0;
    }
    if (holds(law, reference_byte)) {
        /* All of the reference's traffic is compulsory: the law begins where the
         * working set does not fit any more. */
        return holds(law, target_byte)
                   ? 1.0
                   : pow(target_byte / law->working_set_byte, -law->exponent);
    }
    if (holds(law, target_byte)) {
        return law->compulsory_frac;
    }
    return power_traffic(
        law->compulsory_frac, law->exponent, target_byte / reference_byte);
}

double fulcrum_dram_compulsory_frac(
    const struct fulcrum_cache_law *law, double reference_byte, double target_byte)
{
    double traffic = fulcrum_dram_traffic_rel(law, reference_byte, target_byte);
    double compulsory = holds(law, reference_byte) ? 1.0 : law->compulsory_frac;
    return traffic > compulsory ? compulsory / traffic : 1.0;
}

/*
 * (18): GPU time with another memory system over GPU time as it was, all else equal.
 *   dram_frac      share of the time that is bound by DRAM bandwidth
 *   traffic_rel    of fulcrum_dram_traffic_rel
 *   bandwidth_rel  above 0
 */
static double memory_time_rel(
    double dram_frac, double traffic_rel, double bandwidth_rel)
{
    return 1.0 - dram_frac + dram_frac * traffic_rel / bandwidth_rel;
}

/* Time that the change saves, as a share of all. */
static double saved_frac(const struct fulcrum_memory_change *change)
{
    return change->gain_frac / (1.0 + change->gain_frac);
}

/* Of DRAM's own time, what is saved with a given traffic. */
static double saved_of_dram(const struct fulcrum_memory_change *change, double traffic)
{
    return 1.0 - traffic / change->bandwidth_rel;
}

enum fulcrum_status fulcrum_memory_change_check(
    const struct fulcrum_memory_change *change, struct fulcrum_error *err)
{
    FAIL_IF(!(change->gain_frac > 0.0) || isinf(change->gain_frac), err,
        FULCRUM_ERR_RANGE, "a gain of %.6g: expected a number above 0",
        change->gain_frac);
    FAIL_IF(!(change->cache_rel > 1.0) || isinf(change->cache_rel), err,
        FULCRUM_ERR_RANGE,
        "%.6g times the cache: expected a number above 1, or nothing tells shares and "
        "exponents apart",
        change->cache_rel);
    FAIL_IF(!(change->bandwidth_rel > 0.0) || isinf(change->bandwidth_rel), err,
        FULCRUM_ERR_RANGE, "%.6g times the bandwidth: expected a number above 0",
        change->bandwidth_rel);
    FAIL_IF(!(change->compulsory_frac >= 0.0 && change->compulsory_frac <= 1.0), err,
        FULCRUM_ERR_RANGE, "a compulsory share of %.6g: expected a number from 0 to 1",
        change->compulsory_frac);
    double most = saved_of_dram(change, change->compulsory_frac);
    FAIL_IF(saved_frac(change) > most, err, FULCRUM_ERR_INFEASIBLE,
        "a gain of %.6g is out of reach: %.6g times the cache and %.6g times the "
        "bandwidth save at most %.3g of the time even where all of it is bound by "
        "DRAM, and %.3g would have to be saved",
        change->gain_frac, change->cache_rel, change->bandwidth_rel, fmax(0.0, most),
        saved_frac(change));
    return FULCRUM_OK;
}

double fulcrum_memory_dram_frac(
    const struct fulcrum_memory_change *change, double exponent)
{
    double saved = saved_of_dram(
        change, power_traffic(change->compulsory_frac, exponent, change->cache_rel));
    return saved >= saved_frac(change) ? saved_frac(change) / saved : (double)NAN;
}

double fulcrum_memory_gain_frac(
    const struct fulcrum_memory_change *change, double dram_frac, double exponent)
{
    double traffic =
        power_traffic(change->compulsory_frac, exponent, change->cache_rel);
    double time = memory_time_rel(dram_frac, traffic, change->bandwidth_rel);
    return 1.0 / time - 1.0;
}

/*
 * What has to lie in a GPU's memory at once, and whether it fits. Parts that grow with
 * the design: parameters, training batch, inference batches, a replay on the GPU. What
 * libraries take for themselves is left out, so that a design that just fits here may
 * not fit in truth, and one that does not fit here never does.
 */

/* Inference alone needs the parameters themselves, in single precision. */
#define WEIGHT_BYTE 4.0

#define GIGA 1e9

/* Of one GPU. What the workload does not say counts as 0: sums are lower bounds. */
struct gpu_memory {
    double state_byte;     /* parameters, with what training keeps for each */
    double training_byte;  /* a training batch: observations and activations */
    double inference_byte; /* observations of the batches under way */
    double replay_byte;
    double simulation_byte; /* environments on the GPU */
    bool is_whole;          /* nothing was unknown */
};

/* A product with something unknown in it is 0, and said to be so. */
static double known(double value_byte, struct gpu_memory *memory)
{
    memory->is_whole = memory->is_whole && !isnan(value_byte);
    return isnan(value_byte) ? 0.0 : value_byte;
}

/* GPUs that a network is split over have a part of its state each; one infers, with all
 * of the weights. */
static double state_byte(const struct fulcrum_design *design)
{
    const struct fulcrum_workload *workload = &design->workload;
    double each = fulcrum_design_trains(design)
                      ? fmax(WEIGHT_BYTE, workload->training.state_byte_per_parameter /
                                              design->run.model_parallel_gpu_count)
                      : WEIGHT_BYTE;
    return workload->network.parameter_count * each;
}

/* docs/model.md "Memory system"; `batch_size` observations in an inference batch. */
static struct gpu_memory memory_of(
    const struct fulcrum_design *design, double batch_size)
{
    const struct fulcrum_workload *workload = &design->workload;
    struct gpu_memory out = {.is_whole = 1};
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
    if (fulcrum_design_trains(design)) {
        /* Burn-in is computed too, but keeps nothing for a backward pass. */
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
        double trained = batch * design->workload.training.unroll_length;
        double warmed = batch * design->workload.training.burn_in_length;
        double read = isnan(warmed) ? trained : trained + warmed;
        out.training_byte = known(read * network->observation_byte, &out) +
                            known(trained * network->activation_byte, &out);
        out.replay_byte = workload->training.replay_byte;
    }
    return out;
}

static double memory_sum(const struct gpu_memory *memory)
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
    struct gpu_memory memory = memory_of(design, batch_size);
    double there_byte = design->machine.gpu.memory_byte / design->run.instances_per_gpu;
    /* False for a memory of unknown size. */
    FAIL_IF(memory_sum(&memory) > there_byte, err, FULCRUM_ERR_INFEASIBLE,
        "machine.gpu.memory_byte%s = %.6g: expected at least %.6g, in GB %.3g for "
        "parameters and their state, %.3g for a training batch, %.3g for inference "
        "batches, %.3g for replay, %.3g for simulation",
        design->run.instances_per_gpu > 1.0 ? " / run.instances_per_gpu" : "",
        there_byte, memory_sum(&memory), memory.state_byte / GIGA,
        memory.training_byte / GIGA, memory.inference_byte / GIGA,
        memory.replay_byte / GIGA, memory.simulation_byte / GIGA);
    return FULCRUM_OK;
}
