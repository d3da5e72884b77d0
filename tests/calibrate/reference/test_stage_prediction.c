/* test_stage_prediction.c - threads by stage, on networks that can be solved by hand.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/reference_prediction.h"

#include <math.h>
#include <string.h>

#include "tests/support/designs.h"
#include "tests/support/hand_reference.h"
#include "tests/support/suite.h"

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

static enum fulcrum_status predict(struct predicted *out)
{
    const struct fulcrum_reference_prediction to = {
        .points = out->points, .stages = out->stages};
    return fulcrum_reference_predict(out->reference, out->calibration, &to, NULL);
}

static void end(struct predicted *predicted)
{
    fulcrum_calibration_free(predicted->calibration);
    fulcrum_reference_free(predicted->reference);
}

static double time_of(const struct predicted *predicted, const char *path)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(predicted->calibration, path);
    CU_ASSERT_PTR_NOT_NULL(parameter);
    return parameter != NULL ? parameter->value : (double)NAN;
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
    static const double actors[] = {1.0};
    struct predicted one = prepare(actors, 1);
    designs_add_parameter(
        one.calibration, "workload.host.actor_s", 3e-4, 0.0, FULCRUM_SCALE_LINEAR);
    designs_add_parameter(
        one.calibration, "workload.host.wake_s", 2e-4, 0.0, FULCRUM_SCALE_LINEAR);
    ASSERT_OK(predict(&one));
    double step_s = time_of(&one, "workload.step.mean_s");
    double host_s = time_of(&one, "workload.host.per_batch_s") +
                    time_of(&one, "workload.host.per_item_s");
    double learner_s = time_of(&one, "workload.network.per_batch_s") +
                       time_of(&one, "workload.network.per_item_s");
    double delay_s = time_of(&one, "workload.host.delay_s");
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
    end(&one);
}

/* Little's law: residence times of a cycle add up to actors over requests. */
TEST(test_requests_carry_all_environments_of_an_actor)
{
    static const double actors[] = {8.0, 64.0};
    struct predicted two = prepare(actors, 2);
    two.reference->design.run.envs_per_actor = 4.0;
    ASSERT_OK(predict(&two));
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
    double step_s = time_of(&two, "workload.step.mean_s");
    assert_close("eight", two.stages[0].thread_count[FULCRUM_STAGE_SIMULATION],
        two.stages[0].steps_per_s * step_s, SIMULATED);
    CU_ASSERT(two.stages[1].thread_count[FULCRUM_STAGE_SIMULATION] >
              1.2 * two.stages[1].steps_per_s * step_s);
    end(&two);
}

/* Beside training both threads take longer than their work, the one as the other. */
TEST(test_a_trainer_is_a_thread_of_its_own)
{
    static const double actors[] = {40.0};
    struct predicted one = prepare(actors, 1);
    one.reference->design.workload.training.env_steps_per_train_step = 2000.0;
    one.reference->design.workload.training.queue_train_steps = 2.0;
    ASSERT_OK(predict(&one));
    const double *value = one.points[0].value;
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
    end(&one);
}

TEST(test_what_cannot_be_set_is_refused)
{
    static const double actors[] = {1.0};
    struct predicted one = prepare(actors, 1);
    (void)strcpy(one.reference->points[0].settings[0].path, "happiness");
    CU_ASSERT_EQUAL(predict(&one), FULCRUM_ERR_UNKNOWN_NAME);
    end(&one);
}
