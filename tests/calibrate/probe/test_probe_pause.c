/* test_probe_pause.c - batches timed after pauses of the learner. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nothing is asked of times but their signs and orders: a busy machine has any. */
#include <math.h>
#include <string.h>

#include "calibrate/probe/calibrate.h"
#include "calibrate/probe/probe.h"
#include "calibrate/stopwatch.h"
#include "tests/support/expect.h"
#include "tests/support/suite.h"

enum { NOT_HERE = 77, PAUSES = 7 };

static const struct fulcrum_calibrate_options cheap = {
    .actor = "cartpole", .network = FULCRUM_NETWORK_MLP, .seed = 5};

/* Visits the probe so often, with no time beyond one sample. */
static struct fulcrum_calibration *probe(struct fulcrum_bench *bench, int visits)
{
    const struct fulcrum_probe *pause = &fulcrum_probe_pause;
    struct fulcrum_probe_state *state = NULL;
    struct fulcrum_calibration *calibration = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_calibration_new(&calibration, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(pause->open(bench, &state, NULL), FULCRUM_OK);
    for (int i = 0; i < visits; i++) {
        CU_ASSERT_EQUAL(pause->visit(state, fulcrum_wall_s(), NULL), FULCRUM_OK);
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(pause->report(state, calibration, &err), FULCRUM_OK);
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    pause->close(state);
    pause->close(NULL);
    return calibration;
}

static const struct fulcrum_series *series_of(
    const struct fulcrum_calibration *calibration, const char *name)
{
    for (size_t i = 0; i < calibration->series_count; i++) {
        if (strcmp(calibration->series[i].name, name) == 0) {
            return &calibration->series[i];
        }
    }
    return NULL;
}

static void assert_parameter(
    const struct fulcrum_calibration *calibration, const char *path, double least)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, path);
    CU_ASSERT_PTR_NOT_NULL(parameter);
    if (parameter != NULL) {
        CU_ASSERT(parameter->value >= least && parameter->value <= 1.0);
    }
}

/* Every pause at least twice, each beside a warm time. */
static void assert_samples(const struct fulcrum_calibration *calibration)
{
    const struct fulcrum_series *after =
        series_of(calibration, "inference_after_pause");
    const struct fulcrum_series *warm =
        series_of(calibration, "inference_before_pause");
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

static void test_three_rounds_tell_both_parameters(void)
{
    struct fulcrum_bench bench;
    CU_ASSERT_EQUAL_FATAL(fulcrum_bench_open(&bench, &cheap, NULL), FULCRUM_OK);
    struct fulcrum_calibration *calibration = probe(&bench, 3 * PAUSES);
    assert_samples(calibration);
    assert_parameter(calibration, "workload.network.cold_s", 0.0);
    assert_parameter(calibration, "workload.network.cooling_s", 1e-5);
    CU_ASSERT_EQUAL(fulcrum_calibration_check(calibration, NULL), FULCRUM_OK);
    fulcrum_calibration_free(calibration);
    fulcrum_bench_close(&bench);
}

static void test_too_little_is_said_not_guessed(void)
{
    struct fulcrum_bench bench;
    CU_ASSERT_EQUAL_FATAL(fulcrum_bench_open(&bench, &cheap, NULL), FULCRUM_OK);
    struct fulcrum_calibration *none = probe(&bench, 0);
    CU_ASSERT_EQUAL(none->parameter_count, 0);
    CU_ASSERT_EQUAL(none->series_count, 0);
    fulcrum_calibration_free(none);
    struct fulcrum_calibration *one = probe(&bench, 1);
    CU_ASSERT_EQUAL(one->parameter_count, 0);
    expect_part(fulcrum_calibration_note(one, "inference_after_pause"), "pause");
    fulcrum_calibration_free(one);
    fulcrum_bench_close(&bench);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_three_rounds_tell_both_parameters),
        SUITE_CASE(test_too_little_is_said_not_guessed),
    };
    struct fulcrum_bench bench;
    enum fulcrum_status status = fulcrum_bench_open(&bench, &cheap, NULL);
    fulcrum_bench_close(&bench);
    if (status == FULCRUM_ERR_UNSUPPORTED) {
        return NOT_HERE;
    }
    return suite_run("probe_pause", cases, sizeof cases / sizeof cases[0], argc, argv);
}
