/* test_predict_parts.c - gains of processes on parts of a GPU, from published scalars.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

/* As the publication has them, without what being several costs. */
static const struct fulcrum_parts_inputs free_of_cost = {
    .t_s_over_t_a = 6, .t_s_over_t_t = 3, .r_s_over_r_a = 10, .r_s_over_r_t = 5};

static double gain_of(const struct fulcrum_parts_inputs *inputs, double busy,
    int trains, double instances)
{
    return fulcrum_parts_gain(inputs, busy, trains, instances);
}

/* In units of the agent's time 7 and 9 rounds, of which 6.1 and 6.5 times the busy
 * share are work: by hand. */
static void test_gains_are_those_worked_out_by_hand(void)
{
    static const double busy[] = {0.1, 0.3, 0.8};
    for (size_t i = 0; i < 3; i++) {
        suite_assert_close("serving",
            fulcrum_parts_utilisation(&free_of_cost, busy[i], 0), 6.1 * busy[i] / 7,
            1e-12);
        suite_assert_close("training",
            fulcrum_parts_utilisation(&free_of_cost, busy[i], 1), 6.5 * busy[i] / 9,
            1e-12);
        for (int n = 2; n <= 7; n++) {
            double work = 6.1 * busy[i];
            suite_assert_close("serving", gain_of(&free_of_cost, busy[i], 0, n),
                n * 7 / (7 - work + work * n), 1e-9);
        }
    }
}

static void test_gains_have_their_limits(void)
{
    suite_assert_close("one", gain_of(&free_of_cost, 0.3, 1, 1), 1, 0.0);
    suite_assert_close("idle GPU", gain_of(&free_of_cost, 0, 0, 5), 5, 1e-9);
    double before = 1;
    for (int n = 2; n <= 16; n++) {
        double gain = gain_of(&free_of_cost, 0.5, 1, n);
        CU_ASSERT(gain > before);
        CU_ASSERT(gain < 1 / fulcrum_parts_utilisation(&free_of_cost, 0.5, 1));
        before = gain;
    }
    struct fulcrum_parts_inputs costly = free_of_cost;
    costly.launch_overhead_frac = 0.045;
    costly.communication_overhead_frac = 0.16;
    suite_assert_close("serving costs", gain_of(&costly, 0.5, 0, 4),
        gain_of(&free_of_cost, 0.5, 0, 4) / 1.045, 1e-9);
    suite_assert_close("training costs", gain_of(&costly, 0.5, 1, 4),
        gain_of(&free_of_cost, 0.5, 1, 4) / 1.045 / 1.16, 1e-9);
}

/* Of the shipped reference: no prediction looks at what it is held against. */
static void test_nothing_predicted_is_looked_at(void)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_comparison before = {0};
    struct fulcrum_comparison after = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("gmidrl-scalars", &reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(fulcrum_predict_parts(reference, &before, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(before.count, 5);
    for (size_t i = 0; i < before.count; i++) {
        reference->points[0].observations[before.items[i].observation].value *= 3;
    }
    CU_ASSERT_EQUAL_FATAL(fulcrum_predict_parts(reference, &after, NULL), FULCRUM_OK);
    for (size_t i = 0; i < before.count; i++) {
        suite_assert_close(
            "predicted", after.items[i].predicted, before.items[i].predicted, 0.0);
        CU_ASSERT(before.items[i].predicted <=
                  before.items[i].baseline[FULCRUM_BASELINE_BOUNDS]);
    }
    fulcrum_comparison_clear(&before);
    fulcrum_comparison_clear(&after);
    fulcrum_reference_free(reference);
}

/* What docs/whatifs.md says of the error of one prediction; NAN: nothing. */
static double told_error(const char *quantity)
{
    static const struct {
        const char *quantity;
        double error;
    } told[] = {{"serving_speedup_most", 0.00}, {"training_over_nccl_most", 0.22},
        {"training_over_horovod_most", 0.08},
        {"serving_gpu_util_gain_most_frac", -0.08},
        {"training_gpu_util_gain_most_frac", -0.20}};
    for (size_t k = 0; k < sizeof told / sizeof told[0]; k++) {
        if (strcmp(told[k].quantity, quantity) == 0) {
            return told[k].error;
        }
    }
    return (double)NAN;
}

/* Returns whether anything is said of it. */
static size_t assert_as_told(const struct fulcrum_compared *item, const char *quantity)
{
    double error = told_error(quantity);
    CU_ASSERT(
        isnan(error) || fabs(item->predicted / item->observed - 1 - error) < 0.01);
    return isnan(error) ? 0U : 1U;
}

static void test_published_gains_are_predicted_as_told(void)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_comparison comparison = {0};
    size_t seen = 0;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("gmidrl-scalars", &reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_parts(reference, &comparison, NULL), FULCRUM_OK);
    for (size_t i = 0; i < comparison.count; i++) {
        const struct fulcrum_compared *item = &comparison.items[i];
        const char *quantity =
            reference->points[0].observations[item->observation].quantity;
        seen += assert_as_told(item, quantity);
    }
    CU_ASSERT_EQUAL(seen, 5);
    fulcrum_comparison_clear(&comparison);
    fulcrum_reference_free(reference);
}

/* The rate of one series at so many SMs. */
static double rate_at(
    const struct fulcrum_reference *reference, const char *series, double sm_count)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        if (strcmp(point->series, series) == 0 &&
            fabs(point->settings[0].number - sm_count) < 0.5) {
            return point->observations[0].value;
        }
    }
    return (double)NAN;
}

/*
 * Slices of an A100 beside the whole: what docs/whatifs.md says of them, and that
 * a + w / x through both ends misses the middle of work that stops to grow.
 */
static void test_slices_of_an_a100_are_as_told(void)
{
    static const struct {
        const char *series;
        double seven_small; /* 7 x 1g over the whole GPU */
        double middle;      /* error at 42 SMs of the law through 14 and 108 */
    } told[] = {{"GEMM FP16", 0.95, -0.04}, {"GEMM TF32", 0.98, 0.0},
        {"LLM fine-tuning", 1.71, -0.23}, {"GROMACS", 2.55, -0.27}};
    struct fulcrum_reference *reference = NULL;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("njit-mig-sm-scaling", &reference, NULL), FULCRUM_OK);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        double small = rate_at(reference, told[i].series, 14);
        double whole = rate_at(reference, told[i].series, 108);
        double middle = rate_at(reference, told[i].series, 42);
        CU_ASSERT(fabs(7 * small / whole - told[i].seven_small) < 0.01);
        double work = (whole / small - 1) / (108.0 / 14 - 1);
        const struct fulcrum_gpu_stage stage = {
            .per_round = {.latency_s = 1 - work, .sm_s = work}};
        suite_assert_close(
            "small", fulcrum_gpu_stage_s(&stage, 14.0 / 108, 1), whole / small, 1e-12);
        double predicted = whole / fulcrum_gpu_stage_s(&stage, 42.0 / 108, 1);
        CU_ASSERT(fabs(predicted / middle - 1 - told[i].middle) < 0.01);
    }
    fulcrum_reference_free(reference);
}

/* The gain of a process for every stage. */
static double gain_apart(double busy, int trains)
{
    const struct fulcrum_gpu_sharing sharing = {.byte_per_s = (double)INFINITY};
    struct fulcrum_gpu_loop loop;
    struct fulcrum_placed alone;
    struct fulcrum_placed apart;
    fulcrum_parts_loop(&free_of_cost, busy, trains, &loop);
    struct fulcrum_grouping grouping = {.count = loop.count};
    for (size_t i = 0; i < loop.count; i++) {
        grouping.groups[i] = (struct fulcrum_stage_group){1U << i, 1, 0};
    }
    fulcrum_place_exclusive(&loop, &alone);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_place_shares(&loop, &sharing, &grouping, &apart, NULL), FULCRUM_OK);
    return apart.rounds_per_s / alone.rounds_per_s;
}

/* Apart, no stage of the published ratios lets a round be shorter than simulation. */
static void test_stages_apart_have_their_ceiling(void)
{
    static const double ceilings[] = {7.0 / 6, 9.0 / 6};
    for (int k = 0; k <= 4; k++) {
        CU_ASSERT(gain_apart(k / 4.0, 0) <= ceilings[0] * (1 + 1e-9));
        CU_ASSERT(gain_apart(k / 4.0, 1) <= ceilings[1] * (1 + 1e-9));
    }
}

static void set(struct fulcrum_reference *reference, const char *quantity, double value)
{
    struct fulcrum_reference_point *point = &reference->points[0];
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, quantity) == 0) {
            point->observations[i].value = value;
        }
    }
}

static void test_each_fault_is_named(void)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_comparison out = {0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("gmidrl-scalars", &reference, NULL), FULCRUM_OK);
    set(reference, "serving_gpu_util_gain_mean_frac", 0.99);
    CU_ASSERT_EQUAL(fulcrum_predict_parts(reference, &out, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "expected at most 1"));
    set(reference, "t_s_over_t_a", 0);
    CU_ASSERT_EQUAL(fulcrum_predict_parts(reference, &out, &err), FULCRUM_ERR_MISSING);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "points[0].observed.t_s_over_t_a"));
    struct fulcrum_reference none = {.name = "none"};
    CU_ASSERT_EQUAL(fulcrum_predict_parts(&none, &out, &err), FULCRUM_ERR_MISSING);
    fulcrum_reference_free(reference);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_gains_are_those_worked_out_by_hand),
        SUITE_CASE(test_gains_have_their_limits),
        SUITE_CASE(test_nothing_predicted_is_looked_at),
        SUITE_CASE(test_published_gains_are_predicted_as_told),
        SUITE_CASE(test_slices_of_an_a100_are_as_told),
        SUITE_CASE(test_stages_apart_have_their_ceiling),
        SUITE_CASE(test_each_fault_is_named),
    };
    return suite_run(
        "predict_parts", cases, sizeof cases / sizeof cases[0], argc, argv);
}
