/* report.h - tables of results, for people and files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_REPORT_H
#define FULCRUM_CLI_OUTPUT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/command.h"
#include "model/network/network.h"
#include "model/status.h"
#include "presets/io/json.h"

/* Quantities as people write them: 2.01 ms, 2 h 47 min, 54 %. */

/* Numbers as text, quickly, for outputs of millions of them. */

/* Room for any number, with the '\0' at its end. */
enum { FULCRUM_NUMBER_SIZE = 32 };

/*
 * Writes a finite number as printf's %.12g does and returns its length. Twelve digits
 * are far more than any prediction is good for, and the same on every machine.
 */
size_t fulcrum_number_text(double value, char out[FULCRUM_NUMBER_SIZE]);

/* The same with as many digits as it takes to read back the very same number. */
size_t fulcrum_number_text_exact(double value, char out[FULCRUM_NUMBER_SIZE]);

/* A command line as words, and as a line for people. */

enum { FULCRUM_WORDS_MOST = 96 };

/* {0} is a legal start. Owns its words. */
struct fulcrum_argv_text {
    size_t count;
    char *items[FULCRUM_WORDS_MOST + 1]; /* NULL after the last one */
    bool is_short;                       /* of memory or of room: a word is missing */
};

/* Adds one word, made as by printf. */
void fulcrum_argv_text_add(struct fulcrum_argv_text *words, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* Adds copies of all words of `other`. */
void fulcrum_argv_text_append(
    struct fulcrum_argv_text *words, const struct fulcrum_argv_text *other);

/* 1 where one of the words is this one. */
int fulcrum_argv_text_have(const struct fulcrum_argv_text *words, const char *word);

/* Leaves it empty. */
void fulcrum_argv_text_clear(struct fulcrum_argv_text *words);

/* As a shell reads it back: words with other than plain characters in quotes. */
void fulcrum_argv_text_print(const struct fulcrum_argv_text *words, FILE *stream);

enum { FULCRUM_QUANTITY_SIZE = 64 };

/*
 * A number with so many digits that count, thousands apart, no exponent where it can be
 * helped; "-" where it is not known.
 */
void fulcrum_number_words(double value, int digits, char out[FULCRUM_QUANTITY_SIZE]);

/* "4.99 ms": value and unit, three digits. */
void fulcrum_quantity_words(
    double value, const char *unit, char out[FULCRUM_QUANTITY_SIZE]);

/*
 * "3.02 to 6.94 ms": both in the scale that suits `like`, the value that they are
 * beside (NAN: the upper end); "" where one is not known.
 */
void fulcrum_range_words(double lo, double hi, double like, const char *unit,
    char out[2 * FULCRUM_QUANTITY_SIZE]);

/* A factor near 1 with two decimals, "1.00" as well as "0.91"; three digits of others.
 */
void fulcrum_factor_words(double value, char out[FULCRUM_QUANTITY_SIZE]);

/* "0.91 to 1.20"; "" where one is not known. */
void fulcrum_factor_range_words(
    double lo, double hi, char out[2 * FULCRUM_QUANTITY_SIZE]);

/* The unit of an output: "%" for a share, else the one that is given. */
const char *fulcrum_shown_unit(const char *output, const char *unit);

/* Rows of results, printed as a table, CSV or JSON. */

/* What a user must know about a solution, in words. */

/* The texts of all flags that are set, "; " between them, as far as they fit. */
void fulcrum_flags_join(unsigned flags, char *out, size_t size);

/* Adds them as an array of texts under "flags". */
void fulcrum_flags_to_json(unsigned flags, struct fulcrum_json *object);

enum fulcrum_column_kind { FULCRUM_COLUMN_TEXT, FULCRUM_COLUMN_NUMBER };

struct fulcrum_column {
    const char *key; /* CSV heading and JSON member, with the unit: "watts_w" */
    enum fulcrum_column_kind kind;
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
struct fulcrum_report *fulcrum_report_new(
    const char *rows_key, const struct fulcrum_column *columns, size_t column_count);

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
