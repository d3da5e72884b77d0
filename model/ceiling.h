/* ceiling.h - the throughput that no arrangement of a network's parts can exceed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_CEILING_H
#define FULCRUM_MODEL_CEILING_H

#include "model/cpu_drain.h"
#include "model/network.h"

/*
 * Requests per second, docs/model.md "Asymptotic bounds": the least of what the CPU can
 * step, host and GPU can serve in batches of the best size beside the training that
 * goes with it, and N actors can ask for that never wait. INFINITY where nothing is in
 * the way.
 *   network  checked
 *   drain    of its CPU
 */
double fulcrum_ceiling_per_s(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain);

#endif
