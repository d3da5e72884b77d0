/* test_fit_sm.c - times over batches and SMs: known shares are found again. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit/fit_forms.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

enum { BATCHES = 3, SM_COUNTS = 7, POINTS = (BATCHES + 1) * SM_COUNTS };

static const double batches[BATCHES] = {1, 32, 256};
static const double sm_counts[SM_COUNTS] = {132, 96, 64, 40, 24, 16, 8};

struct truth {
    double per_batch_s;
    double per_item_s;
    double launch;
    double math;
    double train_s;
    double train_launch;
};

static const struct truth truths[] = {
    {1.2e-3, 6e-6, 0.7, 0.57, 0.2, 0.2},
    {4e-5, 1e-6, 0.3, 0.9, 0.05, 0.6},
    {2e-4, 4e-5, 0.9, 0.3, 1.5, 0.02},
};

/* (5) and (6) as they stand in docs/model.md, for 132 SMs. */
static double law_s(const struct truth *truth, double batch, double sm_count)
{
    double phi = truth->math * 132 / sm_count + (1 - truth->math);
    if (!(batch > 0)) {
        return truth->train_s * (truth->train_launch + (1 - truth->train_launch) * phi);
    }
    return truth->per_batch_s * (truth->launch + (1 - truth->launch) * phi) +
           truth->per_item_s * batch * phi;
}

/* Inference of each batch, then training, on all numbers of SMs. */
static void fill(struct fulcrum_sm_point points[POINTS], const struct truth *truth)
{
    for (size_t i = 0; i < POINTS; i++) {
        double batch = i / SM_COUNTS < BATCHES ? batches[i / SM_COUNTS] : 0;
        double sm_count = sm_counts[i % SM_COUNTS];
        points[i] =
            (struct fulcrum_sm_point){batch, sm_count, law_s(truth, batch, sm_count)};
    }
}

TEST(test_known_shares_are_found)
{
    for (size_t i = 0; i < LENGTH(truths); i++) {
        const struct truth *truth = &truths[i];
        struct fulcrum_sm_point points[POINTS];
        struct fulcrum_sm_fit fit;
        fill(points, truth);
        ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS, 132, NULL));
        /* The priors pull a little: that is their purpose. */
        assert_close("t0", fit.per_batch_s, truth->per_batch_s, 0.01);
        assert_close("t1", fit.per_item_s, truth->per_item_s, 0.01);
        assert_close("launch", fit.launch_bound_frac, truth->launch, 0.02);
        assert_close("math", fit.math_frac, truth->math, 0.02);
        assert_close("train", fit.train_step_s, truth->train_s, 0.01);
        CU_ASSERT_DOUBLE_EQUAL(fit.train_launch_bound_frac, truth->train_launch, 0.02);
        for (size_t k = 0; k < POINTS; k++) {
            assert_close(
                "curve", fulcrum_sm_fit_s(&fit, &points[k]), points[k].time_s, 0.01);
        }
    }
}

/* Shares are told with errors that cover the truth, and small ones for clean data. */
TEST(test_errors_cover_the_truth)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    fill(points, &truths[0]);
    for (size_t i = 0; i < POINTS; i++) {
        points[i].time_s *= i % 2 == 0 ? 1.02 : 0.98;
    }
    ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS, 132, NULL));
    const struct fulcrum_fit_estimate *math = fulcrum_fit_find(&fit.fit, "math_frac");
    const struct fulcrum_fit_estimate *launch =
        fulcrum_fit_find(&fit.fit, "launch_bound_frac");
    CU_ASSERT_TRUE(fabs(math->value - 0.57) < 3 * math->standard_error);
    CU_ASSERT_TRUE(fabs(launch->value - 0.7) < 3 * launch->standard_error);
    CU_ASSERT_TRUE(math->standard_error < 0.1);
    CU_ASSERT_TRUE(math->prior_share < 0.2);
}

TEST(test_training_may_be_left_out)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    fill(points, &truths[0]);
    ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS - SM_COUNTS, 132, NULL));
    assert_close("math", fit.math_frac, 0.57, 0.02);
    CU_ASSERT_TRUE(isnan(fit.train_step_s));
    CU_ASSERT_TRUE(isnan(fit.train_launch_bound_frac));
    CU_ASSERT_TRUE(
        fulcrum_fit_find(&fit.fit, "train_step_s")->marks & FULCRUM_FIT_FIXED);
}

/* Work that does not fill the GPU: as long on a few SMs as on all. */
TEST(test_times_that_do_not_follow_sms_have_no_math)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    fill(points, &truths[0]);
    for (size_t i = 0; i < POINTS; i++) {
        double batch = points[i].batch;
        points[i].time_s = (batch > 0 ? 1e-4 * batch : 0.2) * (i % 2 ? 1.2 : 0.8);
    }
    ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS, 132, NULL));
    CU_ASSERT_TRUE(fit.math_frac < 0.1);
    const struct fulcrum_fit_estimate *launch =
        fulcrum_fit_find(&fit.fit, "launch_bound_frac");
    CU_ASSERT_TRUE(launch->marks & FULCRUM_FIT_NOT_IDENTIFIED);
}

TEST(test_too_little_is_refused)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    fill(points, &truths[0]);
    CU_ASSERT_EQUAL(fulcrum_fit_sm(&fit, points, 2, 132, &err), FULCRUM_ERR_NO_FIT);
    CU_ASSERT_STRING_EQUAL(err.detail,
        "SM sweep: inference of 1 batch sizes on 2 numbers of SMs, at least 2 and 3 "
        "expected");
    CU_ASSERT_EQUAL(fulcrum_fit_sm(&fit, points, 0, 132, &err), FULCRUM_ERR_NO_FIT);
    points[3].sm_count = 133;
    CU_ASSERT_EQUAL(fulcrum_fit_sm(&fit, points, POINTS, 132, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "on 133 SMs"));
    fill(points, &truths[0]);
    points[5].time_s = 0;
    CU_ASSERT_EQUAL(fulcrum_fit_sm(&fit, points, POINTS, 132, &err), FULCRUM_ERR_RANGE);
}
