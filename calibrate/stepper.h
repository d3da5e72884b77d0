/* stepper.h - one environment that is stepped with random actions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_STEPPER_H
#define FULCRUM_CALIBRATE_STEPPER_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate/actor.h"
#include "model/status.h"

/*
 * Uniform random actions in [-1, 1), drawn before anything is timed: a step that takes
 * 20 ns must not pay for its random numbers.
 */
struct fulcrum_actions {
    float *values; /* row_count x column_count */
    size_t row_count;
    size_t column_count;
};

/*
 * The same seed gives the same actions.
 *   out      given back with fulcrum_actions_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actions_new(struct fulcrum_actions *out,
    uint64_t seed, size_t column_count, struct fulcrum_error *err);

/* Leaves an empty table. */
void fulcrum_actions_free(struct fulcrum_actions *actions);

/* An open actor and the actions its environments take; shared, read only. */
struct fulcrum_stage {
    const struct fulcrum_actor *actor;
    struct fulcrum_actor_shared *shared;
    struct fulcrum_actor_info info;
    struct fulcrum_actions actions;
    uint64_t seed;
};

/* Used by one thread at a time. */
struct fulcrum_stepper {
    const struct fulcrum_stage *stage;
    struct fulcrum_env *env;
    void *observation;
    size_t row; /* of the next action */
};

/*
 *   number   of the environment: each has a random stream and a first action of its own
 *   out      given back with fulcrum_stepper_close
 *   fails    as env_new of the actor; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stepper_open(struct fulcrum_stepper *out,
    const struct fulcrum_stage *stage, size_t number, struct fulcrum_error *err);

/* Leaves {0}, which it accepts. */
void fulcrum_stepper_close(struct fulcrum_stepper *stepper);

/* One step. Returns 1 where the episode ended: reset before the next one. */
int fulcrum_stepper_step(struct fulcrum_stepper *stepper);

/* Begins a new episode. */
void fulcrum_stepper_reset(struct fulcrum_stepper *stepper);

/* `count` steps with the resets between them. Returns how many resets. */
size_t fulcrum_stepper_run(struct fulcrum_stepper *stepper, size_t count);

/* Bytes of one observation. */
size_t fulcrum_observation_byte(const struct fulcrum_actor_info *info);

#endif
