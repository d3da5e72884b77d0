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

double fulcrum_ceiling_per_s(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain)
{
    const struct fulcrum_training *training = &network->training;
    int fixed = network->policy == FULCRUM_BATCH_FIXED;
    double limit = network->batch_size > 0.0 ? network->batch_size : network->actors;
    double size = fmin(limit, network->actors);
    double host_s = fulcrum_batch_time(&network->host, size) / size;
    double gpu_s = fulcrum_batch_time(&network->gpu, size) / size;
    if (training->env_steps_per_train_step > 0.0) {
        gpu_s += training->train_step_s / training->env_steps_per_train_step;
    }
    double served_s = network->depth > 1.0 ? fmax(host_s, gpu_s) : host_s + gpu_s;
    double needed_s = fmax(served_s, network->step.mean_s / most_rate(network, drain));
    double least = fixed ? size : 1.0;
    double round_s = network->step.mean_s / most_alone(network, drain) +
                     fulcrum_batch_time(&network->host, least) +
                     fulcrum_batch_time(&network->gpu, least) + network->delay_s;
    return 1.0 / fmax(needed_s, round_s / network->actors);
}
