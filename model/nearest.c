/* nearest.c - the known name that a mistyped one most likely meant. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levenshtein's distance in one row of the table (Wagner and Fischer, 1974): names are
 * short, and suggestions are made once before the program ends. A name is suggested
 * only if less than about half of it is wrong; a guess beyond that would mislead.
 */
#include "model/nearest.h"

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

size_t fulcrum_nearest(
    const char *name, const char *const *first, size_t count, size_t stride)
{
    size_t nearest = count;
    size_t least = length_of(name) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        const char *candidate;
        memcpy(&candidate, (const char *)first + i * stride, sizeof candidate);
        size_t distance = fulcrum_edit_distance(name, candidate);
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}
