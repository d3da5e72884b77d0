/* test_agents.c - designs of agents: closed forms, limits of memory, watts, faults. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/to_network.h"

#include <math.h>
#include <string.h>

#include "model/predict/predict.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* Two machines of four GPUs, in pairs: four instances, of 25 GB for keys and values. */
static struct fulcrum_design made(void)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    designs_set(&design,
        "machine.cpu.core_count=16 machine.cpu.thread_count=16 "
        "machine.cpu.smt_yield_frac=0 machine.cpu.memory_byte=64e9 "
        "machine.cpu.idle_w=50 machine.cpu.core_idle_w=1 machine.cpu.core_dynamic_w=4 "
        "machine.rest_w=100 machine.psu_efficiency_frac=0.9 "
        "machine.gpu.count=4 machine.gpu.sm_count=100 machine.gpu.memory_byte=20e9 "
        "machine.gpu.idle_w=50 machine.gpu.floor_w=50 machine.gpu.dynamic_w=400 "
        "run.sm_count=100 run.gpu_count=4 run.node_count=2 run.actor_count=32 "
        "workload.family=agents workload.total_env_steps=1e6 "
        "workload.step.mean_s=0 workload.step.cv=0 "
        "workload.network.per_batch_s=0.01 workload.network.per_item_s=1e-3 "
        "workload.network.parameter_count=1e9 workload.network.sm_active_frac=0.25 "
        "workload.agent.active_exponent=0.5 workload.agent.instance_gpu_count=2 "
        "workload.agent.weight_byte=11 workload.agent.token_byte=5e6 "
        "workload.agent.context_tokens=250 workload.agent.turn_count=10 "
        "workload.agent.output_tokens=100 workload.agent.sandbox_byte=1e9");
    return design;
}

struct outcome {
    struct fulcrum_replicas replicas;
    struct fulcrum_agents_outcome solved;
};

static struct outcome outcome_of(const struct fulcrum_design *design)
{
    const struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_FAST};
    struct outcome out = {.replicas = {.count = 0.0}};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_design_check(design, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    ASSERT_OK(fulcrum_agents_solve(design, &options, &out.replicas, &out.solved, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    return out;
}

static void assert_refused(const struct fulcrum_design *design, const char *part)
{
    struct fulcrum_agent_network network;
    struct fulcrum_error err;
    CU_ASSERT_EQUAL(
        fulcrum_design_to_agents(design, &network, &err), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, part));
}

/* Nobody does anything but decode, eight on each instance: 8 / (a + 8 b) tokens a
 * second on each, and a turn has a hundred. */
TEST(test_turns_are_tokens_of_all_instances)
{
    struct fulcrum_design design = made();
    struct outcome out = outcome_of(&design);
    double token_s = 0.01 + 1e-3 * 8.0;
    assert_close("turns", out.solved.turns.steps_per_s * out.replicas.count,
        4.0 * 8.0 / token_s / 100.0, 1e-6);
    assert_close("in flight", out.solved.turns.mean_batch, 8.0, 1e-6);
    assert_close("of a turn", out.solved.turns.residence.gpu_s, 100.0 * token_s, 1e-6);
    CU_ASSERT_EQUAL(out.solved.turns.residence.cpu_s, 0.0);
    CU_ASSERT_EQUAL(out.solved.turns.bottleneck, FULCRUM_BOUND_LATENCY);
    /* Half of them: less time for each token, by the exponent of those in flight. */
    designs_set(&design, "run.actor_count=16 workload.agent.item_exponent=0.5");
    out = outcome_of(&design);
    assert_close("turns", out.solved.turns.steps_per_s,
        4.0 * 4.0 / (0.01 + 1e-3 * 2.0) / 100.0, 1e-6);
}

/* 0.9 x 40 GB less 11 GB of weights are 25 GB: 20 trajectories of 1.25 GB. */
TEST(test_no_more_decode_than_memory_holds)
{
    struct fulcrum_design design = made();
    struct fulcrum_agent_network network;
    ASSERT_OK(fulcrum_design_to_agents(&design, &network, NULL));
    CU_ASSERT_EQUAL(network.decode.most_items, 20.0);
    designs_set(&design, "workload.agent.most_items=12");
    ASSERT_OK(fulcrum_design_to_agents(&design, &network, NULL));
    CU_ASSERT_EQUAL(network.decode.most_items, 12.0);
    /* Two hundred want to: they would go on much faster with more room. */
    designs_set(&design, "workload.agent.most_items=0 run.actor_count=200 "
                         "workload.agent.sandbox_byte=1e8");
    struct outcome out = outcome_of(&design);
    assert_close(
        "turns", out.solved.turns.steps_per_s, 4.0 * 20.0 / 0.03 / 100.0, 1e-3);
    CU_ASSERT_EQUAL(out.solved.turns.bottleneck, FULCRUM_BOUND_MEMORY);
    /* And hardly any faster where the weights take no time. */
    designs_set(&design, "workload.network.per_batch_s=1e-4");
    CU_ASSERT_EQUAL(outcome_of(&design).solved.turns.bottleneck, FULCRUM_BOUND_GPU);
    designs_set(&design, "workload.agent.weight_byte=36");
    assert_refused(&design, "expected room for 36 GB of weights and 1.25 GB");
}

TEST(test_sandboxes_have_to_fit_into_main_memory)
{
    struct fulcrum_design design = made();
    struct fulcrum_agent_network network;
    designs_set(&design, "run.actor_count=128");
    ASSERT_OK(fulcrum_design_to_agents(&design, &network, NULL));
    designs_set(&design, "run.actor_count=129");
    assert_refused(&design, "expected at most 128");
}

/* (A7): what is fixed, and trajectories over the GPUs that train to the exponent. */
TEST(test_a_training_step_is_divided_among_gpus)
{
    struct fulcrum_design design = made();
    struct fulcrum_agent_network network;
    designs_set(&design,
        "workload.agent.coupling=in-turns workload.training.batch_size=32 "
        "workload.training.train_step_s=3 workload.agent.train_trajectory_s=2 "
        "workload.agent.train_exponent=0.5 workload.agent.switch_s=1 "
        "workload.agent.colocated_frac=0.25");
    ASSERT_OK(fulcrum_design_to_agents(&design, &network, NULL));
    assert_close("all GPUs", network.trainer.train_s, 3.0 + 80.0 / sqrt(8.0), 1e-12);
    CU_ASSERT_EQUAL(network.decode.instance_count, 4.0);
    designs_set(&design, "run.learner_gpu_count=2 workload.agent.coupling=stream "
                         "workload.agent.staleness=1");
    ASSERT_OK(fulcrum_design_to_agents(&design, &network, NULL));
    assert_close("those apart", network.trainer.train_s, 3.0 + 64.0 / 2.0, 1e-12);
    CU_ASSERT_EQUAL(network.decode.instance_count, 2.0);
    struct outcome out = outcome_of(&design);
    /* A step takes 35 s and a switch: 32 trajectories of 10 turns come sooner. */
    CU_ASSERT(out.solved.trajectories.cycle_s >= 35.0);
    CU_ASSERT(out.solved.turns.gpu_train_busy_frac > 0.8);
    assert_close("turns", out.solved.turns.steps_per_s,
        320.0 / out.solved.trajectories.cycle_s, 1e-9);
}

/* Sixteen cores on each of two machines, 64 calls at once: all threads work. */
TEST(test_calls_share_the_cores_of_all_machines)
{
    struct fulcrum_design design = made();
    designs_set(&design, "workload.step.mean_s=2 workload.agent.output_tokens=1 "
                         "run.actor_count=64 workload.agent.sandbox_byte=0");
    struct outcome out = outcome_of(&design);
    assert_close("turns", out.solved.turns.steps_per_s, 32.0 / 2.0, 1e-3);
    assert_close("threads", out.solved.turns.cpu_thread_busy_frac, 1.0, 1e-3);
    CU_ASSERT_EQUAL(out.solved.turns.bottleneck, FULCRUM_BOUND_CPU);
}

/* Four in flight: twice the activity of one, of half of the GPU's dynamic watts. */
TEST(test_watts_rise_with_what_is_in_flight)
{
    struct fulcrum_design design = made();
    designs_set(&design, "run.actor_count=16");
    struct outcome out = outcome_of(&design);
    struct fulcrum_power power =
        fulcrum_power_of(&design, &out.replicas, &out.solved.turns);
    assert_close("SMs", power.sm_active_frac, 0.5, 1e-3);
    assert_close("GPUs", power.gpu_w, 8.0 * (50.0 + 50.0 + 200.0), 1e-3);
    double cpu_w = 50.0 + 16.0;
    assert_close(
        "system", power.system_w, 2.0 * (cpu_w + 4.0 * 300.0 + 100.0) / 0.9, 1e-3);
    /* No more than all of it. */
    designs_set(&design, "workload.agent.active_exponent=2");
    out = outcome_of(&design);
    power = fulcrum_power_of(&design, &out.replicas, &out.solved.turns);
    assert_close("all SMs", power.sm_active_frac, 1.0, 1e-3);
}

TEST(test_machines_without_gpus_wait_for_tokens)
{
    struct fulcrum_design design = made();
    designs_set(&design,
        "machine.accelerator=cpu workload.agent.output_tokens=0 run.node_count=1 "
        "workload.step.mean_s=0.5 workload.host.delay_s=1.5 run.actor_count=8 "
        "workload.agent.sandbox_byte=0");
    /* Eight on sixteen cores: nobody waits for anybody. */
    assert_close("turns", outcome_of(&design).solved.turns.steps_per_s, 4.0, 1e-6);
    /* A wave waits for its slowest. */
    designs_set(&design, "workload.agent.coupling=in-turns "
                         "workload.training.batch_size=8 workload.step.cv=1 "
                         "workload.training.train_step_s=1e-3");
    CU_ASSERT(outcome_of(&design).solved.turns.steps_per_s < 3.9);
    struct fulcrum_error err;
    designs_set(&design, "workload.agent.output_tokens=5");
    CU_ASSERT_EQUAL(fulcrum_design_check(&design, &err), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "has no GPU"));
}
