/* device_mlp.c - the perceptron with policy and value on a compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As network_mlp.c, step for step. The minibatch's old probabilities are made by the
 * host from what the first policy, on the device, says of its actions.
 */
#include "calibrate/device/device_network.h"

#include <assert.h>
#include <stdlib.h>

#include "model/try.h"

enum { LAYER_COUNT = FULCRUM_MLP_LAYER_COUNT };

/* As struct fulcrum_mlp_minibatch. */
struct minibatch {
    fulcrum_place input;
    fulcrum_place action;
    fulcrum_place old_log_probability;
    fulcrum_place advantage;
    fulcrum_place value_target;
};

struct fulcrum_device_mlp {
    struct fulcrum_mlp_options options;
    struct fulcrum_compute compute;
    struct fulcrum_mlp_layers layers;
    struct fulcrum_arena arena;
    struct fulcrum_adam adam; /* its arrays are on the device */
    fulcrum_place mean;
    fulcrum_place square;
    fulcrum_place parameters;
    fulcrum_place gradients;
    fulcrum_place sums;
    float *host_input;
    float *host_action;
    fulcrum_place input;
    fulcrum_place action;
    fulcrum_place inferred[LAYER_COUNT];
    struct minibatch minibatch;
    struct fulcrum_mlp_minibatch host_minibatch; /* NULL until somebody asks for it */
    fulcrum_place trained[LAYER_COUNT];
    fulcrum_place trained_gradient[LAYER_COUNT];
    fulcrum_place log_std_gradient; /* of every sample */
    fulcrum_place sample_loss;
    fulcrum_place loss;
    float clip_frac;
    float value_weight;
};

static void take_minibatch(struct fulcrum_device_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_arena *arena = &network->arena;
    size_t rows = options->train_batch;
    network->minibatch = (struct minibatch){
        .input = fulcrum_arena_take(arena, rows * options->input_count),
        .action = fulcrum_arena_take(arena, rows * options->action_count),
        .old_log_probability = fulcrum_arena_take(arena, rows),
        .advantage = fulcrum_arena_take(arena, rows),
        .value_target = fulcrum_arena_take(arena, rows)};
    network->log_std_gradient = fulcrum_arena_take(arena, rows * options->action_count);
    network->sample_loss = fulcrum_arena_take(arena, rows);
    network->loss = fulcrum_arena_take(arena, 1);
}

static void take_outputs(struct fulcrum_device_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_arena *arena = &network->arena;
    size_t widest = options->action_count;
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        size_t width = network->layers.dense[i].output_count;
        widest = width > widest ? width : widest;
        network->inferred[i] = fulcrum_arena_take(arena, options->max_batch * width);
        network->trained[i] = fulcrum_arena_take(arena, options->train_batch * width);
        network->trained_gradient[i] =
            fulcrum_arena_take(arena, options->train_batch * width);
    }
    network->sums = fulcrum_arena_take(
        arena, fulcrum_compute_sum_scratch(options->train_batch, widest));
}

static void take_places(struct fulcrum_device_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_arena *arena = &network->arena;
    size_t count = network->layers.parameter_count;
    network->parameters = fulcrum_arena_take(arena, count);
    network->gradients = fulcrum_arena_take(arena, count);
    network->adam = fulcrum_mlp_adam(count);
    network->mean = fulcrum_arena_take(arena, count);
    network->square = fulcrum_arena_take(arena, count);
    network->input =
        fulcrum_arena_take(arena, options->max_batch * options->input_count);
    network->action = fulcrum_arena_take(arena, options->max_batch);
    take_outputs(network);
    take_minibatch(network);
}

static void forward(const struct fulcrum_device_mlp *network, fulcrum_place input,
    size_t row_count, const fulcrum_place *outputs)
{
    struct fulcrum_device_pass pass = {.compute = &network->compute,
        .parameters = network->parameters,
        .row_count = row_count,
        .input = input};
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        pass.output = outputs[i];
        fulcrum_device_dense_forward(&network->layers.dense[i], &pass);
        pass.input = pass.output;
    }
}

/* What the host prepares and the device then keeps. */
struct staged {
    float *parameters;
    float *output; /* of the first policy for the minibatch */
    struct fulcrum_mlp_minibatch minibatch;
};

static int staged_take(struct staged *staged, const struct fulcrum_device_mlp *network)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_mlp_minibatch *minibatch = &staged->minibatch;
    size_t rows = options->train_batch;
    size_t actions = options->action_count;
    staged->parameters = calloc(network->layers.parameter_count, sizeof(float));
    staged->output = calloc(rows * (actions + 1), sizeof(float));
    minibatch->input = calloc(rows * options->input_count, sizeof(float));
    minibatch->action = calloc(rows * actions, sizeof(float));
    minibatch->old_log_probability = calloc(rows, sizeof(float));
    minibatch->advantage = calloc(rows, sizeof(float));
    minibatch->value_target = calloc(rows, sizeof(float));
    return staged->parameters != NULL && staged->output != NULL &&
           minibatch->input != NULL && minibatch->action != NULL &&
           minibatch->old_log_probability != NULL && minibatch->advantage != NULL &&
           minibatch->value_target != NULL;
}

static void upload(const struct fulcrum_device_mlp *network, fulcrum_place to,
    const float *from, size_t count)
{
    network->compute.device->upload(
        network->compute.state, to, from, count * sizeof *from);
}

/* The old probabilities: near those of the first policy, which the device evaluates. */
static enum fulcrum_status judge(struct fulcrum_device_mlp *network,
    const struct staged *staged, struct fulcrum_random *random,
    struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &network->compute;
    const struct fulcrum_mlp_options *options = &network->options;
    size_t rows = options->train_batch;
    forward(network, network->minibatch.input, rows, network->trained);
    compute->device->download(compute->state, staged->output,
        network->trained[LAYER_COUNT - 1],
        rows * (options->action_count + 1) * sizeof(float));
    TRY(compute->device->finish(compute->state, err));
    struct fulcrum_ppo ppo = fulcrum_mlp_ppo(&staged->minibatch, options,
        staged->output, staged->parameters + network->layers.log_std_offset);
    network->clip_frac = (float)ppo.clip_frac;
    network->value_weight = (float)ppo.value_weight;
    fulcrum_mlp_minibatch_judge(&staged->minibatch, &ppo, random);
    upload(network, network->minibatch.old_log_probability,
        staged->minibatch.old_log_probability, rows);
    return compute->device->finish(compute->state, err);
}

static enum fulcrum_status fill(
    struct fulcrum_device_mlp *network, struct fulcrum_error *err)
{
    struct staged staged = {.parameters = NULL};
    struct fulcrum_random random = fulcrum_random_seeded(network->options.seed);
    enum fulcrum_status status = FULCRUM_OK;
    if (staged_take(&staged, network)) {
        fulcrum_mlp_layers_init(&network->layers, staged.parameters, &random);
        fulcrum_mlp_minibatch_fill(&staged.minibatch, &network->options, &random);
        const struct fulcrum_mlp_options *options = &network->options;
        size_t rows = options->train_batch;
        upload(network, network->parameters, staged.parameters,
            network->layers.parameter_count);
        upload(network, network->minibatch.input, staged.minibatch.input,
            rows * options->input_count);
        upload(network, network->minibatch.action, staged.minibatch.action,
            rows * options->action_count);
        upload(network, network->minibatch.advantage, staged.minibatch.advantage, rows);
        upload(network, network->minibatch.value_target, staged.minibatch.value_target,
            rows);
        status = judge(network, &staged, &random, err);
    } else {
        status = fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory for the minibatch of a network");
    }
    free(staged.parameters);
    free(staged.output);
    free(staged.minibatch.input);
    free(staged.minibatch.action);
    free(staged.minibatch.old_log_probability);
    free(staged.minibatch.advantage);
    free(staged.minibatch.value_target);
    return status;
}

enum fulcrum_status fulcrum_device_mlp_new(struct fulcrum_device_mlp **out,
    const struct fulcrum_compute *compute, const struct fulcrum_mlp_options *options,
    struct fulcrum_error *err)
{
    struct fulcrum_device_mlp *network = calloc(1, sizeof *network);
    TRY_MEMORY(network, err, "no memory for a network");
    network->options = *options;
    network->compute = *compute;
    network->layers = fulcrum_mlp_layers_make(options);
    network->host_input =
        calloc(options->max_batch * options->input_count, sizeof *network->host_input);
    network->host_action = calloc(options->max_batch, sizeof *network->host_action);
    enum fulcrum_status status = FULCRUM_OK;
    if (network->host_input == NULL || network->host_action == NULL) {
        status = fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for the input of a network with input_count = %zu and "
            "max_batch = %zu",
            options->input_count, options->max_batch);
    }
    take_places(network);
    if (status == FULCRUM_OK) {
        status = fulcrum_arena_reserve(&network->arena, compute, err);
    }
    if (status == FULCRUM_OK) {
        status = fill(network, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_device_mlp_free(network);
        return status;
    }
    *out = network;
    return FULCRUM_OK;
}

void fulcrum_device_mlp_free(struct fulcrum_device_mlp *network)
{
    if (network != NULL) {
        free(network->host_input);
        free(network->host_action);
        free(network->host_minibatch.input);
        free(network->host_minibatch.action);
        free(network->host_minibatch.old_log_probability);
        free(network);
    }
}

float *fulcrum_device_mlp_input(struct fulcrum_device_mlp *network)
{
    return network->host_input;
}

enum fulcrum_status fulcrum_device_mlp_infer(struct fulcrum_device_mlp *network,
    size_t batch, int *action, struct fulcrum_error *err)
{
    size_t actions = network->options.action_count;
    struct fulcrum_compute_largest best = {.row_count = batch,
        .col_count = actions,
        .pitch = actions + 1,
        .value = network->inferred[LAYER_COUNT - 1],
        .index = network->action};
    assert(batch >= 1 && batch <= network->options.max_batch);
    upload(network, network->input, network->host_input,
        batch * network->options.input_count);
    forward(network, network->input, batch, network->inferred);
    return fulcrum_compute_choose(
        &network->compute, &best, network->host_action, action, err);
}

static void queue_ppo(const struct fulcrum_device_mlp *network)
{
    const struct fulcrum_compute *compute = &network->compute;
    size_t rows = network->options.train_batch;
    size_t actions = network->options.action_count;
    struct fulcrum_device_launch launch =
        fulcrum_compute_rows(compute, FULCRUM_KERNEL_PPO, rows, 1);
    launch.arguments.place[0] = network->trained[LAYER_COUNT - 1];
    launch.arguments.place[1] =
        fulcrum_place_at(network->parameters, network->layers.log_std_offset);
    launch.arguments.place[2] = network->minibatch.action;
    launch.arguments.place[3] = network->minibatch.old_log_probability;
    launch.arguments.place[4] = network->minibatch.advantage;
    launch.arguments.place[5] = network->minibatch.value_target;
    launch.arguments.place[6] = network->trained_gradient[LAYER_COUNT - 1];
    launch.arguments.place[7] = network->log_std_gradient;
    launch.arguments.place[8] = network->sample_loss;
    launch.arguments.count[0] = (unsigned int)actions;
    launch.arguments.number[0] = network->clip_frac;
    launch.arguments.number[1] = network->value_weight;
    fulcrum_compute_launch(compute, &launch);
    struct fulcrum_compute_sum of_log_std = {.row_count = rows,
        .col_count = actions,
        .value = network->log_std_gradient,
        .sums = fulcrum_place_at(network->gradients, network->layers.log_std_offset),
        .is_added = 1,
        .factor = 1.0F,
        .scratch = network->sums};
    struct fulcrum_compute_sum mean = {.row_count = rows,
        .col_count = 1,
        .value = network->sample_loss,
        .sums = network->loss,
        .factor = 1.0F / (float)rows,
        .scratch = network->sums};
    fulcrum_compute_sum_rows(compute, &of_log_std);
    fulcrum_compute_sum_rows(compute, &mean);
}

static void queue_backward(const struct fulcrum_device_mlp *network)
{
    struct fulcrum_device_pass pass = {.compute = &network->compute,
        .parameters = network->parameters,
        .row_count = network->options.train_batch,
        .sums = network->sums,
        .gradients = network->gradients};
    for (size_t i = LAYER_COUNT; i > 0; i--) {
        size_t layer = i - 1;
        pass.input = layer > 0 ? network->trained[layer - 1] : network->minibatch.input;
        pass.output = network->trained[layer];
        pass.output_gradient = network->trained_gradient[layer];
        pass.input_gradient =
            layer > 0 ? network->trained_gradient[layer - 1] : FULCRUM_NOWHERE;
        fulcrum_device_dense_backward(&network->layers.dense[layer], &pass);
    }
}

enum fulcrum_status fulcrum_device_mlp_train(
    struct fulcrum_device_mlp *network, double *loss, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &network->compute;
    size_t count = network->layers.parameter_count;
    float mean = 0.0F;
    fulcrum_compute_fill(compute, network->gradients, count, 0.0F);
    forward(network, network->minibatch.input, network->options.train_batch,
        network->trained);
    queue_ppo(network);
    queue_backward(network);
    struct fulcrum_compute_adam adam = {.step = fulcrum_adam_begin(&network->adam),
        .parameter_count = count,
        .parameters = network->parameters,
        .gradients = network->gradients,
        .mean = network->mean,
        .square = network->square};
    fulcrum_compute_adam(compute, &adam);
    compute->device->download(compute->state, &mean, network->loss, sizeof mean);
    TRY(compute->device->finish(compute->state, err));
    *loss = (double)mean;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_device_mlp_host_minibatch(
    struct fulcrum_device_mlp *network, struct fulcrum_mlp_minibatch *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_mlp_options *options = &network->options;
    struct fulcrum_mlp_minibatch *host = &network->host_minibatch;
    size_t rows = options->train_batch;
    if (host->input == NULL) {
        host->input = calloc(rows * options->input_count, sizeof *host->input);
    }
    if (host->action == NULL) {
        host->action = calloc(rows * options->action_count, sizeof *host->action);
    }
    if (host->old_log_probability == NULL) {
        host->old_log_probability = calloc(rows, sizeof *host->old_log_probability);
    }
    FAIL_IF(host->input == NULL || host->action == NULL ||
                host->old_log_probability == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "no memory for a minibatch of %zu rows", rows);
    *out = *host;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_device_mlp_load_minibatch(
    struct fulcrum_device_mlp *network, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &network->compute;
    const struct fulcrum_mlp_options *options = &network->options;
    const struct fulcrum_mlp_minibatch *host = &network->host_minibatch;
    size_t rows = options->train_batch;
    assert(host->input != NULL && host->old_log_probability != NULL);
    upload(network, network->minibatch.input, host->input, rows * options->input_count);
    upload(
        network, network->minibatch.action, host->action, rows * options->action_count);
    upload(network, network->minibatch.old_log_probability, host->old_log_probability,
        rows);
    return compute->device->finish(compute->state, err);
}

struct fulcrum_network_cost fulcrum_device_mlp_cost(
    const struct fulcrum_device_mlp *network)
{
    return fulcrum_mlp_cost_of(&network->layers, &network->options,
        (size_t)network->arena.taken * sizeof(float));
}

struct fulcrum_device_mlp_places fulcrum_device_mlp_places_of(
    const struct fulcrum_device_mlp *network)
{
    return (struct fulcrum_device_mlp_places){.parameters = network->parameters,
        .gradients = network->gradients,
        .inferred = network->inferred[LAYER_COUNT - 1]};
}
