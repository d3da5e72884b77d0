/* test_predict_sm.c - work on a part of the SMs: what every other number says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

enum { COUNTS = 6 };

static const double sm_counts[COUNTS] = {80, 10, 40, 20, 60, 5};

/* One curve in memory: one setting and one rate a point, nothing to free. */
struct made {
    struct fulcrum_reference reference;
    struct fulcrum_reference_point points[COUNTS];
    struct fulcrum_reference_setting settings[COUNTS];
    struct fulcrum_observation rates[COUNTS];
};

/* Rates of a GPU of 80 SMs whose time is `math` / s beside what stays. */
static void make(struct made *made, double math, double stays)
{
    *made = (struct made){.reference = {.name = "made",
                              .predictor = FULCRUM_PREDICTOR_SM_SCALING,
                              .points = made->points,
                              .point_count = COUNTS}};
    fulcrum_design_init(&made->reference.design);
    made->reference.design.machine.gpu.sm_count = 80;
    for (size_t i = 0; i < COUNTS; i++) {
        made->settings[i] =
            (struct fulcrum_reference_setting){"run.sm_count", sm_counts[i], ""};
        made->rates[i] = (struct fulcrum_observation){
            "tokens_per_s", 1000 / (math * 80 / sm_counts[i] + stays), (double)NAN};
        made->points[i] = (struct fulcrum_reference_point){.index = i,
            .setting_count = 1,
            .settings = &made->settings[i],
            .observation_count = 1,
            .observations = &made->rates[i]};
    }
}

static void assert_law(const struct made *made, const struct fulcrum_compared *item)
{
    double s = sm_counts[item->point];
    suite_assert_close("rate", item->predicted, item->observed, 1e-6);
    CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
    CU_ASSERT_EQUAL(item->is_fitted, s < 6 || (s > 15 && s < 30) || (s > 50 && s < 70));
    suite_assert_close("in proportion", item->baseline[FULCRUM_BASELINE_BOUNDS],
        made->rates[COUNTS - 1].value * s / 5, 1e-12);
}

/* The law with the shares of the model's own fallbacks: (6), and half of it fixed. */
static void test_sm_of_the_law_is_predicted(void)
{
    static const double launch_bound[] = {0, 0.5};
    for (size_t c = 0; c < 2; c++) {
        struct made made;
        double moves = 1 - launch_bound[c];
        make(&made, moves * 0.57, moves * 0.43 + launch_bound[c]);
        made.reference.design.workload.training.launch_bound_frac = launch_bound[c];
        struct fulcrum_comparison compared = {0};
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_predict_sm(&made.reference, &compared, NULL), FULCRUM_OK);
        CU_ASSERT_EQUAL_FATAL(compared.count, COUNTS);
        for (size_t i = 0; i < COUNTS; i++) {
            assert_law(&made, &compared.items[i]);
        }
        fulcrum_comparison_clear(&compared);
    }
}

/*
 * Limits: pure arithmetic goes with SMs, pure latency does not care for them. The prior
 * keeps a share from either end, which a factor of 16 in SMs makes little of.
 */
static void test_sm_limits(void)
{
    struct fulcrum_comparison compared = {0};
    struct made made;
    make(&made, 1, 0);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_sm(&made.reference, &compared, NULL), FULCRUM_OK);
    suite_assert_close("all SMs", compared.items[COUNTS - 1].predicted, 1000, 0.05);
    CU_ASSERT(compared.items[COUNTS - 1].predicted <
              compared.items[COUNTS - 1].baseline[FULCRUM_BASELINE_BOUNDS]);
    fulcrum_comparison_clear(&compared);
    make(&made, 0, 1);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_sm(&made.reference, &compared, NULL), FULCRUM_OK);
    suite_assert_close("all SMs", compared.items[COUNTS - 1].predicted, 1000, 0.005);
    fulcrum_comparison_clear(&compared);
}

/* Predictions do not move, to the last bit, with what they are judged on. */
static void test_sm_does_not_look_at_what_is_held_out(void)
{
    struct made made;
    struct fulcrum_comparison before = {0};
    struct fulcrum_comparison after = {0};
    make(&made, 0.7, 0.3);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_sm(&made.reference, &before, NULL), FULCRUM_OK);
    size_t moved = 0;
    for (size_t i = 0; i < COUNTS; i++) {
        if (!before.items[i].is_fitted) {
            made.rates[before.items[i].point].value *= 3;
            moved++;
        }
    }
    CU_ASSERT_EQUAL(moved, COUNTS / 2);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_sm(&made.reference, &after, NULL), FULCRUM_OK);
    for (size_t i = 0; i < COUNTS; i++) {
        suite_assert_close(
            "rate", after.items[i].predicted, before.items[i].predicted, 0.0);
    }
    fulcrum_comparison_clear(&before);
    fulcrum_comparison_clear(&after);
}

static void spoil_setting(struct made *made)
{
    (void)snprintf(made->settings[2].path, sizeof made->settings[2].path, "workers");
}

static void spoil_count(struct made *made)
{
    made->settings[2].number = 81;
}

static void spoil_quantity(struct made *made)
{
    (void)snprintf(made->rates[2].quantity, sizeof made->rates[2].quantity, "gpu_w");
}

static void spoil_rate(struct made *made)
{
    made->rates[2].value = 0;
}

static void spoil_machine(struct made *made)
{
    made->reference.design.machine.gpu.sm_count = (double)NAN;
}

static void spoil_points(struct made *made)
{
    made->reference.point_count = 2;
}

static void spoil_all_points(struct made *made)
{
    made->reference.point_count = 0;
}

static void test_sm_refuses_what_it_cannot_fit(void)
{
    static const struct {
        void (*spoil)(struct made *made);
        enum fulcrum_status status;
        const char *detail;
    } cases[] = {
        {spoil_setting, FULCRUM_ERR_MISSING,
            "made: points[2].set.run.sm_count is missing"},
        {spoil_count, FULCRUM_ERR_RANGE, "points[2].set.run.sm_count = 81, 1 to"},
        {spoil_quantity, FULCRUM_ERR_MISSING, "points[2].observed has no rate"},
        {spoil_rate, FULCRUM_ERR_RANGE, "points[2].observed.tokens_per_s = 0"},
        {spoil_machine, FULCRUM_ERR_MISSING, "machine.gpu.sm_count is missing"},
        {spoil_points, FULCRUM_ERR_NO_FIT, "2 different numbers of SMs"},
        {spoil_all_points, FULCRUM_ERR_NO_FIT, "points is empty"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct made made;
        make(&made, 0.57, 0.43);
        cases[c].spoil(&made);
        struct fulcrum_comparison compared = {0};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_predict_sm(&made.reference, &compared, &err), cases[c].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, cases[c].detail));
        CU_ASSERT_PTR_NULL(compared.items);
    }
}

/*
 * Slices of an A100, 14 and 42 SMs fitted. Between them the law is met by all four; at
 * 108 SMs, 2.6 times as many as the largest fitted, by matrix products alone:
 * fine-tuning and molecular dynamics stop growing, for reasons outside the SMs.
 */
static void test_sm_meets_slices_of_an_a100(void)
{
    static const struct {
        const char *series;
        double most_between;
        double least_at_all; /* below: the whole GPU would be predicted after all */
        double most_at_all;
    } cases[] = {
        {"GEMM FP16", 0.02, 0, 0.10},
        {"GEMM TF32", 0.02, 0, 0.10},
        {"LLM fine-tuning", 0.05, 0.8, 1},
        {"GROMACS", 0.02, 0.8, 1.1},
    };
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("njit-mig-sm-scaling", &reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(fulcrum_predict_sm(reference, &compared, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(compared.count, 16);
    for (size_t i = 0; i < 4; i++) {
        const struct fulcrum_compared *between = &compared.items[4 * i + 1];
        const struct fulcrum_compared *all = &compared.items[4 * i + 3];
        CU_ASSERT(!between->is_fitted && !all->is_fitted);
        CU_ASSERT_STRING_EQUAL(
            reference->points[between->point].series, cases[i].series);
        CU_ASSERT(
            fabs(between->predicted / between->observed - 1) < cases[i].most_between);
        double error = fabs(all->predicted / all->observed - 1);
        (void)printf("\n    %-16s %.1f %% at 108 SMs", cases[i].series, 100 * error);
        CU_ASSERT(error > cases[i].least_at_all && error < cases[i].most_at_all);
    }
    struct fulcrum_comparison_errors own =
        fulcrum_comparison_errors(&compared, NULL, FULCRUM_COMPARE_PREDICTED, -1);
    struct fulcrum_comparison_errors proportional = fulcrum_comparison_errors(
        &compared, NULL, FULCRUM_COMPARE_PREDICTED, FULCRUM_BASELINE_BOUNDS);
    (void)printf("\n    all %.1f %%, in proportion %.1f %%\n    ", 100 * own.mape_frac,
        100 * proportional.mape_frac);
    CU_ASSERT(own.mape_frac < 0.27);
    CU_ASSERT(own.mape_frac < proportional.mape_frac);
    fulcrum_comparison_clear(&compared);
    fulcrum_reference_free(reference);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_sm_of_the_law_is_predicted),
        SUITE_CASE(test_sm_limits),
        SUITE_CASE(test_sm_does_not_look_at_what_is_held_out),
        SUITE_CASE(test_sm_refuses_what_it_cannot_fit),
        SUITE_CASE(test_sm_meets_slices_of_an_a100),
    };
    return suite_run("predict_sm", cases, sizeof cases / sizeof cases[0], argc, argv);
}
