/* test_fitted_points.c - what a fit has seen, by the notes of its calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/comparison.h"

#include <stdbool.h>
#include <stdio.h>

#include "tests/support/suite.h"

TEST(test_lists_have_whole_items)
{
    static const struct {
        const char *list;
        const char *item;
        bool has;
        bool has_part; /* the item, whole or one series */
    } cases[] = {
        {NULL, "a", 0, 0},
        {"", "a", 0, 0},
        {"a", "a", 1, 1},
        {"ab, ca", "a", 0, 0},
        {"b, a", "a", 1, 1},
        {"b, a, c", "a", 1, 1},
        {"b, a:s, c", "a", 0, 1},
        {"b, a:s, c", "a:s", 1, 1},
        {"a-2, a:12", "a:1", 0, 0},
        /* A series may have a comma in its name. */
        {"a:Pong, 4 GPUs, b", "a:Pong, 4 GPUs", 1, 1},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char point[40];
        (void)snprintf(point, sizeof point, "%s:7", cases[i].item);
        CU_ASSERT_EQUAL(
            fulcrum_fitted_points_list_has(cases[i].list, cases[i].item), cases[i].has);
        CU_ASSERT_EQUAL(
            fulcrum_fitted_points_saw(cases[i].list, NULL, point), cases[i].has_part);
        CU_ASSERT_FALSE(fulcrum_fitted_points_saw(cases[i].list, point, point));
    }
}

/* A calibration with these notes; NULL: none of that key. */
static struct fulcrum_calibration *noted(const char *fitted_to, const char *held_out)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    CU_ASSERT_PTR_NOT_NULL_FATAL(calibration);
    if (fitted_to != NULL) {
        ASSERT_OK(fulcrum_calibration_add_note(
            calibration, FULCRUM_NOTE_FITTED_TO, fitted_to, NULL));
    }
    if (held_out != NULL) {
        ASSERT_OK(fulcrum_calibration_add_note(
            calibration, FULCRUM_NOTE_HELD_OUT, held_out, NULL));
    }
    return calibration;
}

/* What the notes of a fit say of a reference of two points. */
struct seen_case {
    const char *fitted_to;
    const char *held_out;
    int whole;
    int part;
    int seen[2];
};

static void check_case(
    const struct fulcrum_reference *reference, const struct seen_case *expected)
{
    struct fulcrum_calibration *calibration =
        noted(expected->fitted_to, expected->held_out);
    CU_ASSERT_EQUAL(
        fulcrum_fitted_points_whole(calibration, reference), expected->whole);
    CU_ASSERT_EQUAL(fulcrum_fitted_points_part(calibration, reference), expected->part);
    for (size_t k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(
            fulcrum_fitted_points_point(calibration, reference, k), expected->seen[k]);
    }
    fulcrum_calibration_free(calibration);
}

/* Points of a file whose first was left away: places and indices differ. */
TEST(test_points_that_were_held_out_are_not_seen)
{
    struct fulcrum_reference_point points[] = {
        {.series = "slow", .index = 1}, {.series = "fast", .index = 2}};
    const struct fulcrum_reference reference = {
        .name = "runs", .points = points, .point_count = 2};
    static const struct seen_case cases[] = {
        {NULL, NULL, 0, 0, {0, 0}},
        {"others", NULL, 0, 0, {0, 0}},
        {"others, runs", NULL, 1, 1, {1, 1}},
        {"runs:fast", NULL, 0, 1, {0, 1}},
        {"runs", "runs:2, runs:0", 1, 1, {1, 0}},
        {"runs", "runs:12", 1, 1, {1, 1}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        check_case(&reference, &cases[i]);
    }
}
