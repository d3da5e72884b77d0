/* mlp_task.c - what a PPO learner is to do: layers, minibatch and optimiser. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/task.h"

#include <stdbool.h>

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
