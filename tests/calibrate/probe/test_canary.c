/* test_canary.c - the canary finds its usual time and tells what is above it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>

#include "tests/support/suite.h"

static void feed(struct fulcrum_canary *canary, double reading_s, int count)
{
    for (int i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(fulcrum_canary_add(canary, reading_s, NULL), FULCRUM_OK);
    }
}

static void test_nothing_is_known_before_the_first_reading(void)
{
    struct fulcrum_canary canary = {0};
    suite_assert_close("rel", fulcrum_canary_rel(&canary, 5.0), 1.0, 0.0);
    fulcrum_canary_free(&canary);
}

static void test_baseline_is_the_undisturbed_time(void)
{
    struct fulcrum_canary canary = {0};
    feed(&canary, 1e-3, 60);
    feed(&canary, 1.5e-3, 40);
    suite_assert_close("calm", fulcrum_canary_rel(&canary, 1e-3), 1.0, 1e-12);
    suite_assert_close("disturbed", fulcrum_canary_rel(&canary, 1.5e-3), 1.5, 1e-12);
    CU_ASSERT(fulcrum_canary_rel(&canary, 1.05e-3) < FULCRUM_CANARY_LIMIT_REL);
    CU_ASSERT(fulcrum_canary_rel(&canary, 1.10e-3) > FULCRUM_CANARY_LIMIT_REL);
    fulcrum_canary_free(&canary);
}

static void test_one_lucky_reading_does_not_move_the_baseline(void)
{
    struct fulcrum_canary canary = {0};
    feed(&canary, 1e-3, 95);
    feed(&canary, 0.5e-3, 1);
    suite_assert_close("rel", fulcrum_canary_rel(&canary, 1e-3), 1.0, 1e-12);
    fulcrum_canary_free(&canary);
}

static void test_usual_time_can_be_the_median(void)
{
    struct fulcrum_canary canary = {.usual_frac = 0.5};
    feed(&canary, 1e-3, 40);
    feed(&canary, 2e-3, 56);
    suite_assert_close("rel", fulcrum_canary_rel(&canary, 2e-3), 1.0, 1e-12);
    fulcrum_canary_free(&canary);
}

/* Of 60 readings of 1 ms, 36 within 8 % of it and 24 far above. */
static void test_calm_time_is_the_median_of_what_is_not_disturbed(void)
{
    struct fulcrum_canary canary = {0};
    double calm_s = 0.0;
    CU_ASSERT_EQUAL(fulcrum_canary_calm_s(&canary, &calm_s, NULL), FULCRUM_OK);
    CU_ASSERT(isnan(calm_s));
    feed(&canary, 1e-3, 30);
    feed(&canary, 1.5e-3, 24);
    feed(&canary, 1.07e-3, 36);
    feed(&canary, 1e-3, 30);
    CU_ASSERT_EQUAL(fulcrum_canary_calm_s(&canary, &calm_s, NULL), FULCRUM_OK);
    suite_assert_close("most are fast", calm_s, 1e-3, 1e-12);
    feed(&canary, 1.07e-3, 40);
    CU_ASSERT_EQUAL(fulcrum_canary_calm_s(&canary, &calm_s, NULL), FULCRUM_OK);
    suite_assert_close("most are slower", calm_s, 1.07e-3, 1e-12);
    fulcrum_canary_free(&canary);
}

static void test_real_runs_bracket_a_sample(void)
{
    struct fulcrum_canary canary = {0};
    struct fulcrum_stopwatch stopwatch = fulcrum_stopwatch_calibrated();
    double longer_s = 0.0;
    CU_ASSERT_EQUAL(fulcrum_canary_open(&canary, &stopwatch, NULL), FULCRUM_OK);
    double first_s = canary.last.cpu_s;
    CU_ASSERT_EQUAL(
        fulcrum_canary_close(&canary, &longer_s, FULCRUM_CLOCK_CPU, &stopwatch, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL(canary.count, 2);
    CU_ASSERT(first_s > 0.0 && longer_s > 0.0);
    suite_assert_close("longer", longer_s, fmax(first_s, canary.last.cpu_s), 0.0);
    /* On the wall clock nothing is shorter than on the thread's. */
    CU_ASSERT_EQUAL(
        fulcrum_canary_close(&canary, &longer_s, FULCRUM_CLOCK_WALL, &stopwatch, NULL),
        FULCRUM_OK);
    CU_ASSERT(longer_s > 0.5 * canary.last.cpu_s);
    fulcrum_canary_free(&canary);
    CU_ASSERT_EQUAL(canary.count, 0);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_nothing_is_known_before_the_first_reading),
        SUITE_CASE(test_baseline_is_the_undisturbed_time),
        SUITE_CASE(test_one_lucky_reading_does_not_move_the_baseline),
        SUITE_CASE(test_usual_time_can_be_the_median),
        SUITE_CASE(test_calm_time_is_the_median_of_what_is_not_disturbed),
        SUITE_CASE(test_real_runs_bracket_a_sample),
    };
    return suite_run("canary", cases, sizeof cases / sizeof cases[0], argc, argv);
}
