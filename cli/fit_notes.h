/* fit_notes.h - what a fitted calibration says of the data it has seen. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_FIT_NOTES_H
#define FULCRUM_CLI_FIT_NOTES_H

#include "calibrate/seen.h"
#include "cli/fit_inputs.h"

/* Keys of notes beside those of calibrate/seen.h. */
#define FULCRUM_NOTE_FIT_ARGUMENTS "fit_arguments"
#define FULCRUM_NOTE_FIT           "fit"

/*
 * Both as "A, B, C". `fitted_to` has NAME or NAME:SERIES of each reference, those that
 * the priors were fitted to as well. `held_out` has NAME:INDEX of each point of them
 * that neither this fit nor one of its priors saw, with its index in the file, from 0.
 */
struct fulcrum_fit_notes {
    char fitted_to[sizeof((struct fulcrum_note *)0)->text];
    char held_out[sizeof((struct fulcrum_note *)0)->text];
};

/*
 *   fails    FULCRUM_ERR_RANGE (too many for a note)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_notes_make(
    const struct fulcrum_reference_fit *fit, const struct fulcrum_fit_inputs *inputs,
    struct fulcrum_fit_notes *out, struct fulcrum_error *err);

/*
 * Replaces every note of that key; "" takes it away.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_note_set(
    struct fulcrum_calibration *calibration, const char *key, const char *text,
    struct fulcrum_error *err);

#endif
