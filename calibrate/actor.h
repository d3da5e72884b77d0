/* actor.h - real environments that a CPU thread can step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_H
#define FULCRUM_CALIBRATE_ACTOR_H

#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

struct fulcrum_actor_options {
    double frame_skip; /* physics or video frames per step; 0 means the actor's own */
    const char *core;  /* libretro: name or path of a core; NULL means gambatte */
    const char *rom;   /* libretro: path of a ROM; NULL means the built-in program */
};

enum fulcrum_observation_kind { FULCRUM_OBSERVE_FLOAT32, FULCRUM_OBSERVE_UINT8 };

struct fulcrum_actor_info {
    enum fulcrum_observation_kind observation_kind;
    size_t observation_count; /* elements of one observation */
    size_t action_count;      /* float actions in [-1, 1] that step reads */
    double frame_skip;        /* in force */
    char detail[200];         /* library and version, model, ROM: provenance */
};

/* What all environments of one kind share (a physics model, a ROM). Opaque. */
struct fulcrum_actor_shared;
/* One environment. Opaque; used by one thread at a time. */
struct fulcrum_env;

/*
 * One kind of environment. `open` runs on one thread while no environment of any kind
 * is stepped; after it, environments made from the same shared state may live on
 * different threads at once. The libraries behind have process-wide sides: MuJoCo's
 * error and warning hooks are set where nobody has set them before, and standard
 * output is closed to libretro cores while env_new loads them.
 */
struct fulcrum_actor {
    const char *name;
    const char *summary;
    /*
     *   out      set on success only; given back with `close`
     *   fails    FULCRUM_ERR_UNSUPPORTED (library not here or not in this build),
     *            FULCRUM_ERR_RANGE (frame skip), FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT
     *            (core or ROM), FULCRUM_ERR_MISSING (this core needs a ROM),
     *            FULCRUM_ERR_NO_MEMORY
     */
    enum fulcrum_status (*open)(const struct fulcrum_actor_options *options,
        struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
        struct fulcrum_error *err);
    void (*close)(struct fulcrum_actor_shared *shared);
    /* One environment with a random stream of its own, after its first reset. */
    enum fulcrum_status (*env_new)(struct fulcrum_actor_shared *shared, uint64_t seed,
        struct fulcrum_env **out, struct fulcrum_error *err);
    void (*env_free)(struct fulcrum_env *env);
    /*
     * One agent step: applies `action` (action_count floats), advances frame_skip
     * frames, writes observation_count elements to `observation`.
     * Returns 1 where the episode ended with this step; the caller then calls reset
     * before the next step.
     */
    int (*step)(struct fulcrum_env *env, const float *action, void *observation);
    /* Starts a new episode and writes its first observation. */
    void (*reset)(struct fulcrum_env *env, void *observation);
};

/* NULL-terminated, in the order of `fulcrum list actors`. Static. */
const struct fulcrum_actor *const *fulcrum_actors(void);

/* NULL if there is none of that name. */
const struct fulcrum_actor *fulcrum_actor_find(const char *name);

#endif
