/* schema.c - the JSON Schema of each file kind, made from the field tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Made from the same rows that the reader checks with, so that an editor's opinion of a
 * file and ours agree on keys, types, ranges and choices. What stands in no table is
 * in schemas.json, where null stands for what the tables say. What JSON Schema cannot
 * say (every field has a source, a covariance is possible) is left to the reader.
 */
#include <assert.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/design/reference.h"
#include "model/try.h"
#include "presets/fulcrum_schemas.h"
#include "presets/io/json.h"
#include "presets/load/preset.h"
#include "presets/load/preset_file.h"

/* Adds the members that a format of printf's makes, braces around them. */
static void add(struct json_object *object, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

static void add(struct json_object *object, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert(length > 0 && (size_t)length < sizeof text);
    (void)length;
    struct json_object *members = json_tokener_parse(text);
    struct json_object_iter at;
    json_object_object_foreachC(members, at)
    {
        fulcrum_json_add_value(object, at.key, json_object_get(at.val));
    }
    json_object_put(members);
}

/* Returns the array of names. */
static struct json_object *add_choices(
    struct json_object *schema, fulcrum_record_names *names)
{
    struct json_object *choices = fulcrum_json_add_array(schema, "enum");
    for (int i = 0; names(i) != NULL; i++) {
        fulcrum_json_add_text(choices, NULL, names(i));
    }
    return choices;
}

/* A field; null stands for "not given" in every one. */
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
        struct json_object *choices = add_choices(schema, field->choice);
        fulcrum_json_add_number(choices, NULL, (double)NAN); /* written as null */
        fulcrum_json_add_text(schema, "default", field->choice((int)field->fallback));
        return;
    }
    if (field->kind == FULCRUM_FIELD_TEXT) {
        add(schema, "{'type':['string','null'],'maxLength':%zu}", field->size - 1);
        return;
    }
    add(schema, "{'type':['%s','null']}",
        field->kind == FULCRUM_FIELD_COUNT ? "integer" : "number");
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
    struct json_object *members = NULL;
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
            struct json_object *group = fulcrum_json_add_object(properties, name);
            add(group, "{'type':['object','null'],'additionalProperties':false}");
            members = fulcrum_json_add_object(group, "properties");
        }
        add_field(members, dot + 1, &fields[i]);
    }
}

static void describe(
    struct json_object *properties, const struct fulcrum_record_row *row)
{
    static const char *const types[] = {
        [FULCRUM_RECORD_NUMBER] = "'number'",
        [FULCRUM_RECORD_WHOLE] = "'integer'",
        [FULCRUM_RECORD_MEASURED] = "['number','null']",
        [FULCRUM_RECORD_COUNT] = "'integer'",
        [FULCRUM_RECORD_TEXT] = "'string'",
        [FULCRUM_RECORD_FLAG] = "'boolean'",
        [FULCRUM_RECORD_PAIR] = "'array','items':{'type':['number','null']}",
        [FULCRUM_RECORD_NUMBERS] = "'array','items':{'type':['number','null']}",
    };
    bool is_limited = row->kind <= FULCRUM_RECORD_WHOLE && isfinite(row->least);
    if (row->kind == FULCRUM_RECORD_CHOICE) {
        (void)add_choices(fulcrum_json_add_object(properties, row->key), row->names);
    } else if (is_limited) {
        add(properties, "{'%s':{'type':%s,'minimum':%g}}", row->key, types[row->kind],
            row->least);
    } else {
        add(properties, "{'%s':{'type':%s}}", row->key, types[row->kind]);
    }
}

/* An array of closed objects, texts before the rest. */
static void add_records(struct json_object *properties, const char *key,
    const struct fulcrum_record *record)
{
    struct json_object *array = fulcrum_json_add_object(properties, key);
    fulcrum_json_add_text(array, "type", "array");
    struct json_object *items = fulcrum_json_add_object(array, "items");
    fulcrum_json_add_text(items, "type", "object");
    struct json_object *required = fulcrum_json_add_array(items, "required");
    for (size_t i = 0; i < record->count; i++) {
        if (!record->rows[i].is_optional) {
            fulcrum_json_add_text(required, NULL, record->rows[i].key);
        }
    }
    for (size_t i = 0; record->others != NULL && record->others[i] != NULL; i++) {
        fulcrum_json_add_text(required, NULL, record->others[i]);
    }
    fulcrum_json_add_flag(items, "additionalProperties", false);
    struct json_object *members = fulcrum_json_add_object(items, "properties");
    for (int is_text = 1; is_text >= 0; is_text--) {
        for (size_t i = 0; i < record->count; i++) {
            if ((record->rows[i].kind == FULCRUM_RECORD_TEXT) == is_text) {
                describe(members, &record->rows[i]);
            }
        }
    }
    if (record == &fulcrum_profile_record) {
        add(members, "{'starts':{'type':'array','description':'first memory slices "
                     "that an instance of the profile may begin at',"
                     "'items':{'type':'integer'}}}");
    }
}

/*
 * A machine or workload inside another file: a preset's name, or its fields; null where
 * some data are of no one machine.
 */
static void add_half(
    struct json_object *properties, enum fulcrum_preset_kind kind, bool may_be_null)
{
    struct json_object *half =
        fulcrum_json_add_object(properties, fulcrum_preset_kind_name(kind));
    struct json_object *forms = fulcrum_json_add_array(half, "anyOf");
    fulcrum_json_add_text(fulcrum_json_add_object(forms, NULL), "type", "string");
    struct json_object *object = fulcrum_json_add_object(forms, NULL);
    add(object, "{'type':'object','additionalProperties':false}");
    struct json_object *members = fulcrum_json_add_object(object, "properties");
    add(members, "{'name':{'type':'string'},'title':{'type':'string'}}");
    add_fields(members, kind);
    if (may_be_null) {
        fulcrum_json_add_text(fulcrum_json_add_object(forms, NULL), "type", "null");
    }
}

/* What a null of the skeleton stands for: the fields, a half, a list, a choice. */
static void add_from_tables(
    struct json_object *properties, const char *key, enum fulcrum_preset_kind kind)
{
    static const struct {
        const char *key;
        const struct fulcrum_record *record;
    } lists[] = {{"parameters", &fulcrum_parameter_record},
        {"series", &fulcrum_series_record}, {"quantities", &fulcrum_quantity_record},
        {"fits", &fulcrum_fit_record}, {"profiles", &fulcrum_profile_record}};
    bool is_reference = kind == FULCRUM_PRESET_REFERENCE;
    if (strcmp(key, "machine") == 0) {
        add_half(properties, FULCRUM_PRESET_MACHINE, is_reference);
    } else if (strcmp(key, "workload") == 0) {
        add_half(properties, FULCRUM_PRESET_WORKLOAD, is_reference);
    } else if (strcmp(key, "predictor") == 0) {
        (void)add_choices(
            fulcrum_json_add_object(properties, key), fulcrum_predictor_name);
    } else if (strcmp(key, "fields of the kind") == 0) {
        add_fields(properties, kind);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(key, lists[i].key) == 0) {
            add_records(properties, key, lists[i].record);
        }
    }
}

/* That every field is covered is beyond JSON Schema; the reader checks it. */
enum fulcrum_status fulcrum_preset_schema(
    enum fulcrum_preset_kind kind, char **out, struct fulcrum_error *err)
{
    struct json_tokener *tokener = json_tokener_new();
    TRY_MEMORY(tokener, err, "a JSON Schema");
    struct json_object *skeletons = json_tokener_parse_ex(
        tokener, (const char *)fulcrum_schemas, (int)sizeof fulcrum_schemas);
    struct json_object *skeleton =
        json_object_object_get(skeletons, fulcrum_preset_kind_name(kind));
    struct json_object *root = fulcrum_json_new_object();
    struct json_object_iter at;
    json_object_object_foreachC(skeleton, at)
    {
        if (strcmp(at.key, "properties") != 0) {
            fulcrum_json_add_value(root, at.key, json_object_get(at.val));
        }
    }
    struct json_object *properties = fulcrum_json_add_object(root, "properties");
    skeleton = json_object_object_get(skeleton, "properties");
    json_object_object_foreachC(skeleton, at)
    {
        if (at.val != NULL) {
            fulcrum_json_add_value(properties, at.key, json_object_get(at.val));
        } else {
            add_from_tables(properties, at.key, kind);
        }
    }
    enum fulcrum_status status = fulcrum_json_text(root, FULCRUM_JSON_PRETTY, out, err);
    json_object_put(root);
    json_object_put(skeletons);
    json_tokener_free(tokener);
    return status;
}
