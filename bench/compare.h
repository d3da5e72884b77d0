/* compare.h - the fast solver against its judge, over random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_COMPARE_H
#define FULCRUM_BENCH_COMPARE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/network/network.h"
#include "model/status.h"

/* Networks drawn at random, on which the methods are compared. */

/* Domains of docs/model.md "Solver targets"; the texts are what a report prints. */
/* clang-format off */
#define FULCRUM_DOMAIN_LIST(X)                                                          \
    X(GREEDY,      "greedy",      "greedy, N and C 4-512, five laws")                     \
    X(EXPONENTIAL, "exponential", "greedy, N 1-256, C 4-512, exponential steps")          \
    X(WIDE,        "wide",        "greedy, N 1-1024, C 1-512, cv 0.2-3, limits down to 1")  \
    X(MACHINE,     "machine",     "greedy with SMT, turbo, oversubscription, host, delay") \
    X(FIXED,       "fixed",       "half batches, the whole network, half with training")  \
    X(SHARE,       "share",       "batches of any share, the whole network on any CPU")    \
    X(CORNERS,     "corners",     "extremes of every field")                             \
    X(TRAINING,    "training",    "greedy with host, delay, training from 3 % to twice the GPU") \
    X(PERCEPTRON,  "perceptron",  "a perceptron on the core that trains it, cv 0.2-0.6") \
    X(SLICES,      "slices",      "more actors than threads, steps cut into slices")
/* clang-format on */

enum fulcrum_domain {
#define X(domain, name, meaning) FULCRUM_DOMAIN_##domain,
    FULCRUM_DOMAIN_LIST(X) FULCRUM_DOMAIN_COUNT
#undef X
};

/*
 * Network `index` of a domain: the same for the same seed, whatever was drawn before.
 * It passes fulcrum_network_check and has no borrowed arrays.
 */
struct fulcrum_network fulcrum_random_network(
    enum fulcrum_domain domain, uint64_t seed, size_t index);

/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_domain_name(size_t domain);
/* One method held against another over random networks. */

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

/* How accurate the methods have to be, and whether they are. */

enum fulcrum_target_quantity {
    FULCRUM_TARGET_NONE, /* ends a list of limits */
    FULCRUM_TARGET_MEAN,
    FULCRUM_TARGET_P95,
    FULCRUM_TARGET_P99,
    FULCRUM_TARGET_MAX,
    FULCRUM_TARGET_WITHIN,     /* share within the error that the method tells */
    FULCRUM_TARGET_TOLD_RATIO, /* largest error over the one told */
    FULCRUM_TARGET_FLAGGED
};

struct fulcrum_target_limit {
    enum fulcrum_target_quantity quantity;
    enum fulcrum_comparison_set set;
    double limit; /* FULCRUM_TARGET_WITHIN: the least; else the most */
};

enum { FULCRUM_TARGET_LIMITS_MOST = 7 };

/* What one method has to reach over one domain. */
struct fulcrum_target {
    enum fulcrum_domain domain;
    enum fulcrum_method method;
    enum fulcrum_method judge;
    size_t networks;       /* over at least as many */
    double half_width_rel; /* asked of a method that simulates; 0: it does not */
    struct fulcrum_target_limit limits[FULCRUM_TARGET_LIMITS_MOST];
};

/* Static, `count` of them. */
const struct fulcrum_target *fulcrum_targets(size_t *count);

/* NULL where nothing is promised. */
const struct fulcrum_target *fulcrum_target_find(
    enum fulcrum_domain domain, enum fulcrum_method method, enum fulcrum_method judge);

/* One limit beside what was measured. */
struct fulcrum_verdict {
    const char *quantity;
    enum fulcrum_comparison_set set;
    double measured; /* NAN, which misses it: nothing in the set */
    double limit;
    bool is_met;
};

/*
 * Returns how many verdicts there are.
 *   out        room for FULCRUM_TARGET_LIMITS_MOST
 *   summaries  one for each enum fulcrum_comparison_set
 */
size_t fulcrum_target_judge(const struct fulcrum_target *target,
    struct fulcrum_verdict *out, const struct fulcrum_comparison_summary *summaries);

/* "all", "unflagged". */
const char *fulcrum_comparison_set_name(enum fulcrum_comparison_set set);

#endif
