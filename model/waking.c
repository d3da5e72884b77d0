/* waking.c - solving shards whose actors have to wake a server that waits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server that has all it can do finds the next batch waiting; one that has not
 * sleeps, and the request that completes a batch pays for waking it. Let the server be
 * idle for a part 1 - u of the time, that is (1 - u) b / X in a batch's time, and
 * actors finish steps at rate c(N) / t_e meanwhile. Below one finished step in that
 * time only so many batches are waited for; beyond it all are. A request then pays the
 * wake-up times that chance over b.
 */
#include "model/waking.h"

#include <math.h>

/* The correction is some per cent of a step: its own effect on itself soon vanishes. */
#define ROUNDS 3

/* Share of a wake-up that one request pays, from 0 to 1. */
static double share(
    const struct fulcrum_network *network, const struct fulcrum_solution *solution)
{
    double stepping = fmin(network->actors, fulcrum_cpu_servers(&network->cpu));
    double busy = solution->host_busy_frac +
                  (network->depth > 1.0 ? 0.0 : solution->gpu_inference_busy_frac);
    double idle_s =
        fmax(1.0 - busy, 0.0) * solution->mean_batch / solution->steps_per_s;
    double finished =
        idle_s * fulcrum_cpu_capacity(&network->cpu, stepping) / network->step.mean_s;
    return fmin(finished, 1.0) / solution->mean_batch;
}

enum fulcrum_status fulcrum_solve_waking(struct fulcrum_shards *shards,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_step alone = shards->network.step;
    struct fulcrum_solver_options quick = *options;
    quick.method = FULCRUM_METHOD_FAST;
    for (int round = 0; shards->wake_s > 0.0 && round < ROUNDS; round++) {
        struct fulcrum_solution rough;
        if (fulcrum_solve(&shards->network, &quick, &rough, NULL) != FULCRUM_OK) {
            break;
        }
        shards->network.step = fulcrum_step_lengthened(
            alone, shards->wake_s * share(&shards->network, &rough));
    }
    return fulcrum_solve(&shards->network, options, out, err);
}
