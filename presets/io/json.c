/* json.c - JSON documents: built and written, the same bytes each time, and read. */
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
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/string.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/io/reader.h"

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

/* Strict reading of one JSON object from a file or from text. */

enum { MAX_DEPTH = 32 };

struct source {
    const char *label;
    const char *text;
    bool is_line; /* of a stream: the label says which */
    struct fulcrum_error *err;
};

/* Columns count bytes, as compilers do. */
static enum fulcrum_status fail_at(
    const struct source *source, size_t offset, const char *what, const char *detail)
{
    FAIL_IF(source->is_line, source->err, FULCRUM_ERR_FORMAT, "%s, column %zu: %s%s",
        source->label, offset + 1, what, detail);
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < offset; i++) {
        column++;
        if (source->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return fulcrum_fail(source->err, FULCRUM_ERR_FORMAT,
        "%s: line %zu, column %zu: %s%s", source->label, line, column, what, detail);
}

/*
 * A second look at text that json-c took. json-c keeps the last of two equal keys
 * without a word, lets raw control characters and surrogates into strings, takes keys
 * between single quotes and reads "1." as 1.
 */
struct scan {
    const struct source *source;
    const char *next;
    size_t depth;
    struct json_object *keys[MAX_DEPTH + 1]; /* seen in each open object; NULL: array */
};

static enum fulcrum_status fail_scan(
    const struct scan *scan, const char *at, const char *what, const char *detail)
{
    return fail_at(scan->source, (size_t)(at - scan->source->text), what, detail);
}

/* `next` goes from an opening quote to behind the closing one. */
static enum fulcrum_status skip_string(struct scan *scan)
{
    scan->next++;
    while (*scan->next != '"') {
        if ((unsigned char)*scan->next < 0x20) {
            return fail_scan(
                scan, scan->next, "a control character inside a string", "");
        }
        size_t length = fulcrum_utf8_length(scan->next);
        if (length == 0) {
            return fail_scan(scan, scan->next, "bytes that are no UTF-8", "");
        }
        scan->next += *scan->next == '\\' ? 2 : length;
    }
    scan->next++;
    return FULCRUM_OK;
}

/*
 * The key whose opening quote is `open`, as it was meant, so that escaped forms are
 * equal; few keys have escapes, and need the parser again. The caller puts it.
 */
static struct json_object *read_key(const struct scan *scan, const char *open)
{
    size_t length = (size_t)(scan->next - open);
    if (memchr(open, '\\', length) == NULL) {
        return json_object_new_string_len(open + 1, (int)length - 2);
    }
    struct json_tokener *tokener = json_tokener_new();
    if (tokener == NULL) {
        return NULL;
    }
    struct json_object *key = json_tokener_parse_ex(tokener, open, (int)length);
    json_tokener_free(tokener);
    return key;
}

/* `open` is the opening quote of a key. */
static enum fulcrum_status note_key(struct scan *scan, const char *open)
{
    struct json_object *keys = scan->keys[scan->depth];
    struct json_object *key = read_key(scan, open);
    TRY_MEMORY(key, scan->source->err, "%s", scan->source->label);
    enum fulcrum_status status = FULCRUM_OK;
    const char *name = json_object_get_string(key);
    if (json_object_object_get_ex(keys, name, NULL)) {
        status = fail_scan(scan, open, "a key is given twice: ", name);
    } else if (json_object_object_add(keys, name, NULL) != 0) {
        status = fulcrum_fail(
            scan->source->err, FULCRUM_ERR_NO_MEMORY, "%s", scan->source->label);
    }
    json_object_put(key);
    return status;
}

/* json-c stops at the same depth; the check keeps the array of keys safe by itself. */
static enum fulcrum_status scan_open(struct scan *scan)
{
    if (scan->depth == MAX_DEPTH) {
        return fail_scan(scan, scan->next, "nested too deep", "");
    }
    scan->depth++;
    if (*scan->next == '{') {
        scan->keys[scan->depth] = json_object_new_object();
        TRY_MEMORY(
            scan->keys[scan->depth], scan->source->err, "%s", scan->source->label);
    }
    scan->next++;
    return FULCRUM_OK;
}

static enum fulcrum_status scan_token(struct scan *scan)
{
    char c = *scan->next;
    if (c == '"') {
        const char *open = scan->next;
        enum fulcrum_status status = skip_string(scan);
        if (status != FULCRUM_OK || scan->keys[scan->depth] == NULL) {
            return status;
        }
        size_t blank = strspn(scan->next, " \t\r\n");
        return scan->next[blank] == ':' ? note_key(scan, open) : FULCRUM_OK;
    }
    if (c == '{' || c == '[') {
        return scan_open(scan);
    }
    if (c == '}' || c == ']') {
        /* json-c has matched the brackets; the check keeps the array of keys safe by
         * itself. */
        if (scan->depth == 0) {
            return fail_scan(scan, scan->next, "a bracket that closes nothing", "");
        }
        json_object_put(scan->keys[scan->depth]);
        scan->keys[scan->depth] = NULL;
        scan->depth--;
        scan->next++;
        return FULCRUM_OK;
    }
    if (c == '\'') {
        return fail_scan(scan, scan->next, "a string needs double quotes", "");
    }
    if (c == '.' && strchr("0123456789", scan->next[1]) == NULL) {
        return fail_scan(scan, scan->next, "digits must follow a decimal point", "");
    }
    scan->next++;
    return FULCRUM_OK;
}

static enum fulcrum_status scan_text(const struct source *source)
{
    struct scan scan = {source, source->text, 0, {NULL}};
    enum fulcrum_status status = FULCRUM_OK;
    while (status == FULCRUM_OK && *scan.next != '\0') {
        status = scan_token(&scan);
    }
    for (size_t i = 0; i <= MAX_DEPTH; i++) {
        json_object_put(scan.keys[i]);
    }
    return status;
}

enum fulcrum_status fulcrum_document_parse(const char *label, bool is_line,
    const char *text, struct json_object **out, struct fulcrum_error *err)
{
    size_t length = strlen(text);
    const struct source source[] = {{label, text, is_line, err}};
    FAIL_IF(length >= INT_MAX, source->err, FULCRUM_ERR_FORMAT,
        "%s: is larger than 2 GiB", source->label);
    FAIL_IF(source->text[strspn(source->text, " \t\r\n")] == '\0', source->err,
        FULCRUM_ERR_FORMAT, "%s: is empty", source->label);
    struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
    TRY_MEMORY(tokener, source->err, "%s", source->label);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *document =
        json_tokener_parse_ex(tokener, source->text, (int)length + 1);
    enum fulcrum_status status = FULCRUM_OK;
    if (json_tokener_get_error(tokener) != json_tokener_success) {
        /* json-c's own words, but for text that just stops, which it reports in many
         * ways. */
        enum json_tokener_error error = json_tokener_get_error(tokener);
        size_t end = json_tokener_get_parse_end(tokener);
        const char *what = json_tokener_error_desc(error);
        if (error == json_tokener_continue || error == json_tokener_error_parse_eof) {
            what = "the text ends inside the object";
            end = strlen(source->text);
        } else if (source->text[end] == '\0') {
            what = "the text ends inside a value";
        }
        status = fail_at(source, end, what, "");
    } else if (!json_object_is_type(document, json_type_object)) {
        status = fulcrum_fail(source->err, FULCRUM_ERR_FORMAT,
            "%s: expected a JSON object, from { to }", source->label);
    } else {
        status = scan_text(source);
    }
    json_tokener_free(tokener);
    if (status == FULCRUM_OK) {
        *out = document;
    } else {
        json_object_put(document);
    }
    return status;
}

enum fulcrum_status fulcrum_document_read(
    const char *path, struct json_object **out, struct fulcrum_error *err)
{
    char *text = NULL;
    TRY(fulcrum_text_file_read(path, &text, err));
    enum fulcrum_status status = fulcrum_document_parse(path, 0, text, out, err);
    free(text);
    return status;
}

void fulcrum_document_free(struct json_object *document)
{
    json_object_put(document);
}

/* A head, rows and a tail of JSON lines, as one document. */

#define ROWS "points"
#define TAIL "finding"

/* Takes the object of a line over; false without memory. The head keeps its own members
 * where the tail repeats them. */
static bool take(struct json_object **head, struct json_object *object)
{
    struct json_object *rows = NULL;
    bool is_taken = true;
    if (*head == NULL) {
        *head = object;
        rows = json_object_new_array();
        return rows != NULL && json_object_object_add(object, ROWS, rows) == 0;
    }
    if (!json_object_object_get_ex(object, TAIL, NULL)) {
        (void)json_object_object_get_ex(*head, ROWS, &rows);
        return json_object_array_add(rows, object) == 0;
    }
    struct json_object_iter at;
    json_object_object_foreachC(object, at)
    {
        if (!json_object_object_get_ex(*head, at.key, NULL)) {
            struct json_object *value = json_object_get(at.val);
            is_taken = json_object_object_add(*head, at.key, value) == 0 && is_taken;
        }
    }
    json_object_put(object);
    return is_taken;
}

static enum fulcrum_status read_lines(
    const char *path, char *text, struct json_object **head, struct fulcrum_error *err)
{
    char label[300];
    size_t line = 0;
    for (char *next = text; next != NULL;) {
        char *at = next;
        size_t length = strcspn(at, "\n");
        next = at[length] != '\0' ? at + length + 1 : NULL;
        at[length] = '\0';
        line++;
        if (at[strspn(at, " \t\r")] != '\0') {
            struct json_object *object = NULL;
            (void)snprintf(label, sizeof label, "%.250s: line %zu", path, line);
            TRY(fulcrum_document_parse(label, 1, at, &object, err));
            FAIL_IF(!take(head, object), err, FULCRUM_ERR_NO_MEMORY, "%s", path);
        }
    }
    FAIL_IF(*head == NULL, err, FULCRUM_ERR_FORMAT, "%s: is empty", path);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_json_lines_read(
    const char *path, struct json_object **out, struct fulcrum_error *err)
{
    char *text = NULL;
    struct json_object *head = NULL;
    TRY(fulcrum_text_file_read(path, &text, err));
    enum fulcrum_status status = read_lines(path, text, &head, err);
    free(text);
    if (status == FULCRUM_OK) {
        *out = head;
    } else {
        json_object_put(head);
    }
    return status;
}
