/* test_simulate.c - the simulation agrees with networks that have a closed form, and
 * its pipeline of host, GPU and delay with schedules by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/simulate/simulate.h"

#include <math.h>
#include <stdbool.h>

#include "model/fast/steady.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* The reference network: 256 actors on 40 threads, half of them to a batch. */
static struct fulcrum_network half_batch(double actors)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = 20,
            .thread_count = 40,
            .reserved_threads = 3.2,
            .smt_yield_frac = 0.24,
            .turbo_frac = 0.33,
            .oversubscription_frac = 0.02},
        .step = {2.2e-3, 0.55, FULCRUM_LAW_LOGNORMAL},
        .host = {.per_batch_s = 0.9e-3, .per_item_s = 44e-6},
        .gpu = {.per_batch_s = 0.94e-3, .per_item_s = 7.4e-6},
        .policy = FULCRUM_BATCH_FIXED,
        .batch_size = actors / 2.0,
        .depth = 2,
        .delay_s = 0.36e-3,
        .training = {3360, 0.19, 2.4}};
}

TEST(test_one_actor_goes_round_in_the_sum_of_its_times)
{
    static const struct fulcrum_step steps[] = {{1.0, 0.0, FULCRUM_LAW_DETERMINISTIC},
        {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL}, {1.0, 0.5, FULCRUM_LAW_LOGNORMAL},
        {1.0, 0.3, FULCRUM_LAW_ERLANG}, {1.0, 1.5, FULCRUM_LAW_HYPEREXPONENTIAL},
        {1.0, 0.0, FULCRUM_LAW_PARETO}};
    for (size_t i = 0; i < LENGTH(steps); i++) {
        struct fulcrum_network network = plain_network(1, 3, 0.3, 0.1);
        network.step = steps[i];
        network.host = (struct fulcrum_batch_time){.per_batch_s = 0.2};
        network.delay_s = 0.25;
        struct fulcrum_solution out = simulated(&network, 11, 0.004);
        /* Two half-widths; equal steps leave no noise but rounding. */
        assert_close("X", out.steps_per_s, 1.0 / 1.85, i == 0 ? 1e-9 : 0.008);
        assert_close("gpu", out.residence.gpu_s, 0.4, 0.001);
        assert_close("delay", out.residence.delay_s, 0.25, 0.001);
        assert_close("host", out.residence.host_s, 0.2, 0.001);
        CU_ASSERT_EQUAL(out.flags & FULCRUM_FLAG_NOT_SETTLED, 0);
        CU_ASSERT_EQUAL((out.flags & FULCRUM_FLAG_LOW_CV) != 0, i == 0);
    }
}

TEST(test_full_barrier_takes_turns)
{
    struct fulcrum_network network = plain_network(6, 2, 0.3, 0.1);
    network.step = (struct fulcrum_step){1.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 6;
    network.host = (struct fulcrum_batch_time){.per_batch_s = 0.5};
    network.delay_s = 0.1;
    struct fulcrum_solution out = simulated(&network, 11, 0.001);
    /* Three rounds on two servers, host .5, GPU .3 + 6 x .1, delay .1. */
    assert_close("X", out.steps_per_s, 6.0 / 4.5, 1e-9);
    assert_close("threads", out.cpu_thread_busy_frac, 3.0 / 4.5, 1e-9);
    assert_close("host", out.host_busy_frac, 0.5 / 4.5, 1e-9);
    assert_close("gpu", out.gpu_busy_frac, 0.9 / 4.5, 1e-9);
    assert_close("cpu", out.residence.cpu_s, 2.0, 1e-9);
    assert_close("barrier", out.residence.host_s, 1.5, 1e-9);
}

/* Two actors share a thread: one is done after 0.1 s, the other after 0.2 s. */
TEST(test_requests_gather_while_the_server_wakes_up)
{
    struct fulcrum_network network = plain_network(2, 1, 0.3, 0.1);
    network.step = (struct fulcrum_step){0.1, 0.0, FULCRUM_LAW_DETERMINISTIC};
    network.server_wake_s = 0.5;
    struct fulcrum_solution out = simulated(&network, 11, 0.001);
    /* The first request wakes the server, which then finds both. */
    assert_close("greedy", out.steps_per_s, 2.0 / (0.1 + 0.5 + 0.5), 1e-9);
    assert_close("batch", out.mean_batch, 2.0, 1e-9);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 2;
    out = simulated(&network, 11, 0.001);
    assert_close("fixed", out.steps_per_s, 2.0 / (0.2 + 0.5 + 0.5), 1e-9);
    /* A server that is awake takes one after the other: the step and 0.4 s each. */
    network.policy = FULCRUM_BATCH_GREEDY;
    network.batch_size = 0;
    network.server_wake_s = 0.0;
    out = simulated(&network, 11, 0.001);
    assert_close("awake", out.steps_per_s, 1.0 / 0.4, 1e-9);
    assert_close("batch", out.mean_batch, 1.0, 1e-9);
    /* A lone actor wakes it every time; equations and simulation agree. */
    network.actors = 1;
    network.server_wake_s = 0.5;
    network.server_wake_mean_s = 0.5;
    out = simulated(&network, 11, 0.001);
    assert_close("one", out.steps_per_s, 1.0 / (0.1 + 0.5 + 0.4), 1e-9);
    struct fulcrum_fast_room room = {.table.count = 0};
    ASSERT_OK(fulcrum_fast_solve(&network, &room, &out, NULL));
    assert_close("one, equations", out.steps_per_s, 1.0 / (0.1 + 0.5 + 0.4), 1e-9);
}

/* Four actors on a thread: the first one wakes the server for 0.4 s, then the others
 * step while it wakes up; without the waker's part each step has a quarter of it. */
TEST(test_the_first_request_pays_before_the_server_wakes_up)
{
    struct fulcrum_network network = plain_network(4, 1, 0.3, 0.1);
    network.own_step = (struct fulcrum_step){0.1, 0.0, FULCRUM_LAW_DETERMINISTIC};
    network.step = (struct fulcrum_step){0.2, 0.0, FULCRUM_LAW_DETERMINISTIC};
    network.server_wake_s = 0.5;
    network.waker_s = 0.4;
    struct fulcrum_solution out = simulated(&network, 11, 0.001);
    assert_close("X", out.steps_per_s, 4.0 / (0.1 + 0.4 + 0.5 + 0.7), 1e-9);
    assert_close("batch", out.mean_batch, 4.0, 1e-9);
    network.cpu.slice_s = 10.0;
    out = simulated(&network, 11, 0.001);
    assert_close("in slices", out.steps_per_s, 4.0 / (0.1 + 0.4 + 0.5 + 0.7), 1e-9);
    /* The third one is done 0.1 s too late for the batch where the thread was held. */
    network.server_wake_s = 0.15;
    out = simulated(&network, 11, 0.001);
    CU_ASSERT(out.mean_batch < 3.0);
    /* A thread for each: nobody is held up. */
    network = plain_network(4, 4, 0.3, 0.1);
    network.step = network.own_step =
        (struct fulcrum_step){0.1, 0.0, FULCRUM_LAW_DETERMINISTIC};
    network.server_wake_s = 0.5;
    network.waker_s = 0.4;
    out = simulated(&network, 11, 0.001);
    assert_close("apart", out.steps_per_s, 4.0 / (0.1 + 0.4 + 0.5 + 0.7), 1e-9);
}

/* The next request comes 0.1 s after the server began to wait, and costs nobody. */
TEST(test_a_server_that_has_just_begun_to_wait_polls)
{
    for (int slices = 0; slices < 2; slices++) {
        struct fulcrum_network network = plain_network(1, 1, 0.3, 0.1);
        network.step = network.own_step =
            (struct fulcrum_step){0.1, 0.0, FULCRUM_LAW_DETERMINISTIC};
        network.server_wake_s = 0.5;
        network.waker_s = 0.4;
        network.poll_wake_s = 0.05;
        network.poll_s = 0.09;
        network.cpu.slice_s = slices > 0 ? 10.0 : 0.0;
        struct fulcrum_solution out = simulated(&network, 11, 0.001);
        assert_close("asleep", out.steps_per_s, 1.0 / (0.1 + 0.4 + 0.5 + 0.4), 1e-9);
        network.poll_s = 0.11;
        out = simulated(&network, 11, 0.001);
        assert_close("polls", out.steps_per_s, 1.0 / (0.1 + 0.05 + 0.4), 1e-9);
        network.policy = FULCRUM_BATCH_FIXED;
        network.batch_size = 1;
        out = simulated(&network, 11, 0.001);
        assert_close("fixed", out.steps_per_s, 1.0 / (0.1 + 0.05 + 0.4), 1e-9);
        /* Two on a thread, batches of one: after 0.4 s the other one has long asked. */
        network.actors = 2;
        out = simulated(&network, 11, 0.001);
        assert_close("busy", out.steps_per_s, 1.0 / 0.4, 1e-9);
        /* Where steps are longer the thread is held, but not by a server that polls. */
        network.step.mean_s = network.own_step.mean_s = 0.5;
        network.poll_s = 0.0;
        out = simulated(&network, 11, 0.001);
        assert_close("held", out.steps_per_s, 1.0 / (0.5 + 0.4), 1e-9);
        network.poll_s = 0.2;
        network.waker_s = 7.0;
        out = simulated(&network, 11, 0.001);
        assert_close("not held", out.steps_per_s, 1.0 / 0.5, 1e-9);
    }
}

TEST(test_depth_overlaps_host_and_gpu)
{
    /* No time on the CPU: batches of 1 from 8 actors, host .2, GPU .4. */
    static const double cases[][2] = {{1, 1.0 / 0.6}, {2, 1.0 / 0.4}, {3, 1.0 / 0.4}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = plain_network(8, 8, 0.3, 0.1);
        network.step = (struct fulcrum_step){0.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
        network.host = (struct fulcrum_batch_time){.per_batch_s = 0.2};
        network.batch_size = 1;
        network.depth = cases[i][0];
        struct fulcrum_solution out = simulated(&network, 11, 0.001);
        assert_close("X", out.steps_per_s, cases[i][1], 1e-6);
        assert_close("batch", out.mean_batch, 1.0, 1e-12);
    }
}

TEST(test_training_takes_its_share_of_the_gpu)
{
    /* One actor, steps of .6, batches of .4: training takes .3 every 10 steps. It
       stretches the batches it meets, by as much GPU time as it gets from them. */
    struct fulcrum_network network = plain_network(1, 1, 0.3, 0.1);
    network.step = (struct fulcrum_step){0.6, 0.0, FULCRUM_LAW_DETERMINISTIC};
    network.training = (struct fulcrum_training){10, 0.3, 2, 1.0};
    struct fulcrum_solution out = simulated(&network, 11, 0.001);
    /* It starts with a batch and both share: .3 of it by .6 s, then .1 alone: .7 s. */
    assert_close("X", out.steps_per_s, 10.0 / 10.3, 1e-9);
    assert_close("train", out.gpu_train_busy_frac, 0.3 / 10.3, 1e-9);
    assert_close("inference", out.gpu_inference_busy_frac, 4.0 / 10.3, 1e-9);
    /* A learner that cannot keep up blocks the actors: the GPU is busy all the time. */
    network = plain_network(16, 16, 0.3, 0.1);
    network.step.law = FULCRUM_LAW_EXPONENTIAL;
    network.step.mean_s = 0.1;
    network.training = (struct fulcrum_training){100, 500, 2.4, 1.0};
    out = simulated(&network, 11, 0.002);
    assert_close("gpu", out.gpu_busy_frac, 1.0, 0.002);
    assert_close("learner", out.steps_per_s,
        (1.0 - out.gpu_inference_busy_frac) * 100.0 / 500.0, 0.005);
}

/* A learner that is 3 % too slow lets the actors run ahead for a hundred train steps
 * before it blocks them. */
TEST(test_a_backlog_that_builds_up_is_not_taken_for_speed)
{
    struct fulcrum_network network = half_batch(256);
    network.training.train_step_s = 0.297;
    struct fulcrum_solution out = simulated(&network, 11, 0.01);
    double learner =
        1.0 / (0.297 / 3360.0 + fulcrum_batch_time(&network.gpu, 128.0) / 128.0);
    assert_close("X", out.steps_per_s, learner, 0.005);
    assert_close("gpu", out.gpu_busy_frac, 1.0, 0.005);
}

TEST(test_fractional_servers_are_rounded_and_said_so)
{
    struct fulcrum_network network = plain_network(8, 4, 0.3, 0.1);
    network.gpu = (struct fulcrum_batch_time){.count = 0};
    network.delay_s = 1.0;
    network.cpu.reserved_threads = 0.5;
    CU_ASSERT(simulated(&network, 11, 0.01).flags & FULCRUM_FLAG_SERVERS_ROUNDED);
    network.cpu.reserved_threads = 3.9;
    CU_ASSERT(simulated(&network, 11, 0.01).flags & FULCRUM_FLAG_SERVERS_ROUNDED);
    network.cpu.reserved_threads = 1.0;
    CU_ASSERT_EQUAL(simulated(&network, 11, 0.01).flags, 0);
}

TEST(test_same_seed_gives_the_same_bytes)
{
    struct fulcrum_network network = half_batch(64);
    struct fulcrum_solution first = simulated(&network, 11, 0.01);
    struct fulcrum_solution second = simulated(&network, 11, 0.01);
    CU_ASSERT_EQUAL(first.steps_per_s, second.steps_per_s);
    CU_ASSERT_EQUAL(first.steps_per_s_hi, second.steps_per_s_hi);
    CU_ASSERT_EQUAL(first.cpu_thread_busy_frac, second.cpu_thread_busy_frac);
    CU_ASSERT_EQUAL(first.residence.gpu_s, second.residence.gpu_s);
    CU_ASSERT_EQUAL(first.simulated_steps, second.simulated_steps);
    second = simulated(&network, 12, 0.0);
    CU_ASSERT_NOT_EQUAL(first.steps_per_s, second.steps_per_s);
    assert_close("seeds", second.steps_per_s, first.steps_per_s, 0.04);
}

TEST(test_short_runs_say_that_they_are_not_settled)
{
    static const double most[] = {1.0, 5000.0, 50000.0};
    struct fulcrum_network network = half_batch(256);
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_solution out = simulated_within(&network, 0, 0.0, most[i]);
        CU_ASSERT(out.flags & FULCRUM_FLAG_NOT_SETTLED);
        CU_ASSERT(out.simulated_steps <= fmax(most[i], 4.0 * network.actors));
        CU_ASSERT(isfinite(out.steps_per_s) && isfinite(out.mean_batch));
    }
}

TEST(test_runs_end_with_the_interval_asked_for)
{
    static const double half_widths[] = {0.03, 0.01, 0.003, 0.001};
    double steps = 0.0;
    for (size_t i = 0; i < LENGTH(half_widths); i++) {
        struct fulcrum_network network = half_batch(16);
        struct fulcrum_solution out = simulated(&network, 11, half_widths[i]);
        CU_ASSERT_EQUAL(out.flags & FULCRUM_FLAG_NOT_SETTLED, 0);
        CU_ASSERT(out.has_interval);
        CU_ASSERT(out.steps_per_s_hi <= out.steps_per_s * (1.0 + half_widths[i]));
        CU_ASSERT(out.steps_per_s_lo >= out.steps_per_s * (1.0 - half_widths[i]));
        CU_ASSERT(out.simulated_steps >= steps); /* never for less work */
        steps = out.simulated_steps;
    }
    CU_ASSERT(steps > 1e5);
}

/* Far from what machines do, each with an answer that can be told by hand. */
TEST(test_extremes_have_their_answers)
{
    static const struct {
        const char *what;
        double actors;
        double servers;
        struct fulcrum_step step;
        double host[2]; /* per batch and per item */
        double gpu[2];
        double depth;
        double delay_s;
        double steps_per_s;
    } cases[] = {
        {"a million actors", 1e6, 500, {1.0, 0.0, FULCRUM_LAW_EXPONENTIAL}, {0, 0},
            {1e-3, 1e-9}, 1, 0, 500},
        {"depth 16", 64, 64, {1e-6, 0.0, FULCRUM_LAW_DETERMINISTIC}, {0, 0.2}, {0, 0.4},
            16, 0, 2.5},
        {"delay", 10, 4, {1e-6, 0.5, FULCRUM_LAW_LOGNORMAL}, {1e-6, 0}, {1e-6, 0}, 2,
            10, 1},
        {"long steps", 8, 8, {10.0, 0.5, FULCRUM_LAW_ERLANG}, {1e-6, 0}, {1e-6, 0}, 1,
            0, 0.8},
        {"long batches", 8, 8, {1e-6, 0.5, FULCRUM_LAW_LOGNORMAL}, {0, 0}, {0, 10}, 1,
            0, 0.1},
        {"no steps", 8, 2, {0.0, 0.0, FULCRUM_LAW_EXPONENTIAL}, {0, 0}, {0, 0}, 1, 0.5,
            16},
        /* Nobody waits, so that the law does not matter. */
        {"cv 5", 64, 64, {1.0, 5.0, FULCRUM_LAW_HYPEREXPONENTIAL}, {0, 0}, {0, 0}, 1, 1,
            32},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network =
            plain_network(cases[i].actors, cases[i].servers, 0.3, 0.1);
        network.step = cases[i].step;
        network.host.per_batch_s = cases[i].host[0];
        network.host.per_item_s = cases[i].host[1];
        network.gpu.per_batch_s = cases[i].gpu[0];
        network.gpu.per_item_s = cases[i].gpu[1];
        network.depth = cases[i].depth;
        network.delay_s = cases[i].delay_s;
        struct fulcrum_solution out = simulated_within(&network, 5, 0.0, 2e6);
        assert_close(cases[i].what, out.steps_per_s, cases[i].steps_per_s, 0.015);
        CU_ASSERT(out.simulated_steps <= fmax(2e6, 4.0 * network.actors));
    }
}

/* The GPU never rests: a step costs .1 of inference, train_step_s / K of training. */
TEST(test_many_train_steps_for_an_env_step_take_no_longer)
{
    static const double periods[] = {1e-6, 1e-3, 0.3, 1.0, 7.5};
    for (size_t i = 0; i < LENGTH(periods); i++) {
        struct fulcrum_network network = plain_network(6, 6, 0.3, 0.1);
        network.step.mean_s = 0.001;
        network.gpu = (struct fulcrum_batch_time){.per_item_s = 0.1};
        network.training =
            (struct fulcrum_training){periods[i], 0.5 * periods[i], 1.0, 1.0};
        struct fulcrum_solution out = simulated_within(&network, 0, 0.0, 2e5);
        assert_close("X", out.steps_per_s, 1.0 / 0.6, 0.01);
        assert_close("training", out.gpu_train_busy_frac, 0.5 / 0.6, 0.01);
    }
}

static bool is_frac(double value)
{
    return value >= 0.0 && value <= 1.0 + 1e-9;
}

TEST(test_every_network_obeys_little_and_its_bounds)
{
    for (int i = 0; i < 24; i++) {
        struct fulcrum_network network = half_batch(8.0 * (double)(1 + i));
        network.policy = i % 2 ? FULCRUM_BATCH_FIXED : FULCRUM_BATCH_GREEDY;
        network.batch_size = i % 3 ? 4.0 : network.batch_size;
        network.depth = 1.0 + (double)(i % 3);
        network.training.env_steps_per_train_step = i % 4 ? 0.0 : 1000.5;
        network.step.law = (enum fulcrum_step_law)(i % 6);
        network.step.cv = i % 6 == 4 ? 2.0 : (double)(i % 6 != 2);
        network.cpu.curve = (enum fulcrum_cpu_curve)(i % 3);
        network.cpu.knee = 2.0;
        network.cpu.cap_per_core = 1.25;
        network.cpu.cross_socket_frac = 0.9;
        struct fulcrum_solution out = simulated(&network, 11, 0.02);
        const struct fulcrum_residence *time = &out.residence;
        double round_s = time->cpu_s + time->host_s + time->gpu_s + time->delay_s;
        assert_close("N = X R", out.steps_per_s * round_s, network.actors, 1e-6);
        assert_close("delay", time->delay_s, network.delay_s, 0.02);
        double size = out.mean_batch;
        assert_close("host work", out.host_busy_frac,
            out.steps_per_s / size * fulcrum_batch_time(&network.host, size), 0.02);
        assert_close("gpu work", out.gpu_inference_busy_frac,
            out.steps_per_s / size * fulcrum_batch_time(&network.gpu, size), 0.02);
        CU_ASSERT(is_frac(out.cpu_thread_busy_frac) && is_frac(out.cpu_core_busy_frac));
        CU_ASSERT(is_frac(out.host_busy_frac) && is_frac(out.gpu_busy_frac));
        CU_ASSERT(out.steps_per_s_lo <= out.steps_per_s &&
                  out.steps_per_s <= out.steps_per_s_hi);
        CU_ASSERT(
            out.steps_per_s * network.step.mean_s <=
            1.01 * fulcrum_cpu_capacity(&network.cpu, fmin(36.8, network.actors)));
    }
}

TEST(test_half_batch_gains_match_the_prototype)
{
    double rate[3];
    static const double actors[] = {4, 40, 256};
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_network network = half_batch(actors[i]);
        rate[i] = simulated(&network, 11, 0.005).steps_per_s;
    }
    /* docs/model.md "Fits": 5.83 and 2.00, found by another program. */
    assert_close("X(40)/X(4)", rate[1] / rate[0], 5.83, 0.015);
    assert_close("X(256)/X(40)", rate[2] / rate[1], 2.00, 0.015);
}

/* The pipeline alone. */

/* The next event lies at `time_s` and sends `actors` to step. */
static void assert_event(
    struct fulcrum_pipeline *pipeline, double time_s, size_t actors)
{
    assert_close("event", pipeline->next_s, time_s, 1e-12);
    fulcrum_pipeline_advance(pipeline, pipeline->next_s);
    CU_ASSERT_EQUAL(fulcrum_pipeline_event(pipeline), actors);
}

TEST(test_an_empty_pipeline_waits_for_ever)
{
    const struct fulcrum_network network = {.actors = 4, .depth = 1};
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    CU_ASSERT(isinf(pipeline.next_s));
    CU_ASSERT(isinf(pipeline.train_at_steps));
    CU_ASSERT_EQUAL(fulcrum_pipeline_backlog(&pipeline, 100.0), 0.0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 100.0));
    fulcrum_pipeline_clear(&pipeline);
}

/* Two items: 1 + 2 x 0.5 s on the GPU, then 2 s of delay. */
TEST(test_a_batch_passes_gpu_and_delay)
{
    const struct fulcrum_network network = {.actors = 4,
        .depth = 1,
        .gpu = {.per_batch_s = 1.0, .per_item_s = 0.5},
        .delay_s = 2.0};
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    fulcrum_pipeline_start(&pipeline, 2);
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 2.0, 0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 4.0, 2);
    assert_close("GPU", pipeline.sums.inference_busy_s, 2.0, 1e-12);
    assert_close("GPU items", pipeline.sums.gpu_item_s, 4.0, 1e-12);
    assert_close("delayed items", pipeline.sums.delay_item_s, 4.0, 1e-12);
    CU_ASSERT_EQUAL(pipeline.sums.batch_count, 1.0);
    CU_ASSERT_EQUAL(pipeline.sums.item_count, 2.0);
    fulcrum_pipeline_clear(&pipeline);
}

/* 1 s of host and 3 s of GPU a batch: the second waits for the GPU from 2 s to 4 s. */
TEST(test_the_host_works_ahead_by_the_depth)
{
    const struct fulcrum_network network = {.actors = 4,
        .depth = 2,
        .host = {.per_batch_s = 1.0},
        .gpu = {.per_batch_s = 3.0}};
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    fulcrum_pipeline_start(&pipeline, 1);
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 1.0, 0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 0.0));
    fulcrum_pipeline_start(&pipeline, 1);
    assert_event(&pipeline, 2.0, 0);
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 4.0, 1);
    assert_event(&pipeline, 7.0, 1);
    assert_close("host", pipeline.sums.host_busy_s, 2.0, 1e-12);
    assert_close("GPU", pipeline.sums.inference_busy_s, 6.0, 1e-12);
    assert_close("GPU items", pipeline.sums.gpu_item_s, 3.0 + 5.0, 1e-12);
    fulcrum_pipeline_clear(&pipeline);
}

static const struct fulcrum_network training = {.actors = 4,
    .depth = 1,
    .gpu = {.per_batch_s = 1.0},
    .training = {.env_steps_per_train_step = 10.0,
        .train_step_s = 3.0,
        .queue_train_steps = 2.0}};

/* Half the GPU each until inference ends at 2 s; 2 s of training are left alone. */
TEST(test_inference_and_training_share_the_gpu)
{
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &training, NULL));
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 10.0);
    CU_ASSERT(isinf(pipeline.next_s));
    fulcrum_pipeline_train(&pipeline);
    CU_ASSERT(isinf(pipeline.train_at_steps));
    CU_ASSERT_EQUAL(pipeline.next_s, 3.0);
    fulcrum_pipeline_start(&pipeline, 3);
    assert_event(&pipeline, 2.0, 3);
    assert_event(&pipeline, 4.0, 0);
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 20.0);
    assert_close("inference", pipeline.sums.inference_busy_s, 1.0, 1e-12);
    assert_close("training", pipeline.sums.train_busy_s, 3.0, 1e-12);
    fulcrum_pipeline_clear(&pipeline);
}

/* Two train steps of 10 may wait; the one under way counts by what is left of it. */
TEST(test_a_backlog_of_training_blocks_batches)
{
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &training, NULL));
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 19.0));
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 20.0));
    assert_close("idle", fulcrum_pipeline_backlog(&pipeline, 19.0), 19.0, 1e-12);
    fulcrum_pipeline_train(&pipeline);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 20.0));
    assert_close("begun", fulcrum_pipeline_backlog(&pipeline, 20.0), 20.0, 1e-12);
    fulcrum_pipeline_advance(&pipeline, 1.5);
    assert_close("half", fulcrum_pipeline_backlog(&pipeline, 20.0), 15.0, 1e-12);
    fulcrum_pipeline_clear(&pipeline);
}

/* 7.5 steps each: counts of steps are whole, and the second needs 15, not 16. */
TEST(test_the_learner_takes_steps_that_are_not_whole)
{
    struct fulcrum_network network = training;
    network.training.env_steps_per_train_step = 7.5;
    network.training.queue_train_steps = 1.5;
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 8.0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 11.0));
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 12.0));
    fulcrum_pipeline_train(&pipeline);
    assert_event(&pipeline, 3.0, 0);
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 15.0);
    fulcrum_pipeline_clear(&pipeline);
}
