/* string.c - text that grows, UTF-8, escapes, and names near to a mistyped one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/string.h"

#include <assert.h>
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

/*
 * Known names that a mistyped one may have meant: Levenshtein's distance in one row of
 * the table (Wagner and Fischer, 1974), as names are short, and suggestions are made
 * once before the program ends. A name is suggested only if less than about half of it
 * is wrong; a guess beyond that would mislead.
 */

enum { LONGEST = 127 };

static size_t length_of(const char *text)
{
    size_t length = strlen(text);
    return length < LONGEST ? length : LONGEST;
}

static size_t least_of_three(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

size_t fulcrum_edit_distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1];
    size_t a_length = length_of(a);
    size_t b_length = length_of(b);
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t above = row[j];
            size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = least_of_three(above + 1, row[j - 1] + 1, substitute);
            diagonal = above;
        }
    }
    return row[b_length];
}

static const char *name_at(const struct fulcrum_names *names, size_t i)
{
    const char *name;
    memcpy(&name, (const char *)names->first + i * names->stride, sizeof name);
    return name;
}

size_t fulcrum_nearest(
    const char *name, const char *const *first, size_t count, size_t stride)
{
    const struct fulcrum_names names = {first, count, stride};
    size_t nearest = count;
    size_t least = length_of(name) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = fulcrum_edit_distance(name, name_at(&names, i));
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}

bool fulcrum_names_join(const struct fulcrum_names *names, char *out, size_t size)
{
    static const char rest[] = "...";
    assert(size >= sizeof rest);
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < names->count; i++) {
        const char *name = name_at(names, i);
        bool is_last = i + 1 == names->count;
        const char *after = is_last ? "" : i + 2 == names->count ? " or " : ", ";
        /* Behind every name but the last there is room to say that more follow. */
        size_t room = size - used - (is_last ? 1 : sizeof rest);
        size_t length = strlen(name) + strlen(after);
        if (length > room) {
            memcpy(out + used, rest, sizeof rest);
            return false;
        }
        (void)snprintf(out + used, size - used, "%s%s", name, after);
        used += length;
    }
    return true;
}

void fulcrum_names_hint(
    const struct fulcrum_names *names, const char *name, char *out, size_t size)
{
    static const char expected[] = ": expected ";
    out[0] = '\0';
    size_t near = fulcrum_nearest(name, names->first, names->count, names->stride);
    if (near < names->count) {
        (void)snprintf(out, size, "; did you mean '%s'?", name_at(names, near));
        return;
    }
    if (names->count > 0) {
        memcpy(out, expected, sizeof expected);
        (void)fulcrum_names_join(
            names, out + sizeof expected - 1, size - sizeof expected + 1);
    }
}
