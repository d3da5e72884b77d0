/* test_finding.c - what a probe found becomes rows, and the first failure is kept. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

static struct fulcrum_findings start(void)
{
    struct fulcrum_findings findings = {NULL, FULCRUM_OK, NULL};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_calibration_new(&findings.calibration, NULL), FULCRUM_OK);
    return findings;
}

static void test_what_is_not_known_is_left_out(void)
{
    struct fulcrum_findings findings = start();
    struct fulcrum_parameter parameter = {
        .path = "workload.step.mean_s", .value = (double)NAN};
    fulcrum_findings_value(&findings, "env_memory_byte", "byte", (double)NAN);
    fulcrum_findings_parameter(&findings, &parameter);
    CU_ASSERT_EQUAL(findings.calibration->quantity_count, 0);
    CU_ASSERT_EQUAL(findings.calibration->parameter_count, 0);
    parameter.value = 2e-3;
    parameter.standard_error = (double)NAN;
    fulcrum_findings_parameter(&findings, &parameter);
    CU_ASSERT_EQUAL_FATAL(findings.calibration->parameter_count, 1);
    suite_assert_close(
        "unknown error", findings.calibration->parameters[0].standard_error, 0.0, 0.0);
    fulcrum_calibration_free(findings.calibration);
}

static void test_interval_of_a_logarithm_stays_above_zero(void)
{
    struct fulcrum_quantity wide = fulcrum_quantity_log("x_s", "s", 2.0, 4.0);
    CU_ASSERT(wide.lo > 0.0);
    suite_assert_close("symmetric factor", wide.lo * wide.hi, 4.0, 1e-12);
    suite_assert_close("factor", wide.hi / wide.value, exp(1.96 * 2.0), 1e-12);
    struct fulcrum_quantity bare = fulcrum_quantity_log("x_s", "s", 2.0, (double)NAN);
    suite_assert_close("lo", bare.lo, 2.0, 0.0);
    suite_assert_close("hi", bare.hi, 2.0, 0.0);
}

static void test_summary_becomes_a_quantity_with_its_interval(void)
{
    struct fulcrum_findings findings = start();
    struct fulcrum_summary summary = {.median = 3.0, .lo = 2.5, .hi = 3.5, .used = 9};
    fulcrum_findings_summary(&findings, "reset_mean_s", "s", &summary);
    const struct fulcrum_quantity *quantity =
        fulcrum_calibration_quantity(findings.calibration, "reset_mean_s");
    CU_ASSERT_PTR_NOT_NULL_FATAL(quantity);
    if (quantity != NULL) {
        suite_assert_close("lo", quantity->lo, 2.5, 0.0);
        suite_assert_close("hi", quantity->hi, 3.5, 0.0);
        CU_ASSERT_STRING_EQUAL(quantity->unit, "s");
    }
    fulcrum_calibration_free(findings.calibration);
}

static void test_every_warning_of_a_fit_is_told(void)
{
    struct fulcrum_findings findings = start();
    struct fulcrum_fit_result fit = {
        .residuals = {.mape = 0.1, .max_abs_rel = 0.2, .count = 5},
        .warnings = FULCRUM_FIT_MISFIT | FULCRUM_FIT_OUTLIERS};
    fulcrum_findings_fit(&findings, "cpu_curve", "a form", &fit);
    CU_ASSERT_EQUAL_FATAL(findings.calibration->fit_count, 1);
    const struct fulcrum_fit_report *report = &findings.calibration->fits[0];
    CU_ASSERT_PTR_NOT_NULL(
        strstr(report->warning, fulcrum_fit_warning_text(FULCRUM_FIT_MISFIT)));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(report->warning, fulcrum_fit_warning_text(FULCRUM_FIT_OUTLIERS)));
    CU_ASSERT_PTR_NOT_NULL(strstr(report->warning, "; "));
    suite_assert_close("largest", report->max_frac, 0.2, 0.0);
    fit.warnings = 0;
    fulcrum_findings_fit(&findings, "cpu_curve", "a form", &fit);
    CU_ASSERT_STRING_EQUAL(findings.calibration->fits[1].warning, "");
    fulcrum_calibration_free(findings.calibration);
}

static void test_nothing_is_added_after_a_failure(void)
{
    struct fulcrum_findings findings = start();
    findings.status = FULCRUM_ERR_NO_MEMORY;
    struct fulcrum_parameter parameter = {.path = "workload.step.mean_s", .value = 1.0};
    struct fulcrum_fit_result fit = {.warnings = 0};
    fulcrum_findings_value(&findings, "duration_s", "s", 1.0);
    fulcrum_findings_parameter(&findings, &parameter);
    fulcrum_findings_note(&findings, "key", "%d", 1);
    fulcrum_findings_fit(&findings, "fit", "form", &fit);
    CU_ASSERT_EQUAL(findings.status, FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(findings.calibration->quantity_count, 0);
    CU_ASSERT_EQUAL(findings.calibration->parameter_count, 0);
    CU_ASSERT_EQUAL(findings.calibration->note_count, 0);
    CU_ASSERT_EQUAL(findings.calibration->fit_count, 0);
    fulcrum_calibration_free(findings.calibration);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_what_is_not_known_is_left_out),
        SUITE_CASE(test_interval_of_a_logarithm_stays_above_zero),
        SUITE_CASE(test_summary_becomes_a_quantity_with_its_interval),
        SUITE_CASE(test_every_warning_of_a_fit_is_told),
        SUITE_CASE(test_nothing_is_added_after_a_failure),
    };
    return suite_run("finding", cases, sizeof cases / sizeof cases[0], argc, argv);
}
