/* fit_print.c - a fit as tables, CSV and JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures as predicted before the fit, by it and after it, each also from the others
 * alone, and what is left of every prior.
 */
#include "cli/fit_print.h"

#include <math.h>

#include "cli/report.h"
#include "presets/json.h"

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

static const struct fulcrum_column parameter_columns[] = {
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

/* Beyond 1 a direction is told by the figures rather than by its prior. */
static void print_directions(const struct fulcrum_reference_fit *fit, FILE *stream)
{
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
    print_directions(fit, stream);
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

enum fulcrum_status fulcrum_fit_print(const struct fulcrum_reference_fit *fit,
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
