/* greedy.c - fast solver of networks that batch greedily. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mean-field equations of docs/model.md "Greedy solver" for a network whose GPU takes
 * whatever waits: one stationary cycle where nothing trains (cycle.c), otherwise a mean
 * of cycles with and without a train step beside them. Where the equations are off, the
 * solver refuses (fulcrum_fast_refusal) rather than answers: its limits were found by
 * comparing it with simulations of random networks.
 */
#include "model/greedy.h"

#include <math.h>

#include "model/cycle.h"

/*
 * Limits of validity, from simulations of random networks; docs/model.md "Where the
 * fast solver is valid" tells what lies beyond each.
 */
#define MOST_CV             3.0
#define LEAST_ACTORS        4.0
#define FEW_ACTORS          12.0
#define MOST_DELAY_OF_CYCLE 0.2
#define LEAST_QUEUE         2.0
#define LEAST_QUEUE_BATCHES 2.0
#define MOST_GAP_FRAC       0.02
#define MOST_LOSS_FRAC      0.02
#define LEAST_BURST_BATCHES 3.0
#define LOCKING_ACTORS      8.0
#define LOCKING_HALF_FRAC   0.4
#define LONG_CYCLES         10.0
#define MOST_BOUND_GAP_FRAC 0.03
/* After the fluid has drained, the last step of all takes this many means more. */
#define LAST_STEP_MEANS 3.0

/* A batch beside a train step: docs/model.md "Training on the same GPU". */
#define SHARED_STRETCH 2.0
/* A train step this many cycles long counts as half long, half short. */
#define EVEN_CYCLES 0.3
#define SHARE_STEPS 40
/* From this ratio of the largest batch to the usual one on the mean is rough. */
#define ROUGH_BATCH_RATIO 1.2

/* Means over time, summed over what the network does by turns. */
struct flow {
    double steps_per_s;
    double batches_per_s;
    double host_busy_frac;
    double gpu_work_frac; /* of inference, as if alone */
    double gpu_items;
    double at_cpu;
    double stepping;
    double on_cores;
    unsigned flags; /* of enum fulcrum_flag */
};

/* The solutions without a train step beside inference, and with one all the time. */
struct turns {
    struct fulcrum_cycle alone;
    struct fulcrum_cycle shared;
    double train_s; /* how long a train step takes beside inference */
};

static void add_flow(struct flow *flow, const struct fulcrum_cycle_problem *problem,
    const struct fulcrum_cycle *cycle, double share)
{
    double size = fmax(1.0, cycle->batch);
    double rate = share * cycle->steps_per_s;
    double gpu_s = fulcrum_batch_time(&problem->network->gpu, size);
    flow->steps_per_s += rate;
    flow->batches_per_s += rate / size;
    flow->host_busy_frac +=
        rate / size * fulcrum_batch_time(&problem->network->host, size);
    flow->gpu_work_frac += rate / size * gpu_s;
    flow->gpu_items += rate * gpu_s * problem->gpu_stretch;
    flow->at_cpu += share * cycle->at_cpu;
    flow->stepping += share * cycle->stepping;
    flow->on_cores += share * cycle->on_cores;
}

static double between(double from, double to, double share)
{
    return from + share * (to - from);
}

/* A train step that has the GPU to itself while inference does not use it. */
static double train_s(const struct fulcrum_cycle_problem *problem, double batch,
    double steps_per_s, double gpu_stretch)
{
    double size = fmax(1.0, batch);
    double gpu_s = fulcrum_batch_time(&problem->network->gpu, size);
    double used = fmin(1.0, steps_per_s / size * gpu_stretch * gpu_s);
    return problem->network->training.train_step_s / (1.0 - 0.5 * used);
}

/*
 * The share of time with training where train steps are so short that each batch sees
 * their average: a batch then takes 1 / (1 - share / 2) times as long. The time per
 * step of an actor is taken as a line between the solutions at 1 and 2.
 */
static double averaged_share(
    const struct fulcrum_cycle_problem *problem, const struct turns *turns)
{
    double period = problem->network->training.env_steps_per_train_step;
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < SHARE_STEPS; i++) {
        double share = 0.5 * (low + high);
        double stretch = 1.0 / (1.0 - 0.5 * share);
        double rate = 1.0 / between(1.0 / turns->alone.steps_per_s,
                                1.0 / turns->shared.steps_per_s, stretch - 1.0);
        double batch = between(turns->alone.batch, turns->shared.batch, stretch - 1.0);
        if (rate * train_s(problem, batch, rate, stretch) > share * period) {
            low = share;
        } else {
            high = share;
        }
    }
    return low;
}

/* Few actors, or two halves that alternate, follow a rhythm and no mean. */
static int may_lock(const struct fulcrum_network *network, double batch)
{
    return network->actors < LOCKING_ACTORS ||
           batch > LOCKING_HALF_FRAC * network->actors;
}

/*
 * (11), the learner keeps up. Long train steps: what is true without and with one is
 * averaged. Short ones: their slowdown is averaged. Between the two, and valid only
 * where they nearly agree, a mean of both.
 */
static const char *solve_keeping_up(
    struct fulcrum_cycle_problem *problem, const struct turns *turns, struct flow *out)
{
    const struct fulcrum_training *training = &problem->network->training;
    double period = training->env_steps_per_train_step;
    double alone = turns->alone.steps_per_s;
    double done = turns->shared.steps_per_s * turns->train_s;
    double rate = period / (turns->train_s + (period - done) / alone);
    double share = rate * turns->train_s / period;
    double averaged = averaged_share(problem, turns);
    struct fulcrum_cycle even;
    problem->gpu_stretch = 1.0 / (1.0 - 0.5 * averaged);
    const char *refusal = fulcrum_cycle_solve(problem, &even);
    if (refusal != NULL) {
        return refusal;
    }
    double batch = fmax(1.0, turns->alone.batch);
    double length_s = turns->alone.batch / alone;
    int matters = rate < alone * (1.0 - MOST_LOSS_FRAC);
    double turn_s = problem->network->actors / alone;
    double apart = fabs(even.steps_per_s / rate - 1.0);
    if (apart * turn_s / (turn_s + training->train_step_s) > MOST_GAP_FRAC) {
        return "training slows batches about as long as a batch takes";
    }
    if (matters && period < LEAST_BURST_BATCHES * batch) {
        return "a train step needs the samples of a few batches only";
    }
    if (matters && may_lock(problem->network, batch) &&
        training->train_step_s < LONG_CYCLES * length_s) {
        return "train steps may lock into step with few actors or alternating halves";
    }
    double slow =
        training->train_step_s / (training->train_step_s + EVEN_CYCLES * length_s);
    add_flow(out, problem, &even, 1.0 - slow);
    problem->gpu_stretch = SHARED_STRETCH;
    add_flow(out, problem, &turns->shared, slow * share);
    problem->gpu_stretch = 1.0;
    add_flow(out, problem, &turns->alone, slow * (1.0 - share));
    return NULL;
}

/* Throughput of a GPU that never rests: work is conserved. */
static double held_up_rate(const struct fulcrum_network *network, double batch)
{
    const struct fulcrum_training *training = &network->training;
    return 1.0 / (training->train_step_s / training->env_steps_per_train_step +
                     fulcrum_batch_time(&network->gpu, batch) / batch);
}

/* The largest batch there can be. */
static double most_batch(const struct fulcrum_network *network)
{
    return network->batch_size > 0.0 ? fmin(network->actors, network->batch_size)
                                     : network->actors;
}

/*
 * The mean batch of actors that are held up, or 0 where it is not known. Each train
 * step that starts admits a batch of all actors, if those had the time to get there,
 * and goes on with batches as usual until K steps are done.
 */
static double held_up_batch(
    const struct fulcrum_network *network, const struct fulcrum_cycle *shared)
{
    double period = network->training.env_steps_per_train_step;
    double most = most_batch(network);
    double usual = fmax(1.0, shared->batch);
    double rest = fmax(0.0, period - most);
    double batches = 1.0 + fmax(rest / usual, fmin(rest, 1.0));
    double batch = fmin(most, fmax(usual, period / batches));
    double drained_s =
        network->step.mean_s *
        (LAST_STEP_MEANS +
            network->actors / fulcrum_cpu_capacity(&network->cpu, network->actors));
    double turn_s = drained_s + network->delay_s + (rest + usual) / shared->steps_per_s;
    int known = period >= network->actors && !may_lock(network, usual) &&
                period / held_up_rate(network, batch) >= turn_s;
    return known ? batch : 0.0;
}

/*
 * (11), the learner holds actors up. Where the mean batch is not known it lies between
 * the usual one and all actors, which must make little difference.
 */
static const char *solve_held_up(
    struct fulcrum_cycle_problem *problem, const struct turns *turns, struct flow *out)
{
    const struct fulcrum_network *network = problem->network;
    struct fulcrum_cycle cycle = turns->shared;
    double usual = fmax(1.0, cycle.batch);
    double most = most_batch(network);
    cycle.batch = held_up_batch(network, &turns->shared);
    if (cycle.batch <= 0.0) {
        double least_rate = held_up_rate(network, usual);
        if (held_up_rate(network, most) > least_rate * (1.0 + MOST_BOUND_GAP_FRAC)) {
            return "the learner holds actors up for a part of the time only";
        }
        cycle.batch = 2.0 / (1.0 / usual + 1.0 / most);
    }
    cycle.steps_per_s = held_up_rate(network, cycle.batch);
    double slower = cycle.steps_per_s / turns->shared.steps_per_s;
    cycle.at_cpu *= slower;
    cycle.stepping *= slower;
    cycle.on_cores *= slower;
    add_flow(out, problem, &cycle, 1.0);
    out->flags |= most > usual * ROUGH_BATCH_RATIO ? FULCRUM_FLAG_ROUGH_BATCH : 0U;
    return NULL;
}

static const char *solve_with_training(
    struct fulcrum_cycle_problem *problem, struct turns *turns, struct flow *out)
{
    const struct fulcrum_training *training = &problem->network->training;
    double period = training->env_steps_per_train_step;
    double queue = training->queue_train_steps;
    if (queue < LEAST_QUEUE ||
        queue * period < LEAST_QUEUE_BATCHES * turns->alone.batch) {
        return "the queue of train steps is too short";
    }
    problem->gpu_stretch = SHARED_STRETCH;
    const char *refusal = fulcrum_cycle_solve(problem, &turns->shared);
    if (refusal != NULL) {
        return refusal;
    }
    turns->train_s = train_s(
        problem, turns->shared.batch, turns->shared.steps_per_s, SHARED_STRETCH);
    return turns->shared.steps_per_s * turns->train_s < period
               ? solve_keeping_up(problem, turns, out)
               : solve_held_up(problem, turns, out);
}

static const char *solve(struct fulcrum_cycle_problem *problem, struct flow *out)
{
    const struct fulcrum_network *network = problem->network;
    struct turns turns = {.train_s = 0.0};
    const char *refusal = fulcrum_cycle_solve(problem, &turns.alone);
    if (refusal != NULL) {
        return refusal;
    }
    double cycle_s = turns.alone.batch / turns.alone.steps_per_s;
    if (network->actors > 1.0 && network->actors < FEW_ACTORS &&
        network->delay_s > MOST_DELAY_OF_CYCLE * cycle_s) {
        return "a long delay of few actors needs simulation";
    }
    if (network->training.env_steps_per_train_step > 0.0) {
        return solve_with_training(problem, &turns, out);
    }
    add_flow(out, problem, &turns.alone, 1.0);
    return NULL;
}

static const char *structural_refusal(const struct fulcrum_network *network)
{
    if (network->policy != FULCRUM_BATCH_GREEDY) {
        return "batches of a fixed size need simulation";
    }
    double gpu_s = fulcrum_batch_time(&network->gpu, 1.0);
    double service_s = fulcrum_batch_time(&network->host, 1.0) + gpu_s;
    if (network->depth > 1.0 && service_s > gpu_s) {
        return "a host that overlaps the GPU needs simulation";
    }
    if (network->step.mean_s <= 0.0 || service_s <= 0.0) {
        return "steps and batches must both take time";
    }
    if (network->actors > 1.0 && network->actors < LEAST_ACTORS) {
        return "two or three actors are too few for a mean";
    }
    if (fulcrum_step_cv(&network->step) > MOST_CV) {
        return "steps vary more than the fast method was checked for";
    }
    return NULL;
}

static void report(const struct fulcrum_network *network, const struct flow *flow,
    struct fulcrum_solution *out)
{
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    const struct fulcrum_training *training = &network->training;
    double rate = flow->steps_per_s;
    out->method = FULCRUM_METHOD_FAST;
    out->steps_per_s = rate;
    out->mean_batch = rate / flow->batches_per_s;
    out->cpu_thread_busy_frac = fmin(1.0, flow->stepping / fulcrum_cpu_servers(cpu));
    out->cpu_core_busy_frac = fmin(1.0, flow->on_cores / cpu->core_count);
    out->host_busy_frac = fmin(1.0, flow->host_busy_frac);
    out->gpu_inference_busy_frac = fmin(1.0, flow->gpu_work_frac);
    if (training->env_steps_per_train_step > 0.0) {
        double work_s = training->train_step_s / training->env_steps_per_train_step;
        out->gpu_train_busy_frac =
            fmin(1.0 - out->gpu_inference_busy_frac, rate * work_s);
    }
    out->gpu_busy_frac = out->gpu_inference_busy_frac + out->gpu_train_busy_frac;
    /* Who is neither at the CPU, on the GPU nor delayed waits or is on the host. */
    out->residence.gpu_s = flow->gpu_items / rate;
    out->residence.delay_s = network->delay_s;
    double rest_s = network->actors / rate - out->residence.gpu_s - network->delay_s;
    double host_s = flow->host_busy_frac / flow->batches_per_s;
    out->residence.cpu_s = fmin(flow->at_cpu / rate, rest_s - host_s);
    out->residence.host_s = rest_s - out->residence.cpu_s;
}

const char *fulcrum_greedy_solve(
    const struct fulcrum_network *network, struct fulcrum_solution *out)
{
    const char *refusal = structural_refusal(network);
    if (refusal != NULL) {
        return refusal;
    }
    struct fulcrum_cycle_problem problem;
    fulcrum_cycle_problem_init(&problem, network);
    struct flow flow = {.steps_per_s = 0.0};
    refusal = solve(&problem, &flow);
    if (refusal == NULL) {
        struct fulcrum_solution found = {.flags = flow.flags};
        report(network, &flow, &found);
        *out = found;
    }
    return refusal;
}
