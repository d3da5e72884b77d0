/* solution.h - what a method of solving a network is asked, and what it gives. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_NETWORK_SOLUTION_H
#define FULCRUM_MODEL_NETWORK_SOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/network/network.h"

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
    FULCRUM_BOUND_LEARNER  /* GPUs that do nothing but train (to_network.h); else GPU */
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
    X(FULCRUM_FLAG_SLICES,          "scheduler cuts steps into slices, which equations take as whole") \
    X(FULCRUM_FLAG_FREE_ALLREDUCE,  "links or parameters unknown: GPUs' gradients take no time") \
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
    enum fulcrum_method method; /* the one that ran, never AUTO */
    double steps_per_s;         /* requests completed per second */
    bool has_interval;          /* simulation: 95 % interval of steps_per_s */
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
    enum fulcrum_bottleneck bottleneck;
    unsigned flags;         /* of enum fulcrum_flag */
    double simulated_steps; /* 0 for the others */
    double error_rel; /* of steps_per_s: fast stays within it in 95 of 100 networks of
                         the kind; half of the interval of a simulation; 0 else */
};

/* What solving a network leaves behind that makes the next one like it faster. */
struct fulcrum_solver_memory;

struct fulcrum_solver_options {
    enum fulcrum_method method;
    uint64_t seed;
    double half_width_rel; /* wanted by simulation, 95 %; 0 means 0.01 */
    double max_steps;      /* most simulated steps; 0 means 2e7; raised to 1000 and to 4
                              per actor where it is less */
    struct fulcrum_solver_memory
        *memory; /* borrowed, may be NULL; results do not
                    depend on it; not for two threads at once */
};

/* The busiest of CPU threads, host and GPU, as far as a solution tells. */
enum fulcrum_bottleneck fulcrum_bottleneck_of(const struct fulcrum_solution *solution);

/* Names as they stand in files and on the command line; NULL beyond the last one. */
const char *fulcrum_bottleneck_name(enum fulcrum_bottleneck bottleneck);
/* The sentence that goes with a flag. Borrowed, static. */
const char *fulcrum_flag_text(enum fulcrum_flag_index flag);

#endif
