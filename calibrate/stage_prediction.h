/* stage_prediction.h - which stages the model has a run's threads in. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_STAGE_PREDICTION_H
#define FULCRUM_CALIBRATE_STAGE_PREDICTION_H

#include "model/calibration.h"
#include "model/predict.h"
#include "model/reference.h"
#include "model/solution.h"
#include "model/stage_kind.h"

/* Of one point. */
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

/*
 * Splits what was predicted of the points into the stages that a recorder sees. Steps
 * and an actor's own hand-off share the CPU station as their times do; the host station
 * is the server's hand-off. Inference is the time that batches spend on the learner:
 * longer than its work where training runs beside it, as a thread's time is. For
 * batches of which one is under way at a time (depth 1).
 *   points   as fulcrum_reference_predict gives them
 *   out      room for point_count
 *   fails    as fulcrum_reference_predict
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stage_predict(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_prediction *points, struct fulcrum_stage_prediction *out,
    struct fulcrum_error *err);

#endif
