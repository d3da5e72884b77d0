/* trial.h - one actor in a worker process, stepped until it fails or is done. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_TRIAL_H
#define FULCRUM_TESTS_TRIAL_H

#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/actor.h"
#include "calibrate/actor/stepper.h"
#include "tests/support/suite.h"

/* An open actor with one environment; closed with trial_close whatever happened,
 * which also ends the fault that FULCRUM_TEST_FAULT asks for. */
struct trial {
    struct fulcrum_stage stage;
    struct fulcrum_stepper stepper;
    enum fulcrum_status status; /* of the opening */
    struct fulcrum_error err;
};

/* `out` is filled in place: the stepper refers to its stage. */
static inline void trial_open(
    struct trial *out, const char *actor, const struct fulcrum_actor_options *options)
{
    *out = (struct trial){.stage = {.actor = fulcrum_actor_find(actor), .seed = 5}};
    struct fulcrum_stage *stage = &out->stage;
    out->status = stage->actor->open(options, &stage->shared, &stage->info, &out->err);
    if (out->status == FULCRUM_OK) {
        out->status = fulcrum_actions_new(
            &stage->actions, 3, stage->info.action_count, &out->err);
    }
    if (out->status == FULCRUM_OK) {
        out->status = fulcrum_stepper_open(&out->stepper, stage, 0, &out->err);
    }
}

/* `count` steps and the resets between them, each asked for by itself. */
static inline size_t trial_step_singly(struct trial *trial, size_t count)
{
    size_t reset_count = 0;
    enum fulcrum_step_result result = FULCRUM_STEP_ON;
    for (size_t i = 0; i < count && result != FULCRUM_STEP_FAILED; i++) {
        result = fulcrum_stepper_step(&trial->stepper);
        if (result == FULCRUM_STEP_END) {
            result = fulcrum_stepper_reset(&trial->stepper);
            reset_count++;
        }
    }
    CU_ASSERT_EQUAL(result, FULCRUM_STEP_ON);
    return reset_count;
}

/* Asserts that a run and single steps of two equal trials lead to the same place. */
static inline void trial_compare(struct trial *single, struct trial *run, size_t count)
{
    size_t run_reset_count = 0;
    size_t reset_count = trial_step_singly(single, count);
    CU_ASSERT_EQUAL(
        fulcrum_stepper_run(&run->stepper, count, &run_reset_count, NULL), FULCRUM_OK);
    CU_ASSERT(reset_count > 5);
    CU_ASSERT_EQUAL(run_reset_count, reset_count);
    CU_ASSERT_EQUAL(single->stepper.row, run->stepper.row);
    CU_ASSERT_EQUAL(memcmp(single->stepper.observation, run->stepper.observation,
                        fulcrum_observation_byte(&run->stage.info)),
        0);
}

static inline void trial_close(struct trial *trial)
{
    if (trial->stepper.stage != NULL) {
        fulcrum_stepper_close(&trial->stepper);
    }
    fulcrum_actions_free(&trial->stage.actions);
    if (trial->stage.shared != NULL) {
        trial->stage.actor->close(trial->stage.shared);
    }
    (void)unsetenv("FULCRUM_TEST_FAULT");
}

#endif
