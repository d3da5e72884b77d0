/* test_preset_data.c - the presets that are shipped. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/predict/predict.h"
#include "presets/load/partition_file.h"
#include "presets/load/preset.h"
#include "tests/support/suite.h"

/* What a design holds, and where each value is from. */
struct loaded {
    struct fulcrum_design design;
    struct fulcrum_sources sources;
};

static void load(enum fulcrum_preset_kind kind, const char *name, struct loaded *out)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    *out = (struct loaded){.sources = {0, NULL}};
    fulcrum_design_init(&out->design);
    enum fulcrum_status status =
        kind == FULCRUM_PRESET_MACHINE
            ? fulcrum_machine_load(name, &out->design, &out->sources, &err)
            : fulcrum_workload_load(name, &out->design, &out->sources, &err);
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    ASSERT_OK(status);
}

static void for_each(enum fulcrum_preset_kind kind,
    void (*check)(const char *name, const struct loaded *loaded))
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(kind, &entries, &count, NULL));
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        struct loaded loaded;
        load(kind, entries[i].name, &loaded);
        check(entries[i].name, &loaded);
        fulcrum_sources_free(&loaded.sources);
    }
    free(entries);
}

static void expect(int holds, const char *name, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "%s: %s\n", name, what);
        CU_FAIL("a preset is not as it should be");
    }
}

/* Given: not what the field is without the file. */
static bool is_given(
    const struct fulcrum_field *field, const struct fulcrum_design *design)
{
    double value = fulcrum_field_number(field, design);
    return !isnan(value) && (isnan(field->fallback) || value < field->fallback ||
                                value > field->fallback);
}

static void check_sources(const char *name, const struct loaded *loaded)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        bool is_number = fields[i].kind == FULCRUM_FIELD_NUMBER ||
                         fields[i].kind == FULCRUM_FIELD_COUNT;
        if (strncmp(fields[i].path, "run.", 4) == 0 || !is_number ||
            !is_given(&fields[i], &loaded->design)) {
            continue;
        }
        const struct fulcrum_source *source =
            fulcrum_sources_find(&loaded->sources, fields[i].path);
        expect(source != NULL && source->text[0] != '\0', name, fields[i].path);
        expect(source != NULL && source->spread_factor >= 1.0, name, fields[i].path);
    }
}

TEST(test_every_number_has_a_source)
{
    for_each(FULCRUM_PRESET_MACHINE, check_sources);
    for_each(FULCRUM_PRESET_WORKLOAD, check_sources);
}

/* A watt or yield that nobody published must not pass for a fact. */
static void check_assumed(const char *name, const struct loaded *loaded)
{
    static const char *const paths[] = {"machine.cpu.idle_w", "machine.cpu.core_idle_w",
        "machine.cpu.core_dynamic_w", "machine.gpu.idle_w", "machine.gpu.floor_w",
        "machine.gpu.dynamic_w", "machine.rest_w", "machine.psu_efficiency_frac"};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        const struct fulcrum_source *source =
            fulcrum_sources_find(&loaded->sources, paths[i]);
        expect(source == NULL || (source->is_prior && source->spread_factor > 1.0),
            name, paths[i]);
    }
}

TEST(test_assumed_watts_are_marked_as_priors_with_a_spread)
{
    for_each(FULCRUM_PRESET_MACHINE, check_assumed);
}

TEST(test_ratios_of_threads_to_sms_are_the_published_ones)
{
    static const struct {
        const char *name;
        double thread_count;
        double gpu_count;
        double sm_count;
    } cases[] = {
        {"dgx-1", 80, 8, 80},
        {"dgx-1-inci2020", 40, 8, 80},
        {"dgx-2", 96, 16, 80},
        {"dgx-a100", 256, 8, 108},
        {"dgx-h100", 224, 8, 132},
        {"dgx-h200", 224, 8, 132},
        {"dgx-b200", 224, 8, 148},
        {"gb200-nvl72", 2592, 72, 148},
        {"aws-p3-16xlarge", 64, 8, 80},
        {"aws-p4d-24xlarge", 96, 8, 108},
        {"aws-p5-48xlarge", 192, 8, 132},
        {"azure-nd-h100-v5", 96, 8, 132},
        {"workstation-rtx4090", 32, 1, 128},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct loaded loaded;
        load(FULCRUM_PRESET_MACHINE, cases[i].name, &loaded);
        const struct fulcrum_machine *machine = &loaded.design.machine;
        assert_close(cases[i].name,
            machine->cpu.thread_count / (machine->gpu.count * machine->gpu.sm_count),
            cases[i].thread_count / (cases[i].gpu_count * cases[i].sm_count), 1e-12);
        CU_ASSERT_EQUAL(machine->gpu.count, cases[i].gpu_count);
        fulcrum_sources_free(&loaded.sources);
    }
}

static bool is_within(double value, double least, double most)
{
    return value >= least && value <= most;
}

static void check_gpu(const char *name, const struct fulcrum_gpu *gpu)
{
    expect(is_within(gpu->clock_hz, 1.2e9, 3e9), name, "clock of the GPU");
    expect(is_within(gpu->flop_per_sm_cycle, 128, 256), name, "math rate per SM");
    expect(is_within(gpu->dram_byte_per_s, 0.8e12, 22e12), name, "memory bandwidth");
    expect(is_within(gpu->llc_byte, 6e6, 130e6), name, "last-level cache");
    expect(is_within(gpu->memory_byte, 16e9, 288e9), name, "memory");
    expect(is_within(gpu->tdp_w, 300, 1800), name, "rated power");
    expect(gpu->idle_w + gpu->floor_w + gpu->dynamic_w <= gpu->tdp_w, name,
        "idle, floor and dynamic watts exceed the GPU's rated power");
    expect(gpu->idle_w < 0.35 * gpu->tdp_w, name, "idle watts of the GPU");
}

/* Everything busy. Rated power covers it, but for the roundness of the priors. */
static void check_rated(const char *name, const struct fulcrum_machine *machine)
{
    const struct fulcrum_cpu *cpu = &machine->cpu;
    double busy_core_w = cpu->core_dynamic_w * (1.0 + cpu->smt_power_frac);
    double cpu_w = cpu->idle_w + cpu->core_count * (cpu->core_idle_w + busy_core_w);
    double gpus_w = machine->gpu.count * machine->gpu.tdp_w;
    expect(!(gpus_w > machine->rated_w), name, "GPUs exceed the machine's rated power");
    double loaded_w = (cpu_w + gpus_w + machine->rest_w) / machine->psu_efficiency_frac;
    expect(
        !(loaded_w > 1.1 * machine->rated_w), name, "loaded watts exceed the rating");
    expect(!(loaded_w < 0.6 * machine->rated_w), name, "loaded watts miss the rating");
}

static void check_plausible(const char *name, const struct loaded *loaded)
{
    const struct fulcrum_machine *machine = &loaded->design.machine;
    if (machine->accelerator == FULCRUM_ACCELERATOR_CPU) {
        return;
    }
    const struct fulcrum_cpu *cpu = &machine->cpu;
    expect(cpu->core_count >= cpu->socket_count, name, "sockets without a core");
    expect(
        is_within(cpu->thread_count / cpu->core_count, 1, 2), name, "threads per core");
    expect(
        isnan(cpu->clock_hz) || is_within(cpu->clock_hz, 2e9, 5e9), name, "base clock");
    expect(isnan(cpu->single_thread_speed_rel) ||
               is_within(cpu->single_thread_speed_rel, 0.7, 2.5),
        name, "single-thread speed");
    check_gpu(name, &machine->gpu);
    check_rated(name, machine);
}

TEST(test_machines_are_plausible)
{
    for_each(FULCRUM_PRESET_MACHINE, check_plausible);
}

TEST(test_the_generic_server_gives_watts_but_no_counts)
{
    struct loaded loaded;
    load(FULCRUM_PRESET_MACHINE, "generic-server", &loaded);
    const struct fulcrum_machine *machine = &loaded.design.machine;
    CU_ASSERT_EQUAL(machine->accelerator, FULCRUM_ACCELERATOR_CPU);
    CU_ASSERT(isnan(machine->cpu.core_count));
    CU_ASSERT(isnan(machine->cpu.thread_count));
    CU_ASSERT(isnan(machine->cpu.socket_count));
    CU_ASSERT(isnan(machine->gpu.count));
    struct fulcrum_machine filled = *machine;
    filled.cpu.core_count = 8;
    filled.cpu.thread_count = 16;
    fulcrum_machine_fill_watts(&filled);
    CU_ASSERT(filled.cpu.idle_w > 0.0);
    CU_ASSERT(filled.cpu.core_idle_w > 0.0);
    CU_ASSERT(filled.cpu.core_dynamic_w > 0.0);
    CU_ASSERT(filled.rest_w > 0.0);
    fulcrum_sources_free(&loaded.sources);
}

/* Work of a training step: at least one forward and backward pass of each step. */
static void check_training(const char *name, const struct fulcrum_workload *workload)
{
    const struct fulcrum_workload_training *training = &workload->training;
    double unroll = isnan(training->unroll_length) ? 1.0 : training->unroll_length;
    double trained = training->batch_size * unroll;
    /* Frameworks with any network of their users' say nothing of its work. */
    bool is_told = !isnan(workload->network.forward_flop);
    expect(is_told == !isnan(training->train_step_flop), name,
        "the work of inference or of training is told without the other");
    expect(!is_told || training->train_step_flop >=
                           2.0 * trained * workload->network.forward_flop,
        name, "a training step costs less than its passes");
    expect(training->env_steps_per_train_step <= trained, name,
        "more new steps than a training step takes");
}

static void check_workload(const char *name, const struct loaded *loaded)
{
    const struct fulcrum_workload *workload = &loaded->design.workload;
    if (workload->training.env_steps_per_train_step > 0.0) {
        check_training(name, workload);
    }
    /* Agents without tools say so: no step, which is no time. */
    expect(!(workload->step.mean_s > 0.0) && isnan(workload->network.per_item_s), name,
        "times belong into a calibration");
    expect(is_within(workload->total_env_steps, 1e5, 1e9), name, "total steps");
}

TEST(test_workloads_are_plausible_and_leave_times_to_calibrations)
{
    for_each(FULCRUM_PRESET_WORKLOAD, check_workload);
}

/* A fit says what it was fitted to. */
static bool is_fitted(const struct fulcrum_calibration *calibration)
{
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, "fitted_to") == 0) {
            return strstr(calibration->name, "-prior") == NULL;
        }
    }
    return 0;
}

/* What `fulcrum calibrate` wrote says when and with what, and how fast the core was. */
static bool is_measured(const struct fulcrum_calibration *calibration)
{
    return fulcrum_calibration_note(calibration, "date") != NULL;
}

static void check_measured(const struct fulcrum_calibration *calibration)
{
    static const char *const notes[] = {
        "date", "tool", "host", "cpu_model", "blas", "actor", "learner"};
    const char *name = calibration->name;
    for (size_t i = 0; i < LENGTH(notes); i++) {
        expect(fulcrum_calibration_note(calibration, notes[i]) != NULL, name, notes[i]);
    }
    expect(calibration->machine.cpu.canary_s > 0.0, name, "no canary");
    const struct fulcrum_quantity *disturbed =
        fulcrum_calibration_quantity(calibration, "disturbed_frac");
    expect(disturbed != NULL && disturbed->value < 0.7, name, "taken in a busy place");
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i];
        expect(
            parameter->origin != FULCRUM_ORIGIN_PRIOR && parameter->source[0] != '\0',
            name, parameter->path);
    }
}

static void check_beliefs(const struct fulcrum_calibration *calibration)
{
    const char *name = calibration->name;
    bool is_of_runs = calibration->parameter_count > 0 &&
                      strcmp(calibration->parameters[0].path, "run.discrepancy") == 0;
    expect(is_of_runs || calibration->machine.cpu.single_thread_speed_rel > 0.0, name,
        "cannot be carried to another processor");
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i];
        /* What fits have seen is counted. */
        bool is_count = strcmp(parameter->path, "run.seen_envs_per_thread") == 0;
        int origin_ok = parameter->origin == FULCRUM_ORIGIN_PRIOR || is_count ||
                        (parameter->origin == FULCRUM_ORIGIN_FITTED &&
                            (is_of_runs || is_fitted(calibration)));
        expect(origin_ok && (parameter->standard_error > 0.0 || is_count) &&
                   parameter->source[0] != '\0',
            name, parameter->path);
    }
}

TEST(test_calibrations_claim_nothing_that_was_not_measured)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_CALIBRATION, &entries, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_calibration *calibration = NULL;
        ASSERT_OK(fulcrum_calibration_load(entries[i].name, &calibration, NULL));
        ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
        expect(calibration->series_count == 0, entries[i].name, "has samples");
        if (is_measured(calibration)) {
            check_measured(calibration);
        } else {
            check_beliefs(calibration);
        }
        fulcrum_calibration_free(calibration);
    }
    free(entries);
}

static void predict(const struct fulcrum_design *base,
    const struct fulcrum_calibration *calibration, struct fulcrum_prediction *out)
{
    const struct fulcrum_setting actors = {
        fulcrum_field_find("run.actor_count"), 256.0, NULL};
    const struct fulcrum_scenario_inputs inputs = {.base = base,
        .calibrations = &calibration,
        .calibration_count = 1,
        .settings = &actors,
        .setting_count = fulcrum_design_is_resident(base) ? 0 : 1};
    struct fulcrum_scenario *scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    const struct fulcrum_point point = {NULL, 0, 0, 1};
    const struct fulcrum_predict_options options = {
        .solver = {.seed = 1, .half_width_rel = 0.05}};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_predict(scenario, &point, &options, out, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    fulcrum_scenario_free(scenario);
}

/* One machine under one workload whose times are those of `calibration`. */
static void check_prediction(const char *name, const struct fulcrum_design *workload,
    const struct fulcrum_calibration *calibration)
{
    struct loaded loaded;
    load(FULCRUM_PRESET_MACHINE, name, &loaded);
    if (loaded.design.machine.accelerator == FULCRUM_ACCELERATOR_GPU) {
        struct fulcrum_prediction prediction = {.actor_count = 0.0};
        loaded.design.workload = workload->workload;
        predict(&loaded.design, calibration, &prediction);
        for (size_t i = 0; i < FULCRUM_OUTPUT_trajectories_per_s; i++) {
            expect(isfinite(prediction.value[i]) ||
                       i == FULCRUM_OUTPUT_actor_threads_per_learner_core,
                name, fulcrum_output_name(i));
        }
        double most = fulcrum_design_is_resident(workload) ? 1e7 : 1e5;
        expect(is_within(prediction.value[FULCRUM_OUTPUT_steps_per_s], 1e3, most), name,
            "steps per second of 256 actors, or of environments on the GPU");
    }
    fulcrum_sources_free(&loaded.sources);
}

/* Trajectories are begun, decode and end on a machine that has room for the model. */
static void check_agents(const char *name, const struct loaded *loaded)
{
    struct loaded machine;
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_prediction prediction = {.actor_count = 0.0};
    bool decodes = loaded->design.workload.agent.output_tokens > 0.0;
    load(FULCRUM_PRESET_MACHINE, decodes ? "gb200-nvl72" : "aws-m7i-4xlarge", &machine);
    ASSERT_OK(fulcrum_calibration_load(
        loaded->design.workload.calibration, &calibration, NULL));
    machine.design.workload = loaded->design.workload;
    machine.design.run.actor_count = 64.0;
    if (decodes) {
        machine.design.run.gpu_count = 32.0;
        machine.design.run.learner_gpu_count = 16.0;
    }
    predict(&machine.design, calibration, &prediction);
    double turns = loaded->design.workload.agent.turn_count;
    double each = prediction.value[FULCRUM_OUTPUT_trajectories_per_s];
    expect(is_within(each, 1e-3, 50.0), name, "trajectories per second");
    expect(is_within(each * turns,
               prediction.value[FULCRUM_OUTPUT_steps_per_s] * (1.0 - 1e-9),
               prediction.value[FULCRUM_OUTPUT_steps_per_s] * (1.0 + 1e-9)),
        name, "turns of a trajectory");
    expect(!decodes || prediction.value[FULCRUM_OUTPUT_tokens_per_s] > 100.0, name,
        "tokens per second");
    fulcrum_calibration_free(calibration);
    fulcrum_sources_free(&machine.sources);
}

static void check_workload_everywhere(const char *name, const struct loaded *loaded)
{
    if (loaded->design.workload.family == (int)FULCRUM_FAMILY_AGENTS) {
        check_agents(name, loaded);
        return;
    }
    if (loaded->design.workload.calibration[0] == '\0') {
        return;
    }
    struct fulcrum_calibration *calibration = NULL;
    expect(fulcrum_calibration_load(
               loaded->design.workload.calibration, &calibration, NULL) == FULCRUM_OK,
        name, loaded->design.workload.calibration);
    struct fulcrum_preset_entry *machines = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &machines, &count, NULL));
    for (size_t i = 0; i < count && calibration != NULL; i++) {
        check_prediction(machines[i].name, &loaded->design, calibration);
    }
    free(machines);
    fulcrum_calibration_free(calibration);
}

TEST(test_every_gpu_machine_runs_every_workload_with_times)
{
    for_each(FULCRUM_PRESET_WORKLOAD, check_workload_everywhere);
}

SUITE_SETUP
{
    /* The data of this tree, not what is installed; CTest runs in its root. */
    return setenv("FULCRUM_PRESETS", "presets", 1);
}

/* What the MIG User Guide's tables have in common: 7 compute slices, one profile each
 * of 1, 2, 3, 4 and 7 of them besides 1 with twice the memory and 1 with media. */
static void assert_as_in_the_guide(const struct fulcrum_mig *mig)
{
    static const double compute[] = {1, 1, 1, 2, 3, 4, 7};
    static const double most[] = {7, 1, 4, 3, 2, 1, 1};
    CU_ASSERT_EQUAL_FATAL(mig->profile_count, 7);
    for (size_t k = 0; k < 7; k++) {
        const struct fulcrum_mig_profile *profile = &mig->profiles[k];
        CU_ASSERT_EQUAL(profile->compute_slice_count, compute[k]);
        CU_ASSERT_EQUAL(profile->most_count, most[k]);
        CU_ASSERT_EQUAL(profile->is_media_extension, k == 1);
        CU_ASSERT(profile->memory_byte * mig->memory_slice_count <=
                  1.01 * mig->memory_byte * profile->memory_slice_count);
    }
}

TEST(test_shipped_partitions_are_as_the_guide_tells)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_PARTITION, &entries, &count, NULL));
    CU_ASSERT(count >= 5);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_partition *partition = NULL;
        ASSERT_OK(fulcrum_partition_load(entries[i].name, &partition, NULL));
        assert_as_in_the_guide(&partition->mig);
        CU_ASSERT(partition->source_count >= 3);
        free(partition);
    }
    free(entries);
}

/* The driver's listing of an A100 with 40 GB. */
TEST(test_an_a100_has_14_sms_a_slice)
{
    struct fulcrum_partition *partition = NULL;
    ASSERT_OK(fulcrum_partition_load("a100-40gb", &partition, NULL));
    size_t i = fulcrum_mig_find(&partition->mig, "3g.20gb");
    CU_ASSERT_EQUAL(partition->mig.profiles[i].sm_count, 42);
    CU_ASSERT_EQUAL(partition->mig.profiles[i].memory_slice_count, 4);
    i = fulcrum_mig_find(&partition->mig, "7g.40gb");
    CU_ASSERT_EQUAL(partition->mig.profiles[i].sm_count, 98);
    free(partition);
}

TEST(test_the_partition_of_a_gpu_is_found_by_its_name)
{
    struct fulcrum_partition *partition = NULL;
    ASSERT_OK(fulcrum_partition_of_gpu("NVIDIA H100-SXM5-80GB", &partition, NULL));
    CU_ASSERT_STRING_EQUAL(partition->mig.name, "h100-80gb");
    free(partition);
    ASSERT_FAILS(fulcrum_partition_of_gpu("NVIDIA V100", &partition, &err),
        FULCRUM_ERR_UNSUPPORTED, "a100-40gb, a100-80gb");
}
