/* reference_file.h - what the parts of the reader of reference files share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_REFERENCE_FILE_H
#define FULCRUM_PRESETS_REFERENCE_FILE_H

#include "model/reference.h"
#include "presets/reader.h"

#define FULCRUM_REFERENCE_SCHEMA "fulcrum-reference"
/* Raised when a file of the old form would be misread. */
#define FULCRUM_REFERENCE_VERSION 1

/* Environments of all actors together: no field of a design, but what papers count. */
#define FULCRUM_REFERENCE_ENV_COUNT "run.env_count"

#define FULCRUM_REFERENCE_FRAME_SKIP_MOST 1000.0 /* as workload.frame_skip */

/* Beyond any count or rate, in any unit: a slip of the exponent. */
#define FULCRUM_REFERENCE_MOST 1e21

/*
 * Adds the points of an array, as they stand there, or faults to the node's reader. A
 * reference with faults is never handed out, so it may stay incomplete.
 */
void fulcrum_reference_read_points(
    const struct fulcrum_node *array, struct fulcrum_reference *reference);

/* A fault for each point that has series and settings of an earlier one. */
void fulcrum_reference_check_repeats(
    const struct fulcrum_node *array, const struct fulcrum_reference *reference);

/* Frames become steps; a point that has both is a fault. */
void fulcrum_reference_convert_frames(
    const struct fulcrum_node *array, struct fulcrum_reference *reference);

#endif
