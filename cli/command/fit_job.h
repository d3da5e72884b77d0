/* fit_job.h - references as command lines name them, and fits made again. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_FIT_JOB_H
#define FULCRUM_CLI_COMMAND_FIT_JOB_H

#include <stdbool.h>
#include <wordexp.h>

#include "cli/command.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"

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
 * files only, or the context gets exit code 2.
 *   fails    FULCRUM_ERR_UNSUPPORTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_check_host(
    const struct fulcrum_text_list *texts, const struct fulcrum_reference_host *host,
    struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * Reads NAME, or of NAME:SERIES that series; NAME is a preset's, or the path of a JSON
 * or a CSV file.
 *   host     of CSV files; where it lacks something the context gets exit code 2
 *   out      set on success only; the caller frees it with fulcrum_reference_free
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_text_load(const char *text,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_reference **out, struct fulcrum_error *err);

/* The NAME of NAME:SERIES, cut where it does not fit. */
void fulcrum_reference_text_name(const char *text, char *out, size_t size);

/* What `fulcrum fit` is asked for. */
struct fulcrum_fit_settings {
    struct fulcrum_text_list references;
    struct fulcrum_reference_host host; /* of CSV files */
    struct fulcrum_text_list calibrations;
    struct fulcrum_text_list free;
    struct fulcrum_text_list sets;
    const char *sd;       /* NULL: not given */
    const char *hold_out; /* the same */
    double noise_rel;
    bool is_strict;
    double draws;
    bool leave_one_out;
    double seed;
};

/* Settings read from a text, and the words that they borrow. */
struct fulcrum_fit_recipe {
    struct fulcrum_fit_settings settings;
    bool has_words;
    wordexp_t words;
};

/*
 * What a shell would take after "fulcrum fit": references, then every option that
 * decides what is fitted, also those at their defaults, which may change one day.
 *   fails    FULCRUM_ERR_RANGE (does not fit)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, struct fulcrum_note *out,
    struct fulcrum_error *err);

/*
 * Splits the text as a shell does, without running commands, and reads it by the option
 * table of the command.
 *   out      the caller clears it, after a failure too
 *   fails    as fulcrum_options_parse; FULCRUM_ERR_FORMAT (no words of a shell)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_recipe_parse(
    const char *text, struct fulcrum_fit_recipe *out, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_fit_recipe_clear(struct fulcrum_fit_recipe *recipe);

/*
 * The calibration that `fulcrum fit` makes from arguments as a calibration's note
 * "fit_arguments" has them: the same values, whatever the number of threads.
 *   name     of the new calibration
 *   context  its quiet says whether there is progress; it stays as it is
 *   out      the caller frees it with fulcrum_calibration_free
 *   fails    as fulcrum_fit_recipe_parse and the fit; FULCRUM_ERR_INTERRUPTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_repeat(const char *arguments,
    const char *name, const struct fulcrum_context *context,
    struct fulcrum_calibration **out, struct fulcrum_error *err);

#endif
