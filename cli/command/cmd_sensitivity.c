/* cmd_sensitivity.c - `fulcrum sensitivity`: which number matters most. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/whatif/whatif.h"
#include "model/parallel.h"
#include "model/predict/solver.h"
#include "model/string.h"
#include "model/study/sensitivity.h"
#include "model/try.h"
#include "presets/result/quantity_text.h"

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

/* An input or an output in words. */
struct words {
    char *label; /* a path, or what stands for several; "speedup", "steps_per_s", ... */
    char *source;     /* of an input: why it varies as it does */
    const char *unit; /* "" of several numbers; of a best place the axis'; borrowed */
};

/* An analysis, as asked for and under way. */
struct job {
    const struct settings *settings;
    struct fulcrum_context *context;
    struct fulcrum_subject subject;
    size_t uncertain_count;
    struct fulcrum_uncertain_input *uncertain; /* of the scenario, varied or not */
    struct fulcrum_field_range *spans;         /* the first inputs have one each */
    size_t input_count;
    struct fulcrum_sensitivity_input *inputs;
    struct words *words; /* of each input */
    size_t output_count;
    struct fulcrum_sensitivity_output *outputs;
    struct words *metrics; /* of each output */
    struct fulcrum_setting *base;
    struct fulcrum_sweep_axis axis; /* count 0: none */
    struct fulcrum_numbers axis_values;
    struct fulcrum_actors actors;
    struct fulcrum_sensitivity_plan plan;
    struct fulcrum_progress watch;
    struct fulcrum_sensitivity *result;
};

/* What varies. */

static bool is_varied(const struct job *job, const struct fulcrum_field *field)
{
    bool is_found = false;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct fulcrum_field_range *span = job->inputs[i].span;
        is_found = is_found || (span != NULL && span->field == field);
    }
    return is_found;
}

/* The field before '=', or the whole text of an option. */
static enum fulcrum_status read_path(const struct job *job, const char *option,
    const char *text, const struct fulcrum_field **out, struct fulcrum_error *err)
{
    size_t length = strcspn(text, "=");
    FULCRUM_USAGE_IF(length == 0, job->context, err, FULCRUM_ERR_FORMAT,
        "%s: %s: expected PATH=LO:HI, PATH=LO:HI:log or PATH", option, text);
    char *path = fulcrum_format("%.*s", (int)length, text);
    *out = fulcrum_field_parse(path, job->context, err);
    free(path);
    return *out != NULL ? FULCRUM_OK
                        : fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, option);
}

/* What stands behind it; NULL: nothing. */
static const char *range_of(const char *text)
{
    const char *end = strchr(text, '=');
    return end != NULL ? end + 1 : NULL;
}

/* "LO:HI" or "LO:HI:log". */
static bool parse_ends(const char *range, struct fulcrum_field_range *out)
{
    char *end = NULL;
    out->lo = strtod(range, &end);
    if (end == range || *end != ':') {
        return false;
    }
    const char *second = end + 1;
    out->hi = strtod(second, &end);
    out->law =
        strcmp(end, ":log") == 0 ? FULCRUM_RANGE_LOG_UNIFORM : FULCRUM_RANGE_UNIFORM;
    return end != second && isfinite(out->lo) && isfinite(out->hi) &&
           (*end == '\0' || out->law == FULCRUM_RANGE_LOG_UNIFORM);
}

/* The end of the group that begins with an uncertain number. */
static size_t group_end(const struct job *job, size_t first)
{
    size_t end = first;
    while (end < job->uncertain_count &&
           job->uncertain[end].group == job->uncertain[first].group) {
        end++;
    }
    return end;
}

/* What several numbers are called together, and why they are. */
static struct words word_group(
    const struct fulcrum_uncertain_input *group, size_t count)
{
    const struct fulcrum_calibration *calibration = group->calibration;
    if (group->kind == FULCRUM_UNCERTAIN_DRAWS) {
        return (struct words){fulcrum_format("draws of %s", calibration->name),
            fulcrum_format("%zu draws of %zu numbers that depend on each other",
                calibration->draw_count, calibration->parameter_count),
            count == 1 ? group->field->unit : ""};
    }
    struct fulcrum_string label = {.chars = NULL};
    for (size_t i = 0; i < count; i++) {
        fulcrum_string_add(&label, "%s%s", i > 0 ? " + " : "", group[i].field->path);
    }
    /* The label is handed on as it is. */
    return (struct words){label.chars,
        fulcrum_format(
            "%zu numbers of %s that depend on each other", count, calibration->name),
        ""};
}

/* The same of one number, or of the factor between two machines. */
static struct words word_number(
    const struct job *job, const struct fulcrum_uncertain_input *input)
{
    const struct fulcrum_design_inputs *inputs = &job->subject.inputs;
    const struct fulcrum_machine *machine = &inputs->base.machine;
    if (input->field == NULL) {
        bool is_cpu = input->kind == FULCRUM_UNCERTAIN_CPU_SCALE;
        return (struct words){
            fulcrum_format("times on this %s", is_cpu ? "CPU" : "GPU"),
            fulcrum_format("scaled from another one to %s",
                is_cpu ? machine->cpu.name : machine->gpu.name),
            ""};
    }
    const struct fulcrum_calibration *calibration = input->calibration;
    return (struct words){fulcrum_format("%s", input->field->path),
        input->kind == FULCRUM_UNCERTAIN_PRIOR
            ? fulcrum_format(
                  "prior, x or / %.3g", inputs->priors[input->prior].spread_factor)
            : fulcrum_format("%s, %s",
                  fulcrum_origin_name(calibration->parameters[input->parameter].origin),
                  calibration->name),
        input->field->unit};
}

static bool has_group(const struct job *job, size_t first)
{
    bool is_found = false;
    for (size_t i = 0; i < job->input_count; i++) {
        is_found = is_found || job->inputs[i].uncertain == &job->uncertain[first];
    }
    return is_found;
}

static void add_group(struct job *job, size_t first)
{
    const struct fulcrum_uncertain_input *group = &job->uncertain[first];
    size_t count = group_end(job, first) - first;
    job->words[job->input_count] = count > 1 || group->kind == FULCRUM_UNCERTAIN_DRAWS
                                       ? word_group(group, count)
                                       : word_number(job, group);
    job->inputs[job->input_count++] = (struct fulcrum_sensitivity_input){
        .uncertain = group, .uncertain_count = count};
}

/* A number that has a range of its own is not uncertain besides. */
static void add_all_groups(struct job *job)
{
    for (size_t i = 0; i < job->uncertain_count; i = group_end(job, i)) {
        const struct fulcrum_field *field = job->uncertain[i].field;
        bool is_spanned =
            group_end(job, i) == i + 1 && field != NULL && is_varied(job, field);
        if (!is_spanned && !has_group(job, i)) {
            add_group(job, i);
        }
    }
}

/* A path without a range: as uncertain as its source says. */
static enum fulcrum_status add_named_group(
    struct job *job, const char *text, struct fulcrum_error *err)
{
    const struct fulcrum_field *field = NULL;
    TRY(read_path(job, "--vary", text, &field, err));
    assert(field != NULL);
    size_t at = 0;
    while (at < job->uncertain_count && job->uncertain[at].field != field) {
        at++;
    }
    FULCRUM_USAGE_IF(at == job->uncertain_count, job->context, err, FULCRUM_ERR_MISSING,
        "--vary %s: neither a calibration nor a prior says how uncertain it is: "
        "expected PATH=LO:HI or PATH=LO:HI:log",
        field->path);
    while (at > 0 && job->uncertain[at - 1].group == job->uncertain[at].group) {
        at--;
    }
    FULCRUM_USAGE_IF(has_group(job, at) || is_varied(job, field), job->context, err,
        FULCRUM_ERR_RANGE, "--vary %s is given twice", field->path);
    add_group(job, at);
    return FULCRUM_OK;
}

/* Ranges first, then numbers by name, then all that the presets and calibrations leave
 * uncertain. */
static enum fulcrum_status read_inputs(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *list = &job->settings->vary;
    TRY(fulcrum_uncertain_inputs_list(
        &job->subject.inputs.scenario, &job->uncertain, &job->uncertain_count, err));
    size_t most = job->uncertain_count + list->count + 1;
    bool takes_all = list->count == 0;
    job->spans = fulcrum_allocate(most, sizeof *job->spans);
    job->inputs = fulcrum_allocate(most, sizeof *job->inputs);
    job->words = fulcrum_allocate(most, sizeof *job->words);
    for (size_t i = 0; i < list->count; i++) {
        if (strchr(list->items[i], '=') != NULL) {
            const char *text = list->items[i];
            struct fulcrum_field_range *span = &job->spans[job->input_count];
            TRY(read_path(job, "--vary", text, &span->field, err));
            const struct fulcrum_field *field = span->field;
            FULCRUM_USAGE_IF(field->kind != FULCRUM_FIELD_NUMBER &&
                                 field->kind != FULCRUM_FIELD_COUNT,
                job->context, err, FULCRUM_ERR_RANGE,
                "--vary %s is no number and cannot be varied", field->path);
            FULCRUM_USAGE_IF(is_varied(job, field), job->context, err,
                FULCRUM_ERR_RANGE, "--vary %s is given twice", field->path);
            FULCRUM_USAGE_IF(!parse_ends(range_of(text), span), job->context, err,
                FULCRUM_ERR_FORMAT,
                "--vary %s: expected PATH=LO:HI or PATH=LO:HI:log, such as "
                "workload.step.mean_s=0.001:0.004:log",
                text);
            bool is_whole = span->lo == floor(span->lo) && span->hi == floor(span->hi);
            FULCRUM_USAGE_IF(!(span->lo < span->hi), job->context, err,
                FULCRUM_ERR_RANGE, "--vary %s: expected LO below HI", text);
            FULCRUM_USAGE_IF(!(span->lo >= field->least && span->hi <= field->most),
                job->context, err, FULCRUM_ERR_RANGE,
                "--vary %s: expected values from %.6g to %.6g", text, field->least,
                field->most);
            FULCRUM_USAGE_IF(field->kind == FULCRUM_FIELD_COUNT && !is_whole,
                job->context, err, FULCRUM_ERR_RANGE,
                "--vary %s: expected whole numbers", text);
            FULCRUM_USAGE_IF(
                span->law == FULCRUM_RANGE_LOG_UNIFORM && !(span->lo > 0.0),
                job->context, err, FULCRUM_ERR_RANGE,
                "--vary %s: expected LO above 0 for log", text);
            job->words[job->input_count] =
                (struct words){fulcrum_format("%s", field->path),
                    fulcrum_format("%.6g to %.6g%s", span->lo, span->hi,
                        span->law == FULCRUM_RANGE_LOG_UNIFORM ? ", log-uniform" : ""),
                    field->unit};
            job->inputs[job->input_count++] =
                (struct fulcrum_sensitivity_input){.span = span};
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], "uncertain") == 0) {
            takes_all = true;
        } else if (strchr(list->items[i], '=') == NULL) {
            TRY(add_named_group(job, list->items[i], err));
        }
    }
    if (takes_all) {
        add_all_groups(job);
    }
    FULCRUM_USAGE_IF(job->input_count == 0, job->context, err, FULCRUM_ERR_MISSING,
        "nothing is uncertain here: --vary PATH=LO:HI names what varies");
    return FULCRUM_OK;
}

/* What is asked about. */

static struct words word_metric(
    const struct fulcrum_sensitivity_output *output, const struct fulcrum_field *along)
{
    const char *name = fulcrum_output_name(output->predicted);
    if (output->subject == FULCRUM_SUBJECT_BEST) {
        return (struct words){
            .label = fulcrum_format("best:%s", name), .unit = along->unit};
    }
    if (output->subject == FULCRUM_SUBJECT_VALUE) {
        return (struct words){.label = fulcrum_format("%s", name),
            .unit = fulcrum_output_unit(output->predicted)};
    }
    bool is_rate = output->predicted == FULCRUM_OUTPUT_steps_per_s;
    return (struct words){
        .label = is_rate ? fulcrum_format("speedup") : fulcrum_format("%s_rel", name),
        .unit = ""};
}

static enum fulcrum_status add_output(
    struct job *job, const char *name, struct fulcrum_error *err)
{
    /* "steps_per_s", "best:steps_per_s", "speedup", "runtime_rel" or
     * "steps_per_s_rel"; the output is FULCRUM_OUTPUT_COUNT where it is none of
     * them. */
    static const char best[] = "best:";
    static const char relative[] = "_rel";
    enum fulcrum_sensitivity_subject subject = FULCRUM_SUBJECT_VALUE;
    size_t stem = strlen(name) - (sizeof relative - 1);
    size_t found = fulcrum_output_find(name);
    if (found == FULCRUM_OUTPUT_COUNT && strncmp(name, best, sizeof best - 1) == 0) {
        subject = FULCRUM_SUBJECT_BEST;
        found = fulcrum_output_find(name + sizeof best - 1);
    } else if (found == FULCRUM_OUTPUT_COUNT) {
        subject = FULCRUM_SUBJECT_RELATIVE;
        bool is_relative =
            strlen(name) > sizeof relative - 1 && strcmp(name + stem, relative) == 0;
        char *output = fulcrum_format("%.*s", is_relative ? (int)stem : 0, name);
        found = strcmp(name, "speedup") == 0       ? (size_t)FULCRUM_OUTPUT_steps_per_s
                : strcmp(name, "runtime_rel") == 0 ? (size_t)FULCRUM_OUTPUT_runtime_s
                                                   : fulcrum_output_find(output);
        free(output);
    }
    const struct fulcrum_sensitivity_output output =
        (struct fulcrum_sensitivity_output){subject, (enum fulcrum_predicted)found};
    if ((size_t)output.predicted == FULCRUM_OUTPUT_COUNT) {
        /* Mistyped outputs are mostly near one; else all there is. */
        char hint[FULCRUM_OUTPUT_HINT_BYTE];
        const struct fulcrum_names names = fulcrum_output_names();
        fulcrum_names_hint(&names, name, hint, sizeof hint);
        return fulcrum_usage_fail(job->context, err, FULCRUM_ERR_UNKNOWN_NAME,
            "--metric: unknown output '%s'%s%s", name, hint,
            hint[0] == ';' ? ""
                           : "; one of them with _rel at its end or speedup (with "
                             "--base), or best:OUTPUT (with --along)");
    }
    FULCRUM_USAGE_IF(
        output.subject == FULCRUM_SUBJECT_RELATIVE && job->settings->base.count == 0,
        job->context, err, FULCRUM_ERR_MISSING,
        "--metric %s: --base PATH=VALUE names the point to compare with", name);
    FULCRUM_USAGE_IF(output.subject == FULCRUM_SUBJECT_BEST && job->axis.count == 0,
        job->context, err, FULCRUM_ERR_MISSING,
        "--metric %s: --along PATH=RANGE says where to look for the best", name);
    for (size_t i = 0; i < job->output_count; i++) {
        FULCRUM_USAGE_IF(job->outputs[i].subject == output.subject &&
                             job->outputs[i].predicted == output.predicted,
            job->context, err, FULCRUM_ERR_RANGE, "--metric %s is given twice", name);
    }
    job->metrics[job->output_count] = word_metric(&output, job->axis.field);
    job->outputs[job->output_count++] = output;
    return FULCRUM_OK;
}

/* Those of the question: what is relative or best where a point or axis was given. */
static enum fulcrum_status read_outputs(struct job *job, struct fulcrum_error *err)
{
    const char *list = job->settings->metrics != NULL ? job->settings->metrics
                       : job->axis.count > 0          ? "best:steps_per_j_system"
                       : job->settings->base.count > 0
                           ? "speedup"
                           : "steps_per_s,steps_per_j_gpu,steps_per_j_system";
    size_t most = 1 + strlen(list);
    job->outputs = fulcrum_allocate(most, sizeof *job->outputs);
    job->metrics = fulcrum_allocate(most, sizeof *job->metrics);
    while (list != NULL) {
        char *name = fulcrum_list_part(&list);
        enum fulcrum_status status = add_output(job, name, err);
        free(name);
        TRY(status);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_actors(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_actors_rule *rule = &job->settings->actors;
    const struct fulcrum_design_inputs *inputs = &job->subject.inputs;
    bool varies = is_varied(job, fulcrum_field_find("run.actor_count"));
    double fixed = fulcrum_inputs_number(inputs, "run.actor_count");
    TRY(fulcrum_actors_rule_check(rule, varies || !isnan(fixed),
        "give the number of actors in one way: --actors, --actors-per-thread or "
        "--vary actors=LO:HI",
        job->context, err));
    if (varies) {
        (void)snprintf(job->actors.text, sizeof job->actors.text, "varied");
        return FULCRUM_OK;
    }
    return fulcrum_actors_settle(rule, inputs, job->context, &job->actors, err);
}

/* What was found. */

/* What an input does to one metric. */
struct influence {
    size_t input;
    struct fulcrum_sobol_index index;
    struct fulcrum_effect effect;
    double total; /* that it is ranked by; -1: not known, as the next */
    double bar;
};

/* Whether the metric is known with nothing varied. */
static bool is_known(const struct job *job, size_t output)
{
    return !isnan(job->result->values[output]);
}

static bool is_told(const struct fulcrum_sobol_spread *spread)
{
    return (double)spread->dropped_count <=
           FULCRUM_SOBOL_DROPPED_MOST_FRAC * (double)spread->row_count;
}

/*
 * A metric that was asked for by name must be there; of the usual ones, one. Rows that
 * were dropped are told, once where it is the same rows of every metric; where they are
 * too many there is no answer.
 */
static enum fulcrum_status judge_metrics(
    const struct job *job, struct fulcrum_error *err)
{
    size_t known = 0;
    size_t told = 0;
    size_t warned_count = 0;
    for (size_t o = 0; o < job->output_count; o++) {
        const struct fulcrum_sobol_spread spread =
            fulcrum_sobol_spread(job->result->sobol, o);
        FAIL_IF(!is_known(job, o) && job->settings->metrics != NULL, err,
            FULCRUM_ERR_MISSING,
            "--metric %s: it does not apply to this machine, or is not known",
            job->metrics[o].label);
        known += is_known(job, o) ? 1 : 0;
        told += is_told(&spread) ? 1 : 0;
    }
    FAIL_IF(known == 0, err, FULCRUM_ERR_MISSING, "no metric is known");
    FAIL_IF(told == 0, err, FULCRUM_ERR_INFEASIBLE,
        "too much of these ranges cannot run: %s", job->result->reason);
    for (size_t o = 0; o < job->output_count; o++) {
        const struct fulcrum_sobol_spread spread =
            fulcrum_sobol_spread(job->result->sobol, o);
        if (spread.dropped_count != warned_count && spread.dropped_count > 0 &&
            is_known(job, o)) {
            warned_count = spread.dropped_count;
            fulcrum_message_warn("%s: %zu of %zu rows cannot run%s: %s",
                job->metrics[o].label, spread.dropped_count, spread.row_count,
                is_told(&spread) ? " and are left out, which narrows the ranges"
                                 : ", too many for shares of variance",
                job->result->reason);
        }
    }
    return FULCRUM_OK;
}

/* Larger totals first, then longer bars; what is not known last, in its order. */
static int compare_influences(const void *a, const void *b)
{
    const struct influence *x = a;
    const struct influence *y = b;
    if (x->total != y->total) {
        return x->total < y->total ? 1 : -1;
    }
    if (x->bar != y->bar) {
        return x->bar < y->bar ? 1 : -1;
    }
    return x->input < y->input ? -1 : 1;
}

/* Too little to be worth a line of the table for people. */
static bool is_small(const struct influence *influence)
{
    return influence->total >= 0.0 && influence->total < 0.001;
}

/* A row of the file: everything about one input and one metric. */
static void add_file_row(struct fulcrum_table *table, const struct job *job,
    size_t output, const struct influence *influence)
{
    const struct words *metric = &job->metrics[output];
    const struct words *words = &job->words[influence->input];
    const struct fulcrum_reach *reach = &job->result->reaches[influence->input];
    const struct fulcrum_sobol_index *index = &influence->index;
    const struct fulcrum_sobol_spread spread =
        fulcrum_sobol_spread(job->result->sobol, output);
    fulcrum_table_row(table);
    fulcrum_table_text(table, "metric", NULL, metric->label);
    fulcrum_table_text(table, "unit", NULL, metric->unit);
    fulcrum_table_text(table, "field", NULL, words->label);
    fulcrum_table_text(table, "source", NULL, words->source);
    fulcrum_table_text(table, "field_unit", NULL, words->unit);
    fulcrum_table_number(table, "field_lo", NULL, reach->lo);
    fulcrum_table_number(table, "field_value", NULL, reach->value);
    fulcrum_table_number(table, "field_hi", NULL, reach->hi);
    fulcrum_table_number(table, "first_frac", NULL, index->first);
    fulcrum_table_number(table, "first_error", NULL, index->first_error);
    fulcrum_table_number(table, "total_frac", NULL, index->total);
    fulcrum_table_number(table, "total_error", NULL, index->total_error);
    fulcrum_table_number(table, "swing_lo", NULL, influence->effect.lo);
    fulcrum_table_number(table, "swing_hi", NULL, influence->effect.hi);
    fulcrum_table_number(table, "metric_value", NULL, job->result->values[output]);
    fulcrum_table_number(table, "metric_mean", NULL, spread.mean);
    fulcrum_table_number(table, "metric_sd", NULL, spread.sd);
    fulcrum_table_number(table, "metric_lo", NULL, spread.lo);
    fulcrum_table_number(table, "metric_hi", NULL, spread.hi);
    fulcrum_table_number(table, "interaction_frac", NULL, spread.interaction_frac);
    fulcrum_table_number(table, "interaction_error", NULL, spread.interaction_error);
    fulcrum_table_number(table, "rows", NULL, (double)spread.row_count);
    fulcrum_table_number(table, "dropped_rows", NULL, (double)spread.dropped_count);
}

/* "33.4 +- 5.1 %" */
static void add_share(
    struct fulcrum_table *table, const char *key, double share, double error)
{
    char text[48] = "";
    if (!isnan(share)) {
        (void)snprintf(
            text, sizeof text, "%4.1f +- %.1f %%", 100.0 * share, 100.0 * error);
    }
    fulcrum_table_text(table, key, key, text);
}

/* Inputs too small for a line of the table, and the one that would narrow it most. */
static void add_finding(struct fulcrum_result *result, const struct job *job,
    size_t output, const struct influence *influences)
{
    struct fulcrum_string small = {.chars = NULL};
    const struct influence *most = NULL;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct influence *at = &influences[i];
        if (at->index.first > (most != NULL ? most->index.first : 0.0)) {
            most = at;
        }
        if (is_small(at)) {
            fulcrum_string_add(&small, "%s%s", small.length > 0 ? ", " : "",
                job->words[at->input].label);
        }
    }
    char *key = fulcrum_format("small/%s", job->metrics[output].label);
    fulcrum_result_text(result, key, "below 0.1 %", fulcrum_string_get(&small));
    free(key);
    fulcrum_string_clear(&small);
    if (most != NULL) {
        key = fulcrum_format("finding/%s", job->metrics[output].label);
        fulcrum_result_print(result, key, "found",
            "%.0f %% (+- %.0f) of the variance is due to %s alone",
            100.0 * most->index.first, 100.0 * most->index.first_error,
            job->words[most->input].label);
        free(key);
    }
}

/* One metric: all rows into `file`, what matters into a table for people. */
static void add_metric(struct fulcrum_result *result, struct fulcrum_table *file,
    const struct job *job, size_t output)
{
    struct fulcrum_sobol_spread spread =
        fulcrum_sobol_spread(job->result->sobol, output);
    struct influence *influences =
        fulcrum_allocate(job->input_count, sizeof *influences);
    for (size_t i = 0; i < job->input_count; i++) {
        influences[i] = (struct influence){.input = i,
            .index = fulcrum_sobol_index(job->result->sobol, output, i),
            .effect = fulcrum_sensitivity_effect(job->result, output, i)};
        double bar = fabs(influences[i].effect.hi - influences[i].effect.lo);
        influences[i].total =
            isnan(influences[i].index.total) ? -1.0 : influences[i].index.total;
        influences[i].bar = isnan(bar) ? -1.0 : bar;
    }
    qsort(influences, job->input_count, sizeof *influences, compare_influences);
    /* "5035/s (90 %: 2971 to 6917/s); interactions 6 %" */
    const struct words *metric = &job->metrics[output];
    double value = job->result->values[output];
    char number[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_plain(value, metric->unit, number);
    fulcrum_range_plain(spread.lo, spread.hi, value, metric->unit, range);
    char *end =
        spread.is_constant ? fulcrum_format("nothing varied changes it")
        : isnan(spread.interaction_frac)
            ? fulcrum_format("%s", "")
            : fulcrum_format("; interactions %.1f %% (+- %.1f)",
                  100.0 * spread.interaction_frac, 100.0 * spread.interaction_error);
    char *key = fulcrum_format("spread/%s", metric->label);
    fulcrum_result_gap(result);
    fulcrum_result_print(result, key, metric->label,
        spread.is_constant ? "%s%s: %s" : "%s (90 %%: %s)%s", number, range, end);
    free(key);
    free(end);
    struct fulcrum_table *shown =
        spread.is_constant ? NULL : fulcrum_result_table(result, "", "");
    for (size_t i = 0; i < job->input_count; i++) {
        add_file_row(file, job, output, &influences[i]);
        if (!is_small(&influences[i])) {
            const struct influence *influence = &influences[i];
            const struct words *words = &job->words[influence->input];
            const struct fulcrum_reach *reach = &job->result->reaches[influence->input];
            const struct fulcrum_sobol_index *index = &influence->index;
            char text[2 * FULCRUM_QUANTITY_SIZE] = "";
            fulcrum_table_row(shown);
            fulcrum_table_text(shown, "field", "field", words->label);
            if (isfinite(reach->value)) {
                fulcrum_quantity_plain(reach->value, words->unit, text);
            }
            fulcrum_table_text(shown, "value", "value", text);
            fulcrum_range_plain(reach->lo, reach->hi, reach->value, words->unit, text);
            fulcrum_table_text(shown, "range", "5 % to 95 %", text);
            add_share(shown, "first", index->first, index->first_error);
            add_share(shown, "total", index->total, index->total_error);
            fulcrum_table_number(shown, "swing_lo", "at 5 %", influence->effect.lo);
            fulcrum_table_number(shown, "swing_hi", "at 95 %", influence->effect.hi);
            fulcrum_table_text(shown, "source", "from", words->source);
        }
    }
    if (!spread.is_constant) {
        add_finding(result, job, output, influences);
    }
    free(influences);
}

/* Metric after metric, inputs with the largest total share first. */
static enum fulcrum_status show_indices(
    const struct job *job, bool is_complete, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-sensitivity");
    const struct fulcrum_design *design = &job->subject.inputs.base;
    struct fulcrum_string base = {.chars = NULL};
    for (size_t i = 0; i < job->plan.base_count; i++) {
        fulcrum_string_add(&base, "%s%s=%.6g", i > 0 ? ", " : "",
            job->base[i].field->path, job->base[i].number);
    }
    fulcrum_result_text(result, "machine", "machine", design->machine.name);
    fulcrum_result_text(result, "workload", "workload", design->workload.name);
    fulcrum_result_text(
        result, "calibration", "calibration", job->subject.calibrations);
    fulcrum_result_text(result, "actors_rule", "actors", job->actors.text);
    fulcrum_result_text(
        result, "compared_to", "compared to", fulcrum_string_get(&base));
    fulcrum_string_clear(&base);
    fulcrum_result_text(
        result, "method", NULL, fulcrum_method_name(job->plan.solver.method));
    fulcrum_result_number(result, "seed", NULL, job->settings->solver.seed);
    fulcrum_result_number(result, "replicates", NULL,
        (double)fulcrum_sobol_replicates(job->result->sobol));
    fulcrum_result_flag(result, "complete", NULL, is_complete);
    fulcrum_result_text(result, "cannot_run", NULL, job->result->reason);
    struct fulcrum_table *file = fulcrum_result_table(result, "rows", NULL);
    fulcrum_table_make_main(file);
    for (size_t o = 0; o < job->output_count; o++) {
        if (is_known(job, o)) {
            add_metric(result, file, job, o);
        }
    }
    return fulcrum_context_show(job->context, result, err);
}

static enum fulcrum_status analyse(struct job *job, struct fulcrum_error *err)
{
    TRY(fulcrum_subject_read(&job->settings->design, job->context, &job->subject, err));
    TRY(read_inputs(job, err));
    const struct fulcrum_text_list *list = &job->settings->base;
    job->base = fulcrum_allocate(list->count + 1, sizeof *job->base);
    TRY(fulcrum_settings_parse("--base", list, job->context, job->base, err));
    for (size_t i = 0; i < list->count; i++) {
        FULCRUM_USAGE_IF(job->base[i].text != NULL, job->context, err,
            FULCRUM_ERR_RANGE,
            "--base: %s is no number: points are compared by numbers",
            job->base[i].field->path);
    }
    const char *text = job->settings->along;
    if (text != NULL) {
        TRY(read_path(job, "--along", text, &job->axis.field, err));
        const char *range = range_of(text);
        FULCRUM_USAGE_IF(range == NULL, job->context, err, FULCRUM_ERR_FORMAT,
            "--along %s: expected PATH=RANGE, such as "
            "machine.cpu.thread_count=20:320:x1.3",
            text);
        job->axis_values.option = "--along";
        job->axis_values.field = job->axis.field;
        TRY(fulcrum_numbers_read(&job->axis_values, range, job->context, err));
        job->axis.values = job->axis_values.values;
        job->axis.count = job->axis_values.count;
    }
    TRY(read_outputs(job, err));
    TRY(read_actors(job, err));
    const struct settings *settings = job->settings;
    struct fulcrum_sensitivity_plan *plan = &job->plan;
    *plan = (struct fulcrum_sensitivity_plan){.scenario = &job->subject.inputs.scenario,
        .inputs = job->inputs,
        .input_count = job->input_count,
        .outputs = job->outputs,
        .output_count = job->output_count,
        .base = job->base,
        .base_count = settings->base.count,
        .axis = job->axis.count > 0 ? &job->axis : NULL,
        .actors_per_thread = job->actors.per_thread,
        .sobol = {.row_count = 1,
            .replicate_count = REPLICATES,
            .worker_count = fulcrum_parallel_threads()}};
    fulcrum_solver_settings_read(&settings->solver, &plan->solver);
    plan->sobol.seed = plan->solver.seed;
    /* Rows are a power of two in each replicate. */
    while ((double)(plan->sobol.row_count * REPLICATES) < settings->samples) {
        plan->sobol.row_count *= 2;
    }
    /* What tens of thousands of simulations take, nobody wants to find out unasked. */
    if (plan->solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solver.half_width_rel)) {
        plan->solver.method = FULCRUM_METHOD_FAST;
    }
    job->plan.is_stopped = fulcrum_watch_stopped;
    job->plan.watch = fulcrum_watch_show;
    job->plan.watcher = &job->watch;
    fulcrum_watch_start(&job->watch, job->context, "evaluations");
    enum fulcrum_status status = fulcrum_sensitivity_run(&job->plan, &job->result, err);
    fulcrum_progress_end(&job->watch);
    bool is_cut = status == FULCRUM_ERR_INTERRUPTED;
    FAIL_IF(is_cut && job->result == NULL, err, status,
        "interrupted: fewer than two replicates were done, which tell nothing");
    if (is_cut) {
        fulcrum_message_warn("interrupted: from %zu of %d replicates",
            fulcrum_sobol_replicates(job->result->sobol), (int)REPLICATES);
        job->context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        status = FULCRUM_OK;
    }
    TRY(status);
    TRY(judge_metrics(job, err));
    return show_indices(job, !is_cut, err);
}

static enum fulcrum_status run_sensitivity(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job *job = fulcrum_allocate(1, sizeof *job);
    job->settings = data;
    job->context = context;
    enum fulcrum_status status = analyse(job, err);
    for (size_t i = 0; i < job->input_count; i++) {
        free(job->words[i].label);
        free(job->words[i].source);
    }
    for (size_t i = 0; i < job->output_count; i++) {
        free(job->metrics[i].label);
    }
    fulcrum_sensitivity_free(job->result);
    fulcrum_subject_clear(&job->subject);
    free(job->uncertain);
    free(job->spans);
    free(job->inputs);
    free(job->words);
    free(job->outputs);
    free(job->metrics);
    free(job->base);
    free(job->axis_values.values);
    free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(LIST, "vary", offsetof(struct settings, vary), "PATH[=LO:HI[:log]]",
        .letter = 'v',
        .help = "field to vary, uniformly or log-uniformly over a range, or without "
                "one by its prior or calibration; 'uncertain': all fields that have "
                "one, the default"),
    FULCRUM_OPTION(TEXT, "metric", offsetof(struct settings, metrics), "A,B,C",
        .help = "outputs to analyse: steps_per_s, gpu_w, ...; with --base also "
                "speedup, runtime_rel or any output with _rel; with --along "
                "best:OUTPUT; by default the rate and both performances per watt"),
    FULCRUM_OPTION(LIST, "base", offsetof(struct settings, base), "PATH=VALUE",
        .help = "what differs at the point that metrics are divided by; everything "
                "else stays the same"),
    FULCRUM_OPTION(TEXT, "along", offsetof(struct settings, along), "PATH=RANGE",
        .help = "field whose best value to analyse, and where to look for it, as for "
                "'explore --vary'"),
    FULCRUM_OPTION(COUNT, "samples", offsetof(struct settings, samples), "N",
        .letter = 'n', .fallback = "2048", .least = 16.0, .most = 1048576.0,
        .help = "rows of the design, with 2 evaluations each and 2 more per field; "
                "rounded up to 8 times a power of two"),
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
    {"fulcrum sensitivity -m dgx-1-inci2020 -w r2d2-atari --actors 40 --base actors=4",
        "the same for the speed-up from 4 to 40 actors"},
    {"fulcrum sensitivity -m dgx-a100 -w r2d2-atari --actors 256 "
     "-v machine.cpu.thread_count=64:512:log -v machine.gpu.sm_count=54:132",
        "whether threads or SMs drive the rate over these ranges"},
    {"fulcrum sensitivity -m dgx-1-inci2020 -w r2d2-atari "
     "--along machine.cpu.thread_count=20:320:x1.4 --actors-per-thread 6.4",
        "what decides how many threads are best"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_sensitivity = {
    .name = "sensitivity",
    .summary = "rank the uncertain or varied numbers behind a prediction's spread",
    .description =
        "Splits the variance of each metric among the fields that vary. `first`: "
        "expected reduction of variance if this field alone were known exactly "
        "(first-order Sobol index). `total`: variance left if all other fields were "
        "known (total index). What the first-order shares leave is due to "
        "interactions. The metric is also shown with each field at its 5th and 95th "
        "percentile and the others at their values.\n\nWithout --vary, every field "
        "varies that is a prior or has an error in a calibration. Numbers that depend "
        "on each other count as one field, since shares of variance assume "
        "independence. Unless actors are given, there are 6.4 per hardware thread (the "
        "paper's 256 on 40).\n\nStandard errors come from 8 independent replicates. "
        "Designs that cannot run are left out row by row and counted; if more than a "
        "tenth fail, no shares are given. Points are solved by the fast equations "
        "unless --method or --half-width asks for more.\n\nThe same inputs and seed "
        "give the same bytes, whatever the number of threads. After Ctrl-C the result "
        "covers the finished replicates, if there are at least two. 'fulcrum plot "
        "FILE' draws JSON or CSV output as a tornado chart.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_sensitivity,
};
