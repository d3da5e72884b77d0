/* gameboy_rom.c - a small free game for Game Boy emulators. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/libretro_core.h"

#include <string.h>

#include "calibrate/fulcrum_gameboy_program.h"

#define VECTOR_VBLANK 0x0040 /* where the processor goes at each vertical blank */
#define ENTRY         0x0100
#define TITLE         0x0134
#define HEADER_SUM    0x014D
#define ROM_SUM       0x014E
#define PROGRAM       0x0150

/*
 * The rest of the header is zero: plain 32 KiB cartridge without battery memory. The
 * area of the maker's trademark stays empty: emulators without a boot ROM, such as
 * gambatte, do not look at it.
 */
void fulcrum_gameboy_rom(uint8_t *rom)
{
    static const uint8_t entry[] = {0x00, 0xC3, PROGRAM & 0xFF, PROGRAM >> 8};
    static const char title[] = "LAMPS AND MOTHS";
    memset(rom, 0, FULCRUM_GAMEBOY_ROM_BYTE);
    rom[VECTOR_VBLANK] = 0xD9; /* reti: waking up is all */
    memcpy(rom + ENTRY, entry, sizeof entry);
    memcpy(rom + TITLE, title, sizeof title - 1);
    memcpy(rom + PROGRAM, fulcrum_gameboy_program, sizeof fulcrum_gameboy_program);
    /* Over title and header; the console refuses a cartridge where it is wrong. */
    for (size_t i = TITLE; i < HEADER_SUM; i++) {
        rom[HEADER_SUM] = (uint8_t)(rom[HEADER_SUM] - rom[i] - 1);
    }
    /* Over all bytes but its own two, which are still zero. */
    unsigned sum = 0;
    for (size_t i = 0; i < FULCRUM_GAMEBOY_ROM_BYTE; i++) {
        sum += rom[i];
    }
    rom[ROM_SUM] = (uint8_t)(sum >> 8 & 0xFF);
    rom[ROM_SUM + 1] = (uint8_t)(sum & 0xFF);
}
