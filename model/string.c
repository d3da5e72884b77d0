/* string.c - text that grows as it is written. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/string.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the terminating zero. */
static bool make_room(struct fulcrum_string *text, size_t more)
{
    if (text->is_lost) {
        return false;
    }
    size_t needed = text->length + more + 1;
    if (needed > text->room) {
        size_t room = needed > 2 * text->room ? needed : 2 * text->room;
        char *grown = realloc(text->chars, room);
        if (grown == NULL) {
            text->is_lost = true;
            return false;
        }
        text->chars = grown;
        text->room = room;
    }
    return true;
}

void fulcrum_string_add_bytes(
    struct fulcrum_string *text, const char *bytes, size_t length)
{
    if (make_room(text, length)) {
        memcpy(text->chars + text->length, bytes, length);
        text->length += length;
        text->chars[text->length] = '\0';
    }
}

void fulcrum_string_add(struct fulcrum_string *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0 && make_room(text, (size_t)length)) {
        va_start(args, format);
        (void)vsnprintf(text->chars + text->length, (size_t)length + 1, format, args);
        va_end(args);
        text->length += (size_t)length;
    }
}

const char *fulcrum_string_get(const struct fulcrum_string *text)
{
    return text->chars != NULL ? text->chars : "";
}

void fulcrum_string_clear(struct fulcrum_string *text)
{
    free(text->chars);
    *text = (struct fulcrum_string){0};
}
