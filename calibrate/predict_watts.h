/* predict_watts.h - references of kind server_prior: watts from a machine's priors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PREDICT_WATTS_H
#define FULCRUM_CALIBRATE_PREDICT_WATTS_H

#include "calibrate/comparison.h"
#include "model/reference.h"
#include "model/status.h"

/*
 * Every point by (13), at the values of the reference's machine, nothing fitted:
 * docs/model.md "Power". The 90 % interval is that of the spreads of the machine
 * preset's priors; a machine that is no preset has none.
 *
 *   reference  its machine has no GPU and says what its parts draw (generic-server);
 *              points set "load_frac", the share of all threads that are busy, and
 *              have "server_w"; they may set fields of the machine, such as the
 *              counts of cores and threads
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (a load, server_w, counts, watts of a part),
 *              FULCRUM_ERR_UNSUPPORTED (a machine with GPUs), FULCRUM_ERR_RANGE,
 *              FULCRUM_ERR_NO_MEMORY; as fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_watts(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
