/* sensitivity_inputs.c - what `fulcrum sensitivity` varies and what it asks about. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/sensitivity_inputs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/range.h"
#include "model/nearest.h"
#include "model/string.h"
#include "model/study/sweep.h"
#include "model/try.h"

/* The word for everything that the presets and calibrations leave uncertain. */
static const char uncertain[] = "uncertain";

static const char best_prefix[] = "best:";
static const char relative_suffix[] = "_rel";

/* A reading under way. */
struct reading {
    const struct fulcrum_sensitivity_request *request;
    const struct fulcrum_design_inputs *design;
    struct fulcrum_context *context;
    struct fulcrum_sensitivity_inputs *out;
};

void fulcrum_sensitivity_inputs_free(struct fulcrum_sensitivity_inputs *inputs)
{
    for (size_t i = 0; i < inputs->input_count; i++) {
        free(inputs->words[i].label);
        free(inputs->words[i].source);
    }
    for (size_t i = 0; i < inputs->output_count; i++) {
        free(inputs->metrics[i].name);
    }
    free(inputs->uncertain);
    free(inputs->spans);
    free(inputs->inputs);
    free(inputs->words);
    free(inputs->outputs);
    free(inputs->metrics);
    free(inputs->base);
    free(inputs->axis_values);
    *inputs = (struct fulcrum_sensitivity_inputs){0};
}

int fulcrum_sensitivity_inputs_vary(
    const struct fulcrum_sensitivity_inputs *inputs, const struct fulcrum_field *field)
{
    for (size_t i = 0; i < inputs->span_count; i++) {
        if (inputs->spans[i].field == field) {
            return 1;
        }
    }
    return 0;
}

static struct fulcrum_sensitivity_metric word_metric(
    const struct fulcrum_sensitivity_output *output, const struct fulcrum_field *along)
{
    const char *name = fulcrum_output_name(output->predicted);
    switch (output->subject) {
    case FULCRUM_SUBJECT_BEST:
        return (struct fulcrum_sensitivity_metric){
            fulcrum_format("%s%s", best_prefix, name), along->unit};
    case FULCRUM_SUBJECT_RELATIVE:
        return (struct fulcrum_sensitivity_metric){
            output->predicted == FULCRUM_OUTPUT_steps_per_s
                ? fulcrum_format("speedup")
                : fulcrum_format("%s%s", name, relative_suffix),
            ""};
    case FULCRUM_SUBJECT_VALUE:
    default:
        return (struct fulcrum_sensitivity_metric){
            fulcrum_format("%s", name), fulcrum_output_unit(output->predicted)};
    }
}

static size_t find_output(const char *name, size_t length)
{
    size_t i = 0;
    while (i < FULCRUM_OUTPUT_COUNT &&
           (strlen(fulcrum_output_name(i)) != length ||
               strncmp(fulcrum_output_name(i), name, length) != 0)) {
        i++;
    }
    return i;
}

/* One name of the list; FULCRUM_OUTPUT_COUNT in `predicted` where there is none. */
static struct fulcrum_sensitivity_output read_metric(const char *name, size_t length)
{
    size_t prefix = sizeof best_prefix - 1;
    size_t suffix = sizeof relative_suffix - 1;
    struct fulcrum_sensitivity_output output = {FULCRUM_SUBJECT_VALUE, 0};
    size_t found = find_output(name, length);
    if (found < FULCRUM_OUTPUT_COUNT) {
        output.predicted = (enum fulcrum_predicted)found;
        return output;
    }
    if (length > prefix && strncmp(name, best_prefix, prefix) == 0) {
        output.subject = FULCRUM_SUBJECT_BEST;
        found = find_output(name + prefix, length - prefix);
    } else {
        output.subject = FULCRUM_SUBJECT_RELATIVE;
        int ends = length > suffix &&
                   strncmp(name + length - suffix, relative_suffix, suffix) == 0;
        found = ends ? find_output(name, length - suffix) : FULCRUM_OUTPUT_COUNT;
    }
    for (size_t i = 0; found == FULCRUM_OUTPUT_COUNT && i < FULCRUM_RELATIVE_COUNT;
         i++) {
        const char *relative = fulcrum_relative_name(i);
        if (strlen(relative) == length && strncmp(name, relative, length) == 0) {
            found = i == FULCRUM_RELATIVE_runtime_rel ? FULCRUM_OUTPUT_runtime_s
                                                      : FULCRUM_OUTPUT_steps_per_s;
        }
    }
    output.predicted = (enum fulcrum_predicted)found;
    return output;
}

/* Mistyped outputs are mostly near one; else all there is. */
static enum fulcrum_status fail_metric(
    const struct reading *reading, const char *name, struct fulcrum_error *err)
{
    char hint[FULCRUM_OUTPUT_HINT_BYTE];
    const struct fulcrum_names names = fulcrum_output_names();
    fulcrum_names_hint(&names, name, hint, sizeof hint);
    return fulcrum_usage_fail(reading->context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "--metric: unknown output '%s'%s%s", name, hint,
        hint[0] == ';' ? ""
                       : "; one of them with _rel at its end or speedup (with --base), "
                         "or best:OUTPUT (with --along)");
}

/* What the metric needs that was not given. */
static enum fulcrum_status check_metric(const struct reading *reading,
    const struct fulcrum_sensitivity_output *output, const char *name,
    struct fulcrum_error *err)
{
    if ((size_t)output->predicted == FULCRUM_OUTPUT_COUNT) {
        return fail_metric(reading, name, err);
    }
    FULCRUM_USAGE_IF(
        output->subject == FULCRUM_SUBJECT_RELATIVE && reading->out->base_count == 0,
        reading->context, err, FULCRUM_ERR_MISSING,
        "--metric %s: --base PATH=VALUE names the point to compare with", name);
    FULCRUM_USAGE_IF(
        output->subject == FULCRUM_SUBJECT_BEST && reading->out->axis.count == 0,
        reading->context, err, FULCRUM_ERR_MISSING,
        "--metric %s: --along PATH=RANGE says where to look for the best", name);
    for (size_t i = 0; i < reading->out->output_count; i++) {
        FULCRUM_USAGE_IF(reading->out->outputs[i].subject == output->subject &&
                             reading->out->outputs[i].predicted == output->predicted,
            reading->context, err, FULCRUM_ERR_RANGE, "--metric %s is given twice",
            name);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_metrics(
    const struct reading *reading, const char *list, struct fulcrum_error *err)
{
    struct fulcrum_sensitivity_inputs *out = reading->out;
    enum fulcrum_status status = FULCRUM_OK;
    while (list != NULL && status == FULCRUM_OK) {
        char *name = fulcrum_list_part(&list);
        struct fulcrum_sensitivity_output output = read_metric(name, strlen(name));
        status = check_metric(reading, &output, name, err);
        if (status == FULCRUM_OK) {
            out->metrics[out->output_count] = word_metric(&output, out->axis.field);
            out->outputs[out->output_count++] = output;
        }
        free(name);
    }
    return status;
}

/* Those of the question: what is relative or best where a point or axis was given. */
static enum fulcrum_status read_outputs(
    const struct reading *reading, struct fulcrum_error *err)
{
    struct fulcrum_sensitivity_inputs *out = reading->out;
    const char *list = reading->request->metrics;
    size_t most = 3;
    for (const char *at = list; at != NULL && *at != '\0'; at++) {
        most += *at == ',';
    }
    out->outputs = calloc(most, sizeof *out->outputs);
    out->metrics = calloc(most, sizeof *out->metrics);
    FAIL_IF(out->outputs == NULL || out->metrics == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "metrics");
    out->outputs_asked = list != NULL;
    if (list == NULL && out->axis.count > 0) {
        list = "best:steps_per_j_system";
    } else if (list == NULL && out->base_count > 0) {
        list = "speedup";
    } else if (list == NULL) {
        list = "steps_per_s,steps_per_j_gpu,steps_per_j_system";
    }
    return read_metrics(reading, list, err);
}

static enum fulcrum_status read_base(
    const struct reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *list = reading->request->base;
    struct fulcrum_sensitivity_inputs *out = reading->out;
    out->base = calloc(list->count + 1, sizeof *out->base);
    TRY_MEMORY(out->base, err, "settings");
    TRY(fulcrum_settings_parse("--base", list, reading->context, out->base, err));
    for (size_t i = 0; i < list->count; i++) {
        FULCRUM_USAGE_IF(out->base[i].text != NULL, reading->context, err,
            FULCRUM_ERR_RANGE,
            "--base: %s is no number: points are compared by numbers",
            out->base[i].field->path);
    }
    out->base_count = list->count;
    return FULCRUM_OK;
}

/* The field before '=', or the whole text. */
static const struct fulcrum_field *read_path(const struct reading *reading,
    const char *text, const char **range, struct fulcrum_error *err)
{
    size_t length = strcspn(text, "=");
    if (length == 0) {
        (void)fulcrum_usage_fail(reading->context, err, FULCRUM_ERR_FORMAT,
            "%s: expected PATH=LO:HI, PATH=LO:HI:log or PATH", text);
        return NULL;
    }
    char *path = fulcrum_format("%.*s", (int)length, text);
    *range = text[length] == '=' ? text + length + 1 : NULL;
    const struct fulcrum_field *field =
        fulcrum_field_parse(path, reading->context, err);
    free(path);
    return field;
}

static enum fulcrum_status read_axis(
    const struct reading *reading, struct fulcrum_error *err)
{
    struct fulcrum_sensitivity_inputs *out = reading->out;
    const char *range = NULL;
    if (reading->request->along == NULL) {
        return FULCRUM_OK;
    }
    const struct fulcrum_field *field =
        read_path(reading, reading->request->along, &range, err);
    if (field == NULL) {
        return fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, "--along");
    }
    FULCRUM_USAGE_IF(range == NULL, reading->context, err, FULCRUM_ERR_FORMAT,
        "--along %s: expected PATH=RANGE, such as "
        "machine.cpu.thread_count=20:320:x1.3",
        reading->request->along);
    enum fulcrum_status status =
        fulcrum_range_parse(field, range, &out->axis_values, &out->axis.count, err);
    if (status != FULCRUM_OK) {
        reading->context->exit_code = FULCRUM_EXIT_USAGE;
        return fulcrum_fail_in(err, status, "--along");
    }
    out->axis.field = field;
    out->axis.values = out->axis_values;
    return FULCRUM_OK;
}

static enum fulcrum_status fail_span(const struct reading *reading, const char *text,
    const char *expected, struct fulcrum_error *err)
{
    return fulcrum_usage_fail(reading->context, err, FULCRUM_ERR_RANGE,
        "--vary %s: expected %s", text, expected);
}

/* "LO:HI" or "LO:HI:log". */
static int parse_ends(const char *range, struct fulcrum_field_range *out)
{
    char *end = NULL;
    out->lo = strtod(range, &end);
    if (end == range || *end != ':') {
        return 0;
    }
    const char *second = end + 1;
    out->hi = strtod(second, &end);
    out->law =
        strcmp(end, ":log") == 0 ? FULCRUM_RANGE_LOG_UNIFORM : FULCRUM_RANGE_UNIFORM;
    return end != second && isfinite(out->lo) && isfinite(out->hi) &&
           (*end == '\0' || out->law == FULCRUM_RANGE_LOG_UNIFORM);
}

static bool is_whole(double value)
{
    return value == floor(value);
}

static enum fulcrum_status check_span(const struct reading *reading, const char *text,
    const struct fulcrum_field_range *span, struct fulcrum_error *err)
{
    const struct fulcrum_field *field = span->field;
    if (!(span->lo < span->hi)) {
        return fail_span(reading, text, "LO below HI", err);
    }
    if (!(span->lo >= field->least && span->hi <= field->most)) {
        char expected[80];
        (void)snprintf(expected, sizeof expected, "values from %.6g to %.6g",
            field->least, field->most);
        return fail_span(reading, text, expected, err);
    }
    if (field->kind == FULCRUM_FIELD_COUNT &&
        !(is_whole(span->lo) && is_whole(span->hi))) {
        return fail_span(reading, text, "whole numbers", err);
    }
    if (span->law == FULCRUM_RANGE_LOG_UNIFORM && !(span->lo > 0.0)) {
        return fail_span(reading, text, "LO above 0 for log", err);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_span(const struct reading *reading, const char *text,
    struct fulcrum_field_range *out, struct fulcrum_error *err)
{
    const char *range = NULL;
    out->field = read_path(reading, text, &range, err);
    if (out->field == NULL) {
        (void)fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, "--vary");
        return FULCRUM_ERR_UNKNOWN_NAME;
    }
    FULCRUM_USAGE_IF(out->field->kind != FULCRUM_FIELD_NUMBER &&
                         out->field->kind != FULCRUM_FIELD_COUNT,
        reading->context, err, FULCRUM_ERR_RANGE,
        "--vary %s is no number and cannot be varied", out->field->path);
    FULCRUM_USAGE_IF(fulcrum_sensitivity_inputs_vary(reading->out, out->field),
        reading->context, err, FULCRUM_ERR_RANGE, "--vary %s is given twice",
        out->field->path);
    FULCRUM_USAGE_IF(range == NULL || !parse_ends(range, out), reading->context, err,
        FULCRUM_ERR_FORMAT,
        "--vary %s: expected PATH=LO:HI or PATH=LO:HI:log, such as "
        "workload.step.mean_s=0.001:0.004:log",
        text);
    return check_span(reading, text, out, err);
}

static enum fulcrum_status read_spans(
    const struct reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *list = reading->request->vary;
    struct fulcrum_sensitivity_inputs *out = reading->out;
    for (size_t i = 0; i < list->count; i++) {
        if (strchr(list->items[i], '=') == NULL) {
            continue;
        }
        TRY(read_span(reading, list->items[i], &out->spans[out->span_count], err));
        out->span_count++;
    }
    return FULCRUM_OK;
}

/* Chances of a group lie beside each other. */
static size_t group_end(const struct fulcrum_sensitivity_inputs *inputs, size_t first)
{
    size_t end = first;
    while (end < inputs->uncertain_count &&
           inputs->uncertain[end].group == inputs->uncertain[first].group) {
        end++;
    }
    return end;
}

static struct fulcrum_sensitivity_words word_scale(
    const struct fulcrum_uncertain_input *input, const struct fulcrum_machine *machine)
{
    bool is_cpu = input->kind == FULCRUM_UNCERTAIN_CPU_SCALE;
    return (struct fulcrum_sensitivity_words){
        fulcrum_format("times on this %s", is_cpu ? "CPU" : "GPU"),
        fulcrum_format("scaled from another one to %s",
            is_cpu ? machine->cpu.name : machine->gpu.name)};
}

static struct fulcrum_sensitivity_words word_group(
    const struct fulcrum_uncertain_input *group, size_t count)
{
    const struct fulcrum_calibration *calibration = group->calibration;
    if (group->kind == FULCRUM_UNCERTAIN_DRAWS) {
        return (struct fulcrum_sensitivity_words){
            fulcrum_format("draws of %s", calibration->name),
            fulcrum_format("%zu draws of %zu numbers that depend on each other",
                calibration->draw_count, calibration->parameter_count)};
    }
    struct fulcrum_string label = {.chars = NULL};
    for (size_t i = 0; i < count; i++) {
        fulcrum_string_add(&label, "%s%s", i > 0 ? " + " : "", group[i].field->path);
    }
    struct fulcrum_sensitivity_words words = {
        fulcrum_format("%s", fulcrum_string_get(&label)),
        fulcrum_format(
            "%zu numbers of %s that depend on each other", count, calibration->name)};
    fulcrum_string_clear(&label);
    return words;
}

/* What a group of numbers is called, and why it is one. */
static struct fulcrum_sensitivity_words word_uncertain(const struct reading *reading,
    const struct fulcrum_uncertain_input *group, size_t count)
{
    if (count > 1 || group->kind == FULCRUM_UNCERTAIN_DRAWS) {
        return word_group(group, count);
    }
    if (group->field == NULL) {
        return word_scale(group, &reading->design->base.machine);
    }
    struct fulcrum_sensitivity_words words = {
        .label = fulcrum_format("%s", group->field->path)};
    if (group->kind == FULCRUM_UNCERTAIN_PRIOR) {
        words.source = fulcrum_format(
            "prior, x or / %.3g", reading->design->priors[group->prior].spread_factor);
    } else {
        enum fulcrum_origin origin =
            group->calibration->parameters[group->parameter].origin;
        words.source = fulcrum_format(
            "%s, %s", fulcrum_origin_name(origin), group->calibration->name);
    }
    return words;
}

static void add_uncertain(const struct reading *reading, size_t first)
{
    struct fulcrum_sensitivity_inputs *out = reading->out;
    size_t count = group_end(out, first) - first;
    out->words[out->input_count] =
        word_uncertain(reading, &out->uncertain[first], count);
    out->inputs[out->input_count++] = (struct fulcrum_sensitivity_input){
        .uncertain = &out->uncertain[first], .uncertain_count = count};
}

static bool has_uncertain(const struct fulcrum_sensitivity_inputs *out, size_t first)
{
    for (size_t i = 0; i < out->input_count; i++) {
        if (out->inputs[i].uncertain == &out->uncertain[first]) {
            return 1;
        }
    }
    return 0;
}

/* A number that has a range of its own is not uncertain besides. */
static void add_all_uncertain(const struct reading *reading)
{
    const struct fulcrum_sensitivity_inputs *out = reading->out;
    for (size_t i = 0; i < out->uncertain_count; i = group_end(out, i)) {
        bool is_spanned = group_end(out, i) == i + 1 &&
                          out->uncertain[i].field != NULL &&
                          fulcrum_sensitivity_inputs_vary(out, out->uncertain[i].field);
        if (!is_spanned && !has_uncertain(out, i)) {
            add_uncertain(reading, i);
        }
    }
}

/* The first input of the group that `field` belongs to; uncertain_count: none does. */
static size_t find_chance(
    const struct fulcrum_sensitivity_inputs *inputs, const struct fulcrum_field *field)
{
    size_t first = 0;
    for (size_t i = 0; i < inputs->uncertain_count; i++) {
        first = i > 0 && inputs->uncertain[i].group == inputs->uncertain[i - 1].group
                    ? first
                    : i;
        if (inputs->uncertain[i].field == field) {
            return first;
        }
    }
    return inputs->uncertain_count;
}

/* A path without a range: as uncertain as its source says. */
static enum fulcrum_status add_named(
    const struct reading *reading, const char *text, struct fulcrum_error *err)
{
    const char *range = NULL;
    const struct fulcrum_field *field = read_path(reading, text, &range, err);
    if (field == NULL) {
        return fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, "--vary");
    }
    size_t first = find_chance(reading->out, field);
    FULCRUM_USAGE_IF(first == reading->out->uncertain_count, reading->context, err,
        FULCRUM_ERR_MISSING,
        "--vary %s: neither a calibration nor a prior says how uncertain it is: "
        "expected PATH=LO:HI or PATH=LO:HI:log",
        field->path);
    FULCRUM_USAGE_IF(has_uncertain(reading->out, first) ||
                         fulcrum_sensitivity_inputs_vary(reading->out, field),
        reading->context, err, FULCRUM_ERR_RANGE, "--vary %s is given twice",
        field->path);
    add_uncertain(reading, first);
    return FULCRUM_OK;
}

static enum fulcrum_status add_chosen_uncertain(
    const struct reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *list = reading->request->vary;
    enum fulcrum_status status = FULCRUM_OK;
    int all = list->count == 0;
    for (size_t i = 0; i < list->count && status == FULCRUM_OK; i++) {
        if (strcmp(list->items[i], uncertain) == 0) {
            all = 1;
        } else if (strchr(list->items[i], '=') == NULL) {
            status = add_named(reading, list->items[i], err);
        }
    }
    if (status == FULCRUM_OK && all) {
        add_all_uncertain(reading);
    }
    return status;
}

static void add_spans(const struct reading *reading)
{
    struct fulcrum_sensitivity_inputs *out = reading->out;
    for (size_t i = 0; i < out->span_count && out->spans[i].field != NULL; i++) {
        const struct fulcrum_field_range *span = &out->spans[i];
        out->words[out->input_count] =
            (struct fulcrum_sensitivity_words){fulcrum_format("%s", span->field->path),
                fulcrum_format("%.6g to %.6g%s", span->lo, span->hi,
                    span->law == FULCRUM_RANGE_LOG_UNIFORM ? ", log-uniform" : "")};
        out->inputs[out->input_count++] =
            (struct fulcrum_sensitivity_input){.span = span};
    }
}

static enum fulcrum_status read_inputs(
    const struct reading *reading, struct fulcrum_error *err)
{
    struct fulcrum_sensitivity_inputs *out = reading->out;
    TRY(fulcrum_uncertain_inputs_list(
        &reading->design->scenario, &out->uncertain, &out->uncertain_count, err));
    size_t most = out->uncertain_count + reading->request->vary->count + 1;
    out->spans = calloc(most, sizeof *out->spans);
    out->inputs = calloc(most, sizeof *out->inputs);
    out->words = calloc(most, sizeof *out->words);
    FAIL_IF(out->spans == NULL || out->inputs == NULL || out->words == NULL, err,
        FULCRUM_ERR_NO_MEMORY, "inputs");
    TRY(read_spans(reading, err));
    add_spans(reading);
    TRY(add_chosen_uncertain(reading, err));
    if (out->input_count == 0) {
        TRY(fulcrum_usage_fail(reading->context, err, FULCRUM_ERR_MISSING,
            "nothing is uncertain here: --vary PATH=LO:HI names what varies"));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sensitivity_inputs_read(
    const struct fulcrum_sensitivity_request *request,
    const struct fulcrum_design_inputs *design, struct fulcrum_context *context,
    struct fulcrum_sensitivity_inputs *out, struct fulcrum_error *err)
{
    const struct reading reading = {request, design, context, out};
    *out = (struct fulcrum_sensitivity_inputs){0};
    TRY(read_inputs(&reading, err));
    TRY(read_base(&reading, err));
    TRY(read_axis(&reading, err));
    return read_outputs(&reading, err);
}
