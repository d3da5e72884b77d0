/* test_discrepancy.c - what the model is off by, learnt from made sets. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/throughput.h"
#include "calibrate/reference/validation.h"
#include "model/number.h"
#include "presets/load/preset.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* Half of a 90 % interval of a normal law. */
static const double half = 1.6448536269514722;

enum { SETS = 6, POINTS = 200, CURVES = 8 };

/* Sets of points whose logarithms are off by mean and deviation, known parameters
 * aside; every fourth lies one doubling beyond what the fit has seen. */
struct made {
    struct fulcrum_reference references[SETS];
    struct fulcrum_reference_point points[POINTS];
    struct fulcrum_compared items[SETS][POINTS];
    struct fulcrum_validation sets[SETS];
};

static const double mean = 0.03;
static const double deviation = 0.05;
static const double beyond = 0.12;
static const double of_parameters = 0.02;

static void make(struct made *made, double shift_of_last)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, 7);
    for (size_t k = 0; k < POINTS; k++) {
        made->points[k] = (struct fulcrum_reference_point){.index = k};
        (void)snprintf(made->points[k].series, sizeof made->points[k].series,
            "curve %zu%s", k % CURVES, k % 16 == 5 ? ", disturbed" : "");
    }
    for (size_t i = 0; i < SETS; i++) {
        struct fulcrum_reference *reference = &made->references[i];
        *reference =
            (struct fulcrum_reference){.points = made->points, .point_count = POINTS};
        (void)snprintf(reference->name, sizeof reference->name, "set-%zu", i);
        for (size_t k = 0; k < POINTS; k++) {
            double doublings = k % 4 == 3 ? 1.0 : 0.0;
            double sd = hypot(deviation, doublings * beyond);
            double off = mean + gsl_ran_gaussian(rng, hypot(sd, of_parameters));
            off += i + 1 == SETS ? shift_of_last : 0.0;
            made->items[i][k] = (struct fulcrum_compared){.point = k,
                .observed = 100.0 * exp(off),
                .predicted = 100.0,
                .lo = 100.0 * exp(-half * sd),
                .hi = 100.0 * exp(half * sd),
                .bare = {100.0 * exp(-half * of_parameters),
                    100.0 * exp(half * of_parameters), 100.0},
                .discrepancy = 1,
                .doublings = doublings};
        }
        made->sets[i] = (struct fulcrum_validation){
            .reference = reference, .comparison = {reference, POINTS, made->items[i]}};
    }
    gsl_rng_free(rng);
}

static struct fulcrum_calibration *learn(const struct made *made)
{
    struct fulcrum_calibration *learnt = NULL;
    ASSERT_OK(fulcrum_discrepancy_learn(made->sets, SETS, 1, &learnt, NULL));
    return learnt;
}

static const struct fulcrum_parameter *parameter_of(
    const struct fulcrum_calibration *calibration, const char *path)
{
    const struct fulcrum_parameter *found =
        fulcrum_calibration_parameter(calibration, path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    if (found == NULL) {
        abort();
    }
    return found;
}

/* Of the discrepancy without a set. */
static const struct fulcrum_quantity *without_set(
    const struct fulcrum_calibration *calibration, const char *set)
{
    char name[FULCRUM_DISCREPANCY_NAME_SIZE];
    fulcrum_discrepancy_without("run.discrepancy", set, name);
    const struct fulcrum_quantity *found =
        fulcrum_calibration_quantity(calibration, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    if (found == NULL) {
        abort();
    }
    return found;
}

/* t(47) of 48 curves is 1.02 times the normal quantile, and the mean adds 1 %. */
TEST(test_laws_are_found_again)
{
    static struct made made;
    make(&made, 0.0);
    struct fulcrum_calibration *learnt = learn(&made);
    const struct fulcrum_parameter *off = parameter_of(learnt, "run.discrepancy");
    const struct fulcrum_parameter *out = parameter_of(learnt, "run.extrapolation");
    assert_close("mean", log(off->value), mean, 0.1);
    assert_close("deviation", off->standard_error / off->value, deviation * 1.03, 0.05);
    CU_ASSERT_EQUAL(out->value, 1.0);
    assert_close("beyond", out->standard_error, beyond * 1.02, 0.05);
    CU_ASSERT_EQUAL(off->scale, FULCRUM_SCALE_LOG);
    fulcrum_calibration_free(learnt);
}

/* A set that is far off moves all laws but its own. */
TEST(test_a_set_is_judged_without_itself)
{
    static struct made made;
    make(&made, 0.5);
    struct fulcrum_calibration *learnt = learn(&made);
    const struct fulcrum_quantity *without = without_set(learnt, "set-5");
    assert_close("own", log(without->value), mean, 0.1);
    assert_close(
        "own deviation", log(without->hi / without->value), deviation * 1.03, 0.07);
    without = without_set(learnt, "set-0");
    CU_ASSERT(log(without->hi / without->value) > 3.0 * deviation);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(fulcrum_calibration_note(learnt, "learnt_from"), "set-0, set-1"));
    fulcrum_calibration_free(learnt);
}

/* Seen by a fit, carried over, or of another kind: nothing is learnt from those. */
TEST(test_only_unseen_points_of_the_kind_count)
{
    static struct made made;
    struct fulcrum_calibration *learnt = NULL;
    make(&made, 0.0);
    for (size_t i = 0; i < SETS; i++) {
        made.sets[i].is_carried_over = i < 3;
        for (size_t k = 0; k < POINTS; k++) {
            made.items[i][k].is_fitted = i == 3;
            made.items[i][k].discrepancy = i == 4 ? 0 : 1;
            made.items[i][k].bare.median = i == 5 ? (double)NAN : 100.0;
        }
    }
    ASSERT_FAILS(fulcrum_discrepancy_learn(made.sets, SETS, 1, &learnt, &err),
        FULCRUM_ERR_NO_FIT, "discrepancy-fits");
    ASSERT_OK(fulcrum_discrepancy_learn(made.sets, SETS, 0, &learnt, NULL));
    /* Without the only set there is nothing to learn from. */
    CU_ASSERT_EQUAL(learnt->parameter_count, 2);
    CU_ASSERT_EQUAL(learnt->quantity_count, 0);
    fulcrum_calibration_free(learnt);
}

/* Of a normal law: the shares are those of the law, and the scores have closed forms.
 */
TEST(test_scores_of_a_normal_law)
{
    static struct made made;
    make(&made, 0.0);
    for (size_t i = 0; i < SETS; i++) {
        for (size_t k = 0; k < POINTS; k++) {
            struct fulcrum_compared *item = &made.items[i][k];
            double sd = item->doublings > 0.0 ? hypot(deviation, beyond) : deviation;
            sd = hypot(sd, of_parameters);
            item->predicted = 100.0 * exp(mean);
            item->lo = item->predicted * exp(-half * sd);
            item->hi = item->predicted * exp(half * sd);
        }
    }
    double scores[3] = {0.0, 0.0, 0.0};
    double crps = 0.0;
    for (size_t i = 0; i < SETS; i++) {
        struct fulcrum_comparison_errors errors = fulcrum_comparison_errors(
            &made.sets[i].comparison, NULL, FULCRUM_COMPARE_ALL, -1);
        CU_ASSERT_EQUAL(errors.interval_count, POINTS);
        scores[0] += errors.covered_frac / SETS;
        scores[1] += errors.half_covered_frac / SETS;
        scores[2] += errors.interval_score / SETS;
        crps += errors.crps / SETS;
    }
    double near = hypot(deviation, of_parameters);
    double far = hypot(hypot(deviation, beyond), of_parameters);
    double sd = 0.75 * near + 0.25 * far;
    CU_ASSERT_DOUBLE_EQUAL(scores[0], 0.9, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(scores[1], 0.5, 0.03);
    /* Gneiting and Raftery 2007: sd / sqrt(pi); and 4.126 sd at 90 %. */
    assert_close("CRPS", crps, sd / sqrt(M_PI), 0.04);
    assert_close("interval score", scores[2], 4.126 * sd, 0.04);
}

/* Which preset goes with which calibrations. */
TEST(test_a_discrepancy_goes_with_its_kind)
{
    struct fulcrum_calibration *given[1] = {NULL};
    struct fulcrum_calibration *off = NULL;
    const struct fulcrum_calibration *const *const all =
        (const struct fulcrum_calibration *const *)given;
    ASSERT_OK(fulcrum_calibration_new(&given[0], NULL));
    ASSERT_OK(fulcrum_discrepancy_load(all, 1, &off, NULL));
    CU_ASSERT_STRING_EQUAL(off->name, "discrepancy-pieces");
    CU_ASSERT(off->parameters[0].standard_error > 0.0);
    fulcrum_calibration_free(off);
    ASSERT_OK(
        fulcrum_calibration_add_note(given[0], FULCRUM_NOTE_FITTED_TO, "any", NULL));
    ASSERT_OK(fulcrum_discrepancy_load(all, 1, &off, NULL));
    CU_ASSERT_STRING_EQUAL(off->name, "discrepancy-fits");
    fulcrum_calibration_free(off);
    designs_add_log(given[0], "run.discrepancy", 1.0, 0.2);
    ASSERT_OK(fulcrum_discrepancy_load(all, 1, &off, NULL));
    CU_ASSERT_PTR_NULL(off);
    fulcrum_calibration_free(given[0]);
}
