/* device_r2d2_pass.c - the R2D2 network on a device: buffers and passes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device_r2d2_pass.h"

#include <assert.h>

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

void fulcrum_device_r2d2_net_take(
    struct fulcrum_device_r2d2_net *net, struct fulcrum_arena *arena, size_t row_count)
{
    size_t chunk = net->compute.is_wide ? CHUNK_WIDE : CHUNK_NARROW;
    size_t column = 0;
    net->chunk = row_count < chunk ? row_count : chunk;
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        column = larger(column, fulcrum_conv_column_count(&net->layers.conv[i]));
    }
    for (size_t i = 0; i < LAST; i++) {
        net->gradient[i] = fulcrum_arena_take(
            arena, net->chunk * fulcrum_conv_output_count(&net->layers.conv[i]));
    }
    net->column = fulcrum_arena_take(arena, net->chunk * column);
    net->sums = fulcrum_arena_take(arena, sum_scratch(net, row_count));
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

struct fulcrum_device_r2d2_trace fulcrum_device_r2d2_trace_take(
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

struct fulcrum_device_r2d2_gradients fulcrum_device_r2d2_gradients_take(
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

/* dense output, last reward, one-hot last action */
static void join_core_input(const struct fulcrum_device_r2d2_net *net,
    const struct fulcrum_device_r2d2_batch *batch,
    const struct fulcrum_device_r2d2_trace *trace)
{
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
    join_core_input(net, batch, trace);
    trace->core.step_count = batch->step_count;
    trace->core.batch_count = batch->batch_count;
    pass.input = trace->core_input;
    return pass;
}

void fulcrum_device_r2d2_forward_core(const struct fulcrum_device_r2d2_net *net,
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

void fulcrum_device_r2d2_forward_heads(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_trace *trace)
{
    forward_heads(net, parameters, trace, core_output(net, trace));
}

void fulcrum_device_r2d2_infer_batch(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    struct fulcrum_device_r2d2_trace *trace)
{
    struct fulcrum_device_pass pass = forward_to_core(net, parameters, batch, trace);
    fulcrum_device_lstm_advance(&net->layers.lstm, &pass, &trace->core);
    forward_heads(net, parameters, trace, trace->core.hidden);
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

/* The dense layer's share of the joined input. */
static void split_core_gradient(const struct fulcrum_device_r2d2_net *net,
    const struct fulcrum_device_r2d2_gradients *gradients, size_t row_count)
{
    size_t dense = net->layers.dense.output_count;
    struct fulcrum_compute_columns columns = {.row_count = row_count,
        .col_count = dense,
        .to = gradients->dense,
        .to_pitch = dense,
        .from = gradients->core_input,
        .from_pitch = net->layers.lstm.input_count};
    fulcrum_compute_copy_columns(&net->compute, &columns);
}

void fulcrum_device_r2d2_backward(const struct fulcrum_device_r2d2_net *net,
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
    split_core_gradient(net, gradients, pass.row_count);
    pass.input = trace->conv[LAST];
    pass.output = trace->dense;
    pass.output_gradient = gradients->dense;
    pass.input_gradient = gradients->conv;
    fulcrum_device_dense_backward(&layers->dense, &pass);
    backward_images(net, parameters, batch, trace, gradients);
}
