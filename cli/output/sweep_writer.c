/* sweep_writer.c - the points that explore finds: a table, lines of CSV or of JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep may have millions of points, so lines are written block by block as they
 * come: making them is as much work as solving the points, and is done by the threads
 * that solve them, each line in its slot of the block. Only a table for people, whose
 * widths depend on every row, is kept, and its length is limited.
 */

#include "cli/output/sweep_writer.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/output/report.h"
#include "model/string.h"
#include "model/study/sweep.h"
#include "presets/io/json.h"

/* One point of a sweep as a line of CSV or JSON. */

/*
 * Threads write their points' lines apart from each other, so a line goes to memory of
 * its own and not to a stream. Nearly all of it is numbers (quantity_text.c) and words
 * of this program; only texts with characters that JSON escapes, such as the reason why
 * a point cannot run, take the way through the JSON library.
 */

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

/* The names of the columns, and a newline. */
static void sweep_row_csv_names(
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
static bool is_plain(const char *text)
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

struct fulcrum_sweep_writer {
    struct fulcrum_sweep_head head;
    enum fulcrum_sweep_format format;
    FILE *stream;
    struct fulcrum_sweep_columns columns;
    size_t rows;
    enum fulcrum_status status;
    struct fulcrum_sweep_row slots[FULCRUM_SWEEP_BLOCK];
    struct fulcrum_report_head report_columns[FULCRUM_SWEEP_COLUMNS_MOST];
    struct fulcrum_report *report; /* tables only */
};

const char *fulcrum_sweep_format_name(int format)
{
    static const char *const names[] = {"table", "csv", "json", "jsonl"};
    return format >= 0 && (size_t)format < sizeof names / sizeof names[0]
               ? names[format]
               : NULL;
}

/* The head of both forms of JSON: all members but the closing brace, and none after. */
static void print_json_head(struct fulcrum_sweep_writer *writer)
{
    const struct fulcrum_sweep_head *head = &writer->head;
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-explore");
    fulcrum_json_add_text(document, "machine", head->machine);
    fulcrum_json_add_text(document, "workload", head->workload);
    fulcrum_json_add_text(document, "calibration", head->calibration);
    fulcrum_json_add_text(document, "actors_rule", head->actors_rule);
    fulcrum_json_add_number(document, "interval_draws", head->plan->predict.draws);
    if (head->plan->yardstick != NULL) {
        fulcrum_json_add_number(document, "relative_to", (double)head->relative_to);
    }
    if (head->pareto != NULL) {
        fulcrum_sweep_pareto_json(head->pareto, document);
        fulcrum_json_add_number(document, "front_count", (double)head->front_count);
        fulcrum_json_add_number(document, "point_count", (double)head->point_count);
    }
    const struct fulcrum_sweep_plan *plan = head->plan;
    struct fulcrum_json *axes = fulcrum_json_add_array(document, "axes");
    for (size_t i = 0; i < plan->axis_count; i++) {
        struct fulcrum_json *axis = fulcrum_json_append_object(axes);
        fulcrum_json_add_text(axis, "path", plan->axes[i].field->path);
        fulcrum_json_add_text(axis, "unit", plan->axes[i].field->unit);
        fulcrum_json_add_number(axis, "count", (double)plan->axes[i].count);
    }
    char *text = NULL;
    writer->status = fulcrum_json_text(document, FULCRUM_JSON_LINE, &text, NULL);
    if (writer->status == FULCRUM_OK) {
        *strrchr(text, '}') = '\0';
        (void)fputs(text, writer->stream);
    }
    free(text);
    fulcrum_json_free(document);
}

/* The report keeps borrowing the names of the columns, which stay in the writer. */
static void begin_table(struct fulcrum_sweep_writer *writer)
{
    const struct fulcrum_sweep_columns *columns = &writer->columns;
    for (size_t j = 0; j < columns->count; j++) {
        bool is_number = fulcrum_sweep_column_is_number(&columns->items[j]);
        writer->report_columns[j] = (struct fulcrum_report_head){columns->items[j].name,
            is_number ? FULCRUM_COLUMN_NUMBER : FULCRUM_COLUMN_TEXT, NULL};
    }
    writer->report =
        fulcrum_report_new("points", writer->report_columns, columns->count);
}

/* A line that is not whole is not written at all: the output stays readable. */
static void write_row(
    struct fulcrum_sweep_writer *writer, const struct fulcrum_sweep_row *row)
{
    if (row->is_short_of_memory) {
        writer->status = FULCRUM_ERR_NO_MEMORY;
    } else {
        (void)fwrite(row->bytes, 1, row->length, writer->stream);
    }
}

enum fulcrum_status fulcrum_sweep_writer_new(const struct fulcrum_sweep_head *head,
    enum fulcrum_sweep_format format, struct fulcrum_context *context,
    struct fulcrum_sweep_writer **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_writer *writer = fulcrum_allocate(1, sizeof *writer);
    writer->head = *head;
    writer->format = format;
    writer->stream = context->out;
    fulcrum_sweep_columns_init(&writer->columns, head);
    enum fulcrum_status status = FULCRUM_OK;
    if (head->columns != NULL) {
        status =
            fulcrum_sweep_columns_keep(&writer->columns, head->columns, context, err);
    } else if (format == FULCRUM_SWEEP_TABLE) {
        fulcrum_sweep_columns_keep_few(&writer->columns);
    }
    if (status != FULCRUM_OK) {
        free(writer);
        return status;
    }
    /* Everything before the points. */
    switch (writer->format) {
    case FULCRUM_SWEEP_CSV:
        sweep_row_csv_names(&writer->slots[0], &writer->columns);
        write_row(writer, &writer->slots[0]);
        break;
    case FULCRUM_SWEEP_JSON:
        print_json_head(writer);
        (void)fputs(",\"points\":[", writer->stream);
        break;
    case FULCRUM_SWEEP_JSON_LINES:
        print_json_head(writer);
        (void)fputs("}\n", writer->stream);
        break;
    case FULCRUM_SWEEP_TABLE:
    default:
        begin_table(writer);
        break;
    }
    *out = writer;
    return FULCRUM_OK;
}

void fulcrum_sweep_writer_free(struct fulcrum_sweep_writer *writer)
{
    if (writer != NULL) {
        for (size_t i = 0; i < FULCRUM_SWEEP_BLOCK; i++) {
            fulcrum_sweep_row_clear(&writer->slots[i]);
        }
        fulcrum_report_free(writer->report);
        free(writer);
    }
}

void fulcrum_sweep_writer_prepare(struct fulcrum_sweep_writer *writer, size_t slot,
    const struct fulcrum_sweep_point *point)
{
    switch (writer->format) {
    case FULCRUM_SWEEP_CSV:
        fulcrum_sweep_row_csv(&writer->slots[slot], &writer->columns, point);
        break;
    case FULCRUM_SWEEP_JSON:
    case FULCRUM_SWEEP_JSON_LINES:
        fulcrum_sweep_row_json(&writer->slots[slot], &writer->columns, point);
        break;
    case FULCRUM_SWEEP_TABLE:
    default:
        break;
    }
}

/* Here, and not where lines are prepared: a report is filled row by row. */
static void add_to_report(
    struct fulcrum_sweep_writer *writer, const struct fulcrum_sweep_point *point)
{
    char room[FULCRUM_CELL_SIZE];
    for (size_t j = 0; j < writer->columns.count; j++) {
        const struct fulcrum_sweep_column *column = &writer->columns.items[j];
        if (fulcrum_sweep_column_is_number(column)) {
            fulcrum_report_add_number(
                writer->report, fulcrum_sweep_column_number(column, point));
        } else {
            fulcrum_report_add_text(
                writer->report, fulcrum_sweep_column_text(column, point, room));
        }
    }
}

static void add_point(struct fulcrum_sweep_writer *writer, size_t slot,
    const struct fulcrum_sweep_point *point)
{
    switch (writer->format) {
    case FULCRUM_SWEEP_JSON:
        (void)fputs(writer->rows > 0 ? ",\n" : "\n", writer->stream);
        write_row(writer, &writer->slots[slot]);
        break;
    case FULCRUM_SWEEP_JSON_LINES:
        write_row(writer, &writer->slots[slot]);
        (void)fputc('\n', writer->stream);
        break;
    case FULCRUM_SWEEP_CSV:
        write_row(writer, &writer->slots[slot]);
        break;
    case FULCRUM_SWEEP_TABLE:
    default:
        if (writer->rows < FULCRUM_SWEEP_TABLE_ROWS) {
            add_to_report(writer, point);
        }
        break;
    }
    writer->rows++;
}

void fulcrum_sweep_writer_add(struct fulcrum_sweep_writer *writer,
    const struct fulcrum_sweep_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_point(writer, i, &points[i]);
    }
    /* Whoever reads a pipe gets whole lines, soon, and a full disk shows early. */
    (void)fflush(writer->stream);
}

/* What is known now that all points are there. */
static void print_json_tail(struct fulcrum_sweep_writer *writer, const char *finding,
    const struct fulcrum_sweep_optima *optima, int complete)
{
    const char *before = writer->format == FULCRUM_SWEEP_JSON ? "\n]," : "{";
    struct fulcrum_json *tail = fulcrum_json_new_object();
    fulcrum_json_add_text(tail, "finding", finding != NULL ? finding : "");
    if (optima != NULL) {
        fulcrum_sweep_optima_json(optima, tail);
    }
    fulcrum_json_add_flag(tail, "complete", complete);
    char *text = NULL;
    enum fulcrum_status status =
        fulcrum_json_text(tail, FULCRUM_JSON_LINE, &text, NULL);
    if (status == FULCRUM_OK) {
        (void)fprintf(writer->stream, "%s%s", before, strchr(text, '{') + 1);
    }
    writer->status = writer->status == FULCRUM_OK ? status : writer->status;
    free(text);
    fulcrum_json_free(tail);
}

/* What is left out is said where the rows end, not only on the terminal. */
static void print_table(const struct fulcrum_sweep_writer *writer)
{
    const struct fulcrum_sweep_head *head = &writer->head;
    (void)fprintf(writer->stream, "%s, %s, calibration %s, actors %s\n", head->machine,
        head->workload, head->calibration, head->actors_rule);
    if (head->plan->yardstick != NULL) {
        (void)fprintf(
            writer->stream, "speedup relative to point %zu\n", head->relative_to);
    }
    if (head->pareto != NULL) {
        char metrics[300];
        fulcrum_sweep_pareto_text(head->pareto, metrics, sizeof metrics);
        (void)fprintf(writer->stream, "front of %zu of %zu points: %s\n",
            head->front_count, head->point_count, metrics);
    }
    (void)fputc('\n', writer->stream);
    fulcrum_report_print_table(writer->report, writer->stream, 0);
    if (writer->rows > FULCRUM_SWEEP_TABLE_ROWS) {
        (void)fprintf(writer->stream,
            "\n%zu more points: --format csv and --format jsonl write them all\n",
            writer->rows - FULCRUM_SWEEP_TABLE_ROWS);
    }
}

enum fulcrum_status fulcrum_sweep_writer_end(struct fulcrum_sweep_writer *writer,
    const char *finding, const struct fulcrum_sweep_optima *optima, int complete,
    struct fulcrum_error *err)
{
    switch (writer->format) {
    case FULCRUM_SWEEP_JSON:
    case FULCRUM_SWEEP_JSON_LINES:
        print_json_tail(writer, finding, optima, complete);
        break;
    case FULCRUM_SWEEP_TABLE:
        print_table(writer);
        break;
    case FULCRUM_SWEEP_CSV:
    default:
        break;
    }
    return writer->status == FULCRUM_OK
               ? FULCRUM_OK
               : fulcrum_fail(err, writer->status, "a sweep's output");
}
