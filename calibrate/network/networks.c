/* networks.c - the networks on the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/networks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/network/layer.h"
#include "calibrate/network/loss.h"
#include "calibrate/network/r2d2_layers.h"
#include "calibrate/network/task.h"
#include "model/status.h"
#include "model/try.h"

/*
 * Three hidden layers, a Gaussian policy and a value on one trunk, the clipped loss of
 * PPO (Schulman et al., 2017) and Adam: the size of network that continuous control is
 * trained with. As for R2D2, inputs are random, work is equal to real training, and
 * nothing is learnt.
 */

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

/*
 * Training is one step of R2D2 (Kapturowski et al., 2019): online and target network
 * run through burn-in and unroll, n-step double-Q targets with rescaled values,
 * backward through the unroll, Adam. All buffers are taken once from a pool, so that a
 * training step allocates nothing and its time is that of its arithmetic. Inference
 * keeps one recurrent state per row and advances it in place.
 *
 * It is written out in C, on BLAS alone, for two reasons: the work per step is known
 * exactly and can be counted, and what is measured is a learner, not a framework's
 * overhead. It is not meant to learn.
 */

/* The convolutions of the R2D2 network, a few images at a time. */

enum { LAST = FULCRUM_R2D2_CONV_COUNT - 1 };

/* Rows [first, first + count) of a batch; count is at most the chunk. */
struct chunk {
    size_t first;
    size_t count;
};

static struct chunk chunk_at(const struct fulcrum_r2d2_batch *batch, size_t first)
{
    size_t left = batch->step_count * batch->batch_count - first;
    return (struct chunk){
        first, left < FULCRUM_R2D2_CHUNK ? left : (size_t)FULCRUM_R2D2_CHUNK};
}

/* Where a layer's output of a chunk is: the first layers may keep one chunk only. */
static float *output_at(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_trace *trace, size_t layer, struct chunk chunk)
{
    size_t row = layer == LAST ? chunk.first : chunk.first % trace->conv_row_count;
    return trace->conv[layer] + row * fulcrum_conv_output_count(&layers->conv[layer]);
}

static void load_images(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_batch *batch, const struct fulcrum_r2d2_trace *trace,
    struct chunk chunk)
{
    const struct fulcrum_conv *layer = &layers->conv[0];
    size_t image_size = layer->height * layer->width * layer->channel_count;
    /* Bytes become floats in [0, 1]. */
    const uint8_t *bytes = batch->image + chunk.first * image_size;
    float *pixels = trace->scratch->image;
    size_t row_count = chunk.count;
    size_t count = row_count * layer->height * layer->width * layer->channel_count;
    for (size_t i = 0; i < count; i++) {
        pixels[i] = (float)bytes[i] * (1.0F / 255.0F);
    }
}

static void forward_images(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace)
{
    size_t rows = batch->step_count * batch->batch_count;
    for (size_t first = 0; first < rows; first += FULCRUM_R2D2_CHUNK) {
        struct chunk chunk = chunk_at(batch, first);
        struct fulcrum_pass pass = {.parameters = parameters,
            .row_count = chunk.count,
            .input = trace->scratch->image,
            .column = trace->scratch->column};
        load_images(layers, batch, trace, chunk);
        for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
            pass.output = output_at(layers, trace, i, chunk);
            fulcrum_conv_forward(&layers->conv[i], &pass);
            pass.input = pass.output;
        }
    }
}

static void backward_chunk(const struct fulcrum_r2d2_layers *layers,
    struct fulcrum_pass pass, const struct fulcrum_r2d2_trace *trace,
    struct chunk chunk)
{
    for (size_t i = LAST; i > 0; i--) {
        pass.input = output_at(layers, trace, i - 1, chunk);
        pass.output = output_at(layers, trace, i, chunk);
        pass.input_gradient = trace->scratch->gradient[i - 1];
        fulcrum_conv_backward(&layers->conv[i], &pass);
        pass.output_gradient = pass.input_gradient;
    }
    pass.input = trace->scratch->image;
    pass.output = output_at(layers, trace, 0, chunk);
    pass.input_gradient = NULL;
    fulcrum_conv_backward(&layers->conv[0], &pass);
}

static void backward_images(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients)
{
    size_t rows = batch->step_count * batch->batch_count;
    size_t size = fulcrum_conv_output_count(&layers->conv[LAST]);
    for (size_t first = 0; first < rows; first += FULCRUM_R2D2_CHUNK) {
        struct chunk chunk = chunk_at(batch, first);
        struct fulcrum_pass pass = {.parameters = parameters,
            .row_count = chunk.count,
            .column = trace->scratch->column,
            .gradients = gradients->parameters,
            .output_gradient = gradients->conv + first * size};
        load_images(layers, batch, trace, chunk);
        backward_chunk(layers, pass, trace, chunk);
    }
}

/* Forward and backward through the layers of the R2D2 network. */

void fulcrum_r2d2_forward_core(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    struct fulcrum_r2d2_trace *trace)
{
    forward_images(layers, parameters, batch, trace);
    struct fulcrum_pass pass = {.parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .input = trace->conv[FULCRUM_R2D2_CONV_COUNT - 1],
        .output = trace->dense};
    fulcrum_dense_forward(&layers->dense, &pass);
    /* dense output, last reward, one-hot last action */
    size_t rows = batch->step_count * batch->batch_count;
    size_t dense = layers->dense.output_count;
    size_t width = layers->lstm.input_count;
    for (size_t i = 0; i < rows; i++) {
        float *row = trace->core_input + i * width;
        memcpy(row, trace->dense + i * dense, dense * sizeof *row);
        memset(row + dense, 0, (width - dense) * sizeof *row);
        row[dense] = batch->last_reward[i];
        row[dense + 1 + (size_t)batch->last_action[i]] = 1.0F;
    }
    trace->core.step_count = batch->step_count;
    trace->core.batch_count = batch->batch_count;
    pass.input = trace->core_input;
    fulcrum_lstm_forward(&layers->lstm, &pass, &trace->core);
}

/* Step 0 of the LSTM's output is the state before the first row. */
static const float *core_output(
    const struct fulcrum_r2d2_layers *layers, const struct fulcrum_r2d2_trace *trace)
{
    return trace->core.hidden + trace->core.batch_count * layers->lstm.unit_count;
}

void fulcrum_r2d2_forward_heads(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_trace *trace)
{
    size_t rows = trace->core.step_count * trace->core.batch_count;
    struct fulcrum_pass pass = {.parameters = parameters, .row_count = rows};
    pass.input = core_output(layers, trace);
    pass.output = trace->value_hidden;
    fulcrum_dense_forward(&layers->value_hidden, &pass);
    pass.output = trace->advantage_hidden;
    fulcrum_dense_forward(&layers->advantage_hidden, &pass);
    pass.input = trace->value_hidden;
    pass.output = trace->value;
    fulcrum_dense_forward(&layers->value, &pass);
    pass.input = trace->advantage_hidden;
    pass.output = trace->advantage;
    fulcrum_dense_forward(&layers->advantage, &pass);
    struct fulcrum_duel duel = {rows, layers->action_count};
    fulcrum_duel_forward(duel, trace->value, trace->advantage, trace->q);
}

/* One head: a linear layer on a hidden one. */
struct head {
    const struct fulcrum_dense *hidden;
    const struct fulcrum_dense *last;
    float *hidden_output;
    float *last_gradient;
    float *input_gradient;
};

static void backward_head(const struct head *head, const struct fulcrum_pass *pass,
    const float *input, float *hidden_gradient)
{
    struct fulcrum_pass last = *pass;
    last.input = head->hidden_output;
    last.output_gradient = head->last_gradient;
    last.input_gradient = hidden_gradient;
    fulcrum_dense_backward(head->last, &last);
    struct fulcrum_pass hidden = *pass;
    hidden.input = input;
    hidden.output = head->hidden_output;
    hidden.output_gradient = hidden_gradient;
    hidden.input_gradient = head->input_gradient;
    fulcrum_dense_backward(head->hidden, &hidden);
}

static void backward_heads(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_pass *pass, const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients)
{
    struct fulcrum_duel duel = {pass->row_count, layers->action_count};
    struct head value = {&layers->value_hidden, &layers->value, trace->value_hidden,
        gradients->value, gradients->core.hidden};
    struct head advantage = {&layers->advantage_hidden, &layers->advantage,
        trace->advantage_hidden, gradients->advantage, gradients->head_input};
    const float *input = core_output(layers, trace);
    size_t count = pass->row_count * layers->lstm.unit_count;
    fulcrum_duel_backward(duel, gradients->q, gradients->value, gradients->advantage);
    backward_head(&value, pass, input, gradients->head_hidden);
    backward_head(&advantage, pass, input, gradients->head_hidden);
    for (size_t i = 0; i < count; i++) {
        gradients->core.hidden[i] += gradients->head_input[i];
    }
}

/* The dense layer's share of the joined input. */
static void split_core_gradient(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_gradients *gradients, size_t row_count)
{
    size_t dense = layers->dense.output_count;
    for (size_t i = 0; i < row_count; i++) {
        memcpy(gradients->dense + i * dense,
            gradients->core_input + i * layers->lstm.input_count,
            dense * sizeof *gradients->dense);
    }
}

void fulcrum_r2d2_backward_layers(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients)
{
    assert(batch->batch_count == trace->core.batch_count);
    struct fulcrum_pass pass = {.parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .gradients = gradients->parameters};
    backward_heads(layers, &pass, trace, gradients);
    pass.input = trace->core_input;
    pass.input_gradient = gradients->core_input;
    fulcrum_lstm_backward(&layers->lstm, &pass, &trace->core, &gradients->core);
    split_core_gradient(layers, gradients, pass.row_count);
    pass.input = trace->conv[FULCRUM_R2D2_CONV_COUNT - 1];
    pass.output = trace->dense;
    pass.output_gradient = gradients->dense;
    pass.input_gradient = gradients->conv;
    fulcrum_dense_backward(&layers->dense, &pass);
    backward_images(layers, parameters, batch, trace, gradients);
}

struct fulcrum_r2d2 {
    struct fulcrum_r2d2_options options;
    struct fulcrum_r2d2_layers layers;
    struct fulcrum_pool pool;
    struct fulcrum_adam adam;
    float *parameters;
    float *target_parameters;
    struct fulcrum_r2d2_gradients gradients;
    struct fulcrum_r2d2_scratch scratch;
    /* Inference: one slot per image of the input. */
    uint8_t *input;
    int *slot_action;
    float *slot_reward;
    float *slot_hidden;
    float *slot_cell;
    struct fulcrum_r2d2_trace inference;
    /* Training. */
    struct fulcrum_r2d2_replay replay;
    struct fulcrum_r2d2_trace online;
    struct fulcrum_r2d2_trace target; /* the burn-in of both networks as well */
};

static void take_inference(struct fulcrum_r2d2 *network)
{
    struct fulcrum_pool *pool = &network->pool;
    size_t slots = network->options.max_batch;
    size_t units = network->layers.lstm.unit_count;
    network->input =
        fulcrum_pool_take(pool, slots * fulcrum_r2d2_image_byte(&network->options), 1);
    network->slot_action = fulcrum_pool_take(pool, slots, sizeof(int));
    network->slot_reward = fulcrum_pool_take_floats(pool, slots);
    network->slot_hidden = fulcrum_pool_take_floats(pool, slots * units);
    network->slot_cell = fulcrum_pool_take_floats(pool, slots * units);
    network->inference = fulcrum_r2d2_trace_take(
        &network->layers, pool, 1, slots, FULCRUM_R2D2_KEEP_OUTPUTS);
}

static void take_training(struct fulcrum_r2d2 *network)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    struct fulcrum_pool *pool = &network->pool;
    size_t rows = fulcrum_r2d2_replay_rows(options);
    size_t longest = options->train_burn_in > fulcrum_r2d2_segment_steps(options)
                         ? options->train_burn_in
                         : fulcrum_r2d2_segment_steps(options);
    network->replay.image =
        fulcrum_pool_take(pool, rows * fulcrum_r2d2_image_byte(options), 1);
    network->replay.action =
        fulcrum_pool_take(pool, rows + options->train_batch, sizeof(int));
    network->replay.reward =
        fulcrum_pool_take_floats(pool, rows + options->train_batch);
    network->online = fulcrum_r2d2_trace_take(&network->layers, pool,
        fulcrum_r2d2_segment_steps(options), options->train_batch,
        FULCRUM_R2D2_KEEP_ALL);
    network->target = fulcrum_r2d2_trace_take(&network->layers, pool, longest,
        options->train_batch, FULCRUM_R2D2_KEEP_OUTPUTS);
    network->gradients = fulcrum_r2d2_gradients_take(
        &network->layers, pool, options->train_unroll, options->train_batch);
}

static void renew_target(struct fulcrum_r2d2 *network)
{
    memcpy(network->target_parameters, network->parameters,
        network->layers.parameter_count * sizeof *network->parameters);
}

enum fulcrum_status fulcrum_r2d2_new(struct fulcrum_r2d2 **out,
    const struct fulcrum_r2d2_options *options, struct fulcrum_error *err)
{
    struct fulcrum_r2d2 *network = calloc(1, sizeof *network);
    TRY_MEMORY(network, err, "no memory for a network");
    network->options = *options;
    network->layers = fulcrum_r2d2_layers_make(&options->shape);
    size_t count = network->layers.parameter_count;
    struct fulcrum_pool *pool = &network->pool;
    network->parameters = fulcrum_pool_take_floats(pool, count);
    network->target_parameters = fulcrum_pool_take_floats(pool, count);
    network->adam = fulcrum_r2d2_adam(count);
    network->adam.mean = fulcrum_pool_take_floats(pool, count);
    network->adam.square = fulcrum_pool_take_floats(pool, count);
    network->scratch = fulcrum_r2d2_scratch_take(&network->layers, pool);
    take_inference(network);
    take_training(network);
    network->inference.scratch = &network->scratch;
    network->online.scratch = &network->scratch;
    network->target.scratch = &network->scratch;
    if (network->pool.is_exhausted) {
        fulcrum_r2d2_free(network);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for an R2D2 network with max_batch = %zu and %zu sequences of "
            "%zu + %zu steps",
            options->max_batch, options->train_batch, options->train_burn_in,
            options->train_unroll);
    }
    struct fulcrum_random random = fulcrum_random_seeded(options->seed);
    fulcrum_r2d2_layers_init(&network->layers, network->parameters, &random);
    renew_target(network);
    fulcrum_r2d2_replay_fill(&network->replay, options, &random);
    *out = network;
    return FULCRUM_OK;
}

void fulcrum_r2d2_free(struct fulcrum_r2d2 *network)
{
    if (network != NULL) {
        fulcrum_pool_clear(&network->pool);
        free(network);
    }
}

uint8_t *fulcrum_r2d2_input(struct fulcrum_r2d2 *network)
{
    return network->input;
}

const float *fulcrum_r2d2_forward(struct fulcrum_r2d2 *network, size_t batch)
{
    struct fulcrum_r2d2_batch images = {.step_count = 1,
        .batch_count = batch,
        .image = network->input,
        .last_action = network->slot_action,
        .last_reward = network->slot_reward};
    struct fulcrum_r2d2_trace *trace = &network->inference;
    size_t count = batch * network->layers.lstm.unit_count;
    size_t state_byte = count * sizeof(float);
    assert(batch >= 1 && batch <= network->options.max_batch);
    memcpy(trace->core.hidden, network->slot_hidden, state_byte);
    memcpy(trace->core.cell, network->slot_cell, state_byte);
    fulcrum_r2d2_forward_core(&network->layers, network->parameters, &images, trace);
    memcpy(network->slot_hidden, trace->core.hidden + count, state_byte);
    memcpy(network->slot_cell, trace->core.cell + count, state_byte);
    fulcrum_r2d2_forward_heads(&network->layers, network->parameters, trace);
    size_t actions = network->layers.action_count;
    for (size_t i = 0; i < batch; i++) {
        network->slot_action[i] = (int)fulcrum_largest(trace->q + i * actions, actions);
    }
    return trace->q;
}

void fulcrum_r2d2_infer(struct fulcrum_r2d2 *network, size_t batch, int *action)
{
    (void)fulcrum_r2d2_forward(network, batch);
    memcpy(action, network->slot_action, batch * sizeof *action);
}

/* Steps [first, first + count) of the replay. */
static struct fulcrum_r2d2_batch replay_steps(
    const struct fulcrum_r2d2 *network, size_t first, size_t count)
{
    size_t row = first * network->options.train_batch;
    return (struct fulcrum_r2d2_batch){.step_count = count,
        .batch_count = network->options.train_batch,
        .image =
            network->replay.image + row * fulcrum_r2d2_image_byte(&network->options),
        .last_action = network->replay.action + row,
        .last_reward = network->replay.reward + row};
}

/*
 * Leaves in the trace the action values of the trained segment. The recurrent state
 * starts at zero, and the burn-in steps bring it to where the segment begins.
 */
static void forward_replay(struct fulcrum_r2d2 *network, const float *parameters,
    struct fulcrum_r2d2_trace *trace)
{
    const struct fulcrum_r2d2_layers *layers = &network->layers;
    struct fulcrum_r2d2_trace *warm = &network->target;
    size_t burn_in = network->options.train_burn_in;
    size_t count = network->options.train_batch * layers->lstm.unit_count;
    size_t state_byte = count * sizeof(float);
    memset(warm->core.hidden, 0, state_byte);
    memset(warm->core.cell, 0, state_byte);
    if (burn_in > 0) {
        struct fulcrum_r2d2_batch before = replay_steps(network, 0, burn_in);
        fulcrum_r2d2_forward_core(layers, parameters, &before, warm);
    }
    memmove(trace->core.hidden, warm->core.hidden + burn_in * count, state_byte);
    memmove(trace->core.cell, warm->core.cell + burn_in * count, state_byte);
    struct fulcrum_r2d2_batch segment =
        replay_steps(network, burn_in, fulcrum_r2d2_segment_steps(&network->options));
    fulcrum_r2d2_forward_core(layers, parameters, &segment, trace);
    fulcrum_r2d2_forward_heads(layers, parameters, trace);
}

double fulcrum_r2d2_loss(struct fulcrum_r2d2 *network)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    /* The online network first: its burn-in passes through the target's trace. */
    forward_replay(network, network->parameters, &network->online);
    forward_replay(network, network->target_parameters, &network->target);
    size_t row = (options->train_burn_in + 1) * options->train_batch;
    struct fulcrum_td td = {.step_count = options->train_unroll,
        .batch_count = options->train_batch,
        .action_count = network->layers.action_count,
        .look_ahead = FULCRUM_R2D2_LOOK_AHEAD,
        .discount = FULCRUM_R2D2_DISCOUNT,
        .online = network->online.q,
        .target = network->target.q,
        .action = network->replay.action + row,
        .reward = network->replay.reward + row};
    return fulcrum_td_loss(&td, network->gradients.q);
}

void fulcrum_r2d2_backward(struct fulcrum_r2d2 *network)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    struct fulcrum_r2d2_batch trained =
        replay_steps(network, options->train_burn_in, options->train_unroll);
    memset(network->gradients.parameters, 0,
        network->layers.parameter_count * sizeof(float));
    fulcrum_r2d2_backward_layers(&network->layers, network->parameters, &trained,
        &network->online, &network->gradients);
}

double fulcrum_r2d2_train(struct fulcrum_r2d2 *network)
{
    double loss = fulcrum_r2d2_loss(network);
    fulcrum_r2d2_backward(network);
    fulcrum_adam_update(
        &network->adam, network->parameters, network->gradients.parameters);
    if (network->adam.step_count % FULCRUM_R2D2_TARGET_PERIOD == 0) {
        renew_target(network);
    }
    return loss;
}

const struct fulcrum_r2d2_layers *fulcrum_r2d2_layers_of(
    const struct fulcrum_r2d2 *network)
{
    return &network->layers;
}

struct fulcrum_r2d2_batch fulcrum_r2d2_replay(const struct fulcrum_r2d2 *network)
{
    return replay_steps(network, 0,
        network->options.train_burn_in + fulcrum_r2d2_segment_steps(&network->options));
}

struct fulcrum_r2d2_replay fulcrum_r2d2_replay_data(const struct fulcrum_r2d2 *network)
{
    return network->replay;
}

float *fulcrum_r2d2_parameters(struct fulcrum_r2d2 *network)
{
    return network->parameters;
}

const float *fulcrum_r2d2_gradients(const struct fulcrum_r2d2 *network)
{
    return network->gradients.parameters;
}

struct fulcrum_network_cost fulcrum_r2d2_cost(const struct fulcrum_r2d2 *network)
{
    return fulcrum_r2d2_cost_of(
        &network->layers, &network->options, network->pool.taken_byte);
}
