/* test_recording.c - medians come from undisturbed samples, and every sample is kept.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>

#include "tests/support/suite.h"

static void calm_canary(struct fulcrum_canary *canary)
{
    for (int i = 0; i < 32; i++) {
        CU_ASSERT_EQUAL(fulcrum_canary_add(canary, 1e-3, NULL), FULCRUM_OK);
    }
}

static void add(struct fulcrum_recording *recording, double x, double value, double rel)
{
    struct fulcrum_sample sample = {.x = x, .value = value, .canary_s = 1e-3 * rel};
    CU_ASSERT_EQUAL(fulcrum_recording_add(recording, &sample, NULL), FULCRUM_OK);
}

static void start(struct fulcrum_recording *recording, struct fulcrum_canary *canary)
{
    *canary = (struct fulcrum_canary){0};
    calm_canary(canary);
    fulcrum_recording_init(recording,
        &(struct fulcrum_series){.name = "inference", .unit = "s", .x_name = "batch"},
        canary);
}

static void finish(struct fulcrum_recording *recording, struct fulcrum_canary *canary)
{
    fulcrum_recording_free(recording);
    fulcrum_canary_free(canary);
}

static void test_disturbed_samples_do_not_move_the_median(void)
{
    struct fulcrum_canary canary;
    struct fulcrum_recording recording;
    struct fulcrum_summary summary;
    start(&recording, &canary);
    for (int i = 0; i < 20; i++) {
        add(&recording, 1.0, 2.0 + 0.01 * i, 1.0);
    }
    for (int i = 0; i < 15; i++) {
        add(&recording, 1.0, 50.0, 1.3);
    }
    CU_ASSERT_EQUAL(
        fulcrum_recording_summary(&recording, 1.0, &summary, NULL), FULCRUM_OK);
    suite_assert_close("median", summary.median, 2.095, 1e-12);
    CU_ASSERT_EQUAL(summary.used, 20);
    CU_ASSERT_EQUAL(summary.disturbed, 15);
    CU_ASSERT_EQUAL(summary.took_all, 0);
    CU_ASSERT(summary.lo < summary.median && summary.hi > summary.median);
    CU_ASSERT(summary.standard_error > 0.0);
    finish(&recording, &canary);
}

static void test_all_samples_count_where_few_are_undisturbed(void)
{
    struct fulcrum_canary canary;
    struct fulcrum_recording recording;
    struct fulcrum_summary summary;
    start(&recording, &canary);
    add(&recording, 1.0, 1.0, 1.0);
    add(&recording, 1.0, 3.0, 1.3);
    add(&recording, 1.0, 4.0, 1.3);
    CU_ASSERT_EQUAL(
        fulcrum_recording_summary(&recording, 1.0, &summary, NULL), FULCRUM_OK);
    suite_assert_close("median", summary.median, 3.0, 1e-12);
    CU_ASSERT_EQUAL(summary.took_all, 1);
    CU_ASSERT_EQUAL(summary.used, 3);
    for (int i = 0; i < 20; i++) {
        add(&recording, 2.0, i < 4 ? 1.0 : 9.0, i < 4 ? 1.0 : 1.3);
    }
    CU_ASSERT_EQUAL(
        fulcrum_recording_summary(&recording, 2.0, &summary, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(summary.took_all, 0);
    suite_assert_close("four are enough", summary.median, 1.0, 1e-12);
    finish(&recording, &canary);
}

static void test_summary_of_few_samples(void)
{
    struct fulcrum_canary canary;
    struct fulcrum_recording recording;
    struct fulcrum_summary summary;
    start(&recording, &canary);
    CU_ASSERT_EQUAL(
        fulcrum_recording_summary(&recording, 1.0, &summary, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(summary.used, 0);
    CU_ASSERT(isnan(summary.median));
    add(&recording, 1.0, 4.0, 1.0);
    CU_ASSERT_EQUAL(
        fulcrum_recording_summary(&recording, 1.0, &summary, NULL), FULCRUM_OK);
    suite_assert_close("median", summary.median, 4.0, 0.0);
    suite_assert_close("error of a lone sample", summary.standard_error, 0.4, 1e-12);
    add(&recording, 1.0, 6.0, 1.0);
    CU_ASSERT_EQUAL(
        fulcrum_recording_summary(&recording, 1.0, &summary, NULL), FULCRUM_OK);
    suite_assert_close("lo", summary.lo, 4.0, 0.0);
    suite_assert_close("hi", summary.hi, 6.0, 0.0);
    finish(&recording, &canary);
}

static void test_neediest_repeats_disturbed_samples_but_not_for_ever(void)
{
    static const double x[] = {1.0, 2.0, 4.0};
    struct fulcrum_canary canary;
    struct fulcrum_recording recording;
    start(&recording, &canary);
    suite_assert_close("first", fulcrum_recording_neediest(&recording, x, 3), 1.0, 0.0);
    add(&recording, 1.0, 1.0, 1.0);
    add(&recording, 2.0, 1.0, 1.5);
    add(&recording, 4.0, 1.0, 1.0);
    suite_assert_close(
        "disturbed", fulcrum_recording_neediest(&recording, x, 3), 2.0, 0.0);
    add(&recording, 2.0, 1.0, 1.5);
    suite_assert_close("still", fulcrum_recording_neediest(&recording, x, 3), 1.0, 0.0);
    finish(&recording, &canary);
}

static void test_report_keeps_every_sample(void)
{
    struct fulcrum_canary canary;
    struct fulcrum_recording recording;
    struct fulcrum_calibration *calibration = NULL;
    start(&recording, &canary);
    CU_ASSERT_EQUAL(fulcrum_calibration_new(&calibration, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(
        fulcrum_recording_report(&recording, calibration, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(calibration->series_count, 0);
    add(&recording, 1.0, 5.0, 1.0);
    add(&recording, 2.0, 7.0, 1.5);
    struct fulcrum_sample marked = {.x = 3.0, .value = 8.0, .marked = 1};
    CU_ASSERT_EQUAL(fulcrum_recording_add(&recording, &marked, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(
        fulcrum_recording_report(&recording, calibration, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(calibration->series_count, 1);
    const struct fulcrum_series *series = &calibration->series[0];
    CU_ASSERT_STRING_EQUAL(series->name, "inference");
    CU_ASSERT_EQUAL_FATAL(series->count, 3);
    suite_assert_close("value", series->value[1], 7.0, 0.0);
    suite_assert_close("canary", series->canary_rel[1], 1.5, 1e-12);
    suite_assert_close("calm", series->disturbed[0], 0.0, 0.0);
    suite_assert_close("canary says so", series->disturbed[1], 1.0, 0.0);
    suite_assert_close("mark says so", series->disturbed[2], 1.0, 0.0);
    suite_assert_close("no canary", series->canary_rel[2], 1.0, 0.0);
    fulcrum_calibration_free(calibration);
    finish(&recording, &canary);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_disturbed_samples_do_not_move_the_median),
        SUITE_CASE(test_all_samples_count_where_few_are_undisturbed),
        SUITE_CASE(test_summary_of_few_samples),
        SUITE_CASE(test_neediest_repeats_disturbed_samples_but_not_for_ever),
        SUITE_CASE(test_report_keeps_every_sample),
    };
    return suite_run("recording", cases, sizeof cases / sizeof cases[0], argc, argv);
}
