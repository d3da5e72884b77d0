/* reference_csv.h - measured throughput from tables that people keep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_REFERENCE_CSV_H
#define FULCRUM_PRESETS_REFERENCE_CSV_H

#include "model/reference.h"
#include "model/status.h"

enum { FULCRUM_REFERENCE_CSV_ROWS_MOST = 1000 };

/* Whether a name ends in ".csv", in small letters or capitals. */
int fulcrum_reference_is_csv(const char *name);

/*
 * Reads a CSV file (RFC 4180, lines that begin with '#' are comments) as a reference of
 * throughput; docs/fit.md has the columns. Each row is a point, its index that of the
 * row from 0. Rows may repeat settings: each is a measurement of its own.
 *   design   machine and workload that were measured, their names with them
 *   out      set on success only; the caller frees it with fulcrum_reference_free
 *   fails    FULCRUM_ERR_FILE; FULCRUM_ERR_UNKNOWN_NAME (a column), FULCRUM_ERR_FORMAT,
 *            FULCRUM_ERR_RANGE or FULCRUM_ERR_MISSING (no observation, too many rows, a
 *            cell): all faults in one go, each with the file and its line or column
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_csv_load(const char *path,
    const struct fulcrum_design *design, struct fulcrum_reference **out,
    struct fulcrum_error *err);

#endif
