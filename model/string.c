/* string.c - text that grows as it is written, UTF-8, and escapes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/string.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *fulcrum_string_room(struct fulcrum_string *text, size_t more)
{
    size_t needed = text->length + more + 1;
    if (text->is_lost) {
        return NULL;
    }
    if (needed > text->room) {
        size_t room = needed > 2 * text->room ? needed : 2 * text->room;
        char *grown = realloc(text->chars, room);
        if (grown == NULL) {
            text->is_lost = true;
            return NULL;
        }
        text->chars = grown;
        text->room = room;
    }
    return text->chars + text->length;
}

void fulcrum_string_append(struct fulcrum_string *text, const void *bytes, size_t count)
{
    char *end = fulcrum_string_room(text, count);
    if (end != NULL) {
        memcpy(end, bytes, count);
        end[count] = '\0';
        text->length += count;
    }
}

void fulcrum_string_add(struct fulcrum_string *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0 && fulcrum_string_room(text, (size_t)length) != NULL) {
        va_start(args, format);
        (void)vsnprintf(text->chars + text->length, (size_t)length + 1, format, args);
        va_end(args);
        text->length += (size_t)length;
    }
}

void fulcrum_string_add_parts(struct fulcrum_string *text, const char *parts)
{
    while (parts != NULL && *parts != '\0') {
        struct fulcrum_string part = {0};
        size_t length = strcspn(parts, ";");
        fulcrum_string_add(&part, "%.*s", (int)length, parts);
        if (strstr(fulcrum_string_get(text), fulcrum_string_get(&part)) == NULL) {
            fulcrum_string_add(
                text, "%s%s", text->length > 0 ? "; " : "", fulcrum_string_get(&part));
        }
        fulcrum_string_clear(&part);
        parts += length;
        parts += strspn(parts, "; ");
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

size_t fulcrum_utf8_length(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    unsigned char first = byte[0];
    size_t length = first > 0 && first < 0x80 ? 1 : 0;
    if (first >= 0xc2 && first <= 0xf4) {
        length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    }
    for (size_t j = 1; j < length; j++) {
        if ((byte[j] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_overlong =
        (first == 0xe0 && byte[1] < 0xa0) || (first == 0xf0 && byte[1] < 0x90);
    bool is_no_character =
        (first == 0xed && byte[1] > 0x9f) || (first == 0xf4 && byte[1] > 0x8f);
    return is_overlong || is_no_character ? 0 : length;
}

size_t fulcrum_escape_next(const char *text, const struct fulcrum_escape *escapes,
    const char *replacement, const char **piece, size_t *length)
{
    size_t valid = fulcrum_utf8_length(text);
    *piece = valid == 0 || (unsigned char)*text < 0x20U ? replacement : text;
    for (; escapes->instead != NULL; escapes++) {
        if (escapes->character == *text) {
            *piece = escapes->instead;
        }
    }
    *length = *piece == text ? valid : strlen(*piece);
    return valid > 0 ? valid : 1;
}
