/* show_reference.c - a reference: its points, and where they were read. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "cli/show.h"
#include "presets/json.h"

static const struct fulcrum_column point_columns[] = {
    {"point", FULCRUM_COLUMN_NUMBER, NULL},
    {"series", FULCRUM_COLUMN_TEXT, NULL},
    {"set", FULCRUM_COLUMN_TEXT, "at"},
    {"quantity", FULCRUM_COLUMN_TEXT, NULL},
    {"value", FULCRUM_COLUMN_NUMBER, NULL},
    {"half_width", FULCRUM_COLUMN_NUMBER, "+-"},
};

static const struct fulcrum_column source_columns[] = {
    {"part", FULCRUM_COLUMN_TEXT, "source of"},
    {"text", FULCRUM_COLUMN_TEXT, NULL},
};

/* "run.env_count=20 method=Pure simulation"; cut where it is too long. */
static void format_settings(
    const struct fulcrum_reference_point *point, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < point->setting_count && used < size; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        const char *gap = i > 0 ? " " : "";
        int length = isnan(setting->number)
                         ? snprintf(out + used, size - used, "%s%s=%s", gap,
                               setting->path, setting->text)
                         : snprintf(out + used, size - used, "%s%s=%.12g", gap,
                               setting->path, setting->number);
        used += length > 0 ? (size_t)length : 0;
    }
}

static struct fulcrum_report *points_of(const struct fulcrum_reference *reference)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "points", point_columns, sizeof point_columns / sizeof point_columns[0]);
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        char settings[400];
        format_settings(point, settings, sizeof settings);
        for (size_t j = 0; j < point->observation_count; j++) {
            const struct fulcrum_observation *observation = &point->observations[j];
            fulcrum_report_add_number(report, (double)i);
            fulcrum_report_add_text(report, point->series);
            fulcrum_report_add_text(report, settings);
            fulcrum_report_add_text(report, observation->quantity);
            fulcrum_report_add_number(report, observation->value);
            fulcrum_report_add_number(report, observation->half_width);
        }
    }
    return report;
}

static struct fulcrum_report *sources_of(const struct fulcrum_reference *reference)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "sources", source_columns, sizeof source_columns / sizeof source_columns[0]);
    for (size_t i = 0; i < reference->source_count; i++) {
        fulcrum_report_add_text(report, reference->sources[i].part);
        fulcrum_report_add_text(report, reference->sources[i].text);
    }
    return report;
}

static void print_line(FILE *stream, const char *heading, const char *text)
{
    if (text[0] != '\0') {
        (void)fprintf(stream, "%-12s %s\n", heading, text);
    }
}

static void print_heading(const struct fulcrum_reference *reference, FILE *stream)
{
    (void)fprintf(stream, "reference %s: %s\n\n", reference->name, reference->title);
    (void)fprintf(stream, "%-12s %s: %s\n", "predictor",
        fulcrum_predictor_name(reference->predictor),
        fulcrum_predictor_meaning(reference->predictor));
    print_line(stream, "machine", reference->machine);
    print_line(stream, "workload", reference->workload);
    print_line(stream, "calibration", reference->calibration);
    for (size_t i = 0; i < reference->calibration_count; i++) {
        (void)fprintf(stream, "%-12s %s: %s\n", "calibration",
            reference->calibrations[i].series, reference->calibrations[i].calibration);
    }
    if (reference->frame_skip > 1.0) {
        (void)fprintf(stream, "%-12s %g: published frames are %g to a step\n",
            "frame skip", reference->frame_skip, reference->frame_skip);
    }
    if (reference->is_relative) {
        (void)fprintf(
            stream, "%-12s point %zu\n", "relative to", reference->relative_to);
    }
    print_line(stream, "note", reference->note);
    print_line(stream, "why not", reference->not_predicted);
    (void)fputc('\n', stream);
}

static void add_settings(
    struct fulcrum_json *object, const struct fulcrum_reference_point *point)
{
    struct fulcrum_json *set = fulcrum_json_add_object(object, "set");
    for (size_t i = 0; i < point->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        if (isnan(setting->number)) {
            fulcrum_json_add_text(set, setting->path, setting->text);
        } else {
            fulcrum_json_add_number(set, setting->path, setting->number);
        }
    }
}

/* As in a file, so that a program reads both in one way. */
static void add_points(
    struct fulcrum_json *document, const struct fulcrum_reference *reference)
{
    struct fulcrum_json *array = fulcrum_json_add_array(document, "points");
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        struct fulcrum_json *object = fulcrum_json_append_object(array);
        fulcrum_json_add_text(object, "series", point->series);
        add_settings(object, point);
        struct fulcrum_json *observed = fulcrum_json_add_object(object, "observed");
        for (size_t j = 0; j < point->observation_count; j++) {
            const struct fulcrum_observation *observation = &point->observations[j];
            struct fulcrum_json *item =
                fulcrum_json_add_object(observed, observation->quantity);
            fulcrum_json_add_number(item, "value", observation->value);
            fulcrum_json_add_number(item, "half_width", observation->half_width);
        }
    }
}

static enum fulcrum_status print_json(const struct fulcrum_reference *reference,
    const struct fulcrum_report *sources, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-show");
    fulcrum_json_add_text(document, "kind", "reference");
    fulcrum_json_add_text(document, "name", reference->name);
    fulcrum_json_add_text(document, "title", reference->title);
    fulcrum_json_add_text(
        document, "predictor", fulcrum_predictor_name(reference->predictor));
    fulcrum_json_add_text(document, "machine", reference->machine);
    fulcrum_json_add_text(document, "workload", reference->workload);
    fulcrum_json_add_text(document, "calibration", reference->calibration);
    struct fulcrum_json *own = fulcrum_json_add_object(document, "calibrations");
    for (size_t i = 0; i < reference->calibration_count; i++) {
        fulcrum_json_add_text(own, reference->calibrations[i].series,
            reference->calibrations[i].calibration);
    }
    fulcrum_json_add_number(document, "frame_skip", reference->frame_skip);
    fulcrum_json_add_number(document, "relative_to",
        reference->is_relative ? (double)reference->relative_to : (double)NAN);
    fulcrum_json_add_text(document, "note", reference->note);
    fulcrum_json_add_text(document, "not_predicted", reference->not_predicted);
    add_points(document, reference);
    fulcrum_report_to_json(sources, document);
    return fulcrum_report_print_document(document, context, err);
}

enum fulcrum_status fulcrum_show_reference(const struct fulcrum_reference *reference,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *points = points_of(reference);
    struct fulcrum_report *sources = sources_of(reference);
    enum fulcrum_status status;
    if (context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(reference, sources, context, err);
    } else {
        if (context->format == FULCRUM_FORMAT_TABLE) {
            print_heading(reference, context->out);
        }
        status = fulcrum_report_print(points, "fulcrum-show", context, err);
        if (context->format == FULCRUM_FORMAT_TABLE) {
            (void)fputc('\n', context->out);
            fulcrum_report_print_table(sources, context->out, 0);
        }
    }
    fulcrum_report_free(points);
    fulcrum_report_free(sources);
    return status;
}
