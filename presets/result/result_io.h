/* result_io.h - a result as text, CSV, JSON, Markdown and HTML, and back. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_RESULT_RESULT_IO_H
#define FULCRUM_PRESETS_RESULT_RESULT_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/result.h"
#include "model/status.h"

struct json_object;
struct fulcrum_csv;

enum fulcrum_format {
    FULCRUM_FORMAT_TABLE, /* for people */
    FULCRUM_FORMAT_CSV,   /* the main table; facts where there is no table */
    FULCRUM_FORMAT_JSON,
    FULCRUM_FORMAT_JSON_LINES, /* facts; a line for each row of the main table; facts */
    FULCRUM_FORMAT_MARKDOWN,
    FULCRUM_FORMAT_HTML /* elements to go into a page */
};

/* "table", "csv", "json", "jsonl", "markdown", "html"; NULL beyond the last one. */
const char *fulcrum_format_name(int format);

/* How people see it. */
struct fulcrum_text_layout {
    size_t width; /* characters in a line; 0: as many as it takes */
    bool all;     /* also what has no title, in lines of any width */
};

/*
 * Writes a result.
 *   layout   of FULCRUM_FORMAT_TABLE; NULL: any width
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_result_write(
    const struct fulcrum_result *result, enum fulcrum_format format,
    const struct fulcrum_text_layout *layout, FILE *stream, struct fulcrum_error *err);

/*
 * The whole as one line of JSON, for streams of results.
 *   out      the caller frees it with free()
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_result_line(
    const struct fulcrum_result *result, char **out, struct fulcrum_error *err);

/* The two parts of a table as CSV. */
void fulcrum_csv_heading(FILE *stream, const struct fulcrum_table *table);
void fulcrum_csv_rows(FILE *stream, const struct fulcrum_table *table);

/* Text for an element or a quoted attribute of HTML. */
void fulcrum_html_text(FILE *stream, const char *text);

/* What a table of HTML shows. Borrowed. */
struct fulcrum_html_view {
    const char *caption;
    /*
     * "KEY=TITLE;KEY:HOW=TITLE": the first one names the rows; of the others those that
     * say something. HOW: "value" without its interval, "LEAST:MOST" as a dot on a
     * line (of factors where LEAST is above 0), "named" with the unit of the key that
     * names the row, "code", "class" of style KEY-WORD after its first word. NULL:
     * those that have a title.
     */
    const char *columns;
    const char *look;  /* class of the table; NULL: none */
    const char *where; /* rows whose text is that; NULL: all */
    const char *is;
    size_t rows_most; /* 0: all */
};

/*
 * Writes a table that scrolls inside its own box where it is too wide; nothing without
 * rows.
 *   table    NULL: none
 * Returns how many rows were written.
 */
size_t fulcrum_html_table(FILE *stream, const struct fulcrum_table *table,
    const struct fulcrum_html_view *view);

/* One text cell of CSV: quoted where RFC 4180 asks for it. */
void fulcrum_csv_print(FILE *stream, const char *text);

/*
 * Reads what fulcrum_result_write wrote as CSV, JSON or JSON lines, which the end of
 * the name or the first character tells. Nested objects become facts "object/member".
 *   path     "-" and pipes: JSON or CSV by the first character
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_result_read(
    const char *path, struct fulcrum_result **out, struct fulcrum_error *err);

/*
 * The same of what was read already.
 *   document  json-c's, of the file `path`
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_result_of_document(const char *path,
    struct json_object *document, struct fulcrum_result **out,
    struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_result_of_csv(
    const struct fulcrum_csv *csv, struct fulcrum_result **out,
    struct fulcrum_error *err);

#endif
