/* network_mlp.c - the perceptron with policy and value, trained by PPO. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three hidden layers, a Gaussian policy and a value on one trunk, the clipped loss of
 * PPO (Schulman et al., 2017) and Adam: the size of network that continuous control is
 * trained with. As for R2D2, inputs are random, work is equal to real training, and
 * nothing is learnt.
 */
#include "calibrate/network_mlp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/activation.h"
#include "calibrate/adam.h"
#include "calibrate/layer_dense.h"
#include "calibrate/pool.h"
#include "calibrate/ppo_loss.h"

enum { LAYER_COUNT = 4 };

/* Schulman et al. (2017), table 3 (MuJoCo); the weight of the value is the usual 1/2.
 */
static const double clip_frac = 0.2;
static const double value_weight = 0.5;
static const double adam_rate = 3e-4;
/* Adam's own default, which the paper leaves unsaid. */
static const double adam_epsilon = 1e-8;

/* The minibatch: what the environments and the policy that acted left behind. */
struct minibatch {
    float *input;
    float *action;
    float *old_log_probability;
    float *advantage;
    float *value_target;
};

struct fulcrum_mlp {
    struct fulcrum_mlp_options options;
    struct fulcrum_dense layers[LAYER_COUNT];
    size_t log_std_offset;
    size_t parameter_count;
    struct fulcrum_pool pool;
    struct fulcrum_adam adam;
    float *parameters;
    float *gradients;
    float *input;
    float *inferred[LAYER_COUNT];
    struct minibatch minibatch;
    float *trained[LAYER_COUNT];
    float *trained_gradient[LAYER_COUNT];
};

static void make_layers(struct fulcrum_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    size_t input_count = options->input_count;
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        int is_last = i + 1 == LAYER_COUNT;
        network->layers[i] = (struct fulcrum_dense){.input_count = input_count,
            .output_count = is_last ? options->action_count + 1 : options->hidden_count,
            .activation = is_last ? FULCRUM_LINEAR : FULCRUM_RELU,
            .offset = network->parameter_count};
        network->parameter_count += fulcrum_dense_parameter_count(&network->layers[i]);
        input_count = network->layers[i].output_count;
    }
    network->log_std_offset = network->parameter_count;
    network->parameter_count += options->action_count;
}

static void take_minibatch(struct fulcrum_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_pool *pool = &network->pool;
    size_t rows = options->train_batch;
    network->minibatch = (struct minibatch){
        .input = fulcrum_pool_take_floats(pool, rows * options->input_count),
        .action = fulcrum_pool_take_floats(pool, rows * options->action_count),
        .old_log_probability = fulcrum_pool_take_floats(pool, rows),
        .advantage = fulcrum_pool_take_floats(pool, rows),
        .value_target = fulcrum_pool_take_floats(pool, rows)};
}

static void take_buffers(struct fulcrum_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_pool *pool = &network->pool;
    size_t count = network->parameter_count;
    network->parameters = fulcrum_pool_take_floats(pool, count);
    network->gradients = fulcrum_pool_take_floats(pool, count);
    network->adam = (struct fulcrum_adam){.rate = adam_rate,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = adam_epsilon,
        .parameter_count = count,
        .mean = fulcrum_pool_take_floats(pool, count),
        .square = fulcrum_pool_take_floats(pool, count)};
    network->input =
        fulcrum_pool_take_floats(pool, options->max_batch * options->input_count);
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        size_t width = network->layers[i].output_count;
        network->inferred[i] =
            fulcrum_pool_take_floats(pool, options->max_batch * width);
        network->trained[i] =
            fulcrum_pool_take_floats(pool, options->train_batch * width);
        network->trained_gradient[i] =
            fulcrum_pool_take_floats(pool, options->train_batch * width);
    }
    take_minibatch(network);
}

static const float *forward(const struct fulcrum_mlp *network, const float *input,
    size_t row_count, float *const *outputs)
{
    struct fulcrum_pass pass = {
        .parameters = network->parameters, .row_count = row_count, .input = input};
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        pass.output = outputs[i];
        fulcrum_dense_forward(&network->layers[i], &pass);
        pass.input = pass.output;
    }
    return pass.input;
}

static struct fulcrum_ppo minibatch_loss(const struct fulcrum_mlp *network)
{
    const struct minibatch *minibatch = &network->minibatch;
    return (struct fulcrum_ppo){.sample_count = network->options.train_batch,
        .action_count = network->options.action_count,
        .clip_frac = clip_frac,
        .value_weight = value_weight,
        .output = network->trained[LAYER_COUNT - 1],
        .log_std = network->parameters + network->log_std_offset,
        .action = minibatch->action,
        .old_log_probability = minibatch->old_log_probability,
        .advantage = minibatch->advantage,
        .value_target = minibatch->value_target};
}

static void fill(float *values, size_t count, struct fulcrum_random *random)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)fulcrum_random_between(random, -1.0, 1.0);
    }
}

static void fill_minibatch(struct fulcrum_mlp *network, struct fulcrum_random *random)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct minibatch *minibatch = &network->minibatch;
    size_t rows = options->train_batch;
    fill(minibatch->input, rows * options->input_count, random);
    fill(minibatch->action, rows * options->action_count, random);
    fill(minibatch->advantage, rows, random);
    fill(minibatch->value_target, rows, random);
    (void)forward(network, minibatch->input, rows, network->trained);
    struct fulcrum_ppo ppo = minibatch_loss(network);
    for (size_t i = 0; i < rows; i++) {
        /* Ratios in exp(+-0.3): a third of them lies outside 1 +- clip_frac. */
        minibatch->old_log_probability[i] =
            (float)(fulcrum_ppo_log_probability(&ppo, i) +
                    fulcrum_random_between(random, -0.3, 0.3));
    }
}

enum fulcrum_status fulcrum_mlp_new(struct fulcrum_mlp **out,
    const struct fulcrum_mlp_options *options, struct fulcrum_error *err)
{
    struct fulcrum_mlp *network = calloc(1, sizeof *network);
    if (network == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a network");
    }
    network->options = *options;
    make_layers(network);
    take_buffers(network);
    if (network->pool.is_exhausted) {
        fulcrum_mlp_free(network);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for a network with input_count = %zu, max_batch = %zu and "
            "train_batch = %zu",
            options->input_count, options->max_batch, options->train_batch);
    }
    struct fulcrum_random random = fulcrum_random_seeded(options->seed);
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        fulcrum_dense_init(&network->layers[i], network->parameters, &random);
    }
    fill_minibatch(network, &random);
    *out = network;
    return FULCRUM_OK;
}

void fulcrum_mlp_free(struct fulcrum_mlp *network)
{
    if (network != NULL) {
        fulcrum_pool_clear(&network->pool);
        free(network);
    }
}

float *fulcrum_mlp_input(struct fulcrum_mlp *network)
{
    return network->input;
}

const float *fulcrum_mlp_forward(struct fulcrum_mlp *network, size_t batch)
{
    assert(batch >= 1 && batch <= network->options.max_batch);
    return forward(network, network->input, batch, network->inferred);
}

void fulcrum_mlp_infer(struct fulcrum_mlp *network, size_t batch, int *action)
{
    const float *output = fulcrum_mlp_forward(network, batch);
    size_t actions = network->options.action_count;
    for (size_t i = 0; i < batch; i++) {
        action[i] = (int)fulcrum_largest(output + i * (actions + 1), actions);
    }
}

double fulcrum_mlp_loss(struct fulcrum_mlp *network)
{
    memset(network->gradients, 0, network->parameter_count * sizeof(float));
    (void)forward(network, network->minibatch.input, network->options.train_batch,
        network->trained);
    struct fulcrum_ppo ppo = minibatch_loss(network);
    return fulcrum_ppo_loss(&ppo, network->trained_gradient[LAYER_COUNT - 1],
        network->gradients + network->log_std_offset);
}

void fulcrum_mlp_backward(struct fulcrum_mlp *network)
{
    struct fulcrum_pass pass = {.parameters = network->parameters,
        .row_count = network->options.train_batch,
        .gradients = network->gradients};
    for (size_t i = LAYER_COUNT; i > 0; i--) {
        size_t layer = i - 1;
        pass.input = layer > 0 ? network->trained[layer - 1] : network->minibatch.input;
        pass.output = network->trained[layer];
        pass.output_gradient = network->trained_gradient[layer];
        pass.input_gradient = layer > 0 ? network->trained_gradient[layer - 1] : NULL;
        fulcrum_dense_backward(&network->layers[layer], &pass);
    }
}

double fulcrum_mlp_train(struct fulcrum_mlp *network)
{
    double loss = fulcrum_mlp_loss(network);
    fulcrum_mlp_backward(network);
    fulcrum_adam_update(&network->adam, network->parameters, network->gradients);
    return loss;
}

float *fulcrum_mlp_parameters(struct fulcrum_mlp *network)
{
    return network->parameters;
}

const float *fulcrum_mlp_gradients(const struct fulcrum_mlp *network)
{
    return network->gradients;
}

struct fulcrum_network_cost fulcrum_mlp_cost(const struct fulcrum_mlp *network)
{
    double mac_count = 0.0;
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        mac_count += fulcrum_dense_mac_count(&network->layers[i]);
    }
    /* Backward: gradients of weights and of inputs, but not of the observations. */
    double train_mac_count =
        3.0 * mac_count - fulcrum_dense_mac_count(&network->layers[0]);
    return (struct fulcrum_network_cost){.parameter_count = network->parameter_count,
        .forward_flop = 2.0 * mac_count,
        .train_step_flop = 2.0 * (double)network->options.train_batch * train_mac_count,
        .buffer_byte = network->pool.taken_byte};
}
