/* fit_job.h - one fit: what is computed, and the calibration made of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_FIT_JOB_H
#define FULCRUM_CLI_COMMAND_FIT_JOB_H

#include <stddef.h>

#include "calibrate/reference/comparison.h"
#include "cli/command/fit_inputs.h"
#include "model/status.h"

/* The arguments of a fit as one text, to be repeated later. */

/*
 * Writes what a shell would take after "fulcrum fit": references, then every option
 * that decides what is fitted, also those at their defaults, which may change one day.
 *   fails    FULCRUM_ERR_RANGE (does not fit into `size` bytes)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, char *out, size_t size,
    struct fulcrum_error *err);

/* Settings read from such a text, and the words that they borrow. Opaque. */
struct fulcrum_fit_recipe;

/*
 * Splits the text as a shell does (blanks, single quotes, backslashes) and reads it by
 * the option table of the command.
 *   out      the caller frees it with fulcrum_fit_recipe_free
 *   fails    as fulcrum_options_parse; FULCRUM_ERR_FORMAT (a quote that is not closed)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_recipe_parse(
    const char *text, struct fulcrum_fit_recipe **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_fit_recipe_free(struct fulcrum_fit_recipe *recipe);

/* Borrowed. */
const struct fulcrum_fit_settings *fulcrum_fit_recipe_settings(
    const struct fulcrum_fit_recipe *recipe);

/* What a fitted calibration says of the data it has seen. */

/* Keys of notes beside those of calibrate/reference/comparison.h. */
#define FULCRUM_NOTE_FIT_ARGUMENTS "fit_arguments"

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
