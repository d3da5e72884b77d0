/* cpu_drain.c - how fast a CPU works off actors that do not come back. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Solves dn/dt = -c(n) / t_e, the part D(m, t) of equation (9) in docs/model.md
 * "Mean-field equation". c is cut into a few pieces, on each of which n is an
 * elementary function of time: the lowest piece is a parabola through 0, which is what
 * turbo makes of c and which n follows as a logistic curve; the others are lines, on
 * which n is an exponential. Few pieces, and times only for those that are crossed,
 * because this is evaluated some ten times per design point.
 */
#include "model/cpu_drain.h"

#include <math.h>

#include "model/lesser.h"

/* Below this share of its rate over a piece, c counts as level. */
#define LEVEL 1e-7

/* The least there is above a number: where c jumps, a piece begins there. */
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

/* What is left of `high` after `time` within a piece. */
static double piece_left(
    const struct fulcrum_drain_piece *piece, double high, double time)
{
    if (piece->low <= 0.0) {
        double bend = -piece->slope;
        double decay = exp(-piece->rate * time);
        return high * decay / (1.0 - bend * high / piece->rate * (1.0 - decay));
    }
    double rate = piece->rate + piece->slope * (high - piece->low);
    double fall = piece->slope * time;
    if (fabs(fall) <= LEVEL) {
        return high - rate * time;
    }
    return high + rate / piece->slope * expm1(-fall);
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

/* Cores free for turbo, cores free, threads free, threads full. */
static void cut_smt_turbo(
    struct fulcrum_cpu_drain *drain, const struct fulcrum_cpu_station *cpu)
{
    double servers = fulcrum_cpu_servers(cpu);
    double cores = cpu->core_count * servers / cpu->thread_count;
    double boosted = fulcrum_lesser(
        cores, fulcrum_greater(0.0, cpu->core_count - cpu->reserved_threads));
    double bend = cpu->turbo_frac / cpu->core_count;
    double top =
        1.0 + cpu->turbo_frac *
                  fulcrum_greater(0.0, 1.0 - cpu->reserved_threads / cpu->core_count);
    int has_turbo = boosted > 0.0 && cpu->turbo_frac > 0.0;
    boosted = has_turbo ? boosted : cores;
    add_piece(drain, 0.0, has_turbo ? top : 1.0, has_turbo ? -bend : 0.0);
    add_line(drain, cpu, boosted, cores);
    add_line(drain, cpu, cores, servers);
    double full = cores + cpu->smt_yield_frac * (servers - cores);
    add_piece(drain, servers, full / (1.0 + cpu->oversubscription_frac), 0.0);
}

/* Cores or a socket that fill up end a piece. */
static double before_kink(
    const struct fulcrum_cpu_station *cpu, double low, double high)
{
    const double kinks[] = {0.5 * cpu->core_count,
        cpu->core_count * fulcrum_cpu_servers(cpu) / cpu->thread_count};
    for (size_t i = 0; i < sizeof kinks / sizeof kinks[0]; i++) {
        high = kinks[i] > low ? fulcrum_lesser(kinks[i], high) : high;
    }
    return high;
}

/* Every actor while they are few, then in steps of a constant factor. */
static void cut_lines(struct fulcrum_cpu_drain *drain,
    const struct fulcrum_cpu_station *cpu, double actors)
{
    double end = fulcrum_cpu_servers(cpu);
    if (cpu->curve == FULCRUM_CURVE_TABLE) {
        end = fulcrum_greater(end, (double)cpu->capacity_count);
    }
    end = fulcrum_greater(2.0, fulcrum_lesser(end, actors));
    double factor = pow(end, 1.0 / (FULCRUM_DRAIN_PIECES - 5.0));
    double low = 1.0;
    add_piece(drain, 0.0, fulcrum_cpu_capacity(cpu, 1.0), 0.0);
    while (low < end && drain->count < FULCRUM_DRAIN_PIECES - 1) {
        double high =
            fulcrum_lesser(end, fulcrum_greater(floor(low) + 1.0, round(low * factor)));
        high = before_kink(cpu, low, high);
        add_line(drain, cpu, low, high);
        low = high;
    }
    add_piece(drain, low, fulcrum_cpu_capacity(cpu, end + 1.0), 0.0);
}

void fulcrum_cpu_drain_init(struct fulcrum_cpu_drain *drain,
    const struct fulcrum_cpu_station *cpu, double actors, double step_mean_s)
{
    drain->step_mean_s = step_mean_s;
    drain->count = 0;
    if (cpu->curve == FULCRUM_CURVE_SMT_TURBO) {
        cut_smt_turbo(drain, cpu);
    } else {
        cut_lines(drain, cpu, actors);
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

double fulcrum_cpu_drain_left(
    const struct fulcrum_cpu_drain *drain, double n, double time_s)
{
    if (n <= 0.0) {
        return 0.0;
    }
    double time = time_s / drain->step_mean_s;
    size_t i = piece_of(drain, n);
    const struct fulcrum_drain_piece *piece = &drain->piece[i];
    if (i > 0) {
        double left = piece_left(piece, n, time);
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
    return piece_left(piece, n, time);
}
