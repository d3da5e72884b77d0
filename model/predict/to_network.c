/* to_network.c - a design as equal queueing networks, one for each GPU that infers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From what users describe (a machine, a workload, a run) to what solvers solve
 * (stations, laws and times). A run on several GPUs becomes equal replicas that do not
 * know of each other, one for each GPU that infers, each with its part of
 * threads and actors: true for data-parallel learners but for the all-reduce, which
 * makes their training steps longer. Batch sizes count observations here and requests
 * in the network, so they are divided by the environments of an actor, and times of an
 * item multiplied.
 */

#include "model/predict/to_network.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/design/memory_system.h"
#include "model/design/scale.h"
#include "model/number.h"
#include "model/predict/solver.h"
#include "model/try.h"

/*
 * Several GPUs beside one processor: who infers, who trains, what they share. With L of
 * G GPUs training and nothing else, the other I = G - L carry one replica each and the
 * learners serve them all: a training step of t_T is due after K L steps of all
 * replicas, K L / I of each. A replica is solved by itself, so its training is that of
 * a GPU beside its own: both work at full speed at once, which the network knows as a
 * sharing of 2. What one replica's queue may hold is its part of the learners' queues.
 */

/* One parameter, single precision (docs/model.md "Node"). */
#define WEIGHT_BYTE 4.0

/* Two stations at once, neither slowed by the other (network.h). */
#define APART_SHARING 2.0

static bool is_gpu(const struct fulcrum_design *design)
{
    return design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
}

static bool is_apart(const struct fulcrum_design *design)
{
    return is_gpu(design) && design->run.learner_gpu_count > 0.0;
}

/*
 * Threads that one replica's GPUs want to keep busy: of its own GPU, and of its part of
 * those that only train. Before the cap.
 */
static double reserved_threads_of(const struct fulcrum_design *design)
{
    const struct fulcrum_workload_host *host = &design->workload.host;
    if (!is_apart(design)) {
        return host->reserved_threads;
    }
    double own = fmin(host->inference_threads, host->reserved_threads);
    return own + host->reserved_threads * design->run.learner_gpu_count /
                     fulcrum_shard_count(design);
}

double fulcrum_node_transfer_s(double byte, const struct fulcrum_link *reference,
    const struct fulcrum_link *target)
{
    double more_s =
        byte * (1.0 / target->host_byte_per_s - 1.0 / reference->host_byte_per_s);
    return isnan(more_s) ? 0.0 : more_s;
}

/* Seconds to hand new weights to a GPU that infers, after a training step elsewhere. */
static double weights_s(const struct fulcrum_design *design)
{
    double copy_s = WEIGHT_BYTE * design->workload.network.parameter_count /
                    design->machine.link.host_byte_per_s;
    return is_apart(design) && !isnan(copy_s) ? copy_s : 0.0;
}

/*
 * Restates what is said of "the GPU" in the solution of a replica whose training runs
 * on other GPUs: busy time is the mean over all GPUs used, and the bottleneck may be
 * the learner. Changes nothing where each GPU does both.
 */
static void part_busy(
    const struct fulcrum_replicas *replicas, struct fulcrum_solution *solution)
{
    if (!(replicas->learner_count > 0.0)) {
        return;
    }
    double inferring = solution->gpu_inference_busy_frac;
    double training = solution->gpu_train_busy_frac;
    struct fulcrum_solution seen = *solution;
    seen.gpu_busy_frac = inferring;
    solution->bottleneck = fulcrum_bottleneck_of(&seen);
    double busiest =
        fmax(fmax(seen.cpu_thread_busy_frac, seen.host_busy_frac), inferring);
    if (training >= fmax(busiest, FULCRUM_BOTTLENECK_BUSY_FRAC)) {
        solution->bottleneck = FULCRUM_BOUND_LEARNER;
    }
    solution->gpu_busy_frac =
        (replicas->count * inferring + replicas->learner_count * training) /
        (replicas->count + replicas->learner_count);
}

enum { TABLE_MOST = 128 };

/* Actors get this share of the CPU's work at least, however busy the learner. */
#define LEAST_CAPACITY 0.02

/* Less variable sums of steps count as constant: the laws are not told apart there. */
#define LEAST_CV 1e-3

/* The threads of one of `replicas` parts, and how many of them its learner keeps busy.
 */
struct fulcrum_cpu_station fulcrum_shard_station(
    const struct fulcrum_design *design, double replicas, double *reserved)
{
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    double threads = cpu->thread_count / replicas;
    double wanted = reserved_threads_of(design);
    *reserved = is_gpu(design) ? fmin(wanted, FULCRUM_RESERVED_MOST_FRAC * threads)
                : design->machine.learner_core_count > 0.0
                    ? cpu->thread_count / cpu->core_count
                    : fmin(wanted, threads - 1.0);
    return (struct fulcrum_cpu_station){
        .curve = (enum fulcrum_cpu_curve)cpu->curve,
        .core_count = cpu->core_count / replicas,
        .thread_count = threads,
        .reserved_threads = *reserved,
        .smt_yield_frac = cpu->smt_yield_frac,
        .turbo_frac = cpu->turbo_frac,
        .oversubscription_frac = cpu->oversubscription_frac,
        .slice_s = cpu->slice_s,
        .serial_frac = cpu->serial_frac,
        .knee = cpu->knee,
        .cap_per_core = cpu->cap_per_core,
        /* A replica has its threads on one socket as long as there are sockets enough.
         */
        .cross_socket_frac =
            cpu->socket_count > replicas ? cpu->cross_socket_frac : 1.0,
        .capacity = design->capacity,
        .capacity_count = design->capacity_count,
    };
}

/* cv of a Pareto law of shape 2.1, the one the laws know. */
static double pareto_cv(void)
{
    const double shape = 2.1;
    return 1.0 / sqrt(shape * (shape - 2.0));
}

/* Steps that hardly vary do not vary: no solver tells them apart. */
static struct fulcrum_step steadied(struct fulcrum_step step)
{
    bool varies = step.law == FULCRUM_LAW_LOGNORMAL || step.law == FULCRUM_LAW_ERLANG;
    if (varies && !(step.cv >= LEAST_CV)) {
        step.law = FULCRUM_LAW_DETERMINISTIC;
        step.cv = 0.0;
    }
    return step;
}

/* The sum of `envs` independent steps (docs/model.md "Environments per actor"). */
static struct fulcrum_step request_step(
    const struct fulcrum_workload_step *step, double envs)
{
    struct fulcrum_step out = {
        step->mean_s * envs, step->cv / sqrt(envs), (enum fulcrum_step_law)step->law};
    switch (out.law) {
    case FULCRUM_LAW_DETERMINISTIC:
        out.cv = 0.0;
        break;
    case FULCRUM_LAW_EXPONENTIAL:
        out.cv = 1.0 / sqrt(envs);
        out.law = envs > 1.0 ? FULCRUM_LAW_ERLANG : FULCRUM_LAW_EXPONENTIAL;
        break;
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        out.law = envs > 1.0 ? FULCRUM_LAW_LOGNORMAL : out.law;
        break;
    case FULCRUM_LAW_PARETO:
        out.cv = pareto_cv() / sqrt(envs);
        out.law = envs > 1.0 ? FULCRUM_LAW_LOGNORMAL : out.law;
        break;
    case FULCRUM_LAW_ERLANG:
    case FULCRUM_LAW_LOGNORMAL:
        break;
    }
    return steadied(out);
}

struct fulcrum_step fulcrum_step_lengthened(struct fulcrum_step step, double constant_s)
{
    double whole_s = step.mean_s + constant_s;
    if (whole_s > 0.0 && step.law == FULCRUM_LAW_LOGNORMAL) {
        step.cv *= step.mean_s / whole_s;
        step = steadied(step);
    }
    step.mean_s = whole_s;
    return step;
}

double fulcrum_shard_count(const struct fulcrum_design *design)
{
    double inferring = design->run.gpu_count - design->run.learner_gpu_count;
    return is_gpu(design) ? inferring * design->run.instances_per_gpu /
                                design->run.model_parallel_gpu_count
                          : fmax(design->machine.learner_core_count, 1.0);
}

void fulcrum_replicas_init(const struct fulcrum_design *design,
    double steps_per_request, struct fulcrum_replicas *out)
{
    double replicas = fulcrum_shard_count(design);
    /* The tables behind the network are filled as far as they are used. */
    out->network = (struct fulcrum_network){.actors = 1.0};
    out->flags = is_gpu(design) && design->run.instances_per_gpu > 1.0
                     ? FULCRUM_FLAG_INSTANCES
                     : 0U;
    out->count = replicas * design->run.node_count;
    out->learner_count =
        is_gpu(design) ? design->run.learner_gpu_count * design->run.node_count : 0.0;
    out->node_count = design->run.node_count;
    out->training = (struct fulcrum_cluster_step){0};
    out->train_active_frac = 1.0;
    /* Inference has one of the GPUs that the network is split over for training. */
    out->inference_active_frac = 1.0 / design->run.model_parallel_gpu_count;
    out->simulation_active_frac = 1.0;
    out->steps_per_request = steps_per_request;
    out->shares_cores = false;
    out->runnable_most = 0.0;
    out->wake_s = design->workload.host.wake_s;
    out->cold_step_s = design->workload.host.cold_step_s * steps_per_request;
    out->cold_s = design->workload.network.cold_s;
    out->cooling_s = design->workload.network.cooling_s;
    out->network.cpu = fulcrum_shard_station(design, replicas, &out->reserved_threads);
}

static bool runs_on_part(const struct fulcrum_design *design)
{
    return is_gpu(design) && (design->run.sm_count < design->machine.gpu.sm_count ||
                                 design->run.instances_per_gpu > 1.0);
}

void fulcrum_shard_times(
    const struct fulcrum_design *design, struct fulcrum_workload *workload)
{
    if (!runs_on_part(design)) {
        return;
    }
    struct fulcrum_gpu_scale scale =
        fulcrum_sm_scale(&workload->network, design->machine.gpu.sm_count,
            design->run.sm_count / design->run.instances_per_gpu);
    if (design->run.instances_per_gpu > 1.0) {
        /* Instances have their part of bandwidth and cache, not of SMs alone. */
        double instances = design->run.instances_per_gpu;
        double cache = design->machine.gpu.llc_byte;
        struct fulcrum_cache_law law = fulcrum_cache_law_of(&workload->network);
        scale.dram *=
            instances * fulcrum_dram_traffic_rel(&law, cache, cache / instances);
        scale.compulsory_frac =
            fulcrum_dram_compulsory_frac(&law, cache, cache / instances);
    }
    fulcrum_scale_gpu_times(workload, &scale, 1.0);
}

/* Matrix kernels take this many rows at a time: so far at least a mean reaches. */
#define TILE_ROWS 4.0

/* The table, a line between its points, integrated once and twice up to each. */
struct integrals {
    const struct fulcrum_batch_time *table;
    double once[TABLE_MOST];
    double twice[TABLE_MOST];
};

/* Twice up to `size`, which lies within the table. */
static double twice_up_to(const struct integrals *integrals, double size, size_t i)
{
    const struct fulcrum_batch_time *table = integrals->table;
    while (i > 0 && table->size[i] > size) {
        i--;
    }
    while (i + 2 < table->count && table->size[i + 1] <= size) {
        i++;
    }
    double u = size - table->size[i];
    double slope = (table->time_s[i + 1] - table->time_s[i]) /
                   (table->size[i + 1] - table->size[i]);
    return integrals->twice[i] +
           u * (integrals->once[i] + u * (table->time_s[i] / 2.0 + u * slope / 6.0));
}

/*
 * Greedy batches are of all sizes around their mean, and which of them come again and
 * again is chance. Where a table goes up and down from one size to the next each point
 * therefore becomes a mean over those around it, which count the less the farther they
 * are: a triangle, TILE_ROWS or the root of the size to either side, less where no
 * batch is smaller, or none larger than `most`.
 */
static void even_out(struct fulcrum_replicas *out, double most)
{
    struct fulcrum_batch_time exact = out->network.gpu;
    struct integrals integrals = {.table = &exact};
    double mean_s[TABLE_MOST] = {0.0};
    for (size_t i = 0; i + 1 < exact.count; i++) {
        double width = exact.size[i + 1] - exact.size[i];
        double here_s = exact.time_s[i];
        double next_s = exact.time_s[i + 1];
        double once = integrals.once[i];
        integrals.once[i + 1] = once + width * (here_s + next_s) / 2.0;
        integrals.twice[i + 1] =
            integrals.twice[i] + width * (once + width * (2.0 * here_s + next_s) / 6.0);
    }
    for (size_t i = 0; i < exact.count; i++) {
        double size = exact.size[i];
        double end = fmin(most, exact.size[exact.count - 1]);
        double reach = fmin(fmax(TILE_ROWS, sqrt(size)),
            fmin(size - fmax(exact.size[0], 1.0), end - size));
        mean_s[i] = exact.time_s[i];
        if (reach >= 1.0) {
            mean_s[i] =
                (twice_up_to(&integrals, size + reach, i) - 2.0 * integrals.twice[i] +
                    twice_up_to(&integrals, size - reach, i)) /
                (reach * reach);
        }
    }
    memcpy(out->table_time_s, mean_s, exact.count * sizeof *mean_s);
}

/*
 * What the line in force is at a middle batch of the table, over the table's own line;
 * 0 where no factor leads from one to the other: there the line in force stands.
 */
static double table_factor(
    const struct fulcrum_batch_time *table, double per_batch_s, double per_item_s)
{
    if (table->count == 0 || table->count >= TABLE_MOST) {
        return 0.0;
    }
    double middle = sqrt(table->size[0] * table->size[table->count - 1]);
    double line = table->per_batch_s + table->per_item_s * middle;
    double now = per_batch_s + per_item_s * middle;
    return line > 0.0 && now > 0.0 ? now / line : 0.0;
}

/* The table holds times of the machine at full width: only there does it stand. */
static void use_table(const struct fulcrum_design *design, struct fulcrum_replicas *out)
{
    const struct fulcrum_batch_time *measured = &design->batch_time;
    double envs = out->steps_per_request;
    double factor = table_factor(measured, design->workload.network.per_batch_s,
        design->workload.network.per_item_s);
    if (!(factor > 0.0) || runs_on_part(design)) {
        return;
    }
    size_t count = 0;
    /* The smallest batch is one request, which may lie between two sizes measured. */
    if (measured->size[0] < envs) {
        out->table_size[0] = 1.0;
        out->table_time_s[count++] = fulcrum_batch_time(measured, envs) * factor;
    }
    for (size_t i = 0; i < measured->count; i++) {
        if (count == 0 || measured->size[i] > envs) {
            out->table_size[count] = measured->size[i] / envs;
            out->table_time_s[count++] = measured->time_s[i] * factor;
        }
    }
    out->network.gpu.size = out->table_size;
    out->network.gpu.time_s = out->table_time_s;
    out->network.gpu.count = count;
    if (design->workload.batching.policy == (int)FULCRUM_BATCH_GREEDY) {
        double limit = floor(design->workload.batching.size / envs);
        double actors = out->network.actors;
        even_out(out, limit >= 1.0 ? fmin(limit, actors) : actors);
    }
}

/* Each observation beyond a request's first one adds its own time to the table's. */
static void use_handoff_table(const struct fulcrum_design *design,
    const struct fulcrum_workload_host *host, struct fulcrum_replicas *out)
{
    const struct fulcrum_batch_time *measured = &design->handoff_time;
    double factor = table_factor(
        measured, host->per_batch_s, host->per_request_s + host->per_item_s);
    if (!(factor > 0.0)) {
        return;
    }
    double more_s = host->per_item_s * (out->steps_per_request - 1.0);
    for (size_t i = 0; i < measured->count; i++) {
        out->host_time_s[i] = measured->time_s[i] * factor + measured->size[i] * more_s;
    }
    out->network.host.size = measured->size;
    out->network.host.time_s = out->host_time_s;
    out->network.host.count = measured->count;
}

static enum fulcrum_status set_batching(const struct fulcrum_design *design,
    struct fulcrum_replicas *out, struct fulcrum_error *err)
{
    const struct fulcrum_workload_batching *batching = &design->workload.batching;
    struct fulcrum_network *network = &out->network;
    double envs = out->steps_per_request;
    network->policy = (enum fulcrum_batch_policy)batching->policy;
    network->depth = batching->depth;
    if (design->workload.loop == (int)FULCRUM_LOOP_LOCAL) {
        network->policy = FULCRUM_BATCH_GREEDY; /* no batch is waited for */
        return FULCRUM_OK;
    }
    network->batch_size = floor(batching->size / envs);
    bool is_share =
        batching->population_frac > 0.0 && network->policy == FULCRUM_BATCH_FIXED;
    FAIL_IF(is_share && batching->size > 0.0, err, FULCRUM_ERR_INFEASIBLE,
        "workload.batching: size = %.6g and population_frac = %.6g are both given for "
        "a fixed batch: set one of them to 0",
        batching->size, batching->population_frac);
    if (is_share) {
        /* As SEED RL's max(env_batch_size, num_envs // 2): at least one request. */
        network->batch_size =
            fmax(1.0, floor(batching->population_frac * network->actors));
    } else if (batching->size > 0.0 && batching->size < envs) {
        return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "workload.batching.size = %.6g is less than the %.6g observations of one "
            "request",
            batching->size, envs);
    }
    FAIL_IF(network->policy == FULCRUM_BATCH_FIXED && !(network->batch_size >= 1.0),
        err, FULCRUM_ERR_INFEASIBLE,
        "workload.batching: a fixed batch needs size or population_frac above 0");
    return FULCRUM_OK;
}

double fulcrum_active_rel(double launch_bound_frac, double launch_bound_frac_told)
{
    return launch_bound_frac_told < 1.0
               ? (1.0 - launch_bound_frac) / (1.0 - launch_bound_frac_told)
               : 1.0;
}

/*
 * A training step of the replica as one of many: longer by what the replicas wait for
 * each other, and of its part of the batch where they divide it.
 */
void fulcrum_shard_training(const struct fulcrum_design *design,
    const struct fulcrum_workload *workload, struct fulcrum_replicas *out)
{
    struct fulcrum_cluster cluster =
        fulcrum_cluster_of(design, workload->training.train_step_s);
    cluster.launch_bound_frac = workload->training.launch_bound_frac;
    const struct fulcrum_layout layout = fulcrum_layout_of(design);
    double parts = layout.model_parallel_count;
    bool is_split = cluster.scaling == FULCRUM_BATCH_STRONG;
    out->training = fulcrum_cluster_step_of(&cluster, &layout);
    /*
     * Of the SMs that a training step keeps active, those still active in one of a part
     * of the batch: launches last as long and keep none, so that the work of all stays.
     */
    double launch = cluster.launch_bound_frac;
    out->train_active_frac =
        out->training.efficiency *
        fulcrum_active_rel(
            cluster.launch_bound_frac, design->workload.training.launch_bound_frac) *
        (cluster.scaling == FULCRUM_BATCH_STRONG
                ? 1.0 / (launch * out->training.worker_count + 1.0 - launch)
                : 1.0) *
        fulcrum_model_parallel_speedup(cluster.model_parallel_frac, parts) / parts;
    out->network.training = (struct fulcrum_training){
        .env_steps_per_train_step = design->workload.training.env_steps_per_train_step /
                                    out->steps_per_request /
                                    (is_split ? out->training.worker_count : 1.0),
        .train_step_s = out->training.step_s,
        .queue_train_steps = design->workload.training.queue_train_steps,
        .sharing_frac = design->workload.training.sharing_frac};
    bool has_peers = is_gpu(design) && layout.node_device_count > parts;
    if (has_peers && (isnan(cluster.link.peer_byte_per_s) ||
                         isnan(design->workload.network.parameter_count))) {
        out->flags |= FULCRUM_FLAG_FREE_ALLREDUCE;
    }
    /*
     * Makes the training of a replica, as it stands with a learner on its own GPU, that
     * of its part of the GPUs that only train. Changes nothing where there are none.
     *   replicas   its network's training and train_active_frac are restated
     */
    struct fulcrum_training *training = &out->network.training;
    if (!is_apart(design) || !(training->env_steps_per_train_step > 0.0)) {
        return;
    }
    double alone_s = training->train_step_s;
    training->env_steps_per_train_step *=
        design->run.learner_gpu_count / fulcrum_shard_count(design);
    training->train_step_s = alone_s + weights_s(design);
    training->sharing_frac = APART_SHARING;
    /* While weights travel, the learner's SMs rest. */
    out->train_active_frac *= alone_s / training->train_step_s;
}

/* What actors are shared by. */
static const char *shard_words(const struct fulcrum_design *design)
{
    if (!is_gpu(design)) {
        return "learner cores";
    }
    if (design->run.learner_gpu_count > 0.0) {
        return "GPUs that infer";
    }
    if (design->run.model_parallel_gpu_count > 1.0) {
        return "workers";
    }
    return design->run.instances_per_gpu > 1.0 ? "instances of GPUs" : "GPUs";
}

/* Leaves `taken` of the CPU's work to the learner. */
static void leave_capacity(struct fulcrum_replicas *replicas, double taken)
{
    const struct fulcrum_cpu_station *alone = &replicas->unshared;
    double all = fulcrum_cpu_capacity(alone, alone->thread_count);
    double left = fmax(all - taken, LEAST_CAPACITY * all);
    for (size_t i = 0; i < replicas->network.cpu.capacity_count; i++) {
        double runnable = fmin((double)i + 1.0, replicas->runnable_most);
        replicas->capacity[i] = fmin(fulcrum_cpu_capacity(alone, runnable), left);
    }
}

/*
 * An actor steps one of its groups at a time. Where no core is kept for a learner that
 * works while actors step, it takes its time from them: what it leaves is found when
 * the network is solved.
 */
static void share_cores(
    const struct fulcrum_design *design, double actors, struct fulcrum_replicas *out)
{
    bool takes_turns = design->workload.loop == (int)FULCRUM_LOOP_ALTERNATING;
    struct fulcrum_cpu_station *cpu = &out->network.cpu;
    out->shares_cores =
        !is_gpu(design) && !takes_turns &&
        !(design->machine.learner_core_count > 0.0) &&
        (out->network.training.env_steps_per_train_step > 0.0 ||
            design->workload.batching.policy == (int)FULCRUM_BATCH_GREEDY);
    if (!out->shares_cores && !(design->workload.group_count > 1.0)) {
        return;
    }
    size_t most = sizeof out->capacity / sizeof out->capacity[0];
    out->unshared = *cpu;
    out->runnable_most = actors;
    cpu->curve = FULCRUM_CURVE_TABLE;
    cpu->crowd_count = 0.0; /* what crowding costs is in the table */
    cpu->capacity = out->capacity;
    cpu->capacity_count =
        (size_t)fmin(fmax(out->network.actors, cpu->thread_count), (double)most);
    leave_capacity(out, 0.0);
}

enum fulcrum_status fulcrum_design_to_network(const struct fulcrum_design *design,
    struct fulcrum_replicas *out, struct fulcrum_error *err)
{
    double replicas = fulcrum_shard_count(design);
    double actors = design->run.actor_count / replicas;
    FAIL_IF(actors != floor(actors), err, FULCRUM_ERR_INFEASIBLE,
        "run.actor_count = %.6g cannot be shared equally by %.6g %s",
        design->run.actor_count, replicas, shard_words(design));
    double groups = design->workload.group_count;
    FAIL_IF(fmod(design->run.envs_per_actor, groups) > 0.0, err, FULCRUM_ERR_INFEASIBLE,
        "run.envs_per_actor = %.6g cannot be shared equally by workload.group_count = "
        "%.6g groups",
        design->run.envs_per_actor, groups);
    fulcrum_replicas_init(design, design->run.envs_per_actor / groups, out);
    out->network.actors = actors * groups;
    out->network.cpu.crowd_count = actors;
    FAIL_IF(out->network.cpu.core_count < 1.0, err, FULCRUM_ERR_INFEASIBLE,
        "machine.cpu.core_count = %.6g is less than one core for each of %.6g %s",
        design->machine.cpu.core_count, replicas, shard_words(design));
    struct fulcrum_workload there = design->workload;
    fulcrum_shard_times(design, &there);
    double envs = out->steps_per_request;
    struct fulcrum_network *network = &out->network;
    network->step =
        fulcrum_step_lengthened(request_step(&there.step, envs), there.host.actor_s);
    network->host = (struct fulcrum_batch_time){.per_batch_s = there.host.per_batch_s,
        .per_item_s = there.host.per_item_s * envs + there.host.per_request_s};
    network->gpu = (struct fulcrum_batch_time){.per_batch_s = there.network.per_batch_s,
        .per_item_s = there.network.per_item_s * envs};
    network->delay_s = there.host.delay_s;
    network->server_wake_s = there.host.server_wake_s;
    network->poll_s = there.host.poll_s;
    network->poll_wake_s = there.host.poll_wake_s;
    bool is_local = there.loop == (int)FULCRUM_LOOP_LOCAL;
    if (is_local) {
        /* An actor's own inference is of its own observations, and nobody waits for a
         * batch. */
        network->step = fulcrum_step_lengthened(
            network->step, fulcrum_batch_time(&network->gpu, 1.0));
        network->gpu = network->host = (struct fulcrum_batch_time){.count = 0};
    }
    if (there.training.env_steps_per_train_step > 0.0) {
        fulcrum_shard_training(design, &there, out);
        /* In a loop that alternates all training steps that a rollout is due come after
         * it, one behind the other. */
        struct fulcrum_training *training = &network->training;
        network->loop = there.loop == (int)FULCRUM_LOOP_ALTERNATING
                            ? FULCRUM_LOOP_ALTERNATING
                            : FULCRUM_LOOP_CENTRAL;
        if (network->loop == FULCRUM_LOOP_ALTERNATING && there.rollout_length > 0.0) {
            double rollout = there.rollout_length * network->actors;
            training->train_step_s *= rollout / training->env_steps_per_train_step;
            training->env_steps_per_train_step = rollout;
        }
    }
    if (!is_local) {
        use_table(design, out);
        use_handoff_table(design, &there.host, out);
    }
    share_cores(design, actors, out);
    TRY(set_batching(design, out, err));
    /* What is certain to be in one batch: greedy ones may be of one request. */
    double largest =
        out->network.policy == FULCRUM_BATCH_FIXED ? out->network.batch_size : 1.0;
    TRY(fulcrum_gpu_memory_check(design, largest * out->steps_per_request, err));
    if (out->network.gpu.count > 0 &&
        largest > out->network.gpu.size[out->network.gpu.count - 1]) {
        out->flags |= FULCRUM_FLAG_BEYOND_TABLE;
    }
    return fulcrum_network_check(&out->network, err);
}

/*
 * Solving replicas whose server pauses between batches, and pays for it. A server that
 * has all it can do finds the next batch waiting; one that has not sleeps. The request
 * that completes a batch then pays for waking it, and the batch finds caches that have
 * gone cold. Let the server be idle for a part 1 - u of the time, that is (1 - u) b / X
 * in a batch's time, and actors finish steps at rate c(N) / t_e meanwhile. Below one
 * finished step in that time only so many batches are waited for; beyond it all are.
 */

/* Both corrections are small beside a cycle: their effect on themselves soon vanishes.
 */
#define ROUNDS 4

/* Of a step: by so little more or less no simulation is made again. */
#define SAME_STEP_FRAC 0.005

double fulcrum_cold_s(double cold_s, double cooling_s, double pause_s)
{
    double rel = pause_s / cooling_s;
    return cold_s * (rel < 1.0 ? rel * rel / (1.0 + rel * rel)
                               : 1.0 / (1.0 + 1.0 / (rel * rel)));
}

/* Of the server, by batches. */
struct pauses {
    double chance; /* that a batch is waited for */
    double mean_s; /* of a pause */
};

static struct pauses pauses_of(const struct fulcrum_network *network,
    const struct fulcrum_solution *solution, double busy_frac)
{
    double stepping = fmin(network->actors, fulcrum_cpu_servers(&network->cpu));
    double idle =
        fmax(1.0 - busy_frac, 0.0) * solution->mean_batch / solution->steps_per_s;
    double finished =
        idle * fulcrum_cpu_capacity(&network->cpu, stepping) / network->step.mean_s;
    double chance = fmin(finished, 1.0);
    return (struct pauses){chance, chance > 0.0 ? idle / chance : 0.0};
}

/* What the learner's pauses add to a batch. Where batches overlap, the host's time is
 * none of the learner's. */
static double cold_s(
    const struct fulcrum_replicas *replicas, const struct fulcrum_solution *solution)
{
    double gpu_frac = replicas->learner_count > 0.0 ? solution->gpu_inference_busy_frac
                                                    : solution->gpu_busy_frac;
    double busy_frac =
        gpu_frac + (replicas->network.depth > 1.0 ? 0.0 : solution->host_busy_frac);
    struct pauses pauses = pauses_of(&replicas->network, solution, busy_frac);
    return pauses.chance *
           fulcrum_cold_s(replicas->cold_s, replicas->cooling_s, pauses.mean_s);
}

/* Rounds in which what the learner takes settles, and how far each goes towards it. */
#define SHARE_ROUNDS 30
#define SHARE_GAIN   0.5

/*
 * Finds how much of the CPU a learner takes that has no core of its own. Where it and
 * the actors are more processes than threads, one that wakes up may find another on
 * its thread, and waits until that one's slice ends.
 */
static void settle_shares(
    struct fulcrum_replicas *replicas, const struct fulcrum_solver_options *quick)
{
    struct fulcrum_network *network = &replicas->network;
    double servers = fulcrum_cpu_servers(&network->cpu);
    double beyond = fmax(1.0 - servers / (replicas->runnable_most + 1.0), 0.0);
    double gain = SHARE_GAIN;
    double last = 0.0;
    double taken = 0.0;
    double wait_s = 0.0;
    for (int round = 0; replicas->shares_cores && round < SHARE_ROUNDS; round++) {
        struct fulcrum_solution rough;
        if (fulcrum_solve(network, quick, &rough, NULL) != FULCRUM_OK) {
            return;
        }
        double learning = rough.gpu_inference_busy_frac + rough.gpu_train_busy_frac +
                          rough.host_busy_frac;
        double busy = (learning + rough.steps_per_s * network->step.mean_s) / servers;
        double more = learning - taken;
        double more_s = beyond * fmin(busy, 1.0) * network->cpu.slice_s - wait_s;
        gain *= more * last < 0.0 ? SHARE_GAIN : 1.0;
        last = more;
        taken += gain * more;
        wait_s += gain * more_s;
        leave_capacity(replicas, taken);
        network->delay_s += gain * more_s;
    }
}

/* What pauses cost, and what of it is in the network's times. */
struct pause_cost {
    struct fulcrum_step step; /* without it */
    double wake_s;            /* of a request */
    double idle_s;            /* of its steps, on a core that falls idle */
    double cold_s;            /* of a batch */
};

/* Takes the pauses of a solution for those of the network. */
static void set_pauses(struct fulcrum_replicas *replicas,
    const struct fulcrum_solution *solution, struct pause_cost *cost)
{
    struct fulcrum_network *network = &replicas->network;
    double busy_frac = solution->host_busy_frac +
                       (network->depth > 1.0 ? 0.0 : solution->gpu_inference_busy_frac);
    double chance = pauses_of(network, solution, busy_frac).chance;
    double now_s = replicas->cold_s > 0.0 ? cold_s(replicas, solution) : 0.0;
    /* One request of a batch pays for the wake-up. */
    cost->wake_s = replicas->wake_s * chance / solution->mean_batch;
    /* Threads beyond the actors are nobody's. */
    double threads = fulcrum_cpu_servers(&network->cpu);
    double busy_threads = solution->cpu_thread_busy_frac * threads;
    double idle_frac = 1.0 - fmin(1.0, busy_threads / fmin(threads, network->actors));
    cost->idle_s = replicas->cold_step_s * idle_frac;
    network->step = fulcrum_step_lengthened(cost->step, cost->wake_s + cost->idle_s);
    /*
     * A simulation knows whose request that is: the first one where any will do, which
     * pays before the waking begins, or the last one of a fixed batch, whose share of
     * every step is as good to equations.
     */
    if (network->server_wake_s > 0.0) {
        network->waker_s = replicas->wake_s;
        network->own_step = fulcrum_step_lengthened(cost->step, cost->idle_s);
    }
    double before_s = network->policy == FULCRUM_BATCH_GREEDY
                          ? network->waker_s * (1.0 - 1.0 / solution->mean_batch)
                          : 0.0;
    network->server_wake_mean_s = (network->server_wake_s + before_s) * chance;
    /* The line and the table of batch times, both `more_s` longer. */
    double more_s = now_s - cost->cold_s;
    network->gpu.per_batch_s += more_s;
    for (size_t i = 0; i < network->gpu.count; i++) {
        replicas->table_time_s[i] += more_s;
    }
    cost->cold_s = now_s;
}

enum fulcrum_status fulcrum_solve_pausing(struct fulcrum_replicas *replicas,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    struct fulcrum_network *network = &replicas->network;
    struct pause_cost cost = {.step = network->step};
    struct fulcrum_solver_options quick = *options;
    quick.method = FULCRUM_METHOD_FAST;
    settle_shares(replicas, &quick);
    bool pays = replicas->wake_s > 0.0 || replicas->cold_s > 0.0 ||
                replicas->cold_step_s > 0.0 || network->server_wake_s > 0.0;
    for (int round = 0; pays && round < ROUNDS; round++) {
        struct fulcrum_solution rough;
        if (fulcrum_solve(network, &quick, &rough, NULL) != FULCRUM_OK) {
            break;
        }
        set_pauses(replicas, &rough, &cost);
    }
    TRY(fulcrum_solve(network, options, out, err));
    /* A simulation may batch requests otherwise than equations do. */
    for (int round = 0;
         pays && out->method == FULCRUM_METHOD_SIMULATE && round < ROUNDS; round++) {
        double before_s = cost.wake_s + cost.idle_s;
        set_pauses(replicas, out, &cost);
        if (fabs(cost.wake_s + cost.idle_s - before_s) <=
            SAME_STEP_FRAC * network->step.mean_s) {
            break;
        }
        TRY(fulcrum_solve(network, options, out, err));
    }
    part_busy(replicas, out);
    return FULCRUM_OK;
}

/*
 * Watts of a machine that runs a design. Utilisation of the GPU that a driver shows
 * ("busy") is not what draws power: a kernel on one SM is busy too. So watts follow the
 * share of SMs that work, (12), which a workload states for inference and for training.
 * The CPU is counted by busy cores with an extra for second threads, (13). Unused GPUs
 * are idle, not absent, and what a wall socket sees includes the loss of the supply.
 */

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
        /* A learner without a core of its own keeps one busy while it works. */
        learner_frac = fmax(learner_frac, 1.0 / replicas->network.cpu.core_count) *
                       solution->gpu_busy_frac;
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
                               design->workload.network.sm_active_frac *
                               replicas->inference_active_frac;
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
