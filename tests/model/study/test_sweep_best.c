/* test_sweep_best.c - where a sweep is best: along each axis, and in each draw. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { RATES = 0, PER_SYSTEM_W = 2, DRAWS = 21, THREADS = 30, SIZES = 2 };

/* A grid of 2 x 30 points and 21 draws, with nothing behind them. */
struct fixture {
    double sizes[SIZES];
    double threads[THREADS];
    struct fulcrum_sweep_axis axes[2];
    struct fulcrum_sweep_plan plan;
    struct fulcrum_sweep_best *best;
    struct fulcrum_sweep_best *other;
    struct fulcrum_sweep_best *profile;
    struct fulcrum_plateau plateau;
};

static void with_grid(void (*check)(struct fixture *f))
{
    struct fixture grid = {.best = NULL};
    struct fixture *f = &grid;
    f->sizes[0] = 1.0;
    f->sizes[1] = 2.0;
    for (size_t i = 0; i < THREADS; i++) {
        f->threads[i] = 10.0 * (double)(i + 1);
    }
    f->axes[0] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.gpu_count"), f->sizes, SIZES};
    f->axes[1] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("machine.cpu.thread_count"), f->threads, THREADS};
    f->plan = (struct fulcrum_sweep_plan){
        .axes = f->axes, .axis_count = 2, .predict = {.draws = DRAWS}};
    check(f);
    fulcrum_sweep_best_free(f->best);
    fulcrum_sweep_best_free(f->other);
    fulcrum_sweep_best_free(f->profile);
}

#define GRID_TEST(function) TEST_EACH(function, with_grid, struct fixture *f)

static void start(struct fixture *f)
{
    ASSERT_OK(fulcrum_sweep_best_new(&f->plan, &f->best, NULL));
    ASSERT_OK(fulcrum_sweep_best_new(&f->plan, &f->other, NULL));
    ASSERT_OK(fulcrum_sweep_profile_new(&f->plan, &f->profile, NULL));
}

/* Draw k is best at two GPUs and 50 + 10 k threads. */
static double hill(size_t index, size_t k)
{
    double away = (double)(index % THREADS) - (double)(4 + k);
    return 1000.0 - away * away - (index < THREADS ? 400.0 : 0.0);
}

static void add_hill(struct fulcrum_sweep_best *best, size_t index)
{
    static double draws[DRAWS][FULCRUM_OUTPUT_COUNT];
    for (size_t k = 0; k < DRAWS; k++) {
        draws[k][FULCRUM_OUTPUT_steps_per_s] = hill(index, k);
        draws[k][FULCRUM_OUTPUT_steps_per_j_gpu] = (double)NAN;
        draws[k][FULCRUM_OUTPUT_steps_per_j_system] = k == 0 ? (double)NAN : 5.0;
        draws[k][FULCRUM_OUTPUT_cpu_gpu_ratio_used] =
            (double)(index % THREADS + 1) / 8.0;
    }
    fulcrum_sweep_best_add(best, index, draws[0], DRAWS);
}

/* Two threads that met the points in an order of their own. */
GRID_TEST(test_the_interval_is_that_of_the_best_points_of_the_draws)
{
    start(f);
    for (size_t i = (size_t)SIZES * THREADS; i-- > 0;) {
        add_hill(i % 3 == 0 ? f->other : f->best, i);
    }
    fulcrum_sweep_best_merge(f->best, f->other);
    /* Of 21 draws at 50, 60, .. 250, ranks 1 and 19 bound 90 %. */
    struct fulcrum_best_along along = fulcrum_sweep_best_along(f->best, RATES, 1);
    assert_close("lo", along.at.lo, 60.0, 0.0);
    assert_close("hi", along.at.hi, 240.0, 0.0);
    /* 1000 - away^2 is within 50 of 1000 up to 7 places away. */
    assert_close("first", along.first_near_frac, 4.0 / 21.0, 1e-12);
    assert_close("last", along.last_near_frac, 3.0 / 21.0, 1e-12);
    /* From places max(0, 4 + k - 7) to min(29, 4 + k + 7), ranks 1 and 19 of 21. */
    assert_close("begins at", along.plateau_first.lo, 10.0, 0.0);
    assert_close("or", along.plateau_first.hi, 170.0, 0.0);
    assert_close("ends at", along.plateau_last.lo, 130.0, 0.0);
    assert_close("or", along.plateau_last.hi, 300.0, 0.0);
    struct fulcrum_best_along spread = fulcrum_sweep_best_along(f->best, RATES, 0);
    CU_ASSERT_EQUAL(spread.draw_count, DRAWS);
    assert_close("ratio lo", spread.ratio.lo, 0.75, 0.0);
    assert_close("ratio hi", spread.ratio.hi, 3.0, 0.0);
    assert_close("value lo", spread.value.lo, 1000.0, 0.0);
    assert_close("value hi", spread.value.hi, 1000.0, 0.0);
    along = fulcrum_sweep_best_along(f->best, RATES, 0);
    assert_close("always two", along.at.lo, 2.0, 0.0);
    assert_close("one is too few", along.first_near_frac, 0.0, 0.0);
    assert_close("two are best", along.last_near_frac, 1.0, 0.0);
}

GRID_TEST(test_ties_go_to_the_first_point_and_unknowns_to_none)
{
    start(f);
    add_hill(f->best, 7);
    add_hill(f->best, 3);
    add_hill(f->other, 5);
    fulcrum_sweep_best_merge(f->best, f->other);
    /* 5 steps/J everywhere, but in the draw that cannot run. */
    struct fulcrum_best_along spread =
        fulcrum_sweep_best_along(f->best, PER_SYSTEM_W, 0);
    CU_ASSERT_EQUAL(spread.draw_count, DRAWS - 1);
    struct fulcrum_best_along along =
        fulcrum_sweep_best_along(f->best, PER_SYSTEM_W, 1);
    assert_close("first of ties", along.at.lo, 40.0, 0.0);
    assert_close("first of ties", along.at.hi, 40.0, 0.0);
    spread = fulcrum_sweep_best_along(f->best, 1, 0);
    CU_ASSERT_EQUAL(spread.draw_count, 0);
    CU_ASSERT(isnan(spread.value.lo) && isnan(spread.ratio.hi));
    CU_ASSERT(isnan(spread.last_near_frac));
    fulcrum_sweep_best_free(NULL);
}

GRID_TEST(test_a_plateau_is_what_is_near_the_best_over_the_other_axes)
{
    start(f);
    CU_ASSERT_EQUAL(
        fulcrum_sweep_profile_plateau(f->profile, RATES, 1, &f->plateau), 0);
    for (size_t i = 0; i < (size_t)SIZES * THREADS; i++) {
        struct fulcrum_sweep_point point = {.index = i};
        /* A gap: one number of threads within the plateau does badly. */
        double rate = i % THREADS == 13 ? 1.0 : hill(i, 10);
        point.prediction.value[FULCRUM_OUTPUT_steps_per_s] = rate;
        point.prediction.value[FULCRUM_OUTPUT_steps_per_j_gpu] = (double)NAN;
        point.prediction.value[FULCRUM_OUTPUT_cpu_gpu_ratio_used] =
            (double)(i % THREADS);
        fulcrum_sweep_best_add(f->profile, point.index, point.prediction.value, 1);
    }
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_sweep_profile_plateau(f->profile, RATES, 1, &f->plateau), 1);
    CU_ASSERT_EQUAL(f->plateau.best, 14);
    CU_ASSERT_EQUAL(f->plateau.first, 7);
    CU_ASSERT_EQUAL(f->plateau.last, 21);
    CU_ASSERT_EQUAL(f->plateau.count, 14);
    CU_ASSERT(f->plateau.first_run == 0 && f->plateau.last_run == THREADS - 1);
    assert_close(
        "ratio", fulcrum_sweep_profile_ratio(f->profile, RATES, 1, 14), 14.0, 0.0);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_sweep_profile_plateau(f->profile, RATES, 0, &f->plateau), 1);
    CU_ASSERT(f->plateau.best == 1 && f->plateau.first == 1 && f->plateau.count == 1);
    CU_ASSERT_EQUAL(fulcrum_sweep_profile_plateau(f->profile, 1, 1, &f->plateau), 0);
    fulcrum_sweep_best_free(NULL);
}

/* Only 30 to 80 threads can run: these are the ends. */
GRID_TEST(test_values_that_cannot_run_are_no_end)
{
    start(f);
    for (size_t i = THREADS + 7; i >= THREADS + 2; i--) {
        add_hill(i % 2 == 0 ? f->other : f->best, i);
        struct fulcrum_sweep_point point = {.index = i};
        point.prediction.value[FULCRUM_OUTPUT_steps_per_s] = hill(i, 0);
        fulcrum_sweep_best_add(f->profile, point.index, point.prediction.value, 1);
    }
    fulcrum_sweep_best_merge(f->best, f->other);
    /* The best at place 7 is all that draws 3 to 20 have; others are near it. */
    struct fulcrum_best_along along = fulcrum_sweep_best_along(f->best, RATES, 1);
    assert_close("last", along.last_near_frac, 1.0, 0.0);
    assert_close("hi", along.at.hi, 80.0, 0.0);
    CU_ASSERT(along.first_near_frac > 0.2 && along.first_near_frac < 0.5);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_sweep_profile_plateau(f->profile, RATES, 1, &f->plateau), 1);
    CU_ASSERT(f->plateau.first_run == 2 && f->plateau.last_run == 7);
    CU_ASSERT_EQUAL(f->plateau.best, 4);
}

/* 21 draws of 70000 values of three metrics are more than 4194304 numbers. */
GRID_TEST(test_where_draws_are_many_the_best_is_told_alone)
{
    static double values[70000];
    for (size_t i = 0; i < 70000; i++) {
        values[i] = (double)i;
    }
    f->axes[1].values = values;
    f->axes[1].count = 70000;
    start(f);
    add_hill(f->best, 69999);
    struct fulcrum_best_along along = fulcrum_sweep_best_along(f->best, RATES, 1);
    assert_close("the best", along.at.lo, 69999.0, 0.0);
    CU_ASSERT(isnan(along.plateau_first.lo) && isnan(along.plateau_last.hi));
    CU_ASSERT(isnan(along.first_near_frac) && isnan(along.last_near_frac));
    along = fulcrum_sweep_best_along(f->best, RATES, 0);
    assert_close("a short axis", along.plateau_last.lo, 1.0, 0.0);
}

GRID_TEST(test_a_long_axis_has_no_profile)
{
    f->axes[1].count = (size_t)FULCRUM_PROFILE_MOST + 1;
    start(f);
    struct fulcrum_sweep_point point = {.index = 1};
    point.prediction.value[FULCRUM_OUTPUT_steps_per_s] = 1.0;
    fulcrum_sweep_best_add(f->profile, point.index, point.prediction.value, 1);
    CU_ASSERT_EQUAL(
        fulcrum_sweep_profile_plateau(f->profile, RATES, 1, &f->plateau), 0);
    CU_ASSERT_EQUAL(
        fulcrum_sweep_profile_plateau(f->profile, RATES, 0, &f->plateau), 1);
}

static int ignore(void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    (void)points;
    *(size_t *)context += count;
    return 0;
}

/* 12 actors whose learner takes no time but a core: they are as fast as there are
 * threads for them, up to 13, and further threads only draw idle watts. So 13 is best
 * per system watt whatever a step takes, and though no rate is known to 20 %. */
TEST(test_the_best_is_sure_where_only_the_scale_is_not)
{
    static const double threads[] = {4, 7, 10, 13, 16, 19};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("machine.cpu.thread_count"), threads, 6};
    struct fulcrum_sweep_plan plan = {.axes = &axis,
        .axis_count = 1,
        .predict = {.solver = {.seed = 1, .method = FULCRUM_METHOD_FAST}, .draws = 80},
        .thread_count = 2};
    struct fulcrum_design design = cpu_design();
    design.workload.network.per_batch_s = 1e-8;
    design.workload.network.per_item_s = 1e-9;
    design.run.actor_count = 12;
    struct fulcrum_calibration *calibration =
        designs_calibration(&design, "workload.step.mean_s", 1e-3, 2e-4);
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_scenario_inputs inputs = {
        .base = &design, .calibrations = calibrations, .calibration_count = 1};
    struct fulcrum_scenario *scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    struct fulcrum_sweep_best *best = NULL;
    ASSERT_OK(fulcrum_sweep_best_new(&plan, &best, NULL));
    size_t visited = 0;
    const struct fulcrum_sweep_visitor visitor = {.context = &visited, .visit = ignore};
    plan.best = best;
    ASSERT_OK(fulcrum_sweep_run(scenario, &plan, &visitor, NULL));
    struct fulcrum_best_along along = fulcrum_sweep_best_along(best, PER_SYSTEM_W, 0);
    assert_close("lo", along.at.lo, 13.0, 0.0);
    assert_close("hi", along.at.hi, 13.0, 0.0);
    assert_close("few", along.first_near_frac, 0.0, 0.0);
    assert_close(
        "fast", fulcrum_sweep_best_along(best, RATES, 0).last_near_frac, 1.0, 0.0);
    struct fulcrum_best_along spread = fulcrum_sweep_best_along(best, PER_SYSTEM_W, 0);
    CU_ASSERT_EQUAL(spread.draw_count, 80);
    CU_ASSERT(spread.value.hi > 1.5 * spread.value.lo);
    CU_ASSERT(isnan(spread.ratio.lo)); /* no GPU, no ratio */
    fulcrum_sweep_best_free(best);
    fulcrum_scenario_free(scenario);
    fulcrum_calibration_free(calibration);
}
