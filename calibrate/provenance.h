/* provenance.h - on what and with what a calibration was measured. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROVENANCE_H
#define FULCRUM_CALIBRATE_PROVENANCE_H

#include "model/design/calibration.h"
#include "model/status.h"

/*
 * Adds notes: host, cpu_model, caches, kernel, virtualisation, processors in use,
 * container quota, clock governor, load average, compiler, tool version, date (UTC) and
 * every environment variable that steers a BLAS or OpenMP library. What cannot be read
 * is noted as "unknown", never left out; variables are noted where they are set. fails
 * FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_provenance_add(
    struct fulcrum_calibration *calibration, struct fulcrum_error *err);

#endif
