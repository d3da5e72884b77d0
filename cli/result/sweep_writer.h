/* sweep_writer.h - points of a sweep, written as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_RESULT_SWEEP_WRITER_H
#define FULCRUM_CLI_RESULT_SWEEP_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/result/sweep_columns.h"
#include "model/study/sweep.h"
#include "presets/io/json.h"

/* Where each metric is best along each axis, and how sure that is. */

/* Keeps the best at each value of each axis; the best of each draw is the plan's. */
struct fulcrum_sweep_optima;

/* NULL where memory ran out; the calls below accept NULL. */
struct fulcrum_sweep_optima *fulcrum_sweep_optima_new(
    const struct fulcrum_sweep_plan *plan);

void fulcrum_sweep_optima_free(struct fulcrum_sweep_optima *optima);

/* The next points. */
void fulcrum_sweep_optima_add(struct fulcrum_sweep_optima *optima,
    const struct fulcrum_sweep_point *points, size_t count);

/*
 * One sentence on a metric along an axis: where it is best, the 90 % interval of that,
 * and where it is within 5 % of its best; whether that is an optimum or a plateau.
 * Returns 0 where there is nothing to say: an axis of one value, no such metric.
 *   metric   below FULCRUM_SWEEP_METRICS
 *   axis     of the plan
 */
int fulcrum_sweep_optima_text(const struct fulcrum_sweep_optima *optima, size_t metric,
    size_t axis, char *out, size_t size);

/* Adds the same in numbers as a member "optima": an array with one object a metric. */
void fulcrum_sweep_optima_json(
    const struct fulcrum_sweep_optima *optima, struct fulcrum_json *parent);

/* One point of a sweep as a line of CSV or JSON. */

/* Text that grows and is used again for other points. {0} is a legal start. */
struct fulcrum_sweep_row {
    char *bytes; /* no '\0' at the end */
    size_t length;
    size_t capacity;
    bool is_short_of_memory; /* what is there is not the whole line */
};

void fulcrum_sweep_row_clear(struct fulcrum_sweep_row *row);

/*
 * The cells of a point, and a newline: predictions with 12 digits, varied values with
 * as many as it takes to read them back, blank where there is no number.
 */
void fulcrum_sweep_row_csv(struct fulcrum_sweep_row *row,
    const struct fulcrum_sweep_columns *columns,
    const struct fulcrum_sweep_point *point);

/*
 * The same as an object without a newline: columns that are the same for every point
 * are left out, what is no number is null.
 */
void fulcrum_sweep_row_json(struct fulcrum_sweep_row *row,
    const struct fulcrum_sweep_columns *columns,
    const struct fulcrum_sweep_point *point);

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
