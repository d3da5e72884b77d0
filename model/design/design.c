/* design.c - is a design point complete and consistent. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/design/design.h"

#include <math.h>

#include "model/agent/agent.h"
#include "model/try.h"

const char *fulcrum_accelerator_name(int accelerator)
{
    static const char *const names[] = {"gpu", "cpu"};
    return accelerator >= 0 && accelerator < 2 ? names[accelerator] : NULL;
}

const char *fulcrum_simulation_device_name(int device)
{
    static const char *const names[] = {"cpu", "gpu"};
    return device >= 0 && device < 2 ? names[device] : NULL;
}

const char *fulcrum_workload_family_name(int family)
{
    static const char *const names[] = {"environments", "agents"};
    return family >= 0 && family < 2 ? names[family] : NULL;
}

bool fulcrum_design_has_agents(const struct fulcrum_design *design)
{
    return design->workload.family == FULCRUM_FAMILY_AGENTS;
}

const char *fulcrum_design_actor_noun(const struct fulcrum_design *design, double count)
{
    bool is_one = fabs(count - 1.0) < 1e-9;
    if (fulcrum_design_has_agents(design)) {
        return is_one ? "trajectory" : "trajectories";
    }
    if (fulcrum_design_is_resident(design)) {
        return is_one ? "process" : "processes";
    }
    return is_one ? "actor" : "actors";
}

bool fulcrum_design_trains(const struct fulcrum_design *design)
{
    const struct fulcrum_workload *workload = &design->workload;
    return fulcrum_design_has_agents(design)
               ? workload->agent.coupling != (int)FULCRUM_AGENT_ALONE
               : workload->training.env_steps_per_train_step > 0.0;
}

bool fulcrum_design_is_resident(const struct fulcrum_design *design)
{
    return design->workload.simulation.device == FULCRUM_SIMULATION_GPU;
}

/* When a prediction cannot do without a field. */
enum need {
    NEED_ALWAYS,
    NEED_GPU,
    NEED_NETWORK, /* that infers or decodes here */
    NEED_TRAINING,
    NEED_NODES, /* training on several machines */
    NEED_PARTS, /* training of a network that is split over GPUs */
    NEED_ACTORS,
    NEED_RESIDENT, /* simulation on the GPU */
    NEED_AGENTS,
    NEED_AGENT_TRAINING
};

struct needed_field {
    const char *path;
    size_t offset; /* in struct fulcrum_design: looked up once per point of a sweep */
    enum need when;
    const char *hint;
};

#define FIELD(member) #member, offsetof(struct fulcrum_design, member)

static const struct needed_field needed[] = {
    {FIELD(machine.cpu.core_count), NEED_ALWAYS, "the machine gives it"},
    {FIELD(machine.cpu.thread_count), NEED_ALWAYS, "the machine gives it"},
    {FIELD(machine.cpu.smt_yield_frac), NEED_ACTORS, "a calibration gives it"},
    {FIELD(machine.gpu.count), NEED_GPU, "the machine gives it"},
    {FIELD(machine.gpu.sm_count), NEED_GPU, "the machine gives it"},
    {FIELD(workload.step.mean_s), NEED_ACTORS, "a calibration gives it"},
    {FIELD(workload.step.cv), NEED_ACTORS, "a calibration gives it"},
    {FIELD(workload.simulation.env_count), NEED_RESIDENT, "the workload gives it"},
    {FIELD(workload.simulation.per_batch_s), NEED_RESIDENT, "a calibration gives it"},
    {FIELD(workload.simulation.per_env_s), NEED_RESIDENT, "a calibration gives it"},
    {FIELD(workload.network.per_batch_s), NEED_NETWORK, "a calibration gives it"},
    {FIELD(workload.network.per_item_s), NEED_NETWORK, "a calibration gives it"},
    {FIELD(workload.total_env_steps), NEED_ALWAYS, "the workload gives it"},
    {FIELD(workload.agent.turn_count), NEED_AGENTS, "the workload gives it"},
    {FIELD(workload.agent.output_tokens), NEED_AGENTS, "the workload gives it"},
    {FIELD(workload.training.batch_size), NEED_AGENT_TRAINING, "the workload gives it"},
    {FIELD(workload.training.train_step_s), NEED_TRAINING, "a calibration gives it"},
    {FIELD(workload.network.parameter_count), NEED_NODES, "the workload gives it"},
    {FIELD(machine.link.network_byte_per_s), NEED_NODES, "the machine gives it"},
    {FIELD(workload.training.model_parallel_frac), NEED_PARTS, "the workload gives it"},
    {FIELD(run.actor_count), NEED_ACTORS,
        "--actors, or in a CSV file the column 'actors', gives it"},
};

static bool decodes(const struct fulcrum_workload_agent *agent)
{
    return agent->output_tokens + agent->verify_tokens + agent->prompt_tokens > 0.0;
}

static bool has_gpu(const struct fulcrum_design *design)
{
    return design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
}

static bool is_needed(const struct fulcrum_design *design, enum need when)
{
    bool trains = fulcrum_design_trains(design);
    bool has_agents = fulcrum_design_has_agents(design);
    switch (when) {
    case NEED_GPU:
        return has_gpu(design);
    case NEED_NETWORK:
        return !has_agents || (decodes(&design->workload.agent) && has_gpu(design));
    case NEED_TRAINING:
        return trains;
    case NEED_NODES:
        return trains && !has_agents && design->run.node_count > 1.0;
    case NEED_PARTS:
        return trains && design->run.model_parallel_gpu_count > 1.0;
    case NEED_ACTORS:
        return !fulcrum_design_is_resident(design);
    case NEED_RESIDENT:
        return fulcrum_design_is_resident(design);
    case NEED_AGENTS:
        return has_agents;
    case NEED_AGENT_TRAINING:
        return has_agents && trains;
    case NEED_ALWAYS:
    default:
        return true;
    }
}

/* GPUs that only train need others that infer, and something to train. */
static void check_learners(
    const struct fulcrum_design *design, struct fulcrum_error *found)
{
    double learners = design->run.learner_gpu_count;
    if (!(learners > 0.0)) {
        return;
    }
    if (design->machine.accelerator == FULCRUM_ACCELERATOR_CPU) {
        (void)fulcrum_fail_more(found, FULCRUM_ERR_INFEASIBLE,
            "run.learner_gpu_count = %.6g: expected 0 where the learner runs on cores",
            learners);
        return;
    }
    FAULT_IF(learners >= design->run.gpu_count, found, FULCRUM_ERR_RANGE,
        "run.learner_gpu_count = %.6g: expected less than run.gpu_count = %.6g, as a "
        "GPU must be left to infer",
        learners, design->run.gpu_count);
    FAULT_IF(!fulcrum_design_trains(design), found, FULCRUM_ERR_INFEASIBLE,
        "run.learner_gpu_count = %.6g: expected 0 where nothing trains (%s)", learners,
        fulcrum_design_has_agents(design)
            ? "workload.agent.coupling = alone"
            : "workload.training.env_steps_per_train_step = 0");
    /* A copy of the network over several GPUs, or parts of them, is not put together
     * with learners apart. */
    bool is_whole = design->run.model_parallel_gpu_count <= 1.0 &&
                    design->run.instances_per_gpu <= 1.0 &&
                    !fulcrum_design_is_resident(design);
    FAULT_IF(!is_whole, found, FULCRUM_ERR_INFEASIBLE,
        "run.learner_gpu_count = %.6g: expected 0 with run.model_parallel_gpu_count or "
        "run.instances_per_gpu above 1, or workload.simulation.device = gpu",
        learners);
}

static void check_counts(
    const struct fulcrum_design *design, struct fulcrum_error *found)
{
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    FAULT_IF(cpu->thread_count < cpu->core_count, found, FULCRUM_ERR_RANGE,
        "machine.cpu.thread_count = %.6g: expected at least machine.cpu.core_count = "
        "%.6g",
        cpu->thread_count, cpu->core_count);
    const struct fulcrum_gpu *gpu = &design->machine.gpu;
    check_learners(design, found);
    if (design->machine.accelerator == FULCRUM_ACCELERATOR_CPU) {
        FAULT_IF(design->machine.learner_core_count >= cpu->core_count, found,
            FULCRUM_ERR_INFEASIBLE,
            "machine.learner_core_count = %.6g leaves no core of %.6g to actors",
            design->machine.learner_core_count, cpu->core_count);
        return;
    }
    FAULT_IF(design->run.gpu_count > gpu->count, found, FULCRUM_ERR_RANGE,
        "run.gpu_count = %.6g: expected at most machine.gpu.count = %.6g",
        design->run.gpu_count, gpu->count);
    FAULT_IF(fmod(design->run.gpu_count, design->run.model_parallel_gpu_count) > 0.0,
        found, FULCRUM_ERR_INFEASIBLE,
        "run.gpu_count = %.6g: expected a multiple of run.model_parallel_gpu_count = "
        "%.6g",
        design->run.gpu_count, design->run.model_parallel_gpu_count);
    FAULT_IF(design->run.sm_count > gpu->sm_count, found, FULCRUM_ERR_RANGE,
        "run.sm_count = %.6g: expected at most machine.gpu.sm_count = %.6g",
        design->run.sm_count, gpu->sm_count);
}

/* How parts of a GPU train with other machines, or loops on it in parts, is not
 * modelled. */
static void check_parts(
    const struct fulcrum_design *design, struct fulcrum_error *found)
{
    const struct fulcrum_run *run = &design->run;
    bool is_part = run->instances_per_gpu > 1.0;
    FAULT_IF(run->learner_gpu_count > 0.0, found, FULCRUM_ERR_INFEASIBLE,
        "run.learner_gpu_count = %.6g: expected 0 with %s", run->learner_gpu_count,
        is_part ? "run.instances_per_gpu above 1" : "workload.simulation.device = gpu");
    FAULT_IF((is_part && run->node_count > 1.0) || run->model_parallel_gpu_count > 1.0,
        found, FULCRUM_ERR_INFEASIBLE,
        "run.node_count = %.6g, run.model_parallel_gpu_count = %.6g: expected 1 with "
        "%s",
        run->node_count, run->model_parallel_gpu_count,
        is_part ? "run.instances_per_gpu above 1" : "workload.simulation.device = gpu");
}

/* What is trained on, or waited for. */
static void check_batches(
    const struct fulcrum_design *design, struct fulcrum_error *found)
{
    const struct fulcrum_workload_agent *agent = &design->workload.agent;
    const struct fulcrum_workload_training *training = &design->workload.training;
    FAULT_IF(fmod(training->batch_size, agent->group_size) > 0.0, found,
        FULCRUM_ERR_INFEASIBLE,
        "workload.training.batch_size = %.6g: expected a multiple of "
        "workload.agent.group_size = %.6g",
        training->batch_size, agent->group_size);
    FAULT_IF(!(training->train_step_s + agent->train_trajectory_s > 0.0), found,
        FULCRUM_ERR_RANGE,
        "workload.training.train_step_s and workload.agent.train_trajectory_s are 0: "
        "expected a training step to take time");
}

/* GPUs, machines and trajectories are whole; nothing of one process beside others. */
static void check_agents(
    const struct fulcrum_design *design, struct fulcrum_error *found)
{
    const struct fulcrum_workload *workload = &design->workload;
    const struct fulcrum_workload_agent *agent = &workload->agent;
    const struct fulcrum_run *run = &design->run;
    FAULT_IF(workload->simulation.device != FULCRUM_SIMULATION_CPU, found,
        FULCRUM_ERR_INFEASIBLE,
        "workload.simulation.device = gpu: expected cpu with workload.family = agents");
    if (!has_gpu(design)) { /* tokens come from elsewhere, and take host.delay_s */
        bool is_apart = agent->coupling == (int)FULCRUM_AGENT_ONE_OFF ||
                        agent->coupling == (int)FULCRUM_AGENT_STREAM;
        FAULT_IF(decodes(agent) || is_apart, found, FULCRUM_ERR_INFEASIBLE,
            "machine %s has no GPU: expected workload.agent.output_tokens, "
            "prompt_tokens and verify_tokens = 0 and coupling = alone or in-turns",
            design->machine.name);
        if (fulcrum_design_trains(design)) {
            check_batches(design, found);
        }
        return;
    }
    FAULT_IF(run->instances_per_gpu > 1.0 || run->model_parallel_gpu_count > 1.0 ||
                 run->envs_per_actor > 1.0,
        found, FULCRUM_ERR_INFEASIBLE,
        "run.instances_per_gpu = %.6g, run.model_parallel_gpu_count = %.6g, "
        "run.envs_per_actor = %.6g: expected 1 with workload.family = agents, where "
        "workload.agent.instance_gpu_count says what a model is split over",
        run->instances_per_gpu, run->model_parallel_gpu_count, run->envs_per_actor);
    double decoding = (run->gpu_count - run->learner_gpu_count) * run->node_count;
    FAULT_IF(decoding > 0.0 && decoding < agent->instance_gpu_count, found,
        FULCRUM_ERR_INFEASIBLE,
        "workload.agent.instance_gpu_count = %.6g: expected at most the %.6g GPUs that "
        "decode ((run.gpu_count - run.learner_gpu_count) x run.node_count)",
        agent->instance_gpu_count, decoding);
    if (!fulcrum_design_trains(design)) {
        return;
    }
    FAULT_IF(agent->coupling != (int)FULCRUM_AGENT_IN_TURNS &&
                 !(run->learner_gpu_count > 0.0),
        found, FULCRUM_ERR_INFEASIBLE,
        "run.learner_gpu_count = 0: expected at least 1 with workload.agent.coupling = "
        "%s, which trains while others decode",
        fulcrum_agent_coupling_name(agent->coupling));
    check_batches(design, found);
}

enum fulcrum_status fulcrum_design_check(
    const struct fulcrum_design *design, struct fulcrum_error *err)
{
    struct fulcrum_error found;
    fulcrum_error_clear(&found);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const char *member = (const char *)design + needed[i].offset;
        FAULT_IF(isnan(*(const double *)(const void *)member) &&
                     is_needed(design, needed[i].when),
            &found, FULCRUM_ERR_MISSING, "%s is not given: %s, or --set",
            needed[i].path, needed[i].hint);
    }
    check_counts(design, &found);
    const struct fulcrum_workload_network *network = &design->workload.network;
    double sum = network->math_frac + network->sm_frac + network->dram_frac +
                 network->latency_frac;
    FAULT_IF(!(fabs(sum - 1.0) <= 1e-6), &found, FULCRUM_ERR_RANGE,
        "workload.network: math_frac + sm_frac + dram_frac + latency_frac = %.6g: "
        "expected 1",
        sum);
    if (fulcrum_design_has_agents(design)) {
        check_agents(design, &found);
    } else if (fulcrum_design_is_resident(design)) {
        /* Simulated on the GPU, one process an instance takes the place of actors. */
        double processes = design->run.gpu_count * design->run.instances_per_gpu;
        FAULT_IF(design->machine.accelerator != FULCRUM_ACCELERATOR_GPU, &found,
            FULCRUM_ERR_INFEASIBLE,
            "workload.simulation.device = gpu: machine %s has no GPU",
            design->machine.name);
        FAULT_IF(!isnan(design->run.actor_count) &&
                     fabs(design->run.actor_count - processes) > 0.0,
            &found, FULCRUM_ERR_RANGE,
            "run.actor_count = %.6g: expected %.6g, one process for each instance of a "
            "GPU, or none: workload.simulation.env_count says how many environments",
            design->run.actor_count, processes);
        FAULT_IF(design->workload.simulation.env_count < design->run.instances_per_gpu,
            &found, FULCRUM_ERR_INFEASIBLE,
            "workload.simulation.env_count = %.6g: fewer than run.instances_per_gpu = "
            "%.6g",
            design->workload.simulation.env_count, design->run.instances_per_gpu);
    }
    if (fulcrum_design_is_resident(design) || design->run.instances_per_gpu > 1.0) {
        check_parts(design, &found);
    }
    if (found.status != FULCRUM_OK && err != NULL) {
        *err = found;
    }
    return found.status;
}

double fulcrum_design_doublings_unseen(const struct fulcrum_design *design)
{
    const struct fulcrum_run *run = &design->run;
    double each = run->actor_count * run->envs_per_actor /
                  design->machine.cpu.thread_count / run->seen_envs_per_thread;
    return each > 1.0 ? log2(each) : 0.0; /* of NAN, too */
}

double fulcrum_design_discrepancy(const struct fulcrum_design *design)
{
    /* Nothing is known of agents, and of loops whose environments live on the GPU. */
    if (fulcrum_design_has_agents(design) || fulcrum_design_is_resident(design)) {
        return 1.0;
    }
    double doublings = fulcrum_design_doublings_unseen(design);
    double beyond = doublings > 0.0 ? pow(design->run.extrapolation, doublings) : 1.0;
    return design->run.discrepancy * beyond;
}

void fulcrum_machine_fill_watts(struct fulcrum_machine *machine)
{
    /* Half of what idles is the packages': nothing published parts it. */
    static const double package_frac = 0.5;
    struct fulcrum_cpu *cpu = &machine->cpu;
    double tdp_w = cpu->core_tdp_w * cpu->core_count;
    bool has_smt = cpu->thread_count > cpu->core_count;
    if (isnan(cpu->idle_w) && isnan(cpu->core_idle_w) && isnan(cpu->core_dynamic_w)) {
        cpu->idle_w = package_frac * cpu->idle_tdp_frac * tdp_w;
        cpu->core_idle_w = (1.0 - package_frac) * cpu->idle_tdp_frac * cpu->core_tdp_w;
        cpu->core_dynamic_w = fmax(0.0, cpu->load_tdp_frac - cpu->idle_tdp_frac) *
                              cpu->core_tdp_w /
                              (has_smt ? 1.0 + cpu->smt_power_frac : 1.0);
        if (isnan(cpu->idle_w) || isnan(cpu->load_tdp_frac)) {
            cpu->core_dynamic_w = (double)NAN;
        }
    }
    machine->rest_w =
        isnan(machine->rest_w) ? machine->rest_tdp_frac * tdp_w : machine->rest_w;
}
