/* html.h - pieces of an HTML document: escaped text, tables, whiskers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_REPORT_HTML_H
#define FULCRUM_CLI_REPORT_HTML_H

#include <stdio.h>

#include "model/status.h"

/*
 * Text for an element or an attribute in quotes: markup escaped, bytes that are no
 * UTF-8 and control characters as U+FFFD.
 */
void fulcrum_html_text(FILE *out, const char *text);

/* The same, made as by printf; no longer than 4000 bytes. */
void fulcrum_html_print(FILE *out, const char *format, ...) FULCRUM_PRINTF(2, 3);

/*
 * Begins a table that scrolls inside its own box where it is too wide.
 *   caption   says what it shows
 *   headings  of its columns; those that begin with '#' are of numbers, and are
 *             written without it
 */
void fulcrum_html_table_begin(
    FILE *out, const char *caption, const char *const *headings, size_t count);

/* The same, but on a phone rows become blocks: for tables whose cells are sentences. */
void fulcrum_html_stack_begin(
    FILE *out, const char *caption, const char *const *headings, size_t count);

/* Ends either. */
void fulcrum_html_table_end(FILE *out);

/* A row begins with a cell that names it. */
void fulcrum_html_row_begin(FILE *out, const char *name);
void fulcrum_html_row_end(FILE *out);
void fulcrum_html_cell(FILE *out, const char *text);
/* Flush right, never broken. */
void fulcrum_html_cell_number(FILE *out, const char *text);

/* A number with its interval below it; "" is no interval. */
void fulcrum_html_cell_value(FILE *out, const char *value, const char *range);

/* A value and its interval on a scale from `least` to `most`. */
struct fulcrum_whisker {
    double value;
    double lo; /* NAN: no interval */
    double hi;
    double least;
    double most;
    double mark; /* a line across, such as at "no change"; NAN: none */
};

/* A cell with a dot on a line; `label` says the same in words. */
void fulcrum_html_cell_whisker(
    FILE *out, const struct fulcrum_whisker *whisker, const char *label);

#endif
