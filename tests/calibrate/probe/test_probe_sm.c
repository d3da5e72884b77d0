/* test_probe_sm.c - the sweep over SMs, on a learner whose times follow the law. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/probing.h"
#include "tests/support/suite.h"

enum { SMS = 132, LEAST = 8, REFUSING_CALL = 3 };

/* What the learner below is told to be. */
struct manner {
    double sm_count; /* granted */
    int grants;      /* calls so far */
    int refuses;     /* 1: from the REFUSING_CALL-th grant on */
    int rounds;      /* 1: grants half of what the list expects */
    size_t train_batch;
    size_t train_steps; /* burn-in and unroll */
};

static struct manner *manner(void)
{
    static struct manner shared;
    return &shared;
}

/* (5) and (6): t0 = 40 us, 60 % of it launches; 0.8 us an item; 80 % math. */
static double phi(void)
{
    return 0.8 * SMS / manner()->sm_count + 0.2;
}

/* Thread CPU time stands still while others have the core: times hold on any machine.
 */
static void spin(double during_s)
{
    double end_s = fulcrum_thread_cpu_s() + during_s;
    while (fulcrum_thread_cpu_s() < end_s) {
    }
}

static enum fulcrum_status lawful_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    (void)err;
    *info = (struct fulcrum_learner_info){.device = {.is_gpu = 1}};
    manner()->sm_count = SMS;
    manner()->train_batch = options->train_batch;
    manner()->train_steps = options->train_unroll + options->train_burn_in;
    /* Never looked into: only a probe passes it around. */
    *out = calloc(1, 1);
    return FULCRUM_OK;
}

static void lawful_close(struct fulcrum_learner_state *state)
{
    free(state);
}

static enum fulcrum_status lawful_forward(struct fulcrum_learner_state *state,
    size_t batch, int *action, struct fulcrum_error *err)
{
    (void)state;
    (void)err;
    action[0] = 0;
    spin(40e-6 * (0.6 + 0.4 * phi()) + 0.8e-6 * (double)batch * phi());
    return FULCRUM_OK;
}

static enum fulcrum_status lawful_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
    (void)state;
    (void)err;
    *loss = 0.0;
    spin(300e-6 * (0.3 + 0.7 * phi()));
    return FULCRUM_OK;
}

static enum fulcrum_status lawful_grant(struct fulcrum_learner_state *state,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    (void)state;
    manner()->grants++;
    if (manner()->refuses && manner()->grants >= REFUSING_CALL) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "no more parts today");
    }
    manner()->sm_count = manner()->rounds ? fmax(sm_count / 2.0, LEAST) : sm_count;
    *granted = manner()->sm_count;
    return FULCRUM_OK;
}

static const struct fulcrum_learner lawful = {
    .name = "lawful",
    .open = lawful_open,
    .close = lawful_close,
    .forward = lawful_forward,
    .train = lawful_train,
    .grant = lawful_grant,
    .clock = FULCRUM_CLOCK_CPU,
};

static void make_bench(struct fulcrum_bench *bench)
{
    static int actions[256] = {0};
    *manner() = (struct manner){0};
    *bench = (struct fulcrum_bench){.learner = &lawful,
        .learner_options = {.max_batch = 256},
        .learner_info.device = {.is_gpu = 1,
            .sm_count = SMS,
            .granted_sm_count = SMS,
            .least_sm_count = LEAST,
            .sm_step = 8},
        .action = actions,
        .nominal = {.batch = 64, .unroll = 80, .burn_in = 40},
        .stopwatch = fulcrum_stopwatch_calibrated()};
}

static struct fulcrum_calibration *sweep(struct fulcrum_bench *bench, double during_s)
{
    return probing_run(&fulcrum_probe_sm, bench, 1, during_s);
}

static void close_bench(
    struct fulcrum_bench *bench, struct fulcrum_calibration *calibration)
{
    fulcrum_calibration_free(calibration);
    fulcrum_canary_free(&bench->alone);
}

/* Within what noise of a busy machine and weak priors leave. */
TEST(test_shares_are_found_by_a_sweep)
{
    struct fulcrum_bench bench;
    make_bench(&bench);
    struct fulcrum_calibration *calibration = sweep(&bench, 4.0);
    CU_ASSERT_DOUBLE_EQUAL(
        probing_value(calibration, "workload.network.math_frac"), 0.8, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(
        probing_value(calibration, "workload.network.launch_bound_frac"), 0.6, 0.15);
    CU_ASSERT_DOUBLE_EQUAL(
        probing_value(calibration, "workload.training.launch_bound_frac"), 0.3, 0.15);
    double sum = probing_value(calibration, "workload.network.math_frac") +
                 probing_value(calibration, "workload.network.sm_frac") +
                 probing_value(calibration, "workload.network.dram_frac") +
                 probing_value(calibration, "workload.network.latency_frac");
    CU_ASSERT_DOUBLE_EQUAL(sum, 1.0, 1e-12);
    CU_ASSERT_EQUAL(calibration->fit_count, 1);
    CU_ASSERT_STRING_EQUAL(calibration->fits[0].name, "sm_sweep");
    CU_ASSERT_PTR_NOT_NULL(fulcrum_calibration_quantity(calibration, "sm_per_batch_s"));
    CU_ASSERT_PTR_NOT_NULL(
        fulcrum_calibration_quantity(calibration, "sm_train_step_s"));
    const struct fulcrum_series *series =
        probing_series(calibration, "inference_sm", "batch 64");
    CU_ASSERT_PTR_NOT_NULL_FATAL(series);
    CU_ASSERT_STRING_EQUAL(series->x_name, "sms");
    CU_ASSERT_EQUAL(series->x[0], (double)SMS);
    CU_ASSERT_EQUAL(series->x[1], (double)LEAST);
    /* The nominal sequences, a tenth as long. */
    CU_ASSERT_PTR_NOT_NULL(probing_series(calibration, "train_sm", "64 x (4 + 8)"));
    CU_ASSERT_EQUAL(manner()->train_batch, 64);
    CU_ASSERT_EQUAL(manner()->train_steps, 12);
    close_bench(&bench, calibration);
}

/* 1 where the parameter is one of the four shares of GPU time. */
static bool is_share(const struct fulcrum_calibration *calibration, size_t i)
{
    static const char *const shares[] = {"workload.network.math_frac",
        "workload.network.sm_frac", "workload.network.dram_frac",
        "workload.network.latency_frac"};
    for (size_t k = 0; k < LENGTH(shares); k++) {
        if (strcmp(calibration->parameters[i].path, shares[k]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The shares of GPU time are 1 in every draw: their errors depend on each other. */
TEST(test_errors_of_the_shares_cancel)
{
    struct fulcrum_bench bench;
    make_bench(&bench);
    struct fulcrum_calibration *calibration = sweep(&bench, 1.0);
    size_t count = calibration->parameter_count;
    double sum = 0.0;
    double most = 0.0;
    for (size_t i = 0; i < count * count; i++) {
        if (is_share(calibration, i / count) && is_share(calibration, i % count)) {
            sum += calibration->covariance[i];
            most = fmax(most, calibration->covariance[i]);
        }
    }
    CU_ASSERT_TRUE(most > 0.0);
    CU_ASSERT_TRUE(fabs(sum) < 1e-9 * most);
    close_bench(&bench, calibration);
}

TEST(test_refusal_ends_the_sweep_with_a_note)
{
    struct fulcrum_bench bench;
    make_bench(&bench);
    manner()->refuses = 1;
    struct fulcrum_calibration *calibration = sweep(&bench, 10.0);
    CU_ASSERT_EQUAL(calibration->note_count, 2);
    CU_ASSERT_STRING_EQUAL(calibration->notes[0].key, "sm_sweep");
    CU_ASSERT_STRING_EQUAL(calibration->notes[0].text, "ended: no more parts today");
    assert_part(calibration->notes[1].text, "on 2 numbers of SMs");
    CU_ASSERT_EQUAL(calibration->parameter_count, 0);
    CU_ASSERT_EQUAL(calibration->series_count, 5);
    close_bench(&bench, calibration);
}

/* What was granted is what is told, and no number of SMs is measured as two. */
TEST(test_what_was_granted_is_recorded)
{
    struct fulcrum_bench bench;
    make_bench(&bench);
    manner()->rounds = 1;
    struct fulcrum_calibration *calibration = sweep(&bench, 2.0);
    const struct fulcrum_series *series =
        probing_series(calibration, "inference_sm", "batch 1");
    CU_ASSERT_PTR_NOT_NULL_FATAL(series);
    size_t count = series != NULL ? series->count : 0;
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_TRUE(series->x[i] <= SMS / 2.0);
        CU_ASSERT_TRUE(series->x[i] >= LEAST);
    }
    close_bench(&bench, calibration);
}

TEST(test_probe_is_for_gpus_with_parts)
{
    struct fulcrum_bench bench;
    make_bench(&bench);
    CU_ASSERT_TRUE(fulcrum_probe_sm.applies(&bench));
    bench.learner_info.device.least_sm_count = SMS;
    CU_ASSERT_FALSE(fulcrum_probe_sm.applies(&bench));
    make_bench(&bench);
    bench.learner_info.device.is_gpu = 0;
    CU_ASSERT_FALSE(fulcrum_probe_sm.applies(&bench));
    struct fulcrum_learner whole = lawful;
    whole.grant = NULL;
    make_bench(&bench);
    bench.learner = &whole;
    CU_ASSERT_FALSE(fulcrum_probe_sm.applies(&bench));
}

TEST(test_counts_are_granted_ones_in_an_order_that_spreads)
{
    static const double h200[] = {132, 8, 64, 32, 96, 16, 48, 24, 40, 80, 112};
    double counts[FULCRUM_SM_COUNTS_MAX];
    const struct fulcrum_sm_steps steps = {132, 8, 8};
    CU_ASSERT_EQUAL(fulcrum_sm_counts(counts, &steps), 11);
    for (size_t i = 0; i < 11; i++) {
        CU_ASSERT_EQUAL(counts[i], h200[i]);
    }
    /* The V100 of Inci et al.: 80, 60, 40, 20, 10 and 2 of their figure. */
    static const double v100[] = {80, 2, 40, 20, 60, 10, 30, 6, 16, 26, 50, 70};
    const struct fulcrum_sm_steps old = {80, 2, 2};
    CU_ASSERT_EQUAL(fulcrum_sm_counts(counts, &old), 12);
    for (size_t i = 0; i < 12; i++) {
        CU_ASSERT_DOUBLE_EQUAL(counts[i], v100[i], 2.0);
    }
    const struct fulcrum_sm_steps whole = {20, 20, 20};
    CU_ASSERT_EQUAL(fulcrum_sm_counts(counts, &whole), 1);
    CU_ASSERT_EQUAL(counts[0], 20.0);
}
