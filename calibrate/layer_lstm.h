/* layer_lstm.h - a long short-term memory layer over sequences. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_LAYER_LSTM_H
#define FULCRUM_CALIBRATE_LAYER_LSTM_H

#include "calibrate/layer.h"

/*
 * Parameters: weights 4 unit_count x input_count, recurrent weights
 * 4 unit_count x unit_count, then 4 unit_count biases; the four gates are input,
 * forget, candidate, output, in this order.
 */
struct fulcrum_lstm {
    size_t input_count;
    size_t unit_count;
    size_t offset; /* of its first parameter */
};

/*
 * Sequences of equal length side by side: row i of step t is row t * batch_count + i.
 * `hidden` and `cell` have one step more than the others: step 0 is the state before.
 */
struct fulcrum_lstm_trace {
    size_t step_count;
    size_t batch_count;
    float *gates;     /* 4 unit_count per row */
    float *cell;      /* unit_count per row */
    float *cell_tanh; /* unit_count per row */
    float *hidden;    /* unit_count per row */
};

/* What the backward pass through time works on, beside the trace. */
struct fulcrum_lstm_gradients {
    float *hidden;    /* in: of each step's output, without the recurrent part */
    float *gates;     /* scratch, as the trace's */
    float *cell;      /* scratch, batch_count x unit_count */
    float *recurrent; /* scratch, batch_count x unit_count */
};

/* Sums of one row: four gates of every unit. */
size_t fulcrum_lstm_gate_count(const struct fulcrum_lstm *layer);

/* Of the first recurrent weight. */
size_t fulcrum_lstm_recurrent_offset(const struct fulcrum_lstm *layer);

/* Of the first bias. */
size_t fulcrum_lstm_bias_offset(const struct fulcrum_lstm *layer);

/* Weights and biases: how far the next layer's offset lies beyond its own. */
size_t fulcrum_lstm_parameter_count(const struct fulcrum_lstm *layer);

/* Multiply-adds of the forward pass of one row. */
double fulcrum_lstm_mac_count(const struct fulcrum_lstm *layer);

/* Random weights; biases are zero, but 1 for the forget gates (Gers et al., 2000). */
void fulcrum_lstm_init(
    const struct fulcrum_lstm *layer, float *parameters, struct fulcrum_random *random);

/* Reads the pass's parameters and input; fills the trace from its step 0 on. */
void fulcrum_lstm_forward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace);

/*
 * Backward through the first row_count / batch_count steps of the trace. Sets the
 * pass's input_gradient and adds to its gradients. The state before is a constant.
 */
void fulcrum_lstm_backward(const struct fulcrum_lstm *layer,
    const struct fulcrum_pass *pass, const struct fulcrum_lstm_trace *trace,
    const struct fulcrum_lstm_gradients *gradients);

#endif
