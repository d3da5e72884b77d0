/* calibration_file.h - what reader and writer of calibration files agree on. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_CALIBRATION_FILE_H
#define FULCRUM_PRESETS_LOAD_CALIBRATION_FILE_H

#define FULCRUM_CALIBRATION_SCHEMA "fulcrum-calibration"

/* Raised when a file of the old form would be misread. */
#define FULCRUM_CALIBRATION_VERSION 1

#endif
