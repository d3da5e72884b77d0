/* json.c - building and writing JSON documents, the same bytes for the same content. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json-c keeps the values, and they are written by hand, because output must be the
 * same bytes everywhere: shortest digits that read back, layout. Every object and array
 * knows the outermost value, as its user data; that of the outermost is itself, until
 * memory ran out.
 */
#include "presets/io/json.h"

#include <json-c/json.h>
#include <json-c/json_visit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/string.h"
#include "model/try.h"
#include "presets/io/output.h"

struct json_object *fulcrum_json_new_object(void)
{
    struct json_object *json = json_object_new_object();
    if (json != NULL) {
        json_object_set_userdata(json, json, NULL);
    }
    return json;
}

static bool is_container(struct json_object *json)
{
    return json_object_is_type(json, json_type_object) ||
           json_object_is_type(json, json_type_array);
}

/* Takes `value` over and returns it; NULL (and the document is marked) where memory ran
 * out. */
static struct json_object *add(
    struct json_object *parent, const char *key, struct json_object *value)
{
    struct json_object *root = parent != NULL ? json_object_get_userdata(parent) : NULL;
    if (root == NULL) {
        json_object_put(value);
        return NULL;
    }
    bool is_added =
        value != NULL && (key != NULL ? json_object_object_add_ex(parent, key, value,
                                            JSON_C_OBJECT_ADD_KEY_IS_NEW)
                                      : json_object_array_add(parent, value)) == 0;
    if (!is_added) {
        json_object_put(value);
        json_object_set_userdata(root, NULL, NULL);
        return NULL;
    }
    if (is_container(value)) {
        json_object_set_userdata(value, root, NULL);
    }
    return value;
}

void fulcrum_json_add_number(struct json_object *parent, const char *key, double value)
{
    (void)add(parent, key, json_object_new_double(value));
}

void fulcrum_json_add_text(
    struct json_object *parent, const char *key, const char *value)
{
    (void)add(parent, key, json_object_new_string(value));
}

void fulcrum_json_add_flag(struct json_object *parent, const char *key, bool value)
{
    (void)add(parent, key, json_object_new_boolean(value));
}

void fulcrum_json_add_numbers(
    struct json_object *parent, const char *key, const double *values, size_t count)
{
    struct json_object *array = fulcrum_json_add_array(parent, key);
    for (size_t i = 0; i < count; i++) {
        fulcrum_json_add_number(array, NULL, values[i]);
    }
}

struct json_object *fulcrum_json_add_object(struct json_object *parent, const char *key)
{
    return add(parent, key, json_object_new_object());
}

struct json_object *fulcrum_json_add_array(struct json_object *parent, const char *key)
{
    return add(parent, key, json_object_new_array());
}

void fulcrum_json_add_value(
    struct json_object *parent, const char *key, struct json_object *value)
{
    (void)add(parent, key, value);
}

/* Host names and paths may hold any byte: what is no UTF-8 becomes U+FFFD. */
void fulcrum_json_quote(struct fulcrum_string *out, const char *text)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    fulcrum_string_append(out, "\"", 1);
    for (size_t length = 0; *text != '\0'; text += length) {
        const char *found = strchr(plain, *text);
        /* Most texts are ASCII that JSON takes as it is. */
        length = 0;
        while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' &&
               text[length] != '\\') {
            length++;
        }
        length = length > 0 ? length : fulcrum_utf8_length(text);
        if (length == 0) {
            fulcrum_string_append(out, "\xef\xbf\xbd", 3);
            length = 1;
        } else if (found != NULL) {
            fulcrum_string_add(out, "\\%c", letter[found - plain]);
        } else if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            fulcrum_string_add(out, "\\u%04x", (unsigned)*text);
        } else {
            fulcrum_string_append(out, text, length);
        }
    }
    fulcrum_string_append(out, "\"", 1);
}

/* Shortest text that reads back the same; the decimal point of any locale becomes '.'.
 */
void fulcrum_json_number(struct fulcrum_string *out, double value)
{
    char text[40] = "null";
    if (isfinite(value) && fabs(value) < 1e15 && value == trunc(value)) {
        /* Adding 0 turns -0 into 0. */
        (void)snprintf(text, sizeof text, "%.0f", value + 0.0);
    } else if (isfinite(value)) {
        for (int digits = 15; digits <= 17; digits++) {
            (void)snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value) {
                break;
            }
        }
        for (char *c = text; *c != '\0'; c++) {
            if (strchr("0123456789+-e", *c) == NULL) {
                *c = '.';
            }
        }
    }
    fulcrum_string_append(out, text, strlen(text));
}

struct writer {
    struct fulcrum_string out;
    enum fulcrum_json_layout layout;
    int depth;
    bool is_first; /* nothing stands in the innermost object or array yet */
};

/* A new line, but for arrays of numbers and names: they can be long. Returns whether
 * there is one. */
static bool break_line(struct writer *writer, struct json_object *json)
{
    bool is_object = json_object_is_type(json, json_type_object);
    bool is_broken = writer->layout == FULCRUM_JSON_PRETTY &&
                     (is_object ? json_object_object_length(json) > 0
                                : is_container(json_object_array_get_idx(json, 0)));
    if (is_broken) {
        fulcrum_string_add(&writer->out, "\n%*s", 2 * writer->depth, "");
    }
    return is_broken;
}

/* What comes before a value: the comma, the line break and its key. */
static void write_lead(
    struct writer *writer, struct json_object *parent, const char *key)
{
    bool is_line = writer->layout == FULCRUM_JSON_LINE;
    fulcrum_string_append(&writer->out, ",", writer->is_first ? 0 : 1);
    bool is_broken = break_line(writer, parent);
    fulcrum_string_append(
        &writer->out, " ", writer->is_first || is_broken || is_line ? 0 : 1);
    if (key != NULL) {
        fulcrum_json_quote(&writer->out, key);
        fulcrum_string_append(&writer->out, ": ", is_line ? 1 : 2);
    }
}

/* json-c's visitor, which comes to objects and arrays once more at their end.
 * NOLINTBEGIN(readability-function-size,readability-non-const-parameter) */
static int write_value(struct json_object *json, int flags, struct json_object *parent,
    const char *key, size_t *index, void *user)
{
    struct writer *writer = user;
    bool is_object = json_object_is_type(json, json_type_object);
    (void)index;
    if (flags == JSON_C_VISIT_SECOND) {
        writer->depth--;
        writer->is_first = false;
        (void)break_line(writer, json);
        fulcrum_string_append(&writer->out, is_object ? "}" : "]", 1);
        return JSON_C_VISIT_RETURN_CONTINUE;
    }
    if (parent != NULL) {
        write_lead(writer, parent, key);
    }
    writer->is_first = is_container(json);
    if (writer->is_first) {
        writer->depth++;
        fulcrum_string_append(&writer->out, is_object ? "{" : "[", 1);
    } else if (json_object_is_type(json, json_type_string)) {
        fulcrum_json_quote(&writer->out, json_object_get_string(json));
    } else if (json_object_is_type(json, json_type_boolean)) {
        fulcrum_string_add(
            &writer->out, json_object_get_boolean(json) ? "true" : "false");
    } else {
        fulcrum_json_number(
            &writer->out, json != NULL ? json_object_get_double(json) : (double)NAN);
    }
    return JSON_C_VISIT_RETURN_CONTINUE;
}
/* NOLINTEND(readability-function-size,readability-non-const-parameter) */

enum fulcrum_status fulcrum_json_text(struct json_object *json,
    enum fulcrum_json_layout layout, char **out, struct fulcrum_error *err)
{
    struct writer writer = {{0}, layout, 0, true};
    bool is_whole = json != NULL && json_object_get_userdata(json) != NULL &&
                    json_c_visit(json, 0, write_value, &writer) == 0;
    fulcrum_string_append(&writer.out, "\n", 1);
    if (!is_whole || writer.out.is_lost) {
        fulcrum_string_clear(&writer.out);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a JSON document");
    }
    *out = writer.out.chars;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_json_save(
    struct json_object *json, const char *path, struct fulcrum_error *err)
{
    char *text = NULL;
    enum fulcrum_status status =
        fulcrum_json_text(json, FULCRUM_JSON_PRETTY, &text, err);
    json_object_put(json);
    if (status == FULCRUM_OK) {
        status = fulcrum_output_text(path, text, err);
    }
    free(text);
    return status;
}
