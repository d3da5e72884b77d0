/* layer_dense.c - the sizes and first weights of a fully connected layer. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer_dense.h"

size_t fulcrum_dense_weight_count(const struct fulcrum_dense *layer)
{
    return layer->input_count * layer->output_count;
}

size_t fulcrum_dense_parameter_count(const struct fulcrum_dense *layer)
{
    return fulcrum_dense_weight_count(layer) + layer->output_count;
}

double fulcrum_dense_mac_count(const struct fulcrum_dense *layer)
{
    return (double)fulcrum_dense_weight_count(layer);
}

void fulcrum_dense_init(
    const struct fulcrum_dense *layer, float *parameters, struct fulcrum_random *random)
{
    fulcrum_layer_fill(parameters + layer->offset, fulcrum_dense_weight_count(layer),
        layer->input_count + layer->output_count, random);
}
