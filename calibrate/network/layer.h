/* layer.h - layers of the networks, and what R2D2 is trained on. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_LAYER_H
#define FULCRUM_CALIBRATE_NETWORK_LAYER_H

#include "calibrate/network/network_cost.h"
#include "calibrate/statistics.h"

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

/* Random weights; biases are zero, but 1 for the forget gates (Gers et al., 2000). */
void fulcrum_lstm_init(
    const struct fulcrum_lstm *layer, float *parameters, struct fulcrum_random *random);

/* What an R2D2 learner is to do: layers and replay. */

enum { FULCRUM_R2D2_CONV_COUNT = 3 };

struct fulcrum_r2d2_filters {
    size_t filter_count;
    size_t kernel;
    size_t stride;
};

/* Every size of the network; tests use small ones. */
struct fulcrum_r2d2_shape {
    size_t height;
    size_t width;
    size_t channel_count;
    struct fulcrum_r2d2_filters filters[FULCRUM_R2D2_CONV_COUNT];
    size_t dense_count;
    size_t lstm_count;
    size_t head_count;
    size_t action_count;
};

/*
 * image / 255 -> convolutions -> dense -> (joined with last reward and one-hot last
 * action) -> LSTM -> duelling heads: the Atari agent of SEED RL (Espeholt et al.,
 * 2020).
 */
struct fulcrum_r2d2_layers {
    struct fulcrum_conv conv[FULCRUM_R2D2_CONV_COUNT];
    struct fulcrum_linear dense;
    struct fulcrum_lstm lstm;
    struct fulcrum_linear value_hidden;
    struct fulcrum_linear value;
    struct fulcrum_linear advantage_hidden;
    struct fulcrum_linear advantage;
    size_t action_count;
    size_t parameter_count;
};

/* Kapturowski et al. (2019), table 2. */
enum { FULCRUM_R2D2_LOOK_AHEAD = 5, FULCRUM_R2D2_TARGET_PERIOD = 2500 };
#define FULCRUM_R2D2_DISCOUNT     0.997F
#define FULCRUM_R2D2_ADAM_RATE    1e-4
#define FULCRUM_R2D2_ADAM_EPSILON 1e-3

struct fulcrum_r2d2_options {
    struct fulcrum_r2d2_shape shape;
    size_t max_batch;
    size_t train_batch;
    size_t train_unroll;
    size_t train_burn_in;
    uint64_t seed;
};

/* Step t of sequence i is row t * train_batch + i. */
struct fulcrum_r2d2_replay {
    uint8_t *image; /* train_burn_in + train_unroll + 1 steps */
    /* One step more: what came before an image is at its row, what follows one on. */
    int *action;
    float *reward;
};

/* Asserts that every window fits its image. */
struct fulcrum_r2d2_layers fulcrum_r2d2_layers_make(
    const struct fulcrum_r2d2_shape *shape);

/* Random weights. */
void fulcrum_r2d2_layers_init(const struct fulcrum_r2d2_layers *layers,
    float *parameters, struct fulcrum_random *random);

/* The Atari agent: 84 x 84 x 4 images, dense, LSTM and heads of 512. */
struct fulcrum_r2d2_shape fulcrum_r2d2_atari(size_t action_count);

/* Bytes of one image. */
size_t fulcrum_r2d2_image_byte(const struct fulcrum_r2d2_options *options);

/* Images of the replay: burn-in, trained steps and the one after them, whose values end
 * the last returns, of every sequence. */
size_t fulcrum_r2d2_replay_rows(const struct fulcrum_r2d2_options *options);

/* Random images, actions and rewards, rows in the order of the replay. */
void fulcrum_r2d2_replay_fill(const struct fulcrum_r2d2_replay *replay,
    const struct fulcrum_r2d2_options *options, struct fulcrum_random *random);

/* Work counted from the layers' sizes; the owner adds the memory that it takes. */
struct fulcrum_network_cost fulcrum_r2d2_cost_of(
    const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_options *options);

#endif
