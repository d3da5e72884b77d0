/* power.c - watts of a machine that runs a design. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Utilisation of the GPU that a driver shows ("busy") is not what draws power: a kernel
 * on one SM is busy too. So watts follow the share of SMs that work, (12), which a
 * workload states for inference and for training. The CPU is counted by busy cores with
 * an extra for second threads, (13). Unused GPUs are idle, not absent, and what a wall
 * socket sees includes the loss of the supply.
 */
#include "model/predict/to_network.h"

#include <math.h>

#include "model/quantity.h"

double fulcrum_gpu_power(
    const struct fulcrum_gpu *gpu, double sm_active_frac, double used_frac)
{
    return gpu->idle_w + gpu->floor_w +
           gpu->dynamic_w * pow(sm_active_frac, gpu->power_exponent) * used_frac;
}

/* (12): SM-active share, not busy time, drives dynamic power. */
static double gpu_power(const struct fulcrum_design *design, double sm_active_frac)
{
    const struct fulcrum_gpu *gpu = &design->machine.gpu;
    return fulcrum_gpu_power(gpu, sm_active_frac, design->run.sm_count / gpu->sm_count);
}

/* Of the busy cores, the share that runs two stepping threads. */
static double smt_share(
    const struct fulcrum_replicas *replicas, const struct fulcrum_solution *solution)
{
    const struct fulcrum_cpu_station *cpu = &replicas->network.cpu;
    double cores = solution->cpu_core_busy_frac * cpu->core_count;
    double threads = solution->cpu_thread_busy_frac * fulcrum_cpu_servers(cpu);
    return cores > 0.0 ? fmin(1.0, fmax(0.0, (threads - cores) / cores)) : 0.0;
}

/* (13). */
static double cpu_power(const struct fulcrum_design *design,
    const struct fulcrum_replicas *replicas, const struct fulcrum_solution *solution)
{
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    /* Share of all cores that are busy: with stepping actors, or with the learner's
     * threads. */
    double learner_frac =
        replicas->reserved_threads / replicas->network.cpu.thread_count;
    if (design->machine.accelerator == FULCRUM_ACCELERATOR_CPU) {
        learner_frac *= solution->gpu_busy_frac;
    }
    double core_busy_frac = fmin(1.0, solution->cpu_core_busy_frac + learner_frac);
    double busy_cores = core_busy_frac * cpu->core_count;
    double smt = 1.0 + cpu->smt_power_frac * smt_share(replicas, solution);
    return cpu->idle_w + cpu->core_idle_w * cpu->core_count +
           cpu->core_dynamic_w * busy_cores * smt;
}

struct fulcrum_power fulcrum_power_of(const struct fulcrum_design *design,
    const struct fulcrum_replicas *replicas, const struct fulcrum_solution *solution)
{
    const struct fulcrum_machine *machine = &design->machine;
    struct fulcrum_power power = {.sm_active_frac = FULCRUM_UNKNOWN,
        .gpu_w = FULCRUM_UNKNOWN,
        .cpu_w = cpu_power(design, replicas, solution)};
    double gpus_w = 0.0;
    if (machine->accelerator == FULCRUM_ACCELERATOR_GPU) {
        if (replicas->learner_count > 0.0) {
            /* Some GPUs infer and the others train; SM activity is then the mean of all
             * used. */
            double learners = design->run.learner_gpu_count;
            double others = design->run.gpu_count - learners;
            double training = fmin(1.0, solution->gpu_train_busy_frac *
                                            design->workload.training.sm_active_frac *
                                            replicas->train_active_frac);
            double inferring = solution->gpu_inference_busy_frac *
                               design->workload.network.sm_active_frac;
            power.sm_active_frac =
                (learners * training + others * inferring) / design->run.gpu_count;
            power.gpu_w = learners * gpu_power(design, training) +
                          others * gpu_power(design, inferring);
        } else {
            /* Both kinds of work at the same GPUs, all alike. */
            power.sm_active_frac =
                fmin(1.0, solution->gpu_train_busy_frac *
                                  design->workload.training.sm_active_frac *
                                  replicas->train_active_frac +
                              solution->gpu_inference_busy_frac *
                                  design->workload.network.sm_active_frac *
                                  replicas->inference_active_frac +
                              solution->gpu_simulation_busy_frac *
                                  design->workload.simulation.sm_active_frac *
                                  replicas->simulation_active_frac);
            power.gpu_w =
                design->run.gpu_count * gpu_power(design, power.sm_active_frac);
        }
        gpus_w = power.gpu_w +
                 (machine->gpu.count - design->run.gpu_count) * machine->gpu.idle_w;
    }
    power.system_w =
        (power.cpu_w + gpus_w + machine->rest_w) / machine->psu_efficiency_frac;
    /* All machines are alike. */
    power.cpu_w *= replicas->node_count;
    power.gpu_w *= replicas->node_count;
    power.system_w *= replicas->node_count;
    return power;
}
