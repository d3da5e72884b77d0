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

/* A reference, its priors, and the plan of both. */
struct hand {
    struct fulcrum_reference *reference;
    struct fulcrum_calibration *priors;
    struct fulcrum_throughput_plan plan; /* points into this struct */
    struct fulcrum_throughput *model;
};

static void begin(
    struct hand *out, const double *actors, size_t count, const char *quantity)
{
    *out = (struct hand){hand_reference(actors, count, quantity), hand_priors(),
        {.references = (const struct fulcrum_reference *const *)&out->reference,
            .reference_count = 1,
            .calibrations = (const struct fulcrum_calibration *const *)&out->priors,
            .calibration_count = 1,
            .paths = step,
            .path_count = 1,
            .thread_count = 1},
        NULL};
}

static void make_model(struct hand *hand)
{
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_throughput_new(&hand->plan, &hand->model, NULL), FULCRUM_OK);
}

static void say(const struct hand *hand, double step_s, double *out)
{
    CU_ASSERT(fulcrum_throughput_forward(
        fulcrum_throughput_contexts(hand->model)[0], &step_s, out));
}

static void end(struct hand *hand)
{
    fulcrum_throughput_free(hand->model);
    fulcrum_reference_free(hand->reference);
    fulcrum_calibration_free(hand->priors);
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
    static const double steps_s[] = {1e-3, 2e-3, 5e-3};
    struct hand one;
    begin(&one, actors, 1, "steps_per_s");
    make_model(&one);
    for (size_t i = 0; i < sizeof steps_s / sizeof steps_s[0]; i++) {
        double rate = 0.0;
        say(&one, steps_s[i], &rate);
        suite_assert_close("X(1)", rate, one_actor_per_s(steps_s[i]), 1e-9);
    }
    end(&one);
}

/* Ratios are those of the rates, and the point that they refer to has 1. */
static void test_ratios_are_those_of_the_rates(void)
{
    static const double actors[ACTORS_MOST] = {1.0, 4.0, 40.0, 256.0};
    static const char *const quantities[] = {"steps_per_s", "speedup", "runtime_rel"};
    double value[3][ACTORS_MOST];
    for (size_t i = 0; i < 3; i++) {
        struct hand all;
        begin(&all, actors, ACTORS_MOST, quantities[i]);
        all.reference->is_relative = i > 0;
        all.reference->relative_to = 1;
        make_model(&all);
        say(&all, 2e-3, value[i]);
        end(&all);
    }
    /* The point itself is left out. */
    for (size_t i = 0; i + 1 < ACTORS_MOST; i++) {
        double rate = value[0][i < 1 ? i : i + 1];
        suite_assert_close("up", value[1][i], rate / value[0][1], 1e-12);
        suite_assert_close("down", value[2][i], value[0][1] / rate, 1e-12);
    }
}

/* Where it was corrected, the forward model is the simulation; once is enough. */
static void test_a_corrected_model_is_the_simulation_there(void)
{
    static const double actors[] = {64.0};
    const double step_s = 2e-3;
    const struct fulcrum_solver_options solver = {
        .method = FULCRUM_METHOD_SIMULATE, .seed = 1, .half_width_rel = 0.005};
    struct hand half;
    double rate[3] = {0};
    begin(&half, actors, 1, "steps_per_s");
    half.reference->design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    half.reference->design.workload.batching.population_frac = 0.5;
    make_model(&half);
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT(i == 0 || fulcrum_throughput_correct(
                                half.model, &step_s, &solver, NULL) == FULCRUM_OK);
        say(&half, step_s, &rate[i]);
    }
    CU_ASSERT(fabs(rate[1] / rate[0] - 1.0) < 0.05);
    CU_ASSERT(fabs(rate[1] / rate[0] - 1.0) > 0.0);
    suite_assert_close("twice", rate[2], rate[1], 1e-12);
    end(&half);
}

static void test_what_nothing_predicts_is_refused(void)
{
    static const double actors[] = {4.0};
    static const char *const quantities[] = {"happiness", "speedup"};
    static const enum fulcrum_status expected[] = {
        FULCRUM_ERR_UNSUPPORTED, FULCRUM_ERR_MISSING};
    for (size_t i = 0; i < 2; i++) {
        struct hand odd;
        struct fulcrum_error err;
        begin(&odd, actors, 1, quantities[i]);
        CU_ASSERT_EQUAL(
            fulcrum_throughput_new(&odd.plan, &odd.model, &err), expected[i]);
        CU_ASSERT(strstr(err.detail, quantities[i]) != NULL);
        end(&odd);
    }
}

static size_t count_figures(struct hand *hand)
{
    size_t count = 99;
    make_model(hand);
    (void)fulcrum_throughput_figures(hand->model, &count);
    fulcrum_throughput_free(hand->model);
    hand->model = NULL;
    return count;
}

/* Nothing predicts watts that neither machine, calibration nor user gives. */
static void test_watts_that_nothing_gives_are_no_figures(void)
{
    static const double actors[] = {4.0, 8.0};
    static const char *const watts[] = {"machine.cpu.core_dynamic_w"};
    const struct fulcrum_setting set = {fulcrum_field_find(watts[0]), 5.0, NULL};
    struct hand two;
    begin(&two, actors, 2, "cpu_w");
    struct fulcrum_machine *machine = &two.reference->design.machine;
    CU_ASSERT_EQUAL(count_figures(&two), 2);
    machine->cpu.core_dynamic_w = (double)NAN;
    CU_ASSERT_EQUAL(count_figures(&two), 0);
    two.plan.paths = watts;
    CU_ASSERT_EQUAL(count_figures(&two), 2);
    two.plan.path_count = 0;
    two.plan.settings = &set;
    two.plan.setting_count = 1;
    CU_ASSERT_EQUAL(count_figures(&two), 2);
    two.plan.setting_count = 0;
    designs_add_parameter(two.priors, watts[0], 5.0, 0.0, FULCRUM_SCALE_LINEAR);
    CU_ASSERT_EQUAL(count_figures(&two), 2);
    /* Of another processor: it does not hold here. */
    (void)strcpy(machine->cpu.name, "another");
    CU_ASSERT_EQUAL(count_figures(&two), 0);
    (void)strcpy(two.reference->points[0].observations[0].quantity, "gpu_w");
    CU_ASSERT_EQUAL(count_figures(&two), 1);
    machine->accelerator = FULCRUM_ACCELERATOR_CPU;
    CU_ASSERT_EQUAL(count_figures(&two), 0);
    end(&two);
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
