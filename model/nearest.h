/* nearest.h - the known name that a mistyped one most likely meant. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_NEAREST_H
#define FULCRUM_MODEL_NEAREST_H

#include <stddef.h>

/*
 * Least number of single-character insertions, deletions and substitutions that turn
 * `a` into `b` (Levenshtein); only the first 127 characters of each count.
 */
size_t fulcrum_edit_distance(const char *a, const char *b);

/*
 * Index of the candidate nearest to `name`, or `count` where none is near enough to
 * suggest (more than half of its characters differ). The first of equals wins.
 *   stride   bytes from one `const char *` to the next, so that rows of any table serve
 */
size_t fulcrum_nearest(
    const char *name, const char *const *first, size_t count, size_t stride);

#endif
