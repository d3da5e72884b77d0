/* test_fast.c - the fast method by hand, against the chain, against simulation; and the
 * ceiling of what any method may say. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steady.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/compare.h"
#include "model/exact/chain.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* Exponential steps of 1 s on `servers` plain threads, g(b) = t0 (1 + 0.02 b). */
static struct fulcrum_network plain(double actors, double servers, double t0)
{
    return plain_network(actors, servers, t0, 0.02 * t0);
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
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    ASSERT_OK(fulcrum_fast_solve(network, &room, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
    CU_ASSERT(out.error_rel > 0.0 && out.has_interval == 0);
    CU_ASSERT_EQUAL(out.simulated_steps, 0.0);
    return out;
}

TEST(test_one_actor_adds_its_times_up)
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
        assert_close("X", out.steps_per_s, 1.0 / turn_s, 1e-9);
        assert_close("batch", out.mean_batch, 1.0, 1e-12);
        assert_close("cpu", out.residence.cpu_s, 1.0 / 1.75, 1e-9);
        assert_close("host", out.residence.host_s, 0.25, 1e-9);
        assert_close("gpu", out.residence.gpu_s, 0.5, 1e-9);
        assert_close("delay", out.residence.delay_s, 0.125, 1e-12);
        assert_close("GPU busy", out.gpu_busy_frac, 0.5 / turn_s, 1e-9);
        assert_close("host busy", out.host_busy_frac, 0.25 / turn_s, 1e-9);
        double busy = 1.0 / 1.75 / turn_s / 4.0;
        assert_close("threads", out.cpu_thread_busy_frac, busy, 1e-9);
        assert_close("cores", out.cpu_core_busy_frac, busy, 1e-9);
    }
}

/* What is slow enough sets the pace; the others have closed forms. */
TEST(test_a_full_station_sets_the_pace)
{
    struct fulcrum_network network = lognormal(2000, 16, 1e-3);
    assert_close("CPU", fast(&network).steps_per_s, 16.0, 2e-3);
    assert_close("threads", fast(&network).cpu_thread_busy_frac, 1.0, 2e-3);
    network = lognormal(100, 200, 1000.0); /* halves alternate: t(50) = 2000 s */
    assert_close("GPU", fast(&network).steps_per_s, 50.0 / 2000.0, 1e-3);
    network = lognormal(256, 512, 0.1);
    network.batch_size = 4; /* always full */
    struct fulcrum_solution out = fast(&network);
    assert_close("limit", out.steps_per_s, 4.0 / 0.108, 1e-6);
    assert_close("batch", out.mean_batch, 4.0, 1e-6);
    assert_close("GPU", out.gpu_busy_frac, 1.0, 1e-6);
    network =
        half_batches(64, 64, 100.0); /* one half waits while the other is inside */
    assert_close("half", fast(&network).steps_per_s, 32.0 / 164.0, 2e-3);
    network = lognormal(200, 400, 0.01);
    network.delay_s = 1e4;
    assert_close("delay", fast(&network).steps_per_s, 200.0 / 10001.01, 5e-3);
    /* A limit that the GPU reaches a hundred times faster than the CPU is free. */
    network = lognormal(30, 10, 1e-4);
    network.gpu.per_item_s = 0.0;
    network.delay_s = 0.5;
    double unlimited = fast(&network).steps_per_s;
    network.batch_size = 1;
    assert_close("far limit", fast(&network).steps_per_s, unlimited, 1e-2);
}

/* A stage without time is not there. */
TEST(test_stages_without_time)
{
    struct fulcrum_network network = plain(100, 20, 0.0);
    assert_close("only CPU", fast(&network).steps_per_s, 20.0, 2e-3);
    network.actors = 15;
    assert_close("few", fast(&network).steps_per_s, 15.0, 2e-3);
    network.delay_s = 0.5;
    assert_close("delay", fast(&network).steps_per_s, 10.0, 2e-3);
    network = plain(12, 4, 0.0);
    network.step.mean_s = 0.0;
    network.delay_s = 2.0;
    assert_close("only delay", fast(&network).steps_per_s, 6.0, 2e-3);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 12;
    assert_close("barrier", fast(&network).steps_per_s, 6.0, 2e-3);
    network.delay_s = 0.0;
    network.host.per_batch_s = 2.0;
    assert_close("only host", fast(&network).steps_per_s, 6.0, 2e-3);
    /* Nobody steps: all that a batch leaves behind are in the next. */
    network = lognormal(100, 200, 1.0);
    network.step.mean_s = 0.0;
    network.gpu.per_item_s = 0.0;
    struct fulcrum_solution truth = simulated_within(&network, 9, 0.01, 3e6);
    assert_close("no steps", fast(&network).steps_per_s, truth.steps_per_s, 0.01);
}

/* docs/model.md "Solver targets": at most 1.5 %, from two actors on. */
TEST(test_the_exact_chain_is_met)
{
    static const double actors[] = {2, 3, 5, 8, 13, 21, 34, 55, 64, 65, 89, 144};
    static const double servers[] = {1, 4, 16, 50, 200};
    static const double t0[] = {0.05, 0.3, 1.0, 4.0};
    enum { ACTORS = 12, SERVERS = 5, PAIRS = ACTORS * SERVERS, NETWORKS = 4 * PAIRS };
    for (size_t i = 0; i < NETWORKS; i++) {
        struct fulcrum_network network =
            plain(actors[i % ACTORS], servers[i / ACTORS % SERVERS], t0[i / PAIRS]);
        struct fulcrum_solution exact;
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        struct fulcrum_solution out = fast(&network);
        assert_close("X", out.steps_per_s, exact.steps_per_s, 0.015);
        assert_close("batch", out.mean_batch, exact.mean_batch, 0.03);
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
    network.training = (struct fulcrum_training){period, train_s, 10.0, 1.0};
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
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        CU_ASSERT_DOUBLE_EQUAL(pairs[i][0], pairs[i][1], 0.02);
    }
}

/* Which part of the round trip an equation tells from the others, roughly or well. */
#define WELL     0.03, 0.03, 0.03
#define NO_QUEUE 0.3, 0.3, 0.03 /* where actors wait: for a thread, for a batch */

/* One or more of each kind that is solved in a way of its own. */
struct kind {
    const char *name;
    struct fulcrum_network network;
    double rough_frac[3]; /* of times at CPU, host and GPU */
};

enum { KINDS = 23 };

static void make_kinds(struct kind out[KINDS])
{
    const struct kind kinds[KINDS] = {
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
        {"hardly a host", with_host(lognormal(200, 250, 0.2), 1e-6, 2), {WELL}},
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
        {"half, training", with_training(half_batches(128, 160, 0.3), 3000, 6.0),
            {WELL}},
    };
    memcpy(out, kinds, sizeof kinds);
}

static void for_each_kind(void (*check)(const struct kind *kind))
{
    struct kind kinds[KINDS];
    make_kinds(kinds);
    for (size_t i = 0; i < KINDS; i++) {
        check(&kinds[i]);
    }
}

#define KIND_TEST(function) TEST_EACH(function, for_each_kind, const struct kind *kind)

KIND_TEST(test_each_kind_agrees_with_the_simulation)
{
    struct fulcrum_solution out = fast(&kind->network);
    struct fulcrum_solution truth = simulated_within(&kind->network, 9, 0.004, 3e6);
    double margin = out.error_rel + 0.005;
    assert_close(kind->name, out.steps_per_s, truth.steps_per_s, margin);
    assert_close("batch", out.mean_batch, truth.mean_batch, 0.06);
    assert_busy(&out, &truth);
    const double *rough = kind->rough_frac;
    const struct fulcrum_residence *time = &out.residence;
    assert_close("at CPU", time->cpu_s, truth.residence.cpu_s, rough[0]);
    CU_ASSERT_DOUBLE_EQUAL(time->host_s, truth.residence.host_s,
        rough[1] * (truth.residence.host_s + truth.residence.cpu_s));
    assert_close("at GPU", time->gpu_s, truth.residence.gpu_s, rough[2]);
    assert_close("delay", time->delay_s, truth.residence.delay_s, 1e-3);
}

/* N = X R, times that are work over rate, fractions that add up. */
KIND_TEST(test_a_solution_agrees_with_itself)
{
    struct fulcrum_solution out = fast(&kind->network);
    const struct fulcrum_residence *time = &out.residence;
    double turn_s = time->cpu_s + time->host_s + time->gpu_s + time->delay_s;
    assert_close("N", out.steps_per_s * turn_s, kind->network.actors, 1e-9);
    double batches_per_s = out.steps_per_s / out.mean_batch;
    double gpu_s = fulcrum_batch_time(&kind->network.gpu, out.mean_batch);
    CU_ASSERT(time->gpu_s >= gpu_s * (1.0 - 0.02));
    CU_ASSERT_DOUBLE_EQUAL(
        out.gpu_inference_busy_frac, fmin(1.0, batches_per_s * gpu_s), 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(out.gpu_busy_frac,
        out.gpu_inference_busy_frac + out.gpu_train_busy_frac, 1e-12);
    CU_ASSERT(out.gpu_busy_frac <= 1.0 && out.host_busy_frac <= 1.0);
    CU_ASSERT(out.mean_batch >= 1.0 && out.mean_batch <= kind->network.actors);
}

static const size_t times[] = {offsetof(struct fulcrum_network, step.mean_s),
    offsetof(struct fulcrum_network, host.per_batch_s),
    offsetof(struct fulcrum_network, host.per_item_s),
    offsetof(struct fulcrum_network, gpu.per_batch_s),
    offsetof(struct fulcrum_network, gpu.per_item_s),
    offsetof(struct fulcrum_network, delay_s),
    offsetof(struct fulcrum_network, training.train_step_s)};

static void lengthen(struct fulcrum_network *network, size_t place, double factor)
{
    double time_s = 0.0;
    memcpy(&time_s, (const char *)network + place, sizeof time_s);
    time_s *= factor;
    memcpy((char *)network + place, &time_s, sizeof time_s);
}

/* No time gets shorter, and throughput does not rise by more than equations err. */
KIND_TEST(test_longer_times_cost_throughput)
{
    double before = fast(&kind->network).steps_per_s;
    for (size_t i = 0; i < LENGTH(times); i++) {
        struct fulcrum_network slow = kind->network;
        lengthen(&slow, times[i], 1.3);
        CU_ASSERT(fast(&slow).steps_per_s <= 1.005 * before);
    }
}

/* Seconds or hours: only ratios of times count. */
KIND_TEST(test_times_have_no_unit)
{
    struct fulcrum_network slow = kind->network;
    for (size_t i = 0; i < LENGTH(times); i++) {
        lengthen(&slow, times[i], 3600.0);
    }
    struct fulcrum_solution out = fast(&kind->network);
    struct fulcrum_solution hours = fast(&slow);
    assert_close("X", hours.steps_per_s * 3600.0, out.steps_per_s, 1e-6);
    CU_ASSERT_EQUAL(hours.flags, out.flags);
}

/* A table that served other networks gives the same bytes as a new one. */
TEST(test_a_kept_table_changes_nothing)
{
    struct kind kinds[KINDS];
    struct fulcrum_fast_room room = {.table.count = 0};
    make_kinds(kinds);
    for (size_t i = 0; i < 2 * (size_t)KINDS; i++) {
        struct fulcrum_network network = kinds[i % KINDS].network;
        network.step.cv = i % 3 == 0 ? 0.4 : 0.5;
        struct fulcrum_solution kept = {.steps_per_s = 0.0};
        fulcrum_fast_forget(&room);
        ASSERT_OK(fulcrum_fast_solve(&network, &room, &kept, NULL));
        struct fulcrum_solution fresh = fast(&network);
        CU_ASSERT_EQUAL(kept.steps_per_s, fresh.steps_per_s);
        CU_ASSERT_EQUAL(kept.residence.host_s, fresh.residence.host_s);
    }
}

static double log_rate(const struct fulcrum_network *network, int actors)
{
    struct fulcrum_network own = *network;
    own.actors = (double)actors;
    return log(fast(&own).steps_per_s / own.actors);
}

/* The bend of ln(X / N) along a sweep: a change of method shows as a corner. */
static double worst_bend(const struct fulcrum_network *network, int from, int to)
{
    double worst = 0.0;
    for (int n = from; n <= to; n++) {
        double bend = log_rate(network, n + 1) - 2.0 * log_rate(network, n) +
                      log_rate(network, n - 1);
        worst = fmax(worst, fabs(bend));
    }
    return worst;
}

TEST(test_more_actors_change_methods_without_a_jump)
{
    static const double t0[] = {0.05, 0.2, 1.0};
    for (size_t i = 0; i < 6; i++) {
        struct fulcrum_network network = lognormal(1, i % 2 == 0 ? 30 : 200, t0[i / 2]);
        CU_ASSERT(worst_bend(&network, 8, 120) < 0.012);
        network.delay_s = 0.3;
        CU_ASSERT(worst_bend(&network, 8, 120) < 0.012);
    }
}

/* A network a little beside another has a throughput a little beside. */
static void assert_near(const char *what, const struct fulcrum_network *network,
    struct fulcrum_network beside, double tolerance_rel)
{
    assert_close(
        what, fast(&beside).steps_per_s, fast(network).steps_per_s, tolerance_rel);
}

TEST(test_what_vanishes_is_as_if_it_were_not_there)
{
    static const double actors[] = {20, 64, 65, 140, 600};
    for (size_t i = 0; i < 10; i++) {
        struct fulcrum_network network =
            lognormal(actors[i / 2], i % 2 == 0 ? 1000 : 40, 0.2);
        double actors_less = network.actors - 1.0;
        assert_near("delay", &network, with_delay(network, 1e-7), 1e-3);
        assert_near("host", &network, with_host(network, 1e-9, 1), 1e-6);
        assert_near("rare training", &network, with_training(network, 1e9, 1.0), 1e-6);
        assert_near(
            "short training", &network, with_training(network, 100, 1e-9), 1e-6);
        assert_near("limit", &network, with_limit(network, network.actors), 1e-12);
        assert_near("all but one", &network, with_limit(network, actors_less), 2e-3);
        struct fulcrum_network beside = network;
        beside.cpu.oversubscription_frac = 1e-9;
        beside.cpu.turbo_frac = 1e-9;
        assert_near("turbo", &network, beside, 1e-3);
        beside = network;
        beside.cpu.thread_count += network.actors;
        if (network.actors < network.cpu.core_count) {
            assert_near("threads for nobody", &network, beside, 1e-9);
        }
    }
}

static void assert_rising_to(const struct fulcrum_network *network)
{
    double before = 0.0;
    for (int size = 1; size <= (int)network->actors; size++) {
        struct fulcrum_network limited = with_limit(*network, (double)size);
        double rate = fast(&limited).steps_per_s;
        CU_ASSERT(rate >= 0.998 * before);
        before = rate;
    }
    assert_close("none", before, fast(network).steps_per_s, 1e-12);
}

TEST(test_limits_rise_to_no_limit)
{
    for (size_t i = 0; i < 4; i++) {
        struct fulcrum_network network =
            lognormal(i % 2 == 0 ? 48 : 200, i / 2 == 0 ? 30 : 300, 0.2);
        assert_rising_to(&network);
    }
}

/* The same times and capacities, once as formulas and once as tables. */
TEST(test_tables_of_a_formula_are_that_formula)
{
    enum { THREADS = 60, SIZES = 5 };
    static const double size[SIZES] = {1, 3, 20, 80, 300};
    double time_s[SIZES];
    double capacity[THREADS];
    struct fulcrum_network network = lognormal(200, 30, 0.2);
    network.cpu.thread_count = THREADS;
    network.cpu.smt_yield_frac = 0.3;
    for (size_t i = 0; i < SIZES; i++) {
        time_s[i] = fulcrum_batch_time(&network.gpu, size[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        capacity[i] = fulcrum_cpu_capacity(&network.cpu, (double)i + 1.0);
    }
    struct fulcrum_network measured = network;
    measured.gpu.size = size;
    measured.gpu.time_s = time_s;
    measured.gpu.count = SIZES;
    assert_near("batches", &network, measured, 1e-9);
    measured.cpu.curve = FULCRUM_CURVE_TABLE;
    measured.cpu.capacity = capacity;
    measured.cpu.capacity_count = THREADS;
    assert_near("threads", &network, measured, 2e-3);
    network.actors = 70;
    measured.actors = 70;
    assert_near("fewer", &network, measured, 2e-3);
}

/* The network with `factor` times the actors, threads, and speed per item. */
static struct fulcrum_network scaled(
    const struct fulcrum_network *network, double factor)
{
    struct fulcrum_network large = *network;
    large.actors = round(factor * network->actors);
    large.batch_size = round(factor * network->batch_size);
    large.cpu.core_count = round(factor * network->cpu.core_count);
    large.cpu.thread_count = round(factor * network->cpu.thread_count);
    large.gpu.per_item_s /= factor;
    large.host.per_item_s /= factor;
    large.training.env_steps_per_train_step *= factor;
    return large;
}

/* A fluid has no size; of a few actors, and of small batches, each one counts. */
TEST(test_a_million_actors_are_a_hundred_times_ten_thousand)
{
    struct kind kinds[KINDS];
    make_kinds(kinds);
    for (size_t i = 0; i < KINDS; i++) {
        const struct fulcrum_network *network = &kinds[i].network;
        struct fulcrum_network large = scaled(network, 1e4 / network->actors);
        struct fulcrum_network huge =
            scaled(&large, 100.0 / fmax(1.0, large.cpu.thread_count / 1e4));
        assert_close(kinds[i].name, fast(&huge).steps_per_s / huge.actors,
            fast(&large).steps_per_s / large.actors, 0.006);
    }
    struct fulcrum_network network = lognormal(1e6, 2e5, 0.3);
    network.gpu.per_item_s = 0.0;
    /* Threads are always full, batches are of 0.3 s of their work. */
    struct fulcrum_solution out = fast(&network);
    assert_close("X", out.steps_per_s, 2e5, 1e-3);
    assert_close("batch", out.mean_batch, 6e4, 1e-3);
}

TEST(test_each_flag_has_its_network_and_a_neighbour_without)
{
    struct fulcrum_network locked = lognormal(128, 200, 0.2);
    locked.step.cv = 0.1;
    struct fulcrum_network kink = half_batches(64, 100, 1.25);
    struct fulcrum_network flat = with_host(lognormal(8, 20, 0.2), 0.1, 2);
    flat.gpu.per_item_s = 0.0;
    struct fulcrum_network many = with_host(lognormal(64, 200, 0.2), 0.1, 2);
    many.gpu.per_item_s = 0.0;
    struct fulcrum_network slow = with_training(lognormal(64, 100, 0.1), 3000, 90.0);
    struct fulcrum_network quick = with_training(lognormal(64, 100, 0.1), 3000, 9.0);
    const struct {
        unsigned flag;
        struct fulcrum_network with;
        struct fulcrum_network without;
    } cases[] = {
        {FULCRUM_FLAG_LOW_CV, locked, lognormal(128, 200, 0.2)},
        {FULCRUM_FLAG_MULTISTABLE, with_host(lognormal(200, 250, 0.2), 0.1, 2),
            with_host(lognormal(200, 250, 0.2), 0.1, 1)},
        {FULCRUM_FLAG_FEW, flat, many},
        {FULCRUM_FLAG_CROWDED, half_batches(256, 200, 0.4),
            half_batches(256, 256, 0.4)},
        {FULCRUM_FLAG_KINK, kink, half_batches(64, 100, 0.2)},
        {FULCRUM_FLAG_LIMIT_ROUGH, with_limit(lognormal(100, 200, 0.2), 12),
            with_limit(lognormal(100, 200, 0.2), 80)},
        {FULCRUM_FLAG_TRAINING_MIX, with_training(plain(64, 64, 0.3), 51, 0.3),
            with_training(plain(64, 64, 0.3), 5000, 0.3)},
        {FULCRUM_FLAG_ROUGH_BATCH, slow, quick},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_solution with = fast(&cases[i].with);
        struct fulcrum_solution without = fast(&cases[i].without);
        CU_ASSERT((with.flags & cases[i].flag) != 0U);
        CU_ASSERT((without.flags & cases[i].flag) == 0U);
        CU_ASSERT(cases[i].flag == FULCRUM_FLAG_ROUGH_BATCH ||
                  with.error_rel > without.error_rel);
    }
}

/* Steps of 1 s, h(b) = 0.1 + 0.02 b, g(b) = 0.2 + 0.03 b. */
static struct fulcrum_network two_stages(double actors, double servers)
{
    struct fulcrum_network network = plain_network(actors, servers, 0.2, 0.03);
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.1, .per_item_s = 0.02};
    return network;
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
    struct fulcrum_network network = two_stages(4, 100);
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
    struct fulcrum_network network = two_stages(1000, 5000);
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
    struct fulcrum_network network = two_stages(16, 16);
    network.step.mean_s = 1e-3;
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.0};
    network.gpu = (struct fulcrum_batch_time){
        .size = size, .time_s = time_s, .count = LENGTH(size)};
    assert_close("best", ceiling(&network), 8.0 / 2.0, 1e-9);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 16;
    assert_close("fixed", ceiling(&network), 16.0 / 10.001, 1e-9);
    /* Two at a time take less than one. */
    network = two_stages(2, 16);
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.0};
    network.gpu =
        (struct fulcrum_batch_time){.size = size, .time_s = time_s, .count = 2};
    assert_close("pairs", ceiling(&network), 2.0 / 1.5, 1e-9);
}

TEST(test_the_cpu_steps_no_more_than_its_best_number_of_actors)
{
    struct fulcrum_network network = two_stages(10000, 8);
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
    struct fulcrum_solution truth = simulated_within(&network, seed, 0.02, 3e5);
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

/* Where no rhythm can be told from another, which one is found may depend on hints. */
static void assert_same(const struct fulcrum_network *network,
    struct fulcrum_fast_room *room, double error_rel)
{
    struct fulcrum_solution kept = {.steps_per_s = 0.0};
    struct fulcrum_solution fresh = fast(network);
    ASSERT_OK(fulcrum_fast_solve(network, room, &kept, NULL));
    if (((kept.flags | fresh.flags) & (unsigned)FULCRUM_FLAG_MULTISTABLE) == 0U) {
        CU_ASSERT_EQUAL(kept.flags, fresh.flags);
        assert_close("X", kept.steps_per_s, fresh.steps_per_s, error_rel);
        assert_close("batch", kept.mean_batch, fresh.mean_batch, error_rel);
        assert_close("threads", kept.cpu_thread_busy_frac, fresh.cpu_thread_busy_frac,
            error_rel);
        assert_close(
            "CPU", kept.residence.cpu_s, fresh.residence.cpu_s, 10.0 * error_rel);
    }
}

/* Neighbours along an axis, and strangers: hints save time and change nothing. */
TEST(test_hints_change_nothing)
{
    static const enum fulcrum_domain domains[] = {FULCRUM_DOMAIN_GREEDY,
        FULCRUM_DOMAIN_MACHINE, FULCRUM_DOMAIN_TRAINING, FULCRUM_DOMAIN_WIDE,
        FULCRUM_DOMAIN_FIXED};
    enum { NETWORKS = 20 * LENGTH(domains), NEIGHBOURS = 12 };
    struct fulcrum_fast_room room = {.table.count = 0};
    for (size_t i = 0; i < NETWORKS; i++) {
        struct fulcrum_network network =
            fulcrum_random_network(domains[i % LENGTH(domains)], 7, i);
        double actors = network.actors;
        bool is_fixed = network.policy == FULCRUM_BATCH_FIXED;
        for (size_t k = 0; k < NEIGHBOURS && !(is_fixed && k > 0); k++) {
            network.actors = ceil(actors * (1.0 + 0.01 * (double)k));
            assert_same(&network, &room, 1e-9);
        }
    }
}

/* A network that was solved before comes back as it was, whatever was in between. */
TEST(test_networks_are_recalled)
{
    enum { NETWORKS = 8 };
    static struct fulcrum_fast_room room;
    struct fulcrum_solution first[NETWORKS];
    for (size_t i = 0; i < 2 * (size_t)NETWORKS; i++) {
        struct fulcrum_network network =
            half_batches(64.0 + 2.0 * (double)(i % NETWORKS), 16, 0.2);
        struct fulcrum_solution out = {.steps_per_s = 0.0};
        ASSERT_OK(fulcrum_fast_solve(&network, &room, &out, NULL));
        if (i < NETWORKS) {
            first[i] = out;
        }
        CU_ASSERT_EQUAL(out.steps_per_s, first[i % NETWORKS].steps_per_s);
        CU_ASSERT_EQUAL(out.steps_per_s, fast(&network).steps_per_s);
    }
    CU_ASSERT_EQUAL(room.recalled_count, NETWORKS);
}

/* A greedy network behind a fixed one is the same whether that one was recalled. */
TEST(test_recalling_leaves_no_trace)
{
    static struct fulcrum_fast_room room;
    struct fulcrum_network fixed = half_batches(64, 16, 0.2);
    struct fulcrum_network greedy = lognormal(100, 60, 0.4);
    double rate[2] = {0.0};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_solution out = {.steps_per_s = 0.0};
        struct fulcrum_network other = lognormal(80.0 + 40.0 * (double)i, 60, 0.4);
        ASSERT_OK(fulcrum_fast_solve(&other, &room, &out, NULL));
        ASSERT_OK(fulcrum_fast_solve(&fixed, &room, &out, NULL));
        ASSERT_OK(fulcrum_fast_solve(&greedy, &room, &out, NULL));
        rate[i] = out.steps_per_s;
    }
    CU_ASSERT_EQUAL(rate[0], rate[1]);
}
