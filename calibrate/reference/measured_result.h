/* measured_result.h - what was measured end to end, as tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_MEASURED_RESULT_H
#define FULCRUM_CALIBRATE_REFERENCE_MEASURED_RESULT_H

#include <stdbool.h>

#include "calibrate/pipeline/measure.h"
#include "calibrate/reference/throughput.h"
#include "model/design/calibration.h"
#include "model/predict/predict.h"
#include "model/result.h"

/* What was measured, and what is predicted of it. Borrowed. */
struct fulcrum_measured_points {
    const struct fulcrum_measurement *measurement;
    const struct fulcrum_calibration *calibration; /* NULL: none */
    bool is_beside; /* it was taken between the windows: at their speed */
    /* Of the items with windows, in their order; NULL: nothing was predicted. */
    const struct fulcrum_prediction *predictions;
    /* The same configurations with their stages recorded; NULL: they were not. */
    const struct fulcrum_stages_measurement *stages;
    const struct fulcrum_stage_prediction *stage_predictions; /* as `predictions` */
};

/*
 * What ran, the errors of the predictions over undisturbed and over all points, the
 * tables "points", a row per configuration, and "windows", notes on what was disturbed
 * or not measured, and the stages. The caller frees it.
 */
struct fulcrum_result *fulcrum_measured_result(
    const struct fulcrum_measured_points *points);

/*
 * Where stages were recorded: the tables "stages", a row per configuration and stage,
 * which `fulcrum plot` draws the chart `stages` from, "cycles", a row per configuration
 * that was predicted, and "recordings", with notes on what recording cost and what was
 * dropped.
 */
void fulcrum_measured_add_stages(
    struct fulcrum_result *result, const struct fulcrum_measured_points *points);

#endif
