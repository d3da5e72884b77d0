/* device_r2d2.c - the R2D2 network on a compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As network_r2d2.c, step for step. Weights, replay, optimiser and all that passes keep
 * stay on the device; only images, actions and the loss travel. Actions are floats
 * there.
 */
#include "calibrate/device_r2d2.h"

#include <assert.h>
#include <stdlib.h>

#include "calibrate/device_r2d2_pass.h"
#include "model/try.h"

/* Actions that are turned into floats at a time. */
enum { ACTION_BLOCK = 1024 };

/* The replay on the device: bytes, and floats for actions as well. */
struct replay {
    fulcrum_place image;
    fulcrum_place action;
    fulcrum_place reward;
};

struct fulcrum_device_r2d2 {
    struct fulcrum_r2d2_options options;
    struct fulcrum_device_r2d2_net net;
    struct fulcrum_arena arena;
    struct fulcrum_adam adam; /* its arrays are on the device */
    fulcrum_place mean;
    fulcrum_place square;
    fulcrum_place parameters;
    fulcrum_place target_parameters;
    struct fulcrum_device_r2d2_gradients gradients;
    /* Inference: one slot per image of the input. */
    uint8_t *host_input;
    float *host_action;
    fulcrum_place input;
    fulcrum_place slot_action;
    fulcrum_place slot_reward;
    struct fulcrum_device_r2d2_trace inference;
    /* Training. */
    struct replay replay;
    struct fulcrum_r2d2_replay host_replay; /* NULL until somebody asks for it */
    struct fulcrum_device_r2d2_trace online;
    struct fulcrum_device_r2d2_trace target; /* the burn-in of both networks as well */
    fulcrum_place row_loss;
    fulcrum_place loss;
};

static size_t places_for_bytes(size_t byte)
{
    return (byte + sizeof(float) - 1) / sizeof(float);
}

static void take_inference(struct fulcrum_device_r2d2 *network)
{
    struct fulcrum_arena *arena = &network->arena;
    size_t slots = network->options.max_batch;
    size_t image_byte = fulcrum_r2d2_image_byte(&network->options);
    network->input = fulcrum_arena_take(arena, places_for_bytes(slots * image_byte));
    network->slot_action = fulcrum_arena_take(arena, slots);
    network->slot_reward = fulcrum_arena_take(arena, slots);
    network->inference = fulcrum_device_r2d2_trace_take(
        &network->net, arena, 1, slots, FULCRUM_R2D2_KEEP_OUTPUTS);
}

static void take_training(struct fulcrum_device_r2d2 *network)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    struct fulcrum_arena *arena = &network->arena;
    size_t segment = fulcrum_r2d2_segment_steps(options);
    size_t longest =
        options->train_burn_in > segment ? options->train_burn_in : segment;
    size_t rows = fulcrum_r2d2_replay_rows(options);
    size_t with_last = rows + options->train_batch;
    network->replay =
        (struct replay){.image = fulcrum_arena_take(arena,
                            places_for_bytes(rows * fulcrum_r2d2_image_byte(options))),
            .action = fulcrum_arena_take(arena, with_last),
            .reward = fulcrum_arena_take(arena, with_last)};
    network->online = fulcrum_device_r2d2_trace_take(
        &network->net, arena, segment, options->train_batch, FULCRUM_R2D2_KEEP_ALL);
    network->target = fulcrum_device_r2d2_trace_take(
        &network->net, arena, longest, options->train_batch, FULCRUM_R2D2_KEEP_OUTPUTS);
    network->gradients = fulcrum_device_r2d2_gradients_take(
        &network->net, arena, options->train_unroll, options->train_batch);
    network->row_loss =
        fulcrum_arena_take(arena, options->train_unroll * options->train_batch);
    network->loss = fulcrum_arena_take(arena, 1);
}

static void take_places(struct fulcrum_device_r2d2 *network)
{
    struct fulcrum_arena *arena = &network->arena;
    size_t count = network->net.layers.parameter_count;
    size_t rows = fulcrum_r2d2_replay_rows(&network->options);
    size_t slots = network->options.max_batch;
    network->parameters = fulcrum_arena_take(arena, count);
    network->target_parameters = fulcrum_arena_take(arena, count);
    network->adam = fulcrum_r2d2_adam(count);
    network->mean = fulcrum_arena_take(arena, count);
    network->square = fulcrum_arena_take(arena, count);
    fulcrum_device_r2d2_net_take(&network->net, arena, rows > slots ? rows : slots);
    take_inference(network);
    take_training(network);
}

/* What the host prepares and the device then keeps. */
struct staged {
    float *parameters;
    struct fulcrum_r2d2_replay replay;
};

static void staged_free(struct staged *staged)
{
    free(staged->parameters);
    free(staged->replay.image);
    free(staged->replay.action);
    free(staged->replay.reward);
}

static int staged_take(struct staged *staged, const struct fulcrum_device_r2d2 *network)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    size_t rows = fulcrum_r2d2_replay_rows(options);
    size_t with_last = rows + options->train_batch;
    staged->parameters =
        calloc(network->net.layers.parameter_count, sizeof *staged->parameters);
    staged->replay.image = calloc(rows, fulcrum_r2d2_image_byte(options));
    staged->replay.action = calloc(with_last, sizeof *staged->replay.action);
    staged->replay.reward = calloc(with_last, sizeof *staged->replay.reward);
    return staged->parameters != NULL && staged->replay.image != NULL &&
           staged->replay.action != NULL && staged->replay.reward != NULL;
}

static void upload(const struct fulcrum_device_r2d2 *network, fulcrum_place to,
    const void *from, size_t byte)
{
    const struct fulcrum_compute *compute = &network->net.compute;
    compute->device->upload(compute->state, to, from, byte);
}

static void upload_actions(
    const struct fulcrum_device_r2d2 *network, const int *action, size_t count)
{
    float block[ACTION_BLOCK];
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        block[filled] = (float)action[i];
        filled++;
        if (filled == ACTION_BLOCK || i + 1 == count) {
            upload(network, fulcrum_place_at(network->replay.action, i + 1 - filled),
                block, filled * sizeof *block);
            filled = 0;
        }
    }
}

static void upload_staged(
    const struct fulcrum_device_r2d2 *network, const struct staged *staged)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    size_t rows = fulcrum_r2d2_replay_rows(options);
    size_t with_last = rows + options->train_batch;
    size_t weight_byte = network->net.layers.parameter_count * sizeof(float);
    upload(network, network->parameters, staged->parameters, weight_byte);
    upload(network, network->target_parameters, staged->parameters, weight_byte);
    upload(network, network->replay.image, staged->replay.image,
        rows * fulcrum_r2d2_image_byte(options));
    upload(network, network->replay.reward, staged->replay.reward,
        with_last * sizeof(float));
    upload_actions(network, staged->replay.action, with_last);
}

/* First weights and replay: the same random numbers in the same order as the CPU's. */
static enum fulcrum_status fill(
    const struct fulcrum_device_r2d2 *network, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &network->net.compute;
    struct staged staged = {.parameters = NULL};
    struct fulcrum_random random = fulcrum_random_seeded(network->options.seed);
    enum fulcrum_status status = FULCRUM_OK;
    if (staged_take(&staged, network)) {
        fulcrum_r2d2_layers_init(&network->net.layers, staged.parameters, &random);
        fulcrum_r2d2_replay_fill(&staged.replay, &network->options, &random);
        upload_staged(network, &staged);
        status = compute->device->finish(compute->state, err);
    } else {
        status = fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory for the replay of a network");
    }
    staged_free(&staged);
    return status;
}

enum fulcrum_status fulcrum_device_r2d2_new(struct fulcrum_device_r2d2 **out,
    const struct fulcrum_compute *compute, const struct fulcrum_r2d2_options *options,
    struct fulcrum_error *err)
{
    struct fulcrum_device_r2d2 *network = calloc(1, sizeof *network);
    if (network == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a network");
    }
    network->options = *options;
    network->net.compute = *compute;
    network->net.layers = fulcrum_r2d2_layers_make(&options->shape);
    network->host_input = calloc(options->max_batch, fulcrum_r2d2_image_byte(options));
    network->host_action = calloc(options->max_batch, sizeof *network->host_action);
    enum fulcrum_status status = FULCRUM_OK;
    if (network->host_input == NULL || network->host_action == NULL) {
        status = fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for the input of a network with max_batch = %zu",
            options->max_batch);
    }
    take_places(network);
    if (status == FULCRUM_OK) {
        status = fulcrum_arena_reserve(&network->arena, compute, err);
    }
    if (status == FULCRUM_OK) {
        status = fill(network, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_device_r2d2_free(network);
        return status;
    }
    *out = network;
    return FULCRUM_OK;
}

void fulcrum_device_r2d2_free(struct fulcrum_device_r2d2 *network)
{
    if (network != NULL) {
        free(network->host_input);
        free(network->host_action);
        free(network->host_replay.image);
        free(network->host_replay.action);
        free(network);
    }
}

uint8_t *fulcrum_device_r2d2_input(struct fulcrum_device_r2d2 *network)
{
    return network->host_input;
}

enum fulcrum_status fulcrum_device_r2d2_infer(struct fulcrum_device_r2d2 *network,
    size_t batch, int *action, struct fulcrum_error *err)
{
    size_t actions = network->net.layers.action_count;
    struct fulcrum_device_r2d2_batch images = {.step_count = 1,
        .batch_count = batch,
        .image = network->input,
        .last_action = network->slot_action,
        .last_reward = network->slot_reward};
    struct fulcrum_compute_largest best = {.row_count = batch,
        .col_count = actions,
        .pitch = actions,
        .value = network->inference.q,
        .index = network->slot_action};
    assert(batch >= 1 && batch <= network->options.max_batch);
    upload(network, network->input, network->host_input,
        batch * fulcrum_r2d2_image_byte(&network->options));
    fulcrum_device_r2d2_infer_batch(
        &network->net, network->parameters, &images, &network->inference);
    return fulcrum_compute_choose(
        &network->net.compute, &best, network->host_action, action, err);
}

/* Steps [first, first + count) of the replay. */
static struct fulcrum_device_r2d2_batch replay_steps(
    const struct fulcrum_device_r2d2 *network, size_t first, size_t count)
{
    size_t row = first * network->options.train_batch;
    return (struct fulcrum_device_r2d2_batch){.step_count = count,
        .batch_count = network->options.train_batch,
        .image = network->replay.image,
        .first_byte = row * fulcrum_r2d2_image_byte(&network->options),
        .last_action = fulcrum_place_at(network->replay.action, row),
        .last_reward = fulcrum_place_at(network->replay.reward, row)};
}

/* The state that the burn-in left becomes the one before the segment. */
static void hand_over(const struct fulcrum_device_r2d2 *network,
    const struct fulcrum_device_r2d2_trace *trace)
{
    const struct fulcrum_compute *compute = &network->net.compute;
    const struct fulcrum_device_lstm_trace *warm = &network->target.core;
    size_t burn_in = network->options.train_burn_in;
    size_t count = network->options.train_batch * network->net.layers.lstm.unit_count;
    int is_there = burn_in == 0 && trace == &network->target;
    if (!is_there) {
        fulcrum_compute_copy(compute, trace->core.hidden,
            fulcrum_place_at(warm->hidden, burn_in * count), count);
        fulcrum_compute_copy(compute, trace->core.cell,
            fulcrum_place_at(warm->cell, burn_in * count), count);
    }
}

/* As forward_replay of network_r2d2.c. */
static void forward_replay(struct fulcrum_device_r2d2 *network,
    fulcrum_place parameters, struct fulcrum_device_r2d2_trace *trace)
{
    const struct fulcrum_device_r2d2_net *net = &network->net;
    struct fulcrum_device_r2d2_trace *warm = &network->target;
    size_t burn_in = network->options.train_burn_in;
    size_t count = network->options.train_batch * net->layers.lstm.unit_count;
    fulcrum_compute_fill(&net->compute, warm->core.hidden, count, 0.0F);
    fulcrum_compute_fill(&net->compute, warm->core.cell, count, 0.0F);
    if (burn_in > 0) {
        struct fulcrum_device_r2d2_batch before = replay_steps(network, 0, burn_in);
        fulcrum_device_r2d2_forward_core(net, parameters, &before, warm);
    }
    hand_over(network, trace);
    struct fulcrum_device_r2d2_batch segment =
        replay_steps(network, burn_in, fulcrum_r2d2_segment_steps(&network->options));
    fulcrum_device_r2d2_forward_core(net, parameters, &segment, trace);
    fulcrum_device_r2d2_forward_heads(net, parameters, trace);
}

static void queue_td(const struct fulcrum_device_r2d2 *network)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    const struct fulcrum_compute *compute = &network->net.compute;
    size_t rows = options->train_unroll * options->train_batch;
    size_t after = (options->train_burn_in + 1) * options->train_batch;
    struct fulcrum_device_launch launch =
        fulcrum_compute_rows(compute, FULCRUM_KERNEL_TD, rows, 1);
    launch.arguments.place[0] = network->online.q;
    launch.arguments.place[1] = network->target.q;
    launch.arguments.place[2] = fulcrum_place_at(network->replay.action, after);
    launch.arguments.place[3] = fulcrum_place_at(network->replay.reward, after);
    launch.arguments.place[4] = network->gradients.q;
    launch.arguments.place[5] = network->row_loss;
    launch.arguments.count[0] = (unsigned int)options->train_unroll;
    launch.arguments.count[1] = (unsigned int)options->train_batch;
    launch.arguments.count[2] = (unsigned int)network->net.layers.action_count;
    launch.arguments.count[3] = FULCRUM_R2D2_LOOK_AHEAD;
    launch.arguments.number[0] = (float)FULCRUM_R2D2_DISCOUNT;
    fulcrum_compute_launch(compute, &launch);
    struct fulcrum_compute_sum mean = {.row_count = rows,
        .col_count = 1,
        .value = network->row_loss,
        .sums = network->loss,
        .factor = 1.0F / (float)rows,
        .scratch = network->net.sums};
    fulcrum_compute_sum_rows(compute, &mean);
}

static void queue_backward(struct fulcrum_device_r2d2 *network)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    struct fulcrum_device_r2d2_batch trained =
        replay_steps(network, options->train_burn_in, options->train_unroll);
    fulcrum_compute_fill(&network->net.compute, network->gradients.parameters,
        network->net.layers.parameter_count, 0.0F);
    fulcrum_device_r2d2_backward(&network->net, network->parameters, &trained,
        &network->online, &network->gradients);
}

static void queue_update(struct fulcrum_device_r2d2 *network)
{
    const struct fulcrum_compute *compute = &network->net.compute;
    size_t count = network->net.layers.parameter_count;
    struct fulcrum_compute_adam adam = {.step = fulcrum_adam_begin(&network->adam),
        .parameter_count = count,
        .parameters = network->parameters,
        .gradients = network->gradients.parameters,
        .mean = network->mean,
        .square = network->square};
    fulcrum_compute_adam(compute, &adam);
    if (network->adam.step_count % FULCRUM_R2D2_TARGET_PERIOD == 0) {
        fulcrum_compute_copy(
            compute, network->target_parameters, network->parameters, count);
    }
}

enum fulcrum_status fulcrum_device_r2d2_train(
    struct fulcrum_device_r2d2 *network, double *loss, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &network->net.compute;
    float mean = 0.0F;
    /* The online network first: its burn-in passes through the target's trace. */
    forward_replay(network, network->parameters, &network->online);
    forward_replay(network, network->target_parameters, &network->target);
    queue_td(network);
    queue_backward(network);
    queue_update(network);
    compute->device->download(compute->state, &mean, network->loss, sizeof mean);
    TRY(compute->device->finish(compute->state, err));
    *loss = (double)mean;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_device_r2d2_host_replay(struct fulcrum_device_r2d2 *network,
    struct fulcrum_r2d2_replay *out, struct fulcrum_error *err)
{
    const struct fulcrum_r2d2_options *options = &network->options;
    struct fulcrum_r2d2_replay *replay = &network->host_replay;
    size_t rows = fulcrum_r2d2_replay_rows(options);
    if (replay->image == NULL) {
        replay->image = calloc(rows, fulcrum_r2d2_image_byte(options));
    }
    if (replay->action == NULL) {
        replay->action = calloc(rows + options->train_batch, sizeof *replay->action);
    }
    if (replay->image == NULL || replay->action == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory for a replay of %zu images", rows);
    }
    *out = *replay;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_device_r2d2_load_replay(
    struct fulcrum_device_r2d2 *network, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &network->net.compute;
    const struct fulcrum_r2d2_options *options = &network->options;
    size_t rows = fulcrum_r2d2_replay_rows(options);
    assert(network->host_replay.image != NULL && network->host_replay.action != NULL);
    upload(network, network->replay.image, network->host_replay.image,
        rows * fulcrum_r2d2_image_byte(options));
    upload_actions(network, network->host_replay.action, rows + options->train_batch);
    return compute->device->finish(compute->state, err);
}

struct fulcrum_network_cost fulcrum_device_r2d2_cost(
    const struct fulcrum_device_r2d2 *network)
{
    return fulcrum_r2d2_cost_of(&network->net.layers, &network->options,
        (size_t)network->arena.taken * sizeof(float));
}

struct fulcrum_device_r2d2_places fulcrum_device_r2d2_places_of(
    const struct fulcrum_device_r2d2 *network)
{
    return (struct fulcrum_device_r2d2_places){.parameters = network->parameters,
        .gradients = network->gradients.parameters,
        .inferred_q = network->inference.q};
}
