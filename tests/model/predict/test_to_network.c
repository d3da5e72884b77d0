/* test_to_network.c - the network of a design, on GPUs that infer and that train. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/to_network.c" /* NOLINT(bugprone-suspicious-include) */

#include <math.h>
#include <stdbool.h>

#include "model/network/network.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_replicas lower(const struct fulcrum_design *design)
{
    struct fulcrum_replicas replicas = {0};
    ASSERT_OK(fulcrum_design_to_network(design, &replicas, NULL));
    return replicas;
}

static struct fulcrum_replicas lower_with(
    struct fulcrum_design *design, const char *settings)
{
    designs_set(design, settings);
    return lower(design);
}

TEST(test_one_gpu_takes_the_whole_cpu)
{
    struct fulcrum_design design = gpu_design();
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
    struct fulcrum_design design = gpu_design();
    struct fulcrum_replicas replicas = lower_with(&design,
        "run.gpu_count=8 workload.host.reserved_threads=3 machine.cpu.slice_s=2.8e-3");
    CU_ASSERT_EQUAL(replicas.count, 8.0);
    CU_ASSERT_EQUAL(replicas.network.actors, 5.0);
    CU_ASSERT_EQUAL(replicas.network.cpu.core_count, 2.5);
    CU_ASSERT_EQUAL(replicas.network.cpu.slice_s, 2.8e-3); /* no share: a time */
    /* Three of five threads would be more than the cap of 40 %. */
    assert_close("c_L", replicas.network.cpu.reserved_threads, 2.0, 1e-15);
    designs_assert_refused(&design, "run.actor_count=41", FULCRUM_ERR_INFEASIBLE, "");
    designs_assert_refused(&design, "machine.cpu.core_count=7 run.actor_count=8",
        FULCRUM_ERR_INFEASIBLE, "less than one core for each");
}

/* R2D2-like training: 4.4 million parameters, a step of 0.2 s. */
static struct fulcrum_design trains_on_many(void)
{
    struct fulcrum_design design = gpu_design();
    designs_set(&design,
        "machine.gpu.count=8 workload.network.parameter_count=4.4e6 "
        "workload.training.env_steps_per_train_step=3360 "
        "workload.training.train_step_s=0.2 workload.training.batch_size=64 "
        "workload.training.model_parallel_frac=0.5");
    design.machine.link = (struct fulcrum_link){.peer_byte_per_s = 150e9,
        .peer_latency_s = 3.4e-6,
        .network_byte_per_s = 50e9,
        .network_latency_s = 14e-6};
    return design;
}

TEST(test_one_gpu_waits_for_nobody)
{
    struct fulcrum_design design = trains_on_many();
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
    struct fulcrum_design design = trains_on_many();
    struct fulcrum_replicas replicas =
        lower_with(&design, "run.gpu_count=8 workload.training.allreduce=ring");
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
    struct fulcrum_design design = trains_on_many();
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
    struct fulcrum_design design = trains_on_many();
    struct fulcrum_replicas replicas = lower_with(&design,
        "run.gpu_count=8 run.model_parallel_gpu_count=4 "
        "machine.link.peer_byte_per_s=1e15 machine.link.peer_latency_s=0");
    CU_ASSERT_EQUAL(replicas.count, 2.0);
    CU_ASSERT_EQUAL(replicas.network.actors, 20.0);
    CU_ASSERT_EQUAL(replicas.inference_active_frac, 0.25);
    /* Half of the step on four GPUs: 0.625 of it, at 0.4 of their SMs. */
    assert_close("step", replicas.network.training.train_step_s, 0.125, 1e-6);
    assert_close("active", replicas.train_active_frac, 0.4, 1e-6);
    designs_assert_refused(
        &design, "run.actor_count=41", FULCRUM_ERR_INFEASIBLE, "2 workers");
    designs_assert_refused(&design, "run.actor_count=41 run.gpu_count=6",
        FULCRUM_ERR_INFEASIBLE, "multiple of run.model_parallel_gpu_count");
}

TEST(test_strong_scaling_shares_a_training_step)
{
    struct fulcrum_design design = trains_on_many();
    struct fulcrum_replicas replicas = lower_with(&design,
        "run.gpu_count=8 run.batch_scaling=strong workload.network.parameter_count=1 "
        "machine.link.peer_latency_s=0");
    assert_close("K", replicas.network.training.env_steps_per_train_step, 420, 1e-14);
    assert_close("step", replicas.network.training.train_step_s, 0.025, 1e-6);
}

TEST(test_what_several_nodes_need_is_asked_for)
{
    struct fulcrum_design design = trains_on_many();
    designs_set(&design, "run.node_count=2 run.sm_count=80");
    ASSERT_OK(fulcrum_design_check(&design, NULL));
    design.machine.link.network_byte_per_s = (double)NAN;
    designs_assert_refused(
        &design, "", FULCRUM_ERR_MISSING, "machine.link.network_byte_per_s");
    design.workload.training.env_steps_per_train_step = 0;
    ASSERT_OK(fulcrum_design_check(&design, NULL));
    design = trains_on_many();
    designs_set(&design, "run.gpu_count=2 run.model_parallel_gpu_count=2");
    design.workload.training.model_parallel_frac = (double)NAN;
    designs_assert_refused(
        &design, "", FULCRUM_ERR_MISSING, "workload.training.model_parallel_frac");
}

TEST(test_a_cpu_learner_takes_its_core_from_the_actors)
{
    struct fulcrum_design design = cpu_design();
    struct fulcrum_replicas replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.network.cpu.reserved_threads, 1.0);
    CU_ASSERT_EQUAL(fulcrum_cpu_servers(&replicas.network.cpu), 7.0);
    design.machine.cpu.thread_count = 16;
    replicas = lower(&design);
    CU_ASSERT_EQUAL(replicas.network.cpu.reserved_threads, 2.0);
}

TEST(test_a_request_carries_its_environments)
{
    struct fulcrum_design design = gpu_design();
    struct fulcrum_replicas replicas = lower_with(&design,
        "run.envs_per_actor=4 workload.host.per_item_s=2e-5 "
        "workload.training.env_steps_per_train_step=3360 "
        "workload.training.train_step_s=0.2 workload.batching.size=42");
    assert_close("step", replicas.network.step.mean_s, 8e-3, 1e-14);
    assert_close("cv", replicas.network.step.cv, 0.25, 1e-14);
    assert_close("h1", replicas.network.host.per_item_s, 8e-5, 1e-14);
    assert_close("g1", replicas.network.gpu.per_item_s, 2.4e-5, 1e-14);
    CU_ASSERT_EQUAL(replicas.network.batch_size, 10.0);
    CU_ASSERT_EQUAL(replicas.network.training.env_steps_per_train_step, 840.0);
    designs_assert_refused(
        &design, "workload.batching.size=3", FULCRUM_ERR_INFEASIBLE, "");
}

TEST(test_the_law_of_a_sum_of_steps)
{
    const double pareto = 1.0 / sqrt(2.1 * 0.1);
    const struct {
        enum fulcrum_step_law law;
        enum fulcrum_step_law expected;
        double envs;
        double cv;
    } cases[] = {
        {FULCRUM_LAW_LOGNORMAL, FULCRUM_LAW_LOGNORMAL, 1, 0.5},
        {FULCRUM_LAW_LOGNORMAL, FULCRUM_LAW_LOGNORMAL, 4, 0.25},
        {FULCRUM_LAW_EXPONENTIAL, FULCRUM_LAW_EXPONENTIAL, 1, 1.0},
        {FULCRUM_LAW_EXPONENTIAL, FULCRUM_LAW_ERLANG, 4, 0.5},
        {FULCRUM_LAW_DETERMINISTIC, FULCRUM_LAW_DETERMINISTIC, 4, 0.0},
        {FULCRUM_LAW_ERLANG, FULCRUM_LAW_ERLANG, 4, 0.25},
        {FULCRUM_LAW_PARETO, FULCRUM_LAW_PARETO, 1, pareto},
        {FULCRUM_LAW_PARETO, FULCRUM_LAW_LOGNORMAL, 4, pareto / 2},
        {FULCRUM_LAW_HYPEREXPONENTIAL, FULCRUM_LAW_LOGNORMAL, 16, 0.5},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_design design = gpu_design();
        bool is_wide = cases[i].law == FULCRUM_LAW_HYPEREXPONENTIAL;
        design.workload.step.law = (int)cases[i].law;
        design.workload.step.cv = is_wide ? 2.0 : design.workload.step.cv;
        design.run.envs_per_actor = cases[i].envs;
        struct fulcrum_replicas replicas = lower(&design);
        CU_ASSERT_EQUAL(replicas.network.step.law, cases[i].expected);
        CU_ASSERT_DOUBLE_EQUAL(replicas.network.step.cv, cases[i].cv, 1e-12);
    }
}

TEST(test_a_share_of_the_population_is_a_whole_batch)
{
    struct fulcrum_design design = gpu_design();
    design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    design.workload.batching.population_frac = 0.5;
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 20.0);
    design.workload.batching.policy = FULCRUM_BATCH_GREEDY;
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 0.0);
    designs_set(&design, "workload.batching.policy=fixed run.actor_count=1");
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 1.0);
    design.run.actor_count = 7;
    CU_ASSERT_EQUAL(lower(&design).network.batch_size, 3.0);
    static const char *const refused[] = {
        "workload.batching.size=3", /* which of the two? */
        "workload.batching.size=0 workload.batching.population_frac=0",
        /* More than the 7 actors: waits for ever. */
        "workload.batching.size=8 workload.batching.population_frac=0"};
    for (size_t i = 0; i < LENGTH(refused); i++) {
        designs_assert_refused(&design, refused[i], FULCRUM_ERR_INFEASIBLE, "");
    }
}

TEST(test_fewer_sms_lengthen_gpu_work_only)
{
    struct fulcrum_design design = gpu_design();
    design.run.sm_count = 40;
    struct fulcrum_replicas replicas = lower(&design);
    assert_close("g1", replicas.network.gpu.per_item_s, 6e-6 * 1.57, 1e-12);
    assert_close("t_e", replicas.network.step.mean_s, 2e-3, 0.0);
}

TEST(test_a_measured_table_counts_requests)
{
    static const double size[] = {1, 4, 16};
    static const double time_s[] = {1e-3, 2e-3, 5e-3};
    struct fulcrum_design design = cpu_design();
    design.batch_time = (struct fulcrum_batch_time){1e-3, 5e-5, size, time_s, 3};
    /* The table's line is half of that in force. */
    design.workload.network.per_batch_s = 2e-3;
    design.workload.network.per_item_s = 1e-4;
    design.run.envs_per_actor = 4;
    /* Not a copy: the network borrows the table beside it. */
    static struct fulcrum_replicas replicas;
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    assert_close(
        "t(1 request)", fulcrum_batch_time(&replicas.network.gpu, 1), 4e-3, 1e-12);
    assert_close(
        "t(4 requests)", fulcrum_batch_time(&replicas.network.gpu, 4), 10e-3, 1e-12);
    CU_ASSERT_EQUAL(replicas.flags, 0);
    designs_set(&design, "workload.batching.policy=fixed workload.batching.size=20");
    CU_ASSERT_EQUAL(lower(&design).flags, FULCRUM_FLAG_BEYOND_TABLE);
    /* No factor leads from the table to a line of 0: that line stands. */
    designs_set(
        &design, "workload.network.per_batch_s=0 workload.network.per_item_s=0");
    CU_ASSERT_EQUAL(lower(&design).network.gpu.count, 0);
}

/* Where waking many costs more for each than waking few no line will do. */
TEST(test_a_table_of_hand_offs_stands_in_for_their_line)
{
    static const double size[] = {1, 4, 16};
    static const double time_s[] = {2e-6, 5e-6, 40e-6};
    struct fulcrum_design design = cpu_design();
    design.handoff_time = (struct fulcrum_batch_time){1e-6, 2e-6, size, time_s, 3};
    /* 4 of the table's line are 9 us: those in force are twice as long. */
    design.workload.host.per_batch_s = 2e-6;
    design.workload.host.per_request_s = 3e-6;
    design.workload.host.per_item_s = 1e-6;
    design.run.envs_per_actor = 3;
    static struct fulcrum_replicas replicas;
    const struct fulcrum_batch_time *host = &replicas.network.host;
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    assert_close("one", fulcrum_batch_time(host, 1), 4e-6 + 1 * 2e-6, 1e-12);
    assert_close("four", fulcrum_batch_time(host, 4), 10e-6 + 4 * 2e-6, 1e-12);
    assert_close("ten", fulcrum_batch_time(host, 10), 45e-6 + 10 * 2e-6, 1e-12);
    assert_close("beyond", fulcrum_batch_time(host, 17), 80e-6 + 32e-6 + 6e-6, 1e-12);
    designs_set(&design, "workload.host.per_batch_s=0 workload.host.per_request_s=0 "
                         "workload.host.per_item_s=0");
    CU_ASSERT_EQUAL(lower(&design).network.host.count, 0);
}

/* Tiles of four rows: 4, 8, ... observations take no longer than one less. */
static void set_saw(struct fulcrum_design *design, double *size, double *time_s)
{
    for (int i = 0; i < 32; i++) {
        size[i] = i + 1;
        time_s[i] = 1e-3 * (i + 1 + ((i + 1) % 4 == 0 ? -0.5 : 0.5));
    }
    design->batch_time =
        (struct fulcrum_batch_time){design->workload.network.per_batch_s,
            design->workload.network.per_item_s, size, time_s, 32};
}

TEST(test_greedy_batches_take_a_table_evenly)
{
    double size[32];
    double time_s[32];
    static struct fulcrum_replicas replicas;
    const struct fulcrum_batch_time *gpu = &replicas.network.gpu;
    struct fulcrum_design design = cpu_design();
    set_saw(&design, size, time_s);
    designs_set(&design, "run.actor_count=32 run.envs_per_actor=1 "
                         "workload.batching.policy=greedy workload.batching.size=0");
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    /* Three in four are 0.5 ms above the line, one as much below: 0.25 ms. */
    for (int i = 8; i <= 16; i++) {
        assert_close("even", fulcrum_batch_time(gpu, i), 1e-3 * (i + 0.25), 1e-9);
    }
    /* No batch is smaller than one, none larger than all actors. */
    assert_close("one", fulcrum_batch_time(gpu, 1), time_s[0], 1e-15);
    assert_close("all", fulcrum_batch_time(gpu, 32), time_s[31], 1e-15);
    /* A limit is a size that comes up again and again. */
    designs_set(&design, "workload.batching.size=12");
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    assert_close("limit", fulcrum_batch_time(gpu, 12), time_s[11], 1e-15);
    /* Fixed batches have their own size. */
    designs_set(&design, "workload.batching.policy=fixed");
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    assert_close("fixed", fulcrum_batch_time(gpu, 12), time_s[11], 1e-15);
}

/* A rollout's training steps come one behind the other, as many as it is due. */
TEST(test_a_loop_that_alternates_gathers_its_training)
{
    struct fulcrum_design design = gpu_design();
    designs_set(&design, "workload.training.env_steps_per_train_step=64 "
                         "workload.training.train_step_s=0.004 run.envs_per_actor=2");
    CU_ASSERT_EQUAL(lower(&design).network.loop, FULCRUM_LOOP_CENTRAL);
    designs_set(&design, "workload.loop=alternating");
    struct fulcrum_network unknown = lower(&design).network;
    CU_ASSERT_EQUAL(unknown.loop, FULCRUM_LOOP_ALTERNATING);
    CU_ASSERT_EQUAL(unknown.training.env_steps_per_train_step, 32.0);
    designs_set(&design, "workload.rollout_length=512");
    struct fulcrum_network known = lower(&design).network;
    CU_ASSERT_EQUAL(
        known.training.env_steps_per_train_step, 512 * design.run.actor_count);
    assert_close("training", known.training.train_step_s,
        512 * design.run.actor_count / 32 * 0.004, 1e-12);
}

/* Copying is counted by observation, requests and wake-ups by actor. */
TEST(test_hand_off_is_counted_by_request_and_by_observation)
{
    static const double envs[] = {1, 4, 16};
    for (size_t i = 0; i < LENGTH(envs); i++) {
        struct fulcrum_design design = gpu_design();
        design.run.envs_per_actor = envs[i];
        designs_set(&design,
            "workload.host.per_batch_s=7e-6 workload.host.per_item_s=1e-6 "
            "workload.host.per_request_s=5e-6 workload.host.actor_s=3e-6 "
            "workload.host.wake_s=9e-6");
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
    struct fulcrum_design design = gpu_design();
    struct fulcrum_replicas replicas = lower(&design);
    assert_close("step", replicas.network.step.mean_s, 2e-3, 0.0);
    assert_close("cv", replicas.network.step.cv, 0.5, 0.0);
    assert_close("h1", replicas.network.host.per_item_s, 0.0, 0.0);
    assert_close("wake", replicas.wake_s, 0.0, 0.0);
}

/* Where the cv is free the spread in seconds stays; else the whole is scaled. */
TEST(test_a_longer_step_keeps_its_spread_where_the_law_can)
{
    static const struct {
        enum fulcrum_step_law law;
        double cv;
        double expected;
    } cases[] = {
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
    struct fulcrum_design design = cpu_design();
    struct fulcrum_replicas replicas = lower_with(&design,
        "workload.step.mean_s=3e-8 workload.step.cv=0.2 workload.host.actor_s=2e-5");
    CU_ASSERT_EQUAL(replicas.network.step.law, FULCRUM_LAW_DETERMINISTIC);
    assert_close("cv", replicas.network.step.cv, 0.0, 0.0);
    assert_close("mean", replicas.network.step.mean_s, 2.003e-5, 1e-12);
    design.workload.host.actor_s = 5e-6;
    CU_ASSERT_EQUAL(lower(&design).network.step.law, FULCRUM_LAW_LOGNORMAL);
}

#define PCIE_3 15.75e9
#define PCIE_5 63e9

/* R2D2-like training on `learners` of `gpus` GPUs, 64 actors for each that infers. */
static struct fulcrum_design design_apart(
    double gpus, double learners, double train_step_s)
{
    struct fulcrum_design out = gpu_design();
    designs_set(&out,
        "machine.cpu.core_count=80 machine.cpu.thread_count=160 "
        "workload.host.reserved_threads=3 workload.network.sm_active_frac=0.2 "
        "workload.training.env_steps_per_train_step=3360");
    out.workload.training.train_step_s = train_step_s;
    out.workload.training.queue_train_steps = 2.4;
    out.run.gpu_count = gpus;
    out.run.learner_gpu_count = learners;
    out.run.actor_count = 64 * (gpus - learners);
    return out;
}

struct outcome {
    struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
    struct fulcrum_power power;
    double steps_per_s; /* of all replicas */
};

static struct outcome outcome_of(
    const struct fulcrum_design *design, enum fulcrum_method method)
{
    struct outcome out = {.steps_per_s = 0.0};
    struct fulcrum_solver_options options = {
        .method = method, .seed = 7, .half_width_rel = 0.002};
    ASSERT_OK(fulcrum_design_check(design, NULL));
    ASSERT_OK(fulcrum_design_to_network(design, &out.replicas, NULL));
    ASSERT_OK(fulcrum_solve_pausing(&out.replicas, &options, &out.solution, NULL));
    out.power = fulcrum_power_of(design, &out.replicas, &out.solution);
    out.steps_per_s = out.solution.steps_per_s * out.replicas.count;
    /* The table of batch times that the network borrows has moved, and is empty. */
    return out;
}

/* By both methods; one takes no inference for one of a millionth of a step. */
static void expect_rate(struct fulcrum_design *design, const char *settings,
    double steps_per_s, double error_rel)
{
    static const enum fulcrum_method methods[] = {
        FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE};
    designs_set(design, settings);
    for (size_t i = 0; i < LENGTH(methods); i++) {
        struct outcome out = outcome_of(design, methods[i]);
        assert_close(settings, out.steps_per_s * out.replicas.steps_per_request,
            steps_per_s, error_rel);
    }
}

/* An actor steps one group at a time: what they hide is the wait, not the stepping. */
TEST(test_groups_of_one_actor_are_one_process)
{
    struct fulcrum_design design = cpu_design();
    designs_set(&design, "run.actor_count=1 run.envs_per_actor=4 workload.step.cv=0 "
                         "workload.network.per_batch_s=0 workload.network.per_item_s=0 "
                         "workload.step.law=deterministic");
    expect_rate(&design, "workload.group_count=1", 1e4, 2e-6);
    expect_rate(&design, "workload.group_count=2", 1e4, 2e-6);
    expect_rate(&design, "workload.group_count=4", 1e4, 2e-6);
    designs_assert_refused(&design, "workload.group_count=3", FULCRUM_ERR_INFEASIBLE,
        "workload.group_count = 3 groups");
    /* Every request is waited for by one group; two are stepped meanwhile. */
    designs_set(&design, "workload.network.per_batch_s=1e-4");
    expect_rate(&design, "workload.group_count=1", 4 / 5e-4, 1e-9);
    struct outcome out = outcome_of(&design, FULCRUM_METHOD_SIMULATE);
    designs_set(&design, "workload.group_count=2");
    struct outcome two = outcome_of(&design, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT_EQUAL(out.replicas.network.actors, 1.0);
    CU_ASSERT_EQUAL(two.replicas.network.actors, 2.0);
    assert_close("hidden", two.steps_per_s * 2, 1e4, 1e-3);
}

/* All threads are busy: with steps, and with their shares of batches and training. */
TEST(test_a_learner_without_a_core_takes_its_time_from_actors)
{
    static const struct {
        double actors;
        double threads;
        const char *settings;
    } rows[] = {
        {64, 8, "workload.training.train_step_s=2e-4"},
        {64, 8, "workload.training.train_step_s=6e-4"},
        {32, 4, "workload.training.train_step_s=6e-4"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_design design = cpu_design();
        designs_set(&design, "machine.learner_core_count=0 "
                             "workload.training.env_steps_per_train_step=64");
        design.run.actor_count = rows[i].actors;
        design.machine.cpu.core_count = rows[i].threads;
        design.machine.cpu.thread_count = rows[i].threads;
        designs_set(&design, rows[i].settings);
        struct outcome out = outcome_of(&design, FULCRUM_METHOD_FAST);
        double each_s = 1e-4 + 2e-5 / out.solution.mean_batch + 2e-6 +
                        design.workload.training.train_step_s / 64;
        CU_ASSERT(out.replicas.shares_cores);
        CU_ASSERT_EQUAL(out.replicas.network.cpu.reserved_threads, 0.0);
        assert_close("threads", out.steps_per_s * each_s, rows[i].threads, 0.02);
    }
}

/* Three processes for two threads: a third wait for a slice where it is busy. As many
 * processes as threads: nobody does. */
TEST(test_more_processes_than_threads_wait_for_slices)
{
    struct fulcrum_design design = cpu_design();
    designs_set(&design,
        "machine.learner_core_count=0 machine.cpu.core_count=2 "
        "machine.cpu.thread_count=2 machine.cpu.slice_s=8e-3 workload.host.delay_s=0 "
        "workload.group_count=2 run.envs_per_actor=40");
    design.run.actor_count = 2;
    struct outcome many = outcome_of(&design, FULCRUM_METHOD_FAST);
    double busy = many.solution.steps_per_s * many.replicas.network.step.mean_s +
                  many.solution.gpu_inference_busy_frac + many.solution.host_busy_frac;
    CU_ASSERT(busy > 0.5 && busy < 1.99);
    assert_close("wait", many.replicas.network.delay_s, 8e-3 / 3 * busy / 2, 1e-3);
    design.machine.cpu.slice_s = 0.0;
    CU_ASSERT(outcome_of(&design, FULCRUM_METHOD_FAST).steps_per_s > many.steps_per_s);
    design.machine.cpu.slice_s = 8e-3;
    design.run.actor_count = 1;
    CU_ASSERT_EQUAL(
        outcome_of(&design, FULCRUM_METHOD_FAST).replicas.network.delay_s, 0.0);
}

TEST(test_every_gpu_does_both_unless_said_otherwise)
{
    struct fulcrum_design design = design_apart(4, 0, 0.1);
    design.machine.link.host_byte_per_s = PCIE_3;
    design.workload.network.parameter_count = 4.4e6;
    design.workload.host.inference_threads = 2;
    CU_ASSERT_EQUAL(fulcrum_shard_count(&design), 4.0);
    CU_ASSERT_EQUAL(reserved_threads_of(&design), 3.0);
    CU_ASSERT_EQUAL(weights_s(&design), 0.0);
    struct outcome whole = outcome_of(&design, FULCRUM_METHOD_FAST);
    const struct fulcrum_training *training = &whole.replicas.network.training;
    CU_ASSERT_EQUAL(training->env_steps_per_train_step, 3360.0);
    CU_ASSERT_EQUAL(training->train_step_s, 0.1);
    CU_ASSERT_EQUAL(training->sharing_frac, 1.0);
    CU_ASSERT_EQUAL(whole.replicas.learner_count, 0.0);
    struct fulcrum_solution solution = whole.solution;
    part_busy(&whole.replicas, &solution);
    CU_ASSERT_EQUAL(solution.gpu_busy_frac, whole.solution.gpu_busy_frac);
    CU_ASSERT_EQUAL(solution.bottleneck, whole.solution.bottleneck);
    /* What a GPU that only infers would take makes no difference. */
    design.workload.host.inference_threads = 0;
    design.machine.link.host_byte_per_s = (double)NAN;
    CU_ASSERT_EQUAL(
        outcome_of(&design, FULCRUM_METHOD_FAST).steps_per_s, whole.steps_per_s);
}

TEST(test_learners_take_threads_from_all_shards)
{
    struct fulcrum_design design = design_apart(8, 2, 0.1);
    CU_ASSERT_EQUAL(fulcrum_shard_count(&design), 6.0);
    /* One thread for each of six that infer and three for each of two learners. */
    assert_close("of a shard", reserved_threads_of(&design), 2.0, 1e-15);
    design.workload.host.inference_threads = 5; /* no more than with a learner */
    assert_close("at most", reserved_threads_of(&design), 4.0, 1e-15);
    design.workload.host.reserved_threads = 0;
    CU_ASSERT_EQUAL(reserved_threads_of(&design), 0.0);
    design.workload.host.reserved_threads = 300;
    struct outcome capped = outcome_of(&design, FULCRUM_METHOD_FAST);
    assert_close("40 % of the share", capped.replicas.reserved_threads,
        FULCRUM_RESERVED_MOST_FRAC * 160.0 / 6.0, 1e-15);
}

TEST(test_transfers_are_differences_to_the_reference)
{
    const struct fulcrum_link slow = {.host_byte_per_s = PCIE_3};
    const struct fulcrum_link fast = {.host_byte_per_s = PCIE_5};
    const struct fulcrum_link endless = {.host_byte_per_s = (double)INFINITY};
    const struct fulcrum_link unknown = {.host_byte_per_s = (double)NAN};
    const double byte = 28224;
    CU_ASSERT_EQUAL(fulcrum_node_transfer_s(byte, &slow, &slow), 0.0);
    CU_ASSERT_EQUAL(fulcrum_node_transfer_s(byte, &unknown, &slow), 0.0);
    CU_ASSERT_EQUAL(fulcrum_node_transfer_s(byte, &slow, &unknown), 0.0);
    CU_ASSERT_EQUAL(fulcrum_node_transfer_s((double)NAN, &slow, &fast), 0.0);
    assert_close("to a link that takes no time",
        fulcrum_node_transfer_s(byte, &slow, &endless), -byte / PCIE_3, 1e-15);
    assert_close("and back", fulcrum_node_transfer_s(byte, &endless, &slow),
        byte / PCIE_3, 1e-15);
    assert_close("two generations on", fulcrum_node_transfer_s(byte, &slow, &fast),
        -0.75 * byte / PCIE_3, 1e-12);
}

TEST(test_learners_without_work_leave_the_rate_of_inference)
{
    struct fulcrum_design apart = design_apart(4, 1, 1e-9);
    struct outcome split = outcome_of(&apart, FULCRUM_METHOD_FAST);
    /* Three GPUs without any training, beside the same threads that are taken. */
    struct fulcrum_design inferring = apart;
    inferring.run.gpu_count = 3;
    inferring.run.learner_gpu_count = 0;
    inferring.workload.training.env_steps_per_train_step = 0;
    inferring.workload.host.reserved_threads = 2;
    struct outcome alone = outcome_of(&inferring, FULCRUM_METHOD_FAST);
    assert_close("rate", split.steps_per_s, alone.steps_per_s, 1e-9);
    assert_close("inference", split.solution.gpu_inference_busy_frac,
        alone.solution.gpu_inference_busy_frac, 1e-9);
    CU_ASSERT_EQUAL(split.solution.bottleneck, alone.solution.bottleneck);
}

TEST(test_busy_learners_hold_all_shards_to_their_rate)
{
    static const struct {
        double gpus;
        double learners;
        double train_step_s;
    } rows[] = {{2, 1, 0.5}, {4, 1, 0.4}, {8, 3, 1.0}, {8, 7, 3.0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_design design =
            design_apart(rows[i].gpus, rows[i].learners, rows[i].train_step_s);
        struct outcome out = outcome_of(&design, FULCRUM_METHOD_FAST);
        assert_close("K L / t_T", out.steps_per_s,
            3360 * rows[i].learners / rows[i].train_step_s, 1e-9);
        assert_close("learner", out.solution.gpu_train_busy_frac, 1.0, 1e-9);
        CU_ASSERT_EQUAL(out.solution.bottleneck, FULCRUM_BOUND_LEARNER);
    }
}

TEST(test_weights_are_copied_once_a_train_step)
{
    struct fulcrum_design design = design_apart(4, 1, 0.4);
    design.workload.network.parameter_count = 4.4e9;
    design.machine.link.host_byte_per_s = PCIE_3;
    design.machine.gpu.memory_byte = (double)NAN;
    const double copy_s = 4 * 4.4e9 / PCIE_3;
    assert_close("copy", weights_s(&design), copy_s, 1e-15);
    struct outcome out = outcome_of(&design, FULCRUM_METHOD_FAST);
    assert_close("rate", out.steps_per_s, 3360 / (0.4 + copy_s), 1e-9);
    assert_close("SMs rest meanwhile", out.replicas.train_active_frac,
        0.4 / (0.4 + copy_s), 1e-12);
    design.machine.link.host_byte_per_s = (double)INFINITY;
    CU_ASSERT_EQUAL(weights_s(&design), 0.0);
    out = outcome_of(&design, FULCRUM_METHOD_FAST);
    assert_close("without a copy", out.steps_per_s, 3360 / 0.4, 1e-9);
}

/* Rates, work and watts of both kinds of GPU agree with each other. */
static void check_books(const struct fulcrum_design *design, const struct outcome *out)
{
    const struct fulcrum_gpu *gpu = &design->machine.gpu;
    double learners = design->run.learner_gpu_count;
    double inferring = design->run.gpu_count - learners;
    double train_frac =
        out->steps_per_s * design->workload.training.train_step_s / (3360 * learners);
    double batch = out->solution.mean_batch;
    double infer_frac = out->steps_per_s / inferring *
                        fulcrum_batch_time(&out->replicas.network.gpu, batch) / batch;
    /* A simulation counts to the end of its last train step. */
    double slack = out->solution.method == FULCRUM_METHOD_SIMULATE ? 0.01 : 1e-9;
    assert_close("train", out->solution.gpu_train_busy_frac, train_frac, slack);
    assert_close("infer", out->solution.gpu_inference_busy_frac, infer_frac, slack);
    train_frac = out->solution.gpu_train_busy_frac;
    infer_frac = out->solution.gpu_inference_busy_frac;
    assert_close("busy", out->solution.gpu_busy_frac,
        (learners * train_frac + inferring * infer_frac) / design->run.gpu_count,
        1e-12);
    assert_close("SMs", out->power.sm_active_frac,
        (learners * train_frac + inferring * 0.2 * infer_frac) / design->run.gpu_count,
        1e-12);
    assert_close("watts", out->power.gpu_w,
        design->run.gpu_count * (gpu->idle_w + gpu->floor_w) +
            gpu->dynamic_w * (learners * train_frac + inferring * 0.2 * infer_frac),
        1e-12);
}

TEST(test_work_and_watts_add_up)
{
    static const double train_step_s[] = {1e-3, 0.05, 0.15, 0.6};
    for (size_t i = 0; i < 4; i++) {
        struct fulcrum_design design = design_apart(8, 2, train_step_s[i]);
        struct outcome out = outcome_of(&design, FULCRUM_METHOD_FAST);
        check_books(&design, &out);
        out = outcome_of(&design, FULCRUM_METHOD_SIMULATE);
        check_books(&design, &out);
    }
}

TEST(test_watts_of_both_kinds_follow_their_own_exponent)
{
    struct fulcrum_design design = design_apart(4, 1, 0.4);
    design.machine.gpu.power_exponent = 2.0;
    struct outcome out = outcome_of(&design, FULCRUM_METHOD_FAST);
    double infer = 0.2 * out.solution.gpu_inference_busy_frac;
    assert_close(
        "watts", out.power.gpu_w, 4 * 62 + 170 * (1 + 3 * infer * infer), 1e-9);
}

TEST(test_simulation_agrees_with_equations)
{
    static const struct {
        double gpus;
        double learners;
        double train_step_s;
        double population_frac; /* 0: greedy */
    } rows[] = {{2, 1, 0.1, 0}, {4, 1, 0.05, 0}, {4, 2, 0.2, 0}, {8, 2, 0.12, 0},
        {8, 6, 0.4, 0}, {4, 1, 0.05, 0.5}, {4, 2, 0.2, 0.5}, {8, 3, 0.15, 0.5},
        {8, 7, 0.8, 0.5}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_design design =
            design_apart(rows[i].gpus, rows[i].learners, rows[i].train_step_s);
        if (rows[i].population_frac > 0) {
            design.workload.batching.policy = FULCRUM_BATCH_FIXED;
            design.workload.batching.population_frac = rows[i].population_frac;
        }
        struct outcome fast = outcome_of(&design, FULCRUM_METHOD_FAST);
        struct outcome judge = outcome_of(&design, FULCRUM_METHOD_SIMULATE);
        /* What the fast method tells of its own error (fast.c), and the noise. */
        assert_close("rate", fast.steps_per_s, judge.steps_per_s,
            fast.solution.error_rel + 0.004);
    }
}

/* A split is never better than what either half could do without the other. */
TEST(test_a_split_never_beats_its_parts)
{
    static const double train_step_s[] = {0.01, 0.025, 0.06, 0.15, 0.4, 1.0};
    for (size_t i = 0; i < 42; i++) {
        size_t learning = 1 + i / 6;
        double learners = (double)learning;
        struct fulcrum_design design = design_apart(8, learners, train_step_s[i % 6]);
        struct outcome out = outcome_of(&design, FULCRUM_METHOD_FAST);
        design.workload.training.train_step_s = 1e-9;
        struct outcome inferring = outcome_of(&design, FULCRUM_METHOD_FAST);
        double most =
            fmin(inferring.steps_per_s, 3360 * learners / train_step_s[i % 6]);
        CU_ASSERT(out.steps_per_s <= most * (1 + 1e-9));
        CU_ASSERT(out.steps_per_s > 0.8 * most);
        CU_ASSERT(out.solution.gpu_train_busy_frac <= 1.0);
    }
}

/* Learners sum gradients with each other, not with GPUs that only infer. */
TEST(test_learners_of_all_machines_train_together)
{
    struct fulcrum_design design = design_apart(4, 1, 0.4);
    design.workload.network.parameter_count = 4.4e6;
    design.machine.link.peer_byte_per_s = 1e9;
    design.machine.link.network_byte_per_s = 1e9;
    struct outcome one = outcome_of(&design, FULCRUM_METHOD_FAST);
    CU_ASSERT_EQUAL(one.replicas.training.allreduce_s, 0.0);
    CU_ASSERT_EQUAL(one.replicas.flags & FULCRUM_FLAG_FREE_ALLREDUCE, 0U);
    design.run.node_count = 2;
    struct outcome two = outcome_of(&design, FULCRUM_METHOD_FAST);
    CU_ASSERT_EQUAL(two.replicas.count, 6.0);
    CU_ASSERT_EQUAL(two.replicas.learner_count, 2.0);
    CU_ASSERT_EQUAL(two.replicas.training.worker_count, 2.0);
    double step_s = 0.4 + two.replicas.training.exposed_s;
    CU_ASSERT(two.replicas.training.exposed_s > 0.0);
    assert_close("K n L / t", two.steps_per_s, 2 * 3360 / step_s, 1e-9);
    assert_close("mean", two.solution.gpu_busy_frac,
        0.25 + 0.75 * two.solution.gpu_inference_busy_frac, 1e-9);
    /* All learners divide one batch: half the samples to each, K steps in between. */
    design.run.batch_scaling = FULCRUM_BATCH_STRONG;
    struct outcome strong = outcome_of(&design, FULCRUM_METHOD_FAST);
    assert_close("half the batch", strong.steps_per_s,
        3360 / (0.2 + strong.replicas.training.exposed_s), 1e-9);
}

TEST(test_splits_that_cannot_run_are_named)
{
    struct fulcrum_design design = design_apart(4, 1, 0.1);
    designs_assert_refused(&design, "run.learner_gpu_count=4", FULCRUM_ERR_RANGE,
        "run.learner_gpu_count = 4");
    designs_assert_refused(&design, "workload.training.env_steps_per_train_step=0",
        FULCRUM_ERR_INFEASIBLE, "nothing trains");
    designs_assert_refused(
        &design, "run.actor_count=64", FULCRUM_ERR_INFEASIBLE, "3 GPUs that infer");
    design = design_apart(4, 2, 0.1);
    designs_assert_refused(&design,
        "run.model_parallel_gpu_count=2 workload.training.model_parallel_frac=0.5",
        FULCRUM_ERR_INFEASIBLE, "run.model_parallel_gpu_count");
    design = cpu_design();
    designs_assert_refused(
        &design, "run.learner_gpu_count=1", FULCRUM_ERR_INFEASIBLE, "");
}
