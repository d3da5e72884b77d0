/* networks.h - the networks on a device, and the passes through their layers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_NETWORKS_H
#define FULCRUM_CALIBRATE_DEVICE_NETWORKS_H

#include "calibrate/device/compute.h"
#include "calibrate/device/learner.h"
#include "calibrate/network/layer.h"

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
void fulcrum_linear_forward(
    const struct fulcrum_linear *layer, const struct fulcrum_pass *pass);

/* Reads `output` as the forward pass left it. */
void fulcrum_linear_backward(
    const struct fulcrum_linear *layer, const struct fulcrum_pass *pass);

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

/* The size of network that continuous control is trained with. */
struct fulcrum_mlp_options {
    size_t input_count;
    bool takes_bytes;    /* that become floats in [0, 1]; else floats */
    size_t hidden_count; /* of each of the three hidden layers, ReLU */
    size_t action_count;
    size_t max_batch;
    size_t train_batch;
    uint64_t seed;
};

/*
 * The state of a learner is a network with what it is trained on: one batch of random
 * rows, the same in every training step unless the caller loads others. The work of a
 * step does not depend on what they show, so this is equal work and no learning. First
 * weights, rows and order of operations are the same on every device.
 *
 * The recurrent network trained from a replay, and the perceptron with policy and
 * value. Reserves the device's arena. The device is borrowed and outlives the network.
 *   out      set on success only; the caller frees it with fulcrum_network_free
 *   fails    FULCRUM_ERR_NO_MEMORY, or as the device
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_r2d2_new(
    struct fulcrum_learner_state **out, const struct fulcrum_compute *compute,
    const struct fulcrum_r2d2_options *options, struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_mlp_new(
    struct fulcrum_learner_state **out, const struct fulcrum_compute *compute,
    const struct fulcrum_mlp_options *options, struct fulcrum_error *err);

void fulcrum_network_free(struct fulcrum_learner_state *network);

/*
 * Members of struct fulcrum_learner: input, forward, train, train_rows, take_rows,
 * read_weights, write_weights and grant. R2D2's last action is the one inferred before,
 * the last reward is taken as zero, and episodes are never reset; now and then its
 * target network is renewed.
 */
void *fulcrum_network_input(struct fulcrum_learner_state *network);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_infer(
    struct fulcrum_learner_state *network, size_t batch, int *action,
    struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_train(
    struct fulcrum_learner_state *network, double *loss, struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_rows(
    struct fulcrum_learner_state *network, struct fulcrum_train_rows *out,
    struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_load_rows(
    struct fulcrum_learner_state *network, struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_read_weights(
    struct fulcrum_learner_state *network, float *out, struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_write_weights(
    struct fulcrum_learner_state *network, const float *weights,
    struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_grant(
    struct fulcrum_learner_state *network, double sm_count, double *granted,
    struct fulcrum_error *err);

/* A network from outside: its device, sizes and arrays. */
struct fulcrum_network_places {
    struct fulcrum_compute compute;
    size_t input_byte;                /* of one observation */
    struct fulcrum_network_cost cost; /* its memory is that on the device */
    fulcrum_place parameters;
    fulcrum_place target_parameters; /* nowhere without a target network */
    fulcrum_place gradients;         /* in the order of the parameters */
    fulcrum_place inferred;          /* values, or means and value, of the last batch */
};

struct fulcrum_network_places fulcrum_network_places_of(
    const struct fulcrum_learner_state *network);

#endif
