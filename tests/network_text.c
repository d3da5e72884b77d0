/* network_text.c - a network as a line for `fulcrum solve`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/network_text.h"

#include <stdio.h>

static void print_times(const char *name, const struct fulcrum_batch_time *time)
{
    (void)printf("\"%s\":{\"per_batch_s\":%.17g,\"per_item_s\":%.17g},", name,
        time->per_batch_s, time->per_item_s);
}

void network_print(const struct fulcrum_network *network)
{
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    const struct fulcrum_training *training = &network->training;
    (void)printf("{\"kind\":\"network\",\"name\":\"%s\",\"actors\":%.17g,",
        network->name, network->actors);
    (void)printf("\"cpu\":{\"cores\":%.17g,\"threads\":%.17g,\"smt_yield_frac\":%.17g,"
                 "\"reserved_threads\":%.17g,\"turbo_frac\":%.17g,"
                 "\"oversubscription_frac\":%.17g},",
        cpu->core_count, cpu->thread_count, cpu->smt_yield_frac, cpu->reserved_threads,
        cpu->turbo_frac, cpu->oversubscription_frac);
    (void)printf("\"step\":{\"mean_s\":%.17g,\"cv\":%.17g,\"law\":\"%s\"},",
        network->step.mean_s, network->step.cv,
        fulcrum_step_law_name(network->step.law));
    print_times("host", &network->host);
    print_times("gpu", &network->gpu);
    (void)printf("\"batching\":{\"policy\":\"%s\",\"size\":",
        fulcrum_batch_policy_name(network->policy));
    (void)(network->batch_size > 0.0 ? printf("%.17g", network->batch_size)
                                     : printf("null"));
    (void)printf(
        ",\"depth\":%.17g},\"delay_s\":%.17g", network->depth, network->delay_s);
    if (training->env_steps_per_train_step > 0.0) {
        (void)printf(",\"training\":{\"env_steps_per_train_step\":%.17g,"
                     "\"train_step_s\":%.17g,\"queue_train_steps\":%.17g}",
            training->env_steps_per_train_step, training->train_step_s,
            training->queue_train_steps);
    }
    (void)printf("}\n");
}
