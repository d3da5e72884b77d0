/* gameboy_rom.h - a small free game for Game Boy emulators. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_GAMEBOY_ROM_H
#define FULCRUM_CALIBRATE_ACTOR_GAMEBOY_ROM_H

#include <stddef.h>
#include <stdint.h>

#define FULCRUM_GAMEBOY_ROM_BYTE ((size_t)32768)

/*
 * Writes the FULCRUM_GAMEBOY_ROM_BYTE bytes of the cartridge to `rom`. The game is
 * "Lamps and moths": the joypad walks, select runs, start stops the moths, A leaves a
 * lamp, B turns the light off. No state is kept: each call writes the same bytes.
 */
void fulcrum_gameboy_rom(uint8_t *rom);

#endif
