/* layer.c - layers of the networks, and what R2D2 is trained on. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/layer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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

static void conv_init(
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

static double lstm_mac_count(const struct fulcrum_lstm *layer)
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

struct fulcrum_r2d2_layers fulcrum_r2d2_layers_make(
    const struct fulcrum_r2d2_shape *shape)
{
    struct fulcrum_r2d2_layers layers = {.action_count = shape->action_count};
    size_t *taken = &layers.parameter_count;
    size_t head = shape->head_count;
    struct fulcrum_conv next = {.height = shape->height,
        .width = shape->width,
        .channel_count = shape->channel_count};
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        const struct fulcrum_r2d2_filters *filters = &shape->filters[i];
        assert(filters->kernel <= next.height && filters->kernel <= next.width);
        next.kernel = filters->kernel;
        next.stride = filters->stride;
        layers.conv[i] = fulcrum_conv_make(taken, next, filters->filter_count);
        next = (struct fulcrum_conv){.height = layers.conv[i].window_rows,
            .width = layers.conv[i].window_cols,
            .channel_count = filters->filter_count};
    }
    layers.dense = fulcrum_linear_make(
        taken, fulcrum_conv_image_count(&next), shape->dense_count, FULCRUM_RELU);
    layers.lstm = fulcrum_lstm_make(
        taken, shape->dense_count + 1 + shape->action_count, shape->lstm_count);
    layers.value_hidden =
        fulcrum_linear_make(taken, shape->lstm_count, head, FULCRUM_RELU);
    layers.value = fulcrum_linear_make(taken, head, 1, FULCRUM_LINEAR);
    layers.advantage_hidden =
        fulcrum_linear_make(taken, shape->lstm_count, head, FULCRUM_RELU);
    layers.advantage =
        fulcrum_linear_make(taken, head, shape->action_count, FULCRUM_LINEAR);
    return layers;
}

void fulcrum_r2d2_layers_init(const struct fulcrum_r2d2_layers *layers,
    float *parameters, struct fulcrum_random *random)
{
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        conv_init(&layers->conv[i], parameters, random);
    }
    fulcrum_linear_init(&layers->dense, parameters, random);
    fulcrum_lstm_init(&layers->lstm, parameters, random);
    fulcrum_linear_init(&layers->value_hidden, parameters, random);
    fulcrum_linear_init(&layers->value, parameters, random);
    fulcrum_linear_init(&layers->advantage_hidden, parameters, random);
    fulcrum_linear_init(&layers->advantage, parameters, random);
}

struct fulcrum_r2d2_shape fulcrum_r2d2_atari(size_t action_count)
{
    /* Mnih et al. (2015) for the convolutions, Espeholt et al. (2020) for the rest. */
    struct fulcrum_r2d2_shape shape = {.height = 84,
        .width = 84,
        .channel_count = 4,
        .filters = {{32, 8, 4}, {64, 4, 2}, {64, 3, 1}},
        .dense_count = 512,
        .lstm_count = 512,
        .head_count = 512,
        .action_count = action_count};
    return shape;
}

size_t fulcrum_r2d2_image_byte(const struct fulcrum_r2d2_options *options)
{
    const struct fulcrum_r2d2_shape *shape = &options->shape;
    return shape->height * shape->width * shape->channel_count;
}

size_t fulcrum_r2d2_replay_rows(const struct fulcrum_r2d2_options *options)
{
    return (options->train_burn_in + options->train_unroll + 1) * options->train_batch;
}

void fulcrum_r2d2_replay_fill(const struct fulcrum_r2d2_replay *replay,
    const struct fulcrum_r2d2_options *options, struct fulcrum_random *random)
{
    size_t rows = fulcrum_r2d2_replay_rows(options);
    size_t count = rows + options->train_batch;
    uint64_t actions = options->shape.action_count;
    size_t byte_count = rows * fulcrum_r2d2_image_byte(options);
    for (size_t i = 0; i < byte_count; i += sizeof(uint64_t)) {
        uint64_t bits = fulcrum_random_bits(random);
        size_t left = byte_count - i;
        memcpy(replay->image + i, &bits, left < sizeof bits ? left : sizeof bits);
    }
    for (size_t i = 0; i < count; i++) {
        replay->action[i] = (int)(fulcrum_random_bits(random) % actions);
        replay->reward[i] = (float)fulcrum_random_between(random, -1.0, 1.0);
    }
}

struct fulcrum_network_cost fulcrum_r2d2_cost_of(
    const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_options *options)
{
    /* Multiply-adds per observation: up to the LSTM, and with the heads. */
    double core =
        fulcrum_linear_mac_count(&layers->dense) + lstm_mac_count(&layers->lstm);
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        core += fulcrum_conv_mac_count(&layers->conv[i]);
    }
    double all = core + fulcrum_linear_mac_count(&layers->value_hidden) +
                 fulcrum_linear_mac_count(&layers->value) +
                 fulcrum_linear_mac_count(&layers->advantage_hidden) +
                 fulcrum_linear_mac_count(&layers->advantage);
    double burn_in = (double)options->train_burn_in;
    double unroll = (double)options->train_unroll;
    /* Two networks go forward. Backward: gradients of weights and of inputs, but not of
     * the images; the step after the segment has none. */
    double mac_count = 2.0 * (burn_in * core + (unroll + 1.0) * all) +
                       unroll * (2.0 * all - fulcrum_conv_mac_count(&layers->conv[0]));
    return (struct fulcrum_network_cost){.parameter_count = layers->parameter_count,
        .forward_flop = 2.0 * all,
        .train_step_flop = 2.0 * (double)options->train_batch * mac_count};
}
