/* test_actor_sandbox.c - sandboxes run real tools, count their work, leave nothing. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* setenv, symlink */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/actor/stepper.h"
#include "calibrate/host.h"
#include "calibrate/pipeline/measure.h"
#include "calibrate/probe/calibrate.h"
#include "calibrate/reference/throughput.h"
#include "calibrate/stopwatch.h"
#include "tests/support/probing.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A whole deck holds every kind of call. */
#define DECK ((size_t)FULCRUM_CALL_DECK)

/* Of the name GIVEN_PATH, as cases change PATH. */
static void copy_path(const char *to, const char *from)
{
    const char *path = getenv(from);
    (void)setenv(to, path != NULL ? path : "/usr/bin:/bin", 1);
}

SUITE_SETUP
{
    copy_path("GIVEN_PATH", "PATH");
    return 0;
}

/* A folder that sandboxes are made in. */
static struct scratch new_room(void)
{
    struct scratch room = scratch_new();
    (void)setenv("TMPDIR", room.folder, 1);
    return room;
}

static void leave(const struct scratch *room)
{
    copy_path("PATH", "GIVEN_PATH");
    (void)unsetenv("TMPDIR");
    scratch_free(room);
}

/* The programs that a shell's call takes, and awk; a compiler that hangs when it is
 * asked for code that is fast. */
static struct scratch few_programs(const char *compiler)
{
    static const char *const programs[] = {
        "awk", "cat", "find", "grep", "sort", "tail"};
    struct scratch bin = scratch_new();
    for (size_t i = 0; i < LENGTH(programs); i++) {
        char target[64];
        (void)snprintf(target, sizeof target, "/usr/bin/%s", programs[i]);
        target[access(target, X_OK) == 0 ? 0 : 4] = '/';
        const char *at = access(target, X_OK) == 0 ? target : target + 4;
        CU_ASSERT_EQUAL(symlink(at, scratch_at(&bin, programs[i])), 0);
    }
    if (compiler != NULL) {
        CU_ASSERT_EQUAL(chmod(scratch_put(&bin, "cc", compiler), 0700), 0);
    }
    (void)setenv("PATH", bin.folder, 1);
    return bin;
}

static struct fulcrum_stage open_stage(double limit_s)
{
    struct fulcrum_stage stage = {.actor = &fulcrum_actor_sandbox};
    const struct fulcrum_actor_options options = {.limit_s = limit_s};
    ASSERT_SAYS(
        stage.actor->open(&options, &stage.shared, &stage.info, &err), FULCRUM_OK, "");
    ASSERT_OK(fulcrum_actions_new(&stage.actions, 1, stage.info.action_count, NULL));
    return stage;
}

static void close_stage(struct fulcrum_stage *stage)
{
    fulcrum_actions_free(&stage->actions);
    stage->actor->close(stage->shared);
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    if (folder == NULL) {
        return 0;
    }
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

static void assert_no_children(void)
{
    CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
    CU_ASSERT_EQUAL(errno, ECHILD);
}

TEST(test_calls_use_time_and_memory_and_leave_nothing)
{
    struct scratch room = new_room();
    size_t files = open_files();
    struct fulcrum_stage stage = open_stage(0.0);
    struct fulcrum_stepper stepper;
    ASSERT_SAYS(fulcrum_stepper_open(&stepper, &stage, 3, &err), FULCRUM_OK, "");
    CU_ASSERT(scratch_count(&room) > 0);
    double step_s[2 * DECK] = {0.0};
    double reset_s[2 * DECK] = {0.0};
    struct fulcrum_step_log log = {.stride = 1, .step_s = step_s, .reset_s = reset_s};
    ASSERT_SAYS(fulcrum_stepper_log(&stepper, DECK, &log, &err), FULCRUM_OK, "");
    double sum_s = 0.0;
    for (size_t i = 0; i < DECK; i++) {
        CU_ASSERT(step_s[i] > 1e-4 && step_s[i] < 10.0);
        sum_s += step_s[i];
    }
    double tools_s = fulcrum_stepper_cpu_s(&stepper);
    CU_ASSERT(tools_s > 0.5 * sum_s && tools_s <= sum_s);
    CU_ASSERT(fulcrum_stepper_memory_byte(&stepper) > 1e5);
    log = (struct fulcrum_step_log){.stride = DECK, .step_s = step_s};
    ASSERT_SAYS(fulcrum_stepper_log(&stepper, 2 * DECK, &log, &err), FULCRUM_OK, "");
    /* All calls of a deck together, which are as much work as the others'. */
    CU_ASSERT(step_s[0] > 0.2 * sum_s && step_s[1] > 0.2 * sum_s);
    CU_ASSERT_EQUAL(fulcrum_stepper_reset(&stepper), FULCRUM_STEP_ON);
    fulcrum_stepper_close(&stepper);
    close_stage(&stage);
    CU_ASSERT_EQUAL(scratch_count(&room), 0);
    CU_ASSERT_EQUAL(open_files(), files);
    assert_no_children();
    leave(&room);
}

TEST(test_episodes_of_equal_seeds_are_alike)
{
    struct scratch bin = few_programs(NULL);
    struct scratch room = new_room();
    struct fulcrum_stage stage = open_stage(0.0);
    size_t resets[2] = {0, 0};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_stepper stepper;
        ASSERT_OK(fulcrum_stepper_open(&stepper, &stage, 5, NULL));
        ASSERT_OK(fulcrum_stepper_run(&stepper, 100, &resets[i], NULL));
        fulcrum_stepper_close(&stepper);
    }
    CU_ASSERT(resets[0] > 0 && resets[0] < 20);
    CU_ASSERT_EQUAL(resets[0], resets[1]);
    close_stage(&stage);
    scratch_free(&bin);
    leave(&room);
}

TEST(test_without_its_programs_it_says_what_it_does)
{
    struct scratch bin = few_programs(NULL);
    struct scratch room = new_room();
    struct fulcrum_stage stage = open_stage(0.0);
    CU_ASSERT_STRING_EQUAL(stage.info.detail,
        "process group with limits, no bwrap; calls: shell (find, grep, sort); no cc, "
        "test (awk; no python3)");
    struct fulcrum_stepper stepper;
    ASSERT_SAYS(fulcrum_stepper_open(&stepper, &stage, 0, &err), FULCRUM_OK, "");
    ASSERT_SAYS(fulcrum_stepper_run(&stepper, DECK, NULL, &err), FULCRUM_OK, "");
    CU_ASSERT(fulcrum_stepper_cpu_s(&stepper) > 0.0);
    fulcrum_stepper_close(&stepper);
    close_stage(&stage);
    scratch_free(&bin);
    leave(&room);
}

TEST(test_a_call_that_hangs_is_killed)
{
    struct scratch bin =
        few_programs("#!/bin/sh\n[ \"$1\" = -c ] || { /bin/sleep 100; true; }\n");
    struct scratch room = new_room();
    struct fulcrum_stage stage = open_stage(1.0);
    assert_part(stage.info.detail, "compile (cc)");
    struct fulcrum_stepper stepper;
    ASSERT_OK(fulcrum_stepper_open(&stepper, &stage, 0, NULL));
    double begin_s = fulcrum_wall_s();
    ASSERT_FAILS(fulcrum_stepper_run(&stepper, DECK, NULL, &err),
        FULCRUM_ERR_ENVIRONMENT, "sandbox: compile: took longer than --env-limit 1 s");
    CU_ASSERT(fulcrum_wall_s() - begin_s < 30.0);
    fulcrum_stepper_close(&stepper);
    close_stage(&stage);
    CU_ASSERT_EQUAL(scratch_count(&room), 0);
    assert_no_children();
    scratch_free(&bin);
    leave(&room);
}

TEST(test_a_call_that_fails_is_named)
{
    struct scratch bin =
        few_programs("#!/bin/sh\n[ \"$1\" = -c ] || { echo no code; exit 3; }\n");
    struct scratch room = new_room();
    struct fulcrum_stage stage = open_stage(0.0);
    struct fulcrum_stepper stepper;
    ASSERT_OK(fulcrum_stepper_open(&stepper, &stage, 0, NULL));
    ASSERT_FAILS(fulcrum_stepper_run(&stepper, DECK, NULL, &err),
        FULCRUM_ERR_ENVIRONMENT, "sandbox: compile: exited with code 3: no code");
    fulcrum_stepper_close(&stepper);
    close_stage(&stage);
    scratch_free(&bin);
    leave(&room);
}

TEST(test_what_cannot_be_had_is_refused)
{
    struct fulcrum_actor_shared *shared = NULL;
    struct fulcrum_actor_info info;
    const struct fulcrum_actor_options options = {.frame_skip = 4.0};
    ASSERT_FAILS(fulcrum_actor_sandbox.open(&options, &shared, &info, &err),
        FULCRUM_ERR_UNSUPPORTED, "--frame-skip 4: a call of a tool has no frames");
    (void)setenv("TMPDIR", "/nonexistent", 1);
    ASSERT_FAILS(fulcrum_actor_sandbox.open(NULL, &shared, &info, &err),
        FULCRUM_ERR_ENVIRONMENT, "sandbox: /nonexistent/fulcrum-sandbox-");
    (void)unsetenv("TMPDIR");
}

static struct fulcrum_calibration *calibrate(void)
{
    const struct fulcrum_calibrate_options options = {.actor = "sandbox",
        .budget_s = 6.0,
        .max_threads = 2,
        .seed = 3,
        .meter_root = "/nonexistent"};
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_SAYS(fulcrum_calibrate(&calibration, &options, &err), FULCRUM_OK, "");
    return calibration;
}

TEST(test_a_calibration_knows_tools_alone)
{
    static const char *const there[] = {"workload.step.mean_s", "workload.step.cv",
        "workload.agent.start_s", "workload.agent.sandbox_byte", "throughput_1_per_s"};
    struct scratch room = new_room();
    struct fulcrum_calibration *calibration = calibrate();
    for (size_t i = 0; i < LENGTH(there); i++) {
        CU_ASSERT(probing_value(calibration, there[i]) > 0.0);
    }
    CU_ASSERT(probing_value(calibration, "workload.host.delay_s") >= 0.0);
    CU_ASSERT(isnan(probing_value(calibration, "workload.network.per_batch_s")));
    CU_ASSERT(isnan(probing_value(calibration, "workload.training.train_step_s")));
    CU_ASSERT_PTR_NULL(fulcrum_calibration_note(calibration, "learner"));
    CU_ASSERT_EQUAL(calibration->complete, 1);
    ASSERT_SAYS(fulcrum_calibration_check(calibration, &err), FULCRUM_OK, "");
    fulcrum_calibration_free(calibration);
    CU_ASSERT_EQUAL(scratch_count(&room), 0);
    leave(&room);
}

/* Nothing is asked of rates: a busy machine has any. */
TEST(test_trajectories_are_measured_and_predicted)
{
    static const struct fulcrum_measure_config configs[] = {
        {.actor_count = 1, .envs_per_actor = 1},
        {.actor_count = 3, .envs_per_actor = 1}};
    struct scratch room = new_room();
    struct fulcrum_calibration *calibration = calibrate();
    const struct fulcrum_measure_options options = {.actor = "sandbox",
        .seed = 2,
        .configs = configs,
        .config_count = LENGTH(configs),
        .decode_s = 0.02,
        .window_s = 0.2,
        .window_count = 1,
        .most_windows = 1,
        .meter_root = "/nonexistent"};
    struct fulcrum_measurement *found = NULL;
    ASSERT_SAYS(fulcrum_measure(&found, &options, &err), FULCRUM_OK, "");
    struct fulcrum_design base;
    fulcrum_design_init(&base);
    fulcrum_host_detect(&base.machine);
    base.machine.cpu.smt_yield_frac = 0.25;
    const struct fulcrum_measured_plan plan = {.measurement = found,
        .calibration = calibration,
        .base = &base,
        .training = &options.training,
        .name = "calls"};
    struct fulcrum_reference *reference = NULL;
    ASSERT_SAYS(fulcrum_measured_reference(&plan, &reference, &err), FULCRUM_OK, "");
    struct fulcrum_prediction predictions[LENGTH(configs)] = {{.has_interval = false}};
    const struct fulcrum_reference_prediction to = {.points = predictions};
    ASSERT_SAYS(
        fulcrum_reference_predict(reference, calibration, &to, &err), FULCRUM_OK, "");
    for (size_t i = 0; i < LENGTH(configs); i++) {
        CU_ASSERT(found->items[i].median.steps_per_s > 0.0);
        CU_ASSERT(found->items[i].median.actor_busy_frac > 0.0);
        CU_ASSERT(predictions[i].value[FULCRUM_OUTPUT_steps_per_s] > 0.0);
    }
    fulcrum_reference_free(reference);
    fulcrum_measurement_free(found);
    fulcrum_calibration_free(calibration);
    CU_ASSERT_EQUAL(scratch_count(&room), 0);
    assert_no_children();
    leave(&room);
}
