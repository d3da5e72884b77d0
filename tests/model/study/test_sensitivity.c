/* test_sensitivity.c - shares and bars of a scenario where they can be told by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { INPUTS_MOST = 8 };

/* A design, its calibration and priors, and one analysis of it. */
struct fixture {
    struct fulcrum_design base;
    struct fulcrum_calibration *calibration;
    struct fulcrum_prior priors[3];
    struct fulcrum_scenario_inputs scenario;
    struct fulcrum_uncertain_input *uncertain;
    size_t uncertain_count;
    struct fulcrum_field_range ranges[INPUTS_MOST];
    struct fulcrum_sensitivity_input inputs[INPUTS_MOST];
    struct fulcrum_sensitivity_output outputs[3];
    struct fulcrum_sensitivity_plan plan;
    struct fulcrum_sensitivity *result;
};

/* A new one, in place of that of the case before. */
static struct fixture *start(void)
{
    static struct fixture f;
    fulcrum_sensitivity_free(f.result);
    fulcrum_calibration_free(f.calibration);
    free(f.uncertain);
    f = (struct fixture){.base = gpu_design()};
    f.scenario = (struct fulcrum_scenario_inputs){
        .base = &f.base,
        .calibrations = (const struct fulcrum_calibration *const *)&f.calibration,
        .priors = f.priors,
    };
    f.plan = (struct fulcrum_sensitivity_plan){
        .scenario = &f.scenario,
        .inputs = f.inputs,
        .outputs = f.outputs,
        .output_count = 1,
        .solver = {.method = FULCRUM_METHOD_FAST},
        .sobol = {.row_count = 64, .replicate_count = 8, .worker_count = 2, .seed = 1},
    };
    return &f;
}

static void vary(struct fixture *f, const char *path, double lo, double hi)
{
    size_t i = f->plan.input_count++;
    f->ranges[i] = (struct fulcrum_field_range){
        fulcrum_field_find(path), lo, hi, FULCRUM_RANGE_UNIFORM};
    f->inputs[i] = (struct fulcrum_sensitivity_input){.span = &f->ranges[i]};
}

/* Everything that the scenario leaves open; groups in one input. */
static void vary_chances(struct fixture *f)
{
    ASSERT_OK(fulcrum_uncertain_inputs_list(
        &f->scenario, &f->uncertain, &f->uncertain_count, NULL));
    for (size_t i = 0; i < f->uncertain_count; i++) {
        if (i > 0 && f->uncertain[i].group == f->uncertain[i - 1].group) {
            f->inputs[f->plan.input_count - 1].uncertain_count++;
        } else {
            f->inputs[f->plan.input_count++] = (struct fulcrum_sensitivity_input){
                .uncertain = &f->uncertain[i], .uncertain_count = 1};
        }
    }
}

static enum fulcrum_status try(struct fixture *f,
    enum fulcrum_sensitivity_subject subject, enum fulcrum_predicted predicted,
    struct fulcrum_error *err)
{
    f->outputs[0] = (struct fulcrum_sensitivity_output){subject, predicted};
    return fulcrum_sensitivity_run(&f->plan, &f->result, err);
}

static void run(struct fixture *f, enum fulcrum_sensitivity_subject subject,
    enum fulcrum_predicted predicted)
{
    ASSERT_OK(try(f, subject, predicted, NULL));
}

static struct fulcrum_sobol_index index_of(const struct fixture *f, size_t input)
{
    return fulcrum_sobol_index(f->result->sobol, 0, input);
}

/* System watts add up from their parts: rest and idle of the processor stand beside
 * each other, behind one power supply. Uniform parts of widths 100 and 50 have
 * variances of 100^2 / 12 and 50^2 / 12: shares 0.8 and 0.2. */
TEST(test_watts_that_add_up_have_the_shares_of_their_ranges)
{
    struct fixture *f = start();
    vary(f, "machine.rest_w", 50.0, 150.0);
    vary(f, "machine.cpu.idle_w", 20.0, 70.0);
    vary(f, "workload.total_env_steps", 1e6, 2e6);
    run(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_system_w);
    CU_ASSERT_DOUBLE_EQUAL(index_of(f, 0).first, 0.8, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(index_of(f, 0).total, 0.8, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(index_of(f, 1).first, 0.2, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(index_of(f, 2).total, 0.0, 0.0);
    struct fulcrum_effect effect = fulcrum_sensitivity_effect(f->result, 0, 0);
    assert_close("bar", effect.hi - effect.lo, 90.0 / 0.9, 1e-9);
    assert_close("from", f->result->values[0] - effect.lo, 45.0 / 0.9, 1e-9);
    CU_ASSERT_EQUAL(f->result->reaches[0].value, 100.0);
    CU_ASSERT_EQUAL(f->result->reaches[0].lo, 55.0);
    CU_ASSERT_EQUAL(f->result->reaches[0].hi, 145.0);
}

/* The same worlds as draws: the spread of one is that of the other. */
TEST(test_chances_spread_as_draws_do)
{
    struct fixture *f = start();
    f->calibration = designs_calibration(&f->base, "workload.step.mean_s", 2e-3, 6e-4);
    designs_add_log(f->calibration, "workload.network.per_batch_s", 1.2e-3, 3e-4);
    f->scenario.calibration_count = 1;
    f->priors[0] = (struct fulcrum_prior){fulcrum_field_find("machine.rest_w"), 1.5};
    f->scenario.prior_count = 1;
    vary_chances(f);
    CU_ASSERT_EQUAL(f->plan.input_count, 3);
    run(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_steps_per_j_system);
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_prediction prediction;
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    const struct fulcrum_predict_options options = {
        .solver = {.method = FULCRUM_METHOD_FAST, .seed = 3}, .draws = 4000};
    ASSERT_OK(fulcrum_scenario_new(&f->scenario, &scenario, NULL));
    ASSERT_OK(fulcrum_predict(scenario, &point, &options, &prediction, NULL));
    struct fulcrum_sobol_spread spread = fulcrum_sobol_spread(f->result->sobol, 0);
    size_t output = FULCRUM_OUTPUT_steps_per_j_system;
    /* Quantiles at 5 % of 4000 draws and 1024 points: about 2 %. */
    assert_close("5 %", spread.lo, prediction.lo[output], 0.05);
    assert_close("95 %", spread.hi, prediction.hi[output], 0.05);
    assert_close("value", f->result->values[0], prediction.at_fit[output], 1e-12);
    fulcrum_scenario_free(scenario);
}

/* One actor: a step, a batch of one, the way back. Nothing is uncertain of a ratio of
 * steps that differ by a factor, if steps are all there is. */
TEST(test_a_ratio_has_no_share_of_what_both_points_have)
{
    const struct fulcrum_setting half = {
        fulcrum_field_find("machine.rest_w"), 50.0, NULL};
    struct fixture *f = start();
    vary(f, "workload.step.mean_s", 1e-3, 3e-3);
    f->plan.base = &half;
    f->plan.base_count = 1;
    run(f, FULCRUM_SUBJECT_RELATIVE, FULCRUM_OUTPUT_steps_per_s);
    CU_ASSERT_EQUAL(f->result->values[0], 1.0);
    CU_ASSERT(fulcrum_sobol_spread(f->result->sobol, 0).is_constant);
    CU_ASSERT(isnan(index_of(f, 0).first));
}

/* A field that nothing gives is in the middle of its range, others at their value. */
TEST(test_unknown_fields_stand_in_the_middle)
{
    struct fixture *f = start();
    f->base.run.actor_count = (double)NAN;
    vary(f, "run.actor_count", 10.0, 20.0);
    run(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_steps_per_s);
    CU_ASSERT_EQUAL(f->result->reaches[0].value, 15.0);
    CU_ASSERT_EQUAL(f->result->reaches[0].lo, 10.0);
    CU_ASSERT_EQUAL(f->result->reaches[0].hi, 20.0);
    CU_ASSERT_DOUBLE_EQUAL(index_of(f, 0).first, 1.0, 1e-12);
}

TEST(test_actors_follow_threads)
{
    struct fixture *f = start();
    f->base.run.actor_count = (double)NAN;
    f->plan.actors_per_thread = 0.5;
    vary(f, "machine.cpu.thread_count", 20.0, 60.0);
    run(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_steps_per_s);
    double followed = f->result->values[0];
    struct fixture *given = start();
    given->base.run.actor_count = 20.0;
    vary(given, "machine.rest_w", 50.0, 150.0);
    run(given, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_steps_per_s);
    CU_ASSERT_EQUAL(followed, given->result->values[0]);
}

/* A point of comparison has the last word on its actors. */
TEST(test_a_base_gives_its_own_actors)
{
    const struct fulcrum_setting same = {
        fulcrum_field_find("run.actor_count"), 20.0, NULL};
    struct fixture *f = start();
    f->base.run.actor_count = (double)NAN;
    f->plan.actors_per_thread = 0.5;
    f->plan.base = &same;
    f->plan.base_count = 1;
    vary(f, "workload.step.mean_s", 1e-3, 3e-3);
    run(f, FULCRUM_SUBJECT_RELATIVE, FULCRUM_OUTPUT_steps_per_s);
    CU_ASSERT_EQUAL(f->result->values[0], 1.0);
}

/* Rows that ask for more SMs than there are: a twentieth of each point, a tenth of
 * rows. */
TEST(test_designs_that_cannot_run_are_told)
{
    struct fixture *f = start();
    vary(f, "run.sm_count", 42.0, 81.0);
    run(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_steps_per_s);
    struct fulcrum_sobol_spread spread = fulcrum_sobol_spread(f->result->sobol, 0);
    CU_ASSERT(spread.dropped_count > 5 && spread.dropped_count < 51);
    CU_ASSERT_PTR_NOT_NULL(strstr(f->result->reason, "run.sm_count = 81"));
    CU_ASSERT_DOUBLE_EQUAL(index_of(f, 0).first, 1.0, 1e-9);
}

TEST(test_a_scenario_that_cannot_run_fails)
{
    struct fixture *f = start();
    f->base.run.sm_count = 100.0;
    vary(f, "machine.rest_w", 50.0, 150.0);
    ASSERT_FAILS(try(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_steps_per_s, &err),
        FULCRUM_ERR_RANGE, "run.sm_count = 100");
    CU_ASSERT_PTR_NULL(f->result);
    f->plan.input_count = 0;
    CU_ASSERT_EQUAL(
        fulcrum_sensitivity_run(&f->plan, &f->result, NULL), FULCRUM_ERR_RANGE);
}

static int always(void *context)
{
    (void)context;
    return 1;
}

TEST(test_a_stop_leaves_nothing_half_done)
{
    struct fixture *f = start();
    vary(f, "machine.rest_w", 50.0, 150.0);
    f->plan.is_stopped = always;
    CU_ASSERT_EQUAL(try(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_system_w, NULL),
        FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_PTR_NULL(f->result);
}

TEST(test_counts_take_every_whole_number_of_their_range)
{
    const struct fulcrum_field_range few = {
        fulcrum_field_find("run.actor_count"), 3.0, 5.0, FULCRUM_RANGE_UNIFORM};
    const struct fulcrum_field_range logs = {
        fulcrum_field_find("run.actor_count"), 1.0, 7.0, FULCRUM_RANGE_LOG_UNIFORM};
    const struct fulcrum_field_range times = {
        fulcrum_field_find("workload.step.mean_s"), 1e-4, 1e-2,
        FULCRUM_RANGE_LOG_UNIFORM};
    CU_ASSERT_EQUAL(fulcrum_field_range_value(&few, 1e-9), 3.0);
    CU_ASSERT_EQUAL(fulcrum_field_range_value(&few, 0.34), 4.0);
    CU_ASSERT_EQUAL(fulcrum_field_range_value(&few, 1.0 - 1e-9), 5.0);
    /* 1 has ln 2 of ln 8. */
    CU_ASSERT_EQUAL(fulcrum_field_range_value(&logs, 0.333), 1.0);
    CU_ASSERT_EQUAL(fulcrum_field_range_value(&logs, 0.334), 2.0);
    CU_ASSERT_EQUAL(fulcrum_field_range_value(&logs, 1.0 - 1e-12), 7.0);
    assert_close("middle", fulcrum_field_range_value(&times, 0.5), 1e-3, 1e-12);
}

/* Parabolas have their top where it is, over x and over ln x. */
TEST(test_the_best_place_lies_between_points)
{
    const double x[] = {-1.0, 0.5, 2.0, 5.0};
    const double logs[] = {1.0, 2.0, 4.0, 8.0};
    double y[4];
    double z[4];
    for (size_t i = 0; i < 4; i++) {
        y[i] = 10.0 - (x[i] - 1.1) * (x[i] - 1.1);
        z[i] = -pow(log(logs[i] / 3.0), 2.0);
    }
    assert_close("linear", fulcrum_place_of_largest(x, y, 4), 1.1, 1e-12);
    assert_close("log", fulcrum_place_of_largest(logs, z, 4), 3.0, 1e-12);
    const double gap[] = {(double)NAN, 3.0, (double)NAN, 2.0};
    const double none[] = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    const double flat[] = {1.0, 1.0, 1.0, 0.5};
    CU_ASSERT_EQUAL(fulcrum_place_of_largest(logs, gap, 4), 2.0);
    CU_ASSERT(isnan(fulcrum_place_of_largest(logs, none, 4)));
    CU_ASSERT_EQUAL(fulcrum_place_of_largest(logs, flat, 4), 1.0);
}

/* Steps grow with SMs up to what there is: the best of a list is its last that runs. */
TEST(test_the_best_along_an_axis_is_found)
{
    static const double counts[] = {20.0, 40.0, 80.0, 160.0};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("run.sm_count"), counts, 4};
    struct fixture *f = start();
    f->plan.axis = &axis;
    vary(f, "workload.step.mean_s", 1e-3, 3e-3);
    run(f, FULCRUM_SUBJECT_BEST, FULCRUM_OUTPUT_steps_per_s);
    CU_ASSERT_EQUAL(f->result->values[0], 80.0);
    CU_ASSERT(fulcrum_sobol_spread(f->result->sobol, 0).is_constant);
}

TEST(test_workers_change_nothing)
{
    double first[2] = {0.0, 0.0};
    for (size_t k = 0; k < 2; k++) {
        struct fixture *f = start();
        vary(f, "workload.step.mean_s", 1e-3, 3e-3);
        vary(f, "run.actor_count", 10.0, 100.0);
        f->plan.sobol.worker_count = k == 0 ? 1 : 5;
        run(f, FULCRUM_SUBJECT_VALUE, FULCRUM_OUTPUT_steps_per_s);
        first[k] = index_of(f, 0).first + 10.0 * index_of(f, 1).total;
    }
    CU_ASSERT_EQUAL(first[0], first[1]);
}
