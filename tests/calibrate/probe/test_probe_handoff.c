/* test_probe_handoff.c - what passing requests costs, and batches after a pause. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nothing is asked of times but their signs and orders: a busy machine has any. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "calibrate/actor/placement.h"
#include "calibrate/actor/request_queue.h"
#include "calibrate/probe/calibrate.h"
#include "calibrate/probe/probe.h"
#include "calibrate/stopwatch.h"
#include "tests/support/probing.h"
#include "tests/support/suite.h"

enum { PAUSES = 7 };

static const char *const paths[] = {"workload.host.per_batch_s",
    "workload.host.per_request_s", "workload.host.per_item_s", "workload.host.actor_s",
    "workload.host.wake_s", "workload.host.delay_s"};

enum { PATH_COUNT = LENGTH(paths) };

static const struct fulcrum_calibrate_options cheap = {
    .actor = "cartpole", .network = FULCRUM_NETWORK_MLP, .seed = 5};

/* Visits the probe so often, with no time beyond what a visit must do. */
static struct fulcrum_calibration *probe(struct fulcrum_bench *bench, int visits)
{
    return probing_run(&fulcrum_probe_handoff, bench, visits, 0.0);
}

static void assert_parameter(
    const struct fulcrum_calibration *calibration, const char *path)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, path);
    CU_ASSERT_PTR_NOT_NULL(parameter);
    if (parameter != NULL) {
        CU_ASSERT(parameter->value >= 0.0 && parameter->value < 1.0);
        CU_ASSERT(parameter->standard_error >= 0.0);
        CU_ASSERT(isfinite(parameter->standard_error));
        CU_ASSERT(strlen(parameter->source) > 20);
    }
}

static void assert_series(const struct fulcrum_calibration *calibration,
    const char *name, const char *under, size_t count)
{
    const struct fulcrum_series *series = probing_series(calibration, name, under);
    CU_ASSERT_PTR_NOT_NULL(series);
    if (series != NULL) {
        CU_ASSERT_EQUAL(series->count, count);
    }
}

/* Whatever an environment shows, its bytes and not their copies into floats are what
 * servers copy and networks take in. Without an emulator there is nothing to see. */
TEST(test_a_perceptron_takes_images_as_they_are)
{
    struct fulcrum_calibrate_options options = cheap;
    struct fulcrum_bench bench;
    options.actor = "libretro";
    if (fulcrum_bench_open(&bench, &options, NULL) == FULCRUM_OK) {
        size_t byte = fulcrum_observation_byte(&bench.stage.info);
        CU_ASSERT_EQUAL(byte, (size_t)84 * 84 * 4);
        CU_ASSERT_EQUAL(bench.learner_info.input_byte, byte);
    }
    fulcrum_bench_close(&bench);
}

/* The first visit takes every size and the larger requests, whatever the time. */
TEST(test_one_visit_tells_every_part)
{
    struct fulcrum_bench bench;
    ASSERT_OK(fulcrum_bench_open(&bench, &cheap, NULL));
    struct fulcrum_calibration *calibration = probe(&bench, 1);
    for (size_t i = 0; i < PATH_COUNT; i++) {
        assert_parameter(calibration, paths[i]);
    }
    assert_series(calibration, "handoff_server", "alone", 5);
    assert_series(calibration, "handoff_actor", "alone", 5);
    assert_series(calibration, "handoff_server", "4 observations", 1);
    assert_series(calibration, "handoff_sleep", "one actor", 1);
    assert_series(calibration, "handoff_idle", "alone", 5);
    struct fulcrum_placement placement = {.is_apart = 0};
    ASSERT_OK(fulcrum_placement_complete(&placement, NULL));
    if (placement.is_apart) {
        assert_series(calibration, "handoff_wake", "one actor", 12);
        assert_series(calibration, "handoff_waker", "one actor", 12);
        assert_parameter(calibration, "workload.host.server_wake_s");
        CU_ASSERT(probing_value(calibration, "workload.host.server_wake_s") > 0.0);
    }
    /* Some work is done for a batch, and by an actor. */
    CU_ASSERT(
        probing_value(calibration, paths[0]) + probing_value(calibration, paths[1]) >
        0.0);
    CU_ASSERT(
        probing_value(calibration, paths[3]) + probing_value(calibration, paths[4]) >
        0.0);
    assert_part(fulcrum_calibration_note(calibration, "handoff"), "server and actors");
    fulcrum_calibration_free(calibration);
    fulcrum_bench_close(&bench);
}

/* Three more than a round of five sizes and the larger requests; nothing; one size,
 * which is no line. */
TEST(test_every_visit_tells_what_it_can)
{
    static const struct {
        int visits;
        bool is_stopped;
        size_t alone; /* samples */
        bool has_parameters;
    } cases[] = {{4, false, 8, true}, {0, false, 0, false}, {1, true, 1, false}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_bench bench;
        ASSERT_OK(fulcrum_bench_open(&bench, &cheap, NULL));
        bench.listener.stop = cases[i].is_stopped ? probing_stop : NULL;
        struct fulcrum_calibration *calibration = probe(&bench, cases[i].visits);
        const struct fulcrum_series *series =
            probing_series(calibration, "handoff_server", "alone");
        CU_ASSERT_EQUAL(series != NULL ? series->count : 0, cases[i].alone);
        CU_ASSERT_EQUAL(calibration->parameter_count > 0, cases[i].has_parameters);
        fulcrum_calibration_free(calibration);
        fulcrum_bench_close(&bench);
    }
}

TEST(test_asking_costs_an_actor_some_time)
{
    const struct fulcrum_handoff_plan plan = {
        .actor_count = 3, .item_count = 2, .item_byte = 64, .think_s = 2e-5};
    struct fulcrum_handoff *handoff = NULL;
    ASSERT_OK(fulcrum_handoff_new(&handoff, &plan, NULL));
    double cpu_s = 0.0;
    double step_s = 0.0;
    for (int i = 0; i < 30; i++) {
        fulcrum_handoff_answer(handoff, 3, 2);
        CU_ASSERT_EQUAL(fulcrum_handoff_collect(handoff, 3), 3);
        ASSERT_OK(fulcrum_handoff_copy(handoff, NULL));
        cpu_s += i > 0 ? fulcrum_handoff_turn(handoff).cpu_s : 0.0;
        step_s += i > 0 ? fulcrum_handoff_turn(handoff).step_s : 0.0;
    }
    CU_ASSERT(cpu_s > 0.0 && cpu_s / 29.0 < 0.01);
    CU_ASSERT(step_s / 29.0 >= plan.think_s && step_s / 29.0 < 0.01);
    fulcrum_handoff_free(handoff);
}

static void add_sample(
    struct fulcrum_probe_state *state, size_t which, double x, double value)
{
    const struct fulcrum_sample sample = {.x = x, .value = value, .canary_s = 1e-4};
    ASSERT_OK(fulcrum_recording_add(&state->recording[which], &sample, NULL));
}

/* In the order of the probe's recordings; microseconds. */
enum { SERVER, MANY, ASK, STEP, IDLE, SLEEP, WAKE, WAKER };

/* Two samples of everything: 6 + b of the server, 3 + 12 / n of each of n actors, and
 * waking that changes after `short_count` gaps. */
static struct fulcrum_calibration *report_of(
    struct fulcrum_bench *bench, size_t short_count)
{
    struct fulcrum_probe_state state;
    ASSERT_OK(fulcrum_probe_open(&fulcrum_probe_handoff, &state, bench, NULL));
    for (int twice = 0; twice < 2; twice++) {
        for (int k = 0; k < 5; k++) {
            double n = ldexp(1.0, k);
            add_sample(&state, SERVER, n, (6.0 + n) * 1e-6);
            add_sample(&state, ASK, n, (3.0 + 12.0 / n) * 1e-6);
            add_sample(&state, STEP, n, 2e-6 + 3e-6 / (1.0 + n));
            add_sample(&state, IDLE, n, 1.0 / (1.0 + n));
        }
        add_sample(&state, SLEEP, 0.0, 40e-6);
        add_sample(&state, WAKE, 0.0, 30e-6);
        add_sample(&state, WAKER, 0.0, 0.1e-6);
        for (size_t i = 0; i < 7; i++) {
            add_sample(
                &state, WAKE, ldexp(1e-6, (int)i), i < short_count ? 9e-6 : 20e-6);
            add_sample(
                &state, WAKER, ldexp(1e-6, (int)i), i < short_count ? 1e-6 : 7e-6);
        }
    }
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_parameter step = {.path = "workload.step.mean_s",
        .value = 2e-6,
        .origin = FULCRUM_ORIGIN_MEASURED,
        .source = "steps among steps"};
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    ASSERT_OK(fulcrum_calibration_add_parameter(calibration, &step, NULL));
    ASSERT_OK(fulcrum_probe_report(&fulcrum_probe_handoff, &state, calibration, NULL));
    fulcrum_probe_close(&fulcrum_probe_handoff, &state);
    return calibration;
}

TEST(test_a_server_that_polls_is_told_from_one_that_sleeps)
{
    struct fulcrum_bench bench;
    ASSERT_OK(fulcrum_bench_open(&bench, &cheap, NULL));
    struct fulcrum_calibration *calibration = report_of(&bench, 3);
    const double micro = 1e-6;
    assert_close("between 4 and 8 us",
        probing_value(calibration, "workload.host.poll_s"), sqrt(32.0) * micro, 1e-12);
    assert_close("polls", probing_value(calibration, "workload.host.poll_wake_s"),
        9.0 * micro, 1e-12);
    assert_close("sleeps", probing_value(calibration, "workload.host.server_wake_s"),
        20.0 * micro, 1e-12);
    assert_close("waker", probing_value(calibration, "workload.host.wake_s"),
        6.9 * micro, 1e-12);
    assert_close("actor", probing_value(calibration, "workload.host.actor_s"),
        3.0 * micro, 1e-9);
    assert_close("step", probing_value(calibration, "workload.host.cold_step_s"),
        3.0 * micro, 1e-9);
    /* A lone turn sleeps for 40 us and works for 12 more than one of many. */
    assert_close("delay", probing_value(calibration, "workload.host.delay_s"),
        (40.0 + 12.0 - 6.9 - 20.0) * micro, 1e-9);
    fulcrum_calibration_free(calibration);
    calibration = report_of(&bench, 0);
    CU_ASSERT(isnan(probing_value(calibration, "workload.host.poll_s")));
    CU_ASSERT(isnan(probing_value(calibration, "workload.host.poll_wake_s")));
    assert_close("all sleep", probing_value(calibration, "workload.host.server_wake_s"),
        20.0 * micro, 1e-12);
    fulcrum_calibration_free(calibration);
    fulcrum_bench_close(&bench);
}

/* Awake it asks after a gap, and then sleeps and steps again. */
TEST(test_an_actor_may_stay_awake)
{
    const struct fulcrum_handoff_plan plan = {
        .actor_count = 1, .item_count = 1, .item_byte = 64, .think_s = 2e-5};
    struct fulcrum_handoff *handoff = NULL;
    ASSERT_OK(fulcrum_handoff_new(&handoff, &plan, NULL));
    fulcrum_handoff_stay_awake(handoff, 1e-3);
    for (int i = 0; i < 3; i++) {
        double begin_s = fulcrum_wall_s();
        fulcrum_handoff_answer(handoff, 1, 1);
        CU_ASSERT_EQUAL(fulcrum_handoff_collect(handoff, 1), 1);
        CU_ASSERT(fulcrum_wall_s() - begin_s >= 1e-3);
        CU_ASSERT(i < 2 || fulcrum_handoff_turn(handoff).ask_s > 0.0);
    }
    double stepped = fulcrum_handoff_steps(handoff).count;
    fulcrum_handoff_stay_awake(handoff, -1.0);
    fulcrum_handoff_answer(handoff, 1, 1);
    CU_ASSERT_EQUAL(fulcrum_handoff_collect(handoff, 1), 1);
    CU_ASSERT_EQUAL(fulcrum_handoff_steps(handoff).count, stepped + 1.0);
    fulcrum_handoff_free(handoff);
}

/* The server's thread is bound while it serves. */
TEST(test_the_calling_thread_gets_its_processors_back)
{
    const struct fulcrum_handoff_plan plan = {.actor_count = 1, .item_count = 1};
    struct fulcrum_cpu_list before;
    struct fulcrum_cpu_list meanwhile;
    struct fulcrum_cpu_list after;
    struct fulcrum_placement placement = {.is_apart = 0};
    ASSERT_OK(fulcrum_cpu_list_allowed(&before, NULL));
    ASSERT_OK(fulcrum_placement_complete(&placement, NULL));
    struct fulcrum_handoff *handoff = NULL;
    ASSERT_OK(fulcrum_handoff_new(&handoff, &plan, NULL));
    fulcrum_handoff_serve(handoff, true);
    ASSERT_OK(fulcrum_cpu_list_allowed(&meanwhile, NULL));
    CU_ASSERT_EQUAL(fulcrum_handoff_is_apart(handoff), placement.is_apart);
    CU_ASSERT_EQUAL(
        meanwhile.count, placement.is_apart ? placement.server.count : before.count);
    fulcrum_handoff_serve(handoff, false);
    ASSERT_OK(fulcrum_cpu_list_allowed(&after, NULL));
    CU_ASSERT_EQUAL(after.count, before.count);
    fulcrum_handoff_free(handoff);
}

/* Every pause at least twice, each beside a warm time. */
static void assert_samples(const struct fulcrum_calibration *calibration)
{
    const struct fulcrum_series *after =
        probing_series(calibration, "inference_after_pause", NULL);
    const struct fulcrum_series *warm =
        probing_series(calibration, "inference_before_pause", NULL);
    CU_ASSERT_PTR_NOT_NULL(after);
    CU_ASSERT_PTR_NOT_NULL(warm);
    if (after == NULL || warm == NULL || after->count != warm->count) {
        CU_FAIL("a ratio without its warm time");
        return;
    }
    CU_ASSERT(after->count >= (size_t)2 * PAUSES);
    for (size_t i = 0; i < after->count; i++) {
        CU_ASSERT(after->x[i] >= 0.5e-3 && after->x[i] <= 32e-3);
        CU_ASSERT(after->value[i] > 0.0 && warm->value[i] > 0.0);
    }
}

/* Samples of a busy machine may have no fit: then others are taken. */
TEST(test_three_rounds_tell_both_parameters)
{
    struct fulcrum_bench bench;
    double cold_s = (double)NAN;
    double cooling_s = (double)NAN;
    ASSERT_OK(fulcrum_bench_open(&bench, &cheap, NULL));
    for (int i = 0; i < 4 && isnan(cold_s); i++) {
        struct fulcrum_calibration *calibration =
            probing_run(&fulcrum_probe_pause, &bench, 3 * PAUSES, 0.0);
        assert_samples(calibration);
        cold_s = probing_value(calibration, "workload.network.cold_s");
        cooling_s = probing_value(calibration, "workload.network.cooling_s");
        fulcrum_calibration_free(calibration);
    }
    CU_ASSERT(cold_s >= 0.0 && cold_s <= 1.0);
    CU_ASSERT(cooling_s >= 1e-5 && cooling_s <= 1.0);
    fulcrum_bench_close(&bench);
}

TEST(test_too_little_is_said_not_guessed)
{
    struct fulcrum_bench bench;
    ASSERT_OK(fulcrum_bench_open(&bench, &cheap, NULL));
    struct fulcrum_calibration *none =
        probing_run(&fulcrum_probe_pause, &bench, 0, 0.0);
    CU_ASSERT_EQUAL(none->parameter_count, 0);
    CU_ASSERT_EQUAL(none->series_count, 0);
    fulcrum_calibration_free(none);
    struct fulcrum_calibration *one = probing_run(&fulcrum_probe_pause, &bench, 1, 0.0);
    CU_ASSERT_EQUAL(one->parameter_count, 0);
    assert_part(fulcrum_calibration_note(one, "inference_after_pause"), "pause");
    fulcrum_calibration_free(one);
    fulcrum_bench_close(&bench);
}

SUITE_SETUP
{
    return probing_has_learner() ? 0 : 77; /* skipped */
}
