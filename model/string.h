/* string.h - text that grows as it is written, in place of buffers that cut it. */
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

/* Adds `length` bytes at the end, none of them zero. */
void fulcrum_string_add_bytes(
    struct fulcrum_string *text, const char *bytes, size_t length);

/* Borrowed: valid until the text grows or is cleared; "" while empty. */
const char *fulcrum_string_get(const struct fulcrum_string *text);

/* Frees the text; {0} again. */
void fulcrum_string_clear(struct fulcrum_string *text);

#endif
