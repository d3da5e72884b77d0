/* pauses.c - solving replicas whose server pauses between batches, and pays for it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server that has all it can do finds the next batch waiting; one that has not
 * sleeps. The request that completes a batch then pays for waking it, and the batch
 * finds caches that have gone cold. Let the server be idle for a part 1 - u of the
 * time, that is (1 - u) b / X in a batch's time, and actors finish steps at rate
 * c(N) / t_e meanwhile. Below one finished step in that time only so many batches are
 * waited for; beyond it all are.
 */
#include "model/predict/to_network.h"

#include <math.h>
#include <stdbool.h>

#include "model/predict/solver.h"
#include "model/try.h"

/* Both corrections are small beside a cycle: their effect on themselves soon vanishes.
 */
#define ROUNDS 4

double fulcrum_cold_s(double cold_s, double cooling_s, double pause_s)
{
    double rel = pause_s / cooling_s;
    return cold_s * (rel < 1.0 ? rel * rel / (1.0 + rel * rel)
                               : 1.0 / (1.0 + 1.0 / (rel * rel)));
}

/* Of the server, by batches. */
struct pauses {
    double chance; /* that a batch is waited for */
    double mean_s; /* of a pause */
};

static struct pauses pauses_of(const struct fulcrum_network *network,
    const struct fulcrum_solution *solution, double busy_frac)
{
    double stepping = fmin(network->actors, fulcrum_cpu_servers(&network->cpu));
    double idle =
        fmax(1.0 - busy_frac, 0.0) * solution->mean_batch / solution->steps_per_s;
    double finished =
        idle * fulcrum_cpu_capacity(&network->cpu, stepping) / network->step.mean_s;
    double chance = fmin(finished, 1.0);
    return (struct pauses){chance, chance > 0.0 ? idle / chance : 0.0};
}

/* What the learner's pauses add to a batch. Where batches overlap, the host's time is
 * none of the learner's. */
static double cold_s(
    const struct fulcrum_replicas *replicas, const struct fulcrum_solution *solution)
{
    const struct fulcrum_network *network = &replicas->network;
    double gpu_frac = replicas->learner_count > 0.0 ? solution->gpu_inference_busy_frac
                                                    : solution->gpu_busy_frac;
    double busy_frac =
        gpu_frac + (network->depth > 1.0 ? 0.0 : solution->host_busy_frac);
    struct pauses pauses = pauses_of(network, solution, busy_frac);
    return pauses.chance *
           fulcrum_cold_s(replicas->cold_s, replicas->cooling_s, pauses.mean_s);
}

enum fulcrum_status fulcrum_solve_pausing(struct fulcrum_replicas *replicas,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_step alone = replicas->network.step;
    struct fulcrum_solver_options quick = *options;
    quick.method = FULCRUM_METHOD_FAST;
    bool pays = replicas->wake_s > 0.0 || replicas->cold_s > 0.0;
    double added_s = 0.0;
    for (int round = 0; pays && round < ROUNDS; round++) {
        struct fulcrum_solution rough;
        if (fulcrum_solve(&replicas->network, &quick, &rough, NULL) != FULCRUM_OK) {
            break;
        }
        /* Share of a wake-up that one request pays, from 0 to 1. */
        double busy_frac =
            rough.host_busy_frac +
            (replicas->network.depth > 1.0 ? 0.0 : rough.gpu_inference_busy_frac);
        double wake_share =
            pauses_of(&replicas->network, &rough, busy_frac).chance / rough.mean_batch;
        double wake_s = replicas->wake_s * wake_share;
        double now_s = replicas->cold_s > 0.0 ? cold_s(replicas, &rough) : 0.0;
        replicas->network.step = fulcrum_step_lengthened(alone, wake_s);
        /* The line and the table of batch times, both `more_s` longer. */
        double more_s = now_s - added_s;
        replicas->network.gpu.per_batch_s += more_s;
        for (size_t i = 0; i < replicas->network.gpu.count; i++) {
            replicas->table_time_s[i] += more_s;
        }
        added_s = now_s;
    }
    TRY(fulcrum_solve(&replicas->network, options, out, err));
    fulcrum_node_part_busy(replicas, out);
    return FULCRUM_OK;
}
