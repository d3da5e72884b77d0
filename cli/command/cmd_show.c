/* cmd_show.c - `fulcrum show`: one preset in full, with the source of each value. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options/options.h"
#include "model/number.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/load/partition_file.h"
#include "presets/load/preset.h"
#include "presets/load/preset_file.h"
#include "presets/load/reference_file.h"

struct settings {
    const char *kind_or_name;
    const char *name;
};

/* What every kind begins with. */
static struct fulcrum_result *new_result(
    enum fulcrum_preset_kind kind, const char *name, const char *title)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-show");
    const char *kind_text = fulcrum_preset_kind_name(kind);
    fulcrum_result_text(result, "kind", NULL, kind_text);
    fulcrum_result_text(result, "name", kind_text, name);
    fulcrum_result_text(result, "title", "title", title);
    return result;
}

/* A machine or workload: each value, its unit, and where it is from. */
struct shown_design {
    const char *unsourced; /* basis of a value without a source: "default" */
    struct fulcrum_design design;
    struct fulcrum_sources sources;
};

static void add_field(struct fulcrum_table *table, const struct shown_design *from,
    const struct fulcrum_field *field)
{
    const struct fulcrum_source *source =
        fulcrum_sources_find(&from->sources, field->path);
    const char *text = fulcrum_field_text(field, &from->design);
    double value = fulcrum_field_number(field, &from->design);
    bool is_number =
        field->kind == FULCRUM_FIELD_NUMBER || field->kind == FULCRUM_FIELD_COUNT;
    bool is_given = is_number ? !isnan(value) : text[0] != '\0';
    bool is_prior = source != NULL && source->is_prior;
    const char *basis = is_prior         ? "prior"
                        : source != NULL ? "source"
                        : is_given       ? from->unsourced
                                         : "not given";
    fulcrum_table_row(table);
    fulcrum_table_text(table, "field", "field", field->path);
    if (is_number) {
        fulcrum_table_number(table, "value", "value", value);
    } else {
        fulcrum_table_text(table, "value", "value", text);
    }
    fulcrum_table_text(table, "unit", NULL, field->unit);
    fulcrum_table_text(table, "meaning", NULL, field->meaning);
    fulcrum_table_text(table, "basis", "basis", basis);
    fulcrum_table_number(table, "spread_factor", "x or /",
        source != NULL && source->is_prior ? source->spread_factor : FULCRUM_UNKNOWN);
    fulcrum_table_text(table, "preset", "preset", source != NULL ? source->file : "");
    fulcrum_table_text(table, "source", "source", source != NULL ? source->text : "");
}

static enum fulcrum_status show_design(enum fulcrum_preset_kind kind, const char *name,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    bool is_machine = kind == FULCRUM_PRESET_MACHINE;
    bool is_here = is_machine && strcmp(name, "this") == 0;
    struct shown_design shown = {
        .unsourced = is_here ? "found here or default" : "default"};
    struct fulcrum_design *design = &shown.design;
    enum fulcrum_status status = FULCRUM_OK;
    fulcrum_design_init(design);
    if (is_machine) {
        TRY_OR_END(fulcrum_machine_find(name, design, &shown.sources, err));
    } else {
        TRY_OR_END(fulcrum_workload_load(name, design, &shown.sources, err));
    }
    struct fulcrum_result *result =
        new_result(kind, is_machine ? design->machine.name : design->workload.name,
            is_here      ? "the machine at hand"
            : is_machine ? design->machine.title
                         : design->workload.title);
    struct fulcrum_table *table = fulcrum_result_table(result, "fields", "");
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fulcrum_preset_has_field(kind, &fields[i])) {
            add_field(table, &shown, &fields[i]);
        }
    }
    status = fulcrum_context_show(context, result, err);
end:
    fulcrum_sources_free(&shown.sources);
    return status;
}

enum fulcrum_status fulcrum_show_calibration(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_result *result =
        new_result(FULCRUM_PRESET_CALIBRATION, calibration->name, calibration->title);
    fulcrum_result_flag(result, "complete", calibration->complete ? NULL : "complete",
        calibration->complete);
    struct fulcrum_table *table = fulcrum_result_table(result, "parameters", "");
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i];
        const struct fulcrum_field *field = fulcrum_field_find(parameter->path);
        fulcrum_table_row(table);
        fulcrum_table_text(table, "field", "field", parameter->path);
        fulcrum_table_number(table, "value", "value", parameter->value);
        fulcrum_table_number(
            table, "standard_error", "standard error", parameter->standard_error);
        fulcrum_table_text(table, "unit", NULL, field != NULL ? field->unit : "");
        fulcrum_table_text(
            table, "origin", "origin", fulcrum_origin_name(parameter->origin));
        fulcrum_table_text(table, "source", "source", parameter->source);
    }
    struct fulcrum_table *quantities = fulcrum_result_table(result, "quantities", "");
    for (size_t i = 0; i < calibration->quantity_count; i++) {
        const struct fulcrum_quantity *quantity = &calibration->quantities[i];
        fulcrum_table_row(quantities);
        fulcrum_table_text(quantities, "name", "quantity", quantity->name);
        fulcrum_table_number(quantities, "value", "value", quantity->value);
        fulcrum_table_number(quantities, "lo", "95 % from", quantity->lo);
        fulcrum_table_number(quantities, "hi", "to", quantity->hi);
        fulcrum_table_text(quantities, "unit", NULL, quantity->unit);
    }
    struct fulcrum_table *fits = fulcrum_result_table(result, "fits", "");
    for (size_t i = 0; i < calibration->fit_count; i++) {
        const struct fulcrum_fit_report *fit = &calibration->fits[i];
        fulcrum_table_row(fits);
        fulcrum_table_text(fits, "name", "fit", fit->name);
        fulcrum_table_text(fits, "form", "form", fit->form);
        fulcrum_table_number(fits, "point_count", "points", (double)fit->point_count);
        fulcrum_table_number(fits, "mape_frac", "mean |error|", fit->mape_frac);
        fulcrum_table_number(fits, "smape_frac", "symmetric", fit->smape_frac);
        fulcrum_table_number(fits, "max_frac", "largest", fit->max_frac);
        fulcrum_table_number(fits, "bias_frac", "bias", fit->bias_frac);
        fulcrum_table_text(fits, "warning", "warning", fit->warning);
    }
    struct fulcrum_table *notes = fulcrum_result_table(result, "notes", "");
    for (size_t i = 0; i < calibration->note_count; i++) {
        fulcrum_table_row(notes);
        fulcrum_table_text(notes, "key", "note", calibration->notes[i].key);
        fulcrum_table_text(notes, "text", "text", calibration->notes[i].text);
    }
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status show_calibration(enum fulcrum_preset_kind kind,
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    (void)kind;
    TRY(fulcrum_calibration_load(name, &calibration, err));
    enum fulcrum_status status = fulcrum_show_calibration(calibration, context, err);
    fulcrum_calibration_free(calibration);
    return status;
}

/* A row for each observed quantity. */
static void add_points(
    struct fulcrum_result *result, const struct fulcrum_reference *reference)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "points", "");
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        /* "run.env_count=20 method=Pure simulation" */
        struct fulcrum_string settings = {.chars = NULL};
        for (size_t j = 0; j < point->setting_count; j++) {
            const struct fulcrum_reference_setting *setting = &point->settings[j];
            fulcrum_string_add(&settings, "%s%s=", j > 0 ? " " : "", setting->path);
            if (isnan(setting->number)) {
                fulcrum_string_add(&settings, "%s", setting->text);
            } else {
                fulcrum_string_add(&settings, "%.12g", setting->number);
            }
        }
        for (size_t j = 0; j < point->observation_count; j++) {
            const struct fulcrum_observation *observation = &point->observations[j];
            fulcrum_table_row(table);
            fulcrum_table_number(table, "point", "point", (double)i);
            fulcrum_table_text(table, "series", "series", point->series);
            fulcrum_table_text(table, "set", "at", fulcrum_string_get(&settings));
            fulcrum_table_text(table, "quantity", "quantity", observation->quantity);
            fulcrum_table_number(table, "value", "value", observation->value);
            fulcrum_table_number(table, "half_width", "+-", observation->half_width);
        }
        fulcrum_string_clear(&settings);
    }
}

static void add_source(struct fulcrum_table *table, const char *part, const char *text)
{
    fulcrum_table_row(table);
    fulcrum_table_text(table, "part", "source of", part);
    fulcrum_table_text(table, "text", "text", text);
}

static enum fulcrum_status show_reference(enum fulcrum_preset_kind kind,
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    TRY(fulcrum_reference_load(name, &reference, err));
    struct fulcrum_result *result = new_result(kind, reference->name, reference->title);
    fulcrum_result_text(
        result, "predictor", "predictor", fulcrum_predictor_name(reference->predictor));
    fulcrum_result_text(result, "predicted", "predicted",
        fulcrum_predictor_meaning(reference->predictor));
    fulcrum_result_text(result, "machine", "machine", reference->machine);
    fulcrum_result_text(result, "workload", "workload", reference->workload);
    fulcrum_result_text(result, "calibration", "calibration", reference->calibration);
    for (size_t i = 0; i < reference->calibration_count; i++) {
        const char *series = reference->calibrations[i].series;
        char *key = fulcrum_format("calibrations/%s", series);
        char *title = fulcrum_format("calibration of %s", series);
        fulcrum_result_text(result, key, title, reference->calibrations[i].calibration);
        free(key);
        free(title);
    }
    fulcrum_result_number(result, "frame_skip",
        reference->frame_skip > 1.0 ? "frames per step" : NULL, reference->frame_skip);
    fulcrum_result_number(result, "relative_to", "relative to point",
        reference->is_relative ? (double)reference->relative_to : FULCRUM_UNKNOWN);
    fulcrum_result_text(result, "note", "note", reference->note);
    fulcrum_result_text(result, "not_predicted", "why not", reference->not_predicted);
    add_points(result, reference);
    struct fulcrum_table *sources = fulcrum_result_table(result, "sources", "");
    for (size_t i = 0; i < reference->source_count; i++) {
        add_source(sources, reference->sources[i].part, reference->sources[i].text);
    }
    fulcrum_reference_free(reference);
    return fulcrum_context_show(context, result, err);
}

/* Those that fill the GPU. */
static enum fulcrum_status add_layouts(struct fulcrum_result *result,
    const struct fulcrum_mig *mig, struct fulcrum_error *err)
{
    struct fulcrum_mig_layout *layouts = NULL;
    size_t count = 0;
    TRY(fulcrum_mig_layouts(mig, &layouts, &count, err));
    struct fulcrum_table *table = fulcrum_result_table(result, "layouts", "");
    for (size_t i = 0; i < count; i++) {
        double sms = 0.0;
        double slices = 0.0;
        for (size_t k = 0; k < mig->profile_count; k++) {
            sms += layouts[i].counts[k] * mig->profiles[k].sm_count;
            slices += layouts[i].counts[k] * mig->profiles[k].memory_slice_count;
        }
        if (layouts[i].is_full) {
            char text[160];
            fulcrum_mig_layout_text(mig, &layouts[i], text, sizeof text);
            fulcrum_table_row(table);
            fulcrum_table_text(table, "layout", "fills the GPU", text);
            fulcrum_table_number(table, "instance_count", "instances",
                (double)layouts[i].instance_count);
            fulcrum_table_number(table, "sm_count", "SMs", sms);
            fulcrum_table_number(table, "memory_slice_count", "memory slices", slices);
        }
    }
    free(layouts);
    return FULCRUM_OK;
}

static enum fulcrum_status show_partition(enum fulcrum_preset_kind kind,
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_partition *partition = NULL;
    TRY(fulcrum_partition_load(name, &partition, err));
    const struct fulcrum_mig *mig = &partition->mig;
    struct fulcrum_result *result = new_result(kind, mig->name, mig->title);
    fulcrum_result_text(result, "gpu", "GPU", mig->gpu);
    fulcrum_result_number(result, "sm_count", "SMs", mig->sm_count);
    fulcrum_result_number(result, "memory_byte", "memory", mig->memory_byte);
    fulcrum_result_number(
        result, "compute_slice_count", "compute slices", mig->compute_slice_count);
    fulcrum_result_number(
        result, "memory_slice_count", "memory slices", mig->memory_slice_count);
    struct fulcrum_table *table = fulcrum_result_table(result, "profiles", "");
    for (size_t i = 0; i < mig->profile_count; i++) {
        const struct fulcrum_mig_profile *profile = &mig->profiles[i];
        struct fulcrum_string starts = {.chars = NULL};
        for (size_t k = 0; k < profile->start_count; k++) {
            fulcrum_string_add(&starts, "%s%.0f", k > 0 ? " " : "", profile->starts[k]);
        }
        fulcrum_table_row(table);
        fulcrum_table_text(table, "profile", "profile", profile->name);
        fulcrum_table_number(table, "most_count", "most", profile->most_count);
        fulcrum_table_number(table, "compute_slice_count", "compute slices",
            profile->compute_slice_count);
        fulcrum_table_number(table, "sm_count", "SMs", profile->sm_count);
        fulcrum_table_number(table, "sm_frac", NULL, profile->sm_count / mig->sm_count);
        fulcrum_table_number(
            table, "memory_slice_count", "memory slices", profile->memory_slice_count);
        fulcrum_table_number(table, "dram_frac", NULL,
            profile->memory_slice_count / mig->memory_slice_count);
        fulcrum_table_number(table, "cache_frac", NULL,
            profile->cache_slice_count / mig->memory_slice_count);
        fulcrum_table_number(table, "memory_byte", "memory", profile->memory_byte);
        fulcrum_table_number(
            table, "copy_engine_count", "copy engines", profile->copy_engine_count);
        fulcrum_table_number(table, "decoder_count", NULL, profile->decoder_count);
        fulcrum_table_text(
            table, "starts", "from memory slice", fulcrum_string_get(&starts));
        fulcrum_string_clear(&starts);
    }
    enum fulcrum_status status = add_layouts(result, mig, err);
    struct fulcrum_table *sources = fulcrum_result_table(result, "sources", "");
    for (size_t i = 0; i < partition->source_count; i++) {
        add_source(sources, partition->sources[i].part, partition->sources[i].text);
    }
    free(partition);
    if (status != FULCRUM_OK) {
        fulcrum_result_free(result);
        return status;
    }
    return fulcrum_context_show(context, result, err);
}

/* The kind of a preset that was named without it. */
static enum fulcrum_status guess_kind(const char *name, struct fulcrum_context *context,
    enum fulcrum_preset_kind *out, struct fulcrum_error *err)
{
    size_t found_count = strcmp(name, "this") == 0 ? 1 : 0;
    size_t least_distance = strlen(name) / 2;
    char nearest[64] = "";
    *out = FULCRUM_PRESET_MACHINE;
    for (int kind = 0; fulcrum_preset_kind_name(kind) != NULL; kind++) {
        struct fulcrum_preset_entry *entries = NULL;
        size_t count = 0;
        TRY(fulcrum_preset_list((enum fulcrum_preset_kind)kind, &entries, &count, err));
        for (size_t i = 0; i < count; i++) {
            size_t distance = fulcrum_edit_distance(name, entries[i].name);
            if (distance == 0) {
                *out = (enum fulcrum_preset_kind)kind;
                found_count++;
            }
            if (distance < least_distance) {
                least_distance = distance;
                memcpy(nearest, entries[i].name, sizeof nearest);
            }
        }
        free(entries);
    }
    bool is_near = nearest[0] != '\0';
    FULCRUM_USAGE_IF(found_count > 1, context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "more than one preset is called '%s': put machine, workload, calibration, "
        "reference or partition before it",
        name);
    FULCRUM_USAGE_IF(found_count == 0, context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "no preset is called '%s'%s%s%s (before the path of a file goes its kind)",
        name, is_near ? "; did you mean '" : ": 'fulcrum list' shows what there is",
        nearest, is_near ? "'?" : "");
    return FULCRUM_OK;
}

static enum fulcrum_status run_show(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    static enum fulcrum_status (*const show[])(enum fulcrum_preset_kind kind,
        const char *name, const struct fulcrum_context *context,
        struct fulcrum_error *err) = {
        show_design, show_design, show_calibration, show_reference, show_partition};
    const struct settings *settings = data;
    enum fulcrum_preset_kind kind = FULCRUM_PRESET_MACHINE;
    if (settings->name == NULL) {
        TRY(guess_kind(settings->kind_or_name, context, &kind, err));
        return show[kind](kind, settings->kind_or_name, context, err);
    }
    TRY(fulcrum_preset_kind_parse(settings->kind_or_name, context, &kind, err));
    return show[kind](kind, settings->name, context, err);
}

static const struct fulcrum_argument arguments[] = {
    {"KIND", FULCRUM_ARGUMENT_ONE, offsetof(struct settings, kind_or_name),
        fulcrum_preset_kind_name,
        "machine, workload, calibration, reference or partition; may be left out "
        "before the name of a preset"},
    {"NAME", FULCRUM_ARGUMENT_OPTIONAL, offsetof(struct settings, name), NULL,
        "a preset, a JSON file, or for machines 'this': the machine at hand"},
    {.name = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum show dgx-1", "each figure of the machine, with its source"},
    {"fulcrum show machine this", "what fulcrum found out about this machine"},
    {"fulcrum show njit-mig-sm-scaling --format csv",
        "published points, one row for each observed quantity"},
    {"fulcrum show a100-40gb", "the instances that a GPU can be cut into"},
    {"fulcrum show calibration out/calibration.json",
        "parameters with their errors, how well the curves fit, and warnings"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_show = {
    .name = "show",
    .summary = "show a machine, workload, calibration, reference or partition in full",
    .description =
        "Prints one preset or file with inheritance resolved: each value with its "
        "unit, its source (or the spread of a prior) and the preset it came from.\n\nA "
        "calibration shows its parameters with standard errors, its fits with errors "
        "and warnings, and notes on how it was measured; a reference its points, "
        "frames converted to steps, and their sources; a partition the profiles that a "
        "GPU can be cut into, and which sets of them fill it.",
    .examples = examples,
    .arguments = arguments,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_show,
};
