/* r2d2_layers.c - the layers of the R2D2 network: shapes, parameters and buffers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/r2d2_layers.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "calibrate/network/layer.h"

/* The buffers of one owner: taken one by one, freed together. */

void *fulcrum_pool_take(struct fulcrum_pool *pool, size_t count, size_t element_byte)
{
    assert(pool->item_count < FULCRUM_POOL_CAPACITY);
    void *item = calloc(count > 0 ? count : 1, element_byte);
    if (item == NULL) {
        pool->is_exhausted = 1;
        return NULL;
    }
    pool->items[pool->item_count] = item;
    pool->item_count++;
    pool->taken_byte += count * element_byte;
    return item;
}

float *fulcrum_pool_take_floats(struct fulcrum_pool *pool, size_t count)
{
    return fulcrum_pool_take(pool, count, sizeof(float));
}

void fulcrum_pool_clear(struct fulcrum_pool *pool)
{
    for (size_t i = 0; i < pool->item_count; i++) {
        free(pool->items[i]);
    }
    *pool = (struct fulcrum_pool){.item_count = 0};
}

/* Places a layer's parameters after those before it. */
static size_t place(struct fulcrum_r2d2_layers *layers, size_t count)
{
    size_t offset = layers->parameter_count;
    layers->parameter_count += count;
    return offset;
}

/* Returns the elements of one output image of the last convolution. */
static size_t make_convolutions(
    struct fulcrum_r2d2_layers *layers, const struct fulcrum_r2d2_shape *shape)
{
    size_t height = shape->height;
    size_t width = shape->width;
    size_t channels = shape->channel_count;
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        const struct fulcrum_r2d2_filters *filters = &shape->filters[i];
        struct fulcrum_conv *conv = &layers->conv[i];
        assert(filters->kernel <= height && filters->kernel <= width);
        *conv = (struct fulcrum_conv){.height = height,
            .width = width,
            .channel_count = channels,
            .filter_count = filters->filter_count,
            .kernel = filters->kernel,
            .stride = filters->stride};
        conv->offset = place(layers, fulcrum_conv_parameter_count(conv));
        height = fulcrum_conv_window_count(conv, height);
        width = fulcrum_conv_window_count(conv, width);
        channels = filters->filter_count;
    }
    return height * width * channels;
}

static struct fulcrum_dense make_dense(struct fulcrum_r2d2_layers *layers,
    size_t input_count, size_t output_count, enum fulcrum_activation activation)
{
    struct fulcrum_dense dense = {.input_count = input_count,
        .output_count = output_count,
        .activation = activation};
    dense.offset = place(layers, fulcrum_dense_parameter_count(&dense));
    return dense;
}

struct fulcrum_r2d2_layers fulcrum_r2d2_layers_make(
    const struct fulcrum_r2d2_shape *shape)
{
    struct fulcrum_r2d2_layers layers = {.action_count = shape->action_count};
    size_t flat = make_convolutions(&layers, shape);
    layers.dense = make_dense(&layers, flat, shape->dense_count, FULCRUM_RELU);
    layers.lstm = (struct fulcrum_lstm){
        .input_count = shape->dense_count + 1 + shape->action_count,
        .unit_count = shape->lstm_count};
    layers.lstm.offset = place(&layers, fulcrum_lstm_parameter_count(&layers.lstm));
    layers.value_hidden =
        make_dense(&layers, shape->lstm_count, shape->head_count, FULCRUM_RELU);
    layers.value = make_dense(&layers, shape->head_count, 1, FULCRUM_LINEAR);
    layers.advantage_hidden =
        make_dense(&layers, shape->lstm_count, shape->head_count, FULCRUM_RELU);
    layers.advantage =
        make_dense(&layers, shape->head_count, shape->action_count, FULCRUM_LINEAR);
    return layers;
}

void fulcrum_r2d2_layers_init(const struct fulcrum_r2d2_layers *layers,
    float *parameters, struct fulcrum_random *random)
{
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        fulcrum_conv_init(&layers->conv[i], parameters, random);
    }
    fulcrum_dense_init(&layers->dense, parameters, random);
    fulcrum_lstm_init(&layers->lstm, parameters, random);
    fulcrum_dense_init(&layers->value_hidden, parameters, random);
    fulcrum_dense_init(&layers->value, parameters, random);
    fulcrum_dense_init(&layers->advantage_hidden, parameters, random);
    fulcrum_dense_init(&layers->advantage, parameters, random);
}

double fulcrum_r2d2_first_mac_count(const struct fulcrum_r2d2_layers *layers)
{
    return fulcrum_conv_mac_count(&layers->conv[0]);
}

double fulcrum_r2d2_core_mac_count(const struct fulcrum_r2d2_layers *layers)
{
    double count =
        fulcrum_dense_mac_count(&layers->dense) + fulcrum_lstm_mac_count(&layers->lstm);
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        count += fulcrum_conv_mac_count(&layers->conv[i]);
    }
    return count;
}

double fulcrum_r2d2_head_mac_count(const struct fulcrum_r2d2_layers *layers)
{
    return fulcrum_dense_mac_count(&layers->value_hidden) +
           fulcrum_dense_mac_count(&layers->value) +
           fulcrum_dense_mac_count(&layers->advantage_hidden) +
           fulcrum_dense_mac_count(&layers->advantage);
}

struct fulcrum_r2d2_scratch fulcrum_r2d2_scratch_take(
    const struct fulcrum_r2d2_layers *layers, struct fulcrum_pool *pool)
{
    const struct fulcrum_conv *first = &layers->conv[0];
    size_t image_size = first->height * first->width * first->channel_count;
    size_t column_count = 0;
    struct fulcrum_r2d2_scratch scratch = {NULL, NULL, {NULL}};
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        size_t count = fulcrum_conv_column_count(&layers->conv[i]);
        column_count = count > column_count ? count : column_count;
    }
    for (size_t i = 0; i + 1 < FULCRUM_R2D2_CONV_COUNT; i++) {
        scratch.gradient[i] = fulcrum_pool_take_floats(
            pool, FULCRUM_R2D2_CHUNK * fulcrum_conv_output_count(&layers->conv[i]));
    }
    scratch.image = fulcrum_pool_take_floats(pool, FULCRUM_R2D2_CHUNK * image_size);
    scratch.column = fulcrum_pool_take_floats(pool, FULCRUM_R2D2_CHUNK * column_count);
    return scratch;
}

static struct fulcrum_lstm_trace take_core(const struct fulcrum_lstm *layer,
    struct fulcrum_pool *pool, size_t step_count, size_t batch_count)
{
    size_t count = step_count * batch_count * layer->unit_count;
    size_t with_start = count + batch_count * layer->unit_count;
    struct fulcrum_lstm_trace trace = {.step_count = step_count,
        .batch_count = batch_count,
        .gates = fulcrum_pool_take_floats(pool, 4 * count),
        .cell = fulcrum_pool_take_floats(pool, with_start),
        .cell_tanh = fulcrum_pool_take_floats(pool, count),
        .hidden = fulcrum_pool_take_floats(pool, with_start)};
    return trace;
}

struct fulcrum_r2d2_trace fulcrum_r2d2_trace_take(
    const struct fulcrum_r2d2_layers *layers, struct fulcrum_pool *pool,
    size_t step_count, size_t batch_count, enum fulcrum_r2d2_keep keep)
{
    size_t rows = step_count * batch_count;
    size_t head = layers->value_hidden.output_count;
    struct fulcrum_r2d2_trace trace = {
        .conv_row_count = keep == FULCRUM_R2D2_KEEP_ALL ? rows : FULCRUM_R2D2_CHUNK,
        .dense = fulcrum_pool_take_floats(pool, rows * layers->dense.output_count),
        .core_input = fulcrum_pool_take_floats(pool, rows * layers->lstm.input_count),
        .core = take_core(&layers->lstm, pool, step_count, batch_count),
        .value_hidden = fulcrum_pool_take_floats(pool, rows * head),
        .value = fulcrum_pool_take_floats(pool, rows),
        .advantage_hidden = fulcrum_pool_take_floats(pool, rows * head),
        .advantage = fulcrum_pool_take_floats(pool, rows * layers->action_count),
        .q = fulcrum_pool_take_floats(pool, rows * layers->action_count)};
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        size_t kept = i + 1 < FULCRUM_R2D2_CONV_COUNT ? trace.conv_row_count : rows;
        trace.conv[i] = fulcrum_pool_take_floats(
            pool, kept * fulcrum_conv_output_count(&layers->conv[i]));
    }
    return trace;
}

struct fulcrum_r2d2_gradients fulcrum_r2d2_gradients_take(
    const struct fulcrum_r2d2_layers *layers, struct fulcrum_pool *pool,
    size_t step_count, size_t batch_count)
{
    size_t rows = step_count * batch_count;
    size_t units = layers->lstm.unit_count;
    size_t head = layers->value_hidden.output_count;
    struct fulcrum_r2d2_gradients gradients = {
        .parameters = fulcrum_pool_take_floats(pool, layers->parameter_count),
        .q = fulcrum_pool_take_floats(pool, rows * layers->action_count),
        .advantage = fulcrum_pool_take_floats(pool, rows * layers->action_count),
        .value = fulcrum_pool_take_floats(pool, rows),
        .head_hidden = fulcrum_pool_take_floats(pool, rows * head),
        .head_input = fulcrum_pool_take_floats(pool, rows * units),
        .core = {.hidden = fulcrum_pool_take_floats(pool, rows * units),
            .gates = fulcrum_pool_take_floats(pool, 4 * rows * units),
            .cell = fulcrum_pool_take_floats(pool, batch_count * units),
            .recurrent = fulcrum_pool_take_floats(pool, batch_count * units)},
        .core_input = fulcrum_pool_take_floats(pool, rows * layers->lstm.input_count),
        .dense = fulcrum_pool_take_floats(pool, rows * layers->dense.output_count),
        .conv = fulcrum_pool_take_floats(pool, rows * layers->dense.input_count)};
    return gradients;
}
