/* test_statistics.c - robust statistics against values worked by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/statistics.h"

#include <gsl/gsl_rng.h>
#include <math.h>

#include "tests/support/suite.h"

TEST(test_statistics_match_hand_worked_values)
{
    static const double sample[] = {4, 1, 2, 9, 1, 6, 2};
    struct fulcrum_statistics s;
    ASSERT_OK(fulcrum_statistics_of(&s, sample, 7, NULL));
    assert_close("median", s.median, 2, 0);
    assert_close("mean", s.mean, 25.0 / 7, 1e-14);
    /* Positions 1.5 and 4.5 of 0..6 in 1 1 2 2 4 6 9. */
    assert_close("low quartile", s.low_quartile, 1.5, 1e-14);
    assert_close("high quartile", s.high_quartile, 5, 1e-14);
    /* Seven samples: 2 * 1/128 outside for rank 1, 2 * 8/128 for rank 2. */
    assert_close("interval", s.median_low, 1, 0);
    assert_close("interval", s.median_high, 9, 0);
}

TEST(test_quantiles_reach_from_least_to_greatest)
{
    static const double sorted[] = {10, 20, 40};
    assert_close("0", fulcrum_statistics_quantile(sorted, 3, 0), 10, 0);
    assert_close("1", fulcrum_statistics_quantile(sorted, 3, 1), 40, 0);
    assert_close("0.75", fulcrum_statistics_quantile(sorted, 3, 0.75), 30, 1e-14);
}

/* Ranks from published tables of the sign test's confidence interval. */
TEST(test_median_ranks_match_the_sign_test)
{
    static const struct {
        size_t count;
        size_t rank;
    } cases[] = {{1, 0}, {2, 0}, {5, 0}, {6, 1}, {8, 1}, {9, 2}, {10, 2}, {12, 3},
        {15, 4}, {20, 6}, {25, 8}, {30, 10}, {40, 14}, {50, 18}, {100, 40}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CU_ASSERT_EQUAL(fulcrum_statistics_median_rank(cases[i].count), cases[i].rank);
    }
    double large = (double)fulcrum_statistics_median_rank(1000001);
    double small = (double)fulcrum_statistics_median_rank(1000000);
    assert_close("normal beside binomial", large, small, 1e-5);
}

/* At least 95 % by construction; 15 samples of a skewed law give 96.5 %. */
TEST(test_median_interval_covers_without_knowing_the_law)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t covered = 0;
    for (size_t repeat = 0; repeat < 2000; repeat++) {
        double sample[15];
        for (size_t i = 0; i < 15; i++) {
            sample[i] = -log(gsl_rng_uniform_pos(rng));
        }
        struct fulcrum_statistics s;
        ASSERT_OK(fulcrum_statistics_of(&s, sample, 15, NULL));
        covered += s.median_low <= log(2) && log(2) <= s.median_high;
    }
    gsl_rng_free(rng);
    CU_ASSERT(covered >= 1900 && covered <= 1960);
}

/* 1 2 3 4: deviations -1.5 -.5 .5 1.5; products .75 -.25 .75 over 5. */
TEST(test_autocorrelation_matches_hand_worked_values)
{
    static const double rising[] = {1, 2, 3, 4};
    static const double constant[] = {7, 7, 7};
    struct fulcrum_statistics s;
    ASSERT_OK(fulcrum_statistics_of(&s, rising, 4, NULL));
    assert_close("lag 1", s.lag1, 0.25, 1e-14);
    ASSERT_OK(fulcrum_statistics_of(&s, constant, 3, NULL));
    assert_close("constant", s.lag1, 0, 0);
}

/* Median 100, interval 99..101 or 98..102 of eight samples. */
TEST(test_spread_settles_when_the_interval_is_narrow)
{
    struct fulcrum_statistics s = {
        .count = 100, .median = 100, .median_low = 99, .median_high = 101};
    assert_close("spread", fulcrum_statistics_spread_rel(&s), 0.01, 1e-12);
    CU_ASSERT(fulcrum_statistics_settled(&s, 0.011));
    CU_ASSERT(!fulcrum_statistics_settled(&s, 0.009));
    s.lag1 = 0.19; /* within chance of 100 samples */
    assert_close("chance", fulcrum_statistics_spread_rel(&s), 0.01, 1e-12);
    s.lag1 = 0.6; /* four samples count as one */
    assert_close("correlated", fulcrum_statistics_spread_rel(&s), 0.02, 1e-12);
    s.median = 0;
    CU_ASSERT(isinf(fulcrum_statistics_spread_rel(&s)));
}

TEST(test_five_samples_never_settle)
{
    static const double sample[] = {1, 1, 1, 1, 1, 1};
    struct fulcrum_statistics s;
    ASSERT_OK(fulcrum_statistics_of(&s, sample, 5, NULL));
    CU_ASSERT(isnan(s.median_low) && isnan(s.median_high));
    CU_ASSERT(!fulcrum_statistics_settled(&s, 0.5));
    ASSERT_OK(fulcrum_statistics_of(&s, sample, 6, NULL));
    CU_ASSERT(fulcrum_statistics_settled(&s, 0.5));
}

TEST(test_statistics_refuse_what_is_no_number)
{
    static const double sample[] = {1, (double)NAN, 2};
    struct fulcrum_statistics s = {.count = 77};
    ASSERT_FAILS(
        fulcrum_statistics_of(&s, sample, 3, &err), FULCRUM_ERR_RANGE, "sample 2 of 3");
    CU_ASSERT_EQUAL(fulcrum_statistics_of(&s, sample, 0, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(s.count, 77);
}
