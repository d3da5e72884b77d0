/* device.h - a compute device behind one interface: memory, kernels, products, SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_DEVICE_H
#define FULCRUM_CALIBRATE_DEVICE_DEVICE_H

#include <stdint.h>

#include "calibrate/device/device_info.h"
#include "calibrate/kernels/device_kernels.h"
#include "model/status.h"

/*
 * All memory of a network is one arena of floats on the device; whatever kernels and
 * products work on is a place in it, an offset in floats. Offsets instead of pointers,
 * since OpenCL has no arithmetic on its memory objects. Bytes are stored four to a
 * float's place; a place is a multiple of 64 floats where the owner takes it so.
 */
typedef uint32_t fulcrum_place;

struct fulcrum_device_options {
    size_t index;    /* of the device among those that the library lists */
    double sm_count; /* SMs (compute units) to run on; 0: all */
    bool is_wide;    /* 1: in the manner of a GPU, even where it is a CPU (tests) */
};

/* One product of row-major matrices: c = op(a) op(b) + beta c; beta is 0 or 1. */
struct fulcrum_device_product {
    size_t row_count; /* of c */
    size_t col_count;
    size_t inner_count;
    bool is_left_transposed;  /* a is stored inner x row */
    bool is_right_transposed; /* b is stored col x inner; never both */
    fulcrum_place a;
    fulcrum_place b;
    float beta; /* 0: what c held is not read */
    fulcrum_place c;
};

/* One launch of one of the kernels of network.cl. */
struct fulcrum_device_launch {
    enum fulcrum_kernel kernel;
    struct fulcrum_kernel_arguments arguments;
};

struct fulcrum_device_state; /* opaque: context, queue, arena, kernels */

/*
 * One way to reach devices. Used by one thread at a time. What `upload` to `mark` are
 * told is queued in order and may still be under way when the call returns. Calls that
 * return nothing keep the first failure for `finish` to tell, and do nothing after it.
 */
struct fulcrum_device {
    const char *name; /* "cuda", "opencl" */
    /*
     *   out      set on success only; given back with `close`
     *   fails    FULCRUM_ERR_UNSUPPORTED: no library, no driver, no device: one line
     *            says which; FULCRUM_ERR_RANGE (index, sm_count), FULCRUM_ERR_NO_MEMORY
     */
    enum fulcrum_status (*open)(const struct fulcrum_device_options *options,
        struct fulcrum_device_state **out, struct fulcrum_device_info *info,
        struct fulcrum_error *err);
    /* Accepts NULL. */
    void (*close)(struct fulcrum_device_state *state);
    /* The arena, zeroed; once. */
    enum fulcrum_status (*reserve)(struct fulcrum_device_state *state,
        size_t float_count, struct fulcrum_error *err);
    /* `from` may change as soon as the call returns. */
    void (*upload)(struct fulcrum_device_state *state, fulcrum_place to,
        const void *from, size_t byte);
    /* `to` is complete after the next finish. */
    void (*download)(
        struct fulcrum_device_state *state, void *to, fulcrum_place from, size_t byte);
    void (*launch)(
        struct fulcrum_device_state *state, const struct fulcrum_device_launch *launch);
    void (*multiply)(struct fulcrum_device_state *state,
        const struct fulcrum_device_product *product);
    /*
     * Waits until all that was queued is done.
     *   fails    FULCRUM_ERR_UNSUPPORTED with the first failure since the last finish
     */
    enum fulcrum_status (*finish)(
        struct fulcrum_device_state *state, struct fulcrum_error *err);
    /*
     * Runs what follows on about `sm_count` SMs (0: all), the arena staying as it is.
     * NULL where a device cannot be divided.
     *   granted  SMs really in force: what a measurement is to report
     *   fails    FULCRUM_ERR_UNSUPPORTED (this device cannot be divided),
     *            FULCRUM_ERR_RANGE
     */
    enum fulcrum_status (*grant)(struct fulcrum_device_state *state, double sm_count,
        double *granted, struct fulcrum_error *err);
    /*
     * Device seconds between the marks: `mark` 0 begins, 1 ends; both are queued.
     * `elapsed_s` after a finish; NAN where the device has no clock of its own.
     */
    void (*mark)(struct fulcrum_device_state *state, int mark);
    double (*elapsed_s)(struct fulcrum_device_state *state);
};

#endif
