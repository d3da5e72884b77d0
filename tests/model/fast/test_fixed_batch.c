/* test_fixed_batch.c - fixed batches worked out by hand, and against the simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/fixed_batch.c" /* NOLINT(bugprone-suspicious-include) */

#include <math.h>

#include "bench/compare.h"
#include "model/predict/solver.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

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
    ASSERT_OK(fulcrum_network_check(network, NULL));
    ASSERT_OK(fulcrum_fixed_batch_solve(network, 1.0, &cycle, NULL));
    CU_ASSERT_EQUAL(cycle.batch, network->batch_size);
    return cycle;
}

static double period_of(const struct fulcrum_network *network)
{
    return network->batch_size / solve(network).steps_per_s;
}

TEST(test_equal_steps_wait_for_each_other)
{
    static const double actors[] = {1, 2, 8, 100, 1000};
    for (size_t i = 0; i < LENGTH(actors); i++) {
        struct fulcrum_network network = plain(actors[i], actors[i]);
        struct fulcrum_cycle cycle = solve(&network);
        assert_close("period", actors[i] / cycle.steps_per_s, 6.5, 0.01);
        assert_close("at CPU", cycle.at_cpu, actors[i] * 3.0 / 6.5, 0.01);
        assert_close("at GPU", cycle.at_gpu, actors[i] * 2.0 / 6.5, 0.01);
    }
}

TEST(test_threads_are_filled_in_turns)
{
    struct fulcrum_network network = plain(40, 40);
    network.cpu.core_count = 10;
    network.cpu.thread_count = 10;
    assert_close("four turns", period_of(&network), 3.5 + 4.0 * 3.0, 0.02);
    network.cpu.smt_yield_frac = 0.5;
    network.cpu.core_count = 5;
    assert_close("at 7.5 threads", period_of(&network), 3.5 + 160.0 / 10.0, 0.02);
}

/* E[max of n exponentials] is the harmonic sum; beyond S threads they end at rate S. */
static double slowest_exponential(size_t actors, size_t servers)
{
    double sum = ((double)actors - (double)servers) / (double)servers;
    for (size_t k = 1; k <= servers; k++) {
        sum += 1.0 / (double)k;
    }
    return sum;
}

TEST(test_full_barrier_takes_the_slowest_step)
{
    static const size_t cases[][2] = {{1, 1}, {2, 2}, {5, 5}, {16, 16}, {100, 100},
        {300, 300}, {40, 8}, {100, 99}, {200, 37}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t actors = cases[i][0];
        size_t servers = cases[i][1];
        struct fulcrum_network network = plain((double)actors, (double)actors);
        network.step.law = FULCRUM_LAW_EXPONENTIAL;
        network.cpu.core_count = (double)servers;
        network.cpu.thread_count = (double)servers;
        double expected_s = 3.5 + 3.0 * slowest_exponential(actors, servers);
        /* The end of a queue is not as sharp as a mean field has it. */
        double tolerance = servers < actors ? 0.05 : 0.01;
        assert_close("barrier", period_of(&network), expected_s, tolerance);
    }
}

/* E[max] of two Erlang variables of k stages is k + 4^-k k C(2k, k) stages long. */
TEST(test_two_actors_wait_for_the_slower)
{
    struct fulcrum_network network = plain(2, 2);
    network.step = (struct fulcrum_step){3.0, 0.5, FULCRUM_LAW_ERLANG};
    /* Here k = 4 and a stage takes 0.75 s: 3 + 0.75 * 4 * 70 / 256. */
    assert_close("pair", period_of(&network), 3.5 + 3.8203125, 0.01);
}

TEST(test_an_actor_alone_never_waits)
{
    struct fulcrum_network network = plain(1, 1);
    network.step = (struct fulcrum_step){3.0, 0.7, FULCRUM_LAW_LOGNORMAL};
    assert_close("alone", period_of(&network), 6.5, 0.01);
}

TEST(test_the_slowest_part_sets_the_pace)
{
    struct fulcrum_network network = plain(512, 64);
    network.step = (struct fulcrum_step){1e-3, 1.0, FULCRUM_LAW_EXPONENTIAL};
    assert_close("both stages", period_of(&network), 3.0, 1e-3);
    network.depth = 2;
    assert_close("GPU", period_of(&network), 2.0, 1e-3);
    network.host.per_batch_s = 2.5;
    assert_close("host", period_of(&network), 2.5, 1e-3);
    network.cpu.core_count = 8;
    network.cpu.thread_count = 8;
    network.step.mean_s = 1.0;
    assert_close("CPU", period_of(&network), 64.0 / 8.0, 5e-3);
    network.step.mean_s = 0.0;
    assert_close("no steps", period_of(&network), 2.5, 1e-3);
}

/* Without anything but steps, and batches of one, threads are always busy. */
TEST(test_stages_without_time_leave_the_cpu_alone)
{
    struct fulcrum_network network = plain(16, 1);
    network.step.law = FULCRUM_LAW_EXPONENTIAL;
    network.host.per_batch_s = 0.0;
    network.gpu.per_batch_s = 1e-9;
    network.delay_s = 0.0;
    assert_close("CPU", solve(&network).steps_per_s, 16.0 / 3.0, 0.06);
}

static double log_period(double step_s)
{
    struct fulcrum_network network = plain(64, 32);
    network.cpu.core_count = 20;
    network.cpu.thread_count = 40;
    network.cpu.smt_yield_frac = 0.3;
    network.depth = 2;
    network.step = (struct fulcrum_step){step_s, 0.5, FULCRUM_LAW_LOGNORMAL};
    return log(period_of(&network));
}

/* A fit needs a throughput without steps in its parameters. */
TEST(test_throughput_is_smooth_in_the_step)
{
    double before = log_period(3.0);
    double least = 0.002;
    double most = 0.0;
    for (int i = 1; i < 60; i++) {
        double now = log_period(3.0 * exp(0.002 * i));
        least = fmin(least, now - before);
        most = fmax(most, now - before);
        before = now;
    }
    CU_ASSERT(least > -0.001);
    CU_ASSERT(most < 0.005);
}

TEST(test_times_have_no_scale_of_their_own)
{
    struct fulcrum_network network = fulcrum_random_network(FULCRUM_DOMAIN_SHARE, 1, 5);
    double before = solve(&network).steps_per_s;
    network.step.mean_s *= 1000.0;
    network.host.per_batch_s *= 1000.0;
    network.host.per_item_s *= 1000.0;
    network.gpu.per_batch_s *= 1000.0;
    network.gpu.per_item_s *= 1000.0;
    network.delay_s *= 1000.0;
    assert_close("slower", solve(&network).steps_per_s, before / 1000.0, 1e-9);
}

/* Whatever is asked for, an answer comes, and no stage is faster than it can be. */
TEST(test_extremes_have_an_answer_within_bounds)
{
    size_t solved = 0;
    for (size_t i = 0; i < 300; i++) {
        struct fulcrum_network network =
            fulcrum_random_network(FULCRUM_DOMAIN_CORNERS, 3, i);
        if (network.policy != FULCRUM_BATCH_FIXED || network.actors > 1e4) {
            continue;
        }
        struct fulcrum_cycle cycle = solve(&network);
        double gpu_s = fulcrum_batch_time(&network.gpu, network.batch_size);
        double rate = cycle.steps_per_s;
        CU_ASSERT(isfinite(rate) && rate > 0.0);
        CU_ASSERT(rate * gpu_s <= network.batch_size * 1.05);
        CU_ASSERT(cycle.at_cpu >= 0.0 && cycle.at_cpu <= network.actors);
        double error = fulcrum_fixed_batch_error_frac(&network);
        CU_ASSERT(error > 0.0 && error < 0.2);
        solved++;
    }
    CU_ASSERT(solved > 50);
}

/* Sums of binomial terms by hand, and the two forms where they meet. */
TEST(test_chance_of_too_few)
{
    assert_close("3 of 4", probability_below(2.0, 1.0, 3.0), 11.0 / 16.0, 1e-9);
    assert_close("1 of 2", probability_below(0.5, 0.375, 1.0), 0.5625, 1e-9);
    assert_close(
        "all of 20", probability_below(19.0, 0.95, 20.0), 1.0 - pow(0.95, 20), 0.02);
    assert_close("11 of 20", probability_below(10.0, 5.0, 11.0), 0.5881, 0.005);
    CU_ASSERT_DOUBLE_EQUAL(probability_below(500.0, 10.0, 100.0), 0.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(probability_below(10.0, 5.0, 100.0), 1.0, 0.0);
    assert_close("E[Z+]", normal_beyond(0.0, 2.0), 0.79788456, 1e-6);
    assert_close("far", normal_beyond(20.0, 1.0), 20.0, 1e-9);
}

TEST(test_few_threads_and_equal_steps_are_a_risk)
{
    struct fulcrum_network network = plain(64, 32);
    double usual = fulcrum_fixed_batch_error_frac(&network);
    network.cpu.core_count = 40;
    network.cpu.thread_count = 40;
    CU_ASSERT(fulcrum_fixed_batch_error_frac(&network) > usual);
    network.step.law = FULCRUM_LAW_EXPONENTIAL;
    assert_close("spread", fulcrum_fixed_batch_error_frac(&network), usual, 1e-9);
    network.actors = 6;
    network.cpu.thread_count = 2;
    CU_ASSERT(fulcrum_fixed_batch_error_frac(&network) > 3.0 * usual);
    network.cpu.thread_count = 5;
    CU_ASSERT(fulcrum_fixed_batch_error_frac(&network) > usual);
    network.cpu.thread_count = 6;
    CU_ASSERT(fulcrum_fixed_batch_error_frac(&network) > usual);
}

TEST(test_gpu_stretch_multiplies_the_gpu)
{
    struct fulcrum_network network = plain(12, 12);
    struct fulcrum_cycle cycle = {.batch = 0.0};
    ASSERT_OK(fulcrum_fixed_batch_solve(&network, 2.0, &cycle, NULL));
    assert_close("period", 12.0 / cycle.steps_per_s, 8.5, 0.01);
}

/* Relative error of the throughput of a network that nothing trains. */
static double error_frac(enum fulcrum_domain domain, size_t index)
{
    struct fulcrum_network network = fulcrum_random_network(domain, 11, index);
    network.training = (struct fulcrum_training){.env_steps_per_train_step = 0};
    struct fulcrum_solution truth = simulated(&network, index, 0.01);
    struct fulcrum_cycle cycle = solve(&network);
    double servers = fmax(1.0, round(fulcrum_cpu_servers(&network.cpu)));
    double busy = truth.cpu_thread_busy_frac;
    CU_ASSERT(fabs(cycle.stepping / servers - busy) < 0.01 + 0.1 * busy);
    return fabs(cycle.steps_per_s / truth.steps_per_s - 1.0);
}

/* Bounds have a margin of some two over what larger sets show. */
TEST(test_random_networks_agree_with_the_simulation)
{
    static const enum fulcrum_domain domains[] = {
        FULCRUM_DOMAIN_FIXED, FULCRUM_DOMAIN_SHARE};
    enum { COUNT = 24 };
    for (size_t d = 0; d < 2; d++) {
        double sum = 0.0;
        double most = 0.0;
        for (size_t i = 0; i < COUNT; i++) {
            double error = error_frac(domains[d], i);
            sum += error;
            most = fmax(most, error);
        }
        CU_ASSERT(sum < 0.02 * COUNT);
        CU_ASSERT(most < 0.1);
    }
}

/* The work rate of a CPU, tabulated. */

static const double measured[] = {1.0, 1.9, 2.7, 3.4, 3.2, 3.0};

static const struct fulcrum_cpu_station stations[] = {
    {.core_count = 1, .thread_count = 1},
    {.core_count = 4, .thread_count = 8, .smt_yield_frac = 0.3, .turbo_frac = 0.4},
    {.core_count = 48,
        .thread_count = 96,
        .reserved_threads = 2.5,
        .smt_yield_frac = 0.25,
        .turbo_frac = 0.2,
        .oversubscription_frac = 0.1},
    {.core_count = 500, .thread_count = 1000, .smt_yield_frac = 0.3},
    {.core_count = 3, .thread_count = 3, .reserved_threads = 2.99},
    {.curve = FULCRUM_CURVE_SATURATING,
        .core_count = 32,
        .thread_count = 64,
        .smt_yield_frac = 0.3,
        .serial_frac = 0.01,
        .knee = 2,
        .cap_per_core = 0.9,
        .cross_socket_frac = 0.9},
    {.curve = FULCRUM_CURVE_SATURATING_SYNC,
        .core_count = 24,
        .thread_count = 48,
        .smt_yield_frac = 0.3,
        .knee = 4,
        .cap_per_core = 1,
        .cross_socket_frac = 1},
    {.curve = FULCRUM_CURVE_TABLE,
        .core_count = 6,
        .thread_count = 6,
        .capacity = measured,
        .capacity_count = LENGTH(measured)},
    {.curve = FULCRUM_CURVE_TABLE,
        .core_count = 6,
        .thread_count = 6,
        .reserved_threads = 2,
        .capacity = measured,
        .capacity_count = LENGTH(measured)},
};

/* A station with its cells, and as many threads as it has for actors. */
static void for_each_station(void (*check)(
    const struct fulcrum_cpu_station *cpu, struct rate_cells *cells, double servers))
{
    for (size_t i = 0; i < LENGTH(stations); i++) {
        struct rate_cells cells;
        rate_cells_init(&cells, &stations[i]);
        check(&stations[i], &cells, fulcrum_cpu_servers(&stations[i]));
    }
}

#define STATION_TEST(function)                                                         \
    TEST_EACH(function, for_each_station, const struct fulcrum_cpu_station *cpu,       \
        struct rate_cells *cells, double servers)

/* Whole threads up to 256 are nodes; a second look finds what the first has stored. */
STATION_TEST(test_whole_threads_are_exact)
{
    for (size_t k = 1; (double)k <= fmin(servers, 256.0); k++) {
        double n = (double)k;
        double exact = fulcrum_cpu_capacity(cpu, n);
        double tolerance = servers <= 256.0 ? 1e-12 : 2e-3;
        assert_close("first", rate_cells_at(cells, n), exact, tolerance);
        assert_close("again", rate_cells_at(cells, n), exact, tolerance);
    }
}

/* In lockstep the first shared core slows all: a jump, spread over one thread. */
static int in_jump(const struct fulcrum_cpu_station *cpu, double n)
{
    return cpu->curve == FULCRUM_CURVE_SATURATING_SYNC && n > cpu->core_count &&
           n < cpu->core_count + 1.0;
}

STATION_TEST(test_parts_of_threads_are_close)
{
    for (size_t k = 1; k < 77; k++) {
        double n = servers * (double)k / 77.0;
        double margin = in_jump(cpu, n) ? 0.3 : 0.015;
        assert_close("between nodes", rate_cells_at(cells, n),
            fulcrum_cpu_capacity(cpu, n), margin);
    }
}

TEST(test_jump_is_spread_over_one_thread)
{
    const struct fulcrum_cpu_station *cpu = &stations[6];
    struct rate_cells cells;
    rate_cells_init(&cells, cpu);
    double before = fulcrum_cpu_capacity(cpu, cpu->core_count);
    double after = fulcrum_cpu_capacity(cpu, cpu->core_count + 1.0);
    CU_ASSERT(after < 0.9 * before);
    double rate = rate_cells_at(&cells, cpu->core_count + 0.25);
    assert_close("jump", rate, 0.75 * before + 0.25 * after, 1e-12);
}

/* The loss to crowding begins just above S, and a table may go on falling. */
STATION_TEST(test_crowds_are_exact)
{
    for (int k = -10; k < 7; k++) {
        double n = servers + ldexp(1.0, k);
        assert_close(
            "crowd", rate_cells_at(cells, n), fulcrum_cpu_capacity(cpu, n), 1e-12);
    }
}

TEST(test_nobody_works_at_no_rate)
{
    struct rate_cells cells;
    rate_cells_init(&cells, &stations[1]);
    CU_ASSERT_DOUBLE_EQUAL(rate_cells_at(&cells, 0.0), 0.0, 0.0);
    /* Linear below the first node, which lies at a quarter of a thread. */
    double quarter = fulcrum_cpu_capacity(&stations[1], 0.25);
    assert_close("few", rate_cells_at(&cells, 1e-6), 4e-6 * quarter, 1e-9);
}
