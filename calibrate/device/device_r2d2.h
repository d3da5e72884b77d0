/* device_r2d2.h - the R2D2 network on a compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_DEVICE_R2D2_H
#define FULCRUM_CALIBRATE_DEVICE_DEVICE_R2D2_H

#include "calibrate/device/compute.h"
#include "calibrate/device/device_layers.h"
#include "calibrate/network/r2d2_layers.h"
#include "calibrate/network/r2d2_task.h"

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
