/* test_resident.c - environments on the GPU: sums, limits, and a published profile. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/partition.h"

#include <math.h>
#include <string.h>

#include "model/predict/predict.h"
#include "model/predict/to_network.h"
#include "presets/load/reference_file.h"
#include "tests/support/designs.h"
#include "tests/support/place.h"
#include "tests/support/suite.h"

/* A round of 4 steps of 1000 environments: 4 x (2 + 1 + 3 + 1 + 1) ms and 8 ms. */
static struct fulcrum_design made(void)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    designs_set(&design,
        "machine.cpu.core_count=16 machine.cpu.thread_count=32 machine.gpu.count=4 "
        "machine.gpu.sm_count=100 machine.gpu.dram_byte_per_s=1e12 "
        "machine.gpu.llc_byte=40e6 machine.gpu.memory_byte=40e9 run.sm_count=100 "
        "workload.total_env_steps=1e6 workload.simulation.device=gpu "
        "workload.simulation.env_count=1000 workload.simulation.per_batch_s=2e-3 "
        "workload.simulation.per_env_s=1e-6 workload.simulation.launch_bound_frac=0.5 "
        "workload.simulation.memory_byte=3e9 workload.simulation.env_byte=1e6 "
        "workload.network.per_batch_s=3e-3 workload.network.per_item_s=1e-6 "
        "workload.network.parameter_count=1e5 workload.network.observation_byte=100 "
        "workload.host.per_batch_s=1e-3 workload.host.reserved_threads=2 "
        "workload.training.env_steps_per_train_step=4000 "
        "workload.training.train_step_s=8e-3");
    return design;
}

struct outcome {
    struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
};

static struct outcome outcome_of(const struct fulcrum_design *design)
{
    struct outcome out = {.replicas = {.count = 0.0}};
    ASSERT_OK(fulcrum_resident_solve(design, &out.replicas, &out.solution, NULL));
    return out;
}

static double rate_of(const struct fulcrum_design *design)
{
    struct outcome out = outcome_of(design);
    return out.solution.steps_per_s * out.replicas.count *
           out.replicas.steps_per_request;
}

/* The SMs' activity, of which the watts follow. */
static double active_of(const struct fulcrum_design *design)
{
    struct outcome out = outcome_of(design);
    return fulcrum_power_of(design, &out.replicas, &out.solution).sm_active_frac;
}

TEST(test_times_add_up)
{
    struct fulcrum_design design = made();
    ASSERT_OK(fulcrum_design_check(&design, NULL));
    struct outcome out = outcome_of(&design);
    assert_close("round", rate_of(&design), 4000 / 40e-3, 1e-12);
    assert_close("simulation", out.solution.gpu_simulation_busy_frac, 0.3, 1e-12);
    assert_close("inference", out.solution.gpu_inference_busy_frac, 0.4, 1e-12);
    assert_close("training", out.solution.gpu_train_busy_frac, 0.2, 1e-12);
    assert_close("host", out.solution.host_busy_frac, 0.1, 1e-12);
    CU_ASSERT_EQUAL(out.solution.bottleneck, FULCRUM_BOUND_GPU);
    CU_ASSERT_EQUAL(out.replicas.reserved_threads, 2);
    design.workload.training.env_steps_per_train_step = 0;
    assert_close("no training", rate_of(&design), 1000 / 8e-3, 1e-12);
}

/* GPUs do not know of each other; a GPU in parts shares what it has. */
TEST(test_gpus_add_and_instances_divide)
{
    struct fulcrum_design design = made();
    double one = rate_of(&design);
    design.run.gpu_count = 4;
    assert_close("four", rate_of(&design), 4 * one, 1e-12);
    design.run.gpu_count = 1;
    /* Nothing follows SMs or bandwidth: 4 processes with a quarter of the environments
     * each; training is by samples, which each has as many of between two. */
    designs_set(&design, "workload.network.math_frac=0 workload.network.dram_frac=0 "
                         "workload.network.latency_frac=0.85 run.instances_per_gpu=4");
    double steps = 16 * (2e-3 + 0.25e-3 + 3e-3 + 0.25e-3 + 1e-3);
    assert_close("quarter", rate_of(&design), 4 * 4000 / (steps + 8e-3), 1e-12);
    /* All of it is arithmetic: each time but launches and host is 4 times as long. */
    designs_set(&design,
        "workload.network.math_frac=1 workload.network.sm_frac=0 "
        "workload.network.latency_frac=0 workload.simulation.launch_bound_frac=0 "
        "workload.network.launch_bound_frac=0");
    steps = 16 * (8e-3 + 1e-3 + 12e-3 + 1e-3 + 1e-3);
    assert_close("math", rate_of(&design), 4 * 4000 / (steps + 32e-3), 1e-12);
}

/* Processes train on what each of them collects: the batch of all is theirs together,
 * unless they divide it. */
TEST(test_instances_are_workers)
{
    struct fulcrum_design design = made();
    design.workload.training.batch_size = 4000;
    design.workload.training.critical_batch_size = 4000;
    design.run.gpu_count = 2;
    design.run.instances_per_gpu = 4;
    struct outcome out = outcome_of(&design);
    CU_ASSERT_EQUAL(out.replicas.training.global_batch_size, 32000.0);
    assert_close("epochs", out.replicas.training.epochs_rel, 4.5, 1e-12);
    design.run.batch_scaling = FULCRUM_BATCH_STRONG;
    out = outcome_of(&design);
    CU_ASSERT_EQUAL(out.replicas.training.global_batch_size, 4000.0);
    CU_ASSERT_EQUAL(out.replicas.training.epochs_rel, 1.0);
    assert_close("its part of a round",
        out.replicas.network.training.env_steps_per_train_step, 4000 / 250.0 / 8,
        1e-12);
}

/* Seconds of a GPU whose SMs training keeps active, over all GPUs, for one step. */
static double trained_s_per_step(struct fulcrum_design *design, double gpus)
{
    design->run.gpu_count = gpus;
    struct outcome out = outcome_of(design);
    struct fulcrum_power power = fulcrum_power_of(design, &out.replicas, &out.solution);
    return power.sm_active_frac * gpus /
           (out.solution.steps_per_s * out.replicas.count *
               out.replicas.steps_per_request);
}

/* GPUs that divide a batch do the work of one; launches keep no SM active, however
 * often each of them makes them, and on however few SMs. */
TEST(test_a_batch_divided_is_the_same_work)
{
    static const double launches[] = {0, 0.4, 1};
    static const double sms[] = {100, 40};
    for (int i = 0; i < 6; i++) {
        struct fulcrum_design design = made();
        design.workload.training.launch_bound_frac = launches[i % 3];
        design.run.sm_count = sms[i / 3];
        design.run.batch_scaling = FULCRUM_BATCH_STRONG;
        double one = trained_s_per_step(&design, 1);
        assert_close("four", trained_s_per_step(&design, 4), one, 1e-12);
    }
}

/* On fewer SMs launches last as long as ever: the same time of a divided step. */
TEST(test_launches_are_a_lesser_share_on_fewer_sms)
{
    struct fulcrum_design design = made();
    designs_set(&design,
        "workload.training.launch_bound_frac=0.4 run.batch_scaling=strong "
        "run.gpu_count=4 run.sm_count=40");
    struct outcome out = outcome_of(&design);
    double stretch = 0.57 * 100 / 40 + 0.43; /* phi of (6) */
    assert_close("step", out.replicas.training.compute_s,
        8e-3 * (0.4 + 0.6 * stretch / 4), 1e-12);
}

/* All three stages in `n` equal instances that share at no cost. */
static struct fulcrum_placed placed_equally(const struct fulcrum_design *design, int n)
{
    struct fulcrum_gpu_loop loop;
    struct fulcrum_placed placed = {0};
    const struct fulcrum_gpu_sharing free_of_cost = {.byte_per_s = (double)INFINITY};
    const struct fulcrum_grouping grouping = {1, {{7, n, 0}}};
    fulcrum_resident_loop(design, &loop);
    CU_ASSERT_EQUAL_FATAL(loop.count, 3);
    ASSERT_OK(fulcrum_place_shares(&loop, &free_of_cost, &grouping, &placed, NULL));
    return placed;
}

/* The two ways to ask for equal instances give the same. */
TEST(test_predicted_instances_are_placed_ones)
{
    for (int n = 1; n <= 6; n++) {
        struct fulcrum_design design = made();
        design.workload.network.math_frac = 0.69;
        design.workload.network.dram_frac = 0;
        struct fulcrum_placed placed = placed_equally(&design, n);
        design.run.instances_per_gpu = n;
        assert_close("rate", placed.steps_per_s, rate_of(&design), 1e-9);
    }
}

TEST(test_watts_of_a_whole_gpu_are_those_of_its_placement)
{
    struct fulcrum_design design = made();
    struct fulcrum_gpu_loop loop;
    struct fulcrum_placed placed;
    design.workload.simulation.sm_active_frac = 0.5;
    design.workload.network.sm_active_frac = 0.25;
    design.workload.training.sm_active_frac = 0.75;
    fulcrum_resident_loop(&design, &loop);
    fulcrum_place_exclusive(&loop, &placed);
    assert_close(
        "active", active_of(&design), 0.3 * 0.5 + 0.4 * 0.25 + 0.2 * 0.75, 1e-12);
    assert_close(
        "placed", placed.sm_active_frac, 0.3 * 0.5 + 0.4 * 0.25 + 0.2 * 0.75, 1e-12);
}

/* Launches keep no SM active, so a part of the GPU is busier than the whole: the same
 * watts from both ways to ask for equal instances, and for a part of the SMs. */
TEST(test_watts_of_instances_are_those_of_their_placement)
{
    for (int n = 1; n <= 6; n++) {
        struct fulcrum_design design = made();
        designs_set(&design,
            "workload.network.math_frac=0.69 workload.network.dram_frac=0 "
            "workload.network.launch_bound_frac=0.8 "
            "workload.training.launch_bound_frac=0.4 "
            "workload.simulation.sm_active_frac=0.3 "
            "workload.network.sm_active_frac=0.1 workload.training.sm_active_frac=0.5");
        design.run.sm_count = n == 6 ? 50 : 100;
        struct fulcrum_placed placed = placed_equally(&design, n);
        design.run.instances_per_gpu = n;
        assert_close("active", placed.sm_active_frac, active_of(&design), 1e-9);
    }
}

/* Arithmetic that follows the SMs keeps as many SM-seconds active on a half of them:
 * 1 ms of 4 becomes 2 ms of 5, and while it lasts as many of the SMs there are. */
TEST(test_activity_on_a_part_is_of_what_holds_it)
{
    struct fulcrum_design design = made();
    designs_set(&design,
        "workload.network.math_frac=1 workload.network.sm_frac=0 "
        "workload.network.dram_frac=0 workload.network.latency_frac=0 "
        "workload.simulation.per_batch_s=4e-3 workload.simulation.per_env_s=0 "
        "workload.simulation.launch_bound_frac=0.75");
    design.workload.simulation.sm_active_frac = 0.2; /* 0.8 of the last quarter */
    designs_set(&design,
        "workload.network.per_batch_s=0 workload.network.per_item_s=0 "
        "workload.host.per_batch_s=0 workload.training.env_steps_per_train_step=0 "
        "run.sm_count=50");
    assert_close("active", active_of(&design), 0.8 * 2 / 5, 1e-12);
}

/* What is told of a stage of nothing but launches has no other time to be of. */
TEST(test_launches_alone_keep_what_they_are_told)
{
    struct fulcrum_design design = made();
    struct fulcrum_gpu_loop loop;
    struct fulcrum_placed placed;
    design.workload.training.launch_bound_frac = 1;
    design.workload.training.sm_active_frac = 0.5;
    fulcrum_resident_loop(&design, &loop);
    fulcrum_place_exclusive(&loop, &placed);
    assert_close("placed", placed.sm_active_frac, 0.2 * 0.5, 1e-12);
    assert_close("predicted", active_of(&design), 0.2 * 0.5, 1e-12);
}

TEST(test_instances_say_what_they_leave_out)
{
    struct fulcrum_design design = made();
    struct outcome out = outcome_of(&design);
    CU_ASSERT_EQUAL(out.replicas.flags & FULCRUM_FLAG_INSTANCES, 0U);
    design.run.instances_per_gpu = 2;
    out = outcome_of(&design);
    CU_ASSERT_NOT_EQUAL(out.replicas.flags & FULCRUM_FLAG_INSTANCES, 0U);
}

TEST(test_memory_counts_environments)
{
    struct fulcrum_design design = made();
    static struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
    design.workload.simulation.env_count = 36000;
    ASSERT_OK(fulcrum_resident_solve(&design, &replicas, &solution, NULL));
    design.workload.simulation.env_count = 38000;
    ASSERT_FAILS(fulcrum_resident_solve(&design, &replicas, &solution, &err),
        FULCRUM_ERR_INFEASIBLE, "41 for simulation");
    designs_set(&design, "workload.simulation.env_count=30000 run.instances_per_gpu=4");
    ASSERT_FAILS(fulcrum_resident_solve(&design, &replicas, &solution, &err),
        FULCRUM_ERR_INFEASIBLE, "/ run.instances_per_gpu = 1e+10: expected at least");
}

TEST(test_what_cannot_run_is_named)
{
    static const struct {
        const char *settings;
        enum fulcrum_status status;
        const char *part;
    } rows[] = {
        {"run.actor_count=3", FULCRUM_ERR_RANGE, "run.actor_count = 3: expected 1"},
        {"machine.accelerator=cpu", FULCRUM_ERR_INFEASIBLE, ""},
        {"run.learner_gpu_count=1 run.gpu_count=2", FULCRUM_ERR_INFEASIBLE,
            "run.learner_gpu_count = 1: expected 0"},
        {"run.model_parallel_gpu_count=2 run.gpu_count=2", FULCRUM_ERR_MISSING,
            "run.model_parallel_gpu_count = 2: expected 1 with"},
        {"workload.simulation.env_count=3 run.instances_per_gpu=4",
            FULCRUM_ERR_INFEASIBLE, ""},
    };
    struct fulcrum_design design = made();
    for (size_t i = 0; i < LENGTH(rows); i++) {
        designs_assert_refused(&design, rows[i].settings, rows[i].status, rows[i].part);
    }
    designs_set(&design,
        "workload.simulation.per_batch_s=0 workload.simulation.per_env_s=0 "
        "workload.network.per_batch_s=0 workload.network.per_item_s=0 "
        "workload.host.per_batch_s=0 workload.training.train_step_s=0");
    static struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
    CU_ASSERT_EQUAL(fulcrum_resident_solve(&design, &replicas, &solution, NULL),
        FULCRUM_ERR_INFEASIBLE);
    design.workload.simulation.env_count = (double)NAN;
    designs_assert_refused(
        &design, "", FULCRUM_ERR_MISSING, "workload.simulation.env_count is not given");
}

static double observed(const struct fulcrum_reference_point *point, const char *name)
{
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, name) == 0) {
            return point->observations[i].value;
        }
    }
    return (double)NAN;
}

/* The preset's times are medians of the logged stages, and of what is left over: that
 * their sum gives the logged rate checks the counts (steps a rollout, rollouts), which
 * the log does not state. It does not judge the model. */
TEST(test_the_profile_that_the_preset_is_made_of_is_met)
{
    const char *sets[] = {NULL};
    struct place place;
    struct fulcrum_reference *reference = NULL;
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    const struct fulcrum_predict_options options = {.draws = 0};
    struct fulcrum_prediction prediction;
    place_open(&place, "dgx-a100", "isaac-ant", "isaac-ant-prior", sets);
    ASSERT_OK(fulcrum_reference_load("sf-profile-isaacgym-ant", &reference, NULL));
    ASSERT_OK(fulcrum_predict(place.scenario, &point, &options, &prediction, NULL));
    for (size_t i = 0; i < reference->point_count; i++) {
        double logged = observed(&reference->points[i], "steps_per_s");
        assert_close("rate", prediction.value[FULCRUM_OUTPUT_steps_per_s], logged,
            i == 3 ? 0.12 : 0.07); /* version V32 is told to be serial */
        double stages_s = observed(&reference->points[i], "simulation_s") +
                          observed(&reference->points[i], "inference_s") +
                          observed(&reference->points[i], "training_s");
        CU_ASSERT(stages_s < observed(&reference->points[i], "runtime_s"));
    }
    CU_ASSERT_EQUAL(prediction.actor_count, 1);
    fulcrum_reference_free(reference);
    place_close(&place);
}
