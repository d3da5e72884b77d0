/* test_predict.c - outputs of a design point, its watts and its intervals. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/predict.h"

#include <math.h>
#include <string.h>

#include "model/number.h"
#include "model/predict/to_network.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static const struct fulcrum_point nominal = {NULL, 0, 0, 0};

static struct fulcrum_prediction predict(const struct fulcrum_scenario_inputs *inputs,
    const struct fulcrum_predict_options *options)
{
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_prediction prediction;
    ASSERT_OK(fulcrum_scenario_new(inputs, &scenario, NULL));
    ASSERT_OK(fulcrum_predict(scenario, &nominal, options, &prediction, NULL));
    fulcrum_scenario_free(scenario);
    return prediction;
}

/* Of a design alone, all else as it comes. */
static struct fulcrum_prediction predict_design(const struct fulcrum_design *design)
{
    const struct fulcrum_scenario_inputs inputs = {.base = design};
    const struct fulcrum_predict_options options = {.solver = {.seed = 1}};
    return predict(&inputs, &options);
}

/* One actor, constant step, no queue anywhere: X = 1 / (t_e + g0 + g1). */
TEST(test_one_actor_takes_turns_with_the_gpu)
{
    struct fulcrum_design design = gpu_design();
    designs_set(&design,
        "workload.step.law=deterministic workload.step.cv=0 run.actor_count=1");
    struct fulcrum_prediction p = predict_design(&design);
    double steps_per_s = 1.0 / (2e-3 + 1.2e-3 + 6e-6);
    assert_close("X", p.value[FULCRUM_OUTPUT_steps_per_s], steps_per_s, 1e-3);
    assert_close(
        "frames/s", p.value[FULCRUM_OUTPUT_frames_per_s], 4 * steps_per_s, 1e-3);
    assert_close("runtime", p.value[FULCRUM_OUTPUT_runtime_s], 1e6 / steps_per_s, 1e-3);
    assert_close("batch", p.value[FULCRUM_OUTPUT_mean_batch], 1.0, 1e-9);
    assert_close("GPU busy", p.value[FULCRUM_OUTPUT_gpu_busy_frac],
        1.206e-3 * steps_per_s, 1e-3);
    CU_ASSERT_EQUAL(p.value[FULCRUM_OUTPUT_cpu_gpu_ratio_machine], 40.0 / 640.0);
    CU_ASSERT_EQUAL(p.value[FULCRUM_OUTPUT_cpu_gpu_ratio_used], 0.5);
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_actor_threads_per_learner_core]));
    CU_ASSERT_EQUAL(p.has_interval, 0);
}

/* Machines that do not train together: as many times one of them. */
TEST(test_nodes_without_training_are_so_many_machines)
{
    struct fulcrum_design design = gpu_design();
    struct fulcrum_prediction one = predict_design(&design);
    design.run.node_count = 5;
    struct fulcrum_prediction five = predict_design(&design);
    static const size_t total[] = {FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_cpu_w,
        FULCRUM_OUTPUT_gpu_w, FULCRUM_OUTPUT_system_w};
    static const size_t same[] = {FULCRUM_OUTPUT_system_j,
        FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_cpu_gpu_ratio_machine,
        FULCRUM_OUTPUT_cpu_gpu_ratio_used, FULCRUM_OUTPUT_gpu_busy_frac};
    for (size_t i = 0; i < LENGTH(total); i++) {
        assert_close(fulcrum_output_name(total[i]), five.value[total[i]],
            5 * one.value[total[i]], 1e-12);
    }
    for (size_t i = 0; i < LENGTH(same); i++) {
        assert_close(fulcrum_output_name(same[i]), five.value[same[i]],
            one.value[same[i]], 1e-12);
    }
    CU_ASSERT_EQUAL(one.value[FULCRUM_OUTPUT_quality_runtime_s],
        one.value[FULCRUM_OUTPUT_runtime_s]);
    CU_ASSERT(isnan(one.value[FULCRUM_OUTPUT_allreduce_s]));
}

/* Epochs by hand, and the quality of a run whose critical batch nobody knows. */
TEST(test_quality_takes_longer_with_the_batch_of_many_gpus)
{
    struct fulcrum_design design = gpu_design();
    designs_set(&design,
        "workload.network.parameter_count=1e6 "
        "workload.training.env_steps_per_train_step=3360 "
        "workload.training.train_step_s=0.01 workload.training.batch_size=64 "
        "workload.training.critical_batch_size=192 "
        "machine.link.network_byte_per_s=1e9 run.node_count=2");
    struct fulcrum_prediction p = predict_design(&design);
    CU_ASSERT_EQUAL(p.value[FULCRUM_OUTPUT_train_batch], 128.0);
    assert_close("all-reduce", p.value[FULCRUM_OUTPUT_allreduce_s], 4e6 / 1e9, 1e-12);
    assert_close("samples", p.value[FULCRUM_OUTPUT_sample_efficiency_frac],
        (192 + 64) / (192 + 128.0), 1e-12);
    assert_close("quality", p.value[FULCRUM_OUTPUT_quality_runtime_s],
        p.value[FULCRUM_OUTPUT_runtime_s] * 1.25, 1e-12);
    design.workload.training.critical_batch_size = (double)NAN;
    p = predict_design(&design);
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_quality_runtime_s]));
    CU_ASSERT(!isnan(p.value[FULCRUM_OUTPUT_runtime_s]));
}

/* (12)-(13) with utilisations given, not solved. */
TEST(test_watts_by_hand)
{
    struct fulcrum_design design = gpu_design();
    designs_set(
        &design, "run.gpu_count=2 run.sm_count=40 workload.network.sm_active_frac=0.1");
    struct fulcrum_replicas replicas;
    ASSERT_OK(fulcrum_design_to_network(&design, &replicas, NULL));
    const struct fulcrum_solution solution = {.cpu_core_busy_frac = 0.5,
        .cpu_thread_busy_frac = 0.375,
        .gpu_train_busy_frac = 0.3,
        .gpu_inference_busy_frac = 0.2};
    struct fulcrum_power power = fulcrum_power_of(&design, &replicas, &solution);
    assert_close("U", power.sm_active_frac, 0.32, 1e-12);
    assert_close("GPUs", power.gpu_w, 2 * (62 + 170 * 0.32 * 0.5), 1e-12);
    /* 5 of 10 cores of a replica busy with 7.5 threads: half of them run two. */
    double cpu_w = 12 + 1.2 * 20 + 4.2 * 10 * (1 + 0.15 * 0.5);
    assert_close("CPU", power.cpu_w, cpu_w, 1e-12);
    assert_close(
        "system", power.system_w, (cpu_w + power.gpu_w + 6 * 40 + 100) / 0.9, 1e-12);
}

TEST(test_a_machine_without_gpu_has_no_gpu_figures)
{
    struct fulcrum_design design = cpu_design();
    struct fulcrum_prediction p = predict_design(&design);
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_gpu_w]));
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_steps_per_j_gpu]));
    CU_ASSERT(isnan(p.value[FULCRUM_OUTPUT_cpu_gpu_ratio_machine]));
    CU_ASSERT_EQUAL(p.value[FULCRUM_OUTPUT_actor_threads_per_learner_core], 7.0);
    CU_ASSERT(p.value[FULCRUM_OUTPUT_system_w] > (12 + 1.2 * 8 + 100) / 0.9);
    CU_ASSERT(p.value[FULCRUM_OUTPUT_steps_per_s] > 0);
}

/* Batches of half the actors, and a step and a batch time known to 15 %. */
struct uncertain {
    struct fulcrum_design design;
    struct fulcrum_calibration *calibration;
    const struct fulcrum_calibration *calibrations[1];
    struct fulcrum_scenario_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_predictor *predictor;
};

static void open_uncertain(struct uncertain *u, const char *settings)
{
    u->design = gpu_design();
    designs_set(&u->design, settings);
    u->calibration =
        designs_calibration(&u->design, "workload.step.mean_s", 2e-3, 3e-4);
    designs_add_log(u->calibration, "workload.network.per_batch_s", 1.2e-3, 2e-4);
    u->calibrations[0] = u->calibration;
    u->inputs = (struct fulcrum_scenario_inputs){
        .base = &u->design, .calibrations = u->calibrations, .calibration_count = 1};
    ASSERT_OK(fulcrum_scenario_new(&u->inputs, &u->scenario, NULL));
    ASSERT_OK(fulcrum_predictor_new(u->scenario, &u->predictor, NULL));
}

static void close_uncertain(struct uncertain *u)
{
    fulcrum_predictor_free(u->predictor);
    fulcrum_scenario_free(u->scenario);
    fulcrum_calibration_free(u->calibration);
}

enum { UNCERTAIN_DRAWS = 60 };

/* Medians and ends beside those of draws that are simulated, each by itself. */
static void check_draws(const char *settings, double tolerance)
{
    struct uncertain u;
    struct fulcrum_prediction told;
    double rates[UNCERTAIN_DRAWS];
    const size_t rate = FULCRUM_OUTPUT_steps_per_s;
    const struct fulcrum_predict_options options = {
        .solver = {.seed = 3}, .draws = UNCERTAIN_DRAWS};
    const struct fulcrum_predict_options one = {
        .solver = {
            .method = FULCRUM_METHOD_SIMULATE, .seed = 5, .half_width_rel = 0.005}};
    open_uncertain(&u, settings);
    ASSERT_OK(fulcrum_predictor_run(u.predictor, &nominal, &options, &told, NULL));
    CU_ASSERT_EQUAL(told.method, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT_EQUAL(told.draws, (double)UNCERTAIN_DRAWS);
    for (size_t k = 0; k < UNCERTAIN_DRAWS; k++) {
        const struct fulcrum_point point = {NULL, 0, k + 1, 3};
        struct fulcrum_prediction alone;
        ASSERT_OK(fulcrum_predictor_run(u.predictor, &point, &one, &alone, NULL));
        rates[k] = alone.value[rate];
    }
    struct fulcrum_interval interval = fulcrum_interval_of(rates, UNCERTAIN_DRAWS);
    assert_close("5 %", told.lo[rate], interval.lo, tolerance);
    assert_close("median", told.value[rate], interval.median, tolerance);
    assert_close("95 %", told.hi[rate], interval.hi, tolerance);
    CU_ASSERT(told.hi[rate] / told.lo[rate] > 1.2);
    ASSERT_OK(fulcrum_predictor_run(u.predictor, &nominal, &one, &told, NULL));
    CU_ASSERT_EQUAL(told.value[rate], told.at_fit[rate]);
    close_uncertain(&u);
}

TEST(test_draws_by_equations_are_those_of_simulations)
{
    check_draws("workload.batching.policy=fixed workload.batching.population_frac=0.5 "
                "run.actor_count=60",
        0.02);
}

/* Slices of time: the equations tell of an error that no factor takes off. */
TEST(test_draws_that_the_equations_refuse_are_simulated)
{
    check_draws("workload.step.law=lognormal workload.step.cv=1.5 run.actor_count=60 "
                "machine.cpu.slice_s=1e-3 machine.cpu.thread_count=24 "
                "machine.cpu.core_count=24",
        0.05);
}

/* The centre of each point is a simulation with noise of its own; nothing else moves
 * the ends from one to the next. */
TEST(test_bands_do_not_jump)
{
    enum { POINTS = 24 };
    struct uncertain u;
    double ends[3][POINTS];
    const size_t rate = FULCRUM_OUTPUT_steps_per_s;
    const struct fulcrum_predict_options options = {
        .solver = {.seed = 3, .half_width_rel = 0.01}, .draws = 200};
    open_uncertain(
        &u, "workload.batching.policy=fixed workload.batching.population_frac=0.5");
    for (size_t i = 0; i < POINTS; i++) {
        const struct fulcrum_setting actors = {
            fulcrum_field_find("run.actor_count"), 40.0 + 4.0 * (double)i, NULL};
        const struct fulcrum_point point = {&actors, 1, 0, 0};
        struct fulcrum_prediction told;
        ASSERT_OK(fulcrum_predictor_run(u.predictor, &point, &options, &told, NULL));
        ends[0][i] = log(told.lo[rate]);
        ends[1][i] = log(told.value[rate]);
        ends[2][i] = log(told.hi[rate]);
        CU_ASSERT(ends[0][i] < ends[1][i] && ends[1][i] < ends[2][i]);
    }
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 1; i + 1 < POINTS; i++) {
            /* Three half-widths of 0.01, the middle one twice: sd 0.0125. */
            double bend = ends[k][i - 1] - 2.0 * ends[k][i] + ends[k][i + 1];
            CU_ASSERT(fabs(bend) < 0.04);
        }
    }
    close_uncertain(&u);
}

/* CPU-bound: X is inversely proportional to the step time, and so are its quantiles. */
TEST(test_intervals_follow_the_parameter_that_binds)
{
    struct fulcrum_design design = cpu_design();
    designs_set(&design,
        "workload.network.per_batch_s=1e-8 workload.network.per_item_s=1e-9 "
        "workload.step.mean_s=1e-3 run.actor_count=28");
    struct fulcrum_calibration *calibration =
        designs_calibration(&design, "workload.step.mean_s", 1e-3, 1e-4);
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_scenario_inputs inputs = {
        .base = &design, .calibrations = calibrations, .calibration_count = 1};
    struct fulcrum_predict_options options = {
        .solver = {.seed = 3, .method = FULCRUM_METHOD_FAST}, .draws = 2000};
    struct fulcrum_prediction p = predict(&inputs, &options);
    double value = p.value[FULCRUM_OUTPUT_steps_per_s];
    assert_close("X", value, 7000, 5e-3);
    CU_ASSERT_EQUAL(p.has_interval, 1);
    CU_ASSERT_EQUAL(p.draws, 2000.0);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        CU_ASSERT(isnan(p.lo[i]) || p.lo[i] <= p.hi[i]);
    }
    /* 1.645 sd of 0.1 in ln; quantiles of 2000 draws are within 4 % of that. */
    CU_ASSERT_DOUBLE_EQUAL(
        log(p.lo[FULCRUM_OUTPUT_steps_per_s] / value), -0.1645, 0.015);
    CU_ASSERT_DOUBLE_EQUAL(
        log(p.hi[FULCRUM_OUTPUT_steps_per_s] / value), 0.1645, 0.015);
    CU_ASSERT_EQUAL(p.bottleneck, FULCRUM_BOUND_CPU);
    CU_ASSERT_EQUAL(p.bottleneck_agree_frac, 1.0);
    fulcrum_calibration_free(calibration);
}

/* One point through a predictor that has seen others, and on its own. */
static void compare_alone(struct fulcrum_predictor *predictor,
    const struct fulcrum_scenario *scenario, double actors)
{
    const struct fulcrum_setting setting = {
        fulcrum_field_find("run.actor_count"), actors, NULL};
    const struct fulcrum_point point = {&setting, 1, 0, 0};
    const struct fulcrum_predict_options options = {.solver = {.seed = 1}};
    struct fulcrum_prediction alone = {.draws = 0};
    struct fulcrum_prediction among = {.draws = 0};
    enum fulcrum_status expected = actors > 0 ? FULCRUM_OK : FULCRUM_ERR_RANGE;
    CU_ASSERT_EQUAL(
        fulcrum_predict(scenario, &point, &options, &alone, NULL), expected);
    CU_ASSERT_EQUAL(
        fulcrum_predictor_run(predictor, &point, &options, &among, NULL), expected);
    CU_ASSERT_EQUAL(among.flags, alone.flags);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        CU_ASSERT(among.value[i] == alone.value[i] || isnan(alone.value[i]));
    }
    const struct fulcrum_design *design = NULL;
    CU_ASSERT_EQUAL(
        fulcrum_predictor_design(predictor, &point, &design, NULL), expected);
    CU_ASSERT(design == NULL || design->run.actor_count == actors);
}

TEST(test_a_predictor_keeps_nothing_of_the_point_before)
{
    static const double actors[] = {40, 10, -1, 200, 40};
    struct fulcrum_design design = gpu_design();
    struct fulcrum_scenario_inputs inputs = {.base = &design};
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_predictor *predictor = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    ASSERT_OK(fulcrum_predictor_new(scenario, &predictor, NULL));
    for (size_t i = 0; i < LENGTH(actors); i++) {
        compare_alone(predictor, scenario, actors[i]);
    }
    fulcrum_predictor_free(predictor);
    fulcrum_predictor_free(NULL);
    fulcrum_scenario_free(scenario);
}

TEST(test_outputs_have_names_and_units)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        CU_ASSERT_EQUAL(fulcrum_output_find(fulcrum_output_name(i)), i);
        CU_ASSERT(strlen(fulcrum_output_name(i)) > 3);
        CU_ASSERT_PTR_NOT_NULL(fulcrum_output_unit(i));
        CU_ASSERT(strlen(fulcrum_output_meaning(i)) > 5);
    }
    CU_ASSERT_PTR_NULL(fulcrum_output_name(FULCRUM_OUTPUT_COUNT));
    CU_ASSERT_EQUAL(fulcrum_output_find("steps"), FULCRUM_OUTPUT_COUNT);
    CU_ASSERT_EQUAL(fulcrum_output_names().count, FULCRUM_OUTPUT_COUNT);
    CU_ASSERT_PTR_NULL(fulcrum_output_unit(FULCRUM_OUTPUT_COUNT));
    CU_ASSERT_PTR_NULL(fulcrum_output_meaning(FULCRUM_OUTPUT_COUNT));
}
