/* meter_file.h - one-line files of the kernel. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_METER_FILE_H
#define FULCRUM_CALIBRATE_METER_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

/* Room for a path below the kernel's folders. */
#define FULCRUM_METER_PATH_SIZE 1024

/* RAPL counters tick about once a millisecond: shorter windows would read their steps.
 */
#define FULCRUM_RAPL_LEAST_WINDOW_S 0.01

/* Joins printf-style parts; FULCRUM_ERR_UNSUPPORTED where the path is too long. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_path(
    char path[FULCRUM_METER_PATH_SIZE], struct fulcrum_error *err, const char *format,
    ...) FULCRUM_PRINTF(3, 4);

/*
 * First line of a file without its end.
 *   fails    FULCRUM_ERR_FILE: the detail has path and reason, and what to do where
 *            permission is what lacks; FULCRUM_ERR_FORMAT (empty or too long)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_read_line(
    const char *path, char *line, size_t size, struct fulcrum_error *err);

/* A whole decimal number and nothing else; fails as above, FORMAT for garbage. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_read_count(
    const char *path, uint64_t *out, struct fulcrum_error *err);

#endif
