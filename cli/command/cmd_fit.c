/* cmd_fit.c - `fulcrum fit`: parameters fitted to published or measured references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* open_memstream, wordexp */

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    size_t length = name_length(text);
    char *name = fulcrum_format("%.*s", (int)length, text);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_is_csv(name)
                   ? load_csv(name, host, context, &reference, err)
                   : fulcrum_reference_load(name, &reference, err));
    if (text[length] == ':') {
        TRY_OR_END(fulcrum_reference_keep_series(reference, text + length + 1, err));
    }
    *out = reference;
    reference = NULL;
end:
    free(name);
    fulcrum_reference_free(reference);
    return status;
}

enum fulcrum_status fulcrum_reference_check_host(const struct fulcrum_text_list *texts,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    bool has_csv = false;
    for (size_t i = 0; i < texts->count; i++) {
        char name[1024];
        fulcrum_reference_text_name(texts->items[i], name, sizeof name);
        has_csv = has_csv || fulcrum_reference_is_csv(name);
    }
    FULCRUM_USAGE_IF(!has_csv && (host->machine != NULL || host->workload != NULL),
        context, err, FULCRUM_ERR_UNSUPPORTED,
        "--machine and --workload say what a CSV file measured; a reference names its "
        "own");
    return FULCRUM_OK;
}

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
        .help = "parameter to fit; default: all that have an error; 'auto': only "
                "those, or those given, that the figures inform"),
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
    FULCRUM_OPTION(FLAG, "strict", SETTING(is_strict), NULL,
        .help = "fails where the fit leaves doubts: exit status 1, and no calibration "
                "is written"),
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

/* Draws of the prior, and for each figure that is left out. */
#define PRIOR_DRAWS    20000
#define HELD_OUT_DRAWS 20000
#define LEAST_DRAWS    1000

enum { FIGURES_MOST = 512 };

struct numbers {
    size_t count;
    double items[FIGURES_MOST + 1];
};

/* What the plan borrows, and the plan. */
struct inputs {
    const struct fulcrum_fit_settings *settings;
    struct fulcrum_reference_fit_plan plan;
    struct fulcrum_reference **references; /* as the settings name them */
    char **names;                          /* NAME or NAME:SERIES of each */
    struct fulcrum_calibration **calibrations;
    struct fulcrum_setting *sets;
    struct numbers sd;
    struct numbers hold_out;    /* figures from 1 */
    const char **free_paths;    /* without --free auto */
    struct fulcrum_note recipe; /* with --output */
};

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
        const char *text = settings->references.items[i];
        TRY(fulcrum_reference_text_load(
            text, &settings->host, context, &out->references[i], err));
        const struct fulcrum_reference *reference = out->references[i];
        assert(reference != NULL);
        const char *series = text + name_length(text); /* with its colon */
        out->names[i] =
            fulcrum_format("%s%s", reference->name, strlen(series) > 1 ? series : "");
        out->plan.model.reference_count++;
        FAIL_IF(reference->predictor != FULCRUM_PREDICTOR_THROUGHPUT, err,
            FULCRUM_ERR_UNSUPPORTED,
            "%s: its predictor is %s: only references of throughput can be fitted",
            reference->name, fulcrum_predictor_name(reference->predictor));
        /* Figures that come twice would count twice. */
        for (size_t k = 0; k < i; k++) {
            FAIL_IF(strcmp(out->names[k], out->names[i]) == 0, err, FULCRUM_ERR_RANGE,
                "%s is given twice: expected each reference once, by names that differ",
                out->names[i]);
        }
    }
    return FULCRUM_OK;
}

/* The calibration that all points of all references start from; NULL: there is none. */
static const char *common_calibration(const struct inputs *inputs)
{
    const struct fulcrum_reference *first = inputs->references[0];
    const char *name = fulcrum_reference_calibration(first, first->points[0].series);
    bool is_common = name[0] != '\0';
    for (size_t i = 0; i < inputs->plan.model.reference_count; i++) {
        const struct fulcrum_reference *from = inputs->references[i];
        for (size_t k = 0; k < from->point_count && is_common; k++) {
            const char *series = from->points[k].series;
            is_common = strcmp(fulcrum_reference_calibration(from, series), name) == 0;
        }
    }
    return is_common ? name : NULL;
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
    size_t pairs = inputs->plan.model.path_count * inputs->settings->sets.count;
    for (size_t i = 0; i < pairs; i++) {
        const char *path = inputs->free_paths[i % inputs->plan.model.path_count];
        const struct fulcrum_setting *set =
            &inputs->sets[i / inputs->plan.model.path_count];
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
            out->plan.selects = true;
        } else {
            out->free_paths[out->plan.model.path_count++] = settings->free.items[i];
        }
    }
    TRY_OR_END(parse_numbers("--sd", settings->sd, &out->sd, err));
    TRY_OR_END(parse_numbers("--hold-out", settings->hold_out, &out->hold_out, err));
    status = check_lists(out, err);
end:
    context->exit_code = status == FULCRUM_OK ? context->exit_code : 2;
    return status;
}

/*
 * Reads what the settings name, and checks what they say.
 *   out      stays where it is while its plan is used; the caller clears it
 */
static enum fulcrum_status load_inputs(const struct fulcrum_fit_settings *settings,
    struct fulcrum_context *context, struct inputs *out, struct fulcrum_error *err)
{
    *out = (struct inputs){.settings = settings,
        .references = fulcrum_allocate(
            settings->references.count + 1, sizeof(struct fulcrum_reference *)),
        .names = fulcrum_allocate(settings->references.count + 1, sizeof(char *)),
        .calibrations = fulcrum_allocate(
            settings->calibrations.count + 1, sizeof(struct fulcrum_calibration *)),
        .sets = fulcrum_allocate(settings->sets.count + 1, sizeof *out->sets),
        .free_paths = fulcrum_allocate(settings->free.count + 1, sizeof(char *))};
    out->plan = (struct fulcrum_reference_fit_plan){
        .model = {.references =
                      (const struct fulcrum_reference *const *)out->references,
            .calibrations =
                (const struct fulcrum_calibration *const *)out->calibrations,
            .settings = out->sets,
            .setting_count = settings->sets.count,
            .paths = out->free_paths,
            .thread_count = fulcrum_parallel_threads(),
            .stop = fulcrum_progress_stops},
        .sd = out->sd.items,
        .held_out = out->hold_out.items,
        .noise_rel = settings->noise_rel,
        .draw_count = (size_t)settings->draws,
        .prior_draw_count = PRIOR_DRAWS,
        .held_out_draw_count = settings->leave_one_out ? HELD_OUT_DRAWS : 0,
        .seed = (uint64_t)settings->seed,
        .progress = fulcrum_progress_show,
        .names = (const char *const *)out->names,
        .fit_arguments = out->recipe.text};
    TRY(fulcrum_settings_parse("--set", &settings->sets, context, out->sets, err));
    TRY(parse_lists(out, context, err));
    out->plan.sd_count = out->sd.count;
    out->plan.held_out_count = out->hold_out.count;
    TRY(load_references(out, context, err));
    /* A figure at least must be left to fit. */
    bool is_held_out[FIGURES_MOST + 1] = {false};
    size_t figures = 0; /* as fulcrum_throughput_figures lists them */
    size_t left = 0;
    for (size_t i = 0; i < out->hold_out.count; i++) {
        is_held_out[(size_t)out->hold_out.items[i]] = true;
    }
    for (size_t i = 0; i < out->plan.model.reference_count; i++) {
        const struct fulcrum_reference *from = out->references[i];
        for (size_t k = 0; k < from->point_count; k++) {
            bool is_base = from->is_relative && k == from->relative_to;
            figures += is_base ? 0 : from->points[k].observation_count;
        }
    }
    for (size_t figure = 1; figure <= figures; figure++) {
        left += figure > FIGURES_MOST || !is_held_out[figure] ? 1 : 0;
    }
    FULCRUM_USAGE_IF(left == 0, context, err, FULCRUM_ERR_RANGE,
        "--hold-out: of %zu figure%s none is left to fit", figures,
        figures == 1 ? "" : "s");
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
        out->plan.model.calibration_count++;
    }
    return FULCRUM_OK;
}

/* Accepts a struct of zeros. */
static void clear_inputs(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->plan.model.reference_count; i++) {
        fulcrum_reference_free(inputs->references[i]);
        free(inputs->names[i]);
    }
    for (size_t i = 0; i < inputs->plan.model.calibration_count; i++) {
        fulcrum_calibration_free(inputs->calibrations[i]);
    }
    free((void *)inputs->references);
    free((void *)inputs->names);
    free((void *)inputs->calibrations);
    free(inputs->sets);
    free((void *)inputs->free_paths);
}

/*
 * The arguments of a fit as one text, to be repeated later: written from the option
 * table and read by it, so that no option can be forgotten.
 */

enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, struct fulcrum_note *out,
    struct fulcrum_error *err)
{
    struct fulcrum_argv_text words = {0};
    struct fulcrum_string text = {0};
    for (size_t i = 0; i < settings->references.count; i++) {
        const char *word = settings->references.items[i];
        /* A file called "-x.csv" would be read as an option. */
        fulcrum_argv_text_add(&words, "%s%s", word[0] == '-' ? "./" : "", word);
    }
    /* --leave-one-out adds to what is said of a fit, and changes nothing of what it
     * writes: flags are left out. */
    for (const struct fulcrum_option_group *group = groups; group->rows != NULL;
         group++) {
        const char *block = (const char *)settings + group->offset;
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            fulcrum_argv_text_option(&words, row, block, "");
        }
    }
    fulcrum_argv_text_line(&words, &text);
    fulcrum_argv_text_clear(&words);
    enum fulcrum_status status = FULCRUM_OK;
    if (text.is_lost || text.length >= sizeof out->text) {
        status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "the arguments of this fit are %zu bytes long: a calibration keeps at most "
            "%zu",
            text.length, sizeof out->text - 1);
    } else {
        memcpy(out->text, fulcrum_string_get(&text), text.length + 1);
    }
    fulcrum_string_clear(&text);
    return status;
}

enum fulcrum_status fulcrum_fit_recipe_parse(
    const char *text, struct fulcrum_fit_recipe *out, struct fulcrum_error *err)
{
    static char program[] = "fit";
    *out = (struct fulcrum_fit_recipe){.words = {.we_offs = 1}};
    int fault = wordexp(text, &out->words, WRDE_DOOFFS | WRDE_NOCMD | WRDE_UNDEF);
    out->has_words = fault == 0;
    FAIL_IF(fault != 0, err, FULCRUM_ERR_FORMAT,
        "no command line: a quote is not closed, or a special character is not quoted");
    out->words.we_wordv[0] = program;
    return fulcrum_options_parse(&syntax, &out->settings, (int)out->words.we_wordc + 1,
        out->words.we_wordv, err);
}

void fulcrum_fit_recipe_clear(struct fulcrum_fit_recipe *recipe)
{
    fulcrum_options_free(&syntax, &recipe->settings);
    if (recipe->has_words) {
        wordfree(&recipe->words);
    }
}

/* Computes the fit, with progress, until Ctrl-C; the caller clears `out`. */
static enum fulcrum_status run_fit(struct inputs *inputs,
    const struct fulcrum_context *context, struct fulcrum_reference_fit *out,
    struct fulcrum_error *err)
{
    struct fulcrum_progress watch;
    inputs->plan.model.watcher = &watch;
    fulcrum_watch_start(&watch, context, NULL);
    enum fulcrum_status status = fulcrum_reference_fit_run(&inputs->plan, out, err);
    fulcrum_progress_end(&watch);
    return status;
}

/* Makes the last calibration of the inputs one of the fit. Borrowed. */
static enum fulcrum_status make_calibration(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, const char *name, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    *out = inputs->calibrations[inputs->plan.model.calibration_count - 1];
    TRY(fulcrum_reference_fit_apply(fit, &inputs->plan, *out, err));
    (void)snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_repeat(const char *arguments, const char *name,
    const struct fulcrum_context *context, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    struct fulcrum_context own = *context;
    struct fulcrum_fit_recipe recipe;
    struct inputs inputs = {.settings = NULL};
    struct fulcrum_reference_fit fit = {.parameter_count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_recipe_parse(arguments, &recipe, err));
    TRY_OR_END(load_inputs(&recipe.settings, &own, &inputs, err));
    TRY_OR_END(fulcrum_fit_recipe_write(&recipe.settings, &inputs.recipe, err));
    TRY_OR_END(run_fit(&inputs, &own, &fit, err));
    if (fit.stopped_in[0] != '\0') {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped"));
    }
    TRY_OR_END(make_calibration(&fit, &inputs, name, out, err));
    inputs.plan.model.calibration_count--; /* the caller's */
end:
    fulcrum_reference_fit_clear(&fit);
    clear_inputs(&inputs);
    fulcrum_fit_recipe_clear(&recipe);
    return status;
}

static const struct fulcrum_reference_point *point_of(
    const struct fulcrum_fitted_figure *row, const struct inputs *inputs)
{
    return &inputs->references[row->figure.reference]->points[row->figure.point];
}

static const char *quantity_of(
    const struct fulcrum_fitted_figure *row, const struct inputs *inputs)
{
    return point_of(row, inputs)->observations[row->figure.observation].quantity;
}

/* Each figure as predicted before the fit, by it and after it, and from the others. */
static void add_figures(struct fulcrum_result *result,
    const struct fulcrum_reference_fit *fit, const struct inputs *inputs)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "figures", "");
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_fitted_figure *row = &fit->figures[i];
        fulcrum_table_row(table);
        fulcrum_table_number(table, "figure", "figure", (double)(i + 1));
        fulcrum_table_text(table, "reference", "reference",
            inputs->references[row->figure.reference]->name);
        fulcrum_table_number(
            table, "point", NULL, (double)point_of(row, inputs)->index);
        fulcrum_table_text(table, "quantity", "quantity", quantity_of(row, inputs));
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

/* Standard deviations beyond which prior, figures and model do not go together. */
#define DOUBTFUL_SDS 3.0

/* Of one quantity of one reference, told apart by their errors, in the other order. */
static bool is_reversed(const struct fulcrum_fitted_figure *a,
    const struct fulcrum_fitted_figure *b, const struct inputs *inputs)
{
    double apart = b->figure.value - a->figure.value;
    return a->figure.reference == b->figure.reference &&
           strcmp(quantity_of(a, inputs), quantity_of(b, inputs)) == 0 &&
           fabs(apart) > hypot(a->sd, b->sd) && (b->mode - a->mode) * apart < 0.0;
}

/* Notes what speaks against the fit; returns how many notes. */
static size_t note_doubts(struct fulcrum_result *result,
    const struct fulcrum_reference_fit *fit, const struct inputs *inputs)
{
    size_t count = 0;
    for (size_t i = 0; i < fit->parameter_count; i++) {
        const struct fulcrum_fitted_parameter *row = &fit->parameters[i];
        if (fabs(row->z) > DOUBTFUL_SDS) {
            count++;
            fulcrum_result_note_print(result, "doubts",
                "%s was fitted %.3g of the prior's standard deviations away from it",
                row->prior.path, fabs(row->z));
        }
    }
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_fitted_figure *row = &fit->figures[i];
        double off = fabs(row->mode - row->figure.value) / row->sd;
        if (off > DOUBTFUL_SDS) {
            count++;
            fulcrum_result_note_print(result, "doubts",
                "figure %zu is missed by %.3g of its standard deviations: %.4g fitted, "
                "%.4g observed",
                i + 1, off, row->mode, row->figure.value);
        }
        for (size_t k = 0; k < i; k++) {
            if (is_reversed(&fit->figures[k], row, inputs)) {
                count++;
                fulcrum_result_note_print(result, "doubts",
                    "figures %zu and %zu were observed in the other order", k + 1,
                    i + 1);
            }
        }
    }
    return count;
}

static enum fulcrum_status show_fit(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-fit");
    bool has_draws = fit->draw_count > 0;
    size_t told = 0; /* beyond 1 by the figures rather than by the prior */
    for (size_t i = 0; i < fit->mode.singular_count; i++) {
        told += fit->mode.singular_value[i] > 1.0 ? 1 : 0;
    }
    add_figures(result, fit, inputs);
    /* What is left of every prior. */
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
        fulcrum_table_text(table, "verdict", "verdict",
            fabs(row->z) > DOUBTFUL_SDS                  ? "far from its prior"
            : isnan(row->sd_frac)                        ? ""
            : row->sd_frac < FULCRUM_FIT_IDENTIFIED_FRAC ? "identified"
                                                         : "not identified");
    }
    /* What --free auto left at its prior. */
    struct fulcrum_table *held = fulcrum_result_table(result, "held", "");
    for (size_t i = 0; i < fit->held_count; i++) {
        fulcrum_table_row(held);
        fulcrum_table_text(held, "path", "held at its prior", fit->held[i].path);
        fulcrum_table_number(held, "sd_left_frac", "sd left", fit->held[i].sd_frac);
    }
    fulcrum_result_number(
        result, "objective", "objective", fit->mode.misfit + fit->mode.penalty);
    fulcrum_result_number(result, "misfit", "misfit", fit->mode.misfit);
    fulcrum_result_number(
        result, "prior_penalty", "distance from priors", fit->mode.penalty);
    fulcrum_result_print(result, "finding", "directions",
        "%zu of %zu set by the figures (singular value above 1), the rest by the "
        "priors",
        told, fit->parameter_count);
    fulcrum_result_number(
        result, "draws", has_draws ? "draws" : NULL, (double)fit->draw_count);
    fulcrum_result_number(result, "effective_draws",
        has_draws ? "independent draws" : NULL, fit->effective_count);
    fulcrum_result_text(result, "stopped_in", "stopped in stage", fit->stopped_in);
    fulcrum_result_flag(result, "complete", NULL, fit->stopped_in[0] == '\0');
    fulcrum_result_numbers(
        result, "singular_values", fit->mode.singular_value, fit->mode.singular_count);
    if (!has_draws) {
        fulcrum_result_note(result, "flags",
            "no draws: slopes at the best parameters tell what is left of the priors");
    }
    size_t doubts = note_doubts(result, fit, inputs);
    TRY(fulcrum_context_show(context, result, err));
    FAIL_IF(inputs->settings->is_strict && doubts > 0, err, FULCRUM_ERR_NO_FIT,
        "--strict: %zu doubts about this fit, see its notes; no calibration was "
        "written",
        doubts);
    return FULCRUM_OK;
}

static enum fulcrum_status save_fit(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_calibration *last = NULL;
    /* Named by the prefix of the file's name. */
    const char *slash = strrchr(context->output_path, '/');
    const char *file = slash != NULL ? slash + 1 : context->output_path;
    const char *dot = strrchr(file, '.');
    size_t length = dot != NULL && dot != file ? (size_t)(dot - file) : strlen(file);
    char *name = fulcrum_format("%.*s", (int)length, file);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(make_calibration(fit, inputs, name, &last, err));
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
    struct fulcrum_reference_fit fit = {.parameter_count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(load_inputs(data, context, &inputs, err));
    /* Whether a file could be written, before the fit takes its time. */
    if (context->output_path != NULL) {
        TRY_OR_END(fulcrum_output_check(context->output_path, err));
        TRY_OR_END(fulcrum_fit_recipe_write(data, &inputs.recipe, err));
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
        "best parameters (maximum a posteriori), and how much the figures narrow the "
        "priors (posterior draws by sequential Monte Carlo). A parameter that keeps at "
        "least three quarters of its prior's standard deviation was not "
        "identified. Parameters and figures more than three standard deviations off, "
        "and figures in the wrong order, are noted as doubts.\n\nMany sets of "
        "parameters can meet a few figures (published or measured numbers): meeting "
        "them proves little. --leave-one-out predicts each from the others.\n\nThe "
        "fast method is corrected by simulations at the best "
        "parameters; the column 'simulated' is the mean of three more. With -o, a "
        "calibration is written that predict and explore take with -c; its notes tell "
        "what it was fitted to and how to make it again.\n\nCtrl-C keeps the best "
        "parameters, and the draws made so far, once there are any.",
    .examples = examples,
    .arguments = fit_arguments,
    .groups = groups,
    .settings_size = sizeof(struct fulcrum_fit_settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run_fit_command,
};
