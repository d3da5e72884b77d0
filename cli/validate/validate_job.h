/* validate_job.h - references with what is predicted of them, as `validate` wants. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_VALIDATE_VALIDATE_JOB_H
#define FULCRUM_CLI_VALIDATE_VALIDATE_JOB_H

#include <stdbool.h>

#include "calibrate/reference/validation.h"
#include "cli/command.h"
#include "cli/command/fit_inputs.h"

/*
 * One reference predicted from one calibration, or without any. A reference comes more
 * than once where a calibration was fitted to it beside the one that it names.
 */
struct fulcrum_validate_job {
    size_t count;
    struct fulcrum_validation *sets;
    size_t reference_count;
    struct fulcrum_reference **references;
    /* Presets that were fitted to references, or the one that the user named. */
    size_t calibration_count;
    struct fulcrum_calibration **calibrations;
};

struct fulcrum_validate_plan {
    const struct fulcrum_text_list *references; /* none: every preset */
    struct fulcrum_reference_host host;         /* of CSV files among them */
    const char *calibration; /* in place of the references' own; NULL: those */
};

/*
 * Loads and predicts everything, with progress.
 *   out      the caller clears it, after a failure too
 *   context  gets exit code 2 where a CSV file lacks its machine or workload
 *   fails    as fulcrum_reference_text_load, fulcrum_calibration_load,
 *            fulcrum_validate
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_validate_job_run(
    const struct fulcrum_validate_plan *plan, struct fulcrum_context *context,
    struct fulcrum_validate_job *out, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_validate_job_clear(struct fulcrum_validate_job *job);

/* Whether a calibration was fitted to a reference of the job, or a series of one. */
bool fulcrum_validate_is_fitted(const struct fulcrum_validate_job *job,
    const struct fulcrum_calibration *calibration);

/* The points that a set is judged by: those predicted, or the fitted ones where a fit
 * has seen them all. */
enum fulcrum_comparison_filter fulcrum_validate_filter(
    const struct fulcrum_validation *set);

/* What an item of a comparison observed. Borrowed. */
const struct fulcrum_observation *fulcrum_validate_observation(
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item);

#endif
