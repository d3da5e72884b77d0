/* test_learner_device.c - learners on devices: shares, failures, what they tell. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/host.h"
#include "calibrate/probe/calibrate.h"
#include "calibrate/probe/probe.h"
#include "tests/support/device_plain.h"
#include "tests/support/suite.h"

static const struct fulcrum_learner_options small_r2d2 = {
    .network = FULCRUM_NETWORK_R2D2,
    .max_batch = 2,
    .action_count = 3,
    .train_batch = 1,
    .train_unroll = 1,
    .train_burn_in = 0,
    .seed = 7,
};

static const struct fulcrum_learner_options small_mlp = {
    .network = FULCRUM_NETWORK_MLP,
    .max_batch = 2,
    .input_count = 4,
    .action_count = 2,
    .train_batch = 3,
    .seed = 7,
};

static struct fulcrum_learner_state *open_plain(
    const struct fulcrum_learner_options *options, struct fulcrum_learner_info *info)
{
    struct fulcrum_learner_state *state = NULL;
    device_plain_fail_at(0);
    ASSERT_OK(fulcrum_learner_open_on(&device_plain, options, &state, info, NULL));
    return state;
}

TEST(test_a_cpu_device_runs_on_one_compute_unit_unless_told)
{
    const struct {
        double asked;
        double granted;
    } cases[] = {{0.0, 1.0}, {1.0, 1.0}, {3.0, 3.0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_learner_options options = small_mlp;
        struct fulcrum_learner_info info;
        options.sm_count = cases[i].asked;
        fulcrum_learner_cuda.close(open_plain(&options, &info));
        assert_close("granted", info.device.granted_sm_count, cases[i].granted, 0.0);
        assert_close("all", info.device.sm_count, 4.0, 0.0);
        CU_ASSERT_FALSE(info.device.is_gpu);
    }
}

TEST(test_a_gpu_is_taken_whole)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = NULL;
    double granted = 0.0;
    ASSERT_OK(
        fulcrum_learner_open_on(&device_plain_wide, &small_mlp, &state, &info, NULL));
    CU_ASSERT_TRUE(info.device.is_gpu);
    assert_close("granted", info.device.granted_sm_count, 4.0, 0.0);
    CU_ASSERT_STRING_EQUAL(info.device.name, "plain C");
    CU_ASSERT_TRUE(strlen(info.device.detail) > 0);
    /* This one cannot be divided, and says so. */
    ASSERT_FAILS(fulcrum_learner_cuda.grant(state, 2.0, &granted, &err),
        FULCRUM_ERR_UNSUPPORTED, "cannot be divided");
    fulcrum_learner_cuda.close(state);
}

TEST(test_grant_tells_what_is_in_force)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_plain(&small_mlp, &info);
    double granted = 0.0;
    ASSERT_OK(fulcrum_learner_cuda.grant(state, 3.0, &granted, NULL));
    assert_close("granted", granted, 3.0, 0.0);
    CU_ASSERT_EQUAL(
        fulcrum_learner_cuda.grant(state, 9.0, &granted, NULL), FULCRUM_ERR_RANGE);
    assert_close("still granted", granted, 3.0, 0.0);
    fulcrum_learner_cuda.close(state);
}

TEST(test_a_gpu_is_the_machines_accelerator_and_cores_are_not)
{
    struct fulcrum_machine machine;
    fulcrum_host_detect(&machine);
    struct fulcrum_device_info info = {
        .name = "pthread-something", .sm_count = 8.0, .granted_sm_count = 1.0};
    fulcrum_bench_accelerator(&machine, &info);
    CU_ASSERT_EQUAL(machine.accelerator, FULCRUM_ACCELERATOR_CPU);
    assert_close("learner cores", machine.learner_core_count, 1.0, 0.0);
    assert_close("GPUs", machine.gpu.count, 0.0, 0.0);
    info = (struct fulcrum_device_info){.is_gpu = 1,
        .name = "Some GPU",
        .sm_count = 80.0,
        .granted_sm_count = 40.0,
        .clock_hz = 1.5e9,
        .memory_byte = 8e9};
    fulcrum_bench_accelerator(&machine, &info);
    CU_ASSERT_EQUAL(machine.accelerator, FULCRUM_ACCELERATOR_GPU);
    CU_ASSERT_STRING_EQUAL(machine.gpu.name, "Some GPU");
    assert_close("GPUs", machine.gpu.count, 1.0, 0.0);
    assert_close("SMs", machine.gpu.sm_count, 40.0, 0.0);
    assert_close("clock", machine.gpu.clock_hz, 1.5e9, 0.0);
}

TEST(test_options_are_checked_before_a_device_is_opened)
{
    struct fulcrum_learner_options options = small_mlp;
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_learner_info info;
    options.max_batch = 0;
    ASSERT_FAILS(fulcrum_learner_open_on(&device_plain, &options, &state, &info, &err),
        FULCRUM_ERR_RANGE, "max_batch");
    options = small_mlp;
    options.device_index = 1;
    ASSERT_FAILS(fulcrum_learner_open_on(&device_plain, &options, &state, &info, &err),
        FULCRUM_ERR_RANGE, "device_index");
    CU_ASSERT_PTR_NULL(state);
    fulcrum_learner_cuda.close(NULL);
}

/* Rows in, weights out and in again. */
static enum fulcrum_status carry(struct fulcrum_learner_state *state,
    size_t parameter_count, struct fulcrum_error *err)
{
    struct fulcrum_train_rows rows;
    float *weights = calloc(parameter_count, sizeof *weights);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weights);
    enum fulcrum_status status = fulcrum_learner_cuda.train_rows(state, &rows, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_learner_cuda.take_rows(state, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_learner_cuda.read_weights(state, weights, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_learner_cuda.write_weights(state, weights, err);
    }
    free(weights);
    return status;
}

/* Opens, infers, trains and carries weights; returns the first failure. */
static enum fulcrum_status work(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_learner_info info;
    int action[2] = {-1, -1};
    double loss = NAN;
    enum fulcrum_status status =
        fulcrum_learner_open_on(&device_plain, options, &state, &info, err);
    if (status != FULCRUM_OK) {
        CU_ASSERT_PTR_NULL(state);
        return status;
    }
    memset(fulcrum_learner_cuda.input(state), 0, 2 * info.input_byte);
    status = fulcrum_learner_cuda.forward(state, 2, action, err);
    CU_ASSERT_TRUE((action[0] >= 0) == (status == FULCRUM_OK));
    if (status == FULCRUM_OK) {
        status = fulcrum_learner_cuda.train(state, &loss, err);
        CU_ASSERT_TRUE(isfinite(loss) == (status == FULCRUM_OK));
    }
    if (status == FULCRUM_OK) {
        status = carry(state, info.cost.parameter_count, err);
    }
    fulcrum_learner_cuda.close(state);
    return status;
}

static void expect_told(const struct fulcrum_learner_options *options, size_t call)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    device_plain_fail_at(call);
    CU_ASSERT_NOT_EQUAL(work(options, &err), FULCRUM_OK);
    CU_ASSERT_TRUE(strcmp(err.detail, "the device fell off the bus") == 0 ||
                   err.status == FULCRUM_ERR_NO_MEMORY);
    device_plain_fail_at(0);
}

/* Whatever call fails, the message arrives and nothing is left behind. */
TEST(test_every_failure_of_a_device_is_told)
{
    const struct fulcrum_learner_options *const options[] = {&small_mlp, &small_r2d2};
    /* All of the small network's calls; of the large one's, some of each kind. */
    const size_t strides[] = {1, 17};
    for (size_t i = 0; i < 2; i++) {
        device_plain_fail_at(0);
        ASSERT_OK(work(options[i], NULL));
        size_t calls = device_plain_call_count();
        CU_ASSERT_TRUE(calls > 20);
        for (size_t call = 1; call <= calls; call += strides[i]) {
            expect_told(options[i], call);
        }
    }
}

/* The learner beside the actors may fail on its own thread: its end tells. */
TEST(test_a_busy_learner_that_fails_is_told_at_its_end)
{
    const struct fulcrum_learner learner = {
        .name = "plain", .forward = fulcrum_learner_cuda.forward};
    struct fulcrum_learner_info info;
    struct fulcrum_background_load *load = NULL;
    int action[2];
    struct fulcrum_bench bench = {.learner = &learner,
        .learner_options = small_mlp,
        .state = open_plain(&small_mlp, &info),
        .action = action};
    const struct fulcrum_learner_work inference = {bench.state, 2, 0};
    ASSERT_OK(fulcrum_background_load_start(&load, &bench, &inference, NULL, NULL));
    fulcrum_sleep_s(0.02);
    ASSERT_OK(fulcrum_background_load_end(load, NULL, NULL));
    device_plain_fail_at(40);
    ASSERT_OK(fulcrum_background_load_start(&load, &bench, &inference, NULL, NULL));
    fulcrum_sleep_s(0.2);
    ASSERT_SAYS(fulcrum_background_load_end(load, NULL, &err), FULCRUM_ERR_UNSUPPORTED,
        "the device fell off the bus");
    ASSERT_OK(fulcrum_background_load_end(NULL, NULL, NULL));
    device_plain_fail_at(0);
    fulcrum_learner_cuda.close(bench.state);
}
