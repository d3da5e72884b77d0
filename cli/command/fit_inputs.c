/* fit_inputs.c - what a fit reads: references, calibrations, lists of numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/fit_job.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "calibrate/reference/reference_fit.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/option.h"
#include "cli/options/options.h"
#include "model/design/reference.h"
#include "model/parallel.h"
#include "model/try.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

/* In place of a path: what the figures tell something of. */
#define FULCRUM_FIT_FREE_AUTO "auto"

/* References as the command line names them: presets, JSON, CSV. */

enum { PATH_SIZE = 1024 };

/* Where the name ends: at the colon before a series, which the path of a CSV file may
 * have, too. */
const struct fulcrum_option fulcrum_reference_host_rows[] = {
    FULCRUM_OPTION(TEXT, "machine", offsetof(struct fulcrum_reference_host, machine),
        "NAME", .letter = 'm',
        .help = "where a CSV file was measured: preset or JSON file; 'this' is the "
                "machine at hand"),
    FULCRUM_OPTION(TEXT, "workload", offsetof(struct fulcrum_reference_host, workload),
        "NAME", .letter = 'w', .help = "what a CSV file measured: preset or JSON file"),
    {.name = NULL},
};

static size_t name_length(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + 5 <= length; i++) {
        if (strncasecmp(text + i, ".csv:", 5) == 0) {
            return i + 4;
        }
    }
    return fulcrum_reference_is_csv(text) ? length : strcspn(text, ":");
}

/* The SERIES of NAME:SERIES, "" where there is none. Borrowed. */
static const char *reference_text_series(const char *text)
{
    size_t length = name_length(text);
    return text[length] == ':' ? text + length + 1 : "";
}

void fulcrum_reference_text_name(const char *text, char *out, size_t size)
{
    (void)snprintf(out, size, "%.*s", (int)name_length(text), text);
}

/* Whether NAME or NAME:SERIES is a CSV file's, which needs a machine and a workload. */
static int reference_text_is_csv(const char *text)
{
    char name[PATH_SIZE];
    fulcrum_reference_text_name(text, name, sizeof name);
    return fulcrum_reference_is_csv(name);
}

static enum fulcrum_status load_csv(const char *path,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_reference **out, struct fulcrum_error *err)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    FULCRUM_USAGE_IF(host->machine == NULL || host->workload == NULL, context, err,
        FULCRUM_ERR_MISSING, "%s: what was measured? name it with %s%s%s", path,
        host->machine == NULL ? "--machine" : "",
        host->machine == NULL && host->workload == NULL ? " and " : "",
        host->workload == NULL ? "--workload" : "");
    TRY(fulcrum_machine_find(host->machine, &design, NULL, err));
    TRY(fulcrum_workload_load(host->workload, &design, NULL, err));
    return fulcrum_reference_csv_load(path, &design, out, err);
}

enum fulcrum_status fulcrum_reference_text_load(const char *text,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_reference **out, struct fulcrum_error *err)
{
    char name[PATH_SIZE];
    struct fulcrum_reference *reference = NULL;
    fulcrum_reference_text_name(text, name, sizeof name);
    enum fulcrum_status status = fulcrum_reference_is_csv(name)
                                     ? load_csv(name, host, context, &reference, err)
                                     : fulcrum_reference_load(name, &reference, err);
    if (status == FULCRUM_OK && text[name_length(text)] == ':') {
        status =
            fulcrum_reference_keep_series(reference, reference_text_series(text), err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_reference_free(reference);
        return status;
    }
    *out = reference;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reference_check_host(const struct fulcrum_text_list *texts,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    bool has_csv = 0;
    for (size_t i = 0; i < texts->count; i++) {
        has_csv = has_csv || reference_text_is_csv(texts->items[i]);
    }
    return has_csv || (host->machine == NULL && host->workload == NULL)
               ? FULCRUM_OK
               : fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
                     "--machine and --workload say what a CSV file measured; a "
                     "reference names its own");
}

/* What `fulcrum fit` is asked for: its settings and option table. */

const struct fulcrum_argument fulcrum_fit_arguments[] = {
    {"REFERENCE", FULCRUM_ARGUMENT_REST,
        offsetof(struct fulcrum_fit_settings, references), NULL,
        FULCRUM_REFERENCE_NAMES "; those that are fitted together share their priors"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(LIST, "calibration",
        offsetof(struct fulcrum_fit_settings, calibrations), "NAME", .letter = 'c',
        .help = "preset or file whose values and errors are the priors; later ones win "
                "(the references' own unless given)"),
    FULCRUM_OPTION(LIST, "free", offsetof(struct fulcrum_fit_settings, free), "PATH",
        .letter = 'f',
        .help = "parameter to fit; every one that has an error unless given; 'auto': "
                "those, or of those given, that the figures tell something of"),
    FULCRUM_OPTION(LIST, "set", offsetof(struct fulcrum_fit_settings, sets),
        "PATH=VALUE", .letter = 's',
        .help = "holds a field at a value, to see what the fit is worth without it"),
    FULCRUM_OPTION(TEXT, "sd", offsetof(struct fulcrum_fit_settings, sd), "A,B,C",
        .help = "standard deviation of each figure, in their order; from half-widths "
                "and --noise unless given"),
    FULCRUM_OPTION(TEXT, "hold-out", offsetof(struct fulcrum_fit_settings, hold_out),
        "I,J,K",
        .help = "figures, from 1 in their order, that are predicted and not fitted"),
    FULCRUM_OPTION(NUMBER, "noise", offsetof(struct fulcrum_fit_settings, noise_rel),
        "FRACTION", .fallback = "0.008", .least = 1e-6, .most = 10.0,
        .help = "error of a figure beside its rounding, relative"),
    FULCRUM_OPTION(COUNT, "draws", offsetof(struct fulcrum_fit_settings, draws), "N",
        .letter = 'n', .fallback = "50000", .least = 0.0, .most = 1e8,
        .help = "draws of the posterior; 0: the best parameters alone"),
    {.name = FULCRUM_FIT_LEAVE_ONE_OUT,
        .kind = FULCRUM_OPTION_FLAG,
        .offset = offsetof(struct fulcrum_fit_settings, leave_one_out),
        .help = "predicts each figure from all others, too"},
    FULCRUM_OPTION_SEED(offsetof(struct fulcrum_fit_settings, seed),
        "of draws and simulations; the same seed gives the same bytes"),
    {.name = NULL},
};

const struct fulcrum_option_group fulcrum_fit_groups[] = {
    {"Fit", rows, 0},
    {"CSV files", fulcrum_reference_host_rows,
        offsetof(struct fulcrum_fit_settings, host)},
    {.rows = NULL},
};

/* Draws of the prior, and for each figure that is left out. */
#define PRIOR_DRAWS    20000
#define HELD_OUT_DRAWS 20000
#define LEAST_DRAWS    1000

static enum fulcrum_status allocate(const struct fulcrum_fit_settings *settings,
    struct fulcrum_fit_inputs *out, struct fulcrum_error *err)
{
    size_t references = settings->references.count;
    out->items = calloc(references + 1, sizeof *out->items);
    out->references = calloc(references + 1, sizeof(struct fulcrum_reference *));
    out->calibrations =
        calloc(settings->calibrations.count + 1, sizeof(struct fulcrum_calibration *));
    out->settings = calloc(settings->sets.count + 1, sizeof *out->settings);
    out->free_paths = calloc(settings->free.count + 1, sizeof(char *));
    return out->items != NULL && out->references != NULL && out->calibrations != NULL &&
                   out->settings != NULL && out->free_paths != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a fit");
}

/* Figures that come twice would count twice. */
static enum fulcrum_status check_twice(
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_error *err)
{
    const struct fulcrum_fit_reference *last =
        &inputs->items[inputs->reference_count - 1];
    for (size_t i = 0; i + 1 < inputs->reference_count; i++) {
        const struct fulcrum_fit_reference *item = &inputs->items[i];
        FAIL_IF(strcmp(item->reference->name, last->reference->name) == 0 &&
                    strcmp(item->series, last->series) == 0,
            err, FULCRUM_ERR_RANGE,
            "%s%s%s is given twice: expected each reference once, by names that "
            "differ",
            last->reference->name, last->series[0] != '\0' ? ":" : "", last->series);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status load_references(const struct fulcrum_fit_settings *settings,
    struct fulcrum_context *context, struct fulcrum_fit_inputs *out,
    struct fulcrum_error *err)
{
    FULCRUM_USAGE_IF(settings->references.count == 0, context, err, FULCRUM_ERR_MISSING,
        "fit takes one REFERENCE or more: 'fulcrum list references' shows what "
        "there is, and a CSV file of your own does as well");
    TRY(fulcrum_reference_check_host(
        &settings->references, &settings->host, context, err));
    for (size_t i = 0; i < settings->references.count; i++) {
        const char *text = settings->references.items[i];
        struct fulcrum_fit_reference *item = &out->items[out->reference_count++];
        item->series = reference_text_series(text);
        TRY(fulcrum_reference_text_load(
            text, &settings->host, context, &item->reference, err));
        const struct fulcrum_reference *reference = item->reference;
        assert(reference != NULL);
        FAIL_IF(reference->predictor != FULCRUM_PREDICTOR_THROUGHPUT, err,
            FULCRUM_ERR_UNSUPPORTED,
            "%s: its predictor is %s: only references of throughput can be fitted",
            reference->name, fulcrum_predictor_name(reference->predictor));
        TRY(check_twice(out, err));
        out->references[i] = reference;
    }
    return FULCRUM_OK;
}

/* Those that fulcrum_throughput_figures lists of one reference. */
static size_t count_figures_of(const struct fulcrum_reference *reference)
{
    size_t count = 0;
    for (size_t i = 0; i < reference->point_count; i++) {
        bool is_base = reference->is_relative && i == reference->relative_to;
        count += is_base ? 0 : reference->points[i].observation_count;
    }
    return count;
}

static bool is_held_out(const struct fulcrum_fit_inputs *inputs, size_t figure)
{
    for (size_t i = 0; i < inputs->hold_out.count; i++) {
        if (fabs(inputs->hold_out.items[i] - (double)figure) < 0.5) {
            return 1;
        }
    }
    return 0;
}

/* A figure at least must be left to fit. */
static enum fulcrum_status check_any_left(const struct fulcrum_fit_inputs *inputs,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    size_t figures = 0;
    for (size_t i = 0; i < inputs->reference_count; i++) {
        figures += count_figures_of(inputs->references[i]);
    }
    for (size_t figure = 1; figure <= figures; figure++) {
        if (!is_held_out(inputs, figure)) {
            return FULCRUM_OK;
        }
    }
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
        "--hold-out: of %zu figure%s none is left to fit", figures,
        figures == 1 ? "" : "s");
}

/* 1 where each point of the reference starts from the calibration. */
static int all_start_from(const struct fulcrum_reference *reference, const char *name)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        const char *series = reference->points[i].series;
        if (strcmp(fulcrum_reference_calibration(reference, series), name) != 0) {
            return 0;
        }
    }
    return 1;
}

/* The calibration that all points share; NULL where there is none. */
static const char *common_calibration(const struct fulcrum_fit_inputs *inputs)
{
    const char *name = NULL;
    for (size_t i = 0; i < inputs->reference_count; i++) {
        const struct fulcrum_reference *from = inputs->references[i];
        if (name == NULL) {
            name = fulcrum_reference_calibration(from, from->points[0].series);
        }
        if (name[0] == '\0' || !all_start_from(from, name)) {
            return NULL;
        }
    }
    return name;
}

static enum fulcrum_status add_calibration(
    const char *name, struct fulcrum_fit_inputs *out, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_calibration_load(name, &out->calibrations[out->calibration_count], err);
    out->calibration_count += status == FULCRUM_OK ? 1 : 0;
    return status;
}

static enum fulcrum_status load_calibrations(
    const struct fulcrum_fit_settings *settings, struct fulcrum_context *context,
    struct fulcrum_fit_inputs *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < settings->calibrations.count && status == FULCRUM_OK; i++) {
        status = add_calibration(settings->calibrations.items[i], out, err);
    }
    if (settings->calibrations.count > 0) {
        return status;
    }
    const char *name = common_calibration(out);
    return name != NULL ? add_calibration(name, out, err)
                        : fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
                              "no calibration goes with all of these references: name "
                              "one with --calibration");
}

/* Numbers separated by commas. */
static enum fulcrum_status parse_numbers(const char *what, const char *list,
    struct fulcrum_fit_numbers *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    while (list != NULL && status == FULCRUM_OK) {
        FAIL_IF(out->count == FULCRUM_FIT_FIGURES_MOST, err, FULCRUM_ERR_RANGE,
            "%s: expected at most %d numbers", what, (int)FULCRUM_FIT_FIGURES_MOST);
        char *text = fulcrum_list_part(&list);
        double *number = &out->items[out->count++];
        status = fulcrum_number_parse(what, text, number, err);
        if (status == FULCRUM_OK && !(*number > 0.0)) {
            status = fulcrum_fail(
                err, FULCRUM_ERR_RANGE, "%s %s: expected a number above 0", what, text);
        }
        free(text);
    }
    return status;
}

/* Figures are numbered from 1. */
static enum fulcrum_status check_hold_out(
    const struct fulcrum_fit_numbers *numbers, struct fulcrum_error *err)
{
    for (size_t i = 0; i < numbers->count; i++) {
        double figure = numbers->items[i];
        FAIL_IF(figure > floor(figure) || figure > (double)FULCRUM_FIT_FIGURES_MOST,
            err, FULCRUM_ERR_RANGE,
            "--hold-out %g: expected whole numbers from 1 to %d", figure,
            (int)FULCRUM_FIT_FIGURES_MOST);
    }
    return FULCRUM_OK;
}

static bool is_set(const struct fulcrum_fit_inputs *inputs, const char *path)
{
    for (size_t i = 0; i < inputs->setting_count; i++) {
        if (strcmp(path, inputs->settings[i].field->path) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What is held at a value cannot be fitted. */
static enum fulcrum_status check_free(
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_error *err)
{
    for (size_t i = 0; i < inputs->free_count; i++) {
        FAIL_IF(is_set(inputs, inputs->free_paths[i]), err, FULCRUM_ERR_UNSUPPORTED,
            "--free %s: --set holds it at a value: expected one of them",
            inputs->free_paths[i]);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status parse_lists(const struct fulcrum_fit_settings *settings,
    struct fulcrum_context *context, struct fulcrum_fit_inputs *out,
    struct fulcrum_error *err)
{
    FULCRUM_USAGE_IF(settings->draws > 0.0 && settings->draws < LEAST_DRAWS, context,
        err, FULCRUM_ERR_RANGE,
        "--draws %.0f: expected 0, or %d at least to tell a spread from",
        settings->draws, (int)LEAST_DRAWS);
    /* "auto" beside paths selects among these. */
    for (size_t i = 0; i < settings->free.count; i++) {
        const char *path = settings->free.items[i];
        if (strcmp(path, FULCRUM_FIT_FREE_AUTO) == 0) {
            out->selects = 1;
        } else {
            out->free_paths[out->free_count++] = path;
        }
    }
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(parse_numbers("--sd", settings->sd, &out->sd, err));
    TRY_OR_END(parse_numbers("--hold-out", settings->hold_out, &out->hold_out, err));
    TRY_OR_END(check_hold_out(&out->hold_out, err));
    status = check_free(out, err);
end:
    context->exit_code = status == FULCRUM_OK ? context->exit_code : 2;
    return status;
}

static enum fulcrum_status load(const struct fulcrum_fit_settings *settings,
    struct fulcrum_context *context, struct fulcrum_fit_inputs *out,
    struct fulcrum_error *err)
{
    TRY(allocate(settings, out, err));
    TRY(fulcrum_settings_parse("--set", &settings->sets, context, out->settings, err));
    out->setting_count = settings->sets.count;
    TRY(parse_lists(settings, context, out, err));
    TRY(load_references(settings, context, out, err));
    TRY(check_any_left(out, context, err));
    return load_calibrations(settings, context, out, err);
}

enum fulcrum_status fulcrum_fit_inputs_load(const struct fulcrum_fit_settings *settings,
    struct fulcrum_context *context, struct fulcrum_fit_inputs **out,
    struct fulcrum_error *err)
{
    struct fulcrum_fit_inputs *inputs = calloc(1, sizeof *inputs);
    TRY_MEMORY(inputs, err, "a fit");
    enum fulcrum_status status = load(settings, context, inputs, err);
    if (status != FULCRUM_OK) {
        fulcrum_fit_inputs_free(inputs);
        return status;
    }
    *out = inputs;
    return FULCRUM_OK;
}

void fulcrum_fit_inputs_free(struct fulcrum_fit_inputs *inputs)
{
    if (inputs == NULL) {
        return;
    }
    for (size_t i = 0; i < inputs->reference_count; i++) {
        fulcrum_reference_free(inputs->items[i].reference);
    }
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        fulcrum_calibration_free(inputs->calibrations[i]);
    }
    free(inputs->items);
    free((void *)inputs->references);
    free((void *)inputs->calibrations);
    free(inputs->settings);
    free((void *)inputs->free_paths);
    free(inputs);
}

struct fulcrum_reference_fit_plan fulcrum_fit_inputs_plan(
    const struct fulcrum_fit_inputs *inputs,
    const struct fulcrum_fit_settings *settings)
{
    return (struct fulcrum_reference_fit_plan){
        .references = inputs->references,
        .reference_count = inputs->reference_count,
        .calibrations = (const struct fulcrum_calibration *const *)inputs->calibrations,
        .calibration_count = inputs->calibration_count,
        .settings = inputs->settings,
        .setting_count = inputs->setting_count,
        .free_paths = inputs->free_paths,
        .free_count = inputs->free_count,
        .selects = inputs->selects,
        .sd = inputs->sd.items,
        .sd_count = inputs->sd.count,
        .held_out = inputs->hold_out.items,
        .held_out_count = inputs->hold_out.count,
        .noise_rel = settings->noise_rel,
        .draw_count = (size_t)settings->draws,
        .prior_draw_count = PRIOR_DRAWS,
        .held_out_draw_count = settings->leave_one_out ? HELD_OUT_DRAWS : 0,
        .seed = (uint64_t)settings->seed,
        .thread_count = fulcrum_parallel_threads(),
    };
}
