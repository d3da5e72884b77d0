/* test_throughput.c - references predicted by networks that can be solved by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/throughput.h"

#include <math.h>
#include <string.h>

#include "model/predict/predict.h"
#include "tests/support/designs.h"
#include "tests/support/hand_reference.h"
#include "tests/support/suite.h"

enum { ACTORS_MOST = 4 };

static const char *const step[] = {"workload.step.mean_s"};

static struct fulcrum_throughput_plan plan_of(
    const struct fulcrum_reference *const *references,
    const struct fulcrum_calibration *const *calibrations)
{
    return (struct fulcrum_throughput_plan){.references = references,
        .reference_count = 1,
        .calibrations = calibrations,
        .calibration_count = 1,
        .paths = step,
        .path_count = 1,
        .thread_count = 1};
}

/* What one actor does in a second: a step at turbo, host, GPU and delay add up. */
static double one_actor_per_s(double step_s)
{
    double turbo = 1.3 - 0.3 * 4.0 / 20.0; /* three threads are the learner's */
    double service_s = 1.5e-3 + 2e-5 + 1.2e-3 + 6e-6;
    return 1.0 / (step_s / turbo + service_s + 4e-4);
}

static void test_one_actor_by_hand(void)
{
    static const double actors[] = {1.0};
    struct fulcrum_calibration *calibration = hand_priors();
    struct fulcrum_reference *one = hand_reference(actors, 1, "steps_per_s");
    const struct fulcrum_reference *references[] = {one};
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_throughput_plan plan = plan_of(references, calibrations);
    struct fulcrum_throughput *model = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_throughput_new(&plan, &model, NULL), FULCRUM_OK);
    static const double steps_s[] = {1e-3, 2e-3, 5e-3};
    for (size_t i = 0; i < sizeof steps_s / sizeof steps_s[0]; i++) {
        double rate = 0.0;
        CU_ASSERT(fulcrum_throughput_forward(
            fulcrum_throughput_contexts(model)[0], &steps_s[i], &rate));
        suite_assert_close("X(1)", rate, one_actor_per_s(steps_s[i]), 1e-9);
    }
    fulcrum_throughput_free(model);
    fulcrum_reference_free(one);
    fulcrum_calibration_free(calibration);
}

/* Ratios are those of the rates, and the point that they refer to has 1. */
static void test_ratios_are_those_of_the_rates(void)
{
    static const double actors[ACTORS_MOST] = {1.0, 4.0, 40.0, 256.0};
    static const char *const quantities[] = {"steps_per_s", "speedup", "runtime_rel"};
    double value[3][ACTORS_MOST];
    double step_s = 2e-3;
    struct fulcrum_calibration *calibration = hand_priors();
    const struct fulcrum_calibration *calibrations[] = {calibration};
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_reference *all =
            hand_reference(actors, ACTORS_MOST, quantities[i]);
        all->is_relative = i > 0;
        all->relative_to = 1;
        const struct fulcrum_reference *references[] = {all};
        struct fulcrum_throughput_plan plan = plan_of(references, calibrations);
        struct fulcrum_throughput *model = NULL;
        CU_ASSERT_EQUAL_FATAL(fulcrum_throughput_new(&plan, &model, NULL), FULCRUM_OK);
        CU_ASSERT(fulcrum_throughput_forward(
            fulcrum_throughput_contexts(model)[0], &step_s, value[i]));
        fulcrum_throughput_free(model);
        fulcrum_reference_free(all);
    }
    /* The point itself is left out. */
    for (size_t i = 0; i + 1 < ACTORS_MOST; i++) {
        double rate = value[0][i < 1 ? i : i + 1];
        suite_assert_close("up", value[1][i], rate / value[0][1], 1e-12);
        suite_assert_close("down", value[2][i], value[0][1] / rate, 1e-12);
    }
    fulcrum_calibration_free(calibration);
}

/* Where it was corrected, the forward model is the simulation. */
static void test_a_corrected_model_is_the_simulation_there(void)
{
    static const double actors[] = {64.0};
    struct fulcrum_calibration *calibration = hand_priors();
    struct fulcrum_reference *half = hand_reference(actors, 1, "steps_per_s");
    half->design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    half->design.workload.batching.population_frac = 0.5;
    const struct fulcrum_reference *references[] = {half};
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_throughput_plan plan = plan_of(references, calibrations);
    struct fulcrum_throughput *model = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_throughput_new(&plan, &model, NULL), FULCRUM_OK);
    void *context = fulcrum_throughput_contexts(model)[0];
    double step_s = 2e-3;
    double before = 0.0;
    double after = 0.0;
    const struct fulcrum_solver_options solver = {
        .method = FULCRUM_METHOD_SIMULATE, .seed = 1, .half_width_rel = 0.005};
    CU_ASSERT(fulcrum_throughput_forward(context, &step_s, &before));
    CU_ASSERT_EQUAL(
        fulcrum_throughput_correct(model, &step_s, &solver, NULL), FULCRUM_OK);
    CU_ASSERT(fulcrum_throughput_forward(context, &step_s, &after));
    CU_ASSERT(fabs(after / before - 1.0) < 0.05);
    CU_ASSERT(fabs(after / before - 1.0) > 0.0);
    double again = after;
    CU_ASSERT_EQUAL(
        fulcrum_throughput_correct(model, &step_s, &solver, NULL), FULCRUM_OK);
    CU_ASSERT(fulcrum_throughput_forward(context, &step_s, &after));
    suite_assert_close("twice", after, again, 1e-12);
    fulcrum_throughput_free(model);
    fulcrum_reference_free(half);
    fulcrum_calibration_free(calibration);
}

static void test_what_nothing_predicts_is_refused(void)
{
    static const double actors[] = {4.0};
    struct fulcrum_calibration *calibration = hand_priors();
    const struct fulcrum_calibration *calibrations[] = {calibration};
    static const char *const quantities[] = {"happiness", "speedup"};
    static const enum fulcrum_status expected[] = {
        FULCRUM_ERR_UNSUPPORTED, FULCRUM_ERR_MISSING};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_reference *odd = hand_reference(actors, 1, quantities[i]);
        const struct fulcrum_reference *references[] = {odd};
        struct fulcrum_throughput_plan plan = plan_of(references, calibrations);
        struct fulcrum_throughput *model = NULL;
        struct fulcrum_error err;
        CU_ASSERT_EQUAL(fulcrum_throughput_new(&plan, &model, &err), expected[i]);
        CU_ASSERT(strstr(err.detail, quantities[i]) != NULL);
        fulcrum_reference_free(odd);
    }
    fulcrum_calibration_free(calibration);
}

static size_t count_figures(const struct fulcrum_throughput_plan *plan)
{
    struct fulcrum_throughput *model = NULL;
    size_t count = 99;
    CU_ASSERT_EQUAL_FATAL(fulcrum_throughput_new(plan, &model, NULL), FULCRUM_OK);
    (void)fulcrum_throughput_figures(model, &count);
    fulcrum_throughput_free(model);
    return count;
}

/* Nothing predicts watts that neither machine, calibration nor user gives. */
static void test_watts_that_nothing_gives_are_no_figures(void)
{
    static const double actors[] = {4.0, 8.0};
    static const char *const watts[] = {"machine.cpu.core_dynamic_w"};
    struct fulcrum_calibration *calibration = hand_priors();
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_reference *two = hand_reference(actors, 2, "cpu_w");
    const struct fulcrum_reference *references[] = {two};
    struct fulcrum_throughput_plan plan = plan_of(references, calibrations);
    CU_ASSERT_EQUAL(count_figures(&plan), 2);
    two->design.machine.cpu.core_dynamic_w = (double)NAN;
    CU_ASSERT_EQUAL(count_figures(&plan), 0);
    plan.paths = watts;
    CU_ASSERT_EQUAL(count_figures(&plan), 2);
    plan.path_count = 0;
    const struct fulcrum_setting set = {fulcrum_field_find(watts[0]), 5.0, NULL};
    plan.settings = &set;
    plan.setting_count = 1;
    CU_ASSERT_EQUAL(count_figures(&plan), 2);
    plan.setting_count = 0;
    designs_add_parameter(calibration, watts[0], 5.0, 0.0, FULCRUM_SCALE_LINEAR);
    CU_ASSERT_EQUAL(count_figures(&plan), 2);
    /* Of another processor: it does not hold here. */
    (void)strcpy(two->design.machine.cpu.name, "another");
    CU_ASSERT_EQUAL(count_figures(&plan), 0);
    (void)strcpy(two->points[0].observations[0].quantity, "gpu_w");
    CU_ASSERT_EQUAL(count_figures(&plan), 1);
    two->design.machine.accelerator = FULCRUM_ACCELERATOR_CPU;
    CU_ASSERT_EQUAL(count_figures(&plan), 0);
    fulcrum_reference_free(two);
    fulcrum_calibration_free(calibration);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_one_actor_by_hand),
        SUITE_CASE(test_ratios_are_those_of_the_rates),
        SUITE_CASE(test_a_corrected_model_is_the_simulation_there),
        SUITE_CASE(test_what_nothing_predicts_is_refused),
        SUITE_CASE(test_watts_that_nothing_gives_are_no_figures),
    };
    return suite_run("throughput", cases, sizeof cases / sizeof cases[0], argc, argv);
}
