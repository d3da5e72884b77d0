/* networks.h - the networks on a device, and the passes through their layers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_NETWORKS_H
#define FULCRUM_CALIBRATE_DEVICE_NETWORKS_H

#include "calibrate/device/compute.h"
#include "calibrate/network/layer.h"
#include "calibrate/network/task.h"

/*
 * What every layer is given for a pass through it. All arrays are row-major, one row
 * per sample. The members below `column` are read by backward passes alone; gradients
 * of parameters are added to, gradients of inputs are set, or left where they are
 * nowhere.
 */
struct fulcrum_pass {
    const struct fulcrum_compute *compute;
    fulcrum_place parameters; /* of the whole network */
    size_t row_count;
    fulcrum_place input;
    bool input_is_bytes;     /* convolutions: pixels are bytes that stand for 0 to 1 */
    size_t input_first_byte; /* then: where the first image begins */
    fulcrum_place output;
    fulcrum_place column;    /* convolutions: room for column_count floats per row */
    fulcrum_place sums;      /* the scratch of sums of rows */
    fulcrum_place gradients; /* of the parameters of the whole network */
    fulcrum_place output_gradient; /* overwritten */
    fulcrum_place input_gradient;
};

/* One row is one image. Lays all windows out as rows of one matrix (im2col). */
void fulcrum_conv_forward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass);

/* Reads `output` as the forward pass left it; `column` is laid out again. */
void fulcrum_conv_backward(
    const struct fulcrum_conv *layer, const struct fulcrum_pass *pass);

/* input: row_count x input_count, output: row_count x output_count. */
void fulcrum_dense_forward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass);

/* Reads `output` as the forward pass left it. */
void fulcrum_dense_backward(
    const struct fulcrum_dense *layer, const struct fulcrum_pass *pass);

/*
 * Sequences of equal length side by side: row i of step t is row t * batch_count + i.
 * `hidden` and `cell` have one step more than the others: step 0 is the state before.
 */
struct fulcrum_lstm_trace {
    size_t step_count;
    size_t batch_count;
    fulcrum_place gates;     /* 4 unit_count per row */
    fulcrum_place cell;      /* unit_count per row */
    fulcrum_place cell_tanh; /* unit_count per row */
    fulcrum_place hidden;    /* unit_count per row */
};

/* What the backward pass through time works on, beside the trace. */
struct fulcrum_lstm_gradients {
    fulcrum_place hidden;    /* in: of each step's output, without the recurrent part */
    fulcrum_place gates;     /* scratch, as the trace's */
    fulcrum_place cell;      /* scratch, batch_count x unit_count */
    fulcrum_place recurrent; /* scratch, batch_count x unit_count */
};

/* Over all steps of the trace, from its step 0 on. */
void fulcrum_lstm_forward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace);

/* One step whose state after it replaces the one before: `batch_count` rows. */
void fulcrum_lstm_advance(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace);

/*
 * Backward through the first row_count / batch_count steps of the trace. The state
 * before is a constant.
 */
void fulcrum_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients);

/* How many rows, and how many actions each has. */
struct fulcrum_duel {
    size_t row_count;
    size_t action_count;
};

/* q = value + advantage - mean advantage: Wang et al. (2016), equation 9. */
void fulcrum_duel_forward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place value, fulcrum_place advantage,
    fulcrum_place q);

/* Sets the gradients of one value and action_count advantages per row. */
void fulcrum_duel_backward(const struct fulcrum_compute *compute,
    struct fulcrum_duel shape, fulcrum_place q_gradient, fulcrum_place value_gradient,
    fulcrum_place advantage_gradient);

/*
 * A network with what it is trained on: one batch of random rows, the same in every
 * training step unless the caller loads others. The work of a step does not depend on
 * what they show, so this is equal work and no learning. First weights, rows and order
 * of operations are the same on every device.
 */
struct fulcrum_network; /* opaque */

/*
 * The recurrent network trained from a replay, and the perceptron with policy and
 * value. Reserves the device's arena. The device is borrowed and outlives the network.
 *   out      set on success only; the caller frees it with fulcrum_network_free
 *   fails    FULCRUM_ERR_NO_MEMORY, or as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_r2d2_new(struct fulcrum_network **out,
    const struct fulcrum_compute *compute, const struct fulcrum_r2d2_options *options,
    struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_mlp_new(struct fulcrum_network **out,
    const struct fulcrum_compute *compute, const struct fulcrum_mlp_options *options,
    struct fulcrum_error *err);

void fulcrum_network_free(struct fulcrum_network *network);

/* Borrowed: max_batch images or observations, in the host's memory. */
void *fulcrum_network_input(struct fulcrum_network *network);

/*
 * Infers the first `batch` rows of the input, which are uploaded, and waits for their
 * actions: the best value or the largest mean of each. R2D2 keeps a recurrent state per
 * row, which this call advances; the last action is the one inferred before, the last
 * reward is taken as zero, and episodes are never reset.
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_infer(
    struct fulcrum_network *network, size_t batch, int *action,
    struct fulcrum_error *err);

/*
 * Loss, gradients, Adam; of R2D2, now and then the target network is renewed. Waits.
 *   loss     set on success only
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_train(
    struct fulcrum_network *network, double *loss, struct fulcrum_error *err);

/*
 * What it is trained on, for the caller to write to, in the host's memory, which is
 * taken with the first call. R2D2: images and actions (int); MLP: observations, actions
 * and old log probabilities. Rewards, advantages and targets stay as they are.
 *   out      three borrowed arrays, NULL beyond those there are
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_rows(
    struct fulcrum_network *network, void **out, struct fulcrum_error *err);

/*
 * Uploads those rows in place of the ones on the device, and waits.
 *   fails    as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_load_rows(
    struct fulcrum_network *network, struct fulcrum_error *err);

/* Work, and memory on the device. */
struct fulcrum_network_cost fulcrum_network_cost(const struct fulcrum_network *network);

struct fulcrum_network_places {
    fulcrum_place parameters;
    fulcrum_place target_parameters; /* nowhere without a target network */
    fulcrum_place gradients;         /* in the order of the parameters */
    fulcrum_place inferred;          /* values, or means and value, of the last batch */
};

struct fulcrum_network_places fulcrum_network_places_of(
    const struct fulcrum_network *network);

#endif
