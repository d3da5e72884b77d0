/* activation.h - element-wise functions of layers and their derivatives. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_ACTIVATION_H
#define FULCRUM_CALIBRATE_NETWORK_ACTIVATION_H

#include <stddef.h>

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

#endif
