/* measure_record.h - the stages of `fulcrum measure --record`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_MEASURE_RECORD_H
#define FULCRUM_CLI_COMMAND_MEASURE_RECORD_H

#include "calibrate/pipeline/measure_stages.h"
#include "calibrate/pipeline/stage_times.h"
#include "calibrate/reference/reference_prediction.h"
#include "cli/command.h"
#include "model/status.h"

/* Where the time of recorded runs went, for people and programs. */

/* One recorded run of several, such as one number of actors. Borrowed. */
struct fulcrum_stage_run {
    const char *name; /* "64 actors" */
    const struct fulcrum_stage_times *times;
    /* Windows with and without recording; NULL: were not measured by turns. */
    const struct fulcrum_measured_stages *measured;
    const struct fulcrum_stage_prediction *predicted; /* NULL: nothing was */
};

struct fulcrum_json;

/*
 * Adds three arrays to a document: "stages" with a row per run and stage, "cycles" with
 * a row per run that was predicted, and "recordings" with a row per run. `fulcrum plot`
 * draws the chart `stages` from the first.
 */
void fulcrum_stage_report_to_json(
    const struct fulcrum_stage_run *runs, size_t count, struct fulcrum_json *object);

/*
 * Prints the stages in the format of `context`: a table and sentences below it, CSV, or
 * a JSON document of its own.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stage_report_print(
    const struct fulcrum_stage_run *runs, size_t count,
    const struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * The sentences alone, one a line: what recording cost, by its own count and by windows
 * with and without it, what was dropped or sampled,
 * and the GPU's busy time beside its SMs' activity.
 */
void fulcrum_stage_report_notes(
    const struct fulcrum_stage_run *runs, size_t count, FILE *stream);

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
