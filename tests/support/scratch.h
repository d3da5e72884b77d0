/* scratch.h - a folder of its own for each test that needs files, or a stream. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_SCRATCH_H
#define FULCRUM_TESTS_SCRATCH_H

#include <stddef.h>
#include <stdio.h>

struct scratch {
    char folder[200];
    struct scratch_path *paths; /* of scratch_at and scratch_put */
};

/* A new empty folder; ends the program where there can be none. */
struct scratch scratch_new(void);

/* Removes the folder with everything in it. */
void scratch_free(const struct scratch *scratch);

/* Path of a file in it, for as long as it is there. */
const char *scratch_at(struct scratch *scratch, const char *file);

/* Writes a file, with the folders above it; its path is there as long. */
const char *scratch_put(struct scratch *scratch, const char *file, const char *text);

/* Path of a file in it; the caller frees it with free(). */
char *scratch_path(const struct scratch *scratch, const char *file);

/* Writes a file, with the folders above it, and returns its path; the caller frees it
 * with free(). */
char *scratch_write(const struct scratch *scratch, const char *file, const char *text);

/* The text of a file, "" where there is none; the caller frees it with free(). */
char *scratch_read(const char *path);

/* Files and folders in it. */
size_t scratch_count(const struct scratch *scratch);

/* A stream to write to, and what was written to it, which closes it; the caller frees
 * the text with free(). */
FILE *stream_new(void);
char *stream_text(FILE *stream);

#endif
