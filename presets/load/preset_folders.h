/* preset_folders.h - the folders that hold presets, and files in them by name. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_PRESET_FOLDERS_H
#define FULCRUM_PRESETS_LOAD_PRESET_FOLDERS_H

#include "model/status.h"
#include "presets/load/preset_kind.h"

enum { FULCRUM_PRESET_PATH_SIZE = 512 };

/*
 * The file of a preset.
 *   name     a preset's name, or a path, which is returned as it is: whether there is a
 *            file shows when it is read
 *   from     the file that names it: relative paths start in its folder; NULL: in the
 *            current one
 *   fails    FULCRUM_ERR_UNKNOWN_NAME (the detail suggests the nearest preset),
 *            FULCRUM_ERR_FILE ($FULCRUM_PRESETS is no folder)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_preset_find(
    enum fulcrum_preset_kind kind, const char *name, const char *from,
    char out[FULCRUM_PRESET_PATH_SIZE], struct fulcrum_error *err);

/*
 * The first file of that name that lies in one of the folders itself.
 *   fails    FULCRUM_ERR_FILE (there is none; $FULCRUM_PRESETS is no folder)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_preset_find_file(
    const char *file, char out[FULCRUM_PRESET_PATH_SIZE], struct fulcrum_error *err);

struct fulcrum_preset_entry {
    char name[64];
    char title[160];
    char file[512];
};

/*
 * Every preset of one kind, sorted by name. Folders searched: $FULCRUM_PRESETS if set,
 * then the installed one, then the source tree's the program was built from.
 *   out      the caller frees it with free()
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_preset_list(
    enum fulcrum_preset_kind kind, struct fulcrum_preset_entry **out, size_t *count,
    struct fulcrum_error *err);

#endif
