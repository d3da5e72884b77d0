/* test_wide_series.c - sums and convolutions far outside the range of double. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/exact/product_form.h"

#include <math.h>

#include "tests/support/suite.h"

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
