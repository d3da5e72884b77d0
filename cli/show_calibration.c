/* show_calibration.c - what a calibration found, how well, and how it was got. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "cli/report.h"
#include "cli/show.h"
#include "presets/json.h"

static const struct fulcrum_column parameter_columns[] = {
    {"field", FULCRUM_COLUMN_TEXT, NULL},
    {"value", FULCRUM_COLUMN_NUMBER, NULL},
    {"standard_error", FULCRUM_COLUMN_NUMBER, "standard error"},
    {"unit", FULCRUM_COLUMN_TEXT, NULL},
    {"origin", FULCRUM_COLUMN_TEXT, NULL},
    {"source", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_column quantity_columns[] = {
    {"name", FULCRUM_COLUMN_TEXT, "quantity"},
    {"value", FULCRUM_COLUMN_NUMBER, NULL},
    {"lo", FULCRUM_COLUMN_NUMBER, "95 % from"},
    {"hi", FULCRUM_COLUMN_NUMBER, "to"},
    {"unit", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_column fit_columns[] = {
    {"name", FULCRUM_COLUMN_TEXT, "fit"},
    {"form", FULCRUM_COLUMN_TEXT, NULL},
    {"point_count", FULCRUM_COLUMN_NUMBER, "points"},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "mean |error|"},
    {"smape_frac", FULCRUM_COLUMN_NUMBER, "symmetric"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "largest"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"warning", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_column note_columns[] = {
    {"key", FULCRUM_COLUMN_TEXT, "note"},
    {"text", FULCRUM_COLUMN_TEXT, NULL},
};

/* Everything inside, one report each. */
struct sections {
    struct fulcrum_report *parameters;
    struct fulcrum_report *quantities;
    struct fulcrum_report *fits;
    struct fulcrum_report *notes;
};

static struct fulcrum_report *parameters_of(
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = fulcrum_report_new("parameters", parameter_columns,
        sizeof parameter_columns / sizeof parameter_columns[0]);
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i];
        const struct fulcrum_field *field = fulcrum_field_find(parameter->path);
        fulcrum_report_add_text(report, parameter->path);
        fulcrum_report_add_number(report, parameter->value);
        fulcrum_report_add_number(report, parameter->standard_error);
        fulcrum_report_add_text(report, field != NULL ? field->unit : "");
        fulcrum_report_add_text(report, fulcrum_origin_name(parameter->origin));
        fulcrum_report_add_text(report, parameter->source);
    }
    return report;
}

static struct fulcrum_report *quantities_of(
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = fulcrum_report_new("quantities", quantity_columns,
        sizeof quantity_columns / sizeof quantity_columns[0]);
    for (size_t i = 0; i < calibration->quantity_count; i++) {
        const struct fulcrum_quantity *quantity = &calibration->quantities[i];
        fulcrum_report_add_text(report, quantity->name);
        fulcrum_report_add_number(report, quantity->value);
        fulcrum_report_add_number(report, quantity->lo);
        fulcrum_report_add_number(report, quantity->hi);
        fulcrum_report_add_text(report, quantity->unit);
    }
    return report;
}

static struct fulcrum_report *fits_of(const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "fits", fit_columns, sizeof fit_columns / sizeof fit_columns[0]);
    for (size_t i = 0; i < calibration->fit_count; i++) {
        const struct fulcrum_fit_report *fit = &calibration->fits[i];
        fulcrum_report_add_text(report, fit->name);
        fulcrum_report_add_text(report, fit->form);
        fulcrum_report_add_number(report, (double)fit->point_count);
        fulcrum_report_add_number(report, fit->mape_frac);
        fulcrum_report_add_number(report, fit->smape_frac);
        fulcrum_report_add_number(report, fit->max_frac);
        fulcrum_report_add_number(report, fit->bias_frac);
        fulcrum_report_add_text(report, fit->warning);
    }
    return report;
}

static struct fulcrum_report *notes_of(const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "notes", note_columns, sizeof note_columns / sizeof note_columns[0]);
    for (size_t i = 0; i < calibration->note_count; i++) {
        fulcrum_report_add_text(report, calibration->notes[i].key);
        fulcrum_report_add_text(report, calibration->notes[i].text);
    }
    return report;
}

static void print_section(
    const struct fulcrum_report *report, size_t row_count, FILE *stream)
{
    if (row_count > 0) {
        (void)fputc('\n', stream);
        fulcrum_report_print_table(report, stream, 0);
    }
}

static enum fulcrum_status print_tables(const struct fulcrum_calibration *calibration,
    const struct sections *sections, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    (void)fprintf(context->out, "calibration %s: %s%s\n\n", calibration->name,
        calibration->title, calibration->complete ? "" : " (incomplete)");
    enum fulcrum_status status =
        fulcrum_report_print(sections->parameters, "fulcrum-show", context, err);
    print_section(sections->quantities, calibration->quantity_count, context->out);
    print_section(sections->fits, calibration->fit_count, context->out);
    print_section(sections->notes, calibration->note_count, context->out);
    return status;
}

static enum fulcrum_status print_json(const struct fulcrum_calibration *calibration,
    const struct sections *sections, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-show");
    fulcrum_json_add_text(document, "kind", "calibration");
    fulcrum_json_add_text(document, "name", calibration->name);
    fulcrum_json_add_text(document, "title", calibration->title);
    fulcrum_json_add_flag(document, "complete", calibration->complete);
    fulcrum_report_to_json(sections->parameters, document);
    fulcrum_report_to_json(sections->quantities, document);
    fulcrum_report_to_json(sections->fits, document);
    fulcrum_report_to_json(sections->notes, document);
    return fulcrum_report_print_document(document, context, err);
}

enum fulcrum_status fulcrum_show_calibration(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct sections sections = {
        .parameters = parameters_of(calibration),
        .quantities = quantities_of(calibration),
        .fits = fits_of(calibration),
        .notes = notes_of(calibration),
    };
    enum fulcrum_status status;
    if (context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(calibration, &sections, context, err);
    } else if (context->format == FULCRUM_FORMAT_CSV) {
        status =
            fulcrum_report_print(sections.parameters, "fulcrum-show", context, err);
    } else {
        status = print_tables(calibration, &sections, context, err);
    }
    fulcrum_report_free(sections.parameters);
    fulcrum_report_free(sections.quantities);
    fulcrum_report_free(sections.fits);
    fulcrum_report_free(sections.notes);
    return status;
}
