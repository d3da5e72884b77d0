/* predict_sm.h - references of kind sm_scaling: every other number of SMs predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PREDICT_SM_H
#define FULCRUM_CALIBRATE_PREDICT_SM_H

#include "calibrate/comparison.h"
#include "model/reference.h"
#include "model/status.h"

/*
 * Per series, GPU time over SMs by (6) is fitted to the first, third, ... number of SMs
 * and predicts the work per second at all; docs/model.md "Work on a part of the SMs".
 * The baseline "bounds" is in proportion to SMs from the first fitted point.
 *
 *   reference  points set "run.sm_count" and observe a rate: a quantity with "_per_" in
 *              its name; the machine gives gpu.sm_count. The workload's shares of GPU
 *              time, or their fallbacks, are where the fit starts.
 *   out        set on success only: every rate, in the unit of the reference; the
 *              caller clears it
 *   fails      FULCRUM_ERR_MISSING (SMs, a rate, gpu.sm_count), FULCRUM_ERR_RANGE,
 *              FULCRUM_ERR_NO_FIT (a series of fewer than three numbers of SMs, which
 *              holds nothing out, or no convergence), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_sm(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
