/* learners.h - the learners there are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_LEARNERS_H
#define FULCRUM_CALIBRATE_DEVICE_LEARNERS_H

#include "calibrate/device/device.h"
#include "calibrate/device/learner.h"
#include "calibrate/network/task.h"

/* What all learners require of their options, and make of them. */

#define FULCRUM_LEARNER_CPU_SUMMARY    "OpenBLAS on one CPU thread, float32"
#define FULCRUM_LEARNER_CUDA_SUMMARY   "an NVIDIA GPU, cuBLAS where it is, float32"
#define FULCRUM_LEARNER_OPENCL_SUMMARY "an OpenCL 1.2 device, own kernels, float32"

/*
 * Checks what every learner bounds alike.
 *   fails    FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_options_check(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err);

/* The networks that the options ask for, the same with every learner. */
struct fulcrum_r2d2_options fulcrum_learner_r2d2_options(
    const struct fulcrum_learner_options *options);
struct fulcrum_mlp_options fulcrum_learner_mlp_options(
    const struct fulcrum_learner_options *options);

/* The layouts of rows, with the arrays of a network in their places. */
struct fulcrum_train_rows fulcrum_learner_r2d2_rows(
    const struct fulcrum_learner_options *options,
    const struct fulcrum_r2d2_replay *replay);
struct fulcrum_train_rows fulcrum_learner_mlp_rows(
    const struct fulcrum_learner_options *options,
    const struct fulcrum_mlp_minibatch *minibatch);

/* Bytes of one observation. */
size_t fulcrum_learner_input_byte(const struct fulcrum_learner_options *options);

/*
 * A learner on any compute device, of which the records of `cuda` and `opencl` have the
 * other functions. A device that is no GPU runs on one compute unit unless the options
 * say more: like the learner on the CPU it is one core's server, which is what the
 * model's learner cores are.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_device_open(
    const struct fulcrum_device *device, const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err);

#endif
