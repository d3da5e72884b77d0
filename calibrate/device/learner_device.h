/* learner_device.h - a learner on any compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_LEARNER_DEVICE_H
#define FULCRUM_CALIBRATE_DEVICE_LEARNER_DEVICE_H

#include "calibrate/device/device.h"
#include "calibrate/device/learner.h"

/*
 * The members of struct fulcrum_learner; a record names the device in an `open` of its
 * own. A device that is no GPU runs on one compute unit unless the options say more:
 * like the learner on the CPU it is one core's server, which is what the model's
 * learner cores are.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_open(
    const struct fulcrum_device *device, const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_learner_device_close(struct fulcrum_learner_state *state);

/* Borrowed, in the host's memory. */
void *fulcrum_learner_device_input(struct fulcrum_learner_state *state);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_forward(
    struct fulcrum_learner_state *state, size_t batch, int *action,
    struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err);

/* Borrowed, in the host's memory. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_train_rows(
    struct fulcrum_learner_state *state, struct fulcrum_train_rows *out,
    struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_take_rows(
    struct fulcrum_learner_state *state, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_read_weights(
    struct fulcrum_learner_state *state, float *out, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_write_weights(
    struct fulcrum_learner_state *state, const float *weights,
    struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_grant(
    struct fulcrum_learner_state *state, double sm_count, double *granted,
    struct fulcrum_error *err);

#endif
