/* test_throughput.c - references predicted by networks that can be solved by hand, and
 * the formulas that are shown beside them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/throughput.h"

#include <math.h>
#include <string.h>

#include "calibrate/reference/validation.h"
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
    ASSERT_OK(fulcrum_throughput_new(&hand->plan, &hand->model, NULL));
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

TEST(test_one_actor_by_hand)
{
    static const double steps_s[] = {1e-3, 2e-3, 5e-3};
    struct hand one;
    begin(&one, (const double[]){1.0}, 1, "steps_per_s");
    make_model(&one);
    for (size_t i = 0; i < LENGTH(steps_s); i++) {
        double rate = 0.0;
        say(&one, steps_s[i], &rate);
        assert_close("X(1)", rate, one_actor_per_s(steps_s[i]), 1e-9);
    }
    end(&one);
}

/* Ratios are those of the rates, and the point that they refer to has 1. */
TEST(test_ratios_are_those_of_the_rates)
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
        assert_close("up", value[1][i], rate / value[0][1], 1e-12);
        assert_close("down", value[2][i], value[0][1] / rate, 1e-12);
    }
}

/* Where it was corrected, the forward model is the simulation; once is enough. */
TEST(test_a_corrected_model_is_the_simulation_there)
{
    const double step_s = 2e-3;
    const struct fulcrum_solver_options solver = {
        .method = FULCRUM_METHOD_SIMULATE, .seed = 1, .half_width_rel = 0.005};
    struct hand half;
    double rate[3] = {0};
    begin(&half, (const double[]){64.0}, 1, "steps_per_s");
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
    assert_close("twice", rate[2], rate[1], 1e-12);
    end(&half);
}

TEST(test_what_nothing_predicts_is_refused)
{
    static const char *const quantities[] = {"happiness", "speedup"};
    static const enum fulcrum_status expected[] = {
        FULCRUM_ERR_UNSUPPORTED, FULCRUM_ERR_MISSING};
    for (size_t i = 0; i < 2; i++) {
        struct hand odd;
        begin(&odd, (const double[]){4.0}, 1, quantities[i]);
        ASSERT_FAILS(fulcrum_throughput_new(&odd.plan, &odd.model, &err), expected[i],
            quantities[i]);
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
TEST(test_watts_that_nothing_gives_are_no_figures)
{
    static const char *const watts[] = {"machine.cpu.core_dynamic_w"};
    const struct fulcrum_setting set = {fulcrum_field_find(watts[0]), 5.0, NULL};
    struct hand two;
    begin(&two, (const double[]){4.0, 8.0}, 2, "cpu_w");
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

/* Predictions of `validate`. */

/* Of a rate that is simulated to 1 % and compared with another. */
#define RATE_ERROR 0.02

static struct fulcrum_parameter *parameter_of(
    struct fulcrum_calibration *calibration, const char *path)
{
    struct fulcrum_parameter *found = NULL;
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        if (strcmp(calibration->parameters[i].path, path) == 0) {
            found = &calibration->parameters[i];
        }
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    return found;
}

static struct fulcrum_comparison predict(const struct hand *hand)
{
    struct fulcrum_comparison out = {.count = 0};
    ASSERT_SAYS(fulcrum_predict_reference(hand->reference, hand->priors, &out, &err),
        FULCRUM_OK, "");
    return out;
}

/* A lone actor never waits: what a batch costs more is what its cycle lasts longer. */
TEST(test_a_lone_actor_pays_for_each_part_of_its_cycle)
{
    static const char *const parts[] = {"workload.host.per_batch_s",
        "workload.host.per_item_s", "workload.network.per_batch_s",
        "workload.network.per_item_s"};
    for (size_t i = 0; i < LENGTH(parts); i++) {
        struct hand one;
        begin(&one, (const double[]){1.0}, 1, "steps_per_s");
        struct fulcrum_comparison before = predict(&one);
        double cycle_s = 1.0 / before.items[0].predicted;
        parameter_of(one.priors, parts[i])->value += cycle_s;
        struct fulcrum_comparison after = predict(&one);
        assert_close(parts[i], after.items[0].predicted, 0.5 / cycle_s, RATE_ERROR);
        fulcrum_comparison_clear(&before);
        fulcrum_comparison_clear(&after);
        end(&one);
    }
}

/* More actors than anything can serve: the rate is that of the slowest station. */
TEST(test_a_crowd_is_held_to_the_hosts_rate)
{
    static const struct {
        const char *path;
        double value;
    } times[] = {{"workload.host.per_item_s", 1e-3},
        {"workload.host.per_batch_s", 1e-6}, {"workload.network.per_item_s", 1e-8},
        {"workload.network.per_batch_s", 1e-6}};
    struct hand crowd;
    begin(&crowd, (const double[]){512.0}, 1, "steps_per_s");
    for (size_t i = 0; i < LENGTH(times); i++) {
        designs_add_parameter(
            crowd.priors, times[i].path, times[i].value, 0.0, FULCRUM_SCALE_LINEAR);
    }
    struct fulcrum_comparison found = predict(&crowd);
    assert_close("rate", found.items[0].predicted, 1.0 / 1e-3, RATE_ERROR);
    fulcrum_comparison_clear(&found);
    end(&crowd);
}

/* What a fit has seen is marked, but for the points that it was told to leave out. */
TEST(test_points_that_a_fit_has_seen_are_marked)
{
    struct hand three;
    begin(&three, (const double[]){1.0, 2.0, 4.0}, 3, "steps_per_s");
    for (size_t i = 0; i < 3; i++) {
        three.reference->points[i].index = i;
    }
    ASSERT_OK(fulcrum_calibration_add_note(three.priors, "fitted_to", "hand", NULL));
    ASSERT_OK(fulcrum_calibration_add_note(three.priors, "held_out", "hand:1", NULL));
    struct fulcrum_comparison found = predict(&three);
    CU_ASSERT_EQUAL_FATAL(found.count, 3);
    for (size_t i = 0; i < found.count; i++) {
        CU_ASSERT_EQUAL(found.items[i].is_fitted, i != 1);
        CU_ASSERT(found.items[i].lo <= found.items[i].predicted);
        CU_ASSERT(found.items[i].predicted <= found.items[i].hi);
    }
    fulcrum_comparison_clear(&found);
    end(&three);
}

TEST(test_a_point_that_cannot_run_is_named)
{
    struct hand one;
    struct fulcrum_comparison out = {.count = 0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    begin(&one, (const double[]){4.0}, 1, "steps_per_s");
    one.reference->design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    one.reference->design.workload.batching.size = 8.0;
    CU_ASSERT_EQUAL(fulcrum_predict_reference(one.reference, one.priors, &out, &err),
        FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_STRING_NOT_EQUAL(err.detail, "");
    CU_ASSERT_EQUAL(out.count, 0);
    end(&one);
}

/* Small formulas beside them. */

enum { COUNTS = 5 };

static const double counts[COUNTS] = {20.0, 40.0, 80.0, 160.0, 320.0};

TEST(test_the_formula_has_its_limits)
{
    struct fulcrum_formula free = {0.005, 1e-4, HUGE_VAL};
    assert_close("20 environments", fulcrum_formula_rate(&free, 20.0),
        20.0 / (0.005 + 20.0 * 1e-4), 1e-15);
    assert_close("no end", fulcrum_formula_rate(&free, 1e12), 1e4, 1e-6);
    assert_close("hardly any", fulcrum_formula_rate(&free, 1e-9), 1e-9 / 0.005, 1e-6);
    /* Far below the ceiling it does not show; far above nothing else does. */
    struct fulcrum_formula capped = {0.005, 1e-4, 1e7};
    assert_close("below", fulcrum_formula_rate(&capped, 80.0),
        fulcrum_formula_rate(&free, 80.0), 1e-12);
    capped.cap_per_s = 10.0;
    assert_close("above", fulcrum_formula_rate(&capped, 320.0), 10.0, 1e-12);
    /* Where both are equal: C 2^(-1/p). */
    capped.cap_per_s = fulcrum_formula_rate(&free, 40.0);
    assert_close("at the knee", fulcrum_formula_rate(&capped, 40.0),
        capped.cap_per_s * pow(2.0, -1.0 / 5.0), 1e-14);
    capped.cap_per_s = 1e-300;
    assert_close("a tiny ceiling", fulcrum_formula_rate(&capped, 1e6), 1e-300, 1e-12);
}

static void fill_rates(
    const struct fulcrum_formula *formula, size_t count, double steps_per_s[COUNTS])
{
    for (size_t i = 0; i < count; i++) {
        steps_per_s[i] = fulcrum_formula_rate(formula, counts[i]);
    }
}

TEST(test_a_hyperbola_is_found_again)
{
    const struct fulcrum_formula truth = {0.004, 1.5e-4, HUGE_VAL};
    double rate[COUNTS];
    for (size_t count = 2; count <= COUNTS; count++) {
        struct fulcrum_formula found = {0.0, 0.0, 0.0};
        fill_rates(&truth, count, rate);
        const struct fulcrum_formula_plan plan = {
            counts, rate, count, (double)NAN, 0.03, 4.0};
        ASSERT_OK(fulcrum_formula_fit(&plan, &found, NULL));
        assert_close("a", found.latency_s, truth.latency_s, 1e-3);
        assert_close("b", found.per_item_s, truth.per_item_s, 1e-3);
        CU_ASSERT(isinf(found.cap_per_s));
    }
}

/* Neither prior pulls where both are met: b is 40,000 frames/s, C 0.85 ceilings. */
TEST(test_a_capped_hyperbola_at_its_priors_is_found_again)
{
    const struct fulcrum_formula truth = {0.004, 1e-4, 8500.0};
    double rate[COUNTS];
    struct fulcrum_formula found = {0.0, 0.0, 0.0};
    fill_rates(&truth, COUNTS, rate);
    const struct fulcrum_formula_plan plan = {counts, rate, COUNTS, 1e4, 0.03, 4.0};
    ASSERT_OK(fulcrum_formula_fit(&plan, &found, NULL));
    assert_close("a", found.latency_s, truth.latency_s, 2e-3);
    assert_close("b", found.per_item_s, truth.per_item_s, 2e-3);
    assert_close("C", found.cap_per_s, truth.cap_per_s, 2e-3);
}

TEST(test_priors_pull_by_their_standard_deviations)
{
    /* Far above the knee only C counts: ln C is the mean of what was seen and of the
       prior, weighted by 1 / sd^2 (0.03 three times, 0.15 once). */
    static const double many[] = {4e6, 5e6, 6e6};
    static const double rate[] = {1000.0, 1000.0, 1000.0};
    struct fulcrum_formula found = {0.0, 0.0, 0.0};
    const struct fulcrum_formula_plan plan = {many, rate, 3, 1300.0, 0.03, 4.0};
    ASSERT_OK(fulcrum_formula_fit(&plan, &found, NULL));
    double seen = 3.0 / (0.03 * 0.03);
    double believed = 1.0 / (0.15 * 0.15);
    double expected =
        (seen * log(1000.0) + believed * log(0.85 * 1300.0)) / (seen + believed);
    assert_close("ln C", log(found.cap_per_s), expected, 1e-3);
}

/* The search starts from one point where the ends are at the same place. */
TEST(test_a_curve_may_have_one_place)
{
    static const double place[] = {40.0, 40.0};
    static const double repeats[] = {1000.0, 1020.0};
    struct fulcrum_formula found = {0.0, 0.0, 0.0};
    const struct fulcrum_formula_plan plan = {
        place, repeats, 2, (double)NAN, 0.03, 4.0};
    ASSERT_OK(fulcrum_formula_fit(&plan, &found, NULL));
    assert_close("rate", fulcrum_formula_rate(&found, 40.0), 1010.0, 2e-3);
}

TEST(test_formulas_that_cannot_be_fitted_are_refused)
{
    static const double good[] = {1000.0, 1500.0};
    static const double bad[] = {1000.0, 0.0};
    static const struct {
        struct fulcrum_formula_plan plan;
        const char *detail;
    } cases[] = {
        {{counts, good, 1, (double)NAN, 0.03, 4.0}, "1 points for a formula"},
        {{counts, bad, 2, (double)NAN, 0.03, 4.0}, "0 steps/s of 40 environments"},
        {{bad, good, 2, (double)NAN, 0.03, 4.0}, "1500 steps/s of 0 environments"},
        {{counts, good, 2, 0.0, 0.03, 4.0}, "ceiling = 0"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_formula out;
        ASSERT_FAILS(fulcrum_formula_fit(&cases[i].plan, &out, &err), FULCRUM_ERR_RANGE,
            cases[i].detail);
    }
}
