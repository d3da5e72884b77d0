/* test_predict_curve.c - CPU curves: what every other worker count says of the rest. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

enum { MOST = 16 };

/* A reference in memory: one setting and one observation a point, nothing to free. */
struct made {
    struct fulcrum_reference reference;
    struct fulcrum_reference_point points[2 * MOST];
    struct fulcrum_reference_setting settings[2 * MOST];
    struct fulcrum_observation observations[2 * MOST];
};

static void make(struct made *made, double cores, double threads, double sockets)
{
    *made = (struct made){.reference = {.name = "made", .points = made->points}};
    fulcrum_design_init(&made->reference.design);
    made->reference.design.machine.cpu.core_count = cores;
    made->reference.design.machine.cpu.thread_count = threads;
    made->reference.design.machine.cpu.socket_count = sockets;
}

static void add(struct made *made, const char *series, double workers, double per_s)
{
    size_t i = made->reference.point_count++;
    made->settings[i] =
        (struct fulcrum_reference_setting){.path = "workers", .number = workers};
    made->observations[i] = (struct fulcrum_observation){
        .quantity = "steps_per_s", .value = per_s, .half_width = (double)NAN};
    made->points[i] = (struct fulcrum_reference_point){.setting_count = 1,
        .settings = &made->settings[i],
        .observation_count = 1,
        .observations = &made->observations[i]};
    (void)snprintf(made->points[i].series, sizeof made->points[i].series, "%s", series);
}

struct truth {
    double step_s;
    double smt_yield_frac;
    double serial_frac;
    double knee;
    double cross_socket_frac;
};

static const struct truth async_prior = {1e-3, 0.30, 0.003, 2.1, 0.85};
static const struct truth sync_prior = {1e-3, 0.30, 0.010, 1.3, 0.85};
static const struct truth pipe_prior = {1e-3, 0.30, 0.065, 1.0, 0.85};

/* The bracket of (20) with (21), written anew: threads = 2 cores. */
static double bracket(double n, double cores, const struct truth *truth, int lockstep)
{
    double a =
        fmin(n, cores) + truth->smt_yield_frac * fmax(0, fmin(n, 2 * cores) - cores);
    if (lockstep && n > cores) {
        a = fmin(n, 2 * cores) * (1 + truth->smt_yield_frac) / 2;
    }
    double p = truth->knee;
    return pow(pow(a, -p) + pow(1.25 * cores, -p) + pow(truth->serial_frac, p), -1 / p);
}

/* (20); beyond half of the cores unpinned threads of two sockets are slower. */
static double oracle(double n, double cores, const struct truth *truth, int lockstep,
    bool is_spread_over_two)
{
    double one = bracket(1, cores, truth, lockstep) * truth->step_s;
    double rate = bracket(n, cores, truth, lockstep) / one;
    double half = bracket(cores / 2, cores, truth, lockstep) / one;
    if (!is_spread_over_two || n <= cores / 2) {
        return rate;
    }
    return fmax(truth->cross_socket_frac * rate, fmin(rate, half));
}

static const double counts[] = {1, 2, 4, 8, 12, 16, 20, 24, 28, 32};
enum { COUNTS = sizeof counts / sizeof counts[0] };

struct form_case {
    const char *series;
    const struct truth *truth;
    double sockets;
    int lockstep;
    bool is_spread_over_two;
};

static void assert_form(const struct form_case *one)
{
    struct made made;
    make(&made, 16, 32, one->sockets);
    for (size_t i = 0; i < COUNTS; i++) {
        add(&made, one->series, counts[i],
            oracle(counts[i], 16, one->truth, one->lockstep, one->is_spread_over_two));
    }
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_curve(&made.reference, &compared, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(compared.count, COUNTS);
    for (size_t i = 0; i < COUNTS; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        suite_assert_close("rate", item->predicted, item->observed, 1e-6);
        CU_ASSERT_EQUAL(item->is_fitted, i % 2 == 0);
        CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
    }
    fulcrum_comparison_clear(&compared);
}

/* Truths at the priors, so that these agree with the points: exact everywhere. */
static void test_predict_returns_curves_of_the_form(void)
{
    static const struct form_case cases[] = {
        {"EnvPool (async)", &async_prior, 1, 0, 0},
        {"EnvPool (async)", &async_prior, 2, 0, 1},
        {"EnvPool (numa+async)", &async_prior, 2, 0, 0},
        {"Sample-Factory", &async_prior, (double)NAN, 0, 0},
        {"EnvPool (sync)", &sync_prior, 1, 1, 0},
        {"EnvPool (sync)", &sync_prior, 2, 1, 1},
        {"Subprocess", &pipe_prior, 1, 1, 0},
        {"pipes of 2", &pipe_prior, 2, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_form(&cases[i]);
    }
}

/* In proportion to workers from the first point on, until 8 threads are used up. */
static void test_predict_is_shown_beside_a_rate_per_worker(void)
{
    static const double workers[] = {2, 4, 8, 12};
    static const double expected[] = {1800, 3600, 7200, 7200};
    struct made made;
    make(&made, 4, 8, 1);
    for (size_t i = 0; i < 4; i++) {
        add(&made, "EnvPool (async)", workers[i], 900 * workers[i] - 10 * (double)i);
    }
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_curve(&made.reference, &compared, NULL), FULCRUM_OK);
    for (size_t i = 0; i < 4; i++) {
        const double *baseline = compared.items[i].baseline;
        suite_assert_close(
            "bound", baseline[FULCRUM_BASELINE_BOUNDS], expected[i], 1e-12);
        suite_assert_close(
            "textbook", baseline[FULCRUM_BASELINE_TEXTBOOK], expected[i], 1e-12);
        CU_ASSERT(isnan(baseline[FULCRUM_BASELINE_HYPERBOLA]));
    }
    fulcrum_comparison_clear(&compared);
}

/* Two curves, the points of both in no order; one count twice. */
static void make_shuffled(struct made *made)
{
    static const size_t order[] = {4, 0, 7, 2, 9, 5, 1, 8, 3, 6};
    make(made, 16, 32, 1);
    for (size_t i = 0; i < COUNTS; i++) {
        double n = counts[order[i]];
        add(made, "async", n, oracle(n, 16, &async_prior, 0, 0) * (1 + 0.01 * sin(n)));
        add(made, "sync", n, oracle(n, 16, &sync_prior, 1, 0) * (1 + 0.01 * cos(n)));
    }
    add(made, "async", 4, 3900);
    add(made, "For-loop", 1, 1);
    add(made, "For-loop", 0, 0);
}

static void test_predict_holds_out_every_other_count(void)
{
    struct made made;
    make_shuffled(&made);
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_curve(&made.reference, &compared, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(compared.count, 2 * COUNTS + 1);
    size_t fitted = 0;
    for (size_t i = 0; i < compared.count; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        double workers = made.settings[item->point].number;
        size_t rank = 0;
        while (counts[rank] < workers) {
            rank++;
        }
        CU_ASSERT_EQUAL(item->is_fitted, rank % 2 == 0);
        fitted += item->is_fitted != 0;
    }
    CU_ASSERT_EQUAL(fitted, COUNTS + 1);
    fulcrum_comparison_clear(&compared);
}

/* Predictions do not move, to the last bit, with what they are judged on. */
static void test_predict_does_not_look_at_what_is_held_out(void)
{
    struct made made;
    make_shuffled(&made);
    struct fulcrum_comparison before = {0};
    struct fulcrum_comparison after = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_curve(&made.reference, &before, NULL), FULCRUM_OK);
    for (size_t i = 0; i < before.count; i++) {
        if (!before.items[i].is_fitted) {
            made.observations[before.items[i].point].value *= 3;
        }
    }
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_curve(&made.reference, &after, NULL), FULCRUM_OK);
    for (size_t i = 0; i < before.count; i++) {
        suite_assert_close(
            "rate", after.items[i].predicted, before.items[i].predicted, 0.0);
    }
    fulcrum_comparison_clear(&before);
    fulcrum_comparison_clear(&after);
}

/* Frames are predicted in frames: nothing converts them here. */
static void test_predict_takes_frames(void)
{
    struct made made;
    make(&made, 16, 32, 1);
    for (size_t i = 0; i < COUNTS; i++) {
        add(&made, "async", counts[i], 4 * oracle(counts[i], 16, &async_prior, 0, 0));
        (void)snprintf(made.observations[i].quantity,
            sizeof made.observations[i].quantity, "frames_per_s");
    }
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_curve(&made.reference, &compared, NULL), FULCRUM_OK);
    suite_assert_close("frames", compared.items[1].predicted,
        4 * oracle(2, 16, &async_prior, 0, 0), 1e-6);
    fulcrum_comparison_clear(&compared);
}

/* Truths from the priors, points with the noise that the predictor counts with. */
static void test_predict_intervals_cover_nine_in_ten(void)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double covered = 0;
    for (size_t repeat = 0; repeat < 100; repeat++) {
        double logit_y = log(0.3 / 0.7) + gsl_ran_gaussian(rng, 0.5);
        const struct truth truth = {1e-3, 1 / (1 + exp(-logit_y)),
            0.003 * exp(gsl_ran_gaussian(rng, log(1.5))),
            2.1 * exp(gsl_ran_gaussian(rng, log(1.3))), 1};
        struct made made;
        make(&made, 16, 32, 1);
        for (size_t i = 0; i < COUNTS; i++) {
            add(&made, "async", counts[i],
                oracle(counts[i], 16, &truth, 0, 0) *
                    (1 + gsl_ran_gaussian(rng, 0.014)));
        }
        struct fulcrum_comparison compared = {0};
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_predict_curve(&made.reference, &compared, NULL), FULCRUM_OK);
        covered +=
            fulcrum_comparison_errors(&compared, NULL, FULCRUM_COMPARE_PREDICTED, -1)
                .covered_frac /
            100;
        fulcrum_comparison_clear(&compared);
    }
    gsl_rng_free(rng);
    (void)printf("\n    covered: %.3f\n    ", covered);
    /* Student's quantile and the excess that is never below 1 err on the wide side. */
    CU_ASSERT(covered > 0.87 && covered < 0.99);
}

static void test_verdicts_name_curves_that_no_form_predicts(void)
{
    static const struct {
        const char *series;
        double sockets;
        double y[8];
        enum fulcrum_fit_advice advice;
        const char *reason;
    } cases[] = {
        {"async", 1, {100, 200, 395, 760, 1080, 1290, 1400, 1420}, FULCRUM_ADVISE_FORM,
            "within"},
        /* Between the first and the third fitted point, where no core is shared. */
        {"async", 1, {100, 200, 395, 760, 350, 1290, 1400, 1420}, FULCRUM_ADVISE_TABLE,
            "the form is off"},
        {"async", 2, {100, 200, 395, 760, 1000, 1150, 1250, 1300}, FULCRUM_ADVISE_TABLE,
            "2 sockets"},
        {"numa", 2, {100, 200, 395, 760, 1080, 1290, 1400, 1420}, FULCRUM_ADVISE_FORM,
            "within"},
        {"Subprocess", 1, {100, 186, 324, 500, 595, 650, 560, 600},
            FULCRUM_ADVISE_TABLE, "pipes to 20"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct made made;
        make(&made, 16, 32, cases[c].sockets);
        for (size_t i = 0; i < 8; i++) {
            add(&made, cases[c].series, counts[i], cases[c].y[i]);
        }
        add(&made, "For-loop", 1, 99);
        struct fulcrum_curve_verdicts verdicts = {0};
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_curve_verdicts_of(&made.reference, &verdicts, NULL), FULCRUM_OK);
        CU_ASSERT_EQUAL_FATAL(verdicts.count, 2);
        CU_ASSERT_STRING_EQUAL(verdicts.items[0].series, cases[c].series);
        CU_ASSERT_FALSE(verdicts.items[0].is_left_out);
        CU_ASSERT_EQUAL(verdicts.items[0].advice, cases[c].advice);
        CU_ASSERT_PTR_NOT_NULL(strstr(verdicts.items[0].reason, cases[c].reason));
        CU_ASSERT_EQUAL(verdicts.items[0].held_out.count, 4);
        CU_ASSERT_TRUE(verdicts.items[1].is_left_out);
        CU_ASSERT_PTR_NOT_NULL(strstr(verdicts.items[1].reason, "one thread"));
        fulcrum_curve_verdicts_clear(&verdicts);
    }
}

static void spoil_workers_missing(struct made *made)
{
    (void)snprintf(made->settings[2].path, sizeof made->settings[2].path, "actors");
}

static void spoil_workers_zero(struct made *made)
{
    made->settings[2].number = 0;
}

static void spoil_rate_missing(struct made *made)
{
    made->points[2].observation_count = 0;
}

static void spoil_rate_zero(struct made *made)
{
    made->observations[2].value = 0;
}

static void spoil_rate_nan(struct made *made)
{
    made->observations[3].value = (double)NAN;
}

static void spoil_one_point(struct made *made)
{
    made->reference.point_count = 1;
}

static void spoil_two_counts(struct made *made)
{
    made->reference.point_count = 2;
}

static void spoil_no_point(struct made *made)
{
    made->reference.point_count = 0;
}

static void spoil_series(struct made *made)
{
    for (size_t i = 0; i < COUNTS; i++) {
        (void)snprintf(
            made->points[i].series, sizeof made->points[i].series, "threads");
    }
}

static void spoil_cores(struct made *made)
{
    made->reference.design.machine.cpu.core_count = (double)NAN;
}

static void spoil_threads(struct made *made)
{
    made->reference.design.machine.cpu.thread_count = 8;
}

static void test_predict_refuses_what_it_cannot_fit(void)
{
    static const struct {
        void (*spoil)(struct made *made);
        enum fulcrum_status status;
        const char *detail;
    } cases[] = {
        {spoil_workers_missing, FULCRUM_ERR_MISSING, "made: points[2].set.workers is"},
        {spoil_workers_zero, FULCRUM_ERR_RANGE, "points[2].set.workers = 0"},
        {spoil_rate_missing, FULCRUM_ERR_MISSING, "points[2].observed.steps_per_s is"},
        {spoil_rate_zero, FULCRUM_ERR_RANGE, "points[2].observed.steps_per_s = 0"},
        {spoil_rate_nan, FULCRUM_ERR_RANGE, "points[3].observed.steps_per_s = nan"},
        {spoil_one_point, FULCRUM_ERR_NO_FIT, "1 different worker counts"},
        {spoil_two_counts, FULCRUM_ERR_NO_FIT, "2 different worker counts"},
        {spoil_no_point, FULCRUM_ERR_NO_FIT, "points is empty"},
        {spoil_series, FULCRUM_ERR_UNKNOWN_NAME, "\"threads\" names no coupling"},
        {spoil_cores, FULCRUM_ERR_MISSING, "machine.cpu.core_count is missing"},
        {spoil_threads, FULCRUM_ERR_RANGE, "16 cores, 8 threads"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct made made;
        make(&made, 16, 32, 1);
        for (size_t i = 0; i < COUNTS; i++) {
            add(&made, "async", counts[i], oracle(counts[i], 16, &async_prior, 0, 0));
        }
        cases[c].spoil(&made);
        struct fulcrum_comparison compared = {0};
        struct fulcrum_curve_verdicts verdicts = {0};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_predict_curve(&made.reference, &compared, &err), cases[c].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, cases[c].detail));
        CU_ASSERT_PTR_NULL(compared.items);
        CU_ASSERT_EQUAL(fulcrum_curve_verdicts_of(&made.reference, &verdicts, NULL),
            cases[c].status);
        CU_ASSERT_PTR_NULL(verdicts.items);
    }
}

/* Sums over published curves, by coupling. */
struct tally {
    double mape_sum[3];
    size_t curve_count[3];
    size_t form_count;
    double point_count;
    double covered_count;
};

static const char *const advice_names[] = {
    [FULCRUM_ADVISE_FORM] = "form", [FULCRUM_ADVISE_TABLE] = "table"};

static void tally_verdict(
    struct tally *tally, const char *name, const struct fulcrum_curve_verdict *verdict)
{
    if (verdict->is_left_out) {
        CU_ASSERT_STRING_EQUAL(verdict->series, "For-loop");
        return;
    }
    const struct fulcrum_comparison_errors *errors = &verdict->held_out;
    (void)printf("\n    %-24s %-21s %5.1f %% (most %4.1f %%) %s", name, verdict->series,
        100 * errors->mape_frac, 100 * errors->max_frac, advice_names[verdict->advice]);
    tally->mape_sum[verdict->coupling] += errors->mape_frac;
    tally->curve_count[verdict->coupling]++;
    tally->form_count += verdict->advice == FULCRUM_ADVISE_FORM;
    tally->point_count += (double)errors->count;
    tally->covered_count += errors->covered_frac * (double)errors->count;
    /* Not to be trusted: pipes, and threads free to roam two sockets. */
    bool is_loose =
        strcmp(verdict->series, "Subprocess") == 0 ||
        (strstr(name, "dgx") != NULL && strstr(verdict->series, "numa") == NULL);
    CU_ASSERT_EQUAL(
        verdict->advice, is_loose ? FULCRUM_ADVISE_TABLE : FULCRUM_ADVISE_FORM);
}

static void tally_reference(struct tally *tally, const char *name)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_curve_verdicts verdicts = {0};
    CU_ASSERT_EQUAL_FATAL(fulcrum_reference_load(name, &reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(reference->predictor, FULCRUM_PREDICTOR_CPU_CURVE);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_curve_verdicts_of(reference, &verdicts, NULL), FULCRUM_OK);
    for (size_t i = 0; i < verdicts.count; i++) {
        tally_verdict(tally, name, &verdicts.items[i]);
    }
    fulcrum_curve_verdicts_clear(&verdicts);
    fulcrum_reference_free(reference);
}

/* Held-out points of EnvPool's tables: threads' counts alone miss them by their own
 * size. */
static void test_predict_is_worth_more_than_counting_threads(void)
{
    static const char *const names[] = {"envpool-atari-laptop",
        "envpool-atari-workstation", "envpool-atari-dgx-a100", "envpool-mujoco-laptop",
        "envpool-mujoco-workstation", "envpool-mujoco-dgx-a100"};
    double count = 0;
    double bound = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct fulcrum_reference *reference = NULL;
        struct fulcrum_comparison compared = {0};
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_reference_load(names[i], &reference, NULL), FULCRUM_OK);
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_predict_curve(reference, &compared, NULL), FULCRUM_OK);
        struct fulcrum_comparison_errors own =
            fulcrum_comparison_errors(&compared, NULL, FULCRUM_COMPARE_PREDICTED, -1);
        struct fulcrum_comparison_errors other = fulcrum_comparison_errors(
            &compared, NULL, FULCRUM_COMPARE_PREDICTED, FULCRUM_BASELINE_BOUNDS);
        CU_ASSERT_EQUAL(own.count, other.count);
        CU_ASSERT(10 * own.mape_frac < other.mape_frac);
        count += (double)other.count;
        bound += other.mape_frac * (double)other.count;
        fulcrum_comparison_clear(&compared);
        fulcrum_reference_free(reference);
    }
    (void)printf("\n    bounds %.0f %% of %.0f\n    ", 100 * bound / count, count);
    CU_ASSERT(bound / count > 1);
}

static void test_predict_meets_published_curves(void)
{
    static const char *const names[] = {"envpool-atari-laptop",
        "envpool-atari-workstation", "envpool-atari-dgx-a100", "envpool-mujoco-laptop",
        "envpool-mujoco-workstation", "envpool-mujoco-dgx-a100"};
    static const size_t curve_count[] = {14, 6, 6};
    static const double most_mape[] = {0.03, 0.045, 0.08};
    struct tally tally = {.form_count = 0};
    double sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tally_reference(&tally, names[i]);
    }
    for (size_t k = 0; k < 3; k++) {
        CU_ASSERT_EQUAL_FATAL(tally.curve_count[k], curve_count[k]);
        CU_ASSERT(tally.mape_sum[k] / (double)curve_count[k] <= most_mape[k]);
        sum += tally.mape_sum[k];
    }
    (void)printf(
        "\n    means: async %.2f %%, sync %.2f %%, pipes %.2f %%, all %.2f %%; "
        "90 %% intervals cover %.1f %% of %.0f\n    ",
        100 * tally.mape_sum[0] / 14, 100 * tally.mape_sum[1] / 6,
        100 * tally.mape_sum[2] / 6, 100 * sum / 26,
        100 * tally.covered_count / tally.point_count, tally.point_count);
    CU_ASSERT(sum / 26 <= 0.045);
    CU_ASSERT_EQUAL(tally.form_count, 14);
    /* Nine in ten, less two standard deviations of 130 points. */
    CU_ASSERT(tally.covered_count / tally.point_count >= 0.84);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_predict_returns_curves_of_the_form),
        SUITE_CASE(test_predict_is_shown_beside_a_rate_per_worker),
        SUITE_CASE(test_predict_holds_out_every_other_count),
        SUITE_CASE(test_predict_does_not_look_at_what_is_held_out),
        SUITE_CASE(test_predict_takes_frames),
        SUITE_CASE(test_predict_intervals_cover_nine_in_ten),
        SUITE_CASE(test_verdicts_name_curves_that_no_form_predicts),
        SUITE_CASE(test_predict_refuses_what_it_cannot_fit),
        SUITE_CASE(test_predict_is_worth_more_than_counting_threads),
        SUITE_CASE(test_predict_meets_published_curves),
    };
    return suite_run(
        "predict_curve", cases, sizeof cases / sizeof cases[0], argc, argv);
}
