/* compare.c - the fast solver against its judge, over random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/compare.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/parallel.h"
#include "model/predict/solver.h"
#include "model/try.h"

/*
 * A network, and the random numbers of the simulations that solve it, depend on the
 * seed and its index alone. So a network can be compared again by itself, and the
 * results do not depend on which thread came to it, or when. Method and judge simulate
 * with different numbers: errors of one are not hidden by the same errors of the other.
 */

/* Five times what the narrowest interval in use takes on average with heavy tails. */
#define JUDGE_MOST_STEPS 1e8

/* Streams 0 of each index are those that draw the network. */
enum { STREAM_JUDGE = 1, STREAM_METHOD = 2 };

/* Half of a simulation's interval, or the error that another method tells. */
static double told_rel(const struct fulcrum_solution *solution)
{
    return solution->has_interval
               ? (solution->steps_per_s_hi - solution->steps_per_s_lo) /
                     (2.0 * solution->steps_per_s)
               : solution->error_rel;
}

static enum fulcrum_comparison_state state_after(
    enum fulcrum_status status, enum fulcrum_comparison_state refused)
{
    return status == FULCRUM_ERR_UNSUPPORTED ? refused : FULCRUM_COMPARISON_FAILED;
}

struct work {
    const struct fulcrum_comparison_plan *plan;
    struct fulcrum_comparison *out;
    size_t first;
    const volatile sig_atomic_t *stop;
};

/* On any thread. */
static void work_on(void *context, size_t i)
{
    const struct work *work = context;
    struct fulcrum_comparison *out = &work->out[i];
    *out = (struct fulcrum_comparison){
        .state = FULCRUM_COMPARISON_NOT_RUN, .index = work->first + i};
    if (work->stop != NULL && *work->stop != 0) {
        return;
    }
    const struct fulcrum_comparison_plan *plan = work->plan;
    size_t index = out->index;
    struct fulcrum_network network =
        fulcrum_random_network(plan->domain, plan->seed, index);
    const struct fulcrum_solver_options judge_options = {.method = plan->judge,
        .seed = fulcrum_stream_seed(plan->seed, index, STREAM_JUDGE),
        .half_width_rel = plan->judge_half_width_rel,
        .max_steps = JUDGE_MOST_STEPS};
    const struct fulcrum_solver_options method_options = {.method = plan->method,
        .seed = fulcrum_stream_seed(plan->seed, index, STREAM_METHOD),
        .half_width_rel = plan->half_width_rel,
        .max_steps = JUDGE_MOST_STEPS};
    struct fulcrum_solution method;
    struct fulcrum_solution judge;
    out->status = fulcrum_solve(&network, &method_options, &method, NULL);
    if (out->status != FULCRUM_OK) {
        out->state = state_after(out->status, FULCRUM_COMPARISON_REFUSED);
        return;
    }
    out->status = fulcrum_solve(&network, &judge_options, &judge, NULL);
    if (out->status != FULCRUM_OK) {
        out->state = state_after(out->status, FULCRUM_COMPARISON_UNJUDGED);
        return;
    }
    out->state = FULCRUM_COMPARISON_DONE;
    out->steps_per_s = method.steps_per_s;
    out->error_rel = method.steps_per_s / judge.steps_per_s - 1.0;
    out->told_rel = told_rel(&method);
    out->judge_rel = told_rel(&judge);
    out->batch_error_rel = method.mean_batch / judge.mean_batch - 1.0;
    out->cpu_busy_error = method.cpu_thread_busy_frac - judge.cpu_thread_busy_frac;
    out->host_busy_error = method.host_busy_frac - judge.host_busy_frac;
    out->gpu_busy_error = method.gpu_busy_frac - judge.gpu_busy_frac;
    out->flags = method.flags;
}

void fulcrum_compare(const struct fulcrum_comparison_plan *plan,
    struct fulcrum_comparison *out, size_t first, size_t count,
    const volatile sig_atomic_t *stop)
{
    struct work work = {plan, out, first, stop};
    fulcrum_parallel_each(count, work_on, &work);
}

static double quantile(const double *sorted, size_t count, double frac)
{
    return count > 0 ? gsl_stats_quantile_from_sorted_data(sorted, 1, count, frac)
                     : (double)NAN;
}

enum fulcrum_status fulcrum_comparison_summarise(struct fulcrum_comparison_summary *out,
    const struct fulcrum_comparison *comparisons, size_t count,
    enum fulcrum_comparison_set set, struct fulcrum_error *err)
{
    double *errors = calloc(count + 1, sizeof *errors);
    TRY_MEMORY(errors, err, "errors of %zu networks", count);
    struct fulcrum_comparison_summary summary = {.count = 0};
    size_t told_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (comparisons[i].state == FULCRUM_COMPARISON_DONE &&
            (set == FULCRUM_COMPARISON_ALL || comparisons[i].flags == 0)) {
            /* Sums of everything that is a mean. */
            const struct fulcrum_comparison *comparison = &comparisons[i];
            double error = fabs(comparison->error_rel);
            summary.mean_rel += error;
            summary.bias_rel += comparison->error_rel;
            summary.flagged_frac += comparison->flags != 0;
            double told = comparison->told_rel + comparison->judge_rel;
            summary.within_frac += error <= told;
            if (told > 0.0) {
                summary.told_ratio_max = fmax(summary.told_ratio_max, error / told);
            }
            summary.judge_rel += comparison->judge_rel;
            summary.batch_rel += fabs(comparison->batch_error_rel);
            summary.cpu_busy += fabs(comparison->cpu_busy_error);
            summary.host_busy += fabs(comparison->host_busy_error);
            summary.gpu_busy += fabs(comparison->gpu_busy_error);
            told_count += comparisons[i].told_rel > 0.0;
            errors[summary.count++] = fabs(comparisons[i].error_rel);
        }
    }
    /* 0 / 0 is NAN as it should be, but the sanitizer takes it for a mistake. */
    double *const means[] = {&summary.mean_rel, &summary.bias_rel,
        &summary.flagged_frac, &summary.within_frac, &summary.judge_rel,
        &summary.batch_rel, &summary.cpu_busy, &summary.host_busy, &summary.gpu_busy};
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        *means[i] = summary.count > 0 ? *means[i] / (double)summary.count : (double)NAN;
    }
    if (told_count == 0) {
        summary.within_frac = (double)NAN;
        summary.told_ratio_max = (double)NAN;
    }
    gsl_sort(errors, 1, summary.count);
    summary.p50_rel = quantile(errors, summary.count, 0.5);
    summary.p95_rel = quantile(errors, summary.count, 0.95);
    summary.p99_rel = quantile(errors, summary.count, 0.99);
    summary.max_rel = quantile(errors, summary.count, 1.0);
    free(errors);
    *out = summary;
    return FULCRUM_OK;
}

size_t fulcrum_comparison_count(const struct fulcrum_comparison *comparisons,
    size_t count, enum fulcrum_comparison_state state)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += comparisons[i].state == state;
    }
    return found;
}

/* What was not compared comes last; equal errors in the order they were drawn. */
static int compare_errors(const void *a, const void *b)
{
    const struct fulcrum_comparison *left = a;
    const struct fulcrum_comparison *right = b;
    int left_done = left->state == FULCRUM_COMPARISON_DONE;
    int right_done = right->state == FULCRUM_COMPARISON_DONE;
    if (left_done != right_done) {
        return right_done - left_done;
    }
    double one = fabs(left->error_rel);
    double two = fabs(right->error_rel);
    int order = (one < two) - (one > two);
    return order != 0 ? order
                      : (left->index > right->index) - (left->index < right->index);
}

size_t fulcrum_comparison_worst(
    struct fulcrum_comparison *comparisons, size_t count, size_t wanted)
{
    qsort(comparisons, count, sizeof *comparisons, compare_errors);
    size_t done = fulcrum_comparison_count(comparisons, count, FULCRUM_COMPARISON_DONE);
    return wanted < done ? wanted : done;
}

/*
 * Limits are promises of docs/benchmark.md "Targets", not what was measured plus a
 * margin. Where a method says itself that it is rough (flags), the promise is about the
 * other networks, and about how many those are: to flag everything is no accuracy.
 */

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
