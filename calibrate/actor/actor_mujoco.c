/* actor_mujoco.c - locomotion tasks simulated by MuJoCo. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/actor.h"
#include "calibrate/fulcrum_ant_xml.h"
#include "calibrate/fulcrum_humanoid_xml.h"
#include "calibrate/statistics.h"
#include "model/try.h"

/* Steps of one episode, as in the Gymnasium tasks. */
#define EPISODE_STEP_COUNT 1000
/* Of the torso's free joint: two times three. */
#define ROOT_VELOCITY_COUNT 6

/* What the observation holds after positions and velocities. */
enum task_observation {
    OBSERVE_CONTACTS, /* forces on the bodies from outside, cut off at 1 */
    OBSERVE_BODIES    /* inertias, velocities, actuator forces, outer forces */
};

struct task {
    const unsigned char *xml;
    size_t xml_byte;
    enum task_observation observation;
    double start_noise;  /* added to each position and velocity, uniform, +- */
    double height_min_m; /* of a torso that has not fallen */
    double height_max_m;
};

/* Limits and noise as in the Gymnasium tasks Ant and Humanoid. */
static const struct task ant = {
    fulcrum_ant_xml, sizeof fulcrum_ant_xml, OBSERVE_CONTACTS, 0.1, 0.2, 1.0};
static const struct task humanoid = {
    fulcrum_humanoid_xml, sizeof fulcrum_humanoid_xml, OBSERVE_BODIES, 0.01, 1.0, 2.0};

struct fulcrum_actor_shared {
    const struct task *task;
    mjModel *model; /* not written after open: every thread reads it */
    int frame_skip;
};

struct fulcrum_env {
    const struct fulcrum_actor_shared *shared;
    mjData *data;
    int step_count;
    struct fulcrum_random random;
};

/*
 * MuJoCo reports a fatal error (a full stack, no memory) through one hook of the
 * process that must not return; the hook's default ends the program. Ours jumps back
 * to the guarded call of its thread, and has nothing but thread storage to find it.
 */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static _Thread_local jmp_buf *recovery;

static void jump_to_recovery(const char *text)
{
    (void)text;
    if (recovery == NULL) {
        abort(); /* someone else's call: MuJoCo's own hook would end the program too */
    }
    longjmp(*recovery, 1);
}

/* The default hook would write MUJOCO_LOG.TXT; mjData counts warnings anyway. */
static void ignore_warning(const char *text)
{
    (void)text;
}

/* Returns 0 where MuJoCo gave up in the middle of `call`. */
static int guarded(void (*call)(void *), void *argument)
{
    jmp_buf here;
    jmp_buf *outer = recovery;
    if (setjmp(here) != 0) {
        recovery = outer;
        return 0;
    }
    recovery = &here;
    call(argument);
    recovery = outer;
    return 1;
}

struct loading {
    const struct task *task;
    mjModel *model;
    char text[500];
};

static int add_to_vfs(mjVFS *vfs, const char *name, const struct task *task)
{
    int size_byte = (int)task->xml_byte;
#if mjVERSION_HEADER >= 313
    return mj_addBufferVFS(vfs, name, task->xml, size_byte);
#else
    int failure = mj_makeEmptyFileVFS(vfs, name, size_byte);
    if (failure == 0) {
        memcpy(vfs->filedata[mj_findFileVFS(vfs, name)], task->xml, task->xml_byte);
    }
    return failure;
#endif
}

static void load_model(void *argument)
{
    struct loading *loading = argument;
    mjVFS *vfs = calloc(1, sizeof *vfs); /* 2 MB in MuJoCo 2: too much for a stack */
    if (vfs == NULL) {
        return;
    }
    mj_defaultVFS(vfs);
    if (add_to_vfs(vfs, "task.xml", loading->task) == 0) {
        loading->model =
            mj_loadXML("task.xml", vfs, loading->text, (int)sizeof loading->text);
    }
    mj_deleteVFS(vfs);
    free(vfs);
}

static size_t observation_count(const struct task *task, const mjModel *model)
{
    size_t body_count = (size_t)model->nbody - 1;
    size_t count = (size_t)model->nq - 2 + (size_t)model->nv + 6 * body_count;
    if (task->observation == OBSERVE_BODIES) {
        count += (10 + 6) * body_count + (size_t)model->nv - ROOT_VELOCITY_COUNT;
    }
    return count;
}

static enum fulcrum_status load_shared(struct fulcrum_actor_shared *shared,
    const struct task *task, struct fulcrum_error *err)
{
    struct loading loading = {.task = task};
    /* Both hooks belong to the process: one that somebody else has set stays. */
    if (mju_user_error == NULL) {
        mju_user_error = jump_to_recovery;
    }
    if (mju_user_warning == NULL) {
        mju_user_warning = ignore_warning;
    }
    FAIL_IF(mj_version() != mjVERSION_HEADER, err, FULCRUM_ERR_UNSUPPORTED,
        "MuJoCo library version %d differs from the version %d that this program "
        "was built for",
        mj_version(), mjVERSION_HEADER);
    FAIL_IF(!guarded(load_model, &loading) || loading.model == NULL, err,
        FULCRUM_ERR_UNSUPPORTED, "MuJoCo %s does not load the built-in model: %s",
        mj_versionString(), loading.text);
    shared->task = task;
    shared->model = loading.model;
    return FULCRUM_OK;
}

static void mujoco_close(struct fulcrum_actor_shared *shared)
{
    if (shared != NULL) {
        mj_deleteModel(shared->model);
        free(shared);
    }
}

static enum fulcrum_status open_task(const struct task *task,
    const struct fulcrum_actor_options *options, struct fulcrum_actor_shared **out,
    struct fulcrum_actor_info *info, struct fulcrum_error *err)
{
    double frame_skip = 0.0;
    TRY(fulcrum_actor_frame_skip(&frame_skip, options, 5.0, err));
    struct fulcrum_actor_shared *shared = calloc(1, sizeof *shared);
    TRY_MEMORY(shared, err, "MuJoCo model");
    enum fulcrum_status status = load_shared(shared, task, err);
    if (status != FULCRUM_OK) {
        free(shared);
        return status;
    }
    shared->frame_skip = (int)frame_skip;
    const mjModel *model = shared->model;
    assert(model != NULL);
    *info = (struct fulcrum_actor_info){
        .observation_kind = FULCRUM_OBSERVE_FLOAT32,
        .observation_count = observation_count(shared->task, model),
        .action_count = (size_t)model->nu,
        .frame_skip = frame_skip,
    };
    (void)snprintf(info->detail, sizeof info->detail,
        "MuJoCo %s, built-in model %s, RK4 steps of %g s", mj_versionString(),
        model->names, model->opt.timestep);
    *out = shared;
    return FULCRUM_OK;
}

/* Cut off at MuJoCo's own limit of a sane number, far below the largest float. */
static float *put_numbers(float *out, const mjtNum *values, int count, double limit)
{
    for (int i = 0; i < count; i++) {
        out[i] = (float)fmax(-limit, fmin(limit, values[i]));
    }
    return out + count;
}

/* The order of Gymnasium's version 5 tasks; the world itself (body 0) is left out. */
static void observe(const struct fulcrum_env *env, void *observation)
{
    const mjModel *model = env->shared->model;
    const mjData *data = env->data;
    int body_count = model->nbody - 1;
    float *out = observation;
    out = put_numbers(out, data->qpos + 2, model->nq - 2, mjMAXVAL);
    out = put_numbers(out, data->qvel, model->nv, mjMAXVAL);
    if (env->shared->task->observation == OBSERVE_CONTACTS) {
        (void)put_numbers(out, data->cfrc_ext + 6, 6 * body_count, 1.0);
        return;
    }
    out = put_numbers(out, data->cinert + 10, 10 * body_count, mjMAXVAL);
    out = put_numbers(out, data->cvel + 6, 6 * body_count, mjMAXVAL);
    out = put_numbers(out, data->qfrc_actuator + ROOT_VELOCITY_COUNT,
        model->nv - ROOT_VELOCITY_COUNT, mjMAXVAL);
    (void)put_numbers(out, data->cfrc_ext + 6, 6 * body_count, mjMAXVAL);
}

static void add_noise(
    struct fulcrum_random *random, mjtNum *values, int count, double noise)
{
    for (int i = 0; i < count; i++) {
        values[i] += fulcrum_random_between(random, -noise, noise);
    }
}

static void start_episode(void *argument)
{
    struct fulcrum_env *env = argument;
    const mjModel *model = env->shared->model;
    double noise = env->shared->task->start_noise;
    mj_resetDataKeyframe(model, env->data, 0);
    add_noise(&env->random, env->data->qpos, model->nq, noise);
    add_noise(&env->random, env->data->qvel, model->nv, noise);
    mj_forward(model, env->data);
    mj_rnePostConstraint(model, env->data);
    env->step_count = 0;
}

static enum fulcrum_step_result mujoco_reset(struct fulcrum_env *env, void *observation)
{
    /* Cannot fail where the first reset of mujoco_env_new succeeded. */
    (void)guarded(start_episode, env);
    observe(env, observation);
    return FULCRUM_STEP_ON;
}

static void make_data(void *argument)
{
    struct fulcrum_env *env = argument;
    env->data = mj_makeData(env->shared->model);
}

static void mujoco_env_free(struct fulcrum_env *env)
{
    if (env != NULL) {
        if (env->data != NULL) {
            mj_deleteData(env->data);
        }
        free(env);
    }
}

static enum fulcrum_status mujoco_env_new(struct fulcrum_actor_shared *shared,
    uint64_t seed, struct fulcrum_env **out, struct fulcrum_error *err)
{
    struct fulcrum_env *env = calloc(1, sizeof *env);
    TRY_MEMORY(env, err, "MuJoCo environment");
    env->shared = shared;
    env->random = fulcrum_random_seeded(seed);
    if (!guarded(make_data, env) || env->data == NULL || !guarded(start_episode, env)) {
        mujoco_env_free(env);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "state of a MuJoCo environment");
    }
    *out = env;
    return FULCRUM_OK;
}

static void advance(void *argument)
{
    struct fulcrum_env *env = argument;
    for (int i = 0; i < env->shared->frame_skip; i++) {
        mj_step(env->shared->model, env->data);
    }
    /* mj_step leaves the outer forces on the bodies out. */
    mj_rnePostConstraint(env->shared->model, env->data);
}

static int all_sane(const mjtNum *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(values[i]) <= mjMAXVAL)) {
            return 0;
        }
    }
    return 1;
}

/* MuJoCo resets a state that it finds bad by itself, and counts it as a warning. */
static int diverged(const struct fulcrum_env *env)
{
    const mjWarningStat *warning = env->data->warning;
    return warning[mjWARN_BADQPOS].number > 0 || warning[mjWARN_BADQVEL].number > 0 ||
           warning[mjWARN_BADQACC].number > 0 ||
           !all_sane(env->data->qpos, env->shared->model->nq) ||
           !all_sane(env->data->qvel, env->shared->model->nv);
}

/* Actions are shares of each motor's control range. */
static enum fulcrum_step_result mujoco_step(
    struct fulcrum_env *env, const float *action, void *observation)
{
    const struct task *task = env->shared->task;
    const mjModel *model = env->shared->model;
    for (int i = 0; i < model->nu; i++) {
        env->data->ctrl[i] = (double)action[i] * model->actuator_ctrlrange[2 * i + 1];
    }
    if (!guarded(advance, env) || diverged(env)) {
        (void)mujoco_reset(env, observation); /* the last observation stays finite */
        return FULCRUM_STEP_END;
    }
    env->step_count++;
    observe(env, observation);
    double height_m = env->data->qpos[2];
    int ended = height_m < task->height_min_m || height_m > task->height_max_m ||
                env->step_count >= EPISODE_STEP_COUNT;
    return ended ? FULCRUM_STEP_END : FULCRUM_STEP_ON;
}

#define TASK(task, told_summary)                                                       \
    static enum fulcrum_status task##_open(                                            \
        const struct fulcrum_actor_options *options,                                   \
        struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,            \
        struct fulcrum_error *err)                                                     \
    {                                                                                  \
        return open_task(&(task), options, out, info, err);                            \
    }                                                                                  \
    const struct fulcrum_actor fulcrum_actor_mujoco_##task = {                         \
        .name = "mujoco-" #task,                                                       \
        .summary = (told_summary),                                                     \
        .open = task##_open,                                                           \
        .close = mujoco_close,                                                         \
        .env_new = mujoco_env_new,                                                     \
        .env_free = mujoco_env_free,                                                   \
        .step = mujoco_step,                                                           \
        .reset = mujoco_reset,                                                         \
    };

TASK(ant, FULCRUM_MUJOCO_ANT_SUMMARY)
TASK(humanoid, FULCRUM_MUJOCO_HUMANOID_SUMMARY)
