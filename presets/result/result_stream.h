/* result_stream.h - a result whose table may have millions of rows. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_RESULT_RESULT_STREAM_H
#define FULCRUM_PRESETS_RESULT_RESULT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/result.h"
#include "model/status.h"
#include "presets/result/result_io.h"

struct fulcrum_stream_column {
    char key[96];
    const char *title; /* NULL: for people who ask for everything; borrowed */
    enum fulcrum_value_kind kind; /* a number or a text */
    bool is_exact;    /* digits to read the same number back, else 12 of them */
    const char *same; /* the text of every row: a fact in JSON; NULL; borrowed */
};

struct fulcrum_stream_table {
    const char *key; /* of the rows: "points" */
    const struct fulcrum_stream_column *columns;
    size_t column_count;
    size_t slot_count; /* rows made that are not written yet, at most */
};

/*
 * CSV, JSON and JSON lines are written block by block, in memory for one block. People
 * see tables, whose widths depend on every row: those are kept, so many of them.
 */
enum { FULCRUM_STREAM_KEPT_ROWS = 10000 };

/* Opaque. */
struct fulcrum_stream;

/*
 * Writes what comes before the rows.
 *   head     its facts and tables are there; what is added later only people see, after
 *            the rows; borrowed, as all others, until the stream is freed
 * NULL without memory. The caller frees it with fulcrum_stream_free.
 */
struct fulcrum_stream *fulcrum_stream_new(struct fulcrum_result *head,
    const struct fulcrum_stream_table *table, enum fulcrum_format format, FILE *out);

void fulcrum_stream_free(struct fulcrum_stream *stream);

/* Whether rows are kept, and people read them. */
bool fulcrum_stream_is_kept(const struct fulcrum_stream *stream);

/*
 * Makes the row of a slot; from any thread, but each slot from one at a time.
 *   cells    number or text of each column; ends of intervals are columns of their own,
 *            KEY_lo and KEY_hi, which people see beside KEY where they follow it
 */
void fulcrum_stream_row(
    struct fulcrum_stream *stream, size_t slot, const struct fulcrum_cell *cells);

/* Writes the rows of `count` slots from `first`, and flushes. */
void fulcrum_stream_write(struct fulcrum_stream *stream, size_t first, size_t count);

/*
 * Ends the output: whole, whatever the number of rows so far.
 *   tail     what both forms of JSON have after the rows; not used where rows are kept
 *   layout   of FULCRUM_FORMAT_TABLE
 *   fails    FULCRUM_ERR_NO_MEMORY, now or at an earlier row
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stream_end(struct fulcrum_stream *stream,
    const struct fulcrum_result *tail, const struct fulcrum_text_layout *layout,
    struct fulcrum_error *err);

#endif
