/* r2d2_layers.h - the layers of the R2D2 network and the passes through them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_R2D2_LAYERS_H
#define FULCRUM_CALIBRATE_NETWORK_R2D2_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/network/layer.h"

/* The buffers of one owner: taken one by one, freed together. */

enum { FULCRUM_POOL_CAPACITY = 96 };

/* {0} is an empty pool. */
struct fulcrum_pool {
    void *items[FULCRUM_POOL_CAPACITY];
    size_t item_count;
    size_t taken_byte;
    bool is_exhausted; /* 1 once memory ran out; look at it after the last take */
};

/*
 * Zeroed room for `count` elements, at least one. One allocation per buffer, so that
 * a sanitizer sees an overrun. Borrowed from the pool; NULL when memory ran out.
 */
void *fulcrum_pool_take(struct fulcrum_pool *pool, size_t count, size_t element_byte);

/* fulcrum_pool_take of floats. */
float *fulcrum_pool_take_floats(struct fulcrum_pool *pool, size_t count);

/* Frees every buffer; the pool is empty again. */
void fulcrum_pool_clear(struct fulcrum_pool *pool);

enum { FULCRUM_R2D2_CONV_COUNT = 3 };

struct fulcrum_r2d2_filters {
    size_t filter_count;
    size_t kernel;
    size_t stride;
};

/* Every size of the network; tests use small ones. */
struct fulcrum_r2d2_shape {
    size_t height;
    size_t width;
    size_t channel_count;
    struct fulcrum_r2d2_filters filters[FULCRUM_R2D2_CONV_COUNT];
    size_t dense_count;
    size_t lstm_count;
    size_t head_count;
    size_t action_count;
};

/*
 * image / 255 -> convolutions -> dense -> (joined with last reward and one-hot last
 * action) -> LSTM -> duelling heads: the Atari agent of SEED RL (Espeholt et al.,
 * 2020).
 */
struct fulcrum_r2d2_layers {
    struct fulcrum_conv conv[FULCRUM_R2D2_CONV_COUNT];
    struct fulcrum_dense dense;
    struct fulcrum_lstm lstm;
    struct fulcrum_dense value_hidden;
    struct fulcrum_dense value;
    struct fulcrum_dense advantage_hidden;
    struct fulcrum_dense advantage;
    size_t action_count;
    size_t parameter_count;
};

/* Row t * batch_count + i is step t of sequence i. */
struct fulcrum_r2d2_batch {
    size_t step_count;
    size_t batch_count;
    const uint8_t *image;
    const int *last_action;
    const float *last_reward;
};

/*
 * Images that go through the convolutions together: this bounds their windows, 0.4 MB
 * an image in the first layer. Between 1 and 16 the speed is the same within 10 %.
 */
enum { FULCRUM_R2D2_CHUNK = 8 };

/* Room of a few images at a time, shared by all passes of one network. */
struct fulcrum_r2d2_scratch {
    float *image;
    float *column;
    float *gradient[FULCRUM_R2D2_CONV_COUNT - 1];
};

/* What one forward pass leaves. The last convolution is kept for every row. */
struct fulcrum_r2d2_trace {
    const struct fulcrum_r2d2_scratch *scratch;
    size_t conv_row_count; /* rows that the first convolutions have room for */
    float *conv[FULCRUM_R2D2_CONV_COUNT];
    float *dense;
    float *core_input;
    struct fulcrum_lstm_trace core;
    float *value_hidden;
    float *value;
    float *advantage_hidden;
    float *advantage;
    float *q;
};

/* Gradients of what a trace holds, for rows that a backward pass covers. */
struct fulcrum_r2d2_gradients {
    float *parameters; /* added to */
    float *q;          /* in */
    float *advantage;
    float *value;
    float *head_hidden;
    float *head_input;
    struct fulcrum_lstm_gradients core;
    float *core_input;
    float *dense;
    float *conv; /* of the last convolution */
};

enum fulcrum_r2d2_keep {
    FULCRUM_R2D2_KEEP_OUTPUTS, /* forward only */
    FULCRUM_R2D2_KEEP_ALL      /* a backward pass follows */
};

/* Asserts that every window fits its image. */
struct fulcrum_r2d2_layers fulcrum_r2d2_layers_make(
    const struct fulcrum_r2d2_shape *shape);

/* Random weights. */
void fulcrum_r2d2_layers_init(const struct fulcrum_r2d2_layers *layers,
    float *parameters, struct fulcrum_random *random);

/* Multiply-adds per observation: up to the LSTM, of the heads, of the first layer. */
double fulcrum_r2d2_core_mac_count(const struct fulcrum_r2d2_layers *layers);

/* Multiply-adds per observation of the heads. */
double fulcrum_r2d2_head_mac_count(const struct fulcrum_r2d2_layers *layers);

/* Multiply-adds per observation of the first layer, which passes no gradient on. */
double fulcrum_r2d2_first_mac_count(const struct fulcrum_r2d2_layers *layers);

/* Buffers from the pool; look at its is_exhausted afterwards. */
struct fulcrum_r2d2_scratch fulcrum_r2d2_scratch_take(
    const struct fulcrum_r2d2_layers *layers, struct fulcrum_pool *pool);

/* Room for at most step_count x batch_count rows. */
struct fulcrum_r2d2_trace fulcrum_r2d2_trace_take(
    const struct fulcrum_r2d2_layers *layers, struct fulcrum_pool *pool,
    size_t step_count, size_t batch_count, enum fulcrum_r2d2_keep keep);

/* Room for the gradients of as many rows, and of every parameter. */
struct fulcrum_r2d2_gradients fulcrum_r2d2_gradients_take(
    const struct fulcrum_r2d2_layers *layers, struct fulcrum_pool *pool,
    size_t step_count, size_t batch_count);

/* From the images to the LSTM, whose state before is step 0 of the trace's core. */
void fulcrum_r2d2_forward_core(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    struct fulcrum_r2d2_trace *trace);

/* From the LSTM to the action values of every row. */
void fulcrum_r2d2_forward_heads(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_trace *trace);

/*
 * Backward through the batch, which may have fewer steps than the trace: those beyond
 * have no gradient. Reads and adds to `gradients`.
 */
void fulcrum_r2d2_backward_layers(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients);

#endif
