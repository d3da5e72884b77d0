/* network_mlp.c - the perceptron with policy and value, trained by PPO. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three hidden layers, a Gaussian policy and a value on one trunk, the clipped loss of
 * PPO (Schulman et al., 2017) and Adam: the size of network that continuous control is
 * trained with. As for R2D2, inputs are random, work is equal to real training, and
 * nothing is learnt.
 */
#include "calibrate/network/networks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/network/layer.h"
#include "calibrate/network/r2d2_layers.h"
#include "model/try.h"

enum { LAYER_COUNT = FULCRUM_MLP_LAYER_COUNT };

struct fulcrum_mlp {
    struct fulcrum_mlp_options options;
    struct fulcrum_mlp_layers layers;
    struct fulcrum_pool pool;
    struct fulcrum_adam adam;
    float *parameters;
    float *gradients;
    float *input;
    float *inferred[LAYER_COUNT];
    struct fulcrum_mlp_minibatch minibatch;
    float *trained[LAYER_COUNT];
    float *trained_gradient[LAYER_COUNT];
};

static void take_minibatch(struct fulcrum_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_pool *pool = &network->pool;
    size_t rows = options->train_batch;
    network->minibatch = (struct fulcrum_mlp_minibatch){
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
    size_t count = network->layers.parameter_count;
    network->parameters = fulcrum_pool_take_floats(pool, count);
    network->gradients = fulcrum_pool_take_floats(pool, count);
    network->adam = fulcrum_mlp_adam(count);
    network->adam.mean = fulcrum_pool_take_floats(pool, count);
    network->adam.square = fulcrum_pool_take_floats(pool, count);
    network->input =
        fulcrum_pool_take_floats(pool, options->max_batch * options->input_count);
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        size_t width = network->layers.dense[i].output_count;
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
        fulcrum_dense_forward(&network->layers.dense[i], &pass);
        pass.input = pass.output;
    }
    return pass.input;
}

static struct fulcrum_ppo minibatch_loss(const struct fulcrum_mlp *network)
{
    return fulcrum_mlp_ppo(&network->minibatch, &network->options,
        network->trained[LAYER_COUNT - 1],
        network->parameters + network->layers.log_std_offset);
}

static void fill_minibatch(struct fulcrum_mlp *network, struct fulcrum_random *random)
{
    const struct fulcrum_mlp_options *options = &network->options;
    fulcrum_mlp_minibatch_fill(&network->minibatch, options, random);
    (void)forward(
        network, network->minibatch.input, options->train_batch, network->trained);
    struct fulcrum_ppo ppo = minibatch_loss(network);
    fulcrum_mlp_minibatch_judge(&network->minibatch, &ppo, random);
}

enum fulcrum_status fulcrum_mlp_new(struct fulcrum_mlp **out,
    const struct fulcrum_mlp_options *options, struct fulcrum_error *err)
{
    struct fulcrum_mlp *network = calloc(1, sizeof *network);
    TRY_MEMORY(network, err, "no memory for a network");
    network->options = *options;
    network->layers = fulcrum_mlp_layers_make(options);
    take_buffers(network);
    if (network->pool.is_exhausted) {
        fulcrum_mlp_free(network);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for a network with input_count = %zu, max_batch = %zu and "
            "train_batch = %zu",
            options->input_count, options->max_batch, options->train_batch);
    }
    struct fulcrum_random random = fulcrum_random_seeded(options->seed);
    fulcrum_mlp_layers_init(&network->layers, network->parameters, &random);
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
    memset(network->gradients, 0, network->layers.parameter_count * sizeof(float));
    (void)forward(network, network->minibatch.input, network->options.train_batch,
        network->trained);
    struct fulcrum_ppo ppo = minibatch_loss(network);
    return fulcrum_ppo_loss(&ppo, network->trained_gradient[LAYER_COUNT - 1],
        network->gradients + network->layers.log_std_offset);
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
        fulcrum_dense_backward(&network->layers.dense[layer], &pass);
    }
}

double fulcrum_mlp_train(struct fulcrum_mlp *network)
{
    double loss = fulcrum_mlp_loss(network);
    fulcrum_mlp_backward(network);
    fulcrum_adam_update(&network->adam, network->parameters, network->gradients);
    return loss;
}

struct fulcrum_mlp_minibatch fulcrum_mlp_minibatch_data(
    const struct fulcrum_mlp *network)
{
    return network->minibatch;
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
    return fulcrum_mlp_cost_of(
        &network->layers, &network->options, network->pool.taken_byte);
}
