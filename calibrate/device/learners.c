/* learners.c - the table of learners, and what all require of their options. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/learners.h"

#include <string.h>

#include "model/try.h"

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

enum fulcrum_status fulcrum_learner_options_check(
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

struct fulcrum_r2d2_options fulcrum_learner_r2d2_options(
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

struct fulcrum_mlp_options fulcrum_learner_mlp_options(
    const struct fulcrum_learner_options *options)
{
    return (struct fulcrum_mlp_options){.input_count = options->input_count,
        .hidden_count = MLP_HIDDEN_COUNT,
        .action_count = options->action_count,
        .max_batch = options->max_batch,
        .train_batch = options->train_batch,
        .seed = options->seed};
}

size_t fulcrum_learner_input_byte(const struct fulcrum_learner_options *options)
{
    struct fulcrum_r2d2_options r2d2 = fulcrum_learner_r2d2_options(options);
    return options->network == FULCRUM_NETWORK_R2D2
               ? fulcrum_r2d2_image_byte(&r2d2)
               : options->input_count * sizeof(float);
}

struct fulcrum_train_rows fulcrum_learner_r2d2_rows(
    const struct fulcrum_learner_options *options,
    const struct fulcrum_r2d2_replay *replay)
{
    struct fulcrum_r2d2_options r2d2 = fulcrum_learner_r2d2_options(options);
    return (struct fulcrum_train_rows){.batch_count = options->train_batch,
        .step_count = options->train_burn_in + fulcrum_r2d2_segment_steps(&r2d2),
        .observation = replay->image,
        .index = replay->action};
}

struct fulcrum_train_rows fulcrum_learner_mlp_rows(
    const struct fulcrum_learner_options *options,
    const struct fulcrum_mlp_minibatch *minibatch)
{
    return (struct fulcrum_train_rows){.batch_count = options->train_batch,
        .step_count = 1,
        .observation = (unsigned char *)minibatch->input,
        .action = minibatch->action,
        .action_count = options->action_count,
        .log_probability = minibatch->old_log_probability};
}
