/* test_measure_inputs.c - what `fulcrum measure` is to run, from its settings. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/measure_job.h"

#include <math.h>

#include "cli/message.h"
#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* As the option table leaves them: the cheapest pipeline, one actor. */
static struct fulcrum_measure_settings standard(void)
{
    return (struct fulcrum_measure_settings){.decode_s = (double)NAN,
        .actor = {.actor = "cartpole",
            .options = {.frame_skip = (double)NAN, .limit_s = 10.0}},
        .learner = {.learner = "cpu",
            .sms = (double)NAN,
            .network = FULCRUM_NETWORK_MLP},
        .actors = "1",
        .envs = "1",
        .window_s = 0.5,
        .windows = 5.0,
        .most_windows = 3.0,
        .seed = 7.0};
}

static struct fulcrum_measure_inputs load_well(
    const struct fulcrum_measure_settings *settings)
{
    struct fulcrum_measure_inputs out;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_context context = {.exit_code = 0};
    ASSERT_OK(fulcrum_measure_inputs_load(settings, &context, &out, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    CU_ASSERT_EQUAL(context.exit_code, 0);
    return out;
}

static void assert_refused(const struct fulcrum_measure_settings *settings,
    enum fulcrum_status expected, int expected_code, const char *part)
{
    struct fulcrum_measure_inputs out;
    struct fulcrum_context context = {.exit_code = 0};
    ASSERT_FAILS(
        fulcrum_measure_inputs_load(settings, &context, &out, &err), expected, part);
    CU_ASSERT_EQUAL(context.exit_code, expected_code);
    fulcrum_measure_inputs_clear(&out);
}

TEST(test_options_are_those_of_the_settings)
{
    struct fulcrum_measure_settings settings = standard();
    struct fulcrum_measure_inputs inputs = load_well(&settings);
    const struct fulcrum_measure_options *options = &inputs.options;
    CU_ASSERT_STRING_EQUAL(options->actor, "cartpole");
    CU_ASSERT_EQUAL(options->network, FULCRUM_NETWORK_MLP);
    CU_ASSERT_EQUAL(options->seed, 7);
    CU_ASSERT_EQUAL(options->window_count, 5);
    CU_ASSERT_EQUAL(options->most_windows, 5); /* no fewer than are wanted */
    CU_ASSERT_EQUAL(options->sm_count, 0.0);
    CU_ASSERT_EQUAL_FATAL(options->config_count, 1);
    CU_ASSERT_EQUAL(options->configs[0].policy, FULCRUM_BATCH_GREEDY);
    CU_ASSERT_EQUAL(options->training.env_steps_per_train_step, 0.0);
    CU_ASSERT_PTR_NULL(inputs.calibration);
    CU_ASSERT_STRING_EQUAL(inputs.base.workload.name, "ppo-mujoco-humanoid");
    fulcrum_measure_inputs_clear(&inputs);
    fulcrum_measure_inputs_clear(&inputs); /* accepts what it left */
}

/* Every rule with every number of environments and of actors, actors fastest. */
TEST(test_configurations_are_all_combinations)
{
    const char *rules[] = {"greedy:8", "half", "fixed:3", "greedy"};
    struct fulcrum_measure_settings settings = standard();
    settings.actors = "1:4:x2";
    settings.envs = "1,5";
    settings.batching = (struct fulcrum_text_list){4, rules};
    struct fulcrum_measure_inputs inputs = load_well(&settings);
    const struct fulcrum_measure_config *configs = inputs.options.configs;
    CU_ASSERT_EQUAL_FATAL(inputs.options.config_count, 24);
    CU_ASSERT_EQUAL(configs[0].actor_count, 1);
    CU_ASSERT_EQUAL(configs[2].actor_count, 4);
    CU_ASSERT_EQUAL(configs[2].envs_per_actor, 1);
    CU_ASSERT_EQUAL(configs[3].envs_per_actor, 5);
    CU_ASSERT_EQUAL(configs[5].policy, FULCRUM_BATCH_GREEDY);
    CU_ASSERT_EQUAL(configs[5].batch_size, 8.0);
    CU_ASSERT_EQUAL(configs[6].policy, FULCRUM_BATCH_FIXED);
    CU_ASSERT_EQUAL(configs[6].population_frac, 0.5);
    CU_ASSERT_EQUAL(configs[12].policy, FULCRUM_BATCH_FIXED);
    CU_ASSERT_EQUAL(configs[12].batch_size, 3.0);
    CU_ASSERT_EQUAL(configs[12].population_frac, 0.0);
    CU_ASSERT_EQUAL(configs[23].batch_size, 0.0);
    fulcrum_measure_inputs_clear(&inputs);
}

TEST(test_rules_that_are_none_are_refused)
{
    static const char *const texts[] = {
        "fixed", "fixed:0", "fixed:1.5", "greedy:", "half:2", "halff", "greed:3", ""};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        const char *rules[] = {texts[i]};
        struct fulcrum_measure_settings settings = standard();
        settings.batching = (struct fulcrum_text_list){1, rules};
        assert_refused(&settings, FULCRUM_ERR_FORMAT, FULCRUM_EXIT_USAGE, texts[i]);
    }
}

TEST(test_what_is_to_train_comes_from_the_workload)
{
    struct fulcrum_measure_settings settings = standard();
    settings.trains = 1;
    assert_refused(&settings, FULCRUM_ERR_MISSING, FULCRUM_EXIT_USAGE,
        "--train needs a --workload");
    settings.learner.workload = "ppo-mujoco-humanoid";
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_workload_load("ppo-mujoco-humanoid", &design, NULL, NULL));
    struct fulcrum_measure_inputs inputs = load_well(&settings);
    const struct fulcrum_measure_training *training = &inputs.options.training;
    CU_ASSERT_EQUAL(training->env_steps_per_train_step,
        design.workload.training.env_steps_per_train_step);
    CU_ASSERT_EQUAL(training->batch, (size_t)design.workload.training.batch_size);
    fulcrum_measure_inputs_clear(&inputs);
}

TEST(test_processors_are_read_and_wrong_ones_named)
{
    struct fulcrum_measure_settings settings = standard();
    settings.actor_cpus = "0"; /* every machine has it */
    settings.server_cpus = "0";
    struct fulcrum_measure_inputs inputs = load_well(&settings);
    CU_ASSERT_EQUAL(inputs.options.placement.actors.count, 1);
    CU_ASSERT_EQUAL(inputs.options.placement.server.count, 1);
    fulcrum_measure_inputs_clear(&inputs);
    settings.server_cpus = "0-";
    assert_refused(
        &settings, FULCRUM_ERR_FORMAT, FULCRUM_EXIT_USAGE, "--server-cpus: ");
}

/* A calibration of this actor and learner is taken, others are refused. */
TEST(test_calibrations_of_another_pipeline_are_refused)
{
    struct fulcrum_measure_settings settings = standard();
    struct fulcrum_calibration *calibration = NULL;
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "c.json");
    ASSERT_OK(fulcrum_calibration_load("v100-prior", &calibration, NULL));
    ASSERT_OK(
        fulcrum_calibration_add_note(calibration, "actor", "cartpole: built in", NULL));
    ASSERT_OK(
        fulcrum_calibration_add_note(calibration, "learner", "cpu, network mlp", NULL));
    ASSERT_OK(fulcrum_calibration_save(calibration, path, NULL));
    settings.calibration = path;
    struct fulcrum_measure_inputs inputs = load_well(&settings);
    CU_ASSERT_PTR_NOT_NULL(inputs.calibration);
    fulcrum_measure_inputs_clear(&inputs);
    settings.actor.actor = "mujoco-ant";
    assert_refused(&settings, FULCRUM_ERR_INFEASIBLE, 0,
        "was taken with actor cartpole; this run has mujoco-ant");
    settings.actor.actor = NULL; /* the first that there is */
    settings.learner.network = FULCRUM_NETWORK_R2D2;
    assert_refused(&settings, FULCRUM_ERR_INFEASIBLE, 0,
        "was taken with learner cpu, network mlp; this run has cpu, network r2d2");
    fulcrum_calibration_free(calibration);
    scratch_free(&scratch);
}
