/* layer_dense.c - a fully connected layer. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer_dense.h"

#include "calibrate/gemm.h"

static size_t weight_count(const struct fulcrum_dense *layer)
{
    return layer->input_count * layer->output_count;
}

size_t fulcrum_dense_parameter_count(const struct fulcrum_dense *layer)
{
    return weight_count(layer) + layer->output_count;
}

double fulcrum_dense_mac_count(const struct fulcrum_dense *layer)
{
    return (double)weight_count(layer);
}

void fulcrum_dense_init(
    const struct fulcrum_dense *layer, float *parameters, struct fulcrum_random *random)
{
    fulcrum_layer_fill(parameters + layer->offset, weight_count(layer),
        layer->input_count + layer->output_count, random);
}

void fulcrum_dense_forward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass)
{
    const float *weights = pass->parameters + layer->offset;
    struct fulcrum_gemm shape = {
        pass->row_count, layer->output_count, layer->input_count};
    fulcrum_gemm_right_transposed(shape, pass->input, weights, 0.0F, pass->output);
    fulcrum_activate(layer->activation, pass->output, pass->row_count,
        weights + weight_count(layer), layer->output_count);
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
    fulcrum_add_rows(gradients + weight_count(layer), pass->output_gradient,
        pass->row_count, layer->output_count);
    if (pass->input_gradient != NULL) {
        struct fulcrum_gemm of_input = {
            pass->row_count, layer->input_count, layer->output_count};
        fulcrum_gemm(of_input, pass->output_gradient, pass->parameters + layer->offset,
            0.0F, pass->input_gradient);
    }
}
