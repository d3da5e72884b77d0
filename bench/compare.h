/* compare.h - one method held against another over random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_COMPARE_H
#define FULCRUM_BENCH_COMPARE_H

#include <signal.h>

#include "bench/random_network.h"
#include "model/network/solution.h"

/* Which networks, and how both methods solve them. */
struct fulcrum_comparison_plan {
    enum fulcrum_domain domain;
    uint64_t seed; /* of networks and simulations */
    enum fulcrum_method method;
    double half_width_rel;     /* asked of the method, 95 %: for simulations and auto */
    enum fulcrum_method judge; /* FULCRUM_METHOD_SIMULATE or FULCRUM_METHOD_CHAIN */
    double judge_half_width_rel;
};

enum fulcrum_comparison_state {
    FULCRUM_COMPARISON_NOT_RUN, /* stopped before its turn */
    FULCRUM_COMPARISON_DONE,
    FULCRUM_COMPARISON_REFUSED,  /* the method is not valid for the network */
    FULCRUM_COMPARISON_UNJUDGED, /* the judge is not */
    FULCRUM_COMPARISON_FAILED
};

/* One network. Errors are those of the method, positive where it says more. */
struct fulcrum_comparison {
    enum fulcrum_comparison_state state;
    enum fulcrum_status status; /* FULCRUM_COMPARISON_FAILED: why */
    size_t index;
    double steps_per_s; /* the method's */
    double error_rel;   /* of steps_per_s */
    double told_rel;    /* error that the method itself tells; 0: none */
    double judge_rel;   /* half of the interval of a simulation that judges */
    double batch_error_rel;
    double cpu_busy_error; /* differences of busy fractions */
    double host_busy_error;
    double gpu_busy_error;
    unsigned flags;
};

/*
 * Networks first, first + 1, ... first + count - 1 of the plan's domain, on all
 * threads, with the same results whatever their number.
 *   out      `count` of them
 *   stop     set from outside to leave the rest FULCRUM_COMPARISON_NOT_RUN; NULL: never
 */
void fulcrum_compare(const struct fulcrum_comparison_plan *plan,
    struct fulcrum_comparison *out, size_t first, size_t count,
    const volatile sig_atomic_t *stop);

enum fulcrum_comparison_set {
    FULCRUM_COMPARISON_ALL,
    FULCRUM_COMPARISON_UNFLAGGED /* those of which the method tells nothing odd */
};

/* Over the networks of one set; NAN where it is empty. Errors without their sign. */
struct fulcrum_comparison_summary {
    size_t count;
    double mean_rel;
    double bias_rel; /* mean with the sign */
    double p50_rel;
    double p95_rel;
    double p99_rel;
    double max_rel;
    double flagged_frac;
    double
        within_frac; /* share within the error told and the judge's; NAN: none told */
    double told_ratio_max; /* largest error over those two; NAN likewise */
    double judge_rel;      /* mean half width */
    double batch_rel;      /* mean errors of what is beside the throughput */
    double cpu_busy;
    double host_busy;
    double gpu_busy;
};

/*
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_comparison_summarise(
    struct fulcrum_comparison_summary *out,
    const struct fulcrum_comparison *comparisons, size_t count,
    enum fulcrum_comparison_set set, struct fulcrum_error *err);

/* How many are in a state. */
size_t fulcrum_comparison_count(const struct fulcrum_comparison *comparisons,
    size_t count, enum fulcrum_comparison_state state);

/*
 * Moves the `wanted` with the largest errors to the front, the worst first; returns how
 * many there are: fewer where fewer were compared.
 */
size_t fulcrum_comparison_worst(
    struct fulcrum_comparison *comparisons, size_t count, size_t wanted);

#endif
