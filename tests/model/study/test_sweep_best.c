/* test_sweep_best.c - where a sweep is best: along an axis, in each draw, in words. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/number.h"
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

static int ignore(
    void *context, size_t slot, const struct fulcrum_sweep_point *points, size_t count)
{
    (void)slot;
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

enum { PLACES = 10 };

static const double thread_counts[PLACES] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80};

static struct fulcrum_sweep_point point_of(size_t index, double rate, double ratio)
{
    struct fulcrum_sweep_point point = {.index = index, .status = FULCRUM_OK};
    point.prediction.value[FULCRUM_OUTPUT_steps_per_s] = rate;
    point.prediction.value[FULCRUM_OUTPUT_cpu_gpu_ratio_used] = ratio;
    return point;
}

/* Of an axis too long for a profile the best point is told, and no plateau. */
TEST(test_the_best_point_of_a_long_axis_is_told)
{
    enum { COUNT = FULCRUM_PROFILE_MOST + 1, BEST = 40000 };
    struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("machine.cpu.thread_count"), NULL, COUNT};
    const struct fulcrum_sweep_plan plan = {.axes = &axis, .axis_count = 1};
    struct fulcrum_sweep_finding *finding = NULL;
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    ASSERT_OK(fulcrum_sweep_finding_new(&plan, &finding, NULL));
    fulcrum_sweep_finding_tell(finding, result); /* no point can run */
    CU_ASSERT_EQUAL(fulcrum_table_rows(fulcrum_result_table_of(result, "optima")), 0);
    fulcrum_result_free(result);
    result = fulcrum_result_new(NULL);
    for (size_t i = 0; i < COUNT; i++) {
        struct fulcrum_sweep_point point =
            point_of(i, 1000.0 - fabs((double)i - BEST) / 100.0, 0.5);
        point.varied[0] = (double)i;
        point.prediction.actor_count = 7.0;
        point.prediction.value[FULCRUM_OUTPUT_steps_per_j_gpu] = FULCRUM_UNKNOWN;
        fulcrum_sweep_finding_add(finding, &point, 1);
    }
    struct fulcrum_sweep_point bad = point_of(0, 1e9, 0.5);
    bad.status = FULCRUM_ERR_INFEASIBLE;
    fulcrum_sweep_finding_add(finding, &bad, 1);
    fulcrum_sweep_finding_tell(finding, result);
    const struct fulcrum_table *table = fulcrum_result_table_of(result, "optima");
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(table), 1); /* nothing else is above 0 */
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(table, 0, "metric").text, "throughput");
    CU_ASSERT_EQUAL(fulcrum_table_at(table, 0, "value").number, 1000.0);
    CU_ASSERT_EQUAL(fulcrum_table_at(table, 0, "best").number, BEST);
    CU_ASSERT_EQUAL(fulcrum_table_at(table, 0, "best_ratio").number, 0.5);
    CU_ASSERT_EQUAL(fulcrum_table_at(table, 0, "actor_count").number, 7.0);
    CU_ASSERT(isnan(fulcrum_table_at(table, 0, "plateau_first").number));
    fulcrum_result_free(result);
    fulcrum_sweep_finding_free(finding);
    fulcrum_sweep_finding_free(NULL);
}

/* What there is to say of throughput along ten numbers of threads; two draws are as
 * fast as the estimate, and twice as fast. */
static struct fulcrum_result *optima_of(const double *rates, bool has_draws)
{
    struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("machine.cpu.thread_count"), thread_counts, PLACES};
    struct fulcrum_sweep_plan plan = {
        .axes = &axis, .axis_count = 1, .predict = {.draws = has_draws ? 2.0 : 0.0}};
    struct fulcrum_sweep_best *best = NULL;
    struct fulcrum_sweep_finding *finding = NULL;
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    if (has_draws) {
        ASSERT_OK(fulcrum_sweep_best_new(&plan, &best, NULL));
        plan.best = best;
    }
    ASSERT_OK(fulcrum_sweep_finding_new(&plan, &finding, NULL));
    for (size_t i = 0; i < PLACES; i++) {
        struct fulcrum_sweep_point point =
            point_of(i, rates[i], thread_counts[i] / 80.0);
        point.prediction.method =
            i == 0 ? FULCRUM_METHOD_SIMULATE : FULCRUM_METHOD_FAST;
        point.varied[0] = thread_counts[i];
        fulcrum_sweep_finding_add(finding, &point, 1);
        double both[2][FULCRUM_OUTPUT_COUNT];
        memcpy(both[0], point.prediction.value, sizeof both[0]);
        memcpy(both[1], point.prediction.value, sizeof both[1]);
        both[1][FULCRUM_OUTPUT_steps_per_s] *= 2.0;
        if (has_draws) {
            fulcrum_sweep_best_add(best, i, both[0], 2);
        }
    }
    fulcrum_sweep_finding_tell(finding, result);
    fulcrum_sweep_finding_free(finding);
    fulcrum_sweep_best_free(best);
    return result;
}

TEST(test_a_plateau_is_not_called_an_optimum)
{
    static const struct {
        double rates[PLACES];
        const char *shape;
        double best;
        double first;
        double last;
        double count;
    } cases[] = {
        {{1, 2, 3, 9.6, 10, 9.5, 8, 7, 6, 5}, "optimum", 40, 32, 48, 3},
        {{1, 2, 3, 9.6, 9, 9.5, 8, 7, 10, 5}, "optimum", 72, 32, 72, 3}, /* gaps */
        {{1, 2, 3, 4, 5, 6, 7, 9.6, 10, 9.9}, "plateau-to-last", 72, 64, 80, 3},
        {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "rises", 80, 80, 80, 1},
        {{10, 9.9, 3, 4, 5, 6, 7, 8, 9, 9.4}, "plateau-from-first", 8, 8, 16, 2},
        {{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, "falls", 8, 8, 8, 1},
        {{10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, "flat", 8, 8, 80, 10},
    };
    for (size_t i = 0; i < 2 * LENGTH(cases); i++) {
        bool has_draws = i % 2 == 1;
        struct fulcrum_result *result = optima_of(cases[i / 2].rates, has_draws);
        const struct fulcrum_table *table = fulcrum_result_table_of(result, "optima");
        CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(table), 1); /* of one metric */
        CU_ASSERT_STRING_EQUAL(
            fulcrum_table_at(table, 0, "shape").text, cases[i / 2].shape);
        const struct {
            const char *keys[2];
            double value;
        } places[] = {{{"best", "best_ratio"}, cases[i / 2].best},
            {{"plateau_first", "plateau_first_ratio"}, cases[i / 2].first},
            {{"plateau_last", "plateau_last_ratio"}, cases[i / 2].last}};
        for (size_t k = 0; k < LENGTH(places); k++) {
            struct fulcrum_cell at = fulcrum_table_at(table, 0, places[k].keys[0]);
            struct fulcrum_cell ratio = fulcrum_table_at(table, 0, places[k].keys[1]);
            assert_close("place", at.number, places[k].value, 0.0);
            assert_close("place", ratio.number, places[k].value / 80.0, 1e-12);
            /* All draws are best where the estimate is. */
            CU_ASSERT_EQUAL(isfinite(at.lo), has_draws);
            CU_ASSERT(!has_draws || (at.lo == at.number && at.hi == at.number));
            CU_ASSERT(
                !has_draws || (ratio.lo == ratio.number && ratio.hi == ratio.number));
        }
        assert_close("plateau_value_count",
            fulcrum_table_at(table, 0, "plateau_value_count").number,
            cases[i / 2].count, 0.0);
        double near_frac = fulcrum_table_at(table, 0, "last_near_frac").number;
        CU_ASSERT(has_draws ? near_frac == (cases[i / 2].last == 80.0 ? 1.0 : 0.0)
                            : isnan(near_frac));
        /* One point was simulated: its draws are noisy. */
        CU_ASSERT_EQUAL(fulcrum_result_find(result, "notes") != NULL, has_draws);
        fulcrum_result_free(result);
    }
}

/* An axis of one value has no best; two axes have a row each. */
TEST(test_optima_along_two_axes)
{
    static const double times[] = {0.5, 1, 2, 4};
    static const double rates[] = {5, 9.7, 10, 3};
    for (size_t count = 1; count <= 2; count++) {
        struct fulcrum_sweep_axis axes[] = {
            {fulcrum_field_find("machine.cpu.thread_count"), thread_counts, count},
            {fulcrum_field_find("workload.step.mean_s"), times, 4}};
        struct fulcrum_sweep_plan plan = {.axes = axes, .axis_count = 2};
        struct fulcrum_sweep_finding *finding = NULL;
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        ASSERT_OK(fulcrum_sweep_finding_new(&plan, &finding, NULL));
        for (size_t i = 0; i < 4 * count; i++) {
            struct fulcrum_sweep_point point = point_of(i, rates[i % 4], 0.5);
            point.varied[0] = thread_counts[i / 4];
            point.varied[1] = times[i % 4];
            fulcrum_sweep_finding_add(finding, &point, 1);
        }
        fulcrum_sweep_finding_tell(finding, result);
        const struct fulcrum_table *table = fulcrum_result_table_of(result, "optima");
        CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(table), count);
        size_t last = count - 1;
        CU_ASSERT_STRING_EQUAL(
            fulcrum_table_at(table, last, "path").text, "workload.step.mean_s");
        CU_ASSERT_STRING_EQUAL(
            fulcrum_table_at(table, last, "output").text, "steps_per_s");
        assert_close("best", fulcrum_table_at(table, last, "best").number, 2.0, 0.0);
        assert_close("plateau_first",
            fulcrum_table_at(table, last, "plateau_first").number, 1.0, 0.0);
        assert_close("plateau_last",
            fulcrum_table_at(table, last, "plateau_last").number, 2.0, 0.0);
        assert_close(
            "best_ratio", fulcrum_table_at(table, last, "best_ratio").number, 0.5, 0.0);
        CU_ASSERT_STRING_EQUAL(
            fulcrum_table_at(table, 0, "shape").text, count == 1 ? "optimum" : "flat");
        fulcrum_result_free(result);
        fulcrum_sweep_finding_free(finding);
    }
}
