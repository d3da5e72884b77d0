/* fit_inputs.h - what a fit reads: references, calibrations, lists of numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_FIT_INPUTS_H
#define FULCRUM_CLI_FIT_INPUTS_H

#include <stddef.h>

#include "calibrate/reference_fit.h"
#include "cli/command.h"
#include "cli/fit_settings.h"
#include "model/reference.h"
#include "model/scenario.h"

enum { FULCRUM_FIT_FIGURES_MOST = 512 };

/* One of the references, and which of its series is taken. */
struct fulcrum_fit_reference {
    struct fulcrum_reference *reference;
    char series[64]; /* "": all */
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

#endif
