/* csv.h - tables of numbers and names in CSV files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_CSV_H
#define FULCRUM_PRESETS_IO_CSV_H

#include <stddef.h>

#include "model/status.h"

/* A CSV file with one header line (RFC 4180); lines that begin with '#' are comments.
 */
struct fulcrum_csv;

/*
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT (empty, ragged, unbalanced quotes, no
 *            data line; the detail names file and line)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_csv_load(
    const char *path, struct fulcrum_csv **out, struct fulcrum_error *err);
void fulcrum_csv_free(struct fulcrum_csv *table);

/* Data lines: neither header nor comments. */
size_t fulcrum_csv_row_count(const struct fulcrum_csv *table);
/* Cells of the header line, as many as every row has. */
size_t fulcrum_csv_column_count(const struct fulcrum_csv *table);
/* Borrowed. */
const char *fulcrum_csv_column_name(const struct fulcrum_csv *table, size_t column);
/* Index of a column, or column_count where there is none of that name. */
size_t fulcrum_csv_find(const struct fulcrum_csv *table, const char *column);
/* Borrowed. */
const char *fulcrum_csv_text(
    const struct fulcrum_csv *table, size_t row, size_t column);
/* Where the row begins in its file, from 1. */
size_t fulcrum_csv_line(const struct fulcrum_csv *table, size_t row);
/*
 * The cell as a number; an empty cell is NAN ("not measured").
 *   fails    FULCRUM_ERR_FORMAT (no finite number; names file, line, column, value)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_csv_number(
    const struct fulcrum_csv *table, size_t row, size_t column, double *out,
    struct fulcrum_error *err);

/* The comment lines before the header, '#' and one space taken off; "" if none. */
const char *fulcrum_csv_comment(const struct fulcrum_csv *table, size_t line);

#endif
