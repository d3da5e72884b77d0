/* fixed_batch.h - fixed batches by the renewal cycle, equation (10). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_FIXED_BATCH_H
#define FULCRUM_MODEL_FAST_FIXED_BATCH_H

#include "model/fast/steps.h"
#include "model/network/network.h"

/* One cycle of fixed batches, followed slice by slice. */

/* The work rate of a CPU, tabulated where it is asked for. */

enum { FULCRUM_RATE_CELLS = 256 };

/* Nodes lie at whole numbers of threads, or at even parts or multiples of them. */
struct fulcrum_rate_cells {
    const struct fulcrum_cpu_station *cpu; /* borrowed */
    double servers;
    double per_actor;                    /* cells to an actor */
    double crowded;                      /* c(n) beyond all servers; 0: not set */
    double node[FULCRUM_RATE_CELLS + 1]; /* 0: not set */
};

/* Nothing is worked out yet. */
void fulcrum_rate_cells_init(
    struct fulcrum_rate_cells *cells, const struct fulcrum_cpu_station *cpu);

/*
 * fulcrum_cpu_capacity: exact at nodes and beyond all servers, else within 1.5 %, but
 * for a jump of the curve, which is spread over a cell.
 */
double fulcrum_rate_cells_at(struct fulcrum_rate_cells *cells, double n);

/* The chance that too few are ready for a batch. */

/*
 * P(A < size) of a number A with this mean and variance, taken as binomial: exactly for
 * sizes up to 10, else to about 0.005. `size` is a whole number >= 1.
 */
double fulcrum_probability_below(double mean, double variance, double size);

/* P(Z < z) of a standard normal Z. */
double fulcrum_normal_below(double z);

/* E[max(0, Y)] of a normal Y with this mean and deviation > 0. */
double fulcrum_normal_beyond(double mean, double deviation);

/* Most slices of a cycle, and of the ages a step can reach: sizes of arrays. */
#define FULCRUM_FIXED_BATCH_SLICES 512
#define FULCRUM_FIXED_BATCH_AGES   1024

/* What stays the same while a network is solved; `network` is borrowed. */
struct fulcrum_fixed_batch_case {
    const struct fulcrum_network *network;
    double each;   /* actors that are counted as one; so are the other numbers */
    double actors; /* N */
    double batch;  /* B */
    double servers;
    double host_s;
    double gpu_s; /* stretched */
    double depth; /* 1 where no host stage can overlap the GPU */
    double step_mean_s;
    double step_cv;
    struct fulcrum_rate_cells *rates; /* borrowed; filled on the way */
};

/* The first entries of a table of tails are of steps that are yet to start. */
#define FULCRUM_FIXED_BATCH_UNBORN 2

/* So many entries behind the end of that table are there, and 0. */
#define FULCRUM_FIXED_BATCH_MARGIN 16

/* Work time is cut into slices; behind the unborn, tails are means over a slice. */
struct fulcrum_fixed_batch_grid {
    double slice_s;
    size_t count; /* tail is 0 from here on */
    double tail[FULCRUM_FIXED_BATCH_AGES + FULCRUM_FIXED_BATCH_MARGIN];
    double doubt[FULCRUM_FIXED_BATCH_AGES]; /* tail * (1 - tail) */
};

/* Starts of steps by slice, from the start of a batch on; B of them make a cycle. */
struct fulcrum_fixed_batch_starts {
    size_t first;
    size_t last;
    double count[FULCRUM_FIXED_BATCH_SLICES];
};

/* A stationary cycle is one that ends as it began; slices may be parts of slices. */
struct fulcrum_fixed_batch_state {
    double period_s;
    double jitter_s;    /* by which the last period was longer */
    double length;      /* slices of work in a cycle */
    double left;        /* ready actors beyond B when a batch starts */
    double formed_frac; /* chance that a batch starts as its last actor gets ready */
    double queue;       /* actors that wait for a thread when it starts */
    double release;     /* slices from the start of a batch to its actors' release */
    double gpu_wait_s;  /* of a batch for the one before */
    double shift;       /* slices by which the profile of starts is late */
    struct fulcrum_fixed_batch_starts starts;
};

/* What one cycle comes to, beside the state at its end. */
struct fulcrum_fixed_batch_outcome {
    struct fulcrum_fixed_batch_state end;
    double released_at; /* slice of the first release */
    double spread_s;    /* standard deviation of the period */
    double left_slope;  /* of `end.left` by the left of the start */
    double at_cpu;
    double stepping;
    double on_cores;
    double work_rate; /* mean of c(n) */
};

/* Actors: rounding apart, none. */
#define FULCRUM_FIXED_BATCH_NOBODY 1e-9

/* Steps under way when a cycle begins, by their age. */

/* How many slices are worked out at a time. */
enum { FULCRUM_RESIDUAL_BLOCK = 8 };

/* Arrays by place in the table of tails, of which `first` to `last` are set. */
struct fulcrum_residual_ages {
    size_t first;
    size_t last;
    double stepping; /* how many are under way, */
    double spread;   /* and the variance of that, were it not known */
    double started[FULCRUM_FIXED_BATCH_AGES];
    double
        each[FULCRUM_FIXED_BATCH_AGES]; /* chance to be under way / tail at that age */
    double
        weight[FULCRUM_FIXED_BATCH_AGES]; /* started * each: factors of later tails */
};

/*
 * Steps of all earlier cycles, each like the one whose starts `state` has, when of
 * `at_cpu` actors at the CPU its queue waits for one of `servers` threads. An actor
 * that got ready just when the cycle began has left a thread to the queue.
 */
void fulcrum_residual_ages_set(struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid,
    const struct fulcrum_fixed_batch_state *state, double servers, double at_cpu);

/*
 * How many are still under way after j, j + 1, ... slices, on average: `out` has
 * FULCRUM_RESIDUAL_BLOCK of them.
 */
void fulcrum_residual_ages_left(const struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid, size_t j, double *out);

/*
 * Variance of that number after j slices, their number at the start being known;
 * `still` is its mean.
 */
double fulcrum_residual_ages_variance(const struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid, size_t j, double still);

/* The cycle itself. */

/* From the start of a batch to the release of its actors. */
double fulcrum_fixed_batch_latency_s(const struct fulcrum_fixed_batch_case *problem,
    const struct fulcrum_fixed_batch_state *state);

/* How many earlier batches are still on their way when a batch starts. */
double fulcrum_fixed_batch_underway(const struct fulcrum_fixed_batch_case *problem,
    const struct fulcrum_fixed_batch_state *state);

/*
 * Follows the network from the start of a batch until the next is certain to have
 * started. `end.gpu_wait_s`, `end.jitter_s` and `end.shift` are left alone.
 */
void fulcrum_fixed_batch_follow(const struct fulcrum_fixed_batch_case *problem,
    const struct fulcrum_fixed_batch_grid *grid,
    const struct fulcrum_fixed_batch_state *state,
    struct fulcrum_fixed_batch_outcome *out);

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

#endif
