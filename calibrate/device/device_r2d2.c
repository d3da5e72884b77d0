/* device_r2d2.c - the R2D2 network on a compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As network_r2d2.c, step for step. Weights, replay, optimiser and all that passes keep
 * stay on the device; only images, actions and the loss travel. Actions are floats
 * there.
 */

#include "calibrate/device/device_network.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calibrate/device/compute.h"
#include "calibrate/network/r2d2_layers.h"
#include "calibrate/network/task.h"
#include "model/try.h"

/*
 * As struct fulcrum_r2d2_trace and struct fulcrum_r2d2_gradients, with places for
 * arrays. What stands in for network_r2d2.c and r2d2_layers.c is here.
 */
struct fulcrum_device_r2d2_trace {
    size_t conv_row_count; /* rows that the first convolutions have room for */
    fulcrum_place conv[FULCRUM_R2D2_CONV_COUNT];
    fulcrum_place dense;
    fulcrum_place core_input;
    struct fulcrum_device_lstm_trace core;
    fulcrum_place value_hidden;
    fulcrum_place value;
    fulcrum_place advantage_hidden;
    fulcrum_place advantage;
    fulcrum_place q;
};

struct fulcrum_device_r2d2_gradients {
    fulcrum_place parameters;
    fulcrum_place q;
    fulcrum_place advantage;
    fulcrum_place value;
    fulcrum_place head_hidden;
    fulcrum_place head_input;
    struct fulcrum_device_lstm_gradients core;
    fulcrum_place core_input;
    fulcrum_place dense;
    fulcrum_place conv;
};

/* Row t * batch_count + i is step t of sequence i; actions are floats on a device. */
struct fulcrum_device_r2d2_batch {
    size_t step_count;
    size_t batch_count;
    fulcrum_place image; /* bytes */
    size_t first_byte;   /* of the first image, from the place on */
    fulcrum_place last_action;
    fulcrum_place last_reward;
};

/* What all passes of one network share. */
struct fulcrum_device_r2d2_net {
    struct fulcrum_compute compute;
    struct fulcrum_r2d2_layers layers;
    size_t chunk; /* images that go through the convolutions together */
    fulcrum_place column;
    fulcrum_place gradient[FULCRUM_R2D2_CONV_COUNT - 1];
    fulcrum_place sums;
};

/* The R2D2 network on a device: buffers and passes. */

enum { LAST = FULCRUM_R2D2_CONV_COUNT - 1 };

/*
 * Windows of 256 images of the first layer are 105 MB: enough to fill the largest GPU.
 * On a CPU those of a few images stay in its caches.
 */
enum { CHUNK_WIDE = 256, CHUNK_NARROW = 8 };

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Room for the sums of biases: of every convolution's chunk and of all other layers. */
static size_t sum_scratch(const struct fulcrum_device_r2d2_net *net, size_t row_count)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    const struct fulcrum_dense *dense[] = {&layers->dense, &layers->value_hidden,
        &layers->value, &layers->advantage_hidden, &layers->advantage};
    size_t count =
        fulcrum_compute_sum_scratch(row_count, fulcrum_lstm_gate_count(&layers->lstm));
    for (size_t i = 0; i < sizeof dense / sizeof dense[0]; i++) {
        count = larger(
            count, fulcrum_compute_sum_scratch(row_count, dense[i]->output_count));
    }
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        const struct fulcrum_conv *conv = &layers->conv[i];
        size_t rows = net->chunk * fulcrum_conv_position_count(conv);
        count = larger(count, fulcrum_compute_sum_scratch(rows, conv->filter_count));
    }
    return count;
}

static struct fulcrum_device_lstm_trace take_core(const struct fulcrum_lstm *layer,
    struct fulcrum_arena *arena, size_t step_count, size_t batch_count)
{
    size_t count = step_count * batch_count * layer->unit_count;
    size_t with_start = count + batch_count * layer->unit_count;
    return (struct fulcrum_device_lstm_trace){.step_count = step_count,
        .batch_count = batch_count,
        .gates = fulcrum_arena_take(
            arena, step_count * batch_count * fulcrum_lstm_gate_count(layer)),
        .cell = fulcrum_arena_take(arena, with_start),
        .cell_tanh = fulcrum_arena_take(arena, count),
        .hidden = fulcrum_arena_take(arena, with_start)};
}

/* Room for at most step_count x batch_count rows. */
static struct fulcrum_device_r2d2_trace device_r2d2_trace_take(
    const struct fulcrum_device_r2d2_net *net, struct fulcrum_arena *arena,
    size_t step_count, size_t batch_count, enum fulcrum_r2d2_keep keep)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    size_t rows = step_count * batch_count;
    size_t head = layers->value_hidden.output_count;
    struct fulcrum_device_r2d2_trace trace = {
        .conv_row_count = keep == FULCRUM_R2D2_KEEP_ALL ? rows : net->chunk,
        .dense = fulcrum_arena_take(arena, rows * layers->dense.output_count),
        .core_input = fulcrum_arena_take(arena, rows * layers->lstm.input_count),
        .core = take_core(&layers->lstm, arena, step_count, batch_count),
        .value_hidden = fulcrum_arena_take(arena, rows * head),
        .value = fulcrum_arena_take(arena, rows),
        .advantage_hidden = fulcrum_arena_take(arena, rows * head),
        .advantage = fulcrum_arena_take(arena, rows * layers->action_count),
        .q = fulcrum_arena_take(arena, rows * layers->action_count)};
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        size_t kept = i < LAST ? trace.conv_row_count : rows;
        trace.conv[i] = fulcrum_arena_take(
            arena, kept * fulcrum_conv_output_count(&layers->conv[i]));
    }
    return trace;
}

static struct fulcrum_device_r2d2_gradients device_r2d2_gradients_take(
    const struct fulcrum_device_r2d2_net *net, struct fulcrum_arena *arena,
    size_t step_count, size_t batch_count)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    size_t rows = step_count * batch_count;
    size_t units = layers->lstm.unit_count;
    return (struct fulcrum_device_r2d2_gradients){
        .parameters = fulcrum_arena_take(arena, layers->parameter_count),
        .q = fulcrum_arena_take(arena, rows * layers->action_count),
        .advantage = fulcrum_arena_take(arena, rows * layers->action_count),
        .value = fulcrum_arena_take(arena, rows),
        .head_hidden =
            fulcrum_arena_take(arena, rows * layers->value_hidden.output_count),
        .head_input = fulcrum_arena_take(arena, rows * units),
        .core = {.hidden = fulcrum_arena_take(arena, rows * units),
            .gates = fulcrum_arena_take(
                arena, rows * fulcrum_lstm_gate_count(&layers->lstm)),
            .cell = fulcrum_arena_take(arena, batch_count * units),
            .recurrent = fulcrum_arena_take(arena, batch_count * units)},
        .core_input = fulcrum_arena_take(arena, rows * layers->lstm.input_count),
        .dense = fulcrum_arena_take(arena, rows * layers->dense.output_count),
        .conv = fulcrum_arena_take(arena, rows * layers->dense.input_count)};
}

/* Rows [first, first + count) of a batch; count is at most the chunk. */
struct chunk {
    size_t first;
    size_t count;
};

static struct chunk chunk_at(const struct fulcrum_device_r2d2_net *net,
    const struct fulcrum_device_r2d2_batch *batch, size_t first)
{
    size_t left = batch->step_count * batch->batch_count - first;
    return (struct chunk){first, left < net->chunk ? left : net->chunk};
}

/* Where a layer's output of a chunk is: the first layers may keep one chunk only. */
static fulcrum_place output_at(const struct fulcrum_device_r2d2_net *net,
    const struct fulcrum_device_r2d2_trace *trace, size_t layer, struct chunk chunk)
{
    size_t row = layer == LAST ? chunk.first : chunk.first % trace->conv_row_count;
    return fulcrum_place_at(
        trace->conv[layer], row * fulcrum_conv_output_count(&net->layers.conv[layer]));
}

static struct fulcrum_device_pass image_pass(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    struct chunk chunk)
{
    return (struct fulcrum_device_pass){.compute = &net->compute,
        .parameters = parameters,
        .row_count = chunk.count,
        .input = batch->image,
        .input_is_bytes = 1,
        .input_first_byte = batch->first_byte + chunk.first * fulcrum_conv_image_count(
                                                                  &net->layers.conv[0]),
        .column = net->column,
        .sums = net->sums,
        .input_gradient = FULCRUM_NOWHERE};
}

static void forward_images(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    const struct fulcrum_device_r2d2_trace *trace)
{
    size_t rows = batch->step_count * batch->batch_count;
    for (size_t first = 0; first < rows; first += net->chunk) {
        struct chunk chunk = chunk_at(net, batch, first);
        struct fulcrum_device_pass pass = image_pass(net, parameters, batch, chunk);
        for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
            pass.output = output_at(net, trace, i, chunk);
            fulcrum_device_conv_forward(&net->layers.conv[i], &pass);
            pass.input = pass.output;
            pass.input_is_bytes = 0;
        }
    }
}

static void backward_chunk(const struct fulcrum_device_r2d2_net *net,
    const struct fulcrum_device_pass *images,
    const struct fulcrum_device_r2d2_trace *trace, struct chunk chunk)
{
    struct fulcrum_device_pass pass = *images;
    pass.input_is_bytes = 0;
    for (size_t i = LAST; i > 0; i--) {
        pass.input = output_at(net, trace, i - 1, chunk);
        pass.output = output_at(net, trace, i, chunk);
        pass.input_gradient = net->gradient[i - 1];
        fulcrum_device_conv_backward(&net->layers.conv[i], &pass);
        pass.output_gradient = pass.input_gradient;
    }
    pass.input = images->input;
    pass.input_is_bytes = 1;
    pass.output = output_at(net, trace, 0, chunk);
    pass.input_gradient = FULCRUM_NOWHERE;
    fulcrum_device_conv_backward(&net->layers.conv[0], &pass);
}

static void backward_images(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    const struct fulcrum_device_r2d2_trace *trace,
    const struct fulcrum_device_r2d2_gradients *gradients)
{
    size_t rows = batch->step_count * batch->batch_count;
    size_t size = fulcrum_conv_output_count(&net->layers.conv[LAST]);
    for (size_t first = 0; first < rows; first += net->chunk) {
        struct chunk chunk = chunk_at(net, batch, first);
        struct fulcrum_device_pass pass = image_pass(net, parameters, batch, chunk);
        pass.gradients = gradients->parameters;
        pass.output_gradient = fulcrum_place_at(gradients->conv, first * size);
        backward_chunk(net, &pass, trace, chunk);
    }
}

/* From the images to the input of the LSTM; returns the pass through it. */
static struct fulcrum_device_pass forward_to_core(
    const struct fulcrum_device_r2d2_net *net, fulcrum_place parameters,
    const struct fulcrum_device_r2d2_batch *batch,
    struct fulcrum_device_r2d2_trace *trace)
{
    struct fulcrum_device_pass pass = {.compute = &net->compute,
        .parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .input = trace->conv[LAST],
        .output = trace->dense};
    forward_images(net, parameters, batch, trace);
    fulcrum_device_dense_forward(&net->layers.dense, &pass);
    /* dense output, last reward, one-hot last action */
    size_t width = net->layers.lstm.input_count;
    struct fulcrum_device_launch launch = fulcrum_compute_rows(&net->compute,
        FULCRUM_KERNEL_JOIN, batch->step_count * batch->batch_count, width);
    launch.arguments.place[0] = trace->core_input;
    launch.arguments.place[1] = trace->dense;
    launch.arguments.place[2] = batch->last_action;
    launch.arguments.place[3] = batch->last_reward;
    launch.arguments.count[0] = (unsigned int)width;
    launch.arguments.count[1] = (unsigned int)net->layers.dense.output_count;
    fulcrum_compute_launch(&net->compute, &launch);
    trace->core.step_count = batch->step_count;
    trace->core.batch_count = batch->batch_count;
    pass.input = trace->core_input;
    return pass;
}

/* From the images to the LSTM, whose state before is step 0 of the trace's core. */
static void device_r2d2_forward_core(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    struct fulcrum_device_r2d2_trace *trace)
{
    struct fulcrum_device_pass pass = forward_to_core(net, parameters, batch, trace);
    fulcrum_device_lstm_forward(&net->layers.lstm, &pass, &trace->core);
}

static void forward_heads(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_trace *trace,
    fulcrum_place core_output)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    size_t rows = trace->core.step_count * trace->core.batch_count;
    struct fulcrum_duel duel = {rows, layers->action_count};
    struct fulcrum_device_pass pass = {.compute = &net->compute,
        .parameters = parameters,
        .row_count = rows,
        .input = core_output,
        .output = trace->value_hidden};
    fulcrum_device_dense_forward(&layers->value_hidden, &pass);
    pass.output = trace->advantage_hidden;
    fulcrum_device_dense_forward(&layers->advantage_hidden, &pass);
    pass.input = trace->value_hidden;
    pass.output = trace->value;
    fulcrum_device_dense_forward(&layers->value, &pass);
    pass.input = trace->advantage_hidden;
    pass.output = trace->advantage;
    fulcrum_device_dense_forward(&layers->advantage, &pass);
    fulcrum_device_duel_forward(
        &net->compute, duel, trace->value, trace->advantage, trace->q);
}

/* Step 0 of the LSTM's output is the state before the first row. */
static fulcrum_place core_output(const struct fulcrum_device_r2d2_net *net,
    const struct fulcrum_device_r2d2_trace *trace)
{
    return fulcrum_place_at(
        trace->core.hidden, trace->core.batch_count * net->layers.lstm.unit_count);
}

/* One head: a linear layer on a hidden one. */
struct head {
    const struct fulcrum_dense *hidden;
    const struct fulcrum_dense *last;
    fulcrum_place hidden_output;
    fulcrum_place last_gradient;
    fulcrum_place input_gradient;
};

static void backward_head(const struct head *head,
    const struct fulcrum_device_pass *pass, fulcrum_place hidden_gradient)
{
    struct fulcrum_device_pass last = *pass;
    last.input = head->hidden_output;
    last.output_gradient = head->last_gradient;
    last.input_gradient = hidden_gradient;
    fulcrum_device_dense_backward(head->last, &last);
    struct fulcrum_device_pass hidden = *pass;
    hidden.output = head->hidden_output;
    hidden.output_gradient = hidden_gradient;
    hidden.input_gradient = head->input_gradient;
    fulcrum_device_dense_backward(head->hidden, &hidden);
}

/* `pass` has the LSTM's output as its input. */
static void backward_heads(const struct fulcrum_device_r2d2_net *net,
    const struct fulcrum_device_pass *pass,
    const struct fulcrum_device_r2d2_trace *trace,
    const struct fulcrum_device_r2d2_gradients *gradients)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    struct fulcrum_duel duel = {pass->row_count, layers->action_count};
    struct head value = {&layers->value_hidden, &layers->value, trace->value_hidden,
        gradients->value, gradients->core.hidden};
    struct head advantage = {&layers->advantage_hidden, &layers->advantage,
        trace->advantage_hidden, gradients->advantage, gradients->head_input};
    fulcrum_device_duel_backward(
        &net->compute, duel, gradients->q, gradients->value, gradients->advantage);
    backward_head(&value, pass, gradients->head_hidden);
    backward_head(&advantage, pass, gradients->head_hidden);
    fulcrum_compute_add(&net->compute, gradients->core.hidden, gradients->head_input,
        pass->row_count * layers->lstm.unit_count);
}

/* As fulcrum_r2d2_backward_layers. */
static void device_r2d2_backward(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    const struct fulcrum_device_r2d2_trace *trace,
    const struct fulcrum_device_r2d2_gradients *gradients)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    struct fulcrum_device_pass pass = {.compute = &net->compute,
        .parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .input = core_output(net, trace),
        .sums = net->sums,
        .gradients = gradients->parameters};
    assert(batch->batch_count == trace->core.batch_count);
    backward_heads(net, &pass, trace, gradients);
    pass.input = trace->core_input;
    pass.input_gradient = gradients->core_input;
    fulcrum_device_lstm_backward(&layers->lstm, &pass, &trace->core, &gradients->core);
    /* The dense layer's share of the joined input. */
    size_t row_count = pass.row_count;
    size_t dense = net->layers.dense.output_count;
    struct fulcrum_compute_columns columns = {.row_count = row_count,
        .col_count = dense,
        .to = gradients->dense,
        .to_pitch = dense,
        .from = gradients->core_input,
        .from_pitch = net->layers.lstm.input_count};
    fulcrum_compute_copy_columns(&net->compute, &columns);
    pass.input = trace->conv[LAST];
    pass.output = trace->dense;
    pass.output_gradient = gradients->dense;
    pass.input_gradient = gradients->conv;
    fulcrum_device_dense_backward(&layers->dense, &pass);
    backward_images(net, parameters, batch, trace, gradients);
}

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
    network->inference = device_r2d2_trace_take(
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
    network->online = device_r2d2_trace_take(
        &network->net, arena, segment, options->train_batch, FULCRUM_R2D2_KEEP_ALL);
    network->target = device_r2d2_trace_take(
        &network->net, arena, longest, options->train_batch, FULCRUM_R2D2_KEEP_OUTPUTS);
    network->gradients = device_r2d2_gradients_take(
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
    /* Chunk, and room for it and for sums of at most `row_count` rows. */
    size_t row_count = rows > slots ? rows : slots;
    size_t chunk = network->net.compute.is_wide ? CHUNK_WIDE : CHUNK_NARROW;
    size_t column = 0;
    network->net.chunk = row_count < chunk ? row_count : chunk;
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        column =
            larger(column, fulcrum_conv_column_count(&network->net.layers.conv[i]));
    }
    for (size_t i = 0; i < LAST; i++) {
        network->net.gradient[i] = fulcrum_arena_take(
            arena, network->net.chunk *
                       fulcrum_conv_output_count(&network->net.layers.conv[i]));
    }
    network->net.column = fulcrum_arena_take(arena, network->net.chunk * column);
    network->net.sums =
        fulcrum_arena_take(arena, sum_scratch(&network->net, row_count));
    take_inference(network);
    take_training(network);
}

/* What the host prepares and the device then keeps. */
struct staged {
    float *parameters;
    struct fulcrum_r2d2_replay replay;
};

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
        const struct fulcrum_r2d2_options *options = &network->options;
        size_t rows = fulcrum_r2d2_replay_rows(options);
        size_t with_last = rows + options->train_batch;
        size_t weight_byte = network->net.layers.parameter_count * sizeof(float);
        upload(network, network->parameters, staged.parameters, weight_byte);
        upload(network, network->target_parameters, staged.parameters, weight_byte);
        upload(network, network->replay.image, staged.replay.image,
            rows * fulcrum_r2d2_image_byte(options));
        upload(network, network->replay.reward, staged.replay.reward,
            with_last * sizeof(float));
        upload_actions(network, staged.replay.action, with_last);
        status = compute->device->finish(compute->state, err);
    } else {
        status = fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory for the replay of a network");
    }
    free(staged.parameters);
    free(staged.replay.image);
    free(staged.replay.action);
    free(staged.replay.reward);
    return status;
}

enum fulcrum_status fulcrum_device_r2d2_new(struct fulcrum_device_r2d2 **out,
    const struct fulcrum_compute *compute, const struct fulcrum_r2d2_options *options,
    struct fulcrum_error *err)
{
    struct fulcrum_device_r2d2 *network = calloc(1, sizeof *network);
    TRY_MEMORY(network, err, "no memory for a network");
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
    /*
     * One step for each row, the state in step 0 of the trace's core being replaced;
     * then the heads, whose action values are left in `q`.
     */
    fulcrum_place parameters = network->parameters;
    struct fulcrum_device_pass pass =
        forward_to_core(&network->net, parameters, &images, &network->inference);
    fulcrum_device_lstm_advance(
        &network->net.layers.lstm, &pass, &network->inference.core);
    forward_heads(
        &network->net, parameters, &network->inference, network->inference.core.hidden);
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
    bool is_there = burn_in == 0 && trace == &network->target;
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
        device_r2d2_forward_core(net, parameters, &before, warm);
    }
    hand_over(network, trace);
    struct fulcrum_device_r2d2_batch segment =
        replay_steps(network, burn_in, fulcrum_r2d2_segment_steps(&network->options));
    device_r2d2_forward_core(net, parameters, &segment, trace);
    /* From the LSTM to the action values of every row. */
    forward_heads(net, parameters, trace, core_output(net, trace));
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
    const struct fulcrum_r2d2_options *options = &network->options;
    struct fulcrum_device_r2d2_batch trained =
        replay_steps(network, options->train_burn_in, options->train_unroll);
    fulcrum_compute_fill(&network->net.compute, network->gradients.parameters,
        network->net.layers.parameter_count, 0.0F);
    device_r2d2_backward(&network->net, network->parameters, &trained, &network->online,
        &network->gradients);
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
    FAIL_IF(replay->image == NULL || replay->action == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "no memory for a replay of %zu images", rows);
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
