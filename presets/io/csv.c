/* csv.c - tables of numbers and names in CSV files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RFC 4180 with comment lines. The whole file is read once and cells are cut out of it
 * in place: quotes are undone by moving bytes to the left, so that a table is one
 * buffer and pointers into it. Numbers are parsed when they are asked for, so that a
 * table may hold columns of names, and faults can tell line and column.
 */
#define _POSIX_C_SOURCE 200809L
#include "presets/io/csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "presets/io/reader.h"

/* A text that lies in the file's buffer, and the line that its row begins in. */
struct cell {
    const char *text;
    size_t line;
};

/* In the order of their lines. */
struct cells {
    struct cell *items;
    size_t count;
    size_t room;
};

struct fulcrum_csv {
    char *path;
    char *text; /* the file, cells ended and unquoted in place */
    size_t column_count;
    struct cells cells; /* the header, then every row */
    size_t row_count;
    struct cells comments;
};

struct parser {
    struct fulcrum_csv *table;
    char *next;
    size_t line; /* of `next`, from 1 */
    struct fulcrum_error *err;
};

static enum fulcrum_status fail_line(
    const struct parser *parser, size_t line, const char *text)
{
    return fulcrum_fail(parser->err, FULCRUM_ERR_FORMAT, "%s: line %zu: %s",
        parser->table->path, line, text);
}

/* Doubles its room, so that large files take linear time. */
static enum fulcrum_status push(
    const struct parser *parser, struct cells *cells, const char *text, size_t line)
{
    if (cells->count == cells->room) {
        size_t room = cells->room == 0 ? 64 : 2 * cells->room;
        struct cell *grown = realloc(cells->items, room * sizeof *grown);
        TRY_MEMORY(grown, parser->err, "%s", parser->table->path);
        cells->items = grown;
        cells->room = room;
    }
    cells->items[cells->count++] = (struct cell){text, line};
    return FULCRUM_OK;
}

/* Ends the text before `at` and returns what separated it: ',', '\n' or 0. */
static char end_cell(struct parser *parser, char *at)
{
    char found = *at;
    char *next = at + 1;
    if (found == '\r' && (at[1] == '\n' || at[1] == '\0')) {
        found = at[1];
        next = at + 2;
    }
    *at = '\0';
    parser->next = found != '\0' ? next : NULL;
    parser->line += found == '\n' ? 1 : 0;
    return found;
}

/* A carriage return belongs to the line break only right before it. */
static bool is_cell_end(const char *at)
{
    return *at == ',' || *at == '\n' || *at == '\0' ||
           (*at == '\r' && (at[1] == '\n' || at[1] == '\0'));
}

/* Doubled quotes become one, in place; NULL where the closing one is missing. */
static char *unquote(struct parser *parser, char *open, char **end)
{
    char *to = open;
    char *from = open + 1;
    while (*from != '\0' && (*from != '"' || from[1] == '"')) {
        if (*from == '\n') {
            parser->line++;
        }
        from += *from == '"' ? 1 : 0;
        *to++ = *from++;
    }
    if (*from == '\0') {
        return NULL;
    }
    *end = from + 1;
    return to;
}

/* The text of a cell may end before the cell does. */
static enum fulcrum_status parse_cell(
    struct parser *parser, const char **out, char *separator)
{
    size_t line = parser->line;
    char *cell = parser->next;
    char *end = cell;
    char *text_end = NULL;
    if (*cell == '"') {
        text_end = unquote(parser, cell, &end);
        if (text_end == NULL) {
            return fail_line(parser, line, "a quote is not closed");
        }
        if (!is_cell_end(end)) {
            return fail_line(parser, parser->line, "text after a closing quote");
        }
    } else {
        while (!is_cell_end(end) && *end != '"') {
            end++;
        }
        if (*end == '"') {
            return fail_line(parser, line, "a quote inside an unquoted cell");
        }
        text_end = end;
    }
    *separator = end_cell(parser, end);
    *text_end = '\0';
    *out = cell;
    return FULCRUM_OK;
}

/* The header or one row. */
static enum fulcrum_status parse_record(struct parser *parser)
{
    struct fulcrum_csv *table = parser->table;
    size_t line = parser->line;
    size_t count = 0;
    char separator = ',';
    while (separator == ',') {
        const char *cell = NULL;
        TRY(parse_cell(parser, &cell, &separator));
        TRY(push(parser, &table->cells, cell, line));
        count++;
    }
    if (table->column_count == 0) {
        table->column_count = count;
        /* Columns are found by name: two of one name would hide data. */
        for (size_t i = 0; i < count; i++) {
            const char *name = table->cells.items[i].text;
            if (name[0] == '\0') {
                return fail_line(parser, line, "a column has no name");
            }
            FAIL_IF(fulcrum_csv_find(table, name) != i, parser->err, FULCRUM_ERR_FORMAT,
                "%s: line %zu: two columns are called \"%s\"", table->path, line, name);
        }
        return FULCRUM_OK;
    }
    FAIL_IF(count != table->column_count, parser->err, FULCRUM_ERR_FORMAT,
        "%s: line %zu: has %zu cells: expected %zu as in the header", table->path, line,
        count, table->column_count);
    table->row_count++;
    return FULCRUM_OK;
}

/* Comments below the header are skipped: they explain single rows. */
static enum fulcrum_status parse_comment(struct parser *parser)
{
    char *text = parser->next + 1;
    char *end = text + strcspn(text, "\n");
    bool is_last = *end == '\0';
    if (end > text && end[-1] == '\r') {
        end[-1] = '\0';
    }
    *end = '\0';
    parser->next = is_last ? NULL : end + 1;
    parser->line++;
    if (parser->table->column_count > 0) {
        return FULCRUM_OK;
    }
    return push(
        parser, &parser->table->comments, *text == ' ' ? text + 1 : text, parser->line);
}

static enum fulcrum_status parse(struct parser *parser)
{
    while (parser->next != NULL && *parser->next != '\0') {
        size_t blank = strspn(parser->next, "\r");
        if (parser->next[blank] == '\n') {
            parser->next += blank + 1;
            parser->line++;
        } else {
            TRY(*parser->next == '#' ? parse_comment(parser) : parse_record(parser));
        }
    }
    FAIL_IF(parser->table->row_count == 0, parser->err, FULCRUM_ERR_FORMAT,
        "%s: has no data: expected a header line and at least one row",
        parser->table->path);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_csv_load(
    const char *path, struct fulcrum_csv **out, struct fulcrum_error *err)
{
    struct fulcrum_csv *table = calloc(1, sizeof *table);
    TRY_MEMORY(table, err, "%s", path);
    struct parser parser = {table, NULL, 1, err};
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_text_file_read(path, &table->text, err));
    table->path = strdup(path);
    parser.next = table->text;
    TRY_OR_END(table->path != NULL
                   ? parse(&parser)
                   : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", path));
    *out = table;
    return FULCRUM_OK;
end:
    fulcrum_csv_free(table);
    return status;
}

void fulcrum_csv_free(struct fulcrum_csv *table)
{
    if (table != NULL) {
        free(table->path);
        free(table->text);
        free(table->cells.items);
        free(table->comments.items);
        free(table);
    }
}

size_t fulcrum_csv_row_count(const struct fulcrum_csv *table)
{
    return table->row_count;
}

size_t fulcrum_csv_column_count(const struct fulcrum_csv *table)
{
    return table->column_count;
}

const char *fulcrum_csv_column_name(const struct fulcrum_csv *table, size_t column)
{
    return table->cells.items[column].text;
}

size_t fulcrum_csv_find(const struct fulcrum_csv *table, const char *column)
{
    size_t i = 0;
    while (i < table->column_count && strcmp(table->cells.items[i].text, column) != 0) {
        i++;
    }
    return i;
}

const char *fulcrum_csv_text(const struct fulcrum_csv *table, size_t row, size_t column)
{
    return table->cells.items[(row + 1) * table->column_count + column].text;
}

size_t fulcrum_csv_line(const struct fulcrum_csv *table, size_t row)
{
    return table->cells.items[(row + 1) * table->column_count].line;
}

/* strtod alone would take hexadecimal numbers, "inf" and "nan". */
static int parse_number(const char *text, double *out)
{
    size_t length = strspn(text, "0123456789+-.eE");
    if (length == 0 || text[length + strspn(text + length, " \t")] != '\0') {
        return 0;
    }
    char *end = NULL;
    double value = strtod(text, &end);
    if (end != text + length || !isfinite(value)) {
        return 0;
    }
    *out = value;
    return 1;
}

enum fulcrum_status fulcrum_csv_number(const struct fulcrum_csv *table, size_t row,
    size_t column, double *out, struct fulcrum_error *err)
{
    const char *text = fulcrum_csv_text(table, row, column);
    const char *start = text + strspn(text, " \t");
    double value = (double)NAN;
    FAIL_IF(*start != '\0' && !parse_number(start, &value), err, FULCRUM_ERR_FORMAT,
        "%s: line %zu: %s = %.60s: expected a number or nothing", table->path,
        fulcrum_csv_line(table, row), fulcrum_csv_column_name(table, column), text);
    *out = value;
    return FULCRUM_OK;
}

const char *fulcrum_csv_comment(const struct fulcrum_csv *table, size_t line)
{
    return line < table->comments.count ? table->comments.items[line].text : "";
}
