/* device_network.h - the networks on a device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_DEVICE_NETWORK_H
#define FULCRUM_CALIBRATE_DEVICE_DEVICE_NETWORK_H

#include "calibrate/device/compute.h"
#include "calibrate/network/layer.h"
#include "calibrate/network/r2d2_layers.h"
#include "calibrate/network/task.h"

/* The layers of networks, forward and backward on a device. */

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

/* The perceptron with policy and value on a compute device. */

struct fulcrum_device_mlp; /* opaque */

/*
 * The network of network_mlp.h, with the same first weights, minibatch and order of
 * operations for the same options. Reserves the device's arena. The device is borrowed
 * and outlives the network.
 *   out      set on success only; the caller frees it with fulcrum_device_mlp_free
 *   fails    FULCRUM_ERR_NO_MEMORY, or as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_mlp_new(
    struct fulcrum_device_mlp **out, const struct fulcrum_compute *compute,
    const struct fulcrum_mlp_options *options, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_device_mlp_free(struct fulcrum_device_mlp *network);

/* Borrowed: max_batch observations of input_count floats, in the host's memory. */
float *fulcrum_device_mlp_input(struct fulcrum_device_mlp *network);

/*
 * As fulcrum_mlp_infer: uploads the observations, downloads the actions, and waits.
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_mlp_infer(
    struct fulcrum_device_mlp *network, size_t batch, int *action,
    struct fulcrum_error *err);

/*
 * As fulcrum_mlp_train; waits until it is done.
 *   loss     set on success only
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_mlp_train(
    struct fulcrum_device_mlp *network, double *loss, struct fulcrum_error *err);

/*
 * Observations, actions and old probabilities of a minibatch for the caller to write
 * to, in the host's memory, which is taken with the first call; borrowed. Advantages
 * and targets stay as they are: NULL here.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_mlp_host_minibatch(
    struct fulcrum_device_mlp *network, struct fulcrum_mlp_minibatch *out,
    struct fulcrum_error *err);

/*
 * Uploads that minibatch in place of the one on the device, and waits.
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_mlp_load_minibatch(
    struct fulcrum_device_mlp *network, struct fulcrum_error *err);

/* Work, and memory on the device. */
struct fulcrum_network_cost fulcrum_device_mlp_cost(
    const struct fulcrum_device_mlp *network);

/* Places of arrays, laid out as those of struct fulcrum_mlp. */
struct fulcrum_device_mlp_places {
    fulcrum_place parameters;
    fulcrum_place gradients;
    fulcrum_place inferred; /* means and value, of the last batch */
};
struct fulcrum_device_mlp_places fulcrum_device_mlp_places_of(
    const struct fulcrum_device_mlp *network);

/* The R2D2 network on a compute device. */

struct fulcrum_device_r2d2; /* opaque */

/*
 * The network of network_r2d2.h, with the same first weights, replay and order of
 * operations for the same options. Reserves the device's arena. The device is borrowed
 * and outlives the network.
 *   out      set on success only; the caller frees it with fulcrum_device_r2d2_free
 *   fails    FULCRUM_ERR_NO_MEMORY, or as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_r2d2_new(
    struct fulcrum_device_r2d2 **out, const struct fulcrum_compute *compute,
    const struct fulcrum_r2d2_options *options, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_device_r2d2_free(struct fulcrum_device_r2d2 *network);

/* Borrowed: max_batch images, in the host's memory. */
uint8_t *fulcrum_device_r2d2_input(struct fulcrum_device_r2d2 *network);

/*
 * As fulcrum_r2d2_infer: uploads the images, downloads the actions, and waits.
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_r2d2_infer(
    struct fulcrum_device_r2d2 *network, size_t batch, int *action,
    struct fulcrum_error *err);

/*
 * As fulcrum_r2d2_train; waits until it is done.
 *   loss     set on success only
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_r2d2_train(
    struct fulcrum_device_r2d2 *network, double *loss, struct fulcrum_error *err);

/*
 * Images and actions of a replay for the caller to write to, in the host's memory,
 * which is taken with the first call; borrowed. Rewards stay as they are: NULL here.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_r2d2_host_replay(
    struct fulcrum_device_r2d2 *network, struct fulcrum_r2d2_replay *out,
    struct fulcrum_error *err);

/*
 * Uploads that replay in place of the one on the device, and waits.
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_device_r2d2_load_replay(
    struct fulcrum_device_r2d2 *network, struct fulcrum_error *err);

/* Work, and memory on the device. */
struct fulcrum_network_cost fulcrum_device_r2d2_cost(
    const struct fulcrum_device_r2d2 *network);

/* Places of arrays, laid out as those of struct fulcrum_r2d2. */
struct fulcrum_device_r2d2_places {
    fulcrum_place parameters;
    fulcrum_place gradients;
    fulcrum_place inferred_q; /* of the last batch */
};

struct fulcrum_device_r2d2_places fulcrum_device_r2d2_places_of(
    const struct fulcrum_device_r2d2 *network);

#endif
