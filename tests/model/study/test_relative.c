/* test_relative.c - ratios of two design points, draw by draw. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <math.h>
#include <string.h>

#include "model/interval.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { POINTS_MOST = 8, DRAWS = 60 };

struct visited {
    size_t count;
    struct fulcrum_sweep_point points[POINTS_MOST];
};

static int collect(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct visited *visited = context;
    for (size_t i = 0; i < count && visited->count < POINTS_MOST; i++) {
        visited->points[visited->count++] = points[i];
    }
    return 0;
}

/* Steps of 2 ms that are known to 20 %. */
static struct fulcrum_calibration *rough_steps(const struct fulcrum_design *design)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    calibration->machine = design->machine;
    designs_add_parameter(
        calibration, "workload.step.mean_s", 2e-3, 4e-4, FULCRUM_SCALE_LOG);
    return calibration;
}

/* The sweep of `plan` beside its point `index`. */
static struct visited sweep_beside(
    const struct fulcrum_design *design, struct fulcrum_sweep_plan *plan, size_t index)
{
    struct fulcrum_calibration *calibration = rough_steps(design);
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_scenario_inputs inputs = {
        .base = design, .calibrations = calibrations, .calibration_count = 1};
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_study *yardstick = NULL;
    struct visited visited = {.count = 0};
    const struct fulcrum_sweep_visitor visitor = {
        .context = &visited, .visit = collect};
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    ASSERT_OK(fulcrum_sweep_yardstick(scenario, plan, index, &yardstick, NULL));
    plan->yardstick = yardstick;
    ASSERT_OK(fulcrum_sweep_run(scenario, plan, &visitor, NULL));
    fulcrum_yardstick_free(yardstick);
    fulcrum_scenario_free(scenario);
    fulcrum_calibration_free(calibration);
    return visited;
}

/* What dividing the ends of the two intervals would give. */
static double width_of_ends(
    const struct fulcrum_prediction *a, const struct fulcrum_prediction *b)
{
    const size_t rate = FULCRUM_OUTPUT_steps_per_s;
    return a->hi[rate] / b->lo[rate] - a->lo[rate] / b->hi[rate];
}

/*
 * Two GPUs with 80 threads and twice the actors are two of one GPU with 40, whatever a
 * step takes: the ratio is 2 in every draw, though neither rate is known to 20 %.
 */
TEST(test_twice_the_machine_is_twice_as_fast_in_every_draw)
{
    static const double gpus[] = {1, 2};
    static const double threads[] = {40, 80};
    const struct fulcrum_sweep_axis axes[] = {
        {fulcrum_field_find("run.gpu_count"), gpus, 2},
        {fulcrum_field_find("machine.cpu.thread_count"), threads, 2}};
    struct fulcrum_sweep_plan plan = {.axes = axes,
        .axis_count = 2,
        .predict = {.solver = {.seed = 1, .method = FULCRUM_METHOD_FAST},
            .draws = DRAWS},
        .actors_per_thread = 2};
    struct fulcrum_design design;
    designs_gpu(&design);
    struct visited visited = sweep_beside(&design, &plan, 0);
    CU_ASSERT_EQUAL_FATAL(visited.count, 4);
    const struct fulcrum_sweep_point *one = &visited.points[0];
    const struct fulcrum_sweep_point *two = &visited.points[3];
    assert_close("itself", one->relative[FULCRUM_RELATIVE_speedup].lo, 1.0, 0.0);
    assert_close("itself", one->relative[FULCRUM_RELATIVE_runtime_rel].hi, 1.0, 0.0);
    const struct fulcrum_ratio *speedup = &two->relative[FULCRUM_RELATIVE_speedup];
    const struct fulcrum_ratio *runtime = &two->relative[FULCRUM_RELATIVE_runtime_rel];
    assert_close("speedup", speedup->value, 2.0, 1e-12);
    assert_close("lo", speedup->lo, 2.0, 1e-12);
    assert_close("hi", speedup->hi, 2.0, 1e-12);
    assert_close("runtime lo", runtime->lo, 0.5, 1e-12);
    assert_close("runtime hi", runtime->hi, 0.5, 1e-12);
    CU_ASSERT(width_of_ends(&two->prediction, &one->prediction) > 0.5);
}

/* Few actors wait for steps, many for the GPU: the ratio varies, but less than ends. */
TEST(test_a_ratio_is_narrower_than_the_ratio_of_ends)
{
    static const double actors[] = {4, 8, 64};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("run.actor_count"), actors, 3};
    struct fulcrum_sweep_plan plan = {.axes = &axis,
        .axis_count = 1,
        .predict = {
            .solver = {.seed = 1, .method = FULCRUM_METHOD_FAST}, .draws = DRAWS}};
    struct fulcrum_design design;
    designs_gpu(&design);
    struct visited visited = sweep_beside(&design, &plan, 1);
    CU_ASSERT_EQUAL_FATAL(visited.count, 3);
    const struct fulcrum_prediction *middle = &visited.points[1].prediction;
    for (size_t i = 0; i < visited.count; i += 2) {
        const struct fulcrum_sweep_point *point = &visited.points[i];
        const struct fulcrum_ratio *speedup =
            &point->relative[FULCRUM_RELATIVE_speedup];
        const struct fulcrum_ratio *runtime =
            &point->relative[FULCRUM_RELATIVE_runtime_rel];
        assert_close("of the estimates", speedup->value,
            point->prediction.value[FULCRUM_OUTPUT_steps_per_s] /
                middle->value[FULCRUM_OUTPUT_steps_per_s],
            0.0);
        assert_close("inverse", speedup->value * runtime->value, 1.0, 1e-12);
        CU_ASSERT(speedup->lo < speedup->value && speedup->value < speedup->hi);
        CU_ASSERT(runtime->lo < runtime->value && runtime->value < runtime->hi);
        double ends = width_of_ends(&point->prediction, middle);
        CU_ASSERT(speedup->hi - speedup->lo < 0.3 * ends);
    }
}

TEST(test_without_draws_there_is_a_ratio_and_no_interval)
{
    static const double actors[] = {4, 8};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("run.actor_count"), actors, 2};
    struct fulcrum_sweep_plan plan = {.axes = &axis,
        .axis_count = 1,
        .predict = {.solver = {.seed = 1, .method = FULCRUM_METHOD_FAST}}};
    struct fulcrum_design design;
    designs_gpu(&design);
    struct visited visited = sweep_beside(&design, &plan, 0);
    CU_ASSERT_EQUAL_FATAL(visited.count, 2);
    for (size_t i = 0; i < FULCRUM_RELATIVE_COUNT; i++) {
        CU_ASSERT(visited.points[1].relative[i].value > 0.0);
        CU_ASSERT(isnan(visited.points[1].relative[i].lo));
        CU_ASSERT(isnan(visited.points[1].relative[i].hi));
    }
}

TEST(test_a_point_that_cannot_run_is_no_yardstick)
{
    static const double sms[] = {40, 81};
    const struct fulcrum_sweep_axis axis = {fulcrum_field_find("run.sm_count"), sms, 2};
    const struct fulcrum_sweep_plan plan = {.axes = &axis, .axis_count = 1};
    struct fulcrum_design design;
    designs_gpu(&design);
    struct fulcrum_scenario_inputs inputs = {.base = &design};
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_study *yardstick = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    ASSERT_FAILS(fulcrum_sweep_yardstick(scenario, &plan, 1, &yardstick, &err),
        FULCRUM_ERR_RANGE, "run.sm_count = 81");
    CU_ASSERT_PTR_NULL(yardstick);
    fulcrum_scenario_free(scenario);
}

/* Ranks 0.05 (n - 1) and 0.95 (n - 1), between neighbours in proportion. */
TEST(test_an_interval_is_that_of_the_sorted_draws)
{
    double draws[] = {
        20, 0, 1, 19, 2, 18, 3, 17, 4, 16, 5, 15, 6, 14, 7, 13, 8, 12, 9, 11, 10};
    struct fulcrum_interval interval = fulcrum_interval_of(draws, 21);
    assert_close("5 %", interval.lo, 1.0, 1e-12);
    assert_close("95 %", interval.hi, 19.0, 1e-12);
    CU_ASSERT(isnan(fulcrum_interval_of(draws, 1).lo));
    CU_ASSERT(isnan(fulcrum_interval_of(NULL, 0).hi));
    draws[7] = (double)NAN;
    CU_ASSERT(isnan(fulcrum_interval_of(draws, 21).hi));
}
