/* fit_print.h - a fit as tables, CSV and JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_FIT_PRINT_H
#define FULCRUM_CLI_FIT_PRINT_H

#include "cli/fit_inputs.h"

/*
 * Prints in the format of `context`; CSV holds the parameters alone.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_print(
    const struct fulcrum_reference_fit *fit, const struct fulcrum_fit_inputs *inputs,
    struct fulcrum_context *context, struct fulcrum_error *err);

#endif
