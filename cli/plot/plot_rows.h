/* plot_rows.h - rows of results from a file that fulcrum wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_ROWS_H
#define FULCRUM_CLI_PLOT_PLOT_ROWS_H

#include <stddef.h>

#include "model/interval.h"
#include "model/result.h"
#include "model/status.h"

/* Cells are found by the name of their column; what there is not, is not known. */
struct fulcrum_plot_rows;

/*
 * A table of what was read; texts that every row shares may be facts beside it.
 *   file     names it in messages
 *   result   borrowed as long as `out` is used, as is `file`
 *   key      of the table; NULL: the facts are the only row
 *   out      the caller frees it with fulcrum_plot_rows_free
 *   fails    FULCRUM_ERR_FORMAT (no such table), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_rows_of(const char *file,
    const struct fulcrum_result *result, const char *key,
    struct fulcrum_plot_rows **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_plot_rows_free(struct fulcrum_plot_rows *rows);

size_t fulcrum_plot_rows_count(const struct fulcrum_plot_rows *rows);

/*
 * For charts that have nothing to show without a row.
 *   fails    FULCRUM_ERR_FORMAT (there is none)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_rows_need(
    const struct fulcrum_plot_rows *rows, struct fulcrum_error *err);

/* 1 where some row has such a column; its cells may all be empty. */
int fulcrum_plot_rows_have(const struct fulcrum_plot_rows *rows, const char *column);

/* Name of a column, in the order of the file; NULL beyond the last. Borrowed. */
const char *fulcrum_plot_rows_column(
    const struct fulcrum_plot_rows *rows, size_t column);

/*
 * "WHAT: no column 'NAME'", with the one that is near in name, or all there are.
 * Returns FULCRUM_ERR_FORMAT.
 */
enum fulcrum_status fulcrum_plot_rows_fail_column(const struct fulcrum_plot_rows *rows,
    const char *what, const char *name, struct fulcrum_error *err);

/*
 * NAN where there is no such cell, or an empty one.
 *   fails    FULCRUM_ERR_FORMAT (no number; the detail names file, row, column and value)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_rows_number(
    const struct fulcrum_plot_rows *rows, size_t row, const char *column, double *out,
    struct fulcrum_error *err);

/*
 * The interval of a column, "COLUMN_lo" and "COLUMN_hi". NAN where there is none.
 *   fails    as above
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_rows_interval(
    const struct fulcrum_plot_rows *rows, size_t row, const char *column,
    struct fulcrum_interval *out, struct fulcrum_error *err);

/*
 * Numbers of one row into `out`, in the order of `columns`, which end with NULL. As
 * above; what follows a fault is not read.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_rows_numbers(
    const struct fulcrum_plot_rows *rows, size_t row, const char *const *columns,
    double *out, struct fulcrum_error *err);

/* Where the number of a column goes. */
struct fulcrum_plot_cell {
    const char *column; /* NULL ends a table */
    double *to;
};

/* The same to places of their own. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_rows_cells(
    const struct fulcrum_plot_rows *rows, size_t row,
    const struct fulcrum_plot_cell *cells, struct fulcrum_error *err);

/*
 * A copy, cut to `size`; "" where there is no such cell, or no text in it. Lists of
 * texts are joined by "; ".
 */
void fulcrum_plot_rows_text(const struct fulcrum_plot_rows *rows, size_t row,
    const char *column, char *out, size_t size);

#endif
