/* test_posterior.c - a posterior against linear models, whose answer is known. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit/posterior.h"

#include <math.h>

#include "tests/support/suite.h"

enum { DRAWS = 20000 };

static void *const contexts[3] = {NULL, NULL, NULL};

static int sum_of(void *context, const double *parameter, double *out)
{
    (void)context;
    out[0] = parameter[0] + parameter[1];
    return 1;
}

/* And twice the first. */
static int sum_and_double(void *context, const double *parameter, double *out)
{
    out[1] = 2.0 * parameter[0];
    return sum_of(context, parameter, out);
}

static const struct fulcrum_belief beliefs[] = {
    {"workload.host.reserved_threads", FULCRUM_SCALE_LINEAR, 1.0, 2.0},
    {"workload.host.delay_s", FULCRUM_SCALE_LINEAR, 3.0, 1.0},
};

static const struct fulcrum_datum datum = {7.0, 0.5};

static struct fulcrum_posterior_problem problem_of(
    const struct fulcrum_datum *data, size_t count)
{
    return (struct fulcrum_posterior_problem){.beliefs = beliefs,
        .belief_count = 2,
        .data = data,
        .datum_count = count,
        .forward = sum_of,
        .contexts = contexts,
        .thread_count = 1};
}

/* One datum y = a + b with error s: by hand, the shift of each parameter is its
 * variance times (y - y0) / (s^2 + sum of variances), and the singular value is the
 * root of that sum over s. */
TEST(test_one_datum_by_hand)
{
    static const struct fulcrum_datum data[] = {{7.0, 0.5}, {0.0, (double)INFINITY}};
    struct fulcrum_posterior_problem problem = problem_of(data, 2);
    problem.forward = sum_and_double;
    struct fulcrum_posterior_mode mode;
    ASSERT_OK(fulcrum_posterior_mode_find(&problem, 1, &mode, NULL));
    double shift = 3.0 / (0.25 + 5.0);
    assert_close("a", mode.value[0], 1.0 + 4.0 * shift, 1e-5);
    assert_close("b", mode.value[1], 3.0 + shift, 1e-5);
    assert_close("sum", mode.predicted[0], 4.0 + 5.0 * shift, 1e-5);
    assert_close("held out", mode.predicted[1], 2.0 * mode.value[0], 1e-9);
    CU_ASSERT_EQUAL(mode.singular_count, 1);
    assert_close("singular", mode.singular_value[0], sqrt(5.0) / 0.5, 1e-6);
    assert_close("objective", mode.misfit + mode.penalty, 0.5 * 9.0 / 5.25, 1e-6);
    fulcrum_posterior_mode_clear(&mode);
}

/* The posterior variance of a parameter of variance v is v - v^2 / (s^2 + sum). */
TEST(test_draws_have_the_posteriors_spread)
{
    struct fulcrum_posterior_problem problem = problem_of(&datum, 1);
    struct fulcrum_posterior_mode mode;
    struct fulcrum_posterior_draws draws;
    struct fulcrum_posterior_summary a;
    struct fulcrum_posterior_summary sum;
    ASSERT_OK(fulcrum_posterior_mode_find(&problem, 1, &mode, NULL));
    ASSERT_OK(fulcrum_posterior_draw(&problem, DRAWS, 1, &draws, NULL));
    ASSERT_OK(fulcrum_posterior_summarise(&draws, 0, &a, NULL));
    ASSERT_OK(fulcrum_posterior_summarise(&draws, draws.belief_count, &sum, NULL));
    double sd = sqrt(4.0 - 16.0 / 5.25);
    assert_close("mean", a.mean, mode.value[0], 0.02);
    assert_close("sd", a.sd, sd, 0.03);
    assert_close("5 %", a.low, mode.value[0] - 1.645 * sd, 0.05);
    assert_close("95 %", a.high, mode.value[0] + 1.645 * sd, 0.05);
    assert_close("sum", sum.sd, sqrt(5.0 - 25.0 / 5.25), 0.03);
    CU_ASSERT(draws.effective_count > 0.1 * DRAWS);
    fulcrum_posterior_draws_clear(&draws);
    fulcrum_posterior_mode_clear(&mode);
}

TEST(test_draws_of_the_prior_have_its_spread)
{
    struct fulcrum_posterior_problem problem = problem_of(&datum, 1);
    struct fulcrum_posterior_draws draws;
    struct fulcrum_posterior_summary sum;
    ASSERT_OK(fulcrum_posterior_draw_prior(&problem, DRAWS, 1, &draws, NULL));
    ASSERT_OK(fulcrum_posterior_summarise(&draws, draws.belief_count, &sum, NULL));
    assert_close("mean", sum.mean, 4.0, 0.02);
    assert_close("sd", sum.sd, sqrt(5.0), 0.03);
    assert_close("worth", draws.effective_count, DRAWS, 1e-9);
    fulcrum_posterior_draws_clear(&draws);
}

TEST(test_threads_change_nothing)
{
    struct fulcrum_posterior_problem problem = problem_of(&datum, 1);
    struct fulcrum_posterior_draws one;
    struct fulcrum_posterior_draws three;
    ASSERT_OK(fulcrum_posterior_draw(&problem, 100, 1, &one, NULL));
    problem.thread_count = 3;
    ASSERT_OK(fulcrum_posterior_draw(&problem, 100, 1, &three, NULL));
    for (size_t i = 0; i < 200; i++) {
        assert_close("draw", one.value[i], three.value[i], 0.0);
    }
    assert_close("worth", one.effective_count, three.effective_count, 0.0);
    fulcrum_posterior_draws_clear(&one);
    fulcrum_posterior_draws_clear(&three);
}

/* A kink at the datum, and no answer below 0.2. */
static int kinked(void *context, const double *parameter, double *out)
{
    (void)context;
    out[0] = fmin(parameter[0], 2.0) * parameter[1];
    return parameter[0] >= 0.2;
}

TEST(test_kinks_and_edges_are_survived)
{
    static const struct fulcrum_belief positive[] = {
        {"workload.step.mean_s", FULCRUM_SCALE_LOG, 1.0, 0.5},
        {"workload.step.cv", FULCRUM_SCALE_LOG, 1.0, 0.1},
    };
    static const struct fulcrum_datum data[] = {{2.0, 0.01}};
    struct fulcrum_posterior_problem problem = problem_of(data, 1);
    problem.beliefs = positive;
    problem.forward = kinked;
    struct fulcrum_posterior_mode mode;
    struct fulcrum_posterior_draws draws;
    ASSERT_OK(fulcrum_posterior_mode_find(&problem, 1, &mode, NULL));
    assert_close("product", mode.predicted[0], 2.0, 0.01);
    CU_ASSERT(mode.value[0] > 1.7 && mode.value[0] < 2.1);
    ASSERT_OK(fulcrum_posterior_draw(&problem, DRAWS, 1, &draws, NULL));
    struct fulcrum_posterior_summary product;
    ASSERT_OK(fulcrum_posterior_summarise(&draws, draws.belief_count, &product, NULL));
    assert_close("product", product.mean, 2.0, 0.01);
    CU_ASSERT(draws.effective_count > 100.0);
    fulcrum_posterior_draws_clear(&draws);
    fulcrum_posterior_mode_clear(&mode);
}

static int never(void *context, const double *parameter, double *out)
{
    (void)context;
    out[0] = parameter[0];
    return 0;
}

TEST(test_what_cannot_be_fitted_is_refused)
{
    static const struct fulcrum_datum exact = {7.0, 0.0};
    static const struct fulcrum_belief negative[] = {
        {"workload.step.cv", FULCRUM_SCALE_LOG, -1.0, 0.5}};
    struct fulcrum_posterior_problem problem = problem_of(&datum, 1);
    struct fulcrum_posterior_mode mode;
    problem.forward = never;
    CU_ASSERT_EQUAL(
        fulcrum_posterior_mode_find(&problem, 1, &mode, NULL), FULCRUM_ERR_NO_FIT);
    problem = problem_of(&exact, 1);
    CU_ASSERT_EQUAL(
        fulcrum_posterior_mode_find(&problem, 1, &mode, NULL), FULCRUM_ERR_RANGE);
    problem = problem_of(&datum, 1);
    problem.beliefs = negative;
    problem.belief_count = 1;
    ASSERT_FAILS(fulcrum_posterior_mode_find(&problem, 1, &mode, &err),
        FULCRUM_ERR_RANGE, "workload.step.cv");
}
