/* test_libretro_core.c - shrinking a picture keeps its means, and the built-in
 * cartridge is one that a console accepts.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/libretro_core.h"

#include <math.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "tests/support/suite.h"

#define SIDE FULCRUM_FRAME_84_SIDE

/* Room for the largest picture, and for the sums of one of its rows. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static uint8_t grey[FULCRUM_FRAME_SOURCE_MAX * FULCRUM_FRAME_SOURCE_MAX];
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static uint32_t sums[FULCRUM_FRAME_SOURCE_MAX + 1];

TEST(test_grey_weighs_the_colours_alike_in_every_layout)
{
    static const uint32_t xrgb[] = {0x00FFFFFF, 0, 0xFFFF0000, 0x0000FF00, 0x000000FF};
    static const uint16_t rgb565[] = {0xFFFF, 0, 0xF800, 0x07E0, 0x001F};
    static const uint16_t rgb1555[] = {0x7FFF, 0x8000, 0x7C00, 0x03E0, 0x001F};
    /* 255 times 77, 150 and 29 over 256, rounded down. */
    static const uint8_t expected[] = {255, 0, 76, 149, 28};
    fulcrum_frame_grey(grey, xrgb, 5, FULCRUM_PIXEL_XRGB8888);
    CU_ASSERT_EQUAL(memcmp(grey, expected, 5), 0);
    fulcrum_frame_grey(grey, rgb565, 5, FULCRUM_PIXEL_RGB565);
    CU_ASSERT_EQUAL(memcmp(grey, expected, 5), 0);
    fulcrum_frame_grey(grey, rgb1555, 5, FULCRUM_PIXEL_0RGB1555);
    CU_ASSERT_EQUAL(memcmp(grey, expected, 5), 0);
}

/* Overlap of [a, a + 1) with [begin, end). */
static double overlap(double a, double begin, double end)
{
    return fmax(0.0, fmin(a + 1.0, end) - fmax(a, begin));
}

/* The mean over one area, straight from its definition. */
static double mean_of(size_t width, size_t height, size_t x, size_t y)
{
    double unit_x = (double)width / (double)SIDE;
    double unit_y = (double)height / (double)SIDE;
    double sum = 0.0;
    for (size_t v = 0; v < height; v++) {
        double weight_y =
            overlap((double)v, (double)y * unit_y, (double)(y + 1) * unit_y);
        for (size_t u = 0; weight_y > 0.0 && u < width; u++) {
            sum += weight_y * grey[v * width + u] *
                   overlap((double)u, (double)x * unit_x, (double)(x + 1) * unit_x);
        }
    }
    return sum / (unit_x * unit_y);
}

static double worst_error(const uint8_t *out, size_t width, size_t height)
{
    double worst = 0.0;
    for (size_t i = 0; i < SIDE * SIDE; i += 5) {
        double mean = mean_of(width, height, i % SIDE, i / SIDE);
        worst = fmax(worst, fabs(out[i] - mean));
    }
    return worst;
}

TEST(test_shrinking_gives_the_mean_of_each_area)
{
    static const size_t sizes[][2] = {{160, 144}, {256, 240}, {160, 210}, {84, 84},
        {1, 1}, {3, 200}, {85, 83}, {640, 40}};
    struct fulcrum_random random = fulcrum_random_seeded(1);
    uint8_t out[FULCRUM_FRAME_84_BYTE];
    for (size_t k = 0; k < LENGTH(sizes); k++) {
        size_t width = sizes[k][0];
        size_t height = sizes[k][1];
        memset(sums, 0, sizeof sums);
        for (size_t i = 0; i < width * height; i++) {
            grey[i] = (uint8_t)(fulcrum_random_bits(&random) >> 56);
        }
        fulcrum_frame_84(out, grey, width, height, sums);
        /* Half a shade is the rounding; the oracle's own rounding is 1e-12. */
        CU_ASSERT(worst_error(out, width, height) <= 0.5 + 1e-9);
    }
}

/* The largest sums that 32 and 64 bits have to hold. */
TEST(test_largest_white_picture_stays_white)
{
    size_t side = FULCRUM_FRAME_SOURCE_MAX;
    memset(grey, 255, sizeof grey);
    memset(sums, 0, sizeof sums);
    uint8_t out[FULCRUM_FRAME_84_BYTE];
    fulcrum_frame_84(out, grey, side, side, sums);
    size_t white_count = 0;
    for (size_t i = 0; i < sizeof out; i++) {
        white_count += out[i] == 255;
    }
    CU_ASSERT_EQUAL(white_count, sizeof out);
}

/* The built-in cartridge. */

/* Filled before the first case. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static uint8_t rom[FULCRUM_GAMEBOY_ROM_BYTE];

SUITE_SETUP
{
    memset(rom, 0xA5, sizeof rom);
    fulcrum_gameboy_rom(rom);
    return 0;
}

/* The sum that a console's start-up code forms: 25 + all bytes + checksum is 0. */
TEST(test_header_passes_the_start_up_check)
{
    unsigned sum = 25;
    for (size_t i = 0x134; i <= 0x14D; i++) {
        sum += rom[i];
    }
    CU_ASSERT_EQUAL(sum & 0xFF, 0);
}

TEST(test_sum_over_the_cartridge_is_stored_high_byte_first)
{
    unsigned stored = rom[0x14E] * 256U + rom[0x14F];
    unsigned sum = 0;
    for (size_t i = 0; i < FULCRUM_GAMEBOY_ROM_BYTE; i++) {
        sum += rom[i];
    }
    sum -= rom[0x14E] + rom[0x14F];
    CU_ASSERT_EQUAL(sum & 0xFFFF, stored);
    CU_ASSERT_NOT_EQUAL(stored, 0);
}

TEST(test_cartridge_is_plain_and_starts_behind_the_header)
{
    static const uint8_t jump[] = {0x00, 0xC3, 0x50, 0x01};
    CU_ASSERT_EQUAL(memcmp(rom + 0x100, jump, sizeof jump), 0);
    CU_ASSERT_EQUAL(memcmp(rom + 0x134, "LAMPS AND MOTHS", 16), 0);
    for (size_t i = 0x144; i <= 0x14C; i++) {
        CU_ASSERT_EQUAL(rom[i], 0);
    }
}

/* The console's maker owns a picture there; none of it is ours to give away. */
TEST(test_trademark_area_is_empty)
{
    for (size_t i = 0x104; i < 0x134; i++) {
        CU_ASSERT_EQUAL(rom[i], 0);
    }
}
