/* utf8.c - which bytes are well-formed UTF-8. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/utf8.h"

size_t fulcrum_utf8_length(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    static const struct {
        unsigned char first_least;
        unsigned char first_most;
        unsigned char second_least;
        unsigned char second_most;
        unsigned char length;
    } forms[] = {
        {0x01, 0x7f, 0x00, 0x00, 1},
        {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    size_t i = 0;
    while (i < sizeof forms / sizeof forms[0] &&
           (byte[0] < forms[i].first_least || byte[0] > forms[i].first_most)) {
        i++;
    }
    if (i == sizeof forms / sizeof forms[0]) {
        return 0;
    }
    size_t length = forms[i].length;
    if (length > 1 &&
        (byte[1] < forms[i].second_least || byte[1] > forms[i].second_most)) {
        return 0;
    }
    for (size_t j = 2; j < length; j++) {
        if ((byte[j] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}
