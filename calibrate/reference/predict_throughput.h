/* predict_throughput.h - references of throughput, predicted from calibrations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICT_THROUGHPUT_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICT_THROUGHPUT_H

#include "calibrate/reference/comparison.h"
#include "model/design/calibration.h"

/*
 * Every figure by simulation at the calibration's values, with 90 % intervals from
 * draws of its errors and the baselines. Figures that the calibration was fitted to are
 * marked, as its notes say: `fitted_to` lists "REFERENCE" or "REFERENCE:SERIES",
 * `held_out` points that the fit did not see as "REFERENCE:INDEX" (in the file, from
 * 0), all separated by ", ".
 *   out      the caller clears it
 *   fails    FULCRUM_ERR_MISSING or FULCRUM_ERR_INFEASIBLE (a point cannot run: nothing
 *            gives a value that it needs), as fulcrum_throughput_new
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_throughput(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
