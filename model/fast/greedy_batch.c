/* greedy_batch.c - greedy batches by the embedded mean-field equation (9). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One unknown, the batch size b: what starts must be what finished during the batch
 * before. Two equations of this form are solved. The plain one follows a fluid of
 * actors. The other averages the fluid over some sqrt(b) actors more or fewer, because
 * the real number fluctuates and c(n) has kinks (where none is near it saves the work),
 * and adds the chance that nobody finishes during a batch, in which case the GPU waits
 * for the next actor. The ratio of the two
 * is what chance does to a network, and corrects other fluid solutions as well
 * (model/fast/fast.c).
 */

#include "model/fast/steady.h"

#include <math.h>
#include <stdbool.h>

#include "model/cpu_curve.h"
#include "model/fast/steps.h"
#include "model/network/network.h"
#include "model/number.h"

/* The fluid is averaged over these many times sqrt(b) more or fewer actors. */
enum { MIDDLE = 0, ENDS = 5 };
static const double places[ENDS] = {0.0, -1.0, 1.0, -2.3, 2.3};
static const double shares[ENDS] = {0.0, 0.43, 0.43, 0.07, 0.07};
static const double plain_shares[ENDS] = {1.0};

/* Relative error of roots: of the batch, and of the actors that are not delayed. */
#define TOLERANCE 1e-8
/* Of a standard deviation, a fit: threads that queue up hold their own number steadier
 * than a binomial does. */
#define QUEUE_SPREAD 0.5
/* Of a batch's surplus, what the next one has of it at most: 1 would never die out. */
#define MOST_ECHO 0.9

/* Of a mean step: the first panel of an integral over the cycle. */
#define FIRST_PANEL 1.0
/* Of a moment: just before the actors return who do then, by more than rounding. */
#define BEFORE (1.0 - 1e-12)
#define NEVER  1e-12 /* chance to idle, below which the GPU does not */

struct problem {
    const struct fulcrum_network *network;
    const struct fulcrum_cpu_drain *drain;
    double gpu_stretch;
    double least_s; /* a batch of one */
    bool smooths;
    bool idles; /* 0 in the plain equation */
};

/* A batch size, and what follows from it. */
struct state {
    double batch;
    struct fulcrum_batch_service pace;
    double early[ENDS]; /* at the CPU when the batch starts */
    double returning;   /* arrive there `wait_s` later, from an earlier batch */
    double wait_s;
    double idle_frac;
    double idle_s; /* of the GPU, per batch */
};

/* Actors in a delay behind a batch of one: how many of `outside` are at the CPU. */
static double present(const struct problem *problem, double outside)
{
    const struct fulcrum_network *network = problem->network;
    if (network->delay_s <= 0.0 || outside <= 0.0) {
        return outside;
    }
    double delay = network->delay_s / network->step.mean_s;
    struct fulcrum_root root = {.high = outside,
        .x = outside / (1.0 + delay),
        .slope = 1.0 + delay,
        .tolerance_rel = TOLERANCE};
    while (fulcrum_root_next(&root,
        root.x + delay * fulcrum_cpu_drain_rate(problem->drain, root.x) - outside)) {
    }
    return root.x;
}

/*
 * c(n) while nobody waits for the GPU: those in a delay come and go, each for himself,
 * so that the number at the CPU is binomial.
 */
static double idle_rate(const struct problem *problem, double outside)
{
    double n = present(problem, outside);
    if (!problem->smooths || problem->network->delay_s <= 0.0) {
        return fulcrum_cpu_drain_rate(problem->drain, n);
    }
    double sd = QUEUE_SPREAD * sqrt(n * fulcrum_max(0.0, 1.0 - n / outside));
    double rate = 0.0;
    for (int i = 1; i < ENDS; i++) {
        double side = fulcrum_min(outside, fulcrum_max(0.0, n + places[i] * sd));
        rate += shares[i] * fulcrum_cpu_drain_rate(problem->drain, side);
    }
    return rate;
}

/*
 * How much a batch differs from the next. Those who finish do so each for himself; and
 * a larger batch takes longer, so that a larger one follows it.
 */
static double spread(const struct problem *problem, const struct state *state)
{
    double rate = fulcrum_cpu_drain_rate(
                      problem->drain, problem->network->actors - state->batch) /
                  problem->network->step.mean_s;
    double items_s = state->pace.interval_s - problem->least_s;
    double echo =
        fulcrum_min(MOST_ECHO, rate * items_s / fulcrum_max(1.0, state->batch));
    return sqrt(state->batch / (1.0 - echo * echo));
}

static struct state state_of(const struct problem *problem, double batch)
{
    struct state state = {.batch = batch,
        .pace =
            fulcrum_batch_service_of(problem->network, problem->gpu_stretch, batch)};
    if (problem->idles) {
        const struct fulcrum_network *network = problem->network;
        double rate = idle_rate(problem, network->actors - state.batch);
        double busy_s = state.pace.interval_s;
        state.idle_frac = exp(-rate * busy_s / network->step.mean_s);
        if (state.idle_frac > NEVER) {
            state.idle_s = state.idle_frac * network->step.mean_s /
                           fulcrum_max(1e-300, idle_rate(problem, network->actors));
        }
    }
    /*
     * Batches that are still inside when the next one starts are absent from the CPU;
     * the actors of one of them return during the cycle.
     */
    const struct fulcrum_batch_service *pace = &state.pace;
    double length_s = pace->interval_s + state.idle_s;
    double late_s = pace->latency_s - pace->interval_s;
    double absent = 0.0;
    double returning = 0.0;
    if (late_s > 0.0) {
        double whole = floor(late_s / length_s);
        returning = state.batch * (1.0 - state.idle_frac);
        state.wait_s = fulcrum_min(pace->interval_s, late_s - whole * length_s);
        absent = returning * (whole + 1.0);
    }
    double early = problem->network->actors - state.batch - absent;
    if (state.idle_frac > 0.0) {
        double outside = problem->network->actors - state.batch;
        early -= state.idle_frac * (outside - present(problem, outside));
    }
    returning = fulcrum_max(0.0, returning + fulcrum_min(0.0, early));
    early = fulcrum_max(0.0, early);
    state.early[MIDDLE] = early;
    double most = fulcrum_min(early, state.batch);
    double sd = problem->smooths ? spread(problem, &state) : 0.0;
    for (int i = 1; i < ENDS && problem->smooths; i++) {
        double reach = places[i] * sd;
        state.early[i] = early + fulcrum_min(most, fulcrum_max(-most, reach));
    }
    state.returning = returning;
    return state;
}

/* Actors at the CPU time_s after the start of a batch, from one of its ends. */
static double left_after(
    const struct problem *problem, const struct state *state, int end, double time_s)
{
    double early = state->early[end];
    if (state->returning <= 0.0 || time_s < state->wait_s) {
        return fulcrum_cpu_drain_left(problem->drain, early, time_s);
    }
    early = fulcrum_cpu_drain_left(problem->drain, early, state->wait_s);
    return fulcrum_cpu_drain_left(
        problem->drain, early + state->returning, time_s - state->wait_s);
}

/* What starts less what finished: rises with the batch size. */
static double gap(const struct problem *problem, const struct state *state)
{
    const double *share = problem->smooths ? shares : plain_shares;
    double done = 0.0;
    for (int i = 0; i < ENDS; i++) {
        if (share[i] > 0.0) {
            double left = left_after(problem, state, i, state->pace.interval_s);
            done += share[i] * (state->early[i] + state->returning - left);
        }
    }
    return state->batch - done - state->idle_frac;
}

/* Steps that start at once, never wait and never idle the GPU. */
static double first_guess(const struct problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    double actors = network->actors;
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_of(network, problem->gpu_stretch, actors / 3.0);
    double done = -expm1(-pace.interval_s / network->step.mean_s);
    double free = actors * done / (1.0 + done);
    double full = fulcrum_cpu_drain_rate(problem->drain, actors) * pace.interval_s /
                  network->step.mean_s;
    return fulcrum_max(1e-3, fulcrum_min(free, full));
}

static struct state solve(const struct problem *problem, double guess)
{
    double actors = problem->network->actors;
    struct fulcrum_root root = {.high = actors,
        .x = fulcrum_min(guess, 0.999 * actors),
        .slope = 1.0,
        .tolerance_rel = TOLERANCE};
    struct state state;
    do {
        state = state_of(problem, root.x);
    } while (fulcrum_root_next(&root, gap(problem, &state)));
    return state;
}

/* For some time, as a share of the cycle, that many actors are at the CPU. */
static void add_actors(
    const struct problem *problem, double n, double share, struct fulcrum_cycle *cycle)
{
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    double servers = fulcrum_cpu_servers(cpu);
    double cores = cpu->core_count * servers / cpu->thread_count;
    cycle->at_cpu += share * n;
    cycle->stepping += share * fulcrum_min(n, servers);
    cycle->on_cores += share * fulcrum_min(n, cores);
}

/* A part of the cycle in which nobody returns, from one of the ends. */
struct span {
    int end;
    double from_s;
    double to_s;
    double share_per_s;
};

/* Simpson's rule on panels that double, as what is left decays. */
static void add_span(const struct problem *problem, const struct state *state,
    const struct span *span, struct fulcrum_cycle *cycle)
{
    static const double weight[] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
    double panel_s = FIRST_PANEL * problem->network->step.mean_s;
    double from_s = span->from_s;
    while (from_s < span->to_s) {
        double width_s = span->to_s - from_s;
        width_s = width_s < 1.5 * panel_s ? width_s : panel_s;
        for (int k = 0; k < 3; k++) {
            double time_s =
                fulcrum_min(from_s + 0.5 * (double)k * width_s, span->to_s * BEFORE);
            double n = left_after(problem, state, span->end, time_s);
            add_actors(problem, n, weight[k] * width_s * span->share_per_s, cycle);
        }
        from_s += width_s;
        panel_s *= 2.0;
    }
}

static void add_means(const struct problem *problem, const struct state *state,
    struct fulcrum_cycle *cycle)
{
    const double *share = problem->smooths ? shares : plain_shares;
    double busy_s = state->pace.interval_s;
    double length_s = busy_s + state->idle_s;
    double wait_s = state->returning > 0.0 ? fulcrum_min(busy_s, state->wait_s) : 0.0;
    for (int i = 0; i < ENDS; i++) {
        if (share[i] > 0.0) {
            struct span before = {i, 0.0, wait_s, share[i] / length_s};
            struct span after = {i, wait_s, busy_s, share[i] / length_s};
            add_span(problem, state, &before, cycle);
            add_span(problem, state, &after, cycle);
        }
    }
    double n = present(problem, problem->network->actors);
    add_actors(problem, n, state->idle_s / length_s, cycle);
}

/* Is c(n) not a line over all numbers of actors that the cycle may well see? */
static bool is_kinked(const struct problem *problem, const struct state *plain)
{
    const struct fulcrum_network *network = problem->network;
    if (network->delay_s > 0.0 &&
        network->actors > fulcrum_cpu_servers(&network->cpu)) {
        return true;
    }
    double reach = places[ENDS - 1] * sqrt(plain->batch);
    double most = fulcrum_min(
        problem->network->actors, plain->early[MIDDLE] + plain->returning + reach);
    const struct fulcrum_drain_piece *piece = problem->drain->piece;
    size_t last = problem->drain->count - 1;
    if (last > 0 && most <= piece[1].low && !(piece[0].slope < 0.0)) {
        return false;
    }
    double early = fulcrum_max(0.0, plain->early[MIDDLE] - reach);
    double least =
        fulcrum_cpu_drain_left(problem->drain, early, plain->pace.interval_s);
    return least <= piece[last].low;
}

struct fulcrum_greedy_batch fulcrum_greedy_batch_solve(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain,
    double gpu_stretch)
{
    double least_s = fulcrum_batch_service_of(network, gpu_stretch, 1.0).interval_s;
    struct problem problem = {network, drain, gpu_stretch, least_s, 0, 1};
    struct state fluid = solve(&problem, first_guess(&problem));
    struct state state = fluid;
    if (is_kinked(&problem, &fluid)) {
        problem.smooths = 1;
        state = solve(&problem, fluid.batch);
    }
    struct problem plain = {network, drain, gpu_stretch, least_s, 0, 0};
    if (fluid.idle_frac > NEVER) {
        fluid = solve(&plain, fluid.batch);
    }
    struct fulcrum_greedy_batch out = {.idle_frac = state.idle_frac,
        .plain_batch = fluid.batch,
        .plain_steps_per_s = fluid.batch / fluid.pace.interval_s,
        .plain_least = left_after(&plain, &fluid, MIDDLE, fluid.pace.interval_s)};
    double length_s = state.pace.interval_s + state.idle_s;
    out.cycle.batch = state.batch;
    out.cycle.steps_per_s = state.batch / length_s;
    out.cycle.at_gpu =
        out.cycle.steps_per_s *
        fulcrum_max(0.0, state.pace.latency_s - network->delay_s - state.pace.host_s);
    add_means(&problem, &state, &out.cycle);
    return out;
}
