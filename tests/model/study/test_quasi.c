/* test_quasi.c - scrambled points of Sobol's sequence stay balanced and uniform. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sensitivity.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

enum { ROWS = 256, DIMENSIONS = 10 };

static double *filled(size_t rows, size_t dimensions, uint64_t seed)
{
    double *points = calloc(rows * dimensions, sizeof *points);
    CU_ASSERT_PTR_NOT_NULL_FATAL(points);
    ASSERT_OK(fulcrum_quasi_fill(points, rows, dimensions, seed, NULL));
    return points;
}

/* How many of the cells [i, i + 1) / cells of one coordinate have exactly one point. */
static size_t cells_with_one(
    const double *points, size_t rows, size_t dimensions, size_t dimension)
{
    size_t seen[ROWS] = {0};
    size_t single = 0;
    for (size_t i = 0; i < rows; i++) {
        seen[(size_t)(points[i * dimensions + dimension] * (double)rows)]++;
    }
    for (size_t i = 0; i < rows; i++) {
        single += seen[i] == 1;
    }
    return single;
}

static void check_strata(const double *points, size_t dimensions)
{
    for (size_t j = 0; j < dimensions; j++) {
        CU_ASSERT_EQUAL(cells_with_one(points, ROWS, dimensions, j), ROWS);
    }
}

/* 2^m points of a net: one in each of 2^m equal pieces of every coordinate. */
TEST(test_each_coordinate_is_stratified)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double *points = filled(ROWS, DIMENSIONS, seed);
        check_strata(points, DIMENSIONS);
        free(points);
    }
}

/* Sobol's first two coordinates are a (0, m, 2) net: one in each square of a grid. */
TEST(test_the_first_two_are_a_net_of_squares)
{
    double *points = filled(ROWS, 2, 3);
    size_t seen[ROWS] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        size_t x = (size_t)(points[2 * i] * 16.0);
        size_t y = (size_t)(points[2 * i + 1] * 16.0);
        seen[16 * x + y]++;
    }
    for (size_t i = 0; i < ROWS; i++) {
        CU_ASSERT_EQUAL(seen[i], 1);
    }
    free(points);
}

/* Coordinates beyond GSL's 40 come from another set, and are stratified as well. */
TEST(test_wide_points_are_stratified_and_inside)
{
    const size_t wide = 93;
    double *points = filled(ROWS, wide, 7);
    check_strata(points, wide);
    for (size_t i = 0; i < ROWS * wide; i++) {
        CU_ASSERT(points[i] > 0.0 && points[i] < 1.0);
    }
    free(points);
}

static double correlation(const double *points, size_t stride, size_t j, size_t k)
{
    return gsl_stats_correlation(points + j, stride, points + k, stride, ROWS);
}

/* Columns after column j that go along with it. */
static size_t followers_of(const double *points, size_t stride, size_t j)
{
    size_t count = 0;
    for (size_t k = j + 1; k < stride; k++) {
        count += fabs(correlation(points, stride, j, k)) > 0.5;
    }
    return count;
}

/*
 * Two sets of 40 columns, each with rows in an order of its own: 256 points of one set
 * have 4 pairs of columns that go along with each other (by 0.75, whatever the seed),
 * and none across sets. Were the rows of both in one order, each column would also have
 * its like in the other set: 60 pairs and more.
 */
TEST(test_sets_do_not_follow_each_other)
{
    const size_t wide = 80;
    size_t count = 0;
    double *points = filled(ROWS, wide, 11);
    for (size_t j = 0; j < wide; j++) {
        count += followers_of(points, wide, j);
    }
    CU_ASSERT_EQUAL(count, 8);
    free(points);
}

/* Those pairs are of other columns with every seed: none has to live with another. */
TEST(test_columns_take_turns)
{
    const size_t wide = 40;
    size_t seen = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        double *points = filled(ROWS, wide, seed);
        seen += followers_of(points, wide, 0) > 0;
        free(points);
    }
    /* 8 of the 40 columns are in such a pair. */
    CU_ASSERT(seen > 0 && seen < 20);
}

/* A single scrambled point is uniform: its mean over 4096 seeds, within 4 sigma. */
TEST(test_a_point_is_uniform_over_seeds)
{
    enum { SEEDS = 4096 };
    double sum[2] = {0.0, 0.0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double *points = filled(2, 3, seed);
        sum[0] += points[0];
        sum[1] += points[5];
        free(points);
    }
    double bound = 4.0 / sqrt(12.0 * SEEDS);
    CU_ASSERT_DOUBLE_EQUAL(sum[0] / SEEDS, 0.5, bound);
    CU_ASSERT_DOUBLE_EQUAL(sum[1] / SEEDS, 0.5, bound);
}

static double product_mean(size_t rows, uint64_t seed)
{
    double *points = filled(rows, 4, seed);
    double sum = 0.0;
    for (size_t i = 0; i < rows; i++) {
        const double *at = points + 4 * i;
        sum += exp(at[0] * at[1]) + at[2] * at[2] * at[3];
    }
    free(points);
    return sum / (double)rows;
}

static double rms_error(size_t rows)
{
    /* Of exp(x y): the sum of 1 / (k! (k + 1)^2), = 1.317902151...; of x^2 y: 1/6. */
    const double exact = 1.3179021514544038 + 1.0 / 6.0;
    double sum = 0.0;
    for (uint64_t seed = 1; seed <= 32; seed++) {
        double error = product_mean(rows, seed) - exact;
        sum += error * error;
    }
    return sqrt(sum / 32.0);
}

/* Random points gain a factor 8 from 64 times as many; scrambled nets of a smooth
 * function up to 512 (Owen 1997): 64 is asked for.
 */
TEST(test_averages_converge_faster_than_random_ones)
{
    CU_ASSERT(rms_error(1024) < rms_error(16) / 64.0);
}

static size_t count_equal(const double *a, const double *b, size_t count)
{
    size_t equal = 0;
    for (size_t i = 0; i < count; i++) {
        equal += a[i] == b[i];
    }
    return equal;
}

TEST(test_seeds_decide)
{
    double *a = filled(ROWS, 3, 1);
    double *b = filled(ROWS, 3, 1);
    double *c = filled(ROWS, 3, 2);
    CU_ASSERT_EQUAL(count_equal(a, b, (size_t)ROWS * 3), (size_t)ROWS * 3);
    CU_ASSERT(count_equal(a, c, (size_t)ROWS * 3) < 8);
    free(a);
    free(b);
    free(c);
}

TEST(test_other_counts_are_refused)
{
    double out[8] = {0.0};
    ASSERT_FAILS(fulcrum_quasi_fill(out, 3, 1, 1, &err), FULCRUM_ERR_RANGE,
        "3 quasi-random points");
    CU_ASSERT_EQUAL(fulcrum_quasi_fill(out, 0, 1, 1, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(fulcrum_quasi_fill(out, 4, 0, 1, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(
        fulcrum_quasi_fill(out, (size_t)1 << 30, 1, 1, NULL), FULCRUM_ERR_RANGE);
    ASSERT_OK(fulcrum_quasi_fill(out, 1, 1, 1, NULL));
    CU_ASSERT(out[0] > 0.0 && out[0] < 1.0);
}
