/* folder.h - the folders that hold presets, and files in them by name. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_FOLDER_H
#define FULCRUM_PRESETS_FOLDER_H

#include "presets/preset.h"

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

#endif
