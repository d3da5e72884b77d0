/* test_greedy_small.c - networks of a few actors, against closed forms, a chain,
 * simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steady.h"

#include <math.h>

#include "model/exact/chain.h"
#include "model/simulate/simulate.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_network plain(double actors, double threads, double per_batch_s)
{
    return plain_network(actors, threads, per_batch_s, 0.05 * per_batch_s);
}

struct few_case {
    double actors;
    double threads;
    double per_batch_s;
    double limit;
    int suits;
};

static struct fulcrum_network network_of(const struct few_case *of)
{
    struct fulcrum_network network = plain(of->actors, of->threads, of->per_batch_s);
    network.batch_size = of->limit;
    return network;
}

static struct fulcrum_cycle few(const struct fulcrum_network *network)
{
    struct fulcrum_cycle out = {.batch = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    CU_ASSERT_TRUE_FATAL(fulcrum_greedy_small_accepts(network));
    ASSERT_OK(fulcrum_greedy_small_solve(network, 1.0, &out, NULL));
    return out;
}

static const struct fulcrum_step laws[] = {
    {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
    {1.0, 0.3, FULCRUM_LAW_ERLANG},
    {1.0, 0.2, FULCRUM_LAW_LOGNORMAL},
    {1.0, 2.0, FULCRUM_LAW_LOGNORMAL},
    {1.0, 3.0, FULCRUM_LAW_HYPEREXPONENTIAL},
    {1.0, 0.0, FULCRUM_LAW_PARETO},
};
enum { LAWS = LENGTH(laws) };

/* One actor: its times add up, whatever their law. */
TEST(test_one_actor_adds_its_times_up)
{
    for (size_t i = 0; i < LAWS; i++) {
        struct fulcrum_network network = plain(1.0, 2.0, 0.5);
        network.step = laws[i];
        network.cpu.turbo_frac = 0.5; /* c(1) = 1.25 */
        network.host.per_batch_s = 0.1;
        network.delay_s = 0.3;
        struct fulcrum_cycle cycle = few(&network);
        double turn_s = 1.0 / 1.25 + 0.525 + 0.1 + 0.3;
        assert_close("rate", cycle.steps_per_s, 1.0 / turn_s, 2e-4);
        assert_close("batch", cycle.batch, 1.0, 1e-12);
        assert_close("at CPU", cycle.at_cpu, 0.8 / turn_s, 1e-3);
        assert_close("at GPU", cycle.at_gpu, 0.525 / turn_s, 1e-3);
    }
}

/* Two actors, exponential steps, a thread each: with p = 1 - exp(-t(1)) a batch of one
 * leads to state 1, after a wait of 1 / 2 with chance 1 - p. Nobody steps beside a
 * batch of two, and the wait for the first of both is 1 / 2 again; so a batch of two
 * never starts, and the state is always 1. */
TEST(test_two_actors_by_hand)
{
    struct fulcrum_network network = plain(2.0, 2.0, 0.8);
    double busy_s = 0.8 * 1.05;
    double turn_s = busy_s + 0.5 * exp(-busy_s);
    struct fulcrum_cycle cycle = few(&network);
    assert_close("rate", cycle.steps_per_s, 1.0 / turn_s, 1e-3);
    assert_close("batch", cycle.batch, 1.0, 1e-3);
}

/* Exponential steps have no memory, so that rows of chances lose nothing: what differs
 * is the grid and, where actors queue, the slices. */
TEST(test_exponential_steps_agree_with_the_chain)
{
    static const struct few_case cases[] = {
        {3, 3, 0.3, 0, 0},
        {5, 8, 0.05, 0, 0},
        {5, 8, 1.0, 2, 0},
        {12, 12, 0.2, 3, 0},
        {12, 12, 2.0, 0, 0},
        {2, 1, 0.4, 0, 0},
        {3, 1, 0.7, 0, 0},
        {6, 2, 0.5, 2, 0},
        {9, 4, 0.1, 0, 0},
        {12, 3, 2.0, 5, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = network_of(&cases[i]);
        struct fulcrum_solution exact = {.steps_per_s = 0.0};
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        assert_close("chain", few(&network).steps_per_s, exact.steps_per_s, 6e-3);
    }
}

/* Simulated to 0.8 per cent; the rest is what rows of chances leave out. Where steps
 * lock, that is more of the batch than of the rate. */
TEST(test_other_laws_agree_with_simulation)
{
    static const struct few_case cases[] = {
        {2, 2, 0.6, 0, 0},
        {2, 1, 0.6, 0, 0},
        {4, 6, 0.4, 2, 0},
        {5, 2, 0.3, 0, 0},
        {10, 12, 0.3, 3, 0},
        {10, 4, 0.5, 4, 0},
    };
    struct fulcrum_solver_options options = {.seed = 1, .half_width_rel = 0.008};
    for (size_t i = 0; i < LAWS * LENGTH(cases); i += 2) {
        size_t j = i / LAWS;
        struct fulcrum_network network = network_of(&cases[j]);
        struct fulcrum_solution truth = {.steps_per_s = 0.0};
        network.step = laws[(i + j) % LAWS];
        ASSERT_OK(fulcrum_simulate(&network, &options, &truth, NULL));
        struct fulcrum_cycle cycle = few(&network);
        assert_close("rate", cycle.steps_per_s, truth.steps_per_s, 0.03);
        assert_close("batch", cycle.batch, truth.mean_batch, 0.06);
        assert_close("threads", cycle.stepping / cases[j].threads,
            truth.cpu_thread_busy_frac, 0.03);
    }
}

/* A GPU that always works on full batches sets the pace alone. */
TEST(test_full_batches_follow_the_gpu)
{
    struct fulcrum_network network = plain(12.0, 12.0, 2.0);
    network.batch_size = 1.0;
    assert_close("rate", few(&network).steps_per_s, 1.0 / 2.1, 1e-9);
}

/* c(n) = n in both: two cores of two full threads are four cores. */
TEST(test_cores_and_stepping_of_a_machine)
{
    struct fulcrum_network network = plain(4.0, 4.0, 0.5);
    struct fulcrum_cycle four = few(&network);
    assert_close("on cores", four.on_cores, four.stepping, 1e-12);
    assert_close("work", four.stepping, four.steps_per_s, 1e-12);
    network.cpu.core_count = 2.0;
    network.cpu.smt_yield_frac = 1.0;
    struct fulcrum_cycle two = few(&network);
    assert_close("rate", two.steps_per_s, four.steps_per_s, 1e-12);
    CU_ASSERT_TRUE(two.on_cores < two.stepping && two.on_cores > 0.5 * two.stepping);
    network.cpu.smt_yield_frac = 0.0;
    CU_ASSERT_TRUE(few(&network).steps_per_s < two.steps_per_s);
}

/* c(n) bends in the middle of what one batch sees, and all is said of its mean pace. */
TEST(test_machine_agrees_with_simulation)
{
    struct fulcrum_network network = plain(6.0, 8.0, 0.5);
    network.cpu.core_count = 4.0;
    network.cpu.smt_yield_frac = 0.3;
    network.cpu.turbo_frac = 0.4;
    network.cpu.reserved_threads = 2.0;
    network.step = (struct fulcrum_step){1.0, 0.5, FULCRUM_LAW_LOGNORMAL};
    network.delay_s = 0.2;
    network.batch_size = 3.0;
    struct fulcrum_solution truth = simulated(&network, 1, 0.003);
    struct fulcrum_cycle cycle = few(&network);
    assert_close("rate", cycle.steps_per_s, truth.steps_per_s, 0.04);
    assert_close("threads", cycle.stepping / 6.0, truth.cpu_thread_busy_frac, 0.03);
    assert_close("cores", cycle.on_cores / 4.0, truth.cpu_core_busy_frac, 0.07);
    assert_close("CPU", cycle.at_cpu / cycle.steps_per_s, truth.residence.cpu_s, 0.06);
}

TEST(test_gpu_stretch_lengthens_the_gpu_alone)
{
    struct fulcrum_network network = plain(5.0, 4.0, 0.3);
    network.host.per_batch_s = 0.1;
    struct fulcrum_cycle stretched;
    ASSERT_OK(fulcrum_greedy_small_solve(&network, 2.0, &stretched, NULL));
    network.gpu.per_batch_s *= 2.0;
    network.gpu.per_item_s *= 2.0;
    struct fulcrum_cycle longer = few(&network);
    assert_close("rate", stretched.steps_per_s, longer.steps_per_s, 1e-12);
    assert_close("at GPU", stretched.at_gpu, longer.at_gpu, 1e-12);
}

/* Throughput as the time of an item falls by little, six times. */
static void assert_rises_smoothly(struct fulcrum_network *network)
{
    double before = few(network).steps_per_s;
    for (int k = 0; k < 6; k++) {
        network->gpu.per_item_s -= 1e-4;
        double after = few(network).steps_per_s;
        CU_ASSERT(after >= before * (1.0 - 1e-5));
        CU_ASSERT(after <= before * (1.0 + 2e-3));
        before = after;
    }
}

/* Long steps make a cycle settle slowly: one that stopped early, or that dropped a
 * state in one network and not in the next, would not get faster as a time falls. */
TEST(test_close_networks_get_close_answers)
{
    static const struct fulcrum_step steps[] = {
        {1.0, 2.5, FULCRUM_LAW_LOGNORMAL},
        {1.0, 0.0, FULCRUM_LAW_PARETO},
        {1.0, 2.9, FULCRUM_LAW_HYPEREXPONENTIAL},
    };
    static const double threads[] = {148.0, 5.0};
    for (size_t i = 0; i < 2 * LENGTH(steps); i++) {
        struct fulcrum_network network = plain(13.0, threads[i % 2], 0.2);
        network.step = steps[i / 2];
        network.gpu.per_item_s = 1e-3;
        network.batch_size = 4.0;
        assert_rises_smoothly(&network);
    }
}

/* A delay a thousand steps long makes actors alternate for ever. */
TEST(test_rhythm_does_not_settle)
{
    struct fulcrum_network network = plain(9.0, 9.0, 25.0);
    struct fulcrum_error err = {.status = FULCRUM_OK};
    struct fulcrum_cycle out = {.batch = -1.0};
    network.delay_s = 1500.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    CU_ASSERT_EQUAL(
        fulcrum_greedy_small_solve(&network, 1.0, &out, &err), FULCRUM_ERR_NO_FIT);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_NO_FIT);
    CU_ASSERT_DOUBLE_EQUAL(out.batch, -1.0, 0.0);
}

TEST(test_what_is_accepted)
{
    struct fulcrum_network network = plain(4.0, 2.0, 0.5);
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.depth = 2.0;
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.host.per_batch_s = 0.1;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.depth = 1.0;
    network.delay_s = 0.1;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.cpu.thread_count = 4.0;
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.delay_s = 11.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.delay_s = 0.0;
    network.step = (struct fulcrum_step){1.0, 0.05, FULCRUM_LAW_LOGNORMAL};
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.step.cv = 0.5;
    network.actors = 65.0;
    network.cpu.thread_count = 512.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.actors = 4.0;
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 2.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
}

TEST(test_what_it_suits)
{
    static const struct few_case cases[] = {
        {6, 6, 0.5, 0, 1},
        {7, 8, 0.5, 0, 0},
        {7, 8, 0.5, 7, 0},
        {7, 8, 0.5, 3, 1},
        {64, 64, 0.1, 8, 1},
        {64, 64, 0.1, 40, 0}, /* batches stay below it */
        {64, 64, 1.0, 4, 0},  /* all are full */
        {65, 65, 0.1, 8, 0},
        {12, 4, 0.5, 0, 1},
        {21, 16, 0.5, 0, 0},
        {24, 16, 0.2, 5, 1},
        {25, 16, 0.2, 5, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = network_of(&cases[i]);
        CU_ASSERT_EQUAL(fulcrum_greedy_small_suits(&network), cases[i].suits);
    }
}
