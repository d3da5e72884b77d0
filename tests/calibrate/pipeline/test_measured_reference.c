/* test_measured_reference.c - measured points become a reference, and are predicted as
 * `fulcrum validate` predicts that reference later.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/throughput.h"
#include "calibrate/reference/validation.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "tests/support/designs.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { ITEMS = 6, POINTS = 5, MADE = 6 };

static struct fulcrum_measured item(size_t actors, size_t envs,
    enum fulcrum_batch_policy policy, double size, double steps_per_s)
{
    return (struct fulcrum_measured){.config = {.actor_count = actors,
                                         .envs_per_actor = envs,
                                         .policy = policy,
                                         .batch_size = size},
        .window_count = 3,
        .median = {.steps_per_s = steps_per_s},
        .lo = steps_per_s - 30.0,
        .hi = steps_per_s + 50.0};
}

/* What a run on seven cores and an eighth may have found; and what the test at hand has
 * made of it, which is given back when the next one starts. */
struct found {
    struct fulcrum_measured items[ITEMS];
    struct fulcrum_measurement measurement;
    struct fulcrum_measure_training training;
    struct fulcrum_design base;
    bool is_beside;
    struct fulcrum_calibration *calibrations[MADE];
    struct fulcrum_reference *references[MADE];
    struct fulcrum_prediction *predictions[MADE];
    size_t calibration_count;
    size_t reference_count;
    size_t prediction_count;
};

/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static struct found found;

static void forget(void)
{
    for (size_t i = 0; i < MADE; i++) {
        fulcrum_calibration_free(found.calibrations[i]);
        fulcrum_reference_free(found.references[i]);
        free(found.predictions[i]);
    }
}

/* Fields that are not detected are not known. */
static void name_machine(struct fulcrum_machine *out)
{
    struct fulcrum_design blank;
    fulcrum_design_init(&blank);
    *out = blank.machine;
    (void)snprintf(out->name, sizeof out->name, "bench");
    (void)snprintf(out->cpu.name, sizeof out->cpu.name, "Eight cores");
    out->accelerator = FULCRUM_ACCELERATOR_CPU;
    out->learner_core_count = 1.0;
    out->cpu.socket_count = 1.0;
    out->cpu.core_count = 8.0;
    out->cpu.slice_s = 2.8e-3;
    out->cpu.thread_count = 8.0;
}

static void start(void)
{
    forget();
    const enum fulcrum_batch_policy greedy = FULCRUM_BATCH_GREEDY;
    const enum fulcrum_batch_policy fixed = FULCRUM_BATCH_FIXED;
    found = (struct found){
        .items = {item(1, 1, greedy, 0.0, 900.0), item(4, 1, greedy, 8.0, 3300.0),
            item(6, 2, fixed, 0.0, 4100.0), item(2, 1, greedy, 0.0, 0.0),
            item(4, 1, fixed, 4.0, 2900.0), item(2, 1, greedy, 0.0, 1500.0)}};
    found.items[2].config.population_frac = 0.5;
    found.items[3].window_count = 0; /* failed: no point */
    found.items[5].is_disturbed = 1;
    found.measurement = (struct fulcrum_measurement){.count = ITEMS,
        .items = found.items,
        .actor_info = {.observation_count = 4, .frame_skip = 5.0},
        .learner_info = {.cost = {.parameter_count = 1234, .forward_flop = 2e5}},
        .train_step_flop = (double)NAN,
        .actor = "cartpole",
        .learner = "cpu",
        .placement = {
            .actors = {.count = 2, .cpu = {0, 1}}, .server = {.count = 1, .cpu = {7}}}};
    name_machine(&found.measurement.machine);
    fulcrum_design_init(&found.base);
    ASSERT_OK(fulcrum_machine_load("dgx-1-inci2020", &found.base, NULL, NULL));
    ASSERT_OK(fulcrum_workload_load("ppo-mujoco-humanoid", &found.base, NULL, NULL));
}

static void add_quantity(
    struct fulcrum_calibration *calibration, const char *name, double value)
{
    struct fulcrum_quantity quantity = {.value = value, .lo = value, .hi = value};
    (void)snprintf(quantity.name, sizeof quantity.name, "%s", name);
    ASSERT_OK(fulcrum_calibration_add_quantity(calibration, &quantity, NULL));
}

/* Times of such a machine, one of them with an error. */
static struct fulcrum_calibration *new_calibration(void)
{
    static const struct {
        const char *path;
        double value;
    } parameters[] = {{"workload.step.cv", 0.4}, {"workload.network.per_batch_s", 4e-5},
        {"workload.network.per_item_s", 6e-6}, {"workload.host.per_batch_s", 1e-5},
        {"workload.host.per_request_s", 3e-6}, {"workload.host.per_item_s", 2e-7},
        {"workload.host.actor_s", 5e-6}, {"workload.host.wake_s", 2e-5},
        {"workload.host.delay_s", 3e-5}, {"workload.training.train_step_s", 0.01}};
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    (void)snprintf(calibration->name, sizeof calibration->name, "hand");
    calibration->machine = found.measurement.machine;
    designs_add_parameter(
        calibration, "workload.step.mean_s", 9e-4, 3e-5, FULCRUM_SCALE_LOG);
    designs_add_parameter(
        calibration, "run.discrepancy", 1.0, 0.0, FULCRUM_SCALE_LINEAR);
    for (size_t i = 0; i < LENGTH(parameters); i++) {
        designs_add_parameter(calibration, parameters[i].path, parameters[i].value, 0.0,
            FULCRUM_SCALE_LINEAR);
    }
    found.calibrations[found.calibration_count++] = calibration;
    return calibration;
}

static struct fulcrum_measured_plan plan_of(
    const struct fulcrum_calibration *calibration)
{
    return (struct fulcrum_measured_plan){.measurement = &found.measurement,
        .calibration = calibration,
        .base = &found.base,
        .training = &found.training,
        .is_beside = found.is_beside,
        .name = "mine"};
}

static struct fulcrum_reference *reference_of(
    const struct fulcrum_calibration *calibration)
{
    const struct fulcrum_measured_plan plan = plan_of(calibration);
    struct fulcrum_reference *reference = NULL;
    ASSERT_SAYS(fulcrum_measured_reference(&plan, &reference, &err), FULCRUM_OK, "");
    if (reference == NULL) {
        abort();
    }
    found.references[found.reference_count++] = reference;
    return reference;
}

TEST(test_series_name_rule_and_environments)
{
    static const struct {
        struct fulcrum_measure_config config;
        const char *name;
    } cases[] = {
        {{1, 4, FULCRUM_BATCH_GREEDY, 0.0, 0.0}, "greedy K=4"},
        {{1, 1, FULCRUM_BATCH_GREEDY, 64.0, 0.0}, "greedy to 64 K=1"},
        {{1, 1, FULCRUM_BATCH_FIXED, 0.0, 0.5}, "fixed share 0.5 K=1"},
        {{1, 16, FULCRUM_BATCH_FIXED, 32.0, 0.0}, "fixed 32 K=16"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char name[48];
        fulcrum_measured_series(&cases[i].config, name, sizeof name);
        CU_ASSERT_STRING_EQUAL(name, cases[i].name);
    }
}

static void assert_setting(
    const struct fulcrum_reference_point *point, const char *path, double expected)
{
    const struct fulcrum_reference_setting *setting =
        fulcrum_reference_find_setting(point, path);
    assert_close(
        path, setting != NULL ? setting->number : (double)NAN, expected, 1e-12);
}

static const struct expected_point {
    const char *series;
    double actors;
    double envs;
    double size;
    double share;
    double rate;
} expected[POINTS] = {
    {"greedy K=1", 1, 1, 0, 0, 900},
    {"greedy to 8 K=1", 4, 1, 8, 0, 3300},
    {"fixed share 0.5 K=2", 6, 2, 0, 0.5, 4100},
    {"fixed 4 K=1", 4, 1, 4, 0, 2900},
    {"greedy K=1 disturbed", 2, 1, 0, 0, 1500},
};

static void assert_point(
    const struct fulcrum_reference_point *point, const struct expected_point *wanted)
{
    CU_ASSERT_STRING_EQUAL(point->series, wanted->series);
    assert_setting(point, "run.actor_count", wanted->actors);
    assert_setting(point, "run.envs_per_actor", wanted->envs);
    assert_setting(point, "workload.batching.size", wanted->size);
    assert_setting(point, "workload.batching.population_frac", wanted->share);
    const struct fulcrum_reference_setting *policy =
        fulcrum_reference_find_setting(point, "workload.batching.policy");
    CU_ASSERT_STRING_EQUAL(
        policy->text, strncmp(wanted->series, "greedy", 6) == 0 ? "greedy" : "fixed");
    CU_ASSERT_EQUAL_FATAL(point->observation_count, 1);
    CU_ASSERT_STRING_EQUAL(point->observations[0].quantity, "steps_per_s");
    assert_close("rate", point->observations[0].value, wanted->rate, 0.0);
    assert_close("half width", point->observations[0].half_width, 40.0, 1e-12);
}

TEST(test_each_configuration_with_windows_is_a_point)
{
    start();
    struct fulcrum_reference *reference = reference_of(NULL);
    CU_ASSERT_EQUAL_FATAL(reference->point_count, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        CU_ASSERT_EQUAL(reference->points[i].index, i);
        assert_point(&reference->points[i], &expected[i]);
    }
    CU_ASSERT_STRING_EQUAL(reference->name, "mine");
    CU_ASSERT_STRING_EQUAL(reference->machine, "bench");
    CU_ASSERT_STRING_EQUAL(reference->workload, "cartpole");
    CU_ASSERT_STRING_EQUAL(reference->calibration, "");
    CU_ASSERT_EQUAL(reference->predictor, FULCRUM_PREDICTOR_THROUGHPUT);
    assert_part(reference->sources[0].text, "actors on processors 0-1, server on 7;");
}

TEST(test_the_design_is_what_was_found)
{
    start();
    found.base.workload.batching.size = 3.0;
    (void)snprintf(found.base.workload.calibration,
        sizeof found.base.workload.calibration, "v100-prior");
    struct fulcrum_reference *reference = reference_of(NULL);
    const struct fulcrum_machine *machine = &reference->design.machine;
    const struct fulcrum_workload *workload = &reference->design.workload;
    CU_ASSERT_EQUAL(machine->accelerator, FULCRUM_ACCELERATOR_CPU);
    CU_ASSERT_STRING_EQUAL(machine->cpu.name, "Eight cores");
    assert_close("cores", machine->cpu.core_count, 8.0, 0.0);
    assert_close("slice", machine->cpu.slice_s, 2.8e-3, 0.0);
    assert_close("learner", machine->learner_core_count, 1.0, 0.0);
    assert_close(
        "watts", machine->rest_w, found.base.machine.rest_w, 0.0); /* the prior's */
    assert_close("frames", workload->frame_skip, 5.0, 0.0);
    assert_close("flop", workload->network.forward_flop, 2e5, 0.0);
    assert_close("byte", workload->network.observation_byte, 16.0, 0.0);
    assert_close("size", workload->batching.size, 0.0, 0.0);
    assert_close("depth", workload->batching.depth, 1.0, 0.0);
    assert_close("K", workload->training.env_steps_per_train_step, 0.0, 0.0);
    CU_ASSERT_STRING_EQUAL(workload->calibration, ""); /* of another machine */
}

/* By the calibration's line over operations, at every point. */
TEST(test_training_of_another_size_lies_on_the_line)
{
    start();
    found.measurement.train_step_flop = 3e9;
    found.training = (struct fulcrum_measure_training){
        .env_steps_per_train_step = 100.0, .queue_train_steps = 2.0, .batch = 32};
    struct fulcrum_calibration *calibration = new_calibration();
    add_quantity(calibration, "train_step_flop", 8e9);
    const struct fulcrum_measured_plan plan = plan_of(calibration);
    struct fulcrum_reference *reference = NULL;
    ASSERT_FAILS(fulcrum_measured_reference(&plan, &reference, &err),
        FULCRUM_ERR_MISSING, "hand: no line over training steps");
    add_quantity(calibration, "train_step_fixed_s", 2e-4);
    add_quantity(calibration, "train_step_per_flop_s", 1e-11);
    reference = reference_of(calibration);
    for (size_t i = 0; i < reference->point_count; i++) {
        assert_setting(
            &reference->points[i], "workload.training.train_step_s", 2e-4 + 0.03);
    }
    const struct fulcrum_workload_training *training =
        &reference->design.workload.training;
    assert_close("ratio", training->env_steps_per_train_step, 100.0, 0.0);
    assert_close("backlog", training->queue_train_steps, 2.0, 0.0);
    assert_close("batch", training->batch_size, 32.0, 0.0);
    assert_close("unroll", training->unroll_length, 1.0, 0.0);
    assert_part(reference->sources[0].text, "server and training on 7");
}

/* The calibration's own step needs no line. */
TEST(test_a_calibration_of_longer_steps_is_refused)
{
    struct fulcrum_reference *reference = NULL;
    start();
    struct fulcrum_calibration *calibration = new_calibration();
    add_quantity(calibration, "frame_skip", 15.0);
    const struct fulcrum_measured_plan plan = plan_of(calibration);
    ASSERT_FAILS(fulcrum_measured_reference(&plan, &reference, &err),
        FULCRUM_ERR_MISSING,
        "hand was taken with 15 frames a step, and this run has 5");
    CU_ASSERT_PTR_NULL(reference);
    calibration = new_calibration();
    add_quantity(calibration, "frame_skip", 5.0);
    (void)reference_of(calibration);
}

TEST(test_training_of_the_same_size_is_the_calibrations)
{
    start();
    found.measurement.train_step_flop = 3e9;
    struct fulcrum_calibration *calibration = new_calibration();
    add_quantity(calibration, "train_step_flop", 3e9 * (1.0 + 1e-8));
    struct fulcrum_reference *reference = reference_of(calibration);
    for (size_t i = 0; i < reference->point_count; i++) {
        CU_ASSERT_PTR_NULL(fulcrum_reference_find_setting(
            &reference->points[i], "workload.training.train_step_s"));
    }
}

static struct fulcrum_prediction *predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_prediction *out = calloc(POINTS, sizeof *out);
    if (out == NULL) {
        abort();
    }
    const struct fulcrum_reference_prediction to = {.points = out};
    ASSERT_SAYS(
        fulcrum_reference_predict(reference, calibration, &to, &err), FULCRUM_OK, "");
    found.predictions[found.prediction_count++] = out;
    return out;
}

/* Everything a run on cores does takes as much longer as the canary did. */
TEST(test_each_point_is_predicted_at_its_speed)
{
    static const double canaries_s[ITEMS] = {2e-4, 2.2e-4, 1.8e-4, 2e-4, 0.0, 2.5e-4};
    start();
    struct fulcrum_calibration *calibration = new_calibration();
    struct fulcrum_prediction *before = predict(reference_of(calibration), calibration);
    for (size_t i = 0; i < ITEMS; i++) {
        found.items[i].median.canary_s = canaries_s[i];
    }
    calibration->machine.cpu.canary_s = 2e-4;
    struct fulcrum_reference *reference = reference_of(calibration);
    struct fulcrum_prediction *after = predict(reference, calibration);
    for (size_t point = 0; point < POINTS; point++) {
        double canary_s = canaries_s[point < 3 ? point : point + 1];
        const struct fulcrum_reference_setting *setting =
            fulcrum_reference_find_setting(
                &reference->points[point], "machine.cpu.canary_s");
        CU_ASSERT_EQUAL(setting != NULL, canary_s > 0.0);
        double speed = canary_s > 0.0 ? 2e-4 / canary_s : 1.0;
        assert_close("rate", after[point].value[FULCRUM_OUTPUT_steps_per_s],
            speed * before[point].value[FULCRUM_OUTPUT_steps_per_s], 1e-6);
    }
}

/* Training steps by a line, and a canary of 0.2 ms. */
static struct fulcrum_calibration *calibration_with_line(void)
{
    struct fulcrum_calibration *calibration = new_calibration();
    add_quantity(calibration, "train_step_flop", 6e9);
    add_quantity(calibration, "train_step_fixed_s", 1e-3);
    add_quantity(calibration, "train_step_per_flop_s", 1e-12);
    calibration->machine.cpu.canary_s = 2e-4;
    return calibration;
}

/* The rates of two windows at each of three points: how far their medians may be off.
 */
static struct fulcrum_reference *reference_with_scatter(double rate_rel)
{
    static struct fulcrum_measure_window windows[3][2];
    start();
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 2; j++) {
            double side = j == 0 ? 1.0 : -1.0;
            windows[i][j] = (struct fulcrum_measure_window){
                .steps_per_s = 1e3 * (1.0 + side * rate_rel)};
        }
        found.items[i].windows = windows[i];
        found.items[i].window_count = 2;
        found.items[i].median.steps_per_s = 1e3;
    }
    struct fulcrum_reference *reference = reference_of(new_calibration());
    for (size_t i = 0; i < 3; i++) {
        found.items[i].windows = NULL;
    }
    return reference;
}

/* Windows between which the machine changed its speed widen the intervals, by no more
 * than medians of so many are off; the centre stays. */
TEST(test_a_machine_that_changes_its_speed_widens_intervals)
{
    double width[2];
    double median[2];
    for (size_t k = 0; k < 2; k++) {
        double rate_rel = 0.15 * (double)k;
        struct fulcrum_reference *reference = reference_with_scatter(rate_rel);
        /* A median of two has the variance of a mean. */
        assert_close(
            "sd", reference->drift_sd, rate_rel * sqrt(2.0 * 1.571 / 2.0), 1e-9);
        struct fulcrum_prediction *predicted = predict(reference, new_calibration());
        median[k] = predicted[0].value[FULCRUM_OUTPUT_steps_per_s];
        width[k] = log(predicted[0].hi[FULCRUM_OUTPUT_steps_per_s] /
                       predicted[0].lo[FULCRUM_OUTPUT_steps_per_s]);
    }
    CU_ASSERT(width[1] > 1.5 * width[0]);
    assert_close("centre", median[1] / median[0], 1.0, 0.02);
}

/* Pieces that were timed between the windows saw the same machine: nothing is moved,
 * and how far medians may be off is told by the rates. */
TEST(test_pieces_between_the_windows_are_at_their_speed)
{
    static struct fulcrum_measure_window windows[2] = {
        {.steps_per_s = 800.0}, {.steps_per_s = 1000.0}};
    start();
    found.is_beside = true;
    found.items[0].windows = windows;
    found.items[0].window_count = 2;
    found.items[0].median =
        (struct fulcrum_measure_window){.steps_per_s = 900.0, .canary_s = 2.2e-4};
    struct fulcrum_calibration *calibration = new_calibration();
    calibration->machine.cpu.canary_s = 2e-4;
    const struct fulcrum_reference *reference = reference_of(calibration);
    assert_setting(&reference->points[0], "machine.cpu.canary_s", 2e-4);
    assert_close(
        "sd", reference->drift_sd, sqrt(1.571 * 2.0 / 2.0) * 100.0 / 900.0, 1e-12);
    found.items[0].windows = NULL;
}

/* So does a training step that only a line over operations tells. */
TEST(test_training_on_the_line_follows_the_speed)
{
    start();
    found.measurement.train_step_flop = 3e9;
    found.items[0].median.canary_s = 2.2e-4;
    struct fulcrum_calibration *calibration = calibration_with_line();
    const struct fulcrum_reference_point *points = reference_of(calibration)->points;
    static const double longer[] = {1.1, 1.0};
    for (size_t i = 0; i < 2; i++) {
        assert_setting(&points[i], "workload.training.train_step_s", 4e-3 * longer[i]);
    }
}

enum { WINDOWS = 3 };

/* Of the first point: two calm windows with a meter, one beside other programs. */
static void meter_first_point(struct fulcrum_measure_window windows[WINDOWS])
{
    for (size_t i = 0; i < WINDOWS; i++) {
        windows[i] = (struct fulcrum_measure_window){
            .cpu_w = 61.0 + 4.0 * (double)i, .gpu_w = (double)NAN};
    }
    windows[2].is_disturbed = 1;
    found.items[0].windows = windows;
    found.items[0].median.cpu_w = 63.0;
    found.items[0].median.gpu_w = (double)NAN;
}

/* Others took half of the machine during the second and the fourth window. */
TEST(test_windows_that_others_left_alone_count)
{
    struct fulcrum_measure_window windows[] = {
        {.others_frac = 0.04, .is_disturbed = true},
        {.others_frac = 0.5, .is_disturbed = true}, {.others_frac = 0.01},
        {.others_frac = 0.4, .is_disturbed = true},
        {.others_frac = 0.02, .is_disturbed = true},
        {.others_frac = 0.1, .is_disturbed = true}};
    struct fulcrum_measured point = {
        .window_count = LENGTH(windows), .windows = windows, .is_disturbed = true};
    static const bool counts[] = {true, false, true, false, true, true};
    for (size_t i = 0; i < LENGTH(windows); i++) {
        CU_ASSERT_EQUAL(fulcrum_measured_counts(&point, i), counts[i]);
    }
    windows[4].others_frac = 0.6; /* cppcheck-suppress unreadVariable */
    windows[5].others_frac = 0.6; /* cppcheck-suppress unreadVariable */
    CU_ASSERT(fulcrum_measured_counts(&point, 0) && fulcrum_measured_counts(&point, 3));
    point.is_disturbed = false;
    CU_ASSERT(
        fulcrum_measured_counts(&point, 2) && !fulcrum_measured_counts(&point, 0));
}

/* Half of the range of the windows that the median is of. */
TEST(test_watts_are_observed_where_they_were_measured)
{
    struct fulcrum_measure_window windows[WINDOWS];
    start();
    meter_first_point(windows);
    struct fulcrum_reference *reference = reference_of(NULL);
    const struct fulcrum_reference_point *point = &reference->points[0];
    CU_ASSERT_EQUAL_FATAL(point->observation_count, 2);
    CU_ASSERT_STRING_EQUAL(point->observations[1].quantity, "cpu_w");
    assert_close("watts", point->observations[1].value, 63.0, 0.0);
    assert_close("half width", point->observations[1].half_width, 2.0, 1e-12);
    for (size_t i = 1; i < POINTS; i++) {
        CU_ASSERT_EQUAL(reference->points[i].observation_count, 1);
    }
    /* Assumed watts are nothing to hold them against. */
    CU_ASSERT(isnan(reference->design.machine.cpu.core_dynamic_w));
    CU_ASSERT(isnan(reference->design.machine.gpu.dynamic_w));
    /* Where most windows were disturbed, all of them count. */
    found.items[0].is_disturbed = windows[0].is_disturbed = 1;
    found.items[0].median.gpu_w = 250.0;
    windows[1].gpu_w = 240.0;
    windows[2].gpu_w = 260.0; /* cppcheck-suppress unreadVariable */
    reference = reference_of(NULL);
    point = &reference->points[0];
    CU_ASSERT_EQUAL_FATAL(point->observation_count, 3);
    assert_close("all", point->observations[1].half_width, 4.0, 1e-12);
    CU_ASSERT_STRING_EQUAL(point->observations[2].quantity, "gpu_w");
    assert_close("gpu", point->observations[2].half_width, 10.0, 1e-12);
}

/* (13): idle watts and those of the busy cores, of which one is the learner's. */
static double watts_by_hand(const struct fulcrum_prediction *prediction)
{
    double actors_busy = prediction->at_fit[FULCRUM_OUTPUT_cpu_core_busy_frac];
    double learner_busy = prediction->at_fit[FULCRUM_OUTPUT_gpu_busy_frac];
    return 30.0 + 9.0 * (8.0 * actors_busy + learner_busy);
}

static void add_watts(struct fulcrum_calibration *calibration)
{
    static const struct {
        const char *path;
        double value;
        double standard_error;
    } watts[] = {
        {"machine.cpu.idle_w", 30.0, 1.0},
        {"machine.cpu.core_idle_w", 0.0, 0.0},
        {"machine.cpu.core_dynamic_w", 9.0, 0.5},
    };
    for (size_t i = 0; i < LENGTH(watts); i++) {
        designs_add_parameter(calibration, watts[i].path, watts[i].value,
            watts[i].standard_error, FULCRUM_SCALE_LINEAR);
    }
}

/* The set as `fulcrum validate` prints it, from the file. */
static struct fulcrum_validation validate_file(const struct fulcrum_reference *saved,
    const struct fulcrum_calibration *calibration, struct fulcrum_reference **read)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "watts.json");
    struct fulcrum_validation out;
    ASSERT_OK(fulcrum_reference_save(saved, path, NULL));
    ASSERT_OK(fulcrum_reference_load(path, read, NULL));
    ASSERT_OK(fulcrum_validate(*read, calibration, &out, NULL));
    free(path);
    scratch_free(&scratch);
    return out;
}

/* Beside a calibration without a power curve they are named and left out. */
TEST(test_watts_are_compared_where_the_calibration_has_them)
{
    struct fulcrum_measure_window windows[WINDOWS];
    start();
    meter_first_point(windows);
    struct fulcrum_calibration *calibration = new_calibration();
    struct fulcrum_reference *saved = reference_of(calibration);
    struct fulcrum_reference *read = NULL;
    struct fulcrum_validation set = validate_file(saved, calibration, &read);
    CU_ASSERT_EQUAL(set.comparison.count, POINTS);
    CU_ASSERT_STRING_EQUAL(
        set.reason, "cpu_w: neither the machine nor hand says how much it draws");
    CU_ASSERT_EQUAL(set.has_failed, 0);
    fulcrum_validation_clear(&set);
    fulcrum_reference_free(read);
    add_watts(calibration);
    set = validate_file(saved, calibration, &read);
    CU_ASSERT_STRING_EQUAL(set.reason, "");
    CU_ASSERT_EQUAL_FATAL(set.comparison.count, POINTS + 1);
    struct fulcrum_prediction *predicted = predict(read, calibration);
    const struct fulcrum_compared *watts = &set.comparison.items[1];
    assert_close("observed", watts->observed, 63.0, 0.0);
    assert_close(
        "predicted", watts->predicted, predicted[0].value[FULCRUM_OUTPUT_cpu_w], 1e-9);
    assert_close("by hand", predicted[0].at_fit[FULCRUM_OUTPUT_cpu_w],
        watts_by_hand(&predicted[0]), 1e-9);
    CU_ASSERT(watts->lo < watts->predicted - 1.0 && watts->hi > watts->predicted + 1.0);
    fulcrum_validation_clear(&set);
    fulcrum_reference_free(read);
}

TEST(test_nothing_measured_is_no_reference)
{
    start();
    for (size_t i = 0; i < ITEMS; i++) {
        found.items[i].window_count = 0;
    }
    const struct fulcrum_measured_plan plan = plan_of(NULL);
    struct fulcrum_reference *reference = NULL;
    ASSERT_SAYS(fulcrum_measured_reference(&plan, &reference, &err),
        FULCRUM_ERR_MISSING, "nothing was measured");
    CU_ASSERT_PTR_NULL(reference);
}

static void assert_predicted(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_prediction *here = predict(reference, calibration);
    struct fulcrum_comparison there = {.count = 0};
    ASSERT_OK(fulcrum_predict_reference(reference, calibration, &there, NULL));
    CU_ASSERT_EQUAL_FATAL(there.count, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        double rate = here[i].value[FULCRUM_OUTPUT_steps_per_s];
        assert_close("predicted", rate, there.items[i].predicted, 1e-9);
        CU_ASSERT(rate > 0.3 * there.items[i].observed);
        CU_ASSERT(rate < 3.0 * there.items[i].observed);
        double lo = here[i].lo[FULCRUM_OUTPUT_steps_per_s];
        double hi = here[i].hi[FULCRUM_OUTPUT_steps_per_s];
        CU_ASSERT(here[i].has_interval && lo < rate && rate < hi);
        assert_close("lo", lo, there.items[i].lo, 1e-9);
        assert_close("hi", hi, there.items[i].hi, 1e-9);
    }
    fulcrum_comparison_clear(&there);
}

/* Also once the reference has been through its file, as on the command line. */
TEST(test_predictions_are_those_of_validate)
{
    start();
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "mine.json");
    struct fulcrum_calibration *calibration = new_calibration();
    struct fulcrum_reference *reference = reference_of(calibration);
    assert_predicted(reference, calibration);
    ASSERT_OK(fulcrum_reference_save(reference, path, NULL));
    struct fulcrum_reference *read = NULL;
    ASSERT_SAYS(fulcrum_reference_load(path, &read, &err), FULCRUM_OK, "");
    if (read == NULL) {
        abort();
    }
    assert_predicted(read, calibration);
    struct fulcrum_prediction *before = predict(reference, calibration);
    struct fulcrum_prediction *after = predict(read, calibration);
    for (size_t i = 0; i < POINTS; i++) {
        assert_close("again", after[i].value[FULCRUM_OUTPUT_steps_per_s],
            before[i].value[FULCRUM_OUTPUT_steps_per_s], 0.0);
    }
    fulcrum_reference_free(read);
    free(path);
    scratch_free(&scratch);
}

/* A lone actor's cycle by hand: hand-off, waking and delay are all in it. */
TEST(test_a_lone_actor_is_predicted_by_hand)
{
    start();
    struct fulcrum_calibration *calibration = new_calibration();
    struct fulcrum_reference *reference = reference_of(calibration);
    /* No turbo: one thread is as fast as it was when it was measured. */
    reference->design.machine.cpu.turbo_frac = 0.0;
    struct fulcrum_prediction *predicted = predict(reference, calibration);
    double cycle_s = 9e-4 + 5e-6 + 2e-5 + 1e-5 + 3e-6 + 2e-7 + 4e-5 + 6e-6 + 3e-5;
    assert_close(
        "X(1)", predicted[0].value[FULCRUM_OUTPUT_steps_per_s], 1.0 / cycle_s, 0.005);
}
