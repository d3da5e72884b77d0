/* sweep_writer.h - points of a sweep, written as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_SWEEP_WRITER_H
#define FULCRUM_CLI_SWEEP_WRITER_H

#include "cli/sweep_columns.h"
#include "cli/sweep_optima.h"

enum fulcrum_sweep_format {
    FULCRUM_SWEEP_TABLE, /* for people: printed at the end, and of no more rows than
                            FULCRUM_SWEEP_TABLE_ROWS */
    FULCRUM_SWEEP_CSV,
    FULCRUM_SWEEP_JSON,      /* one document */
    FULCRUM_SWEEP_JSON_LINES /* head, one object per point, tail */
};

enum { FULCRUM_SWEEP_TABLE_ROWS = 10000 };

/* "table", "csv", "json", "jsonl"; NULL beyond the last one. */
const char *fulcrum_sweep_format_name(int format);

/* Writes in the memory of one block of points, however many there are. */
struct fulcrum_sweep_writer;

/*
 *   context  borrowed; its exit code becomes 2 where a column is not known
 *   out      the caller frees it with fulcrum_sweep_writer_free
 *   fails    FULCRUM_ERR_UNKNOWN_NAME (a column), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_writer_new(
    const struct fulcrum_sweep_head *head, enum fulcrum_sweep_format format,
    struct fulcrum_context *context, struct fulcrum_sweep_writer **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_sweep_writer_free(struct fulcrum_sweep_writer *writer);

/* Makes the line of a point; from any thread, but each slot from one at a time. */
void fulcrum_sweep_writer_prepare(struct fulcrum_sweep_writer *writer, size_t slot,
    const struct fulcrum_sweep_point *point);

/* Writes the next points, which have been prepared in slots 0 to count - 1. */
void fulcrum_sweep_writer_add(struct fulcrum_sweep_writer *writer,
    const struct fulcrum_sweep_point *points, size_t count);

/*
 * Ends the output: whole, whatever the number of points so far.
 *   finding   one sentence, or NULL
 *   optima    both forms of JSON have them; NULL: they have not
 *   complete  0: the sweep was interrupted
 *   fails     FULCRUM_ERR_NO_MEMORY, now or at an earlier point
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_writer_end(
    struct fulcrum_sweep_writer *writer, const char *finding,
    const struct fulcrum_sweep_optima *optima, int complete, struct fulcrum_error *err);

#endif
