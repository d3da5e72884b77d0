/* test_pure_death.c - counts that only fall, against binomial and Poisson numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/exact/chain.h"

#include <math.h>

#include "tests/support/suite.h"

enum { MOST = 200 };

/* n independent lives: the rest is binomial. lgamma is good to some 1e-14 of it. */
static double binomial(size_t n, size_t left, double time_s)
{
    double k = (double)left;
    double all = (double)n;
    double dead = -expm1(-time_s);
    double log_ways = lgamma(all + 1.0) - lgamma(k + 1.0) - lgamma(all - k + 1.0);
    return exp(log_ways - k * time_s + (all - k) * log(dead));
}

/* One at a time: the number gone is Poisson until nobody is left. */
static double poisson(size_t n, size_t left, double time_s)
{
    double gone = (double)(n - left);
    return exp(gone * log(time_s) - time_s - lgamma(gone + 1.0));
}

static void rates_of(double *rate_per_s, double servers)
{
    for (size_t n = 0; n <= MOST; n++) {
        rate_per_s[n] = fmin((double)n, servers);
    }
}

/* Nobody left is what remains to 1. */
static void assert_distribution(struct fulcrum_pure_death *death, size_t start,
    double time_s, double (*expected)(size_t n, size_t left, double time_s))
{
    const double *left = fulcrum_pure_death_run(death, start, time_s);
    double some = 0.0;
    for (size_t n = start; n > 0; n--) {
        double chance = expected(start, n, time_s);
        some += chance;
        if (chance > 1e-60) {
            assert_close("left", left[n], chance, 1e-12);
        }
    }
    assert_close("none", 1.0 + left[0], 2.0 - some, 1e-12);
}

TEST(test_independent_lives_are_binomial)
{
    static const struct {
        size_t start;
        double time_s;
    } cases[] = {{1, 0.5}, {1, 100.0}, {7, 1e-3}, {40, 0.05}, {40, 2.0}, {40, 30.0},
        {200, 0.2}, {200, 1.0}, {200, 7.0}, {200, 60.0}};
    double rate_per_s[MOST + 1];
    rates_of(rate_per_s, MOST);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_pure_death death;
        CU_ASSERT_FATAL(fulcrum_pure_death_init(&death, rate_per_s, MOST));
        assert_distribution(&death, cases[i].start, cases[i].time_s, binomial);
        fulcrum_pure_death_clear(&death);
    }
}

TEST(test_one_at_a_time_is_poisson)
{
    static const double times_s[] = {0.01, 1.0, 40.0, 150.0, 700.0};
    double rate_per_s[MOST + 1];
    rates_of(rate_per_s, 1.0);
    struct fulcrum_pure_death death;
    CU_ASSERT_FATAL(fulcrum_pure_death_init(&death, rate_per_s, MOST));
    for (size_t i = 0; i < LENGTH(times_s); i++) {
        assert_distribution(&death, MOST, times_s[i], poisson);
    }
    fulcrum_pure_death_clear(&death);
}

/* Going on from the last result must not be told from a fresh start. */
TEST(test_neighbouring_starts_build_on_each_other)
{
    static const double growths[] = {0.0, 1e-3, 0.05};
    double rate_per_s[MOST + 1];
    rates_of(rate_per_s, MOST);
    struct fulcrum_pure_death death;
    CU_ASSERT_FATAL(fulcrum_pure_death_init(&death, rate_per_s, MOST));
    for (size_t i = 0; i < LENGTH(growths); i++) {
        double time_s = 0.3;
        for (size_t start = MOST; start-- > 0;) {
            assert_distribution(&death, start, time_s, binomial);
            time_s += growths[i];
        }
    }
    fulcrum_pure_death_clear(&death);
}

/* Faster with fewer alive, as after oversubscription: two lives by hand. */
TEST(test_rates_may_rise_as_the_count_falls)
{
    static const double rate_per_s[] = {0.0, 5.0, 2.0};
    struct fulcrum_pure_death death;
    CU_ASSERT_FATAL(fulcrum_pure_death_init(&death, rate_per_s, 2));
    for (size_t start = 3; start-- > 0;) {
        const double *left = fulcrum_pure_death_run(&death, start, 0.7);
        double sum = 0.0;
        for (size_t n = 0; n <= start; n++) {
            sum += left[n];
        }
        assert_close("sum", sum, 1.0, 1e-15);
        if (start == 2) {
            double one = 2.0 / (5.0 - 2.0) * (exp(-1.4) - exp(-3.5));
            assert_close("2 left", left[2], exp(-1.4), 1e-14);
            assert_close("1 left", left[1], one, 1e-14);
        } else if (start == 1) {
            assert_close("1 left", left[1], exp(-3.5), 1e-14);
        }
    }
    fulcrum_pure_death_clear(&death);
}

TEST(test_no_time_and_all_time)
{
    double rate_per_s[MOST + 1];
    rates_of(rate_per_s, 16.0);
    struct fulcrum_pure_death death;
    CU_ASSERT_FATAL(fulcrum_pure_death_init(&death, rate_per_s, MOST));
    CU_ASSERT_EQUAL(fulcrum_pure_death_run(&death, MOST, 0.0)[MOST], 1.0);
    CU_ASSERT_EQUAL(fulcrum_pure_death_run(&death, MOST, 0.0)[MOST - 1], 0.0);
    const double *left = fulcrum_pure_death_run(&death, MOST, 1e9);
    CU_ASSERT_EQUAL(left[0], 1.0);
    CU_ASSERT_EQUAL(left[1], 0.0);
    CU_ASSERT_EQUAL(left[MOST], 0.0);
    fulcrum_pure_death_clear(&death);
}
