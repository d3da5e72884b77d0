/* layer_pass.c - layers of networks, forward and backward on a device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/networks.h"

static void multiply(
    const struct fulcrum_pass *pass, const struct fulcrum_device_product *product)
{
    pass->compute->device->multiply(pass->compute->state, product);
}

void fulcrum_linear_forward(
    const struct fulcrum_linear *layer, const struct fulcrum_pass *pass)
{
    const struct fulcrum_device_product product = {.row_count = pass->row_count,
        .col_count = layer->output_count,
        .inner_count = layer->input_count,
        .is_right_transposed = 1,
        .a = pass->input,
        .b = fulcrum_place_at(pass->parameters, layer->weights),
        .c = pass->output};
    multiply(pass, &product);
    fulcrum_compute_launch(pass->compute, FULCRUM_KERNEL_ACTIVATE, pass->row_count,
        layer->output_count,
        &(struct fulcrum_kernel_arguments){
            .place = {pass->output, fulcrum_place_at(pass->parameters, layer->biases)},
            .count = {fulcrum_compute_count(layer->output_count),
                layer->activation == FULCRUM_RELU}});
}

/* Gradients of weights += gradients of sums' x input, summed over rows. */
static void add_weight_gradients(const struct fulcrum_pass *pass, size_t weights,
    size_t output_count, size_t input_count)
{
    const struct fulcrum_device_product product = {.row_count = output_count,
        .col_count = input_count,
        .inner_count = pass->row_count,
        .is_left_transposed = 1,
        .a = pass->output_gradient,
        .b = pass->input,
        .beta = 1.0F,
        .c = fulcrum_place_at(pass->gradients, weights)};
    multiply(pass, &product);
}

void fulcrum_linear_backward(
    const struct fulcrum_linear *layer, const struct fulcrum_pass *pass)
{
    if (layer->activation == FULCRUM_RELU) {
        fulcrum_compute_rectify_backward(pass->compute, pass->output_gradient,
            pass->output, pass->row_count * layer->output_count);
    }
    add_weight_gradients(pass, layer->weights, layer->output_count, layer->input_count);
    const struct fulcrum_compute_sum of_biases = {.row_count = pass->row_count,
        .col_count = layer->output_count,
        .value = pass->output_gradient,
        .sums = fulcrum_place_at(pass->gradients, layer->biases),
        .is_added = 1,
        .factor = 1.0F,
        .scratch = pass->sums};
    fulcrum_compute_sum_rows(pass->compute, &of_biases);
    if (pass->input_gradient != FULCRUM_NOWHERE) {
        const struct fulcrum_device_product of_input = {.row_count = pass->row_count,
            .col_count = layer->input_count,
            .inner_count = layer->output_count,
            .a = pass->output_gradient,
            .b = fulcrum_place_at(pass->parameters, layer->weights),
            .c = pass->input_gradient};
        multiply(pass, &of_input);
    }
}

static struct fulcrum_kernel_arguments window_arguments(
    const struct fulcrum_conv *layer, fulcrum_place to, fulcrum_place from)
{
    const size_t counts[] = {layer->height, layer->width, layer->channel_count,
        layer->kernel, layer->stride, layer->window_cols,
        fulcrum_conv_position_count(layer)};
    struct fulcrum_kernel_arguments arguments = {.place = {to, from}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        arguments.count[i] = fulcrum_compute_count(counts[i]);
    }
    return arguments;
}

/*
 * Lays out the windows of the input, a row of items being one run of pixels of one
 * window. Returns the pass through the filters, of which each window is a row.
 */
static struct fulcrum_pass lay_out_windows(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    struct fulcrum_kernel_arguments arguments =
        window_arguments(layer, pass->column, pass->input);
    struct fulcrum_pass windows = *pass;
    windows.input = pass->column;
    windows.row_count = pass->row_count * fulcrum_conv_position_count(layer);
    arguments.count[7] = fulcrum_compute_count(pass->input_first_byte);
    fulcrum_compute_launch(pass->compute,
        pass->input_is_bytes ? FULCRUM_KERNEL_WINDOWS_OF_BYTES : FULCRUM_KERNEL_WINDOWS,
        windows.row_count * layer->kernel, layer->kernel * layer->channel_count,
        &arguments);
    return windows;
}

void fulcrum_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    const struct fulcrum_pass windows = lay_out_windows(layer, pass);
    fulcrum_linear_forward(&layer->filters, &windows);
}

void fulcrum_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    struct fulcrum_pass windows = lay_out_windows(layer, pass);
    if (pass->input_gradient == FULCRUM_NOWHERE) {
        fulcrum_linear_backward(&layer->filters, &windows);
        return;
    }
    windows.input_gradient = pass->column;
    fulcrum_linear_backward(&layer->filters, &windows);
    const struct fulcrum_kernel_arguments arguments =
        window_arguments(layer, pass->input_gradient, pass->column);
    fulcrum_compute_launch(pass->compute, FULCRUM_KERNEL_ADD_WINDOWS,
        pass->row_count * layer->height * layer->width, layer->channel_count,
        &arguments);
}

/*
 * Long short-term memory. Inputs of all steps go through one matrix product before the
 * loop over time; only the recurrent product has to be done step by step. Gates are
 * kept for the backward pass, which runs over the steps in reverse and collects the
 * gradients of all of them, so that the weights' gradients again are one product over
 * the whole sequence.
 */
static void lstm_inputs(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    size_t step_count)
{
    struct fulcrum_pass to_gates = *pass;
    to_gates.output = trace->gates;
    to_gates.row_count = step_count * trace->batch_count;
    fulcrum_linear_forward(&layer->gates, &to_gates);
}

/* From the state before, `first` rows on in the trace, to that `after` rows on. */
static void lstm_step(const struct fulcrum_lstm *layer, const struct fulcrum_pass *pass,
    const struct fulcrum_lstm_trace *trace, size_t first, size_t after)
{
    const size_t units = layer->unit_count;
    const fulcrum_place gates =
        fulcrum_place_at(trace->gates, first * layer->gates.output_count);
    const struct fulcrum_device_product of_state = {.row_count = trace->batch_count,
        .col_count = layer->gates.output_count,
        .inner_count = units,
        .is_right_transposed = 1,
        .a = fulcrum_place_at(trace->hidden, first * units),
        .b = fulcrum_place_at(pass->parameters, layer->recurrent),
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

void fulcrum_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients)
{
    const size_t batch = trace->batch_count;
    const size_t units = layer->unit_count;
    const size_t width = layer->gates.output_count;
    const size_t state = batch * units;
    struct fulcrum_pass of_input = *pass;
    of_input.output_gradient = gradients->gates;
    struct fulcrum_pass of_state = of_input;
    of_state.input = trace->hidden;
    fulcrum_compute_fill(pass->compute, gradients->cell, state, 0.0F);
    fulcrum_compute_fill(pass->compute, gradients->recurrent, state, 0.0F);
    for (size_t step = pass->row_count / batch; step > 0; step--) {
        /* The gates' sums, the cell before, then the recurrent gradient. */
        const size_t first = (step - 1) * batch;
        const fulcrum_place sums = fulcrum_place_at(gradients->gates, first * width);
        const struct fulcrum_device_product of_step = {.row_count = batch,
            .col_count = units,
            .inner_count = width,
            .a = sums,
            .b = fulcrum_place_at(pass->parameters, layer->recurrent),
            .c = gradients->recurrent};
        fulcrum_compute_launch(pass->compute, FULCRUM_KERNEL_LSTM_BACKWARD, batch,
            units,
            &(struct fulcrum_kernel_arguments){
                .place = {sums, fulcrum_place_at(trace->gates, first * width),
                    fulcrum_place_at(trace->cell, first * units),
                    fulcrum_place_at(trace->cell_tanh, first * units),
                    fulcrum_place_at(gradients->hidden, first * units),
                    gradients->recurrent, gradients->cell},
                .count = {fulcrum_compute_count(units)}});
        multiply(pass, &of_step);
    }
    add_weight_gradients(&of_state, layer->recurrent, width, units);
    fulcrum_linear_backward(&layer->gates, &of_input);
}
