/* reference_prediction.h - the points of a reference, predicted from one calibration.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICTION_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICTION_H

#include "model/calibration.h"
#include "model/predict.h"
#include "model/reference.h"
#include "model/scenario.h"

enum {
    FULCRUM_POINT_SETTINGS_MOST = 8, /* of one point */
    FULCRUM_POINT_DRAWS = 400        /* of the calibration's errors */
};

/*
 * What a point sets, as fields of a design. "run.env_count", which is no field, counts
 * the environments of all actors.
 *   out      room for FULCRUM_POINT_SETTINGS_MOST; texts are the point's
 *   fails    FULCRUM_ERR_RANGE (too many), FULCRUM_ERR_UNKNOWN_NAME
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_point_settings(
    const struct fulcrum_reference *reference, size_t point,
    struct fulcrum_setting *out, size_t *count, struct fulcrum_error *err);

/* What predicts the points of a reference, which is borrowed, as is the calibration. */
struct fulcrum_reference_predictor {
    struct fulcrum_scenario *scenario;
    struct fulcrum_predictor *predictor;
};

/*
 *   out      given back with fulcrum_reference_predictor_close, after a failure too
 *   fails    as fulcrum_scenario_new and fulcrum_predictor_new
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_predictor_open(
    struct fulcrum_reference_predictor *out, const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err);

void fulcrum_reference_predictor_close(struct fulcrum_reference_predictor *opened);

/*
 * Predicts every point: by simulation, with 90 % intervals of the fast method's draws
 * of the calibration's errors, moved along with the value. `measure` and `validate`
 * both say this.
 *   out          room for point_count predictions
 *   drawn_per_s  NULL, or room for point_count x FULCRUM_POINT_DRAWS: steps_per_s of
 *                each draw, moved as the interval is; draw k of two points is of the
 *                same errors. NAN: cannot run
 *   fails        as fulcrum_point_settings and fulcrum_predict
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_predict(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_prediction *out,
    double *drawn_per_s, struct fulcrum_error *err);

#endif
