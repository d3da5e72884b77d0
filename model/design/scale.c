/* scale.c - times measured on one machine, carried over to another. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * GPU time has four parts that follow different things: arithmetic goes with SMs, clock
 * and operations per cycle; work limited by single SMs and latency stay; memory goes
 * with bandwidth, and with the cache by a power. Their shares on the reference GPU
 * belong to the workload. Scaling is a weighted sum, after which the shares are
 * restated, so that two scalings in a row equal one. docs/model.md "From one machine to
 * another" says how far that may be trusted: not far, which is why it has a spread.
 */
#include "model/design/scale.h"

#include <math.h>
#include <stdbool.h>

#include "model/design/memory_system.h"

/* a / b, or 1 where one of them is not known. */
static double ratio_or_one(double a, double b)
{
    return isnan(a) || isnan(b) ? 1.0 : a / b;
}

/* The same of what is relative itself: 1 where it was not filled in either. */
static double relative_or_one(double a, double b)
{
    return a > 0.0 && b > 0.0 ? a / b : 1.0;
}

static double canary_of(const struct fulcrum_cpu *cpu, enum fulcrum_cpu_work work)
{
    return work == FULCRUM_CPU_WORK_STEP    ? cpu->step_canary_s
           : work == FULCRUM_CPU_WORK_BATCH ? cpu->batch_canary_s
                                            : cpu->canary_s;
}

double fulcrum_cpu_speedup(const struct fulcrum_cpu *reference,
    const struct fulcrum_cpu *target, enum fulcrum_cpu_work work)
{
    /* The core itself, faster or slower than when it was calibrated; 1: not known. */
    bool is_own = canary_of(reference, work) > 0.0 && canary_of(target, work) > 0.0;
    work = is_own ? work : FULCRUM_CPU_WORK_ANY;
    double canary_speedup =
        relative_or_one(canary_of(reference, work), canary_of(target, work));
    return ratio_or_one(
               target->single_thread_speed_rel, reference->single_thread_speed_rel) *
           canary_speedup;
}

struct fulcrum_gpu_scale fulcrum_gpu_scale(
    const struct fulcrum_workload_network *network, const struct fulcrum_gpu *reference,
    const struct fulcrum_gpu *target)
{
    double sm = ratio_or_one(reference->sm_count, target->sm_count);
    double clock = ratio_or_one(reference->clock_hz, target->clock_hz);
    double rate = ratio_or_one(reference->flop_per_sm_cycle, target->flop_per_sm_cycle);
    double bandwidth =
        ratio_or_one(reference->dram_byte_per_s, target->dram_byte_per_s);
    struct fulcrum_cache_law law = fulcrum_cache_law_of(network);
    double traffic =
        fulcrum_dram_traffic_rel(&law, reference->llc_byte, target->llc_byte);
    return (struct fulcrum_gpu_scale){
        .math = network->math_frac * sm * clock * rate,
        .sm = network->sm_frac *
              relative_or_one(target->sm_loss_rel, reference->sm_loss_rel),
        .dram = network->dram_frac * bandwidth * traffic,
        .latency = network->latency_frac *
                   relative_or_one(target->latency_rel, reference->latency_rel),
        .launch = relative_or_one(target->launch_rel, reference->launch_rel),
        .compulsory_frac =
            fulcrum_dram_compulsory_frac(&law, reference->llc_byte, target->llc_byte),
    };
}

struct fulcrum_gpu_scale fulcrum_sm_scale(
    const struct fulcrum_workload_network *network, double sm_all, double sm_used)
{
    return (struct fulcrum_gpu_scale){
        .math = network->math_frac * sm_all / sm_used,
        .sm = network->sm_frac,
        .dram = network->dram_frac,
        .latency = network->latency_frac,
        .launch = 1.0,
        .compulsory_frac = network->compulsory_frac,
    };
}

void fulcrum_set_math_frac(struct fulcrum_workload_network *network, double math_frac)
{
    double rest = network->sm_frac + network->dram_frac + network->latency_frac;
    double share = rest > 0 ? (1 - math_frac) / rest : 0;
    network->math_frac = math_frac;
    network->sm_frac *= share;
    network->dram_frac *= share;
    network->latency_frac = 1 - math_frac - network->sm_frac - network->dram_frac;
}

double fulcrum_gpu_scale_sum(const struct fulcrum_gpu_scale *scale)
{
    return scale->math + scale->sm + scale->dram + scale->latency;
}

void fulcrum_scale_cpu_times(struct fulcrum_workload *workload,
    const struct fulcrum_cpu *reference, const struct fulcrum_cpu *target,
    double spread)
{
    double factor =
        spread / fulcrum_cpu_speedup(reference, target, FULCRUM_CPU_WORK_ANY);
    workload->step.mean_s *=
        spread / fulcrum_cpu_speedup(reference, target, FULCRUM_CPU_WORK_STEP);
    workload->host.per_batch_s *= factor;
    workload->host.per_item_s *= factor;
    workload->host.per_request_s *= factor;
    workload->host.actor_s *= factor;
    workload->host.cold_step_s *= factor;
    workload->host.wake_s *= factor;
    workload->host.server_wake_s *= factor;
    workload->host.poll_wake_s *= factor;
    workload->host.delay_s *= factor;
    workload->agent.verify_s *= factor;
    workload->agent.start_s *= factor;
}

/* Scales a time of which `launch_bound_frac` follows launches alone, and restates that
 * share. */
static void scale_partly(
    double *time_s, double *launch_bound_frac, const struct fulcrum_gpu_scale *scale)
{
    double kept = *launch_bound_frac * scale->launch;
    double whole = kept + (1.0 - *launch_bound_frac) * fulcrum_gpu_scale_sum(scale);
    *time_s *= whole;
    *launch_bound_frac = whole > 0.0 ? kept / whole : 0.0;
}

void fulcrum_scale_gpu_times(struct fulcrum_workload *workload,
    const struct fulcrum_gpu_scale *scale, double spread)
{
    double phi = fulcrum_gpu_scale_sum(scale);
    struct fulcrum_workload_network *network = &workload->network;
    struct fulcrum_workload_training *training = &workload->training;
    struct fulcrum_workload_simulation *simulation = &workload->simulation;
    scale_partly(&network->per_batch_s, &network->launch_bound_frac, scale);
    scale_partly(&training->train_step_s, &training->launch_bound_frac, scale);
    scale_partly(&simulation->per_batch_s, &simulation->launch_bound_frac, scale);
    struct fulcrum_workload_agent *agent = &workload->agent;
    double *const whole_s[] = {
        &agent->per_context_s, &agent->per_prompt_s, &agent->train_trajectory_s};
    for (size_t i = 0; i < sizeof whole_s / sizeof whole_s[0]; i++) {
        *whole_s[i] *= phi * spread;
    }
    simulation->per_env_s *= phi;
    network->per_item_s *= phi;
    network->cold_s *= phi;
    network->math_frac = scale->math / phi;
    network->sm_frac = scale->sm / phi;
    network->dram_frac = scale->dram / phi;
    network->latency_frac = scale->latency / phi;
    network->compulsory_frac = scale->compulsory_frac;
    network->per_batch_s *= spread;
    network->per_item_s *= spread;
    network->cold_s *= spread;
    training->train_step_s *= spread;
    simulation->per_batch_s *= spread;
    simulation->per_env_s *= spread;
}
