/* layer.c - sizes and first weights of the networks' layers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/layer.h"

#include <math.h>

enum { GATE_COUNT = 4 };

/* Places `count` parameters behind those before. */
static size_t take(size_t *taken, size_t count)
{
    size_t offset = *taken;
    *taken += count;
    return offset;
}

/* Uniform in +-sqrt(6 / (fan_in + fan_out)): Glorot and Bengio (2010). */
static void fill(
    float *weights, size_t count, size_t fan_sum, struct fulcrum_random *random)
{
    double limit = sqrt(6.0 / (double)fan_sum);
    for (size_t i = 0; i < count; i++) {
        weights[i] = (float)fulcrum_random_between(random, -limit, limit);
    }
}

struct fulcrum_linear fulcrum_linear_make(size_t *taken, size_t input_count,
    size_t output_count, enum fulcrum_activation activation)
{
    struct fulcrum_linear layer = {.input_count = input_count,
        .output_count = output_count,
        .activation = activation,
        .weights = take(taken, input_count * output_count)};
    layer.biases = take(taken, output_count);
    return layer;
}

double fulcrum_linear_mac_count(const struct fulcrum_linear *layer)
{
    return (double)(layer->input_count * layer->output_count);
}

void fulcrum_linear_init(const struct fulcrum_linear *layer, float *parameters,
    struct fulcrum_random *random)
{
    fill(parameters + layer->weights, layer->input_count * layer->output_count,
        layer->input_count + layer->output_count, random);
}

struct fulcrum_conv fulcrum_conv_make(
    size_t *taken, struct fulcrum_conv shape, size_t filter_count)
{
    shape.window_rows = (shape.height - shape.kernel) / shape.stride + 1;
    shape.window_cols = (shape.width - shape.kernel) / shape.stride + 1;
    shape.filters = fulcrum_linear_make(taken,
        shape.kernel * shape.kernel * shape.channel_count, filter_count, FULCRUM_RELU);
    return shape;
}

size_t fulcrum_conv_position_count(const struct fulcrum_conv *layer)
{
    return layer->window_rows * layer->window_cols;
}

size_t fulcrum_conv_image_count(const struct fulcrum_conv *layer)
{
    return layer->height * layer->width * layer->channel_count;
}

size_t fulcrum_conv_output_count(const struct fulcrum_conv *layer)
{
    return fulcrum_conv_position_count(layer) * layer->filters.output_count;
}

size_t fulcrum_conv_column_count(const struct fulcrum_conv *layer)
{
    return fulcrum_conv_position_count(layer) * layer->filters.input_count;
}

double fulcrum_conv_mac_count(const struct fulcrum_conv *layer)
{
    return (double)fulcrum_conv_position_count(layer) *
           fulcrum_linear_mac_count(&layer->filters);
}

void fulcrum_conv_init(
    const struct fulcrum_conv *layer, float *parameters, struct fulcrum_random *random)
{
    const struct fulcrum_linear *filters = &layer->filters;
    size_t fan_out = layer->kernel * layer->kernel * filters->output_count;
    fill(parameters + filters->weights, filters->input_count * filters->output_count,
        filters->input_count + fan_out, random);
}

/* Weights of the input, recurrent ones, then the biases. */
struct fulcrum_lstm fulcrum_lstm_make(
    size_t *taken, size_t input_count, size_t unit_count)
{
    size_t width = GATE_COUNT * unit_count;
    struct fulcrum_lstm layer = {.unit_count = unit_count,
        .gates = {.input_count = input_count,
            .output_count = width,
            .activation = FULCRUM_LINEAR,
            .weights = take(taken, input_count * width)}};
    layer.recurrent = take(taken, unit_count * width);
    layer.gates.biases = take(taken, width);
    return layer;
}

double fulcrum_lstm_mac_count(const struct fulcrum_lstm *layer)
{
    return (double)(layer->gates.input_count + layer->unit_count) *
           (double)layer->gates.output_count;
}

void fulcrum_lstm_init(
    const struct fulcrum_lstm *layer, float *parameters, struct fulcrum_random *random)
{
    const struct fulcrum_linear *gates = &layer->gates;
    size_t units = layer->unit_count;
    fill(parameters + gates->weights, gates->input_count * gates->output_count,
        gates->input_count + units, random);
    fill(parameters + layer->recurrent, units * gates->output_count, 2 * units, random);
    for (size_t i = 0; i < units; i++) {
        parameters[gates->biases + units + i] = 1.0F;
    }
}
