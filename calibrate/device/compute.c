/* compute.c - the kernels and products of a device as functions on places. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/compute.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "model/try.h"

/* Places begin where vectors of any width and cache lines do. */
enum { ALIGN_FLOATS = 64 };

/* A group's worth: more lanes than this would not share a row. */
enum { MOST_LANES = 256 };

/* Fewer rows than this are summed at once. */
enum { SHORT_SUM = 16 };

fulcrum_place fulcrum_arena_take(struct fulcrum_arena *arena, uint64_t float_count)
{
    uint64_t place = arena->taken;
    uint64_t blocks = (float_count + ALIGN_FLOATS - 1) / ALIGN_FLOATS;
    arena->taken += (blocks > 0 ? blocks : 1) * ALIGN_FLOATS;
    /* Beyond 32 bits the arena is never reserved, and the place never used. */
    return (fulcrum_place)(place & UINT32_MAX);
}

enum fulcrum_status fulcrum_arena_reserve(const struct fulcrum_arena *arena,
    const struct fulcrum_compute *compute, struct fulcrum_error *err)
{
    FAIL_IF(arena->taken > UINT32_MAX, err, FULCRUM_ERR_NO_MEMORY,
        "a network of %.3g GB exceeds the 17 GB that one may have on a device",
        4e-9 * (double)arena->taken);
    return compute->device->reserve(compute->state, (size_t)arena->taken, err);
}

fulcrum_place fulcrum_place_at(fulcrum_place place, size_t offset)
{
    assert(offset <= UINT32_MAX - place);
    return place + (fulcrum_place)offset;
}

static unsigned int small(size_t count)
{
    assert(count <= UINT32_MAX);
    return (unsigned int)count;
}

/* The power of two that reaches the width: lanes without work are idle. */
static size_t lanes_for(const struct fulcrum_compute *compute, size_t width)
{
    size_t lanes = 1;
    while (compute->is_wide && lanes < width && lanes < MOST_LANES) {
        lanes *= 2;
    }
    return lanes;
}

struct fulcrum_device_launch fulcrum_compute_rows(const struct fulcrum_compute *compute,
    enum fulcrum_kernel kernel, size_t row_count, size_t width)
{
    size_t lanes = lanes_for(compute, width);
    return (struct fulcrum_device_launch){.kernel = kernel,
        .arguments = {
            .item_count = small(row_count * lanes), .lane_count = small(lanes)}};
}

void fulcrum_compute_launch(
    const struct fulcrum_compute *compute, const struct fulcrum_device_launch *launch)
{
    if (launch->arguments.item_count > 0) {
        compute->device->launch(compute->state, launch);
    }
}

/* Kernels without rows: each row of items has FULCRUM_FLAT_ROW elements of the array.
 */
static struct fulcrum_device_launch flat(
    const struct fulcrum_compute *compute, enum fulcrum_kernel kernel, size_t count)
{
    size_t rows = (count + FULCRUM_FLAT_ROW - 1) / FULCRUM_FLAT_ROW;
    struct fulcrum_device_launch launch =
        fulcrum_compute_rows(compute, kernel, rows, FULCRUM_FLAT_ROW);
    launch.arguments.count[0] = small(count);
    return launch;
}

void fulcrum_compute_fill(
    const struct fulcrum_compute *compute, fulcrum_place to, size_t count, float value)
{
    struct fulcrum_device_launch launch = flat(compute, FULCRUM_KERNEL_FILL, count);
    launch.arguments.place[0] = to;
    launch.arguments.number[0] = value;
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_compute_add(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count)
{
    struct fulcrum_device_launch launch = flat(compute, FULCRUM_KERNEL_ADD, count);
    launch.arguments.place[0] = to;
    launch.arguments.place[1] = from;
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_compute_copy_columns(const struct fulcrum_compute *compute,
    const struct fulcrum_compute_columns *columns)
{
    struct fulcrum_device_launch launch = fulcrum_compute_rows(
        compute, FULCRUM_KERNEL_COPY_ROWS, columns->row_count, columns->col_count);
    launch.arguments.place[0] = columns->to;
    launch.arguments.place[1] = columns->from;
    launch.arguments.count[0] = small(columns->col_count);
    launch.arguments.count[1] = small(columns->to_pitch);
    launch.arguments.count[2] = small(columns->from_pitch);
    fulcrum_compute_launch(compute, &launch);
}

/* Whole rows of a matrix that is as wide as a flat row, then what is left. */
void fulcrum_compute_copy(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count)
{
    size_t whole = count / FULCRUM_FLAT_ROW;
    size_t left = count % FULCRUM_FLAT_ROW;
    struct fulcrum_compute_columns columns = {.row_count = whole,
        .col_count = FULCRUM_FLAT_ROW,
        .to = to,
        .to_pitch = FULCRUM_FLAT_ROW,
        .from = from,
        .from_pitch = FULCRUM_FLAT_ROW};
    fulcrum_compute_copy_columns(compute, &columns);
    columns.row_count = left > 0 ? 1 : 0;
    columns.col_count = left;
    columns.to = fulcrum_place_at(to, count - left);
    columns.from = fulcrum_place_at(from, count - left);
    fulcrum_compute_copy_columns(compute, &columns);
}

/* About as many segments as rows in each: both launches have work for many items. */
static size_t segment_rows(size_t row_count)
{
    double root = ceil(sqrt((double)row_count));
    return row_count <= SHORT_SUM ? SHORT_SUM : (size_t)fmax(root, SHORT_SUM);
}

static size_t segment_count(size_t row_count)
{
    size_t rows = segment_rows(row_count);
    return (row_count + rows - 1) / rows;
}

size_t fulcrum_compute_sum_scratch(size_t row_count, size_t col_count)
{
    return segment_count(row_count) * col_count;
}

void fulcrum_compute_sum_rows(
    const struct fulcrum_compute *compute, const struct fulcrum_compute_sum *sum)
{
    size_t segments = segment_count(sum->row_count);
    struct fulcrum_device_launch last =
        fulcrum_compute_rows(compute, FULCRUM_KERNEL_SUM_ROWS, 1, sum->col_count);
    last.arguments.place[0] = sum->sums;
    last.arguments.place[1] = sum->value;
    last.arguments.count[0] = small(sum->col_count);
    last.arguments.count[1] = small(sum->row_count);
    last.arguments.count[2] = small(sum->row_count);
    last.arguments.count[3] = sum->is_added ? 1 : 0;
    last.arguments.number[0] = sum->factor;
    if (segments > 1) {
        struct fulcrum_device_launch first = fulcrum_compute_rows(
            compute, FULCRUM_KERNEL_SUM_ROWS, segments, sum->col_count);
        first.arguments.place[0] = sum->scratch;
        first.arguments.place[1] = sum->value;
        first.arguments.count[0] = small(sum->col_count);
        first.arguments.count[1] = small(sum->row_count);
        first.arguments.count[2] = small(segment_rows(sum->row_count));
        first.arguments.number[0] = 1.0F;
        fulcrum_compute_launch(compute, &first);
        last.arguments.place[1] = sum->scratch;
        last.arguments.count[1] = small(segments);
        last.arguments.count[2] = small(segments);
    }
    fulcrum_compute_launch(compute, &last);
}

static void set_windows(
    struct fulcrum_kernel_arguments *arguments, const struct fulcrum_conv *layer)
{
    arguments->count[0] = small(layer->height);
    arguments->count[1] = small(layer->width);
    arguments->count[2] = small(layer->channel_count);
    arguments->count[3] = small(layer->kernel);
    arguments->count[4] = small(layer->stride);
    arguments->count[5] = small(fulcrum_conv_window_count(layer, layer->width));
    arguments->count[6] = small(fulcrum_conv_position_count(layer));
}

/* A row of items is one run of pixels of one window. */
void fulcrum_compute_windows(const struct fulcrum_compute *compute,
    const struct fulcrum_conv *layer, const struct fulcrum_compute_images *images,
    fulcrum_place column)
{
    size_t runs = images->count * fulcrum_conv_position_count(layer) * layer->kernel;
    struct fulcrum_device_launch launch = fulcrum_compute_rows(compute,
        images->is_bytes ? FULCRUM_KERNEL_WINDOWS_OF_BYTES : FULCRUM_KERNEL_WINDOWS,
        runs, layer->kernel * layer->channel_count);
    set_windows(&launch.arguments, layer);
    launch.arguments.place[0] = column;
    launch.arguments.place[1] = images->place;
    launch.arguments.count[7] = small(images->first_byte);
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_compute_add_windows(const struct fulcrum_compute *compute,
    const struct fulcrum_conv *layer, size_t image_count, fulcrum_place column,
    fulcrum_place image)
{
    size_t pixels = image_count * layer->height * layer->width;
    struct fulcrum_device_launch launch = fulcrum_compute_rows(
        compute, FULCRUM_KERNEL_ADD_WINDOWS, pixels, layer->channel_count);
    set_windows(&launch.arguments, layer);
    launch.arguments.place[0] = image;
    launch.arguments.place[1] = column;
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_compute_activate(const struct fulcrum_compute *compute,
    const struct fulcrum_compute_activation *activation)
{
    struct fulcrum_device_launch launch = fulcrum_compute_rows(
        compute, FULCRUM_KERNEL_ACTIVATE, activation->row_count, activation->col_count);
    launch.arguments.place[0] = activation->value;
    launch.arguments.place[1] = activation->bias;
    launch.arguments.count[0] = small(activation->col_count);
    launch.arguments.count[1] = activation->activation == FULCRUM_RELU ? 1 : 0;
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_compute_rectify_backward(const struct fulcrum_compute *compute,
    fulcrum_place gradient, fulcrum_place output, size_t count)
{
    struct fulcrum_device_launch launch =
        flat(compute, FULCRUM_KERNEL_ACTIVATE_BACKWARD, count);
    launch.arguments.place[0] = gradient;
    launch.arguments.place[1] = output;
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_compute_adam(
    const struct fulcrum_compute *compute, const struct fulcrum_compute_adam *adam)
{
    struct fulcrum_device_launch launch =
        flat(compute, FULCRUM_KERNEL_ADAM, adam->parameter_count);
    launch.arguments.place[0] = adam->parameters;
    launch.arguments.place[1] = adam->gradients;
    launch.arguments.place[2] = adam->mean;
    launch.arguments.place[3] = adam->square;
    launch.arguments.number[0] = adam->step.rate;
    launch.arguments.number[1] = adam->step.epsilon;
    launch.arguments.number[2] = adam->step.keep1;
    launch.arguments.number[3] = adam->step.add1;
    launch.arguments.number[4] = adam->step.keep2;
    launch.arguments.number[5] = adam->step.add2;
    fulcrum_compute_launch(compute, &launch);
}

void fulcrum_compute_multiply(
    const struct fulcrum_compute *compute, const struct fulcrum_device_product *product)
{
    compute->device->multiply(compute->state, product);
}

static size_t parts(size_t count, size_t part)
{
    return (count + part - 1) / part;
}

struct fulcrum_device_launch fulcrum_device_product_launch(
    const struct fulcrum_device_product *product, bool is_wide)
{
    size_t rows = product->row_count;
    size_t cols = product->col_count;
    size_t inner = product->inner_count;
    struct fulcrum_kernel_arguments arguments = {.lane_count = 1,
        .place = {product->a, product->b, product->c},
        .count = {small(rows), small(cols), small(inner),
            small(product->is_left_transposed ? 1 : inner),
            small(product->is_left_transposed ? rows : 1),
            small(product->is_right_transposed ? 1 : cols),
            small(product->is_right_transposed ? inner : 1)},
        .number = {product->beta}};
    enum fulcrum_kernel kernel = FULCRUM_KERNEL_MULTIPLY_BLOCK;
    size_t items = parts(rows, FULCRUM_BLOCK_ROWS) * parts(cols, FULCRUM_BLOCK_COLS);
    if (is_wide) {
        kernel = FULCRUM_KERNEL_MULTIPLY_TILE;
        items =
            parts(rows, FULCRUM_TILE) * parts(cols, FULCRUM_TILE) * FULCRUM_TILE_ITEMS;
    } else if (product->is_right_transposed) {
        kernel = FULCRUM_KERNEL_MULTIPLY_DOT;
        items = parts(rows, FULCRUM_DOT_EDGE) * parts(cols, FULCRUM_DOT_EDGE);
    }
    arguments.item_count = small(items);
    return (struct fulcrum_device_launch){kernel, arguments};
}
