/* agents.c - designs of language-model agents, as networks of trajectories. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fields that mean the same for actors and agents are the same: a tool call is a step,
 * a token with B in flight a batch of B observations, a turn an agent step. Unlike
 * actors, trajectories go to whichever instance and machine has room, so that a run is
 * one network and not one for each GPU.
 */
#include <math.h>

#include "model/design/design.h"
#include "model/number.h"
#include "model/predict/to_network.h"
#include "model/try.h"

#define GIGA 1e9

/* Machines together have what one shard has, as often as there are shards. */
static enum fulcrum_status pool(const struct fulcrum_design *design,
    struct fulcrum_replicas *replicas, struct fulcrum_error *err)
{
    fulcrum_replicas_init(design, 1.0, replicas);
    struct fulcrum_cpu_station *cpu = &replicas->network.cpu;
    double shards = replicas->count;
    FAIL_IF(cpu->curve == FULCRUM_CURVE_TABLE && replicas->node_count > 1.0, err,
        FULCRUM_ERR_UNSUPPORTED,
        "run.node_count = %.6g: expected 1 with a measured machine.cpu.curve",
        replicas->node_count);
    if (design->machine.accelerator != FULCRUM_ACCELERATOR_GPU) {
        replicas->reserved_threads = cpu->reserved_threads = 0.0; /* nobody learns */
    }
    cpu->core_count *= shards;
    cpu->thread_count *= shards;
    cpu->reserved_threads *= shards;
    replicas->reserved_threads *= shards;
    replicas->count = 1.0;
    return FULCRUM_OK;
}

/* (A6): how many trajectories' keys and values an instance has room for. */
static enum fulcrum_status find_room(
    const struct fulcrum_design *design, double *most, struct fulcrum_error *err)
{
    const struct fulcrum_workload_agent *agent = &design->workload.agent;
    double memory_byte = design->machine.gpu.memory_byte * agent->instance_gpu_count;
    double weight_byte = agent->weight_byte * design->workload.network.parameter_count;
    double free_byte = agent->memory_frac * memory_byte - weight_byte;
    double each_byte = agent->token_byte * agent->context_tokens;
    *most = agent->most_items;
    if (isnan(free_byte)) { /* nothing is known of memory or weights */
        return FULCRUM_OK;
    }
    FAIL_IF(free_byte < each_byte || !(free_byte > 0.0), err, FULCRUM_ERR_INFEASIBLE,
        "machine.gpu.memory_byte = %.6g: workload.agent.instance_gpu_count = %.6g such "
        "GPUs hold %.3g GB of which memory_frac = %.3g is used: expected room for %.3g "
        "GB of weights and %.3g GB of one trajectory's keys and values",
        design->machine.gpu.memory_byte, agent->instance_gpu_count, memory_byte / GIGA,
        agent->memory_frac, weight_byte / GIGA, each_byte / GIGA);
    double room = each_byte > 0.0 ? floor(free_byte / each_byte) : 1e7;
    *most = fmin(*most > 0.0 ? *most : room, fmin(room, 1e7));
    return FULCRUM_OK;
}

/* (A6): sandboxes live in main memory, also while their trajectories decode. */
static enum fulcrum_status check_sandboxes(
    const struct fulcrum_design *design, struct fulcrum_error *err)
{
    double each_byte = design->workload.agent.sandbox_byte;
    double there_byte = design->machine.cpu.memory_byte * design->run.node_count;
    FAIL_IF(design->run.actor_count * each_byte > there_byte, err,
        FULCRUM_ERR_INFEASIBLE,
        "run.actor_count = %.6g: sandboxes of workload.agent.sandbox_byte = %.6g need "
        "%.4g GB of machine.cpu.memory_byte, there are %.4g GB: expected at most %.0f",
        design->run.actor_count, each_byte, design->run.actor_count * each_byte / GIGA,
        there_byte / GIGA, floor(there_byte / each_byte));
    return FULCRUM_OK;
}

/* (A7). */
static struct fulcrum_agent_trainer trainer_of(const struct fulcrum_design *design)
{
    const struct fulcrum_workload_agent *agent = &design->workload.agent;
    const struct fulcrum_workload_training *training = &design->workload.training;
    const struct fulcrum_run *run = &design->run;
    bool is_apart = run->learner_gpu_count > 0.0;
    double gpus = is_apart ? run->learner_gpu_count : run->gpu_count;
    double extra = is_apart ? 1.0 : 1.0 + agent->colocated_frac;
    if (!fulcrum_design_trains(design)) {
        return (struct fulcrum_agent_trainer){.coupling = FULCRUM_AGENT_ALONE};
    }
    return (struct fulcrum_agent_trainer){
        .coupling = (enum fulcrum_agent_coupling)agent->coupling,
        .batch_size = training->batch_size,
        .group_size = agent->group_size,
        .train_s = training->train_step_s +
                   extra * agent->train_trajectory_s * training->batch_size /
                       pow(gpus * run->node_count, agent->train_exponent),
        .switch_s = agent->switch_s,
        .staleness = agent->staleness};
}

static enum fulcrum_status lower(const struct fulcrum_design *design,
    struct fulcrum_replicas *replicas, struct fulcrum_agent_network *out,
    struct fulcrum_error *err)
{
    struct fulcrum_workload workload = design->workload;
    const struct fulcrum_workload_agent *agent = &workload.agent;
    const struct fulcrum_run *run = &design->run;
    double most_items = 0.0;
    TRY(pool(design, replicas, err));
    TRY(find_room(design, &most_items, err));
    TRY(check_sandboxes(design, err));
    fulcrum_shard_times(design, &workload);
    double decoding = (run->gpu_count - run->learner_gpu_count) * run->node_count;
    bool has_gpus = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    double instances = has_gpus ? floor(decoding / agent->instance_gpu_count) : 1.0;
    *out = (struct fulcrum_agent_network){.live_count = run->actor_count,
        .start_limit = agent->start_limit,
        .decode = {.instance_count = instances,
            .per_token_s = has_gpus ? workload.network.per_batch_s : 0.0,
            .per_item_s = has_gpus ? workload.network.per_item_s : 0.0,
            .item_exponent = agent->item_exponent,
            .per_context_s = agent->per_context_s,
            .per_prompt_s = agent->per_prompt_s,
            .most_items = most_items},
        .cpu = replicas->network.cpu,
        .trajectory = {.turn_count = agent->turn_count,
            .turn_cv = agent->turn_cv,
            .output_tokens = agent->output_tokens,
            .output_cv = agent->output_cv,
            .output_limit = agent->output_limit,
            .prompt_tokens = agent->prompt_tokens,
            .context_tokens = agent->context_tokens,
            .tool_s = workload.step.mean_s,
            .tool_cv = workload.step.cv,
            .delay_s = workload.host.delay_s,
            .start_s = agent->start_s,
            .verify_s = agent->verify_s,
            .verify_tokens = agent->verify_tokens},
        .trainer = trainer_of(design)};
    return fulcrum_agent_check(out, err);
}

enum fulcrum_status fulcrum_design_to_agents(const struct fulcrum_design *design,
    struct fulcrum_agent_network *out, struct fulcrum_error *err)
{
    struct fulcrum_replicas replicas;
    return lower(design, &replicas, out, err);
}

/*
 * What is used nearly to its most. An instance that decodes for one trajectory is busy
 * and yet has room: what counts is its rate beside that of as many as fit. Where twice
 * as many would go much faster, memory is what is short.
 */
static enum fulcrum_bottleneck bottleneck_of(
    const struct fulcrum_agent_network *network, bool is_apart,
    const struct fulcrum_agent_solution *agents)
{
    static const double endless = 1e7; /* trajectories */
    static const double much = 1.1;
    const struct fulcrum_agent_decode *decode = &network->decode;
    struct fulcrum_agent_rates rates = fulcrum_agent_rates_of(network);
    double most = fmin(rates.most, endless);
    bool decodes = fulcrum_agent_decode_s(&rates, 1.0) > 0.0;
    double limit =
        decodes ? fulcrum_agent_decode_per_s(&rates, most) : (double)INFINITY;
    double training = agents->train_busy_frac;
    double decoding = agents->trajectories_per_s / limit + (is_apart ? 0.0 : training);
    double busiest =
        fmax(fmax(agents->cpu_busy_frac, decoding), is_apart ? training : 0.0);
    if (busiest < FULCRUM_BOTTLENECK_BUSY_FRAC) {
        return FULCRUM_BOUND_LATENCY;
    }
    if (decoding < busiest) {
        return agents->cpu_busy_frac >= busiest ? FULCRUM_BOUND_CPU
                                                : FULCRUM_BOUND_LEARNER;
    }
    rates.most = 2.0 * most;
    bool has_gain = decode->most_items > 0.0 &&
                    fulcrum_agent_decode_per_s(&rates, 2.0 * most) > much * limit;
    return has_gain ? FULCRUM_BOUND_MEMORY : FULCRUM_BOUND_GPU;
}

enum fulcrum_status fulcrum_agents_solve(const struct fulcrum_design *design,
    const struct fulcrum_solver_options *options, struct fulcrum_replicas *replicas,
    struct fulcrum_agents_outcome *out, struct fulcrum_error *err)
{
    struct fulcrum_agent_network network;
    struct fulcrum_agent_solution *agents = &out->trajectories;
    TRY(lower(design, replicas, &network, err));
    TRY(fulcrum_agent_solve(&network, options, agents, err));
    const struct fulcrum_cpu_station *cpu = &network.cpu;
    const struct fulcrum_agent_load *load = &agents->load;
    double turns_per_s = agents->trajectories_per_s * network.trajectory.turn_count;
    double turn_s = 1.0 / turns_per_s;
    double inferring = agents->decode_busy_frac;
    double training = agents->train_busy_frac;
    double learners = replicas->learner_count;
    double gpus = design->run.gpu_count * replicas->node_count;
    bool has_interval = agents->method == FULCRUM_METHOD_SIMULATE;
    double busy_threads = agents->cpu_busy_frac * fulcrum_cpu_servers(cpu);
    replicas->inference_active_frac =
        pow(fmax(agents->mean_batch, 1.0), design->workload.agent.active_exponent);
    replicas->inference_active_frac = fmin(replicas->inference_active_frac,
        1.0 / fmax(design->workload.network.sm_active_frac, 1e-9));
    out->turns = (struct fulcrum_solution){.steps_per_s = turns_per_s,
        .steps_per_s_lo = turns_per_s * (1.0 - agents->error_rel),
        .steps_per_s_hi = turns_per_s * (1.0 + agents->error_rel),
        .mean_batch = agents->mean_batch,
        .cpu_thread_busy_frac = agents->cpu_busy_frac,
        .cpu_core_busy_frac = fmin(1.0, busy_threads / cpu->core_count),
        .gpu_busy_frac =
            learners > 0.0
                ? (inferring * (gpus - learners) + training * learners) / gpus
                : fmin(1.0, inferring + training),
        .gpu_inference_busy_frac = inferring,
        .gpu_train_busy_frac = training,
        .residence = {.cpu_s = load->at_tools * turn_s,
            .gpu_s = (load->decoding + load->ended) * turn_s,
            .delay_s = (load->starting + load->delayed) * turn_s},
        .error_rel = agents->error_rel,
        .method = agents->method,
        .bottleneck = bottleneck_of(&network, learners > 0.0, agents),
        .flags = agents->flags,
        .has_interval = has_interval};
    return FULCRUM_OK;
}
