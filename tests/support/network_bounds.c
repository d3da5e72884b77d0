/* network_bounds.c - what no solution of a network can exceed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asymptotic bounds. Of each resource a step needs at least so many seconds, and there
 * are no more seconds than pass: those of the CPU at its best rate, those of host and
 * GPU in the largest batch, as batch times are lines here. And no actor goes round in
 * less time than the least of each of its stages. */
#include "tests/support/network_bounds.h"

#include <math.h>

/* The largest c(n), and the largest c(n) / n of a thread in use. */
struct pace {
    double all;
    double one;
};

static void see(const struct fulcrum_network *network, double n, struct pace *pace)
{
    double rate = fulcrum_cpu_capacity(&network->cpu, n);
    pace->all = fmax(pace->all, rate);
    pace->one = fmax(pace->one, rate / fmin(n, fulcrum_cpu_servers(&network->cpu)));
}

/* c is constant beyond the threads; half steps because the mean may lie between. */
static struct pace pace_of(const struct fulcrum_network *network)
{
    struct pace pace = {0.0, 0.0};
    double servers = fulcrum_cpu_servers(&network->cpu);
    double most = fmin(network->actors, ceil(servers) + 1.0);
    for (size_t i = 2; (double)i <= 2.0 * most; i++) {
        see(network, 0.5 * (double)i, &pace);
    }
    see(network, fmin(network->actors, servers), &pace);
    return pace;
}

double network_most_batch(const struct fulcrum_network *network)
{
    return network->batch_size > 0.0 ? network->batch_size : network->actors;
}

double network_least_batch(const struct fulcrum_network *network)
{
    return network->policy == FULCRUM_BATCH_FIXED ? network->batch_size : 1.0;
}

double network_bound_per_s(const struct fulcrum_network *network)
{
    struct pace pace = pace_of(network);
    double size = network_most_batch(network);
    double host_s = fulcrum_batch_time(&network->host, size) / size;
    double gpu_s = fulcrum_batch_time(&network->gpu, size) / size;
    double period = network->training.env_steps_per_train_step;
    double train_s = period > 0.0 ? network->training.train_step_s / period : 0.0;
    double need_s = fmax(network->step.mean_s / pace.all, gpu_s + train_s);
    int overlaps = network->depth > 1.0;
    need_s = fmax(need_s, overlaps ? host_s : host_s + gpu_s);
    /* Nobody goes round in less than the least of each of his stages. */
    double small = network_least_batch(network);
    double round_s = network->step.mean_s / pace.one +
                     fulcrum_batch_time(&network->host, small) +
                     fulcrum_batch_time(&network->gpu, small) + network->delay_s;
    return 1.0 / fmax(need_s, round_s / network->actors);
}

int network_cpu_rises(const struct fulcrum_network *network)
{
    double servers = fulcrum_cpu_servers(&network->cpu);
    double most = fmin(network->actors, ceil(servers) + 1.0);
    double before = 0.0;
    for (size_t n = 1; (double)n <= most; n++) {
        double rate = fulcrum_cpu_capacity(&network->cpu, (double)n);
        if (rate < before) {
            return 0;
        }
        before = rate;
    }
    return 1;
}
