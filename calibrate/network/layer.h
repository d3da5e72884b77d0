/* layer.h - sizes and first weights of the networks' layers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_LAYER_H
#define FULCRUM_CALIBRATE_NETWORK_LAYER_H

#include <stddef.h>

#include "calibrate/random.h"

/* What follows the sums of a layer. */
enum fulcrum_activation { FULCRUM_LINEAR, FULCRUM_RELU };

/*
 * A layer is its shape and the offsets of its parameters in the network's one array of
 * them, so that two sets of weights (online, target) share the layers. What makes a
 * layer places its parameters behind the `taken` ones, and counts them among these.
 */

/* activation(weights input + biases): the fully connected layer, and part of others. */
struct fulcrum_linear {
    size_t input_count;
    size_t output_count;
    enum fulcrum_activation activation;
    size_t weights; /* offset of output_count x input_count */
    size_t biases;  /* offset of output_count */
};

struct fulcrum_linear fulcrum_linear_make(size_t *taken, size_t input_count,
    size_t output_count, enum fulcrum_activation activation);

/* Multiply-adds of the forward pass of one row. */
double fulcrum_linear_mac_count(const struct fulcrum_linear *layer);

/* Random weights, zero biases. */
void fulcrum_linear_init(const struct fulcrum_linear *layer, float *parameters,
    struct fulcrum_random *random);

/*
 * A two-dimensional convolution followed by ReLU. Images are height x width x channel,
 * the channel fastest; no padding. The edge of the square window is `kernel`.
 */
struct fulcrum_conv {
    size_t height;
    size_t width;
    size_t channel_count;
    size_t kernel;
    size_t stride;
    /* The rest is set by fulcrum_conv_make. Windows down and across an image: */
    size_t window_rows;
    size_t window_cols;
    /* One row is one window, in the order kernel y, kernel x, channel. */
    struct fulcrum_linear filters;
};

struct fulcrum_conv fulcrum_conv_make(
    size_t *taken, struct fulcrum_conv shape, size_t filter_count);

/* Windows of one image: positions of its output. */
size_t fulcrum_conv_position_count(const struct fulcrum_conv *layer);

/* Elements of one image of the input, and of the output. */
size_t fulcrum_conv_image_count(const struct fulcrum_conv *layer);
size_t fulcrum_conv_output_count(const struct fulcrum_conv *layer);

/* Floats that one image takes in a pass's `column`. */
size_t fulcrum_conv_column_count(const struct fulcrum_conv *layer);

/* Multiply-adds of the forward pass of one image. */
double fulcrum_conv_mac_count(const struct fulcrum_conv *layer);

/* Random weights, zero biases. */
void fulcrum_conv_init(
    const struct fulcrum_conv *layer, float *parameters, struct fulcrum_random *random);

/*
 * A long short-term memory layer over sequences. The four gates of every unit are
 * input, forget, candidate, output, in this order.
 */
struct fulcrum_lstm {
    size_t unit_count;
    struct fulcrum_linear gates; /* from the input; 4 unit_count sums */
    size_t recurrent;            /* offset of weights, 4 unit_count x unit_count */
};

struct fulcrum_lstm fulcrum_lstm_make(
    size_t *taken, size_t input_count, size_t unit_count);

/* Multiply-adds of the forward pass of one row. */
double fulcrum_lstm_mac_count(const struct fulcrum_lstm *layer);

/* Random weights; biases are zero, but 1 for the forget gates (Gers et al., 2000). */
void fulcrum_lstm_init(
    const struct fulcrum_lstm *layer, float *parameters, struct fulcrum_random *random);

#endif
