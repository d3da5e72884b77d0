/* cmd_accuracy.c - `fulcrum-bench accuracy`: errors of a method on random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/commands.h"
#include "bench/compare.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "model/predict/solver.h"
#include "model/result.h"
#include "model/try.h"
#include "presets/load/network_line.h"

/* The comparisons of one domain and what they come to. */
struct domain {
    struct fulcrum_comparison_plan plan;
    size_t count;                                   /* networks drawn */
    struct fulcrum_comparison *comparisons;         /* `count`, owned */
    struct fulcrum_comparison_summary summaries[2]; /* by enum fulcrum_comparison_set */
    const struct fulcrum_target *target;            /* NULL: nothing is promised */
    struct fulcrum_verdict verdicts[FULCRUM_TARGET_LIMITS_MOST];
    size_t verdict_count;
};

/* Networks between two looks at progress; threads lose little at the end of each. */
enum { BLOCK = 50 };

/* Where nothing is promised. */
enum { STANDARD_NETWORKS = 500 };

struct settings {
    int domain; /* FULCRUM_DOMAIN_COUNT: all */
    double networks;
    double seed;
    int method;
    int judge; /* -1: not given */
    double half_width_rel;
    double judge_half_width_rel;
    double worst;
};

struct job {
    const struct settings *settings;
    struct domain domains[FULCRUM_DOMAIN_COUNT];
    size_t domain_count; /* planned */
    size_t compared_count;
    size_t total; /* networks of all of them */
    size_t done;
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
};

/* What comparisons with a judge came to. */

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static size_t count_state(
    const struct domain *domain, enum fulcrum_comparison_state state)
{
    return fulcrum_comparison_count(domain->comparisons, domain->count, state);
}

/*
 * Summaries of a domain, and verdicts where all of its comparisons were done; the worst
 * are moved to the front.
 */
static enum fulcrum_status conclude(struct domain *domain, struct fulcrum_error *err)
{
    static const enum fulcrum_comparison_set sets[] = {
        FULCRUM_COMPARISON_ALL, FULCRUM_COMPARISON_UNFLAGGED};
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        TRY(fulcrum_comparison_summarise(&domain->summaries[sets[i]],
            domain->comparisons, domain->count, sets[i], err));
    }
    (void)fulcrum_comparison_worst(domain->comparisons, domain->count, 0);
    size_t not_run = count_state(domain, FULCRUM_COMPARISON_NOT_RUN);
    domain->verdict_count =
        domain->target != NULL && not_run == 0
            ? fulcrum_target_judge(domain->target, domain->verdicts, domain->summaries)
            : 0;
    return FULCRUM_OK;
}

static void add_summary(struct fulcrum_table *table, const struct domain *domain,
    enum fulcrum_comparison_set set)
{
    const struct fulcrum_comparison_summary *of = &domain->summaries[set];
    double refused = (double)count_state(domain, FULCRUM_COMPARISON_REFUSED);
    double unjudged = (double)count_state(domain, FULCRUM_COMPARISON_UNJUDGED);
    double failed = (double)count_state(domain, FULCRUM_COMPARISON_FAILED);
    fulcrum_table_row(table);
    fulcrum_table_text(
        table, "domain", "domain", fulcrum_domain_name(domain->plan.domain));
    fulcrum_table_text(table, "set", "set", fulcrum_comparison_set_name(set));
    fulcrum_table_text(table, "judge", NULL, fulcrum_method_name(domain->plan.judge));
    fulcrum_table_number(table, "networks", "networks", (double)of->count);
    fulcrum_table_number(table, "left_out", "left out", refused + unjudged + failed);
    fulcrum_table_number(table, "mean_error_frac", "mean", of->mean_rel);
    fulcrum_table_number(table, "bias_frac", "bias", of->bias_rel);
    fulcrum_table_number(table, "p50_error_frac", NULL, of->p50_rel);
    fulcrum_table_number(table, "p95_error_frac", "p95", of->p95_rel);
    fulcrum_table_number(table, "p99_error_frac", "p99", of->p99_rel);
    fulcrum_table_number(table, "max_error_frac", "max", of->max_rel);
    fulcrum_table_number(table, "flagged_frac", "flagged", of->flagged_frac);
    fulcrum_table_number(table, "within_told_frac", "within", of->within_frac);
    fulcrum_table_number(table, "mean_batch_error_frac", NULL, of->batch_rel);
    fulcrum_table_number(table, "cpu_busy_error_frac", NULL, of->cpu_busy);
    fulcrum_table_number(table, "host_busy_error_frac", NULL, of->host_busy);
    fulcrum_table_number(table, "gpu_busy_error_frac", NULL, of->gpu_busy);
    fulcrum_table_number(table, "judge_half_width_frac", NULL, of->judge_rel);
    fulcrum_table_text(table, "method", NULL, fulcrum_method_name(domain->plan.method));
    fulcrum_table_number(table, "refused", NULL, refused);
    fulcrum_table_number(table, "unjudged", NULL, unjudged);
    fulcrum_table_number(table, "failed", NULL, failed);
}

/* As far as the domain has so many that were compared. */
static enum fulcrum_status add_worst(struct fulcrum_table *table,
    struct fulcrum_table *lines, const struct domain *domain, size_t count,
    struct fulcrum_error *err)
{
    size_t done = domain->summaries[FULCRUM_COMPARISON_ALL].count;
    for (size_t j = 0; j < count && j < done; j++) {
        const struct fulcrum_comparison *worst = &domain->comparisons[j];
        const struct fulcrum_network network = fulcrum_random_network(
            domain->plan.domain, domain->plan.seed, worst->index);
        char flags[1000];
        char *line = NULL;
        TRY(fulcrum_network_line_text(&network, &line, err));
        fulcrum_flags_join(worst->flags, flags, sizeof flags);
        fulcrum_table_row(table);
        fulcrum_table_text(table, "name", "network", network.name);
        fulcrum_table_number(table, "error_rel", NULL, worst->error_rel);
        fulcrum_table_number(table, "error_frac", "error", worst->error_rel);
        fulcrum_table_number(table, "told_rel", NULL, worst->told_rel);
        fulcrum_table_number(table, "told_frac", "told", worst->told_rel);
        fulcrum_table_number(table, "judge_half_width_rel", NULL, worst->judge_rel);
        fulcrum_table_text(table, "flags", "flags", flags);
        fulcrum_table_row(lines);
        fulcrum_table_text(lines, "network", "lines for 'fulcrum solve'", line);
        free(line);
    }
    return FULCRUM_OK;
}

/* Shows summaries, verdicts and the worst networks; CSV has the summaries alone. */
static enum fulcrum_status show(const struct job *job, bool is_interrupted,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_comparison_plan *plan = &job->domains[0].plan;
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-bench-accuracy");
    fulcrum_result_print(result, "comparison", "comparison",
        "%s against its judge, seed %.0f", fulcrum_method_name(plan->method),
        (double)plan->seed);
    fulcrum_result_flag(
        result, "interrupted", is_interrupted ? "interrupted" : NULL, is_interrupted);
    fulcrum_result_number(result, "seed", NULL, (double)plan->seed);
    struct fulcrum_table *summaries =
        fulcrum_result_table(result, "domains", "errors of the steps per second");
    struct fulcrum_table *verdicts = fulcrum_result_table(result, "targets", "targets");
    struct fulcrum_table *worst =
        fulcrum_result_table(result, "worst", "largest errors");
    struct fulcrum_table *lines = fulcrum_result_table(result, "worst_networks", "");
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < job->compared_count && status == FULCRUM_OK; i++) {
        const struct domain *domain = &job->domains[i];
        add_summary(summaries, domain, FULCRUM_COMPARISON_ALL);
        add_summary(summaries, domain, FULCRUM_COMPARISON_UNFLAGGED);
        for (size_t j = 0; j < domain->verdict_count; j++) {
            const struct fulcrum_verdict *verdict = &domain->verdicts[j];
            fulcrum_table_row(verdicts);
            fulcrum_table_text(
                verdicts, "domain", "domain", fulcrum_domain_name(domain->plan.domain));
            fulcrum_table_text(
                verdicts, "set", "set", fulcrum_comparison_set_name(verdict->set));
            fulcrum_table_text(verdicts, "quantity", "quantity", verdict->quantity);
            fulcrum_table_number(verdicts, "measured", "measured", verdict->measured);
            fulcrum_table_number(verdicts, "target", "target", verdict->limit);
            fulcrum_table_text(
                verdicts, "verdict", "verdict", verdict->is_met ? "met" : "missed");
        }
        status = add_worst(worst, lines, domain, (size_t)job->settings->worst, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_result_free(result);
        return status;
    }
    if (fulcrum_table_constant(summaries, "left_out") <= 0.0) {
        fulcrum_table_hide(summaries, "left_out");
    }
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status plan_domain(
    struct job *job, enum fulcrum_domain domain, struct fulcrum_error *err)
{
    static const enum fulcrum_method judges[] = {
        FULCRUM_METHOD_SIMULATE, FULCRUM_METHOD_CHAIN};
    const struct settings *settings = job->settings;
    struct domain *out = &job->domains[job->domain_count++];
    /* Simulations are what all networks can be held against; the chain is exact. */
    int judge = settings->judge >= 0                   ? settings->judge
                : domain == FULCRUM_DOMAIN_EXPONENTIAL ? 1
                                                       : 0;
    out->plan = (struct fulcrum_comparison_plan){
        .domain = domain,
        .seed = (uint64_t)settings->seed,
        .method = (enum fulcrum_method)settings->method,
        .judge = judges[judge],
        .judge_half_width_rel = settings->judge_half_width_rel,
    };
    out->target = fulcrum_target_find(domain, out->plan.method, out->plan.judge);
    out->plan.half_width_rel = !isnan(settings->half_width_rel)
                                   ? settings->half_width_rel
                               : out->target != NULL ? out->target->half_width_rel
                                                     : 0.0;
    out->count = out->target != NULL ? out->target->networks : STANDARD_NETWORKS;
    if (!isnan(settings->networks)) {
        out->count = (size_t)settings->networks;
    }
    out->comparisons = calloc(out->count, sizeof *out->comparisons);
    job->total += out->count;
    return out->comparisons != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu networks", out->count);
}

/* Domains that Ctrl-C comes before are left out of the report. */
static enum fulcrum_status compare_all(struct job *job, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < job->domain_count && status == FULCRUM_OK; i++) {
        if (i > 0 && *job->stop != 0) {
            break;
        }
        struct domain *domain = &job->domains[i];
        for (size_t first = 0; first < domain->count; first += BLOCK) {
            size_t left = domain->count - first;
            size_t count = left < BLOCK ? left : BLOCK;
            fulcrum_progress_update(&job->progress,
                (double)job->done / (double)job->total,
                fulcrum_domain_name(domain->plan.domain));
            fulcrum_compare(
                &domain->plan, domain->comparisons + first, first, count, job->stop);
            job->done += count;
        }
        status = conclude(domain, err);
        job->compared_count++;
    }
    return status;
}

/* Whether a limit is missed, or a method failed: a fault of ours, never of the network.
 */
static bool has_failed(const struct job *job)
{
    bool is_failed = false;
    for (size_t i = 0; i < job->compared_count; i++) {
        const struct domain *domain = &job->domains[i];
        is_failed = is_failed || count_state(domain, FULCRUM_COMPARISON_FAILED) > 0;
        for (size_t j = 0; j < domain->verdict_count; j++) {
            is_failed = is_failed || !domain->verdicts[j].is_met;
        }
    }
    return is_failed;
}

static enum fulcrum_status run_accuracy(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job *job = fulcrum_allocate(1, sizeof *job);
    enum fulcrum_status status = FULCRUM_OK;
    job->settings = data;
    job->stop = fulcrum_interrupt_watch();
    /* All but the extremes, which belong to no design and may simulate for hours. */
    for (int i = 0; i < (int)FULCRUM_DOMAIN_COUNT; i++) {
        bool is_wanted = job->settings->domain == (int)FULCRUM_DOMAIN_COUNT
                             ? i != (int)FULCRUM_DOMAIN_CORNERS
                             : i == job->settings->domain;
        if (is_wanted) {
            TRY_OR_END(plan_domain(job, (enum fulcrum_domain)i, err));
        }
    }
    fulcrum_progress_start(&job->progress, context);
    status = compare_all(job, err);
    fulcrum_progress_end(&job->progress);
    bool is_interrupted = *job->stop != 0;
    if (status != FULCRUM_OK) {
        goto end;
    }
    context->exit_code = is_interrupted    ? FULCRUM_EXIT_INTERRUPTED
                         : has_failed(job) ? FULCRUM_EXIT_FAILED
                                           : context->exit_code;
    status = show(job, is_interrupted, context, err);
end:
    for (size_t i = 0; i < job->domain_count; i++) {
        free(job->domains[i].comparisons);
    }
    free(job);
    return status;
}

static const char *domain_name(int index)
{
    return index == (int)FULCRUM_DOMAIN_COUNT ? "all"
                                              : fulcrum_domain_name((size_t)index);
}

static const char *judge_name(int index)
{
    static const char *const names[] = {"simulate", "chain"};
    return index < 2 ? names[index] : NULL;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(CHOICE, "domain", offsetof(struct settings, domain), "NAME",
        .fallback = "all", .choice = domain_name,
        .help = "which networks are drawn; all leaves out the corners"),
    FULCRUM_OPTION(COUNT, "networks", offsetof(struct settings, networks), "N",
        .least = 1.0, .most = 1e7,
        .help = "how many of each domain; as many as its targets ask for unless given"),
    FULCRUM_OPTION_SEED(offsetof(struct settings, seed),
        "of networks and simulations; the same seed gives the same bytes"),
    FULCRUM_OPTION(CHOICE, "method", offsetof(struct settings, method), "METHOD",
        .fallback = "fast", .choice = fulcrum_method_name,
        .help = "the method that is judged"),
    FULCRUM_OPTION(CHOICE, "judge", offsetof(struct settings, judge), "METHOD",
        .choice = judge_name,
        .help = "what it is held against; the chain on exponential networks and "
                "simulations on all others unless given"),
    FULCRUM_OPTION(NUMBER, "half-width",
        offsetof(struct settings, judge_half_width_rel), "FRACTION",
        .fallback = "0.002", .least = 1e-5, .most = 0.5,
        .help = "relative half-width of the 95 % intervals of a judge that simulates"),
    FULCRUM_OPTION(NUMBER, "method-half-width",
        offsetof(struct settings, half_width_rel), "FRACTION", .least = 1e-5,
        .most = 0.5,
        .help = "the same of a method that simulates, or that chooses by it (auto); as "
                "the target asks for, else 0.01, unless given"),
    FULCRUM_OPTION(COUNT, "worst", offsetof(struct settings, worst), "N",
        .fallback = "0", .least = 0.0, .most = 1e7,
        .help =
            "networks with the largest errors to print of each domain, as lines for "
            "'fulcrum solve' (not in CSV)"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Comparison", rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum-bench accuracy", "the fast method on all domains, with the targets"},
    {"fulcrum-bench accuracy --domain fixed --seed 7 --worst 5",
        "another draw of fixed batches, and the five worst networks"},
    {"fulcrum-bench accuracy --method simulate --domain exponential",
        "simulations against the exact chain"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_bench_command_accuracy = {
    .program = FULCRUM_BENCH_PROGRAM,
    .name = "accuracy",
    .summary = "errors of a method on random networks, and whether targets are met",
    .description =
        "Draws networks at random, solves each by a method and by a judge, and tells "
        "how far the steps per second of the two are apart: mean, bias, percentiles "
        "and the largest, of all networks and of those without a flag; the share "
        "within the error that the method itself tells; mean errors of the mean batch "
        "and of busy fractions.\n\n"
        "Where a method promises something for a domain the limits follow, met or "
        "missed. Exit status 1: one is missed, or a method failed. Ctrl-C ends the "
        "comparison and prints what is there. docs/benchmark.md describes domains, "
        "columns and targets.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .format = FULCRUM_FORMAT_TABLE,
    .run = run_accuracy,
};
