/* probe_step.h - background load that steps are timed beside. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_PROBE_STEP_H
#define FULCRUM_CALIBRATE_PROBE_PROBE_STEP_H

#include "calibrate/probe/probe.h"
#include "model/status.h"

struct fulcrum_background_load; /* opaque */

/*
 * Starts a thread that infers batches of 32 with the bench's learner, one after the
 * other, until the background load ends. Nothing else may use that learner meanwhile.
 *   out      given back with fulcrum_background_load_end
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (no thread)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_background_load_start(
    struct fulcrum_background_load **out, struct fulcrum_bench *bench,
    struct fulcrum_error *err);

/*
 * Ends after the batch at hand. Accepts NULL.
 *   fails    as the learner, where it failed meanwhile
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_background_load_end(
    struct fulcrum_background_load *background_load, struct fulcrum_error *err);

#endif
