/* network_mlp.h - the perceptron with policy and value, trained by PPO. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_NETWORK_MLP_H
#define FULCRUM_CALIBRATE_NETWORK_NETWORK_MLP_H

#include <stddef.h>

#include "calibrate/network/mlp_task.h"
#include "model/status.h"

struct fulcrum_mlp; /* opaque */

/*
 * The minibatch is one batch of random observations, actions and advantages, the same
 * in every training step unless the caller writes others: equal work, not learning. Its
 * old probabilities are near those of the first policy, so that some samples are
 * clipped and some are not.
 *   out      set on success only; the caller frees it with fulcrum_mlp_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_mlp_new(struct fulcrum_mlp **out,
    const struct fulcrum_mlp_options *options, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_mlp_free(struct fulcrum_mlp *network);

/* Borrowed: max_batch observations of input_count floats. */
float *fulcrum_mlp_input(struct fulcrum_mlp *network);

/*
 * Infers the first `batch` observations of the input. Returns rows of action_count
 * means and one value; borrowed until the next call.
 */
const float *fulcrum_mlp_forward(struct fulcrum_mlp *network, size_t batch);

/* fulcrum_mlp_forward, and the action of the largest mean of each observation. */
void fulcrum_mlp_infer(struct fulcrum_mlp *network, size_t batch, int *action);

/* Borrowed: what training steps are made on, for the caller to write to. */
struct fulcrum_mlp_minibatch fulcrum_mlp_minibatch_data(
    const struct fulcrum_mlp *network);

/* Forward pass of the minibatch. Returns the loss. */
double fulcrum_mlp_loss(struct fulcrum_mlp *network);

/* After fulcrum_mlp_loss: completes the gradients of the parameters. */
void fulcrum_mlp_backward(struct fulcrum_mlp *network);

/* Loss, backward, Adam. Returns the loss. */
double fulcrum_mlp_train(struct fulcrum_mlp *network);

/* Borrowed: three hidden layers, the output layer, log standard deviations. */
float *fulcrum_mlp_parameters(struct fulcrum_mlp *network);
/* Borrowed: of the loss, in the order of the parameters. */
const float *fulcrum_mlp_gradients(const struct fulcrum_mlp *network);
/* Work and memory, counted from the layers' sizes. */
struct fulcrum_network_cost fulcrum_mlp_cost(const struct fulcrum_mlp *network);

#endif
