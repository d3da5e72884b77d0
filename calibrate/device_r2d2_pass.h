/* device_r2d2_pass.h - the R2D2 network on a device: buffers and passes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_R2D2_PASS_H
#define FULCRUM_CALIBRATE_DEVICE_R2D2_PASS_H

#include "calibrate/device_layers.h"
#include "calibrate/r2d2_layers.h"

/*
 * As struct fulcrum_r2d2_trace and struct fulcrum_r2d2_gradients, with places for
 * arrays. What stands in for r2d2_pass.c and r2d2_images.c is here.
 */
struct fulcrum_device_r2d2_trace {
    size_t conv_row_count; /* rows that the first convolutions have room for */
    fulcrum_place conv[FULCRUM_R2D2_CONV_COUNT];
    fulcrum_place dense;
    fulcrum_place core_input;
    struct fulcrum_device_lstm_trace core;
    fulcrum_place value_hidden;
    fulcrum_place value;
    fulcrum_place advantage_hidden;
    fulcrum_place advantage;
    fulcrum_place q;
};

struct fulcrum_device_r2d2_gradients {
    fulcrum_place parameters;
    fulcrum_place q;
    fulcrum_place advantage;
    fulcrum_place value;
    fulcrum_place head_hidden;
    fulcrum_place head_input;
    struct fulcrum_device_lstm_gradients core;
    fulcrum_place core_input;
    fulcrum_place dense;
    fulcrum_place conv;
};

/* Row t * batch_count + i is step t of sequence i; actions are floats on a device. */
struct fulcrum_device_r2d2_batch {
    size_t step_count;
    size_t batch_count;
    fulcrum_place image; /* bytes */
    size_t first_byte;   /* of the first image, from the place on */
    fulcrum_place last_action;
    fulcrum_place last_reward;
};

/* What all passes of one network share. */
struct fulcrum_device_r2d2_net {
    struct fulcrum_compute compute;
    struct fulcrum_r2d2_layers layers;
    size_t chunk; /* images that go through the convolutions together */
    fulcrum_place column;
    fulcrum_place gradient[FULCRUM_R2D2_CONV_COUNT - 1];
    fulcrum_place sums;
};

/* Chunk, and room for it and for sums of at most `row_count` rows. */
void fulcrum_device_r2d2_net_take(
    struct fulcrum_device_r2d2_net *net, struct fulcrum_arena *arena, size_t row_count);

/* Room for at most step_count x batch_count rows. */
struct fulcrum_device_r2d2_trace fulcrum_device_r2d2_trace_take(
    const struct fulcrum_device_r2d2_net *net, struct fulcrum_arena *arena,
    size_t step_count, size_t batch_count, enum fulcrum_r2d2_keep keep);
struct fulcrum_device_r2d2_gradients fulcrum_device_r2d2_gradients_take(
    const struct fulcrum_device_r2d2_net *net, struct fulcrum_arena *arena,
    size_t step_count, size_t batch_count);

/*
 * One step for each row, the state in step 0 of the trace's core being replaced; then
 * the heads, whose action values are left in `q`.
 */
void fulcrum_device_r2d2_infer_batch(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    struct fulcrum_device_r2d2_trace *trace);

/* From the images to the LSTM, whose state before is step 0 of the trace's core. */
void fulcrum_device_r2d2_forward_core(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    struct fulcrum_device_r2d2_trace *trace);

/* From the LSTM to the action values of every row. */
void fulcrum_device_r2d2_forward_heads(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_trace *trace);

/* As fulcrum_r2d2_backward_layers. */
void fulcrum_device_r2d2_backward(const struct fulcrum_device_r2d2_net *net,
    fulcrum_place parameters, const struct fulcrum_device_r2d2_batch *batch,
    const struct fulcrum_device_r2d2_trace *trace,
    const struct fulcrum_device_r2d2_gradients *gradients);

#endif
