/* stepper.h - one environment that is stepped with random actions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_STEPPER_H
#define FULCRUM_CALIBRATE_ACTOR_STEPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/actor/actor.h"
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

/* The same seed gives the same actions. */
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
 *   fails    as env_new and await of the actor; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stepper_open(struct fulcrum_stepper *out,
    const struct fulcrum_stage *stage, size_t number, struct fulcrum_error *err);

/* Environments that may start at a time on each processor, so that none takes longer
 * than it may. */
enum { FULCRUM_STEPPERS_AT_A_TIME = 4 };

/*
 * The two halves of fulcrum_stepper_open: many environments that live in processes of
 * their own start side by side where all are begun before the first is awaited.
 *   fails    as fulcrum_stepper_open; after a failed await the stepper is still closed
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stepper_begin(
    struct fulcrum_stepper *out, const struct fulcrum_stage *stage, size_t number,
    struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stepper_await(
    struct fulcrum_stepper *stepper, struct fulcrum_error *err);
void fulcrum_stepper_close(struct fulcrum_stepper *stepper);

/* One step; after FULCRUM_STEP_END a reset comes before the next one. */
enum fulcrum_step_result fulcrum_stepper_step(struct fulcrum_stepper *stepper);

/* Begins a new episode: FULCRUM_STEP_ON, or FULCRUM_STEP_FAILED. */
enum fulcrum_step_result fulcrum_stepper_reset(struct fulcrum_stepper *stepper);

/*
 * FULCRUM_ERR_ENVIRONMENT with the environment's own words in `err`: for after a
 * FULCRUM_STEP_FAILED.
 */
enum fulcrum_status fulcrum_stepper_failure(
    const struct fulcrum_stepper *stepper, struct fulcrum_error *err);

/*
 * `count` steps with the resets between them.
 *   reset_count   set to how many resets, where it is not NULL
 *   fails         FULCRUM_ERR_ENVIRONMENT
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stepper_run(
    struct fulcrum_stepper *stepper, size_t count, size_t *reset_count,
    struct fulcrum_error *err);

/* 1 where fulcrum_stepper_log may be called: steps are timed where they happen. */
bool fulcrum_stepper_has_log(const struct fulcrum_stepper *stepper);

/* As fulcrum_stepper_run, with the CPU times of steps as `log` asks for them. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stepper_log(
    struct fulcrum_stepper *stepper, size_t count, struct fulcrum_step_log *log,
    struct fulcrum_error *err);

/*
 * CPU seconds that other processes have used on this environment so far; 0 where it
 * steps in the caller's thread. Belongs to the steps as the thread's own time does. Any
 * thread may ask.
 */
double fulcrum_stepper_cpu_s(const struct fulcrum_stepper *stepper);

/* Bytes of memory of those processes; 0 where there are none. */
double fulcrum_stepper_memory_byte(const struct fulcrum_stepper *stepper);

/* Bytes of one observation. */
size_t fulcrum_observation_byte(const struct fulcrum_actor_info *info);

#endif
