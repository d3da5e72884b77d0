/* predict_power.h - references of kind gpu_power and server_power: every other load
 * predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PREDICT_POWER_H
#define FULCRUM_CALIBRATE_PREDICT_POWER_H

#include "calibrate/comparison.h"
#include "model/reference.h"
#include "model/status.h"

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
