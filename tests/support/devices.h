/* devices.h - the compute devices that tests run on, opened one by one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_DEVICES_H
#define FULCRUM_TESTS_DEVICES_H

#include <stddef.h>

#include "calibrate/device/compute.h"

/* The host, plain C, plain C as a GPU, and real ones; NULL beyond the last. A real one
 * may not be available here. FULCRUM_TEST_DEVICE in the environment names the only
 * one. */
const struct fulcrum_device *devices_at(size_t i);

/* 0, and a line that says why, where the device is not available here. */
int devices_open(const struct fulcrum_device *device, struct fulcrum_compute *out);

/* Closes what devices_open opened. */
void devices_close(struct fulcrum_compute *compute);

enum { DEVICES_ROOM = 1 << 20 };

/* Runs a case on every device that is there, each with an arena of DEVICES_ROOM. */
void devices_run(void (*run)(const struct fulcrum_compute *compute));

/* A case that runs so. */
#define DEVICE_TEST(function)                                                          \
    TEST_EACH(function, devices_run, const struct fulcrum_compute *compute)

/* Waits, and asserts that nothing failed. */
void devices_finish(const struct fulcrum_compute *compute);

/* Copies `count` floats to a place, and from one; the latter waits. */
void devices_write(const struct fulcrum_compute *compute, fulcrum_place to,
    const float *from, size_t count);
void devices_read(
    const struct fulcrum_compute *compute, float *to, fulcrum_place from, size_t count);

/* What is expected of an array: within `tolerance` of the largest of its values. */
struct devices_array {
    const float *values;
    size_t count;
    double tolerance;
};

/* Asserts it of the array at a place, which it waits for. */
void devices_assert(const struct fulcrum_compute *compute, const char *what,
    fulcrum_place place, const struct devices_array *expected);

/* Kapturowski et al. (2019), proposition A.2, and its inverse, by bisection. */
double devices_rescaled(double value);
double devices_unscaled(double value);

#endif
