/* test_exact_parts.c - what the exact solvers are made of. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "model/exact/chain.h"
#include "model/exact/product_form.h"
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

enum { STATES_MOST = 4, STATES_LONG = 300 };

TEST(test_small_chains_by_hand)
{
    static const struct {
        const char *name;
        size_t count;
        double chance[STATES_MOST * STATES_MOST];
        double share[STATES_MOST];
    } cases[] = {
        {"alone", 1, {1.0}, {1.0}},
        {"two", 2, {0.7, 0.3, 0.1, 0.9}, {0.25, 0.75}},
        /* Never stays, never forgets: 0 -> 1 -> 2 -> 0. */
        {"round", 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, {1.0 / 3, 1.0 / 3, 1.0 / 3}},
        /* Two pairs, each in itself; the bridges are 3e-40 to and 1e-40 back. */
        {"bridge", 4,
            {0.5, 0.5, 0, 0, 0.5, 0.5, 3e-40, 0, 0, 1e-40, 0.5, 0.5, 0, 0, 0.5, 0.5},
            {0.125, 0.125, 0.375, 0.375}},
        /* Only where state 0 leads to: 3 is left alone, 0 itself is left behind. */
        {"ways", 4, {0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1},
            {0.0, 0.5, 0.5, 0.0}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double chance[STATES_MOST * STATES_MOST];
        double share[STATES_MOST];
        for (size_t j = 0; j < LENGTH(chance); j++) {
            chance[j] = cases[i].chance[j];
        }
        fulcrum_stationary(share, chance, cases[i].count);
        for (size_t j = 0; j < cases[i].count; j++) {
            assert_close(cases[i].name, share[j] + 1.0, cases[i].share[j] + 1.0, 1e-15);
        }
    }
}

/* Up with chance 2/3, down with 1/3: shares double 299 times, from about 1e-90. */
TEST(test_shares_span_ninety_decades)
{
    static double chance[STATES_LONG * STATES_LONG];
    static double share[STATES_LONG];
    for (size_t i = 0; i + 1 < STATES_LONG; i++) {
        chance[i * STATES_LONG + i + 1] = 2.0 / 3.0;
        chance[(i + 1) * STATES_LONG + i] = 1.0 / 3.0;
    }
    fulcrum_stationary(share, chance, STATES_LONG);
    assert_close("last", share[STATES_LONG - 1], 0.5, 1e-13);
    for (size_t i = 0; i + 1 < STATES_LONG; i++) {
        assert_close("ratio", share[i + 1] / share[i], 2.0, 1e-14);
    }
}

enum { COUNT = 600 };

/* base to the power of n. */
static struct fulcrum_wide power_of(double base, size_t n)
{
    struct fulcrum_wide value = {1.0, 0};
    for (size_t i = 0; i < n; i++) {
        value = fulcrum_wide_times(value, base);
    }
    return value;
}

TEST(test_arithmetic_beyond_double)
{
    static const double bases[] = {1e3, 1e-3, 1e60, 1e-60, 1e200, 1e-200};
    for (size_t i = 0; i < LENGTH(bases); i++) {
        struct fulcrum_wide high = power_of(bases[i], 1001);
        struct fulcrum_wide low = power_of(bases[i], 1000);
        assert_close("ratio", fulcrum_wide_ratio(high, low), bases[i], 1e-12);
        struct fulcrum_wide product = fulcrum_wide_product(high, low);
        assert_close("product", fulcrum_wide_ratio(product, power_of(bases[i], 2001)),
            1.0, 1e-12);
        struct fulcrum_wide twice = fulcrum_wide_sum(low, low);
        assert_close("sum", fulcrum_wide_ratio(twice, low), 2.0, 1e-15);
    }
}

TEST(test_the_small_one_gets_lost_as_it_should)
{
    struct fulcrum_wide none = {0.0, 0};
    struct fulcrum_wide one = {1.0, 0};
    struct fulcrum_wide huge = power_of(1e100, 50);
    struct fulcrum_wide sum = fulcrum_wide_sum(one, huge);
    CU_ASSERT_EQUAL(fulcrum_wide_ratio(sum, huge), 1.0);
    sum = fulcrum_wide_sum(huge, one);
    CU_ASSERT_EQUAL(fulcrum_wide_ratio(sum, huge), 1.0);
    CU_ASSERT_EQUAL(fulcrum_wide_ratio(one, huge), 0.0);
    CU_ASSERT_EQUAL(fulcrum_wide_ratio(fulcrum_wide_sum(none, one), one), 1.0);
    CU_ASSERT_EQUAL(fulcrum_wide_ratio(fulcrum_wide_sum(one, none), one), 1.0);
    CU_ASSERT_EQUAL(fulcrum_wide_times(huge, 0.0).mantissa, 0.0);
    /* Neighbouring powers add up across the border of their mantissas. */
    struct fulcrum_wide below = {0x1p255, 0};
    struct fulcrum_wide above = {0x1p-256, 1};
    sum = fulcrum_wide_sum(below, above);
    CU_ASSERT_EQUAL(fulcrum_wide_ratio(sum, below), 3.0);
}

/* Binomial coefficients: (1, 1) convolved with itself, against their logarithms. */
TEST(test_convolution_counts_the_ways)
{
    struct fulcrum_wide_kernel pair = {.knee = 1, .ratio = 0.0};
    struct fulcrum_wide_series from;
    struct fulcrum_wide_series to;
    CU_ASSERT_FATAL(fulcrum_wide_series_init(&pair.head, 2) &&
                    fulcrum_wide_series_init(&from, COUNT) &&
                    fulcrum_wide_series_init(&to, COUNT));
    /* 1e150 each, so that the sums run up to 1e90000. */
    fulcrum_wide_series_append(&pair.head, power_of(1e150, 1));
    fulcrum_wide_series_append(&pair.head, power_of(1e150, 1));
    fulcrum_wide_series_append(&from, (struct fulcrum_wide){1.0, 0});
    for (size_t n = 1; n < COUNT; n++) {
        fulcrum_wide_convolve(&to, &pair, &from);
        struct fulcrum_wide_series swapped = from;
        from = to;
        to = swapped;
    }
    double rows = COUNT - 1;
    struct fulcrum_wide scale = power_of(1e150, COUNT - 1);
    for (size_t k = 0; k < COUNT; k++) {
        double ways = exp(lgamma(rows + 1.0) - lgamma((double)k + 1.0) -
                          lgamma(rows - (double)k + 1.0));
        double found = fulcrum_wide_ratio(fulcrum_wide_series_at(&from, k), scale);
        assert_close("ways", found, ways, 1e-11);
    }
    fulcrum_wide_series_clear(&pair.head);
    fulcrum_wide_series_clear(&from);
    fulcrum_wide_series_clear(&to);
}

/* One kernel in two forms, and what it is convolved with. */
struct forms {
    struct fulcrum_wide_kernel brief; /* three values, and then a ratio */
    struct fulcrum_wide_kernel whole;
    struct fulcrum_wide_series in;
    struct fulcrum_wide_series out[2];
};

static void init_forms(struct forms *forms, double ratio)
{
    *forms = (struct forms){
        .brief = {.knee = 2, .ratio = ratio}, .whole = {.knee = COUNT, .ratio = 0.0}};
    CU_ASSERT_FATAL(fulcrum_wide_series_init(&forms->brief.head, 3) &&
                    fulcrum_wide_series_init(&forms->whole.head, COUNT) &&
                    fulcrum_wide_series_init(&forms->in, COUNT) &&
                    fulcrum_wide_series_init(&forms->out[0], COUNT) &&
                    fulcrum_wide_series_init(&forms->out[1], COUNT));
    const double first[] = {2.0, 5.0};
    struct fulcrum_wide value = {1.0, 0};
    for (size_t n = 0; n < COUNT; n++) {
        fulcrum_wide_series_append(&forms->whole.head, value);
        fulcrum_wide_series_append(
            &forms->in, power_of(n % 7 == 0 ? 0.0 : 1.7, n % 40));
        value = fulcrum_wide_times(value, n < 2 ? first[n] : ratio);
    }
    for (size_t n = 0; n < 3; n++) {
        fulcrum_wide_series_append(
            &forms->brief.head, fulcrum_wide_series_at(&forms->whole.head, n));
    }
}

static void clear_forms(struct forms *forms)
{
    fulcrum_wide_series_clear(&forms->brief.head);
    fulcrum_wide_series_clear(&forms->whole.head);
    fulcrum_wide_series_clear(&forms->in);
    fulcrum_wide_series_clear(&forms->out[0]);
    fulcrum_wide_series_clear(&forms->out[1]);
}

TEST(test_geometric_end_equals_its_values)
{
    static const double ratios[] = {0.5, 1.0, 3e5};
    for (size_t i = 0; i < LENGTH(ratios); i++) {
        struct forms forms;
        init_forms(&forms, ratios[i]);
        fulcrum_wide_convolve(&forms.out[0], &forms.brief, &forms.in);
        fulcrum_wide_convolve(&forms.out[1], &forms.whole, &forms.in);
        for (size_t n = 0; n < COUNT; n++) {
            struct fulcrum_wide found = fulcrum_wide_series_at(&forms.out[0], n);
            struct fulcrum_wide expected = fulcrum_wide_series_at(&forms.out[1], n);
            assert_close("both forms", fulcrum_wide_ratio(found, expected), 1.0, 1e-12);
        }
        clear_forms(&forms);
    }
}
