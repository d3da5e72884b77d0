/* training_turns.c - training on the same GPU, by turns with and without a train step.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A train step lasts as long as tens of batches, or is over within one. Long ones put
 * the network into two steady states by turns, whose means are added up by the time
 * they last. Short ones are felt as a GPU that is slower all the time. What lies
 * between is weighed. A learner that cannot keep up holds the actors up, and then only
 * work counts: the GPU never rests.
 */
#include "model/training_turns.h"

#include <math.h>

#include "model/solution.h"
#include "model/try.h"

/* A train step this many cycles long counts as half long, half short. */
#define EVEN_CYCLES 0.3
/* From this many on it counts as long: the other answer is not even worked out. */
#define LONG_CYCLES 30.0
#define SHARE_STEPS 40

/* What the two answers may differ by before the result is called rough. */
#define MOST_GAP_FRAC       0.02
#define MOST_LOSS_FRAC      0.02
#define LEAST_BURST_BATCHES 3.0
#define LEAST_QUEUE_BATCHES 2.0
#define LEAST_QUEUE         2.0

/* Actors that are held up: a batch of all of them follows each train step. */
#define LOCKING_ACTORS    8.0
#define LOCKING_HALF_FRAC 0.4
#define ROUGH_BATCH_RATIO 1.2
#define LOCKED_SHARE      0.1
/* After the fluid has drained, the last step of all takes this many means more. */
#define LAST_STEP_MEANS 3.0

/* The cycles without a train step beside inference, and with one all the time. */
struct turns {
    struct fulcrum_cycle alone;
    struct fulcrum_cycle shared;
    double train_s; /* how long a train step takes beside inference */
};

void fulcrum_flow_add(struct fulcrum_flow *flow, const struct fulcrum_steady *steady,
    const struct fulcrum_cycle *cycle, double share)
{
    const struct fulcrum_network *network = &steady->network;
    double size = fmax(1.0, cycle->batch);
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
static double train_s(const struct fulcrum_network *network, double batch,
    double steps_per_s, double gpu_stretch)
{
    double size = fmax(1.0, batch);
    double gpu_s = fulcrum_batch_time(&network->gpu, size);
    double used = fmin(1.0, steps_per_s / size * gpu_stretch * gpu_s);
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
        if (rate * train_s(network, batch, rate, stretch) > share * period) {
            low = share;
        } else {
            high = share;
        }
    }
    return low;
}

/* Few batches per train step, or answers that differ, make the result rough. */
static unsigned mix_flags(const struct fulcrum_network *network,
    const struct turns *turns, double rate, double even_rate)
{
    double turn_s = network->actors / turns->alone.steps_per_s;
    double apart = fabs(even_rate / rate - 1.0) * turn_s /
                   (turn_s + network->training.train_step_s);
    int matters = rate < turns->alone.steps_per_s * (1.0 - MOST_LOSS_FRAC);
    int bursts = network->training.env_steps_per_train_step <
                 LEAST_BURST_BATCHES * fmax(1.0, turns->alone.batch);
    return apart > MOST_GAP_FRAC || (matters && bursts) ? FULCRUM_FLAG_TRAINING_MIX
                                                        : 0U;
}

/* (11), the learner keeps up. */
static enum fulcrum_status solve_keeping_up(struct fulcrum_steady *steady,
    const struct turns *turns, struct fulcrum_flow *out, unsigned *flags,
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
        enum fulcrum_status status =
            fulcrum_steady_solve(steady, stretch, &even, flags, err);
        if (status != FULCRUM_OK) {
            return status;
        }
        fulcrum_flow_add(out, steady, &even, 1.0 - slow);
        *flags |= mix_flags(network, turns, rate, even.steps_per_s);
    }
    fulcrum_flow_add(out, steady, &turns->shared, slow * share);
    fulcrum_flow_add(out, steady, &turns->alone, slow * (1.0 - share));
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
    return network->batch_size > 0.0 ? fmin(network->actors, network->batch_size)
                                     : network->actors;
}

/* Few actors, or two halves that alternate, follow a rhythm and no mean. */
static int may_lock(const struct fulcrum_network *network, double batch)
{
    return network->actors < LOCKING_ACTORS ||
           batch > LOCKING_HALF_FRAC * network->actors;
}

/* Seconds from one train step's start to the next, of actors that are held up. */
static double held_up_period_s(const struct fulcrum_network *network, double batch)
{
    return network->training.env_steps_per_train_step / held_up_rate(network, batch);
}

/*
 * The mean of a batch of all actors, which each train step admits, and of those as
 * usual that follow it until K steps are done.
 */
static double admitted_batch(const struct fulcrum_network *network, double usual)
{
    double period = network->training.env_steps_per_train_step;
    double most = most_batch(network);
    double rest = fmax(0.0, period - most);
    double batches = 1.0 + fmax(rest / usual, fmin(rest, 1.0));
    return period < network->actors ? most : fmin(most, fmax(usual, period / batches));
}

/*
 * The mean batch of actors that are held up. If all had the time to get to the GPU
 * before the next train step starts, it admits them all; if they are hardly held up,
 * batches are as usual. What lies between is weighed by the root of the time there is,
 * which is a guess that simulations support.
 *   is_rough  set: whether the batch is no more than that
 */
static double held_up_batch(const struct fulcrum_network *network,
    const struct fulcrum_cycle *shared, int *is_rough)
{
    double period = network->training.env_steps_per_train_step;
    double usual = fmax(1.0, shared->batch);
    double admitted = admitted_batch(network, usual);
    double rest = fmax(0.0, period - most_batch(network));
    double drained_s =
        network->step.mean_s *
        (LAST_STEP_MEANS +
            network->actors / fulcrum_cpu_capacity(&network->cpu, network->actors));
    double turn_s = drained_s + network->delay_s + (rest + usual) / shared->steps_per_s;
    double least_s = period / shared->steps_per_s;
    double share = (held_up_period_s(network, usual) - least_s) /
                   fmax(turn_s - least_s, 1e-9 * turn_s);
    share = sqrt(fmin(1.0, fmax(0.0, share)));
    int locks = may_lock(network, usual);
    *is_rough = period < network->actors || locks || share < 1.0;
    if (locks && period >= network->actors) {
        share *= LOCKED_SHARE;
    }
    return usual * pow(admitted / usual, share);
}

/*
 * (11), the learner holds actors up. Where the mean batch is not known it lies between
 * the usual one and all actors.
 */
static void solve_held_up(const struct fulcrum_steady *steady,
    const struct turns *turns, struct fulcrum_flow *out, unsigned *flags)
{
    const struct fulcrum_network *network = &steady->network;
    struct fulcrum_cycle cycle = turns->shared;
    double usual = fmax(1.0, cycle.batch);
    if (network->policy != FULCRUM_BATCH_FIXED) {
        int is_rough = 0;
        cycle.batch = held_up_batch(network, &turns->shared, &is_rough);
        double least = held_up_rate(network, usual);
        int matters =
            held_up_rate(network, most_batch(network)) > least * (1.0 + MOST_GAP_FRAC);
        *flags |= is_rough && matters ? FULCRUM_FLAG_TRAINING_MIX : 0U;
        *flags |= most_batch(network) > usual * ROUGH_BATCH_RATIO
                      ? FULCRUM_FLAG_ROUGH_BATCH
                      : 0U;
    }
    cycle.steps_per_s =
        fmin(turns->alone.steps_per_s, held_up_rate(network, cycle.batch));
    double slower = cycle.steps_per_s / turns->shared.steps_per_s;
    cycle.at_cpu *= slower;
    cycle.stepping *= slower;
    cycle.on_cores *= slower;
    cycle.at_gpu *= slower;
    fulcrum_flow_add(out, steady, &cycle, 1.0);
}

enum fulcrum_status fulcrum_training_turns(struct fulcrum_steady *steady,
    const struct fulcrum_cycle *alone, struct fulcrum_flow *out, unsigned *flags,
    struct fulcrum_error *err)
{
    const struct fulcrum_network *network = &steady->network;
    const struct fulcrum_training *training = &network->training;
    double period = training->env_steps_per_train_step;
    struct turns turns = {.alone = *alone};
    double stretch = fulcrum_sharing_stretch(training);
    TRY(fulcrum_steady_solve(steady, stretch, &turns.shared, flags, err));
    int short_queue =
        training->queue_train_steps < LEAST_QUEUE ||
        training->queue_train_steps * period < LEAST_QUEUE_BATCHES * alone->batch;
    *flags |= short_queue ? FULCRUM_FLAG_TRAINING_MIX : 0U;
    turns.train_s =
        train_s(network, turns.shared.batch, turns.shared.steps_per_s, stretch);
    if (turns.shared.steps_per_s * turns.train_s < period) {
        return solve_keeping_up(steady, &turns, out, flags, err);
    }
    solve_held_up(steady, &turns, out, flags);
    return FULCRUM_OK;
}
