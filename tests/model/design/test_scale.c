/* test_scale.c - times carried from one machine to another. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/design/scale.h"

#include <math.h>

#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_workload v100_workload(void)
{
    static struct fulcrum_design design;
    fulcrum_design_init(&design);
    designs_set(&design,
        "workload.step.mean_s=2e-3 workload.host.per_batch_s=1e-3 "
        "workload.host.per_item_s=2e-5 workload.host.delay_s=4e-4 "
        "workload.network.per_batch_s=1.2e-3 workload.network.per_item_s=6e-6 "
        "workload.training.train_step_s=0.2");
    return design.workload;
}

static struct fulcrum_gpu gpu(double sm_count, double clock_hz, double byte_per_s)
{
    return (struct fulcrum_gpu){.sm_count = sm_count,
        .clock_hz = clock_hz,
        .flop_per_sm_cycle = 128,
        .dram_byte_per_s = byte_per_s,
        .llc_byte = 6e6};
}

static double speedup(const struct fulcrum_cpu *then, const struct fulcrum_cpu *now)
{
    return fulcrum_cpu_speedup(then, now, FULCRUM_CPU_WORK_ANY);
}

TEST(test_the_same_gpu_changes_nothing)
{
    struct fulcrum_workload before = v100_workload();
    struct fulcrum_workload after = before;
    struct fulcrum_gpu v100 = gpu(80, 1.53e9, 900e9);
    struct fulcrum_gpu_scale scale = fulcrum_gpu_scale(&before.network, &v100, &v100);
    assert_close("phi", fulcrum_gpu_scale_sum(&scale), 1.0, 1e-15);
    fulcrum_scale_gpu_times(&after, &scale, 1.0);
    assert_close("g0", after.network.per_batch_s, before.network.per_batch_s, 1e-15);
    assert_close("g1", after.network.per_item_s, before.network.per_item_s, 1e-15);
    assert_close(
        "t_T", after.training.train_step_s, before.training.train_step_s, 1e-15);
}

/* (6) on a V100: phi(40) = 1.57, phi(2) = 23.23 from the shares of the paper's
 * Figure 2. */
TEST(test_fewer_sms_follow_equation_6)
{
    struct fulcrum_workload workload = v100_workload();
    struct fulcrum_gpu_scale half = fulcrum_sm_scale(&workload.network, 80, 40);
    struct fulcrum_gpu_scale two = fulcrum_sm_scale(&workload.network, 80, 2);
    assert_close("phi(40)", fulcrum_gpu_scale_sum(&half), 1.57, 1e-12);
    assert_close("phi(2)", fulcrum_gpu_scale_sum(&two), 0.57 * 40 + 0.43, 1e-12);
    fulcrum_scale_gpu_times(&workload, &half, 1.0);
    /* (5): launch-bound 70 % stay. */
    assert_close(
        "g0", workload.network.per_batch_s, 1.2e-3 * (0.7 + 0.3 * 1.57), 1e-12);
    assert_close("g1", workload.network.per_item_s, 6e-6 * 1.57, 1e-12);
    assert_close("t_T", workload.training.train_step_s, 0.2 * 1.57, 1e-12);
}

TEST(test_each_resource_shortens_its_own_share)
{
    struct fulcrum_workload workload = v100_workload();
    struct fulcrum_gpu v100 = gpu(80, 1.53e9, 900e9);
    struct fulcrum_gpu wide = gpu(160, 1.53e9, 900e9);
    struct fulcrum_gpu fast_memory = gpu(80, 1.53e9, 1800e9);
    struct fulcrum_gpu large_cache = v100;
    large_cache.llc_byte *= 4.0;
    struct fulcrum_gpu_scale scale = fulcrum_gpu_scale(&workload.network, &v100, &wide);
    assert_close("twice the SMs", fulcrum_gpu_scale_sum(&scale), 1 - 0.57 / 2, 1e-12);
    scale = fulcrum_gpu_scale(&workload.network, &v100, &fast_memory);
    assert_close("twice the bandwidth", fulcrum_gpu_scale_sum(&scale), 0.94, 1e-12);
    scale = fulcrum_gpu_scale(&workload.network, &v100, &large_cache);
    assert_close("4 x the cache, a = 1/2", fulcrum_gpu_scale_sum(&scale), 0.94, 1e-12);
}

TEST(test_an_unknown_property_counts_as_equal)
{
    struct fulcrum_workload workload = v100_workload();
    struct fulcrum_gpu v100 = gpu(80, 1.53e9, 900e9);
    struct fulcrum_gpu other = gpu(160, (double)NAN, (double)NAN);
    other.llc_byte = (double)NAN;
    struct fulcrum_gpu_scale scale =
        fulcrum_gpu_scale(&workload.network, &v100, &other);
    assert_close("phi", fulcrum_gpu_scale_sum(&scale), 1 - 0.57 / 2, 1e-12);
    struct fulcrum_cpu known = {.single_thread_speed_rel = 1.5};
    struct fulcrum_cpu unknown = {.single_thread_speed_rel = (double)NAN};
    assert_close("r", speedup(&known, &unknown), 1.0, 0.0);
    assert_close("r", speedup(&unknown, &known), 1.0, 0.0);
}

/* To another GPU and then to half of its SMs is the same as there at once. */
TEST(test_scaling_twice_composes)
{
    struct fulcrum_workload twice = v100_workload();
    struct fulcrum_workload once = v100_workload();
    struct fulcrum_gpu v100 = gpu(80, 1.53e9, 900e9);
    struct fulcrum_gpu whole = gpu(108, 1.41e9, 1555e9);
    struct fulcrum_gpu half = gpu(54, 1.41e9, 1555e9);
    struct fulcrum_gpu_scale scale = fulcrum_gpu_scale(&twice.network, &v100, &whole);
    fulcrum_scale_gpu_times(&twice, &scale, 1.0);
    struct fulcrum_gpu_scale share = fulcrum_sm_scale(&twice.network, 108, 54);
    fulcrum_scale_gpu_times(&twice, &share, 1.0);
    scale = fulcrum_gpu_scale(&once.network, &v100, &half);
    fulcrum_scale_gpu_times(&once, &scale, 1.0);
    assert_close("g0", twice.network.per_batch_s, once.network.per_batch_s, 1e-13);
    assert_close("g1", twice.network.per_item_s, once.network.per_item_s, 1e-13);
    assert_close("t_T", twice.training.train_step_s, once.training.train_step_s, 1e-13);
    assert_close("math share", twice.network.math_frac, once.network.math_frac, 1e-13);
}

/* Steps and batches have canaries of their own, which tell where both sides have them.
 */
TEST(test_each_kind_of_work_follows_its_own_canary)
{
    struct fulcrum_workload workload = v100_workload();
    struct fulcrum_cpu then = {.single_thread_speed_rel = 1.0,
        .canary_s = 2e-4,
        .step_canary_s = 1e-3,
        .batch_canary_s = 2e-3};
    struct fulcrum_cpu now = {.single_thread_speed_rel = 1.0,
        .canary_s = 2.5e-4,
        .step_canary_s = 2e-3,
        .batch_canary_s = (double)NAN};
    assert_close(
        "steps", fulcrum_cpu_speedup(&then, &now, FULCRUM_CPU_WORK_STEP), 0.5, 1e-15);
    assert_close("batches", fulcrum_cpu_speedup(&then, &now, FULCRUM_CPU_WORK_BATCH),
        0.8, 1e-15);
    now.batch_canary_s = 1e-3;
    assert_close("batches", fulcrum_cpu_speedup(&then, &now, FULCRUM_CPU_WORK_BATCH),
        2.0, 1e-15);
    assert_close("others", speedup(&then, &now), 0.8, 1e-15);
    fulcrum_scale_cpu_times(&workload, &then, &now, 1.0);
    assert_close("t_e", workload.step.mean_s, 2e-3 * 2.0, 1e-14);
    assert_close("h0", workload.host.per_batch_s, 1e-3 * 1.25, 1e-14);
}

/* A longer canary is a slower core, on top of what another processor would make. */
TEST(test_cpu_times_follow_the_canary)
{
    struct fulcrum_cpu then = {.single_thread_speed_rel = 1.0, .canary_s = 2e-4};
    struct fulcrum_cpu now = {.single_thread_speed_rel = 1.0, .canary_s = 2.5e-4};
    struct fulcrum_cpu unknown = {
        .single_thread_speed_rel = 1.0, .canary_s = (double)NAN};
    assert_close("slower", speedup(&then, &now), 0.8, 1e-15);
    assert_close("faster", speedup(&now, &then), 1.25, 1e-15);
    assert_close("now", speedup(&then, &unknown), 1.0, 0.0);
    assert_close("then", speedup(&unknown, &now), 1.0, 0.0);
    now.single_thread_speed_rel = 1.5;
    assert_close("both", speedup(&then, &now), 1.2, 1e-15);
}

TEST(test_cpu_times_follow_the_speed_of_a_thread)
{
    struct fulcrum_workload workload = v100_workload();
    struct fulcrum_cpu slow = {.single_thread_speed_rel = 1.0};
    struct fulcrum_cpu fast = {.single_thread_speed_rel = 1.6};
    fulcrum_scale_cpu_times(&workload, &slow, &fast, 1.2);
    assert_close("t_e", workload.step.mean_s, 2e-3 * 1.2 / 1.6, 1e-14);
    assert_close("h0", workload.host.per_batch_s, 1e-3 * 1.2 / 1.6, 1e-14);
    assert_close("h1", workload.host.per_item_s, 2e-5 * 1.2 / 1.6, 1e-14);
    assert_close("d", workload.host.delay_s, 4e-4 * 1.2 / 1.6, 1e-14);
    assert_close("g0", workload.network.per_batch_s, 1.2e-3, 0.0);
}
