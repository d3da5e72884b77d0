/* solve_options.h - the options that say how design points are solved. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_SOLVE_OPTIONS_H
#define FULCRUM_CLI_SOLVE_OPTIONS_H

#include "cli/command.h"
#include "cli/option.h"
#include "model/predict.h"

struct fulcrum_solve_settings {
    int method;            /* enum fulcrum_method */
    const char *intervals; /* "none", or the number of draws; NULL: the command's own */
    double half_width_rel;
    double seed;
};

/* Place them at the offset of a struct fulcrum_solve_settings. */
extern const struct fulcrum_option fulcrum_solve_option_rows[];

/*
 *   draws    taken where --intervals is not given
 *   context  gets exit code 2 on failure
 *   fails    FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE (--intervals)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_solve_settings_read(
    const struct fulcrum_solve_settings *settings, double draws,
    struct fulcrum_context *context, struct fulcrum_predict_options *out,
    struct fulcrum_error *err);

#endif
