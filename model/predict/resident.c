/* resident.c - workloads whose environments are simulated on the GPU: closed form. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process holds environments, network and training on one GPU. Every step of all
 * environments waits for their actions and every training step for its samples, so
 * times add up: there is nothing to queue for. CPU threads only launch kernels.
 */
#include "model/predict/partition.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "model/design/memory_system.h"
#include "model/try.h"

/* What one process does, in seconds; docs/model.md "Simulation on the GPU". */
struct resident_times {
    double env_count;    /* environments of the process */
    double simulation_s; /* a step of all of them */
    double inference_s;
    double host_s;
    double train_s;       /* a training step; 0 without training */
    double steps_between; /* steps of all environments between two training steps; 1
                             without training */
};

static struct resident_times times_of(
    const struct fulcrum_workload *workload, double env_count)
{
    const struct fulcrum_workload_simulation *simulation = &workload->simulation;
    const struct fulcrum_workload_training *training = &workload->training;
    bool trains = training->env_steps_per_train_step > 0.0;
    return (struct resident_times){
        .env_count = env_count,
        .simulation_s = simulation->per_batch_s + simulation->per_env_s * env_count,
        .inference_s =
            workload->network.per_batch_s + workload->network.per_item_s * env_count,
        .host_s = workload->host.per_batch_s + workload->host.per_item_s * env_count,
        .train_s = trains ? training->train_step_s : 0.0,
        .steps_between = trains ? training->env_steps_per_train_step / env_count : 1.0,
    };
}

/* Launch-bound share of a time of a part per batch and of another per item. */
static double launch_frac(double per_batch_s, double launch_bound_frac, double whole_s)
{
    return whole_s > 0.0 ? launch_bound_frac * per_batch_s / whole_s : 0.0;
}

/* SM activity of the stages over what the workload tells of a whole GPU. */
struct active_rel {
    double simulation;
    double inference;
    double training;
};

/* A part of the GPU shortens no launch: less of a stage's time there is without SMs. */
static struct active_rel active_rel_of(const struct fulcrum_design *design)
{
    const struct fulcrum_workload *told = &design->workload;
    struct fulcrum_workload part = *told;
    double env_count = told->simulation.env_count;
    fulcrum_shard_times(design, &part);
    struct resident_times whole = times_of(told, env_count);
    struct resident_times times =
        times_of(&part, env_count / design->run.instances_per_gpu);
    return (struct active_rel){
        .simulation = fulcrum_active_rel(
            launch_frac(part.simulation.per_batch_s, part.simulation.launch_bound_frac,
                times.simulation_s),
            launch_frac(told->simulation.per_batch_s,
                told->simulation.launch_bound_frac, whole.simulation_s)),
        .inference =
            fulcrum_active_rel(launch_frac(part.network.per_batch_s,
                                   part.network.launch_bound_frac, times.inference_s),
                launch_frac(told->network.per_batch_s, told->network.launch_bound_frac,
                    whole.inference_s)),
        .training = fulcrum_active_rel(
            part.training.launch_bound_frac, told->training.launch_bound_frac)};
}

/* As for actors: a part that is busy enough, else the steps' own waiting. */
static enum fulcrum_bottleneck bottleneck_of(const struct fulcrum_solution *solution)
{
    if (solution->gpu_busy_frac >= FULCRUM_BOTTLENECK_BUSY_FRAC) {
        return FULCRUM_BOUND_GPU;
    }
    return solution->host_busy_frac >= FULCRUM_BOTTLENECK_BUSY_FRAC
               ? FULCRUM_BOUND_HOST
               : FULCRUM_BOUND_LATENCY;
}

enum fulcrum_status fulcrum_resident_solve(const struct fulcrum_design *design,
    struct fulcrum_replicas *replicas, struct fulcrum_solution *solution,
    struct fulcrum_error *err)
{
    struct fulcrum_workload workload = design->workload;
    fulcrum_shard_times(design, &workload);
    struct resident_times times = times_of(
        &workload, workload.simulation.env_count / design->run.instances_per_gpu);
    TRY(fulcrum_gpu_memory_check(design, times.env_count, err));
    fulcrum_replicas_init(design, times.env_count, replicas);
    const struct active_rel active = active_rel_of(design);
    replicas->inference_active_frac = active.inference;
    replicas->simulation_active_frac = active.simulation;
    /* Samples of the others and their sum of gradients are part of a training step. */
    if (times.train_s > 0.0) {
        fulcrum_shard_training(design, &workload, replicas);
        times.train_s = replicas->network.training.train_step_s;
        times.steps_between = replicas->network.training.env_steps_per_train_step;
    }
    double step_s = times.simulation_s + times.inference_s + times.host_s +
                    times.train_s / times.steps_between;
    FAIL_IF(!(step_s > 0.0), err, FULCRUM_ERR_INFEASIBLE,
        "workload.simulation: a step of all environments takes no time");
    *solution = (struct fulcrum_solution){.method = FULCRUM_METHOD_FAST,
        .steps_per_s = 1.0 / step_s,
        .mean_batch = 1.0,
        .host_busy_frac = times.host_s / step_s,
        .gpu_busy_frac = 1.0 - times.host_s / step_s,
        .gpu_inference_busy_frac = times.inference_s / step_s,
        .gpu_train_busy_frac = times.train_s / times.steps_between / step_s,
        .gpu_simulation_busy_frac = times.simulation_s / step_s,
        .residence = {.host_s = times.host_s, .gpu_s = step_s - times.host_s}};
    solution->bottleneck = bottleneck_of(solution);
    return FULCRUM_OK;
}

/* Seconds of the GPU by what shortens them, added `often` times. */
static void add_gpu_s(const struct fulcrum_workload *workload, double time_s,
    double launch_bound_frac, struct fulcrum_gpu_time *out)
{
    const struct fulcrum_workload_network *network = &workload->network;
    double moves_s = (1.0 - launch_bound_frac) * time_s;
    out->host_s += launch_bound_frac * time_s;
    out->sm_s += moves_s * network->math_frac;
    out->dram_s += moves_s * network->dram_frac;
    out->latency_s += moves_s * (network->sm_frac + network->latency_frac);
}

static struct fulcrum_gpu_stage *next_stage(
    struct fulcrum_gpu_loop *loop, const char *name, double sm_active_frac)
{
    struct fulcrum_gpu_stage *stage = &loop->stages[loop->count++];
    *stage = (struct fulcrum_gpu_stage){.sm_active_frac = sm_active_frac};
    (void)snprintf(stage->name, sizeof stage->name, "%s", name);
    return stage;
}

/* 0 where it is not known. */
static double known(double value)
{
    return isnan(value) ? 0.0 : value;
}

static void add_simulation(const struct fulcrum_workload *workload, double steps,
    double env_count, struct fulcrum_gpu_loop *out)
{
    const struct fulcrum_workload_simulation *simulation = &workload->simulation;
    struct fulcrum_gpu_stage *stage =
        next_stage(out, "simulation", simulation->sm_active_frac);
    stage->alternates = 1;
    add_gpu_s(workload, simulation->per_batch_s * steps, simulation->launch_bound_frac,
        &stage->per_step);
    add_gpu_s(
        workload, simulation->per_env_s * env_count * steps, 0.0, &stage->per_round);
    stage->memory_byte = simulation->memory_byte;
    stage->env_memory_byte = simulation->env_byte * env_count;
    stage->hand_byte = known(workload->network.observation_byte) * env_count * steps;
}

static void add_inference(const struct fulcrum_workload *workload, double steps,
    double env_count, struct fulcrum_gpu_loop *out)
{
    const struct fulcrum_workload_network *network = &workload->network;
    struct fulcrum_gpu_stage *stage = next_stage(out, "agent", network->sm_active_frac);
    stage->alternates = 1;
    add_gpu_s(workload, network->per_batch_s * steps, network->launch_bound_frac,
        &stage->per_step);
    stage->per_step.host_s += workload->host.per_batch_s * steps;
    add_gpu_s(
        workload, network->per_item_s * env_count * steps, 0.0, &stage->per_round);
    stage->per_round.host_s += workload->host.per_item_s * env_count * steps;
    /* Host work keeps no SM active, and is counted here all the same. */
    double gpu_s = times_of(workload, env_count).inference_s;
    double host_s = times_of(workload, env_count).host_s;
    stage->sm_active_frac *= gpu_s / fmax(gpu_s + host_s, 1e-300);
    /* Observations go on to training; actions, back, are small beside them. */
    stage->hand_byte = known(network->observation_byte) * env_count * steps;
}

void fulcrum_resident_loop(
    const struct fulcrum_design *design, struct fulcrum_gpu_loop *out)
{
    struct fulcrum_design whole = *design;
    whole.run.instances_per_gpu = 1.0;
    const struct active_rel active = active_rel_of(&whole);
    fulcrum_shard_times(&whole, &whole.workload);
    whole.workload.simulation.sm_active_frac *= active.simulation;
    whole.workload.network.sm_active_frac *= active.inference;
    whole.workload.training.sm_active_frac *= active.training;
    double env_count = whole.workload.simulation.env_count;
    struct resident_times times = times_of(&whole.workload, env_count);
    *out = (struct fulcrum_gpu_loop){.steps = times.steps_between * env_count,
        .memory_byte = isnan(whole.machine.gpu.memory_byte)
                           ? (double)INFINITY
                           : whole.machine.gpu.memory_byte};
    add_simulation(&whole.workload, times.steps_between, env_count, out);
    add_inference(&whole.workload, times.steps_between, env_count, out);
    if (whole.workload.training.env_steps_per_train_step > 0.0) {
        static const double weight_byte = 4.0; /* single precision */
        const struct fulcrum_workload_training *training = &whole.workload.training;
        struct fulcrum_gpu_stage *stage =
            next_stage(out, "training", training->sm_active_frac);
        double weights = known(whole.workload.network.parameter_count);
        add_gpu_s(&whole.workload, training->train_step_s, training->launch_bound_frac,
            &stage->per_round);
        stage->memory_byte = weights * training->state_byte_per_parameter;
        stage->hand_byte = weights * weight_byte;
        stage->reduce_byte = weights * training->gradient_byte * training->update_count;
    }
}
