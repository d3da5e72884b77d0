/* show.h - the parts of `fulcrum show`: a machine or workload, a calibration, a
 * reference, a partition. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_SHOW_H
#define FULCRUM_CLI_OUTPUT_SHOW_H

#include "cli/command.h"
#include "model/design/calibration.h"
#include "model/design/design.h"
#include "model/design/reference.h"
#include "presets/load/partition_file.h"
#include "presets/load/preset.h"

/* A machine or workload inside a design, and where its values are from. */
struct fulcrum_shown_design {
    enum fulcrum_preset_kind kind;
    const char *name;
    const char *title;
    const char *unsourced; /* basis of a value without a source: "default" */
    const struct fulcrum_design *design;
    const struct fulcrum_sources *sources;
};

/*
 * Prints every field of that kind: value, unit, basis (sourced, prior with its spread,
 * default, not given), the preset that gave it, and the source.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_show_design(
    const struct fulcrum_shown_design *shown, const struct fulcrum_context *context,
    struct fulcrum_error *err);

/*
 * Prints parameters with standard errors, derived quantities, fits with their errors
 * and warnings, and notes; as CSV the parameters alone.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_show_calibration(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * Prints what is compared, the points and where they were read; as CSV the points
 * alone.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_show_reference(
    const struct fulcrum_reference *reference, const struct fulcrum_context *context,
    struct fulcrum_error *err);

/*
 * Prints the profiles, the layouts that fill the GPU and where they were read; as CSV
 * the profiles alone.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_show_partition(
    const struct fulcrum_partition *partition, const struct fulcrum_context *context,
    struct fulcrum_error *err);

#endif
