/* test_training_turns.c - training beside inference, worked out by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/fast.c" /* NOLINT(bugprone-suspicious-include) */

#include <math.h>

#include "model/predict/solver.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* Steps of 1 s, a thread for each actor; g(b) = 0.02 + 0.01 b. */
static struct fulcrum_network plain(double actors)
{
    struct fulcrum_network network = plain_network(actors, 2.0 * actors, 0.02, 0.01);
    network.step = (struct fulcrum_step){1.0, 0.5, FULCRUM_LAW_LOGNORMAL};
    return network;
}

static struct fulcrum_network training_of(double actors, double period, double train_s)
{
    struct fulcrum_network network = plain(actors);
    network.training = (struct fulcrum_training){period, train_s, 10.0, 1.0};
    return network;
}

struct outcome {
    struct fulcrum_cycle alone;
    struct fulcrum_cycle shared; /* with a train step all the time */
    struct flow flow;
    unsigned flags;
};

static struct outcome solve(const struct fulcrum_network *network)
{
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_steady steady;
    struct outcome out = {.flags = 0};
    unsigned ignored = 0;
    ASSERT_OK(fulcrum_network_check(network, NULL));
    fulcrum_steady_init(&steady, network, &room);
    ASSERT_OK(fulcrum_steady_solve(&steady, 1.0, &out.alone, &ignored, NULL));
    ASSERT_OK(fulcrum_steady_solve(&steady, 2.0, &out.shared, &ignored, NULL));
    ASSERT_OK(training_turns(&steady, &out.alone, &out.flow, &out.flags, NULL));
    return out;
}

TEST(test_flows_add_up)
{
    struct fulcrum_fast_room room = {.table.count = 0};
    struct fulcrum_steady steady;
    struct fulcrum_network network = plain(10);
    network.host.per_item_s = 0.03;
    fulcrum_steady_init(&steady, &network, &room);
    struct flow flow = {.steps_per_s = 0.0};
    struct fulcrum_cycle one = {2.0, 4.0, 5.0, 3.0, 2.0, 1.0};
    struct fulcrum_cycle two = {0.5, 1.0, 9.0, 7.0, 6.0, 0.5};
    flow_add(&flow, &steady, &one, 0.75);
    flow_add(&flow, &steady, &two, 0.25);
    assert_close("steps", flow.steps_per_s, 3.25, 1e-14);
    /* There is no batch below one. */
    assert_close("batches", flow.batches_per_s, 1.5 + 0.25, 1e-14);
    assert_close("host", flow.host_busy_frac, 1.5 * 0.06 + 0.25 * 0.03, 1e-14);
    assert_close("GPU", flow.gpu_work_frac, 1.5 * 0.04 + 0.25 * 0.03, 1e-14);
    assert_close("at CPU", flow.at_cpu, 6.0, 1e-14);
    assert_close("stepping", flow.stepping, 4.0, 1e-14);
    assert_close("cores", flow.on_cores, 3.0, 1e-14);
    assert_close("at GPU", flow.at_gpu, 0.875, 1e-14);
}

/* One actor never shares a batch: both states of (11) have closed forms. */
TEST(test_long_train_steps_are_turns)
{
    struct fulcrum_network network = training_of(1, 40000, 8000.0);
    double alone = 1.0 / 1.03;
    double shared = 1.0 / 1.06;
    struct outcome out = solve(&network);
    assert_close("alone", out.alone.steps_per_s, alone, 1e-9);
    assert_close("shared", out.shared.steps_per_s, shared, 1e-9);
    /* Inference takes half of the GPU for 0.06 X1 of the time. */
    double train_s = 8000.0 / (1.0 - 0.5 * 0.06 * shared);
    double period_s = train_s + (40000.0 - shared * train_s) / alone;
    assert_close("X", out.flow.steps_per_s, 40000.0 / period_s, 1e-9);
    assert_close("batches", out.flow.batches_per_s, 40000.0 / period_s, 1e-9);
    CU_ASSERT_EQUAL(out.flags, 0U);
}

/* (11) from the two cycles, whatever solved those. */
TEST(test_turns_are_weighed_by_their_time)
{
    static const double actors[] = {4, 30, 200};
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_network network = training_of(actors[i], 4e5, 900.0);
        struct outcome out = solve(&network);
        double x0 = out.alone.steps_per_s;
        double x1 = out.shared.steps_per_s;
        double gpu_s = 0.02 + 0.01 * fmax(1.0, out.shared.batch);
        double used = fmin(1.0, 2.0 * gpu_s * x1 / fmax(1.0, out.shared.batch));
        double train_s = 900.0 / (1.0 - 0.5 * used);
        double period_s = train_s + (4e5 - x1 * train_s) / x0;
        assert_close("X", out.flow.steps_per_s, 4e5 / period_s, 1e-9);
        double share = train_s / period_s;
        assert_close("at CPU", out.flow.at_cpu,
            share * out.shared.at_cpu + (1.0 - share) * out.alone.at_cpu, 1e-9);
    }
}

/* Train steps much shorter than a batch: the GPU is slower all the time. */
TEST(test_short_train_steps_are_a_slower_gpu)
{
    /* All 64 actors alternate in halves, X = 32 / g(32) of a GPU that never rests. */
    struct fulcrum_network network = training_of(64, 8.0, 1e-4);
    network.gpu = (struct fulcrum_batch_time){.per_batch_s = 100.0};
    network.training.env_steps_per_train_step = 1e-3; /* t_T / K = 0.1 s a step */
    struct outcome out = solve(&network);
    /* Work is conserved: 32 steps take 100 s of inference and 3.2 s of training. */
    assert_close("X", out.flow.steps_per_s, 32.0 / 103.2, 2e-3);
}

TEST(test_training_that_costs_nothing_changes_nothing)
{
    static const double costs[][2] = {{1e9, 1.0}, {100, 1e-9}, {1e6, 1e-5}};
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_network network = training_of(30, costs[i][0], costs[i][1]);
        struct outcome out = solve(&network);
        assert_close("X", out.flow.steps_per_s, out.alone.steps_per_s, 1e-6);
        assert_close("at CPU", out.flow.at_cpu, out.alone.at_cpu, 1e-6);
        CU_ASSERT_EQUAL(out.flags & (unsigned)FULCRUM_FLAG_ROUGH_BATCH, 0U);
    }
}

/* X = 1 / (t_T / K + g(b) / b): the GPU works on nothing else. */
TEST(test_a_learner_that_holds_up_conserves_work)
{
    static const double periods[] = {400, 3000, 50000};
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_network network = training_of(64, periods[i], 0.05 * periods[i]);
        struct outcome out = solve(&network);
        double batch = out.flow.steps_per_s / out.flow.batches_per_s;
        double each_s = 0.05 + (0.02 + 0.01 * batch) / batch;
        assert_close("X", out.flow.steps_per_s, 1.0 / each_s, 1e-9);
        assert_close(
            "GPU", out.flow.gpu_work_frac + 0.05 * out.flow.steps_per_s, 1.0, 1e-9);
        CU_ASSERT(batch >= out.shared.batch && batch <= 64.0);
        CU_ASSERT((out.flags & (unsigned)FULCRUM_FLAG_ROUGH_BATCH) != 0U);
    }
}

/* More training never helps, and no step of it is a leap. */
static void assert_even_fall(double period)
{
    enum { COSTS = 460 };
    double before = 0.0;
    for (int k = 0; k < COSTS; k++) {
        double each_s = 1e-6 * pow(1.03, (double)k);
        struct fulcrum_network network = training_of(64, period, each_s * period);
        double rate = solve(&network).flow.steps_per_s;
        CU_ASSERT(k == 0 || (rate <= before * 1.0005 && rate >= before * 0.955));
        before = rate;
    }
}

TEST(test_throughput_falls_evenly_with_training)
{
    assert_even_fall(100.0);
    assert_even_fall(2000.0);
    assert_even_fall(30000.0);
}

TEST(test_rough_training_is_flagged)
{
    static const unsigned mix = FULCRUM_FLAG_TRAINING_MIX;
    struct fulcrum_network network = training_of(64, 5000, 5.0);
    CU_ASSERT_EQUAL(solve(&network).flags & mix, 0U);
    network.training.queue_train_steps = 1.9;
    CU_ASSERT((solve(&network).flags & mix) != 0U);
    network.training.queue_train_steps = 10.0;
    network.training.env_steps_per_train_step = 20.0; /* less than three batches */
    network.training.train_step_s = 0.1;
    CU_ASSERT((solve(&network).flags & mix) != 0U);
}

static double steps_per_s(
    const struct fulcrum_network *network, enum fulcrum_method method)
{
    const struct fulcrum_solver_options options = {
        .method = method, .seed = 3, .half_width_rel = 0.004};
    struct fulcrum_solution solution = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_solve(network, &options, &solution, NULL));
    return solution.steps_per_s;
}

/* Inference of b takes g(b), with training beside it 2 / e times as long. */
TEST(test_a_lone_actor_shares_by_hand)
{
    /* Long train steps one after the other: inference never has the GPU alone. */
    static const double sharing[] = {0.5, 0.8, 1.0, 1.6};
    for (size_t i = 0; i < LENGTH(sharing); i++) {
        struct fulcrum_network network = training_of(1, 1.0, 1.0);
        network.step = (struct fulcrum_step){1.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
        network.gpu = (struct fulcrum_batch_time){.per_batch_s = 0.5};
        network.training.env_steps_per_train_step = 1000.0;
        network.training.train_step_s = 1e5;
        network.training.sharing_frac = sharing[i];
        /* K steps take t_T and what inference takes of it: work that sharing loses. */
        double train_s = 1e5 + 1000.0 * 0.5 * (2.0 / sharing[i] - 1.0);
        assert_close("held up", steps_per_s(&network, FULCRUM_METHOD_SIMULATE),
            1000.0 / train_s, 0.02);
    }
}

TEST(test_sharing_is_the_same_to_both_solvers)
{
    static const double sharing[] = {0.6, 0.85, 1.4};
    static const double periods[] = {30.0, 400.0, 5000.0};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct fulcrum_network network = training_of(16, periods[k], 0.0);
            network.training.train_step_s = 0.04 * periods[k];
            network.training.sharing_frac = sharing[i];
            assert_close("fast", steps_per_s(&network, FULCRUM_METHOD_FAST),
                steps_per_s(&network, FULCRUM_METHOD_SIMULATE), 0.03);
        }
    }
}

TEST(test_sharing_that_costs_more_slows_down)
{
    static const double sharing[] = {1.8, 1.0, 0.8, 0.6, 0.3};
    double before = (double)INFINITY;
    for (size_t i = 0; i < LENGTH(sharing); i++) {
        struct fulcrum_network network = training_of(16, 400, 16.0);
        network.training.sharing_frac = sharing[i];
        double rate = steps_per_s(&network, FULCRUM_METHOD_FAST);
        CU_ASSERT(rate < before);
        before = rate;
    }
    /* 0 stands for 1, which a network of an earlier version has. */
    struct fulcrum_network zero = training_of(16, 400, 16.0);
    struct fulcrum_network one = zero;
    zero.training.sharing_frac = 0.0;
    assert_close("zero", steps_per_s(&zero, FULCRUM_METHOD_FAST),
        steps_per_s(&one, FULCRUM_METHOD_FAST), 0.0);
}
