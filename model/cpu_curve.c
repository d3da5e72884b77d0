/* cpu_curve.c - how much work n runnable actors get done on the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * c(n) is the work that n runnable actors get done in a second, in units of one actor
 * alone. Three forms: cores, second threads and turbo in straight pieces (2); a soft
 * ceiling that memory and locks pull down (20), (21); and a measured table. None looks
 * at which actor runs where. docs/model.md "CPU station" and "CPU curve" give the
 * sources.
 */
#include "model/cpu_curve.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "model/number.h"
#include "model/status.h"

/* P_a of (1): the cores left when the learner's threads are spread over all. */
static double actor_cores(const struct fulcrum_cpu_station *cpu)
{
    return cpu->core_count * (1.0 - cpu->reserved_threads / cpu->thread_count);
}

double fulcrum_cpu_whole_servers(const struct fulcrum_cpu_station *cpu)
{
    return fulcrum_max(1.0, round(fulcrum_cpu_servers(cpu)));
}

/* Full cores first, then the second threads of each, which add y. */
static double filled_cores(const struct fulcrum_cpu_station *cpu, double n)
{
    double cores = actor_cores(cpu);
    double running = fulcrum_min(n, fulcrum_cpu_servers(cpu));
    return fulcrum_min(running, cores) +
           cpu->smt_yield_frac * fulcrum_max(0.0, running - cores);
}

/* Equation (2). */
static double smt_turbo(const struct fulcrum_cpu_station *cpu, double n)
{
    double rate = filled_cores(cpu, n);
    if (n > fulcrum_cpu_servers(cpu)) {
        rate /= 1.0 + cpu->oversubscription_frac;
    }
    double active = fulcrum_min(1.0, (n + cpu->reserved_threads) / cpu->core_count);
    return rate * (1.0 + cpu->turbo_frac * (1.0 - active));
}

/*
 * a(n) of (21). In lockstep every step waits for the threads that share a core, so
 * that past P_a all of them run at the rate of a shared one.
 */
static double unsaturated(const struct fulcrum_cpu_station *cpu, double n)
{
    double servers = fulcrum_cpu_servers(cpu);
    if (cpu->curve == FULCRUM_CURVE_SATURATING || n <= actor_cores(cpu)) {
        return filled_cores(cpu, n);
    }
    return fulcrum_min(n, servers) * filled_cores(cpu, servers) / servers;
}

/* The bracket of (20), without nu. */
static double knee(const struct fulcrum_cpu_station *cpu, double n)
{
    double p = cpu->knee;
    double cap = cpu->cap_per_core * actor_cores(cpu);
    double sum = pow(unsaturated(cpu, n), -p) + pow(cap, -p) + pow(cpu->serial_frac, p);
    return pow(sum, -1.0 / p);
}

/*
 * (20). Threads that leave the first socket slow all down to nu, but never below what
 * the first socket did alone: a few threads past the border do not cost a whole socket.
 */
static double saturating(const struct fulcrum_cpu_station *cpu, double n)
{
    double alone = knee(cpu, 1.0);
    double rate = knee(cpu, n) / alone;
    double socket = fulcrum_max(1.0, cpu->core_count / 2.0);
    if (fulcrum_min(n, fulcrum_cpu_servers(cpu)) <= socket) {
        return rate;
    }
    double one_socket = knee(cpu, socket) / alone;
    return fulcrum_max(rate * cpu->cross_socket_frac, fulcrum_min(rate, one_socket));
}

/* Linear between counts, held beyond the last one. */
static double table_entry(const struct fulcrum_cpu_station *cpu, double n)
{
    if (n >= (double)cpu->capacity_count) {
        return cpu->capacity[cpu->capacity_count - 1];
    }
    size_t whole = (size_t)n;
    double below = whole > 0 ? cpu->capacity[whole - 1] : 0.0;
    return below + (n - (double)whole) * (cpu->capacity[whole] - below);
}

/*
 * The table holds for all threads. Where the learner keeps some, more actors than
 * servers do what fills the servers, less what the same crowding costs a whole CPU. All
 * who take turns crowd it, also while some wait elsewhere: between two steps of one,
 * each of the others makes about one and takes its place in the caches.
 */
static double tabulated(const struct fulcrum_cpu_station *cpu, double n)
{
    double servers = fulcrum_cpu_servers(cpu);
    bool is_turns = cpu->crowd_count > 0.0;
    double crowd = is_turns ? cpu->crowd_count : n;
    if (crowd <= servers || !(is_turns || cpu->reserved_threads > 0.0)) {
        return table_entry(cpu, n);
    }
    double full = table_entry(cpu, cpu->thread_count);
    double crowded = table_entry(cpu, crowd * cpu->thread_count / servers);
    return table_entry(cpu, fulcrum_min(n, servers)) * fulcrum_min(1.0, crowded / full);
}

double fulcrum_cpu_capacity(const struct fulcrum_cpu_station *cpu, double n)
{
    assert(n >= 0.0);
    if (n <= 0.0) {
        return 0.0;
    }
    switch (cpu->curve) {
    case FULCRUM_CURVE_SATURATING:
    case FULCRUM_CURVE_SATURATING_SYNC:
        return saturating(cpu, n);
    case FULCRUM_CURVE_TABLE:
        return tabulated(cpu, n);
    case FULCRUM_CURVE_SMT_TURBO:
    default:
        return smt_turbo(cpu, n);
    }
}

const char *fulcrum_cpu_curve_name(int curve)
{
    static const char *const names[] = {
        "smt_turbo", "saturating", "saturating_sync", "table"};
    return FULCRUM_NAMED(names, curve);
}

/*
 * How fast a CPU works off actors that do not come back. Solves dn/dt = -c(n) / t_e,
 * the part D(m, t) of equation (9) in docs/model.md "Mean-field equation". c is cut
 * into a few pieces, on each of which n is an elementary function of time: the lowest
 * piece is a parabola through 0, which is what turbo makes of c and which n follows as
 * a logistic curve; the others are lines, on which n is an exponential. Few pieces, and
 * times only for those that are crossed, because this is evaluated some ten times per
 * design point.
 */

/* Change of c over a piece, relative to c, below which it counts as level: the closed
 * forms for a slope would divide by rounding. */
#define LEVEL 1e-7

/* Factor to just above a number, beyond rounding: a piece begins where c jumps. */
#define BEYOND (1.0 + 1e-12)

/* Seconds, in units of the mean step, to drain from `high` to `low` within a piece. */
static double piece_time(
    const struct fulcrum_drain_piece *piece, double high, double low)
{
    if (piece->low <= 0.0) {
        double bend = -piece->slope;
        double rate = piece->rate;
        return log(high * (rate - bend * low) / (low * (rate - bend * high))) / rate;
    }
    double rate_low = piece->rate + piece->slope * (low - piece->low);
    double rise = piece->slope * (high - low);
    if (fabs(rise) <= LEVEL * rate_low) {
        return (high - low) / rate_low;
    }
    return log1p(rise / rate_low) / piece->slope;
}

/* What a piece does in some time to all who stay within it: numbers share it. */
struct decay {
    const struct fulcrum_drain_piece *piece;
    double time;
    double
        value; /* exp(-rate time) of the lowest piece, expm1(-slope time) of others */
};

static double decay_of(
    struct decay *decay, const struct fulcrum_drain_piece *piece, double time)
{
    bool is_known = decay->piece == piece && !(fabs(decay->time - time) > 0.0);
    if (!is_known) {
        double value =
            piece->low <= 0.0 ? exp(-piece->rate * time) : expm1(-piece->slope * time);
        *decay = (struct decay){piece, time, value};
    }
    return decay->value;
}

/* What is left of `high` after `time` within a piece. */
static double piece_left(const struct fulcrum_drain_piece *piece, double high,
    double time, struct decay *decay)
{
    if (piece->low <= 0.0) {
        double bend = -piece->slope;
        double kept = decay_of(decay, piece, time);
        return high * kept / (1.0 - bend * high / piece->rate * (1.0 - kept));
    }
    double rate = piece->rate + piece->slope * (high - piece->low);
    if (fabs(piece->slope * time) <= LEVEL) {
        return high - rate * time;
    }
    return high + rate / piece->slope * decay_of(decay, piece, time);
}

static void add_piece(
    struct fulcrum_cpu_drain *drain, double low, double rate, double slope)
{
    drain->piece[drain->count++] =
        (struct fulcrum_drain_piece){low, rate, slope, (double)INFINITY};
}

/* A line between the limits of c within [low, high]. */
static void add_line(struct fulcrum_cpu_drain *drain,
    const struct fulcrum_cpu_station *cpu, double low, double high)
{
    if (high > low) {
        double from = fulcrum_cpu_capacity(cpu, low * BEYOND);
        add_piece(
            drain, low, from, (fulcrum_cpu_capacity(cpu, high) - from) / (high - low));
    }
}

/* Cores or a socket that fill up end a piece. */
static double before_kink(
    const struct fulcrum_cpu_station *cpu, double low, double high)
{
    const double kinks[] = {0.5 * cpu->core_count,
        cpu->core_count * fulcrum_cpu_servers(cpu) / cpu->thread_count};
    for (size_t i = 0; i < sizeof kinks / sizeof kinks[0]; i++) {
        high = kinks[i] > low ? fulcrum_min(kinks[i], high) : high;
    }
    return high;
}

void fulcrum_cpu_drain_init(struct fulcrum_cpu_drain *drain,
    const struct fulcrum_cpu_station *cpu, double actors, double step_mean_s)
{
    drain->step_mean_s = step_mean_s;
    drain->count = 0;
    if (cpu->curve == FULCRUM_CURVE_SMT_TURBO) {
        /* Cores free for turbo, cores free, threads free, threads full. */
        double servers = fulcrum_cpu_servers(cpu);
        double cores = cpu->core_count * servers / cpu->thread_count;
        double boosted = fulcrum_min(
            cores, fulcrum_max(0.0, cpu->core_count - cpu->reserved_threads));
        double bend = cpu->turbo_frac / cpu->core_count;
        double top =
            1.0 + cpu->turbo_frac *
                      fulcrum_max(0.0, 1.0 - cpu->reserved_threads / cpu->core_count);
        bool has_turbo = boosted > 0.0 && cpu->turbo_frac > 0.0;
        boosted = has_turbo ? boosted : cores;
        add_piece(drain, 0.0, has_turbo ? top : 1.0, has_turbo ? -bend : 0.0);
        add_line(drain, cpu, boosted, cores);
        add_line(drain, cpu, cores, servers);
        double full = cores + cpu->smt_yield_frac * (servers - cores);
        add_piece(drain, servers, full / (1.0 + cpu->oversubscription_frac), 0.0);
    } else {
        /* Every actor while they are few, then in steps of a constant factor. */
        double end = fulcrum_cpu_servers(cpu);
        if (cpu->curve == FULCRUM_CURVE_TABLE) {
            end = fulcrum_max(end, (double)cpu->capacity_count);
        }
        end = fulcrum_max(2.0, fulcrum_min(end, actors));
        double factor = pow(end, 1.0 / (FULCRUM_DRAIN_PIECES - 5.0));
        double low = 1.0;
        add_piece(drain, 0.0, fulcrum_cpu_capacity(cpu, 1.0), 0.0);
        while (low < end && drain->count < FULCRUM_DRAIN_PIECES - 1) {
            double high =
                fulcrum_min(end, fulcrum_max(floor(low) + 1.0, round(low * factor)));
            high = before_kink(cpu, low, high);
            add_line(drain, cpu, low, high);
            low = high;
        }
        add_piece(drain, low, fulcrum_cpu_capacity(cpu, end + 1.0), 0.0);
    }
    for (size_t i = 1; i + 1 < drain->count; i++) {
        struct fulcrum_drain_piece *piece = &drain->piece[i];
        piece->span_s = piece_time(piece, drain->piece[i + 1].low, piece->low);
    }
}

static size_t piece_of(const struct fulcrum_cpu_drain *drain, double n)
{
    size_t i = drain->count - 1;
    while (i > 0 && drain->piece[i].low >= n) {
        i--;
    }
    return i;
}

double fulcrum_cpu_drain_rate(const struct fulcrum_cpu_drain *drain, double n)
{
    const struct fulcrum_drain_piece *piece = &drain->piece[piece_of(drain, n)];
    return piece->low <= 0.0 ? n * (piece->rate + piece->slope * n)
                             : piece->rate + piece->slope * (n - piece->low);
}

static double left_of(
    const struct fulcrum_cpu_drain *drain, double n, double time, struct decay *decay)
{
    if (n <= 0.0) {
        return 0.0;
    }
    size_t i = piece_of(drain, n);
    const struct fulcrum_drain_piece *piece = &drain->piece[i];
    if (i > 0) {
        double left = piece_left(piece, n, time, decay);
        if (left >= piece->low) {
            return left;
        }
        time -= piece_time(piece, n, piece->low);
        n = piece->low;
        piece = &drain->piece[--i];
    }
    while (i > 0 && time >= piece->span_s) {
        time -= piece->span_s;
        n = piece->low;
        piece = &drain->piece[--i];
    }
    return piece_left(piece, n, time, decay);
}

void fulcrum_cpu_drain_left(const struct fulcrum_cpu_drain *drain, const double *n,
    size_t count, double time_s, double *left)
{
    double time = time_s / drain->step_mean_s;
    struct decay decay = {.piece = NULL};
    for (size_t i = 0; i < count; i++) {
        left[i] = left_of(drain, n[i], time, &decay);
    }
}

double fulcrum_cpu_drain_area(
    const struct fulcrum_cpu_drain *drain, double n, double time_s)
{
    const struct fulcrum_drain_piece *lowest = &drain->piece[0];
    double bend = -lowest->slope;
    double gone = -expm1(-lowest->rate * time_s / drain->step_mean_s);
    double straight = n * gone / lowest->rate;
    double bent = bend * straight;
    /* The logistic curve's integral, -ln(1 - bent) / bend; a series where that would
     * divide by nearly 0. */
    double area = bent > LEVEL ? -log1p(-bent) / bend : straight * (1.0 + 0.5 * bent);
    return area * drain->step_mean_s;
}
