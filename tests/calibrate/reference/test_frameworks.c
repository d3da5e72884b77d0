/* test_frameworks.c - whole frameworks over environments: points that no fit has seen,
 * predicted by the network and by small formulas. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/reference_fit.h"
#include "calibrate/reference/validation.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

static const struct {
    const char *reference;
    const char *prior;
} environments[] = {
    {"sf-fig3-10-core-atari", "sf-10-core-atari-prior"},
    {"sf-fig3-10-core-vizdoom", "sf-10-core-vizdoom-prior"},
    {"sf-fig3-10-core-dmlab", "sf-10-core-dmlab-prior"},
};
enum { ENVIRONMENTS = LENGTH(environments) };

#define SEED_RL "SEED RL V-trace"

/* Every environment with what is predicted of it. */
struct predicted {
    struct fulcrum_reference *references[ENVIRONMENTS];
    struct fulcrum_validation sets[ENVIRONMENTS];
};

/* A case with all of that. */
#define PREDICTED_TEST(function)                                                       \
    TEST_EACH(function, with_predicted, const struct predicted *all)
static void with_predicted(void (*run)(const struct predicted *all))
{
    struct predicted all;
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        ASSERT_SAYS(
            fulcrum_reference_load(environments[i].reference, &all.references[i], &err),
            FULCRUM_OK, "");
        ASSERT_SAYS(fulcrum_validate(all.references[i], NULL, &all.sets[i], &err),
            FULCRUM_OK, "");
    }
    run(&all);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        fulcrum_validation_clear(&all.sets[i]);
        fulcrum_reference_free(all.references[i]);
    }
}

/* Over the points of one framework that no fit has seen, of all environments. */
static struct fulcrum_comparison_errors errors_of(
    const struct predicted *all, const char *series, int baseline)
{
    struct fulcrum_comparison_errors sum = {.count = 0};
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        struct fulcrum_comparison_errors one = fulcrum_comparison_errors(
            &all->sets[i].comparison, series, FULCRUM_COMPARE_PREDICTED, baseline);
        sum.mape_frac += one.mape_frac * (double)one.count;
        sum.max_frac = fmax(sum.max_frac, one.max_frac);
        sum.count += one.count;
    }
    sum.mape_frac /= (double)sum.count;
    return sum;
}

/* Whether the point is one of 20, 80 and 320 environments. */
static bool is_of_fits(const struct fulcrum_reference_point *point)
{
    CU_ASSERT_EQUAL_FATAL(point->setting_count, 1);
    CU_ASSERT_STRING_EQUAL(point->settings[0].path, "run.env_count");
    double n = point->settings[0].number;
    return n == 20.0 || n == 80.0 || n == 320.0;
}

/* Returns how many points the fits have seen. */
static size_t check_set(const struct fulcrum_validation *set)
{
    size_t seen = 0;
    CU_ASSERT_STRING_EQUAL(set->reason, "");
    CU_ASSERT_STRING_EQUAL(set->calibration, "by series");
    CU_ASSERT_EQUAL(set->comparison.count, set->reference->point_count);
    for (size_t k = 0; k < set->comparison.count; k++) {
        const struct fulcrum_compared *item = &set->comparison.items[k];
        CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
        for (size_t rule = 0; rule < FULCRUM_BASELINE_COUNT; rule++) {
            CU_ASSERT(item->baseline[rule] > 0.0);
        }
        CU_ASSERT_EQUAL(item->point, k);
        CU_ASSERT_EQUAL(item->is_fitted, is_of_fits(&set->reference->points[k]));
        seen += item->is_fitted ? 1 : 0;
    }
    return seen;
}

PREDICTED_TEST(test_every_framework_is_predicted_from_three_counts)
{
    size_t seen = 0;
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        seen += check_set(&all->sets[i]);
    }
    CU_ASSERT_EQUAL(seen, 3 * 5 * 3 - 3); /* DeepMind's IMPALA ends at 160 */
}

/* What is promised of SEED RL, and what the others were found to be. */
PREDICTED_TEST(test_held_out_points_are_met)
{
    static const struct {
        const char *series;
        size_t count;
        double mape_frac;
        double max_frac;
    } cases[] = {
        {SEED_RL, 6, 0.045, 0.12},
        {"SampleFactory APPO", 9, 0.055, 0.105},
        {"rlpyt PPO", 9, 0.065, 0.14},
        {"RLlib IMPALA", 8, 0.085, 0.22},
        {"DeepMind IMPALA", 6, 0.055, 0.14},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_comparison_errors found = errors_of(all, cases[i].series, -1);
        (void)fprintf(stderr, "%s: %zu points, %.2f / %.1f %%\n", cases[i].series,
            found.count, 100.0 * found.mape_frac, 100.0 * found.max_frac);
        CU_ASSERT_EQUAL(found.count, cases[i].count);
        CU_ASSERT(found.mape_frac <= cases[i].mape_frac);
        CU_ASSERT(found.max_frac <= cases[i].max_frac);
    }
}

/* The formulas are fitted to the same points, and are no strawmen. */
PREDICTED_TEST(test_formulas_compare_as_they_were_found_to)
{
    struct fulcrum_comparison_errors capped =
        errors_of(all, SEED_RL, FULCRUM_BASELINE_CAPPED_HYPERBOLA);
    struct fulcrum_comparison_errors free =
        errors_of(all, SEED_RL, FULCRUM_BASELINE_HYPERBOLA);
    CU_ASSERT_EQUAL(capped.count, 6);
    CU_ASSERT_EQUAL(free.count, 6);
    assert_close("capped hyperbola", capped.mape_frac, 0.0355, 0.01);
    assert_close("capped hyperbola, largest", capped.max_frac, 0.083, 0.01);
    assert_close("hyperbola", free.mape_frac, 0.0557, 0.01);
    assert_close("hyperbola, largest", free.max_frac, 0.146, 0.01);
    CU_ASSERT(errors_of(all, SEED_RL, FULCRUM_BASELINE_TEXTBOOK).mape_frac >
              errors_of(all, SEED_RL, -1).mape_frac);
}

/* Each stored value is where the fit has its best parameters. */
static void compare_fit(const struct fulcrum_reference_fit *fit, const char *name)
{
    static const struct fulcrum_parameter none = {.value = 0.0};
    struct fulcrum_calibration *shipped = NULL;
    ASSERT_OK(fulcrum_calibration_load(name, &shipped, NULL));
    CU_ASSERT_EQUAL(fit->parameter_count, 4);
    for (size_t i = 0; i < fit->parameter_count; i++) {
        const struct fulcrum_parameter *stored =
            fulcrum_calibration_parameter(shipped, fit->parameters[i].prior.path);
        stored = stored != NULL ? stored : &none;
        CU_ASSERT_EQUAL(stored->origin, FULCRUM_ORIGIN_FITTED);
        assert_close(name, stored->value, fit->parameters[i].mode, 1e-3);
    }
    fulcrum_calibration_free(shipped);
}

/* One framework at its three counts, from the priors of its environment. */
static void check_fit(size_t environment, const struct fulcrum_series_calibration *own)
{
    static const double omitted[] = {2.0, 4.0, 6.0};
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_calibration *prior = NULL;
    ASSERT_OK(
        fulcrum_reference_load(environments[environment].reference, &reference, NULL));
    ASSERT_OK(fulcrum_reference_keep_series(reference, own->series, NULL));
    ASSERT_OK(fulcrum_calibration_load(environments[environment].prior, &prior, NULL));
    const struct fulcrum_reference *one = reference;
    const struct fulcrum_calibration *start = prior;
    const struct fulcrum_reference_fit_plan plan = {.model = {.references = &one,
                                                        .reference_count = 1,
                                                        .calibrations = &start,
                                                        .calibration_count = 1,
                                                        .thread_count = 1},
        .held_out = omitted,
        .held_out_count = reference->point_count / 2,
        .noise_rel = 0.03,
        .seed = 1};
    struct fulcrum_reference_fit fit;
    ASSERT_OK(fulcrum_reference_fit_run(&plan, &fit, NULL));
    compare_fit(&fit, own->calibration);
    fulcrum_reference_fit_clear(&fit);
    fulcrum_calibration_free(prior);
    fulcrum_reference_free(reference);
}

TEST(test_calibrations_are_what_their_fits_find)
{
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        struct fulcrum_reference *reference = NULL;
        ASSERT_OK(fulcrum_reference_load(environments[i].reference, &reference, NULL));
        CU_ASSERT_EQUAL(reference->calibration_count, 5);
        for (size_t k = 0; k < reference->calibration_count; k++) {
            check_fit(i, &reference->calibrations[k]);
        }
        fulcrum_reference_free(reference);
    }
}

TEST(test_a_series_without_calibration_says_so)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation part;
    ASSERT_OK(fulcrum_reference_load(environments[0].reference, &reference, NULL));
    reference->calibration_count = 1;
    ASSERT_OK(fulcrum_validate(reference, NULL, &part, NULL));
    CU_ASSERT_EQUAL(part.comparison.count, 6);
    CU_ASSERT_STRING_EQUAL(part.calibration, "appo-10-core-atari");
    CU_ASSERT_PTR_NOT_NULL(strstr(part.reason, "no calibration goes with series"));
    CU_ASSERT_PTR_NOT_NULL(strstr(part.reason, "'rlpyt PPO', 'RLlib IMPALA'"));
    CU_ASSERT_PTR_NULL(strstr(part.reason, "APPO"));
    fulcrum_validation_clear(&part);
    fulcrum_reference_free(reference);
}

/* A calibration of one series has seen nothing of the others. */
TEST(test_marks_are_those_of_the_calibration_in_use)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_validation other;
    size_t fitted = 0;
    ASSERT_OK(fulcrum_reference_load(environments[0].reference, &reference, NULL));
    ASSERT_OK(fulcrum_calibration_load("seed-rl-10-core-atari", &calibration, NULL));
    ASSERT_OK(fulcrum_validate(reference, calibration, &other, NULL));
    CU_ASSERT_EQUAL(other.comparison.count, reference->point_count);
    for (size_t k = 0; k < other.comparison.count; k++) {
        const struct fulcrum_compared *item = &other.comparison.items[k];
        bool is_seed = strcmp(reference->points[item->point].series, SEED_RL) == 0;
        CU_ASSERT(is_seed || !item->is_fitted);
        CU_ASSERT(is_seed || isnan(item->baseline[FULCRUM_BASELINE_HYPERBOLA]));
        fitted += item->is_fitted ? 1 : 0;
    }
    CU_ASSERT_EQUAL(fitted, 3);
    fulcrum_validation_clear(&other);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(reference);
}

SUITE_SETUP
{
    /* The data of this tree, not what is installed; CTest runs in its root. */
    return setenv("FULCRUM_PRESETS", "presets", 1);
}
