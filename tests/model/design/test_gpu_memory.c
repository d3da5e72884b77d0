/* test_gpu_memory.c - what has to fit into a GPU's memory. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/design/memory_system.h"

#include <math.h>
#include <string.h>

#include "model/predict/to_network.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* R2D2's sizes: the only one that its preset does not know are activations. */
static void r2d2(struct fulcrum_design *out)
{
    designs_gpu(out);
    struct fulcrum_workload *workload = &out->workload;
    workload->network.parameter_count = 4.4e6;
    workload->network.observation_byte = 28224;
    workload->training.env_steps_per_train_step = 3360;
    workload->training.train_step_s = 0.2;
    workload->training.batch_size = 64;
    workload->training.unroll_length = 80;
    workload->training.burn_in_length = 40;
    workload->batching.depth = 2;
    out->machine.gpu.memory_byte = 16e9;
}

TEST(test_each_part_is_counted)
{
    static struct fulcrum_design design;
    r2d2(&design);
    design.workload.network.activation_byte = 1e5;
    design.workload.training.replay_byte = 3e9;
    struct fulcrum_gpu_memory memory = fulcrum_gpu_memory_of(&design, 128);
    assert_close("state", memory.state_byte, 16 * 4.4e6, 1e-14);
    assert_close(
        "training", memory.training_byte, 64 * 120 * 28224.0 + 64 * 80 * 1e5, 1e-14);
    assert_close("inference", memory.inference_byte, 128 * 2 * 28224.0, 1e-14);
    CU_ASSERT_EQUAL(memory.replay_byte, 3e9);
    CU_ASSERT(memory.is_whole);
    assert_close("sum", fulcrum_gpu_memory_sum(&memory),
        memory.state_byte + memory.training_byte + memory.inference_byte + 3e9, 1e-15);
}

/* Nothing but what inference needs: weights and observations. */
TEST(test_inference_alone_keeps_no_gradients)
{
    static struct fulcrum_design design;
    r2d2(&design);
    design.workload.training.env_steps_per_train_step = 0;
    design.workload.training.replay_byte = 3e9;
    struct fulcrum_gpu_memory memory = fulcrum_gpu_memory_of(&design, 1);
    assert_close("weights", memory.state_byte, 4 * 4.4e6, 1e-14);
    CU_ASSERT_EQUAL(memory.training_byte, 0.0);
    CU_ASSERT_EQUAL(memory.replay_byte, 0.0);
}

TEST(test_what_is_not_known_counts_as_nothing)
{
    static struct fulcrum_design design;
    r2d2(&design);
    struct fulcrum_gpu_memory memory = fulcrum_gpu_memory_of(&design, 128);
    CU_ASSERT(!memory.is_whole);
    assert_close("observations alone", memory.training_byte, 64 * 120 * 28224.0, 1e-14);
    design.workload.network.observation_byte = (double)NAN;
    design.workload.network.parameter_count = (double)NAN;
    memory = fulcrum_gpu_memory_of(&design, 128);
    CU_ASSERT_EQUAL(fulcrum_gpu_memory_sum(&memory), 0.0);
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
}

/* What GPUs divide, none of them holds: state and samples of a split network, samples
 * of a split batch. Weights are whole where one infers. */
TEST(test_what_gpus_divide_is_counted_once)
{
    static struct fulcrum_design design;
    r2d2(&design);
    double parameters = design.workload.network.parameter_count;
    struct fulcrum_gpu_memory alone = fulcrum_gpu_memory_of(&design, 128);
    design.machine.gpu.count = 8;
    design.run.gpu_count = 8;
    struct fulcrum_gpu_memory memory = fulcrum_gpu_memory_of(&design, 128);
    CU_ASSERT_EQUAL(memory.training_byte, alone.training_byte);
    design.run.batch_scaling = FULCRUM_BATCH_STRONG;
    memory = fulcrum_gpu_memory_of(&design, 128);
    assert_close(
        "part of a batch", memory.training_byte, alone.training_byte / 8, 1e-14);
    CU_ASSERT_EQUAL(memory.state_byte, alone.state_byte);
    design.run.batch_scaling = FULCRUM_BATCH_WEAK;
    design.run.model_parallel_gpu_count = 2;
    memory = fulcrum_gpu_memory_of(&design, 128);
    assert_close("half a network", memory.state_byte, alone.state_byte / 2, 1e-14);
    assert_close(
        "half its samples", memory.training_byte, alone.training_byte / 2, 1e-14);
    design.run.model_parallel_gpu_count = 8;
    memory = fulcrum_gpu_memory_of(&design, 128);
    assert_close("weights", memory.state_byte, 4 * parameters, 1e-14);
}

TEST(test_a_memory_that_is_too_small_is_named)
{
    static struct fulcrum_design design;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    r2d2(&design);
    struct fulcrum_gpu_memory memory = fulcrum_gpu_memory_of(&design, 128);
    double needed = fulcrum_gpu_memory_sum(&memory);
    design.machine.gpu.memory_byte = needed;
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
    design.machine.gpu.memory_byte = needed * (1 - 1e-9);
    CU_ASSERT_EQUAL(
        fulcrum_gpu_memory_check(&design, 128, &err), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT(strstr(err.detail, "machine.gpu.memory_byte = ") != NULL);
    CU_ASSERT(strstr(err.detail, "replay") != NULL);
    design.machine.gpu.memory_byte = (double)NAN;
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
    design.machine.gpu.memory_byte = 1e6;
    design.machine.accelerator = FULCRUM_ACCELERATOR_CPU;
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
}

/* A design that does not fit has no network; fixed batches count, greedy limits do not:
 * those may never be reached. */
TEST(test_designs_that_do_not_fit_are_refused)
{
    static struct fulcrum_design design;
    static struct fulcrum_replicas replicas;
    r2d2(&design);
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    design.workload.training.replay_byte = 16e9;
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, NULL), FULCRUM_ERR_INFEASIBLE);
    design.workload.training.replay_byte = 0;
    design.run.actor_count = 1e6;
    design.workload.batching.size = 5e5;
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, NULL), FULCRUM_ERR_INFEASIBLE);
}
