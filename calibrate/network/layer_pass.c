/* layer_pass.c - layers of a network, forward and backward, through the BLAS. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inputs of all steps go through one matrix product before the loop over time; only the
 * recurrent product has to be done step by step. Gates are kept for the backward pass,
 * which runs over the steps in reverse and collects the gradients of all of them, so
 * that the weights' gradients again are one product over the whole sequence.
 */

#include "calibrate/network/layer.h"

#include <stddef.h>
#include <string.h>

/* Action values from a state value and advantages. */

static float sum(const float *values, size_t count)
{
    float total = 0.0F;
    for (size_t i = 0; i < count; i++) {
        total += values[i];
    }
    return total;
}

void fulcrum_duel_forward(
    struct fulcrum_duel shape, const float *value, const float *advantage, float *q)
{
    size_t count = shape.action_count;
    for (size_t i = 0; i < shape.row_count; i++) {
        const float *row = advantage + i * count;
        float shift = value[i] - sum(row, count) / (float)count;
        for (size_t j = 0; j < count; j++) {
            q[i * count + j] = row[j] + shift;
        }
    }
}

void fulcrum_duel_backward(struct fulcrum_duel shape, const float *q_gradient,
    float *value_gradient, float *advantage_gradient)
{
    size_t count = shape.action_count;
    for (size_t i = 0; i < shape.row_count; i++) {
        const float *row = q_gradient + i * count;
        value_gradient[i] = sum(row, count);
        float mean = value_gradient[i] / (float)count;
        for (size_t j = 0; j < count; j++) {
            advantage_gradient[i * count + j] = row[j] - mean;
        }
    }
}

/* A convolution followed by ReLU, forward and backward. */

/* Where the window of an output position begins in its image. */
static size_t window_start(const struct fulcrum_conv *layer, size_t position)
{
    size_t across = fulcrum_conv_window_count(layer, layer->width);
    size_t y = position / across * layer->stride;
    size_t x = position % across * layer->stride;
    return (y * layer->width + x) * layer->channel_count;
}

/* One row of a window is contiguous in the image: kernel pixels with all channels. */
static void gather_windows(
    const struct fulcrum_conv *layer, const float *image, float *column)
{
    size_t run = layer->kernel * layer->channel_count;
    size_t pitch = layer->width * layer->channel_count;
    size_t positions = fulcrum_conv_position_count(layer);
    for (size_t i = 0; i < positions; i++) {
        const float *window = image + window_start(layer, i);
        for (size_t y = 0; y < layer->kernel; y++) {
            memcpy(column, window + y * pitch, run * sizeof *column);
            column += run;
        }
    }
}

static void add_pixels(float *pixels, const float *column, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pixels[i] += column[i];
    }
}

/* The transpose of gather_windows: pixels in several windows collect their sum. */
static void scatter_windows(
    const struct fulcrum_conv *layer, const float *column, float *image)
{
    size_t run = layer->kernel * layer->channel_count;
    size_t pitch = layer->width * layer->channel_count;
    size_t positions = fulcrum_conv_position_count(layer);
    memset(image, 0, fulcrum_conv_image_count(layer) * sizeof *image);
    for (size_t i = 0; i < positions; i++) {
        float *window = image + window_start(layer, i);
        for (size_t y = 0; y < layer->kernel; y++) {
            add_pixels(window + y * pitch, column, run);
            column += run;
        }
    }
}

static void gather_images(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    for (size_t i = 0; i < pass->row_count; i++) {
        gather_windows(layer, pass->input + i * fulcrum_conv_image_count(layer),
            pass->column + i * fulcrum_conv_column_count(layer));
    }
}

void fulcrum_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    const float *weights = pass->parameters + layer->offset;
    size_t rows = pass->row_count * fulcrum_conv_position_count(layer);
    struct fulcrum_gemm shape = {
        rows, layer->filter_count, fulcrum_conv_window_size(layer)};
    gather_images(layer, pass);
    fulcrum_gemm_right_transposed(shape, pass->column, weights, 0.0F, pass->output);
    fulcrum_activate(FULCRUM_RELU, pass->output, rows,
        weights + fulcrum_conv_weight_count(layer), layer->filter_count);
}

void fulcrum_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    float *gradients = pass->gradients + layer->offset;
    size_t rows = pass->row_count * fulcrum_conv_position_count(layer);
    fulcrum_activate_backward(
        FULCRUM_RELU, pass->output_gradient, pass->output, rows * layer->filter_count);
    struct fulcrum_gemm of_weights = {
        layer->filter_count, fulcrum_conv_window_size(layer), rows};
    gather_images(layer, pass);
    fulcrum_gemm_left_transposed(
        of_weights, pass->output_gradient, pass->column, 1.0F, gradients);
    fulcrum_add_rows(gradients + fulcrum_conv_weight_count(layer),
        pass->output_gradient, rows, layer->filter_count);
    if (pass->input_gradient != NULL) {
        struct fulcrum_gemm shape = {
            pass->row_count * fulcrum_conv_position_count(layer),
            fulcrum_conv_window_size(layer), layer->filter_count};
        fulcrum_gemm(shape, pass->output_gradient, pass->parameters + layer->offset,
            0.0F, pass->column);
        for (size_t i = 0; i < pass->row_count; i++) {
            scatter_windows(layer, pass->column + i * fulcrum_conv_column_count(layer),
                pass->input_gradient + i * fulcrum_conv_image_count(layer));
        }
    }
}

/* A fully connected layer, forward and backward. */

void fulcrum_dense_forward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass)
{
    const float *weights = pass->parameters + layer->offset;
    struct fulcrum_gemm shape = {
        pass->row_count, layer->output_count, layer->input_count};
    fulcrum_gemm_right_transposed(shape, pass->input, weights, 0.0F, pass->output);
    fulcrum_activate(layer->activation, pass->output, pass->row_count,
        weights + fulcrum_dense_weight_count(layer), layer->output_count);
}

void fulcrum_dense_backward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass)
{
    float *gradients = pass->gradients + layer->offset;
    fulcrum_activate_backward(layer->activation, pass->output_gradient, pass->output,
        pass->row_count * layer->output_count);
    struct fulcrum_gemm of_weights = {
        layer->output_count, layer->input_count, pass->row_count};
    fulcrum_gemm_left_transposed(
        of_weights, pass->output_gradient, pass->input, 1.0F, gradients);
    fulcrum_add_rows(gradients + fulcrum_dense_weight_count(layer),
        pass->output_gradient, pass->row_count, layer->output_count);
    if (pass->input_gradient != NULL) {
        struct fulcrum_gemm of_input = {
            pass->row_count, layer->input_count, layer->output_count};
        fulcrum_gemm(of_input, pass->output_gradient, pass->parameters + layer->offset,
            0.0F, pass->input_gradient);
    }
}

/* cell = forget * cell before + input * candidate; hidden = output * tanh(cell). */
static void update_state(const struct fulcrum_lstm *layer,
    const struct fulcrum_lstm_trace *trace, size_t row)
{
    size_t units = layer->unit_count;
    float *gates = trace->gates + row * fulcrum_lstm_gate_count(layer);
    const float *before = trace->cell + row * units;
    float *after = trace->cell + (row + trace->batch_count) * units;
    float *hidden = trace->hidden + (row + trace->batch_count) * units;
    float *squashed = trace->cell_tanh + row * units;
    const float *candidate = gates + 2 * units;
    const float *output = gates + 3 * units;
    fulcrum_sigmoid(gates, 2 * units);
    fulcrum_tanh(gates + 2 * units, candidate, units);
    fulcrum_sigmoid(gates + 3 * units, units);
    for (size_t i = 0; i < units; i++) {
        after[i] = gates[units + i] * before[i] + gates[i] * candidate[i];
    }
    fulcrum_tanh(squashed, after, units);
    for (size_t i = 0; i < units; i++) {
        hidden[i] = output[i] * squashed[i];
    }
}

void fulcrum_lstm_forward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace)
{
    const float *parameters = pass->parameters;
    size_t width = fulcrum_lstm_gate_count(layer);
    size_t batch = trace->batch_count;
    size_t rows = trace->step_count * batch;
    /* The inputs of all steps are known: one large product for them. */
    struct fulcrum_gemm of_input = {rows, width, layer->input_count};
    fulcrum_gemm_right_transposed(
        of_input, pass->input, parameters + layer->offset, 0.0F, trace->gates);
    fulcrum_activate(FULCRUM_LINEAR, trace->gates, rows,
        parameters + fulcrum_lstm_bias_offset(layer), width);
    struct fulcrum_gemm of_state = {batch, width, layer->unit_count};
    for (size_t step = 0; step < trace->step_count; step++) {
        size_t first = step * batch;
        fulcrum_gemm_right_transposed(of_state,
            trace->hidden + first * layer->unit_count,
            parameters + fulcrum_lstm_recurrent_offset(layer), 1.0F,
            trace->gates + first * width);
        for (size_t i = 0; i < batch; i++) {
            update_state(layer, trace, first + i);
        }
    }
}

/*
 * One row of one step: from the gradients of hidden and cell after the step to those of
 * the gates' sums and of the cell before it (which replaces the one after).
 */
static void backward_row(const struct fulcrum_lstm *layer,
    const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients, size_t row)
{
    size_t units = layer->unit_count;
    size_t lane = row % trace->batch_count;
    const float *gates = trace->gates + row * fulcrum_lstm_gate_count(layer);
    const float *before = trace->cell + row * units;
    const float *squashed = trace->cell_tanh + row * units;
    const float *local = gradients->hidden + row * units;
    const float *recurrent = gradients->recurrent + lane * units;
    float *restrict cell = gradients->cell + lane * units;
    float *restrict sums = gradients->gates + row * fulcrum_lstm_gate_count(layer);
    for (size_t i = 0; i < units; i++) {
        float input = gates[i];
        float forget = gates[units + i];
        float candidate = gates[2 * units + i];
        float output = gates[3 * units + i];
        float hidden = local[i] + recurrent[i];
        float total = cell[i] + hidden * output * (1.0F - squashed[i] * squashed[i]);
        sums[i] = total * candidate * input * (1.0F - input);
        sums[units + i] = total * before[i] * forget * (1.0F - forget);
        sums[2 * units + i] = total * input * (1.0F - candidate * candidate);
        sums[3 * units + i] = hidden * squashed[i] * output * (1.0F - output);
        cell[i] = total * forget;
    }
}

static void backward_to_parameters(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const float *hidden, const float *sums)
{
    size_t width = fulcrum_lstm_gate_count(layer);
    struct fulcrum_gemm of_input = {width, layer->input_count, pass->row_count};
    fulcrum_gemm_left_transposed(
        of_input, sums, pass->input, 1.0F, pass->gradients + layer->offset);
    struct fulcrum_gemm of_state = {width, layer->unit_count, pass->row_count};
    fulcrum_gemm_left_transposed(of_state, sums, hidden, 1.0F,
        pass->gradients + fulcrum_lstm_recurrent_offset(layer));
    fulcrum_add_rows(pass->gradients + fulcrum_lstm_bias_offset(layer), sums,
        pass->row_count, width);
}

void fulcrum_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients)
{
    size_t batch = trace->batch_count;
    size_t width = fulcrum_lstm_gate_count(layer);
    size_t state_byte = batch * layer->unit_count * sizeof(float);
    memset(gradients->cell, 0, state_byte);
    memset(gradients->recurrent, 0, state_byte);
    struct fulcrum_gemm of_state = {batch, layer->unit_count, width};
    for (size_t step = pass->row_count / batch; step > 0; step--) {
        size_t first = (step - 1) * batch;
        for (size_t i = 0; i < batch; i++) {
            backward_row(layer, trace, gradients, first + i);
        }
        fulcrum_gemm(of_state, gradients->gates + first * width,
            pass->parameters + fulcrum_lstm_recurrent_offset(layer), 0.0F,
            gradients->recurrent);
    }
    backward_to_parameters(layer, pass, trace->hidden, gradients->gates);
    if (pass->input_gradient != NULL) {
        struct fulcrum_gemm of_input = {pass->row_count, layer->input_count, width};
        fulcrum_gemm(of_input, gradients->gates, pass->parameters + layer->offset, 0.0F,
            pass->input_gradient);
    }
}
