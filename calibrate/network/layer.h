/* layer.h - sizes and first weights of the networks' layers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_LAYER_H
#define FULCRUM_CALIBRATE_NETWORK_LAYER_H

#include <stddef.h>

#include "calibrate/random.h"

/* What follows the sums of a layer. */
enum fulcrum_activation { FULCRUM_LINEAR, FULCRUM_RELU };

/*
 * A layer is its shape and the offset of its parameters in the network's one array of
 * them, so that two sets of weights (online, target) share the layers.
 */

/* A two-dimensional convolution followed by ReLU. */

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

/* A fully connected layer. */

/* Parameters: weights output_count x input_count, then output_count biases. */
struct fulcrum_dense {
    size_t input_count;
    size_t output_count;
    enum fulcrum_activation activation;
    size_t offset; /* of its first parameter */
};

/* Weights: how far the biases lie beyond the offset. */
size_t fulcrum_dense_weight_count(const struct fulcrum_dense *layer);

/* Weights and biases: how far the next layer's offset lies beyond its own. */
size_t fulcrum_dense_parameter_count(const struct fulcrum_dense *layer);

/* Multiply-adds of the forward pass of one row. */
double fulcrum_dense_mac_count(const struct fulcrum_dense *layer);

/* Random weights, zero biases. */
void fulcrum_dense_init(const struct fulcrum_dense *layer, float *parameters,
    struct fulcrum_random *random);

/* A long short-term memory layer over sequences. */

/*
 * Parameters: weights 4 unit_count x input_count, recurrent weights
 * 4 unit_count x unit_count, then 4 unit_count biases; the four gates are input,
 * forget, candidate, output, in this order.
 */
struct fulcrum_lstm {
    size_t input_count;
    size_t unit_count;
    size_t offset; /* of its first parameter */
};

/* Sums of one row: four gates of every unit. */
size_t fulcrum_lstm_gate_count(const struct fulcrum_lstm *layer);

/* Of the first recurrent weight. */
size_t fulcrum_lstm_recurrent_offset(const struct fulcrum_lstm *layer);

/* Of the first bias. */
size_t fulcrum_lstm_bias_offset(const struct fulcrum_lstm *layer);

/* Weights and biases: how far the next layer's offset lies beyond its own. */
size_t fulcrum_lstm_parameter_count(const struct fulcrum_lstm *layer);

/* Multiply-adds of the forward pass of one row. */
double fulcrum_lstm_mac_count(const struct fulcrum_lstm *layer);

/* Random weights; biases are zero, but 1 for the forget gates (Gers et al., 2000). */
void fulcrum_lstm_init(
    const struct fulcrum_lstm *layer, float *parameters, struct fulcrum_random *random);

#endif
