/* learner_cuda.c - the learner on an NVIDIA GPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device_record.h"
#include "calibrate/learner_device.h"
#include "calibrate/learner_record.h"

static enum fulcrum_status cuda_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    return fulcrum_learner_device_open(&fulcrum_device_cuda, options, out, info, err);
}

const struct fulcrum_learner fulcrum_learner_cuda = {
    .name = "cuda",
    .summary = FULCRUM_LEARNER_CUDA_SUMMARY,
    .open = cuda_open,
    .close = fulcrum_learner_device_close,
    .input = fulcrum_learner_device_input,
    .forward = fulcrum_learner_device_forward,
    .train = fulcrum_learner_device_train,
    .train_rows = fulcrum_learner_device_train_rows,
    .take_rows = fulcrum_learner_device_take_rows,
    .read_weights = fulcrum_learner_device_read_weights,
    .write_weights = fulcrum_learner_device_write_weights,
    .clock = FULCRUM_CLOCK_WALL,
    .grant = fulcrum_learner_device_grant,
    .device = &fulcrum_device_cuda,
};
