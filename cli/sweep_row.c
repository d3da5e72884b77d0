/* sweep_row.c - one point of a sweep as a line of CSV or JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads write their points' lines apart from each other, so a line goes to memory of
 * its own and not to a stream. Nearly all of it is numbers (number_text.c) and words of
 * this program; only texts with characters that JSON escapes, such as the reason why a
 * point cannot run, take the way through the JSON library.
 */
#include "cli/sweep_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number_text.h"
#include "presets/json.h"

enum { GROWTH = 256 };

void fulcrum_sweep_row_clear(struct fulcrum_sweep_row *row)
{
    free(row->bytes);
    *row = (struct fulcrum_sweep_row){0};
}

/* Room for `count` more bytes; NULL where there is none. */
static char *make_room(struct fulcrum_sweep_row *row, size_t count)
{
    size_t wanted = row->length + count;
    if (wanted > row->capacity) {
        /* Rows of a sweep are of one length, and there are many: no doubling. */
        size_t capacity = (wanted / GROWTH + 1) * GROWTH;
        char *bytes = calloc(capacity, sizeof *bytes);
        if (bytes == NULL) {
            row->is_short_of_memory = 1;
            return NULL;
        }
        if (row->length > 0) {
            memcpy(bytes, row->bytes, row->length);
        }
        free(row->bytes);
        row->bytes = bytes;
        row->capacity = capacity;
    }
    return row->bytes + row->length;
}

/* Nothing is added once memory ran out: the row is marked and not written. */
static void add_bytes(struct fulcrum_sweep_row *row, const char *bytes, size_t count)
{
    char *room = make_room(row, count);
    if (room != NULL) {
        memcpy(room, bytes, count);
        row->length += count;
    }
}

static void add_text(struct fulcrum_sweep_row *row, const char *text)
{
    add_bytes(row, text, strlen(text));
}

/* Varied values are what the user asked for, and must be found again. */
static void add_number(struct fulcrum_sweep_row *row,
    const struct fulcrum_sweep_column *column, double value)
{
    char *room = make_room(row, FULCRUM_NUMBER_SIZE);
    if (room != NULL) {
        row->length += column->cell == FULCRUM_CELL_AXIS
                           ? fulcrum_number_text_exact(value, room)
                           : fulcrum_number_text(value, room);
    }
}

/* Quoted where RFC 4180 asks for it. */
static void add_csv_text(struct fulcrum_sweep_row *row, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        add_text(row, text);
        return;
    }
    add_text(row, "\"");
    for (size_t length = strcspn(text, "\""); text[length] != '\0';
         length = strcspn(text, "\"")) {
        add_bytes(row, text, length + 1);
        add_text(row, "\"");
        text += length + 1;
    }
    add_text(row, text);
    add_text(row, "\"");
}

void fulcrum_sweep_row_csv_names(
    struct fulcrum_sweep_row *row, const struct fulcrum_sweep_columns *columns)
{
    row->length = 0;
    for (size_t j = 0; j < columns->count; j++) {
        add_text(row, j > 0 ? "," : "");
        add_csv_text(row, columns->items[j].name);
    }
    add_text(row, "\n");
}

void fulcrum_sweep_row_csv(struct fulcrum_sweep_row *row,
    const struct fulcrum_sweep_columns *columns,
    const struct fulcrum_sweep_point *point)
{
    char room[FULCRUM_CELL_SIZE];
    row->length = 0;
    for (size_t j = 0; j < columns->count; j++) {
        const struct fulcrum_sweep_column *column = &columns->items[j];
        if (j > 0) {
            add_bytes(row, ",", 1);
        }
        if (!fulcrum_sweep_column_is_number(column)) {
            add_csv_text(row, fulcrum_sweep_column_text(column, point, room));
            continue;
        }
        double value = fulcrum_sweep_column_number(column, point);
        if (isfinite(value)) {
            add_number(row, column, value);
        }
    }
    add_bytes(row, "\n", 1);
}

/* ASCII that JSON takes as it is. */
static int is_plain(const char *text)
{
    while (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\') {
        text++;
    }
    return *text == '\0';
}

/* The JSON library's own text of {"":"..."}, without what surrounds the value. */
static void add_escaped(struct fulcrum_sweep_row *row, const char *value)
{
    struct fulcrum_json *object = fulcrum_json_new_object();
    fulcrum_json_add_text(object, "", value);
    char *text = NULL;
    enum fulcrum_status status =
        fulcrum_json_text(object, FULCRUM_JSON_LINE, &text, NULL);
    if (status == FULCRUM_OK) {
        const char *start = strchr(text, ':') + 1;
        add_bytes(row, start, (size_t)(strrchr(text, '}') - start));
    } else {
        row->is_short_of_memory = 1;
    }
    free(text);
    fulcrum_json_free(object);
}

static void add_json_text(struct fulcrum_sweep_row *row, const char *text)
{
    if (is_plain(text)) {
        add_bytes(row, "\"", 1);
        add_text(row, text);
        add_bytes(row, "\"", 1);
    } else {
        add_escaped(row, text);
    }
}

static void add_json_cell(struct fulcrum_sweep_row *row,
    const struct fulcrum_sweep_column *column, const struct fulcrum_sweep_point *point)
{
    if (!fulcrum_sweep_column_is_number(column)) {
        char room[FULCRUM_CELL_SIZE];
        add_json_text(row, fulcrum_sweep_column_text(column, point, room));
        return;
    }
    double value = fulcrum_sweep_column_number(column, point);
    if (isfinite(value)) {
        add_number(row, column, value);
    } else {
        add_text(row, "null");
    }
}

void fulcrum_sweep_row_json(struct fulcrum_sweep_row *row,
    const struct fulcrum_sweep_columns *columns,
    const struct fulcrum_sweep_point *point)
{
    row->length = 0;
    add_bytes(row, "{", 1);
    for (size_t j = 0; j < columns->count; j++) {
        const struct fulcrum_sweep_column *column = &columns->items[j];
        if (column->cell != FULCRUM_CELL_HEAD) {
            add_text(row, row->length > 1 ? ",\"" : "\"");
            add_text(row, column->name); /* letters, dots and underscores */
            add_text(row, "\":");
            add_json_cell(row, column, point);
        }
    }
    add_bytes(row, "}", 1);
}
