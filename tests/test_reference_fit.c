/* test_reference_fit.c - parameters that made a reference are found again. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference_fit.h"

#include <math.h>
#include <string.h>

#include "tests/hand_reference.h"
#include "tests/suite.h"

static const char *const paths[] = {"workload.step.mean_s", "workload.host.per_item_s"};
static const double truth[] = {3e-3, 5e-5};

/* What simulations say of 1, 8 and 64 actors at `truth`, as if observed. */
static struct fulcrum_reference *observed(const struct fulcrum_calibration *priors)
{
    static const double actors[] = {1.0, 8.0, 64.0};
    struct fulcrum_reference *reference = hand_reference(actors, 3, "steps_per_s");
    const struct fulcrum_reference *references[] = {reference};
    const struct fulcrum_throughput_plan plan = {.references = references,
        .reference_count = 1,
        .calibrations = &priors,
        .calibration_count = 1,
        .paths = paths,
        .path_count = 2,
        .thread_count = 1};
    struct fulcrum_throughput *model = NULL;
    double rate[3];
    CU_ASSERT_EQUAL_FATAL(fulcrum_throughput_new(&plan, &model, NULL), FULCRUM_OK);
    CU_ASSERT_FATAL(
        fulcrum_throughput_forward(fulcrum_throughput_contexts(model)[0], truth, rate));
    for (size_t i = 0; i < 3; i++) {
        reference->points[i].observations[0].value = rate[i];
    }
    fulcrum_throughput_free(model);
    return reference;
}

static struct fulcrum_reference_fit_plan plan_of(
    const struct fulcrum_reference *const *references,
    const struct fulcrum_calibration *const *calibrations)
{
    return (struct fulcrum_reference_fit_plan){.references = references,
        .reference_count = 1,
        .calibrations = calibrations,
        .calibration_count = 1,
        .free_paths = paths,
        .free_count = 2,
        .noise_rel = 0.01, /* well above that of the simulations */
        .seed = 1,
        .thread_count = 1};
}

static void test_what_made_the_figures_is_found(void)
{
    struct fulcrum_calibration *priors = hand_priors();
    struct fulcrum_reference *reference = observed(priors);
    const struct fulcrum_reference *references[] = {reference};
    const struct fulcrum_calibration *calibrations[] = {priors};
    struct fulcrum_reference_fit_plan plan = plan_of(references, calibrations);
    struct fulcrum_reference_fit fit;
    plan.draw_count = 2000;
    plan.prior_draw_count = 500;
    plan.held_out_draw_count = 500;
    CU_ASSERT_EQUAL_FATAL(fulcrum_reference_fit_run(&plan, &fit, NULL), FULCRUM_OK);
    for (size_t i = 0; i < 2; i++) {
        const struct fulcrum_fitted_parameter *found = &fit.parameters[i];
        CU_ASSERT(fabs(log(found->mode / truth[i])) < 2.0 * found->sd);
        CU_ASSERT(found->sd_frac < 0.5);
    }
    for (size_t i = 0; i < 3; i++) {
        const struct fulcrum_fitted_figure *figure = &fit.figures[i];
        suite_assert_close("fitted", figure->mode, figure->figure.value, 0.01);
        suite_assert_close("simulated", figure->simulated, figure->figure.value, 0.01);
        CU_ASSERT(figure->prior.high - figure->prior.low >
                  5.0 * (figure->posterior.high - figure->posterior.low));
    }
    /* Two parameters from two figures: the third follows. */
    suite_assert_close("8 actors from 1 and 64", fit.figures[1].held_out.mean,
        fit.figures[1].figure.value, 0.03);
    fulcrum_reference_fit_clear(&fit);
    fulcrum_reference_free(reference);
    fulcrum_calibration_free(priors);
}

static void test_a_fit_becomes_a_calibration(void)
{
    struct fulcrum_calibration *priors = hand_priors();
    struct fulcrum_reference *reference = observed(priors);
    const struct fulcrum_reference *references[] = {reference};
    const struct fulcrum_calibration *calibrations[] = {priors};
    struct fulcrum_reference_fit_plan plan = plan_of(references, calibrations);
    struct fulcrum_reference_fit fit;
    plan.draw_count = 1000;
    CU_ASSERT_EQUAL_FATAL(fulcrum_reference_fit_run(&plan, &fit, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(
        fulcrum_reference_fit_apply(&fit, "by hand", priors, NULL), FULCRUM_OK);
    static const struct fulcrum_parameter none = {.value = 0.0};
    const struct fulcrum_parameter *step =
        fulcrum_calibration_parameter(priors, paths[0]);
    step = step != NULL ? step : &none;
    CU_ASSERT_EQUAL(step->origin, FULCRUM_ORIGIN_FITTED);
    suite_assert_close("value", step->value, fit.parameters[0].mode, 0.0);
    suite_assert_close(
        "error", step->standard_error / step->value, fit.parameters[0].sd, 1e-9);
    CU_ASSERT_EQUAL(fulcrum_calibration_check(priors, NULL), FULCRUM_OK);
    fulcrum_reference_fit_clear(&fit);
    fulcrum_reference_free(reference);
    fulcrum_calibration_free(priors);
}

static void test_what_cannot_be_fitted_is_refused(void)
{
    static const char *const odd[] = {"workload.step.law"};
    static const double sds[] = {1.0};
    struct fulcrum_calibration *priors = hand_priors();
    struct fulcrum_reference *reference = observed(priors);
    const struct fulcrum_reference *references[] = {reference};
    const struct fulcrum_calibration *calibrations[] = {priors};
    struct fulcrum_reference_fit fit;
    struct fulcrum_error err;
    struct fulcrum_reference_fit_plan plan = plan_of(references, calibrations);
    plan.free_paths = odd;
    plan.free_count = 1;
    CU_ASSERT_EQUAL(
        fulcrum_reference_fit_run(&plan, &fit, &err), FULCRUM_ERR_UNKNOWN_NAME);
    CU_ASSERT(strstr(err.detail, odd[0]) != NULL);
    plan = plan_of(references, calibrations);
    plan.sd = sds;
    plan.sd_count = 1;
    CU_ASSERT_EQUAL(fulcrum_reference_fit_run(&plan, &fit, &err), FULCRUM_ERR_RANGE);
    plan = plan_of(references, calibrations);
    plan.reference_count = 0;
    CU_ASSERT_EQUAL(fulcrum_reference_fit_run(&plan, &fit, &err), FULCRUM_ERR_MISSING);
    fulcrum_reference_free(reference);
    fulcrum_calibration_free(priors);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_what_made_the_figures_is_found),
        SUITE_CASE(test_a_fit_becomes_a_calibration),
        SUITE_CASE(test_what_cannot_be_fitted_is_refused),
    };
    return suite_run(
        "reference_fit", cases, sizeof cases / sizeof cases[0], argc, argv);
}
