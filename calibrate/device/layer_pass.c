/* layer_pass.c - layers of networks, forward and backward on a device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inputs of all steps go through one matrix product before the loop over time; only the
 * recurrent product has to be done step by step. Gates are kept for the backward pass,
 * which runs over the steps in reverse and collects the gradients of all of them, so
 * that the weights' gradients again are one product over the whole sequence.
 */
#include "calibrate/device/networks.h"

/* c = a b' : inputs by weights that are stored output x input. */
static void forward_product(const struct fulcrum_pass *pass, size_t row_count,
    size_t col_count, size_t inner_count, fulcrum_place weights)
{
    struct fulcrum_device_product product = {.row_count = row_count,
        .col_count = col_count,
        .inner_count = inner_count,
        .is_right_transposed = 1,
        .a = pass->input,
        .b = weights,
        .c = pass->output};
    fulcrum_compute_multiply(pass->compute, &product);
}

/* gradients += sums' input, summed over `row_count` rows. */
static void weight_product(const struct fulcrum_compute *compute, size_t row_count,
    struct fulcrum_device_product product)
{
    product.inner_count = row_count;
    product.is_left_transposed = 1;
    product.beta = 1.0F;
    fulcrum_compute_multiply(compute, &product);
}

static void bias_gradient(const struct fulcrum_pass *pass, size_t row_count,
    size_t col_count, fulcrum_place value, fulcrum_place sums)
{
    struct fulcrum_compute_sum sum = {.row_count = row_count,
        .col_count = col_count,
        .value = value,
        .sums = sums,
        .is_added = 1,
        .factor = 1.0F,
        .scratch = pass->sums};
    fulcrum_compute_sum_rows(pass->compute, &sum);
}

static void gather(const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    struct fulcrum_compute_images images = {.count = pass->row_count,
        .place = pass->input,
        .is_bytes = pass->input_is_bytes,
        .first_byte = pass->input_first_byte};
    fulcrum_compute_windows(pass->compute, layer, &images, pass->column);
}

void fulcrum_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    fulcrum_place weights = fulcrum_place_at(pass->parameters, layer->offset);
    size_t rows = pass->row_count * fulcrum_conv_position_count(layer);
    struct fulcrum_pass windows = *pass;
    struct fulcrum_compute_activation activation = {.activation = FULCRUM_RELU,
        .row_count = rows,
        .col_count = layer->filter_count,
        .value = pass->output,
        .bias = fulcrum_place_at(weights, fulcrum_conv_weight_count(layer))};
    gather(layer, pass);
    windows.input = pass->column;
    forward_product(
        &windows, rows, layer->filter_count, fulcrum_conv_window_size(layer), weights);
    fulcrum_compute_activate(pass->compute, &activation);
}

void fulcrum_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    fulcrum_place gradients = fulcrum_place_at(pass->gradients, layer->offset);
    size_t rows = pass->row_count * fulcrum_conv_position_count(layer);
    struct fulcrum_device_product of_weights = {.row_count = layer->filter_count,
        .col_count = fulcrum_conv_window_size(layer),
        .a = pass->output_gradient,
        .b = pass->column,
        .c = gradients};
    fulcrum_compute_rectify_backward(
        pass->compute, pass->output_gradient, pass->output, rows * layer->filter_count);
    gather(layer, pass);
    weight_product(pass->compute, rows, of_weights);
    bias_gradient(pass, rows, layer->filter_count, pass->output_gradient,
        fulcrum_place_at(gradients, fulcrum_conv_weight_count(layer)));
    if (pass->input_gradient != FULCRUM_NOWHERE) {
        struct fulcrum_device_product product = {
            .row_count = pass->row_count * fulcrum_conv_position_count(layer),
            .col_count = fulcrum_conv_window_size(layer),
            .inner_count = layer->filter_count,
            .a = pass->output_gradient,
            .b = fulcrum_place_at(pass->parameters, layer->offset),
            .c = pass->column};
        fulcrum_compute_multiply(pass->compute, &product);
        fulcrum_compute_add_windows(
            pass->compute, layer, pass->row_count, pass->column, pass->input_gradient);
    }
}

void fulcrum_dense_forward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass)
{
    fulcrum_place weights = fulcrum_place_at(pass->parameters, layer->offset);
    struct fulcrum_compute_activation activation = {.activation = layer->activation,
        .row_count = pass->row_count,
        .col_count = layer->output_count,
        .value = pass->output,
        .bias = fulcrum_place_at(weights, fulcrum_dense_weight_count(layer))};
    forward_product(
        pass, pass->row_count, layer->output_count, layer->input_count, weights);
    fulcrum_compute_activate(pass->compute, &activation);
}

void fulcrum_dense_backward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass)
{
    fulcrum_place gradients = fulcrum_place_at(pass->gradients, layer->offset);
    struct fulcrum_device_product of_weights = {.row_count = layer->output_count,
        .col_count = layer->input_count,
        .a = pass->output_gradient,
        .b = pass->input,
        .c = gradients};
    if (layer->activation == FULCRUM_RELU) {
        fulcrum_compute_rectify_backward(pass->compute, pass->output_gradient,
            pass->output, pass->row_count * layer->output_count);
    }
    weight_product(pass->compute, pass->row_count, of_weights);
    bias_gradient(pass, pass->row_count, layer->output_count, pass->output_gradient,
        fulcrum_place_at(gradients, fulcrum_dense_weight_count(layer)));
    if (pass->input_gradient != FULCRUM_NOWHERE) {
        struct fulcrum_device_product of_input = {.row_count = pass->row_count,
            .col_count = layer->input_count,
            .inner_count = layer->output_count,
            .a = pass->output_gradient,
            .b = fulcrum_place_at(pass->parameters, layer->offset),
            .c = pass->input_gradient};
        fulcrum_compute_multiply(pass->compute, &of_input);
    }
}

/* The inputs of all steps are known: one large product, and the biases. */
static void lstm_inputs(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, fulcrum_place gates, size_t row_count)
{
    size_t width = fulcrum_lstm_gate_count(layer);
    struct fulcrum_pass of_input = *pass;
    struct fulcrum_compute_activation biases = {.activation = FULCRUM_LINEAR,
        .row_count = row_count,
        .col_count = width,
        .value = gates,
        .bias = fulcrum_place_at(pass->parameters, fulcrum_lstm_bias_offset(layer))};
    of_input.output = gates;
    forward_product(&of_input, row_count, width, layer->input_count,
        fulcrum_place_at(pass->parameters, layer->offset));
    fulcrum_compute_activate(pass->compute, &biases);
}

/* Where one step finds its sums, the state before it and the state after it. */
struct lstm_step {
    size_t row_count;
    fulcrum_place gates;
    fulcrum_place cell_before;
    fulcrum_place cell_after;
    fulcrum_place cell_tanh;
    fulcrum_place hidden_before;
    fulcrum_place hidden_after;
};

static void lstm_advance(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct lstm_step *step)
{
    struct fulcrum_device_product of_state = {.row_count = step->row_count,
        .col_count = fulcrum_lstm_gate_count(layer),
        .inner_count = layer->unit_count,
        .is_right_transposed = 1,
        .a = step->hidden_before,
        .b = fulcrum_place_at(pass->parameters, fulcrum_lstm_recurrent_offset(layer)),
        .beta = 1.0F,
        .c = step->gates};
    struct fulcrum_device_launch launch = fulcrum_compute_rows(
        pass->compute, FULCRUM_KERNEL_LSTM, step->row_count, layer->unit_count);
    launch.arguments.place[0] = step->gates;
    launch.arguments.place[1] = step->cell_before;
    launch.arguments.place[2] = step->cell_after;
    launch.arguments.place[3] = step->cell_tanh;
    launch.arguments.place[4] = step->hidden_after;
    launch.arguments.count[0] = (unsigned int)layer->unit_count;
    fulcrum_compute_multiply(pass->compute, &of_state);
    fulcrum_compute_launch(pass->compute, &launch);
}

void fulcrum_lstm_forward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace)
{
    size_t batch = trace->batch_count;
    size_t units = layer->unit_count;
    lstm_inputs(layer, pass, trace->gates, trace->step_count * batch);
    for (size_t i = 0; i < trace->step_count; i++) {
        size_t first = i * batch;
        struct lstm_step step = {.row_count = batch,
            .gates =
                fulcrum_place_at(trace->gates, first * fulcrum_lstm_gate_count(layer)),
            .cell_before = fulcrum_place_at(trace->cell, first * units),
            .cell_after = fulcrum_place_at(trace->cell, (first + batch) * units),
            .cell_tanh = fulcrum_place_at(trace->cell_tanh, first * units),
            .hidden_before = fulcrum_place_at(trace->hidden, first * units),
            .hidden_after = fulcrum_place_at(trace->hidden, (first + batch) * units)};
        lstm_advance(layer, pass, &step);
    }
}

void fulcrum_lstm_advance(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace)
{
    struct lstm_step step = {.row_count = trace->batch_count,
        .gates = trace->gates,
        .cell_before = trace->cell,
        .cell_after = trace->cell,
        .cell_tanh = trace->cell_tanh,
        .hidden_before = trace->hidden,
        .hidden_after = trace->hidden};
    lstm_inputs(layer, pass, trace->gates, trace->batch_count);
    lstm_advance(layer, pass, &step);
}

static void lstm_to_parameters(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, fulcrum_place hidden, fulcrum_place sums)
{
    size_t width = fulcrum_lstm_gate_count(layer);
    struct fulcrum_device_product of_input = {.row_count = width,
        .col_count = layer->input_count,
        .a = sums,
        .b = pass->input,
        .c = fulcrum_place_at(pass->gradients, layer->offset)};
    struct fulcrum_device_product of_state = {.row_count = width,
        .col_count = layer->unit_count,
        .a = sums,
        .b = hidden,
        .c = fulcrum_place_at(pass->gradients, fulcrum_lstm_recurrent_offset(layer))};
    weight_product(pass->compute, pass->row_count, of_input);
    weight_product(pass->compute, pass->row_count, of_state);
    bias_gradient(pass, pass->row_count, width, sums,
        fulcrum_place_at(pass->gradients, fulcrum_lstm_bias_offset(layer)));
}

void fulcrum_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients)
{
    size_t batch = trace->batch_count;
    size_t state = batch * layer->unit_count;
    fulcrum_compute_fill(pass->compute, gradients->cell, state, 0.0F);
    fulcrum_compute_fill(pass->compute, gradients->recurrent, state, 0.0F);
    for (size_t step = pass->row_count / batch; step > 0; step--) {
        /* One step back: the gates' sums, the cell before, then the recurrent gradient.
         */
        size_t first = (step - 1) * batch;
        size_t units = layer->unit_count;
        size_t width = fulcrum_lstm_gate_count(layer);
        fulcrum_place sums = fulcrum_place_at(gradients->gates, first * width);
        struct fulcrum_device_launch launch = fulcrum_compute_rows(
            pass->compute, FULCRUM_KERNEL_LSTM_BACKWARD, trace->batch_count, units);
        launch.arguments.place[0] = sums;
        launch.arguments.place[1] = fulcrum_place_at(trace->gates, first * width);
        launch.arguments.place[2] = fulcrum_place_at(trace->cell, first * units);
        launch.arguments.place[3] = fulcrum_place_at(trace->cell_tanh, first * units);
        launch.arguments.place[4] = fulcrum_place_at(gradients->hidden, first * units);
        launch.arguments.place[5] = gradients->recurrent;
        launch.arguments.place[6] = gradients->cell;
        launch.arguments.count[0] = (unsigned int)units;
        struct fulcrum_device_product of_state = {.row_count = trace->batch_count,
            .col_count = units,
            .inner_count = width,
            .a = sums,
            .b = fulcrum_place_at(
                pass->parameters, fulcrum_lstm_recurrent_offset(layer)),
            .c = gradients->recurrent};
        fulcrum_compute_launch(pass->compute, &launch);
        fulcrum_compute_multiply(pass->compute, &of_state);
    }
    lstm_to_parameters(layer, pass, trace->hidden, gradients->gates);
    if (pass->input_gradient != FULCRUM_NOWHERE) {
        struct fulcrum_device_product of_input = {.row_count = pass->row_count,
            .col_count = layer->input_count,
            .inner_count = fulcrum_lstm_gate_count(layer),
            .a = gradients->gates,
            .b = fulcrum_place_at(pass->parameters, layer->offset),
            .c = pass->input_gradient};
        fulcrum_compute_multiply(pass->compute, &of_input);
    }
}

static void launch_duel(const struct fulcrum_compute *compute,
    enum fulcrum_kernel kernel, struct fulcrum_duel shape, const fulcrum_place *places)
{
    struct fulcrum_device_launch launch =
        fulcrum_compute_rows(compute, kernel, shape.row_count, 1);
    for (size_t i = 0; i < 3; i++) {
        launch.arguments.place[i] = places[i];
    }
    launch.arguments.count[0] = (unsigned int)shape.action_count;
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_duel_forward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place value, fulcrum_place advantage,
    fulcrum_place q)
{
    const fulcrum_place places[] = {q, value, advantage};
    launch_duel(compute, FULCRUM_KERNEL_DUEL, shape, places);
}

void fulcrum_duel_backward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place q_gradient, fulcrum_place value_gradient,
    fulcrum_place advantage_gradient)
{
    const fulcrum_place places[] = {q_gradient, value_gradient, advantage_gradient};
    launch_duel(compute, FULCRUM_KERNEL_DUEL_BACKWARD, shape, places);
}
