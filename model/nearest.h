/* nearest.h - the known names that a mistyped one may have meant. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_NEAREST_H
#define FULCRUM_MODEL_NEAREST_H

#include <stdbool.h>
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

/* Names in rows of any table; `first` is borrowed. */
struct fulcrum_names {
    const char *const *first;
    size_t count;
    size_t stride; /* bytes from one `const char *` to the next */
};

/*
 * "table, csv or json"; "a, b, ..." and 0 where not all of them fit, else 1.
 *   size     at least 4
 */
bool fulcrum_names_join(const struct fulcrum_names *names, char *out, size_t size);

/*
 * What ends the refusal of a name that is none of these: "; did you mean 'json'?", or
 * ": expected table, csv or json" where none is near; "" where there are none.
 *   size     at least 80
 */
void fulcrum_names_hint(
    const struct fulcrum_names *names, const char *name, char *out, size_t size);

#endif
