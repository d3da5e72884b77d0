/* predict_power.h - references of kind gpu_power and server_power: every other load
 * predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICT_POWER_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICT_POWER_H

#include "calibrate/reference/comparison.h"
#include "model/design/reference.h"
#include "model/status.h"

/* References of kind server_prior: watts from a machine's priors. */

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

/*
 * Per curve, watts = idle + dynamic U^alpha are fitted to the first, third, ... load
 * and predict all; docs/model.md "Power". Points of one series whose settings in words
 * agree are one curve. Activity U is the setting "load_frac" or "gpu_util_frac" where
 * the points have one. Otherwise it is the observed "tokens_per_s" or "steps_per_s"
 * over the largest of the fitted points, at most 1; loads then are ordered by the first
 * number that is set, and the constant term is idle + floor, no less than the
 * machine's gpu.idle_w where that is known.
 * The baseline "bounds" of a GPU is the straight line from gpu.idle_w to gpu.tdp_w of
 * the machine, where both are known.
 *
 *   reference  observes "gpu_w" (gpu_power), or a quantity that ends in "_w"
 *   out        set on success only: every observation of watts; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (a load, an activity, the watts),
 *              FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT (a curve of fewer than three
 *              loads, which holds nothing out, or no convergence),
 *              FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_power(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
