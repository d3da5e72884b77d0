/* layer_conv.h - a two-dimensional convolution followed by ReLU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_LAYER_CONV_H
#define FULCRUM_CALIBRATE_LAYER_CONV_H

#include "calibrate/layer.h"

/*
 * Images are height x width x channel, the channel fastest; no padding. Parameters:
 * weights filter x (kernel y, kernel x, channel), then filter_count biases.
 */
struct fulcrum_conv {
    size_t height;
    size_t width;
    size_t channel_count;
    size_t filter_count;
    size_t kernel; /* edge of the square window */
    size_t stride;
    size_t offset; /* of its first parameter */
};

/* Windows along an edge of `length` pixels. */
size_t fulcrum_conv_window_count(const struct fulcrum_conv *layer, size_t length);

/* Windows of one image: positions of its output. */
size_t fulcrum_conv_position_count(const struct fulcrum_conv *layer);

/* Elements of one window. */
size_t fulcrum_conv_window_size(const struct fulcrum_conv *layer);

/* Elements of one image of the input. */
size_t fulcrum_conv_image_count(const struct fulcrum_conv *layer);

/* Weights: how far the biases lie beyond the offset. */
size_t fulcrum_conv_weight_count(const struct fulcrum_conv *layer);

/* Elements of one output image. */
size_t fulcrum_conv_output_count(const struct fulcrum_conv *layer);

/* Floats that one image takes in a pass's `column`. */
size_t fulcrum_conv_column_count(const struct fulcrum_conv *layer);

/* Weights and biases: how far the next layer's offset lies beyond its own. */
size_t fulcrum_conv_parameter_count(const struct fulcrum_conv *layer);

/* Multiply-adds of the forward pass of one image. */
double fulcrum_conv_mac_count(const struct fulcrum_conv *layer);

/* Random weights, zero biases. */
void fulcrum_conv_init(
    const struct fulcrum_conv *layer, float *parameters, struct fulcrum_random *random);

/* One row is one image. Lays all windows out as rows of one matrix (im2col). */
void fulcrum_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass);

/* Reads `output` as the forward pass left it; `column` is laid out again. */
void fulcrum_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass);

#endif
