/* accuracy_report.c - what comparisons with a judge came to, printed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/accuracy_report.h"

#include <math.h>

#include "bench/network_json.h"
#include "cli/flags.h"
#include "cli/report.h"
#include "model/solver.h"
#include "model/try.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static size_t count_state(
    const struct fulcrum_accuracy_domain *domain, enum fulcrum_comparison_state state)
{
    return fulcrum_comparison_count(domain->comparisons, domain->count, state);
}

enum fulcrum_status fulcrum_accuracy_conclude(
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

size_t fulcrum_accuracy_missed(const struct fulcrum_accuracy *accuracy)
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
static const struct fulcrum_column summary_columns[] = {
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

static const struct fulcrum_column verdict_columns[] = {
    {"domain", TEXT, NULL},
    {"set", TEXT, NULL},
    {"quantity", TEXT, NULL},
    {"measured", NUMBER, NULL},
    {"target", NUMBER, NULL},
    {"verdict", TEXT, NULL},
};

static void add_fractions(struct fulcrum_report *report,
    const struct fulcrum_comparison_summary *summary, enum fulcrum_format format)
{
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
}

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
    add_fractions(report, &domain->summaries[set], format);
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
    int is_table = format == FULCRUM_FORMAT_TABLE;
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
    enum fulcrum_status status;
    fulcrum_json_add_flag(document, "interrupted", accuracy->is_interrupted);
    fulcrum_json_add_number(document, "seed", (double)accuracy->domains[0].plan.seed);
    fulcrum_report_to_json(summaries, document);
    fulcrum_report_to_json(verdicts, document);
    add_worst(document, accuracy);
    if (summaries == NULL || verdicts == NULL) {
        fulcrum_json_free(document);
        status = fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "out of memory");
    } else {
        status = fulcrum_report_print_document(document, context, err);
    }
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

static int has_verdicts(const struct fulcrum_accuracy *accuracy)
{
    size_t count = 0;
    for (size_t i = 0; i < accuracy->domain_count; i++) {
        count += accuracy->domains[i].verdict_count;
    }
    return count > 0;
}

/* What the tables do not say. */
static void print_head(const struct fulcrum_accuracy *accuracy, FILE *stream)
{
    const struct fulcrum_comparison_plan *plan = &accuracy->domains[0].plan;
    (void)fprintf(stream, "%s against its judge, seed %.0f, errors in %%%s\n\n",
        fulcrum_method_name(plan->method), (double)plan->seed,
        accuracy->is_interrupted ? "; interrupted, so some networks are missing" : "");
}

static enum fulcrum_status print_table(const struct fulcrum_accuracy *accuracy,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *summaries = summary_report(accuracy, context->format);
    struct fulcrum_report *verdicts = verdict_report(accuracy);
    print_head(accuracy, context->out);
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

enum fulcrum_status fulcrum_accuracy_print(const struct fulcrum_accuracy *accuracy,
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
