/* compute.h - the kernels and products of a device as functions on places. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_COMPUTE_H
#define FULCRUM_CALIBRATE_DEVICE_COMPUTE_H

#include "calibrate/device/device.h"

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

/*
 * For devices without a library of products: the launch that makes one of the kernels
 * compute it. Wide devices run it in groups of FULCRUM_TILE_ITEMS.
 */
struct fulcrum_device_launch fulcrum_device_product_launch(
    const struct fulcrum_device_product *product, bool is_wide);

#endif
