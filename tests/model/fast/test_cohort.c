/* test_cohort.c - cycles of cohorts worked out by hand, and what must be conserved. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steady.h"

#include <math.h>
#include <stdbool.h>

#include "bench/compare.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_network fixed(double actors, double servers, double size)
{
    struct fulcrum_network network = plain_network(actors, servers, 0.4, 0);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = size;
    return network;
}

static struct fulcrum_cohort solve(const struct fulcrum_network *network)
{
    struct fulcrum_step_table table;
    ASSERT_OK(fulcrum_network_check(network, NULL));
    fulcrum_step_table_init(&table, &network->step);
    struct fulcrum_hints hints = {.is_set = false};
    return fulcrum_cohort_solve(network, &table, 1.0, 0.0, &hints);
}

/* N = b [1 + 1 / (1 - exp(-t))], (8), whose sum is a geometric series. */
TEST(test_exponential_cohorts_are_those_of_the_series)
{
    static const double times[] = {0.02, 0.1, 0.4, 1.0, 3.0, 20.0};
    for (size_t i = 0; i < LENGTH(times); i++) {
        struct fulcrum_network network = plain_network(64, 80, 0.4, 0);
        network.gpu.per_batch_s = times[i];
        struct fulcrum_cohort cohort = solve(&network);
        double left = -1.0 / expm1(-times[i]);
        double batch = 64.0 / (1.0 + left);
        assert_close("b", cohort.cycle.batch, batch, 5e-4);
        assert_close("X", cohort.cycle.steps_per_s, batch / times[i], 5e-4);
        assert_close("interval", cohort.interval_s, times[i], 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(cohort.stays_frac, left - 1.0, 0.01 * left);
        assert_close("at GPU", cohort.cycle.at_gpu, batch, 5e-4);
    }
}

/* With a delay of d the cohorts of ceil((t + d) / t) batches are not there yet. */
TEST(test_a_delay_shifts_the_cohorts)
{
    static const double delays[] = {0.0, 0.1, 0.39, 0.4, 0.41, 0.9, 7.0};
    for (size_t i = 0; i < LENGTH(delays); i++) {
        struct fulcrum_network network = plain_network(64, 80, 0.4, 0);
        network.delay_s = delays[i];
        double inside = ceil((0.4 + delays[i]) / 0.4 - 1e-9);
        double age = inside * 0.4 - (0.4 + delays[i]);
        double sum = inside - exp(-age) / expm1(-0.4);
        struct fulcrum_cohort cohort = solve(&network);
        assert_close("b", cohort.cycle.batch, 64.0 / sum, 1e-3);
        assert_close("X", cohort.cycle.steps_per_s, 160.0 / sum, 1e-3);
    }
    /* Two batches inside, 0.4 s on the host and as long on the GPU, are a delay too. */
    struct fulcrum_network network = plain_network(64, 80, 0.4, 0);
    network.host = network.gpu;
    network.depth = 2;
    struct fulcrum_cohort two = solve(&network);
    assert_close("b", two.cycle.batch, 64.0 / (2.0 - 1.0 / expm1(-0.4)), 1e-3);
}

/* Steps much longer than the batch: 1 s in which the CPU works at its limit. */
TEST(test_full_threads_set_the_pace)
{
    static const enum fulcrum_step_law laws[] = {FULCRUM_LAW_EXPONENTIAL,
        FULCRUM_LAW_LOGNORMAL, FULCRUM_LAW_ERLANG, FULCRUM_LAW_PARETO};
    for (size_t i = 0; i < LENGTH(laws); i++) {
        struct fulcrum_network network = plain_network(500, 20, 0.4, 0);
        network.step = (struct fulcrum_step){1.0, 0.5, laws[i]};
        network.step.cv = laws[i] == FULCRUM_LAW_EXPONENTIAL ? 1.0 : 0.5;
        struct fulcrum_cohort cohort = solve(&network);
        assert_close("X", cohort.cycle.steps_per_s, 20.0, 1e-3);
        assert_close("stepping", cohort.cycle.stepping, 20.0, 1e-3);
        assert_close("b", cohort.cycle.batch, 8.0, 1e-3);
        network.cpu.oversubscription_frac = 0.25;
        assert_close("crowd", solve(&network).cycle.steps_per_s, 16.0, 1e-3);
        network = fixed(500, 20, 100);
        assert_close("fixed", solve(&network).cycle.steps_per_s, 20.0, 0.01);
    }
}

/* A batch longer than any step: two halves by turns, whatever the law. */
TEST(test_long_batches_are_halves)
{
    struct fulcrum_network network = plain_network(64, 80, 0.4, 0);
    network.gpu.per_batch_s = 100.0;
    assert_close("b", solve(&network).cycle.batch, 32.0, 1e-4);
    network.step = (struct fulcrum_step){1.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
    assert_close("b", solve(&network).cycle.batch, 32.0, 1e-4);
}

/* E[max of n exponentials] is the harmonic sum; then the batch and the delay. */
TEST(test_a_full_barrier_waits_for_the_slowest)
{
    static const double counts[] = {8, 30, 100, 1000, 100000};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        double n = counts[i];
        struct fulcrum_network network = fixed(n, n, n);
        network.delay_s = 0.6;
        /* ln n + gamma + 1 / (2 n). */
        double slowest = log(n) + 0.5772156649 + 0.5 / n;
        struct fulcrum_cohort cohort = solve(&network);
        assert_close("interval", cohort.interval_s, 1.0 + slowest, 0.02);
        assert_close("at CPU", cohort.cycle.at_cpu, n / cohort.interval_s, 1e-3);
    }
}

/* The number of actors that a cycle has at the CPU, by work: X t_e = E[c(n)]. */
TEST(test_work_is_conserved)
{
    static const struct fulcrum_step steps[] = {{1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
        {1.0, 0.3, FULCRUM_LAW_ERLANG}, {1.0, 0.5, FULCRUM_LAW_LOGNORMAL},
        {1.0, 2.0, FULCRUM_LAW_LOGNORMAL}, {1.0, 2.0, FULCRUM_LAW_HYPEREXPONENTIAL},
        {1.0, 0.0, FULCRUM_LAW_PARETO}};
    static const double servers[] = {10, 30, 50, 63, 64, 65, 100};
    enum { NETWORKS = 6 * 7 * 2 };
    for (size_t i = 0; i < NETWORKS; i++) {
        struct fulcrum_network network =
            i % 2 == 0 ? plain_network(64, servers[i / 2 % 7], 0.4, 0)
                       : fixed(64, servers[i / 2 % 7], 20);
        network.step = steps[i / 14];
        struct fulcrum_cohort cohort = solve(&network);
        assert_close("work", cohort.cycle.stepping, cohort.cycle.steps_per_s, 0.005);
        CU_ASSERT(cohort.cycle.at_cpu >= cohort.cycle.stepping - 1e-9);
        CU_ASSERT(cohort.cycle.at_cpu <= 64.0);
        CU_ASSERT(cohort.cycle.on_cores <= cohort.cycle.stepping + 1e-9);
        CU_ASSERT(cohort.stays_frac >= -1e-6);
    }
}

/* The fluid of (9) has no law: with exponential steps both are the same. */
TEST(test_exponential_cohorts_are_the_fluid_of_the_mean_field)
{
    static const double servers[] = {8, 16, 32, 48, 90};
    static const double times[] = {0.05, 0.3, 1.0, 3.0};
    enum { NETWORKS = 5 * 4 * 2 };
    for (size_t i = 0; i < NETWORKS; i++) {
        struct fulcrum_network network = plain_network(100, servers[i % 5], 0.4, 0);
        network.gpu.per_batch_s = times[i / 5 % 4];
        network.delay_s = i < 20 ? 0.0 : 0.25;
        struct fulcrum_cpu_drain drain;
        struct fulcrum_hints hints = {.is_set = false};
        fulcrum_cpu_drain_init(&drain, &network.cpu, network.actors, 1.0);
        struct fulcrum_greedy_batch field =
            fulcrum_greedy_batch_solve(&network, &drain, 1.0, &hints);
        assert_close(
            "X", solve(&network).cycle.steps_per_s, field.plain_steps_per_s, 0.006);
    }
}

static void assert_guesses(const struct fulcrum_network *network)
{
    static const double factors[] = {1e-3, 0.1, 0.9, 1.0, 1.3, 10.0, 200.0};
    struct fulcrum_cohort cohort = solve(network);
    struct fulcrum_step_table table;
    fulcrum_step_table_init(&table, &network->step);
    for (size_t i = 0; i < LENGTH(factors); i++) {
        double batch = fmin(network->actors, factors[i] * cohort.cycle.batch);
        struct fulcrum_hints hints = {.is_set = false};
        double rate =
            fulcrum_cohort_solve(network, &table, 1.0, batch, &hints).cycle.steps_per_s;
        assert_close("X", rate, cohort.cycle.steps_per_s, 1e-4);
    }
}

TEST(test_a_guess_changes_nothing)
{
    for (size_t i = 0; i < 12; i++) {
        struct fulcrum_network network =
            fulcrum_random_network(FULCRUM_DOMAIN_WIDE, 3, i);
        network.batch_size = 0.0;
        assert_guesses(&network);
    }
}

/* Steps that are over in no time beside a batch, or the other way round, are not for
   this equation. */
static bool is_balanced(const struct fulcrum_network *network)
{
    double most_s = fulcrum_batch_time(&network->host, network->actors) +
                    fulcrum_batch_time(&network->gpu, network->actors);
    double least_s = fulcrum_batch_time(&network->host, 1.0) +
                     fulcrum_batch_time(&network->gpu, 1.0);
    double step_s = network->step.mean_s;
    return step_s > 1e-4 * most_s && least_s > 1e-6 * step_s;
}

TEST(test_random_networks_have_a_cycle)
{
    size_t count = 0;
    enum { NETWORKS = 700 * FULCRUM_DOMAIN_COUNT };
    for (size_t i = 0; i < NETWORKS; i++) {
        enum fulcrum_domain domain = (enum fulcrum_domain)(i % FULCRUM_DOMAIN_COUNT);
        struct fulcrum_network network =
            fulcrum_random_network(domain, 7, i / FULCRUM_DOMAIN_COUNT);
        if (!is_balanced(&network)) {
            continue;
        }
        count++;
        if (network.policy == FULCRUM_BATCH_GREEDY) {
            network.batch_size = 0.0;
        }
        struct fulcrum_cohort cohort = solve(&network);
        double share = cohort.cycle.batch / network.actors;
        CU_ASSERT(share > 0.0 && share <= 1.0 + 1e-9);
        /* At worst one after the other, on one thread of an oversubscribed CPU. */
        double turn_s = network.delay_s + fulcrum_batch_time(&network.host, 1e6) +
                        fulcrum_batch_time(&network.gpu, 1e6) +
                        20.0 * network.step.mean_s * network.actors;
        CU_ASSERT(cohort.interval_s > 0.0 && cohort.interval_s < turn_s);
        CU_ASSERT(cohort.interval_sd_s >= 0.0);
    }
    CU_ASSERT(count > 2000);
}
