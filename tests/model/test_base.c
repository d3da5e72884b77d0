/* test_base.c - failures, text, seeds and parallel work. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/parallel.h"
#include "model/status.h"
#include "model/string.h"
#include "tests/support/suite.h"

TEST(test_fail_stores_code_and_text)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(
        fulcrum_fail(&err, FULCRUM_ERR_RANGE, "x = %d", 3), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(err.detail, "x = 3");
    CU_ASSERT_EQUAL(fulcrum_fail(NULL, FULCRUM_ERR_FILE, "x"), FULCRUM_ERR_FILE);
}

TEST(test_fail_more_keeps_every_line_that_fits)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)fulcrum_fail_more(&err, FULCRUM_ERR_RANGE, "one");
    (void)fulcrum_fail_more(&err, FULCRUM_ERR_FORMAT, "two");
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(err.detail, "one\ntwo");
    char large[sizeof err.detail];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    (void)fulcrum_fail_more(&err, FULCRUM_ERR_FORMAT, "%s", large);
    CU_ASSERT_STRING_EQUAL(err.detail, "one\ntwo");
}

TEST(test_fail_in_puts_the_context_first)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)fulcrum_fail(&err, FULCRUM_ERR_RANGE, "bad");
    CU_ASSERT_EQUAL(fulcrum_fail_in(&err, err.status, "a.json"), FULCRUM_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(err.detail, "a.json: bad");
}

TEST(test_status_text_covers_every_status)
{
    CU_ASSERT_STRING_EQUAL(fulcrum_status_text(FULCRUM_OK), "success");
    CU_ASSERT_STRING_EQUAL(fulcrum_status_text(FULCRUM_ERR_INTERRUPTED), "interrupted");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_status_text((enum fulcrum_status)99), "unknown status");
}

/* The bytes of a code point by definition (RFC 3629, section 3); returns how many. */
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

enum { SEEDS = 8, STREAMS = 512 };

/* The published generator begins with 0xe220a8397b1dcdaf from state 0. */
TEST(test_the_fold_is_of_splitmix64)
{
    CU_ASSERT_EQUAL(fulcrum_stream_gsl_seed(0), 0xe220a839UL ^ 0x7b1dcdafUL);
}

TEST(test_folds_fit_into_32_bits)
{
    for (uint64_t bit = 0; bit < 64; bit++) {
        CU_ASSERT(fulcrum_stream_gsl_seed(UINT64_C(1) << bit) <= 0xffffffffUL);
    }
}

static size_t count_equal(const uint64_t *seeds, size_t count)
{
    size_t equal = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            equal += seeds[i] == seeds[j];
        }
    }
    return equal;
}

/* Equal pairs among 4096 random numbers of 64 bits: one in 10^12 such sets has one. */
TEST(test_streams_differ)
{
    static uint64_t seeds[SEEDS * STREAMS];
    for (size_t i = 0; i < (size_t)SEEDS * STREAMS; i++) {
        seeds[i] = fulcrum_stream_seed(i / STREAMS, i % STREAMS / 16, i % 16);
    }
    CU_ASSERT_EQUAL(count_equal(seeds, (size_t)SEEDS * STREAMS), 0);
}

TEST(test_the_indices_do_not_change_places)
{
    CU_ASSERT(fulcrum_stream_seed(1, 2, 3) != fulcrum_stream_seed(1, 3, 2));
    CU_ASSERT(fulcrum_stream_seed(1, 2, 3) != fulcrum_stream_seed(2, 1, 3));
    CU_ASSERT_EQUAL(fulcrum_stream_seed(1, 2, 3), fulcrum_stream_seed(1, 2, 3));
}

static double one_bits(uint64_t value)
{
    double count = 0.0;
    for (; value != 0; value >>= 1) {
        count += (double)(value & 1U);
    }
    return count;
}

/* Neighbours share half of their bits: mean 32, standard error 4 / sqrt(1000). */
TEST(test_neighbours_share_no_more_bits_than_chance)
{
    double mean = 0.0;
    for (uint64_t i = 0; i < 1000; i++) {
        mean +=
            one_bits(fulcrum_stream_seed(7, i, 0) ^ fulcrum_stream_seed(7, i + 1, 0));
    }
    CU_ASSERT_DOUBLE_EQUAL(mean / 1000.0, 32.0, 5.0 * 4.0 / 31.6);
}

enum { MOST = 1000 };

struct tally {
    int done[MOST];
    size_t sum[MOST];
};

static void count_piece(void *context, size_t index)
{
    struct tally *tally = context;
    tally->done[index]++;
    /* Uneven work, so that threads overtake each other. */
    for (size_t i = 0; i < index * (index % 7); i++) {
        tally->sum[index] += i;
    }
}

/* Pieces whose traces are not those of `count` pieces done once. */
static size_t count_wrong(const struct tally *tally, size_t count)
{
    size_t wrong = 0;
    for (size_t j = 0; j < MOST; j++) {
        size_t turns = j < count ? j * (j % 7) : 0;
        wrong += tally->done[j] != (j < count ? 1 : 0);
        wrong += tally->sum[j] != (turns > 0 ? turns * (turns - 1) / 2 : 0);
    }
    return wrong;
}

TEST(test_every_piece_is_done_once)
{
    static const size_t counts[] = {0, 1, 2, 3, 64, MOST};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        struct tally tally;
        memset(&tally, 0, sizeof tally);
        fulcrum_parallel_each(counts[i], count_piece, &tally);
        CU_ASSERT_EQUAL(count_wrong(&tally, counts[i]), 0);
    }
}

static void nest(void *context, size_t index)
{
    struct tally *tallies = context;
    fulcrum_parallel_each(MOST, count_piece, &tallies[index]);
}

TEST(test_work_may_have_pieces_of_its_own)
{
    struct tally tallies[4];
    memset(tallies, 0, sizeof tallies);
    fulcrum_parallel_each(4, nest, tallies);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(count_wrong(&tallies[i], MOST), 0);
    }
}
