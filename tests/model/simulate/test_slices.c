/* test_slices.c - steps that a scheduler cuts into slices, against closed forms. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "model/exact/chain.h"
#include "model/predict/solver.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* Steps of mean 1 on `threads` cores, batches of half the actors unless changed. */
static struct fulcrum_network half_batches(
    double actors, double threads, double slice_s)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = threads, .thread_count = threads, .slice_s = slice_s},
        .step = {1.0, 0.5, FULCRUM_LAW_LOGNORMAL},
        .gpu = {.per_batch_s = 0.4 * actors / threads},
        .policy = FULCRUM_BATCH_FIXED,
        .batch_size = actors / 2.0,
        .depth = 1,
        .delay_s = 0.01};
}

/* Everybody thinks for a fixed time, then shares a thread: batches cost nothing. */
static struct fulcrum_network one_thread(
    double actors, double think_s, const struct fulcrum_step *step, double slice_s)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = 1, .thread_count = 1, .slice_s = slice_s},
        .step = *step,
        .gpu = {.per_batch_s = 1e-9},
        .policy = FULCRUM_BATCH_FIXED,
        .batch_size = 1,
        .depth = 1,
        .delay_s = think_s};
}

/* Product form of a thread shared evenly and of thinking: any law with mean 1. The
 * chance of n at the CPU is in proportion to N! / (N - n)! / think^n. */
static double shared_thread_steps_per_s(size_t actors, double think_s)
{
    double term = 1.0;
    double sum = 1.0;
    for (size_t n = actors; n > 0; n--) {
        term *= (double)n / think_s;
        sum += term;
    }
    return 1.0 - 1.0 / sum;
}

/* First come, first served is off by 2 to 10 %: another figure would be noticed. */
static void assert_shared(
    size_t actors, double think_s, const struct fulcrum_step *step)
{
    double exact = shared_thread_steps_per_s(actors, think_s);
    struct fulcrum_network network = one_thread((double)actors, think_s, step, 1e-9);
    struct fulcrum_solution out = simulated(&network, 3, 0.003);
    assert_close("shared", out.steps_per_s, exact, 0.007);
    network.cpu.slice_s = 0.0;
    out = simulated(&network, 3, 0.003);
    int differs = fabs(out.steps_per_s / exact - 1.0) > 0.015;
    CU_ASSERT_EQUAL(differs, step->law != FULCRUM_LAW_EXPONENTIAL);
}

TEST(test_short_slices_share_a_thread_whatever_the_law)
{
    static const struct fulcrum_step steps[] = {{1.0, 0.3, FULCRUM_LAW_LOGNORMAL},
        {1.0, 2.0, FULCRUM_LAW_LOGNORMAL}, {1.0, 0.5, FULCRUM_LAW_ERLANG},
        {1.0, 2.0, FULCRUM_LAW_HYPEREXPONENTIAL}, {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL}};
    for (size_t i = 0; i < LENGTH(steps); i++) {
        assert_shared(3, 2.0, &steps[i]);
        assert_shared(6, 4.0, &steps[i]);
    }
}

/* Who gives way with an exponential step comes back with a fresh one. */
TEST(test_exponential_steps_do_not_notice_slices)
{
    static const double slices[] = {0.02, 0.3, 2.0};
    for (size_t i = 0; i < LENGTH(slices); i++) {
        struct fulcrum_network network = half_batches(6, 2, slices[i]);
        network.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
        network.delay_s = 0.0;
        network.cpu.oversubscription_frac = 0.1;
        struct fulcrum_solution exact;
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        struct fulcrum_solution out = simulated(&network, 3, 0.002);
        assert_close("X", out.steps_per_s, exact.steps_per_s, 0.004);
        assert_close(
            "threads", out.cpu_thread_busy_frac, exact.cpu_thread_busy_frac, 0.004);
        assert_close("at the CPU", out.residence.cpu_s, exact.residence.cpu_s, 0.008);
    }
}

static void assert_same(
    const struct fulcrum_solution *a, const struct fulcrum_solution *b)
{
    CU_ASSERT_EQUAL(a->steps_per_s, b->steps_per_s);
    CU_ASSERT_EQUAL(a->steps_per_s_hi, b->steps_per_s_hi);
    CU_ASSERT_EQUAL(a->mean_batch, b->mean_batch);
    CU_ASSERT_EQUAL(a->cpu_thread_busy_frac, b->cpu_thread_busy_frac);
    CU_ASSERT_EQUAL(a->simulated_steps, b->simulated_steps);
    CU_ASSERT_EQUAL(a->flags, b->flags);
    assert_close("cpu", a->residence.cpu_s, b->residence.cpu_s, 1e-9);
}

/* Longer than any step, or a thread for everybody: the same run, to the last bit. */
TEST(test_slices_that_cut_nothing_change_nothing)
{
    static const struct {
        double actors;
        double threads;
        double slice_s;
    } cases[] = {{8, 1, 1e5}, {24, 5, 1e5}, {4, 4, 0.1}, {4, 7, 0.1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        for (int greedy = 0; greedy < 2; greedy++) {
            struct fulcrum_network network =
                half_batches(cases[i].actors, cases[i].threads, cases[i].slice_s);
            network.policy = greedy ? FULCRUM_BATCH_GREEDY : FULCRUM_BATCH_FIXED;
            network.training = (struct fulcrum_training){50, 2.0, 2.4, 1.0};
            struct fulcrum_solution sliced = simulated(&network, 3, 0.01);
            network.cpu.slice_s = 0.0;
            struct fulcrum_solution whole = simulated(&network, 3, 0.01);
            assert_same(&sliced, &whole);
        }
    }
}

/* Two actors, steps of 3, slices of 2, batches of one that take 1.5. From the return of
 * A on: A steps to 2, B (back at 1.5) to 4, A's last to 5 and its batch to 6.5, B's
 * last to 6, when its batch has to wait. A is back at 6.5, and so on for ever. */
TEST(test_two_actors_take_the_turns_of_a_hand_made_schedule)
{
    static const struct fulcrum_step step = {3.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
    struct fulcrum_network network = one_thread(2, 0.0, &step, 2.0);
    network.gpu.per_batch_s = 1.5;
    struct fulcrum_solution out = simulated(&network, 3, 0.001);
    assert_close("X", out.steps_per_s, 2.0 / 6.5, 1e-9);
    assert_close("thread", out.cpu_thread_busy_frac, 6.0 / 6.5, 1e-9);
    assert_close("cpu", out.residence.cpu_s, 0.5 * (5.0 + 4.5), 1e-9);
    assert_close("waits for the GPU", out.residence.host_s, 0.25, 1e-9);
    network.cpu.slice_s = 0.0;
    out = simulated(&network, 3, 0.001);
    assert_close("in turn", out.steps_per_s, 2.0 / 6.0, 1e-9);
}

/* A thread twice as fast does twice the work in a slice: the same at half the times. */
TEST(test_a_slice_is_time_and_not_work)
{
    static const double capacity[] = {2.0};
    static const struct fulcrum_step step = {3.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
    struct fulcrum_network network = one_thread(2, 0.0, &step, 1.0);
    network.gpu.per_batch_s = 0.75;
    network.cpu.curve = FULCRUM_CURVE_TABLE;
    network.cpu.capacity = capacity;
    network.cpu.capacity_count = 1;
    struct fulcrum_solution out = simulated(&network, 3, 0.001);
    assert_close("X", out.steps_per_s, 2.0 / 3.25, 1e-9);
}

/* Nothing of the program: one thread, half batches, lognormal steps, everybody kept by
 * number, time in the order in which things happen. */
enum { PLAIN_MOST = 16, PLAIN_EVENTS = 4000000 };

struct plain {
    gsl_rng *rng;
    double sigma;
    double left_s[PLAIN_MOST]; /* of those in `line`, whose first has the thread */
    size_t line_count;
    size_t ready;
    size_t batch;
    double slice_left_s;
    double slice_s;
    double gpu_left_s; /* INFINITY: rests */
    double back_left_s;
    double now_s;
    double steps;
};

static void plain_return(struct plain *plain)
{
    for (size_t i = 0; i < plain->batch; i++) {
        plain->left_s[plain->line_count++] = gsl_ran_lognormal(
            plain->rng, -0.5 * plain->sigma * plain->sigma, plain->sigma);
    }
    plain->back_left_s = (double)INFINITY;
}

static void plain_leave(struct plain *plain)
{
    plain->line_count--;
    for (size_t i = 0; i < plain->line_count; i++) {
        plain->left_s[i] = plain->left_s[i + 1];
    }
    plain->slice_left_s = plain->slice_s;
}

static void plain_stop(struct plain *plain)
{
    double left_s = plain->left_s[0];
    plain_leave(plain);
    if (left_s > 1e-12) {
        plain->left_s[plain->line_count++] = left_s;
    } else {
        plain->ready++;
        plain->steps += 1.0;
    }
}

static void plain_event(struct plain *plain, double gpu_s, double delay_s)
{
    if (plain->ready >= plain->batch && isinf(plain->gpu_left_s)) {
        plain->ready -= plain->batch;
        plain->gpu_left_s = gpu_s;
    }
    double run_s = plain->line_count > 0 ? fmin(plain->left_s[0], plain->slice_left_s)
                                         : (double)INFINITY;
    double pass_s = fmin(run_s, fmin(plain->gpu_left_s, plain->back_left_s));
    plain->now_s += pass_s;
    plain->gpu_left_s -= pass_s;
    plain->back_left_s -= pass_s;
    if (plain->line_count > 0) {
        plain->left_s[0] -= pass_s;
        plain->slice_left_s -= pass_s;
    }
    if (run_s <= pass_s) {
        plain_stop(plain);
    } else if (plain->gpu_left_s <= 0.0) {
        plain->gpu_left_s = (double)INFINITY;
        plain->back_left_s = delay_s;
    } else {
        plain->slice_left_s =
            plain->line_count > 0 ? plain->slice_left_s : plain->slice_s;
        plain_return(plain);
    }
}

static double plain_steps_per_s(const struct fulcrum_network *network)
{
    double cv = network->step.cv;
    struct plain plain = {.rng = gsl_rng_alloc(gsl_rng_mt19937),
        .sigma = sqrt(log1p(cv * cv)),
        .batch = (size_t)network->batch_size,
        .slice_s = network->cpu.slice_s,
        .slice_left_s = network->cpu.slice_s,
        .gpu_left_s = (double)INFINITY};
    CU_ASSERT_PTR_NOT_NULL_FATAL(plain.rng);
    plain_return(&plain);
    plain_return(&plain);
    for (int event = 0; event < PLAIN_EVENTS; event++) {
        plain_event(&plain, network->gpu.per_batch_s, network->delay_s);
    }
    gsl_rng_free(plain.rng);
    return plain.steps / plain.now_s;
}

TEST(test_half_batches_agree_with_a_plain_loop_of_events)
{
    static const struct {
        double actors;
        double slice_s;
        double cv;
        double gpu_s;
    } cases[] = {{2, 0.55, 0.2, 0.5}, {4, 0.55, 0.2, 0.93}, {8, 0.3, 0.5, 3.0},
        {16, 0.55, 0.2, 3.5}, {6, 0.1, 1.5, 1.2}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network =
            half_batches(cases[i].actors, 1, cases[i].slice_s);
        network.step.cv = cases[i].cv;
        network.gpu.per_batch_s = cases[i].gpu_s;
        struct fulcrum_solution out = simulated(&network, 3, 0.002);
        assert_close("X", out.steps_per_s, plain_steps_per_s(&network), 0.006);
    }
}

/* Work done is the work of the steps, and everybody is somewhere. */
static void assert_conserved(
    const struct fulcrum_network *network, const struct fulcrum_solution *out)
{
    double threads = network->cpu.thread_count;
    assert_close("work", out->cpu_thread_busy_frac * threads,
        out->steps_per_s * network->step.mean_s, 0.02);
    double round_s = out->residence.cpu_s + out->residence.host_s +
                     out->residence.gpu_s + out->residence.delay_s;
    assert_close("Little", round_s * out->steps_per_s, network->actors, 1e-6);
}

TEST(test_slices_conserve_work_and_actors)
{
    static const double slices[] = {1e-6, 0.05, 0.5, 2.0};
    static const struct fulcrum_step steps[] = {{1.0, 0.0, FULCRUM_LAW_DETERMINISTIC},
        {1.0, 0.5, FULCRUM_LAW_ERLANG}, {1.0, 1.5, FULCRUM_LAW_HYPEREXPONENTIAL}};
    for (size_t i = 0; i < LENGTH(slices); i++) {
        for (size_t j = 0; j < LENGTH(steps); j++) {
            struct fulcrum_network network = half_batches(12, 3, slices[i]);
            network.step = steps[j];
            struct fulcrum_solution out = simulated(&network, 3, 0.005);
            assert_conserved(&network, &out);
            network.policy = FULCRUM_BATCH_GREEDY;
            network.batch_size = 0.0;
            out = simulated(&network, 3, 0.005);
            assert_conserved(&network, &out);
        }
    }
}

/* A hundredth of a step stands for all that is shorter, and a run stays short. */
TEST(test_slices_of_nothing_do_not_take_for_ever)
{
    struct fulcrum_network network = half_batches(8, 2, 1e-12);
    struct fulcrum_solution nothing = simulated(&network, 3, 0.01);
    network.cpu.slice_s = 0.01;
    struct fulcrum_solution least = simulated(&network, 3, 0.01);
    assert_same(&nothing, &least);
    struct fulcrum_solution out = simulated_within(&network, 3, 1e-5, 1e6);
    CU_ASSERT(out.flags & FULCRUM_FLAG_NOT_SETTLED);
    CU_ASSERT(out.simulated_steps <= 1e6 / 100.0); /* each is followed in 100 pieces */
}

static int slices_flag(const struct fulcrum_network *network)
{
    struct fulcrum_solver_options fast = {.method = FULCRUM_METHOD_FAST};
    struct fulcrum_solution out = {.flags = 0};
    ASSERT_OK(fulcrum_solve(network, &fast, &out, NULL));
    CU_ASSERT(!(out.flags & FULCRUM_FLAG_SLICES) || out.error_rel >= 0.2); /* as told */
    return (out.flags & FULCRUM_FLAG_SLICES) != 0U;
}

TEST(test_equations_say_where_slices_matter)
{
    struct fulcrum_network network = half_batches(16, 2, 0.5);
    CU_ASSERT(slices_flag(&network));
    network.cpu.slice_s = 0.0;
    CU_ASSERT_FALSE(slices_flag(&network));
    network.cpu.slice_s = 4.0; /* hardly any step is that long */
    CU_ASSERT_FALSE(slices_flag(&network));
    network.step.mean_s = 8.0;
    CU_ASSERT(slices_flag(&network));
    network.step = (struct fulcrum_step){1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
    network.cpu.slice_s = 0.1;
    CU_ASSERT_FALSE(slices_flag(&network));
    network = half_batches(16, 16, 0.5); /* nobody waits */
    CU_ASSERT_FALSE(slices_flag(&network));
    network = half_batches(256, 2, 0.5);
    network.gpu.per_batch_s = 1.0;
    CU_ASSERT(slices_flag(&network));
    network.policy = FULCRUM_BATCH_GREEDY; /* the threads never rest */
    network.batch_size = 0.0;
    CU_ASSERT_FALSE(slices_flag(&network));
}

/* Greedy batches that equations are trusted with, but for slices. */
TEST(test_auto_simulates_where_slices_matter)
{
    struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_AUTO, .seed = 1};
    struct fulcrum_network network = half_batches(16, 4, 0.0);
    network.policy = FULCRUM_BATCH_GREEDY;
    network.batch_size = 0.0;
    network.delay_s = 0.0;
    network.gpu.per_batch_s = 2.0;
    struct fulcrum_solution out = {.flags = 0};
    ASSERT_OK(fulcrum_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
    network.cpu.slice_s = 0.3;
    ASSERT_OK(fulcrum_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT_FALSE(out.flags & FULCRUM_FLAG_SLICES);
    options.half_width_rel = 0.25;
    ASSERT_OK(fulcrum_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
    CU_ASSERT(out.flags & FULCRUM_FLAG_SLICES);
}
