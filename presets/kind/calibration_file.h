/* calibration_file.h - what reader and writer of calibration files agree on. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_KIND_CALIBRATION_FILE_H
#define FULCRUM_PRESETS_KIND_CALIBRATION_FILE_H

#include "model/design/calibration.h"
#include "presets/io/reader.h"

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

#endif
