/* learner.c - the table of learners: the networks on one device each. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/learner.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/compute.h"
#include "calibrate/device/networks.h"
#include "calibrate/network/task.h"
#include "model/try.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

struct fulcrum_learner_state {
    struct fulcrum_learner_options options;
    struct fulcrum_compute compute;
    struct fulcrum_network *network;
};

const char *fulcrum_learner_network_name(enum fulcrum_learner_network network)
{
    static const char *const names[] = {
        [FULCRUM_NETWORK_R2D2] = "r2d2", [FULCRUM_NETWORK_MLP] = "mlp"};
    size_t i = (size_t)network;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

/* Units of each of the three hidden layers: learner.h, FULCRUM_NETWORK_MLP. */
enum { MLP_HIDDEN_COUNT = 256 };

struct bound {
    const char *name;
    size_t value;
    size_t min;
    size_t max;
};

static enum fulcrum_status check_bounds(
    const struct bound *bounds, size_t count, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct bound *bound = &bounds[i];
        FAIL_IF(bound->value < bound->min || bound->value > bound->max, err,
            FULCRUM_ERR_RANGE, "%s = %zu is outside [%zu, %zu]", bound->name,
            bound->value, bound->min, bound->max);
    }
    return FULCRUM_OK;
}

/* A replay of 16384 steps keeps the training buffers near 3 GB. */
static enum fulcrum_status check_r2d2(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    const struct bound bounds[] = {
        {"train_unroll", options->train_unroll, 1, 1024},
        {"train_burn_in", options->train_burn_in, 0, 1024},
        {"train_batch", options->train_batch, 1, 1024},
    };
    TRY(check_bounds(bounds, sizeof bounds / sizeof bounds[0], err));
    size_t steps = options->train_burn_in + options->train_unroll + 1;
    struct bound total = {"train_batch x (train_burn_in + train_unroll + 1)",
        options->train_batch * steps, 1, 16384};
    return check_bounds(&total, 1, err);
}

/* 2^27 floats of observations are 0.5 GiB. */
static enum fulcrum_status check_mlp(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    const struct bound bounds[] = {
        {"input_count", options->input_count, 1, 65536},
        {"train_batch", options->train_batch, 1, 65536},
    };
    TRY(check_bounds(bounds, sizeof bounds / sizeof bounds[0], err));
    const struct bound products[] = {
        {"input_count x train_batch", options->input_count * options->train_batch, 1,
            (size_t)1 << 27},
        {"input_count x max_batch", options->input_count * options->max_batch, 1,
            (size_t)1 << 27},
    };
    return check_bounds(products, sizeof products / sizeof products[0], err);
}

static enum fulcrum_status check_options(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    const struct bound bounds[] = {
        {"max_batch", options->max_batch, 1, 4096},
        {"action_count", options->action_count, 1, 1024},
    };
    FAIL_IF(fulcrum_learner_network_name(options->network) == NULL, err,
        FULCRUM_ERR_RANGE, "network = %d is not one of the networks",
        (int)options->network);
    TRY(check_bounds(bounds, sizeof bounds / sizeof bounds[0], err));
    return options->network == FULCRUM_NETWORK_R2D2 ? check_r2d2(options, err)
                                                    : check_mlp(options, err);
}

static struct fulcrum_r2d2_options r2d2_options(
    const struct fulcrum_learner_options *options)
{
    return (struct fulcrum_r2d2_options){
        .shape = fulcrum_r2d2_atari(options->action_count),
        .max_batch = options->max_batch,
        .train_batch = options->train_batch,
        .train_unroll = options->train_unroll,
        .train_burn_in = options->train_burn_in,
        .seed = options->seed};
}

static struct fulcrum_mlp_options mlp_options(
    const struct fulcrum_learner_options *options)
{
    return (struct fulcrum_mlp_options){.input_count = options->input_count,
        .hidden_count = MLP_HIDDEN_COUNT,
        .action_count = options->action_count,
        .max_batch = options->max_batch,
        .train_batch = options->train_batch,
        .seed = options->seed};
}

static size_t input_byte(const struct fulcrum_learner_options *options)
{
    struct fulcrum_r2d2_options r2d2 = r2d2_options(options);
    return options->network == FULCRUM_NETWORK_R2D2
               ? fulcrum_r2d2_image_byte(&r2d2)
               : options->input_count * sizeof(float);
}

static enum fulcrum_status open_network(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state *state, struct fulcrum_error *err)
{
    struct fulcrum_r2d2_options r2d2 = r2d2_options(options);
    struct fulcrum_mlp_options mlp = mlp_options(options);
    return options->network == FULCRUM_NETWORK_R2D2
               ? fulcrum_r2d2_new(&state->network, &state->compute, &r2d2, err)
               : fulcrum_mlp_new(&state->network, &state->compute, &mlp, err);
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

static struct fulcrum_learner_info info_of(
    const struct fulcrum_learner_state *state, const struct fulcrum_device_info *device)
{
    struct fulcrum_network_cost cost = fulcrum_network_cost(state->network);
    struct fulcrum_learner_info info = {.input_byte = input_byte(&state->options),
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

static void learner_close(struct fulcrum_learner_state *state)
{
    if (state == NULL) {
        return;
    }
    fulcrum_network_free(state->network);
    if (state->compute.device != NULL) {
        state->compute.device->close(state->compute.state);
    }
    free(state);
}

enum fulcrum_status fulcrum_learner_open_on(const struct fulcrum_device *device,
    const struct fulcrum_learner_options *options, struct fulcrum_learner_state **out,
    struct fulcrum_learner_info *info, struct fulcrum_error *err)
{
    struct fulcrum_device_info device_info;
    TRY(check_options(options, err));
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "no memory for a learner");
    enum fulcrum_status status = FULCRUM_OK;
    state->options = *options;
    TRY_OR_END(open_device(device, options, state, &device_info, err));
    TRY_OR_END(open_network(options, state, err));
    *info = info_of(state, &device_info);
    *out = state;
end:
    if (status != FULCRUM_OK) {
        learner_close(state);
    }
    return status;
}

static void *learner_input(struct fulcrum_learner_state *state)
{
    return fulcrum_network_input(state->network);
}

static enum fulcrum_status learner_forward(struct fulcrum_learner_state *state,
    size_t batch, int *action, struct fulcrum_error *err)
{
    return fulcrum_network_infer(state->network, batch, action, err);
}

static enum fulcrum_status learner_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
    return fulcrum_network_train(state->network, loss, err);
}

static enum fulcrum_status learner_train_rows(struct fulcrum_learner_state *state,
    struct fulcrum_train_rows *out, struct fulcrum_error *err)
{
    const struct fulcrum_learner_options *options = &state->options;
    void *rows[3];
    TRY(fulcrum_network_rows(state->network, rows, err));
    *out = (struct fulcrum_train_rows){
        .batch_count = options->train_batch, .step_count = 1, .observation = rows[0]};
    if (options->network == FULCRUM_NETWORK_R2D2) {
        out->step_count = options->train_burn_in + options->train_unroll + 1;
        out->index = rows[1];
    } else {
        out->action = rows[1];
        out->action_count = options->action_count;
        out->log_probability = rows[2];
    }
    return FULCRUM_OK;
}

static enum fulcrum_status learner_take_rows(
    struct fulcrum_learner_state *state, struct fulcrum_error *err)
{
    return fulcrum_network_load_rows(state->network, err);
}

static size_t weight_byte(const struct fulcrum_learner_state *state)
{
    return fulcrum_network_cost(state->network).parameter_count * sizeof(float);
}

static enum fulcrum_status learner_read_weights(
    struct fulcrum_learner_state *state, float *out, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &state->compute;
    compute->device->download(compute->state, out,
        fulcrum_network_places_of(state->network).parameters, weight_byte(state));
    return compute->device->finish(compute->state, err);
}

static enum fulcrum_status learner_write_weights(struct fulcrum_learner_state *state,
    const float *weights, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &state->compute;
    compute->device->upload(compute->state,
        fulcrum_network_places_of(state->network).parameters, weights,
        weight_byte(state));
    return compute->device->finish(compute->state, err);
}

static enum fulcrum_status learner_grant(struct fulcrum_learner_state *state,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &state->compute;
    FAIL_IF(compute->device->grant == NULL, err, FULCRUM_ERR_UNSUPPORTED,
        "the %s device cannot be divided", compute->device->name);
    return compute->device->grant(compute->state, sm_count, granted, err);
}

static enum fulcrum_status cpu_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    FAIL_IF(!FULCRUM_HAVE_OPENBLAS, err, FULCRUM_ERR_UNSUPPORTED,
        "this build has no OpenBLAS: install libopenblas-dev and configure with "
        "-DFULCRUM_OPENBLAS=ON");
    return fulcrum_learner_open_on(&fulcrum_device_host, options, out, info, err);
}

/*
 * Results and operands too small for their exponent are taken for zero, where the
 * processor can (bits 15 and 6 of the control register of SSE and AVX): they would be
 * many times slower than others.
 */
static enum fulcrum_status cpu_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
#if defined(__SSE2__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040U);
#endif
    enum fulcrum_status status = learner_train(state, loss, err);
#if defined(__SSE2__)
    _mm_setcsr(before);
#endif
    return status;
}

static enum fulcrum_status cuda_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    return fulcrum_learner_open_on(&fulcrum_device_cuda, options, out, info, err);
}

static enum fulcrum_status opencl_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    return fulcrum_learner_open_on(&fulcrum_device_opencl, options, out, info, err);
}

/* What all learners have alike. */
#define ALIKE                                                                          \
    .close = learner_close, .input = learner_input, .forward = learner_forward,        \
    .train_rows = learner_train_rows, .take_rows = learner_take_rows,                  \
    .read_weights = learner_read_weights, .write_weights = learner_write_weights

const struct fulcrum_learner fulcrum_learner_cpu = {
    .name = "cpu",
    .summary = "OpenBLAS on one CPU thread, float32",
    .open = cpu_open,
    .train = cpu_train,
    .clock = FULCRUM_CLOCK_CPU,
    ALIKE,
};

const struct fulcrum_learner fulcrum_learner_cuda = {
    .name = "cuda",
    .summary = "an NVIDIA GPU, cuBLAS where it is, float32",
    .open = cuda_open,
    .train = learner_train,
    .clock = FULCRUM_CLOCK_WALL,
    .grant = learner_grant,
    .device = &fulcrum_device_cuda,
    ALIKE,
};

const struct fulcrum_learner fulcrum_learner_opencl = {
    .name = "opencl",
    .summary = "an OpenCL 1.2 device, own kernels, float32",
    .open = opencl_open,
    .train = learner_train,
    .clock = FULCRUM_CLOCK_WALL,
    .grant = learner_grant,
    .device = &fulcrum_device_opencl,
    ALIKE,
};

const struct fulcrum_learner *const *fulcrum_learners(void)
{
    static const struct fulcrum_learner *const learners[] = {
        &fulcrum_learner_cpu,
        &fulcrum_learner_cuda,
        &fulcrum_learner_opencl,
        NULL,
    };
    return learners;
}

const struct fulcrum_learner *fulcrum_learner_find(const char *name)
{
    const struct fulcrum_learner *const *learner = fulcrum_learners();
    while (*learner != NULL && strcmp((*learner)->name, name) != 0) {
        learner++;
    }
    return *learner;
}
