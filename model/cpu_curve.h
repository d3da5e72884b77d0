/* cpu_curve.h - how much work n runnable actors get done on the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_CPU_CURVE_H
#define FULCRUM_MODEL_CPU_CURVE_H

#include <stddef.h>

/* Which form gives c(n), the work rate of n runnable actors in single-thread units. */
enum fulcrum_cpu_curve {
    FULCRUM_CURVE_SMT_TURBO,  /* docs/model.md "CPU station", equation (2) */
    FULCRUM_CURVE_SATURATING, /* docs/model.md "CPU curve", (20)-(21) asynchronous */
    FULCRUM_CURVE_SATURATING_SYNC, /* the same, actors that step in lockstep */
    FULCRUM_CURVE_TABLE /* capacity[0..capacity_count-1] is c(1), c(2), ... */
};

struct fulcrum_cpu_station {
    enum fulcrum_cpu_curve curve;
    double core_count;       /* P >= 1 */
    double thread_count;     /* T >= core_count */
    double reserved_threads; /* c_L in [0, T), may be fractional; the learner's */
    double smt_yield_frac;   /* y in [0, 1]: what a core's second thread adds */
    double turbo_frac;       /* tau in [0, 1]: extra clock of an otherwise idle CPU */
    double
        oversubscription_frac; /* kappa in [0, 10]: loss once actors exceed threads */
    double slice_s;      /* after which a turn gives way to those that wait; 0: none */
    double serial_frac;  /* h of (20), >= 0; saturating curves only, as are */
    double knee;         /* p of (20), >= 0.5, */
    double cap_per_core; /* kappa of (20), > 0, */
    double cross_socket_frac; /* nu of (20), in (0, 1]: rate kept past core_count / 2 */
    const double *capacity;   /* table only: borrowed, positive; held beyond its end */
    size_t capacity_count;
    double crowd_count; /* table only: actors that take turns on it, wherever they are
                           now; 0: those that are runnable */
};

/*
 * c(n) for n >= 0 runnable actors (real numbers are allowed, c(0) = 0), in units of one
 * thread at the clock of a fully busy CPU (so c(1) >= 1 with turbo) or, on the
 * saturating curves, of one thread alone (c(1) = 1). Nondecreasing but for turbo,
 * oversubscription, the synchronous dip and measured tables; constant from S on except
 * in a table.
 */
double fulcrum_cpu_capacity(const struct fulcrum_cpu_station *cpu, double n);

/* S = T - c_L: how many actors can step at once. */
static inline double fulcrum_cpu_servers(const struct fulcrum_cpu_station *cpu)
{
    return cpu->thread_count - cpu->reserved_threads;
}

/* S as a whole number, 1 at least. */
double fulcrum_cpu_whole_servers(const struct fulcrum_cpu_station *cpu);

/* The form's name as it stands in files; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_cpu_curve_name(int curve);

/* How fast a CPU works off actors that do not come back. */

enum { FULCRUM_DRAIN_PIECES = 40 };

/* On a piece c(n) = n (rate - bend n) if it is the lowest, else a line. */
struct fulcrum_drain_piece {
    double low;    /* n at its lower end; the last piece has no upper end */
    double rate;   /* c at its lower end; at n -> 0 the slope of c */
    double slope;  /* of c; in the lowest piece minus its bend */
    double span_s; /* to drain from the upper end to the lower one */
};

/*
 * dn/dt = -c(n) / t_e in closed form: exact for the curve of equation (2), for others
 * with lines between up to FULCRUM_DRAIN_PIECES values of n.
 */
struct fulcrum_cpu_drain {
    double step_mean_s;
    size_t count;
    struct fulcrum_drain_piece piece[FULCRUM_DRAIN_PIECES];
};

/* For up to `actors` >= 1 at a checked station, step_mean_s > 0. */
void fulcrum_cpu_drain_init(struct fulcrum_cpu_drain *drain,
    const struct fulcrum_cpu_station *cpu, double actors, double step_mean_s);

/* c(n) as the pieces have it. */
double fulcrum_cpu_drain_rate(const struct fulcrum_cpu_drain *drain, double n);

/* How many of each of `count` numbers n >= 0 of actors are left after time_s >= 0. */
void fulcrum_cpu_drain_left(const struct fulcrum_cpu_drain *drain, const double *n,
    size_t count, double time_s, double *left);

/*
 * Integral of what is left of n over the first time_s >= 0, in actor-seconds; for n >=
 * 0 within the lowest piece.
 */
double fulcrum_cpu_drain_area(
    const struct fulcrum_cpu_drain *drain, double n, double time_s);

#endif
