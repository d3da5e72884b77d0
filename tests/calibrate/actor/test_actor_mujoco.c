/* test_actor_mujoco.c - broken simulations end an episode, not the program. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Its environments are opaque, and no action can break one: the test must reach in. */
#include "calibrate/actor/actor_mujoco.c" /* NOLINT(bugprone-suspicious-include) */

#include <stdbool.h>
#include <sys/stat.h>

#include "tests/support/suite.h"

#define OBSERVATION_MAX 400

struct stage {
    struct fulcrum_actor_shared *shared;
    struct fulcrum_actor_info info;
    struct fulcrum_env *env;
    float observation[OBSERVATION_MAX];
};

static struct stage open_stage(const struct fulcrum_actor *actor)
{
    struct stage stage = {.env = NULL};
    ASSERT_OK(actor->open(NULL, &stage.shared, &stage.info, NULL));
    CU_ASSERT_FATAL(stage.info.observation_count <= OBSERVATION_MAX);
    ASSERT_OK(actor->env_new(stage.shared, 1, &stage.env, NULL));
    actor->reset(stage.env, stage.observation);
    return stage;
}

static void close_stage(struct stage *stage)
{
    mujoco_env_free(stage->env);
    mujoco_close(stage->shared);
}

static int step_at_rest(struct stage *stage)
{
    static const float rest[17] = {0.0F};
    return mujoco_step(stage->env, rest, stage->observation);
}

static bool is_finite(const struct stage *stage)
{
    for (size_t i = 0; i < stage->info.observation_count; i++) {
        if (!isfinite(stage->observation[i])) {
            return 0;
        }
    }
    return 1;
}

static void expect_end(struct stage *stage, mjtNum *number, double value)
{
    *number = value;
    CU_ASSERT_EQUAL(step_at_rest(stage), 1);
    CU_ASSERT(is_finite(stage));
    mujoco_reset(stage->env, stage->observation);
    CU_ASSERT_EQUAL(step_at_rest(stage), 0);
    CU_ASSERT(is_finite(stage));
}

TEST(test_diverged_state_ends_the_episode)
{
    static const double values[] = {(double)NAN, (double)INFINITY, -1e300, 1e11};
    const struct fulcrum_actor *const actors[] = {
        &fulcrum_actor_mujoco_ant, &fulcrum_actor_mujoco_humanoid};
    for (size_t k = 0; k < 2; k++) {
        struct stage stage = open_stage(actors[k]);
        for (size_t i = 0; i < LENGTH(values); i++) {
            expect_end(&stage, &stage.env->data->qvel[3], values[i]);
            expect_end(&stage, &stage.env->data->qpos[9], values[i]);
        }
        close_stage(&stage);
    }
}

/* Steps, up to the end of the episode, whose observation is not finite. */
static int count_bad_steps(struct stage *stage, int step_count)
{
    int bad_count = 0;
    int ended = 0;
    for (int i = 0; i < step_count && !ended; i++) {
        ended = step_at_rest(stage);
        bad_count += !is_finite(stage);
    }
    return bad_count;
}

/* Speeds that are allowed, but throw the body out of any range at once. */
TEST(test_wild_state_keeps_observations_finite)
{
    static const double speeds[] = {1.0, 1e2, 1e4, 1e6, 1e8, 9e9};
    struct stage stage = open_stage(&fulcrum_actor_mujoco_humanoid);
    for (size_t i = 0; i < LENGTH(speeds); i++) {
        mujoco_reset(stage.env, stage.observation);
        stage.env->data->qvel[4] = speeds[i];
        stage.env->data->qvel[12] = -speeds[i];
        CU_ASSERT_EQUAL(count_bad_steps(&stage, 20), 0);
    }
    close_stage(&stage);
}

/* A stack without room is a fatal error to MuJoCo, at the start and later. */
TEST(test_fatal_error_ends_the_episode)
{
    struct stage stage = open_stage(&fulcrum_actor_mujoco_ant);
    mjData *data = stage.env->data;
    mj_resetData(stage.shared->model, data);
#if mjVERSION_HEADER >= 230
    data->narena = 1024;
    stage.shared->model->narena = 1024;
#else
    data->nstack = 8;
    stage.shared->model->nstack = 8;
#endif
    struct fulcrum_env *other = NULL;
    CU_ASSERT_EQUAL(
        mujoco_env_new(stage.shared, 1, &other, NULL), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_PTR_NULL(other);
    mujoco_env_free(other);
    CU_ASSERT_EQUAL(step_at_rest(&stage), 1);
    CU_ASSERT(is_finite(&stage));
    CU_ASSERT_PTR_NULL(recovery);
    close_stage(&stage);
}

/* Of MuJoCo's own log, 0 where there is none. */
static long long log_byte(void)
{
    struct stat info;
    return stat("MUJOCO_LOG.TXT", &info) == 0 ? (long long)info.st_size : 0;
}

TEST(test_warnings_leave_no_log_file)
{
    long long before_byte = log_byte();
    struct stage stage = open_stage(&fulcrum_actor_mujoco_ant);
    CU_ASSERT_PTR_EQUAL(mju_user_warning, ignore_warning);
    mju_warning("nothing to see");
    CU_ASSERT_EQUAL(log_byte(), before_byte);
    close_stage(&stage);
}

static void keep_quiet(const char *text)
{
    (void)text;
}

TEST(test_hooks_of_others_stay)
{
    mju_user_warning = keep_quiet;
    struct stage stage = open_stage(&fulcrum_actor_mujoco_ant);
    CU_ASSERT_PTR_EQUAL(mju_user_warning, keep_quiet);
    close_stage(&stage);
    mju_user_warning = NULL;
}
