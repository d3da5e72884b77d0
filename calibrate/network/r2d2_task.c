/* r2d2_task.c - what an R2D2 learner is to do: sizes, replay and optimiser. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/task.h"

#include <string.h>

static const double adam_rate = 1e-4;
static const double adam_epsilon = 1e-3;

struct fulcrum_r2d2_shape fulcrum_r2d2_atari(size_t action_count)
{
    /* Mnih et al. (2015) for the convolutions, Espeholt et al. (2020) for the rest. */
    struct fulcrum_r2d2_shape shape = {.height = 84,
        .width = 84,
        .channel_count = 4,
        .filters = {{32, 8, 4}, {64, 4, 2}, {64, 3, 1}},
        .dense_count = 512,
        .lstm_count = 512,
        .head_count = 512,
        .action_count = action_count};
    return shape;
}

struct fulcrum_adam fulcrum_r2d2_adam(size_t parameter_count)
{
    return (struct fulcrum_adam){.rate = adam_rate,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = adam_epsilon,
        .parameter_count = parameter_count};
}

size_t fulcrum_r2d2_image_byte(const struct fulcrum_r2d2_options *options)
{
    const struct fulcrum_r2d2_shape *shape = &options->shape;
    return shape->height * shape->width * shape->channel_count;
}

size_t fulcrum_r2d2_segment_steps(const struct fulcrum_r2d2_options *options)
{
    return options->train_unroll + 1;
}

size_t fulcrum_r2d2_replay_rows(const struct fulcrum_r2d2_options *options)
{
    return (options->train_burn_in + fulcrum_r2d2_segment_steps(options)) *
           options->train_batch;
}

static void fill_bytes(uint8_t *bytes, size_t count, struct fulcrum_random *random)
{
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        uint64_t bits = fulcrum_random_bits(random);
        size_t left = count - i;
        memcpy(bytes + i, &bits, left < sizeof bits ? left : sizeof bits);
    }
}

void fulcrum_r2d2_replay_fill(const struct fulcrum_r2d2_replay *replay,
    const struct fulcrum_r2d2_options *options, struct fulcrum_random *random)
{
    size_t rows = fulcrum_r2d2_replay_rows(options);
    size_t count = rows + options->train_batch;
    uint64_t actions = options->shape.action_count;
    fill_bytes(replay->image, rows * fulcrum_r2d2_image_byte(options), random);
    for (size_t i = 0; i < count; i++) {
        replay->action[i] = (int)(fulcrum_random_bits(random) % actions);
        replay->reward[i] = (float)fulcrum_random_between(random, -1.0, 1.0);
    }
}

struct fulcrum_network_cost fulcrum_r2d2_cost_of(
    const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_options *options, size_t buffer_byte)
{
    double core = fulcrum_r2d2_core_mac_count(layers);
    double all = core + fulcrum_r2d2_head_mac_count(layers);
    double burn_in = (double)options->train_burn_in;
    double unroll = (double)options->train_unroll;
    /* Two networks go forward. Backward: gradients of weights and of inputs, but not of
     * the images; the step after the segment has none. */
    double mac_count = 2.0 * (burn_in * core + (unroll + 1.0) * all) +
                       unroll * (2.0 * all - fulcrum_r2d2_first_mac_count(layers));
    return (struct fulcrum_network_cost){.parameter_count = layers->parameter_count,
        .forward_flop = 2.0 * all,
        .train_step_flop = 2.0 * (double)options->train_batch * mac_count,
        .buffer_byte = buffer_byte};
}
