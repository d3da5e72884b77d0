/* test_fast_parts.c - what the fast solver is made of. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

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

/* Times for a batch of 10: host 1 + 10 x 0.1 = 2 s, GPU 2 + 10 x 0.2 = 4 s alone. */
static struct fulcrum_network network(double depth)
{
    return (struct fulcrum_network){.actors = 100,
        .host = {.per_batch_s = 1.0, .per_item_s = 0.1},
        .gpu = {.per_batch_s = 2.0, .per_item_s = 0.2},
        .depth = depth,
        .delay_s = 0.5};
}

struct expected {
    double depth;
    double stretch;
    double host_factor;
    double interval_s;
    double latency_s; /* of a batch that waits for nobody */
    double crowded_s; /* of one that always has others inside */
};

static const struct expected cases[] = {
    {1, 1.0, 1.0, 6.0, 6.5, 6.5},
    {1, 2.0, 1.0, 10.0, 10.5, 10.5},
    {2, 1.0, 1.0, 4.0, 6.5, 8.5},
    {3, 1.0, 1.0, 4.0, 6.5, 12.5},
    {2, 1.5, 1.0, 6.0, 8.5, 12.5},
    /* A slow host never lets batches wait for the GPU. */
    {2, 1.0, 2.5, 5.0, 9.5, 9.5},
    {5, 1.0, 2.5, 5.0, 9.5, 9.5},
    /* Without a host there is nothing to overlap. */
    {1, 1.0, 0.0, 4.0, 4.5, 4.5},
    {4, 1.0, 0.0, 4.0, 4.5, 4.5},
    {4, 2.0, 0.0, 8.0, 8.5, 8.5},
};

enum { CASES = LENGTH(cases) };

TEST(test_times_are_those_worked_out)
{
    for (size_t i = 0; i < CASES; i++) {
        struct fulcrum_network own = network(cases[i].depth);
        own.host.per_batch_s *= cases[i].host_factor;
        own.host.per_item_s *= cases[i].host_factor;
        struct fulcrum_batch_service calm =
            fulcrum_batch_service_unhurried(&own, cases[i].stretch, 10.0);
        struct fulcrum_batch_service pace =
            fulcrum_batch_service_of(&own, cases[i].stretch, 10.0);
        assert_close("host", calm.host_s, 2.0 * cases[i].host_factor, 1e-14);
        assert_close("GPU", calm.gpu_s, 4.0 * cases[i].stretch, 1e-14);
        assert_close("interval", calm.interval_s, cases[i].interval_s, 1e-14);
        assert_close("latency", calm.latency_s, cases[i].latency_s, 1e-14);
        assert_close("interval", pace.interval_s, cases[i].interval_s, 1e-14);
        assert_close("crowded", pace.latency_s, cases[i].crowded_s, 1e-14);
    }
}

/* Means below one come out of equations; a batch below one there is not. */
TEST(test_there_is_no_batch_below_one)
{
    struct fulcrum_network own = network(1);
    struct fulcrum_batch_service one = fulcrum_batch_service_of(&own, 1.0, 1.0);
    struct fulcrum_batch_service less = fulcrum_batch_service_of(&own, 1.0, 0.3);
    assert_close("interval", one.interval_s, 1.1 + 2.2, 1e-14);
    assert_close("interval", less.interval_s, one.interval_s, 1e-14);
}

TEST(test_measured_tables_are_looked_up)
{
    static const double size[] = {1, 20};
    static const double time_s[] = {3.0, 22.0};
    struct fulcrum_network own = network(1);
    own.gpu.size = size;
    own.gpu.time_s = time_s;
    own.gpu.count = 2;
    assert_close("GPU", fulcrum_batch_service_of(&own, 2.0, 10.0).gpu_s, 24.0, 1e-14);
}
