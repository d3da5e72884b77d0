/* nearest.c - the known names that a mistyped one may have meant. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levenshtein's distance in one row of the table (Wagner and Fischer, 1974): names are
 * short, and suggestions are made once before the program ends. A name is suggested
 * only if less than about half of it is wrong; a guess beyond that would mislead.
 */
#include "model/nearest.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

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
