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
enum { ENDS = 4 };
static const double places[ENDS] = {-1.0, 1.0, -2.3, 2.3};
static const double shares[ENDS] = {0.43, 0.43, 0.07, 0.07};
static const double plain_share[1] = {1.0};

/* Relative error of roots: of the batch, and of the actors that are not delayed. */
#define TOLERANCE 1e-10
/* Of a standard deviation, a fit: threads that queue up hold their own number steadier
 * than a binomial does. */
#define QUEUE_SPREAD 0.5
/* Of a batch's surplus, what the next one has of it at most: 1 would never die out. */
#define MOST_ECHO 0.9

/* Of a mean step: the first panel of an integral over the cycle. */
#define FIRST_PANEL 1.0
/* Of a moment: just before the actors return who do then, by more than rounding. */
#define BEFORE   (1.0 - 1e-12)
#define NEVER    1e-12 /* chance to idle, below which the GPU does not */
#define LN_NEVER (-27.7)
#define SURELY   4.0 /* times that, for a rate before it is averaged over chance */

/* Mean step over the time of a batch: shorter ones are over when it ends, whatever
 * their law. */
#define NO_STEP_FRAC 1e-4

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
    size_t ends;           /* 1: the mean alone */
    double early[ENDS];    /* at the CPU when the batch starts */
    double rejoined[ENDS]; /* likewise `wait_s` later, with those who return then */
    double returning;      /* from an earlier batch */
    double wait_s;
    double idle_frac;
    double idle_s; /* of the GPU, per batch */
};

static const double *shares_of(const struct state *state)
{
    return state->ends > 1 ? shares : plain_share;
}

/* n + time c(n) = outside, within a piece; at its lower end where c jumps there. */
static double balance(
    const struct fulcrum_drain_piece *piece, double time, double outside)
{
    if (piece->low <= 0.0) {
        double linear = 1.0 + time * piece->rate;
        double square = 4.0 * time * piece->slope * outside;
        return 2.0 * outside /
               (linear + sqrt(fulcrum_max(0.0, linear * linear + square)));
    }
    double missing = outside - piece->low - time * piece->rate;
    double slope = 1.0 + time * piece->slope;
    return piece->low + (slope > 0.0 ? fulcrum_max(0.0, missing / slope) : 0.0);
}

/* Actors in a delay behind a batch of one: how many of `outside` are at the CPU. */
static double present(const struct problem *problem, double outside)
{
    const struct fulcrum_network *network = problem->network;
    if (network->delay_s <= 0.0 || outside <= 0.0) {
        return outside;
    }
    double delay = network->delay_s / network->step.mean_s;
    const struct fulcrum_drain_piece *piece = problem->drain->piece;
    size_t i = problem->drain->count - 1;
    while (i > 0 && piece[i].low + delay * piece[i].rate > outside) {
        i--;
    }
    double most = i + 1 < problem->drain->count ? piece[i + 1].low : outside;
    return fulcrum_min(most, balance(&piece[i], delay, outside));
}

/*
 * c(n) while nobody waits for the GPU: those in a delay come and go, each for himself,
 * so that the number at the CPU is binomial.
 *   enough  a rate from which on it does not matter
 */
static double idle_rate(const struct problem *problem, double outside, double enough)
{
    double n = present(problem, outside);
    double middle = fulcrum_cpu_drain_rate(problem->drain, n);
    if (!problem->smooths || problem->network->delay_s <= 0.0 || middle > enough) {
        return middle;
    }
    double sd = QUEUE_SPREAD * sqrt(n * fulcrum_max(0.0, 1.0 - n / outside));
    double rate = 0.0;
    for (int i = 0; i < ENDS; i++) {
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

/*
 * Batches that are still inside when the next one starts are absent from the CPU; the
 * actors of one of them return during the cycle. Returns those who are there when a
 * batch starts.
 */
static double find_returning(const struct problem *problem, struct state *state)
{
    const struct fulcrum_batch_service *pace = &state->pace;
    double length_s = pace->interval_s + state->idle_s;
    double late_s = pace->latency_s - pace->interval_s;
    double outside = problem->network->actors - state->batch;
    double absent = 0.0;
    if (late_s > 0.0) {
        double whole = floor(late_s / length_s);
        state->returning = state->batch * (1.0 - state->idle_frac);
        state->wait_s = fulcrum_min(pace->interval_s, late_s - whole * length_s);
        absent = state->returning * (whole + 1.0);
    }
    double early = outside - absent;
    if (state->idle_frac > 0.0) {
        early -= state->idle_frac * (outside - present(problem, outside));
    }
    state->returning = fulcrum_max(0.0, state->returning + fulcrum_min(0.0, early));
    return fulcrum_max(0.0, early);
}

static void set_state(const struct problem *problem, double batch, struct state *state)
{
    const struct fulcrum_network *network = problem->network;
    *state = (struct state){.batch = batch,
        .pace = fulcrum_batch_service_of(network, problem->gpu_stretch, batch),
        .ends = problem->smooths ? ENDS : 1};
    if (problem->idles) {
        double batch_means = state->pace.interval_s / network->step.mean_s;
        double rate = idle_rate(
            problem, network->actors - state->batch, -SURELY * LN_NEVER / batch_means);
        double nobody = -rate * batch_means;
        state->idle_frac = nobody > LN_NEVER ? exp(nobody) : 0.0;
        if (state->idle_frac > NEVER) {
            state->idle_s =
                state->idle_frac * network->step.mean_s /
                fulcrum_max(1e-300, idle_rate(problem, network->actors, INFINITY));
        }
    }
    double early = find_returning(problem, state);
    state->early[0] = early;
    if (problem->smooths) {
        double most = fulcrum_min(early, state->batch);
        double sd = spread(problem, state);
        for (size_t i = 0; i < ENDS; i++) {
            double reach = places[i] * sd;
            state->early[i] = early + fulcrum_min(most, fulcrum_max(-most, reach));
        }
    }
    if (state->returning > 0.0) {
        fulcrum_cpu_drain_left(
            problem->drain, state->early, state->ends, state->wait_s, state->rejoined);
        for (size_t i = 0; i < state->ends; i++) {
            state->rejoined[i] += state->returning;
        }
    }
}

/* Actors at the CPU time_s after the start of a batch, from each of its ends. */
static void find_left(const struct problem *problem, const struct state *state,
    double time_s, double left[ENDS])
{
    bool rejoined = state->returning > 0.0 && time_s >= state->wait_s;
    fulcrum_cpu_drain_left(problem->drain, rejoined ? state->rejoined : state->early,
        state->ends, rejoined ? time_s - state->wait_s : time_s, left);
}

/* What starts less what finished: rises with the batch size. */
static double gap(const struct problem *problem, const struct state *state)
{
    const double *share = shares_of(state);
    double left[ENDS] = {0.0};
    double done = 0.0;
    find_left(problem, state, state->pace.interval_s, left);
    for (size_t i = 0; i < state->ends; i++) {
        done += share[i] * (state->early[i] + state->returning - left[i]);
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

/* The hint is a factor of `scale`; without one the search begins at `guess`. */
static void solve(const struct problem *problem, double scale, double guess,
    struct fulcrum_hint *hint, struct state *state)
{
    double actors = problem->network->actors;
    double first = hint->count > 0 ? fulcrum_hint_next(hint) * scale : guess;
    struct fulcrum_root root = {.high = actors,
        .x = fulcrum_min(first, 0.999 * actors),
        .slope = hint->count > 0 ? hint->slope : 1.0,
        .tolerance_rel = TOLERANCE};
    do {
        set_state(problem, root.x, state);
    } while (fulcrum_root_next(&root, gap(problem, state)));
    fulcrum_hint_set(hint, root.next / scale, root.slope);
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

/* At a moment of the cycle, for a share of it. */
static void add_moment(const struct problem *problem, const struct state *state,
    const double left[ENDS], double share, struct fulcrum_cycle *cycle)
{
    const double *of_ends = shares_of(state);
    for (size_t i = 0; i < state->ends; i++) {
        add_actors(problem, left[i], of_ends[i] * share, cycle);
    }
}

/* Whether all who are left are within the lowest piece, where there are cores for all.
 */
static bool are_few(
    const struct problem *problem, const struct state *state, const double left[ENDS])
{
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    double most = 0.0;
    for (size_t i = 0; i < state->ends; i++) {
        most = fulcrum_max(most, left[i]);
    }
    return problem->drain->count > 1 && most <= problem->drain->piece[1].low &&
           most * cpu->thread_count <= cpu->core_count * fulcrum_cpu_servers(cpu);
}

/*
 * Between two moments; nobody returns meanwhile. In closed form where few are left,
 * else by Simpson's rule on panels that double, as what is left decays.
 */
static void add_span(const struct problem *problem, const struct state *state,
    double from_s, double to_s, struct fulcrum_cycle *cycle)
{
    double length_s = state->pace.interval_s + state->idle_s;
    double panel_s = FIRST_PANEL * problem->network->step.mean_s;
    double left[ENDS] = {0.0};
    if (from_s < to_s) {
        find_left(problem, state, from_s, left);
    }
    while (from_s < to_s) {
        if (are_few(problem, state, left)) {
            double time_s = to_s - from_s;
            for (size_t i = 0; i < state->ends; i++) {
                left[i] =
                    fulcrum_cpu_drain_area(problem->drain, left[i], time_s) / time_s;
            }
            add_moment(problem, state, left, time_s / length_s, cycle);
            return;
        }
        double width_s = to_s - from_s;
        width_s = width_s < 1.5 * panel_s ? width_s : panel_s;
        double sixth = width_s / length_s / 6.0;
        add_moment(problem, state, left, sixth, cycle);
        find_left(problem, state, from_s + 0.5 * width_s, left);
        add_moment(problem, state, left, 4.0 * sixth, cycle);
        from_s += width_s;
        find_left(problem, state, fulcrum_min(from_s, to_s * BEFORE), left);
        add_moment(problem, state, left, sixth, cycle);
        panel_s *= 2.0;
    }
}

static void add_means(const struct problem *problem, const struct state *state,
    struct fulcrum_cycle *cycle)
{
    double busy_s = state->pace.interval_s;
    double wait_s = state->returning > 0.0 ? fulcrum_min(busy_s, state->wait_s) : 0.0;
    add_span(problem, state, 0.0, wait_s, cycle);
    add_span(problem, state, wait_s, busy_s, cycle);
    double n = present(problem, problem->network->actors);
    add_actors(problem, n, state->idle_s / (busy_s + state->idle_s), cycle);
}

/* Is c(n) not a line over all numbers of actors that the cycle may well see? */
static bool is_kinked(const struct problem *problem, const struct state *plain)
{
    const struct fulcrum_network *network = problem->network;
    bool comes_and_goes =
        network->delay_s > 0.0 && network->actors > fulcrum_cpu_servers(&network->cpu);
    if (comes_and_goes && plain->idle_frac > NEVER) {
        return true;
    }
    double echo = comes_and_goes ? MOST_ECHO : 0.0;
    double reach = places[ENDS - 1] * sqrt(plain->batch / (1.0 - echo * echo));
    double most = fulcrum_min(
        problem->network->actors, plain->early[0] + plain->returning + reach);
    const struct fulcrum_drain_piece *piece = problem->drain->piece;
    size_t last = problem->drain->count - 1;
    if (last > 0 && most <= piece[1].low && !(piece[0].slope < 0.0)) {
        return false;
    }
    double early = fulcrum_max(0.0, plain->early[0] - reach);
    double least = 0.0;
    fulcrum_cpu_drain_left(problem->drain, &early, 1, plain->pace.interval_s, &least);
    return least <= piece[last].low;
}

bool fulcrum_greedy_batch_yields(
    const struct fulcrum_greedy_batch *field, const struct fulcrum_network *network)
{
    return field->lawful && field->plain_least < fulcrum_cpu_servers(&network->cpu);
}

struct fulcrum_greedy_batch fulcrum_greedy_batch_solve(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain,
    double gpu_stretch, struct fulcrum_hints *hints)
{
    double least_s = fulcrum_batch_service_of(network, gpu_stretch, 1.0).interval_s;
    struct problem problem = {network, drain, gpu_stretch, least_s, 0, 1};
    struct problem plain = {network, drain, gpu_stretch, least_s, 0, 0};
    struct state fluid;
    struct state smooth;
    struct state tireless;
    const struct state *state = &fluid;
    const struct state *never_idle = &fluid;
    double left[ENDS] = {0.0};
    double guess = hints->fluid.count > 0 ? 0.0 : first_guess(&problem);
    solve(&problem, network->actors, guess, &hints->fluid, &fluid);
    if (is_kinked(&problem, &fluid)) {
        problem.smooths = 1;
        solve(&problem, fluid.batch, fluid.batch, &hints->smooth, &smooth);
        state = &smooth;
    }
    if (fluid.idle_frac > NEVER) {
        solve(&plain, fluid.batch, fluid.batch, &hints->tireless, &tireless);
        never_idle = &tireless;
    }
    double interval_s = state->pace.interval_s;
    struct fulcrum_greedy_batch out = {.idle_frac = state->idle_frac,
        .plain_batch = never_idle->batch,
        .plain_steps_per_s = never_idle->batch / never_idle->pace.interval_s};
    find_left(&plain, never_idle, never_idle->pace.interval_s, left);
    out.plain_least = left[0];
    out.lawful = network->step.law != FULCRUM_LAW_EXPONENTIAL &&
                 network->step.mean_s > NO_STEP_FRAC * interval_s;
    out.cycle.batch = state->batch;
    out.cycle.steps_per_s = state->batch / (interval_s + state->idle_s);
    if (!fulcrum_greedy_batch_yields(&out, network)) {
        double latency_s =
            state->pace.latency_s - network->delay_s - state->pace.host_s;
        out.cycle.at_gpu = out.cycle.steps_per_s * fulcrum_max(0.0, latency_s);
        add_means(&problem, state, &out.cycle);
    }
    return out;
}
