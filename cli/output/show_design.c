/* show_design.c - a machine or workload: each value, its unit, and where it is from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/output/report.h"
#include "cli/output/show.h"
#include "presets/io/json.h"

static const struct fulcrum_report_head columns[] = {
    {"field", FULCRUM_COLUMN_TEXT, NULL},
    {"value", FULCRUM_COLUMN_TEXT, NULL},
    {"unit", FULCRUM_COLUMN_TEXT, NULL},
    {"basis", FULCRUM_COLUMN_TEXT, NULL},
    {"preset", FULCRUM_COLUMN_TEXT, NULL},
    {"source", FULCRUM_COLUMN_TEXT, NULL},
};

static bool is_number(const struct fulcrum_field *field)
{
    return field->kind == FULCRUM_FIELD_NUMBER || field->kind == FULCRUM_FIELD_COUNT;
}

static bool is_of_kind(const struct fulcrum_field *field, enum fulcrum_preset_kind kind)
{
    const char *name = fulcrum_preset_kind_name(kind);
    size_t length = strlen(name);
    return strncmp(field->path, name, length) == 0 && field->path[length] == '.';
}

/* Whole numbers of any length are for people too: 12582912, not 1.258e+07. */
static char *value_of(const struct fulcrum_field *field,
    const struct fulcrum_shown_design *shown, enum fulcrum_format format)
{
    if (!is_number(field)) {
        return fulcrum_format("%s", fulcrum_field_text(field, shown->design));
    }
    double value = fulcrum_field_number(field, shown->design);
    bool is_table = format == FULCRUM_FORMAT_TABLE;
    if (isnan(value)) {
        return fulcrum_format("%s", is_table ? "-" : "");
    }
    return fulcrum_format(
        is_table && field->kind == FULCRUM_FIELD_NUMBER ? "%.6g" : "%.17g", value);
}

static char *basis_of(const struct fulcrum_field *field,
    const struct fulcrum_shown_design *shown, const struct fulcrum_source *source)
{
    if (source != NULL) {
        return source->is_prior
                   ? fulcrum_format("prior, x or / %.3g", source->spread_factor)
                   : fulcrum_format("source");
    }
    bool is_given = is_number(field)
                        ? !isnan(fulcrum_field_number(field, shown->design))
                        : fulcrum_field_text(field, shown->design)[0] != '\0';
    return fulcrum_format("%s", is_given ? shown->unsourced : "not given");
}

static void add_object(struct fulcrum_json *array, const struct fulcrum_field *field,
    const struct fulcrum_shown_design *shown)
{
    const struct fulcrum_source *source =
        fulcrum_sources_find(shown->sources, field->path);
    struct fulcrum_json *object = fulcrum_json_append_object(array);
    char *basis = basis_of(field, shown, source);
    fulcrum_json_add_text(object, "field", field->path);
    if (is_number(field)) {
        fulcrum_json_add_number(
            object, "value", fulcrum_field_number(field, shown->design));
    } else {
        fulcrum_json_add_text(
            object, "value", fulcrum_field_text(field, shown->design));
    }
    fulcrum_json_add_text(object, "unit", field->unit);
    fulcrum_json_add_text(object, "meaning", field->meaning);
    bool is_prior = source != NULL && source->is_prior;
    fulcrum_json_add_text(object, "basis", is_prior ? "prior" : basis);
    fulcrum_json_add_number(
        object, "spread_factor", is_prior ? source->spread_factor : (double)NAN);
    fulcrum_json_add_text(object, "preset", source != NULL ? source->file : "");
    fulcrum_json_add_text(object, "source", source != NULL ? source->text : "");
    free(basis);
}

static enum fulcrum_status print_json(const struct fulcrum_shown_design *shown,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-show");
    fulcrum_json_add_text(document, "kind", fulcrum_preset_kind_name(shown->kind));
    fulcrum_json_add_text(document, "name", shown->name);
    fulcrum_json_add_text(document, "title", shown->title);
    struct fulcrum_json *array = fulcrum_json_add_array(document, "fields");
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (is_of_kind(&fields[i], shown->kind)) {
            add_object(array, &fields[i], shown);
        }
    }
    return fulcrum_report_print_document(document, context, err);
}

enum fulcrum_status fulcrum_show_design(const struct fulcrum_shown_design *shown,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_JSON) {
        return print_json(shown, context, err);
    }
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("fields", columns);
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (is_of_kind(&fields[i], shown->kind)) {
            const struct fulcrum_field *field = &fields[i];
            enum fulcrum_format format = context->format;
            const struct fulcrum_source *source =
                fulcrum_sources_find(shown->sources, field->path);
            char *value = value_of(field, shown, format);
            char *basis = basis_of(field, shown, source);
            FULCRUM_REPORT_TEXTS(report, field->path, value, field->unit, basis,
                source != NULL ? source->file : "", source != NULL ? source->text : "");
            free(value);
            free(basis);
        }
    }
    if (context->format == FULCRUM_FORMAT_TABLE) {
        (void)fprintf(context->out, "%s %s: %s\n\n",
            fulcrum_preset_kind_name(shown->kind), shown->name, shown->title);
    }
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-show", context, err);
    fulcrum_report_free(report);
    return status;
}
