/* sweep_writer.h - points of a sweep as rows: columns, writers, and what was found. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_SWEEP_WRITER_H
#define FULCRUM_CLI_OUTPUT_SWEEP_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"
#include "model/study/sweep.h"
#include "presets/io/json.h"

/* The columns of a sweep's output, and what each shows of a point. */

struct fulcrum_sweep_front;

struct fulcrum_sweep_pareto;

/* What is the same for every point; borrowed. */
struct fulcrum_sweep_head {
    const char *machine;
    const char *workload;
    const char *calibration;
    const char *actors_rule; /* how the number of actors was chosen */
    const struct fulcrum_sweep_plan *plan;
    size_t relative_to;  /* index of the point of comparison, where there is one */
    const char *columns; /* comma-separated names to keep; NULL: all */
    const struct fulcrum_sweep_pareto *pareto; /* NULL: every point is written */
    const struct fulcrum_sweep_front *front;   /* with the metrics above */
    size_t front_count;
    size_t point_count; /* that the front was found among */
};

/* What a column shows. */
enum fulcrum_sweep_cell {
    FULCRUM_CELL_HEAD,   /* a text of the head */
    FULCRUM_CELL_POINT,  /* the number of the point in the sweep */
    FULCRUM_CELL_FRONT,  /* share of draws that have it on their front */
    FULCRUM_CELL_AXIS,   /* the value of axis `index` */
    FULCRUM_CELL_ACTORS, /* actors of the run */
    FULCRUM_CELL_OUTPUT, /* output `index` */
    FULCRUM_CELL_LOW,    /* lower end of its interval */
    FULCRUM_CELL_HIGH,
    FULCRUM_CELL_RATIO, /* ratio `index` to the point of comparison */
    FULCRUM_CELL_RATIO_LOW,
    FULCRUM_CELL_RATIO_HIGH,
    FULCRUM_CELL_METHOD,
    FULCRUM_CELL_ERROR, /* of the method, relative, in steps per second */
    FULCRUM_CELL_BOTTLENECK,
    FULCRUM_CELL_FLAGS,
    FULCRUM_CELL_STATUS /* "ok", or why there is no result */
};

struct fulcrum_sweep_column {
    char name[96];
    enum fulcrum_sweep_cell cell;
    size_t index;
    const char *text;                        /* FULCRUM_CELL_HEAD */
    const struct fulcrum_sweep_front *front; /* FULCRUM_CELL_FRONT */
};

enum {
    FULCRUM_SWEEP_COLUMNS_MOST = 18 + FULCRUM_SWEEP_AXES_MOST +
                                 3 * FULCRUM_OUTPUT_COUNT + 3 * FULCRUM_RELATIVE_COUNT,
    /* Room for the text of a cell. */
    FULCRUM_CELL_SIZE = FULCRUM_REASON_BYTE
};

struct fulcrum_sweep_columns {
    size_t count;
    struct fulcrum_sweep_column items[FULCRUM_SWEEP_COLUMNS_MOST];
};

/* Every column there is: the head, axes, outputs and ratios with their intervals,
 * words. */
void fulcrum_sweep_columns_init(
    struct fulcrum_sweep_columns *out, const struct fulcrum_sweep_head *head);

/*
 * Keeps the columns of a comma-separated list, in its order.
 *   context  gets exit code 2 on failure
 *   fails    FULCRUM_ERR_UNKNOWN_NAME
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_columns_keep(
    struct fulcrum_sweep_columns *columns, const char *list,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* Keeps the axes and what people want to see first. */
void fulcrum_sweep_columns_keep_few(struct fulcrum_sweep_columns *columns);

bool fulcrum_sweep_column_is_number(const struct fulcrum_sweep_column *column);

/* NAN where the point has no such number. */
double fulcrum_sweep_column_number(
    const struct fulcrum_sweep_column *column, const struct fulcrum_sweep_point *point);

/* The text of any other column. Borrows from the point, a table or `room`. */
const char *fulcrum_sweep_column_text(const struct fulcrum_sweep_column *column,
    const struct fulcrum_sweep_point *point, char room[FULCRUM_CELL_SIZE]);

/* Whether a column is an end of an interval: that of the column without _lo or _hi. */
bool fulcrum_column_is_end(const char *name);

/* The metrics of a front, as written on the command line. */

/* A metric as it is written: "system_w:min". */
struct fulcrum_front_item {
    char name[96];            /* of a field its whole path */
    enum fulcrum_sense sense; /* NONE: not given */
};

struct fulcrum_front_list {
    size_t count; /* 2 or 3 */
    struct fulcrum_front_item items[FULCRUM_PARETO_METRICS_MOST];
};

/*
 * Reads "steps_per_s,system_w:min", whatever the names stand for.
 *   fails    FULCRUM_ERR_FORMAT (neither :max nor :min), FULCRUM_ERR_RANGE (not two or
 *            three, or one twice)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_front_list_parse(
    const char *text, struct fulcrum_front_list *out, struct fulcrum_error *err);

struct fulcrum_sweep_pareto {
    size_t metric_count; /* 2 or 3; 0: no front is wanted */
    struct fulcrum_front_metric metrics[FULCRUM_PARETO_METRICS_MOST];
    const char *names[FULCRUM_PARETO_METRICS_MOST]; /* of their columns; borrowed */
};

/*
 * Reads "steps_per_s,system_w" or "steps_per_s:max,machine.cpu.thread_count:min": two
 * or three outputs or fields that the plan varies. What is better of an output is known
 * (fulcrum_output_sense), of a field less is, unless :max or :min says otherwise.
 *   out      borrows from the plan
 *   context  gets exit code 2 on failure
 *   fails    FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE, FULCRUM_ERR_UNKNOWN_NAME
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_pareto_parse(const char *text,
    const struct fulcrum_sweep_plan *plan, struct fulcrum_context *context,
    struct fulcrum_sweep_pareto *out, struct fulcrum_error *err);

/* "more steps_per_s against less system_w" */
void fulcrum_sweep_pareto_text(
    const struct fulcrum_sweep_pareto *pareto, char *out, size_t size);

/* Adds the metrics, each with what is better of it, as an array "pareto". */
void fulcrum_sweep_pareto_json(
    const struct fulcrum_sweep_pareto *pareto, struct fulcrum_json *parent);

/* What a sweep found, in one sentence. */

/* Keeps the points seen so far that are best, or nearly, in each metric. */
struct fulcrum_sweep_finding;

/* NULL where memory ran out; the calls below accept NULL. */
struct fulcrum_sweep_finding *fulcrum_sweep_finding_new(
    const struct fulcrum_sweep_plan *plan);
void fulcrum_sweep_finding_free(struct fulcrum_sweep_finding *finding);

/* The next points, in the order of the sweep. */
void fulcrum_sweep_finding_add(struct fulcrum_sweep_finding *finding,
    const struct fulcrum_sweep_point *points, size_t count);

/*
 * One sentence: where throughput and performance per GPU watt first come within 5 % of
 * their best, and where performance per system watt is best. "no point of the sweep can
 * run" where that is so.
 */
void fulcrum_sweep_finding_text(
    const struct fulcrum_sweep_finding *finding, char *out, size_t size);

/* Points of a sweep, written as they come. */

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
