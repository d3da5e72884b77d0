/* ceiling.c - the throughput that no arrangement of a network's parts can exceed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/ceiling.h"

#include <math.h>

/* The most that n <= N actors get done, at the ends of c's pieces or on top of its bow.
 */
static double most_rate(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain)
{
    double actors = network->actors;
    double most = fulcrum_cpu_capacity(&network->cpu, actors);
    const struct fulcrum_drain_piece *bow = &drain->piece[0];
    if (bow->slope < 0.0) {
        double top = fmin(actors, -0.5 * bow->rate / bow->slope);
        top = drain->count > 1 ? fmin(top, drain->piece[1].low) : top;
        most = fmax(most, fulcrum_cpu_capacity(&network->cpu, top));
    }
    for (size_t i = 1; i < drain->count; i++) {
        double n = fmin(actors, drain->piece[i].low);
        most = fmax(most, fulcrum_cpu_capacity(&network->cpu, n));
    }
    return most;
}

/* The most that a single actor can get done: often it is alone that it is fastest. */
static double most_alone(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain)
{
    double servers = fulcrum_cpu_servers(&network->cpu);
    double most = fulcrum_cpu_capacity(&network->cpu, 1.0) / fmin(1.0, servers);
    for (size_t i = 1; i < drain->count; i++) {
        double n = fmax(1.0, fmin(network->actors, drain->piece[i].low));
        most = fmax(most, fulcrum_cpu_capacity(&network->cpu, n) / fmin(n, servers));
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
    least->batch_s = fmin(least->batch_s, time_s);
    least->item_s = fmin(least->item_s, time_s / size);
}

/* Over all sizes: a line and its share per item are least at an end of it. */
static struct least least_of(
    const struct fulcrum_batch_time *time, double low, double high)
{
    struct least least = {(double)INFINITY, (double)INFINITY};
    add_size(&least, time, low);
    add_size(&least, time, high);
    for (size_t i = 0; i < time->count; i++) {
        add_size(&least, time, fmax(low, fmin(high, time->size[i])));
    }
    return least;
}

double fulcrum_ceiling_per_s(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain)
{
    const struct fulcrum_training *training = &network->training;
    double limit = network->batch_size > 0.0 ? network->batch_size : network->actors;
    double high = fmin(limit, network->actors);
    double low = network->policy == FULCRUM_BATCH_FIXED ? high : 1.0;
    struct least host = least_of(&network->host, low, high);
    struct least gpu = least_of(&network->gpu, low, high);
    double served_s =
        network->depth > 1.0 ? fmax(host.item_s, gpu.item_s) : host.item_s + gpu.item_s;
    if (training->env_steps_per_train_step > 0.0) {
        /* On the GPU alone: the host has nothing to do with it. */
        double train_s = training->train_step_s / training->env_steps_per_train_step;
        /* Where sharing gains, inference may run beside training for less. */
        double beside = fmin(fulcrum_sharing_stretch(training) - 1.0, 1.0);
        served_s = fmax(served_s, beside * gpu.item_s + train_s);
    }
    double needed_s = fmax(served_s, network->step.mean_s / most_rate(network, drain));
    double round_s = network->step.mean_s / most_alone(network, drain) + host.batch_s +
                     gpu.batch_s + network->delay_s;
    return 1.0 / fmax(needed_s, round_s / network->actors);
}
