/* cmd_sensitivity.c - `fulcrum sensitivity`: which number matters most. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command/sensitivity_inputs.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/output/report.h"
#include "cli/progress.h"
#include "model/design/design.h"
#include "model/parallel.h"
#include "model/predict/solver.h"
#include "model/try.h"
#include "presets/io/json.h"

/* All borrowed. */
struct fulcrum_sensitivity_findings {
    const struct fulcrum_sensitivity_inputs *inputs;
    const struct fulcrum_sensitivity *result;
    const char *machine;
    const char *workload;
    const char *calibration;
    const char *actors_rule; /* "256", "6.4 per hardware thread", "varied" */
    const char *base;        /* settings of the point of comparison; "" */
    const char *method;
    double seed;
    bool is_complete; /* 0: interrupted */
};

/* What `fulcrum sensitivity` found, for people and programs. */

enum { METRIC_NAME_SIZE = 64 };

/* Shares of variance below this are not worth a line of the table for people. */
#define SMALL_FRAC 0.001
/* A list of fields goes on to the next line before it. */
enum { LINE_WIDTH = 98 };

static const struct fulcrum_report_head columns[] = {
    {"metric", FULCRUM_COLUMN_TEXT, NULL},
    {"unit", FULCRUM_COLUMN_TEXT, NULL},
    {"field", FULCRUM_COLUMN_TEXT, NULL},
    {"source", FULCRUM_COLUMN_TEXT, NULL},
    {"field_unit", FULCRUM_COLUMN_TEXT, NULL},
    {"field_lo", FULCRUM_COLUMN_NUMBER, NULL},
    {"field_value", FULCRUM_COLUMN_NUMBER, NULL},
    {"field_hi", FULCRUM_COLUMN_NUMBER, NULL},
    {"first_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"first_error", FULCRUM_COLUMN_NUMBER, NULL},
    {"total_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"total_error", FULCRUM_COLUMN_NUMBER, NULL},
    {"swing_lo", FULCRUM_COLUMN_NUMBER, NULL},
    {"swing_hi", FULCRUM_COLUMN_NUMBER, NULL},
    {"metric_value", FULCRUM_COLUMN_NUMBER, NULL},
    {"metric_mean", FULCRUM_COLUMN_NUMBER, NULL},
    {"metric_sd", FULCRUM_COLUMN_NUMBER, NULL},
    {"metric_lo", FULCRUM_COLUMN_NUMBER, NULL},
    {"metric_hi", FULCRUM_COLUMN_NUMBER, NULL},
    {"interaction_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"interaction_error", FULCRUM_COLUMN_NUMBER, NULL},
    {"rows", FULCRUM_COLUMN_NUMBER, NULL},
    {"dropped_rows", FULCRUM_COLUMN_NUMBER, NULL},
};

/* For people: the metric stands above its table. */
static const struct fulcrum_report_head table_columns[] = {
    {"field", FULCRUM_COLUMN_TEXT, NULL},
    {"field_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"field_value", FULCRUM_COLUMN_NUMBER, "value"},
    {"field_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"first_frac", FULCRUM_COLUMN_TEXT, "first +-"},
    {"total_frac", FULCRUM_COLUMN_TEXT, "total +-"},
    {"swing_lo", FULCRUM_COLUMN_NUMBER, "at 5 %"},
    {"swing_hi", FULCRUM_COLUMN_NUMBER, "at 95 %"},
    {"source", FULCRUM_COLUMN_TEXT, "from"},
};

/* An input as it is ranked for one metric. */
struct rank {
    size_t input;
    double total;
    double effect;
};

/* 1 where the metric is known with nothing varied. */
static int sensitivity_is_known(
    const struct fulcrum_sensitivity_findings *findings, size_t output)
{
    return !isnan(findings->result->values[output]);
}

/* Larger totals first, then larger bars; what is not known last, in its order. */
static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a;
    const struct rank *y = b;
    if (x->total != y->total) {
        return x->total < y->total ? 1 : -1;
    }
    if (x->effect != y->effect) {
        return x->effect < y->effect ? 1 : -1;
    }
    return x->input < y->input ? -1 : 1;
}

static double number_or(double value, double instead)
{
    return isnan(value) ? instead : value;
}

/* The caller frees it; NULL: no memory. */
static struct rank *rank_inputs(
    const struct fulcrum_sensitivity_findings *findings, size_t output)
{
    size_t count = findings->inputs->input_count;
    struct rank *ranks = calloc(count, sizeof *ranks);
    for (size_t i = 0; ranks != NULL && i < count; i++) {
        struct fulcrum_effect effect =
            fulcrum_sensitivity_effect(findings->result, output, i);
        struct fulcrum_sobol_index index =
            fulcrum_sobol_index(findings->result->sobol, output, i);
        ranks[i] = (struct rank){i, number_or(index.total, -1.0),
            number_or(fabs(effect.hi - effect.lo), -1.0)};
    }
    if (ranks != NULL) {
        qsort(ranks, count, sizeof *ranks, compare_ranks);
    }
    return ranks;
}

static void add_numbers(
    struct fulcrum_report *report, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_report_add_number(report, numbers[i]);
    }
}

static void add_input(struct fulcrum_report *report,
    const struct fulcrum_sensitivity_findings *findings, size_t output, size_t input)
{
    const struct fulcrum_reach *reach = &findings->result->reaches[input];
    struct fulcrum_sobol_index index =
        fulcrum_sobol_index(findings->result->sobol, output, input);
    struct fulcrum_effect effect =
        fulcrum_sensitivity_effect(findings->result, output, input);
    const double numbers[] = {reach->lo, reach->value, reach->hi, index.first,
        index.first_error, index.total, index.total_error, effect.lo, effect.hi};
    add_numbers(report, numbers, sizeof numbers / sizeof numbers[0]);
}

/* "" of a factor and of several numbers. */
static const char *field_unit(const struct fulcrum_sensitivity_input *input)
{
    if (input->span != NULL) {
        return input->span->field->unit;
    }
    bool is_one = input->uncertain_count == 1 && input->uncertain->field != NULL;
    return is_one ? input->uncertain->field->unit : "";
}

static void add_rows(struct fulcrum_report *report,
    const struct fulcrum_sensitivity_findings *findings, size_t output,
    const struct rank *ranks)
{
    const struct fulcrum_sensitivity_inputs *inputs = findings->inputs;
    char name[METRIC_NAME_SIZE];
    fulcrum_sensitivity_metric_name(&inputs->outputs[output], name, sizeof name);
    for (size_t i = 0; i < inputs->input_count; i++) {
        const struct fulcrum_sensitivity_words *words = &inputs->words[ranks[i].input];
        fulcrum_report_add_text(report, name);
        fulcrum_report_add_text(report,
            fulcrum_sensitivity_metric_unit(&inputs->outputs[output], &inputs->axis));
        fulcrum_report_add_text(report, words->label);
        fulcrum_report_add_text(report, words->source);
        fulcrum_report_add_text(report, field_unit(&inputs->inputs[ranks[i].input]));
        add_input(report, findings, output, ranks[i].input);
        struct fulcrum_sobol_spread spread =
            fulcrum_sobol_spread(findings->result->sobol, output);
        const double numbers[] = {findings->result->values[output], spread.mean,
            spread.sd, spread.lo, spread.hi, spread.interaction_frac,
            spread.interaction_error, (double)spread.row_count,
            (double)spread.dropped_count};
        add_numbers(report, numbers, sizeof numbers / sizeof numbers[0]);
    }
}

static struct fulcrum_report *report_all(
    const struct fulcrum_sensitivity_findings *findings)
{
    struct fulcrum_report *report =
        fulcrum_report_new("rows", columns, sizeof columns / sizeof columns[0]);
    for (size_t o = 0; o < findings->inputs->output_count; o++) {
        struct rank *ranks =
            sensitivity_is_known(findings, o) ? rank_inputs(findings, o) : NULL;
        if (ranks != NULL) {
            add_rows(report, findings, o, ranks);
        }
        free(ranks);
    }
    return report;
}

/* Too little to be worth a line of the table. */
static bool is_small(const struct rank *rank)
{
    return rank->total >= 0.0 && rank->total < SMALL_FRAC;
}

/* "total below 0.001: a, b", on as many lines as it takes. */
static void print_small(const struct fulcrum_sensitivity_findings *findings,
    const struct rank *ranks, FILE *stream)
{
    size_t used = 0; /* of the line */
    for (size_t i = 0; i < findings->inputs->input_count; i++) {
        const char *label = findings->inputs->words[ranks[i].input].label;
        if (!is_small(&ranks[i])) {
            continue;
        }
        if (used == 0) {
            used = (size_t)fprintf(stream, "  total below %g: %s", SMALL_FRAC, label);
        } else if (used + strlen(label) + 2 < LINE_WIDTH) {
            used += (size_t)fprintf(stream, ", %s", label);
        } else {
            used = (size_t)fprintf(stream, ",\n    %s", label);
        }
    }
    (void)fputs(used > 0 ? "\n" : "", stream);
}

/* "0.626 +- 0.015". */
static void add_share(struct fulcrum_report *report, double share, double error)
{
    char text[48] = "-";
    if (!isnan(share)) {
        (void)snprintf(text, sizeof text, "%5.3f +- %.3f", share, error);
    }
    fulcrum_report_add_text(report, text);
}

static void add_table_row(struct fulcrum_report *report,
    const struct fulcrum_sensitivity_findings *findings, size_t output, size_t input)
{
    const struct fulcrum_sensitivity_words *words = &findings->inputs->words[input];
    const struct fulcrum_reach *reach = &findings->result->reaches[input];
    struct fulcrum_sobol_index index =
        fulcrum_sobol_index(findings->result->sobol, output, input);
    struct fulcrum_effect effect =
        fulcrum_sensitivity_effect(findings->result, output, input);
    fulcrum_report_add_text(report, words->label);
    fulcrum_report_add_number(report, reach->lo);
    fulcrum_report_add_number(report, reach->value);
    fulcrum_report_add_number(report, reach->hi);
    add_share(report, index.first, index.first_error);
    add_share(report, index.total, index.total_error);
    fulcrum_report_add_number(report, effect.lo);
    fulcrum_report_add_number(report, effect.hi);
    fulcrum_report_add_text(report, words->source);
}

/* Four digits, without an exponent where people read it more easily. */
static void write_number(double value, char *out, size_t size)
{
    bool is_plain = fabs(value) >= 1e4 && fabs(value) < 1e9;
    (void)snprintf(out, size, is_plain ? "%.0f" : "%.4g", value);
}

static void print_spread(
    const struct fulcrum_sensitivity_findings *findings, size_t output, FILE *stream)
{
    char name[METRIC_NAME_SIZE];
    struct fulcrum_sobol_spread spread =
        fulcrum_sobol_spread(findings->result->sobol, output);
    const struct fulcrum_sensitivity_output *subject =
        &findings->inputs->outputs[output];
    const char *unit =
        fulcrum_sensitivity_metric_unit(subject, &findings->inputs->axis);
    fulcrum_sensitivity_metric_name(subject, name, sizeof name);
    char lo[32];
    char value[32];
    char hi[32];
    write_number(findings->result->values[output], value, sizeof value);
    write_number(spread.lo, lo, sizeof lo);
    write_number(spread.hi, hi, sizeof hi);
    (void)fprintf(stream, "%s: %s%s%s, 90 %% of worlds from %s to %s", name, value,
        unit[0] != '\0' ? " " : "", unit, lo, hi);
    if (spread.is_constant) {
        (void)fprintf(stream, ": nothing varied changes it");
    } else if (!isnan(spread.interaction_frac)) {
        (void)fprintf(stream, "; interactions %.3f +- %.3f", spread.interaction_frac,
            spread.interaction_error);
    }
    (void)fputs("\n", stream);
    if (spread.dropped_count > 0) {
        (void)fprintf(stream, "  %zu of %zu rows cannot run: %s\n",
            spread.dropped_count, spread.row_count, findings->result->reason);
    }
}

static void print_metric(const struct fulcrum_sensitivity_findings *findings, size_t o,
    const struct rank *ranks, FILE *stream)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("rows", table_columns);
    for (size_t i = 0; i < findings->inputs->input_count; i++) {
        if (!is_small(&ranks[i])) {
            add_table_row(report, findings, o, ranks[i].input);
        }
    }
    (void)fputs("\n", stream);
    print_spread(findings, o, stream);
    if (!fulcrum_sobol_spread(findings->result->sobol, o).is_constant) {
        fulcrum_report_print_table(report, stream, 2);
        print_small(findings, ranks, stream);
    }
    fulcrum_report_free(report);
}

static enum fulcrum_status print_table(
    const struct fulcrum_sensitivity_findings *findings, FILE *stream,
    struct fulcrum_error *err)
{
    (void)fprintf(stream,
        "machine      %s\nworkload     %s\ncalibration  %s\nactors       %s\n",
        findings->machine, findings->workload, findings->calibration,
        findings->actors_rule);
    if (findings->base[0] != '\0') {
        (void)fprintf(stream, "compared to  %s\n", findings->base);
    }
    for (size_t o = 0; o < findings->inputs->output_count; o++) {
        struct rank *ranks = rank_inputs(findings, o);
        TRY_MEMORY(ranks, err, "a ranking");
        if (sensitivity_is_known(findings, o)) {
            print_metric(findings, o, ranks, stream);
        }
        free(ranks);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status print_json(
    const struct fulcrum_sensitivity_findings *findings,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-sensitivity");
    fulcrum_json_add_text(document, "machine", findings->machine);
    fulcrum_json_add_text(document, "workload", findings->workload);
    fulcrum_json_add_text(document, "calibration", findings->calibration);
    fulcrum_json_add_text(document, "actors_rule", findings->actors_rule);
    fulcrum_json_add_text(document, "compared_to", findings->base);
    fulcrum_json_add_text(document, "method", findings->method);
    fulcrum_json_add_number(document, "seed", findings->seed);
    fulcrum_json_add_number(document, "replicates",
        (double)fulcrum_sobol_replicates(findings->result->sobol));
    fulcrum_json_add_flag(document, "complete", findings->is_complete);
    fulcrum_json_add_text(document, "cannot_run", findings->result->reason);
    struct fulcrum_report *report = report_all(findings);
    fulcrum_report_to_json(report, document);
    fulcrum_report_free(report);
    return fulcrum_report_print_document(document, context, err);
}

/*
 * Prints everything in the format of `context`: metric after metric, inputs with the
 * largest total share first.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status sensitivity_report_print(
    const struct fulcrum_sensitivity_findings *findings,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_TABLE) {
        return print_table(findings, context->out, err);
    }
    if (context->format == FULCRUM_FORMAT_JSON) {
        return print_json(findings, context, err);
    }
    struct fulcrum_report *report = report_all(findings);
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-sensitivity", context, err);
    fulcrum_report_free(report);
    return status;
}

/*
 * One sentence: which input, if it were known, would narrow the metric most. Returns 0,
 * and "", where no index is known.
 */
static int sensitivity_sentence(const struct fulcrum_sensitivity_findings *findings,
    size_t output, char *out, size_t size)
{
    char name[METRIC_NAME_SIZE];
    size_t best = findings->inputs->input_count;
    double most = 0.0;
    for (size_t i = 0; i < findings->inputs->input_count; i++) {
        double first = fulcrum_sobol_index(findings->result->sobol, output, i).first;
        if (first > most) {
            most = first;
            best = i;
        }
    }
    out[0] = '\0';
    if (best == findings->inputs->input_count) {
        return 0;
    }
    struct fulcrum_sobol_index index =
        fulcrum_sobol_index(findings->result->sobol, output, best);
    fulcrum_sensitivity_metric_name(
        &findings->inputs->outputs[output], name, sizeof name);
    (void)snprintf(out, size,
        "%s: %.0f %% (+- %.0f) of the variance is due to %s alone", name,
        100.0 * index.first, 100.0 * index.first_error,
        findings->inputs->words[best].label);
    return 1;
}

/* Replicates of the design: as many errors as there can be estimated from. */
enum { REPLICATES = 8 };

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solver_settings solver;
    struct fulcrum_text_list vary;
    struct fulcrum_text_list base;
    const char *metrics;
    const char *along;
    struct fulcrum_actors_rule actors; /* its best_of is NULL */
    double samples;
};

/* An analysis under way. */
struct job {
    struct fulcrum_design_inputs design;
    struct fulcrum_sensitivity_inputs inputs;
    struct fulcrum_sensitivity_plan plan;
    struct fulcrum_sensitivity *result;
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
    char calibrations[200];
    char actors_rule[80];
    char base[240];
};

static int is_stopped(void *context)
{
    const struct job *job = context;
    return *job->stop != 0;
}

static void show_progress(void *context, size_t done_count, size_t all_count)
{
    struct job *job = context;
    char stage[64];
    (void)snprintf(
        stage, sizeof stage, "%zu of %zu evaluations", done_count, all_count);
    fulcrum_progress_update(
        &job->progress, (double)done_count / (double)all_count, stage);
}

/* Does anything say how many actors there are? */
static int gives_actors(const struct settings *settings, const struct job *job)
{
    const struct fulcrum_field *actors = fulcrum_field_find("run.actor_count");
    bool is_given = !isnan(settings->design.actor_count) ||
                    !isnan(fulcrum_field_number(actors, &job->design.base)) ||
                    fulcrum_sensitivity_inputs_vary(&job->inputs, actors);
    for (size_t i = 0; i < job->design.setting_count; i++) {
        is_given = is_given || job->design.settings[i].field == actors;
    }
    return is_given;
}

static enum fulcrum_status settle_actors(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    bool is_given = gives_actors(settings, job);
    TRY(fulcrum_actors_rule_check(&settings->actors, is_given,
        "give the number of actors in one way: --actors, --actors-per-thread or "
        "--vary actors=LO:HI",
        context, err));
    if (!is_given && isnan(settings->actors.per_thread) &&
        fulcrum_design_is_resident(&job->design.base)) {
        (void)snprintf(
            job->actors_rule, sizeof job->actors_rule, "%s", fulcrum_actors_rule_none);
        return FULCRUM_OK;
    }
    if (!is_given) {
        job->plan.actors_per_thread = fulcrum_actors_rule_per_thread(&settings->actors);
        fulcrum_actors_rule_text(
            &settings->actors, job->actors_rule, sizeof job->actors_rule);
        return FULCRUM_OK;
    }
    const struct fulcrum_field *actors = fulcrum_field_find("run.actor_count");
    double count = settings->design.actor_count;
    for (size_t i = 0; i < job->design.setting_count; i++) {
        if (job->design.settings[i].field == actors) {
            count = job->design.settings[i].number;
        }
    }
    if (fulcrum_sensitivity_inputs_vary(&job->inputs, actors)) {
        (void)snprintf(job->actors_rule, sizeof job->actors_rule, "varied");
    } else {
        (void)snprintf(job->actors_rule, sizeof job->actors_rule, "%.6g", count);
    }
    return FULCRUM_OK;
}

static void describe_base(struct job *job)
{
    size_t used = 0;
    for (size_t i = 0; i < job->inputs.base_count && used + 1 < sizeof job->base; i++) {
        const struct fulcrum_setting *setting = &job->inputs.base[i];
        used += (size_t)snprintf(job->base + used, sizeof job->base - used, "%s%s=%.6g",
            i > 0 ? ", " : "", setting->field->path, setting->number);
    }
}

/* Rows are a power of two in each replicate. */
static size_t rows_for(double samples)
{
    size_t count = 1;
    while ((double)(count * REPLICATES) < samples) {
        count *= 2;
    }
    return count;
}

static void fill_plan(const struct settings *settings, struct job *job)
{
    struct fulcrum_sensitivity_plan *plan = &job->plan;
    const struct fulcrum_sensitivity_inputs *inputs = &job->inputs;
    plan->scenario = &job->design.scenario;
    plan->inputs = inputs->inputs;
    plan->input_count = inputs->input_count;
    plan->outputs = inputs->outputs;
    plan->output_count = inputs->output_count;
    plan->base = inputs->base;
    plan->base_count = inputs->base_count;
    plan->axis = inputs->axis.count > 0 ? &inputs->axis : NULL;
    fulcrum_solver_settings_read(&settings->solver, &plan->solver);
    /* What tens of thousands of simulations take, nobody wants to find out unasked. */
    if (plan->solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solver.half_width_rel)) {
        plan->solver.method = FULCRUM_METHOD_FAST;
    }
    plan->sobol = (struct fulcrum_sobol_options){
        .row_count = rows_for(settings->samples),
        .replicate_count = REPLICATES,
        .worker_count = fulcrum_parallel_threads(),
        .seed = plan->solver.seed,
    };
    plan->is_stopped = is_stopped;
    plan->progress = show_progress;
    plan->context = job;
}

static enum fulcrum_status read_job(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_request request = {
        &settings->vary, &settings->base, settings->metrics, settings->along};
    TRY(fulcrum_design_inputs_load(&settings->design, context, &job->design, err));
    TRY(fulcrum_sensitivity_inputs_read(
        &request, &job->design, context, &job->inputs, err));
    TRY(settle_actors(settings, context, job, err));
    describe_base(job);
    fill_plan(settings, job);
    return FULCRUM_OK;
}

/* A metric that was asked for by name must be there; of the usual ones, one. */
static enum fulcrum_status judge_metrics(
    const struct fulcrum_sensitivity_findings *findings, struct fulcrum_error *err)
{
    size_t known = 0;
    for (size_t o = 0; o < findings->inputs->output_count; o++) {
        char name[64];
        bool is_known = sensitivity_is_known(findings, o);
        fulcrum_sensitivity_metric_name(
            &findings->inputs->outputs[o], name, sizeof name);
        FAIL_IF(!is_known && findings->inputs->outputs_asked, err, FULCRUM_ERR_MISSING,
            "--metric %s: it does not apply to this machine, or is not known", name);
        known += (size_t)is_known;
    }
    return known > 0 ? FULCRUM_OK
                     : fulcrum_fail(err, FULCRUM_ERR_MISSING, "no metric is known");
}

static bool is_told(const struct fulcrum_sobol_spread *spread)
{
    return (double)spread->dropped_count <=
           FULCRUM_SOBOL_DROPPED_MOST_FRAC * (double)spread->row_count;
}

static void warn_of_dropped(const struct fulcrum_sensitivity_findings *findings,
    size_t output, const struct fulcrum_sobol_spread *spread)
{
    char name[64];
    fulcrum_sensitivity_metric_name(
        &findings->inputs->outputs[output], name, sizeof name);
    fulcrum_message_warn("%s: %zu of %zu rows cannot run%s: %s", name,
        spread->dropped_count, spread->row_count,
        is_told(spread) ? " and are left out, which narrows the ranges"
                        : ", too many for shares of variance",
        findings->result->reason);
}

/*
 * Rows that were dropped are told, once where it is the same rows of every metric;
 * where they are too many there is no answer.
 */
static enum fulcrum_status judge_rows(
    const struct fulcrum_sensitivity_findings *findings, struct fulcrum_error *err)
{
    size_t told = 0;
    size_t warned_count = 0;
    for (size_t o = 0; o < findings->inputs->output_count; o++) {
        struct fulcrum_sobol_spread spread =
            fulcrum_sobol_spread(findings->result->sobol, o);
        told += (size_t)is_told(&spread);
    }
    FAIL_IF(told == 0, err, FULCRUM_ERR_INFEASIBLE,
        "too much of these ranges cannot run: %s", findings->result->reason);
    for (size_t o = 0; o < findings->inputs->output_count; o++) {
        struct fulcrum_sobol_spread spread =
            fulcrum_sobol_spread(findings->result->sobol, o);
        if (spread.dropped_count != warned_count && spread.dropped_count > 0 &&
            sensitivity_is_known(findings, o)) {
            warned_count = spread.dropped_count;
            warn_of_dropped(findings, o, &spread);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status print_findings(const struct settings *settings,
    const struct job *job, bool is_complete, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_findings findings = {
        .inputs = &job->inputs,
        .result = job->result,
        .machine = job->design.base.machine.name,
        .workload = job->design.base.workload.name,
        .calibration = job->calibrations,
        .actors_rule = job->actors_rule,
        .base = job->base,
        .method = fulcrum_method_name(job->plan.solver.method),
        .seed = settings->solver.seed,
        .is_complete = is_complete,
    };
    TRY(judge_metrics(&findings, err));
    TRY(judge_rows(&findings, err));
    TRY(sensitivity_report_print(&findings, context, err));
    for (size_t o = 0; o < findings.inputs->output_count; o++) {
        char text[400];
        if (sensitivity_is_known(&findings, o) &&
            sensitivity_sentence(&findings, o, text, sizeof text)) {
            fulcrum_message_note(context, "%s", text);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status analyse(const struct settings *settings, struct job *job,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    fulcrum_calibration_names(
        &job->design, job->calibrations, sizeof job->calibrations);
    job->stop = fulcrum_interrupt_watch();
    fulcrum_progress_start(&job->progress, context);
    enum fulcrum_status status = fulcrum_sensitivity_run(&job->plan, &job->result, err);
    fulcrum_progress_end(&job->progress);
    bool is_kept = status == FULCRUM_ERR_INTERRUPTED && job->result != NULL;
    FAIL_IF(status == FULCRUM_ERR_INTERRUPTED && !is_kept, err, status,
        "interrupted: fewer than two replicates were done, which tell nothing");
    if (status != FULCRUM_OK && !is_kept) {
        return status;
    }
    if (is_kept) {
        fulcrum_message_warn("interrupted: from %zu of %d replicates",
            fulcrum_sobol_replicates(job->result->sobol), (int)REPLICATES);
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    }
    return print_findings(settings, job, !is_kept, context, err);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct job *job = calloc(1, sizeof *job);
    TRY_MEMORY(job, err, "a sensitivity analysis");
    enum fulcrum_status status = read_job(settings, context, job, err);
    if (status == FULCRUM_OK) {
        status = analyse(settings, job, context, err);
    }
    fulcrum_sensitivity_free(job->result);
    fulcrum_sensitivity_inputs_free(&job->inputs);
    fulcrum_design_inputs_free(&job->design);
    free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(LIST, "vary", offsetof(struct settings, vary), "PATH[=LO:HI[:log]]",
        .letter = 'v',
        .help = "field that varies, uniformly or log-uniformly between two ends, or "
                "without a range as its prior or calibration has it; 'uncertain': all "
                "that have one, as without this option"),
    FULCRUM_OPTION(TEXT, "metric", offsetof(struct settings, metrics), "A,B,C",
        .help = "outputs asked about: steps_per_s, gpu_w, ...; with --base speedup, "
                "runtime_rel or any output with _rel; with --along best:OUTPUT; rate "
                "and both performances per watt unless given"),
    FULCRUM_OPTION(LIST, "base", offsetof(struct settings, base), "PATH=VALUE",
        .help = "what is different at the point that metrics are divided by; the rest "
                "is the same world"),
    FULCRUM_OPTION(TEXT, "along", offsetof(struct settings, along), "PATH=RANGE",
        .help = "field whose best value is asked about, and where to look for it, as "
                "for 'explore --vary'"),
    FULCRUM_OPTION(COUNT, "samples", offsetof(struct settings, samples), "N",
        .letter = 'n', .fallback = "2048", .least = 16.0, .most = 1048576.0,
        .help = "rows of the design, each 2 evaluations and 2 more for every field; "
                "made 8 times a power of two"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Sensitivity", rows, 0},
    {"Actors", FULCRUM_ACTORS_RULE_ROWS_BUT_BEST, offsetof(struct settings, actors)},
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solver)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum sensitivity -m dgx-1 -w r2d2-atari",
        "which number, measured better, would narrow the prediction most"},
    {"fulcrum sensitivity -m dgx-1-inci2020 -w r2d2-atari --actors 40 "
     "--base actors=4",
        "the same of the speed-up from 4 to 40 actors"},
    {"fulcrum sensitivity -m dgx-a100 -w r2d2-atari --actors 256 "
     "-v machine.cpu.thread_count=64:512:log -v machine.gpu.sm_count=54:132",
        "threads or SMs: what the rate follows over these ranges"},
    {"fulcrum sensitivity -m dgx-1-inci2020 -w r2d2-atari "
     "--along machine.cpu.thread_count=20:320:x1.4 --actors-per-thread 6.4",
        "what decides how many threads are best"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_sensitivity = {
    .name = "sensitivity",
    .summary = "say which uncertain or varied numbers a prediction's spread comes from",
    .description =
        "Parts the variance of each metric among the fields that vary: `first` is the "
        "share that would go, on average, if the field alone became known, `total` "
        "what "
        "would be left if all others did; what the first-order shares leave is due to "
        "interactions. Beside them stands what the metric is with the field at its 5 % "
        "and 95 % point and all others at their values.\n\n"
        "Without --vary all fields vary that the presets mark as priors or the "
        "calibrations give an error for. Numbers that depend on each other are one "
        "field: shares of variance assume independence. Counts take whole numbers. "
        "Where "
        "nothing says how many actors there are, 6.4 per hardware thread, the paper's "
        "256 on 40.\n\n"
        "Standard errors come from 8 independent replicates of the design. Designs "
        "that "
        "cannot run are left out row by row and counted; above a tenth of the rows no "
        "share is told. Points are solved by the fast equations unless --method or "
        "--half-width asks for more.\n\n"
        "The same inputs and seed give the same bytes, whatever the number of threads. "
        "After Ctrl-C the result is that of the whole replicates, if there are two. "
        "`fulcrum plot FILE` draws what --format json or csv wrote as a tornado chart.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
