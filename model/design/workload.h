/* workload.h - what trains on a machine: step, host, network, batching, training. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_WORKLOAD_H
#define FULCRUM_MODEL_DESIGN_WORKLOAD_H

#include "model/design/machine.h"

enum fulcrum_simulation_device {
    FULCRUM_SIMULATION_CPU, /* actors step environments on the CPU's threads */
    FULCRUM_SIMULATION_GPU  /* one process steps all of its environments on the GPU */
};

enum fulcrum_workload_family {
    FULCRUM_FAMILY_ENVIRONMENTS, /* actors step environments, a policy network answers
                                  */
    FULCRUM_FAMILY_AGENTS        /* language models decode, call tools, are trained */
};

/* Columns as in machine.h. */
/* clang-format off */
#define FULCRUM_STEP_FIELDS(X) \
    X(workload.step, mean_s,            NUMBER, 0, 1e4,  NAN,  "s",     "one environment step on one otherwise idle thread") \
    X(workload.step, cv,                NUMBER, 0, 100,  NAN,  "",      "standard deviation of a step over its mean") \
    X(workload.step, law,               LAW, 0, 5,    0,    "",      "distribution of step times")

#define FULCRUM_SIMULATION_FIELDS(X) \
    X(workload.simulation, device,      DEVICE, 0, 1,    0,    "",      "cpu, or gpu where environments are simulated on the GPU") \
    X(workload.simulation, env_count,   COUNT,  1, 1e9,  NAN,  "",      "environments that one GPU simulates at once, all of its instances together") \
    X(workload.simulation, per_batch_s, NUMBER, 0, 1e4,  NAN,  "s",     "a step of all environments on the GPU, part that their number does not change") \
    X(workload.simulation, per_env_s,   NUMBER, 0, 1e4,  NAN,  "s",     "a step of all environments on the GPU, part per environment") \
    X(workload.simulation, launch_bound_frac, NUMBER, 0, 1, 0.7, "",    "share of simulation.per_batch_s that no GPU resource shortens") \
    X(workload.simulation, memory_byte, NUMBER, 0, 1e15, 0,    "byte",  "kept on the GPU by one simulator, whatever it simulates") \
    X(workload.simulation, env_byte,    NUMBER, 0, 1e15, 0,    "byte",  "kept on the GPU per environment") \
    X(workload.simulation, sm_active_frac, NUMBER, 0, 1, 0,    "",      "SM activity that drives power during simulation")

#define FULCRUM_HOST_FIELDS(X) \
    X(workload.host, per_batch_s,       NUMBER, 0, 1e4,  0,    "s",     "host work per inference batch") \
    X(workload.host, per_item_s,        NUMBER, 0, 1e4,  0,    "s",     "host work per observation") \
    X(workload.host, per_request_s,     NUMBER, 0, 1e4,  0,    "s",     "host work per request of an actor, whatever it carries") \
    X(workload.host, actor_s,           NUMBER, 0, 1e4,  0,    "s",     "an actor's own work per request: handing in and waking up") \
    X(workload.host, cold_step_s,       NUMBER, 0, 1e4,  0,    "s",     "what a step takes longer on an idle core: times the idle share of the actors' threads") \
    X(workload.host, wake_s,            NUMBER, 0, 1e4,  0,    "s",     "an actor's work to wake a server that waits, once a batch") \
    X(workload.host, server_wake_s,     NUMBER, 0, 1e4,  0,    "s",     "from the request that completes a batch until a sleeping server takes it") \
    X(workload.host, poll_s,            NUMBER, 0, 1e4,  0,    "s",     "a server that has waited for less than this still polls, and waking it costs nothing") \
    X(workload.host, poll_wake_s,       NUMBER, 0, 1e4,  0,    "s",     "server_wake_s of a server that still polls") \
    X(workload.host, delay_s,           NUMBER, 0, 1e4,  0,    "s",     "from the end of inference to the actor's next step") \
    X(workload.host, reserved_threads,  NUMBER, 0, 1e6,  0,    "",      "threads that each GPU's learner keeps busy") \
    X(workload.host, inference_threads, NUMBER, 0, 1e6,  1,    "",      "threads that a GPU without a learner keeps busy, at most reserved_threads")

#define FULCRUM_NETWORK_FIELDS(X) \
    X(workload.network, name,           WORD,   0, 0,    0,    "",      "r2d2, mlp, ...") \
    X(workload.network, parameter_count, NUMBER, 1, 1e15, NAN, "",      "trainable parameters") \
    X(workload.network, forward_flop,   NUMBER, 1, 1e18, NAN,  "",      "operations per observation, forward") \
    X(workload.network, observation_byte, NUMBER, 1, 1e12, NAN, "byte", "one observation") \
    X(workload.network, per_batch_s,    NUMBER, 0, 1e4,  NAN,  "s",     "inference, part per batch") \
    X(workload.network, per_item_s,     NUMBER, 0, 1e4,  NAN,  "s",     "inference, part per observation") \
    X(workload.network, cold_s,         NUMBER, 0, 1e4,  0,    "s",     "inference, more of a batch after a long pause of the learner") \
    X(workload.network, cooling_s,      NUMBER, 1e-9, 1e4, 0.01, "s",  "pause after which half of cold_s is due") \
    X(workload.network, launch_bound_frac, NUMBER, 0, 1, 0.7,  "",      "share of per_batch_s that no GPU resource shortens") \
    X(workload.network, math_frac,      NUMBER, 0, 1,    0.57, "",      "share of GPU time bound by math") \
    X(workload.network, sm_frac,        NUMBER, 0, 1,    0.15, "",      "share of GPU time lost to partly filled SMs") \
    X(workload.network, dram_frac,      NUMBER, 0, 1,    0.12, "",      "share of GPU time bound by memory bandwidth") \
    X(workload.network, latency_frac,   NUMBER, 0, 1,    0.16, "",      "the rest of GPU time") \
    X(workload.network, cache_exponent, NUMBER, 0, 2,    0.5,  "",      "memory traffic falls as cache to this power") \
    X(workload.network, compulsory_frac, NUMBER, 0, 1,  0,    "",      "share of memory traffic that no cache saves") \
    X(workload.network, working_set_byte, NUMBER, 1, 1e15, NAN, "byte", "data used again: a cache that holds them leaves compulsory traffic only") \
    X(workload.network, activation_byte, NUMBER, 0, 1e12, NAN, "byte",  "kept on the GPU of one observation until its gradients are known") \
    X(workload.network, sm_active_frac, NUMBER, 0, 1,    0,    "",      "SM activity that drives power during inference")

#define FULCRUM_BATCHING_FIELDS(X) \
    X(workload.batching, policy,        POLICY, 0, 1,    0,    "",      "greedy or fixed") \
    X(workload.batching, size,          NUMBER, 0, 1e9,  0,    "",      "observations in a batch: most (greedy) or exactly (fixed); 0: no limit") \
    X(workload.batching, population_frac, NUMBER, 0, 1,  0,    "",      "fixed batch as a share of all environments; 0: use size; greedy ignores it") \
    X(workload.batching, depth,         COUNT,  1, 1024, 1,    "",      "most batches in host and GPU together")

#define FULCRUM_TRAINING_FIELDS(X) \
    X(workload.training, env_steps_per_train_step, NUMBER, 0, 1e12, 0, "", "agent steps per training step; 0: no training") \
    X(workload.training, train_step_s,  NUMBER, 0, 1e6,  NAN,  "s",     "one training step alone on the GPU") \
    X(workload.training, train_step_flop, NUMBER, 0, 1e21, NAN, "",     "operations of one training step") \
    X(workload.training, queue_train_steps, NUMBER, 1, 1e6, 2, "",  "backlog of training steps that blocks new batches") \
    X(workload.training, sharing_frac,  NUMBER, 0.05, 2, 1,  "",      "work done while inference and training both run, over that of one alone") \
    X(workload.training, batch_size,    COUNT,  1, 1e9,  NAN,  "",      "sequences or samples in a training step") \
    X(workload.training, unroll_length, COUNT,  1, 1e6,  NAN,  "",      "trained steps of a sequence") \
    X(workload.training, burn_in_length, COUNT, 0, 1e6,  NAN,  "",      "steps before them that only warm the state up") \
    X(workload.training, launch_bound_frac, NUMBER, 0, 1, 0,   "",      "share of train_step_s that no GPU resource shortens") \
    X(workload.training, sm_active_frac, NUMBER, 0, 1,   1,    "",      "SM activity that drives power during training") \
    X(workload.training, state_byte_per_parameter, NUMBER, 0, 1e4, 16, "byte", "kept on the GPU per parameter: weights, gradients, what the optimiser and copies need") \
    X(workload.training, replay_byte,   NUMBER, 0, 1e15, 0,    "byte",  "replay that is kept in GPU memory") \
    X(workload.training, gradient_byte, NUMBER, 0, 64,   4,    "byte",  "a parameter's gradient, as it is sent to other GPUs") \
    X(workload.training, update_count,  COUNT,  1, 1e9,  1,    "",      "updates of the parameters in a training step: GPUs sum their gradients as often") \
    X(workload.training, overlap_frac,  NUMBER, 0, 1,    0,    "",      "share of train_step_s during which gradients already travel") \
    X(workload.training, critical_batch_size, NUMBER, 1e-3, 1e18, NAN, "", "batch of all GPUs at which twice the least samples are needed for a given quality") \
    X(workload.training, model_parallel_frac, NUMBER, 0, 1, NAN, "",    "share of train_step_s that the GPUs of one worker divide among them") \
    X(workload.training, allreduce,     ALLREDUCE, 0, 3, 0,    "",      "how GPUs sum their gradients")

#define FULCRUM_AGENT_FIELDS(X) \
    X(workload.agent, coupling,         COUPLING, 0, 3,  0,    "",      "alone: nothing trains; in-turns: all of a batch, then training, then the next; one-off: the next batch while the last one trains; stream: trained on as they end, at most staleness batches ahead") \
    X(workload.agent, turn_count,       NUMBER, 1, 1e6,  NAN,  "",      "turns of a trajectory, each an agent step: decoding, a tool call, a delay") \
    X(workload.agent, turn_cv,          NUMBER, 0, 10,   0,    "",      "standard deviation of the turns over their mean") \
    X(workload.agent, output_tokens,    NUMBER, 0, 1e8,  NAN,  "",      "decoded in a turn, were there no limit") \
    X(workload.agent, output_cv,        NUMBER, 0, 10,   0,    "",      "standard deviation of output_tokens over their mean") \
    X(workload.agent, output_limit,     NUMBER, 0, 1e8,  0,    "",      "most that are decoded in a turn, longer outputs are cut off; 0: no limit") \
    X(workload.agent, prompt_tokens,    NUMBER, 0, 1e8,  0,    "",      "new in a turn and not in the cache") \
    X(workload.agent, context_tokens,   NUMBER, 0, 1e8,  0,    "",      "of a trajectory's context, the mean while it decodes") \
    X(workload.agent, verify_s,         NUMBER, 0, 1e6,  0,    "s",     "work at the end of a trajectory, on one otherwise idle thread") \
    X(workload.agent, verify_tokens,    NUMBER, 0, 1e8,  0,    "",      "decoded at its end") \
    X(workload.agent, start_s,          NUMBER, 0, 1e6,  0,    "s",     "start of a sandbox, the mean with those that are taken again") \
    X(workload.agent, start_limit,      COUNT,  0, 1e7,  0,    "",      "sandboxes that start at once; 0: no limit") \
    X(workload.agent, sandbox_byte,     NUMBER, 0, 1e15, 0,    "byte",  "memory that a live trajectory's sandbox may need") \
    X(workload.agent, instance_gpu_count, COUNT, 1, 1e5, 1,    "",      "GPUs of one copy of the model that decodes: those of network.per_batch_s") \
    X(workload.agent, item_exponent,    NUMBER, 0.05, 1, 1,    "",      "a token takes network.per_batch_s + network.per_item_s B^item_exponent with B trajectories in flight") \
    X(workload.agent, per_context_s,    NUMBER, 0, 1e4,  0,    "s",     "more for each trajectory in flight and token of its context") \
    X(workload.agent, per_prompt_s,     NUMBER, 0, 1e4,  0,    "s",     "of an instance, for a prompt token that is not in its cache") \
    X(workload.agent, most_items,       COUNT,  0, 1e7,  0,    "",      "most in flight on one instance, others wait; 0: as many as its memory holds") \
    X(workload.agent, token_byte,       NUMBER, 0, 1e9,  0,    "byte",  "a token's keys and values, on all GPUs of an instance together") \
    X(workload.agent, weight_byte,      NUMBER, 0, 64,   2,    "byte",  "a parameter, where it decodes") \
    X(workload.agent, memory_frac,      NUMBER, 0.01, 1, 0.9,  "",      "share of GPU memory that weights and cache may have") \
    X(workload.agent, active_exponent,  NUMBER, 0, 2,    0,    "",      "SM activity of decoding is network.sm_active_frac B^active_exponent, at most 1") \
    X(workload.agent, group_size,       COUNT,  1, 1e5,  1,    "",      "trajectories of one prompt: trained on when all of them have ended") \
    X(workload.agent, staleness,        NUMBER, 0, 1e4,  0,    "",      "of a stream: training batches that may be begun beyond the one in training") \
    X(workload.agent, train_trajectory_s, NUMBER, 0, 1e6, 0,   "s",     "of a training step, each of its trajectories on one GPU, beside training.train_step_s") \
    X(workload.agent, train_exponent,   NUMBER, 0, 1,    1,    "",      "train_trajectory_s falls as the GPUs that train to this power") \
    X(workload.agent, colocated_frac,   NUMBER, 0, 100,  0,    "",      "of train_trajectory_s, more on GPUs that decode too: log-probabilities computed again, optimiser state moved in and out") \
    X(workload.agent, switch_s,         NUMBER, 0, 1e6,  0,    "s",     "new weights to the instances, or GPUs from training to decoding")

#define FULCRUM_WORKLOAD_FIELDS(X) \
    X(workload, calibration,            TEXT,   0, 0,    0,    "",      "calibration used unless another is named") \
    X(workload, family,                 FAMILY, 0, 1,    0,    "",      "environments: actors step environments; agents: trajectories of a language model, of which run.actor_count are live. Their tool calls are steps, their tokens batches of one observation each") \
    X(workload, total_env_steps,        NUMBER, 1, 1e18, NAN,  "",      "agent steps of the whole training") \
    X(workload, frame_skip,             COUNT,  1, 1000, 1,    "",      "frames per agent step") \
    X(workload, loop,                   LOOP, 0, 2,      0,    "",      "central: inference and training overlap with steps; alternating: rollouts and training take turns, as in PPO; local: each actor infers for itself, as in IMPALA and RLlib. No effect where simulation.device = gpu, which always alternates") \
    X(workload, rollout_length,         COUNT,  1, 1e9,  NAN,  "",      "steps of each environment between trainings of a loop that alternates; not given: between training steps") \
    X(workload, group_count,            COUNT,  1, 64,   1,    "",      "groups of an actor's environments that take turns: while one waits for its actions, the actor steps the next; 2: double buffering") \
    FULCRUM_STEP_FIELDS(X) \
    FULCRUM_SIMULATION_FIELDS(X) \
    FULCRUM_HOST_FIELDS(X) \
    FULCRUM_NETWORK_FIELDS(X) \
    FULCRUM_BATCHING_FIELDS(X) \
    FULCRUM_TRAINING_FIELDS(X) \
    FULCRUM_AGENT_FIELDS(X)

#define FULCRUM_RUN_FIELDS(X) \
    X(run, actor_count,                 COUNT,  1, 1e7,  NAN,  "",      "actors, or live trajectories of agents") \
    X(run, envs_per_actor,              COUNT,  1, 1e6,  1,    "",      "environments that one actor steps in turn") \
    X(run, gpu_count,                   COUNT,  1, 1e5,  1,    "",      "GPUs used") \
    X(run, learner_gpu_count,           COUNT,  0, 1e5,  0,    "",      "of these, GPUs that train and do nothing else; 0: each infers and trains") \
    X(run, sm_count,                    COUNT,  1, 1e4,  NAN,  "",      "SMs used of each GPU; all unless given") \
    X(run, node_count,                  COUNT,  1, 1e6,  1,    "",      "equal machines that train together, each with the actors and GPUs of this run") \
    X(run, model_parallel_gpu_count,    COUNT,  1, 1e4,  1,    "",      "GPUs of a machine that one copy of the network is split over") \
    X(run, batch_scaling,               BATCH_SCALING, 0, 1, 0, "",     "weak: each worker trains on the workload's batch; strong: they divide it") \
    X(run, instances_per_gpu,           COUNT,  1, 64,   1,    "",      "equal parts of each GPU used, a process on each: its share of SMs, bandwidth, cache, memory and threads") \
    X(run, drift,                       NUMBER, 0.01, 100, 1,  "",      "speed of the machine in the run over that while it was calibrated: multiplies the rate") \
    X(run, discrepancy,                 NUMBER, 0.01, 100, 1,  "",      "rate of a run over the rate that the model gives: its spread is what the model is off by") \
    X(run, seen_envs_per_thread,        NUMBER, 1e-6, 1e9, NAN, "",     "most environments per hardware thread that a fit to whole runs has seen; beyond, each doubling multiplies the rate by run.extrapolation") \
    X(run, extrapolation,               NUMBER, 0.01, 100, 1,  "",      "rate over what the model gives, for twice the environments that a fit has seen: its spread is what extrapolations are off by")
/* clang-format on */

struct fulcrum_workload_step {
    FULCRUM_STEP_FIELDS(FULCRUM_MEMBER)
};

/* Environments that live on the GPU; docs/model.md "Simulation on the GPU". */
struct fulcrum_workload_simulation {
    FULCRUM_SIMULATION_FIELDS(FULCRUM_MEMBER)
};

struct fulcrum_workload_host {
    FULCRUM_HOST_FIELDS(FULCRUM_MEMBER)
};

struct fulcrum_workload_network {
    FULCRUM_NETWORK_FIELDS(FULCRUM_MEMBER)
};

struct fulcrum_workload_batching {
    FULCRUM_BATCHING_FIELDS(FULCRUM_MEMBER)
};

struct fulcrum_workload_training {
    FULCRUM_TRAINING_FIELDS(FULCRUM_MEMBER)
};

/* Trajectories of agents; docs/model.md "Agents". Step, network, host.delay_s and
 * training hold for them too. */
struct fulcrum_workload_agent {
    FULCRUM_AGENT_FIELDS(FULCRUM_MEMBER)
};

/* Times are those of the calibration that gave them; NAN where none has. */
struct fulcrum_workload {
    char name[64];
    char title[160];
    char calibration[64]; /* the preset that gives the times unless another is named */
    int family;           /* enum fulcrum_workload_family */
    double total_env_steps;
    double frame_skip;
    int loop; /* enum fulcrum_loop */
    double rollout_length;
    double group_count;
    struct fulcrum_workload_step step;
    struct fulcrum_workload_simulation simulation;
    struct fulcrum_workload_host host;
    struct fulcrum_workload_network network;
    struct fulcrum_workload_batching batching;
    struct fulcrum_workload_training training;
    struct fulcrum_workload_agent agent;
};

/* What more workers do to the batch of a training step. */
enum fulcrum_batch_scaling {
    FULCRUM_BATCH_WEAK,  /* each keeps its own: the batch of all grows */
    FULCRUM_BATCH_STRONG /* they divide it */
};

/* The knobs of one run. */
struct fulcrum_run {
    FULCRUM_RUN_FIELDS(FULCRUM_MEMBER)
};

#endif
