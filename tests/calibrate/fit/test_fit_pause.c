/* test_fit_pause.c - the form of batches after pauses, from points that are known. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit/fit_forms.h"

#include <math.h>

#include "tests/support/expect.h"
#include "tests/support/suite.h"

static const double pauses_s[] = {0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3};

enum { COUNT = sizeof pauses_s / sizeof pauses_s[0] };

static void fill(double *y, double cold, double cooling_s, double noise)
{
    for (size_t i = 0; i < COUNT; i++) {
        double square = pauses_s[i] * pauses_s[i];
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        y[i] = (1.0 + cold * square / (square + cooling_s * cooling_s)) *
               (1.0 + sign * noise);
    }
}

static const struct fulcrum_fit_estimate *fit(
    const double *y, const char *name, struct fulcrum_fit_result *out)
{
    CU_ASSERT_EQUAL_FATAL(fulcrum_fit_pause(out, pauses_s, y, COUNT, NULL), FULCRUM_OK);
    return fulcrum_fit_find(out, name);
}

/* The prior pulls a little where the points are exact and their noise is assumed. */
static void test_what_made_the_points_is_found(void)
{
    static const double colds[] = {0.2, 0.6, 3.0};
    static const double coolings_s[] = {1.5e-3, 5e-3, 12e-3};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            double y[COUNT];
            struct fulcrum_fit_result found;
            fill(y, colds[i], coolings_s[k], 0.0);
            suite_assert_close("cold", fit(y, "cold", &found)->value, colds[i], 0.08);
            suite_assert_close(
                "cooling", fit(y, "cooling_s", &found)->value, coolings_s[k], 0.1);
        }
    }
}

static void test_noise_is_within_the_error(void)
{
    double y[COUNT];
    struct fulcrum_fit_result found;
    fill(y, 0.6, 6e-3, 0.02);
    const struct fulcrum_fit_estimate *cold = fit(y, "cold", &found);
    CU_ASSERT(cold->standard_error > 0.005 && cold->standard_error < 0.2);
    CU_ASSERT(fabs(cold->value - 0.6) < 3.0 * cold->standard_error);
}

/* Nothing to see: no cold, and a cooling time that is only believed. */
static void test_a_learner_that_stays_warm_leaves_the_prior(void)
{
    double y[COUNT];
    struct fulcrum_fit_result found;
    fill(y, 0.0, 5e-3, 0.005);
    CU_ASSERT(fit(y, "cold", &found)->value < 0.02);
    const struct fulcrum_fit_estimate *cooling = fulcrum_fit_find(&found, "cooling_s");
    CU_ASSERT(cooling->value > 1e-3 && cooling->value < 25e-3);
    CU_ASSERT(cooling->prior_share > 0.5);
}

static void test_one_pause_is_too_few(void)
{
    struct fulcrum_fit_result found;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    const double y = 1.2;
    CU_ASSERT_EQUAL(
        fulcrum_fit_pause(&found, pauses_s, &y, 1, &err), FULCRUM_ERR_NO_FIT);
    expect_part(err.detail, "inference after a pause");
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_what_made_the_points_is_found),
        SUITE_CASE(test_noise_is_within_the_error),
        SUITE_CASE(test_a_learner_that_stays_warm_leaves_the_prior),
        SUITE_CASE(test_one_pause_is_too_few),
    };
    return suite_run("fit_pause", cases, sizeof cases / sizeof cases[0], argc, argv);
}
