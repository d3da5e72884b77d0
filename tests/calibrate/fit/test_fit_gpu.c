/* test_fit_gpu.c - watts of a GPU, times on fewer SMs and after pauses: what the points
 * tell is found, and what they do not tell is said. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "calibrate/statistics.h"
#include "tests/support/suite.h"

/* Watts over levels of load. */

static const struct fulcrum_gpu_power_fit watts_truth = {.idle_w = 70,
    .floor_w = 45,
    .dynamic_w = 380,
    .exponent = 0.8,
    .inference_rel = 0.35};

/* Nobody, held, four shares of training and of inference, two shares of the SMs. */
static const struct fulcrum_gpu_load full_set[] = {
    {.is_active = 0, .sm_frac = 1},
    {.is_active = 1, .sm_frac = 1},
    {1, 1.0, 0, 1, 0},
    {1, 0.5, 0, 1, 0},
    {1, 0, 1.0, 1, 0},
    {1, 0.25, 0, 1, 0},
    {1, 0.75, 0, 1, 0},
    {1, 0, 0.5, 1, 0},
    {1, 0, 0.25, 1, 0},
    {1, 0, 0.75, 1, 0},
    {1, 1.0, 0, 0.5, 0},
    {1, 1.0, 0, 0.25, 0},
};

enum { FULL = LENGTH(full_set) };

/* (12) written anew. */
static double watts_of(const struct fulcrum_gpu_load *load, double inference_rel)
{
    /* Activity ends where every SM is active. */
    double activity = fmin(1, load->train_frac + inference_rel * load->inference_frac);
    double busy_w =
        watts_truth.dynamic_w * pow(activity, watts_truth.exponent) * load->sm_frac;
    return watts_truth.idle_w + (load->is_active ? watts_truth.floor_w : 0) +
           (activity > 0 ? busy_w : 0);
}

/* Levels of `watts_truth`; watts off by a normal error of `noise_rel`. */
static void draw(struct fulcrum_gpu_load *loads, size_t count, double noise_rel,
    struct fulcrum_random *random)
{
    for (size_t i = 0; i < count; i++) {
        double normal = 0;
        for (int k = 0; k < 12; k++) {
            normal += fulcrum_random_between(random, -0.5, 0.5);
        }
        loads[i].watts =
            watts_of(&loads[i], watts_truth.inference_rel) * (1 + noise_rel * normal);
    }
}

static struct fulcrum_gpu_power_fit fit_of(
    const struct fulcrum_gpu_load *loads, size_t count)
{
    struct fulcrum_gpu_power_fit fit = {0};
    ASSERT_SAYS(fulcrum_fit_gpu_power(&fit, loads, count, &err), FULCRUM_OK, "");
    return fit;
}

TEST(test_exact_levels_give_the_truth_back)
{
    struct fulcrum_gpu_load loads[FULL];
    struct fulcrum_random random = fulcrum_random_seeded(1);
    memcpy(loads, full_set, sizeof loads);
    draw(loads, FULL, 0, &random);
    struct fulcrum_gpu_power_fit fit = fit_of(loads, FULL);
    CU_ASSERT_EQUAL(fit.told, 31);
    assert_close("idle", fit.idle_w, watts_truth.idle_w, 1e-4);
    assert_close("floor", fit.floor_w, watts_truth.floor_w, 1e-3);
    assert_close("dynamic", fit.dynamic_w, watts_truth.dynamic_w, 1e-4);
    assert_close("exponent", fit.exponent, watts_truth.exponent, 1e-3);
    assert_close("inference", fit.inference_rel, watts_truth.inference_rel, 1e-3);
    CU_ASSERT_STRING_EQUAL(fit.fit.parameter[0].name, "idle_w");
    CU_ASSERT_STRING_EQUAL(fit.fit.parameter[4].name, "inference_rel");
    CU_ASSERT(fit.fit.residuals.max_abs_rel < 1e-4);
    for (size_t i = 0; i < FULL; i++) {
        loads[i].watts = watts_of(&loads[i], 3);
    }
    assert_close("hungry inference", fit_of(loads, FULL).inference_rel, 3, 1e-3);
}

/* How many of `draws` lie within two standard errors of the watts_truth, per parameter.
 */
TEST(test_errors_cover_the_truth_under_noise)
{
    enum { DRAWS = 200, FITTED = 5 };
    const double wanted[FITTED] = {watts_truth.idle_w, watts_truth.floor_w,
        watts_truth.dynamic_w, watts_truth.exponent, watts_truth.inference_rel};
    struct fulcrum_random random = fulcrum_random_seeded(7);
    int within[FITTED] = {0};
    double mean[FITTED] = {0};
    for (int k = 0; k < DRAWS; k++) {
        struct fulcrum_gpu_load loads[FULL];
        memcpy(loads, full_set, sizeof loads);
        draw(loads, FULL, 0.02, &random);
        struct fulcrum_gpu_power_fit fit = fit_of(loads, FULL);
        for (int j = 0; j < FITTED; j++) {
            const struct fulcrum_fit_estimate *found = &fit.fit.parameter[j];
            within[j] += fabs(found->value - wanted[j]) < 2 * found->standard_error;
            mean[j] += found->value / DRAWS;
        }
    }
    for (int j = 0; j < FITTED; j++) {
        /* 95 % for normal errors and many points; here are seven degrees of freedom. */
        CU_ASSERT(within[j] >= DRAWS * 80 / 100);
        assert_close("mean of the draws", mean[j], wanted[j], 0.03);
    }
}

/* What a set of levels cannot tell is fixed, not guessed; the rest stays right. */
TEST(test_what_levels_cannot_tell_is_left_out)
{
    static const struct {
        const char *what;
        size_t used[8]; /* of the full set */
        size_t count;
        unsigned told;
        double idle_w;
        double floor_w;
        double dynamic_w;
    } rows[] = {
        {"idle and held", {0, 1}, 2, 1, 70, 45, 0},
        {"no training", {0, 1, 2}, 3, 1 | 2, 70, 45, 380},
        {"never nobody", {1, 2}, 2, 2, 115, 0, 380},
        {"shares, never nobody", {1, 2, 3, 5, 6}, 5, 2 | 4, 115, 0, 380},
        {"four shares", {0, 1, 2, 2, 2}, 5, 1 | 2, 70, 45, 380},
        {"inference", {0, 1, 2, 4}, 4, 1 | 2 | 8, 70, 45, 380},
        {"SMs", {0, 1, 2, 10}, 4, 1 | 2 | 16, 70, 45, 380},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_gpu_load loads[8];
        struct fulcrum_random random = fulcrum_random_seeded(i);
        for (size_t j = 0; j < rows[i].count; j++) {
            loads[j] = full_set[rows[i].used[j]];
        }
        draw(loads, rows[i].count, 0, &random);
        struct fulcrum_gpu_power_fit fit = fit_of(loads, rows[i].count);
        CU_ASSERT_EQUAL(fit.told, rows[i].told);
        assert_close(rows[i].what, fit.idle_w, rows[i].idle_w, 1e-3);
        assert_close(rows[i].what, fit.floor_w, rows[i].floor_w, 1e-3);
        assert_close(rows[i].what, fit.dynamic_w, rows[i].dynamic_w, 1e-3);
        bool is_fixed = (fit.fit.parameter[3].marks & FULCRUM_FIT_FIXED) != 0;
        CU_ASSERT_EQUAL(is_fixed, (fit.told & FULCRUM_GPU_POWER_EXPONENT) == 0);
        assert_close("exponent", fit.exponent, is_fixed ? 1 : 0.8, 1e-3);
    }
}

/* A held GPU that draws less than an idle one: no floor below zero is told. */
TEST(test_floor_below_zero_is_held_at_zero)
{
    const struct fulcrum_gpu_load loads[] = {{0, 0, 0, 1, 50}, {1, 0, 0, 1, 48},
        {1, 1, 0, 1, 300}, {1, 0.5, 0, 1, 170}, {1, 0.25, 0, 1, 110}};
    struct fulcrum_gpu_power_fit fit = fit_of(loads, 5);
    assert_close("floor", fit.floor_w, 0, 0);
    CU_ASSERT(fit.fit.warnings & FULCRUM_FIT_BOUND_REACHED);
}

/* Watts that do not follow the share of SMs: the form says that it does not hold. */
TEST(test_watts_that_do_not_follow_the_form_are_a_misfit)
{
    struct fulcrum_gpu_load loads[FULL];
    struct fulcrum_random random = fulcrum_random_seeded(3);
    memcpy(loads, full_set, sizeof loads);
    draw(loads, FULL, 0, &random);
    loads[10].watts = 480;
    loads[11].watts = 460;
    struct fulcrum_gpu_power_fit fit = fit_of(loads, FULL);
    CU_ASSERT(fit.fit.warnings & (FULCRUM_FIT_MISFIT | FULCRUM_FIT_OUTLIERS));
}

TEST(test_bad_levels_are_refused)
{
    static const struct {
        struct fulcrum_gpu_load load;
        enum fulcrum_status expected;
    } rows[] = {
        {{1, 0.5, 0, 1, 0}, FULCRUM_ERR_RANGE},
        {{1, 0.5, 0, 1, -3}, FULCRUM_ERR_RANGE},
        {{1, 0.5, 0, 1, (double)NAN}, FULCRUM_ERR_RANGE},
        {{1, 0.5, 0, 1, HUGE_VAL}, FULCRUM_ERR_RANGE},
        {{1, 1.1, 0, 1, 100}, FULCRUM_ERR_RANGE},
        {{1, (double)NAN, 0, 1, 100}, FULCRUM_ERR_RANGE},
        {{1, 0.6, 0.6, 1, 100}, FULCRUM_ERR_RANGE},
        {{1, 0.5, 0, 1.5, 100}, FULCRUM_ERR_RANGE},
        {{0, 0.5, 0, 1, 100}, FULCRUM_ERR_RANGE},
        {{1, 0, 0, 1, 100}, FULCRUM_ERR_NO_FIT},
        {{1, 0, 0.5, 1, 100}, FULCRUM_ERR_NO_FIT},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct fulcrum_gpu_load loads[] = {{1, 0, 0, 1, 100}, rows[i].load};
        struct fulcrum_gpu_power_fit fit = {.idle_w = 7};
        ASSERT_FAILS(
            fulcrum_fit_gpu_power(&fit, loads, 2, &err), rows[i].expected, "GPU power");
        assert_close("unchanged", fit.idle_w, 7, 0);
    }
    struct fulcrum_gpu_load many[FULCRUM_GPU_LOAD_MAX + 1] = {{0}};
    struct fulcrum_gpu_power_fit fit;
    CU_ASSERT_EQUAL(fulcrum_fit_gpu_power(&fit, many, FULCRUM_GPU_LOAD_MAX + 1, NULL),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(fulcrum_fit_gpu_power(&fit, many, 0, NULL), FULCRUM_ERR_NO_FIT);
}

/* Times over batches and SMs. */

enum { BATCHES = 3, SM_COUNTS = 7, POINTS = (BATCHES + 1) * SM_COUNTS };

static const double batches[BATCHES] = {1, 32, 256};
static const double sm_counts[SM_COUNTS] = {132, 96, 64, 40, 24, 16, 8};

static const struct truth {
    double per_batch_s;
    double per_item_s;
    double launch;
    double math;
    double train_s;
    double train_launch;
} truths[] = {
    {1.2e-3, 6e-6, 0.7, 0.57, 0.2, 0.2},
    {4e-5, 1e-6, 0.3, 0.9, 0.05, 0.6},
    {2e-4, 4e-5, 0.9, 0.3, 1.5, 0.02},
};

/* (5) and (6) as they stand in docs/model.md, for 132 SMs. */
static double law_s(const struct truth *truth, double batch, double sm_count)
{
    double phi = truth->math * 132 / sm_count + (1 - truth->math);
    if (!(batch > 0)) {
        return truth->train_s * (truth->train_launch + (1 - truth->train_launch) * phi);
    }
    return truth->per_batch_s * (truth->launch + (1 - truth->launch) * phi) +
           truth->per_item_s * batch * phi;
}

/* Inference of each batch, then training, on all numbers of SMs. */
static void fill(struct fulcrum_sm_point points[POINTS], const struct truth *truth)
{
    for (size_t i = 0; i < POINTS; i++) {
        double batch = i / SM_COUNTS < BATCHES ? batches[i / SM_COUNTS] : 0;
        double sm_count = sm_counts[i % SM_COUNTS];
        points[i] =
            (struct fulcrum_sm_point){batch, sm_count, law_s(truth, batch, sm_count)};
    }
}

TEST(test_known_shares_are_found)
{
    for (size_t i = 0; i < LENGTH(truths); i++) {
        const struct truth *truth = &truths[i];
        struct fulcrum_sm_point points[POINTS];
        struct fulcrum_sm_fit fit;
        fill(points, truth);
        ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS, 132, NULL));
        /* The priors pull a little: that is their purpose. */
        assert_close("t0", fit.per_batch_s, truth->per_batch_s, 0.01);
        assert_close("t1", fit.per_item_s, truth->per_item_s, 0.01);
        assert_close("launch", fit.launch_bound_frac, truth->launch, 0.02);
        assert_close("math", fit.math_frac, truth->math, 0.02);
        assert_close("train", fit.train_step_s, truth->train_s, 0.01);
        CU_ASSERT_DOUBLE_EQUAL(fit.train_launch_bound_frac, truth->train_launch, 0.02);
        for (size_t k = 0; k < POINTS; k++) {
            assert_close(
                "curve", fulcrum_sm_fit_s(&fit, &points[k]), points[k].time_s, 0.01);
        }
    }
}

/* Shares are told with errors that cover the truth, and small ones for clean data. */
TEST(test_errors_cover_the_truth)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    fill(points, &truths[0]);
    for (size_t i = 0; i < POINTS; i++) {
        points[i].time_s *= i % 2 == 0 ? 1.02 : 0.98;
    }
    ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS, 132, NULL));
    const struct fulcrum_fit_estimate *math = fulcrum_fit_find(&fit.fit, "math_frac");
    const struct fulcrum_fit_estimate *launch =
        fulcrum_fit_find(&fit.fit, "launch_bound_frac");
    CU_ASSERT_TRUE(fabs(math->value - 0.57) < 3 * math->standard_error);
    CU_ASSERT_TRUE(fabs(launch->value - 0.7) < 3 * launch->standard_error);
    CU_ASSERT_TRUE(math->standard_error < 0.1);
    CU_ASSERT_TRUE(math->prior_share < 0.2);
}

TEST(test_training_may_be_left_out)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    fill(points, &truths[0]);
    ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS - SM_COUNTS, 132, NULL));
    assert_close("math", fit.math_frac, 0.57, 0.02);
    CU_ASSERT_TRUE(isnan(fit.train_step_s));
    CU_ASSERT_TRUE(isnan(fit.train_launch_bound_frac));
    CU_ASSERT_TRUE(
        fulcrum_fit_find(&fit.fit, "train_step_s")->marks & FULCRUM_FIT_FIXED);
}

/* Work that does not fill the GPU: as long on a few SMs as on all. */
TEST(test_times_that_do_not_follow_sms_have_no_math)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    fill(points, &truths[0]);
    for (size_t i = 0; i < POINTS; i++) {
        double batch = points[i].batch;
        points[i].time_s = (batch > 0 ? 1e-4 * batch : 0.2) * (i % 2 ? 1.2 : 0.8);
    }
    ASSERT_OK(fulcrum_fit_sm(&fit, points, POINTS, 132, NULL));
    CU_ASSERT_TRUE(fit.math_frac < 0.1);
    const struct fulcrum_fit_estimate *launch =
        fulcrum_fit_find(&fit.fit, "launch_bound_frac");
    CU_ASSERT_TRUE(launch->marks & FULCRUM_FIT_NOT_IDENTIFIED);
}

TEST(test_too_little_is_refused)
{
    struct fulcrum_sm_point points[POINTS];
    struct fulcrum_sm_fit fit;
    fill(points, &truths[0]);
    ASSERT_SAYS(fulcrum_fit_sm(&fit, points, 2, 132, &err), FULCRUM_ERR_NO_FIT,
        "SM sweep: inference of 1 batch sizes on 2 numbers of SMs, at least 2 and 3 "
        "expected");
    CU_ASSERT_EQUAL(fulcrum_fit_sm(&fit, points, 0, 132, NULL), FULCRUM_ERR_NO_FIT);
    points[3].sm_count = 133;
    ASSERT_FAILS(fulcrum_fit_sm(&fit, points, POINTS, 132, &err), FULCRUM_ERR_RANGE,
        "on 133 SMs");
    fill(points, &truths[0]);
    points[5].time_s = 0;
    CU_ASSERT_EQUAL(fulcrum_fit_sm(&fit, points, POINTS, 132, NULL), FULCRUM_ERR_RANGE);
}

/* Batches after pauses. */

static const double pauses_s[] = {0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3};

enum { PAUSES = LENGTH(pauses_s) };

static void fill_pauses(double *y, double cold, double cooling_s, double noise)
{
    for (size_t i = 0; i < PAUSES; i++) {
        double square = pauses_s[i] * pauses_s[i];
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        y[i] = (1.0 + cold * square / (square + cooling_s * cooling_s)) *
               (1.0 + sign * noise);
    }
}

static const struct fulcrum_fit_estimate *fit_pauses(
    const double *y, const char *name, struct fulcrum_fit_result *out)
{
    ASSERT_OK(fulcrum_fit_pause(out, pauses_s, y, PAUSES, NULL));
    return fulcrum_fit_find(out, name);
}

/* The prior pulls a little where the points are exact and their noise is assumed. */
TEST(test_what_made_the_points_is_found)
{
    static const double colds[] = {0.2, 0.6, 3.0};
    static const double coolings_s[] = {1.5e-3, 5e-3, 12e-3};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            double y[PAUSES];
            struct fulcrum_fit_result found;
            fill_pauses(y, colds[i], coolings_s[k], 0.0);
            assert_close("cold", fit_pauses(y, "cold", &found)->value, colds[i], 0.08);
            assert_close("cooling", fit_pauses(y, "cooling_s", &found)->value,
                coolings_s[k], 0.1);
        }
    }
}

TEST(test_noise_is_within_the_error)
{
    double y[PAUSES];
    struct fulcrum_fit_result found;
    fill_pauses(y, 0.6, 6e-3, 0.02);
    const struct fulcrum_fit_estimate *cold = fit_pauses(y, "cold", &found);
    CU_ASSERT(cold->standard_error > 0.005 && cold->standard_error < 0.2);
    CU_ASSERT(fabs(cold->value - 0.6) < 3.0 * cold->standard_error);
}

/* Nothing to see: no cold, and a cooling time that is only believed. */
TEST(test_a_learner_that_stays_warm_leaves_the_prior)
{
    double y[PAUSES];
    struct fulcrum_fit_result found;
    fill_pauses(y, 0.0, 5e-3, 0.005);
    CU_ASSERT(fit_pauses(y, "cold", &found)->value < 0.02);
    const struct fulcrum_fit_estimate *cooling = fulcrum_fit_find(&found, "cooling_s");
    CU_ASSERT(cooling->value > 1e-3 && cooling->value < 25e-3);
    CU_ASSERT(cooling->prior_share > 0.5);
}

TEST(test_one_pause_is_too_few)
{
    struct fulcrum_fit_result found;
    const double y = 1.2;
    ASSERT_FAILS(fulcrum_fit_pause(&found, pauses_s, &y, 1, &err), FULCRUM_ERR_NO_FIT,
        "inference after a pause");
}
