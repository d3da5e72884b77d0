/* compute.c - the kernels and products of a device as functions on places. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/compute.h"

#include <assert.h>
#include <math.h>

#include "model/try.h"

/* Places begin where vectors of any width and cache lines do. */
enum { ALIGN_FLOATS = 64 };

/* A group's worth: more lanes than this would not share a row. */
enum { MOST_LANES = 256 };

/* Fewer rows than this are summed at once. */
enum { SHORT_SUM = 16 };

static size_t parts(size_t count, size_t part)
{
    return (count + part - 1) / part;
}

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

unsigned fulcrum_compute_count(size_t count)
{
    assert(count <= UINT32_MAX);
    return (unsigned)count;
}

void fulcrum_compute_launch(const struct fulcrum_compute *compute,
    enum fulcrum_kernel kernel, size_t row_count, size_t width,
    const struct fulcrum_kernel_arguments *arguments)
{
    /* The power of two that reaches the width: lanes without work are idle. */
    size_t lanes = 1;
    while (compute->is_wide && lanes < width && lanes < MOST_LANES) {
        lanes *= 2;
    }
    struct fulcrum_device_launch launch = {kernel, *arguments};
    launch.arguments.item_count = fulcrum_compute_count(row_count * lanes);
    launch.arguments.lane_count = fulcrum_compute_count(lanes);
    if (row_count > 0) {
        compute->device->launch(compute->state, &launch);
    }
}

/* Kernels without rows: each row of items has FULCRUM_FLAT_ROW elements of them. */
static void launch_flat(const struct fulcrum_compute *compute,
    enum fulcrum_kernel kernel, size_t count, struct fulcrum_kernel_arguments arguments)
{
    arguments.count[0] = fulcrum_compute_count(count);
    fulcrum_compute_launch(
        compute, kernel, parts(count, FULCRUM_FLAT_ROW), FULCRUM_FLAT_ROW, &arguments);
}

void fulcrum_compute_fill(
    const struct fulcrum_compute *compute, fulcrum_place to, size_t count, float value)
{
    launch_flat(compute, FULCRUM_KERNEL_FILL, count,
        (struct fulcrum_kernel_arguments){.place = {to}, .number = {value}});
}

void fulcrum_compute_add(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count)
{
    launch_flat(compute, FULCRUM_KERNEL_ADD, count,
        (struct fulcrum_kernel_arguments){.place = {to, from}});
}

void fulcrum_compute_floats(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place bytes, size_t row_count, size_t width)
{
    /* Of each row one window, of one pixel with as many channels. */
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_WINDOWS_OF_BYTES, row_count, width,
        &(struct fulcrum_kernel_arguments){.place = {to, bytes},
            .count = {1, 1, fulcrum_compute_count(width), 1, 1, 1, 1, 0}});
}

void fulcrum_compute_rectify_backward(const struct fulcrum_compute *compute,
    fulcrum_place gradient, fulcrum_place output, size_t count)
{
    launch_flat(compute, FULCRUM_KERNEL_ACTIVATE_BACKWARD, count,
        (struct fulcrum_kernel_arguments){.place = {gradient, output}});
}

/* Whole rows of a matrix that is as wide as a flat row, then what is left. */
void fulcrum_compute_copy(const struct fulcrum_compute *compute, fulcrum_place to,
    fulcrum_place from, size_t count)
{
    const unsigned width = FULCRUM_FLAT_ROW;
    const size_t left = count % FULCRUM_FLAT_ROW;
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_COPY_ROWS, count / FULCRUM_FLAT_ROW,
        width,
        &(struct fulcrum_kernel_arguments){
            .place = {to, from}, .count = {width, width, width}});
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_COPY_ROWS, left > 0 ? 1 : 0, left,
        &(struct fulcrum_kernel_arguments){.place = {fulcrum_place_at(to, count - left),
                                               fulcrum_place_at(from, count - left)},
            .count = {fulcrum_compute_count(left)}});
}

/* About as many segments as rows in each: both launches have work for many items. */
static size_t segment_rows(size_t row_count)
{
    double root = ceil(sqrt((double)row_count));
    return row_count <= SHORT_SUM ? SHORT_SUM : (size_t)fmax(root, SHORT_SUM);
}

static size_t segment_count(size_t row_count)
{
    return parts(row_count, segment_rows(row_count));
}

size_t fulcrum_compute_sum_scratch(size_t row_count, size_t col_count)
{
    return segment_count(row_count) * col_count;
}

void fulcrum_compute_sum_rows(
    const struct fulcrum_compute *compute, const struct fulcrum_compute_sum *sum)
{
    const unsigned cols = fulcrum_compute_count(sum->col_count);
    const size_t segments = segment_count(sum->row_count);
    fulcrum_place value = sum->value;
    unsigned rows = fulcrum_compute_count(sum->row_count);
    if (segments > 1) {
        const unsigned part = fulcrum_compute_count(segment_rows(sum->row_count));
        fulcrum_compute_launch(compute, FULCRUM_KERNEL_SUM_ROWS, segments, cols,
            &(struct fulcrum_kernel_arguments){.place = {sum->scratch, value},
                .count = {cols, rows, part},
                .number = {1.0F}});
        value = sum->scratch;
        rows = fulcrum_compute_count(segments);
    }
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_SUM_ROWS, 1, cols,
        &(struct fulcrum_kernel_arguments){.place = {sum->sums, value},
            .count = {cols, rows, rows, sum->is_added},
            .number = {sum->factor}});
}

void fulcrum_compute_adam(
    const struct fulcrum_compute *compute, struct fulcrum_adam *adam)
{
    const double beta1 = 0.9;
    const double beta2 = 0.999;
    adam->step_count++;
    const double steps = (double)adam->step_count;
    const double root = sqrt(1.0 - pow(beta2, steps));
    /* Both bias corrections folded into the rate and epsilon, as the paper suggests. */
    launch_flat(compute, FULCRUM_KERNEL_ADAM, adam->parameter_count,
        (struct fulcrum_kernel_arguments){
            .place = {adam->parameters, adam->gradients, adam->mean, adam->square},
            .number = {(float)(adam->rate * root / (1.0 - pow(beta1, steps))),
                (float)(adam->epsilon * root), (float)beta1, (float)(1.0 - beta1),
                (float)beta2, (float)(1.0 - beta2)}});
}

const char *fulcrum_kernel_name(enum fulcrum_kernel kernel)
{
#define NAME_ROW(constant, name) [constant] = "fulcrum_" #name,
    static const char *const names[] = {FULCRUM_KERNEL_LIST(NAME_ROW)};
#undef NAME_ROW
    return names[kernel];
}

struct fulcrum_device_launch fulcrum_device_product_launch(
    const struct fulcrum_device_product *product, bool is_wide)
{
    size_t rows = product->row_count;
    size_t cols = product->col_count;
    size_t inner = product->inner_count;
    struct fulcrum_kernel_arguments arguments = {.lane_count = 1,
        .place = {product->a, product->b, product->c},
        .count = {fulcrum_compute_count(rows), fulcrum_compute_count(cols),
            fulcrum_compute_count(inner),
            fulcrum_compute_count(product->is_left_transposed ? 1 : inner),
            fulcrum_compute_count(product->is_left_transposed ? rows : 1),
            fulcrum_compute_count(product->is_right_transposed ? 1 : cols),
            fulcrum_compute_count(product->is_right_transposed ? inner : 1)},
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
    arguments.item_count = fulcrum_compute_count(items);
    return (struct fulcrum_device_launch){kernel, arguments};
}
