/* libretro_core.h - console emulators loaded from shared objects, one copy each. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_LIBRETRO_CORE_H
#define FULCRUM_CALIBRATE_LIBRETRO_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate/libretro_abi.h"
#include "model/status.h"

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
 *   out      set on success only; given back with fulcrum_libretro_file_free
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT (empty, or too large to be one),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_libretro_file_read(
    struct fulcrum_libretro_file *out, const char *path, const char *what,
    struct fulcrum_error *err);

/* The struct may be read from or zero. */
void fulcrum_libretro_file_free(struct fulcrum_libretro_file *file);

/*
 * Loads a private copy of a core, so that its global state belongs to the caller
 * alone. The copy is a nameless temporary file in $TMPDIR, else /tmp.
 *   image    the shared object's bytes, only read during the call
 *   path     where they came from, for errors
 *   out      set on success only; given back with fulcrum_libretro_core_close
 *   fails    FULCRUM_ERR_FORMAT (no core of API version 1), FULCRUM_ERR_FILE (no
 *            room for the copy)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_libretro_core_open(
    struct fulcrum_libretro_core *out, const struct fulcrum_libretro_file *image,
    const char *path, struct fulcrum_error *err);

/* The struct may be opened or zero. */
void fulcrum_libretro_core_close(struct fulcrum_libretro_core *core);

#endif
