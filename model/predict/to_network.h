/* to_network.h - a design as equal queueing networks, one for each GPU that infers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_TO_NETWORK_H
#define FULCRUM_MODEL_PREDICT_TO_NETWORK_H

#include "model/agent/agent.h"
#include "model/design/cluster.h"
#include "model/design/design.h"
#include "model/network/network.h"

/*
 * A design runs as `count` equal, separate networks: one per GPU that infers, or per
 * GPUs that one copy of the network is split over, or one per core of a CPU learner, on
 * every machine, each with its share of threads, of actors and of the GPUs that only
 * train (docs/model.md "Node"). What they wait for each other is in their training
 * steps ("Training on many devices").
 * A request of an actor carries the observations of its envs_per_actor environments, so
 * the network counts requests; multiply its rate by `steps_per_request` and `count`.
 */
struct fulcrum_replicas {
    struct fulcrum_network network;
    double count;
    double learner_count; /* GPUs that only train, of all machines; 0: each does both */
    double steps_per_request;
    double node_count;                    /* machines; `count` is over all of them */
    double reserved_threads;              /* of one replica, after the cap */
    struct fulcrum_cluster_step training; /* one training step of all replicas; zeros
                                             without training */
    double train_active_frac; /* of a replica's GPUs, while a training step runs: less
                                 than 1 where they wait for each other */
    double inference_active_frac;  /* of them, while inference runs */
    double simulation_active_frac; /* of them, while environments on the GPU step */
    double wake_s; /* of an actor's thread for each batch that the server waited for:
                      not in the network, see fulcrum_solve_pausing */
    double cold_s; /* of a batch after a long pause of the learner, likewise */
    double
        cold_step_s; /* of a request whose thread is idle all of the time, likewise */
    double cooling_s;
    unsigned flags;         /* of enum fulcrum_flag */
    double table_size[128]; /* t(b) in requests, where the design has a table */
    double table_time_s[128];
    double host_time_s[128]; /* likewise of the host's work */
    /* By runnable groups, where actors are fewer or share cores with the learner. */
    double capacity[512];
    struct fulcrum_cpu_station unshared; /* the CPU without the learner */
    double runnable_most;                /* actors that may step at once */
    bool shares_cores;                   /* with a learner that works while they step */
};

/* Most of a replica's threads that its learner may keep busy: an assumption,
 * docs/model.md "Node". */
#define FULCRUM_RESERVED_MOST_FRAC 0.4

/*
 * How many separate, equal parts the design runs as on one machine: GPUs used that do
 * not only train, times instances of each, or cores of a CPU learner.
 */
double fulcrum_shard_count(const struct fulcrum_design *design);

/* The threads of one of `replicas` parts, and how many of them its learner keeps busy.
 */
struct fulcrum_cpu_station fulcrum_shard_station(
    const struct fulcrum_design *design, double replicas, double *reserved_threads);

/*
 * What follows from the machine and the run alone: counts, threads, flags; one actor,
 * no times and no training yet.
 */
void fulcrum_replicas_init(const struct fulcrum_design *design,
    double steps_per_request, struct fulcrum_replicas *out);

/*
 * Training of one replica among all of them: sets training, train_active_frac, the
 * network's training and perhaps a flag, from steps_per_request.
 *   workload   with the times that it has on the replica's GPU (fulcrum_shard_times)
 */
void fulcrum_shard_training(const struct fulcrum_design *design,
    const struct fulcrum_workload *workload, struct fulcrum_replicas *out);

/*
 * SM activity of work over what it is told to be, where launches have another share of
 * its time than where that was told: they keep no SM active. 1 of nothing but launches.
 */
double fulcrum_active_rel(double launch_bound_frac, double launch_bound_frac_told);

/*
 * GPU times on the part of a GPU that one replica has: run.sm_count over
 * run.instances_per_gpu SMs and, of several instances, each its part of bandwidth and
 * cache. `workload` is the design's, or a copy; whole GPUs leave it as it is.
 */
void fulcrum_shard_times(
    const struct fulcrum_design *design, struct fulcrum_workload *workload);

/*
 * `out` must stay where it is while its network is used: the network borrows the table.
 *   design   one that fulcrum_design_check accepts
 *   fails    FULCRUM_ERR_INFEASIBLE, FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_design_to_network(
    const struct fulcrum_design *design, struct fulcrum_replicas *out,
    struct fulcrum_error *err);

/*
 * A step with a constant part more, such as an actor's hand-off. Laws whose cv is given
 * by themselves keep it: the part then varies as the step does.
 */
struct fulcrum_step fulcrum_step_lengthened(
    struct fulcrum_step step, double constant_s);

/*
 * Seconds that a transfer of `byte` over the link of `target` takes longer (or, below
 * 0, shorter) than over that of `reference`; 0 where a link or the size is not known.
 */
double fulcrum_node_transfer_s(double byte, const struct fulcrum_link *reference,
    const struct fulcrum_link *target);

/* Trajectories of agents; docs/model.md "Agents". */

/*
 * The agents of a design that fulcrum_design_check accepts: GPUs of all machines decode
 * or train together, threads of all machines run calls.
 *   fails    FULCRUM_ERR_INFEASIBLE (memory), FULCRUM_ERR_UNSUPPORTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_design_to_agents(
    const struct fulcrum_design *design, struct fulcrum_agent_network *out,
    struct fulcrum_error *err);

/* The same solution, told of trajectories and as that of actors whose steps are turns.
 */
struct fulcrum_agents_outcome {
    struct fulcrum_agent_solution trajectories;
    struct fulcrum_solution turns;
};

/*
 * Solves them.
 *   replicas as far as power needs them
 *   fails    as fulcrum_design_to_agents and fulcrum_agent_solve
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_agents_solve(
    const struct fulcrum_design *design, const struct fulcrum_solver_options *options,
    struct fulcrum_replicas *replicas, struct fulcrum_agents_outcome *out,
    struct fulcrum_error *err);

/* Solving replicas whose server pauses between batches, and pays for it. */

/*
 * What a batch takes longer after a pause of pause_s >= 0, of a learner that has gone
 * wholly cold after a long one and half so after cooling_s > 0.
 */
double fulcrum_cold_s(double cold_s, double cooling_s, double pause_s);

/*
 * As fulcrum_solve of the network of `replicas`, with what a server that paused costs:
 *   - the step has added what waking the server takes of an actor's thread,
 *     replicas->wake_s for each batch that the server waited for;
 *   - and replicas->cold_step_s times the idle share of the threads of actors;
 *   - a batch after a pause of t has added fulcrum_cold_s(cold_s, cooling_s, t);
 *   - equations add the mean of the network's server_wake_s to a batch.
 * How often and how long it pauses follows from the solution itself: a few rounds of
 * the fast method find it, then the method asked for solves; a simulation that batches
 * otherwise does so again. The network of `replicas` keeps the times found. Where
 * these are 0 this is fulcrum_solve.
 *   fails    as fulcrum_solve
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_solve_pausing(
    struct fulcrum_replicas *replicas, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err);

/* Watts of a machine that runs a design. */

/* Watts are those of all machines together. */
struct fulcrum_power {
    double sm_active_frac; /* U_eff of (12); NAN without a GPU */
    double gpu_w;          /* of the GPUs used, together; NAN without one */
    double cpu_w;
    double system_w; /* behind the plug, everything installed; NAN where a part is
                        unknown */
};

/* (12): watts of one GPU of which `used_frac` of the SMs are used, `sm_active_frac` of
 * them active. */
double fulcrum_gpu_power(
    const struct fulcrum_gpu *gpu, double sm_active_frac, double used_frac);

/* Docs/model.md "Power", (12)-(13). `replicas` and `solution` are the design's own. */
struct fulcrum_power fulcrum_power_of(const struct fulcrum_design *design,
    const struct fulcrum_replicas *replicas, const struct fulcrum_solution *solution);

#endif
