/* learner_device.c - a learner on any compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/learners.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/device/compute.h"
#include "calibrate/device/device.h"
#include "calibrate/device/device_network.h"
#include "calibrate/device/learner.h"
#include "model/try.h"

/* One of the two networks; the other is NULL. */
struct fulcrum_learner_state {
    struct fulcrum_learner_options options;
    struct fulcrum_compute compute;
    struct fulcrum_device_r2d2 *r2d2;
    struct fulcrum_device_mlp *mlp;
};

static enum fulcrum_status open_network(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state *state, struct fulcrum_error *err)
{
    if (options->network == FULCRUM_NETWORK_R2D2) {
        struct fulcrum_r2d2_options r2d2 = fulcrum_learner_r2d2_options(options);
        return fulcrum_device_r2d2_new(&state->r2d2, &state->compute, &r2d2, err);
    }
    struct fulcrum_mlp_options mlp = fulcrum_learner_mlp_options(options);
    return fulcrum_device_mlp_new(&state->mlp, &state->compute, &mlp, err);
}

static enum fulcrum_status open_device(const struct fulcrum_device *device,
    const struct fulcrum_learner_options *options, struct fulcrum_learner_state *state,
    struct fulcrum_device_info *info, struct fulcrum_error *err)
{
    struct fulcrum_device_options device_options = {
        .index = options->device_index, .sm_count = options->sm_count};
    TRY(device->open(&device_options, &state->compute.state, info, err));
    state->compute.device = device;
    state->compute.is_wide = info->is_wide;
    bool takes_one = !info->is_gpu && !(options->sm_count > 0.0) &&
                     info->granted_sm_count > 1.0 && device->grant != NULL;
    /* Where it cannot be divided, it runs whole, and the info says so. */
    if (takes_one) {
        (void)device->grant(state->compute.state, 1.0, &info->granted_sm_count, NULL);
    }
    return FULCRUM_OK;
}

static struct fulcrum_learner_info describe(const struct fulcrum_learner_state *state,
    const struct fulcrum_learner_options *options,
    const struct fulcrum_device_info *device)
{
    struct fulcrum_network_cost cost = state->r2d2 != NULL
                                           ? fulcrum_device_r2d2_cost(state->r2d2)
                                           : fulcrum_device_mlp_cost(state->mlp);
    struct fulcrum_learner_info info = {
        .input_byte = fulcrum_learner_input_byte(options),
        .parameter_count = cost.parameter_count,
        .forward_flop = cost.forward_flop,
        .train_step_flop = cost.train_step_flop,
        .buffer_byte = cost.buffer_byte,
        .is_gpu = device->is_gpu,
        .sm_count = device->sm_count,
        .granted_sm_count = device->granted_sm_count,
        .least_sm_count = device->least_sm_count,
        .sm_step = device->sm_step,
        .clock_hz = device->clock_hz,
        .memory_byte = device->memory_byte};
    (void)snprintf(info.backend, sizeof info.backend, "%s", device->detail);
    (void)snprintf(info.device_name, sizeof info.device_name, "%s", device->name);
    (void)snprintf(info.device_uuid, sizeof info.device_uuid, "%s", device->uuid);
    return info;
}

static void device_close(struct fulcrum_learner_state *state)
{
    if (state == NULL) {
        return;
    }
    fulcrum_device_r2d2_free(state->r2d2);
    fulcrum_device_mlp_free(state->mlp);
    if (state->compute.device != NULL) {
        state->compute.device->close(state->compute.state);
    }
    free(state);
}

enum fulcrum_status fulcrum_learner_device_open(const struct fulcrum_device *device,
    const struct fulcrum_learner_options *options, struct fulcrum_learner_state **out,
    struct fulcrum_learner_info *info, struct fulcrum_error *err)
{
    struct fulcrum_device_info device_info;
    TRY(fulcrum_learner_options_check(options, err));
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "no memory for a learner");
    state->options = *options;
    enum fulcrum_status status = open_device(device, options, state, &device_info, err);
    if (status == FULCRUM_OK) {
        status = open_network(options, state, err);
    }
    if (status != FULCRUM_OK) {
        device_close(state);
        return status;
    }
    *info = describe(state, options, &device_info);
    *out = state;
    return FULCRUM_OK;
}

static void *device_input(struct fulcrum_learner_state *state)
{
    return state->r2d2 != NULL ? (void *)fulcrum_device_r2d2_input(state->r2d2)
                               : (void *)fulcrum_device_mlp_input(state->mlp);
}

static enum fulcrum_status device_forward(struct fulcrum_learner_state *state,
    size_t batch, int *action, struct fulcrum_error *err)
{
    return state->r2d2 != NULL
               ? fulcrum_device_r2d2_infer(state->r2d2, batch, action, err)
               : fulcrum_device_mlp_infer(state->mlp, batch, action, err);
}

static enum fulcrum_status device_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
    return state->r2d2 != NULL ? fulcrum_device_r2d2_train(state->r2d2, loss, err)
                               : fulcrum_device_mlp_train(state->mlp, loss, err);
}

static enum fulcrum_status device_train_rows(struct fulcrum_learner_state *state,
    struct fulcrum_train_rows *out, struct fulcrum_error *err)
{
    struct fulcrum_r2d2_replay replay = {.image = NULL};
    struct fulcrum_mlp_minibatch minibatch = {.input = NULL};
    TRY(state->r2d2 != NULL
            ? fulcrum_device_r2d2_host_replay(state->r2d2, &replay, err)
            : fulcrum_device_mlp_host_minibatch(state->mlp, &minibatch, err));
    *out = state->r2d2 != NULL ? fulcrum_learner_r2d2_rows(&state->options, &replay)
                               : fulcrum_learner_mlp_rows(&state->options, &minibatch);
    return FULCRUM_OK;
}

static enum fulcrum_status device_take_rows(
    struct fulcrum_learner_state *state, struct fulcrum_error *err)
{
    return state->r2d2 != NULL ? fulcrum_device_r2d2_load_replay(state->r2d2, err)
                               : fulcrum_device_mlp_load_minibatch(state->mlp, err);
}

/* Where the weights are, and how many bytes of them. */
static fulcrum_place weights_of(const struct fulcrum_learner_state *state, size_t *byte)
{
    struct fulcrum_network_cost cost = state->r2d2 != NULL
                                           ? fulcrum_device_r2d2_cost(state->r2d2)
                                           : fulcrum_device_mlp_cost(state->mlp);
    *byte = cost.parameter_count * sizeof(float);
    return state->r2d2 != NULL ? fulcrum_device_r2d2_places_of(state->r2d2).parameters
                               : fulcrum_device_mlp_places_of(state->mlp).parameters;
}

static enum fulcrum_status device_read_weights(
    struct fulcrum_learner_state *state, float *out, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &state->compute;
    size_t byte = 0;
    fulcrum_place weights = weights_of(state, &byte);
    compute->device->download(compute->state, out, weights, byte);
    return compute->device->finish(compute->state, err);
}

static enum fulcrum_status device_write_weights(struct fulcrum_learner_state *state,
    const float *weights, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &state->compute;
    size_t byte = 0;
    fulcrum_place to = weights_of(state, &byte);
    compute->device->upload(compute->state, to, weights, byte);
    return compute->device->finish(compute->state, err);
}

static enum fulcrum_status device_grant(struct fulcrum_learner_state *state,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &state->compute;
    FAIL_IF(compute->device->grant == NULL, err, FULCRUM_ERR_UNSUPPORTED,
        "the %s device cannot be divided", compute->device->name);
    return compute->device->grant(compute->state, sm_count, granted, err);
}

/* A learner is the device that it opens; all else is the same. */
#define DEVICE_LEARNER(name_, summary_)                                                \
    static enum fulcrum_status name_##_open(                                           \
        const struct fulcrum_learner_options *options,                                 \
        struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,         \
        struct fulcrum_error *err)                                                     \
    {                                                                                  \
        return fulcrum_learner_device_open(                                            \
            &fulcrum_device_##name_, options, out, info, err);                         \
    }                                                                                  \
    const struct fulcrum_learner fulcrum_learner_##name_ = {                           \
        .name = #name_,                                                                \
        .summary = (summary_),                                                         \
        .open = name_##_open,                                                          \
        .close = device_close,                                                         \
        .input = device_input,                                                         \
        .forward = device_forward,                                                     \
        .train = device_train,                                                         \
        .train_rows = device_train_rows,                                               \
        .take_rows = device_take_rows,                                                 \
        .read_weights = device_read_weights,                                           \
        .write_weights = device_write_weights,                                         \
        .clock = FULCRUM_CLOCK_WALL,                                                   \
        .grant = device_grant,                                                         \
        .device = &fulcrum_device_##name_,                                             \
    };

DEVICE_LEARNER(cuda, FULCRUM_LEARNER_CUDA_SUMMARY)
DEVICE_LEARNER(opencl, FULCRUM_LEARNER_OPENCL_SUMMARY)
