/* networks.h - the networks on the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_NETWORKS_H
#define FULCRUM_CALIBRATE_NETWORK_NETWORKS_H

#include <stddef.h>

#include "calibrate/network/r2d2_layers.h"
#include "calibrate/network/task.h"
#include "model/status.h"

/* The perceptron with policy and value, trained by PPO. */

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

/* The R2D2 network: recurrent inference and training from replay. */

struct fulcrum_r2d2; /* opaque */

/*
 * The replay is one batch of random images, actions and rewards, the same in every
 * training step unless the caller writes others: the work of a step does not depend on
 * what the images show. So this measures training and learns nothing.
 *   out      set on success only; the caller frees it with fulcrum_r2d2_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_r2d2_new(struct fulcrum_r2d2 **out,
    const struct fulcrum_r2d2_options *options, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_r2d2_free(struct fulcrum_r2d2 *network);

/* Borrowed: max_batch images. */
uint8_t *fulcrum_r2d2_input(struct fulcrum_r2d2 *network);

/*
 * Infers the first `batch` images of the input. Each has a recurrent state of its own,
 * which this call advances; the last action is the one inferred before, the last reward
 * is taken as zero, and episodes are never reset.
 * Returns the action values, action_count per image; borrowed until the next call.
 */
const float *fulcrum_r2d2_forward(struct fulcrum_r2d2 *network, size_t batch);

/* fulcrum_r2d2_forward, and the best action of each image. */
void fulcrum_r2d2_infer(struct fulcrum_r2d2 *network, size_t batch, int *action);

/* Borrowed: what training steps are made on, for the caller to write to. */
struct fulcrum_r2d2_replay fulcrum_r2d2_replay_data(const struct fulcrum_r2d2 *network);

/* Forward passes of the replay through both networks. Returns the loss. */
double fulcrum_r2d2_loss(struct fulcrum_r2d2 *network);

/* After fulcrum_r2d2_loss: sets the gradients of the parameters. */
void fulcrum_r2d2_backward(struct fulcrum_r2d2 *network);

/* Loss, backward, Adam; now and then the target network is renewed. Returns the loss.
 */
double fulcrum_r2d2_train(struct fulcrum_r2d2 *network);

/* Borrowed. What follows is for tests and reports. */
const struct fulcrum_r2d2_layers *fulcrum_r2d2_layers_of(
    const struct fulcrum_r2d2 *network);

/* All steps, burn-in first; actions and rewards have one step more than the images. */
struct fulcrum_r2d2_batch fulcrum_r2d2_replay(const struct fulcrum_r2d2 *network);

/* Borrowed: of the network that is trained, each layer at its offset. */
float *fulcrum_r2d2_parameters(struct fulcrum_r2d2 *network);

/* Borrowed: of the loss, in the order of the parameters. */
const float *fulcrum_r2d2_gradients(const struct fulcrum_r2d2 *network);

/* Work and memory, counted from the layers' sizes. */
struct fulcrum_network_cost fulcrum_r2d2_cost(const struct fulcrum_r2d2 *network);

#endif
