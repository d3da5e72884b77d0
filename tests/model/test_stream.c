/* test_stream.c - seeds of streams are fixed, spread and different from each other. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/stream.h"

#include "tests/support/suite.h"

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
