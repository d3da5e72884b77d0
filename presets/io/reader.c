/* reader.c - text files, and values of a JSON document by path with their faults. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node carries its path, so that every fault names the place as the user would look
 * for it. Faults are collected, not returned one by one: a file with three mistakes is
 * corrected once. Code that reads needs no error handling in between; the status is
 * asked for at the end.
 */
#define _POSIX_C_SOURCE 200809L
#include "presets/io/reader.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/string.h"
#include "model/try.h"

/* How much of a wrong value a message repeats. */
enum { SHOWN_BYTES = 60 };

void fulcrum_reader_fault(
    struct fulcrum_reader *reader, enum fulcrum_status status, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)fulcrum_fail_more(&reader->faults, status, "%s: %s", reader->file, text);
}

void fulcrum_reader_adopt(
    struct fulcrum_reader *reader, const struct fulcrum_error *failure)
{
    const char *line = failure->detail;
    while (*line != '\0') {
        int length = (int)strcspn(line, "\n");
        fulcrum_reader_fault(reader, failure->status, "%.*s", length, line);
        line += length;
        line += *line == '\n' ? 1 : 0;
    }
}

enum fulcrum_status fulcrum_reader_finish(
    const struct fulcrum_reader *reader, struct fulcrum_error *err)
{
    enum fulcrum_status status = reader->faults.status;
    return status == FULCRUM_OK
               ? status
               : fulcrum_fail(err, status, "%s", reader->faults.detail);
}

void fulcrum_node_fault(const struct fulcrum_node *node, enum fulcrum_status status,
    const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (node->json == NULL) {
        fulcrum_reader_fault(
            node->reader, status, "%s is not given: %s", node->path, text);
        return;
    }
    /* Cuts a long value, not inside a UTF-8 sequence. */
    const char *shown = json_object_to_json_string_ext(
        node->json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    size_t length = strlen(shown);
    const char *rest = "";
    if (length > SHOWN_BYTES) {
        length = SHOWN_BYTES;
        rest = "...";
    }
    while (length > 0 && ((unsigned char)shown[length] & 0xc0) == 0x80) {
        length--;
    }
    fulcrum_reader_fault(node->reader, status, "%s = %.*s%s: %s", node->path,
        (int)length, shown, rest, text);
}

struct fulcrum_node fulcrum_node_root(
    struct fulcrum_reader *reader, struct json_object *document)
{
    return (struct fulcrum_node){reader, document, ""};
}

struct fulcrum_node fulcrum_node_member(
    const struct fulcrum_node *object, const char *key)
{
    struct fulcrum_node node = {object->reader, NULL, ""};
    /* Of what is longer than any real path the beginning is enough. */
    (void)snprintf(node.path, sizeof node.path, "%.80s%s%.70s", object->path,
        object->path[0] != '\0' ? "." : "", key);
    /* Keys come from a file: control characters must not reach a terminal. */
    for (char *c = node.path; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    if (json_object_is_type(object->json, json_type_object)) {
        (void)json_object_object_get_ex(object->json, key, &node.json);
    }
    return node;
}

struct fulcrum_node fulcrum_node_element(const struct fulcrum_node *array, size_t index)
{
    struct fulcrum_node node = {array->reader, NULL, ""};
    (void)snprintf(node.path, sizeof node.path, "%.130s[%zu]", array->path, index);
    if (json_object_is_type(array->json, json_type_array)) {
        node.json = json_object_array_get_idx(array->json, index);
    }
    return node;
}

/* NULL where the number is good, else what was expected. */
static const char *read_number(struct json_object *json, double *out)
{
    if (json_object_is_type(json, json_type_int)) {
        if (json_object_get_int64(json) == INT64_MIN ||
            json_object_get_uint64(json) == UINT64_MAX) {
            return "expected a number; whole ones beyond 1e19 need an exponent";
        }
        *out = json_object_get_double(json);
        return NULL;
    }
    if (!json_object_is_type(json, json_type_double)) {
        return "expected a number";
    }
    double value = json_object_get_double(json);
    if (!isfinite(value)) {
        return "expected a finite number";
    }
    *out = value;
    return NULL;
}

int fulcrum_node_number(const struct fulcrum_node *node, double *out)
{
    const char *expected = read_number(node->json, out);
    if (expected != NULL) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT, "%s", expected);
    }
    return expected == NULL;
}

double fulcrum_node_value(const struct fulcrum_node *node)
{
    double value = (double)NAN;
    return read_number(node->json, &value) == NULL ? value : (double)NAN;
}

int fulcrum_node_measured(const struct fulcrum_node *node, double *out)
{
    if (node->json == NULL) {
        *out = (double)NAN;
        return 1;
    }
    return fulcrum_node_number(node, out);
}

int fulcrum_node_text(const struct fulcrum_node *node, char *out, size_t size)
{
    if (!json_object_is_type(node->json, json_type_string)) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT, "expected text");
        return 0;
    }
    const char *text = json_object_get_string(node->json);
    size_t length = (size_t)json_object_get_string_len(node->json);
    if (length >= size || strlen(text) != length) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE,
            "expected at most %zu bytes of text without a zero byte", size - 1);
        return 0;
    }
    memcpy(out, text, length + 1);
    return 1;
}

int fulcrum_node_words(const struct fulcrum_node *node, char *out, size_t size)
{
    bool is_text = fulcrum_node_text(node, out, size);
    if (is_text && out[0] == '\0') {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected some text");
    }
    return is_text && out[0] != '\0';
}

int fulcrum_node_flag(const struct fulcrum_node *node, bool *out)
{
    if (!json_object_is_type(node->json, json_type_boolean)) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT, "expected true or false");
        return 0;
    }
    *out = json_object_get_boolean(node->json) ? 1 : 0;
    return 1;
}

bool fulcrum_node_is_object(const struct fulcrum_node *node)
{
    if (!json_object_is_type(node->json, json_type_object)) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT, "expected an object, from { to }");
        return 0;
    }
    return 1;
}

bool fulcrum_node_is_array(const struct fulcrum_node *node, size_t *count)
{
    if (!json_object_is_type(node->json, json_type_array)) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT, "expected an array, from [ to ]");
        return 0;
    }
    *count = json_object_array_length(node->json);
    return 1;
}

bool fulcrum_node_numbers(
    const struct fulcrum_node *node, const double *neutral, double **out, size_t *count)
{
    size_t length = 0;
    if (!fulcrum_node_is_array(node, &length)) {
        return false;
    }
    if (length == 0 && neutral != NULL) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected one number or more");
        return false;
    }
    double *values = calloc(length + 1, sizeof *values);
    if (values == NULL) {
        fulcrum_node_fault(node, FULCRUM_ERR_NO_MEMORY, "no memory for it");
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        struct fulcrum_node element = fulcrum_node_element(node, i);
        if (neutral == NULL && !fulcrum_node_measured(&element, &values[i])) {
            free(values);
            return false;
        }
        if (neutral != NULL && !fulcrum_node_number(&element, &values[i])) {
            values[i] = *neutral;
        }
    }
    *out = values;
    *count = length;
    return true;
}

double *fulcrum_node_row(const struct fulcrum_node *node, size_t count)
{
    double *values = NULL;
    size_t length = 0;
    if (!fulcrum_node_numbers(node, NULL, &values, &length)) {
        return NULL;
    }
    if (length != count) {
        fulcrum_reader_fault(node->reader, FULCRUM_ERR_FORMAT,
            "%s has %zu elements: expected %zu", node->path, length, count);
        free(values);
        return NULL;
    }
    return values;
}

void fulcrum_node_check_keys(
    const struct fulcrum_node *object, const char *const *known)
{
    size_t known_count = 0;
    while (known[known_count] != NULL) {
        known_count++;
    }
    struct json_object_iter member;
    json_object_object_foreachC(object->json, member)
    {
        size_t i = 0;
        while (i < known_count && strcmp(known[i], member.key) != 0) {
            i++;
        }
        if (i == known_count) {
            struct fulcrum_node node = fulcrum_node_member(object, member.key);
            i = fulcrum_nearest(member.key, known, known_count, sizeof *known);
            fulcrum_reader_fault(object->reader, FULCRUM_ERR_FORMAT,
                "%s: unknown key%s%s%s", node.path,
                i < known_count ? "; did you mean " : "",
                i < known_count ? known[i] : "", i < known_count ? "?" : "");
        }
    }
}

/* Whole text files in memory. */

/* A calibration with every sample is some megabytes; more is no file of ours. */
#define MAX_BYTE   ((size_t)64 << 20)
#define CHUNK_BYTE ((size_t)64 << 10)

static enum fulcrum_status fail_read(
    struct fulcrum_error *err, const char *path, int error)
{
    return fulcrum_fail(
        err, FULCRUM_ERR_FILE, "%s: cannot be read: %s", path, strerror(error));
}

/* Pipes have no size to ask for: grows as it reads, little beyond the limit. */
static enum fulcrum_status read_stream(FILE *stream, const char *path,
    struct fulcrum_string *text, struct fulcrum_error *err)
{
    size_t got = 1;
    while (got > 0 && text->length <= MAX_BYTE) {
        char *end = fulcrum_string_room(text, CHUNK_BYTE);
        TRY_MEMORY(end, err, "%s", path);
        got = fread(end, 1, CHUNK_BYTE, stream);
        text->length += got;
        end[got] = '\0';
    }
    if (ferror(stream)) {
        return fail_read(err, path, errno);
    }
    FAIL_IF(text->length > MAX_BYTE, err, FULCRUM_ERR_FILE, "%s: is larger than 64 MiB",
        path);
    /* Without a byte order mark. */
    if (text->length >= 3 && memcmp(text->chars, "\xef\xbb\xbf", 3) == 0) {
        text->length -= 3;
        memmove(text->chars, text->chars + 3, text->length + 1);
    }
    FAIL_IF(text->length == 0, err, FULCRUM_ERR_FORMAT, "%s: is empty", path);
    FAIL_IF(strlen(text->chars) != text->length, err, FULCRUM_ERR_FORMAT,
        "%s: byte %zu is zero: expected a text file", path, strlen(text->chars) + 1);
    return FULCRUM_OK;
}

static enum fulcrum_status open_file(
    const char *path, FILE **out, struct fulcrum_error *err)
{
    struct stat there;
    if (stat(path, &there) != 0) {
        return fail_read(err, path, errno);
    }
    FAIL_IF(S_ISDIR(there.st_mode), err, FULCRUM_ERR_FILE,
        "%s: is a directory: expected a file", path);
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        return fail_read(err, path, errno);
    }
    *out = stream;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_text_file_read(
    const char *path, char **out, struct fulcrum_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *stream = stdin;
    TRY(is_stdin ? FULCRUM_OK : open_file(path, &stream, err));
    struct fulcrum_string text = {0};
    enum fulcrum_status status = read_stream(stream, path, &text, err);
    if (!is_stdin) {
        (void)fclose(stream);
    }
    if (status != FULCRUM_OK) {
        fulcrum_string_clear(&text);
        return status;
    }
    *out = text.chars;
    return FULCRUM_OK;
}
