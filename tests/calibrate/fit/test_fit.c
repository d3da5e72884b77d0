/* test_fit.c - the generic robust fit recovers what made the data, and its errors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit/fit.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "tests/support/suite.h"

enum { POINTS = 40, REPEATS = 200 };

/* y = a x^b / (1 + c x): three scales, nonlinear in two parameters. */
static double curve(const double *parameter, double x, const void *context)
{
    (void)context;
    return parameter[0] * pow(x, parameter[1]) / (1 + parameter[2] * x);
}

static const double truth[] = {2.5, 0.8, 0.3};

static const struct fulcrum_fit_parameter curve_parameters[] = {
    {.name = "a", .scale = FULCRUM_SCALE_LOG, .high = 1e9, .start = 1, .start_step = 1},
    {.name = "b", .low = -9, .high = 9, .start = 1, .start_step = 0.2},
    {.name = "c", .scale = FULCRUM_SCALE_LOGIT, .high = 1, .start = 0.5},
};

static struct fulcrum_fit_problem curve_problem(const double *x, const double *y)
{
    return (struct fulcrum_fit_problem){.points = {"curve", x, y, POINTS},
        .model = curve,
        .parameter = curve_parameters,
        .parameter_count = 3,
        .start_count = 3};
}

static void make_curve(double *x, double *y)
{
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = 0.25 * (double)(i + 1);
        y[i] = curve(truth, x[i], NULL);
    }
}

TEST(test_fit_recovers_exact_data_under_every_loss)
{
    static const enum fulcrum_fit_loss losses[] = {
        FULCRUM_FIT_HUBER, FULCRUM_FIT_SQUARES};
    double x[POINTS];
    double y[POINTS];
    make_curve(x, y);
    for (size_t loss = 0; loss < 2; loss++) {
        struct fulcrum_fit_problem problem = curve_problem(x, y);
        problem.loss = losses[loss];
        struct fulcrum_fit_result result;
        ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
        for (size_t i = 0; i < 3; i++) {
            assert_close(
                curve_parameters[i].name, result.parameter[i].value, truth[i], 1e-6);
        }
        CU_ASSERT_EQUAL(result.warnings, 0);
        CU_ASSERT(result.residuals.max_abs_rel < 1e-6);
    }
}

/* Fits `REPEATS` noisy copies; how often 3 standard errors hold the truth. */
static size_t repeat_noisy(
    enum fulcrum_fit_loss loss, double (*values)[REPEATS], double (*errors)[REPEATS])
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 20221);
    double x[POINTS];
    double clean[POINTS];
    double y[POINTS];
    size_t covered = 0;
    make_curve(x, clean);
    for (size_t repeat = 0; repeat < REPEATS; repeat++) {
        for (size_t i = 0; i < POINTS; i++) {
            y[i] = clean[i] * (1 + gsl_ran_gaussian(rng, 0.005));
        }
        struct fulcrum_fit_problem problem = curve_problem(x, y);
        problem.loss = loss;
        struct fulcrum_fit_result result;
        ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
        for (size_t i = 0; i < 3; i++) {
            values[i][repeat] = result.parameter[i].value;
            errors[i][repeat] = result.parameter[i].standard_error;
            covered += fabs(values[i][repeat] - truth[i]) < 3 * errors[i][repeat];
        }
    }
    gsl_rng_free(rng);
    return covered;
}

static void compare_errors(size_t i, const double *values, const double *errors)
{
    double spread = gsl_stats_sd(values, 1, REPEATS);
    double mean_error = gsl_stats_mean(errors, 1, REPEATS);
    assert_close(curve_parameters[i].name, mean_error, spread, 0.25);
    double bias = gsl_stats_mean(values, 1, REPEATS) - truth[i];
    CU_ASSERT(fabs(bias) < 4 * spread / sqrt(REPEATS));
}

/* 600 intervals of 3 standard errors hold 99.5 % under Student's law with 37 degrees of
 * freedom. 25 % on the spread: five of its own standard errors at 200 repeats. */
TEST(test_fit_standard_errors_match_the_spread_of_repeats)
{
    static double values[3][REPEATS];
    static double errors[3][REPEATS];
    static const enum fulcrum_fit_loss losses[] = {
        FULCRUM_FIT_HUBER, FULCRUM_FIT_SQUARES};
    for (size_t loss = 0; loss < 2; loss++) {
        CU_ASSERT(repeat_noisy(losses[loss], values, errors) >= 588);
        for (size_t i = 0; i < 3; i++) {
            compare_errors(i, values[i], errors[i]);
        }
    }
}

TEST(test_fit_withstands_outliers)
{
    double x[POINTS];
    double y[POINTS];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_curve(x, y);
    for (size_t i = 0; i < POINTS; i++) {
        y[i] *= 1 + gsl_ran_gaussian(rng, 0.005);
        y[i] *= i % 10 == 4 ? 3 : 1;
    }
    gsl_rng_free(rng);
    struct fulcrum_fit_problem problem = curve_problem(x, y);
    struct fulcrum_fit_result result;
    ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
    const double fitted[] = {result.parameter[0].value, result.parameter[1].value,
        result.parameter[2].value};
    for (size_t i = 0; i < POINTS; i++) {
        assert_close(
            "curve", curve(fitted, x[i], NULL), curve(truth, x[i], NULL), 0.02);
    }
    CU_ASSERT(result.residuals.outlier_count >= POINTS / 10);
    CU_ASSERT(result.warnings & FULCRUM_FIT_OUTLIERS);
    CU_ASSERT(result.warnings & FULCRUM_FIT_MISFIT);
    problem.loss = FULCRUM_FIT_SQUARES;
    ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
    CU_ASSERT(fabs(result.parameter[0].value / truth[0] - 1) > 0.02);
}

/* A form of one parameter. */
static struct fulcrum_fit_problem problem_of(
    double (*model)(const double *parameter, double x, const void *context),
    const struct fulcrum_fit_parameter *parameter, const double *x, const double *y,
    size_t count)
{
    return (struct fulcrum_fit_problem){.points = {"hand", x, y, count},
        .model = model,
        .parameter = parameter,
        .parameter_count = 1};
}

static double proportional(const double *parameter, double x, const void *context)
{
    (void)context;
    return parameter[0] * x;
}

/* One observation of q with deviation s and a prior of deviation s: the posterior lies
 * halfway, with deviation s / sqrt(2). Two points at different x act as one with s =
 * 0.1 / sqrt(2). */
TEST(test_fit_weighs_priors_like_observations)
{
    static const double x[] = {1, 2};
    const double y[] = {2 * exp(0.01), 4 * exp(0.01)};
    const struct fulcrum_fit_parameter parameter = {.name = "k",
        .scale = FULCRUM_SCALE_LOG,
        .high = 100,
        .start = 2,
        .prior_sd = 0.1 / sqrt(2)};
    struct fulcrum_fit_problem problem = problem_of(proportional, &parameter, x, y, 2);
    problem.noise_rel = 0.1;
    struct fulcrum_fit_result result;
    ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
    const struct fulcrum_fit_estimate *k = &result.parameter[0];
    CU_ASSERT_PTR_EQUAL(fulcrum_fit_find(&result, "k"), k);
    /* Relative and logarithmic errors differ in second order of 0.01. */
    assert_close("ln k", log(k->value / 2), 0.005, 0.02);
    assert_close("error", k->standard_error, k->value * 0.05, 0.02);
    assert_close("share", k->prior_share, sqrt(0.5), 0.02);
    CU_ASSERT(k->marks & FULCRUM_FIT_HAS_PRIOR);
    assert_close("freedom", result.residuals.degrees_of_freedom, 2, 0);
    CU_ASSERT_PTR_NULL(fulcrum_fit_find(&result, "m"));
    CU_ASSERT_EQUAL(result.x_high, 2);
}

static double redundant(const double *parameter, double x, const void *context)
{
    (void)context;
    return (parameter[0] + parameter[1]) * x + parameter[2];
}

/* Only the sum of two parameters shows: no standard error may pretend otherwise. */
TEST(test_fit_marks_what_the_data_cannot_tell)
{
    static const double x[] = {1, 2, 3, 4, 5, 6};
    static const double y[] = {5.1, 8, 11.1, 13.9, 17, 20.1};
    static const struct fulcrum_fit_parameter parameter[] = {
        {.name = "a", .low = -9, .high = 9, .start = 1},
        {.name = "b", .low = -9, .high = 9, .start = 1},
        {.name = "c", .low = 2, .high = 2, .start = 2},
    };
    const struct fulcrum_fit_problem problem = {.points = {"redundant", x, y, 6},
        .model = redundant,
        .parameter = parameter,
        .parameter_count = 3};
    struct fulcrum_fit_result result;
    ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
    assert_close("sum", result.parameter[0].value + result.parameter[1].value, 3, 0.01);
    unsigned marks = result.parameter[0].marks | result.parameter[1].marks;
    CU_ASSERT(marks & FULCRUM_FIT_NOT_IDENTIFIED);
    CU_ASSERT(result.warnings & FULCRUM_FIT_UNIDENTIFIED);
    CU_ASSERT_EQUAL(result.parameter[2].marks, FULCRUM_FIT_FIXED);
    assert_close("fixed", result.parameter[2].standard_error, 0, 0);
}

TEST(test_fit_holds_parameters_at_their_bounds)
{
    static const struct fulcrum_fit_parameter bounded[] = {
        {.name = "a", .scale = FULCRUM_SCALE_LOG, .high = 1e9, .start = 1},
        {.name = "b", .low = 0, .high = 0.5, .start = 0.4},
        {.name = "c", .scale = FULCRUM_SCALE_LOGIT, .high = 1, .start = 0.5},
    };
    double x[POINTS];
    double y[POINTS];
    make_curve(x, y);
    struct fulcrum_fit_problem problem = curve_problem(x, y);
    problem.parameter = bounded;
    struct fulcrum_fit_result result;
    ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
    assert_close("b", result.parameter[1].value, 0.5, 0);
    CU_ASSERT(result.parameter[1].marks & FULCRUM_FIT_AT_BOUND);
    CU_ASSERT(result.warnings & FULCRUM_FIT_BOUND_REACHED);
    CU_ASSERT(result.warnings & FULCRUM_FIT_SIGN_RUNS);
}

TEST(test_fit_refuses_degenerate_data)
{
    static const struct {
        double x[4];
        double y[4];
        size_t count;
        enum fulcrum_status status;
        const char *detail;
    } cases[] = {
        {{1}, {1}, 0, FULCRUM_ERR_NO_FIT, "curve: 0 points"},
        {{1}, {1}, 1, FULCRUM_ERR_NO_FIT, "1 different x, at least 3"},
        {{2, 2, 2, 2}, {1, 2, 3, 4}, 4, FULCRUM_ERR_NO_FIT, "4 points with 1 diff"},
        {{1, 2, 3, 4}, {1, (double)NAN, 3, 4}, 4, FULCRUM_ERR_RANGE, "y = nan"},
        {{1, 2, 3, 4}, {1, 2, -3, 4}, 4, FULCRUM_ERR_RANGE, "y = -3 of point 3"},
        {{1, 2, 3, 4}, {1, 2, 3, 0}, 4, FULCRUM_ERR_RANGE, "y = 0 of point 4"},
        {{-1, 2, 3, 4}, {1, 2, 3, 4}, 4, FULCRUM_ERR_RANGE, "x = -1 of point 1"},
        {{1, 2, (double)INFINITY, 4}, {1, 2, 3, 4}, 4, FULCRUM_ERR_RANGE, "x = inf"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_fit_problem problem = curve_problem(cases[i].x, cases[i].y);
        problem.points.count = cases[i].count;
        struct fulcrum_fit_result result = {.parameter_count = 77};
        ASSERT_FAILS(
            fulcrum_fit(&result, &problem, &err), cases[i].status, cases[i].detail);
        CU_ASSERT_EQUAL(result.parameter_count, 77);
    }
}

static double never_finite(const double *parameter, double x, const void *context)
{
    (void)context;
    return sqrt(-1 - parameter[0] * parameter[0]) * x;
}

TEST(test_fit_reports_a_form_without_values)
{
    static const double x[] = {1, 2, 3};
    static const struct fulcrum_fit_parameter parameter = {
        .name = "a", .high = 9, .start = 1};
    const struct fulcrum_fit_problem problem =
        problem_of(never_finite, &parameter, x, x, 3);
    struct fulcrum_fit_result result;
    ASSERT_SAYS(fulcrum_fit(&result, &problem, &err), FULCRUM_ERR_NO_FIT,
        "hand: the form has no value at the start");
}

/* Says nothing of its parameter, once that is above its start. */
static double flat_beyond_start(const double *parameter, double x, const void *context)
{
    (void)context;
    (void)x;
    return fmin(parameter[0], 1.0);
}

/* Slopes of zero leave the solver a matrix without rank: an answer, not an abort. */
TEST(test_fit_survives_a_form_without_slopes)
{
    static const double x[] = {1, 2, 3, 4};
    static const double y[] = {2, 2.1, 1.9, 2};
    static const struct fulcrum_fit_parameter parameter = {
        .name = "a", .high = 9, .start = 3};
    const struct fulcrum_fit_problem problem =
        problem_of(flat_beyond_start, &parameter, x, y, 4);
    fulcrum_numerics_return_failures();
    struct fulcrum_fit_result result;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_fit(&result, &problem, &err);
    if (status == FULCRUM_OK) {
        CU_ASSERT(isfinite(result.parameter[0].value));
        CU_ASSERT_NOT_EQUAL(result.warnings, 0);
    } else {
        CU_ASSERT_EQUAL(status, FULCRUM_ERR_NO_FIT);
        CU_ASSERT_STRING_NOT_EQUAL(err.detail, "");
    }
}

static double constant(const double *parameter, double x, const void *context)
{
    (void)context;
    (void)x;
    return parameter[0];
}

/* The same, given or fitted by least squares. */
static struct fulcrum_fit_result fit_one(
    double (*model)(const double *parameter, double x, const void *context),
    const double *x, const double *y, size_t count, double given)
{
    const struct fulcrum_fit_parameter parameter = {.name = "a",
        .low = given > 0 ? given : 0,
        .high = given > 0 ? given : 9,
        .start = given > 0 ? given : 1};
    struct fulcrum_fit_problem problem = problem_of(model, &parameter, x, y, count);
    problem.loss = FULCRUM_FIT_SQUARES;
    struct fulcrum_fit_result result;
    ASSERT_OK(fulcrum_fit(&result, &problem, NULL));
    return result;
}

/* Model 2x on y = 2, 5, 4, 10: residuals 0, -1/5, 1/2, -1/5 worked by hand. A mean by
 * squares has the error that every textbook gives it. */
TEST(test_residuals_match_hand_worked_values)
{
    static const double x[] = {1, 2, 3, 4};
    static const double y[] = {2, 5, 4, 10};
    static const double any[] = {2, 3, 3.5, 1.5};
    const struct fulcrum_fit_residuals out =
        fit_one(proportional, x, y, 4, 2).residuals;
    assert_close("mape", out.mape, 0.9 / 4, 1e-12);
    assert_close("smape", out.smape, (2.0 / 9 + 0.4 + 4.0 / 18) / 4, 1e-12);
    assert_close("max", out.max_abs_rel, 0.5, 1e-12);
    assert_close("bias", out.bias_rel, 0.1 / 4, 1e-12);
    assert_close("rms", out.rms_rel, sqrt(0.33 / 4), 1e-12);
    CU_ASSERT_EQUAL(out.count, 4);
    const struct fulcrum_fit_result mean = fit_one(constant, x, any, 4, 0);
    assert_close("mean", mean.parameter[0].value, 2.5, 1e-6);
    assert_close("error", mean.parameter[0].standard_error,
        sqrt(gsl_stats_variance(any, 1, 4) / 4), 1e-6);
    static const double slope[] = {2};
    assert_close("twice", fulcrum_fit_error(&mean, slope),
        2 * mean.parameter[0].standard_error, 1e-9);
}

/* Five points below and five above: 2 runs, expected 6, variance 20/9, so z = -2.683.
 * The order of x counts, not that of the points. */
TEST(test_sign_runs_follow_x)
{
    static const double x[] = {10, 9, 8, 7, 6, 1, 2, 3, 4, 5};
    static const double y[] = {9, 9, 9, 9, 9, 11, 11, 11, 11, 11};
    assert_close("z", fit_one(constant, x, y, 10, 10).residuals.sign_runs_z,
        -4 / sqrt(20.0 / 9), 1e-12);
}

TEST(test_every_warning_has_a_text)
{
    for (unsigned flag = 1; flag < FULCRUM_FIT_WARNING_END; flag *= 2) {
        CU_ASSERT_PTR_NOT_NULL(fulcrum_fit_warning_text(flag));
    }
    CU_ASSERT_PTR_NULL(fulcrum_fit_warning_text(FULCRUM_FIT_WARNING_END));
    CU_ASSERT_PTR_NULL(fulcrum_fit_warning_text(0));
}
