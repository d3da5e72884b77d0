/* layer_conv.c - the sizes and first weights of a convolution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer_conv.h"

size_t fulcrum_conv_window_count(const struct fulcrum_conv *layer, size_t length)
{
    return (length - layer->kernel) / layer->stride + 1;
}

size_t fulcrum_conv_position_count(const struct fulcrum_conv *layer)
{
    return fulcrum_conv_window_count(layer, layer->height) *
           fulcrum_conv_window_count(layer, layer->width);
}

size_t fulcrum_conv_window_size(const struct fulcrum_conv *layer)
{
    return layer->kernel * layer->kernel * layer->channel_count;
}

size_t fulcrum_conv_image_count(const struct fulcrum_conv *layer)
{
    return layer->height * layer->width * layer->channel_count;
}

size_t fulcrum_conv_weight_count(const struct fulcrum_conv *layer)
{
    return fulcrum_conv_window_size(layer) * layer->filter_count;
}

size_t fulcrum_conv_output_count(const struct fulcrum_conv *layer)
{
    return fulcrum_conv_position_count(layer) * layer->filter_count;
}

size_t fulcrum_conv_column_count(const struct fulcrum_conv *layer)
{
    return fulcrum_conv_position_count(layer) * fulcrum_conv_window_size(layer);
}

size_t fulcrum_conv_parameter_count(const struct fulcrum_conv *layer)
{
    return fulcrum_conv_weight_count(layer) + layer->filter_count;
}

double fulcrum_conv_mac_count(const struct fulcrum_conv *layer)
{
    return (double)fulcrum_conv_position_count(layer) *
           (double)fulcrum_conv_weight_count(layer);
}

void fulcrum_conv_init(
    const struct fulcrum_conv *layer, float *parameters, struct fulcrum_random *random)
{
    size_t fan_out = layer->kernel * layer->kernel * layer->filter_count;
    fulcrum_layer_fill(parameters + layer->offset, fulcrum_conv_weight_count(layer),
        fulcrum_conv_window_size(layer) + fan_out, random);
}
