/* designs.c - designs and calibrations that several tests start from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* strtok_r */

#include "tests/support/designs.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "model/network/network.h"
#include "model/predict/to_network.h"
#include "model/simulate/simulate.h"
#include "tests/support/suite.h"

static struct fulcrum_design common_design(void)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    designs_set(&design,
        "workload.total_env_steps=1e6 workload.step.cv=0.5 machine.rest_w=100 "
        "machine.psu_efficiency_frac=0.9 machine.cpu.idle_w=12 "
        "machine.cpu.core_idle_w=1.2 machine.cpu.core_dynamic_w=4.2 "
        "machine.cpu.socket_count=1");
    return design;
}

struct fulcrum_design gpu_design(void)
{
    struct fulcrum_design design = common_design();
    (void)strcpy(design.machine.cpu.name, "Xeon E5-2698 v4");
    (void)strcpy(design.machine.gpu.name, "V100");
    designs_set(&design,
        "machine.cpu.core_count=20 machine.cpu.thread_count=40 "
        "machine.cpu.smt_yield_frac=0.25 machine.cpu.single_thread_speed_rel=1.0 "
        "machine.gpu.count=8 machine.gpu.sm_count=80 machine.gpu.idle_w=40 "
        "machine.gpu.floor_w=22 machine.gpu.dynamic_w=170 workload.step.mean_s=2e-3 "
        "workload.network.per_batch_s=1.2e-3 workload.network.per_item_s=6e-6 "
        "workload.frame_skip=4 run.actor_count=40 run.sm_count=80");
    return design;
}

struct fulcrum_design cpu_design(void)
{
    struct fulcrum_design design = common_design();
    (void)strcpy(design.machine.cpu.name, "Eight");
    designs_set(&design,
        "machine.accelerator=cpu machine.cpu.core_count=8 machine.cpu.thread_count=8 "
        "machine.cpu.smt_yield_frac=0.0 workload.step.mean_s=1e-4 "
        "workload.network.per_batch_s=2e-5 workload.network.per_item_s=2e-6 "
        "run.actor_count=7");
    return design;
}

struct fulcrum_network plain_network(
    double actors, double threads, double gpu_s, double item_s)
{
    return (struct fulcrum_network){.name = "plain",
        .actors = actors,
        .cpu = {.core_count = threads, .thread_count = threads},
        .step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
        .gpu = {.per_batch_s = gpu_s, .per_item_s = item_s},
        .depth = 1};
}

struct fulcrum_solution simulated(
    const struct fulcrum_network *network, uint64_t seed, double half_width_rel)
{
    return simulated_within(network, seed, half_width_rel, 0.0);
}

struct fulcrum_solution simulated_within(const struct fulcrum_network *network,
    uint64_t seed, double half_width_rel, double max_steps)
{
    const struct fulcrum_solver_options options = {
        .seed = seed, .half_width_rel = half_width_rel, .max_steps = max_steps};
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    ASSERT_OK(fulcrum_simulate(network, &options, &out, NULL));
    return out;
}

void designs_set(struct fulcrum_design *design, const char *settings)
{
    char text[1000];
    CU_ASSERT_FATAL(strlen(settings) < sizeof text);
    (void)snprintf(text, sizeof text, "%s", settings);
    char *rest = text;
    for (char *path = strtok_r(text, " ", &rest); path != NULL;
         path = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(path, '=');
        CU_ASSERT_PTR_NOT_NULL_FATAL(value);
        assert(value != NULL);
        *value++ = '\0';
        const struct fulcrum_field *field = fulcrum_field_find(path);
        CU_ASSERT_PTR_NOT_NULL_FATAL(field);
        ASSERT_OK(fulcrum_field_set_text(field, design, value, NULL));
    }
}

void designs_assert_refused(const struct fulcrum_design *design, const char *settings,
    enum fulcrum_status status, const char *part)
{
    struct fulcrum_design own = *design;
    struct fulcrum_replicas replicas;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    designs_set(&own, settings);
    enum fulcrum_status found = fulcrum_design_check(&own, &err);
    if (found == FULCRUM_OK) {
        found = fulcrum_design_to_network(&own, &replicas, &err);
    }
    CU_ASSERT_EQUAL(found, status);
    assert_part(err.detail, part);
}

void designs_add_parameter(struct fulcrum_calibration *calibration, const char *path,
    double value, double standard_error, enum fulcrum_scale scale)
{
    struct fulcrum_parameter parameter = {
        .value = value, .standard_error = standard_error, .scale = scale};
    int length = snprintf(parameter.path, sizeof parameter.path, "%s", path);
    CU_ASSERT_FATAL(length > 0 && (size_t)length < sizeof parameter.path);
    ASSERT_OK(fulcrum_calibration_add_parameter(calibration, &parameter, NULL));
}

struct fulcrum_calibration *designs_calibration(const struct fulcrum_design *design,
    const char *path, double value, double standard_error)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    calibration->machine = design->machine;
    designs_add_log(calibration, path, value, standard_error);
    return calibration;
}

void designs_add_log(struct fulcrum_calibration *calibration, const char *path,
    double value, double standard_error)
{
    designs_add_parameter(calibration, path, value, standard_error, FULCRUM_SCALE_LOG);
}

double designs_crossover(const struct fulcrum_cluster *cluster, double most_per_node,
    double model_parallel_count, const double *device_count, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_layout hybrid = {1.0, 1.0, 1.0, 1.0};
        struct fulcrum_layout data = hybrid;
        if (fulcrum_layout_spread(device_count[i], most_per_node, model_parallel_count,
                &hybrid, NULL) == FULCRUM_OK &&
            fulcrum_layout_spread(device_count[i], most_per_node, 1.0, &data, NULL) ==
                FULCRUM_OK &&
            fulcrum_cluster_step_of(cluster, &hybrid).quality_speedup >
                fulcrum_cluster_step_of(cluster, &data).quality_speedup) {
            return device_count[i];
        }
    }
    return (double)NAN;
}
