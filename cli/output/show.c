/* show.c - what `fulcrum show` prints of calibrations, partitions and references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/output/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/output/report.h"
#include "model/design/calibration.h"
#include "model/design/design.h"
#include "model/design/reference.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/load/partition_file.h"
#include "presets/load/preset.h"

/* What a calibration found, how well, and how it was got. */

static const struct fulcrum_report_head parameter_columns[] = {
    {"field", FULCRUM_COLUMN_TEXT, NULL},
    {"value", FULCRUM_COLUMN_NUMBER, NULL},
    {"standard_error", FULCRUM_COLUMN_NUMBER, "standard error"},
    {"unit", FULCRUM_COLUMN_TEXT, NULL},
    {"origin", FULCRUM_COLUMN_TEXT, NULL},
    {"source", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_report_head quantity_columns[] = {
    {"name", FULCRUM_COLUMN_TEXT, "quantity"},
    {"value", FULCRUM_COLUMN_NUMBER, NULL},
    {"lo", FULCRUM_COLUMN_NUMBER, "95 % from"},
    {"hi", FULCRUM_COLUMN_NUMBER, "to"},
    {"unit", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_report_head fit_columns[] = {
    {"name", FULCRUM_COLUMN_TEXT, "fit"},
    {"form", FULCRUM_COLUMN_TEXT, NULL},
    {"point_count", FULCRUM_COLUMN_NUMBER, "points"},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "mean |error|"},
    {"smape_frac", FULCRUM_COLUMN_NUMBER, "symmetric"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "largest"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"warning", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_report_head note_columns[] = {
    {"key", FULCRUM_COLUMN_TEXT, "note"},
    {"text", FULCRUM_COLUMN_TEXT, NULL},
};

static struct fulcrum_report *parameters_of(
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("parameters", parameter_columns);
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i];
        const struct fulcrum_field *field = fulcrum_field_find(parameter->path);
        fulcrum_report_add_text(report, parameter->path);
        FULCRUM_REPORT_NUMBERS(report, parameter->value, parameter->standard_error);
        FULCRUM_REPORT_TEXTS(report, field != NULL ? field->unit : "",
            fulcrum_origin_name(parameter->origin), parameter->source);
    }
    return report;
}

static struct fulcrum_report *quantities_of(
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("quantities", quantity_columns);
    for (size_t i = 0; i < calibration->quantity_count; i++) {
        const struct fulcrum_quantity *quantity = &calibration->quantities[i];
        fulcrum_report_add_text(report, quantity->name);
        FULCRUM_REPORT_NUMBERS(report, quantity->value, quantity->lo, quantity->hi);
        fulcrum_report_add_text(report, quantity->unit);
    }
    return report;
}

static struct fulcrum_report *fits_of(const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("fits", fit_columns);
    for (size_t i = 0; i < calibration->fit_count; i++) {
        const struct fulcrum_fit_report *fit = &calibration->fits[i];
        FULCRUM_REPORT_TEXTS(report, fit->name, fit->form);
        FULCRUM_REPORT_NUMBERS(report, (double)fit->point_count, fit->mape_frac,
            fit->smape_frac, fit->max_frac, fit->bias_frac);
        fulcrum_report_add_text(report, fit->warning);
    }
    return report;
}

static struct fulcrum_report *notes_of(const struct fulcrum_calibration *calibration)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("notes", note_columns);
    for (size_t i = 0; i < calibration->note_count; i++) {
        FULCRUM_REPORT_TEXTS(
            report, calibration->notes[i].key, calibration->notes[i].text);
    }
    return report;
}

enum fulcrum_status fulcrum_show_calibration(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *const sections[] = {parameters_of(calibration),
        quantities_of(calibration), fits_of(calibration), notes_of(calibration)};
    const size_t count = sizeof sections / sizeof sections[0];
    enum fulcrum_status status = FULCRUM_OK;
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-show");
        fulcrum_json_add_text(document, "kind", "calibration");
        fulcrum_json_add_text(document, "name", calibration->name);
        fulcrum_json_add_text(document, "title", calibration->title);
        fulcrum_json_add_flag(document, "complete", calibration->complete);
        for (size_t i = 0; i < count; i++) {
            fulcrum_report_to_json(sections[i], document);
        }
        status = fulcrum_report_print_document(document, context, err);
    } else if (context->format == FULCRUM_FORMAT_CSV) {
        status = fulcrum_report_print(sections[0], "fulcrum-show", context, err);
    } else {
        (void)fprintf(context->out, "calibration %s: %s%s\n", calibration->name,
            calibration->title, calibration->complete ? "" : " (incomplete)");
        for (size_t i = 0; i < count; i++) {
            if (i == 0 || !fulcrum_report_is_empty(sections[i])) {
                (void)fputc('\n', context->out);
                fulcrum_report_print_table(sections[i], context->out, 0);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        fulcrum_report_free(sections[i]);
    }
    return status;
}

/* A partition: its profiles, and which of them fill the GPU. */

static const struct fulcrum_report_head profile_columns[] = {
    {"profile", FULCRUM_COLUMN_TEXT, NULL},
    {"most_count", FULCRUM_COLUMN_NUMBER, "most"},
    {"compute_slice_count", FULCRUM_COLUMN_NUMBER, "compute slices"},
    {"sm_count", FULCRUM_COLUMN_NUMBER, "SMs"},
    {"sm_frac", FULCRUM_COLUMN_NUMBER, "of all SMs"},
    {"memory_slice_count", FULCRUM_COLUMN_NUMBER, "memory slices"},
    {"dram_frac", FULCRUM_COLUMN_NUMBER, "of bandwidth"},
    {"cache_frac", FULCRUM_COLUMN_NUMBER, "of cache"},
    {"memory_byte", FULCRUM_COLUMN_NUMBER, NULL},
    {"copy_engine_count", FULCRUM_COLUMN_NUMBER, "copy engines"},
    {"decoder_count", FULCRUM_COLUMN_NUMBER, "decoders"},
    {"starts", FULCRUM_COLUMN_TEXT, "from memory slice"},
};

static const struct fulcrum_report_head layout_columns[] = {
    {"layout", FULCRUM_COLUMN_TEXT, "fills the GPU"},
    {"instance_count", FULCRUM_COLUMN_NUMBER, "instances"},
    {"sm_count", FULCRUM_COLUMN_NUMBER, "SMs"},
    {"memory_slice_count", FULCRUM_COLUMN_NUMBER, "memory slices"},
};

static const struct fulcrum_report_head source_columns[] = {
    {"part", FULCRUM_COLUMN_TEXT, "source of"},
    {"text", FULCRUM_COLUMN_TEXT, NULL},
};

static struct fulcrum_report *profiles_of(const struct fulcrum_mig *mig)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("profiles", profile_columns);
    for (size_t i = 0; i < mig->profile_count; i++) {
        const struct fulcrum_mig_profile *profile = &mig->profiles[i];
        struct fulcrum_string starts = {.chars = NULL};
        for (size_t k = 0; k < profile->start_count; k++) {
            fulcrum_string_add(&starts, "%s%.0f", k > 0 ? " " : "", profile->starts[k]);
        }
        fulcrum_report_add_text(report, profile->name);
        FULCRUM_REPORT_NUMBERS(report, profile->most_count,
            profile->compute_slice_count, profile->sm_count,
            profile->sm_count / mig->sm_count, profile->memory_slice_count,
            profile->memory_slice_count / mig->memory_slice_count,
            profile->cache_slice_count / mig->memory_slice_count, profile->memory_byte,
            profile->copy_engine_count, profile->decoder_count);
        fulcrum_report_add_text(report, fulcrum_string_get(&starts));
        fulcrum_string_clear(&starts);
    }
    return report;
}

static void add_layout(struct fulcrum_report *report, const struct fulcrum_mig *mig,
    const struct fulcrum_mig_layout *layout)
{
    char text[160];
    double sms = 0.0;
    double slices = 0.0;
    fulcrum_mig_layout_text(mig, layout, text, sizeof text);
    for (size_t i = 0; i < mig->profile_count; i++) {
        sms += layout->counts[i] * mig->profiles[i].sm_count;
        slices += layout->counts[i] * mig->profiles[i].memory_slice_count;
    }
    fulcrum_report_add_text(report, text);
    FULCRUM_REPORT_NUMBERS(report, (double)layout->instance_count, sms, slices);
}

static enum fulcrum_status layouts_of(const struct fulcrum_mig *mig,
    struct fulcrum_report **out, struct fulcrum_error *err)
{
    struct fulcrum_mig_layout *layouts = NULL;
    size_t count = 0;
    TRY(fulcrum_mig_layouts(mig, &layouts, &count, err));
    *out = FULCRUM_REPORT_NEW("layouts", layout_columns);
    for (size_t i = 0; i < count; i++) {
        if (layouts[i].is_full) {
            add_layout(*out, mig, &layouts[i]);
        }
    }
    free(layouts);
    return FULCRUM_OK;
}

static struct fulcrum_report *show_partition_sources_of(
    const struct fulcrum_partition *partition)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("sources", source_columns);
    for (size_t i = 0; i < partition->source_count; i++) {
        FULCRUM_REPORT_TEXTS(
            report, partition->sources[i].part, partition->sources[i].text);
    }
    return report;
}

enum fulcrum_status fulcrum_show_partition(const struct fulcrum_partition *partition,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_mig *mig = &partition->mig;
    struct fulcrum_report *layouts = NULL;
    TRY(layouts_of(mig, &layouts, err));
    struct fulcrum_report *const tables[] = {
        profiles_of(mig), layouts, show_partition_sources_of(partition)};
    const size_t count = sizeof tables / sizeof tables[0];
    enum fulcrum_status status = FULCRUM_OK;
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-show");
        fulcrum_json_add_text(document, "kind", "partition");
        fulcrum_json_add_text(document, "name", mig->name);
        fulcrum_json_add_text(document, "title", mig->title);
        fulcrum_json_add_text(document, "gpu", mig->gpu);
        fulcrum_json_add_number(document, "sm_count", mig->sm_count);
        fulcrum_json_add_number(document, "memory_byte", mig->memory_byte);
        fulcrum_json_add_number(
            document, "compute_slice_count", mig->compute_slice_count);
        fulcrum_json_add_number(
            document, "memory_slice_count", mig->memory_slice_count);
        for (size_t i = 0; i < count; i++) {
            fulcrum_report_to_json(tables[i], document);
        }
        status = fulcrum_report_print_document(document, context, err);
    } else if (context->format == FULCRUM_FORMAT_CSV) {
        status = fulcrum_report_print(tables[0], "fulcrum-show", context, err);
    } else {
        (void)fprintf(context->out,
            "partition %s: %s\n\n%s: %.6g SMs, %.6g compute slices, %.6g memory "
            "slices of %.6g GB in all\n",
            mig->name, mig->title, mig->gpu, mig->sm_count, mig->compute_slice_count,
            mig->memory_slice_count, mig->memory_byte / 1e9);
        for (size_t i = 0; i < count; i++) {
            (void)fputc('\n', context->out);
            fulcrum_report_print_table(tables[i], context->out, 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        fulcrum_report_free(tables[i]);
    }
    return status;
}

static const struct fulcrum_report_head point_columns[] = {
    {"point", FULCRUM_COLUMN_NUMBER, NULL},
    {"series", FULCRUM_COLUMN_TEXT, NULL},
    {"set", FULCRUM_COLUMN_TEXT, "at"},
    {"quantity", FULCRUM_COLUMN_TEXT, NULL},
    {"value", FULCRUM_COLUMN_NUMBER, NULL},
    {"half_width", FULCRUM_COLUMN_NUMBER, "+-"},
};

/* "run.env_count=20 method=Pure simulation" */
static void format_settings(
    const struct fulcrum_reference_point *point, struct fulcrum_string *out)
{
    for (size_t i = 0; i < point->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        fulcrum_string_add(out, "%s%s=", i > 0 ? " " : "", setting->path);
        if (isnan(setting->number)) {
            fulcrum_string_add(out, "%s", setting->text);
        } else {
            fulcrum_string_add(out, "%.12g", setting->number);
        }
    }
}

static struct fulcrum_report *points_of(const struct fulcrum_reference *reference)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("points", point_columns);
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        struct fulcrum_string settings = {.chars = NULL};
        format_settings(point, &settings);
        for (size_t j = 0; j < point->observation_count; j++) {
            const struct fulcrum_observation *observation = &point->observations[j];
            fulcrum_report_add_number(report, (double)i);
            FULCRUM_REPORT_TEXTS(report, point->series, fulcrum_string_get(&settings),
                observation->quantity);
            FULCRUM_REPORT_NUMBERS(report, observation->value, observation->half_width);
        }
        fulcrum_string_clear(&settings);
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
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("sources", source_columns);
    for (size_t i = 0; i < reference->source_count; i++) {
        FULCRUM_REPORT_TEXTS(
            report, reference->sources[i].part, reference->sources[i].text);
    }
    struct fulcrum_report *sources = report;
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
