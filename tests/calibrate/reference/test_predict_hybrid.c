/* test_predict_hybrid.c - published gains: met, marked as fitted, never predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <string.h>

#include "presets/load/reference_file.h"
#include "tests/support/expect.h"
#include "tests/support/suite.h"

static struct fulcrum_reference *abstract(void)
{
    struct fulcrum_reference *reference = NULL;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("pal2019-abstract", &reference, NULL), FULCRUM_OK);
    return reference;
}

static void test_every_gain_is_met_and_none_is_predicted(void)
{
    struct fulcrum_reference *reference = abstract();
    struct fulcrum_comparison comparison;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_hybrid(reference, &comparison, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(comparison.count, 3);
    for (size_t i = 0; i < comparison.count; i++) {
        const struct fulcrum_compared *item = &comparison.items[i];
        suite_assert_close("gain", item->predicted, item->observed, 1e-12);
        CU_ASSERT_EQUAL(item->is_fitted, 1);
        CU_ASSERT_EQUAL(item->baseline[FULCRUM_BASELINE_BOUNDS], 1.0);
    }
    struct fulcrum_comparison_errors errors =
        fulcrum_comparison_errors(&comparison, NULL, FULCRUM_COMPARE_PREDICTED, -1);
    CU_ASSERT_EQUAL(errors.count, 0);
    fulcrum_comparison_clear(&comparison);
    fulcrum_reference_free(reference);
}

static void expect_failure(const struct fulcrum_reference *reference,
    enum fulcrum_status status, const char *part)
{
    struct fulcrum_comparison comparison;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(fulcrum_predict_hybrid(reference, &comparison, &err), status);
    expect_part(err.detail, part);
}

/* Two devices are at most twice as fast, and save at most half of the epochs. */
static void test_gains_beyond_any_parameters_are_refused(void)
{
    struct fulcrum_reference *reference = abstract();
    struct fulcrum_observation *first = &reference->points[0].observations[0];
    static const double impossible[] = {1.0, 3.5, 0.0, -0.2};
    for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++) {
        first->value = impossible[i];
        expect_failure(reference, FULCRUM_ERR_RANGE, "points[0].observed");
    }
    first->value = 0.99;
    struct fulcrum_comparison comparison;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_hybrid(reference, &comparison, NULL), FULCRUM_OK);
    suite_assert_close("nearly all", comparison.items[0].predicted, 0.99, 1e-9);
    fulcrum_comparison_clear(&comparison);
    (void)strcpy(first->quantity, "speedup");
    expect_failure(reference, FULCRUM_ERR_MISSING, "no least_gain_frac");
    fulcrum_reference_free(reference);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_every_gain_is_met_and_none_is_predicted),
        SUITE_CASE(test_gains_beyond_any_parameters_are_refused),
    };
    return suite_run(
        "predict_hybrid", cases, sizeof cases / sizeof cases[0], argc, argv);
}
