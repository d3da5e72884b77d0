/* frame_84.c - a video frame as Atari agents see it: 84 x 84 shades of grey. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/libretro_core.h"

#include <assert.h>
#include <string.h>

#define SIDE FULCRUM_FRAME_84_SIDE

static uint8_t luminance(uint32_t red, uint32_t green, uint32_t blue)
{
    return (uint8_t)((77 * red + 150 * green + 29 * blue) >> 8);
}

/* 5 and 6 bits to 8, so that the brightest value stays the brightest. */
static uint32_t widen_5(uint32_t value)
{
    return value << 3 | value >> 2;
}

static void grey_0rgb1555(uint8_t *out, const uint16_t *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = row[i];
        out[i] = luminance(
            widen_5(pixel >> 10 & 31), widen_5(pixel >> 5 & 31), widen_5(pixel & 31));
    }
}

static void grey_rgb565(uint8_t *out, const uint16_t *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = row[i];
        uint32_t value = pixel >> 5 & 63;
        uint32_t widen_6 = value << 2 | value >> 4;
        out[i] = luminance(widen_5(pixel >> 11), widen_6, widen_5(pixel & 31));
    }
}

static void grey_xrgb8888(uint8_t *out, const uint32_t *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = row[i];
        out[i] = luminance(pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255);
    }
}

void fulcrum_frame_grey(
    uint8_t *out, const void *row, size_t count, enum fulcrum_pixel pixel)
{
    switch (pixel) {
    case FULCRUM_PIXEL_XRGB8888:
        grey_xrgb8888(out, row, count);
        break;
    case FULCRUM_PIXEL_RGB565:
        grey_rgb565(out, row, count);
        break;
    case FULCRUM_PIXEL_0RGB1555:
        grey_0rgb1555(out, row, count);
        break;
    }
}

/*
 * The source rows that one of the 84 areas touches. A height of n rows is
 * measured in units of 1/84 row, so an area is n units and all weights are whole: 84
 * for the rows inside, less for the first and the last.
 */
struct span {
    size_t first;
    size_t last;
    uint32_t first_weight;
    uint32_t last_weight; /* 0 where the last is the first */
};

static struct span span_of(size_t area, size_t source_count)
{
    size_t begin = area * source_count;
    size_t end = begin + source_count;
    struct span span = {.first = begin / SIDE, .last = (end - 1) / SIDE};
    if (span.first == span.last) {
        span.first_weight = (uint32_t)source_count;
    } else {
        span.first_weight = (uint32_t)((span.first + 1) * SIDE - begin);
        span.last_weight = (uint32_t)(end - span.last * SIDE);
    }
    return span;
}

/* Weights are at most 84, so a product fits in 16 bits: fast on every vector unit. */
static void add_pixels(
    uint32_t *sums, const uint8_t *row, size_t width, uint32_t weight)
{
    assert(weight <= SIDE);
    for (size_t x = 0; x < width; x++) {
        sums[x] += (uint16_t)(weight * row[x]);
    }
}

/* Weighted sums of the rows of one span, column by column. */
static void sum_rows(
    uint32_t *sums, const uint8_t *grey, size_t width, const struct span *span)
{
    memset(sums, 0, width * sizeof *sums);
    add_pixels(sums, grey + span->first * width, width, span->first_weight);
    for (size_t y = span->first + 1; y < span->last; y++) {
        add_pixels(sums, grey + y * width, width, (uint32_t)SIDE);
    }
    if (span->last > span->first) {
        add_pixels(sums, grey + span->last * width, width, span->last_weight);
    }
}

/*
 * Where area `i` begins along a row: in pixel `index`, after `part` 84ths of it. The
 * sum over an area is the difference of two running sums, without a branch on how many
 * pixels it touches. Running sums may wrap: their differences fit in 32 bits.
 */
struct edge {
    size_t index;
    uint32_t part;
};

/* running[0] is 0 and running[x] the sum over the pixels before x. */
static uint32_t running_to(const uint32_t *running, const struct edge *edge)
{
    return ((uint32_t)SIDE - edge->part) * running[edge->index] +
           edge->part * running[edge->index + 1];
}

void fulcrum_frame_84(
    uint8_t *out, const uint8_t *grey, size_t width, size_t height, uint32_t *sums)
{
    struct edge columns[FULCRUM_FRAME_84_SIDE + 1];
    assert(height >= 1 && height <= FULCRUM_FRAME_SOURCE_MAX);
    for (size_t i = 0; i < SIDE; i++) {
        columns[i].index = i * width / SIDE;
        columns[i].part = (uint32_t)(i * width % SIDE);
    }
    columns[SIDE].index = width - 1;
    columns[SIDE].part = (uint32_t)SIDE;
    /*
     * Weights add up to `area` <= 2^24, so a sum is below 256 area. Multiplying by
     * floor(2^56 / area) + 1 and dropping 56 bits is then an exact division: the
     * excess of at most area / 2^56 per unit stays below 1, and 64 bits hold it.
     */
    assert(width >= 1 && width <= FULCRUM_FRAME_SOURCE_MAX);
    uint64_t area = (uint64_t)width * height;
    uint64_t reciprocal = (UINT64_C(1) << 56) / area + 1;
    for (size_t y = 0; y < SIDE; y++) {
        const struct span rows = span_of(y, height);
        sum_rows(sums + 1, grey, width, &rows);
        sums[0] = 0;
        for (size_t at = 0; at < width; at++) {
            sums[at + 1] += sums[at];
        }
        uint32_t before = 0;
        for (size_t x = 0; x < SIDE; x++) {
            uint32_t after = running_to(sums, &columns[x + 1]);
            uint64_t sum = (uint64_t)(after - before) + area / 2;
            out[y * SIDE + x] = (uint8_t)(sum * reciprocal >> 56);
            before = after;
        }
    }
}
