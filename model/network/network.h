/* network.h - the queueing network that solvers get, and what they return. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_NETWORK_NETWORK_H
#define FULCRUM_MODEL_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cpu_curve.h"
#include "model/status.h"

/* The closed queueing network that every solver is given. */

enum fulcrum_step_law {
    FULCRUM_LAW_LOGNORMAL,        /* any cv > 0 */
    FULCRUM_LAW_EXPONENTIAL,      /* cv is 1; 0 (left out) is accepted */
    FULCRUM_LAW_DETERMINISTIC,    /* cv is 0 */
    FULCRUM_LAW_ERLANG,           /* cv <= 1, stages = max(1, round(1 / cv^2)) */
    FULCRUM_LAW_HYPEREXPONENTIAL, /* cv >= 1, two phases, balanced means */
    FULCRUM_LAW_PARETO            /* shape 2.1, cv ignored */
};

enum fulcrum_batch_policy {
    FULCRUM_BATCH_GREEDY, /* takes all that waits, at most `size` */
    FULCRUM_BATCH_FIXED   /* waits for exactly `size` */
};

enum fulcrum_loop {
    FULCRUM_LOOP_CENTRAL, /* batches and training steps share the GPU and overlap with
                             environment steps, as in SEED RL */
    FULCRUM_LOOP_ALTERNATING, /* no batch starts while it trains, as in PPO */
    FULCRUM_LOOP_LOCAL /* of workloads, never of a network: actors infer themselves, as
                          part of their steps, and training overlaps, as in IMPALA */
};

struct fulcrum_step {
    double mean_s; /* of one request at c = 1, >= 0: alone on the CPU; with turbo, at
                      the clock of a fully busy CPU */
    double cv;
    enum fulcrum_step_law law;
};

/*
 * Service time of a batch of b: a table where one was measured, linear between its
 * points; the line before its first and beyond its last point (shifted there so that
 * it continues the table); the line alone where count is 0.
 */
struct fulcrum_batch_time {
    double per_batch_s;   /* >= 0 */
    double per_item_s;    /* >= 0 */
    const double *size;   /* borrowed, increasing, >= 1 */
    const double *time_s; /* borrowed, > 0 */
    size_t count;
};

struct fulcrum_training {
    double env_steps_per_train_step; /* K > 0; 0 where nothing trains */
    double train_step_s;             /* alone on the GPU, > 0 */
    double queue_train_steps;        /* backlog that blocks new batches, >= 1 */
    double sharing_frac; /* work done while inference and training are both active, over
                            that of one alone, in (0, 2]; 0 stands for 1 */
};

struct fulcrum_network {
    char name[64];
    double actors; /* N, a whole number >= 1 */
    struct fulcrum_cpu_station cpu;
    struct fulcrum_step step;
    struct fulcrum_batch_time host;
    struct fulcrum_batch_time gpu;
    enum fulcrum_batch_policy policy;
    enum fulcrum_loop loop;
    double batch_size; /* 0: no limit (greedy only) */
    double depth;   /* most batches in host + GPU together, >= 1; without a host stage
                       there is nothing to overlap and it has no effect */
    double delay_s; /* from the end of the GPU to the actor's next step, >= 0 */
    /* From the request that completes a batch until a sleeping host takes it, >= 0. */
    double server_wake_s;
    /* One that has waited for less than poll_s, >= 0, takes it after poll_wake_s, and
     * its waker pays nothing. Equations leave that out. */
    double poll_s;
    double poll_wake_s;
    double server_wake_mean_s; /* over all batches: what equations go by */
    /* CPU time of the actor whose request wakes it, before the waking begins, >= 0. */
    double waker_s;
    struct fulcrum_step own_step; /* without its part of waker_s, where that is not 0 */
    struct fulcrum_training training;
};

/*
 * Everything the solvers rely on: finite, in range, law and cv agree, a fixed batch no
 * larger than the number of actors, not every service time zero.
 *   fails    FULCRUM_ERR_RANGE, FULCRUM_ERR_INFEASIBLE; the detail names field and
 * value
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_check(
    const struct fulcrum_network *network, struct fulcrum_error *err);

/* Adds a fault for each member out of its range, and each that does not fit another. */
void fulcrum_cpu_station_check(
    const struct fulcrum_cpu_station *cpu, struct fulcrum_error *found);

/* Of all but the name: networks that differ share one with a chance of 2^-64. */
uint64_t fulcrum_network_hash(const struct fulcrum_network *network);

/* Service time of a batch of `size` >= 1 items, in seconds. */
double fulcrum_batch_time_in_table(const struct fulcrum_batch_time *time, double size);
static inline double fulcrum_batch_time(
    const struct fulcrum_batch_time *time, double size)
{
    return time->count > 0 ? fulcrum_batch_time_in_table(time, size)
                           : time->per_batch_s + time->per_item_s * size;
}

/* Whether any batch takes time: whether there is such a stage at all. */
bool fulcrum_batch_takes_time(const struct fulcrum_batch_time *time);

/* How much longer inference, or training, takes while both are active: 2 where nothing
 * is lost by sharing. */
double fulcrum_sharing_stretch(const struct fulcrum_training *training);

/* Names as they stand in files; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_step_law_name(int law);

/* As fulcrum_step_law_name. */
const char *fulcrum_batch_policy_name(int policy);
/* As fulcrum_step_law_name. */
const char *fulcrum_loop_name(int loop);

/* What a method of solving a network is asked, and what it gives. */

enum fulcrum_method {
    FULCRUM_METHOD_AUTO,
    FULCRUM_METHOD_FAST,
    FULCRUM_METHOD_CHAIN,
    FULCRUM_METHOD_PRODUCT_FORM,
    FULCRUM_METHOD_SIMULATE
};

/* The busiest of CPU threads, host and GPU is the bottleneck from here on. */
#define FULCRUM_BOTTLENECK_BUSY_FRAC 0.8

enum fulcrum_bottleneck {
    FULCRUM_BOUND_CPU,
    FULCRUM_BOUND_HOST,
    FULCRUM_BOUND_GPU,
    FULCRUM_BOUND_LATENCY, /* no station is busy enough: the round trip is exposed */
    FULCRUM_BOUND_LEARNER, /* GPUs that do nothing but train (to_network.h); else GPU */
    FULCRUM_BOUND_MEMORY   /* of GPUs that decode: no more trajectories fit */
};

/* What a user must know about a solution; the texts are what `flags` prints. */
/* clang-format off */
#define FULCRUM_FLAG_LIST(X)                                                            \
    X(FULCRUM_FLAG_LOW_CV,          "steps vary so little that actors may lock into step") \
    X(FULCRUM_FLAG_SERVERS_ROUNDED, "threads left to actors rounded to a whole number")  \
    X(FULCRUM_FLAG_NOT_SETTLED,     "simulation stopped before the wanted interval")     \
    X(FULCRUM_FLAG_BEYOND_TABLE,    "batch or thread count beyond the measured table")   \
    X(FULCRUM_FLAG_SCALED,          "times scaled from another machine (extrapolated)")  \
    X(FULCRUM_FLAG_WATTS_ASSUMED,   "watts assumed from the machine preset, not measured") \
    X(FULCRUM_FLAG_OTHER_LEARNER,   "learner times of a CPU not used for a GPU")         \
    X(FULCRUM_FLAG_ROUGH_BATCH,     "learner holds actors up: batch and residence rough") \
    X(FULCRUM_FLAG_TEXTBOOK,        "textbook product form: batch servers break its assumptions") \
    X(FULCRUM_FLAG_MULTISTABLE,     "batches may keep their actors: several rhythms are stable") \
    X(FULCRUM_FLAG_FEW,             "few actors beside a delay or overlapping batches")  \
    X(FULCRUM_FLAG_CROWDED,         "fixed batches of more actors than threads")         \
    X(FULCRUM_FLAG_KINK,            "batches form about as fast as host and GPU take them") \
    X(FULCRUM_FLAG_LIMIT_ROUGH,     "batch limit taken as a bound, not followed")        \
    X(FULCRUM_FLAG_TRAINING_MIX,    "training slows batches by turns about as long as a batch") \
    X(FULCRUM_FLAG_WAKING,          "the server often sleeps between batches: equations take its wake-ups as a mean") \
    X(FULCRUM_FLAG_SLICES,          "scheduler cuts steps into slices, which equations take as whole") \
    X(FULCRUM_FLAG_FREE_ALLREDUCE,  "links or parameters unknown: GPUs' gradients take no time") \
    X(FULCRUM_FLAG_FEW_DECIDE,      "a single call or a few groups decide when a batch is there: equations know means of many") \
    X(FULCRUM_FLAG_INSTANCES,       "instances have equal parts of bandwidth and cache, as slices have, and sum gradients in no time")
/* clang-format on */

enum fulcrum_flag_index {
#define X(flag, text) flag##_INDEX,
    FULCRUM_FLAG_LIST(X) FULCRUM_FLAG_COUNT
#undef X
};
enum fulcrum_flag {
#define X(flag, text) flag = 1 << flag##_INDEX,
    FULCRUM_FLAG_LIST(X)
#undef X
};

struct fulcrum_residence {
    double cpu_s;  /* waiting for a thread and stepping */
    double host_s; /* waiting for a batch to form and on the host */
    double gpu_s;  /* waiting for the GPU and on it */
    double delay_s;
};

struct fulcrum_solution {
    double steps_per_s; /* requests completed per second */
    double steps_per_s_lo;
    double steps_per_s_hi;
    double mean_batch;
    double cpu_thread_busy_frac; /* mean threads stepping / S */
    double cpu_core_busy_frac;   /* mean cores with a stepping thread / P, learner's
                                    reserved threads not counted */
    double host_busy_frac;
    double gpu_busy_frac;            /* inference or training active */
    double gpu_inference_busy_frac;  /* work of inference: X / b * g(b) */
    double gpu_train_busy_frac;      /* work of training: X / K * t_T */
    double gpu_simulation_busy_frac; /* of environments on the GPU; 0 elsewhere */
    struct fulcrum_residence residence;
    double simulated_steps; /* 0 for the others */
    double error_rel; /* of steps_per_s: fast stays within it in 95 of 100 networks of
                         the kind; half of the interval of a simulation; 0 else */
    enum fulcrum_method method; /* the one that ran, never AUTO */
    enum fulcrum_bottleneck bottleneck;
    unsigned flags;    /* of enum fulcrum_flag */
    bool has_interval; /* simulation: 95 % interval of steps_per_s, lo to hi */
};

struct fulcrum_fast_room; /* model/fast/steady.h */

struct fulcrum_solver_options {
    enum fulcrum_method method;
    uint64_t seed;
    double half_width_rel; /* wanted by simulation, 95 %; 0 means 0.01 */
    double max_steps;      /* most simulated steps; 0 means 2e7; raised to 1000 and to 4
                              per actor where it is less */
    /* Borrowed, may be NULL: a room that makes the next network like this one faster.
     * All zero at first; results depend on it by 1e-9; not for two threads at once. */
    struct fulcrum_fast_room *room;
};

/* The busiest of CPU threads, host and GPU, as far as a solution tells. */
enum fulcrum_bottleneck fulcrum_bottleneck_of(const struct fulcrum_solution *solution);

/* Names as they stand in files and on the command line; NULL beyond the last one. */
const char *fulcrum_bottleneck_name(enum fulcrum_bottleneck bottleneck);
/* The sentence that goes with a flag. Borrowed, static. */
const char *fulcrum_flag_text(enum fulcrum_flag_index flag);

#endif
