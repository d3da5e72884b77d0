/* test_reference_prediction.c - values and intervals of the points of a reference, on
 * networks that can be solved by hand.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/throughput.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/validation.h"
#include "presets/load/preset.h"
#include "tests/support/designs.h"
#include "tests/support/hand_reference.h"
#include "tests/support/suite.h"

/* 90 % of a normal law lie within this many standard deviations. */
#define QUANTILE 1.645

/* Of an end of an interval, in its half-widths: three times what 400 draws leave open.
 */
#define DRAW_ERROR 0.3

/* A calibration of the V100's priors in which one parameter has an error. */
static struct fulcrum_calibration *one_error(const char *path, double standard_error)
{
    struct fulcrum_calibration *calibration = hand_priors();
    size_t n = calibration->parameter_count;
    for (size_t i = 0; i < n * n; i++) {
        calibration->covariance[i] = 0.0;
    }
    for (size_t i = 0; i < n; i++) {
        struct fulcrum_parameter *parameter = &calibration->parameters[i];
        bool is_chosen = strcmp(parameter->path, path) == 0;
        parameter->standard_error = is_chosen ? standard_error : 0.0;
        parameter->scale = FULCRUM_SCALE_LINEAR;
        calibration->covariance[i * n + i] =
            parameter->standard_error * parameter->standard_error;
    }
    return calibration;
}

static double value_of(const struct fulcrum_calibration *calibration, const char *path)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, path);
    CU_ASSERT_PTR_NOT_NULL(parameter);
    return parameter != NULL ? parameter->value : (double)NAN;
}

static struct fulcrum_prediction predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_prediction out = {.actor_count = 0.0};
    const struct fulcrum_reference_prediction to = {.points = &out};
    ASSERT_SAYS(
        fulcrum_reference_predict(reference, calibration, &to, &err), FULCRUM_OK, "");
    return out;
}

/* What `validate` says of the same point. */
static struct fulcrum_compared compare(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_comparison found = {.count = 0};
    ASSERT_OK(fulcrum_predict_reference(reference, calibration, &found, NULL));
    CU_ASSERT_EQUAL_FATAL(found.count, 1);
    struct fulcrum_compared item = found.items[0];
    fulcrum_comparison_clear(&found);
    return item;
}

/* A lone actor whose cycle lasts c: an error of sd in a part of it moves the ends of
 * the interval to 1 / (c +- 1.645 sd). Both commands say so. */
static void assert_lone_interval(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, double sd_s)
{
    const enum fulcrum_predicted rate = FULCRUM_OUTPUT_steps_per_s;
    struct fulcrum_prediction here = predict(reference, calibration);
    struct fulcrum_compared there = compare(reference, calibration);
    double cycle_s = 1.0 / here.value[rate];
    double reach = QUANTILE * sd_s / cycle_s;
    CU_ASSERT(here.has_interval);
    assert_close("lo", 1.0 - here.lo[rate] * cycle_s, reach, DRAW_ERROR);
    assert_close("hi", here.hi[rate] * cycle_s - 1.0, reach, DRAW_ERROR);
    assert_close("value there", there.predicted, here.value[rate], 1e-9);
    assert_close("lo there", there.lo, here.lo[rate], 1e-9);
    assert_close("hi there", there.hi, here.hi[rate], 1e-9);
}

TEST(test_an_interval_is_that_of_the_cycle)
{
    struct fulcrum_reference *one =
        hand_reference((const double[]){1.0}, 1, "steps_per_s");
    struct fulcrum_calibration *calibration =
        one_error("workload.host.per_batch_s", 2e-4);
    assert_lone_interval(one, calibration, 2e-4);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(one);
}

/* A measured table stands where the line did: its times move as the line is drawn. */
TEST(test_a_table_of_batch_times_has_the_errors_of_its_line)
{
    static const double size[] = {1.0, 16.0, 256.0};
    const char *path = "workload.network.per_batch_s";
    struct fulcrum_reference *one =
        hand_reference((const double[]){1.0}, 1, "steps_per_s");
    struct fulcrum_calibration *calibration = one_error(path, 1.5e-4);
    double per_batch_s = value_of(calibration, path);
    double per_item_s = value_of(calibration, "workload.network.per_item_s");
    double time_s[3];
    for (size_t i = 0; i < 3; i++) {
        time_s[i] = per_batch_s + per_item_s * size[i];
    }
    ASSERT_OK(fulcrum_time_table_set(&calibration->batch_time, size, time_s, 3, NULL));
    /* The factor is the line's at a batch of 16; a batch of 1 gets as much. */
    assert_lone_interval(one, calibration, 1.5e-4 * time_s[0] / time_s[1]);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(one);
}

static bool is_beside_the_step(const char *path)
{
    static const char *const others[] = {"workload.host.per_batch_s",
        "workload.host.per_item_s", "workload.host.delay_s",
        "workload.network.per_batch_s", "workload.network.per_item_s"};
    for (size_t k = 0; k < LENGTH(others); k++) {
        if (strcmp(path, others[k]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Environments alone are what this cycle is made of. */
static void make_step_everything(struct fulcrum_calibration *calibration)
{
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        if (is_beside_the_step(calibration->parameters[i].path)) {
            calibration->parameters[i].value = 1e-9;
        }
    }
}

/* (23): a thread twice as fast halves a step, for `validate` as for `predict`. */
TEST(test_times_are_carried_over_to_the_machine_of_the_reference)
{
    struct fulcrum_reference *one =
        hand_reference((const double[]){1.0}, 1, "steps_per_s");
    struct fulcrum_calibration *calibration = one_error("", 0.0);
    make_step_everything(calibration);
    one->design.machine.cpu.single_thread_speed_rel =
        calibration->machine.cpu.single_thread_speed_rel;
    struct fulcrum_compared same = compare(one, calibration);
    one->design.machine.cpu.single_thread_speed_rel *= 2.0;
    struct fulcrum_compared faster = compare(one, calibration);
    assert_close("twice", faster.predicted, 2.0 * same.predicted, 0.001);
    assert_close("same processor", same.hi - same.lo, 0.0, 1e-9);
    /* Of another model, how much it carries over is uncertain by x/÷ 1.15. */
    (void)strcpy(one->design.machine.cpu.name, "another");
    struct fulcrum_compared other = compare(one, calibration);
    assert_close("median", other.predicted, faster.predicted, 0.03);
    assert_close(
        "spread", log(other.hi / other.lo), 2.0 * QUANTILE * log(1.15), DRAW_ERROR);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(one);
}

/* A step's error moves two rates alike, and hardly their ratio. */
TEST(test_a_ratio_is_drawn_as_one)
{
    struct fulcrum_reference *two =
        hand_reference((const double[]){1.0, 8.0}, 2, "steps_per_s");
    struct fulcrum_calibration *calibration = one_error("workload.step.mean_s", 0.0);
    make_step_everything(calibration);
    double step_s = value_of(calibration, "workload.step.mean_s");
    size_t n = calibration->parameter_count;
    for (size_t i = 0; i < n; i++) {
        struct fulcrum_parameter *parameter = &calibration->parameters[i];
        if (strcmp(parameter->path, "workload.step.mean_s") == 0) {
            parameter->standard_error = 0.1 * step_s;
            calibration->covariance[i * n + i] = 0.01 * step_s * step_s;
        }
    }
    double *drawn = calloc((size_t)2 * FULCRUM_POINT_DRAWS, sizeof *drawn);
    struct fulcrum_prediction rates[2] = {{.actor_count = 0.0}};
    if (drawn == NULL) {
        abort();
    }
    ASSERT_OK(fulcrum_reference_predict(two, calibration,
        &(struct fulcrum_reference_prediction){.points = rates, .drawn_per_s = drawn},
        NULL));
    double ratio = rates[1].value[FULCRUM_OUTPUT_steps_per_s] /
                   rates[0].value[FULCRUM_OUTPUT_steps_per_s];
    for (size_t k = 0; k < FULCRUM_POINT_DRAWS; k++) {
        assert_close("draw", drawn[FULCRUM_POINT_DRAWS + k] / drawn[k], ratio, 0.001);
    }
    (void)strcpy(two->points[1].observations[0].quantity, "speedup");
    two->is_relative = 1;
    struct fulcrum_compared speedup = compare(two, calibration);
    assert_close("speedup", speedup.predicted, ratio, 1e-9);
    CU_ASSERT((speedup.hi - speedup.lo) < 0.002 * ratio);
    CU_ASSERT(rates[0].hi[FULCRUM_OUTPUT_steps_per_s] >
              1.2 * rates[0].lo[FULCRUM_OUTPUT_steps_per_s]);
    (void)strcpy(two->points[1].observations[0].quantity, "runtime_rel");
    assert_close("runtime", compare(two, calibration).predicted, 1.0 / ratio, 1e-9);
    free(drawn);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(two);
}

/* Watts of the GPU and of the processors; the machine's, as the preset states them. */
TEST(test_watts_are_those_of_the_prediction)
{
    static const struct {
        const char *quantity;
        enum fulcrum_predicted output;
    } cases[] = {{"gpu_w", FULCRUM_OUTPUT_gpu_w}, {"cpu_w", FULCRUM_OUTPUT_cpu_w}};
    struct fulcrum_calibration *calibration = hand_priors();
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_reference *one =
            hand_reference((const double[]){64.0}, 1, cases[i].quantity);
        struct fulcrum_prediction here = predict(one, calibration);
        struct fulcrum_compared there = compare(one, calibration);
        const enum fulcrum_predicted output = cases[i].output;
        CU_ASSERT(here.value[output] > 10.0);
        assert_close("watts", there.predicted, here.value[output], 1e-9);
        assert_close("lo", there.lo, here.lo[output], 1e-9);
        assert_close("hi", there.hi, here.hi[output], 1e-9);
        fulcrum_reference_free(one);
    }
    fulcrum_calibration_free(calibration);
}

TEST(test_environments_are_counted_over_actors)
{
    struct fulcrum_reference *one =
        hand_reference((const double[]){24.0}, 1, "steps_per_s");
    (void)strcpy(one->points[0].settings[0].path, "run.env_count");
    one->design.run.envs_per_actor = 4.0;
    struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST];
    size_t count = 0;
    ASSERT_OK(fulcrum_point_settings(one, 0, settings, &count, NULL));
    CU_ASSERT_EQUAL_FATAL(count, 1);
    CU_ASSERT_STRING_EQUAL(settings[0].field->path, "run.actor_count");
    assert_close("actors", settings[0].number, 6.0, 0.0);
    fulcrum_reference_free(one);
}

TEST(test_what_is_no_field_is_named)
{
    struct fulcrum_calibration *calibration = hand_priors();
    struct fulcrum_reference *one =
        hand_reference((const double[]){4.0}, 1, "steps_per_s");
    struct fulcrum_prediction out;
    const struct fulcrum_reference_prediction to = {.points = &out};
    (void)strcpy(one->points[0].settings[0].path, "run.actors");
    ASSERT_FAILS(fulcrum_reference_predict(one, calibration, &to, &err),
        FULCRUM_ERR_UNKNOWN_NAME, "hand: points are set by 'run.actors'");
    one->points[0].setting_count = FULCRUM_POINT_SETTINGS_MOST + 1;
    ASSERT_FAILS(fulcrum_reference_predict(one, calibration, &to, &err),
        FULCRUM_ERR_RANGE, "hand: point 0 sets 13 fields: expected at most 12");
    fulcrum_reference_free(one);
    fulcrum_calibration_free(calibration);
}

/* Threads by stage, on networks that can be solved by hand. */

/* Simulations of one actor, whose steps have a spread, are not exact. */
#define SIMULATED 0.01

enum { POINTS_MOST = 2 };

/* A reference with what is predicted of it. */
struct predicted {
    struct fulcrum_reference *reference;
    struct fulcrum_calibration *calibration;
    struct fulcrum_prediction points[POINTS_MOST];
    struct fulcrum_stage_prediction stages[POINTS_MOST];
};

static struct predicted prepare(const double *actors, size_t count)
{
    struct predicted out = {.reference = hand_reference(actors, count, "steps_per_s"),
        .calibration = hand_priors()};
    out.reference->design.machine.cpu.turbo_frac = 0.0;
    designs_add_parameter(
        out.calibration, "machine.cpu.turbo_frac", 0.0, 0.0, FULCRUM_SCALE_LINEAR);
    return out;
}

static enum fulcrum_status predict_stages(struct predicted *out)
{
    const struct fulcrum_reference_prediction to = {
        .points = out->points, .stages = out->stages};
    return fulcrum_reference_predict(out->reference, out->calibration, &to, NULL);
}

static void end_stages(struct predicted *predicted)
{
    fulcrum_calibration_free(predicted->calibration);
    fulcrum_reference_free(predicted->reference);
}

static double sum_of(const struct fulcrum_stage_prediction *stages)
{
    double sum = 0.0;
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        sum += isnan(stages->thread_count[k]) ? 0.0 : stages->thread_count[k];
    }
    return sum;
}

/* One cycle after the other: a stage's share is its time over the cycle's. */
TEST(test_a_lone_actor_by_hand)
{
    struct predicted one = prepare((const double[]){1.0}, 1);
    designs_add_parameter(
        one.calibration, "workload.host.actor_s", 3e-4, 0.0, FULCRUM_SCALE_LINEAR);
    designs_add_parameter(
        one.calibration, "workload.host.wake_s", 2e-4, 0.0, FULCRUM_SCALE_LINEAR);
    ASSERT_OK(predict_stages(&one));
    double step_s = value_of(one.calibration, "workload.step.mean_s");
    double host_s = value_of(one.calibration, "workload.host.per_batch_s") +
                    value_of(one.calibration, "workload.host.per_item_s");
    double learner_s = value_of(one.calibration, "workload.network.per_batch_s") +
                       value_of(one.calibration, "workload.network.per_item_s");
    double delay_s = value_of(one.calibration, "workload.host.delay_s");
    double cycle_s = step_s + 3e-4 + 2e-4 + host_s + learner_s + delay_s;
    const struct fulcrum_stage_prediction *stages = &one.stages[0];
    const double *threads = stages->thread_count;
    assert_close("rate", stages->steps_per_s, 1.0 / cycle_s, SIMULATED);
    assert_close(
        "simulation", threads[FULCRUM_STAGE_SIMULATION], step_s / cycle_s, SIMULATED);
    assert_close(
        "inference", threads[FULCRUM_STAGE_INFERENCE], learner_s / cycle_s, SIMULATED);
    /* The actor's own, waking the server, and the server's. */
    assert_close("handoff", threads[FULCRUM_STAGE_HANDOFF],
        (3e-4 + 2e-4 + host_s) / cycle_s, SIMULATED);
    CU_ASSERT_EQUAL(threads[FULCRUM_STAGE_TRAINING], 0.0);
    CU_ASSERT(isnan(threads[FULCRUM_STAGE_REPLAY]));
    assert_close("actor and server", sum_of(stages), 2.0, 1e-9);
    assert_close("cpu", stages->residence.cpu_s, step_s + 5e-4, SIMULATED);
    assert_close("host", stages->residence.host_s, host_s, SIMULATED);
    assert_close("learner", stages->residence.gpu_s, learner_s, SIMULATED);
    assert_close("delay", stages->residence.delay_s, delay_s, SIMULATED);
    end_stages(&one);
}

/* Little's law: residence times of a cycle add up to actors over requests. */
TEST(test_requests_carry_all_environments_of_an_actor)
{
    static const double actors[] = {8.0, 64.0};
    struct predicted two = prepare(actors, 2);
    two.reference->design.run.envs_per_actor = 4.0;
    ASSERT_OK(predict_stages(&two));
    for (size_t i = 0; i < 2; i++) {
        const struct fulcrum_stage_prediction *stages = &two.stages[i];
        const struct fulcrum_residence *parts = &stages->residence;
        assert_close(
            "requests", stages->requests_per_s, stages->steps_per_s / 4.0, 1e-12);
        double cycle_s = parts->cpu_s + parts->host_s + parts->gpu_s + parts->delay_s;
        assert_close("actors", stages->requests_per_s * cycle_s, actors[i], SIMULATED);
        assert_close("threads", sum_of(stages), actors[i] + 1.0, 1e-9);
    }
    /* Eight have a core each; second threads of cores take longer for the same work. */
    double step_s = value_of(two.calibration, "workload.step.mean_s");
    assert_close("eight", two.stages[0].thread_count[FULCRUM_STAGE_SIMULATION],
        two.stages[0].steps_per_s * step_s, SIMULATED);
    CU_ASSERT(two.stages[1].thread_count[FULCRUM_STAGE_SIMULATION] >
              1.2 * two.stages[1].steps_per_s * step_s);
    end_stages(&two);
}

/* Beside training both threads take longer than their work, the one as the other. */
TEST(test_a_trainer_is_a_thread_of_its_own)
{
    struct predicted one = prepare((const double[]){40.0}, 1);
    one.reference->design.workload.training.env_steps_per_train_step = 2000.0;
    one.reference->design.workload.training.queue_train_steps = 2.0;
    ASSERT_OK(predict_stages(&one));
    const double *value = one.points[0].at_fit;
    const double *threads = one.stages[0].thread_count;
    double longer = threads[FULCRUM_STAGE_INFERENCE] -
                    value[FULCRUM_OUTPUT_gpu_inference_busy_frac];
    CU_ASSERT(value[FULCRUM_OUTPUT_gpu_train_busy_frac] > 0.1);
    CU_ASSERT(longer > 0.0);
    assert_close("training", threads[FULCRUM_STAGE_TRAINING],
        value[FULCRUM_OUTPUT_gpu_train_busy_frac] + longer, 1e-9);
    CU_ASSERT(threads[FULCRUM_STAGE_TRAINING] < 1.0);
    CU_ASSERT(threads[FULCRUM_STAGE_INFERENCE] < 1.0);
    assert_close("threads", sum_of(&one.stages[0]), 42.0, 1e-9);
    end_stages(&one);
}

TEST(test_what_cannot_be_set_is_refused)
{
    struct predicted one = prepare((const double[]){1.0}, 1);
    (void)strcpy(one.reference->points[0].settings[0].path, "happiness");
    CU_ASSERT_EQUAL(predict_stages(&one), FULCRUM_ERR_UNKNOWN_NAME);
    end_stages(&one);
}
