/* actor_worker.c - environments of the user's own, each in a process of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two actors that differ in what their workers run: a shared object with the functions
 * of fulcrum_env.h, or a Python interpreter with an environment of Gymnasium.
 */
#define _GNU_SOURCE

#include <elf.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/actor/actor.h"
#include "calibrate/worker/worker.h"
#include "model/try.h"

/* An environment may take so long to be destroyed, unless its limit is shorter. */
#define GRACE_S 1.0

#define ARGUMENT_MAX 8

struct fulcrum_actor_shared {
    struct fulcrum_worker_job job;
    char program[FULCRUM_WORKER_PATH_SIZE]; /* fulcrum-worker */
    char parent[24];                        /* process id */
    char path[FULCRUM_WORKER_PATH_SIZE];    /* plug-in, or fulcrum_gym.py */
    char python[FULCRUM_WORKER_PATH_SIZE];
    char env_id[256];
    char *argv[ARGUMENT_MAX];
    struct fulcrum_worker_description description;
    atomic_size_t made_count;
    atomic_ullong first_seed; /* of the first environment: numbers count from it */
    atomic_int is_rude;       /* one did not end when asked to: the others are killed */
};

struct fulcrum_env {
    struct fulcrum_actor_shared *shared;
    struct fulcrum_worker *worker;
    uint64_t seed;
};

static void worker_close(struct fulcrum_actor_shared *shared)
{
    free(shared);
}

static double grace_of(const struct fulcrum_actor_shared *shared)
{
    return atomic_load(&shared->is_rude) ? 0.0 : fmin(GRACE_S, shared->job.limit_s);
}

static void worker_env_free(struct fulcrum_env *env)
{
    if (env == NULL) {
        return;
    }
    if (!fulcrum_worker_free(env->worker, grace_of(env->shared))) {
        atomic_store(&env->shared->is_rude, 1);
    }
    free(env);
}

static enum fulcrum_status worker_env_new(struct fulcrum_actor_shared *shared,
    uint64_t seed, struct fulcrum_env **out, struct fulcrum_error *err)
{
    struct fulcrum_env *env = calloc(1, sizeof *env);
    TRY_MEMORY(env, err, "%s", shared->job.what);
    env->shared = shared;
    env->seed = seed;
    /* Seeds count up from that of the first environment, and are its numbers for
     * people. */
    if (atomic_fetch_add(&shared->made_count, 1) == 0) {
        atomic_store(&shared->first_seed, seed);
    }
    size_t number = (size_t)(seed - atomic_load(&shared->first_seed)) + 1;
    enum fulcrum_status status =
        fulcrum_worker_start(&env->worker, &shared->job, number, err);
    if (status != FULCRUM_OK) {
        free(env);
        return status;
    }
    *out = env;
    return FULCRUM_OK;
}

static enum fulcrum_status worker_await(
    struct fulcrum_env *env, struct fulcrum_error *err)
{
    const struct fulcrum_worker_description *first = &env->shared->description;
    struct fulcrum_worker_description own;
    TRY(fulcrum_worker_describe(env->worker, &own, err));
    FAIL_IF(own.observation_kind != first->observation_kind ||
                own.observation_count != first->observation_count ||
                own.action_count != first->action_count,
        err, FULCRUM_ERR_ENVIRONMENT,
        "%s: an environment describes itself otherwise than the first one did",
        env->shared->job.what);
    return fulcrum_worker_create(env->worker, env->seed, err);
}

static enum fulcrum_step_result worker_step(
    struct fulcrum_env *env, const float *action, void *observation)
{
    return fulcrum_worker_step(env->worker, action, observation);
}

static enum fulcrum_step_result worker_reset(struct fulcrum_env *env, void *observation)
{
    return fulcrum_worker_reset(env->worker, observation);
}

static enum fulcrum_step_result worker_step_many(struct fulcrum_env *env,
    const struct fulcrum_action_rows *rows, size_t count, void *observation,
    struct fulcrum_step_log *log)
{
    return fulcrum_worker_step_many(env->worker, rows, count, observation, log);
}

static const char *worker_failure(const struct fulcrum_env *env)
{
    return fulcrum_worker_failure(env->worker);
}

static double worker_cpu_s(const struct fulcrum_env *env)
{
    return fulcrum_worker_cpu_s(env->worker);
}

static double worker_memory_byte(const struct fulcrum_env *env)
{
    return fulcrum_worker_memory_byte(env->worker);
}

/* Starts one worker to see what its environments are like. */
static enum fulcrum_status look(
    struct fulcrum_actor_shared *shared, struct fulcrum_error *err)
{
    struct fulcrum_worker *worker = NULL;
    enum fulcrum_status status = fulcrum_worker_start(&worker, &shared->job, 0, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_worker_describe(worker, &shared->description, err);
        (void)fulcrum_worker_free(worker, grace_of(shared));
    }
    return status;
}

static void fill_info(
    const struct fulcrum_actor_shared *shared, struct fulcrum_actor_info *info)
{
    const struct fulcrum_worker_description *told = &shared->description;
    *info = (struct fulcrum_actor_info){
        .observation_kind = told->observation_kind == 1 ? FULCRUM_OBSERVE_FLOAT32
                                                        : FULCRUM_OBSERVE_UINT8,
        .observation_count = (size_t)told->observation_count,
        .action_count = (size_t)told->action_count,
        .frame_skip = told->frame_skip,
    };
    (void)snprintf(info->detail, sizeof info->detail, "%s%s%.110s", told->name,
        told->detail[0] != '\0' ? ": " : "", told->detail);
    /* Provenance is one line of text. */
    for (char *at = info->detail; *at != '\0'; at++) {
        *at = (char)((unsigned char)*at < ' ' ? ' ' : *at);
    }
}

static enum fulcrum_status set_limits(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    double limit_s = options != NULL ? options->limit_s : 0.0;
    if (limit_s == 0.0) {
        limit_s = FULCRUM_ACTOR_LIMIT_S;
    }
    FAIL_IF(
        !(limit_s >= FULCRUM_ACTOR_LIMIT_MIN_S && limit_s <= FULCRUM_ACTOR_LIMIT_MAX_S),
        err, FULCRUM_ERR_RANGE, "limit_s = %g is outside [%g, %g]", limit_s,
        FULCRUM_ACTOR_LIMIT_MIN_S, FULCRUM_ACTOR_LIMIT_MAX_S);
    shared->job.limit_s = limit_s;
    /* 0 leaves the choice to the environment. */
    return fulcrum_actor_frame_skip(&shared->job.frame_skip, options, 0.0, err);
}

/* Memory of the actor, with what both kinds need. `set` adds the worker's arguments. */
static enum fulcrum_status open_with(const struct fulcrum_actor_options *options,
    enum fulcrum_status (*set)(struct fulcrum_actor_shared *shared,
        const struct fulcrum_actor_options *options, struct fulcrum_error *err),
    struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
    struct fulcrum_error *err)
{
    struct fulcrum_actor_shared *shared = calloc(1, sizeof *shared);
    TRY_MEMORY(shared, err, "an actor");
    (void)snprintf(shared->parent, sizeof shared->parent, "%ld", (long)getpid());
    shared->job.argv = shared->argv;
    shared->argv[0] = shared->program;
    shared->argv[1] = shared->parent;
    enum fulcrum_status status = set_limits(shared, options, err);
    if (status == FULCRUM_OK) {
        status = set(shared, options, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_worker_find_program(shared->program, err);
    }
    if (status == FULCRUM_OK) {
        status = look(shared, err);
    }
    if (status != FULCRUM_OK) {
        worker_close(shared);
        return status;
    }
    fill_info(shared, info);
    *out = shared;
    return FULCRUM_OK;
}

/* The loader's own complaint would come from a process, with a path of the loader's. */
static bool is_shared_object(const char *path)
{
    char head[SELFMAG] = "";
    FILE *file = fopen(path, "rbe");
    size_t got = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return got == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0;
}

static enum fulcrum_status set_plugin(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    const char *path = options != NULL ? options->plugin : NULL;
    FAIL_IF(path == NULL, err, FULCRUM_ERR_MISSING,
        "needs a shared object: --plugin ./libmine.so");
    struct stat there;
    /* With its folder, or the loader would look among the system's libraries. */
    FAIL_IF(strlen(path) >= sizeof shared->path ||
                realpath(path, shared->path) == NULL || stat(shared->path, &there) != 0,
        err, FULCRUM_ERR_FILE, "env plug-in %s: %s", path,
        strlen(path) >= sizeof shared->path ? "too long a path" : strerror(errno));
    FAIL_IF(!S_ISREG(there.st_mode), err, FULCRUM_ERR_FILE,
        "env plug-in %s is not a regular file", path);
    FAIL_IF(!is_shared_object(shared->path), err, FULCRUM_ERR_FORMAT,
        "env plug-in %s is not a shared object (no ELF header)", path);
    size_t length = strlen(path);
    (void)snprintf(shared->job.what, sizeof shared->job.what, "env plug-in %s%s",
        length > 150 ? "..." : "", length > 150 ? path + (length - 147) : path);
    static char mode[] = "plugin";
    shared->argv[2] = mode;
    shared->argv[3] = shared->path;
    return FULCRUM_OK;
}

static enum fulcrum_status copy_text(char *out, size_t out_byte, const char *text,
    const char *what, struct fulcrum_error *err)
{
    FAIL_IF(text[0] == '\0' || strlen(text) >= out_byte, err, FULCRUM_ERR_RANGE,
        "%s has %zu bytes, expected 1 to %zu", what, strlen(text), out_byte - 1);
    memcpy(out, text, strlen(text) + 1);
    return FULCRUM_OK;
}

static enum fulcrum_status set_gym(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    FAIL_IF(options == NULL || options->env_id == NULL, err, FULCRUM_ERR_MISSING,
        "needs an environment: --env CartPole-v1");
    TRY(copy_text(shared->env_id, sizeof shared->env_id, options->env_id,
        "the name of the environment", err));
    TRY(copy_text(shared->python, sizeof shared->python,
        options->python != NULL ? options->python : "python3",
        "the path of the interpreter", err));
    TRY(fulcrum_worker_find_gym(shared->path, err));
    (void)snprintf(shared->job.what, sizeof shared->job.what,
        "Gymnasium environment %.150s", shared->env_id);
    static char mode[] = "exec";
    char *const arguments[] = {mode, shared->python, shared->path, shared->env_id};
    memcpy(shared->argv + 2, arguments, sizeof arguments);
    return FULCRUM_OK;
}

static enum fulcrum_status plugin_open(const struct fulcrum_actor_options *options,
    struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
    struct fulcrum_error *err)
{
    return open_with(options, set_plugin, out, info, err);
}

static enum fulcrum_status gym_open(const struct fulcrum_actor_options *options,
    struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
    struct fulcrum_error *err)
{
    return open_with(options, set_gym, out, info, err);
}

#define WORKER_MEMBERS                                                                 \
    .close = worker_close, .env_new = worker_env_new, .env_free = worker_env_free,     \
    .step = worker_step, .reset = worker_reset, .await = worker_await,                 \
    .failure = worker_failure, .step_many = worker_step_many, .cpu_s = worker_cpu_s,   \
    .memory_byte = worker_memory_byte

const struct fulcrum_actor fulcrum_actor_plugin = {
    .name = "plugin",
    .summary = "an environment of one's own in C (--plugin; docs/environments.md)",
    .open = plugin_open,
    WORKER_MEMBERS,
};

const struct fulcrum_actor fulcrum_actor_gym = {
    .name = "gym",
    .summary = "any environment of Gymnasium (--env; needs Python)",
    .open = gym_open,
    WORKER_MEMBERS,
};
