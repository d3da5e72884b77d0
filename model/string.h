/* string.h - text that grows, UTF-8, escapes, and names near to a mistyped one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STRING_H
#define FULCRUM_MODEL_STRING_H

#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"

/* {0} is empty. Memory that runs out is remembered: nothing is added from then on. */
struct fulcrum_string {
    char *chars; /* zero-terminated; NULL while empty */
    size_t length;
    size_t room;
    bool is_lost; /* memory ran out */
};

/* Adds formatted text at the end. */
void fulcrum_string_add(struct fulcrum_string *text, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* Adds `count` bytes, without the cost of a format. */
void fulcrum_string_append(
    struct fulcrum_string *text, const void *bytes, size_t count);

/*
 * The end of the text with room for `more` bytes and a zero byte, for whoever writes
 * there and adds to the length; NULL without memory.
 */
char *fulcrum_string_room(struct fulcrum_string *text, size_t more);

/* "; PART" for each part of "first; second" that is not there yet; NULL adds none. */
void fulcrum_string_add_parts(struct fulcrum_string *text, const char *parts);

/* Borrowed: valid until the text grows or is cleared; "" while empty. */
const char *fulcrum_string_get(const struct fulcrum_string *text);

/* Frees the text; {0} again. */
void fulcrum_string_clear(struct fulcrum_string *text);

/*
 * Bytes of the well-formed UTF-8 sequence at `text`, which a zero byte ends, 0 if it is
 * none. Overlong forms, surrogates and values beyond U+10FFFF are not well-formed.
 */
size_t fulcrum_utf8_length(const char *text);

/* What stands for a character in escaped text; {'\0', NULL} ends a table of them. */
struct fulcrum_escape {
    char character;
    const char *instead;
};

/*
 * The next piece of `text`, which is not at its end, as it stands in escaped text.
 * Other control characters than those of the table, and bytes that are no UTF-8, become
 * `replacement`.
 *   piece    `length` bytes, borrowed from `text`, the table or `replacement`
 * Returns how many bytes of `text` it stands for, 1 or more.
 */
size_t fulcrum_escape_next(const char *text, const struct fulcrum_escape *escapes,
    const char *replacement, const char **piece, size_t *length);

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
