/* sweep_columns.h - points of a sweep as rows, in columns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_SWEEP_COLUMNS_H
#define FULCRUM_CLI_OUTPUT_SWEEP_COLUMNS_H

#include <stddef.h>

#include "cli/command.h"
#include "model/study/sweep.h"
#include "presets/result/result_stream.h"

/* The columns of a sweep's output, and what each shows of a point. */

/* What a column shows. */
enum fulcrum_sweep_cell {
    FULCRUM_CELL_SAME,   /* a text of the head */
    FULCRUM_CELL_POINT,  /* the number of the point in the sweep */
    FULCRUM_CELL_FRONT,  /* share of draws that have it on their front */
    FULCRUM_CELL_AXIS,   /* a varied value */
    FULCRUM_CELL_NUMBER, /* a number of a point that can run */
    FULCRUM_CELL_END,    /* an end of an output's interval */
    FULCRUM_CELL_METHOD,
    FULCRUM_CELL_BOTTLENECK,
    FULCRUM_CELL_FLAGS,
    FULCRUM_CELL_STATUS /* "ok", or why there is no result */
};

enum {
    FULCRUM_SWEEP_COLUMNS_MOST = 18 + FULCRUM_SWEEP_AXES_MOST +
                                 3 * FULCRUM_OUTPUT_COUNT + 3 * FULCRUM_RELATIVE_COUNT
};

struct fulcrum_sweep_columns {
    size_t count;
    struct fulcrum_stream_column items[FULCRUM_SWEEP_COLUMNS_MOST];
    struct {
        enum fulcrum_sweep_cell kind;
        size_t offset; /* of a double in struct fulcrum_sweep_point */
    } sources[FULCRUM_SWEEP_COLUMNS_MOST];
    const struct fulcrum_sweep_front *front;
};

/*
 * Every column there is: the head, axes, outputs and ratios with their intervals,
 * words. What people want to see first has a title.
 *   head     says machine, workload, calibration and actors_rule; borrowed
 *   front    whose points are written; NULL: all are
 */
void fulcrum_sweep_columns_init(struct fulcrum_sweep_columns *out,
    const struct fulcrum_result *head, const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_sweep_front *front);

/* Keeps the columns of a comma-separated list, in its order, for people too. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_columns_keep(
    struct fulcrum_sweep_columns *columns, const char *list,
    struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * What the columns show of a point.
 *   cells    one per column; texts borrow from the point, a table or `room`
 */
void fulcrum_sweep_columns_cells(const struct fulcrum_sweep_columns *columns,
    const struct fulcrum_sweep_point *point, struct fulcrum_cell *cells,
    char room[FULCRUM_REASON_BYTE]);

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

/* Reads "steps_per_s,system_w:min", whatever the names stand for. */
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
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_pareto_parse(const char *text,
    const struct fulcrum_sweep_plan *plan, struct fulcrum_context *context,
    struct fulcrum_sweep_pareto *out, struct fulcrum_error *err);

/* "more steps_per_s against less system_w" */
void fulcrum_sweep_pareto_text(
    const struct fulcrum_sweep_pareto *pareto, char *out, size_t size);

/* Adds the metrics, each with what is better of it, as a table "pareto". */
void fulcrum_sweep_pareto_add(
    const struct fulcrum_sweep_pareto *pareto, struct fulcrum_result *result);

#endif
