/* output.h - output files that appear whole or not at all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_OUTPUT_H
#define FULCRUM_PRESETS_IO_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "model/status.h"
#include "model/string.h"

/* A file being written under a temporary name in the folder of its path. */
struct fulcrum_output;

/*
 * Opens `path` for writing; "-" or NULL is standard output. Fails at once where the
 * folder cannot be written, so that long work is not done in vain.
 *   fails    FULCRUM_ERR_FILE: the detail names the path and the reason
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_output_open(
    const char *path, struct fulcrum_output **out, struct fulcrum_error *err);

/* Borrowed. */
FILE *fulcrum_output_stream(struct fulcrum_output *output);

/*
 * Flushes, checks every write so far and renames to the wanted name. Frees `output`
 * either way; on failure no file is left.
 *   fails    FULCRUM_ERR_FILE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_output_commit(
    struct fulcrum_output *output, struct fulcrum_error *err);

/*
 * Writes a file of this text.
 *   fails    as fulcrum_output_open
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_output_text(
    const char *path, const char *text, struct fulcrum_error *err);

/* Drops what was written. Accepts NULL. */
void fulcrum_output_discard(struct fulcrum_output *output);

/*
 * Whether fulcrum_output_open would succeed: results nobody can store are not worth the
 * wait. Leaves nothing behind.
 *   fails    as fulcrum_output_open
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_output_check(
    const char *path, struct fulcrum_error *err);

/* The file that is written until the output is committed; "" where it is written in
 * place. Borrowed. */
const char *fulcrum_output_temporary(const struct fulcrum_output *output);

/* Writes a text with what fulcrum_escape_next (model/string.h) makes of its pieces. */
void fulcrum_print_escaped(FILE *stream, const char *text,
    const struct fulcrum_escape *escapes, const char *replacement);

/* Whether writing to `path` would replace the file `input`, which is there. */
int fulcrum_output_replaces(const char *path, const char *input);

/* Whether two paths stand for one file, which need not be there. Devices and standard
 * output are no files. */
bool fulcrum_output_is_same(const char *left, const char *right);

#endif
