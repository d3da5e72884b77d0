/* cmd_fit.c - `fulcrum fit`: parameters fitted to published or measured references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "calibrate/reference/comparison.h"
#include "calibrate/reference/reference_fit.h"
#include "cli/argv_text.h"
#include "cli/command/fit_job.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "model/parallel.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "presets/result/quantity_text.h"

/* References as the command line names them: presets, JSON, CSV. */

const struct fulcrum_option fulcrum_reference_host_rows[] = {
    FULCRUM_OPTION(TEXT, "machine", offsetof(struct fulcrum_reference_host, machine),
        "NAME", .letter = 'm',
        .help = "where a CSV file was measured: preset or JSON file; 'this' is the "
                "machine at hand"),
    FULCRUM_OPTION(TEXT, "workload", offsetof(struct fulcrum_reference_host, workload),
        "NAME", .letter = 'w', .help = "what a CSV file measured: preset or JSON file"),
    {.name = NULL},
};

/* Where the name ends: at the colon before a series, which the path of a CSV file may
 * have, too. */
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
    struct fulcrum_reference *reference = NULL;
    char *name = fulcrum_format("%.*s", (int)name_length(text), text);
    enum fulcrum_status status = fulcrum_reference_is_csv(name)
                                     ? load_csv(name, host, context, &reference, err)
                                     : fulcrum_reference_load(name, &reference, err);
    free(name);
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
        char name[1024];
        fulcrum_reference_text_name(texts->items[i], name, sizeof name);
        has_csv = has_csv || fulcrum_reference_is_csv(name);
    }
    return has_csv || (host->machine == NULL && host->workload == NULL)
               ? FULCRUM_OK
               : fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
                     "--machine and --workload say what a CSV file measured; a "
                     "reference names its own");
}

/* The options. */

/* In place of a path of --free: what the figures tell something of. */
#define FREE_AUTO "auto"

#define SETTING(member) offsetof(struct fulcrum_fit_settings, member)

static const struct fulcrum_argument fit_arguments[] = {
    {"REFERENCE", FULCRUM_ARGUMENT_REST, SETTING(references), NULL,
        FULCRUM_REFERENCE_NAMES "; those that are fitted together share their priors"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(LIST, "calibration", SETTING(calibrations), "NAME", .letter = 'c',
        .help = "preset or file whose values and errors are the priors; later ones win "
                "(the references' own unless given)"),
    FULCRUM_OPTION(LIST, "free", SETTING(free), "PATH", .letter = 'f',
        .help = "parameter to fit; every one that has an error unless given; 'auto': "
                "those, or of those given, that the figures tell something of"),
    FULCRUM_OPTION(LIST, "set", SETTING(sets), "PATH=VALUE", .letter = 's',
        .help = "holds a field at a value, to see what the fit is worth without it"),
    FULCRUM_OPTION(TEXT, "sd", SETTING(sd), "A,B,C",
        .help = "standard deviation of each figure, in their order; from half-widths "
                "and --noise unless given"),
    FULCRUM_OPTION(TEXT, "hold-out", SETTING(hold_out), "I,J,K",
        .help = "figures, from 1 in their order, that are predicted and not fitted"),
    FULCRUM_OPTION(NUMBER, "noise", SETTING(noise_rel), "FRACTION", .fallback = "0.008",
        .least = 1e-6, .most = 10.0,
        .help = "error of a figure beside its rounding, relative"),
    FULCRUM_OPTION(COUNT, "draws", SETTING(draws), "N", .letter = 'n',
        .fallback = "50000", .least = 0.0, .most = 1e8,
        .help = "draws of the posterior; 0: the best parameters alone"),
    FULCRUM_OPTION(FLAG, "leave-one-out", SETTING(leave_one_out), NULL,
        .help = "predicts each figure from all others, too"),
    FULCRUM_OPTION_SEED(
        SETTING(seed), "of draws and simulations; the same seed gives the same bytes"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Fit", rows, 0},
    {"CSV files", fulcrum_reference_host_rows, SETTING(host)},
    {.rows = NULL},
};

static const struct fulcrum_syntax syntax = {groups, fit_arguments};

/* What a fit reads: references, calibrations, lists of numbers. */

/* Draws of the prior, and for each figure that is left out. */
#define PRIOR_DRAWS    20000
#define HELD_OUT_DRAWS 20000
#define LEAST_DRAWS    1000

enum { FIGURES_MOST = 512 };

struct numbers {
    size_t count;
    double items[FIGURES_MOST + 1];
};

struct inputs {
    const struct fulcrum_fit_settings *settings;
    size_t reference_count;
    struct fulcrum_reference **references; /* as the settings name them */
    size_t calibration_count;
    struct fulcrum_calibration **calibrations;
    struct fulcrum_setting *sets;
    struct numbers sd;
    struct numbers hold_out; /* figures from 1 */
    bool selects;            /* --free auto */
    size_t free_count;       /* without it */
    const char **free_paths;
};

static const char *series_of(const struct inputs *inputs, size_t reference)
{
    return reference_text_series(inputs->settings->references.items[reference]);
}

/* Figures that come twice would count twice. */
static enum fulcrum_status check_twice(
    const struct inputs *inputs, size_t last, struct fulcrum_error *err)
{
    const char *name = inputs->references[last]->name;
    const char *series = series_of(inputs, last);
    for (size_t i = 0; i < last; i++) {
        FAIL_IF(strcmp(inputs->references[i]->name, name) == 0 &&
                    strcmp(series_of(inputs, i), series) == 0,
            err, FULCRUM_ERR_RANGE,
            "%s%s%s is given twice: expected each reference once, by names that differ",
            name, series[0] != '\0' ? ":" : "", series);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status load_references(
    struct inputs *out, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_fit_settings *settings = out->settings;
    size_t count = settings->references.count;
    FULCRUM_USAGE_IF(count == 0, context, err, FULCRUM_ERR_MISSING,
        "fit takes one REFERENCE or more: 'fulcrum list references' shows what "
        "there is, and a CSV file of your own does as well");
    TRY(fulcrum_reference_check_host(
        &settings->references, &settings->host, context, err));
    for (size_t i = 0; i < count; i++) {
        TRY(fulcrum_reference_text_load(settings->references.items[i], &settings->host,
            context, &out->references[i], err));
        out->reference_count++;
        const struct fulcrum_reference *reference = out->references[i];
        assert(reference != NULL);
        FAIL_IF(reference->predictor != FULCRUM_PREDICTOR_THROUGHPUT, err,
            FULCRUM_ERR_UNSUPPORTED,
            "%s: its predictor is %s: only references of throughput can be fitted",
            reference->name, fulcrum_predictor_name(reference->predictor));
        TRY(check_twice(out, i, err));
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

/* A figure at least must be left to fit. */
static enum fulcrum_status check_any_left(const struct inputs *inputs,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    bool is_held_out[FIGURES_MOST + 1] = {false};
    size_t figures = 0;
    size_t left = 0;
    for (size_t i = 0; i < inputs->hold_out.count; i++) {
        is_held_out[(size_t)inputs->hold_out.items[i]] = true;
    }
    for (size_t i = 0; i < inputs->reference_count; i++) {
        figures += count_figures_of(inputs->references[i]);
    }
    for (size_t figure = 1; figure <= figures; figure++) {
        left += figure > FIGURES_MOST || !is_held_out[figure] ? 1 : 0;
    }
    FULCRUM_USAGE_IF(left == 0, context, err, FULCRUM_ERR_RANGE,
        "--hold-out: of %zu figure%s none is left to fit", figures,
        figures == 1 ? "" : "s");
    return FULCRUM_OK;
}

/* The calibration that all points of all references start from; NULL: there is none. */
static const char *common_calibration(const struct inputs *inputs)
{
    const struct fulcrum_reference *first = inputs->references[0];
    const char *name = fulcrum_reference_calibration(first, first->points[0].series);
    bool is_common = name[0] != '\0';
    for (size_t i = 0; i < inputs->reference_count; i++) {
        const struct fulcrum_reference *from = inputs->references[i];
        for (size_t k = 0; k < from->point_count && is_common; k++) {
            const char *series = from->points[k].series;
            is_common = strcmp(fulcrum_reference_calibration(from, series), name) == 0;
        }
    }
    return is_common ? name : NULL;
}

static enum fulcrum_status load_calibrations(
    struct inputs *out, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *given = &out->settings->calibrations;
    const char *common = given->count == 0 ? common_calibration(out) : NULL;
    FULCRUM_USAGE_IF(given->count == 0 && common == NULL, context, err,
        FULCRUM_ERR_MISSING,
        "no calibration goes with all of these references: name one with "
        "--calibration");
    size_t count = given->count > 0 ? given->count : 1;
    for (size_t i = 0; i < count; i++) {
        TRY(fulcrum_calibration_load(
            common != NULL ? common : given->items[i], &out->calibrations[i], err));
        out->calibration_count++;
    }
    return FULCRUM_OK;
}

/* Numbers separated by commas. */
static enum fulcrum_status parse_numbers(
    const char *what, const char *list, struct numbers *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    while (list != NULL && status == FULCRUM_OK) {
        FAIL_IF(out->count == FIGURES_MOST, err, FULCRUM_ERR_RANGE,
            "%s: expected at most %d numbers", what, (int)FIGURES_MOST);
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

/* Figures are numbered from 1, and what is held at a value cannot be fitted. */
static enum fulcrum_status check_lists(
    const struct inputs *inputs, struct fulcrum_error *err)
{
    for (size_t i = 0; i < inputs->hold_out.count; i++) {
        double figure = inputs->hold_out.items[i];
        FAIL_IF(figure > floor(figure) || figure > (double)FIGURES_MOST, err,
            FULCRUM_ERR_RANGE, "--hold-out %g: expected whole numbers from 1 to %d",
            figure, (int)FIGURES_MOST);
    }
    size_t pairs = inputs->free_count * inputs->settings->sets.count;
    for (size_t i = 0; i < pairs; i++) {
        const char *path = inputs->free_paths[i % inputs->free_count];
        const struct fulcrum_setting *set = &inputs->sets[i / inputs->free_count];
        FAIL_IF(strcmp(path, set->field->path) == 0, err, FULCRUM_ERR_UNSUPPORTED,
            "--free %s: --set holds it at a value: expected one of them", path);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status parse_lists(
    struct inputs *out, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_fit_settings *settings = out->settings;
    enum fulcrum_status status = FULCRUM_OK;
    FULCRUM_USAGE_IF(settings->draws > 0.0 && settings->draws < LEAST_DRAWS, context,
        err, FULCRUM_ERR_RANGE,
        "--draws %.0f: expected 0, or %d at least to tell a spread from",
        settings->draws, (int)LEAST_DRAWS);
    for (size_t i = 0; i < settings->free.count; i++) {
        /* "auto" beside paths selects among these. */
        if (strcmp(settings->free.items[i], FREE_AUTO) == 0) {
            out->selects = 1;
        } else {
            out->free_paths[out->free_count++] = settings->free.items[i];
        }
    }
    TRY_OR_END(parse_numbers("--sd", settings->sd, &out->sd, err));
    TRY_OR_END(parse_numbers("--hold-out", settings->hold_out, &out->hold_out, err));
    status = check_lists(out, err);
end:
    context->exit_code = status == FULCRUM_OK ? context->exit_code : 2;
    return status;
}

/* Reads what the settings name, and checks what they say; the caller clears `out`. */
static enum fulcrum_status load_inputs(const struct fulcrum_fit_settings *settings,
    struct fulcrum_context *context, struct inputs *out, struct fulcrum_error *err)
{
    *out = (struct inputs){.settings = settings,
        .references = fulcrum_allocate(
            settings->references.count + 1, sizeof(struct fulcrum_reference *)),
        .calibrations = fulcrum_allocate(
            settings->calibrations.count + 1, sizeof(struct fulcrum_calibration *)),
        .sets = fulcrum_allocate(settings->sets.count + 1, sizeof *out->sets),
        .free_paths = fulcrum_allocate(settings->free.count + 1, sizeof(char *))};
    TRY(fulcrum_settings_parse("--set", &settings->sets, context, out->sets, err));
    TRY(parse_lists(out, context, err));
    TRY(load_references(out, context, err));
    TRY(check_any_left(out, context, err));
    return load_calibrations(out, context, err);
}

/* Accepts a struct of zeros. */
static void clear_inputs(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->reference_count; i++) {
        fulcrum_reference_free(inputs->references[i]);
    }
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        fulcrum_calibration_free(inputs->calibrations[i]);
    }
    free((void *)inputs->references);
    free((void *)inputs->calibrations);
    free(inputs->sets);
    free((void *)inputs->free_paths);
}

/*
 * The arguments of a fit as one text, to be repeated later: written from the option
 * table and read by it, so that no option can be forgotten.
 */

struct writer {
    const struct fulcrum_fit_settings *settings;
    FILE *stream;
};

static void put_option(
    struct writer *writer, const struct fulcrum_option *row, const char *value)
{
    (void)fprintf(writer->stream, " --%s ", row->name);
    fulcrum_argv_text_word(value, writer->stream);
}

static void put_row(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    struct writer *writer = user;
    const void *member = (const char *)writer->settings + group->offset + row->offset;
    const struct fulcrum_text_list *list = member;
    switch (row->kind) {
    case FULCRUM_OPTION_NUMBER:
    case FULCRUM_OPTION_COUNT:
        if (!isnan(*(const double *)member)) {
            char number[FULCRUM_NUMBER_SIZE];
            (void)fulcrum_number_text_exact(*(const double *)member, number);
            put_option(writer, row, number);
        }
        break;
    case FULCRUM_OPTION_TEXT:
    case FULCRUM_OPTION_FILE:
        if (*(const char *const *)member != NULL) {
            put_option(writer, row, *(const char *const *)member);
        }
        break;
    case FULCRUM_OPTION_CHOICE:
        if (*(const int *)member >= 0) {
            put_option(writer, row, row->choice(*(const int *)member));
        }
        break;
    case FULCRUM_OPTION_LIST:
        for (size_t i = 0; i < list->count; i++) {
            put_option(writer, row, list->items[i]);
        }
        break;
    case FULCRUM_OPTION_FLAG: /* --leave-one-out adds to what is said of a fit, and */
    case FULCRUM_OPTION_HELP: /* changes nothing of the calibration it writes */
        break;
    }
}

enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, struct fulcrum_note *out,
    struct fulcrum_error *err)
{
    char *text = NULL;
    size_t length = 0;
    struct writer writer = {settings, open_memstream(&text, &length)};
    TRY_MEMORY(writer.stream, err, "arguments of a fit");
    for (size_t i = 0; i < settings->references.count; i++) {
        const char *word = settings->references.items[i];
        (void)fputs(i > 0 ? " " : "", writer.stream);
        /* A file called "-x.csv" would be read as an option. */
        (void)fputs(word[0] == '-' ? "./" : "", writer.stream);
        fulcrum_argv_text_word(word, writer.stream);
    }
    fulcrum_options_each(&syntax, put_row, &writer);
    enum fulcrum_status status = FULCRUM_OK;
    if (fclose(writer.stream) != 0) {
        status = fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "arguments of a fit");
    } else if (length >= sizeof out->text) {
        status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "the arguments of this fit are %zu bytes long: a calibration keeps at most "
            "%zu",
            length, sizeof out->text - 1);
    } else {
        memcpy(out->text, text, length + 1);
    }
    free(text);
    return status;
}

/* Takes quotes and backslashes out of one word, in place; NULL: a quote stays open. */
static char *end_word(char *word)
{
    char *to = word;
    char *from = word;
    bool is_quoted = 0;
    for (; *from != '\0' && (is_quoted || *from != ' '); from++) {
        if (*from == '\'') {
            is_quoted = !is_quoted;
        } else {
            from += *from == '\\' && !is_quoted && from[1] != '\0' ? 1 : 0;
            *to++ = *from;
        }
    }
    char *next = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return is_quoted ? NULL : next;
}

enum fulcrum_status fulcrum_fit_recipe_parse(
    const char *text, struct fulcrum_fit_recipe *out, struct fulcrum_error *err)
{
    static char program[] = "fit";
    *out = (struct fulcrum_fit_recipe){.text = fulcrum_format("%s", text),
        /* Words have a blank between them; the first is the program's name. */
        .words = fulcrum_allocate(strlen(text) / 2 + 3, sizeof(char *))};
    out->words[out->count++] = program;
    char *next = out->text + strspn(out->text, " ");
    while (*next != '\0') {
        out->words[out->count++] = next;
        next = end_word(next);
        FAIL_IF(next == NULL, err, FULCRUM_ERR_FORMAT,
            "a quote is not closed in its last argument");
        next += strspn(next, " ");
    }
    return fulcrum_options_parse(
        &syntax, &out->settings, (int)out->count, out->words, err);
}

void fulcrum_fit_recipe_clear(struct fulcrum_fit_recipe *recipe)
{
    fulcrum_options_free(&syntax, &recipe->settings);
    free(recipe->text);
    free((void *)recipe->words);
}

/* What a fitted calibration says of the data it has seen. */

/*
 * Priors may come from a fit themselves. What they saw this fit has seen, so that lists
 * of both are put together: a point counts as held out only where nobody saw it.
 */

/* Adds an item that is not there to "A, B, C". */
static void add_item(struct fulcrum_string *list, const char *item)
{
    if (!fulcrum_fitted_points_list_has(fulcrum_string_get(list), item)) {
        fulcrum_string_add(list, "%s%s", list->length > 0 ? ", " : "", item);
    }
}

/* Whether a list of references has the one of "NAME:INDEX", whole or one series. */
static bool names_reference_of(const char *list, const char *point)
{
    const char *colon = strrchr(point, ':');
    size_t length = colon != NULL ? (size_t)(colon - point) : strlen(point);
    char *name = fulcrum_format("%.*s", (int)length, point);
    bool is_named = fulcrum_fitted_points_list_has_part(list, name);
    free(name);
    return is_named;
}

/* Whether a fit to these references without those points saw the point. */
static bool saw(const char *fitted_to, const char *held_out, const char *point)
{
    return names_reference_of(fitted_to, point) &&
           !fulcrum_fitted_points_list_has(held_out, point);
}

/*
 * Replaces every note of that key; "" takes it away.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status set_note(struct fulcrum_calibration *calibration,
    const char *key, const char *text, struct fulcrum_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, key) != 0) {
            calibration->notes[kept++] = calibration->notes[i];
        }
    }
    calibration->note_count = kept;
    return text[0] != '\0' ? fulcrum_calibration_add_note(calibration, key, text, err)
                           : FULCRUM_OK;
}

/* NAME or NAME:SERIES of each reference. */
static void list_references(const struct inputs *inputs, struct fulcrum_string *out)
{
    for (size_t i = 0; i < inputs->reference_count; i++) {
        const char *series = series_of(inputs, i);
        char *name = fulcrum_format("%s%s%s", inputs->references[i]->name,
            series[0] != '\0' ? ":" : "", series);
        add_item(out, name);
        free(name);
    }
}

/* Whether the fit was given any figure of the point that this figure belongs to. */
static bool is_seen(
    const struct fulcrum_reference_fit *fit, const struct fulcrum_figure *figure)
{
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *other = &fit->figures[i].figure;
        if (other->reference == figure->reference && other->point == figure->point &&
            isfinite(fit->figures[i].sd)) {
            return 1;
        }
    }
    return 0;
}

/* NAME:INDEX of the points that this fit did not see, whatever its priors did. */
static void list_held_out(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, struct fulcrum_string *out)
{
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *figure = &fit->figures[i].figure;
        const struct fulcrum_reference *from = inputs->references[figure->reference];
        char *point =
            fulcrum_format("%s:%zu", from->name, from->points[figure->point].index);
        if (!is_seen(fit, figure)) {
            add_item(out, point);
        }
        free(point);
    }
}

/* What a fit has seen, and what it has not. */
struct seen {
    const struct inputs *inputs;
    struct fulcrum_string fitted_to;
    struct fulcrum_string own_held_out; /* by this fit alone */
    struct fulcrum_string held_out;     /* by this one and those of its priors */
};

static const char *note_of(const struct seen *seen, size_t prior, const char *key)
{
    return fulcrum_calibration_note(seen->inputs->calibrations[prior], key);
}

static bool was_seen(const struct seen *seen, const char *point)
{
    bool found = saw(fulcrum_string_get(&seen->fitted_to),
        fulcrum_string_get(&seen->own_held_out), point);
    for (size_t i = 0; i < seen->inputs->calibration_count; i++) {
        found = found || saw(note_of(seen, i, FULCRUM_NOTE_FITTED_TO),
                             note_of(seen, i, FULCRUM_NOTE_HELD_OUT), point);
    }
    return found;
}

/* Adds the items of a list, to those held out the points alone that no fit saw. */
static void add_items(
    const struct seen *seen, const char *list, struct fulcrum_string *out)
{
    while (list != NULL && *list != '\0') {
        const char *end = strstr(list, ", ");
        size_t length = end != NULL ? (size_t)(end - list) : strlen(list);
        char *item = fulcrum_format("%.*s", (int)length, list);
        if (out != &seen->held_out || !was_seen(seen, item)) {
            add_item(out, item);
        }
        free(item);
        list = end != NULL ? end + 2 : NULL;
    }
}

static enum fulcrum_status set_list(struct fulcrum_calibration *calibration,
    const char *key, const struct fulcrum_string *list, struct fulcrum_error *err)
{
    const size_t most = sizeof((struct fulcrum_note *)0)->text - 1;
    FAIL_IF(list->is_lost, err, FULCRUM_ERR_NO_MEMORY, "a note");
    FAIL_IF(list->length > most, err, FULCRUM_ERR_RANGE,
        "the references of this fit and their points are too many for a note of "
        "%zu bytes",
        most);
    return set_note(calibration, key, fulcrum_string_get(list), err);
}

static enum fulcrum_status set_seen(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    struct seen seen = {.inputs = inputs};
    enum fulcrum_status status = FULCRUM_OK;
    list_references(inputs, &seen.fitted_to);
    list_held_out(fit, inputs, &seen.own_held_out);
    add_items(&seen, fulcrum_string_get(&seen.own_held_out), &seen.held_out);
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        add_items(&seen, note_of(&seen, i, FULCRUM_NOTE_HELD_OUT), &seen.held_out);
    }
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        add_items(&seen, note_of(&seen, i, FULCRUM_NOTE_FITTED_TO), &seen.fitted_to);
    }
    TRY_OR_END(set_list(calibration, FULCRUM_NOTE_FITTED_TO, &seen.fitted_to, err));
    TRY_OR_END(set_list(calibration, FULCRUM_NOTE_HELD_OUT, &seen.held_out, err));
end:
    fulcrum_string_clear(&seen.fitted_to);
    fulcrum_string_clear(&seen.own_held_out);
    fulcrum_string_clear(&seen.held_out);
    return status;
}

static void show_progress(void *context, double done_frac, const char *stage)
{
    struct fulcrum_progress *watch = context;
    fulcrum_progress_update(watch, done_frac, stage);
}

/* Computes the fit, with progress, until Ctrl-C; the caller clears `out`. */
static enum fulcrum_status run_fit(const struct inputs *inputs,
    struct fulcrum_context *context, struct fulcrum_reference_fit *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_fit_settings *settings = inputs->settings;
    struct fulcrum_progress watch;
    const struct fulcrum_reference_fit_plan plan = {
        .references = (const struct fulcrum_reference *const *)inputs->references,
        .reference_count = inputs->reference_count,
        .calibrations = (const struct fulcrum_calibration *const *)inputs->calibrations,
        .calibration_count = inputs->calibration_count,
        .settings = inputs->sets,
        .setting_count = settings->sets.count,
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
        .progress = show_progress,
        .stop = fulcrum_progress_stops,
        .progress_context = &watch,
    };
    fulcrum_progress_watch(&watch, context);
    enum fulcrum_status status = fulcrum_reference_fit_run(&plan, out, err);
    fulcrum_progress_end(&watch);
    return status;
}

/* How good it is, what it saw, and how to make it again. */
static enum fulcrum_status set_notes(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    struct fulcrum_note text = {.key = ""};
    char draws[100] = "no draws; the best parameters, with a spread by slopes there";
    /* What the priors say of themselves is no longer so. */
    TRY(set_note(calibration, "origin", "", err));
    TRY(set_seen(fit, inputs, calibration, err));
    TRY(fulcrum_fit_recipe_write(inputs->settings, &text, err));
    TRY(set_note(calibration, "fit_arguments", text.text, err));
    if (fit->draw_count > 0) {
        (void)snprintf(draws, sizeof draws,
            "%zu draws worth %.0f; the best parameters, with the spread of the "
            "posterior",
            fit->draw_count, fit->effective_count);
    }
    bool is_whole = fit->stopped_in[0] == '\0' ||
                    fit->draw_count >= (size_t)inputs->settings->draws;
    (void)snprintf(text.text, sizeof text.text, "objective %.4g, misfit %.4g; %s%s",
        fit->misfit + fit->penalty, fit->misfit, draws,
        is_whole ? "" : "; stopped before there were all draws");
    calibration->complete = calibration->complete && is_whole;
    return set_note(calibration, "fit", text.text, err);
}

/*
 * Makes the last calibration of the inputs one of the fit: what was fitted in place of
 * its priors, and notes. It is marked incomplete where the fit was stopped before there
 * were all draws.
 */
static enum fulcrum_status make_calibration(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, const char *name, struct fulcrum_error *err)
{
    struct fulcrum_calibration *last =
        inputs->calibrations[inputs->calibration_count - 1];
    const char *first = inputs->references[0]->name;
    char text[240];
    (void)snprintf(text, sizeof text, "fitted to %zu references, %s first",
        inputs->reference_count, first);
    TRY(fulcrum_reference_fit_apply(fit, text, last, err));
    TRY(set_notes(fit, inputs, last, err));
    (void)snprintf(text, sizeof text, "%s", last->name);
    (void)snprintf(last->title, sizeof last->title, "%.60s, fitted to %s%s", text,
        first, inputs->reference_count > 1 ? " and others" : "");
    (void)snprintf(last->name, sizeof last->name, "%s", name);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_repeat(const char *arguments, const char *name,
    const struct fulcrum_context *context, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    struct fulcrum_context own = *context;
    struct fulcrum_fit_recipe recipe;
    struct inputs inputs = {.reference_count = 0};
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_recipe_parse(arguments, &recipe, err));
    TRY_OR_END(load_inputs(&recipe.settings, &own, &inputs, err));
    TRY_OR_END(run_fit(&inputs, &own, &fit, err));
    if (fit.stopped_in[0] != '\0') {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped"));
    }
    TRY_OR_END(make_calibration(&fit, &inputs, name, err));
    *out = inputs.calibrations[--inputs.calibration_count];
end:
    fulcrum_reference_fit_clear(&fit);
    clear_inputs(&inputs);
    fulcrum_fit_recipe_clear(&recipe);
    return status;
}

/* The command. */

/* Each figure as predicted before the fit, by it and after it, and from the others. */
static void add_figures(struct fulcrum_result *result,
    const struct fulcrum_reference_fit *fit, const struct inputs *inputs)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "figures", "");
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_fitted_figure *row = &fit->figures[i];
        const struct fulcrum_reference *from =
            inputs->references[row->figure.reference];
        const struct fulcrum_reference_point *point = &from->points[row->figure.point];
        fulcrum_table_row(table);
        fulcrum_table_number(table, "figure", "figure", (double)(i + 1));
        fulcrum_table_text(table, "reference", "reference", from->name);
        fulcrum_table_number(table, "point", NULL, (double)point->index);
        fulcrum_table_text(table, "quantity", "quantity",
            point->observations[row->figure.observation].quantity);
        fulcrum_table_number(table, "observed", "observed", row->figure.value);
        fulcrum_table_number(table, "sd", "+-", row->sd);
        fulcrum_table_number(table, "prior_low", NULL, row->prior.low);
        fulcrum_table_number(table, "prior_median", "prior", row->prior.median);
        fulcrum_table_number(table, "prior_high", NULL, row->prior.high);
        fulcrum_table_number(table, "fitted", "fitted", row->mode);
        fulcrum_table_number(table, "simulated", "simulated", row->simulated);
        fulcrum_table_number(table, "posterior_mean", "posterior", row->posterior.mean);
        fulcrum_table_number(table, "posterior_sd", "+-", row->posterior.sd);
        fulcrum_table_number(table, "held_out_mean", "from others", row->held_out.mean);
        fulcrum_table_number(table, "held_out_sd", "+-", row->held_out.sd);
    }
}

static const char *verdict(const struct fulcrum_fitted_parameter *parameter)
{
    if (isnan(parameter->sd_frac)) {
        return "";
    }
    return parameter->sd_frac < FULCRUM_FIT_IDENTIFIED_FRAC ? "identified"
                                                            : "not identified";
}

/* What is left of every prior. */
static void add_parameters(
    struct fulcrum_result *result, const struct fulcrum_reference_fit *fit)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "parameters", "");
    fulcrum_table_make_main(table);
    for (size_t i = 0; i < fit->parameter_count; i++) {
        const struct fulcrum_fitted_parameter *row = &fit->parameters[i];
        fulcrum_table_row(table);
        fulcrum_table_text(table, "path", "parameter", row->prior.path);
        fulcrum_table_text(table, "scale", NULL, fulcrum_scale_name(row->prior.scale));
        fulcrum_table_number(table, "prior", "prior", row->prior.value);
        fulcrum_table_number(table, "prior_sd", NULL, row->prior.sd);
        fulcrum_table_number(table, "fitted", "fitted", row->mode);
        fulcrum_table_number(table, "z", "prior sds away", row->z);
        fulcrum_table_number(table, "posterior_mean", "posterior", row->posterior.mean);
        fulcrum_table_number(table, "posterior_sd", "+-", row->posterior.sd);
        fulcrum_table_number(table, "posterior_low", NULL, row->posterior.low);
        fulcrum_table_number(table, "posterior_high", NULL, row->posterior.high);
        fulcrum_table_number(table, "posterior_sd_frac", "sd left", row->sd_frac);
        fulcrum_table_text(table, "verdict", "verdict", verdict(row));
    }
}

/* What --free auto left at its prior. */
static void add_held(
    struct fulcrum_result *result, const struct fulcrum_reference_fit *fit)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "held", "");
    for (size_t i = 0; i < fit->held_count; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "path", "held at its prior", fit->held[i].path);
        fulcrum_table_number(table, "sd_left_frac", "sd left", fit->held[i].sd_frac);
    }
}

static enum fulcrum_status show_fit(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-fit");
    bool has_draws = fit->draw_count > 0;
    size_t told = 0; /* beyond 1 by the figures rather than by the prior */
    for (size_t i = 0; i < fit->singular_count; i++) {
        told += fit->singular_value[i] > 1.0 ? 1 : 0;
    }
    add_figures(result, fit, inputs);
    add_parameters(result, fit);
    add_held(result, fit);
    fulcrum_result_number(result, "objective", "objective", fit->misfit + fit->penalty);
    fulcrum_result_number(result, "misfit", "misfit", fit->misfit);
    fulcrum_result_number(
        result, "prior_penalty", "distance from priors", fit->penalty);
    fulcrum_result_print(result, "finding", "directions",
        "the figures tell %zu of %zu (singular values above 1), the priors the rest",
        told, fit->parameter_count);
    fulcrum_result_number(
        result, "draws", has_draws ? "draws" : NULL, (double)fit->draw_count);
    fulcrum_result_number(result, "effective_draws",
        has_draws ? "independent draws" : NULL, fit->effective_count);
    fulcrum_result_text(result, "stopped_in", "stopped in stage", fit->stopped_in);
    fulcrum_result_flag(result, "complete", NULL, fit->stopped_in[0] == '\0');
    fulcrum_result_numbers(
        result, "singular_values", fit->singular_value, fit->singular_count);
    if (!has_draws) {
        fulcrum_result_note(result, "flags",
            "no draws: slopes at the best parameters tell what is left of the priors");
    }
    return fulcrum_context_show(context, result, err);
}

/* The prefix of the file's name; the caller frees it. */
static char *calibration_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot != NULL && dot != file ? (size_t)(dot - file) : strlen(file);
    return fulcrum_format("%.*s", (int)length, file);
}

static enum fulcrum_status save_fit(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_calibration *last =
        inputs->calibrations[inputs->calibration_count - 1];
    char *name = calibration_name(context->output_path);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(make_calibration(fit, inputs, name, err));
    TRY_OR_END(fulcrum_calibration_save(last, context->output_path, err));
    fulcrum_message_note(context, "%s%s", context->output_path,
        last->complete ? "" : " is marked incomplete");
end:
    free(name);
    return status;
}

static enum fulcrum_status run_fit_command(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct inputs inputs;
    struct fulcrum_note note;
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(load_inputs(data, context, &inputs, err));
    /* Whether a file could be written, before the fit takes its time. */
    if (context->output_path != NULL) {
        TRY_OR_END(fulcrum_output_check(context->output_path, err));
        TRY_OR_END(fulcrum_fit_recipe_write(data, &note, err));
    }
    TRY_OR_END(run_fit(&inputs, context, &fit, err));
    if (fit.stopped_in[0] != '\0') {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        fulcrum_message_note(context,
            "stopped in stage '%s': this is what there was by then", fit.stopped_in);
    }
    TRY_OR_END(show_fit(&fit, &inputs, context, err));
    if (context->output_path != NULL) {
        TRY_OR_END(save_fit(&fit, &inputs, context, err));
    }
end:
    fulcrum_reference_fit_clear(&fit);
    clear_inputs(&inputs);
    return status;
}

static const struct fulcrum_example examples[] = {
    {"fulcrum fit inci2020-fig3-text inci2020-fig3-further-text inci2020-fig4-text "
     "--hold-out 2 --leave-one-out -o fitted.json",
        "the three ratios of the paper, and what each is worth"},
    {"fulcrum fit inci2020-fig3-text -s workload.host.per_item_s=0 --draws 0",
        "how well it goes without a serial cost per observation"},
    {"fulcrum fit -m dgx-1 -w r2d2-atari runs.csv --free auto -o runs-fitted.json",
        "measurements of one's own, in columns 'actors' and 'steps_per_s'"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_fit = {
    .name = "fit",
    .summary = "fit parameters to published or measured throughput",
    .description =
        "Fits parameters of the network model to references of throughput, published "
        "ones or a CSV file of measurements (docs/fit.md). Values and errors of "
        "calibrations are the priors; the fit says what they predict before it, the "
        "best parameters (maximum a posteriori), and what is left of the priors (draws "
        "of the posterior by sequential Monte Carlo). A parameter of which three "
        "quarters of the prior's standard deviation are left was not identified.\n\n"
        "A few figures can be met by many parameters: meeting them proves little. "
        "--leave-one-out predicts each from the others.\n\n"
        "The fast method is corrected by simulations at the best parameters; the "
        "column 'simulated' is the mean of three more. With -o, a calibration is "
        "written that predict and explore take with -c; its notes tell what it was "
        "fitted to and how to make it again.\n\n"
        "Ctrl-C keeps the best parameters, and the draws made so far, once there are "
        "any.",
    .examples = examples,
    .arguments = fit_arguments,
    .groups = groups,
    .settings_size = sizeof(struct fulcrum_fit_settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run_fit_command,
};
