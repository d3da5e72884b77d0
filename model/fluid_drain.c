/* fluid_drain.c - how fast a CPU works off actors that do not come back. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Solves dn/dt = -c(n) / t_e, the part D(m, t) of equation (9) in docs/model.md "Greedy
 * solver". c is taken as straight between the ends of equal pieces of n, which has a
 * closed solution within each: n is an exponential of time, or a line where c is level.
 * So one table of the times at the ends (a clock that runs backwards, from the empty
 * CPU up) answers every question by a binary search, and no step size has to be chosen.
 */
#include "model/fluid_drain.h"

#include <math.h>

/* Below this, a piece counts as level: the logarithm would lose all its digits. */
#define LEVEL_SLOPE 1e-9

/* From where on c is constant: S, or the end of a table. */
static double curve_end(const struct fulcrum_cpu_station *cpu, double actors)
{
    double end = ceil(fulcrum_cpu_servers(cpu)) + 1.0;
    if (cpu->curve == FULCRUM_CURVE_TABLE) {
        end = fmax(end, (double)cpu->capacity_count);
    }
    return fmax(1.0, fmin(end, actors));
}

static double slope(const struct fulcrum_fluid_drain *drain, size_t i)
{
    return (drain->rate[i + 1] - drain->rate[i]) / drain->piece;
}

/* Seconds to drain the first `height` actors of piece i, counted from below. */
static double climb_s(const struct fulcrum_fluid_drain *drain, size_t i, double height)
{
    double rate = drain->rate[i];
    double steep = slope(drain, i);
    if (fabs(steep) * drain->piece < LEVEL_SLOPE * rate) {
        return drain->step_mean_s * height / rate;
    }
    return drain->step_mean_s / steep * log1p(steep * height / rate);
}

/* The inverse of climb_s. */
static double climbed(const struct fulcrum_fluid_drain *drain, size_t i, double time_s)
{
    double rate = drain->rate[i];
    double steep = slope(drain, i);
    double time_rel = time_s / drain->step_mean_s;
    if (fabs(steep) * drain->piece < LEVEL_SLOPE * rate) {
        return rate * time_rel;
    }
    return rate / steep * expm1(steep * time_rel);
}

void fulcrum_fluid_drain_init(struct fulcrum_fluid_drain *drain,
    const struct fulcrum_cpu_station *cpu, double actors, double step_mean_s)
{
    double end = curve_end(cpu, actors);
    drain->step_mean_s = step_mean_s;
    drain->count = (size_t)fmin(end, FULCRUM_DRAIN_PIECES);
    drain->piece = end / (double)drain->count;
    for (size_t i = 0; i <= drain->count; i++) {
        drain->rate[i] = fulcrum_cpu_capacity(cpu, (double)i * drain->piece);
    }
    drain->clock[0] = -(double)INFINITY;
    drain->clock[1] = 0.0;
    for (size_t i = 1; i < drain->count; i++) {
        drain->clock[i + 1] = drain->clock[i] + climb_s(drain, i, drain->piece);
    }
}

/* Below one piece c is a line through 0: n falls exponentially for ever. */
static double last_decay_per_s(const struct fulcrum_fluid_drain *drain)
{
    return drain->rate[1] / (drain->piece * drain->step_mean_s);
}

static double clock_of(const struct fulcrum_fluid_drain *drain, double n)
{
    if (n < drain->piece) {
        return log(n / drain->piece) / last_decay_per_s(drain);
    }
    double end = drain->piece * (double)drain->count;
    if (n >= end) {
        return drain->clock[drain->count] +
               (n - end) * drain->step_mean_s / drain->rate[drain->count];
    }
    size_t i = (size_t)(n / drain->piece);
    i = i < drain->count ? i : drain->count - 1;
    return drain->clock[i] + climb_s(drain, i, n - drain->piece * (double)i);
}

static double left_at(const struct fulcrum_fluid_drain *drain, double clock_s)
{
    if (clock_s <= 0.0) {
        return drain->piece * exp(clock_s * last_decay_per_s(drain));
    }
    size_t high = drain->count;
    if (clock_s >= drain->clock[high]) {
        double beyond_s = clock_s - drain->clock[high];
        return drain->piece * (double)high +
               beyond_s * drain->rate[high] / drain->step_mean_s;
    }
    size_t low = 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (drain->clock[middle] <= clock_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return drain->piece * (double)low +
           climbed(drain, low, clock_s - drain->clock[low]);
}

double fulcrum_fluid_drain_left(
    const struct fulcrum_fluid_drain *drain, double n, double time_s)
{
    return n > 0.0 ? left_at(drain, clock_of(drain, n) - time_s) : 0.0;
}
