/* text_file.h - whole text files in memory. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_TEXT_FILE_H
#define FULCRUM_PRESETS_IO_TEXT_FILE_H

#include <stddef.h>

#include "model/status.h"

/*
 * Reads a file of at most 64 MiB; "-" is standard input. A byte-order mark is taken
 * off; a zero byte follows the text.
 *   out      the caller frees it with free()
 *   fails    FULCRUM_ERR_FILE (absent, unreadable, a directory, too large),
 *            FULCRUM_ERR_FORMAT (empty, zero bytes inside), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_text_file_read(
    const char *path, char **out, size_t *length, struct fulcrum_error *err);

#endif
