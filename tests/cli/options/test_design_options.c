/* test_design_options.c - options become a scenario: presets, calibrations, settings.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/host.h"
#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* Options as the parser leaves them where none was given. */
static struct fulcrum_design_settings bare_settings(void)
{
    return (struct fulcrum_design_settings){
        .machine = "dgx-1", .workload = "r2d2-atari", .actor_count = (double)NAN};
}

static void load_inputs(
    const struct fulcrum_design_settings *settings, struct fulcrum_design_inputs *out)
{
    struct fulcrum_context context = {.exit_code = 0};
    ASSERT_OK(fulcrum_design_inputs_load(settings, &context, out, NULL));
    CU_ASSERT_EQUAL(context.exit_code, 0);
}

TEST(test_the_workload_names_its_calibration)
{
    struct fulcrum_design_settings settings = bare_settings();
    struct fulcrum_design_inputs inputs;
    load_inputs(&settings, &inputs);
    CU_ASSERT_STRING_EQUAL(inputs.base.machine.name, "dgx-1");
    CU_ASSERT_STRING_EQUAL(inputs.base.workload.name, "r2d2-atari");
    CU_ASSERT_EQUAL(inputs.named_count, 1);
    CU_ASSERT_EQUAL(inputs.scenario.calibration_count, 2);
    CU_ASSERT_STRING_EQUAL(
        inputs.scenario.calibrations[0]->name, inputs.base.workload.calibration);
    CU_ASSERT_EQUAL(inputs.scenario.setting_count, 0);
    CU_ASSERT_PTR_EQUAL(inputs.scenario.base, &inputs.base);
    fulcrum_design_inputs_free(&inputs);
}

TEST(test_a_setting_replaces_the_workloads_calibration)
{
    const char *sets[] = {"workload.calibration=v100-impala-prior"};
    struct fulcrum_design_settings settings = bare_settings();
    settings.sets = (struct fulcrum_text_list){1, sets};
    struct fulcrum_context context = {.exit_code = 0};
    struct fulcrum_design_inputs inputs;
    load_inputs(&settings, &inputs);
    CU_ASSERT_EQUAL_FATAL(inputs.named_count, 1);
    CU_ASSERT_STRING_EQUAL(inputs.calibrations[0]->name, "v100-impala-prior");
    fulcrum_design_inputs_free(&inputs);
    sets[0] = "workload.calibration=no-such";
    CU_ASSERT_EQUAL(fulcrum_design_inputs_load(&settings, &context, &inputs, NULL),
        FULCRUM_ERR_UNKNOWN_NAME);
    fulcrum_design_inputs_free(&inputs);
}

/* As many priors as there are sources that say so. */
TEST(test_priors_of_the_presets_reach_the_scenario)
{
    struct fulcrum_design_settings settings = bare_settings();
    struct fulcrum_design_inputs inputs;
    load_inputs(&settings, &inputs);
    size_t wanted = 0;
    for (size_t i = 0; i < inputs.sources.count; i++) {
        const struct fulcrum_source *source = &inputs.sources.items[i];
        wanted += source->is_prior && source->spread_factor > 1.0;
    }
    CU_ASSERT(wanted > 0);
    CU_ASSERT_EQUAL(inputs.scenario.prior_count, wanted);
    for (size_t i = 0; i < inputs.scenario.prior_count; i++) {
        const struct fulcrum_prior *prior = &inputs.scenario.priors[i];
        const struct fulcrum_source *source =
            fulcrum_sources_find(&inputs.sources, prior->field->path);
        CU_ASSERT(source != NULL && prior->spread_factor == source->spread_factor);
    }
    fulcrum_design_inputs_free(&inputs);
}

TEST(test_settings_come_in_order_and_actors_last)
{
    const char *sets[] = {
        "machine.gpu.sm_count=40", "workload.step.law=erlang", "run.actor_count=8"};
    const char *calibrations[] = {"v100-prior", "v100-prior"};
    struct fulcrum_design_settings settings = bare_settings();
    settings.sets = (struct fulcrum_text_list){3, sets};
    settings.calibrations = (struct fulcrum_text_list){2, calibrations};
    settings.actor_count = 16.0;
    struct fulcrum_design_inputs inputs;
    load_inputs(&settings, &inputs);
    CU_ASSERT_EQUAL(inputs.named_count, 2);
    CU_ASSERT_EQUAL_FATAL(inputs.scenario.setting_count, 4);
    const struct fulcrum_setting *set = inputs.scenario.settings;
    CU_ASSERT_STRING_EQUAL(set[0].field->path, "machine.gpu.sm_count");
    CU_ASSERT_EQUAL(set[0].number, 40.0);
    CU_ASSERT_PTR_NULL(set[0].text);
    CU_ASSERT_STRING_EQUAL(set[1].text, "erlang");
    CU_ASSERT_STRING_EQUAL(set[3].field->path, "run.actor_count");
    CU_ASSERT_EQUAL(set[3].number, 16.0);
    fulcrum_design_inputs_free(&inputs);
}

TEST(test_this_machine_is_found_out)
{
    struct fulcrum_design design;
    struct fulcrum_sources sources = {0, NULL};
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_machine_find("this", &design, &sources, NULL));
    CU_ASSERT(design.machine.cpu.thread_count >= design.machine.cpu.core_count);
    CU_ASSERT(design.machine.cpu.core_count >= 1.0);
    CU_ASSERT_EQUAL(design.machine.cpu.slice_s, fulcrum_host_slice_s());
    /* What was found out is no preset's figure. */
    CU_ASSERT_PTR_NULL(fulcrum_sources_find(&sources, "machine.cpu.thread_count"));
    fulcrum_sources_free(&sources);
}

/* A calibration of this machine, or of one with another processor, with a GPU. */
static void save_with_gpu(const char *path, const char *cpu_name)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    struct fulcrum_machine *machine = &calibration->machine;
    fulcrum_host_detect(machine);
    machine->accelerator = FULCRUM_ACCELERATOR_GPU;
    machine->gpu.count = 1.0;
    machine->gpu.sm_count = 46.0;
    if (cpu_name != NULL) {
        (void)snprintf(machine->cpu.name, sizeof machine->cpu.name, "%s", cpu_name);
    }
    (void)snprintf(calibration->name, sizeof calibration->name, "with-gpu");
    ASSERT_OK(fulcrum_calibration_save(calibration, path, NULL));
    fulcrum_calibration_free(calibration);
}

/* GPUs are not looked for: one that was measured here is this machine's. */
TEST(test_this_machine_has_the_gpu_that_was_measured_on_it)
{
    const char *const cpu_names[] = {NULL, "Another Processor"};
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "gpu.json");
    for (size_t i = 0; i < 2; i++) {
        const char *calibrations[] = {path};
        struct fulcrum_design_settings settings = bare_settings();
        struct fulcrum_design_inputs inputs;
        settings.machine = "this";
        settings.calibrations = (struct fulcrum_text_list){1, calibrations};
        save_with_gpu(path, cpu_names[i]);
        load_inputs(&settings, &inputs);
        const struct fulcrum_machine *machine = &inputs.base.machine;
        CU_ASSERT_EQUAL(machine->accelerator,
            i == 0 ? FULCRUM_ACCELERATOR_GPU : FULCRUM_ACCELERATOR_CPU);
        CU_ASSERT_TRUE(i != 0 || fabs(machine->gpu.sm_count - 46.0) < 0.5);
        fulcrum_design_inputs_free(&inputs);
    }
    scratch_free(&scratch);
}

TEST(test_wrong_options_fail_and_leave_nothing_behind)
{
    static const struct {
        const char *machine;
        const char *workload;
        const char *calibration;
        const char *set;
        enum fulcrum_status status;
        int exit_code;
    } cases[] = {
        {NULL, "r2d2-atari", NULL, NULL, FULCRUM_ERR_MISSING, 2},
        {"dgx-1", NULL, NULL, NULL, FULCRUM_ERR_MISSING, 2},
        {"dgx-one", "r2d2-atari", NULL, NULL, FULCRUM_ERR_UNKNOWN_NAME, 0},
        {"dgx-1", "r2d3", NULL, NULL, FULCRUM_ERR_UNKNOWN_NAME, 0},
        {"dgx-1", "r2d2-atari", "v101", NULL, FULCRUM_ERR_UNKNOWN_NAME, 0},
        {"./no.json", "r2d2-atari", NULL, NULL, FULCRUM_ERR_FILE, 0},
        {"dgx-1", "r2d2-atari", NULL, "x=1", FULCRUM_ERR_UNKNOWN_NAME, 2},
        {"dgx-1", "r2d2-atari", NULL, "workload.step.law=none", FULCRUM_ERR_RANGE, 2},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *calibrations[] = {cases[i].calibration};
        const char *sets[] = {cases[i].set};
        struct fulcrum_design_settings settings = {
            .machine = cases[i].machine,
            .workload = cases[i].workload,
            .calibrations = {cases[i].calibration != NULL, calibrations},
            .actor_count = (double)NAN,
            .sets = {cases[i].set != NULL, sets},
        };
        struct fulcrum_context context = {.exit_code = 0};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_design_inputs inputs;
        CU_ASSERT_EQUAL(fulcrum_design_inputs_load(&settings, &context, &inputs, &err),
            cases[i].status);
        CU_ASSERT_EQUAL(context.exit_code, cases[i].exit_code);
        CU_ASSERT(strlen(err.detail) > 0);
        fulcrum_design_inputs_free(&inputs);
    }
}
