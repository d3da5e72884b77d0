/* test_sweep_finding.c - the best points of a sweep, optima and plateaus. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "model/study/sweep.h"
#include "tests/support/suite.h"

enum { PLACES = 10 };

static const double threads[PLACES] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80};

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
        fulcrum_field_find("machine.cpu.thread_count"), threads, PLACES};
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
        struct fulcrum_sweep_point point = point_of(i, rates[i], threads[i] / 80.0);
        point.prediction.method =
            i == 0 ? FULCRUM_METHOD_SIMULATE : FULCRUM_METHOD_FAST;
        point.varied[0] = threads[i];
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
            {fulcrum_field_find("machine.cpu.thread_count"), threads, count},
            {fulcrum_field_find("workload.step.mean_s"), times, 4}};
        struct fulcrum_sweep_plan plan = {.axes = axes, .axis_count = 2};
        struct fulcrum_sweep_finding *finding = NULL;
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        ASSERT_OK(fulcrum_sweep_finding_new(&plan, &finding, NULL));
        for (size_t i = 0; i < 4 * count; i++) {
            struct fulcrum_sweep_point point = point_of(i, rates[i % 4], 0.5);
            point.varied[0] = threads[i / 4];
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
