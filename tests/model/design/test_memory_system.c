/* test_memory_system.c - a GPU's memory: what fits, and what another one would do. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "model/design/memory_system.c" /* NOLINT(bugprone-suspicious-include) */
#include "model/design/scale.h"
#include "model/predict/to_network.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* R2D2 on a V100: Figure 2 of Inci et al. 2020, and the usual exponent. */
static const double dram_frac = 0.12;
static const double exponent = 0.5;

static struct fulcrum_cache_law law_of(
    double a, double compulsory_frac, double working_set_byte)
{
    return (struct fulcrum_cache_law){a, compulsory_frac, working_set_byte};
}

/* COPA's: 16 times the cache, 1.6 times the bandwidth. */
static struct fulcrum_memory_change copa(double gain_frac, double compulsory_frac)
{
    return (struct fulcrum_memory_change){gain_frac, 16.0, 1.6, compulsory_frac};
}

TEST(test_an_equal_memory_system_changes_nothing)
{
    static const double exponents[] = {0.0, 0.3, 0.5, 2.0};
    static const double compulsory[] = {0.0, 0.4, 1.0};
    for (size_t i = 0; i < 12; i++) {
        struct fulcrum_cache_law law =
            law_of(exponents[i % 4], compulsory[i / 4], (double)NAN);
        CU_ASSERT_EQUAL(fulcrum_dram_traffic_rel(&law, 6e6, 6e6), 1.0);
        CU_ASSERT_EQUAL(fulcrum_dram_traffic_rel(&law, 6e6, (double)NAN), 1.0);
        CU_ASSERT_EQUAL(fulcrum_dram_traffic_rel(&law, (double)NAN, 6e6), 1.0);
    }
    assert_close("time", memory_time_rel(dram_frac, 1.0, 1.0), 1.0, 1e-15);
}

TEST(test_traffic_has_its_limits)
{
    struct fulcrum_cache_law flat = law_of(0.0, 0.0, (double)NAN);
    struct fulcrum_cache_law floored = law_of(exponent, 0.3, (double)NAN);
    struct fulcrum_cache_law bounded = law_of(exponent, 0.3, 1e9);
    CU_ASSERT_EQUAL(fulcrum_dram_traffic_rel(&flat, 6e6, 6e12), 1.0); /* a = 0 */
    assert_close(
        "4 x", fulcrum_dram_traffic_rel(&floored, 6e6, 24e6), 0.3 + 0.7 / 2.0, 1e-14);
    /* An infinite cache leaves what has to be fetched once. */
    assert_close(
        "infinite", fulcrum_dram_traffic_rel(&floored, 6e6, 1e300), 0.3, 1e-12);
    CU_ASSERT_EQUAL(fulcrum_dram_traffic_rel(&bounded, 6e6, 1e9), 0.3);
    CU_ASSERT(fulcrum_dram_traffic_rel(&bounded, 6e6, 0.99e9) > 0.3);
    /* Infinite bandwidth: all but the DRAM's share is left. */
    assert_close(
        "bandwidth", memory_time_rel(dram_frac, 1.0, 1e300), 1.0 - dram_frac, 1e-15);
}

/* A reference that holds everything has compulsory traffic only; smaller caches more,
 * from the working set on. */
TEST(test_a_reference_may_hold_the_working_set)
{
    struct fulcrum_cache_law law = law_of(exponent, 0.3, 10e6);
    CU_ASSERT_EQUAL(fulcrum_dram_traffic_rel(&law, 20e6, 40e6), 1.0);
    CU_ASSERT_EQUAL(fulcrum_dram_traffic_rel(&law, 20e6, 10e6), 1.0);
    assert_close("a quarter", fulcrum_dram_traffic_rel(&law, 20e6, 2.5e6), 2.0, 1e-14);
    CU_ASSERT_EQUAL(fulcrum_dram_compulsory_frac(&law, 20e6, 40e6), 1.0);
    assert_close(
        "compulsory", fulcrum_dram_compulsory_frac(&law, 20e6, 2.5e6), 0.5, 1e-14);
}

/* By way of a third cache the traffic is the same, with the share restated there. */
TEST(test_traffic_composes)
{
    struct fulcrum_cache_law law = law_of(0.7, 0.25, (double)NAN);
    double there = fulcrum_dram_traffic_rel(&law, 6e6, 40e6);
    struct fulcrum_cache_law restated =
        law_of(0.7, fulcrum_dram_compulsory_frac(&law, 6e6, 40e6), (double)NAN);
    assert_close("composed", there * fulcrum_dram_traffic_rel(&restated, 40e6, 126e6),
        fulcrum_dram_traffic_rel(&law, 6e6, 126e6), 1e-14);
}

TEST(test_traffic_never_rises_with_the_cache)
{
    struct fulcrum_cache_law law = law_of(0.4, 0.1, 60e6);
    double before = fulcrum_dram_traffic_rel(&law, 6e6, 1e3);
    for (int i = 1; i < 200; i++) {
        double now = fulcrum_dram_traffic_rel(&law, 6e6, 1e3 * pow(1.1, i));
        CU_ASSERT(now <= before);
        before = now;
    }
}

/* (18) beside (24): the same change as fields of a GPU. */
TEST(test_one_law_for_whole_gpus)
{
    static struct fulcrum_design design;
    fulcrum_design_init(&design);
    struct fulcrum_gpu old = {.sm_count = 80,
        .clock_hz = 1.53e9,
        .flop_per_sm_cycle = 128,
        .dram_byte_per_s = 900e9,
        .llc_byte = 6e6,
        .latency_rel = 1,
        .sm_loss_rel = 1,
        .launch_rel = 1};
    struct fulcrum_gpu new = old;
    new.dram_byte_per_s *= 1.6;
    new.llc_byte *= 16;
    struct fulcrum_gpu_scale scale =
        fulcrum_gpu_scale(&design.workload.network, &old, &new);
    /* .88 + .12 / 4 / 1.6: GPU time -10 %, 1.11 times as fast. */
    assert_close("phi", fulcrum_gpu_scale_sum(&scale), 0.89875, 1e-12);
    struct fulcrum_memory_change change = copa(0.0, 0.0);
    assert_close("gain", fulcrum_memory_gain_frac(&change, dram_frac, exponent),
        1.0 / 0.89875 - 1.0, 1e-12);
    /* However good the memory: 1 / .88 = 1.136. */
    change.bandwidth_rel = 1e12;
    assert_close("ceiling", fulcrum_memory_gain_frac(&change, dram_frac, exponent),
        0.136363636, 1e-6);
}

/* 31 %: .28 goes with a = .50; .63 with a useless cache; never less than .237. */
TEST(test_the_family_of_a_gain)
{
    struct fulcrum_memory_change training = copa(0.31, 0.0);
    ASSERT_OK(fulcrum_memory_change_check(&training, NULL));
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_memory_dram_frac(&training, 0.5), 0.28, 0.002);
    assert_close(
        "least", fulcrum_memory_dram_frac(&training, 50.0), 0.31 / 1.31, 1e-12);
    assert_close(
        "most", fulcrum_memory_dram_frac(&training, 0.0), 0.31 / 1.31 / 0.375, 1e-12);
}

/* Every point of the curve meets the gain, by the other function. */
static void assert_members(const struct fulcrum_memory_change *change)
{
    size_t met = 0;
    for (int k = 0; k <= 20; k++) {
        double a = 0.1 * k;
        double share = fulcrum_memory_dram_frac(change, a);
        if (!isnan(share)) {
            CU_ASSERT(share > 0.0 && share <= 1.0);
            assert_close("gain", fulcrum_memory_gain_frac(change, share, a),
                change->gain_frac, 1e-9);
            met++;
        }
    }
    CU_ASSERT(met > 0);
}

TEST(test_every_member_of_the_family_meets_the_gain)
{
    static const double gains[] = {0.05, 0.31, 0.35, 1.0};
    static const double compulsory[] = {0.0, 0.2, 0.6};
    for (size_t i = 0; i < 12; i++) {
        struct fulcrum_memory_change change = copa(gains[i % 4], compulsory[i / 4]);
        assert_members(&change);
    }
}

TEST(test_changes_that_nothing_meets)
{
    const struct {
        struct fulcrum_memory_change change;
        enum fulcrum_status status;
    } cases[] = {
        {{0.0, 16, 1.6, 0}, FULCRUM_ERR_RANGE},
        {{-0.1, 16, 1.6, 0}, FULCRUM_ERR_RANGE},
        {{(double)NAN, 16, 1.6, 0}, FULCRUM_ERR_RANGE},
        {{(double)INFINITY, 16, 1.6, 0}, FULCRUM_ERR_RANGE},
        {{0.31, 1.0, 1.6, 0}, FULCRUM_ERR_RANGE},
        {{0.31, 16, 0.0, 0}, FULCRUM_ERR_RANGE},
        {{0.31, 16, 1.6, 1.1}, FULCRUM_ERR_RANGE},
        {{0.31, 16, 1.0, 0.9}, FULCRUM_ERR_INFEASIBLE},
        {{1.0, 16, 1.6, 1.0}, FULCRUM_ERR_INFEASIBLE},
        {{0.31, 16, 0.5, 0.6}, FULCRUM_ERR_INFEASIBLE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_memory_change_check(&cases[i].change, &err), cases[i].status);
        CU_ASSERT(err.detail[0] != '\0');
    }
    /* Half of the bandwidth: a cache that saves enough makes up for it. */
    const struct fulcrum_memory_change slower = {0.1, 16, 0.5, 0};
    ASSERT_OK(fulcrum_memory_change_check(&slower, NULL));
    CU_ASSERT(isnan(fulcrum_memory_dram_frac(&slower, 0.0)));
}

/* R2D2's sizes: the only one that its preset does not know are activations. */
static struct fulcrum_design r2d2(void)
{
    struct fulcrum_design out = gpu_design();
    designs_set(&out,
        "workload.network.parameter_count=4.4e6 "
        "workload.network.observation_byte=28224 workload.batching.depth=2 "
        "workload.training.env_steps_per_train_step=3360 "
        "workload.training.train_step_s=0.2 workload.training.batch_size=64 "
        "workload.training.unroll_length=80 workload.training.burn_in_length=40 "
        "machine.gpu.memory_byte=16e9");
    return out;
}

TEST(test_each_part_is_counted)
{
    struct fulcrum_design design = r2d2();
    design.workload.network.activation_byte = 1e5;
    design.workload.training.replay_byte = 3e9;
    struct gpu_memory memory = memory_of(&design, 128);
    assert_close("state", memory.state_byte, 16 * 4.4e6, 1e-14);
    assert_close(
        "training", memory.training_byte, 64 * 120 * 28224.0 + 64 * 80 * 1e5, 1e-14);
    assert_close("inference", memory.inference_byte, 128 * 2 * 28224.0, 1e-14);
    CU_ASSERT_EQUAL(memory.replay_byte, 3e9);
    CU_ASSERT(memory.is_whole);
    assert_close("sum", memory_sum(&memory),
        memory.state_byte + memory.training_byte + memory.inference_byte + 3e9, 1e-15);
}

/* Nothing but what inference needs: weights and observations. */
TEST(test_inference_alone_keeps_no_gradients)
{
    struct fulcrum_design design = r2d2();
    design.workload.training.env_steps_per_train_step = 0;
    design.workload.training.replay_byte = 3e9;
    struct gpu_memory memory = memory_of(&design, 1);
    assert_close("weights", memory.state_byte, 4 * 4.4e6, 1e-14);
    CU_ASSERT_EQUAL(memory.training_byte, 0.0);
    CU_ASSERT_EQUAL(memory.replay_byte, 0.0);
}

TEST(test_what_is_not_known_counts_as_nothing)
{
    struct fulcrum_design design = r2d2();
    struct gpu_memory memory = memory_of(&design, 128);
    CU_ASSERT(!memory.is_whole);
    assert_close("observations alone", memory.training_byte, 64 * 120 * 28224.0, 1e-14);
    design.workload.network.observation_byte = (double)NAN;
    design.workload.network.parameter_count = (double)NAN;
    memory = memory_of(&design, 128);
    CU_ASSERT_EQUAL(memory_sum(&memory), 0.0);
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
}

/* What GPUs divide, none of them holds: state and samples of a split network, samples
 * of a split batch. Weights are whole where one infers. */
TEST(test_what_gpus_divide_is_counted_once)
{
    struct fulcrum_design design = r2d2();
    double parameters = design.workload.network.parameter_count;
    struct gpu_memory alone = memory_of(&design, 128);
    designs_set(&design, "machine.gpu.count=8 run.gpu_count=8");
    struct gpu_memory memory = memory_of(&design, 128);
    CU_ASSERT_EQUAL(memory.training_byte, alone.training_byte);
    design.run.batch_scaling = FULCRUM_BATCH_STRONG;
    memory = memory_of(&design, 128);
    assert_close(
        "part of a batch", memory.training_byte, alone.training_byte / 8, 1e-14);
    CU_ASSERT_EQUAL(memory.state_byte, alone.state_byte);
    designs_set(&design, "run.batch_scaling=weak run.model_parallel_gpu_count=2");
    memory = memory_of(&design, 128);
    assert_close("half a network", memory.state_byte, alone.state_byte / 2, 1e-14);
    assert_close(
        "half its samples", memory.training_byte, alone.training_byte / 2, 1e-14);
    design.run.model_parallel_gpu_count = 8;
    memory = memory_of(&design, 128);
    assert_close("weights", memory.state_byte, 4 * parameters, 1e-14);
}

TEST(test_a_memory_that_is_too_small_is_named)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_design design = r2d2();
    struct gpu_memory memory = memory_of(&design, 128);
    double needed = memory_sum(&memory);
    design.machine.gpu.memory_byte = needed;
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
    design.machine.gpu.memory_byte = needed * (1 - 1e-9);
    CU_ASSERT_EQUAL(
        fulcrum_gpu_memory_check(&design, 128, &err), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT(strstr(err.detail, "machine.gpu.memory_byte = ") != NULL);
    CU_ASSERT(strstr(err.detail, "replay") != NULL);
    design.machine.gpu.memory_byte = (double)NAN;
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
    designs_set(&design, "machine.gpu.memory_byte=1e6 machine.accelerator=cpu");
    ASSERT_OK(fulcrum_gpu_memory_check(&design, 128, NULL));
}

/* A design that does not fit has no network; fixed batches count, greedy limits do not:
 * those may never be reached. */
TEST(test_designs_that_do_not_fit_are_refused)
{
    static struct fulcrum_replicas replicas;
    struct fulcrum_design design = r2d2();
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    designs_assert_refused(
        &design, "workload.training.replay_byte=16e9", FULCRUM_ERR_INFEASIBLE, "");
    designs_set(&design, "run.actor_count=1e6 workload.batching.size=5e5");
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    designs_assert_refused(
        &design, "workload.batching.policy=fixed", FULCRUM_ERR_INFEASIBLE, "");
}
