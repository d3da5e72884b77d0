/* cmd_accuracy.c - `fulcrum-bench accuracy`: errors of a method on random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/accuracy_report.h"
#include "bench/commands.h"
#include "cli/allocate.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "model/solver.h"
#include "model/try.h"

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
    struct fulcrum_accuracy accuracy;
    struct fulcrum_accuracy_domain domains[FULCRUM_DOMAIN_COUNT];
    size_t domain_count; /* planned */
    size_t total;        /* networks of all of them */
    size_t done;
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
};

/* Simulations are what all networks can be held against; the chain is exact. */
static enum fulcrum_method judge_of(
    const struct settings *settings, enum fulcrum_domain domain)
{
    static const enum fulcrum_method judges[] = {
        FULCRUM_METHOD_SIMULATE, FULCRUM_METHOD_CHAIN};
    if (settings->judge >= 0) {
        return judges[settings->judge];
    }
    return domain == FULCRUM_DOMAIN_EXPONENTIAL ? FULCRUM_METHOD_CHAIN
                                                : FULCRUM_METHOD_SIMULATE;
}

static double half_width_of(
    const struct settings *settings, const struct fulcrum_target *target)
{
    if (!isnan(settings->half_width_rel)) {
        return settings->half_width_rel;
    }
    return target != NULL ? target->half_width_rel : 0.0;
}

static enum fulcrum_status plan_domain(
    struct job *job, enum fulcrum_domain domain, struct fulcrum_error *err)
{
    const struct settings *settings = job->settings;
    struct fulcrum_accuracy_domain *out = &job->domains[job->domain_count++];
    out->plan = (struct fulcrum_comparison_plan){
        .domain = domain,
        .seed = (uint64_t)settings->seed,
        .method = (enum fulcrum_method)settings->method,
        .judge = judge_of(settings, domain),
        .judge_half_width_rel = settings->judge_half_width_rel,
    };
    out->target = fulcrum_target_find(domain, out->plan.method, out->plan.judge);
    out->plan.half_width_rel = half_width_of(settings, out->target);
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

/* All but the extremes, which belong to no design and may simulate for hours. */
static enum fulcrum_status plan_all(struct job *job, struct fulcrum_error *err)
{
    for (int i = 0; i < (int)FULCRUM_DOMAIN_COUNT; i++) {
        int is_wanted = job->settings->domain == (int)FULCRUM_DOMAIN_COUNT
                            ? i != (int)FULCRUM_DOMAIN_CORNERS
                            : i == job->settings->domain;
        if (is_wanted) {
            TRY(plan_domain(job, (enum fulcrum_domain)i, err));
        }
    }
    return FULCRUM_OK;
}

static void compare_domain(struct job *job, struct fulcrum_accuracy_domain *domain)
{
    for (size_t first = 0; first < domain->count; first += BLOCK) {
        size_t left = domain->count - first;
        size_t count = left < BLOCK ? left : BLOCK;
        fulcrum_progress_update(&job->progress, (double)job->done / (double)job->total,
            fulcrum_domain_name(domain->plan.domain));
        fulcrum_compare(
            &domain->plan, domain->comparisons + first, first, count, job->stop);
        job->done += count;
    }
}

/* Domains that Ctrl-C comes before are left out of the report. */
static enum fulcrum_status compare_all(struct job *job, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < job->domain_count && status == FULCRUM_OK; i++) {
        if (i > 0 && *job->stop != 0) {
            break;
        }
        compare_domain(job, &job->domains[i]);
        status = fulcrum_accuracy_conclude(&job->domains[i], err);
        job->accuracy.domain_count++;
    }
    return status;
}

/* What failed inside a method is a fault of ours, never of the network. */
static void set_exit_code(const struct job *job, struct fulcrum_context *context)
{
    size_t failed = 0;
    for (size_t i = 0; i < job->accuracy.domain_count; i++) {
        const struct fulcrum_accuracy_domain *domain = &job->domains[i];
        failed += fulcrum_comparison_count(
            domain->comparisons, domain->count, FULCRUM_COMPARISON_FAILED);
    }
    if (job->accuracy.is_interrupted) {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    } else if (failed > 0 || fulcrum_accuracy_missed(&job->accuracy) > 0) {
        context->exit_code = FULCRUM_EXIT_FAILED;
    }
}

static enum fulcrum_status run_job(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    TRY(plan_all(job, err));
    fulcrum_progress_start(&job->progress, context);
    enum fulcrum_status status = compare_all(job, err);
    fulcrum_progress_end(&job->progress);
    job->accuracy.is_interrupted = *job->stop != 0;
    TRY(status);
    set_exit_code(job, context);
    return fulcrum_accuracy_print(&job->accuracy, context, err);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct job *job = fulcrum_allocate(1, sizeof *job);
    job->settings = settings;
    job->accuracy.domains = job->domains;
    job->accuracy.worst_count = (size_t)settings->worst;
    job->stop = fulcrum_interrupt_watch();
    enum fulcrum_status status = run_job(job, context, err);
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

static const char *method_name(int index)
{
    return fulcrum_method_name((enum fulcrum_method)index);
}

static const char *judge_name(int index)
{
    static const char *const names[] = {"simulate", "chain"};
    return index < 2 ? names[index] : NULL;
}

static const struct fulcrum_option rows[] = {
    {.name = "domain",
        .kind = FULCRUM_OPTION_CHOICE,
        .offset = offsetof(struct settings, domain),
        .value = "NAME",
        .fallback = "all",
        .choice = domain_name,
        .help = "which networks are drawn; all leaves out the corners"},
    {.name = "networks",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = offsetof(struct settings, networks),
        .value = "N",
        .least = 1.0,
        .most = 1e7,
        .help = "how many of each domain; as many as its targets ask for unless given"},
    FULCRUM_OPTION_SEED(offsetof(struct settings, seed),
        "of networks and simulations; the same seed gives the same bytes"),
    {.name = "method",
        .kind = FULCRUM_OPTION_CHOICE,
        .offset = offsetof(struct settings, method),
        .value = "METHOD",
        .fallback = "fast",
        .choice = method_name,
        .help = "the method that is judged"},
    {.name = "judge",
        .kind = FULCRUM_OPTION_CHOICE,
        .offset = offsetof(struct settings, judge),
        .value = "METHOD",
        .choice = judge_name,
        .help = "what it is held against; the chain on exponential networks and "
                "simulations on all others unless given"},
    {.name = "half-width",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, judge_half_width_rel),
        .value = "FRACTION",
        .fallback = "0.002",
        .least = 1e-5,
        .most = 0.5,
        .help = "relative half-width of the 95 % intervals of a judge that simulates"},
    {.name = "method-half-width",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, half_width_rel),
        .value = "FRACTION",
        .least = 1e-5,
        .most = 0.5,
        .help = "the same of a method that simulates, or that chooses by it (auto); as "
                "the target asks for, else 0.01, unless given"},
    {.name = "worst",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = offsetof(struct settings, worst),
        .value = "N",
        .fallback = "0",
        .least = 0.0,
        .most = 1e7,
        .help =
            "networks with the largest errors to print of each domain, as lines for "
            "'fulcrum solve' (not in CSV)"},
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
    .run = run,
};
