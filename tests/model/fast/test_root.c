/* test_root.c - roots that are known, of functions with steep, flat and broken places.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steps.h"

#include "tests/support/suite.h"

static double line(double x)
{
    return 3.0 * x - 6.0;
}

static double cube(double x)
{
    return x * x * x - 8.0;
}

/* Rises by 1e-9 of its height over nearly all of the bracket. */
static double wall(double x)
{
    return x < 2.0 ? -1.0 - 1e-9 * (2.0 - x) : 1e6 * (x - 2.0);
}

static double step(double x)
{
    return x < 2.0 ? -1.0 : 1.0;
}

static double logarithm(double x)
{
    return log(x / 2.0);
}

/* Level but for one place: the secant has no direction. */
static double terrace(double x)
{
    return fmax(-1.0, fmin(1.0, 1e3 * (x - 2.0)));
}

/* Nearly level up to 2; far away it is not what it was meant to be. */
static double plateau(double x)
{
    return x < 2.0 ? -0.1 + 1e-13 * x : fmin(x - 2.0, 1e3 - x);
}

struct search {
    double (*f)(double x);
    double high;
    double start;
    double slope;
};

/* Evaluates as a caller does; returns how often that was. */
static int find(const struct search *search, double tolerance_rel, double *out)
{
    struct fulcrum_root root = {.high = search->high,
        .x = search->start,
        .slope = search->slope,
        .tolerance_rel = tolerance_rel};
    int turns = 0;
    do {
        turns++;
        *out = root.x;
        CU_ASSERT(root.x > 0.0 && root.x < search->high);
    } while (fulcrum_root_next(&root, search->f(root.x)));
    return turns;
}

/* All have their root at 2. */
static const struct search searches[] = {
    {line, 100.0, 50.0, 3.0},
    {line, 100.0, 50.0, 1e-6},
    {line, 100.0, 1e-9, 1e9},
    {line, (double)INFINITY, 1e-3, 3.0},
    {cube, 1e6, 1e5, 1.0},
    {cube, (double)INFINITY, 1e-3, 1.0},
    {wall, 1e4, 1.0, 1.0},
    {wall, 1e4, 9e3, 1.0},
    {step, 7.0, 5.0, 1.0},
    {step, (double)INFINITY, 0.1, 1.0},
    {plateau, (double)INFINITY, 0.7, 0.1},
    {plateau, (double)INFINITY, 1e-6, 1e6},
    {logarithm, 1e3, 1e-4, 1.0},
    {logarithm, 1e3, 999.0, 1e-4},
    {terrace, 100.0, 1.0, 1.0},
    {terrace, 100.0, 99.0, 1.0},
};

enum { SEARCHES = LENGTH(searches) };

TEST(test_roots_are_found)
{
    for (size_t i = 0; i < SEARCHES; i++) {
        double x = 0.0;
        int turns = find(&searches[i], 1e-9, &x);
        assert_close("root", x, 2.0, 1e-8);
        CU_ASSERT(turns <= FULCRUM_ROOT_STEPS_MOST);
    }
}

/* A caller uses what it evaluated last: that must be the place that is good. */
TEST(test_a_loose_tolerance_is_kept)
{
    for (size_t i = 0; i < SEARCHES; i++) {
        double x = 0.0;
        find(&searches[i], 1e-3, &x);
        assert_close("root", x, 2.0, 2e-3);
    }
}

/* Two evaluations make the secant, a third one is at its root. */
TEST(test_a_line_takes_three_evaluations)
{
    struct search search = {line, 100.0, 50.0, 17.0};
    double x = 0.0;
    CU_ASSERT(find(&search, 1e-9, &x) <= 4);
    search.slope = 3.0;
    CU_ASSERT(find(&search, 1e-9, &x) <= 2);
}

/* Without a root the search runs to the end that is nearest to one, and ends. */
static double never(double x)
{
    (void)x;
    return -1.0;
}

static double always(double x)
{
    (void)x;
    return 1.0;
}

TEST(test_a_function_without_a_root_ends_at_the_border)
{
    struct search search = {never, 10.0, 1.0, 1.0};
    double x = 0.0;
    find(&search, 1e-6, &x);
    assert_close("high", x, 10.0, 1e-5);
    search.f = always;
    find(&search, 1e-6, &x);
    CU_ASSERT(x < 1e-5);
}
