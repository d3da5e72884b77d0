/* schema.c - the JSON Schema of each file kind, made from the field tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Made from the same rows that the reader checks with, so that an editor's opinion of a
 * file and ours agree on keys, types, ranges and choices. What stands in no table is
 * written as JSON, with single quotes. What JSON Schema cannot say (every field has a
 * source, a covariance is possible) is left to the reader.
 */
#include <assert.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "presets/io/json.h"
#include "presets/load/preset.h"
#include "presets/load/preset_file.h"
#include "presets/load/reference_file.h"

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
    fulcrum_json_add_members(object, text);
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
        struct json_object *choices = fulcrum_json_add_array(schema, "enum");
        for (int i = 0; field->choice(i) != NULL; i++) {
            fulcrum_json_add_text(choices, NULL, field->choice(i));
        }
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
        add_choices(properties, row->key, row->names);
    } else if (is_limited) {
        add(properties, "{'%s':{'type':%s,'minimum':%g}}", row->key, types[row->kind],
            row->least);
    } else {
        add(properties, "{'%s':{'type':%s}}", row->key, types[row->kind]);
    }
}

/* An array of closed objects, texts before the rest; returns their members. */
static struct json_object *add_records(struct json_object *properties, const char *key,
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
    return members;
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

/* That every field is covered is beyond JSON Schema; the reader checks it. */
static void add_design(struct json_object *properties, enum fulcrum_preset_kind kind)
{
    add(properties,
        "{'extends':{'type':'string','description':\"a preset's name or a path; its "
        "fields hold unless this file gives them\"},"
        "'source':{'type':['object','string'],'description':'where the value of a "
        "field, or of every field of a group, was read; a text: where all were','"
        "additionalProperties':{'type':'string'}},"
        "'prior':{'type':'object','description':'fields without a source: why this "
        "value, and how far off it may be','additionalProperties':{'type':'object',"
        "'required':['spread_factor','reason'],'additionalProperties':false,"
        "'properties':{'spread_factor':{'type':'number','minimum':1},"
        "'reason':{'type':'string'}}}}}");
    add_fields(properties, kind);
}

static void add_calibration(struct json_object *properties)
{
    add(properties, "{'complete':{'type':'boolean'}}");
    add_half(properties, FULCRUM_PRESET_MACHINE, false);
    (void)add_records(properties, "parameters", &fulcrum_parameter_record);
#define NUMBERS "{'type':'array','items':{'type':['number','null']}}"
    add(properties, "{'covariance':{'type':'array','items':{'type':'array','items':"
                    "{'type':'number'}}},'draws':{'type':'array','items':" NUMBERS "},"
                    "'capacity':" NUMBERS ",'batch_time':{'type':'object',"
                    "'additionalProperties':false,'properties':{'size':" NUMBERS
                    ",'time_s':" NUMBERS "}}}");
#undef NUMBERS
    (void)add_records(properties, "series", &fulcrum_series_record);
    (void)add_records(properties, "quantities", &fulcrum_quantity_record);
    (void)add_records(properties, "fits", &fulcrum_fit_record);
    add(properties,
        "{'notes':{'type':'object','additionalProperties':{'type':'string'}}}");
}

static void add_reference(struct json_object *properties)
{
    add(properties,
        "{'source':{'type':'object','description':'where a member, series, setting or "
        "quantity was read','required':['points'],"
        "'additionalProperties':{'type':'string'}},'note':{'type':['string','null']}}");
    add_half(properties, FULCRUM_PRESET_MACHINE, true);
    add_half(properties, FULCRUM_PRESET_WORKLOAD, true);
    add(properties,
        "{'calibration':{'type':['string','null']},"
        "'calibrations':{'type':'object','description':'calibrations of single series, "
        "by their names','additionalProperties':{'type':'string'}}}");
    add_choices(properties, "predictor", fulcrum_predictor_name);
    add(properties,
        "{'not_predicted':{'type':['string','null'],'description':'why nothing "
        "predicts these points'},'frame_skip':{'type':['integer','null'],'minimum':1,"
        "'maximum':%g},'relative_to':{'type':['integer','null'],'minimum':0}}",
        FULCRUM_REFERENCE_FRAME_SKIP_MOST);
    add(properties,
        "{'points':{'type':'array','minItems':1,'items':{'type':'object',"
        "'required':['set','observed'],'additionalProperties':false,'properties':{"
        "'series':{'type':['string','null']},"
        "'set':{'type':'object','description':'fields of the design, run.env_count, or "
        "words of the source without a dot',"
        "'additionalProperties':{'type':['number','string']}},"
        "'observed':{'type':'object','description':'quantities with their unit in the "
        "name; frames_per_s becomes steps_per_s','additionalProperties':{"
        "'type':'object','required':['value'],'additionalProperties':false,"
        "'properties':{'value':{'type':'number'},"
        "'half_width':{'type':['number','null'],'minimum':0}}}}}}}}");
}

static void add_partition(struct json_object *properties)
{
    add(properties,
        "{'source':{'type':'object','required':['profiles'],"
        "'additionalProperties':{'type':'string'}},"
        "'gpu':{'type':'string','description':'as machine.gpu.name in machine files'},"
        "'compute_slice_count':{'type':'integer','minimum':1},"
        "'memory_slice_count':{'type':'integer','minimum':1},"
        "'sm_count':{'type':'integer','minimum':1},"
        "'memory_byte':{'type':'integer','minimum':1}}");
    add(add_records(properties, "profiles", &fulcrum_profile_record),
        "{'starts':{'type':'array','description':'first memory slices that an instance "
        "of the profile may begin at','items':{'type':'integer'}}}");
}

enum fulcrum_status fulcrum_preset_schema(
    enum fulcrum_preset_kind kind, char **out, struct fulcrum_error *err)
{
    static const char partition[] =
        ",'source','gpu','compute_slice_count','memory_slice_count','sm_count',"
        "'memory_byte','profiles'";
    static const char *const required[] = {
        "", "", ",'machine','parameters'", ",'source','predictor','points'", partition};
    const char *name = fulcrum_preset_kind_name(kind);
    bool is_design = kind == FULCRUM_PRESET_MACHINE || kind == FULCRUM_PRESET_WORKLOAD;
    struct json_object *root = fulcrum_json_new_object();
    add(root,
        "{'$schema':'https://json-schema.org/draft/2020-12/schema','title':'Fulcrum %s "
        "file','type':'object','required':[%s'kind','name'%s],"
        "'additionalProperties':false}",
        name, is_design ? "" : "'schema',", required[kind]);
    struct json_object *properties = fulcrum_json_add_object(root, "properties");
    if (!is_design) {
        add(properties,
            "{'schema':{'type':'object','required':['name','version'],"
            "'additionalProperties':false,'properties':{'name':{'const':'fulcrum-%s'},"
            "'version':{'const':%d}}}}",
            name, FULCRUM_FILE_VERSION);
    }
    add(properties,
        "{'kind':{'const':'%s'},'name':{'type':'string','minLength':1,"
        "'maxLength':%zu},'title':{'type':'string','maxLength':%zu}}",
        name, sizeof(((struct fulcrum_machine *)NULL)->name) - 1,
        sizeof(((struct fulcrum_machine *)NULL)->title) - 1);
    if (kind == FULCRUM_PRESET_CALIBRATION) {
        add_calibration(properties);
    } else if (kind == FULCRUM_PRESET_REFERENCE) {
        add_reference(properties);
    } else if (kind == FULCRUM_PRESET_PARTITION) {
        add_partition(properties);
    } else {
        add_design(properties, kind);
    }
    enum fulcrum_status status = fulcrum_json_text(root, FULCRUM_JSON_PRETTY, out, err);
    json_object_put(root);
    return status;
}
