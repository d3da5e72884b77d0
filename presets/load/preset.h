/* preset.h - finds, reads and checks machine, workload and calibration files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_PRESET_H
#define FULCRUM_PRESETS_LOAD_PRESET_H

#include "model/design/calibration.h"
#include "model/design/design.h"
#include "model/status.h"
#include "presets/load/preset_folders.h"
#include "presets/load/preset_kind.h"

/* Accepts NULL members; leaves it empty. */
void fulcrum_sources_free(struct fulcrum_sources *sources);

/* NULL where the field was not given. Borrowed. */
const struct fulcrum_source *fulcrum_sources_find(
    const struct fulcrum_sources *sources, const char *path);

/*
 * Reads a machine into design->machine or a workload into design->workload, with
 * `extends` resolved; fields that the file does not give keep their fallback.
 *   name     a preset's name ("dgx-1") or the path of a JSON file (has a '/' or ends in
 *            ".json")
 *   sources  NULL where not wanted; else appended to
 *   fails    FULCRUM_ERR_UNKNOWN_NAME (the detail suggests the nearest preset),
 *            FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE: all faults of the
 *            file, a line each: file, path of the field, value, what was expected
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_machine_load(const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err);
/* The same for a workload. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_workload_load(const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err);

struct fulcrum_node;

/*
 * A machine or workload inside another file: a preset's name, read as it stands today,
 * or an object without sources. Only the kind's half of the design changes; what is
 * wrong is a fault of the node's reader.
 *   file     the kind of that file: in a calibration an object needs no name
 */
void fulcrum_preset_read_half(const struct fulcrum_node *node,
    enum fulcrum_preset_kind kind, enum fulcrum_preset_kind file,
    struct fulcrum_design *design);

/* The same for a calibration; the caller frees it with fulcrum_calibration_free. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_load(
    const char *name, struct fulcrum_calibration **out, struct fulcrum_error *err);

/* Presets of what the model itself is off by, run.discrepancy: of predictions from
 * parts that were measured one by one, and from fits to whole runs. */
enum { FULCRUM_DISCREPANCIES = 2 };
extern const char *const fulcrum_discrepancy_names[FULCRUM_DISCREPANCIES];

/*
 * The one that goes with the given calibrations.
 *   out      NULL where one of them has a discrepancy of its own; else the caller frees
 *            it with fulcrum_calibration_free
 *   fails    as fulcrum_calibration_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_discrepancy_load(
    const struct fulcrum_calibration *const *calibrations, size_t count,
    struct fulcrum_calibration **out, struct fulcrum_error *err);

/*
 * Writes a calibration so that fulcrum_calibration_load gives it back, whole or not at
 * all (presets/io/output.h).
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_MISSING (no name), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_save(
    const struct fulcrum_calibration *calibration, const char *path,
    struct fulcrum_error *err);

/*
 * Writes design->workload, as far as it is not what a file without fields gives.
 *   source   of all of it
 *   fails    FULCRUM_ERR_FILE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_workload_save(
    const struct fulcrum_design *design, const char *source, const char *path,
    struct fulcrum_error *err);

/*
 * The JSON Schema (draft 2020-12) of a file kind, made from the field tables.
 *   out      the caller frees it with free()
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_preset_schema(
    enum fulcrum_preset_kind kind, char **out, struct fulcrum_error *err);

#endif
