/* layer_pass.c - layers of networks, forward and backward on a device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/networks.h"

/* Weights stored output x input, then somewhere the biases, and what follows. */
struct linear {
    size_t input_count;
    size_t output_count;
    size_t weights; /* offsets among the network's parameters */
    size_t biases;
    enum fulcrum_activation activation;
};

static void multiply(
    const struct fulcrum_pass *pass, const struct fulcrum_device_product *product)
{
    pass->compute->device->multiply(pass->compute->state, product);
}

/* output = activation(input weights' + biases) */
static void linear_forward(
    const struct linear *layer, const struct fulcrum_pass *pass, size_t row_count)
{
    const struct fulcrum_device_product product = {.row_count = row_count,
        .col_count = layer->output_count,
        .inner_count = layer->input_count,
        .is_right_transposed = 1,
        .a = pass->input,
        .b = fulcrum_place_at(pass->parameters, layer->weights),
        .c = pass->output};
    multiply(pass, &product);
    fulcrum_compute_launch(pass->compute, FULCRUM_KERNEL_ACTIVATE, row_count,
        layer->output_count,
        &(struct fulcrum_kernel_arguments){
            .place = {pass->output, fulcrum_place_at(pass->parameters, layer->biases)},
            .count = {fulcrum_compute_count(layer->output_count),
                layer->activation == FULCRUM_RELU}});
}

/* weights' gradients += gradients of sums' x input, summed over rows. */
static void weight_gradients(const struct fulcrum_pass *pass, size_t row_count,
    struct fulcrum_device_product product)
{
    product.inner_count = row_count;
    product.is_left_transposed = 1;
    product.beta = 1.0F;
    multiply(pass, &product);
}

/* From the gradients of the sums, which is what `output_gradient` holds. */
static void linear_backward(
    const struct linear *layer, const struct fulcrum_pass *pass, size_t row_count)
{
    const struct fulcrum_device_product of_weights = {.row_count = layer->output_count,
        .col_count = layer->input_count,
        .a = pass->output_gradient,
        .b = pass->input,
        .c = fulcrum_place_at(pass->gradients, layer->weights)};
    const struct fulcrum_compute_sum of_biases = {.row_count = row_count,
        .col_count = layer->output_count,
        .value = pass->output_gradient,
        .sums = fulcrum_place_at(pass->gradients, layer->biases),
        .is_added = 1,
        .factor = 1.0F,
        .scratch = pass->sums};
    weight_gradients(pass, row_count, of_weights);
    fulcrum_compute_sum_rows(pass->compute, &of_biases);
    if (pass->input_gradient != FULCRUM_NOWHERE) {
        const struct fulcrum_device_product of_input = {.row_count = row_count,
            .col_count = layer->input_count,
            .inner_count = layer->output_count,
            .a = pass->output_gradient,
            .b = fulcrum_place_at(pass->parameters, layer->weights),
            .c = pass->input_gradient};
        multiply(pass, &of_input);
    }
}

static struct linear linear_of_conv(const struct fulcrum_conv *layer)
{
    return (struct linear){.input_count = fulcrum_conv_window_size(layer),
        .output_count = layer->filter_count,
        .weights = layer->offset,
        .biases = layer->offset + fulcrum_conv_weight_count(layer),
        .activation = FULCRUM_RELU};
}

static struct fulcrum_kernel_arguments window_arguments(
    const struct fulcrum_conv *layer, fulcrum_place to, fulcrum_place from)
{
    const size_t counts[] = {layer->height, layer->width, layer->channel_count,
        layer->kernel, layer->stride, fulcrum_conv_window_count(layer, layer->width),
        fulcrum_conv_position_count(layer)};
    struct fulcrum_kernel_arguments arguments = {.place = {to, from}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        arguments.count[i] = fulcrum_compute_count(counts[i]);
    }
    return arguments;
}

/* A row of items is one run of pixels of one window. */
static void lay_out_windows(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    struct fulcrum_kernel_arguments arguments =
        window_arguments(layer, pass->column, pass->input);
    arguments.count[7] = fulcrum_compute_count(pass->input_first_byte);
    fulcrum_compute_launch(pass->compute,
        pass->input_is_bytes ? FULCRUM_KERNEL_WINDOWS_OF_BYTES : FULCRUM_KERNEL_WINDOWS,
        pass->row_count * fulcrum_conv_position_count(layer) * layer->kernel,
        layer->kernel * layer->channel_count, &arguments);
}

void fulcrum_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    const struct linear linear = linear_of_conv(layer);
    struct fulcrum_pass windows = *pass;
    windows.input = pass->column;
    lay_out_windows(layer, pass);
    linear_forward(
        &linear, &windows, pass->row_count * fulcrum_conv_position_count(layer));
}

void fulcrum_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    const struct linear linear = linear_of_conv(layer);
    const size_t rows = pass->row_count * fulcrum_conv_position_count(layer);
    const bool is_first = pass->input_gradient == FULCRUM_NOWHERE;
    struct fulcrum_pass windows = *pass;
    windows.input = pass->column;
    windows.input_gradient = is_first ? FULCRUM_NOWHERE : pass->column;
    fulcrum_compute_rectify_backward(
        pass->compute, pass->output_gradient, pass->output, rows * layer->filter_count);
    lay_out_windows(layer, pass);
    linear_backward(&linear, &windows, rows);
    if (!is_first) {
        const struct fulcrum_kernel_arguments arguments =
            window_arguments(layer, pass->input_gradient, pass->column);
        fulcrum_compute_launch(pass->compute, FULCRUM_KERNEL_ADD_WINDOWS,
            pass->row_count * layer->height * layer->width, layer->channel_count,
            &arguments);
    }
}

static struct linear linear_of_dense(const struct fulcrum_dense *layer)
{
    return (struct linear){.input_count = layer->input_count,
        .output_count = layer->output_count,
        .weights = layer->offset,
        .biases = layer->offset + fulcrum_dense_weight_count(layer),
        .activation = layer->activation};
}

void fulcrum_dense_forward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass)
{
    const struct linear linear = linear_of_dense(layer);
    linear_forward(&linear, pass, pass->row_count);
}

void fulcrum_dense_backward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass)
{
    const struct linear linear = linear_of_dense(layer);
    if (layer->activation == FULCRUM_RELU) {
        fulcrum_compute_rectify_backward(pass->compute, pass->output_gradient,
            pass->output, pass->row_count * layer->output_count);
    }
    linear_backward(&linear, pass, pass->row_count);
}

/*
 * Long short-term memory. Inputs of all steps go through one matrix product before the
 * loop over time; only the recurrent product has to be done step by step. Gates are
 * kept for the backward pass, which runs over the steps in reverse and collects the
 * gradients of all of them, so that the weights' gradients again are one product over
 * the whole sequence.
 */
static struct linear linear_of_lstm(const struct fulcrum_lstm *layer)
{
    return (struct linear){.input_count = layer->input_count,
        .output_count = fulcrum_lstm_gate_count(layer),
        .weights = layer->offset,
        .biases = fulcrum_lstm_bias_offset(layer),
        .activation = FULCRUM_LINEAR};
}

static void lstm_inputs(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    size_t step_count)
{
    const struct linear linear = linear_of_lstm(layer);
    struct fulcrum_pass to_gates = *pass;
    to_gates.output = trace->gates;
    linear_forward(&linear, &to_gates, step_count * trace->batch_count);
}

/* From the state before, `first` rows on in the trace, to that `after` rows on. */
static void lstm_step(const struct fulcrum_lstm *layer, const struct fulcrum_pass *pass,
    const struct fulcrum_lstm_trace *trace, size_t first, size_t after)
{
    const size_t units = layer->unit_count;
    const fulcrum_place gates =
        fulcrum_place_at(trace->gates, first * fulcrum_lstm_gate_count(layer));
    const struct fulcrum_device_product of_state = {.row_count = trace->batch_count,
        .col_count = fulcrum_lstm_gate_count(layer),
        .inner_count = units,
        .is_right_transposed = 1,
        .a = fulcrum_place_at(trace->hidden, first * units),
        .b = fulcrum_place_at(pass->parameters, fulcrum_lstm_recurrent_offset(layer)),
        .beta = 1.0F,
        .c = gates};
    multiply(pass, &of_state);
    fulcrum_compute_launch(pass->compute, FULCRUM_KERNEL_LSTM, trace->batch_count,
        units,
        &(struct fulcrum_kernel_arguments){
            .place = {gates, fulcrum_place_at(trace->cell, first * units),
                fulcrum_place_at(trace->cell, after * units),
                fulcrum_place_at(trace->cell_tanh, first * units),
                fulcrum_place_at(trace->hidden, after * units)},
            .count = {fulcrum_compute_count(units)}});
}

void fulcrum_lstm_forward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace)
{
    size_t batch = trace->batch_count;
    lstm_inputs(layer, pass, trace, trace->step_count);
    for (size_t i = 0; i < trace->step_count; i++) {
        lstm_step(layer, pass, trace, i * batch, (i + 1) * batch);
    }
}

void fulcrum_lstm_advance(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace)
{
    lstm_inputs(layer, pass, trace, 1);
    lstm_step(layer, pass, trace, 0, 0);
}

/* One step back: the gates' sums, the cell before, then the recurrent gradient. */
static void lstm_step_back(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients, size_t first)
{
    const size_t units = layer->unit_count;
    const size_t width = fulcrum_lstm_gate_count(layer);
    const fulcrum_place sums = fulcrum_place_at(gradients->gates, first * width);
    const struct fulcrum_device_product of_state = {.row_count = trace->batch_count,
        .col_count = units,
        .inner_count = width,
        .a = sums,
        .b = fulcrum_place_at(pass->parameters, fulcrum_lstm_recurrent_offset(layer)),
        .c = gradients->recurrent};
    fulcrum_compute_launch(pass->compute, FULCRUM_KERNEL_LSTM_BACKWARD,
        trace->batch_count, units,
        &(struct fulcrum_kernel_arguments){
            .place = {sums, fulcrum_place_at(trace->gates, first * width),
                fulcrum_place_at(trace->cell, first * units),
                fulcrum_place_at(trace->cell_tanh, first * units),
                fulcrum_place_at(gradients->hidden, first * units),
                gradients->recurrent, gradients->cell},
            .count = {fulcrum_compute_count(units)}});
    multiply(pass, &of_state);
}

void fulcrum_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients)
{
    const struct linear linear = linear_of_lstm(layer);
    const size_t batch = trace->batch_count;
    const size_t state = batch * layer->unit_count;
    const struct fulcrum_device_product of_state = {
        .row_count = fulcrum_lstm_gate_count(layer),
        .col_count = layer->unit_count,
        .a = gradients->gates,
        .b = trace->hidden,
        .c = fulcrum_place_at(pass->gradients, fulcrum_lstm_recurrent_offset(layer))};
    struct fulcrum_pass of_input = *pass;
    of_input.output_gradient = gradients->gates;
    fulcrum_compute_fill(pass->compute, gradients->cell, state, 0.0F);
    fulcrum_compute_fill(pass->compute, gradients->recurrent, state, 0.0F);
    for (size_t step = pass->row_count / batch; step > 0; step--) {
        lstm_step_back(layer, pass, trace, gradients, (step - 1) * batch);
    }
    weight_gradients(pass, pass->row_count, of_state);
    linear_backward(&linear, &of_input, pass->row_count);
}

static void launch_duel(const struct fulcrum_compute *compute,
    enum fulcrum_kernel kernel, struct fulcrum_duel shape,
    struct fulcrum_kernel_arguments arguments)
{
    arguments.count[0] = fulcrum_compute_count(shape.action_count);
    fulcrum_compute_launch(compute, kernel, shape.row_count, 1, &arguments);
}

void fulcrum_duel_forward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place value, fulcrum_place advantage,
    fulcrum_place q)
{
    launch_duel(compute, FULCRUM_KERNEL_DUEL, shape,
        (struct fulcrum_kernel_arguments){.place = {q, value, advantage}});
}

void fulcrum_duel_backward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place q_gradient, fulcrum_place value_gradient,
    fulcrum_place advantage_gradient)
{
    launch_duel(compute, FULCRUM_KERNEL_DUEL_BACKWARD, shape,
        (struct fulcrum_kernel_arguments){
            .place = {q_gradient, value_gradient, advantage_gradient}});
}
