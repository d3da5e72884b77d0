/* test_frameworks.c - whole frameworks over environments: points that no fit has seen,
 * predicted by the network and by small formulas. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference_fit.h"
#include "calibrate/validation.h"
#include "presets/preset.h"
#include "presets/reference_load.h"
#include "tests/suite.h"

static const char *const names[] = {
    "sf-fig3-10-core-atari", "sf-fig3-10-core-vizdoom", "sf-fig3-10-core-dmlab"};
enum { ENVIRONMENTS = sizeof names / sizeof names[0] };

#define SEED_RL "SEED RL V-trace"

/* Predicted once for all cases. */
static struct fulcrum_reference *references[ENVIRONMENTS];
static struct fulcrum_validation sets[ENVIRONMENTS];

static int predict_all(void)
{
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        if (fulcrum_reference_load(names[i], &references[i], &err) != FULCRUM_OK ||
            fulcrum_validate(references[i], NULL, &sets[i], &err) != FULCRUM_OK) {
            (void)fprintf(stderr, "%s\n", err.detail);
            return 0;
        }
    }
    return 1;
}

static double env_count_of(size_t set, const struct fulcrum_compared *item)
{
    const struct fulcrum_reference_point *point = &references[set]->points[item->point];
    CU_ASSERT_EQUAL_FATAL(point->setting_count, 1);
    CU_ASSERT_STRING_EQUAL(point->settings[0].path, "run.env_count");
    return point->settings[0].number;
}

/* Over the points of one framework that no fit has seen, of all environments. */
static struct fulcrum_comparison_errors held_out(const char *series, int baseline)
{
    struct fulcrum_comparison_errors sum = {.count = 0};
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        struct fulcrum_comparison_errors one = fulcrum_comparison_errors(
            &sets[i].comparison, series, FULCRUM_COMPARE_PREDICTED, baseline);
        sum.mape_frac += one.mape_frac * (double)one.count;
        sum.max_frac = fmax(sum.max_frac, one.max_frac);
        sum.count += one.count;
    }
    sum.mape_frac /= (double)sum.count;
    return sum;
}

static void test_every_framework_is_predicted(void)
{
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        CU_ASSERT_STRING_EQUAL(sets[i].reason, "");
        CU_ASSERT_STRING_EQUAL(sets[i].calibration, "by series");
        CU_ASSERT_EQUAL(sets[i].comparison.count, references[i]->point_count);
        for (size_t k = 0; k < sets[i].comparison.count; k++) {
            const struct fulcrum_compared *item = &sets[i].comparison.items[k];
            CU_ASSERT_EQUAL(item->point, k);
            CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
            for (size_t rule = 0; rule < FULCRUM_BASELINE_COUNT; rule++) {
                CU_ASSERT(item->baseline[rule] > 0.0);
            }
        }
    }
}

static void test_fits_have_seen_three_counts_only(void)
{
    size_t seen = 0;
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        for (size_t k = 0; k < sets[i].comparison.count; k++) {
            const struct fulcrum_compared *item = &sets[i].comparison.items[k];
            double n = env_count_of(i, item);
            int is_of_fit = n == 20.0 || n == 80.0 || n == 320.0;
            CU_ASSERT_EQUAL(item->is_fitted, is_of_fit);
            seen += item->is_fitted ? 1 : 0;
        }
    }
    CU_ASSERT_EQUAL(seen, 3 * 5 * 3 - 3); /* DeepMind's IMPALA ends at 160 */
}

/* What is promised of SEED RL, and what the others were found to be. */
static void test_held_out_points_are_met(void)
{
    static const struct {
        const char *series;
        size_t count;
        double mape_frac;
        double max_frac;
    } cases[] = {
        {SEED_RL, 6, 0.045, 0.12},
        {"SampleFactory APPO", 9, 0.055, 0.10},
        {"rlpyt PPO", 9, 0.065, 0.14},
        {"RLlib IMPALA", 8, 0.085, 0.22},
        {"DeepMind IMPALA", 6, 0.055, 0.14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_comparison_errors network = held_out(cases[i].series, -1);
        struct fulcrum_comparison_errors capped =
            held_out(cases[i].series, FULCRUM_BASELINE_CAPPED_HYPERBOLA);
        struct fulcrum_comparison_errors free =
            held_out(cases[i].series, FULCRUM_BASELINE_HYPERBOLA);
        (void)fprintf(stderr,
            "%-20s %zu points: network %.2f / %.1f %%, capped hyperbola %.2f / %.1f "
            "%%, hyperbola %.2f / %.1f %%\n",
            cases[i].series, network.count, 100.0 * network.mape_frac,
            100.0 * network.max_frac, 100.0 * capped.mape_frac, 100.0 * capped.max_frac,
            100.0 * free.mape_frac, 100.0 * free.max_frac);
        CU_ASSERT_EQUAL(network.count, cases[i].count);
        CU_ASSERT(network.mape_frac <= cases[i].mape_frac);
        CU_ASSERT(network.max_frac <= cases[i].max_frac);
    }
}

/* The formulas are fitted to the same points, and are no strawmen. */
static void test_formulas_compare_as_they_were_found_to(void)
{
    struct fulcrum_comparison_errors capped =
        held_out(SEED_RL, FULCRUM_BASELINE_CAPPED_HYPERBOLA);
    struct fulcrum_comparison_errors free =
        held_out(SEED_RL, FULCRUM_BASELINE_HYPERBOLA);
    CU_ASSERT_EQUAL(capped.count, 6);
    CU_ASSERT_EQUAL(free.count, 6);
    CU_ASSERT(capped.mape_frac > 0.03 && capped.mape_frac < 0.04);
    CU_ASSERT(free.mape_frac > 0.05 && free.mape_frac < 0.062);
    CU_ASSERT(held_out(SEED_RL, FULCRUM_BASELINE_TEXTBOOK).mape_frac >
              held_out(SEED_RL, -1).mape_frac);
}

/* The fit of one framework to its three counts, from the priors of its environment. */
static void check_fit(size_t set, const struct fulcrum_series_calibration *own)
{
    static const char *const priors[ENVIRONMENTS] = {
        "sf-10-core-atari-prior", "sf-10-core-vizdoom-prior", "sf-10-core-dmlab-prior"};
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_calibration *prior = NULL;
    struct fulcrum_calibration *shipped = NULL;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load(names[set], &reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_keep_series(reference, own->series, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_calibration_load(priors[set], &prior, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_calibration_load(own->calibration, &shipped, NULL), FULCRUM_OK);
    static const double held_out[] = {2.0, 4.0, 6.0};
    const struct fulcrum_reference *one = reference;
    const struct fulcrum_calibration *start = prior;
    const struct fulcrum_reference_fit_plan plan = {.references = &one,
        .reference_count = 1,
        .calibrations = &start,
        .calibration_count = 1,
        .held_out = held_out,
        .held_out_count = reference->point_count / 2,
        .noise_rel = 0.03,
        .seed = 1,
        .thread_count = 1};
    struct fulcrum_reference_fit fit;
    CU_ASSERT_EQUAL_FATAL(fulcrum_reference_fit_run(&plan, &fit, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fit.parameter_count, 4);
    for (size_t i = 0; i < fit.parameter_count; i++) {
        const char *path = fit.parameters[i].prior.path;
        const struct fulcrum_parameter *stored =
            fulcrum_calibration_parameter(shipped, path);
        CU_ASSERT_PTR_NOT_NULL_FATAL(stored);
        CU_ASSERT_EQUAL(stored->origin, FULCRUM_ORIGIN_FITTED);
        suite_assert_close(
            own->calibration, stored->value, fit.parameters[i].mode, 1e-3);
    }
    fulcrum_reference_fit_clear(&fit);
    fulcrum_calibration_free(shipped);
    fulcrum_calibration_free(prior);
    fulcrum_reference_free(reference);
}

static void test_calibrations_are_what_their_fits_find(void)
{
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        CU_ASSERT_EQUAL(references[i]->calibration_count, 5);
        for (size_t k = 0; k < references[i]->calibration_count; k++) {
            check_fit(i, &references[i]->calibrations[k]);
        }
    }
}

static void test_a_series_without_calibration_says_so(void)
{
    struct fulcrum_reference *reference = references[0];
    struct fulcrum_validation part;
    size_t all = reference->calibration_count;
    reference->calibration_count = 1;
    CU_ASSERT_EQUAL(fulcrum_validate(reference, NULL, &part, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(part.comparison.count, 6);
    CU_ASSERT_STRING_EQUAL(part.calibration, "appo-10-core-atari");
    CU_ASSERT_PTR_NOT_NULL(strstr(part.reason, "no calibration goes with series"));
    CU_ASSERT_PTR_NOT_NULL(strstr(part.reason, "'rlpyt PPO', 'RLlib IMPALA'"));
    CU_ASSERT_PTR_NULL(strstr(part.reason, "APPO"));
    fulcrum_validation_clear(&part);
    reference->calibration_count = all;
}

/* What was left out of a fit by one series may have been seen by that of another. */
static void test_marks_are_those_of_the_calibration_in_use(void)
{
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_validation other;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_calibration_load("seed-rl-10-core-atari", &calibration, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL(
        fulcrum_validate(references[0], calibration, &other, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(other.comparison.count, references[0]->point_count);
    size_t fitted = 0;
    for (size_t k = 0; k < other.comparison.count; k++) {
        const struct fulcrum_compared *item = &other.comparison.items[k];
        int is_seed = strcmp(references[0]->points[item->point].series, SEED_RL) == 0;
        CU_ASSERT(is_seed || !item->is_fitted);
        CU_ASSERT(is_seed || isnan(item->baseline[FULCRUM_BASELINE_HYPERBOLA]));
        fitted += item->is_fitted ? 1 : 0;
    }
    CU_ASSERT_EQUAL(fitted, 3);
    fulcrum_validation_clear(&other);
    fulcrum_calibration_free(calibration);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_every_framework_is_predicted),
        SUITE_CASE(test_fits_have_seen_three_counts_only),
        SUITE_CASE(test_held_out_points_are_met),
        SUITE_CASE(test_formulas_compare_as_they_were_found_to),
        SUITE_CASE(test_calibrations_are_what_their_fits_find),
        SUITE_CASE(test_a_series_without_calibration_says_so),
        SUITE_CASE(test_marks_are_those_of_the_calibration_in_use),
    };
    /* The data of this tree, not what is installed; CTest runs in its root. */
    if (setenv("FULCRUM_PRESETS", "presets", 1) != 0 || !predict_all()) {
        return EXIT_FAILURE;
    }
    int status =
        suite_run("frameworks", cases, sizeof cases / sizeof cases[0], argc, argv);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        fulcrum_validation_clear(&sets[i]);
        fulcrum_reference_free(references[i]);
    }
    return status;
}
