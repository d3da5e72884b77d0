/* stepper.c - one environment that is stepped with random actions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/stepper.h"

#include <stdlib.h>

#include "calibrate/statistics.h"
#include "model/try.h"

/* A power of two; enough that no environment settles into a cycle of actions. */
#define ROW_COUNT 4096

enum fulcrum_status fulcrum_actions_new(struct fulcrum_actions *out, uint64_t seed,
    size_t column_count, struct fulcrum_error *err)
{
    size_t count = ROW_COUNT * column_count;
    float *values = calloc(count > 0 ? count : 1, sizeof *values);
    TRY_MEMORY(values, err, "%zu actions", count);
    struct fulcrum_random random = fulcrum_random_seeded(seed);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)fulcrum_random_between(&random, -1.0, 1.0);
    }
    *out = (struct fulcrum_actions){values, ROW_COUNT, column_count};
    return FULCRUM_OK;
}

void fulcrum_actions_free(struct fulcrum_actions *actions)
{
    free(actions->values);
    *actions = (struct fulcrum_actions){0};
}

size_t fulcrum_observation_byte(const struct fulcrum_actor_info *info)
{
    size_t element = info->observation_kind == FULCRUM_OBSERVE_FLOAT32 ? sizeof(float)
                                                                       : sizeof(char);
    return info->observation_count * element;
}

enum fulcrum_status fulcrum_stepper_begin(struct fulcrum_stepper *out,
    const struct fulcrum_stage *stage, size_t number, struct fulcrum_error *err)
{
    struct fulcrum_stepper stepper = {.stage = stage};
    stepper.observation = calloc(1, fulcrum_observation_byte(&stage->info) + 1);
    TRY_MEMORY(stepper.observation, err, "an observation");
    enum fulcrum_status status =
        stage->actor->env_new(stage->shared, stage->seed + number, &stepper.env, err);
    if (status != FULCRUM_OK) {
        free(stepper.observation);
        return status;
    }
    /* A stride without a common factor with the table spreads the first actions. */
    stepper.row = (number * 1021) % stage->actions.row_count;
    *out = stepper;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_stepper_await(
    struct fulcrum_stepper *stepper, struct fulcrum_error *err)
{
    const struct fulcrum_actor *actor = stepper->stage->actor;
    return actor->await != NULL ? actor->await(stepper->env, err) : FULCRUM_OK;
}

enum fulcrum_status fulcrum_stepper_open(struct fulcrum_stepper *out,
    const struct fulcrum_stage *stage, size_t number, struct fulcrum_error *err)
{
    struct fulcrum_stepper stepper = {0};
    TRY(fulcrum_stepper_begin(&stepper, stage, number, err));
    enum fulcrum_status status = fulcrum_stepper_await(&stepper, err);
    if (status != FULCRUM_OK) {
        fulcrum_stepper_close(&stepper);
        return status;
    }
    *out = stepper;
    return FULCRUM_OK;
}

void fulcrum_stepper_close(struct fulcrum_stepper *stepper)
{
    if (stepper->env != NULL) {
        stepper->stage->actor->env_free(stepper->env);
    }
    free(stepper->observation);
    *stepper = (struct fulcrum_stepper){0};
}

enum fulcrum_step_result fulcrum_stepper_step(struct fulcrum_stepper *stepper)
{
    const struct fulcrum_actions *actions = &stepper->stage->actions;
    const float *action = actions->values + stepper->row * actions->column_count;
    stepper->row = (stepper->row + 1) & (ROW_COUNT - 1);
    return stepper->stage->actor->step(stepper->env, action, stepper->observation);
}

enum fulcrum_step_result fulcrum_stepper_reset(struct fulcrum_stepper *stepper)
{
    return stepper->stage->actor->reset(stepper->env, stepper->observation);
}

enum fulcrum_status fulcrum_stepper_failure(
    const struct fulcrum_stepper *stepper, struct fulcrum_error *err)
{
    const struct fulcrum_actor *actor = stepper->stage->actor;
    const char *why = actor->failure != NULL ? actor->failure(stepper->env) : "";
    return fulcrum_fail(err, FULCRUM_ERR_ENVIRONMENT, "%s",
        why[0] != '\0' ? why : "an environment failed without a word");
}

/* One after the other in this thread. */
static enum fulcrum_step_result run_here(
    struct fulcrum_stepper *stepper, size_t count, size_t *reset_count)
{
    enum fulcrum_step_result result = FULCRUM_STEP_ON;
    for (size_t i = 0; i < count && result != FULCRUM_STEP_FAILED; i++) {
        result = fulcrum_stepper_step(stepper);
        if (result == FULCRUM_STEP_END) {
            result = fulcrum_stepper_reset(stepper);
            (*reset_count)++;
        }
    }
    return result;
}

/* In another process. */
static enum fulcrum_step_result run_there(
    struct fulcrum_stepper *stepper, size_t count, struct fulcrum_step_log *log)
{
    const struct fulcrum_actions *actions = &stepper->stage->actions;
    struct fulcrum_action_rows rows = {
        actions->values, actions->row_count, stepper->row};
    stepper->row = (stepper->row + count) & (ROW_COUNT - 1);
    return stepper->stage->actor->step_many(
        stepper->env, &rows, count, stepper->observation, log);
}

enum fulcrum_status fulcrum_stepper_run(struct fulcrum_stepper *stepper, size_t count,
    size_t *reset_count, struct fulcrum_error *err)
{
    struct fulcrum_step_log log = {0};
    enum fulcrum_step_result result = fulcrum_stepper_has_log(stepper)
                                          ? run_there(stepper, count, &log)
                                          : run_here(stepper, count, &log.reset_count);
    if (reset_count != NULL) {
        *reset_count = log.reset_count;
    }
    return result == FULCRUM_STEP_FAILED ? fulcrum_stepper_failure(stepper, err)
                                         : FULCRUM_OK;
}

bool fulcrum_stepper_has_log(const struct fulcrum_stepper *stepper)
{
    return stepper->stage->actor->step_many != NULL;
}

enum fulcrum_status fulcrum_stepper_log(struct fulcrum_stepper *stepper, size_t count,
    struct fulcrum_step_log *log, struct fulcrum_error *err)
{
    log->reset_count = 0;
    return run_there(stepper, count, log) == FULCRUM_STEP_FAILED
               ? fulcrum_stepper_failure(stepper, err)
               : FULCRUM_OK;
}

double fulcrum_stepper_cpu_s(const struct fulcrum_stepper *stepper)
{
    const struct fulcrum_actor *actor = stepper->stage->actor;
    return actor->cpu_s != NULL ? actor->cpu_s(stepper->env) : 0.0;
}

double fulcrum_stepper_memory_byte(const struct fulcrum_stepper *stepper)
{
    const struct fulcrum_actor *actor = stepper->stage->actor;
    return actor->memory_byte != NULL ? actor->memory_byte(stepper->env) : 0.0;
}
