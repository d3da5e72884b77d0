/* test_steady.c - which method solves what, and that neighbours agree. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steady.h"

#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* Lognormal steps of 1 s, cv 0.5, on plain threads; g(b) = t0 (1 + 0.02 b). */
static struct fulcrum_network plain(double actors, double servers, double t0)
{
    struct fulcrum_network network = plain_network(actors, servers, t0, 0.02 * t0);
    network.step = (struct fulcrum_step){1.0, 0.5, FULCRUM_LAW_LOGNORMAL};
    return network;
}

static struct fulcrum_network fixed(double actors, double servers, double size)
{
    struct fulcrum_network network = plain(actors, servers, 0.3);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = size;
    return network;
}

static struct fulcrum_cycle solve(
    const struct fulcrum_network *network, double gpu_stretch, unsigned *flags)
{
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_steady steady;
    struct fulcrum_cycle cycle = {.batch = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    fulcrum_steady_init(&steady, network, &room);
    ASSERT_OK(fulcrum_steady_solve(&steady, gpu_stretch, &cycle, flags, NULL));
    return cycle;
}

static double rate(const struct fulcrum_network *network, double gpu_stretch)
{
    unsigned flags = 0;
    return solve(network, gpu_stretch, &flags).steps_per_s;
}

TEST(test_one_actor_waits_for_nobody)
{
    struct fulcrum_network network = plain(1, 4, 0.5);
    network.host.per_batch_s = 0.25;
    network.delay_s = 0.14;
    network.depth = 2;
    unsigned flags = 0;
    struct fulcrum_cycle cycle = solve(&network, 2.0, &flags);
    double turn_s = 1.0 + 0.25 + 2.0 * 0.51 + 0.14;
    assert_close("X", cycle.steps_per_s, 1.0 / turn_s, 1e-12);
    assert_close("at CPU", cycle.at_cpu, 1.0 / turn_s, 1e-12);
    assert_close("at GPU", cycle.at_gpu, 1.02 / turn_s, 1e-12);
    CU_ASSERT_EQUAL(flags, 0U);
}

/* Limits nobody reaches and batches of exactly one have simpler names. */
TEST(test_networks_are_simplified)
{
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_steady steady;
    struct fulcrum_network network = plain(32, 40, 0.2);
    network.batch_size = 40.0;
    fulcrum_steady_init(&steady, &network, &room);
    CU_ASSERT_EQUAL(steady.network.batch_size, 0.0);
    network.batch_size = 31.0;
    fulcrum_steady_init(&steady, &network, &room);
    CU_ASSERT_EQUAL(steady.network.batch_size, 31.0);
    network = fixed(32, 40, 1);
    fulcrum_steady_init(&steady, &network, &room);
    CU_ASSERT_EQUAL(steady.network.policy, FULCRUM_BATCH_GREEDY);
    CU_ASSERT_EQUAL(steady.network.batch_size, 1.0);
}

/* No service time is 0, but one that was is a millionth of a round trip at most. */
TEST(test_no_time_is_hardly_any)
{
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_steady steady;
    struct fulcrum_network network = plain(32, 40, 0.0);
    fulcrum_steady_init(&steady, &network, &room);
    double batch_s = fulcrum_batch_time(&steady.network.gpu, 1.0);
    CU_ASSERT(batch_s > 0.0 && batch_s <= 1e-6);
    network = plain(32, 40, 0.5);
    network.step.mean_s = 0.0;
    fulcrum_steady_init(&steady, &network, &room);
    CU_ASSERT(steady.network.step.mean_s > 0.0 && steady.network.step.mean_s <= 1e-6);
    CU_ASSERT_EQUAL(steady.network.gpu.per_batch_s, 0.5);
}

/* A stretched GPU is a slower one. */
TEST(test_stretch_multiplies_the_gpu)
{
    struct fulcrum_network overlap = plain(128, 200, 0.3);
    overlap.host.per_batch_s = 0.2;
    overlap.depth = 2;
    struct fulcrum_network limited = plain(48, 60, 0.3);
    limited.batch_size = 8;
    const struct fulcrum_network networks[] = {plain(12, 20, 0.3), plain(128, 200, 0.3),
        plain(300, 60, 0.5), overlap, limited, fixed(64, 100, 32), fixed(200, 60, 60)};
    for (size_t i = 0; i < LENGTH(networks); i++) {
        struct fulcrum_network slow = networks[i];
        slow.gpu.per_batch_s *= 2.0;
        slow.gpu.per_item_s *= 2.0;
        double alone = rate(&networks[i], 1.0);
        double stretched = rate(&networks[i], 2.0);
        assert_close("twice", stretched, rate(&slow, 1.0), 1e-4);
        assert_close("hardly", rate(&networks[i], 1.0 + 1e-6), alone, 1e-4);
        CU_ASSERT(stretched < alone);
        double between = rate(&networks[i], 1.5);
        CU_ASSERT(between < alone && between > stretched);
    }
}

/* One solution after the other, each as one that was asked for first. */
static void assert_solutions(
    const struct fulcrum_network *network, double tolerance_rel)
{
    static const double stretches[] = {1.0, 2.0, 1.0, 1.3, 1.5};
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_steady steady;
    struct fulcrum_cycle cycle;
    unsigned flags = 0;
    fulcrum_steady_init(&steady, network, &room);
    for (size_t i = 0; i < LENGTH(stretches); i++) {
        ASSERT_OK(fulcrum_steady_solve(&steady, stretches[i], &cycle, &flags, NULL));
        assert_close(
            "X", cycle.steps_per_s, rate(network, stretches[i]), tolerance_rel);
    }
}

/* By no more than hints are allowed to. */
TEST(test_solutions_do_not_depend_on_earlier_ones)
{
    const struct fulcrum_network networks[] = {
        plain(12, 20, 0.3), plain(128, 200, 0.3), plain(300, 60, 0.5)};
    for (size_t i = 0; i < LENGTH(networks); i++) {
        assert_solutions(&networks[i], 1e-9);
    }
}

/* Fixed batches keep what the first solution found out about them: roughly the same. */
TEST(test_fixed_batches_hardly_depend_on_earlier_solutions)
{
    const struct fulcrum_network networks[] = {
        fixed(64, 100, 32), fixed(200, 60, 60), fixed(40, 40, 40), fixed(9, 9, 3)};
    for (size_t i = 0; i < LENGTH(networks); i++) {
        assert_solutions(&networks[i], 0.04);
    }
}

/* With exponential steps nothing needs the table, whose making takes time. */
TEST(test_the_table_is_made_when_needed)
{
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_steady steady;
    struct fulcrum_cycle cycle;
    unsigned flags = 0;
    struct fulcrum_network network = plain(200, 300, 0.2);
    network.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
    fulcrum_steady_init(&steady, &network, &room);
    ASSERT_OK(fulcrum_steady_solve(&steady, 1.0, &cycle, &flags, NULL));
    CU_ASSERT_EQUAL(room.table.count, 0);
    network.step = (struct fulcrum_step){1.0, 0.5, FULCRUM_LAW_LOGNORMAL};
    fulcrum_steady_init(&steady, &network, &room);
    ASSERT_OK(fulcrum_steady_solve(&steady, 1.0, &cycle, &flags, NULL));
    CU_ASSERT(room.table.count > 0);
}

/* Flags that were there stay; those that are deserved come on top. */
TEST(test_flags_are_added)
{
    unsigned flags = FULCRUM_FLAG_SCALED;
    struct fulcrum_network network = fixed(256, 200, 128);
    (void)solve(&network, 1.0, &flags);
    CU_ASSERT((flags & FULCRUM_FLAG_SCALED) != 0U);
    CU_ASSERT((flags & FULCRUM_FLAG_CROWDED) != 0U);
}

/* Laws as wide as the exponential one differ little from it; the table has no part. */
TEST(test_laws_of_the_same_cv_are_neighbours)
{
    struct fulcrum_network network = plain(128, 200, 0.3);
    network.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
    double exponential = rate(&network, 1.0);
    network.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_ERLANG};
    assert_close("Erlang", rate(&network, 1.0), exponential, 2e-3);
    network.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_HYPEREXPONENTIAL};
    assert_close("hyper", rate(&network, 1.0), exponential, 2e-3);
    network.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_LOGNORMAL};
    assert_close("lognormal", rate(&network, 1.0), exponential, 0.02);
    /* At a full CPU and behind a slow GPU the law does not matter at all. */
    network.cpu = (struct fulcrum_cpu_station){.core_count = 8, .thread_count = 8};
    assert_close("full", rate(&network, 1.0), 8.0, 2e-3);
}
