/* test_uncertain_input.c - what draws leave to chance can be given, one score for each
 * number.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/scenario.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/sampler.h"
#include "model/design/scale.h"
#include "model/quantity.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { SLOTS_MOST = 32 };

/* A scenario of two calibrations and two priors, and what it borrows. */
struct fixture {
    struct fulcrum_design base;
    struct fulcrum_calibration *calibrations[2];
    struct fulcrum_setting settings[2];
    struct fulcrum_prior priors[2];
    struct fulcrum_scenario_inputs inputs;
    struct fulcrum_scenario *scenario;
};

/* Two correlated numbers, one by itself, one known exactly. */
static struct fulcrum_calibration *new_calibration(
    const struct fulcrum_machine *machine)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    calibration->machine = *machine;
    designs_add_parameter(
        calibration, "workload.host.per_batch_s", 1e-3, 1e-4, FULCRUM_SCALE_LOG);
    designs_add_parameter(
        calibration, "workload.step.mean_s", 2e-3, 2e-4, FULCRUM_SCALE_LOG);
    designs_add_parameter(
        calibration, "workload.host.per_item_s", 2e-5, 2e-6, FULCRUM_SCALE_LOG);
    designs_add_parameter(
        calibration, "workload.host.delay_s", 4e-4, 0.0, FULCRUM_SCALE_LOG);
    ASSERT_OK(
        fulcrum_calibration_set_covariance(calibration, "workload.host.per_batch_s",
            "workload.host.per_item_s", 0.6 * 1e-4 * 2e-6, NULL));
    return calibration;
}

static void start(struct fixture *f)
{
    designs_gpu(&f->base);
    f->calibrations[0] = new_calibration(&f->base.machine);
    f->priors[0] = (struct fulcrum_prior){fulcrum_field_find("machine.rest_w"), 1.5};
    f->priors[1] =
        (struct fulcrum_prior){fulcrum_field_find("workload.step.mean_s"), 1.3};
    f->inputs = (struct fulcrum_scenario_inputs){
        .base = &f->base,
        .calibrations = (const struct fulcrum_calibration *const *)f->calibrations,
        .calibration_count = 1,
        .settings = f->settings,
        .priors = f->priors,
        .prior_count = 2,
    };
}

static void stop(struct fixture *f)
{
    fulcrum_scenario_free(f->scenario);
    fulcrum_calibration_free(f->calibrations[0]);
    fulcrum_calibration_free(f->calibrations[1]);
}

static size_t list(const struct fixture *f, struct fulcrum_uncertain_input **uncertain)
{
    size_t count = 0;
    ASSERT_OK(fulcrum_uncertain_inputs_list(&f->inputs, uncertain, &count, NULL));
    return count;
}

/* The chance of a field; NULL: it has none. */
static const struct fulcrum_uncertain_input *find(
    const struct fulcrum_uncertain_input *uncertain, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (uncertain[i].field != NULL && strcmp(uncertain[i].field->path, path) == 0) {
            return &uncertain[i];
        }
    }
    return NULL;
}

/* A prior below a calibration is not asked; what is known exactly is not left open. */
TEST(test_what_is_in_force_has_a_chance)
{
    struct fixture f = {0};
    struct fulcrum_uncertain_input *uncertain = NULL;
    start(&f);
    size_t count = list(&f, &uncertain);
    CU_ASSERT_EQUAL_FATAL(count, 4);
    const struct fulcrum_uncertain_input *step =
        find(uncertain, count, "workload.step.mean_s");
    const struct fulcrum_uncertain_input *rest =
        find(uncertain, count, "machine.rest_w");
    CU_ASSERT(step != NULL && step->kind == FULCRUM_UNCERTAIN_PARAMETER);
    CU_ASSERT(rest != NULL && rest->kind == FULCRUM_UNCERTAIN_PRIOR);
    CU_ASSERT_PTR_NULL(find(uncertain, count, "workload.host.delay_s"));
    free(uncertain);
    stop(&f);
}

TEST(test_covariance_makes_a_group)
{
    struct fixture f = {0};
    struct fulcrum_uncertain_input *uncertain = NULL;
    start(&f);
    size_t count = list(&f, &uncertain);
    const struct fulcrum_uncertain_input *batch =
        find(uncertain, count, "workload.host.per_batch_s");
    const struct fulcrum_uncertain_input *item =
        find(uncertain, count, "workload.host.per_item_s");
    const struct fulcrum_uncertain_input *step =
        find(uncertain, count, "workload.step.mean_s");
    if (batch != NULL && item != NULL && step != NULL) {
        CU_ASSERT_EQUAL(batch->group, item->group);
        CU_ASSERT_NOT_EQUAL(batch->group, step->group);
        CU_ASSERT_EQUAL(item - batch, 1); /* beside each other */
    }
    CU_ASSERT(batch != NULL && item != NULL && step != NULL);
    free(uncertain);
    stop(&f);
}

TEST(test_settings_and_later_calibrations_leave_no_chance)
{
    struct fixture f = {0};
    struct fulcrum_uncertain_input *uncertain = NULL;
    start(&f);
    f.settings[0] =
        (struct fulcrum_setting){fulcrum_field_find("machine.rest_w"), 90.0, NULL};
    f.inputs.setting_count = 1;
    ASSERT_OK(fulcrum_calibration_new(&f.calibrations[1], NULL));
    f.calibrations[1]->machine = f.base.machine;
    designs_add_parameter(
        f.calibrations[1], "workload.step.mean_s", 3e-3, 0.0, FULCRUM_SCALE_LOG);
    f.inputs.calibration_count = 2;
    size_t count = list(&f, &uncertain);
    CU_ASSERT_EQUAL(count, 2);
    CU_ASSERT_PTR_NULL(find(uncertain, count, "machine.rest_w"));
    CU_ASSERT_PTR_NULL(find(uncertain, count, "workload.step.mean_s"));
    free(uncertain);
    stop(&f);
}

/* Another processor or GPU: one factor for all of its times, as draws have it. */
TEST(test_scaled_times_have_a_chance_of_their_own)
{
    struct fixture f = {0};
    struct fulcrum_uncertain_input *uncertain = NULL;
    start(&f);
    (void)strcpy(f.base.machine.cpu.name, "another");
    size_t count = list(&f, &uncertain);
    size_t cpu = 0;
    for (size_t i = 0; i < count; i++) {
        cpu += uncertain[i].kind == FULCRUM_UNCERTAIN_CPU_SCALE;
        CU_ASSERT_NOT_EQUAL(uncertain[i].kind, FULCRUM_UNCERTAIN_GPU_SCALE);
    }
    CU_ASSERT_EQUAL(cpu, 1);
    free(uncertain);
    (void)strcpy(f.base.machine.gpu.name, "another");
    count = list(&f, &uncertain);
    CU_ASSERT_EQUAL(count, 6);
    free(uncertain);
    stop(&f);
}

static struct fulcrum_design design_in(const struct fixture *f, const double *score)
{
    static const struct fulcrum_point nominal = {NULL, 0, 0, 0};
    struct fulcrum_design design;
    enum fulcrum_status status =
        score != NULL
            ? fulcrum_scenario_design_in(f->scenario, score, &nominal, &design, NULL)
            : fulcrum_scenario_design(f->scenario, &nominal, &design, NULL);
    ASSERT_OK(status);
    return design;
}

static void start_scenario(struct fixture *f, double *score)
{
    start(f);
    ASSERT_OK(fulcrum_scenario_new(&f->inputs, &f->scenario, NULL));
    CU_ASSERT_FATAL(fulcrum_uncertain_input_slots(&f->inputs) <= SLOTS_MOST);
    for (size_t i = 0; i < SLOTS_MOST; i++) {
        score[i] = FULCRUM_UNKNOWN;
    }
}

TEST(test_no_score_is_the_design_itself)
{
    struct fixture f = {0};
    double score[SLOTS_MOST];
    start_scenario(&f, score);
    struct fulcrum_design a = design_in(&f, NULL);
    struct fulcrum_design b = design_in(&f, score);
    CU_ASSERT_EQUAL(a.workload.step.mean_s, b.workload.step.mean_s);
    CU_ASSERT_EQUAL(a.workload.host.per_batch_s, b.workload.host.per_batch_s);
    CU_ASSERT_EQUAL(a.workload.host.delay_s, b.workload.host.delay_s);
    CU_ASSERT_EQUAL(a.machine.rest_w, b.machine.rest_w);
    stop(&f);
}

/* One score at a time: its own field moves as its law says, and nothing else does. */
TEST(test_a_score_moves_its_own_number)
{
    struct fixture f = {0};
    double score[SLOTS_MOST];
    struct fulcrum_uncertain_input *uncertain = NULL;
    start_scenario(&f, score);
    size_t count = list(&f, &uncertain);
    const struct fulcrum_uncertain_input *step =
        find(uncertain, count, "workload.step.mean_s");
    const struct fulcrum_uncertain_input *rest =
        find(uncertain, count, "machine.rest_w");
    if (step != NULL && rest != NULL) {
        score[step->slot] = 2.0;
        struct fulcrum_design design = design_in(&f, score);
        assert_close("step", design.workload.step.mean_s, 2e-3 * exp(0.2), 1e-6);
        assert_close("told", fulcrum_uncertain_input_value(&f.inputs, step, 2.0),
            2e-3 * exp(0.2), 1e-12);
        CU_ASSERT_EQUAL(design.machine.rest_w, 100.0);
        CU_ASSERT_EQUAL(design.workload.host.per_batch_s, 1e-3);
        score[rest->slot] = -1.0;
        design = design_in(&f, score);
        assert_close("rest", design.machine.rest_w, 100.0 / 1.5, 1e-12);
        assert_close("told", fulcrum_uncertain_input_value(&f.inputs, rest, -1.0),
            100.0 / 1.5, 1e-12);
    }
    CU_ASSERT(step != NULL && rest != NULL);
    free(uncertain);
    stop(&f);
}

TEST(test_a_scale_moves_all_times)
{
    struct fixture f = {0};
    double score[SLOTS_MOST];
    start_scenario(&f, score);
    fulcrum_scenario_free(f.scenario);
    (void)strcpy(f.base.machine.cpu.name, "another");
    ASSERT_OK(fulcrum_scenario_new(&f.inputs, &f.scenario, NULL));
    struct fulcrum_design before = design_in(&f, score);
    score[FULCRUM_SLOT_CPU_SCALE] = 1.0;
    struct fulcrum_design after = design_in(&f, score);
    assert_close("step", after.workload.step.mean_s / before.workload.step.mean_s,
        FULCRUM_CPU_SPREAD_FACTOR, 1e-12);
    assert_close("host",
        after.workload.host.per_batch_s / before.workload.host.per_batch_s,
        FULCRUM_CPU_SPREAD_FACTOR, 1e-12);
    stop(&f);
}

/* Normal scores give the correlation, mean and spread that draws have. */
TEST(test_scores_of_a_group_keep_its_correlation)
{
    enum { WORLDS = 4000 };
    struct fixture f = {0};
    double score[SLOTS_MOST];
    struct fulcrum_uncertain_input *uncertain = NULL;
    start_scenario(&f, score);
    size_t count = list(&f, &uncertain);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    double sum[5] = {0.0};
    for (size_t k = 0; k < WORLDS; k++) {
        for (size_t i = 0; i < count; i++) {
            score[uncertain[i].slot] = gsl_ran_ugaussian(rng);
        }
        struct fulcrum_design design = design_in(&f, score);
        double x = log(design.workload.host.per_batch_s / 1e-3) / 0.1;
        double y = log(design.workload.host.per_item_s / 2e-5) / 0.1;
        double z = log(design.workload.step.mean_s / 2e-3) / 0.1;
        const double terms[] = {x, x * x, y * y, x * y, x * z};
        for (size_t i = 0; i < 5; i++) {
            sum[i] += terms[i] / WORLDS;
        }
    }
    double sigma = 1.0 / sqrt(WORLDS);
    CU_ASSERT_DOUBLE_EQUAL(sum[0], 0.0, 4.0 * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[1], 1.0, 4.0 * sqrt(2.0) * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[2], 1.0, 4.0 * sqrt(2.0) * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[3], 0.6, 4.0 * sqrt(1.36) * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[4], 0.0, 4.0 * sigma);
    gsl_rng_free(rng);
    free(uncertain);
    stop(&f);
}

/* Kept draws are one chance: its score chooses a row, all rows equally often. */
TEST(test_kept_draws_are_one_chance)
{
    struct fixture f = {0};
    double score[SLOTS_MOST];
    struct fulcrum_uncertain_input *uncertain = NULL;
    start_scenario(&f, score);
    fulcrum_scenario_free(f.scenario);
    const double kept[] = {1e-3, NAN, 1e-5, NAN, 3e-3, NAN, 3e-5, NAN};
    ASSERT_OK(fulcrum_calibration_set_draws(f.calibrations[0], kept, 2, NULL));
    ASSERT_OK(fulcrum_scenario_new(&f.inputs, &f.scenario, NULL));
    size_t count = list(&f, &uncertain);
    size_t rows = count;
    for (size_t i = 0; i < count; i++) {
        rows = uncertain[i].kind == FULCRUM_UNCERTAIN_DRAWS ? i : rows;
    }
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_FATAL(rows < count);
    CU_ASSERT_EQUAL(design_in(&f, score).workload.host.per_item_s, 2e-5);
    score[uncertain[rows].slot] = -0.1;
    CU_ASSERT_EQUAL(design_in(&f, score).workload.host.per_item_s, 1e-5);
    CU_ASSERT_EQUAL(design_in(&f, score).workload.host.per_batch_s, 1e-3);
    CU_ASSERT_EQUAL(design_in(&f, score).workload.step.mean_s, 2e-3);
    score[uncertain[rows].slot] = 0.1;
    CU_ASSERT_EQUAL(design_in(&f, score).workload.host.per_batch_s, 3e-3);
    score[uncertain[rows].slot] = 40.0; /* beyond the last row there is none */
    CU_ASSERT_EQUAL(design_in(&f, score).workload.host.per_batch_s, 3e-3);
    CU_ASSERT(isnan(fulcrum_uncertain_input_value(&f.inputs, &uncertain[rows], 1.0)));
    free(uncertain);
    stop(&f);
}
