/* test_to_network.c - the network of a design: replicas, requests, batches, SM shares.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/to_network.h"

#include <math.h>
#include <string.h>

#include "model/network/network.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_replicas lower(const struct fulcrum_design *design)
{
    struct fulcrum_replicas replicas = {0};
    ASSERT_OK(fulcrum_design_to_network(design, &replicas, NULL));
    return replicas;
}

TEST(test_one_gpu_takes_the_whole_cpu)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    design.workload.host.reserved_threads = 3;
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.count, 1.0);
    CU_ASSERT_EQUAL(replicas.network.actors, 40.0);
    CU_ASSERT_EQUAL(replicas.network.cpu.core_count, 20.0);
    CU_ASSERT_EQUAL(replicas.network.cpu.thread_count, 40.0);
    CU_ASSERT_EQUAL(replicas.network.cpu.reserved_threads, 3.0);
    CU_ASSERT_EQUAL(replicas.network.policy, FULCRUM_BATCH_GREEDY);
    CU_ASSERT_EQUAL(replicas.network.training.env_steps_per_train_step, 0.0);
}

TEST(test_gpus_share_threads_and_actors)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    design.run.gpu_count = 8;
    design.workload.host.reserved_threads = 3;
    design.machine.cpu.slice_s = 2.8e-3;
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.count, 8.0);
    CU_ASSERT_EQUAL(replicas.network.actors, 5.0);
    CU_ASSERT_EQUAL(replicas.network.cpu.core_count, 2.5);
    CU_ASSERT_EQUAL(replicas.network.cpu.slice_s, 2.8e-3); /* no share: a time */
    /* Three of five threads would be more than the cap of 40 %. */
    assert_close("c_L", replicas.network.cpu.reserved_threads, 2.0, 1e-15);
    design.run.actor_count = 41;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, &err), FULCRUM_ERR_INFEASIBLE);
    design.machine.cpu.core_count = design.run.gpu_count - 1.0;
    design.run.actor_count = design.run.gpu_count;
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, &err), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "less than one core for each"));
}

/* R2D2-like training: 4.4 million parameters, a step of 0.2 s. */
static void trains_on_many(struct fulcrum_design *design)
{
    designs_gpu(design);
    design->machine.gpu.count = 8;
    design->workload.network.parameter_count = 4.4e6;
    design->workload.training.env_steps_per_train_step = 3360;
    design->workload.training.train_step_s = 0.2;
    design->workload.training.batch_size = 64;
    design->workload.training.model_parallel_frac = 0.5;
    design->machine.link = (struct fulcrum_link){.peer_byte_per_s = 150e9,
        .peer_latency_s = 3.4e-6,
        .network_byte_per_s = 50e9,
        .network_latency_s = 14e-6};
}

TEST(test_one_gpu_waits_for_nobody)
{
    struct fulcrum_design design;
    trains_on_many(&design);
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.network.training.train_step_s, 0.2);
    CU_ASSERT_EQUAL(replicas.network.training.env_steps_per_train_step, 3360.0);
    CU_ASSERT_EQUAL(replicas.train_active_frac, 1.0);
    CU_ASSERT_EQUAL(replicas.inference_active_frac, 1.0);
    CU_ASSERT_EQUAL(replicas.node_count, 1.0);
    CU_ASSERT_EQUAL(replicas.training.exposed_s, 0.0);
}

TEST(test_training_steps_of_many_gpus_last_an_all_reduce_longer)
{
    struct fulcrum_design design;
    trains_on_many(&design);
    design.run.gpu_count = 8;
    design.workload.training.allreduce = FULCRUM_ALLREDUCE_RING;
    struct fulcrum_replicas replicas = lower(&design);
    double ring = 2 * 7 / 8.0 * 17.6e6 / 150e9 + 14 * 3.4e-6;
    assert_close("step", replicas.network.training.train_step_s, 0.2 + ring, 1e-14);
    assert_close("idle", replicas.train_active_frac, 0.2 / (0.2 + ring), 1e-14);
    CU_ASSERT_EQUAL(replicas.flags, 0U);
    /* Nodes add replicas and length, and take nothing from a replica's threads. */
    design.run.node_count = 4;
    struct fulcrum_replicas many = lower(&design);
    CU_ASSERT_EQUAL(many.count, 32.0);
    CU_ASSERT_EQUAL(many.network.actors, replicas.network.actors);
    CU_ASSERT_EQUAL(many.network.cpu.thread_count, replicas.network.cpu.thread_count);
    CU_ASSERT_TRUE(
        many.network.training.train_step_s > replicas.network.training.train_step_s);
}

TEST(test_unknown_links_are_free_and_said_to_be)
{
    struct fulcrum_design design;
    trains_on_many(&design);
    design.run.gpu_count = 8;
    design.machine.link.peer_byte_per_s = (double)NAN;
    design.machine.link.peer_latency_s = 0;
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.network.training.train_step_s, 0.2);
    CU_ASSERT_EQUAL(replicas.flags, (unsigned)FULCRUM_FLAG_FREE_ALLREDUCE);
    design.workload.training.env_steps_per_train_step = 0;
    CU_ASSERT_EQUAL(lower(&design).flags, 0U);
}

TEST(test_a_worker_of_several_gpus_is_one_shard)
{
    struct fulcrum_design design;
    trains_on_many(&design);
    design.run.gpu_count = 8;
    design.run.model_parallel_gpu_count = 4;
    design.machine.link.peer_byte_per_s = 1e15;
    design.machine.link.peer_latency_s = 0;
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.count, 2.0);
    CU_ASSERT_EQUAL(replicas.network.actors, 20.0);
    CU_ASSERT_EQUAL(replicas.inference_active_frac, 0.25);
    /* Half of the step on four GPUs: 0.625 of it, at 0.4 of their SMs. */
    assert_close("step", replicas.network.training.train_step_s, 0.125, 1e-6);
    assert_close("active", replicas.train_active_frac, 0.4, 1e-6);
    design.run.actor_count = 41;
    ASSERT_FAILS(fulcrum_design_to_network(&design, &replicas, &err),
        FULCRUM_ERR_INFEASIBLE, "2 workers");
    design.run.gpu_count = 6;
    ASSERT_FAILS(fulcrum_design_check(&design, &err), FULCRUM_ERR_INFEASIBLE,
        "multiple of run.model_parallel_gpu_count");
}

TEST(test_strong_scaling_shares_a_training_step)
{
    struct fulcrum_design design;
    trains_on_many(&design);
    design.run.gpu_count = 8;
    design.run.batch_scaling = FULCRUM_BATCH_STRONG;
    design.workload.network.parameter_count = 1;
    design.machine.link.peer_latency_s = 0;
    struct fulcrum_replicas replicas = lower(&design);
    assert_close("K", replicas.network.training.env_steps_per_train_step, 420, 1e-14);
    assert_close("step", replicas.network.training.train_step_s, 0.025, 1e-6);
}

TEST(test_what_several_nodes_need_is_asked_for)
{
    struct fulcrum_design design;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    trains_on_many(&design);
    design.run.node_count = 2;
    design.run.sm_count = 80;
    ASSERT_OK(fulcrum_design_check(&design, &err));
    design.machine.link.network_byte_per_s = (double)NAN;
    CU_ASSERT_EQUAL(fulcrum_design_check(&design, &err), FULCRUM_ERR_MISSING);
    assert_part(err.detail, "machine.link.network_byte_per_s");
    design.workload.training.env_steps_per_train_step = 0;
    ASSERT_OK(fulcrum_design_check(&design, &err));
    trains_on_many(&design);
    design.run.gpu_count = 2;
    design.run.model_parallel_gpu_count = 2;
    design.workload.training.model_parallel_frac = (double)NAN;
    CU_ASSERT_EQUAL(fulcrum_design_check(&design, &err), FULCRUM_ERR_MISSING);
    assert_part(err.detail, "workload.training.model_parallel_frac");
}

TEST(test_a_cpu_learner_takes_its_core_from_the_actors)
{
    struct fulcrum_design design;
    designs_cpu(&design);
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.network.cpu.reserved_threads, 1.0);
    CU_ASSERT_EQUAL(fulcrum_cpu_servers(&replicas.network.cpu), 7.0);
    design.machine.cpu.thread_count = 16;
    replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.network.cpu.reserved_threads, 2.0);
}

TEST(test_a_request_carries_its_environments)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    design.run.envs_per_actor = 4;
    design.workload.host.per_item_s = 2e-5;
    design.workload.training.env_steps_per_train_step = 3360;
    design.workload.training.train_step_s = 0.2;
    design.workload.batching.size = 42;
    struct fulcrum_replicas replicas = lower(&design);
    assert_close("step", replicas.network.step.mean_s, 8e-3, 1e-14);
    assert_close("cv", replicas.network.step.cv, 0.25, 1e-14);
    assert_close("h1", replicas.network.host.per_item_s, 8e-5, 1e-14);
    assert_close("g1", replicas.network.gpu.per_item_s, 2.4e-5, 1e-14);
    CU_ASSERT_EQUAL(replicas.network.batch_size, 10.0);
    CU_ASSERT_EQUAL(replicas.network.training.env_steps_per_train_step, 840.0);
    design.workload.batching.size = 3;
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, NULL), FULCRUM_ERR_INFEASIBLE);
}

struct law_case {
    enum fulcrum_step_law law;
    enum fulcrum_step_law expected;
    double envs;
    double cv;
};

TEST(test_the_law_of_a_sum_of_steps)
{
    const double pareto = 1.0 / sqrt(2.1 * 0.1);
    const struct law_case cases[] = {
        {FULCRUM_LAW_LOGNORMAL, FULCRUM_LAW_LOGNORMAL, 1, 0.5},
        {FULCRUM_LAW_LOGNORMAL, FULCRUM_LAW_LOGNORMAL, 4, 0.25},
        {FULCRUM_LAW_EXPONENTIAL, FULCRUM_LAW_EXPONENTIAL, 1, 1.0},
        {FULCRUM_LAW_EXPONENTIAL, FULCRUM_LAW_ERLANG, 4, 0.5},
        {FULCRUM_LAW_DETERMINISTIC, FULCRUM_LAW_DETERMINISTIC, 4, 0.0},
        {FULCRUM_LAW_ERLANG, FULCRUM_LAW_ERLANG, 4, 0.25},
        {FULCRUM_LAW_PARETO, FULCRUM_LAW_PARETO, 1, pareto},
        {FULCRUM_LAW_PARETO, FULCRUM_LAW_LOGNORMAL, 4, pareto / 2},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_design design;
        designs_gpu(&design);
        design.workload.step.law = (int)cases[i].law;
        design.run.envs_per_actor = cases[i].envs;
        struct fulcrum_replicas replicas = lower(&design);
        CU_ASSERT_EQUAL(replicas.network.step.law, cases[i].expected);
        CU_ASSERT_DOUBLE_EQUAL(replicas.network.step.cv, cases[i].cv, 1e-12);
    }
    struct fulcrum_design design;
    designs_gpu(&design);
    design.workload.step.cv = 2.0;
    design.workload.step.law = FULCRUM_LAW_HYPEREXPONENTIAL;
    design.run.envs_per_actor = 16;
    CU_ASSERT_EQUAL(lower(&design).network.step.law, FULCRUM_LAW_LOGNORMAL);
}

TEST(test_a_share_of_the_population_is_a_whole_batch)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    design.workload.batching.population_frac = 0.5;
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 20.0);
    design.workload.batching.policy = FULCRUM_BATCH_GREEDY;
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 0.0);
    design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    design.run.actor_count = 1;
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 1.0);
    design.run.actor_count = 7;
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 3.0);
    struct fulcrum_replicas replicas;
    design.workload.batching.size = 3; /* which of the two? */
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, NULL), FULCRUM_ERR_INFEASIBLE);
    design.workload.batching.size = 0;
    design.workload.batching.population_frac = 0;
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, NULL), FULCRUM_ERR_INFEASIBLE);
    design.workload.batching.size = 8; /* more than the 7 actors: waits for ever */
    CU_ASSERT_EQUAL(
        fulcrum_design_to_network(&design, &replicas, NULL), FULCRUM_ERR_INFEASIBLE);
}

TEST(test_fewer_sms_lengthen_gpu_work_only)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    design.run.sm_count = 40;
    struct fulcrum_replicas replicas = lower(&design);
    assert_close("g1", replicas.network.gpu.per_item_s, 6e-6 * 1.57, 1e-12);
    assert_close("t_e", replicas.network.step.mean_s, 2e-3, 0.0);
}

TEST(test_a_measured_table_counts_requests)
{
    static const double size[] = {1, 4, 16};
    static const double time_s[] = {1e-3, 2e-3, 5e-3};
    struct fulcrum_design design;
    designs_cpu(&design);
    design.batch_size = size;
    design.batch_time_s = time_s;
    design.batch_count = 3;
    /* The table's line is half of that in force. */
    design.workload.network.per_batch_s = 2e-3;
    design.workload.network.per_item_s = 1e-4;
    design.batch_line_per_batch_s = 1e-3;
    design.batch_line_per_item_s = 5e-5;
    design.run.envs_per_actor = 4;
    /* Not a copy: the network borrows the table beside it. */
    static struct fulcrum_replicas replicas;
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    assert_close(
        "t(1 request)", fulcrum_batch_time(&replicas.network.gpu, 1), 4e-3, 1e-12);
    assert_close(
        "t(4 requests)", fulcrum_batch_time(&replicas.network.gpu, 4), 10e-3, 1e-12);
    CU_ASSERT_EQUAL(replicas.flags, 0);
    design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    design.workload.batching.size = 20;
    CU_ASSERT_EQUAL(lower(&design).flags, FULCRUM_FLAG_BEYOND_TABLE);
}

/* Copying is counted by observation, requests and wake-ups by actor. */
TEST(test_hand_off_is_counted_by_request_and_by_observation)
{
    static const double envs[] = {1, 4, 16};
    for (size_t i = 0; i < LENGTH(envs); i++) {
        struct fulcrum_design design;
        designs_gpu(&design);
        design.run.envs_per_actor = envs[i];
        design.workload.host.per_batch_s = 7e-6;
        design.workload.host.per_item_s = 1e-6;
        design.workload.host.per_request_s = 5e-6;
        design.workload.host.actor_s = 3e-6;
        design.workload.host.wake_s = 9e-6;
        struct fulcrum_replicas replicas = lower(&design);
        assert_close("h0", replicas.network.host.per_batch_s, 7e-6, 1e-14);
        assert_close(
            "h1", replicas.network.host.per_item_s, 5e-6 + 1e-6 * envs[i], 1e-14);
        assert_close(
            "step", replicas.network.step.mean_s, 2e-3 * envs[i] + 3e-6, 1e-14);
        assert_close("wake", replicas.wake_s, 9e-6, 0.0);
    }
}

/* Without the new parts, what was before: files of older versions mean the same. */
TEST(test_hand_off_defaults_change_nothing)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    struct fulcrum_replicas replicas = lower(&design);
    assert_close("step", replicas.network.step.mean_s, 2e-3, 0.0);
    assert_close("cv", replicas.network.step.cv, 0.5, 0.0);
    assert_close("h1", replicas.network.host.per_item_s, 0.0, 0.0);
    assert_close("wake", replicas.wake_s, 0.0, 0.0);
}

struct longer_case {
    enum fulcrum_step_law law;
    double cv;
    double expected;
};

/* Where the cv is free the spread in seconds stays; else the whole is scaled. */
TEST(test_a_longer_step_keeps_its_spread_where_the_law_can)
{
    static const struct longer_case cases[] = {
        {FULCRUM_LAW_LOGNORMAL, 0.5, 0.4},
        {FULCRUM_LAW_EXPONENTIAL, 1.0, 1.0},
        {FULCRUM_LAW_DETERMINISTIC, 0.0, 0.0},
        {FULCRUM_LAW_ERLANG, 0.5, 0.5},
        {FULCRUM_LAW_HYPEREXPONENTIAL, 2.0, 2.0},
        {FULCRUM_LAW_PARETO, 2.2, 2.2},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct fulcrum_step step = {4e-3, cases[i].cv, cases[i].law};
        struct fulcrum_step longer = fulcrum_step_lengthened(step, 1e-3);
        assert_close("mean", longer.mean_s, 5e-3, 1e-14);
        CU_ASSERT_DOUBLE_EQUAL(longer.cv, cases[i].expected, 1e-14);
        CU_ASSERT_EQUAL(longer.law, cases[i].law);
        struct fulcrum_step same = fulcrum_step_lengthened(step, 0.0);
        assert_close("same", same.mean_s, step.mean_s, 0.0);
        assert_close("same cv", same.cv, step.cv, 0.0);
    }
    const struct fulcrum_step none = {0.0, 0.0, FULCRUM_LAW_LOGNORMAL};
    assert_close("0 / 0", fulcrum_step_lengthened(none, 0.0).cv, 0.0, 0.0);
    assert_close("0 + 1", fulcrum_step_lengthened(none, 1e-3).mean_s, 1e-3, 0.0);
}

/* Cartpole's 30 ns beside a hand-off of microseconds: nothing of its spread is left. */
TEST(test_a_step_lost_in_its_hand_off_does_not_vary)
{
    struct fulcrum_design design;
    designs_cpu(&design);
    design.workload.step.mean_s = 3e-8;
    design.workload.step.cv = 0.2;
    design.workload.host.actor_s = 2e-5;
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.network.step.law, FULCRUM_LAW_DETERMINISTIC);
    assert_close("cv", replicas.network.step.cv, 0.0, 0.0);
    assert_close("mean", replicas.network.step.mean_s, 2.003e-5, 1e-12);
    design.workload.host.actor_s = 5e-6;
    CU_ASSERT_EQUAL(lower(&design).network.step.law, FULCRUM_LAW_LOGNORMAL);
}
