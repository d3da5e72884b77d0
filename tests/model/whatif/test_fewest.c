/* test_fewest.c - the first place that reaches a share of the best, asked for seldom.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/recommend.h"

#include <math.h>

#include "model/quantity.h"
#include "model/stream.h"
#include "tests/support/suite.h"

enum { PLACES_MOST = 2000 };

struct drawn_curve {
    double value[PLACES_MOST];
    size_t count;
    size_t asked[PLACES_MOST]; /* how often */
    size_t fails_at;           /* a place; count: nowhere */
};

static enum fulcrum_status value_of(
    void *context, size_t place, double *out, struct fulcrum_error *err)
{
    struct drawn_curve *curve = context;
    if (place == curve->fails_at) {
        return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped");
    }
    curve->asked[place]++;
    *out = curve->value[place];
    return FULCRUM_OK;
}

static void start(struct drawn_curve *curve, size_t count)
{
    curve->count = count;
    curve->fails_at = count;
    for (size_t i = 0; i < count; i++) {
        curve->asked[i] = 0;
    }
}

static size_t by_all_places(const struct drawn_curve *curve, double share)
{
    double best = 0.0;
    for (size_t i = 0; i < curve->count; i++) {
        best = curve->value[i] > best ? curve->value[i] : best;
    }
    size_t first = 0;
    while (!(curve->value[first] >= share * best)) {
        first++;
    }
    return first;
}

/* Returns how many places were asked for, each of them once. */
static size_t check(struct drawn_curve *curve, double share)
{
    struct fulcrum_fewest found = {.asked = 0};
    size_t count = curve->count;
    const struct fulcrum_asked_curve asked_of = {value_of, curve, count};
    start(curve, count);
    ASSERT_OK(fulcrum_fewest_find(&asked_of, share, &found, NULL));
    CU_ASSERT_EQUAL(found.place, by_all_places(curve, share));
    CU_ASSERT_EQUAL(found.value, curve->value[found.place]);
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT(curve->asked[i] <= 1);
        asked += curve->asked[i];
    }
    CU_ASSERT_EQUAL(asked, found.asked);
    return asked;
}

/* A number in [0, 1), the k-th of a stream. */
static double fraction(uint64_t seed, uint64_t k)
{
    return (double)(fulcrum_stream_seed(seed, k, 0) >> 11U) / 9007199254740992.0;
}

static const double shares[] = {0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0};
enum { SHARES = LENGTH(shares) };

/* Checks each share; returns the most places that one took. */
static size_t most_asked(struct drawn_curve *curve)
{
    size_t most = 0;
    for (size_t j = 0; j < SHARES; j++) {
        size_t asked = check(curve, shares[j]);
        most = asked > most ? asked : most;
    }
    return most;
}

/* x / (1 + x^p)^(1/p): a line, a knee and a plateau, level to the last digit. */
TEST(test_a_rising_curve_takes_a_few_places)
{
    static struct drawn_curve curve;
    for (uint64_t seed = 0; seed < 40; seed++) {
        start(&curve, 100 + (size_t)(fraction(1, seed) * 1900.0));
        double knee = 2.0 + fraction(2, seed) * (double)curve.count;
        double sharpness = 1.0 + 20.0 * fraction(3, seed);
        for (size_t i = 0; i < curve.count; i++) {
            double x = ((double)i + 1.0) / knee;
            curve.value[i] = x / pow(1.0 + pow(x, sharpness), 1.0 / sharpness);
        }
        CU_ASSERT(most_asked(&curve) < 26 + 52);
    }
}

/* Performance per watt rises and falls; the top is narrow, and nowhere near an end. */
TEST(test_a_curve_with_one_top_takes_a_few_places)
{
    static struct drawn_curve curve;
    for (uint64_t seed = 0; seed < 40; seed++) {
        start(&curve, 600);
        double top = fraction(4, seed) * 600.0;
        double width = 4.0 + 100.0 * fraction(5, seed);
        for (size_t i = 0; i < curve.count; i++) {
            curve.value[i] = 1.0 / (1.0 + fabs((double)i - top) / width);
        }
        CU_ASSERT(most_asked(&curve) < 26 + 72);
    }
}

/* Actors that are rounded to what GPUs share make teeth. */
TEST(test_teeth_of_any_period_are_seen)
{
    static struct drawn_curve curve;
    for (size_t period = 2; period < 40; period++) {
        start(&curve, 500);
        double depth = 0.01 + 0.002 * (double)period;
        for (size_t i = 0; i < curve.count; i++) {
            double tooth = (double)(i % period) / (double)period;
            curve.value[i] = fmin(1.0, 0.01 * (double)i) * (1.0 - depth * tooth);
        }
        (void)most_asked(&curve);
    }
}

/* Too few actors for a batch, and too many for the machine. */
TEST(test_places_without_a_value_are_passed_over)
{
    static struct drawn_curve curve;
    start(&curve, 400);
    for (size_t i = 0; i < curve.count; i++) {
        curve.value[i] = i < 37 ? FULCRUM_UNKNOWN : 1.0 - exp(-0.02 * (double)(i - 30));
    }
    CU_ASSERT(check(&curve, 0.9) < 72);
    for (size_t i = 0; i < curve.count; i++) {
        curve.value[i] = i % 8 == 5 ? (double)i : FULCRUM_UNKNOWN;
    }
    CU_ASSERT_EQUAL(check(&curve, 0.9), curve.count);
}

TEST(test_short_curves_are_known_whole)
{
    static struct drawn_curve curve;
    for (size_t count = 1; count <= 48; count++) {
        start(&curve, count);
        for (size_t i = 0; i < count; i++) {
            curve.value[i] = 1.0 + fraction(6 + count, i);
        }
        CU_ASSERT_EQUAL(check(&curve, 0.9), count);
    }
}

TEST(test_failures_are_told)
{
    static struct drawn_curve curve;
    struct fulcrum_fewest found = {.asked = 77};
    const struct fulcrum_asked_curve whole = {value_of, &curve, 300};
    const struct fulcrum_asked_curve empty = {value_of, &curve, 0};
    start(&curve, 300);
    for (size_t i = 0; i < curve.count; i++) {
        curve.value[i] = i % 2 == 0 ? FULCRUM_UNKNOWN : 0.0;
    }
    CU_ASSERT_EQUAL(
        fulcrum_fewest_find(&whole, 0.9, &found, NULL), FULCRUM_ERR_INFEASIBLE);
    curve.fails_at = 299;
    CU_ASSERT_EQUAL(
        fulcrum_fewest_find(&whole, 0.9, &found, NULL), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_EQUAL(
        fulcrum_fewest_find(&empty, 0.9, &found, NULL), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_EQUAL(found.asked, 77);
}
