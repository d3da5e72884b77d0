/* target.h - how accurate the methods have to be, and whether they are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_TARGET_H
#define FULCRUM_BENCH_TARGET_H

#include <stdbool.h>

#include "bench/compare.h"

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
