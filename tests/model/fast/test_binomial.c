/* test_binomial.c - chances of how many come to pass, by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/greedy_small.h"

#include <math.h>

#include "tests/support/suite.h"

TEST(test_power_of_whole_exponents)
{
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_power(0.0, 0), 1.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_power(0.0, 3), 0.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_power(3.0, 5), 243.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_power(-2.0, 10), 1024.0, 0.0);
}

static void assert_same(const double *actual, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_DOUBLE_EQUAL(actual[i], expected[i], 1e-15);
    }
}

TEST(test_chances_by_hand)
{
    static const struct {
        double chance;
        double out[4];
    } cases[] = {
        {0.0, {1.0, 0.0, 0.0, 0.0}},
        {1.0, {0.0, 0.0, 0.0, 1.0}},
        {0.5, {0.125, 0.375, 0.375, 0.125}},
        {0.1, {0.729, 0.243, 0.027, 0.001}},
        {0.9, {0.001, 0.027, 0.243, 0.729}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double out[4];
        fulcrum_binomial(out, 3, cases[i].chance);
        assert_same(out, cases[i].out, 4);
    }
    double alone = 0.0;
    fulcrum_binomial(&alone, 0, 0.3);
    CU_ASSERT_DOUBLE_EQUAL(alone, 1.0, 0.0);
}

/* Mean n p, second moment n p (1 - p) + (n p)^2, from either end. */
TEST(test_moments_of_many)
{
    static const double chances[] = {1e-6, 0.2, 0.5, 0.7, 0.999};
    for (size_t i = 0; i < LENGTH(chances); i++) {
        double out[257];
        double moment[3] = {0.0};
        fulcrum_binomial(out, 256, chances[i]);
        for (size_t j = 0; j <= 256; j++) {
            double count = (double)j;
            moment[0] += out[j];
            moment[1] += out[j] * count;
            moment[2] += out[j] * count * count;
        }
        double mean = 256.0 * chances[i];
        assert_close("sum", moment[0], 1.0, 1e-12);
        assert_close("mean", moment[1], mean, 1e-12);
        assert_close(
            "second", moment[2], mean * (1.0 - chances[i]) + mean * mean, 1e-12);
    }
}
