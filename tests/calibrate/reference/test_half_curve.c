/* test_half_curve.c - which points of a curve are fitted, and what is refused. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/formula.h"

#include <stdbool.h>
#include <string.h>

#include "tests/support/suite.h"

enum { POINTS = 6 };

/* Two series; places of "a": 4, 1, 2, 2, 8 in that order. */
struct fixture {
    struct fulcrum_observation observed[POINTS];
    struct fulcrum_reference_point points[POINTS];
    struct fulcrum_reference reference;
};

static void fill(struct fixture *out)
{
    static const char *const series[POINTS] = {"a", "b", "a", "a", "a", "a"};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < POINTS; i++) {
        out->observed[i] = (struct fulcrum_observation){
            .quantity = "steps_per_s", .value = 100.0 + (double)i};
        out->points[i].observations = &out->observed[i];
        out->points[i].observation_count = 1;
        (void)snprintf(
            out->points[i].series, sizeof out->points[i].series, "%s", series[i]);
    }
    out->reference = (struct fulcrum_reference){
        .name = "curves", .points = out->points, .point_count = POINTS};
}

static enum fulcrum_status read_place(const struct fulcrum_reference *reference,
    struct fulcrum_reading *reading, struct fulcrum_error *err)
{
    static const double places[POINTS] = {4.0, 3.0, 1.0, 2.0, 2.0, 8.0};
    reading->x = places[reading->point];
    return fulcrum_reading_take(reference, reading, 0, err);
}

static void test_every_other_place_is_fitted(void)
{
    static const size_t points[] = {2, 3, 4, 0, 5};
    static const bool is_fitted[] = {1, 0, 0, 1, 0};
    struct fixture fixture;
    struct fulcrum_half_curve curve;
    fill(&fixture);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_half_curve_init(&curve, &fixture.reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_half_curve_fill(&curve, 0, read_place, "places", NULL), FULCRUM_OK);
    CU_ASSERT_STRING_EQUAL(curve.series, "a");
    CU_ASSERT_EQUAL_FATAL(curve.count, 5);
    for (size_t i = 0; i < curve.count; i++) {
        CU_ASSERT_EQUAL(curve.readings[i].point, points[i]);
        CU_ASSERT_EQUAL(curve.readings[i].is_fitted, is_fitted[i]);
        CU_ASSERT_EQUAL(curve.readings[i].per_s, 100.0 + (double)points[i]);
    }
    CU_ASSERT_EQUAL_FATAL(curve.fitted_count, 2);
    CU_ASSERT_EQUAL(curve.x[0], 1.0);
    CU_ASSERT_EQUAL(curve.x[1], 4.0);
    CU_ASSERT_EQUAL(curve.y[1], 100.0);
    fulcrum_half_curve_clear(&curve);
}

static void test_curves_that_leave_nothing_to_predict_are_refused(void)
{
    struct fixture fixture;
    struct fulcrum_half_curve curve;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    fill(&fixture);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_half_curve_init(&curve, &fixture.reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_half_curve_fill(&curve, 1, read_place, "places", &err),
        FULCRUM_ERR_NO_FIT);
    CU_ASSERT_STRING_EQUAL(err.detail,
        "reference curves: series \"b\" has 1 different places, at least 3 expected");
    fixture.observed[3].value = 0.0;
    CU_ASSERT_EQUAL(fulcrum_half_curve_fill(&curve, 0, read_place, "places", &err),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(err.detail,
        "reference curves: points[3].observed.steps_per_s = 0, above 0 expected");
    fulcrum_half_curve_clear(&curve);
}

/* Predicts a number for the first point of a series. */
static enum fulcrum_status predict_first(struct fulcrum_half_curve *curve, size_t first,
    struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    (void)err;
    CU_ASSERT_PTR_NOT_NULL(curve->readings);
    struct fulcrum_compared *item =
        fulcrum_comparison_add(comparison, first, 0, 10.0 + (double)first);
    item->is_fitted = 1;
    return FULCRUM_OK;
}

static enum fulcrum_status predict_only_a(struct fulcrum_half_curve *curve,
    size_t first, struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    return first == 0 ? predict_first(curve, first, comparison, err)
                      : fulcrum_fail(err, FULCRUM_ERR_NO_FIT, "point %zu", first);
}

static void test_every_series_is_predicted_or_none(void)
{
    struct fixture fixture;
    struct fulcrum_comparison all = {0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    fill(&fixture);
    CU_ASSERT_EQUAL(
        fulcrum_half_curves_predict(&fixture.reference, predict_only_a, &all, &err),
        FULCRUM_ERR_NO_FIT);
    CU_ASSERT_STRING_EQUAL(err.detail, "point 1");
    CU_ASSERT(all.items == NULL && all.count == 0);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_half_curves_predict(&fixture.reference, predict_first, &all, &err),
        FULCRUM_OK);
    CU_ASSERT_EQUAL(all.count, 2);
    for (size_t i = 0; i < all.count && i < 2; i++) {
        CU_ASSERT_EQUAL(all.items[i].point, i);
        CU_ASSERT_EQUAL(all.items[i].predicted, 10.0 + (double)i);
    }
    fulcrum_comparison_clear(&all);
    fixture.reference.point_count = 0;
    CU_ASSERT_EQUAL(
        fulcrum_half_curves_predict(&fixture.reference, predict_first, &all, &err),
        FULCRUM_ERR_NO_FIT);
    CU_ASSERT_STRING_EQUAL(
        err.detail, "reference curves: points is empty, curves expected");
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_every_other_place_is_fitted),
        SUITE_CASE(test_every_series_is_predicted_or_none),
        SUITE_CASE(test_curves_that_leave_nothing_to_predict_are_refused),
    };
    return suite_run("half_curve", cases, sizeof cases / sizeof cases[0], argc, argv);
}
