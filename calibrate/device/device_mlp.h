/* device_mlp.h - the perceptron with policy and value on a compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_DEVICE_MLP_H
#define FULCRUM_CALIBRATE_DEVICE_DEVICE_MLP_H

#include "calibrate/device/compute.h"
#include "calibrate/network/mlp_task.h"

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

#endif
