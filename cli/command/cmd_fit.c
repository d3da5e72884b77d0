/* cmd_fit.c - `fulcrum fit`: parameters fitted to published or measured references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command/fit_job.h"
#include "cli/message.h"
#include "model/result.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"

/* Each figure as predicted before the fit, by it and after it, and from the others. */
static void add_figures(struct fulcrum_result *result,
    const struct fulcrum_reference_fit *fit, const struct fulcrum_fit_inputs *inputs)
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

static enum fulcrum_status show(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_fit_inputs *inputs, const struct fulcrum_context *context,
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
    char *name = calibration_name(context->output_path);
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_job_calibration(result, inputs, name, &calibration, err));
    TRY_OR_END(fulcrum_calibration_save(calibration, context->output_path, err));
    fulcrum_message_note(context, "%s%s", context->output_path,
        calibration->complete ? "" : " is marked incomplete");
end:
    free(name);
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
    TRY_OR_END(show(&fit, inputs, context, err));
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
