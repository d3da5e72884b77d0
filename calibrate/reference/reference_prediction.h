/* reference_prediction.h - points of a reference, predicted from one calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_REFERENCE_PREDICTION_H
#define FULCRUM_CALIBRATE_REFERENCE_REFERENCE_PREDICTION_H

#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/network/network.h"
#include "model/predict/predict.h"
#include "model/predict/scenario.h"
#include "model/stage_kind.h"

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

/* Which stages the model has a run's threads in, at one point. */
struct fulcrum_stage_prediction {
    double steps_per_s;
    double requests_per_s; /* of all actors: a cycle of one is a request */
    /*
     * Mean number of threads in each stage; NAN: the model knows no such stage. What
     * waits is whatever of the actors, the server and the trainer does nothing else.
     */
    double thread_count[FULCRUM_STAGE_KIND_COUNT];
    /* Of a cycle, seconds: at the CPU, in hand-off or waiting for a batch, ... */
    struct fulcrum_residence residence;
};

/* Room for what is predicted of each point of a reference. */
struct fulcrum_reference_prediction {
    struct fulcrum_prediction *points;
    /*
     * NULL, or FULCRUM_POINT_DRAWS for each point: steps_per_s of each draw, moved as
     * the interval is; draw k of two points is of the same errors. NAN: cannot run.
     */
    double *drawn_per_s;
    /*
     * NULL, or the stages that a recorder sees. Steps and an actor's own hand-off share
     * the CPU station as their times do; the host station is the server's hand-off.
     * Inference is the time that batches spend on the learner: longer than its work
     * where training runs beside it, as a thread's time is. For batches of which one is
     * under way at a time (depth 1).
     */
    struct fulcrum_stage_prediction *stages;
};

/*
 * Predicts every point: by simulation, with 90 % intervals of the fast method's draws
 * of the calibration's errors, moved along with the value. `measure` and `validate`
 * both say this.
 *   fails        as fulcrum_point_settings and fulcrum_predict
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_predict(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference_prediction *out, struct fulcrum_error *err);

#endif
