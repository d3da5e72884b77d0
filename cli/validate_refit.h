/* validate_refit.h - fits of calibrations, repeated and compared. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_VALIDATE_REFIT_H
#define FULCRUM_CLI_VALIDATE_REFIT_H

#include "cli/check_list.h"
#include "cli/validate_job.h"

/*
 * Repeats the fit of every calibration of the job that was fitted to one of its
 * references, by the note "fit_arguments", and adds a check for each parameter: value
 * and standard error must come out again. A calibration without the note is skipped.
 *   most_rel  how far the two may differ
 *   fails     as fulcrum_fit_repeat
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_validate_refit(
    const struct fulcrum_validate_job *job, double most_rel,
    const struct fulcrum_context *context, struct fulcrum_check_list *checks,
    struct fulcrum_error *err);

#endif
