/* accuracy_report.h - what comparisons with a judge came to, printed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_ACCURACY_REPORT_H
#define FULCRUM_BENCH_ACCURACY_REPORT_H

#include "bench/target.h"
#include "cli/command.h"

/* The comparisons of one domain and what they come to. */
struct fulcrum_accuracy_domain {
    struct fulcrum_comparison_plan plan;
    size_t count;                                   /* networks drawn */
    struct fulcrum_comparison *comparisons;         /* `count`, owned */
    struct fulcrum_comparison_summary summaries[2]; /* by enum fulcrum_comparison_set */
    const struct fulcrum_target *target;            /* NULL: nothing is promised */
    struct fulcrum_verdict verdicts[FULCRUM_TARGET_LIMITS_MOST];
    size_t verdict_count;
};

struct fulcrum_accuracy {
    struct fulcrum_accuracy_domain *domains;
    size_t domain_count;
    size_t worst_count; /* networks to print of each domain */
    int is_interrupted;
};

/*
 * Summaries of a domain, and verdicts where all of its comparisons were done; the worst
 * are moved to the front.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_accuracy_conclude(
    struct fulcrum_accuracy_domain *domain, struct fulcrum_error *err);

/* How many limits of all domains are missed. */
size_t fulcrum_accuracy_missed(const struct fulcrum_accuracy *accuracy);

/*
 * Prints summaries, verdicts and the worst networks in the format of the context; CSV
 * has the summaries alone.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_accuracy_print(
    const struct fulcrum_accuracy *accuracy, const struct fulcrum_context *context,
    struct fulcrum_error *err);

#endif
