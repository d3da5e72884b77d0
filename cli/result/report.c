/* report.c - rows of results, printed as a table, CSV or JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One set of rows, three outputs: an aligned table for people (four significant
 * digits), CSV and JSON for programs (all digits that matter). Commands fill rows and
 * do not know the format. Unknown values are a dash, an empty cell and null.
 */

#include "cli/result/report.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "model/network/solution.h"
#include "model/status.h"
#include "presets/io/json.h"

/* What a user must know about a solution, in words. */

/* NULL where the flag is not set. */
static const char *flags_text_of(unsigned flags, int index)
{
    int is_set = (flags & (1U << (unsigned)index)) != 0U;
    return is_set ? fulcrum_flag_text((enum fulcrum_flag_index)index) : NULL;
}

void fulcrum_flags_join(unsigned flags, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < (int)FULCRUM_FLAG_COUNT && used < size; i++) {
        const char *text = flags_text_of(flags, i);
        if (text != NULL) {
            int length =
                snprintf(out + used, size - used, "%s%s", used > 0 ? "; " : "", text);
            used += length > 0 ? (size_t)length : 0;
        }
    }
}

void fulcrum_flags_to_json(unsigned flags, struct fulcrum_json *object)
{
    struct fulcrum_json *array = fulcrum_json_add_array(object, "flags");
    for (int i = 0; i < (int)FULCRUM_FLAG_COUNT; i++) {
        const char *text = flags_text_of(flags, i);
        if (text != NULL) {
            fulcrum_json_append_text(array, text);
        }
    }
}

/* Larger numbers are shown with an exponent. */
#define PLAIN_BELOW 1e9

struct cell {
    char *text; /* NULL in columns of numbers */
    double number;
};

struct fulcrum_report {
    const char *rows_key;
    const struct fulcrum_column *columns;
    size_t column_count;
    size_t cell_count;
    size_t capacity;
    struct cell *cells; /* row by row */
    char *hidden;       /* of each column: whether tables leave it out */
    int is_short_of_memory;
};

struct fulcrum_report *fulcrum_report_new(
    const char *rows_key, const struct fulcrum_column *columns, size_t column_count)
{
    assert(column_count > 0);
    struct fulcrum_report *report = calloc(1, sizeof *report);
    if (report != NULL) {
        report->rows_key = rows_key;
        report->columns = columns;
        report->column_count = column_count;
        report->hidden = calloc(column_count, 1);
        report->is_short_of_memory = report->hidden == NULL;
    }
    return report;
}

void fulcrum_report_free(struct fulcrum_report *report)
{
    if (report == NULL) {
        return;
    }
    for (size_t i = 0; i < report->cell_count; i++) {
        free(report->cells[i].text);
    }
    free(report->cells);
    free(report->hidden);
    free(report);
}

int fulcrum_report_is_empty(const struct fulcrum_report *report)
{
    return report == NULL || report->cell_count == 0;
}

/* NULL where memory ran out, now or before. */
static struct cell *next_cell(
    struct fulcrum_report *report, enum fulcrum_column_kind kind)
{
    if (report == NULL || report->is_short_of_memory) {
        return NULL;
    }
    size_t column = report->cell_count % report->column_count;
    assert(report->columns[column].kind == kind);
    (void)column;
    (void)kind;
    if (report->cell_count == report->capacity) {
        size_t capacity = report->capacity == 0 ? 64 : 2 * report->capacity;
        struct cell *cells = calloc(capacity, sizeof *cells);
        if (cells == NULL) {
            report->is_short_of_memory = 1;
            return NULL;
        }
        if (report->cells != NULL) {
            memcpy(cells, report->cells, report->cell_count * sizeof *cells);
        }
        free(report->cells);
        report->cells = cells;
        report->capacity = capacity;
    }
    return &report->cells[report->cell_count++];
}

void fulcrum_report_add_text(struct fulcrum_report *report, const char *text)
{
    struct cell *cell = next_cell(report, FULCRUM_COLUMN_TEXT);
    if (cell == NULL) {
        return;
    }
    cell->text = calloc(strlen(text) + 1, 1);
    if (cell->text == NULL) {
        report->is_short_of_memory = 1;
        return;
    }
    memcpy(cell->text, text, strlen(text));
}

void fulcrum_report_add_number(struct fulcrum_report *report, double value)
{
    struct cell *cell = next_cell(report, FULCRUM_COLUMN_NUMBER);
    if (cell != NULL) {
        cell->number = value;
    }
}

static size_t row_count(const struct fulcrum_report *report)
{
    if (report->column_count == 0) {
        return 0;
    }
    assert(report->cell_count % report->column_count == 0);
    return report->cell_count / report->column_count;
}

static const struct cell *cell_at(
    const struct fulcrum_report *report, size_t row, size_t column)
{
    return &report->cells[row * report->column_count + column];
}

/* column_count where there is none of that key. */
static size_t find_column(const struct fulcrum_report *report, const char *key)
{
    size_t j = 0;
    while (j < report->column_count && strcmp(report->columns[j].key, key) != 0) {
        j++;
    }
    return j;
}

void fulcrum_report_hide(struct fulcrum_report *report, const char *key)
{
    if (report == NULL || report->hidden == NULL) {
        return;
    }
    size_t column = find_column(report, key);
    if (column < report->column_count) {
        report->hidden[column] = 1;
    }
}

static int is_unknown(const struct cell *cell)
{
    return cell->text != NULL ? cell->text[0] == '\0' : isnan(cell->number);
}

void fulcrum_report_hide_empty(struct fulcrum_report *report)
{
    if (fulcrum_report_is_empty(report) || report->is_short_of_memory) {
        return;
    }
    for (size_t j = 0; j < report->column_count; j++) {
        size_t i = 0;
        while (i < row_count(report) && is_unknown(cell_at(report, i, j))) {
            i++;
        }
        if (i == row_count(report)) {
            report->hidden[j] = 1;
        }
    }
}

double fulcrum_report_constant(const struct fulcrum_report *report, const char *key)
{
    if (fulcrum_report_is_empty(report) || report->is_short_of_memory) {
        return (double)NAN;
    }
    size_t column = find_column(report, key);
    if (column == report->column_count ||
        report->columns[column].kind != FULCRUM_COLUMN_NUMBER) {
        return (double)NAN;
    }
    double value = cell_at(report, 0, column)->number;
    for (size_t i = 1; i < row_count(report); i++) {
        double other = cell_at(report, i, column)->number;
        value = other >= value && other <= value ? value : (double)NAN;
    }
    return value;
}

void fulcrum_report_print_csv_text(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, stream);
        return;
    }
    (void)fputc('"', stream);
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '"' ? "\"" : "", stream);
        (void)fputc(*text, stream);
    }
    (void)fputc('"', stream);
}

static void print_csv_cell(
    FILE *stream, const struct fulcrum_column *column, const struct cell *cell)
{
    if (column->kind == FULCRUM_COLUMN_TEXT) {
        fulcrum_report_print_csv_text(stream, cell->text);
    } else if (isfinite(cell->number)) {
        (void)fprintf(stream, "%.17g", cell->number);
    }
}

static void print_csv(const struct fulcrum_report *report, FILE *stream)
{
    for (size_t j = 0; j < report->column_count; j++) {
        (void)fputs(j > 0 ? "," : "", stream);
        fulcrum_report_print_csv_text(stream, report->columns[j].key);
    }
    (void)fputc('\n', stream);
    for (size_t i = 0; i < row_count(report); i++) {
        for (size_t j = 0; j < report->column_count; j++) {
            (void)fputs(j > 0 ? "," : "", stream);
            print_csv_cell(stream, &report->columns[j], cell_at(report, i, j));
        }
        (void)fputc('\n', stream);
    }
}

static const char *title_of(const struct fulcrum_column *column)
{
    return column->title != NULL ? column->title : column->key;
}

/* Borrows the cell's text or `room`. */
static const char *text_of(const struct fulcrum_column *column, const struct cell *cell,
    char *room, size_t size)
{
    if (column->kind == FULCRUM_COLUMN_TEXT) {
        return cell->text;
    }
    /* People read 16384 and 119900 more easily than 1.638e+04 and 1.199e+05. */
    double magnitude = fabs(cell->number);
    int is_plain = magnitude < PLAIN_BELOW &&
                   (magnitude >= 1e4 || cell->number == floor(cell->number));
    if (isfinite(cell->number)) {
        (void)snprintf(room, size, is_plain ? "%.0f" : "%.4g", cell->number);
    } else {
        (void)snprintf(room, size, "-");
    }
    return room;
}

/* Characters on the screen: bytes that do not continue a UTF-8 sequence. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0U) != 0x80U;
    }
    return width;
}

static size_t column_width(const struct fulcrum_report *report, size_t column)
{
    size_t width = width_of(title_of(&report->columns[column]));
    for (size_t i = 0; i < row_count(report); i++) {
        char room[32];
        const char *text = text_of(
            &report->columns[column], cell_at(report, i, column), room, sizeof room);
        size_t wanted = width_of(text);
        width = wanted > width ? wanted : width;
    }
    return width;
}

/* Text to the left, numbers to the right. */
static void print_padded(
    FILE *stream, enum fulcrum_column_kind kind, const char *text, size_t width)
{
    int blanks = (int)(width - width_of(text));
    if (kind == FULCRUM_COLUMN_NUMBER) {
        (void)fprintf(stream, "%*s%s", blanks, "", text);
    } else {
        (void)fprintf(stream, "%s%*s", text, blanks, "");
    }
}

/* What column `j` shows in the heading (row = row_count) or in a row. */
static const char *shown_text(
    const struct fulcrum_report *report, size_t row, size_t j, char *room, size_t size)
{
    const struct fulcrum_column *column = &report->columns[j];
    return row == row_count(report)
               ? title_of(column)
               : text_of(column, cell_at(report, row, j), room, size);
}

/* One behind the last column that a line shows; 0 where all are hidden. */
static size_t shown_end(const struct fulcrum_report *report, size_t row)
{
    char room[32];
    size_t end = 0;
    for (size_t j = 0; j < report->column_count; j++) {
        int is_shown =
            report->hidden[j] == 0 &&
            (end == 0 || shown_text(report, row, j, room, sizeof room)[0] != '\0');
        end = is_shown ? j + 1 : end;
    }
    return end;
}

/* No line ends in blanks: neither in padding nor in empty cells. */
static void print_line(
    const struct fulcrum_report *report, FILE *stream, const size_t *widths, size_t row)
{
    char room[32];
    size_t end = shown_end(report, row);
    for (size_t j = 0; j < end; j++) {
        if (report->hidden[j] != 0) {
            continue;
        }
        enum fulcrum_column_kind kind = report->columns[j].kind;
        const char *text = shown_text(report, row, j, room, sizeof room);
        int is_last = j + 1 == end;
        int is_text = kind == FULCRUM_COLUMN_TEXT;
        print_padded(
            stream, kind, text, is_last && is_text ? width_of(text) : widths[j]);
        (void)fputs(is_last ? "\n" : "  ", stream);
    }
}

void fulcrum_report_print_table(
    const struct fulcrum_report *report, FILE *stream, int indent)
{
    size_t *widths =
        report != NULL ? calloc(report->column_count, sizeof *widths) : NULL;
    if (widths == NULL || report->is_short_of_memory) {
        free(widths);
        return;
    }
    for (size_t j = 0; j < report->column_count; j++) {
        widths[j] = column_width(report, j);
    }
    (void)fprintf(stream, "%*s", indent, "");
    print_line(report, stream, widths, row_count(report));
    for (size_t i = 0; i < row_count(report); i++) {
        (void)fprintf(stream, "%*s", indent, "");
        print_line(report, stream, widths, i);
    }
    free(widths);
}

static void add_json_cell(struct fulcrum_json *row, const struct fulcrum_column *column,
    const struct cell *cell)
{
    if (column->kind == FULCRUM_COLUMN_TEXT) {
        fulcrum_json_add_text(row, column->key, cell->text);
    } else {
        fulcrum_json_add_number(row, column->key, cell->number);
    }
}

void fulcrum_report_to_json(
    const struct fulcrum_report *report, struct fulcrum_json *object)
{
    if (report == NULL || report->is_short_of_memory) {
        return;
    }
    struct fulcrum_json *rows = fulcrum_json_add_array(object, report->rows_key);
    for (size_t i = 0; i < row_count(report); i++) {
        struct fulcrum_json *row = fulcrum_json_append_object(rows);
        for (size_t j = 0; j < report->column_count; j++) {
            add_json_cell(row, &report->columns[j], cell_at(report, i, j));
        }
    }
}

struct fulcrum_json *fulcrum_report_document(const char *schema)
{
    struct fulcrum_json *document = fulcrum_json_new_object();
    struct fulcrum_json *head = fulcrum_json_add_object(document, "schema");
    fulcrum_json_add_text(head, "name", schema);
    fulcrum_json_add_number(head, "version", 1.0);
    return document;
}

enum fulcrum_status fulcrum_report_print_document(struct fulcrum_json *document,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    char *text = NULL;
    enum fulcrum_status status =
        document != NULL ? fulcrum_json_text(document, FULCRUM_JSON_PRETTY, &text, err)
                         : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "out of memory");
    if (status == FULCRUM_OK) {
        (void)fputs(text, context->out);
    }
    free(text);
    fulcrum_json_free(document);
    return status;
}

enum fulcrum_status fulcrum_report_print(const struct fulcrum_report *report,
    const char *schema, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    if (report == NULL || report->is_short_of_memory) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "out of memory");
    }
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document(schema);
        fulcrum_report_to_json(report, document);
        return fulcrum_report_print_document(document, context, err);
    }
    if (context->format == FULCRUM_FORMAT_CSV) {
        print_csv(report, context->out);
        return FULCRUM_OK;
    }
    fulcrum_report_print_table(report, context->out, 0);
    return FULCRUM_OK;
}
