/* misbehave.c - a plug-in that does what $FULCRUM_TEST_FAULT says, at a chosen step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FULCRUM_TEST_FAULT=FAULT[@STEP]. Without it a small well-behaved environment whose
 * episodes last 50 steps. With FULCRUM_TEST_ODD those with an odd seed alone do it,
 * which is every second environment. FULCRUM_TEST_PID names a file that gets the
 * numbers of the processes it starts. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/fulcrum_env.h"

#define EPISODE_STEP_COUNT 50
#define COUNT              24

struct env {
    const char *fault; /* "": none */
    long at;           /* step, from 1 */
    long step_count;
    long episode_step_count;
};

static const char *fault_name(void)
{
    const char *fault = getenv("FULCRUM_TEST_FAULT");
    return fault != NULL ? fault : "";
}

static int is_fault(const char *fault, const char *name)
{
    size_t length = strlen(name);
    return strncmp(fault, name, length) == 0 &&
           (fault[length] == '\0' || fault[length] == '@');
}

static void sleep_s(double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)(1e9 * fmod(seconds, 1.0))};
    (void)nanosleep(&pause, NULL);
}

static void compute_s(double seconds)
{
    clock_t until = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < until) {
    }
}

static void *compute_on_thread(void *argument)
{
    compute_s(2e-3);
    return argument;
}

static void note_pid(pid_t pid)
{
    const char *path = getenv("FULCRUM_TEST_PID");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        (void)fprintf(file, "%ld\n", (long)pid);
        (void)fclose(file);
    }
}

static void start_child(int is_apart)
{
    pid_t child = fork();
    if (child == 0) {
        if (is_apart) {
            (void)setsid();
        }
        sleep_s(60.0);
        _exit(0);
    }
    note_pid(child);
}

static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, compute_on_thread, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    }
}

/* A null page, which the compiler must not see through. */
static void write_to_nowhere(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1; /* cppcheck-suppress nullPointer */
}

static void flood(void)
{
    for (;;) {
        (void)puts("an environment that cannot stop talking about itself");
    }
}

static void observe(const struct env *env, void *observation)
{
    float *out = observation;
    for (int i = 0; i < COUNT; i++) {
        out[i] = (float)(env->episode_step_count + i) / 100.0f;
    }
}

/* What goes wrong outside of the observation. */
static void act_up(const char *fault)
{
    if (is_fault(fault, "block")) {
        sleep_s(1e6);
    } else if (is_fault(fault, "spin")) {
        compute_s(1e6);
    } else if (is_fault(fault, "exit")) {
        exit(3);
    } else if (is_fault(fault, "abort")) {
        abort();
    } else if (is_fault(fault, "crash")) {
        write_to_nowhere();
    } else if (is_fault(fault, "flood")) {
        flood();
    } else if (is_fault(fault, "kill")) {
        (void)kill(getpid(), SIGKILL);
    } else if (is_fault(fault, "child")) {
        start_child(0);
        sleep_s(1e6);
    } else if (is_fault(fault, "apart")) {
        start_child(1);
        sleep_s(1e6);
    } else if (is_fault(fault, "orphan")) {
        start_child(1);
        sleep_s(0.05); /* it is on its own by now */
        exit(3);
    }
}

static void spoil(const char *fault, float *observation)
{
    if (is_fault(fault, "nan")) {
        observation[5] = NAN;
    } else if (is_fault(fault, "inf")) {
        observation[COUNT - 1] = -INFINITY;
    } else if (is_fault(fault, "overrun")) {
        observation[COUNT] = 1.0f; /* into the bytes behind */
    } else if (is_fault(fault, "underrun")) {
        observation[-1] = 1.0f;
    } else if (is_fault(fault, "overflow")) {
        memset(observation, 0, 4096); /* into the page behind */
    }
}

static int env_describe(double frame_skip, struct fulcrum_env_description *out)
{
    const char *fault = fault_name();
    out->observation_kind = is_fault(fault, "kind") ? 7 : FULCRUM_ENV_FLOAT32;
    out->observation_count = COUNT;
    out->action_count = is_fault(fault, "no-actions") ? 0 : 2;
    out->frame_skip = is_fault(fault, "skip-0") ? 0.0 : 1.0;
    (void)frame_skip;
    if (is_fault(fault, "large")) {
        out->observation_count = (uint64_t)1 << 62;
    } else if (is_fault(fault, "undescribed")) {
        return 5;
    } else if (is_fault(fault, "start-block")) {
        sleep_s(1e6);
    } else if (is_fault(fault, "start-crash")) {
        write_to_nowhere();
    }
    (void)snprintf(out->name, sizeof out->name, "misbehaving 1");
    return 0;
}

static void *env_create(uint64_t seed, double frame_skip, char *why, size_t why_byte)
{
    (void)frame_skip;
    note_pid(getpid());
    const char *fault =
        getenv("FULCRUM_TEST_ODD") != NULL && seed % 2 == 0 ? "" : fault_name();
    struct env *env = calloc(1, sizeof *env);
    if (env == NULL || is_fault(fault, "uncreated")) {
        (void)snprintf(why, why_byte, "the moon is in the wrong place");
        free(env);
        return NULL;
    }
    const char *at = strchr(fault, '@');
    env->fault = fault;
    env->at = at != NULL ? strtol(at + 1, NULL, 10) : 1;
    return env;
}

static void env_reset(void *data, void *observation)
{
    struct env *env = data;
    if (is_fault(env->fault, "reset-block") && env->step_count > 0) {
        sleep_s(1e6);
    }
    env->episode_step_count = 0;
    observe(env, observation);
}

static int env_step(void *data, const float *action, void *observation)
{
    struct env *env = data;
    (void)action;
    env->step_count++;
    env->episode_step_count++;
    observe(env, observation);
    if (is_fault(env->fault, "slow")) {
        sleep_s(0.02);
    } else if (is_fault(env->fault, "thread")) {
        start_thread();
    } else if (is_fault(env->fault, "chat") && env->step_count % 100 == 0) {
        (void)puts("another hundred steps");
    }
    if (env->step_count >= env->at) {
        act_up(env->fault);
        spoil(env->fault, observation);
    }
    if (is_fault(env->fault, "seven") && env->step_count == env->at) {
        return 7;
    }
    return env->episode_step_count >= EPISODE_STEP_COUNT ? FULCRUM_ENV_END
                                                         : FULCRUM_ENV_ON;
}

static void env_destroy(void *data)
{
    struct env *env = data;
    if (is_fault(env->fault, "destroy-block")) {
        sleep_s(1e6);
    }
    free(env);
}

const struct fulcrum_env_api *fulcrum_env_plugin(void)
{
    static struct fulcrum_env_api api = {
        .abi_version = FULCRUM_ENV_ABI_VERSION,
        .size_byte = sizeof(struct fulcrum_env_api),
        .describe = env_describe,
        .create = env_create,
        .reset = env_reset,
        .step = env_step,
        .destroy = env_destroy,
    };
    const char *fault = fault_name();
    if (is_fault(fault, "version")) {
        api.abi_version = 2;
    } else if (is_fault(fault, "short-table")) {
        api.size_byte = 16;
    } else if (is_fault(fault, "long-table")) {
        api.size_byte += 64; /* of a later version */
    } else if (is_fault(fault, "no-step")) {
        api.step = NULL;
    }
    return is_fault(fault, "no-table") ? NULL : &api;
}
