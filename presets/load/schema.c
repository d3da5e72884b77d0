/* schema.c - the JSON Schema of each file kind, made from the field tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Made from the same rows that the reader checks with, so that an editor's opinion of a
 * file and ours agree on keys, types, ranges and choices. What JSON Schema cannot say
 * (every field has a source, a covariance is possible) is left to the reader.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "presets/io/json.h"
#include "presets/load/fields_io.h"
#include "presets/load/file_header.h"
#include "presets/load/partition_file.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

static struct fulcrum_json *add_typed(
    struct fulcrum_json *properties, const char *key, const char *type)
{
    struct fulcrum_json *schema = fulcrum_json_add_object(properties, key);
    fulcrum_json_add_text(schema, "type", type);
    return schema;
}

/* null stands for "not given" in every field. */
static void add_type_or_null(struct fulcrum_json *schema, const char *type)
{
    struct fulcrum_json *types = fulcrum_json_add_array(schema, "type");
    fulcrum_json_append_text(types, type);
    fulcrum_json_append_text(types, "null");
}

static struct fulcrum_json *add_nullable(
    struct fulcrum_json *properties, const char *key, const char *type)
{
    struct fulcrum_json *schema = fulcrum_json_add_object(properties, key);
    add_type_or_null(schema, type);
    return schema;
}

/* A number or integer from `least` on. */
static void add_from(
    struct fulcrum_json *properties, const char *key, const char *type, double least)
{
    fulcrum_json_add_number(add_typed(properties, key, type), "minimum", least);
}

static void add_text_limits(struct fulcrum_json *schema, size_t size)
{
    fulcrum_json_add_number(schema, "maxLength", (double)size - 1.0);
}

/* An object with no members but those added to the result. */
static struct fulcrum_json *add_members(struct fulcrum_json *schema)
{
    fulcrum_json_add_flag(schema, "additionalProperties", 0);
    return fulcrum_json_add_object(schema, "properties");
}

static void add_required(struct fulcrum_json *schema, const char *const *keys)
{
    struct fulcrum_json *required = fulcrum_json_add_array(schema, "required");
    for (size_t i = 0; keys[i] != NULL; i++) {
        fulcrum_json_append_text(required, keys[i]);
    }
}

static void add_field(
    struct fulcrum_json *properties, const char *key, const struct fulcrum_field *field)
{
    struct fulcrum_json *schema = fulcrum_json_add_object(properties, key);
    /* Editors show this beside the key. */
    char text[200];
    const char *unit = field->unit[0] != '\0' ? field->unit : NULL;
    (void)snprintf(text, sizeof text, "%s%s%s", field->meaning,
        unit != NULL ? ", in " : "", unit != NULL ? unit : "");
    fulcrum_json_add_text(schema, "description", text);
    if (field->kind == FULCRUM_FIELD_CHOICE) {
        struct fulcrum_json *choices = fulcrum_json_add_array(schema, "enum");
        for (int i = 0; field->choice(i) != NULL; i++) {
            fulcrum_json_append_text(choices, field->choice(i));
        }
        fulcrum_json_append_number(choices, (double)NAN); /* written as null */
        fulcrum_json_add_text(schema, "default", field->choice((int)field->fallback));
        return;
    }
    if (field->kind == FULCRUM_FIELD_TEXT) {
        add_type_or_null(schema, "string");
        add_text_limits(schema, field->size);
        return;
    }
    bool is_count = field->kind == FULCRUM_FIELD_COUNT;
    add_type_or_null(schema, is_count ? "integer" : "number");
    fulcrum_json_add_number(schema, "minimum", field->least);
    fulcrum_json_add_number(schema, "maximum", field->most);
    if (!isnan(field->fallback)) {
        fulcrum_json_add_number(schema, "default", field->fallback);
    }
}

/* Every field of the kind, in an object for each group. */
static void add_fields(struct fulcrum_json *properties, enum fulcrum_preset_kind kind)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    struct fulcrum_json *group = NULL;
    const char *group_name = "";
    size_t group_length = 0;
    for (size_t i = 0; i < count; i++) {
        if (!fulcrum_fields_io_has(kind, &fields[i])) {
            continue;
        }
        const char *relative = strchr(fields[i].path, '.') + 1;
        const char *dot = strchr(relative, '.');
        if (dot == NULL) {
            add_field(properties, relative, &fields[i]);
            continue;
        }
        size_t length = (size_t)(dot - relative);
        if (length != group_length || strncmp(relative, group_name, length) != 0) {
            char name[64];
            (void)snprintf(name, sizeof name, "%.*s", (int)length, relative);
            group = add_members(add_nullable(properties, name, "object"));
            group_name = relative;
            group_length = length;
        }
        add_field(group, dot + 1, &fields[i]);
    }
}

static void add_head(struct fulcrum_json *properties, enum fulcrum_preset_kind kind)
{
    struct fulcrum_json *schema = fulcrum_json_add_object(properties, "kind");
    fulcrum_json_add_text(schema, "const", fulcrum_preset_kind_name(kind));
    struct fulcrum_json *name = add_typed(properties, "name", "string");
    fulcrum_json_add_number(name, "minLength", 1);
    add_text_limits(name, sizeof(((struct fulcrum_machine *)NULL)->name));
    struct fulcrum_json *title = add_typed(properties, "title", "string");
    add_text_limits(title, sizeof(((struct fulcrum_machine *)NULL)->title));
}

/* That every field is covered is beyond JSON Schema; the reader checks it. */
static void add_cover(struct fulcrum_json *properties)
{
    struct fulcrum_json *source = add_typed(properties, "source", "object");
    fulcrum_json_add_text(source, "description",
        "where the value of a field, or of every field of a group, was read");
    (void)add_typed(source, "additionalProperties", "string");
    struct fulcrum_json *prior = add_typed(properties, "prior", "object");
    fulcrum_json_add_text(prior, "description",
        "fields without a source: why this value, and how far off it may be");
    struct fulcrum_json *entry = add_typed(prior, "additionalProperties", "object");
    static const char *const required[] = {"spread_factor", "reason", NULL};
    add_required(entry, required);
    struct fulcrum_json *members = add_members(entry);
    add_from(members, "spread_factor", "number", 1.0);
    (void)add_typed(members, "reason", "string");
}

/* Numbers, or null where nothing was measured. */
static void add_number_array(struct fulcrum_json *properties, const char *key)
{
    struct fulcrum_json *array = add_typed(properties, key, "array");
    (void)add_nullable(array, "items", "number");
}

/* An array of closed objects; returns their members. */
static struct fulcrum_json *add_object_array(
    struct fulcrum_json *properties, const char *key, const char *const *required)
{
    struct fulcrum_json *array = add_typed(properties, key, "array");
    struct fulcrum_json *items = add_typed(array, "items", "object");
    add_required(items, required);
    return add_members(items);
}

static void add_texts(struct fulcrum_json *properties, const char *const *keys)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        (void)add_typed(properties, keys[i], "string");
    }
}

static void add_parameters(struct fulcrum_json *properties)
{
    static const char *const required[] = {
        "path", "value", "standard_error", "scale", "origin", "source", NULL};
    static const char *const texts[] = {"path", "source", NULL};
    struct fulcrum_json *members = add_object_array(properties, "parameters", required);
    add_texts(members, texts);
    (void)add_typed(members, "value", "number");
    add_from(members, "standard_error", "number", 0.0);
    struct fulcrum_json *scale = fulcrum_json_add_object(members, "scale");
    struct fulcrum_json *scales = fulcrum_json_add_array(scale, "enum");
    struct fulcrum_json *origin = fulcrum_json_add_object(members, "origin");
    struct fulcrum_json *origins = fulcrum_json_add_array(origin, "enum");
    for (int i = 0; i < 3; i++) {
        fulcrum_json_append_text(scales, fulcrum_scale_name((enum fulcrum_scale)i));
        fulcrum_json_append_text(origins, fulcrum_origin_name((enum fulcrum_origin)i));
    }
}

static void add_series(struct fulcrum_json *properties)
{
    static const char *const required[] = {
        "name", "unit", "x_name", "condition", "x", "value", NULL};
    static const char *const texts[] = {"name", "unit", "x_name", "condition", NULL};
    struct fulcrum_json *members = add_object_array(properties, "series", required);
    add_texts(members, texts);
    add_number_array(members, "x");
    add_number_array(members, "value");
    add_number_array(members, "canary_rel");
    add_number_array(members, "disturbed");
}

static void add_quantities(struct fulcrum_json *properties)
{
    static const char *const required[] = {"name", "interval", "unit", NULL};
    static const char *const texts[] = {"name", "unit", NULL};
    struct fulcrum_json *members = add_object_array(properties, "quantities", required);
    add_texts(members, texts);
    (void)add_nullable(members, "value", "number");
    add_number_array(members, "interval");
}

static void add_fits(struct fulcrum_json *properties)
{
    static const char *const texts[] = {"name", "form", "warning", NULL};
    static const char *const numbers[] = {
        "mape_frac", "smape_frac", "max_frac", "bias_frac"};
    static const char *const required[] = {
        "name", "form", "point_count", "warning", NULL};
    struct fulcrum_json *members = add_object_array(properties, "fits", required);
    add_texts(members, texts);
    (void)add_typed(members, "point_count", "integer");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)add_nullable(members, numbers[i], "number");
    }
}

/*
 * A machine or workload inside another file: a preset's name, or its fields. Returns
 * the list of these forms.
 */
static struct fulcrum_json *add_half(
    struct fulcrum_json *properties, enum fulcrum_preset_kind kind)
{
    struct fulcrum_json *half =
        fulcrum_json_add_object(properties, fulcrum_preset_kind_name(kind));
    struct fulcrum_json *forms = fulcrum_json_add_array(half, "anyOf");
    fulcrum_json_add_text(fulcrum_json_append_object(forms), "type", "string");
    struct fulcrum_json *object = fulcrum_json_append_object(forms);
    fulcrum_json_add_text(object, "type", "object");
    struct fulcrum_json *members = add_members(object);
    static const char *const texts[] = {"name", "title", NULL};
    add_texts(members, texts);
    add_fields(members, kind);
    return forms;
}

/* Name and version, which a reader refuses if they are not its own. */
static void add_version(
    struct fulcrum_json *properties, const char *name, double version)
{
    static const char *const required[] = {"name", "version", NULL};
    struct fulcrum_json *schema = add_typed(properties, "schema", "object");
    add_required(schema, required);
    struct fulcrum_json *members = add_members(schema);
    fulcrum_json_add_text(fulcrum_json_add_object(members, "name"), "const", name);
    fulcrum_json_add_number(
        fulcrum_json_add_object(members, "version"), "const", version);
}

static void add_calibration(struct fulcrum_json *root)
{
    static const char *const required[] = {
        "schema", "kind", "name", "machine", "parameters", NULL};
    add_required(root, required);
    struct fulcrum_json *properties = add_members(root);
    add_version(properties, FULCRUM_CALIBRATION_SCHEMA, FULCRUM_CALIBRATION_VERSION);
    add_head(properties, FULCRUM_PRESET_CALIBRATION);
    (void)add_typed(properties, "complete", "boolean");
    (void)add_half(properties, FULCRUM_PRESET_MACHINE);
    add_parameters(properties);
    struct fulcrum_json *covariance = add_typed(properties, "covariance", "array");
    struct fulcrum_json *row = add_typed(covariance, "items", "array");
    (void)add_typed(row, "items", "number");
    add_number_array(add_typed(properties, "draws", "array"), "items");
    add_number_array(properties, "capacity");
    struct fulcrum_json *batch_time =
        add_members(add_typed(properties, "batch_time", "object"));
    add_number_array(batch_time, "size");
    add_number_array(batch_time, "time_s");
    add_series(properties);
    add_quantities(properties);
    add_fits(properties);
    struct fulcrum_json *notes = add_typed(properties, "notes", "object");
    (void)add_typed(notes, "additionalProperties", "string");
}

/* An object of any keys whose members are all alike; returns their schema. */
static struct fulcrum_json *add_map(
    struct fulcrum_json *properties, const char *key, const char *meaning)
{
    struct fulcrum_json *map = add_typed(properties, key, "object");
    fulcrum_json_add_text(map, "description", meaning);
    return fulcrum_json_add_object(map, "additionalProperties");
}

static void add_points(struct fulcrum_json *properties)
{
    static const char *const required[] = {"set", "observed", NULL};
    static const char *const needed[] = {"value", NULL};
    struct fulcrum_json *array = add_typed(properties, "points", "array");
    fulcrum_json_add_number(array, "minItems", 1);
    struct fulcrum_json *items = add_typed(array, "items", "object");
    add_required(items, required);
    struct fulcrum_json *members = add_members(items);
    (void)add_nullable(members, "series", "string");
    struct fulcrum_json *set = add_map(members, "set",
        "fields of the design, run.env_count, or words of the source without a dot");
    struct fulcrum_json *types = fulcrum_json_add_array(set, "type");
    fulcrum_json_append_text(types, "number");
    fulcrum_json_append_text(types, "string");
    struct fulcrum_json *item = add_map(members, "observed",
        "quantities with their unit in the name; frames_per_s becomes steps_per_s");
    fulcrum_json_add_text(item, "type", "object");
    add_required(item, needed);
    struct fulcrum_json *observation = add_members(item);
    (void)add_typed(observation, "value", "number");
    struct fulcrum_json *half_width = add_nullable(observation, "half_width", "number");
    fulcrum_json_add_number(half_width, "minimum", 0);
}

static void add_reference(struct fulcrum_json *root)
{
    static const char *const required[] = {
        "schema", "kind", "name", "source", "predictor", "points", NULL};
    static const char *const sourced[] = {"points", NULL};
    add_required(root, required);
    struct fulcrum_json *properties = add_members(root);
    add_version(properties, FULCRUM_REFERENCE_SCHEMA, FULCRUM_REFERENCE_VERSION);
    add_head(properties, FULCRUM_PRESET_REFERENCE);
    struct fulcrum_json *source = add_typed(properties, "source", "object");
    fulcrum_json_add_text(
        source, "description", "where a member, series, setting or quantity was read");
    add_required(source, sourced);
    (void)add_typed(source, "additionalProperties", "string");
    (void)add_nullable(properties, "note", "string");
    for (int kind = FULCRUM_PRESET_MACHINE; kind <= FULCRUM_PRESET_WORKLOAD; kind++) {
        /* Some data are of no one machine. */
        struct fulcrum_json *forms =
            add_half(properties, (enum fulcrum_preset_kind)kind);
        fulcrum_json_add_text(fulcrum_json_append_object(forms), "type", "null");
    }
    (void)add_nullable(properties, "calibration", "string");
    struct fulcrum_json *calibrations = add_map(
        properties, "calibrations", "calibrations of single series, by their names");
    fulcrum_json_add_text(calibrations, "type", "string");
    struct fulcrum_json *predictor = fulcrum_json_add_object(properties, "predictor");
    struct fulcrum_json *names = fulcrum_json_add_array(predictor, "enum");
    for (size_t i = 0; fulcrum_predictor_name(i) != NULL; i++) {
        fulcrum_json_append_text(names, fulcrum_predictor_name(i));
    }
    struct fulcrum_json *reason = add_nullable(properties, "not_predicted", "string");
    fulcrum_json_add_text(reason, "description", "why nothing predicts these points");
    struct fulcrum_json *skip = add_nullable(properties, "frame_skip", "integer");
    fulcrum_json_add_number(skip, "minimum", 1);
    fulcrum_json_add_number(skip, "maximum", FULCRUM_REFERENCE_FRAME_SKIP_MOST);
    fulcrum_json_add_number(
        add_nullable(properties, "relative_to", "integer"), "minimum", 0.0);
    add_points(properties);
}

/* Whole numbers from 1 that must be there. */
static void add_counts(struct fulcrum_json *properties, const char *const *keys)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        add_from(properties, keys[i], "integer", 1.0);
    }
}

static void add_profiles(struct fulcrum_json *properties)
{
    static const char *const counts[] = {"compute_slice_count", "memory_slice_count",
        "cache_slice_count", "sm_count", "memory_byte", "most_count", NULL};
    static const char *const extras[] = {"copy_engine_count", "decoder_count",
        "jpeg_count", "ofa_count", "is_media_extension"};
    static const char *const required[] = {"name", "compute_slice_count",
        "memory_slice_count", "cache_slice_count", "sm_count", "memory_byte",
        "most_count", "starts", NULL};
    struct fulcrum_json *members = add_object_array(properties, "profiles", required);
    (void)add_typed(members, "name", "string");
    add_counts(members, counts);
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++) {
        add_from(members, extras[i], "integer", 0.0);
    }
    struct fulcrum_json *starts = add_typed(members, "starts", "array");
    fulcrum_json_add_text(starts, "description",
        "first memory slices that an instance of the profile may begin at");
    (void)add_typed(starts, "items", "integer");
}

static void add_partition(struct fulcrum_json *root)
{
    static const char *const required[] = {"schema", "kind", "name", "source", "gpu",
        "compute_slice_count", "memory_slice_count", "sm_count", "memory_byte",
        "profiles", NULL};
    static const char *const counts[] = {
        "compute_slice_count", "memory_slice_count", "sm_count", "memory_byte", NULL};
    static const char *const covered[] = {"profiles", NULL};
    add_required(root, required);
    struct fulcrum_json *properties = add_members(root);
    add_version(properties, FULCRUM_PARTITION_SCHEMA, FULCRUM_PARTITION_VERSION);
    add_head(properties, FULCRUM_PRESET_PARTITION);
    struct fulcrum_json *source = add_typed(properties, "source", "object");
    add_required(source, covered);
    (void)add_typed(source, "additionalProperties", "string");
    struct fulcrum_json *gpu = add_typed(properties, "gpu", "string");
    fulcrum_json_add_text(gpu, "description", "as machine.gpu.name in machine files");
    add_counts(properties, counts);
    add_profiles(properties);
}

enum fulcrum_status fulcrum_preset_schema(
    enum fulcrum_preset_kind kind, char **out, struct fulcrum_error *err)
{
    char title[64];
    (void)snprintf(
        title, sizeof title, "Fulcrum %s file", fulcrum_preset_kind_name(kind));
    struct fulcrum_json *root = fulcrum_json_new_object();
    fulcrum_json_add_text(
        root, "$schema", "https://json-schema.org/draft/2020-12/schema");
    fulcrum_json_add_text(root, "title", title);
    fulcrum_json_add_text(root, "type", "object");
    if (kind == FULCRUM_PRESET_CALIBRATION) {
        add_calibration(root);
    } else if (kind == FULCRUM_PRESET_REFERENCE) {
        add_reference(root);
    } else if (kind == FULCRUM_PRESET_PARTITION) {
        add_partition(root);
    } else {
        static const char *const required[] = {"kind", "name", NULL};
        add_required(root, required);
        struct fulcrum_json *properties = add_members(root);
        add_head(properties, kind);
        struct fulcrum_json *extends = add_typed(properties, "extends", "string");
        fulcrum_json_add_text(extends, "description",
            "a preset's name or a path; its fields hold unless this file gives them");
        add_cover(properties);
        add_fields(properties, kind);
    }
    enum fulcrum_status status = fulcrum_json_text(root, FULCRUM_JSON_PRETTY, out, err);
    fulcrum_json_free(root);
    return status;
}
