/* report.c - rows of results, printed as a table, CSV or JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One set of rows, three outputs: an aligned table for people (four significant
 * digits), CSV and JSON for programs (all digits that matter). Commands fill rows and
 * do not know the format. Unknown values are a dash, an empty cell and null.
 */

#include "cli/output/report.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "model/network/network.h"
#include "model/status.h"
#include "presets/io/json.h"

/* What a user must know about a solution, in words. */

void fulcrum_flags_join(unsigned flags, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < (unsigned)FULCRUM_FLAG_COUNT && used < size; i++) {
        if ((flags & (1U << i)) != 0U) {
            used += (size_t)snprintf(out + used, size - used, "%s%s",
                used > 0 ? "; " : "", fulcrum_flag_text((enum fulcrum_flag_index)i));
        }
    }
}

void fulcrum_flags_add(unsigned flags, struct fulcrum_result *result)
{
    fulcrum_result_note(result, "flags", NULL);
    for (unsigned i = 0; i < (unsigned)FULCRUM_FLAG_COUNT; i++) {
        if ((flags & (1U << i)) != 0U) {
            fulcrum_result_note(
                result, "flags", fulcrum_flag_text((enum fulcrum_flag_index)i));
        }
    }
}

void fulcrum_flags_to_json(unsigned flags, struct fulcrum_json *object)
{
    struct fulcrum_json *array = fulcrum_json_add_array(object, "flags");
    for (unsigned i = 0; i < (unsigned)FULCRUM_FLAG_COUNT; i++) {
        if ((flags & (1U << i)) != 0U) {
            fulcrum_json_append_text(
                array, fulcrum_flag_text((enum fulcrum_flag_index)i));
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
    const struct fulcrum_report_head *columns;
    size_t column_count;
    size_t cell_count;
    size_t capacity;
    struct cell *cells; /* row by row */
    bool *hidden;       /* of each column: whether tables leave it out */
};

struct fulcrum_report *fulcrum_report_new(const char *rows_key,
    const struct fulcrum_report_head *columns, size_t column_count)
{
    assert(column_count > 0);
    struct fulcrum_report *report = fulcrum_allocate(1, sizeof *report);
    report->rows_key = rows_key;
    report->columns = columns;
    report->column_count = column_count;
    report->hidden = fulcrum_allocate(column_count, sizeof *report->hidden);
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

bool fulcrum_report_is_empty(const struct fulcrum_report *report)
{
    return report->cell_count == 0;
}

static struct cell *next_cell(
    struct fulcrum_report *report, enum fulcrum_report_kind kind)
{
    assert(report->columns[report->cell_count % report->column_count].kind == kind);
    (void)kind;
    if (report->cell_count == report->capacity) {
        size_t capacity = report->capacity == 0 ? 64 : 2 * report->capacity;
        struct cell *cells = fulcrum_allocate(capacity, sizeof *cells);
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
    next_cell(report, FULCRUM_COLUMN_TEXT)->text = fulcrum_format("%s", text);
}

void fulcrum_report_add_number(struct fulcrum_report *report, double value)
{
    next_cell(report, FULCRUM_COLUMN_NUMBER)->number = value;
}

void fulcrum_report_add_texts(
    struct fulcrum_report *report, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_report_add_text(report, texts[i]);
    }
}

void fulcrum_report_add_numbers(
    struct fulcrum_report *report, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_report_add_number(report, values[i]);
    }
}

static size_t row_count(const struct fulcrum_report *report)
{
    assert(report->column_count > 0 && report->cell_count % report->column_count == 0);
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
    size_t column = find_column(report, key);
    if (column < report->column_count) {
        report->hidden[column] = true;
    }
}

static bool is_unknown(const struct cell *cell)
{
    return cell->text != NULL ? cell->text[0] == '\0' : isnan(cell->number);
}

void fulcrum_report_hide_empty(struct fulcrum_report *report)
{
    for (size_t j = 0; j < report->column_count && report->cell_count > 0; j++) {
        size_t i = 0;
        while (i < row_count(report) && is_unknown(cell_at(report, i, j))) {
            i++;
        }
        report->hidden[j] = report->hidden[j] || i == row_count(report);
    }
}

double fulcrum_report_constant(const struct fulcrum_report *report, const char *key)
{
    size_t column = find_column(report, key);
    if (report->cell_count == 0 || column == report->column_count ||
        report->columns[column].kind != FULCRUM_COLUMN_NUMBER) {
        return (double)NAN;
    }
    double value = cell_at(report, 0, column)->number;
    for (size_t i = 1; i < row_count(report); i++) {
        value = cell_at(report, i, column)->number == value ? value : (double)NAN;
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
            const struct cell *cell = cell_at(report, i, j);
            if (cell->text != NULL) {
                fulcrum_report_print_csv_text(stream, cell->text);
            } else if (isfinite(cell->number)) {
                (void)fprintf(stream, "%.17g", cell->number);
            }
        }
        (void)fputc('\n', stream);
    }
}

enum { NUMBER_SIZE = 32 };

/* What a column shows in the heading (row = row_count) or in a row; may be `room`. */
static const char *shown_text(
    const struct fulcrum_report *report, size_t row, size_t j, char room[NUMBER_SIZE])
{
    const struct fulcrum_report_head *column = &report->columns[j];
    if (row == row_count(report)) {
        return column->title != NULL ? column->title : column->key;
    }
    const struct cell *cell = cell_at(report, row, j);
    if (cell->text != NULL) {
        return cell->text;
    }
    /* People read 16384 and 119900 more easily than 1.638e+04 and 1.199e+05. */
    double magnitude = fabs(cell->number);
    bool is_plain = magnitude < PLAIN_BELOW &&
                    (magnitude >= 1e4 || cell->number == floor(cell->number));
    if (isfinite(cell->number)) {
        (void)snprintf(room, NUMBER_SIZE, is_plain ? "%.0f" : "%.4g", cell->number);
    } else {
        (void)snprintf(room, NUMBER_SIZE, "-");
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
    size_t width = 0;
    for (size_t i = 0; i <= row_count(report); i++) {
        char room[NUMBER_SIZE];
        size_t wanted = width_of(shown_text(report, i, column, room));
        width = wanted > width ? wanted : width;
    }
    return width;
}

/* One behind the last column that a line shows; 0 where all are hidden. */
static size_t shown_end(const struct fulcrum_report *report, size_t row)
{
    char room[NUMBER_SIZE];
    size_t end = 0;
    for (size_t j = 0; j < report->column_count; j++) {
        if (!report->hidden[j] &&
            (end == 0 || shown_text(report, row, j, room)[0] != '\0')) {
            end = j + 1;
        }
    }
    return end;
}

/*
 * Text to the left, numbers to the right. No line ends in blanks: neither in padding
 * nor in empty cells.
 */
static void print_line(
    const struct fulcrum_report *report, FILE *stream, const size_t *widths, size_t row)
{
    char room[NUMBER_SIZE];
    size_t end = shown_end(report, row);
    for (size_t j = 0; j < end; j++) {
        if (report->hidden[j]) {
            continue;
        }
        const char *text = shown_text(report, row, j, room);
        bool is_last = j + 1 == end;
        int blanks = (int)(widths[j] - width_of(text));
        if (report->columns[j].kind == FULCRUM_COLUMN_NUMBER) {
            (void)fprintf(stream, "%*s%s", blanks, "", text);
        } else {
            (void)fprintf(stream, "%s%*s", text, is_last ? 0 : blanks, "");
        }
        (void)fputs(is_last ? "\n" : "  ", stream);
    }
}

void fulcrum_report_print_table(
    const struct fulcrum_report *report, FILE *stream, int indent)
{
    size_t *widths = fulcrum_allocate(report->column_count, sizeof *widths);
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

void fulcrum_report_to_json(
    const struct fulcrum_report *report, struct fulcrum_json *object)
{
    struct fulcrum_json *rows = fulcrum_json_add_array(object, report->rows_key);
    for (size_t i = 0; i < row_count(report); i++) {
        struct fulcrum_json *row = fulcrum_json_append_object(rows);
        for (size_t j = 0; j < report->column_count; j++) {
            const struct cell *cell = cell_at(report, i, j);
            if (cell->text != NULL) {
                fulcrum_json_add_text(row, report->columns[j].key, cell->text);
            } else {
                fulcrum_json_add_number(row, report->columns[j].key, cell->number);
            }
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
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document(schema);
        fulcrum_report_to_json(report, document);
        return fulcrum_report_print_document(document, context, err);
    }
    if (context->format == FULCRUM_FORMAT_CSV) {
        print_csv(report, context->out);
    } else {
        fulcrum_report_print_table(report, context->out, 0);
    }
    return FULCRUM_OK;
}
