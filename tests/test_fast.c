/* test_fast.c - the fast method by hand, against the chain, against simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast.h"

#include <math.h>
#include <string.h>

#include "model/chain.h"
#include "model/simulate.h"
#include "tests/suite.h"

/* Exponential steps of 1 s on `servers` plain threads, g(b) = t0 (1 + 0.02 b). */
static struct fulcrum_network plain(double actors, double servers, double t0)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = servers, .thread_count = servers},
        .step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
        .gpu = {.per_batch_s = t0, .per_item_s = 0.02 * t0},
        .depth = 1};
}

static struct fulcrum_network lognormal(double actors, double servers, double t0)
{
    struct fulcrum_network network = plain(actors, servers, t0);
    network.step = (struct fulcrum_step){1.0, 0.5, FULCRUM_LAW_LOGNORMAL};
    return network;
}

static struct fulcrum_network half_batches(double actors, double servers, double t0)
{
    struct fulcrum_network network = lognormal(actors, servers, t0);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = actors / 2.0;
    return network;
}

static struct fulcrum_solution fast(const struct fulcrum_network *network)
{
    struct fulcrum_step_table table;
    memset(&table, 0, sizeof table);
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    CU_ASSERT_EQUAL_FATAL(fulcrum_network_check(network, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(fulcrum_fast_solve(network, &table, &out, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
    CU_ASSERT(out.error_rel > 0.0 && out.has_interval == 0);
    CU_ASSERT_EQUAL(out.simulated_steps, 0.0);
    return out;
}

static struct fulcrum_solution simulated(
    const struct fulcrum_network *network, double half_width_rel)
{
    struct fulcrum_solver_options options = {
        .seed = 9, .half_width_rel = half_width_rel, .max_steps = 3e6};
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    CU_ASSERT_EQUAL_FATAL(fulcrum_simulate(network, &options, &out, NULL), FULCRUM_OK);
    return out;
}

static void test_one_actor_adds_its_times_up(void)
{
    struct fulcrum_network network = plain(1, 4, 0.5);
    network.gpu.per_item_s = 0.0;
    network.host.per_batch_s = 0.25;
    network.delay_s = 0.125;
    network.cpu.turbo_frac = 1.0; /* c(1) = 1.75 */
    static const double depths[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) {
        network.depth = depths[i];
        struct fulcrum_solution out = fast(&network);
        double turn_s = 1.0 / 1.75 + 0.25 + 0.5 + 0.125;
        suite_assert_close("X", out.steps_per_s, 1.0 / turn_s, 1e-9);
        suite_assert_close("batch", out.mean_batch, 1.0, 1e-12);
        suite_assert_close("cpu", out.residence.cpu_s, 1.0 / 1.75, 1e-9);
        suite_assert_close("host", out.residence.host_s, 0.25, 1e-9);
        suite_assert_close("gpu", out.residence.gpu_s, 0.5, 1e-9);
        suite_assert_close("delay", out.residence.delay_s, 0.125, 1e-12);
        suite_assert_close("GPU busy", out.gpu_busy_frac, 0.5 / turn_s, 1e-9);
        suite_assert_close("host busy", out.host_busy_frac, 0.25 / turn_s, 1e-9);
        double busy = 1.0 / 1.75 / turn_s / 4.0;
        suite_assert_close("threads", out.cpu_thread_busy_frac, busy, 1e-9);
        suite_assert_close("cores", out.cpu_core_busy_frac, busy, 1e-9);
    }
}

/* What is slow enough sets the pace; the others have closed forms. */
static void test_a_full_station_sets_the_pace(void)
{
    struct fulcrum_network network = lognormal(2000, 16, 1e-3);
    suite_assert_close("CPU", fast(&network).steps_per_s, 16.0, 2e-3);
    suite_assert_close("threads", fast(&network).cpu_thread_busy_frac, 1.0, 2e-3);
    network = lognormal(100, 200, 1000.0); /* halves alternate: t(50) = 2000 s */
    suite_assert_close("GPU", fast(&network).steps_per_s, 50.0 / 2000.0, 1e-3);
    network = lognormal(256, 512, 0.1);
    network.batch_size = 4; /* always full */
    struct fulcrum_solution out = fast(&network);
    suite_assert_close("limit", out.steps_per_s, 4.0 / 0.108, 1e-6);
    suite_assert_close("batch", out.mean_batch, 4.0, 1e-6);
    suite_assert_close("GPU", out.gpu_busy_frac, 1.0, 1e-6);
    network =
        half_batches(64, 64, 100.0); /* one half waits while the other is inside */
    suite_assert_close("half", fast(&network).steps_per_s, 32.0 / 164.0, 2e-3);
    network = lognormal(200, 400, 0.01);
    network.delay_s = 1e4;
    suite_assert_close("delay", fast(&network).steps_per_s, 200.0 / 10001.01, 5e-3);
}

/* A stage without time is not there. */
static void test_stages_without_time(void)
{
    struct fulcrum_network network = plain(100, 20, 0.0);
    suite_assert_close("only CPU", fast(&network).steps_per_s, 20.0, 2e-3);
    network.actors = 15;
    suite_assert_close("few", fast(&network).steps_per_s, 15.0, 2e-3);
    network.delay_s = 0.5;
    suite_assert_close("delay", fast(&network).steps_per_s, 10.0, 2e-3);
    network = plain(12, 4, 0.0);
    network.step.mean_s = 0.0;
    network.delay_s = 2.0;
    suite_assert_close("only delay", fast(&network).steps_per_s, 6.0, 2e-3);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 12;
    suite_assert_close("barrier", fast(&network).steps_per_s, 6.0, 2e-3);
    network.delay_s = 0.0;
    network.host.per_batch_s = 2.0;
    suite_assert_close("only host", fast(&network).steps_per_s, 6.0, 2e-3);
    /* Nobody steps: all that a batch leaves behind are in the next. */
    network = lognormal(100, 200, 1.0);
    network.step.mean_s = 0.0;
    network.gpu.per_item_s = 0.0;
    struct fulcrum_solution truth = simulated(&network, 0.01);
    suite_assert_close("no steps", fast(&network).steps_per_s, truth.steps_per_s, 0.01);
}

/* docs/model.md "Solver targets": at most 1.5 %, from two actors on. */
static void test_the_exact_chain_is_met(void)
{
    static const double actors[] = {2, 3, 5, 8, 13, 21, 34, 55, 64, 65, 89, 144};
    static const double servers[] = {1, 4, 16, 50, 200};
    static const double t0[] = {0.05, 0.3, 1.0, 4.0};
    enum { ACTORS = 12, SERVERS = 5, TIMES = 4 };
    for (size_t i = 0; i < ACTORS * SERVERS * TIMES; i++) {
        struct fulcrum_network network = plain(actors[i % ACTORS],
            servers[i / ACTORS % SERVERS], t0[i / (ACTORS * SERVERS)]);
        struct fulcrum_solution exact;
        CU_ASSERT_EQUAL(fulcrum_chain_solve(&network, &exact, NULL), FULCRUM_OK);
        struct fulcrum_solution out = fast(&network);
        suite_assert_close("X", out.steps_per_s, exact.steps_per_s, 0.015);
        suite_assert_close("batch", out.mean_batch, exact.mean_batch, 0.03);
        CU_ASSERT_DOUBLE_EQUAL(
            out.cpu_thread_busy_frac, exact.cpu_thread_busy_frac, 0.04);
        CU_ASSERT_DOUBLE_EQUAL(out.gpu_busy_frac, exact.gpu_busy_frac, 0.02);
    }
}

static struct fulcrum_network with_delay(struct fulcrum_network network, double delay_s)
{
    network.delay_s = delay_s;
    return network;
}

static struct fulcrum_network with_host(
    struct fulcrum_network network, double per_batch_s, double depth)
{
    network.host.per_batch_s = per_batch_s;
    network.depth = depth;
    return network;
}

static struct fulcrum_network with_training(
    struct fulcrum_network network, double period, double train_s)
{
    network.training = (struct fulcrum_training){period, train_s, 10.0};
    return network;
}

static struct fulcrum_network with_limit(struct fulcrum_network network, double size)
{
    network.batch_size = size;
    return network;
}

static struct fulcrum_network with_smt(struct fulcrum_network network)
{
    network.cpu.thread_count *= 2.0;
    network.cpu.smt_yield_frac = 0.3;
    network.cpu.turbo_frac = 0.3;
    network.cpu.oversubscription_frac = 0.03;
    return network;
}

/* Fractions of time, within 0.02. */
static void assert_busy(
    const struct fulcrum_solution *out, const struct fulcrum_solution *truth)
{
    const double pairs[][2] = {{out->cpu_thread_busy_frac, truth->cpu_thread_busy_frac},
        {out->cpu_core_busy_frac, truth->cpu_core_busy_frac},
        {out->host_busy_frac, truth->host_busy_frac},
        {out->gpu_inference_busy_frac, truth->gpu_inference_busy_frac},
        {out->gpu_train_busy_frac, truth->gpu_train_busy_frac},
        {out->gpu_busy_frac, truth->gpu_busy_frac}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        CU_ASSERT_DOUBLE_EQUAL(pairs[i][0], pairs[i][1], 0.02);
    }
}

/* Which part of the round trip an equation tells from the others, roughly or well. */
#define WELL     0.03, 0.03, 0.03
#define NO_QUEUE 0.3, 0.3, 0.03 /* where actors wait: for a thread, for a batch */

/* One or more of each kind that is solved in a way of its own. */
static void test_each_kind_agrees_with_the_simulation(void)
{
    const struct {
        const char *name;
        struct fulcrum_network network;
        double rough_frac[3]; /* of times at CPU, host and GPU */
    } kinds[] = {
        {"few", lognormal(12, 20, 0.3), {WELL}},
        {"few, crowded", lognormal(12, 5, 0.3), {WELL}},
        {"few, limited", with_limit(lognormal(24, 30, 0.2), 4), {WELL}},
        {"few, delay", with_delay(lognormal(16, 30, 0.2), 0.3), {WELL}},
        {"free", lognormal(128, 200, 0.2), {WELL}},
        {"free, SMT", with_smt(lognormal(128, 100, 0.2)), {WELL}},
        {"crowded", lognormal(256, 64, 0.5), {WELL}},
        {"crowded, SMT", with_smt(lognormal(256, 40, 0.5)), {WELL}},
        {"crowded, GPU", lognormal(300, 100, 2.0), {WELL}},
        {"delay", with_delay(lognormal(200, 300, 0.1), 0.25), {WELL}},
        {"host", with_host(lognormal(200, 150, 0.1), 0.05, 1), {WELL}},
        {"overlap", with_host(lognormal(200, 250, 0.2), 0.1, 2), {WELL}},
        {"overlap, crowded", with_host(lognormal(400, 100, 0.2), 0.3, 2), {WELL}},
        {"limit, always", with_limit(lognormal(300, 400, 0.3), 16), {WELL}},
        {"limit, sometimes", with_limit(lognormal(300, 80, 0.2), 24), {NO_QUEUE}},
        {"half", half_batches(64, 100, 0.4), {WELL}},
        {"half, crowded", half_batches(256, 40, 0.4), {NO_QUEUE}},
        {"half, overlap", with_host(half_batches(128, 160, 0.3), 0.2, 2), {WELL}},
        {"half, delay", with_delay(half_batches(128, 160, 0.3), 0.2), {WELL}},
        {"long train steps", with_training(lognormal(128, 100, 0.2), 20000, 40.0),
            {WELL}},
        {"short train steps", with_training(lognormal(128, 100, 0.2), 600, 0.02),
            {WELL}},
        {"learner slow", with_training(lognormal(64, 100, 0.1), 3000, 90.0), {WELL}},
        {"half, training", with_training(half_batches(128, 160, 0.3), 3000, 6.0),
            {WELL}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct fulcrum_solution out = fast(&kinds[i].network);
        struct fulcrum_solution truth = simulated(&kinds[i].network, 0.004);
        double margin = out.error_rel + 0.005;
        suite_assert_close(kinds[i].name, out.steps_per_s, truth.steps_per_s, margin);
        suite_assert_close("batch", out.mean_batch, truth.mean_batch, 0.06);
        assert_busy(&out, &truth);
        const double *rough = kinds[i].rough_frac;
        const struct fulcrum_residence *time = &out.residence;
        suite_assert_close("at CPU", time->cpu_s, truth.residence.cpu_s, rough[0]);
        CU_ASSERT_DOUBLE_EQUAL(time->host_s, truth.residence.host_s,
            rough[1] * (truth.residence.host_s + truth.residence.cpu_s));
        suite_assert_close("at GPU", time->gpu_s, truth.residence.gpu_s, rough[2]);
        suite_assert_close("delay", time->delay_s, truth.residence.delay_s, 1e-3);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_one_actor_adds_its_times_up),
        SUITE_CASE(test_a_full_station_sets_the_pace),
        SUITE_CASE(test_stages_without_time),
        SUITE_CASE(test_the_exact_chain_is_met),
        SUITE_CASE(test_each_kind_agrees_with_the_simulation),
    };
    return suite_run("fast", cases, sizeof cases / sizeof cases[0], argc, argv);
}
