/* cpu_curve.c - how much work n runnable actors get done on the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * c(n) is the work that n runnable actors get done in a second, in units of one actor
 * alone. Three forms: cores, second threads and turbo in straight pieces (2); a soft
 * ceiling that memory and locks pull down (20), (21); and a measured table. None looks
 * at which actor runs where. docs/model.md "CPU station" and "CPU curve" give the
 * sources.
 */
#include <assert.h>
#include <math.h>

#include "model/min_max.h"

#include "model/network/network.h"

/* P_a of (1): the cores left when the learner's threads are spread over all. */
static double actor_cores(const struct fulcrum_cpu_station *cpu)
{
    return cpu->core_count * (1.0 - cpu->reserved_threads / cpu->thread_count);
}

double fulcrum_cpu_servers(const struct fulcrum_cpu_station *cpu)
{
    return cpu->thread_count - cpu->reserved_threads;
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
 * servers do what fills the servers, less what the same crowding costs a whole CPU.
 */
static double tabulated(const struct fulcrum_cpu_station *cpu, double n)
{
    double servers = fulcrum_cpu_servers(cpu);
    if (n <= servers || !(cpu->reserved_threads > 0.0)) {
        return table_entry(cpu, n);
    }
    double full = table_entry(cpu, cpu->thread_count);
    double crowded = table_entry(cpu, n * cpu->thread_count / servers);
    return table_entry(cpu, servers) * fulcrum_min(1.0, crowded / full);
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
