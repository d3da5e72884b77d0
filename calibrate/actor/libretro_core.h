/* libretro_core.h - emulator cores: their interface, frames and the game that comes
 * along. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_LIBRETRO_CORE_H
#define FULCRUM_CALIBRATE_ACTOR_LIBRETRO_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

/* The part of the libretro interface, version 1, that we speak. */

#define LIBRETRO_JOYPAD 1U /* the device; 0 is none */

/* Bits of the joypad, as ids of the input callback. */
enum libretro_button {
    LIBRETRO_B = 0,
    LIBRETRO_SELECT = 2,
    LIBRETRO_START = 3,
    LIBRETRO_UP = 4,
    LIBRETRO_DOWN = 5,
    LIBRETRO_LEFT = 6,
    LIBRETRO_RIGHT = 7,
    LIBRETRO_A = 8,
    LIBRETRO_BUTTON_END = 16
};

/*
 * Questions and notices of a core to the program around it, with the type that the
 * second argument of the environment callback points to. Those that are not here are
 * answered with false, which every core must bear.
 */
enum libretro_command {
    LIBRETRO_GET_CAN_DUPE = 3,           /* bool */
    LIBRETRO_SET_PERFORMANCE_LEVEL = 8,  /* unsigned */
    LIBRETRO_GET_SYSTEM_DIRECTORY = 9,   /* const char *: firmware is looked up there */
    LIBRETRO_SET_PIXEL_FORMAT = 10,      /* int, an enum fulcrum_pixel */
    LIBRETRO_SET_INPUT_DESCRIPTORS = 11, /* table of texts */
    LIBRETRO_GET_VARIABLE = 15,          /* struct libretro_variable */
    LIBRETRO_SET_VARIABLES = 16,         /* table of struct libretro_variable */
    LIBRETRO_GET_VARIABLE_UPDATE = 17,   /* bool */
    LIBRETRO_SET_SUPPORT_NO_GAME = 18,   /* bool */
    LIBRETRO_GET_LOG_INTERFACE = 27,     /* struct libretro_log */
    LIBRETRO_SET_CONTROLLER_INFO = 35,   /* table of texts */
    LIBRETRO_SET_MEMORY_MAPS = 36 | 0x10000, /* 0x10000 marks experimental commands */
    LIBRETRO_SET_GEOMETRY = 37               /* struct libretro_geometry */
};

struct libretro_variable {
    const char *key;
    const char *value;
};

struct libretro_log {
    void (*log)(int level, const char *format, ...);
};

struct libretro_system_info {
    const char *library_name;
    const char *library_version;
    const char *valid_extensions; /* "gb|gbc" */
    bool need_fullpath;           /* opens the ROM by its path, not from memory */
    bool block_extract;
};

struct libretro_game_info {
    const char *path;
    const void *data;
    size_t size;
    const char *meta;
};

struct libretro_geometry {
    unsigned base_width;
    unsigned base_height;
    unsigned max_width;
    unsigned max_height;
    float aspect_ratio;
};

struct libretro_av_info {
    struct libretro_geometry geometry;
    double frame_hz;
    double sample_hz;
};

typedef bool libretro_environment(unsigned command, void *data);
typedef void libretro_video(
    const void *data, unsigned width, unsigned height, size_t pitch_byte);
typedef void libretro_audio(int16_t left, int16_t right);
typedef size_t libretro_audio_batch(const int16_t *samples, size_t frame_count);
typedef void libretro_poll(void);
typedef int16_t libretro_input(
    unsigned port, unsigned device, unsigned index, unsigned id);

/* A whole file in memory. */
struct fulcrum_libretro_file {
    uint8_t *bytes;
    size_t size_byte;
};

/* A loaded core: its functions without their prefix "retro_". */
struct fulcrum_libretro_core {
    void *library;
    unsigned (*api_version)(void);
    void (*init)(void);
    void (*deinit)(void);
    void (*set_environment)(libretro_environment *);
    void (*set_video_refresh)(libretro_video *);
    void (*set_audio_sample)(libretro_audio *);
    void (*set_audio_sample_batch)(libretro_audio_batch *);
    void (*set_input_poll)(libretro_poll *);
    void (*set_input_state)(libretro_input *);
    void (*get_system_info)(struct libretro_system_info *);
    void (*get_system_av_info)(struct libretro_av_info *);
    void (*set_controller_port_device)(unsigned port, unsigned device);
    void (*reset)(void);
    void (*run)(void);
    size_t (*serialize_size)(void);
    bool (*serialize)(void *, size_t);
    bool (*unserialize)(const void *, size_t);
    bool (*load_game)(const struct libretro_game_info *);
    void (*unload_game)(void);
};

/*
 * Finds the shared object of a core. A `name` with a slash is a path; any other is
 * looked for as <name>_libretro.so in $LIBRETRO_DIRECTORY and the usual folders.
 *   path     room for `path_byte` bytes
 *   fails    FULCRUM_ERR_UNSUPPORTED (not installed), FULCRUM_ERR_RANGE (too long)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_libretro_find(
    char *path, size_t path_byte, const char *name, struct fulcrum_error *err);

/*
 * Reads a regular file that is not empty.
 *   what     names it in errors ("core", "ROM")
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT (empty, or too large to be one),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_libretro_file_read(
    struct fulcrum_libretro_file *out, const char *path, const char *what,
    struct fulcrum_error *err);
void fulcrum_libretro_file_free(struct fulcrum_libretro_file *file);

/*
 * Loads a private copy of a core, so that its global state belongs to the caller
 * alone. The copy is a nameless temporary file in $TMPDIR, else /tmp.
 *   image    the shared object's bytes, only read during the call
 *   path     where they came from, for errors
 *   fails    FULCRUM_ERR_FORMAT (no core of API version 1), FULCRUM_ERR_FILE (no
 *            room for the copy)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_libretro_core_open(
    struct fulcrum_libretro_core *out, const struct fulcrum_libretro_file *image,
    const char *path, struct fulcrum_error *err);
void fulcrum_libretro_core_close(struct fulcrum_libretro_core *core);

/* A video frame as Atari agents see it: 84 x 84 shades of grey. */

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

/* A small free game for Game Boy emulators. */

#define FULCRUM_GAMEBOY_ROM_BYTE ((size_t)32768)

/*
 * Writes the FULCRUM_GAMEBOY_ROM_BYTE bytes of the cartridge to `rom`. The game is
 * "Lamps and moths": the joypad walks, select runs, start stops the moths, A leaves a
 * lamp, B turns the light off. No state is kept: each call writes the same bytes.
 */
void fulcrum_gameboy_rom(uint8_t *rom);

#endif
