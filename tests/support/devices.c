/* devices.c - the compute devices that tests run on, opened one by one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/devices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/compute.h"
#include "tests/support/device_plain.h"
#include "tests/support/suite.h"

/* What OpenCL would do on a GPU, in groups that share memory, on the device it has. */
static enum fulcrum_status open_wide(const struct fulcrum_device_options *options,
    struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    struct fulcrum_device_options wide = *options;
    wide.is_wide = 1;
    return fulcrum_device_opencl.open(&wide, out, info, err);
}

static const struct fulcrum_device *opencl_wide(void)
{
    static struct fulcrum_device wide;
    wide = fulcrum_device_opencl;
    wide.name = "opencl wide";
    wide.open = open_wide;
    return &wide;
}

static const struct fulcrum_device *any_at(size_t i)
{
    static const struct fulcrum_device *const devices[] = {&fulcrum_device_host,
        &device_plain, &device_plain_wide, &fulcrum_device_cuda,
        &fulcrum_device_opencl};
    size_t count = sizeof devices / sizeof devices[0];
    if (i == count) {
        return opencl_wide();
    }
    return i < count ? devices[i] : NULL;
}

const struct fulcrum_device *devices_at(size_t i)
{
    const char *only = getenv("FULCRUM_TEST_DEVICE");
    if (only == NULL) {
        return any_at(i);
    }
    size_t j = 0;
    while (any_at(j) != NULL && strcmp(any_at(j)->name, only) != 0) {
        j++;
    }
    return i == 0 ? any_at(j) : NULL;
}

int devices_open(const struct fulcrum_device *device, struct fulcrum_compute *out)
{
    struct fulcrum_device_options options = {.index = 0};
    struct fulcrum_device_info info;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    enum fulcrum_status status = device->open(&options, &out->state, &info, &err);
    if (status == FULCRUM_ERR_UNSUPPORTED) {
        (void)printf("    not available here: %s\n", err.detail);
        return 0;
    }
    if (status != FULCRUM_OK) {
        (void)printf("    %s: %s\n", device->name, err.detail);
    }
    ASSERT_OK(status);
    out->device = device;
    out->is_wide = info.is_wide;
    return 1;
}

void devices_close(struct fulcrum_compute *compute)
{
    compute->device->close(compute->state);
    *compute = (struct fulcrum_compute){.device = NULL};
}

void devices_run(void (*run)(const struct fulcrum_compute *compute))
{
    for (size_t i = 0; devices_at(i) != NULL; i++) {
        struct fulcrum_compute compute;
        if (devices_open(devices_at(i), &compute)) {
            ASSERT_OK(compute.device->reserve(compute.state, DEVICES_ROOM, NULL));
            run(&compute);
            devices_finish(&compute);
            devices_close(&compute);
        }
    }
}

void devices_finish(const struct fulcrum_compute *compute)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    if (compute->device->finish(compute->state, &err) != FULCRUM_OK) {
        (void)printf("    %s: %s\n", compute->device->name, err.detail);
    }
    CU_ASSERT_EQUAL(err.status, FULCRUM_OK);
}

void devices_write(const struct fulcrum_compute *compute, fulcrum_place to,
    const float *from, size_t count)
{
    compute->device->upload(compute->state, to, from, count * sizeof *from);
}

void devices_read(
    const struct fulcrum_compute *compute, float *to, fulcrum_place from, size_t count)
{
    compute->device->download(compute->state, to, from, count * sizeof *to);
    devices_finish(compute);
}

void devices_assert(const struct fulcrum_compute *compute, const char *what,
    fulcrum_place place, const struct devices_array *expected)
{
    float *actual = calloc(expected->count, sizeof *actual);
    if (actual == NULL) {
        abort();
    }
    devices_read(compute, actual, place, expected->count);
    double largest = 0.0;
    double worst = 0.0;
    size_t at = 0;
    for (size_t i = 0; i < expected->count; i++) {
        double difference = fabs((double)actual[i] - (double)expected->values[i]);
        largest = fmax(largest, fabs((double)expected->values[i]));
        /* Not below: NaN fails as well. */
        if (!(difference <= worst)) {
            worst = difference;
            at = i;
        }
    }
    if (!(worst <= expected->tolerance * largest)) {
        (void)printf(
            "    %s[%zu] on %s: %.9g, expected %.9g; off by %.3g of the largest\n",
            what, at, compute->device->name, (double)actual[at],
            (double)expected->values[at], worst / largest);
    }
    CU_ASSERT_TRUE(worst <= expected->tolerance * largest);
    free(actual);
}

double devices_rescaled(double value)
{
    return copysign(sqrt(fabs(value) + 1.0) - 1.0, value) + 1e-3 * value;
}

double devices_unscaled(double value)
{
    double low = -1e6;
    double high = 1e6;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        *(devices_rescaled(middle) < value ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}
