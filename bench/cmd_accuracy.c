/* cmd_accuracy.c - `fulcrum-bench accuracy`: errors of a method on random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/commands.h"
#include "bench/compare.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/output/report.h"
#include "cli/progress.h"
#include "model/predict/solver.h"
#include "model/try.h"

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
    bool is_interrupted;
};

/* What comparisons with a judge came to, printed. */

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static size_t count_state(
    const struct fulcrum_accuracy_domain *domain, enum fulcrum_comparison_state state)
{
    return fulcrum_comparison_count(domain->comparisons, domain->count, state);
}

/*
 * Summaries of a domain, and verdicts where all of its comparisons were done; the worst
 * are moved to the front.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status accuracy_conclude(
    struct fulcrum_accuracy_domain *domain, struct fulcrum_error *err)
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

/* How many limits of all domains are missed. */
static size_t accuracy_missed(const struct fulcrum_accuracy *accuracy)
{
    size_t missed = 0;
    for (size_t i = 0; i < accuracy->domain_count; i++) {
        const struct fulcrum_accuracy_domain *domain = &accuracy->domains[i];
        for (size_t j = 0; j < domain->verdict_count; j++) {
            missed += !domain->verdicts[j].is_met;
        }
    }
    return missed;
}

#define TEXT   FULCRUM_COLUMN_TEXT
#define NUMBER FULCRUM_COLUMN_NUMBER

/* Files get fractions, people percent. */
static const struct fulcrum_report_head summary_columns[] = {
    {"domain", TEXT, NULL},
    {"set", TEXT, NULL},
    {"judge", TEXT, NULL},
    {"networks", NUMBER, NULL},
    {"left_out", NUMBER, "left out"},
    {"mean_error_frac", NUMBER, "mean"},
    {"bias_frac", NUMBER, "bias"},
    {"p50_error_frac", NUMBER, "p50"},
    {"p95_error_frac", NUMBER, "p95"},
    {"p99_error_frac", NUMBER, "p99"},
    {"max_error_frac", NUMBER, "max"},
    {"flagged_frac", NUMBER, "flagged"},
    {"within_told_frac", NUMBER, "within"},
    {"mean_batch_error_frac", NUMBER, "batch"},
    {"cpu_busy_error_frac", NUMBER, "cpu"},
    {"host_busy_error_frac", NUMBER, "host"},
    {"gpu_busy_error_frac", NUMBER, "gpu"},
    {"judge_half_width_frac", NUMBER, "judge +-"},
    /* In files only, as are the reasons why networks are left out. */
    {"method", TEXT, NULL},
    {"refused", NUMBER, NULL},
    {"unjudged", NUMBER, NULL},
    {"failed", NUMBER, NULL},
};

enum { FILE_COLUMN_COUNT = 4 };

static const struct fulcrum_report_head verdict_columns[] = {
    {"domain", TEXT, NULL},
    {"set", TEXT, NULL},
    {"quantity", TEXT, NULL},
    {"measured", NUMBER, NULL},
    {"target", NUMBER, NULL},
    {"verdict", TEXT, NULL},
};

static void add_summary(struct fulcrum_report *report,
    const struct fulcrum_accuracy_domain *domain, enum fulcrum_comparison_set set,
    enum fulcrum_format format)
{
    size_t refused = count_state(domain, FULCRUM_COMPARISON_REFUSED);
    size_t unjudged = count_state(domain, FULCRUM_COMPARISON_UNJUDGED);
    size_t failed = count_state(domain, FULCRUM_COMPARISON_FAILED);
    fulcrum_report_add_text(report, fulcrum_domain_name(domain->plan.domain));
    fulcrum_report_add_text(report, fulcrum_comparison_set_name(set));
    fulcrum_report_add_text(report, fulcrum_method_name(domain->plan.judge));
    fulcrum_report_add_number(report, (double)domain->summaries[set].count);
    fulcrum_report_add_number(report, (double)(refused + unjudged + failed));
    const struct fulcrum_comparison_summary *summary = &domain->summaries[set];
    const double fractions[] = {summary->mean_rel, summary->bias_rel, summary->p50_rel,
        summary->p95_rel, summary->p99_rel, summary->max_rel, summary->flagged_frac,
        summary->within_frac, summary->batch_rel, summary->cpu_busy, summary->host_busy,
        summary->gpu_busy, summary->judge_rel};
    for (size_t i = 0; i < COUNT_OF(fractions); i++) {
        /* Three digits after the point are more than anybody needs; no -0. */
        fulcrum_report_add_number(report, format == FULCRUM_FORMAT_TABLE
                                              ? round(1e5 * fractions[i]) / 1e3 + 0.0
                                              : fractions[i]);
    }
    if (format != FULCRUM_FORMAT_TABLE) {
        fulcrum_report_add_text(report, fulcrum_method_name(domain->plan.method));
        fulcrum_report_add_number(report, (double)refused);
        fulcrum_report_add_number(report, (double)unjudged);
        fulcrum_report_add_number(report, (double)failed);
    }
}

/* People are not shown the same row twice, where nothing was flagged. */
static struct fulcrum_report *summary_report(
    const struct fulcrum_accuracy *accuracy, enum fulcrum_format format)
{
    bool is_table = format == FULCRUM_FORMAT_TABLE;
    struct fulcrum_report *report = fulcrum_report_new("domains", summary_columns,
        COUNT_OF(summary_columns) - (is_table ? FILE_COLUMN_COUNT : 0));
    for (size_t i = 0; i < accuracy->domain_count; i++) {
        const struct fulcrum_accuracy_domain *domain = &accuracy->domains[i];
        add_summary(report, domain, FULCRUM_COMPARISON_ALL, format);
        if (!is_table || domain->summaries[FULCRUM_COMPARISON_UNFLAGGED].count <
                             domain->summaries[FULCRUM_COMPARISON_ALL].count) {
            add_summary(report, domain, FULCRUM_COMPARISON_UNFLAGGED, format);
        }
    }
    return report;
}

static struct fulcrum_report *verdict_report(const struct fulcrum_accuracy *accuracy)
{
    struct fulcrum_report *report =
        fulcrum_report_new("targets", verdict_columns, COUNT_OF(verdict_columns));
    for (size_t i = 0; i < accuracy->domain_count; i++) {
        const struct fulcrum_accuracy_domain *domain = &accuracy->domains[i];
        for (size_t j = 0; j < domain->verdict_count; j++) {
            const struct fulcrum_verdict *verdict = &domain->verdicts[j];
            fulcrum_report_add_text(report, fulcrum_domain_name(domain->plan.domain));
            fulcrum_report_add_text(report, fulcrum_comparison_set_name(verdict->set));
            fulcrum_report_add_text(report, verdict->quantity);
            fulcrum_report_add_number(report, verdict->measured);
            fulcrum_report_add_number(report, verdict->limit);
            fulcrum_report_add_text(report, verdict->is_met ? "met" : "missed");
        }
    }
    return report;
}

/* How many of its worst networks a domain can show. */
static size_t worst_count(const struct fulcrum_accuracy *accuracy,
    const struct fulcrum_accuracy_domain *domain)
{
    size_t done = domain->summaries[FULCRUM_COMPARISON_ALL].count;
    return accuracy->worst_count < done ? accuracy->worst_count : done;
}

static struct fulcrum_network network_of(
    const struct fulcrum_accuracy_domain *domain, size_t rank)
{
    return fulcrum_random_network(
        domain->plan.domain, domain->plan.seed, domain->comparisons[rank].index);
}

static void add_worst(
    struct fulcrum_json *document, const struct fulcrum_accuracy *accuracy)
{
    struct fulcrum_json *array = fulcrum_json_add_array(document, "worst");
    for (size_t i = 0; i < accuracy->domain_count; i++) {
        const struct fulcrum_accuracy_domain *domain = &accuracy->domains[i];
        for (size_t j = 0; j < worst_count(accuracy, domain); j++) {
            const struct fulcrum_comparison *worst = &domain->comparisons[j];
            struct fulcrum_network network = network_of(domain, j);
            struct fulcrum_json *object = fulcrum_json_append_object(array);
            fulcrum_json_add_number(object, "error_rel", worst->error_rel);
            fulcrum_json_add_number(object, "told_rel", worst->told_rel);
            fulcrum_json_add_number(object, "judge_half_width_rel", worst->judge_rel);
            fulcrum_flags_to_json(worst->flags, object);
            fulcrum_network_to_json(
                &network, fulcrum_json_add_object(object, "network"));
        }
    }
}

static enum fulcrum_status print_json(const struct fulcrum_accuracy *accuracy,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *summaries = summary_report(accuracy, context->format);
    struct fulcrum_report *verdicts = verdict_report(accuracy);
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-bench-accuracy");
    fulcrum_json_add_flag(document, "interrupted", accuracy->is_interrupted);
    fulcrum_json_add_number(document, "seed", (double)accuracy->domains[0].plan.seed);
    fulcrum_report_to_json(summaries, document);
    fulcrum_report_to_json(verdicts, document);
    add_worst(document, accuracy);
    enum fulcrum_status status = fulcrum_report_print_document(document, context, err);
    fulcrum_report_free(summaries);
    fulcrum_report_free(verdicts);
    return status;
}

static enum fulcrum_status print_worst(const struct fulcrum_accuracy *accuracy,
    const struct fulcrum_accuracy_domain *domain, FILE *stream,
    struct fulcrum_error *err)
{
    for (size_t j = 0; j < worst_count(accuracy, domain); j++) {
        const struct fulcrum_comparison *worst = &domain->comparisons[j];
        struct fulcrum_network network = network_of(domain, j);
        char flags[1000];
        fulcrum_flags_join(worst->flags, flags, sizeof flags);
        (void)fprintf(stream, "\n%s: error %+.2f %%, told %.2f %%%s%s\n", network.name,
            100.0 * worst->error_rel, 100.0 * worst->told_rel,
            flags[0] != '\0' ? "; " : "", flags);
        TRY(fulcrum_network_print(stream, &network, err));
    }
    return FULCRUM_OK;
}

static bool has_verdicts(const struct fulcrum_accuracy *accuracy)
{
    size_t count = 0;
    for (size_t i = 0; i < accuracy->domain_count; i++) {
        count += accuracy->domains[i].verdict_count;
    }
    return count > 0;
}

static enum fulcrum_status print_table(const struct fulcrum_accuracy *accuracy,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *summaries = summary_report(accuracy, context->format);
    struct fulcrum_report *verdicts = verdict_report(accuracy);
    /* What the tables do not say. */
    FILE *stream = context->out;
    const struct fulcrum_comparison_plan *plan = &accuracy->domains[0].plan;
    (void)fprintf(stream, "%s against its judge, seed %.0f, errors in %%%s\n\n",
        fulcrum_method_name(plan->method), (double)plan->seed,
        accuracy->is_interrupted ? "; interrupted, so some networks are missing" : "");
    enum fulcrum_status status = fulcrum_report_print(summaries, "", context, err);
    if (status == FULCRUM_OK && has_verdicts(accuracy)) {
        (void)fputc('\n', context->out);
        status = fulcrum_report_print(verdicts, "", context, err);
    }
    for (size_t i = 0; i < accuracy->domain_count && status == FULCRUM_OK; i++) {
        status = print_worst(accuracy, &accuracy->domains[i], context->out, err);
    }
    fulcrum_report_free(summaries);
    fulcrum_report_free(verdicts);
    return status;
}

/*
 * Prints summaries, verdicts and the worst networks in the format of the context; CSV
 * has the summaries alone.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status accuracy_print(const struct fulcrum_accuracy *accuracy,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_JSON) {
        return print_json(accuracy, context, err);
    }
    if (context->format == FULCRUM_FORMAT_TABLE) {
        return print_table(accuracy, context, err);
    }
    struct fulcrum_report *summaries = summary_report(accuracy, context->format);
    enum fulcrum_status status = fulcrum_report_print(summaries, "", context, err);
    fulcrum_report_free(summaries);
    return status;
}

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

/* Domains that Ctrl-C comes before are left out of the report. */
static enum fulcrum_status compare_all(struct job *job, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < job->domain_count && status == FULCRUM_OK; i++) {
        if (i > 0 && *job->stop != 0) {
            break;
        }
        struct fulcrum_accuracy_domain *domain = &job->domains[i];
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
        status = accuracy_conclude(&job->domains[i], err);
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
    } else if (failed > 0 || accuracy_missed(&job->accuracy) > 0) {
        context->exit_code = FULCRUM_EXIT_FAILED;
    }
}

static enum fulcrum_status run_job(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    /* All but the extremes, which belong to no design and may simulate for hours. */
    for (int i = 0; i < (int)FULCRUM_DOMAIN_COUNT; i++) {
        bool is_wanted = job->settings->domain == (int)FULCRUM_DOMAIN_COUNT
                             ? i != (int)FULCRUM_DOMAIN_CORNERS
                             : i == job->settings->domain;
        if (is_wanted) {
            TRY(plan_domain(job, (enum fulcrum_domain)i, err));
        }
    }
    fulcrum_progress_start(&job->progress, context);
    enum fulcrum_status status = compare_all(job, err);
    fulcrum_progress_end(&job->progress);
    job->accuracy.is_interrupted = *job->stop != 0;
    TRY(status);
    set_exit_code(job, context);
    return accuracy_print(&job->accuracy, context, err);
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
    FULCRUM_OPTION(CHOICE, "domain", offsetof(struct settings, domain), "NAME",
        .fallback = "all", .choice = domain_name,
        .help = "which networks are drawn; all leaves out the corners"),
    FULCRUM_OPTION(COUNT, "networks", offsetof(struct settings, networks), "N",
        .least = 1.0, .most = 1e7,
        .help = "how many of each domain; as many as its targets ask for unless given"),
    FULCRUM_OPTION_SEED(offsetof(struct settings, seed),
        "of networks and simulations; the same seed gives the same bytes"),
    FULCRUM_OPTION(CHOICE, "method", offsetof(struct settings, method), "METHOD",
        .fallback = "fast", .choice = method_name, .help = "the method that is judged"),
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
    .run = run,
};
