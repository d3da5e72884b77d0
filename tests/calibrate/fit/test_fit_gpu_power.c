/* test_fit_gpu_power.c - watts of a GPU: what levels of load tell, and what not. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "calibrate/random.h"
#include "tests/support/suite.h"

static const struct fulcrum_gpu_power_fit truth = {.idle_w = 70,
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
    double busy_w = truth.dynamic_w * pow(activity, truth.exponent) * load->sm_frac;
    return truth.idle_w + (load->is_active ? truth.floor_w : 0) +
           (activity > 0 ? busy_w : 0);
}

/* Levels of `truth`; watts off by a normal error of `noise_rel`. */
static void draw(struct fulcrum_gpu_load *loads, size_t count, double noise_rel,
    struct fulcrum_random *random)
{
    for (size_t i = 0; i < count; i++) {
        double normal = 0;
        for (int k = 0; k < 12; k++) {
            normal += fulcrum_random_between(random, -0.5, 0.5);
        }
        loads[i].watts =
            watts_of(&loads[i], truth.inference_rel) * (1 + noise_rel * normal);
    }
}

static struct fulcrum_gpu_power_fit fit_of(
    const struct fulcrum_gpu_load *loads, size_t count)
{
    struct fulcrum_gpu_power_fit fit = {0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_fit_gpu_power(&fit, loads, count, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
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
    assert_close("idle", fit.idle_w, truth.idle_w, 1e-4);
    assert_close("floor", fit.floor_w, truth.floor_w, 1e-3);
    assert_close("dynamic", fit.dynamic_w, truth.dynamic_w, 1e-4);
    assert_close("exponent", fit.exponent, truth.exponent, 1e-3);
    assert_close("inference", fit.inference_rel, truth.inference_rel, 1e-3);
    CU_ASSERT_STRING_EQUAL(fit.fit.parameter[0].name, "idle_w");
    CU_ASSERT_STRING_EQUAL(fit.fit.parameter[4].name, "inference_rel");
    CU_ASSERT(fit.fit.residuals.max_abs_rel < 1e-4);
    for (size_t i = 0; i < FULL; i++) {
        loads[i].watts = watts_of(&loads[i], 3);
    }
    assert_close("hungry inference", fit_of(loads, FULL).inference_rel, 3, 1e-3);
}

/* How many of `draws` lie within two standard errors of the truth, per parameter. */
TEST(test_errors_cover_the_truth_under_noise)
{
    enum { DRAWS = 200, FITTED = 5 };
    const double wanted[FITTED] = {truth.idle_w, truth.floor_w, truth.dynamic_w,
        truth.exponent, truth.inference_rel};
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
            double off = found->value - wanted[j];
            within[j] += fabs(off) < 2 * found->standard_error;
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
