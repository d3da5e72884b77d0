/* result.h - what a command found: facts, notes and tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_RESULT_H
#define FULCRUM_MODEL_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/number.h"
#include "model/status.h"

/*
 * Facts, notes and tables in the order in which they were added, whatever they will be
 * written as: text, CSV, JSON, Markdown, HTML, a chart. Everything is copied in and
 * borrowed out. Memory that runs out is remembered: nothing is added from then on, and
 * fulcrum_result_check says so. All calls accept NULL, which is a result without
 * memory.
 *
 * A key names a value in files and carries its unit (fulcrum_unit_of); a title names it
 * for people. Where the title is NULL people see it only if they ask for everything.
 */
struct fulcrum_result;
struct fulcrum_table;

/* A number with its 90 % interval, or a text. */
struct fulcrum_cell {
    double number; /* NAN: not known, or a text */
    double lo;     /* 5 and 95 % quantiles; NAN: no interval */
    double hi;
    const char *text; /* NULL: none */
};

/*
 * The unit that a key ends with: "s", "W", "J", "1/s", "1/J", "byte", "byte/s", "Hz",
 * "%" of shares (_frac), "x" of ratios (_rel, speedup), "" of counts. Static.
 */
const char *fulcrum_unit_of(const char *key);

/* What the key is in JSON: a flag is true or false, a text never a number. */
enum fulcrum_value_kind {
    FULCRUM_VALUE_NUMBER,
    FULCRUM_VALUE_TEXT,
    FULCRUM_VALUE_FLAG
};

/*
 *   schema   "fulcrum-node": what the file will say it is; NULL: nothing
 * The caller frees it with fulcrum_result_free.
 */
struct fulcrum_result *fulcrum_result_new(const char *schema);

void fulcrum_result_free(struct fulcrum_result *result);

/* "" where there is none. */
const char *fulcrum_result_schema(const struct fulcrum_result *result);

/*
 *   fails    FULCRUM_ERR_NO_MEMORY, now or at any call before
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_result_check(
    const struct fulcrum_result *result, struct fulcrum_error *err);

/* Facts. A key with a '/' is a member of an object: "undisturbed/mape_frac". */

void fulcrum_result_number(
    struct fulcrum_result *result, const char *key, const char *title, double value);
void fulcrum_result_estimate(struct fulcrum_result *result, const char *key,
    const char *title, double value, double lo, double hi);
/* NULL: not known. */
void fulcrum_result_text(struct fulcrum_result *result, const char *key,
    const char *title, const char *text);
/* The same, made as by printf. */
void fulcrum_result_print(struct fulcrum_result *result, const char *key,
    const char *title, const char *format, ...) FULCRUM_PRINTF(4, 5);
/* A flag that is there changes its value. */
void fulcrum_result_flag(
    struct fulcrum_result *result, const char *key, const char *title, bool value);

/* What the fact that was added last means, where its title is too short for CSV. */
void fulcrum_result_explain(struct fulcrum_result *result, const char *meaning);

/* An empty line for people between facts; no part of files. */
void fulcrum_result_gap(struct fulcrum_result *result);

/* One more of the texts under `key`; people read "note: TEXT". */
void fulcrum_result_note(
    struct fulcrum_result *result, const char *key, const char *text);
/* The same, made as by printf. */
void fulcrum_result_note_print(struct fulcrum_result *result, const char *key,
    const char *format, ...) FULCRUM_PRINTF(3, 4);

/* A list of numbers; for files only. */
void fulcrum_result_numbers(
    struct fulcrum_result *result, const char *key, const double *values, size_t count);

/*
 * Tables. The first row says which columns there are; every other row fills the same
 * ones in the same order.
 */

/*
 * An empty table. Borrowed. With the key "" it is no part of files, but what people see
 * in place of one without a title.
 */
struct fulcrum_table *fulcrum_result_table(
    struct fulcrum_result *result, const char *key, const char *title);

/* Begins the next row. */
void fulcrum_table_row(struct fulcrum_table *table);

/* The next cells go to a row that is there: further columns, or other values. */
void fulcrum_table_return(struct fulcrum_table *table, size_t row);

void fulcrum_table_number(
    struct fulcrum_table *table, const char *key, const char *title, double value);
/* In files three columns: KEY, KEY_lo and KEY_hi. */
void fulcrum_table_estimate(struct fulcrum_table *table, const char *key,
    const char *title, double value, double lo, double hi);
void fulcrum_table_ratio(struct fulcrum_table *table, const char *key,
    const char *title, struct fulcrum_ratio ratio);
void fulcrum_table_text(
    struct fulcrum_table *table, const char *key, const char *title, const char *text);
void fulcrum_table_flag(
    struct fulcrum_table *table, const char *key, const char *title, bool value);

/*
 * In JSON an object of objects, whose keys are the texts of the first column. Never the
 * main table.
 */
void fulcrum_table_make_keyed(struct fulcrum_table *table);

/* The one that CSV and JSON lines hold, where it is not the first. */
void fulcrum_table_make_main(struct fulcrum_table *table);

/* Shows a column only to people who ask for everything. */
void fulcrum_table_hide(struct fulcrum_table *table, const char *key);

/* Reading. */

/* A fact, a list of notes or a table. Borrowed. */
struct fulcrum_item {
    const char *key;
    const char *title;   /* NULL: for people who ask for everything */
    const char *meaning; /* NULL: the title says it */
    enum fulcrum_value_kind kind;
    bool has_ends;
    struct fulcrum_cell cell;
    struct fulcrum_table *table; /* NULL: a fact */
    bool is_list;                /* the table is a list of notes or numbers */
    bool is_keyed;               /* in JSON it is an object of objects */
    bool is_main;                /* CSV and JSON lines hold it */
};

size_t fulcrum_result_count(const struct fulcrum_result *result);
const struct fulcrum_item *fulcrum_result_item(
    const struct fulcrum_result *result, size_t i);

/* NULL: there is none of that key. */
const struct fulcrum_item *fulcrum_result_find(
    const struct fulcrum_result *result, const char *key);

/* NAN, "" and NULL where there is none. */
double fulcrum_result_number_of(const struct fulcrum_result *result, const char *key);
const char *fulcrum_result_text_of(
    const struct fulcrum_result *result, const char *key);
const struct fulcrum_table *fulcrum_result_table_of(
    const struct fulcrum_result *result, const char *key);

/* In the order of the first row. */
struct fulcrum_column {
    const char *key;
    const char *title;
    enum fulcrum_value_kind kind;
    bool has_ends;  /* two more columns in files */
    bool is_hidden; /* from people who do not ask for everything */
};

size_t fulcrum_table_rows(const struct fulcrum_table *table);
size_t fulcrum_table_columns(const struct fulcrum_table *table);
struct fulcrum_column fulcrum_table_column(const struct fulcrum_table *table, size_t j);

/* Index of a column; the number of columns where there is none of that key. */
size_t fulcrum_table_find(const struct fulcrum_table *table, const char *key);

/* The unit of a cell: that of its column's key or, where that has none, what the row
 * says under "unit". Borrowed. */
const char *fulcrum_table_unit(
    const struct fulcrum_table *table, size_t row, size_t column);

struct fulcrum_cell fulcrum_table_cell(
    const struct fulcrum_table *table, size_t row, size_t column);

/*
 * The same by key, or an end of its interval by "KEY_lo" or "KEY_hi"; a cell of NAN and
 * NULL where there is no such column or row.
 */
struct fulcrum_cell fulcrum_table_at(
    const struct fulcrum_table *table, size_t row, const char *key);

/*
 * For a column that has to be one of numbers.
 *   fails    FULCRUM_ERR_FORMAT (a text that is none; the detail names row and column)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_table_check_numbers(
    const struct fulcrum_table *table, const char *key, struct fulcrum_error *err);

/* The number that all rows have in a column; NAN where they differ or one is not known.
 */
double fulcrum_table_constant(const struct fulcrum_table *table, const char *key);

#endif
