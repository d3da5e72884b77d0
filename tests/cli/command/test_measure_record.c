/* test_measure_record.c - recorded configurations and their names. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/measure_job.h"

#include <string.h>

#include "calibrate/reference/reference_prediction.h"
#include "tests/support/hand_reference.h"
#include "tests/support/suite.h"

enum { NOT_HERE = 77 };

static const struct fulcrum_measure_config configs[] = {
    {.actor_count = 1, .envs_per_actor = 1, .policy = FULCRUM_BATCH_GREEDY},
    {.actor_count = 1,
        .envs_per_actor = 1,
        .policy = FULCRUM_BATCH_FIXED,
        .batch_size = 9.0}, /* never fills */
    {.actor_count = 2, .envs_per_actor = 3, .policy = FULCRUM_BATCH_GREEDY}};

static enum fulcrum_status take(const struct fulcrum_measure_config *of, size_t count,
    struct fulcrum_measure_record *out)
{
    const struct fulcrum_measure_options measure = {.actor = "cartpole",
        .network = FULCRUM_NETWORK_MLP,
        .seed = 1,
        .configs = of,
        .config_count = count,
        .window_s = 0.05};
    const struct fulcrum_measure_stages_options options = {
        .measure = &measure, .pair_count = 1};
    return fulcrum_measure_record_take(out, &options, NULL);
}

TEST(test_runs_are_named_by_what_tells_them_apart)
{
    struct fulcrum_measure_record record;
    ASSERT_OK(take(configs, 1, &record));
    CU_ASSERT_EQUAL_FATAL(record.run_count, 1);
    CU_ASSERT_STRING_EQUAL(record.runs[0].name, "1 actor");
    fulcrum_measure_record_clear(&record);
    CU_ASSERT_EQUAL(record.run_count, 0);
}

/* One that cannot run has no row; where rules differ names tell them. */
TEST(test_configurations_that_failed_have_no_run)
{
    struct fulcrum_measure_record record;
    ASSERT_OK(take(configs, 3, &record));
    CU_ASSERT_EQUAL_FATAL(record.run_count, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(record.runs[0].name, "1 actor, greedy"));
    CU_ASSERT_PTR_NOT_NULL(strstr(record.runs[1].name, "2 actors of 3, greedy"));
    CU_ASSERT_PTR_EQUAL(record.runs[1].times, &record.found->items[2].times);
    CU_ASSERT(record.runs[1].measured->recorded_steps_per_s > 0.0);
    fulcrum_measure_record_clear(&record);
}

/* Points are numbered without those that have no window, as in the reference. */
TEST(test_each_run_gets_the_prediction_of_its_configuration)
{
    static const double actors[] = {1.0, 2.0};
    struct fulcrum_measured items[3] = {{.config = configs[0], .window_count = 1},
        {.config = configs[1]}, {.config = configs[2], .window_count = 2}};
    struct fulcrum_measurement measurement = {.count = 3, .items = items};
    struct fulcrum_reference *reference = hand_reference(actors, 2, "steps_per_s");
    struct fulcrum_calibration *calibration = hand_priors();
    struct fulcrum_prediction points[2];
    struct fulcrum_measure_record record;
    ASSERT_OK(take(configs, 3, &record));
    CU_ASSERT_PTR_NULL(record.runs[0].predicted);
    const struct fulcrum_measured_points measured = {
        &measurement, reference, calibration, points};
    ASSERT_OK(fulcrum_reference_predict(reference, calibration, points, NULL, NULL));
    ASSERT_OK(fulcrum_measure_record_predict(&record, &measured, NULL));
    CU_ASSERT_PTR_EQUAL(record.runs[0].predicted, &record.predicted[0]);
    CU_ASSERT_PTR_EQUAL(record.runs[1].predicted, &record.predicted[1]);
    CU_ASSERT_EQUAL(record.runs[1].predicted->steps_per_s,
        points[1].value[FULCRUM_OUTPUT_steps_per_s]);
    /* One that was recorded but not measured has none. */
    items[2].window_count = 0; /* cppcheck-suppress unreadVariable */
    ASSERT_OK(fulcrum_measure_record_predict(&record, &measured, NULL));
    CU_ASSERT_PTR_NULL(record.runs[1].predicted);
    fulcrum_measure_record_clear(&record);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(reference);
}

TEST(test_failures_leave_nothing)
{
    struct fulcrum_measure_record record;
    CU_ASSERT_EQUAL(take(configs, 0, &record), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NULL(record.found);
    CU_ASSERT_PTR_NULL(record.runs);
    fulcrum_measure_record_clear(&record);
}

SUITE_SETUP
{
    struct fulcrum_measure_record record;
    enum fulcrum_status status = take(configs, 1, &record);
    fulcrum_measure_record_clear(&record);
    /* Builds without a learner have no pipeline. */
    return status == FULCRUM_ERR_UNSUPPORTED ? NOT_HERE : 0;
}
