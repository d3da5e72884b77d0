/* compute.h - compute devices behind one interface: memory, kernels, products, SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_COMPUTE_H
#define FULCRUM_CALIBRATE_DEVICE_COMPUTE_H

#include <stdint.h>

#include "calibrate/device/learner.h"
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

/* Only its `open` is set where the build has no OpenCL. */
extern const struct fulcrum_device fulcrum_device_opencl;

/* The calling thread, which does at once what is queued; it has no marks. */
extern const struct fulcrum_device fulcrum_device_host;

/* NVIDIA GPUs: needs their driver at run time, for which `open` looks. */
extern const struct fulcrum_device fulcrum_device_cuda;

/* Where nothing is: an output that nobody needs. */
#define FULCRUM_NOWHERE UINT32_MAX

/* A device that was opened, as the networks use it. Whoever opened it closes it. */
struct fulcrum_compute {
    const struct fulcrum_device *device;
    struct fulcrum_device_state *state;
    bool is_wide; /* of the device's info */
};

/* How much of an arena is spoken for, before it is reserved. {0} is a legal start. */
struct fulcrum_arena {
    uint64_t taken; /* floats */
};

/* The next place with room for `float_count`, at least one; a multiple of 64. */
fulcrum_place fulcrum_arena_take(struct fulcrum_arena *arena, uint64_t float_count);

/*
 * Reserves what was taken.
 *   fails    FULCRUM_ERR_NO_MEMORY, also where places cannot count so far (16 GiB)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_arena_reserve(
    const struct fulcrum_arena *arena, const struct fulcrum_compute *compute,
    struct fulcrum_error *err);

/* The place `offset` floats on. */
fulcrum_place fulcrum_place_at(fulcrum_place place, size_t offset);

/* What follows queues work and returns; failures are told by the device's finish. */

/* A size as kernels take it; asserts that it fits. */
unsigned fulcrum_compute_count(size_t count);

/*
 * A kernel over `row_count` rows of `width` elements, or with one item a row where the
 * width is 1. Counts of items and lanes are set here, the other arguments given.
 */
void fulcrum_compute_launch(const struct fulcrum_compute *compute,
    enum fulcrum_kernel kernel, size_t row_count, size_t width,
    const struct fulcrum_kernel_arguments *arguments);

void fulcrum_compute_fill(
    const struct fulcrum_compute *compute, fulcrum_place to, size_t count, float value);

/* Rows of bytes as floats in [0, 1]. */
void fulcrum_compute_floats(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place bytes, size_t row_count, size_t width);

/* to += from */
void fulcrum_compute_add(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count);

/* Arrays that do not overlap. */
void fulcrum_compute_copy(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count);

/* The gradient of an output becomes that of the sum before ReLU, in place. */
void fulcrum_compute_rectify_backward(const struct fulcrum_compute *compute,
    fulcrum_place gradient, fulcrum_place output, size_t count);

/* Sums of columns of `value`, times `factor`. */
struct fulcrum_compute_sum {
    size_t row_count;
    size_t col_count;
    fulcrum_place value;
    fulcrum_place sums;
    bool is_added; /* 1: to what `sums` holds */
    float factor;
    fulcrum_place scratch; /* fulcrum_compute_sum_scratch floats */
};

void fulcrum_compute_sum_rows(
    const struct fulcrum_compute *compute, const struct fulcrum_compute_sum *sum);

size_t fulcrum_compute_sum_scratch(size_t row_count, size_t col_count);

/* Kingma and Ba (2015), algorithm 1, with their decay rates; moments begin at zero. */
struct fulcrum_adam {
    double rate;
    double epsilon;
    size_t step_count; /* updates done */
    size_t parameter_count;
    fulcrum_place parameters;
    fulcrum_place gradients;
    fulcrum_place mean;   /* of the gradients */
    fulcrum_place square; /* mean square of the gradients */
};

/* Moves the parameters one step against their gradients. */
void fulcrum_compute_adam(
    const struct fulcrum_compute *compute, struct fulcrum_adam *adam);

/* The entry point of a kernel, "fulcrum_fill". Static. */
const char *fulcrum_kernel_name(enum fulcrum_kernel kernel);

/*
 * For devices without a library of products: the launch that makes one of the kernels
 * compute it. Wide devices run it in groups of FULCRUM_TILE_ITEMS.
 */
struct fulcrum_device_launch fulcrum_device_product_launch(
    const struct fulcrum_device_product *product, bool is_wide);

#endif
