/* test_renewal.c - fixed batches worked out by hand, and against the simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/renewal.h"

#include <math.h>

#include "bench/random_network.h"
#include "model/solver.h"
#include "tests/suite.h"

/* Batches of `batch`, an actor to a thread, stages of 1 s and 2 s, a delay of 0.5 s. */
static struct fulcrum_network plain(double actors, double batch)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = actors, .thread_count = actors},
        .step = {3.0, 0.0, FULCRUM_LAW_DETERMINISTIC},
        .host = {.per_batch_s = 1.0},
        .gpu = {.per_batch_s = 2.0},
        .policy = FULCRUM_BATCH_FIXED,
        .batch_size = batch,
        .depth = 1,
        .delay_s = 0.5};
}

static struct fulcrum_cycle solve(const struct fulcrum_network *network)
{
    struct fulcrum_cycle cycle = {.batch = 0.0};
    CU_ASSERT_EQUAL(fulcrum_network_check(network, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_renewal_solve(network, 1.0, &cycle, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(cycle.batch, network->batch_size);
    return cycle;
}

static double period_s(const struct fulcrum_network *network)
{
    return network->batch_size / solve(network).steps_per_s;
}

static void test_equal_steps_wait_for_each_other(void)
{
    static const double actors[] = {1, 2, 8, 100, 1000};
    for (size_t i = 0; i < sizeof actors / sizeof actors[0]; i++) {
        struct fulcrum_network network = plain(actors[i], actors[i]);
        struct fulcrum_cycle cycle = solve(&network);
        suite_assert_close("period", actors[i] / cycle.steps_per_s, 6.5, 0.01);
        suite_assert_close("at CPU", cycle.at_cpu, actors[i] * 3.0 / 6.5, 0.01);
        suite_assert_close("at GPU", cycle.at_gpu, actors[i] * 2.0 / 6.5, 0.01);
    }
}

static void test_threads_are_filled_in_turns(void)
{
    struct fulcrum_network network = plain(40, 40);
    network.cpu.core_count = 10;
    network.cpu.thread_count = 10;
    suite_assert_close("four turns", period_s(&network), 3.5 + 4.0 * 3.0, 0.02);
    network.cpu.smt_yield_frac = 0.5;
    network.cpu.core_count = 5;
    suite_assert_close("at 7.5 threads", period_s(&network), 3.5 + 160.0 / 10.0, 0.02);
}

/* E[max of n exponentials] is the harmonic sum; beyond S threads they end at rate S. */
static void test_full_barrier_takes_the_slowest_step(void)
{
    static const double cases[][2] = {{1, 1}, {2, 2}, {5, 5}, {16, 16}, {100, 100},
        {300, 300}, {40, 8}, {100, 99}, {200, 37}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double actors = cases[i][0];
        double servers = cases[i][1];
        struct fulcrum_network network = plain(actors, actors);
        network.step.law = FULCRUM_LAW_EXPONENTIAL;
        network.cpu.core_count = servers;
        network.cpu.thread_count = servers;
        double steps = (actors - servers) / servers;
        for (double k = 1.0; k <= servers; k += 1.0) {
            steps += 1.0 / k;
        }
        /* The end of a queue is not as sharp as a mean field has it. */
        double tolerance = servers < actors ? 0.05 : 0.01;
        suite_assert_close("barrier", period_s(&network), 3.5 + 3.0 * steps, tolerance);
    }
}

static void test_an_actor_alone_never_waits(void)
{
    struct fulcrum_network network = plain(1, 1);
    network.step = (struct fulcrum_step){3.0, 0.7, FULCRUM_LAW_LOGNORMAL};
    suite_assert_close("alone", period_s(&network), 6.5, 0.01);
}

static void test_the_slowest_part_sets_the_pace(void)
{
    struct fulcrum_network network = plain(512, 64);
    network.step = (struct fulcrum_step){1e-3, 1.0, FULCRUM_LAW_EXPONENTIAL};
    suite_assert_close("both stages", period_s(&network), 3.0, 1e-3);
    network.depth = 2;
    suite_assert_close("GPU", period_s(&network), 2.0, 1e-3);
    network.host.per_batch_s = 2.5;
    suite_assert_close("host", period_s(&network), 2.5, 1e-3);
    network.cpu.core_count = 8;
    network.cpu.thread_count = 8;
    network.step.mean_s = 1.0;
    suite_assert_close("CPU", period_s(&network), 64.0 / 8.0, 5e-3);
    network.step.mean_s = 0.0;
    suite_assert_close("no steps", period_s(&network), 2.5, 1e-3);
}

/* Without anything but steps, and batches of one, threads are always busy. */
static void test_stages_without_time_leave_the_cpu_alone(void)
{
    struct fulcrum_network network = plain(16, 1);
    network.step.law = FULCRUM_LAW_EXPONENTIAL;
    network.host.per_batch_s = 0.0;
    network.gpu.per_batch_s = 1e-9;
    network.delay_s = 0.0;
    suite_assert_close("CPU", solve(&network).steps_per_s, 16.0 / 3.0, 0.06);
}

/* A fit needs a throughput without steps in its parameters. */
static void test_throughput_is_smooth_in_the_step(void)
{
    struct fulcrum_network network = plain(64, 32);
    network.cpu.core_count = 20;
    network.cpu.thread_count = 40;
    network.cpu.smt_yield_frac = 0.3;
    network.depth = 2;
    double before = 0.0;
    for (int i = 0; i < 60; i++) {
        network.step =
            (struct fulcrum_step){3.0 * exp(0.002 * i), 0.5, FULCRUM_LAW_LOGNORMAL};
        double now = log(period_s(&network));
        if (i > 0) {
            CU_ASSERT(now - before > -0.001);
            CU_ASSERT(now - before < 0.005);
        }
        before = now;
    }
}

static void test_gpu_stretch_multiplies_the_gpu(void)
{
    struct fulcrum_network network = plain(12, 12);
    struct fulcrum_cycle cycle = {.batch = 0.0};
    CU_ASSERT_EQUAL(fulcrum_renewal_solve(&network, 2.0, &cycle, NULL), FULCRUM_OK);
    suite_assert_close("period", 12.0 / cycle.steps_per_s, 8.5, 0.01);
}

/* Bounds have a margin of some two over what a larger set shows. */
static void test_random_networks_agree_with_the_simulation(void)
{
    static const enum fulcrum_domain domains[] = {
        FULCRUM_DOMAIN_FIXED, FULCRUM_DOMAIN_SHARE};
    for (size_t d = 0; d < 2; d++) {
        double sum = 0.0;
        double most = 0.0;
        for (size_t i = 0; i < 16; i++) {
            struct fulcrum_network network = fulcrum_random_network(domains[d], 11, i);
            network.training = (struct fulcrum_training){.env_steps_per_train_step = 0};
            struct fulcrum_solver_options options = {
                .method = FULCRUM_METHOD_SIMULATE, .seed = i, .half_width_rel = 0.01};
            struct fulcrum_solution truth = {.steps_per_s = 0.0};
            CU_ASSERT_EQUAL(
                fulcrum_solve(&network, &options, &truth, NULL), FULCRUM_OK);
            struct fulcrum_cycle cycle = solve(&network);
            double error = fabs(cycle.steps_per_s / truth.steps_per_s - 1.0);
            sum += error / 16.0;
            most = fmax(most, error);
            double busy = truth.cpu_thread_busy_frac;
            double servers = fmax(1.0, round(fulcrum_cpu_servers(&network.cpu)));
            CU_ASSERT(fabs(cycle.stepping / servers - busy) < 0.03 + 0.1 * busy);
        }
        CU_ASSERT(sum < 0.025);
        CU_ASSERT(most < 0.12);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_equal_steps_wait_for_each_other),
        SUITE_CASE(test_threads_are_filled_in_turns),
        SUITE_CASE(test_full_barrier_takes_the_slowest_step),
        SUITE_CASE(test_an_actor_alone_never_waits),
        SUITE_CASE(test_the_slowest_part_sets_the_pace),
        SUITE_CASE(test_stages_without_time_leave_the_cpu_alone),
        SUITE_CASE(test_throughput_is_smooth_in_the_step),
        SUITE_CASE(test_gpu_stretch_multiplies_the_gpu),
        SUITE_CASE(test_random_networks_agree_with_the_simulation),
    };
    return suite_run("renewal", cases, sizeof cases / sizeof cases[0], argc, argv);
}
