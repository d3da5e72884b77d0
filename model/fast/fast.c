/* fast.c - the fast method: equations instead of events, for any network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mean cycle without training (steady.c), or turns with and without a train step,
 * made into a solution. Every network gets an answer. What the
 * answer is worth is said by its flags and by an error to be expected, both of which
 * were found by comparing with simulations of random networks (docs/model.md "Solver
 * targets").
 */

#include "model/fast/steady.h"

#include <math.h>
#include <stdbool.h>

#include "model/number.h"
#include "model/try.h"

/* The throughput that no arrangement of a network's parts can exceed. */

/* The most that n <= N actors get done, and that one of them does. */
struct most {
    double all;
    double each; /* often it is alone that an actor is fastest */
};

static void add_count(
    struct most *most, const struct fulcrum_cpu_station *cpu, double n)
{
    double rate = fulcrum_cpu_capacity(cpu, n);
    most->all = fulcrum_max(most->all, rate);
    most->each =
        fulcrum_max(most->each, rate / fulcrum_min(n, fulcrum_cpu_servers(cpu)));
}

/* At the ends of c's pieces, or on top of its bow. */
static struct most most_of(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain)
{
    double actors = network->actors;
    struct most most = {0.0, 0.0};
    add_count(&most, &network->cpu, 1.0);
    add_count(&most, &network->cpu, actors);
    const struct fulcrum_drain_piece *bow = &drain->piece[0];
    if (bow->slope < 0.0) {
        double top = fulcrum_min(actors, -0.5 * bow->rate / bow->slope);
        top = drain->count > 1 ? fulcrum_min(top, drain->piece[1].low) : top;
        add_count(&most, &network->cpu, fulcrum_max(1.0, top));
    }
    for (size_t i = 1; i < drain->count; i++) {
        double n = fulcrum_max(1.0, fulcrum_min(actors, drain->piece[i].low));
        add_count(&most, &network->cpu, n);
    }
    return most;
}

/* The least that a batch takes, and each of its items; not of the same batch. */
struct least {
    double batch_s;
    double item_s;
};

static void add_size(
    struct least *least, const struct fulcrum_batch_time *time, double size)
{
    double time_s = fulcrum_batch_time(time, size);
    least->batch_s = fulcrum_min(least->batch_s, time_s);
    least->item_s = fulcrum_min(least->item_s, time_s / size);
}

/* Over all sizes: a line and its share per item are least at an end of it. */
static struct least least_of(
    const struct fulcrum_batch_time *time, double low, double high)
{
    struct least least = {(double)INFINITY, (double)INFINITY};
    add_size(&least, time, low);
    add_size(&least, time, high);
    for (size_t i = 0; i < time->count; i++) {
        add_size(&least, time, fulcrum_max(low, fulcrum_min(high, time->size[i])));
    }
    return least;
}

double fulcrum_ceiling_per_s(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain)
{
    const struct fulcrum_training *training = &network->training;
    double limit = network->batch_size > 0.0 ? network->batch_size : network->actors;
    double high = fulcrum_min(limit, network->actors);
    double low = network->policy == FULCRUM_BATCH_FIXED ? high : 1.0;
    struct least host = least_of(&network->host, low, high);
    struct least gpu = least_of(&network->gpu, low, high);
    double served_s = network->depth > 1.0 ? fulcrum_max(host.item_s, gpu.item_s)
                                           : host.item_s + gpu.item_s;
    if (training->env_steps_per_train_step > 0.0) {
        /* On the GPU alone: the host has nothing to do with it. */
        double train_s = training->train_step_s / training->env_steps_per_train_step;
        /* Where sharing gains, inference may run beside training for less. */
        double beside = fulcrum_min(fulcrum_sharing_stretch(training) - 1.0, 1.0);
        served_s = fulcrum_max(served_s, beside * gpu.item_s + train_s);
    }
    struct most most = most_of(network, drain);
    double needed_s = fulcrum_max(served_s, network->step.mean_s / most.all);
    double round_s = network->step.mean_s / most.each + host.batch_s + gpu.batch_s +
                     network->delay_s;
    return 1.0 / fulcrum_max(needed_s, round_s / network->actors);
}

/*
 * Training on the same GPU, by turns with and without a train step. A train step lasts
 * as long as tens of batches, or is over within one. Long ones put the network into two
 * steady states by turns, whose means are added up by the time they last. Short ones
 * are felt as a GPU that is slower all the time. What lies between is weighed. A
 * learner that cannot keep up holds the actors up, and then only work counts: the GPU
 * never rests.
 */

/* The limits and fits below were chosen on random networks: docs/model.md "Training on
 * the same GPU". */

/* A train step this many cycles of a batch long counts as half long, half short: a fit.
 */
#define EVEN_CYCLES 0.3
/* From this many on it counts as long: the other answer is not even worked out. */
#define LONG_CYCLES 30.0
/* Bisection of a share of time: to 2^-40, beyond what a double of throughput shows. */
#define SHARE_STEPS 40

/* Share of throughput that matters: answers that differ by more, or a training that
 * costs more, make the result rough. */
#define ROUGH_FRAC 0.02
/* Fewer batches per train step come in bursts; fewer in the learner's queue, or train
 * steps, make it run dry by chance. */
#define LEAST_BURST_BATCHES 3.0
#define LEAST_QUEUE_BATCHES 2.0
#define LEAST_QUEUE         2.0

/*
 * Actors that are held up: a batch of all of them follows each train step. Fewer actors
 * than this, or a usual batch of a larger share of them, may lock, and then the way to
 * that batch is this share of what it is else. A largest batch of more than so many
 * usual ones makes the mean batch rough.
 */
#define LOCKING_ACTORS    8.0
#define LOCKING_HALF_FRAC 0.4
#define LOCKED_SHARE      0.1
#define ROUGH_BATCH_RATIO 1.2
/* After the fluid has drained, the last step of all takes this many mean steps more. */
#define LAST_STEP_MEANS 3.0

/* Means over time, summed over what the network does by turns. */
struct flow {
    double steps_per_s;
    double batches_per_s;
    double host_busy_frac;
    double gpu_work_frac; /* of inference, as if alone */
    double at_gpu;
    double at_cpu;
    double stepping;
    double on_cores;
};

/* The cycles without a train step beside inference, and with one all the time. */
struct turns {
    struct fulcrum_cycle alone;
    struct fulcrum_cycle shared;
    double train_s; /* how long a train step takes beside inference */
};

/* Adds a cycle of `steady` that lasts for a share of the time. */
static void flow_add(struct flow *flow, const struct fulcrum_steady *steady,
    const struct fulcrum_cycle *cycle, double share)
{
    const struct fulcrum_network *network = &steady->network;
    double size = fulcrum_max(1.0, cycle->batch);
    double rate = share * cycle->steps_per_s;
    flow->steps_per_s += rate;
    flow->batches_per_s += rate / size;
    flow->host_busy_frac += rate / size * fulcrum_batch_time(&network->host, size);
    flow->gpu_work_frac += rate / size * fulcrum_batch_time(&network->gpu, size);
    flow->at_gpu += share * cycle->at_gpu;
    flow->at_cpu += share * cycle->at_cpu;
    flow->stepping += share * cycle->stepping;
    flow->on_cores += share * cycle->on_cores;
}

static double between(double from, double to, double share)
{
    return from + share * (to - from);
}

/* A train step that has the GPU to itself while inference does not use it. */
static double turn_train_s(const struct fulcrum_network *network, double batch,
    double steps_per_s, double gpu_stretch)
{
    double size = fulcrum_max(1.0, batch);
    double gpu_s = fulcrum_batch_time(&network->gpu, size);
    double used = fulcrum_min(1.0, steps_per_s / size * gpu_stretch * gpu_s);
    double lost = 1.0 - 1.0 / fulcrum_sharing_stretch(&network->training);
    return network->training.train_step_s / (1.0 - lost * used);
}

/* Of a batch that meets training for this share of the time. */
static double averaged_stretch(double share, double most)
{
    return 1.0 / (1.0 - share * (1.0 - 1.0 / most));
}

/*
 * The share of time with training where train steps are so short that each batch sees
 * their average: a batch then takes 1 / (1 - share / 2) times as long, or, where
 * sharing costs something, 1 / (1 - share (1 - 1 / S)) with the stretch S of both. The
 * time per step of an actor is taken as a line between the solutions at 1 and S.
 */
static double averaged_share(
    const struct fulcrum_network *network, const struct turns *turns)
{
    double period = network->training.env_steps_per_train_step;
    double most = fulcrum_sharing_stretch(&network->training);
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < SHARE_STEPS; i++) {
        double share = 0.5 * (low + high);
        double stretch = averaged_stretch(share, most);
        double way = most > 1.0 ? (stretch - 1.0) / (most - 1.0) : 0.0;
        double rate = 1.0 / between(1.0 / turns->alone.steps_per_s,
                                1.0 / turns->shared.steps_per_s, way);
        double batch = between(turns->alone.batch, turns->shared.batch, way);
        if (rate * turn_train_s(network, batch, rate, stretch) > share * period) {
            low = share;
        } else {
            high = share;
        }
    }
    return low;
}

/* (11), the learner keeps up. */
static enum fulcrum_status solve_keeping_up(struct fulcrum_steady *steady,
    const struct turns *turns, struct flow *out, unsigned *flags,
    struct fulcrum_error *err)
{
    const struct fulcrum_network *network = &steady->network;
    const struct fulcrum_training *training = &network->training;
    double period = training->env_steps_per_train_step;
    double alone = turns->alone.steps_per_s;
    double done = turns->shared.steps_per_s * turns->train_s;
    double rate = period / (turns->train_s + (period - done) / alone);
    double share = rate * turns->train_s / period;
    double length_s = turns->alone.batch / alone;
    double slow = 1.0;
    if (training->train_step_s < LONG_CYCLES * length_s) {
        slow =
            training->train_step_s / (training->train_step_s + EVEN_CYCLES * length_s);
        struct fulcrum_cycle even;
        double stretch = averaged_stretch(
            averaged_share(network, turns), fulcrum_sharing_stretch(training));
        TRY(fulcrum_steady_solve(steady, stretch, &even, flags, err));
        flow_add(out, steady, &even, 1.0 - slow);
        /* Few batches per train step, or answers that differ, make the result rough. */
        double turn_s = network->actors / turns->alone.steps_per_s;
        double apart = fabs(even.steps_per_s / rate - 1.0) * turn_s /
                       (turn_s + network->training.train_step_s);
        bool matters = rate < turns->alone.steps_per_s * (1.0 - ROUGH_FRAC);
        bool bursts = network->training.env_steps_per_train_step <
                      LEAST_BURST_BATCHES * fulcrum_max(1.0, turns->alone.batch);
        *flags |=
            apart > ROUGH_FRAC || (matters && bursts) ? FULCRUM_FLAG_TRAINING_MIX : 0U;
    }
    flow_add(out, steady, &turns->shared, slow * share);
    flow_add(out, steady, &turns->alone, slow * (1.0 - share));
    return FULCRUM_OK;
}

/*
 * Throughput of a GPU that never rests: work is conserved, but for what sharing costs
 * while inference is active.
 */
static double held_up_rate(const struct fulcrum_network *network, double batch)
{
    const struct fulcrum_training *training = &network->training;
    double beside = fulcrum_sharing_stretch(training) - 1.0;
    return 1.0 / (training->train_step_s / training->env_steps_per_train_step +
                     beside * fulcrum_batch_time(&network->gpu, batch) / batch);
}

/* The largest batch there can be. */
static double most_batch(const struct fulcrum_network *network)
{
    return network->batch_size > 0.0 ? fulcrum_min(network->actors, network->batch_size)
                                     : network->actors;
}

/*
 * The mean of a batch of all actors, which each train step admits, and of those as
 * usual that follow it until K steps are done.
 */
static double admitted_batch(const struct fulcrum_network *network, double usual)
{
    double period = network->training.env_steps_per_train_step;
    double most = most_batch(network);
    double rest = fulcrum_max(0.0, period - most);
    double batches = 1.0 + fulcrum_max(rest / usual, fulcrum_min(rest, 1.0));
    return period < network->actors
               ? most
               : fulcrum_min(most, fulcrum_max(usual, period / batches));
}

/*
 * The mean batch of actors that are held up. If all had the time to get to the GPU
 * before the next train step starts, it admits them all; if they are hardly held up,
 * batches are as usual. What lies between is weighed by the root of the time there is,
 * which is a guess that simulations support.
 *   is_rough  set: whether the batch is no more than that
 */
static double held_up_batch(const struct fulcrum_network *network,
    const struct fulcrum_cycle *shared, bool *is_rough)
{
    double period = network->training.env_steps_per_train_step;
    double usual = fulcrum_max(1.0, shared->batch);
    double admitted = admitted_batch(network, usual);
    double rest = fulcrum_max(0.0, period - most_batch(network));
    double drained_s =
        network->step.mean_s *
        (LAST_STEP_MEANS +
            network->actors / fulcrum_cpu_capacity(&network->cpu, network->actors));
    double turn_s = drained_s + network->delay_s + (rest + usual) / shared->steps_per_s;
    double least_s = period / shared->steps_per_s;
    /* From one train step's start to the next. */
    double held_up_s = period / held_up_rate(network, usual);
    double share = (held_up_s - least_s) / fulcrum_max(turn_s - least_s, 1e-9 * turn_s);
    share = sqrt(fulcrum_min(1.0, fulcrum_max(0.0, share)));
    /* Few actors, or two halves that alternate, follow a rhythm and no mean. */
    bool locks =
        network->actors < LOCKING_ACTORS || usual > LOCKING_HALF_FRAC * network->actors;
    *is_rough = period < network->actors || locks || share < 1.0;
    if (locks && period >= network->actors) {
        share *= LOCKED_SHARE;
    }
    return usual * pow(admitted / usual, share);
}

/*
 * docs/model.md "Training on the same GPU", (11), for a network that trains.
 *   alone    the cycle without a train step
 *   out      starts at 0
 *   flags    those of enum fulcrum_flag that this solution deserves are added
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status training_turns(struct fulcrum_steady *steady,
    const struct fulcrum_cycle *alone, struct flow *out, unsigned *flags,
    struct fulcrum_error *err)
{
    const struct fulcrum_network *network = &steady->network;
    const struct fulcrum_training *training = &network->training;
    double period = training->env_steps_per_train_step;
    struct turns turns = {.alone = *alone};
    double stretch = fulcrum_sharing_stretch(training);
    TRY(fulcrum_steady_solve(steady, stretch, &turns.shared, flags, err));
    bool short_queue =
        training->queue_train_steps < LEAST_QUEUE ||
        training->queue_train_steps * period < LEAST_QUEUE_BATCHES * alone->batch;
    *flags |= short_queue ? FULCRUM_FLAG_TRAINING_MIX : 0U;
    turns.train_s =
        turn_train_s(network, turns.shared.batch, turns.shared.steps_per_s, stretch);
    if (turns.shared.steps_per_s * turns.train_s < period) {
        return solve_keeping_up(steady, &turns, out, flags, err);
    }
    /*
     * (11), the learner holds actors up. Where the mean batch is not known it lies
     * between the usual one and all actors.
     */
    struct fulcrum_cycle cycle = turns.shared;
    double usual = fulcrum_max(1.0, cycle.batch);
    if (network->policy != FULCRUM_BATCH_FIXED) {
        bool is_rough = false;
        cycle.batch = held_up_batch(network, &turns.shared, &is_rough);
        double least = held_up_rate(network, usual);
        bool matters =
            held_up_rate(network, most_batch(network)) > least * (1.0 + ROUGH_FRAC);
        *flags |= is_rough && matters ? FULCRUM_FLAG_TRAINING_MIX : 0U;
        *flags |= most_batch(network) > usual * ROUGH_BATCH_RATIO
                      ? FULCRUM_FLAG_ROUGH_BATCH
                      : 0U;
    }
    cycle.steps_per_s =
        fulcrum_min(turns.alone.steps_per_s, held_up_rate(network, cycle.batch));
    double slower = cycle.steps_per_s / turns.shared.steps_per_s;
    cycle.at_cpu *= slower;
    cycle.stepping *= slower;
    cycle.on_cores *= slower;
    cycle.at_gpu *= slower;
    flow_add(out, steady, &cycle, 1.0);
    return FULCRUM_OK;
}

/* Relative errors of throughput that 95 of 100 random networks stay below, by what is
 * special about them: docs/model.md "Where the fast solver is weak". */
#define PLAIN_ERROR_REL 0.01
#define FIXED_ERROR_REL 0.04

/* The same where a flag is set. */
static const struct {
    unsigned flag;
    double error_rel;
} risks[] = {
    {FULCRUM_FLAG_LOW_CV, 0.1},
    {FULCRUM_FLAG_MULTISTABLE, 0.3},
    {FULCRUM_FLAG_FEW, 0.1},
    {FULCRUM_FLAG_CROWDED, 0.05},
    {FULCRUM_FLAG_KINK, 0.05},
    {FULCRUM_FLAG_LIMIT_ROUGH, 0.02},
    {FULCRUM_FLAG_TRAINING_MIX, 0.1},
    {FULCRUM_FLAG_SLICES, 0.2},
    {FULCRUM_FLAG_WAKING, 0.1},
};

/* Share of time that the server wakes up, from which on it matters how arrivals gather
 * meanwhile. */
#define WAKING_FRAC 0.03

/* E[work of a step beyond its first slice] over the mean: less makes no difference. */
#define LEAST_CUT_FRAC 0.01

/* Share of time that threads are busy: from there on they never rest, and no order of
 * service matters to greedy batches. */
#define ALWAYS_BUSY_FRAC 0.999

static double within_unit(double value)
{
    return fulcrum_min(1.0, fulcrum_max(0.0, value));
}

/* What rounding or a rough equation leaves beyond its range is cut off. */
static double between_0_and(double most, double value)
{
    return fulcrum_max(0.0, fulcrum_min(most, value));
}

static void report(const struct fulcrum_network *network, const struct flow *flow,
    struct fulcrum_solution *out)
{
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    const struct fulcrum_training *training = &network->training;
    double rate = flow->steps_per_s;
    out->steps_per_s = rate;
    out->mean_batch = fulcrum_max(1.0, rate / flow->batches_per_s);
    out->cpu_thread_busy_frac = within_unit(flow->stepping / fulcrum_cpu_servers(cpu));
    out->cpu_core_busy_frac = within_unit(flow->on_cores / cpu->core_count);
    out->host_busy_frac = within_unit(flow->host_busy_frac);
    out->gpu_inference_busy_frac = within_unit(flow->gpu_work_frac);
    if (training->env_steps_per_train_step > 0.0) {
        double work_s = training->train_step_s / training->env_steps_per_train_step;
        /* Of both together, where they may gain from running at once. */
        double most = fulcrum_max(1.0, 2.0 / fulcrum_sharing_stretch(training));
        out->gpu_train_busy_frac = fulcrum_min(
            most - out->gpu_inference_busy_frac, fulcrum_min(1.0, rate * work_s));
    }
    out->gpu_busy_frac =
        fulcrum_min(1.0, out->gpu_inference_busy_frac + out->gpu_train_busy_frac);
    /* Who is neither at the CPU, nor at the GPU, nor delayed waits or is on the host.
     */
    double rest_s = network->actors / rate - network->delay_s;
    double host_s = flow->host_busy_frac / flow->batches_per_s;
    out->residence.delay_s = network->delay_s;
    out->residence.gpu_s = between_0_and(rest_s - host_s, flow->at_gpu / rate);
    rest_s = fulcrum_max(0.0, rest_s - out->residence.gpu_s);
    out->residence.cpu_s = between_0_and(rest_s - host_s, flow->at_cpu / rate);
    out->residence.host_s = rest_s - out->residence.cpu_s;
}

/*
 * Equations know steps that run to their end. Exponential ones that give way are again
 * like fresh ones, so that nothing changes in the numbers that equations are about.
 */
static bool slices_matter(
    const struct fulcrum_network *network, const struct fulcrum_solution *solution)
{
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    double servers = fulcrum_cpu_servers(cpu);
    bool never_rests = network->policy == FULCRUM_BATCH_GREEDY &&
                       solution->cpu_thread_busy_frac >= ALWAYS_BUSY_FRAC;
    if (!(cpu->slice_s > 0.0) || network->actors <= servers || never_rests ||
        network->step.law == FULCRUM_LAW_EXPONENTIAL) {
        return false;
    }
    double work_per_s = fulcrum_cpu_capacity(cpu, network->actors) / servers;
    struct fulcrum_step_form form = fulcrum_step_form_of(&network->step);
    return fulcrum_step_excess(&form, cpu->slice_s * work_per_s) >
           LEAST_CUT_FRAC * network->step.mean_s;
}

static enum fulcrum_status solve_anew(const struct fulcrum_network *network,
    struct fulcrum_fast_room *room, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    struct fulcrum_steady steady;
    struct flow flow = {.steps_per_s = 0.0};
    struct fulcrum_cycle alone;
    unsigned flags = 0;
    fulcrum_steady_init(&steady, network, room);
    TRY(fulcrum_steady_solve(&steady, 1.0, &alone, &flags, err));
    if (network->training.env_steps_per_train_step > 0.0) {
        TRY(training_turns(&steady, &alone, &flow, &flags, err));
    } else {
        flow_add(&flow, &steady, &alone, 1.0);
    }
    /* An equation that is a little off must not promise the impossible. */
    double factor = fulcrum_ceiling_per_s(network, &steady.drain) / flow.steps_per_s;
    if (factor < 1.0) {
        flow.steps_per_s *= factor;
        flow.batches_per_s *= factor;
        flow.host_busy_frac *= factor;
        flow.gpu_work_frac *= factor;
        flow.at_gpu *= factor;
        flow.at_cpu *= factor;
        flow.stepping *= factor;
        flow.on_cores *= factor;
    }
    *out = (struct fulcrum_solution){.method = FULCRUM_METHOD_FAST};
    report(network, &flow, out);
    flags |= slices_matter(network, out) ? (unsigned)FULCRUM_FLAG_SLICES : 0U;
    bool is_waking = network->actors > 1.0 &&
                     network->server_wake_mean_s * flow.batches_per_s > WAKING_FRAC;
    flags |= is_waking ? (unsigned)FULCRUM_FLAG_WAKING : 0U;
    out->flags = flags;
    double error_rel =
        network->policy == FULCRUM_BATCH_FIXED
            ? fulcrum_max(FIXED_ERROR_REL, fulcrum_fixed_batch_error_frac(network))
            : PLAIN_ERROR_REL;
    for (size_t i = 0; i < sizeof risks / sizeof risks[0]; i++) {
        if ((flags & risks[i].flag) != 0U) {
            error_rel = fulcrum_max(error_rel, risks[i].error_rel);
        }
    }
    out->error_rel = error_rel;
    return FULCRUM_OK;
}

/*
 * Fixed batches alone are recalled: they take long enough. They may have several
 * orbits, of which hints could choose another one, so that they take none, and leave
 * none: whether one was recalled must not show in the network that follows.
 */
enum fulcrum_status fulcrum_fast_solve(const struct fulcrum_network *network,
    struct fulcrum_fast_room *room, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    if (network->policy != FULCRUM_BATCH_FIXED) {
        return solve_anew(network, room, out, err);
    }
    uint64_t hash = fulcrum_network_hash(network);
    fulcrum_fast_forget(room);
    for (size_t i = 0; i < FULCRUM_RECALLED && i < room->recalled_count; i++) {
        if (room->recalled[i].hash == hash) {
            *out = room->recalled[i].solution;
            return FULCRUM_OK;
        }
    }
    TRY(solve_anew(network, room, out, err));
    fulcrum_fast_forget(room);
    room->recalled[room->recalled_count++ % FULCRUM_RECALLED] =
        (struct fulcrum_recalled){hash, *out};
    return FULCRUM_OK;
}
