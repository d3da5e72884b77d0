/* test_probe_gpu_power.c - loads of a GPU that draws what a test says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/probe/probe.h"
#include "tests/support/fake_gpus.h"
#include "tests/support/fake_learner.h"
#include "tests/support/probing.h"
#include "tests/support/suite.h"

/* The fake board's counter is never late: half of what a real one needs will do. */
#define WINDOW_REL 0.5

/* Settling and window by the energy counter, 1 s and 2.1 s of a real one; by watts of
 * the moment 0.2 s and 1.05 s. */
#define BY_COUNTER_S (3.1 * WINDOW_REL)
#define BY_MOMENT_S  (1.25 * WINDOW_REL)

static const struct fulcrum_energy_options meters = {
    .root = "", .window_rel = WINDOW_REL};
static const struct fulcrum_listener nobody = {.stop = NULL};

/* A bench whose learner is the fake one; only what the probe looks at. */
struct rig {
    struct fake_nvml *fake;
    struct fulcrum_bench bench;
    struct fulcrum_probe_state state;
    int action[64];
    int stops;
};

static bool stops(void *user)
{
    const struct rig *rig = user;
    return rig->stops;
}

static void make_rig(struct rig *rig)
{
    *rig = (struct rig){.fake = fake_gpus(FAKE_NVML)};
    rig->fake->gpu_count = 1;
    fake_learner_start(rig->fake);
    rig->bench = (struct fulcrum_bench){.learner = &fake_learner,
        .learner_options = {.max_batch = 256, .input_count = 4, .action_count = 2},
        .action = rig->action,
        .nominal = {64, 80, 40},
        .meter_root = "",
        .meter_window_rel = WINDOW_REL,
        .listener = {.stop = stops, .user = rig}};
}

static void open_learner(struct rig *rig)
{
    rig->bench.learner_options.train_batch = 1;
    ASSERT_OK(fake_learner.open(&rig->bench.learner_options, &rig->bench.state,
        &rig->bench.learner_info, NULL));
}

static void start_rig(struct rig *rig)
{
    make_rig(rig);
    open_learner(rig);
}

static void open_probe(struct rig *rig)
{
    ASSERT_OK(
        fulcrum_probe_open(&fulcrum_probe_gpu_power, &rig->state, &rig->bench, NULL));
}

static void close_rig(struct rig *rig)
{
    fulcrum_probe_close(&fulcrum_probe_gpu_power, &rig->state);
    if (rig->bench.state != NULL) {
        fake_learner.close(rig->bench.state);
    }
    fake_learner_stop();
}

/* A case on a rig that is started. */
#define RIG_TEST(function) TEST_EACH(function, with_rig, struct rig *rig)
static void with_rig(void (*run)(struct rig *rig))
{
    struct rig rig;
    start_rig(&rig);
    run(&rig);
    close_rig(&rig);
}

/* Visits until so many windows are there. */
static void visit(struct rig *rig, size_t window_count, double window_s)
{
    double until_s = fulcrum_wall_s() + ((double)window_count - 0.25) * window_s;
    ASSERT_OK(fulcrum_probe_gpu_power.visit(&rig->state, until_s, NULL));
}

static struct fulcrum_calibration *report(struct rig *rig)
{
    return probing_report(&fulcrum_probe_gpu_power, &rig->state);
}

/* Seven levels, and the idle GPU before. The tolerances are for a machine that is busy
 * with other tests. */
TEST(test_levels_tell_the_watts_of_a_gpu)
{
    struct rig rig;
    make_rig(&rig);
    fulcrum_gpu_idle_measure(&rig.bench.gpu_idle, &meters, 5, &nobody);
    CU_ASSERT_EQUAL(rig.bench.gpu_idle.sample_count, 1);
    CU_ASSERT_EQUAL(rig.bench.gpu_idle.gpu_count, 1);
    rig.bench.gpu_idle.is_taken[0] = 0;
    open_learner(&rig);
    open_probe(&rig);
    CU_ASSERT(!fulcrum_probe_gpu_power.rests(&rig.state));
    visit(&rig, 7, BY_COUNTER_S);
    struct fulcrum_calibration *found = report(&rig);
    assert_close("idle", probing_value(found, "machine.gpu.idle_w"), FAKE_IDLE_W, 0.03);
    assert_close(
        "floor", probing_value(found, "machine.gpu.floor_w"), FAKE_FLOOR_W, 0.08);
    assert_close(
        "dynamic", probing_value(found, "machine.gpu.dynamic_w"), FAKE_DYNAMIC_W, 0.05);
    assert_close(
        "exponent", probing_value(found, "machine.gpu.power_exponent"), 1, 0.08);
    assert_close("inference", probing_value(found, "workload.network.sm_active_frac"),
        FAKE_INFERENCE_REL, 0.08);
    assert_close(
        "training", probing_value(found, "workload.training.sm_active_frac"), 1, 0);
    assert_close("machine", found->machine.gpu.idle_w,
        probing_value(found, "machine.gpu.idle_w"), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(probing_note(found, "gpu_power"),
        "measured with nvml: Fake H200 GPU-00a0-fake; energy counter"));
    CU_ASSERT_STRING_EQUAL(probing_note(found, "gpu_power_exponent"), "");
    CU_ASSERT_STRING_EQUAL(probing_note(found, "gpu_power_share"), "");
    CU_ASSERT_EQUAL(found->series_count, 5);
    CU_ASSERT_STRING_EQUAL(found->series[0].name, "gpu_power");
    CU_ASSERT_STRING_EQUAL(found->series[0].condition, "held by nobody");
    CU_ASSERT_EQUAL(found->fit_count, 1);
    assert_close("limit", probing_value(found, "gpu_power_limit_w"), 700, 1e-12);
    assert_close("clock", probing_value(found, "gpu_training_clock_hz"), 1.98e9, 1e-12);
    fulcrum_calibration_free(found);
    close_rig(&rig);
}

/* Too little time: what two levels cannot tell is left out and said. */
TEST(test_short_runs_leave_out_what_they_cannot_tell)
{
    struct rig rig;
    make_rig(&rig);
    (void)snprintf(rig.bench.gpu_idle.reason, sizeof rig.bench.gpu_idle.reason, "late");
    open_learner(&rig);
    open_probe(&rig);
    visit(&rig, 2, BY_COUNTER_S);
    struct fulcrum_calibration *found = report(&rig);
    CU_ASSERT(isnan(probing_value(found, "machine.gpu.idle_w")));
    CU_ASSERT(isnan(probing_value(found, "machine.gpu.floor_w")));
    CU_ASSERT(isnan(probing_value(found, "machine.gpu.power_exponent")));
    CU_ASSERT(isnan(probing_value(found, "workload.network.sm_active_frac")));
    assert_close(
        "dynamic", probing_value(found, "machine.gpu.dynamic_w"), FAKE_DYNAMIC_W, 0.05);
    assert_part(probing_note(found, "gpu_power_idle"), "(late)");
    assert_part(probing_note(found, "gpu_power_exponent"), "taken as 1");
    assert_part(probing_note(found, "gpu_power_share"), "is assumed");
    const struct fulcrum_parameter *dynamic =
        fulcrum_calibration_parameter(found, "machine.gpu.dynamic_w");
    if (dynamic != NULL) {
        /* Two levels, two parameters: no residual tells an error. */
        assert_close("error", dynamic->standard_error, 0.05 * dynamic->value, 1e-9);
        assert_part(dynamic->source, "error assumed: 5 %");
    }
    fulcrum_calibration_free(found);
    /* A visit shorter than a sample saves its time up. */
    double begin_s = fulcrum_wall_s();
    ASSERT_OK(fulcrum_probe_gpu_power.visit(&rig.state, begin_s + 0.2, NULL));
    CU_ASSERT(fulcrum_wall_s() - begin_s < 1);
    close_rig(&rig);
}

static void assert_rests(struct rig *rig, const char *reason)
{
    open_probe(rig);
    CU_ASSERT(fulcrum_probe_gpu_power.rests(&rig->state));
    visit(rig, 1, BY_COUNTER_S);
    struct fulcrum_calibration *found = report(rig);
    CU_ASSERT_EQUAL(found->parameter_count, 0);
    CU_ASSERT_STRING_EQUAL(probing_note(found, "gpu_power"), "not measured");
    assert_part(probing_note(found, "gpu_power_reason"), reason);
    fulcrum_calibration_free(found);
}

TEST(test_probe_rests_where_there_is_nothing_to_do)
{
    struct rig rig;
    make_rig(&rig);
    CU_ASSERT(!fulcrum_probe_gpu_power.applies(&rig.bench));
    open_learner(&rig);
    CU_ASSERT(fulcrum_probe_gpu_power.applies(&rig.bench));
    rig.fake->init_result = 9;
    assert_rests(&rig, "nvml: nvmlInit_v2: Driver Not Loaded");
    close_rig(&rig);
    start_rig(&rig);
    fake_learner_limit(1);
    rig.bench.nominal.batch = 1024;
    assert_rests(&rig, "a batch of 16 does not fit");
    close_rig(&rig);
}

/* The UUID tells which of several GPUs; without one only a single GPU will do. */
TEST(test_gpu_of_the_learner_is_told_by_its_uuid)
{
    static const struct {
        const char *uuid;
        unsigned gpu_count;
        int rests;
    } rows[] = {{"", 1, 0}, {"GPU-00a0-fake", 1, 0}, {"GPU-00a1-fake", 1, 1},
        {"GPU-00a1-fake", 2, 0}, {"GPU-00a2-fake", 2, 1}, {"", 2, 1}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct rig rig;
        make_rig(&rig);
        rig.fake->gpu_count = rows[i].gpu_count;
        open_learner(&rig);
        char *uuid = rig.bench.learner_info.device.uuid;
        (void)snprintf(
            uuid, sizeof rig.bench.learner_info.device.uuid, "%s", rows[i].uuid);
        open_probe(&rig);
        CU_ASSERT_EQUAL(fulcrum_probe_gpu_power.rests(&rig.state), rows[i].rests);
        close_rig(&rig);
    }
}

/* Watts of the moment need a shorter window; a quarter of the batch fits. */
RIG_TEST(test_meter_that_is_lost_is_given_up)
{
    fake_learner_limit(16);
    rig->fake->gpu[0].energy_result = 3;
    open_probe(rig);
    visit(rig, 1, BY_MOMENT_S);
    rig->fake->gpu[0].instant_field_result = 15;
    visit(rig, 4, BY_MOMENT_S);
    CU_ASSERT(fulcrum_probe_gpu_power.rests(&rig->state));
    struct fulcrum_calibration *found = report(rig);
    assert_part(probing_note(found, "gpu_power"), "training on 16 x (40 + 80)");
    assert_part(probing_note(found, "gpu_power_fit"), "do not differ");
    CU_ASSERT_EQUAL(found->parameter_count, 0);
    fulcrum_calibration_free(found);
}

RIG_TEST(test_interrupt_and_failure_keep_nothing)
{
    open_probe(rig);
    rig->stops = 1;
    visit(rig, 3, BY_COUNTER_S);
    struct fulcrum_calibration *found = report(rig);
    CU_ASSERT_STRING_EQUAL(
        probing_note(found, "gpu_power_reason"), "no window was completed");
    fulcrum_calibration_free(found);
    rig->stops = 0;
    fake_learner_break();
    ASSERT_SAYS(fulcrum_probe_gpu_power.visit(
                    &rig->state, fulcrum_wall_s() + 2 * BY_COUNTER_S, &err),
        FULCRUM_ERR_UNSUPPORTED, "the device failed");
}

static struct fulcrum_duty_cycle duty_of(
    struct rig *rig, enum fulcrum_duty_cycle_work work, double busy_frac)
{
    return (struct fulcrum_duty_cycle){&rig->bench, rig->bench.state, work, busy_frac};
}

RIG_TEST(test_duty_keeps_its_share_of_the_time)
{
    static const double shares[] = {0.25, 0.6, 1};
    struct fulcrum_duty_cycle_reading reading;
    struct fulcrum_random random = fulcrum_random_seeded(1);
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_duty_cycle duty = duty_of(rig, FULCRUM_DUTY_TRAINING, shares[i]);
        ASSERT_OK(fulcrum_duty_cycle_run(&reading, &duty, 0.4, &random, NULL));
        CU_ASSERT(reading.wall_s >= 0.4);
        CU_ASSERT(!reading.is_ended);
        assert_close("share", reading.busy_s / reading.wall_s, shares[i], 0.1);
        CU_ASSERT(reading.step_count >= 1);
        CU_ASSERT(reading.step_count <= reading.busy_s / 4e-3 + 1);
    }
    struct fulcrum_duty_cycle nothing = duty_of(rig, FULCRUM_DUTY_NOTHING, 0);
    ASSERT_OK(fulcrum_duty_cycle_run(&reading, &nothing, 0.05, &random, NULL));
    assert_close("nothing", reading.busy_s, 0, 0);
    CU_ASSERT(reading.wall_s >= 0.05);
    fake_learner_break();
    struct fulcrum_duty_cycle duty = duty_of(rig, FULCRUM_DUTY_INFERENCE, 1);
    CU_ASSERT_EQUAL(fulcrum_duty_cycle_run(&reading, &duty, 0.05, &random, NULL),
        FULCRUM_ERR_UNSUPPORTED);
}

RIG_TEST(test_duty_ends_when_told)
{
    struct fulcrum_duty_cycle_reading reading;
    struct fulcrum_random random = fulcrum_random_seeded(1);
    struct fulcrum_duty_cycle duty = duty_of(rig, FULCRUM_DUTY_TRAINING, 0.5);
    rig->stops = 1;
    ASSERT_OK(fulcrum_duty_cycle_run(&reading, &duty, 5, &random, NULL));
    CU_ASSERT(reading.is_ended);
    CU_ASSERT(reading.wall_s < 2);
}

TEST(test_idle_watts_are_those_of_a_gpu_that_nobody_holds)
{
    struct rig rig;
    struct fulcrum_gpu_idle idle;
    make_rig(&rig);
    rig.fake->gpu[0].energy_result = 3;
    rig.fake->gpu[0].busy_percent = 30;
    rig.fake->gpu_count = 2;
    rig.fake->gpu[1].energy_result = 3;
    rig.fake->gpu[1].usage_result = 3;
    rig.fake->gpu[1].instant_field_result = 3;
    fulcrum_gpu_idle_measure(&idle, &meters, 13, &nobody);
    CU_ASSERT_EQUAL(idle.gpu_count, 2);
    CU_ASSERT_EQUAL(idle.sample_count, 1);
    CU_ASSERT(idle.is_taken[0]);
    assert_close("idle", idle.watts[0][0], FAKE_IDLE_W, 0.02);
    CU_ASSERT(isnan(idle.watts[1][0]));
    assert_part(idle.reason, "gpu-1: nvmlDeviceGetPowerUsage");
    const struct fulcrum_listener impatient = {.stop = probing_stop};
    fulcrum_gpu_idle_measure(&idle, &meters, 26, &impatient);
    CU_ASSERT_EQUAL(idle.sample_count, 0);
    rig.fake->init_result = 9;
    fulcrum_gpu_idle_measure(&idle, &meters, 90, &nobody);
    CU_ASSERT_EQUAL(idle.sample_count, 0);
    CU_ASSERT_STRING_EQUAL(idle.reason, "no meter of GPUs");
    close_rig(&rig);
}
