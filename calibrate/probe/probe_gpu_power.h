/* probe_gpu_power.h - a duty cycle: work that keeps a share of the time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_PROBE_GPU_POWER_H
#define FULCRUM_CALIBRATE_PROBE_PROBE_GPU_POWER_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/device/learner.h"
#include "calibrate/random.h"
#include "model/status.h"

enum fulcrum_duty_cycle_work {
    FULCRUM_DUTY_NOTHING,
    FULCRUM_DUTY_INFERENCE,
    FULCRUM_DUTY_TRAINING
};

struct fulcrum_duty_cycle {
    const struct fulcrum_learner *learner;
    struct fulcrum_learner_state *state;
    enum fulcrum_duty_cycle_work work;
    double busy_frac; /* of the wall time, (0, 1]; nothing to do: ignored */
    size_t batch;     /* of inference */
    int *action;      /* room for `batch` */
    /* 0 ends the run early. NULL: never. */
    bool (*goes_on)(void *user);
    void *user;
};

struct fulcrum_duty_cycle_reading {
    double wall_s;
    double busy_s;     /* in calls of the learner */
    double step_count; /* batches, or training steps */
    bool is_ended;     /* `goes_on` said so */
};

/*
 * Works in bursts of about 20 ms, at least one step, and rests after each for as long
 * as the share asks, until at least `window_s` have passed; ends with a rest, so that
 * the share is met over the whole of it. The length of bursts is random: a meter that
 * looks at regular times must not keep step with them.
 *   random   moves on
 *   out      set on success only
 *   fails    as forward and train of the learner
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_duty_cycle_run(
    struct fulcrum_duty_cycle_reading *out, const struct fulcrum_duty_cycle *duty,
    double window_s, struct fulcrum_random *random, struct fulcrum_error *err);

#endif
