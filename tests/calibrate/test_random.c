/* test_random.c - random streams are reproducible and even. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/statistics.h"

#include <math.h>

#include "tests/support/suite.h"

/* First outputs of the published generator from state 0. */
TEST(test_bits_are_those_of_splitmix64)
{
    struct fulcrum_random random = {0};
    CU_ASSERT_EQUAL(fulcrum_random_bits(&random), UINT64_C(0xe220a8397b1dcdaf));
    CU_ASSERT_EQUAL(fulcrum_random_bits(&random), UINT64_C(0x6e789e6aa1b965f4));
    CU_ASSERT_EQUAL(fulcrum_random_bits(&random), UINT64_C(0x06c45d188009454f));
}

TEST(test_neighbouring_seeds_share_no_numbers)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fulcrum_random one = fulcrum_random_seeded(seed);
        struct fulcrum_random two = fulcrum_random_seeded(seed + 1);
        uint64_t second = fulcrum_random_bits(&two);
        int shared_count = 0;
        for (int i = 0; i < 20; i++) {
            shared_count += fulcrum_random_bits(&one) == second;
        }
        CU_ASSERT_EQUAL(shared_count, 0);
    }
}

TEST(test_between_is_uniform_and_inside)
{
    struct fulcrum_random random = fulcrum_random_seeded(5);
    double sum = 0.0;
    double square = 0.0;
    int count = 100000;
    for (int i = 0; i < count; i++) {
        double value = fulcrum_random_between(&random, -1.0, 3.0);
        CU_ASSERT(value >= -1.0 && value < 3.0);
        sum += value;
        square += value * value;
    }
    double mean = sum / count;
    /* Six standard errors of the mean and of the variance, 16 / 12. */
    CU_ASSERT_DOUBLE_EQUAL(mean, 1.0, 6.0 * sqrt(16.0 / 12.0 / count));
    CU_ASSERT_DOUBLE_EQUAL(square / count - mean * mean, 16.0 / 12.0, 0.03);
}
