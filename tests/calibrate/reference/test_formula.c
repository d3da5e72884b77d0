/* test_formula.c - small formulas against closed forms, and fitted to what made them.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

enum { COUNTS = 5 };

static const double counts[COUNTS] = {20.0, 40.0, 80.0, 160.0, 320.0};

static void test_the_formula_has_its_limits(void)
{
    struct fulcrum_formula free = {0.005, 1e-4, HUGE_VAL};
    suite_assert_close("20 environments", fulcrum_formula_rate(&free, 20.0),
        20.0 / (0.005 + 20.0 * 1e-4), 1e-15);
    suite_assert_close("no end", fulcrum_formula_rate(&free, 1e12), 1e4, 1e-6);
    suite_assert_close(
        "hardly any", fulcrum_formula_rate(&free, 1e-9), 1e-9 / 0.005, 1e-6);
    /* Far below the ceiling it does not show; far above nothing else does. */
    struct fulcrum_formula capped = {0.005, 1e-4, 1e7};
    suite_assert_close("below", fulcrum_formula_rate(&capped, 80.0),
        fulcrum_formula_rate(&free, 80.0), 1e-12);
    capped.cap_per_s = 10.0;
    suite_assert_close("above", fulcrum_formula_rate(&capped, 320.0), 10.0, 1e-12);
    /* Where both are equal: C 2^(-1/p). */
    capped.cap_per_s = fulcrum_formula_rate(&free, 40.0);
    suite_assert_close("at the knee", fulcrum_formula_rate(&capped, 40.0),
        capped.cap_per_s * pow(2.0, -1.0 / 5.0), 1e-14);
    capped.cap_per_s = 1e-300;
    suite_assert_close(
        "a tiny ceiling", fulcrum_formula_rate(&capped, 1e6), 1e-300, 1e-12);
}

static void fill(
    const struct fulcrum_formula *formula, size_t count, double steps_per_s[COUNTS])
{
    for (size_t i = 0; i < count; i++) {
        steps_per_s[i] = fulcrum_formula_rate(formula, counts[i]);
    }
}

static void test_a_hyperbola_is_found_again(void)
{
    const struct fulcrum_formula truth = {0.004, 1.5e-4, HUGE_VAL};
    double rate[COUNTS];
    for (size_t count = 2; count <= COUNTS; count++) {
        struct fulcrum_formula found = {0.0, 0.0, 0.0};
        fill(&truth, count, rate);
        const struct fulcrum_formula_plan plan = {
            counts, rate, count, (double)NAN, 0.03, 4.0};
        CU_ASSERT_EQUAL(fulcrum_formula_fit(&plan, &found, NULL), FULCRUM_OK);
        suite_assert_close("a", found.latency_s, truth.latency_s, 1e-3);
        suite_assert_close("b", found.per_item_s, truth.per_item_s, 1e-3);
        CU_ASSERT(isinf(found.cap_per_s));
    }
}

/* Neither prior pulls where both are met: b is 40,000 frames/s, C 0.85 ceilings. */
static void test_a_capped_hyperbola_at_its_priors_is_found_again(void)
{
    const struct fulcrum_formula truth = {0.004, 1e-4, 8500.0};
    double rate[COUNTS];
    struct fulcrum_formula found = {0.0, 0.0, 0.0};
    fill(&truth, COUNTS, rate);
    const struct fulcrum_formula_plan plan = {counts, rate, COUNTS, 1e4, 0.03, 4.0};
    CU_ASSERT_EQUAL(fulcrum_formula_fit(&plan, &found, NULL), FULCRUM_OK);
    suite_assert_close("a", found.latency_s, truth.latency_s, 2e-3);
    suite_assert_close("b", found.per_item_s, truth.per_item_s, 2e-3);
    suite_assert_close("C", found.cap_per_s, truth.cap_per_s, 2e-3);
}

static void test_priors_pull_by_their_standard_deviations(void)
{
    /* Far above the knee only C counts: ln C is the mean of what was seen and of the
       prior, weighted by 1 / sd^2 (0.03 three times, 0.15 once). */
    static const double many[] = {4e6, 5e6, 6e6};
    static const double rate[] = {1000.0, 1000.0, 1000.0};
    struct fulcrum_formula found = {0.0, 0.0, 0.0};
    const struct fulcrum_formula_plan plan = {many, rate, 3, 1300.0, 0.03, 4.0};
    CU_ASSERT_EQUAL(fulcrum_formula_fit(&plan, &found, NULL), FULCRUM_OK);
    double seen = 3.0 / (0.03 * 0.03);
    double believed = 1.0 / (0.15 * 0.15);
    double expected =
        (seen * log(1000.0) + believed * log(0.85 * 1300.0)) / (seen + believed);
    suite_assert_close("ln C", log(found.cap_per_s), expected, 1e-3);
}

/* The search starts from one point where the ends are at the same place. */
static void test_a_curve_may_have_one_place(void)
{
    static const double place[] = {40.0, 40.0};
    static const double repeats[] = {1000.0, 1020.0};
    struct fulcrum_formula found = {0.0, 0.0, 0.0};
    const struct fulcrum_formula_plan plan = {
        place, repeats, 2, (double)NAN, 0.03, 4.0};
    CU_ASSERT_EQUAL_FATAL(fulcrum_formula_fit(&plan, &found, NULL), FULCRUM_OK);
    suite_assert_close("rate", fulcrum_formula_rate(&found, 40.0), 1010.0, 2e-3);
}

static void test_what_cannot_be_fitted_is_refused(void)
{
    static const double good[] = {1000.0, 1500.0};
    static const double bad[] = {1000.0, 0.0};
    static const struct {
        struct fulcrum_formula_plan plan;
        const char *detail;
    } cases[] = {
        {{counts, good, 1, (double)NAN, 0.03, 4.0}, "1 points for a formula"},
        {{counts, bad, 2, (double)NAN, 0.03, 4.0}, "0 steps/s of 40 environments"},
        {{bad, good, 2, (double)NAN, 0.03, 4.0}, "1500 steps/s of 0 environments"},
        {{counts, good, 2, 0.0, 0.03, 4.0}, "ceiling = 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_formula out;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_formula_fit(&cases[i].plan, &out, &err), FULCRUM_ERR_RANGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, cases[i].detail));
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_the_formula_has_its_limits),
        SUITE_CASE(test_a_hyperbola_is_found_again),
        SUITE_CASE(test_a_capped_hyperbola_at_its_priors_is_found_again),
        SUITE_CASE(test_priors_pull_by_their_standard_deviations),
        SUITE_CASE(test_a_curve_may_have_one_place),
        SUITE_CASE(test_what_cannot_be_fitted_is_refused),
    };
    return suite_run("formula", cases, sizeof cases / sizeof cases[0], argc, argv);
}
