/* measure_inputs.h - what `fulcrum measure` is to run, as its settings say. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_MEASURE_INPUTS_H
#define FULCRUM_CLI_MEASURE_INPUTS_H

#include "calibrate/measure.h"
#include "cli/command.h"
#include "cli/measure_settings.h"
#include "model/calibration.h"
#include "model/design.h"

/* Owned; {0} is nothing. */
struct fulcrum_measure_inputs {
    struct fulcrum_design base; /* machine and workload before anything is measured */
    struct fulcrum_calibration *calibration; /* NULL: none */
    struct fulcrum_measure_config *configs;  /* of every rule, envs and actors */
    struct fulcrum_measure_options options;  /* by nobody watched */
};

/*
 * Reads what the settings name, and checks what they say; opens nothing.
 *   out       stays where it is while it is used; cleared by the caller, after a
 *             failure too
 *   settings  borrowed as long as `out` is used
 *   context   gets exit code 2 where the settings cannot be understood
 *   fails     as fulcrum_range_parse, fulcrum_learner_settings_read and
 *             fulcrum_calibration_load; FULCRUM_ERR_FORMAT (a rule),
 *             FULCRUM_ERR_MISSING (nothing to train), FULCRUM_ERR_INFEASIBLE (a
 *             calibration of another pipeline)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_inputs_load(
    const struct fulcrum_measure_settings *settings, struct fulcrum_context *context,
    struct fulcrum_measure_inputs *out, struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_measure_inputs_clear(struct fulcrum_measure_inputs *inputs);

#endif
