/* report_rows.h - rows that a command answered, as a table of an HTML report. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_REPORT_REPORT_ROWS_H
#define FULCRUM_CLI_REPORT_REPORT_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/report/reply.h"

/* Where a sweep is best, in words and as a table. */

/* What one metric does along the one axis of a sweep, from the member "optima". */
struct fulcrum_report_best {
    const char *metric; /* "throughput", ... */
    char shape[32];     /* as sweep_writer.c names it */
    double at;          /* of the best point: CPU/GPU ratio, or the field's value */
    double at_lo;       /* 90 % interval of that; NAN: none */
    double at_hi;
    double from; /* within 5 % of the best from here */
    double from_lo;
    double from_hi;
    double to; /* to here */
};

enum fulcrum_report_axis { FULCRUM_REPORT_AXIS_RATIO, FULCRUM_REPORT_AXIS_FIELD };

/*
 * Reads the i-th metric; returns 0 beyond the last one, or where the sweep has no best.
 * Where there is no CPU/GPU ratio, the field stands in for it and *axis says so.
 */
int fulcrum_report_best_read(struct fulcrum_reply *sweep, size_t i,
    enum fulcrum_report_axis *axis, struct fulcrum_report_best *out);

/* "within 5 % of its best from a CPU/GPU ratio of 1.2 on (0.6 to 1.2)". */
void fulcrum_report_best_words(
    const struct fulcrum_report_best *best, const char *axis, char *out, size_t size);

/*
 * A table with a row for each metric; nothing where the sweep has no best.
 *   axis     what the axis is called: "CPU/GPU ratio"
 */
void fulcrum_report_best_table(struct fulcrum_reply *sweep,
    enum fulcrum_report_axis wanted, const char *axis, FILE *out);

/* What is shown of a row in one column. */
struct fulcrum_report_column {
    const char *key;   /* member of each row */
    const char *title; /* begins with '#' where numbers are shown */
    const char *unit;  /* SI, "%" for shares, "x" for factors; NULL: a text */
    bool has_range;    /* members KEY_lo and KEY_hi are its interval */
};

enum { FULCRUM_REPORT_COLUMNS_MOST = 8 };

struct fulcrum_report_table {
    const char *caption;
    const char *rows; /* member of the document that holds them */
    struct fulcrum_report_column columns[FULCRUM_REPORT_COLUMNS_MOST];
    size_t column_count;
    const char *where; /* rows whose text member `where` is `is`; NULL: all */
    const char *is;
    size_t rows_most; /* 0: all */
};

/* Writes the table; the first column names the rows, and of the others those in which
 * some row has something. Nothing where there are no rows. Returns how many were
 * written. */
size_t fulcrum_report_rows_write(
    const struct fulcrum_report_table *whole, struct fulcrum_reply *reply, FILE *out);

#endif
