/* report.h - tables of results, for people and files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_REPORT_H
#define FULCRUM_CLI_OUTPUT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/argv_text.h"
#include "cli/command.h"
#include "model/network/network.h"
#include "model/result.h"
#include "model/status.h"
#include "presets/io/json.h"
#include "presets/result/quantity_text.h"

/* Rows of results, printed as a table, CSV or JSON. */

/* What a user must know about a solution, in words. */

/* The texts of all flags that are set, "; " between them, as far as they fit. */
void fulcrum_flags_join(unsigned flags, char *out, size_t size);

/* Adds them as notes under "flags". */
void fulcrum_flags_add(unsigned flags, struct fulcrum_result *result);

/* Adds them as an array of texts under "flags". */
void fulcrum_flags_to_json(unsigned flags, struct fulcrum_json *object);

enum fulcrum_report_kind { FULCRUM_COLUMN_TEXT, FULCRUM_COLUMN_NUMBER };

struct fulcrum_report_head {
    const char *key; /* CSV heading and JSON member, with the unit: "watts_w" */
    enum fulcrum_report_kind kind;
    const char *title; /* heading of the table; NULL: the key */
};

/* Three columns: a number and the 5 and 95 % ends of its interval. */
#define FULCRUM_COLUMN_ENDS(key, title)                                                \
    {key, FULCRUM_COLUMN_NUMBER, title}, {key "_lo", FULCRUM_COLUMN_NUMBER, "5 %"},    \
    {                                                                                  \
        key "_hi", FULCRUM_COLUMN_NUMBER, "95 %"                                       \
    }

/* Rows under one list of columns; without memory for them the program ends. */
struct fulcrum_report;

/*
 * A report without rows.
 *   rows_key  JSON member that holds the rows: "machines"
 *   columns   borrowed, until the report is freed
 */
struct fulcrum_report *fulcrum_report_new(const char *rows_key,
    const struct fulcrum_report_head *columns, size_t column_count);

/* The same for an array of columns. */
#define FULCRUM_REPORT_NEW(rows_key, columns)                                          \
    fulcrum_report_new(rows_key, columns, sizeof(columns) / sizeof((columns)[0]))

/* Accepts NULL. */
void fulcrum_report_free(struct fulcrum_report *report);

/* The next cell, row by row; the kind must be that of its column. */
void fulcrum_report_add_text(struct fulcrum_report *report, const char *text);

/* NAN is "not known": empty in tables and CSV, null in JSON. */
void fulcrum_report_add_number(struct fulcrum_report *report, double value);

/* Several cells of one kind. */
void fulcrum_report_add_texts(
    struct fulcrum_report *report, const char *const *texts, size_t count);
void fulcrum_report_add_numbers(
    struct fulcrum_report *report, const double *values, size_t count);

/* The same, written out: FULCRUM_REPORT_NUMBERS(report, range->lo, range->hi). */
#define FULCRUM_REPORT_TEXTS(report, ...)                                              \
    fulcrum_report_add_texts(report, (const char *const[]){__VA_ARGS__},               \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
#define FULCRUM_REPORT_NUMBERS(report, ...)                                            \
    fulcrum_report_add_numbers(report, (const double[]){__VA_ARGS__},                  \
        sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Whether there is no row. */
bool fulcrum_report_is_empty(const struct fulcrum_report *report);

/*
 * Leaves a column out of tables, CSV and JSON keep it: a line above says the same,
 * other columns give it, or nobody knows it. A key that is no column is ignored.
 */
void fulcrum_report_hide(struct fulcrum_report *report, const char *key);

/* Hides every column that has no number and no text in any row. */
void fulcrum_report_hide_empty(struct fulcrum_report *report);

/* The number that all rows have in a column; NAN where they differ or one is not known.
 */
double fulcrum_report_constant(const struct fulcrum_report *report, const char *key);

/* Adds the rows as an array of objects under the rows key. */
void fulcrum_report_to_json(
    const struct fulcrum_report *report, struct fulcrum_json *object);

/*
 * Prints every row in the format of `context`. JSON becomes
 * {"schema": {"name": schema, "version": 1}, rows_key: [{...}, ...]}.
 *   fails    FULCRUM_ERR_NO_MEMORY (JSON)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_report_print(
    const struct fulcrum_report *report, const char *schema,
    const struct fulcrum_context *context, struct fulcrum_error *err);

/* A table for people, at 4 digits, between an indent and the end of the line. */
void fulcrum_report_print_table(
    const struct fulcrum_report *report, FILE *stream, int indent);

/* One text cell of CSV: quoted where RFC 4180 asks for it. */
void fulcrum_report_print_csv_text(FILE *stream, const char *text);

/* The head that every JSON document of the program starts with; NULL: no memory. */
struct fulcrum_json *fulcrum_report_document(const char *schema);

/*
 * Prints a document and frees it.
 *   fails    FULCRUM_ERR_NO_MEMORY, also where `document` is NULL
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_report_print_document(
    struct fulcrum_json *document, const struct fulcrum_context *context,
    struct fulcrum_error *err);

#endif
