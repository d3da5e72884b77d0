/* test_fit_forms.c - batch times and watts: known lines, bounds, curvature, advice. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "tests/support/suite.h"

enum { SIZES = 9, FIVEFOLD = 45, THREEFOLD = 27, REPEATS = 200 };

static const double sizes[SIZES] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

TEST(test_line_recovers_exact_data)
{
    static const double truths[][2] = {{0.95e-3, 0.135e-3}, {2e-6, 1e-6}, {0.1, 1e-6}};
    for (size_t t = 0; t < 3; t++) {
        double time_s[SIZES];
        for (size_t i = 0; i < SIZES; i++) {
            time_s[i] = truths[t][0] + truths[t][1] * sizes[i];
        }
        struct fulcrum_line_fit fit;
        ASSERT_OK(fulcrum_fit_batch_time(&fit, sizes, time_s, SIZES, NULL));
        assert_close("t0", fit.per_batch_s, truths[t][0], 1e-6);
        assert_close("t1", fit.per_item_s, truths[t][1], 1e-6);
        CU_ASSERT_EQUAL(fit.advice, FULCRUM_ADVISE_FORM);
        CU_ASSERT_EQUAL(fit.fit.warnings, 0);
    }
}

/* Through (1, 1) and (3, 5): t = 2 b - 1, so the intercept is held at zero. */
TEST(test_line_clamps_a_negative_intercept)
{
    static const double size[] = {1, 2, 3, 4};
    static const double time_s[] = {1, 3, 5, 7};
    struct fulcrum_line_fit fit;
    ASSERT_OK(fulcrum_fit_batch_time(&fit, size, time_s, 4, NULL));
    assert_close("t0", fit.per_batch_s, 0, 0);
    CU_ASSERT(fit.per_item_s > 1 && fit.per_item_s < 1.75);
    CU_ASSERT(fit.fit.parameter[0].marks & FULCRUM_FIT_AT_BOUND);
    CU_ASSERT(fit.fit.warnings & FULCRUM_FIT_BOUND_REACHED);
    CU_ASSERT_EQUAL(fit.advice, FULCRUM_ADVISE_TABLE);
    static const double falling[] = {4, 3, 2.5, 2.4};
    ASSERT_OK(fulcrum_fit_batch_time(&fit, size, falling, 4, NULL));
    assert_close("t1", fit.per_item_s, 0, 0);
    CU_ASSERT(fit.fit.parameter[1].marks & FULCRUM_FIT_AT_BOUND);
}

/* Medians of few, disturbed samples: a weighting of one of these points led back to
 * that of another, and there was no line. */
TEST(test_line_through_far_off_points_settles)
{
    static const double size[] = {1, 3, 6};
    static const double time_s[][3] = {{2.53115e-05, 2.30503e-04, 2.43906e-05},
        {1.33642e-04, 6.71092e-04, 8.03162e-04},
        {7.92268e-05, 2.37433e-04, 7.87371e-04},
        {1.07349e-04, 3.23489e-04, 1.50230e-03},
        {1.59442e-04, 1.59310e-03, 9.61342e-04},
        {1.56313e-06, 4.69414e-06, 1.93981e-05},
        {3.30542e-05, 9.76933e-05, 9.11447e-04},
        {1.31108e-05, 7.44341e-05, 1.30018e-05}};
    for (size_t t = 0; t < LENGTH(time_s); t++) {
        struct fulcrum_line_fit fit;
        ASSERT_OK(fulcrum_fit_batch_time(&fit, size, time_s[t], 3, NULL));
        double middle_s = fit.per_batch_s + 3.0 * fit.per_item_s;
        double least_s = fmin(fmin(time_s[t][0], time_s[t][1]), time_s[t][2]);
        double most_s = fmax(fmax(time_s[t][0], time_s[t][1]), time_s[t][2]);
        CU_ASSERT(middle_s >= 0.9 * least_s && middle_s <= 1.1 * most_s);
    }
}

/* Five samples per size; coverage and spread as in test_fit.c. At this correlation, a
 * covariance from 200 repeats has a standard error of 11 %. */
TEST(test_line_errors_match_the_spread_of_repeats)
{
    static double values[2][REPEATS];
    static double errors[2][REPEATS];
    static const double truth[] = {1e-3, 2e-5};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double covariance = 0;
    size_t covered = 0;
    for (size_t repeat = 0; repeat < REPEATS; repeat++) {
        double x[FIVEFOLD];
        double y[FIVEFOLD];
        for (size_t i = 0; i < FIVEFOLD; i++) {
            x[i] = sizes[i % SIZES];
            y[i] = (truth[0] + truth[1] * x[i]) * (1 + gsl_ran_gaussian(rng, 0.03));
        }
        struct fulcrum_line_fit fit;
        ASSERT_OK(fulcrum_fit_batch_time(&fit, x, y, FIVEFOLD, NULL));
        for (size_t i = 0; i < 2; i++) {
            values[i][repeat] = fit.fit.parameter[i].value;
            errors[i][repeat] = fit.fit.parameter[i].standard_error;
            covered += fabs(values[i][repeat] - truth[i]) < 3 * errors[i][repeat];
            assert_close("diagonal", fit.fit.covariance[3 * i],
                errors[i][repeat] * errors[i][repeat], 1e-12);
        }
        assert_close("symmetric", fit.fit.covariance[1], fit.fit.covariance[2], 1e-12);
        covariance += fit.fit.covariance[1] / REPEATS;
    }
    gsl_rng_free(rng);
    CU_ASSERT(covered >= 392);
    assert_close("covariance", covariance,
        gsl_stats_covariance(values[0], 1, values[1], 1, REPEATS), 0.35);
    for (size_t i = 0; i < 2; i++) {
        assert_close("error", gsl_stats_mean(errors[i], 1, REPEATS),
            gsl_stats_sd(values[i], 1, REPEATS), 0.25);
    }
}

TEST(test_line_withstands_outliers)
{
    double x[FIVEFOLD];
    double y[FIVEFOLD];
    for (size_t i = 0; i < FIVEFOLD; i++) {
        x[i] = sizes[i % SIZES];
        y[i] = (1e-3 + 2e-5 * x[i]) * (1 + 0.004 * ((double)(i % 7) - 3));
        y[i] *= i % 10 == 3 ? 3 : 1;
    }
    struct fulcrum_line_fit fit;
    ASSERT_OK(fulcrum_fit_batch_time(&fit, x, y, FIVEFOLD, NULL));
    assert_close("t0", fit.per_batch_s, 1e-3, 0.02);
    assert_close("t1", fit.per_item_s, 2e-5, 0.02);
    CU_ASSERT_EQUAL(fit.fit.residuals.outlier_count, 5);
    /* The median of each size is not touched by one outlier in five. */
    CU_ASSERT_EQUAL(fit.advice, FULCRUM_ADVISE_FORM);
}

/* A kernel switch between 4 and 8, as OpenBLAS has on a small network. */
TEST(test_line_advises_a_table_for_a_step)
{
    static const double size[] = {1, 4, 8, 32, 64, 256};
    static const double time_s[] = {5.5e-6, 6.6e-6, 41.9e-6, 73e-6, 110e-6, 367e-6};
    struct fulcrum_line_fit fit;
    ASSERT_OK(fulcrum_fit_batch_time(&fit, size, time_s, 6, NULL));
    CU_ASSERT_EQUAL(fit.advice, FULCRUM_ADVISE_TABLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(fit.reason, "limit 5 %"));
    CU_ASSERT(fit.fit.warnings & FULCRUM_FIT_MISFIT);
}

TEST(test_two_points_leave_the_errors_unknown)
{
    static const double time_s[] = {3, 5};
    struct fulcrum_line_fit fit;
    ASSERT_OK(fulcrum_fit_batch_time(&fit, sizes, time_s, 2, NULL));
    assert_close("t0", fit.per_batch_s, 1, 1e-6);
    assert_close("t1", fit.per_item_s, 2, 1e-6);
    CU_ASSERT(isnan(fit.fit.parameter[0].standard_error));
    CU_ASSERT_EQUAL(
        fit.fit.warnings, FULCRUM_FIT_TOO_FEW_POINTS | FULCRUM_FIT_UNKNOWN_ERROR);
}

TEST(test_line_refuses_degenerate_data)
{
    static const double same[] = {3, 3, 3};
    static const double bad[] = {1, (double)NAN, 3};
    static const double zero[] = {1, 0, 3};
    struct fulcrum_line_fit fit;
    CU_ASSERT_EQUAL(
        fulcrum_fit_batch_time(&fit, sizes, same, 0, NULL), FULCRUM_ERR_NO_FIT);
    CU_ASSERT_EQUAL(
        fulcrum_fit_batch_time(&fit, sizes, same, 1, NULL), FULCRUM_ERR_NO_FIT);
    ASSERT_SAYS(fulcrum_fit_batch_time(&fit, same, sizes, 3, &err), FULCRUM_ERR_NO_FIT,
        "batch time: 3 points with 1 different x, at least 2 are needed");
    CU_ASSERT_EQUAL(
        fulcrum_fit_batch_time(&fit, sizes, bad, 3, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(
        fulcrum_fit_batch_time(&fit, sizes, zero, 3, NULL), FULCRUM_ERR_RANGE);
}

static const struct fulcrum_power_options automatic = {.form = FULCRUM_POWER_AUTO};
static const struct fulcrum_power_options affine = {.form = FULCRUM_POWER_AFFINE};
static const struct fulcrum_power_options law = {.form = FULCRUM_POWER_LAW};

static struct fulcrum_power_fit power_of(const double *x, const double *watts,
    size_t count, const struct fulcrum_power_options *options)
{
    const struct fulcrum_samples samples = {"power", x, watts, count};
    struct fulcrum_power_fit fit;
    ASSERT_OK(fulcrum_fit_power(&fit, &samples, options, NULL));
    return fit;
}

static const double levels[] = {0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1};

TEST(test_power_recovers_exact_data)
{
    static const struct {
        double idle_w;
        double dynamic_w;
        double alpha;
        size_t count;
        const struct fulcrum_power_options *options;
    } cases[] = {
        {62, 170, 1, 9, &automatic},
        {40, 200, 0.6, 9, &automatic},
        {12, 90, 1.8, 5, &automatic},
        {12, 90, 1, 4, &automatic},
        {12, 90, 1, 9, &affine},
        {12, 90, 1.4, 4, &law},
    };
    for (size_t c = 0; c < LENGTH(cases); c++) {
        double y[SIZES];
        for (size_t i = 0; i < SIZES; i++) {
            y[i] =
                cases[c].idle_w + cases[c].dynamic_w * pow(levels[i], cases[c].alpha);
        }
        struct fulcrum_power_fit fit =
            power_of(levels, y, cases[c].count, cases[c].options);
        assert_close("idle", fit.idle_w, cases[c].idle_w, 1e-6);
        assert_close("dynamic", fit.dynamic_w, cases[c].dynamic_w, 1e-6);
        assert_close("alpha", fit.alpha, cases[c].alpha, 1e-6);
        assert_close("watts", fulcrum_power_fit_w(&fit, 0.25), y[2], 1e-6);
        int fixed = (fit.fit.parameter[2].marks & FULCRUM_FIT_FIXED) != 0;
        CU_ASSERT_EQUAL(
            fixed, cases[c].options == &affine ||
                       (cases[c].options == &automatic && cases[c].count < 5));
    }
}

/* A step at low utilisation asks for an exponent below the range. */
TEST(test_power_holds_alpha_in_its_range)
{
    double y[SIZES];
    for (size_t i = 0; i < SIZES; i++) {
        y[i] = 50 + 100 * pow(levels[i], 0.1);
    }
    struct fulcrum_power_fit fit = power_of(levels, y, SIZES, &automatic);
    assert_close("alpha", fit.alpha, 0.3, 1e-12);
    CU_ASSERT(fit.fit.parameter[2].marks & FULCRUM_FIT_AT_BOUND);
}

TEST(test_power_errors_match_the_spread_of_repeats)
{
    static double values[3][REPEATS];
    static double errors[3][REPEATS];
    static const double truth[] = {60, 170, 0.8};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t covered = 0;
    for (size_t repeat = 0; repeat < REPEATS; repeat++) {
        double x[THREEFOLD];
        double y[THREEFOLD];
        for (size_t i = 0; i < THREEFOLD; i++) {
            x[i] = levels[i % SIZES];
            y[i] = (truth[0] + truth[1] * pow(x[i], truth[2])) *
                   (1 + gsl_ran_gaussian(rng, 0.01));
        }
        struct fulcrum_power_fit fit = power_of(x, y, THREEFOLD, &automatic);
        for (size_t i = 0; i < 3; i++) {
            values[i][repeat] = fit.fit.parameter[i].value;
            errors[i][repeat] = fit.fit.parameter[i].standard_error;
            covered += fabs(values[i][repeat] - truth[i]) < 3 * errors[i][repeat];
        }
    }
    gsl_rng_free(rng);
    CU_ASSERT(covered >= 588);
    for (size_t i = 0; i < 3; i++) {
        assert_close("error", gsl_stats_mean(errors[i], 1, REPEATS),
            gsl_stats_sd(values[i], 1, REPEATS), 0.25);
    }
}

TEST(test_constant_power_has_no_exponent)
{
    static const double y[] = {50, 50, 50, 50, 50, 50, 50, 50, 50};
    struct fulcrum_power_fit fit = power_of(levels, y, SIZES, &automatic);
    assert_close("idle", fit.idle_w, 50, 1e-6);
    CU_ASSERT(fit.dynamic_w < 1e-3);
    CU_ASSERT(fit.fit.parameter[2].marks & FULCRUM_FIT_NOT_IDENTIFIED);
}

TEST(test_power_refuses_degenerate_data)
{
    static const double over[] = {0.5, 1.2, 0.7};
    static const double same[] = {0.5, 0.5, 0.5};
    static const double watts[] = {50, 60, 70};
    static const double negative[] = {50, -60, 70};
    static const struct {
        struct fulcrum_samples samples;
        enum fulcrum_status status;
    } cases[] = {
        {{"power", levels, watts, 0}, FULCRUM_ERR_NO_FIT},
        {{"power", levels, watts, 1}, FULCRUM_ERR_NO_FIT},
        {{"power", same, watts, 3}, FULCRUM_ERR_NO_FIT},
        {{"power", over, watts, 3}, FULCRUM_ERR_RANGE},
        {{"power", levels, negative, 3}, FULCRUM_ERR_RANGE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_power_fit fit;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(fulcrum_fit_power(&fit, &cases[i].samples, &automatic, &err),
            cases[i].status);
        CU_ASSERT(strncmp(err.detail, "power: ", 7) == 0);
    }
}

/* A fit under a lower bound of idle ends at the bound, and says so. */
TEST(test_fit_holds_idle_at_what_is_known)
{
    static const double x[] = {0.1, 0.3, 0.5, 0.7, 0.9, 1};
    static const double y[] = {30, 90, 150, 210, 270, 300};
    const struct fulcrum_power_options options = {
        .form = FULCRUM_POWER_LAW, .least_idle_w = 20};
    struct fulcrum_power_fit fit = power_of(x, y, 6, &options);
    assert_close("idle", fit.idle_w, 20, 1e-12);
    CU_ASSERT(fit.fit.parameter[0].marks & FULCRUM_FIT_AT_BOUND);
    CU_ASSERT(fit.alpha > 1);
}

/* At the ends the error of the watts is that of parameters. */
TEST(test_fit_tells_errors_of_watts)
{
    static const double x[] = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 0.2};
    static const double y[] = {50, 84, 148, 195, 266, 308, 352, 120};
    struct fulcrum_power_fit fit = power_of(x, y, 8, &law);
    const double *c = fit.fit.covariance;
    assert_close("idle", fulcrum_power_fit_error_w(&fit, 0),
        fit.fit.parameter[0].standard_error, 1e-9);
    assert_close(
        "full", fulcrum_power_fit_error_w(&fit, 1), sqrt(c[0] + c[4] + 2 * c[1]), 1e-9);
    /* In between: the watts by moving each parameter along its covariance's column. */
    double bend = fit.dynamic_w * pow(0.5, fit.alpha) * log(0.5);
    double share = pow(0.5, fit.alpha);
    double variance = c[0] + share * share * c[4] + bend * bend * c[8] +
                      2 * (share * c[1] + bend * c[2] + share * bend * c[5]);
    assert_close("half", fulcrum_power_fit_error_w(&fit, 0.5), sqrt(variance), 1e-9);
    /* Two points leave nothing over to tell an error from. */
    fit = power_of(x, y, 2, &affine);
    CU_ASSERT(isnan(fulcrum_power_fit_error_w(&fit, 0.5)));
}

TEST(test_fit_refuses_options_out_of_range)
{
    static const struct fulcrum_power_options cases[] = {
        {.least_idle_w = -1},
        {.least_idle_w = (double)NAN},
        {.alpha = 0.7, .alpha_factor = 1, .noise_rel = 0.05},
        {.alpha = 0.7, .alpha_factor = 1.3},
        {.alpha = 5, .alpha_factor = 1.3, .noise_rel = 0.05},
        {.alpha = -1, .alpha_factor = 1.3, .noise_rel = 0.05},
    };
    static const double x[] = {0, 0.5, 1};
    static const double y[] = {50, 80, 100};
    const struct fulcrum_samples samples = {"power", x, y, 3};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_power_fit fit;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_fit_power(&fit, &samples, &cases[i], &err), FULCRUM_ERR_RANGE);
        CU_ASSERT(strncmp(err.detail, "power: ", 7) == 0);
    }
}
