/* test_agent.c - trajectories of agents beside closed forms, and bad networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/agent.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

/* Decoding 4 s of a turn alone, 2 s of calls, 1 s of delay; 10 turns; 3 s to start. */
static struct fulcrum_agent_network plain(double live)
{
    return (struct fulcrum_agent_network){.live_count = live,
        .decode = {.instance_count = 2.0, .per_token_s = 0.039, .per_item_s = 0.001},
        .cpu = {.core_count = 8.0, .thread_count = 8.0},
        .trajectory = {.turn_count = 10.0,
            .output_tokens = 100.0,
            .output_cv = 0.5,
            .tool_s = 2.0,
            .tool_cv = 1.0,
            .delay_s = 1.0,
            .start_s = 3.0}};
}

static struct fulcrum_agent_solution solved(
    const struct fulcrum_agent_network *network, enum fulcrum_method method)
{
    struct fulcrum_agent_solution out = {.flags = 0};
    const struct fulcrum_solver_options options = {
        .method = method, .seed = 7, .half_width_rel = 0.005};
    ASSERT_OK(fulcrum_agent_check(network, NULL));
    ASSERT_OK(fulcrum_agent_solve(network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, method);
    return out;
}

TEST(test_one_trajectory_takes_the_sum_of_its_times)
{
    struct fulcrum_agent_network network = plain(1.0);
    const double cycle_s = 3.0 + 10.0 * (4.0 + 2.0 + 1.0);
    struct fulcrum_agent_solution fast = solved(&network, FULCRUM_METHOD_FAST);
    struct fulcrum_agent_solution exact = solved(&network, FULCRUM_METHOD_PRODUCT_FORM);
    struct fulcrum_agent_solution judge = solved(&network, FULCRUM_METHOD_SIMULATE);
    assert_close("fast", fast.trajectories_per_s, 1.0 / cycle_s, 1e-9);
    assert_close("exact", exact.trajectories_per_s, 1.0 / cycle_s, 1e-9);
    assert_close("simulated", judge.trajectories_per_s, 1.0 / cycle_s, 0.01);
    assert_close("decoding", exact.load.decoding, 40.0 / cycle_s, 1e-9);
    assert_close("at tools", fast.load.at_tools, 20.0 / cycle_s, 1e-9);
    assert_close("delayed", judge.load.delayed, 10.0 / cycle_s, 0.03);
    assert_close("starting", judge.load.starting, 3.0 / cycle_s, 0.03);
}

/* What is busy all the time sets the pace. */
TEST(test_the_busiest_part_bounds_the_rate)
{
    static const enum fulcrum_method methods[] = {
        FULCRUM_METHOD_FAST, FULCRUM_METHOD_PRODUCT_FORM, FULCRUM_METHOD_SIMULATE};
    for (size_t i = 0; i < LENGTH(methods); i++) {
        /* 8 threads, 20 s of calls each. */
        struct fulcrum_agent_network tools = plain(300.0);
        assert_close(
            "tools", solved(&tools, methods[i]).trajectories_per_s, 8.0 / 20.0, 0.006);
        /* 5 starts at once, 3 s each; much of everything else. */
        struct fulcrum_agent_network starts = plain(400.0);
        starts.cpu.core_count = starts.cpu.thread_count = 400.0;
        starts.decode.instance_count = 300.0;
        starts.start_limit = 5.0;
        starts.trajectory.turn_count = 1.0;
        assert_close(
            "starts", solved(&starts, methods[i]).trajectories_per_s, 5.0 / 3.0, 0.006);
        /* One instance that holds 4 at once, each token of all 4 takes 43 ms. */
        struct fulcrum_agent_network decode = plain(60.0);
        decode.cpu.core_count = decode.cpu.thread_count = 60.0;
        decode.decode.instance_count = 1.0;
        decode.decode.most_items = 4.0;
        decode.trajectory.output_cv = 0.0;
        assert_close("decode", solved(&decode, methods[i]).trajectories_per_s,
            4.0 / (1000.0 * (0.039 + 4.0 * 0.001)), 0.006);
    }
}

/* Prompts that are not in the cache keep all of an instance waiting. */
TEST(test_prompts_take_the_time_of_their_instance)
{
    struct fulcrum_agent_network network = plain(1.0);
    network.trajectory.prompt_tokens = 500.0;
    network.decode.per_prompt_s = 1e-3;
    double cycle_s = 3.0 + 10.0 * (4.0 + 0.5 + 2.0 + 1.0);
    assert_close("fast", solved(&network, FULCRUM_METHOD_FAST).trajectories_per_s,
        1.0 / cycle_s, 1e-9);
    assert_close("simulated",
        solved(&network, FULCRUM_METHOD_SIMULATE).trajectories_per_s, 1.0 / cycle_s,
        0.01);
}

/* Of constant turns all end together: a cycle is a trajectory and a training step. */
TEST(test_a_batch_of_equal_trajectories_ends_at_once)
{
    struct fulcrum_agent_network network = plain(8.0);
    network.trajectory = (struct fulcrum_agent_trajectory){
        .turn_count = 1.0, .output_tokens = 100.0, .tool_s = 2.0};
    network.decode.instance_count = 8.0;
    network.trainer = (struct fulcrum_agent_trainer){.coupling = FULCRUM_AGENT_IN_TURNS,
        .batch_size = 8.0,
        .group_size = 4.0,
        .train_s = 5.0,
        .switch_s = 1.0};
    static const enum fulcrum_method methods[] = {
        FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE};
    for (size_t i = 0; i < LENGTH(methods); i++) {
        struct fulcrum_agent_solution out = solved(&network, methods[i]);
        assert_close("in turns", out.cycle_s, 6.0 + 5.0 + 1.0, 1e-3);
        assert_close("trainer", out.train_busy_frac, 5.0 / 12.0, 1e-3);
        assert_close("rate", out.trajectories_per_s, 8.0 / 12.0, 1e-3);
        assert_close("staleness", out.staleness, 0.0, 1e-9);
    }
    network.trainer.coupling = FULCRUM_AGENT_ONE_OFF;
    for (size_t i = 0; i < LENGTH(methods); i++) {
        assert_close("one off", solved(&network, methods[i]).cycle_s, 6.0 + 1.0, 1e-3);
    }
    /* The trainer is slower, and nothing else matters. */
    network.trainer.train_s = 50.0;
    for (size_t i = 0; i < LENGTH(methods); i++) {
        struct fulcrum_agent_solution out = solved(&network, methods[i]);
        assert_close("one off", out.cycle_s, 50.0 + 1.0, 1e-3);
    }
}

/* Who has not begun when a step ends does not see it end. */
TEST(test_a_batch_that_begins_by_and_by_is_less_stale)
{
    struct fulcrum_agent_network network = plain(20.0);
    network.trainer = (struct fulcrum_agent_trainer){.coupling = FULCRUM_AGENT_ONE_OFF,
        .batch_size = 120.0,
        .group_size = 1.0,
        .train_s = 100.0};
    struct fulcrum_agent_solution fast = solved(&network, FULCRUM_METHOD_FAST);
    struct fulcrum_agent_solution judge = solved(&network, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT(judge.staleness < 0.6);
    assert_close("staleness", fast.staleness, judge.staleness, 0.15);
}

TEST(test_a_run_that_gets_nowhere_is_refused)
{
    struct fulcrum_agent_network network = plain(4.0);
    struct fulcrum_agent_solution out;
    const struct fulcrum_solver_options options = {
        .method = FULCRUM_METHOD_SIMULATE, .max_steps = 1000.0};
    network.trajectory.turn_count = 1e6;
    ASSERT_FAILS(fulcrum_agent_solve(&network, &options, &out, &err),
        FULCRUM_ERR_UNSUPPORTED, "events are too few");
}

/* A stream that may run ahead keeps the slower of the two busy all the time. */
TEST(test_a_stream_runs_at_the_pace_of_the_slower_side)
{
    struct fulcrum_agent_network network = plain(64.0);
    double alone_per_s = solved(&network, FULCRUM_METHOD_FAST).trajectories_per_s;
    network.trainer = (struct fulcrum_agent_trainer){.coupling = FULCRUM_AGENT_STREAM,
        .batch_size = 32.0,
        .group_size = 4.0,
        .train_s = 0.2 * 32.0 / alone_per_s,
        .staleness = 8.0};
    static const enum fulcrum_method methods[] = {
        FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE};
    for (size_t i = 0; i < LENGTH(methods); i++) {
        assert_close("rollouts", solved(&network, methods[i]).trajectories_per_s,
            alone_per_s, 0.02);
    }
    network.trainer.train_s = 3.0 * 32.0 / alone_per_s;
    for (size_t i = 0; i < LENGTH(methods); i++) {
        struct fulcrum_agent_solution out = solved(&network, methods[i]);
        assert_close("trainer", out.cycle_s, network.trainer.train_s, 0.01);
        assert_close("busy", out.train_busy_frac, 1.0, 0.01);
        CU_ASSERT(out.staleness <= 8.0 + 1e-9);
        CU_ASSERT(out.staleness > 6.0);
    }
}

TEST(test_the_same_seed_gives_the_same_run)
{
    struct fulcrum_agent_network network = plain(40.0);
    struct fulcrum_agent_solution first = solved(&network, FULCRUM_METHOD_SIMULATE);
    struct fulcrum_agent_solution second = solved(&network, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT_EQUAL(first.trajectories_per_s, second.trajectories_per_s);
    CU_ASSERT_EQUAL(first.load.decoding, second.load.decoding);
}

TEST(test_auto_simulates_what_equations_are_not_sure_of)
{
    struct fulcrum_agent_network network = plain(40.0);
    struct fulcrum_agent_solution out = {.flags = 0};
    struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_AUTO};
    ASSERT_OK(fulcrum_agent_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
    network.trainer = (struct fulcrum_agent_trainer){.coupling = FULCRUM_AGENT_IN_TURNS,
        .batch_size = 40.0,
        .group_size = 1.0,
        .train_s = 10.0};
    ASSERT_OK(fulcrum_agent_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
    options.half_width_rel = 0.02;
    ASSERT_OK(fulcrum_agent_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_SIMULATE);
    options.half_width_rel = 0.2;
    ASSERT_OK(fulcrum_agent_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
}

/* More calls than threads get in each other's way: the exact solution is near. */
TEST(test_a_cpu_that_falls_behind_is_solved_exactly)
{
    struct fulcrum_agent_network network = plain(300.0);
    network.cpu.oversubscription_frac = 0.5;
    struct fulcrum_agent_solution out = {.flags = 0};
    struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_AUTO};
    ASSERT_OK(fulcrum_agent_solve(&network, &options, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_PRODUCT_FORM);
    struct fulcrum_agent_solution judge = solved(&network, FULCRUM_METHOD_SIMULATE);
    assert_close("rate", out.trajectories_per_s, judge.trajectories_per_s, 0.01);
    /* Few are convolved, whatever c(n) does. */
    network.live_count = 48.0;
    assert_close("few", solved(&network, FULCRUM_METHOD_FAST).trajectories_per_s,
        solved(&network, FULCRUM_METHOD_PRODUCT_FORM).trajectories_per_s, 1e-9);
}

/* What nobody would ask for takes no time either. */
TEST(test_extremes_have_an_answer)
{
    struct fulcrum_agent_network network = plain(1e7);
    static const double oversubscription_fracs[] = {0.0, 10.0};
    for (size_t i = 0; i < LENGTH(oversubscription_fracs); i++) {
        network.cpu.oversubscription_frac = oversubscription_fracs[i];
        network.trainer.coupling = FULCRUM_AGENT_ALONE;
        CU_ASSERT(solved(&network, FULCRUM_METHOD_FAST).trajectories_per_s > 0.0);
        for (int coupling = FULCRUM_AGENT_IN_TURNS; coupling <= FULCRUM_AGENT_STREAM;
             coupling++) {
            network.trainer =
                (struct fulcrum_agent_trainer){(enum fulcrum_agent_coupling)coupling,
                    .batch_size = 1e7, .group_size = 1e5, .train_s = 1e6};
            struct fulcrum_agent_solution out = solved(&network, FULCRUM_METHOD_FAST);
            CU_ASSERT(out.trajectories_per_s > 0.0 && isfinite(out.cycle_s));
        }
    }
}

TEST(test_what_a_method_cannot_take_is_refused)
{
    struct fulcrum_agent_network network = plain(40.0);
    struct fulcrum_agent_solution out;
    struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_CHAIN};
    ASSERT_FAILS(fulcrum_agent_solve(&network, &options, &out, &err),
        FULCRUM_ERR_UNSUPPORTED, "no method chain");
    options.method = FULCRUM_METHOD_PRODUCT_FORM;
    network.live_count = 1e6;
    ASSERT_FAILS(fulcrum_agent_solve(&network, &options, &out, &err),
        FULCRUM_ERR_UNSUPPORTED, "up to 20000");
    network.trainer.coupling = FULCRUM_AGENT_STREAM;
    ASSERT_FAILS(fulcrum_agent_solve(&network, &options, &out, &err),
        FULCRUM_ERR_UNSUPPORTED, "takes no trainer");
}

TEST(test_a_network_that_cannot_be_is_told_so)
{
    struct fulcrum_agent_network network = plain(0.0);
    network.decode.per_token_s = (double)NAN;
    network.trajectory.turn_count = 0.0;
    network.trajectory.output_tokens = -1.0;
    network.cpu.thread_count = 4.0;
    struct fulcrum_error faults = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(fulcrum_agent_check(&network, &faults), FULCRUM_ERR_RANGE);
    static const char *const parts[] = {"live_count = 0", "decode.per_token_s = nan",
        "trajectory.turn_count = 0", "trajectory.output_tokens = -1",
        "cpu.threads = 4 is below cpu.cores = 8"};
    for (size_t i = 0; i < LENGTH(parts); i++) {
        assert_part(faults.detail, parts[i]);
    }
    network = plain(4.0);
    network.trajectory = (struct fulcrum_agent_trajectory){.turn_count = 1.0};
    ASSERT_FAILS(fulcrum_agent_check(&network, &err), FULCRUM_ERR_INFEASIBLE,
        "nothing takes time");
    network = plain(4.0);
    network.trainer = (struct fulcrum_agent_trainer){.coupling = FULCRUM_AGENT_STREAM,
        .batch_size = 10.0,
        .group_size = 4.0,
        .train_s = 1.0};
    ASSERT_FAILS(fulcrum_agent_check(&network, &err), FULCRUM_ERR_INFEASIBLE,
        "expected whole groups of 4");
}
