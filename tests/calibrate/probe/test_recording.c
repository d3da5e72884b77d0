/* test_recording.c - the canary tells what is disturbed, medians come from the rest,
 * every sample is kept, and what was found becomes rows of a calibration.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

static void feed(struct fulcrum_canary *canary, double reading_s, int count)
{
    for (int i = 0; i < count; i++) {
        ASSERT_OK(fulcrum_canary_add(canary, reading_s, NULL));
    }
}

/* Readings of 1 ms, some others, and how much above the usual time 1 and 1.5 ms are. */
TEST(test_baseline_is_the_undisturbed_time)
{
    static const struct {
        double other_s;
        double usual_frac;
        double usual_s;
        int count;
        int other_count;
    } cases[] = {{1.5e-3, 0.0, 1e-3, 60, 40}, {0.5e-3, 0.0, 1e-3, 95, 1},
        {1.5e-3, 0.5, 1.5e-3, 40, 56}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_canary canary = {.usual_frac = cases[i].usual_frac};
        assert_close("none", fulcrum_canary_rel(&canary, 5.0), 1.0, 0.0);
        feed(&canary, 1e-3, cases[i].count);
        feed(&canary, cases[i].other_s, cases[i].other_count);
        assert_close(
            "calm", fulcrum_canary_rel(&canary, 1e-3), 1e-3 / cases[i].usual_s, 1e-12);
        assert_close("disturbed", fulcrum_canary_rel(&canary, 1.5e-3),
            1.5e-3 / cases[i].usual_s, 1e-12);
        fulcrum_canary_free(&canary);
    }
}

/* Of 96 readings near the usual time 9 at either end do not count; then of all 320. */
TEST(test_typical_time_is_of_what_counts)
{
    struct fulcrum_canary canary = {0};
    double typical_s = 0.0;
    ASSERT_OK(fulcrum_canary_typical_s(&canary, &typical_s, NULL));
    CU_ASSERT(isnan(typical_s));
    feed(&canary, 1e-3, 30);
    feed(&canary, 1.5e-3, 24);
    feed(&canary, 1.07e-3, 36);
    feed(&canary, 1e-3, 30);
    ASSERT_OK(fulcrum_canary_typical_s(&canary, &typical_s, NULL));
    double calm_s = (51.0 * 1e-3 + 27.0 * 1.07e-3) / 78.0;
    assert_close("most are calm", typical_s, calm_s, 1e-12);
    feed(&canary, 1.5e-3, 200);
    ASSERT_OK(fulcrum_canary_typical_s(&canary, &typical_s, NULL));
    double all_s = (28.0 * 1e-3 + 36.0 * 1.07e-3 + 192.0 * 1.5e-3) / 256.0;
    assert_close("most are not", typical_s, all_s, 1e-12);
    fulcrum_canary_free(&canary);
}

TEST(test_real_runs_bracket_a_sample)
{
    struct fulcrum_canary canary = {0};
    struct fulcrum_stopwatch stopwatch = fulcrum_stopwatch_calibrated();
    double longer_s = 0.0;
    ASSERT_OK(fulcrum_canary_open(&canary, &stopwatch, NULL));
    double first_s = canary.last.cpu_s;
    ASSERT_OK(
        fulcrum_canary_close(&canary, &longer_s, FULCRUM_CLOCK_CPU, &stopwatch, NULL));
    CU_ASSERT_EQUAL(canary.count, 2);
    CU_ASSERT(first_s > 0.0 && longer_s > 0.0);
    assert_close("longer", longer_s, fmax(first_s, canary.last.cpu_s), 0.0);
    /* On the wall clock nothing is shorter than on the thread's. */
    ASSERT_OK(
        fulcrum_canary_close(&canary, &longer_s, FULCRUM_CLOCK_WALL, &stopwatch, NULL));
    CU_ASSERT(longer_s > 0.5 * canary.last.cpu_s);
    fulcrum_canary_free(&canary);
    CU_ASSERT_EQUAL(canary.count, 0);
}

static void add(struct fulcrum_recording *recording, double x, double value, double rel)
{
    struct fulcrum_sample sample = {.x = x, .value = value, .canary_s = 1e-3 * rel};
    ASSERT_OK(fulcrum_recording_add(recording, &sample, NULL));
}

/* A case with a recording whose canary usually takes 1 ms. */
#define RECORDING_TEST(function)                                                       \
    TEST_EACH(function, with_recording, struct fulcrum_recording *recording)
static void with_recording(void (*run)(struct fulcrum_recording *recording))
{
    struct fulcrum_canary canary = {0};
    struct fulcrum_recording recording;
    feed(&canary, 1e-3, 32);
    fulcrum_recording_init(&recording,
        &(struct fulcrum_recording_header){
            .name = "inference", .unit = "s", .x_name = "batch"},
        &canary);
    run(&recording);
    fulcrum_recording_free(&recording);
    fulcrum_canary_free(&canary);
}

static struct fulcrum_summary summarise(
    const struct fulcrum_recording *recording, double x)
{
    struct fulcrum_summary summary = {.used = 0};
    ASSERT_OK(fulcrum_recording_summary(recording, x, &summary, NULL));
    return summary;
}

RECORDING_TEST(test_disturbed_samples_do_not_move_the_median)
{
    for (int i = 0; i < 20; i++) {
        add(recording, 1.0, 2.0 + 0.01 * i, 1.0);
    }
    for (int i = 0; i < 15; i++) {
        add(recording, 1.0, 50.0, 1.3);
    }
    struct fulcrum_summary summary = summarise(recording, 1.0);
    assert_close("median", summary.typical, 2.095, 1e-12);
    CU_ASSERT_EQUAL(summary.used, 20);
    CU_ASSERT_EQUAL(summary.disturbed, 15);
    CU_ASSERT_EQUAL(summary.took_all, 0);
    CU_ASSERT(summary.lo < summary.typical && summary.hi > summary.typical);
    CU_ASSERT(summary.standard_error > 0.0);
}

RECORDING_TEST(test_all_samples_count_where_few_are_undisturbed)
{
    add(recording, 1.0, 1.0, 1.0);
    add(recording, 1.0, 3.0, 1.3);
    add(recording, 1.0, 4.0, 1.3);
    struct fulcrum_summary summary = summarise(recording, 1.0);
    assert_close("median", summary.typical, 3.0, 1e-12);
    CU_ASSERT_EQUAL(summary.took_all, 1);
    CU_ASSERT_EQUAL(summary.used, 3);
    for (int i = 0; i < 20; i++) {
        add(recording, 2.0, i < 4 ? 1.0 : 9.0, i < 4 ? 1.0 : 1.3);
        add(recording, 3.0, 2.0, 1.0);
    }
    summary = summarise(recording, 2.0);
    CU_ASSERT_EQUAL(summary.took_all, 0);
    assert_close("four are enough", summary.typical, 1.0, 1e-12);
}

/* One in ten at either end does not count: here 1 and 90. */
RECORDING_TEST(test_work_takes_what_runs_pay_for_it)
{
    recording->is_work = true;
    for (int i = 0; i < 20; i++) {
        add(recording, 1.0, i == 0 ? 1.0 : i < 8 ? 2.0 : i < 19 ? 3.0 : 90.0, 1.0);
    }
    struct fulcrum_summary summary = summarise(recording, 1.0);
    assert_close("mean", summary.typical, (6.0 * 2.0 + 10.0 * 3.0) / 16.0, 1e-12);
}

/* A machine with two speeds, slow for two thirds of the time: four samples of a place
 * that happened to be undisturbed say nothing of a run. */
RECORDING_TEST(test_all_work_counts_on_a_machine_that_is_mostly_slow)
{
    recording->is_work = true;
    for (int i = 0; i < 12; i++) {
        add(recording, 1.0, i % 3 == 0 ? 2.0 : 3.0, i % 3 == 0 ? 1.0 : 1.3);
        add(recording, 2.0, 2.0, 1.0);
    }
    CU_ASSERT_EQUAL(summarise(recording, 1.0).used, 4);
    assert_close("calm canary", summarise(recording, 1.0).typical, 2.0, 1e-12);
    feed(recording->canary, 1.3e-3, 40);
    struct fulcrum_summary summary = summarise(recording, 1.0);
    CU_ASSERT_EQUAL(summary.used, 12);
    CU_ASSERT_EQUAL(summary.took_all, 1);
    assert_close("slow", summary.typical, (3.0 * 2.0 + 7.0 * 3.0) / 10.0, 1e-12);
    recording->is_work = false;
    assert_close("median", summarise(recording, 1.0).typical, 3.0, 1e-12);
}

/* Work that lets cores sleep may be slower than any other on a virtual machine: what
 * most of its samples saw is usual there, however calm the machine is elsewhere. */
RECORDING_TEST(test_all_samples_count_where_most_of_the_recording_is_slow)
{
    for (int i = 0; i < 30; i++) {
        add(recording, 1.0 + i % 3, i < 12 ? 7.0 : 10.0, i < 12 ? 1.0 : 1.3);
    }
    struct fulcrum_summary summary = summarise(recording, 1.0);
    CU_ASSERT_EQUAL(summary.took_all, 1);
    CU_ASSERT_EQUAL(summary.disturbed, 6);
    assert_close("median of all", summary.typical, 10.0, 1e-12);
    for (int i = 0; i < 12; i++) {
        add(recording, 2.0, 7.0, 1.0);
    }
    summary = summarise(recording, 1.0);
    CU_ASSERT_EQUAL(summary.took_all, 0);
    assert_close("median of the calm ones", summary.typical, 7.0, 1e-12);
}

/* A canary whose usual time is its median never finds most of its readings slow:
 * another one tells. */
RECORDING_TEST(test_all_work_counts_where_another_canary_says_so)
{
    struct fulcrum_canary alone = {0};
    recording->is_work = true;
    recording->canary->judge = &alone;
    for (int i = 0; i < 12; i++) {
        add(recording, 1.0, i % 3 == 0 ? 3.0 : 2.0, i % 3 == 0 ? 1.3 : 1.0);
    }
    feed(&alone, 1e-3, 20);
    CU_ASSERT_EQUAL(summarise(recording, 1.0).used, 8);
    feed(&alone, 1.3e-3, 40);
    CU_ASSERT_EQUAL(summarise(recording, 1.0).used, 12);
    fulcrum_canary_free(&alone);
}

/* Three seconds of two places, of which the third took twice as long at both. */
RECORDING_TEST(test_slowdowns_are_those_of_seconds)
{
    recording->is_work = true;
    double slowdown[12];
    size_t count = 1;
    for (int second = 0; second < 3; second++) {
        for (int k = 0; k < 4; k++) {
            struct fulcrum_sample sample = {.x = k % 2,
                .value = (k % 2 == 0 ? 5.0 : 7.0) * (second == 2 ? 2.0 : 1.0),
                .taken_s = 50.0 + second + 0.2 * k};
            ASSERT_OK(fulcrum_recording_add(recording, &sample, NULL));
        }
    }
    ASSERT_OK(fulcrum_recording_slowdowns(recording, slowdown, &count, NULL));
    CU_ASSERT_EQUAL(count, 4);
    assert_close("usual", slowdown[1], 0.75, 1e-12);
    assert_close("usual", slowdown[2], 0.75, 1e-12);
    assert_close("slow", slowdown[3], 1.5, 1e-12);
}

/* Seconds of 2, 3, 4, 3 and 10, several samples each, samples of another place between
 * them: half of all seconds lie within 1 of their median. */
RECORDING_TEST(test_runs_see_the_machine_second_by_second)
{
    static const double seconds[] = {2.0, 3.0, 4.0, 3.0, 10.0};
    CU_ASSERT(isnan(summarise(recording, 1.0).run_sd));
    for (size_t i = 0; i < LENGTH(seconds); i++) {
        CU_ASSERT(i > 3 || isnan(summarise(recording, 1.0).run_sd));
        for (int k = 0; k < 3; k++) {
            struct fulcrum_sample sample = {.x = 1.0,
                .value = seconds[i] + 0.1 * (double)(k - 1),
                .canary_s = 1e-3,
                .taken_s = 100.0 + (double)i + 0.2 * (double)k};
            ASSERT_OK(fulcrum_recording_add(recording, &sample, NULL));
            sample.x = 2.0;
            sample.value = 77.0;
            ASSERT_OK(fulcrum_recording_add(recording, &sample, NULL));
        }
    }
    struct fulcrum_summary summary = summarise(recording, 1.0);
    assert_close("how far apart", summary.run_sd, 1.4826, 1e-12);
    assert_close("steady", summarise(recording, 2.0).run_sd, 0.0, 0.0);
}

RECORDING_TEST(test_summary_of_few_samples)
{
    struct fulcrum_summary summary = summarise(recording, 1.0);
    CU_ASSERT_EQUAL(summary.used, 0);
    CU_ASSERT(isnan(summary.typical));
    add(recording, 1.0, 4.0, 1.0);
    summary = summarise(recording, 1.0);
    assert_close("median", summary.typical, 4.0, 0.0);
    assert_close("error of a lone sample", summary.standard_error, 0.4, 1e-12);
    add(recording, 1.0, 6.0, 1.0);
    summary = summarise(recording, 1.0);
    assert_close("lo", summary.lo, 4.0, 0.0);
    assert_close("hi", summary.hi, 6.0, 0.0);
}

RECORDING_TEST(test_neediest_repeats_disturbed_samples_but_not_for_ever)
{
    static const double x[] = {1.0, 2.0, 4.0};
    assert_close("first", fulcrum_recording_neediest(recording, x, 3), 1.0, 0.0);
    add(recording, 1.0, 1.0, 1.0);
    add(recording, 2.0, 1.0, 1.5);
    add(recording, 4.0, 1.0, 1.0);
    assert_close("disturbed", fulcrum_recording_neediest(recording, x, 3), 2.0, 0.0);
    add(recording, 2.0, 1.0, 1.5);
    assert_close("still", fulcrum_recording_neediest(recording, x, 3), 1.0, 0.0);
}

static void visit_nothing(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    (void)state;
    (void)findings;
}

/* Recordings: all samples, every third, none of the file's, none at all. */
static const struct fulcrum_probe keeper = {
    .headers = {{.name = "all", .unit = "s"}, {.name = "thinned", .most_in_file = 4},
        {.name = "inside", .is_inside = true}, {.name = "empty", .is_busy = true}},
    .report = visit_nothing};

TEST(test_report_keeps_every_sample_that_belongs_to_the_file)
{
    struct fulcrum_bench bench = {.max_threads = 1};
    struct fulcrum_probe_state state;
    struct fulcrum_calibration *calibration = NULL;
    feed(&bench.alone, 1e-3, 32);
    ASSERT_OK(fulcrum_probe_open(&keeper, &state, &bench, NULL));
    CU_ASSERT_PTR_EQUAL(state.recording[0].canary, &bench.alone);
    CU_ASSERT_PTR_EQUAL(state.recording[3].canary, &bench.busy);
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    add(&state.recording[0], 1.0, 5.0, 1.0);
    add(&state.recording[0], 2.0, 7.0, 1.5);
    struct fulcrum_sample marked = {.x = 3.0, .value = 8.0, .marked = 1};
    ASSERT_OK(fulcrum_recording_add(&state.recording[0], &marked, NULL));
    for (int i = 0; i < 10; i++) {
        add(&state.recording[1], 0.0, i, 1.0);
        add(&state.recording[2], 0.0, i, 1.0);
    }
    ASSERT_OK(fulcrum_probe_report(&keeper, &state, calibration, NULL));
    CU_ASSERT_EQUAL_FATAL(calibration->series_count, 2);
    const struct fulcrum_series *series = &calibration->series[0];
    CU_ASSERT_STRING_EQUAL(series->name, "all");
    CU_ASSERT_EQUAL_FATAL(series->count, 3);
    assert_close("value", series->value[1], 7.0, 0.0);
    assert_close("canary", series->canary_rel[1], 1.5, 1e-12);
    assert_close("calm", series->disturbed[0], 0.0, 0.0);
    assert_close("canary says so", series->disturbed[1], 1.0, 0.0);
    assert_close("mark says so", series->disturbed[2], 1.0, 0.0);
    assert_close("no canary", series->canary_rel[2], 1.0, 0.0);
    CU_ASSERT_EQUAL_FATAL(calibration->series[1].count, 4);
    assert_close("every third", calibration->series[1].value[3], 9.0, 0.0);
    fulcrum_calibration_free(calibration);
    fulcrum_probe_close(&keeper, &state);
    fulcrum_canary_free(&bench.alone);
}

/* A case with findings for a new calibration. */
#define FINDINGS_TEST(function)                                                        \
    TEST_EACH(function, with_findings, struct fulcrum_findings *findings)
static void with_findings(void (*run)(struct fulcrum_findings *findings))
{
    struct fulcrum_findings findings = {NULL, FULCRUM_OK, NULL};
    ASSERT_OK(fulcrum_calibration_new(&findings.calibration, NULL));
    run(&findings);
    fulcrum_calibration_free(findings.calibration);
}

FINDINGS_TEST(test_what_is_not_known_is_left_out)
{
    struct fulcrum_parameter parameter = {.value = (double)NAN};
    const struct fulcrum_summary none = {.used = 0};
    fulcrum_findings_value(findings, "env_memory_byte", "byte", (double)NAN);
    fulcrum_findings_summary(findings, "reset_mean_s", "s", &none);
    fulcrum_findings_parameter(findings, "workload.step.mean_s", &parameter, "x");
    CU_ASSERT_EQUAL(findings->calibration->quantity_count, 0);
    CU_ASSERT_EQUAL(findings->calibration->parameter_count, 0);
    parameter.value = 2e-3;
    parameter.standard_error = (double)NAN;
    fulcrum_findings_parameter(
        findings, "workload.step.mean_s", &parameter, "%d steps", 7);
    /* Of one parameter that is not there. */
    fulcrum_findings_covariance(
        findings, "workload.step.mean_s", "workload.step.cv", 1.0);
    ASSERT_OK(findings->status);
    CU_ASSERT_EQUAL_FATAL(findings->calibration->parameter_count, 1);
    const struct fulcrum_parameter *kept = &findings->calibration->parameters[0];
    assert_close("unknown error", kept->standard_error, 0.0, 0.0);
    CU_ASSERT_STRING_EQUAL(kept->source, "7 steps");
}

/* Files refuse errors of many times the value on the log scale. */
FINDINGS_TEST(test_what_may_be_nothing_has_no_logarithm)
{
    const double errors_s[] = {1e-8, 6e-6};
    static const char *const paths[] = {
        "workload.host.per_item_s", "workload.host.per_batch_s"};
    for (size_t i = 0; i < 2; i++) {
        fulcrum_findings_parameter(findings, paths[i],
            &(struct fulcrum_parameter){.value = 5e-8,
                .standard_error = errors_s[i],
                .scale = FULCRUM_SCALE_LOG},
            "a line");
    }
    ASSERT_OK(findings->status);
    CU_ASSERT_EQUAL(findings->calibration->parameters[0].scale, FULCRUM_SCALE_LOG);
    CU_ASSERT_EQUAL(findings->calibration->parameters[1].scale, FULCRUM_SCALE_LINEAR);
}

/* A median with its own, and two over the logarithm, the second without an error. */
FINDINGS_TEST(test_quantities_have_their_intervals)
{
    const struct fulcrum_summary summary = {
        .typical = 3.0, .lo = 2.5, .hi = 3.5, .used = 9};
    fulcrum_findings_summary(findings, "reset_mean_s", "s", &summary);
    fulcrum_findings_log(findings, "wide_s", 2.0, 4.0);
    fulcrum_findings_log(findings, "bare_s", 2.0, (double)NAN);
    const double expected[][2] = {
        {2.5, 3.5}, {2.0 / exp(1.96 * 2.0), 2.0 * exp(1.96 * 2.0)}, {2.0, 2.0}};
    CU_ASSERT_EQUAL_FATAL(findings->calibration->quantity_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct fulcrum_quantity *quantity = &findings->calibration->quantities[i];
        assert_close("lo", quantity->lo, expected[i][0], 1e-12);
        assert_close("hi", quantity->hi, expected[i][1], 1e-12);
        CU_ASSERT_STRING_EQUAL(quantity->unit, "s");
    }
}

FINDINGS_TEST(test_points_without_a_fit_are_a_note_other_failures_stay)
{
    const struct fulcrum_error why = {FULCRUM_ERR_NO_FIT, "two points"};
    CU_ASSERT(fulcrum_findings_fitted(findings, FULCRUM_OK, &why, "a", "b: "));
    CU_ASSERT_FALSE(
        fulcrum_findings_fitted(findings, FULCRUM_ERR_NO_FIT, &why, "key", "no: "));
    CU_ASSERT_STRING_EQUAL(
        fulcrum_calibration_note(findings->calibration, "key"), "no: two points");
    ASSERT_OK(findings->status);
    CU_ASSERT_FALSE(
        fulcrum_findings_fitted(findings, FULCRUM_ERR_NO_MEMORY, &why, "key", ""));
    CU_ASSERT_EQUAL(findings->status, FULCRUM_ERR_NO_MEMORY);
}

FINDINGS_TEST(test_every_warning_of_a_fit_is_told)
{
    struct fulcrum_fit_result fit = {
        .residuals = {.mape = 0.1, .max_abs_rel = 0.2, .count = 5},
        .warnings = FULCRUM_FIT_MISFIT | FULCRUM_FIT_OUTLIERS};
    fulcrum_findings_fit(findings, "cpu_curve", "a form", &fit);
    CU_ASSERT_EQUAL_FATAL(findings->calibration->fit_count, 1);
    const struct fulcrum_fit_report *report = &findings->calibration->fits[0];
    assert_part(report->warning, fulcrum_fit_warning_text(FULCRUM_FIT_MISFIT));
    assert_part(report->warning, fulcrum_fit_warning_text(FULCRUM_FIT_OUTLIERS));
    CU_ASSERT_PTR_NOT_NULL(strstr(report->warning, "; "));
    assert_close("largest", report->max_frac, 0.2, 0.0);
    fit.warnings = 0;
    fulcrum_findings_fit(findings, "cpu_curve", "a form", &fit);
    CU_ASSERT_STRING_EQUAL(findings->calibration->fits[1].warning, "");
}

FINDINGS_TEST(test_nothing_is_added_after_a_failure)
{
    findings->status = FULCRUM_ERR_NO_MEMORY;
    struct fulcrum_parameter parameter = {.value = 1.0};
    struct fulcrum_fit_result fit = {.warnings = 0};
    fulcrum_findings_value(findings, "duration_s", "s", 1.0);
    fulcrum_findings_parameter(findings, "workload.step.mean_s", &parameter, "x");
    fulcrum_findings_note(findings, "key", "%d", 1);
    fulcrum_findings_fit(findings, "fit", "form", &fit);
    CU_ASSERT_EQUAL(findings->status, FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(findings->calibration->quantity_count, 0);
    CU_ASSERT_EQUAL(findings->calibration->parameter_count, 0);
    CU_ASSERT_EQUAL(findings->calibration->note_count, 0);
    CU_ASSERT_EQUAL(findings->calibration->fit_count, 0);
}
