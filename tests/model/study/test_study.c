/* test_study.c - designs side by side against a loop written by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/study.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>

#include "model/parallel.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { DESIGNS = 3, DRAWS = 30, VALUES = 3 };

static const enum fulcrum_predicted outputs[] = {
    FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_gpu_w, FULCRUM_OUTPUT_COUNT};

/* One GPU under uncertain steps, with three numbers of actors. */
struct bench {
    struct fulcrum_design base;
    struct fulcrum_prior prior;
    struct fulcrum_scenario *scenario;
    struct fulcrum_setting settings[DESIGNS];
    struct fulcrum_point designs[DESIGNS];
    struct fulcrum_study_plan plan;
    struct fulcrum_study *study;
};

/* The third value: a field of each draw's own design. */
static void add_step_time(void *context, struct fulcrum_study *study, size_t index,
    size_t draw, const struct fulcrum_design *design)
{
    (void)context;
    fulcrum_study_at(study, index, draw)[2] = design->workload.step.mean_s;
}

/* A new one, in place of the last but one. */
static struct bench *start(void)
{
    static struct bench benches[2];
    static size_t started = 0;
    static const double actors[DESIGNS] = {4, 16, 64};
    struct bench *bench = &benches[started++ % 2];
    fulcrum_study_free(bench->study);
    fulcrum_scenario_free(bench->scenario);
    *bench = (struct bench){.base = gpu_design(),
        .prior = {fulcrum_field_find("workload.step.mean_s"), 1.5}};
    const struct fulcrum_scenario_inputs inputs = {
        .base = &bench->base, .priors = &bench->prior, .prior_count = 1};
    ASSERT_OK(fulcrum_scenario_new(&inputs, &bench->scenario, NULL));
    for (size_t i = 0; i < DESIGNS; i++) {
        bench->settings[i] = (struct fulcrum_setting){
            fulcrum_field_find("run.actor_count"), actors[i], NULL};
        bench->designs[i] = (struct fulcrum_point){&bench->settings[i], 1, 0, 0};
    }
    bench->plan = (struct fulcrum_study_plan){.scenario = bench->scenario,
        .designs = bench->designs,
        .design_count = DESIGNS,
        .outputs = outputs,
        .value_count = VALUES,
        .predict = {.solver = {.method = FULCRUM_METHOD_FAST, .seed = 7},
            .draws = DRAWS},
        .add = add_step_time};
    return bench;
}

static void run(struct bench *bench)
{
    ASSERT_OK(fulcrum_study_run(&bench->plan, &bench->study, NULL));
}

/* One design in one draw, predicted alone. */
static void predict_alone(
    const struct bench *bench, size_t design, size_t draw, double values[VALUES])
{
    struct fulcrum_point point = bench->designs[design];
    struct fulcrum_predict_options options = bench->plan.predict;
    struct fulcrum_prediction prediction;
    struct fulcrum_design made;
    options.draws = 0.0;
    point.draw = draw;
    point.seed = options.solver.seed;
    ASSERT_OK(fulcrum_predict(bench->scenario, &point, &options, &prediction, NULL));
    ASSERT_OK(fulcrum_scenario_design(bench->scenario, &point, &made, NULL));
    values[0] = prediction.value[outputs[0]];
    values[1] = prediction.value[outputs[1]];
    values[2] = made.workload.step.mean_s;
}

TEST(test_cells_are_those_of_a_loop)
{
    struct bench *bench = start();
    run(bench);
    for (size_t i = 0; i < DESIGNS; i++) {
        for (size_t k = 0; k <= DRAWS; k++) {
            double alone[VALUES];
            predict_alone(bench, i, k, alone);
            const double *cells = fulcrum_study_at(bench->study, i, k);
            const double *fit = bench->study->predictions[i].at_fit;
            double rate = k > 0 ? cells[0] : fit[outputs[0]];
            double watts = k > 0 ? cells[1] : fit[outputs[1]];
            CU_ASSERT_EQUAL(rate, alone[0]);
            /* Watts of this machine may not be known. */
            CU_ASSERT(watts == alone[1] || (isnan(watts) && isnan(alone[1])));
            CU_ASSERT_EQUAL(cells[2], alone[2]);
        }
        CU_ASSERT_EQUAL(
            bench->study->predictions[i].actor_count, bench->settings[i].number);
    }
}

/* The 5 and 95 % quantiles of numbers, sorted here. */
static void check_interval(
    const char *what, struct fulcrum_ratio told, double *draws, size_t count)
{
    gsl_sort(draws, 1, count);
    assert_close(what, told.lo,
        gsl_stats_quantile_from_sorted_data(draws, 1, count, 0.05), 1e-15);
    assert_close(what, told.hi,
        gsl_stats_quantile_from_sorted_data(draws, 1, count, 0.95), 1e-15);
    assert_close(what, told.value,
        gsl_stats_quantile_from_sorted_data(draws, 1, count, 0.5), 1e-15);
}

TEST(test_ratios_are_taken_within_draws)
{
    double values[DRAWS];
    double ratios[DRAWS];
    double one[VALUES];
    double other[VALUES];
    struct bench *bench = start();
    run(bench);
    for (size_t k = 1; k <= DRAWS; k++) {
        predict_alone(bench, 0, k, one);
        predict_alone(bench, 2, k, other);
        values[k - 1] = other[0];
        ratios[k - 1] = other[0] / one[0];
    }
    struct fulcrum_ratio value = fulcrum_study_value(bench->study, 2, 0);
    struct fulcrum_ratio ratio = fulcrum_study_ratio(bench->study, 2, 0, 0);
    check_interval("value", value, values, DRAWS);
    check_interval("ratio", ratio, ratios, DRAWS);
    /* What both do not know of a step cancels. */
    CU_ASSERT(ratio.hi / ratio.lo < value.hi / value.lo);
}

/* Whether draw k of design 1 is below that of design 0, NAN where either is. */
static double is_below(const void *context, size_t draw)
{
    const struct fulcrum_study *study = context;
    double lead = *fulcrum_study_at(study, 0, draw) - *fulcrum_study_at(study, 1, draw);
    return isnan(lead) ? lead : (double)(lead > 0.0);
}

/* A draw that cannot run is neither in an interval nor in a share. */
TEST(test_draws_that_cannot_run_are_left_out)
{
    static const double cells[2][5] = {
        {3.0, 1.0, 2.0, 3.0, 4.0}, {6.0, 0.5, (double)NAN, 9.0, 2.0}};
    struct fulcrum_study *study = NULL;
    ASSERT_OK(fulcrum_study_new(2, 1, 4, &study, NULL));
    CU_ASSERT(isnan(*fulcrum_study_at(study, 1, 4)));
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 5; k++) {
            *fulcrum_study_at(study, i, k) = cells[i][k];
        }
    }
    assert_close("share", fulcrum_study_share(study, is_below, study), 2.0 / 3, 1e-15);
    double ratios[] = {0.5, 3.0, 0.5};
    struct fulcrum_ratio ratio = fulcrum_study_ratio(study, 1, 0, 0);
    CU_ASSERT_EQUAL(ratio.value, 0.5);
    CU_ASSERT_EQUAL(study->column_count, 3);
    check_interval("ratio", ratio, ratios, 3);
    fulcrum_study_free(study);
    fulcrum_study_free(NULL);
}

/* Won, lost, a tie, and a draw that one cannot run. */
TEST(test_a_duel_counts_draws)
{
    static const double cells[2][5] = {
        {1.0, 3.0, 1.0, 2.0, 5.0}, {1.0, 2.0, 4.0, 2.0, (double)NAN}};
    struct fulcrum_study *study = NULL;
    ASSERT_OK(fulcrum_study_new(2, 1, 4, &study, NULL));
    CU_ASSERT(isnan(fulcrum_study_beats(study, 0, 1, 0, true)));
    for (size_t k = 0; k < 5; k++) {
        *fulcrum_study_at(study, 0, k) = cells[0][k];
        *fulcrum_study_at(study, 1, k) = cells[1][k];
    }
    CU_ASSERT_EQUAL(fulcrum_study_beats(study, 0, 1, 0, true), 0.5);
    *fulcrum_study_at(study, 0, 2) = 5.0;
    assert_close("more", fulcrum_study_beats(study, 0, 1, 0, true), 2.5 / 3, 1e-15);
    assert_close("less", fulcrum_study_beats(study, 0, 1, 0, false), 0.5 / 3, 1e-15);
    fulcrum_study_free(study);
}

static int stop_at_two_thirds(void *watcher, double done_frac)
{
    (*(int *)watcher)++;
    return done_frac > 0.6;
}

TEST(test_work_can_be_stopped_and_refused)
{
    int calls = 0;
    struct bench *bench = start();
    bench->plan.watch = stop_at_two_thirds;
    bench->plan.watcher = &calls;
    CU_ASSERT_EQUAL(
        fulcrum_study_run(&bench->plan, &bench->study, NULL), FULCRUM_ERR_INTERRUPTED);
    /* One design after the other, or the first two or three at the same time. */
    CU_ASSERT_EQUAL(calls, fulcrum_parallel_threads() == 1 ? 2 : 1);
    CU_ASSERT_PTR_NULL(bench->study);
    bench->settings[1] =
        (struct fulcrum_setting){fulcrum_field_find("run.sm_count"), 1e5, NULL};
    ASSERT_FAILS(fulcrum_study_run(&bench->plan, &bench->study, &err),
        FULCRUM_ERR_RANGE, "run.sm_count");
}
