/* validate_report.h - the results of `validate` as tables, CSV, JSON and Markdown. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_VALIDATE_VALIDATE_REPORT_H
#define FULCRUM_CLI_VALIDATE_VALIDATE_REPORT_H

#include "cli/result/report.h"
#include "cli/validate/validate_job.h"

/* A row for every set; NULL: no memory. The caller frees it. */
struct fulcrum_report *fulcrum_validate_report_sets(
    const struct fulcrum_validate_job *job);

/* Of every set that small formulas say something of: a row for each, and one for the
 * model; NULL: no memory. The caller frees it. */
struct fulcrum_report *fulcrum_validate_report_baselines(
    const struct fulcrum_validate_job *job);

/* A row for every series of every set; NULL: no memory. The caller frees it. */
struct fulcrum_report *fulcrum_validate_report_series(
    const struct fulcrum_validate_job *job);

/* A row for every point; NULL: no memory. The caller frees it. */
struct fulcrum_report *fulcrum_validate_report_points(
    const struct fulcrum_validate_job *job);

/*
 * The document about accuracy: what is predicted how well, beside small formulas,
 * where it is most wrong, what nothing predicts.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_validate_markdown(
    const struct fulcrum_validate_job *job, FILE *stream, struct fulcrum_error *err);

#endif
