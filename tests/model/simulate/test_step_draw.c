/* test_step_draw.c - draws follow the law that they are named after. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/simulate/simulate.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <math.h>

#include "tests/support/suite.h"

enum { DRAWS = 200000 };

/*
 * Distribution functions written down from the literature for a mean of 2, apart from
 * how the code works its parameters out.
 */
static double lognormal(double sigma, double time_s)
{
    return gsl_cdf_lognormal_P(time_s, log(2.0) - 0.5 * sigma * sigma, sigma);
}

static double lognormal_half(double time_s)
{
    return lognormal(sqrt(log(1.25)), time_s); /* cv 0.5 */
}

static double lognormal_five(double time_s)
{
    return lognormal(sqrt(log(26.0)), time_s); /* cv 5 */
}

static double exponential(double time_s)
{
    return -expm1(-time_s / 2.0);
}

static double erlang_eleven(double time_s)
{
    return gsl_sf_gamma_inc_P(11.0, 5.5 * time_s); /* cv 0.3: round(11.1) stages */
}

/* cv 2: p = (1 + sqrt(3 / 5)) / 2, and phase means 1 / p and 1 / (1 - p). */
static double hyperexponential(double time_s)
{
    double p = 0.5 * (1.0 + sqrt(0.6));
    return -p * expm1(-p * time_s) - (1.0 - p) * expm1(-(1.0 - p) * time_s);
}

static double pareto(double time_s)
{
    double least = 2.2 / 2.1;
    return time_s > least ? 1.0 - pow(time_s / least, -2.1) : 0.0;
}

static const struct {
    struct fulcrum_step step;
    double (*below)(double time_s);
    double cv;
} laws[] = {
    {{2.0, 0.5, FULCRUM_LAW_LOGNORMAL}, lognormal_half, 0.5},
    {{2.0, 5.0, FULCRUM_LAW_LOGNORMAL}, lognormal_five, 5.0},
    {{2.0, 0.0, FULCRUM_LAW_EXPONENTIAL}, exponential, 1.0},
    {{2.0, 0.3, FULCRUM_LAW_ERLANG}, erlang_eleven, 0.30151134457776363},
    {{2.0, 2.0, FULCRUM_LAW_HYPEREXPONENTIAL}, hyperexponential, 2.0},
    {{2.0, 9.0, FULCRUM_LAW_PARETO}, pareto, 2.1821789023599236},
};

#define LAW_COUNT (LENGTH(laws))

/* The Kolmogorov-Smirnov distance, which sorts the draws. */
static double distance(double *draw, double (*below)(double time_s))
{
    gsl_sort(draw, 1, DRAWS);
    double most = 0.0;
    for (size_t i = 0; i < DRAWS; i++) {
        double expected = below(draw[i]);
        most = fmax(most, fabs(expected - (double)i / DRAWS));
        most = fmax(most, fabs(expected - (double)(i + 1) / DRAWS));
    }
    return most;
}

static void draw_all(struct fulcrum_step_source *source, double *draw)
{
    for (size_t i = 0; i < DRAWS; i++) {
        draw[i] = fulcrum_step_source_next(source);
    }
}

/* 2 / sqrt(n) is exceeded by chance once in 1500 times; the seed is fixed. */
TEST(test_draws_follow_their_law)
{
    static double draw[DRAWS];
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct fulcrum_step_source source;
        fulcrum_step_source_init(&source, &laws[i].step, 7);
        draw_all(&source, draw);
        double found = distance(draw, laws[i].below);
        if (found * sqrt(DRAWS) > 2.0) {
            assert_close("distance", found, 0.0, 0.0);
        }
        CU_ASSERT(draw[0] > 0.0 && isfinite(draw[DRAWS - 1]));
    }
}

/* Of the ranks of draws that far apart. */
static double correlation(
    const double *draw, size_t apart, double (*below)(double time_s))
{
    double product = 0.0;
    for (size_t k = apart; k < DRAWS; k++) {
        product += (below(draw[k]) - 0.5) * (below(draw[k - apart]) - 0.5);
    }
    return 12.0 * product / DRAWS;
}

/* Neighbours and draws a block apart: five standard errors of a correlation of 0. */
TEST(test_draws_do_not_depend_on_each_other)
{
    static const size_t lags[] = {1, 2, 3, FULCRUM_DRAWS_AHEAD};
    static double draw[DRAWS];
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct fulcrum_step_source source;
        fulcrum_step_source_init(&source, &laws[i].step, 3);
        draw_all(&source, draw);
        double most = 0.0;
        for (size_t j = 0; j < LENGTH(lags); j++) {
            most = fmax(most, fabs(correlation(draw, lags[j], laws[i].below)));
        }
        CU_ASSERT(most < 5.0 / sqrt(DRAWS));
    }
}

TEST(test_equal_steps_are_equal)
{
    static const struct fulcrum_step step = {0.125, 0.0, FULCRUM_LAW_DETERMINISTIC};
    struct fulcrum_step_source source;
    fulcrum_step_source_init(&source, &step, 1);
    for (int i = 0; i < 2 * FULCRUM_DRAWS_AHEAD; i++) {
        CU_ASSERT_EQUAL(fulcrum_step_source_next(&source), 0.125);
    }
    CU_ASSERT_EQUAL(fulcrum_step_source_cv(&step), 0.0);
}

/* A step that takes no time is legal whatever its law. */
TEST(test_no_mean_gives_no_length)
{
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct fulcrum_step step = laws[i].step;
        step.mean_s = 0.0;
        struct fulcrum_step_source source;
        fulcrum_step_source_init(&source, &step, 1);
        CU_ASSERT_EQUAL(fulcrum_step_source_next(&source), 0.0);
        CU_ASSERT_EQUAL(source.length_s[FULCRUM_DRAWS_AHEAD - 1], 0.0);
    }
}

TEST(test_cv_is_the_one_that_is_drawn)
{
    for (size_t i = 0; i < LAW_COUNT; i++) {
        assert_close("cv", fulcrum_step_source_cv(&laws[i].step), laws[i].cv, 1e-12);
    }
}

TEST(test_seeds_give_streams_of_their_own)
{
    struct fulcrum_step_source first;
    struct fulcrum_step_source same;
    struct fulcrum_step_source other;
    fulcrum_step_source_init(&first, &laws[0].step, 5);
    fulcrum_step_source_init(&same, &laws[0].step, 5);
    fulcrum_step_source_init(&other, &laws[0].step, 6);
    for (int i = 0; i < 2 * FULCRUM_DRAWS_AHEAD; i++) {
        double length_s = fulcrum_step_source_next(&first);
        CU_ASSERT_EQUAL(length_s, fulcrum_step_source_next(&same));
        CU_ASSERT_NOT_EQUAL(length_s, fulcrum_step_source_next(&other));
    }
}

TEST(test_uniform_numbers_are_uniform)
{
    struct fulcrum_step_source source;
    fulcrum_step_source_init(&source, &laws[0].step, 5);
    double sum = 0.0;
    double square = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double value = fulcrum_step_source_uniform(&source);
        CU_ASSERT(value > 0.0 && value < 1.0);
        sum += value;
        square += value * value;
    }
    /* Five standard errors. */
    assert_close("mean", sum / DRAWS, 0.5, 5.0 * sqrt(1.0 / 3.0 / DRAWS));
    assert_close("square", square / DRAWS, 1.0 / 3.0, 5.0 * sqrt(0.8 / DRAWS));
}
