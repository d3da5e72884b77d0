/* cmd_show.h - a calibration as `fulcrum show` prints it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_CMD_SHOW_H
#define FULCRUM_CLI_COMMAND_CMD_SHOW_H

#include "cli/command.h"
#include "model/design/calibration.h"

/*
 * Parameters with standard errors, derived quantities, fits with their errors and
 * warnings, and notes.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_show_calibration(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_context *context, struct fulcrum_error *err);

#endif
