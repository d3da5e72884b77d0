/* measure_record.h - the stages of `fulcrum measure --record`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_MEASURE_RECORD_H
#define FULCRUM_CLI_MEASURE_RECORD_H

#include "calibrate/measure_stages.h"
#include "cli/stage_report.h"
#include "model/status.h"

/* What was recorded, as the reports take it. Owned; {0} is nothing. */
struct fulcrum_measure_record {
    struct fulcrum_stages_measurement *found;
    struct fulcrum_stage_run *runs; /* of the configurations that ran */
    size_t run_count;
    char (*names)[96];
    struct fulcrum_stage_prediction *predicted; /* NULL: none */
};

/*
 *   out      given back with fulcrum_measure_record_clear; {0} on failure
 *   fails    as fulcrum_measure_stages
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_record_take(
    struct fulcrum_measure_record *out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err);

/* What was measured, as points, and what is predicted of them. Borrowed. */
struct fulcrum_measured_points {
    const struct fulcrum_measurement *measurement;
    const struct fulcrum_reference *reference; /* made of it */
    const struct fulcrum_calibration *calibration;
    const struct fulcrum_prediction *predictions; /* by fulcrum_reference_predict */
};

/*
 * Puts beside each run what the calibration predicts of its stages, where the same
 * configuration is a point of the reference.
 *   fails    as fulcrum_stage_predict
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_record_predict(
    struct fulcrum_measure_record *record, const struct fulcrum_measured_points *points,
    struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_measure_record_clear(struct fulcrum_measure_record *record);

#endif
