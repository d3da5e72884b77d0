/* layer.c - sizes and first weights of the networks' layers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/layer.h"

#include <math.h>
#include <stddef.h>

#include "calibrate/random.h"

/* Uniform in +-sqrt(6 / (fan_in + fan_out)): Glorot and Bengio (2010). */
static void layer_fill(
    float *weights, size_t count, size_t fan_sum, struct fulcrum_random *random)
{
    double limit = sqrt(6.0 / (double)fan_sum);
    for (size_t i = 0; i < count; i++) {
        weights[i] = (float)fulcrum_random_between(random, -limit, limit);
    }
}

/* The sizes and first weights of a convolution. */

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
    layer_fill(parameters + layer->offset, fulcrum_conv_weight_count(layer),
        fulcrum_conv_window_size(layer) + fan_out, random);
}

/* The sizes and first weights of a fully connected layer. */

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
    layer_fill(parameters + layer->offset, fulcrum_dense_weight_count(layer),
        layer->input_count + layer->output_count, random);
}

/* The sizes and first weights of a long short-term memory layer. */

enum { GATE_COUNT = 4 };

size_t fulcrum_lstm_gate_count(const struct fulcrum_lstm *layer)
{
    return GATE_COUNT * layer->unit_count;
}

size_t fulcrum_lstm_recurrent_offset(const struct fulcrum_lstm *layer)
{
    return layer->offset + layer->input_count * fulcrum_lstm_gate_count(layer);
}

size_t fulcrum_lstm_bias_offset(const struct fulcrum_lstm *layer)
{
    return fulcrum_lstm_recurrent_offset(layer) +
           layer->unit_count * fulcrum_lstm_gate_count(layer);
}

size_t fulcrum_lstm_parameter_count(const struct fulcrum_lstm *layer)
{
    return fulcrum_lstm_bias_offset(layer) + fulcrum_lstm_gate_count(layer) -
           layer->offset;
}

double fulcrum_lstm_mac_count(const struct fulcrum_lstm *layer)
{
    return (double)(layer->input_count + layer->unit_count) *
           (double)fulcrum_lstm_gate_count(layer);
}

void fulcrum_lstm_init(
    const struct fulcrum_lstm *layer, float *parameters, struct fulcrum_random *random)
{
    size_t width = fulcrum_lstm_gate_count(layer);
    layer_fill(parameters + layer->offset, layer->input_count * width,
        layer->input_count + layer->unit_count, random);
    layer_fill(parameters + fulcrum_lstm_recurrent_offset(layer),
        layer->unit_count * width, 2 * layer->unit_count, random);
    float *forget = parameters + fulcrum_lstm_bias_offset(layer) + layer->unit_count;
    for (size_t i = 0; i < layer->unit_count; i++) {
        forget[i] = 1.0F;
    }
}
