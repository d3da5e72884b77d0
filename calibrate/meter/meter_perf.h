/* meter_perf.h - how the kernel describes the energy events of its `power` unit. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_METER_METER_PERF_H
#define FULCRUM_CALIBRATE_METER_METER_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

struct fulcrum_perf_event {
    uint32_t type;      /* of the measuring unit */
    uint64_t config;    /* of the event */
    double j_per_count; /* > 0 */
};

/*
 * Reads type, config, scale and unit of event `name` ("energy-pkg") below
 * `root`/sys/bus/event_source/devices/power.
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_FORMAT; path and content in the detail
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_perf_event_read(
    struct fulcrum_perf_event *out, const char *root, const char *name,
    struct fulcrum_error *err);

/*
 * Processors of a list such as "0,18-19".
 *   cpu      receives up to `capacity` numbers
 *   fails    FULCRUM_ERR_FORMAT (malformed, empty or more than `capacity`)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_perf_cpu_list(int *cpu, size_t *count,
    size_t capacity, const char *list, struct fulcrum_error *err);

#endif
