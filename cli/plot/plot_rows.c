/* plot_rows.c - rows of results from a file that fulcrum wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/sweep_columns.h"
#include "model/nearest.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/try.h"

struct fulcrum_plot_rows {
    const char *file;
    const struct fulcrum_result *result;
    const struct fulcrum_table *table; /* NULL: the facts are the only row */
    bool is_csv;
};

enum fulcrum_status fulcrum_plot_rows_of(const char *file,
    const struct fulcrum_result *result, const char *key,
    struct fulcrum_plot_rows **out, struct fulcrum_error *err)
{
    /* A table of CSV has no name of its own. */
    bool is_csv = fulcrum_result_schema(result)[0] == '\0';
    const struct fulcrum_item *item =
        key != NULL ? fulcrum_result_find(result, is_csv ? "rows" : key) : NULL;
    const struct fulcrum_table *table = item != NULL ? item->table : NULL;
    FAIL_IF(key != NULL && table == NULL, err, FULCRUM_ERR_FORMAT,
        "%s: %s is not given: expected an array of objects", file, key);
    FAIL_IF(table != NULL && item->is_list, err, FULCRUM_ERR_FORMAT,
        "%s: %s[0]: expected an object", file, key);
    struct fulcrum_plot_rows *rows = calloc(1, sizeof *rows);
    TRY_MEMORY(rows, err, "rows of %s", file);
    *rows = (struct fulcrum_plot_rows){file, result, table, is_csv};
    *out = rows;
    return FULCRUM_OK;
}

void fulcrum_plot_rows_free(struct fulcrum_plot_rows *rows)
{
    free(rows);
}

size_t fulcrum_plot_rows_count(const struct fulcrum_plot_rows *rows)
{
    return rows->table != NULL ? fulcrum_table_rows(rows->table) : 1;
}

enum fulcrum_status fulcrum_plot_rows_need(
    const struct fulcrum_plot_rows *rows, struct fulcrum_error *err)
{
    FAIL_IF(fulcrum_plot_rows_count(rows) == 0, err, FULCRUM_ERR_FORMAT,
        "%s: there is no row in it: nothing to draw", rows->file);
    return FULCRUM_OK;
}

/* A cell by the name of its column; false where there is no such column, or one with
 * ends is wanted. */
static bool find_cell(const struct fulcrum_plot_rows *rows, size_t row,
    const char *column, bool with_ends, struct fulcrum_cell *out)
{
    if (rows->table == NULL) {
        const struct fulcrum_item *item = fulcrum_result_find(rows->result, column);
        bool is_found =
            item != NULL && item->table == NULL && (item->has_ends || !with_ends);
        *out = is_found ? item->cell : *out;
        return is_found;
    }
    size_t j = fulcrum_table_find(rows->table, column);
    bool is_found = j < fulcrum_table_columns(rows->table) &&
                    (!with_ends || fulcrum_table_column(rows->table, j).has_ends);
    *out = is_found ? fulcrum_table_at(rows->table, row, column) : *out;
    return is_found;
}

/* The cell of COLUMN, or the end of an interval that "COLUMN_lo" and "_hi" name. */
static bool cell_of(const struct fulcrum_plot_rows *rows, size_t row,
    const char *column, struct fulcrum_cell *out)
{
    *out = (struct fulcrum_cell){(double)NAN, (double)NAN, (double)NAN, NULL};
    bool is_found = find_cell(rows, row, column, false, out);
    if (!is_found && fulcrum_column_is_end(column)) {
        struct fulcrum_string base = {0};
        size_t length = strlen(column) - strlen("_lo");
        fulcrum_string_add(&base, "%.*s", (int)length, column);
        is_found = find_cell(rows, row, fulcrum_string_get(&base), true, out);
        fulcrum_string_clear(&base);
        out->number = strcmp(column + length, "_lo") == 0 ? out->lo : out->hi;
        out->text = NULL;
    }
    return is_found;
}

int fulcrum_plot_rows_have(const struct fulcrum_plot_rows *rows, const char *column)
{
    struct fulcrum_cell cell;
    return cell_of(rows, 0, column, &cell);
}

const char *fulcrum_plot_rows_column(
    const struct fulcrum_plot_rows *rows, size_t column)
{
    if (rows->table == NULL) {
        return column < fulcrum_result_count(rows->result)
                   ? fulcrum_result_item(rows->result, column)->key
                   : NULL;
    }
    return column < fulcrum_table_columns(rows->table)
               ? fulcrum_table_column(rows->table, column).key
               : NULL;
}

enum fulcrum_status fulcrum_plot_rows_fail_column(const struct fulcrum_plot_rows *rows,
    const char *what, const char *name, struct fulcrum_error *err)
{
    enum { MOST = 256, HINT_BYTE = 1600 };
    const char *columns[MOST];
    char hint[HINT_BYTE];
    size_t count = 0;
    for (size_t i = 0; count < MOST; i++) {
        const char *column = fulcrum_plot_rows_column(rows, i);
        if (column == NULL) {
            break;
        }
        if (!fulcrum_column_is_end(column)) {
            columns[count++] = column;
        }
    }
    const struct fulcrum_names names = {columns, count, sizeof columns[0]};
    fulcrum_names_hint(&names, name, hint, sizeof hint);
    return fulcrum_fail(
        err, FULCRUM_ERR_FORMAT, "%s: no column '%s'%s", what, name, hint);
}

enum fulcrum_status fulcrum_plot_rows_number(const struct fulcrum_plot_rows *rows,
    size_t row, const char *column, double *out, struct fulcrum_error *err)
{
    struct fulcrum_cell cell;
    *out = FULCRUM_UNKNOWN;
    if (row >= fulcrum_plot_rows_count(rows)) {
        return fulcrum_plot_rows_need(rows, err);
    }
    if (!cell_of(rows, row, column, &cell) || cell.text == NULL) {
        *out = cell.number;
        return FULCRUM_OK;
    }
    /* One cell of CSV that is no number makes texts of the others of its column. */
    char *end = NULL;
    double value = strtod(cell.text, &end);
    bool is_blank = cell.text[0] == '\0';
    FAIL_IF(!rows->is_csv || *end != '\0' || !(isfinite(value) || is_blank), err,
        FULCRUM_ERR_FORMAT, "%s: row %zu: %s = %s: expected a number", rows->file,
        row + 1, column, cell.text);
    *out = is_blank ? FULCRUM_UNKNOWN : value;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_rows_numbers(const struct fulcrum_plot_rows *rows,
    size_t row, const char *const *columns, double *out, struct fulcrum_error *err)
{
    for (size_t i = 0; columns[i] != NULL; i++) {
        TRY(fulcrum_plot_rows_number(rows, row, columns[i], &out[i], err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_rows_cells(const struct fulcrum_plot_rows *rows,
    size_t row, const struct fulcrum_plot_cell *cells, struct fulcrum_error *err)
{
    for (size_t i = 0; cells[i].column != NULL; i++) {
        TRY(fulcrum_plot_rows_number(rows, row, cells[i].column, cells[i].to, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_rows_interval(const struct fulcrum_plot_rows *rows,
    size_t row, const char *column, struct fulcrum_interval *out,
    struct fulcrum_error *err)
{
    char name[120];
    (void)snprintf(name, sizeof name, "%s_lo", column);
    TRY(fulcrum_plot_rows_number(rows, row, name, &out->lo, err));
    (void)snprintf(name, sizeof name, "%s_hi", column);
    return fulcrum_plot_rows_number(rows, row, name, &out->hi, err);
}

/* "first; second" of a list of notes. */
static void join_notes(const struct fulcrum_item *item, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < fulcrum_table_rows(item->table) && used < size; i++) {
        const char *text = fulcrum_table_cell(item->table, i, 0).text;
        int length = snprintf(out + used, size - used, "%s%s", i > 0 ? "; " : "",
            text != NULL ? text : "");
        used += length > 0 ? (size_t)length : 0;
    }
}

/* Charts name what all rows share by the first one, which may not be there. */
void fulcrum_plot_rows_text(const struct fulcrum_plot_rows *rows, size_t row,
    const char *column, char *out, size_t size)
{
    struct fulcrum_cell cell;
    const struct fulcrum_item *fact = fulcrum_result_find(rows->result, column);
    out[0] = '\0';
    if (cell_of(rows, row, column, &cell)) {
        if (cell.text == NULL && isfinite(cell.number)) {
            (void)snprintf(out, size, "%.12g", cell.number);
        } else {
            (void)snprintf(out, size, "%s", cell.text != NULL ? cell.text : "");
        }
    } else if (fact != NULL && fact->is_list) {
        join_notes(fact, out, size);
    } else {
        (void)snprintf(out, size, "%s", fulcrum_result_text_of(rows->result, column));
    }
}
