/* reference_csv.h - measured throughput from tables that people keep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_REFERENCE_CSV_H
#define FULCRUM_PRESETS_LOAD_REFERENCE_CSV_H

#include <stdbool.h>

#include "model/design/reference.h"
#include "model/status.h"
#include "presets/io/csv.h"
#include "presets/load/reference_file.h"

/* A CSV file of measurements while it is read. */

/* What is observed. The first four say the same of a run in other words. */
enum fulcrum_csv_quantity {
    FULCRUM_CSV_STEPS_PER_S,
    FULCRUM_CSV_FRAMES_PER_S,
    FULCRUM_CSV_SPEEDUP,
    FULCRUM_CSV_RUNTIME_REL,
    FULCRUM_CSV_GPU_W,
    FULCRUM_CSV_QUANTITIES
};

enum {
    FULCRUM_CSV_WORD_SERIES = 2 * FULCRUM_CSV_QUANTITIES,
    FULCRUM_CSV_WORD_BASE,
    FULCRUM_CSV_WORD_ENV_COUNT,
    FULCRUM_CSV_WORD_ACTORS,
    FULCRUM_CSV_WORDS
};

/* Names of quantities, of their half-widths, and of the other columns. */
extern const char *const fulcrum_csv_words[FULCRUM_CSV_WORDS];

enum { FULCRUM_REFERENCE_CSV_ROWS_MOST = 1000 };

/* Whether a name ends in ".csv", in small letters or capitals. */
bool fulcrum_reference_is_csv(const char *name);

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
