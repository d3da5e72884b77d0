/* solve_options.h - the options that say how networks and design points are solved. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OPTIONS_SOLVE_OPTIONS_H
#define FULCRUM_CLI_OPTIONS_SOLVE_OPTIONS_H

#include "cli/command.h"
#include "cli/option.h"
#include "model/predict/predict.h"

/* How one network is solved. */
struct fulcrum_solver_settings {
    int method;            /* enum fulcrum_method */
    double half_width_rel; /* NAN: not given */
    double seed;
    double max_steps;
};

/* Place them at the offset of a struct fulcrum_solver_settings. */
extern const struct fulcrum_option fulcrum_solver_option_rows[];

/* The same as a solver takes it. */
void fulcrum_solver_settings_read(
    const struct fulcrum_solver_settings *settings, struct fulcrum_solver_options *out);

/* How one design point is solved, with what is uncertain in it. */
struct fulcrum_solve_settings {
    struct fulcrum_solver_settings solver;
    const char *intervals; /* "none", or the number of draws, 0 is none; NULL: the
                              command's own */
};

/* Place them at the offset of a struct fulcrum_solve_settings, beside the others. */
extern const struct fulcrum_option fulcrum_interval_option_rows[];

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
