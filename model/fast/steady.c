/* steady.c - the mean cycle of a network in which nothing trains, by the fast methods.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No equation holds everywhere. The mean-field equation (9) knows chance, but takes
 * steps as exponential; the cohort equation (8) knows the law of the steps, but is a
 * fluid. Their common special case, the fluid with exponential steps, lets one correct
 * the other: X = cohort x mean field / plain mean field. Where the actors do not fit
 * the threads, chance matters the less the less steps vary, and its factor is raised to
 * the power cv. A handful of actors, and batches at their limit, are followed actor
 * count by actor count (greedy_small.c).
 */
#include "model/fast/steady.h"

#include <math.h>
#include <string.h>

#include "model/number.h"
#include "model/try.h"

/* Actors beyond doubt: so many more than threads and batch need are never missed. */
#define SURE_SPARE 2.5

/*
 * A limit of batches, (35): v over the lesser throughput, where it fades (in v), and
 * actors beyond the threads, in square roots of all, that halve v. The form
 * and its numbers are fits to simulations (docs/model.md "Fast solver").
 */
#define LIMIT_CHANCE 0.7
#define FAR_WIDTHS   8.0
#define QUEUE_CHANCE 3.0

/* Where flags are set, from simulations: docs/model.md "Where the fast solver is weak".
 */
#define LOYAL_FRAC                                                                     \
    0.05                 /* share of a batch's actors that stay behind: fewer keep it  \
                          */
#define ITEMS_FRAC   0.2 /* share of a batch's time that depends on its size */
#define FEW_ACTORS   12.0
#define FEW_IN_BATCH 3.0 /* observations in a mean batch */
#define LOW_CV       0.2
#define KINK_FRAC    0.25 /* forming time over the interval of the stages, less 1 */

/*
 * Fixed batches and their chance, fits to simulations of random networks (docs/model.md
 * "Fixed batches"): v over sd^2 and m over T_s^2; then the largest share that bunching
 * costs, the width of its peak in L / T_f, and the cv that halves it.
 */
#define CHANCE_FACTOR  0.8
#define CHANCE_SHARE   (1.0 / 16.0)
#define BUNCHING_LOSS  0.15
#define BUNCHING_WIDTH 0.22
#define BUNCHING_CV    0.27

static double service_s(const struct fulcrum_network *network)
{
    return fulcrum_batch_time(&network->host, 1.0) +
           fulcrum_batch_time(&network->gpu, 1.0);
}

void fulcrum_fast_forget(struct fulcrum_fast_room *room)
{
    memset(room->hints, 0, sizeof room->hints);
}

void fulcrum_steady_init(struct fulcrum_steady *steady,
    const struct fulcrum_network *network, struct fulcrum_fast_room *room)
{
    steady->network = *network;
    steady->room = room;
    steady->solved = 0;
    steady->fixed_factor = 0.0;
    struct fulcrum_network *own = &steady->network;
    /* Batches of exactly one are batches of at most one, which can be followed. */
    if (own->policy == FULCRUM_BATCH_FIXED && own->batch_size <= 1.0) {
        own->policy = FULCRUM_BATCH_GREEDY;
        if (!fulcrum_greedy_small_accepts(own)) {
            own->policy = FULCRUM_BATCH_FIXED;
        }
    }
    if (own->policy == FULCRUM_BATCH_GREEDY && own->batch_size >= own->actors) {
        own->batch_size = 0.0;
    }
    double all_s = own->step.mean_s + service_s(own) + own->delay_s;
    if (own->step.mean_s < FULCRUM_NO_TIME_FRAC * all_s) {
        own->step.mean_s = FULCRUM_NO_TIME_FRAC * all_s;
    }
    if (service_s(own) < FULCRUM_NO_TIME_FRAC * all_s && own->gpu.count == 0) {
        own->gpu.per_batch_s += FULCRUM_NO_TIME_FRAC * all_s;
    }
    fulcrum_cpu_drain_init(&steady->drain, &own->cpu, own->actors, own->step.mean_s);
}

static const struct fulcrum_step_table *table_of(const struct fulcrum_steady *steady)
{
    struct fulcrum_fast_room *room = steady->room;
    struct fulcrum_step_table *table = room->kept != NULL ? room->kept : &room->table;
    if (!fulcrum_step_table_fits(table, &steady->network.step)) {
        fulcrum_step_table_init(table, &steady->network.step);
    }
    return table;
}

/* Of the same solution of an earlier network, or of the solution before. */
static struct fulcrum_hints *next_hints(struct fulcrum_steady *steady)
{
    struct fulcrum_hints *all = steady->room->hints;
    size_t i = steady->solved < FULCRUM_HINTS ? steady->solved : FULCRUM_HINTS - 1;
    if (!all[i].is_set && i > 0) {
        all[i] = all[i - 1];
    }
    all[i].is_set = true;
    steady->solved++;
    return &all[i];
}

static void scale(struct fulcrum_cycle *cycle, double factor)
{
    cycle->steps_per_s *= factor;
    cycle->at_cpu *= factor;
    cycle->stepping *= factor;
    cycle->on_cores *= factor;
    cycle->at_gpu *= factor;
}

/*
 * Batches of unequal sizes that follow each other may be as stable as equal ones where
 * several are inside at a time and a larger one takes longer.
 */
static unsigned rhythm_flags(const struct fulcrum_network *network,
    const struct fulcrum_batch_service *pace, double batch, double stays_frac)
{
    struct fulcrum_batch_service least =
        fulcrum_batch_service_unhurried(network, 1.0, 1.0);
    struct fulcrum_batch_service usual =
        fulcrum_batch_service_unhurried(network, 1.0, batch);
    double items_frac =
        1.0 - (least.host_s + least.gpu_s) / (usual.host_s + usual.gpu_s);
    bool overlaps = network->depth > 1.0 && pace->host_s > 0.0;
    bool late = pace->latency_s > pace->interval_s;
    bool several = overlaps || (late && stays_frac < LOYAL_FRAC);
    unsigned flags =
        several && items_frac > ITEMS_FRAC ? (unsigned)FULCRUM_FLAG_MULTISTABLE : 0U;
    bool few = network->actors < FEW_ACTORS || batch < FEW_IN_BATCH;
    flags |= late && few ? (unsigned)FULCRUM_FLAG_FEW : 0U;
    return flags;
}

/*
 * Full batches as fast as the GPU takes them, or what `out` is without a limit. Where
 * the two are about equal, chance costs some of both: a hyperbola, narrower the more
 * actors there are, where they wait for threads, and where batches hold half of them.
 */
static void limit_batches(const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out)
{
    double size = network->batch_size;
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_of(network, gpu_stretch, size);
    double full = size / pace.interval_s;
    double free = out->steps_per_s;
    double actors = network->actors;
    double spare = fulcrum_max(0.0, actors - fulcrum_cpu_servers(&network->cpu));
    double mixed = fulcrum_max(0.0, 1.0 - 2.0 * size / actors);
    double width = LIMIT_CHANCE * fulcrum_min(free, full) * sqrt(mixed / actors) /
                   (1.0 + spare / (QUEUE_CHANCE * sqrt(actors)));
    width *= fulcrum_max(0.0, 1.0 - fabs(free - full) / (FAR_WIDTHS * width + 1e-300));
    double rate =
        0.5 * (free + full - sqrt((free - full) * (free - full) + width * width));
    scale(out, fulcrum_max(rate, 0.5 * fulcrum_min(free, full)) / free);
    out->batch = fulcrum_min(out->batch, size);
    if (full < free) {
        out->batch = size;
        out->at_gpu = rate * (pace.latency_s - network->delay_s - pace.host_s);
    }
}

/*
 * Are the threads busy all the time, beyond any doubt? Enough actors wait for one at
 * the end of each batch; and batches at their limit are served so much faster than
 * steps are done that those who wait for the GPU are never missed.
 */
static bool is_full(const struct fulcrum_steady *steady, double gpu_stretch,
    const struct fulcrum_greedy_batch *field)
{
    const struct fulcrum_network *network = &steady->network;
    double servers = fulcrum_cpu_servers(&network->cpu);
    double batch = field->cycle.batch;
    if (field->plain_least - servers <= 1.0 + FULCRUM_LIMIT_MARGIN * sqrt(batch)) {
        return false;
    }
    if (network->batch_size > 0.0) {
        double size = fulcrum_min(batch, network->batch_size);
        struct fulcrum_batch_service pace =
            fulcrum_batch_service_of(network, gpu_stretch, network->batch_size);
        double load = field->plain_steps_per_s * pace.interval_s / network->batch_size;
        return (network->actors - servers - size) * (1.0 - load) > SURE_SPARE;
    }
    return true;
}

/* Whether the actors were followed one by one, with the outcome in `status`. */
static bool followed(const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out, enum fulcrum_status *status, struct fulcrum_error *err)
{
    if (!fulcrum_greedy_small_accepts(network)) {
        return false;
    }
    *status = fulcrum_greedy_small_solve(network, gpu_stretch, out, err);
    return *status != FULCRUM_ERR_NO_FIT;
}

static enum fulcrum_status solve_greedy(struct fulcrum_steady *steady,
    double gpu_stretch, struct fulcrum_cycle *out, unsigned *flags,
    struct fulcrum_error *err)
{
    const struct fulcrum_network *network = &steady->network;
    struct fulcrum_hints *hints = next_hints(steady);
    struct fulcrum_greedy_batch field =
        fulcrum_greedy_batch_solve(network, &steady->drain, gpu_stretch, hints);
    double reach = field.cycle.batch + FULCRUM_LIMIT_MARGIN * sqrt(field.cycle.batch);
    bool limited = network->batch_size > 0.0 && reach > network->batch_size;
    bool full = network->actors > fulcrum_cpu_servers(&network->cpu) &&
                is_full(steady, gpu_stretch, &field);
    enum fulcrum_status status = FULCRUM_OK;
    if (!full && (limited || fulcrum_greedy_small_suits(network)) &&
        followed(network, gpu_stretch, out, &status, err)) {
        return status;
    }
    /* Nothing limits the batches. Where all threads are busy always, no law matters. */
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_of(network, gpu_stretch, field.cycle.batch);
    bool by_cohorts = fulcrum_greedy_batch_yields(&field, network);
    double servers = fulcrum_cpu_servers(&network->cpu);
    double cv = fulcrum_step_cv(&network->step);
    double chance = field.cycle.steps_per_s / field.plain_steps_per_s;
    double stays_frac = field.plain_least / field.cycle.batch;
    if (field.lawful && network->actors > servers && fabs(chance - 1.0) > 0.0) {
        chance = pow(chance, fulcrum_min(1.0, cv));
    }
    *out = field.cycle;
    if (by_cohorts) {
        struct fulcrum_cohort cohort = fulcrum_cohort_solve(
            network, table_of(steady), gpu_stretch, field.plain_batch, hints);
        *out = cohort.cycle;
        stays_frac = cohort.stays_frac;
        scale(out, chance);
        out->batch *= field.cycle.batch / field.plain_batch;
    } else {
        scale(out, field.plain_steps_per_s * chance / out->steps_per_s);
    }
    *flags |= rhythm_flags(network, &pace, field.cycle.batch, stays_frac);
    *flags |= by_cohorts && cv < LOW_CV ? (unsigned)FULCRUM_FLAG_LOW_CV : 0U;
    if (!full && limited) {
        limit_batches(network, gpu_stretch, out);
        *flags |= FULCRUM_FLAG_LIMIT_ROUGH;
    } else if (network->batch_size > 0.0) {
        out->batch = fulcrum_min(out->batch, network->batch_size);
    }
    return FULCRUM_OK;
}

/*
 * The cohort equation with what chance makes of its interval; returns the share that
 * bunching costs, which is not yet taken off.
 */
static double solve_cohorts(struct fulcrum_steady *steady, double gpu_stretch,
    struct fulcrum_cycle *out, unsigned *flags)
{
    const struct fulcrum_network *network = &steady->network;
    struct fulcrum_cohort cohort = fulcrum_cohort_solve(
        network, table_of(steady), gpu_stretch, 0.0, next_hints(steady));
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_unhurried(network, gpu_stretch, network->batch_size);
    *out = cohort.cycle;
    /*
     * Batches that form as fast as host and GPU take them wait for each other by
     * chance: a hyperbola between the two intervals, wider the more the forming time
     * varies.
     */
    double apart = cohort.interval_s - pace.interval_s;
    double sd = cohort.interval_sd_s;
    double chance = CHANCE_FACTOR * sd * sd;
    double most = CHANCE_SHARE * pace.interval_s * pace.interval_s;
    double width = chance * most / (chance + most + 1e-300);
    scale(out, cohort.interval_s / (0.5 * (cohort.interval_s + pace.interval_s +
                                              sqrt(apart * apart + width))));
    double servers = fulcrum_cpu_servers(&network->cpu);
    bool crowded =
        network->actors > servers && network->actors < FULCRUM_CROWDED_TURNS * servers;
    bool kink = fabs(cohort.interval_s / pace.interval_s - 1.0) < KINK_FRAC;
    bool low = fulcrum_step_cv(&network->step) < LOW_CV;
    *flags |= (crowded ? (unsigned)FULCRUM_FLAG_CROWDED : 0U) |
              (kink ? (unsigned)FULCRUM_FLAG_KINK : 0U) |
              (low ? (unsigned)FULCRUM_FLAG_LOW_CV : 0U);
    /*
     * Two halves of the actors that alternate keep out of each other's way in the
     * mean-field orbit. Real ones drift until they share the CPU for a part of the
     * time: a loss by as much as a fuller CPU slows each actor, where batches return
     * about when the next starts and steps vary too little to mix the halves. The form
     * is a guess, its three numbers are from simulations of random networks.
     */
    double latency_s = pace.latency_s;
    double actors = network->actors;
    double rest = actors - network->batch_size;
    if (rest < 1.0) {
        return 0.0;
    }
    double full = fulcrum_cpu_capacity(&network->cpu, actors) / actors;
    double free = fulcrum_cpu_capacity(&network->cpu, rest) / rest;
    double off = (latency_s / cohort.interval_s - 1.0) / BUNCHING_WIDTH;
    double mixing = fulcrum_step_cv(&network->step) / BUNCHING_CV;
    return BUNCHING_LOSS * fulcrum_max(0.0, 1.0 - full / free) * exp(-off * off) /
           (1.0 + pow(mixing, 6.0));
}

enum fulcrum_status fulcrum_steady_solve(struct fulcrum_steady *steady,
    double gpu_stretch, struct fulcrum_cycle *out, unsigned *flags,
    struct fulcrum_error *err)
{
    if (steady->network.actors <= 1.0) {
        /* One actor waits for nobody. */
        struct fulcrum_batch_service pace =
            fulcrum_batch_service_unhurried(&steady->network, gpu_stretch, 1.0);
        double step_s = steady->network.step.mean_s /
                        fulcrum_cpu_capacity(&steady->network.cpu, 1.0);
        double rate = 1.0 / (step_s + pace.latency_s);
        double share = rate * step_s;
        *out = (struct fulcrum_cycle){.batch = 1.0,
            .steps_per_s = rate,
            .at_cpu = share,
            .stepping = share,
            .on_cores = share,
            .at_gpu = rate * pace.gpu_s};
        return FULCRUM_OK;
    }
    if (steady->network.policy == FULCRUM_BATCH_FIXED) {
        /*
         * The renewal equation knows how the actors of a batch come in, which the
         * cohort equation only guesses; but it costs several times as much. So it is
         * solved once, and what a slower GPU does is left to the cohorts.
         */
        double loss = solve_cohorts(steady, gpu_stretch, out, flags);
        if (steady->fixed_factor <= 0.0) {
            struct fulcrum_cycle renewal;
            TRY(fulcrum_fixed_batch_solve(
                &steady->network, gpu_stretch, &renewal, err));
            steady->fixed_factor = renewal.steps_per_s / out->steps_per_s;
        }
        scale(out, steady->fixed_factor * (1.0 - loss));
        return FULCRUM_OK;
    }
    return solve_greedy(steady, gpu_stretch, out, flags, err);
}
