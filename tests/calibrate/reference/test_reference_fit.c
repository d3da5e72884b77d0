/* test_reference_fit.c - parameters that made a reference are found again. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/reference_fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/support/hand_reference.h"
#include "tests/support/suite.h"

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
    ASSERT_OK(fulcrum_throughput_new(&plan, &model, NULL));
    CU_ASSERT_FATAL(
        fulcrum_throughput_forward(fulcrum_throughput_contexts(model)[0], truth, rate));
    for (size_t i = 0; i < 3; i++) {
        reference->points[i].observations[0].value = rate[i];
    }
    fulcrum_throughput_free(model);
    return reference;
}

/* What was observed, its priors, and the plan of a fit of both. */
struct hand {
    struct fulcrum_calibration *priors;
    struct fulcrum_reference *reference;
    struct fulcrum_reference_fit_plan plan; /* points into this struct */
};

static void begin(struct hand *out)
{
    static const char *const name = "hand";
    out->priors = hand_priors();
    out->reference = observed(out->priors);
    out->plan = (struct fulcrum_reference_fit_plan){
        .model = {.references =
                      (const struct fulcrum_reference *const *)&out->reference,
            .reference_count = 1,
            .calibrations = (const struct fulcrum_calibration *const *)&out->priors,
            .calibration_count = 1,
            .paths = paths,
            .path_count = 2,
            .thread_count = 1},
        .noise_rel = 0.01, /* well above that of the simulations */
        .seed = 1,
        .names = &name,
        .fit_arguments = "hand"};
}

static void end(struct hand *hand)
{
    fulcrum_reference_free(hand->reference);
    fulcrum_calibration_free(hand->priors);
}

TEST(test_what_made_the_figures_is_found)
{
    struct hand hand;
    begin(&hand);
    struct fulcrum_reference_fit fit;
    hand.plan.draw_count = 2000;
    hand.plan.prior_draw_count = 500;
    hand.plan.held_out_draw_count = 500;
    ASSERT_OK(fulcrum_reference_fit_run(&hand.plan, &fit, NULL));
    for (size_t i = 0; i < 2; i++) {
        const struct fulcrum_fitted_parameter *found = &fit.parameters[i];
        CU_ASSERT(fabs(log(found->mode / truth[i])) < 2.0 * found->sd);
        CU_ASSERT(found->sd_frac < 0.5);
    }
    for (size_t i = 0; i < 3; i++) {
        const struct fulcrum_fitted_figure *figure = &fit.figures[i];
        assert_close("fitted", figure->mode, figure->figure.value, 0.01);
        assert_close("simulated", figure->simulated, figure->figure.value, 0.01);
        CU_ASSERT(figure->prior.high - figure->prior.low >
                  5.0 * (figure->posterior.high - figure->posterior.low));
    }
    /* Two parameters from two figures: the third follows. */
    assert_close("8 actors from 1 and 64", fit.figures[1].held_out.mean,
        fit.figures[1].figure.value, 0.03);
    fulcrum_reference_fit_clear(&fit);
    end(&hand);
}

/* Somebody who wants an end as soon as a stage is so far. */
struct watcher {
    const char *stage;
    int parts; /* of the stage, begun or under way, before the end */
    volatile bool is_over;
};

static void look_on(void *context, double done_frac, const char *stage)
{
    struct watcher *watcher = context;
    CU_ASSERT(done_frac >= 0.0 && done_frac <= 1.0);
    if (strcmp(stage, watcher->stage) == 0) {
        watcher->parts--;
        watcher->is_over = watcher->is_over || watcher->parts < 0;
    }
}

static bool wants_an_end(void *context)
{
    const struct watcher *watcher = context;
    return watcher->is_over;
}

static enum fulcrum_status fit_until(
    const char *stage, int parts, struct fulcrum_reference_fit *out)
{
    struct watcher watcher = {stage, parts, 0};
    struct hand hand;
    begin(&hand);
    hand.plan.draw_count = 1000;
    hand.plan.prior_draw_count = 100;
    hand.plan.held_out_draw_count = 500;
    hand.plan.model.thread_count = 2;
    hand.plan.progress = look_on;
    hand.plan.model.stop = wants_an_end;
    hand.plan.model.watcher = &watcher;
    enum fulcrum_status status = fulcrum_reference_fit_run(&hand.plan, out, NULL);
    end(&hand);
    return status;
}

TEST(test_a_fit_that_is_stopped_early_leaves_nothing)
{
    static const char *const stages[] = {"prior predictive", "best parameters"};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_reference_fit fit = {.figure_count = 7};
        CU_ASSERT_EQUAL(fit_until(stages[i], 0, &fit), FULCRUM_ERR_INTERRUPTED);
        CU_ASSERT_EQUAL(fit.figure_count, 7);
    }
}

/* What slopes at the best parameters leave of the priors holds the truth. */
static void assert_sloped(const struct fulcrum_reference_fit *fit)
{
    for (size_t i = 0; i < 2; i++) {
        const struct fulcrum_fitted_parameter *found = &fit->parameters[i];
        CU_ASSERT(fabs(log(found->mode / truth[i])) < 2.0 * found->sd);
        CU_ASSERT(found->sd_frac > 0.0 && found->sd_frac < 0.5);
    }
}

TEST(test_a_fit_that_is_stopped_keeps_the_best_parameters)
{
    static const char *const stages[] = {
        "simulations of the best parameters", "draws of the posterior"};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_reference_fit fit = {.figure_count = 0};
        ASSERT_OK(fit_until(stages[i], 0, &fit));
        CU_ASSERT_STRING_EQUAL(fit.stopped_in, stages[i]);
        CU_ASSERT_EQUAL(fit.draw_count, 0);
        CU_ASSERT_EQUAL(isnan(fit.figures[0].simulated) != 0, i == 0);
        CU_ASSERT(isnan(fit.figures[0].posterior.mean));
        assert_sloped(&fit);
        fulcrum_reference_fit_clear(&fit);
    }
}

TEST(test_a_fit_that_is_stopped_keeps_its_draws)
{
    struct fulcrum_reference_fit whole = {.figure_count = 0};
    struct fulcrum_reference_fit some = {.figure_count = 0};
    struct fulcrum_reference_fit later = {.figure_count = 0};
    ASSERT_OK(fit_until("no such stage", 0, &whole));
    CU_ASSERT_STRING_EQUAL(whole.stopped_in, "");
    CU_ASSERT_EQUAL(whole.draw_count, 1000);
    /* Four sweeps a step, six before those that are kept: 30 to 90 in all. */
    int parts = 30;
    while (some.draw_count == 0 && parts < 200) {
        fulcrum_reference_fit_clear(&some);
        ASSERT_OK(fit_until("draws of the posterior", parts, &some));
        parts += 4;
    }
    CU_ASSERT(some.draw_count >= 100 && some.draw_count < 1000);
    CU_ASSERT_EQUAL(some.draw_count % 100, 0);
    CU_ASSERT_STRING_EQUAL(some.stopped_in, "draws of the posterior");
    assert_close("sd of some", some.parameters[0].sd, whole.parameters[0].sd, 0.5);
    CU_ASSERT(isnan(some.figures[0].held_out.mean));
    ASSERT_OK(fit_until("figures left out in turn", 0, &later));
    CU_ASSERT_EQUAL(later.draw_count, 1000);
    CU_ASSERT_EQUAL(later.parameters[0].sd, whole.parameters[0].sd);
    CU_ASSERT(isnan(later.figures[0].held_out.mean));
    CU_ASSERT(isfinite(whole.figures[0].held_out.mean));
    fulcrum_reference_fit_clear(&whole);
    fulcrum_reference_fit_clear(&some);
    fulcrum_reference_fit_clear(&later);
}

/* Roughly: slopes are taken over a good part of a prior, and draws see it bend. */
TEST(test_slopes_stand_in_for_draws)
{
    struct fulcrum_reference_fit drawn = {.figure_count = 0};
    struct fulcrum_reference_fit sloped = {.figure_count = 0};
    ASSERT_OK(fit_until("no such stage", 0, &drawn));
    ASSERT_OK(fit_until("draws of the posterior", 0, &sloped));
    for (size_t i = 0; i < 2; i++) {
        double ratio = sloped.parameters[i].sd / drawn.parameters[i].sd;
        CU_ASSERT(ratio > 0.5 && ratio < 2.0);
        CU_ASSERT_EQUAL(sloped.parameters[i].mode, drawn.parameters[i].mode);
    }
    CU_ASSERT(sloped.mode.covariance[1] < 0.0 && drawn.mode.covariance[1] < 0.0);
    fulcrum_reference_fit_clear(&drawn);
    fulcrum_reference_fit_clear(&sloped);
}

/* Where nobody trains the time of a train step has no effect. */
TEST(test_parameters_that_figures_tell_of_are_selected)
{
    static const char *const three[] = {"workload.training.train_step_s",
        "workload.step.mean_s", "workload.host.per_item_s"};
    struct hand hand;
    begin(&hand);
    struct fulcrum_reference_fit fit = {.figure_count = 0};
    hand.plan.model.paths = three;
    hand.plan.model.path_count = 3;
    hand.plan.selects = 1;
    ASSERT_OK(fulcrum_reference_fit_run(&hand.plan, &fit, NULL));
    CU_ASSERT_EQUAL_FATAL(fit.parameter_count, 2);
    CU_ASSERT_STRING_EQUAL(fit.parameters[0].prior.path, three[1]);
    CU_ASSERT_STRING_EQUAL(fit.parameters[1].prior.path, three[2]);
    CU_ASSERT_EQUAL_FATAL(fit.held_count, 1);
    CU_ASSERT_STRING_EQUAL(fit.held[0].path, three[0]);
    assert_close("left", fit.held[0].sd_frac, 1.0, 1e-9);
    fulcrum_reference_fit_clear(&fit);
    hand.plan.model.path_count = 1;
    ASSERT_FAILS(fulcrum_reference_fit_run(&hand.plan, &fit, &err), FULCRUM_ERR_NO_FIT,
        "none of 1 parameters");
    end(&hand);
}

TEST(test_a_fit_becomes_a_calibration)
{
    struct hand hand;
    begin(&hand);
    struct fulcrum_calibration *priors = hand.priors;
    struct fulcrum_reference_fit fit;
    hand.plan.draw_count = 1000;
    ASSERT_OK(fulcrum_reference_fit_run(&hand.plan, &fit, NULL));
    ASSERT_OK(fulcrum_reference_fit_apply(&fit, &hand.plan, priors, NULL));
    static const struct fulcrum_parameter none = {.value = 0.0};
    const struct fulcrum_parameter *step =
        fulcrum_calibration_parameter(priors, paths[0]);
    step = step != NULL ? step : &none;
    CU_ASSERT_EQUAL(step->origin, FULCRUM_ORIGIN_FITTED);
    assert_close("value", step->value, fit.parameters[0].mode, 0.0);
    assert_close(
        "error", step->standard_error / step->value, fit.parameters[0].sd, 1e-9);
    ASSERT_OK(fulcrum_calibration_check(priors, NULL));
    CU_ASSERT_EQUAL_FATAL(priors->draw_count, 256);
    double mean = 0.0;
    for (size_t i = 0; i < priors->draw_count * priors->parameter_count; i++) {
        size_t column = i % priors->parameter_count;
        bool is_fitted = priors->parameters[column].origin == FULCRUM_ORIGIN_FITTED;
        CU_ASSERT_EQUAL(isnan(priors->draws[i]) == 0, is_fitted);
        if (column == (size_t)(step - priors->parameters)) {
            mean += priors->draws[i] / (double)priors->draw_count;
        }
    }
    double off = mean - fit.parameters[0].posterior.mean;
    CU_ASSERT(fabs(off) < 0.3 * fit.parameters[0].posterior.sd);
    fulcrum_reference_fit_clear(&fit);
    end(&hand);
}

TEST(test_what_cannot_be_fitted_is_refused)
{
    static const char *const odd[] = {"workload.step.law"};
    static const double sds[] = {1.0};
    struct hand hand;
    struct fulcrum_reference_fit fit;
    begin(&hand);
    struct fulcrum_reference_fit_plan plan = hand.plan;
    plan.model.paths = odd;
    plan.model.path_count = 1;
    ASSERT_FAILS(
        fulcrum_reference_fit_run(&plan, &fit, &err), FULCRUM_ERR_UNKNOWN_NAME, odd[0]);
    plan = hand.plan;
    plan.sd = sds;
    plan.sd_count = 1;
    CU_ASSERT_EQUAL(fulcrum_reference_fit_run(&plan, &fit, NULL), FULCRUM_ERR_RANGE);
    plan = hand.plan;
    plan.model.reference_count = 0;
    CU_ASSERT_EQUAL(fulcrum_reference_fit_run(&plan, &fit, NULL), FULCRUM_ERR_MISSING);
    end(&hand);
}
