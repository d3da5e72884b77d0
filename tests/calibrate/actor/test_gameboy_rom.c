/* test_gameboy_rom.c - the built-in cartridge is one that a console accepts. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/libretro_core.h"

#include <string.h>

#include "tests/support/suite.h"

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
