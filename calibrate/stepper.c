/* stepper.c - one environment that is stepped with random actions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/stepper.h"

#include <stdlib.h>

#include "calibrate/random.h"

/* A power of two; enough that no environment settles into a cycle of actions. */
#define ROW_COUNT 4096

enum fulcrum_status fulcrum_actions_new(struct fulcrum_actions *out, uint64_t seed,
    size_t column_count, struct fulcrum_error *err)
{
    size_t count = ROW_COUNT * column_count;
    float *values = calloc(count > 0 ? count : 1, sizeof *values);
    if (values == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu actions", count);
    }
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

enum fulcrum_status fulcrum_stepper_open(struct fulcrum_stepper *out,
    const struct fulcrum_stage *stage, size_t number, struct fulcrum_error *err)
{
    struct fulcrum_stepper stepper = {.stage = stage};
    stepper.observation = calloc(1, fulcrum_observation_byte(&stage->info) + 1);
    if (stepper.observation == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "an observation");
    }
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

void fulcrum_stepper_close(struct fulcrum_stepper *stepper)
{
    if (stepper->env != NULL) {
        stepper->stage->actor->env_free(stepper->env);
    }
    free(stepper->observation);
    *stepper = (struct fulcrum_stepper){0};
}

int fulcrum_stepper_step(struct fulcrum_stepper *stepper)
{
    const struct fulcrum_actions *actions = &stepper->stage->actions;
    const float *action = actions->values + stepper->row * actions->column_count;
    stepper->row = (stepper->row + 1) & (ROW_COUNT - 1);
    return stepper->stage->actor->step(stepper->env, action, stepper->observation);
}

void fulcrum_stepper_reset(struct fulcrum_stepper *stepper)
{
    stepper->stage->actor->reset(stepper->env, stepper->observation);
}

size_t fulcrum_stepper_run(struct fulcrum_stepper *stepper, size_t count)
{
    size_t reset_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (fulcrum_stepper_step(stepper)) {
            fulcrum_stepper_reset(stepper);
            reset_count++;
        }
    }
    return reset_count;
}
