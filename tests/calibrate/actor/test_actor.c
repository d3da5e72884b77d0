/* test_actor.c - every actor keeps the promises of actor.h. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/actor.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/actor/stepper.h"
#include "calibrate/statistics.h"
#include "tests/support/suite.h"

#define STEP_COUNT           200
#define THREAD_COUNT         4
#define ACTION_MAX           64
#define OBSERVATION_BYTE_MAX (4 * 84 * 84)
#define DEFAULT_SEED         7
#define OTHER_SEED           8

/* What an environment did: a digest of all observations, and the last of them. */
struct trace {
    uint64_t digest;
    size_t end_count;
    int all_finite;
    size_t last_byte;
    unsigned char last[OBSERVATION_BYTE_MAX];
};

/* `actor` is NULL where this machine or build does not have it. */
static struct fulcrum_stage open_stage(const struct fulcrum_actor *actor)
{
    struct fulcrum_stage stage = {.actor = NULL};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    enum fulcrum_status status = actor->open(NULL, &stage.shared, &stage.info, &err);
    if (status == FULCRUM_OK) {
        stage.actor = actor;
    } else {
        CU_ASSERT(status == FULCRUM_ERR_UNSUPPORTED || status == FULCRUM_ERR_MISSING);
        CU_ASSERT_NOT_EQUAL(err.detail[0], '\0');
        (void)fprintf(
            stderr, "%s is not available here: %s\n", actor->name, err.detail);
    }
    return stage;
}

static struct fulcrum_env *make_env(const struct fulcrum_stage *stage, uint64_t seed)
{
    struct fulcrum_env *env = NULL;
    ASSERT_SAYS(stage->actor->env_new(stage->shared, seed, &env, &err), FULCRUM_OK, "");
    return env;
}

/* FNV-1a, 64 bits. */
static uint64_t add_to_digest(uint64_t digest, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

static bool is_finite(const struct fulcrum_actor_info *info, const void *observation)
{
    const float *values = observation;
    for (size_t i = 0; info->observation_kind == FULCRUM_OBSERVE_FLOAT32 &&
                       i < info->observation_count;
         i++) {
        if (!isfinite(values[i])) {
            return 0;
        }
    }
    return 1;
}

/* Random actions from a stream of their own, resets where episodes end. */
static void play(
    const struct fulcrum_stage *stage, struct fulcrum_env *env, struct trace *out)
{
    const struct fulcrum_actor *actor = stage->actor;
    struct fulcrum_random random = fulcrum_random_seeded(99);
    float action[ACTION_MAX];
    actor->reset(env, out->last);
    for (int i = 0; i < STEP_COUNT; i++) {
        for (size_t j = 0; j < stage->info.action_count; j++) {
            action[j] = (float)fulcrum_random_between(&random, -1.0, 1.0);
        }
        int ended = actor->step(env, action, out->last);
        out->digest = add_to_digest(out->digest, out->last, out->last_byte);
        out->all_finite = out->all_finite && is_finite(&stage->info, out->last);
        if (ended) {
            out->end_count++;
            actor->reset(env, out->last);
            out->digest = add_to_digest(out->digest, out->last, out->last_byte);
        }
    }
}

static struct trace new_trace(const struct fulcrum_stage *stage)
{
    struct trace trace = {
        .all_finite = 1, .last_byte = fulcrum_observation_byte(&stage->info)};
    CU_ASSERT_FATAL(trace.last_byte <= sizeof trace.last);
    return trace;
}

/* A fresh environment's trace. */
static struct trace trace_of(const struct fulcrum_stage *stage, uint64_t seed)
{
    struct trace trace = new_trace(stage);
    struct fulcrum_env *env = make_env(stage, seed);
    play(stage, env, &trace);
    stage->actor->env_free(env);
    return trace;
}

#define STAGE_TEST(function)                                                           \
    TEST_EACH(function, for_each_actor, const struct fulcrum_stage *stage)
static void for_each_actor(void (*check)(const struct fulcrum_stage *stage))
{
    for (const struct fulcrum_actor *const *at = fulcrum_actors(); *at != NULL; at++) {
        /* Tools show nothing and take no actions: test_actor_sandbox.c. */
        struct fulcrum_stage stage = {.actor = NULL};
        if (!(*at)->is_tools) {
            stage = open_stage(*at);
        }
        if (stage.actor != NULL) {
            check(&stage);
            stage.actor->close(stage.shared);
        }
    }
}

TEST(test_actors_are_found_by_name)
{
    size_t count = 0;
    for (const struct fulcrum_actor *const *at = fulcrum_actors(); *at != NULL; at++) {
        CU_ASSERT_PTR_EQUAL(fulcrum_actor_find((*at)->name), *at);
        CU_ASSERT(strlen((*at)->summary) > 10);
        count++;
    }
#define NAME(symbol, name, summary) name,
    static const char *const loops[] = {FULCRUM_VECTORS(NAME) FULCRUM_FRAMEWORKS(NAME)};
#undef NAME
    CU_ASSERT_EQUAL(count, 7 + sizeof loops / sizeof loops[0]);
    CU_ASSERT_PTR_NULL(fulcrum_actor_find("cartpol"));
    CU_ASSERT_PTR_NULL(fulcrum_actor_find(""));
}

STAGE_TEST(test_info_is_filled)
{
    CU_ASSERT(stage->info.observation_count > 0);
    CU_ASSERT(stage->info.action_count > 0 && stage->info.action_count <= ACTION_MAX);
    CU_ASSERT(stage->info.frame_skip >= 1.0);
    CU_ASSERT(strlen(stage->info.detail) > 10);
}

STAGE_TEST(test_equal_seeds_agree_and_others_differ)
{
    struct trace first = trace_of(stage, DEFAULT_SEED);
    struct trace same = trace_of(stage, DEFAULT_SEED);
    struct trace other = trace_of(stage, OTHER_SEED);
    CU_ASSERT_EQUAL(first.digest, same.digest);
    CU_ASSERT_EQUAL(first.end_count, same.end_count);
    CU_ASSERT_EQUAL(memcmp(first.last, same.last, first.last_byte), 0);
    CU_ASSERT_NOT_EQUAL(first.digest, other.digest);
    CU_ASSERT(first.all_finite && other.all_finite);
}

STAGE_TEST(test_environments_do_not_disturb_each_other)
{
    struct trace alone = trace_of(stage, DEFAULT_SEED);
    struct fulcrum_env *env = make_env(stage, DEFAULT_SEED);
    struct fulcrum_env *neighbour = make_env(stage, OTHER_SEED);
    struct trace beside = new_trace(stage);
    struct trace noise = new_trace(stage);
    play(stage, neighbour, &noise);
    play(stage, env, &beside);
    CU_ASSERT_EQUAL(alone.digest, beside.digest);
    stage->actor->env_free(neighbour);
    stage->actor->env_free(env);
}

/* Two ways to act lead to different observations. */
STAGE_TEST(test_actions_change_observations)
{
    const struct fulcrum_actor *actor = stage->actor;
    struct trace observations[2] = {new_trace(stage), new_trace(stage)};
    for (size_t k = 0; k < 2; k++) {
        struct fulcrum_env *env = make_env(stage, DEFAULT_SEED);
        float action[ACTION_MAX];
        for (size_t j = 0; j < ACTION_MAX; j++) {
            action[j] = (j % 2 == k) ? 1.0F : -1.0F;
        }
        actor->reset(env, observations[k].last);
        for (int i = 0; i < 4; i++) {
            (void)actor->step(env, action, observations[k].last);
        }
        actor->env_free(env);
    }
    CU_ASSERT_NOT_EQUAL(
        memcmp(observations[0].last, observations[1].last, observations[0].last_byte),
        0);
}

struct runner {
    const struct fulcrum_stage *stage;
    struct fulcrum_env *env;
    struct trace trace;
    pthread_t thread;
};

static void *run_on_thread(void *argument)
{
    struct runner *runner = argument;
    play(runner->stage, runner->env, &runner->trace);
    return NULL;
}

STAGE_TEST(test_threads_give_what_one_thread_gives)
{
    struct runner runners[THREAD_COUNT];
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        runners[i] = (struct runner){
            .stage = stage, .env = make_env(stage, i), .trace = new_trace(stage)};
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        CU_ASSERT_EQUAL_FATAL(
            pthread_create(&runners[i].thread, NULL, run_on_thread, &runners[i]), 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(runners[i].thread, NULL);
        stage->actor->env_free(runners[i].env);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        struct trace sequential = trace_of(stage, i);
        CU_ASSERT_EQUAL(sequential.digest, runners[i].trace.digest);
        CU_ASSERT_EQUAL(sequential.end_count, runners[i].trace.end_count);
    }
}

static void expect_frame_skip_refused(const struct fulcrum_actor *actor, double value)
{
    struct fulcrum_actor_options options = {.frame_skip = value};
    struct fulcrum_actor_shared *shared = NULL;
    struct fulcrum_actor_info info;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    enum fulcrum_status status = actor->open(&options, &shared, &info, &err);
    CU_ASSERT(status == FULCRUM_ERR_RANGE || status == FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(shared);
    CU_ASSERT_NOT_EQUAL(err.detail[0], '\0');
}

TEST(test_frame_skip_outside_its_range_is_refused)
{
    static const double values[] = {
        -1.0, 0.5, 2.5, 1001.0, (double)INFINITY, (double)NAN};
    for (const struct fulcrum_actor *const *at = fulcrum_actors(); *at != NULL; at++) {
        for (size_t i = 0; i < LENGTH(values); i++) {
            expect_frame_skip_refused(*at, values[i]);
        }
    }
}

TEST(test_frame_skip_asked_for_is_in_force)
{
    for (const struct fulcrum_actor *const *at = fulcrum_actors(); *at != NULL; at++) {
        struct fulcrum_actor_options options = {.frame_skip = 1.0};
        struct fulcrum_stage stage = {.actor = *at};
        if ((*at)->is_tools ||
            (*at)->open(&options, &stage.shared, &stage.info, NULL) != FULCRUM_OK) {
            continue;
        }
        CU_ASSERT_EQUAL(stage.info.frame_skip, 1.0);
        CU_ASSERT(trace_of(&stage, DEFAULT_SEED).all_finite);
        stage.actor->close(stage.shared);
    }
}

/* The actor that no machine lacks. */
static struct fulcrum_stage open_cartpole(void)
{
    struct fulcrum_stage stage = open_stage(&fulcrum_actor_cartpole);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.actor);
    return stage;
}

/* One Euler step by hand, with the numbers of the task in place of their names. */
TEST(test_cartpole_follows_the_equations_of_motion)
{
    struct fulcrum_stage stage = open_cartpole();
    const struct fulcrum_actor *actor = stage.actor;
    struct fulcrum_env *env = make_env(&stage, DEFAULT_SEED);
    float before[4];
    float after[4];
    float push = 1.0F;
    actor->reset(env, before);
    (void)actor->step(env, &push, after);
    double place = before[0];
    double speed = before[1];
    double theta = before[2];
    double omega = before[3];
    double temp = (10.0 + 0.05 * omega * omega * sin(theta)) / 1.1;
    double alpha = (9.8 * sin(theta) - cos(theta) * temp) /
                   (0.5 * (4.0 / 3.0 - 0.1 * cos(theta) * cos(theta) / 1.1));
    double accel = temp - 0.05 * alpha * cos(theta) / 1.1;
    /* Observations are floats of magnitude below 1. */
    CU_ASSERT_DOUBLE_EQUAL((double)after[0], place + 0.02 * speed, 1e-7);
    CU_ASSERT_DOUBLE_EQUAL((double)after[1], speed + 0.02 * accel, 1e-7);
    CU_ASSERT_DOUBLE_EQUAL((double)after[2], theta + 0.02 * omega, 1e-7);
    CU_ASSERT_DOUBLE_EQUAL((double)after[3], omega + 0.02 * alpha, 1e-7);
    actor->env_free(env);
    actor->close(stage.shared);
}

/* Steps until the episode ends, at most `limit`. `action` is chosen from the state. */
static int episode_length(const struct fulcrum_stage *stage, uint64_t seed,
    void (*act)(float *action, const float *observation), int limit)
{
    struct fulcrum_env *env = make_env(stage, seed);
    float observation[400] = {0.0F};
    CU_ASSERT_FATAL(stage->info.observation_count <= LENGTH(observation));
    float action[ACTION_MAX] = {0.0F};
    stage->actor->reset(env, observation);
    int length = 0;
    int ended = 0;
    while (!ended && length < limit) {
        act(action, observation);
        ended = stage->actor->step(env, action, observation);
        length++;
    }
    stage->actor->env_free(env);
    return ended ? length : limit + 1;
}

static void push_right(float *action, const float *observation)
{
    (void)observation;
    action[0] = 1.0F;
}

/* A linear rule on all four numbers balances the pole and keeps the cart near 0. */
static void balance(float *action, const float *observation)
{
    action[0] = 0.1F * observation[0] + 0.3F * observation[1] + 3.0F * observation[2] +
                observation[3];
}

TEST(test_cartpole_ends_when_the_pole_falls_or_time_is_up)
{
    struct fulcrum_stage stage = open_cartpole();
    for (uint64_t seed = 0; seed < 20; seed++) {
        int fall = episode_length(&stage, seed, push_right, 600);
        CU_ASSERT(fall >= 7 && fall <= 12);
        CU_ASSERT_EQUAL(episode_length(&stage, seed, balance, 600), 500);
    }
    stage.actor->close(stage.shared);
}

static void rest(float *action, const float *observation)
{
    (void)observation;
    for (size_t i = 0; i < ACTION_MAX; i++) {
        action[i] = 0.0F;
    }
}

static void throw_not_a_number(float *action, const float *observation)
{
    (void)observation;
    for (size_t i = 0; i < 8; i++) {
        action[i] = NAN;
    }
}

/* An ant at rest stands until time is up; a humanoid at rest falls. */
TEST(test_mujoco_ends_by_height_or_time)
{
    struct fulcrum_stage ant = open_stage(fulcrum_actor_find("mujoco-ant"));
    if (ant.actor != NULL) {
        CU_ASSERT_EQUAL(ant.info.observation_count, 105);
        CU_ASSERT_EQUAL(ant.info.action_count, 8);
        CU_ASSERT_EQUAL(episode_length(&ant, 1, rest, 1100), 1000);
        CU_ASSERT(episode_length(&ant, 1, throw_not_a_number, 1100) <= 1000);
        ant.actor->close(ant.shared);
    }
    struct fulcrum_stage humanoid = open_stage(fulcrum_actor_find("mujoco-humanoid"));
    if (humanoid.actor != NULL) {
        CU_ASSERT_EQUAL(humanoid.info.observation_count, 348);
        CU_ASSERT_EQUAL(humanoid.info.action_count, 17);
        int fall = episode_length(&humanoid, 1, rest, 1100);
        CU_ASSERT(fall > 10 && fall < 200);
        humanoid.actor->close(humanoid.shared);
    }
}
