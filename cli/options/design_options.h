/* design_options.h - the options that choose a machine, a workload and calibrations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OPTIONS_DESIGN_OPTIONS_H
#define FULCRUM_CLI_OPTIONS_DESIGN_OPTIONS_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/option.h"
#include "model/predict/scenario.h"
#include "presets/kind/preset.h"

struct fulcrum_design_settings {
    const char *machine;
    const char *workload;
    struct fulcrum_text_list calibrations;
    double actor_count; /* NAN: not given */
    struct fulcrum_text_list sets;
};

/* Place them in a command's groups, at the offset of a struct fulcrum_design_settings.
 */
extern const struct fulcrum_option fulcrum_design_option_rows[];

/* --machine of commands that take several: at the offset of a fulcrum_text_list. */
extern const struct fulcrum_option fulcrum_machines_option_rows[];

/* The rows of a design without --machine, for commands that take several. */
#define FULCRUM_DESIGN_OPTION_ROWS_BUT_MACHINE (fulcrum_design_option_rows + 1)

/* What the options name, read. Owns all that `scenario` borrows. */
struct fulcrum_design_inputs {
    struct fulcrum_design base; /* machine and workload as read, and the tool's knobs */
    struct fulcrum_sources sources;
    size_t calibration_count;
    struct fulcrum_calibration **calibrations;
    size_t setting_count;
    struct fulcrum_setting *settings;
    size_t prior_count;
    struct fulcrum_prior *priors;
    struct fulcrum_scenario_inputs scenario;
};

/*
 * Reads what `settings` name: presets, then calibrations (the workload's own unless one
 * is named whose learner ran on the machine's kind of device), then --set and --actors;
 * later ones win in a scenario. The machine "this"
 * is the one the program runs on.
 *   out       stays where it is while its scenario is used; given back with
 *             fulcrum_design_inputs_free, after a failure too
 *   settings  borrowed as long as `out` is used
 *   context   gets exit code 2 where a --set cannot be understood
 *   fails     as the loaders of presets/kind/preset.h; FULCRUM_ERR_UNKNOWN_NAME,
 *             FULCRUM_ERR_FORMAT or FULCRUM_ERR_RANGE (a --set);
 *             FULCRUM_ERR_MISSING (no machine, no workload)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_design_inputs_load(
    const struct fulcrum_design_settings *settings, struct fulcrum_context *context,
    struct fulcrum_design_inputs *out, struct fulcrum_error *err);

/* Leaves it empty. */
void fulcrum_design_inputs_free(struct fulcrum_design_inputs *inputs);

/* "a,b": 1; the path of a file may have commas. */
bool fulcrum_machine_is_list(const char *name);

/*
 * Whether --machine, which is given once for each of several machines, was: at least
 * once, none twice, and no list with commas.
 *   context  gets exit code 2 on failure
 *   fails    FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_machine_names_check(
    const struct fulcrum_text_list *machines, struct fulcrum_context *context,
    struct fulcrum_error *err);

/* The machine `name` into design->machine; "this" is found out, not read. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_machine_find(const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err);

/*
 * Reads one "PATH=VALUE".
 *   out       text borrowed from `text`
 *   context   gets exit code 2 on failure
 *   fails     FULCRUM_ERR_UNKNOWN_NAME (suggests the nearest path), FULCRUM_ERR_FORMAT,
 *             FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_setting_parse(const char *text,
    struct fulcrum_context *context, struct fulcrum_setting *out,
    struct fulcrum_error *err);

/*
 * The field of a path as the user wrote it. NULL where there is none: the error
 * suggests the nearest path, and the exit code becomes 2.
 */
const struct fulcrum_field *fulcrum_field_parse(
    const char *path, struct fulcrum_context *context, struct fulcrum_error *err);

/* Where the value of each field of a design came from. */

struct fulcrum_origin_note {
    const char *kind; /* set | measured | fitted | prior | source | default */
    const char *from; /* name of a calibration or preset, or "" */
    const char *text; /* the source, or "" */
};

/*
 * Borrows from `inputs`. A calibration counts only where it gave the value: its
 * learner-side times do not on a machine with another kind of accelerator.
 */
struct fulcrum_origin_note fulcrum_origin_of(
    const struct fulcrum_design_inputs *inputs, const struct fulcrum_field *field);

/* "a, b": the names of the calibrations in use; "none" without any. */
void fulcrum_calibration_names(
    const struct fulcrum_design_inputs *inputs, char *out, size_t size);

#endif
