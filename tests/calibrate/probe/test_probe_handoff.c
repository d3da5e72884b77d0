/* test_probe_handoff.c - what passing requests costs, told part by part. */
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
#include "tests/support/expect.h"
#include "tests/support/suite.h"

enum { NOT_HERE = 77 };

static const char *const paths[] = {
    "workload.host.per_batch_s",
    "workload.host.per_request_s",
    "workload.host.per_item_s",
    "workload.host.actor_s",
    "workload.host.wake_s",
    "workload.host.delay_s",
};

enum { PATH_COUNT = sizeof paths / sizeof paths[0] };

static const struct fulcrum_calibrate_options cheap = {
    .actor = "cartpole", .network = FULCRUM_NETWORK_MLP, .seed = 5};

/* Returns the status of the opening; closed with fulcrum_bench_close. */
static enum fulcrum_status open_bench(struct fulcrum_bench *bench)
{
    return fulcrum_bench_open(bench, &cheap, NULL);
}

/* Visits the probe so often, with no time beyond what a visit must do. */
static struct fulcrum_calibration *probe(struct fulcrum_bench *bench, int visits)
{
    const struct fulcrum_probe *handoff = &fulcrum_probe_handoff;
    struct fulcrum_probe_state *state = NULL;
    struct fulcrum_calibration *calibration = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_calibration_new(&calibration, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(handoff->open(bench, &state, NULL), FULCRUM_OK);
    for (int i = 0; i < visits; i++) {
        CU_ASSERT_EQUAL(handoff->visit(state, fulcrum_wall_s(), NULL), FULCRUM_OK);
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(handoff->report(state, calibration, &err), FULCRUM_OK);
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    handoff->close(state);
    handoff->close(NULL);
    return calibration;
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

static double value_of(const struct fulcrum_calibration *calibration, size_t path)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, paths[path]);
    return parameter != NULL ? parameter->value : (double)NAN;
}

static const struct fulcrum_series *series_of(
    const struct fulcrum_calibration *calibration, const char *name, const char *under)
{
    for (size_t i = 0; i < calibration->series_count; i++) {
        const struct fulcrum_series *series = &calibration->series[i];
        if (strcmp(series->name, name) == 0 && strcmp(series->condition, under) == 0) {
            return series;
        }
    }
    return NULL;
}

static void assert_series(const struct fulcrum_calibration *calibration,
    const char *name, const char *under, size_t count)
{
    const struct fulcrum_series *series = series_of(calibration, name, under);
    CU_ASSERT_PTR_NOT_NULL(series);
    if (series != NULL) {
        CU_ASSERT_EQUAL(series->count, count);
    }
}

/* The first visit takes every size and the larger requests, whatever the time. */
static void test_one_visit_tells_every_part(void)
{
    struct fulcrum_bench bench;
    CU_ASSERT_EQUAL_FATAL(open_bench(&bench), FULCRUM_OK);
    struct fulcrum_calibration *calibration = probe(&bench, 1);
    for (size_t i = 0; i < PATH_COUNT; i++) {
        assert_parameter(calibration, paths[i]);
    }
    assert_series(calibration, "handoff_server", "alone", 5);
    assert_series(calibration, "handoff_actor", "alone", 5);
    assert_series(calibration, "handoff_server", "4 observations", 1);
    assert_series(calibration, "handoff_round_trip", "one actor", 1);
    assert_series(calibration, "handoff_wake", "one actor", 1);
    /* Some work is done for a batch, and by an actor. */
    CU_ASSERT(value_of(calibration, 0) + value_of(calibration, 1) > 0.0);
    CU_ASSERT(value_of(calibration, 3) + value_of(calibration, 4) > 0.0);
    const struct fulcrum_quantity *trip =
        fulcrum_calibration_quantity(calibration, "handoff_round_trip_s");
    CU_ASSERT_PTR_NOT_NULL_FATAL(trip);
    CU_ASSERT(value_of(calibration, 5) <= trip->value);
    expect_part(fulcrum_calibration_note(calibration, "handoff"), "server and actors");
    fulcrum_calibration_free(calibration);
    fulcrum_bench_close(&bench);
}

static void test_later_visits_add_samples(void)
{
    struct fulcrum_bench bench;
    CU_ASSERT_EQUAL_FATAL(open_bench(&bench), FULCRUM_OK);
    struct fulcrum_calibration *calibration = probe(&bench, 4);
    /* Three more than a round of five sizes and the larger requests. */
    assert_series(calibration, "handoff_server", "alone", 8);
    assert_series(calibration, "handoff_server", "4 observations", 1);
    CU_ASSERT_EQUAL(fulcrum_calibration_check(calibration, NULL), FULCRUM_OK);
    fulcrum_calibration_free(calibration);
    fulcrum_bench_close(&bench);
}

static void test_nothing_is_told_before_a_visit(void)
{
    struct fulcrum_bench bench;
    CU_ASSERT_EQUAL_FATAL(open_bench(&bench), FULCRUM_OK);
    struct fulcrum_calibration *calibration = probe(&bench, 0);
    CU_ASSERT_EQUAL(calibration->parameter_count, 0);
    fulcrum_calibration_free(calibration);
    fulcrum_bench_close(&bench);
}

static bool stops_at_once(void *user)
{
    (void)user;
    return 1;
}

/* One size is no line: the note says so, and no parameter is made of it. */
static void test_a_visit_that_is_stopped_tells_what_it_can(void)
{
    struct fulcrum_bench bench;
    CU_ASSERT_EQUAL_FATAL(open_bench(&bench), FULCRUM_OK);
    bench.stops = stops_at_once;
    struct fulcrum_calibration *calibration = probe(&bench, 1);
    assert_series(calibration, "handoff_server", "alone", 1);
    CU_ASSERT_EQUAL(calibration->parameter_count, 0);
    fulcrum_calibration_free(calibration);
    fulcrum_bench_close(&bench);
}

static void test_asking_costs_an_actor_some_time(void)
{
    const struct fulcrum_handoff_plan plan = {
        .actor_count = 3, .item_count = 2, .item_byte = 64, .think_s = 2e-5};
    struct fulcrum_handoff *handoff = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_handoff_new(&handoff, &plan, NULL), FULCRUM_OK);
    for (int i = 0; i < 30; i++) {
        fulcrum_handoff_collect(handoff);
        fulcrum_handoff_answer(handoff);
    }
    fulcrum_handoff_collect(handoff);
    double ask_s = fulcrum_handoff_ask_s(handoff);
    CU_ASSERT(ask_s > 0.0 && ask_s < 0.01);
    /* Nobody has asked since: it starts again. */
    suite_assert_close("again", fulcrum_handoff_ask_s(handoff), 0.0, 0.0);
    fulcrum_handoff_answer(handoff);
    fulcrum_handoff_free(handoff);
}

/* The server's thread is bound for as long as there is an handoff. */
static void test_the_calling_thread_gets_its_processors_back(void)
{
    const struct fulcrum_handoff_plan plan = {.actor_count = 1, .item_count = 1};
    struct fulcrum_cpu_list before;
    struct fulcrum_cpu_list meanwhile;
    struct fulcrum_cpu_list after;
    struct fulcrum_placement placement = {.is_apart = 0};
    CU_ASSERT_EQUAL_FATAL(fulcrum_cpu_list_allowed(&before, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_placement_complete(&placement, NULL), FULCRUM_OK);
    struct fulcrum_handoff *handoff = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_handoff_new(&handoff, &plan, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_cpu_list_allowed(&meanwhile, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_handoff_is_apart(handoff), placement.is_apart);
    CU_ASSERT_EQUAL(
        meanwhile.count, placement.is_apart ? placement.server.count : before.count);
    fulcrum_handoff_free(handoff);
    CU_ASSERT_EQUAL(fulcrum_cpu_list_allowed(&after, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(after.count, before.count);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_one_visit_tells_every_part),
        SUITE_CASE(test_later_visits_add_samples),
        SUITE_CASE(test_nothing_is_told_before_a_visit),
        SUITE_CASE(test_a_visit_that_is_stopped_tells_what_it_can),
        SUITE_CASE(test_asking_costs_an_actor_some_time),
        SUITE_CASE(test_the_calling_thread_gets_its_processors_back),
    };
    struct fulcrum_bench bench;
    enum fulcrum_status status = open_bench(&bench);
    fulcrum_bench_close(&bench);
    if (status == FULCRUM_ERR_UNSUPPORTED) {
        return NOT_HERE; /* no learner in this build */
    }
    return suite_run(
        "probe_handoff", cases, sizeof cases / sizeof cases[0], argc, argv);
}
