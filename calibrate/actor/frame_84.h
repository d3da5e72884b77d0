/* frame_84.h - a video frame as Atari agents see it: 84 x 84 shades of grey. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_FRAME_84_H
#define FULCRUM_CALIBRATE_ACTOR_FRAME_84_H

#include <stddef.h>
#include <stdint.h>

#define FULCRUM_FRAME_84_SIDE ((size_t)84)
#define FULCRUM_FRAME_84_BYTE (FULCRUM_FRAME_84_SIDE * FULCRUM_FRAME_84_SIDE)
/* Largest width and height of a source, so that sums fit in 32 bits. */
#define FULCRUM_FRAME_SOURCE_MAX ((size_t)4096)

/* Layouts of a pixel, numbered as libretro does. */
enum fulcrum_pixel {
    FULCRUM_PIXEL_0RGB1555,
    FULCRUM_PIXEL_XRGB8888,
    FULCRUM_PIXEL_RGB565
};

/*
 * Luminance of `count` pixels at `row` (aligned for its pixels), rounded down:
 * (77 red + 150 green + 29 blue) / 256.
 */
void fulcrum_frame_grey(
    uint8_t *out, const void *row, size_t count, enum fulcrum_pixel pixel);

/*
 * Mean of the source over each of the 84 x 84 equal areas that cover it, rounded to
 * nearest. Both sides of the source are in 1..FULCRUM_FRAME_SOURCE_MAX; rows follow
 * each other without gaps. `sums` is scratch space for `width` + 1 numbers.
 */
void fulcrum_frame_84(
    uint8_t *out, const uint8_t *grey, size_t width, size_t height, uint32_t *sums);

#endif
