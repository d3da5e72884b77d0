/* device_layers.h - the layers of networks, forward and backward on a device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_DEVICE_LAYERS_H
#define FULCRUM_CALIBRATE_DEVICE_DEVICE_LAYERS_H

#include "calibrate/device/compute.h"
#include "calibrate/network/layer.h"
#include "calibrate/network/layer_pass.h"

/*
 * As struct fulcrum_pass of layer.h, with places for arrays. Gradients of parameters
 * are added to, gradients of inputs are set, or left where they are nowhere.
 */
struct fulcrum_device_pass {
    const struct fulcrum_compute *compute;
    fulcrum_place parameters; /* of the whole network */
    size_t row_count;
    fulcrum_place input;
    int input_is_bytes;      /* convolutions: pixels are bytes that stand for 0 to 1 */
    size_t input_first_byte; /* then: where the first image begins */
    fulcrum_place output;
    fulcrum_place column;    /* convolutions: room for column_count floats per row */
    fulcrum_place sums;      /* backward: the scratch of sums of rows */
    fulcrum_place gradients; /* of the parameters of the whole network */
    fulcrum_place output_gradient; /* overwritten */
    fulcrum_place input_gradient;
};

/* As layer_pass.h. */
void fulcrum_device_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_device_pass *pass);
void fulcrum_device_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_device_pass *pass);
void fulcrum_device_dense_forward(
    const struct fulcrum_dense *layer, const struct fulcrum_device_pass *pass);
void fulcrum_device_dense_backward(
    const struct fulcrum_dense *layer, const struct fulcrum_device_pass *pass);

/* As struct fulcrum_lstm_trace: hidden and cell have one step more, the state before.
 */
struct fulcrum_device_lstm_trace {
    size_t step_count;
    size_t batch_count;
    fulcrum_place gates;
    fulcrum_place cell;
    fulcrum_place cell_tanh;
    fulcrum_place hidden;
};

/* As struct fulcrum_lstm_gradients. */
struct fulcrum_device_lstm_gradients {
    fulcrum_place hidden;
    fulcrum_place gates;
    fulcrum_place cell;
    fulcrum_place recurrent;
};

/* Over all steps of the trace, from its step 0 on. */
void fulcrum_device_lstm_forward(const struct fulcrum_lstm *layer,
    const struct fulcrum_device_pass *pass,
    const struct fulcrum_device_lstm_trace *trace);

/* One step whose state after it replaces the one before: `batch_count` rows. */
void fulcrum_device_lstm_advance(const struct fulcrum_lstm *layer,
    const struct fulcrum_device_pass *pass,
    const struct fulcrum_device_lstm_trace *trace);

/* Through the first row_count / batch_count steps. */
void fulcrum_device_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_device_pass *pass,
    const struct fulcrum_device_lstm_trace *trace,
    const struct fulcrum_device_lstm_gradients *gradients);

/* As layer_pass.h. */
void fulcrum_device_duel_forward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place value, fulcrum_place advantage,
    fulcrum_place q);
void fulcrum_device_duel_backward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place q_gradient, fulcrum_place value_gradient,
    fulcrum_place advantage_gradient);

#endif
