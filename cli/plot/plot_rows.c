/* plot_rows.c - rows of results from a file that fulcrum wrote, CSV or JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/sweep_columns.h"
#include "model/nearest.h"
#include "model/quantity.h"
#include "model/try.h"

struct fulcrum_plot_rows {
    const struct fulcrum_csv *table; /* NULL: from JSON */
    struct fulcrum_node root;
    size_t count;
    struct fulcrum_node items[]; /* of JSON: `count` objects */
};

static enum fulcrum_status new_rows(
    size_t item_count, struct fulcrum_plot_rows **out, struct fulcrum_error *err)
{
    *out = calloc(1, sizeof **out + item_count * sizeof(struct fulcrum_node));
    return *out != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu rows", item_count);
}

enum fulcrum_status fulcrum_plot_rows_of_table(const struct fulcrum_csv *table,
    struct fulcrum_plot_rows **out, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    TRY(new_rows(0, &rows, err));
    rows->table = table;
    rows->count = fulcrum_csv_row_count(table);
    *out = rows;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_rows_of_json(const struct fulcrum_node *root,
    const char *key, struct fulcrum_plot_rows **out, struct fulcrum_error *err)
{
    struct fulcrum_node array = fulcrum_node_member(root, key);
    struct fulcrum_plot_rows *rows = NULL;
    size_t count = 0;
    if (!fulcrum_node_is_array(&array, &count)) {
        return fulcrum_reader_finish(root->reader, err);
    }
    TRY(new_rows(count, &rows, err));
    rows->root = *root;
    rows->count = count;
    for (size_t i = 0; i < count; i++) {
        rows->items[i] = fulcrum_node_element(&array, i);
        if (!fulcrum_node_is_object(&rows->items[i])) {
            fulcrum_plot_rows_free(rows);
            return fulcrum_reader_finish(root->reader, err);
        }
    }
    *out = rows;
    return FULCRUM_OK;
}

void fulcrum_plot_rows_free(struct fulcrum_plot_rows *rows)
{
    free(rows);
}

size_t fulcrum_plot_rows_count(const struct fulcrum_plot_rows *rows)
{
    return rows->count;
}

enum fulcrum_status fulcrum_plot_rows_need(
    const struct fulcrum_plot_rows *rows, struct fulcrum_error *err)
{
    if (rows->count > 0) {
        return FULCRUM_OK;
    }
    const char *file = rows->root.reader != NULL ? rows->root.reader->file : "table";
    return fulcrum_fail(
        err, FULCRUM_ERR_FORMAT, "%s: there is no row in it: nothing to draw", file);
}

int fulcrum_plot_rows_have(const struct fulcrum_plot_rows *rows, const char *column)
{
    if (rows->table != NULL) {
        return fulcrum_csv_find(rows->table, column) <
               fulcrum_csv_column_count(rows->table);
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (fulcrum_node_member(&rows->items[i], column).json != NULL) {
            return 1;
        }
    }
    return 0;
}

const char *fulcrum_plot_rows_column(
    const struct fulcrum_plot_rows *rows, size_t column)
{
    if (rows->table != NULL) {
        return column < fulcrum_csv_column_count(rows->table)
                   ? fulcrum_csv_column_name(rows->table, column)
                   : NULL;
    }
    return rows->count > 0 ? fulcrum_node_key(&rows->items[0], column) : NULL;
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
    if (rows->table != NULL) {
        size_t i = fulcrum_csv_find(rows->table, column);
        if (i == fulcrum_csv_column_count(rows->table)) {
            *out = FULCRUM_UNKNOWN;
            return FULCRUM_OK;
        }
        return fulcrum_csv_number(rows->table, row, i, out, err);
    }
    if (row >= rows->count) {
        *out = FULCRUM_UNKNOWN;
        return fulcrum_plot_rows_need(rows, err);
    }
    struct fulcrum_node cell = fulcrum_node_member(&rows->items[row], column);
    return fulcrum_node_measured(&cell, out) ? FULCRUM_OK
                                             : fulcrum_reader_finish(cell.reader, err);
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

/* "first; second", as tables have lists of texts. */
static void join_texts(const struct fulcrum_node *list, char *out, size_t size)
{
    size_t count = 0;
    size_t used = 0;
    if (!fulcrum_node_is_array(list, &count)) {
        return;
    }
    for (size_t i = 0; i < count && used + 1 < size; i++) {
        struct fulcrum_node item = fulcrum_node_element(list, i);
        const char *between = used > 0 ? "; " : "";
        char text[200];
        if (fulcrum_node_text(&item, text, sizeof text)) {
            (void)snprintf(out + used, size - used, "%s%s", between, text);
            used = strlen(out);
        }
    }
}

/* What is no text says nothing: a chart can do without any text there is. */
void fulcrum_plot_rows_text(const struct fulcrum_plot_rows *rows, size_t row,
    const char *column, char *out, size_t size)
{
    out[0] = '\0';
    if (rows->table != NULL) {
        size_t i = fulcrum_csv_find(rows->table, column);
        if (i < fulcrum_csv_column_count(rows->table)) {
            (void)snprintf(out, size, "%s", fulcrum_csv_text(rows->table, row, i));
        }
        return;
    }
    struct fulcrum_reader unheard = {.file = ""};
    /* Charts name what all rows share by the first one, which may not be there. */
    struct fulcrum_node cell = {.json = NULL};
    if (row < rows->count) {
        cell = fulcrum_node_member(&rows->items[row], column);
    }
    if (cell.json == NULL) {
        cell = fulcrum_node_member(&rows->root, column);
    }
    cell.reader = &unheard;
    if (cell.json != NULL && !fulcrum_node_text(&cell, out, size)) {
        out[0] = '\0';
        join_texts(&cell, out, size);
    }
}
