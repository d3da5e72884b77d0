/* test_cluster_study.c - rows of `fulcrum cluster` beside the model and predictions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/cluster_study.h"

#include <math.h>
#include <stdbool.h>

#include "tests/support/designs.h"
#include "tests/support/suite.h"

static const double devices[] = {1, 2, 3, 4, 8, 16, 64, 256};
static const double parts[] = {1, 2, 4};

enum { DEVICES = 8, PARTS = 3, SCALINGS = 2, DRAWS = 60, PRIORS = 3 };

/* R2D2-like training on machines of eight GPUs. */
static struct fulcrum_design trains_on_eight(void)
{
    struct fulcrum_design design = gpu_design();
    designs_set(&design,
        "workload.network.parameter_count=25e6 workload.training.batch_size=64 "
        "workload.training.env_steps_per_train_step=64 "
        "workload.training.train_step_s=0.05 "
        "workload.training.critical_batch_size=1000 "
        "workload.training.model_parallel_frac=0.8");
    design.machine.link = (struct fulcrum_link){.peer_byte_per_s = 150e9,
        .peer_latency_s = 3.4e-6,
        .network_byte_per_s = 12.5e9,
        .network_latency_s = 14e-6};
    return design;
}

/* A plan of everything above, and the scenario that it borrows. */
struct job {
    struct fulcrum_design design;
    struct fulcrum_scenario *scenario;
    struct fulcrum_cluster_plan plan;
    struct fulcrum_cluster_rows rows;
    struct fulcrum_prior priors[PRIORS];
};

/* The scenario of the design as it is now, with the first priors. */
static void renew(struct job *job, size_t prior_count)
{
    const struct fulcrum_scenario_inputs inputs = {
        .base = &job->design, .priors = job->priors, .prior_count = prior_count};
    fulcrum_scenario_free(job->scenario);
    ASSERT_OK(fulcrum_scenario_new(&inputs, &job->scenario, NULL));
    job->plan.scenario = job->scenario;
}

/* A new one, in place of the last but one. */
static struct job *start(void)
{
    static struct job jobs[2];
    static size_t started = 0;
    struct job *job = &jobs[started++ % 2];
    fulcrum_cluster_rows_clear(&job->rows);
    fulcrum_scenario_free(job->scenario);
    *job = (struct job){.design = trains_on_eight()};
    job->plan = (struct fulcrum_cluster_plan){.design = &job->design,
        .predict = {.solver = {.method = FULCRUM_METHOD_FAST, .seed = 1}},
        .steps_alone = true,
        .actors_per_gpu = 1,
        .speedup_2 = (double)NAN,
        .devices = {devices, DEVICES},
        .parts = {parts, PARTS},
        .scalings = {FULCRUM_BATCH_WEAK, FULCRUM_BATCH_STRONG},
        .scaling_count = SCALINGS};
    renew(job, 0);
    return job;
}

static void run(struct job *job)
{
    ASSERT_OK(fulcrum_cluster_rows_find(&job->plan, &job->rows, NULL));
}

static struct job *ran(void)
{
    struct job *job = start();
    run(job);
    return job;
}

static double value_of(const struct fulcrum_cluster_rows *rows, size_t row,
    enum fulcrum_cluster_value value)
{
    return fulcrum_cluster_value(rows, row, value).value;
}

/* Each row is what the model makes of the design's own training. */
TEST(test_rows_are_those_of_the_model)
{
    struct job *job = ran();
    for (size_t i = 0; i < job->rows.count; i++) {
        const struct fulcrum_cluster_row *row = &job->rows.rows[i];
        struct fulcrum_cluster cluster = fulcrum_cluster_of(&job->design, 0.05);
        cluster.scaling = (enum fulcrum_batch_scaling)row->scaling;
        struct fulcrum_cluster_step step =
            fulcrum_cluster_step_of(&cluster, &row->layout);
        assert_close("step", value_of(&job->rows, i, FULCRUM_CLUSTER_TRAIN_STEP),
            step.step_s, 1e-14);
        assert_close("rate", value_of(&job->rows, i, FULCRUM_CLUSTER_STEPS_PER_S),
            step.samples_per_s, 1e-12);
        assert_close("speed-up", value_of(&job->rows, i, FULCRUM_CLUSTER_SPEEDUP),
            step.speedup, 1e-12);
        assert_close("quality",
            value_of(&job->rows, i, FULCRUM_CLUSTER_QUALITY_SPEEDUP),
            step.quality_speedup, 1e-12);
        assert_close("time", value_of(&job->rows, i, FULCRUM_CLUSTER_QUALITY_RUNTIME),
            value_of(&job->rows, i, FULCRUM_CLUSTER_RUNTIME) * step.epochs_rel, 1e-12);
        assert_close("devices", row->layout.node_count * row->layout.node_device_count,
            row->device_count, 1e-15);
    }
    CU_ASSERT_EQUAL(job->rows.is_by_quality, 1);
}

/* What cannot be laid out is counted: 1 and 3 GPUs for workers of 2, 1, 2, 3 for 4, and
 * more workers than the batch has samples. */
TEST(test_what_does_not_fit_is_left_out)
{
    struct job *job = ran();
    size_t strong_too_many = 2; /* 256 and 128 workers on 256 GPUs */
    CU_ASSERT_EQUAL(job->rows.count + job->rows.left_out_count,
        job->plan.devices.count * PARTS * SCALINGS);
    CU_ASSERT_EQUAL(job->rows.left_out_count, 10 + strong_too_many);
}

TEST(test_the_crossover_is_the_models)
{
    struct job *job = ran();
    const struct fulcrum_cluster cluster = fulcrum_cluster_of(&job->design, 0.05);
    CU_ASSERT_EQUAL_FATAL(job->rows.crossover_count, 4);
    /* Weak scaling comes first, then strong. */
    for (size_t i = 0; i < 2; i++) {
        const struct fulcrum_cluster_crossover *found = &job->rows.crossovers[i];
        double expected =
            designs_crossover(&cluster, 8, found->part_count, devices, DEVICES);
        CU_ASSERT_EQUAL(found->scaling, FULCRUM_BATCH_WEAK);
        CU_ASSERT_EQUAL(found->device_count.value, expected);
    }
}

/* Rows marked as best among those with as many GPUs as `row`; none is done sooner. */
static size_t count_best(const struct fulcrum_cluster_rows *rows, size_t at)
{
    const struct fulcrum_cluster_row *row = &rows->rows[at];
    size_t best = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_cluster_row *other = &rows->rows[i];
        bool is_rival = other->scaling == row->scaling &&
                        fabs(other->device_count - row->device_count) < 0.5;
        best += is_rival && other->is_best ? 1 : 0;
        CU_ASSERT_FALSE(is_rival && row->is_best &&
                        value_of(rows, i, FULCRUM_CLUSTER_QUALITY_RUNTIME) <
                            value_of(rows, at, FULCRUM_CLUSTER_QUALITY_RUNTIME));
    }
    return best;
}

TEST(test_one_way_is_best)
{
    struct job *job = ran();
    for (size_t i = 0; i < job->rows.count; i++) {
        CU_ASSERT_EQUAL(count_best(&job->rows, i), 1);
    }
}

TEST(test_without_a_critical_batch_steps_decide)
{
    struct job *job = start();
    job->design.workload.training.critical_batch_size = (double)NAN;
    renew(job, 0);
    job->plan.scaling_count = 1;
    run(job);
    CU_ASSERT_EQUAL(job->rows.is_by_quality, 0);
    for (size_t i = 0; i < job->rows.crossover_count; i++) {
        CU_ASSERT_TRUE(isnan(job->rows.crossovers[i].device_count.value));
    }
}

/* Runs 1 and 16 GPUs with ten actors each; the last row, predicted by its fields. */
static struct fulcrum_prediction run_whole(struct job *job)
{
    static const double counts[] = {1, 16};
    job->plan.steps_alone = false;
    job->plan.actors_per_gpu = 10;
    job->plan.devices = (struct fulcrum_cluster_counts){counts, 2};
    job->plan.parts.count = 1;
    job->plan.scaling_count = 1;
    run(job);
    const struct fulcrum_setting settings[] = {
        {fulcrum_field_find("run.node_count"), 2, NULL},
        {fulcrum_field_find("run.gpu_count"), 8, NULL},
        {fulcrum_field_find("run.actor_count"), 80, NULL}};
    const struct fulcrum_point point = {settings, 3, 0, 0};
    struct fulcrum_prediction prediction = {.draws = 0};
    ASSERT_OK(
        fulcrum_predict(job->scenario, &point, &job->plan.predict, &prediction, NULL));
    return prediction;
}

/* Whole runs are the predictions of the same fields. */
TEST(test_whole_runs_are_predictions)
{
    struct job *job = start();
    struct fulcrum_prediction prediction = run_whole(job);
    CU_ASSERT_EQUAL_FATAL(job->rows.count, 2);
    assert_close("rate", value_of(&job->rows, 1, FULCRUM_CLUSTER_STEPS_PER_S),
        prediction.value[FULCRUM_OUTPUT_steps_per_s], 1e-12);
    assert_close("all-reduce", value_of(&job->rows, 1, FULCRUM_CLUSTER_ALLREDUCE),
        prediction.value[FULCRUM_OUTPUT_allreduce_s], 1e-12);
    /* Actors are slower than training: fewer steps than training steps alone. */
    CU_ASSERT_TRUE(
        value_of(&job->rows, 0, FULCRUM_CLUSTER_STEPS_PER_S) <= 64 / 0.05 * (1 + 1e-9));
}

static int stop_at_once(void *user, double done_frac)
{
    (void)user;
    (void)done_frac;
    return 1;
}

TEST(test_failures_are_told)
{
    static const double odd = 3;
    struct job *job = start();
    job->plan.watch = stop_at_once;
    CU_ASSERT_EQUAL(fulcrum_cluster_rows_find(&job->plan, &job->rows, NULL),
        FULCRUM_ERR_INTERRUPTED);
    fulcrum_cluster_rows_clear(&job->rows);
    job->plan.watch = NULL;
    job->plan.devices = (struct fulcrum_cluster_counts){&odd, 1};
    job->plan.parts = (struct fulcrum_cluster_counts){&parts[1], 1};
    CU_ASSERT_EQUAL(
        fulcrum_cluster_rows_find(&job->plan, &job->rows, NULL), FULCRUM_ERR_NO_FIT);
}

/* Draws. */

/* The same plan where a step, the critical batch and the network are not known well. */
static struct job *start_drawn(void)
{
    struct job *job = start();
    job->priors[0] = (struct fulcrum_prior){
        fulcrum_field_find("workload.training.train_step_s"), 1.6};
    job->priors[1] = (struct fulcrum_prior){
        fulcrum_field_find("workload.training.critical_batch_size"), 3.0};
    job->priors[2] = (struct fulcrum_prior){
        fulcrum_field_find("machine.link.network_byte_per_s"), 2.0};
    renew(job, PRIORS);
    job->plan.predict.draws = DRAWS;
    return job;
}

/* The training of draw k, by the model alone. */
static struct fulcrum_cluster cluster_in(const struct job *job, size_t k)
{
    struct fulcrum_design design;
    const struct fulcrum_point point = {NULL, 0, k, job->plan.predict.solver.seed};
    ASSERT_OK(fulcrum_scenario_design(job->scenario, &point, &design, NULL));
    return fulcrum_cluster_of(&design, design.workload.training.train_step_s);
}

TEST(test_without_draws_there_are_no_intervals)
{
    struct job *job = ran();
    CU_ASSERT_EQUAL(job->rows.study->draw_count, 0);
    for (size_t i = 0; i < job->rows.count; i++) {
        const struct fulcrum_cluster_row *row = &job->rows.rows[i];
        CU_ASSERT(
            isnan(fulcrum_cluster_value(&job->rows, i, FULCRUM_CLUSTER_SPEEDUP).lo));
        CU_ASSERT(isnan(row->best_frac) && isnan(row->sooner_frac));
        CU_ASSERT(isnan(row->gain.lo));
        /* The estimate of the gain needs no draws, but something to gain on. */
        size_t plain = fulcrum_cluster_plain_of(&job->rows, i);
        bool has_plain = plain < job->rows.count && plain != i;
        CU_ASSERT_EQUAL(isfinite(row->gain.value) != 0, has_plain);
    }
    for (size_t i = 0; i < job->rows.crossover_count; i++) {
        CU_ASSERT(isnan(job->rows.crossovers[i].device_count.lo));
        CU_ASSERT(isnan(job->rows.crossovers[i].found_frac));
    }
}

/* Which row is best is asked of the best fit. */
TEST(test_draws_leave_the_best_alone)
{
    struct job *plain = ran();
    struct job *drawn = start_drawn();
    run(drawn);
    CU_ASSERT_EQUAL_FATAL(plain->rows.count, drawn->rows.count);
    for (size_t i = 0; i < plain->rows.count; i++) {
        CU_ASSERT_EQUAL(plain->rows.rows[i].is_best, drawn->rows.rows[i].is_best);
    }
}

/* Rates and how often a row beats data-parallel training, one draw after the other. */
static void check_row(const struct job *job, size_t at)
{
    const struct fulcrum_cluster_row *row = &job->rows.rows[at];
    const struct fulcrum_cluster_row *plain =
        &job->rows.rows[fulcrum_cluster_plain_of(&job->rows, at)];
    double rates[DRAWS];
    double gains[DRAWS];
    size_t sooner = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        struct fulcrum_cluster cluster = cluster_in(job, k + 1);
        struct fulcrum_cluster_step own =
            fulcrum_cluster_step_of(&cluster, &row->layout);
        struct fulcrum_cluster_step other =
            fulcrum_cluster_step_of(&cluster, &plain->layout);
        rates[k] = own.samples_per_s;
        gains[k] = own.quality_speedup / other.quality_speedup;
        sooner += gains[k] > 1.0;
    }
    struct fulcrum_interval rate = fulcrum_interval_of(rates, DRAWS);
    struct fulcrum_interval gain = fulcrum_interval_of(gains, DRAWS);
    struct fulcrum_ratio told =
        fulcrum_cluster_value(&job->rows, at, FULCRUM_CLUSTER_STEPS_PER_S);
    assert_close("rate, 5 %", told.lo, rate.lo, 1e-12);
    assert_close("rate, 95 %", told.hi, rate.hi, 1e-12);
    assert_close("rate, median", told.value, rate.median, 1e-12);
    if (row != plain) {
        assert_close("gain, 5 %", row->gain.lo, gain.lo, 1e-12);
        assert_close("gain, 95 %", row->gain.hi, gain.hi, 1e-12);
        assert_close("gain, median", row->gain.value, gain.median, 1e-12);
        assert_close("sooner", row->sooner_frac, (double)sooner / DRAWS, 1e-12);
    }
}

TEST(test_intervals_are_those_of_the_models_draws)
{
    struct job *job = start_drawn();
    job->plan.scaling_count = 1;
    run(job);
    size_t open = 0;
    for (size_t i = 0; i < job->rows.count; i++) {
        size_t plain = fulcrum_cluster_plain_of(&job->rows, i);
        CU_ASSERT_FATAL(plain < job->rows.count);
        check_row(job, i);
        open +=
            job->rows.rows[i].sooner_frac > 0.0 && job->rows.rows[i].sooner_frac < 1.0;
    }
    /* The plan asks something that draws disagree about. */
    CU_ASSERT(open > 2);
}

/* Each draw has a crossover of its own, or none among the counts. */
TEST(test_crossovers_are_those_of_the_models_draws)
{
    struct job *job = start_drawn();
    run(job);
    for (size_t i = 0; i < 2; i++) {
        const struct fulcrum_cluster_crossover *told = &job->rows.crossovers[i];
        double at[DRAWS];
        size_t found = 0;
        for (size_t k = 0; k < DRAWS; k++) {
            struct fulcrum_cluster cluster = cluster_in(job, k + 1);
            double own =
                designs_crossover(&cluster, 8, told->part_count, devices, DEVICES);
            at[k] = isnan(own) ? (double)INFINITY : own;
            found += isnan(own) ? 0 : 1;
        }
        struct fulcrum_interval interval = fulcrum_interval_among(at, DRAWS);
        CU_ASSERT_EQUAL(told->device_count.lo, interval.lo);
        CU_ASSERT_EQUAL(told->device_count.hi, interval.hi);
        CU_ASSERT(interval.lo < interval.hi);
        assert_close("found", told->found_frac, (double)found / DRAWS, 1e-12);
    }
}

/* Known better than the two times that it is the ratio of. */
static void check_gain(
    const struct fulcrum_cluster_rows *rows, size_t row, size_t plain)
{
    const struct fulcrum_ratio *gain = &rows->rows[row].gain;
    struct fulcrum_ratio own =
        fulcrum_cluster_value(rows, row, FULCRUM_CLUSTER_QUALITY_RUNTIME);
    struct fulcrum_ratio other =
        fulcrum_cluster_value(rows, plain, FULCRUM_CLUSTER_QUALITY_RUNTIME);
    CU_ASSERT(gain->hi / gain->lo < 0.8 * (other.hi / own.lo) / (other.lo / own.hi));
}

TEST(test_what_rows_share_cancels)
{
    struct job *job = start_drawn();
    run(job);
    for (size_t i = 0; i < job->rows.count; i++) {
        const struct fulcrum_cluster_row *row = &job->rows.rows[i];
        struct fulcrum_ratio speedup =
            fulcrum_cluster_value(&job->rows, i, FULCRUM_CLUSTER_SPEEDUP);
        size_t plain = fulcrum_cluster_plain_of(&job->rows, i);
        /* One GPU is exactly as fast as one GPU. */
        CU_ASSERT_EQUAL(
            speedup.lo >= 1.0 && speedup.hi <= 1.0, row->device_count < 1.5);
        if (plain < job->rows.count && plain != i) {
            check_gain(&job->rows, i, plain);
        }
    }
}

TEST(test_shares_of_the_best_add_up)
{
    struct job *job = start_drawn();
    run(job);
    for (size_t i = 0; i < job->rows.count; i++) {
        struct fulcrum_cluster_rivals rivals = fulcrum_cluster_rivals_of(&job->rows, i);
        double sum = 0.0;
        for (size_t j = rivals.from; j < rivals.to; j++) {
            sum += job->rows.rows[j].best_frac;
        }
        assert_close("shares", sum, 1.0, 1e-12);
    }
}

/* Whole runs: the intervals are those of the predictions. */
TEST(test_draws_of_whole_runs_are_predictions)
{
    struct job *job = start_drawn();
    struct fulcrum_prediction prediction = run_whole(job);
    static const enum fulcrum_predicted outputs[] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_runtime_s, FULCRUM_OUTPUT_quality_runtime_s,
        FULCRUM_OUTPUT_allreduce_s};
    static const enum fulcrum_cluster_value values[] = {FULCRUM_CLUSTER_STEPS_PER_S,
        FULCRUM_CLUSTER_RUNTIME, FULCRUM_CLUSTER_QUALITY_RUNTIME,
        FULCRUM_CLUSTER_ALLREDUCE};
    for (size_t i = 0; i < 4; i++) {
        struct fulcrum_ratio told = fulcrum_cluster_value(&job->rows, 1, values[i]);
        CU_ASSERT_EQUAL(told.lo, prediction.lo[outputs[i]]);
        CU_ASSERT_EQUAL(told.hi, prediction.hi[outputs[i]]);
        CU_ASSERT(prediction.lo[outputs[i]] < prediction.hi[outputs[i]]);
    }
    CU_ASSERT_EQUAL(job->rows.rows[1].solver_error_rel, prediction.solver_error_rel);
}

/* Two rows in four draws: the second wins twice of the three that both ran in. */
TEST(test_draws_that_cannot_run_are_left_out)
{
    static const double hybrid_s[] = {3.0, 2.0, 3.0, 8.0, (double)NAN};
    struct fulcrum_cluster_row two[] = {{.device_count = 8}, {.device_count = 8}};
    struct fulcrum_cluster_crossover crossover = {.part_count = 2};
    struct fulcrum_cluster_rows rows = {
        .count = 2, .rows = two, .crossover_count = 1, .crossovers = &crossover};
    two[0].layout.model_parallel_count = 1;
    two[1].layout.model_parallel_count = 2;
    ASSERT_OK(fulcrum_study_new(3, FULCRUM_CLUSTER_VALUES, 4, &rows.study, NULL));
    for (size_t k = 0; k <= 4; k++) {
        fulcrum_study_at(rows.study, 1, k)[FULCRUM_CLUSTER_QUALITY_RUNTIME] = 4.0;
        fulcrum_study_at(rows.study, 2, k)[FULCRUM_CLUSTER_QUALITY_RUNTIME] =
            hybrid_s[k];
    }
    fulcrum_cluster_rows_judge(&rows);
    assert_close("sooner", two[1].sooner_frac, 2.0 / 3.0, 1e-12);
    assert_close("best", two[1].best_frac, 2.0 / 3.0, 1e-12);
    assert_close("other", two[0].best_frac, 1.0 / 3.0, 1e-12);
    assert_close("found", crossover.found_frac, 2.0 / 3.0, 1e-12);
    assert_close("gain", two[1].gain.hi, 1.9333333333, 1e-6);
    CU_ASSERT_EQUAL(crossover.device_count.lo, 8.0);
    CU_ASSERT(isinf(crossover.device_count.hi));
    CU_ASSERT(isnan(two[0].sooner_frac));
    fulcrum_study_free(rows.study);
}
