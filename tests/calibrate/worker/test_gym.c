/* test_gym.c - environments of Gymnasium: what they are mapped to, and what they cost.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/probe/calibrate.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "tests/support/gym_python.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/trial.h"

/* How far a rate may lie from the plain loop's, which shares its machine with others.
 */
#define MARGIN_FACTOR 1.5

/* Blocks of steps of both kinds take turns, so that the machine's drift cancels. */
#define BLOCK_COUNT      24
#define BLOCK_STEP_COUNT ((size_t)400)

/* The interpreter; filled by the set-up. */
static char *python(void)
{
    static char path[4096] = "";
    return path;
}

static struct fulcrum_actor_options gym_options(const char *env_id)
{
    return (struct fulcrum_actor_options){
        .env_id = env_id, .python = python(), .limit_s = 30.0};
}

/* With the frame skip that it has by itself, unless asked for. */
static void open_gym(struct trial *trial, const char *env_id, double frame_skip)
{
    struct fulcrum_actor_options options = gym_options(env_id);
    options.frame_skip = frame_skip;
    trial_open(trial, "gym", &options);
    CU_ASSERT_STRING_EQUAL(trial->err.detail, "");
    ASSERT_OK(trial->status);
}

/* Its first failure; "" where there is none. */
static const char *failure_of(const struct trial *trial)
{
    return trial->stage.actor->failure(trial->stepper.env);
}

/* Boxes of floats and bytes, tuples, discrete sets, and the same of actions. */
static const struct {
    const char *env_id;
    enum fulcrum_observation_kind kind;
    size_t observation_count;
    size_t action_count;
} spaces[] = {
    {"CartPole-v1", FULCRUM_OBSERVE_FLOAT32, 4, 1},
    {"Pendulum-v1", FULCRUM_OBSERVE_FLOAT32, 3, 1},
    {"FrozenLake-v1", FULCRUM_OBSERVE_FLOAT32, 1, 1},
    {"Blackjack-v1", FULCRUM_OBSERVE_FLOAT32, 45, 1},
    {"ALE/Pong-v5", FULCRUM_OBSERVE_UINT8, 100800, 1},
    /* Each of these refuses an action that is none of its own. */
    {"odd_spaces:Dict-v0", FULCRUM_OBSERVE_FLOAT32, 7, 3},
    {"odd_spaces:Tuple-v0", FULCRUM_OBSERVE_FLOAT32, 6, 3},
    {"odd_spaces:Bytes-v0", FULCRUM_OBSERVE_UINT8, 20, 3},
    {"odd_spaces:Many-v0", FULCRUM_OBSERVE_FLOAT32, 2, 3},
    {"odd_spaces:Bits-v0", FULCRUM_OBSERVE_FLOAT32, 6, 3},
    {"odd_spaces:Start-v0", FULCRUM_OBSERVE_FLOAT32, 3, 1},
    {"odd_spaces:ManyActions-v0", FULCRUM_OBSERVE_FLOAT32, 3, 3},
    {"odd_spaces:BitActions-v0", FULCRUM_OBSERVE_FLOAT32, 3, 4},
    {"odd_spaces:BoxActions-v0", FULCRUM_OBSERVE_FLOAT32, 3, 2},
    {"odd_spaces:OpenActions-v0", FULCRUM_OBSERVE_FLOAT32, 3, 4},
};

TEST(test_spaces_are_mapped)
{
    for (size_t i = 0; i < LENGTH(spaces); i++) {
        struct trial trial;
        open_gym(&trial, spaces[i].env_id, 0.0);
        const struct fulcrum_actor_info *info = &trial.stage.info;
        CU_ASSERT_EQUAL(info->observation_kind, spaces[i].kind);
        CU_ASSERT_EQUAL(info->observation_count, spaces[i].observation_count);
        CU_ASSERT_EQUAL(info->action_count, spaces[i].action_count);
        assert_part(info->detail, "Gymnasium");
        ASSERT_OK(fulcrum_stepper_run(&trial.stepper, 300, NULL, &trial.err));
        (void)trial_step_singly(&trial, 50);
        CU_ASSERT_STRING_EQUAL(failure_of(&trial), "");
        trial_close(&trial);
    }
}

/* What an environment does wrong while it steps, in its own words where it has some. */
TEST(test_what_goes_wrong_is_named)
{
    static const struct {
        const char *env_id;
        const char *says;
    } rows[] = {
        {"odd_spaces:Shape-v0", "an observation of shape (7,), its space says (3,)"},
        {"odd_spaces:Nan-v0", "element 0 of the observation after step 5 is nan"},
        {"odd_spaces:Raise-v0",
            "environment 1: step 5: RuntimeError: the wheels came off all of them"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct trial trial;
        open_gym(&trial, rows[i].env_id, 0.0);
        enum fulcrum_status status = FULCRUM_OK;
        for (int j = 0; j < 5 && status == FULCRUM_OK; j++) {
            status = fulcrum_stepper_run(&trial.stepper, 1, NULL, &trial.err);
        }
        CU_ASSERT_EQUAL(status, FULCRUM_ERR_ENVIRONMENT);
        assert_part(trial.err.detail, rows[i].says);
        trial_close(&trial);
    }
}

TEST(test_runs_do_what_single_steps_do)
{
    struct trial single;
    struct trial run;
    open_gym(&single, "CartPole-v1", 0.0);
    open_gym(&run, "CartPole-v1", 0.0);
    trial_compare(&single, &run, 500);
    trial_close(&single);
    trial_close(&run);
}

/* Video frames in ALE, repeated actions elsewhere. */
TEST(test_frame_skip_is_in_force)
{
    static const struct {
        const char *env_id;
        double asked;
        double expected;
    } rows[] = {{"ALE/Pong-v5", 0.0, 4.0}, {"ALE/Pong-v5", 2.0, 2.0},
        {"CartPole-v1", 0.0, 1.0}, {"CartPole-v1", 3.0, 3.0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct trial trial;
        open_gym(&trial, rows[i].env_id, rows[i].asked);
        assert_close("frame skip", trial.stage.info.frame_skip, rows[i].expected, 0.0);
        trial_close(&trial);
    }
}

TEST(test_what_cannot_be_made_is_named)
{
    static const struct {
        const char *env_id;
        const char *says;
    } rows[] = {{"NoSuchGame-v9", "NoSuchGame"}, {"CartPole-v77", "v77"},
        {"ALE/NoSuchGame-v5", "NoSuchGame"},
        {"odd_spaces:DictActions-v0", "actions of Dict are not supported"},
        {"odd_spaces:Text-v0", "observations of Text are not supported"},
        {"no_such_module:Name-v0", "No module named 'no_such_module'"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct trial trial;
        struct fulcrum_actor_options options = gym_options(rows[i].env_id);
        trial_open(&trial, "gym", &options);
        CU_ASSERT_EQUAL(trial.status, FULCRUM_ERR_ENVIRONMENT);
        assert_part(trial.err.detail, rows[i].env_id);
        assert_part(trial.err.detail, rows[i].says);
        trial_close(&trial);
    }
}

/* The loop of plain_loop.py in a process of its own, told by lines how far to go. */
struct plain_loop {
    pid_t pid;
    FILE *to;
    FILE *from;
};

static void loop_in_child(const char *env_id, const char *seed, const char *actions)
{
    (void)execlp(
        python(), python(), "tests/workers/plain_loop.py", env_id, seed, actions, NULL);
    _exit(127);
}

static struct plain_loop plain_loop_start(
    const char *env_id, uint64_t seed, const char *actions)
{
    int to[2];
    int from[2];
    char seed_text[32];
    CU_ASSERT_EQUAL_FATAL(pipe(to), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(from), 0);
    (void)snprintf(seed_text, sizeof seed_text, "%llu",
        (unsigned long long)(seed % (UINT64_C(1) << 31)));
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(to[0], STDIN_FILENO);
        (void)dup2(from[1], STDOUT_FILENO);
        (void)close(to[1]);
        (void)close(from[0]);
        loop_in_child(env_id, seed_text, actions);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    return (struct plain_loop){pid, fdopen(to[1], "w"), fdopen(from[0], "r")};
}

static void plain_loop_end(struct plain_loop *loop)
{
    (void)fclose(loop->to);
    (void)fclose(loop->from);
    (void)waitpid(loop->pid, NULL, 0);
}

/* What a block of steps took. */
struct block {
    size_t reset_count;
    double wall_s;
    double cpu_s;
};

static struct block plain_block(struct plain_loop *loop, size_t count)
{
    struct block block = {0, 0.0, 0.0};
    char line[200] = "";
    (void)fprintf(loop->to, "%zu\n", count);
    (void)fflush(loop->to);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(line, sizeof line, loop->from));
    char *at = line;
    block.reset_count = strtoul(at, &at, 10);
    block.wall_s = strtod(at, &at);
    block.cpu_s = strtod(at, &at);
    return block;
}

static struct block bridge_block(struct fulcrum_stepper *stepper, size_t count)
{
    struct block block = {0, fulcrum_wall_s(), 0.0};
    double cpu_s = fulcrum_thread_cpu_s() + fulcrum_stepper_cpu_s(stepper);
    ASSERT_OK(fulcrum_stepper_run(stepper, count, &block.reset_count, NULL));
    block.cpu_s = fulcrum_thread_cpu_s() + fulcrum_stepper_cpu_s(stepper) - cpu_s;
    block.wall_s = fulcrum_wall_s() - block.wall_s;
    return block;
}

static char *write_actions(
    const struct scratch *scratch, const struct fulcrum_actions *actions)
{
    char *path = scratch_path(scratch, "actions");
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t count = actions->row_count * actions->column_count;
    CU_ASSERT_EQUAL(
        fwrite(actions->values, sizeof *actions->values, count, file), count);
    (void)fclose(file);
    return path;
}

/* Median ratios of time, bridge over plain loop. */
struct ratio {
    double wall_rel;
    double cpu_rel;
};

static struct ratio compare(struct trial *trial, struct plain_loop *loop)
{
    double wall_rel[BLOCK_COUNT];
    double cpu_rel[BLOCK_COUNT];
    size_t resets[2] = {0, 0};
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        struct block bridge = bridge_block(&trial->stepper, BLOCK_STEP_COUNT);
        struct block plain = plain_block(loop, BLOCK_STEP_COUNT);
        wall_rel[i] = bridge.wall_s / plain.wall_s;
        cpu_rel[i] = bridge.cpu_s / plain.cpu_s;
        resets[0] += bridge.reset_count;
        resets[1] += plain.reset_count;
    }
    /* Same seed, same actions: the same games, to the step. */
    CU_ASSERT(resets[0] > 0);
    CU_ASSERT_EQUAL(resets[0], resets[1]);
    gsl_sort(wall_rel, 1, BLOCK_COUNT);
    gsl_sort(cpu_rel, 1, BLOCK_COUNT);
    return (struct ratio){fulcrum_statistics_quantile(wall_rel, BLOCK_COUNT, 0.5),
        fulcrum_statistics_quantile(cpu_rel, BLOCK_COUNT, 0.5)};
}

static struct ratio measure_ratio(const char *env_id)
{
    struct trial trial;
    struct scratch scratch = scratch_new();
    open_gym(&trial, env_id, 0.0);
    char *actions = write_actions(&scratch, &trial.stage.actions);
    struct plain_loop loop = plain_loop_start(env_id, trial.stage.seed, actions);
    struct ratio ratio = compare(&trial, &loop);
    plain_loop_end(&loop);
    trial_close(&trial);
    free(actions);
    scratch_free(&scratch);
    (void)printf("\n    %s, bridge over plain loop: wall %.4f, CPU %.4f\n", env_id,
        ratio.wall_rel, ratio.cpu_rel);
    return ratio;
}

/* A margin that machines under load keep, and a loop that does its work twice does not.
 */
static bool is_close(double ratio)
{
    return ratio > 1.0 / MARGIN_FACTOR && ratio < MARGIN_FACTOR;
}

/* CPU time of blocks in alternation: what runs beside takes from both alike. */
TEST(test_bridge_costs_what_the_plain_loop_does)
{
    CU_ASSERT(is_close(measure_ratio("ALE/Pong-v5").cpu_rel));
}

/* Steps per CPU second of the plain loop; wall time and CPU time agree where idle. */
static double plain_rate(const struct fulcrum_calibrate_options *options)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_actions actions;
    ASSERT_OK(fulcrum_actions_new(&actions, options->seed, 1, NULL));
    char *path = write_actions(&scratch, &actions);
    struct plain_loop loop =
        plain_loop_start(options->actor_options.env_id, options->seed, path);
    (void)plain_block(&loop, BLOCK_STEP_COUNT);
    struct block block = plain_block(&loop, BLOCK_COUNT * BLOCK_STEP_COUNT);
    plain_loop_end(&loop);
    fulcrum_actions_free(&actions);
    free(path);
    scratch_free(&scratch);
    return (double)(BLOCK_COUNT * BLOCK_STEP_COUNT) / block.cpu_s;
}

/* Returns 1 where nothing can be calibrated here, or it agrees. */
static int calibration_agrees(const struct fulcrum_calibrate_options *options)
{
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    double before_per_s = plain_rate(options);
    enum fulcrum_status status = fulcrum_calibrate(&calibration, options, &err);
    if (status == FULCRUM_ERR_UNSUPPORTED) {
        (void)fprintf(stderr, "skipped: %s\n", err.detail);
        return 1;
    }
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    ASSERT_OK(status);
    double plain_per_s = 0.5 * (before_per_s + plain_rate(options));
    /* In runs, as the plain loop has it; a step that is asked for costs more. */
    const struct fulcrum_quantity *mean =
        fulcrum_calibration_quantity(calibration, "actor_step_mean_s");
    const struct fulcrum_parameter *asked_for =
        fulcrum_calibration_parameter(calibration, "workload.step.mean_s");
    CU_ASSERT(mean != NULL && asked_for != NULL && asked_for->value >= mean->value);
    double mean_s = mean != NULL ? mean->value : (double)NAN;
    double ratio = 1.0 / mean_s / plain_per_s;
    (void)printf("\n    calibrated %.0f steps/s, plain loop %.0f: %.4f\n", 1.0 / mean_s,
        plain_per_s, ratio);
    fulcrum_calibration_free(calibration);
    return is_close(ratio);
}

TEST(test_calibration_agrees_with_the_plain_loop)
{
    const struct fulcrum_calibrate_options options = {
        .actor = "gym",
        .actor_options = gym_options("ALE/Pong-v5"),
        .network = FULCRUM_NETWORK_R2D2,
        .budget_s = 10.0,
        .max_threads = 1,
        .seed = 11,
        .meter_root = "/nonexistent",
    };
    CU_ASSERT(calibration_agrees(&options));
}

SUITE_SETUP
{
    if (!gym_python_find("tests/gym_python.sh", python())) {
        (void)fprintf(stderr,
            "skipped: no Python with Gymnasium and ale-py; FULCRUM_GYM_PYTHON may name "
            "one\n");
        return 77;
    }
    (void)setenv("PYTHONPATH", "tests/workers", 1);
    return 0;
}
