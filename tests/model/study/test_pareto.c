/* test_pareto.c - fronts against every pair of points, in any order. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/number.h"
#include "model/parallel.h"
#include "tests/support/suite.h"

enum { POINTS_MOST = 12000 };

struct point {
    double value[FULCRUM_PARETO_METRICS_MOST];
};

static struct fulcrum_pareto *new_pareto(
    const enum fulcrum_sense *senses, size_t metric_count)
{
    struct fulcrum_pareto *pareto = NULL;
    ASSERT_OK(fulcrum_pareto_new(senses, metric_count, &pareto, NULL));
    return pareto;
}

static const size_t *front_of(struct fulcrum_pareto *pareto, size_t *count)
{
    const size_t *front = NULL;
    *count = 0;
    ASSERT_OK(fulcrum_pareto_front(pareto, &front, count, NULL));
    return front;
}

/* A whole number below `below`, the k-th of a stream. */
static size_t pick(uint64_t seed, uint64_t k, size_t below)
{
    return (size_t)(fulcrum_stream_seed(seed, k, 0) % (uint64_t)below);
}

/* With `levels` values of each metric, so that there are ties; one in 50 is unknown. */
static void fill_points(
    struct point *points, size_t count, uint64_t seed, size_t levels)
{
    for (size_t at = 0; at < count * FULCRUM_PARETO_METRICS_MOST; at++) {
        double value = (double)pick(seed, at, levels) - 0.5 * (double)levels;
        bool is_unknown = pick(seed + 1, at, 50) == 0;
        points[at / FULCRUM_PARETO_METRICS_MOST]
            .value[at % FULCRUM_PARETO_METRICS_MOST] =
            is_unknown ? FULCRUM_UNKNOWN : value;
    }
}

/* By the definition, as it is written in the header. */
static int beats(const struct point *a, const struct point *b,
    const enum fulcrum_sense *senses, size_t metric_count)
{
    int better = 0;
    for (size_t j = 0; j < metric_count; j++) {
        double gain = senses[j] == FULCRUM_SENSE_MORE ? a->value[j] - b->value[j]
                                                      : b->value[j] - a->value[j];
        if (!(gain >= 0.0)) {
            return 0;
        }
        better = better || gain > 0.0;
    }
    return better;
}

static bool is_known(const struct point *point, size_t metric_count)
{
    for (size_t j = 0; j < metric_count; j++) {
        if (isnan(point->value[j])) {
            return 0;
        }
    }
    return 1;
}

static bool is_on_front(const struct point *points, size_t count, size_t i,
    const enum fulcrum_sense *senses, size_t metric_count)
{
    for (size_t k = 0; k < count; k++) {
        if (is_known(&points[k], metric_count) &&
            beats(&points[k], &points[i], senses, metric_count)) {
            return 0;
        }
    }
    return is_known(&points[i], metric_count);
}

/* All pairs say the same, whatever the order in which the points come. */
static void check_set(const struct point *points, size_t count,
    const enum fulcrum_sense *senses, size_t metric_count)
{
    struct fulcrum_pareto *forward = new_pareto(senses, metric_count);
    struct fulcrum_pareto *backward = new_pareto(senses, metric_count);
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = count - 1 - i;
        ASSERT_OK(fulcrum_pareto_add(forward, i, points[i].value, NULL));
        ASSERT_OK(fulcrum_pareto_add(backward, j, points[j].value, NULL));
        unknown += !is_known(&points[i], metric_count);
    }
    size_t front_count = 0;
    size_t back_count = 0;
    const size_t *front = front_of(forward, &front_count);
    const size_t *back = front_of(backward, &back_count);
    size_t at = 0;
    size_t faults = front_count != back_count;
    for (size_t i = 0; i < count && faults == 0; i++) {
        int wanted = is_on_front(points, count, i, senses, metric_count);
        bool is_there = at < front_count && front[at] == i;
        faults += wanted != is_there;
        faults += is_there && back[at] != i;
        at += (size_t)is_there;
    }
    CU_ASSERT_EQUAL(faults, 0);
    CU_ASSERT_EQUAL(at, front_count);
    CU_ASSERT_EQUAL(fulcrum_pareto_left_out(forward), unknown);
    fulcrum_pareto_free(forward);
    fulcrum_pareto_free(backward);
}

TEST(test_a_front_is_what_all_pairs_leave)
{
    static const enum fulcrum_sense senses[][FULCRUM_PARETO_METRICS_MOST] = {
        {FULCRUM_SENSE_MORE, FULCRUM_SENSE_MORE, FULCRUM_SENSE_MORE},
        {FULCRUM_SENSE_MORE, FULCRUM_SENSE_LESS, FULCRUM_SENSE_LESS},
        {FULCRUM_SENSE_LESS, FULCRUM_SENSE_LESS, FULCRUM_SENSE_MORE},
    };
    static const size_t levels[] = {1, 3, 10, 1000, 1000000};
    static struct point points[POINTS_MOST];
    for (uint64_t seed = 0; seed < 60; seed++) {
        size_t count = pick(seed, 1, 400);
        fill_points(points, count, 1000 + seed, levels[seed % 5]);
        check_set(points, count, senses[seed % 3], 2 + seed % 2);
    }
}

/* On a plane no point beats another, so that the front outgrows what waits at once. */
TEST(test_a_large_front_is_swept_many_times)
{
    static const enum fulcrum_sense senses[] = {
        FULCRUM_SENSE_MORE, FULCRUM_SENSE_MORE, FULCRUM_SENSE_MORE};
    static struct point points[POINTS_MOST];
    fill_points(points, POINTS_MOST, 7, 100);
    for (size_t i = 0; i < POINTS_MOST; i++) {
        double below = (double)pick(9, i, 3);
        points[i].value[2] = -points[i].value[0] - points[i].value[1] - below;
    }
    check_set(points, POINTS_MOST, senses, 3);
}

TEST(test_two_metrics_make_a_staircase)
{
    static const enum fulcrum_sense senses[] = {FULCRUM_SENSE_MORE, FULCRUM_SENSE_LESS};
    /* Rate and watts: 1 costs more than 0 for less, 4 is 2 again. */
    static const double points[][2] = {{5, 2}, {4, 3}, {7, 4}, {9, 8}, {7, 4}, {9, 9}};
    struct fulcrum_pareto *pareto = new_pareto(senses, 2);
    for (size_t i = 0; i < 6; i++) {
        ASSERT_OK(fulcrum_pareto_add(pareto, i, points[i], NULL));
    }
    size_t count = 0;
    const size_t *front = front_of(pareto, &count);
    CU_ASSERT_EQUAL_FATAL(count, 4);
    CU_ASSERT_EQUAL(front[0], 0);
    CU_ASSERT_EQUAL(front[1], 2);
    CU_ASSERT_EQUAL(front[2], 3);
    CU_ASSERT_EQUAL(front[3], 4);
    /* It goes on from there: one point beats them all. */
    static const double better[] = {9, 1};
    ASSERT_OK(fulcrum_pareto_add(pareto, 6, better, NULL));
    front = front_of(pareto, &count);
    CU_ASSERT_EQUAL_FATAL(count, 1);
    CU_ASSERT_EQUAL(front[0], 6);
    fulcrum_pareto_free(pareto);
}

TEST(test_nothing_gives_an_empty_front)
{
    static const enum fulcrum_sense senses[] = {FULCRUM_SENSE_MORE, FULCRUM_SENSE_LESS};
    static const double unknown[] = {1.0, INFINITY};
    struct fulcrum_pareto *pareto = new_pareto(senses, 2);
    size_t count = 1;
    (void)front_of(pareto, &count);
    CU_ASSERT_EQUAL(count, 0);
    ASSERT_OK(fulcrum_pareto_add(pareto, 0, unknown, NULL));
    (void)front_of(pareto, &count);
    CU_ASSERT_EQUAL(count, 0);
    CU_ASSERT_EQUAL(fulcrum_pareto_left_out(pareto), 1);
    fulcrum_pareto_free(pareto);
    fulcrum_pareto_free(NULL);
}

/* A front is whole or refused. */
TEST(test_a_front_that_is_too_large_is_refused)
{
    static const enum fulcrum_sense senses[] = {
        FULCRUM_SENSE_MORE, FULCRUM_SENSE_LESS, FULCRUM_SENSE_MORE};
    struct fulcrum_pareto *pareto = new_pareto(senses, 2);
    struct fulcrum_error err;
    enum fulcrum_status status = FULCRUM_OK;
    size_t added = 0;
    for (; added < (size_t)4 * FULCRUM_PARETO_POINTS_MOST && status == FULCRUM_OK;
         added++) {
        const double values[] = {(double)added, (double)added};
        status = fulcrum_pareto_add(pareto, added, values, &err);
    }
    CU_ASSERT_EQUAL(status, FULCRUM_ERR_RANGE);
    CU_ASSERT(added > FULCRUM_PARETO_POINTS_MOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "1048576 points are on the front"));
    fulcrum_pareto_free(pareto);
    CU_ASSERT_EQUAL(fulcrum_pareto_new(senses, 1, &pareto, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(fulcrum_pareto_new(senses, 4, &pareto, &err), FULCRUM_ERR_RANGE);
}
