/* calibration_file.h - what reader and writer of calibration files agree on. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_CALIBRATION_FILE_H
#define FULCRUM_PRESETS_CALIBRATION_FILE_H

#include "model/calibration.h"
#include "presets/reader.h"

#define FULCRUM_CALIBRATION_SCHEMA "fulcrum-calibration"
/* Raised when a file of the old form would be misread. */
#define FULCRUM_CALIBRATION_VERSION 1

/*
 * Adds one part of a file to the calibration, or faults to the node's reader. A
 * calibration with faults is never handed out, so a part may stay incomplete.
 */
typedef void fulcrum_calibration_part(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration);

fulcrum_calibration_part fulcrum_calibration_read_series;
fulcrum_calibration_part fulcrum_calibration_read_quantities;
fulcrum_calibration_part fulcrum_calibration_read_fits;
fulcrum_calibration_part fulcrum_calibration_read_notes;

/* Calls `read` for each object of an array. */
void fulcrum_calibration_read_elements(const struct fulcrum_node *array,
    struct fulcrum_calibration *calibration, fulcrum_calibration_part *read);

/* A fault for a call that failed on the node's content. */
void fulcrum_calibration_note_status(
    const struct fulcrum_node *node, enum fulcrum_status status);

#endif
