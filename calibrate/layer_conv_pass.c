/* layer_conv_pass.c - a convolution followed by ReLU, forward and backward. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer_conv.h"

#include <string.h>

#include "calibrate/activation.h"
#include "calibrate/gemm.h"

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

static void backward_to_input(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass)
{
    struct fulcrum_gemm shape = {pass->row_count * fulcrum_conv_position_count(layer),
        fulcrum_conv_window_size(layer), layer->filter_count};
    fulcrum_gemm(shape, pass->output_gradient, pass->parameters + layer->offset, 0.0F,
        pass->column);
    for (size_t i = 0; i < pass->row_count; i++) {
        scatter_windows(layer, pass->column + i * fulcrum_conv_column_count(layer),
            pass->input_gradient + i * fulcrum_conv_image_count(layer));
    }
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
        backward_to_input(layer, pass);
    }
}
