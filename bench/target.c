/* target.c - how accurate the methods have to be, and whether they are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits are promises of docs/benchmark.md "Targets", not what was measured plus a
 * margin. Where a method says itself that it is rough (flags), the promise is about the
 * other networks, and about how many those are: to flag everything is no accuracy.
 */
#include "bench/compare.h"

#include <stdbool.h>
#include <stddef.h>

#define ALL       FULCRUM_COMPARISON_ALL
#define UNFLAGGED FULCRUM_COMPARISON_UNFLAGGED

static const struct fulcrum_target targets[] = {
    {FULCRUM_DOMAIN_GREEDY, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE, 1000, 0.0,
        {{FULCRUM_TARGET_MEAN, ALL, 0.005}, {FULCRUM_TARGET_P95, ALL, 0.015},
            {FULCRUM_TARGET_P99, ALL, 0.03}}},
    {FULCRUM_DOMAIN_EXPONENTIAL, FULCRUM_METHOD_FAST, FULCRUM_METHOD_CHAIN, 1000, 0.0,
        {{FULCRUM_TARGET_MAX, ALL, 0.015}}},
    {FULCRUM_DOMAIN_EXPONENTIAL, FULCRUM_METHOD_SIMULATE, FULCRUM_METHOD_CHAIN, 60,
        0.0003,
        {{FULCRUM_TARGET_MEAN, ALL, 0.001}, {FULCRUM_TARGET_WITHIN, ALL, 0.9},
            {FULCRUM_TARGET_TOLD_RATIO, ALL, 2.0}}},
    {FULCRUM_DOMAIN_WIDE, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE, 1000, 0.0,
        {{FULCRUM_TARGET_MEAN, ALL, 0.01}, {FULCRUM_TARGET_P95, ALL, 0.03},
            {FULCRUM_TARGET_P99, ALL, 0.06}}},
    {FULCRUM_DOMAIN_MACHINE, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE, 500, 0.0,
        {{FULCRUM_TARGET_MEAN, UNFLAGGED, 0.005},
            {FULCRUM_TARGET_P95, UNFLAGGED, 0.015},
            {FULCRUM_TARGET_P99, UNFLAGGED, 0.03}, {FULCRUM_TARGET_MEAN, ALL, 0.01},
            {FULCRUM_TARGET_FLAGGED, ALL, 0.4}}},
    {FULCRUM_DOMAIN_FIXED, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE, 500, 0.0,
        {{FULCRUM_TARGET_MEAN, ALL, 0.02}, {FULCRUM_TARGET_P95, ALL, 0.05},
            {FULCRUM_TARGET_MAX, ALL, 0.12}}},
    {FULCRUM_DOMAIN_TRAINING, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE, 400, 0.0,
        {{FULCRUM_TARGET_MEAN, UNFLAGGED, 0.01}, {FULCRUM_TARGET_P95, UNFLAGGED, 0.02},
            {FULCRUM_TARGET_P99, UNFLAGGED, 0.03}, {FULCRUM_TARGET_MEAN, ALL, 0.02},
            {FULCRUM_TARGET_FLAGGED, ALL, 0.6}}},
    /* Nearly all are flagged for their mean batch: what holds of all keeps X usable. */
    {FULCRUM_DOMAIN_PERCEPTRON, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE, 400, 0.0,
        {{FULCRUM_TARGET_MEAN, UNFLAGGED, 0.01}, {FULCRUM_TARGET_P95, UNFLAGGED, 0.02},
            {FULCRUM_TARGET_P99, UNFLAGGED, 0.03}, {FULCRUM_TARGET_MEAN, ALL, 0.01},
            {FULCRUM_TARGET_P95, ALL, 0.03}}},
    /* The equations know no slices: they only have to say where that matters. */
    {FULCRUM_DOMAIN_SLICES, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE, 600, 0.0,
        {{FULCRUM_TARGET_MEAN, UNFLAGGED, 0.005},
            {FULCRUM_TARGET_P95, UNFLAGGED, 0.015},
            {FULCRUM_TARGET_WITHIN, ALL, 0.93}}},
};

const struct fulcrum_target *fulcrum_targets(size_t *count)
{
    *count = sizeof targets / sizeof targets[0];
    return targets;
}

const struct fulcrum_target *fulcrum_target_find(
    enum fulcrum_domain domain, enum fulcrum_method method, enum fulcrum_method judge)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct fulcrum_target *target = &targets[i];
        if (target->domain == domain && target->method == method &&
            target->judge == judge) {
            return target;
        }
    }
    return NULL;
}

/* By enum fulcrum_target_quantity. */
static const struct {
    const char *name;
    size_t offset; /* in struct fulcrum_comparison_summary */
} quantities[] = {
    {"none", 0},
    {"mean", offsetof(struct fulcrum_comparison_summary, mean_rel)},
    {"p95", offsetof(struct fulcrum_comparison_summary, p95_rel)},
    {"p99", offsetof(struct fulcrum_comparison_summary, p99_rel)},
    {"max", offsetof(struct fulcrum_comparison_summary, max_rel)},
    {"within", offsetof(struct fulcrum_comparison_summary, within_frac)},
    {"max_over_told", offsetof(struct fulcrum_comparison_summary, told_ratio_max)},
    {"flagged", offsetof(struct fulcrum_comparison_summary, flagged_frac)},
};

size_t fulcrum_target_judge(const struct fulcrum_target *target,
    struct fulcrum_verdict *out, const struct fulcrum_comparison_summary *summaries)
{
    size_t count = 0;
    while (count < FULCRUM_TARGET_LIMITS_MOST &&
           target->limits[count].quantity != FULCRUM_TARGET_NONE) {
        const struct fulcrum_target_limit *limit = &target->limits[count];
        const char *summary = (const char *)&summaries[limit->set];
        double measured = *(
            const double *)(const void *)(summary + quantities[limit->quantity].offset);
        bool is_least = limit->quantity == FULCRUM_TARGET_WITHIN;
        out[count++] = (struct fulcrum_verdict){
            .quantity = quantities[limit->quantity].name,
            .set = limit->set,
            .measured = measured,
            .limit = limit->limit,
            .is_met = is_least ? measured >= limit->limit : measured <= limit->limit,
        };
    }
    return count;
}

const char *fulcrum_comparison_set_name(enum fulcrum_comparison_set set)
{
    return set == FULCRUM_COMPARISON_ALL ? "all" : "unflagged";
}
