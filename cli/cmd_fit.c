/* cmd_fit.c - `fulcrum fit`: parameters fitted to published or measured references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads references and the calibrations whose values are the priors, asks calibrate/
 * for the fit and shows what the data said: figures as predicted before, by and after
 * it, each also from the others alone, and what is left of every prior.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference_fit.h"
#include "cli/command.h"
#include "cli/design_options.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "model/parallel.h"
#include "presets/json.h"
#include "presets/output.h"
#include "presets/preset.h"
#include "presets/reference_load.h"

/* Of prior standard deviations: a parameter with more left was not identified. */
#define IDENTIFIED_FRAC 0.75
enum { PATH_SIZE = 512 };
/* Draws of the prior, and for each figure that is left out. */
#define PRIOR_DRAWS    20000
#define HELD_OUT_DRAWS 20000
#define LEAST_DRAWS    1000

enum { FIGURES_MOST = 512 };

struct number_list {
    size_t count;
    double items[FIGURES_MOST + 1];
};

struct settings {
    struct fulcrum_text_list references;
    struct fulcrum_text_list calibrations;
    struct fulcrum_text_list free;
    struct fulcrum_text_list sets;
    const char *sd;
    const char *hold_out;
    double noise_rel;
    double draws;
    int leave_one_out;
    double seed;
};

/* All that a fit reads; owned. */
struct inputs {
    size_t reference_count;
    struct fulcrum_reference **references;
    size_t calibration_count;
    struct fulcrum_calibration **calibrations;
    size_t setting_count;
    struct fulcrum_setting *settings;
    struct number_list sd;
    struct number_list hold_out; /* figures from 1 */
};

static enum fulcrum_status allocate(
    const struct settings *settings, struct inputs *out, struct fulcrum_error *err)
{
    size_t references = settings->references.count;
    out->references = calloc(references + 1, sizeof(struct fulcrum_reference *));
    out->calibrations =
        calloc(settings->calibrations.count + 1, sizeof(struct fulcrum_calibration *));
    out->settings = calloc(settings->sets.count + 1, sizeof *out->settings);
    return out->references != NULL && out->calibrations != NULL && out->settings != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a fit");
}

/* NAME, or NAME:SERIES for one of its curves. */
static enum fulcrum_status load_reference(
    const char *text, struct fulcrum_reference **out, struct fulcrum_error *err)
{
    char name[PATH_SIZE];
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    (void)snprintf(name, sizeof name, "%.*s", (int)length, text);
    enum fulcrum_status status = fulcrum_reference_load(name, out, err);
    if (status == FULCRUM_OK && colon != NULL) {
        status = fulcrum_reference_keep_series(*out, colon + 1, err);
    }
    return status;
}

static enum fulcrum_status load_references(const struct settings *settings,
    struct fulcrum_context *context, struct inputs *out, struct fulcrum_error *err)
{
    if (settings->references.count == 0) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "fit takes one REFERENCE or more: 'fulcrum list references' shows what "
            "there is");
    }
    for (size_t i = 0; i < settings->references.count; i++) {
        struct fulcrum_reference *reference = NULL;
        enum fulcrum_status status =
            load_reference(settings->references.items[i], &reference, err);
        out->references[out->reference_count] = reference;
        out->reference_count += reference != NULL ? 1 : 0;
        if (status != FULCRUM_OK || reference == NULL) {
            return status;
        }
        if (reference->predictor != FULCRUM_PREDICTOR_THROUGHPUT) {
            return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
                "%s: its predictor is %s: only references of throughput can be fitted",
                reference->name, fulcrum_predictor_name(reference->predictor));
        }
    }
    return FULCRUM_OK;
}

/* Where the priors of a reference come from unless the user names calibrations. */
static const char *own_calibration(const struct fulcrum_reference *reference)
{
    return reference->calibration[0] != '\0' ? reference->calibration
                                             : reference->design.workload.calibration;
}

static enum fulcrum_status add_calibration(
    const char *name, struct inputs *out, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_calibration_load(name, &out->calibrations[out->calibration_count], err);
    out->calibration_count += status == FULCRUM_OK ? 1 : 0;
    return status;
}

static enum fulcrum_status load_calibrations(const struct settings *settings,
    struct fulcrum_context *context, struct inputs *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < settings->calibrations.count && status == FULCRUM_OK; i++) {
        status = add_calibration(settings->calibrations.items[i], out, err);
    }
    if (settings->calibrations.count > 0) {
        return status;
    }
    const char *name = own_calibration(out->references[0]);
    for (size_t i = 0; i < out->reference_count; i++) {
        if (name[0] == '\0' || strcmp(own_calibration(out->references[i]), name) != 0) {
            return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
                "no calibration goes with all of these references: name one with "
                "--calibration");
        }
    }
    return add_calibration(name, out, err);
}

static enum fulcrum_status parse_sets(const struct settings *settings,
    struct fulcrum_context *context, struct inputs *out, struct fulcrum_error *err)
{
    for (size_t i = 0; i < settings->sets.count; i++) {
        enum fulcrum_status status = fulcrum_setting_parse(
            settings->sets.items[i], context, &out->settings[i], err);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, "--set");
        }
        out->setting_count++;
    }
    return FULCRUM_OK;
}

/* Numbers separated by commas. */
static enum fulcrum_status parse_numbers(const char *what, const char *list,
    struct number_list *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    while (list != NULL && status == FULCRUM_OK) {
        char text[64];
        size_t length = strcspn(list, ",");
        (void)snprintf(text, sizeof text, "%.*s", (int)length, list);
        double *number = &out->items[out->count];
        status = out->count < FIGURES_MOST
                     ? fulcrum_number_parse(what, text, number, err)
                     : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                           "%s: expected at most %d numbers", what, (int)FIGURES_MOST);
        if (status == FULCRUM_OK && !(*number > 0.0)) {
            status = fulcrum_fail(
                err, FULCRUM_ERR_RANGE, "%s %s: expected a number above 0", what, text);
        }
        out->count++;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return status;
}

static enum fulcrum_status parse_lists(const struct settings *settings,
    struct fulcrum_context *context, struct inputs *out, struct fulcrum_error *err)
{
    if (settings->draws > 0.0 && settings->draws < LEAST_DRAWS) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--draws %.0f: expected 0, or %d at least to tell a spread from",
            settings->draws, (int)LEAST_DRAWS);
    }
    enum fulcrum_status status = parse_numbers("--sd", settings->sd, &out->sd, err);
    if (status == FULCRUM_OK) {
        status = parse_numbers("--hold-out", settings->hold_out, &out->hold_out, err);
    }
    context->exit_code = status == FULCRUM_OK ? context->exit_code : 2;
    return status;
}

static enum fulcrum_status inputs_load(const struct settings *settings,
    struct fulcrum_context *context, struct inputs *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = allocate(settings, out, err);
    if (status == FULCRUM_OK) {
        status = parse_sets(settings, context, out, err);
    }
    if (status == FULCRUM_OK) {
        status = parse_lists(settings, context, out, err);
    }
    if (status == FULCRUM_OK) {
        status = load_references(settings, context, out, err);
    }
    if (status == FULCRUM_OK) {
        status = load_calibrations(settings, context, out, err);
    }
    return status;
}

static void inputs_free(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->reference_count; i++) {
        fulcrum_reference_free(inputs->references[i]);
    }
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        fulcrum_calibration_free(inputs->calibrations[i]);
    }
    free((void *)inputs->references);
    free((void *)inputs->calibrations);
    free(inputs->settings);
    free(inputs);
}

static void show_progress(void *context, double done_frac, const char *stage)
{
    fulcrum_progress_update(context, done_frac, stage);
}

static struct fulcrum_reference_fit_plan plan_of(
    const struct settings *settings, const struct inputs *inputs)
{
    return (struct fulcrum_reference_fit_plan){
        .references = (const struct fulcrum_reference *const *)inputs->references,
        .reference_count = inputs->reference_count,
        .calibrations = (const struct fulcrum_calibration *const *)inputs->calibrations,
        .calibration_count = inputs->calibration_count,
        .settings = inputs->settings,
        .setting_count = inputs->setting_count,
        .free_paths = settings->free.items,
        .free_count = settings->free.count,
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
    };
}

static const struct fulcrum_column figure_columns[] = {
    {"figure", FULCRUM_COLUMN_NUMBER, NULL},
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"point", FULCRUM_COLUMN_NUMBER, NULL},
    {"quantity", FULCRUM_COLUMN_TEXT, NULL},
    {"observed", FULCRUM_COLUMN_NUMBER, NULL},
    {"sd", FULCRUM_COLUMN_NUMBER, "+-"},
    {"prior_low", FULCRUM_COLUMN_NUMBER, "prior 5 %"},
    {"prior_median", FULCRUM_COLUMN_NUMBER, "median"},
    {"prior_high", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"fitted", FULCRUM_COLUMN_NUMBER, "fitted"},
    {"simulated", FULCRUM_COLUMN_NUMBER, "simulated"},
    {"posterior_mean", FULCRUM_COLUMN_NUMBER, "posterior"},
    {"posterior_sd", FULCRUM_COLUMN_NUMBER, "+-"},
    {"held_out_mean", FULCRUM_COLUMN_NUMBER, "from others"},
    {"held_out_sd", FULCRUM_COLUMN_NUMBER, "+-"},
};

static struct fulcrum_report *report_figures(
    const struct fulcrum_reference_fit *fit, const struct inputs *inputs)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "figures", figure_columns, sizeof figure_columns / sizeof figure_columns[0]);
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_fitted_figure *row = &fit->figures[i];
        const struct fulcrum_reference *from =
            inputs->references[row->figure.reference];
        fulcrum_report_add_number(report, (double)(i + 1));
        fulcrum_report_add_text(report, from->name);
        fulcrum_report_add_number(report, (double)row->figure.point);
        fulcrum_report_add_text(report, from->points[row->figure.point]
                                            .observations[row->figure.observation]
                                            .quantity);
        const double numbers[] = {row->figure.value, row->sd, row->prior.low,
            row->prior.median, row->prior.high, row->mode, row->simulated,
            row->posterior.mean, row->posterior.sd, row->held_out.mean,
            row->held_out.sd};
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            fulcrum_report_add_number(report, numbers[k]);
        }
    }
    return report;
}

static const struct fulcrum_column parameter_columns[] = {
    {"path", FULCRUM_COLUMN_TEXT, "parameter"},
    {"scale", FULCRUM_COLUMN_TEXT, NULL},
    {"prior", FULCRUM_COLUMN_NUMBER, NULL},
    {"prior_sd", FULCRUM_COLUMN_NUMBER, "sd on scale"},
    {"fitted", FULCRUM_COLUMN_NUMBER, NULL},
    {"z", FULCRUM_COLUMN_NUMBER, "prior sds away"},
    {"posterior_mean", FULCRUM_COLUMN_NUMBER, "posterior"},
    {"posterior_sd", FULCRUM_COLUMN_NUMBER, "+-"},
    {"posterior_sd_frac", FULCRUM_COLUMN_NUMBER, "sd left"},
    {"verdict", FULCRUM_COLUMN_TEXT, NULL},
};

static const char *verdict(const struct fulcrum_fitted_parameter *parameter)
{
    if (isnan(parameter->sd_frac)) {
        return "";
    }
    return parameter->sd_frac < IDENTIFIED_FRAC ? "identified" : "not identified";
}

static struct fulcrum_report *report_parameters(const struct fulcrum_reference_fit *fit)
{
    struct fulcrum_report *report = fulcrum_report_new("parameters", parameter_columns,
        sizeof parameter_columns / sizeof parameter_columns[0]);
    for (size_t i = 0; i < fit->parameter_count; i++) {
        const struct fulcrum_fitted_parameter *row = &fit->parameters[i];
        fulcrum_report_add_text(report, row->prior.path);
        fulcrum_report_add_text(report, fulcrum_scale_name(row->prior.scale));
        const double numbers[] = {row->prior.value, row->prior.sd, row->mode, row->z,
            row->posterior.mean, row->posterior.sd, row->sd_frac};
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            fulcrum_report_add_number(report, numbers[k]);
        }
        fulcrum_report_add_text(report, verdict(row));
    }
    return report;
}

static void print_table(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_report *figures, const struct fulcrum_report *parameters,
    FILE *stream)
{
    fulcrum_report_print_table(figures, stream, 0);
    (void)fputc('\n', stream);
    fulcrum_report_print_table(parameters, stream, 0);
    (void)fprintf(stream,
        "\nobjective    %.4g: misfit %.4g, distance from the priors %.4g\n"
        "directions   singular values",
        fit->misfit + fit->penalty, fit->misfit, fit->penalty);
    for (size_t i = 0; i < fit->singular_count; i++) {
        (void)fprintf(stream, " %.3g", fit->singular_value[i]);
    }
    (void)fprintf(stream, "; the other %zu of %zu are left to the priors\n",
        fit->parameter_count - fit->singular_count, fit->parameter_count);
    if (fit->draw_count > 0) {
        (void)fprintf(stream, "draws        %zu, worth %.0f independent ones\n",
            fit->draw_count, fit->effective_count);
    }
}

static enum fulcrum_status print_json(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_report *figures, const struct fulcrum_report *parameters,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-fit");
    fulcrum_report_to_json(figures, document);
    fulcrum_report_to_json(parameters, document);
    fulcrum_json_add_number(document, "objective", fit->misfit + fit->penalty);
    fulcrum_json_add_number(document, "misfit", fit->misfit);
    fulcrum_json_add_number(document, "prior_penalty", fit->penalty);
    fulcrum_json_add_numbers(
        document, "singular_values", fit->singular_value, fit->singular_count);
    fulcrum_json_add_number(document, "draws", (double)fit->draw_count);
    fulcrum_json_add_number(document, "effective_draws", fit->effective_count);
    return fulcrum_report_print_document(document, context, err);
}

static enum fulcrum_status print(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_report *figures = report_figures(fit, inputs);
    struct fulcrum_report *parameters = report_parameters(fit);
    enum fulcrum_status status = FULCRUM_OK;
    if (context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(fit, figures, parameters, context, err);
    } else if (context->format == FULCRUM_FORMAT_CSV) {
        status = fulcrum_report_print(parameters, "fulcrum-fit", context, err);
    } else {
        print_table(fit, figures, parameters, context->out);
    }
    fulcrum_report_free(figures);
    fulcrum_report_free(parameters);
    return status;
}

/* The stem of the file's name. */
static void name_calibration(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot != NULL && dot != file ? (size_t)(dot - file) : strlen(file);
    (void)snprintf(out, size, "%.*s", (int)length, file);
}

static enum fulcrum_status add_notes(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    char text[240];
    size_t used = 0;
    for (size_t i = 0; i < inputs->reference_count && used < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
            i > 0 ? ", " : "", inputs->references[i]->name);
    }
    enum fulcrum_status status =
        fulcrum_calibration_add_note(calibration, "fitted_to", text, err);
    (void)snprintf(text, sizeof text,
        "objective %.4g, misfit %.4g; %zu draws worth %.0f; the best parameters, with "
        "the spread of the posterior",
        fit->misfit + fit->penalty, fit->misfit, fit->draw_count, fit->effective_count);
    return status == FULCRUM_OK
               ? fulcrum_calibration_add_note(calibration, "fit", text, err)
               : status;
}

/* The last calibration, with what was fitted in place of its priors. */
static enum fulcrum_status save(const struct fulcrum_reference_fit *fit,
    const struct inputs *inputs, const char *path, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration =
        inputs->calibrations[inputs->calibration_count - 1];
    char source[240];
    char base[64];
    (void)snprintf(base, sizeof base, "%s", calibration->name);
    (void)snprintf(source, sizeof source, "fitted to %zu references, %s first",
        inputs->reference_count, inputs->references[0]->name);
    enum fulcrum_status status =
        fulcrum_reference_fit_apply(fit, source, calibration, err);
    if (status == FULCRUM_OK) {
        status = add_notes(fit, inputs, calibration, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    name_calibration(path, calibration->name, sizeof calibration->name);
    (void)snprintf(calibration->title, sizeof calibration->title,
        "%.60s, fitted to %s%s", base, inputs->references[0]->name,
        inputs->reference_count > 1 ? " and others" : "");
    return fulcrum_calibration_save(calibration, path, err);
}

static enum fulcrum_status fit_references(const struct settings *settings,
    const struct inputs *inputs, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_progress progress;
    struct fulcrum_reference_fit fit;
    struct fulcrum_reference_fit_plan plan = plan_of(settings, inputs);
    plan.progress_context = &progress;
    fulcrum_progress_start(&progress, context);
    enum fulcrum_status status = fulcrum_reference_fit_run(&plan, &fit, err);
    fulcrum_progress_end(&progress);
    if (status != FULCRUM_OK) {
        return status;
    }
    status = print(&fit, inputs, context, err);
    if (status == FULCRUM_OK && context->output_path != NULL) {
        status = save(&fit, inputs, context->output_path, err);
        if (status == FULCRUM_OK) {
            fulcrum_message_note(context, "%s", context->output_path);
        }
    }
    fulcrum_reference_fit_clear(&fit);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct inputs *inputs = calloc(1, sizeof *inputs);
    if (inputs == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a fit");
    }
    enum fulcrum_status status = inputs_load(settings, context, inputs, err);
    if (status == FULCRUM_OK && context->output_path != NULL) {
        status = fulcrum_output_check(context->output_path, err);
    }
    if (status == FULCRUM_OK) {
        status = fit_references(settings, inputs, context, err);
    }
    inputs_free(inputs);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"REFERENCE", FULCRUM_ARGUMENT_REST, offsetof(struct settings, references), NULL,
        "presets ('fulcrum list references') or files, NAME:SERIES for one curve of "
        "several; those that are fitted together share their priors"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    {.name = "calibration",
        .letter = 'c',
        .kind = FULCRUM_OPTION_LIST,
        .offset = offsetof(struct settings, calibrations),
        .value = "NAME",
        .help = "preset or file whose values and errors are the priors; later ones win "
                "(the references' own unless given)"},
    {.name = "free",
        .letter = 'f',
        .kind = FULCRUM_OPTION_LIST,
        .offset = offsetof(struct settings, free),
        .value = "PATH",
        .help = "parameter to fit; every one that has an error unless given"},
    {.name = "set",
        .letter = 's',
        .kind = FULCRUM_OPTION_LIST,
        .offset = offsetof(struct settings, sets),
        .value = "PATH=VALUE",
        .help = "holds a field at a value, to see what the fit is worth without it"},
    {.name = "sd",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, sd),
        .value = "A,B,C",
        .help = "standard deviation of each figure, in their order; from half-widths "
                "and --noise unless given"},
    {.name = "hold-out",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, hold_out),
        .value = "I,J,K",
        .help = "figures, from 1 in their order, that are predicted and not fitted"},
    {.name = "noise",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, noise_rel),
        .value = "FRACTION",
        .fallback = "0.008",
        .least = 1e-6,
        .most = 10.0,
        .help = "error of a figure beside its rounding, relative"},
    {.name = "draws",
        .letter = 'n',
        .kind = FULCRUM_OPTION_COUNT,
        .offset = offsetof(struct settings, draws),
        .value = "N",
        .fallback = "50000",
        .least = 0.0,
        .most = 1e8,
        .help = "draws of the posterior; 0: the best parameters alone"},
    {.name = "leave-one-out",
        .kind = FULCRUM_OPTION_FLAG,
        .offset = offsetof(struct settings, leave_one_out),
        .help = "predicts each figure from all others, too"},
    {.name = "seed",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = offsetof(struct settings, seed),
        .value = "N",
        .fallback = "1",
        .least = 0.0,
        .most = 9007199254740992.0,
        .help = "of draws and simulations; the same seed gives the same bytes"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Fit", rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum fit inci2020-fig3-text inci2020-fig3-further-text inci2020-fig4-text "
     "--hold-out 2 --leave-one-out -o fitted.json",
        "the three ratios of the paper, and what each is worth"},
    {"fulcrum fit inci2020-fig3-text -s workload.host.per_item_s=0 --draws 0",
        "how well it goes without a serial cost per observation"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_fit = {
    .name = "fit",
    .summary = "fit parameters to published or measured throughput",
    .description =
        "Fits parameters of the network model to references of throughput. Values and "
        "errors of calibrations are the priors; the fit says what they predict before "
        "it, the best parameters (maximum a posteriori), and what is left of the "
        "priors (draws of the posterior by sequential Monte Carlo). A parameter of "
        "which three quarters of the prior's standard deviation are left was not "
        "identified.\n\n"
        "A few figures can be met by many parameters: meeting them proves little. "
        "--leave-one-out predicts each from the others.\n\n"
        "The fast method is corrected by simulations at the best parameters; the "
        "column 'simulated' is the mean of three more. With -o, a calibration is "
        "written that predict and explore take with -c.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run,
};
