/* device_plain.h - the kernels of devices as C, run on the calling thread. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_DEVICE_PLAIN_H
#define FULCRUM_TESTS_DEVICE_PLAIN_H

#include <stddef.h>

#include "calibrate/device/compute.h"

/* A device without a driver: what a launch or a product does, it does at once. So the
 * kernels' text and everything above struct fulcrum_device can be tested anywhere.
 * Narrow as a CPU, one item to a row; its sm_count is 4, and grant gives what it is
 * asked for. */
extern const struct fulcrum_device device_plain;

/* As a GPU: wide, with several items to a row, products by tiles. */
extern const struct fulcrum_device device_plain_wide;

/* Runs every item of a launch on an arena of the caller's: for drivers that are fakes.
 */
void device_plain_run(float *arena, const struct fulcrum_device_launch *launch);

/* From now on the n-th call of either device that queues something fails, as devices
 * do: finish tells, nothing is done meanwhile. `reserve` counts and fails at once. 0:
 * none fails. */
void device_plain_fail_at(size_t call);

/* Calls that counted since then. */
size_t device_plain_call_count(void);

#endif
