/* scratch.h - a folder of its own for each test that needs files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_SCRATCH_H
#define FULCRUM_TESTS_SCRATCH_H

#include <stddef.h>

struct scratch {
    char folder[200];
};

/* A new empty folder; ends the program where there can be none. */
struct scratch scratch_new(void);

/* Removes the folder with everything in it. */
void scratch_free(const struct scratch *scratch);

/* Path of a file in it; the caller frees it with free(). */
char *scratch_path(const struct scratch *scratch, const char *file);

/* Writes a file, with the folders above it, and returns its path; the caller frees it
 * with free(). */
char *scratch_write(const struct scratch *scratch, const char *file, const char *text);

/* The text of a file, "" where there is none; the caller frees it with free(). */
char *scratch_read(const char *path);

/* Files and folders in it. */
size_t scratch_count(const struct scratch *scratch);

#endif
