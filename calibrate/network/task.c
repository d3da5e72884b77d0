/* task.c - the training tasks of the networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/task.h"

#include <stdbool.h>
#include <string.h>

/* What a PPO learner is to do: layers, minibatch and optimiser. */

/* Schulman et al. (2017), table 3 (MuJoCo); the weight of the value is the usual 1/2.
 */
static const double clip_frac = 0.2;
static const double value_weight = 0.5;
static const double adam_rate = 3e-4;
/* Adam's own default, which the paper leaves unsaid. */
static const double adam_epsilon = 1e-8;

struct fulcrum_mlp_layers fulcrum_mlp_layers_make(
    const struct fulcrum_mlp_options *options)
{
    struct fulcrum_mlp_layers layers = {.parameter_count = 0};
    size_t input_count = options->input_count;
    for (size_t i = 0; i < FULCRUM_MLP_LAYER_COUNT; i++) {
        bool is_last = i + 1 == FULCRUM_MLP_LAYER_COUNT;
        layers.dense[i] = (struct fulcrum_dense){.input_count = input_count,
            .output_count = is_last ? options->action_count + 1 : options->hidden_count,
            .activation = is_last ? FULCRUM_LINEAR : FULCRUM_RELU,
            .offset = layers.parameter_count};
        layers.parameter_count += fulcrum_dense_parameter_count(&layers.dense[i]);
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
        fulcrum_dense_init(&layers->dense[i], parameters, random);
    }
}

struct fulcrum_adam fulcrum_mlp_adam(size_t parameter_count)
{
    return (struct fulcrum_adam){.rate = adam_rate,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = adam_epsilon,
        .parameter_count = parameter_count};
}

static void fill(float *values, size_t count, struct fulcrum_random *random)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)fulcrum_random_between(random, -1.0, 1.0);
    }
}

void fulcrum_mlp_minibatch_fill(const struct fulcrum_mlp_minibatch *minibatch,
    const struct fulcrum_mlp_options *options, struct fulcrum_random *random)
{
    size_t rows = options->train_batch;
    fill(minibatch->input, rows * options->input_count, random);
    fill(minibatch->action, rows * options->action_count, random);
    fill(minibatch->advantage, rows, random);
    fill(minibatch->value_target, rows, random);
}

struct fulcrum_ppo fulcrum_mlp_ppo(const struct fulcrum_mlp_minibatch *minibatch,
    const struct fulcrum_mlp_options *options, const float *output,
    const float *log_std)
{
    return (struct fulcrum_ppo){.sample_count = options->train_batch,
        .action_count = options->action_count,
        .clip_frac = clip_frac,
        .value_weight = value_weight,
        .output = output,
        .log_std = log_std,
        .action = minibatch->action,
        .old_log_probability = minibatch->old_log_probability,
        .advantage = minibatch->advantage,
        .value_target = minibatch->value_target};
}

void fulcrum_mlp_minibatch_judge(const struct fulcrum_mlp_minibatch *minibatch,
    const struct fulcrum_ppo *ppo, struct fulcrum_random *random)
{
    for (size_t i = 0; i < ppo->sample_count; i++) {
        /* Ratios in exp(+-0.3): a third of them lies outside 1 +- clip_frac. */
        minibatch->old_log_probability[i] =
            (float)(fulcrum_ppo_log_probability(ppo, i) +
                    fulcrum_random_between(random, -0.3, 0.3));
    }
}

struct fulcrum_network_cost fulcrum_mlp_cost_of(const struct fulcrum_mlp_layers *layers,
    const struct fulcrum_mlp_options *options, size_t buffer_byte)
{
    double mac_count = 0.0;
    for (size_t i = 0; i < FULCRUM_MLP_LAYER_COUNT; i++) {
        mac_count += fulcrum_dense_mac_count(&layers->dense[i]);
    }
    /* Backward: gradients of weights and of inputs, but not of the observations. */
    double train_mac_count =
        3.0 * mac_count - fulcrum_dense_mac_count(&layers->dense[0]);
    return (struct fulcrum_network_cost){.parameter_count = layers->parameter_count,
        .forward_flop = 2.0 * mac_count,
        .train_step_flop = 2.0 * (double)options->train_batch * train_mac_count,
        .buffer_byte = buffer_byte};
}

/* What an R2D2 learner is to do: sizes, replay and optimiser. */

static const double r2d2_adam_rate = 1e-4;
static const double r2d2_adam_epsilon = 1e-3;

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
    return (struct fulcrum_adam){.rate = r2d2_adam_rate,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = r2d2_adam_epsilon,
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
