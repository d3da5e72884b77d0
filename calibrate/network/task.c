/* task.c - the training tasks of the networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/task.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* What a PPO learner is to do: layers and minibatch. */

struct fulcrum_mlp_layers fulcrum_mlp_layers_make(
    const struct fulcrum_mlp_options *options)
{
    struct fulcrum_mlp_layers layers = {.parameter_count = 0};
    size_t input_count = options->input_count;
    for (size_t i = 0; i < FULCRUM_MLP_LAYER_COUNT; i++) {
        bool is_last = i + 1 == FULCRUM_MLP_LAYER_COUNT;
        layers.dense[i] = fulcrum_linear_make(&layers.parameter_count, input_count,
            is_last ? options->action_count + 1 : options->hidden_count,
            is_last ? FULCRUM_LINEAR : FULCRUM_RELU);
        input_count = layers.dense[i].output_count;
    }
    layers.log_std_offset = layers.parameter_count;
    layers.parameter_count += options->action_count;
    return layers;
}

void fulcrum_mlp_layers_init(const struct fulcrum_mlp_layers *layers, float *parameters,
    struct fulcrum_random *random)
{
    for (size_t i = 0; i < FULCRUM_MLP_LAYER_COUNT; i++) {
        fulcrum_linear_init(&layers->dense[i], parameters, random);
    }
}

static void draw_floats(float *values, size_t count, struct fulcrum_random *random)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)fulcrum_random_between(random, -1.0, 1.0);
    }
}

void fulcrum_mlp_minibatch_fill(const struct fulcrum_mlp_minibatch *minibatch,
    const struct fulcrum_mlp_options *options, struct fulcrum_random *random)
{
    size_t rows = options->train_batch;
    draw_floats(minibatch->input, rows * options->input_count, random);
    draw_floats(minibatch->action, rows * options->action_count, random);
    draw_floats(minibatch->advantage, rows, random);
    draw_floats(minibatch->value_target, rows, random);
}

/* log(2 pi) / 2 */
static const double log_normal = 0.91893853320467274;

/* The first policy's standard deviations are one: their logarithms are zero. */
void fulcrum_mlp_minibatch_judge(const struct fulcrum_mlp_minibatch *minibatch,
    const struct fulcrum_mlp_options *options, const float *output,
    struct fulcrum_random *random)
{
    size_t actions = options->action_count;
    for (size_t i = 0; i < options->train_batch; i++) {
        double log_probability = 0.0;
        for (size_t j = 0; j < actions; j++) {
            double z = (double)minibatch->action[i * actions + j] -
                       (double)output[i * (actions + 1) + j];
            log_probability -= 0.5 * z * z + log_normal;
        }
        /* Ratios in exp(+-0.3): a third of them lies outside 1 +- clip_frac. */
        minibatch->old_log_probability[i] =
            (float)(log_probability + fulcrum_random_between(random, -0.3, 0.3));
    }
}

struct fulcrum_network_cost fulcrum_mlp_cost_of(
    const struct fulcrum_mlp_layers *layers, const struct fulcrum_mlp_options *options)
{
    double mac_count = 0.0;
    for (size_t i = 0; i < FULCRUM_MLP_LAYER_COUNT; i++) {
        mac_count += fulcrum_linear_mac_count(&layers->dense[i]);
    }
    /* Backward: gradients of weights and of inputs, but not of the observations. */
    double train_mac_count =
        3.0 * mac_count - fulcrum_linear_mac_count(&layers->dense[0]);
    return (struct fulcrum_network_cost){.parameter_count = layers->parameter_count,
        .forward_flop = 2.0 * mac_count,
        .train_step_flop = 2.0 * (double)options->train_batch * train_mac_count};
}

/* What an R2D2 learner is to do: layers and replay. */

/* Returns the elements of one output image of the last convolution. */
static size_t make_convolutions(
    struct fulcrum_r2d2_layers *layers, const struct fulcrum_r2d2_shape *shape)
{
    struct fulcrum_conv next = {.height = shape->height,
        .width = shape->width,
        .channel_count = shape->channel_count};
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        const struct fulcrum_r2d2_filters *filters = &shape->filters[i];
        assert(filters->kernel <= next.height && filters->kernel <= next.width);
        next.kernel = filters->kernel;
        next.stride = filters->stride;
        layers->conv[i] =
            fulcrum_conv_make(&layers->parameter_count, next, filters->filter_count);
        next = (struct fulcrum_conv){.height = layers->conv[i].window_rows,
            .width = layers->conv[i].window_cols,
            .channel_count = filters->filter_count};
    }
    return fulcrum_conv_image_count(&next);
}

struct fulcrum_r2d2_layers fulcrum_r2d2_layers_make(
    const struct fulcrum_r2d2_shape *shape)
{
    struct fulcrum_r2d2_layers layers = {.action_count = shape->action_count};
    size_t *taken = &layers.parameter_count;
    size_t head = shape->head_count;
    size_t flat = make_convolutions(&layers, shape);
    layers.dense = fulcrum_linear_make(taken, flat, shape->dense_count, FULCRUM_RELU);
    layers.lstm = fulcrum_lstm_make(
        taken, shape->dense_count + 1 + shape->action_count, shape->lstm_count);
    layers.value_hidden =
        fulcrum_linear_make(taken, shape->lstm_count, head, FULCRUM_RELU);
    layers.value = fulcrum_linear_make(taken, head, 1, FULCRUM_LINEAR);
    layers.advantage_hidden =
        fulcrum_linear_make(taken, shape->lstm_count, head, FULCRUM_RELU);
    layers.advantage =
        fulcrum_linear_make(taken, head, shape->action_count, FULCRUM_LINEAR);
    return layers;
}

void fulcrum_r2d2_layers_init(const struct fulcrum_r2d2_layers *layers,
    float *parameters, struct fulcrum_random *random)
{
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        fulcrum_conv_init(&layers->conv[i], parameters, random);
    }
    fulcrum_linear_init(&layers->dense, parameters, random);
    fulcrum_lstm_init(&layers->lstm, parameters, random);
    fulcrum_linear_init(&layers->value_hidden, parameters, random);
    fulcrum_linear_init(&layers->value, parameters, random);
    fulcrum_linear_init(&layers->advantage_hidden, parameters, random);
    fulcrum_linear_init(&layers->advantage, parameters, random);
}

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

void fulcrum_r2d2_replay_fill(const struct fulcrum_r2d2_replay *replay,
    const struct fulcrum_r2d2_options *options, struct fulcrum_random *random)
{
    size_t rows = fulcrum_r2d2_replay_rows(options);
    size_t count = rows + options->train_batch;
    uint64_t actions = options->shape.action_count;
    size_t byte_count = rows * fulcrum_r2d2_image_byte(options);
    for (size_t i = 0; i < byte_count; i += sizeof(uint64_t)) {
        uint64_t bits = fulcrum_random_bits(random);
        size_t left = byte_count - i;
        memcpy(replay->image + i, &bits, left < sizeof bits ? left : sizeof bits);
    }
    for (size_t i = 0; i < count; i++) {
        replay->action[i] = (int)(fulcrum_random_bits(random) % actions);
        replay->reward[i] = (float)fulcrum_random_between(random, -1.0, 1.0);
    }
}

struct fulcrum_network_cost fulcrum_r2d2_cost_of(
    const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_options *options)
{
    /* Multiply-adds per observation: up to the LSTM, and with the heads. */
    double core = fulcrum_linear_mac_count(&layers->dense) +
                  fulcrum_lstm_mac_count(&layers->lstm);
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        core += fulcrum_conv_mac_count(&layers->conv[i]);
    }
    double all = core + fulcrum_linear_mac_count(&layers->value_hidden) +
                 fulcrum_linear_mac_count(&layers->value) +
                 fulcrum_linear_mac_count(&layers->advantage_hidden) +
                 fulcrum_linear_mac_count(&layers->advantage);
    double burn_in = (double)options->train_burn_in;
    double unroll = (double)options->train_unroll;
    /* Two networks go forward. Backward: gradients of weights and of inputs, but not of
     * the images; the step after the segment has none. */
    double mac_count = 2.0 * (burn_in * core + (unroll + 1.0) * all) +
                       unroll * (2.0 * all - fulcrum_conv_mac_count(&layers->conv[0]));
    return (struct fulcrum_network_cost){.parameter_count = layers->parameter_count,
        .forward_flop = 2.0 * all,
        .train_step_flop = 2.0 * (double)options->train_batch * mac_count};
}
