/* fit_job.h - one fit: what is computed, and the calibration made of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_FIT_JOB_H
#define FULCRUM_CLI_FIT_JOB_H

#include "cli/fit_inputs.h"

/*
 * Computes the fit, with progress, until Ctrl-C.
 *   out      the caller clears it
 *   fails    as fulcrum_reference_fit_run
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_job_run(
    const struct fulcrum_fit_settings *settings,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_context *context,
    struct fulcrum_reference_fit *out, struct fulcrum_error *err);

/* What a calibration is made of. */
struct fulcrum_fit_result {
    const struct fulcrum_fit_settings *settings;
    const struct fulcrum_reference_fit *fit;
};

/*
 * The last calibration of the inputs, with what was fitted in place of its priors, and
 * with notes: what it was fitted to, what was held out, how to make it again. It is
 * marked incomplete where the fit was stopped before there were all draws.
 *   inputs   no longer hold that calibration
 *   out      the caller frees it with fulcrum_calibration_free
 *   fails    FULCRUM_ERR_RANGE (too much for a note), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_job_calibration(
    const struct fulcrum_fit_result *result, struct fulcrum_fit_inputs *inputs,
    const char *name, struct fulcrum_calibration **out, struct fulcrum_error *err);

/*
 * The calibration that `fulcrum fit` makes from arguments as a calibration's note
 * "fit_arguments" has them: the same values, whatever the number of threads.
 *   name     of the new calibration
 *   context  its quiet says whether there is progress; it stays as it is
 *   out      the caller frees it with fulcrum_calibration_free
 *   fails    as fulcrum_fit_recipe_parse, fulcrum_fit_inputs_load and the above;
 *            FULCRUM_ERR_INTERRUPTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_repeat(const char *arguments,
    const char *name, const struct fulcrum_context *context,
    struct fulcrum_calibration **out, struct fulcrum_error *err);

#endif
