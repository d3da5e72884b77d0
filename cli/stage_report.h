/* stage_report.h - where the time of recorded runs went, for people and programs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_STAGE_REPORT_H
#define FULCRUM_CLI_STAGE_REPORT_H

#include "calibrate/measure_stages.h"
#include "calibrate/stage_prediction.h"
#include "calibrate/stage_times.h"
#include "cli/command.h"
#include "model/status.h"

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

#endif
