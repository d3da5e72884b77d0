/* actor.h - real environments that a CPU thread can step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_ACTOR_H
#define FULCRUM_CALIBRATE_ACTOR_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

struct fulcrum_actor_options {
    double frame_skip;  /* physics or video frames per step; 0 means the actor's own */
    const char *core;   /* libretro: name or path of a core; NULL means gambatte */
    const char *rom;    /* libretro: path of a ROM; NULL means the built-in program */
    const char *plugin; /* plugin: path of a shared object */
    const char *env_id; /* gym: what gymnasium.make takes, as "ALE/Pong-v5" */
    const char *python; /* gym, loops, learner torch: interpreter; NULL: python3 */
    /* Loops; NULL: the framework's own choice. */
    const char *vector;    /* kind of vector environment */
    const char *net;       /* policy */
    const char *make;      /* MODULE:FUNCTION, FILE.py:FUNCTION or FILE.py; the learner
                              torch's too */
    const char *arguments; /* KEY=VALUE,... of the framework's constructor */
    /*
     * plugin, gym, loops: how long a start, a step or a reset may take before the
     * environment counts as failed, sandbox: how long a call; 0 means
     * FULCRUM_ACTOR_LIMIT_S, of loops and sandboxes, which start many processes,
     * FULCRUM_LOOP_LIMIT_S.
     */
    double limit_s;
};

#define FULCRUM_ACTOR_LIMIT_S     8.0
#define FULCRUM_LOOP_LIMIT_S      60.0
#define FULCRUM_ACTOR_LIMIT_MIN_S 0.05
#define FULCRUM_ACTOR_LIMIT_MAX_S 3600.0

enum fulcrum_observation_kind { FULCRUM_OBSERVE_FLOAT32, FULCRUM_OBSERVE_UINT8 };

struct fulcrum_actor_info {
    enum fulcrum_observation_kind observation_kind;
    size_t observation_count; /* elements of one observation */
    size_t action_count;      /* float actions in [-1, 1] that step reads */
    double frame_skip;        /* in force */
    char detail[200];         /* library and version, model, ROM: provenance */
};

/* What a loop is asked to time. */
enum fulcrum_loop_piece {
    FULCRUM_LOOP_FACTS,   /* nothing: what it is */
    FULCRUM_LOOP_PIECES,  /* its parts, with short rollouts */
    FULCRUM_LOOP_WHOLE,   /* whole iterations as the user runs them */
    FULCRUM_LOOP_FORWARD, /* learners: env_count observations, 1e6 time_s times */
    FULCRUM_LOOP_TRAIN    /* learners: so many training steps of a packed size */
};

struct fulcrum_loop_task {
    enum fulcrum_loop_piece piece;
    size_t env_count;
    double time_s;
};

/* How a vector environment steps its environments. */
enum fulcrum_loop_way {
    FULCRUM_LOOP_SERIAL,    /* one after the other */
    FULCRUM_LOOP_PROCESSES, /* each in a process of its own, joined by pipes */
    FULCRUM_LOOP_THREADS,   /* on a pool of threads */
    /*
     * In worker processes that wait for nobody, with inference and training in others:
     * env_count's upper half is the number of workers, each with as many environments
     * as the lower half says. Such figures are of CPU time, a call is one step.
     */
    FULCRUM_LOOP_ASYNCHRONOUS
};

/* Of the facts. */
enum {
    FULCRUM_LOOP_WAY,
    FULCRUM_LOOP_THREAD_COUNT, /* that step; 0: no limit; asynchronous: groups of a
                                  worker's environments that take turns */
    FULCRUM_LOOP_BATCH_SIZE,   /* environments that a call steps; 0: all */
    FULCRUM_LOOP_TRAINS,
    FULCRUM_LOOP_ROLLOUT_LENGTH, /* steps of each environment; the rest 0 where it
                                    does not train */
    FULCRUM_LOOP_MINIBATCH,      /* samples */
    FULCRUM_LOOP_EPOCH_COUNT,
    FULCRUM_LOOP_PARAMETER_COUNT
};

/* Of the rest, over whole turns of the loop; seconds together. */
enum {
    FULCRUM_LOOP_WALL_S,
    FULCRUM_LOOP_CALL_COUNT, /* of the vector environment */
    FULCRUM_LOOP_CALL_S,
    FULCRUM_LOOP_CALLER_CPU_S, /* in these calls: of the thread that calls */
    FULCRUM_LOOP_POOL_CPU_S,   /* of the other threads of its process */
    FULCRUM_LOOP_CHILD_CPU_S,  /* of child processes, at any time */
    FULCRUM_LOOP_SPREAD_REL,   /* standard deviation of a call over its median */
    FULCRUM_LOOP_OTHER_S,      /* between calls, where nothing trained */
    FULCRUM_LOOP_OTHER_COUNT,
    FULCRUM_LOOP_TRAIN_S, /* between calls with steps of an optimiser */
    FULCRUM_LOOP_TRAIN_STEP_COUNT,
    FULCRUM_LOOP_FIGURES = 16
};

#define FULCRUM_LOOP_FIGURE_MAX 1e15

/* A learner's facts. */
enum {
    FULCRUM_LOOP_LEARNER_PARAMETER_COUNT,
    FULCRUM_LOOP_LEARNER_FORWARD_FLOP, /* of one observation */
    FULCRUM_LOOP_LEARNER_MEMORY_BYTE,
    FULCRUM_LOOP_LEARNER_THREAD_COUNT,
    FULCRUM_LOOP_LEARNER_SM_COUNT, /* 0 where it runs on the processor, as the rest */
    FULCRUM_LOOP_LEARNER_CLOCK_HZ, /* 0: not told */
    FULCRUM_LOOP_LEARNER_DEVICE_BYTE
};

/* What a learner's work took, all repeats together. */
enum {
    FULCRUM_LOOP_WORK_WALL_S,
    FULCRUM_LOOP_WORK_CPU_S,  /* of the whole process */
    FULCRUM_LOOP_WORK_COPY_S, /* of the wall time: between host and device */
    FULCRUM_LOOP_WORK_THREAD_COUNT,
    FULCRUM_LOOP_WORK_MEMORY_BYTE
};

/* The size of a training step as env_count. */
#define FULCRUM_LOOP_TRAIN_SIZE(batch, unroll, burn_in)                                \
    ((size_t)(batch) | (size_t)(unroll) << 20 | (size_t)(burn_in) << 40)

enum { FULCRUM_CALL_DECK = 4 };

/* What all environments of one kind share (a physics model, a ROM). Opaque. */
struct fulcrum_actor_shared;

/* One environment. Opaque; used by one thread at a time. */
struct fulcrum_env;

/* What a step came to. */
enum fulcrum_step_result {
    FULCRUM_STEP_ON,    /* the episode goes on */
    FULCRUM_STEP_END,   /* it ended with this step: reset before the next one */
    FULCRUM_STEP_FAILED /* the environment can only be freed; `failure` says why */
};

/*
 * Rows of action_count actions, used in turn from `first` on and again from the start
 * after the last; where they are large, the first rows alone may be used. One
 * environment is given the same table with every call.
 */
struct fulcrum_action_rows {
    const float *values;
    size_t row_count;
    size_t first;
};

/* What became of the steps of one call of step_many. */
struct fulcrum_step_log {
    size_t reset_count; /* set: episodes that ended, each with a reset after it */
    /*
     * 0: nothing is timed. 1: CPU seconds of each step without its reset, and of each
     * reset. Above: of so many steps together with their resets; the number of steps
     * is a multiple of it.
     */
    size_t stride;
    double *step_s;  /* room for as many as there are times */
    double *reset_s; /* used with a stride of 1: room for as many as there are steps */
};

/*
 * One kind of environment. `open` runs on one thread while no environment of any kind
 * is stepped; after it, environments made from the same shared state may live on
 * different threads at once. The libraries behind have process-wide sides: MuJoCo's
 * error and warning hooks are set where nobody has set them before, and standard
 * output is closed to libretro cores while env_new loads them.
 *
 * Actors whose environments live in processes of their own can fail at any step, and
 * complete the optional members, which are NULL for those that step in the caller's
 * thread. The thread that called env_new has to live as long as such an environment,
 * whose process runs on the processors that the thread which steps it is bound to when
 * it begins to do so.
 */
struct fulcrum_actor {
    const char *name;
    const char *summary;
    /* Steps are calls of tools, which no network of ours infers: FULCRUM_CALL_DECK of
     * them in a row are of all kinds, as often as many are. */
    bool is_tools;
    /*
     *   out      set on success only; given back with `close`
     *   fails    FULCRUM_ERR_UNSUPPORTED (library not here or not in this build),
     *            FULCRUM_ERR_RANGE (frame skip), FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT
     *            (core or ROM), FULCRUM_ERR_MISSING (this core needs a ROM, this actor
     * a name), FULCRUM_ERR_ENVIRONMENT (plug-in, Gymnasium), FULCRUM_ERR_NO_MEMORY
     */
    enum fulcrum_status (*open)(const struct fulcrum_actor_options *options,
        struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
        struct fulcrum_error *err);
    void (*close)(struct fulcrum_actor_shared *shared);
    /*
     * One environment with a random stream of its own, after its first reset: where
     * there is an `await` only after that.
     */
    enum fulcrum_status (*env_new)(struct fulcrum_actor_shared *shared, uint64_t seed,
        struct fulcrum_env **out, struct fulcrum_error *err);
    void (*env_free)(struct fulcrum_env *env);
    /*
     * One agent step: applies `action` (action_count floats), advances frame_skip
     * frames, writes observation_count elements to `observation`.
     * Never FULCRUM_STEP_FAILED where `failure` is NULL.
     */
    enum fulcrum_step_result (*step)(
        struct fulcrum_env *env, const float *action, void *observation);
    /*
     * Starts a new episode and writes its first observation. FULCRUM_STEP_ON, or
     * FULCRUM_STEP_FAILED on the terms of `step`.
     */
    enum fulcrum_step_result (*reset)(struct fulcrum_env *env, void *observation);
    /*
     * Optional: waits until an environment is ready that env_new only began to start,
     * so that many can start side by side.
     *   fails    FULCRUM_ERR_ENVIRONMENT
     */
    enum fulcrum_status (*await)(struct fulcrum_env *env, struct fulcrum_error *err);
    /* Optional: what went wrong, with the environment named; "" where nothing did. */
    const char *(*failure)(const struct fulcrum_env *env);
    /*
     * Optional: `count` steps with a row of actions each, and the resets between them,
     * in as few exchanges as can be with the process that does them. Only the last
     * observation is written. FULCRUM_STEP_ON or FULCRUM_STEP_FAILED.
     */
    enum fulcrum_step_result (*step_many)(struct fulcrum_env *env,
        const struct fulcrum_action_rows *rows, size_t count, void *observation,
        struct fulcrum_step_log *log);
    /*
     * Optional: CPU seconds that other processes have used on this environment so far,
     * and bytes of memory that are theirs alone. Any thread may ask.
     */
    double (*cpu_s)(const struct fulcrum_env *env);
    double (*memory_byte)(const struct fulcrum_env *env);
    /*
     * Loops alone: runs a training loop or a vector environment of `env_count`
     * environments for `time_s` at least, whole turns of it. They are not stepped.
     *   out      figures in the order of the enumerations above
     *   fails    FULCRUM_ERR_ENVIRONMENT
     */
    enum fulcrum_status (*time)(struct fulcrum_env *env, struct fulcrum_loop_task task,
        double out[FULCRUM_LOOP_FIGURES], struct fulcrum_error *err);
};

/* NULL-terminated, in the order of `fulcrum list actors`. Static. */
const struct fulcrum_actor *const *fulcrum_actors(void);

/* NULL if there is none of that name. */
const struct fulcrum_actor *fulcrum_actor_find(const char *name);

/* The actors there are, and what their records share. */

/*
 * Each actor's file completes struct fulcrum_actor_shared and struct fulcrum_env in
 * its own way: they never leave the record that made them.
 */
extern const struct fulcrum_actor fulcrum_actor_cartpole;
extern const struct fulcrum_actor fulcrum_actor_mujoco_ant;
extern const struct fulcrum_actor fulcrum_actor_mujoco_humanoid;
extern const struct fulcrum_actor fulcrum_actor_libretro;
extern const struct fulcrum_actor fulcrum_actor_plugin;
extern const struct fulcrum_actor fulcrum_actor_gym;
extern const struct fulcrum_actor fulcrum_actor_sandbox;

/* Vector environments and loops of training frameworks: symbol, name, summary. */
#define FULCRUM_VECTORS(X)                                                             \
    X(gymvec, "gymvec", "vector environments of Gymnasium (--vector sync|async)")      \
    X(envpool, "envpool", "EnvPool (--vector sync|async)")                             \
    X(vecenv, "vecenv", "a vector environment of one's own (--make)")
/* Each is calibrate/frameworks/NAME.py. */
#define FULCRUM_FRAMEWORKS(X)                                                          \
    X(sb3_ppo, "sb3-ppo", "PPO of Stable-Baselines3 (--vector dummy|subproc)")         \
    X(cleanrl_ppo, "cleanrl-ppo", "a script in the manner of CleanRL's PPO (--make)")  \
    X(envpool_ppo, "envpool-ppo", "such a script on EnvPool (--make)")                 \
    X(sample_factory, "sample-factory", "asynchronous PPO of Sample Factory")
#define FULCRUM_LOOP_RECORD(symbol, name, summary)                                     \
    extern const struct fulcrum_actor fulcrum_actor_##symbol;
FULCRUM_VECTORS(FULCRUM_LOOP_RECORD)
FULCRUM_FRAMEWORKS(FULCRUM_LOOP_RECORD)
#undef FULCRUM_LOOP_RECORD

/* The worker of the learner `torch`: no actor, and not in the list. */
extern const struct fulcrum_actor fulcrum_actor_torch_learner;

/* Printed by builds with and without MuJoCo alike. */
#define FULCRUM_MUJOCO_ANT_SUMMARY      "four-legged ant, 105 floats, 8 motors (MuJoCo)"
#define FULCRUM_MUJOCO_HUMANOID_SUMMARY "biped, 348 floats, 17 motors (MuJoCo)"

/*
 * The frame skip that `options` (may be NULL) ask for, or `standard`.
 *   fails    FULCRUM_ERR_RANGE (not a whole number in 1..FULCRUM_FRAME_SKIP_MAX)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actor_frame_skip(double *out,
    const struct fulcrum_actor_options *options, double standard,
    struct fulcrum_error *err);

#endif
