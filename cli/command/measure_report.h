/* measure_report.h - what `fulcrum measure` found, for people and programs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_MEASURE_REPORT_H
#define FULCRUM_CLI_COMMAND_MEASURE_REPORT_H

#include <stdbool.h>

#include "calibrate/pipeline/measure.h"
#include "cli/result/report.h"
#include "model/predict/predict.h"

struct fulcrum_json;

/* Measured configurations, and what is predicted of those that have windows. */
struct fulcrum_measure_result {
    const struct fulcrum_measurement *measurement;
    /* Of the items with windows, in their order; NULL: nothing was predicted. */
    const struct fulcrum_prediction *predictions;
    const struct fulcrum_calibration *calibration; /* NULL: none */
};

/* Errors of the predictions over the points of one kind. */
struct fulcrum_measure_errors {
    size_t count;
    double mape_frac; /* NAN where count is 0, as the rest */
    double max_frac;
    double bias_frac;
    double
        covered_frac; /* measured within the interval, widened by the windows' range */
};

/* Over the undisturbed points, or, where `takes_all`, over all that were measured. */
struct fulcrum_measure_errors fulcrum_measure_errors_of(
    const struct fulcrum_measure_result *result, bool takes_all);

enum { FULCRUM_MEASURE_COLUMNS = 23 };

/*
 * One row a configuration, the array "points" of the JSON.
 *   is_for_people   1: without columns that say nothing here
 *   room            for FULCRUM_MEASURE_COLUMNS; stays as long as the report
 */
struct fulcrum_report *fulcrum_measure_report_points(
    const struct fulcrum_measure_result *result, bool is_for_people,
    struct fulcrum_column *room);

/* The sentences below the table: errors, what was disturbed, what failed, watts. */
void fulcrum_measure_report_notes(
    const struct fulcrum_measure_result *result, FILE *stream);

/* The same as members of a document. */
void fulcrum_measure_report_to_json(
    const struct fulcrum_measure_result *result, struct fulcrum_json *document);

#endif
