/* layer.h - layers of the networks on the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_LAYER_H
#define FULCRUM_CALIBRATE_NETWORK_LAYER_H

#include <stddef.h>

#include "calibrate/random.h"

/* Products of row-major float32 matrices, through the BLAS. */

/* The product is row_count x col_count; each element sums inner_count terms. */
struct fulcrum_gemm {
    size_t row_count;
    size_t col_count;
    size_t inner_count;
};

/* c = a b + beta c, with a stored row x inner and b stored inner x col. */
void fulcrum_gemm(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c);

/* c = a' b + beta c, with a stored inner x row and b stored inner x col. */
void fulcrum_gemm_left_transposed(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c);

/* c = a b' + beta c, with a stored row x inner and b stored col x inner. */
void fulcrum_gemm_right_transposed(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c);

/*
 * Puts all products of the process on the calling thread alone, GSL's too: with more,
 * sums are rounded otherwise. Nothing to do in a build without OpenBLAS.
 */
void fulcrum_gemm_use_one_thread(void);

/*
 * Writes the library's version, the kernels it chose for this core, its threads, and
 * the environment variables in force that may have changed that choice.
 */
void fulcrum_gemm_describe(char *text, size_t size);

/* Element-wise functions of layers and their derivatives. */

enum fulcrum_activation { FULCRUM_LINEAR, FULCRUM_RELU };

/* value = activation(value + bias), for each row of `col_count` values. */
void fulcrum_activate(enum fulcrum_activation activation, float *value,
    size_t row_count, const float *bias, size_t col_count);

/* Turns the gradient of a layer's output into that of the sum before it, in place. */
void fulcrum_activate_backward(enum fulcrum_activation activation, float *gradient,
    const float *output, size_t count);

/* bias_gradient += the sum of the rows of `gradient`. */
void fulcrum_add_rows(
    float *bias_gradient, const float *gradient, size_t row_count, size_t col_count);

/*
 * value = 1 / (1 + exp(-value)). Absolute error below 2e-7; the C library's functions,
 * one call per element, would cost a tenth of an inference.
 */
void fulcrum_sigmoid(float *value, size_t count);

/* output = tanh(input), absolute error below 3e-7. The two may be the same array. */
void fulcrum_tanh(float *output, const float *input, size_t count);

/* Index of the largest of `count` > 0 values, the first of such. */
size_t fulcrum_largest(const float *values, size_t count);

/* The Adam optimiser. */

/* Kingma and Ba (2015), algorithm 1. The moments start at zero; the arrays are the
 * owner's. */
struct fulcrum_adam {
    double rate;
    double beta1;
    double beta2;
    double epsilon;
    size_t parameter_count;
    size_t step_count; /* updates done */
    float *mean;       /* of the gradients */
    float *square;     /* mean square of the gradients */
};

/*
 * One update in float32: mean = keep1 mean + add1 gradient, square = keep2 square +
 * add2 gradient^2, parameter -= rate mean / (sqrt(square) + epsilon).
 */
struct fulcrum_adam_step {
    float rate;
    float epsilon;
    float keep1;
    float keep2;
    float add1;
    float add2;
};

/* Counts one more update and returns its numbers. */
struct fulcrum_adam_step fulcrum_adam_begin(struct fulcrum_adam *adam);

/* Moves the parameters one step against their gradients. */
void fulcrum_adam_update(
    struct fulcrum_adam *adam, float *parameters, const float *gradients);

/* What every layer of a network is given for a pass through it. */

/*
 * A layer is its shape and the offset of its parameters in the network's one array of
 * them, so that two sets of weights (online, target) share the layers. All arrays are
 * row-major, one row per sample. The members below the first five are read by backward
 * passes alone; gradients of parameters are added to, gradients of inputs are set.
 */
struct fulcrum_pass {
    const float *parameters; /* of the whole network */
    size_t row_count;
    const float *input;
    float *output;
    float *column;          /* convolutions: room for column_count floats per row */
    float *gradients;       /* of the parameters of the whole network */
    float *output_gradient; /* overwritten */
    float *input_gradient;  /* NULL where nobody needs it */
};

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

/* One row is one image. Lays all windows out as rows of one matrix (im2col). */
void fulcrum_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass);

/* Reads `output` as the forward pass left it; `column` is laid out again. */
void fulcrum_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass);

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

/* input: row_count x input_count, output: row_count x output_count. */
void fulcrum_dense_forward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass);

/* Reads `output` as the forward pass left it. */
void fulcrum_dense_backward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass);

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

/*
 * Sequences of equal length side by side: row i of step t is row t * batch_count + i.
 * `hidden` and `cell` have one step more than the others: step 0 is the state before.
 */
struct fulcrum_lstm_trace {
    size_t step_count;
    size_t batch_count;
    float *gates;     /* 4 unit_count per row */
    float *cell;      /* unit_count per row */
    float *cell_tanh; /* unit_count per row */
    float *hidden;    /* unit_count per row */
};

/* What the backward pass through time works on, beside the trace. */
struct fulcrum_lstm_gradients {
    float *hidden;    /* in: of each step's output, without the recurrent part */
    float *gates;     /* scratch, as the trace's */
    float *cell;      /* scratch, batch_count x unit_count */
    float *recurrent; /* scratch, batch_count x unit_count */
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

/* Reads the pass's parameters and input; fills the trace from its step 0 on. */
void fulcrum_lstm_forward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace);

/*
 * Backward through the first row_count / batch_count steps of the trace. Sets the
 * pass's input_gradient and adds to its gradients. The state before is a constant.
 */
void fulcrum_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients);

/* Layers of a network, forward and backward, through the BLAS. */

/* How many rows, and how many actions each has. */
struct fulcrum_duel {
    size_t row_count;
    size_t action_count;
};

/* q = value + advantage - mean advantage: Wang et al. (2016), equation 9. */
void fulcrum_duel_forward(
    struct fulcrum_duel shape, const float *value, const float *advantage, float *q);

/* Sets the gradients of one value and action_count advantages per row. */
void fulcrum_duel_backward(struct fulcrum_duel shape, const float *q_gradient,
    float *value_gradient, float *advantage_gradient);

#endif
