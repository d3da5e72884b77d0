/* test_simulate_exact.c - long simulations meet exact results within 0.1 %. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "bench/compare.h"
#include "model/exact/chain.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { NETWORKS = 40 };

/* Three times the half-width that is asked for. */
#define HALF_WIDTH 0.0003
#define TOLERANCE  0.001

static struct fulcrum_solution long_run(
    const struct fulcrum_network *network, uint64_t seed)
{
    struct fulcrum_solution out = simulated_within(network, seed, HALF_WIDTH, 1e9);
    CU_ASSERT_EQUAL(out.flags & FULCRUM_FLAG_NOT_SETTLED, 0);
    return out;
}

static int covers(const struct fulcrum_solution *solution, double steps_per_s)
{
    return solution->steps_per_s_lo <= steps_per_s &&
           steps_per_s <= solution->steps_per_s_hi;
}

/* Machine repair: N machines that run `think` on average, c repairmen, service 1. */
static double machine_repair(double machines, double servers, double think)
{
    double weight = 1.0;
    double sum = 1.0;
    double busy = 0.0;
    for (int i = 1; i <= (int)machines; i++) {
        double n = (double)i;
        weight *= (machines - n + 1.0) / (think * fmin(n, servers));
        sum += weight;
        busy += weight * fmin(n, servers);
    }
    return busy / sum;
}

TEST(test_cpu_alone_is_machine_repair)
{
    static const double cases[][3] = {{1, 1, 2.0}, {2, 1, 0.5}, {5, 2, 3.0},
        {20, 8, 1.0}, {40, 8, 4.0}, {64, 64, 0.5}, {300, 100, 2.0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = plain_network(cases[i][0], cases[i][1], 0, 0);
        network.delay_s = cases[i][2];
        double exact = machine_repair(cases[i][0], cases[i][1], cases[i][2]);
        struct fulcrum_solution out = long_run(&network, 11);
        assert_close("X", out.steps_per_s, exact, TOLERANCE);
        assert_close(
            "busy", out.cpu_thread_busy_frac, exact / cases[i][1], 2.0 * TOLERANCE);
        assert_close(
            "cpu", out.residence.cpu_s, cases[i][0] / exact - cases[i][2], 0.01);
    }
}

/* Two actors that wait for each other, with a thread each: the longer of two steps of
 * the law, then .5 s for the batch. For the exponential law the longer is 3/2 of the
 * mean; for the lognormal 1 + erf(sigma / 2) of it, with sigma^2 = ln(1 + cv^2). */
TEST(test_a_pair_waits_for_the_longer_step)
{
    struct fulcrum_network network = plain_network(2, 2, 0, 0);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 2;
    network.gpu = (struct fulcrum_batch_time){.per_batch_s = 0.3, .per_item_s = 0.1};
    assert_close("exponential", long_run(&network, 3).steps_per_s, 1.0, TOLERANCE);
    network.step = (struct fulcrum_step){1.0, 0.8, FULCRUM_LAW_LOGNORMAL};
    double longer = 1.0 + erf(0.5 * sqrt(log(1.64)));
    assert_close("lognormal", long_run(&network, 3).steps_per_s, 2.0 / (longer + 0.5),
        TOLERANCE);
}

/* Networks that the exact chain accepts: batches of every kind, on every CPU curve. */
static struct fulcrum_network exact_network(size_t index)
{
    struct fulcrum_network network =
        fulcrum_random_network(FULCRUM_DOMAIN_EXPONENTIAL, 2026, index);
    struct fulcrum_network machine =
        fulcrum_random_network(FULCRUM_DOMAIN_MACHINE, 2026, index);
    if (index % 2 == 1) {
        network.cpu = machine.cpu;
        network.host = machine.host;
    }
    if (index % 4 >= 2) {
        network.policy = index % 8 >= 4 ? FULCRUM_BATCH_FIXED : FULCRUM_BATCH_GREEDY;
        network.batch_size = ceil(network.actors * (double)(1 + index % 5) / 6.0);
    }
    return network;
}

/* Not what the interval is about: throughput may settle long before they do. */
static void assert_details(
    const struct fulcrum_solution *found, const struct fulcrum_solution *exact)
{
    double allowed = TOLERANCE + 6.0 / sqrt(found->simulated_steps);
    assert_close("batch", found->mean_batch, exact->mean_batch, allowed);
    assert_close(
        "threads", found->cpu_thread_busy_frac, exact->cpu_thread_busy_frac, allowed);
    assert_close(
        "cores", found->cpu_core_busy_frac, exact->cpu_core_busy_frac, allowed);
    assert_close("GPU", found->gpu_busy_frac, exact->gpu_busy_frac, allowed);
    assert_close("CPU", found->residence.cpu_s, exact->residence.cpu_s, allowed);
}

TEST(test_simulations_meet_the_exact_chain)
{
    int covered = 0;
    double most = 0.0;
    for (size_t i = 0; i < NETWORKS; i++) {
        struct fulcrum_network network = exact_network(i);
        struct fulcrum_solution exact;
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        struct fulcrum_solution found = long_run(&network, i);
        assert_close("X", found.steps_per_s, exact.steps_per_s, TOLERANCE);
        assert_details(&found, &exact);
        covered += covers(&found, exact.steps_per_s);
        most = fmax(most, fabs(found.steps_per_s / exact.steps_per_s - 1.0));
    }
    (void)printf("\n    %d of %d intervals cover, at most %.3f %% off\n    ", covered,
        NETWORKS, 100.0 * most);
    CU_ASSERT(covered >= NETWORKS * 85 / 100); /* by chance below once in 250 times */
}
