/* test_utf8.c - well-formed UTF-8 as the Unicode standard has it, and nothing else. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/string.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/suite.h"

/* The bytes of a code point by the definition (RFC 3629, section 3); returns how many.
 */
static size_t encode(uint32_t point, char out[5])
{
    static const unsigned char lead[] = {0x00, 0x00, 0xc0, 0xe0, 0xf0};
    size_t length = 1;
    length += point >= 0x80;
    length += point >= 0x800;
    length += point >= 0x10000;
    memset(out, 0, 5);
    for (size_t i = length; i-- > 1;) {
        out[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    out[0] = (char)(lead[length] | point);
    return length;
}

TEST(test_every_code_point_but_surrogates_is_well_formed)
{
    size_t wrong = 0;
    for (uint32_t point = 1; point <= 0x10ffff; point++) {
        char text[5];
        size_t length = encode(point, text);
        bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
        wrong += fulcrum_utf8_length(text) != (is_surrogate ? 0 : length);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(test_malformed_sequences_are_none)
{
    static const char *const texts[] = {
        "",                 /* the end of the text */
        "\x80",             /* a continuation alone */
        "\xbf",             /* the last of them */
        "\xc3",             /* cut off by the end */
        "\xe2\x82",         /* the same, later */
        "\xf0\x9f\x98",     /* and later */
        "\xc3(",            /* cut off by a letter */
        "\xe2(\xa1",        /* a letter in the middle */
        "\xe2\x82(",        /* at the end */
        "\xf0\x9f(\x80",    /* of four */
        "\xc0\x80",         /* two bytes for a zero */
        "\xc1\xbf",         /* two bytes for what one holds */
        "\xe0\x9f\xbf",     /* three for two */
        "\xf0\x8f\xbf\xbf", /* four for three */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf5\x80\x80\x80", /* far beyond */
        "\xfe",             /* in no sequence */
        "\xff",             /* nor this */
    };
    for (size_t i = 0; i < LENGTH(texts); i++) {
        CU_ASSERT_EQUAL(fulcrum_utf8_length(texts[i]), 0);
    }
}

TEST(test_pieces_of_escaped_text)
{
    static const struct fulcrum_escape escapes[] = {
        {'<', "&lt;"}, {'\n', "\n"}, {'\0', NULL}};
    static const struct {
        const char *text;
        const char *piece;
        size_t taken;
    } cases[] = {{"<b", "&lt;", 1}, {"b<", "b", 1}, {"\nx", "\n", 1}, {"\tx", "?", 1},
        {"\xC3\xA9x", "\xC3\xA9", 2}, {"\xC3x", "?", 1}, {"\xFFx", "?", 1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *piece = NULL;
        size_t length = 0;
        size_t taken =
            fulcrum_escape_next(cases[i].text, escapes, "?", &piece, &length);
        CU_ASSERT_EQUAL(taken, cases[i].taken);
        CU_ASSERT_EQUAL_FATAL(length, strlen(cases[i].piece));
        CU_ASSERT_EQUAL(memcmp(piece, cases[i].piece, length), 0);
    }
}
