/* test_schema.c - the schemas say what the readers check, and our presets obey them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/io/json.h"
#include "presets/load/preset.h"
#include "tests/support/suite.h"

static struct json_object *schema_of(enum fulcrum_preset_kind kind)
{
    char *text = NULL;
    struct json_object *schema = NULL;
    ASSERT_OK(fulcrum_preset_schema(kind, &text, NULL));
    ASSERT_OK(fulcrum_document_parse("schema", 0, text, &schema, NULL));
    free(text);
    return schema;
}

static struct json_object *member(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    (void)json_object_object_get_ex(object, key, &value);
    return value;
}

/* The schema of "cpu.idle_w", or NULL. */
static struct json_object *property(struct json_object *schema, const char *path)
{
    char rest[80];
    (void)snprintf(rest, sizeof rest, "%s", path);
    char *part = rest;
    while (schema != NULL && part != NULL) {
        char *dot = strchr(part, '.');
        if (dot != NULL) {
            *dot = '\0';
        }
        schema = member(member(schema, "properties"), part);
        part = dot != NULL ? dot + 1 : NULL;
    }
    return schema;
}

static void assert_field(struct json_object *schema, const struct fulcrum_field *field)
{
    CU_ASSERT_PTR_NOT_NULL(member(schema, "description"));
    if (field->kind == FULCRUM_FIELD_TEXT) {
        CU_ASSERT_EQUAL(json_object_get_double(member(schema, "maxLength")),
            (double)field->size - 1);
    } else if (field->kind == FULCRUM_FIELD_CHOICE) {
        struct json_object *choices = member(schema, "enum");
        int count = (int)json_object_array_length(choices) - 1;
        CU_ASSERT_PTR_NULL(json_object_array_get_idx(choices, (size_t)count));
        CU_ASSERT_EQUAL((double)count, field->most + 1.0);
        CU_ASSERT_PTR_NULL(field->choice(count));
    } else {
        CU_ASSERT_EQUAL(
            json_object_get_double(member(schema, "minimum")), field->least);
        CU_ASSERT_EQUAL(json_object_get_double(member(schema, "maximum")), field->most);
        CU_ASSERT_EQUAL(member(schema, "default") != NULL, !isnan(field->fallback));
    }
}

TEST(test_every_field_stands_in_its_schema)
{
    struct json_object *schemas[] = {
        schema_of(FULCRUM_PRESET_MACHINE), schema_of(FULCRUM_PRESET_WORKLOAD)};
    size_t count = 0;
    size_t found = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        bool is_machine = strncmp(fields[i].path, "machine.", 8) == 0;
        bool is_workload = strncmp(fields[i].path, "workload.", 9) == 0;
        if (!is_machine && !is_workload) {
            continue;
        }
        struct json_object *schema =
            property(schemas[is_machine ? 0 : 1], strchr(fields[i].path, '.') + 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
        assert_field(schema, &fields[i]);
        found++;
    }
    CU_ASSERT(found > 60);
    json_object_put(schemas[0]);
    json_object_put(schemas[1]);
}

static void check_required(struct json_object *schema)
{
    struct json_object *required = member(schema, "required");
    size_t count = json_object_array_length(required);
    CU_ASSERT(count >= 2);
    for (size_t i = 0; i < count; i++) {
        struct json_object *key = json_object_array_get_idx(required, i);
        CU_ASSERT_PTR_NOT_NULL(property(schema, json_object_get_string(key)));
    }
}

TEST(test_each_schema_names_its_kind_and_what_it_needs)
{
    for (int kind = 0; kind < 5; kind++) {
        struct json_object *schema = schema_of((enum fulcrum_preset_kind)kind);
        struct json_object *name = member(property(schema, "kind"), "const");
        CU_ASSERT_STRING_EQUAL(
            json_object_get_string(name), fulcrum_preset_kind_name(kind));
        CU_ASSERT_STRING_EQUAL(json_object_get_string(member(schema, "$schema")),
            "https://json-schema.org/draft/2020-12/schema");
        check_required(schema);
        json_object_put(schema);
    }
    CU_ASSERT_PTR_NULL(fulcrum_preset_kind_name(5));
}

/* One object of a preset against its schema: keys, and the objects inside. */
struct pair {
    struct json_object *value;
    struct json_object *schema;
};

static size_t check_object(const struct pair *pair, struct pair *inside, size_t count)
{
    struct json_object *properties = member(pair->schema, "properties");
    struct json_object_iterator at = json_object_iter_begin(pair->value);
    struct json_object_iterator end = json_object_iter_end(pair->value);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        struct json_object *value = json_object_iter_peek_value(&at);
        struct json_object *schema =
            member(properties, json_object_iter_peek_name(&at));
        CU_ASSERT_PTR_NOT_NULL(schema);
        if (json_object_is_type(value, json_type_object) &&
            member(schema, "properties") != NULL) {
            inside[count].value = value;
            inside[count].schema = schema;
            count++;
        }
    }
    return count;
}

static void check_file(const char *file, struct json_object *schema)
{
    struct json_object *document = NULL;
    ASSERT_OK(fulcrum_document_read(file, &document, NULL));
    struct pair pairs[32] = {{document, schema}};
    size_t pending = 1;
    for (size_t i = 0; i < pending; i++) {
        pending = check_object(&pairs[i], pairs, pending);
    }
    fulcrum_document_free(document);
}

static void check_files(enum fulcrum_preset_kind kind)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(kind, &entries, &count, NULL));
    struct json_object *schema = schema_of(kind);
    for (size_t i = 0; i < count; i++) {
        check_file(entries[i].file, schema);
    }
    json_object_put(schema);
    free(entries);
}

TEST(test_shipped_presets_hold_only_what_the_schema_names)
{
    check_files(FULCRUM_PRESET_MACHINE);
    check_files(FULCRUM_PRESET_WORKLOAD);
    check_files(FULCRUM_PRESET_CALIBRATION);
    check_files(FULCRUM_PRESET_REFERENCE);
    check_files(FULCRUM_PRESET_PARTITION);
}
