/* compute.h - the kernels and products of a device as functions on places. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_COMPUTE_H
#define FULCRUM_CALIBRATE_DEVICE_COMPUTE_H

#include <stdbool.h>

#include "calibrate/device/device.h"
#include "calibrate/network/layer.h"

/* The devices that learners run on. */

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

void fulcrum_compute_fill(
    const struct fulcrum_compute *compute, fulcrum_place to, size_t count, float value);

/* to += from */
void fulcrum_compute_add(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count);

/* Arrays that do not overlap. */
void fulcrum_compute_copy(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count);

/* Some columns of every row, from rows of one length to rows of another. */
struct fulcrum_compute_columns {
    size_t row_count;
    size_t col_count;
    fulcrum_place to;
    size_t to_pitch;
    fulcrum_place from;
    size_t from_pitch;
};

void fulcrum_compute_copy_columns(const struct fulcrum_compute *compute,
    const struct fulcrum_compute_columns *columns);

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

/* Images, of floats or of bytes that stand for 0 to 1. */
struct fulcrum_compute_images {
    size_t count;
    fulcrum_place place;
    bool is_bytes;
    size_t first_byte; /* of the first image, from the place on */
};

/* Their windows as rows of one matrix. */
void fulcrum_compute_windows(const struct fulcrum_compute *compute,
    const struct fulcrum_conv *layer, const struct fulcrum_compute_images *images,
    fulcrum_place column);

/* The transpose of the windows: sets the images. */
void fulcrum_compute_add_windows(const struct fulcrum_compute *compute,
    const struct fulcrum_conv *layer, size_t image_count, fulcrum_place column,
    fulcrum_place image);

/* value = activation(value + bias), for each row of `col_count` values. */
struct fulcrum_compute_activation {
    enum fulcrum_activation activation;
    size_t row_count;
    size_t col_count;
    fulcrum_place value;
    fulcrum_place bias;
};

void fulcrum_compute_activate(const struct fulcrum_compute *compute,
    const struct fulcrum_compute_activation *activation);

/* The gradient of an output becomes that of the sum before ReLU, in place. */
void fulcrum_compute_rectify_backward(const struct fulcrum_compute *compute,
    fulcrum_place gradient, fulcrum_place output, size_t count);

/* One update of Adam. */
struct fulcrum_compute_adam {
    struct fulcrum_adam_step step;
    size_t parameter_count;
    fulcrum_place parameters;
    fulcrum_place gradients;
    fulcrum_place mean;
    fulcrum_place square;
};

void fulcrum_compute_adam(
    const struct fulcrum_compute *compute, const struct fulcrum_compute_adam *adam);

/* c = a b + beta c, with a and b stored as the product says. */
void fulcrum_compute_multiply(const struct fulcrum_compute *compute,
    const struct fulcrum_device_product *product);

/*
 * A launch of `row_count` rows of `width` elements, or of one item a row where the
 * width is 1; places, counts and numbers are the caller's to fill in.
 */
struct fulcrum_device_launch fulcrum_compute_rows(const struct fulcrum_compute *compute,
    enum fulcrum_kernel kernel, size_t row_count, size_t width);

/* Queues a launch whose arguments are complete. */
void fulcrum_compute_launch(
    const struct fulcrum_compute *compute, const struct fulcrum_device_launch *launch);

/*
 * For devices without a library of products: the launch that makes one of the kernels
 * compute it. Wide devices run it in groups of FULCRUM_TILE_ITEMS.
 */
struct fulcrum_device_launch fulcrum_device_product_launch(
    const struct fulcrum_device_product *product, bool is_wide);

#endif
