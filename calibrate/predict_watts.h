/* predict_watts.h - watts of whole servers from a machine's priors, nothing fitted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PREDICT_WATTS_H
#define FULCRUM_CALIBRATE_PREDICT_WATTS_H

#include "calibrate/comparison.h"
#include "model/reference.h"
#include "model/status.h"

/* Whether the machine of a reference of server_power says what its parts draw. */
int fulcrum_knows_watts(const struct fulcrum_reference *reference);

/*
 * Every point by (13), at the values of the reference's machine: docs/model.md "Power".
 * The 90 % interval is that of the spreads of the machine preset's priors; a machine
 * that is no preset has none.
 *
 *   reference  one that fulcrum_knows_watts; points set "load_frac", the share of all
 *              threads that are busy, and observe "server_w"; they may set fields of
 * the machine ("machine.cpu.core_count") out        set on success only; the caller
 * clears it fails      FULCRUM_ERR_MISSING (a load, server_w, cores, threads),
 *              FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_MEMORY; as fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_watts(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
