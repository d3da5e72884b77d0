/* pace.c - how often batches of a size can start and how long each takes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/pace.h"

#include <math.h>

#include "model/lesser.h"

struct fulcrum_pace fulcrum_pace_unhurried(
    const struct fulcrum_network *network, double gpu_stretch, double size)
{
    size = fulcrum_greater(1.0, size);
    struct fulcrum_pace pace = {.host_s = fulcrum_batch_time(&network->host, size),
        .gpu_s = gpu_stretch * fulcrum_batch_time(&network->gpu, size)};
    double service_s = pace.host_s + pace.gpu_s;
    double depth = pace.host_s > 0.0 ? network->depth : 1.0;
    pace.interval_s =
        depth > 1.0 ? fulcrum_greater(pace.host_s, pace.gpu_s) : service_s;
    pace.latency_s = service_s + network->delay_s;
    return pace;
}

/*
 * With a slow GPU, all `depth` batches are inside all the time: a batch starts when one
 * leaves, and waits for those ahead of it.
 */
struct fulcrum_pace fulcrum_pace_of(
    const struct fulcrum_network *network, double gpu_stretch, double size)
{
    struct fulcrum_pace pace = fulcrum_pace_unhurried(network, gpu_stretch, size);
    if (pace.host_s > 0.0 && network->depth > 1.0 && pace.gpu_s > pace.host_s) {
        pace.latency_s = network->depth * pace.gpu_s + network->delay_s;
    }
    return pace;
}
