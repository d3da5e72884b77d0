/* pace.h - how often batches of a size can start and how long each takes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PACE_H
#define FULCRUM_MODEL_PACE_H

#include "model/network.h"

/* Host and GPU as the fast solvers see them: docs/model.md "Batching", (7). */
struct fulcrum_pace {
    double host_s;
    double gpu_s;      /* while a train step runs beside it: stretched */
    double interval_s; /* between the starts of two batches, at least */
    double
        latency_s; /* from a batch's start to its actors' next step, with the delay */
};

/*
 * For batches of `size` >= 1 that always have actors waiting for them.
 *   gpu_stretch  GPU times are multiplied by it, >= 1
 */
struct fulcrum_pace fulcrum_pace_of(
    const struct fulcrum_network *network, double gpu_stretch, double size);

/* The same for batches that have to form: nothing waits between host and GPU. */
struct fulcrum_pace fulcrum_pace_unhurried(
    const struct fulcrum_network *network, double gpu_stretch, double size);

#endif
