/* test_chain.c - the exact chain by hand, by other exact ways, and by simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/exact/chain.c" /* NOLINT(bugprone-suspicious-include) */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/simulate/simulate.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_solution solved(const struct fulcrum_network *network)
{
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    ASSERT_OK(fulcrum_chain_solve(network, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_CHAIN);
    return out;
}

static struct fulcrum_network fixed(struct fulcrum_network network, double size)
{
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = size;
    return network;
}

static const double measured[] = {1.3, 2.1, 2.6, 2.4, 3.0, 3.1};

/* c(n) from a table that dips. */
static struct fulcrum_network tabulated(struct fulcrum_network network)
{
    network.cpu.curve = FULCRUM_CURVE_TABLE;
    network.cpu.capacity = measured;
    network.cpu.capacity_count = LENGTH(measured);
    return network;
}

static struct fulcrum_network with_threads(
    struct fulcrum_network network, double reserved_threads)
{
    network.cpu.thread_count = 2.0 * network.cpu.core_count;
    network.cpu.reserved_threads = reserved_threads;
    network.cpu.smt_yield_frac = 0.3;
    network.cpu.turbo_frac = 0.25;
    network.cpu.oversubscription_frac = 0.08;
    return network;
}

static struct fulcrum_network saturating(struct fulcrum_network network)
{
    network.cpu.thread_count = 2.0 * network.cpu.core_count;
    network.cpu.curve = FULCRUM_CURVE_SATURATING_SYNC;
    network.cpu.smt_yield_frac = 0.3;
    network.cpu.serial_frac = 0.01;
    network.cpu.knee = 2.0;
    network.cpu.cap_per_core = 1.25;
    network.cpu.cross_socket_frac = 0.85;
    return network;
}

TEST(test_one_actor_goes_round)
{
    struct fulcrum_network network = with_threads(plain_network(1, 4, 0.4, 0.1), 1.5);
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.2};
    double c = 1.0 + 0.25 * (1.0 - 2.5 / 4.0);
    double cycle_s = 1.0 / c + 0.7;
    struct fulcrum_solution out = solved(&network);
    assert_close("X", out.steps_per_s, 1.0 / cycle_s, 1e-15);
    assert_close("batch", out.mean_batch, 1.0, 1e-15);
    assert_close("threads", out.cpu_thread_busy_frac, 1.0 / c / cycle_s / 6.5, 1e-14);
    assert_close("cores", out.cpu_core_busy_frac, 1.0 / c / cycle_s / 4.0, 1e-14);
    assert_close("host", out.host_busy_frac, 0.2 / cycle_s, 1e-14);
    assert_close("gpu", out.gpu_busy_frac, 0.5 / cycle_s, 1e-14);
    assert_close("cpu_s", out.residence.cpu_s, 1.0 / c, 1e-14);
    assert_close("host_s", out.residence.host_s, 0.2, 1e-13);
    assert_close("gpu_s", out.residence.gpu_s, 0.5, 1e-14);
}

TEST(test_two_actors_by_hand)
{
    /* A batch of one always starts with the other at the CPU. If it is still there at
       the end (stays), both step until one is done. Also the machine repair problem
       with two machines and repairs of equal length, limit 1 or not. */
    for (int limit = 0; limit <= 2; limit++) {
        struct fulcrum_network network = tabulated(plain_network(2, 4, 0.5, 0.2));
        network.batch_size = (double)limit;
        double stays = exp(-1.3 * 0.7);
        double cycle_s = 0.7 + stays / 2.1;
        struct fulcrum_solution out = solved(&network);
        assert_close("X", out.steps_per_s, 1.0 / cycle_s, 1e-14);
        assert_close("gpu", out.gpu_busy_frac, 0.7 / cycle_s, 1e-14);
        double cpu_s = (1.0 - stays) / 1.3 + stays * 2.0 / 2.1;
        assert_close("cpu_s", out.residence.cpu_s, cpu_s, 1e-14);
        assert_close("gpu_s", out.residence.gpu_s, 0.7, 1e-14);
        assert_close(
            "host_s", out.residence.host_s, 2.0 * cycle_s - cpu_s - 0.7, 1e-13);
    }
}

TEST(test_three_actors_by_hand)
{
    /* One or two wait when a batch starts; two only if both others finished during a
       batch of one, and a batch of two is always followed by one of one. */
    struct fulcrum_network network = tabulated(plain_network(3, 4, 0.5, 0.2));
    double both = exp(-2.1 * 0.7);
    double one = 2.1 / (2.1 - 1.3) * (exp(-1.3 * 0.7) - both);
    double none = 1.0 - both - one;
    double after_two = exp(-1.3 * 0.9);
    double cycle_s = 0.7 + both / 2.6 + none * (0.9 + after_two / 2.6);
    struct fulcrum_solution out = solved(&network);
    assert_close("X", out.steps_per_s, (1.0 + 2.0 * none) / cycle_s, 1e-13);
    assert_close("batch", out.mean_batch, (1.0 + 2.0 * none) / (1.0 + none), 1e-13);
    assert_close("gpu", out.gpu_busy_frac, (0.7 + none * 0.9) / cycle_s, 1e-13);
}

TEST(test_full_barrier_takes_turns)
{
    struct fulcrum_network network = tabulated(fixed(plain_network(6, 4, 0.5, 0.2), 6));
    double steps_s = 0.0;
    double actors_s = 0.0;
    for (size_t n = 1; n <= 6; n++) {
        steps_s += 1.0 / measured[n - 1];
        actors_s += (double)n / measured[n - 1];
    }
    double cycle_s = steps_s + 0.5 + 6.0 * 0.2;
    struct fulcrum_solution out = solved(&network);
    assert_close("X", out.steps_per_s, 6.0 / cycle_s, 1e-14);
    assert_close("batch", out.mean_batch, 6.0, 1e-15);
    assert_close("cpu_s", out.residence.cpu_s, actors_s / 6.0, 1e-14);
    assert_close("host_s", out.residence.host_s, steps_s - actors_s / 6.0, 1e-13);
}

/* Machine repair with one repairman and repairs of length t (Takacs 1962): he is idle
 * for 1 / (1 + N t sum over r < N of (N - 1 over r) product over i <= r of (exp(i t) -
 * 1)). */
static double repair_rate(size_t machines, double t)
{
    double sum = 1.0;
    double term = 1.0;
    for (size_t r = 1; r < machines; r++) {
        term *= (double)(machines - r) / (double)r * expm1((double)r * t);
        sum += term;
    }
    return 1.0 / (t + 1.0 / ((double)machines * sum));
}

static void assert_repair(size_t machines, double repair_s)
{
    double expected = repair_rate(machines, repair_s);
    struct fulcrum_network network =
        plain_network((double)machines, 1024, repair_s, 0.0);
    network.batch_size = 1;
    assert_close("greedy", solved(&network).steps_per_s, expected, 1e-12);
    network = fixed(network, 1);
    assert_close("fixed", solved(&network).steps_per_s, expected, 1e-12);
}

TEST(test_batches_of_one_are_machine_repair)
{
    static const size_t machines[] = {2, 5, 20, 60};
    static const double repairs_s[] = {0.01, 0.05, 0.2, 1.0};
    for (size_t i = 0; i < LENGTH(machines); i++) {
        for (size_t j = 0; j < LENGTH(repairs_s); j++) {
            assert_repair(machines[i], repairs_s[j]);
        }
    }
    /* A matrix of a million chances, the repairman busy for half of the time. */
    assert_repair(1024, 0.0005);
}

/* A turn of independent actors: who is left at the CPU is binomial. */
struct independent {
    size_t actors;
    size_t limit;
    double g0;
    double g1;
    long double share[64];
    long double next[64];
    long double items;
    long double time_s;
};

static void follow_turn(struct independent *chain, size_t waiting)
{
    size_t size = waiting < chain->limit ? waiting : chain->limit;
    size_t stepping = chain->actors - waiting;
    long double time_s = (long double)chain->g0 + (long double)chain->g1 * size;
    long double stays = expl(-time_s);
    long double chance = powl(stays, (long double)stepping);
    long double share = chain->share[waiting];
    chain->items += share * size;
    chain->time_s += share * time_s;
    for (size_t left = stepping + 1; left-- > 0;) {
        size_t then = chain->actors - size - left;
        if (then == 0) {
            chain->time_s += share * chance / chain->actors;
            then = 1;
        }
        chain->next[then] += share * chance;
        chance *= (long double)left / (long double)(stepping - left + 1) *
                  (1.0L - stays) / stays;
    }
}

/* The rate of the chain above after so many turns that it has forgotten its start. */
static double independent_rate(size_t actors, size_t limit, double g0, double g1)
{
    struct independent chain = {.actors = actors, .limit = limit, .g0 = g0, .g1 = g1};
    chain.share[1] = 0.5L;
    chain.share[2] = 0.5L;
    for (size_t turn = 0; turn < 3000; turn++) {
        chain.items = 0.0L;
        chain.time_s = 0.0L;
        for (size_t w = 0; w <= actors; w++) {
            chain.next[w] = 0.0L;
        }
        for (size_t w = 1; w <= actors; w++) {
            follow_turn(&chain, w);
        }
        for (size_t w = 1; w <= actors; w++) {
            chain.share[w] = 0.5L * (chain.share[w] + chain.next[w]);
        }
    }
    return (double)(chain.items / chain.time_s);
}

TEST(test_independent_actors_in_long_double)
{
    static const struct {
        size_t actors;
        size_t limit;
        double g0;
        double g1;
    } cases[] = {{4, 4, 1.0, 0.1}, {12, 12, 0.2, 0.05}, {12, 3, 0.5, 0.1},
        {30, 30, 0.05, 0.01}, {30, 9, 0.4, 0.02}, {60, 60, 1.5, 0.001},
        {60, 20, 0.01, 0.02}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network =
            plain_network((double)cases[i].actors, 64, cases[i].g0, cases[i].g1);
        network.batch_size = (double)cases[i].limit;
        double expected =
            independent_rate(cases[i].actors, cases[i].limit, cases[i].g0, cases[i].g1);
        assert_close("X", solved(&network).steps_per_s, expected, 1e-12);
    }
}

TEST(test_limits_of_quick_and_slow_batches)
{
    struct fulcrum_network network = plain_network(50, 8, 0.0, 0.0);
    struct fulcrum_solution out = solved(&network);
    assert_close("no GPU", out.steps_per_s, 8.0, 1e-14);
    assert_close("one each", out.mean_batch, 1.0, 1e-14);
    assert_close("threads", out.cpu_thread_busy_frac, 1.0, 1e-14);
    network.gpu.per_batch_s = 1e-7;
    assert_close("quick", solved(&network).steps_per_s, 8.0, 1e-6);
    /* Slow batches divide the actors in two; which half is taken turns. */
    static const double slow_s[] = {60.0, 300.0, 1e3, 1e6};
    for (size_t i = 0; i < LENGTH(slow_s); i++) {
        network.gpu = (struct fulcrum_batch_time){slow_s[i], 0.5, NULL, NULL, 0};
        out = solved(&network);
        assert_close("slow", out.steps_per_s, 50.0 / (2.0 * slow_s[i] + 25.0), 1e-12);
        assert_close("half", out.mean_batch, 25.0, 1e-12);
        assert_close("gpu", out.gpu_busy_frac, 1.0, 1e-12);
    }
    network = fixed(network, 10);
    assert_close("fixed", solved(&network).steps_per_s, 10.0 / (1e6 + 5.0), 1e-12);
}

static struct fulcrum_network limited(struct fulcrum_network network, double size)
{
    network.batch_size = size;
    return network;
}

static struct fulcrum_network hosted(struct fulcrum_network network)
{
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.1, .per_item_s = 0.02};
    return network;
}

/* Twenty networks of every kind that the chain takes. */
static size_t kinds(struct fulcrum_network networks[20])
{
    size_t count = 0;
    networks[count++] = plain_network(2, 1, 0.5, 0.1);
    networks[count++] = plain_network(16, 4, 0.2, 0.01);
    networks[count++] = plain_network(64, 64, 0.5, 0.01);
    networks[count++] = plain_network(100, 16, 3.0, 0.001);
    networks[count++] = limited(plain_network(40, 16, 0.5, 0.05), 8);
    networks[count++] = limited(plain_network(24, 32, 0.2, 0.0), 1);
    networks[count++] = fixed(plain_network(40, 16, 0.5, 0.05), 20);
    networks[count++] = fixed(plain_network(33, 64, 0.3, 0.01), 5);
    networks[count++] = fixed(plain_network(12, 3, 1.0, 0.1), 12);
    networks[count++] = hosted(plain_network(30, 8, 0.3, 0.02));
    networks[count++] = with_threads(plain_network(40, 8, 0.2, 0.01), 2);
    networks[count++] = with_threads(plain_network(10, 8, 0.2, 0.01), 2);
    networks[count++] = with_threads(hosted(plain_network(64, 16, 0.6, 0.02)), 0);
    networks[count++] = with_threads(fixed(plain_network(40, 8, 0.3, 0.01), 20), 3);
    networks[count++] = with_threads(limited(plain_network(60, 4, 0.1, 0.1), 6), 1);
    networks[count++] = saturating(plain_network(40, 8, 0.3, 0.01));
    networks[count++] = saturating(fixed(plain_network(24, 16, 0.3, 0.01), 12));
    networks[count++] = tabulated(plain_network(9, 4, 0.4, 0.05));
    networks[count++] = tabulated(fixed(plain_network(9, 4, 0.4, 0.05), 3));
    networks[count++] = tabulated(limited(plain_network(5, 6, 0.4, 0.05), 2));
    return count;
}

static void assert_near(const char *what, double exact, double simulated, double most)
{
    if (!(fabs(exact - simulated) <= most)) {
        (void)printf("\n    %s: %g, simulated %g\n", what, exact, simulated);
    }
    CU_ASSERT(fabs(exact - simulated) <= most);
}

TEST(test_simulation_agrees)
{
    struct fulcrum_network networks[20];
    size_t count = kinds(networks);
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_solution run = simulated(&networks[i], 17 + i, 0.002);
        struct fulcrum_solution out = solved(&networks[i]);
        inside += out.steps_per_s >= run.steps_per_s_lo &&
                  out.steps_per_s <= run.steps_per_s_hi;
        /* Two of its half-widths are four standard deviations. Where the throughput is
           held by the GPU the run ends early, and the rest is known less well. */
        assert_near("X", out.steps_per_s, run.steps_per_s, 0.004 * out.steps_per_s);
        assert_near("batch", out.mean_batch, run.mean_batch, 0.02 * out.mean_batch);
        assert_near(
            "threads", out.cpu_thread_busy_frac, run.cpu_thread_busy_frac, 0.01);
        assert_near("cores", out.cpu_core_busy_frac, run.cpu_core_busy_frac, 0.01);
        assert_near("host", out.host_busy_frac, run.host_busy_frac, 0.01);
        assert_near("gpu", out.gpu_busy_frac, run.gpu_busy_frac, 0.01);
        double cycle_s = networks[i].actors / out.steps_per_s;
        assert_near("cpu_s", out.residence.cpu_s, run.residence.cpu_s, 0.02 * cycle_s);
        assert_near(
            "host_s", out.residence.host_s, run.residence.host_s, 0.02 * cycle_s);
        assert_near("gpu_s", out.residence.gpu_s, run.residence.gpu_s, 0.02 * cycle_s);
    }
    /* One in twenty may be outside a 95 % interval, and sometimes two. */
    CU_ASSERT_EQUAL(count, 20);
    CU_ASSERT(inside >= 18);
}

/* What holds for every network, from sums that are formed apart from each other. */
TEST(test_laws_of_utilisation_and_residence)
{
    struct fulcrum_network networks[20];
    size_t count = kinds(networks);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_solution out = solved(&networks[i]);
        double rate = out.steps_per_s;
        double cycle_s = out.residence.cpu_s + out.residence.host_s +
                         out.residence.gpu_s + out.residence.delay_s;
        assert_close("Little", rate * cycle_s, networks[i].actors, 1e-12);
        double batch_s = networks[i].gpu.per_batch_s / out.mean_batch;
        assert_close("gpu", out.gpu_busy_frac,
            rate * (batch_s + networks[i].gpu.per_item_s), 1e-12);
        if (i < 10) {
            /* c(n) = min(n, S): as many threads step as steps are done a second. */
            assert_close("threads", out.cpu_thread_busy_frac,
                rate / networks[i].cpu.thread_count, 1e-12);
            assert_close(
                "cores", out.cpu_core_busy_frac, out.cpu_thread_busy_frac, 1e-14);
        }
        CU_ASSERT(out.residence.host_s >= 0.0 && out.gpu_busy_frac <= 1.0 + 1e-12);
    }
}

/* Half of a thread more lies between the two whole numbers. */
TEST(test_threads_may_be_fractional)
{
    double rate[3];
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_network network = plain_network(64, 16, 0.05, 0.0);
        network.cpu.thread_count = 16.0;
        network.cpu.reserved_threads = 8.0 + 0.5 * (double)i;
        rate[i] = solved(&network).steps_per_s;
    }
    assert_close("between", rate[1], 0.5 * (rate[0] + rate[2]), 1e-3);
}

TEST(test_refusals_say_why)
{
    struct fulcrum_network lognormal = plain_network(8, 4, 0.5, 0.1);
    lognormal.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_LOGNORMAL};
    struct fulcrum_network no_steps = plain_network(8, 4, 0.5, 0.1);
    no_steps.step.mean_s = 0.0;
    struct fulcrum_network delayed = plain_network(8, 4, 0.5, 0.1);
    delayed.delay_s = 0.1;
    struct fulcrum_network training = plain_network(8, 4, 0.5, 0.1);
    training.training = (struct fulcrum_training){100, 1.0, 1.0, 1.0};
    struct fulcrum_network deep = hosted(plain_network(8, 4, 0.5, 0.1));
    deep.depth = 2;
    const struct {
        struct fulcrum_network network;
        const char *reason;
    } cases[] = {{lognormal, "not exponential"}, {no_steps, "no time"},
        {delayed, "delay"}, {training, "training"}, {deep, "overlap"},
        {plain_network(4097, 4, 0.5, 0.1), "4096 actors"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = cases[i].network;
        struct fulcrum_solution out = {.steps_per_s = -1.0};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_chain_solve(&network, &out, &err), FULCRUM_ERR_UNSUPPORTED);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, cases[i].reason));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "for network plain"));
        CU_ASSERT_EQUAL(out.steps_per_s, -1.0);
        network.name[0] = '\0';
        CU_ASSERT_EQUAL(
            fulcrum_chain_solve(&network, &out, &err), FULCRUM_ERR_UNSUPPORTED);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "chain here"));
    }
}

/* Without a second stage there is nothing to overlap. */
TEST(test_depth_matters_only_with_host_and_gpu)
{
    struct fulcrum_network network = plain_network(20, 8, 0.3, 0.01);
    double rate = solved(&network).steps_per_s;
    network.depth = 3;
    assert_close("no host", solved(&network).steps_per_s, rate, 1e-15);
    network.host = network.gpu;
    network.gpu = (struct fulcrum_batch_time){.per_batch_s = 0.0};
    struct fulcrum_solution out = solved(&network);
    assert_close("no gpu", out.steps_per_s, rate, 1e-15);
    struct fulcrum_solution run = simulated(&network, 3, 0.005);
    assert_near("X", rate, run.steps_per_s, 0.01 * rate);
}

/* What the chain needs of Markov processes. */

enum { MOST = 200 };

/* n independent lives: the rest is binomial. lgamma is good to some 1e-14 of it. */
static double binomial(size_t n, size_t left, double time_s)
{
    double k = (double)left;
    double all = (double)n;
    double dead = -expm1(-time_s);
    double log_ways = lgamma(all + 1.0) - lgamma(k + 1.0) - lgamma(all - k + 1.0);
    return exp(log_ways - k * time_s + (all - k) * log(dead));
}

/* One at a time: the number gone is Poisson until nobody is left. */
static double poisson(size_t n, size_t left, double time_s)
{
    double gone = (double)(n - left);
    return exp(gone * log(time_s) - time_s - lgamma(gone + 1.0));
}

/* Of up to MOST; `rate_per_s` has room for as many, and for nobody. */
static void open_death(struct pure_death *death, double *rate_per_s, double servers)
{
    for (size_t n = 0; n <= MOST; n++) {
        rate_per_s[n] = fmin((double)n, servers);
    }
    CU_ASSERT_FATAL(pure_death_init(death, rate_per_s, MOST));
}

/* Nobody left is what remains to 1. */
static void assert_distribution(struct pure_death *death, size_t start, double time_s,
    double (*expected)(size_t n, size_t left, double time_s))
{
    const double *left = pure_death_run(death, start, time_s);
    double some = 0.0;
    for (size_t n = start; n > 0; n--) {
        double chance = expected(start, n, time_s);
        some += chance;
        if (chance > 1e-60) {
            assert_close("left", left[n], chance, 1e-12);
        }
    }
    assert_close("none", 1.0 + left[0], 2.0 - some, 1e-12);
}

TEST(test_independent_lives_are_binomial)
{
    static const struct {
        size_t start;
        double time_s;
    } cases[] = {{1, 0.5}, {1, 100.0}, {7, 1e-3}, {40, 0.05}, {40, 2.0}, {40, 30.0},
        {200, 0.2}, {200, 1.0}, {200, 7.0}, {200, 60.0}};
    double rate_per_s[MOST + 1];
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pure_death death;
        open_death(&death, rate_per_s, MOST);
        assert_distribution(&death, cases[i].start, cases[i].time_s, binomial);
        free(death.fastest_per_s);
    }
}

TEST(test_one_at_a_time_is_poisson)
{
    static const double times_s[] = {0.01, 1.0, 40.0, 150.0, 700.0};
    double rate_per_s[MOST + 1];
    struct pure_death death;
    open_death(&death, rate_per_s, 1.0);
    for (size_t i = 0; i < LENGTH(times_s); i++) {
        assert_distribution(&death, MOST, times_s[i], poisson);
    }
    free(death.fastest_per_s);
}

/* Going on from the last result must not be told from a fresh start. */
TEST(test_neighbouring_starts_build_on_each_other)
{
    static const double growths[] = {0.0, 1e-3, 0.05};
    double rate_per_s[MOST + 1];
    struct pure_death death;
    open_death(&death, rate_per_s, MOST);
    for (size_t i = 0; i < LENGTH(growths); i++) {
        double time_s = 0.3;
        for (size_t start = MOST; start-- > 0;) {
            assert_distribution(&death, start, time_s, binomial);
            time_s += growths[i];
        }
    }
    free(death.fastest_per_s);
}

/* Faster with fewer alive, as after oversubscription: two lives by hand. */
TEST(test_rates_may_rise_as_the_count_falls)
{
    static const double rate_per_s[] = {0.0, 5.0, 2.0};
    struct pure_death death;
    CU_ASSERT_FATAL(pure_death_init(&death, rate_per_s, 2));
    for (size_t start = 3; start-- > 0;) {
        const double *left = pure_death_run(&death, start, 0.7);
        double sum = 0.0;
        for (size_t n = 0; n <= start; n++) {
            sum += left[n];
        }
        assert_close("sum", sum, 1.0, 1e-15);
        if (start == 2) {
            double one = 2.0 / (5.0 - 2.0) * (exp(-1.4) - exp(-3.5));
            assert_close("2 left", left[2], exp(-1.4), 1e-14);
            assert_close("1 left", left[1], one, 1e-14);
        } else if (start == 1) {
            assert_close("1 left", left[1], exp(-3.5), 1e-14);
        }
    }
    free(death.fastest_per_s);
}

TEST(test_no_time_and_all_time)
{
    double rate_per_s[MOST + 1];
    struct pure_death death;
    open_death(&death, rate_per_s, 16.0);
    CU_ASSERT_EQUAL(pure_death_run(&death, MOST, 0.0)[MOST], 1.0);
    CU_ASSERT_EQUAL(pure_death_run(&death, MOST, 0.0)[MOST - 1], 0.0);
    const double *left = pure_death_run(&death, MOST, 1e9);
    CU_ASSERT_EQUAL(left[0], 1.0);
    CU_ASSERT_EQUAL(left[1], 0.0);
    CU_ASSERT_EQUAL(left[MOST], 0.0);
    free(death.fastest_per_s);
}

enum { STATES_MOST = 4, STATES_LONG = 300 };

TEST(test_small_chains_by_hand)
{
    static const struct {
        const char *name;
        size_t count;
        double chance[STATES_MOST * STATES_MOST];
        double share[STATES_MOST];
    } cases[] = {
        {"alone", 1, {1.0}, {1.0}},
        {"two", 2, {0.7, 0.3, 0.1, 0.9}, {0.25, 0.75}},
        /* Never stays, never forgets: 0 -> 1 -> 2 -> 0. */
        {"round", 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, {1.0 / 3, 1.0 / 3, 1.0 / 3}},
        /* Two pairs, each in itself; the bridges are 3e-40 to and 1e-40 back. */
        {"bridge", 4,
            {0.5, 0.5, 0, 0, 0.5, 0.5, 3e-40, 0, 0, 1e-40, 0.5, 0.5, 0, 0, 0.5, 0.5},
            {0.125, 0.125, 0.375, 0.375}},
        /* Only where state 0 leads to: 3 is left alone, 0 itself is left behind. */
        {"ways", 4, {0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1},
            {0.0, 0.5, 0.5, 0.0}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double chance[STATES_MOST * STATES_MOST];
        double share[STATES_MOST];
        memcpy(chance, cases[i].chance, sizeof chance);
        stationary(share, chance, cases[i].count);
        for (size_t j = 0; j < cases[i].count; j++) {
            assert_close(cases[i].name, share[j] + 1.0, cases[i].share[j] + 1.0, 1e-15);
        }
    }
}

/* Up with chance 2/3, down with 1/3: shares double 299 times, from about 1e-90. */
TEST(test_shares_span_ninety_decades)
{
    static double chance[STATES_LONG * STATES_LONG];
    static double share[STATES_LONG];
    for (size_t i = 0; i + 1 < STATES_LONG; i++) {
        chance[i * STATES_LONG + i + 1] = 2.0 / 3.0;
        chance[(i + 1) * STATES_LONG + i] = 1.0 / 3.0;
    }
    stationary(share, chance, STATES_LONG);
    assert_close("last", share[STATES_LONG - 1], 0.5, 1e-13);
    for (size_t i = 0; i + 1 < STATES_LONG; i++) {
        assert_close("ratio", share[i + 1] / share[i], 2.0, 1e-14);
    }
}
