/* schema.c - the JSON Schema of each file kind, made from the field tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Made from the same rows that the reader checks with, so that an editor's opinion of a
 * file and ours agree on keys, types, ranges and choices. What JSON Schema cannot say
 * (every field has a source, a covariance is possible) is left to the reader.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "presets/io/json.h"
#include "presets/load/preset.h"
#include "presets/load/preset_file.h"
#include "presets/load/reference_file.h"

static struct json_object *add_typed(
    struct json_object *properties, const char *key, const char *type)
{
    struct json_object *schema = fulcrum_json_add_object(properties, key);
    fulcrum_json_add_text(schema, "type", type);
    return schema;
}

/* null stands for "not given" in every field. */
static void add_type_or_null(struct json_object *schema, const char *type)
{
    struct json_object *types = fulcrum_json_add_array(schema, "type");
    fulcrum_json_add_text(types, NULL, type);
    fulcrum_json_add_text(types, NULL, "null");
}

static struct json_object *add_nullable(
    struct json_object *properties, const char *key, const char *type)
{
    struct json_object *schema = fulcrum_json_add_object(properties, key);
    add_type_or_null(schema, type);
    return schema;
}

static void add_text_limits(struct json_object *schema, size_t size)
{
    fulcrum_json_add_number(schema, "maxLength", (double)size - 1.0);
}

/* An object with no members but those added to the result. */
static struct json_object *add_members(struct json_object *schema)
{
    fulcrum_json_add_flag(schema, "additionalProperties", 0);
    return fulcrum_json_add_object(schema, "properties");
}

static void add_required(struct json_object *schema, const char *const *keys)
{
    struct json_object *required = fulcrum_json_add_array(schema, "required");
    for (size_t i = 0; keys[i] != NULL; i++) {
        fulcrum_json_add_text(required, NULL, keys[i]);
    }
}

static void add_field(
    struct json_object *properties, const char *key, const struct fulcrum_field *field)
{
    struct json_object *schema = fulcrum_json_add_object(properties, key);
    /* Editors show this beside the key. */
    char text[200];
    const char *unit = field->unit[0] != '\0' ? field->unit : NULL;
    (void)snprintf(text, sizeof text, "%s%s%s", field->meaning,
        unit != NULL ? ", in " : "", unit != NULL ? unit : "");
    fulcrum_json_add_text(schema, "description", text);
    if (field->kind == FULCRUM_FIELD_CHOICE) {
        struct json_object *choices = fulcrum_json_add_array(schema, "enum");
        for (int i = 0; field->choice(i) != NULL; i++) {
            fulcrum_json_add_text(choices, NULL, field->choice(i));
        }
        fulcrum_json_add_number(choices, NULL, (double)NAN); /* written as null */
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
static void add_fields(struct json_object *properties, enum fulcrum_preset_kind kind)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    struct json_object *group = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!fulcrum_preset_has_field(kind, &fields[i])) {
            continue;
        }
        const char *key = strchr(fields[i].path, '.') + 1;
        const char *dot = strchr(key, '.');
        if (dot == NULL) {
            add_field(properties, key, &fields[i]);
            continue;
        }
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
        if (!json_object_object_get_ex(properties, name, NULL)) {
            group = add_members(add_nullable(properties, name, "object"));
        }
        add_field(group, dot + 1, &fields[i]);
    }
}

/* Kind, name and title. */
static void add_head(struct json_object *properties, enum fulcrum_preset_kind kind)
{
    struct json_object *schema = fulcrum_json_add_object(properties, "kind");
    fulcrum_json_add_text(schema, "const", fulcrum_preset_kind_name(kind));
    struct json_object *name = add_typed(properties, "name", "string");
    fulcrum_json_add_number(name, "minLength", 1);
    add_text_limits(name, sizeof(((struct fulcrum_machine *)NULL)->name));
    struct json_object *title = add_typed(properties, "title", "string");
    add_text_limits(title, sizeof(((struct fulcrum_machine *)NULL)->title));
}

/* The same after name and version of the form, which a reader refuses if they are not
 * its own. */
static void add_versioned_head(
    struct json_object *properties, enum fulcrum_preset_kind kind)
{
    static const char *const required[] = {"name", "version", NULL};
    char name[32];
    struct json_object *schema = add_typed(properties, "schema", "object");
    add_required(schema, required);
    struct json_object *members = add_members(schema);
    (void)snprintf(name, sizeof name, "fulcrum-%s", fulcrum_preset_kind_name(kind));
    fulcrum_json_add_text(fulcrum_json_add_object(members, "name"), "const", name);
    fulcrum_json_add_number(
        fulcrum_json_add_object(members, "version"), "const", FULCRUM_FILE_VERSION);
    add_head(properties, kind);
}

/* That every field is covered is beyond JSON Schema; the reader checks it. */
static void add_cover(struct json_object *properties)
{
    struct json_object *source = add_typed(properties, "source", "object");
    fulcrum_json_add_text(source, "description",
        "where the value of a field, or of every field of a group, was read");
    (void)add_typed(source, "additionalProperties", "string");
    struct json_object *prior = add_typed(properties, "prior", "object");
    fulcrum_json_add_text(prior, "description",
        "fields without a source: why this value, and how far off it may be");
    struct json_object *entry = add_typed(prior, "additionalProperties", "object");
    static const char *const required[] = {"spread_factor", "reason", NULL};
    add_required(entry, required);
    struct json_object *members = add_members(entry);
    fulcrum_json_add_number(
        add_typed(members, "spread_factor", "number"), "minimum", 1.0);
    (void)add_typed(members, "reason", "string");
}

/* Numbers, or null where nothing was measured. */
static void add_number_array(struct json_object *properties, const char *key)
{
    struct json_object *array = add_typed(properties, key, "array");
    (void)add_nullable(array, "items", "number");
}

static void add_choices(
    struct json_object *properties, const char *key, fulcrum_record_names *names)
{
    struct json_object *schema = fulcrum_json_add_object(properties, key);
    struct json_object *choices = fulcrum_json_add_array(schema, "enum");
    for (int i = 0; names(i) != NULL; i++) {
        fulcrum_json_add_text(choices, NULL, names(i));
    }
}

static void add_row(
    struct json_object *properties, const struct fulcrum_record_row *row)
{
    struct json_object *schema = NULL;
    switch (row->kind) {
    case FULCRUM_RECORD_NUMBER:
    case FULCRUM_RECORD_WHOLE:
        schema = add_typed(properties, row->key,
            row->kind == FULCRUM_RECORD_WHOLE ? "integer" : "number");
        if (isfinite(row->least)) {
            fulcrum_json_add_number(schema, "minimum", row->least);
        }
        break;
    case FULCRUM_RECORD_MEASURED:
        (void)add_nullable(properties, row->key, "number");
        break;
    case FULCRUM_RECORD_COUNT:
        (void)add_typed(properties, row->key, "integer");
        break;
    case FULCRUM_RECORD_TEXT:
        (void)add_typed(properties, row->key, "string");
        break;
    case FULCRUM_RECORD_FLAG:
        (void)add_typed(properties, row->key, "boolean");
        break;
    case FULCRUM_RECORD_CHOICE:
        add_choices(properties, row->key, row->names);
        break;
    case FULCRUM_RECORD_PAIR:
    case FULCRUM_RECORD_NUMBERS:
        add_number_array(properties, row->key);
        break;
    }
}

/* An array of closed objects, texts before the rest; returns their members. */
static struct json_object *add_records(struct json_object *properties, const char *key,
    const struct fulcrum_record *record)
{
    struct json_object *array = add_typed(properties, key, "array");
    struct json_object *items = add_typed(array, "items", "object");
    struct json_object *required = fulcrum_json_add_array(items, "required");
    for (size_t i = 0; i < record->count; i++) {
        if (!record->rows[i].is_optional) {
            fulcrum_json_add_text(required, NULL, record->rows[i].key);
        }
    }
    for (size_t i = 0; record->others != NULL && record->others[i] != NULL; i++) {
        fulcrum_json_add_text(required, NULL, record->others[i]);
    }
    struct json_object *members = add_members(items);
    for (int is_text = 1; is_text >= 0; is_text--) {
        for (size_t i = 0; i < record->count; i++) {
            if ((record->rows[i].kind == FULCRUM_RECORD_TEXT) == is_text) {
                add_row(members, &record->rows[i]);
            }
        }
    }
    return members;
}

/*
 * A machine or workload inside another file: a preset's name, or its fields. Returns
 * the list of these forms.
 */
static struct json_object *add_half(
    struct json_object *properties, enum fulcrum_preset_kind kind)
{
    struct json_object *half =
        fulcrum_json_add_object(properties, fulcrum_preset_kind_name(kind));
    struct json_object *forms = fulcrum_json_add_array(half, "anyOf");
    fulcrum_json_add_text(fulcrum_json_add_object(forms, NULL), "type", "string");
    struct json_object *object = fulcrum_json_add_object(forms, NULL);
    fulcrum_json_add_text(object, "type", "object");
    struct json_object *members = add_members(object);
    (void)add_typed(members, "name", "string");
    (void)add_typed(members, "title", "string");
    add_fields(members, kind);
    return forms;
}

static void add_calibration(struct json_object *root)
{
    static const char *const required[] = {
        "schema", "kind", "name", "machine", "parameters", NULL};
    add_required(root, required);
    struct json_object *properties = add_members(root);
    add_versioned_head(properties, FULCRUM_PRESET_CALIBRATION);
    (void)add_typed(properties, "complete", "boolean");
    (void)add_half(properties, FULCRUM_PRESET_MACHINE);
    (void)add_records(properties, "parameters", &fulcrum_parameter_record);
    struct json_object *covariance = add_typed(properties, "covariance", "array");
    struct json_object *row = add_typed(covariance, "items", "array");
    (void)add_typed(row, "items", "number");
    add_number_array(add_typed(properties, "draws", "array"), "items");
    add_number_array(properties, "capacity");
    struct json_object *batch_time =
        add_members(add_typed(properties, "batch_time", "object"));
    add_number_array(batch_time, "size");
    add_number_array(batch_time, "time_s");
    (void)add_records(properties, "series", &fulcrum_series_record);
    (void)add_records(properties, "quantities", &fulcrum_quantity_record);
    (void)add_records(properties, "fits", &fulcrum_fit_record);
    struct json_object *notes = add_typed(properties, "notes", "object");
    (void)add_typed(notes, "additionalProperties", "string");
}

/* An object of any keys whose members are all alike; returns their schema. */
static struct json_object *add_map(
    struct json_object *properties, const char *key, const char *meaning)
{
    struct json_object *map = add_typed(properties, key, "object");
    fulcrum_json_add_text(map, "description", meaning);
    return fulcrum_json_add_object(map, "additionalProperties");
}

static void add_points(struct json_object *properties)
{
    static const char *const required[] = {"set", "observed", NULL};
    static const char *const needed[] = {"value", NULL};
    struct json_object *array = add_typed(properties, "points", "array");
    fulcrum_json_add_number(array, "minItems", 1);
    struct json_object *items = add_typed(array, "items", "object");
    add_required(items, required);
    struct json_object *members = add_members(items);
    (void)add_nullable(members, "series", "string");
    struct json_object *set = add_map(members, "set",
        "fields of the design, run.env_count, or words of the source without a dot");
    struct json_object *types = fulcrum_json_add_array(set, "type");
    fulcrum_json_add_text(types, NULL, "number");
    fulcrum_json_add_text(types, NULL, "string");
    struct json_object *item = add_map(members, "observed",
        "quantities with their unit in the name; frames_per_s becomes steps_per_s");
    fulcrum_json_add_text(item, "type", "object");
    add_required(item, needed);
    struct json_object *observation = add_members(item);
    (void)add_typed(observation, "value", "number");
    struct json_object *half_width = add_nullable(observation, "half_width", "number");
    fulcrum_json_add_number(half_width, "minimum", 0);
}

static void add_reference(struct json_object *root)
{
    static const char *const required[] = {
        "schema", "kind", "name", "source", "predictor", "points", NULL};
    static const char *const sourced[] = {"points", NULL};
    add_required(root, required);
    struct json_object *properties = add_members(root);
    add_versioned_head(properties, FULCRUM_PRESET_REFERENCE);
    struct json_object *source = add_typed(properties, "source", "object");
    fulcrum_json_add_text(
        source, "description", "where a member, series, setting or quantity was read");
    add_required(source, sourced);
    (void)add_typed(source, "additionalProperties", "string");
    (void)add_nullable(properties, "note", "string");
    for (int kind = FULCRUM_PRESET_MACHINE; kind <= FULCRUM_PRESET_WORKLOAD; kind++) {
        /* Some data are of no one machine. */
        struct json_object *forms =
            add_half(properties, (enum fulcrum_preset_kind)kind);
        fulcrum_json_add_text(fulcrum_json_add_object(forms, NULL), "type", "null");
    }
    (void)add_nullable(properties, "calibration", "string");
    struct json_object *calibrations = add_map(
        properties, "calibrations", "calibrations of single series, by their names");
    fulcrum_json_add_text(calibrations, "type", "string");
    add_choices(properties, "predictor", fulcrum_predictor_name);
    struct json_object *reason = add_nullable(properties, "not_predicted", "string");
    fulcrum_json_add_text(reason, "description", "why nothing predicts these points");
    struct json_object *skip = add_nullable(properties, "frame_skip", "integer");
    fulcrum_json_add_number(skip, "minimum", 1);
    fulcrum_json_add_number(skip, "maximum", FULCRUM_REFERENCE_FRAME_SKIP_MOST);
    fulcrum_json_add_number(
        add_nullable(properties, "relative_to", "integer"), "minimum", 0.0);
    add_points(properties);
}

static void add_partition(struct json_object *root)
{
    static const char *const required[] = {"schema", "kind", "name", "source", "gpu",
        "compute_slice_count", "memory_slice_count", "sm_count", "memory_byte",
        "profiles", NULL};
    static const char *const covered[] = {"profiles", NULL};
    add_required(root, required);
    struct json_object *properties = add_members(root);
    add_versioned_head(properties, FULCRUM_PRESET_PARTITION);
    struct json_object *source = add_typed(properties, "source", "object");
    add_required(source, covered);
    (void)add_typed(source, "additionalProperties", "string");
    struct json_object *gpu = add_typed(properties, "gpu", "string");
    fulcrum_json_add_text(gpu, "description", "as machine.gpu.name in machine files");
    for (size_t i = 5; i < 9; i++) {
        fulcrum_json_add_number(
            add_typed(properties, required[i], "integer"), "minimum", 1.0);
    }
    struct json_object *profile =
        add_records(properties, "profiles", &fulcrum_profile_record);
    struct json_object *starts = add_typed(profile, "starts", "array");
    fulcrum_json_add_text(starts, "description",
        "first memory slices that an instance of the profile may begin at");
    (void)add_typed(starts, "items", "integer");
}

enum fulcrum_status fulcrum_preset_schema(
    enum fulcrum_preset_kind kind, char **out, struct fulcrum_error *err)
{
    char title[64];
    (void)snprintf(
        title, sizeof title, "Fulcrum %s file", fulcrum_preset_kind_name(kind));
    struct json_object *root = fulcrum_json_new_object();
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
        struct json_object *properties = add_members(root);
        add_head(properties, kind);
        struct json_object *extends = add_typed(properties, "extends", "string");
        fulcrum_json_add_text(extends, "description",
            "a preset's name or a path; its fields hold unless this file gives them");
        add_cover(properties);
        add_fields(properties, kind);
    }
    enum fulcrum_status status = fulcrum_json_text(root, FULCRUM_JSON_PRETTY, out, err);
    json_object_put(root);
    return status;
}
