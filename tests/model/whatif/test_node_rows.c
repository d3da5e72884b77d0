/* test_node_rows.c - tables of machines with 1 to all of their GPUs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/node_rows.h"

#include <math.h>
#include <string.h>

#include "model/whatif/recommend.h"
#include "tests/support/place.h"
#include "tests/support/suite.h"

struct bench {
    struct place place;
    struct fulcrum_node_plan plan;
    struct fulcrum_result *result;
    const struct fulcrum_table *rows;
    struct fulcrum_sweep_axis axes[FULCRUM_NODE_AXES];
    double gpus[16];
    double learners[4];
};

static int go_on(void *watcher)
{
    return watcher != NULL ? *(const int *)watcher : 0;
}

static int watch(void *watcher, double done_frac)
{
    CU_ASSERT(done_frac >= 0.0 && done_frac <= 1.0);
    return watcher != NULL ? *(const int *)watcher : 0;
}

static struct bench *open_bench(const char *machine, const char *calibration)
{
    const char *sets[] = {NULL};
    static struct bench kept; /* of the case before */
    struct bench *bench = &kept;
    fulcrum_result_free(bench->result);
    place_close(&bench->place);
    bench->result = NULL;
    memset(bench->learners, 0, sizeof bench->learners);
    place_open(&bench->place, machine, "r2d2-atari", calibration, sets);
    for (size_t i = 0; i < LENGTH(bench->gpus); i++) {
        bench->gpus[i] = (double)i + 1.0;
    }
    bench->axes[FULCRUM_NODE_GPUS] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.gpu_count"), bench->gpus, LENGTH(bench->gpus)};
    bench->axes[FULCRUM_NODE_LEARNERS] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.learner_gpu_count"), bench->learners, 1};
    bench->plan = (struct fulcrum_node_plan){
        .sweep = {.axes = bench->axes,
            .predict = {.solver = {.method = FULCRUM_METHOD_FAST, .seed = 1}},
            .actors_per_thread = 6.4},
        .plateau_frac = 0.95,
        .calibration = "",
        .actors_rule = "",
        .is_stopped = go_on,
        .watch = watch};
    return bench;
}

static void take_gpus(struct bench *bench, const double *gpus, size_t count)
{
    memcpy(bench->gpus, gpus, count * sizeof *gpus);
    bench->axes[FULCRUM_NODE_GPUS].count = count;
}

static enum fulcrum_status try_rows(struct bench *bench)
{
    fulcrum_result_free(bench->result);
    bench->result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(bench->result, "rows", "");
    bench->rows = table;
    return fulcrum_node_rows_find(
        &bench->plan, &bench->place.inputs.scenario, table, NULL);
}

static void find_rows(struct bench *bench)
{
    ASSERT_OK(try_rows(bench));
}

static double number(const struct bench *bench, size_t row, const char *key)
{
    return fulcrum_table_at(bench->rows, row, key).number;
}

TEST(test_a_machine_has_a_row_for_each_of_its_gpus)
{
    struct bench *bench = open_bench("dgx-1", NULL);
    CU_ASSERT_EQUAL(
        fulcrum_node_row_count(&bench->plan, &bench->place.inputs.base.machine), 8);
    find_rows(bench);
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(bench->rows), 8);
    for (size_t i = 0; i < 8; i++) {
        double gpus = (double)i + 1.0;
        CU_ASSERT_EQUAL(number(bench, i, "gpu_count"), gpus);
        CU_ASSERT_EQUAL(number(bench, i, "thread_count"), 80.0);
        CU_ASSERT_EQUAL(number(bench, i, "cpu_gpu_ratio_machine"), 0.125);
        assert_close(
            "ratio", number(bench, i, "cpu_gpu_ratio_used"), 1.0 / gpus, 1e-12);
        /* 512 actors, rounded to what the GPUs can share. */
        double actors = number(bench, i, "actor_count");
        CU_ASSERT_EQUAL(fmod(actors, gpus), 0.0);
        CU_ASSERT(fabs(actors - 512.0) <= 0.5 * gpus);
        assert_close("relative", number(bench, i, "relative"),
            number(bench, i, "steps_per_s") / number(bench, 0, "steps_per_s"), 1e-12);
    }
}

TEST(test_rows_without_a_gpu_to_infer_are_left_out)
{
    static const double gpus[] = {1, 2, 3, 40};
    struct bench *bench = open_bench("dgx-1", NULL);
    take_gpus(bench, gpus, 4);
    bench->learners[1] = 1;
    bench->learners[2] = 2;
    bench->axes[FULCRUM_NODE_LEARNERS].count = 3;
    bench->plan.plateau_frac = (double)NAN;
    find_rows(bench);
    static const double expected[][2] = {
        {1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}};
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(bench->rows), 6);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(number(bench, i, "gpu_count"), expected[i][0]);
        CU_ASSERT_EQUAL(number(bench, i, "learner_gpu_count"), expected[i][1]);
        CU_ASSERT(isnan(number(bench, i, "threads_needed")));
    }
    bench->learners[0] = 2;
    bench->axes[FULCRUM_NODE_LEARNERS].count = 1;
    CU_ASSERT_EQUAL(
        fulcrum_node_row_count(&bench->plan, &bench->place.inputs.base.machine), 1);
}

/* What a search of its own finds: threads with each draw's parameters, from 0. */
static void search_alone(const struct bench *bench, double *threads, size_t count)
{
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_predictor *predictor = NULL;
    ASSERT_OK(fulcrum_scenario_new(&bench->place.inputs.scenario, &scenario, NULL));
    ASSERT_OK(fulcrum_predictor_new(scenario, &predictor, NULL));
    const struct fulcrum_setting two = {fulcrum_field_find("run.gpu_count"), 2, NULL};
    const struct fulcrum_thread_need_plan asked = {.settings = &two,
        .setting_count = 1,
        .plateau_frac = 0.95,
        .actors_per_thread = 6.4,
        .most_threads = 16384,
        .solver = bench->plan.sweep.predict.solver};
    for (size_t k = 0; k < count; k++) {
        struct fulcrum_thread_need found = {.thread_count = 0.0};
        ASSERT_OK(fulcrum_thread_need_find(&asked, predictor, k, &found, NULL));
        threads[k] = found.thread_count;
    }
    fulcrum_predictor_free(predictor);
    fulcrum_scenario_free(scenario);
}

/* The column beside a row holds the median of all draws, and their ends. */
TEST(test_needs_are_those_of_the_search)
{
    static const double gpus[] = {2};
    double threads[7] = {0.0};
    struct bench *bench = open_bench("dgx-1-inci2020", NULL);
    take_gpus(bench, gpus, 1);
    bench->plan.sweep.predict.draws = 6;
    find_rows(bench);
    search_alone(bench, threads, 7);
    struct fulcrum_interval interval = fulcrum_interval_among(threads + 1, 6);
    CU_ASSERT_EQUAL(number(bench, 0, "threads_needed"), interval.median);
    CU_ASSERT_EQUAL(number(bench, 0, "threads_needed_lo"), threads[1]);
    CU_ASSERT_EQUAL(number(bench, 0, "threads_needed_hi"), threads[6]);
}

/* What another program with the same equations found for eight GPUs that share 40
 * threads, beside a machine that has but one GPU: total rate 7.2 against 10.5 thousand
 * steps/s, per system joule 5.6 against 19.3. */
static void check_fall(const char *calibration)
{
    static const double gpus[] = {1, 8};
    struct bench *bench = open_bench("dgx-1-inci2020", calibration);
    take_gpus(bench, gpus, 2);
    bench->plan.plateau_frac = (double)NAN;
    find_rows(bench);
    double relative = number(bench, 1, "relative");
    double all_per_joule = number(bench, 1, "steps_per_j_system");
    /* Each GPU at a ratio of 1 against each of eight at 1/16: 14 times. */
    double starved = number(bench, 1, "steps_per_s_per_gpu");
    CU_ASSERT(relative > 0.69 * 0.85 && relative < 0.69 * 1.15);
    bench->place.inputs.base.machine.gpu.count = 1;
    take_gpus(bench, gpus, 1);
    find_rows(bench);
    double per_joule = all_per_joule / number(bench, 0, "steps_per_j_system");
    CU_ASSERT(per_joule > 0.29 * 0.75 && per_joule < 0.29 * 1.6);
    bench->place.inputs.base.machine.cpu.thread_count = 80;
    bench->place.inputs.base.machine.cpu.core_count = 40;
    find_rows(bench);
    double fed = number(bench, 0, "steps_per_s");
    CU_ASSERT(fed / starved > 14.0 * 0.8 && fed / starved < 14.0 * 1.35);
}

TEST(test_gpus_added_at_fixed_threads_cost_throughput)
{
    check_fall("v100-prior");
    check_fall("v100-inci2020");
}

/* Busy threads: what learners leave of them decides (docs/whatifs.md). */
TEST(test_the_fall_is_that_of_the_threads_left)
{
    static const double gpus[] = {1, 8};
    for (int threads = 0; threads < 6; threads++) {
        double kept = threads;
        struct bench *bench = open_bench("dgx-1-inci2020", NULL);
        take_gpus(bench, gpus, 2);
        bench->plan.plateau_frac = (double)NAN;
        /* There is room for one, where actors would stand. */
        bench->place.inputs.settings[0] = (struct fulcrum_setting){
            fulcrum_field_find("workload.host.reserved_threads"), kept, NULL};
        bench->place.inputs.scenario.setting_count = 1;
        find_rows(bench);
        double left = 40.0 - 8.0 * fmin(kept, 0.4 * 40.0 / 8.0);
        assert_close(
            "X(8) / X(1)", number(bench, 1, "relative"), left / (40.0 - kept), 0.01);
    }
}

TEST(test_ctrl_c_leaves_whole_rows)
{
    static const double gpus[] = {1, 2, 3, 4};
    struct bench *bench = open_bench("dgx-1", NULL);
    take_gpus(bench, gpus, 4);
    int stop = 1;
    bench->plan.watcher = &stop;
    CU_ASSERT_EQUAL(try_rows(bench), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_EQUAL(fulcrum_table_rows(bench->rows), 0);
}

/* A row that cannot run knows nothing but why. */
TEST(test_a_row_that_cannot_run_says_why)
{
    static const double gpus[] = {1, 3};
    const double choice = 64;
    struct bench *bench = open_bench("dgx-1", NULL);
    take_gpus(bench, gpus, 2);
    bench->plan.sweep.actors_per_thread = 0.0;
    bench->plan.sweep.actor_choices = &choice;
    bench->plan.sweep.actor_choice_count = 1;
    find_rows(bench);
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(bench->rows, 0, "status").text, "ok");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(fulcrum_table_at(bench->rows, 1, "status").text, "3 GPUs"));
    CU_ASSERT(isnan(number(bench, 1, "steps_per_s")));
    CU_ASSERT(isnan(number(bench, 1, "relative")));
}
