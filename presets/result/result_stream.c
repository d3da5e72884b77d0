/* result_stream.c - a result whose table may have millions of rows. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making the lines of a sweep is as much work as solving its points, and is done by the
 * threads that solve them, each line in the memory of its slot. Nearly all of it is
 * numbers (quantity_text.c) and words of this program.
 */
#include "presets/result/result_stream.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/string.h"
#include "model/try.h"
#include "presets/result/quantity_text.h"
#include "presets/result/result_write.h"

struct fulcrum_stream {
    struct fulcrum_result *head;
    struct fulcrum_stream_table shape;
    enum fulcrum_format format;
    FILE *out;
    struct fulcrum_table *kept; /* NULL: rows are written */
    size_t rows;
    enum fulcrum_status status;
    struct fulcrum_string *slots; /* a row each: its text, or its cells where kept */
};

static void add_text(struct fulcrum_string *row, const char *text)
{
    fulcrum_string_append(row, text, strlen(text));
}

static void add_number(struct fulcrum_string *row,
    const struct fulcrum_stream_column *column, double value)
{
    char *end = fulcrum_string_room(row, FULCRUM_NUMBER_SIZE);
    if (end != NULL) {
        row->length += column->is_exact ? fulcrum_number_text_exact(value, end)
                                        : fulcrum_number_text(value, end);
    }
}

static const char *text_of(
    const struct fulcrum_stream_column *column, const struct fulcrum_cell *cell)
{
    const char *text = column->same != NULL ? column->same : cell->text;
    return text != NULL ? text : "";
}

/* Keys are letters, dots and underscores. */
static void json_row(struct fulcrum_string *row,
    const struct fulcrum_stream_table *shape, const struct fulcrum_cell *cells)
{
    fulcrum_string_append(row, "{", 1);
    for (size_t j = 0; j < shape->column_count; j++) {
        const struct fulcrum_stream_column *column = &shape->columns[j];
        if (column->same != NULL) {
            continue;
        }
        add_text(row, row->length > 1 ? ",\"" : "\"");
        add_text(row, column->key);
        fulcrum_string_append(row, "\":", 2);
        if (column->kind == FULCRUM_VALUE_TEXT) {
            fulcrum_json_quote(row, text_of(column, &cells[j]));
        } else if (isfinite(cells[j].number)) {
            add_number(row, column, cells[j].number);
        } else {
            fulcrum_string_append(row, "null", 4);
        }
    }
    fulcrum_string_append(row, "}", 1);
}

/* Texts with their end, and numbers. */
static void kept_row(struct fulcrum_string *row,
    const struct fulcrum_stream_table *shape, const struct fulcrum_cell *cells)
{
    for (size_t j = 0; j < shape->column_count; j++) {
        if (shape->columns[j].kind == FULCRUM_VALUE_TEXT) {
            const char *text = text_of(&shape->columns[j], &cells[j]);
            fulcrum_string_append(row, text, strlen(text) + 1);
        } else {
            fulcrum_string_append(row, &cells[j].number, sizeof cells[j].number);
        }
    }
}

void fulcrum_stream_row(
    struct fulcrum_stream *stream, size_t slot, const struct fulcrum_cell *cells)
{
    struct fulcrum_string *row = &stream->slots[slot];
    row->length = 0;
    if (stream->kept != NULL) {
        kept_row(row, &stream->shape, cells);
    } else if (stream->format == FULCRUM_FORMAT_CSV) {
        for (size_t j = 0; j < stream->shape.column_count; j++) {
            const struct fulcrum_stream_column *column = &stream->shape.columns[j];
            fulcrum_string_append(row, ",", j > 0 ? 1 : 0);
            if (column->kind == FULCRUM_VALUE_TEXT) {
                fulcrum_csv_add(row, text_of(column, &cells[j]));
            } else if (isfinite(cells[j].number)) {
                add_number(row, column, cells[j].number);
            }
        }
        fulcrum_string_append(row, "\n", 1);
    } else {
        json_row(row, &stream->shape, cells);
    }
}

static bool is_end(const struct fulcrum_stream_table *shape, size_t value, size_t end,
    const char *suffix)
{
    size_t length = strlen(shape->columns[value].key);
    return end < shape->column_count &&
           strncmp(shape->columns[end].key, shape->columns[value].key, length) == 0 &&
           strcmp(shape->columns[end].key + length, suffix) == 0;
}

static double next_number(const char **bytes)
{
    double value;
    memcpy(&value, *bytes, sizeof value);
    *bytes += sizeof value;
    return value;
}

static void keep(struct fulcrum_stream *stream, const struct fulcrum_string *row)
{
    const struct fulcrum_stream_table *shape = &stream->shape;
    const char *bytes = row->chars;
    fulcrum_table_row(stream->kept);
    for (size_t j = 0; j < shape->column_count; j++) {
        const struct fulcrum_stream_column *column = &shape->columns[j];
        if (column->kind == FULCRUM_VALUE_TEXT) {
            fulcrum_table_text(stream->kept, column->key, column->title, bytes);
            bytes += strlen(bytes) + 1;
        } else if (is_end(shape, j, j + 1, "_lo") && is_end(shape, j, j + 2, "_hi")) {
            double value = next_number(&bytes);
            double lo = next_number(&bytes);
            double hi = next_number(&bytes);
            fulcrum_table_estimate(
                stream->kept, column->key, column->title, value, lo, hi);
            j += 2;
        } else {
            fulcrum_table_number(
                stream->kept, column->key, column->title, next_number(&bytes));
        }
    }
}

static void write_row(struct fulcrum_stream *stream, const struct fulcrum_string *row)
{
    if (row->is_lost) { /* not whole: not written, so that the output stays readable */
        stream->status = FULCRUM_ERR_NO_MEMORY;
        return;
    }
    if (stream->kept != NULL) {
        if (stream->rows < FULCRUM_STREAM_KEPT_ROWS) {
            keep(stream, row);
        }
        return;
    }
    if (stream->format == FULCRUM_FORMAT_JSON) {
        (void)fputs(stream->rows > 0 ? ",\n" : "\n", stream->out);
    }
    (void)fwrite(row->chars, 1, row->length, stream->out);
    if (stream->format == FULCRUM_FORMAT_JSON_LINES) {
        (void)fputc('\n', stream->out);
    }
}

void fulcrum_stream_write(struct fulcrum_stream *stream, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        write_row(stream, &stream->slots[i]);
        stream->rows++;
    }
    /* Whoever reads a pipe gets whole lines, soon, and a full disk shows early. */
    (void)fflush(stream->out);
}

/* Members of one line; before the rows of JSON the object stays open. */
static void write_members(
    struct fulcrum_stream *stream, const struct fulcrum_result *part, bool is_tail)
{
    char *text = NULL;
    struct json_object *members = fulcrum_result_json(part, NULL);
    enum fulcrum_status status =
        fulcrum_json_text(members, FULCRUM_JSON_LINE, &text, NULL);
    json_object_put(members);
    if (status != FULCRUM_OK) {
        stream->status = status;
    } else if (stream->format == FULCRUM_FORMAT_JSON_LINES) {
        (void)fputs(text, stream->out);
    } else if (is_tail) {
        (void)fprintf(stream->out, "\n],%s", strchr(text, '{') + 1);
    } else {
        *strrchr(text, '}') = '\0';
        (void)fprintf(stream->out, "%s,\"%s\":[", text, stream->shape.key);
    }
    free(text);
}

struct fulcrum_stream *fulcrum_stream_new(struct fulcrum_result *head,
    const struct fulcrum_stream_table *table, enum fulcrum_format format, FILE *out)
{
    struct fulcrum_stream *stream = calloc(1, sizeof *stream);
    struct fulcrum_string *slots = calloc(table->slot_count, sizeof *slots);
    if (stream == NULL || slots == NULL ||
        fulcrum_result_check(head, NULL) != FULCRUM_OK) {
        free(stream);
        free(slots);
        return NULL;
    }
    *stream = (struct fulcrum_stream){
        .head = head, .shape = *table, .format = format, .out = out, .slots = slots};
    if (fulcrum_stream_is_kept(stream)) {
        stream->kept = fulcrum_result_table(head, table->key, "");
        stream->status = fulcrum_result_check(head, NULL);
    }
    if (stream->format == FULCRUM_FORMAT_CSV) {
        for (size_t j = 0; j < stream->shape.column_count; j++) {
            (void)fputs(j > 0 ? "," : "", stream->out);
            fulcrum_csv_print(stream->out, stream->shape.columns[j].key);
        }
        (void)fputc('\n', stream->out);
    } else if (!fulcrum_stream_is_kept(stream)) {
        write_members(stream, stream->head, false);
    }
    return stream;
}

void fulcrum_stream_free(struct fulcrum_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    for (size_t i = 0; i < stream->shape.slot_count; i++) {
        fulcrum_string_clear(&stream->slots[i]);
    }
    free(stream->slots);
    free(stream);
}

bool fulcrum_stream_is_kept(const struct fulcrum_stream *stream)
{
    return stream->format != FULCRUM_FORMAT_CSV &&
           stream->format != FULCRUM_FORMAT_JSON &&
           stream->format != FULCRUM_FORMAT_JSON_LINES;
}

enum fulcrum_status fulcrum_stream_end(struct fulcrum_stream *stream,
    const struct fulcrum_result *tail, const struct fulcrum_text_layout *layout,
    struct fulcrum_error *err)
{
    bool is_kept = fulcrum_stream_is_kept(stream);
    if (!is_kept && stream->format != FULCRUM_FORMAT_CSV) {
        write_members(stream, tail, true);
    }
    FAIL_IF(stream->status != FULCRUM_OK, err, stream->status, "out of memory");
    if (!is_kept) {
        return FULCRUM_OK;
    }
    if (stream->rows > FULCRUM_STREAM_KEPT_ROWS) {
        fulcrum_result_note_print(stream->head, "left_out",
            "%zu more %s: --format csv and --format jsonl write them all",
            stream->rows - FULCRUM_STREAM_KEPT_ROWS, stream->shape.key);
    }
    return fulcrum_result_write(stream->head, stream->format, layout, stream->out, err);
}
