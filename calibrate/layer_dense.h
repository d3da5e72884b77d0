/* layer_dense.h - a fully connected layer. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_LAYER_DENSE_H
#define FULCRUM_CALIBRATE_LAYER_DENSE_H

#include "calibrate/activation.h"
#include "calibrate/layer.h"

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

#endif
