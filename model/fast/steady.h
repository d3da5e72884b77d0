/* steady.h - the fast method, and the mean cycle where nothing trains. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_STEADY_H
#define FULCRUM_MODEL_FAST_STEADY_H

#include <stdbool.h>

#include "model/cpu_curve.h"
#include "model/fast/steps.h"
#include "model/network/network.h"

/*
 * An unknown of the networks before, as a factor of a first estimate. Neighbours in a
 * sweep change it little and evenly: a polynomial goes on.
 */
enum { FULCRUM_HINT_MOST = 4 };
struct fulcrum_hint {
    size_t count;                     /* 0: nothing is known */
    double factor[FULCRUM_HINT_MOST]; /* of the last network, and of those before it */
    double slope;                     /* of the gap by the logarithm of the unknown */
};

/* The factor to begin with; 1 where nothing is known. */
static inline double fulcrum_hint_next(const struct fulcrum_hint *hint)
{
    static const double weight[FULCRUM_HINT_MOST][FULCRUM_HINT_MOST] = {
        {1.0}, {2.0, -1.0}, {3.0, -3.0, 1.0}, {4.0, -6.0, 4.0, -1.0}};
    double next = 0.0;
    for (size_t i = 0; i < hint->count; i++) {
        next += weight[hint->count - 1][i] * hint->factor[i];
    }
    return next > 0.0 ? next : 1.0;
}

static inline void fulcrum_hint_set(
    struct fulcrum_hint *hint, double factor, double slope)
{
    for (size_t i = FULCRUM_HINT_MOST - 1; i > 0; i--) {
        hint->factor[i] = hint->factor[i - 1];
    }
    hint->factor[0] = factor;
    hint->slope = slope;
    hint->count += hint->count < FULCRUM_HINT_MOST;
}

/*
 * What one solution tells the next of a network much like it. All zero: nothing is
 * known. Answers depend on it by no more than 1e-9, but where
 * FULCRUM_FLAG_MULTISTABLE says that there are several.
 */
struct fulcrum_hints {
    bool is_set;
    struct fulcrum_hint fluid;    /* batch size of the mean-field equation */
    struct fulcrum_hint smooth;   /* the same, averaged over chance */
    struct fulcrum_hint tireless; /* and of a GPU that never idles */
    /* Of the cohort equation, whose threads are short for a part of the period or never
     * (then the other unknown is the batch size). */
    bool is_short;
    struct fulcrum_hint period;
    struct fulcrum_hint other;
    double slope[2][2]; /* of both gaps by the logarithms of both, where they are */
};

/* Greedy batches by the embedded mean-field equation (9). */

struct fulcrum_greedy_batch {
    struct fulcrum_cycle cycle; /* smoothed, idling counted; where it yields to cohorts,
                                   batch and rate alone */
    bool lawful; /* the law of steps may matter: not exponential, not over in no time */
    double idle_frac;   /* batches at whose end nobody waits, so that the GPU idles */
    double plain_batch; /* of the fluid alone: not smoothed, never idle */
    double plain_steps_per_s;
    double plain_least; /* of its actors at the CPU, at the end of a batch */
};

/*
 * docs/model.md "Mean-field equation": any number of actors, steps taken as
 * exponential, a batch limit not looked at.
 *   network      checked; t_e > 0 and t(1) > 0
 *   drain        of its CPU
 *   gpu_stretch  as fulcrum_batch_service_of
 *   hints        of another solution, then of this one
 */
struct fulcrum_greedy_batch fulcrum_greedy_batch_solve(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain,
    double gpu_stretch, struct fulcrum_hints *hints);

/* Whether a thread may be free, so that steps begin as they come and their law matters:
 * the cohort equation then knows the cycle's means. */
bool fulcrum_greedy_batch_yields(
    const struct fulcrum_greedy_batch *field, const struct fulcrum_network *network);

/* The mean cycle of a network with fixed batches, by equation (10). */

/* A time that is 0 is taken as this share of the others: far less than a solution is
 * off by. */
#define FULCRUM_NO_TIME_FRAC 1e-6

/* Actors per thread from which on threads are short nearly all the time; between one
 * and this, fixed batches are rough (docs/model.md "Fixed batches"). */
#define FULCRUM_CROWDED_TURNS 8.0

/*
 * Solves docs/model.md "Fixed batches" for a checked network of that policy; its
 * training is not looked at.
 *   gpu_stretch  times of the GPU are multiplied by it; 1 where it is not shared
 *   out          set on success only
 *   fails        FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fixed_batch_solve(
    const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out, struct fulcrum_error *err);

/*
 * The relative error of steps_per_s that one in twenty networks like this one exceeds,
 * from simulations of random networks: 0.02 to 0.11. Largest where few threads are
 * short, or steps of little variation keep step with each other.
 */
double fulcrum_fixed_batch_error_frac(const struct fulcrum_network *network);

/* The mean cycle of a greedy batch server with a handful of actors. */

/* A limit of batches acts where its distance to the usual batch is no more than this
 * many square roots of it: beyond four deviations, chance does not get there. */
#define FULCRUM_LIMIT_MARGIN 4.0

/*
 * Whether fulcrum_greedy_small_solve can take a checked network: greedy, host and GPU
 * one after the other, at most 64 actors, steps that vary next to their mean and the
 * delay, and no delay where there are more actors than threads.
 */
bool fulcrum_greedy_small_accepts(const struct fulcrum_network *network);

/*
 * Whether a network that it can take is one to take it for: so few actors, or a limit
 * of batches that acts for a part of the time with so few, that equations for means are
 * off by more than a few per cent; a solution then costs a millisecond or so at most.
 */
bool fulcrum_greedy_small_suits(const struct fulcrum_network *network);

/*
 * Solves docs/model.md "A handful of actors" for a network that
 * fulcrum_greedy_small_accepts, nothing training. GPU times are multiplied by
 * `gpu_stretch` > 0.
 *   out      set on success only
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_NO_FIT (did not settle)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_greedy_small_solve(
    const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out, struct fulcrum_error *err);

/* The stationary cycle of cohorts that batches send to step, (8) and (10). */

struct fulcrum_cohort {
    struct fulcrum_cycle cycle; /* host and GPU keep up with what forms or finishes */
    double interval_s;          /* between the starts of batches in it */
    double interval_sd_s; /* of one interval, fixed batches only: how much chance moves
                             it */
    double stays_frac; /* of a batch's actors, still at the CPU when the next returns */
};

/*
 * docs/model.md "Cohort equation": any law, any number of actors, greedy batches
 * without a limit that never let the GPU idle, or batches of a fixed size. Actors are a
 * fluid, and every cycle is like the last one.
 *   network      checked; t_e > 0, and t(1) > 0 unless batches are of a fixed size
 *   table        of its step
 *   gpu_stretch  as fulcrum_batch_service_of
 *   batch        where to look first; 0 if not known
 *   hints        as fulcrum_greedy_batch_solve
 */
struct fulcrum_cohort fulcrum_cohort_solve(const struct fulcrum_network *network,
    const struct fulcrum_step_table *table, double gpu_stretch, double batch,
    struct fulcrum_hints *hints);

/* The mean cycle of a network in which nothing trains, by the fast methods. */

/* Of each solution of a network: without, beside and near training. */
enum { FULCRUM_HINTS = 3 };

/* Networks recalled: a study of thirty inputs comes back to one after as many pairs. */
enum { FULCRUM_RECALLED = 64 };

/* What is kept from one network to the next that resembles it; all zero at first. */
struct fulcrum_fast_room {
    struct fulcrum_step_table table; /* filled when it is first needed */
    struct fulcrum_step_table *kept; /* used in its place; borrowed; NULL: none */
    struct fulcrum_hints hints[FULCRUM_HINTS];
    /* Studies come back to networks, where what they change is no part of them. */
    struct fulcrum_recalled {
        uint64_t hash;
        struct fulcrum_solution solution;
    } recalled[FULCRUM_RECALLED];
    size_t recalled_count; /* of all that were solved: the last ones are kept */
};

/* The next network is nothing like the last one. */
void fulcrum_fast_forget(struct fulcrum_fast_room *room);

/* One network, prepared once for any number of solutions. */
struct fulcrum_steady {
    struct fulcrum_network network; /* no service time is 0, no limit beyond N */
    struct fulcrum_cpu_drain drain;
    struct fulcrum_fast_room *room; /* borrowed */
    size_t solved;                  /* solutions so far */
    double fixed_factor; /* of the first solution: what the renewal equation makes of
                            the cohorts' throughput; 0 while not known */
};

/*
 * `network` is checked; its training is not looked at, its arrays are borrowed.
 *   room     all zero, or of an earlier network
 */
void fulcrum_steady_init(struct fulcrum_steady *steady,
    const struct fulcrum_network *network, struct fulcrum_fast_room *room);

/*
 * Solves docs/model.md "Fast solver" with GPU times multiplied by `gpu_stretch` >= 1.
 *   flags    those of enum fulcrum_flag that this solution deserves are added
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_steady_solve(
    struct fulcrum_steady *steady, double gpu_stretch, struct fulcrum_cycle *out,
    unsigned *flags, struct fulcrum_error *err);

/*
 * What no arrangement of a network's parts can exceed, in requests per second,
 * docs/model.md "Asymptotic bounds": the least of what the CPU can step, host and GPU
 * can serve in batches of the best size beside the training that goes with it, and N
 * actors can ask for that never wait. INFINITY where nothing is in the way.
 *   network  checked
 *   drain    of its CPU
 */
double fulcrum_ceiling_per_s(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain);

/*
 * Solves a network that fulcrum_network_check accepts, docs/model.md "Fast solver". The
 * bottleneck is not set. Where an equation is known to be rough the solution is flagged
 * and `error_rel` says so.
 *   room     all zero at first; kept between networks it saves most of the time:
 *            networks with the same law and cv share its table, and one much like the
 *            last begins with its hints, of which its answers depend by 1e-9
 *   out      set on success only
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fast_solve(
    const struct fulcrum_network *network, struct fulcrum_fast_room *room,
    struct fulcrum_solution *out, struct fulcrum_error *err);

#endif
