/* test_predict.c - outputs of a design point, its watts and its intervals. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict.h"

#include <math.h>
#include <string.h>

#include "model/power.h"
#include "model/quantity.h"
#include "model/sweep.h"
#include "tests/designs.h"
#include "tests/suite.h"

static const struct fulcrum_point nominal = {NULL, 0, 0, 0};

static struct fulcrum_prediction predict(const struct fulcrum_scenario_inputs *inputs,
    const struct fulcrum_predict_options *options)
{
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_prediction prediction;
    CU_ASSERT_EQUAL_FATAL(fulcrum_scenario_new(inputs, &scenario, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict(scenario, &nominal, options, &prediction, NULL), FULCRUM_OK);
    fulcrum_scenario_free(scenario);
    return prediction;
}

/* One actor, constant step, no queue anywhere: X = 1 / (t_e + g0 + g1). */
static void test_one_actor_takes_turns_with_the_gpu(void)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    design.workload.step.law = FULCRUM_LAW_DETERMINISTIC;
    design.workload.step.cv = 0;
    design.run.actor_count = 1;
    struct fulcrum_scenario_inputs inputs = {.base = &design};
    struct fulcrum_predict_options options = {.solver = {.seed = 1}};
    struct fulcrum_prediction p = predict(&inputs, &options);
    double steps_per_s = 1.0 / (2e-3 + 1.2e-3 + 6e-6);
    suite_assert_close("X", p.value[FULCRUM_OUTPUT_steps_per_s], steps_per_s, 1e-3);
    suite_assert_close(
        "frames/s", p.value[FULCRUM_OUTPUT_frames_per_s], 4 * steps_per_s, 1e-3);
    suite_assert_close(
        "runtime", p.value[FULCRUM_OUTPUT_runtime_s], 1e6 / steps_per_s, 1e-3);
    suite_assert_close("batch", p.value[FULCRUM_OUTPUT_mean_batch], 1.0, 1e-9);
    suite_assert_close("GPU busy", p.value[FULCRUM_OUTPUT_gpu_busy_frac],
        1.206e-3 * steps_per_s, 1e-3);
    CU_ASSERT_EQUAL(p.value[FULCRUM_OUTPUT_cpu_gpu_ratio_machine], 40.0 / 640.0);
    CU_ASSERT_EQUAL(p.value[FULCRUM_OUTPUT_cpu_gpu_ratio_used], 0.5);
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_actor_threads_per_learner_core]));
    CU_ASSERT_EQUAL(p.has_interval, 0);
}

/* (12)-(13) with utilisations given, not solved. */
static void test_watts_by_hand(void)
{
    struct fulcrum_design design;
    designs_gpu(&design);
    design.run.gpu_count = 2;
    design.run.sm_count = 40;
    design.workload.network.sm_active_frac = 0.1;
    struct fulcrum_shards shards;
    CU_ASSERT_EQUAL_FATAL(fulcrum_design_lower(&design, &shards, NULL), FULCRUM_OK);
    const struct fulcrum_solution solution = {.cpu_core_busy_frac = 0.5,
        .cpu_thread_busy_frac = 0.375,
        .gpu_train_busy_frac = 0.3,
        .gpu_inference_busy_frac = 0.2};
    struct fulcrum_power power = fulcrum_power_of(&design, &shards, &solution);
    suite_assert_close("U", power.sm_active_frac, 0.32, 1e-12);
    suite_assert_close("GPUs", power.gpu_w, 2 * (62 + 170 * 0.32 * 0.5), 1e-12);
    /* 5 of 10 cores of a shard busy with 7.5 threads: half of them run two. */
    double cpu_w = 12 + 1.2 * 20 + 4.2 * 10 * (1 + 0.15 * 0.5);
    suite_assert_close("CPU", power.cpu_w, cpu_w, 1e-12);
    suite_assert_close(
        "system", power.system_w, (cpu_w + power.gpu_w + 6 * 40 + 100) / 0.9, 1e-12);
}

static void test_a_machine_without_gpu_has_no_gpu_figures(void)
{
    struct fulcrum_design design;
    designs_cpu(&design);
    struct fulcrum_scenario_inputs inputs = {.base = &design};
    struct fulcrum_predict_options options = {.solver = {.seed = 1}};
    struct fulcrum_prediction p = predict(&inputs, &options);
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_gpu_w]));
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_steps_per_j_gpu]));
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_cpu_gpu_ratio_machine]));
    CU_ASSERT_EQUAL(p.value[FULCRUM_OUTPUT_actor_threads_per_learner_core], 7.0);
    CU_ASSERT(p.value[FULCRUM_OUTPUT_system_w] > (12 + 1.2 * 8 + 100) / 0.9);
    CU_ASSERT(p.value[FULCRUM_OUTPUT_steps_per_s] > 0);
}

/* Half of the draws vary too little for the equations: they count all the same. */
static void test_draws_that_the_equations_refuse_are_simulated(void)
{
    struct fulcrum_design design;
    designs_cpu(&design);
    design.workload.step.law = FULCRUM_LAW_LOGNORMAL;
    design.workload.step.cv = 0.201;
    design.run.actor_count = 5;
    struct fulcrum_calibration *calibration = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_calibration_new(&calibration, NULL), FULCRUM_OK);
    calibration->machine = design.machine;
    designs_add_parameter(
        calibration, "workload.step.cv", 0.201, 0.02, FULCRUM_SCALE_LOG);
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_scenario_inputs inputs = {
        .base = &design, .calibrations = calibrations, .calibration_count = 1};
    struct fulcrum_predict_options options = {.solver = {.seed = 3}, .draws = 40};
    struct fulcrum_prediction p = predict(&inputs, &options);
    CU_ASSERT_EQUAL(p.method, FULCRUM_METHOD_FAST);
    CU_ASSERT_EQUAL(p.draws, 40.0);
    fulcrum_calibration_free(calibration);
}

/* CPU-bound: X is inversely proportional to the step time, and so are its quantiles. */
static void test_intervals_follow_the_parameter_that_binds(void)
{
    struct fulcrum_design design;
    designs_cpu(&design);
    design.workload.network.per_batch_s = 1e-8;
    design.workload.network.per_item_s = 1e-9;
    design.workload.step.mean_s = 1e-3;
    design.run.actor_count = 28;
    struct fulcrum_calibration *calibration = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_calibration_new(&calibration, NULL), FULCRUM_OK);
    calibration->machine = design.machine;
    designs_add_parameter(
        calibration, "workload.step.mean_s", 1e-3, 1e-4, FULCRUM_SCALE_LOG);
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_scenario_inputs inputs = {
        .base = &design, .calibrations = calibrations, .calibration_count = 1};
    struct fulcrum_predict_options options = {
        .solver = {.seed = 3, .method = FULCRUM_METHOD_FAST}, .draws = 2000};
    struct fulcrum_prediction p = predict(&inputs, &options);
    double value = p.value[FULCRUM_OUTPUT_steps_per_s];
    suite_assert_close("X", value, 7000, 5e-3);
    CU_ASSERT_EQUAL(p.has_interval, 1);
    CU_ASSERT_EQUAL(p.draws, 2000.0);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        CU_ASSERT(isnan(p.lo[i]) || p.lo[i] <= p.hi[i]);
    }
    /* 1.645 sd of 0.1 in ln; quantiles of 2000 draws are within 4 % of that. */
    CU_ASSERT_DOUBLE_EQUAL(
        log(p.lo[FULCRUM_OUTPUT_steps_per_s] / value), -0.1645, 0.015);
    CU_ASSERT_DOUBLE_EQUAL(
        log(p.hi[FULCRUM_OUTPUT_steps_per_s] / value), 0.1645, 0.015);
    CU_ASSERT_EQUAL(p.bottleneck, FULCRUM_BOUND_CPU);
    CU_ASSERT_EQUAL(p.bottleneck_agree_frac, 1.0);
    fulcrum_calibration_free(calibration);
}

static void test_outputs_have_names_and_units(void)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        CU_ASSERT(strlen(fulcrum_output_name(i)) > 3);
        CU_ASSERT_PTR_NOT_NULL(fulcrum_output_unit(i));
        CU_ASSERT(strlen(fulcrum_output_meaning(i)) > 5);
    }
    CU_ASSERT_PTR_NULL(fulcrum_output_name(FULCRUM_OUTPUT_COUNT));
    CU_ASSERT_PTR_NULL(fulcrum_output_unit(FULCRUM_OUTPUT_COUNT));
    CU_ASSERT_PTR_NULL(fulcrum_output_meaning(FULCRUM_OUTPUT_COUNT));
}

/* What a visit collects. */
struct visited {
    size_t count;
    size_t stop_after;
    struct fulcrum_sweep_point points[256];
};

static int collect(void *context, const struct fulcrum_sweep_point *point)
{
    struct visited *visited = context;
    visited->points[visited->count++] = *point;
    return visited->count == visited->stop_after;
}

static enum fulcrum_status sweep(const struct fulcrum_design *design,
    const struct fulcrum_sweep_plan *plan, struct visited *out)
{
    struct fulcrum_scenario_inputs inputs = {.base = design};
    struct fulcrum_scenario *scenario = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_scenario_new(&inputs, &scenario, NULL), FULCRUM_OK);
    enum fulcrum_status status = fulcrum_sweep_run(scenario, plan, collect, out, NULL);
    fulcrum_scenario_free(scenario);
    return status;
}

static void test_a_grid_is_visited_in_order(void)
{
    static const double steps[] = {1e-3, 2e-3};
    static const double actors[] = {10, 20, 41};
    const struct fulcrum_sweep_axis axes[] = {
        {fulcrum_field_find("workload.step.mean_s"), steps, 2},
        {fulcrum_field_find("run.actor_count"), actors, 3}};
    struct fulcrum_sweep_plan plan = {
        .axes = axes, .axis_count = 2, .predict = {.solver = {.seed = 1}}};
    static struct visited visited;
    struct fulcrum_design design;
    designs_gpu(&design);
    design.run.gpu_count = 2;
    visited = (struct visited){0};
    CU_ASSERT_EQUAL(fulcrum_sweep_count(&plan), 6);
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_OK);
    CU_ASSERT_EQUAL(visited.count, 6);
    for (size_t i = 0; i < visited.count; i++) {
        CU_ASSERT_EQUAL(visited.points[i].index, i);
        CU_ASSERT_EQUAL(visited.points[i].varied[0], steps[i / 3]);
        CU_ASSERT_EQUAL(visited.points[i].varied[1], actors[i % 3]);
        /* 41 actors cannot be shared by two GPUs: the point keeps its place. */
        CU_ASSERT_EQUAL(
            visited.points[i].status, i % 3 == 2 ? FULCRUM_ERR_INFEASIBLE : FULCRUM_OK);
        CU_ASSERT((i % 3 == 2) == (visited.points[i].reason[0] != '\0'));
    }
    visited = (struct visited){.stop_after = 2};
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_EQUAL(visited.count, 2);
    plan.axis_count = FULCRUM_SWEEP_AXES_MOST + 1;
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_ERR_RANGE);
}

static void test_actors_follow_threads_or_are_the_best_of_a_list(void)
{
    static const double threads[] = {40, 80};
    static const double choices[] = {2, 64, 4096};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("machine.cpu.thread_count"), threads, 2};
    struct fulcrum_sweep_plan plan = {.axes = &axis,
        .axis_count = 1,
        .predict = {.solver = {.seed = 1}},
        .actors_per_thread = 6.4};
    static struct visited visited;
    struct fulcrum_design design;
    designs_gpu(&design);
    visited = (struct visited){0};
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_OK);
    CU_ASSERT_EQUAL(visited.points[0].prediction.actor_count, 256.0);
    CU_ASSERT_EQUAL(visited.points[1].prediction.actor_count, 512.0);
    plan.actors_per_thread = 0;
    plan.actor_choices = choices;
    plan.actor_choice_count = 3;
    visited = (struct visited){0};
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_OK);
    CU_ASSERT_EQUAL(visited.points[0].prediction.actor_count, 4096.0);
}

static void test_a_reason_is_one_line_of_whole_faults(void)
{
    static const double actors[] = {4};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("run.actor_count"), actors, 1};
    const struct fulcrum_sweep_plan plan = {.axes = &axis, .axis_count = 1};
    static struct visited visited;
    struct fulcrum_design design;
    designs_gpu(&design);
    design.workload.step.mean_s = FULCRUM_UNKNOWN;
    design.workload.step.cv = FULCRUM_UNKNOWN;
    design.workload.network.per_batch_s = FULCRUM_UNKNOWN;
    design.workload.network.per_item_s = FULCRUM_UNKNOWN;
    visited = (struct visited){0};
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_OK);
    const char *reason = visited.points[0].reason;
    CU_ASSERT_PTR_NULL(strchr(reason, '\n'));
    CU_ASSERT_PTR_NOT_NULL(strstr(reason, "; workload.step.cv is not given"));
    CU_ASSERT_PTR_NOT_NULL(strstr(reason, "workload.network.per_item_s is not given"));
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_one_actor_takes_turns_with_the_gpu),
        SUITE_CASE(test_watts_by_hand),
        SUITE_CASE(test_a_machine_without_gpu_has_no_gpu_figures),
        SUITE_CASE(test_draws_that_the_equations_refuse_are_simulated),
        SUITE_CASE(test_intervals_follow_the_parameter_that_binds),
        SUITE_CASE(test_outputs_have_names_and_units),
        SUITE_CASE(test_a_grid_is_visited_in_order),
        SUITE_CASE(test_a_reason_is_one_line_of_whole_faults),
        SUITE_CASE(test_actors_follow_threads_or_are_the_best_of_a_list),
    };
    return suite_run("predict", cases, sizeof cases / sizeof cases[0], argc, argv);
}
