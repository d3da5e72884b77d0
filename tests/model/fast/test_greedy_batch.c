/* test_greedy_batch.c - greedy batches against closed forms and the exact chain. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steady.h"

#include <math.h>

#include "model/exact/chain.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* Exponential steps of 1 s on `servers` plain threads, t(b) = t0 (1 + 0.02 b). */
static struct fulcrum_network plain(double actors, double servers, double t0)
{
    return plain_network(actors, servers, t0, 0.02 * t0);
}

static struct fulcrum_greedy_batch solve(const struct fulcrum_network *network)
{
    struct fulcrum_cpu_drain drain;
    ASSERT_OK(fulcrum_network_check(network, NULL));
    fulcrum_cpu_drain_init(
        &drain, &network->cpu, network->actors, network->step.mean_s);
    struct fulcrum_hints hints = {.is_set = false};
    return fulcrum_greedy_batch_solve(network, &drain, 1.0, &hints);
}

/* b = (N - b) (1 - exp(-t)): with a constant t a line in b. */
TEST(test_free_threads_have_a_closed_form)
{
    static const double periods[] = {0.3, 1.0, 3.0, 10.0};
    for (size_t i = 0; i < LENGTH(periods); i++) {
        struct fulcrum_network network = plain(200, 400, periods[i]);
        network.gpu.per_item_s = 0.0;
        double done = -expm1(-periods[i]);
        double batch = 200.0 * done / (1.0 + done);
        struct fulcrum_greedy_batch field = solve(&network);
        assert_close("plain", field.plain_batch, batch, 1e-5);
        assert_close("least", field.plain_least, (200.0 - batch) * (1.0 - done), 1e-5);
        assert_close("plain", field.plain_steps_per_s, batch / periods[i], 1e-5);
        assert_close("b", field.cycle.batch, batch, 1e-5);
        assert_close("X", field.cycle.steps_per_s, batch / periods[i], 1e-5);
        /* A step takes 1 s, and nobody waits for a thread. */
        assert_close("Little", field.cycle.at_cpu, field.cycle.steps_per_s, 0.005);
        assert_close("at GPU", field.cycle.at_gpu, batch, 1e-5);
    }
}

TEST(test_full_threads_step_all_the_time)
{
    struct fulcrum_network network = plain(4000, 16, 1e-3);
    struct fulcrum_greedy_batch field = solve(&network);
    assert_close("X", field.cycle.steps_per_s, 16.0, 1e-3);
    assert_close("stepping", field.cycle.stepping, 16.0, 1e-6);
    network.cpu.oversubscription_frac = 0.25;
    assert_close("crowd", solve(&network).cycle.steps_per_s, 12.8, 1e-3);
}

/* Batches of all who finished meanwhile: two halves that alternate. */
TEST(test_a_slow_gpu_takes_halves)
{
    struct fulcrum_network network = plain(100, 200, 1000.0);
    struct fulcrum_greedy_batch field = solve(&network);
    assert_close("b", field.cycle.batch, 50.0, 1e-5);
    assert_close("X", field.cycle.steps_per_s, 50.0 / 2000.0, 1e-5);
}

/* (9) by hand: P0 = exp(-c t), and 1 / c more until the first of all N has finished. */
TEST(test_idling_is_counted)
{
    struct fulcrum_network network = plain(8, 16, 0.05);
    network.gpu.per_item_s = 0.0;
    struct fulcrum_greedy_batch field = solve(&network);
    double b = field.cycle.batch;
    double idle = exp(-(8.0 - b) * 0.05);
    assert_close("P0", field.idle_frac, idle, 1e-5);
    assert_close(
        "b", (8.0 - b) * -expm1(-0.05) + idle, b, 0.002); /* not smoothed: a line */
    assert_close("X", field.cycle.steps_per_s, b / (0.05 + idle / 8.0), 1e-5);
}

/* docs/model.md "Solver targets": at most 1.5 %. Less than a dozen are no fluid. */
TEST(test_the_exact_chain_is_met)
{
    static const double actors[] = {20, 24, 48, 96, 160, 256};
    static const double servers[] = {4, 12, 40, 100, 300};
    static const double t0[] = {0.05, 0.2, 0.7, 2.0, 5.0};
    double sum = 0.0;
    enum { NETWORKS = 6 * 5 * 5 };
    for (size_t i = 0; i < NETWORKS; i++) {
        struct fulcrum_network network =
            plain(actors[i % 6], servers[i / 6 % 5], t0[i / 30]);
        struct fulcrum_solution exact;
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        struct fulcrum_greedy_batch field = solve(&network);
        sum += fabs(field.cycle.steps_per_s / exact.steps_per_s - 1.0);
        assert_close("X", field.cycle.steps_per_s, exact.steps_per_s, 0.015);
        double busy = exact.cpu_thread_busy_frac * servers[i / 6 % 5];
        assert_close("stepping", field.cycle.stepping, busy, 0.1);
    }
    CU_ASSERT(sum / NETWORKS < 0.002);
}

/* SMT, turbo and oversubscription bend c(n); the chain knows each count of actors. */
TEST(test_bent_cpus_meet_the_chain_too)
{
    static const double t0[] = {0.05, 0.3, 1.0, 3.0};
    for (size_t i = 0; i < 24; i++) {
        struct fulcrum_network network =
            plain(32.0 + 30.0 * (double)(i % 6), 80, t0[i / 6]);
        network.cpu.core_count = 40;
        network.cpu.smt_yield_frac = 0.3;
        network.cpu.turbo_frac = 0.4;
        network.cpu.oversubscription_frac = 0.03;
        network.host = (struct fulcrum_batch_time){.per_batch_s = 0.1 * t0[i / 6]};
        struct fulcrum_solution exact;
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        struct fulcrum_greedy_batch field = solve(&network);
        assert_close("X", field.cycle.steps_per_s, exact.steps_per_s, 0.015);
    }
}

/* A delay that dwarfs all else: everybody is in it, and nobody waits. */
TEST(test_a_long_delay_makes_everybody_independent)
{
    struct fulcrum_network network = plain(64, 100, 1e-3);
    network.delay_s = 1000.0;
    assert_close("X", solve(&network).cycle.steps_per_s, 64.0 / 1001.00102, 0.01);
}

/* Two batches inside, the host in no time: as one at a time. */
TEST(test_times_in_a_row_follow_by_hand)
{
    /* Depth 2, host and GPU both 0.4 s: a batch every 0.4 s, inside for 0.8 s. */
    struct fulcrum_network network = plain(300, 400, 0.4);
    network.gpu.per_item_s = 0.0;
    network.host = network.gpu;
    network.depth = 2;
    /* N = b (2 + 1 / (1 - exp(-t))), (8) of a batch more inside. */
    double batch = 300.0 / (2.0 - 1.0 / expm1(-0.4));
    struct fulcrum_greedy_batch field = solve(&network);
    assert_close("b", field.cycle.batch, batch, 1e-5);
    assert_close("X", field.cycle.steps_per_s, batch / 0.4, 1e-5);
    /* The same wait as a delay of one batch in place of the host. */
    network.host.per_batch_s = 0.0;
    network.depth = 1;
    network.delay_s = 0.4;
    assert_close("delay", solve(&network).cycle.batch, batch, 1e-5);
    /* A delay of 1.5 batches: N = b (1 + 1.5 + ...) by halves of the cycle. */
    network.delay_s = 0.6;
    double sum = 2.0 + exp(-0.2) / -expm1(-0.4);
    assert_close("broken", solve(&network).cycle.batch, 300.0 / (1.0 + sum), 1e-5);
}
