/* json.c - building and writing JSON documents, the same bytes for the same content. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json-c keeps the values, and they are written by hand, because output must be the
 * same bytes everywhere: shortest digits that read back, layout. Every object and array
 * knows the outermost value, as its user data; that of the outermost is itself, until
 * memory ran out.
 */
#define _POSIX_C_SOURCE 200809L
#include "presets/io/json.h"

#include <json-c/json.h>
#include <json-c/json_visit.h>
#include <math.h>
#include <stdbool.h>
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

static struct json_object *add_container(
    struct json_object *parent, const char *key, struct json_object *value)
{
    struct json_object *added = add(parent, key, value);
    if (added != NULL) {
        json_object_set_userdata(added, json_object_get_userdata(parent), NULL);
    }
    return added;
}

struct json_object *fulcrum_json_add_object(struct json_object *parent, const char *key)
{
    return add_container(parent, key, json_object_new_object());
}

struct json_object *fulcrum_json_add_array(struct json_object *parent, const char *key)
{
    return add_container(parent, key, json_object_new_array());
}

void fulcrum_json_add_members(struct json_object *object, const char *text)
{
    struct json_object *members = json_tokener_parse(text);
    struct json_object_iter at;
    json_object_object_foreachC(members, at)
    {
        (void)add(object, at.key, json_object_get(at.val));
    }
    if (members == NULL) {
        (void)add(object, "", NULL);
    }
    json_object_put(members);
}

struct writer {
    FILE *stream;
    enum fulcrum_json_layout layout;
    int depth;
    bool is_first; /* nothing stands in the innermost object or array yet */
};

/* Host names and paths may hold any byte: what is no UTF-8 becomes U+FFFD. */
static void write_text(FILE *stream, const char *text)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    (void)fputc('"', stream);
    for (size_t length = 0; *text != '\0'; text += length) {
        const char *found = strchr(plain, *text);
        length = fulcrum_utf8_length(text);
        if (length == 0) {
            (void)fputs("\xef\xbf\xbd", stream);
            length = 1;
        } else if (found != NULL) {
            (void)fprintf(stream, "\\%c", letter[found - plain]);
        } else if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            (void)fprintf(stream, "\\u%04x", (unsigned)*text);
        } else {
            (void)fwrite(text, 1, length, stream);
        }
    }
    (void)fputc('"', stream);
}

/* Shortest text that reads back the same; the decimal point of any locale becomes '.'.
 */
static void write_number(FILE *stream, double value)
{
    char text[40];
    if (!isfinite(value)) {
        (void)fputs("null", stream);
        return;
    }
    if (fabs(value) < 1e15 && value == trunc(value)) {
        /* Adding 0 turns -0 into 0. */
        (void)fprintf(stream, "%.0f", value + 0.0);
        return;
    }
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
    (void)fputs(text, stream);
}

static bool is_container(struct json_object *json)
{
    return json_object_is_type(json, json_type_object) ||
           json_object_is_type(json, json_type_array);
}

/* Arrays of numbers and names stay on one line: they can be long. */
static bool is_broken(const struct writer *writer, struct json_object *json)
{
    if (writer->layout == FULCRUM_JSON_LINE) {
        return false;
    }
    return json_object_is_type(json, json_type_object)
               ? json_object_object_length(json) > 0
               : json_object_array_length(json) > 0 &&
                     is_container(json_object_array_get_idx(json, 0));
}

static void break_line(const struct writer *writer)
{
    (void)fprintf(writer->stream, "\n%*s", 2 * writer->depth, "");
}

/* What comes before a value: the comma, the line break and its key. */
static void write_lead(
    const struct writer *writer, struct json_object *parent, const char *key)
{
    bool is_line = writer->layout == FULCRUM_JSON_LINE;
    bool broken = is_broken(writer, parent);
    if (!writer->is_first) {
        (void)fputs(broken || is_line ? "," : ", ", writer->stream);
    }
    if (broken) {
        break_line(writer);
    }
    if (key != NULL) {
        write_text(writer->stream, key);
        (void)fputs(is_line ? ":" : ": ", writer->stream);
    }
}

static void write_end(struct writer *writer, struct json_object *json)
{
    writer->depth--;
    writer->is_first = false;
    if (is_broken(writer, json)) {
        break_line(writer);
    }
    (void)fputc(
        json_object_is_type(json, json_type_object) ? '}' : ']', writer->stream);
}

/* json-c's visitor, which comes to objects and arrays once more at their end.
 * NOLINTBEGIN(readability-function-size,readability-non-const-parameter) */
static int write_value(struct json_object *json, int flags, struct json_object *parent,
    const char *key, size_t *index, void *user)
{
    struct writer *writer = user;
    (void)index;
    if (flags == JSON_C_VISIT_SECOND) {
        write_end(writer, json);
        return JSON_C_VISIT_RETURN_CONTINUE;
    }
    if (parent != NULL) {
        write_lead(writer, parent, key);
    }
    writer->is_first = is_container(json);
    if (writer->is_first) {
        writer->depth++;
        (void)fputc(
            json_object_is_type(json, json_type_object) ? '{' : '[', writer->stream);
    } else if (json_object_is_type(json, json_type_string)) {
        write_text(writer->stream, json_object_get_string(json));
    } else if (json_object_is_type(json, json_type_boolean)) {
        (void)fputs(json_object_get_boolean(json) ? "true" : "false", writer->stream);
    } else {
        write_number(
            writer->stream, json != NULL ? json_object_get_double(json) : (double)NAN);
    }
    return JSON_C_VISIT_RETURN_CONTINUE;
}
/* NOLINTEND(readability-function-size,readability-non-const-parameter) */

enum fulcrum_status fulcrum_json_text(struct json_object *json,
    enum fulcrum_json_layout layout, char **out, struct fulcrum_error *err)
{
    char *text = NULL;
    size_t length = 0;
    bool is_whole = json != NULL && json_object_get_userdata(json) != NULL;
    FILE *stream = is_whole ? open_memstream(&text, &length) : NULL;
    TRY_MEMORY(stream, err, "a JSON document");
    struct writer writer = {stream, layout, 0, true};
    int failed = json_c_visit(json, 0, write_value, &writer);
    (void)fputc('\n', stream);
    failed = failed || ferror(stream);
    if (fclose(stream) != 0 || failed) {
        free(text);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a JSON document");
    }
    *out = text;
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
