/* json.c - building and writing JSON documents, the same bytes for the same content. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Written by hand, though json-c reads, because output must be the same bytes
 * everywhere: order of members, shortest digits that read back, layout. A tree is built
 * first and written in one go.
 */
#define _POSIX_C_SOURCE 200809L
#include "presets/io/json.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/string.h"
#include "model/try.h"
#include "presets/io/output.h"

enum kind { KIND_OBJECT, KIND_ARRAY, KIND_SCALAR };

struct fulcrum_json {
    enum kind kind;
    char *key;  /* NULL: an element of an array, or the document */
    char *text; /* scalars: as they are written */
    struct fulcrum_json *parent;
    struct fulcrum_json *first;
    struct fulcrum_json *last;
    struct fulcrum_json *next;
    struct fulcrum_json *document;
    int out_of_memory; /* of the document; elsewhere unused */
};

static void write_escaped(FILE *stream, unsigned char byte)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    const char *found = strchr(plain, byte);
    if (found != NULL) {
        (void)fprintf(stream, "\\%c", letter[found - plain]);
    } else {
        (void)fprintf(stream, "\\u%04x", byte);
    }
}

/* Host names and paths may hold any byte: what is no UTF-8 becomes U+FFFD. */
static void write_quoted(FILE *stream, const char *text)
{
    (void)fputc('"', stream);
    for (size_t length = 0; *text != '\0'; text += length) {
        unsigned char byte = (unsigned char)*text;
        length = fulcrum_utf8_length(text);
        if (length == 0) {
            (void)fputs("\xef\xbf\xbd", stream);
            length = 1;
        } else if (byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f) {
            write_escaped(stream, byte);
        } else {
            (void)fwrite(text, 1, length, stream);
        }
    }
    (void)fputc('"', stream);
}

/* Shortest text that reads back the same; the decimal point of any locale becomes '.'.
 */
static void format_number(double value, char *out, size_t size)
{
    if (!isfinite(value)) {
        (void)snprintf(out, size, "null");
        return;
    }
    if (fabs(value) < 1e15 && value == trunc(value)) {
        /* Adding 0 turns -0 into 0. */
        (void)snprintf(out, size, "%.0f", value + 0.0);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(out, size, "%.*g", digits, value);
        if (strtod(out, NULL) == value) {
            break;
        }
    }
    for (char *c = out; *c != '\0'; c++) {
        if (strchr("0123456789+-e", *c) == NULL) {
            *c = '.';
        }
    }
}

/* Reported once, when the text is asked for. */
static void mark(struct fulcrum_json *json)
{
    json->document->out_of_memory = 1;
}

static void free_one(struct fulcrum_json *json)
{
    free(json->key);
    free(json->text);
    free(json);
}

/* A new last child of `parent`; NULL (and the document marked) where memory ran out. */
static struct fulcrum_json *add_child(
    struct fulcrum_json *parent, const char *key, enum kind kind)
{
    if (parent == NULL) {
        return NULL;
    }
    assert(parent->kind == (key != NULL ? KIND_OBJECT : KIND_ARRAY));
    struct fulcrum_json *child = calloc(1, sizeof *child);
    char *copy = key != NULL ? strdup(key) : NULL;
    if (child == NULL || (key != NULL && copy == NULL)) {
        free(child);
        free(copy);
        mark(parent);
        return NULL;
    }
    child->kind = kind;
    child->key = copy;
    child->parent = parent;
    child->document = parent->document;
    if (parent->last != NULL) {
        parent->last->next = child;
    } else {
        parent->first = child;
    }
    parent->last = child;
    return child;
}

static void add_scalar(struct fulcrum_json *parent, const char *key, const char *text)
{
    struct fulcrum_json *child = add_child(parent, key, KIND_SCALAR);
    if (child != NULL) {
        child->text = strdup(text);
        if (child->text == NULL) {
            mark(child);
        }
    }
}

static void add_number(struct fulcrum_json *parent, const char *key, double value)
{
    char text[40];
    format_number(value, text, sizeof text);
    add_scalar(parent, key, text);
}

static void add_text(struct fulcrum_json *parent, const char *key, const char *value)
{
    struct fulcrum_json *child = add_child(parent, key, KIND_SCALAR);
    size_t length = 0;
    FILE *stream = child != NULL ? open_memstream(&child->text, &length) : NULL;
    if (stream != NULL) {
        write_quoted(stream, value);
    }
    if (child != NULL && (stream == NULL || fclose(stream) != 0)) {
        mark(child);
    }
}

struct fulcrum_json *fulcrum_json_new_object(void)
{
    struct fulcrum_json *json = calloc(1, sizeof *json);
    if (json != NULL) {
        json->kind = KIND_OBJECT;
        json->document = json;
    }
    return json;
}

void fulcrum_json_free(struct fulcrum_json *json)
{
    struct fulcrum_json *node = json;
    while (node != NULL) {
        if (node->first != NULL) {
            struct fulcrum_json *child = node->first;
            node->first = child->next;
            node = child;
        } else {
            struct fulcrum_json *parent = node == json ? NULL : node->parent;
            free_one(node);
            node = parent;
        }
    }
}

void fulcrum_json_add_number(struct fulcrum_json *object, const char *key, double value)
{
    add_number(object, key, value);
}

void fulcrum_json_add_text(
    struct fulcrum_json *object, const char *key, const char *value)
{
    add_text(object, key, value);
}

void fulcrum_json_add_flag(struct fulcrum_json *object, const char *key, int value)
{
    add_scalar(object, key, value ? "true" : "false");
}

void fulcrum_json_add_null(struct fulcrum_json *object, const char *key)
{
    add_scalar(object, key, "null");
}

void fulcrum_json_add_numbers(
    struct fulcrum_json *object, const char *key, const double *values, size_t count)
{
    struct fulcrum_json *array = fulcrum_json_add_array(object, key);
    for (size_t i = 0; i < count; i++) {
        fulcrum_json_append_number(array, values[i]);
    }
}

struct fulcrum_json *fulcrum_json_add_object(
    struct fulcrum_json *object, const char *key)
{
    return add_child(object, key, KIND_OBJECT);
}

struct fulcrum_json *fulcrum_json_add_array(
    struct fulcrum_json *object, const char *key)
{
    return add_child(object, key, KIND_ARRAY);
}

struct fulcrum_json *fulcrum_json_append_object(struct fulcrum_json *array)
{
    return add_child(array, NULL, KIND_OBJECT);
}

struct fulcrum_json *fulcrum_json_append_array(struct fulcrum_json *array)
{
    return add_child(array, NULL, KIND_ARRAY);
}

void fulcrum_json_append_number(struct fulcrum_json *array, double value)
{
    add_number(array, NULL, value);
}

void fulcrum_json_append_text(struct fulcrum_json *array, const char *value)
{
    add_text(array, NULL, value);
}

struct writer {
    FILE *stream;
    enum fulcrum_json_layout layout;
    int depth;
};

/* Arrays of numbers and names stay on one line: they can be long. */
static bool is_broken(const struct fulcrum_json *json, enum fulcrum_json_layout layout)
{
    if (layout == FULCRUM_JSON_LINE || json->first == NULL) {
        return 0;
    }
    return json->kind == KIND_OBJECT || json->first->kind != KIND_SCALAR;
}

static void break_line(const struct writer *writer)
{
    (void)fprintf(writer->stream, "\n%*s", 2 * writer->depth, "");
}

/* What comes before a value: the comma, the line break and its key. */
static void write_lead(const struct writer *writer, const struct fulcrum_json *node)
{
    const struct fulcrum_json *parent = node->parent;
    int broken = is_broken(parent, writer->layout);
    if (parent->first != node) {
        (void)fputs(
            broken || writer->layout == FULCRUM_JSON_LINE ? "," : ", ", writer->stream);
    }
    if (broken) {
        break_line(writer);
    }
    if (node->key != NULL) {
        write_quoted(writer->stream, node->key);
        (void)fputs(writer->layout == FULCRUM_JSON_LINE ? ":" : ": ", writer->stream);
    }
}

/* Scalars hold their text already; containers are closed by write_close. */
static void write_open(struct writer *writer, const struct fulcrum_json *node)
{
    if (node->kind == KIND_SCALAR) {
        (void)fputs(node->text, writer->stream);
        return;
    }
    (void)fputc(node->kind == KIND_OBJECT ? '{' : '[', writer->stream);
    writer->depth++;
}

static void write_close(struct writer *writer, const struct fulcrum_json *node)
{
    if (node->kind == KIND_SCALAR) {
        return;
    }
    writer->depth--;
    if (is_broken(node, writer->layout)) {
        break_line(writer);
    }
    (void)fputc(node->kind == KIND_OBJECT ? '}' : ']', writer->stream);
}

/* Ends what is complete with `node`; returns the value that follows, NULL at the end.
 */
static const struct fulcrum_json *advance(struct writer *writer,
    const struct fulcrum_json *node, const struct fulcrum_json *root)
{
    if (node->first != NULL) {
        return node->first;
    }
    while (node != root && node->next == NULL) {
        write_close(writer, node);
        node = node->parent;
    }
    write_close(writer, node);
    return node == root ? NULL : node->next;
}

static void write_tree(struct writer *writer, const struct fulcrum_json *root)
{
    const struct fulcrum_json *node = root;
    write_open(writer, node);
    node = advance(writer, node, root);
    while (node != NULL) {
        write_lead(writer, node);
        write_open(writer, node);
        node = advance(writer, node, root);
    }
    (void)fputc('\n', writer->stream);
}

enum fulcrum_status fulcrum_json_text(const struct fulcrum_json *json,
    enum fulcrum_json_layout layout, char **out, struct fulcrum_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = NULL;
    if (json != NULL && !json->document->out_of_memory) {
        stream = open_memstream(&text, &length);
    }
    TRY_MEMORY(stream, err, "a JSON document");
    struct writer writer = {stream, layout, 0};
    write_tree(&writer, json);
    int failed = ferror(stream);
    if (fclose(stream) != 0 || failed) {
        free(text);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a JSON document");
    }
    *out = text;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_json_save(
    struct fulcrum_json *json, const char *path, struct fulcrum_error *err)
{
    char *text = NULL;
    enum fulcrum_status status =
        fulcrum_json_text(json, FULCRUM_JSON_PRETTY, &text, err);
    fulcrum_json_free(json);
    if (status == FULCRUM_OK) {
        status = fulcrum_output_text(path, text, err);
    }
    free(text);
    return status;
}
