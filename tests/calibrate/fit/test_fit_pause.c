/* test_fit_pause.c - the form of batches after pauses, from points that are known. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit/fit_forms.h"

#include <math.h>

#include "tests/support/suite.h"

static const double pauses_s[] = {0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3};

enum { COUNT = LENGTH(pauses_s) };

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
    ASSERT_OK(fulcrum_fit_pause(out, pauses_s, y, COUNT, NULL));
    return fulcrum_fit_find(out, name);
}

/* The prior pulls a little where the points are exact and their noise is assumed. */
TEST(test_what_made_the_points_is_found)
{
    static const double colds[] = {0.2, 0.6, 3.0};
    static const double coolings_s[] = {1.5e-3, 5e-3, 12e-3};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            double y[COUNT];
            struct fulcrum_fit_result found;
            fill(y, colds[i], coolings_s[k], 0.0);
            assert_close("cold", fit(y, "cold", &found)->value, colds[i], 0.08);
            assert_close(
                "cooling", fit(y, "cooling_s", &found)->value, coolings_s[k], 0.1);
        }
    }
}

TEST(test_noise_is_within_the_error)
{
    double y[COUNT];
    struct fulcrum_fit_result found;
    fill(y, 0.6, 6e-3, 0.02);
    const struct fulcrum_fit_estimate *cold = fit(y, "cold", &found);
    CU_ASSERT(cold->standard_error > 0.005 && cold->standard_error < 0.2);
    CU_ASSERT(fabs(cold->value - 0.6) < 3.0 * cold->standard_error);
}

/* Nothing to see: no cold, and a cooling time that is only believed. */
TEST(test_a_learner_that_stays_warm_leaves_the_prior)
{
    double y[COUNT];
    struct fulcrum_fit_result found;
    fill(y, 0.0, 5e-3, 0.005);
    CU_ASSERT(fit(y, "cold", &found)->value < 0.02);
    const struct fulcrum_fit_estimate *cooling = fulcrum_fit_find(&found, "cooling_s");
    CU_ASSERT(cooling->value > 1e-3 && cooling->value < 25e-3);
    CU_ASSERT(cooling->prior_share > 0.5);
}

TEST(test_one_pause_is_too_few)
{
    struct fulcrum_fit_result found;
    const double y = 1.2;
    ASSERT_FAILS(fulcrum_fit_pause(&found, pauses_s, &y, 1, &err), FULCRUM_ERR_NO_FIT,
        "inference after a pause");
}
