/* trial.h - one actor in a worker process, stepped until it fails or is done. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_TRIAL_H
#define FULCRUM_TESTS_TRIAL_H

#include "calibrate/actor.h"
#include "calibrate/stepper.h"

/* An open actor with one environment; closed with trial_close whatever happened. */
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

static inline void trial_close(struct trial *trial)
{
    if (trial->stepper.stage != NULL) {
        fulcrum_stepper_close(&trial->stepper);
    }
    fulcrum_actions_free(&trial->stage.actions);
    if (trial->stage.shared != NULL) {
        trial->stage.actor->close(trial->stage.shared);
    }
}

#endif
