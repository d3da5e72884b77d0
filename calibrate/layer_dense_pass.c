/* layer_dense_pass.c - a fully connected layer, forward and backward. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer_dense.h"

#include "calibrate/gemm.h"

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
