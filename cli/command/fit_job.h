/* fit_job.h - a fit of a workload to references: inputs, run, recipe. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_FIT_JOB_H
#define FULCRUM_CLI_COMMAND_FIT_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/reference/comparison.h"
#include "calibrate/reference/reference_fit.h"
#include "cli/command.h"
#include "cli/option.h"
#include "model/design/reference.h"
#include "model/predict/scenario.h"
#include "model/status.h"

/* What a fit reads: references, calibrations, lists of numbers. */

/* References as the command line names them: presets, JSON, CSV. */

/* What a CSV file does not say of itself; NULL: not given. */
struct fulcrum_reference_host {
    const char *machine;
    const char *workload;
};

/* --machine and --workload of a CSV file; at the offset of a fulcrum_reference_host. */
extern const struct fulcrum_option fulcrum_reference_host_rows[];

/* What REFERENCE arguments take, for their help. */
#define FULCRUM_REFERENCE_NAMES                                                        \
    "presets ('fulcrum list references'), JSON files or CSV files (docs/fit.md), "     \
    "NAME:SERIES for one curve of several"

/*
 * A reference file says by itself what was measured: machine and workload go with CSV
 * files only.
 *   texts    as fulcrum_reference_text_load takes them
 *   context  gets exit code 2 after a failure
 *   fails    FULCRUM_ERR_UNSUPPORTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_check_host(
    const struct fulcrum_text_list *texts, const struct fulcrum_reference_host *host,
    struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * Reads NAME, or of NAME:SERIES that series; NAME is a preset's, or the path of a JSON
 * or a CSV file.
 *   host     of CSV files
 *   context  gets exit code 2 where a CSV file lacks one of them
 *   out      set on success only; the caller frees it with fulcrum_reference_free
 *   fails    as fulcrum_reference_load, fulcrum_reference_csv_load,
 *            fulcrum_machine_find, fulcrum_workload_load and
 *            fulcrum_reference_keep_series; FULCRUM_ERR_MISSING (see `host`)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_text_load(const char *text,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_reference **out, struct fulcrum_error *err);

/* The NAME of NAME:SERIES, cut where it does not fit. */
void fulcrum_reference_text_name(const char *text, char *out, size_t size);

/* What `fulcrum fit` is asked for: its settings and option table. */

struct fulcrum_fit_settings {
    struct fulcrum_text_list references;
    struct fulcrum_reference_host host; /* of CSV files */
    struct fulcrum_text_list calibrations;
    struct fulcrum_text_list free;
    struct fulcrum_text_list sets;
    const char *sd;       /* NULL: not given */
    const char *hold_out; /* the same */
    double noise_rel;
    double draws;
    bool leave_one_out;
    double seed;
};

/* Offsets are of a struct fulcrum_fit_settings. */
extern const struct fulcrum_argument fulcrum_fit_arguments[];

extern const struct fulcrum_option_group fulcrum_fit_groups[];

/* Adds to what is said of a fit, and changes nothing of the calibration it writes. */
#define FULCRUM_FIT_LEAVE_ONE_OUT "leave-one-out"

enum { FULCRUM_FIT_FIGURES_MOST = 512 };

/* One of the references, and which of its series is taken. */
struct fulcrum_fit_reference {
    struct fulcrum_reference *reference;
    const char *series; /* "": all; borrowed from the settings */
};

struct fulcrum_fit_numbers {
    size_t count;
    double items[FULCRUM_FIT_FIGURES_MOST + 1];
};

/* Owned. */
struct fulcrum_fit_inputs {
    size_t reference_count;
    struct fulcrum_fit_reference *items;
    const struct fulcrum_reference **references; /* of the items */
    size_t calibration_count;
    struct fulcrum_calibration **calibrations;
    size_t setting_count;
    struct fulcrum_setting *settings;
    struct fulcrum_fit_numbers sd;
    struct fulcrum_fit_numbers hold_out; /* figures from 1 */
    int selects;                         /* --free auto */
    size_t free_count;                   /* without it */
    const char **free_paths;
};

/*
 * Reads what the settings name, and checks what they say.
 *   out       given back with fulcrum_fit_inputs_free
 *   settings  borrowed as long as `out` is used
 *   context   gets exit code 2 where the settings cannot be understood
 *   fails     as fulcrum_reference_load and fulcrum_calibration_load;
 *             FULCRUM_ERR_MISSING (no reference, no calibration that goes with all),
 *             FULCRUM_ERR_UNSUPPORTED (a reference of something but throughput),
 *             FULCRUM_ERR_UNKNOWN_NAME, FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_inputs_load(
    const struct fulcrum_fit_settings *settings, struct fulcrum_context *context,
    struct fulcrum_fit_inputs **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_fit_inputs_free(struct fulcrum_fit_inputs *inputs);

/* What is to be fitted, by nobody watched. Borrows both. */
struct fulcrum_reference_fit_plan fulcrum_fit_inputs_plan(
    const struct fulcrum_fit_inputs *inputs,
    const struct fulcrum_fit_settings *settings);

/* One fit: what is computed, and the calibration made of it. */

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
struct fulcrum_fit_outcome {
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
    const struct fulcrum_fit_outcome *result, struct fulcrum_fit_inputs *inputs,
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
