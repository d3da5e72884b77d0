/* test_ceiling.c - bounds worked out by hand, and never exceeded by a simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/fast.h"

#include <math.h>

#include "bench/compare.h"
#include "model/simulate/simulate.h"
#include "tests/support/suite.h"

/* Steps of 1 s, h(b) = 0.1 + 0.02 b, g(b) = 0.2 + 0.03 b. */
static struct fulcrum_network plain(double actors, double servers)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = servers, .thread_count = servers},
        .step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
        .host = {.per_batch_s = 0.1, .per_item_s = 0.02},
        .gpu = {.per_batch_s = 0.2, .per_item_s = 0.03},
        .depth = 1};
}

static double ceiling(const struct fulcrum_network *network)
{
    struct fulcrum_cpu_drain drain;
    ASSERT_OK(fulcrum_network_check(network, NULL));
    fulcrum_cpu_drain_init(
        &drain, &network->cpu, network->actors, fmax(1e-9, network->step.mean_s));
    return fulcrum_ceiling_per_s(network, &drain);
}

/* Nobody waits: 1 s, h(1) = 0.12 s, g(1) = 0.23 s. */
TEST(test_few_actors_are_bound_by_their_round)
{
    struct fulcrum_network network = plain(4, 100);
    assert_close("round", ceiling(&network), 4.0 / 1.35, 1e-9);
    network.delay_s = 0.65;
    assert_close("delay", ceiling(&network), 4.0 / 2.0, 1e-9);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 4; /* h(4) = 0.18 s, g(4) = 0.32 s */
    assert_close("barrier", ceiling(&network), 4.0 / 2.15, 1e-9);
    network.cpu.turbo_frac = 0.5; /* c(1) = 1 + 0.5 x 0.99 */
    assert_close("turbo", ceiling(&network), 4.0 / (1.15 + 1.0 / 1.495), 1e-9);
}

/* In batches of all 1000: h + g = 20.1 + 30.2 s. */
TEST(test_host_and_gpu_serve_no_more_than_the_largest_batches)
{
    struct fulcrum_network network = plain(1000, 5000);
    assert_close("both", ceiling(&network), 1000.0 / 50.3, 1e-9);
    network.depth = 2;
    assert_close("GPU", ceiling(&network), 1000.0 / 30.2, 1e-9);
    network.host.per_item_s = 0.04;
    assert_close("host", ceiling(&network), 1000.0 / 40.1, 1e-9);
    network.batch_size = 10; /* h = 0.5 s, g = 0.5 s */
    assert_close("limit", ceiling(&network), 20.0, 1e-9);
    network.training = (struct fulcrum_training){100, 5.0, 10.0, 1.0};
    assert_close("training", ceiling(&network), 1.0 / (0.05 + 0.05), 1e-9);
    /* Train steps run while the host works, which keeps the GPU idle for 0.5 of 1 s. */
    network.depth = 1;
    assert_close("between", ceiling(&network), 10.0, 1e-9);
    network.training.train_step_s = 6.0;
    assert_close("beyond", ceiling(&network), 1.0 / (0.05 + 0.06), 1e-9);
}

/* Larger batches need not be cheaper where they were measured: here those of 8. */
TEST(test_the_best_measured_batch_counts)
{
    static const double size[] = {1, 2, 8, 16};
    static const double time_s[] = {1.0, 0.5, 2.0, 10.0};
    struct fulcrum_network network = plain(16, 16);
    network.step.mean_s = 1e-3;
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.0};
    network.gpu = (struct fulcrum_batch_time){
        .size = size, .time_s = time_s, .count = LENGTH(size)};
    assert_close("best", ceiling(&network), 8.0 / 2.0, 1e-9);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 16;
    assert_close("fixed", ceiling(&network), 16.0 / 10.001, 1e-9);
    /* Two at a time take less than one. */
    network = plain(2, 16);
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.0};
    network.gpu =
        (struct fulcrum_batch_time){.size = size, .time_s = time_s, .count = 2};
    assert_close("pairs", ceiling(&network), 2.0 / 1.5, 1e-9);
}

TEST(test_the_cpu_steps_no_more_than_its_best_number_of_actors)
{
    struct fulcrum_network network = plain(10000, 8);
    network.gpu.per_item_s = 1e-6;
    network.host.per_item_s = 1e-6;
    assert_close("threads", ceiling(&network), 8.0, 1e-9);
    network.cpu.thread_count = 16;
    network.cpu.smt_yield_frac = 0.25;
    assert_close("SMT", ceiling(&network), 10.0, 1e-9);
    network.cpu.oversubscription_frac = 1.0; /* 16 are better than 10000 */
    assert_close("crowd", ceiling(&network), 10.0, 1e-9);
    network.cpu.turbo_frac = 0.5; /* none is left at 8 cores and more */
    assert_close("turbo", ceiling(&network), 10.0, 1e-9);
    static const double capacity[] = {1.0, 2.0, 7.0, 4.0};
    network.cpu = (struct fulcrum_cpu_station){.curve = FULCRUM_CURVE_TABLE,
        .core_count = 4,
        .thread_count = 4,
        .capacity = capacity,
        .capacity_count = 4};
    assert_close("table", ceiling(&network), 7.0, 1e-9);
    network.actors = 2;
    assert_close("two", ceiling(&network), 2.0 / (1.0 + 0.3), 1e-5);
}

/* A bound that is a bound, but for what the rate of a short simulation is off by. */
static void assert_bound(struct fulcrum_network network, uint64_t seed)
{
    /* Whole threads, as the simulation has them. */
    network.cpu.reserved_threads = floor(network.cpu.reserved_threads);
    struct fulcrum_solver_options options = {
        .seed = seed, .half_width_rel = 0.02, .max_steps = 3e5};
    struct fulcrum_solution truth;
    ASSERT_OK(fulcrum_simulate(&network, &options, &truth, NULL));
    CU_ASSERT(truth.steps_per_s_lo <= ceiling(&network) * 1.005);
}

TEST(test_no_simulation_exceeds_it)
{
    enum { NETWORKS = 12 * FULCRUM_DOMAIN_COUNT };
    for (size_t i = 0; i < NETWORKS; i++) {
        enum fulcrum_domain domain = (enum fulcrum_domain)(i % FULCRUM_DOMAIN_COUNT);
        struct fulcrum_network network =
            fulcrum_random_network(domain, 5, i / FULCRUM_DOMAIN_COUNT);
        if (network.actors <= 5000.0) {
            assert_bound(network, i);
        }
    }
}
