/* test_calibration.c - parameters, their covariance, and draws from them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/design/calibration.h"

#include <math.h>
#include <string.h>

#include "model/design/sampler.h"
#include "tests/support/suite.h"

static struct fulcrum_calibration *new_calibration(void)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    return calibration;
}

static void add(struct fulcrum_calibration *calibration, const char *path, double value,
    double standard_error, enum fulcrum_scale scale)
{
    struct fulcrum_parameter parameter = {
        .value = value, .standard_error = standard_error, .scale = scale};
    (void)strncpy(parameter.path, path, sizeof parameter.path - 1);
    ASSERT_OK(fulcrum_calibration_add_parameter(calibration, &parameter, NULL));
}

TEST(test_parameters_keep_their_place_and_variance)
{
    struct fulcrum_calibration *calibration = new_calibration();
    add(calibration, "workload.step.mean_s", 2e-3, 1e-4, FULCRUM_SCALE_LOG);
    add(calibration, "workload.step.cv", 0.5, 0.1, FULCRUM_SCALE_LINEAR);
    ASSERT_OK(fulcrum_calibration_set_covariance(
        calibration, "workload.step.mean_s", "workload.step.cv", 5e-6, NULL));
    CU_ASSERT_EQUAL(fulcrum_calibration_set_covariance(
                        calibration, "workload.step.mean_s", "nothing", 5e-6, NULL),
        FULCRUM_ERR_UNKNOWN_NAME);
    CU_ASSERT_DOUBLE_EQUAL(calibration->covariance[1], 5e-6, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(calibration->covariance[2], 5e-6, 0.0);
    ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
    add(calibration, "workload.step.mean_s", 3e-3, 2e-4, FULCRUM_SCALE_LOG);
    CU_ASSERT_EQUAL(calibration->parameter_count, 2);
    CU_ASSERT_DOUBLE_EQUAL(calibration->covariance[0], 4e-8, 1e-20);
    CU_ASSERT_DOUBLE_EQUAL(calibration->covariance[1], 0.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(
        fulcrum_calibration_parameter(calibration, "workload.step.mean_s")->value, 3e-3,
        0.0);
    CU_ASSERT_PTR_NULL(fulcrum_calibration_parameter(calibration, "workload.step.law"));
    fulcrum_calibration_free(calibration);
    fulcrum_calibration_free(NULL);
}

TEST(test_series_tables_and_notes_are_copied)
{
    struct fulcrum_calibration *calibration = new_calibration();
    double x[] = {1, 2};
    double value[] = {3, 4};
    struct fulcrum_series series = {
        .name = "throughput", .count = 2, .x = x, .value = value};
    ASSERT_OK(fulcrum_calibration_add_series(calibration, &series, NULL));
    CU_ASSERT(calibration->series[0].x != x);
    CU_ASSERT_EQUAL(calibration->series[0].x[0], 1.0);
    CU_ASSERT_EQUAL(calibration->series[0].canary_rel[1], 1.0);
    CU_ASSERT_EQUAL(calibration->series[0].disturbed[1], 0.0);
    ASSERT_OK(fulcrum_calibration_add_note(calibration, "kernel", "6.1", NULL));
    ASSERT_OK(fulcrum_calibration_add_note(calibration, "empty", NULL, NULL));
    CU_ASSERT_STRING_EQUAL(calibration->notes[0].text, "6.1");
    CU_ASSERT_STRING_EQUAL(calibration->notes[1].text, "");
    struct fulcrum_quantity quantity = {"env_memory_byte", 5, 4, 6, "byte"};
    ASSERT_OK(fulcrum_calibration_add_quantity(calibration, &quantity, NULL));
    CU_ASSERT_EQUAL(
        fulcrum_calibration_quantity(calibration, "env_memory_byte")->value, 5.0);
    CU_ASSERT_PTR_NULL(fulcrum_calibration_quantity(calibration, "x"));
    double times[] = {1e-3, 2e-3};
    double sizes[] = {1, 8};
    ASSERT_OK(fulcrum_time_table_set(&calibration->batch_time, sizes, times, 2, NULL));
    ASSERT_OK(fulcrum_calibration_set_capacity(calibration, sizes, 2, NULL));
    ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
    fulcrum_calibration_free(calibration);
}

TEST(test_check_names_each_fault)
{
    static const struct {
        const char *path;
        double value;
        double standard_error;
        enum fulcrum_scale scale;
        enum fulcrum_status status;
        const char *detail;
    } faults[] = {
        {"workload.step.men_s", 1, 0, FULCRUM_SCALE_LINEAR, FULCRUM_ERR_UNKNOWN_NAME,
            "workload.step.mean_s"},
        {"machine.gpu.name", 1, 0, FULCRUM_SCALE_LINEAR, FULCRUM_ERR_UNKNOWN_NAME,
            "number"},
        {"workload.step.mean_s", -1, 0, FULCRUM_SCALE_LINEAR, FULCRUM_ERR_RANGE,
            "= -1"},
        {"workload.step.mean_s", 1, -1, FULCRUM_SCALE_LINEAR, FULCRUM_ERR_RANGE,
            "standard_error"},
        {"workload.step.cv", 0, 0.1, FULCRUM_SCALE_LOG, FULCRUM_ERR_RANGE, "scale log"},
        {"workload.step.mean_s", 2e-3, 1.3, FULCRUM_SCALE_LOG, FULCRUM_ERR_RANGE,
            "is no factor"},
        {"workload.step.cv", 2, 0.1, FULCRUM_SCALE_LOGIT, FULCRUM_ERR_RANGE,
            "scale logit"},
    };
    for (size_t i = 0; i < LENGTH(faults); i++) {
        struct fulcrum_calibration *calibration = new_calibration();
        add(calibration, faults[i].path, faults[i].value, faults[i].standard_error,
            faults[i].scale);
        ASSERT_FAILS(fulcrum_calibration_check(calibration, &err), faults[i].status,
            faults[i].detail);
        fulcrum_calibration_free(calibration);
    }
}

TEST(test_check_refuses_impossible_tables_and_covariances)
{
    struct fulcrum_calibration *calibration = new_calibration();
    const double sizes[] = {8, 1};
    const double times[] = {1e-3, 0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_time_table_set(&calibration->batch_time, sizes, times, 2, NULL));
    CU_ASSERT_EQUAL(fulcrum_calibration_check(calibration, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "size[1]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "time_s[1]"));
    fulcrum_calibration_free(calibration);

    /* Correlations .9, .9 and -.9 cannot all hold. */
    calibration = new_calibration();
    const char *paths[] = {
        "workload.step.mean_s", "workload.step.cv", "workload.host.delay_s"};
    for (size_t i = 0; i < 3; i++) {
        add(calibration, paths[i], 0.5, 1.0, FULCRUM_SCALE_LINEAR);
    }
    for (size_t i = 0; i < 3; i++) {
        ASSERT_OK(fulcrum_calibration_set_covariance(
            calibration, paths[i], paths[(i + 1) % 3], i < 2 ? 0.9 : -0.9, NULL));
    }
    CU_ASSERT_EQUAL(fulcrum_calibration_check(calibration, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "semidefinite"));
    ASSERT_OK(
        fulcrum_calibration_set_covariance(calibration, paths[0], paths[1], 1.1, NULL));
    CU_ASSERT_EQUAL(fulcrum_calibration_check(calibration, &err), FULCRUM_ERR_RANGE);
    fulcrum_calibration_free(calibration);
}

enum { DRAWS = 40000 };

/* Moments of draws against the distribution asked for; 4 standard errors of each. */
TEST(test_draws_have_the_moments_asked_for)
{
    struct fulcrum_calibration *calibration = new_calibration();
    add(calibration, "workload.step.mean_s", 2e-3, 2e-4, FULCRUM_SCALE_LOG);
    add(calibration, "workload.step.cv", 0.5, 0.05, FULCRUM_SCALE_LINEAR);
    add(calibration, "machine.cpu.smt_yield_frac", 0.3, 0.03, FULCRUM_SCALE_LOGIT);
    add(calibration, "machine.cpu.knee", 2.0, 0.0, FULCRUM_SCALE_LINEAR);
    ASSERT_OK(fulcrum_calibration_set_covariance(calibration, "workload.step.mean_s",
        "workload.step.cv", -0.8 * 2e-4 * 0.05, NULL));
    ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
    struct fulcrum_sampler *sampler = NULL;
    ASSERT_OK(fulcrum_sampler_new(calibration, &sampler, NULL));
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, 7);
    double sum[4] = {0};
    double square[4] = {0};
    double cross = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        double v[4];
        fulcrum_sampler_draw(sampler, rng, v);
        const double z[4] = {log(v[0] / 2e-3) / 0.1, (v[1] - 0.5) / 0.05,
            (log(v[2] / (1 - v[2])) - log(0.3 / 0.7)) / (0.03 / (0.3 * 0.7)),
            v[3] - 2.0};
        for (size_t i = 0; i < 4; i++) {
            sum[i] += z[i] / DRAWS;
            square[i] += z[i] * z[i] / DRAWS;
        }
        cross += z[0] * z[1] / DRAWS;
    }
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_DOUBLE_EQUAL(sum[i], 0.0, 4.0 / sqrt(DRAWS));
        CU_ASSERT_DOUBLE_EQUAL(square[i], 1.0, 4.0 * sqrt(2.0 / DRAWS));
    }
    CU_ASSERT_DOUBLE_EQUAL(square[3], 0.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(cross, -0.8, 4.0 * sqrt((1 + 0.64) / DRAWS));
    gsl_rng_free(rng);
    fulcrum_sampler_free(sampler);
    fulcrum_sampler_free(NULL);
    fulcrum_calibration_free(calibration);
}

/* Kept draws are taken as they are; a parameter without any has its normal law. */
TEST(test_kept_draws_are_taken)
{
    struct fulcrum_calibration *calibration = new_calibration();
    add(calibration, "workload.step.mean_s", 2e-3, 1e-4, FULCRUM_SCALE_LOG);
    add(calibration, "workload.step.cv", 0.5, 0.1, FULCRUM_SCALE_LOG);
    const double kept[] = {1e-3, NAN, 4e-3, NAN};
    ASSERT_OK(fulcrum_calibration_set_draws(calibration, kept, 2, NULL));
    ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
    struct fulcrum_sampler *sampler = NULL;
    ASSERT_OK(fulcrum_sampler_new(calibration, &sampler, NULL));
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    int seen[2] = {0, 0};
    double least = 1.0;
    double most = 0.0;
    for (int k = 0; k < 1000; k++) {
        double values[2];
        fulcrum_sampler_draw(sampler, rng, values);
        seen[0] += values[0] == kept[0] ? 1 : 0;
        seen[1] += values[0] == kept[2] ? 1 : 0;
        least = fmin(least, values[1]);
        most = fmax(most, values[1]);
    }
    CU_ASSERT_EQUAL(seen[0] + seen[1], 1000);
    CU_ASSERT(seen[0] > 400 && seen[1] > 400);
    CU_ASSERT(least < 0.4 && most > 0.6);
    gsl_rng_free(rng);
    fulcrum_sampler_free(sampler);
    fulcrum_calibration_free(calibration);
}

TEST(test_draws_are_checked_and_dropped)
{
    struct fulcrum_calibration *calibration = new_calibration();
    add(calibration, "workload.step.mean_s", 2e-3, 1e-4, FULCRUM_SCALE_LOG);
    const double bad[] = {1e-3, -1.0};
    ASSERT_OK(fulcrum_calibration_set_draws(calibration, bad, 2, NULL));
    ASSERT_FAILS(fulcrum_calibration_check(calibration, &err), FULCRUM_ERR_RANGE,
        "draws[1][0] = -1: outside");
    add(calibration, "workload.step.mean_s", 2e-3, 1e-4, FULCRUM_SCALE_LOG);
    CU_ASSERT_EQUAL(calibration->draw_count, 0);
    ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
    fulcrum_calibration_free(calibration);
}
