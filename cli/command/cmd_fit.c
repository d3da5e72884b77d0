/* cmd_fit.c - `fulcrum fit`: parameters fitted to published or measured references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command/fit_job.h"
#include "cli/message.h"
#include "cli/output/report.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"

/* A fit as tables, CSV and JSON. */

/*
 * Figures as predicted before the fit, by it and after it, each also from the others
 * alone, and what is left of every prior.
 */

static const struct fulcrum_report_head figure_columns[] = {
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
    const struct fulcrum_reference_fit *fit, const struct fulcrum_fit_inputs *inputs)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "figures", figure_columns, sizeof figure_columns / sizeof figure_columns[0]);
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_fitted_figure *row = &fit->figures[i];
        const struct fulcrum_reference *from =
            inputs->references[row->figure.reference];
        fulcrum_report_add_number(report, (double)(i + 1));
        fulcrum_report_add_text(report, from->name);
        fulcrum_report_add_number(
            report, (double)from->points[row->figure.point].index);
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

static const struct fulcrum_report_head parameter_columns[] = {
    {"path", FULCRUM_COLUMN_TEXT, "parameter"},
    {"scale", FULCRUM_COLUMN_TEXT, NULL},
    {"prior", FULCRUM_COLUMN_NUMBER, NULL},
    {"prior_sd", FULCRUM_COLUMN_NUMBER, "sd on scale"},
    {"fitted", FULCRUM_COLUMN_NUMBER, NULL},
    {"z", FULCRUM_COLUMN_NUMBER, "prior sds away"},
    {"posterior_mean", FULCRUM_COLUMN_NUMBER, "posterior"},
    {"posterior_sd", FULCRUM_COLUMN_NUMBER, "+-"},
    {"posterior_low", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"posterior_high", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"posterior_sd_frac", FULCRUM_COLUMN_NUMBER, "sd left"},
    {"verdict", FULCRUM_COLUMN_TEXT, NULL},
};

static const char *verdict(const struct fulcrum_fitted_parameter *parameter)
{
    if (isnan(parameter->sd_frac)) {
        return "";
    }
    return parameter->sd_frac < FULCRUM_FIT_IDENTIFIED_FRAC ? "identified"
                                                            : "not identified";
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
            row->posterior.mean, row->posterior.sd, row->posterior.low,
            row->posterior.high, row->sd_frac};
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            fulcrum_report_add_number(report, numbers[k]);
        }
        fulcrum_report_add_text(report, verdict(row));
    }
    return report;
}

/* What --free auto left at its prior. */
static void print_held(const struct fulcrum_reference_fit *fit, FILE *stream)
{
    for (size_t i = 0; i < fit->held_count; i++) {
        (void)fprintf(stream, "%s%s (%.2g left)%s", i == 0 ? "held         " : "",
            fit->held[i].path, fit->held[i].sd_frac,
            i + 1 < fit->held_count ? ", " : "\n");
    }
}

static void print_table(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_report *figures, const struct fulcrum_report *parameters,
    FILE *stream)
{
    fulcrum_report_print_table(figures, stream, 0);
    (void)fputc('\n', stream);
    fulcrum_report_print_table(parameters, stream, 0);
    (void)fprintf(stream,
        "\nobjective    %.4g: misfit %.4g, distance from the priors %.4g\n",
        fit->misfit + fit->penalty, fit->misfit, fit->penalty);
    /* Beyond 1 a direction is told by the figures rather than by its prior. */
    size_t told = 0;
    (void)fprintf(stream, "directions   singular values");
    for (size_t i = 0; i < fit->singular_count; i++) {
        (void)fprintf(stream, " %.3g", fit->singular_value[i]);
        told += fit->singular_value[i] > 1.0 ? 1 : 0;
    }
    (void)fprintf(stream,
        ": the figures tell %zu of %zu (above 1); the other %zu are left to the "
        "priors\n",
        told, fit->parameter_count, fit->parameter_count - told);
    if (fit->draw_count > 0) {
        (void)fprintf(stream, "draws        %zu, worth %.0f independent ones\n",
            fit->draw_count, fit->effective_count);
    } else {
        (void)fprintf(stream, "draws        none; what is left of priors by slopes at "
                              "the best parameters\n");
    }
    print_held(fit, stream);
    if (fit->stopped_in[0] != '\0') {
        (void)fprintf(stream, "stopped      in stage '%s'\n", fit->stopped_in);
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
    struct fulcrum_json *held = fulcrum_json_add_array(document, "held");
    for (size_t i = 0; i < fit->held_count; i++) {
        struct fulcrum_json *row = fulcrum_json_append_object(held);
        fulcrum_json_add_text(row, "path", fit->held[i].path);
        fulcrum_json_add_number(row, "sd_left_frac", fit->held[i].sd_frac);
    }
    fulcrum_json_add_flag(document, "complete", fit->stopped_in[0] == '\0');
    return fulcrum_report_print_document(document, context, err);
}

/*
 * Prints in the format of `context`; CSV holds the parameters alone.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status fit_print(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_context *context,
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

/* The prefix of the file's name. */
static void name_calibration(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot != NULL && dot != file ? (size_t)(dot - file) : strlen(file);
    (void)snprintf(out, size, "%.*s", (int)length, file);
}

/* Whether a file could be written, before the fit takes its time. */
static enum fulcrum_status check_output(const struct fulcrum_fit_settings *settings,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_note note;
    if (context->output_path == NULL) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_output_check(context->output_path, err));
    return fulcrum_fit_recipe_write(settings, note.text, sizeof note.text, err);
}

static enum fulcrum_status save(const struct fulcrum_fit_outcome *result,
    struct fulcrum_fit_inputs *inputs, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    char name[64];
    struct fulcrum_calibration *calibration = NULL;
    name_calibration(context->output_path, name, sizeof name);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_job_calibration(result, inputs, name, &calibration, err));
    TRY_OR_END(fulcrum_calibration_save(calibration, context->output_path, err));
    fulcrum_message_note(context, "%s%s", context->output_path,
        calibration->complete ? "" : " is marked incomplete");
end:
    fulcrum_calibration_free(calibration);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_fit_settings *settings = data;
    struct fulcrum_fit_inputs *inputs = NULL;
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_inputs_load(settings, context, &inputs, err));
    TRY_OR_END(check_output(settings, context, err));
    TRY_OR_END(fulcrum_fit_job_run(settings, inputs, context, &fit, err));
    if (fit.stopped_in[0] != '\0') {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        fulcrum_message_note(context,
            "stopped in stage '%s': this is what there was by then", fit.stopped_in);
    }
    TRY_OR_END(fit_print(&fit, inputs, context, err));
    if (context->output_path != NULL) {
        const struct fulcrum_fit_outcome result = {settings, &fit};
        TRY_OR_END(save(&result, inputs, context, err));
    }
end:
    fulcrum_reference_fit_clear(&fit);
    fulcrum_fit_inputs_free(inputs);
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
        "ones or a CSV file of measurements (docs/fit.md). Values and "
        "errors of calibrations are the priors; the fit says what they predict before "
        "it, the best parameters (maximum a posteriori), and what is left of the "
        "priors (draws of the posterior by sequential Monte Carlo). A parameter of "
        "which three quarters of the prior's standard deviation are left was not "
        "identified.\n\n"
        "A few figures can be met by many parameters: meeting them proves little. "
        "--leave-one-out predicts each from the others.\n\n"
        "The fast method is corrected by simulations at the best parameters; the "
        "column 'simulated' is the mean of three more. With -o, a calibration is "
        "written that predict and explore take with -c; its notes tell what it was "
        "fitted to and how to make it again.\n\n"
        "Ctrl-C keeps the best parameters, and the draws made so far, once there are "
        "any.",
    .examples = examples,
    .arguments = fulcrum_fit_arguments,
    .groups = fulcrum_fit_groups,
    .settings_size = sizeof(struct fulcrum_fit_settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run,
};
