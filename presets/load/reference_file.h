/* reference_file.h - what the parts of the reader of reference files share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_REFERENCE_FILE_H
#define FULCRUM_PRESETS_LOAD_REFERENCE_FILE_H

#include <stdbool.h>

#include "model/design/reference.h"
#include "model/status.h"

/* Environments of all actors together: no field of a design, but what papers count. */
#define FULCRUM_REFERENCE_ENV_COUNT "run.env_count"

#define FULCRUM_REFERENCE_FRAME_SKIP_MOST 1000.0 /* as workload.frame_skip */

/* Beyond any count or rate, in any unit: a slip of the exponent. */
#define FULCRUM_REFERENCE_MOST 1e21

/*
 * Reads a reference with its machine and workload; observed "frames_per_s" becomes
 * "steps_per_s".
 *   name     a preset's name or the path of a JSON file
 *   out      set on success only; the caller frees it with fulcrum_reference_free
 *   fails    as fulcrum_machine_load (presets/load/preset.h)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_load(
    const char *name, struct fulcrum_reference **out, struct fulcrum_error *err);

/*
 * Writes what fulcrum_reference_load reads, machine and workload as objects. Rates are
 * in steps; the frame skip is told by the workload.
 *   path     "-" or NULL: standard output
 *   fails    FULCRUM_ERR_MISSING (no name, or no source of the points),
 *            FULCRUM_ERR_FILE, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_save(
    const struct fulcrum_reference *reference, const char *path,
    struct fulcrum_error *err);

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
