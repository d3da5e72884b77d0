/* sweep_row.h - one point of a sweep as a line of CSV or JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_SWEEP_ROW_H
#define FULCRUM_CLI_SWEEP_ROW_H

#include "cli/sweep_columns.h"

/* Text that grows and is used again for other points. {0} is a legal start. */
struct fulcrum_sweep_row {
    char *bytes; /* no '\0' at the end */
    size_t length;
    size_t capacity;
    int is_short_of_memory; /* what is there is not the whole line */
};

void fulcrum_sweep_row_clear(struct fulcrum_sweep_row *row);

/* The names of the columns, and a newline. */
void fulcrum_sweep_row_csv_names(
    struct fulcrum_sweep_row *row, const struct fulcrum_sweep_columns *columns);

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

#endif
