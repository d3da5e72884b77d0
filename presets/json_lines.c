/* json_lines.c - a head, rows and a tail of JSON lines, as one document. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/json_lines.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "presets/document.h"
#include "presets/text_file.h"

enum { LABEL_SIZE = 300 };

/* What was read so far. */
struct reading {
    const char *path;
    const struct fulcrum_json_lines *lines;
    size_t line;               /* from 1 */
    struct json_object *head;  /* owned */
    struct json_object *array; /* the head's, once there is one */
};

static enum fulcrum_status no_memory(
    const struct reading *reading, struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", reading->path);
}

static enum fulcrum_status take_head(
    struct reading *reading, struct json_object *head, struct fulcrum_error *err)
{
    struct json_object *array = json_object_new_array();
    reading->head = head;
    if (array == NULL ||
        json_object_object_add(head, reading->lines->rows, array) != 0) {
        json_object_put(array);
        return no_memory(reading, err);
    }
    reading->array = array;
    return FULCRUM_OK;
}

/* Members move from the tail to the head, which keeps its own. */
static enum fulcrum_status take_tail(
    struct reading *reading, struct json_object *tail, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    struct json_object_iterator at = json_object_iter_begin(tail);
    struct json_object_iterator end = json_object_iter_end(tail);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *key = json_object_iter_peek_name(&at);
        struct json_object *value = json_object_get(json_object_iter_peek_value(&at));
        if (json_object_object_get_ex(reading->head, key, NULL)) {
            json_object_put(value);
        } else if (json_object_object_add(reading->head, key, value) != 0) {
            json_object_put(value);
            status = no_memory(reading, err);
        }
    }
    json_object_put(tail);
    return status;
}

static enum fulcrum_status take_row(
    struct reading *reading, struct json_object *row, struct fulcrum_error *err)
{
    if (json_object_object_get_ex(row, reading->lines->tail, NULL)) {
        return take_tail(reading, row, err);
    }
    if (json_object_array_add(reading->array, row) != 0) {
        json_object_put(row);
        return no_memory(reading, err);
    }
    return FULCRUM_OK;
}

/* A line of `length` bytes with a zero byte behind it. */
static enum fulcrum_status read_line(
    struct reading *reading, const char *text, size_t length, struct fulcrum_error *err)
{
    char label[LABEL_SIZE];
    struct json_object *object = NULL;
    if (text[strspn(text, " \t\r")] == '\0') {
        return FULCRUM_OK;
    }
    (void)snprintf(
        label, sizeof label, "%.250s: line %zu", reading->path, reading->line);
    TRY(fulcrum_document_parse_line(label, text, length, &object, err));
    return reading->head == NULL ? take_head(reading, object, err)
                                 : take_row(reading, object, err);
}

static enum fulcrum_status read_lines(
    struct reading *reading, char *text, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    char *at = text;
    while (status == FULCRUM_OK && *at != '\0') {
        size_t length = strcspn(at, "\n");
        int is_last = at[length] == '\0';
        at[length] = '\0';
        reading->line++;
        status = read_line(reading, at, length, err);
        at += is_last ? length : length + 1;
    }
    if (status == FULCRUM_OK && reading->head == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT, "%s: is empty", reading->path);
    }
    return status;
}

enum fulcrum_status fulcrum_json_lines_read(const char *path,
    const struct fulcrum_json_lines *lines, struct json_object **out,
    struct fulcrum_error *err)
{
    char *text = NULL;
    size_t length = 0;
    struct reading reading = {.path = path, .lines = lines};
    enum fulcrum_status status = fulcrum_text_file_read(path, &text, &length, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    status = read_lines(&reading, text, err);
    free(text);
    if (status != FULCRUM_OK) {
        json_object_put(reading.head);
        return status;
    }
    *out = reading.head;
    return FULCRUM_OK;
}
